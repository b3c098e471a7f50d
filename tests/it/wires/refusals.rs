//! The lessons of a refusal: which field was not taken, for which model, and how a session goes on.

use std::sync::Arc;

use futures_util::StreamExt;
use nebula::provider::models::{Effort, Facts, Thinking};
use nebula::provider::{Answer, Delta, Error, ErrorKind, Message, Provider, Request, ToolSpec};
use serde_json::{Value, json};

use super::connected;
use crate::support::mock_server::{Act, MockServer, answer, chunked};

fn refusal(words: &str) -> Vec<Act> {
    let body = json!({"error": {"type": "invalid_request_error", "message": words}});
    answer("400 Bad Request", "content-type: application/json\r\n", &body.to_string())
}

fn events(events: &[Value]) -> Vec<Act> {
    chunked(events.iter().map(|event| format!("data: {event}\n\n")).collect::<String>().as_bytes(), 400)
}

fn lines(lines: &[Value]) -> Vec<Act> {
    chunked(lines.iter().map(|line| format!("{line}\n")).collect::<String>().as_bytes(), 400)
}

fn request(model: &str, messages: &[Arc<Message>]) -> Request {
    let tools = [ToolSpec { name: "list".into(), description: "d".into(), parameters: json!({"type": "object"}) }];
    Request { model: model.into(), tools: tools.into(), messages: messages.to_vec(), ..Request::default() }
}

/// The answer as a message of the conversation, and what the person was told.
async fn answer_of(provider: &Arc<dyn Provider>, request: Request) -> Result<(Arc<Message>, Vec<String>), Error> {
    let origin = Arc::new(provider.origin(&request.model));
    let (mut joined, mut notices) = (Answer::default(), Vec::new());
    let mut deltas = provider.stream(request);
    while let Some(delta) = deltas.next().await {
        let delta = delta?;
        if let Delta::Notice(title) = &delta {
            notices.push(title.clone());
        }
        joined.push(&delta);
    }
    let mut message = joined.into_message();
    message.origin = Some(origin);
    Ok((Arc::new(message), notices))
}

fn bodies(server: &MockServer) -> Vec<Value> {
    server.seen().into_iter().map(|seen| seen.body).collect()
}

fn chat_call(reasoning: bool) -> Vec<Act> {
    let call = json!([{"index": 0, "id": "c1", "function": {"name": "list", "arguments": "{}"}}]);
    let thought = json!({"choices": [{"index": 0, "delta": {"reasoning_content": "hm"}}]});
    let mut all = if reasoning { vec![thought] } else { Vec::new() };
    all.push(json!({"choices": [{"index": 0, "delta": {"tool_calls": call}, "finish_reason": "tool_calls"}]}));
    events(&all)
}

fn chat_text() -> Vec<Act> {
    events(&[json!({"choices": [{"index": 0, "delta": {"content": "so"}, "finish_reason": "stop"}]})])
}

/// A newer model than the table's takes the form that its refusal names, and the effort stays.
#[tokio::test]
async fn a_refusal_that_names_adaptive_thinking_teaches_that() {
    let words = "\"thinking.type.enabled\" is not supported for this model. \
                 Use \"thinking.type.adaptive\" and \"output_config.effort\"";
    let server = MockServer::start(vec![refusal(words), anthropic_text(), anthropic_text()]).await;
    let here = connected("anthropic", &server.url());
    let messages = [Arc::new(Message::user("hi"))];
    for _ in 0..2 {
        let asked = Request { effort: Some(Effort::High), ..request("some-newer-model", &messages) };
        let (_, notices) = answer_of(&here, asked).await.expect("an answer");
        assert_eq!(notices, Vec::<String>::new());
    }
    let sent = bodies(&server);
    assert_eq!(sent[0]["thinking"]["type"], "enabled");
    for sent in &sent[1..] {
        assert_eq!((&sent["thinking"]["type"], &sent["output_config"]["effort"]), (&json!("adaptive"), &json!("high")));
    }
}

