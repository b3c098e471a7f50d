//! The binary as a script meets it: exit codes, one line for each error, and no word where a reader has gone.

use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
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

    /// A recording whose steps are these deltas, each with its pause in milliseconds.
    fn recording(&self, steps: &[&[(u64, Value)]]) -> String {
        let mut text = "{\"recording\":1}\n".to_string();
        for (n, step) in steps.iter().enumerate() {
            text.push_str(&format!("{}\n", json!({"step": n + 1})));
            for (ms, delta) in *step {
                text.push_str(&format!("{}\n", json!({"ms": ms, "delta": delta})));
            }
        }
        let path = self.path("recording.jsonl");
        fs::write(&path, text).expect("written");
        path.to_string_lossy().into_owned()
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_nebula"));
        command.args(words).current_dir(self.path("work")).env_clear().env("HOME", self.path("home"));
        command.stdin(Stdio::null());
        command
    }

    fn run(&self, words: &[&str]) -> Output {
        self.command(words).output().expect("it runs")
    }

    /// Exit code and standard error.
    fn failure(&self, words: &[&str]) -> (Option<i32>, String) {
        let output = self.run(words);
        (output.status.code(), String::from_utf8(output.stderr).expect("text"))
    }
}

#[test]
fn what_is_wrong_is_reported_in_one_line_with_its_exit_code() {
    let w = World::new();
    for (words, code, says) in [
        (&["undo", "--frob"][..], 2, "nebula: unexpected argument '--frob' found"),
        (&["task", "hi", "--format", "odd"], 2, "nebula: there is no edit format odd: use one of auto, tools"),
        (&["task", "hi", "--provider", "odd"], 2, "nebula: there is no provider odd: there are openai"),
        (&["task", "hi", "--resume"], 2, "nebula: --resume needs the beginning of a session's id"),
        (
            &["task", "hi", "--record", "/no/folder/x"],
            1,
            "nebula: cannot record to /no/folder/x: there is no such folder",
        ),
        (&["shi", "none"], 1, "nebula: there is no file none: nothing was archived"),
        (&["config", "get", "modle"], 1, "nebula: there is no key modle; did you mean model?"),
        (&["sessions", "show", "0"], 1, "nebula: there is no session 0; `nebula sessions list` shows"),
        (&["--workspace", "/no/folder", "history"], 1, "nebula: cannot use /no/folder as a workspace"),
        (&["undo"], 1, "nebula: the archive is empty"),
        (&["resume"], 2, "nebula: there is no command resume; did you mean --resume?"),
        (&["compact"], 2, "nebula: there is no command compact; did you mean /compact on the screen?"),
        (&["resume", "01a228f8"], 2, "nebula: there is no command resume; did you mean --resume 01a228f8?"),
        (&["model", "none"], 2, "nebula: \"none\" is no model: `nebula model` lists them"),
        (&["session"], 2, "nebula: there is no command session; did you mean sessions?"),
        (&["sessions"], 0, "nebula: this project has no sessions yet"),
        (&[], 1, "nebula: the screen needs a terminal"),
    ] {
        let (ended, err) = w.failure(words);
        assert_eq!(ended, Some(code), "{words:?}: {err}");
        assert!(err.starts_with(says) && err.lines().count() == 1, "{words:?}: {err}");
    }
}

#[test]
fn a_listing_needs_no_second_word_and_changes_nothing() {
    let w = World::new();
    let printed = |words: &[&str]| String::from_utf8(w.run(words).stdout).expect("text");
    assert_eq!(printed(&["sessions", "--json"]), "[]\n");
    assert_eq!(printed(&["config"]), printed(&["config", "get"]));
    assert!(printed(&["model", "list"]).starts_with("* "), "the model in force");
    assert_eq!(printed(&["model", "list"]), printed(&["model"]));
    assert!(!w.path("home/.nebula/config.json").exists());
}

#[test]
fn a_model_named_with_its_provider_is_saved_as_both() {
    let w = World::new();
    assert_eq!(w.run(&["model", "ollama:qwen2.5-coder:1.5b"]).status.code(), Some(0));
    let get = |key: &str| String::from_utf8(w.run(&["config", "get", key]).stdout).expect("text");
    assert_eq!((get("provider").trim(), get("model").trim()), ("ollama", "qwen2.5-coder:1.5b"));
    w.run(&["config", "set", "baseUrl", "http://127.0.0.1:9/v1"]);
    let refused = w.run(&["model", "anthropic:claude-haiku-4-5"]);
    let err = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(refused.status.code() != Some(0) && err.contains("baseUrl, key or headers are those of ollama"), "{err}");
    assert_eq!(get("provider").trim(), "ollama");
}

