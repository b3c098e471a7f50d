//! Reads the chunks of a Chat Completions answer, streamed or whole, as the servers of this format really write
//! them: without ids, without indices, with all arguments at once, with arguments as objects.

use std::sync::Arc;

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;
use serde_json::value::RawValue;

use super::super::reasoning_tags::ReasoningTags;
use super::reasoning::Reasoning;
use super::words::words;
use crate::provider::transport::{Event, Progress, Reader, Trouble};
use crate::provider::usage::{Usage, count};
use crate::provider::{Delta, EndReason, ToolSpec};

/// A value of which no form breaks the chunk off that holds it. It is small: a chunk is moved several times as it is
/// read.
type Any<'a> = Option<&'a RawValue>;

/// A chunk of a stream, or a whole answer: they differ in `delta` and `message`.
#[derive(Deserialize, Default)]
struct ChatChunk<'a> {
    #[serde(default, borrow)]
    choices: Option<Vec<Choice<'a>>>,
    #[serde(default, borrow)]
    usage: Any<'a>,
    #[serde(default, borrow)]
    error: Any<'a>,
}

#[derive(Deserialize)]
struct Choice<'a> {
    #[serde(default, borrow)]
    index: Any<'a>,
    #[serde(default, borrow)]
    delta: Option<Detail<'a>>,
    #[serde(default, borrow)]
    message: Option<Detail<'a>>,
    #[serde(default, borrow)]
    finish_reason: Any<'a>,
    #[serde(default, borrow)]
    error: Any<'a>,
}

#[derive(Deserialize)]
struct Detail<'a> {
    /// A string, or a list of entries that hold one.
    #[serde(default, borrow)]
    content: Any<'a>,
    #[serde(default, borrow)]
    reasoning_content: Any<'a>,
    #[serde(default, borrow)]
    reasoning: Any<'a>,
    #[serde(default, borrow)]
    reasoning_details: Any<'a>,
    #[serde(default, borrow)]
    refusal: Any<'a>,
    #[serde(default, borrow)]
    tool_calls: Option<Vec<CallDelta<'a>>>,
}

#[derive(Deserialize)]
struct ContentPart {
    #[serde(default)]
    text: Option<Value>,
    #[serde(default)]
    thinking: Option<Value>,
}

#[derive(Deserialize)]
struct CallDelta<'a> {
    #[serde(default, borrow)]
    index: Any<'a>,
    #[serde(default, borrow)]
    id: Any<'a>,
    #[serde(default, borrow)]
    function: Option<Function<'a>>,
}

#[derive(Deserialize, Default)]
struct Function<'a> {
    #[serde(default, borrow)]
    name: Any<'a>,
    #[serde(default, borrow)]
    arguments: Any<'a>,
}

/// Returns a value of any form.
fn value(value: Any) -> Option<Value> {
    serde_json::from_str(value?.get()).ok()
}

/// Returns a string or a number as text; nothing for what is neither, or empty.
fn text(value: Any) -> Option<String> {
    let raw = value?.get();
    let text = match serde_json::from_str(raw) {
        Ok(Value::String(text)) => text,
        Ok(Value::Number(_)) => raw.to_string(),
        _ => return None,
    };
    Some(text).filter(|text| !text.is_empty())
}

/// Returns the number of a choice or a call; nothing for what is none, as −1.
fn number(value: Any) -> Option<u64> {
    value?.get().trim_matches('"').parse().ok()
}

/// Returns the arguments of a call: a string holds them, or they stand there as they are.
fn arguments(value: Any) -> Result<String, Trouble> {
    let Some(raw) = value else { return Ok(String::new()) };
    match raw.get() {
        "null" => Ok(String::new()),
        text if text.starts_with('"') => serde_json::from_str(text).map_err(unreadable),
        other => Ok(other.to_string()),
    }
}

fn unreadable(why: serde_json::Error) -> Trouble {
    Trouble::Unreadable(why.to_string())
}

