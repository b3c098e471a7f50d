//! Calls and results as memory stores them beside their messages.

mod attached;
mod notices;
mod parts;
mod unsent;

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

pub use attached::{AttachedRecord, attached_files, attached_records, read_attached, write_attached};
pub use notices::{read_notices, write_notice};
pub use parts::{read_parts, write_parts};
pub use unsent::{read_unsent, write_unsent};

use crate::context::prefix::PrefixBasis;
use crate::edit::{Format, json};
use crate::memory::{self, MessageMeta, MessageOrigin, MessagePart, MessageState, NewMessage, StoredRole};
use crate::proposal::{Counts, HunkCount};
use crate::protocol::{Call, CallChange, CallState, DecidedHold, PreviewLine};
use crate::provider::{Blob, Message, Origin, PartKind, Span, ToolCall, Wire};
use crate::tools::ContentHash;

/// Returns an attachment as memory stores it.
pub fn blob_record(blob: &Blob) -> memory::StoredBlob {
    memory::StoredBlob { name: blob.name.clone(), kind: blob.mime.clone(), bytes: blob.bytes.to_vec() }
}

/// One call in `tool_calls`.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct CallRecord {
    id: String,
    name: String,
    arguments: String,
}

/// One result in `tool_results`.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct ResultRecord {
    /// The call's id.
    pub id: String,
    /// The tool.
    pub name: String,
    /// True if it did what was asked.
    pub ok: bool,
    /// True if its edits went back to the model because their test failed: nobody refused them.
    #[serde(skip)]
    pub went_back: bool,
    /// True if its edits are of an earlier answer whose proposal went back: the answer it is kept with does not hold them.
    #[serde(default, skip_serializing_if = "is_false")]
    pub of_earlier_answer: bool,
    /// Edits it asked for, with how their places were found.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub edits: Vec<EditRecord>,
    /// The changeset it led to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changeset: Option<String>,
    /// The text that the model received for an edit or call in the text; a call's result is the message itself.
    #[serde(default, rename = "told", skip_serializing_if = "Option::is_none")]
    pub for_model: Option<String>,
    /// Files it made known, and as what.
    #[serde(default, rename = "seen", skip_serializing_if = "Vec::is_empty")]
    pub known_files: Vec<KnownFileRecord>,
    /// The command that ran.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// The display of the call when it was over.
    #[serde(default, rename = "shown", skip_serializing_if = "Option::is_none")]
    pub display: Option<CallDisplayRecord>,
}

/// The display of a call, so that a session that is read again shows the same.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct CallDisplayRecord {
    /// Its end, where `ok` does not say it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    state: Option<String>,
    /// The result in a word or two.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    summary: String,
    /// Its running time in microseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    micros: Option<u64>,
    /// Lines added and removed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    counts: Option<(usize, usize)>,
    /// The reason why it was not done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    /// The preview: each line behind its sign.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    preview: Vec<String>,
    /// The number of lines that a command printed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    printed: Option<usize>,
    /// The question to the person, and the answer.
    #[serde(default, rename = "asked", skip_serializing_if = "Option::is_none")]
    exchange: Option<(String, String)>,
    /// Calls of its command that waited for the person: what each wanted, the decision and its time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    held: Vec<(String, String, i64)>,
    /// Questions of the person about what it changes, and the answers of the model.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    comments: Vec<(String, String)>,
    /// Its hunks, accepted and rejected.
    #[serde(default, rename = "own_hunks", skip_serializing_if = "Option::is_none")]
    hunks: Option<(usize, usize)>,
    /// The hunks of its proposal, as the person decided.
    #[serde(default, rename = "hunks", skip_serializing_if = "Option::is_none")]
    decided: Option<(usize, usize)>,
    /// The time when the person answered or decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    answered: Option<i64>,
}

/// A larger preview, in bytes, is not stored: it can be derived from the arguments or the result.
const MAX_PREVIEW: usize = 4 << 10;

