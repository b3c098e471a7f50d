//! A request as Responses wants it: a list of items, each call with its output behind it.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use tokio_util::bytes::Bytes;

use super::super::arguments;
use super::super::format::RequestBasis;
use super::super::learnt::ThinkField;
use super::super::written::{Ids, SentMessages, Target, opened};
use crate::provider::models::Thinking;
use crate::provider::{Blob, Body, Message, Part, Request, Role, ToolCall, ToolSpec, Wire};

/// The items of the newest request.
#[derive(Default)]
pub(super) struct ResponsesCache {
    written: SentMessages,
}

impl ResponsesCache {
    /// Returns the body of `request`.
    pub fn body(&mut self, request: &Request, basis: &RequestBasis) -> Bytes {
        let target = Target { model: request.model.clone(), unsealed: basis.learnt.unsealed(), variant: 0 };
        self.written.update(target, &request.messages, |message, ids| {
            let own = basis.learnt.sends_seals(message, Wire::Responses, basis.place, &request.model);
            match message.role {
                Role::Assistant => answered(message, own, ids),
                Role::User => vec![said(message)],
                Role::Tool => result(message, ids).into_iter().collect(),
            }
        });
        let head = self.written.head(request, fields(request, basis), |mut head| {
            if !request.system.is_empty() {
                head["instructions"] = (&*request.system).into();
            }
            if !request.tools.is_empty() {
                head["tools"] = request.tools.iter().map(tool).collect();
            }
            opened(&head) + ",\"input\":["
        });
        // The limit follows the room that is left: it changes nothing before it.
        let most = basis.most.map(|most| format!(",\"max_output_tokens\":{most}"));
        let temperature = basis.learnt.temperature(request).map(|degree| format!(",\"temperature\":{degree}"));
        self.written.listed(head, &format!("]{}{}}}", temperature.unwrap_or_default(), most.unwrap_or_default()))
    }
}

/// Returns the fields before the messages, less system prompt and tools.
fn fields(request: &Request, basis: &RequestBasis) -> Value {
    let mut head = json!({"model": request.model, "stream": true, "store": false});
    if request.facts.thinking != Some(Thinking::None) {
        // What is thought unasked comes sealed too, so that it can be sent back.
        if basis.learnt.accepts(&request.model, ThinkField::Seals) {
            head["include"] = json!(["reasoning.encrypted_content"]);
        }
        if basis.learnt.accepts(&request.model, ThinkField::Thoughts) {
            head["reasoning"] = json!({"summary": "auto"});
            if let Some(effort) = basis.learnt.effort(request) {
                head["reasoning"]["effort"] = effort.word().into();
            }
        }
    }
    if !request.conversation.is_empty() {
        head["prompt_cache_key"] = (&*request.conversation).into();
    }
    head
}

fn tool(tool: &ToolSpec) -> Value {
    json!({
        "type": "function", "name": tool.name, "description": tool.description, "parameters": tool.parameters,
        "strict": false,
    })
}

/// Returns the items of an answer: as they came, or what of them anyone may read.
fn answered(message: &Message, own: bool, ids: &mut Ids) -> Vec<String> {
    // What was thought goes with the item it led to, or not at all.
    let led_to = message.parts.iter().rposition(|part| part.seal.is_some() && !is_thought(&part.body));
    let mut items = Vec::new();
    for (at, part) in message.parts.iter().enumerate() {
        let seal = part.seal.as_ref().filter(|_| own).map(ToString::to_string);
        match (&part.body, seal) {
            (Body::Call(call), seal) => {
                let id = ids.unused(own.then_some(call.id.as_str()), false);
                ids.open(&call.id, Some(id.clone()), &call.name);
                let sealed = |seal| arguments::sealed(seal, call, ("call_id", &id));
                items.push(seal.map_or_else(|| function_call(call, &id), sealed));
            }
            (body, Some(_)) if is_thought(body) && led_to.is_none_or(|led_to| led_to < at) => {}
            (_, Some(seal)) => items.push(seal),
            (Body::Text(text), None) if !text.trim().is_empty() => {
                items.push(json!({"type": "message", "role": "assistant", "content": text}).to_string());
            }
            _ => {}
        }
    }
    items
}

fn is_thought(body: &Body) -> bool {
    matches!(body, Body::Thinking(_) | Body::Other)
}

fn function_call(call: &ToolCall, id: &str) -> String {
    let (name, arguments) = (arguments::name(call), arguments::object(call));
    json!({"type": "function_call", "call_id": id, "name": name, "arguments": arguments}).to_string()
}

fn said(message: &Message) -> String {
    let part = |part: &Part| match &part.body {
        Body::Text(text) if !text.trim().is_empty() => Some(text_part(text)),
        Body::Blob(file) => Some(blob(file)),
        _ => None,
    };
    let content: Vec<Value> = message.parts.iter().filter_map(part).collect();
    json!({"type": "message", "role": "user", "content": content}).to_string()
}

fn text_part(text: &str) -> Value {
    json!({"type": "input_text", "text": text})
}

fn result(message: &Message, ids: &mut Ids) -> Option<String> {
    let result = message.tool_result()?;
    let id = ids.close(&result.call)?.sent?;
    let files: Vec<Value> = message.blobs().map(blob).collect();
    let output = match files.is_empty() {
        true => Value::from(result.text.as_str()),
        false => [text_part(&result.text)].into_iter().chain(files).collect(),
    };
    Some(json!({"type": "function_call_output", "call_id": id, "output": output}).to_string())
}

fn blob(blob: &Blob) -> Value {
    let url = format!("data:{};base64,{}", blob.mime, STANDARD.encode(&blob.bytes));
    match blob.mime.starts_with("image/") {
        true => json!({"type": "input_image", "image_url": url}),
        false => json!({"type": "input_file", "filename": blob.name, "file_data": url}),
    }
}
