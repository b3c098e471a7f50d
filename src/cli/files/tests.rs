//! The commands as a script sees them: output, complaints, exit code, and what became of the files.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use serde_json::Value;

use super::*;
use crate::archive::staging::{CommandInfo, JournalLine, StagedKind};
use crate::archive::{ArchiveSettings, Before};
use crate::memory::Options;
use crate::proposal::{Consent, Decision, FileChange, Proposal, ProposalId, State};

struct World {
    dir: tempfile::TempDir,
    workspace: Workspace,
    archive: Archive,
    memory: Memory,
}

/// The outcome of a command.
#[derive(Debug)]
struct Ran {
    code: u8,
    out: String,
    err: String,
}

impl World {
    fn new() -> Self {
        let dir = tempfile::tempdir().expect("a folder");
        fs::create_dir(dir.path().join("w")).expect("made");
        let workspace = Workspace::open(&dir.path().join("w")).expect("open");
        let archive = Archive::open(&workspace, &ArchiveSettings::default()).expect("open");
        let (memory, _) = Memory::open(Options::in_folder(&dir.path().join("home")));
        World { dir, workspace, archive, memory }
    }

    fn write(&self, path: &str, text: &str) {
        fs::write(self.workspace.full(path), text).expect("written");
    }

    fn read(&self, path: &str) -> String {
        fs::read_to_string(self.workspace.full(path)).expect("there")
    }

    /// Runs a command as a script does, or, with answers, as a person at a terminal.
    fn run(&self, words: &[&str], answers: Option<&str>) -> Ran {
        self.run_in(None, words, answers)
    }

    /// Runs the tour again with `--resume` and the beginning of a session's id.
    fn run_in(&self, session: Option<String>, words: &[&str], answers: Option<&str>) -> Ran {
        let (mut out, mut err) = (Vec::new(), Vec::new());
        let result = self.run_to((&mut out, &mut err), session, words, answers);
        let text = |bytes| String::from_utf8(bytes).expect("text");
        match result {
            Ok(code) => Ran { code, out: text(out), err: text(err) },
            Err(error) => Ran { code: FAILED, out: text(out), err: text(err) + &error.to_string() },
        }
    }

    fn run_to(
        &self,
        (out, err): (impl Write, impl Write),
        session: Option<String>,
        words: &[&str],
        answers: Option<&str>,
    ) -> Result<u8> {
        #[derive(clap::Parser)]
        struct Words {
            #[command(subcommand)]
            command: FilesCmd,
        }
        let command =
            <Words as clap::Parser>::try_parse_from(["nebula"].iter().chain(words)).expect("a command").command;
        let mut input = answers.unwrap_or("").as_bytes();
        let mut commands = ArchiveCommands {
            workspace: &self.workspace,
            archive: &self.archive,
            memory: &self.memory,
            folder: self.workspace.root().to_path_buf(),
            commands: None,
            max_size: 1 << 31,
            format: None,
            session,
            can_ask: answers.is_some(),
            input: &mut input,
            out: Out::new(out, false),
            err: Out::new(err, false),
        };
        commands.run(&command)
    }

    /// Writes a file as `execute` writes it.
    fn edit(&self, path: &str, text: &str) {
        self.try_edit(path, text).expect("written");
    }

    fn try_edit(&self, path: &str, text: &str) -> Result<()> {
        let before = self.workspace.read(path).expect("read").state;
        let change = FileChange::new(path, before, State::file(text.as_bytes()), "test", &[]);
        let proposal = Proposal { id: ProposalId(1), title: "test".into(), files: vec![change] };
        let decided =
            proposal.decide(&Decision::accept(&proposal, Consent::Person)).expect("decided").expect("accepted");
        let (mut out, mut err) = (Vec::new(), Vec::new());
        let mut commands = ArchiveCommands {
            workspace: &self.workspace,
            archive: &self.archive,
            memory: &self.memory,
            folder: self.workspace.root().to_path_buf(),
            commands: None,
            max_size: 0,
            format: None,
            session: None,
            can_ask: false,
            input: &mut &b""[..],
            out: Out::new(&mut out, false),
            err: Out::new(&mut err, false),
        };
        commands.execute(&decided, "edit", "make it better").map(drop)
    }

    /// Makes every later rename fail, as a full disk does.
    fn fill_disk(&mut self) {
        let full = |step: &str| match step {
            "apply: rename" => Err(std::io::ErrorKind::StorageFull.into()),
            _ => Ok(()),
        };
        self.archive = self.archive.clone().with_probe(std::sync::Arc::new(full));
    }

    fn free_disk(&mut self) {
        self.archive = self.archive.clone().with_probe(std::sync::Arc::new(|_| Ok(())));
    }

    fn json(&self, words: &[&str]) -> Value {
        serde_json::from_str(&self.run(words, None).out).expect("JSON")
    }
}

/// A pipe whose reader has gone.
struct Closed;

