//! Names, rules, settings, answers and errors that carry control sequences: no command hands one to the terminal.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use portable_pty::{CommandBuilder, PtySize, native_pty_system};
use serde_json::{Value, json};

/// Clears the screen, sets the title, turns the direction of text, and hides a letter.
const BAD: &str = "x\x1b[2J\x1b]0;owned\x07\u{9b}1A\u{202e}\u{200b}y";

struct World {
    dir: tempfile::TempDir,
    url: String,
}

impl World {
    fn new() -> Self {
        let dir = tempfile::tempdir().expect("a folder");
        let w = World { dir, url: serve() };
        let bad = json!({
            "baseUrl": w.url, "apiKeyEnv": "TEST_KEY", BAD: 1, "theme": [BAD], "models": {BAD: {"editFormat": BAD}},
            "archiveDir": format!("archive {BAD}"), "headers": {"X": "1"},
        });
        for (path, text) in [
            ("work/.git/HEAD", "ref: refs/heads/main\n"),
            ("work/AGENTS.md", &format!("# {BAD}\n")),
            ("work/.nebula/config.json", &json!({BAD: 2, "model": format!("m{BAD}"), "provider": BAD}).to_string()),
            (&format!("work/.nebula/rules/{BAD}.md"), &format!("---\nglobs: [{BAD}\n---\n{BAD}\n")),
            ("home/.nebula/config.json", &bad.to_string()),
            (&format!("work/{BAD}.txt"), &format!("{BAD}\n")),
            ("work/patch", &format!("--- a/{BAD}.txt\n+++ b/{BAD}.txt\n@@ -1 +1 @@\n-{BAD}\n+z{BAD}\n")),
        ] {
            let path = w.dir.path().join(path);
            fs::create_dir_all(path.parent().expect("a folder")).expect("made");
            fs::write(path, text).expect("written");
        }
        w
    }

    fn work(&self) -> PathBuf {
        self.dir.path().join("work")
    }

    fn run(&self, words: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_nebula"));
        command.args(words).current_dir(self.work()).env_clear().env("HOME", self.dir.path().join("home"));
        command.env("TEST_KEY", "k").stdin(Stdio::null()).output().expect("it runs")
    }

    /// Returns what a command prints at a terminal without colours.
    fn terminal_output(&self, words: &[&str]) -> Vec<u8> {
        self.program_output(env!("CARGO_BIN_EXE_nebula"), words)
    }

    fn program_output(&self, program: &str, words: &[&str]) -> Vec<u8> {
        let size = PtySize { rows: 40, cols: 200, pixel_width: 0, pixel_height: 0 };
        let pair = native_pty_system().openpty(size).expect("a pseudo-terminal");
        let mut command = CommandBuilder::new(program);
        command.args(words);
        command.env_clear();
        for (name, value) in [("TERM", "xterm"), ("NO_COLOR", "1"), ("TEST_KEY", "k")] {
            command.env(name, value);
        }
        command.env("HOME", self.dir.path().join("home"));
        command.cwd(self.work());
        let mut child = pair.slave.spawn_command(command).expect("it starts");
        drop(pair.slave);
        let mut reader = pair.master.try_clone_reader().expect("a reader");
        let mut bytes = Vec::new();
        // A pseudo-terminal whose other end is gone says so with an error.
        let _ = reader.read_to_end(&mut bytes);
        child.wait().expect("it ends");
        bytes
    }
}

/// A server that names its models badly and answers every question with a bad error; its URL.
fn serve() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}/v1", listener.local_addr().expect("an address"));
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            let mut head = [0; 4096];
            let n = stream.read(&mut head).unwrap_or(0);
            let models = json!({"data": [{"id": format!("m{BAD}")}, {"id": "plain"}]}).to_string();
            let error = json!({"error": {"message": BAD, "type": BAD, "code": BAD}}).to_string();
            let (status, body) =
                if head[..n].starts_with(b"GET") { ("200 OK", models) } else { ("400 Bad Request", error) };
            let length = body.len();
            let _ = write!(
                stream,
                "HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}"
            );
        }
    });
    url
}

fn check(words: &[&str], bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let acts = |c: char| c.is_control() && !"\n\t\r".contains(c) || "\u{202e}\u{200b}".contains(c);
    assert!(!text.contains(acts), "{words:?}: {text:?}");
}