/// Returns why an answer ended, by the server's word for it; `None`: it broke off.
fn ended(reason: &str) -> Option<EndReason> {
    Some(match reason.to_ascii_lowercase().as_str() {
        "stop" => EndReason::Stop,
        "length" | "max_tokens" | "model_length" => EndReason::Length,
        "tool_calls" | "function_call" => EndReason::Calls,
        "safety" | "recitation" | "blocklist" | "prohibited_content" => EndReason::Filter,
        filter if filter.starts_with("content_filter") => EndReason::Filter,
        "error" | "abort" | "aborted" | "insufficient_system_resource" | "malformed_function_call" => return None,
        _ => EndReason::Other,
    })
}

fn usage(value: &RawValue) -> Option<Usage> {
    let announced: Value = serde_json::from_str(value.get()).ok()?;
    let (input, output) = (count(&announced["prompt_tokens"]), count(&announced["completion_tokens"]));
    if input.is_none() && output.is_none() {
        return None;
    }
    let (of_prompt, of_output) = (&announced["prompt_tokens_details"], &announced["completion_tokens_details"]);
    let usage = Usage {
        input: input.unwrap_or_default(),
        cache_read: count(&of_prompt["cached_tokens"])
            .or(count(&announced["prompt_cache_hit_tokens"]))
            .unwrap_or_default(),
        cache_write: count(&of_prompt["cache_write_tokens"]).unwrap_or_default(),
        output: output.unwrap_or_default(),
        thinking: count(&of_output["reasoning_tokens"]).unwrap_or_default(),
        ..Usage::default()
    };
    Some(usage.consistent())
}

/// The reason why an event is none of this format.
const NO_CHOICES: &str = "it holds no choices";

/// A call as far as it is known.
#[derive(Default)]
struct Slot {
    index: Option<u64>,
    id: Option<String>,
    /// The name as far as it has come; it may go on until arguments come.
    name: Option<String>,
    /// Told to the consumer: that takes a whole name.
    announced: bool,
    arguments: String,
}

/// The state of one answer.
pub(super) struct ChatReader {
    /// Begins the ids that are made up; differs from step to step.
    stem: String,
    tools: Arc<[ToolSpec]>,
    slots: Vec<Slot>,
    thoughts: ReasoningTags,
    reasoning: Reasoning,
    /// The answer itself has begun.
    begun: bool,
    end: Option<EndReason>,
    done: bool,
    /// An event of this format has come.
    read: bool,
    /// An event of another form has come.
    skipped: bool,
}

impl Reader for ChatReader {
    fn take(&mut self, event: &Event, out: &mut Vec<Delta>) -> Result<(), Trouble> {
        if event.data.trim() == "[DONE]" {
            self.done = true;
            return Ok(());
        }
        // Some servers send events of their own names, such as `ping`, beside the answer.
        let ours = matches!(event.name.as_str(), "" | "message" | "error" | "completion" | "chunk");
        match self.chunk(&event.data, out) {
            Err(Trouble::Unreadable(_)) if event.name == "error" => {
                let announced = serde_json::from_str(&event.data).unwrap_or_else(|_| event.data.as_str().into());
                Err(Trouble::Reported(announced))
            }
            Err(Trouble::Unreadable(_)) if !ours || event.data.trim().is_empty() => Ok(()),
            // Others send such without a name. A body of nothing else is no answer.
            Err(Trouble::Unreadable(why)) if why == NO_CHOICES => {
                self.skipped = true;
                Ok(())
            }
            taken => taken,
        }
    }

    fn take_whole(&mut self, json: &str, out: &mut Vec<Delta>) -> Result<(), Trouble> {
        self.chunk(json, out)?;
        self.done = true;
        Ok(())
    }

    fn unread(&self) -> Option<String> {
        (self.skipped && !self.read).then(|| NO_CHOICES.into())
    }

    fn progress(&self) -> Progress {
        match (self.done, &self.end) {
            (true, _) => Progress::Done,
            (false, Some(_)) => Progress::Ended,
            (false, None) => Progress::Open,
        }
    }

