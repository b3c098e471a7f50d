//! Reads the chunks of a Chat Completions answer, streamed or whole, as the servers of this format really write
//! them: without ids, without indices, with all arguments at once, with arguments as objects.

use serde::Deserialize;
use serde_json::Value;

use crate::provider::think::Thoughts;
use crate::provider::{Delta, EndReason, Usage};

/// A chunk of a stream, or a whole answer: they differ in `delta` and `message`.
#[derive(Deserialize, Default)]
struct Chunk {
    #[serde(default)]
    choices: Option<Vec<Choice>>,
    #[serde(default)]
    usage: Option<Tokens>,
    #[serde(default)]
    error: Option<Value>,
}

#[derive(Deserialize)]
struct Choice {
    #[serde(default)]
    index: Option<u64>,
    #[serde(default)]
    delta: Option<Said>,
    #[serde(default)]
    message: Option<Said>,
    #[serde(default)]
    finish_reason: Option<String>,
}

#[derive(Deserialize)]
struct Said {
    #[serde(default)]
    content: Option<Content>,
    #[serde(default)]
    reasoning_content: Option<String>,
    #[serde(default)]
    reasoning: Option<Value>,
    #[serde(default)]
    refusal: Option<String>,
    #[serde(default)]
    tool_calls: Option<Vec<Piece>>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Content {
    Text(String),
    Parts(Vec<Part>),
}

#[derive(Deserialize)]
struct Part {
    #[serde(default)]
    text: Option<String>,
}

#[derive(Deserialize)]
struct Piece {
    #[serde(default)]
    index: Option<u64>,
    #[serde(default)]
    id: Option<String>,
    #[serde(default)]
    function: Option<Function>,
}

#[derive(Deserialize, Default)]
struct Function {
    #[serde(default)]
    name: Option<String>,
    #[serde(default)]
    arguments: Option<Value>,
}

#[derive(Deserialize)]
struct Tokens {
    #[serde(default)]
    prompt_tokens: Option<u64>,
    #[serde(default)]
    completion_tokens: Option<u64>,
}

/// What a chunk says other than deltas.
#[derive(Debug, PartialEq)]
pub(super) enum Trouble {
    /// The server reports an error.
    Told(Value),
    /// It is not a chunk; why.
    NotOurs(String),
}

/// A call as far as it is known.
#[derive(Default)]
struct Slot {
    index: Option<u64>,
    id: Option<String>,
    /// Told to the consumer: that takes a name.
    told: bool,
    arguments: String,
}

/// The state of one answer.
pub(super) struct Reader {
    /// Begins the ids that are made up; differs from step to step.
    stem: String,
    slots: Vec<Slot>,
    thoughts: Thoughts,
    end: Option<EndReason>,
}

impl Reader {
    /// For an answer to a conversation of so many messages.
    pub fn new(messages: usize) -> Self {
        Self { stem: format!("call_{messages}"), slots: Vec::new(), thoughts: Thoughts::default(), end: None }
    }

    /// Takes a chunk in and appends what it says to `out`.
    pub fn take(&mut self, json: &str, out: &mut Vec<Delta>) -> Result<(), Trouble> {
        let chunk: Chunk = serde_json::from_str(json).map_err(|why| Trouble::NotOurs(why.to_string()))?;
        if let Some(error) = chunk.error.filter(|error| !error.is_null()) {
            return Err(Trouble::Told(error));
        }
        if chunk.choices.is_none() && chunk.usage.is_none() {
            return Err(Trouble::NotOurs("it holds no choices".into()));
        }
        // Only one answer is asked for; a second one would be mixed into it.
        let choices = chunk.choices.into_iter().flatten();
        for choice in choices.filter(|choice| choice.index.unwrap_or(0) == 0) {
            if let Some(said) = choice.delta {
                self.said(said, false, out);
            }
            if let Some(said) = choice.message {
                self.said(said, true, out);
            }
            if let Some(reason) = choice.finish_reason.filter(|reason| !reason.is_empty()) {
                self.end = Some(match reason.as_str() {
                    "stop" => EndReason::Stop,
                    "length" | "max_tokens" | "model_length" => EndReason::Length,
                    "tool_calls" | "function_call" => EndReason::Calls,
                    "content_filter" => EndReason::Filter,
                    _ => EndReason::Other,
                });
            }
        }
        if let Some(tokens) = chunk.usage {
            let usage = Usage {
                input: tokens.prompt_tokens.unwrap_or_default(),
                output: tokens.completion_tokens.unwrap_or_default(),
            };
            out.push(Delta::Usage(usage));
        }
        Ok(())
    }

