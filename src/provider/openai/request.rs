//! A request as Chat Completions wants it.
//!
//! The conversation only grows, so the bytes sent before are kept, and the messages in them told by identity: a step
//! writes what is new behind them, however long the session is.

use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio_util::bytes::{BufMut, Bytes, BytesMut};

use crate::provider::{Blob, Message, Request, Role, ToolCall, ToolSpec};

/// What differs between servers of this format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Dialect {
    /// The server takes `stream_options`.
    pub usage: bool,
    /// The limit of tokens is `max_completion_tokens`, not `max_tokens`.
    pub completion_tokens: bool,
}

/// The newest request.
#[derive(Default)]
pub(super) struct Cache {
    /// All up to the first message, and what it was made of.
    head: Option<(Head, usize)>,
    /// Its body, shared with whoever sends it.
    body: Bytes,
    /// The messages in the body, each with the place where its bytes end.
    messages: Vec<(Arc<Message>, usize)>,
}

struct Head {
    model: String,
    system: Arc<str>,
    tools: Arc<[ToolSpec]>,
    max_output: Option<u32>,
    dialect: Dialect,
}

impl Head {
    fn fits(&self, request: &Request, dialect: Dialect) -> bool {
        self.model == request.model
            && self.max_output == request.max_output
            && self.dialect == dialect
            && self.system == request.system
            && (Arc::ptr_eq(&self.tools, &request.tools) || self.tools == request.tools)
    }
}

impl Cache {
    /// The body of `request`.
    pub fn body(&mut self, request: &Request, dialect: Dialect) -> Bytes {
        // Nobody else holds the body of a request that is over: it is written on where it lies.
        let kept = std::mem::take(&mut self.body);
        let mut bytes = kept.try_into_mut().unwrap_or_else(|sending| BytesMut::from(&*sending));
        let start = match &self.head {
            Some((head, start)) if head.fits(request, dialect) => *start,
            _ => self.begin(request, dialect, &mut bytes),
        };
        let same = self.messages.iter().zip(&request.messages).take_while(|((old, _), new)| Arc::ptr_eq(old, new));
        let same = same.count();
        self.messages.truncate(same);
        bytes.truncate(self.messages.last().map_or(start, |(_, end)| *end));
        for message in &request.messages[same..] {
            if !message.is_blank() {
                // The head ends in the system message or in the opening bracket.
                if bytes.last() != Some(&b'[') {
                    bytes.put_u8(b',');
                }
                append(&mut bytes, &value(message));
            }
            self.messages.push((Arc::clone(message), bytes.len()));
        }
        bytes.extend_from_slice(b"]}");
        self.body = bytes.freeze();
        self.body.clone()
    }

    fn begin(&mut self, request: &Request, dialect: Dialect, bytes: &mut BytesMut) -> usize {
        self.messages.clear();
        bytes.clear();
        let mut head = json!({"model": request.model, "stream": true});
        if dialect.usage {
            head["stream_options"] = json!({"include_usage": true});
        }
        if let Some(most) = request.max_output {
            head[if dialect.completion_tokens { "max_completion_tokens" } else { "max_tokens" }] = most.into();
        }
        if !request.tools.is_empty() {
            head["tools"] = request.tools.iter().map(tool).collect();
        }
        append(bytes, &head);
        // In place of the closing brace.
        bytes.truncate(bytes.len() - 1);
        bytes.extend_from_slice(b",\"messages\":[");
        if !request.system.is_empty() {
            append(bytes, &json!({"role": "system", "content": &*request.system}));
        }
        let head = Head {
            model: request.model.clone(),
            system: Arc::clone(&request.system),
            tools: Arc::clone(&request.tools),
            max_output: request.max_output,
            dialect,
        };
        self.head = Some((head, bytes.len()));
        bytes.len()
    }
}

/// Writing a [`Value`] into memory cannot fail.
fn append(bytes: &mut BytesMut, value: &Value) {
    let _ = serde_json::to_writer(bytes.writer(), value);
}

fn tool(tool: &ToolSpec) -> Value {
    json!({"type": "function", "function": {
        "name": tool.name, "description": tool.description, "parameters": tool.parameters
    }})
}

fn value(message: &Message) -> Value {
    match message.role {
        Role::User if message.blobs.is_empty() => json!({"role": "user", "content": message.text}),
        Role::User => {
            let text = json!({"type": "text", "text": message.text});
            let text = (!message.text.is_empty()).then_some(text);
            let parts: Vec<Value> = text.into_iter().chain(message.blobs.iter().map(blob)).collect();
            json!({"role": "user", "content": parts})
        }
        Role::Assistant if message.calls.is_empty() => json!({"role": "assistant", "content": message.text}),
        Role::Assistant => {
            let text = Some(&message.text).filter(|text| !text.is_empty());
            let calls: Vec<Value> = message.calls.iter().map(call).collect();
            json!({"role": "assistant", "content": text, "tool_calls": calls})
        }
        Role::Tool => json!({
            "role": "tool", "tool_call_id": message.answers.as_deref().unwrap_or_default(), "content": message.text
        }),
    }
}

fn call(call: &ToolCall) -> Value {
    // Many servers read the arguments of past calls back and refuse the whole conversation where they cannot.
    let arguments = match serde_json::from_str::<&RawValue>(&call.arguments) {
        Ok(json) if json.get().starts_with('{') => call.arguments.clone(),
        _ if call.arguments.trim().is_empty() => "{}".into(),
        _ => json!({"unreadable": call.arguments}).to_string(),
    };
    json!({"id": call.id, "type": "function", "function": {"name": call.name, "arguments": arguments}})
}

