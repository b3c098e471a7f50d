//! The chat's own words: what a run of calls did, what a notice offers, times.

use std::time::Duration;

use crate::messages::{
    chat as say, count,
    times::{self, duration},
    verbs,
};
use crate::proposal::HunkCount;
use crate::protocol::{Call, CallChange, CallState, DecidedHold, NoticeAction, Undone, Verb};
use crate::text::number::thousands;
use crate::tui::action::Action;
use crate::tui::text::cut;
use crate::tui::text::wrap::cells;

/// The summary of a call in the chat.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CallSummary {
    pub(super) name: String,
    pub(super) verb: Verb,
    pub(super) main: String,
    pub(super) state: CallState,
    pub(super) summary: String,
    pub(super) reason: Option<String>,
    pub(super) took: Option<Duration>,
    pub(super) step: u32,
    pub(super) exchange: Option<(String, String)>,
    /// Calls of its command that waited for the person.
    pub(super) held: Vec<DecidedHold>,
    /// Questions of the person about what it changes, and the answers.
    pub(super) comments: Vec<(String, String)>,
    /// The person accepted some of its hunks, not all.
    pub(super) is_partial: bool,
    /// The person's decision of the hunks of its proposal.
    pub(super) decided: Option<HunkCount>,
    /// The time when the person answered its question or decided its hunks.
    pub(super) answered: Option<i64>,
    /// Its file had been read before.
    pub(super) again: bool,
    /// The change that it led to, with the part of it that is undone.
    pub(super) change: Option<CallChange>,
    /// It is a command that ran and did not succeed.
    pub(super) is_unsuccessful: bool,
    /// The last lines of output of a command that the person typed, and how many stand before them; none: it is the
    /// model's.
    pub(super) output: Option<(Vec<String>, usize)>,
}

impl CallSummary {
    /// Returns whether its verb says what happened, or happens; what waits or went wrong is counted by its state.
    fn counts(&self) -> bool {
        !matches!(
            self.state,
            CallState::Refused | CallState::Failed | CallState::Interrupted | CallState::Waiting | CallState::Asking
        ) && !self.undone().is_all()
    }

    /// Returns the verb in the form that is true now.
    fn form(&self) -> &str {
        match self.state {
            CallState::Done => &self.verb.done,
            CallState::Streaming | CallState::Running => &self.verb.doing,
            // A question that waits is asked; what else waits is not being done.
            CallState::Asking if self.name == "askUser" => &self.verb.doing,
            CallState::Waiting | CallState::Asking => &self.verb.short,
            CallState::Refused | CallState::Failed | CallState::Interrupted => &self.verb.short,
        }
    }

    pub(super) fn new(call: &Call, again: bool) -> Self {
        CallSummary {
            name: call.name.clone(),
            verb: call.verb.clone(),
            main: call.main.clone(),
            state: call.state,
            summary: call.summary.clone(),
            reason: call.shown_reason().map(str::to_string),
            took: call.took,
            step: call.step,
            exchange: call.exchange.clone(),
            held: call.held.clone(),
            comments: call.comments.clone(),
            is_partial: call.is_partial(),
            decided: call.decided,
            answered: call.answered,
            again,
            change: call.change.clone(),
            is_unsuccessful: call.is_unsuccessful(),
            output: call.is_typed.then(|| {
                let lines: Vec<String> = call.preview.iter().map(|line| line.text.clone()).collect();
                let before = call.printed.saturating_sub(lines.len());
                (lines, before)
            }),
        }
    }

    /// Returns its result in a word or two.
    pub(super) fn result(&self) -> &str {
        match self.undone() {
            undone if undone.is_all() => say::undone(),
            undone if undone.is_any() => say::undone_in_part(),
            _ => &self.summary,
        }
    }

    /// Returns how much of what it changed is undone.
    pub(super) fn undone(&self) -> Undone {
        self.change.as_ref().map(|change| change.undone).unwrap_or_default()
    }

    pub(super) fn reads(&self) -> bool {
        self.verb.done == "read"
    }
}