    /// Whether the server has said why it ended.
    pub fn ended(&self) -> bool {
        self.end.is_some()
    }

    /// What remains to be told once the answer is whole.
    pub fn finish(mut self, out: &mut Vec<Delta>) {
        self.thoughts.finish(out);
        for at in 0..self.slots.len() {
            if !self.slots[at].told {
                // A call without a name is the consumer's to refuse, with the model listening.
                self.tell(at, "", out);
            }
        }
        let end = self.end.unwrap_or(EndReason::Other);
        let calls = !self.slots.is_empty() && matches!(end, EndReason::Stop | EndReason::Other);
        out.push(Delta::End(if calls { EndReason::Calls } else { end }));
    }

    fn said(&mut self, said: Said, whole: bool, out: &mut Vec<Delta>) {
        let reasoning = said.reasoning.and_then(|value| value.as_str().map(Into::into));
        if let Some(thinking) = said.reasoning_content.filter(|text| !text.is_empty()).or(reasoning)
            && !thinking.is_empty()
        {
            out.push(Delta::Thinking(thinking));
        }
        let text = match said.content {
            Some(Content::Text(text)) => text,
            Some(Content::Parts(parts)) => parts.into_iter().filter_map(|part| part.text).collect(),
            None => String::new(),
        };
        self.thoughts.push(&text, out);
        if let Some(refusal) = said.refusal.filter(|text| !text.is_empty()) {
            out.push(Delta::Text(refusal));
        }
        for piece in said.tool_calls.into_iter().flatten() {
            self.piece(piece, whole, out);
        }
    }

    fn piece(&mut self, piece: Piece, whole: bool, out: &mut Vec<Delta>) {
        let function = piece.function.unwrap_or_default();
        let name = function.name.filter(|name| !name.is_empty());
        let id = piece.id.filter(|id| !id.is_empty());
        let arguments = match function.arguments {
            None | Some(Value::Null) => String::new(),
            Some(Value::String(text)) => text,
            Some(other) => other.to_string(),
        };
        let at = match self.slot(piece.index, id.as_deref(), name.is_some()).filter(|_| !whole) {
            Some(at) => at,
            None => {
                self.slots.push(Slot { index: piece.index, ..Slot::default() });
                self.slots.len() - 1
            }
        };
        let slot = &mut self.slots[at];
        if slot.id.is_none() {
            slot.id = id;
        }
        slot.arguments.push_str(&arguments);
        if slot.told {
            if !arguments.is_empty() {
                out.push(Delta::Call { index: at, id: None, name: None, arguments });
            }
        } else if let Some(name) = name {
            self.tell(at, &name, out);
        }
    }

    /// The call that a piece goes on with; `None`: it begins one.
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
            _ => named && slot.told && (index.is_none() || is_whole(&slot.arguments)),
        };
        (!another).then_some(found)
    }

    /// The first piece of a call: with an id of its own, and all arguments so far.
    fn tell(&mut self, at: usize, name: &str, out: &mut Vec<Delta>) {
        let taken = |id: &String| self.slots[..at].iter().any(|slot| slot.id.as_ref() == Some(id));
        let given = self.slots[at].id.clone().filter(|id| !taken(id));
        let id = given.unwrap_or_else(|| format!("{}_{at}", self.stem));
        let slot = &mut self.slots[at];
        slot.told = true;
        out.push(Delta::Call { index: at, id: Some(id), name: Some(name.into()), arguments: slot.arguments.clone() });
    }
}

fn is_whole(arguments: &str) -> bool {
    serde_json::from_str::<serde::de::IgnoredAny>(arguments).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::provider::Answer;
    use serde_json::json;

    fn read(chunks: &[Value]) -> Answer {
        let (mut reader, mut out) = (Reader::new(3), Vec::new());
        for chunk in chunks {
            reader.take(&chunk.to_string(), &mut out).unwrap();
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
        assert_eq!(answer.usage, Some(Usage { input: 3, output: 4 }));
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
    fn errors_and_strange_chunks() {
        let take = |json: &str| Reader::new(0).take(json, &mut Vec::new());
        assert_eq!(take("{\"error\":{\"message\":\"x\"}}"), Err(Trouble::Told(json!({"message": "x"}))));
        assert!(matches!(take("{}"), Err(Trouble::NotOurs(_))));
        assert!(matches!(take("{\"choices\":7}"), Err(Trouble::NotOurs(_))));
        assert!(matches!(take("[DONE"), Err(Trouble::NotOurs(_))));
        assert_eq!(take("{\"choices\":[],\"error\":null}"), Ok(()));
        assert_eq!(take("{\"choices\":[{\"delta\":null,\"finish_reason\":null}]}"), Ok(()));
    }
}
