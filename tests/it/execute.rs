//! Every change from decision to record, on a real disk: any run of edits undone in order restores every byte, an edit
//! from outside is never lost, and a crash or failure at any step leaves each file old or new with every old state in
//! the archive.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use nebula::archive::{
    Archive, ArchiveSettings, Choices, Id, LastWritten, LastWrittenLookup, RestoreTarget, restore::state_sha,
};
use nebula::execute::ApplyError;
use nebula::execute::apply::{Applied, apply};
use nebula::execute::sweep;
use nebula::proposal::{
    Consent, Decided, Decision, FileChange, ForeignChoice, Proposal, ProposalId, RestoreStatus, State,
};
use nebula::workspace::{Access, Workspace};
use proptest::prelude::*;

/// A workspace with its archive, and what was written to each path, as memory would keep it.
struct World {
    dir: tempfile::TempDir,
    workspace: Workspace,
    archive: Archive,
    wrote: BTreeMap<String, State>,
}

impl LastWrittenLookup for World {
    fn written(&self, path: &str) -> Option<LastWritten> {
        let state = self.wrote.get(path)?;
        Some(LastWritten { states: vec![state_sha(state)], bytes: state.bytes().cloned(), ..LastWritten::default() })
    }
}

impl World {
    fn new() -> Self {
        let dir = tempfile::tempdir().expect("a folder");
        let workspace = Workspace::open(dir.path()).expect("open");
        let archive = Archive::open(&workspace, &ArchiveSettings::default()).expect("open");
        World { dir, workspace, archive, wrote: BTreeMap::new() }
    }

    fn with(files: &[(&str, &str)]) -> Self {
        let world = World::new();
        files.iter().for_each(|(path, text)| world.outside(path, text.as_bytes()));
        world
    }

    /// Writes as another program would.
    fn outside(&self, path: &str, bytes: &[u8]) {
        let path = self.dir.path().join(path);
        fs::create_dir_all(path.parent().expect("inside")).expect("made");
        fs::write(path, bytes).expect("written");
    }

    fn now(&self, path: &str) -> State {
        self.workspace.read(path).expect("read").state
    }

    /// A proposal that gives files new states.
    fn propose(&self, changes: &[(String, State)]) -> Decided {
        self.try_propose(changes).expect("a change")
    }

    /// Proposes changes and decides them; `None` where no file changes.
    fn try_propose(&self, changes: &[(String, State)]) -> Option<Decided> {
        let files = changes.iter().map(|(p, after)| FileChange::new(p, self.now(p), after.clone(), "test", &[]));
        let proposal = Proposal { id: ProposalId(1), title: "test".into(), files: files.collect() };
        proposal.decide(&Decision::accept(&proposal, Consent::Person)).expect("decided")
    }

    fn apply(&mut self, decided: &Decided) -> Result<Applied, ApplyError> {
        let applied = apply(decided, &self.workspace, &self.archive)?;
        self.wrote.extend(decided.files().iter().map(|f| (f.path().to_string(), f.after().clone())));
        Ok(applied)
    }

    fn edit(&mut self, path: &str, text: &str) -> Applied {
        let decided = self.propose(&[(path.into(), State::file(text.as_bytes()))]);
        self.apply(&decided).expect("applied")
    }

    /// Restores with what was chosen; gives the previews.
    fn restore(&mut self, request: &RestoreTarget, choices: &Choices) -> Vec<RestoreStatus> {
        let done =
            self.archive.restore(&self.workspace, request, self, choices, ProposalId(2), "undo").expect("planned");
        let decided = done.proposal.decide(&Decision::accept(&done.proposal, Consent::Person)).expect("decided");
        if let Some(decided) = decided {
            self.apply(&decided).expect("applied");
        }
        done.previews.into_iter().map(|f| f.status).collect()
    }

    fn snapshot(&self) -> BTreeMap<String, State> {
        snapshot(&self.workspace)
    }

