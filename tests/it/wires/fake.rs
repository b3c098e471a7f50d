//! A server that speaks all five wire formats: it checks each request by that format's rules and by what it sealed before, and
//! answers as it is told.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

use super::rules;

/// The next answers of the server.
#[derive(Debug, Clone, Default)]
pub struct Plan {
    /// It thinks first.
    pub thinks: bool,
    /// It says so much.
    pub text: String,
    /// This many calls.
    pub calls: usize,
    /// The connection breaks before the end.
    pub breaks: bool,
    /// It refuses what it sealed.
    pub refuses_seals: bool,
    /// It calls in its first answer alone.
    pub calls_once: bool,
    /// It counts its calls anew in each answer.
    pub same_ids: bool,
}

#[derive(Default)]
struct State {
    plan: Plan,
    /// Every seal that was given out, with its wire format and model.
    given: BTreeSet<(String, String, String)>,
    wrong: Vec<String>,
    seen: Vec<(String, Value)>,
    number: usize,
    /// The list of models of the OpenAI-compatible addresses; none: there is no such page.
    list: Option<Value>,
}

/// A server on a free port of loopback; gone when dropped.
pub struct FakeServer {
    port: u16,
    state: Arc<Mutex<State>>,
    task: JoinHandle<()>,
}

impl Drop for FakeServer {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl FakeServer {
    pub async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let state = Arc::new(Mutex::new(State::default()));
        let shared = Arc::clone(&state);
        let task = tokio::spawn(async move {
            let mut served = tokio::task::JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                served.spawn(serve(stream, Arc::clone(&shared)));
            }
        });
        FakeServer { port, state, task }
    }

    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Sets the answers to the next requests.
    pub fn plan(&self, plan: Plan) {
        self.lock().plan = plan;
    }

    /// Sets the list of models.
    pub fn list(&self, list: Value) {
        self.lock().list = Some(list);
    }

    /// Returns what was wrong with the requests so far.
    pub fn wrong(&self) -> Vec<String> {
        self.lock().wrong.clone()
    }

    /// The requests so far: wire format and body.
    pub fn seen(&self) -> Vec<(String, Value)> {
        self.lock().seen.clone()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().expect("no panic under it")
    }
}

async fn serve(mut stream: TcpStream, state: Arc<Mutex<State>>) {
    while let Some((path, body)) = read_request(&mut stream).await {
        let (head, body, breaks) = answer(&state, &path, &body);
        if stream.write_all(head.as_bytes()).await.is_err() || stream.write_all(body.as_bytes()).await.is_err() {
            return;
        }
        if breaks {
            return;
        }
    }
}

/// Reads the path and the body of a request; nothing once the client is gone.
pub(super) async fn read_request(stream: &mut TcpStream) -> Option<(String, Value)> {
    let mut bytes = Vec::new();
    let end = loop {
        if let Some(at) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            break at + 4;
        }
        if stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
    };
    let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
    let length = |line: &str| line.to_lowercase().strip_prefix("content-length:")?.trim().parse().ok();
    let length: usize = head.lines().find_map(length).unwrap_or(0);
    while bytes.len() < end + length {
        if stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
    }
    let path = head.split_whitespace().nth(1)?.to_string();
    Some((path, serde_json::from_slice(&bytes[end..]).unwrap_or_default()))
}

fn answer(state: &Mutex<State>, path: &str, body: &Value) -> (String, String, bool) {
    let mut state = state.lock().expect("no panic under it");
    let path = path.split('?').next().unwrap_or(path);
    if let Some(list) = state.list.as_ref().filter(|_| path == "/v1/models") {
        return whole("200 OK", list);
    }
    let (wire, model) = match path {
        "/v1/chat/completions" => ("chat", body["model"].as_str().unwrap_or_default().to_string()),
        "/v1/responses" => ("responses", body["model"].as_str().unwrap_or_default().to_string()),
        "/v1/messages" => ("anthropic", body["model"].as_str().unwrap_or_default().to_string()),
        "/api/chat" => ("ollama", body["model"].as_str().unwrap_or_default().to_string()),
        _ => match path.strip_prefix("/v1beta/models/").and_then(|rest| rest.strip_suffix(":streamGenerateContent")) {
            Some(model) => ("gemini", model.to_string()),
            None => return whole("404 Not Found", &json!({"error": {"message": "no such page"}})),
        },
    };
    state.seen.push((wire.to_string(), body.clone()));
    let stored = match wire {
        "chat" => rules::chat(body),
        "responses" => rules::responses(body),
        "anthropic" => rules::anthropic(body),
        "gemini" => rules::gemini(body, &model),
        _ => rules::ollama(body),
    };
    let sealed = seals(wire, body);
    let foreign = sealed.iter().find(|seal| !state.given.contains(&(wire.into(), model.clone(), seal.to_string())));
    let wrong = stored.err().or_else(|| foreign.map(|seal| format!("{wire}/{model} never gave {seal}")));
    if let Some(wrong) = wrong {
        state.wrong.push(format!("{wire}: {wrong}"));
        return whole("418 I'm a teapot", &json!({"error": {"message": wrong}}));
    }
    if state.plan.refuses_seals && !sealed.is_empty() {
        let words = "Invalid signature in thinking block: thought_signature, encrypted content, reasoning_content";
        return whole("400 Bad Request", &json!({"error": {"message": words, "type": "invalid_request_error"}}));
    }
    state.number += 1;
    let plan = state.plan.clone();
    let number = if plan.same_ids { 0 } else { state.number };
    if plan.calls_once {
        state.plan.calls = 0;
    }
    let events = match wire {
        "chat" => chat(&plan, number),
        "responses" => responses(&plan, number),
        "anthropic" => anthropic(&plan, number),
        "gemini" => gemini(&plan, number, &model),
        _ => ollama(&plan, number),
    };
    let given: Vec<String> = events.iter().flat_map(|event| given(wire, event)).collect();
    state.given.extend(given.into_iter().map(|seal| (wire.to_string(), model.clone(), seal)));
    let mut events = events;
    if plan.breaks {
        events.truncate(events.len().div_ceil(2));
    }
    let framed = |event: &Value| match wire {
        "ollama" => format!("{event}\n"),
        "anthropic" => format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap_or_default()),
        _ => format!("data: {event}\n\n"),
    };
    let text: String = events.iter().map(framed).collect();
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
    let end = if plan.breaks { "" } else { "0\r\n\r\n" };
    (head.into(), format!("{:x}\r\n{text}\r\n{end}", text.len()), plan.breaks)
}

