//! The conversation as values, and its conversion to and from memory's records.
//!
//! What is sent is what is kept: a resumed session holds the same messages as if it had never stopped.

mod files;
mod sent;
mod undecided;
mod versions;

use std::sync::Arc;

pub use self::files::SessionFiles;
pub use self::sent::SentRequests;
pub use self::undecided::{UndecidedCall, UndecidedEdits};
use crate::agent::services::events::Events;
use crate::agent::session::prompt_state::PromptState;
use crate::agent::session::records::{ResultRecord, blob_record, results_json, write_notice};
use crate::context::request::Window;
use crate::memory::{self, Memory, MemoryHandle, MessageMeta, NewMessage};
use crate::protocol::{Item, Notice, WindowResult};
use crate::provider::{Blob, Message, Role, ToolCall, ToolResult, ToolSpec};
pub use crate::text::sentence::first_words;
use crate::tools::{OfferedTools, ToolSet};

/// An open session. The turn that runs owns it.
pub struct Conversation {
    /// UUIDv7.
    pub id: String,
    /// Its title, once it has one.
    pub title: Option<String>,
    /// The messages to and from the model, oldest first.
    pub messages: Vec<Arc<Message>>,
    /// The row of each message in memory.
    pub rows: Vec<i64>,
    /// The files it read, wrote or mentioned.
    pub files: SessionFiles,
    /// The edits since the last prompt that went back to the model as their test failed.
    pub undecided: UndecidedEdits,
    /// Tokens and dollars so far.
    pub totals: memory::Totals,
    /// The totals when the person last let the session go on beyond its budget.
    pub granted: memory::Totals,
    /// The user message that began the present or last turn.
    pub turn: Option<i64>,
    /// The model that was asked last.
    pub model: Option<String>,
    /// A summary that replaces the oldest messages in what is sent, and how many it replaces.
    pub summary: Option<(String, usize)>,
    /// The context window as it fills.
    pub window: Window,
    /// The inputs of the system prompt.
    pub prompt: PromptState,
    /// The requests that were made for it.
    pub sent: SentRequests,
    /// The tools of its model.
    pub tools: Arc<ToolSet>,
    /// The descriptions of its tools for the model, in the order of [`OfferedTools::EACH`]; each without and with those of
    /// definitions.
    specs: [[Arc<[ToolSpec]>; 2]; 5],
    /// The memory that stores it.
    memory: MemoryHandle,
}

impl Conversation {
    /// Creates a session with nothing in it.
    pub fn new(id: String, tools: Arc<ToolSet>, memory: MemoryHandle) -> Self {
        Conversation {
            id,
            title: None,
            messages: Vec::new(),
            rows: Vec::new(),
            files: SessionFiles::default(),
            undecided: UndecidedEdits::default(),
            totals: memory::Totals::default(),
            granted: memory::Totals::default(),
            turn: None,
            model: None,
            summary: None,
            window: Window::default(),
            prompt: PromptState::default(),
            sent: SentRequests::default(),
            specs: OfferedTools::EACH.map(|offered| [false, true].map(|code| tools.specs(offered, code).into())),
            tools,
            memory,
        }
    }

    /// Stores something of this session, without waiting: `work` is given memory and the session's id.
    pub fn post(&self, work: impl FnOnce(&Memory, &str) -> Result<(), memory::Error> + Send + 'static) {
        let id = self.id.clone();
        self.memory.post(move |memory| work(memory, &id));
    }

    /// Stores a message at the end of this session, without waiting. Returns its row.
    pub fn append(&self, message: NewMessage) -> i64 {
        self.memory.append(&self.id, message)
    }

    /// Adds a notice to the chat, and stores it behind the newest message, so that a resumed session shows it too.
    pub async fn say(&self, events: &Events, notice: Notice) {
        self.say_behind(events, None, notice).await;
    }

    /// Adds a notice to the chat, and stores it behind the message of this row; `None`: the newest message.
    pub async fn say_behind(&self, events: &Events, row: Option<i64>, notice: Notice) {
        if let Some(row) = row.or_else(|| self.rows.last().copied()) {
            let stored = write_notice(&notice);
            self.post(move |memory, id| memory.add_notice(id, row, &stored));
        }
        events.add(Item::Notice(notice)).await;
    }

    /// Returns the messages of this session as memory has them, and how many of them stand before this row; `None`: all.
    ///
    /// # Errors
    /// When they cannot be read.
    pub async fn stored_before(&self, row: Option<i64>) -> Result<(Vec<memory::StoredMessage>, usize), memory::Error> {
        let id = self.id.clone();
        self.memory.ask(move |memory| memory.load_before(&id, row)).await
    }

