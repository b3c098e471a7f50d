//! A project that was moved or copied with its archive: what memory knows of it under its former path goes along.

use std::collections::HashSet;
use std::path::Path;

use crate::agent::services::{Services, StoreError};
use crate::execute::Stores;
use crate::memory::former_path;
use crate::messages::agent as say;
use crate::protocol::Level;
use crate::shell::output::record::{self, CommandRecord};
use crate::text::clean::clean_line;

/// The oldest changesets by which a former path is looked for.
const LOOKED_FOR: usize = 10;

/// Takes over what memory knows of the workspace under its former path, where it knows nothing of this one. Returns the
/// line to tell the person. `logs`: the folder of the logs of commands.
///
/// # Errors
/// When memory cannot be read or written, or the archive cannot be listed.
pub fn follow(stores: Stores<'_>, logs: Option<&Path>) -> Result<Option<String>, StoreError> {
    let Stores { archive, memory, .. } = stores;
    let project = stores.project();
    // Asked for first: a changeset is in the archive before it is known.
    let newest = memory.newest_changeset(&project)?;
    let mut changesets: Vec<String> = archive.list()?.iter().map(ToString::to_string).collect();
    // What was recorded here since a move says nothing: the oldest tell.
    let oldest = &changesets[changesets.len().saturating_sub(LOOKED_FOR)..];
    if oldest.is_empty() {
        return Ok(None);
    }
    // A copy that went on by itself may stand where the project was that it was made of: its newest tells.
    let last = &changesets[..1];
    let is_of_other = memory.project_of(last)?.is_some_and(|former| former != project);
    let has_replaced = is_of_other && !memory.knows_changesets(&project, last)?;
    if !has_replaced && memory.knows_changesets(&project, oldest)? {
        let is_older = newest.is_some_and(|newest| changesets[0] < newest);
        let is_put_back = is_older && memory.put_back_project(&project, &changesets)?;
        return Ok(is_put_back.then(|| say::project_put_back().into()));
    }
    let told = if has_replaced { last } else { oldest };
    let Some(former) = memory.project_of(told)?.filter(|former| *former != project) else { return Ok(None) };
    let named = clean_line(former_path(&former)).into_owned();
    // A name that is no UTF-8 is known only in part: whether it is there cannot be told.
    let is_known = !former.contains(char::REPLACEMENT_CHARACTER);
    if is_known && !archive.may_be_in(Path::new(&former), told) {
        // Another project may have been made there since.
        let is_there = Path::new(&former).symlink_metadata().is_ok();
        memory.move_project(&former, &project, &changesets, is_there)?;
        if let Some(logs) = logs {
            // Of one that was set aside another project has the place.
            let is_shared = is_there || former_path(&former) != former;
            let own: HashSet<&str> = changesets.iter().map(String::as_str).collect();
            let has_moved = |record: &CommandRecord| {
                let of_session = || memory.get(&record.session).is_ok_and(|session| session.project == project);
                !is_shared || record.changeset.as_deref().is_some_and(|id| own.contains(id)) || of_session()
            };
            record::move_project(logs, Path::new(former_path(&former)), stores.workspace.root(), has_moved);
        }
        return Ok(Some(say::project_moved(&named)));
    }
    // Oldest first, as they were made.
    changesets.reverse();
    memory.copy_project(&former, &project, &changesets)?;
    Ok(Some(say::project_copied(&named)))
}

