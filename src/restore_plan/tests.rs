//! A folder that a command made with many files goes and comes by one rename.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::{RestoreScope, plan};
use crate::agent::background::reconcile::reconcile;
use crate::archive::staging::{CommandInfo, JournalLine, StagedKind};
use crate::archive::{Archive, Choices, Id, Keep};
use crate::execute::testing::World;
use crate::execute::{Executed, command, execute};
use crate::memory::ChangesetCause;
use crate::proposal::{Consent, Decision, ProposalId, RestoreFate, RestoreStatus, State};

const FILES: usize = 1_001;

/// Makes a folder of many files as a command does, which is then archived.
fn made() -> (World, Id) {
    made_beside(&[])
}

/// Makes the same beside other files, each with its text before and after: none is no file.
fn made_beside(others: &[(&str, Option<&str>, Option<&str>)]) -> (World, Id) {
    let w = World::with("a");
    let mut paths = vec!["big/".to_string(), "big/deep/".into(), "big/link".into()];
    fs::create_dir_all(w.workspace.full("big/deep")).expect("made");
    std::os::unix::fs::symlink("deep/f1", w.workspace.full("big/link")).expect("linked");
    for n in 0..FILES {
        paths.push(format!("big/deep/f{n}"));
        fs::write(w.workspace.full(&paths[n + 3]), format!("text {n}\n")).expect("written");
    }
    let mut staging = w.archive.stage(&CommandInfo::default()).expect("staged");
    let kept = crate::text::time::now() - 1_000;
    for path in paths {
        let (kind, inode) = (StagedKind::Absent, JournalLine::COPY);
        let line = JournalLine { path, kind, mode: 0, staged: None, inode, kept, again: false, within: 0 };
        staging.add(&line).expect("added");
    }
    for (path, before, after) in others {
        let line = JournalLine { kept, ..JournalLine::of((*path).into(), StagedKind::Absent, 0) };
        let line = before.map_or(line.clone(), |before| {
            let (file, name) = staging.new_name();
            fs::write(file, before).expect("written");
            JournalLine { kind: StagedKind::File, mode: 0o644, staged: Some(name), ..line }
        });
        staging.add(&line).expect("added");
        after.iter().for_each(|after| fs::write(w.workspace.full(path), after).expect("written"));
    }
    let sealed = command::seal(&mut staging, &CommandInfo::default(), &[], w.stores()).expect("sealed");
    let id = sealed.changeset.expect("a changeset");
    (w, id)
}

/// Undoes the newest changeset, or what is named, with this view of the archive.
fn restore_with(w: &World, scope: &RestoreScope, archive: &Archive) -> (Executed, Vec<RestoreStatus>) {
    let stores = w.stores_with(archive);
    let plan = plan(scope, stores).expect("planned");
    let found = plan.look(&Choices::default(), ProposalId(1), stores).expect("looked");
    let statuses = found.previews.iter().map(|preview| preview.status.clone()).collect();
    let decision = Decision::accept(&found.proposal, Consent::Person);
    let decided = found.proposal.decide(&decision).expect("fits").expect("accepted");
    let cause = ChangesetCause { kind: plan.kind.into(), title: plan.title, ..ChangesetCause::default() };
    (execute(&decided, cause, stores), statuses)
}

fn undo(w: &World) -> Vec<RestoreStatus> {
    let (executed, statuses) = restore_with(w, &RestoreScope::Undo { count: 1, files: vec![] }, &w.archive);
    assert!(executed.applied.is_ok() && executed.unrecorded.is_empty(), "{executed:?}");
    let damage = w.archive.check(&|_| None).expect("checked");
    assert!(damage.is_empty(), "{damage:?}");
    statuses
}

fn names(folder: PathBuf) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

fn removed(w: &World) -> Vec<String> {
    names(w.archive.home().join("removed"))
}

/// Returns the folders of versions: those of the many files lie together.
fn folders(w: &World) -> usize {
    names(w.archive.folder().to_path_buf()).into_iter().filter(|name| name.len() == 64).count()
}

