//! Files of a restore in whose place a folder stands that does not go with it: something lies in it that the restore does
//! not remove, as what can be built again and is in no version. The folder stays, and the rest is restored.

use std::collections::BTreeSet;
use std::io;

use rustix::fs::FileType;

use super::ApplyError;
use crate::disk::{self, Folder};
use crate::proposal::{Decided, DecidedFile};
use crate::text::name::text_of;
use crate::workspace::Workspace;

/// Returns a restore without the files in whose place a folder stays, and a line for each of them.
///
/// # Errors
/// When nothing else would be written.
pub fn leave_out(decided: &Decided, workspace: &Workspace) -> Result<(Decided, Vec<String>), ApplyError> {
    let goes: BTreeSet<&str> =
        decided.files().iter().filter(|file| file.after().is_absent()).map(DecidedFile::path).collect();
    let comes = |file: &&DecidedFile| {
        file.restores() && file.before().is_absent() && !file.after().is_absent() && !file.path().ends_with('/')
    };
    let is_blocked = |file: &&DecidedFile| stays(file.path(), &goes, workspace).unwrap_or(false);
    let blocked: BTreeSet<&str> =
        decided.files().iter().filter(comes).filter(is_blocked).map(DecidedFile::path).collect();
    if blocked.is_empty() {
        return Ok((decided.clone(), Vec::new()));
    }
    let words = |path: &&str| format!("{path}: a folder is in its place, with files that no version holds; it stays");
    let lines: Vec<String> = blocked.iter().map(words).collect();
    let rest = decided.without(|file| blocked.contains(file.path()));
    if rest.files().is_empty() { Err(ApplyError::InTheWay(lines.join("\n"))) } else { Ok((rest, lines)) }
}

/// Returns whether a folder is at a path, and it or something in it does not go.
fn stays(path: &str, goes: &BTreeSet<&str>, workspace: &Workspace) -> io::Result<bool> {
    let (above, name) = path.rsplit_once('/').unwrap_or(("", path));
    let above = workspace.folder(above)?;
    match above.stat(name)? {
        Some(stat) if disk::is(&stat, FileType::Directory) => {
            let own = format!("{path}/");
            Ok(!goes.contains(own.as_str()) || holds_others(&above.enter(name)?, &own, goes)?)
        }
        _ => Ok(false),
    }
}

/// Returns whether something in a folder does not go.
fn holds_others(folder: &Folder, path: &str, goes: &BTreeSet<&str>) -> io::Result<bool> {
    for name in folder.names()? {
        let inner = format!("{path}{}", text_of(&name));
        let is_folder = folder.stat(&name)?.is_some_and(|stat| disk::is(&stat, FileType::Directory));
        let stays = match is_folder {
            true => {
                let inner = inner + "/";
                !goes.contains(inner.as_str()) || holds_others(&folder.enter(&name)?, &inner, goes)?
            }
            false => !goes.contains(inner.as_str()),
        };
        if stays {
            return Ok(true);
        }
    }
    Ok(false)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::PathBuf;

    use super::*;
    use crate::archive::restore::NothingKnown;
    use crate::archive::{Before, Choices, Id, RestoreTarget};
    use crate::execute::execute;
    use crate::execute::testing::World;
    use crate::memory::{ChangesetCause, ChangesetState};
    use crate::proposal::{Consent, Decision, ForeignChoice, ProposalId, State};

    /// Returns the decision to bring these paths back as a changeset found them.
    fn undo(w: &World, found: &[(&str, &State)]) -> Decided {
        let mut lock = w.archive.lock().expect("locked");
        let states: Vec<Before<'_>> = found.iter().map(|state| (*state).into()).collect();
        w.archive.record(&mut lock, &states, None).expect("archived");
        drop(lock);
        let choices = Choices { others: Some(ForeignChoice::RestoreVersion), ..Choices::default() };
        let target = RestoreTarget::Undo { count: 1, files: Vec::new() };
        let restored = w.archive.restore(&w.workspace, &target, &NothingKnown, &choices, ProposalId(0), "undo");
        let proposal = restored.expect("restored").proposal;
        proposal.decide(&Decision::accept(&proposal, Consent::Person)).expect("it fits").expect("accepted")
    }

    #[test]
    fn a_folder_that_no_version_holds_stays_and_the_rest_comes_back() {
        let w = World::with("after");
        let made = w.workspace.full("modules/x");
        fs::create_dir(w.workspace.full("modules")).expect("made");
        fs::write(&made, "built").expect("written");
        let link = State::Link { target: PathBuf::from("elsewhere") };
        let before = State::file(&b"before"[..]);
        let decided = undo(&w, &[("a", &before), ("modules", &link)]);
        let applied = execute(&decided, ChangesetCause::default(), w.stores()).applied.expect("written");
        assert_eq!((applied.paths, applied.not_kept.len()), (vec!["a".to_string()], 1));
        assert_eq!(fs::read(w.workspace.full("a")).expect("read"), b"before");
        assert_eq!(w.archive.paths(applied.changeset.expect("archived")).expect("read"), ["a"]);
        let made_before = w.archive.list().expect("listed").len();
        let decided = undo(&w, &[("modules", &link)]);
        let refused = execute(&decided, ChangesetCause::default(), w.stores()).applied.expect_err("nothing is written");
        assert!(refused.to_string().contains("modules: a folder is in its place"), "{refused}");
        assert_eq!(w.archive.list().expect("listed").len(), made_before + 1, "that of the test");
        assert_eq!(fs::read(made).expect("read"), b"built");
    }

    #[test]
    fn a_folder_whose_files_go_makes_room() {
        let w = World::with("a");
        fs::create_dir(w.workspace.full("x")).expect("made");
        fs::write(w.workspace.full("x/in"), "new").expect("written");
        let link = State::Link { target: PathBuf::from("elsewhere") };
        let decided = undo(&w, &[("x", &link), ("x/", &State::Absent), ("x/in", &State::Absent)]);
        let applied = execute(&decided, ChangesetCause::default(), w.stores()).applied.expect("written");
        assert!(applied.not_kept.is_empty(), "{:?}", applied.not_kept);
        assert_eq!(fs::read_link(w.workspace.full("x")).expect("a link"), PathBuf::from("elsewhere"));
    }

    #[test]
    fn a_change_that_is_overtaken_once_its_states_are_archived_has_failed() {
        let w = World::with("after");
        let before = State::file(&b"before"[..]);
        let decided = undo(&w, &[("a", &before)]);
        let file = w.workspace.full("a");
        let overtakes = move |step: &str| match step {
            "apply: rename" => fs::write(&file, "by another, and longer"),
            _ => Ok(()),
        };
        let archive = w.archive.clone().with_probe(std::sync::Arc::new(overtakes));
        let done = execute(&decided, ChangesetCause::default(), w.stores_with(&archive)).applied;
        assert!(matches!(done, Err(ApplyError::Conflict { archived: Some(_), .. })), "{done:?}");
        let state = |id: &Id| {
            let record = w.memory.changeset(&w.stores().project(), &id.to_string()).expect("read");
            record.map(|record| record.state)
        };
        let states: Vec<_> = w.archive.list().expect("listed").iter().filter_map(state).collect();
        assert!(!states.is_empty() && states.iter().all(|state| *state == ChangesetState::Failed), "{states:?}");
    }
}
