//! A request as Chat Completions wants it.
//!
//! The conversation only grows, so the bytes sent before are kept, and the messages in them told by identity: a step
//! writes what is new behind them, however long the session is.

use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value, json};
use tokio_util::bytes::{BufMut, Bytes, BytesMut};

use super::super::arguments;
use super::super::learnt::is_from;
use super::super::written::{Ids, IdsSoFar};
use super::reasoning::FIELDS;
use crate::provider::models::Effort;
use crate::provider::{Blob, Message, Request, Role, ToolCall, ToolSpec, Wire};

/// The differences between servers of this format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Dialect {
    /// The server takes `stream_options`.
    pub usage: bool,
    /// The limit of tokens is `max_completion_tokens`, not `max_tokens`.
    pub completion_tokens: bool,
    /// The ids of calls are nine letters and digits.
    pub short_ids: bool,
    /// The server caches by a name of the conversation.
    pub conversation: bool,
    /// The treatment of the reasoning of earlier answers.
    pub reasoning: SentReasoning,
    /// Cache marks stand on the system prompt and on the newest turns.
    pub marks: bool,
    /// Marks say that the cache is kept for an hour.
    pub hour: bool,
    /// The model's effort of thinking.
    pub effort: Option<Effort>,
}

/// The fields that may differ from step to step and stand behind the messages.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Limits {
    /// The limit of the answer in tokens.
    pub most: Option<u32>,
    /// The temperature that is sent.
    pub temperature: Option<f64>,
}

/// Parts between two cache marks: the server looks back no farther.
const REACH: usize = 15;

/// The messages of the model that carry their reasoning.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum SentReasoning {
    /// Messages that came with reasoning; once one has, also those with calls that came without, with an empty one.
    #[default]
    AsItCame,
    /// No message: the server has refused it.
    Nowhere,
    /// Each message with calls, if need be an empty one: the server has refused a message without.
    Everywhere,
}

/// The newest request.
#[derive(Default)]
pub(super) struct ChatCache {
    /// All up to the first message, and what it was made of.
    head: Option<(RequestHead, usize)>,
    /// Its body, shared with whoever sends it.
    body: Bytes,
    /// The messages in the body.
    messages: Vec<BodyMessage>,
    ids: Ids,
}

/// A message in the body.
struct BodyMessage {
    message: Arc<Message>,
    /// The end of its bytes.
    end: usize,
    /// Fields of reasoning that were in use up to here, each a bit.
    fields: u8,
    ids: IdsSoFar,
    /// It carries a cache mark.
    marked: bool,
}

struct RequestHead {
    model: String,
    system: Arc<str>,
    tools: Arc<[ToolSpec]>,
    dialect: Dialect,
}

impl RequestHead {
    fn fits(&self, request: &Request, dialect: Dialect) -> bool {
        self.model == request.model
            && self.dialect == dialect
            && self.system == request.system
            && (Arc::ptr_eq(&self.tools, &request.tools) || self.tools == request.tools)
    }
}