fn text(w: &World, n: usize) -> Option<String> {
    fs::read_to_string(w.workspace.full(&format!("big/deep/f{n}"))).ok()
}

fn inode(w: &World) -> u64 {
    fs::metadata(w.workspace.full("big/deep/f7")).expect("there").ino()
}

#[test]
fn undo_and_redo_are_one_rename_and_each_file_keeps_its_versions() {
    let (w, made) = made();
    assert_eq!((folders(&w), w.archive.paths(made).expect("read").len()), (0, FILES + 3));
    let before = inode(&w);
    let gone = undo(&w);
    assert!(
        matches!(gone[..], [RestoreStatus::Restore(RestoreFate::WholeRemoved(n), _)] if n == FILES + 1),
        "{gone:?}"
    );
    assert!(!w.workspace.full("big").exists());
    assert_eq!((removed(&w).len(), folders(&w)), (1, 0));
    let versions = w.archive.versions("big/deep/f7").expect("listed");
    let states = || versions.iter().map(|version| w.archive.show(version).expect("shown")).collect::<Vec<_>>();
    let texts = |states: &[State]| states.iter().map(|state| state.text().map(str::to_string)).collect::<Vec<_>>();
    assert_eq!(texts(&states()), [None, Some("text 7\n".into())]);
    let found = w.archive.find_version(None, &versions[1].id.to_string()).expect("found");
    assert_eq!(w.archive.path_of(&found).expect("read").as_deref(), Some("big/deep/f7"));

    let back = undo(&w);
    assert!(matches!(back[..], [RestoreStatus::Restore(RestoreFate::WholeMade(_), _)]), "{back:?}");
    assert_eq!((inode(&w), removed(&w).len(), folders(&w)), (before, 0, 0));
    assert_eq!(fs::read_link(w.workspace.full("big/link")).expect("a link"), PathBuf::from("deep/f1"));
    assert_eq!(texts(&states()), [None, Some("text 7\n".into())], "it is read where it is now");
    undo(&w);
    assert_eq!((removed(&w).len(), w.workspace.full("big").exists()), (1, false));
    let scope = RestoreScope::Since(made.to_string());
    assert!(plan(&scope, w.stores()).expect("planned").look(&Choices::default(), ProposalId(1), w.stores()).is_ok());
}

#[test]
fn what_the_person_changed_or_added_in_it_stays_and_nothing_is_lost() {
    let (w, made) = made();
    fs::write(w.workspace.full("big/deep/f3"), "mine").expect("written");
    fs::write(w.workspace.full("big/new"), "mine too").expect("written");
    let (executed, _) = restore_with(&w, &RestoreScope::Changeset(made.to_string()), &w.archive);
    assert!(executed.applied.is_ok(), "{executed:?}");
    assert_eq!((text(&w, 3).as_deref(), text(&w, 4), removed(&w).len()), (Some("mine"), None, 0));
    assert_eq!(fs::read_to_string(w.workspace.full("big/new")).expect("there"), "mine too");
    undo(&w);
    assert_eq!((text(&w, 3).as_deref(), text(&w, 4).as_deref()), (Some("mine"), Some("text 4\n")));
}

#[test]
fn what_is_changed_after_a_redo_is_not_taken_for_the_version() {
    let (w, _) = made();
    undo(&w);
    undo(&w);
    let version = w.archive.versions("big/deep/f3").expect("listed").remove(1);
    fs::write(w.workspace.full("big/deep/f3"), "mine").expect("written");
    assert!(w.archive.show(&version).is_err_and(|error| error.to_string().contains("changed outside nebula")));
    undo(&w);
    assert_eq!((text(&w, 3).as_deref(), text(&w, 4)), (Some("mine"), None));
}

