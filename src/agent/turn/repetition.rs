//! Loops of a turn: the same call or edit again, the same refusal again.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use crate::agent::session::conversation::SessionFiles;
use crate::agent::turn::effect::{RefusedCall, StepNotes};
use crate::context::small_model::is_nudge;
use crate::edit::UNCHANGED;
use crate::protocol::ItemId;
use crate::provider::Message;
use crate::tools::ContentHash;

/// The requests made in a turn.
#[derive(Default)]
pub struct Repeats {
    last: Option<RepetitionKey>,
    times: u32,
    /// The number of times that each came since a file was changed last.
    all: HashMap<RepetitionKey, u32>,
    /// Edits that were written, with the file as it was then.
    written: HashMap<RepetitionKey, (String, ContentHash)>,
    /// Calls and edits that came again when their effect stood.
    made: HashSet<RepetitionKey>,
    /// Calls and edits that were refused, each with the result for the model.
    refused: HashSet<String>,
    /// Commands that their sandbox refused something, since a file was changed last.
    blocked: HashSet<String>,
    /// Files that an edit left as they were, since a file was changed last.
    unchanged: HashSet<String>,
    /// The turn before left a file as it was, and the model is asked once more: it is not told so a third time.
    in_vain: bool,
}

/// A call or edit of a step that changes a file.
pub struct RepeatableEdit {
    /// The key it is recognised by.
    pub key: RepetitionKey,
    /// The path it names.
    pub path: String,
    /// Its entry.
    pub item: ItemId,
}

/// A result that came a second time in a turn.
pub enum Repeated {
    /// The refusal.
    Refusal(RefusedCall),
    /// The file that an edit left as it was.
    Unchanged(String),
}

/// The number of times in a row, and of all since the last change, of which the last ends the turn.
const IN_A_ROW: u32 = 3;
const IN_ALL: u32 = 6;
/// The tools that run commands or tell of them.
const OF_COMMANDS: [&str; 3] = ["runCommand", "commandOutput", "stopCommand"];

/// The key that equal calls or edits share: the tool or format, and all arguments.
pub type RepetitionKey = (String, String);

impl Repeats {
    /// Returns what is known at the beginning of a turn of this conversation.
    pub fn of(conversation: &[Arc<Message>]) -> Self {
        let in_vain = match conversation {
            [.., result, nudge] => is_nudge(&nudge.text()) && result.text().contains(UNCHANGED),
            _ => false,
        };
        Repeats { in_vain, ..Repeats::default() }
    }

    /// Returns whether this is the third time in a row, or has come too often with others in between and no change.
    pub fn comes_again(&mut self, key: &RepetitionKey) -> bool {
        self.times = if self.last.as_ref() == Some(key) { self.times + 1 } else { 1 };
        self.last = Some(key.clone());
        // A command may answer otherwise each time.
        if OF_COMMANDS.contains(&key.0.as_str()) {
            return self.times == IN_A_ROW;
        }
        let all = self.all.entry(key.clone()).or_default();
        *all += 1;
        self.times == IN_A_ROW || *all == IN_ALL
    }

    /// Returns whether the same edit was written in this turn, and its file is still as it was then.
    pub fn is_done(&self, key: &RepetitionKey, files: &SessionFiles) -> bool {
        let now = |path: &str| files.versions.get(path).map(|seen| seen.sha);
        self.written.get(key).is_some_and(|(path, sha)| now(path) == Some(*sha))
    }

    /// Returns whether the effect of the same edit stood already when it came last.
    pub fn was_made(&self, key: &RepetitionKey) -> bool {
        self.made.contains(key)
    }

    /// Notes what came of a step with these edits; returns what came of an earlier one too.
    pub fn note(&mut self, notes: StepNotes, edits: Vec<RepeatableEdit>, files: &SessionFiles) -> Option<Repeated> {
        self.made.extend(edits.iter().filter(|edit| notes.made.contains(&edit.item)).map(|edit| edit.key.clone()));
        let unchanged = notes.unchanged();
        if notes.went_back {
            (self.last, self.times) = (None, 0);
        }
        // What went back to the model was not written, although nobody refused it.
        if notes.refusals.is_empty() && !notes.went_back {
            self.note_written(edits, &unchanged, files);
        }
        let left_again = self.note_unchanged(unchanged, notes.changed).map(Repeated::Unchanged);
        if notes.changed {
            // What was changed may be what the command needed, and what is read anew.
            self.blocked.clear();
            self.all.clear();
        }
        let blocked = first_repeated(&mut self.blocked, notes.blocked);
        first_repeated(&mut self.refused, notes.refusals).or(blocked).map(Repeated::Refusal).or(left_again)
    }