    /// All archived bytes of a path.
    fn archived(&self, path: &str) -> Vec<State> {
        let versions = self.archive.versions(path).expect("listed");
        versions.iter().map(|v| self.archive.show(v).expect("shown")).collect()
    }

    fn leftovers(&self) -> usize {
        leftovers(self.dir.path())
    }
}

/// Every file of a workspace, with bytes and mode.
fn snapshot(workspace: &Workspace) -> BTreeMap<String, State> {
    let files = workspace.walk("").build().flatten().filter(|e| e.file_type().is_some_and(|t| !t.is_dir()));
    files
        .map(|e| {
            let path = e.path().strip_prefix(workspace.root()).expect("inside").to_str().expect("UTF-8").to_string();
            let state = workspace.read(&path).expect("read").state;
            (path, state)
        })
        .collect()
}

/// Temporary files anywhere below a folder.
fn leftovers(folder: &Path) -> usize {
    let entries = fs::read_dir(folder).expect("a folder").map(|e| e.expect("an entry"));
    entries
        .map(|e| match e.file_type().expect("a kind").is_dir() {
            true => leftovers(&e.path()),
            false => usize::from(e.file_name().to_string_lossy().starts_with(".nebula-tmp-")),
        })
        .sum()
}

/// A state of a file, from nothing to a link.
fn state() -> impl Strategy<Value = State> {
    let text = "([a-c]{0,3}\r?\n){0,6}[a-c]{0,2}";
    prop_oneof![
        6 => text.prop_map(|t| State::file(t.into_bytes())),
        1 => proptest::collection::vec(any::<u8>(), 0..40).prop_map(State::file),
        1 => (text, prop_oneof![Just(0o644), Just(0o755), Just(0o600), Just(0o444)])
            .prop_map(|(t, mode)| State::File { bytes: t.into_bytes().into(), mode: Some(mode) }),
        2 => Just(State::Absent),
        1 => Just(State::Link { target: "a".into() }),
    ]
}

fn path() -> impl Strategy<Value = String> {
    prop_oneof![Just("a"), Just("b.rs"), Just("src/c.md"), Just("src/deep/d"), Just("日本.txt"), Just("line\nbreak")]
        .prop_map(String::from)
}

