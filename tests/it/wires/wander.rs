//! Conversations that change their wire format, model and luck at any step, and always go on.

use std::collections::BTreeSet;
use std::sync::Arc;

use futures_util::StreamExt;
use nebula::provider::{Answer, Delta, EndReason, Message, Origin, Provider, Request, ToolResult, ToolSpec, connect};
use serde_json::json;

use super::connected;
use super::fake::{FakeServer, Plan};
use super::prefix::beginning;
use crate::support::mock_server::{MockServer, answer};

const MODELS: [(&str, &str); 8] = [
    ("chat", "gpt-x"),
    ("chat", "deepseek-reasoner"),
    ("responses", "gpt-5"),
    ("anthropic", "claude-opus-4-6"),
    ("anthropic", "claude-sonnet-4-5"),
    ("gemini", "gemini-3-pro"),
    ("gemini", "gemini-2.5-flash"),
    ("ollama", "qwen3:30b"),
];

/// A repeatable source of choices.
pub struct Dice(pub u64);

impl Dice {
    pub fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % sides
    }
}

fn tools() -> Arc<[ToolSpec]> {
    [ToolSpec { name: "list".into(), description: "d".into(), parameters: json!({"type": "object"}) }].into()
}

/// Asks, and joins what arrived as a turn does: calls of an answer that broke off are dropped with their arguments, and
/// the one that was arriving when it was stopped.
async fn ask(provider: &Arc<dyn Provider>, request: Request, stop_after: Option<usize>) -> (Message, Answer) {
    let origin = Arc::new(provider.origin(&request.model));
    let mut answer = Answer::default();
    let skip = request.skip_backoff.clone();
    let mut deltas = provider.stream(request).take(stop_after.unwrap_or(usize::MAX));
    let mut failed = false;
    while let Some(delta) = deltas.next().await {
        match delta {
            Ok(Delta::Retrying(_)) => skip.now(),
            Ok(delta) => answer.push(&delta),
            Err(_) => failed = true,
        }
    }
    if failed || answer.end.is_none() {
        let arrived = answer.calls.len() - usize::from(!failed && !answer.calls.is_empty());
        let whole: BTreeSet<usize> = (0..arrived)
            .filter(|at| serde_json::from_str::<serde_json::Value>(&answer.calls[*at].arguments).is_ok())
            .collect();
        answer.keep_calls(|at| whole.contains(&at));
    }
    let mut message = answer.clone().into_message();
    message.origin = Some(origin);
    (message, answer)
}

/// As memory keeps a message and gives it back: the same in everything, but another value.
fn resumed(message: &Message) -> Message {
    let origin = message.origin.as_ref().map(|o| Arc::new(Origin::clone(o)));
    Message { origin, ..message.clone() }
}

async fn wander(seed: u64, steps: usize) {
    let server = FakeServer::start().await;
    let mut dice = Dice(seed);
    let all = |server: &FakeServer| MODELS.map(|(wire, _)| connected(wire, &server.url()));
    let mut providers = all(&server);
    let mut messages: Vec<Arc<Message>> = vec![Arc::new(Message::user("begin"))];
    for step in 0..steps {
        let at = dice.roll(MODELS.len() as u64) as usize;
        let text = ["", "so", "価格 is \"due\"\n"][dice.roll(3) as usize].to_string();
        let plan = Plan {
            thinks: dice.roll(2) == 0,
            calls: dice.roll(3) as usize,
            breaks: dice.roll(6) == 0,
            refuses_seals: dice.roll(8) == 0,
            text,
            ..Plan::default()
        };
        server.plan(plan);
        let request = Request {
            model: MODELS[at].1.into(),
            system: "be brief".into(),
            tools: tools(),
            messages: messages.clone(),
            ..Request::default()
        };
        let stop = (dice.roll(6) == 0).then(|| dice.roll(4) as usize);
        let (message, answer) = ask(&providers[at], request, stop).await;
        assert_eq!(server.wrong(), Vec::<String>::new(), "seed {seed}, step {step}, {:?}", MODELS[at]);
        let ids: Vec<String> = message.calls().map(|call| call.id.clone()).collect();
        messages.push(Arc::new(message));
        for id in ids {
            // A result may be missing, as after a kill: it is made up.
            if dice.roll(10) > 0 {
                messages.push(Arc::new(Message::result(ToolResult {
                    call: id,
                    text: "a.rs".into(),
                    blobs: Vec::new(),
                    ok: dice.roll(4) > 0,
                })));
            }
        }
        if answer.end != Some(EndReason::Calls) || dice.roll(5) == 0 {
            messages.push(Arc::new(Message::user(format!("go on {step}"))));
        }
        match dice.roll(12) {
            // Another process takes the conversation up.
            0 => {
                messages = messages.iter().map(|message| Arc::new(resumed(message))).collect();
                providers = all(&server);
            }
            // A summary stands for the beginning.
            1 => {
                let from = messages.len() / 2;
                let resent = messages[from..].iter().skip_while(|m| m.answers().is_some()).cloned();
                messages = [Arc::new(Message::user("Summary of this conversation so far: …"))]
                    .into_iter()
                    .chain(resent)
                    .collect();
            }
            _ => {}
        }
    }
    let wires: BTreeSet<String> = server.seen().into_iter().map(|(wire, _)| wire).collect();
    assert_eq!(wires.len(), 5);
}