impl Write for Closed {
    fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
        Err(std::io::ErrorKind::BrokenPipe.into())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[test]
fn what_is_to_be_done_is_done_where_nobody_reads_on() {
    let w = World::new();
    w.write("a", "one\n");
    w.edit("a", "two\n");
    let id = w.archive.list().expect("listed")[0].to_string();
    let patch = w.dir.path().join("patch");
    fs::write(&patch, "--- a/a\n+++ b/a\n@@ -1 +1 @@\n-two\n+three\n").expect("written");
    let patch = patch.to_str().expect("a name");
    for (words, left) in [
        (&["undo", "--yes"][..], "one\n"),
        (&["redo", "--yes"], "two\n"),
        (&["patch", patch, "--yes"], "three\n"),
        (&["at", &id, "--restore", "--yes"], "one\n"),
        (&["undo", "--json", "--yes"], "three\n"),
        (&["prune", "--keep-days", "0", "--yes"], "three\n"),
    ] {
        let code = w.run_to((Closed, Closed), None, words, None).expect("done");
        assert_eq!((code, w.read("a").as_str()), (DONE, left), "{words:?}");
    }
    assert!(w.archive.list().expect("listed").len() < 6);
    for words in [&["history"][..], &["review"], &["timeline"], &["at", "now"]] {
        assert_eq!(w.run_to((Closed, Closed), None, words, None).expect("no error"), DONE, "{words:?}");
    }
}

#[test]
fn undo_and_redo_alternate() {
    let w = World::new();
    w.write("a", "one\n");
    w.edit("a", "two\n");
    let ran = w.run(&["undo", "--yes"], None);
    assert_eq!((ran.code, w.read("a").as_str()), (DONE, "one\n"), "{ran:?}");
    assert!(ran.out.contains("✓ a  will restore                 +1 −1\n"), "{}", ran.out);
    assert!(ran.out.contains("-two\n+one\n"), "{}", ran.out);
    assert_eq!(w.run(&["redo", "--yes"], None).code, DONE);
    assert_eq!(w.read("a"), "two\n");
    let ran = w.run(&["redo", "--yes"], None);
    assert_eq!((ran.code, w.read("a").as_str()), (FAILED, "two\n"));
    assert!(ran.err.contains("is redone already"), "{}", ran.err);
    for undoing in ["undo", "redo", "undo", "redo"] {
        assert_eq!(w.run(&[undoing, "--yes"], None).code, DONE);
    }
    let causes: Vec<_> =
        w.json(&["history", "--json"]).as_array().expect("changesets").iter().map(|c| c["cause"].clone()).collect();
    assert!(causes[0] == causes[2] && causes[2] == causes[4], "{causes:?}");
    assert!(causes[1] == causes[3] && causes[3] == causes[5], "{causes:?}");
    assert_eq!(w.run(&["undo", "7", "a", "--yes"], None).code, DONE);
    assert_eq!(w.read("a"), "one\n");
    let ran = w.run(&["undo", "9", "a", "--yes"], None);
    assert_eq!((ran.code, ran.err.lines().count()), (FAILED, 1), "{ran:?}");
}

#[test]
fn an_older_change_is_undone_by_its_id() {
    let w = World::new();
    for name in ["a", "b"] {
        w.write(name, "one\n");
        w.edit(name, "two\n");
    }
    let oldest = w.archive.list().expect("listed").iter().min().expect("one").to_string();
    // Ids of one moment begin alike.
    let ran = w.run(&["undo", &oldest, "--yes"], None);
    assert_eq!((ran.code, w.read("a").as_str(), w.read("b").as_str()), (DONE, "one\n", "two\n"), "{ran:?}");
    // A file of such a name is meant first, and what is neither is told as before.
    w.write("abcdef12", "one\n");
    w.edit("abcdef12", "two\n");
    assert_eq!(w.run(&["undo", "abcdef12", "--yes"], None).code, DONE);
    assert_eq!(w.read("abcdef12"), "one\n");
    let ran = w.run(&["undo", "fedcba98", "--yes"], None);
    assert!(ran.code == FAILED && ran.err.contains("has no archived version"), "{ran:?}");
}

#[test]
fn undo_and_redo_pass_over_a_change_that_failed() {
    let mut w = World::new();
    w.write("a", "one\n");
    w.edit("a", "two\n");
    w.fill_disk();
    assert!(w.try_edit("a", "three\n").is_err());
    w.free_disk();
    assert!(w.run(&["history"], None).out.contains("(failed: no file is changed by it)"));
    let ran = w.run(&["undo", "--yes"], None);
    assert_eq!((ran.code, w.read("a").as_str()), (DONE, "one\n"), "{ran:?}");
    w.fill_disk();
    assert!(w.try_edit("a", "three\n").is_err());
    w.free_disk();
    let ran = w.run(&["redo", "--yes"], None);
    assert_eq!((ran.code, w.read("a").as_str()), (DONE, "two\n"), "{ran:?}");
}

#[test]
fn several_versions_back_after_an_undo_is_an_undo() {
    let w = World::new();
    w.write("a", "one\n");
    w.edit("a", "two\n");
    w.edit("a", "three\n");
    assert_eq!(w.run(&["undo", "--yes"], None).code, DONE);
    assert_eq!(w.run(&["undo", "3", "--yes"], None).code, DONE);
    assert_eq!(
        (w.read("a"), &w.json(&["history", "--json"])[0]["cause"]),
        ("one\n".into(), &"undo of 3 versions".into())
    );
    assert_eq!(w.run(&["redo", "--yes"], None).code, DONE);
    assert_eq!(w.read("a"), "two\n");
}

#[test]
fn a_pipe_that_was_removed_before_a_failure_is_named() {
    let mut w = World::new();
    w.write("a", "one\n");
    w.edit("a", "two\n");
    let a = w.workspace.root().join("a");
    std::fs::remove_file(&a).expect("removed");
    rustix::fs::mkfifoat(rustix::fs::CWD, &a, 0o600.into()).expect("a pipe");
    w.fill_disk();
    let ran = w.run(&["undo", "--force"], None);
    assert_eq!(ran.code, FAILED, "{ran:?}");
    assert!(ran.err.contains("all files are as before; a: a pipe in its place was removed"), "{}", ran.err);
}

#[test]
fn a_restore_that_fails_makes_the_folders_again_that_gave_way() {
    let mut w = World::new();
    let mut staging = w.archive.stage(&CommandInfo::default()).expect("staged");
    let (staged, name) = staging.new_name();
    fs::write(staged, "before\n").expect("written");
    for (path, kind, staged) in [("a", StagedKind::File, Some(name)), ("a/", StagedKind::Absent, None)] {
        let inode = JournalLine::COPY;
        let line =
            JournalLine { path: path.into(), kind, mode: 0o600, staged, inode, kept: 0, again: false, within: 0 };
        staging.add(&line).expect("added");
    }
    let folder = w.workspace.root().join("a");
    fs::create_dir(&folder).expect("made");
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o750)).expect("set");
    let changes = w.archive.compare(&w.workspace, &staging).expect("compared").changes;
    w.archive.seal(&mut w.archive.lock().expect("locked"), &mut staging, &changes, Default::default()).expect("sealed");
    w.fill_disk();
    let ran = w.run(&["undo", "--force"], None);
    assert_eq!(ran.code, FAILED, "{ran:?}");
    let mode = fs::metadata(&folder).map(|meta| (meta.is_dir(), meta.permissions().mode() & 0o777));
    assert_eq!(mode.expect("there again"), (true, 0o750), "{ran:?}");
    w.free_disk();
    assert_eq!(w.run(&["undo", "--force"], None).code, DONE);
    assert_eq!(w.read("a"), "before\n");
}

#[test]
fn nothing_happens_without_consent() {
    let w = World::new();
    assert_eq!(w.run(&["undo"], None).code, FAILED);
    w.write("a", "one\n");
    w.edit("a", "two\n");
    assert_eq!(w.run(&["undo"], None).code, NOT_APPROVED);
    assert_eq!(w.run(&["undo"], Some("n\n")).code, NOT_APPROVED);
    assert_eq!(w.run(&["undo"], Some("")).code, NOT_APPROVED);
    assert_eq!(w.run(&["undo", "--dry-run"], Some("y\n")).code, DONE);
    assert_eq!(w.read("a"), "two\n");
    assert_eq!(w.run(&["undo"], Some("y\n")).code, DONE);
    assert_eq!(w.read("a"), "one\n");
}

#[test]
fn what_would_happen_is_listed_before_a_question_in_json_too() {
    let w = World::new();
    w.write("a", "one\n");
    w.edit("a", "two\n");
    let ran = w.run(&["undo", "a", "./a", "--json"], Some("y\n"));
    assert_eq!((ran.code, w.read("a").as_str()), (DONE, "one\n"), "{ran:?}");
    assert!(ran.err.starts_with("✓ a  will restore"), "{}", ran.err);
    serde_json::from_str::<Value>(&ran.out).expect("nothing but JSON");
    assert_eq!(w.json(&["history", "--json"])[0]["cause"], "undo of a", "named twice, told once");
}