/// Does so and reports it to the person; a start reports what memory or archive refuse.
pub fn follow_and_say(services: &Services) {
    if let Ok(Some(line)) = follow(services.stores(), services.shell.logs().as_deref()) {
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
    use crate::memory::{ChangesetCause, ReviewDecision, WriteIntent};
    use crate::past::files_of;
    use crate::workspace::Workspace;

    /// Changes the file `a` to a state of this digest. Returns the changeset's id.
    fn change(w: Stores<'_>, sha: [u8; 32]) -> String {
        let cause = ChangesetCause { kind: "edit".into(), title: "a title".into(), ..ChangesetCause::default() };
        let intent = WriteIntent {
            path: "a".into(),
            sha256: Some(sha),
            replaces: None,
            bytes: None,
            added: Some(3),
            removed: None,
        };
        let pending = w.memory.write_intent(&w.project(), &cause, &[intent]).expect("recorded");
        let before = w.workspace.read("a").expect("read").state;
        let recorded = w.archive.record(&mut w.archive.lock().expect("locked"), &[("a", &before).into()], None);
        let id = recorded.expect("recorded").changeset.expect("archived");
        let files = files_of(id, None, &mut HashMap::new(), w.archive).expect("listed");
        w.memory.applied(pending, &id.to_string(), &files).expect("applied");
        id.to_string()
    }

    #[test]
    fn what_is_known_of_a_project_goes_along_where_it_is_moved_or_copied() {
        for is_moved in [true, false] {
            let w = World::with("old");
            let id = change(w.stores(), [1; 32]);
            let (root, former) = (w.workspace.root().to_path_buf(), w.stores().project());
            assert_eq!(follow(w.stores(), None).expect("looked"), None, "it is where it was");
            let to = root.with_file_name("elsewhere");
            match is_moved {
                true => fs::rename(&root, &to).expect("moved"),
                false => assert!(Command::new("cp").arg("-a").args([&root, &to]).status().expect("ran").success()),
            }
            let workspace = Workspace::open(&to).expect("a workspace");
            let archive = Archive::open(&workspace, &ArchiveSettings::default()).expect("an archive");
            let stores = Stores { workspace: &workspace, archive: &archive, memory: &w.memory };
            let line = follow(stores, None).expect("followed").expect("it is told");
            assert!(line.contains(&former), "{line}");
            assert_eq!(follow(stores, None).expect("looked"), None, "it is told once");
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
    fn what_a_project_did_after_it_was_copied_is_not_known_of_its_copy() {
        let w = World::with("old");
        let first = change(w.stores(), [1; 32]);
        let to = w.workspace.root().with_file_name("elsewhere");
        assert!(Command::new("cp").arg("-a").args([w.workspace.root(), &to]).status().expect("ran").success());
        let second = change(w.stores(), [2; 32]);
        let (workspace, archive) = opened(&to);
        let stores = Stores { workspace: &workspace, archive: &archive, memory: &w.memory };
        follow(stores, None).expect("followed").expect("it is told");
        let known = |project: &str| {
            let written = w.memory.written(project, "a").expect("read").expect("known");
            let knows = |id: &str| w.memory.changeset(project, id).expect("read").is_some();
            (written.sha256.map(|sha| sha[0]), knows(&first), knows(&second))
        };
        assert_eq!(known(&stores.project()), (Some(1), true, false));
        assert_eq!(known(&w.stores().project()), (Some(2), true, true));
    }

    #[test]
    fn a_project_that_is_put_back_knows_what_its_archive_tells() {
        let w = World::with("old");
        let (other, first) = (change(w.stores(), [3; 32]), change(w.stores(), [1; 32]));
        let (root, backup) = (w.workspace.root().to_path_buf(), w.workspace.root().with_file_name("backup"));
        assert!(Command::new("cp").arg("-a").args([&root, &backup]).status().expect("ran").success());
        let decided = |decision, id: &str| w.memory.review(&w.stores().project(), &[id.into()], decision, None);
        decided(ReviewDecision::Keep, &other).expect("recorded");
        let second = change(w.stores(), [2; 32]);
        decided(ReviewDecision::Restore, &first).expect("recorded");
        assert_eq!(follow(w.stores(), None).expect("looked"), None);
        fs::remove_dir_all(&root).expect("removed");
        fs::rename(&backup, &root).expect("put back");
        let (workspace, archive) = opened(&root);
        let stores = Stores { workspace: &workspace, archive: &archive, memory: &w.memory };
        let line = follow(stores, None).expect("followed").expect("it is told");
        assert!(line.contains("put back"), "{line}");
        assert_eq!(follow(stores, None).expect("looked"), None, "it is told once");
        let written = w.memory.written(&stores.project(), "a").expect("read").expect("known");
        assert!(written.is(Some([1; 32])));
        let knows = |id: &str| w.memory.changeset(&stores.project(), id).expect("read").is_some();
        assert!(knows(&first) && knows(&second), "nothing is forgotten");
        let reviewed = w.memory.reviewed(&stores.project()).expect("read");
        assert_eq!(reviewed.keys().collect::<Vec<_>>(), [&other], "what is there waits again");
    }

    #[test]
    fn a_copy_that_takes_the_place_of_its_project_knows_its_own_work() {
        for is_moved in [true, false] {
            let w = World::with("old");
            let first = change(w.stores(), [1; 32]);
            let root = w.workspace.root().to_path_buf();
            let elsewhere = root.with_file_name("elsewhere");
            let copy = |from: &Path, to: &Path| {
                assert!(Command::new("cp").arg("-a").args([from, to]).status().expect("ran").success());
            };
            copy(&root, &elsewhere);
            let used = opened(&elsewhere);
            let stores = Stores { workspace: &used.0, archive: &used.1, memory: &w.memory };
            follow(stores, None).expect("followed").expect("it is told");
            let (third, second) = (change(w.stores(), [3; 32]), change(stores, [2; 32]));
            fs::remove_dir_all(&root).expect("removed");
            match is_moved {
                true => fs::rename(&elsewhere, &root).expect("moved"),
                false => copy(&elsewhere, &root),
            }
            let (workspace, archive) = opened(&root);
            let stores = Stores { workspace: &workspace, archive: &archive, memory: &w.memory };
            follow(stores, None).expect("followed").expect("it is told");
            assert_eq!(follow(stores, None).expect("looked"), None, "it is told once");
            let knows = |id: &str| w.memory.changeset(&stores.project(), id).expect("read").is_some();
            assert_eq!((knows(&first), knows(&second), knows(&third)), (true, true, false), "moved: {is_moved}");
            let written = w.memory.written(&stores.project(), "a").expect("read").expect("known");
            assert!(written.is(Some([2; 32])), "moved: {is_moved}");
        }
    }

    #[test]
    fn a_project_that_memory_knows_nothing_of_stays_unknown() {
        let w = World::with("old");
        let before = w.workspace.read("a").expect("read").state;
        w.archive.record(&mut w.archive.lock().expect("locked"), &[("a", &before).into()], None).expect("recorded");
        assert_eq!(follow(w.stores(), None).expect("looked"), None);
    }
    /// Opens a folder as a workspace with its archive.
    fn opened(root: &Path) -> (Workspace, Archive) {
        let workspace = Workspace::open(root).expect("a workspace");
        let archive = Archive::open(&workspace, &ArchiveSettings::default()).expect("an archive");
        (workspace, archive)
    }

    #[test]
    fn a_project_takes_the_place_of_one_that_memory_knew_and_leaves_its_own_to_one_made_anew() {
        let w = World::with("old");
        let (root, former) = (w.workspace.root().to_path_buf(), w.stores().project());
        let elsewhere = root.with_file_name("elsewhere");
        let met = |(workspace, archive): &(Workspace, Archive)| {
            let stores = Stores { workspace, archive, memory: &w.memory };
            let line = follow(stores, None).expect("followed");
            let written = w.memory.written(&stores.project(), "a").expect("read");
            (stores.project(), written.is_some_and(|written| written.is(Some([1; 32]))), line)
        };
        let knows = |project: &str, id: &str| w.memory.changeset(project, id).expect("read").is_some();
        let first = change(w.stores(), [1; 32]);
        fs::rename(&root, &elsewhere).expect("moved");
        // Another project stands at the former path, and was used before the first was met where it is now.
        fs::create_dir(&root).expect("made anew");
        fs::write(root.join("a"), "other").expect("written");
        let other = opened(&root);
        let second = change(Stores { workspace: &other.0, archive: &other.1, memory: &w.memory }, [2; 32]);
        let (project, _, line) = met(&opened(&elsewhere));
        assert!(line.is_some_and(|line| line.contains("was at")), "it is no copy");
        assert_eq!((knows(&project, &first), knows(&project, &second)), (true, false));
        assert_eq!((knows(&former, &first), knows(&former, &second)), (false, true));
        let moved = opened(&elsewhere);
        let third = change(Stores { workspace: &moved.0, archive: &moved.1, memory: &w.memory }, [1; 32]);
        // The other one is removed, and the first takes its place.
        fs::remove_dir_all(&root).expect("removed");
        fs::rename(&elsewhere, &root).expect("moved");
        let (back, is_own, line) = met(&opened(&root));
        assert!(back == former && line.is_some_and(|line| line.contains(&project)));
        assert!(is_own && [&first, &third].iter().all(|id| knows(&former, id)) && !knows(&former, &second));
        let aside = w.memory.project_of(&[second]).expect("read").expect("it is kept");
        assert_eq!((former_path(&aside), aside == former), (former.as_str(), false));
    }
}