#[test]
fn killed_before_or_after_the_rename_all_of_it_is_there_or_removed() {
    for (step, is_gone) in
        [("archive: name changeset", false), ("apply: rename folder", false), ("apply: renamed folder", true)]
    {
        for redo in [false, true].into_iter().filter(|redo| !redo || step.starts_with("apply")) {
            let (w, _) = made();
            if redo {
                undo(&w);
            }
            let kills = move |at: &str| if at == step { panic!("killed") } else { Ok(()) };
            let killed = w.archive.clone().with_probe(Arc::new(kills));
            let scope = RestoreScope::Undo { count: 1, files: vec![] };
            assert!(catch_unwind(AssertUnwindSafe(|| restore_with(&w, &scope, &killed))).is_err(), "{step}");
            let there = is_gone == redo;
            assert_eq!(text(&w, 7).is_some(), there, "{step} {redo}");
            assert_eq!(removed(&w).is_empty(), there, "{step} {redo}");
            let newest = w.archive.versions("big/deep/f7").expect("listed").into_iter().rfind(|v| !v.absent);
            let is_read = |v| w.archive.show(&v).expect("shown").text() == Some("text 7\n");
            assert!(newest.is_none_or(is_read), "{step} {redo}");
            // As the next start does.
            reconcile(w.stores()).expect("reconciled");
            // Whatever it was, the folder can be brought to either state from there.
            if !there {
                let all = w.archive.list().expect("listed");
                let last = all.into_iter().find(|id| {
                    let version = w.archive.version_in("big/deep/f7", *id).expect("read");
                    version.is_some_and(|version| !version.absent)
                });
                restore_with(&w, &RestoreScope::Changeset(last.expect("one").to_string()), &w.archive);
                assert_eq!(text(&w, 7).as_deref(), Some("text 7\n"), "{step} {redo}");
            }
        }
    }
}

/// Returns the files in the root, but for temporary ones, and one in the folder.
fn texts(w: &World) -> Vec<(String, Option<String>)> {
    let is_own = |name: &String| !name.starts_with('.') && name != "big";
    let mut all: Vec<String> = names(w.workspace.root().to_path_buf()).into_iter().filter(is_own).collect();
    all.sort();
    let read = |name: String| {
        let read = fs::read_to_string(w.workspace.full(&name)).ok();
        (name, read)
    };
    all.into_iter().chain(["big/deep/f7".to_string()]).map(read).collect()
}

#[test]
fn a_restore_that_is_killed_half_way_is_taken_back_and_can_be_done_again() {
    let others = [("b", Some("old"), Some("new")), ("c", None, Some("made")), ("d", Some("gone"), None)];
    for (redo, at_step) in [(false, 1), (true, 0), (true, 3)] {
        let (w, _) = made_beside(&others);
        if redo {
            undo(&w);
        }
        let from = texts(&w);
        let steps = AtomicUsize::new(0);
        let kills = move |at: &str| {
            let is_due = at.starts_with("apply: rename") && steps.fetch_add(1, Ordering::Relaxed) == at_step;
            if is_due { panic!("killed") } else { Ok(()) }
        };
        let killed = w.archive.clone().with_probe(Arc::new(kills));
        let scope = RestoreScope::Undo { count: 1, files: vec![] };
        assert!(catch_unwind(AssertUnwindSafe(|| restore_with(&w, &scope, &killed))).is_err(), "{redo} {at_step}");
        // As the next command does.
        let reconciled = reconcile(w.stores()).expect("reconciled");
        assert_eq!((texts(&w), reconciled.lines.len()), (from.clone(), 1), "{redo} {at_step}: {reconciled:?}");
        for _ in 0..2 {
            let statuses = undo(&w);
            let is_own = |status: &RestoreStatus| matches!(status, RestoreStatus::Restore(..));
            assert!(statuses.iter().all(is_own), "{redo} {at_step}: {statuses:?}");
            assert!(texts(&w) != from || statuses.is_empty(), "{redo} {at_step}");
            undo(&w);
            assert_eq!(texts(&w), from, "{redo} {at_step}");
        }
    }
}

