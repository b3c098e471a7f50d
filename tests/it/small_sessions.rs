//! Sessions of small models, from the flags of `nebula task` to the files: a server plays back what a real model of 1.5 billion
//! parameters wrote (`fixtures/model-replies`), and what it was asked is looked at.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};

use crate::support::mock_server::{Act, MockServer, answer};
use crate::support::world::World;

/// The outcome of one `nebula task`.
struct Ran {
    events: Vec<Value>,
    /// The bodies of the requests to the model.
    requests: Vec<Value>,
    code: Option<i32>,
}

/// A file of the recorded replies.
fn real(name: &str) -> String {
    std::fs::read_to_string(recorded(name)).expect("a recorded reply")
}

fn recorded(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/model-replies").join(name)
}

/// The first of a list of recorded replies.
fn first(name: &str) -> String {
    let replies: Vec<String> = serde_json::from_str(&real(name)).expect("a list");
    replies.into_iter().next().expect("a reply")
}

/// A streamed answer that says `text`.
fn streamed(text: &str) -> Vec<Act> {
    let event = |value: Value| format!("data: {value}\n\n");
    let pieces: Vec<char> = text.chars().collect();
    let said = pieces
        .chunks(60)
        .map(|piece| event(json!({"choices": [{"index": 0, "delta": {"content": piece.iter().collect::<String>()}}]})));
    ended(&said.collect::<String>(), "stop")
}

/// A streamed answer that calls a tool.
fn called(name: &str, arguments: Value) -> Vec<Act> {
    let call = json!({"index": 0, "id": "c1", "type": "function", "function": {"name": name, "arguments": arguments.to_string()}});
    let call = json!({"choices": [{"index": 0, "delta": {"tool_calls": [call]}}]});
    ended(&format!("data: {call}\n\n"), "tool_calls")
}

fn ended(said: &str, reason: &str) -> Vec<Act> {
    let event = |value: Value| format!("data: {value}\n\n");
    let end = event(json!({"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]}));
    let usage = event(json!({"choices": [], "usage": {"prompt_tokens": 600, "completion_tokens": 90}}));
    let body = format!("{said}{end}{usage}data: [DONE]\n\n");
    answer("200 OK", "content-type: text/event-stream\r\n", &body)
}

fn configure(world: &World, server: &MockServer, model: &str) {
    std::fs::create_dir_all(world.home().join(".nebula")).expect("made");
    let config = json!({"provider": "mine", "providers": {"mine": {"baseUrl": server.url(), "model": model}}});
    std::fs::write(world.home().join(".nebula/config.json"), config.to_string()).expect("written");
}

async fn nebula(world: &World, words: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_nebula"));
    command.args(words).env_clear().env("HOME", world.home()).env("PATH", "/usr/bin:/bin");
    command.current_dir(world.root()).stdin(Stdio::null());
    tokio::task::spawn_blocking(move || command.output().expect("it runs")).await.expect("no panic")
}

/// Runs `nebula task --json` with `model`, of which the server says this window; each request gets the next reply.
async fn task(world: &World, model: (&str, u32), words: &[&str], replies: &[&str]) -> Ran {
    answered(world, model, words, replies.iter().map(|reply| streamed(reply)).collect()).await
}

/// Runs it with answers of any form.
async fn answered(world: &World, (model, window): (&str, u32), words: &[&str], answers: Vec<Vec<Act>>) -> Ran {
    let list = json!({"data": [{"id": model, "max_model_len": window}]}).to_string();
    let list = answer("200 OK", "content-type: application/json\r\n", &list);
    let scripts = [list].into_iter().chain(answers).collect();
    let server = MockServer::start(scripts).await;
    configure(world, &server, model);
    let words: Vec<&str> = ["task", "--json"].iter().chain(words).copied().collect();
    let output = nebula(world, &words).await;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let events: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert!(!events.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    let requests = server.seen().into_iter().filter(|seen| seen.line.starts_with("POST")).map(|seen| seen.body);
    Ran { events, requests: requests.collect(), code: output.status.code() }
}

impl Ran {
    fn notices(&self) -> Vec<&str> {
        self.events
            .iter()
            .filter(|event| event["type"] == "notice")
            .filter_map(|event| event["text"].as_str())
            .collect()
    }

    fn done(&self) -> &Value {
        self.events.last().expect("an event")
    }

    fn tools(&self, request: usize) -> Vec<&str> {
        let tools = self.requests[request]["tools"].as_array().into_iter().flatten();
        tools.filter_map(|tool| tool["function"]["name"].as_str()).collect()
    }

    /// The last message of a request.
    fn last_message(&self, request: usize) -> String {
        let messages = self.requests[request]["messages"].as_array().expect("messages");
        messages.last().expect("one")["content"].as_str().unwrap_or_default().to_string()
    }
}

/// The first recorded task: its file, what is asked, and the file as the model's own text leaves it.
fn pager() -> (World, String, String) {
    let before = real("01_py_pager/pager.py");
    let world = World::new().file("pager.py", &before);
    let prompt = format!("{} @pager.py", real("01_py_pager/task.txt").trim());
    (world, prompt, real("01_py_pager/expected/reply.whole.txt/after"))
}

const SMALL: (&str, u32) = ("qwen2.5-coder:1.5b", 16_384);
const UNKNOWN: (&str, u32) = ("somebody-coder", 65_536);

/// Point 7: a call written as text switches an unknown model to whole files, says so once, and is remembered.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_written_call_switches_the_model_to_whole_files() {
    let (world, prompt, after) = pager();
    let (call, whole) = (first("01_py_pager/replies.tools-guard.json"), real("01_py_pager/reply.whole.txt"));
    let ran = task(&world, UNKNOWN, &["--approve", "edits", &prompt], &[&call, &whole]).await;
    assert!(ran.tools(0).contains(&"replaceInFile") && !ran.tools(1).contains(&"replaceInFile"), "{:?}", ran.tools(1));
    let prompt_of = |n: usize| ran.requests[n]["messages"][0]["content"].as_str().expect("a prompt");
    assert!(ran.tools(1).is_empty() && prompt_of(1).contains(" readFile (path),"), "reading tools stay, as text");
    let format_notices =
        ran.notices().into_iter().filter(|notice| notice.contains("writes edits as text: format whole")).count();
    assert_eq!((format_notices, ran.code), (1, Some(0)), "{:?}", ran.notices());
    assert_eq!(world.read("pager.py"), after);
    let again = task(&world, UNKNOWN, &["What is in it?"], &["Pages."]).await;
    assert!(!again.tools(0).contains(&"replaceInFile"), "it is remembered");
}

/// Point 8: a small model gets the short prompt, the file in the notation of its reply before the task, and the reminder last.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_small_model_gets_a_brief_prompt() {
    let (world, prompt, after) = pager();
    let whole = real("01_py_pager/reply.whole.txt");
    let ran = task(&world, SMALL, &["--approve", "edits", &prompt], &[&whole]).await;
    let prompt_text = ran.last_message(0);
    let file = format!("pager.py\n```python\n{}```\n\n", real("01_py_pager/pager.py"));
    assert!(
        prompt_text.starts_with(&file) && prompt_text[file.len()..].starts_with("Fix two bugs in Pager."),
        "{prompt_text}"
    );
    assert!(prompt_text.ends_with("then a fenced block with the file's complete new text."), "{prompt_text}");
    let request = &ran.requests[0];
    let system = request["messages"][0]["content"].as_str().expect("a prompt");
    assert!(request.get("tools").is_none(), "{}", request["tools"]);
    // The task's file is 790 bytes: of what is sent the most is the task.
    assert!(system.len() + prompt_text.len() - file.len() <= 1_300, "{} and {} bytes", system.len(), prompt_text.len());
    assert!(!system.contains("Thought") && !system.contains("path:line"), "{system}");
    assert_eq!((world.read("pager.py"), ran.requests.len(), ran.code), (after, 1, Some(0)));
    assert_eq!(ran.done()["changed"], 1);
}

/// Point 7: a small model that was given no file reads it by a call in its text, and is told of no tool twice.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_small_model_reads_by_a_call_in_its_text() {
    let (world, prompt, after) = pager();
    let prompt = prompt.replace(" @pager.py", "");
    let read = json!({"name": "readFile", "arguments": {"path": "pager.py"}}).to_string();
    let whole = real("01_py_pager/reply.whole.txt");
    let ran = task(&world, SMALL, &["--approve", "edits", &prompt], &[&read, &whole]).await;
    let read = ran.last_message(1);
    let file = format!("Result of readFile:\npager.py\n```python\n{}```\n\n", real("01_py_pager/pager.py"));
    assert!(read.starts_with(&file) && read.ends_with("the file's complete new text."), "{read}");
    assert!(ran.requests.iter().all(|request| request.get("tools").is_none()));
    assert_eq!((world.read("pager.py"), ran.code), (after, Some(0)));
}

/// Point 8: a file that a message names stands before the task as one that it mentions does; one that is known is not sent again.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_small_model_gets_the_files_that_a_message_names() {
    let (world, _, after) = pager();
    let file = format!("pager.py\n```python\n{}```\n\n", real("01_py_pager/pager.py"));
    let whole = real("01_py_pager/reply.whole.txt");
    let ran = task(&world, SMALL, &["--approve", "edits", "Fix two bugs in pager.py."], &[&whole]).await;
    let prompt_text = ran.last_message(0);
    assert!(prompt_text.starts_with(&format!("{file}Fix two bugs in pager.py.")), "{prompt_text}");
    assert_eq!((world.read("pager.py"), ran.code), (after.clone(), Some(0)));
    let again = task(&world, SMALL, &["--continue", "What does pager.py do?"], &["It pages."]).await;
    assert!(again.last_message(0).starts_with("What does pager.py do?"), "{}", again.last_message(0));
    // A model that is asked for calls looks itself.
    let model = ("gpt-4.1-mini", 65_536);
    let asked = task(&world, model, &["What does pager.py do?"], &["It pages."]).await;
    assert!(!asked.last_message(0).contains("```"), "{}", asked.last_message(0));
}

