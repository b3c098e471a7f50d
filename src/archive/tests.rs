//! The archive's form on disk, and what can be asked of it.

use std::collections::HashMap;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};

use super::*;
use crate::proposal::{ForeignChoice, ProposalId, RestoreFate, RestoreStatus};

struct World {
    dir: tempfile::TempDir,
    workspace: Workspace,
    archive: Archive,
}

impl World {
    fn new() -> Self {
        let dir = tempfile::tempdir().expect("a folder");
        let workspace = Workspace::open(dir.path()).expect("open");
        let archive = Archive::open(&workspace, &ArchiveSettings::default()).expect("open");
        World { dir, workspace, archive }
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.dir.path().join(path);
        fs::create_dir_all(path.parent().expect("inside")).expect("made");
        fs::write(path, text).expect("written");
    }

    /// Archives files as they are now.
    fn record(&self, paths: &[&str]) -> Recorded {
        let states: Vec<_> = paths.iter().map(|p| self.workspace.read(p).expect("read").state).collect();
        let states: Vec<_> = paths.iter().copied().zip(&states).map(Into::into).collect();
        self.archive.record(&mut self.archive.lock().expect("locked"), &states, None).expect("recorded")
    }

    /// Archives a file, then gives it another text.
    fn change(&self, path: &str, text: &str) -> Recorded {
        let recorded = self.record(&[path]);
        self.write(path, text);
        recorded
    }

    fn restore(&self, request: &RestoreTarget, written: &dyn LastWrittenLookup, choices: &Choices) -> Restoration {
        self.try_restore(request, written, choices).expect("restorable")
    }

    fn try_restore(
        &self,
        request: &RestoreTarget,
        written: &dyn LastWrittenLookup,
        choices: &Choices,
    ) -> Result<Restoration, RestoreError> {
        self.archive.restore(&self.workspace, request, written, choices, ProposalId(1), "undo")
    }
}

/// Remembers what was written last.
#[derive(Default)]
struct Notes(HashMap<String, Vec<u8>>);

impl LastWrittenLookup for Notes {
    fn written(&self, path: &str) -> Option<LastWritten> {
        let bytes = self.0.get(path)?;
        Some(LastWritten {
            states: vec![Some(sha256(bytes))],
            bytes: Some(bytes.as_slice().into()),
            ..LastWritten::default()
        })
    }
}

/// Knows a changeset whose writing failed.
struct FailedChange(Id);

impl LastWrittenLookup for FailedChange {
    fn written(&self, _path: &str) -> Option<LastWritten> {
        None
    }

    fn failed(&self, changeset: Id) -> bool {
        changeset == self.0
    }
}

fn undo(count: usize, files: &[&str]) -> RestoreTarget {
    RestoreTarget::Undo { count, files: files.iter().map(|f| f.to_string()).collect() }
}

#[test]
fn the_form_on_disk_is_that_of_the_specification() {
    let w = World::new();
    w.write("src/main.py", "print(1)\n");
    let shaft = w.dir.path().join(".shaft");
    assert!(!shaft.exists());
    let recorded = w.record(&["src/main.py", "new.md"]);
    let id = recorded.changeset.expect("archived");
    assert_eq!(fs::read_to_string(shaft.join(".gitignore")).expect("there"), "*\n");
    assert_eq!(fs::read_to_string(shaft.join("lock")).expect("there"), format!("{id}\n"));
    let text = fs::read_to_string(shaft.join(format!("archives/{id}.txt"))).expect("there");
    assert_eq!(text, "src/main.py\nnew.md\n");
    let folder = shaft.join("archives").join(calculate_path_sha256(w.workspace.root(), Path::new("src/main.py")));
    let version = folder.join(format!("{}.py", recorded.files[0].version));
    assert_eq!(fs::read_to_string(version).expect("there"), "print(1)\n");
    let folder = shaft.join("archives").join(calculate_path_sha256(w.workspace.root(), Path::new("new.md")));
    let absent = folder.join(format!("{}.absent", recorded.files[1].version));
    assert_eq!(fs::read(absent).expect("there"), b"");
    for folder in [shaft.clone(), shaft.join("archives"), folder] {
        assert_eq!(fs::metadata(folder).expect("there").permissions().mode() & 0o777, 0o700);
    }
    assert!(recorded.files.iter().all(|f| f.version < id));
}

#[test]
fn a_version_is_as_private_as_the_file() {
    let w = World::new();
    w.write("secret", "s");
    let path = w.dir.path().join("secret");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).expect("set");
    w.record(&["secret"]);
    let version = w.archive.versions("secret").expect("listed").remove(0);
    assert_eq!(fs::metadata(&version.file).expect("there").permissions().mode() & 0o777, 0o600);
    std::os::unix::fs::symlink("secret", w.dir.path().join("link")).expect("linked");
    w.record(&["link"]);
    let version = w.archive.versions("link").expect("listed").remove(0);
    assert_eq!(w.archive.show(&version).expect("shown"), State::Link { target: "secret".into() });
}

