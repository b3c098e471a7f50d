//! Files and folders of a restore in whose place something came that does not go with it, once it was prepared, or by what
//! was chosen of it, and folders that hold something else. They stay, and the rest is restored.

use std::collections::BTreeSet;

use super::ApplyError;
use crate::archive::restore::{blocked, not_emptied};
use crate::proposal::{Decided, DecidedFile};
use crate::workspace::Workspace;

/// Returns a restore without the paths in whose place something stays, or in which it does, and a line for each of them.
///
/// # Errors
/// When nothing else would be written.
pub fn leave_out(decided: &Decided, workspace: &Workspace) -> Result<(Decided, Vec<String>), ApplyError> {
    let goes: BTreeSet<&str> =
        decided.files().iter().filter(|file| file.after().is_absent()).map(DecidedFile::path).collect();
    let comes = |file: &&DecidedFile| file.restores() && file.before().is_absent() && !file.after().is_absent();
    let mut stay = blocked(decided.files().iter().filter(comes).map(DecidedFile::path), &goes, workspace);
    if decided.files().iter().any(|file| file.restores() && goes.contains(file.path()) && file.path().ends_with('/')) {
        stay.extend(not_emptied(&goes, workspace));
    }
    if stay.is_empty() {
        return Ok((decided.clone(), Vec::new()));
    }
    let lines: Vec<String> = stay.iter().map(|(path, why)| format!("{path}: {why}")).collect();
    let rest = decided.without(|file| stay.contains_key(file.path()));
    if rest.files().is_empty() { Err(ApplyError::InTheWay(lines.join("\n"))) } else { Ok((rest, lines)) }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::PathBuf;

    use super::*;
    use crate::archive::restore::NothingKnown;
    use crate::archive::{Before, Choices, Id, Restoration, RestoreTarget};
    use crate::execute::execute;
    use crate::execute::testing::World;
    use crate::memory::{ChangesetCause, ChangesetState};
    use crate::proposal::{Consent, Decision, ForeignChoice, ProposalId, RestorePreview, RestoreStatus, State};

    /// Archives these states as what a changeset found, and returns how they are brought back.
    fn prepared(w: &World, found: &[(&str, &State)]) -> Restoration {
        let mut lock = w.archive.lock().expect("locked");
        let states: Vec<Before<'_>> = found.iter().map(|state| (*state).into()).collect();
        w.archive.record(&mut lock, &states, None).expect("archived");
        drop(lock);
        again(w)
    }

    /// Returns how the newest changeset is undone.
    fn again(w: &World) -> Restoration {
        let choices = Choices { others: Some(ForeignChoice::RestoreVersion), ..Choices::default() };
        let target = RestoreTarget::Undo { count: 1, files: Vec::new() };
        let restored = w.archive.restore(&w.workspace, &target, &NothingKnown, &choices, ProposalId(0), "undo");
        restored.expect("restored")
    }

    fn accepted(Restoration { proposal, .. }: &Restoration) -> Decided {
        proposal.decide(&Decision::accept(proposal, Consent::Person)).expect("it fits").expect("accepted")
    }

    /// Returns the decision to bring these paths back as a changeset found them.
    fn undo(w: &World, found: &[(&str, &State)]) -> Decided {
        accepted(&prepared(w, found))
    }

    /// Returns the paths of a prepared restore that stay, and those that are in it.
    fn stay_and_come(restored: &Restoration) -> (Vec<&str>, Vec<&str>) {
        let stays = |preview: &&RestorePreview| matches!(preview.status, RestoreStatus::Refused(_));
        let stay = restored.previews.iter().filter(stays).map(|preview| preview.path.as_str());
        (stay.collect(), restored.proposal.files.iter().map(|file| file.path.as_str()).collect())
    }

    #[test]
    fn a_folder_that_no_version_holds_stays_and_the_rest_comes_back() {
        let w = World::with("after");
        let link = State::Link { target: PathBuf::from("elsewhere") };
        let before = State::file(&b"before"[..]);
        let decided = undo(&w, &[("a", &before), ("modules", &link)]);
        // It comes once the restore is prepared.
        let made = w.workspace.full("modules/x");
        fs::create_dir(w.workspace.full("modules")).expect("made");
        fs::write(&made, "built").expect("written");
        assert_eq!(stay_and_come(&again(&w)), (vec!["modules"], vec!["a"]), "one prepared now says so before");
        let applied = execute(&decided, ChangesetCause::default(), w.stores()).applied.expect("written");
        assert_eq!((applied.paths, applied.not_kept.len()), (vec!["a".to_string()], 1));
        assert_eq!(fs::read(w.workspace.full("a")).expect("read"), b"before");
        assert_eq!(w.archive.paths(applied.changeset.expect("archived")).expect("read"), ["a"]);
        let made_before = w.archive.list().expect("listed").len();
        let only = decided.without(|file| file.path() == "a");
        let refused = execute(&only, ChangesetCause::default(), w.stores()).applied.expect_err("nothing is written");
        assert!(refused.to_string().contains("modules: a folder is in its place"), "{refused}");
        assert_eq!(w.archive.list().expect("listed").len(), made_before);
        assert_eq!(fs::read(made).expect("read"), b"built");
    }

    #[test]
    fn a_file_in_the_place_of_a_folder_stays_and_the_rest_comes_back() {
        let w = World::with("after");
        let (before, folder) = (State::file(&b"before"[..]), State::Folder { mode: 0o755 });
        fs::write(w.workspace.full("d"), "theirs").expect("written");
        let restored = prepared(&w, &[("a", &before), ("d/", &folder), ("d/in", &before)]);
        assert_eq!(stay_and_come(&restored), (vec!["d/", "d/in"], vec!["a"]));
        let applied = execute(&accepted(&restored), ChangesetCause::default(), w.stores()).applied.expect("written");
        assert_eq!((applied.paths, applied.not_kept.len()), (vec!["a".to_string()], 0));
        assert_eq!(fs::read(w.workspace.full("d")).expect("read"), b"theirs");
        let restored = prepared(&w, &[("d", &State::Absent), ("d/", &folder), ("d/in", &before)]);
        assert_eq!(stay_and_come(&restored).0, [""; 0], "it goes with the restore");
        execute(&accepted(&restored), ChangesetCause::default(), w.stores()).applied.expect("written");
        assert_eq!(fs::read(w.workspace.full("d/in")).expect("read"), b"before");
    }

    #[test]
    fn a_folder_that_holds_something_else_stays_and_is_not_said_to_be_restored() {
        let w = World::with("after");
        let before = State::file(&b"before"[..]);
        for folder in ["d/in", "e"] {
            fs::create_dir_all(w.workspace.full(folder)).expect("made");
        }
        fs::write(w.workspace.full("d/in/theirs"), "x").expect("written");
        let gone = State::Absent;
        let decided = undo(&w, &[("a", &before), ("d/", &gone), ("d/in/", &gone), ("e/", &gone)]);
        let applied = execute(&decided, ChangesetCause::default(), w.stores()).applied.expect("written");
        assert_eq!(applied.paths, ["a", "e/"]);
        assert_eq!(applied.not_kept, ["d/", "d/in/"].map(|path| format!("{path}: something else is in it")));
        assert_eq!(w.archive.paths(applied.changeset.expect("archived")).expect("read"), ["a", "e/"]);
        assert!(w.workspace.full("d/in/theirs").exists() && !w.workspace.full("e").exists());
        let only = decided.without(|file| !file.path().starts_with('d'));
        let refused = execute(&only, ChangesetCause::default(), w.stores()).applied.expect_err("nothing goes");
        assert!(refused.to_string().contains("d/in/: something else is in it"), "{refused}");
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
