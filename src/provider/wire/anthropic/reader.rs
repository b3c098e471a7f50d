//! Reads the events of a Messages answer: blocks that open, grow and close, each sealed as it came.

use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::super::written::opened;
use crate::provider::transport::{Event, Progress, Reader, Trouble};
use crate::provider::usage::{Usage, count};
use crate::provider::{Delta, EndReason, PartKind};

/// The state of one answer.
#[derive(Debug, Default)]
pub(super) struct AnthropicReader {
    /// Begins the ids that are made up; differs from step to step.
    stem: String,
    /// Ids of the calls so far.
    ids: Vec<String>,
    /// Blocks that are open, by their number.
    open: Vec<(u64, Block)>,
    usage: Map<String, Value>,
    end: Option<EndReason>,
    explanation: Option<String>,
    ended: bool,
}

/// A block that is open.
#[derive(Debug)]
struct Block {
    /// The block as it was opened, with what has come since.
    value: Map<String, Value>,
    /// The arguments of a call as they come.
    arguments: String,
    /// The call's number in the answer.
    call: Option<usize>,
    /// The server gave the call an id that no other call of the answer has.
    own_id: bool,
    /// A piece of it is of a kind that is not known: it is not whole, and goes back without its seal.
    unknown: bool,
}

/// An event that a block grows by, as nearly all are: it is read without a tree of its values.
#[derive(Deserialize)]
struct GrowthFields<'a> {
    #[serde(rename = "type")]
    kind: &'a str,
    index: u64,
    #[serde(borrow)]
    delta: PieceFields<'a>,
}

/// The piece that a block grows by.
#[derive(Deserialize)]
struct PieceFields<'a> {
    #[serde(rename = "type")]
    kind: &'a str,
    #[serde(default)]
    text: Option<String>,
    #[serde(default)]
    thinking: Option<String>,
    #[serde(default)]
    partial_json: Option<String>,
}

impl GrowthFields<'_> {
    /// Returns the block's number, the kind of the piece and its text; `None`: the event is another one.
    fn of(data: &str) -> Option<(u64, &str, String)> {
        let growth: GrowthFields =
            serde_json::from_str(data).ok().filter(|g: &GrowthFields| g.kind == "content_block_delta")?;
        let text = match growth.delta.kind {
            "text_delta" => growth.delta.text,
            "thinking_delta" => growth.delta.thinking,
            "input_json_delta" => growth.delta.partial_json,
            _ => return None,
        };
        Some((growth.index, growth.delta.kind, text.unwrap_or_default()))
    }
}

impl Reader for AnthropicReader {
    fn take(&mut self, event: &Event, out: &mut Vec<Delta>) -> Result<(), Trouble> {
        if let Some((index, kind, text)) = GrowthFields::of(&event.data) {
            self.grow(index, kind, &text, out);
            return Ok(());
        }
        let value: Value = match serde_json::from_str(&event.data) {
            Ok(value) => value,
            // Some servers in front of others send events of their own.
            Err(_) if event.data.trim().is_empty() || event.data.trim() == "[DONE]" => return Ok(()),
            Err(why) => return Err(Trouble::Unreadable(why.to_string())),
        };
        match value["type"].as_str().unwrap_or(&event.name) {
            // A second one replaces what is not closed yet.
            "message_start" => {
                self.withdraw(out);
                self.counted(&value["message"]["usage"], out);
            }
            "content_block_start" => self.open_block(number(&value), &value["content_block"], out),
            "content_block_delta" => self.piece(number(&value), &value["delta"], out),
            "content_block_stop" => self.close(number(&value), out),
            "message_delta" => {
                self.stopped(&value["delta"]);
                self.counted(&value["usage"], out);
            }
            "message_stop" => self.ended = true,
            "error" => return Err(Trouble::Reported(value["error"].clone())),
            // `ping`, and whatever is added later.
            _ => {}
        }
        Ok(())
    }

    fn take_whole(&mut self, json: &str, out: &mut Vec<Delta>) -> Result<(), Trouble> {
        let value: Value = serde_json::from_str(json).map_err(|why| Trouble::Unreadable(why.to_string()))?;
        if let Some(error) = value.get("error").filter(|error| !error.is_null()) {
            return Err(Trouble::Reported(error.clone()));
        }
        let Some(blocks) = value["content"].as_array() else {
            return Err(Trouble::Unreadable("it holds no content".into()));
        };
        for (at, block) in blocks.iter().enumerate() {
            self.open_block(at as u64, block, out);
            self.close(at as u64, out);
        }
        self.stopped(&value);
        self.counted(&value["usage"], out);
        self.ended = true;
        Ok(())
    }