impl ChatCache {
    /// Returns the body of `request` to the server at `place`.
    pub fn body(&mut self, request: &Request, dialect: Dialect, limits: Limits, place: &str) -> Bytes {
        // Nobody else holds the body of a request that is over: it is written on where it lies.
        let previous = std::mem::take(&mut self.body);
        let mut bytes = previous.try_into_mut().unwrap_or_else(|sending| BytesMut::from(&*sending));
        let start = match &self.head {
            Some((head, start)) if head.fits(request, dialect) => *start,
            _ => self.begin(request, dialect, &mut bytes),
        };
        let marks = if dialect.marks { marks(&request.messages) } else { Vec::new() };
        let same = self.unchanged(&request.messages, &marks);
        self.messages.truncate(same);
        bytes.truncate(self.messages.last().map_or(start, |written| written.end));
        self.ids.return_to(self.messages.last().map(|written| &written.ids));
        for (at, message) in request.messages.iter().enumerate().skip(same) {
            let mut fields = self.messages.last().map_or(0, |written| written.fields);
            let marked = marks.contains(&at);
            if !message.is_blank() {
                let reasoning = reasoning(message, request, place, dialect.reasoning, &mut fields);
                // Ids of other servers may be none that this one takes.
                let foreign =
                    message.origin.as_deref().is_some_and(|o| !is_from(Some(o), Wire::Chat, place, &request.model));
                let mut value = value(message, reasoning, (foreign, dialect.short_ids), &mut self.ids);
                // A content is a list of parts with a mark and without: nothing else changes where a mark moves on.
                if dialect.marks && message.role != Role::Assistant {
                    as_parts(&mut value);
                }
                if marked {
                    mark(&mut value, dialect.hour);
                }
                push(&mut bytes, &value);
            }
            // Results come without a break; the files in them follow the last one.
            if message.role == Role::Tool && request.messages.get(at + 1).is_none_or(|next| next.role != Role::Tool) {
                let run = request.messages[..=at].iter().rev().take_while(|m| m.role == Role::Tool).count();
                let blobs: Vec<Value> =
                    request.messages[at + 1 - run..=at].iter().flat_map(|m| m.blobs()).map(blob).collect();
                if !blobs.is_empty() {
                    push(&mut bytes, &json!({"role": "user", "content": blobs}));
                }
            }
            let (message, end, ids) = (Arc::clone(message), bytes.len(), self.ids.so_far());
            self.messages.push(BodyMessage { message, end, fields, ids, marked });
        }
        bytes.put_u8(b']');
        if let Some(temperature) = limits.temperature {
            bytes.extend_from_slice(format!(",\"temperature\":{temperature}").as_bytes());
        }
        if let Some(most) = limits.most {
            let name = limit_name(dialect.completion_tokens);
            bytes.extend_from_slice(format!(",\"{name}\":{most}").as_bytes());
        }
        bytes.put_u8(b'}');
        self.body = bytes.freeze();
        self.body.clone()
    }

    /// Returns how many messages of the newest request stand at the beginning of this one too.
    fn unchanged(&self, messages: &[Arc<Message>], marks: &[usize]) -> usize {
        let pairs = self.messages.iter().zip(messages).enumerate();
        let stands = |(at, (old, new)): &(usize, (&BodyMessage, &Arc<Message>))| {
            Arc::ptr_eq(&old.message, new) && old.marked == marks.contains(at)
        };
        let same = pairs.take_while(stands).count();
        // What follows the last result of a run depends on where the run ends.
        let results = messages[..same].iter().rev().take_while(|m| m.role == Role::Tool).count();
        let another = |m: &Arc<Message>| m.role == Role::Tool;
        let split =
            messages.get(same).is_some_and(another) || self.messages.get(same).is_some_and(|w| another(&w.message));
        if split { same - results } else { same }
    }

    fn begin(&mut self, request: &Request, dialect: Dialect, bytes: &mut BytesMut) -> usize {
        self.messages.clear();
        bytes.clear();
        let mut head = json!({"model": request.model, "stream": true});
        if dialect.usage {
            head["stream_options"] = json!({"include_usage": true});
        }
        if let Some(effort) = dialect.effort {
            head["reasoning_effort"] = effort.word().into();
        }
        if dialect.conversation && !request.conversation.is_empty() {
            head["prompt_cache_key"] = (&*request.conversation).into();
        }
        if !request.tools.is_empty() {
            head["tools"] = request.tools.iter().map(tool).collect();
        }
        append(bytes, &head);
        // In place of the closing brace.
        bytes.truncate(bytes.len() - 1);
        bytes.extend_from_slice(b",\"messages\":[");
        if !request.system.is_empty() {
            let mut system = json!({"role": "system", "content": &*request.system});
            if dialect.marks {
                as_parts(&mut system);
                mark(&mut system, dialect.hour);
            }
            append(bytes, &system);
        }
        let head = RequestHead {
            model: request.model.clone(),
            system: Arc::clone(&request.system),
            tools: Arc::clone(&request.tools),
            dialect,
        };
        self.head = Some((head, bytes.len()));
        bytes.len()
    }
}

/// Returns the name of the limit of tokens.
pub(super) fn limit_name(completion: bool) -> &'static str {
    if completion { "max_completion_tokens" } else { "max_tokens" }
}

