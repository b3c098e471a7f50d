//! The result of a call that changes files, in words: for the screen, and for the model, hunk by hunk where it differs.

use std::collections::HashSet;

use crate::agent::change::execute_proposal::ProposalResult;
use crate::agent::turn::step::syntax::BrokenFiles;
use crate::edit::{self, Edit, EditResult, Op, UNCHANGED};
use crate::proposal::{
    Choice, Decision, FileChange, FileDecision, HunkCount, HunkKind, MergeRung, MergedFile, Proposal,
};
use crate::protocol::{CallState, Outcome};
use crate::text::number::plural;
use crate::tools::drift;
use crate::workspace::holds_secrets;

/// The reason of what the person rejected without words, as the screen shows it.
pub const REJECTED: &str = "you rejected this";

/// The result of a call whose changes were made before it.
pub const MADE: &str = "already done";

/// The result of a call whose changes someone else made meanwhile.
const THERE: &str = "already there";

/// Begins the entry for a merge among the names of files that were told already; no file has such a name.
const MERGED: &str = "\0merged ";

/// The things that one call of a proposal reports for all of them.
#[derive(Default)]
pub struct Reported {
    /// The files of which the whole new text was told, and other things that were.
    pub said: HashSet<String>,
    /// The files that do not parse any more, and are not told yet.
    pub broken: BrokenFiles,
    /// The files that were changed in this turn, or were to be by this proposal.
    pub changed: HashSet<String>,
    /// The files of this proposal that were written.
    pub written: HashSet<String>,
    /// The person asks for no change: one that is none answers it.
    pub is_question: bool,
}

impl Reported {
    /// Returns whether an edit was made before, in this turn.
    pub fn stands(&self, result: &EditResult) -> bool {
        result.status == edit::EditStatus::Made && self.changed.contains(&result.path)
    }

    /// Returns whether the model must answer to an edit that changes nothing and was not made in this turn: it believes that
    /// it changed something. One that changed a file only repeats others beside it, or the same one as it was.
    pub fn is_in_vain(&self, edit: &Edit, result: &EditResult) -> bool {
        let is_no_change = matches!(result.status, edit::EditStatus::Same | edit::EditStatus::Made);
        let is_whole = matches!(edit.op, Op::Write { .. } | Op::Overwrite { .. });
        let is_repeated = !self.written.is_empty() && (is_whole || !self.written.contains(&result.path));
        is_no_change && !self.is_question && !is_repeated && !self.stands(result)
    }

    /// Returns what the model is told of how its edits were placed; `is_text`: they are written in its text.
    pub fn placed(&self, edits: &[Edit], results: &[EditResult], is_text: bool) -> String {
        let text = |(edit, result): (&Edit, &EditResult)| match result.status {
            edit::EditStatus::Same if (is_text || self.is_question) && !self.is_in_vain(edit, result) => {
                format!("{}: {UNCHANGED}", result.path)
            }
            _ => result.text(),
        };
        edits.iter().zip(results).map(text).collect::<Vec<_>>().join("\n")
    }
}

/// The outcome of one call.
pub struct Verdict {
    /// Its state on the screen.
    pub state: CallState,
    /// The result in a word or two, for the screen.
    pub summary: String,
    /// The reason why it was not done, for the screen.
    pub reason: Option<String>,
    /// Its hunks, where they were decided.
    pub hunks: Option<HunkCount>,
    /// The result for the model; `None`: how its edits were placed is enough.
    pub for_model: Option<String>,
    /// True if all that was accepted of it was there already: nothing was written.
    pub is_there: bool,
}

impl Verdict {
    fn new(state: CallState, summary: &str, reason: Option<String>, for_model: Option<String>) -> Self {
        Verdict { state, summary: summary.into(), reason, hunks: None, for_model, is_there: false }
    }
}