#[test]
fn a_file_of_someone_else_is_never_overwritten_silently() {
    let w = World::new();
    w.write("a", "one\ntwo\nthree\n");
    w.write("b", "b\n");
    w.edit("a", "one\nTWO\nthree\n");
    w.write("a", "one\nTWO\nthree\nmine\n");
    let theirs = "one\n2\nthree\nmine\n";
    w.write("a", theirs);
    let ran = w.run(&["undo", "--yes"], None);
    assert_eq!((ran.code, w.read("a").as_str()), (NOT_APPROVED, theirs), "both changed a line");
    assert!(ran.err.contains("kept: a"), "{}", ran.err);
    assert_eq!(
        w.json(&["undo", "--yes", "--json"]),
        serde_json::json!({"changeset": null, "files": [{"path": "a", "fate": "foreign", "applied": false}], "not_undone": []})
    );
    w.write("a", "one\nTWO\nthree\nmine\n");
    let ran = w.run(&["undo"], Some("m\ny\n"));
    assert_eq!((ran.code, w.read("a").as_str()), (DONE, "one\ntwo\nthree\nmine\n"));
    assert!(ran.err.contains("a: merged: lines\n"), "{}", ran.err);
    assert!(
        w.run(&["history"], None).out.contains("undo of make it better (merged: lines)"),
        "{}",
        w.run(&["history"], None).out
    );
    assert_eq!(w.json(&["history", "a", "--json"])[0]["merged"], "lines");
    // What was merged over is archived, so it comes back.
    assert_eq!(w.run(&["undo", "--yes"], None).code, DONE);
    assert_eq!(w.read("a"), "one\nTWO\nthree\nmine\n");
    w.write("a", "theirs\n");
    assert_eq!(w.run(&["undo", "--force"], None).code, DONE);
    assert_eq!(w.read("a"), "one\ntwo\nthree\nmine\n");
    assert_eq!(w.run(&["undo", "a", "--yes"], None).code, DONE);
    assert_eq!(w.read("a"), "theirs\n");
}

#[test]
fn a_flag_merges_what_someone_else_changed_apart() {
    let w = World::new();
    w.write("a", "one\ntwo\nthree\n");
    w.edit("a", "one\nTWO\nthree\n");
    let theirs = "one\nTWO\nthree\nmine\n";
    w.write("a", theirs);
    let dry = w.run(&["undo", "--yes", "--dry-run"], None);
    assert!(dry.out.contains("! a  changed outside nebula       will be merged: lines  +1 −0"), "{dry:?}");
    assert_eq!(w.read("a"), theirs);
    let done = w.json(&["undo", "--yes", "--json"]);
    let row = serde_json::json!({"path": "a", "fate": "foreign", "applied": true, "merged": "lines"});
    assert_eq!((&done["files"][0], w.read("a").as_str()), (&row, "one\ntwo\nthree\nmine\n"));
    // Their text was archived first. A redo goes around a change of theirs, too.
    w.write("a", "zero\none\ntwo\nthree\nmine\n");
    let ran = w.run(&["redo", "--yes"], None);
    assert_eq!((ran.code, w.read("a").as_str()), (DONE, "zero\none\nTWO\nthree\nmine\n"), "{ran:?}");
    assert!(ran.err.contains("a: merged: lines"), "{ran:?}");
    // One version of a file is a replacement, and --force overwrites.
    w.write("a", "zero\none\nTWO\nthree\nmine\nlast\n");
    assert_eq!(w.run(&["undo", "--force"], None).code, DONE);
    assert_eq!(w.read("a"), "zero\none\ntwo\nthree\nmine\n");
}

#[cfg(feature = "code")]
#[test]
fn an_undo_beside_someone_elses_function_is_merged_by_definitions() {
    let w = World::new();
    w.write("a.rs", "fn a() { 1 }\nfn b() { 2 }\n");
    w.edit("a.rs", "fn a() { 10 }\nfn b() { 2 }\n");
    w.write("a.rs", "fn a() { 10 }\nfn b() { 20 }\n");
    let ran = w.run(&["undo"], Some("m\ny\n"));
    assert_eq!((ran.code, w.read("a.rs").as_str()), (DONE, "fn a() { 1 }\nfn b() { 20 }\n"), "{ran:?}");
    assert!(ran.err.contains("a.rs: merged: definitions\n"), "{}", ran.err);
    assert_eq!(w.json(&["history", "a.rs", "--json"])[0]["merged"], "definitions");
}

#[test]
fn a_command_then_an_edit_by_hand_then_an_undo() {
    let w = World::new();
    w.write("a", "one\n");
    assert_eq!(w.run(&["shi", "a"], None).code, DONE);
    w.write("a", "by hand\n");
    assert_eq!(w.run(&["undo", "a", "--yes"], None).code, DONE);
    assert_eq!(w.read("a"), "one\n");
    assert_eq!(w.run(&["redo", "--yes"], None).code, DONE);
    assert_eq!(w.read("a"), "by hand\n");
    assert_eq!(w.run(&["shi", "none"], None).code, FAILED);
    assert_eq!(w.run(&["shi", "../x"], None).code, FAILED);
}

#[test]
fn what_someone_changed_between_the_versions_that_are_undone_stays() {
    let w = World::new();
    w.write("a", "one\ntwo\nthree\n");
    w.edit("a", "ONE\ntwo\nthree\n");
    w.write("a", "ONE\ntwo\nthree\nmine\n");
    assert_eq!(w.run(&["shi", "a"], None).code, DONE);
    let ran = w.run(&["undo", "2", "--yes"], None);
    assert_eq!((ran.code, w.read("a").as_str()), (DONE, "one\ntwo\nthree\nmine\n"), "{ran:?}");
    assert_eq!(w.run(&["redo", "--yes"], None).code, DONE);
    // A text that the file had before is theirs where they wrote it.
    w.edit("a", "ONE\ntwo\nTHREE\nmine\n");
    w.write("a", "one\ntwo\nthree\nmine\n");
    let ran = w.run(&["undo", "--yes"], None);
    assert_eq!((ran.code, w.read("a").as_str()), (DONE, "one\ntwo\nthree\nmine\n"), "{ran:?}");
    // Who names the file or forces it gets the version.
    assert_eq!(w.run(&["undo", "--force"], None).code, DONE);
    assert_eq!(w.read("a"), "ONE\ntwo\nthree\nmine\n");
}

#[test]
fn an_undo_of_a_file_passes_over_a_change_that_failed() {
    let mut w = World::new();
    w.write("a", "one\n");
    w.edit("a", "two\n");
    w.fill_disk();
    assert!(w.try_edit("a", "three\n").is_err());
    w.free_disk();
    let ran = w.run(&["undo", "a", "--yes"], None);
    assert_eq!((ran.code, w.read("a").as_str()), (DONE, "one\n"), "{ran:?}");
}