#[test]
fn equal_states_share_storage() {
    let w = World::new();
    let other = Archive::open(&w.workspace, &ArchiveSettings::default()).expect("open");
    w.write("a", "same");
    w.record(&["a"]);
    w.record(&["a"]);
    w.change("a", "other");
    w.record(&["a"]);
    // Another nebula archives the same state, and this one once more.
    let state = w.workspace.read("a").expect("read").state;
    other.record(&mut other.lock().expect("locked"), &[("a", &state).into()], None).expect("recorded");
    w.record(&["a"]);
    let versions = w.archive.versions("a").expect("listed");
    assert_eq!(versions.len(), 6);
    let inode = |v: &Version| fs::metadata(&v.file).expect("there").ino();
    // A file system with reflinks shares blocks instead of the inode.
    if fs::metadata(&versions[0].file).expect("there").nlink() > 1 {
        let inodes: Vec<u64> = versions.iter().map(inode).collect();
        assert!(inodes[..3].iter().all(|i| *i == inodes[0]), "{inodes:?}");
        assert!(inodes[3..].iter().all(|i| *i == inodes[3]), "{inodes:?}");
    }
    let texts: Vec<_> = versions.iter().map(|v| w.archive.show(v).expect("shown").text().map(str::len)).collect();
    assert_eq!(texts, [4, 4, 4, 5, 5, 5].map(Some));
}

#[test]
fn the_newest_id_is_greater_than_the_lock_whatever_the_clock_says() {
    let w = World::new();
    w.write("a", "1");
    w.record(&["a"]);
    let future = "fff00000-0000-7000-8000-000000000000";
    fs::write(w.dir.path().join(".shaft/lock"), format!("{future}\n")).expect("written");
    let recorded = w.record(&["a"]);
    assert!(recorded.changeset.expect("archived").to_string().as_str() > future);
    // Without a lock file the newest changeset counts.
    fs::remove_file(w.dir.path().join(".shaft/lock")).expect("removed");
    let newest = w.record(&["a"]).changeset;
    assert!(newest > recorded.changeset);
    // A computer that lost its power may have kept an older text than the changesets that were flushed.
    fs::write(w.dir.path().join(".shaft/lock"), "00000000-0000-7000-8000-000000000000\n").expect("written");
    let after = Archive::open(&w.workspace, &ArchiveSettings::default()).expect("open");
    let state = w.workspace.read("a").expect("read").state;
    let recorded = after.record(&mut after.lock().expect("locked"), &[("a", &state).into()], None).expect("recorded");
    assert!(recorded.changeset > newest && recorded.files[0].version > newest.expect("archived"));
}

/// A sweep takes away what this very process is about to put in its place, unless each waits for the other.
#[test]
fn a_sweep_beside_the_first_record_harms_nothing() {
    for _ in 0..50 {
        let w = World::new();
        fs::create_dir_all(w.archive.folder()).expect("made");
        let start = std::sync::Barrier::new(4);
        std::thread::scope(|s| {
            for act in [0, 1, 0, 1] {
                let (archive, start) = (&w.archive, &start);
                s.spawn(move || {
                    start.wait();
                    let done = match act {
                        0 => archive.lock().map(drop),
                        _ => archive.sweep(crate::workspace::leftover::sweep).map(drop),
                    };
                    done.expect("in turn");
                });
            }
        });
    }
}

#[test]
fn a_shaft_that_is_a_file_is_reported() {
    let w = World::new();
    w.write(".shaft", "not a folder");
    assert!(matches!(Archive::open(&w.workspace, &ArchiveSettings::default()), Err(Error::NotAFolder(_))));
    assert!(matches!(w.archive.lock(), Err(Error::NotAFolder(_))));
}

#[test]
fn excluded_paths_are_not_archived() {
    let w = World::new();
    let settings = ArchiveSettings { folder: None, exclude: vec![".env*".into(), "/top/*.key".into()] };
    let archive = Archive::open(&w.workspace, &settings).expect("open");
    assert_eq!(archive.excluded_by("deep/.env.local"), Some(".env*"));
    assert_eq!(archive.excluded_by("top/a.key"), Some("/top/*.key"));
    assert_eq!(archive.excluded_by("other/top/a.key"), None);
    let states = [(".env", &State::Absent).into()];
    let recorded = archive.record(&mut archive.lock().expect("locked"), &states, None).expect("recorded");
    assert_eq!(recorded.changeset, None);
    let broken = ArchiveSettings { folder: None, exclude: vec!["[".into()] };
    assert!(matches!(Archive::open(&w.workspace, &broken), Err(Error::Glob(_))));
}

#[test]
fn an_archive_may_lie_elsewhere() {
    let w = World::new();
    let settings = ArchiveSettings { folder: Some("kept/states".into()), exclude: Vec::new() };
    let archive = Archive::open(&w.workspace, &settings).expect("open");
    w.write("a", "1");
    let state = w.workspace.read("a").expect("read").state;
    archive.record(&mut archive.lock().expect("locked"), &[("a", &state).into()], None).expect("recorded");
    assert_eq!(archive.list().expect("listed").len(), 1);
    assert_eq!(fs::read_to_string(w.dir.path().join("kept/states/.gitignore")).expect("there"), "*\n");
    assert_eq!(archive.check(&|_| None).expect("checked"), []);
}

#[test]
fn a_changeset_that_cannot_be_read_is_named() {
    let w = World::new();
    w.write("a", "1");
    w.change("a", "2");
    let id = w.archive.list().expect("listed")[0];
    let file = w.dir.path().join(".shaft/archives").join(format!("{id}.txt"));
    fs::remove_file(&file).expect("removed");
    fs::create_dir(&file).expect("made");
    let error = w.try_restore(&undo(1, &[]), &NothingKnown, &Choices::default()).expect_err("unreadable");
    assert!(matches!(error, RestoreError::Unreadable(_)) && error.to_string().contains(&id.to_string()), "{error}");
}