#[test]
fn what_someone_else_changed_after_a_kill_stays_when_the_rest_is_taken_back() {
    let others = [("b", Some("old"), Some("new")), ("c", None, Some("made")), ("d", Some("gone"), None)];
    let (w, _) = made_beside(&others);
    let steps = AtomicUsize::new(0);
    let kills = move |at: &str| {
        let is_due = at == "apply: rename" && steps.fetch_add(1, Ordering::Relaxed) == 2;
        if is_due { panic!("killed") } else { Ok(()) }
    };
    let killed = w.archive.clone().with_probe(Arc::new(kills));
    let scope = RestoreScope::Undo { count: 1, files: vec![] };
    assert!(catch_unwind(AssertUnwindSafe(|| restore_with(&w, &scope, &killed))).is_err());
    assert_eq!(fs::read_to_string(w.workspace.full("b")).expect("read"), "old", "it was written");
    fs::write(w.workspace.full("b"), "mine").expect("written");
    reconcile(w.stores()).expect("reconciled");
    let text = |name: &str| fs::read_to_string(w.workspace.full(name)).ok();
    assert_eq!((text("b").as_deref(), text("c").as_deref(), text("d")), (Some("mine"), Some("made"), None));
    assert!(w.workspace.full("big").exists());
}

/// Fails where a folder is to be renamed.
fn refuses(step: &str) -> io::Result<()> {
    if step == "apply: rename folder" { Err(io::ErrorKind::CrossesDevices.into()) } else { Ok(()) }
}

#[test]
fn a_folder_that_cannot_be_renamed_or_is_in_use_goes_file_by_file() {
    for in_use in [false, true] {
        let (w, _) = made();
        let open = in_use.then(|| fs::File::open(w.workspace.full("big/deep/f9")).expect("open"));
        let archive = if in_use { w.archive.clone() } else { w.archive.clone().with_probe(Arc::new(refuses)) };
        let (executed, _) = restore_with(&w, &RestoreScope::Undo { count: 1, files: vec![] }, &archive);
        assert!(executed.applied.is_ok(), "{executed:?}");
        drop(open);
        assert_eq!((w.workspace.full("big").exists(), removed(&w).len(), folders(&w)), (false, 0, FILES + 3));
        undo(&w);
        assert_eq!(text(&w, 9).as_deref(), Some("text 9\n"));
    }
}

#[test]
fn a_failure_after_the_rename_puts_the_folder_back() {
    let (w, _) = made();
    let fails = |at: &str| if at == "apply: renamed folder" { Err(io::ErrorKind::StorageFull.into()) } else { Ok(()) };
    let archive = w.archive.clone().with_probe(Arc::new(fails));
    let (executed, _) = restore_with(&w, &RestoreScope::Undo { count: 1, files: vec![] }, &archive);
    // It is put back, then goes file by file.
    assert!(executed.applied.is_ok() && removed(&w).is_empty(), "{executed:?}");
    undo(&w);
    assert_eq!(text(&w, 7).as_deref(), Some("text 7\n"));
}

#[test]
fn prune_deletes_what_no_version_needs_and_no_newest_one() {
    let (w, _) = made();
    let prune = || {
        let mut lock = w.archive.lock().expect("locked");
        let plan = w.archive.plan_prune(Keep { since: None, max_size: Some(0) }).expect("planned");
        w.archive.prune(&mut lock, &plan).expect("pruned");
        drop(lock);
        assert_eq!(w.archive.check(&|_| None).expect("checked"), []);
        names(w.archive.folder().join("folders")).len()
    };
    undo(&w);
    assert_eq!((prune(), removed(&w).len()), (1, 1), "the newest versions stay");
    assert!(w.archive.size().expect("read") > 7 * FILES as u64);
    undo(&w);
    assert_eq!(text(&w, 7).as_deref(), Some("text 7\n"));
    assert_eq!(prune(), 1);
    // Brought back file by file, the removed folder stays until it is pruned.
    undo(&w);
    let archive = w.archive.clone().with_probe(Arc::new(refuses));
    let (executed, _) = restore_with(&w, &RestoreScope::Undo { count: 1, files: vec![] }, &archive);
    assert!(executed.applied.is_ok(), "{executed:?}");
    assert_eq!((text(&w, 7).as_deref(), removed(&w).len()), (Some("text 7\n"), 1), "copied out of it");
    assert_eq!((prune(), removed(&w).len()), (0, 0));
}
