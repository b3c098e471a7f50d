//! The streams of servers of the Chat Completions format, and nebula's reading of them: real sockets, a server by
//! script.
//!
//! `tests/fixtures/streams/NAME.sse` is the body a server sends; `NAME.jsonl` the deltas it means, as a recording.
//! A step there without an end is one that broke off.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use nebula::config::{Connection, Secret};
use nebula::provider::{
    Answer, Delta, EndReason, Error, ErrorKind, Message, Provider, Recording, Request, ToolSpec, connect, find_on,
};
use serde_json::json;
use tokio::net::TcpSocket;

use crate::support::mock_server::{Act, MockServer, answer, chunk, chunked, head, neighbours_joined, saying};

fn connection(server: &MockServer) -> Connection {
    Connection {
        provider: "openai".into(),
        base_url: server.url(),
        custom_url: true,
        key_variable: Some("OPENAI_API_KEY".into()),
        key: Some(Secret::new("sk-very-secret")),
        wire: "chat".into(),
        ..Connection::default()
    }
}

fn provider(server: &MockServer) -> Arc<dyn Provider> {
    connect(&connection(server)).unwrap()
}

fn hello() -> Request {
    Request { model: "m1".into(), messages: vec![Arc::new(Message::user("hi"))], ..Request::default() }
}

/// Everything a provider answers; pauses between tries are cut short.
async fn all(provider: &Arc<dyn Provider>) -> Vec<Result<Delta, Error>> {
    let request = hello();
    let skip = request.skip_backoff.clone();
    provider
        .stream(request)
        .inspect(|item| {
            if let Ok(Delta::Retrying(_)) = item {
                skip.now()
            }
        })
        .collect()
        .await
}

async fn error_of(script: Vec<Act>) -> Error {
    let server = MockServer::start(vec![script]).await;
    let got = all(&provider(&server)).await;
    // Beside it a wrong name of a model asks for the list of models.
    assert_eq!(server.seen().iter().filter(|seen| seen.line.starts_with("POST")).count(), 1, "{got:?}");
    got.into_iter().next_back().unwrap().unwrap_err()
}

fn fixtures() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/streams")
}

#[tokio::test]
async fn every_fixture_in_every_chunking() {
    let mut names = BTreeSet::new();
    for entry in fs::read_dir(fixtures()).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "sse") {
            names.insert(path.file_stem().unwrap().to_string_lossy().into_owned());
        }
    }
    assert!(names.len() >= 10);
    for name in names {
        let body = fs::read(fixtures().join(format!("{name}.sse"))).unwrap();
        let expected = fixtures().join(format!("{name}.jsonl"));
        let scripts = [usize::MAX, 7, 1].map(|size| chunked(&body, size)).to_vec();
        let server = MockServer::start(scripts).await;
        let provider = provider(&server);
        for chunking in ["whole", "by 7 bytes", "by bytes"] {
            let got = all(&provider).await;
            let broken = got.last().is_some_and(Result::is_err);
            let deltas: Vec<_> = got.into_iter().filter_map(Result::ok).collect();
            assert_eq!(broken, !matches!(deltas.last(), Some(Delta::End(_))), "{name} {chunking}");
            let timed = neighbours_joined(deltas).into_iter().map(|delta| (Duration::ZERO, delta)).collect();
            let got = Recording { model: "m1".into(), provider: "openai".into(), steps: vec![timed] }.text();
            if std::env::var_os("UPDATE_FIXTURES").is_some() {
                fs::write(&expected, &got).unwrap();
            }
            assert_eq!(got, fs::read_to_string(&expected).unwrap(), "{name} {chunking}");
        }
    }
}