/// Returns how a call ended by the result of the proposal that its edits are in; none: nothing was proposed. `said`
/// holds the files of which the whole new text was told already.
pub fn verdict(
    results: &[EditResult],
    result_of_proposal: Option<(&Proposal, &ProposalResult)>,
    said: &mut HashSet<String>,
) -> Verdict {
    let is_made = |r: &EditResult| r.status == edit::EditStatus::Made;
    let decides = |(proposal, _): &(&Proposal, _)| results.iter().any(|r| is_open(r, proposal));
    let Some((proposal, result_of_proposal)) = result_of_proposal.filter(decides) else {
        // It changes nothing.
        let summary = if results.iter().any(is_made) { MADE } else { "no change" };
        return Verdict::new(CallState::Done, summary, None, None);
    };
    let refused = |reason: &str, for_model: &str| {
        Verdict::new(CallState::Refused, "", Some(reason.into()), Some(for_model.into()))
    };
    match &result_of_proposal.outcome {
        Outcome::Withdrawn if result_of_proposal.went_back() => refused(
            "its test failed",
            "Not written, and not decided: the proposal was tested first. Fix what fails and propose the whole change again; where it is right as it is, say so, and the person decides.",
        ),
        // Its state says already that it was interrupted.
        Outcome::Withdrawn => {
            Verdict::new(CallState::Interrupted, "", None, Some("Not written: interrupted by the user.".into()))
        }
        Outcome::Conflict { path, expected, found } => {
            // What stands in a file that may hold keys is for the person to send.
            let drift = drift::since_read(expected, found).filter(|_| !holds_secrets(path));
            let drift = drift.map_or(String::new(), |drift| format!(" {drift}"));
            refused(
                &format!("{path} changed on disk"),
                &format!(
                    "Not written: {path} changed on disk after it was read. Nothing of this proposal was written. Read the file again, then edit.{drift}"
                ),
            )
        }
        Outcome::Failed(why) => {
            let for_model = format!("Not written: {why}. Read the files again before the next edit.");
            Verdict::new(CallState::Failed, "failed", Some(why.clone()), Some(for_model))
        }
        Outcome::Applied { .. } | Outcome::Refused => {
            let Some(decision) = &result_of_proposal.decision else { return refused("refused", "Not written.") };
            let verdict = decided(results, proposal, decision, &|path| result_of_proposal.is_there(path), said);
            if results.iter().all(is_made) && verdict.state == CallState::Done && verdict.reason.is_none() {
                return Verdict { is_there: true, ..Verdict::new(CallState::Done, MADE, None, None) };
            }
            with_merged(verdict, results, result_of_proposal.merged(), said)
        }
    }
}

/// Returns whether a proposal decides of an edit: of one that another edit in it makes, too.
pub fn is_open(result: &EditResult, proposal: &Proposal) -> bool {
    match result.status {
        edit::EditStatus::Placed(_) => true,
        edit::EditStatus::Made => proposal.files.iter().any(|file| file.path == result.path),
        _ => false,
    }
}

/// Adds the files of this call into which it was merged, and what others had changed in them.
fn with_merged<'a>(
    mut verdict: Verdict,
    results: &[EditResult],
    merged: impl Iterator<Item = &'a MergedFile>,
    said: &mut HashSet<String>,
) -> Verdict {
    // What was rejected was merged into nothing.
    if verdict.state != CallState::Done {
        return verdict;
    }
    for (n, file) in merged.enumerate().filter(|(_, file)| results.iter().any(|result| result.path == file.path)) {
        let how = file.rung.said();
        if file.rung != MergeRung::There && !verdict.summary.contains(how) {
            let gap = if verdict.summary.is_empty() { "" } else { ", " };
            verdict.summary.push_str(&format!("{gap}{how}"));
        }
        let told = match said.insert(format!("{MERGED}{n} {}", file.path)) {
            true => merge_note(file).0,
            false => format!("{}: merged together with the call before", file.path),
        };
        let lines: Vec<String> = verdict.for_model.take().into_iter().chain([told]).collect();
        verdict.for_model = Some(lines.join("\n"));
    }
    verdict
}

/// Returns what the model is told of a file into which its edit was merged; the second: it knows the whole file then.
pub fn merge_note(file: &MergedFile) -> (String, bool) {
    let (path, how) = (&file.path, file.rung.word());
    let Some((others, is_all)) = drift::beside_edit(&file.alone, &file.after) else {
        let same = format!("{path} changed on disk after it was read, by the same edit: nothing else in it differs.");
        return (same, true);
    };
    // What stands in a file that may hold keys is for the person to send.
    let is_secret = holds_secrets(path);
    let is_known = is_all && !is_secret;
    let again = if is_known { "" } else { " Read it again before you rely on its text." };
    let others = if is_secret { String::new() } else { format!(" {others}") };
    let edit = match file.rung {
        MergeRung::There => "All of your edit is in it already".to_string(),
        _ => format!("Your edit was merged into it (by {how})"),
    };
    let note =
        format!("{path} changed on disk after it was read. {edit}, and the rest is as it was on disk.{again}{others}");
    (note, is_known)
}

