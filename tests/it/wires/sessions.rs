//! Whole sessions that change provider, model, mode and format, are interrupted, summarised and resumed: each request keeps the
//! rules of the format it is written in.

use std::sync::Arc;

use nebula::agent::AgentParts;
use nebula::protocol::{Command, EventBody, Mode, SessionChoice, Setting, StepUsage};
use nebula::provider::{Replay, Wire};
use serde_json::{Map, json};

use super::connected;
use super::fake::{FakeServer, Plan};
use super::wander::Dice;
use crate::support::world::{Live, World};

/// The names under which one server is configured in each format, and a model of each.
const PROVIDERS: [(&str, &str, &str); 5] = [
    ("c", "chat", "deepseek-chat"),
    ("r", "responses", "gpt-5"),
    ("a", "anthropic", "claude-opus-4-6"),
    ("g", "gemini", "gemini-3-pro"),
    ("o", "ollama", "qwen3:30b"),
];

fn world(server: &FakeServer) -> World {
    let world = World::new().file("a.rs", "fn main() {}\n");
    let named = PROVIDERS.map(|(name, wire, _)| (name.to_string(), json!({"wire": wire, "baseUrl": server.url()})));
    let models = PROVIDERS
        .map(|(.., model)| (model.to_string(), json!({"contextWindow": 60_000, "price": {"input": 1, "output": 2}})));
    let config = json!({
        "providers": named.into_iter().collect::<Map<_, _>>(), "models": models.into_iter().collect::<Map<_, _>>(),
    });
    std::fs::create_dir_all(world.home().join(".nebula")).expect("made");
    std::fs::write(world.home().join(".nebula/config.json"), config.to_string()).expect("written");
    world
}

fn started(world: &World, server: &FakeServer) -> Live {
    let unasked = Arc::new(Replay::from_steps(Vec::new()));
    let provider = Some(connected(Wire::Chat.name(), &server.url()));
    let parts = AgentParts { provider, ..world.parts(unasked.clone()) };
    world.start_with(parts, unasked)
}

/// The end of what is under way; summaries count.
async fn ended(live: &mut Live) {
    loop {
        match live.next().await {
            EventBody::Asked(question) => live.send(Command::Reply(question.id, nebula::protocol::Reply::Choice(0))),
            EventBody::TurnEnded(..) | EventBody::Returned(..) => return,
            _ => {}
        }
    }
}

fn opened(live: &Live) -> String {
    let id = live.events.iter().rev().find_map(|e| match e {
        EventBody::Opened(info) => Some(info.id.clone()),
        _ => None,
    });
    id.expect("a session")
}

async fn wander(seed: u64, steps: usize) {
    let server = FakeServer::start().await;
    let world = world(&server);
    let mut dice = Dice(seed);
    let mut live = started(&world, &server);
    for step in 0..steps {
        let (name, _, model) = PROVIDERS[dice.roll(5) as usize];
        live.send(Command::Set(Setting::Model(format!("{name}:{model}"))));
        match dice.roll(8) {
            0 => live.send(Command::Set(Setting::Mode(Mode::Plan))),
            1 => live.send(Command::Set(Setting::Mode(Mode::Agent))),
            2 => live.send(Command::Set(Setting::Format("whole".into()))),
            3 => live.send(Command::Set(Setting::Format("tools".into()))),
            4 => live.send(Command::Set(Setting::Effort(["low", "auto", "none"][dice.roll(3) as usize].into()))),
            _ => {}
        }
        let text = ["", "so", "価格 is \"due\"\n"][dice.roll(3) as usize].to_string();
        let (thinks, calls, refuses_seals) = (dice.roll(2) == 0, dice.roll(3) as usize, dice.roll(8) == 0);
        server.plan(Plan { thinks, text, calls, refuses_seals, calls_once: true, ..Plan::default() });
        live.submit(&format!("go on {step}"));
        if dice.roll(5) == 0 {
            live.send(Command::Interrupt);
        }
        ended(&mut live).await;
        match dice.roll(8) {
            0 => {
                server.plan(Plan { text: "In short.".into(), ..Plan::default() });
                live.send(Command::Compact);
                ended(&mut live).await;
            }
            1 => live.send(Command::UndoCompact),
            2 => {
                let id = opened(&live);
                live.close().await;
                live = started(&world, &server);
                live.open(SessionChoice::Resume(id));
            }
            _ => {}
        }
        assert_eq!(server.wrong(), Vec::<String>::new(), "seed {seed}, step {step}, {model}");
    }
    live.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_continues_over_five_formats() {
    for seed in 0..4 {
        wander(seed, 14).await;
    }
}

/// Servers that count the calls of each answer anew get each call under an id of its own, the same one in every request, also in
/// a resumed session.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ids_that_a_server_uses_again_are_sent_once() {
    for (name, wire, model) in PROVIDERS {
        let server = FakeServer::start().await;
        let world = world(&server);
        let mut live = started(&world, &server);
        live.send(Command::Set(Setting::Model(format!("{name}:{model}"))));
        let plan = |calls| Plan { thinks: true, calls, calls_once: true, same_ids: true, ..Plan::default() };
        for step in 0..4 {
            if step == 3 {
                let id = opened(&live);
                live.close().await;
                live = started(&world, &server);
                live.open(SessionChoice::Resume(id));
            }
            server.plan(Plan { text: format!("so {step}"), ..plan(1) });
            live.submit(&format!("go on {step}"));
            ended(&mut live).await;
        }
        assert_eq!(server.wrong(), Vec::<String>::new(), "{wire}");
        let sent: Vec<Vec<serde_json::Value>> = server.seen().into_iter().map(|(_, body)| conversation(body)).collect();
        assert_eq!(sent.len(), 8, "{wire}");
        for pair in sent.windows(2) {
            assert_eq!(pair[0][..], pair[1][..pair[0].len()], "{wire}");
        }
        live.close().await;
    }
}

