//! Back in time, commands to events: undo, redo, all since a changeset or a message, and the archive as it is listed.

use std::io::Write;
use std::path::Path;
use std::process::{Command as Process, Stdio};

use nebula::proposal::{Choice, Consent, Decision, ForeignChoice, RestoreStatus, State};
use nebula::protocol::{
    Command, EventBody, ExportFormat, Item, Listing, OnDisk, Outcome, ProposalEvent, Query, QueryId, Reply,
    RestoreRequest, SessionChoice, TurnEnd, UndoneChange,
};
use serde_json::{Value, json};

use crate::interaction::{chat_with, read_until};
use crate::scenes::Stage;
use crate::session::{calls_of, check_protocol, replace, results};
use crate::support::world::{Live, World, call, calls, say};

/// A world in which the model renames `a` to `b`, after it has read another file.
fn renaming() -> World {
    World::new().file("a.rs", "fn a() {}\n").file("b.rs", "").model([
        call("readFile", json!({"path": "b.rs"})),
        calls(&[replace("a.rs", "fn a()", "fn b()")]),
        say("Done."),
    ])
}

/// Asks for a restore and accepts what it proposes.
async fn restored_by(live: &mut Live, request: RestoreRequest) {
    live.send(Command::Restore(request));
    live.decide(Choice::Accept).await;
    live.until(|e| matches!(e, EventBody::Proposal(ProposalEvent::Settled(..))).then_some(())).await;
}

/// Asks for a restore that there is none of; what is said instead.
async fn refused(live: &mut Live, request: RestoreRequest) -> String {
    live.send(Command::Restore(request));
    live.until(|e| if let EventBody::Notice(n) = e { Some(n.title.clone()) } else { None }).await
}

/// The edit of [`renaming`], accepted, and taken back.
async fn renamed_and_undone(world: &World) -> Live {
    let mut live = world.start();
    live.submit("rename");
    live.decide(Choice::Accept).await;
    live.end().await;
    assert_eq!(world.read("a.rs"), "fn b() {}\n");
    restored_by(&mut live, RestoreRequest::Undo { count: 1, files: Vec::new() }).await;
    live
}

/// The lines of a chat that tell of a restore.
fn restores(items: impl IntoIterator<Item = Item>) -> Vec<(String, String)> {
    let notice = |item| if let Item::Notice(notice) = item { Some((notice.title, notice.detail)) } else { None };
    items.into_iter().filter_map(notice).filter(|(title, _)| title.starts_with("restored ")).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_undo_stays_in_the_chat_and_the_model_is_told_of_it_also_after_a_resume() {
    let mut world = renaming();
    let mut live = renamed_and_undone(&world).await;
    live.until(|e| matches!(e, EventBody::Proposal(ProposalEvent::RestoreEnded)).then_some(())).await;
    let opened = |e: &EventBody| if let EventBody::Opened(info) = e { Some(info.id.clone()) } else { None };
    let id = live.events.iter().find_map(opened).expect("a session");
    let added = |e: &EventBody| if let EventBody::Added(_, item) = e { Some(item.clone()) } else { None };
    let line = [("restored a.rs".to_string(), "undo of rename".to_string())];
    assert_eq!(restores(live.events.iter().filter_map(added)), line);
    live.close().await;
    for answer in ["I see.", "Still."] {
        world = world.model([say(answer)]);
        let mut again = world.start();
        again.open(SessionChoice::Resume(id.clone()));
        again.submit("and now?");
        assert_eq!(again.end().await, TurnEnd::Done);
        assert_eq!(restores(again.events.iter().filter_map(added)), line);
        let told = "Meanwhile the person restored: a.rs (undo of rename).";
        let requests = again.requests();
        let told = requests[0].messages.iter().filter(|message| message.text().contains(told)).count();
        assert_eq!(told, 1, "{:?}", requests[0].messages);
        again.close().await;
    }
}

/// A restore that waits stays where another has nothing to propose; one that has takes its place, and says so.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_refused_restore_drops_none_that_waits() {
    let world = renaming();
    let mut live = world.start();
    live.submit("rename");
    live.decide(Choice::Accept).await;
    live.end().await;
    let undo = || Command::Restore(RestoreRequest::Undo { count: 1, files: Vec::new() });
    let proposed = |e: &EventBody| match e {
        EventBody::Proposal(ProposalEvent::Proposed(proposal, _)) => Some(proposal.clone()),
        _ => None,
    };
    live.send(undo());
    let waits = live.until(proposed).await;
    let definitions = &waits.files[0].hunks[0].definitions;
    assert_eq!(definitions.first().map(|named| named.name.as_str()), Some("fn a"), "named as in any proposal");
    refused(&mut live, RestoreRequest::Redo).await;
    let settled = |e: &EventBody| match e {
        EventBody::Proposal(ProposalEvent::Settled(id, outcome)) if *id == waits.id => Some(outcome.clone()),
        _ => None,
    };
    assert!(!live.events.iter().any(|e| settled(e).is_some()), "it still waits");
    live.send(undo());
    assert!(matches!(live.until(settled).await, Outcome::Withdrawn));
    let notice = |e: &EventBody| if let EventBody::Notice(n) = e { Some(n.title.clone()) } else { None };
    assert_eq!(live.until(notice).await, "undo of rename was dropped: another change took its place");
    assert_ne!(live.until(proposed).await.id, waits.id);
}