/// Returns what was decided of the files that this call changes, hunk by hunk.
fn decided(
    results: &[EditResult],
    proposal: &Proposal,
    decision: &Decision,
    is_there: &dyn Fn(&str) -> bool,
    said: &mut HashSet<String>,
) -> Verdict {
    let (mut accepted, mut rejected, mut there, mut lines) = (0, 0, 0, Vec::new());
    let mut reasons = Vec::new();
    for (f, (file, choices)) in proposal.files.iter().zip(decision.files()).enumerate() {
        let mine = results.iter().any(|r| r.path == file.path || file.moved.as_deref() == Some(&r.path));
        if !mine {
            continue;
        }
        let own = own_hunks(file, results);
        let taken = own.iter().filter(|i| choices.hunks[**i] == Choice::Accept || choices.edited.is_some()).count();
        accepted += taken;
        rejected += own.len() - taken;
        let is_there = is_there(&file.path);
        there += if is_there { taken } else { 0 };
        if is_there && taken > 0 {
            lines.push(format!("{}: {THERE}; nothing was written{}", file.path, rejected_beside(choices, &own)));
        } else if choices.edited.is_some() && !said.insert(file.path.clone()) {
            lines.push(format!("{}: decided together with the call before", file.path));
        } else {
            lines.push(file_decision(file, choices, &own));
        }
        for comment in decision.comments.iter().filter(|comment| comment.file == f && own.contains(&comment.hunk)) {
            lines.push(format!("The person says of {}: {}", comment.place, comment.text));
            let is_rejected = choices.edited.is_none() && choices.hunks[comment.hunk] == Choice::Reject;
            reasons.extend(is_rejected.then_some(comment.text.as_str()));
        }
    }
    let words = words(decision);
    match words {
        Some(words) if rejected > 0 => lines.push(format!("The reason: {words}")),
        // What was written while deciding is told also where everything was accepted; else the rejected calls tell it.
        Some(words) if decision.files().iter().all(|file| !file.hunks.contains(&Choice::Reject)) => {
            lines.push(format!("The person says: {words}"));
        }
        Some(_) => {}
        None if rejected > 0 && reasons.is_empty() => {
            lines.push("The person gave no reason. Do not send the same change again; ask, or go on without it.".into())
        }
        None => {}
    }
    let is_there = accepted > 0 && there == accepted;
    let (state, summary) = match (accepted, rejected) {
        _ if is_there => (CallState::Done, THERE.into()),
        (_, 0) => (CallState::Done, String::new()),
        (0, _) => (CallState::Refused, "rejected".into()),
        (a, r) => (CallState::Done, written(a, a + r)),
    };
    reasons.extend(words);
    reasons.extend(Some(REJECTED).filter(|_| reasons.is_empty()));
    let reason = (rejected > 0).then(|| reasons.join("\n"));
    let hunks = Some(HunkCount { accepted, rejected });
    Verdict { hunks, is_there, ..Verdict::new(state, &summary, reason, Some(lines.join("\n"))) }
}

/// Returns what the person wrote while deciding, if anything.
pub fn words(decision: &Decision) -> Option<&str> {
    decision.reason.as_deref().map(str::trim).filter(|words| !words.is_empty())
}

/// Returns all that the person wrote while deciding: the words for the whole, and those for single hunks; empty: nothing.
pub fn remarks(decision: &Decision) -> String {
    let comments = decision.comments.iter().map(|comment| format!("{}: {}", comment.place, comment.text));
    words(decision).map(str::to_string).into_iter().chain(comments).collect::<Vec<_>>().join("\n")
}

/// Returns how much of a call was written, in words.
pub fn written(accepted: usize, all: usize) -> String {
    match (accepted, all) {
        (0, 1) => "not written".into(),
        (1, 1) => "written".into(),
        (accepted, all) => format!("{accepted} of {} written", plural(all, "hunk")),
    }
}

