//! `nebula shi --hook`: another agent's edits, archived before they happen.

use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};

struct World {
    dir: tempfile::TempDir,
}

impl World {
    fn new() -> Self {
        let dir = tempfile::tempdir().expect("a folder");
        fs::create_dir_all(dir.path().join("work/.git")).expect("made");
        fs::create_dir(dir.path().join("home")).expect("made");
        World { dir }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn run(&self, words: &[&str], input: &str) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_nebula"));
        command.args(words).current_dir(self.dir.path()).env_clear().env("HOME", self.path("home"));
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("started");
        // One that has no use for its input may be gone already.
        let _ = child.stdin.take().expect("piped").write_all(input.as_bytes());
        child.wait_with_output().expect("ended")
    }

    /// The hook of a tool, which says nothing and always succeeds.
    fn hook(&self, words: &[&str], tool: &str, input: &Value) {
        let message = json!({"cwd": self.path("work"), "tool_name": tool, "tool_input": input}).to_string();
        self.silent(words, &message);
    }

    #[track_caller]
    fn silent(&self, words: &[&str], message: &str) {
        let out = self.run(&[&["shi", "--hook"], words].concat(), message);
        assert_eq!((out.status.code(), &*out.stdout, &*out.stderr), (Some(0), &b""[..], &b""[..]), "{out:?}");
    }

    fn work(&self, words: &[&str]) -> Output {
        let workspace = self.path("work");
        self.run(&[words, &["--workspace", workspace.to_str().expect("text")]].concat(), "")
    }

    fn read(&self, name: &str) -> Option<String> {
        fs::read_to_string(self.path("work").join(name)).ok()
    }

    fn log(&self) -> String {
        fs::read_to_string(self.path("home/.nebula/logs/hook.log")).unwrap_or_default()
    }
}

#[test]
fn what_another_agent_changes_can_be_undone() {
    let w = World::new();
    fs::write(w.path("work/a.txt"), "one\n").expect("written");
    let (a, new) = (w.path("work/a.txt"), w.path("work/new.txt"));
    let edits = json!({"edits": [{"file_path": a}, {"file_path": new}]});
    w.hook(&[], "MultiEdit", &edits);
    fs::write(&a, "two\n").expect("written");
    fs::write(&new, "made\n").expect("written");
    w.hook(&["--after"], "MultiEdit", &edits);
    let history = w.work(&["history", "--json"]);
    let history: Value = serde_json::from_slice(&history.stdout).expect("JSON");
    assert_eq!(history[0]["title"].as_str().or(history[0]["cause"].as_str()), Some("hook: MultiEdit"), "{history}");
    let of = |file: &Value, key: &str| file[key].as_u64();
    let files = history[0]["files"].as_array().expect("files");
    let counts: Vec<_> = files.iter().map(|file| (of(file, "added"), of(file, "removed"))).collect();
    assert_eq!(counts, [(Some(1), Some(1)), (Some(1), Some(0))], "{history}");
    // What stands was written by an agent, so that nobody need be asked about it.
    assert_eq!(w.work(&["undo", "--yes"]).status.code(), Some(0));
    assert_eq!((w.read("a.txt").as_deref(), w.read("new.txt")), (Some("one\n"), None));
    assert_eq!(w.work(&["redo", "--yes"]).status.code(), Some(0));
    assert_eq!((w.read("a.txt").as_deref(), w.read("new.txt").as_deref()), (Some("two\n"), Some("made\n")));
    // A change by hand after that is foreign, and kept.
    w.hook(&[], "Edit", &json!({"file_path": "a.txt"}));
    fs::write(&a, "three\n").expect("written");
    w.hook(&["--after"], "Edit", &json!({"file_path": "a.txt"}));
    fs::write(&a, "by hand\n").expect("written");
    w.work(&["undo", "--yes"]);
    assert_eq!(w.read("a.txt").as_deref(), Some("by hand\n"));
    assert_eq!(w.log(), "");
}