/// Returns the pieces of a request's conversation, without the marks that move on.
fn conversation(mut body: serde_json::Value) -> Vec<serde_json::Value> {
    let fields = ["messages", "input", "contents"];
    let turns = fields.into_iter().find_map(|field| Some(body[field].as_array_mut()?.split_off(0)));
    let turns = turns.expect("a conversation");
    // Turns of one side are joined, so their blocks are looked at one by one.
    let blocks = turns.into_iter().flat_map(|turn| match turn["content"].as_array().or(turn["parts"].as_array()) {
        Some(blocks) => blocks.clone(),
        None => vec![turn],
    });
    let unmarked = blocks.map(|mut block| {
        block.as_object_mut().map(|fields| fields.remove("cache_control"));
        block
    });
    unmarked.collect()
}

fn usages(live: &Live) -> Vec<StepUsage> {
    let usage = |event: &EventBody| match event {
        EventBody::Usage(usage) => Some(usage.clone()),
        _ => None,
    };
    live.events.iter().filter_map(usage).collect()
}

/// Another provider answers from the next message on, is kept for the next run, and each cause of another beginning is named.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_changes_its_provider_and_says_why_its_beginning_changed() {
    let server = FakeServer::start().await;
    let world = world(&server);
    let mut live = started(&world, &server);
    server.plan(Plan { text: "so".into(), ..Plan::default() });
    live.send(Command::Set(Setting::Model("deepseek-chat".into())));
    let changes = [
        None,
        None,
        Some(Setting::Model("a:claude-opus-4-6".into())),
        Some(Setting::Mode(Mode::Plan)),
        Some(Setting::Format("whole".into())),
        None,
    ];
    for change in changes {
        change.into_iter().for_each(|change| live.send(Command::Set(change)));
        live.submit("go on");
        ended(&mut live).await;
    }
    let wires: Vec<String> = server.seen().into_iter().map(|(wire, _)| wire).collect();
    assert_eq!(wires, ["chat", "chat", "anthropic", "anthropic", "anthropic", "anthropic"]);
    let usages = usages(&live);
    let causes: Vec<_> = usages.iter().map(|usage| usage.prefix).collect();
    assert_eq!(causes, [None, None, Some("model"), Some("mode"), Some("format"), None]);
    assert_eq!((usages[0].input, usages[0].output, usages[0].cost), (10, 5, Some(20.0 / 1e6)));
    let config_text = std::fs::read_to_string(world.home().join(".nebula/config.json")).expect("kept");
    let config_text: serde_json::Value = serde_json::from_str(&config_text).expect("JSON");
    assert_eq!(
        (&config_text["provider"], &config_text["providers"]["a"]["model"]),
        (&json!("a"), &json!("claude-opus-4-6"))
    );
    live.close().await;
}
