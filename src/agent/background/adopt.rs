//! Commands that were cut off, or could not be archived at their end: what they changed is archived at the next start.

use std::time::Duration;

use crate::agent::services::Services;
use crate::archive::{Error, NotUndone};
use crate::execute::Stores;
use crate::execute::command::{recorded, seal};
use crate::messages::{agent as say, count};
use crate::proposal::is_in_repository;
use crate::protocol::Level;
use crate::shell::{self, Shell};
use crate::text::clean::clean_line;

/// The outcome of a look for commands that were cut off.
#[derive(Debug, Default)]
pub struct Adopted {
    /// Lines to tell the person.
    pub lines: Vec<String>,
    /// The number of commands that still run in the workspace, whose states are not archived yet.
    pub in_use: usize,
}

/// Archives what commands changed whose processes are gone. One that its helper still ends is waited for, no longer than
/// `patience`.
///
/// # Errors
/// When the staging folders cannot be listed. What cannot be archived now stays staged.
pub fn adopt(shell: &Shell, stores: Stores<'_>, patience: Duration) -> Result<Adopted, Error> {
    let mut lines = Vec::new();
    shell::sweep_views(&shell.archive);
    let cut = shell::cut_off(shell, patience)?;
    lines.extend(cut.foreign.iter().map(|folder| say::cut_off_elsewhere(&clean_line(&folder.to_string_lossy()))));
    lines.extend(cut.unreadable.iter().map(|(folder, why)| {
        let name = folder.to_string_lossy();
        let folder = clean_line(&name);
        match why.kind() == std::io::ErrorKind::PermissionDenied {
            true => say::cut_off_denied(&folder),
            false => say::cut_off_unreadable(&folder, &clean_line(&why.to_string())),
        }
    }));
    let mut made = Vec::new();
    for (mut staging, info) in cut.found {
        staging.follows(&made);
        let ended = staging.journal().ok().and_then(|journal| journal.ended);
        let has_ended = ended.is_some();
        // The helper of one that was cut off had no one to tell.
        let unknown = || vec![NotUndone::new("derived folders", "it was cut off: what it changed there is not known")];
        let sealed = seal(&mut staging, &recorded(info, stores.memory), &ended.unwrap_or_else(unknown), stores);
        made = staging.made().to_vec();
        match sealed {
            Ok(sealed) => {
                // An empty one is found again, and is as empty then.
                let _ = staging.remove();
                lines.extend(sealed.changeset.map(|id| {
                    let paths = sealed.changes.changes.iter().map(|change| change.entry.path.as_str());
                    let (repository, files): (Vec<&str>, Vec<&str>) = paths.partition(|path| is_in_repository(path));
                    let files = count::changed_files(files.len() + usize::from(!repository.is_empty()));
                    if has_ended { say::archived_late(&files, &id) } else { say::cut_off(&files, &id) }
                }));
                lines.extend(sealed.earlier.iter().map(|id| say::cut_off_earlier(id)));
                sealed.unrecorded.iter().for_each(|error| stores.memory.report(error));
            }
            Err(error) => lines.push(say::cut_off_unsealed(&error)),
        }
    }
    Ok(Adopted { lines, in_use: cut.in_use })
}

/// Archives the same and reports it to the person. Returns the number of commands that still run in the workspace.
pub fn adopt_and_say(services: &Services, patience: Duration) -> usize {
    match adopt(&services.shell, services.stores(), patience) {
        Ok(found) => {
            found.lines.into_iter().for_each(|line| services.say(Level::Warning, line, ""));
            found.in_use
        }
        Err(error) => {
            services.say(Level::Warning, error.to_string(), "");
            0
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::archive::restore::state_sha;
    use crate::archive::staging::CommandInfo;
    use crate::execute::testing::World;
    use crate::memory::{NewMessage, NewSession, StoredRole};
    use crate::proposal::State;

    #[test]
    fn two_folders_of_one_path_are_taken_in_as_changes_of_commands() {
        let w = World::with("now");
        let info = CommandInfo { keeper: "guard".into(), ..CommandInfo::default() };
        drop((w.stage(&info, &["first"]), w.stage(&info, &["second"])));
        let running = w.archive.stage(&info).expect("staged");
        let adopted = adopt(&Shell::for_archive(&w.workspace, &w.archive), w.stores(), Duration::ZERO).expect("looked");
        assert_eq!((adopted.lines.len(), adopted.in_use), (2, 1), "{:?}", adopted.lines);
        let written = w.memory.written(&w.stores().project(), "a").expect("read").expect("known");
        assert!(written.is(state_sha(&State::file(&b"now"[..]))), "an undo finds what they left");
        drop(running);
    }

    #[test]
    fn a_command_that_had_ended_is_not_taken_for_one_that_was_cut_off() {
        for has_ended in [true, false] {
            let w = World::with("now");
            let mut staging = w.stage(&CommandInfo { keeper: "guard".into(), ..CommandInfo::default() }, &["first"]);
            if has_ended {
                staging.note_ended(&[NotUndone::new("target/", "changed; it can be rebuilt")]).expect("noted");
            }
            drop(staging);
            let shell = Shell::for_archive(&w.workspace, &w.archive);
            let [line] = &adopt(&shell, w.stores(), Duration::ZERO).expect("looked").lines[..] else {
                panic!("a line")
            };
            let [id] = w.archive.list().expect("listed")[..] else { panic!("one changeset") };
            let not_undone = w.archive.not_undone(id).expect("read");
            let expected = match has_ended {
                true => ("a command that had ended", "target/"),
                false => ("a command was cut off", "derived folders"),
            };
            assert!(line.starts_with(expected.0), "{line}");
            assert_eq!(not_undone.iter().map(|effect| effect.what.as_str()).collect::<Vec<_>>(), [expected.1]);
        }
    }

    #[test]
    fn a_cut_off_command_belongs_to_the_turn_of_its_own_session_or_to_none() {
        let missing = (1 << 52) + 1;
        for n in 0..3 {
            let w = World::with("now");
            let project = w.stores().project();
            let [own, other] = [(); 2].map(|()| {
                let session = NewSession { project: project.clone(), model: "m".into(), ..NewSession::default() };
                let session = w.memory.create(&session).expect("made");
                let turn = w.memory.append(&session, &NewMessage::text(StoredRole::User, "prompt")).expect("stored");
                (session, turn)
            });
            let (turn, expected) = [(own.1, Some(own.1)), (other.1, None), (missing, None)][n];
            let (session, keeper) = (Some(own.0), "guard".into());
            let info = CommandInfo { session: session.clone(), turn: Some(turn), keeper, ..CommandInfo::default() };
            drop(w.stage(&info, &["first"]));
            adopt(&Shell::for_archive(&w.workspace, &w.archive), w.stores(), Duration::ZERO).expect("looked");
            let [id] = w.archive.list().expect("listed")[..] else { panic!("one changeset") };
            let record = w.memory.changeset(&project, &id.to_string()).expect("read").expect("known");
            assert_eq!((record.cause.session, record.cause.turn), (session, expected), "{n}");
        }
    }
}