/// Returns the hunks of a file in which the edits of one call had a part, by index. Where none is left that names them
/// (a later edit rewrote their lines), they stand and fall with the whole file.
pub fn own_hunks(file: &FileChange, results: &[EditResult]) -> Vec<usize> {
    let mine = |hunk: &crate::proposal::Hunk| results.iter().any(|r| hunk.edits.contains(&r.index));
    let own: Vec<usize> = (0..file.hunks.len()).filter(|i| mine(&file.hunks[*i])).collect();
    if own.is_empty() { (0..file.hunks.len()).collect() } else { own }
}

/// Returns the hunks that were rejected beside those that are there already, in words.
fn rejected_beside(said: &FileDecision, own: &[usize]) -> String {
    let is_rejected = |i: &&usize| said.edited.is_none() && said.hunks[**i] == Choice::Reject;
    let rejected: Vec<String> = own.iter().filter(is_rejected).map(|i| format!("hunk {}", i + 1)).collect();
    if rejected.is_empty() { String::new() } else { format!("; rejected: {}", rejected.join(", ")) }
}

/// Returns what was decided of the hunks `own` of one file, in words: hunk by hunk unless all is the same.
fn file_decision(file: &FileChange, said: &FileDecision, own: &[usize]) -> String {
    let path = &file.path;
    if let Some(edited) = &said.edited {
        let text = String::from_utf8_lossy(edited);
        return format!(
            "{path}: the person changed the result before accepting it. It now reads:\n```\n{}\n```",
            text.trim_end()
        );
    }
    let mine = uniform(own.iter().map(|i| said.hunks[*i]));
    if uniform(said.hunks.iter().copied()) == Some(Choice::Reject) {
        return format!("{path}: {}: it was rejected; the file stays as it was", written(0, said.hunks.len()));
    }
    if mine == Some(Choice::Accept) {
        let counts = format!(" (+{} −{})", file.counts.added, file.counts.removed);
        return format!("{path}: written{}", if own.len() == file.hunks.len() { &counts } else { "" });
    }
    let hunks = own.iter().map(|&i| {
        let (hunk, choice) = (&file.hunks[i], said.hunks[i]);
        let word = if choice == Choice::Accept { "written" } else { "rejected, these lines stay as they were" };
        let place = match hunk.kind {
            HunkKind::Lines => {
                format!("lines {}-{} of before", hunk.before.start + 1, hunk.before.end.max(hunk.before.start + 1))
            }
            _ => "the whole file".into(),
        };
        format!("  hunk {} ({place}): {word}", i + 1)
    });
    let accepted = own.iter().filter(|i| said.hunks[**i] == Choice::Accept).count();
    let what = written(accepted, own.len());
    format!("{path}: {what}:\n{}", hunks.collect::<Vec<_>>().join("\n"))
}

