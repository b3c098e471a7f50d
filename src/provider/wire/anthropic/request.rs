//! A request as Messages wants it: turns of blocks, every result right behind its call, cache marks at the newest
//! turns.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use tokio_util::bytes::Bytes;

use super::super::arguments;
use super::super::format::RequestBasis;
use super::super::learnt::ThinkField;
use super::super::written::{Ids, Piece, SentMessages, Target, Turns, opened};
use crate::provider::models::{Effort, Thinking};
use crate::provider::{Blob, Body, Message, Part, Request, Role, ToolCall, ToolSpec, Wire};

/// The blocks of the newest request.
#[derive(Default)]
pub(super) struct AnthropicCache {
    written: SentMessages,
    /// True if the cache is kept for an hour.
    hour: bool,
    /// The facts about each message.
    looks: Vec<Look>,
}

/// The facts about a message that each request needs.
struct Look {
    /// It is of the person's side.
    is_user: bool,
    /// It calls something without beginning with what was thought.
    thoughtless: bool,
}

/// Blocks between two cache marks: the server looks back no farther.
const REACH: usize = 15;

impl AnthropicCache {
    /// Marks say how long what is cached is kept: five minutes, or an hour.
    pub fn new(hour: bool) -> Self {
        AnthropicCache { written: SentMessages::default(), hour, looks: Vec::new() }
    }

    /// Returns the body of `request`; `thinking` is the form in which its model takes the effort.
    pub fn body(&mut self, request: &Request, thinking: Option<Thinking>, basis: &RequestBasis) -> Bytes {
        let target = Target { model: request.model.clone(), unsealed: basis.learnt.unsealed(), variant: 0 };
        self.written.update(target, &request.messages, |message, ids| {
            let own = basis.learnt.sends_seals(message, Wire::Anthropic, basis.place, &request.model);
            match message.role {
                Role::Assistant => answered(message, own, ids),
                Role::User => message.parts.iter().filter_map(said).collect(),
                Role::Tool => result(message, ids).into_iter().collect(),
            }
        });
        self.look();
        // This format wants to be told, and its `Format::most` always does.
        let most = basis.most.unwrap_or(4_096);
        // What follows the room that is left stands behind the messages: it changes nothing before it.
        let mut closing = json!({"max_tokens": most});
        if let Some(temperature) = basis.learnt.temperature(request) {
            closing["temperature"] = temperature.into();
        }
        if basis.learnt.accepts(&request.model, ThinkField::Thoughts) {
            let effort = basis.learnt.effort(request);
            put_thinking(&mut closing, (thinking, effort), most, || self.in_loop_without_thinking());
        }
        let mark = self.mark();
        let head = self.written.head(request, json!({"model": request.model, "stream": true}), |mut head| {
            if !request.tools.is_empty() {
                head["tools"] = request.tools.iter().map(tool).collect();
            }
            if !request.system.is_empty() {
                head["system"] = json!([{"type": "text", "text": &*request.system, "cache_control": mark}]);
            }
            opened(&head) + ",\"messages\":["
        });
        let mark = format!(",\"cache_control\":{}}}", self.mark());
        let turns = Turns { role: role_of, open: "\"content\":[", marks: self.marks(), mark };
        self.written.turns(head, &turns, &format!("],{}", &closing.to_string()[1..]))
    }

    fn mark(&self) -> Value {
        if self.hour { json!({"type": "ephemeral", "ttl": "1h"}) } else { json!({"type": "ephemeral"}) }
    }

    /// Looks at the messages that are new since the request before, each once.
    fn look(&mut self) {
        let (messages, same) = self.written.messages();
        self.looks.truncate(same);
        let look = |piece: &Piece| {
            let first = piece.json.first().filter(|_| piece.message.has_calls());
            let thoughtless = first.is_some_and(|json| !json.contains("thinking\""));
            Look { is_user: role_of(&piece.message) == "user", thoughtless }
        };
        self.looks.extend(messages[self.looks.len()..].iter().map(look));
    }

