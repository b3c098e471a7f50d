//! Reads the lines of an answer of Ollama.

use std::borrow::Cow;

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::{Value, json};

use super::super::reasoning_tags::ReasoningTags;
use crate::provider::transport::{Event, Progress, Reader, Trouble};
use crate::provider::usage::{Usage, count};
use crate::provider::{Delta, EndReason, PartKind};

/// The state of one answer.
#[derive(Debug, Default)]
pub(super) struct OllamaReader {
    /// Begins the ids that are made up; differs from step to step.
    stem: String,
    calls: usize,
    /// The model's thoughts, as the server sent them.
    thinking: String,
    tags: ReasoningTags,
    end: Option<EndReason>,
}

/// A line of nothing but text, as nearly all are.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PlainLine<'a> {
    #[serde(default, rename = "model")]
    _model: IgnoredAny,
    #[serde(default, rename = "created_at")]
    _created_at: IgnoredAny,
    #[serde(borrow)]
    message: PlainMessage<'a>,
    done: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PlainMessage<'a> {
    #[serde(default, rename = "role")]
    _role: IgnoredAny,
    #[serde(borrow)]
    content: Cow<'a, str>,
}

impl Reader for OllamaReader {
    fn take(&mut self, event: &Event, out: &mut Vec<Delta>) -> Result<(), Trouble> {
        if let Ok(PlainLine { message, done: false, .. }) = serde_json::from_str(&event.data) {
            if !message.content.is_empty() {
                self.tags.push(&message.content, out);
            }
            return Ok(());
        }
        let line: Value = serde_json::from_str(&event.data).map_err(|why| Trouble::Unreadable(why.to_string()))?;
        if let Some(error) = line.get("error").filter(|error| !error.is_null()) {
            return Err(Trouble::Reported(json!({"message": error})));
        }
        let message = &line["message"];
        if let Some(thinking) = message["thinking"].as_str().filter(|text| !text.is_empty()) {
            self.thinking.push_str(thinking);
            out.push(Delta::Thinking(thinking.into()));
        }
        if let Some(text) = message["content"].as_str().filter(|text| !text.is_empty()) {
            self.tags.push(text, out);
        }
        for call in message["tool_calls"].as_array().into_iter().flatten() {
            self.call(&call["function"], out);
        }
        if line["done"] == true {
            self.end = Some(match line["done_reason"].as_str() {
                Some("length") => EndReason::Length,
                Some("stop") | None => EndReason::Stop,
                Some(_) => EndReason::Other,
            });
            out.extend(usage(&line).map(Delta::Usage));
        }
        Ok(())
    }

    fn take_whole(&mut self, json: &str, out: &mut Vec<Delta>) -> Result<(), Trouble> {
        self.take(&Event { name: String::new(), data: json.into() }, out)
    }

    fn progress(&self) -> Progress {
        if self.end.is_some() { Progress::Done } else { Progress::Open }
    }

    fn finish(&mut self, out: &mut Vec<Delta>) {
        self.tags.finish(out);
        if !self.thinking.is_empty() {
            let json = json!({"thinking": self.thinking}).to_string();
            out.push(Delta::Seal { kind: PartKind::Thinking, index: 0, json });
        }
        let end = self.end.unwrap_or(EndReason::Other);
        let calls = self.calls > 0 && matches!(end, EndReason::Stop | EndReason::Other);
        out.push(Delta::End(if calls { EndReason::Calls } else { end }));
    }
}

impl OllamaReader {
    /// Creates the reader of an answer to a conversation of this many messages.
    pub fn new(messages: usize) -> Self {
        OllamaReader { stem: format!("call_{messages}"), ..Self::default() }
    }

    /// Takes a call, which comes whole. Its arguments are an object, or its text.
    fn call(&mut self, function: &Value, out: &mut Vec<Delta>) {
        let id = Some(format!("{}_{}", self.stem, self.calls));
        let name = Some(function["name"].as_str().unwrap_or_default().to_string());
        let arguments = match &function["arguments"] {
            Value::Null => "{}".into(),
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        out.push(Delta::Call { index: self.calls, id, name, arguments });
        self.calls += 1;
    }
}

fn usage(line: &Value) -> Option<Usage> {
    let (input, output) = (count(&line["prompt_eval_count"]), count(&line["eval_count"]));
    (input.is_some() || output.is_some()).then(|| Usage::new(input.unwrap_or_default(), output.unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns what the lines of an answer say, and its end.
    fn read(lines: &[&str]) -> Result<(Vec<Delta>, Progress), Trouble> {
        let (mut reader, mut out) = (OllamaReader::new(0), Vec::new());
        for line in lines {
            reader.take(&Event { name: String::new(), data: (*line).into() }, &mut out)?;
        }
        Ok((out, reader.progress()))
    }

    #[test]
    fn a_plain_line_says_what_it_says_among_other_fields() {
        for content in ["a word", "", "a \\\"quoted\\\" word\\n\\u00e9 é", "<think>no</think> yes"] {
            let plain = format!(
                "{{\"model\":\"m\",\"message\":{{\"role\":\"assistant\",\"content\":\"{content}\"}},\"done\":false}}"
            );
            let other = plain.replace("\"done\"", "\"another\":1,\"done\"");
            assert_eq!(read(&[&plain, &plain]), read(&[&other, &other]), "{plain}");
        }
    }

    #[test]
    fn a_line_with_more_than_text_is_read_whole() {
        let last =
            r#"{"message":{"role":"assistant","content":"x"},"done":true,"done_reason":"length","eval_count":3}"#;
        let (said, progress) = read(&[last]).expect("an end");
        assert_eq!((said.len(), progress), (2, Progress::Done), "{said:?}");
        let error = read(&[r#"{"error":"no such model","message":{"content":""},"done":false}"#]);
        assert!(matches!(error, Err(Trouble::Reported(_))), "{error:?}");
        assert!(matches!(read(&["no JSON"]), Err(Trouble::Unreadable(_))));
    }
}