/// Point 9: a part that stands for the whole is asked about, and a fence that holds only a path empties nothing.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_part_in_place_of_the_whole_raises_a_question() {
    let (world, prompt, after) = pager();
    let before = world.read("pager.py");
    let part = "pager.py\n```python\ndef rounded_up(a, b):\n    return -(-a // b)\n\n\ndef first(items):\n    return items[0]\n```\n";
    let whole = real("01_py_pager/reply.whole.txt");
    let ran = task(&world, SMALL, &["--approve", "edits", &prompt], &[part, &whole]).await;
    let prompt_text = ran.last_message(1);
    assert!(
        prompt_text.contains("is a part of the file meant?") && prompt_text.contains("Nothing was written yet"),
        "{prompt_text}"
    );
    assert_eq!((world.read("pager.py"), ran.code), (after, Some(0)));
    world.write("pager.py", &before);
    // Sent again it is refused again: a policy does not accept it, and nobody is there.
    let ran = task(&world, SMALL, &["--approve", "edits", &prompt], &[part, part, "I see."]).await;
    assert_eq!(world.read("pager.py"), before, "{:?}", ran.notices());
    let empty = "Here is the file:\n\n```\npager.py\n```\n";
    let ran = task(&world, SMALL, &["--approve", "edits", &prompt], &[empty, "Done."]).await;
    assert_eq!((world.read("pager.py"), &ran.done()["changed"]), (before, &json!(0)));
}

/// Point 10: labels, quotes and line numbers round a path are no part of its name.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_path_is_read_with_any_marks_around_it() {
    let text = real("01_py_pager/reply.whole.txt");
    let fence = text.strip_prefix("pager.py\n").expect("a path first");
    for dressed in [
        "File: `pager.py`",
        "path: \"pager.py:12\"",
        "**pager.py**:",
        "./: pager.py",
        "“pager.py”",
        "_pager.py_",
        "pager.py#L5",
    ] {
        let (world, prompt, after) = pager();
        let reply = format!("{dressed}\n{fence}");
        let ran = task(&world, SMALL, &["--approve", "edits", &prompt], &[&reply, "Done."]).await;
        assert_eq!((world.read("pager.py"), ran.code), (after, Some(0)), "{dressed}");
        let names: Vec<_> =
            std::fs::read_dir(world.root()).expect("a folder").flatten().map(|e| e.file_name()).collect();
        assert!(
            names.iter().all(|name| !name.to_string_lossy().contains([':', '`', '"', '”', '#'])),
            "{dressed}: {names:?}"
        );
        assert!(!world.has("_pager.py_"), "{dressed}");
    }
}

/// Point 11: what stands is done already, the second identical refusal ends the turn, and repetition is cut.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_model_that_loops_is_stopped() {
    let (world, prompt, after) = pager();
    let call = first("01_py_pager/replies.tools-guard.json");
    let ran = task(&world, UNKNOWN, &["--approve", "edits", &prompt], &[&call, &call, &call]).await;
    assert_eq!(ran.requests.len(), 2, "{:?}", ran.notices());
    assert!(ran.notices().iter().any(|notice| notice.starts_with("the same was refused twice")), "{:?}", ran.notices());
    assert_eq!(ran.code, Some(1));
    let list = json!({"name": "list", "arguments": {"path": "."}}).to_string();
    let both = format!("{}\n\n{list}\n", real("01_py_pager/reply.whole.txt"));
    let ran = task(&world, SMALL, &["--approve", "edits", &prompt], &[&both, &both, "Done."]).await;
    // The same text once more changes nothing and counts as done.
    assert_eq!((world.read("pager.py"), &ran.done()["changed"], ran.code), (after, &json!(1), Some(0)));
    let written = json!({"name": "writeFile", "arguments": {"path": "new.py", "content": "x = 1\n"}}).to_string();
    let ran =
        task(&world, UNKNOWN, &["--format", "tools", "--approve", "edits", "Go"], &[&written, &written, "Done."]).await;
    let format_notices = ran.last_message(ran.requests.len() - 1);
    assert!(format_notices.contains("already done"), "{format_notices}");
    assert_eq!((world.read("new.py").as_str(), ran.code), ("x = 1\n", Some(0)));
    let endless =
        "I will now write the function again, with the change that the task asks for, and check each line of it.\n";
    let ran = task(&world, SMALL, &["--approve", "edits", &prompt], &[&endless.repeat(300)]).await;
    assert!(ran.done()["error"].as_str().is_some_and(|why| why.contains("repeated itself")), "{}", ran.done());
    let most = ran.requests[0]["max_tokens"].as_u64().expect("a limit");
    assert!((4_096..=16_384).contains(&most), "{most}");
}

/// Point 12: a turn that should have changed a file and did not says so; the person may have it count as a failure.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_turn_that_changes_nothing_is_reported() {
    let (world, prompt, after) = pager();
    let idle =
        "Both bugs come from rounding:\n\n```python\nimport math\npages = math.ceil(25 / 10)\nprint(pages)\n```\n";
    let ran = task(&world, UNKNOWN, &["--approve", "edits", "What is wrong in it?"], &[idle]).await;
    assert!(ran.notices().iter().any(|notice| notice.starts_with("no file was changed")), "{:?}", ran.notices());
    assert_eq!((&ran.done()["changed"], ran.code), (&json!(0), Some(0)));
    let ran =
        task(&world, SMALL, &["--approve", "edits", "--expect-change", &prompt], &["It is fine.", "It is."]).await;
    assert_eq!((ran.requests.len(), ran.code), (2, Some(1)));
    let nudge = ran.last_message(1);
    assert!(nudge.contains("No file was changed") && nudge.contains("complete new text"), "{nudge}");
    let whole = real("01_py_pager/reply.whole.txt");
    let words = ["--approve", "edits", "--expect-change", &prompt];
    let ran = task(&world, SMALL, &words, &["It is fine.", &whole]).await;
    assert_eq!((world.read("pager.py"), ran.code), (after, Some(0)));
    let stats = nebula(&world, &["stats", "--json"]).await;
    let rows: Vec<Value> = serde_json::from_slice(&stats.stdout).expect("a list");
    let small = |row: &&Value| row["model"] == SMALL.0;
    assert_eq!(rows.iter().filter(small).filter_map(|row| row["nudged"].as_u64()).sum::<u64>(), 2, "{rows:?}");
}

