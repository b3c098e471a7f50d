//! `nebula task` against servers of several formats: what is believed of a window, and what a failure says for programs.

use std::process::{Command, Output, Stdio};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;

use super::fake::{FakeServer, Plan, read_request};
use crate::support::mock_server::{Act, MockServer, answer, chunked, saying};
use crate::support::world::World;

async fn task(world: &World, server: &MockServer, wire: &str, prompt: &str) -> Output {
    task_with(world, server, wire, prompt, json!({})).await
}

/// Runs a task with what is configured of models.
async fn task_with(world: &World, server: &MockServer, wire: &str, prompt: &str, models: Value) -> Output {
    run(world, &server.url(), wire, &[prompt], models).await
}

/// Runs `nebula task --json` with these words, the server at this address being the configured one.
pub(super) async fn run(world: &World, url: &str, wire: &str, words: &[&str], models: Value) -> Output {
    std::fs::create_dir_all(world.home().join(".nebula")).expect("made");
    let config = json!({
        "provider": "mine", "model": "m", "models": models,
        "providers": {"mine": {"wire": wire, "baseUrl": url, "model": "m", "apiKeyEnv": "MINE_API_KEY"}},
    });
    std::fs::write(world.home().join(".nebula/config.json"), config.to_string()).expect("written");
    let mut command = Command::new(env!("CARGO_BIN_EXE_nebula"));
    command
        .args(["task", "--json"])
        .args(words)
        .env_clear()
        .env("HOME", world.home())
        .env("MINE_API_KEY", "sk-very-secret");
    command.current_dir(world.root()).stdin(Stdio::null());
    tokio::task::spawn_blocking(move || command.output().expect("it runs")).await.expect("no panic")
}