fn blob(blob: &Blob) -> Value {
    let url = format!("data:{};base64,{}", blob.mime, STANDARD.encode(&blob.bytes));
    if blob.mime.starts_with("image/") {
        json!({"type": "image_url", "image_url": {"url": url}})
    } else {
        json!({"type": "file", "file": {"filename": blob.name, "file_data": url}})
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: Dialect = Dialect { usage: true, completion_tokens: false };

    fn parsed(cache: &mut Cache, request: &Request) -> Value {
        serde_json::from_slice(&cache.body(request, PLAIN)).unwrap()
    }

    fn request(messages: Vec<Message>) -> Request {
        Request { model: "m".into(), messages: messages.into_iter().map(Arc::new).collect(), ..Request::default() }
    }

    #[test]
    fn a_whole_request() {
        let call = ToolCall { id: "c1".into(), name: "list".into(), arguments: "{\"path\":\".\"}".into() };
        let mut request = request(vec![
            Message::user("hi"),
            Message::assistant("", vec![call.clone(), ToolCall { id: "c2".into(), arguments: "{\"pa".into(), ..call }]),
            Message::tool("c1", "a\nb"),
            Message::tool("c2", "no"),
            Message::assistant("done", vec![]),
        ]);
        request.system = "be brief".into();
        request.max_output = Some(9);
        let parameters = json!({"type": "object"});
        request.tools = [ToolSpec { name: "list".into(), description: "lists".into(), parameters }].into();
        assert_eq!(
            parsed(&mut Cache::default(), &request),
            json!({
                "model": "m", "stream": true, "stream_options": {"include_usage": true}, "max_tokens": 9,
                "tools": [{"type": "function", "function": {
                    "name": "list", "description": "lists", "parameters": {"type": "object"}
                }}],
                "messages": [
                    {"role": "system", "content": "be brief"},
                    {"role": "user", "content": "hi"},
                    {"role": "assistant", "content": null, "tool_calls": [
                        {"id": "c1", "type": "function", "function": {"name": "list", "arguments": "{\"path\":\".\"}"}},
                        {"id": "c2", "type": "function", "function": {
                            "name": "list", "arguments": "{\"unreadable\":\"{\\\"pa\"}"
                        }},
                    ]},
                    {"role": "tool", "tool_call_id": "c1", "content": "a\nb"},
                    {"role": "tool", "tool_call_id": "c2", "content": "no"},
                    {"role": "assistant", "content": "done"},
                ]
            })
        );
    }

    #[test]
    fn an_answer_without_a_word_is_left_out() {
        let mut cache = Cache::default();
        let mut request = request(vec![Message::assistant("", vec![]), Message::user("a")]);
        let bytes = |cache: &mut Cache, request: &Request| parsed(cache, request)["messages"].clone();
        assert_eq!(bytes(&mut cache, &request), json!([{"role": "user", "content": "a"}]));
        request.messages.push(Arc::new(Message::assistant(" \n", vec![])));
        request.messages.push(Arc::new(Message::user("b")));
        let said = json!([{"role": "user", "content": "a"}, {"role": "user", "content": "b"}]);
        assert_eq!(bytes(&mut cache, &request), said);
    }

    #[test]
    fn images_and_other_files() {
        let mut message = Message::user("look");
        let file = |mime: &str| Blob { mime: mime.into(), bytes: Arc::from(&b"abc"[..]), name: "n".into() };
        message.blobs = vec![file("image/png"), file("application/pdf")];
        let body = parsed(&mut Cache::default(), &request(vec![message]));
        assert_eq!(
            body["messages"][0]["content"],
            json!([
                {"type": "text", "text": "look"},
                {"type": "image_url", "image_url": {"url": "data:image/png;base64,YWJj"}},
                {"type": "file", "file": {"filename": "n", "file_data": "data:application/pdf;base64,YWJj"}},
            ])
        );
    }

    #[test]
    fn the_cache_never_shows() {
        let mut cache = Cache::default();
        let mut request = request(vec![Message::user("a"), Message::assistant("b", vec![])]);
        let mut check = |request: &Request, dialect| {
            let fresh = Cache::default().body(request, dialect);
            assert_eq!(cache.body(request, dialect), fresh);
            // Also while the request before is being sent.
            let (before, again) = (cache.body(request, dialect), cache.body(request, dialect));
            assert_eq!((&before, &again), (&fresh, &fresh));
        };
        check(&request, PLAIN);
        request.messages.push(Arc::new(Message::user("c")));
        check(&request, PLAIN);
        request.messages[1] = Arc::new(Message::assistant("left out", vec![]));
        check(&request, PLAIN);
        request.messages.truncate(1);
        check(&request, PLAIN);
        request.system = "s".into();
        check(&request, PLAIN);
        check(&request, Dialect { usage: false, completion_tokens: true });
        request.messages.clear();
        check(&request, PLAIN);
        request.messages.push(Arc::new(Message::user("d")));
        check(&request, PLAIN);
    }

    #[test]
    fn a_body_is_written_on_where_it_lies() {
        let mut cache = Cache::default();
        let mut request = request(vec![Message::user("a".repeat(1 << 20))]);
        drop(cache.body(&request, PLAIN));
        // Once it has room for a little more, it stays where it is.
        request.messages.push(Arc::new(Message::user("b")));
        let place = cache.body(&request, PLAIN).as_ptr();
        request.messages.push(Arc::new(Message::user("c")));
        let body = cache.body(&request, PLAIN);
        assert_eq!(body.as_ptr(), place);
        // What is still being sent is left alone.
        let (sending, copy) = (body.clone(), body.to_vec());
        request.messages.push(Arc::new(Message::user("d")));
        assert_ne!(cache.body(&request, PLAIN).as_ptr(), place);
        assert_eq!(sending, copy);
    }
}