#[tokio::test]
async fn the_request_and_a_connection_used_again() {
    let server = MockServer::start(vec![chunked(saying("a").as_bytes(), 5), chunked(saying("b").as_bytes(), 5)]).await;
    let mut connection = connection(&server);
    connection.headers = vec![("X-Team".into(), "blue".into())];
    let provider = connect(&connection).unwrap();
    let tools = [ToolSpec { name: "list".into(), description: "d".into(), parameters: json!({"type": "object"}) }];
    let mut request = Request { system: "s".into(), tools: tools.into(), ..hello() };
    for text in ["a", "b"] {
        let mut answer = Answer::default();
        let mut deltas = provider.stream(request.clone());
        while let Some(delta) = deltas.next().await {
            answer.push(&delta.unwrap());
        }
        assert_eq!((answer.text.as_str(), answer.end), (text, Some(EndReason::Stop)));
        request.messages.push(Arc::new(answer.into_message()));
        request.messages.push(Arc::new(Message::user("more")));
    }
    let seen = server.seen();
    assert_eq!(seen[0].line, "POST /v1/chat/completions");
    assert!(seen[0].headers.contains("authorization: Bearer sk-very-secret"), "{}", seen[0].headers);
    assert!(seen[0].headers.contains("x-team: blue"));
    assert_eq!(seen[1].body["messages"][2], json!({"role": "assistant", "content": "a"}));
    assert_eq!(seen[1].body["tools"][0]["function"]["name"], "list");
    assert_eq!((seen[0].connection, seen[1].connection), (0, 0));
    assert_eq!((provider.name(), provider.place()), ("openai", format!("127.0.0.1:{}", server.port())));
}

/// A body of events that are none of this format is no answer, with an end and without, and is not asked for again.
#[tokio::test]
async fn a_stream_without_a_choice_is_an_error() {
    for body in
        ["data: {}\n\n", "data: {\"type\":\"ping\"}\n\ndata: [DONE]\n\n", "data: {\"choices\":null}\n\ndata: [DONE]"]
    {
        let error = error_of(chunked(body.as_bytes(), 7)).await;
        assert_eq!(error.kind, ErrorKind::BadAnswer, "{body}");
        assert!(error.message.contains("holds no choices"), "{body}: {}", error.message);
    }
}

#[tokio::test]
async fn trouble_before_the_first_token_is_tried_again() {
    let server = MockServer::start(vec![
        answer("429 Too Many Requests", "retry-after: 200\r\n", "{}"),
        answer("503 Service Unavailable", "", "<html>busy</html>"),
        vec![Act::Reset],
        vec![head("200 OK", "content-type: text/event-stream\r\n"), Act::Send(b": hi\n\n".to_vec()), Act::Close],
        chunked(saying("there").as_bytes(), 100),
    ])
    .await;
    let got = all(&provider(&server)).await;
    let waits: Vec<_> = got
        .iter()
        .filter_map(|item| match item {
            Ok(Delta::Retrying(wait)) => Some((wait.attempt, wait.why.replace(&server.port().to_string(), "PORT"))),
            _ => None,
        })
        .collect();
    let why = |attempt, why: &str| (attempt, why.to_string());
    assert_eq!(
        waits,
        [
            why(2, "127.0.0.1:PORT: rate limited (429)"),
            why(3, "127.0.0.1:PORT is overloaded (503)"),
            // A connection that is closed before a word of the answer is made anew at once.
            why(5, "127.0.0.1:PORT closed the connection"),
        ]
    );
    assert_eq!(got[3], Ok(Delta::Text("there".into())));
    assert_eq!(server.seen().len(), 5);
}

#[tokio::test]
async fn after_five_requests_it_is_over() {
    let busy = || answer("500 Internal Server Error", "", "{\"error\":{\"message\":\"out of memory\"}}");
    let server = MockServer::start(vec![busy(), busy(), busy(), busy(), busy(), chunked(b"", 1)]).await;
    let error = all(&provider(&server)).await.pop().unwrap().unwrap_err();
    assert_eq!(server.seen().len(), 5);
    assert_eq!(error.kind, ErrorKind::Server);
    assert!(error.message.ends_with("is overloaded (500), after 5 tries"), "{error}");
    assert!(error.hint.contains("out of memory"));
}

#[tokio::test]
async fn a_long_wait_is_the_persons_to_decide() {
    let error = error_of(answer("429 Too Many Requests", "retry-after: 720\r\n", "{}")).await;
    assert!(error.message.ends_with("rate limited (429), 12 min"), "{error}");
    let quota = "{\"error\":{\"message\":\"You exceeded your quota\",\"code\":\"insufficient_quota\"}}";
    assert!(error_of(answer("429 Too Many Requests", "", quota)).await.message.contains("quota of this key"));
}

