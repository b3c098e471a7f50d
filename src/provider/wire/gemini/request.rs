//! A request as `generateContent` wants it: contents of parts that alternate between user and model, all responses of a
//! step in one content, in the order of the calls.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use tokio_util::bytes::Bytes;

use super::super::arguments;
use super::super::format::RequestBasis;
use super::super::learnt::ThinkField;
use super::super::raw::RawObject;
use super::super::written::{Ids, SentMessages, Target, Turns, opened};
use crate::provider::models::{Effort, Thinking, gemini_generation};
use crate::provider::{Blob, Body, Message, Part, Request, Role, ToolCall, ToolSpec, Wire};

/// The parts of the newest request.
#[derive(Default)]
pub(super) struct GeminiCache {
    written: SentMessages,
}

/// Stands for the signature of a call that another model made.
const SKIP: &str = "skip_thought_signature_validator";

impl GeminiCache {
    /// Returns the body of `request`.
    pub fn body(&mut self, request: &Request, basis: &RequestBasis) -> Bytes {
        let new = is_third_generation(&request.model);
        let target = Target { model: request.model.clone(), unsealed: basis.learnt.unsealed(), variant: 0 };
        self.written.update(target, &request.messages, |message, ids| {
            let own = basis.learnt.sends_seals(message, Wire::Gemini, basis.place, &request.model);
            match message.role {
                Role::Assistant => answered(message, own, new, ids),
                Role::User => message.parts.iter().filter_map(said).collect(),
                Role::Tool => result(message, new, ids),
            }
        });
        let head = self.written.head(request, json!({}), |_| {
            let mut head = opened(&head(request));
            head.push_str(if head.len() > 1 { ",\"contents\":[" } else { "\"contents\":[" });
            head
        });
        let turns = Turns { role: role_of, open: "\"parts\":[", marks: Vec::new(), mark: String::new() };
        // The limit in it follows the room that is left: it changes nothing before it.
        let config = config(request, basis).map(|config| format!(",\"generationConfig\":{config}"));
        self.written.turns(head, &turns, &format!("]{}}}", config.unwrap_or_default()))
    }
}

fn head(request: &Request) -> Value {
    let mut head = json!({});
    if !request.system.is_empty() {
        head["systemInstruction"] = json!({"parts": [{"text": &*request.system}]});
    }
    if !request.tools.is_empty() {
        head["tools"] = json!([{"functionDeclarations": request.tools.iter().map(tool).collect::<Vec<_>>()}]);
    }
    head
}

/// Returns how long the answer may be, how freely its words are chosen and how much the model is to think, where
/// either is said.
fn config(request: &Request, basis: &RequestBasis) -> Option<Value> {
    let mut config = json!({});
    if let Some(most) = basis.most {
        config["maxOutputTokens"] = most.into();
    }
    if let Some(temperature) = basis.learnt.temperature(request) {
        config["temperature"] = temperature.into();
    }
    if basis.learnt.accepts(&request.model, ThinkField::Thoughts)
        && let Some(thinking) = thinking_config(request, basis.learnt.effort(request))
    {
        config["thinkingConfig"] = thinking;
    }
    Some(config).filter(|config| config.as_object().is_some_and(|config| !config.is_empty()))
}

fn tool(tool: &ToolSpec) -> Value {
    json!({"name": tool.name, "description": tool.description, "parametersJsonSchema": tool.parameters})
}

/// Returns how much the model is to think, in the form it takes that. A level is tried with a model of which nothing is
/// known.
fn thinking_config(request: &Request, effort: Option<Effort>) -> Option<Value> {
    let knows = |effort| request.facts.efforts.as_ref().is_some_and(|known| known.contains(&effort));
    let mut thinking = json!({"includeThoughts": true});
    match (request.facts.thinking, effort) {
        (Some(Thinking::Level) | None, Some(effort)) => {
            thinking["thinkingLevel"] = match effort {
                Effort::None => "MINIMAL",
                Effort::Low => "LOW",
                Effort::Medium => "MEDIUM",
                Effort::XHigh | Effort::Max if knows(Effort::XHigh) => "XHIGH",
                Effort::High | Effort::XHigh | Effort::Max => "HIGH",
            }
            .into();
        }
        (Some(Thinking::Budget), Some(effort)) => {
            thinking["thinkingBudget"] = match effort {
                Effort::None => 0,
                Effort::Low => 1_024,
                Effort::Medium => 8_192,
                Effort::High => 16_384,
                Effort::XHigh => 24_576,
                Effort::Max => -1,
            }
            .into();
        }
        (Some(Thinking::Level | Thinking::Budget), None) => {}
        _ => return None,
    }
    Some(thinking)
}