/// Changes of one proposal, each file once.
fn changes() -> impl Strategy<Value = Vec<(String, State)>> {
    proptest::collection::btree_map(path(), state(), 1..4).prop_map(|m| m.into_iter().collect())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, ..ProptestConfig::default() })]

    #[test]
    fn any_run_of_edits_undone_in_order_restores_every_byte(runs in proptest::collection::vec(changes(), 1..8)) {
        let mut w = World::with(&[("a", "first\n"), ("src/c.md", "# c\r\n")]);
        let mut history = Vec::new();
        for run in &runs {
            let Some(decided) = w.try_propose(run) else { continue };
            // A read-only file refuses an edit that is not about its mode: then nothing happened.
            let before = w.snapshot();
            match w.apply(&decided) {
                Ok(applied) => history.extend(applied.changeset.map(|id| (id, before))),
                Err(error) => {
                    prop_assert!(matches!(error, ApplyError::ReadOnly(_)), "{error}");
                    prop_assert_eq!(w.snapshot(), before);
                }
            }
        }
        let last = w.snapshot();
        for (id, before) in history.iter().rev() {
            let previews = w.restore(&RestoreTarget::Changesets(vec![*id]), &Choices::default());
            prop_assert!(!previews.iter().any(|f| matches!(f, RestoreStatus::Foreign { .. })), "{previews:?}");
            prop_assert_eq!(&w.snapshot(), before);
        }
        // The undoing is archived too: forward again, over all of it at once.
        if let Some((id, _)) = history.last() {
            let newer = w.archive.list().expect("listed").into_iter().filter(|n| n > id).min();
            if let Some(newer) = newer {
                w.restore(&RestoreTarget::Since(newer), &Choices::default());
                prop_assert_eq!(w.snapshot(), last);
            }
        }
        prop_assert_eq!(w.leftovers(), 0);
        prop_assert_eq!(w.archive.check(&|_| None).expect("checked"), []);
    }

    #[test]
    fn an_edit_from_outside_is_never_lost(
        steps in proptest::collection::vec((path(), "[a-c\n]{0,6}", 0..4u8), 1..14),
        choice in prop_oneof![
            Just(None), Just(Some(ForeignChoice::Keep)), Just(Some(ForeignChoice::RestoreVersion)), Just(Some(ForeignChoice::Merge))
        ],
    ) {
        let mut w = World::with(&[("a", "first\n")]);
        // Each state that someone else wrote, unless they wrote over it themselves.
        let mut theirs: BTreeMap<String, Vec<u8>> = BTreeMap::new();
        for (n, (path, text, what)) in steps.iter().enumerate() {
            let bytes = format!("{n}\n{text}").into_bytes();
            match what {
                0 => {
                    w.outside(path, &bytes);
                    theirs.insert(path.clone(), bytes);
                }
                1 => {
                    w.edit(path, &format!("{n}\n{text}"));
                }
                2 => {
                    // Between reading and writing: nothing of the proposal may be written.
                    let decided = w.propose(&[(path.clone(), State::file(&b"mine"[..])), ("other".into(), State::file(&b"x"[..]))]);
                    let other = w.now("other");
                    w.outside(path, &bytes);
                    theirs.insert(path.clone(), bytes);
                    let result = w.apply(&decided);
                    prop_assert!(matches!(result, Err(ApplyError::Conflict { .. })), "{result:?}");
                    prop_assert_eq!(w.now("other"), other);
                }
                _ => {
                    if !w.archive.list().expect("listed").is_empty() {
                        let choices = Choices { others: choice, ..Choices::default() };
                        w.restore(&RestoreTarget::Undo { count: 1, files: Vec::new() }, &choices);
                    }
                }
            }
            for (path, bytes) in &theirs {
                let there = w.now(path).bytes().is_some_and(|b| **b == **bytes);
                let in_archive = w.archived(path).iter().any(|s| s.bytes().is_some_and(|b| **b == **bytes));
                prop_assert!(there || in_archive, "{path} lost {bytes:?} at step {n}");
            }
        }
    }
}

/// A proposal that touches files in every way.
fn every_way(w: &World) -> Decided {
    w.propose(&every_way_states())
}

/// A state that edits, one that makes a file with its folders, one that deletes, and one more that edits.
fn every_way_states() -> [(String, State); 4] {
    let file = |text: &str| State::file(text.as_bytes());
    [
        ("edited".into(), file("new\n")),
        ("made/deep/new".into(), file("made\n")),
        ("deleted".into(), State::Absent),
        ("src/other".into(), file("new other\n")),
    ]
}

fn every_way_world() -> World {
    World::with(&[("edited", "old\n"), ("deleted", "gone\n"), ("src/other", "old other\n")])
}

/// The steps that applying goes through.
fn steps() -> usize {
    let w = every_way_world();
    let reached = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&reached);
    let archive = w.archive.clone().with_probe(Arc::new(move |_| {
        counter.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }));
    apply(&every_way(&w), &w.workspace, &archive).expect("applied");
    reached.load(Ordering::Relaxed)
}

/// An archive whose probe does something at the step of this number.
fn probed(w: &World, at: usize, act: impl Fn() -> io::Result<()> + Send + Sync + 'static) -> Archive {
    let reached = AtomicUsize::new(0);
    w.archive.clone().with_probe(Arc::new(move |_| match reached.fetch_add(1, Ordering::Relaxed) == at {
        true => act(),
        false => Ok(()),
    }))
}