    /// Returns whether the newest answer calls tools, and one of the calls since the person's word before it is of an
    /// answer that was not sealed here: a model that is told to think by budget wants each of them to begin with what it
    /// thought. What the person says behind the results stands in the same turn as these.
    fn in_loop_without_thinking(&self) -> bool {
        let all = self.written.messages().0.iter().zip(&self.looks).rev();
        let from_newest = all.skip_while(|(piece, _)| piece.message.role != Role::Assistant || piece.json.is_empty());
        let mut since = from_newest.take_while(|(piece, _)| piece.message.role != Role::User).peekable();
        since.peek().is_some_and(|(piece, _)| piece.message.has_calls()) && since.any(|(_, look)| look.thoughtless)
    }

    /// Returns the blocks, counted over all messages, that carry a cache mark: the last of the newest user turn, of the
    /// one before, and one between them where the server would not look far enough back. With the system prompt's that
    /// is four at most.
    fn marks(&self) -> Vec<usize> {
        // First and last block of each user turn.
        let mut turns: Vec<(usize, usize)> = Vec::new();
        let (mut at, mut is_open) = (0, false);
        for (piece, look) in self.written.messages().0.iter().zip(&self.looks) {
            if piece.json.is_empty() {
                continue;
            }
            let start = at;
            at += piece.json.len();
            match turns.last_mut() {
                Some(turn) if look.is_user && is_open => turn.1 = at - 1,
                _ if look.is_user => turns.push((start, at - 1)),
                _ => {}
            }
            is_open = look.is_user;
        }
        let mut marks: Vec<usize> = turns.iter().rev().take(2).map(|turn| turn.1).collect();
        if let (Some((start, newest)), Some(older)) = (turns.last(), marks.get(1).copied())
            && newest - older > REACH
        {
            // An answer's own blocks go back untouched: the mark stands in the newest user turn.
            marks.extend(Some((newest - REACH).max(*start)).filter(|mark| mark < newest));
        }
        marks
    }
}

/// Writes how much the model is to think, in the form it takes that. A budget is tried with a model of which nothing is
/// known: other servers of this wire take that form.
fn put_thinking(
    head: &mut Value,
    (thinking, effort): (Option<Thinking>, Option<Effort>),
    most: u32,
    in_loop_without_thinking: impl Fn() -> bool,
) {
    match (thinking, effort) {
        (Some(Thinking::Adaptive), Some(Effort::None)) => head["thinking"] = json!({"type": "disabled"}),
        (Some(Thinking::Adaptive), effort) => {
            head["thinking"] = json!({"type": "adaptive", "display": "summarized"});
            if let Some(effort) = effort {
                head["output_config"] = json!({"effort": effort.word()});
            }
        }
        (Some(Thinking::Budget) | None, Some(effort)) if !in_loop_without_thinking() => {
            let budget = match effort {
                Effort::None => return,
                Effort::Low => 2_048,
                Effort::Medium => 8_192,
                Effort::High => 16_384,
                Effort::XHigh => 32_768,
                Effort::Max => most,
            };
            // Of a limit that is only assumed half is left for the answer.
            let room = if thinking.is_some() { most.saturating_sub(1) } else { most / 2 };
            let budget = budget.min(room);
            if budget >= 1_024 {
                head["thinking"] = json!({"type": "enabled", "budget_tokens": budget});
            }
        }
        _ => {}
    }
}

/// Results are the person's side of the conversation.
fn role_of(message: &Message) -> &'static str {
    if message.role == Role::Assistant { "assistant" } else { "user" }
}

fn tool(tool: &ToolSpec) -> Value {
    json!({"name": tool.name, "description": tool.description, "input_schema": tool.parameters})
}

