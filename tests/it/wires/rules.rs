//! The rules that each wire format's servers insist on: fields, turns, pairs of call and result, ids.

use std::collections::BTreeSet;

use serde_json::Value;

type Rule = Result<(), String>;

fn known(object: &Value, names: &[&str], place: &str) -> Rule {
    let object = object.as_object().ok_or(format!("{place} is no object"))?;
    match object.keys().find(|key| !names.contains(&key.as_str())) {
        Some(key) => Err(format!("{place}: unknown field {key}")),
        None => Ok(()),
    }
}

fn list<'v>(value: &'v Value, place: &str) -> Result<&'v Vec<Value>, String> {
    value.as_array().ok_or(format!("{place} is no list"))
}

fn text<'v>(value: &'v Value, place: &str) -> Result<&'v str, String> {
    value.as_str().ok_or(format!("{place} is no text"))
}

/// The name of a tool in a call of the past, as strict servers want it.
fn named(name: &Value) -> Rule {
    let name = text(name, "the name of a call")?;
    let form = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    ensure((1..=64).contains(&name.len()) && name.chars().all(form), || format!("the name {name:?}"))
}

fn ensure(holds: bool, what: impl FnOnce() -> String) -> Rule {
    if holds { Ok(()) } else { Err(what()) }
}

/// Turns alternate from the person's on; blocks are not empty; every call has exactly one result at the beginning of the next
/// turn; ids are of the right form and no two calls share one; no answer ends in what was only thought; at most four cache marks.
pub fn anthropic(body: &Value) -> Rule {
    let fields = ["model", "stream", "max_tokens", "system", "tools", "messages", "thinking", "output_config"];
    known(body, &fields, "the body")?;
    ensure(body["max_tokens"].as_u64().is_some_and(|n| n > 0) && body["stream"] == true, || "no max_tokens".into())?;
    if let Some(budget) = body["thinking"]["budget_tokens"].as_u64() {
        let most = body["max_tokens"].as_u64().unwrap_or(0);
        ensure((1_024..most).contains(&budget), || format!("a budget of {budget} of {most}"))?;
    }
    ensure(body.to_string().matches("\"cache_control\"").count() <= 4, || "more than four cache marks".into())?;
    let (mut open, mut ids): (Vec<&str>, BTreeSet<&str>) = Default::default();
    for (at, turn) in list(&body["messages"], "messages")?.iter().enumerate() {
        ensure(turn["role"] == if at % 2 == 0 { "user" } else { "assistant" }, || format!("turn {at}: {turn}"))?;
        let blocks = list(&turn["content"], "content")?;
        ensure(!blocks.is_empty(), || format!("turn {at} is empty"))?;
        let mut results = true;
        for block in blocks {
            ensure(block["text"].as_str().is_none_or(|t| !t.trim().is_empty()), || format!("an empty text: {block}"))?;
            match block["type"].as_str() {
                Some("tool_result") => {
                    ensure(results, || format!("results come first: {turn}"))?;
                    let id = text(&block["tool_use_id"], "tool_use_id")?;
                    let at = open.iter().position(|call| *call == id).ok_or(format!("no call {id}"))?;
                    open.remove(at);
                }
                Some(kind) => {
                    if turn["role"] == "user" {
                        results = false;
                        ensure(open.is_empty(), || format!("{open:?} have no result"))?;
                    }
                    if kind == "tool_use" {
                        let id = text(&block["id"], "id")?;
                        let form = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
                        ensure(!id.is_empty() && id.chars().all(form), || format!("the id {id:?}"))?;
                        ensure(block["input"].is_object(), || format!("no input: {block}"))?;
                        named(&block["name"])?;
                        ensure(ids.insert(id), || format!("the id {id} twice"))?;
                        open.push(id);
                    }
                }
                None => return Err(format!("a block without a type: {block}")),
            }
        }
        let last = blocks.last().and_then(|block| block["type"].as_str()).unwrap_or_default();
        ensure(!matches!(last, "thinking" | "redacted_thinking"), || "an answer ends in a thought".into())?;
    }
    ensure(open.is_empty(), || format!("{open:?} have no result"))
}