/// Points 11 and 12: a file that is sent as it is a second time ends the turn; the model is asked once more, less strictly.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_that_stays_as_it_is_twice_ends_the_turn() {
    let (world, prompt, after) = pager();
    let same = format!("pager.py\n```python\n{}```\n", world.read("pager.py"));
    let whole = real("01_py_pager/reply.whole.txt");
    let words = ["--approve", "edits", "--expect-change", &prompt];
    let ran = task(&world, SMALL, &words, &[&same, &same, &whole]).await;
    assert_eq!((world.read("pager.py"), ran.requests.len(), ran.code), (after, 3, Some(0)), "{:?}", ran.notices());
    assert!(ran.notices().iter().any(|notice| notice.contains("wrote pager.py twice as it is")), "{:?}", ran.notices());
    assert!(ran.last_message(1).contains("Begin with \"I will:\""), "{}", ran.last_message(1));
    let temperatures: Vec<_> = ran.requests.iter().map(|request| request["temperature"].as_f64()).collect();
    assert_eq!(temperatures, [Some(0.0), Some(0.0), Some(0.6)]);
}

/// Point 11: a model that is asked once more and sends the file as it is yet again is not asked a fourth time; one that first
/// said nothing of the file is.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_that_stays_as_it_is_after_the_nudge_ends_the_task() {
    let (world, prompt, after) = pager();
    let same = format!("pager.py\n```python\n{}```\n", world.read("pager.py"));
    let whole = real("01_py_pager/reply.whole.txt");
    let words = ["--approve", "edits", "--expect-change", &prompt];
    let ran = task(&world, SMALL, &words, &[&same, &same, &same, &whole]).await;
    assert_eq!((ran.requests.len(), ran.code, &ran.done()["changed"]), (3, Some(1), &json!(0)), "{:?}", ran.notices());
    let ran = task(&world, SMALL, &words, &["It is fine.", &same, &whole]).await;
    assert_eq!((world.read("pager.py"), ran.requests.len(), ran.code), (after, 3, Some(0)), "{:?}", ran.notices());
}

/// A window that a server names in a refusal is remembered: the next run is asked for what fits it at once.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_window_that_a_refusal_names_is_remembered() {
    let world = World::new();
    let list = || answer("200 OK", "content-type: application/json\r\n", &json!({"data": [{"id": "m"}]}).to_string());
    let no = || answer("404 Not Found", "", "");
    let words = "This model's maximum context length is 4096 tokens. However, you requested 5200 tokens.";
    let refused = json!({"error": {"message": words, "code": "context_length_exceeded"}}).to_string();
    let refused = answer("400 Bad Request", "content-type: application/json\r\n", &refused);
    let scripts = vec![list(), no(), no(), refused, streamed("One."), list(), no(), no(), streamed("Two.")];
    let server = MockServer::start(scripts).await;
    configure(&world, &server, "m");
    for wanted in ["One.", "Two."] {
        let output = nebula(&world, &["task", "--continue", "Hello"]).await;
        assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), wanted, "{output:?}");
    }
    let limits: Vec<_> = server.seen().into_iter().filter(|seen| seen.line.starts_with("POST")).collect();
    let known: Vec<bool> = limits.iter().map(|seen| seen.body["max_tokens"].is_u64()).collect();
    assert_eq!(known, [false, true, true]);
}

/// Point 10: a block that was not read beside an edit that was is mentioned; the edit alone is not.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_block_that_was_not_read_is_mentioned_beside_an_edit() {
    let (_, _, after) = pager();
    let whole = real("01_py_pager/reply.whole.txt");
    let more =
        format!("{whole}\n\nAnd the tests:\n\n```python\nimport pager\n\ndef test_one():\n    assert pager\n```\n");
    for (reply, mentioned) in [(&whole, false), (&more, true)] {
        let (world, prompt, _) = pager();
        let ran = task(&world, SMALL, &["--approve", "edits", &prompt], &[reply]).await;
        assert_eq!(world.read("pager.py"), after);
        let said = ran.notices().iter().any(|text| text.contains("a code block was not read as an edit"));
        assert_eq!((said, ran.done()["changed"].as_u64()), (mentioned, Some(1)), "{:?}", ran.notices());
    }
}

/// Point 10: a whole file in a call that is written as text, or in an object, is a whole file; an object of a file that is not
/// known is mentioned.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_whole_file_in_a_call_is_taken_as_one() {
    let (_, _, after) = pager();
    for (name, model) in [("writeFile", SMALL), ("editFile", SMALL), ("writeFile", UNKNOWN)] {
        let (world, prompt, _) = pager();
        let key = if name == "editFile" { "new_content" } else { "content" };
        let call = json!({"name": name, "arguments": {"path": "pager.py", key: after.as_str()}});
        let ran =
            task(&world, model, &["--approve", "edits", &prompt], &[&format!("```json\n{call}\n```\n"), "Done."]).await;
        assert_eq!(
            (world.read("pager.py"), ran.done()["changed"].as_u64()),
            (after.clone(), Some(1)),
            "{:?}",
            ran.events
        );
    }
    let (world, prompt, _) = pager();
    let object = |path: &str| json!({"path": path, "content": after}).to_string();
    let ran = task(&world, SMALL, &["--approve", "edits", &prompt], &[&object("pager.py")]).await;
    assert_eq!((world.read("pager.py"), ran.done()["changed"].as_u64()), (after.clone(), Some(1)));
    let (world, prompt, before) = (pager().0, prompt, pager().0.read("pager.py"));
    let ran = task(&world, SMALL, &["--approve", "edits", &prompt], &[&object("another.py")]).await;
    assert_eq!((world.read("pager.py"), ran.done()["changed"].as_u64()), (before, Some(0)));
    assert!(ran.notices().iter().any(|text| text.contains("no file was changed")), "{:?}", ran.notices());
}

/// Tags around a file's text are none of it, a name in a sentence takes no file away from its text, and a text that prose says
/// is of a new file is never written over another one.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_whole_file_is_written_where_it_belongs() {
    let (_, _, after) = pager();
    let fenced = format!("```python\n{after}```\n");
    for model in [SMALL, UNKNOWN] {
        for reply in [
            format!("<file path=\"pager.py\">\n<content>\n{after}</content>\n</file>\n"),
            format!("Here is the updated code using `math.ceil`:\n\n{fenced}"),
            format!("No need to touch `setup.cfg`:\n\n{fenced}"),
        ] {
            let (world, prompt, _) = pager();
            let ran = task(&world, model, &["--approve", "edits", &prompt], &[&reply, "Done."]).await;
            assert_eq!(world.read("pager.py"), after, "{reply}: {:?}", ran.notices());
        }
        let (world, prompt, before) = (pager().0, pager().1, pager().0.read("pager.py"));
        let reply = format!("Create a file named `pages.py`.\n\nPut this in it:\n\n{fenced}");
        let ran = task(&world, model, &["--approve", "edits", &prompt], &[&reply, "Done."]).await;
        assert_eq!((world.read("pager.py"), world.has("pages.py")), (before, false), "{:?}", ran.notices());
    }
}