#[test]
fn nothing_is_sent_where_a_value_that_matters_cannot_be_read() {
    let w = World::new();
    fs::create_dir_all(w.path("home/.nebula")).expect("made");
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    listener.set_nonblocking(true).expect("set");
    let url = format!("http://{}/v1", listener.local_addr().expect("an address"));
    let own = |wire: &str| json!({"provider": "corp", "providers": {"corp": {"baseUrl": url, "wire": wire}}});
    let general = |key: &str, value: Value| json!({"baseUrl": url, key: value});
    for (config, says) in [
        (json!({"provider": "corpx"}), "there is no provider corpx: there are openai, responses, anthropic"),
        (own("antropic"), "providers.corp.wire must be one of chat, responses, anthropic, gemini, ollama"),
        (general("budget", json!("ten")), "budget must be a number from 0"),
        (general("budgetTokens", json!(-1)), "budgetTokens must be a whole number from 0"),
        (json!({"baseUrl": "gateway:8080"}), "baseUrl must be a URL that begins with http:// or https://"),
    ] {
        fs::write(w.path("home/.nebula/config.json"), config.to_string()).expect("written");
        let (code, err) = w.failure(&["task", "hi"]);
        let end = "Nothing is sent until the configuration is corrected.";
        assert_eq!(code, Some(1), "{err}");
        assert!(err.lines().any(|line| line.contains(says) && line.ends_with(end)), "{err}");
        assert!(listener.accept().is_err(), "{says}");
    }
    fs::remove_file(w.path("home/.nebula/config.json")).expect("removed");
    for (key, says) in [
        ("sk-ant-1", "OPENAI_API_KEY holds a key of anthropic: set it as ANTHROPIC_API_KEY."),
        (
            "gsk_1",
            "OPENAI_API_KEY holds a key of https://api.groq.com/openai/v1: set OPENAI_BASE_URL=https://api.groq.com",
        ),
    ] {
        let output = w.command(&["task", "hi"]).env("OPENAI_API_KEY", key).output().expect("it runs");
        let err = String::from_utf8(output.stderr).expect("text");
        assert!(output.status.code() == Some(1) && err.contains(says), "{err}");
    }
}

/// Whoever names a server means that one: no other that may listen on this computer is asked in its place.
#[test]
fn a_named_server_without_its_key_is_an_error() {
    let w = World::new();
    let output = w.command(&["task", "hi"]).env("OPENAI_BASE_URL", "https://models.example/v1").output();
    let output = output.expect("it runs");
    let err = String::from_utf8(output.stderr).expect("text");
    assert_eq!(output.status.code(), Some(1), "{err}");
    assert!(err.starts_with("nebula: no key for models.example: OPENAI_API_KEY is not set."), "{err}");
    assert_eq!(err.lines().count(), 1, "{err}");
}

#[test]
fn a_reader_that_goes_away_is_no_error_and_a_full_disk_is_one() {
    let w = World::new();
    for words in
        [&["config", "get"][..], &["completions", "bash"], &["doctor"], &["model"], &["sessions", "list", "--json"]]
    {
        let (reader, writer) = std::io::pipe().expect("a pipe");
        drop(reader);
        let output = w.command(words).stdout(writer).output().expect("it runs");
        let err = String::from_utf8(output.stderr).expect("text");
        assert_eq!(output.status.code(), Some(0), "{words:?}: {err}");
        assert!(!err.contains("Broken pipe") && !err.contains("panicked"), "{words:?}: {err}");
        let full = File::options().write(true).open("/dev/full").expect("a full disk");
        let output = w.command(words).stdout(full).output().expect("it runs");
        assert_eq!(output.status.code(), Some(1), "{words:?}");
    }
}

#[test]
fn a_task_goes_into_the_session_that_was_requested_or_none() {
    let w = World::new();
    let recording = w.recording(&[&[(0, json!({"text": "Hello."})), (0, json!({"end": "stop"}))]]);
    let (code, err) = w.failure(&["task", "hi", "--resume", "0000", "--replay", &recording]);
    assert_eq!((code, err.lines().count()), (Some(1), 1), "{err}");
    assert!(err.contains("there is no session 0000"), "{err}");
    let output = w.run(&["task", "hi", "--json", "--replay", &recording]);
    assert_eq!(output.status.code(), Some(0));
    let lines: Vec<Value> =
        output.stdout.split(|b| *b == b'\n').filter_map(|l| serde_json::from_slice(l).ok()).collect();
    assert_eq!((lines[0]["type"].as_str(), lines[0]["model"].as_str()), (Some("session"), Some("recording")));
    let sessions: Value = serde_json::from_slice(&w.run(&["sessions", "list", "--json"]).stdout).expect("JSON");
    assert_eq!(sessions.as_array().map(Vec::len), Some(1));
    assert_eq!(sessions[0]["id"], lines[0]["id"]);
    let id = lines[0]["id"].as_str().expect("an id");
    let (code, err) = w.failure(&["task", "again", "--resume", &id[..13], "--replay", &recording]);
    assert_eq!(code, Some(0), "{err}");
}

