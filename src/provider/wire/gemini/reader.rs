//! Reads the chunks of a `generateContent` answer: parts with what was signed in them, each kept as it came.

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::super::raw::RawObject;
use super::partial_args::StreamedCall;
use crate::provider::transport::{Event, Progress, Reader, Trouble};
use crate::provider::usage::{Usage, count};
use crate::provider::{Delta, EndReason, PartKind};

/// The state of one answer.
#[derive(Debug, Default)]
pub(super) struct GeminiReader {
    /// Begins the ids that are made up; differs from step to step.
    stem: String,
    /// Ids of the calls so far.
    ids: Vec<String>,
    end: Option<EndReason>,
    /// The reason why the server held back the rest.
    why: Option<String>,
    whole: bool,
    /// A call whose arguments come in pieces.
    streamed: Option<StreamedCall>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase")]
struct GeminiChunk {
    #[serde(default)]
    candidates: Option<Vec<Candidate>>,
    #[serde(default)]
    prompt_feedback: Option<Value>,
    #[serde(default)]
    usage_metadata: Option<Value>,
    #[serde(default)]
    error: Option<Value>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase")]
struct Candidate {
    #[serde(default)]
    index: Option<Value>,
    #[serde(default)]
    content: Option<Content>,
    #[serde(default)]
    finish_reason: Option<Value>,
    #[serde(default)]
    finish_message: Option<Value>,
}

#[derive(Deserialize, Default)]
struct Content {
    #[serde(default)]
    parts: Option<Vec<Box<RawValue>>>,
}

/// A part of nothing but text, as nearly all are.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PlainPart {
    text: String,
    #[serde(default)]
    thought: bool,
}

impl Reader for GeminiReader {
    fn take(&mut self, event: &Event, out: &mut Vec<Delta>) -> Result<(), Trouble> {
        let data = event.data.trim();
        if data.is_empty() || data == "[DONE]" {
            return Ok(());
        }
        let chunk: GeminiChunk = serde_json::from_str(data).map_err(|why| Trouble::Unreadable(why.to_string()))?;
        self.chunk(chunk, out)
    }

    /// Takes a list of chunks, with which servers answer without `alt=sse`.
    fn take_whole(&mut self, json: &str, out: &mut Vec<Delta>) -> Result<(), Trouble> {
        let unreadable = |why: serde_json::Error| Trouble::Unreadable(why.to_string());
        let chunks: Vec<GeminiChunk> = match json.trim_start().starts_with('[') {
            true => serde_json::from_str(json).map_err(unreadable)?,
            false => vec![serde_json::from_str(json).map_err(unreadable)?],
        };
        for chunk in chunks {
            self.chunk(chunk, out)?;
        }
        self.whole = true;
        Ok(())
    }

    fn progress(&self) -> Progress {
        match (self.whole, self.end) {
            (true, Some(_)) => Progress::Done,
            (false, Some(_)) => Progress::Ended,
            (_, None) => Progress::Open,
        }
    }

    fn finish(&mut self, out: &mut Vec<Delta>) {
        match self.end {
            Some(EndReason::Stop | EndReason::Other) => self.close_call(out),
            // A call that broke off is not made with the arguments that arrived.
            _ => self.streamed = None,
        }
        let end = self.end.unwrap_or(EndReason::Other);
        if let Some(why) = self.why.take() {
            out.push(Delta::Notice(why));
        }
        let calls = !self.ids.is_empty() && matches!(end, EndReason::Stop | EndReason::Other);
        out.push(Delta::End(if calls { EndReason::Calls } else { end }));
    }
}

impl GeminiReader {
    /// Creates the reader of an answer to a conversation of this many messages.
    pub fn new(messages: usize) -> Self {
        GeminiReader { stem: format!("call_{messages}"), ..Self::default() }
    }