/// Returns whether a request carries reasoning of earlier answers to the server at `place`.
pub(super) fn carries_reasoning(request: &Request, dialect: Dialect, place: &str) -> bool {
    let mut fields = 0;
    let mut carries = |m: &Arc<Message>| !reasoning(m, request, place, dialect.reasoning, &mut fields).is_empty();
    request.messages.iter().any(&mut carries)
}

/// Adds an entry to the list of messages. The head ends in the system message or in the opening bracket.
fn push(bytes: &mut BytesMut, value: &Value) {
    if bytes.last() != Some(&b'[') {
        bytes.put_u8(b',');
    }
    append(bytes, value);
}

/// Writes a [`Value`] into memory, which cannot fail.
fn append(bytes: &mut BytesMut, value: &Value) {
    let _ = serde_json::to_writer(bytes.writer(), value);
}

fn tool(tool: &ToolSpec) -> Value {
    json!({"type": "function", "function": {
        "name": tool.name, "description": tool.description, "parameters": tool.parameters
    }})
}

/// Returns the reasoning that goes with a message of the model, by field.
fn reasoning(
    message: &Message,
    request: &Request,
    place: &str,
    sent: SentReasoning,
    fields: &mut u8,
) -> Map<String, Value> {
    let mut own = Map::new();
    if message.role != Role::Assistant || sent == SentReasoning::Nowhere {
        return own;
    }
    if is_from(message.origin.as_deref(), Wire::Chat, place, &request.model) {
        let sealed = message.seals().filter_map(|json| serde_json::from_str::<Map<String, Value>>(json).ok());
        own.extend(sealed.flatten().filter(|(name, _)| FIELDS.contains(&name.as_str())));
    }
    for (bit, name) in FIELDS.iter().enumerate() {
        *fields |= u8::from(own.contains_key(*name)) << bit;
    }
    if sent == SentReasoning::Everywhere && *fields == 0 {
        *fields = 1;
    }
    if message.has_calls() {
        // Only for the two fields of text: an empty list of details says nothing.
        for (bit, name) in FIELDS.iter().enumerate().take(2) {
            if *fields & (1 << bit) != 0 {
                own.entry(*name).or_insert_with(|| "".into());
            }
        }
    }
    own
}

/// Returns the messages that carry a cache mark: the last of the newest turn of the person and of results, that of the one before, and one
/// between them where more than [`REACH`] parts lie between these.
fn marks(messages: &[Arc<Message>]) -> Vec<usize> {
    // First and last message of each turn, and where each message ends, in parts.
    let (mut turns, mut ends): (Vec<(usize, usize)>, Vec<usize>) = (Vec::new(), Vec::new());
    let (mut end, mut open) = (0, false);
    for (at, message) in messages.iter().enumerate() {
        let said = !message.is_blank();
        end += if said { message.parts.len() } else { 0 };
        ends.push(end);
        let own = message.role != Role::Assistant;
        match turns.last_mut() {
            Some(turn) if own && said && open => turn.1 = at,
            _ if own && said => turns.push((at, at)),
            _ => {}
        }
        open = own && (said || open);
    }
    let mut marks: Vec<usize> = turns.iter().rev().take(2).map(|turn| turn.1).collect();
    if let (Some((first, newest)), Some(older)) = (turns.last(), marks.get(1).copied())
        && ends[*newest] - ends[older] > REACH
    {
        let within = |at: &usize| ends[*at] + REACH >= ends[*newest];
        marks.extend((*first..*newest).find(within));
    }
    marks
}

/// Writes the content of a message as a list of parts. An empty text is no part.
fn as_parts(message: &mut Value) {
    if let Value::String(text) = &message["content"]
        && !text.is_empty()
    {
        message["content"] = json!([{"type": "text", "text": text}]);
    }
}

/// Puts a cache mark on the last part of a message.
fn mark(message: &mut Value, hour: bool) {
    if let Some(last) = message["content"].as_array_mut().and_then(|parts| parts.last_mut()) {
        last["cache_control"] =
            if hour { json!({"type": "ephemeral", "ttl": "1h"}) } else { json!({"type": "ephemeral"}) };
    }
}