#[test]
fn undo_counts_versions_and_says_when_there_are_too_few() {
    let w = World::new();
    assert!(matches!(w.try_restore(&undo(1, &[]), &NothingKnown, &Choices::default()), Err(RestoreError::Empty)));
    w.write("a", "1");
    w.change("a", "2");
    w.change("a", "3");
    w.record(&["a"]);
    let after = |count| {
        let restored = w.restore(&undo(count, &["a"]), &NothingKnown, &Choices::default());
        restored.proposal.files.first().map(|f| f.after.text().expect("text").to_string())
    };
    assert_eq!((after(1), after(2), after(3)), (None, Some("2".into()), Some("1".into())));
    let fails = |count, files: &[&str]| w.try_restore(&undo(count, files), &NothingKnown, &Choices::default());
    assert!(matches!(fails(4, &["a"]), Err(RestoreError::TooFar { have: 3, .. })));
    // One whose change failed is listed, and none to go back to.
    let written = FailedChange(w.archive.list().expect("listed")[1]);
    let error = w.try_restore(&undo(3, &["a"]), &written, &Choices::default()).expect_err("too far");
    let words = "a has 2 archived versions to go back to, not 3: `nebula history a` lists them, and";
    assert!(error.to_string().starts_with(words), "{error}");
    assert!(matches!(fails(1, &["none"]), Err(RestoreError::NoVersions { .. })));
    assert!(matches!(fails(0, &[]), Err(RestoreError::Zero)));
}

#[test]
fn an_archive_of_changes_that_were_not_made_is_not_empty() {
    let w = World::new();
    w.write("a", "1");
    let id = w.record(&["a"]).changeset.expect("archived");
    let undone = w.try_restore(&undo(1, &[]), &FailedChange(id), &Choices::default());
    assert!(matches!(undone, Err(RestoreError::NothingChanged)), "{undone:?}");
}

#[test]
fn a_version_left_by_a_crash_does_not_hide_the_newest_changeset() {
    let w = World::new();
    w.write("a", "1");
    let recorded = w.change("a", "2");
    // A crash after the version, before the changeset.
    let last = w.record(&["a"]).changeset.expect("archived");
    fs::remove_file(w.dir.path().join(format!(".shaft/archives/{last}.txt"))).expect("removed");
    let restored = w.restore(&undo(1, &[]), &NothingKnown, &Choices::default());
    assert_eq!(restored.changeset, recorded.changeset);
    assert_eq!(restored.proposal.files[0].after.text(), Some("1"));
    assert_eq!(w.archive.check(&|_| None).expect("checked"), []);
}

#[test]
fn a_foreign_file_waits_for_a_choice() {
    let w = World::new();
    w.write("a", "one\ntwo\nthree\n");
    w.change("a", "one\nTWO\nthree\n");
    let mut notes = Notes::default();
    notes.0.insert("a".into(), b"one\nTWO\nthree\n".to_vec());
    w.write("a", "one\nTWO\nthree\nmine\n");
    let with = |choice| {
        let choices = Choices { others: choice, ..Choices::default() };
        let restored = w.restore(&undo(1, &[]), &notes, &choices);
        let RestoreStatus::Foreign { conflicts, counts, .. } = &restored.previews[0].status else {
            panic!("{restored:?}")
        };
        assert_eq!((*conflicts, counts.added), (Some(0), 1));
        restored.proposal.files.first().map(|f| f.after.text().expect("text").to_string())
    };
    assert_eq!(with(None), None);
    assert_eq!(with(Some(ForeignChoice::Keep)), None);
    assert_eq!(with(Some(ForeignChoice::Merge)).as_deref(), Some("one\ntwo\nthree\nmine\n"));
    assert_eq!(with(Some(ForeignChoice::RestoreVersion)).as_deref(), Some("one\ntwo\nthree\n"));
    // Bytes that a version holds are someone else's all the same, unless nebula wrote them last or no one remembers.
    w.record(&["a"]);
    let status = |written: &dyn LastWrittenLookup| {
        let restored = w.restore(&undo(2, &["a"]), written, &Choices::default());
        restored.previews[0].status.clone()
    };
    assert!(matches!(status(&notes), RestoreStatus::Foreign { .. }));
    assert!(matches!(status(&NothingKnown), RestoreStatus::Restore(..)));
    notes.0.insert("a".into(), b"one\nTWO\nthree\nmine\n".to_vec());
    assert!(matches!(status(&notes), RestoreStatus::Restore(..)));
}

#[test]
fn several_changesets_are_undone_to_before_the_first() {
    let w = World::new();
    w.write("a", "1");
    let first = w.change("a", "2").changeset.expect("archived");
    w.write("b", "1");
    let second = w.record(&["a", "b"]).changeset.expect("archived");
    w.write("a", "3");
    w.write("b", "2");
    let mut notes = Notes::default();
    notes.0.insert("a".into(), b"3".to_vec());
    notes.0.insert("b".into(), b"2".to_vec());
    let texts = |request: &RestoreTarget| -> Vec<_> {
        let restored = w.restore(request, &notes, &Choices::default());
        restored.proposal.files.iter().map(|f| (f.path.clone(), f.after.text().expect("text").to_string())).collect()
    };
    let both = [("a".to_string(), "1".to_string()), ("b".to_string(), "1".to_string())];
    assert_eq!(texts(&RestoreTarget::Changesets(vec![second, first])), both);
    assert_eq!(texts(&RestoreTarget::Since(first)), both);
    assert_eq!(texts(&RestoreTarget::Changesets(vec![second]))[0], ("a".to_string(), "2".to_string()));
}

