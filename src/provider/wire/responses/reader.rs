//! Reads the events of a Responses answer: items that are added, grow and are done, joined by their place in the
//! output. Ids may differ from event to event and join nothing.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::super::raw::RawObject;
use crate::provider::transport::{Event, Progress, Reader, Trouble};
use crate::provider::usage::{Usage, count};
use crate::provider::{Delta, EndReason, PartKind};

/// The state of one answer.
#[derive(Debug, Default)]
pub(super) struct ResponsesReader {
    /// Begins the ids that are made up; differs from step to step.
    stem: String,
    /// Items by their place in the output.
    items: BTreeMap<u64, Item>,
    /// Ids of the calls so far.
    ids: Vec<String>,
    /// The item whose text came last: the text of another one is set apart from it.
    speaking: Option<u64>,
    /// Something thought cannot be sent back: what it led to goes back as plain text and calls.
    unsealed: bool,
    end: Option<EndReason>,
}

/// An item as far as it has come.
#[derive(Debug, Default)]
struct Item {
    /// Its words or arguments so far, in bytes.
    said: usize,
    /// The call's number in the answer.
    call: Option<usize>,
    /// The server gave the call an id that no other call of the answer has.
    own_id: bool,
    done: bool,
}

/// An event; fields it does not have are empty.
#[derive(Deserialize, Default)]
struct EventFields {
    #[serde(default, rename = "type")]
    kind: Option<String>,
    #[serde(default)]
    output_index: Option<Value>,
    #[serde(default)]
    summary_index: Option<Value>,
    #[serde(default)]
    delta: Option<Value>,
    #[serde(default)]
    arguments: Option<Value>,
    #[serde(default)]
    item: Option<Box<RawValue>>,
    #[serde(default)]
    response: Option<Response>,
    #[serde(default)]
    error: Option<Value>,
}

/// The whole answer, as the last event has it.
#[derive(Deserialize, Default)]
struct Response {
    #[serde(default)]
    output: Option<Vec<Box<RawValue>>>,
    #[serde(default)]
    status: Option<Value>,
    #[serde(default)]
    usage: Option<Value>,
    #[serde(default)]
    error: Option<Value>,
    #[serde(default)]
    incomplete_details: Option<Value>,
}

impl Reader for ResponsesReader {
    fn take(&mut self, event: &Event, out: &mut Vec<Delta>) -> Result<(), Trouble> {
        let data = event.data.trim();
        if data.is_empty() || data == "[DONE]" {
            return Ok(());
        }
        let fields: EventFields = serde_json::from_str(data).map_err(|why| Trouble::Unreadable(why.to_string()))?;
        let kind = fields.kind.as_deref().unwrap_or(&event.name).to_string();
        let at = fields.output_index.as_ref().and_then(Value::as_u64).unwrap_or(u64::MAX);
        let delta = fields.delta.as_ref().and_then(Value::as_str).unwrap_or_default();
        match kind.as_str() {
            "response.output_item.added" => self.added(at, fields.item.as_deref(), out),
            "response.output_text.delta" | "response.refusal.delta" => self.say(at, delta, out),
            "response.reasoning_summary_text.delta" | "response.reasoning_text.delta" => {
                self.grow(at, delta, Delta::Thinking, out);
            }
            "response.reasoning_summary_part.added"
                if fields.summary_index.as_ref().and_then(Value::as_u64).unwrap_or(0) > 0 =>
            {
                self.grow(at, "\n\n", Delta::Thinking, out);
            }
            "response.function_call_arguments.delta" => self.arguments(at, delta, out),
            "response.function_call_arguments.done" if self.items.get(&at).is_some_and(|item| item.said == 0) => {
                self.arguments(at, fields.arguments.as_ref().and_then(Value::as_str).unwrap_or_default(), out);
            }
            "response.output_item.done" => self.done(at, fields.item.as_deref(), out),
            "response.completed" | "response.incomplete" | "response.failed" => {
                return self.completed(fields.response.unwrap_or_default(), out);
            }
            "error" => {
                let whole = || serde_json::from_str(data).unwrap_or_default();
                return Err(Trouble::Reported(fields.error.filter(|error| !error.is_null()).unwrap_or_else(whole)));
            }
            // Whatever is added later.
            _ => {}
        }
        Ok(())
    }

