//! The interaction of a person with nebula beside the conversation: a question about a hunk, all that the session
//! changed, a session that is read again as it was, and line mode.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command as Process, Stdio};
use std::sync::Arc;

use nebula::proposal::{Choice, Consent, Decision, HunkCount, Proposal, State};
use nebula::protocol::{
    Call, Command, Comment, EventBody, Item, Listing, Outcome, ProposalEvent, Query, QueryId, RestoreRequest,
    SessionChoice, TurnEnd, UndoneChange,
};
use nebula::provider::{Delta, EndReason};
use nebula::tui::app::Effect;
use ratatui::buffer::Buffer;
use serde_json::json;

use crate::scenes::Stage;
use crate::session::{calls_of, check_protocol, replace, results};
use crate::support::world::{Live, World, call, calls, say};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hunk_can_be_questioned_while_its_proposal_waits() {
    let world = World::new().file("a.txt", "one\ntwo\n").model([
        calls(&[replace("a.txt", "two", "2")]),
        say("Because the others are numbers."),
        say("Done."),
    ]);
    let mut live = world.start();
    live.submit("numbers");
    let proposal = live.proposal().await;
    let comment = Comment { file: 0, hunk: 0, text: "why a number?".into() };
    live.send(Command::Comment(proposal.id, comment.clone()));
    let answer = live
        .until(|e| match e {
            EventBody::Proposal(ProposalEvent::CommentAnswer(id, about, text)) => {
                Some((*id, about.clone(), text.clone()))
            }
            _ => None,
        })
        .await;
    assert_eq!(answer, (proposal.id, comment, "Because the others are numbers.".into()));
    // The model was asked beside the conversation, with the calls that wait; nothing was written.
    let prompt_text = live.requests()[1].messages.last().expect("a message").text().into_owned();
    assert!(
        prompt_text.contains("not decided yet") && prompt_text.contains("hunk 1 (a.txt, lines 2-2): why a number?"),
        "{prompt_text}"
    );
    assert_eq!(world.read("a.txt"), "one\ntwo\n");
    live.send(Command::Decide(proposal.id, Decision::accept(&proposal, Consent::Person)));
    assert_eq!(live.end().await, TurnEnd::Done);
    assert_eq!(world.read("a.txt"), "one\n2\n");
    // The result tells what was asked and answered; the chat keeps both.
    let results_text = results(&live);
    assert!(
        results_text[0].contains("a.txt: written")
            && results_text[0].contains("the person asked: a.txt:2: why a number?"),
        "{results_text:?}"
    );
    assert_eq!(live.requests()[2].messages.len(), 3);
    let stored_comment = calls_of(&live.events).into_values().find_map(|call| call.comments.first().cloned());
    assert_eq!(stored_comment, Some(("a.txt:2: why a number?".into(), "Because the others are numbers.".into())));
    check_protocol(&live);
}

/// What was asked stays with the decision, also where no answer came.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_question_about_a_hunk_is_kept_without_an_answer() {
    let world =
        World::new().file("a.txt", "one\ntwo\n").model([calls(&[replace("a.txt", "two", "2")]), say(""), say("Done.")]);
    let mut live = world.start();
    live.submit("numbers");
    let proposal = live.proposal().await;
    let comment = Comment { file: 0, hunk: 0, text: "why a number?".into() };
    live.send(Command::Comment(proposal.id, comment));
    let answered = |event: &EventBody| match event {
        EventBody::Proposal(ProposalEvent::CommentAnswer(_, _, text)) => Some(text.clone()),
        _ => None,
    };
    assert_eq!(live.until(answered).await, "");
    live.send(Command::Decide(proposal.id, Decision::accept(&proposal, Consent::Person)));
    assert_eq!(live.end().await, TurnEnd::Done);
    let told = results(&live);
    assert!(told[0].contains("the person asked: a.txt:2: why a number?\nYou gave no answer."), "{told:?}");
    let stored = calls_of(&live.events).into_values().find_map(|call| call.comments.first().cloned());
    assert_eq!(stored, Some(("a.txt:2: why a number?".into(), String::new())));
    check_protocol(&live);
}