fn numbered(changed: &[(usize, &str)]) -> String {
    let line = |n| changed.iter().find(|(at, _)| *at == n).map_or(format!("{n}\n"), |(_, text)| format!("{text}\n"));
    (1..=60).map(line).collect()
}

#[test]
fn what_a_later_changeset_did_stays_when_an_earlier_one_is_undone() {
    let w = World::new();
    w.write("a", &numbered(&[]));
    let (ten, fifty, thirty) = ((10, "TEN"), (50, "FIFTY"), (30, "THIRTY"));
    let first = w.change("a", &numbered(&[ten])).changeset.expect("archived");
    let second = w.change("a", &numbered(&[ten, fifty])).changeset.expect("archived");
    let third = w.change("a", &numbered(&[ten, fifty, thirty])).changeset.expect("archived");
    let look = |ids: &[Id], choices: &Choices| {
        let mut notes = Notes::default();
        notes.0.insert("a".into(), fs::read(w.dir.path().join("a")).expect("read"));
        let restored = w.restore(&RestoreTarget::Changesets(ids.to_vec()), &notes, choices);
        let text = restored.proposal.files.first().map(|f| f.after.text().expect("text").to_string());
        (restored.previews[0].status.clone(), text, restored.proposal.files.first().is_some_and(|f| f.foreign))
    };
    let after = |ids: &[Id]| look(ids, &Choices::default());
    let (status, text, is_foreign) = after(&[first]);
    assert!(
        matches!(status, RestoreStatus::Foreign { choice: Some(ForeignChoice::Merge), is_later: true, .. }),
        "{status:?}"
    );
    assert_eq!((text, is_foreign), (Some(numbered(&[fifty, thirty])), false));
    assert_eq!(after(&[second]).1, Some(numbered(&[ten, thirty])));
    // With one between them that stays.
    assert_eq!(after(&[third, first]).1, Some(numbered(&[fifty])));
    assert_eq!(after(&[first, second]).1, Some(numbered(&[thirty])));
    // The newest ones leave nothing to be merged.
    let (status, text, _) = after(&[third, second]);
    assert!(matches!(status, RestoreStatus::Restore(RestoreFate::Content, _)), "{status:?}");
    assert_eq!(text, Some(numbered(&[ten])));
    // Who asks for the version gets it.
    let take = Choices { each: [("a".into(), ForeignChoice::RestoreVersion)].into(), ..Choices::default() };
    assert_eq!(look(&[first], &take).1, Some(numbered(&[])));

    // One after the other they come to the same as all at once.
    w.change("a", &numbered(&[fifty, thirty]));
    assert_eq!(after(&[first]).0, RestoreStatus::Equal);
    w.change("a", &numbered(&[thirty]));
    assert_eq!(after(&[third]).1, Some(numbered(&[])));
    assert_eq!(after(&[first, second, third]).1, Some(numbered(&[])));
}

#[test]
fn a_later_changeset_of_the_same_lines_is_named_and_kept() {
    let w = World::new();
    let first = w.change("new", "n\n").changeset.expect("archived");
    w.change("new", "n\nk\n");
    let mut notes = Notes::default();
    notes.0.insert("new".into(), b"n\nk\n".to_vec());
    let look = |choices: &Choices| w.restore(&RestoreTarget::Changesets(vec![first]), &notes, choices);
    let restored = look(&Choices::default());
    let kept = RestoreStatus::Foreign {
        at: None,
        counts: crate::proposal::Counts::default(),
        choice: None,
        conflicts: None,
        rung: None,
        is_later: true,
    };
    let mut status = restored.previews[0].status.clone();
    if let RestoreStatus::Foreign { at, .. } = &mut status {
        *at = None;
    }
    assert_eq!((status, restored.proposal.files.len()), (kept, 0));
    let take = Choices { others: Some(ForeignChoice::RestoreVersion), ..Choices::default() };
    assert_eq!(look(&take).proposal.files[0].after, State::Absent);
    // Two changesets of one line: the older one is a conflict, which no policy writes.
    w.write("one", "1\n");
    let first = w.change("one", "2\n").changeset.expect("archived");
    w.change("one", "3\n");
    notes.0.insert("one".into(), b"3\n".to_vec());
    let restored = w.restore(&RestoreTarget::Changesets(vec![first]), &notes, &Choices::default());
    let RestoreStatus::Foreign { choice, conflicts, is_later, .. } = restored.previews[0].status else {
        panic!("{restored:?}")
    };
    assert_eq!((choice, conflicts, is_later, restored.proposal.files.len()), (None, Some(1), true, 0));
}

#[test]
fn hostile_changesets_write_nothing() {
    let w = World::new();
    w.write("a", "1");
    w.record(&["a"]);
    let folder = w.dir.path().join(".shaft/archives");
    let newer = Id::after(w.archive.list().expect("listed")[0]);
    fs::write(folder.join(format!("{newer}.txt")), "../outside\n.git/config\n/etc/passwd\n").expect("written");
    let restored = w.restore(&undo(1, &[]), &NothingKnown, &Choices::default());
    assert!(restored.proposal.files.is_empty());
    assert!(restored.previews.iter().all(|f| matches!(f.status, RestoreStatus::NotArchived(_))));
    let newest = Id::after(newer);
    fs::write(folder.join(format!("{newest}.txt")), b"\xff").expect("written");
    let restored = w.restore(&undo(1, &[]), &NothingKnown, &Choices::default());
    assert_eq!((restored.changeset, restored.warnings.len()), (Some(newer), 1));
}

