//! The message that the person writes, with what belongs to it: what was sent before, what waits to be sent, and the
//! files that are offered while a name is typed.

use super::Editor;
use super::complete::Completion;
use super::history::History;
use super::queue::Queue;
use crate::protocol::Unsent;

/// A file name in the input that could be a mention.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Offer {
    /// Its place, in bytes.
    pub place: std::ops::Range<usize>,
    /// The name as it was typed.
    pub name: String,
    /// The file of that name, once one is found.
    pub path: Option<String>,
}

/// The input and what belongs to it.
#[derive(Debug, Default)]
pub struct Composer {
    /// The text.
    pub input: Editor,
    /// The messages that were sent before.
    pub history: History,
    /// The messages that are sent when the turn ends.
    pub queue: Queue,
    /// The list of files under `@`.
    pub completion: Option<Completion>,
    /// The `@` whose completion was closed, so that it stays closed.
    pub closed_at: Option<usize>,
    /// The caret's place behind the space that a completion put.
    pub spaced: Option<usize>,
    /// The file name before the caret, to be mentioned with a key.
    pub offer: Option<Offer>,
    /// The queue and the text as memory has them.
    kept: Unsent,
}

impl Composer {
    /// Creates one with a text to be sent or changed.
    pub fn with(draft: Option<&str>) -> Self {
        Composer { input: draft.map(Editor::with).unwrap_or_default(), ..Composer::default() }
    }

    /// Returns the queue and the text where memory has others: another queue, or a text that is sent or dropped since;
    /// `all`: or another text.
    pub fn to_keep(&mut self, all: bool) -> Option<Unsent> {
        let queued = self.queue.entries() != self.kept.queue;
        let gone = self.input.is_empty() && !self.kept.draft.is_empty();
        let other = all && self.input.expanded() != self.kept.draft;
        if !(queued || gone || other) {
            return None;
        }
        self.kept = Unsent { queue: self.queue.entries().to_vec(), draft: self.input.expanded() };
        Some(self.kept.clone())
    }

    /// Takes what was typed in the session before it was closed: the queue is held, and a text that is being written
    /// stays: another one that was kept waits in the queue then.
    pub fn restore(&mut self, unsent: Unsent) {
        let mut queue = unsent.queue.clone();
        if self.input.is_empty() {
            self.input.set(&unsent.draft);
        } else if !unsent.draft.trim().is_empty() && unsent.draft != self.input.expanded() {
            queue.push(unsent.draft.clone());
        }
        self.queue.restore(queue);
        self.kept = unsent;
    }

    /// Leaves the queue to its session: memory has it.
    pub fn leave_session(&mut self) {
        (self.queue, self.kept) = (Queue::default(), Unsent::default());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_sent_is_kept_when_it_changes_and_comes_back_held() {
        let mut composer = Composer::with(Some("a draft"));
        assert_eq!(composer.to_keep(false), None, "each key of a text is not stored");
        composer.queue.push("queued".into());
        let unsent = Unsent { queue: vec!["queued".into()], draft: "a draft".into() };
        assert_eq!(composer.to_keep(false), Some(unsent.clone()));
        assert_eq!(composer.to_keep(true), None);

        let mut later = Composer::default();
        later.restore(unsent.clone());
        assert!(later.queue.is_held());
        assert_eq!((later.queue.entries(), later.input.text()), (&["queued".to_string()][..], "a draft"));
        assert_eq!(later.to_keep(true), None);
        // What was sent does not come back.
        later.input.clear();
        assert_eq!(later.to_keep(false).map(|unsent| unsent.draft).as_deref(), Some(""));
        later.leave_session();
        assert_eq!((later.queue.is_empty(), later.to_keep(true)), (true, None));

        // What came into the input by another way does not wait a second time.
        let mut same = Composer::with(Some("a draft"));
        same.restore(unsent.clone());
        assert_eq!((same.queue.entries(), same.input.text()), (&["queued".to_string()][..], "a draft"));

        // What is being written is not replaced.
        let mut writing = Composer::with(Some("new"));
        writing.restore(unsent);
        assert_eq!(writing.input.text(), "new");
        assert_eq!(writing.to_keep(true).map(|unsent| unsent.draft).as_deref(), Some("new"));
    }
}