#[test]
fn where_an_agent_only_says_what_it_is_about_to_change_what_stands_after_it_is_its_edit() {
    let w = World::new();
    let (a, new) = (w.path("work/a.txt"), w.path("work/new.txt"));
    fs::write(&a, "one\n").expect("written");
    w.hook(&[], "Edit", &json!({"file_path": a}));
    fs::write(&a, "two\n").expect("written");
    w.hook(&[], "Edit", &json!({"file_path": a}));
    fs::write(&a, "three\n").expect("written");
    w.hook(&[], "Write", &json!({"file_path": new}));
    fs::write(&new, "made\n").expect("written");
    // One that the person refused changed nothing.
    w.hook(&[], "Write", &json!({"file_path": w.path("work/never.txt")}));
    assert_eq!(w.work(&["undo", "--yes"]).status.code(), Some(0));
    assert_eq!((w.read("a.txt").as_deref(), w.read("new.txt")), (Some("three\n"), None));
    let file = a.to_str().expect("text");
    assert_eq!(w.work(&["undo", file, "--yes"]).status.code(), Some(0));
    assert_eq!(w.read("a.txt").as_deref(), Some("two\n"));
    // What someone changes after the undo is a change of someone else.
    fs::write(&a, "by hand\n").expect("written");
    w.work(&["redo", "--yes"]);
    assert_eq!(w.read("a.txt").as_deref(), Some("by hand\n"));
}

#[test]
fn an_edit_that_was_not_made_after_its_hook_is_passed_over_by_undo() {
    let w = World::new();
    let path = w.path("work/a.txt");
    fs::write(&path, "one\n").expect("written");
    let edit = json!({"file_path": path});
    w.hook(&[], "Edit", &edit);
    fs::write(&path, "two\n").expect("written");
    w.hook(&["--after"], "Edit", &edit);
    // Twice the person refuses it in the other agent.
    w.hook(&[], "Edit", &edit);
    w.hook(&[], "Write", &edit);
    assert_eq!(w.work(&["undo", "--yes"]).status.code(), Some(0));
    assert_eq!(w.read("a.txt").as_deref(), Some("one\n"));
    w.hook(&[], "Edit", &edit);
    assert_eq!(w.work(&["redo", "--yes"]).status.code(), Some(0));
    assert_eq!(w.read("a.txt").as_deref(), Some("two\n"));
    // One that was made is the newest, though nobody said so: nobody ever does for its tool.
    w.hook(&[], "Write", &edit);
    fs::write(&path, "three\n").expect("written");
    assert_ne!(w.work(&["undo", "--yes"]).status.code(), Some(1));
    assert_ne!(w.read("a.txt").as_deref(), Some("one\n"));
}

#[test]
fn what_a_person_changed_before_a_refused_edit_of_another_agent_stays_when_the_one_before_is_undone() {
    let text = |f: &str, g: &str, h: &str| {
        let of = |name: &str, value: &str| format!("def {name}():\n    return {value}\n");
        format!("{}\n\n{}\n\n{}", of("f", f), of("g", g), of("h", h))
    };
    // The person refuses it, and may go on then; or it fails, which its hook after it sees.
    for (refused, fails, last) in [(1, 0, "1"), (2, 0, "1"), (1, 0, "7"), (0, 1, "1"), (1, 1, "7")] {
        let w = World::new();
        let path = w.path("work/a.py");
        let edit = json!({"file_path": path});
        let write = |text: String| fs::write(&path, text).expect("written");
        write(text("1", "1", "1"));
        w.hook(&[], "Edit", &edit);
        write(text("2", "1", "1"));
        w.hook(&["--after"], "Edit", &edit);
        write(text("2", "9", "1"));
        (0..refused + fails).for_each(|_| w.hook(&[], "Edit", &edit));
        (0..fails).for_each(|_| w.hook(&["--after"], "Edit", &edit));
        write(text("2", "9", last));
        let undone = w.work(&["undo", "--yes"]);
        assert_eq!(w.read("a.py"), Some(text("1", "9", last)), "{refused} {fails} {last}: {undone:?}");
        assert_eq!(undone.status.code(), Some(0));
        let said = String::from_utf8_lossy(&undone.stdout);
        assert!(said.contains("changed outside nebula") && said.contains("merged: lines"), "{said}");
        assert_eq!(w.work(&["redo", "--yes"]).status.code(), Some(0));
        assert_eq!(w.read("a.py"), Some(text("2", "9", last)), "{refused} {fails} {last}");
    }
}