#[test]
fn no_command_hands_a_control_sequence_to_the_terminal() {
    let w = World::new();
    let file = format!("{BAD}.txt");
    let recording = w.dir.path().join("recording.jsonl");
    let delta = |delta: Value| json!({"ms": 0, "delta": delta}).to_string();
    let arguments = json!({"path": file, "search": "none", "replace": BAD}).to_string();
    let steps = [
        json!({"recording": 1}).to_string(),
        json!({"step": 1}).to_string(),
        delta(json!({"text": BAD})),
        delta(json!({"call": {"index": 0, "id": BAD, "name": "replaceInFile", "arguments": arguments}})),
        delta(json!({"call": {"index": 1, "id": "b", "name": BAD, "arguments": BAD}})),
        delta(json!({"end": "calls"})),
        json!({"step": 2}).to_string(),
        delta(json!({"text": BAD})),
        delta(json!({"end": "stop"})),
    ];
    fs::write(&recording, steps.join("\n") + "\n").expect("written");
    let recording = recording.to_string_lossy();
    let message = format!("hi @{file} {BAD}");
    let runs: &[&[&str]] = &[
        &["shi", &file],
        &["patch", "patch", "--yes"],
        &["patch", "patch", "--yes"],
        &["history"],
        &["history", "--json"],
        &["history", &file],
        &["history", &file, "--json"],
        &["history", "--check"],
        &["undo", "--dry-run"],
        &["undo", "--yes"],
        &["redo", "--yes", "--json"],
        &["undo", BAD],
        &["show", BAD],
        &["diff", BAD],
        &["prune", "--max-size", BAD],
        &["prune", "--dry-run"],
        &["config", "get"],
        &["config", "get", "--json"],
        &["config", "get", BAD],
        &["config", "set", BAD, BAD],
        &["config", "set", "theme", BAD],
        &["config", "get", "theme"],
        &["model"],
        &["model", "--json"],
        &["doctor"],
        &["doctor", "--json"],
        &["stats"],
        &["rag", "add", &file],
        &["rag", "list"],
        &["rag", "list", "--json"],
        &["task", "hi", "--json"],
        &["task", &message],
        &["task", &message, "--json", "--replay", &recording],
        &["sessions", "list"],
        &["sessions", "list", "--json"],
        &["sessions", "search", "hi"],
        &["sessions", "search", BAD],
        &["sessions", "show", BAD],
        &["commit", "--dry-run"],
        &["strand", "init"],
        &["strand", "add", &file],
        &["strand", "view", BAD],
        &["strand", "check"],
        &["strand", "sync"],
        &["strand", "status"],
        &["strand", "status", "--json"],
        &["strand", "log", "--json"],
        &["strand", BAD],
        &["--format", BAD, "patch"],
        &["--provider", BAD, "model"],
        &["--replay", BAD, "task", "hi"],
        &[BAD],
    ];
    let mut marked = 0;
    for words in runs {
        let output = w.run(words);
        // A diff is byte for byte in a pipe, where `git apply` takes it.
        if words[0] != "patch" {
            check(words, &output.stdout);
        }
        check(words, &output.stderr);
        let all = [output.stdout, output.stderr].concat();
        marked += usize::from(String::from_utf8_lossy(&all).contains("⟨U+202E⟩"));
    }
    assert!(marked > 20, "most of these name what is bad: {marked}");
    let versions = w.run(&["history", &file, "--json"]);
    let versions: Value = serde_json::from_slice(&versions.stdout).expect("JSON");
    let version = versions[0]["version"].as_str().expect("a version");
    let exact = w.run(&["show", version]);
    assert!(exact.stdout.windows(BAD.len()).any(|part| part == BAD.as_bytes()), "a pipe gets the bytes there were");
    let sessions: Value = serde_json::from_slice(&w.run(&["sessions", "list", "--json"]).stdout).expect("JSON");
    let id = sessions[0]["id"].as_str().expect("an id");
    for words in [
        &["show", version][..],
        &["diff", version],
        &["task", &message, "--replay", &recording],
        &["sessions", "show", id],
        &["sessions", "export", id, "--format", "json"],
        &["history"],
    ] {
        check(words, &w.terminal_output(words));
    }
}

#[cfg(feature = "strand")]
#[test]
fn strand_hands_no_control_sequence_to_the_terminal() {
    let w = World::new();
    let (file, slot) = (format!("{BAD}.strand"), format!("slot {BAD}: Text = \"{BAD}\"\n"));
    fs::write(w.work().join(&file), slot).expect("written");
    let draft = json!({"op": "add", "layer": BAD, "name": BAD, "body": BAD}).to_string();
    fs::write(w.work().join("draft"), draft).expect("written");
    let text = format!("Text = \"{BAD}\"");
    let runs: &[&[&str]] = &[
        &["init"],
        &["add", "slot", "a", &text],
        &["add", "slot", BAD, "Int = 1"],
        &["add", BAD, "b", "Int = 1"],
        &["add", "fn", "f", &format!("() -> Text = {BAD}")],
        &["add", "fn", "g", "() -> Text = nothing"],
        &["replace", "slot.a", &format!("Text = \"{BAD}{BAD}\"")],
        &["edit", "slot.a", BAD],
        &["edit", "slot.a", &json!({BAD: BAD}).to_string()],
        &["rename", "slot.a", BAD],
        &["remove", &format!("slot.{BAD}")],
        &["view", "slot.a"],
        &["view", "slot.a", "--history"],
        &["view", "slot.a", "--json"],
        &["view", BAD],
        &["view", "slot.a", "--at", BAD],
        &["list", BAD],
        &["history", "slot.a"],
        &["check"],
        &["check", "--json"],
        &["check", "--scope", BAD],
        &["fix", "--apply", BAD],
        &["fix", "--apply"],
        &["link", BAD, "slot.a"],
        &["patch", "apply", "draft"],
        &["patch", "apply", &file],
        &["patch", "revert", BAD],
        &["config", BAD, BAD],
        &["lock", BAD],
        &["run", BAD],
        &["replay", BAD],
        &["sync"],
        &["status"],
        &["conflicts"],
        &["op", "push", BAD],
        &["op", "pull", "--remote", BAD],
        &["snapshot", BAD],
        &["store", "verify"],
        &["store", "compact", "--before", BAD],
        &["--store", BAD, "check"],
        &[BAD],
    ];
    let mut marked = 0;
    for words in runs {
        let terminal_output = w.program_output(env!("CARGO_BIN_EXE_strand"), words);
        check(words, &terminal_output);
        marked += usize::from(String::from_utf8_lossy(&terminal_output).contains("⟨U+202E⟩"));
    }
    assert!(marked > 20, "most of these name what is bad: {marked}");
}