/// Returns whether a model checks the signatures of calls: those of generation 3 and later do.
fn is_third_generation(model: &str) -> bool {
    gemini_generation(model).is_some_and(|generation| generation >= 3)
}

fn role_of(message: &Message) -> &'static str {
    if message.role == Role::Assistant { "model" } else { "user" }
}

/// Returns the parts of an answer: as they came, or what of them anyone may read.
fn answered(message: &Message, own: bool, new: bool, ids: &mut Ids) -> Vec<String> {
    let foreign = message.origin.as_ref().is_none_or(|origin| origin.wire != Wire::Gemini) || !own;
    let mut parts = Vec::new();
    for part in &message.parts {
        let seal = part.seal.as_ref().filter(|_| own).map(ToString::to_string);
        match (&part.body, seal) {
            (Body::Call(call), Some(seal)) => {
                let part = RawObject::parse(&seal);
                let sealed = part.as_ref().and_then(|part| RawObject::parse(part.raw("functionCall")?));
                let of_seal = |field: &str| sealed.as_ref().and_then(|function| function.text(field));
                // A call goes by the name in its seal, and gets no id where the server gave none.
                let given = of_seal("id");
                let sent = given.as_deref().map(|given| ids.unused(Some(given), false));
                ids.open(&call.id, sent.clone(), of_seal("name").as_deref().unwrap_or(&call.name));
                parts.push(match (part, &sealed, sent) {
                    (Some(part), Some(function), Some(id)) if given.as_ref() != Some(&id) => {
                        part.with_json("functionCall", &function.with("id", &id))
                    }
                    _ => seal,
                });
            }
            (Body::Call(call), None) => {
                ids.open(&call.id, None, &arguments::name(call));
                parts.push(function_call(call, new && foreign));
            }
            (_, Some(seal)) => parts.push(seal),
            (Body::Text(text), None) if !text.trim().is_empty() => parts.push(json!({"text": text}).to_string()),
            _ => {}
        }
    }
    parts
}

fn function_call(call: &ToolCall, skip: bool) -> String {
    let inner = opened(&json!({"name": arguments::name(call)}));
    let inner = format!("{inner},\"args\":{}}}", arguments::object(call));
    match skip {
        true => format!("{{\"functionCall\":{inner},\"thoughtSignature\":\"{}\"}}", STANDARD.encode(SKIP)),
        false => format!("{{\"functionCall\":{inner}}}"),
    }
}

fn said(part: &Part) -> Option<String> {
    match &part.body {
        Body::Text(text) if !text.trim().is_empty() => Some(json!({"text": text}).to_string()),
        Body::Blob(file) => Some(blob(file).to_string()),
        _ => None,
    }
}

/// Returns the response to a call; files are a part of it where the model takes that, else they follow it.
fn result(message: &Message, new: bool, ids: &mut Ids) -> Vec<String> {
    let Some((result, call)) = message.tool_result().and_then(|result| Some((result, ids.close(&result.call)?))) else {
        return Vec::new();
    };
    let mut response = json!({"name": call.tool, "response": {"result": result.text}});
    if let Some(id) = call.sent {
        response["id"] = id.into();
    }
    let files: Vec<Value> = message.blobs().map(blob).collect();
    if new && !files.is_empty() {
        response["parts"] = files.into();
        return vec![json!({"functionResponse": response}).to_string()];
    }
    let response = json!({"functionResponse": response}).to_string();
    [response].into_iter().chain(files.iter().map(Value::to_string)).collect()
}

fn blob(blob: &Blob) -> Value {
    json!({"inlineData": {"mimeType": blob.mime, "data": STANDARD.encode(&blob.bytes)}})
}
