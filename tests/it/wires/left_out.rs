//! `nebula task` against servers that refuse a file or the length of an answer: what is left out, and how the session goes on.

use std::process::{Command, Stdio};

use serde_json::{Value, json};

use super::task::{json_answer, run};
use crate::support::mock_server::{Act, MockServer, answer, chunked, saying};
use crate::support::world::World;

const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x06\0\0\0";

fn refusal(status: &str, words: &str) -> Vec<Act> {
    let body = json!({"error": {"type": "invalid_request_error", "message": words}});
    answer(status, "content-type: application/json\r\n", &body.to_string())
}

fn said() -> Vec<Act> {
    chunked(saying("Hello.").as_bytes(), 100)
}

fn list() -> Vec<Act> {
    json_answer(r#"{"data":[{"id":"m"}]}"#)
}

/// A model that takes pictures, in a window that a few of them do not fill.
fn takes_images() -> Value {
    json!({"m": {"contextWindow": 100_000, "images": true}})
}

fn with_pictures(names: &[&str]) -> World {
    let world = World::new();
    for name in names {
        std::fs::write(world.root().join(name), PNG).expect("written");
    }
    world
}

/// The bodies of the requests for an answer.
fn asked(server: &MockServer) -> Vec<Value> {
    let all = server.seen().into_iter().filter(|seen| seen.line.starts_with("POST"));
    all.map(|seen| seen.body).collect()
}

fn pictures(body: &Value) -> usize {
    body["messages"].to_string().matches("data:image/png").count()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_picture_that_a_server_refuses_is_left_out_and_named_and_the_session_goes_on() {
    for (status, words) in [
        ("400 Bad Request", "messages.0.content.1.image: Could not process image"),
        ("500 Internal Server Error", "image input is not supported"),
        ("404 Not Found", "No endpoints found that support image input"),
    ] {
        let server = MockServer::listing(list(), vec![refusal(status, words), said(), said()]).await;
        let world = with_pictures(&["i.png"]);
        let done = run(&world, &server.url(), "chat", &["look at @i.png"], takes_images()).await;
        let out = String::from_utf8_lossy(&done.stdout).into_owned();
        assert_eq!(done.status.code(), Some(0), "{words}: {out}");
        assert!(out.contains("does not take i.png: left out from now on") && out.contains(words), "{out}");
        let done = run(&world, &server.url(), "chat", &["--continue", "never mind"], takes_images()).await;
        let again = String::from_utf8_lossy(&done.stdout).into_owned();
        assert!(done.status.code() == Some(0) && !again.contains("left out from now on"), "{again}");
        let asked = asked(&server);
        assert_eq!(asked.iter().map(pictures).collect::<Vec<_>>(), [1, 0, 0], "{words}");
        let line = format!("[picture i.png: refused by the server: {words}]");
        assert!(asked[1..].iter().all(|body| body["messages"].to_string().contains(&line)), "{}", asked[2]);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_pictures_that_are_too_large_together_the_newest_is_sent() {
    let large = refusal("413 Payload Too Large", "Request exceeds the maximum size");
    let server = MockServer::listing(list(), vec![said(), large, said(), said()]).await;
    let world = with_pictures(&["i.png", "j.png"]);
    for words in [&["look at @i.png"][..], &["--continue", "and @j.png"], &["--continue", "so?"]] {
        let done = run(&world, &server.url(), "chat", words, takes_images()).await;
        assert_eq!(done.status.code(), Some(0), "{words:?}: {}", String::from_utf8_lossy(&done.stdout));
    }
    let asked = asked(&server);
    assert_eq!(asked.iter().map(pictures).collect::<Vec<_>>(), [1, 2, 1, 1]);
    let last = asked[3]["messages"].to_string();
    assert!(last.contains("[picture i.png: refused") && !last.contains("[picture j.png"), "{last}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_refusal_that_is_not_about_the_picture_leaves_it_in() {
    let no = || refusal("400 Bad Request", "this key is for another project");
    let server = MockServer::listing(list(), vec![no(), no(), said()]).await;
    let world = with_pictures(&["i.png"]);
    let done = run(&world, &server.url(), "chat", &["look at @i.png"], takes_images()).await;
    let out = String::from_utf8_lossy(&done.stdout).into_owned();
    assert!(done.status.code() == Some(1) && !out.contains("left out from now on"), "{out}");
    let done = run(&world, &server.url(), "chat", &["--continue", "again"], takes_images()).await;
    assert_eq!(done.status.code(), Some(0), "{}", String::from_utf8_lossy(&done.stdout));
    assert_eq!(asked(&server).iter().map(pictures).collect::<Vec<_>>(), [1, 0, 1]);
}

/// One failure of a gateway says nothing of a picture that the server has looked at.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_picture_that_a_server_took_stays_where_a_later_request_is_refused() {
    let odd = || refusal("400 Bad Request", "Some odd failure of the gateway");
    let once = vec![said(), odd(), said(), said()];
    // Where only a request without it is taken, it is left out for the turn alone.
    let twice = vec![said(), odd(), odd(), said(), said()];
    for (scripts, sent, left_out) in [(once, &[1, 1, 1, 1][..], false), (twice, &[1, 1, 1, 0, 1], true)] {
        let server = MockServer::listing(list(), scripts).await;
        let world = with_pictures(&["i.png"]);
        for words in [&["look at @i.png"][..], &["--continue", "and now?"], &["--continue", "so?"]] {
            let done = run(&world, &server.url(), "chat", words, takes_images()).await;
            let out = String::from_utf8_lossy(&done.stdout).into_owned();
            assert_eq!(done.status.code(), Some(0), "{words:?}: {out}");
            assert!(!out.contains("left out from now on"), "{out}");
            let says = out.contains("took the request only without i.png: left out of this turn");
            assert_eq!(says, left_out && words[1..] == ["and now?"], "{out}");
        }
        assert_eq!(asked(&server).iter().map(pictures).collect::<Vec<_>>(), sent);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_a_new_picture_and_one_that_was_taken_the_new_one_is_left_out() {
    let no = refusal("400 Bad Request", "something is wrong with the request");
    let server = MockServer::listing(list(), vec![said(), no, said(), said()]).await;
    let world = with_pictures(&["i.png", "j.png"]);
    for words in [&["look at @i.png"][..], &["--continue", "and @j.png"], &["--continue", "so?"]] {
        let done = run(&world, &server.url(), "chat", words, takes_images()).await;
        assert_eq!(done.status.code(), Some(0), "{words:?}: {}", String::from_utf8_lossy(&done.stdout));
    }
    let asked = asked(&server);
    assert_eq!(asked.iter().map(pictures).collect::<Vec<_>>(), [1, 2, 1, 1]);
    let last = asked[3]["messages"].to_string();
    assert!(last.contains("[picture j.png: refused") && !last.contains("[picture i.png"), "{last}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_picture_that_is_not_permitted_or_that_a_runner_dies_of_is_left_out() {
    let plan = || refusal("403 Forbidden", "your plan does not include that");
    let died = || refusal("500 Internal Server Error", "model runner has unexpectedly stopped");
    for (refusals, sent) in [
        (vec![plan()], &[1, 0, 0][..]),
        (vec![died(), died()], &[1, 1, 0, 0]),
        (vec![vec![Act::Close], vec![Act::Close]], &[1, 1, 0, 0]),
    ] {
        let server = MockServer::listing(list(), [refusals, vec![said(), said()]].concat()).await;
        let world = with_pictures(&["i.png"]);
        let done = run(&world, &server.url(), "chat", &["look at @i.png"], takes_images()).await;
        let out = String::from_utf8_lossy(&done.stdout).into_owned();
        assert_eq!(done.status.code(), Some(0), "{out}");
        assert!(out.contains("does not take i.png: left out from now on"), "{out}");
        let done = run(&world, &server.url(), "chat", &["--continue", "never mind"], takes_images()).await;
        assert_eq!(done.status.code(), Some(0), "{}", String::from_utf8_lossy(&done.stdout));
        assert_eq!(asked(&server).iter().map(pictures).collect::<Vec<_>>(), sent);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_key_without_rights_is_no_reason_to_leave_a_picture_out() {
    let no = || refusal("403 Forbidden", "this project is archived");
    let server = MockServer::listing(list(), vec![no(), no(), said()]).await;
    let world = with_pictures(&["i.png"]);
    let done = run(&world, &server.url(), "chat", &["look at @i.png"], takes_images()).await;
    let out = String::from_utf8_lossy(&done.stdout).into_owned();
    assert!(done.status.code() == Some(1) && out.contains("this project is archived"), "{out}");
    assert!(!out.contains("left out"), "{out}");
    let done = run(&world, &server.url(), "chat", &["--continue", "again"], takes_images()).await;
    assert_eq!(done.status.code(), Some(0), "{}", String::from_utf8_lossy(&done.stdout));
    assert_eq!(asked(&server).iter().map(pictures).collect::<Vec<_>>(), [1, 0, 1]);
}

/// The server counts the answer that is asked for into its window: a shorter answer fits, and nothing is summarised.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answer_that_is_too_long_beside_its_prompt_is_asked_for_shorter() {
    let words = "'max_tokens' or 'max_completion_tokens' is too large: 8192. This model's maximum context length is \
                 16384 tokens and your request has 9516 input tokens (8192 > 16384 - 9516). None";
    let server = MockServer::start(vec![refusal("400 Bad Request", words), said()]).await;
    let world = World::new();
    let models = json!({"m": {"contextWindow": 16_384}});
    let done = run(&world, &server.url(), "chat", &["hi"], models).await;
    assert_eq!(done.status.code(), Some(0), "{}", String::from_utf8_lossy(&done.stdout));
    let asked = asked(&server);
    assert_eq!(asked.len(), 2);
    assert_eq!(asked[0]["messages"], asked[1]["messages"]);
    let most = |body: &Value| body["max_tokens"].as_u64().expect("a limit");
    assert!(most(&asked[0]) > 6_868 && (4_000..=6_868).contains(&most(&asked[1])), "{} {}", asked[0], asked[1]);
}

/// The server's window is smaller than the configured one: its own word counts, also in later runs.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_window_that_is_configured_too_large_is_corrected_by_the_server() {
    let long = refusal("400 Bad Request", "prompt is too long: 19000 tokens > 16384 maximum");
    let mut scripts = vec![said(), said(), long];
    scripts.extend((0..6).map(|_| said()));
    let server = MockServer::listing(list(), scripts).await;
    let text = "some words of it\n".repeat(1_100);
    let world = World::new().file("a.txt", &text).file("b.txt", &text).file("c.txt", &text);
    let models = || json!({"m": {"contextWindow": 200_000}});
    let mut reported = Vec::new();
    for prompt in ["read @a.txt", "read @b.txt", "read @c.txt", "again", "and again"] {
        let words: &[&str] = if reported.is_empty() { &[prompt] } else { &["--continue", prompt] };
        let done = run(&world, &server.url(), "chat", words, models()).await;
        let out = String::from_utf8_lossy(&done.stdout).into_owned();
        assert_eq!(done.status.code(), Some(0), "{prompt}: {out}");
        reported.push(out.contains("less than models.m.contextWindow says (200,000)"));
    }
    assert_eq!(reported, [false, false, true, false, false]);
}

/// A prompt of more tokens than were estimated is made shorter by the server's own count.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_prompt_that_fits_only_beside_a_short_answer_is_sent() {
    let words = "'max_tokens' or 'max_completion_tokens' is too large: 4000. This model's maximum context length is \
                 8192 tokens and your request has 6956 input tokens (4000 > 8192 - 6956). None";
    let server = MockServer::start(vec![refusal("400 Bad Request", words), said()]).await;
    let models = json!({"m": {"contextWindow": 8_192, "maxOutput": 4_000}});
    let done = run(&World::new(), &server.url(), "chat", &["hi"], models).await;
    assert_eq!(done.status.code(), Some(0), "{}", String::from_utf8_lossy(&done.stdout));
    let asked = asked(&server);
    assert_eq!(asked.len(), 2);
    assert_eq!(asked[0]["messages"], asked[1]["messages"]);
    let most = asked[1]["max_tokens"].as_u64().expect("a limit");
    assert!((500..=8_192 - 6_956).contains(&most), "{}", asked[1]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_failure_with_a_cause_that_stays_is_not_tried_again() {
    let words = "model requires more system memory (40.2 GiB) than is available (12.1 GiB)";
    let server = MockServer::start(vec![refusal("500 Internal Server Error", words)]).await;
    let models = json!({"m": {"contextWindow": 16_384}});
    let done = run(&World::new(), &server.url(), "chat", &["hi"], models).await;
    let out = String::from_utf8_lossy(&done.stdout).into_owned();
    assert_eq!((done.status.code(), asked(&server).len()), (Some(1), 1), "{out}");
    assert!(out.contains(words) && !out.contains("overloaded"), "{out}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_ollama_without_a_model_to_write_with_is_named_and_not_asked() {
    for tags in [r#"{"models":[]}"#, r#"{"models":[{"model":"nomic-embed-text:latest"}]}"#] {
        let server = MockServer::start(vec![json_answer(tags)]).await;
        let world = World::new();
        let mut command = Command::new(env!("CARGO_BIN_EXE_nebula"));
        let address = format!("127.0.0.1:{}", server.port());
        command.args(["task", "--json", "--provider", "ollama", "hi"]).env_clear().env("HOME", world.home());
        command.env("OLLAMA_HOST", &address).current_dir(world.root()).stdin(Stdio::null());
        let done = tokio::task::spawn_blocking(move || command.output().expect("it runs")).await.expect("no panic");
        let out = String::from_utf8_lossy(&done.stdout).into_owned() + &String::from_utf8_lossy(&done.stderr);
        assert_ne!(done.status.code(), Some(0), "{out}");
        assert!(out.contains(&format!("Ollama answers at {address} and has no model")), "{out}");
        let is_answered = |body: &Value| body["messages"].is_array();
        assert!(out.contains("ollama pull") && !asked(&server).iter().any(is_answered), "{out}");
    }
}

/// Runs `nebula task` without a configured model; `variable` names the server.
async fn run_unconfigured(variable: (&'static str, String), flags: &'static [&'static str]) -> (Option<i32>, String) {
    let world = World::new();
    let mut command = Command::new(env!("CARGO_BIN_EXE_nebula"));
    command.args(["task", "--json", "hi"]).args(flags).env_clear().env("HOME", world.home());
    command.env(variable.0, variable.1).env("OPENAI_API_KEY", "k").current_dir(world.root()).stdin(Stdio::null());
    let done = tokio::task::spawn_blocking(move || command.output().expect("it runs")).await.expect("no panic");
    let out = String::from_utf8_lossy(&done.stdout).into_owned() + &String::from_utf8_lossy(&done.stderr);
    (done.status.code(), out)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_chat_server_that_lists_no_model_is_named_and_not_asked_for_one() {
    for list in [r#"{"data":[]}"#, r#"{"data":[{"id":"nomic-embed-text"},{"id":"whisper-1"}]}"#] {
        // The second one, where it is asked for the window of a model.
        let server = MockServer::listing(json_answer(list), vec![said(), said()]).await;
        let (code, out) = run_unconfigured(("OPENAI_BASE_URL", server.url()), &[]).await;
        assert!(code != Some(0) && out.contains("lists no model that writes text, and none is configured"), "{out}");
        assert!(out.contains("--model NAME") && asked(&server).is_empty(), "{out}");
        // Whoever names one is believed.
        let (code, out) = run_unconfigured(("OPENAI_BASE_URL", server.url()), &["--model", "m"]).await;
        assert_eq!(code, Some(0), "{out}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_an_ollama_says_of_a_model_counts_before_its_name() {
    let tags = r#"{"models":[{"model":"my-embedded-coder:7b"}]}"#;
    let shown = r#"{"capabilities":["completion","tools"],"model_info":{"qwen2.context_length":32768}}"#;
    let line = json!({"message": {"role": "assistant", "content": "Hello."}, "done": true, "done_reason": "stop"});
    let hello = answer("200 OK", "content-type: application/x-ndjson\r\n", &format!("{line}\n"));
    // It is asked about the one model when that is chosen, and for its window.
    let scripts = vec![json_answer(shown), json_answer(shown), hello];
    let server = MockServer::listing(json_answer(tags), scripts).await;
    let address = format!("127.0.0.1:{}", server.port());
    let (code, out) = run_unconfigured(("OLLAMA_HOST", address), &["--provider", "ollama"]).await;
    assert_eq!(code, Some(0), "{out}");
    let last = asked(&server).pop().expect("a request");
    assert!(last["messages"].is_array() && last["model"] == "my-embedded-coder:7b", "{last}");
}