/// A file that a model which makes its changes by calls only displays is not written; a question that a small model answers with
/// the file as it is does not ask it for a change.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_that_is_only_displayed_stays() {
    let world = World::new().file("s.py", "\"\"\"Sums.\"\"\"\n\n\ndef add(a, b):\n    return a + b\n");
    let edit = json!({"path": "s.py", "search": "return a + b", "replace": "return b + a"});
    let shown = "The file now looks like this:\n\n```python\ndef add(a, b):\n    return b + a\n```\n";
    let answers = vec![called("replaceInFile", edit), streamed(shown)];
    let ran = answered(&world, UNKNOWN, &["--approve", "edits", "Swap them in @s.py"], answers).await;
    let after = "\"\"\"Sums.\"\"\"\n\n\ndef add(a, b):\n    return b + a\n";
    assert_eq!((world.read("s.py"), ran.requests.len()), (after.to_string(), 2), "{:?}", ran.events);

    let (world, _, _) = pager();
    let before = world.read("pager.py");
    let same = format!("pager.py\n```python\n{before}```\n");
    let ran =
        task(&world, SMALL, &["--approve", "edits", "what does @pager.py do?"], &[&same, "It pages.", "Yes."]).await;
    let asked_for_change =
        (1..ran.requests.len()).any(|request| ran.last_message(request).contains("change is missing"));
    assert_eq!((world.read("pager.py"), asked_for_change), (before, false), "{:?}", ran.events);
}

/// A whole file under the bare name of a file in a folder, or under its name in other letters, is that file: in every format.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_whole_file_under_a_name_that_is_nearly_right_is_that_file() {
    let lines: Vec<String> = (0..20).map(|i| format!("v{i} = {i}\n")).collect();
    let (before, after) = (lines.concat(), lines.concat().replace("v7 = 7", "v7 = 70"));
    for (path, name) in [("a/b/f.py", "f.py"), ("Calc.py", "calc.py"), ("caf\u{e9}.py", "cafe\u{301}.py")] {
        for format in ["whole", "blocks"] {
            let world = World::new().file(path, &before);
            let reply = format!("{name}\n```python\n{after}```\n");
            let prompt = format!("Change @{path}");
            let ran = task(&world, SMALL, &["--format", format, "--approve", "all", &prompt], &[&reply]).await;
            assert_eq!(world.read(path), after, "{name} in {format}: {:?}", ran.notices());
            assert!(path == "Calc.py" || !world.has(name), "{name} in {format}");
            assert_eq!(ran.done()["changed"], 1);
        }
    }
}

/// An absolute path above a whole file is that of the file in the workspace.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_whole_file_under_its_absolute_path_is_read() {
    let lines: Vec<String> = (0..20).map(|i| format!("v{i} = {i}\n")).collect();
    let (before, after) = (lines.concat(), lines.concat().replace("v7 = 7", "v7 = 70"));
    for format in ["blocks", "whole"] {
        let world = World::new().file("a.py", &before);
        let reply = format!("{}\n```python\n{after}```\n", world.root().join("a.py").display());
        let ran = task(&world, SMALL, &["--format", format, "--approve", "all", "Change @a.py"], &[&reply]).await;
        assert_eq!(world.read("a.py"), after, "{format}: {:?}", ran.notices());
    }
}

/// A file that a small model replaces without having read it is shown with the refusal: sent again, its text counts.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_that_was_not_read_is_shown_with_the_refusal() {
    let (before, after) = ("def add(a, b):\n    return a - b\n", "def add(a, b):\n    return a + b\n");
    let reply = format!("calc.py\n```python\n{after}```\n");
    for format in ["whole", "blocks", "patch"] {
        let world = World::new().file("calc.py", before);
        let words = ["--format", format, "--approve", "all", "Fix the sum"];
        let ran = task(&world, SMALL, &words, &[&reply, &reply]).await;
        let told = ran.last_message(1);
        let shown = format!(
            "has not been read as it is now. It is below: send its whole new text, with the change.\n\ncalc.py\n```python\n{before}```\n"
        );
        assert!(told.contains(&shown), "{format}: {told}");
        assert_eq!((world.read("calc.py").as_str(), ran.code), (after, Some(0)), "{format}: {:?}", ran.notices());
    }
    // In the next session turn it is known, too: what is resumed is what was told.
    let world = World::new().file("calc.py", before);
    task(&world, SMALL, &["--approve", "all", "Fix the sum"], &[&reply, "I am not sure."]).await;
    assert_eq!(world.read("calc.py"), before);
    let ran = task(&world, SMALL, &["--continue", "--approve", "all", "Do it"], &[&reply]).await;
    assert_eq!((world.read("calc.py").as_str(), ran.requests.len()), (after, 1), "{:?}", ran.notices());
    // What may hold keys, what is long, and what lies where nothing is written is not shown.
    let long = "x = 1\n".repeat(400);
    let world = World::new().file(".env", "KEY=secret\n").file("long.py", &long).file(".git/config", "[core]\n");
    std::os::unix::fs::symlink("/etc/passwd", world.root().join("link.txt")).expect("a link");
    for (path, hidden) in [
        (".env", "KEY=secret"),
        ("long.py", "x = 1\nx = 1"),
        (".git/config", "[core]"),
        ("link.txt", "root:"),
        ("/etc/passwd", "root:"),
    ] {
        let reply = format!("{path}\n```\ny = 1\n```\n");
        let ran = task(&world, SMALL, &["--approve", "all", "Fix it"], &[&reply, &reply]).await;
        assert!(!ran.last_message(1).contains(hidden), "{}", ran.last_message(1));
        assert_eq!((world.read(".env").as_str(), world.read("long.py").as_str()), ("KEY=secret\n", long.as_str()));
    }
}

/// A file that is not UTF-8 cannot be written whole: its model is asked for blocks.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_that_is_not_utf8_is_changed_by_blocks() {
    let world = World::new();
    std::fs::write(world.root().join("a.py"), b"# \xe9\ny = 2\n").expect("written");
    let reply = "a.py\n<<<<<<< SEARCH\ny = 2\n=======\ny = 5\n>>>>>>> REPLACE\n";
    let ran = task(&world, SMALL, &["--approve", "edits", "Change @a.py"], &[reply]).await;
    assert!(ran.last_message(0).contains("SEARCH"), "{}", ran.last_message(0));
    assert_eq!(std::fs::read(world.root().join("a.py")).expect("read"), b"# \xe9\ny = 5\n", "{:?}", ran.notices());
    // Text that would come into it as UTF-8 is for a person to decide.
    let reply = "a.py\n<<<<<<< SEARCH\ny = 5\n=======\ny = \"\u{fc}\"\n>>>>>>> REPLACE\n";
    task(&world, SMALL, &["--approve", "edits", "Change @a.py"], &[reply, "Fine."]).await;
    assert_eq!(std::fs::read(world.root().join("a.py")).expect("read"), b"# \xe9\ny = 5\n");
}

/// A whole file that was read as an edit and applied is no block that was not read.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_applied_file_in_a_titled_fence_is_no_unread_block() {
    let lines: Vec<String> = (0..20).map(|i| format!("v{i} = {i}\n")).collect();
    let (before, after) = (lines.concat(), lines.concat().replace("v7 = 7", "v7 = 70"));
    for format in ["blocks", "patch", "lines", "xml"] {
        let world = World::new().file("calc.py", &before);
        let reply = format!("Here it is:\n\n```python calc.py\n{after}```\n");
        let ran = task(&world, SMALL, &["--format", format, "--approve", "all", "Change @calc.py"], &[&reply]).await;
        assert_eq!(world.read("calc.py"), after, "{format}");
        assert!(!ran.notices().iter().any(|text| text.contains("not read as an edit")), "{:?}", ran.notices());
    }
}