#[tokio::test]
async fn after_the_first_token_what_arrived_is_preserved() {
    let event =
        |text: &str| chunk(format!("data: {}\n\n", json!({"choices": [{"delta": {"content": text}}]})).as_bytes());
    let start = Act::Send(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n".to_vec());
    for end in [Act::Reset, Act::Close] {
        let cut = chunk("data: {\"choices\":[{\"delta\":{\"content\":\"価".as_bytes().split_last().unwrap().1);
        let script = vec![start.clone(), event("apply"), cut, Act::Pause(Duration::from_millis(30)), end];
        let server = MockServer::start(vec![script]).await;
        let got = all(&provider(&server)).await;
        assert_eq!(got[0], Ok(Delta::Text("apply".into())));
        let error = got[1].as_ref().unwrap_err();
        assert_eq!(error.kind, ErrorKind::Broken { after_first_token: true });
        assert!(error.message.starts_with("the answer broke off: 127.0.0.1:"), "{error}");
        assert!(error.message.ends_with("closed the connection"), "{error}");
        assert!(error.resumable());
        assert_eq!((got.len(), server.seen().len()), (2, 1));
    }
}

/// A key that was pasted or printed by a command is no variable's.
#[tokio::test]
async fn a_rejected_key_is_named_by_where_it_is_from() {
    let refused = || answer("401 Unauthorized", "", "{}");
    let sources = [
        (
            Connection { pasted: true, ..Connection::default() },
            "the one that was pasted",
            "Paste another one under connect.",
        ),
        (
            Connection { key: None, key_command: vec!["echo".into(), "sk-1".into()], ..Connection::default() },
            "apiKeyCommand",
            "Check what apiKeyCommand prints.",
        ),
    ];
    for (source, name, hint) in sources {
        let server = MockServer::start(vec![refused(), refused()]).await;
        let key = Some(Secret::new("sk-1")).filter(|_| source.pasted);
        let connection = Connection { key, base_url: server.url(), wire: "chat".into(), ..source };
        let got = all(&connect(&connection).expect("it connects")).await;
        let error = got.last().expect("an error").as_ref().expect_err("refused");
        assert!(error.message.ends_with(&format!(" rejected the key (401): {name}")), "{error}");
        assert!(error.hint.starts_with(hint), "{}", error.hint);
    }
}

#[tokio::test]
async fn refusals_name_what_is_wrong() {
    let status = |status: &str, body: &str| answer(status, "", body);
    let error = error_of(status("401 Unauthorized", "{\"error\":{\"message\":\"bad key sk-very-secret\"}}")).await;
    assert_eq!(error.kind, ErrorKind::Auth);
    assert!(error.message.starts_with("127.0.0.1:"), "{error}");
    assert!(error.message.ends_with(" rejected the key (401): OPENAI_API_KEY"), "{error}");
    let error = error_of(status("403 Forbidden", "{\"error\":\"not for sk-very-secret\\u001b[31m\"}")).await;
    assert!(error.hint.ends_with("It says: not for … [31m"), "{}", error.hint);
    let error =
        error_of(status("404 Not Found", "{\"error\":{\"message\":\"model \\\"m1\\\" not found, try pulling\"}}"))
            .await;
    assert!(error.message.starts_with("there is no model m1 at 127.0.0.1:"), "{error}");
    let error = error_of(status("404 Not Found", "<html>nginx</html>")).await;
    assert!(error.message.ends_with("/v1/chat/completions (404)"), "{error}");
    assert_eq!(error.kind, ErrorKind::NotFound);
    let long = "{\"error\":{\"message\":\"This model's maximum context length is 8192 tokens\"}}";
    assert_eq!(error_of(status("400 Bad Request", long)).await.kind, ErrorKind::ContextTooLong);
    let error = error_of(status("400 Bad Request", "{\"detail\":\"no\\nsuch\\tthing\"}")).await;
    assert_eq!(
        (error.kind, error.hint.as_str()),
        (ErrorKind::BadRequest, "It says: no such thing. nebula doctor --last shows the request without its contents.")
    );
    let error = error_of(answer("301 Moved Permanently", "location: https://x.example/v1\r\n", "")).await;
    assert!(error.message.ends_with("redirects to https://x.example/v1 (301)"), "{error}");
}

#[tokio::test]
async fn answers_of_no_known_format_are_reported() {
    let ok = |kind: &str, body: &str| answer("200 OK", &format!("content-type: {kind}\r\n"), body);
    let error = error_of(ok("text/html", "<!doctype html><title>Log in</title>")).await;
    assert!(error.message.ends_with("answers with a web page"), "{error}");
    let error = error_of(ok("application/json", "{\"error\":{\"message\":\"model x\",\"code\":400}}")).await;
    assert_eq!(error.kind, ErrorKind::BadRequest);
    let error = error_of(ok("application/json", "{\"hello\":1}")).await;
    assert_eq!(error.kind, ErrorKind::BadAnswer);
    let error = error_of(ok("text/event-stream", "data: {\"choices\": 7}\n\n")).await;
    assert_eq!(error.kind, ErrorKind::BadAnswer);
}

#[tokio::test]
async fn a_server_that_does_not_stream() {
    let whole = json!({"choices": [{"message": {"role": "assistant", "content": "all at once"}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 1, "completion_tokens": 2}});
    let server =
        MockServer::start(vec![answer("200 OK", "content-type: application/json\r\n", &whole.to_string())]).await;
    let got: Vec<_> = all(&provider(&server)).await.into_iter().map(Result::unwrap).collect();
    assert_eq!(got[0], Delta::Text("all at once".into()));
    assert_eq!(got[2], Delta::End(EndReason::Stop));
}

#[tokio::test]
async fn stream_options_are_left_out_where_they_are_refused() {
    let server = MockServer::start(vec![
        answer("400 Bad Request", "", "{\"message\":\"extra field stream_options is not permitted\"}"),
        chunked(saying("a").as_bytes(), 100),
        chunked(saying("b").as_bytes(), 100),
    ])
    .await;
    let provider = provider(&server);
    assert_eq!(all(&provider).await.len(), 2);
    assert_eq!(all(&provider).await.len(), 2);
    let options: Vec<_> = server.seen().iter().map(|seen| seen.body.get("stream_options").is_some()).collect();
    assert_eq!(options, [true, false, false]);
}

#[tokio::test]
async fn complaints_in_a_list_are_read() {
    let detail = "{\"detail\":[{\"loc\":[\"body\",\"stream_options\"],\"msg\":\"extra fields not permitted\"}]}";
    let server =
        MockServer::start(vec![answer("422 Unprocessable Entity", "", detail), chunked(saying("a").as_bytes(), 100)])
            .await;
    assert_eq!(all(&provider(&server)).await.len(), 2);
    let detail = "{\"detail\":[{\"loc\":[\"body\",\"n\"],\"msg\":\"too large\"},{\"msg\":\"no\"}]}";
    let error = error_of(answer("422 Unprocessable Entity", "", detail)).await;
    let more = "nebula doctor --last shows the request without its contents.";
    assert_eq!(error.hint, format!("It says: n: too large; no. {more}"));
    // llama.cpp's own field.
    let body = "error: {\"code\":400,\"message\":\"slot unavailable\"}\n\n";
    let error = error_of(answer("200 OK", "content-type: text/event-stream\r\n", body)).await;
    assert_eq!(error.hint, format!("It says: slot unavailable. {more}"));
    assert!(error.outline.is_some());
}

#[tokio::test]
async fn dropping_the_answer_drops_the_request() {
    let event = chunk(b"data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\n");
    let start = Act::Send(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n".to_vec());
    let server = MockServer::start(vec![vec![start, event, Act::Stall], chunked(saying("next").as_bytes(), 100)]).await;
    let provider = provider(&server);
    let mut deltas = provider.stream(hello());
    assert_eq!(deltas.next().await, Some(Ok(Delta::Text("a".into()))));
    drop(deltas);
    // The stalled connection is not used again.
    let got = all(&provider).await;
    assert_eq!(got[0], Ok(Delta::Text("next".into())));
    assert_eq!(server.seen()[1].connection, 1);
}

/// A port of loopback where nobody listens, and nobody else can as long as the socket is kept.
fn closed() -> (TcpSocket, u16) {
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let port = socket.local_addr().unwrap().port();
    (socket, port)
}

#[tokio::test]
async fn an_unreachable_server_is_reported() {
    let (_taken, port) = closed();
    let connection =
        Connection { base_url: format!("http://127.0.0.1:{port}/v1"), ..connection(&MockServer::start(vec![]).await) };
    let error = all(&connect(&connection).unwrap()).await.pop().unwrap().unwrap_err();
    assert!(error.message.contains("cannot be reached"), "{error}");
    assert!(error.hint.contains("Start the server"), "{}", error.hint);
}

#[tokio::test]
async fn models_and_local_servers() {
    let list = "{\"object\":\"list\",\"data\":[{\"id\":\"b\"},{\"id\":\"a\"},{\"id\":\"models/c\"}]}";
    let models = || answer("200 OK", "content-type: application/json\r\n", list);
    let server = MockServer::start(vec![models(), models()]).await;
    let names = provider(&server).models().await.unwrap().into_iter().map(|model| model.name).collect::<Vec<_>>();
    assert_eq!(names, ["a", "b", "c"]);
    assert_eq!(server.seen()[0].line, "GET /v1/models");
    let other = MockServer::start(vec![answer("200 OK", "", "<html>a web site</html>")]).await;
    let (_taken, closed) = closed();
    let found = find_on(&[(closed, "nobody"), (other.port(), "site"), (server.port(), "vLLM")], None).await;
    assert_eq!(found.len(), 1);
    let url = format!("http://127.0.0.1:{}/v1", server.port());
    assert_eq!((found[0].name.as_str(), &found[0].url, found[0].models.len()), ("vLLM", &url, 3));
    assert_eq!(found[0].connection().base_url, server.url());
    // The Ollama that is named goes first, and none is looked for at the usual port.
    let tags = answer("200 OK", "content-type: application/json\r\n", "{\"models\":[{\"model\":\"q:1b\"}]}");
    let ollama = MockServer::start(vec![tags]).await;
    let url = format!("http://127.0.0.1:{}", ollama.port());
    let found = find_on(&[(closed, "Ollama")], Some(&url)).await;
    assert_eq!((found.len(), &found[0].url, found[0].connection().wire.as_str()), (1, &url, "ollama"));
    assert_eq!(ollama.seen()[0].line, "GET /api/tags");
}

#[test]
fn a_key_is_needed_but_not_on_loopback_and_never_shown() {
    let connection = |url: &str, key: Option<&str>| Connection {
        provider: "openai".into(),
        base_url: url.into(),
        custom_url: true,
        key_variable: Some("OPENAI_API_KEY".into()),
        key: key.map(Secret::new),
        wire: "chat".into(),
        ..Connection::default()
    };
    for url in ["http://localhost:1/v1", "http://127.8.0.1/v1", "http://[::1]:8080/v1", "http://a.localhost"] {
        assert!(connect(&connection(url, None)).is_ok(), "{url}");
    }
    let error = connect(&connection("https://api.openai.com/v1", None)).err().unwrap();
    assert_eq!(error.kind, ErrorKind::NoKey);
    assert_eq!(error.message, "no key for api.openai.com: OPENAI_API_KEY is not set");
    for url in ["", "nonsense", "ftp://x/v1", "http://"] {
        assert_eq!(connect(&connection(url, None)).err().unwrap().kind, ErrorKind::Settings, "{url}");
    }
    let error = connect(&connection("https://x.example", Some("two\nlines"))).err().unwrap();
    assert!(!format!("{error:?}").contains("lines\""), "{error:?}");
    let mut own = connection("https://x.example/v1", None);
    own.headers = vec![("api-key".into(), "k".into())];
    assert!(connect(&own).is_ok());
    own.headers = vec![("bad header".into(), "k".into())];
    assert_eq!(connect(&own).err().unwrap().kind, ErrorKind::Settings);
}

/// A stream that thinks and calls.
fn thinking_and_calling() -> Vec<Act> {
    let chunks = [
        json!({"choices": [{"delta": {"reasoning_content": "let me "}}]}),
        json!({"choices": [{"delta": {"reasoning_content": "look"}}]}),
        json!({"choices": [{"delta": {"tool_calls": [
            {"index": -1, "id": "c1", "function": {"name": "list", "arguments": "{}"}}]}, "finish_reason": "tool_calls"}],
            "usage": {"prompt_tokens": 100.0, "completion_tokens": "9", "prompt_tokens_details": {"cached_tokens": 64}}}),
    ];
    let mut body: String = chunks.iter().map(|chunk| format!("data: {chunk}\n\n")).collect();
    body.push_str("data: [DONE]\n\n");
    chunked(body.as_bytes(), 50)
}

/// Asks and joins the answer.
async fn joined(provider: &Arc<dyn Provider>, request: &Request) -> Answer {
    let mut answer = Answer::default();
    let mut deltas = provider.stream(request.clone());
    while let Some(delta) = deltas.next().await {
        answer.push(&delta.expect("an answer"));
    }
    answer
}

#[tokio::test]
async fn reasoning_goes_back_with_its_call_and_to_nobody_else() {
    let server = MockServer::start(vec![
        thinking_and_calling(),
        chunked(saying("done").as_bytes(), 100),
        chunked(saying("done").as_bytes(), 100),
    ])
    .await;
    let provider = provider(&server);
    let mut request = hello();
    let answer = joined(&provider, &request).await;
    assert_eq!((answer.thinking.as_str(), answer.calls.len()), ("let me look", 1));
    let usage = answer.usage.expect("told");
    assert_eq!((usage.input, usage.cache_read, usage.output), (100, 64, 9));
    let mut message = answer.into_message();
    message.origin = Some(Arc::new(provider.origin("m1")));
    request.messages.extend([Arc::new(message), Arc::new(Message::tool("c1", "a.rs"))]);
    joined(&provider, &request).await;
    request.model = "m2".into();
    joined(&provider, &request).await;
    let sent = |n: usize| server.seen()[n].body["messages"][1].clone();
    assert_eq!(sent(1)["reasoning_content"], "let me look");
    assert_eq!(sent(1)["tool_calls"][0]["id"], "c1");
    assert!(sent(2).get("reasoning_content").is_none(), "another model: {}", sent(2));
}

#[tokio::test]
async fn a_server_that_refuses_reasoning_or_misses_it_gets_the_next_request_as_it_wants_it() {
    let refusal = |words: &str| {
        answer(
            "400 Bad Request",
            "content-type: application/json\r\n",
            &json!({"error": {"message": words}}).to_string(),
        )
    };
    let fine = || chunked(saying("done").as_bytes(), 100);
    let server = MockServer::start(vec![
        thinking_and_calling(),
        refusal("property 'reasoning_content' is unsupported"),
        fine(),
        fine(),
    ])
    .await;
    let provider_1 = provider(&server);
    let mut request = hello();
    let mut message = joined(&provider_1, &request).await.into_message();
    message.origin = Some(Arc::new(provider_1.origin("m1")));
    request.messages.extend([Arc::new(message), Arc::new(Message::tool("c1", "a.rs"))]);
    joined(&provider_1, &request).await;
    // What was learnt holds.
    joined(&provider_1, &request).await;
    let carried: Vec<bool> =
        server.seen()[1..].iter().map(|seen| seen.body["messages"][1].get("reasoning_content").is_some()).collect();
    assert_eq!(carried, [true, false, false]);

    let server = MockServer::start(vec![refusal("Missing reasoning_content in message 1"), fine()]).await;
    joined(&provider(&server), &request).await;
    let carried: Vec<_> =
        server.seen().iter().map(|seen| seen.body["messages"][1].get("reasoning_content").cloned()).collect();
    assert_eq!(carried, [None, Some(json!(""))], "it came from another server");
}