#[test]
fn hunks_can_be_chosen() {
    let w = World::new();
    w.write("a", "1\n2\n3\n4\n5\n6\n7\n8\n");
    w.edit("a", "one\n2\n3\n4\n5\n6\n7\neight\n");
    let ran = w.run(&["undo", "--hunk"], Some("n\ny\n"));
    assert_eq!((ran.code, w.read("a").as_str()), (DONE, "one\n2\n3\n4\n5\n6\n7\n8\n"));
    assert_eq!(ran.out.matches("-eight\n").count(), 1, "each hunk is shown once: {}", ran.out);
}

#[test]
fn a_conflict_of_a_merge_raises_a_question_of_its_own() {
    let w = World::new();
    let text = |first: &str, last: &str| format!("{first}\n2\n3\n4\n5\n6\n7\n{last}\n");
    w.write("a", &text("1", "8"));
    w.edit("a", &text("one", "eight"));
    w.write("a", &text("uno", "eight"));
    let ran = w.run(&["undo"], Some("m\nn\ny\n"));
    assert_eq!((ran.code, w.read("a")), (DONE, text("uno", "8")), "{ran:?}");
    assert!(ran.err.contains("hunk 1 of 2, conflict: someone else changed these lines?"), "{}", ran.err);
    assert!(ran.err.contains("hunk 2 of 2?"), "{}", ran.err);
    fs::remove_file(w.workspace.full("a")).expect("deleted");
    assert!(w.run(&["undo", "--dry-run"], None).out.contains("changed outside nebula       +0 −8  deleted"));
}

#[test]
fn hunks_are_not_chosen_by_a_script() {
    let w = World::new();
    w.write("a", "one\n");
    w.edit("a", "two\n");
    let ran = w.run(&["undo", "--hunk", "--yes"], None);
    assert_eq!((ran.code, w.read("a").as_str()), (NOT_APPROVED, "two\n"));
    assert!(ran.err.contains("without a terminal hunks cannot be chosen"), "{}", ran.err);
}

#[test]
fn history_tells_time_cause_and_lines_with_memory_or_without() {
    let w = World::new();
    w.write("a", "one\n");
    w.edit("a", "two\n");
    w.edit("new", "1\n2\n");
    let rows = w.json(&["history", "--json"]);
    assert_eq!(rows.as_array().map(Vec::len), Some(2));
    let file = &rows[0]["files"][0];
    assert_eq!(
        (&rows[0]["cause"], &file["path"], &file["absent"]),
        (&"make it better".into(), &"new".into(), &true.into())
    );
    assert_eq!((&file["added"], &file["removed"]), (&2.into(), &0.into()));
    assert_eq!(rows[0]["approved"], "person");
    let (memory, _) = Memory::open(Options::in_folder(&w.dir.path().join("other")));
    let forgetful = World { memory, dir: tempfile::tempdir().expect("a folder"), ..w };
    let mut alone = forgetful.json(&["history", "--json"]);
    assert_eq!(alone[0]["cause"], Value::Null);
    for (alone, known) in alone.as_array_mut().expect("rows").iter_mut().zip(rows.as_array().expect("rows")) {
        alone["cause"] = known["cause"].clone();
        alone["kind"] = known["kind"].clone();
    }
    assert_eq!(alone, rows);
    drop(w.dir);
}

#[test]
fn history_says_a_folder_that_came_with_many_files_as_one() {
    let w = World::new();
    let files = (0..1_001).map(|n| format!("many/{n}"));
    let paths: Vec<String> = ["b".to_string(), "many/".to_string()].into_iter().chain(files).collect();
    let states: Vec<Before<'_>> = paths.iter().map(|path| (path.as_str(), &State::Absent).into()).collect();
    let mut lock = w.archive.lock().expect("locked");
    w.archive.record(&mut lock, &states, None).expect("archived");
    drop(lock);
    let printed = w.run(&["history"], None).out;
    assert!(printed.contains("  1 file, a folder with 1,001 files  "), "{printed}");
    let lines: Vec<&str> = printed.lines().skip(1).map(str::trim).collect();
    assert_eq!(lines, ["b    new", "many/  with 1,001 files  new"], "{printed}");
    let listed = w.json(&["history", "--json"])[0]["files"].as_array().map(Vec::len);
    assert_eq!(listed, Some(1_003), "a program reads each");
}

#[test]
fn a_changeset_says_who_approved_it_with_memory_or_without() {
    let w = World::new();
    w.write("a", "one\n");
    w.edit("a", "two\n");
    assert_eq!(w.run(&["undo", "--yes"], None).code, DONE);
    assert_eq!(w.run(&["redo"], Some("y\n")).code, DONE);
    assert_eq!(w.run(&["undo", "--force"], None).code, DONE);
    assert_eq!(w.run(&["shi", "a"], None).code, DONE);
    let approved = |w: &World| -> Vec<Value> {
        let rows = w.json(&["history", "--json"]);
        rows.as_array().expect("rows").iter().map(|row| row["approved"].clone()).collect()
    };
    let all = [Value::Null, "flag --force".into(), "person".into(), "flag --yes".into(), "person".into()];
    assert_eq!(approved(&w), all);
    assert_eq!(w.json(&["history", "a", "--json"])[1]["approved"], "flag --force");
    let (memory, _) = Memory::open(Options::in_folder(&w.dir.path().join("other")));
    let forgetful = World { memory, ..w };
    assert_eq!(approved(&forgetful), all);
    // An archive of before the author was kept.
    for id in forgetful.archive.list().expect("listed") {
        let file = forgetful.archive.folder().join(format!("{id}.txt"));
        fs::write(file, "a\n").expect("written");
    }
    assert_eq!(approved(&forgetful), vec![Value::Null; 5]);
    assert_eq!(forgetful.run(&["undo", "--yes"], None).code, DONE);
}

#[test]
fn versions_can_be_listed_shown_compared_and_checked() {
    let w = World::new();
    w.write("a", "one\n");
    w.edit("a", "two\n");
    w.edit("a", "three\n");
    let rows = w.json(&["history", "a", "--json"]);
    let version = |i: usize| rows[i]["version"].as_str().expect("an id").to_string();
    assert_eq!(w.run(&["show", &version(0)], None).out, "two\n");
    assert!(w.run(&["diff", &version(1)], None).out.ends_with("-one\n+three\n"));
    assert!(w.run(&["diff", &version(1), &version(0)], None).out.ends_with("-one\n+two\n"));
    assert_eq!(w.run(&["show", "fff"], None).code, FAILED);
    let changeset = w.json(&["history", "--json"])[0]["id"].as_str().expect("an id").to_string();
    let displayed = w.run(&["show", &changeset], None).out;
    assert!(displayed.contains("\ncause      make it better\napproved   person\nfile       "), "{displayed}");
    assert!(displayed.ends_with(&format!("{}  a\n", version(0))), "{displayed}");
    for words in [&["diff", &changeset][..], &["diff", &version(0), &changeset]] {
        let ran = w.run(words, None);
        let says = "is a changeset: `nebula history FILE` lists the versions of one file";
        assert!(ran.code == FAILED && ran.err.contains(says), "{ran:?}");
    }
    assert_eq!(w.run(&["history", "--check"], None).code, DONE);
    let file = w.archive.versions("a").expect("listed").remove(0).file;
    fs::write(file, "tampered").expect("written");
    let ran = w.run(&["history", "--check"], None);
    assert_eq!(ran.code, FAILED, "{ran:?}");
    assert_eq!(w.run(&["history", "none"], None).code, FAILED);
}

