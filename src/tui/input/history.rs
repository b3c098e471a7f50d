//! The messages typed before in this project: Up and Down walk through them, and what was being written waits below.

/// Earlier inputs.
#[derive(Debug, Clone, Default)]
pub struct History {
    /// Newest first.
    entries: Vec<String>,
    /// The entry that is shown; `None`: the one being written.
    at: Option<usize>,
    /// The text that was being written when the walk began.
    draft: String,
}

impl History {
    /// Takes the project's messages, newest first. What was sent since stays above them.
    pub fn load(&mut self, entries: Vec<String>) {
        let sent = std::mem::take(&mut self.entries);
        self.entries = sent;
        for entry in entries {
            if !self.entries.contains(&entry) {
                self.entries.push(entry);
            }
        }
    }

    /// Adds what was just sent.
    pub fn push(&mut self, text: &str) {
        self.at = None;
        self.entries.retain(|e| e != text);
        self.entries.insert(0, text.to_string());
    }

    /// Returns the next older one; `now` is what stands in the input.
    pub fn older(&mut self, now: &str) -> Option<&str> {
        let next = self.at.map_or(0, |i| i + 1);
        if next >= self.entries.len() {
            return None;
        }
        if self.at.is_none() {
            self.draft = now.to_string();
        }
        self.at = Some(next);
        self.entries.get(next).map(String::as_str)
    }

    /// Returns the next newer one, at last what was being written.
    pub fn newer(&mut self) -> Option<&str> {
        let at = self.at?;
        self.at = at.checked_sub(1);
        Some(self.at.map_or(self.draft.as_str(), |i| self.entries[i].as_str()))
    }

    /// Ends the walk, as typing does.
    pub fn leave(&mut self) {
        self.at = None;
    }

    /// Returns all of them, newest first.
    pub fn entries(&self) -> &[String] {
        &self.entries
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn walks_back_and_returns_to_the_draft() {
        let mut h = History::default();
        h.push("sent");
        h.load(vec!["b".into(), "sent".into(), "a".into()]);
        assert_eq!(h.entries(), ["sent", "b", "a"]);
        assert_eq!(h.older("draft"), Some("sent"));
        assert_eq!(
            (h.older("x").map(str::to_string), h.older("x").map(str::to_string)),
            (Some("b".into()), Some("a".into()))
        );
        assert_eq!(h.older("x"), None);
        assert_eq!(h.newer().map(str::to_string).as_deref(), Some("b"));
        h.newer();
        assert_eq!(h.newer(), Some("draft"));
        assert_eq!(h.newer(), None);
    }
}
