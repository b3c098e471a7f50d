//! The parts of requests that stay the same from one to the next: with no named cause, one begins with what the one
//! before it consisted of, also after the session was resumed. And each session asks its own provider, whatever others
//! ask.

use std::collections::BTreeSet;
use std::sync::Arc;

use nebula::agent::AgentParts;
use nebula::protocol::{Command, EventBody, Item, SessionChoice, Setting};
use nebula::provider::Replay;
use serde_json::{Value, json};

use super::connected;
use super::fake::{FakeServer, Plan};
use crate::support::world::{Live, World};

/// Wire format, model, and the key of its list of messages.
const FORMATS: [(&str, &str, &str); 5] = [
    ("chat", "deepseek-chat", "messages"),
    ("responses", "gpt-5", "input"),
    ("anthropic", "claude-opus-4-6", "messages"),
    ("gemini", "gemini-3-pro", "contents"),
    ("ollama", "qwen3:30b", "messages"),
];
fn without_marks(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.remove("cache_control");
            fields.values_mut().for_each(without_marks);
        }
        Value::Array(items) => items.iter_mut().for_each(without_marks),
        _ => {}
    }
}

/// Returns the part before the messages, and each message, as they were sent. What stands behind them may differ: the limit of the
/// answer follows the room that is left.
pub fn beginning(mut body: Value, list: &str) -> (String, Vec<String>) {
    without_marks(&mut body);
    let fields = body.as_object_mut().expect("an object");
    let at = fields.keys().position(|name| name == list).expect("messages");
    let behind: Vec<String> = fields.keys().skip(at + 1).cloned().collect();
    behind.iter().for_each(|name| drop(fields.shift_remove(name)));
    let messages = fields.shift_remove(list).unwrap_or_default();
    let messages = messages.as_array().expect("a list").iter().map(Value::to_string).collect();
    (body.to_string(), messages)
}

/// Returns what a request says of the length of its answer.
fn limit(body: &Value) -> String {
    let fields = ["/max_tokens", "/max_output_tokens", "/generationConfig/maxOutputTokens", "/options/num_predict"];
    fields.iter().find_map(|field| body.pointer(field)).expect("a limit").to_string()
}

async fn turn(live: &mut Live, text: &str) {
    live.submit(text);
    live.until(|event| matches!(event, EventBody::TurnEnded(..)).then_some(())).await;
}

fn id(live: &Live) -> String {
    let opened = |event: &EventBody| match event {
        EventBody::Opened(info) => Some(info.id.clone()),
        _ => None,
    };
    live.events.iter().rev().find_map(opened).expect("a session")
}