fn whole(status: &str, body: &Value) -> (String, String, bool) {
    let body = body.to_string();
    (
        format!("HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n", body.len()),
        body,
        false,
    )
}

/// The base64 of `skip_thought_signature_validator`.
const SKIP: &str = "c2tpcF90aG91Z2h0X3NpZ25hdHVyZV92YWxpZGF0b3I=";

/// Returns what of a request was sealed by a server.
fn seals(wire: &str, body: &Value) -> Vec<String> {
    let mut found = Vec::new();
    walk(body, &mut |name, value| {
        let ours = match wire {
            "anthropic" => matches!(name, "signature" | "data"),
            "responses" => name == "encrypted_content",
            "gemini" => name == "thoughtSignature",
            "chat" => name == "reasoning_content",
            _ => name == "thinking",
        };
        if let Some(text) = value.as_str().filter(|text| ours && !text.is_empty() && *text != SKIP) {
            found.push(text.to_string());
        }
    });
    found
}

fn given(wire: &str, event: &Value) -> Vec<String> {
    match wire {
        "chat" | "ollama" => seals(wire, event),
        _ => {
            let mut all = Vec::new();
            walk(event, &mut |name, value| {
                if matches!(name, "signature" | "data" | "encrypted_content" | "thoughtSignature") {
                    all.extend(value.as_str().map(String::from));
                }
            });
            all
        }
    }
}

fn walk(value: &Value, found: &mut impl FnMut(&str, &Value)) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                found(name, value);
                walk(value, found);
            }
        }
        Value::Array(list) => list.iter().for_each(|value| walk(value, found)),
        _ => {}
    }
}

/// Every format's servers have call ids of their own kind; some give none.
fn call_id(wire: &str, number: usize, at: usize) -> String {
    match wire {
        "anthropic" => format!("toolu_{number}_{at}"),
        // Ids that another format does not take.
        "chat" => format!("chatcmpl|tool {number}.{at}"),
        _ => format!("fc:{number}/{at}"),
    }
}

fn chat(plan: &Plan, number: usize) -> Vec<Value> {
    let delta = |delta: Value| json!({"choices": [{"index": 0, "delta": delta}]});
    let mut events = Vec::new();
    if plan.thinks {
        events.push(delta(json!({"reasoning_content": format!("chat thought {number}")})));
    }
    if !plan.text.is_empty() {
        events.push(delta(json!({"content": plan.text})));
    }
    for at in 0..plan.calls {
        let function = json!({"name": "list", "arguments": "{\"directory\":\".\"}"});
        events.push(delta(
            json!({"tool_calls": [{"index": at, "id": call_id("chat", number, at), "function": function}]}),
        ));
    }
    let reason = if plan.calls > 0 { "tool_calls" } else { "stop" };
    events.push(json!({"choices": [{"index": 0, "delta": {}, "finish_reason": reason}],
        "usage": {"prompt_tokens": 10, "completion_tokens": 5}}));
    events
}

