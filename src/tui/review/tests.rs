use std::sync::Arc;

use super::*;
use crate::proposal::{Counts, FileChange, Proposal, ProposalId, State};
use crate::protocol::{ReviewChange, ReviewRow};
use crate::tui::pane::diff::Standing;
use crate::tui::pane::testing::screen;

fn entry(id: &str) -> ReviewRow {
    let counts = Some(Counts { added: 1, removed: 1 });
    ReviewRow { id: id.into(), title: "a.txt".into(), command: false, files: 1, counts }
}

/// A queue of two turns, the newest of which is shown.
fn review() -> Review {
    let mut review = Review::default();
    let turn = |title: &str, ids: &[&str]| ReviewTurn {
        title: title.into(),
        at: 0,
        entries: ids.iter().map(|id| entry(id)).collect(),
    };
    let turns = vec![turn("first", &["1"]), turn("second", &["2", "3"])];
    let effects = review.answer(&Query::Review, &Listing::Review(turns));
    let ids = vec!["2".to_string(), "3".into()];
    assert_eq!(effects, [PaneEffect::Ask(Query::ReviewChange(ids.clone(), ReviewScope::Net))]);
    let lines = |first: &str, last: &str| {
        let middle: String = (0..20).map(|n| format!("{n}\n")).collect();
        State::file(format!("{first}\n{middle}{last}\n").into_bytes())
    };
    let file = FileChange::new("a.txt", lines("a", "z"), lines("A", "Z"), "", &[]);
    let change = Arc::new(Proposal { id: ProposalId(1), title: String::new(), files: vec![file] });
    let change = ReviewChange { change, aside: Vec::new(), later: Vec::new() };
    review.measure(120, 30);
    review.answer(&Query::ReviewChange(ids, ReviewScope::Net), &Listing::ReviewChange(change));
    review
}

#[test]
fn what_is_restored_is_the_hunks_that_were_not_kept() {
    let mut review = review();
    for action in [Action::Accept, Action::Reject] {
        assert_eq!(review.act(action), ReviewOutcome::Stay(Vec::new()));
    }
    assert!(review.is_decided());
    let ReviewOutcome::Stay(effects) = review.act(Action::Open) else { panic!("it stays") };
    assert!(matches!(effects.as_slice(), [PaneEffect::Line { purpose: LineFor::Reason, .. }]), "{effects:?}");
    let ReviewOutcome::Leave(sent) = review.line(&LineFor::Reason, LineInput::Taken(" not so ")) else {
        panic!("it is sent")
    };
    let Some(Command::Review(verdict)) = sent.iter().find_map(command) else { panic!("{sent:?}") };
    assert_eq!((verdict.ids.as_slice(), verdict.reason.as_str()), (&["2".to_string(), "3".into()][..], "not so"));
    let then = verdict.restored[0].then.text().expect("text");
    assert!(then.starts_with("A\n") && then.ends_with("z\n"), "{then}");
}

#[test]
fn what_is_kept_whole_is_kept_without_a_proposal() {
    let mut review = review();
    review.act(Action::Accept);
    // The first hunk alone decides nothing yet.
    assert!(!review.is_decided());
    assert!(matches!(review.act(Action::Open), ReviewOutcome::Stay(said) if matches!(said[..], [PaneEffect::Say(_)])));
    review.act(Action::Accept);
    let ReviewOutcome::Stay(sent) = review.act(Action::Open) else { panic!("it stays") };
    assert!(matches!(sent.iter().find_map(command), Some(Command::KeepReviewed(ids)) if ids == &["2", "3"]));
}