#[test]
fn a_persons_change_to_a_text_that_the_file_had_before_is_not_undone() {
    let w = World::new();
    let path = w.path("work/conf.py");
    let edit = json!({"file_path": path});
    let text = |debug: &str, limit: u8| format!("DEBUG = {debug}\n\n\ndef limit():\n    return {limit}\n");
    let write = |debug: &str, limit: u8| fs::write(&path, text(debug, limit)).expect("written");
    for _ in 0..2 {
        write("False", 1);
        w.hook(&[], "Edit", &edit);
        write("False", 2);
        w.hook(&["--after"], "Edit", &edit);
        write("True", 2);
        assert_eq!(w.work(&["undo", "--yes"]).status.code(), Some(0));
        assert_eq!(w.read("conf.py"), Some(text("True", 1)));
    }
    for (undoing, limit) in [("redo", 2), ("undo", 1), ("undo", 2)] {
        assert_eq!(w.work(&[undoing, "--yes"]).status.code(), Some(0));
        assert_eq!(w.read("conf.py"), Some(text("True", limit)));
    }
}

#[test]
fn an_undo_of_a_file_passes_over_edits_of_another_agent_that_were_not_made() {
    let w = World::new();
    let path = w.path("work/a.txt");
    let edit = json!({"file_path": path});
    let file = path.to_str().expect("text");
    fs::write(&path, "one\n").expect("written");
    for text in ["two\n", "three\n"] {
        w.hook(&[], "Edit", &edit);
        fs::write(&path, text).expect("written");
        w.hook(&["--after"], "Edit", &edit);
        // Once it is refused, and once it fails.
        w.hook(&[], "Edit", &edit);
        w.hook(&[], "Edit", &edit);
        w.hook(&["--after"], "Edit", &edit);
    }
    let dry = w.work(&["undo", "2", file, "--dry-run", "--json"]);
    assert!(String::from_utf8_lossy(&dry.stdout).contains("\"restore\""), "{dry:?}");
    assert_eq!(w.work(&["undo", "3", file, "--yes"]).status.code(), Some(1), "two changed it");
    assert_eq!(w.work(&["undo", file, "--yes"]).status.code(), Some(0));
    assert_eq!(w.read("a.txt").as_deref(), Some("two\n"));
    assert_eq!(w.work(&["undo", file, "--yes"]).status.code(), Some(0));
    assert_eq!(w.read("a.txt").as_deref(), Some("three\n"));
    assert_eq!(w.work(&["undo", "4", file, "--yes"]).status.code(), Some(0));
    assert_eq!(w.read("a.txt").as_deref(), Some("one\n"));
}

#[test]
fn what_a_hook_cannot_keep_is_a_line_of_its_log() {
    let w = World::new();
    fs::write(w.path("outside.txt"), "x").expect("written");
    fs::write(w.path("work/a.txt"), "x").expect("written");
    for message in ["", "nonsense", "[]", "{\"tool_input\":{\"path\":7}}"] {
        w.silent(&[], message);
    }
    assert_eq!(w.log().lines().count(), 2, "{}", w.log());
    // What lies outside, or within the archive, is not kept, and that is no failure.
    w.hook(&[], "Write", &json!({"file_path": w.path("outside.txt")}));
    w.hook(&[], "Write", &json!({"file_path": "../outside.txt"}));
    w.hook(&[], "Write", &json!({"file_path": ".shaft/x"}));
    assert!(!w.path("work/.shaft").exists());
    w.silent(&[], &json!({"cwd": "/nowhere/at/all", "tool_input": {"path": "a"}}).to_string());
    assert!(w.log().lines().last().expect("a line").contains("/nowhere/at/all cannot be entered"), "{}", w.log());
}
