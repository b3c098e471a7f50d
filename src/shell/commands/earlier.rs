//! The commands of a resumed session that an earlier nebula ran: their records and logs, and what the model is told of
//! them.

use std::path::PathBuf;

use super::Commands;
use crate::shell::message::Stopped;
use crate::shell::output::record::{self, CommandRecord};

/// The characters of a command's text that the model is reminded of.
const WORDS: usize = 80;

/// Returns the first characters of a command's text, in one line.
fn first_words(text: &str) -> impl Iterator<Item = char> + '_ {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(WORDS)
}

impl Commands {
    /// Takes up a session that an earlier nebula left: the next command begins in the folder that the last one left, and
    /// what the model does not know yet is told with the next message. Returns the names of the variables that were left
    /// and are not set any more.
    pub fn resume(&self) -> Vec<String> {
        let Some(logs) = self.logs() else { return Vec::new() };
        let records = record::of_session(&logs);
        let mut news: Vec<String> = Vec::new();
        for (record, log) in &records {
            let told = CommandRecord { untold: false, ..record.clone() };
            let told = match record.end() {
                Some(_) if !record.untold => continue,
                Some(_) => told,
                // It was killed with nebula, or nebula before it could write down the end.
                None => CommandRecord { stopped: Some(Stopped::Nebula.words()), ..told },
            };
            let end = told.end().unwrap_or_default();
            let text: String = first_words(&record.command).collect();
            news.extend(record.untold.then(|| format!("{} is over: {end} ({text})", record.id)));
            // Not written it is told once more the next time.
            let _ = told.write(log);
        }
        let mut state = self.state();
        let mut lost = Vec::new();
        let last = records.iter().rev().find_map(|(record, _)| Some((record.next_folder.clone()?, &record.variables)));
        let of_model = |record: &CommandRecord| record.call.as_ref().and_then(|_| record.next_folder.clone());
        if let Some(folder) = records.iter().rev().find_map(|(record, _)| of_model(record)) {
            state.known = folder;
        }
        if let Some((folder, variables)) = last {
            if folder.starts_with(self.shell.workspace.root()) && folder.is_dir() {
                state.folder = folder;
            }
            lost.clone_from(variables);
            let names = lost.join(", ");
            news.extend((!names.is_empty()).then(|| {
                format!("This session was resumed: the variables that commands left ({names}) are not set any more.")
            }));
        }
        state.news = news;
        lost
    }

    /// Takes what the model is told of the commands that an earlier nebula ran.
    pub fn take_news(&self) -> Vec<String> {
        std::mem::take(&mut self.state().news)
    }

    /// Returns the record of a command that an earlier nebula ran in this session, with its log.
    pub fn earlier(&self, id: &str) -> Option<(CommandRecord, PathBuf)> {
        record::of_session(&self.logs()?).into_iter().find(|(record, _)| record.id == id)
    }

    /// Returns the ids of the commands that were run in this session.
    pub fn ids(&self) -> Vec<String> {
        let earlier = self.logs().map(|logs| record::of_session(&logs)).unwrap_or_default();
        let mut ids: Vec<String> = earlier.into_iter().map(|(record, _)| record.id).collect();
        let own: Vec<String> = self.all().iter().map(|command| command.id.clone()).collect();
        ids.extend(own.into_iter().filter(|id| !ids.contains(id)).collect::<Vec<_>>());
        ids
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::sync::Arc;

    use super::*;
    use crate::archive::{Archive, ArchiveSettings};
    use crate::shell::Shell;
    use crate::workspace::Workspace;

    #[test]
    fn the_models_next_command_begins_where_it_was_until_it_is_told_of_another_folder() {
        let dir = tempfile::tempdir().expect("a folder");
        let workspace = Workspace::open(dir.path()).expect("opened");
        let archive = Archive::open(&workspace, &ArchiveSettings::default()).expect("an archive");
        let commands = Commands::new(Arc::new(Shell::for_archive(&workspace, &archive)), "s");
        let sub = workspace.root().join("sub");
        fs::create_dir(&sub).expect("made");
        assert_eq!(commands.model_folder(), None);
        commands.state().folder.clone_from(&sub);
        assert_eq!(commands.model_folder().as_deref(), Some("."));
        assert!(commands.folder_of(Some(".")).is_ok_and(|folder| folder == workspace.root()));
        assert!(commands.take_moved().is_some_and(|note| note.contains("cwd is now sub")));
        assert_eq!(commands.model_folder(), None);
        commands.state().folder = workspace.root().into();
        assert_eq!(commands.model_folder().as_deref(), Some("sub"));
    }

    #[test]
    fn what_a_killed_nebula_left_is_told_once() {
        let dir = tempfile::tempdir().expect("a folder");
        let workspace = Workspace::open(dir.path()).expect("opened");
        let archive = Archive::open(&workspace, &ArchiveSettings::default()).expect("an archive");
        let own = Some(dir.path().join("own"));
        let commands = Commands::new(Arc::new(Shell { own, ..Shell::for_archive(&workspace, &archive) }), "s");
        assert_eq!(commands.resume(), Vec::<String>::new());
        assert_eq!((commands.take_news(), commands.ids()), (Vec::new(), Vec::new()));
        let (logs, folder) = (commands.logs().expect("a folder"), workspace.root().join("sub"));
        fs::create_dir_all(&logs).and_then(|()| fs::create_dir(&folder)).expect("made");
        let write = |record: CommandRecord| record.write(&logs.join(format!("{}.log", record.id))).expect("written");
        let of = |id: &str, untold| CommandRecord {
            id: id.into(),
            command: "sleep\n9".into(),
            untold,
            ..CommandRecord::default()
        };
        write(CommandRecord {
            exit: Some(0),
            next_folder: Some(folder.clone()),
            variables: vec!["A".into()],
            ..of("c1", false)
        });
        write(CommandRecord { exit: Some(1), ..of("c2", true) });
        // The model's, and the person's own.
        write(of("c3", true));
        write(of("c10", false));
        assert_eq!(commands.resume(), ["A"]);
        let news = commands.take_news();
        assert_eq!(news[..2], ["c2 is over: exit 1 (sleep 9)", "c3 is over: ended with nebula (sleep 9)"]);
        assert!(news.len() == 3 && news[2].contains("(A)"), "{news:?}");
        assert_eq!((commands.left().0, commands.ids().join(" ")), (folder, "c1 c2 c3 c10".into()));
        let end = |id: &str| commands.earlier(id).and_then(|(record, _)| record.end());
        assert_eq!([end("c1"), end("c10")], [Some("exit 0".into()), Some("ended with nebula".into())]);
        commands.resume();
        assert_eq!(commands.take_news().len(), 1, "the variables alone");
    }
}