    fn finish(&mut self, out: &mut Vec<Delta>) {
        self.thoughts.finish(out);
        for at in 0..self.slots.len() {
            if !self.slots[at].announced {
                // A call without a name is the consumer's to refuse, with the model listening.
                self.tell(at, out);
            }
        }
        out.extend(std::mem::take(&mut self.reasoning).seal());
        let end = self.end.unwrap_or(EndReason::Other);
        let calls = !self.slots.is_empty() && matches!(end, EndReason::Stop | EndReason::Other);
        out.push(Delta::End(if calls { EndReason::Calls } else { end }));
    }
}

impl ChatReader {
    /// Creates the reader of an answer to a conversation of this many messages, which may call these tools.
    pub fn new(messages: usize, tools: Arc<[ToolSpec]>) -> Self {
        Self {
            stem: format!("call_{messages}"),
            tools,
            slots: Vec::new(),
            thoughts: ReasoningTags::default(),
            reasoning: Reasoning::default(),
            begun: false,
            end: None,
            done: false,
            read: false,
            skipped: false,
        }
    }

    /// Takes a chunk in and appends what it says to `out`.
    fn chunk(&mut self, json: &str, out: &mut Vec<Delta>) -> Result<(), Trouble> {
        let chunk: ChatChunk = serde_json::from_str(json).map_err(unreadable)?;
        if let Some(error) = chunk.error {
            return Err(Trouble::Reported(value(Some(error)).unwrap_or_else(|| error.get().into())));
        }
        if chunk.choices.is_none() && chunk.usage.is_none() {
            return Err(Trouble::Unreadable(NO_CHOICES.into()));
        }
        self.read = true;
        // Only one answer is asked for; a second one would be mixed into it.
        let choices = chunk.choices.into_iter().flatten();
        for choice in choices.filter(|choice| number(choice.index).unwrap_or(0) == 0) {
            if let Some(said) = choice.delta {
                self.said(said, false, out)?;
            }
            if let Some(said) = choice.message {
                self.said(said, true, out)?;
            }
            if let Some(reason) = text(choice.finish_reason) {
                // Gateways end so what broke off behind them.
                let Some(end) = ended(&reason) else {
                    let error = choice.error.and_then(|error| value(Some(error)));
                    return Err(Trouble::Reported(error.unwrap_or_else(|| format!("finish_reason: {reason}").into())));
                };
                self.end = Some(end);
            }
        }
        out.extend(chunk.usage.and_then(usage).map(Delta::Usage));
        Ok(())
    }

    fn said(&mut self, said: Detail, whole: bool, out: &mut Vec<Delta>) -> Result<(), Trouble> {
        let thinking =
            self.reasoning.push(value(said.reasoning_content), value(said.reasoning), value(said.reasoning_details));
        // What a server hides is told where it thinks, not where its seal comes: behind the answer.
        let is_said = |said: &RawValue| !matches!(said.get(), "null" | "\"\"" | "[]");
        if said.content.is_some_and(is_said) || said.refusal.is_some_and(is_said) {
            self.tell_named(self.slots.len(), out);
        }
        let begun = self.begun || !self.slots.is_empty();
        out.extend(thinking.filter(|text| !text.is_empty() || !begun).map(Delta::Thinking));
        self.begun |= said.content.is_some_and(is_said);
        match said.content.map(RawValue::get) {
            Some(text) if text.starts_with('"') => {
                let text: String = serde_json::from_str(text).map_err(unreadable)?;
                self.thoughts.push(&text, out);
            }
            Some(parts) if parts.starts_with('[') => {
                let parts: Vec<ContentPart> = serde_json::from_str(parts).unwrap_or_default();
                parts.into_iter().for_each(|part| self.part(part, out));
            }
            _ => {}
        }
        out.extend(text(said.refusal).map(Delta::Text));
        for piece in said.tool_calls.into_iter().flatten() {
            self.piece(piece, whole, out)?;
        }
        Ok(())
    }

