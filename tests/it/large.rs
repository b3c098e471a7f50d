//! Files too large to be held: archived without a copy where they are about to go, and never sharing their bytes with the
//! archive while they stay.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt, PermissionsExt};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Arc;

use nebula::archive::{Archive, ArchiveSettings, Choices, NothingKnown, RestoreTarget};
use nebula::execute::ApplyError;
use nebula::execute::apply::{Applied, apply};
use nebula::execute::sweep;
use nebula::proposal::{Consent, Decision, FileChange, ForeignChoice, Proposal, ProposalId, State};
use nebula::workspace::Workspace;
use tokio_util::sync::CancellationToken;

/// Just too large to be held.
const SIZE: u64 = (64 << 20) + 1;

struct World {
    dir: tempfile::TempDir,
    workspace: Workspace,
    archive: Archive,
}

impl World {
    /// A workspace with one large file, most of it holes.
    fn new() -> Self {
        let dir = tempfile::tempdir().expect("a folder");
        let workspace = Workspace::open(dir.path()).expect("open");
        let archive = Archive::open(&workspace, &ArchiveSettings::default()).expect("open");
        let w = World { dir, workspace, archive };
        let file = File::create(w.path()).expect("made");
        file.set_len(SIZE).expect("a sparse file");
        file.write_all_at(b"in the middle", SIZE / 2).expect("written");
        w
    }

    fn path(&self) -> PathBuf {
        self.dir.path().join("big")
    }

    fn inode(&self) -> u64 {
        fs::metadata(self.path()).expect("there").ino()
    }

    /// The file of its first version.
    fn version(&self) -> PathBuf {
        self.archive.versions("big").expect("listed").remove(0).file
    }

    /// Deletes the file, writing through this archive.
    fn delete(&self, archive: &Archive) -> Result<Applied, ApplyError> {
        let before = self.workspace.read("big").expect("read").state;
        self.write(archive, FileChange::new("big", before, State::Absent, "test", &[]))
    }

    fn write(&self, archive: &Archive, change: FileChange) -> Result<Applied, ApplyError> {
        let proposal = Proposal { id: ProposalId(1), title: "test".into(), files: vec![change] };
        let decided = proposal.decide(&Decision::accept(&proposal, Consent::Person)).expect("decided");
        apply(&decided.expect("a change"), &self.workspace, archive)
    }

    /// An archive that does this once everything is archived and before anything is written.
    fn then(&self, act: impl Fn() -> io::Result<()> + Send + Sync + 'static) -> Archive {
        let probe = move |step: &str| if step == "apply: rename" { act() } else { Ok(()) };
        self.archive.clone().with_probe(Arc::new(probe))
    }

    /// Overwrites the file in place, and looks whether its version is what it was.
    fn version_is_its_own(&self) -> bool {
        let file = File::options().write(true).open(self.path()).expect("open");
        file.write_all_at(b"something else", SIZE / 2).expect("written");
        let mut bytes = [0; 13];
        File::open(self.version()).and_then(|f| f.read_exact_at(&mut bytes, SIZE / 2)).expect("read");
        bytes == *b"in the middle"
    }
}

#[test]
fn a_deleted_file_goes_into_the_archive_as_it_is_and_comes_back() {
    let w = World::new();
    let (before, inode) = (w.workspace.read("big").expect("read").state, w.inode());
    w.delete(&w.archive).expect("deleted");
    assert!(!w.path().exists());
    let stored = fs::metadata(w.version()).expect("there");
    assert_eq!((stored.ino(), stored.nlink()), (inode, 1));
    let undo = RestoreTarget::Undo { count: 1, files: Vec::new() };
    let mut choices = Choices::default();
    choices.each.insert("big".into(), ForeignChoice::RestoreVersion);
    let back = w.archive.restore(&w.workspace, &undo, &NothingKnown, &choices, ProposalId(2), "undo");
    let change = back.expect("planned").proposal.files.remove(0);
    w.write(&w.archive, change).expect("restored");
    assert_eq!(w.workspace.read("big").expect("read").state, before);
    assert!(fs::metadata(w.path()).expect("there").blocks() * 512 < 1 << 20, "the holes were filled");
    assert!(w.version_is_its_own());
}

#[test]
fn a_file_that_stays_after_all_shares_nothing_with_its_version() {
    let w = World::new();
    let failed = w.delete(&w.then(|| Err(io::Error::other("refused"))));
    assert!(matches!(failed, Err(ApplyError::Write { .. })), "{failed:?}");
    assert_eq!(fs::metadata(w.path()).expect("there").nlink(), 1);
    assert!(w.version_is_its_own());
}

#[test]
fn what_a_crash_leaves_shared_is_parted_at_the_next_start() {
    let w = World::new();
    let crashes = w.then(|| panic!("killed"));
    assert!(catch_unwind(AssertUnwindSafe(|| w.delete(&crashes))).is_err());
    assert_eq!(fs::metadata(w.path()).expect("there").nlink(), 2);
    sweep(&w.archive).expect("swept");
    assert_eq!(fs::metadata(w.path()).expect("there").nlink(), 1);
    assert!(w.version_is_its_own());
}

#[test]
fn a_file_with_other_names_or_rights_of_its_owner_is_copied() {
    for (what, not_kept) in [("linked", None), ("set-id", Some("without its set-user-ID bit"))] {
        let w = World::new();
        match what {
            "linked" => fs::hard_link(w.path(), w.dir.path().join("other")).expect("linked"),
            _ => fs::set_permissions(w.path(), fs::Permissions::from_mode(0o4755)).expect("set"),
        }
        let inode = w.inode();
        let applied = w.delete(&w.archive).expect("deleted");
        let stored = fs::metadata(w.version()).expect("there");
        assert!(stored.ino() != inode && stored.mode() & 0o6000 == 0, "{what}");
        assert!(stored.blocks() * 512 < 1 << 20, "{what}: the holes were filled");
        let not_stored = applied.not_kept.join("\n");
        assert_eq!(not_stored.contains(not_kept.unwrap_or("?")), not_kept.is_some(), "{what}: {not_stored}");
    }
}

#[test]
fn a_stopped_change_leaves_everything_as_it_was() {
    let mut w = World::new();
    let before = w.workspace.read("big").expect("read").state;
    let stop = CancellationToken::new();
    let (w_stop, stopped) = (w.workspace.stopped_by(&stop), w.archive.stopped_by(&stop));
    let change = FileChange::new("big", before, State::Absent, "test", &[]);
    stop.cancel();
    w.workspace = w_stop;
    assert!(w.write(&stopped, change).is_err_and(|e| e.is_stopped()));
    assert!(w.path().exists() && w.archive.list().expect("listed").is_empty());
}
