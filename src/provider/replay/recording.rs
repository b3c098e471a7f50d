//! The form of a recording: a line `{"recording":1,"model":…,"provider":…}`, then for each step a line
//! `{"step":N}` and its deltas as `{"ms":since the line before,"delta":…}`. No headers and no keys are in it.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::provider::{Delta, EndReason, Error, ErrorKind, PartKind, Usage};

/// A recording, read whole.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Recording {
    /// The model that answered.
    pub model: String,
    /// The provider that was asked.
    pub provider: String,
    /// One answer after the other; each delta after its pause. One that broke off has no [`Delta::End`].
    pub steps: Vec<Vec<(Duration, Delta)>>,
}

/// The first line.
#[derive(Serialize, Deserialize)]
struct RecordingHead {
    recording: u32,
    #[serde(default)]
    model: String,
    #[serde(default)]
    provider: String,
}

/// A line after the first: the start of a step, or a delta.
#[derive(Serialize, Deserialize)]
#[serde(untagged, deny_unknown_fields)]
enum Line {
    Step { step: u64 },
    Delta { ms: u64, delta: Record },
}

/// A delta as it is written.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Record {
    Text(String),
    Thinking(String),
    Call {
        index: usize,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        id: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        name: Option<String>,
        #[serde(default)]
        arguments: String,
    },
    Part {},
    Commentary {},
    Seal {
        part: String,
        #[serde(default, skip_serializing_if = "is_zero")]
        index: usize,
        json: String,
    },
    Withdraw {
        text: usize,
        thinking: usize,
        calls: usize,
    },
    Usage {
        input: u64,
        #[serde(default, rename = "cacheRead", skip_serializing_if = "is_none")]
        cache_read: u64,
        #[serde(default, rename = "cacheWrite", skip_serializing_if = "is_none")]
        cache_write: u64,
        #[serde(default, rename = "cacheWrite1h", skip_serializing_if = "is_none")]
        cache_write_1h: u64,
        output: u64,
        #[serde(default, skip_serializing_if = "is_none")]
        thinking: u64,
    },
    End(End),
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum End {
    Stop,
    Length,
    Calls,
    Filter,
    Paused,
    Malformed,
    Other,
}

fn is_zero(index: &usize) -> bool {
    *index == 0
}

fn is_none(tokens: &u64) -> bool {
    *tokens == 0
}

impl Recording {
    /// Reads the text of a recording. `place` names it in errors.
    ///
    /// A last line that was cut off (the recorder was killed) is left out; anything else that is not understood
    /// is an error of kind [`ErrorKind::Recording`] with its line.
    pub fn parse(text: &str, place: &str) -> Result<Self, Error> {
        let wrong = |line: usize, what: String| {
            Error::new(
                ErrorKind::Recording,
                format!("{place} is not a recording: line {line}, {what}"),
                "A recording begins with {\"recording\":1} and holds one JSON object a line; make one with --record.",
            )
        };
        let mut lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()).peekable();
        let Some((at, first)) = lines.next() else { return Err(wrong(1, "it is empty".into())) };
        let head: RecordingHead =
            serde_json::from_str(first).map_err(|_| wrong(at + 1, "no {\"recording\":1} at its start".into()))?;
        if head.recording != 1 {
            return Err(wrong(at + 1, format!("its form {} is newer than this nebula", head.recording)));
        }
        let mut recording = Self { model: head.model, provider: head.provider, steps: Vec::new() };
        while let Some((at, line)) = lines.next() {
            match serde_json::from_str::<Line>(line) {
                Ok(Line::Step { .. }) => recording.steps.push(Vec::new()),
                Ok(Line::Delta { ms, delta }) => match recording.steps.last_mut() {
                    Some(step) => step.push((Duration::from_millis(ms), delta.into())),
                    None => return Err(wrong(at + 1, "a delta before the first {\"step\":1}".into())),
                },
                Err(_) if lines.peek().is_none() && !text.ends_with('\n') => break,
                Err(_) => return Err(wrong(at + 1, "neither a step nor a delta".into())),
            }
        }
        Ok(recording)
    }

    /// Returns the text of the recording.
    pub fn text(&self) -> String {
        let mut text = head_line(&self.model, &self.provider);
        for (at, step) in self.steps.iter().enumerate() {
            text.push_str(&step_line(at + 1));
            for (pause, delta) in step {
                text.push_str(&delta_line(*pause, delta).unwrap_or_default());
            }
        }
        text
    }
}

/// Returns the first line, with its newline.
pub(super) fn head_line(model: &str, provider: &str) -> String {
    line(&RecordingHead { recording: 1, model: model.into(), provider: provider.into() })
}

/// Returns the line that starts the step of this number (from 1), with its newline.
pub(super) fn step_line(number: usize) -> String {
    line(&Line::Step { step: number as u64 })
}