#[test]
fn prune_asks_and_keeps_the_newest() {
    let w = World::new();
    w.write("a", "one\n");
    w.edit("a", "two\n");
    w.edit("a", "three\n");
    let prune = |words: &[&str], answers| w.run(&[&["prune", "--max-size", "0"], words].concat(), answers).code;
    assert_eq!(prune(&["--dry-run"], None), DONE);
    assert_eq!(prune(&[], None), NOT_APPROVED);
    assert_eq!(prune(&[], Some("n\n")), NOT_APPROVED);
    assert_eq!(w.archive.versions("a").expect("listed").len(), 2);
    assert_eq!(prune(&["--yes"], None), DONE);
    assert_eq!(w.archive.versions("a").expect("listed").len(), 1);
    assert_eq!(w.run(&["history", "--check"], None).code, DONE);
    assert_eq!(w.run(&["undo", "--yes"], None).code, DONE);
    assert_eq!(w.read("a"), "two\n");
    assert_eq!(w.run(&["prune", "--max-size", "much"], None).code, FAILED);
}

#[test]
fn a_patch_is_applied_whole_or_not_at_all() {
    let w = World::new();
    w.write("a", "one\ntwo\n");
    w.write("b", "b\n");
    w.write("p", "--- a/a\n+++ b/a\n@@ -1,2 +1,2 @@\n-one\n+ONE\n two\n");
    assert_eq!(w.run(&["patch", "p"], None).code, NOT_APPROVED);
    assert_eq!(w.run(&["patch", "p", "--dry-run"], None).code, DONE);
    assert_eq!(w.read("a"), "one\ntwo\n");
    let ran = w.run(&["patch", "p", "--yes"], None);
    assert_eq!((ran.code, w.read("a").as_str()), (DONE, "ONE\ntwo\n"), "{ran:?}");
    assert!(ran.out.contains("-one\n+ONE\n"), "{}", ran.out);
    w.write("q", "--- a/b\n+++ b/b\n@@ -1 +1 @@\n-b\n+B\n--- a/a\n+++ b/a\n@@ -1 +1 @@\n-none\n+x\n");
    let ran = w.run(&["patch", "q", "--yes"], None);
    assert_eq!((ran.code, w.read("b").as_str()), (FAILED, "b\n"), "{ran:?}");
    assert_eq!(w.run(&["patch", "missing", "--yes"], None).code, FAILED);
    w.write("r", "just words\n");
    assert_eq!(w.run(&["patch", "r", "--yes"], None).code, FAILED);
}

#[test]
fn a_diff_that_breaks_off_is_refused() {
    let w = World::new();
    let whole = "--- a/a\n+++ b/a\n@@ -1,3 +1,3 @@\n one\n-two\n+TWO\n three\n";
    let deleted = "--- a/b\n+++ /dev/null\n@@ -1 +0,0 @@\n-b\n";
    let broken = [
        // In the middle of the last line, and before the last lines.
        &whole[..whole.len() - 1],
        &whole[..whole.len() - 4],
        &whole[..whole.len() - 7],
        &whole[..whole.len() - 12],
        // The same with another file after it.
        &format!("{}{deleted}", &whole[..whole.len() - 7]),
        &format!("{}@@ -7 +7 @@\n-x\n+y\n", &whole[..whole.len() - 7]),
        &deleted[..deleted.len() - 1],
        &deleted[..deleted.len() - 3],
    ];
    for patch in broken {
        w.write("a", "one\ntwo\nthree\n");
        w.write("b", "b\n");
        w.write("p", patch);
        let ran = w.run(&["patch", "p", "--yes"], None);
        assert_eq!(
            (ran.code, w.read("a").as_str(), w.read("b").as_str()),
            (FAILED, "one\ntwo\nthree\n", "b\n"),
            "{patch}"
        );
    }
    w.write("p", &format!("{whole}{deleted}"));
    assert_eq!(w.run(&["patch", "p", "--yes"], None).code, DONE);
    assert_eq!((w.read("a").as_str(), w.workspace.full("b").exists()), ("one\nTWO\nthree\n", false));
    // A last line without a line break in the file, said by the last line of the patch.
    w.write("p", "--- a/a\n+++ b/a\n@@ -3 +3 @@\n-three\n+3\n\\ No newline at end of file");
    assert_eq!(w.run(&["patch", "p", "--yes"], None).code, DONE);
    assert_eq!(w.read("a"), "one\nTWO\n3");
}

#[test]
fn a_patch_may_name_any_file_there_is() {
    let w = World::new();
    for name in ["with space.txt", "日本 語", "makefile", "run"] {
        w.write(name, "one\ntwo\n");
        w.write("p", &format!("{name}\n<<<<<<< SEARCH\ntwo\n=======\nTWO\n>>>>>>> REPLACE\n"));
        let ran = w.run(&["patch", "p", "--yes"], None);
        assert_eq!((ran.code, w.read(name).as_str()), (DONE, "one\nTWO\n"), "{ran:?}");
        w.write("p", &format!("Here it is:\n\n./{name}\n```\none\nall new\n```\n"));
        let ran = w.run(&["patch", "p", "--yes"], None);
        assert_eq!((ran.code, w.read(name).as_str()), (DONE, "one\nall new\n"), "{ran:?}");
    }
}

#[test]
fn folders_made_for_a_file_go_with_it_and_no_others() {
    let w = World::new();
    fs::create_dir_all(w.workspace.full("mine")).expect("made");
    let make = |path: &str| {
        w.write("p", &format!("--- /dev/null\n+++ b/{path}\n@@ -0,0 +1 @@\n+x\n"));
        assert_eq!(w.run(&["patch", "p", "--yes"], None).code, DONE);
    };
    let is_there = |path: &str| w.workspace.full(path).is_dir();
    make("new/deep/x");
    assert_eq!(w.run(&["undo", "--yes"], None).code, DONE);
    assert!(!is_there("new"), "made for the file, and empty");
    assert_eq!(w.run(&["redo", "--yes"], None).code, DONE);
    assert_eq!(w.read("new/deep/x"), "x\n");
    w.write("new/theirs", "");
    assert_eq!(w.run(&["undo", "--yes"], None).code, DONE);
    assert!(is_there("new") && !is_there("new/deep"), "something else is in it");
    make("mine/x");
    assert_eq!(w.run(&["undo", "--yes"], None).code, DONE);
    assert!(is_there("mine"), "it was there before");
}