/// Every call has exactly one output behind it and before anything the person says; reasoning is encrypted and leads to an item;
/// no item has a status.
pub fn responses(body: &Value) -> Rule {
    let fields = [
        "model",
        "stream",
        "store",
        "include",
        "reasoning",
        "prompt_cache_key",
        "max_output_tokens",
        "instructions",
        "tools",
        "input",
    ];
    known(body, &fields, "the body")?;
    ensure(body["store"] == false && body["stream"] == true, || "stored, or not streamed".into())?;
    for tool in body["tools"].as_array().into_iter().flatten() {
        known(tool, &["type", "name", "description", "parameters", "strict"], "a tool")?;
    }
    let items = list(&body["input"], "input")?;
    let (mut open, mut ids): (Vec<&str>, BTreeSet<&str>) = Default::default();
    for (at, item) in items.iter().enumerate() {
        ensure(item.get("status").is_none(), || format!("a status: {item}"))?;
        match text(&item["type"], "an item's type")? {
            "message" => {
                ensure(open.is_empty() || item["role"] == "assistant", || format!("{open:?} have no output"))?;
                ensure(item["content"].as_str().is_none_or(|t| !t.is_empty()), || format!("an empty message: {item}"))?;
            }
            "reasoning" => {
                ensure(item["encrypted_content"].as_str().is_some_and(|c| !c.is_empty()), || format!("open: {item}"))?;
                let next = items[at + 1..].iter().find(|item| item["type"] != "reasoning");
                let own = next.is_some_and(|next| next.get("id").is_some());
                ensure(own, || "reasoning without the item it led to".into())?;
            }
            "function_call" => {
                let id = text(&item["call_id"], "call_id")?;
                ensure(ids.insert(id), || format!("the id {id} twice"))?;
                ensure(item["arguments"].is_string(), || format!("{item}"))?;
                named(&item["name"])?;
                open.push(id);
            }
            "function_call_output" => {
                known(item, &["type", "call_id", "output"], "an output")?;
                let id = text(&item["call_id"], "call_id")?;
                let at = open.iter().position(|call| *call == id).ok_or(format!("no call {id}"))?;
                open.remove(at);
            }
            other => return Err(format!("an item of type {other}")),
        }
    }
    ensure(open.is_empty(), || format!("{open:?} have no output"))
}

/// Contents alternate from the person's on; the responses to the calls of one content stand at the beginning of the next, in
/// their order, with the ids the calls have; from generation 3 on the first call of a content is signed.
pub fn gemini(body: &Value, model: &str) -> Rule {
    known(body, &["contents", "systemInstruction", "tools", "generationConfig"], "the body")?;
    known_or_none(&body["generationConfig"], &["maxOutputTokens", "thinkingConfig"], "generationConfig")?;
    let (mut calls, mut ids): (Vec<&Value>, BTreeSet<&str>) = Default::default();
    for (at, content) in list(&body["contents"], "contents")?.iter().enumerate() {
        known(content, &["role", "parts"], "a content")?;
        ensure(content["role"] == if at % 2 == 0 { "user" } else { "model" }, || format!("content {at}: {content}"))?;
        let parts = list(&content["parts"], "parts")?;
        ensure(!parts.is_empty(), || format!("content {at} is empty"))?;
        if content["role"] == "user" {
            let results: Vec<&Value> = parts.iter().map(|p| &p["functionResponse"]).filter(|r| !r.is_null()).collect();
            ensure(results.len() == calls.len(), || format!("{} calls, {} responses", calls.len(), results.len()))?;
            for (call, result) in calls.iter().zip(&results) {
                let same = call["name"] == result["name"] && call.get("id") == result.get("id");
                ensure(same, || format!("{call} is answered by {result}"))?;
            }
            let first = parts.iter().take(results.len()).all(|part| part.get("functionResponse").is_some());
            ensure(first, || format!("responses come first: {content}"))?;
            calls.clear();
        } else {
            calls = parts.iter().map(|part| &part["functionCall"]).filter(|call| !call.is_null()).collect();
            ensure(calls.iter().all(|call| call["args"].is_object()), || format!("no args: {content}"))?;
            calls.iter().try_for_each(|call| named(&call["name"]))?;
            let begins = |name: &str| name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
            let first = |call: &&Value| call["name"].as_str().is_some_and(begins);
            ensure(calls.iter().all(first), || format!("a name begins with neither a letter nor `_`: {content}"))?;
            let mut given = calls.iter().filter_map(|call| call["id"].as_str());
            given.try_for_each(|id| ensure(ids.insert(id), || format!("the id {id} twice")))?;
            let first = parts.iter().find(|part| part.get("functionCall").is_some());
            if model.starts_with("gemini-3") {
                let signed = |part: &Value| part["thoughtSignature"].as_str().is_some_and(|s| !s.is_empty());
                ensure(first.is_none_or(signed), || format!("an unsigned call: {content}"))?;
            }
        }
    }
    ensure(calls.is_empty(), || format!("{calls:?} have no response"))
}