#[test]
fn the_check_finds_all_damage_that_shows() {
    let w = World::new();
    w.write("a", "1");
    let recorded = w.record(&["a"]);
    let version = recorded.files[0].version;
    let folder = w.dir.path().join(".shaft/archives");
    assert_eq!(w.archive.check(&|_| Some(sha256(b"1"))).expect("checked"), []);
    let other = |id: Id| (id == version).then(|| sha256(b"2"));
    assert_eq!(w.archive.check(&other).expect("checked").len(), 1);
    fs::write(folder.join(".nebula-tmp-1-0-0"), "").expect("someone is writing");
    fs::write(folder.join(".nebula-tmp-2147483600-0-0"), "").expect("someone was killed");
    assert_eq!(w.archive.check(&|_| None).expect("checked"), []);
    fs::write(folder.join("notes.txt"), "").expect("written");
    fs::write(folder.join("ab".repeat(32)), "").expect("written");
    let versions = folder.join(calculate_path_sha256(w.workspace.root(), Path::new("a")));
    fs::write(versions.join("stray"), "").expect("written");
    assert_eq!(w.archive.check(&|_| None).expect("checked").len(), 3);
    fs::remove_file(&w.archive.versions("a").expect("listed")[0].file).expect("removed");
    assert_eq!(w.archive.check(&|_| None).expect("checked").len(), 4);
}

#[test]
fn pruning_never_takes_the_newest_version_of_a_file() {
    let w = World::new();
    w.write("a", "1");
    w.write("b", "1");
    let first = w.record(&["a", "b"]).changeset.expect("archived");
    w.write("a", "22");
    let second = w.record(&["a"]).changeset.expect("archived");
    let plan = w.archive.plan_prune(Keep { since: Some(i64::MAX), max_size: None }).expect("planned");
    assert_eq!(plan.changesets, [(first, vec!["b".to_string()])]);
    assert_eq!((plan.versions.len(), plan.bytes), (1, 1));
    w.archive.prune(&mut w.archive.lock().expect("locked"), &plan).expect("pruned");
    assert_eq!(w.archive.list().expect("listed"), [second, first]);
    assert_eq!(w.archive.paths(first).expect("read"), ["b"]);
    assert_eq!(w.archive.versions("a").expect("listed").len(), 1);
    assert_eq!(w.archive.versions("b").expect("listed").len(), 1);
    assert_eq!(w.archive.check(&|_| None).expect("checked"), []);
    assert_eq!(w.archive.plan_prune(Keep { since: Some(0), max_size: None }).expect("planned"), Prune::default());
    assert_eq!(w.archive.plan_prune(Keep { since: None, max_size: Some(0) }).expect("planned"), Prune::default());
}

#[test]
fn pruning_by_size_stops_when_it_is_enough() {
    let w = World::new();
    for n in 0..6 {
        w.write("a", &format!("{n}").repeat(1000));
        w.record(&["a"]);
    }
    let size = w.archive.size().expect("sized");
    let plan = w.archive.plan_prune(Keep { since: None, max_size: Some(size - 1500) }).expect("planned");
    assert_eq!((plan.versions.len(), plan.changesets.len(), plan.bytes), (2, 2, 2000));
}

#[test]
fn storage_that_versions_share_is_freed_with_the_last_of_them() {
    let w = World::new();
    w.write("a", &"x".repeat(1000));
    w.record(&["a"]);
    let first = w.archive.versions("a").expect("listed").remove(0).file;
    // As where the file system knows no shared blocks, whatever this one does.
    let mut id = Id::MIN;
    for _ in 0..2 {
        id = Id::after(id);
        fs::hard_link(&first, first.with_file_name(id.to_string())).expect("linked");
    }
    let plan = w.archive.plan_prune(Keep { since: Some(i64::MAX), max_size: None }).expect("planned");
    assert_eq!((plan.versions.len(), plan.bytes), (2, 0), "the newest version holds it still");
}

#[test]
fn names_may_be_shortened() {
    let w = World::new();
    w.write("a", "1");
    let recorded = w.record(&["a"]);
    let id = recorded.changeset.expect("archived");
    assert_eq!(w.archive.find_changeset(&id.to_string()[..30]).expect("found"), id);
    assert!(matches!(w.archive.find_changeset("zz"), Err(Error::Unknown { .. })));
    assert!(matches!(w.archive.find_changeset(""), Err(Error::Unknown { .. })));
    let version = w.archive.find_version(None, &recorded.files[0].version.to_string()).expect("found");
    assert_eq!(w.archive.path_of(&version).expect("listed").as_deref(), Some("a"));
    w.record(&["a"]);
    assert!(matches!(w.archive.find_changeset("0"), Err(Error::Ambiguous { count: 2, .. })));
}