    fn chunk(&mut self, chunk: GeminiChunk, out: &mut Vec<Delta>) -> Result<(), Trouble> {
        if let Some(error) = chunk.error.filter(|error| !error.is_null()) {
            return Err(Trouble::Reported(error));
        }
        let first = |candidate: &Candidate| candidate.index.as_ref().and_then(Value::as_u64).unwrap_or(0) == 0;
        for candidate in chunk.candidates.into_iter().flatten().filter(first) {
            for part in candidate.content.and_then(|content| content.parts).into_iter().flatten() {
                self.part(part.get(), out);
            }
            if let Some(reason) = candidate.finish_reason.as_ref().and_then(Value::as_str) {
                self.ended(reason, candidate.finish_message.as_ref());
            }
        }
        if let Some(reason) = chunk.prompt_feedback.as_ref().and_then(|feedback| feedback["blockReason"].as_str()) {
            self.held_back(reason);
        }
        out.extend(chunk.usage_metadata.as_ref().and_then(usage).map(Delta::Usage));
        Ok(())
    }

    fn part(&mut self, raw: &str, out: &mut Vec<Delta>) {
        if let Ok(plain) = serde_json::from_str::<PlainPart>(raw) {
            self.close_call(out);
            let delta = if plain.thought { Delta::Thinking } else { Delta::Text };
            out.extend(Some(plain.text).filter(|text| !text.is_empty()).map(delta));
            return;
        }
        let Some(part) = RawObject::parse(raw) else { return };
        let signed = part.text("thoughtSignature").is_some_and(|signature| !signature.is_empty());
        if let Some(call) = part.raw("functionCall").and_then(RawObject::parse) {
            return self.call(&part, &call, raw, out);
        }
        self.close_call(out);
        let thought = part.value("thought") == true;
        let kind = match (part.text("text"), thought) {
            (Some(_), true) => PartKind::Thinking,
            (Some(_), false) => PartKind::Text,
            // Only what is signed is worth keeping of a kind that is not known.
            (None, _) if signed => PartKind::Other,
            (None, _) => return,
        };
        if signed {
            // What was signed is never joined with its neighbours.
            out.push(Delta::Part);
        }
        match (part.text("text").filter(|text| !text.is_empty()), kind) {
            (Some(text), PartKind::Thinking) => out.push(Delta::Thinking(text)),
            (Some(text), _) => out.push(Delta::Text(text)),
            (None, _) => {}
        }
        if signed {
            out.push(Delta::Seal { kind, index: 0, json: raw.into() });
        }
    }

    /// Takes a call, which comes whole and is kept as it came: with the id it has, or without.
    fn call(&mut self, part: &RawObject, call: &RawObject, raw: &str, out: &mut Vec<Delta>) {
        let named = call.text("name").is_some_and(|name| !name.is_empty());
        if named {
            self.close_call(out);
        }
        let in_pieces = call.raw("partialArgs").is_some() || call.value("willContinue") == true;
        if in_pieces || !named && self.streamed.is_some() {
            let streamed = self.streamed.get_or_insert_default();
            streamed.take(part, call);
            if call.value("willContinue") != true {
                self.close_call(out);
            }
            return;
        }
        self.whole_call(call, raw, out);
    }

    /// Ends a call that came in pieces: it is sent and sealed as if it had come at once.
    fn close_call(&mut self, out: &mut Vec<Delta>) {
        let Some(streamed) = self.streamed.take() else { return };
        let raw = streamed.json();
        if let Some(call) = RawObject::parse(&raw).and_then(|part| RawObject::parse(part.raw("functionCall")?)) {
            self.whole_call(&call, &raw, out);
        }
    }

    fn whole_call(&mut self, call: &RawObject, raw: &str, out: &mut Vec<Delta>) {
        let at = self.ids.len();
        let given = call.text("id").filter(|id| !id.is_empty());
        let usable = given.clone().filter(|id| !self.ids.contains(id));
        let sendable = given.is_none() || usable.is_some();
        let id = usable.unwrap_or_else(|| format!("{}_{at}", self.stem));
        self.ids.push(id.clone());
        let arguments = call.raw("args").filter(|args| args.starts_with('{')).unwrap_or("{}").to_string();
        let name = Some(call.text("name").unwrap_or_default());
        out.push(Delta::Call { index: at, id: Some(id), name, arguments });
        if sendable {
            out.push(Delta::Seal { kind: PartKind::Call, index: at, json: raw.into() });
        }
    }