    /// Returns what the model is told of the tools it may use; `code`: those of definitions are among them.
    pub fn tool_specs(&self, offered: OfferedTools, code: bool) -> Arc<[ToolSpec]> {
        Arc::clone(&self.specs[offered as usize][usize::from(code)])
    }

    /// Adds a message that is stored in this row.
    pub fn push(&mut self, message: Message, row: i64) {
        self.messages.push(Arc::new(message));
        self.rows.push(row);
    }

    /// Notes which results are left out, as memory is to store it.
    pub fn note_left_out(&mut self) {
        self.prompt.left_out = self.window.gone_through();
        self.prompt.chosen = self.window.chosen().iter().copied().collect();
    }

    /// Stores the inputs of the prompt, so that a resumed session sends the same bytes.
    pub fn store_prompt(&self) {
        if let Some(stored) = self.prompt.to_record() {
            self.post(move |memory, id| memory.set_extra(id, &stored));
        }
    }

    /// Returns the results that are sent whole, largest first.
    pub fn window_results(&self) -> Vec<WindowResult> {
        let from = self.summary.as_ref().map_or(0, |(_, covered)| *covered);
        let whole = self.window.results(&self.messages, from).into_iter();
        let mut results: Vec<WindowResult> = whole
            .map(|(result, tokens)| WindowResult { index: result.index, name: result.name().into(), tokens })
            .collect();
        results.sort_by_key(|result| std::cmp::Reverse(result.tokens));
        results
    }

    /// Leaves a result out of what is sent from now on; its file counts as unread. Returns the line in its place.
    pub fn leave_out(&mut self, index: usize) -> Option<String> {
        let left_out = self.window.leave_out_chosen(&self.messages, index)?;
        if let Some(path) = &left_out.path {
            self.files.versions.remove(path);
        }
        self.note_left_out();
        Some(left_out.line)
    }

    /// Returns calls of the last answer that have no result. Ids are told apart only since that answer: some servers
    /// count again in every one.
    pub fn open_calls(&self) -> Vec<ToolCall> {
        let Some(last) = self.messages.iter().rposition(|m| m.role == Role::Assistant) else { return Vec::new() };
        let mut open: Vec<ToolCall> = self.messages[last].calls().cloned().collect();
        for id in self.messages[last..].iter().filter_map(|m| m.answers()) {
            if let Some(at) = open.iter().position(|c| c.id == id) {
                open.remove(at);
            }
        }
        open
    }

    /// Returns the result of a call, for memory and for the model.
    pub fn result(&self, result: ResultRecord, text: &str, blobs: Vec<Blob>) -> (NewMessage, Message) {
        let mut stored = NewMessage::text(memory::StoredRole::Tool, text);
        stored.meta = MessageMeta { turn: self.turn, model: self.model.clone(), ..MessageMeta::default() };
        let message = Message::result(ToolResult { call: result.id.clone(), text: text.into(), blobs, ok: result.ok });
        stored.tool_results = Some(results_json(&[result]));
        stored.blobs = message.blobs().map(blob_record).collect();
        (stored, message)
    }

    /// Returns the words of the prompt that began the present turn: the cause of what it changes.
    pub fn prompt_words(&self) -> Option<String> {
        Some(first_words(&self.prompt_text()?, 60))
    }

    /// Returns what the person wrote in this turn, without what was attached.
    pub fn prompt_text(&self) -> Option<String> {
        let at = self.rows.iter().rposition(|r| Some(*r) == self.turn)?;
        let message = self.messages.get(at).filter(|m| m.role == Role::User)?;
        message.text().split("\n\n---\n").next().map(str::to_string)
    }

    /// Adds a message to the model that nobody typed.
    pub fn add_hidden(&mut self, text: &str) {
        let mut record = NewMessage::text(memory::StoredRole::User, text);
        record.meta = MessageMeta { typed: Some(0), turn: self.turn, ..MessageMeta::default() };
        let row = self.append(record);
        self.push(Message::user(text), row);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn open_calls_are_those_of_the_last_answer_whatever_their_ids() {
        let call = |id: &str| ToolCall { id: id.into(), name: "list".into(), arguments: "{}".into() };
        let (memory, _) = MemoryHandle::open(memory::Options::nowhere(), Box::new(|_| {}));
        let mut session = Conversation::new("s".into(), Arc::new(ToolSet::builtin()), memory);
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