#[test]
fn a_moved_project_has_its_sessions_and_its_commands_whatever_is_asked_first() {
    for words in [["sessions", "list", "--json"].as_slice(), &["commands", "--json"]] {
        let w = World::new();
        let recording = w.recording(&[&[(0, json!({"text": "Hello."})), (0, json!({"end": "stop"}))]]);
        assert_eq!(w.run(&["task", "hi", "--replay", &recording]).status.code(), Some(0));
        fs::write(w.path("work/a.txt"), "one\n").expect("written");
        fs::write(w.path("fix.patch"), "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-one\n+two\n").expect("written");
        assert_eq!(w.run(&["patch", "../fix.patch", "--yes"]).status.code(), Some(0));
        // Where it cannot run it is noted all the same, or nothing is.
        w.run(&["run", "--", "true"]);
        let of = |folder: &str| {
            let output = w.command(words).current_dir(w.path(folder)).output().expect("it runs");
            let listed: Value = serde_json::from_slice(&output.stdout).expect("JSON");
            (listed.as_array().map(Vec::len), String::from_utf8(output.stderr).expect("text"))
        };
        let (before, _) = of("work");
        fs::rename(w.path("work"), w.path("moved")).expect("moved");
        let (after, said) = of("moved");
        assert_eq!(before, after, "{words:?}: {said}");
        assert!(said.contains("this project was at "), "{words:?}: {said}");
        assert_eq!(of("moved"), (before, String::new()), "it is told once");
    }
}

#[test]
fn a_continued_task_prints_its_own_turn_alone() {
    let w = World::new();
    let said = |text: &str| w.recording(&[&[(0, json!({"text": text})), (0, json!({"end": "stop"}))]]);
    let first = w.run(&["task", "hi", "--replay", &said("First.")]);
    assert_eq!(first.stdout, b"First.\n");
    for how in [&["--continue"][..], &["--continue", "--json"]] {
        let second = said("Second.");
        let output = w.run(&[&["task", "and now?", "--replay", &second], how].concat());
        let out = String::from_utf8(output.stdout).expect("text");
        assert!(out.contains("Second.") && !out.contains("First.") && !out.contains("\"hi\""), "{out}");
        if how.len() == 1 {
            assert_eq!(out, "Second.\n");
        }
    }
    let sessions: Value = serde_json::from_slice(&w.run(&["sessions", "list", "--json"]).stdout).expect("JSON");
    assert_eq!(sessions.as_array().map(Vec::len), Some(1));
}

/// `nebula task … > log 2>&1`: what is told beside the text begins on a line of its own.
#[test]
fn text_and_diffs_in_one_pipe_do_not_run_into_each_other() {
    let w = World::new();
    fs::write(w.path("work/a.txt"), "one\n").expect("written");
    let arguments = json!({"path": "a.txt", "search": "one", "replace": "two"}).to_string();
    let call = json!({"call": {"index": 0, "id": "c", "name": "replaceInFile", "arguments": arguments}});
    let recording = w.recording(&[
        &[(0, json!({"text": "I change it."})), (0, call), (0, json!({"end": "calls"}))],
        &[(0, json!({"text": "Done."})), (0, json!({"end": "stop"}))],
    ]);
    let (mut reader, writer) = std::io::pipe().expect("a pipe");
    let mut command = w.command(&["task", "go", "--approve", "edits", "--replay", &recording]);
    let both = writer.try_clone().expect("the same pipe");
    let mut child = command.stdout(writer).stderr(both).spawn().expect("it starts");
    drop(command);
    let mut out = String::new();
    std::io::Read::read_to_string(&mut reader, &mut out).expect("text");
    assert!(child.wait().expect("it ends").success());
    assert!(out.contains("I change it.\ndiff --git") && out.contains("\n✓ replaceInFile"), "{out}");
    assert!(out.ends_with("\nDone.\n"), "{out}");
}