/// A new file in a fence is a file where edits are written as text. Where calls are expected it is named at the end of the
/// turn and in the last line, and the model is told beside an edit that was read.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_new_file_in_a_fence_is_made_or_named() {
    let lines: Vec<String> = (0..20).map(|i| format!("v{i} = {i}\n")).collect();
    let (before, after) = (lines.concat(), lines.concat().replace("v7 = 7", "v7 = 70"));
    let new = "tests/test_calc.py\n```python\nimport calc\n```\n";
    for format in ["whole", "blocks", "xml", "patch", "lines"] {
        let world = World::new().file("calc.py", &before);
        let words = ["--format", format, "--approve", "edits", "Test @calc.py"];
        let ran = task(&world, UNKNOWN, &words, &[new]).await;
        assert!(world.has("tests/test_calc.py"), "{format}: {:?}", ran.notices());
        assert_eq!((world.read("tests/test_calc.py").as_str(), ran.code), ("import calc\n", Some(0)), "{format}");
    }
    let world = World::new().file("calc.py", &before);
    let ran = task(&world, UNKNOWN, &["--approve", "edits", "Test @calc.py"], &[new]).await;
    let said = "no file was changed. The answer holds text for tests/test_calc.py";
    assert!(ran.notices().iter().any(|notice| notice.starts_with(said)), "{:?}", ran.notices());
    assert!(ran.done()["note"].as_str().is_some_and(|note| note.starts_with(said)), "{}", ran.done());
    assert_eq!((world.has("tests/test_calc.py"), ran.code), (false, Some(0)));
    let both = format!("calc.py\n```python\n{after}```\n\n{new}");
    let ran = task(&world, UNKNOWN, &["--approve", "edits", "Fix and test @calc.py"], &[&both, new]).await;
    assert!(ran.last_message(1).contains("it is none of the files that were read"), "{}", ran.last_message(1));
    // By then the model is known to write text.
    assert_eq!((world.read("calc.py"), world.read("tests/test_calc.py")), (after, "import calc\n".into()));
}

/// A name with a space is that of the file which has it, not of one that is called like its end.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_name_with_a_space_means_no_file_of_its_end() {
    let file = "a = 1\nb = 2\nc = 3\n";
    let new = "New folder/m.py\n```python\na = 1\nb = 5\nc = 3\n```\n";
    for format in ["whole", "blocks"] {
        let world = World::new().file("New folder/m.py", file).file("folder/m.py", file);
        let words = ["--format", format, "--approve", "edits", "Fix it, see @folder/m.py"];
        task(&world, UNKNOWN, &words, &[new, "Done."]).await;
        assert_eq!(world.read("folder/m.py"), file, "{format}");
    }
    let world = World::new().file("New folder/m.py", file);
    task(&world, UNKNOWN, &["--format", "whole", "--approve", "edits", "Fix it"], &[new, "Done."]).await;
    assert!(!world.has("folder/m.py"));
    let world = World::new().file("calc.py", file);
    let quoted = "`My Project/new.py`\n```python\nx = 1\n```\n";
    let ran = task(&world, UNKNOWN, &["--format", "whole", "--approve", "edits", "Make it"], &[quoted]).await;
    assert_eq!((world.read("My Project/new.py").as_str(), ran.code), ("x = 1\n", Some(0)));
    let long: String = (0..20).map(|i| format!("v{i} = {i}\n")).collect();
    let world = World::new().file("calc.py", &long);
    let changed = long.replace("v7 = 7", "v7 = 70");
    let both = format!("calc.py\n```python\n{changed}```\n\nmy new mod.py\n```python\nx = 1\n```\n");
    let ran = task(&world, UNKNOWN, &["--approve", "edits", "Fix @calc.py"], &[&both, "Done."]).await;
    let said = format!("{} {:?}", ran.done(), ran.notices());
    assert!(said.contains("my new mod.py") && !world.has("mod.py"), "{said}");
}

/// The edits of one answer are one proposal: the reason for what is certain in it says so.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_certain_edit_beside_a_guess_is_refused_with_the_true_reason() {
    let part = "import os\n\n\ndef one():\n    return 1\n\n\ndef two():\n    return 2\n";
    let world = World::new().file("m.py", "a = 1\nb = 2\nc = 3\n").file("p.py", part);
    let answer = "m.py\n```python\na = 1\nb = 5\nc = 3\n```\n\np.py\n```python\ndef two():\n    return 22\n```\n";
    let words = ["--format", "whole", "--approve", "edits", "Fix @m.py and @p.py"];
    let ran = task(&world, UNKNOWN, &words, &[answer, "Done."]).await;
    let why =
        "a place in p.py is a guess: only a person may approve it, and nobody is there; the files of one proposal";
    assert!(ran.notices().iter().any(|notice| notice.starts_with(why)), "{:?}", ran.notices());
    assert_eq!((world.read("p.py").as_str(), ran.code), (part, Some(3)));
}

/// A whole file whose rest stands in another block of the answer is a part of it: the model is asked for all of it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_in_two_blocks_is_asked_for_in_one() {
    let file = "\"\"\"Doc.\"\"\"\n\n\ndef f():\n    return 1\n\n\ndef g():\n    return 2\n\n\ndef h():\n    return 3\n";
    let after = file.replace("return 2", "return 20");
    let (first, rest) = after.split_once("\n\ndef h").expect("two parts");
    for above in ["and the rest:\n", "calc.py (continued)"] {
        let world = World::new().file("calc.py", file);
        let parts = format!("calc.py\n```python\n{first}```\n\n{above}\n```python\ndef h{rest}```\n");
        let whole = format!("calc.py\n```python\n{after}```\n");
        let words = ["--approve", "edits", "Fix @calc.py"];
        let ran = task(&world, SMALL, &words, &[&parts, &whole, "Done."]).await;
        let asked = ran.last_message(1);
        assert!(asked.contains("it leaves out h, which another block of the answer holds"), "{asked}");
        assert_eq!((world.read("calc.py"), ran.code), (after.clone(), Some(0)), "{above}");
        // Sent again it is refused again: a policy does not accept it, and nobody is there.
        let world = World::new().file("calc.py", file);
        task(&world, SMALL, &words, &[&parts, &parts, "I see."]).await;
        assert_eq!(world.read("calc.py"), file, "{above}");
    }
}

/// A definition under its file's path, or without one where one file is in play, is for a person to decide, in every format.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_definition_under_its_path_is_offered_in_every_format() {
    let file =
        "import os\n\n\ndef one():\n    return 1\n\n\ndef two():\n    return 2\n\n\ndef three():\n    return 3\n";
    let part = "calc.py\n```python\ndef two():\n    return 22\n```\n";
    let bare = "Change it so:\n```python\ndef two():\n    return 22\n```\n";
    let forms = [part, bare].map(|reply| ["tools", "auto", "blocks", "xml"].map(|format| (format, reply)));
    for (format, reply) in forms.into_iter().flatten() {
        let world = World::new().file("calc.py", file);
        let words = ["--format", format, "--approve", "edits", "Fix @calc.py"];
        let ran = task(&world, UNKNOWN, &words, &[reply, "I cannot do more."]).await;
        assert!(ran.events.iter().any(|event| event["type"] == "proposal"), "{format}: {:?}", ran.events);
        assert_eq!((world.read("calc.py").as_str(), ran.code), (file, Some(3)), "{format}");
    }
}