/// Returns the blocks of an answer: as they came, or what of them anyone may read.
fn answered(message: &Message, own: bool, ids: &mut Ids) -> Vec<String> {
    let mut blocks: Vec<(bool, String)> = Vec::new();
    for part in &message.parts {
        let seal = part.seal.as_ref().filter(|_| own).map(ToString::to_string);
        match (&part.body, seal) {
            (Body::Call(call), seal) => {
                let id = ids.unused(own.then_some(call.id.as_str()), false);
                ids.open(&call.id, Some(id.clone()), &call.name);
                let sealed = |seal| arguments::sealed(seal, call, ("id", &id));
                blocks.push((false, seal.map_or_else(|| tool_use(call, &id), sealed)));
            }
            (body, Some(seal)) => blocks.push((matches!(body, Body::Thinking(_) | Body::Other), seal)),
            (Body::Text(text), None) if !text.trim().is_empty() => {
                blocks.push((false, json!({"type": "text", "text": text}).to_string()));
            }
            _ => {}
        }
    }
    // No answer may end in what was only thought, as one that was cut off may.
    while blocks.last().is_some_and(|(thought, _)| *thought) {
        blocks.pop();
    }
    blocks.into_iter().map(|(_, json)| json).collect()
}

fn tool_use(call: &ToolCall, id: &str) -> String {
    let block = opened(&json!({"type": "tool_use", "id": id, "name": arguments::name(call)}));
    format!("{block},\"input\":{}}}", arguments::object(call))
}

/// Returns a block of what the person said.
fn said(part: &Part) -> Option<String> {
    match &part.body {
        Body::Text(text) if !text.trim().is_empty() => Some(json!({"type": "text", "text": text}).to_string()),
        Body::Blob(file) => Some(blob(file).to_string()),
        _ => None,
    }
}

/// Returns the result of a call, under the name the call goes by.
fn result(message: &Message, ids: &mut Ids) -> Option<String> {
    let result = message.tool_result()?;
    let id = ids.close(&result.call)?.sent?;
    let mut content = Vec::new();
    if !result.text.trim().is_empty() {
        content.push(json!({"type": "text", "text": result.text}));
    }
    content.extend(message.blobs().map(blob));
    let mut block = json!({"type": "tool_result", "tool_use_id": id, "content": content});
    if !result.ok {
        block["is_error"] = true.into();
    }
    Some(block.to_string())
}