/// Returns a message as it is sent. The ids of calls of `foreign` answers are made anew, those that an earlier call goes out
/// under, and with `short` every one that is not nine letters and digits.
fn value(message: &Message, reasoning: Map<String, Value>, (foreign, short): (bool, bool), ids: &mut Ids) -> Value {
    match message.role {
        Role::User if message.blobs().next().is_none() => json!({"role": "user", "content": message.text()}),
        Role::User => {
            let text = message.text();
            let text = (!text.is_empty()).then(|| json!({"type": "text", "text": text}));
            let parts: Vec<Value> = text.into_iter().chain(message.blobs().map(blob)).collect();
            json!({"role": "user", "content": parts})
        }
        Role::Assistant => {
            ids.begin();
            let mut named = |call: &ToolCall| {
                let is_short = |id: &str| id.len() == 9 && id.bytes().all(|b| b.is_ascii_alphanumeric());
                let own = (!foreign && (!short || is_short(&call.id))).then_some(call.id.as_str());
                let id = ids.unused(own, short);
                ids.open(&call.id, Some(id.clone()), &call.name);
                self::call(call, &id)
            };
            let (text, calls) = (message.text(), message.calls().map(&mut named).collect::<Vec<_>>());
            let mut value = if calls.is_empty() {
                json!({"role": "assistant", "content": text})
            } else {
                let text = Some(text).filter(|text| !text.is_empty());
                json!({"role": "assistant", "content": text, "tool_calls": calls})
            };
            if let Some(object) = value.as_object_mut() {
                object.extend(reasoning);
            }
            value
        }
        Role::Tool => {
            let id = message.answers().unwrap_or_default();
            let sent = ids.close(id).and_then(|call| call.sent);
            let id = sent.as_deref().unwrap_or(id);
            json!({"role": "tool", "tool_call_id": id, "content": message.text()})
        }
    }
}

fn call(call: &ToolCall, id: &str) -> Value {
    // Many servers read the arguments of past calls back and refuse the whole conversation where they cannot.
    let arguments = match call.arguments.trim_start().starts_with('{') {
        true if is_json(&call.arguments) => call.arguments.clone(),
        _ => arguments::object(call),
    };
    json!({"id": id, "type": "function", "function": {"name": arguments::name(call), "arguments": arguments}})
}

