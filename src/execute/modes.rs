//! The permission bits that files are written with.

use crate::proposal::DecidedFile;
use crate::workspace::Read;

/// Returns the files as they are written: a change that is none of the mode leaves the one that the file has now, or at
/// the path that it is moved from, which the person may have set since the proposal was made.
pub(super) fn with_modes_of_today(files: &[DecidedFile], now: &[Read]) -> Vec<DecidedFile> {
    let of = |(at, file): (usize, &DecidedFile)| {
        let moved = file.moved().filter(|_| file.before().is_absent());
        let from = moved.and_then(|from| files.iter().position(|file| file.path() == from)).unwrap_or(at);
        let (before, today) = (files[from].before().mode(), now[from].state.mode());
        if today.is_some() && before == file.after().mode() { file.with_mode(today) } else { file.clone() }
    };
    files.iter().enumerate().map(of).collect()
}

#[cfg(test)]
mod tests {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::PermissionsExt;

    use crate::execute::execute;
    use crate::execute::testing::World;
    use crate::memory::ChangesetCause;
    use crate::proposal::{Consent, Decision, FileChange, Proposal, ProposalId, State};

    #[test]
    fn a_mode_that_the_person_sets_before_they_approve_stays_unless_it_is_what_is_changed() {
        for (after, left) in [(0o644, 0o600), (0o755, 0o755)] {
            let w = World::with("old");
            let file = w.workspace.full("a");
            let mode = |mode| fs::set_permissions(&file, Permissions::from_mode(mode)).expect("set");
            mode(0o644);
            let before = w.workspace.read("a").expect("read").state;
            let after = State::file(&b"new"[..]).with_mode(Some(after));
            let change = FileChange::new("a", before, after, "writeFile", &[]);
            let proposal = Proposal { id: ProposalId(1), title: String::new(), files: vec![change] };
            mode(0o600);
            let decision = Decision::accept(&proposal, Consent::Person);
            let decided = proposal.decide(&decision).expect("fits").expect("accepted");
            let executed = execute(&decided, ChangesetCause::default(), w.stores());
            assert!(executed.applied.is_ok(), "{executed:?}");
            assert_eq!(fs::read(&file).expect("there"), b"new");
            assert_eq!(fs::metadata(&file).expect("there").permissions().mode() & 0o777, left);
        }
    }
}
