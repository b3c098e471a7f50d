//! Sessions in a terminal, from keys to files: going back to a changeset and to a message, and trusting a folder.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::pty::Terminal;

/// A home with a project in it, and a recording of edits of `a.txt`: with each turn its number becomes the next one.
struct World {
    home: tempfile::TempDir,
    root: PathBuf,
}

impl World {
    fn new(turns: usize) -> Self {
        let home = tempfile::tempdir().expect("a folder");
        let root = home.path().join("project");
        fs::create_dir_all(root.join(".git")).expect("made");
        fs::write(root.join("a.txt"), "0\n").expect("written");
        let mut lines = vec![json!({"recording": 1})];
        for turn in 0..turns {
            let arguments = json!({"path": "a.txt", "search": format!("{turn}"), "replace": format!("{}", turn + 1)});
            let arguments = arguments.to_string();
            let call = json!({"call": {"index": 0, "id": "c", "name": "replaceInFile", "arguments": arguments}});
            let said = json!({"text": format!("Turn {turn} is done.")});
            lines.extend([json!({"step": 2 * turn + 1}), delta(call), delta(json!({"end": "calls"}))]);
            lines.extend([json!({"step": 2 * turn + 2}), delta(said), delta(json!({"end": "stop"}))]);
        }
        let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
        fs::write(home.path().join("recording.jsonl"), text).expect("written");
        World { home, root }
    }

    fn configure(&self, folder: &Path, values: Value) {
        fs::create_dir_all(folder.join(".nebula")).expect("made");
        fs::write(folder.join(".nebula/config.json"), values.to_string()).expect("written");
    }

    fn start(&self) -> Terminal {
        let recording = self.home.path().join("recording.jsonl").display().to_string();
        let project = self.root.display().to_string();
        let flags = ["--replay", &recording, "--workspace", &project];
        Terminal::start_in(env!("CARGO_BIN_EXE_nebula"), &flags, self.home.path())
    }

    fn number(&self) -> String {
        fs::read_to_string(self.root.join("a.txt")).expect("readable").trim().to_string()
    }
}

fn delta(delta: Value) -> Value {
    json!({"ms": 0, "delta": delta})
}

#[test]
fn a_key_undoes_everything_since_a_changeset_or_a_message() {
    let world = World::new(3);
    world.configure(world.home.path(), json!({"approval": "edits"}));
    let mut terminal = world.start();
    terminal.wait_for("ask for a change");
    for turn in 0..3 {
        terminal.keys(&format!("prompt {turn}\r"));
        terminal.wait_for(&format!("Turn {turn} is done."));
        terminal.wait_for(&format!("{} changeset", turn + 1));
        terminal.wait_for("ready");
    }
    assert_eq!(world.number(), "3");

    // The archive: from the newest changeset down to the second, and everything since.
    terminal.keys("\u{1b}OR");
    terminal.wait_for("prompt 1");
    terminal.keys("jS");
    terminal.wait_for("undo of everything since prompt 1");
    terminal.press("\r", "ready to write");
    terminal.press("\r", "4 changesets");
    assert_eq!(world.number(), "1");

    // The chat: from the last message, which the fourth key reaches, up to the first one, two turns of three entries.
    terminal.keys("\u{1b}[15~");
    terminal.wait_for("Turn 2 is done.");
    terminal.keys("[[[[");
    terminal.wait_for("undo since here");
    terminal.keys("[[[[[[S");
    terminal.wait_for("undo of everything since \"prompt 0\"");
    terminal.press("\r", "ready to write");
    terminal.press("\r", "5 changesets");
    assert_eq!(world.number(), "0");
    assert_eq!(terminal.leave(), 0);
}

#[test]
fn a_folder_counts_whole_once_it_is_trusted() {
    let world = World::new(1);
    world.configure(&world.root, json!({"approval": "edits"}));
    let mut terminal = world.start();
    terminal.wait_for("sets approval, which counts only in");
    terminal.wait_for("ask for a change");
    terminal.keys("/trust\r");
    terminal.wait_for("this folder is trusted");
    terminal.keys("\u{15}go\r");
    terminal.wait_for("Turn 0 is done.");
    terminal.wait_for("ready");
    assert_eq!(world.number(), "1", "it asked, although the folder that is trusted says not to");
    assert_eq!(terminal.leave(), 0);
    let config = fs::read_to_string(world.home.path().join(".nebula/config.json")).expect("the person's own file");
    let config: Value = serde_json::from_str(&config).expect("JSON");
    let root = fs::canonicalize(&world.root).expect("there").display().to_string();
    assert_eq!(config["trusted"], json!([root]));
}