    /// Notes edits that were written, those of a file in `unchanged` aside.
    fn note_written(&mut self, edits: Vec<RepeatableEdit>, unchanged: &BTreeSet<String>, files: &SessionFiles) {
        for RepeatableEdit { key, path, .. } in edits {
            let path = path.strip_prefix("./").unwrap_or(&path).to_string();
            if let Some(seen) = files.versions.get(&path).filter(|_| !unchanged.contains(&path)) {
                self.written.insert(key, (path, seen.sha));
            }
        }
    }

    /// Notes the files that the edits of a step left as they were, and whether it changed others; returns the first file
    /// that was left so before, with no change since.
    fn note_unchanged(&mut self, paths: BTreeSet<String>, changed: bool) -> Option<String> {
        if changed {
            self.unchanged.clear();
            self.in_vain = false;
        }
        let again = |path: &String| !self.unchanged.insert(path.clone()) || self.in_vain;
        paths.into_iter().filter(again).reduce(|first, _| first)
    }
}

/// Notes the refusals of a step among those of earlier steps; returns the first that is one of these. Two equal calls of
/// one step are refused before the model reads either.
fn first_repeated(known: &mut HashSet<String>, refusals: Vec<RefusedCall>) -> Option<RefusedCall> {
    let texts: Vec<String> = refusals.iter().map(|refusal| refusal.text.clone()).collect();
    let repeated = refusals.into_iter().find(|refusal| known.contains(&refusal.text));
    known.extend(texts);
    repeated
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::turn::effect::RefusalKind;

    #[test]
    fn calls_that_take_turns_end_and_a_change_begins_them_anew() {
        let key = |tool: &str, path: &str| (tool.to_string(), path.to_string());
        let ends_at = |first: &str, changes_at: usize| {
            let (mut repeats, files) = (Repeats::default(), SessionFiles::default());
            (1..=24).find(|n| {
                if *n == changes_at {
                    let mut notes = StepNotes::default();
                    notes.changed = true;
                    repeats.note(notes, Vec::new(), &files);
                }
                repeats.comes_again(&if n % 2 == 1 { key(first, "a") } else { key("readFile", "b") })
            })
        };
        assert_eq!((ends_at("readFile", 0), ends_at("readFile", 9)), (Some(11), Some(19)));
        assert_eq!(ends_at("runCommand", 0), Some(12), "the other one of the two");
        let mut repeats = Repeats::default();
        let in_a_row = (1..=9).find(|_| repeats.comes_again(&key("commandOutput", "c1")));
        assert_eq!(in_a_row, Some(3));
    }

    #[test]
    fn a_refusal_is_repeated_once_the_model_read_it() {
        let refusal = || RefusedCall { text: "no".into(), why: "no".into(), kind: RefusalKind::Other };
        let mut known = HashSet::new();
        assert!(first_repeated(&mut known, vec![refusal(), refusal()]).is_none());
        assert!(first_repeated(&mut known, vec![refusal()]).is_some());
    }

    #[test]
    fn an_edit_that_went_back_is_not_done() {
        let mut files = SessionFiles::default();
        files.know("a.txt", b"one\n");
        let key = || ("replaceInFile".to_string(), "{}".to_string());
        let edits = || vec![RepeatableEdit { key: key(), path: "./a.txt".into(), item: ItemId(1) }];
        let mut repeats = Repeats::default();
        let mut back = StepNotes::default();
        back.went_back = true;
        assert!(repeats.note(back, edits(), &files).is_none());
        assert!(!repeats.is_done(&key(), &files));
        assert!(repeats.note(StepNotes::default(), edits(), &files).is_none());
        assert!(repeats.is_done(&key(), &files));
    }
}
