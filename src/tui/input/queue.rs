//! Messages typed while nebula works: shown above the input, sent one by one when a turn is done.

/// The queue.
#[derive(Debug, Clone, Default)]
pub struct Queue {
    /// Oldest first, as they will be sent.
    entries: Vec<String>,
    /// A turn was interrupted or failed: nothing goes by itself until the person says so.
    held: bool,
    /// The place of the message that was taken into the input to be changed.
    taken: Option<usize>,
}

impl Queue {
    /// Puts a message at the end; one that was taken to be changed, back in its place.
    pub fn push(&mut self, text: String) {
        let at = self.taken.take().unwrap_or(self.entries.len()).min(self.entries.len());
        self.entries.insert(at, text);
    }

    /// Puts a message back at the front: it was sent too early.
    pub fn put_back(&mut self, text: String) {
        self.entries.insert(0, text);
    }

    /// Puts messages of an earlier run in front, and holds all.
    pub fn restore(&mut self, messages: Vec<String>) {
        self.entries.splice(0..0, messages);
        self.hold(true);
    }

    /// Takes the next one to send.
    pub fn take(&mut self) -> Option<String> {
        self.held = false;
        self.taken = self.taken.map(|at| at.saturating_sub(1));
        (!self.entries.is_empty()).then(|| self.entries.remove(0))
    }

    /// Returns whether a message of the queue is in the input.
    pub fn is_editing(&self) -> bool {
        self.taken.is_some()
    }

    /// Takes the message that is sent next into the input to be changed, or the one above that which is there now, of
    /// which the input holds `text`.
    pub fn edit_older(&mut self, text: &str) -> Option<String> {
        let at = self.taken.map_or(Some(0), |at| at.checked_sub(1))?;
        (at < self.entries.len()).then(|| self.edit(at, text))
    }

    /// Takes the message below; beyond the newest one the input is empty again.
    pub fn edit_newer(&mut self, text: &str) -> Option<String> {
        let at = self.taken?;
        if at < self.entries.len() {
            return Some(self.edit(at + usize::from(!text.trim().is_empty()), text));
        }
        self.give_back(text);
        Some(String::new())
    }

    /// Puts back what was taken; a message without words is dropped.
    fn give_back(&mut self, text: &str) {
        if text.trim().is_empty() {
            self.taken = None;
        } else if self.taken.is_some() {
            self.push(text.to_string());
        }
    }

    /// Puts back what is in the input and takes the one that stands at `at` then.
    fn edit(&mut self, at: usize, text: &str) -> String {
        self.give_back(text);
        self.taken = Some(at);
        self.entries.remove(at)
    }

    /// Drops the message that is in the input, else the one that is sent next. Whether it was the one in the input.
    pub fn drop_one(&mut self) -> bool {
        let editing = self.taken.take().is_some();
        if !editing && !self.entries.is_empty() {
            self.entries.remove(0);
        }
        editing
    }

    /// Notes that the message in the input is no longer one of the queue.
    pub fn release(&mut self) {
        self.taken = None;
    }

    /// Holds what is queued, or lets it go.
    pub fn hold(&mut self, held: bool) {
        self.held = held && !self.entries.is_empty();
    }

    /// Returns whether it waits for the person.
    pub fn is_held(&self) -> bool {
        self.held
    }

    /// Returns what is queued, oldest first.
    pub fn entries(&self) -> &[String] {
        &self.entries
    }

    /// Returns whether nothing is queued.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Returns the number of rows it takes on the screen with its heading, at most `room`.
    pub fn rows(&self, room: u16) -> u16 {
        let n = u16::try_from(self.entries.len()).unwrap_or(u16::MAX);
        // A heading, at most five entries and an empty row below.
        if n == 0 { 0 } else { (n.min(5) + 2).min(room) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_message_is_changed_in_its_place() {
        let mut queue = Queue::default();
        ["one", "two", "three"].iter().for_each(|t| queue.push((*t).to_string()));
        assert_eq!(queue.edit_older("").as_deref(), Some("one"));
        assert_eq!(queue.edit_older("one"), None);
        assert_eq!(queue.edit_newer("one").as_deref(), Some("two"));
        assert_eq!(queue.entries(), ["one", "three"]);
        queue.push("TWO".into());
        assert_eq!(queue.entries(), ["one", "TWO", "three"]);
        assert_eq!(queue.edit_older("").as_deref(), Some("one"));
        assert_eq!(queue.edit_newer("one").as_deref(), Some("TWO"));
        // The one before it is sent meanwhile.
        assert_eq!(queue.take().as_deref(), Some("one"));
        assert_eq!(queue.edit_newer("2").as_deref(), Some("three"));
        assert_eq!(queue.edit_newer("three").as_deref(), Some(""));
        assert!(!queue.is_editing());
        assert_eq!(queue.entries(), ["2", "three"]);
        // Emptied, it is dropped; so is the next when none is in the input.
        assert_eq!(queue.edit_older("").as_deref(), Some("2"));
        assert_eq!(queue.edit_newer(" ").as_deref(), Some("three"));
        assert!(queue.drop_one());
        assert!(queue.is_empty() && !queue.is_editing());
        queue.push("four".into());
        assert!(!queue.drop_one());
        assert!(queue.is_empty());
    }

    #[test]
    fn messages_of_an_earlier_run_are_held_in_front() {
        let mut queue = Queue::default();
        queue.restore(Vec::new());
        assert!(!queue.is_held());
        queue.push("three".into());
        queue.restore(vec!["one".into(), "two".into()]);
        assert_eq!(queue.entries(), ["one", "two", "three"]);
        assert!(queue.is_held());
    }
}
