//! Messages typed while nebula works: shown above the input, sent one by one when a turn is done.

/// The queue.
#[derive(Debug, Clone, Default)]
pub struct Queue {
    /// Oldest first, as they will be sent.
    entries: Vec<String>,
    /// A turn was interrupted or failed: nothing goes by itself until the person says so.
    held: bool,
}

impl Queue {
    /// Puts a message at the end.
    pub fn push(&mut self, text: String) {
        self.entries.push(text);
    }

    /// Puts a message back at the front: it was sent too early.
    pub fn put_back(&mut self, text: String) {
        self.entries.insert(0, text);
    }

    /// Takes the next one to send.
    pub fn take(&mut self) -> Option<String> {
        self.held = false;
        (!self.entries.is_empty()).then(|| self.entries.remove(0))
    }

    /// Takes the newest one back, for editing.
    pub fn take_newest(&mut self) -> Option<String> {
        self.entries.pop()
    }

    /// Drops the newest one.
    pub fn drop_newest(&mut self) -> bool {
        self.entries.pop().is_some()
    }

    /// Holds what is queued, or lets it go.
    pub fn hold(&mut self, held: bool) {
        self.held = held && !self.entries.is_empty();
    }

    /// Whether it waits for the person.
    pub fn is_held(&self) -> bool {
        self.held
    }

    /// What is queued, oldest first.
    pub fn entries(&self) -> &[String] {
        &self.entries
    }

    /// Nothing is queued.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Rows it takes on the screen with its heading, at most `room`.
    pub fn rows(&self, room: u16) -> u16 {
        let n = u16::try_from(self.entries.len()).unwrap_or(u16::MAX);
        // A heading, at most five entries and an empty row below.
        if n == 0 { 0 } else { (n.min(5) + 2).min(room) }
    }
}
