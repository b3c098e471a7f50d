//! The Messages format against a server by script that checks each request by that format's rules.

use std::path::PathBuf;
use std::sync::Arc;

use futures_util::StreamExt;
use nebula::config::{Connection, Secret};
use nebula::provider::{
    Answer, Delta, EndReason, Error, ErrorKind, Message, Origin, PartKind, Provider, Request, Span, ToolCall, ToolSpec,
    Wire, connect,
};
use serde_json::{Value, json};

use super::rules;
use crate::support::mock_server::{Act, MockServer, ReceivedRequest, answer, chunked};

fn connection(url: String) -> Connection {
    Connection {
        provider: "anthropic".into(),
        base_url: url,
        custom_url: true,
        key_variable: Some("ANTHROPIC_API_KEY".into()),
        key: Some(Secret::new("sk-ant-very-secret")),
        wire: "anthropic".into(),
        ..Connection::default()
    }
}

fn provider(server: &MockServer) -> Arc<dyn Provider> {
    connect(&connection(server.url())).expect("connected")
}

fn request(messages: Vec<Message>) -> Request {
    let tools = [ToolSpec { name: "list".into(), description: "d".into(), parameters: json!({"type": "object"}) }];
    Request {
        model: "claude-x".into(),
        system: "be brief".into(),
        tools: tools.into(),
        messages: messages.into_iter().map(Arc::new).collect(),
        ..Request::default()
    }
}

fn fixture(name: &str) -> Vec<u8> {
    std::fs::read(folder().join(format!("{name}.sse"))).expect("a fixture")
}

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/streams/anthropic")
}

fn refusal(status: &str, words: &str) -> Vec<Act> {
    let body = json!({"type": "error", "error": {"type": "invalid_request_error", "message": words}});
    answer(status, "content-type: application/json\r\n", &body.to_string())
}

async fn all(provider: &Arc<dyn Provider>, request: &Request) -> Vec<Result<Delta, Error>> {
    provider.stream(request.clone()).collect().await
}

/// Asks, and joins the answer as a turn does.
async fn joined(provider: &Arc<dyn Provider>, request: &Request) -> (Message, Answer, Vec<String>) {
    let (mut answer, mut notices) = (Answer::default(), Vec::new());
    for delta in all(provider, request).await {
        let delta = delta.expect("an answer");
        if let Delta::Notice(title) = &delta {
            notices.push(title.clone());
        }
        answer.push(&delta);
    }
    let mut message = answer.clone().into_message();
    message.origin = Some(Arc::new(provider.origin(&request.model)));
    (message, answer, notices)
}

/// The request keeps the rules of the format, and carries its headers.
fn check(seen: &ReceivedRequest) {
    assert_eq!(seen.line, "POST /v1/messages");
    assert!(seen.headers.contains("anthropic-version: 2023-06-01"), "{}", seen.headers);
    assert!(seen.headers.contains("x-api-key: sk-ant-very-secret") && !seen.headers.contains("authorization"));
    if let Err(why) = rules::anthropic(&seen.body) {
        panic!("{why}: {}", seen.body);
    }
}

#[tokio::test]
async fn an_answer_goes_back_to_where_it_came_from_byte_for_byte() {
    let server = MockServer::start(vec![
        chunked(&fixture("thinking-and-call"), 40),
        chunked(&fixture("text"), 40),
        chunked(&fixture("text"), 40),
    ])
    .await;
    let here = provider(&server);
    let mut sent = request(vec![Message::user("hi")]);
    let (message, answer, _) = joined(&here, &sent).await;
    assert_eq!((answer.thinking.as_str(), answer.text.as_str()), ("let me look", "Reading."));
    let calls: Vec<_> = answer.calls.iter().map(|c| (c.id.as_str(), c.arguments.as_str())).collect();
    assert_eq!(calls, [("toolu_1", "{\"path\": \"a.rs\"}"), ("toolu_2", "{}")]);
    assert_eq!(answer.end, Some(EndReason::Calls));
    let usage = answer.usage.expect("told");
    assert_eq!((usage.input, usage.cache_read, usage.cache_write, usage.output), (525, 400, 100, 40));
    sent.messages.push(Arc::new(message));
    sent.messages.push(Arc::new(Message::tool("toolu_1", "text")));
    sent.messages.push(Arc::new(Message::tool("toolu_2", "a.rs")));
    joined(&here, &sent).await;
    // The same answer to another model: text and calls alone.
    sent.model = "claude-y".into();
    joined(&here, &sent).await;
    let seen = server.seen();
    seen.iter().for_each(check);
    assert_eq!(
        seen[1].body["messages"][1]["content"],
        json!([
            {"type": "thinking", "thinking": "let me look", "signature": "c2ln"},
            {"type": "redacted_thinking", "data": "b3BhcXVl"},
            {"type": "text", "text": "Reading."},
            {"type": "tool_use", "id": "toolu_1", "name": "readFile", "input": {"path": "a.rs"}},
            {"type": "tool_use", "id": "toolu_2", "name": "list", "input": {}},
        ])
    );
    let kinds = |body: &Value| -> Vec<String> {
        let blocks = body["messages"][1]["content"].as_array().expect("blocks");
        blocks.iter().map(|block| block["type"].as_str().expect("a type").to_string()).collect()
    };
    assert_eq!(kinds(&seen[2].body), ["text", "tool_use", "tool_use"]);
}