fn known_or_none(object: &Value, names: &[&str], place: &str) -> Rule {
    if object.is_null() { Ok(()) } else { known(object, names, place) }
}

/// Every call of an answer has one result directly behind it, by the tool's name; arguments are objects.
pub fn ollama(body: &Value) -> Rule {
    known(body, &["model", "stream", "options", "keep_alive", "tools", "messages", "think"], "the body")?;
    ensure(body["options"]["num_ctx"].as_u64().is_some_and(|n| n >= 256), || "no window".into())?;
    let mut open: Vec<&str> = Vec::new();
    for message in list(&body["messages"], "messages")? {
        known(message, &["role", "content", "thinking", "tool_calls", "tool_name", "images"], "a message")?;
        text(&message["content"], "content")?;
        match text(&message["role"], "role")? {
            "tool" => {
                ensure(!open.is_empty(), || format!("a result without a call: {message}"))?;
                ensure(message["tool_name"] == open.remove(0), || format!("another tool's result: {message}"))?;
            }
            role => {
                // An image of a result follows it.
                ensure(open.is_empty() || message.get("images").is_some(), || format!("{open:?} have no result"))?;
                for call in message["tool_calls"].as_array().into_iter().flatten() {
                    ensure(role == "assistant" && call["function"]["arguments"].is_object(), || format!("{message}"))?;
                    named(&call["function"]["name"])?;
                    open.push(text(&call["function"]["name"], "name")?);
                }
                let thinks = message.get("thinking").is_some();
                ensure(!thinks || message.get("tool_calls").is_some(), || {
                    format!("thinking without calls: {message}")
                })?;
            }
        }
    }
    ensure(open.is_empty(), || format!("{open:?} have no result"))
}

/// Every call of an answer has exactly one result directly behind it; ids are not empty and no two calls share one; arguments
/// hold an object.
pub fn chat(body: &Value) -> Rule {
    let fields = ["model", "stream", "stream_options", "max_tokens", "tools", "messages", "reasoning_effort"];
    known(body, &fields, "the body")?;
    let (mut open, mut ids): (BTreeSet<&str>, BTreeSet<&str>) = Default::default();
    for message in list(&body["messages"], "messages")? {
        let reasoning = ["reasoning_content", "reasoning", "reasoning_details"];
        let fields = ["role", "content", "tool_calls", "tool_call_id"];
        known(message, &[&fields[..], &reasoning[..]].concat(), "a message")?;
        if message["role"] == "tool" {
            let id = text(&message["tool_call_id"], "tool_call_id")?;
            ensure(open.remove(id), || format!("no call {id}"))?;
            continue;
        }
        ensure(open.is_empty(), || format!("{open:?} have no result"))?;
        for call in message["tool_calls"].as_array().into_iter().flatten() {
            let id = text(&call["id"], "id")?;
            ensure(!id.is_empty() && ids.insert(id) && open.insert(id), || format!("the id {id:?}"))?;
            named(&call["function"]["name"])?;
            let arguments = text(&call["function"]["arguments"], "arguments")?;
            let object = serde_json::from_str::<Value>(arguments).is_ok_and(|value| value.is_object());
            ensure(object, || format!("arguments {arguments:?}"))?;
        }
    }
    ensure(open.is_empty(), || format!("{open:?} have no result"))
}