pub(super) fn json_answer(body: &str) -> Vec<Act> {
    answer("200 OK", "content-type: application/json\r\n", body)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_window_that_a_server_lists_is_believed_before_anything_is_sent() {
    let server = MockServer::start(vec![json_answer(r#"{"data":[{"id":"m","max_model_len":16384}]}"#)]).await;
    let world = World::new().file("large.txt", &"a line of words\n".repeat(16_000));
    let done = task(&world, &server, "chat", "@large.txt what is it?").await;
    let says = String::from_utf8_lossy(&done.stdout).into_owned() + &String::from_utf8_lossy(&done.stderr);
    assert!(says.contains("larger than the model's context window"), "{says}");
    let lines: Vec<String> = server.seen().into_iter().map(|seen| seen.line).collect();
    assert_eq!(lines, ["GET /v1/models"]);
}

/// Answers each request for a chat with a call, until one keeps to the window of the list, which comes behind the first
/// of them. Notes the limits of output.
async fn serve_late_list(listener: TcpListener, limits: Arc<Mutex<Vec<Value>>>) {
    let asked = Arc::new(Semaphore::new(0));
    while let Ok((mut stream, _)) = listener.accept().await {
        let (asked, limits) = (Arc::clone(&asked), Arc::clone(&limits));
        tokio::spawn(async move {
            while let Some((path, body)) = read_request(&mut stream).await {
                let (kind, text) = if path.ends_with("/chat/completions") {
                    let number = {
                        let mut limits = limits.lock().expect("no panic under it");
                        limits.push(body["max_tokens"].clone());
                        limits.len()
                    };
                    asked.add_permits(1);
                    let arguments = json!({"keyword": format!("word{number}")}).to_string();
                    let function = json!({"name": "searchInDirectory", "arguments": arguments});
                    let call = json!([{"index": 0, "id": format!("c{number}"), "function": function}]);
                    let (delta, why) = match body["max_tokens"].is_u64() || number > 60 {
                        true => (json!({"content": "Done."}), "stop"),
                        false => (json!({"tool_calls": call}), "tool_calls"),
                    };
                    let chunk = json!({"choices": [{"index": 0, "delta": delta, "finish_reason": why}]});
                    ("text/event-stream", format!("data: {chunk}\n\ndata: [DONE]\n\n"))
                } else {
                    drop(asked.acquire().await);
                    ("application/json", json!({"data": [{"id": "m", "max_model_len": 16_384}]}).to_string())
                };
                let head = format!("HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ncontent-length: {}\r\n\r\n", text.len());
                if stream.write_all((head + &text).as_bytes()).await.is_err() {
                    return;
                }
            }
        });
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_list_of_models_that_comes_late_holds_nothing_up_and_counts_from_then_on() {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let url = format!("http://{}/v1", listener.local_addr().expect("an address"));
    let limits = Arc::new(Mutex::new(Vec::new()));
    let server = tokio::spawn(serve_late_list(listener, Arc::clone(&limits)));
    let done = run(&World::new(), &url, "chat", &["hi"], json!({})).await;
    server.abort();
    assert_eq!(done.status.code(), Some(0), "{}", String::from_utf8_lossy(&done.stderr));
    let limits = limits.lock().expect("no panic under it");
    assert!(limits[0].is_null(), "{limits:?}");
    assert!(limits.last().and_then(Value::as_u64).is_some_and(|most| most < 16_384), "{limits:?}");
}

/// The template of the model opened the thought: only the closing tag comes, when a draft has been shown already.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_draft_before_a_closing_tag_is_thought_and_not_carried_out() {
    let block =
        |value: u32| format!("a.py\n<<<<<<< SEARCH\n    return 1\n=======\n    return {value}\n>>>>>>> REPLACE\n");
    let whole = "a.py\n```python\ndef f():\n    return 777\n```\n";
    for (format, text, wanted) in [
        ("blocks", format!("Let me draft:\n\n{}\nNo.\n</think>\n\n{}", block(999), block(20)), "return 20"),
        ("whole", format!("Draft:\n\n{whole}</think>\n\nNothing needs to change."), "return 1"),
    ] {
        let letters: Vec<char> = text.chars().collect();
        let pieces = letters.chunks(7).map(|piece| {
            let delta = json!({"choices": [{"index": 0, "delta": {"content": piece.iter().collect::<String>()}}]});
            format!("data: {delta}\n\n")
        });
        let streamed = pieces.collect::<String>() + &saying("");
        let said = || chunked(saying("Done.").as_bytes(), 100);
        let list = json_answer(r#"{"data":[{"id":"m","max_model_len":30000}]}"#);
        let server = MockServer::start(vec![list, chunked(streamed.as_bytes(), 50), said(), said()]).await;
        let world = World::new().file("a.py", "def f():\n    return 1\n");
        let words = ["--approve", "edits", "--format", format, "fix @a.py"];
        let done = run(&world, &server.url(), "chat", &words, json!({})).await;
        assert_eq!(done.status.code(), Some(0), "{}", String::from_utf8_lossy(&done.stderr));
        let out = String::from_utf8_lossy(&done.stdout);
        assert_eq!(world.read("a.py"), format!("def f():\n    {wanted}\n"), "{format}: {out}");
        let lines = out.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
        let thought: String =
            lines.filter(|l| l["type"] == "thinking").filter_map(|l| Some(l["text"].as_str()?.to_string())).collect();
        assert!(thought.contains("raft:\n\na.py"), "{out}");
    }
}

/// The window of a resumed session's own model is believed, whichever model is configured.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_window_of_a_resumed_session_is_that_of_its_model() {
    let server = FakeServer::start().await;
    server.list(json!({"data": [{"id": "m", "max_model_len": 16_384}, {"id": "other", "max_model_len": 8_192}]}));
    server.plan(Plan { text: "Hello.".into(), ..Plan::default() });
    let world = World::new();
    for words in [&["--model", "other", "hi"][..], &["--continue", "again"]] {
        let done = run(&world, &server.url(), "chat", words, json!({})).await;
        assert_eq!(done.status.code(), Some(0), "{}", String::from_utf8_lossy(&done.stderr));
    }
    let limits: Vec<_> =
        server.seen().into_iter().map(|(_, body)| (body["model"].clone(), body["max_tokens"].clone())).collect();
    assert_eq!(limits.len(), 2);
    assert!(
        limits.iter().all(|(model, most)| model == "other" && most.as_u64().is_some_and(|most| most < 8_192)),
        "{limits:?}"
    );
}

/// The flag names the provider alone: its model is its own, and the session is left with both.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_that_goes_on_with_another_provider_asks_for_a_model_of_that_one() {
    let server = FakeServer::start().await;
    server.plan(Plan { thinks: true, text: "Hello.".into(), ..Plan::default() });
    let (world, url) = (World::new(), server.url());
    for words in [&["hi"][..], &["--continue", "--provider", "other", "again"], &["--continue", "and again"]] {
        std::fs::create_dir_all(world.home().join(".nebula")).expect("made");
        let config = json!({"provider": "mine", "providers": {
            "mine": {"wire": "chat", "baseUrl": url, "model": "m"},
            "other": {"wire": "anthropic", "baseUrl": url, "model": "m2"},
        }});
        std::fs::write(world.home().join(".nebula/config.json"), config.to_string()).expect("written");
        let mut command = Command::new(env!("CARGO_BIN_EXE_nebula"));
        command.arg("task").args(words).env_clear().env("HOME", world.home());
        command.current_dir(world.root()).stdin(Stdio::null());
        let done = tokio::task::spawn_blocking(move || command.output().expect("it runs")).await.expect("no panic");
        assert_eq!(done.status.code(), Some(0), "{words:?}: {}", String::from_utf8_lossy(&done.stderr));
    }
    let asked: Vec<_> = server.seen().into_iter().map(|(wire, body)| (wire, body["model"].clone())).collect();
    let of = |wire: &str, model: &str| (wire.to_string(), json!(model));
    assert_eq!(asked, [of("chat", "m"), of("anthropic", "m2"), of("anthropic", "m2")]);
    assert_eq!(server.wrong(), Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_window_that_is_configured_is_not_requested_unless_a_file_goes_with_the_message() {
    let said = || chunked(saying("Hello.").as_bytes(), 100);
    let list = || json_answer(r#"{"data":[{"id":"m","max_model_len":16384}]}"#);
    for (prompt, scripts, wanted) in [
        ("hi", vec![said()], vec!["POST /v1/chat/completions"]),
        ("@a.txt hi", vec![list(), said()], vec!["GET /v1/models", "POST /v1/chat/completions"]),
    ] {
        let server = MockServer::start(scripts).await;
        let world = World::new().file("a.txt", "a\n");
        let done = task_with(&world, &server, "chat", prompt, json!({"m": {"contextWindow": 9000}})).await;
        assert_eq!(done.status.code(), Some(0), "{}", String::from_utf8_lossy(&done.stderr));
        let lines: Vec<String> = server.seen().into_iter().map(|seen| seen.line).collect();
        assert_eq!(lines, wanted);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_failure_names_its_kind_status_and_request() {
    for (wire, list) in [
        ("anthropic", r#"{"data":[{"id":"m","max_input_tokens":9000}]}"#),
        ("gemini", r#"{"models":[{"name":"models/m","inputTokenLimit":9000}]}"#),
    ] {
        let refusal = json!({"error": {"type": "authentication_error", "message": "no such key sk-very-secret"}});
        let refused = answer("401 Unauthorized", "request-id: req_7\r\n", &refusal.to_string());
        let server = MockServer::start(vec![json_answer(list), refused]).await;
        let world = World::new();
        let done = task(&world, &server, wire, "hi").await;
        let out = String::from_utf8_lossy(&done.stdout).into_owned();
        let last: Value = serde_json::from_str(out.lines().last().expect("a line")).expect("JSON");
        assert_eq!((&last["reason"], &last["kind"]), (&json!("failed"), &json!("key")), "{out}");
        assert_eq!((&last["status"], &last["requestId"]), (&json!(401), &json!("req_7")), "{out}");
        let error = format!("127.0.0.1:{} rejected the key (401): MINE_API_KEY", server.port());
        assert_eq!((&last["error"], done.status.code()), (&json!(error), Some(1)));
        assert!(!out.contains("sk-very-secret") && !String::from_utf8_lossy(&done.stderr).contains("sk-very-secret"));
    }
}

/// The same words about another request are another notice.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_request_that_is_tried_again_is_told_with_its_id() {
    let call = json!([{"index": 0, "id": "c1", "function": {"name": "list", "arguments": "{\"path\": \".\"}"}}]);
    let call = json!({"choices": [{"index": 0, "delta": {"tool_calls": call}, "finish_reason": "tool_calls"}]});
    let called = chunked(format!("data: {call}\n\ndata: [DONE]\n\n").as_bytes(), 400);
    let busy = |id: &str| answer("429 Too Many Requests", &format!("retry-after-ms: 1\r\nrequest-id: {id}\r\n"), "{}");
    let said = chunked(saying("Done.").as_bytes(), 100);
    let server = MockServer::start(vec![busy("req_1"), called, busy("req_2"), said]).await;
    let world = World::new();
    let done = task_with(&world, &server, "chat", "hi", json!({"m": {"contextWindow": 30_000}})).await;
    let out = String::from_utf8_lossy(&done.stdout).into_owned();
    let lines = out.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    let ids: Vec<Value> = lines.filter(|l| l["type"] == "notice").map(|line| line["requestId"].clone()).collect();
    assert_eq!(ids, ["req_1", "req_2"], "{out}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_wrong_name_of_a_model_is_answered_with_the_nearest() {
    let list = r#"{"data":[{"id":"gpt-mini"},{"id":"mm"},{"id":"m2"},{"id":"qwen-coder"},{"id":"claude"}]}"#;
    let refusal = json!({"error": {"code": "model_not_found", "message": "The model `m` does not exist"}});
    let refused = answer("404 Not Found", "x-request-id: req_9\r\n", &refusal.to_string());
    // Asked for before the request, probed for its window, refused, and asked for once more.
    let none = || answer("404 Not Found", "", "{}");
    let server = MockServer::start(vec![json_answer(list), none(), none(), refused, json_answer(list)]).await;
    let world = World::new();
    let done = task(&world, &server, "chat", "hi").await;
    let out = String::from_utf8_lossy(&done.stdout).into_owned();
    let lines: Vec<Value> = out.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let notice = lines.iter().find(|line| line["type"] == "notice").expect("a notice");
    assert_eq!(
        (&notice["kind"], &notice["status"], &notice["requestId"]),
        (&json!("model"), &json!(404), &json!("req_9"))
    );
    let wanted = format!(
        "there is no model m at 127.0.0.1:{} (404). The nearest on offer: m2, mm, gpt-mini. Choose another, or start with --model NAME.",
        server.port()
    );
    assert_eq!(notice["text"], wanted, "{out}");
    assert_eq!(lines.last().expect("a line")["kind"], "model");
}

/// What was refused can be looked at afterwards: its shape, and nothing of what it says.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_last_refused_request_is_shown_without_its_contents() {
    let list = r#"{"data":[{"id":"m","max_model_len":16384}]}"#;
    let refusal = json!({"error": {"message": "tools[0].name: too long"}});
    let refused = answer("400 Bad Request", "request-id: req_3\r\n", &refusal.to_string());
    let server = MockServer::start(vec![json_answer(list), refused]).await;
    let world = World::new();
    task(&world, &server, "chat", "a word nobody else writes").await;
    let show = |flags: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_nebula"));
        command.args(["doctor", "--last"]).args(flags).env_clear().env("HOME", world.home());
        let done = command.current_dir(world.root()).output().expect("it runs");
        assert_eq!(done.status.code(), Some(0));
        String::from_utf8_lossy(&done.stdout).into_owned()
    };
    let text = show(&[]);
    let shown_json: Value = serde_json::from_str(&show(&["--json"])).expect("JSON");
    assert!(!text.contains("a word nobody else writes") && !text.contains("sk-very-secret"), "{text}");
    assert!(text.contains("refuses the request (400)") && text.contains("tools[0].name: too long"), "{text}");
    assert_eq!(
        (&shown_json["status"], &shown_json["requestId"], &shown_json["wire"]),
        (&json!(400), &json!("req_3"), &json!("chat"))
    );
    assert_eq!(shown_json["request"]["messages"][0]["role"], "system");
    assert!(
        shown_json["request"]["messages"][1]["content"].as_str().is_some_and(|said| said.ends_with(" bytes")),
        "{shown_json}"
    );
}

/// What a flag chooses holds in a resumed session, and is what it is left with.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn mode_and_format_of_a_flag_hold_in_a_resumed_session() {
    let server = FakeServer::start().await;
    server.plan(Plan { text: "Hello.".into(), ..Plan::default() });
    let world = World::new();
    let turns =
        [&["hi"][..], &["--continue", "--mode", "plan", "--format", "whole", "plan it"], &["--continue", "go on"]];
    let mut modes = Vec::new();
    for words in turns {
        let done = run(&world, &server.url(), "chat", words, json!({})).await;
        assert_eq!(done.status.code(), Some(0), "{}", String::from_utf8_lossy(&done.stderr));
        let first = String::from_utf8_lossy(&done.stdout).lines().next().map(str::to_string).expect("a line");
        modes.push(serde_json::from_str::<Value>(&first).expect("JSON")["mode"].clone());
    }
    assert_eq!(modes, ["agent", "plan", "plan"]);
    let writes = |(_, body): &(String, Value)| body["tools"].to_string().contains("replaceInFile");
    assert_eq!(server.seen().iter().map(writes).collect::<Vec<_>>(), [true, false, false]);
    let done = run(&world, &server.url(), "chat", &["--continue", "--mode", "agent", "do it"], json!({})).await;
    assert_eq!(done.status.code(), Some(0));
    assert!(!writes(server.seen().last().expect("a request")), "the format stays");
}

/// A model that a flag names is asked of the session's own provider.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_model_of_a_flag_leaves_the_session_with_its_provider() {
    let (server, other) = (FakeServer::start().await, FakeServer::start().await);
    for server in [&server, &other] {
        server.plan(Plan { text: "Hello.".into(), ..Plan::default() });
    }
    let world = World::new();
    let words = [&["--provider", "own", "hi"][..], &["--continue", "--model", "m9", "again"]];
    for words in words {
        std::fs::create_dir_all(world.home().join(".nebula")).expect("made");
        let config = json!({"provider": "mine", "providers": {
            "mine": {"wire": "chat", "baseUrl": other.url(), "model": "m"},
            "own": {"wire": "anthropic", "baseUrl": server.url(), "model": "m2"},
        }});
        std::fs::write(world.home().join(".nebula/config.json"), config.to_string()).expect("written");
        let mut command = Command::new(env!("CARGO_BIN_EXE_nebula"));
        command.arg("task").args(words).env_clear().env("HOME", world.home());
        command.current_dir(world.root()).stdin(Stdio::null());
        let done = tokio::task::spawn_blocking(move || command.output().expect("it runs")).await.expect("no panic");
        assert_eq!(done.status.code(), Some(0), "{words:?}: {}", String::from_utf8_lossy(&done.stderr));
    }
    let asked: Vec<_> = server.seen().into_iter().map(|(wire, body)| (wire, body["model"].clone())).collect();
    assert_eq!(asked, [("anthropic".to_string(), json!("m2")), ("anthropic".to_string(), json!("m9"))]);
    assert_eq!(other.seen().len(), 0);
}

/// The newest session is open in another nebula: the one before goes on, and that is said.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_in_use_elsewhere_is_named_where_another_goes_on() {
    let server = FakeServer::start().await;
    server.plan(Plan { text: "Hello.".into(), ..Plan::default() });
    let world = World::new().model([vec![]]);
    for words in [&["older words"][..], &["newer words"]] {
        run(&world, &server.url(), "chat", words, json!({})).await;
    }
    let mut live = world.start();
    live.open(nebula::protocol::SessionChoice::Continue);
    live.until(|event| matches!(event, nebula::protocol::EventBody::Opened(_)).then_some(())).await;
    let done = run(&world, &server.url(), "chat", &["--continue", "again"], json!({})).await;
    let out = String::from_utf8_lossy(&done.stdout).into_owned();
    let lines = out.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    let notice = lines.into_iter().find(|line| line["type"] == "notice").expect("a notice");
    let text = notice["text"].as_str().expect("a text");
    assert!(text.contains("in use by another nebula: newer words") && text.contains("older words"), "{text}");
    live.close().await;
}

/// A model that takes no tools is asked once more without, in a text format; the next run knows it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_model_that_takes_no_tools_is_asked_for_text() {
    let vllm = r#""auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set"#;
    for (wire, status, words) in [
        ("chat", "400 Bad Request", vllm),
        ("chat", "400 Bad Request", "registry.ollama.ai/library/m does not support tools"),
        ("chat", "404 Not Found", "No endpoints found that support tool use. To learn more, visit a page."),
    ] {
        let refused = || answer(status, "", &json!({"error": {"message": words}}).to_string());
        let list = || json_answer(r#"{"data":[{"id":"m","max_model_len":30000}]}"#);
        let said = || chunked(saying("Done.").as_bytes(), 100);
        let server = MockServer::start(vec![list(), refused(), said(), list(), said()]).await;
        let world = World::new();
        let done = task(&world, &server, wire, "hi").await;
        let out = String::from_utf8_lossy(&done.stdout).into_owned();
        assert_eq!(done.status.code(), Some(0), "{out}");
        assert_eq!(out.matches("m takes no tools").count(), 1, "{out}");
        let again = task(&world, &server, wire, "hi").await;
        assert_eq!(again.status.code(), Some(0), "{}", String::from_utf8_lossy(&again.stdout));
        let asked = server.seen().into_iter().filter(|seen| seen.line.starts_with("POST"));
        let has_tools: Vec<bool> = asked.map(|seen| seen.body.get("tools").is_some()).collect();
        assert_eq!(has_tools, [true, false, false], "{words}");
    }
}

/// A connection that a configuration makes impossible, or that has no key, is told with its kind.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_hinders_a_connection_is_told_with_its_kind() {
    for (url, variable, wanted) in
        [("ftp://h/v1", "MINE_API_KEY", "settings"), ("https://h.example/v1", "NO_KEY", "key")]
    {
        let world = World::new();
        std::fs::create_dir_all(world.home().join(".nebula")).expect("made");
        let config = json!({"provider": "mine", "model": "m", "providers": {
            "mine": {"wire": "chat", "baseUrl": "http://127.0.0.1:9/v1", "apiKeyEnv": variable},
        }});
        let text = config.to_string().replace("http://127.0.0.1:9/v1", url);
        std::fs::write(world.home().join(".nebula/config.json"), text).expect("written");
        let mut command = Command::new(env!("CARGO_BIN_EXE_nebula"));
        command.args(["task", "--json", "hi"]).env_clear().env("HOME", world.home());
        command.current_dir(world.root()).stdin(Stdio::null()).env("OPENAI_BASE_URL", "");
        let done = tokio::task::spawn_blocking(move || command.output().expect("it runs")).await.expect("no panic");
        let out = String::from_utf8_lossy(&done.stdout).into_owned();
        let lines: Vec<Value> = out.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
        let kinds: Vec<_> = lines.iter().filter(|l| l["type"] == "notice" && l["level"] == "error").collect();
        assert!(!kinds.is_empty() && kinds.iter().all(|line| line["kind"] == wanted), "{url}: {out}");
    }
}

/// Refuses, in words without a number, what is longer than `most` bytes, and answers the rest at length. Notes each size.
async fn serve_narrow(listener: TcpListener, most: usize, sizes: Arc<Mutex<Vec<usize>>>) {
    while let Ok((mut stream, _)) = listener.accept().await {
        let sizes = Arc::clone(&sizes);
        tokio::spawn(async move {
            while let Some((path, body)) = read_request(&mut stream).await {
                let size = body.to_string().len();
                let (status, kind, text) = if !path.ends_with("/chat/completions") {
                    ("200 OK", "application/json", json!({"data": [{"id": "m"}]}).to_string())
                } else if size > most {
                    let words = json!({"message": "Input is too long for requested model."});
                    ("400 Bad Request", "application/json", words.to_string())
                } else {
                    let words = (0..200).map(|n| format!("w{} and {} more ", n * 7_919 % 1_000, n * 31 % 977));
                    ("200 OK", "text/event-stream", saying(&words.collect::<String>()))
                };
                if path.ends_with("/chat/completions") {
                    sizes.lock().expect("no panic under it").push(size);
                }
                let head =
                    format!("HTTP/1.1 {status}\r\ncontent-type: {kind}\r\ncontent-length: {}\r\n\r\n", text.len());
                if stream.write_all((head + &text).as_bytes()).await.is_err() {
                    return;
                }
            }
        });
    }
}

/// What was refused for its length without a number is not sent again by the next run, and no two runs in a row fail.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_length_that_was_refused_without_a_number_is_learnt_for_the_next_run() {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let url = format!("http://{}/v1", listener.local_addr().expect("an address"));
    let sizes = Arc::new(Mutex::new(Vec::new()));
    let server = tokio::spawn(serve_narrow(listener, 23_000, Arc::clone(&sizes)));
    let world = World::new();
    let mut failed = Vec::new();
    for turn in 0..9 {
        let prompt = format!("turn {turn}");
        let words: &[&str] = if turn == 0 { &[&prompt] } else { &["--continue", &prompt] };
        failed.push(run(&world, &url, "chat", words, json!({})).await.status.code() != Some(0));
    }
    server.abort();
    let sizes = sizes.lock().expect("no panic under it");
    assert!(sizes.iter().any(|size| *size > 23_000), "it was never refused: {sizes:?}");
    assert!(!failed.windows(2).any(|two| two == [true, true]), "{failed:?} {sizes:?}");
}