#[test]
fn a_failure_at_any_step_puts_everything_back() {
    for at in 0..steps() {
        let w = every_way_world();
        let before = w.snapshot();
        let archive = probed(&w, at, || Err(io::ErrorKind::StorageFull.into()));
        let result = apply(&every_way(&w), &w.workspace, &archive);
        assert!(result.is_err(), "step {at}");
        assert_eq!(w.snapshot(), before, "step {at}");
        assert_eq!(w.leftovers(), 0, "step {at}");
        assert!(!w.dir.path().join("made").exists(), "step {at}");
        assert_eq!(w.archive.check(&|_| None).expect("checked"), [], "step {at}");
        // Once all was written, there is nothing left to apply.
        if let Some(decided) = w.try_propose(&every_way_states()) {
            apply(&decided, &w.workspace, &w.archive).expect("works again");
        }
    }
}

#[test]
fn a_crash_at_any_step_leaves_each_file_old_or_new_and_every_old_state_archived() {
    for at in 0..steps() {
        let w = every_way_world();
        let decided = every_way(&w);
        // Unwinding puts nothing back, as if the process ended here.
        let archive = probed(&w, at, || std::panic::resume_unwind(Box::new("a crash")));
        let crashed = catch_unwind(AssertUnwindSafe(|| drop(apply(&decided, &w.workspace, &archive))));
        assert!(crashed.is_err(), "step {at}");
        for file in decided.files() {
            let now = w.now(file.path());
            let is_new = now.bytes() == file.after().bytes();
            assert!(is_new || now == *file.before(), "step {at}: {} is torn", file.path());
            let in_archive = w.archived(file.path()).contains(file.before());
            assert!(!is_new || now == *file.before() || in_archive, "step {at}: {} is lost", file.path());
        }
        sweep(&w.archive).expect("swept");
        assert_eq!(w.leftovers(), 0, "step {at}");
        assert_eq!(w.archive.check(&|_| None).expect("checked"), [], "step {at}");
        // Once all was written, there is nothing left to apply.
        if let Some(decided) = w.try_propose(&every_way_states()) {
            apply(&decided, &w.workspace, &w.archive).expect("works again");
        }
    }
}

#[test]
fn a_change_between_reading_again_and_writing_is_not_overwritten() {
    // Someone else writes at each step up to the first rename; what they wrote must stand.
    for at in 0..steps() {
        let w = every_way_world();
        let path = w.dir.path().join("src/other");
        let archive = probed(&w, at, move || fs::write(&path, "theirs\n"));
        let result = apply(&every_way(&w), &w.workspace, &archive);
        let now = w.now("src/other");
        match result {
            Err(ApplyError::Conflict { .. }) => {
                assert_eq!(now.text(), Some("theirs\n"), "step {at}");
                assert_eq!(w.now("edited").text(), Some("old\n"), "step {at}");
                assert_eq!(w.now("deleted").text(), Some("gone\n"), "step {at}");
            }
            // They wrote after us.
            Ok(_) => assert_eq!(now.text(), Some("theirs\n"), "step {at}"),
            Err(other) => panic!("step {at}: {other}"),
        }
    }
}

#[test]
fn what_someone_else_wrote_over_a_write_that_fails_is_not_put_back() {
    let w = every_way_world();
    let path = w.dir.path().join("edited");
    let archive = probed(&w, steps() - 1, move || {
        fs::write(&path, "theirs\n")?;
        Err(io::ErrorKind::StorageFull.into())
    });
    match apply(&every_way(&w), &w.workspace, &archive) {
        Err(ApplyError::Write { not_put_back, changeset: Some(_), .. }) => assert_eq!(not_put_back, ["edited"]),
        other => panic!("{other:?}"),
    }
    assert_eq!(w.now("edited").text(), Some("theirs\n"));
    assert_eq!((w.now("deleted").text(), w.now("src/other").text()), (Some("gone\n"), Some("old other\n")));
    assert_eq!((w.now("made/deep/new"), w.leftovers()), (State::Absent, 0));
}