/// A run of calls in words: `41 steps: read 14, searched 13, edited 2, 1 failed · 12 s`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(in crate::tui::pane) struct StepWords {
    /// `41 steps: `.
    begin: String,
    /// The parts of what was done, by verb: they give way where there is no room.
    done: Vec<String>,
    /// The counts of calls that ended otherwise, or the result of one, with what separates them from the rest: `, 1 failed`.
    end: String,
    /// ` · 12 s`.
    time: String,
}

impl StepWords {
    /// Returns them in `width` cells. How calls ended stays whole: the parts before it are left out whole, and one that
    /// stands alone loses its end.
    pub(in crate::tui::pane) fn fitted(&self, width: usize, cut: &str) -> String {
        /// Cells of a part that stands alone, at least.
        const LEAST: usize = 8;
        let with = |done: &str, time: &str| format!("{}{done}{}{time}", self.begin, self.end);
        let all = with(&self.done.join(", "), &self.time);
        if cells(&all) <= width {
            return all;
        }
        for time in [self.time.as_str(), ""] {
            let room = width.saturating_sub(cells(&with("", time)));
            if let [one] = self.done.as_slice() {
                if room >= LEAST {
                    return with(&cut::end(one, room, cut), time);
                }
                continue;
            }
            let mut some = (1..self.done.len()).rev().map(|n| format!("{}, {cut}", self.done[..n].join(", ")));
            if let Some(some) = some.find(|some| cells(some) <= room) {
                return with(&some, time);
            }
        }
        cut::end(&with(if self.done.is_empty() { "" } else { cut }, ""), width, cut).into_owned()
    }

    /// Returns them whole.
    #[cfg(test)]
    fn whole(&self) -> String {
        self.fitted(usize::MAX, "…")
    }
}

/// Returns a run of calls in words; a single call names its file. Of what is not over yet the present form tells. What
/// the person ran is no step.
pub(super) fn steps(calls: &[CallSummary], dot: &str) -> StepWords {
    let took: Duration = calls.iter().filter_map(|c| c.took).sum();
    let time = if took.as_millis() >= 100 { format!(" {dot} {}", duration(took)) } else { String::new() };
    let begin = match calls.iter().all(|call| call.output.is_some()) {
        true => String::new(),
        false => format!("{}: ", count::steps(count_steps(calls.iter().map(|call| call.step)))),
    };
    let done = done_parts(calls);
    StepWords { begin, end: end_of(calls, !done.is_empty()), done, time }
}

/// Returns what calls did, by verb.
fn done_parts(calls: &[CallSummary]) -> Vec<String> {
    if let [one] = calls {
        let again = if one.again { say::again() } else { "" };
        return vec![format!("{} {}{again}", verbs::localized(one.form()), one.main).trim_end().to_string()];
    }
    let mut parts: Vec<String> = Vec::new();
    for over in [true, false] {
        let same = calls.iter().filter(|c| c.counts() && (c.state == CallState::Done) == over);
        let mut seen: Vec<(&str, usize)> = Vec::new();
        for verb in same.map(CallSummary::form) {
            match seen.iter_mut().find(|(known, _)| *known == verb) {
                Some((_, n)) => *n += 1,
                None => seen.push((verb, 1)),
            }
        }
        parts.extend(seen.into_iter().map(|(verb, n)| {
            let what = what_ran(calls.iter().filter(|c| c.counts() && c.form() == verb));
            [verbs::localized(verb).to_string(), what, thousands(n)]
                .into_iter()
                .filter(|part| !part.is_empty())
                .collect::<Vec<_>>()
                .join(" ")
        }));
    }
    parts
}