/// Several passages of a file under its path, of any language, are for a person to decide, in every format.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn several_passages_under_a_path_are_offered_in_every_format() {
    let python = "import os\n\n\ndef one():\n    return 1\n\n\ndef two():\n    return 2\n\n\ndef three():\n    return 3\n\n\ndef four():\n    return 4\n";
    let functions = "def one():\n    return 1\n\n\ndef two():\n    return 22\n";
    let css = "a {\n  color: red;\n}\n\nb {\n  color: blue;\n}\n\nc {\n  margin: 0;\n}\n";
    let rule = "b {\n  color: green;\n}\n";
    for (path, file, part) in [("calc.py", python, functions), ("s.css", css, rule)] {
        for format in ["whole", "tools", "auto", "blocks"] {
            let world = World::new().file(path, file);
            let prompt = format!("Fix @{path}");
            let words = ["--format", format, "--approve", "edits", &prompt];
            let reply = format!("{path}\n```\n{part}```\n");
            let ran = task(&world, UNKNOWN, &words, &[&reply, "I cannot do more."]).await;
            assert!(ran.events.iter().any(|event| event["type"] == "proposal"), "{path} {format}: {:?}", ran.events);
            assert_eq!((world.read(path).as_str(), ran.code), (file, Some(3)), "{path} {format}");
        }
    }
}

/// A block under the path of a file that has no certain place in it: the model is asked once more, and the end of the turn says
/// so where that is in vain.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_block_without_a_place_is_asked_for_once_more() {
    let file: String = (0..8).map(|n| format!("def f{n}():\n    return {n}\n\n\n")).collect();
    let part = "calc.py\n```python\nprint(f1())\nprint(f2())\n```\n";
    let whole = format!("calc.py\n```python\n{}```\n", file.replace("return 1", "return 11"));
    for format in ["tools", "auto", "blocks"] {
        let world = World::new().file("calc.py", &file);
        let words = ["--format", format, "--approve", "edits", "Fix @calc.py"];
        let ran = task(&world, UNKNOWN, &words, &[part, "I cannot.", "Unasked."]).await;
        assert_eq!((ran.requests.len(), world.read("calc.py")), (2, file.clone()), "{format}");
        assert!(ran.last_message(1).contains("calc.py: nothing was written. The block"), "{}", ran.last_message(1));
        let said = "no file was changed. The block for calc.py is neither";
        assert!(ran.notices().iter().any(|notice| notice.starts_with(said)), "{format}: {:?}", ran.notices());
        assert_eq!((&ran.done()["changed"], ran.code), (&json!(0), Some(0)), "{format}");
        let ran = task(&world, UNKNOWN, &words, &[part, &whole]).await;
        assert!(world.read("calc.py").contains("return 11"), "{format}: {:?}", ran.notices());
        assert!(!ran.notices().iter().any(|notice| notice.contains("was not read")), "{format}: {:?}", ran.notices());
    }
}

/// Beside edits that are made the model is asked once for a block of a file that is left as it is, and for a step without a place.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_part_of_an_answer_without_a_place_is_asked_for_beside_the_rest() {
    let file: String = (0..8).map(|n| format!("def f{n}():\n    return {n}\n\n\n")).collect();
    let (changed, toml) = (file.replace("return 1", "return 11"), "[package]\nname = \"a\"\n\n[dependencies]\n");
    let part = "First, in `Cargo.toml`:\n\n```toml\n[build-dependencies]\nclap = \"4\"\n```\n\n";
    let reply = format!("{part}Then `calc.py`:\n\ncalc.py\n```python\n{changed}```\n");
    let whole = format!("Cargo.toml\n```toml\n{toml}clap = \"4\"\n```\n");
    let words = ["--format", "whole", "--approve", "edits", "Use clap: @Cargo.toml @calc.py"];
    for (second, count) in [(whole.as_str(), 2), ("I cannot.", 1)] {
        let world = World::new().file("calc.py", &file).file("Cargo.toml", toml);
        let ran = task(&world, UNKNOWN, &words, &[&reply, second, "Unasked."]).await;
        assert_eq!((ran.requests.len(), world.read("calc.py")), (2, changed.clone()), "{:?}", ran.notices());
        assert!(ran.last_message(1).contains("Cargo.toml: a block of the answer"), "{}", ran.last_message(1));
        assert_eq!(ran.done()["changed"], json!(count), "{:?}", ran.notices());
        let said = ran.notices().iter().any(|notice| notice.contains("The block for Cargo.toml is neither"));
        assert_eq!(said, count == 1, "{:?}", ran.notices());
    }
}

/// Who only asks something is not asked for a change, and who wants the last one back reads how.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_that_stays_as_it_is_answers_a_question() {
    let file: String = (0..8).map(|n| format!("def f{n}():\n    return {n}\n\n\n")).collect();
    let same = format!("calc.py\n```python\n{file}```\n");
    let world = World::new().file("calc.py", &file);
    for prompt in ["What does f1 do? Do not change anything. @calc.py", "What does f1 do? @calc.py"] {
        let ran = task(&world, SMALL, &["--approve", "edits", prompt], &[&same, "Unasked."]).await;
        assert_eq!((ran.requests.len(), ran.code, &ran.done()["changed"]), (1, Some(0), &json!(0)), "{prompt}");
    }
    let ran = task(&world, SMALL, &["--approve", "edits", "undo that @calc.py"], &[&same, &same, "Unasked."]).await;
    assert_eq!((ran.requests.len(), &ran.done()["changed"]), (2, &json!(0)));
    assert!(ran.notices().iter().any(|notice| notice.contains("`nebula undo`")), "{:?}", ran.notices());
}

/// An answer that is nothing but a path is no end of a wish, and one of a question.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answer_of_a_path_alone_is_asked_for_its_text() {
    let file: String = (0..8).map(|n| format!("def f{n}():\n    return {n}\n\n\n")).collect();
    let whole = format!("calc.py\n```python\n{}```\n", file.replace("return 1", "return 11"));
    for alone in ["calc.py", "calc.py\n```python\n```\n"] {
        let world = World::new().file("calc.py", &file);
        let words = ["--format", "whole", "--approve", "edits", "Make f1 return 11 in @calc.py"];
        let ran = task(&world, UNKNOWN, &words, &[alone, alone, "Unasked."]).await;
        assert_eq!((ran.requests.len(), &ran.done()["changed"]), (2, &json!(0)), "{alone}");
        assert!(ran.last_message(1).contains("calc.py: nothing was written."), "{}", ran.last_message(1));
        let said = "no file was changed. The answer names calc.py and holds no text for it.";
        assert!(ran.notices().contains(&said), "{alone}: {:?}", ran.notices());
        let ran = task(&world, UNKNOWN, &words, &[alone, &whole]).await;
        assert!(world.read("calc.py").contains("return 11"), "{alone}: {:?}", ran.notices());
    }
    let world = World::new().file("calc.py", &file);
    let ran = task(&world, UNKNOWN, &["--approve", "edits", "Which file defines f1? @calc.py"], &["calc.py"]).await;
    assert_eq!((ran.requests.len(), ran.notices()), (1, Vec::new()));
}

/// A whole file that lacks a definition which nobody named is no certain one, and what names it is.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_whole_file_that_loses_one_definition_is_put_to_a_person() {
    let file: String = (0..8).map(|n| format!("def f{n}():\n    return {n}\n\n\n")).collect();
    let lost = file.replace("def f3():\n    return 3\n\n\n", "").replace("return 1\n", "return 11\n");
    let reply = format!("calc.py\n```python\n{lost}```\n");
    let world = World::new().file("calc.py", &file);
    for (prompt, written) in [
        ("Make f1 return 11", false),
        ("Make f1 return 11, and do not remove anything", false),
        ("Make f1 return 11, f3 is fine", false),
        ("Make f1 return 11 and drop f3", true),
    ] {
        let words = ["--format", "whole", "--approve", "edits", &format!("{prompt} @calc.py")];
        let ran = task(&world, UNKNOWN, &words, &[&reply, "I cannot."]).await;
        assert_eq!(world.read("calc.py"), if written { &lost } else { &file }.clone(), "{prompt}: {:?}", ran.notices());
        if !written {
            assert!(ran.last_message(1).contains("it leaves out f3"), "{}", ran.last_message(1));
        }
    }
}

