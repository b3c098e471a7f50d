//! The remarks of a model on the way to its answer, which go to standard error in whole lines.

use crate::cli::out;
use crate::protocol::ItemId;

/// The entry that is said on the way, and its line that is not whole yet.
#[derive(Default)]
pub(super) struct Aside {
    open: Option<(ItemId, String)>,
}

impl Aside {
    /// Begins an entry.
    pub fn begin(&mut self, id: ItemId, text: &str) {
        self.end();
        self.open = Some((id, String::new()));
        self.grew(id, text);
    }

    /// Takes more of an entry in. Returns false if it is another one.
    pub fn grew(&mut self, id: ItemId, text: &str) -> bool {
        let Some((_, line)) = self.open.as_mut().filter(|(open, _)| *open == id) else { return false };
        line.push_str(text);
        while let Some(end) = line.find('\n') {
            let rest = line.split_off(end + 1);
            out::aside(line.trim_end());
            *line = rest;
        }
        true
    }

    /// Ends the entry, and prints the rest of it.
    pub fn end(&mut self) {
        if let Some((_, line)) = self.open.take().filter(|(_, line)| !line.trim().is_empty()) {
            out::aside(line.trim_end());
        }
    }

    /// Returns whether this entry is the one.
    pub fn is(&self, id: ItemId) -> bool {
        self.open.as_ref().is_some_and(|(open, _)| *open == id)
    }
}