/// Returns the one choice that all have, if there is one.
fn uniform(mut choices: impl Iterator<Item = Choice>) -> Option<Choice> {
    let first = choices.next()?;
    choices.all(|c| c == first).then_some(first)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proposal::{Consent, HunkComment, PlaceMatch, Placed, ProposalId, Rung, State};

    #[test]
    fn a_comment_goes_to_the_call_that_owns_its_hunk_and_names_it() {
        let found = PlaceMatch { rung: Rung::Exact, detail: None };
        let placed = |after, edit| Placed { after, found: found.clone(), edit: Some(edit) };
        let (before, after) = (*b"a\nb\nc\nd\ne\nf\n", *b"A\nb\nc\nd\ne\nF\n");
        let placed = [placed(0..2, 0), placed(10..12, 1)];
        let file = FileChange::new("a.rs", State::file(before), State::file(after), "edit", &placed);
        let proposal = Proposal { id: ProposalId(1), title: String::new(), files: vec![file] };
        let of_call = |index, choices: [Choice; 2]| {
            let status = edit::EditStatus::Placed(found.clone());
            let results = [EditResult { index, path: "a.rs".into(), format: edit::Format::TOOLS, status }];
            let said = FileDecision { hunks: choices.to_vec(), edited: None };
            let mut decision = Decision::new(vec![said], Consent::Person);
            let place = proposal.place(0, 1);
            decision.comments = vec![HunkComment { file: 0, hunk: 1, place, text: "why F?".into() }];
            let verdict = decided(&results, &proposal, &decision, &|_| false, &mut HashSet::new());
            (verdict.for_model.unwrap_or_default(), verdict.reason)
        };
        let (first, _) = of_call(0, [Choice::Accept; 2]);
        let (second, _) = of_call(1, [Choice::Accept; 2]);
        assert!(!first.contains("why F?"), "{first}");
        assert!(second.ends_with("The person says of a.rs:6: why F?"), "{second}");
        // It is the reason of its own hunk, and of no other.
        let (first, reason) = of_call(0, [Choice::Reject; 2]);
        assert!(first.contains("gave no reason") && reason.as_deref() == Some(REJECTED), "{first}");
        let (second, reason) = of_call(1, [Choice::Reject; 2]);
        assert!(!second.contains("gave no reason") && reason.as_deref() == Some("why F?"), "{second}");
    }

    #[test]
    fn what_the_person_wrote_is_reported_also_where_all_is_accepted() {
        let found = PlaceMatch { rung: Rung::Exact, detail: None };
        let placed = [Placed { after: 0..4, found: found.clone(), edit: Some(0) }];
        let file = FileChange::new("a.rs", State::file(*b"one\n"), State::file(*b"two\n"), "edit", &placed);
        let status = edit::EditStatus::Placed(found);
        let results = [EditResult { index: 0, path: "a.rs".into(), format: edit::Format::TOOLS, status }];
        let proposal = Proposal { id: ProposalId(1), title: String::new(), files: vec![file] };
        let text_of = |choice: Choice, reason: Option<&str>| {
            let said = FileDecision { hunks: vec![choice], edited: None };
            let mut decision = Decision::new(vec![said], Consent::Person);
            decision.reason = reason.map(String::from);
            decided(&results, &proposal, &decision, &|_| false, &mut HashSet::new()).for_model.unwrap_or_default()
        };
        assert!(text_of(Choice::Accept, Some(" name it total ")).ends_with("The person says: name it total"));
        assert!(text_of(Choice::Reject, Some("too long")).ends_with("The reason: too long"));
        assert!(!text_of(Choice::Accept, None).contains("The person"));
        // What someone else has written meanwhile was not written here.
        let said = FileDecision { hunks: vec![Choice::Accept], edited: None };
        let decision = Decision::new(vec![said], Consent::Person);
        let verdict = decided(&results, &proposal, &decision, &|path| path == "a.rs", &mut HashSet::new());
        assert_eq!((verdict.summary.as_str(), verdict.is_there), ("already there", true));
        assert_eq!(verdict.for_model.as_deref(), Some("a.rs: already there; nothing was written"));
    }

    #[test]
    fn a_file_that_is_repeated_beside_a_change_raises_no_question() {
        let status = edit::EditStatus::Same;
        let same = EditResult { index: 0, path: "a.rs".into(), format: edit::Format::WHOLE, status };
        let whole = Edit::new("a.rs", Op::Overwrite { content: "a\n".into() }, edit::Format::WHOLE, "whole");
        let part = Edit { op: Op::Hunks(Vec::new()), ..whole.clone() };
        let beside = |paths: &[&str]| {
            let written = paths.iter().map(|path| path.to_string()).collect();
            Reported { written, ..Reported::default() }
        };
        for (edit, written, is_in_vain) in [
            (&whole, beside(&[]), true),
            (&whole, beside(&["b.rs"]), false),
            (&whole, beside(&["a.rs"]), false),
            (&part, beside(&["b.rs"]), false),
            (&part, beside(&["a.rs"]), true),
        ] {
            assert_eq!(written.is_in_vain(edit, &same), is_in_vain, "{:?} {edit:?}", written.written);
            let told = written.placed(std::slice::from_ref(edit), std::slice::from_ref(&same), true);
            assert_eq!(told.contains("Send it again"), is_in_vain, "{told}");
            // Who only asks something wants none.
            let asked = Reported { is_question: true, ..written };
            assert!(!asked.is_in_vain(edit, &same));
            let told = asked.placed(std::slice::from_ref(edit), std::slice::from_ref(&same), false);
            assert!(!told.contains("Send it again"), "{told}");
        }
    }
}
