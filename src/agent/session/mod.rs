//! The conversation as values, and how it is kept: to and from memory's records.
//!
//! What is sent is what is kept: a resumed session holds the same messages as if it had never stopped.

mod commands;
pub mod commit;
pub mod export;
pub mod listings;
pub mod prompt_state;
pub mod rag;
pub mod records;
pub mod request;
pub mod transcript;

use std::collections::HashMap;
use std::sync::Arc;

use crate::agent::session::prompt_state::Ground;
use crate::agent::session::records::{ResultRecord, blob, parse_sha, read_answer, read_results, results_json, sha};
use crate::agent::session::request::attached_files;
use crate::context::request::Window;
use crate::edit::stream::Known;
use crate::memory::{self, Memory, MessageMeta, NewMessage};
use crate::protocol::Item;
use crate::provider::{Message, Role, Takes, ToolCall, ToolResult, ToolSpec};
use crate::tools::{self, Seen, Sha};

/// An open session. The turn that runs owns it.
pub struct Session {
    /// UUIDv7.
    pub id: String,
    /// Its title, once it has one.
    pub title: Option<String>,
    /// What the model was told and said, oldest first.
    pub messages: Vec<Arc<Message>>,
    /// The row of each message in memory.
    pub rows: Vec<i64>,
    /// What this session knows of each file it read or wrote.
    pub seen: HashMap<String, Seen>,
    /// Files in play, for the rules: mentioned, read or changed.
    pub in_play: Vec<String>,
    /// Tokens and dollars so far.
    pub totals: memory::Totals,
    /// The user message that began the present or last turn.
    pub turn: Option<i64>,
    /// The model that was asked last.
    pub model: Option<String>,
    /// A summary that stands for the messages before it in what is sent, and how many those are.
    pub summary: Option<(String, usize)>,
    /// What is known of the model's context window.
    pub window: Window,
    /// What the system prompt rests on.
    pub ground: Ground,
    /// Messages with attachments that a model did not take, and what that one is sent in their place.
    pub plain: Vec<(Arc<Message>, Takes, Arc<Message>)>,
    /// What the model is told of its tools, with and without those that write.
    specs: [Arc<[ToolSpec]>; 2],
}

/// The longest text that is kept beside what was read, in bytes.
const MAX_TEXT: usize = 256 << 10;

impl Session {
    /// A session with nothing in it.
    pub fn new(id: String) -> Self {
        Session {
            id,
            title: None,
            messages: Vec::new(),
            rows: Vec::new(),
            seen: HashMap::new(),
            in_play: Vec::new(),
            totals: memory::Totals::default(),
            turn: None,
            model: None,
            summary: None,
            window: Window::default(),
            ground: Ground::default(),
            plain: Vec::new(),
            specs: [tools::specs(false).into(), tools::specs(true).into()],
        }
    }

    /// A stored session, as it was, and its entries for the front end. Calls that never got their result, because the
    /// process died, get one that says so.
    ///
    /// # Errors
    /// When memory cannot be read.
    pub fn load(memory: &Memory, record: &memory::Session) -> Result<(Self, Vec<Item>), memory::Error> {
        let mut session = Session::new(record.id.clone());
        session.title = record.title.clone();
        session.totals = record.totals;
        session.ground = Ground::read(record.extra.as_deref());
        let rows = memory.load(&record.id)?;
        let summary = memory.summary(&record.id)?;
        // A long session is read for the model and for the person side by side.
        let items = std::thread::scope(|scope| {
            let items = scope.spawn(|| transcript::items(&rows));
            for row in &rows {
                let before = session.messages.len();
                session.take_in(row);
                let gone_through = session.ground.left_out;
                if before < gone_through && gone_through <= session.messages.len() {
                    let left_out = session.window.leave_out(&session.messages, gone_through);
                    left_out.iter().filter_map(|l| l.path.as_ref()).for_each(|path| drop(session.seen.remove(path)));
                }
                if summary.as_ref().is_some_and(|s| s.upto == row.id) {
                    // The summary does not hold the texts: what was read before it is known no more.
                    session.seen.clear();
                }
            }
            items.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        });
        session.answer_what_is_open(memory)?;
        if let Some(summary) = summary {
            let covered = session.rows.iter().filter(|r| **r <= summary.upto).count();
            session.summary = Some((summary.text, covered));
        }
        Ok((session, items))
    }