    fn progress(&self) -> Progress {
        if self.ended { Progress::Done } else { Progress::Open }
    }

    fn finish(&mut self, out: &mut Vec<Delta>) {
        let end = self.end.unwrap_or(EndReason::Other);
        let calls = !self.ids.is_empty() && matches!(end, EndReason::Stop | EndReason::Paused | EndReason::Other);
        if let Some(why) = self.explanation.take() {
            out.push(Delta::Notice(why));
        }
        out.push(Delta::End(if calls { EndReason::Calls } else { end }));
    }
}

impl AnthropicReader {
    /// Creates the reader of an answer to a conversation of this many messages.
    pub fn new(messages: usize) -> Self {
        AnthropicReader { stem: format!("call_{messages}"), ..Self::default() }
    }

    /// Drops the blocks that are open, with what was told of them.
    fn withdraw(&mut self, out: &mut Vec<Delta>) {
        let (mut text, mut thinking) = (0, 0);
        let mut open: Vec<usize> = Vec::new();
        for (_, block) in self.open.drain(..) {
            let said = |name: &str| block.value.get(name).and_then(Value::as_str).map_or(0, str::len);
            match block.value.get("type").and_then(Value::as_str) {
                Some("text") => text += said("text"),
                Some("thinking") => thinking += said("thinking"),
                _ => open.extend(block.call),
            }
        }
        // Blocks follow each other: those that are open are the last ones.
        let calls = (1..=self.ids.len()).take_while(|n| open.contains(&(self.ids.len() - n))).count();
        self.ids.truncate(self.ids.len() - calls);
        if text + thinking + calls > 0 {
            out.push(Delta::Withdraw { text, thinking, calls });
        }
    }

    fn open_block(&mut self, index: u64, block: &Value, out: &mut Vec<Delta>) {
        let Some(value) = block.as_object().cloned() else { return };
        let mut opened = Block { value, arguments: String::new(), call: None, own_id: false, unknown: false };
        out.push(Delta::Part);
        match block["type"].as_str() {
            Some("text") => emit(block["text"].as_str(), Delta::Text, out),
            Some("thinking") => emit(block["thinking"].as_str(), Delta::Thinking, out),
            Some("tool_use") => {
                let call = self.ids.len();
                let given = block["id"].as_str().filter(|id| !id.is_empty() && self.ids.iter().all(|old| old != id));
                // A call that has no id of its own gets one, and goes back without its seal.
                opened.own_id = given.is_some();
                let id = given.map_or_else(|| format!("{}_{call}", self.stem), Into::into);
                self.ids.push(id.clone());
                opened.call = Some(call);
                let arguments = match &block["input"] {
                    Value::Object(input) if !input.is_empty() => block["input"].to_string(),
                    _ => String::new(),
                };
                opened.arguments.clone_from(&arguments);
                let name = Some(block["name"].as_str().unwrap_or_default().to_string());
                out.push(Delta::Call { index: call, id: Some(id), name, arguments });
            }
            _ => {}
        }
        self.open.retain(|(other, _)| *other != index);
        self.open.push((index, opened));
    }

    fn piece(&mut self, index: u64, delta: &Value, out: &mut Vec<Delta>) {
        let kind = delta["type"].as_str().unwrap_or_default();
        let field = match kind {
            "text_delta" => "text",
            "thinking_delta" => "thinking",
            "signature_delta" => "signature",
            "input_json_delta" => "partial_json",
            "citations_delta" => {
                let block = self.open.iter_mut().find(|(open, _)| *open == index);
                let citations = block.map(|(_, block)| block.value.entry("citations").or_insert_with(|| json!([])));
                if let Some(Value::Array(list)) = citations {
                    list.push(delta["citation"].clone());
                }
                return;
            }
            _ => "",
        };
        self.grow(index, kind, delta[field].as_str().unwrap_or_default(), out);
    }

    fn grow(&mut self, index: u64, kind: &str, more: &str, out: &mut Vec<Delta>) {
        let Some((_, block)) = self.open.iter_mut().find(|(open, _)| *open == index) else { return };
        match kind {
            "text_delta" => {
                append(&mut block.value, "text", more);
                emit(Some(more), Delta::Text, out);
            }
            "thinking_delta" => {
                append(&mut block.value, "thinking", more);
                emit(Some(more), Delta::Thinking, out);
            }
            "signature_delta" => append(&mut block.value, "signature", more),
            "input_json_delta" => {
                block.arguments.push_str(more);
                if let Some(call) = block.call.filter(|_| !more.is_empty()) {
                    out.push(Delta::Call { index: call, id: None, name: None, arguments: more.into() });
                }
            }
            _ => block.unknown = true,
        }
    }