#[tokio::test]
async fn a_conversation_continues_over_all_wire_formats() {
    for seed in 0..12 {
        wander(seed, 60).await;
    }
}

#[tokio::test]
async fn what_a_wire_sealed_goes_back_to_it_and_to_no_other() {
    let server = FakeServer::start().await;
    for (wire, model) in
        [("responses", "gpt-5"), ("gemini", "gemini-3-pro"), ("anthropic", "claude-opus-4-6"), ("ollama", "qwen3:30b")]
    {
        server.plan(Plan { thinks: true, text: "so".into(), calls: 2, ..Plan::default() });
        let provider = connected(wire, &server.url());
        let mut messages = vec![Arc::new(Message::user("begin"))];
        let request = |messages: &[Arc<Message>], model: &str| Request {
            model: model.into(),
            tools: tools(),
            messages: messages.to_vec(),
            ..Request::default()
        };
        let (message, _) = ask(&provider, request(&messages, model), None).await;
        assert!(message.seals().count() > 0, "{wire}");
        let ids: Vec<String> = message.calls().map(|call| call.id.clone()).collect();
        messages.push(Arc::new(message));
        messages.extend(ids.iter().map(|id| Arc::new(Message::tool(id.as_str(), "a.rs"))));
        server.plan(Plan { text: "done".into(), ..Plan::default() });
        ask(&provider, request(&messages, model), None).await;
        let sealed = server.seen().last().expect("asked").1.to_string();
        ask(&provider, request(&messages, "another-model"), None).await;
        let plain = server.seen().last().expect("asked").1.to_string();
        assert_eq!(server.wrong(), Vec::<String>::new());
        let mark = match wire {
            "responses" => "encrypted_content\":\"enc-",
            "gemini" => "thoughtSignature\":\"sg-",
            "anthropic" => "signature\":\"sig-",
            _ => "ollama thought",
        };
        assert!(sealed.contains(mark), "{wire}: {sealed}");
        assert!(!plain.contains(mark), "{wire}: {plain}");
    }
}

/// The address of a format with its version and without it.
#[tokio::test]
async fn base_urls_with_and_without_their_version() {
    let server = FakeServer::start().await;
    server.plan(Plan { text: "hello".into(), ..Plan::default() });
    for (wire, version) in
        [("chat", "/v1"), ("responses", "/v1"), ("anthropic", "/v1"), ("gemini", "/v1beta"), ("ollama", "/api")]
    {
        for base in [server.url(), format!("{}{version}", server.url()), format!("{}{version}/", server.url())] {
            let request =
                Request { model: "m".into(), messages: vec![Arc::new(Message::user("hi"))], ..Request::default() };
            let (message, _) = ask(&connected(wire, &base), request, None).await;
            assert_eq!(message.text(), "hello", "{wire} at {base}");
        }
    }
}

/// Two steps without a cause between them: the first request is a prefix of the second, less its closing and cache marks.
#[tokio::test]
async fn the_prefix_is_constant() {
    let server = FakeServer::start().await;
    for (wire, model) in MODELS {
        server.plan(Plan { thinks: true, text: "so".into(), calls: 1, ..Plan::default() });
        let provider = connected(wire, &server.url());
        let mut messages = vec![Arc::new(Message::user("begin"))];
        let mut before: Option<(String, Vec<String>)> = None;
        let list = match wire {
            "responses" => "input",
            "gemini" => "contents",
            _ => "messages",
        };
        for step in 0..4_u32 {
            // The second half is asked by another process.
            let provider = if step < 2 { Arc::clone(&provider) } else { connected(wire, &server.url()) };
            let request = Request {
                model: model.into(),
                system: "be brief".into(),
                tools: tools(),
                messages: messages.clone(),
                max_output: Some(2_000 - step),
                ..Request::default()
            };
            let (message, _) = ask(&provider, request, None).await;
            let sent = beginning(server.seen().last().expect("asked").1.clone(), list);
            if let Some(before) = &before {
                assert_eq!(before.0, sent.0, "{wire} {step}");
                // Neighbouring messages of one role may be one: a list that goes on, and the last one of it grows.
                let (last, earlier) = before.1.split_last().expect("messages");
                assert_eq!(earlier, &sent.1[..earlier.len()], "{wire} {step}");
                let grown = last.trim_end_matches(['}', ']']);
                assert!(sent.1[earlier.len()].starts_with(grown), "{wire} {step}:\n{last}\n{}", sent.1[earlier.len()]);
            }
            before = Some(sent);
            let ids: Vec<String> = message.calls().map(|call| call.id.clone()).collect();
            messages.push(Arc::new(message));
            messages.extend(ids.iter().map(|id| Arc::new(Message::tool(id.as_str(), "a.rs"))));
        }
    }
}