#[tokio::test]
async fn a_refused_seal_never_ends_a_session() {
    let server = MockServer::start(vec![
        chunked(&fixture("thinking-and-call"), 400),
        refusal("400 Bad Request", "messages.1.content.0: Invalid `signature` in `thinking` block"),
        chunked(&fixture("silent-thinking"), 400),
        chunked(&fixture("text"), 400),
    ])
    .await;
    let here = provider(&server);
    let mut sent = request(vec![Message::user("hi")]);
    let (message, _, _) = joined(&here, &sent).await;
    sent.messages.extend([message, Message::tool("toolu_1", "x"), Message::tool("toolu_2", "y")].map(Arc::new));
    let (later, _, notices) = joined(&here, &sent).await;
    let host = format!("127.0.0.1:{}", server.port());
    assert_eq!(notices, [format!("earlier reasoning was not accepted by {host} and is left out")]);
    // What was refused stays out; what came later is sealed as ever.
    sent.messages.extend([later, Message::user("more")].map(Arc::new));
    let (_, _, notices) = joined(&here, &sent).await;
    assert_eq!(notices, Vec::<String>::new());
    let seen = server.seen();
    seen.iter().for_each(check);
    assert_eq!(seen[2].body["messages"][1]["content"][0]["type"], "text");
    assert_eq!(seen[3].body["messages"][3]["content"][0]["type"], "thinking");
}

#[tokio::test]
async fn a_limit_that_a_refusal_names_is_followed_once() {
    let server = MockServer::start(vec![
        refusal("400 Bad Request", "max_tokens: 64000 > 8192, which is the maximum allowed for claude-x-20240620"),
        chunked(&fixture("text"), 400),
        refusal("400 Bad Request", "max_tokens: something else"),
    ])
    .await;
    let here = provider(&server);
    let sent = request(vec![Message::user("hi")]);
    joined(&here, &sent).await;
    let error = all(&here, &sent).await.pop().expect("an end").expect_err("refused");
    assert_eq!(error.kind, ErrorKind::BadRequest);
    let most: Vec<_> = server.seen().iter().map(|seen| seen.body["max_tokens"].clone()).collect();
    assert_eq!(most, [json!(64_000), json!(8_192), json!(8_192)]);
}

#[tokio::test]
async fn errors_by_kind_and_a_conversation_from_elsewhere() {
    for (status, kind, says) in [
        ("401 Unauthorized", ErrorKind::Auth, "rejected the key (401): ANTHROPIC_API_KEY"),
        ("403 Forbidden", ErrorKind::Permission, "does not permit this (403): ANTHROPIC_API_KEY"),
        ("402 Payment Required", ErrorKind::Quota, "the quota of this key is used up"),
        ("413 Payload Too Large", ErrorKind::ContextTooLong, "does not fit claude-x"),
        ("400 Bad Request", ErrorKind::BadRequest, "refuses the request"),
    ] {
        let server = MockServer::start(vec![refusal(status, "no")]).await;
        let got = all(&provider(&server), &request(vec![Message::user("hi")])).await;
        let error = got.into_iter().next_back().expect("an end").expect_err(status);
        assert_eq!(error.kind, kind, "{status}: {error}");
        assert!(error.message.contains(says), "{error}");
        assert!(!format!("{error:?}").contains("very-secret"));
    }
    // An answer of another format, with ids no Messages server takes, and its seal at home.
    let server = MockServer::start(vec![chunked(&fixture("text"), 400)]).await;
    let call = ToolCall { id: "call|7 ".into(), name: "list".into(), arguments: "{\"pa".into() };
    let spans = vec![
        Span { kind: PartKind::Thinking, bytes: 2, seal: Some("{\"reasoning_content\":\"hm\"}".into()) },
        Span { kind: PartKind::Call, bytes: 0, seal: None },
    ];
    let mut foreign = Message::answer("", "hm", vec![call], spans);
    foreign.origin = Some(Arc::new(Origin { wire: Wire::Chat, place: "http://other".into(), model: "m".into() }));
    let sent = request(vec![Message::user("hi"), foreign, Message::tool("call|7 ", "done"), Message::user("and?")]);
    joined(&provider(&server), &sent).await;
    let seen = server.seen();
    check(&seen[0]);
    assert!(!seen[0].body.to_string().contains("hm"), "{}", seen[0].body);
    assert_eq!(seen[0].body["messages"][1]["content"][0]["input"], json!({"unreadable": "{\"pa"}));
}

#[tokio::test]
async fn models_of_all_pages_are_listed() {
    let page = |ids: &[&str], more: bool| {
        let data: Vec<_> = ids.iter().map(|id| json!({"id": id, "type": "model"})).collect();
        let body = json!({"data": data, "has_more": more, "last_id": ids.last()});
        answer("200 OK", "content-type: application/json\r\n", &body.to_string())
    };
    let server = MockServer::start(vec![page(&["claude-b", "claude-a"], true), page(&["claude-c"], false)]).await;
    let listed = provider(&server).models().await.expect("listed");
    assert_eq!(listed.into_iter().map(|m| m.name).collect::<Vec<_>>(), ["claude-a", "claude-b", "claude-c"]);
    let lines: Vec<_> = server.seen().into_iter().map(|seen| seen.line).collect();
    assert_eq!(lines, ["GET /v1/models?limit=1000", "GET /v1/models?limit=1000&after_id=claude-a"]);
}
