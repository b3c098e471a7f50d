//! Calls that change a store, on the one road: shown, agreed to, recorded as a changeset, undone and redone by
//! `nebula undo` and `redo`.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};

/// A workspace with a store and a file.
struct World {
    dir: tempfile::TempDir,
}

const STORE: &str = "shop.strand-store";

impl World {
    fn new() -> Self {
        let dir = tempfile::tempdir().expect("a folder");
        fs::create_dir_all(dir.path().join("work/.git")).expect("made");
        fs::create_dir(dir.path().join("home")).expect("made");
        let world = World { dir };
        fs::write(world.path("work/a.txt"), "one\n").expect("written");
        world.strand(&["init", STORE]);
        world.strand(&["add", "slot", "count", "Int = 1"]);
        world.strand(&["add", "slot", "draft", "Text = \"\""]);
        world.strand(&["add", "tile", "Form", "column { text(value=draft) }"]);
        world
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn start(&self, program: &str, words: &[&str]) -> Output {
        let mut command = Command::new(program);
        command.args(words).current_dir(self.path("work")).env_clear();
        command.env("HOME", self.path("home")).env("USER", "me").stdin(Stdio::null());
        command.output().expect("it runs")
    }

    #[track_caller]
    fn strand(&self, words: &[&str]) -> String {
        let out = self.start(env!("CARGO_BIN_EXE_strand"), words);
        assert!(out.status.success(), "{words:?}: {out:?}");
        String::from_utf8(out.stdout).expect("text")
    }

    /// The text of every definition.
    fn texts(&self) -> String {
        self.strand(&["view", "*"])
    }

    /// Exit code, standard output and standard error.
    fn nebula(&self, words: &[&str]) -> (i32, String, String) {
        let out = self.start(env!("CARGO_BIN_EXE_nebula"), words);
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("text");
        (out.status.code().expect("a code"), text(out.stdout), text(out.stderr))
    }

    #[track_caller]
    fn done(&self, words: &[&str]) -> String {
        let (code, out, err) = self.nebula(words);
        assert_eq!(code, 0, "{words:?}: {out}{err}");
        format!("{out}{err}")
    }

    /// Runs a turn that makes these calls.
    fn task(&self, calls: &[(&str, Value)], words: &[&str]) -> (i32, String, String) {
        let call = |(n, (name, arguments)): (usize, &(&str, Value))| {
            let call = json!({"index": n, "id": format!("c{n}"), "name": name, "arguments": arguments.to_string()});
            json!({"ms": 0, "delta": {"call": call}}).to_string()
        };
        let mut lines = vec![json!({"recording": 1}).to_string(), json!({"step": 1}).to_string()];
        lines.extend(calls.iter().enumerate().map(call));
        lines.push(json!({"ms": 0, "delta": {"end": "calls"}}).to_string());
        for n in 2..4 {
            lines.push(json!({"step": n}).to_string());
            lines.push(json!({"ms": 0, "delta": {"text": "Done."}}).to_string());
            lines.push(json!({"ms": 0, "delta": {"end": "stop"}}).to_string());
        }
        let recording = self.path("recording.jsonl");
        fs::write(&recording, lines.join("\n") + "\n").expect("written");
        let recording = recording.to_string_lossy().into_owned();
        self.nebula(&[&["task", "change it", "--replay", &recording], words].concat())
    }

    #[track_caller]
    fn approved(&self, calls: &[(&str, Value)]) -> String {
        let (code, out, err) = self.task(calls, &["--approve", "edits", "--json", "--expect-change"]);
        assert_eq!(code, 0, "{out}{err}");
        out
    }
}

fn replace(body: &str) -> (&'static str, Value) {
    ("strand_replace", json!({"qname": "slot.count", "body": body}))
}

#[test]
fn a_call_is_a_change_that_history_lists_and_undo_and_redo_know() {
    let w = World::new();
    let before = w.texts();
    let out = w.approved(&[replace("Int = 2")]);
    assert!(out.contains(r#""definitions":["slot.count"]"#), "{out}");
    let after = w.texts();
    assert!(after.contains("slot count = Int = 2"), "{after}");
    let history = w.done(&["history"]);
    assert!(history.contains("strand_replace slot.count") && history.contains("1 definition"), "{history}");
    let rows: Value = serde_json::from_str(&w.nebula(&["history", "--json"]).1).expect("JSON");
    assert_eq!(rows[0]["kind"], "strand");
    assert_eq!(rows[0]["strand"][0]["store"], STORE);
    assert_eq!(rows[0]["approved"], "flag --approve edits");
    w.done(&["history", "--check"]);
    let (code, out, _) = w.nebula(&["undo", "--dry-run"]);
    assert!(code == 0 && out.contains("slot.count") && w.texts() == after, "{out}");
    let told = w.done(&["undo", "--yes"]);
    assert!(told.contains("-slot count = Int = 2\n+slot count = Int = 1"), "{told}");
    assert_eq!(w.texts(), before);
    let history = w.strand(&["view", "slot.count", "--history"]);
    let is_author = |word: &&str| word.starts_with("user:") || word.starts_with("agent:");
    let authors: Vec<&str> = history.split_whitespace().filter(is_author).collect();
    assert_eq!(authors, ["user:me", "agent:nebula", "user:me"], "{history}");
    w.done(&["redo", "--yes"]);
    assert_eq!(w.texts(), after);
    // The redo is no undo, and undoing it is the undo again.
    assert_eq!(w.nebula(&["redo", "--yes"]).0, 1);
    w.done(&["undo", "--yes"]);
    assert_eq!(w.texts(), before);
    let told = w.done(&["undo", "--turn", "--yes"]);
    assert!(told.contains("nothing to restore"), "{told}");
    w.done(&["redo", "--yes"]);
    w.done(&["undo", "--turn", "--yes"]);
    assert_eq!(w.texts(), before);
    w.done(&["history", "--check"]);
    let kinds: Value = serde_json::from_str(&w.nebula(&["history", "--json"]).1).expect("JSON");
    assert_eq!(kinds.as_array().map(Vec::len), Some(6), "{kinds}");
}

#[test]
fn renames_removals_and_several_ops_come_back_whole() {
    let w = World::new();
    let before = w.texts();
    let add = |name: &str| json!({"op": "add", "layer": "fn", "name": name, "body": "(n: Int) -> Int = n + 1"});
    let edits = |value: &str| json!({"op": "replace", "layer": "slot", "name": "count", "body": value});
    let patch = ("strand_patch_apply", json!({"ops": [add("seen"), edits("Int = 2")]}));
    let (_, out, err) = w.task(&[patch], &["--approve", "edits"]);
    let mut lines = out.lines().chain(err.lines());
    let names = |line: &str| ["strand_patch_apply", "fn.seen", "slot.count"].iter().all(|word| line.contains(word));
    assert!(lines.any(names), "a line names what the call touches: {out}{err}");
    w.done(&["undo", "--turn", "--yes"]);
    let calls: &[&[(&str, Value)]] = &[
        &[("strand_rename", json!({"qname": "slot.draft", "new_name": "words"}))],
        &[("strand_remove", json!({"qname": "slot.draft", "cascade": true}))],
        &[("strand_patch_apply", json!({"ops": [add("next"), edits("Int = 2"), edits("Int = 3")]}))],
        &[("strand_edit", json!({"qname": "slot.count", "patch": {"init": "set 5"}})), replace("Int = 7")],
        &[
            ("strand_rename", json!({"qname": "slot.draft", "new_name": "one"})),
            ("strand_rename", json!({"qname": "slot.one", "new_name": "two"})),
            ("strand_remove", json!({"qname": "slot.two", "cascade": true})),
        ],
    ];
    for calls in calls {
        w.approved(calls);
        let after = w.texts();
        assert_ne!(after, before, "{calls:?}");
        w.done(&["undo", "--turn", "--yes"]);
        assert_eq!(w.texts(), before, "{calls:?}");
        w.done(&["redo", "--yes"]);
        assert_eq!(w.texts(), after, "{calls:?}");
        w.done(&["undo", "--yes"]);
        assert_eq!(w.texts(), before, "{calls:?}");
    }
    w.strand(&["check"]);
    w.strand(&["store", "verify"]);
}

#[test]
fn a_turn_with_edits_and_ops_is_undone_as_one() {
    let w = World::new();
    let before = w.texts();
    w.approved(&[
        ("replaceInFile", json!({"path": "a.txt", "search": "one", "replace": "two"})),
        replace("Int = 2"),
        ("strand_add", json!({"layer": "slot", "name": "more", "body": "Int = 0"})),
    ]);
    let (after, text) = (w.texts(), || fs::read_to_string(w.path("work/a.txt")).expect("read"));
    assert_eq!(text(), "two\n");
    w.done(&["undo", "--turn", "--yes"]);
    assert_eq!((w.texts(), text().as_str()), (before.clone(), "one\n"));
    // The turn is called by its prompt, not by its last call.
    let (_, _, err) = w.nebula(&["redo", "--dry-run"]);
    assert!(err.contains("redo of the turn change it"), "{err}");
    let told = w.done(&["history"]);
    assert!(told.contains("1 file, 2 definitions"), "{told}");
    w.done(&["redo", "--yes"]);
    assert_eq!((w.texts(), text().as_str()), (after, "two\n"));
    w.done(&["undo", "--yes"]);
    assert_eq!((w.texts(), text().as_str()), (before, "one\n"));
    w.done(&["history", "--check"]);
}

#[test]
fn what_the_store_refuses_to_take_back_is_told_and_nothing_is_half_done() {
    let w = World::new();
    w.approved(&[("replaceInFile", json!({"path": "a.txt", "search": "one", "replace": "two"})), replace("Int = 2")]);
    w.strand(&["replace", "slot.count", "Int = 9"]);
    let theirs = w.texts();
    // With files in the turn it is as with a file that someone else changed: something stays as it is.
    let cases = [(&["undo", "--yes"][..], 1), (&["undo", "--turn", "--yes"], 3), (&["undo", "--turn", "--force"], 3)];
    for (words, expected) in cases {
        let (code, _, err) = w.nebula(words);
        assert!(code == expected && err.contains("its body was replaced again"), "{words:?}: {code} {err}");
        assert!(err.contains(STORE) && err.contains("nothing was changed"), "{err}");
        assert_eq!(err.contains("`nebula undo FILE` undoes one alone"), expected == 3, "{err}");
    }
    assert_eq!((w.texts(), fs::read_to_string(w.path("work/a.txt")).expect("read")), (theirs, "two\n".into()));
    let [store, aside] = [STORE, "aside"].map(|name| w.path("work").join(name));
    fs::rename(&store, &aside).expect("moved");
    let (code, _, err) = w.nebula(&["undo", "--yes"]);
    assert!(code == 1 && err.contains("it is no folder of this workspace"), "{code} {err}");
    w.done(&["history", "--check"]);
}

#[test]
fn an_added_or_replaced_definition_that_a_person_changed_is_not_undone() {
    let cases: [(&[&[&str]], &str); 3] = [
        (&[&["replace", "slot.more", "Int = 99"]], "the definition was changed since"),
        (
            &[&["rename", "slot.more", "mine"], &["replace", "slot.mine", "Int = 99"]],
            "the definition was changed since",
        ),
        (&[&["edit", "slot.count", "{\"init\": \"set 7\"}"]], "its body was changed since"),
    ];
    for (person, why) in cases {
        let w = World::new();
        let before = w.texts();
        let add = ("strand_add", json!({"layer": "slot", "name": "more", "body": "Int = 0"}));
        w.approved(&[add, replace("Int = 2")]);
        w.done(&["undo", "--turn", "--yes"]);
        assert_eq!(w.texts(), before);
        w.done(&["redo", "--yes"]);
        for words in person {
            w.strand(words);
        }
        let theirs = w.texts();
        for words in [&["undo", "--yes"][..], &["undo", "--turn", "--yes"], &["undo", "--turn", "--force"]] {
            let (code, _, err) = w.nebula(words);
            assert!(code == 1 && err.contains(why), "{person:?} {words:?}: {code} {err}");
            assert_eq!(w.texts(), theirs, "{person:?} {words:?}");
        }
    }
}

#[test]
fn what_nobody_agrees_to_is_a_refused_change_and_a_turn_without_one_fails() {
    let w = World::new();
    let before = w.texts();
    let (code, out, err) = w.task(&[replace("Int = 2")], &["--json"]);
    assert_eq!(code, 3, "{out}{err}");
    let (code, out, err) = w.task(&[replace("Int = (")], &["--json", "--expect-change", "--approve", "edits"]);
    assert_eq!(code, 1, "{out}{err}");
    assert_eq!(w.texts(), before);
    assert!(w.done(&["history"]).contains("the archive is empty"));
}

#[test]
fn prune_and_undo_of_more_than_one_version_leave_ops_alone() {
    let w = World::new();
    w.approved(&[replace("Int = 2")]);
    let (code, _, err) = w.nebula(&["undo", "2", "--yes"]);
    assert!(code == 1 && err.contains("without COUNT"), "{code} {err}");
    w.done(&["prune", "--keep-days", "0", "--yes"]);
    w.done(&["history", "--check"]);
    assert!(w.texts().contains("slot count = Int = 2"));
}

#[test]
fn a_refusal_is_told_in_words_on_one_line() {
    let w = World::new();
    let edit = ("strand_edit", json!({"qname": "slot.count", "patch": {"body:9.x": "set 3"}}));
    let (_, out, err) = w.task(&[edit], &["--approve", "edits"]);
    assert!(err.contains("the patch does not apply: ") && !err.contains("{\"error\""), "{out}{err}");
    w.approved(&[("strand_add", json!({"layer": "slot", "name": "next", "body": "Text = \"\""}))]);
    w.strand(&["add", "tile", "Uses", "column { text(value=next) }"]);
    let (code, out, err) = w.nebula(&["undo", "--yes"]);
    let one_line = "cannot remove slot.next (referenced by 1 tile); tile.Uses:2; Use --cascade";
    assert!(code != 0 && err.contains(one_line), "{out}{err}");
}

#[test]
fn definitions_that_a_session_changed_are_counted() {
    let w = World::new();
    // Makes the recording.
    w.task(&[replace("Int = 2")], &[]);
    fs::write(w.path("typed"), "change it\ny\n").expect("written");
    let mut command = Command::new(env!("CARGO_BIN_EXE_nebula"));
    command.args(["chat", "--replay"]).arg(w.path("recording.jsonl")).current_dir(w.path("work")).env_clear();
    command.env("HOME", w.path("home")).env("USER", "me").stdin(fs::File::open(w.path("typed")).expect("open"));
    let said = String::from_utf8(command.output().expect("it runs").stdout).expect("text");
    assert!(said.contains("changed 1 definition. waiting 0. failed 0."), "{said}");
}