fn anthropic(plan: &Plan, number: usize) -> Vec<Value> {
    let mut events = vec![json!({"type": "message_start", "message": {"usage": {"input_tokens": 10}}})];
    let mut blocks = Vec::new();
    if plan.thinks {
        blocks.push((
            json!({"type": "thinking", "thinking": ""}),
            vec![
                json!({"type": "thinking_delta", "thinking": "claude thought"}),
                json!({"type": "signature_delta", "signature": format!("sig-{number}")}),
            ],
        ));
        blocks.push((json!({"type": "redacted_thinking", "data": format!("red-{number}")}), vec![]));
    }
    if !plan.text.is_empty() {
        blocks.push((json!({"type": "text", "text": ""}), vec![json!({"type": "text_delta", "text": plan.text})]));
    }
    for at in 0..plan.calls {
        let block = json!({"type": "tool_use", "id": call_id("anthropic", number, at), "name": "list", "input": {}});
        blocks.push((
            block,
            vec![
                json!({"type": "input_json_delta", "partial_json": "{\"directory\""}),
                json!({"type": "input_json_delta", "partial_json": ": \".\"}"}),
            ],
        ));
    }
    for (index, (block, deltas)) in blocks.into_iter().enumerate() {
        events.push(json!({"type": "content_block_start", "index": index, "content_block": block}));
        for delta in deltas {
            events.push(json!({"type": "content_block_delta", "index": index, "delta": delta}));
        }
        events.push(json!({"type": "content_block_stop", "index": index}));
    }
    let reason = if plan.calls > 0 { "tool_use" } else { "end_turn" };
    events.push(json!({"type": "message_delta", "delta": {"stop_reason": reason}, "usage": {"output_tokens": 5}}));
    events.push(json!({"type": "message_stop"}));
    events
}

fn responses(plan: &Plan, number: usize) -> Vec<Value> {
    let mut items = Vec::new();
    if plan.thinks {
        items.push(json!({"type": "reasoning", "id": format!("rs_{number}"), "status": "completed",
            "summary": [{"type": "summary_text", "text": "gpt thought"}], "encrypted_content": format!("enc-{number}")}));
    }
    if !plan.text.is_empty() {
        items
            .push(json!({"type": "message", "id": format!("msg_{number}"), "role": "assistant", "status": "completed",
            "phase": "commentary", "content": [{"type": "output_text", "text": plan.text}]}));
    }
    for at in 0..plan.calls {
        items.push(json!({"type": "function_call", "id": format!("fc_{number}_{at}"), "status": "completed",
            "call_id": call_id("responses", number, at), "name": "list", "arguments": "{\"directory\":\".\"}"}));
    }
    let mut events = vec![json!({"type": "response.created", "response": {}})];
    for (at, item) in items.iter().enumerate() {
        let mut added = item.clone();
        added["arguments"] = "".into();
        events.push(json!({"type": "response.output_item.added", "output_index": at, "item": added}));
        match item["type"].as_str() {
            Some("message") => events.push(
                json!({"type": "response.output_text.delta", "output_index": at, "item_id": "x", "delta": plan.text}),
            ),
            Some("function_call") => {
                let delta = item["arguments"].clone();
                events.push(
                    json!({"type": "response.function_call_arguments.delta", "output_index": at, "delta": delta}),
                );
            }
            _ => {}
        }
        events.push(json!({"type": "response.output_item.done", "output_index": at, "item": item}));
    }
    events.push(json!({"type": "response.completed", "response": {"status": "completed", "output": items,
        "usage": {"input_tokens": 10, "output_tokens": 5}}}));
    events
}

fn gemini(plan: &Plan, number: usize, model: &str) -> Vec<Value> {
    let chunk = |parts: Value| json!({"candidates": [{"content": {"role": "model", "parts": parts}, "index": 0}]});
    let mut events = Vec::new();
    if plan.thinks {
        events.push(chunk(json!([{"text": "gemini thought", "thought": true}])));
    }
    if !plan.text.is_empty() {
        let (first, second) = plan.text.split_at(plan.text.len() / 2);
        events.push(chunk(json!([{"text": first}])));
        events.push(chunk(json!([{"text": second}])));
    }
    for at in 0..plan.calls {
        let mut part = json!({"functionCall": {"name": "list", "args": {"directory": "."}}});
        if number.is_multiple_of(2) {
            part["functionCall"]["id"] = call_id("gemini", number, at).into();
        }
        if at == 0 && (plan.thinks || model.starts_with("gemini-3")) {
            part["thoughtSignature"] = format!("sg-{number}").into();
        }
        events.push(chunk(json!([part])));
    }
    if plan.thinks && plan.calls == 0 {
        events.push(chunk(json!([{"text": "", "thoughtSignature": format!("sg-{number}")}])));
    }
    events.push(json!({"candidates": [{"content": {"parts": []}, "finishReason": "STOP", "index": 0}],
        "usageMetadata": {"promptTokenCount": 10, "candidatesTokenCount": 5}}));
    events
}

fn ollama(plan: &Plan, number: usize) -> Vec<Value> {
    let line = |message: Value| json!({"message": message, "done": false});
    let mut lines = Vec::new();
    if plan.thinks {
        lines.push(line(json!({"role": "assistant", "content": "", "thinking": format!("ollama thought {number}")})));
    }
    if !plan.text.is_empty() {
        lines.push(line(json!({"role": "assistant", "content": plan.text})));
    }
    for _ in 0..plan.calls {
        let call = json!({"function": {"name": "list", "arguments": {"directory": "."}}});
        lines.push(line(json!({"role": "assistant", "content": "", "tool_calls": [call]})));
    }
    lines.push(json!({"message": {"role": "assistant", "content": ""}, "done": true, "done_reason": "stop",
        "prompt_eval_count": 10, "eval_count": 5}));
    lines
}