    fn take_whole(&mut self, json: &str, out: &mut Vec<Delta>) -> Result<(), Trouble> {
        let whole: Response = serde_json::from_str(json).map_err(|why| Trouble::Unreadable(why.to_string()))?;
        if whole.output.is_none() && whole.error.as_ref().is_none_or(Value::is_null) {
            return Err(Trouble::Unreadable("it holds no output".into()));
        }
        self.completed(whole, out)
    }

    fn progress(&self) -> Progress {
        if self.end.is_some() { Progress::Done } else { Progress::Open }
    }

    fn finish(&mut self, out: &mut Vec<Delta>) {
        let end = self.end.unwrap_or(EndReason::Other);
        let calls = !self.ids.is_empty() && end == EndReason::Stop;
        out.push(Delta::End(if calls { EndReason::Calls } else { end }));
    }
}

impl ResponsesReader {
    /// Creates the reader of an answer to a conversation of this many messages.
    pub fn new(messages: usize) -> Self {
        ResponsesReader { stem: format!("call_{messages}"), ..Self::default() }
    }

    fn added(&mut self, at: u64, item: Option<&RawValue>, out: &mut Vec<Delta>) {
        let Some(item) = item.and_then(|item| RawObject::parse(item.get())) else { return };
        if self.items.contains_key(&at) {
            return;
        }
        let mut known = Item::default();
        if item.text("type").as_deref() == Some("function_call") {
            let call = self.ids.len();
            let given = item.text("call_id").filter(|id| !id.is_empty() && !self.ids.contains(id));
            known.own_id = given.is_some();
            let id = given.unwrap_or_else(|| format!("{}_{call}", self.stem));
            self.ids.push(id.clone());
            known.call = Some(call);
            let name = Some(item.text("name").unwrap_or_default());
            out.push(Delta::Call { index: call, id: Some(id), name, arguments: String::new() });
        } else {
            out.push(Delta::Part);
            out.extend((item.text("phase").as_deref() == Some("commentary")).then_some(Delta::Commentary));
        }
        self.items.insert(at, known);
    }

    fn say(&mut self, at: u64, more: &str, out: &mut Vec<Delta>) {
        if !more.is_empty() && self.speaking.replace(at).is_some_and(|before| before != at) {
            out.push(Delta::Text("\n\n".into()));
        }
        self.grow(at, more, Delta::Text, out);
    }

    fn grow(&mut self, at: u64, more: &str, delta: fn(String) -> Delta, out: &mut Vec<Delta>) {
        if more.is_empty() {
            return;
        }
        self.items.entry(at).or_default().said += more.len();
        out.push(delta(more.into()));
    }

    fn arguments(&mut self, at: u64, more: &str, out: &mut Vec<Delta>) {
        let Some(item) = self.items.get_mut(&at) else { return };
        if let Some(call) = item.call.filter(|_| !more.is_empty()) {
            item.said += more.len();
            out.push(Delta::Call { index: call, id: None, name: None, arguments: more.into() });
        }
    }

    /// Ends an item: sends what of it was not streamed, and seals it.
    fn done(&mut self, at: u64, raw: Option<&RawValue>, out: &mut Vec<Delta>) {
        let Some(item) = raw.and_then(|raw| RawObject::parse(raw.get())) else { return };
        if !self.items.contains_key(&at) {
            self.added(at, raw, out);
        }
        let Some(known) = self.items.get_mut(&at) else { return };
        if std::mem::replace(&mut known.done, true) {
            return;
        }
        let (said, call, own_id) = (known.said, known.call, known.own_id);
        let kind = item.text("type").unwrap_or_default();
        let (kind, whole) = match kind.as_str() {
            "message" => (PartKind::Text, texts(&item.value("content"))),
            "reasoning" => (PartKind::Thinking, summary(&item)),
            "function_call" => (PartKind::Call, item.text("arguments").unwrap_or_default()),
            _ => (PartKind::Other, String::new()),
        };
        // What was streamed stands; of an item that was not, all of it is said now.
        if said == 0 && !whole.is_empty() {
            match kind {
                PartKind::Text => self.say(at, &whole, out),
                PartKind::Thinking => out.push(Delta::Thinking(whole)),
                _ => self.arguments(at, &whole, out),
            }
        }
        let readable =
            matches!(serde_json::from_str(&item.text("arguments").unwrap_or_default()), Ok(Value::Object(_)));
        let sendable = match kind {
            PartKind::Thinking => {
                let encrypted = item.text("encrypted_content").is_some_and(|text| !text.is_empty());
                self.unsealed |= !encrypted;
                encrypted
            }
            PartKind::Call => own_id && readable && !self.unsealed,
            _ => !self.unsealed,
        };
        if sendable {
            out.push(Delta::Seal { kind, index: call.unwrap_or(0), json: item.without("status") });
        }
    }

