//! Loops of a turn: the same call or edit again, the same refusal again.

use std::collections::{HashMap, HashSet};

use crate::agent::session::conversation::SessionFiles;
use crate::tools::ContentHash;

/// The requests made in a turn.
#[derive(Default)]
pub struct Repeats {
    last: Option<RepetitionKey>,
    times: u32,
    /// Edits that were written, with the file as it was then.
    written: HashMap<RepetitionKey, (String, ContentHash)>,
    /// Calls and edits that were refused, each with the result for the model.
    refused: HashSet<String>,
}

/// The key that equal calls or edits share: the tool or format, and all arguments.
pub type RepetitionKey = (String, String);

impl Repeats {
    /// Returns whether this is the third time in a row.
    pub fn thrice(&mut self, key: &RepetitionKey) -> bool {
        self.times = if self.last.as_ref() == Some(key) { self.times + 1 } else { 1 };
        self.last = Some(key.clone());
        self.times == 3
    }

    /// Returns whether the same edit was written in this turn, and its file is still as it was then.
    pub fn is_done(&self, key: &RepetitionKey, files: &SessionFiles) -> bool {
        let now = |path: &str| files.seen.get(path).map(|seen| seen.sha);
        self.written.get(key).is_some_and(|(path, sha)| now(path) == Some(*sha))
    }

    /// Notes edits that were written.
    pub fn note_written(&mut self, edits: Vec<(RepetitionKey, String)>, files: &SessionFiles) {
        for (key, path) in edits {
            let path = path.strip_prefix("./").unwrap_or(&path).to_string();
            if let Some(seen) = files.seen.get(&path) {
                self.written.insert(key, (path, seen.sha));
            }
        }
    }

    /// Notes refusals; returns the first that was there before.
    pub fn note_refused(&mut self, refusals: Vec<String>) -> Option<String> {
        let mut again = None;
        for refusal in refusals {
            if !self.refused.insert(refusal.clone()) {
                again.get_or_insert(refusal);
            }
        }
        again
    }
}