#[test]
fn a_signal_ends_a_task_as_a_person_would() {
    use rustix::process::Signal;
    // `timeout` sends its signal to the program and to its group: it comes twice.
    for (signal, times, code) in
        [(Signal::TERM, 1, 143), (Signal::HUP, 1, 129), (Signal::INT, 1, 130), (Signal::TERM, 2, 143)]
    {
        let w = World::new();
        let recording = w.recording(&[&[(0, json!({"text": "Hello\n"})), (600_000, json!({"text": "never"}))]]);
        let mut child = w
            .command(&["task", "hi", "--json", "--replay", &recording])
            .stdout(Stdio::piped())
            .spawn()
            .expect("it starts");
        let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
        lines.by_ref().map(|l| l.expect("a line")).find(|l| l.contains("Hello")).expect("the answer begins");
        let id = rustix::process::Pid::from_child(&child);
        (0..times).for_each(|_| rustix::process::kill_process(id, signal).expect("sent"));
        let last = lines.map(|l| l.expect("a line")).last().expect("its end is told");
        assert_eq!(serde_json::from_str::<Value>(&last).expect("JSON")["reason"], "interrupted");
        assert_eq!(child.wait().expect("ended").code(), Some(code));
        let sessions: Value = serde_json::from_slice(&w.run(&["sessions", "list", "--json"]).stdout).expect("JSON");
        assert!(sessions[0]["ended_at"].is_string(), "{sessions}");
    }
}

#[test]
fn values_and_complaints_are_printed_in_full() {
    let w = World::new();
    for (key, value) in [("archiveExclude", ".env"), ("models.a.price", "{\"input\":1}"), ("model", "true")] {
        assert!(w.run(&["config", "set", key, value]).status.success(), "{key}");
    }
    let json = |words: &[&str]| serde_json::from_slice::<Value>(&w.run(words).stdout).expect("JSON");
    assert_eq!(json(&["config", "get", "archiveExclude", "--json"]), json!([".env"]));
    assert_eq!(json(&["config", "get", "models.a.price", "--json"]), json!({"input": 1}));
    assert_eq!(json(&["config", "get", "model", "--json"]), json!("true"));
    assert_eq!(json(&["config", "get", "baseUrl", "--json"]), json(&["config", "get", "--json"])["baseUrl"]["value"]);
    assert_eq!(w.run(&["config", "get", "model"]).stdout, b"true\n");
    fs::create_dir_all(w.path("home/.nebula/memory.db")).expect("made");
    let output = w.run(&["doctor", "--json"]);
    assert_eq!(String::from_utf8(output.stderr).expect("text"), "", "trouble is a line of the list");
    let checks: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let memory = checks.as_array().expect("a list").iter().find(|c| c["check"] == "memory").expect("a line");
    assert!(memory["ok"] == false && memory["says"].as_str().expect("text").starts_with("~/.nebula: "), "{memory}");
}