/// What the person wanted in an earlier turn counts where the next one only agrees to it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_turn_that_only_agrees_wants_what_the_one_before_it_does() {
    let file: String = (0..8).map(|n| format!("def f{n}():\n    return {n}\n\n\n")).collect();
    let lost = file.replace("def f3():\n    return 3\n\n\n", "");
    let reply = format!("calc.py\n```python\n{lost}```\n");
    for (again, written) in [("yes, go on @calc.py", true), ("make f1 faster @calc.py", false)] {
        let world = World::new().file("calc.py", &file);
        let words = ["--format", "whole", "--approve", "edits", "Remove f3 from @calc.py"];
        let ran = task(&world, UNKNOWN, &words, &["It is used nowhere. Shall I do it?"]).await;
        let session = ran.events.iter().find(|event| event["type"] == "session").expect("a session");
        let id = session["id"].as_str().expect("an id").to_string();
        let words = ["--format", "whole", "--approve", "edits", "--resume", &id, again];
        let ran = task(&world, UNKNOWN, &words, &[&reply, "I cannot."]).await;
        assert_eq!(world.read("calc.py"), if written { &lost } else { &file }.clone(), "{again}: {:?}", ran.notices());
    }
}

/// Dots that stand for what is left out are never written by a policy, and a file without text is made where one is wanted.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn dots_are_not_written_and_a_file_without_text_is() {
    let json = "{\n  \"version\": \"1.0.0\",\n  \"files\": []\n}\n";
    let scripts = "a.json\n<<<<<<< SEARCH\n  \"version\": \"1.0.0\",\n=======\n  \"version\": \"2.0.0\",\n  \"scripts\": { ... },\n>>>>>>> REPLACE\n";
    let ci = "ci.yml\n```yaml\non: push\njobs:\n  ...\n```\n";
    let js = "new.js\n```js\nconst a = 1;\n// ... existing code ...\n```\n";
    for (format, reply) in [("blocks", scripts), ("whole", ci), ("whole", js)] {
        let world = World::new().file("a.json", json);
        let words = ["--format", format, "--approve", "edits", "Add what is missing @a.json"];
        let ran = task(&world, UNKNOWN, &words, &[reply, "I cannot.", "I cannot."]).await;
        assert_eq!((world.read("a.json").as_str(), ran.done()["changed"].as_u64()), (json, Some(0)), "{reply}");
        assert!(!world.root().join("ci.yml").exists() && !world.root().join("new.js").exists(), "{reply}");
    }
    let world = World::new().file("a.json", json);
    let words = ["--format", "whole", "--approve", "edits", "make an empty file new.py"];
    let ran = task(&world, UNKNOWN, &words, &["new.py\n```python\n```\n"]).await;
    assert_eq!((world.read("new.py").as_str(), ran.requests.len(), ran.notices()), ("", 1, Vec::new()));
}

/// A line under the path of a file makes a heading of it, of a new file as of one that is there.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_underlined_path_heads_a_file() {
    for line in ["=====", "-----", "=============="] {
        for format in ["whole", "blocks"] {
            let world = World::new().file("calc.py", "x = 1\n");
            let reply =
                format!("pkg/new.py\n{line}\n```python\ny = 1\n```\n\ncalc.py\n{line}\n\n```python\nx = 2\n```\n");
            let words = ["--format", format, "--approve", "edits", "Add to @calc.py"];
            let ran = task(&world, UNKNOWN, &words, &[&reply, "Done."]).await;
            assert!(world.has("pkg/new.py"), "{line} {format}: {:?}", ran.notices());
            let files = ["pkg/new.py", "calc.py"].map(|path| world.read(path));
            assert_eq!(files, ["y = 1\n", "x = 2\n"], "{line} {format}");
        }
    }
}

/// What was changed stands although something else was refused again and again.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_task_in_which_a_part_is_refused_twice_is_refused_in_part() {
    let lines: Vec<String> = (0..20).map(|i| format!("v{i} = {i}\n")).collect();
    let (before, after) = (lines.concat(), lines.concat().replace("v7 = 7", "v7 = 70"));
    // Too long to be shown with the refusal.
    let page = "<p>a</p>\n".repeat(400);
    let world = World::new().file("calc.py", &before).file("index.html", &page);
    let reply = format!("index.html\n```html\n<p>b</p>\n```\n\ncalc.py\n```python\n{after}```\n");
    let ran = task(&world, SMALL, &["--approve", "edits", "Fix @calc.py"], &[&reply, &reply]).await;
    assert_eq!((world.read("calc.py"), world.read("index.html")), (after, page));
    let done = ran.done();
    assert_eq!((&done["reason"], &done["changed"], ran.code), (&json!("refused"), &json!(1), Some(3)), "{done}");
}

/// An edit that leaves its file as it is counts no lines.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_edit_without_a_change_shows_no_lines() {
    let (world, prompt, _) = pager();
    let same = format!("pager.py\n```python\n{}```\n", world.read("pager.py"));
    let list = json!({"data": [{"id": SMALL.0, "max_model_len": SMALL.1}]}).to_string();
    let list = answer("200 OK", "content-type: application/json\r\n", &list);
    let server = MockServer::start(vec![list, streamed(&same), streamed("It is fine.")]).await;
    configure(&world, &server, SMALL.0);
    let output = nebula(&world, &["task", "--approve", "edits", &prompt]).await;
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    let line = told.lines().find(|line| line.contains("no change")).expect("a line of the edit");
    assert!(line.contains("pager.py") && !line.contains('+'), "{told}");
}

/// A small file under its path is whole in the very first answer of an unknown model, and so is a document with fences in it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_whole_file_is_written_whatever_the_format() {
    let json = "{\n  \"name\": \"x\",\n  \"scripts\": {\n    \"a\": \"1\"\n  }\n}\n";
    let readme = "# Tool\n\nIt does things.\n\n```bash\nmake install\n```\n\n## Use\n\n```\ntool --help\n```\n\nMIT, see LICENSE.\n";
    for (path, before, from, to) in [("package.json", json, "\"1\"", "\"2\""), ("README.md", readme, "things", "more")]
    {
        let after = before.replace(from, to);
        for format in ["auto", "tools", "whole", "blocks"] {
            let world = World::new().file(path, before);
            let (reply, prompt) = (format!("{path}\n```\n{after}```\n"), format!("Fix @{path}"));
            let words = ["--format", format, "--approve", "edits", &prompt];
            let ran = task(&world, UNKNOWN, &words, &[&reply, "Done."]).await;
            assert_eq!((world.read(path), ran.code), (after.clone(), Some(0)), "{path} {format}: {:?}", ran.notices());
            assert_eq!(ran.done()["changed"], json!(1), "{path} {format}");
        }
    }
}

/// A whole file in the very first answer of an unknown model lands although its end changes and only a sentence, or nothing,
/// names it: once is enough.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_whole_file_under_a_sentence_lands_with_another_end() {
    let file = "\"\"\"Sums.\"\"\"\n\n\ndef add(a, b):\n    return a + b\n\n\ndef sub(a, b):\n    return a - b\n\n\ndef div(a, b):\n    return a / b\n";
    let appended = format!("{file}\n\ndef mul(a, b):\n    return a * b\n");
    for head in ["To do this, update `sums.py` as follows:", "Here is the updated code:"] {
        for after in [appended.clone(), file.replace("a / b", "a // b")] {
            let world = World::new().file("sums.py", file);
            let reply = format!("{head}\n\n```python\n{after}```\n\nRun it with:\n\n```bash\npython sums.py\n```\n");
            let ran = task(&world, UNKNOWN, &["--approve", "edits", "Change @sums.py"], &[&reply, "Done."]).await;
            assert_eq!((world.read("sums.py"), ran.code), (after, Some(0)), "{head}: {:?}", ran.notices());
            assert_eq!(ran.done()["changed"], json!(1), "{head}");
        }
    }
    // A part that a sentence names is none.
    let world = World::new().file("sums.py", file);
    let part = file.split_once("\n\n\ndef div").expect("an end").0.replace("a + b", "b + a");
    let reply = format!("Update `sums.py` as follows:\n\n```python\n{part}\n```\n");
    task(&world, UNKNOWN, &["--approve", "edits", "Change @sums.py"], &[&reply, "Done."]).await;
    assert_eq!(world.read("sums.py"), file);
}