#[test]
fn a_folder_that_an_edit_made_was_not_there_before() {
    let w = World::new();
    w.write("f", "1\n");
    w.edit("f", "2\n");
    w.edit("docs/x", "x\n");
    w.edit("f", "3\n");
    // A command removes it: its changeset holds the folder.
    let states = [("docs/x", State::file(*b"x\n")), ("docs/", State::Folder { mode: 0o755 })];
    let states: Vec<_> = states.iter().map(|(path, state)| Before { path, state, goes: true, mode: None }).collect();
    w.archive.record(&mut w.archive.lock().expect("free"), &states, None).expect("archived");
    fs::remove_dir_all(w.workspace.full("docs")).expect("removed");
    let ids: Vec<String> = w
        .json(&["timeline", "--json"])
        .as_array()
        .expect("moments")
        .iter()
        .map(|moment| moment["changeset"].as_str().expect("an id").to_string())
        .collect();
    let folder = |at: &str| -> Vec<Value> {
        let rows = w.json(&["at", at, "--json"]);
        rows.as_array().expect("files").iter().filter(|row| row["path"] == "docs/").cloned().collect()
    };
    assert_eq!(folder(&ids[0]), [] as [Value; 0], "it was not there then, and is not now");
    assert_eq!(folder(&ids[1]), [] as [Value; 0], "nor just before it was made");
    assert_eq!(folder(&ids[2]).len(), 1, "afterwards it was");
    let ran = w.run(&["at", &ids[0], "--restore", "--yes"], None);
    assert_eq!((ran.code, w.read("f").as_str()), (DONE, "1\n"), "{ran:?}");
    assert!(!w.workspace.full("docs").exists(), "no empty folder comes back");
}

#[test]
fn a_turn_can_be_undone_by_its_session() {
    let w = World::new();
    w.write("a", "1\n");
    let project = w.workspace.root().to_string_lossy().into_owned();
    let mut sessions = Vec::new();
    for (before, after) in [("1", "2"), ("2", "3")] {
        let new = crate::memory::NewSession { project: project.clone(), model: "m".into(), ..Default::default() };
        let session = w.memory.create(&new).expect("made");
        let said = crate::memory::NewMessage::text(crate::memory::StoredRole::User, "go");
        let turn = w.memory.append(&session, &said).expect("kept");
        let change = FileChange::new(
            "a",
            State::file(format!("{before}\n").into_bytes()),
            State::file(format!("{after}\n").into_bytes()),
            "",
            &[],
        );
        let proposal = Proposal { id: ProposalId(0), title: String::new(), files: vec![change] };
        let decided =
            proposal.decide(&Decision::accept(&proposal, Consent::Person)).expect("decided").expect("accepted");
        let will = crate::execute::record::intent(&decided);
        let cause = crate::memory::ChangesetCause {
            session: Some(session.clone()),
            turn: Some(turn),
            kind: "edit".into(),
            ..Default::default()
        };
        let pending = w.memory.write_intent(&project, &cause, &will).expect("announced");
        let applied = crate::execute::apply::apply(&decided, &w.workspace, &w.archive);
        crate::execute::record::outcome(&w.memory, &project, pending, &will, &applied).expect("told");
        sessions.push(session);
    }
    let diff = |session: Option<&String>| w.run_in(session.cloned(), &["undo", "--turn", "--yes"], None).out;
    // The second session changed the same line later: that is kept, unless the person says otherwise.
    let kept = w.run_in(Some(sessions[0].clone()), &["undo", "--turn", "--yes"], None);
    assert!(kept.code == NOT_APPROVED && kept.err.contains("changed again later, so kept: a"), "{kept:?}");
    let forced = w.run_in(Some(sessions[0].clone()), &["undo", "--turn", "--force"], None).out;
    assert!(forced.contains("-3\n+1\n"), "back to before the first session's turn: {forced}");
    w.write("a", "3\n");
    assert!(diff(None).contains("-3\n+2\n"), "the newest turn of all");
    let unknown = w.run_in(Some("0000".into()), &["undo", "--turn", "--yes"], None);
    assert_eq!(unknown.code, FAILED);
}

#[test]
fn a_nearly_full_archive_is_reported_in_the_history() {
    let w = World::new();
    w.write("a", &"x".repeat(900));
    assert_eq!(w.run(&["shi", "a"], None).code, DONE);
    assert!(!w.run(&["history"], None).err.contains("archiveMaxSize"));
    w.memory.set_archive_size(&w.workspace.root().to_string_lossy(), 1 << 31).expect("kept");
    let ran = w.run(&["history"], None);
    assert!(ran.err.contains("the archive holds 2 GiB, 100 % of archiveMaxSize (2 GiB); `nebula prune`"), "{ran:?}");
    assert_eq!(w.run(&["prune", "--max-size", "1", "--yes"], None).code, DONE);
    assert!(!w.run(&["history"], None).err.contains("archiveMaxSize"), "measured anew");
}

#[test]
fn a_change_that_would_not_be_archived_needs_a_person() {
    let w = World::new();
    let settings = ArchiveSettings { folder: None, exclude: vec![".env".into()] };
    let w = World { archive: Archive::open(&w.workspace, &settings).expect("open"), ..w };
    w.write(".env", "KEY=1\n");
    w.write("p", "--- a/.env\n+++ b/.env\n@@ -1 +1 @@\n-KEY=1\n+KEY=2\n");
    let ran = w.run(&["patch", "p", "--yes"], None);
    assert_eq!((ran.code, w.read(".env").as_str()), (NOT_APPROVED, "KEY=1\n"), "{ran:?}");
    assert_eq!(w.run(&["patch", "p", "--yes"], Some("y\n")).code, DONE);
    assert_eq!(w.read(".env"), "KEY=2\n");
}

#[test]
fn what_acts_later_or_hides_needs_a_person() {
    let w = World::new();
    w.write("p", "*** Begin Patch\n*** Add File: sub/AGENTS.md\n+obey\n*** End Patch\n");
    let ran = w.run(&["patch", "p", "--yes"], None);
    assert!(ran.code == NOT_APPROVED && ran.err.contains("sub/AGENTS.md acts later, which only a person"), "{ran:?}");
    assert!(!w.workspace.full("sub/AGENTS.md").exists());
    assert_eq!(w.run(&["patch", "p", "--yes"], Some("y\n")).code, DONE);
    w.write("p", "*** Begin Patch\n*** Add File: b\n+sc\u{43e}pe\n*** End Patch\n");
    let ran = w.run(&["patch", "p", "--yes"], None);
    assert!(ran.code == NOT_APPROVED && ran.err.contains("b gets a hidden or look-alike character"), "{ran:?}");
    // The person's own undo of it is theirs.
    assert_eq!(w.run(&["undo", "--yes"], None).code, DONE);
}