impl CallDisplayRecord {
    /// Returns what is kept of a call that is over.
    pub fn of(call: &Call) -> Self {
        let state = match call.state {
            CallState::Refused => Some("refused"),
            CallState::Failed => Some("failed"),
            CallState::Interrupted => Some("interrupted"),
            _ => None,
        };
        let small = call.preview.iter().map(|l| l.text.len() + 1).sum::<usize>() <= MAX_PREVIEW;
        let preview = call.preview.iter().filter(|_| small).map(|l| format!("{}{}", l.sign, l.text)).collect();
        CallDisplayRecord {
            state: state.map(str::to_string),
            summary: call.summary.clone(),
            micros: call.took.and_then(|t| u64::try_from(t.as_micros()).ok()),
            counts: call.counts.map(|c| (c.added, c.removed)),
            reason: call.reason.clone(),
            preview,
            printed: Some(call.printed).filter(|lines| *lines > 0),
            exchange: call.exchange.clone(),
            held: call.held.iter().map(|hold| (hold.wants.clone(), hold.answer.clone(), hold.at)).collect(),
            comments: call.comments.clone(),
            hunks: call.hunks.map(|hunks| (hunks.accepted, hunks.rejected)),
            decided: call.decided.map(|hunks| (hunks.accepted, hunks.rejected)),
            answered: call.answered,
        }
    }

    /// Returns what is kept of a call that nebula stopped before or while it ran.
    pub fn interrupted(reason: Option<&str>) -> Self {
        let (state, reason) = (Some("interrupted".into()), reason.map(str::to_string));
        CallDisplayRecord { state, reason, ..CallDisplayRecord::default() }
    }

    /// Returns the reason why it was not done, as the person reads it.
    pub fn reason(&self) -> Option<&str> {
        self.reason.as_deref().filter(|reason| !reason.is_empty())
    }

    /// Returns whether it did not succeed: a command that ran and failed, too.
    pub fn is_failure(&self) -> bool {
        let is_partial = self.hunks.is_some_and(|(accepted, rejected)| accepted > 0 && rejected > 0);
        self.state.is_some() || self.reason.is_some() && !is_partial
    }

    /// Shows a call as it was.
    pub fn show(&self, call: &mut Call) {
        call.state = match self.state.as_deref() {
            Some("refused") => CallState::Refused,
            Some("failed") => CallState::Failed,
            Some("interrupted") => CallState::Interrupted,
            _ => CallState::Done,
        };
        call.summary.clone_from(&self.summary);
        call.took = self.micros.map(std::time::Duration::from_micros);
        call.reason.clone_from(&self.reason);
        call.exchange.clone_from(&self.exchange);
        let held = self.held.iter().cloned();
        call.held = held.map(|(wants, answer, at)| DecidedHold { wants, answer, at }).collect();
        call.comments.clone_from(&self.comments);
        call.answered = self.answered;
        let count = |(accepted, rejected)| HunkCount { accepted, rejected };
        (call.hunks, call.decided) = (self.hunks.map(count), self.decided.map(count));
        if let Some((added, removed)) = self.counts {
            call.counts = Some(Counts { added, removed });
        }
        let line = |stored: &String| {
            let mut chars = stored.chars();
            Some(PreviewLine { sign: chars.next()?, text: chars.as_str().to_string() })
        };
        if !self.preview.is_empty() {
            call.preview = self.preview.iter().filter_map(line).collect();
            call.printed = self.printed.unwrap_or_default();
        }
    }
}

/// The record beside an answer, so that a session that is read again shows the same.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct AnswerRecord {
    /// The duration of each thought that is shown in milliseconds; none where the server told none.
    #[serde(default, skip_serializing_if = "Vec::is_empty", deserialize_with = "one_or_more")]
    pub thought_ms: Vec<Option<u64>>,
    /// Tokens of the request, and the window they count against.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<(u64, u64)>,
    /// The request did not begin with the bytes of the one before it; statistics of the cache leave it out.
    #[serde(default, skip_serializing_if = "is_false")]
    pub new_prefix: bool,
    /// The inputs of the beginning of its request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prefix: Option<PrefixBasis>,
    /// Its cost is by the built-in table of prices.
    #[serde(default, skip_serializing_if = "is_false")]
    pub estimated: bool,
    /// The person stopped it.
    #[serde(default, skip_serializing_if = "is_false")]
    pub stopped: bool,
    /// It was given in plan mode and calls nothing: a plan.
    #[serde(default, skip_serializing_if = "is_false")]
    pub plan: bool,
}