    fn take_in(&mut self, row: &memory::Message) {
        let m = &row.message;
        let text = m.content.clone().unwrap_or_default();
        match m.role {
            memory::Role::User => {
                self.turn = Some(row.id);
                for (path, sha256) in m.meta.attached.as_deref().map(attached_files).unwrap_or_default() {
                    if let Some(sha) = sha256.as_deref().and_then(parse_sha) {
                        self.seen.insert(path.clone(), Seen { sha, text: None });
                    }
                    self.touch(&path);
                }
                self.push(Message::user(text).with_blobs(m.blobs.iter().map(blob)), row.id);
            }
            memory::Role::Assistant => {
                self.push(read_answer(m), row.id);
                // What came of edits written in the text is kept with the answer itself.
                read_results(m.tool_results.as_deref()).iter().for_each(|result| self.take_seen(result));
            }
            memory::Role::Tool => {
                for result in read_results(m.tool_results.as_deref()) {
                    self.take_seen(&result);
                    let result = ToolResult { call: result.id, text: text.clone(), ok: result.ok };
                    self.push(Message::result(result).with_blobs(m.blobs.iter().map(blob)), row.id);
                }
            }
        }
    }

    fn take_seen(&mut self, result: &ResultRecord) {
        for seen in &result.seen {
            if let Some(sha) = parse_sha(&seen.sha256) {
                self.seen.insert(seen.path.clone(), Seen { sha, text: None });
                self.touch(&seen.path);
            }
        }
    }

    /// What the model is told of the tools it may use.
    pub fn tools(&self, writes: bool) -> Arc<[ToolSpec]> {
        Arc::clone(&self.specs[usize::from(writes)])
    }

    /// Adds a message that is kept in this row.
    pub fn push(&mut self, message: Message, row: i64) {
        self.messages.push(Arc::new(message));
        self.rows.push(row);
    }

    /// Notes that a file is in play.
    pub fn touch(&mut self, path: &str) {
        if !self.in_play.iter().any(|p| p == path) {
            self.in_play.push(path.to_string());
        }
    }

    /// Notes what is now known of a file.
    pub fn know(&mut self, path: &str, bytes: &[u8]) -> Sha {
        let sha = sha(bytes);
        let text = (bytes.len() <= MAX_TEXT).then(|| std::str::from_utf8(bytes).ok()).flatten().map(Arc::from);
        self.seen.insert(path.to_string(), Seen { sha, text });
        self.touch(path);
        sha
    }

    /// The files whose text is known, for recognising edits in prose.
    pub fn known(&self) -> Vec<Known> {
        let known =
            self.seen.iter().filter_map(|(path, seen)| Some(Known { path: path.clone(), text: seen.text.clone()? }));
        known.collect()
    }

    /// What the tools may know of what was read.
    pub fn shas(&self) -> HashMap<String, Sha> {
        self.seen.iter().map(|(p, s)| (p.clone(), s.sha)).collect()
    }

    /// Calls of the last answer that have no result. Ids are told apart only since that answer: some servers count
    /// anew in every one.
    fn open_calls(&self) -> Vec<ToolCall> {
        let Some(last) = self.messages.iter().rposition(|m| m.role == Role::Assistant) else { return Vec::new() };
        let mut open: Vec<ToolCall> = self.messages[last].calls().cloned().collect();
        for id in self.messages[last..].iter().filter_map(|m| m.answers()) {
            if let Some(at) = open.iter().position(|c| c.id == id) {
                open.remove(at);
            }
        }
        open
    }

    fn answer_what_is_open(&mut self, memory: &Memory) -> Result<(), memory::Error> {
        for call in self.open_calls() {
            let result = ResultRecord::failed(&call.id, &call.name);
            self.save_result(memory, result, "nebula stopped before this call was run; nothing was changed by it")?;
        }
        Ok(())
    }

    /// Keeps and adds the result of a call.
    ///
    /// # Errors
    /// When memory cannot be written.
    pub fn save_result(&mut self, memory: &Memory, result: ResultRecord, text: &str) -> Result<(), memory::Error> {
        let mut message = NewMessage::text(memory::Role::Tool, text);
        message.meta = MessageMeta { turn: self.turn, model: self.model.clone(), ..MessageMeta::default() };
        let told = ToolResult { call: result.id.clone(), text: text.into(), ok: result.ok };
        message.tool_results = Some(results_json(&[result]));
        let row = memory.append(&self.id, &message)?;
        self.push(Message::result(told), row);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn open_calls_are_those_of_the_last_answer_whatever_their_ids() {
        let call = |id: &str| ToolCall { id: id.into(), name: "list".into(), arguments: "{}".into() };
        let mut session = Session::new("s".into());
        for message in [
            Message::user("go"),
            Message::assistant("", vec![call("call_0")]),
            Message::tool("call_0", "done"),
            Message::assistant("", vec![call("call_0"), call("call_1"), call("call_1")]),
        ] {
            session.push(message, 0);
        }
        assert_eq!(session.open_calls(), [call("call_0"), call("call_1"), call("call_1")]);
        session.push(Message::tool("call_1", "done"), 0);
        assert_eq!(session.open_calls(), [call("call_0"), call("call_1")]);
    }
}