#[test]
fn a_crash_in_a_move_leaves_the_file_at_one_end_at_least() {
    let world = || World::with(&[("from", "text\n")]);
    let moving = |w: &World| {
        let ends = FileChange::moved("from", "to", w.now("from"), w.now("from"), "test", &[]);
        let proposal = Proposal { id: ProposalId(1), title: "test".into(), files: ends.into() };
        proposal.decide(&Decision::accept(&proposal, Consent::Person)).expect("decided").expect("accepted")
    };
    for at in 0.. {
        let w = world();
        let archive = probed(&w, at, || std::panic::resume_unwind(Box::new("a crash")));
        let crashed = catch_unwind(AssertUnwindSafe(|| apply(&moving(&w), &w.workspace, &archive)));
        assert!(["from", "to"].iter().any(|path| w.now(path).text() == Some("text\n")), "step {at}");
        if let Ok(moved) = crashed {
            assert_eq!((moved.expect("moved").paths.len(), w.now("from")), (2, State::Absent));
            break;
        }
    }
}

#[test]
fn what_an_edit_does_not_say_stays() {
    let mut w = World::with(&[("real", "a\n")]);
    fs::set_permissions(w.dir.path().join("real"), fs::Permissions::from_mode(0o751)).expect("set");
    symlink("real", w.dir.path().join("link")).expect("linked");
    let path = w.workspace.resolve("link", Access::File).expect("inside");
    assert_eq!(path, "real");
    w.edit(&path, "b\n");
    let State::File { mode, .. } = w.now("real") else { panic!("a file") };
    assert_eq!(mode, Some(0o751));
    assert!(fs::symlink_metadata(w.dir.path().join("link")).expect("there").is_symlink());
    fs::set_permissions(w.dir.path().join("real"), fs::Permissions::from_mode(0o444)).expect("set");
    let decided = w.propose(&[("real".into(), State::file(&b"c\n"[..]))]);
    assert!(matches!(w.apply(&decided), Err(ApplyError::ReadOnly(_))));
}

#[test]
fn a_folder_that_became_a_link_is_a_conflict() {
    let mut w = World::with(&[("src/a", "1\n")]);
    let decided = w.propose(&[("src/a".into(), State::file(&b"2\n"[..]))]);
    fs::rename(w.dir.path().join("src"), w.dir.path().join("moved")).expect("moved");
    symlink("moved", w.dir.path().join("src")).expect("linked");
    let refused = w.apply(&decided);
    assert!(matches!(refused, Err(ApplyError::Conflict { .. })), "{refused:?}");
    fs::remove_file(w.dir.path().join("src")).expect("removed");
    symlink("/tmp", w.dir.path().join("src")).expect("linked");
    assert!(matches!(w.apply(&decided), Err(ApplyError::Path(_) | ApplyError::Conflict { .. })));
}

#[test]
fn two_processes_take_turns() {
    let w = World::with(&[("a", "0\n"), ("b", "0\n")]);
    let threads: Vec<_> = ["a", "b"]
        .into_iter()
        .map(|path| {
            let (workspace, archive) = (w.workspace.clone(), w.archive.clone());
            std::thread::spawn(move || {
                for n in 1..10 {
                    let before = workspace.read(path).expect("read").state;
                    let change = FileChange::new(path, before, State::file(format!("{n}\n").into_bytes()), "t", &[]);
                    let p = Proposal { id: ProposalId(1), title: String::new(), files: vec![change] };
                    let decided = p.decide(&Decision::accept(&p, Consent::Person)).expect("decided").expect("accepted");
                    apply(&decided, &workspace, &archive).expect("applied");
                }
            })
        })
        .collect();
    threads.into_iter().for_each(|t| t.join().expect("no panic"));
    let ids = w.archive.list().expect("listed");
    assert_eq!(ids.len(), 18);
    assert!(ids.is_sorted_by(|a: &Id, b: &Id| a > b));
    assert_eq!((w.archived("a").len(), w.archived("b").len()), (9, 9));
}