async fn changed(live: &mut Live, number: u64) -> Option<Arc<Proposal>> {
    live.send(Command::Ask(QueryId(number), Query::SessionDiff));
    live.until(|e| match e {
        EventBody::Answer(id, Listing::SessionDiff(changed)) if *id == QueryId(number) => Some(changed.clone()),
        _ => None,
    })
    .await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn all_that_a_session_changed_is_one_diff_that_can_be_undone_in_parts() {
    let text = "one\n1\n2\n3\n4\n5\ntwo\n";
    let world = World::new().file("a.txt", text).file("b.txt", "b\n").model([
        calls(&[replace("a.txt", "one", "ONE")]),
        calls(&[replace("a.txt", "two", "TWO"), replace("b.txt", "b", "B")]),
        say("Done."),
    ]);
    let mut live = world.start();
    assert_eq!(changed(&mut live, 1).await, None);
    live.submit("shout");
    live.decide(Choice::Accept).await;
    live.decide(Choice::Accept).await;
    assert_eq!(live.end().await, TurnEnd::Done);
    let all = changed(&mut live, 2).await.expect("a diff");
    let of = |path: &str| all.files.iter().find(|f| f.path == path).expect("the file").clone();
    let a = of("a.txt");
    assert_eq!((a.before.text(), a.after.text()), (Some(text), Some("ONE\n1\n2\n3\n4\n5\nTWO\n")));
    assert_eq!((a.hunks.len(), of("b.txt").counts.added), (2, 1));
    // One hunk: a proposal like any other.
    let then = State::file("one\n1\n2\n3\n4\n5\nTWO\n".as_bytes());
    let request = RestoreRequest::State { path: "a.txt".into(), now: Box::new(a.after.clone()), then: Box::new(then) };
    live.send(Command::Restore(request));
    live.decide(Choice::Accept).await;
    settled(&mut live).await;
    assert_eq!(world.read("a.txt"), "one\n1\n2\n3\n4\n5\nTWO\n");
    // Text that changed meanwhile is not written over.
    world.write("b.txt", "mine\n");
    let b = of("b.txt");
    let request = RestoreRequest::State {
        path: "b.txt".into(),
        now: Box::new(b.after.clone()),
        then: Box::new(b.before.clone()),
    };
    live.send(Command::Restore(request));
    live.decide(Choice::Accept).await;
    assert!(matches!(settled(&mut live).await, Outcome::Conflict { .. }));
    assert_eq!(world.read("b.txt"), "mine\n");
    world.write("b.txt", "B\n");
    // The file's last call.
    live.send(Command::Restore(RestoreRequest::Origin { path: "b.txt".into(), lines: None, turn: false }));
    live.decide(Choice::Accept).await;
    settled(&mut live).await;
    assert_eq!((world.read("a.txt").contains("TWO"), world.read("b.txt").as_str()), (true, "b\n"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_undo_in_the_sessions_diff_says_which_files_someone_else_changed() {
    let world = World::new()
        .file("a.txt", "one\n1\n2\n3\n4\n5\n")
        .approve("edits")
        .model([calls(&[replace("a.txt", "one", "ONE")]), say("Done.")]);
    let mut live = world.start();
    live.submit("shout");
    assert_eq!(live.end().await, TurnEnd::Done);
    let part = |world: &World, then: &str| RestoreRequest::State {
        path: "a.txt".into(),
        now: Box::new(State::file(world.read("a.txt").as_bytes())),
        then: Box::new(State::file(then.as_bytes())),
    };
    let call = RestoreRequest::Origin { path: "a.txt".into(), lines: Some(0..1), turn: false };
    for (text, foreign) in [("ONE\n1\n2\n3\n4\n5\n", false), ("ONE\n1\n2\n3\n4\nmine\n", true)] {
        world.write("a.txt", text);
        for request in [part(&world, "one\n1\n2\n3\n4\n5\n"), call.clone()] {
            live.send(Command::Restore(request));
            let proposal = live.proposal().await;
            assert_eq!(proposal.files.iter().map(|file| file.foreign).collect::<Vec<_>>(), [foreign]);
            live.send(Command::Decide(proposal.id, Decision::refuse(&proposal)));
            settled(&mut live).await;
        }
    }
}

/// The calls of one step are one proposal and one changeset.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_the_calls_of_a_step_the_one_that_made_a_hunk_is_undone() {
    let step = calls(&[replace("a.txt", "one", "ONE"), replace("b.txt", "two", "TWO")]);
    let world = World::new().file("a.txt", "one\n").file("b.txt", "two\n").approve("edits").model([step, say("Done.")]);
    for lines in [None, Some(0..1)] {
        world.write("a.txt", "one\n");
        world.write("b.txt", "two\n");
        let mut live = world.start();
        live.submit("shout");
        assert_eq!(live.end().await, TurnEnd::Done);
        assert_eq!((world.read("a.txt").as_str(), world.read("b.txt").as_str()), ("ONE\n", "TWO\n"));
        live.send(Command::Restore(RestoreRequest::Origin { path: "b.txt".into(), lines, turn: false }));
        live.decide(Choice::Accept).await;
        settled(&mut live).await;
        assert_eq!((world.read("a.txt").as_str(), world.read("b.txt").as_str()), ("ONE\n", "two\n"));
        live.close().await;
    }
}

/// Returns how many hunks of each call are undone, of how many, as it is told next.
async fn undone_hunks(live: &mut Live, calls: Vec<Call>) -> Vec<(usize, usize)> {
    let told = |e: &EventBody| if let EventBody::Undone(changes) = e { Some(changes.clone()) } else { None };
    let changes: Vec<UndoneChange> = live.until(told).await;
    let undone = |mut call: Call| {
        if let Some(change) = &mut call.change {
            change.take_undone(&changes);
        }
        (call.undone().hunks, call.undone().of)
    };
    calls.into_iter().map(undone).collect()
}

/// Calls on one file, too: the first is rejected, so that the lines of the others are not where they were proposed.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_the_calls_of_a_step_on_one_file_the_one_that_made_a_hunk_is_undone() {
    let edit = |s: &str, r: &str| replace("a.txt", s, r);
    let step = calls(&[edit("one", "ONE\nand\nmore"), edit("two", "TWO"), edit("three", "THREE")]);
    let text = "one\n1\n2\n3\n4\n5\ntwo\n6\n7\n8\n9\nthree\n";
    let world = World::new().file("a.txt", text).model([step, say("Done.")]);
    let mut live = world.start();
    live.submit("shout");
    let proposal = live.proposal().await;
    let mut files = proposal.choices(Choice::Accept);
    files[0].hunks[0] = Choice::Reject;
    live.send(Command::Decide(proposal.id, Decision::new(files, Consent::Person).because("one stays")));
    assert_eq!(live.end().await, TurnEnd::Done);
    let made: Vec<Call> = calls_of(&live.events).into_values().collect();
    undo_call(&mut live, "a.txt", 6).await;
    assert_eq!(world.read("a.txt"), text.replace("three", "THREE"));
    assert_eq!(undone_hunks(&mut live, made).await, [(0, 0), (1, 1), (0, 1)]);
    live.close().await;
    // Read again it is the same.
    let mut again = world.start();
    again.open(SessionChoice::Continue);
    let of_item = |(_, item): &(_, Item)| if let Item::Call(call) = item { Some(call.clone()) } else { None };
    let recalled = |e: &EventBody| match e {
        EventBody::Recalled(items) => Some(items.iter().filter_map(of_item).collect::<Vec<_>>()),
        _ => None,
    };
    let kept = again.until(recalled).await;
    assert_eq!(undone_hunks(&mut again, kept.clone()).await, [(0, 0), (1, 1), (0, 1)]);
    undo_call(&mut again, "a.txt", 11).await;
    assert_eq!(world.read("a.txt"), text);
    assert_eq!(undone_hunks(&mut again, kept).await, [(0, 0), (1, 1), (1, 1)]);
    again.close().await;
}

/// Undoes the call that made a line, one hunk.
async fn undo_call(live: &mut Live, path: &str, line: usize) {
    let lines = Some(line..line + 1);
    live.send(Command::Restore(RestoreRequest::Origin { path: path.into(), lines, turn: false }));
    let proposal = live.proposal().await;
    assert_eq!((proposal.title.clone(), proposal.files[0].hunks.len()), (format!("undo of edit {path}"), 1));
    live.send(Command::Decide(proposal.id, Decision::accept(&proposal, Consent::Person)));
    settled(live).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_call_that_made_a_hunk_is_undone_and_not_the_newest_of_its_file() {
    let edit = |s: &str, r: &str| {
        let (name, arguments) = replace("a.txt", s, r);
        call(name, arguments)
    };
    let world = World::new().file("a.txt", "one\n1\n2\n3\n4\n5\n6\n7\ntwo\n").approve("edits").model([
        edit("one\n1", "zero\nONE\n1"),
        say("First."),
        edit("two", "TWO"),
        edit("4", "four"),
        say("Second."),
    ]);
    let mut live = world.start();
    for prompt in ["first", "second"] {
        live.submit(prompt);
        assert_eq!(live.end().await, TurnEnd::Done);
    }
    assert_eq!(world.read("a.txt"), "zero\nONE\n1\n2\n3\nfour\n5\n6\n7\nTWO\n");
    let origin =
        |lines, turn| Command::Restore(RestoreRequest::Origin { path: "a.txt".into(), lines: Some(lines), turn });
    // The last line: its call alone.
    live.send(origin(9..10, false));
    live.decide(Choice::Accept).await;
    settled(&mut live).await;
    assert_eq!(world.read("a.txt"), "zero\nONE\n1\n2\n3\nfour\n5\n6\n7\ntwo\n");
    // The first: the call of a turn before.
    live.send(origin(0..2, false));
    live.decide(Choice::Accept).await;
    settled(&mut live).await;
    assert_eq!(world.read("a.txt"), "one\n1\n2\n3\nfour\n5\n6\n7\ntwo\n");
}

async fn settled(live: &mut Live) -> Outcome {
    live.until(|e| match e {
        EventBody::Proposal(ProposalEvent::Settled(_, outcome)) => Some(outcome.clone()),
        _ => None,
    })
    .await
}

/// A session with reads, a failure, an edit rejected in part with a reason, a question and an undo, up to its end.
async fn eventful(world: &World) -> Live {
    let mut live = world.start();
    live.submit("shout");
    let proposal = live.proposal().await;
    let mut files = proposal.choices(Choice::Accept);
    files[0].hunks[1] = Choice::Reject;
    let mut decision = Decision::new(files, Consent::Person);
    decision.reason = Some("two stays".into());
    live.send(Command::Decide(proposal.id, decision));
    let question = live
        .until(|e| match e {
            EventBody::Asked(question) => Some(question.id),
            _ => None,
        })
        .await;
    live.send(Command::Reply(question, nebula::protocol::Reply::Text("EUR".into())));
    live.decide(Choice::Accept).await;
    live.decide(Choice::Accept).await;
    assert_eq!(live.end().await, TurnEnd::Done);
    live
}

/// The world of [`eventful`].
fn eventful_world() -> World {
    let edit = |s: &str, r: &str| replace("a.txt", s, r);
    World::new().file("a.txt", "one\n1\n2\n3\n4\n5\ntwo\n").model([
        calls(&[("readFile", json!({"path": "a.txt"})), ("readFile", json!({"path": "none.txt"}))]),
        calls(&[edit("one", "ONE"), edit("two", "TWO")]),
        call("askUser", json!({"question": "Which currency?", "choices": ["EUR", "USD"]})),
        call("undo", json!({})),
        calls(&[edit("5", "five")]),
        say("Done."),
    ])
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_that_is_read_again_shows_its_calls_as_they_were() {
    let world = eventful_world();
    let live = eventful(&world).await;
    let before = rounded(calls_of(&live.events).into_values());
    assert_eq!(before.len(), 7);
    let summaries: Vec<&str> = before.iter().map(|call| call.summary.as_str()).collect();
    assert!(summaries.contains(&"rejected") && !summaries.contains(&"not written"), "{summaries:?}");
    assert!(before.iter().any(|c| c.exchange == Some(("Which currency?".into(), "EUR".into()))));
    live.close().await;
    shows_again(&world, &before).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_undo_that_is_accepted_in_part_says_so() {
    let edit = |s: &str, r: &str| replace("a.txt", s, r);
    let world = World::new().file("a.txt", "one\n1\n2\n3\n4\n5\ntwo\n").model([
        calls(&[edit("one", "ONE"), edit("two", "TWO")]),
        call("undo", json!({})),
        say("Done."),
    ]);
    let mut live = world.start();
    live.submit("shout");
    live.decide(Choice::Accept).await;
    let undo = live.proposal().await;
    let mut files = undo.choices(Choice::Accept);
    files[0].hunks[1] = Choice::Reject;
    let decision = Decision::new(files, Consent::Person).because("two stays");
    live.send(Command::Decide(undo.id, decision));
    assert_eq!(live.end().await, TurnEnd::Done);
    let all = rounded(calls_of(&live.events).into_values());
    let [first, second, undo] = all.as_slice() else { panic!("{all:?}") };
    let count = |accepted, rejected| Some(HunkCount { accepted, rejected });
    assert_eq!((first.hunks, second.hunks, undo.hunks), (count(1, 0), count(1, 0), count(1, 1)));
    assert_eq!((first.decided, second.decided, undo.decided), (count(2, 0), None, count(1, 1)));
    assert!(!first.is_partial() && !second.is_partial() && undo.is_partial(), "{all:?}");
    assert_eq!((undo.summary.as_str(), undo.reason.as_deref()), ("1 of 2 hunks written", Some("two stays")));
    live.close().await;
    shows_again(&world, &all).await;
}

/// Resumes the last session, whose calls must look as they did.
async fn shows_again(world: &World, before: &[Call]) {
    let after = rounded(recalled(world).await);
    assert_eq!(after.len(), before.len());
    for (before, after) in before.iter().zip(&after) {
        assert_eq!(after, before);
    }
}

/// The calls of the newest session, read again.
pub async fn recalled(world: &World) -> Vec<Call> {
    let mut again = world.start();
    again.open(SessionChoice::Continue);
    let recalled = again
        .until(|e| match e {
            EventBody::Recalled(items) => Some(items.clone()),
            _ => None,
        })
        .await;
    let calls = recalled.into_iter().filter_map(|(_, item)| match item {
        Item::Call(call) => Some(call),
        _ => None,
    });
    let calls = calls.collect();
    again.close().await;
    calls
}

/// A screen that is told what the agent told, and whose questions the agent answers.
struct Watched {
    live: Live,
    stage: Stage,
}

impl Watched {
    async fn new(live: Live) -> Self {
        let mut watched = Watched { live, stage: Stage::new(140, 42, "dark") };
        watched.drain().await;
        watched
    }

    /// Tells the screen everything, and answers what it asks, until it asks for nothing more.
    async fn drain(&mut self) {
        loop {
            std::mem::take(&mut self.live.events)
                .into_iter()
                .filter(|e| !is_recording(e))
                .for_each(|event| self.stage.tell(event));
            let effects = std::mem::take(&mut self.stage.effects);
            let mut open: Vec<QueryId> = Vec::new();
            for effect in effects {
                if let Effect::Send(Command::Ask(id, query)) = effect {
                    self.live.send(Command::Ask(id, query));
                    open.push(id);
                }
            }
            if open.is_empty() {
                return;
            }
            while !open.is_empty() {
                let answered = self.live.until(|e| match e {
                    EventBody::Answer(id, _) => Some(*id),
                    _ => None,
                });
                let answered = answered.await;
                open.retain(|id| *id != answered);
            }
        }
    }

    /// Returns what stands on the screen in each pane, at two sizes.
    async fn looks(&mut self) -> Vec<(String, Buffer)> {
        let mut looks = Vec::new();
        // What took the keys by itself is gone for a while.
        self.stage.wait(1_000);
        for (width, height) in [(140, 42), (80, 30)] {
            self.stage.resize(width, height);
            for keys in ["<f5>gg", "G[", "<f4>gg", "<enter>", "<esc>G", "<f2>", "<f3>jk", "z", "z<esc><esc>"] {
                self.stage.keys(keys);
                self.drain().await;
                looks.push((format!("{keys} at {width}\n{}", self.stage.text()), self.stage.draw().0));
            }
        }
        looks
    }
}

/// The notice that the model is a recording belongs to the process, not to the session.
fn is_recording(event: &EventBody) -> bool {
    matches!(event, EventBody::Added(_, Item::Notice(notice)) if notice.title == "the model is a recording")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_resumed_session_looks_as_the_live_one_cell_by_cell() {
    let world = eventful_world();
    let mut live = Watched::new(eventful(&world).await).await;
    let before = live.looks().await;
    live.live.close().await;
    let mut again = world.start();
    again.open(SessionChoice::Continue);
    again.until(|e| matches!(e, EventBody::Recalled(_)).then_some(())).await;
    // What was undone is looked for beside the messages.
    let undone = |e: &EventBody| matches!(e, EventBody::Undone(_));
    if !again.events.iter().any(undone) {
        again.until(|e| undone(e).then_some(())).await;
    }
    let mut again = Watched::new(again).await;
    for ((before, cells), (after, same)) in before.iter().zip(again.looks().await) {
        assert_eq!(*before, after, "\n{before}\n--- after the resume\n{after}");
        let other = cells.content.iter().zip(&same.content).position(|(a, b)| a != b);
        assert_eq!(other, None, "{before}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_second_thought_is_shown_alone() {
    let thought = |text: &str| Delta::Thinking(text.into());
    let step = vec![
        thought("first "),
        thought("thought"),
        Delta::Text("One.\n\n".into()),
        thought("second"),
        Delta::Text("Two.".into()),
        Delta::End(EndReason::Stop),
    ];
    let world = World::new().model([step]);
    let mut live = world.start();
    live.submit("think");
    assert_eq!(live.end().await, TurnEnd::Done);
    let mut said = BTreeMap::new();
    for event in &live.events {
        match event {
            EventBody::Added(id, Item::Thinking { text, .. }) | EventBody::Changed(id, Item::Thinking { text, .. }) => {
                said.insert(*id, text.clone());
            }
            EventBody::Added(id, Item::Answer { text }) => drop(said.insert(*id, text.clone())),
            EventBody::Grew(id, more) => {
                said.entry(*id).and_modify(|text| text.push_str(more));
            }
            _ => {}
        }
    }
    // A whole entry replaces what had grown.
    let said: Vec<String> = said.into_values().filter(|text| !text.is_empty()).collect();
    assert_eq!(said, ["first thought", "One.\n\n", "second", "Two."]);
}

/// Calls as the screen shows them: memory keeps times to the microsecond.
fn rounded(calls: impl IntoIterator<Item = Call>) -> Vec<Call> {
    let micros = |took: std::time::Duration| std::time::Duration::from_micros(took.as_micros() as u64);
    calls.into_iter().map(|call| Call { took: call.took.map(micros), ..call }).collect()
}

/// Returns what line mode prints for these lines of input.
fn chat(recording: &[serde_json::Value], file: &str, input: &str) -> (String, String) {
    chat_with(recording, file, |stdin, _, _| stdin.write_all(input.as_bytes()).expect("written"))
}

/// Returns what line mode prints for what is typed; the typist reads what is printed, and knows the file.
pub fn chat_with(
    recording: &[serde_json::Value],
    file: &str,
    types: impl FnOnce(&mut ChildStdin, &mut ChildStdout, &Path),
) -> (String, String) {
    let dir = tempfile::tempdir().expect("a folder");
    chat_in(dir.path(), recording, file, types)
}

/// Returns the same in a folder of which the caller may know more.
fn chat_in(
    dir: &Path,
    recording: &[serde_json::Value],
    file: &str,
    types: impl FnOnce(&mut ChildStdin, &mut ChildStdout, &Path),
) -> (String, String) {
    for name in ["work/.git", "home"] {
        std::fs::create_dir_all(dir.join(name)).expect("made");
    }
    let mut text = "{\"recording\":1}\n".to_string();
    recording.iter().for_each(|line| text.push_str(&format!("{line}\n")));
    std::fs::write(dir.join("recording.jsonl"), text).expect("written");
    std::fs::write(dir.join("work/a.txt"), file).expect("written");
    let mut child = line_mode(&dir.join("work"), &dir.join("home"), "../recording.jsonl");
    let (mut stdin, mut stdout) = (child.stdin.take().expect("a pipe"), child.stdout.take().expect("a pipe"));
    types(&mut stdin, &mut stdout, &dir.join("work/a.txt"));
    drop(stdin);
    let mut out = String::new();
    stdout.read_to_string(&mut out).expect("text");
    let output = child.wait_with_output().expect("it ends");
    let err = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{err}");
    (out, std::fs::read_to_string(dir.join("work/a.txt")).expect("the file"))
}

#[test]
fn line_mode_asks_once_after_what_it_tells_of_itself() {
    let dir = tempfile::tempdir().expect("a folder");
    std::fs::create_dir_all(dir.path().join("home/.nebula")).expect("made");
    std::fs::write(dir.path().join("home/.nebula/config.json"), "{\"maxStep\": 3}").expect("written");
    let recording = [json!({"step": 1}), json!({"ms": 0, "delta": {"end": "stop"}})];
    let (out, _) = chat_in(dir.path(), &recording, "one\n", |_, _, _| {});
    let told = out.find("maxStep").unwrap_or_else(|| panic!("it is told: {out}"));
    assert_eq!(out.matches("you> ").count(), 1, "{out}");
    assert!(Some(told) < out.find("you> "), "{out}");
}

/// Starts `nebula chat` on a recording, with pipes.
pub fn line_mode(work: &Path, home: &Path, recording: &str) -> Child {
    Process::new(env!("CARGO_BIN_EXE_nebula"))
        .args(["chat", "--replay", recording])
        .current_dir(work)
        .env_clear()
        .env("HOME", home)
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts")
}

/// Reads what is printed until it holds these words.
pub fn read_until(stdout: &mut ChildStdout, words: &str) {
    let mut printed = String::new();
    while !printed.contains(words) {
        let mut byte = [0];
        stdout.read_exact(&mut byte).expect("it goes on");
        printed.push(char::from(byte[0]));
    }
}

/// A recording whose model changes `one` in `a.txt` to `ONE`.
fn one_edit() -> [serde_json::Value; 6] {
    let edit = json!({"path": "a.txt", "search": "one", "replace": "ONE"}).to_string();
    [
        json!({"step": 1}),
        json!({"ms": 0, "delta": {"call": {"index": 0, "id": "c", "name": "replaceInFile", "arguments": edit}}}),
        json!({"ms": 0, "delta": {"end": "calls"}}),
        json!({"step": 2}),
        json!({"ms": 0, "delta": {"text": "Done."}}),
        json!({"ms": 0, "delta": {"end": "stop"}}),
    ]
}

#[test]
fn line_mode_decides_by_words_and_moves_no_cursor() {
    let edit = |id: &str, search: &str, replace: &str| {
        let arguments = json!({"path": "a.txt", "search": search, "replace": replace}).to_string();
        json!({"ms": 0, "delta": {"call": {"index": usize::from(id == "d"), "id": id, "name": "replaceInFile", "arguments": arguments}}})
    };
    let recording = [
        json!({"step": 1}),
        json!({"ms": 0, "delta": {"text": "I change both.\n"}}),
        edit("c", "one", "ONE"),
        edit("d", "two", "TWO"),
        json!({"ms": 0, "delta": {"end": "calls"}}),
        json!({"step": 2}),
        json!({"ms": 0, "delta": {"text": "Done."}}),
        json!({"ms": 0, "delta": {"end": "stop"}}),
    ];
    let file = "one\n1\n2\n3\n4\n5\ntwo\n";
    let (out, after) =
        chat(&recording, file, "shout\nwhat is this?\nn 2 because two stays\nundo\nn 2 because two stays\ny 1\n");
    assert_eq!(after, file.replace("one", "ONE"));
    for line in [
        "nebula: I change both.",
        "hunk 1 of 2: a.txt, line 1\n",
        "-    1   one",
        "+    1   ONE",
        "not understood, and nothing was decided",
        "hunk 2 rejected: two stays. 1 of 2 undecided.",
        "the last decision is undone. 2 of 2 undecided",
        "1 of 2 hunks written, 1 added, 1 removed: changeset ",
        "hunk 1 accepted.\n",
        "nebula: Done.",
        "changed 1 file, 1 added, 1 removed. waiting 0. failed 0.",
    ] {
        assert!(out.contains(line), "{line}\n{out}");
    }
    assert!(!out.contains('\x1b'), "{out}");
    // An undo asks, and each prompt is the last line before what is typed.
    let lines = "shout\nall of this looks too hasty\nall\nundo\nshow 1\nyes, but why?\ny\nredo\ny\nundo\n\n";
    let (out, after) = chat(&recording, file, lines);
    assert_eq!(after, file.replace("one", "ONE").replace("two", "TWO"));
    assert_eq!(
        out.matches("Nothing else touched them since.\ny or n, n is the default\nanswer> \n").count(),
        3,
        "{out}"
    );
    assert_eq!(out.matches("not understood, and nothing was decided").count(), 2, "{out}");
    assert!(out.contains("redo of shout") && out.contains("nothing was accepted, nothing was written"), "{out}");
    assert!(!out.contains("you> \nchanged"), "{out}");
    // Where the input ends nobody approves anything.
    let (out, after) = chat(&recording, file, "shout\n");
    assert_eq!(after, file);
    assert!(out.contains("nothing was accepted"), "{out}");
}

#[test]
fn line_mode_names_what_an_undo_leaves_and_lets_the_person_choose() {
    let (out, after) = chat_with(&one_edit(), "one\n1\n2\n3\n4\nend\n", |stdin, stdout, file| {
        stdin.write_all(b"shout\nall\n").expect("written");
        read_until(stdout, "changed 1 file");
        std::fs::write(file, "ONE\n1\n2\n3\n4\nend\nmine\n").expect("written");
        stdin.write_all(b"undo\nmerge\ny\n").expect("written");
    });
    assert!(out.contains("undo of shout: nothing is written as it stands.\n"), "{out}");
    assert!(out.contains("1 a.txt: changed outside nebula, kept as it is\n"), "{out}");
    assert!(out.contains("1 a.txt: changed outside nebula, will be merged\n") && !out.contains("withdrawn"), "{out}");
    assert_eq!(after, "one\n1\n2\n3\n4\nend\nmine\n", "{out}");
}

#[test]
fn line_mode_goes_on_after_an_undo_that_meets_a_change() {
    let (out, after) = chat_with(&one_edit(), "one\n", |stdin, stdout, file| {
        stdin.write_all(b"shout\nall\nundo\n").expect("written");
        read_until(stdout, "n is the default\nanswer> ");
        std::fs::write(file, "theirs\n").expect("written");
        stdin.write_all(b"y\nhelp\nquit\n").expect("written");
    });
    assert!(out.contains("changed on disk meanwhile") && out.contains("you> "), "{out}");
    assert_eq!(after, "theirs\n");
}

#[test]
fn line_mode_sends_no_command_of_the_screen_to_the_model() {
    let said = [
        json!({"step": 1}),
        json!({"ms": 0, "delta": {"text": "I got a message."}}),
        json!({"ms": 0, "delta": {"end": "stop"}}),
    ];
    let (out, _) = chat(&said, "one\n", "/connect openai sk-key\n/rag words\n/theme dark\n");
    for name in ["/connect", "/rag", "/theme"] {
        assert!(out.contains(&format!("{name} works on the screen alone; nothing was sent")), "{out}");
    }
    assert!(!out.contains("I got a message."), "{out}");
}