fn started(world: &World, wire: &str, server: &FakeServer) -> Live {
    let unasked = Arc::new(Replay::from_steps(Vec::new()));
    let parts = AgentParts { provider: Some(connected(wire, &server.url())), ..world.parts(unasked.clone()) };
    world.start_with(parts, unasked)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn requests_begin_alike_across_steps_and_a_resume() {
    for (wire, model, list) in FORMATS {
        let server = FakeServer::start().await;
        let world = World::new().file("a.rs", "fn main() {}\n");
        let plan =
            |text: &str, calls| Plan { thinks: true, text: text.into(), calls, calls_once: true, ..Plan::default() };
        // In a small window the limit of the answer shrinks with each step.
        let config = json!({"models": {model: {"contextWindow": 8_000, "cacheMarks": true}}});
        std::fs::create_dir_all(world.home().join(".nebula")).expect("made");
        std::fs::write(world.home().join(".nebula/config.json"), config.to_string()).expect("written");
        let mut live = started(&world, wire, &server);
        live.send(Command::Set(Setting::Model(model.into())));
        server.plan(plan("I look.", 2));
        turn(&mut live, "Look at @a.rs").await;
        server.plan(plan("So it is.", 0));
        turn(&mut live, "And now?").await;
        let session = id(&live);
        live.close().await;
        let mut live = started(&world, wire, &server);
        live.open(SessionChoice::Resume(session));
        turn(&mut live, "Go on").await;
        live.close().await;
        assert_eq!(server.wrong(), Vec::<String>::new(), "{wire}");
        let seen: Vec<_> = server.seen().into_iter().map(|(_, body)| beginning(body, list)).collect();
        assert!(seen.len() >= 3, "{wire}: {}", seen.len());
        let limits: BTreeSet<String> = server.seen().iter().map(|(_, body)| limit(body)).collect();
        assert!(limits.len() > 1, "{wire}: the limit of the answer never differs: {limits:?}");
        for (at, pair) in seen.windows(2).enumerate() {
            assert_eq!(pair[0].0, pair[1].0, "{wire}: request {} differs beside its messages", at + 1);
            let (before, after) = (&pair[0].1, &pair[1].1);
            assert!(after.len() > before.len(), "{wire}");
            assert_eq!(before[..], after[..before.len()], "{wire}: request {}", at + 1);
        }
    }
}

/// A session that chose another provider does not take it to one that is under way; a resumed one asks its own again.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_session_asks_its_own_provider() {
    let (one, two) = (FakeServer::start().await, FakeServer::start().await);
    let world = World::new();
    let named = |server: &FakeServer| json!({"wire": "chat", "baseUrl": server.url(), "model": "m"});
    let config = json!({"provider": "one", "providers": {"one": named(&one), "two": named(&two)}});
    std::fs::create_dir_all(world.home().join(".nebula")).expect("made");
    std::fs::write(world.home().join(".nebula/config.json"), config.to_string()).expect("written");
    [&one, &two].into_iter().for_each(|server| server.plan(Plan { text: "so".into(), ..Plan::default() }));
    let begun = || {
        let unasked = Arc::new(Replay::from_steps(Vec::new()));
        let parts = AgentParts { provider: None, ..world.parts(unasked.clone()) };
        world.start_with(parts, unasked)
    };
    let counts = || (one.seen().len(), two.seen().len());
    let mut live = begun();
    turn(&mut live, "first").await;
    let first = id(&live);
    assert_eq!(counts(), (1, 0));
    live.open(SessionChoice::New);
    live.send(Command::Set(Setting::Model("two:m".into())));
    turn(&mut live, "second").await;
    let second = id(&live);
    assert_ne!(first, second);
    assert_eq!(counts(), (1, 1));
    live.open(SessionChoice::Resume(first.clone()));
    turn(&mut live, "first again").await;
    assert_eq!(counts(), (2, 1), "the first session asks its own");
    live.close().await;
    // The second provider was kept for the next run; the first session asks the one it was left with.
    let mut live = begun();
    live.open(SessionChoice::Resume(first));
    turn(&mut live, "once more").await;
    assert_eq!(counts(), (3, 1));
    live.close().await;
}

/// A model that the server does not list is named when it is chosen.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_model_that_is_not_offered_is_named() {
    let server = FakeServer::start().await;
    server.list(json!({"object": "list", "data": [{"id": "m"}, {"id": "m-2024-08-06"}, {"id": "small:latest"}]}));
    let world = World::new();
    let config = json!({
        "provider": "one",
        "providers": {"one": {"wire": "chat", "baseUrl": server.url(), "model": "m"}},
    });
    std::fs::create_dir_all(world.home().join(".nebula")).expect("made");
    std::fs::write(world.home().join(".nebula/config.json"), config.to_string()).expect("written");
    let unasked = Arc::new(Replay::from_steps(Vec::new()));
    let parts = AgentParts { provider: None, ..world.parts(unasked.clone()) };
    let told = |event: &EventBody| match event {
        EventBody::Added(_, Item::Notice(notice)) if notice.title.contains(" offers no ") => Some(notice.title.clone()),
        _ => None,
    };
    let mut live = world.start_with(parts, unasked);
    live.open(SessionChoice::New);
    // A tag that a list adds is no other model.
    live.send(Command::Set(Setting::Model("small".into())));
    live.send(Command::Set(Setting::Model("nope".into())));
    assert!(live.until(told).await.contains("offers no nope"), "of the first nothing is said");
    live.close().await;
}