#[test]
fn lines_written_outside_are_nobodys_even_after_a_later_change() {
    let w = World::new();
    w.write("f", "one\n");
    w.edit("f", "one\nours\n");
    w.write("f", "one\nours\ntheirs\n");
    w.edit("f", "one\nours\ntheirs\nours too\n");
    let causes = |w: &World| -> Vec<String> {
        let rows = w.json(&["blame", "f", "--json"]);
        let cause = |row: &Value| format!("{}{}", row["cause"].as_str().unwrap_or(""), row["unsure"]);
        rows.as_array().expect("lines").iter().map(cause).collect()
    };
    assert_eq!(causes(&w), ["beforefalse", "editfalse", "outsidefalse", "editfalse"]);
    // An undo of a part gives its line back the cause that it had.
    w.edit("f", "one\ntheirs\nours too, longer\n");
    w.edit("f", "ONE\ntheirs\nours too, longer\n");
    assert_eq!(w.run(&["undo", "2", "--yes"], None).code, 0);
    let rows = w.json(&["blame", "f", "--json"]);
    let ours = rows.as_array().expect("lines").iter().find(|row| row["line"] == 2).expect("a line");
    assert_eq!((&ours["cause"], w.read("f").lines().nth(1)), (&"edit".into(), Some("ours")));
    assert_eq!(rows[2]["cause"], "outside");
}

#[test]
fn a_moment_shows_what_nebula_left_and_not_what_was_written_outside_since() {
    let w = World::new();
    w.write("f", "1\n");
    w.edit("f", "1\ncmd\n");
    w.edit("g", "x\n");
    let at = w.json(&["timeline", "--json"])[1]["changeset"].as_str().expect("an id").to_string();
    let then = |w: &World| w.run(&["at", &at, "f"], None);
    assert_eq!(then(&w).out, "1\ncmd\n");
    w.write("f", "1\ncmd\nLATER\n");
    let shown = then(&w);
    assert_eq!(shown.out, "1\ncmd\n");
    assert!(shown.err.contains("changed outside nebula between"), "{}", shown.err);
    // A later change takes the hand edit in: still what nebula left, and just before that change the hand edit.
    w.edit("f", "1\ncmd\nLATER\nmore\n");
    assert_eq!(then(&w).out, "1\ncmd\n");
    let rows = w.json(&["at", &at, "--json"]);
    let f = rows.as_array().expect("files").iter().find(|row| row["path"] == "f").expect("f");
    assert_eq!((&f["outside"], &f["added"]), (&true.into(), &2.into()));
    let before_last = w.json(&["timeline", "--json"])[2]["changeset"].as_str().expect("an id").to_string();
    assert_eq!(w.run(&["at", &before_last, "f"], None).out, "1\ncmd\nLATER\n");
}

#[test]
fn what_nebula_left_and_someone_destroyed_is_restored_once_one_agrees() {
    let w = World::new();
    w.write("f", "1\n");
    w.edit("f", "1\ncmd\n");
    w.write("f", "1\n");
    // A time after the only changeset.
    let at = |words: &[&str], answers| w.run(&[&["at", "-0m"], words].concat(), answers);
    let shown = at(&[], None);
    assert!(shown.out.contains("as nebula left it") && shown.err.contains("proposes to go back"), "{shown:?}");
    for words in [&["--restore", "--yes"][..], &["f", "--restore", "--yes"], &["f", "--restore"]] {
        let ran = at(words, None);
        assert_eq!((ran.code, w.read("f").as_str()), (NOT_APPROVED, "1\n"), "{words:?}: {ran:?}");
    }
    assert_eq!(at(&["f", "--restore", "--dry-run"], None).code, DONE);
    let refused = at(&["f", "--restore"], Some("n\n"));
    assert_eq!((refused.code, w.read("f").as_str()), (NOT_APPROVED, "1\n"), "{refused:?}");
    let restored = at(&["f", "--restore"], Some("y\n"));
    assert_eq!((restored.code, w.read("f").as_str()), (DONE, "1\ncmd\n"), "{restored:?}");
    assert_eq!(w.run(&["undo", "--yes"], None).code, DONE);
    assert_eq!(w.read("f"), "1\n", "what it replaced is archived");
}

#[test]
fn what_nebula_left_of_all_files_is_restored_where_it_changed_nothing_since() {
    let w = World::new();
    w.write("f", "1\n");
    w.edit("f", "2\n");
    w.edit("g", "x\n");
    w.write("f", "1\n");
    fs::remove_file(w.workspace.full("g")).expect("removed");
    let restored = w.run(&["at", "-0m", "--restore", "--force"], None);
    assert_eq!((restored.code, w.read("f").as_str(), w.read("g").as_str()), (DONE, "2\n", "x\n"), "{restored:?}");
}

#[test]
fn a_change_that_failed_is_no_moment() {
    let mut w = World::new();
    w.write("f", "1\n");
    w.edit("f", "2\n");
    w.fill_disk();
    assert!(w.try_edit("f", "3\n").is_err());
    w.free_disk();
    assert_eq!(w.json(&["timeline", "--json"]).as_array().map(Vec::len), Some(1));
    w.write("f", "2\nmine\n");
    w.edit("f", "2\nmine\nours\n");
    let rows = w.json(&["blame", "f", "--json"]);
    assert_eq!(rows[1]["cause"], "outside", "{rows}");
}

/// Damages memory's tables of changesets as one that another program wrote into is damaged; returns what memory reports.
fn damage_memory(w: &World) -> std::sync::mpsc::Receiver<String> {
    let other = rusqlite::Connection::open(w.dir.path().join("home/memory.db")).expect("a database");
    let rename = "ALTER TABLE changesets RENAME TO gone; ALTER TABLE written RENAME TO gone2";
    other.execute_batch(rename).expect("damaged");
    let (tell, reported) = std::sync::mpsc::channel();
    w.memory.listen(Box::new(move |notice| drop(tell.send(notice.to_string()))));
    reported
}

#[test]
fn what_memory_cannot_tell_is_reported_and_stops_nothing() {
    let w = World::new();
    w.write("a", "one\n");
    w.edit("a", "two\n");
    let reported = damage_memory(&w);
    let said = |words: &[&str]| -> Ran {
        let ran = w.run(words, None);
        let all: Vec<String> = reported.try_iter().collect();
        assert!(all.iter().any(|line| line.starts_with("memory: ")), "{words:?}: {all:?} {ran:?}");
        ran
    };
    for words in [&["history"][..], &["history", "a"], &["timeline"], &["undo"]] {
        said(words);
    }
    // Nobody knows any more that nebula wrote it.
    let ran = said(&["undo", "--yes"]);
    assert!(ran.code != DONE && ran.out.contains("a  changed outside nebula"), "{ran:?}");
    assert_eq!(said(&["undo", "--force"]).code, DONE);
    assert_eq!(w.read("a"), "one\n");
}