/// A line of a file below a sentence that names it is for a person to decide; one without a place is named at the end.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_line_under_a_sentence_is_offered_or_named() {
    let file = "TAX = 0.2\n\n\nclass A:\n    def total(self):\n        return 1\n\n\nclass B:\n    def total(self):\n        return 2\n";
    let reply = |block: &str| format!("To do this, update `shop.py` as follows:\n\n```python\n{block}\n```\n");
    let words = ["--approve", "edits", "Set the tax in @shop.py"];
    let world = World::new().file("shop.py", file);
    let ran = task(&world, UNKNOWN, &words, &[&reply("TAX = 0.19"), "I cannot do more."]).await;
    assert!(ran.events.iter().any(|event| event["type"] == "proposal"), "{:?}", ran.events);
    assert_eq!((world.read("shop.py").as_str(), ran.code), (file, Some(3)));
    let world = World::new().file("shop.py", file);
    let method = reply("    def total(self):\n        return 3");
    let ran = task(&world, UNKNOWN, &words, &[&method, "I cannot.", "Unasked."]).await;
    assert_eq!((ran.requests.len(), world.read("shop.py").as_str()), (2, file));
    let said = "no file was changed. The block for shop.py is neither";
    assert!(ran.notices().iter().any(|notice| notice.starts_with(said)), "{:?}", ran.notices());
}

/// An answer that nobody was there to approve and that is written when it comes again is no refusal of the task.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_task_whose_refused_edit_is_made_after_all_is_done() {
    let before = "import sys\n\na = 1\nb = 2\nc = 3\nd = 4\nprint(a)\n";
    let after = before.replace("print(a)\n", "");
    let world = World::new().file("calc.py", before);
    let reply = format!("calc.py\n```python\n{after}```\n");
    let ran = task(&world, UNKNOWN, &["--approve", "edits", "Fix @calc.py"], &[&reply, &reply, "Done."]).await;
    let told = ran.requests[1].to_string();
    assert!(told.contains("it was rejected") && !told.contains("the person rejected"), "{told}");
    assert_eq!((world.read("calc.py"), ran.code), (after, Some(0)), "{:?}", ran.notices());
    let world = World::new().file("calc.py", before);
    let ran = task(&world, UNKNOWN, &["--approve", "edits", "Fix @calc.py"], &[&reply, "I see."]).await;
    assert_eq!((world.read("calc.py").as_str(), ran.code), (before, Some(3)));
}

/// A path that may mean two files is asked about: neither is written.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_name_of_two_files_is_asked_about_in_every_format() {
    let file = "import os\n\n\ndef f():\n    return 1\n\n\ndef g():\n    return 2\n\n\ndef h():\n    return 3\n";
    let reply = format!("a.py\n```python\n{}```\n", file.replace("return 2", "return 20"));
    for other in [file.to_string(), file.replace("return 3", "return 4").replace("return 1", "return 5")] {
        for format in ["auto", "whole", "blocks", "patch"] {
            let world = World::new().file("x/a.py", file).file("y/a.py", &other);
            let words = ["--format", format, "--approve", "edits", "Fix g in @y/a.py like @x/a.py"];
            let ran = task(&world, UNKNOWN, &words, &[&reply, "I cannot.", "I cannot."]).await;
            assert_eq!([world.read("x/a.py"), world.read("y/a.py")], [file.to_string(), other.clone()], "{format}");
            assert!(!world.has("a.py"), "{format}");
            let told = ran.requests[1].to_string();
            assert!(told.contains("it may be x/a.py or y/a.py"), "{format}: {told}");
        }
    }
}

/// A block for a file that is not UTF-8 is not said to be for a file that was not read.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_block_for_a_file_that_is_not_utf8_is_named_with_the_reason() {
    let world = World::new();
    std::fs::write(world.root().join("m.py"), b"# \xe9\nx = 1\ny = 2\n").expect("written");
    let reply = "m.py\n```python\n# \u{e9}\nx = 1\ny = 5\n```\n";
    let ran = task(&world, UNKNOWN, &["--approve", "edits", "Fix @m.py"], &[reply, "Done."]).await;
    let is_true = |notice: &&str| notice.contains("text for m.py, which is not text that can be rewritten");
    assert!(ran.notices().iter().any(is_true), "{:?}", ran.notices());
    assert!(!ran.notices().iter().any(|notice| notice.contains("has not read")), "{:?}", ran.notices());
    // Beside another file, all are named.
    let reply = format!("t.py\n```python\nx = 1\n```\n\n{reply}");
    let ran = task(&world, UNKNOWN, &["--approve", "edits", "Fix @m.py"], &[&reply, "Done."]).await;
    assert!(ran.notices().iter().any(|notice| notice.contains("text for t.py, m.py, which")), "{:?}", ran.notices());
}

/// The one definition that is left of a file is asked about, and never said to change nothing.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_of_which_one_definition_is_left_raises_a_question() {
    let (a, b) = ("def a():\n    return 1\n", "def b():\n    return 2\n");
    let both = format!("{a}\n\n{b}");
    let world = World::new().file("ab.py", &both);
    let reply = format!("ab.py\n```python\n{a}```\n");
    let words = ["--approve", "edits", "Remove the function b from @ab.py"];
    let ran = task(&world, SMALL, &words, &[&reply, &reply, "I see."]).await;
    assert!(ran.last_message(1).contains("it leaves out 1 of the file's 2 definitions"), "{}", ran.last_message(1));
    // Nobody is there to decide: the same again ends the turn, and the model is not invited to it.
    assert!(!ran.last_message(1).contains("same text again"), "{}", ran.last_message(1));
    assert_eq!((world.read("ab.py"), ran.requests.len(), ran.code), (both.clone(), 2, Some(1)), "{:?}", ran.notices());
    // What moves to another file of the answer is not lost.
    let reply = format!("b.py\n```python\n{b}```\n\n{reply}");
    let ran = task(&world, SMALL, &["--approve", "edits", "Move b from @ab.py to b.py"], &[&reply, "Done."]).await;
    assert_eq!([world.read("ab.py"), world.read("b.py")], [a, b], "{:?}", ran.notices());
}

/// An edit that names no file is made in the one of those attached that has its lines.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_edit_without_a_path_is_made_where_its_lines_stand() {
    let calc = "RATE = 0.2\n\n\ndef f():\n    return RATE\n";
    let diff = "```diff\n-RATE = 0.2\n+RATE = 0.25\n```\n";
    let numbered = "```diff\n--- original\n+++ modified\n@@ -1 +1 @@\n-RATE = 0.2\n+RATE = 0.25\n```\n";
    let block = "```python\n<<<<<<< SEARCH\nRATE = 0.2\n=======\nRATE = 0.25\n>>>>>>> REPLACE\n```\n";
    for (format, reply) in [("whole", diff), ("patch", diff), ("whole", numbered), ("blocks", block), ("whole", block)]
    {
        let world = World::new().file("calc.py", calc).file("shop.py", "TAX = 1\n");
        let words = ["--format", format, "--approve", "edits", "Raise the rate in @calc.py beside @shop.py"];
        let ran = task(&world, SMALL, &words, &[reply, "Done."]).await;
        assert_eq!(world.read("calc.py"), calc.replace("0.2", "0.25"), "{format} {reply} {:?}", ran.notices());
        assert_eq!(world.read("shop.py"), "TAX = 1\n");
    }
}