    fn completed(&mut self, response: Response, out: &mut Vec<Delta>) -> Result<(), Trouble> {
        let status = response.status.as_ref().and_then(Value::as_str);
        if let Some(error) = response.error.filter(|error| !error.is_null()) {
            return Err(Trouble::Reported(error));
        }
        if let Some(status @ ("failed" | "cancelled")) = status {
            return Err(Trouble::Reported(json!({"message": format!("the answer is {status}, without a reason")})));
        }
        for (at, item) in response.output.iter().flatten().enumerate() {
            if !self.items.get(&(at as u64)).is_some_and(|known| known.done) {
                self.done(at as u64, Some(item), out);
            }
        }
        out.extend(response.usage.as_ref().and_then(usage).map(Delta::Usage));
        let reason = response.incomplete_details.as_ref().and_then(|details| details["reason"].as_str());
        self.end = Some(match (status, reason) {
            (_, Some("content_filter")) => EndReason::Filter,
            (_, Some("max_output_tokens")) | (Some("incomplete"), _) => EndReason::Length,
            (Some("completed") | None, None) => EndReason::Stop,
            _ => EndReason::Other,
        });
        Ok(())
    }
}

fn usage(response_usage: &Value) -> Option<Usage> {
    let (input, output) = (count(&response_usage["input_tokens"]), count(&response_usage["output_tokens"]));
    if input.is_none() && output.is_none() {
        return None;
    }
    let usage = Usage {
        input: input.unwrap_or_default(),
        cache_read: count(&response_usage["input_tokens_details"]["cached_tokens"]).unwrap_or_default(),
        cache_write: count(&response_usage["input_tokens_details"]["cache_write_tokens"]).unwrap_or_default(),
        output: output.unwrap_or_default(),
        thinking: count(&response_usage["output_tokens_details"]["reasoning_tokens"]).unwrap_or_default(),
        ..Usage::default()
    };
    Some(usage.consistent())
}

/// Returns the texts of a list of parts, one after the other.
fn texts(parts: &Value) -> String {
    let parts = parts.as_array().into_iter().flatten();
    parts.filter_map(|part| part["text"].as_str().or_else(|| part["refusal"].as_str())).collect()
}

/// Returns the thoughts, as far as they are sent.
fn summary(item: &RawObject) -> String {
    let summary = item.value("summary");
    let parts = summary.as_array().into_iter().flatten().filter_map(|part| part["text"].as_str());
    let thoughts = parts.collect::<Vec<_>>().join("\n\n");
    if thoughts.is_empty() { texts(&item.value("content")) } else { thoughts }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_that_come_in_one_piece_are_read_and_no_others_twice() {
        let read = |events: &[Value]| {
            let (mut reader, mut out) = (ResponsesReader::new(1), Vec::new());
            for event in events {
                let event = Event { name: String::new(), data: event.to_string() };
                reader.take(&event, &mut out).expect("read");
            }
            let arguments = out.into_iter().filter_map(|delta| match delta {
                Delta::Call { arguments, .. } => Some(arguments),
                _ => None,
            });
            arguments.collect::<String>()
        };
        let item = json!({"type": "function_call", "call_id": "c", "name": "list", "arguments": ""});
        let added = json!({"type": "response.output_item.added", "output_index": 0, "item": item});
        let done =
            json!({"type": "response.function_call_arguments.done", "output_index": 0, "arguments": "{\"a\":1}"});
        assert_eq!(read(&[added.clone(), done.clone()]), "{\"a\":1}");
        let piece = json!({"type": "response.function_call_arguments.delta", "output_index": 0, "delta": "{\"a\":1}"});
        assert_eq!(read(&[added, piece, done]), "{\"a\":1}");
    }
}