/// A model that a server has on Responses alone is asked there, and from then on there alone.
#[tokio::test]
async fn a_model_that_is_on_responses_alone_is_asked_there() {
    let words = "This model is only supported in v1/responses and not in v1/chat/completions.";
    let body = json!({"error": {"type": "invalid_request_error", "param": "model", "code": null, "message": words}});
    let refused = || answer("404 Not Found", "content-type: application/json\r\n", &body.to_string());
    let item = json!({"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "so"}]});
    let text = || {
        events(&[
            json!({"type": "response.output_item.done", "output_index": 0, "item": item}),
            json!({"type": "response.completed", "response": {"status": "completed", "output": [item]}}),
        ])
    };
    let server = MockServer::start(vec![refused(), text(), text(), chat_text(), refused(), refused()]).await;
    let here = connected("chat", &server.url());
    let messages = [Arc::new(Message::user("hi"))];
    for _ in 0..2 {
        let (answer, _) = answer_of(&here, request("some-codex", &messages)).await.expect("an answer");
        assert_eq!(answer.text(), "so");
    }
    assert_eq!(here.origin("some-codex").wire, nebula::provider::Wire::Responses);
    answer_of(&here, request("another", &messages)).await.expect("an answer");
    let asked: Vec<bool> = bodies(&server).iter().map(|body| body.get("input").is_some()).collect();
    assert_eq!(asked, [false, true, true, false]);
    // Where it is not there either, the server's words are told.
    let error = answer_of(&here, request("a-third", &messages)).await.expect_err("refused twice");
    assert!(error.hint.contains(words), "{error:?}");
}

/// One model refuses the reasoning of earlier answers, another of the same server refuses messages without it, and later the first
/// one does, too: the conversation goes on with each.
#[tokio::test]
async fn what_a_model_refused_of_reasoning_holds_for_it_alone_and_not_for_ever() {
    let missing = "messages.1: missing field `reasoning_content`";
    let server = MockServer::start(vec![
        chat_call(true),
        refusal("messages.1: reasoning_content is not permitted"),
        chat_text(),
        refusal(missing),
        chat_text(),
        refusal(missing),
        chat_text(),
    ])
    .await;
    let here = connected("chat", &server.url());
    let mut messages = vec![Arc::new(Message::user("hi"))];
    let (called, _) = answer_of(&here, request("a", &messages)).await.expect("an answer");
    messages.extend([called, Arc::new(Message::tool("c1", "a.rs"))]);
    let (_, notices) = answer_of(&here, request("a", &messages)).await.expect("an answer");
    let left_out = format!("earlier reasoning was not accepted by 127.0.0.1:{} and is left out", server.port());
    assert_eq!(notices, [left_out]);
    let (_, notices) = answer_of(&here, request("b", &messages)).await.expect("the other model answers");
    assert_eq!(notices, Vec::<String>::new());
    answer_of(&here, request("a", &messages)).await.expect("the first model answers again");
    let sent: Vec<Value> =
        bodies(&server).iter().map(|body| body["messages"][1]["reasoning_content"].clone()).collect();
    assert_eq!(sent[1..], [json!("hm"), json!(null), json!(null), json!(""), json!(null), json!("hm")]);
}

/// A server that refuses every form of it is asked with each of them once.
#[tokio::test]
async fn no_form_of_reasoning_is_tried_twice_for_a_request() {
    let no = || refusal("reasoning_content: no");
    let server = MockServer::start(vec![chat_call(true), no(), no(), no(), no(), no()]).await;
    let here = connected("chat", &server.url());
    let mut messages = vec![Arc::new(Message::user("hi"))];
    let (called, _) = answer_of(&here, request("a", &messages)).await.expect("an answer");
    messages.extend([called, Arc::new(Message::tool("c1", "a.rs"))]);
    answer_of(&here, request("a", &messages)).await.expect_err("refused");
    assert_eq!(server.seen().len(), 4);
}

/// A server refuses the name of a call that it gave and signed itself: it goes back as it came once, then without the
/// signature, under a name that fits, as its result does.
#[tokio::test]
async fn a_signed_name_that_its_own_server_refuses_is_made_fit() {
    let parts = |part: Value| json!({"candidates": [{"content": {"parts": [part]}, "finishReason": "STOP"}]});
    let long = "a".repeat(80);
    for (name, fit) in [("bad name!", "bad_name_"), ("1abc", "_1abc"), (&*long, &long[..64])] {
        let call = json!({"functionCall": {"name": name, "args": {}}, "thoughtSignature": "c2ln"});
        let server = MockServer::start(vec![
            events(&[parts(call)]),
            refusal("Invalid value at contents[1].parts[0].function_call.name"),
            events(&[parts(json!({"text": "so"}))]),
            events(&[parts(json!({"text": "and so"}))]),
        ])
        .await;
        let here = connected("gemini", &server.url().replace("/v1", ""));
        let mut messages = vec![Arc::new(Message::user("hi"))];
        let (called, _) = answer_of(&here, request("gemini-3-pro", &messages)).await.expect("an answer");
        let id = called.calls().next().expect("a call").id.clone();
        messages.extend([called, Arc::new(Message::tool(id, "there is no such tool"))]);
        for _ in 0..2 {
            answer_of(&here, request("gemini-3-pro", &messages)).await.expect("an answer");
        }
        let sent = bodies(&server);
        assert_eq!(sent.len(), 4, "{name}");
        for (body, sent_name, signature) in [(&sent[1], name, true), (&sent[2], fit, false), (&sent[3], fit, false)] {
            let part = &body["contents"][1]["parts"][0];
            assert_eq!(
                (&part["functionCall"]["name"], part["thoughtSignature"] == "c2ln"),
                (&json!(sent_name), signature)
            );
            assert_eq!(body["contents"][2]["parts"][0]["functionResponse"]["name"], sent_name);
        }
    }
}

#[tokio::test]
async fn thoughts_that_ollama_refuses_are_left_out() {
    let call = json!([{"function": {"name": "list", "arguments": {}}}]);
    let thought = json!({"message": {"role": "assistant", "content": "", "thinking": "hm", "tool_calls": call}});
    let done = json!({"message": {"content": "so"}, "done": true, "done_reason": "stop"});
    for words in ["thinking block in messages is not accepted", "thinking is not accepted"] {
        let server = MockServer::start(vec![
            lines(&[thought.clone(), done.clone()]),
            refusal(words),
            lines(std::slice::from_ref(&done)),
        ])
        .await;
        let here = connected("ollama", &server.url().replace("/v1", ""));
        let mut messages = vec![Arc::new(Message::user("hi"))];
        let (called, _) = answer_of(&here, request("m", &messages)).await.expect("an answer");
        let id = called.calls().next().expect("a call").id.clone();
        messages.extend([called, Arc::new(Message::tool(id, "a.rs"))]);
        let (_, notices) = answer_of(&here, request("m", &messages)).await.expect("the session goes on");
        assert_eq!(notices.len(), 1, "{words}: {notices:?}");
        let sent: Vec<Value> = bodies(&server).iter().map(|body| body["messages"][1]["thinking"].clone()).collect();
        assert_eq!(sent[1..], [json!("hm"), json!(null)], "{words}");
    }
}

#[tokio::test]
async fn an_answer_that_failed_without_a_reason_is_no_whole_one() {
    let said = |end: Value| {
        let delta = json!({"type": "response.output_text.delta", "output_index": 0, "delta": "half"});
        events(&[delta, end])
    };
    for end in [
        json!({"type": "response.failed", "response": {"status": "failed", "error": null}}),
        json!({"type": "response.completed", "response": {"status": "cancelled"}}),
    ] {
        let server = MockServer::start(vec![said(end.clone())]).await;
        let here = connected("responses", &server.url());
        let error = answer_of(&here, request("m", &[Arc::new(Message::user("hi"))])).await.expect_err("it failed");
        assert_eq!(error.kind, ErrorKind::Broken { after_first_token: true }, "{end}");
    }
}

fn anthropic_text() -> Vec<Act> {
    events(&[
        json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": "so"}}),
        json!({"type": "message_stop"}),
    ])
}

fn gemini_text() -> Vec<Act> {
    events(&[json!({"candidates": [{"content": {"parts": [{"text": "so"}]}, "finishReason": "STOP"}]})])
}

/// How much to think is given up first; that thoughts are shown, and come sealed, stays.
#[tokio::test]
async fn a_refused_effort_takes_nothing_else_along() {
    let said = |wire: &str| match wire {
        "responses" => events(&[json!({"type": "response.completed", "response": {"status": "completed", "output": [
            {"type": "message", "content": [{"type": "output_text", "text": "so"}]}]}})]),
        "anthropic" => anthropic_text(),
        _ => gemini_text(),
    };
    for (wire, thinking, words, field, kept) in [
        (
            "responses",
            Thinking::Effort,
            "Unsupported value: 'reasoning.effort' does not support 'low'",
            "/reasoning/effort",
            vec!["/reasoning/summary", "/include/0"],
        ),
        (
            "anthropic",
            Thinking::Adaptive,
            "output_config.effort: not supported",
            "/output_config",
            vec!["/thinking/type"],
        ),
        (
            "gemini",
            Thinking::Level,
            "Thinking level is not supported for this model.",
            "/generationConfig/thinkingConfig/thinkingLevel",
            vec!["/generationConfig/thinkingConfig/includeThoughts"],
        ),
    ] {
        let server = MockServer::start(vec![refusal(words), said(wire)]).await;
        let here = connected(wire, &server.url().replace("/v1", ""));
        let facts = Facts { thinking: Some(thinking), ..Facts::default() };
        let messages = [Arc::new(Message::user("hi"))];
        let request = Request { effort: Some(Effort::Low), facts, ..request("m", &messages) };
        let (_, notices) = answer_of(&here, request).await.expect("an answer");
        assert_eq!(notices, [format!("m at 127.0.0.1:{} takes no effort: low is left out", server.port())]);
        let sent = bodies(&server);
        assert!(sent[0].pointer(field).is_some() && sent[1].pointer(field).is_none(), "{wire}: {}", sent[1]);
        for kept in kept {
            assert!(sent[1].pointer(kept).is_some(), "{wire}: {kept}: {}", sent[1]);
        }
    }
}

/// An effort is tried with a model of which nothing is known, and left out, with a word, where it is refused.
#[tokio::test]
async fn an_unknown_model_is_tried_with_an_effort() {
    for (wire, words, field, said) in [
        ("anthropic", "thinking: Extra inputs are not permitted", "/thinking/budget_tokens", anthropic_text()),
        ("gemini", "Thinking level is not supported.", "/generationConfig/thinkingConfig/thinkingLevel", gemini_text()),
    ] {
        let server = MockServer::start(vec![refusal(words), said]).await;
        let here = connected(wire, &server.url().replace("/v1", ""));
        let messages = [Arc::new(Message::user("hi"))];
        let request = Request { effort: Some(Effort::Low), ..request("m", &messages) };
        let (_, notices) = answer_of(&here, request).await.expect("an answer");
        assert_eq!(notices, [format!("m at 127.0.0.1:{} takes no effort: low is left out", server.port())]);
        let sent = bodies(&server);
        assert!(sent[0].pointer(field).is_some() && sent[1].pointer(field).is_none(), "{wire}: {sent:?}");
    }
}

/// What a model lacks becomes the next lower effort it has, also at a server of Chat Completions; one that does not think gets none.
#[tokio::test]
async fn a_chat_server_gets_an_effort_that_the_model_has() {
    for (thinking, efforts, sent) in [
        (Some(Thinking::Effort), Some(vec![Effort::Low, Effort::High]), json!("high")),
        (Some(Thinking::None), None, json!(null)),
        (None, None, json!("xhigh")),
    ] {
        let server = MockServer::start(vec![chat_text()]).await;
        let facts = Facts { thinking, efforts, ..Facts::default() };
        let messages = [Arc::new(Message::user("hi"))];
        let request = Request { effort: Some(Effort::XHigh), facts, ..request("m", &messages) };
        answer_of(&connected("chat", &server.url()), request).await.expect("an answer");
        assert_eq!(bodies(&server)[0]["reasoning_effort"], sent);
    }
}

/// Why the server held an answer back is told to the person, and is no word of the model.
#[tokio::test]
async fn the_explanation_of_a_refusal_is_not_what_the_model_said() {
    let stop = json!({"stop_reason": "refusal", "stop_details": {"explanation": "because of X"}});
    let server = MockServer::start(vec![events(&[
        json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": "part"}}),
        json!({"type": "content_block_stop", "index": 0}),
        json!({"type": "message_delta", "delta": stop}),
        json!({"type": "message_stop"}),
    ])])
    .await;
    let here = connected("anthropic", &server.url());
    let (message, notices) = answer_of(&here, request("m", &[Arc::new(Message::user("hi"))])).await.expect("an answer");
    assert_eq!((&*message.text(), notices), ("part", vec!["because of X".to_string()]));
}

/// A block that is no call of ours goes back with its input, and one of which a piece is not known goes back without its seal.
#[tokio::test]
async fn blocks_of_other_kinds_are_sealed_whole_or_not_at_all() {
    let delta = |index: u64, delta: Value| json!({"type": "content_block_delta", "index": index, "delta": delta});
    let begin =
        |index: u64, block: Value| json!({"type": "content_block_start", "index": index, "content_block": block});
    let end = |index: u64| json!({"type": "content_block_stop", "index": index});
    let server = MockServer::start(vec![events(&[
        begin(0, json!({"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {}})),
        delta(0, json!({"type": "input_json_delta", "partial_json": "{\"query\":"})),
        delta(0, json!({"type": "input_json_delta", "partial_json": "1.0}"})),
        end(0),
        begin(1, json!({"type": "new_kind", "a": 1})),
        delta(1, json!({"type": "new_delta", "b": 2})),
        end(1),
        begin(2, json!({"type": "text", "text": "so"})),
        end(2),
        json!({"type": "message_stop"}),
    ])])
    .await;
    let here = connected("anthropic", &server.url());
    let (message, _) = answer_of(&here, request("m", &[Arc::new(Message::user("hi"))])).await.expect("an answer");
    let seals: Vec<&str> = message.seals().map(|json| &**json).collect();
    assert_eq!(seals.len(), 2, "{seals:?}");
    assert!(seals[0].ends_with("\"input\":{\"query\":1.0}}"), "{}", seals[0]);
    assert!(seals[1].contains("so"), "{}", seals[1]);
}

/// A count of the answer alone is a count.
#[tokio::test]
async fn gemini_counts_an_answer_whose_prompt_was_not_counted() {
    let server = MockServer::start(vec![events(&[json!({
        "candidates": [{"content": {"parts": [{"text": "so"}]}, "finishReason": "STOP"}],
        "usageMetadata": {"candidatesTokenCount": 5, "thoughtsTokenCount": 2},
    })])])
    .await;
    let here = connected("gemini", &server.url().replace("/v1", ""));
    let mut deltas = here.stream(request("m", &[Arc::new(Message::user("hi"))]));
    let mut usage = None;
    while let Some(delta) = deltas.next().await {
        if let Ok(Delta::Usage(counts)) = delta {
            usage = Some((counts.input, counts.output, counts.thinking));
        }
    }
    assert_eq!(usage, Some((0, 7, 2)));
}

/// What is told of a quota does not depend on the status.
#[tokio::test]
async fn a_quota_that_is_used_up_is_reported_whatever_the_status() {
    for (status, kind) in [("400 Bad Request", "billing_error"), ("403 Forbidden", "insufficient_quota")] {
        let body = json!({"error": {"type": kind, "message": "no"}});
        let server = MockServer::start(vec![answer(status, "", &body.to_string())]).await;
        let error = answer_of(&connected("chat", &server.url()), request("m", &[Arc::new(Message::user("hi"))])).await;
        let error = error.expect_err("refused");
        assert!(error.message.starts_with("the quota of this key is used up"), "{status}: {error}");
    }
}

/// What the server begins again is no part of the answer: neither its text nor half a call.
#[tokio::test]
async fn blocks_that_a_second_start_replaces_are_withdrawn() {
    let start = || json!({"type": "message_start", "message": {"usage": {"input_tokens": 10}}});
    let begin =
        |index: u64, block: Value| json!({"type": "content_block_start", "index": index, "content_block": block});
    let delta = |index: u64, delta: Value| json!({"type": "content_block_delta", "index": index, "delta": delta});
    let text = |text: &str| json!({"type": "text_delta", "text": text});
    let tool = |id: &str| json!({"type": "tool_use", "id": id, "name": "list", "input": {}});
    let server = MockServer::start(vec![events(&[
        start(),
        begin(0, json!({"type": "text", "text": ""})),
        delta(0, text("I will lo")),
        begin(1, tool("toolu_0")),
        delta(1, json!({"type": "input_json_delta", "partial_json": "{\"pa"})),
        start(),
        begin(0, json!({"type": "text", "text": ""})),
        delta(0, text("I will look")),
        json!({"type": "content_block_stop", "index": 0}),
        begin(1, tool("toolu_1")),
        json!({"type": "content_block_stop", "index": 1}),
        json!({"type": "message_stop"}),
    ])])
    .await;
    let here = connected("anthropic", &server.url());
    let (message, _) = answer_of(&here, request("m", &[Arc::new(Message::user("hi"))])).await.expect("an answer");
    let calls: Vec<_> = message.calls().map(|call| (call.id.as_str(), call.arguments.as_str())).collect();
    assert_eq!((&*message.text(), calls), ("I will look", vec![("toolu_1", "{}")]));
    assert_eq!(message.seals().count(), 2);
}

/// A model that takes no temperature is asked once more without one, and not sent one again.
#[tokio::test]
async fn a_temperature_that_is_refused_is_left_out() {
    let done = json!({"message": {"content": "so"}, "done": true, "done_reason": "stop"});
    for wire in ["chat", "ollama"] {
        let said = || if wire == "chat" { chat_text() } else { lines(std::slice::from_ref(&done)) };
        let server =
            MockServer::start(vec![refusal("Unsupported value: 'temperature' does not support 0"), said(), said()])
                .await;
        let url = server.url();
        let here = connected(wire, if wire == "chat" { &url } else { url.trim_end_matches("/v1") });
        for _ in 0..2 {
            let asked = Request { temperature: Some(0.0), ..request("m", &[Arc::new(Message::user("hi"))]) };
            answer_of(&here, asked).await.expect("an answer");
        }
        let sent = |body: &Value| body.get("temperature").or(body["options"].get("temperature")).is_some();
        assert_eq!(bodies(&server).iter().map(sent).collect::<Vec<_>>(), [true, false, false], "{wire}");
    }
}

/// A template that wants the person and the model in turns, and then no system prompt, is followed; no session is stuck.
#[tokio::test]
async fn the_roles_that_a_template_takes_are_learnt() {
    let turns = "Conversation roles must alternate user/assistant/user/assistant/...";
    let failed = json!({"error": {"code": 500, "message": turns, "type": "server_error"}}).to_string();
    let failed = answer("500 Internal Server Error", "content-type: application/json\r\n", &failed);
    let server = MockServer::start(vec![failed, refusal("System role not supported"), chat_text(), chat_text()]).await;
    let here = connected("chat", &server.url());
    let messages = ["one", "two"].map(|text| Arc::new(Message::user(text)));
    for _ in 0..2 {
        let asked = Request { system: "be brief".into(), ..request("m", &messages) };
        answer_of(&here, asked).await.expect("an answer");
    }
    let roles = |body: &Value| {
        let messages = body["messages"].as_array().expect("messages").iter();
        messages
            .map(|m| format!("{}: {}", m["role"].as_str().unwrap(), m["content"].as_str().unwrap()))
            .collect::<Vec<_>>()
    };
    let sent: Vec<_> = bodies(&server).iter().map(roles).collect();
    assert_eq!(sent[0], ["system: be brief", "user: one", "user: two"]);
    assert_eq!(sent[1], ["system: be brief", "user: one\n\ntwo"]);
    assert_eq!(sent[2..], [["user: be brief\n\none\n\ntwo"], ["user: be brief\n\none\n\ntwo"]]);
}

/// A body that a proxy has compressed without being asked is one clear error.
#[tokio::test]
async fn a_compressed_answer_is_told_as_such() {
    let server = MockServer::start(vec![answer("200 OK", "content-encoding: gzip\r\n", "\u{1f}...")]).await;
    let why = answer_of(&connected("chat", &server.url()), request("m", &[Arc::new(Message::user("hi"))])).await;
    let why = why.expect_err("no answer");
    assert_eq!(why.kind, ErrorKind::BadAnswer);
    assert!(why.message.contains("content-encoding: gzip"), "{}", why.message);
}

/// A server that knows the limit of tokens by its other name is asked with that one, and so from then on; one that knows
/// neither is not asked for ever.
#[tokio::test]
async fn the_name_of_the_limit_of_tokens_is_learnt() {
    let limited = || Request { max_output: Some(900), ..request("m", &[Arc::new(Message::user("hi"))]) };
    let words =
        "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.";
    let server = MockServer::start(vec![refusal(words), chat_text(), chat_text()]).await;
    let here = connected("chat", &server.url());
    for _ in 0..2 {
        answer_of(&here, limited()).await.expect("an answer");
    }
    let names = |body: &Value| (body.get("max_tokens").is_some(), body.get("max_completion_tokens").is_some());
    let sent: Vec<_> = bodies(&server).iter().map(names).collect();
    assert_eq!(sent, [(true, false), (false, true), (false, true)]);
    let back = "Unrecognized request argument supplied: max_completion_tokens";
    let server = MockServer::start(vec![refusal(words), refusal(back), chat_text()]).await;
    answer_of(&connected("chat", &server.url()), limited()).await.expect_err("refused");
}

/// Mistral takes ids of nine letters and digits alone.
#[tokio::test]
async fn ids_of_calls_are_nine_letters_and_digits_where_a_server_says_so() {
    let words = "Tool call id was c1 but must be a-z, A-Z, 0-9, with a length of 9.";
    let server = MockServer::start(vec![chat_call(false), refusal(words), chat_text()]).await;
    let here = connected("chat", &server.url());
    let mut messages = vec![Arc::new(Message::user("hi"))];
    let (called, _) = answer_of(&here, request("a", &messages)).await.expect("an answer");
    messages.extend([called, Arc::new(Message::tool("c1", "a.rs"))]);
    answer_of(&here, request("a", &messages)).await.expect("an answer");
    let sent = bodies(&server);
    let ids = |body: &Value| {
        (body["messages"][1]["tool_calls"][0]["id"].clone(), body["messages"][2]["tool_call_id"].clone())
    };
    assert_eq!(ids(&sent[1]), (json!("c1"), json!("c1")));
    assert_eq!(ids(&sent[2]), (json!("call00001"), json!("call00001")));
}

/// Neither a key nor a header is named where none is sent, and a server of plain HTTP is told as one, at once.
#[tokio::test]
async fn what_lets_nobody_in_and_what_speaks_no_tls_is_told_as_it_is() {
    let server = MockServer::start(vec![answer("403 Forbidden", "", "{}")]).await;
    let here = connected("chat", &server.url());
    let asked = || request("m", &[Arc::new(Message::user("hi"))]);
    let error = answer_of(&here, asked()).await.expect_err("refused");
    assert_eq!(error.message, format!("127.0.0.1:{} does not permit this (403)", server.port()));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let url = format!("https://{}/v1", listener.local_addr().expect("an address"));
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.expect("a connection");
        let _ = tokio::io::AsyncReadExt::read(&mut stream, &mut [0; 1_024]).await;
        let _ = tokio::io::AsyncWriteExt::write_all(&mut stream, b"HTTP/1.1 400 Bad Request\r\n\r\n").await;
    });
    let error = answer_of(&connected("chat", &url), asked()).await.expect_err("no TLS");
    assert_eq!((error.kind, error.hint.contains("http://")), (ErrorKind::Settings, true), "{error:?}");
}

/// Two addresses of one host are two servers: what is known of models is kept for each.
#[tokio::test]
async fn models_are_kept_by_the_whole_address() {
    let [a, b] = ["http://127.0.0.1:9/gwa/v1", "http://127.0.0.1:9/gwb/v1"].map(|url| connected("chat", url));
    assert_eq!(a.place(), b.place());
    assert_ne!(a.address(), b.address());
    assert_ne!(a.address(), connected("ollama", "http://127.0.0.1:9/gwa/v1").address());
}