fn blob(blob: &Blob) -> Value {
    let kind = if blob.mime.starts_with("image/") { "image" } else { "document" };
    let data = STANDARD.encode(&blob.bytes);
    json!({"type": kind, "source": {"type": "base64", "media_type": blob.mime, "data": data}})
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::super::super::learnt::Learnt;
    use super::*;
    use crate::provider::models::{self, Facts};
    use crate::provider::{Origin, PartKind, Span};

    const PLACE: &str = "https://api.anthropic.com";

    fn request(messages: Vec<Message>) -> Request {
        let messages = messages.into_iter().map(Arc::new).collect();
        Request { model: "claude-x".into(), messages, ..Request::default() }
    }

    fn text(cache: &mut AnthropicCache, request: &Request) -> String {
        let basis = RequestBasis {
            place: PLACE,
            host: "api.anthropic.com",
            learnt: &Learnt::default(),
            most: Some(request.facts.max_output.unwrap_or(16_384)),
        };
        String::from_utf8(cache.body(request, request.facts.thinking, &basis).to_vec()).expect("text")
    }

    fn body(cache: &mut AnthropicCache, request: &Request) -> Value {
        serde_json::from_str(&text(cache, request)).expect("JSON")
    }

    /// An answer that thinks, says and calls, sealed by the server at `place`.
    fn answer(place: &str, id: &str) -> Message {
        let call = ToolCall { id: id.into(), name: "list".into(), arguments: "{\"n\":1.0}".into() };
        let span = |kind, bytes, seal: &str| Span { kind, bytes, seal: Some(seal.into()) };
        let spans = vec![
            span(PartKind::Thinking, 2, "{\"type\":\"thinking\",\"thinking\":\"hm\",\"signature\":\"s\"}"),
            span(PartKind::Other, 0, "{\"type\":\"redacted_thinking\",\"data\":\"x\"}"),
            span(PartKind::Text, 2, "{\"type\":\"text\",\"text\":\"so\"}"),
            span(
                PartKind::Call,
                0,
                "{\"type\":\"tool_use\",\"id\":\"toolu_1\",\"name\":\"list\",\"input\":{\"n\":1.0}}",
            ),
        ];
        let mut message = Message::answer("so", "hm", vec![call], spans);
        let origin = Origin { wire: Wire::Anthropic, place: place.into(), model: "claude-x".into() };
        message.origin = Some(Arc::new(origin));
        message
    }

    #[test]
    fn own_answers_go_back_as_they_came_and_others_without_seals() {
        let own = request(vec![Message::user("hi"), answer(PLACE, "toolu_1"), Message::tool("toolu_1", "a.rs")]);
        let text = text(&mut AnthropicCache::default(), &own);
        for seal in own.messages[1].seals() {
            assert!(text.contains(&**seal), "{text}");
        }
        let other = request(vec![
            Message::user("hi"),
            answer("https://elsewhere.example", "odd id!"),
            Message::result(crate::provider::ToolResult {
                call: "odd id!".into(),
                text: "no".into(),
                blobs: Vec::new(),
                ok: false,
            }),
        ]);
        let sent = body(&mut AnthropicCache::default(), &other);
        assert_eq!(
            sent["messages"][1]["content"],
            json!([{"type": "text", "text": "so"},
                   {"type": "tool_use", "id": "call_1", "name": "list", "input": {"n": 1.0}}])
        );
        assert_eq!(sent["messages"][2]["content"][0]["tool_use_id"], "call_1");
        assert_eq!(sent["messages"][2]["content"][0]["is_error"], true);
    }

    #[test]
    fn an_answer_that_was_cut_off_does_not_end_in_what_was_thought() {
        let mut cut = answer(PLACE, "toolu_1");
        cut.parts.rotate_left(2);
        cut.parts.retain(|part| !matches!(part.body, Body::Call(_)));
        let sent =
            body(&mut AnthropicCache::default(), &request(vec![Message::user("hi"), cut, Message::user("go on")]));
        assert_eq!(sent["messages"][1]["content"], json!([{"type": "text", "text": "so"}]));
    }

    #[test]
    fn neighbours_of_one_role_are_one_turn_and_marks_stand_at_the_newest_two() {
        let png = Blob { mime: "image/png".into(), bytes: Arc::from(&b"abc"[..]), name: "n".into() };
        let mut request = request(vec![
            Message::user("hi"),
            answer(PLACE, "toolu_1"),
            Message::tool("toolu_1", "a.rs").with_blobs([png]),
            Message::assistant(" ", vec![]),
            Message::user("and?"),
        ]);
        request.system = "be brief".into();
        let parameters = json!({"type": "object"});
        request.tools = [ToolSpec { name: "list".into(), description: "lists".into(), parameters }].into();
        let mut cache = AnthropicCache::default();
        let sent = body(&mut cache, &request);
        let roles: Vec<_> = sent["messages"].as_array().expect("turns").iter().map(|turn| &turn["role"]).collect();
        assert_eq!(roles, ["user", "assistant", "user"]);
        let last = sent["messages"][2]["content"].as_array().expect("blocks");
        assert_eq!((&last[0]["type"], &last[1]["type"], last.len()), (&json!("tool_result"), &json!("text"), 2));
        assert_eq!(last[0]["content"][1]["source"]["data"], "YWJj");
        let marked = |v: &Value| v.get("cache_control").is_some();
        assert!(marked(&sent["system"][0]) && marked(&last[1]) && !marked(&last[0]));
        assert!(marked(&sent["messages"][0]["content"][0]));
        assert_eq!(sent["tools"][0]["input_schema"]["type"], "object");
        assert_eq!((&sent["max_tokens"], sent.get("thinking")), (&json!(16_384), None));
        // What was written before shows in nothing but speed.
        request.messages.push(Arc::new(Message::assistant("yes", vec![])));
        request.messages.push(Arc::new(Message::user("more")));
        assert_eq!(body(&mut cache, &request), body(&mut AnthropicCache::default(), &request));
        request.messages.truncate(1);
        assert_eq!(body(&mut cache, &request), body(&mut AnthropicCache::default(), &request));
    }

    #[test]
    fn how_much_to_think_in_the_form_the_model_takes() {
        let head = |model: &str, effort: Option<Effort>| {
            let facts = models::by_name(model);
            let mut request = request(vec![Message::user("hi")]);
            (request.model, request.effort, request.facts) = (model.into(), effort, facts);
            let sent = body(&mut AnthropicCache::default(), &request);
            (sent["thinking"].clone(), sent["output_config"]["effort"].clone(), sent["max_tokens"].clone())
        };
        let adaptive = json!({"type": "adaptive", "display": "summarized"});
        assert_eq!(head("claude-opus-4-6", None), (adaptive.clone(), Value::Null, json!(64_000)));
        assert_eq!(head("claude-opus-4-6", Some(Effort::XHigh)).1, "high");
        assert_eq!(head("claude-opus-4-6", Some(Effort::None)).0, json!({"type": "disabled"}));
        assert_eq!(head("claude-sonnet-4-5", None).0, Value::Null);
        let budget = |effort| head("claude-sonnet-4-5", Some(effort)).0["budget_tokens"].clone();
        assert_eq!([budget(Effort::Low), budget(Effort::High), budget(Effort::Max)], [2_048, 16_384, 63_999]);
        assert_eq!(head("claude-3-5-haiku-latest", Some(Effort::High)), (Value::Null, Value::Null, json!(8_192)));
        assert_eq!(head("claude-x", None).0, adaptive);
        assert_eq!(head("unknown", None).0, Value::Null);
        let unknown = |effort| head("unknown", Some(effort)).0["budget_tokens"].clone();
        assert_eq!([unknown(Effort::Low), unknown(Effort::Max)], [2_048, 8_192], "half is left for the answer");
    }

    #[test]
    fn a_budget_is_not_requested_in_the_middle_of_another_models_calls() {
        let mut request =
            request(vec![Message::user("hi"), answer("https://other.example", "x"), Message::tool("x", "")]);
        request.effort = Some(Effort::High);
        request.facts = Facts { max_output: Some(64_000), ..models::by_name("claude-sonnet-4-5") };
        assert_eq!(body(&mut AnthropicCache::default(), &request).get("thinking"), None);
        // What the person says behind the results stands in their turn.
        request.messages.push(Arc::new(Message::user("more")));
        assert_eq!(body(&mut AnthropicCache::default(), &request).get("thinking"), None);
        request.messages.extend([Message::assistant("done", vec![]), Message::user("next")].map(Arc::new));
        assert!(body(&mut AnthropicCache::default(), &request).get("thinking").is_some());
    }

    #[test]
    fn a_call_with_the_id_of_an_earlier_one_goes_back_under_another() {
        let step = || [answer(PLACE, "toolu_1"), Message::tool("toolu_1", "a.rs")];
        let request = request([Message::user("hi")].into_iter().chain(step()).chain(step()).collect());
        let sent = body(&mut AnthropicCache::default(), &request);
        let calls = [1, 3].map(|turn| sent["messages"][turn]["content"][3].to_string());
        assert!(calls[0].contains("\"id\":\"toolu_1\""), "{calls:?}");
        assert_eq!(calls[1], calls[0].replace("toolu_1", "call_1"));
        let results = [2, 4].map(|turn| sent["messages"][turn]["content"][0]["tool_use_id"].clone());
        assert_eq!(results, ["toolu_1", "call_1"]);
        let text = text(&mut AnthropicCache::default(), &request);
        assert_eq!(text.matches("\"signature\":\"s\"").count(), 2, "{text}");
    }
}