    fn ended(&mut self, reason: &str, message: Option<&Value>) {
        const HELD_BACK: [&str; 8] = [
            "SAFETY",
            "RECITATION",
            "LANGUAGE",
            "BLOCKLIST",
            "PROHIBITED_CONTENT",
            "SPII",
            "IMAGE_SAFETY",
            "MODEL_ARMOR",
        ];
        self.end = Some(match reason {
            "STOP" => EndReason::Stop,
            "MAX_TOKENS" => EndReason::Length,
            "MALFORMED_FUNCTION_CALL" | "UNEXPECTED_TOOL_CALL" => EndReason::Malformed,
            reason if HELD_BACK.contains(&reason) => {
                let finish_message = message.and_then(Value::as_str).unwrap_or_default();
                return self.held_back(format!("{reason} {finish_message}").trim_end());
            }
            _ => EndReason::Other,
        });
    }

    /// Takes down why the server held back the rest.
    fn held_back(&mut self, why: &str) {
        self.why = Some(format!("held back by the server: {why}"));
        self.end = Some(EndReason::Filter);
    }
}

fn usage(response: &Value) -> Option<Usage> {
    let tokens = |name: &str| count(&response[name]);
    let (prompt, said, thinking) =
        (tokens("promptTokenCount"), tokens("candidatesTokenCount"), tokens("thoughtsTokenCount"));
    // A chunk that counts nothing of these says nothing.
    prompt.or(said).or(thinking)?;
    let thinking = thinking.unwrap_or_default();
    let usage = Usage {
        input: prompt.unwrap_or_default() + tokens("toolUsePromptTokenCount").unwrap_or_default(),
        cache_read: tokens("cachedContentTokenCount").unwrap_or_default(),
        output: said.unwrap_or_default() + thinking,
        thinking,
        ..Usage::default()
    };
    Some(usage.consistent())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns how an answer ends in the middle of a call, and whether the call is made.
    fn ended(reason: &str) -> (bool, Option<EndReason>) {
        let mut reader = GeminiReader::new(1);
        let mut out = Vec::new();
        for data in [
            r#"{"candidates": [{"content": {"parts": [{"functionCall": {"name": "writeFile", "willContinue": true,
                "partialArgs": [{"jsonPath": "$.content", "stringValue": "half of"}]}}]}}]}"#
                .to_string(),
            format!(r#"{{"candidates": [{{"finishReason": "{reason}"}}]}}"#),
        ] {
            reader.take(&Event { data, ..Event::default() }, &mut out).expect("a chunk");
        }
        reader.finish(&mut out);
        let end = out.iter().find_map(|delta| if let Delta::End(end) = delta { Some(*end) } else { None });
        (out.iter().any(|delta| matches!(delta, Delta::Call { .. })), end)
    }

    #[test]
    fn a_prompt_that_is_blocked_has_the_reason_that_came() {
        let mut reader = GeminiReader::new(1);
        let data = r#"{"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}}"#.to_string();
        reader.take(&Event { data, ..Event::default() }, &mut Vec::new()).expect("a chunk");
        assert_eq!(reader.why.as_deref(), Some("held back by the server: PROHIBITED_CONTENT"));
        assert_eq!(reader.end, Some(EndReason::Filter));
    }

    #[test]
    fn a_call_that_breaks_off_is_not_made() {
        assert_eq!(ended("STOP"), (true, Some(EndReason::Calls)));
        for (reason, end) in [
            ("MAX_TOKENS", EndReason::Length),
            ("SAFETY", EndReason::Filter),
            ("MALFORMED_FUNCTION_CALL", EndReason::Malformed),
        ] {
            assert_eq!(ended(reason), (false, Some(end)), "{reason}");
        }
    }
}