#[test]
fn the_only_hunk_that_is_kept_is_carried_out_at_once() {
    let mut review = review();
    review.act(Action::Down);
    let state = |text: &str| State::file(text.as_bytes().to_vec());
    let file = FileChange::new("a.txt", state("a\n"), state("b\n"), "", &[]);
    let change = Arc::new(Proposal { id: ProposalId(1), title: String::new(), files: vec![file] });
    let change = ReviewChange { change, aside: Vec::new(), later: Vec::new() };
    review.answer(&Query::ReviewChange(vec!["2".into()], ReviewScope::Single), &Listing::ReviewChange(change));
    assert_eq!(review.act(Action::Reject), ReviewOutcome::Stay(Vec::new()), "a reason is asked for first");
    let ReviewOutcome::Stay(sent) = review.act(Action::Accept) else { panic!("it stays") };
    assert!(matches!(sent.iter().find_map(command), Some(Command::KeepReviewed(ids)) if ids == &["2"]), "{sent:?}");
}

#[test]
fn what_is_decided_of_a_row_stays_while_another_is_looked_at() {
    let mut review = review();
    let change = review.opened.as_ref().expect("shown").page.proposal.clone();
    let answer = |review: &mut Review, ids: &[&str], scope| {
        let ids = ids.iter().map(|id| id.to_string()).collect();
        let change = ReviewChange { change: change.clone(), aside: Vec::new(), later: Vec::new() };
        review.answer(&Query::ReviewChange(ids, scope), &Listing::ReviewChange(change));
        review.opened.as_ref().expect("shown").page.choices.standing(0, 0)
    };
    review.act(Action::Accept);
    review.act(Action::Escape);
    review.act(Action::Down);
    assert_eq!(answer(&mut review, &["2"], ReviewScope::Single), Standing::Undecided);
    assert!(!review.is_staged());
    review.act(Action::Up);
    assert_eq!(answer(&mut review, &["2", "3"], ReviewScope::Net), Standing::Accepted);
    assert!(review.is_staged() && review.left.is_empty());
}

#[test]
fn a_whole_entry_is_restored_with_a_reason() {
    let mut review = review();
    review.act(Action::Down);
    review.act(Action::RejectAll);
    let ReviewOutcome::Leave(sent) = review.line(&LineFor::Reason, LineInput::Taken("")) else { panic!("sent") };
    let wanted = Command::Restore(RestoreRequest::Review { names: vec!["2".into()], reason: String::new() });
    assert_eq!(sent.iter().find_map(command), Some(&wanted));
}

#[test]
fn what_is_said_of_the_rest_leaves_what_was_decided() {
    for (first, rest, kept) in [(Action::Reject, Action::AcceptAll, false), (Action::Accept, Action::RejectAll, true)] {
        let mut review = review();
        review.act(first);
        let ReviewOutcome::Stay(effects) = review.act(rest) else { panic!("it stays") };
        assert!(matches!(effects.as_slice(), [PaneEffect::Line { purpose: LineFor::Reason, .. }]), "{effects:?}");
        let ReviewOutcome::Leave(sent) = review.line(&LineFor::Reason, LineInput::Taken("")) else { panic!("sent") };
        let Some(Command::Review(verdict)) = sent.iter().find_map(command) else { panic!("{sent:?}") };
        let then = verdict.restored[0].then.text().expect("text");
        assert_eq!((then.starts_with("A\n"), then.ends_with("Z\n")), (kept, !kept), "{then}");
    }
}

#[test]
fn an_answer_that_is_late_is_not_shown() {
    let mut review = review();
    review.act(Action::First);
    let change = Arc::new(Proposal { id: ProposalId(1), title: String::new(), files: Vec::new() });
    let late =
        Listing::ReviewChange(ReviewChange { change, aside: vec![("x".into(), "why".into())], later: Vec::new() });
    review.answer(&Query::ReviewChange(vec!["2".into(), "3".into()], ReviewScope::Net), &late);
    assert_eq!(review.note_rows(), 0);
}