/// Returns how calls ended otherwise, behind what they did where anything `is_before`.
fn end_of(calls: &[CallSummary], is_before: bool) -> String {
    let mut parts: Vec<String> = Vec::new();
    let undone = [
        (calls.iter().filter(|call| call.undone().is_all()).count(), say::undone()),
        (calls.iter().filter(|call| call.undone().is_any() && !call.undone().is_all()).count(), say::undone_in_part()),
    ];
    for (n, word) in undone.into_iter().filter(|(n, _)| *n > 0) {
        parts.push(if calls.len() == 1 { word.to_string() } else { say::with_state(&n, &word) });
    }
    for (state, word) in [
        (CallState::Failed, say::failed()),
        (CallState::Refused, say::rejected()),
        (CallState::Interrupted, say::interrupted()),
        (CallState::Asking, say::waiting_for_you()),
        (CallState::Waiting, say::waiting()),
    ] {
        // One alone says how it ended.
        let unsuccessful = calls.iter().filter(|c| c.is_unsuccessful && state == CallState::Failed && calls.len() > 1);
        match calls.iter().filter(|c| c.state == state).count() + unsuccessful.count() {
            0 => {}
            // Its verb says so.
            _ if calls.len() == 1 && state == CallState::Waiting => {}
            _ if calls.len() == 1 => parts.push(word.into()),
            n => parts.push(say::with_state(&n, &word)),
        }
    }
    let result = match calls {
        [one] if one.is_unsuccessful || one.output.is_some() && one.state == CallState::Done => {
            format!(": {}", one.summary)
        }
        _ => String::new(),
    };
    let gap = if is_before && !parts.is_empty() { ", " } else { "" };
    format!("{result}{gap}{}", parts.join(", "))
}

/// Returns `cargo test`: the words that the commands of these calls begin with, two at most; empty: the calls ran none, or
/// not the same.
fn what_ran<'a>(calls: impl Iterator<Item = &'a CallSummary>) -> String {
    let mut same: Option<Vec<&str>> = None;
    for call in calls {
        let is_word = |word: &&str| word.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.'));
        let words: Vec<&str> =
            call.main.split_whitespace().take(2).take_while(|w| is_word(w) && !w.starts_with('-')).collect();
        // One of the person's may begin with its folder.
        let words = if call.name == "runCommand" && call.output.is_none() { words } else { Vec::new() };
        let known = same.get_or_insert_with(|| words.clone());
        let alike = known.iter().zip(&words).take_while(|(a, b)| a == b).count();
        known.truncate(alike);
    }
    same.unwrap_or_default().join(" ")
}

/// Returns `33 earlier steps: read 15, edited 6, 1 failed`.
pub(in crate::tui::pane) fn summary_of<'a>(calls: impl Iterator<Item = &'a Call>) -> StepWords {
    let calls: Vec<CallSummary> = calls.map(|call| CallSummary::new(call, false)).collect();
    let begin = format!("{}: ", count::earlier_steps(count_steps(calls.iter().map(|call| call.step))));
    let done = done_parts(&calls);
    StepWords { begin, end: end_of(&calls, !done.is_empty()), done, time: String::new() }
}

/// Counts the steps of the model that made calls, by the numbers of their steps: neighbours of one number are one step,
/// since a resumed session counts anew. Where a number is not known, which is 0, the call counts.
pub(in crate::tui::pane) fn count_steps(steps: impl Iterator<Item = u32>) -> usize {
    let mut before = 0;
    let is_next = |step: &u32| *step == 0 || *step != std::mem::replace(&mut before, *step);
    steps.filter(is_next).count()
}

/// Returns `4 s`, `2 min`.
pub(super) fn seconds(took: Duration) -> String {
    match took.as_secs() {
        0 => times::under_a_second().into(),
        s @ 1..120 => times::seconds(&s),
        s => times::minutes(&(s / 60)),
    }
}

/// Returns what takes what a notice offers when it is selected, and what that does.
pub(super) fn offer(action: &NoticeAction) -> (Action, &'static str) {
    match action {
        NoticeAction::Continue => (Action::Open, say::go_on()),
        NoticeAction::Retry => (Action::Again, say::ask_again()),
        NoticeAction::ChooseModel => (Action::ChooseModel, say::another_model()),
        NoticeAction::ShowChange(_) => (Action::Open, say::what_changed()),
        NoticeAction::OpenFile(_) => (Action::Fold, say::open_file()),
        NoticeAction::RetryMemory => (Action::Open, say::try_memory()),
    }
}