fn is_json(text: &str) -> bool {
    serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok()
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
    use crate::provider::{Origin, PartKind, Span};

    const PLAIN: Dialect = Dialect {
        usage: true,
        completion_tokens: false,
        short_ids: false,
        conversation: false,
        reasoning: SentReasoning::AsItCame,
        marks: false,
        hour: false,
        effort: None,
    };
    const PLACE: &str = "http://127.0.0.1:1";

    fn parsed(cache: &mut ChatCache, request: &Request) -> Value {
        serde_json::from_slice(&cache.body(request, PLAIN, Limits::default(), PLACE)).unwrap()
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
        let parameters = json!({"type": "object"});
        request.tools = [ToolSpec { name: "list".into(), description: "lists".into(), parameters }].into();
        assert_eq!(
            parsed(&mut ChatCache::default(), &request),
            json!({
                "model": "m", "stream": true, "stream_options": {"include_usage": true},
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
        let mut cache = ChatCache::default();
        let mut request = request(vec![Message::assistant("", vec![]), Message::user("a")]);
        let bytes = |cache: &mut ChatCache, request: &Request| parsed(cache, request)["messages"].clone();
        assert_eq!(bytes(&mut cache, &request), json!([{"role": "user", "content": "a"}]));
        request.messages.push(Arc::new(Message::assistant(" \n", vec![])));
        request.messages.push(Arc::new(Message::user("b")));
        let said = json!([{"role": "user", "content": "a"}, {"role": "user", "content": "b"}]);
        assert_eq!(bytes(&mut cache, &request), said);
    }

    #[test]
    fn images_and_other_files() {
        let file = |mime: &str| Blob { mime: mime.into(), bytes: Arc::from(&b"abc"[..]), name: "n".into() };
        let message = Message::user("look").with_blobs([file("image/png"), file("application/pdf")]);
        let body = parsed(&mut ChatCache::default(), &request(vec![message]));
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
        let mut cache = ChatCache::default();
        let mut request = request(vec![Message::user("a"), Message::assistant("b", vec![])]);
        let mut check = |request: &Request, dialect| {
            let fresh = ChatCache::default().body(request, dialect, Limits::default(), PLACE);
            assert_eq!(cache.body(request, dialect, Limits::default(), PLACE), fresh);
            // Also while the request before is being sent.
            let (before, again) = (
                cache.body(request, dialect, Limits::default(), PLACE),
                cache.body(request, dialect, Limits::default(), PLACE),
            );
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
        check(&request, Dialect { usage: false, completion_tokens: true, ..PLAIN });
        request.messages.clear();
        check(&request, PLAIN);
        request.messages.push(Arc::new(Message::user("d")));
        check(&request, PLAIN);
    }

    /// Returns where the marks stand, by message.
    fn marked(body: &Value) -> Vec<usize> {
        let messages = body["messages"].as_array().unwrap().iter().enumerate();
        messages.filter(|(_, message)| message.to_string().contains("cache_control")).map(|(at, _)| at).collect()
    }

    #[test]
    fn cache_marks_stand_on_the_newest_turns_and_nothing_else_changes_where_they_move_on() {
        let dialect = Dialect { marks: true, hour: true, ..PLAIN };
        let mut cache = ChatCache::default();
        let mut request = request(vec![Message::user("a")]);
        request.system = "s".into();
        let mut body = |request: &Request| -> Value {
            let fresh = ChatCache::default().body(request, dialect, Limits::default(), PLACE);
            let body = cache.body(request, dialect, Limits::default(), PLACE);
            assert_eq!(body, fresh);
            serde_json::from_slice(&body).unwrap()
        };
        let first = body(&request);
        assert_eq!(marked(&first), [0, 1]);
        let mark = json!({"type": "ephemeral", "ttl": "1h"});
        assert_eq!(first["messages"][1]["content"], json!([{"type": "text", "text": "a", "cache_control": mark}]));
        let calls: Vec<ToolCall> =
            (0..10).map(|n| ToolCall { id: format!("c{n}"), name: "list".into(), arguments: "{}".into() }).collect();
        let results = (0..10).map(|n| Arc::new(Message::tool(format!("c{n}"), "r")));
        request.messages.push(Arc::new(Message::assistant("", calls)));
        request.messages.extend(results);
        // 20 parts lie between the newest mark and the one before: a third stands within reach of both.
        assert_eq!(marked(&body(&request)), [0, 1, 3, 12]);
        request.messages.extend([Message::assistant("b", vec![]), Message::user("c")].map(Arc::new));
        let last = body(&request);
        assert_eq!(marked(&last), [0, 12, 14]);
        let plain = |body: &Value| body["messages"][1].to_string().replace(&format!(",\"cache_control\":{mark}"), "");
        assert_eq!(plain(&last), plain(&first));
    }

    #[test]
    fn the_limit_of_the_answer_changes_nothing_before_it() {
        let mut cache = ChatCache::default();
        let mut request = request(vec![Message::user("a")]);
        let first = cache.body(&request, PLAIN, Limits { most: Some(800), ..Limits::default() }, PLACE);
        request.messages.push(Arc::new(Message::assistant("b", vec![])));
        let second = cache.body(&request, PLAIN, Limits { most: Some(700), temperature: Some(0.5) }, PLACE);
        let closing = b"],\"max_tokens\":800}";
        assert!(first.ends_with(closing) && second.ends_with(b"],\"temperature\":0.5,\"max_tokens\":700}"));
        assert!(second.starts_with(&first[..first.len() - closing.len()]));
    }

    #[test]
    fn a_body_is_written_on_where_it_lies() {
        let mut cache = ChatCache::default();
        let mut request = request(vec![Message::user("a".repeat(1 << 20))]);
        drop(cache.body(&request, PLAIN, Limits::default(), PLACE));
        // Once it has room for a little more, it stays where it is.
        request.messages.push(Arc::new(Message::user("b")));
        let place = cache.body(&request, PLAIN, Limits::default(), PLACE).as_ptr();
        request.messages.push(Arc::new(Message::user("c")));
        let body = cache.body(&request, PLAIN, Limits::default(), PLACE);
        assert_eq!(body.as_ptr(), place);
        // What is still being sent is left alone.
        let (sending, copy) = (body.clone(), body.to_vec());
        request.messages.push(Arc::new(Message::user("d")));
        assert_ne!(cache.body(&request, PLAIN, Limits::default(), PLACE).as_ptr(), place);
        assert_eq!(sending, copy);
    }

    fn called(id: &str, reasoning: Option<&str>, model: &str) -> Message {
        let call = ToolCall { id: id.into(), name: "list".into(), arguments: "{}".into() };
        let spans = vec![
            Span { kind: PartKind::Thinking, bytes: 2, seal: reasoning.map(Into::into) },
            Span { kind: PartKind::Call, bytes: 0, seal: None },
        ];
        let mut message = Message::answer("", "hm", vec![call], spans);
        message.origin = Some(Arc::new(Origin { wire: Wire::Chat, place: PLACE.into(), model: model.into() }));
        message
    }

    fn reasonings(request: &Request, reasoning: SentReasoning) -> Vec<Value> {
        let body = ChatCache::default().body(request, Dialect { reasoning, ..PLAIN }, Limits::default(), PLACE);
        let body: Value = serde_json::from_slice(&body).unwrap();
        let of_model = body["messages"].as_array().unwrap().iter().filter(|m| m["role"] == "assistant");
        of_model.map(|m| m["reasoning_content"].clone()).collect()
    }

    #[test]
    fn reasoning_goes_back_to_where_it_came_from() {
        let sealed = Some("{\"reasoning_content\":\"hm\"}");
        let request = request(vec![
            called("a", None, "m"),
            Message::tool("a", ""),
            called("b", sealed, "other"),
            Message::tool("b", ""),
            called("c", sealed, "m"),
            Message::tool("c", ""),
            Message::assistant("text", vec![]),
            called("d", None, "m"),
            Message::tool("d", ""),
        ]);
        let none = Value::Null;
        assert_eq!(
            reasonings(&request, SentReasoning::AsItCame),
            [none.clone(), none.clone(), "hm".into(), none.clone(), "".into()]
        );
        assert_eq!(reasonings(&request, SentReasoning::Nowhere), vec![none.clone(); 5]);
        let everywhere: Vec<Value> = vec!["".into(), "".into(), "hm".into(), none, "".into()];
        assert_eq!(reasonings(&request, SentReasoning::Everywhere), everywhere);
        assert!(carries_reasoning(&request, PLAIN, PLACE));
        assert!(!carries_reasoning(&request, PLAIN, "https://elsewhere.example"));
    }

    #[test]
    fn files_of_results_follow_the_last_result() {
        let png = Blob { mime: "image/png".into(), bytes: Arc::from(&b"abc"[..]), name: "n".into() };
        let mut cache = ChatCache::default();
        let mut request = request(vec![called("a", None, "m"), Message::tool("a", "one").with_blobs([png])]);
        let roles = |cache: &mut ChatCache, request: &Request| -> Vec<String> {
            let body = parsed(cache, request);
            body["messages"].as_array().unwrap().iter().map(|m| m["role"].as_str().unwrap().to_string()).collect()
        };
        assert_eq!(roles(&mut cache, &request), ["assistant", "tool", "user"]);
        request.messages.push(Arc::new(Message::tool("b", "two")));
        assert_eq!(roles(&mut cache, &request), ["assistant", "tool", "tool", "user"]);
        request.messages.push(Arc::new(Message::assistant("x", vec![])));
        assert_eq!(roles(&mut cache, &request), ["assistant", "tool", "tool", "user", "assistant"]);
        request.messages.truncate(2);
        assert_eq!(roles(&mut cache, &request), ["assistant", "tool", "user"]);
    }
}