/// Answers a review that its second turn has these entries, whose change leaves these of its lines as they were.
fn listed_again(review: &mut Review, ids: &[&str], texts: [&str; 3]) {
    let turn = |title: &str, ids: &[&str]| ReviewTurn {
        title: title.into(),
        at: 0,
        entries: ids.iter().map(|id| entry(id)).collect(),
    };
    let effects = review.answer(&Query::Review, &Listing::Review(vec![turn("second", ids)]));
    let ids: Vec<String> = ids.iter().map(|id| id.to_string()).collect();
    assert_eq!(effects, [PaneEffect::Ask(Query::ReviewChange(ids.clone(), ReviewScope::Net))]);
    let lines = |[first, middle, last]: [&str; 3]| {
        let same: String = (0..10).map(|n| format!("{n}\n")).collect();
        State::file(format!("{first}\n{same}{middle}\n{}{last}\n", same.replace('\n', "!\n")).into_bytes())
    };
    let file = FileChange::new("a.txt", lines(["a", "m", "z"]), lines(texts), "", &[]);
    let change = Arc::new(Proposal { id: ProposalId(1), title: String::new(), files: vec![file] });
    let change = ReviewChange { change, aside: Vec::new(), later: Vec::new() };
    review.answer(&Query::ReviewChange(ids, ReviewScope::Net), &Listing::ReviewChange(change));
}

#[test]
fn what_was_decided_about_the_same_hunks_stays_when_another_program_decides_about_others() {
    let mut review = review();
    listed_again(&mut review, &["2", "3"], ["A", "M", "Z"]);
    review.act(Action::Accept);
    review.act(Action::Accept);
    review.act(Action::Reject);
    // One entry is gone, and the first hunk with it.
    listed_again(&mut review, &["3"], ["a", "M", "Z"]);
    let opened = review.opened.as_ref().expect("shown");
    let standing = |h| opened.page.choices.standing(0, h);
    assert_eq!([standing(0), standing(1)], [Standing::Accepted, Standing::Rejected]);
    assert!(review.in_diff && opened.page.view.focus() == Some((0, 1)), "{:?}", opened.page.view.focus());
    let ReviewOutcome::Stay(effects) = review.act(Action::Open) else { panic!("it stays") };
    assert!(matches!(effects.as_slice(), [PaneEffect::Line { .. }]), "{effects:?}");
    // A hunk that comes while the reason is typed is decided first.
    listed_again(&mut review, &["3"], ["A", "M", "Z"]);
    let typed = review.line(&LineFor::Reason, LineInput::Taken(""));
    assert!(matches!(&typed, ReviewOutcome::Stay(said) if matches!(said[..], [PaneEffect::Say(_)])), "{typed:?}");
    // With the last of its entries it closes.
    review.answer(&Query::Review, &Listing::Review(Vec::new()));
    assert!(review.opened.is_none() && !review.in_diff);
    let typed = review.line(&LineFor::Reason, LineInput::Taken(""));
    assert!(matches!(&typed, ReviewOutcome::Stay(said) if matches!(said[..], [PaneEffect::Say(_)])), "{typed:?}");
}

#[test]
fn nothing_is_restored_once_what_was_rejected_is_gone() {
    let mut review = review();
    listed_again(&mut review, &["2", "3"], ["A", "M", "Z"]);
    for action in [Action::Reject, Action::Accept, Action::Accept] {
        review.act(action);
    }
    let ReviewOutcome::Stay(effects) = review.act(Action::Open) else { panic!("it stays") };
    assert!(matches!(effects.as_slice(), [PaneEffect::Line { .. }]), "{effects:?}");
    listed_again(&mut review, &["3"], ["a", "M", "Z"]);
    let typed = review.line(&LineFor::Reason, LineInput::Taken("not so"));
    assert!(matches!(&typed, ReviewOutcome::Stay(said) if matches!(said[..], [PaneEffect::Say(_)])), "{typed:?}");
}

#[test]
fn the_entries_that_a_reason_is_typed_for_stay_the_same() {
    let mut review = review();
    review.act(Action::RejectAll);
    review.answer(&Query::Review, &Listing::Review(Vec::new()));
    let ReviewOutcome::Leave(sent) = review.line(&LineFor::Reason, LineInput::Taken("")) else { panic!("sent") };
    let names = vec!["2".into(), "3".into()];
    let wanted = Command::Restore(RestoreRequest::Review { names, reason: String::new() });
    assert_eq!(sent.iter().find_map(command), Some(&wanted));
}

