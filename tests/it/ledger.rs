//! The screen's account of the session's changes and of its jobs.

use std::sync::Arc;

use nebula::protocol::*;
use nebula::tui::app::Effect;

use crate::scenes::*;

fn archived() -> EventBody {
    let changeset = Changeset {
        id: "0199".into(),
        at: 0,
        cause: "cargo fmt".into(),
        by: "nebula".into(),
        session: None,
        merged: None,
        files: Vec::new(),
        definitions: Vec::new(),
    };
    EventBody::Archived(changeset)
}

/// A session in which something was said: before that there is no ledger.
fn open(stage: &mut Stage) {
    stage.tell(opened(status()));
    stage.item(Item::User { text: "Format it.".into(), at: 0, attached: Vec::new() });
}

fn count_queries(stage: &Stage) -> usize {
    let asks = |e: &&Effect| matches!(e, Effect::Send(Command::Ask(_, Query::SessionDiff)));
    stage.effects.iter().filter(asks).count()
}

#[test]
fn what_a_command_changed_is_counted() {
    let mut stage = Stage::new(140, 50, "dark");
    open(&mut stage);
    assert!(stage.text().contains("changed nothing"), "{}", stage.text());
    stage.tell(archived());
    assert_eq!(count_queries(&stage), 1);
    let files = proposal().files.len();
    stage.answer(|q| *q == Query::SessionDiff, Listing::SessionDiff(Some(Arc::new(proposal()))));
    assert!(stage.text().contains(&format!("changed {files} files")), "{}", stage.text());
    // What cannot be told is not told as nothing.
    stage.tell(archived());
    stage.answer(|q| *q == Query::SessionDiff, Listing::Failed("the archive cannot be read".into()));
    let screen = stage.text();
    assert!(!screen.contains(" changed ") && screen.contains("the archive cannot be read"), "{screen}");
}

#[test]
fn definitions_that_were_changed_are_counted_and_the_key_of_the_diff_leads_to_them() {
    let mut stage = Stage::new(140, 50, "dark");
    open(&mut stage);
    let changed = |id: &str, by: &str, session: &str, definitions: &[&str]| {
        let EventBody::Archived(changeset) = archived() else { panic!("it is one") };
        let definitions = definitions.iter().map(|name| name.to_string()).collect();
        let (id, by, session) = (id.to_string(), by.to_string(), Some(session.to_string()));
        EventBody::Archived(Changeset { id, by, session, definitions, ..changeset })
    };
    stage.tell(changed("01", "strand", "another", &["slot.z"]));
    assert!(stage.text().contains("changed nothing"), "{}", stage.text());
    stage.tell(changed("02", "strand", "0198", &["slot.a", "slot.b"]));
    stage.tell(changed("03", "strand", "0198", &["slot.a"]));
    stage.answer(|q| *q == Query::SessionDiff, Listing::SessionDiff(None));
    assert!(stage.text().contains("changed 2 definitions"), "{}", stage.text());
    stage.keys("<f2>");
    assert!(stage.text().contains("no file, but 2 definitions: F3 shows the archive"), "{}", stage.text());
    stage.tell(changed("04", "undo", "0198", &["slot.b"]));
    assert!(stage.text().contains("changed 1 definition "), "{}", stage.text());
}

#[test]
fn what_the_person_rejected_did_not_fail() {
    let mut stage = Stage::new(140, 50, "dark");
    open(&mut stage);
    stage.item(Item::Call(call("runCommand", "rm -rf target", CallState::Refused)));
    assert!(stage.text().contains("failed 0"), "{}", stage.text());
    stage.item(Item::Call(call("readFile", "a.rs", CallState::Failed)));
    assert!(stage.text().contains("failed 1"), "{}", stage.text());
    stage.keys("<f4>f");
    let screen = stage.text();
    assert!(screen.contains("1 failed only") && screen.contains("a.rs"), "{screen}");
    assert_eq!(screen.matches("rm -rf target").count(), 1, "the chat alone tells of it: {screen}");
}

#[test]
fn a_new_session_shows_nothing_of_the_one_before() {
    let mut stage = Stage::new(140, 50, "dark");
    open(&mut stage);
    stage.tell(archived());
    stage.tell(archived());
    open(&mut stage);
    stage.answer(|q| *q == Query::SessionDiff, Listing::SessionDiff(Some(Arc::new(proposal()))));
    assert!(stage.text().contains("changed nothing"), "{}", stage.text());
    assert_eq!(count_queries(&stage), 1, "nothing is asked on behalf of the old session");
}

#[test]
fn leaving_names_the_jobs_that_end_with_it() {
    let jobs = |jobs| EventBody::Status(Status { jobs, ..status() });
    let mut stage = Stage::new(140, 50, "dark");
    stage.tell(opened(status()));
    stage.tell(jobs(2));
    stage.keys("<ctrl-c>");
    assert!(stage.text().contains("2 jobs end with nebula"), "{}", stage.text());
    let quits = |stage: &Stage| stage.effects.iter().any(|e| matches!(e, Effect::Quit(_)));
    let quit = |stage: &mut Stage| stage.keys("/quit<enter>");
    quit(&mut stage);
    assert!(!quits(&stage) && stage.text().contains("2 jobs end with nebula"), "{}", stage.text());
    // Another job is another question, and so is the same number of new ones.
    stage.tell(jobs(3));
    quit(&mut stage);
    assert!(!quits(&stage) && stage.text().contains("3 jobs end with nebula"), "{}", stage.text());
    stage.tell(jobs(0));
    stage.tell(jobs(3));
    quit(&mut stage);
    assert!(!quits(&stage), "{}", stage.text());
    quit(&mut stage);
    assert!(quits(&stage));
}

/// The time beside a call that runs is its own, not that of the step, which began with the request.
#[test]
fn the_time_beside_a_running_call_is_its_own() {
    let mut stage = Stage::new(140, 50, "dark");
    stage.tell(opened(status()));
    stage.tell(EventBody::TurnStarted(TurnId(1)));
    stage.tell(EventBody::Step(1));
    stage.wait(2_000);
    stage.item(Item::Call(call("runCommand", "sleep 4", CallState::Running)));
    stage.wait(1_000);
    let text = stage.text();
    let line = text.lines().find(|line| line.contains("step 1 ·")).unwrap_or_default();
    assert!(line.contains("sleep 4 · 1 s"), "{text}");
}