/// Each key below `shell` is listed with its value in force, what is set can be unset, and names of what is not there are told.
#[test]
fn settings_are_listed_unset_and_doubted() {
    let w = World::new();
    let text = |words: &[&str]| String::from_utf8(w.run(words).stdout).expect("text");
    assert!(w.run(&["config", "set", "shell.timeout", "60"]).status.success());
    let shell = text(&["config", "get", "shell"]);
    for (key, value, origin) in
        [("timeout", "60", "user"), ("maxTimeout", "3600", "default"), ("caches", "-", "default")]
    {
        let line = shell.lines().find(|line| line.starts_with(&format!("shell.{key} "))).expect("a line");
        assert_eq!(line.split_whitespace().skip(1).collect::<Vec<_>>(), [value, origin], "{line}");
    }
    assert_eq!(text(&["config", "get", "shell.maxTimeout"]), "3600\n");
    assert_eq!(text(&["config", "unset", "shell.timeout"]), "shell.timeout is not set in your file: 120 is in force\n");
    assert_eq!(text(&["config", "get", "shell.timeout"]), "120\n");
    assert!(w.run(&["config", "set", "budget", "3"]).status.success());
    assert_eq!(text(&["config", "unset", "budget"]), "budget is not set\n");
    assert_eq!(w.run(&["config", "unset", "bugdet"]).status.code(), Some(1));
    let (code, err) = w.failure(&["config", "set", "apiKeyCommand", "pass show key"]);
    assert!(code == Some(1) && err.contains(r#"such as ["pass", "show", "key"]"#), "{code:?} {err}");
    assert!(w.run(&["config", "set", "apiKeyCommand", "my-key"]).status.success());
    assert_eq!(text(&["config", "get", "apiKeyCommand"]), "[\"my-key\"]\n");
    assert!(w.run(&["config", "unset", "apiKeyCommand"]).status.success());
    for (key, value, doubt) in [
        ("theme", "nope", "no theme is called nope"),
        ("provider", "foo", "there is no provider foo: there are openai"),
    ] {
        let set = w.run(&["config", "set", key, value]);
        let said = String::from_utf8(set.stderr).expect("text");
        assert!(set.status.success() && said.contains(doubt), "{said}");
    }
    let checks: Value = serde_json::from_slice(&w.run(&["doctor", "--json"]).stdout).expect("JSON");
    let line = checks.as_array().expect("a list").iter().find(|c| c["check"] == "configuration").expect("a line");
    assert!(line["ok"] == false && line["says"].as_str().expect("text").contains("no theme is called nope"), "{line}");
    // What the screen would say about the person's keys.
    fs::write(w.path("home/.nebula/keys.toml"), "[review]\naccept = \"k\"\n").expect("written");
    let checks: Value = serde_json::from_slice(&w.run(&["doctor", "--json"]).stdout).expect("JSON");
    let line = checks.as_array().expect("a list").iter().find(|c| c["check"] == "configuration").expect("a line");
    assert!(line["says"].as_str().expect("text").contains("keys.toml:2:"), "{line}");
}

#[test]
fn edits_that_nobody_can_approve_say_what_would_accept_them() {
    let w = World::new();
    let write = json!({"call": {"index": 0, "id": "c", "name": "writeFile", "arguments": "{\"path\":\"a\",\"content\":\"x\"}"}});
    let recording = w.recording(&[
        &[(0, write), (0, json!({"end": "calls"}))],
        &[(0, json!({"text": "ok"})), (0, json!({"end": "stop"}))],
    ]);
    let (code, err) = w.failure(&["task", "hi", "--replay", &recording]);
    assert!(code == Some(3) && err.contains("`--approve edits` accepts edits"), "{err}");
    let (code, err) = w.failure(&["task", "hi", "--replay", &recording, "--approve", "none"]);
    assert!(code == Some(3) && !err.contains("--approve edits"), "{err}");
    assert_eq!(w.failure(&["task", "hi", "--replay", &recording, "--approve", "edits"]).0, Some(0));
}

#[test]
fn a_command_that_nobody_can_allow_is_refused_by_its_policy_and_class() {
    let w = World::new();
    fs::write(w.path("work/a.txt"), "one\n").expect("written");
    let call = json!({"index": 0, "id": "c", "name": "runCommand", "arguments": r#"{"command": "rm a.txt"}"#});
    let recording = w.recording(&[
        &[(0, json!({"call": call})), (0, json!({"end": "calls"}))],
        &[(0, json!({"text": "ok"})), (0, json!({"end": "stop"}))],
    ]);
    for (policy, says) in [
        ("ask", "nobody is there to allow this command: the approval policy ask asks about class harm: removes files"),
        (
            "edits",
            "nobody is there to allow this command: the approval policy edits asks about class harm: removes files",
        ),
        ("none", "the approval policy none runs commands that only read; this one is harm: removes files"),
    ] {
        let (code, err) = w.failure(&["task", "hi", "--replay", &recording, "--approve", policy]);
        assert!(code == Some(3) && err.contains(says), "{policy}: {code:?} {err}");
        assert!(!err.contains("you rejected"), "{policy}: {err}");
    }
    assert!(w.path("work/a.txt").exists());
}

#[test]
fn a_file_that_acts_later_is_refused_where_nobody_can_approve_it() {
    let w = World::new();
    let write = json!({"path": ".github/workflows/ci.yml", "content": "on: push\n"}).to_string();
    let call = json!({"call": {"index": 0, "id": "c", "name": "writeFile", "arguments": write}});
    let recording = w.recording(&[
        &[(0, call), (0, json!({"end": "calls"}))],
        &[(0, json!({"text": "ok"})), (0, json!({"end": "stop"}))],
    ]);
    let (code, err) = w.failure(&["task", "hi", "--replay", &recording, "--approve", "edits"]);
    assert_eq!(code, Some(3), "{err}");
    assert!(err.contains(".github/workflows/ci.yml acts later: only a person may approve it"), "{err}");
    assert!(!w.path("work/.github").exists());
}

#[test]
fn the_result_of_a_read_is_reported_once() {
    let w = World::new();
    fs::write(w.path("work/a.txt"), "one\n").expect("written");
    let call = json!({"index": 0, "id": "c", "name": "readFile", "arguments": r#"{"path": "a.txt"}"#});
    let recording = w.recording(&[
        &[(0, json!({"call": call})), (0, json!({"end": "calls"}))],
        &[(0, json!({"text": "ok"})), (0, json!({"end": "stop"}))],
    ]);
    let output = w.run(&["task", "hi", "--json", "--replay", &recording]);
    let text = String::from_utf8(output.stdout).expect("text");
    assert_eq!(text.matches(r#""type":"tool_result""#).count(), 1, "{text}");
    let (_, err) = w.failure(&["task", "hi", "--replay", &recording]);
    assert_eq!(err.matches("readFile a.txt").count(), 1, "{err}");
}

#[test]
fn a_command_about_memory_says_why_it_cannot_be_used() {
    let commands: [&[&str]; 4] = [
        &["sessions", "list", "--json"],
        &["sessions", "search", "x"],
        &["sessions", "show", "0"],
        &["stats", "--json"],
    ];
    let fails = |w: &World, says: &[&str]| {
        for words in commands {
            let output = w.run(words);
            let err = String::from_utf8(output.stderr).expect("text");
            assert_eq!((output.status.code(), output.stdout.len()), (Some(1), 0), "{words:?}: {err}");
            assert!(says.iter().all(|part| err.contains(part)), "{words:?}: {err}");
            assert_eq!(err.lines().count(), 1, "{words:?}: {err}");
        }
    };
    let w = World::new();
    fs::create_dir_all(w.path("home/.nebula/memory.db")).expect("made");
    fails(&w, &["something else lies in the place of memory", "home/.nebula/memory.db", "move that away"]);
    let w = World::new();
    fs::write(w.path("home/.nebula"), "").expect("written");
    fails(&w, &["something else lies in the place of memory", "home/.nebula)", "move that away"]);
    // A pipe would be waited for, and a device read as an empty file.
    for name in ["memory.db", "memory.db-wal"] {
        let w = World::new();
        fs::create_dir_all(w.path("home/.nebula")).expect("made");
        let at = w.path("home/.nebula").join(name);
        assert!(Command::new("mkfifo").arg(&at).status().expect("it runs").success());
        fails(&w, &["something else lies in the place of memory", name, "move that away"]);
        fs::remove_file(&at).expect("removed");
        std::os::unix::fs::symlink("/dev/zero", &at).expect("linked");
        fails(&w, &["something else lies in the place of memory", name, "move that away"]);
        let rag = w.run(&["rag", "list"]);
        assert!(rag.status.code().is_some(), "{rag:?}");
    }
    // Without a home there is nothing to read either.
    let w = World::new();
    let output = w.command(&["sessions", "list"]).env("HOME", "/proc/nope").output().expect("it runs");
    let err = String::from_utf8(output.stderr).expect("text");
    assert_eq!((output.status.code(), output.stdout.len()), (Some(1), 0), "{err}");
    assert!(err.contains("there is no home folder for memory; set HOME"), "{err}");
    let w = World::new();
    let output = w.command(&["sessions", "list", "--json"]).env_remove("HOME").output().expect("it runs");
    let err = String::from_utf8(output.stderr).expect("text");
    assert_eq!((output.status.code(), output.stdout.len()), (Some(1), 0), "{err}");
    assert!(err.contains("there is no home folder for memory; set HOME"), "{err}");
}

#[test]
fn memory_that_may_not_be_read_is_reported_with_its_cause() {
    const NOBODY: u32 = 65_534;
    let w = World::new();
    w.run(&["sessions", "list"]);
    // Nothing is denied to root.
    let as_root = rustix::process::getuid().is_root();
    let program = w.path("nebula");
    fs::hard_link(env!("CARGO_BIN_EXE_nebula"), &program)
        .or_else(|_| fs::copy(env!("CARGO_BIN_EXE_nebula"), &program).map(drop))
        .expect("a program that anyone may run");
    let mode = |path: &str, mode| fs::set_permissions(w.path(path), fs::Permissions::from_mode(mode)).expect("set");
    mode("", 0o755);
    let denied = || {
        let mut command = Command::new(&program);
        command.args(["sessions", "list", "--json"]).current_dir(w.path("work")).env_clear();
        command.env("HOME", w.path("home")).stdin(Stdio::null());
        if as_root {
            command.uid(NOBODY).gid(NOBODY);
        }
        let output = command.output().expect("it runs");
        let err = String::from_utf8(output.stderr).expect("text");
        assert_eq!((output.status.code(), output.stdout.len()), (Some(1), 0), "{err}");
        let cause = "memory may not be read or written: no permission";
        assert!(err.contains(cause) && err.contains("memory.db); check who owns it"), "{err}");
    };
    mode("home/.nebula/memory.db", 0);
    mode("home/.nebula", 0o755);
    denied();
    mode("home/.nebula/memory.db", 0o600);
    mode("home/.nebula", 0);
    denied();
    mode("home/.nebula", 0o700);
}

#[test]
fn a_patch_says_that_it_waits_for_memory() {
    let w = World::new();
    w.run(&["sessions", "list"]);
    let other = rusqlite::Connection::open(w.path("home/.nebula/memory.db")).expect("a database");
    other.execute_batch("BEGIN IMMEDIATE").expect("locked");
    fs::write(w.path("work/a.txt"), "one\n").expect("written");
    fs::write(w.path("fix.patch"), "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-one\n+two\n").expect("written");
    let mut command = w.command(&["patch", "../fix.patch", "--yes"]);
    let mut child = command.stderr(Stdio::piped()).stdout(Stdio::null()).spawn().expect("it runs");
    let mut said = String::new();
    let mut lines = BufReader::new(child.stderr.take().expect("a pipe")).lines();
    while let Some(Ok(line)) = lines.next() {
        said.push_str(&line);
        if line.contains("waiting for it") {
            break;
        }
    }
    assert!(said.contains("memory is locked by another program; waiting for it"), "{said}");
    drop(other);
    assert_eq!(child.wait().expect("it ends").code(), Some(0));
    assert_eq!(fs::read_to_string(w.path("work/a.txt")).expect("there"), "two\n");
}

/// A recording of answers in words.
fn answers(w: &World, texts: &[&str]) -> String {
    let steps: Vec<Vec<(u64, Value)>> =
        texts.iter().map(|text| vec![(0, json!({"text": text})), (0, json!({"end": "stop"}))]).collect();
    w.recording(&steps.iter().map(Vec::as_slice).collect::<Vec<_>>())
}

#[test]
fn a_task_without_a_change_says_so_and_can_be_a_failure() {
    let w = World::new();
    std::fs::write(w.path("work/a.py"), "x = 1\n").unwrap();
    let recording = answers(&w, &["I would change it.", "a.py\n```python\nx = 2\n```\n"]);
    let (code, err) = w.failure(&["task", "set x to 2 in @a.py", "--format", "whole", "--replay", &recording]);
    assert_eq!((code, err.contains("no file was changed")), (Some(0), true), "{err}");
    let words =
        ["task", "set x to 2 in @a.py", "--format", "whole", "--approve", "edits", "--expect-change", "--replay"];
    let (code, err) = w.failure(&[&words[..], &[&recording]].concat());
    assert_eq!((code, err.contains("asked once more")), (Some(0), true), "{err}");
    assert_eq!(std::fs::read_to_string(w.path("work/a.py")).unwrap(), "x = 2\n");
    let recording = answers(&w, &["No.", "Still no."]);
    let output = w.run(&[&words[..], &[&recording, "--json"]].concat());
    let text = String::from_utf8(output.stdout).unwrap();
    let done: Value = serde_json::from_str(text.lines().last().unwrap()).unwrap();
    assert_eq!(
        (output.status.code(), &done["changed"], &done["reason"]),
        (Some(1), &0.into(), &"unchanged".into()),
        "{text}"
    );
    let stats = w.run(&["stats", "--json"]);
    assert!(String::from_utf8(stats.stdout).unwrap().contains("\"nudged\":2"));
}

#[test]
fn a_change_by_a_command_is_a_change() {
    let w = World::new();
    let call =
        json!({"call": {"index": 0, "id": "c", "name": "runCommand", "arguments": "{\"command\": \"echo 5 > f\"}"}});
    let steps = [
        vec![(0, call), (0, json!({"end": "calls"}))],
        vec![(0, json!({"text": "Done."})), (0, json!({"end": "stop"}))],
    ];
    let recording = w.recording(&steps.iter().map(Vec::as_slice).collect::<Vec<_>>());
    let mut task =
        w.command(&["task", "write 5 into f", "--approve", "all", "--expect-change", "--json", "--replay", &recording]);
    let output = task.env("PATH", std::env::var_os("PATH").unwrap()).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    if !w.path("work/f").exists() {
        // Nothing runs unasked where there is no sandbox.
        assert!(text.contains("sandbox") || text.contains("no bash"), "{text}");
        return;
    }
    let done: Value = serde_json::from_str(text.lines().last().unwrap()).unwrap();
    assert_eq!((output.status.code(), &done["changed"]), (Some(0), &1.into()), "{text}");
}

/// Days are those of the person's clock, as in the history.
#[test]
fn usage_counts_local_days() {
    let w = World::new();
    let usage = json!({"usage": {"input": 10, "output": 2}});
    let recording = w.recording(&[&[(0, json!({"text": "Hi."})), (0, usage), (0, json!({"end": "stop"}))]]);
    assert_eq!(w.run(&["task", "hi", "--replay", &recording]).status.code(), Some(0));
    let day = |zone: &str| {
        let done = w.command(&["usage", "--by", "day", "--json"]).env("TZ", zone).output().expect("it runs");
        let usage: Value = serde_json::from_slice(&done.stdout).expect("JSON");
        usage["by"][0]["key"].as_str().expect("a day").to_string()
    };
    // A whole day lies between them.
    assert_ne!(day("<east>-12"), day("<west>+12"));
}

#[test]
fn a_budget_is_an_amount() {
    let w = World::new();
    for wrong in ["--budget=-3", "--budget=nan", "--budget=inf", "--budget=1e400"] {
        let (code, err) = w.failure(&["task", "hi", wrong]);
        assert!(code == Some(2) && err.contains("it must be a number from 0"), "{wrong}: {err}");
    }
}

/// A mode that only reads changes nothing, and asking for a change in it is a mistake that is named before any request.
#[test]
fn a_change_is_not_expected_of_a_mode_that_only_reads() {
    let w = World::new();
    let recording = w.recording(&[&[(0, json!({"text": "A plan."})), (0, json!({"end": "stop"}))]]);
    let (code, err) = w.failure(&["task", "hi", "--mode", "plan", "--expect-change", "--replay", &recording]);
    assert!(code == Some(2) && err.contains("--mode plan changes nothing"), "{err}");
}

/// Line mode ends where its session cannot be opened.
#[test]
fn a_chat_without_its_session_ends() {
    let w = World::new();
    for words in [&["chat", "--resume", "0000"][..], &["--plain", "--resume", "0000"]] {
        let output = w.run(words);
        let says = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{says}");
        assert!(says.contains("0000"), "{says}");
    }
}

#[test]
fn continuing_nothing_is_said() {
    let w = World::new();
    let recording = w.recording(&[&[(0, json!({"text": "Hi."})), (0, json!({"end": "stop"}))]]);
    let output = w.run(&["task", "hi", "--continue", "--replay", &recording]);
    let says = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(says.contains("there is no session to continue here"), "{says}");
    assert_eq!(output.stdout, b"Hi.\n");
}

#[test]
fn the_help_of_a_command_lists_the_session_flags_that_count_for_it() {
    let world = World::new();
    let help = |words: &[&str]| {
        let output = world.run(words);
        assert_eq!(output.status.code(), Some(0), "{words:?}");
        String::from_utf8(output.stdout).expect("text")
    };
    let listed = |words: &[&str], flags: &[&str]| {
        let text = help(words);
        for flag in ["--continue", "--resume", "--mode", "--model", "--format", "--budget", "--replay"] {
            assert_eq!(text.contains(&format!("{flag} ")), flags.contains(&flag), "{words:?} {flag}: {text}");
        }
        assert!(text.contains("--workspace "), "{text}");
    };
    let all = ["--continue", "--resume", "--mode", "--model", "--format", "--budget", "--replay"];
    listed(&["--help"], &all);
    listed(&["task", "--help"], &all);
    listed(&["history", "--help"], &[]);
    listed(&["rules", "check", "-h"], &[]);
    listed(&["undo", "--help"], &["--resume"]);
    listed(&["patch", "--help"], &["--format"]);
    listed(&["commit", "--help"], &["--model", "--replay"]);
    // They are taken as before.
    assert_eq!(world.run(&["history", "--budget", "1"]).status.code(), Some(0));
}

#[test]
fn a_change_of_another_that_merges_is_shown_as_merged_and_by_which_flag() {
    let w = World::new();
    let text = |second: &str, tenth: &str| format!("1\n{second}\n3\n4\n5\n6\n7\n8\n9\n{tenth}\n");
    let write = |second: &str, tenth: &str| fs::write(w.path("work/a.txt"), text(second, tenth)).expect("written");
    write("2", "10");
    let patch = "--- a/a.txt\n+++ b/a.txt\n@@ -1,3 +1,3 @@\n 1\n-2\n+two\n 3\n";
    fs::write(w.path("fix.patch"), patch).expect("written");
    assert!(w.run(&["patch", "../fix.patch", "--yes"]).status.success());
    // Lines that lie apart.
    write("two", "ten");
    let dry = w.run(&["undo", "--dry-run"]);
    let shown = String::from_utf8(dry.stdout).expect("text");
    assert!(shown.contains("will be merged: lines") && shown.contains("-two\n+2\n"), "{shown}");
    let (code, told) = w.failure(&["undo"]);
    assert!(code == Some(3) && told.contains("so kept: a.txt (--yes merges them)"), "{told}");
    // The same line.
    write("zwei", "10");
    let (_, told) = w.failure(&["undo"]);
    assert!(told.contains("so kept: a.txt (--force restores them too)"), "{told}");
    let shown = String::from_utf8(w.run(&["undo", "--dry-run"]).stdout).expect("text");
    assert!(!shown.contains("will be merged") && !shown.contains("+2"), "{shown}");
    write("two", "ten");
    assert!(w.run(&["undo", "--yes"]).status.success());
    assert_eq!(fs::read_to_string(w.path("work/a.txt")).expect("read"), text("2", "ten"));
}