#[test]
fn an_entry_shows_its_own_change_and_a_turn_the_net_one() {
    let mut review = review();
    let asked = |effects: &ReviewOutcome| match effects {
        ReviewOutcome::Stay(effects) => match effects.as_slice() {
            [PaneEffect::Ask(Query::ReviewChange(ids, scope))] => Some((ids.concat(), *scope)),
            _ => None,
        },
        ReviewOutcome::Leave(_) => None,
    };
    for (action, ids, scope) in [
        (Action::Down, "2", ReviewScope::Single),
        (Action::NetOrSingle, "2", ReviewScope::Net),
        (Action::Down, "3", ReviewScope::Single),
        (Action::First, "1", ReviewScope::Net),
        (Action::NetOrSingle, "1", ReviewScope::Single),
    ] {
        assert_eq!(asked(&review.act(action)), Some((ids.to_string(), scope)), "{action:?}");
    }
}

#[test]
fn what_cannot_be_shown_says_why_in_its_place() {
    let mut review = review();
    review.act(Action::Down);
    let failed = Listing::Failed("the changeset is gone".into());
    review.answer(&Query::ReviewChange(vec!["3".into()], ReviewScope::Single), &failed);
    assert!(review.opened.is_some(), "it is late");
    review.answer(&Query::ReviewChange(vec!["2".into()], ReviewScope::Single), &failed);
    let text = screen(120, 30, "dark", false, |area, buf, ctx| review.draw(area, buf, true, ctx)).text();
    assert!(text.contains("the changeset is gone"), "{text}");
}

#[test]
fn the_repository_and_folders_are_a_hunk_each() {
    let mut review = review();
    review.act(Action::Down);
    let folder = |path: &str, before, after| FileChange::new(path, before, after, "", &[]);
    let there = || State::Folder { mode: 0o755 };
    let many = FileChange { unit: Some("a folder with 1,100 files".into()), ..folder("big/", State::Absent, there()) };
    let shut = folder("./", there(), State::Folder { mode: 0o700 });
    let files = vec![FileChange::of_repository("HEAD".into()), shut, many, folder("old/", there(), State::Absent)];
    let change = Arc::new(Proposal { id: ProposalId(1), title: String::new(), files });
    let change = ReviewChange { change, aside: Vec::new(), later: Vec::new() };
    review.answer(&Query::ReviewChange(vec!["2".into()], ReviewScope::Single), &Listing::ReviewChange(change));
    for action in [Action::Reject, Action::Reject, Action::Reject, Action::Accept] {
        assert!(!matches!(review.act(Action::Open), ReviewOutcome::Leave(_)));
        review.act(action);
    }
    review.act(Action::Open);
    let ReviewOutcome::Leave(sent) = review.line(&LineFor::Reason, LineInput::Taken("")) else { panic!("sent") };
    let Some(Command::Review(verdict)) = sent.iter().find_map(command) else { panic!("{sent:?}") };
    let restored: Vec<_> = verdict.restored.iter().map(|file| (file.path.as_str(), file.is_whole)).collect();
    assert_eq!(restored, [(".git", true), ("./", false), ("big/", true)]);
    assert_eq!(verdict.restored[1].then, there());
}

fn command(effect: &PaneEffect) -> Option<&Command> {
    match effect {
        PaneEffect::Run(crate::tui::msg::Effect::Send(command)) => Some(command),
        _ => None,
    }
}

#[test]
fn the_wheel_scrolls_what_is_under_it() {
    let mut review = review();
    review.measure(120, 6);
    let top = |review: &Review| review.opened.as_ref().map(|opened| opened.page.view.top());
    let (at, before) = (review.at, top(&review));
    assert_eq!(review.wheel(100, Action::Down), []);
    assert_eq!((review.at, top(&review)), (at, before.map(|top| top + 1)));
    review.wheel(2, Action::Up);
    assert_ne!(review.at, at);
    assert!(!review.in_diff);
}