/// Reads a list, or the one number that earlier versions kept of an answer.
fn one_or_more<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Vec<Option<u64>>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Numbers {
        One(u64),
        More(Vec<Option<u64>>),
    }
    Numbers::deserialize(from).map(|numbers| match numbers {
        Numbers::One(number) => vec![Some(number)],
        Numbers::More(numbers) => numbers,
    })
}

fn is_false(flag: &bool) -> bool {
    !flag
}

impl AnswerRecord {
    /// Returns it as memory keeps it.
    pub fn write(&self) -> Option<String> {
        (*self != AnswerRecord::default()).then(|| to_json(self))
    }

    /// Reads back what [`AnswerRecord::write`] wrote; `None`: it cannot be read.
    pub fn read(extra: Option<&str>) -> Option<Self> {
        read_json(extra)
    }
}

/// One edit in a result.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct EditRecord {
    /// Normalised path.
    pub path: String,
    /// The place in the file, where it is of a definition: its id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
    /// The format it was written in.
    pub format: String,
    /// The rung that found its place; none: it was not found, or it changes nothing.
    pub rung: Option<String>,
    /// True if it was written, at least in part, or changes nothing. None: as the whole result was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ok: Option<bool>,
    /// The lines of the hunks it made, in the text of its file as it was written; none: not known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lines: Vec<(usize, usize)>,
}

/// A file made known by a result.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct KnownFileRecord {
    /// Normalised path.
    pub path: String,
    /// SHA-256 in hex.
    pub sha256: String,
}

/// A turn as far as it is read, and what its end tells of it.
#[derive(Debug, Default)]
pub struct TurnSoFar {
    changes_requested: bool,
    changed: bool,
    /// Its last message is a whole answer that asks for nothing more.
    ended: bool,
}

impl TurnSoFar {
    /// Takes in a message of the turn.
    pub fn note(&mut self, m: &NewMessage) {
        let results = read_results(m.tool_results.as_deref()).unwrap_or_default();
        self.changes_requested |= results.iter().any(ResultRecord::requests_changes);
        self.changed |= results.iter().any(ResultRecord::has_changed);
        let is_answer = m.role == StoredRole::Assistant && m.meta.state == MessageState::Complete;
        let asks = || !results.is_empty() || read_calls(m.tool_calls.as_deref()).is_none_or(|calls| !calls.is_empty());
        let is_plan = || AnswerRecord::read(m.meta.extra.as_deref()).unwrap_or_default().plan;
        self.ended = is_answer && !asks() && !is_plan();
    }

    /// Notes that something was said behind its last message: nothing is to be added there.
    pub fn add_notice(&mut self) {
        self.ended = false;
    }

    /// Returns whether it has ended, was to change files, and changed none.
    pub fn has_failed(&self) -> bool {
        self.ended && self.changes_requested && !self.changed
    }
}

impl ResultRecord {
    /// Returns whether its call was to change files.
    pub fn requests_changes(&self) -> bool {
        !self.edits.is_empty()
    }

    /// Returns whether its call changed something.
    pub fn has_changed(&self) -> bool {
        self.changeset.is_some() || self.edits.iter().any(|edit| edit.rung.is_some() && edit.ok == Some(true))
    }

    /// Returns the reason why its call was not done.
    pub fn reason(&self) -> Option<&str> {
        self.display.as_ref()?.reason()
    }

    /// Creates a call that did not do what was asked.
    pub fn failed(id: &str, name: &str) -> Self {
        ResultRecord { id: id.into(), name: name.into(), ..Self::default() }
    }

    /// Returns whether it is that of a call whose edits were all placed.
    pub fn holds_native_edit(&self) -> bool {
        !self.edits.is_empty() && (self.ok || self.edits.iter().all(|edit| edit.rung.is_some()))
    }

