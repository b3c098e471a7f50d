//! The chat's own words: what a run of calls did, what a notice offers, times.

use std::time::Duration;

use crate::protocol::{Call, CallState, NoticeAction, Verb};
use crate::text::number::plural;
use crate::tui::action::Action;
use crate::tui::text::cut;
use crate::tui::text::wrap::cells;

/// What the chat keeps of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CallSummary {
    pub(super) name: String,
    pub(super) verb: Verb,
    pub(super) main: String,
    pub(super) state: CallState,
    pub(super) summary: String,
    pub(super) reason: Option<String>,
    /// The same file had been read before.
    pub(super) again: bool,
}

impl CallSummary {
    pub(super) fn new(call: &Call, again: bool) -> Self {
        CallSummary {
            name: call.name.clone(),
            verb: call.verb.clone(),
            main: call.main.clone(),
            state: call.state,
            summary: call.summary.clone(),
            reason: call.reason.clone(),
            again,
        }
    }

    /// Whether what its verb says is so, or about to be.
    fn happens(&self) -> bool {
        match self.state {
            CallState::Refused | CallState::Failed | CallState::Interrupted => false,
            // A change that waits is not made; a question that waits is asked.
            CallState::Asking => self.verb.one == "question",
            CallState::Streaming | CallState::Waiting | CallState::Running | CallState::Done => true,
        }
    }

    pub(super) fn reads(&self) -> bool {
        self.verb.done == "read"
    }
}

/// `3 calls: read 2 files, searched 1 folder`; a single call names its file.
pub(super) fn calls(done: &[CallSummary]) -> String {
    let mut out = format!("{}: ", plural(done.len(), "call"));
    let mut parts: Vec<String> = Vec::new();
    if let [one] = done {
        let verb = if one.happens() { &one.verb.done } else { &one.name };
        let again = if one.again { " again" } else { "" };
        parts.push(format!("{verb} {}{again}", one.main).trim_end().to_string());
    } else {
        let mut seen: Vec<&str> = Vec::new();
        for did in done.iter().filter(|d| d.happens()) {
            let Verb { done: verb, one } = &did.verb;
            if seen.contains(&verb.as_str()) {
                continue;
            }
            seen.push(verb);
            let same: Vec<&CallSummary> = done.iter().filter(|d| d.happens() && d.verb.done == *verb).collect();
            // A file read twice is one file; searches are counted one by one.
            let mut mains: Vec<&str> = same.iter().map(|d| d.main.as_str()).collect();
            if one == "file" {
                mains.sort_unstable();
                mains.dedup();
            }
            parts.push(format!("{verb} {}", plural(mains.len(), one)));
        }
    }
    for (state, word) in [
        (CallState::Failed, "failed"),
        (CallState::Refused, "rejected"),
        (CallState::Interrupted, "interrupted"),
        (CallState::Asking, "waiting"),
        (CallState::Running, "running"),
    ] {
        match done.iter().filter(|d| d.state == state).count() {
            0 => {}
            _ if done.len() == 1 => parts.push(word.into()),
            n => parts.push(format!("{n} {word}")),
        }
    }
    out.push_str(&parts.join(", "));
    out
}

/// A run of calls in `width` cells: parts that have no room are left out whole.
pub(super) fn fitted(text: &str, width: usize, cut: &str) -> String {
    if cells(text) <= width {
        return text.to_string();
    }
    let mut kept = "";
    for (at, _) in text.match_indices(", ") {
        if cells(&text[..at]) + 2 + cells(cut) <= width {
            kept = &text[..at + 2];
        }
    }
    match kept {
        "" => cut::end(text, width, cut).into_owned(),
        kept => format!("{kept}{cut}"),
    }
}

/// `4 s`, `2 min`.
pub(super) fn seconds(took: Duration) -> String {
    match took.as_secs() {
        0 => "under 1 s".into(),
        s @ 1..120 => format!("{s} s"),
        s => format!("{} min", s / 60),
    }
}

/// What takes what a notice offers when it is selected, and what that does.
pub(super) fn offer(action: &NoticeAction) -> (Action, &'static str) {
    match action {
        NoticeAction::Continue => (Action::Open, "go on from here"),
        NoticeAction::Retry => (Action::Again, "ask again"),
        NoticeAction::ChooseModel => (Action::ChooseModel, "another model"),
        NoticeAction::ShowChange(_) => (Action::Open, "what changed"),
        NoticeAction::OpenFile(_) => (Action::Fold, "open the file"),
        NoticeAction::RetryMemory => (Action::Open, "try memory again"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::pane::testing;

    fn did(name: &str, main: &str, state: CallState) -> CallSummary {
        let (name, verb, main) = (name.to_string(), testing::verb(name), main.to_string());
        CallSummary { name, verb, main, state, summary: String::new(), reason: None, again: false }
    }

    #[test]
    fn calls_in_words() {
        use CallState::*;
        let three = [
            did("readFile", "src/cart.rs", Done),
            did("readFile", "src/catalog.rs", Done),
            did("searchInDirectory", "price_of", Done),
        ];
        assert_eq!(calls(&three), "3 calls: read 2 files, searched 1 folder");
        let again = CallSummary { again: true, ..did("readFile", "src/cart.rs", Done) };
        assert_eq!(calls(&[again]), "1 call: read src/cart.rs again");
        let two = [did("replaceInFile", "a.rs", Refused), did("replaceInFile", "a.rs", Done)];
        assert_eq!(calls(&two), "2 calls: edited 1 file, 1 rejected");
        assert_eq!(calls(&[did("mcp", "", Failed)]), "1 call: mcp, failed");
        // What did not happen is not told as if it had.
        let three = [did("editFile", "a", Done), did("editFile", "b", Failed), did("writeFile", "c", Interrupted)];
        assert_eq!(calls(&three), "3 calls: edited 1 file, 1 failed, 1 interrupted");
        assert_eq!(calls(&[did("writeFile", "a.rs", Refused)]), "1 call: writeFile a.rs, rejected");
        assert_eq!(calls(&[did("askUser", "Which?", Asking)]), "1 call: asked Which?, waiting");
    }

    #[test]
    fn what_has_no_room_is_left_out_whole() {
        let text = "6 calls: read 2 files, searched 2 folders, edited 2 files";
        assert_eq!(fitted(text, 80, "…"), text);
        assert_eq!(fitted(text, 50, "…"), "6 calls: read 2 files, searched 2 folders, …");
        assert_eq!(fitted(text, 24, "…"), "6 calls: read 2 files, …");
        assert_eq!(fitted(text, 10, "…"), "6 calls: …");
    }

    #[test]
    fn numbers_and_times() {
        assert_eq!(
            (seconds(Duration::from_millis(4200)), seconds(Duration::from_secs(130))),
            ("4 s".into(), "2 min".into())
        );
    }
}