#[tokio::test]
async fn servers_say_what_they_know_of_a_model() {
    let json = |body: &str| answer("200 OK", "content-type: application/json\r\n", body);
    let window = |wire: &'static str, scripts: Vec<&str>| {
        let scripts: Vec<_> = scripts.into_iter().map(json).collect();
        async move {
            let server = MockServer::start(scripts).await;
            let facts = connected(wire, &server.url()).describe("m").await;
            (facts.window, server.seen().into_iter().map(|seen| seen.line).collect::<Vec<_>>())
        }
    };
    let (n, _) = window("chat", vec![r#"{"data":[{"id":"m","max_model_len":16384}]}"#]).await;
    assert_eq!(n, Some(16_384));
    // llama.cpp lists what the model was trained for elsewhere; what it was started with is among its properties.
    let (n, sent) =
        window("chat", vec![r#"{"data":[{"id":"m"}]}"#, r#"{"default_generation_settings":{"n_ctx":4096}}"#]).await;
    assert_eq!((n, sent), (Some(4_096), vec!["GET /v1/models".to_string(), "GET /props".into()]));
    let show_response = r#"{"model_info":{"qwen3.context_length":40960},"capabilities":["completion","tools"]}"#;
    let (n, sent) = window("ollama", vec![r#"{"models":[{"name":"m:latest"}]}"#, show_response]).await;
    assert_eq!(n, Some(40_960));
    assert!(sent[1].ends_with("POST /v1/api/show") || sent[1].ends_with("POST /api/show"), "{sent:?}");
}

#[tokio::test]
async fn a_key_is_printed_by_a_command_and_requested_once_more_after_a_401() {
    let folder = tempfile::tempdir().expect("a folder");
    let (script, count) = (folder.path().join("key"), folder.path().join("count"));
    let text = format!("echo x >> {0}\necho \"key-$(wc -l < {0} | tr -d ' ')\"\necho more\n", count.display());
    std::fs::write(&script, text).expect("written");
    let refused = || answer("401 Unauthorized", "", "{\"error\":{\"message\":\"expired\"}}");
    let fine = || crate::support::mock_server::chunked(crate::support::mock_server::saying("a").as_bytes(), 100);
    let server = MockServer::start(vec![refused(), fine(), refused(), fine(), refused(), refused()]).await;
    let connection = nebula::config::Connection {
        provider: "gateway".into(),
        base_url: server.url(),
        custom_url: true,
        wire: "chat".into(),
        key_command: vec!["sh".into(), script.display().to_string()],
        ..nebula::config::Connection::default()
    };
    let provider = connect(&connection).expect("connected");
    let request = || Request { model: "m".into(), messages: vec![Arc::new(Message::user("hi"))], ..Request::default() };
    let got: Vec<_> = provider.stream(request()).collect().await;
    assert_eq!(got[0], Ok(Delta::Text("a".into())));
    // A key that was taken may expire; one that never was is asked for no third time.
    let got: Vec<_> = provider.stream(request()).collect().await;
    assert_eq!(got[0], Ok(Delta::Text("a".into())));
    let error = provider.stream(request()).next().await.expect("an end").expect_err("refused");
    assert_eq!(error.status, Some(401));
    let key = |n: usize, headers: &str| (1..9).find(|k| headers.contains(&format!("Bearer key-{k}"))).unwrap_or(n);
    let keys: Vec<usize> = server.seen().iter().map(|seen| key(0, &seen.headers)).collect();
    assert_eq!(keys, [1, 2, 2, 3, 3, 4]);
    let failing = nebula::config::Connection {
        key_command: vec!["sh".into(), "-c".into(), "echo no keychain >&2; exit 3".into()],
        ..connection
    };
    let error =
        connect(&failing).expect("connected").stream(request()).next().await.expect("an end").expect_err("no key");
    assert_eq!(error.message, "apiKeyCommand sh ended with exit code 3: no keychain");
}

#[test]
fn a_subscription_token_is_refused_before_any_request() {
    let connection = nebula::config::Connection {
        provider: "anthropic".into(),
        base_url: "https://api.anthropic.com".into(),
        wire: "anthropic".into(),
        key: Some(nebula::config::Secret::new("sk-ant-oat01-abc")),
        ..nebula::config::Connection::default()
    };
    let error = connect(&connection).err().expect("refused");
    assert_eq!(error.message, "this is a subscription token; api.anthropic.com takes it from its own client only");
}