    /// Returns the change that the call led to; none of an edit that was not written, whatever else its changeset holds.
    pub fn change(&self) -> Option<CallChange> {
        let changeset = self.changeset.clone()?;
        let written = self.edits.iter().filter(|edit| edit.ok.unwrap_or(self.ok));
        let paths: Vec<String> = written.clone().map(|edit| edit.path.clone()).collect();
        let mut lines: BTreeMap<String, Vec<Range<usize>>> = BTreeMap::new();
        for edit in written.filter(|edit| !edit.lines.is_empty()) {
            let of_path = lines.entry(edit.path.clone()).or_default();
            for own in edit.lines.iter().map(|(start, end)| *start..*end) {
                // Edits side by side share a hunk.
                if !of_path.contains(&own) {
                    of_path.push(own);
                }
            }
        }
        let change = |changeset| CallChange { lines, ..CallChange::new(changeset, paths.clone()) };
        (self.edits.is_empty() || !paths.is_empty()).then(|| change(changeset))
    }

    /// Returns the same, counted as an edit that was asked for.
    pub fn and_edit(mut self, path: &str, format: Format) -> Self {
        let (path, format) = (path.into(), format.name().into());
        self.edits = vec![EditRecord { path, format, ok: Some(false), ..EditRecord::default() }];
        self
    }
}

/// Returns the calls of a message as memory stores them; none for an empty list.
fn calls_json(calls: &[ToolCall]) -> Option<String> {
    let records: Vec<_> = calls
        .iter()
        .map(|c| CallRecord { id: c.id.clone(), name: c.name.clone(), arguments: c.arguments.clone() })
        .collect();
    (!records.is_empty()).then(|| to_json(&records))
}

/// Reads a record beside a message or session, the usual one where there is none; `None`: it cannot be read.
pub(super) fn read_json<T: DeserializeOwned + Default>(text: Option<&str>) -> Option<T> {
    match text.filter(|text| !text.trim().is_empty()) {
        None => Some(T::default()),
        Some(text) => serde_json::from_str(text).ok(),
    }
}

/// Reads back what `calls_json` wrote; `None`: it cannot be read.
pub fn read_calls(text: Option<&str>) -> Option<Vec<ToolCall>> {
    let call = |c: CallRecord| ToolCall { id: c.id, name: c.name, arguments: c.arguments };
    Some(read_json::<Vec<CallRecord>>(text)?.into_iter().map(call).collect())
}

/// Returns results as memory stores them.
pub fn results_json(results: &[ResultRecord]) -> String {
    to_json(&results)
}

/// Reads results; `None`: they cannot be read.
pub fn read_results(text: Option<&str>) -> Option<Vec<ResultRecord>> {
    read_json(text)
}

/// Returns a message of the model, as memory stores it.
pub fn assistant_record(message: &Message, state: MessageState, meta: MessageMeta) -> NewMessage {
    let mut record = NewMessage::text(memory::StoredRole::Assistant, message.text());
    let calls: Vec<ToolCall> = message.calls().cloned().collect();
    record.tool_calls = calls_json(&calls);
    let thinking = Some(message.thinking().into_owned()).filter(|thinking| !thinking.is_empty());
    record.meta = MessageMeta { state, thinking, ..meta };
    let origin = message.origin.as_ref().map(|o| MessageOrigin {
        wire: o.wire.name().into(),
        place: o.place.clone(),
        model: o.model.clone(),
    });
    let part = |span: Span| MessagePart {
        kind: span.kind.name().into(),
        bytes: span.bytes,
        seal: span.seal.map(|json| json.to_string()),
        origin: origin.clone(),
    };
    record.parts = message.spans().into_iter().map(part).collect();
    record
}

/// Returns the parts of a message; `None`: one is of an unknown kind, which a newer nebula stored, and then nothing of the
/// order is trusted.
pub fn spans(record: &NewMessage) -> Option<Vec<Span>> {
    let span = |part: &MessagePart| {
        let kind = PartKind::parse(&part.kind)?;
        Some(Span { kind, bytes: part.bytes, seal: part.seal.as_deref().map(Into::into) })
    };
    record.parts.iter().map(span).collect()
}

/// Returns the wire format of an answer's origin; `None`: it is none that this nebula knows.
pub fn wire_of(origin: &MessageOrigin) -> Option<Wire> {
    Wire::parse(&origin.wire)
}