    /// Seals a block that is whole, unless its arguments cannot be sent back as they are.
    fn close(&mut self, index: u64, out: &mut Vec<Delta>) {
        let Some(at) = self.open.iter().position(|(open, _)| *open == index) else { return };
        let (_, mut block) = self.open.remove(at);
        let kind = match block.value.get("type").and_then(Value::as_str) {
            Some("text") => PartKind::Text,
            Some("thinking") => PartKind::Thinking,
            Some("tool_use") => PartKind::Call,
            _ => PartKind::Other,
        };
        if let Some(call) = block.call.filter(|_| block.arguments.trim().is_empty()) {
            out.push(Delta::Call { index: call, id: None, name: None, arguments: "{}".into() });
            block.arguments = "{}".into();
        }
        let index = block.call.unwrap_or(0);
        out.extend(sealed(kind, block).map(|json| Delta::Seal { kind, index, json }));
    }

    fn stopped(&mut self, response: &Value) {
        let Some(reason) = response["stop_reason"].as_str() else { return };
        self.end = Some(match reason {
            "end_turn" | "stop_sequence" => EndReason::Stop,
            "tool_use" => EndReason::Calls,
            "max_tokens" | "model_context_window_exceeded" => EndReason::Length,
            "refusal" => EndReason::Filter,
            "pause_turn" => EndReason::Paused,
            _ => EndReason::Other,
        });
        self.explanation = response["stop_details"]["explanation"].as_str().map(Into::into);
    }

    /// Fields of later events replace earlier ones; missing ones stay.
    fn counted(&mut self, response: &Value, out: &mut Vec<Delta>) {
        let Some(response) = response.as_object() else { return };
        let known = response.iter().filter(|(_, value)| !value.is_null());
        self.usage.extend(known.map(|(name, value)| (name.clone(), value.clone())));
        let tokens = |name: &str| self.usage.get(name).and_then(count).unwrap_or_default();
        let (cache_read, cache_write) = (tokens("cache_read_input_tokens"), tokens("cache_creation_input_tokens"));
        let within =
            |name: &str, field: &str| self.usage.get(name).and_then(|of| count(&of[field])).unwrap_or_default();
        let usage = Usage {
            input: tokens("input_tokens") + cache_read + cache_write,
            cache_read,
            cache_write,
            cache_write_1h: within("cache_creation", "ephemeral_1h_input_tokens"),
            output: tokens("output_tokens"),
            thinking: within("output_tokens_details", "thinking_tokens"),
            ..Usage::default()
        };
        out.push(Delta::Usage(usage.consistent()));
    }
}

/// Returns a block that is whole as it goes back; `None` where it cannot be sent back as it is.
fn sealed(kind: PartKind, mut block: Block) -> Option<String> {
    // A block of which not all is known is not whole, and no server takes an empty text back.
    let empty = block.value.get("text").and_then(Value::as_str).is_none_or(|text| text.trim().is_empty());
    let unsendable = block.call.is_some() && !block.own_id;
    if block.unknown || unsendable || kind == PartKind::Text && empty {
        return None;
    }
    let arguments = block.arguments.trim();
    if arguments.is_empty() {
        return Some(Value::Object(block.value).to_string());
    }
    serde_json::from_str::<Map<String, Value>>(arguments).ok()?;
    // The arguments go back byte for byte, with numbers as they were written.
    block.value.remove("input");
    let json = opened(&Value::Object(block.value));
    Some(format!("{json},\"input\":{arguments}}}"))
}

/// Returns the number of a block; one that is none stands for a block of its own.
fn number(event: &Value) -> u64 {
    event["index"].as_u64().unwrap_or(u64::MAX)
}

fn append(block: &mut Map<String, Value>, name: &str, more: &str) {
    match block.get_mut(name) {
        Some(Value::String(text)) => text.push_str(more),
        _ => drop(block.insert(name.into(), more.into())),
    }
}

fn emit(text: Option<&str>, delta: fn(String) -> Delta, out: &mut Vec<Delta>) {
    if let Some(text) = text.filter(|text| !text.is_empty()) {
        out.push(delta(text.to_string()));
    }
}