#[test]
fn links_in_place_of_what_the_archive_owns_lead_no_write_out() {
    use std::os::unix::fs::symlink;
    // The lock, a folder of versions, the folder of all, and `.shaft` itself.
    for name in [".shaft/lock", ".shaft/archives/SHA", ".shaft/archives", ".shaft"] {
        let w = World::new();
        w.write("w/a", "text");
        let root = w.dir.path().join("w");
        let workspace = Workspace::open(&root).expect("open");
        let out = w.dir.path().join("out");
        fs::create_dir(&out).expect("made");
        fs::write(out.join("mine"), "precious").expect("written");
        let sha = calculate_path_sha256(workspace.root(), Path::new("a"));
        let link = root.join(name.replace("SHA", &sha));
        fs::create_dir_all(link.parent().expect("a folder")).expect("made");
        let target = if name == ".shaft/lock" { out.join("mine") } else { out.clone() };
        symlink(target, &link).expect("linked");
        let state = State::file(&b"text"[..]);
        let tried = Archive::open(&workspace, &ArchiveSettings::default())
            .and_then(|archive| archive.record(&mut archive.lock()?, &[("a", &state).into()], None));
        let said = tried.expect_err(name).to_string();
        assert!(said.contains("link"), "{name}: {said}");
        assert_eq!(fs::read_to_string(out.join("mine")).expect("there"), "precious", "{name}");
        assert_eq!(fs::read_dir(&out).expect("there").count(), 1, "{name}");
    }
}

#[test]
fn what_is_no_regular_file_is_neither_waited_for_nor_read() {
    use rustix::fs::{CWD, Mode, mkfifoat};
    let w = World::new();
    w.write("a", "text");
    let recorded = w.record(&["a"]);
    let id = recorded.changeset.expect("archived");
    let pipe = |path: PathBuf| {
        fs::remove_file(&path).expect("removed");
        mkfifoat(CWD, &path, Mode::RUSR | Mode::WUSR).expect("a pipe");
    };
    pipe(w.archive.versions("a").expect("listed")[0].file.clone());
    pipe(w.archive.folder().join(format!("{id}.txt")));
    assert!(w.archive.paths(id).expect_err("a pipe").to_string().contains("a pipe"));
    let version = w.archive.versions("a").expect("listed").remove(0);
    assert!(w.archive.show(&version).expect_err("a pipe").to_string().contains("a pipe"));
    let damage = w.archive.check(&|_| None).expect("checked");
    assert_eq!(damage.len(), 2, "{damage:?}");
    pipe(w.dir.path().join(".shaft/lock"));
    assert!(w.archive.lock().expect_err("a pipe").to_string().contains("a pipe"));
    assert_eq!(w.archive.newest_given(), None);
}

#[test]
fn pruning_deletes_nothing_behind_a_link() {
    let w = World::new();
    w.write("a", "1");
    w.change("a", "2");
    w.change("a", "3");
    let folder = w.archive.folder().join(calculate_path_sha256(w.workspace.root(), Path::new("a")));
    let out = w.dir.path().join("out");
    fs::rename(&folder, &out).expect("renamed");
    let plan = |w: &World| w.archive.plan_prune(Keep { since: None, max_size: Some(0) });
    let before = plan(&w).expect("planned");
    std::os::unix::fs::symlink(&out, &folder).expect("linked");
    assert!(plan(&w).is_err_and(|e| e.to_string().contains("is a link")));
    let prune = Prune {
        versions: vec![folder.join(fs::read_dir(&out).expect("there").next().expect("one").expect("one").file_name())],
        ..before
    };
    assert!(w.archive.prune(&mut w.archive.lock().expect("locked"), &prune).is_err());
    assert_eq!(fs::read_dir(&out).expect("there").count(), 2);
}

#[test]
fn an_archived_copy_never_runs_as_someone_else_and_undo_keeps_who_the_file_runs_as() {
    let w = World::new();
    w.write("tool", "old");
    let path = w.dir.path().join("tool");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o6755)).expect("set");
    w.change("tool", "new");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o6755)).expect("set");
    let version = w.archive.versions("tool").expect("listed").remove(0);
    assert_eq!(fs::metadata(&version.file).expect("there").permissions().mode() & 0o7777, 0o755);
    let notes = Notes(HashMap::from([("tool".to_string(), b"new".to_vec())]));
    let restored = w.restore(&undo(1, &["tool"]), &notes, &Choices::default());
    let after = &restored.proposal.files[0].after;
    assert_eq!(*after, State::File { bytes: b"old"[..].into(), mode: Some(0o6755) });
}

#[test]
fn a_file_too_large_to_be_held_is_archived_and_brought_back() {
    let w = World::new();
    let path = w.dir.path().join("big");
    let file = fs::File::create(&path).expect("made");
    file.set_len(65 << 20).expect("a sparse file");
    std::os::unix::fs::FileExt::write_all_at(&file, b"in the middle", 40 << 20).expect("written");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).expect("set");
    let before = w.workspace.read("big").expect("read").state;
    assert!(matches!(&before, State::Large(large) if large.size == 65 << 20 && large.mode == Some(0o640)));
    w.record(&["big"]);
    fs::remove_file(&path).expect("removed");
    let version = w.archive.versions("big").expect("listed").remove(0);
    assert_eq!(w.archive.show(&version).expect("shown"), before);
    let mut staging = crate::workspace::write::Staging::new(&w.workspace).expect("open");
    let now = w.workspace.read("big").expect("read");
    let (mut staged, _) = staging.stage("big", &now.state, &w.archive.show(&version).expect("shown")).expect("staged");
    staged.commit(&now).expect("written");
    assert_eq!(w.workspace.read("big").expect("read").state, before);
    // What was changed in the archive is not taken for what was archived.
    let damaged = w.archive.show(&version).expect("shown");
    fs::OpenOptions::new().write(true).open(&version.file).and_then(|f| f.set_len(66 << 20)).expect("damaged");
    assert!(staging.stage("other", &State::Absent, &damaged).is_err());
}

