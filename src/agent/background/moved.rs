//! A project that was moved or copied with its archive: what memory knows of it under its former path goes along.

use std::io;
use std::path::Path;

use crate::agent::services::{Services, StoreError};
use crate::execute::Stores;
use crate::messages::agent as say;
use crate::protocol::Level;
use crate::text::clean::clean_line;

/// The oldest changesets by which a former path is looked for.
const LOOKED_FOR: usize = 10;

/// Takes over what memory knows of the workspace under its former path, where it knows nothing of this one. Returns the
/// line to tell the person.
///
/// # Errors
/// When memory cannot be read or written, or the archive cannot be listed.
pub fn follow(stores: Stores<'_>) -> Result<Option<String>, StoreError> {
    let Stores { archive, memory, .. } = stores;
    let project = stores.project();
    let mut changesets: Vec<String> = archive.list()?.iter().map(ToString::to_string).collect();
    // What was recorded here since a move says nothing: the oldest tell.
    let oldest = &changesets[changesets.len().saturating_sub(LOOKED_FOR)..];
    if memory.knows_changesets(&project, oldest)? {
        return Ok(None);
    }
    let Some(former) = memory.project_of(oldest)?.filter(|former| *former != project) else { return Ok(None) };
    let named = clean_line(&former).into_owned();
    let there = Path::new(&former).symlink_metadata();
    // A name that is no UTF-8 is known only in part: whether it is there cannot be told.
    let is_known = !former.contains(char::REPLACEMENT_CHARACTER);
    if is_known && there.is_err_and(|error| error.kind() == io::ErrorKind::NotFound) {
        memory.move_project(&former, &project)?;
        return Ok(Some(say::project_moved(&named)));
    }
    // Oldest first, as they were made.
    changesets.reverse();
    memory.copy_project(&former, &project, &changesets)?;
    Ok(Some(say::project_copied(&named)))
}

/// Does so and reports it to the person; a start reports what memory or archive refuse.
pub fn follow_and_say(services: &Services) {
    if let Ok(Some(line)) = follow(services.stores()) {
        services.say(Level::Warning, line, "");
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;
    use std::fs;
    use std::process::Command;

    use super::*;
    use crate::archive::{Archive, ArchiveSettings};
    use crate::execute::testing::World;
    use crate::memory::{ChangesetCause, WriteIntent};
    use crate::past::files_of;
    use crate::workspace::Workspace;

    /// Changes the file `a`. Returns the changeset's id.
    fn change(w: &World) -> String {
        let cause = ChangesetCause { kind: "edit".into(), title: "a title".into(), ..ChangesetCause::default() };
        let intent = WriteIntent {
            path: "a".into(),
            sha256: Some([1; 32]),
            replaces: None,
            bytes: None,
            added: Some(3),
            removed: None,
        };
        let pending = w.memory.write_intent(&w.stores().project(), &cause, &[intent]).expect("recorded");
        let before = w.workspace.read("a").expect("read").state;
        let recorded = w.archive.record(&mut w.archive.lock().expect("locked"), &[("a", &before).into()], None);
        let id = recorded.expect("recorded").changeset.expect("archived");
        let files = files_of(id, None, &mut HashMap::new(), &w.archive).expect("listed");
        w.memory.applied(pending, &id.to_string(), &files).expect("applied");
        id.to_string()
    }

    #[test]
    fn what_is_known_of_a_project_goes_along_where_it_is_moved_or_copied() {
        for is_moved in [true, false] {
            let w = World::with("old");
            let id = change(&w);
            let (root, former) = (w.workspace.root().to_path_buf(), w.stores().project());
            assert_eq!(follow(w.stores()).expect("looked"), None, "it is where it was");
            let to = root.with_file_name("elsewhere");
            match is_moved {
                true => fs::rename(&root, &to).expect("moved"),
                false => assert!(Command::new("cp").arg("-a").args([&root, &to]).status().expect("ran").success()),
            }
            let workspace = Workspace::open(&to).expect("a workspace");
            let archive = Archive::open(&workspace, &ArchiveSettings::default()).expect("an archive");
            let stores = Stores { workspace: &workspace, archive: &archive, memory: &w.memory };
            let line = follow(stores).expect("followed").expect("it is told");
            assert!(line.contains(&former), "{line}");
            assert_eq!(follow(stores).expect("looked"), None, "it is told once");
            let project = stores.project();
            let record = w.memory.changeset(&project, &id).expect("read").expect("known");
            assert_eq!((record.cause.title.as_str(), record.files.len()), ("a title", 1));
            let written = w.memory.written(&project, "a").expect("read").expect("known");
            assert!(written.is(Some([1; 32])));
            assert_eq!(w.memory.changeset(&former, &id).expect("read").is_some(), !is_moved);
            assert_eq!(w.memory.written(&former, "a").expect("read").is_some(), !is_moved);
        }
    }

    #[test]
    fn a_project_that_memory_knows_nothing_of_stays_unknown() {
        let w = World::with("old");
        let before = w.workspace.read("a").expect("read").state;
        w.archive.record(&mut w.archive.lock().expect("locked"), &[("a", &before).into()], None).expect("recorded");
        assert_eq!(follow(w.stores()).expect("looked"), None);
    }
}