/// Reads back what [`assistant_record`] wrote.
pub fn read_answer(record: &NewMessage) -> Message {
    let (text, thinking) = (record.content.as_deref(), record.meta.thinking.as_deref());
    let calls = read_calls(record.tool_calls.as_deref()).unwrap_or_default();
    let spans = spans(record).unwrap_or_default();
    let mut message = Message::answer(text.unwrap_or_default(), thinking.unwrap_or_default(), calls, spans);
    message.origin = record
        .parts
        .iter()
        .find_map(|part| part.origin.as_ref())
        .and_then(|o| Some(Arc::new(Origin { wire: wire_of(o)?, place: o.place.clone(), model: o.model.clone() })));
    message
}

/// Returns SHA-256 of bytes.
pub fn sha(bytes: &[u8]) -> ContentHash {
    Sha256::digest(bytes).into()
}

/// Returns it in lower-case hex.
pub fn hex(sha: &ContentHash) -> String {
    sha.iter().map(|b| format!("{b:02x}")).collect()
}

/// Reads back what [`hex`] wrote.
pub fn parse_sha(hex: &str) -> Option<ContentHash> {
    let mut sha = [0u8; 32];
    if hex.len() != 64 || !hex.is_ascii() {
        return None;
    }
    for (i, byte) in sha.iter_mut().enumerate() {
        *byte = u8::from_str_radix(&hex[2 * i..2 * i + 2], 16).ok()?;
    }
    Some(sha)
}

/// Returns an attachment as memory stores it.
pub fn blob(stored: &memory::StoredBlob) -> Blob {
    Blob { mime: stored.kind.clone(), bytes: stored.bytes.clone().into(), name: stored.name.clone() }
}

fn to_json<T: Serialize>(value: &T) -> String {
    // Records of strings, numbers and lists always serialise.
    serde_json::to_string(value).unwrap_or_default()
}

/// Returns a call's arguments: as they are, or repaired where their meaning is certain.
///
/// # Errors
/// When they cannot be read; the text says why, for the model.
pub fn arguments(text: &str) -> Result<serde_json::Value, String> {
    if text.trim().is_empty() {
        return Ok(serde_json::Value::Null);
    }
    serde_json::from_str(text).or_else(|_| json::repair(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_edit_that_was_rejected_shares_no_change_of_its_file() {
        let edit = |ok| ResultRecord {
            changeset: Some("one".into()),
            edits: vec![EditRecord { path: "a.rs".into(), ok, ..EditRecord::default() }],
            ..ResultRecord::default()
        };
        assert_eq!(edit(Some(true)).change().map(|change| change.paths), Some(vec!["a.rs".to_string()]));
        assert_eq!(edit(Some(false)).change(), None);
        assert_eq!(edit(None).change(), None, "as the whole result");
        // Of a record without lines they are not known; edits side by side share a hunk.
        let stored = |lines: &str| format!(r#"[{{"id":"","name":"","ok":true,"changeset":"one","edits":[{lines}]}}]"#);
        let of =
            |lines: &str| read_results(Some(&stored(lines))).expect("results")[0].change().expect("a change").lines;
        let plain = r#"{"path":"a.rs","format":"edit","rung":"exact","ok":true}"#;
        assert!(of(plain).is_empty());
        let with = plain.replace('}', r#","lines":[[3,5],[9,9]]}"#);
        let own = BTreeMap::from([("a.rs".to_string(), vec![3..5, 9..9])]);
        assert_eq!(of(&format!("{with},{with},{plain}")), own);
        // A command lists no edits: all of its changeset is its own.
        let command = ResultRecord { changeset: Some("one".into()), ..ResultRecord::default() };
        assert_eq!(command.change().map(|change| change.paths), Some(Vec::new()));
    }

    #[test]
    fn shas_and_calls_survive_being_stored() {
        let a = sha(b"text");
        assert_eq!(parse_sha(&hex(&a)), Some(a));
        assert_eq!(parse_sha("é"), None);
        let calls = vec![ToolCall { id: "1".into(), name: "list".into(), arguments: "{\"broken".into() }];
        assert_eq!(read_calls(calls_json(&calls).as_deref()), Some(calls));
        assert_eq!(calls_json(&[]), None);
    }
}
