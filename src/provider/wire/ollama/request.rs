//! A request as Ollama wants it: messages, calls with their arguments as objects, results with the name of the tool.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use tokio_util::bytes::Bytes;

use super::super::arguments;
use super::super::format::RequestBasis;
use super::super::written::{Ids, SentMessages, Target, opened};
use crate::provider::models::{Effort, Thinking};
use crate::provider::{Blob, Message, Request, Role, ToolCall, ToolSpec, Wire};

/// The messages of the newest request.
#[derive(Default)]
pub(super) struct OllamaCache {
    written: SentMessages,
}

/// The window a model is loaded with where nothing is configured, at most.
const USUAL_WINDOW: u32 = 32_768;

impl OllamaCache {
    /// Returns the body of `request`.
    pub fn body(&mut self, request: &Request, basis: &RequestBasis) -> Bytes {
        let target = Target { model: request.model.clone(), unsealed: basis.learnt.unsealed(), variant: 0 };
        self.written.update(target, &request.messages, |message, ids| {
            let own = basis.learnt.sends_seals(message, Wire::Ollama, basis.place, &request.model);
            match message.role {
                Role::Assistant => vec![answered(message, own, ids)],
                Role::User => vec![said(&message.text(), message)],
                Role::Tool => result(message, ids),
            }
        });
        let head = self.written.head(request, fields(request, basis), |mut head| {
            if !request.tools.is_empty() {
                head["tools"] = request.tools.iter().map(tool).collect();
            }
            let mut head = opened(&head);
            head.push_str(",\"messages\":[");
            if !request.system.is_empty() {
                head.push_str(&json!({"role": "system", "content": &*request.system}).to_string());
            }
            head
        });
        // The limit in the options follows the room that is left: it changes nothing before it.
        self.written.listed(head, &format!("],\"options\":{}}}", options(request, basis)))
    }
}

/// Returns the fields before the messages, less system prompt and tools.
fn fields(request: &Request, basis: &RequestBasis) -> Value {
    let mut head = json!({"model": request.model, "stream": true, "keep_alive": "30m"});
    if let Some(effort) = basis.learnt.effort(request) {
        head["think"] = match (effort, request.facts.thinking) {
            (Effort::None, _) => false.into(),
            (effort, Some(Thinking::Words)) => effort.word().into(),
            _ => true.into(),
        };
    }
    head
}

fn options(request: &Request, basis: &RequestBasis) -> Value {
    let mut options = json!({"num_ctx": request.facts.window.unwrap_or(USUAL_WINDOW)});
    if let Some(temperature) = basis.learnt.temperature(request) {
        options["temperature"] = temperature.into();
    }
    if let Some(most) = basis.most {
        options["num_predict"] = most.into();
    }
    options
}

fn tool(tool: &ToolSpec) -> Value {
    json!({"type": "function", "function": {
        "name": tool.name, "description": tool.description, "parameters": tool.parameters
    }})
}

fn answered(message: &Message, own: bool, ids: &mut Ids) -> String {
    let mut value = json!({"role": "assistant", "content": message.text()});
    // What was thought belongs to the calls it led to.
    if own && message.has_calls() {
        let sealed = message.seals().find_map(|json| serde_json::from_str::<Value>(json).ok());
        if let Some(thinking) = sealed.as_ref().and_then(|seal| seal["thinking"].as_str()) {
            value["thinking"] = thinking.into();
        }
    }
    let calls: Vec<String> = message.calls().map(|call| called(call, ids)).collect();
    match calls.is_empty() {
        true => value.to_string(),
        false => format!("{},\"tool_calls\":[{}]}}", opened(&value), calls.join(",")),
    }
}

fn called(call: &ToolCall, ids: &mut Ids) -> String {
    let name = arguments::name(call);
    ids.open(&call.id, None, &name);
    let function = opened(&json!({"name": name}));
    format!("{{\"function\":{function},\"arguments\":{}}}}}", arguments::object(call))
}

fn said(text: &str, message: &Message) -> String {
    let mut value = json!({"role": "user", "content": text});
    let images: Vec<Value> = message.blobs().filter(is_image).map(image).collect();
    if !images.is_empty() {
        value["images"] = images.into();
    }
    value.to_string()
}

/// Returns the result of a call; images go with a message behind it.
fn result(message: &Message, ids: &mut Ids) -> Vec<String> {
    let Some((result, call)) = message.tool_result().and_then(|result| Some((result, ids.close(&result.call)?))) else {
        return Vec::new();
    };
    let mut all = vec![json!({"role": "tool", "tool_name": call.tool, "content": result.text}).to_string()];
    if message.blobs().any(|blob| is_image(&blob)) {
        all.push(said("The image of the result above.", message));
    }
    all
}

fn is_image(blob: &&Blob) -> bool {
    blob.mime.starts_with("image/")
}

fn image(blob: &Blob) -> Value {
    STANDARD.encode(&blob.bytes).into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::provider::models::by_name;
    use crate::provider::wire::learnt::Learnt;

    #[test]
    fn thinking_is_on_or_off_or_a_word_for_models_that_take_words() {
        let learnt = Learnt::default();
        let basis = RequestBasis { place: "", host: "", learnt: &learnt, most: None };
        for (model, effort, think) in [
            ("qwen3:8b", Effort::None, json!(false)),
            ("qwen3:8b", Effort::Low, json!(true)),
            ("deepseek-r1:7b", Effort::Medium, json!(true)),
            ("deepseek-r1:7b", Effort::Max, json!(true)),
            ("gpt-oss:20b", Effort::Low, json!("low")),
        ] {
            let request =
                Request { model: model.into(), facts: by_name(model), effort: Some(effort), ..Request::default() };
            assert_eq!(fields(&request, &basis)["think"], think, "{model} {effort:?}");
        }
    }
}