/// Remembers the hashes of versions, and one state that was written last.
struct Hashes(Vec<RecordedFile>, &'static str);

impl LastWrittenLookup for Hashes {
    fn written(&self, _: &str) -> Option<LastWritten> {
        let states = vec![Some(sha256(self.1.as_bytes()))];
        Some(LastWritten { states, ..LastWritten::default() })
    }

    fn archived(&self, path: &str, version: Id) -> Option<Sha> {
        self.0.iter().find(|file| file.path == path && file.version == version)?.sha256
    }
}

#[test]
fn a_damaged_version_is_named_and_not_restored() {
    let w = World::new();
    w.write("a", "before");
    let hashes = Hashes(w.change("a", "after").files, "after");
    let restore = || w.restore(&undo(1, &["a"]), &hashes, &Choices::default());
    assert_eq!(restore().proposal.files[0].after.text(), Some("before"));
    let version = w.archive.versions("a").expect("listed").remove(0);
    fs::OpenOptions::new().write(true).open(&version.file).and_then(|file| file.set_len(4)).expect("damaged");
    let restored = restore();
    assert_eq!(restored.previews[0].status, RestoreStatus::NotArchived("its version is damaged".into()));
    assert!(restored.proposal.files.is_empty());
}

#[test]
fn an_undo_brings_a_mode_back_only_where_the_change_was_one_of_the_mode() {
    let w = World::new();
    let mode = |mode| fs::set_permissions(w.dir.path().join("a"), fs::Permissions::from_mode(mode)).expect("set");
    let record = |after: Option<u32>| {
        let state = w.workspace.read("a").expect("read").state;
        let before = Before { path: "a", state: &state, goes: false, mode: after };
        w.archive.record(&mut w.archive.lock().expect("locked"), &[before], None).expect("recorded");
    };
    let restored = |count| {
        let restored = w.restore(&undo(count, &["a"]), &Hashes(Vec::new(), "after"), &Choices::default());
        (restored.previews[0].status.clone(), restored.proposal.files[0].after.mode())
    };
    w.write("a", "before");
    mode(0o644);
    record(Some(0o644));
    w.write("a", "after");
    mode(0o600);
    let counts = Counts { added: 1, removed: 1 };
    assert_eq!(restored(1), (RestoreStatus::Restore(RestoreFate::Content, counts), Some(0o600)));
    // Now the next change is one of the mode, too, after which the person closes the file again: that stays.
    mode(0o640);
    record(Some(0o755));
    mode(0o700);
    w.write("a", "more");
    let hashes = Hashes(Vec::new(), "more");
    let restored = w.restore(&undo(1, &["a"]), &hashes, &Choices::default());
    let why = "someone else set its mode since: that stays";
    assert_eq!(restored.previews[0].status, RestoreStatus::Refused(why.into()));
    assert_eq!(restored.proposal.files[0].after.mode(), Some(0o700));
}

#[test]
fn a_prune_deletes_nothing_that_was_not_shown() {
    let [one, two] = [Id::after(Id::MIN), Id::after(Id::after(Id::MIN))];
    let plan = |changesets: &[(Id, &[&str])], versions: &[&str]| Prune {
        changesets: changesets.iter().map(|(id, stay)| (*id, stay.iter().map(|s| s.to_string()).collect())).collect(),
        versions: versions.iter().map(std::path::PathBuf::from).collect(),
        bytes: 7,
    };
    let shown = plan(&[(one, &["kept"])], &["a", "b"]);
    let now = plan(&[(one, &[]), (two, &[])], &["a", "c"]);
    assert_eq!(now.within(&shown), plan(&[(one, &["kept"])], &["a"]));
}

#[test]
fn a_prune_keeps_the_newest_change_of_a_store() {
    let w = World::new();
    let name = |store: &str| {
        let ops = StoreOps { store: store.into(), definitions: vec!["slot.a".into()], ops: vec!["op".into()] };
        w.archive.name_ops(ops, None, crate::proposal::Consent::Person).expect("named")
    };
    let (old, newest, other) = (name("s"), name("s"), name("t"));
    let plan = w.archive.plan_prune(Keep { since: Some(i64::MAX), max_size: None }).expect("planned");
    assert_eq!(plan.changesets, [(old, Vec::new())]);
    w.archive.prune(&mut w.archive.lock().expect("locked"), &plan).expect("pruned");
    assert_eq!(w.archive.list().expect("listed"), [other, newest]);
}

/// Remembers nothing of what is in the archive.
struct OfAClone;

impl LastWrittenLookup for OfAClone {
    fn written(&self, path: &str) -> Option<LastWritten> {
        Notes([(path.to_string(), b"clean".to_vec())].into()).written(path)
    }

    fn knows_version(&self, _: &str, _: Id, _: &State) -> bool {
        false
    }

    fn knows_changeset(&self, _: Id) -> bool {
        false
    }
}

#[test]
fn what_memory_does_not_know_is_not_restored_without_a_word() {
    let w = World::new();
    w.write("a", "hostile");
    let first = w.change("a", "clean").changeset.expect("archived");
    w.record(&["a"]);
    let ops = StoreOps { store: "s".into(), definitions: vec!["slot.a".into()], ops: vec!["op".into()] };
    let of_store = w.archive.name_ops(ops, None, crate::proposal::Consent::Person).expect("named");
    let request = RestoreTarget::Changesets(vec![first, of_store]);
    let keep = Choices { others: Some(ForeignChoice::Keep), merge_clean: true, ..Choices::default() };
    let known = w.restore(&request, &NothingKnown, &keep);
    assert_eq!((known.proposal.files.len(), known.ops.len()), (1, 1));
    let cloned = w.restore(&request, &OfAClone, &keep);
    assert_eq!((cloned.proposal.files.len(), cloned.ops.len()), (0, 0), "{cloned:?}");
    assert!(matches!(cloned.previews[0].status, RestoreStatus::Foreign { choice: Some(ForeignChoice::Keep), .. }));
    assert!(matches!(cloned.previews[1].status, RestoreStatus::Refused(_)), "{cloned:?}");
    let force = Choices { others: Some(ForeignChoice::RestoreVersion), ..Choices::default() };
    let forced = w.restore(&request, &OfAClone, &force);
    assert_eq!((forced.proposal.files.len(), forced.ops.len()), (1, 1));
}

#[test]
fn a_merged_undo_brings_back_a_mode_that_its_changeset_set() {
    let w = World::new();
    let file = w.dir.path().join("a");
    let mode = |mode| fs::set_permissions(&file, fs::Permissions::from_mode(mode)).expect("set");
    w.write("a", "1\n2\n3\n4\n5\n");
    mode(0o644);
    let record = |to: Option<u32>| {
        let state = w.workspace.read("a").expect("read").state;
        let before = Before { path: "a", state: &state, goes: false, mode: to };
        w.archive.record(&mut w.archive.lock().expect("locked"), &[before], None).expect("recorded");
    };
    // Without one the file keeps what it has.
    for (to, back) in [(Some(0o755), Some(0o644)), (None, None)] {
        w.write("a", "1\n2\n3\n4\n5\n");
        record(to);
        w.write("a", "1\n2\n3\n4\nfive\n");
        mode(0o755);
        let notes = Notes([("a".to_string(), b"1\n2\n3\n4\nfive\n".to_vec())].into());
        w.write("a", "one\n2\n3\n4\nfive\n");
        let clean = Choices { merge_clean: true, ..Choices::default() };
        let restored = w.restore(&undo(1, &[]), &notes, &clean);
        let after = &restored.proposal.files[0].after;
        assert_eq!((after.text(), after.mode()), (Some("one\n2\n3\n4\n5\n"), back));
    }
}

#[test]
fn a_set_id_bit_that_a_change_gave_goes_with_it_and_one_from_before_stays() {
    use super::staging::{CommandInfo, JournalLine, StagedKind};
    let w = World::new();
    let command = |before: u32, after: u32| {
        let mut staging = w.archive.stage(&CommandInfo::default()).expect("staged");
        let (copy, name) = staging.new_name();
        fs::write(&copy, "x").expect("written");
        let (path, kind, inode) = ("a".to_string(), StagedKind::File, JournalLine::COPY);
        let line =
            JournalLine { path, kind, mode: before, staged: Some(name), inode, kept: 0, again: false, within: 0 };
        staging.add(&line).expect("added");
        w.write("a", "x");
        fs::set_permissions(w.dir.path().join("a"), fs::Permissions::from_mode(after)).expect("set");
        let changes = w.archive.compare(&w.workspace, &staging).expect("compared").changes;
        let order = super::SealOrder::default();
        w.archive.seal(&mut w.archive.lock().expect("locked"), &mut staging, &changes, order).expect("sealed").0
    };
    let state = |mode| State::file(&b"x"[..]).with_mode(Some(mode));
    for (before, after, back) in [(0o644, 0o4755, 0o644), (0o644, 0o2644, 0o644), (0o4755, 0o4711, 0o4755)] {
        let id = command(before, after);
        let version = w.archive.version_in("a", id).expect("read").expect("there").id;
        let modes = ModeChanges::new(&w.archive);
        let old = state(before & 0o1777);
        assert_eq!(modes.with_mode("a", version, old, &state(after)).mode(), Some(back), "{before:o} {after:o}");
    }
}

#[test]
fn the_changesets_that_set_modes_are_read_once_for_all_files() {
    let w = World::new();
    let state = |mode| State::file(&b"x"[..]).with_mode(Some(mode));
    let before: Vec<State> = vec![state(0o600), state(0o600)];
    let set = |(path, state)| Before { path, state, goes: false, mode: Some(0o644) };
    let both: Vec<_> = ["a", "b"].into_iter().zip(&before).map(set).collect();
    let id = w.archive.record(&mut w.archive.lock().expect("locked"), &both, None).expect("recorded").changeset;
    let modes = ModeChanges::new(&w.archive);
    let version = |path: &str| w.archive.versions(path).expect("listed")[0].id;
    let (a, b) = (version("a"), version("b"));
    assert_eq!(modes.with_mode("a", a, state(0o600), &state(0o644)), state(0o600));
    fs::remove_file(w.archive.changeset_file(id.expect("archived"))).expect("removed");
    assert_eq!(modes.with_mode("b", b, state(0o600), &state(0o644)), state(0o600));
    assert_eq!(modes.with_mode("c", b, state(0o600), &state(0o644)), state(0o644));
}
