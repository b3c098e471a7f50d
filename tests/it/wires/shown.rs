//! The parts of an answer that a front end shows: what is said on the way, and thoughts that the server keeps to
//! itself.

use std::process::{Command, Output, Stdio};

use nebula::protocol::{EventBody, Item, SessionChoice, TurnEnd};
use nebula::provider::{Delta, EndReason, PartKind};
use serde_json::{Value, json};

use crate::support::mock_server::{MockServer, chunked};
use crate::support::world::{Live, World};

/// Runs a task against a server of Responses that gives this fixture's answer.
async fn task(fixture: &str, flags: &[&str]) -> Output {
    let path = format!("{}/tests/fixtures/streams/responses/{fixture}", env!("CARGO_MANIFEST_DIR"));
    let body = std::fs::read(path).expect("a fixture");
    let server = MockServer::start(vec![chunked(&body, 50)]).await;
    let world = World::new();
    std::fs::create_dir_all(world.home().join(".nebula")).expect("made");
    let provider = json!({"wire": "responses", "baseUrl": server.url(), "model": "m"});
    let models = json!({"m": {"contextWindow": 90_000}});
    let config = json!({"provider": "mine", "model": "m", "models": models, "providers": {"mine": provider}});
    std::fs::write(world.home().join(".nebula/config.json"), config.to_string()).expect("written");
    let mut command = Command::new(env!("CARGO_BIN_EXE_nebula"));
    command.arg("task").args(flags).arg("go").env_clear().env("HOME", world.home());
    command.current_dir(world.root()).stdin(Stdio::null());
    tokio::task::spawn_blocking(move || command.output().expect("it runs")).await.expect("no panic")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_said_on_the_way_is_no_answer_of_a_task() {
    let done = task("commentary.sse", &[]).await;
    let (out, err) = (String::from_utf8_lossy(&done.stdout), String::from_utf8_lossy(&done.stderr));
    assert_eq!(out, "It is 42.\n", "{err}");
    assert!(err.lines().any(|line| line == "I look it up."), "{err}");
    let done = task("commentary.sse", &["--json"]).await;
    let lines: Vec<Value> =
        String::from_utf8_lossy(&done.stdout).lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let said = |commentary: bool| -> String {
        let texts = lines.iter().filter(|line| line["type"] == "text");
        let texts = texts.filter(|line| line.get("commentary").is_some() == commentary);
        texts.filter_map(|line| line["text"].as_str()).collect()
    };
    assert_eq!((said(true).as_str(), said(false).as_str()), ("I look it up.", "It is 42."));
}

/// Returns the entries that are the model's.
fn said(items: impl IntoIterator<Item = Item>) -> Vec<Item> {
    let said = |item: &Item| matches!(item, Item::Answer { .. } | Item::Commentary { .. } | Item::Thinking { .. });
    let without_time = |item| match item {
        Item::Thinking { text, took } => Item::Thinking { text, took: took.map(|_| std::time::Duration::ZERO) },
        other => other,
    };
    items.into_iter().filter(said).map(without_time).collect()
}

fn items_of(live: &Live) -> Vec<Item> {
    let mut items = std::collections::BTreeMap::new();
    for event in &live.events {
        match event {
            EventBody::Added(id, item) | EventBody::Changed(id, item) => drop(items.insert(*id, item.clone())),
            EventBody::Grew(id, more) => {
                if let Some(Item::Answer { text } | Item::Commentary { text } | Item::Thinking { text, .. }) =
                    items.get_mut(id)
                {
                    text.push_str(more);
                }
            }
            _ => {}
        }
    }
    said(items.into_values())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn parts_are_shown_as_they_come_and_again_on_resume() {
    let seal = |kind, json: &str| Delta::Seal { kind, index: 0, json: json.into() };
    let text = |text: &str| Delta::Text(text.into());
    let hidden = |json: &str| vec![Delta::Part, seal(PartKind::Thinking, json), Delta::Part];
    let commentary = vec![
        Delta::Commentary,
        text("First I look."),
        seal(PartKind::Text, r#"{"type":"message","phase":"commentary"}"#),
        Delta::Part,
        text("\n\nIt is 42."),
        Delta::End(EndReason::Stop),
    ];
    let redacted = vec![
        Delta::Part,
        seal(PartKind::Other, r#"{"data":"x","type":"redacted_thinking"}"#),
        Delta::Part,
        seal(PartKind::Other, r#"{"data":"y","type":"redacted_thinking"}"#),
        text("Yes."),
        Delta::End(EndReason::Stop),
    ];
    let world = World::new().model([[hidden(r#"{"type":"reasoning"}"#), commentary].concat(), redacted]);
    let mut live = world.start();
    for prompt in ["one", "two"] {
        live.submit(prompt);
        assert_eq!(live.end().await, TurnEnd::Done);
    }
    let before = items_of(&live);
    let hidden = || Item::Thinking { text: String::new(), took: Some(std::time::Duration::ZERO) };
    let wanted = [
        hidden(),
        Item::Commentary { text: "First I look.".into() },
        Item::Answer { text: "It is 42.".into() },
        hidden(),
        Item::Answer { text: "Yes.".into() },
    ];
    assert_eq!(before, wanted);
    live.close().await;
    let mut again = world.start();
    again.open(SessionChoice::Continue);
    let recalled = again.until(|e| if let EventBody::Recalled(items) = e { Some(items.clone()) } else { None }).await;
    assert_eq!(said(recalled.into_iter().map(|(_, item)| item)), before);
}

/// Returns the model's entries as a session showed them live, and as it shows them once it is opened again.
async fn live_and_again(world: World, prompts: usize) -> (Vec<Item>, Vec<Item>) {
    let mut live = world.start();
    for _ in 0..prompts {
        live.submit("go");
        assert_eq!(live.end().await, TurnEnd::Done);
    }
    let before = items_of(&live);
    live.close().await;
    let mut again = world.start();
    again.open(SessionChoice::Continue);
    let recalled = again.until(|e| if let EventBody::Recalled(items) = e { Some(items.clone()) } else { None }).await;
    (before, said(recalled.into_iter().map(|(_, item)| item)))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_said_between_edits_is_shown_the_same_on_resume() {
    let seal = |json: &str| Delta::Seal { kind: PartKind::Text, index: 0, json: json.into() };
    let text = |text: &str| Delta::Text(text.into());
    let write = "<write_file>\n<path>new.txt</path>\n<content>\na\n</content>\n</write_file>\n";
    let answer = vec![
        Delta::Commentary,
        text("First I write."),
        seal(r#"{"type":"message","phase":"commentary"}"#),
        Delta::Part,
        Delta::Thinking("Hm.".into()),
        text("Here it is.\n"),
        text(write),
        Delta::Thinking("And now?".into()),
        text("It is written."),
        Delta::End(EndReason::Stop),
    ];
    let world = World::new().approve("edits").model([answer]);
    let (before, again) = live_and_again(world, 1).await;
    let thought = |text: &str| Item::Thinking { text: text.into(), took: Some(std::time::Duration::ZERO) };
    let answer = |text: &str| Item::Answer { text: text.into() };
    let wanted = [
        Item::Commentary { text: "First I write.".into() },
        thought("Hm."),
        answer("Here it is.\n"),
        thought("And now?"),
        answer("It is written."),
    ];
    assert_eq!(before, wanted);
    assert_eq!(again, wanted);
}

/// A server may hide one thought of an answer and show another: each has its time, also on resume.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hidden_and_visible_thoughts_of_an_answer_each_keep_their_time() {
    let seal = |json: &str| Delta::Seal { kind: PartKind::Thinking, index: 0, json: json.into() };
    let text = |text: &str| Delta::Text(text.into());
    let answer = vec![
        Delta::Part,
        seal(r#"{"type":"thinking","thinking":""}"#),
        Delta::Part,
        text("First."),
        Delta::Part,
        Delta::Thinking("Hm.".into()),
        seal(r#"{"type":"thinking","thinking":"Hm."}"#),
        Delta::Part,
        Delta::Thinking("So.".into()),
        seal(r#"{"type":"thinking","thinking":"So."}"#),
        Delta::Part,
        text("It is 42."),
        Delta::End(EndReason::Stop),
    ];
    let (before, again) = live_and_again(World::new().model([answer]), 1).await;
    let thought = |text: &str| Item::Thinking { text: text.into(), took: Some(std::time::Duration::ZERO) };
    let answer = |text: &str| Item::Answer { text: text.into() };
    assert_eq!(before, [thought(""), answer("First."), thought("Hm."), thought("So."), answer("It is 42.")]);
    assert_eq!(again, before);
}

/// A server of Chat Completions tells that it thinks before its answer, and the seal of the thought behind it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hidden_thoughts_stand_where_the_model_thought() {
    let seal = || Delta::Seal { kind: PartKind::Thinking, index: 0, json: r#"{"reasoning_details":[]}"#.into() };
    let text = |text: &str| Delta::Text(text.into());
    let first = vec![Delta::Thinking(String::new()), text("It is 42."), seal(), Delta::End(EndReason::Stop)];
    let behind = vec![text("It is 43."), seal(), Delta::End(EndReason::Stop)];
    let (before, again) = live_and_again(World::new().model([first, behind]), 2).await;
    let hidden = |took| Item::Thinking { text: String::new(), took };
    let answer = |text: &str| Item::Answer { text: text.into() };
    let zero = Some(std::time::Duration::ZERO);
    assert_eq!(before, [hidden(zero), answer("It is 42."), answer("It is 43."), hidden(None)]);
    assert_eq!(again, before);
}
