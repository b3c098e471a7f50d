//! The messages of a request in a format's own pieces of JSON, each written once: they are told by identity, as long as
//! what stands before them is the same.

use std::sync::Arc;

use crate::provider::{Message, Role};

/// The key of the messages written so far; another one begins anew.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Target {
    /// The model that is asked.
    pub model: String,
    /// How many answers had their seals refused.
    pub unsealed: usize,
    /// Whatever else a format's pieces depend on.
    pub variant: u32,
}

/// The messages of the newest request.
#[derive(Default)]
pub(super) struct Written {
    target: Target,
    messages: Vec<Piece>,
}

/// A message as it is sent.
pub(super) struct Piece {
    /// The message.
    pub message: Arc<Message>,
    /// Its pieces of JSON.
    pub json: Arc<[String]>,
    ids: Ids,
}

/// How the calls of a conversation are named in what is sent.
#[derive(Debug, Clone, Default)]
pub(super) struct Ids {
    /// Calls that were renamed so far.
    renamed: usize,
    /// The calls that wait for their results.
    open: Vec<OpenCall>,
}

/// A call that waits for its result.
#[derive(Debug, Clone)]
pub(super) struct OpenCall {
    id: String,
    /// Its id in what is sent; `None`: the format, or its server, has none for it.
    pub sent: Option<String>,
    /// The tool.
    pub tool: String,
}

impl Ids {
    /// Returns a new name for a call of another origin.
    pub fn rename(&mut self) -> String {
        self.renamed += 1;
        format!("call_{}", self.renamed)
    }

    /// Begins an answer: no call of an earlier one waits any more.
    pub fn begin(&mut self) {
        self.open.clear();
    }

    /// Notes a call that goes out under `sent`.
    pub fn open(&mut self, id: &str, sent: Option<String>, tool: &str) {
        self.open.push(OpenCall { id: id.into(), sent, tool: tool.into() });
    }

    /// Returns the call that a result answers; `None`: there is none, and the result is not sent.
    pub fn close(&mut self, id: &str) -> Option<OpenCall> {
        let at = self.open.iter().position(|call| call.id == id)?;
        Some(self.open.remove(at))
    }
}

impl Written {
    /// Brings the pieces up to date with `messages`; `write` makes those of one message.
    pub fn update(
        &mut self,
        target: Target,
        messages: &[Arc<Message>],
        mut write: impl FnMut(&Arc<Message>, &mut Ids) -> Vec<String>,
    ) {
        if self.target != target {
            self.messages.clear();
            self.target = target;
        }
        let pairs = self.messages.iter().zip(messages);
        let same = pairs.take_while(|(old, new)| Arc::ptr_eq(&old.message, new)).count();
        self.messages.truncate(same);
        for message in &messages[same..] {
            let mut ids = self.messages.last().map(|last| last.ids.clone()).unwrap_or_default();
            if message.role == Role::Assistant {
                ids.begin();
            }
            let json = if message.is_blank() { Vec::new() } else { write(message, &mut ids) };
            self.messages.push(Piece { message: Arc::clone(message), json: json.into(), ids });
        }
    }

    /// Returns the messages that say anything.
    pub fn pieces(&self) -> impl DoubleEndedIterator<Item = &Piece> + Clone {
        self.messages.iter().filter(|piece| !piece.json.is_empty())
    }
}

/// Joins `parts` of one turn, and turns where neighbouring messages have another role. `role` names the side a message
/// is on, `open` and `close` frame a turn.
pub(super) fn turns<'a>(
    body: &mut String,
    pieces: impl Iterator<Item = &'a Piece>,
    role: impl Fn(&Message) -> &'static str,
    open: impl Fn(&str) -> String,
    mut part: impl FnMut(&mut String, &str),
) {
    let mut turn = None;
    for piece in pieces {
        let role = role(&piece.message);
        for json in piece.json.iter() {
            match turn {
                Some(same) if same == role => body.push(','),
                Some(_) => {
                    body.push_str("]},");
                    body.push_str(&open(role));
                }
                None => body.push_str(&open(role)),
            }
            turn = Some(role);
            part(body, json);
        }
    }
    if turn.is_some() {
        body.push_str("]}");
    }
}

/// Returns `head` as JSON, less its closing brace: more fields follow.
pub(super) fn opened(head: &serde_json::Value) -> String {
    let mut text = head.to_string();
    text.pop();
    text
}