/// Returns the line of a delta, with its newline; `None` for what is not recorded: a pause between tries shows in the
/// time.
pub(super) fn delta_line(pause: Duration, delta: &Delta) -> Option<String> {
    let delta = match delta.clone() {
        Delta::Text(text) => Record::Text(text),
        Delta::Thinking(text) => Record::Thinking(text),
        Delta::Call { index, id, name, arguments } => Record::Call { index, id, name, arguments },
        Delta::Part => Record::Part {},
        Delta::Commentary => Record::Commentary {},
        Delta::Seal { kind, index, json } => Record::Seal { part: kind.name().into(), index, json },
        Delta::Withdraw { text, thinking, calls } => Record::Withdraw { text, thinking, calls },
        Delta::Usage(Usage { input, cache_read, cache_write, cache_write_1h, output, thinking, .. }) => {
            Record::Usage { input, cache_read, cache_write, cache_write_1h, output, thinking }
        }
        Delta::End(reason) => Record::End(reason.into()),
        Delta::Notice(_) | Delta::Retrying(_) => return None,
    };
    Some(line(&Line::Delta { ms: u64::try_from(pause.as_millis()).unwrap_or(u64::MAX), delta }))
}

fn line(value: &impl Serialize) -> String {
    // These records hold strings, numbers and nothing with keys that are no strings: they always serialise.
    let mut line = serde_json::to_string(value).unwrap_or_default();
    line.push('\n');
    line
}

impl From<Record> for Delta {
    fn from(record: Record) -> Self {
        match record {
            Record::Text(text) => Delta::Text(text),
            Record::Thinking(text) => Delta::Thinking(text),
            Record::Call { index, id, name, arguments } => Delta::Call { index, id, name, arguments },
            Record::Part {} => Delta::Part,
            Record::Commentary {} => Delta::Commentary,
            Record::Seal { part, index, json } => {
                Delta::Seal { kind: PartKind::parse(&part).unwrap_or(PartKind::Other), index, json }
            }
            Record::Withdraw { text, thinking, calls } => Delta::Withdraw { text, thinking, calls },
            Record::Usage { input, cache_read, cache_write, cache_write_1h, output, thinking } => {
                let parts = Usage { cache_read, cache_write, cache_write_1h, thinking, ..Usage::default() };
                Delta::Usage(Usage { input, output, ..parts })
            }
            Record::End(end) => Delta::End(match end {
                End::Stop => EndReason::Stop,
                End::Length => EndReason::Length,
                End::Calls => EndReason::Calls,
                End::Filter => EndReason::Filter,
                End::Paused => EndReason::Paused,
                End::Malformed => EndReason::Malformed,
                End::Other => EndReason::Other,
            }),
        }
    }
}

impl From<EndReason> for End {
    fn from(reason: EndReason) -> Self {
        match reason {
            EndReason::Stop => End::Stop,
            EndReason::Length => End::Length,
            EndReason::Calls => End::Calls,
            EndReason::Filter => End::Filter,
            EndReason::Paused => End::Paused,
            EndReason::Malformed => End::Malformed,
            EndReason::Other => End::Other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Recording {
        let ms = Duration::from_millis;
        Recording {
            model: "m".into(),
            provider: "openai".into(),
            steps: vec![
                vec![
                    (ms(5), Delta::Thinking("hm".into())),
                    (ms(0), Delta::Text("価\n".into())),
                    (
                        ms(1),
                        Delta::Call {
                            index: 0,
                            id: Some("c".into()),
                            name: Some("list".into()),
                            arguments: "{}".into(),
                        },
                    ),
                    (ms(1), Delta::Call { index: 0, id: None, name: None, arguments: " ".into() }),
                    (ms(1), Delta::Part),
                    (ms(1), Delta::Seal { kind: PartKind::Call, index: 1, json: "{\"a\": 1}".into() }),
                    (ms(2), Delta::Usage(Usage { cache_read: 2, thinking: 1, ..Usage::new(3, 4) })),
                    (ms(0), Delta::End(EndReason::Calls)),
                ],
                vec![(ms(9), Delta::End(EndReason::Stop))],
            ],
        }
    }

    #[test]
    fn reads_what_it_writes() {
        let text = sample().text();
        assert!(text.starts_with("{\"recording\":1,\"model\":\"m\",\"provider\":\"openai\"}\n{\"step\":1}\n{\"ms\":5,\"delta\":{\"thinking\":\"hm\"}}\n"));
        assert_eq!(Recording::parse(&text, "x").unwrap(), sample());
    }

    #[test]
    fn a_cut_last_line_is_left_out() {
        let text = sample().text();
        let cut = Recording::parse(&text[..text.len() - 4], "x").unwrap();
        assert_eq!(cut.steps[1], vec![]);
    }

    #[test]
    fn anything_else_is_reported_with_its_line() {
        for (text, part) in [
            ("", "line 1, it is empty"),
            ("{}\n", "line 1, no"),
            ("{\"recording\":2}\n", "line 1, its form 2"),
            ("{\"recording\":1}\n{\"ms\":1,\"delta\":{\"text\":\"a\"}}\n", "line 2, a delta before"),
            ("{\"recording\":1}\n{\"step\":1}\n\n{\"what\":1}\n", "line 4, neither"),
        ] {
            let error = Recording::parse(text, "x").unwrap_err();
            assert!(error.message.contains(part), "{error}");
            assert_eq!(error.kind, ErrorKind::Recording);
        }
    }
}