#[test]
fn a_changeset_that_cannot_be_read_is_named_beside_those_that_wait() {
    let w = World::new();
    w.write("a", "one\n");
    w.edit("a", "two\n");
    let (memory, _) = Memory::open(Options::in_folder(&w.dir.path().join("other")));
    let w = World { memory, ..w };
    let id = w.archive.list().expect("listed")[0];
    fs::write(w.archive.folder().join(format!("{id}.txt")), b"\xff\n").expect("damaged");
    for words in [&["review"][..], &["history", "--json"], &["timeline"]] {
        let ran = w.run(words, None);
        assert!(ran.err.contains(&id.to_string()), "{words:?}: {ran:?}");
    }
}

#[test]
fn a_name_that_is_no_text_and_a_path_that_was_a_folder_are_found_in_the_past() {
    use std::os::unix::ffi::OsStrExt;
    let w = World::new();
    fs::create_dir(w.workspace.full("src")).expect("made");
    w.write("src/a", "one\n");
    w.write("src/b", "stays\n");
    w.edit("src/a", "two\n");
    let at = w.json(&["timeline", "--json"])[0]["changeset"].as_str().expect("an id").to_string();
    fs::remove_dir_all(w.workspace.full("src")).expect("removed");
    let listed = w.run(&["at", &at, "src"], None);
    assert_eq!((listed.code, listed.out.as_str()), (DONE, "src/a\n"), "{listed:?}");
    w.edit("lib/new", "made\n");
    let absent = w.run(&["at", &at, "lib"], None);
    assert!(absent.code == FAILED && absent.err.contains("lib was not there"), "{absent:?}");
    assert!(listed.err.contains("src was a folder"), "{listed:?}");
    assert_eq!(w.run(&["at", &at, "other"], None).code, FAILED);
    fs::write(w.workspace.root().join(std::ffi::OsStr::from_bytes(b"n\xff")), "bytes\n").expect("written");
    for name in ["n\0ff", "n\\xff"] {
        let blamed = w.run(&["blame", name], None);
        assert!(blamed.code == DONE && blamed.out.contains("bytes"), "{blamed:?}");
        assert_eq!(w.run(&["at", "now", name], None).out, "bytes\n");
    }
    assert_eq!(listed_name("a\\xzz\\x41"), None);
}

#[test]
fn a_state_is_written_with_its_folders_and_their_modes() {
    use std::os::unix::fs::PermissionsExt;
    let w = World::new();
    fs::create_dir(w.workspace.full("shut")).expect("made");
    w.write("shut/a", "one\n");
    w.edit("shut/a", "two\n");
    fs::create_dir(w.workspace.full("empty")).expect("made");
    fs::set_permissions(w.workspace.full("shut"), fs::Permissions::from_mode(0o500)).expect("set");
    let at = w.json(&["timeline", "--json"])[0]["changeset"].as_str().expect("an id").to_string();
    let to = w.dir.path().join("then");
    let ran = w.run(&["at", &at, "--to", &to.display().to_string()], None);
    fs::set_permissions(w.workspace.full("shut"), fs::Permissions::from_mode(0o700)).expect("set");
    assert_eq!(ran.code, DONE, "{ran:?}");
    let mode = |path: &str| fs::metadata(to.join(path)).expect("there").permissions().mode() & 0o777;
    assert_eq!((mode("shut"), to.join("empty").is_dir()), (0o500, true));
    assert_eq!(fs::read_to_string(to.join("shut/a")).expect("read"), "one\n");
    fs::set_permissions(to.join("shut"), fs::Permissions::from_mode(0o700)).expect("set");
}

/// Makes a store with a definition, in a folder from the workspace's root. Returns the op that added it.
#[cfg(feature = "strand")]
fn store_with_a_definition(w: &World, folder: &str) -> String {
    use crate::strand::cli::{Opening, ToolAnswer, ToolCall};
    let root = w.workspace.root().join(folder);
    crate::strand::store::Store::init(&root).expect("made");
    let arguments = serde_json::json!({"layer": "slot", "name": "precious", "body": "Int = 1"});
    let arguments = arguments.as_object().cloned().expect("an object");
    let call = ToolCall { name: "strand_add", arguments, client: "nebula" };
    let opening = Opening::find(Some(root.clone()), &root).expect("found").expect("one");
    let mut tools = opening.open().expect("opened");
    let answer = tools.issue(&call, &[], Box::new(|_| Ok(())), &Default::default());
    let ToolAnswer::Done(answer) = answer else { panic!("{answer:?}") };
    answer["op-id"].as_str().expect("an op").to_string()
}

#[cfg(feature = "strand")]
#[test]
fn a_changeset_of_a_clone_reaches_no_store_outside_and_none_without_force() {
    let w = World::new();
    let op = store_with_a_definition(&w, "../victim/v.strand-store");
    let victim = w.dir.path().join("victim/v.strand-store");
    let snapshot = |folder: &std::path::Path| {
        let mut all: Vec<_> = walkdir(folder).into_iter().map(|file| (fs::read(&file).expect("read"), file)).collect();
        all.sort();
        all
    };
    let lock = victim.join(".strand/lock");
    fs::remove_file(&lock).expect("removed");
    let before = snapshot(&victim);
    let name = |store: &str, op: &str| {
        let ops = crate::archive::StoreOps {
            store: store.into(),
            definitions: vec!["slot.precious".into()],
            ops: vec![op.into()],
        };
        w.archive.name_ops(ops, None, Consent::Person).expect("named")
    };
    let absolute = victim.display().to_string();
    for store in ["../victim/v.strand-store", absolute.as_str(), "x/../../victim/v.strand-store", "link.strand-store"] {
        name(store, &op);
        if store.starts_with("link") {
            std::os::unix::fs::symlink(&victim, w.workspace.full(store)).expect("linked");
        }
        for words in [&["undo", "--yes"][..], &["undo", "--force"], &["undo", "--dry-run"]] {
            let ran = w.run(words, None);
            assert!(ran.code == FAILED && !ran.out.contains("deleted 1"), "{store} {words:?}: {ran:?}");
        }
        assert_eq!(snapshot(&victim), before, "{store}");
    }
    let op = store_with_a_definition(&w, "own.strand-store");
    name("own.strand-store", &op);
    let ran = w.run(&["undo", "--yes"], None);
    assert!(ran.code == FAILED && ran.out.contains("memory does not know this change"), "{ran:?}");
    let ran = w.run(&["undo", "--force"], None);
    assert!(ran.code == DONE && ran.out.contains("deleted 1 definition; this change is "), "{ran:?}");
}

/// Returns the files in a folder and in those below it.
#[cfg(feature = "strand")]
fn walkdir(folder: &std::path::Path) -> Vec<std::path::PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).expect("listed").flatten() {
        match entry.path() {
            path if path.is_dir() => files.extend(walkdir(&path)),
            path => files.push(path),
        }
    }
    files
}
