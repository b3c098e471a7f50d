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
        assert!(out.contains("ollama pull") && asked(&server).is_empty(), "{out}");
    }
}