    /// Reads one entry of a content that is a list.
    fn part(&mut self, part: ContentPart, out: &mut Vec<Delta>) {
        let thinking = part.thinking.as_ref().map(words).filter(|text| !text.is_empty());
        out.extend(thinking.map(Delta::Thinking));
        if let Some(Value::String(text)) = part.text {
            self.thoughts.push(&text, out);
        }
    }

    fn piece(&mut self, piece: CallDelta, whole: bool, out: &mut Vec<Delta>) -> Result<(), Trouble> {
        let function = piece.function.unwrap_or_default();
        let (index, id, name) = (number(piece.index), text(piece.id), text(function.name));
        let arguments = arguments(function.arguments)?;
        let at = match self.slot(index, id.as_deref(), name.is_some()).filter(|_| !whole) {
            Some(at) => at,
            None => {
                self.tell_named(self.slots.len(), out);
                self.slots.push(Slot { index, ..Slot::default() });
                self.slots.len() - 1
            }
        };
        let slot = &mut self.slots[at];
        if slot.id.is_none() {
            slot.id = id;
        }
        slot.arguments.push_str(&arguments);
        if slot.announced {
            if !arguments.is_empty() {
                out.push(Delta::Call { index: at, id: None, name: None, arguments });
            }
            return Ok(());
        }
        if let Some(name) = name {
            slot.name = Some(match slot.name.take() {
                Some(before) => joined_name(before, &name, &self.tools),
                None => name,
            });
        }
        if slot.name.is_some() && !slot.arguments.is_empty() {
            self.tell_named(at + 1, out);
        }
        Ok(())
    }

    /// Returns the call that a piece goes on with; `None`: it begins one.
    fn slot(&self, index: Option<u64>, id: Option<&str>, named: bool) -> Option<usize> {
        let found = match (index, id) {
            (Some(_), _) => self.slots.iter().rposition(|slot| slot.index == index)?,
            (None, Some(_)) => return self.slots.iter().rposition(|slot| slot.id.as_deref() == id),
            (None, None) => self.slots.len().checked_sub(1)?,
        };
        let slot = &self.slots[found];
        // Some servers give every call the index 0, or none: another id, or a name after whole arguments, tells.
        let another = match (id, &slot.id) {
            (Some(new), Some(old)) => new != old,
            _ => named && slot.name.is_some() && (index.is_none() || is_whole(&slot.arguments)),
        };
        (!another).then_some(found)
    }

    /// Sends the first pieces of the calls before this one that have a name and wait: it does not go on.
    fn tell_named(&mut self, before: usize, out: &mut Vec<Delta>) {
        for at in 0..before {
            if self.slots[at].name.is_some() && !self.slots[at].announced {
                self.tell(at, out);
            }
        }
    }

    /// Sends the first piece of a call: with an id of its own, and all arguments so far.
    fn tell(&mut self, at: usize, out: &mut Vec<Delta>) {
        let taken = |id: &String| self.slots[..at].iter().any(|slot| slot.id.as_ref() == Some(id));
        let given = self.slots[at].id.clone().filter(|id| !taken(id));
        let id = given.unwrap_or_else(|| format!("{}_{at}", self.stem));
        let slot = &mut self.slots[at];
        slot.announced = true;
        let name = Some(slot.name.clone().unwrap_or_default());
        out.push(Delta::Call { index: at, id: Some(id), name, arguments: slot.arguments.clone() });
    }
}

/// Returns the name of a call with the next piece of it, as far as that is one: some servers send the whole name with
/// every piece, or what there is of it so far.
fn joined_name(name: String, piece: &str, tools: &[ToolSpec]) -> String {
    let is_tool = |name: &str| tools.iter().any(|tool| tool.name == name);
    let joined = if piece.starts_with(&name) { piece.to_string() } else { format!("{name}{piece}") };
    if is_tool(&name) && !is_tool(&joined) { name } else { joined }
}