/// Returns the text of an answer without its code and its tables: a line for each paragraph and for each entry of a list.
pub fn sentences(markdown: &str) -> String {
    let (mut lines, mut in_code, mut goes_on) = (Vec::<String>::new(), false, false);
    for line in markdown.lines().map(str::trim) {
        if line.starts_with("```") || line.starts_with("~~~") {
            (in_code, goes_on) = (!in_code, false);
        } else if in_code || line.is_empty() || line.starts_with('|') {
            goes_on = false;
        } else {
            let digits = line.trim_start_matches(|c: char| c.is_ascii_digit());
            let is_numbered = digits.len() < line.len() && digits.starts_with(". ");
            let is_block = is_numbered || ["#", ">", "- ", "* ", "+ "].iter().any(|mark| line.starts_with(mark));
            match lines.last_mut().filter(|_| goes_on && !is_block) {
                Some(last) => last.extend([" ", line]),
                None => lines.push(line.into()),
            }
            goes_on = true;
        }
    }
    // A heading of code alone heads nothing.
    while lines.pop_if(|last| last.starts_with('#')).is_some() {}
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::pane::testing;

    fn did(name: &str, main: &str, state: CallState) -> CallSummary {
        let call = Call { main: main.into(), ..testing::call(name, state) };
        CallSummary::new(&call, false)
    }

    #[test]
    fn steps_in_words() {
        use CallState::*;
        let said = |calls: &[CallSummary]| steps(calls, "·").whole();
        let three = [
            did("readFile", "src/cart.rs", Done),
            did("readFile", "src/catalog.rs", Done),
            did("searchInDirectory", "price_of", Done),
        ];
        assert_eq!(said(&three), "3 steps: read 2, searched 1");
        let one_step: Vec<_> = three.iter().cloned().map(|c| CallSummary { step: 4, ..c }).collect();
        assert_eq!(said(&one_step), "1 step: read 2, searched 1");
        let again = CallSummary { again: true, ..did("readFile", "src/cart.rs", Done) };
        assert_eq!(said(&[again]), "1 step: read src/cart.rs again");
        let two = [did("replaceInFile", "a.rs", Refused), did("replaceInFile", "a.rs", Done)];
        assert_eq!(said(&two), "2 steps: edited 1, 1 rejected");
        assert_eq!(said(&two[..1]), "1 step: edit a.rs, rejected");
        // What did not happen yet is not told as if it had.
        assert_eq!(said(&[did("replaceInFile", "a.rs", Waiting)]), "1 step: edit a.rs");
        assert_eq!(said(&[did("replaceInFile", "a.rs", Asking)]), "1 step: edit a.rs, waiting for you");
        let three = [did("editFile", "a", Done), did("editFile", "b", Failed), did("writeFile", "c", Interrupted)];
        assert_eq!(said(&three), "3 steps: edited 1, 1 failed, 1 interrupted");
        assert_eq!(said(&[did("writeFile", "a.rs", Refused)]), "1 step: write a.rs, rejected");
        let timed = CallSummary { took: Some(Duration::from_millis(4200)), ..did("readFile", "a.rs", Done) };
        assert_eq!(said(&[timed]), "1 step: read a.rs · 4.2 s");
    }

    #[test]
    fn a_command_that_ended_with_an_error_says_so() {
        let verb = Verb { short: "run".into(), doing: "running".into(), done: "ran".into(), one: String::new() };
        let ran = |text: &str, code: u8| {
            let call = Call {
                main: text.into(),
                verb: verb.clone(),
                summary: format!("exit {code}"),
                reason: (code > 0).then(|| format!("exit {code} · 0.4 s")),
                ..testing::call("runCommand", CallState::Done)
            };
            CallSummary::new(&call, false)
        };
        assert_eq!(steps(&[ran("make test", 1)], "·").whole(), "1 step: ran make test: exit 1");
        assert_eq!(steps(&[ran("make test", 0)], "·").whole(), "1 step: ran make test");
        assert_eq!(steps(&[ran("make a", 1), ran("make b", 0)], "·").whole(), "2 steps: ran make 2, 1 failed");
        let typed = CallSummary { output: Some((vec!["3".into()], 2)), ..ran("seq 3", 0) };
        assert_eq!(steps(&[typed], "·").whole(), "ran seq 3: exit 0");
    }

    #[test]
    fn a_run_of_calls_names_the_command_that_it_ran() {
        let ran = |texts: &[&str]| {
            let verb = Verb { short: "run".into(), doing: "running".into(), done: "ran".into(), one: String::new() };
            let ran = |text: &&str| CallSummary { verb: verb.clone(), ..did("runCommand", text, CallState::Done) };
            let calls: Vec<_> = texts.iter().map(ran).collect();
            steps(&calls, "·").whole().split_once(": ").expect("its words").1.to_string()
        };
        assert_eq!(ran(&["cargo test --lib", "cargo test money", "cargo test"]), "ran cargo test 3");
        assert_eq!(ran(&["cargo test", "cargo check"]), "ran cargo 2");
        assert_eq!(ran(&["cargo test", "ls"]), "ran 2");
        assert_eq!(ran(&["cargo  test", "cargo test"]), "ran cargo test 2");
        assert_eq!(ran(&["rm -r a", "rm -r b"]), "ran rm 2");
        assert_eq!(ran(&["(cd a && ls)", "(cd a && ls)"]), "ran 2");
    }

    #[test]
    fn what_has_no_room_is_left_out_whole_and_how_it_ended_stays() {
        let words = |done: &[&str], end: &str, time: &str| StepWords {
            begin: "6 calls: ".into(),
            done: done.iter().map(|part| part.to_string()).collect(),
            end: end.into(),
            time: time.into(),
        };
        let three = words(&["read 2 files", "searched 2 folders", "edited 2 files"], "", "");
        let whole = "6 calls: read 2 files, searched 2 folders, edited 2 files";
        assert_eq!((three.fitted(80, "…"), three.whole()), (whole.into(), whole.into()));
        assert_eq!(three.fitted(50, "…"), "6 calls: read 2 files, searched 2 folders, …");
        assert_eq!(three.fitted(24, "…"), "6 calls: read 2 files, …");
        assert_eq!(three.fitted(10, "…"), "6 calls: …");
        let failed = words(&["read 2", "searched 2", "edited 2"], ", 1 failed", " · 12 s");
        assert_eq!(failed.fitted(47, "…"), "6 calls: read 2, searched 2, …, 1 failed · 12 s");
        assert_eq!(failed.fitted(36, "…"), "6 calls: read 2, …, 1 failed · 12 s");
        assert_eq!(failed.fitted(30, "…"), "6 calls: read 2, …, 1 failed");
        assert_eq!(failed.fitted(22, "…"), "6 calls: …, 1 failed");
        let one = words(&["ran cargo test --workspace --all-targets"], ": exit 101", " · 4.2 s");
        assert_eq!(one.fitted(44, "…"), "6 calls: ran cargo test -…: exit 101 · 4.2 s");
        assert_eq!(one.fitted(30, "…"), "6 calls: ran cargo …: exit 101");
        assert_eq!(one.fitted(22, "…"), "6 calls: …: exit 101");
    }

    #[test]
    fn numbers_and_times() {
        assert_eq!(
            (seconds(Duration::from_millis(4200)), seconds(Duration::from_secs(130))),
            ("4 s".into(), "2 min".into())
        );
    }

    #[test]
    fn an_answer_in_sentences_has_a_line_for_each_paragraph_and_entry() {
        let answer = "I'll change\nthe catalog.\n\n```rust\nfn a() {}\n```\nThen:\n- the cart,\n  at last\n1. **all**";
        assert_eq!(sentences(answer), "I'll change the catalog.\nThen:\n- the cart, at last\n1. **all**");
        assert_eq!(sentences("# New\n```\ncode\n"), "");
        let table = "Two are slow:\n\n| file | calls |\n|---|---|\n| src/cart.rs | 12 |\n\nI change\nboth.";
        assert_eq!(sentences(table), "Two are slow:\nI change both.");
    }
}