/// Returns the hunks that are undone of each file, as they are told next.
async fn undone(live: &mut Live) -> Vec<(String, usize, usize)> {
    let told = |change: &UndoneChange| (change.path.clone(), change.undone.hunks, change.undone.of);
    let changes =
        |e: &EventBody| if let EventBody::Undone(all) = e { Some(all.iter().map(told).collect()) } else { None };
    live.until(changes).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_is_told_to_be_undone_and_redone_also_by_another_process_and_after_a_resume() {
    let world = renaming();
    let mut live = renamed_and_undone(&world).await;
    let whole = [("a.rs".to_string(), 1, 1)];
    assert_eq!(undone(&mut live).await, whole);
    let change = |e: &EventBody| match e {
        EventBody::Changed(_, Item::Call(call)) => call.change.clone(),
        _ => None,
    };
    let made = live.events.iter().rev().find_map(change).expect("the change of a call");
    assert_eq!(made.paths, ["a.rs"]);
    restored_by(&mut live, RestoreRequest::Redo).await;
    assert_eq!(undone(&mut live).await, []);
    // Another program undoes it: the chat says so at once.
    let mut other = world.start();
    restored_by(&mut other, RestoreRequest::Undo { count: 1, files: Vec::new() }).await;
    let added = |e: &EventBody| match e {
        EventBody::Added(_, Item::Notice(notice)) => Some(notice.title.clone()).filter(|t| t.starts_with("restored ")),
        _ => None,
    };
    assert_eq!(live.until(added).await, "restored a.rs");
    assert_eq!(undone(&mut live).await, whole);
    other.close().await;
    let opened = |e: &EventBody| if let EventBody::Opened(info) = e { Some(info.id.clone()) } else { None };
    let id = live.events.iter().find_map(opened).expect("a session");
    live.close().await;
    let mut again = world.model([say("Still.")]).start();
    again.open(SessionChoice::Resume(id));
    assert_eq!(undone(&mut again).await, whole);
    again.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_undo_is_no_change_of_someone_else_when_its_session_is_resumed() {
    let world = renaming();
    let live = renamed_and_undone(&world).await;
    let opened = |e: &EventBody| if let EventBody::Opened(info) = e { Some(info.id.clone()) } else { None };
    let id = live.events.iter().find_map(opened).expect("a session");
    live.close().await;
    let mut again = world.model([say("Still.")]).start();
    again.open(SessionChoice::Resume(id));
    again.submit("still?");
    assert_eq!(again.end().await, TurnEnd::Done);
    let drifted = again.events.iter().find(|e| matches!(e, EventBody::Drifted(paths) if !paths.is_empty()));
    assert_eq!(drifted, None);
    again.close().await;
}

/// A file outside the workspace that the person let the model read is looked at where it is.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_outside_the_workspace_has_changed_only_if_it_did() {
    let read = call("readFile", json!({"path": "../live.csv"}));
    let mut world = World::new().model([read, say("Read.")]);
    let outside = world.root().with_file_name("live.csv");
    std::fs::write(&outside, "1,2\n").expect("written");
    let mut live = world.start();
    live.submit("look");
    let question = live.question().await;
    let yes = question.choices.iter().position(|(short, _)| short.starts_with("yes")).expect("a yes");
    live.send(Command::Reply(question.id, Reply::Choice(yes)));
    assert_eq!(live.end().await, TurnEnd::Done);
    let opened = |e: &EventBody| if let EventBody::Opened(info) = e { Some(info.id.clone()) } else { None };
    let id = live.events.iter().find_map(opened).expect("a session");
    live.close().await;
    for changed in [false, true] {
        if changed {
            std::fs::write(&outside, "3,4\n").expect("written");
        }
        world = world.model([say("Still.")]);
        let mut again = world.start();
        again.open(SessionChoice::Resume(id.clone()));
        again.submit("still?");
        assert_eq!(again.end().await, TurnEnd::Done);
        let told = again.events.iter().filter(|e| matches!(e, EventBody::Drifted(paths) if !paths.is_empty()));
        assert_eq!(told.count(), usize::from(changed));
        again.close().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_undo_of_an_undo_is_a_redo() {
    let world = renaming();
    let mut live = renamed_and_undone(&world).await;
    let settled = live.events.iter().rev().find_map(|e| match e {
        EventBody::Proposal(ProposalEvent::Settled(_, Outcome::Applied { changeset, .. })) => changeset.clone(),
        _ => None,
    });
    live.send(Command::Restore(RestoreRequest::Changeset(settled.expect("a changeset"))));
    assert_eq!(live.decide(Choice::Accept).await.title, "redo of rename");
    live.until(|e| matches!(e, EventBody::Proposal(ProposalEvent::Settled(..))).then_some(())).await;
    live.close().await;
    assert_eq!(world.read("a.rs"), "fn b() {}\n");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn undo_and_redo_go_the_same_road() {
    let world = renaming();
    let mut live = renamed_and_undone(&world).await;
    assert_eq!(world.read("a.rs"), "fn a() {}\n");
    restored_by(&mut live, RestoreRequest::Redo).await;
    assert_eq!(world.read("a.rs"), "fn b() {}\n");
    live.send(Command::Restore(RestoreRequest::Redo));
    let notice = live
        .until(|e| match e {
            EventBody::Notice(n) if n.title.contains("redo") => Some(n.title.clone()),
            _ => None,
        })
        .await;
    assert!(notice.contains("nothing to redo"), "{notice}");
    check_protocol(&live);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_the_person_restores_is_not_called_someone_elses() {
    let world = renaming();
    let mut live = renamed_and_undone(&world).await;
    // Whatever the watcher saw of the undo, it has told before this.
    world.write("b.rs", "// someone else\n");
    live.until(|e| matches!(e, EventBody::Drifted(p) if p.contains(&"b.rs".to_string())).then_some(())).await;
    let drifts = live.events.iter().filter(|e| matches!(e, EventBody::Drifted(p) if p.contains(&"a.rs".to_string())));
    assert_eq!(drifts.count(), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_another_nebula_restores_is_not_changed_outside_of_nebula() {
    let world = renaming();
    let mut live = world.start();
    live.submit("rename");
    live.decide(Choice::Accept).await;
    live.end().await;
    let mut other = world.start();
    restored_by(&mut other, RestoreRequest::Undo { count: 1, files: Vec::new() }).await;
    assert_eq!(world.read("a.rs"), "fn a() {}\n");
    other.close().await;
    undone(&mut live).await;
    let is_told = |e: &EventBody| matches!(e, EventBody::DriftedElsewhere(p) if *p == ["a.rs"]);
    if !live.events.iter().any(is_told) {
        live.until(|e| is_told(e).then_some(())).await;
    }
    // Whatever the watcher saw of the undo, it has told before this.
    world.write("b.rs", "// someone else\n");
    live.until(|e| matches!(e, EventBody::Drifted(p) if p.contains(&"b.rs".to_string())).then_some(())).await;
    let drifted = |e: &&EventBody| matches!(e, EventBody::Drifted(p) if p.contains(&"a.rs".to_string()));
    assert_eq!(live.events.iter().find(drifted), None);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn everything_since_a_message_is_undone_in_one_proposal() {
    let edit = |path, from: &str, to: &str| calls(&[replace(path, from, to)]);
    let world = World::new().file("a", "1\n").file("b", "1\n").file("c", "1\n").approve("edits").model([
        edit("a", "1", "2"),
        say("Done."),
        edit("b", "1", "2"),
        edit("a", "2", "3"),
        say("Done."),
        edit("b", "2", "3"),
        edit("c", "1", "2"),
        say("Done."),
        say("Nothing to do."),
    ]);
    let files = || ["a", "b", "c"].map(|f| world.read(f).trim().to_string());
    let mut live = world.start();
    for text in ["first", "second", "third", "fourth"] {
        live.submit(text);
        assert_eq!(live.end().await, TurnEnd::Done);
    }
    assert_eq!(files(), ["3", "3", "2"]);
    let nothing = refused(&mut live, RestoreRequest::SinceMessage(3)).await;
    assert_eq!(nothing, "nothing was changed since \"fourth\"");
    assert_eq!(refused(&mut live, RestoreRequest::SinceMessage(9)).await, "that message is not in memory");

    // Someone else has changed one of them: that waits for a choice, as in any restore.
    world.write("c", "theirs\n");
    live.send(Command::Restore(RestoreRequest::SinceMessage(1)));
    let (proposal, previews) = live
        .until(|e| {
            if let EventBody::Proposal(ProposalEvent::Proposed(p, f)) = e { Some((p.clone(), f.clone())) } else { None }
        })
        .await;
    assert_eq!(proposal.title, "undo of everything since \"second\"");
    let foreign: Vec<_> =
        previews.iter().map(|f| (&*f.path, matches!(f.status, RestoreStatus::Foreign { .. }))).collect();
    assert_eq!(foreign, [("b", false), ("a", false), ("c", true)]);
    let all = nebula::proposal::Decision::accept(&proposal, nebula::proposal::Consent::Person);
    live.send(Command::Decide(proposal.id, all));
    live.until(|e| matches!(e, EventBody::Proposal(ProposalEvent::Settled(..))).then_some(())).await;
    assert_eq!(files(), ["2", "1", "theirs"]);
    check_protocol(&live);
    live.close().await;

    // A resumed session counts its messages alike.
    let mut live = world.start();
    live.open(SessionChoice::Continue);
    live.until(|e| matches!(e, EventBody::Recalled(_)).then_some(())).await;
    restored_by(&mut live, RestoreRequest::SinceMessage(0)).await;
    assert_eq!(files(), ["1", "1", "theirs"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_archive_is_listed_with_files_and_causes() {
    let edit = |from: &str, to: &str| calls(&[replace("a.rs", from, to)]);
    let world = World::new().file("a.rs", "fn a() {}\n").approve("edits").model([
        edit("fn a()", "fn b()"),
        say("Done."),
        edit("fn b()", "fn c()"),
        say("Done."),
    ]);
    let mut live = world.start();
    for prompt in ["rename a to b", "rename b to c"] {
        live.submit(prompt);
        assert_eq!(live.end().await, TurnEnd::Done);
    }
    let mut questions = 0;
    let mut ask = |query| {
        questions += 1;
        live.send(Command::Ask(QueryId(questions), query));
        QueryId(questions)
    };
    let all = ask(Query::Archive { skip: 0, limit: 10, filter: String::new() });
    let some = ask(Query::Archive { skip: 0, limit: 10, filter: "TO B".into() });
    let versions = ask(Query::Versions("a.rs".into()));
    // A restore may have written a folder.
    std::fs::create_dir(world.root().join("made")).expect("a folder");
    let folder = ask(Query::Bytes("made/".into(), None));
    let mut answers = std::collections::BTreeMap::new();
    while answers.len() < 4 {
        let answer =
            live.until(|e| if let EventBody::Answer(id, l) = e { Some((id.0, l.clone())) } else { None }).await;
        answers.insert(answer.0, answer.1);
    }
    assert!(!matches!(answers[&folder.0], Listing::Failed(_)), "{:?}", answers[&folder.0]);
    let rows = |id: QueryId| match &answers[&id.0] {
        Listing::Archive { rows, total: 2, .. } => {
            rows.iter().map(|r| (r.cause.clone(), r.files[0].path.clone())).collect::<Vec<_>>()
        }
        other => panic!("{other:?}"),
    };
    let first = ("rename a to b".to_string(), "a.rs".to_string());
    let second = ("rename b to c".to_string(), "a.rs".to_string());
    assert_eq!(rows(all), [second, first.clone()]);
    assert_eq!(rows(some), [first]);
    let Listing::Versions { versions, .. } = &answers[&versions.0] else { panic!("{answers:?}") };
    let causes: Vec<_> = versions.iter().map(|v| (v.cause.as_str(), v.counts.map(|c| (c.added, c.removed)))).collect();
    assert_eq!(causes, [("rename a to b", Some((1, 1))), ("rename b to c", Some((1, 1)))]);
}

/// A file that is gone has no time at which it was changed.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_preview_of_a_session_tells_which_files_were_changed_since_and_when() {
    let write = |path: &str| ("writeFile", json!({"path": path, "content": "1\n"}));
    let files = calls(&[write("left"), write("changed"), write("gone")]);
    let world = World::new().approve("edits").model([files, say("Done.")]);
    let mut live = world.start();
    live.submit("write them");
    assert_eq!(live.end().await, TurnEnd::Done);
    let session = live.events.iter().rev().find_map(|e| match e {
        EventBody::Opened(info) => Some(info.id.clone()),
        _ => None,
    });
    world.write("changed", "2\n");
    std::fs::remove_file(world.root().join("gone")).expect("removed");
    live.send(Command::Ask(QueryId(1), Query::Preview(session.expect("a session"))));
    let preview = live.until(|e| match e {
        EventBody::Answer(_, Listing::Preview(preview)) => Some(preview.clone()),
        _ => None,
    });
    let preview = preview.await;
    let on_disk = |path: &str| preview.files.iter().find(|(p, _)| p == path).map(|(_, on_disk)| *on_disk);
    assert_eq!(on_disk("left"), Some(OnDisk::AsLeft));
    assert!(matches!(on_disk("changed"), Some(OnDisk::Changed { at: Some(1..) })), "{:?}", preview.files);
    assert_eq!(on_disk("gone"), Some(OnDisk::Changed { at: None }));
}

/// A session that is not open says the same of its calls as one that is, and its document holds what was taken back.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_preview_and_the_document_of_a_session_say_what_was_undone() {
    let world = renaming();
    let mut live = renamed_and_undone(&world).await;
    let opened = |e: &EventBody| if let EventBody::Opened(info) = e { Some(info.id.clone()) } else { None };
    let id = live.events.iter().rev().find_map(opened).expect("a session");
    live.send(Command::Ask(QueryId(1), Query::Preview(id.clone())));
    let preview = live.until(|e| match e {
        EventBody::Answer(_, Listing::Preview(preview)) => Some(preview.clone()),
        _ => None,
    });
    let change = |item: &Item| if let Item::Call(call) = item { call.change.clone() } else { None };
    let changes: Vec<_> = preview.await.items.iter().filter_map(change).collect();
    assert_eq!(changes.iter().map(|change| (change.undone.hunks, change.undone.of)).collect::<Vec<_>>(), [(1, 1)]);
    for format in [ExportFormat::Markdown, ExportFormat::Html, ExportFormat::Json] {
        live.send(Command::Export(format));
        let proposal = live.decide(Choice::Reject).await;
        live.until(|e| matches!(e, EventBody::Proposal(ProposalEvent::Settled(..))).then_some(())).await;
        let State::File { bytes, .. } = &proposal.files[0].after else { panic!("a file") };
        let text = String::from_utf8_lossy(bytes).into_owned();
        match format {
            ExportFormat::Json => {
                let document: serde_json::Value = serde_json::from_str(&text).expect("JSON");
                assert_eq!(document["restores"][0]["files"], json!(["a.rs"]), "{text}");
            }
            _ => assert_eq!(text.matches("restored a.rs (undo of ").count(), 1, "{text}"),
        }
    }
    live.close().await;
}

/// A call whose change stood before it names no changeset, whatever is written beside it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_whose_change_stands_names_nothing_that_is_written_beside_it() {
    let delete = || ("deleteFile", json!({"path": "a.txt"}));
    let both = calls(&[delete(), ("writeFile", json!({"path": "b.txt", "content": "b\n"}))]);
    let world = World::new().file("a.txt", "one\n").approve("all").model([calls(&[delete()]), both, say("Done.")]);
    let mut live = world.start();
    live.submit("Move it.");
    assert_eq!(live.end().await, TurnEnd::Done);
    let all = calls_of(&live.events);
    let changed: Vec<_> = all.values().map(|call| (call.summary.as_str(), call.change.is_some())).collect();
    assert!(matches!(changed.as_slice(), [(_, true), ("already done", false), (_, true)]), "{changed:?}");
    live.close().await;
}

/// What the person takes back before the first message is told to the model with that message.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_undone_while_no_session_is_open_is_reported_to_the_first_one() {
    let edit = call("replaceInFile", json!({"path": "a.txt", "search": "one", "replace": "two"}));
    let world = World::new().file("a.txt", "one\n").approve("edits").model([edit, say("Done.")]);
    let mut live = world.start();
    live.submit("count");
    assert_eq!(live.end().await, TurnEnd::Done);
    let opened = |e: &EventBody| if let EventBody::Opened(info) = e { Some(info.id.clone()) } else { None };
    let first_session = live.events.iter().find_map(opened).expect("a session");
    live.close().await;
    let world = world.model([say("I see.")]);
    let mut live = world.start();
    restored_by(&mut live, RestoreRequest::Undo { count: 1, files: Vec::new() }).await;
    assert_eq!(world.read("a.txt"), "one\n");
    live.submit("and now?");
    assert_eq!(live.end().await, TurnEnd::Done);
    let first = live.requests()[0].messages[0].text().into_owned();
    assert!(first.contains("Meanwhile the person restored: a.txt (undo of count)."), "{first}");
    live.close().await;
    // The session whose edit it was shows it, too.
    let mut again = world.start();
    again.open(SessionChoice::Resume(first_session));
    let line = |e: &EventBody| matches!(e, EventBody::Recalled(items) if restores(items.iter().map(|(_, item)| item.clone())).len() == 1);
    assert!(again.until(|e| if let EventBody::Recalled(_) = e { Some(line(e)) } else { None }).await);
    again.close().await;
}

/// The file of a restore of the model: as it was, as nebula wrote it, and as someone else changed it after that.
const OLD: &str = "one\n2\n3\n4\nfive\n";
const THEIRS: &str = "ONE\n2\n3\n4\nFIVE\n";
const MERGED: &str = "one\n2\n3\n4\nFIVE\n";

/// An agent whose model wrote `ONE` into `a.txt`, and into `b.txt`; the first was changed by someone else since. The model
/// undoes it with the next message.
async fn changed_outside(undo: Value) -> (World, Live) {
    let world = World::new().file("a.txt", OLD).file("b.txt", "one\n").approve("edits").model([
        calls(&[replace("a.txt", "one", "ONE"), replace("b.txt", "one", "ONE")]),
        say("Done."),
        call("undo", undo),
        say("I see."),
    ]);
    let mut live = world.start();
    live.submit("shout");
    assert_eq!(live.end().await, TurnEnd::Done);
    assert_eq!((world.read("a.txt"), world.read("b.txt")), (OLD.replace("one", "ONE"), "ONE\n".into()));
    world.write("a.txt", THEIRS);
    live.submit("back");
    (world, live)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_person_chooses_for_a_file_changed_outside_in_a_restore_of_the_model() {
    let kept = "Not restored: changed outside nebula, left as it is: a.txt";
    let merged = "Merged with what was changed outside nebula, read it before you edit it: a.txt";
    for (choice, after, told) in [
        (None, THEIRS, kept),
        (Some(ForeignChoice::Keep), THEIRS, kept),
        (Some(ForeignChoice::Merge), MERGED, merged),
        (Some(ForeignChoice::RestoreVersion), OLD, "a.txt"),
    ] {
        let (world, mut live) = changed_outside(json!({})).await;
        let mut proposal = live.proposal().await;
        assert!(proposal.files.iter().all(|file| file.path == "b.txt"), "nothing is chosen for the other");
        if let Some(choice) = choice {
            let path = "a.txt".to_string();
            live.send(Command::Restore(RestoreRequest::Foreign { proposal: proposal.id, path, choice }));
            proposal = live.proposal().await;
        }
        live.send(Command::Decide(proposal.id, Decision::accept(&proposal, Consent::Person)));
        assert_eq!(live.end().await, TurnEnd::Done);
        assert_eq!((world.read("a.txt").as_str(), world.read("b.txt").as_str()), (after, "one\n"), "{choice:?}");
        let result = results(&live).pop().expect("a result");
        assert!(result.starts_with("Restored: ") && result.contains(told), "{choice:?}: {result}");
        assert_eq!(result.contains("changed outside"), after != OLD, "{choice:?}: {result}");
        check_protocol(&live);
        live.close().await;
    }
}

/// Hunks below lines that someone else put in before the undo are undone, each with its call: an undo that was merged knows
/// them by what was written, not by where they stood then.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn calls_are_undone_one_by_one_by_an_undo_that_is_merged() {
    let comments = |name: &str| (0..8).map(|n| format!("    // {name} {n}\n")).collect::<String>();
    let function = |name: &str, value: u32| format!("fn {name}() -> u32 {{\n{}    {value}\n}}\n\n", comments(name));
    let text = |values: [u32; 3]| ["a", "b", "c"].iter().zip(values).map(|(n, v)| function(n, v)).collect::<String>();
    let theirs = |text: &str| {
        let text = text.replace("fn b()", &format!("{}fn b()", function("fresh", 5)));
        text.replace("fn c()", &format!("{}fn c()", function("other", 6)))
    };
    let edit = |from: &str, to: &str| replace("a.rs", &format!("    {from}\n}}"), &format!("    {to}\n}}"));
    let edits = [edit("1", "10"), edit("2", "20"), edit("3", "30"), replace("b.txt", "one", "ONE")];
    let world = World::new().file("a.rs", &text([1, 2, 3])).file("b.txt", "one\n").approve("edits");
    let world = world.model([calls(&edits), say("Done.")]);
    let mut live = world.start();
    live.submit("more");
    assert_eq!(live.end().await, TurnEnd::Done);
    assert_eq!(world.read("a.rs"), text([10, 20, 30]));
    world.write("a.rs", &theirs(&text([10, 20, 30])));
    live.send(Command::Restore(RestoreRequest::Undo { count: 1, files: Vec::new() }));
    let (first, path) = (live.proposal().await, "a.rs".to_string());
    let choice = ForeignChoice::Merge;
    live.send(Command::Restore(RestoreRequest::Foreign { proposal: first.id, path, choice }));
    live.decide(Choice::Accept).await;
    let told = |e: &EventBody| if let EventBody::Undone(all) = e { Some(all.clone()) } else { None };
    let told = live.until(told).await;
    assert_eq!(world.read("a.rs"), theirs(&text([1, 2, 3])));
    let counts: Vec<_> = told.iter().map(|c| (c.path.as_str(), c.undone.hunks, c.undone.of)).collect();
    assert_eq!(counts, [("a.rs", 3, 3), ("b.txt", 1, 1)]);
    let made: Vec<_> = calls_of(&live.events).into_values().filter_map(|call| call.change).collect();
    assert_eq!(made.len(), 4);
    for mut change in made {
        change.take_undone(&told);
        assert_eq!((change.undone.hunks, change.undone.of), (1, 1), "{change:?}");
    }
    live.close().await;
}

/// A screen that shows what an agent tells; what its keys send goes to the agent.
struct Played {
    live: Live,
    stage: Stage,
}

impl Played {
    /// Shows what is told until these words are on the screen.
    async fn until(&mut self, words: &str) {
        while !self.stage.text().contains(words) {
            let event = self.live.next().await;
            self.stage.tell(event);
        }
    }

    /// Presses keys, a moment after what took the keys by itself.
    fn press(&mut self, keys: &str) {
        self.stage.wait(500);
        self.stage.effects.clear();
        self.stage.keys(keys);
        self.stage.sent().into_iter().for_each(|command| self.live.send(command.clone()));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn keys_choose_for_a_file_changed_outside_in_a_restore_of_the_model() {
    for (key, shown, after) in
        [("l", "kept as it is", THEIRS), ("m", "will be merged", MERGED), ("t", "will restore this version", OLD)]
    {
        let (world, live) = changed_outside(json!({"path": "a.txt"})).await;
        let mut stage = Stage::new(140, 40, "dark");
        live.events.iter().cloned().for_each(|event| stage.tell(event));
        let mut played = Played { live, stage };
        played.until("restore this version").await;
        played.press(key);
        played.until(shown).await;
        if key == "l" {
            // Nothing is left to write.
            played.press("<esc>");
        } else {
            played.press("<enter>");
            played.press("a");
        }
        assert_eq!(played.live.end().await, TurnEnd::Done);
        assert_eq!(world.read("a.txt"), after, "{key}: {}", played.stage.text());
        let result = results(&played.live).pop().expect("a result");
        let begins = if key == "l" { "Nothing was restored.\nNot restored: " } else { "Restored: a.txt" };
        assert!(result.starts_with(begins), "{key}: {result}");
        check_protocol(&played.live);
        played.live.close().await;
    }
}

/// The lines of a recording whose model makes one call, and then says something.
fn recorded(step: usize, name: &str, arguments: &Value) -> [Value; 6] {
    let delta = |delta| json!({"ms": 0, "delta": delta});
    [
        json!({"step": step}),
        delta(json!({"call": {"index": 0, "id": "c", "name": name, "arguments": arguments.to_string()}})),
        delta(json!({"end": "calls"})),
        json!({"step": step + 1}),
        delta(json!({"text": "Done."})),
        delta(json!({"end": "stop"})),
    ]
}

/// The arguments of the edit that [`THEIRS`] was changed after.
fn shouted() -> Value {
    json!({"path": "a.txt", "search": "one", "replace": "ONE"})
}

#[test]
fn line_mode_lets_the_person_choose_in_a_restore_of_the_model() {
    let undo = recorded(3, "undo", &json!({"path": "a.txt"}));
    let recording = [recorded(1, "replaceInFile", &shouted()), undo].concat();
    for (word, told, after) in [
        ("keep", "1 a.txt: changed outside nebula, kept as it is\n", THEIRS),
        ("merge", "1 a.txt: changed outside nebula, will be merged\n", MERGED),
        ("restore", "1 a.txt: changed outside nebula, will restore this version\n", OLD),
    ] {
        let (out, now) = chat_with(&recording, OLD, |stdin, stdout, file| {
            stdin.write_all(b"shout\nall\n").expect("written");
            read_until(stdout, "changed 1 file");
            std::fs::write(file, THEIRS).expect("written");
            stdin.write_all(format!("back\n{word}\ny\n").as_bytes()).expect("written");
        });
        assert!(out.contains(told) && !out.contains("withdrawn"), "{word}: {out}");
        let left = "changed outside nebula, left as it is: a.txt";
        assert_eq!((out.contains(left), out.contains("you rejected this")), (word == "keep", false), "{word}: {out}");
        assert_eq!(now, after, "{word}: {out}");
    }
}

/// Returns the lines that a task prints that plays a recording in a folder.
fn task(dir: &Path, recording: &[Value]) -> String {
    let lines = recording.iter().map(|line| format!("{line}\n"));
    let text: String = std::iter::once("{\"recording\":1}\n".to_string()).chain(lines).collect();
    std::fs::write(dir.join("recording.jsonl"), text).expect("written");
    let mut command = Process::new(env!("CARGO_BIN_EXE_nebula"));
    command.args(["task", "go", "--json", "--approve", "edits", "--replay", "../recording.jsonl"]);
    command.current_dir(dir.join("work")).env_clear().env("HOME", dir.join("home")).stdin(Stdio::null());
    command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
    String::from_utf8(command.output().expect("it runs").stdout).expect("text")
}

#[test]
fn without_a_person_a_file_changed_outside_stays_and_the_model_is_told() {
    let dir = tempfile::tempdir().expect("a folder");
    for name in ["work/.git", "home"] {
        std::fs::create_dir_all(dir.path().join(name)).expect("made");
    }
    let file = dir.path().join("work/a.txt");
    std::fs::write(&file, OLD).expect("written");
    task(dir.path(), &recorded(1, "replaceInFile", &shouted()));
    std::fs::write(&file, THEIRS).expect("written");
    let out = task(dir.path(), &recorded(1, "undo", &json!({"path": "a.txt"})));
    let lines: Vec<Value> = out.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let result = lines.iter().find(|line| line["type"] == "tool_result").unwrap_or_else(|| panic!("no result: {out}"));
    let told = "Nothing was restored.\nNot restored: changed outside nebula, left as it is: a.txt";
    assert_eq!((&result["ok"], &result["text"]), (&json!(false), &json!(told)), "{out}");
    assert_eq!(std::fs::read_to_string(&file).expect("readable"), THEIRS);
}