fn is_whole(arguments: &str) -> bool {
    serde_json::from_str::<IgnoredAny>(arguments).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::provider::{Answer, PartKind};
    use serde_json::json;

    fn reader(messages: usize) -> ChatReader {
        let tool = |name: &str| ToolSpec { name: name.into(), description: String::new(), parameters: json!({}) };
        ChatReader::new(messages, ["list", "read", "replaceInFile"].map(tool).into())
    }

    fn read(chunks: &[Value]) -> Answer {
        let (mut reader, mut out) = (reader(3), Vec::new());
        for chunk in chunks {
            reader.chunk(&chunk.to_string(), &mut out).unwrap();
        }
        reader.finish(&mut out);
        let mut answer = Answer::default();
        out.iter().for_each(|delta| answer.push(delta));
        answer
    }

    fn pieces(calls: Value) -> Value {
        json!({"choices": [{"delta": {"tool_calls": calls}}]})
    }

    fn calls(chunks: &[Value]) -> Vec<(String, String, String)> {
        read(chunks).calls.into_iter().map(|call| (call.id, call.name, call.arguments)).collect()
    }

    fn call(id: &str, name: &str, arguments: &str) -> (String, String, String) {
        (id.into(), name.into(), arguments.into())
    }

    #[test]
    fn pieces_by_index() {
        let got = calls(&[
            pieces(json!([{"index": 0, "id": "a", "function": {"name": "list", "arguments": ""}}])),
            pieces(json!([{"index": 0, "function": {"arguments": "{\"x\""}}])),
            pieces(json!([{"index": 1, "id": "b", "function": {"name": "read", "arguments": "{"}},
                          {"index": 0, "function": {"arguments": ":1}"}}])),
            pieces(json!([{"index": 1, "function": {"arguments": "}"}}])),
        ]);
        assert_eq!(got, [call("a", "list", "{\"x\":1}"), call("b", "read", "{}")]);
    }

    #[test]
    fn the_words_for_an_end_are_told_apart() {
        assert_eq!(ended("stop"), Some(EndReason::Stop));
        assert_eq!(ended("content_filter: RECITATION"), Some(EndReason::Filter));
        assert_eq!(ended("SAFETY"), Some(EndReason::Filter));
        for reason in ["abort", "insufficient_system_resource", "MALFORMED_FUNCTION_CALL"] {
            let chunk = json!({"choices": [{"delta": {"content": "a"}, "finish_reason": reason}]}).to_string();
            let taken = reader(1).chunk(&chunk, &mut Vec::new());
            assert_eq!(taken, Err(Trouble::Reported(format!("finish_reason: {reason}").into())));
        }
        let half = r#"{"choices":[{"delta":{"content":"a \ud83d"}}]}"#;
        assert!(matches!(reader(1).chunk(half, &mut Vec::new()), Err(Trouble::Unreadable(_))));
    }

    #[test]
    fn no_ids_and_no_indices() {
        let got = calls(&[
            pieces(json!([{"function": {"name": "list", "arguments": "{}"}}])),
            pieces(json!([{"function": {"name": "read", "arguments": {"path": "a"}}}])),
        ]);
        assert_eq!(got, [call("call_3_0", "list", "{}"), call("call_3_1", "read", "{\"path\":\"a\"}")]);
    }

    #[test]
    fn every_call_with_the_index_0() {
        let got = calls(&[
            pieces(json!([{"index": 0, "id": "a", "function": {"name": "list", "arguments": "{}"}}])),
            pieces(json!([{"index": 0, "id": "b", "function": {"name": "list", "arguments": "{}"}}])),
        ]);
        assert_eq!(got, [call("a", "list", "{}"), call("b", "list", "{}")]);
        let got = calls(&[
            pieces(json!([{"index": 0, "function": {"name": "list", "arguments": "{}"}}])),
            pieces(json!([{"index": 0, "function": {"name": "list", "arguments": "{}"}}])),
        ]);
        assert_eq!(got.len(), 2);
    }

    #[test]
    fn name_and_id_repeated_in_each_piece() {
        let got = calls(&[
            pieces(json!([{"index": 0, "id": "a", "function": {"name": "list", "arguments": "{\"x\":"}}])),
            pieces(json!([{"index": 0, "id": "a", "function": {"name": "list", "arguments": "1}"}}])),
        ]);
        assert_eq!(got, [call("a", "list", "{\"x\":1}")]);
    }

    #[test]
    fn a_name_in_pieces_is_one_and_a_whole_name_that_comes_again_no_other() {
        let names = |pieces_of_name: &[&str]| -> Vec<String> {
            let named = |name: &&str| pieces(json!([{"index": 0, "function": {"name": name, "arguments": ""}}]));
            let mut chunks: Vec<Value> = pieces_of_name.iter().map(named).collect();
            chunks.push(pieces(json!([{"index": 0, "function": {"arguments": "{\"x\""}}])));
            chunks.push(pieces(json!([{"index": 0, "function": {"name": pieces_of_name[0], "arguments": ":1}"}}])));
            calls(&chunks).into_iter().map(|(_, name, arguments)| name + &arguments).collect()
        };
        for (pieces_of_name, name) in [
            (&["replace", "InFile"][..], "replaceInFile"),
            (&["re", "place", "In", "File"], "replaceInFile"),
            (&["replaceInFile", "replaceInFile"], "replaceInFile"),
            (&["replace", "replaceInFile"], "replaceInFile"),
            (&["list", "null"], "list"),
            (&["functions.", "list"], "functions.list"),
        ] {
            assert_eq!(names(pieces_of_name), [format!("{name}{{\"x\":1}}")], "{pieces_of_name:?}");
        }
        // Without arguments, and with others behind it.
        let got = calls(&[
            pieces(json!([{"index": 0, "id": "a", "function": {"name": "li"}}])),
            pieces(json!([{"index": 0, "id": "a", "function": {"name": "st"}}])),
            pieces(json!([{"index": 1, "id": "b", "function": {"name": "read"}}])),
            pieces(json!([{"function": {"name": "list"}}])),
        ]);
        assert_eq!(got, [call("a", "list", ""), call("b", "read", ""), call("call_3_2", "list", "")]);
        let answer = read(&[
            pieces(json!([{"index": 0, "id": "a", "function": {"name": "list"}}])),
            json!({"choices": [{"delta": {"content": "Then:"}}]}),
        ]);
        let kinds: Vec<PartKind> = answer.spans.iter().map(|span| span.kind).collect();
        assert_eq!(kinds, [PartKind::Call, PartKind::Text], "what comes behind a call stands behind it");
    }

    #[test]
    fn events_of_another_form_are_skipped_unless_nothing_else_comes() {
        let event = |data: &str| Event { name: String::new(), data: data.into() };
        let foreign = ["{}", "{\"choices\":null}", "{\"type\":\"ping\"}", "{\"object\":\"ping\"}"];
        let (mut reader_of_answer, mut out) = (reader(0), Vec::new());
        for data in foreign {
            let mut reader = reader(0);
            assert_eq!(reader.take(&event(data), &mut Vec::new()), Ok(()), "{data}");
            assert_eq!(reader.unread().as_deref(), Some(NO_CHOICES));
            assert_eq!(reader_of_answer.take(&event(data), &mut out), Ok(()));
            let text = event("{\"choices\":[{\"delta\":{\"content\":\"a\"}}]}");
            assert_eq!(reader_of_answer.take(&text, &mut out), Ok(()));
        }
        reader_of_answer.finish(&mut out);
        let mut answer = Answer::default();
        out.iter().for_each(|delta| answer.push(delta));
        assert_eq!((reader_of_answer.unread(), answer.text.as_str()), (None, "aaaa"));
        let named = Event { name: "error".into(), ..event("{\"message\":\"x\"}") };
        assert!(matches!(reader(0).take(&named, &mut Vec::new()), Err(Trouble::Reported(_))));
        assert!(reader(0).take_whole("{\"detail\":\"x\"}", &mut Vec::new()).is_err());
    }

    #[test]
    fn a_name_that_comes_late_or_never_and_an_id_twice() {
        let got = calls(&[
            pieces(json!([{"index": 0, "id": "a", "function": {"arguments": "{\"x\""}}])),
            pieces(json!([{"index": 0, "function": {"name": "list", "arguments": ":1}"}}])),
            pieces(json!([{"index": 1, "id": "a", "function": {"arguments": "{}"}}])),
        ]);
        assert_eq!(got, [call("a", "list", "{\"x\":1}"), call("call_3_1", "", "{}")]);
    }

    #[test]
    fn a_whole_answer_and_its_reasoning() {
        let answer = read(&[json!({
            "choices": [{"index": 0, "finish_reason": "stop", "message": {
                "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}], "reasoning": "hm",
                "tool_calls": [{"id": "x", "function": {"name": "list", "arguments": "{}"}},
                               {"id": "x", "function": {"name": "list", "arguments": "{}"}}]
            }}, {"index": 1, "message": {"content": "other"}}],
            "usage": {"prompt_tokens": 3, "completion_tokens": 4, "total_tokens": 7}
        })]);
        assert_eq!((answer.text.as_str(), answer.thinking.as_str()), ("ab", "hm"));
        assert_eq!(answer.calls.len(), 2);
        assert_ne!(answer.calls[0].id, answer.calls[1].id);
        assert_eq!(answer.usage, Some(Usage::new(3, 4)));
        assert_eq!(answer.end, Some(EndReason::Calls));
    }

    #[test]
    fn thoughts_written_as_text_are_thinking() {
        let text = |text: &str| json!({"choices": [{"delta": {"content": text}}]});
        let answer = read(&[text("<thi"), text("nk>hm</think>"), text("\n\nYes."), text(" <think>")]);
        assert_eq!((answer.text.as_str(), answer.thinking.as_str()), ("Yes. <think>", "hm"));
        let call = pieces(json!([{"index": 0, "id": "a", "function": {"name": "list", "arguments": "{}"}}]));
        let answer = read(&[text("<think>never closed"), call]);
        assert_eq!((answer.text.as_str(), answer.thinking.as_str(), answer.calls.len()), ("", "never closed", 1));
    }

    #[test]
    fn a_thought_that_is_hidden_is_told_where_it_is_thought() {
        let details = json!([{"type": "reasoning.encrypted", "index": 0, "data": "x"}]);
        let hidden = json!({"choices": [{"delta": {"content": "", "reasoning_details": details}}]});
        let text = |text: &str| json!({"choices": [{"delta": {"content": text}}]});
        let kinds =
            |chunks: &[Value]| read(chunks).spans.iter().map(|s| (s.kind, s.seal.is_some())).collect::<Vec<_>>();
        let (thought, said) = ((PartKind::Thinking, true), (PartKind::Text, false));
        assert_eq!(kinds(&[hidden.clone(), hidden.clone(), text("Yes.")]), [thought, said]);
        assert_eq!(kinds(&[text("Yes."), hidden]), [said, thought]);
    }

    #[test]
    fn errors_and_strange_chunks() {
        let take = |json: &str| reader(0).chunk(json, &mut Vec::new());
        assert_eq!(take("{\"error\":{\"message\":\"x\"}}"), Err(Trouble::Reported(json!({"message": "x"}))));
        assert!(matches!(take("{}"), Err(Trouble::Unreadable(_))));
        assert!(matches!(take("{\"choices\":7}"), Err(Trouble::Unreadable(_))));
        assert!(matches!(take("[DONE"), Err(Trouble::Unreadable(_))));
        let ended = "{\"choices\":[{\"delta\":{\"content\":\"a\"},\"finish_reason\":\"error\"}]}";
        assert_eq!(take(ended), Err(Trouble::Reported("finish_reason: error".into())));
        assert_eq!(take("{\"choices\":[],\"error\":null}"), Ok(()));
        assert_eq!(take("{\"choices\":[{\"delta\":null,\"finish_reason\":null}]}"), Ok(()));
    }

    #[test]
    fn no_number_breaks_an_answer_off() {
        let usage = |announced: &str| {
            let chunk = format!(
                "{{\"choices\":[{{\"index\":0,\"delta\":{{\"content\":\"a\"}},\"finish_reason\":\"stop\"}}],\"usage\":{announced}}}"
            );
            let (mut reader, mut out) = (reader(0), Vec::new());
            assert_eq!(reader.chunk(&chunk, &mut out), Ok(()), "{announced}");
            reader.finish(&mut out);
            let mut answer = Answer::default();
            out.iter().for_each(|delta| answer.push(delta));
            assert_eq!((answer.text.as_str(), answer.end), ("a", Some(EndReason::Stop)), "{announced}");
            answer.usage
        };
        for (announced, wanted) in [
            ("{\"prompt_tokens\":12.0,\"completion_tokens\":3.4}", Some(Usage::new(12, 3))),
            ("{\"prompt_tokens\":\"12\",\"completion_tokens\":\"3\"}", Some(Usage::new(12, 3))),
            ("{\"prompt_tokens\":-5,\"completion_tokens\":3}", Some(Usage::new(0, 3))),
            ("{\"prompt_tokens\":null,\"completion_tokens\":3}", Some(Usage::new(0, 3))),
            ("{\"prompt_tokens\":1e400,\"completion_tokens\":3}", None),
            ("{\"prompt_tokens\":[1],\"completion_tokens\":{}}", None),
            ("{}", None),
            ("null", None),
            ("\"none\"", None),
            ("[7]", None),
            ("-1", None),
        ] {
            assert_eq!(usage(announced), wanted, "{announced}");
        }
        let huge = usage("{\"prompt_tokens\":99999999999999999999999,\"completion_tokens\":18446744073709551615}");
        assert_eq!(huge, None, "no request has so many");
        let cached = usage(
            "{\"prompt_tokens\":100,\"completion_tokens\":9,\"prompt_tokens_details\":{\"cached_tokens\":\"64\",
              \"cache_write_tokens\":7.0},\"completion_tokens_details\":{\"reasoning_tokens\":5}}",
        );
        assert_eq!(
            cached,
            Some(Usage { input: 100, cache_read: 64, cache_write: 7, output: 9, thinking: 5, ..Usage::default() })
        );
        let hit = usage("{\"prompt_tokens\":100,\"completion_tokens\":9,\"prompt_cache_hit_tokens\":640}");
        assert_eq!(hit, Some(Usage { cache_read: 100, ..Usage::new(100, 9) }));
    }

    #[test]
    fn no_index_or_id_breaks_a_call_off() {
        for index in ["-1", "null", "\"0\"", "0.0", "1e400", "1000000000", "18446744073709551616", "[]", "{}", "true"] {
            let chunk =
                |piece: &str| format!("{{\"choices\":[{{\"index\":{index},\"delta\":{{\"tool_calls\":[{piece}]}}}}]}}");
            let (mut reader, mut out) = (reader(0), Vec::new());
            let whole = |piece: &str| chunk(piece).replacen(index, "0", 1);
            for piece in [
                format!("{{\"index\":{index},\"id\":7,\"function\":{{\"name\":\"list\",\"arguments\":\"{{\\\"a\"}}}}"),
                format!("{{\"index\":{index},\"function\":{{\"name\":null,\"arguments\":\"\\\":1}}\"}}}}"),
            ] {
                assert_eq!(reader.chunk(&whole(&piece), &mut out), Ok(()), "{piece}");
            }
            reader.finish(&mut out);
            let mut answer = Answer::default();
            out.iter().for_each(|delta| answer.push(delta));
            assert_eq!(answer.calls.len(), 1, "{index}: {answer:?}");
            let call = &answer.calls[0];
            let got = (call.id.as_str(), call.name.as_str(), call.arguments.as_str());
            assert_eq!(got, ("7", "list", "{\"a\":1}"), "{index}");
        }
    }
}
