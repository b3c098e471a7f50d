//! Commands to events: approve, refuse a hunk, interrupt, resume equals live.

use std::collections::BTreeMap;

use nebula::proposal::{Choice, Consent, Decision, Personal};
use nebula::protocol::{
    Call, CallState, Command, Continuation, EventBody, Item, ItemId, Outcome, ProposalEvent, SessionChoice, TurnEnd,
};
use nebula::provider::{Delta, EndReason, Message, Role};
use serde_json::json;

use crate::support::world::{Live, World, call, calls, say};

pub fn replace(path: &str, search: &str, replace: &str) -> (&'static str, serde_json::Value) {
    ("replaceInFile", json!({"path": path, "search": search, "replace": replace}))
}

/// The calls as they are shown at the end, in their order.
pub fn calls_of(events: &[EventBody]) -> BTreeMap<ItemId, Call> {
    let mut all = BTreeMap::new();
    for event in events {
        if let EventBody::Added(id, Item::Call(call)) | EventBody::Changed(id, Item::Call(call)) = event {
            all.insert(*id, call.clone());
        }
    }
    all
}

fn call_ends(live: &Live) -> Vec<CallState> {
    calls_of(&live.events).into_values().map(|call| call.state).collect()
}

/// Every turn, proposal and call came to its end, as the protocol promises.
pub fn check_protocol(live: &Live) {
    let count = |f: fn(&EventBody) -> bool| live.events.iter().filter(|e| f(e)).count();
    let started = count(|e| matches!(e, EventBody::TurnStarted(_)));
    assert_eq!(started, count(|e| matches!(e, EventBody::TurnEnded(..))));
    let proposed = count(|e| {
        matches!(e, EventBody::Proposal(ProposalEvent::Proposed(..)) | EventBody::Proposal(ProposalEvent::Approved(..)))
    });
    assert_eq!(proposed, count(|e| matches!(e, EventBody::Proposal(ProposalEvent::Settled(..)))));
    assert!(call_ends(live).iter().all(|s| s.is_final()), "{:?}", call_ends(live));
}

/// The texts of the tool results in the last request.
pub fn results(live: &Live) -> Vec<String> {
    let requests = live.requests();
    let last = requests.last().expect("a request");
    last.messages.iter().filter(|m| m.role == Role::Tool).map(|m| m.text().into_owned()).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_approved_edit_is_archived_and_written() {
    let world =
        World::new().file("a.rs", "fn a() {}\n").model([calls(&[replace("a.rs", "fn a()", "fn b()")]), say("Done.")]);
    let mut live = world.start();
    live.submit("rename a to b");
    let proposal = live.decide(Choice::Accept).await;
    assert_eq!(proposal.files[0].path, "a.rs");
    assert_eq!(live.end().await, TurnEnd::Done);
    assert_eq!(world.read("a.rs"), "fn b() {}\n");
    let archived: Vec<_> = walk(&world.root().join(".shaft/archives"));
    assert!(archived.iter().any(|f| std::fs::read(f).is_ok_and(|b| b == b"fn a() {}\n")), "{archived:?}");
    assert!(results(&live)[0].starts_with("a.rs: written"), "{:?}", results(&live));
    check_protocol(&live);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_empty_answer_is_reported() {
    let nothing = || vec![Delta::End(EndReason::Stop)];
    let world = World::new().model([nothing(), call("list", json!({"path": "."})), nothing()]);
    let mut live = world.start();
    let result_texts = |live: &Live| {
        let silent =
            |e: &&EventBody| matches!(e, EventBody::Added(_, Item::Notice(n)) if n.title.contains("empty answer"));
        live.events.iter().filter(silent).count()
    };
    live.submit("hello");
    assert!(matches!(live.end().await, TurnEnd::Failed { resumable: true, .. }));
    assert_eq!(result_texts(&live), 1);
    live.submit("look around");
    assert_eq!(live.end().await, TurnEnd::Done);
    assert_eq!(result_texts(&live), 2);
    check_protocol(&live);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answer_that_the_server_withholds_is_cut() {
    let text = "a.rs\n```\nfn b() {}\n";
    let world = World::new()
        .file("a.rs", "fn a() {}\nfn c() {}\n")
        .format("whole")
        .approve("edits")
        .model([vec![Delta::Text(text.into()), Delta::End(EndReason::Filter)]]);
    let mut live = world.start();
    live.submit("rename a to b in @a.rs");
    let TurnEnd::Failed { message, .. } = live.end().await else { panic!("an ordinary end") };
    assert!(message.contains("held back"), "{message}");
    assert_eq!(world.read("a.rs"), "fn a() {}\nfn c() {}\n");
    check_protocol(&live);
}

/// With one thread for the agent, which is the one that waits: as in the program.
#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_locked_memory_is_waited_for_and_that_is_said_meanwhile() {
    let world = World::new().model([say("Hello.")]);
    let database = world.home().join(".nebula/memory.db");
    world.start().close().await;
    let lock = |database: &std::path::Path| {
        let other = rusqlite::Connection::open(database).expect("a database");
        other.execute_batch("BEGIN IMMEDIATE").expect("locked");
        other
    };
    let waiting = |e: &EventBody| match e {
        EventBody::Notice(n) if n.title.contains("waiting for it") => Some(()),
        _ => None,
    };
    let other = lock(&database);
    let mut live = world.start();
    live.submit("hi");
    live.until(waiting).await;
    drop(other);
    assert_eq!(live.end().await, TurnEnd::Done);
    let ram = |e: &EventBody| matches!(e, EventBody::Added(_, Item::Notice(n)) if n.title.contains("RAM"));
    assert!(!live.events.iter().any(ram), "{:?}", live.events);
    live.close().await;

    // Also while it is opened: whoever takes every lock of a database keeps it from being read.
    let other = rusqlite::Connection::open(&database).expect("a database");
    other.execute_batch("PRAGMA locking_mode=EXCLUSIVE; BEGIN IMMEDIATE").expect("locked");
    let mut live = world.start();
    live.until(waiting).await;
    drop(other);
    live.submit("hi");
    assert_eq!(live.end().await, TurnEnd::Done);
    assert!(!live.events.iter().any(ram), "{:?}", live.events);
    live.close().await;
}

/// Another program keeps memory locked during a whole turn: the answer arrives all the same, and is kept when the lock goes.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_turn_goes_on_while_memory_is_locked() {
    let world =
        World::new().file("a.rs", "fn a() {}\n").model([call("readFile", json!({"path": "a.rs"})), say("Hello.")]);
    let database = world.home().join(".nebula/memory.db");
    world.start().close().await;
    let other = rusqlite::Connection::open(&database).expect("a database");
    other.execute_batch("BEGIN IMMEDIATE").expect("locked");
    let mut live = world.start();
    live.submit("hi");
    assert_eq!(live.end().await, TurnEnd::Done);
    let count = |sql: &str| -> i64 { other.query_row(sql, [], |row| row.get(0)).expect("counted") };
    assert_eq!(count("SELECT count(*) FROM messages"), 0, "the lock still stands");
    live.send(Command::Interrupt);
    other.execute_batch("ROLLBACK").expect("let go");
    live.close().await;
    assert_eq!(count("SELECT count(*) FROM messages"), 4, "prompt, call, result and answer");
    assert_eq!(count("SELECT count(*) FROM messages WHERE content = 'Hello.'"), 1);
    assert_eq!(count("SELECT count(*) FROM sessions WHERE ended_at IS NULL"), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_that_is_cut_is_not_run_and_a_whole_one_before_the_cut_is() {
    let edit = |arguments: &str| Delta::Call {
        index: 0,
        id: Some("c".into()),
        name: Some("replaceInFile".into()),
        arguments: arguments.into(),
    };
    let whole = r#"{"path":"a.rs","search":"fn a()","replace":"fn b()"}"#;
    let torn = whole.trim_end_matches('}');
    for reason in [Some(EndReason::Length), Some(EndReason::Filter), None] {
        for (arguments, text) in [(torn, "fn a() {}\n"), (whole, "fn b() {}\n")] {
            let deltas = [Some(edit(arguments)), reason.map(Delta::End)].into_iter().flatten().collect();
            let world = World::new().file("a.rs", "fn a() {}\n").approve("edits").model([deltas, say("On.")]);
            let mut live = world.start();
            live.submit("rename a");
            assert!(matches!(live.end().await, TurnEnd::Failed { .. }), "{reason:?} {arguments}");
            assert_eq!(world.read("a.rs"), text, "{reason:?} {arguments}");
            check_protocol(&live);
            live.send(Command::Continue(Continuation::Resume));
            assert_eq!(live.end().await, TurnEnd::Done);
            let sent = live.requests().pop().expect("a request").messages;
            // Nothing is left of the answer that was cut but its row: the model is asked as it was.
            assert_eq!(sent.last().is_some_and(|m| m.is_blank()), arguments == torn, "{sent:?}");
        }
    }
}

fn walk(dir: &std::path::Path) -> Vec<std::path::PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(dir).expect("a folder").flatten() {
        if entry.path().is_dir() {
            found.extend(walk(&entry.path()));
        } else {
            found.push(entry.path());
        }
    }
    found
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn neighbouring_edits_are_one_proposal_decided_hunk_by_hunk() {
    let text = "one\n1\n2\n3\n4\n5\ntwo\n";
    let world = World::new()
        .file("a.txt", text)
        .model([calls(&[replace("a.txt", "one", "ONE"), replace("a.txt", "two", "TWO")]), say("Done.")]);
    let mut live = world.start();
    live.submit("shout");
    let proposal = live.proposal().await;
    assert_eq!(proposal.files.len(), 1);
    assert_eq!(proposal.files[0].hunks.len(), 2);
    let mut files = proposal.choices(Choice::Accept);
    files[0].hunks[1] = Choice::Reject;
    let mut decision = Decision::new(files, Consent::Person);
    decision.reason = Some("two stays".into());
    live.send(Command::Decide(proposal.id, decision));
    assert_eq!(live.end().await, TurnEnd::Done);
    assert_eq!(world.read("a.txt"), text.replace("one", "ONE"));
    let result_texts = results(&live);
    // Each call hears of its own hunk.
    assert_eq!(result_texts.len(), 2);
    assert_eq!(result_texts[0], "a.txt: written");
    assert!(
        result_texts[1].contains("not written:\n  hunk 2 (lines 7-7 of before): rejected")
            && result_texts[1].contains("two stays"),
        "{result_texts:?}"
    );

    check_protocol(&live);
}

/// How edits fare is counted per model and format, for edits in the text as for calls.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn edits_in_the_text_are_counted_too() {
    let block = |search: &str, replace: &str| {
        format!(
            "<replace_file><path>a.txt</path><search>\n{search}\n</search><replace>\n{replace}\n</replace></replace_file>\n"
        )
    };
    let call = r#"{"name": "replaceInFile", "arguments": {"path": "a.txt", "search": "1", "replace": "ONE"}}"#;
    let world = World::new().format("xml").file("a.txt", "one\n1\n2\n3\n4\n5\ntwo\n").model([
        say(&(block("one", "ONE") + &block("  two", "  TWO") + &block("3", "3"))),
        say(&block("nowhere at all", "x")),
        say(&format!("{}```json\n{call}\n```\n<replace_file><path>a.txt</path><search>\n1\n", block("4", "four"))),
        calls(&[("writeFile", json!({"path": "new.txt", "content": "new\n"}))]),
        say("Done."),
    ]);
    let mut live = world.start();
    live.submit("shout");
    let proposal = live.proposal().await;
    let mut files = proposal.choices(Choice::Accept);
    files[0].hunks[1] = Choice::Reject;
    let decision = Decision::new(files, Consent::Person);
    live.send(Command::Decide(proposal.id, decision));
    live.decide(Choice::Accept).await;
    live.decide(Choice::Accept).await;
    assert_eq!(live.end().await, TurnEnd::Done);
    live.close().await;
    let stats = std::process::Command::new(env!("CARGO_BIN_EXE_nebula"))
        .args(["stats", "--json"])
        .current_dir(world.root())
        .env("HOME", world.home())
        .env("NEBULA_HOME", nebula::config::Paths::below(&world.home()).folder().expect("a folder"))
        .output()
        .expect("it runs");
    let rows: serde_json::Value = serde_json::from_slice(&stats.stdout).expect("JSON");
    assert_eq!(
        rows,
        json!([
            {"model": "recording", "format": "tools", "asked": 2, "applied": {"exact": 1, "whole file": 1},
             "unchanged": 0, "notFound": 0, "refused": 0, "retried": 0, "nudged": 0},
            {"model": "recording", "format": "xml", "asked": 6, "applied": {"exact": 2}, "unchanged": 1, "notFound": 2,
             "refused": 1, "retried": 1, "nudged": 0},
        ])
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_changed_meanwhile_is_not_overwritten() {
    let world = World::new()
        .file("a.txt", "fn a() {}\n")
        .model([calls(&[replace("a.txt", "fn a()", "fn b()")]), say("I'll read it again.")]);
    let mut live = world.start();
    live.submit("rename");
    let proposal = live.proposal().await;
    world.write("a.txt", "fn a() {}\n// someone else\n");
    live.send(Command::Decide(proposal.id, Decision::accept(&proposal, Consent::Person)));
    let outcome = live
        .until(|e| match e {
            EventBody::Proposal(ProposalEvent::Settled(_, o)) => Some(o.clone()),
            _ => None,
        })
        .await;
    assert!(matches!(outcome, Outcome::Conflict { .. }), "{outcome:?}");
    live.end().await;
    assert_eq!(world.read("a.txt"), "fn a() {}\n// someone else\n");
    let result_texts = &results(&live)[0];
    assert!(
        result_texts.contains("Read the file again") && result_texts.ends_with("@@ line 2 @@\n+// someone else"),
        "{result_texts}"
    );
    check_protocol(&live);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_edit_of_a_file_changed_since_it_was_read_reports_what_changed() {
    let world = World::new().file("a.rs", "fn a() {}\nfn z() {}\n").file("go", "").model([
        call("readFile", json!({"path": "a.rs"})),
        call("askUser", json!({"question": "Go on?"})),
        calls(&[
            ("editFile", json!({"path": "a.rs", "new_content": "fn c() {}\n"})),
            replace("a.rs", "fn a() {}", "fn c() {}"),
        ]),
        say("I read it again."),
    ]);
    let mut live = world.start();
    live.submit("rename a to c");
    let question = live.until(|e| if let EventBody::Asked(q) = e { Some(q.id) } else { None }).await;
    world.write("a.rs", "fn b() {}\nfn z() {}\n");
    live.send(Command::Reply(question, nebula::protocol::Reply::Text("yes".into())));
    assert_eq!(live.end().await, TurnEnd::Done);
    assert_eq!(world.read("a.rs"), "fn b() {}\nfn z() {}\n");
    let result_texts = results(&live);
    let [.., first, second] = &result_texts[..] else { panic!("{result_texts:?}") };
    assert!(first.contains("changed on disk after you read it"), "{first}");
    assert!(first.contains("@@ line 1 @@\n-fn a() {}\n+fn b() {}"), "{first}");
    assert!(!second.contains("written"), "{second}");
    assert_eq!(result_texts.len(), 4);
    check_protocol(&live);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_whole_text_for_a_file_changed_since_it_was_read_is_merged_into_it() {
    let before = "fn a() {}\n\nfn m() {}\n\nfn z() {}\n";
    let whole = before.replace("a()", "c()");
    let world = World::new().approve("edits").file("a.rs", before).model([
        call("readFile", json!({"path": "a.rs"})),
        call("askUser", json!({"question": "Go on?"})),
        call("editFile", json!({"path": "a.rs", "new_content": whole})),
        say("Done."),
    ]);
    let mut live = world.start();
    live.submit("rename a to c");
    let question = live.until(|e| if let EventBody::Asked(q) = e { Some(q.id) } else { None }).await;
    world.write("a.rs", &before.replace("z()", "y()"));
    live.send(Command::Reply(question, nebula::protocol::Reply::Text("yes".into())));
    assert_eq!(live.end().await, TurnEnd::Done);
    assert_eq!(world.read("a.rs"), whole.replace("z()", "y()"));
    let told = results(&live).pop().expect("a result");
    assert!(told.contains("Your edit was merged into it (by lines)"), "{told}");
    assert!(told.contains("-fn z() {}\n+fn y() {}") && !told.contains("c()"), "{told}");
    check_protocol(&live);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn plan_mode_neither_offers_nor_runs_tools_that_write() {
    let world = World::new()
        .plan()
        .model([call("writeFile", json!({"path": "new.txt", "content": "x"})), say("Here is the plan.")]);
    let mut live = world.start();
    live.submit("make a file");
    assert_eq!(live.end().await, TurnEnd::Done);
    assert!(!world.has("new.txt"));
    assert!(live.requests()[0].tools.iter().all(|t| t.name != "writeFile"));
    assert!(results(&live)[0].contains("plan mode"));
    assert_eq!(call_ends(&live), [CallState::Refused]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn plan_mode_writes_nothing_that_stands_in_the_text() {
    let diff = "```diff\n--- a/a.rs\n+++ b/a.rs\n@@ -1 +1 @@\n-fn a() {}\n+fn b() {}\n```\n";
    let blocks = "a.rs\n<<<<<<< SEARCH\nfn a() {}\n=======\nfn c() {}\n>>>>>>> REPLACE\n";
    let tags = "<write_file><path>new.txt</path><content>x</content></write_file>\n";
    let file = "a.rs\n```rust\nfn d() {}\n```\n";
    let call = "{\"name\": \"writeFile\", \"arguments\": {\"path\": \"new.txt\", \"content\": \"x\"}}\n";
    for format in ["tools", "xml", "blocks", "whole", "patch"] {
        let plan = format!("The plan:\n\n{diff}\n{blocks}\n{tags}\n{file}\nThat is all.\n");
        let world = World::new()
            .file("a.rs", "fn a() {}\n")
            .plan()
            .format(format)
            .approve("edits")
            .model([say(&plan), say(call)]);
        let mut live = world.start();
        live.submit("how would you change @a.rs?");
        assert_eq!(live.end().await, TurnEnd::Done, "{format}");
        let visible = live.events.iter().filter_map(|e| match e {
            EventBody::Added(_, Item::Answer { text }) | EventBody::Grew(_, text) => Some(text.as_str()),
            _ => None,
        });
        assert_eq!(visible.collect::<String>(), plan, "{format}");
        assert_eq!((world.read("a.rs").as_str(), live.requests().len()), ("fn a() {}\n", 1), "{format}");
        live.submit("do it");
        live.end().await;
        assert!(!world.has("new.txt") && world.read("a.rs") == "fn a() {}\n", "{format}");
        check_protocol(&live);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn interrupting_a_proposal_withdraws_it_and_keeps_the_history_valid() {
    let world =
        World::new().file("a.rs", "fn a() {}\n").model([calls(&[replace("a.rs", "fn a()", "fn b()")]), say("Fine.")]);
    let mut live = world.start();
    live.submit("rename");
    live.proposal().await;
    live.send(Command::Interrupt);
    assert_eq!(live.end().await, TurnEnd::Interrupted);
    assert_eq!(world.read("a.rs"), "fn a() {}\n");
    live.submit("never mind");
    assert_eq!(live.end().await, TurnEnd::Done);
    check_protocol(&live);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_resumed_session_sends_the_same_messages() {
    let steps = [call("readFile", json!({"path": "a.rs"})), say("It is short."), say("Again."), say("Once more.")];
    let world = World::new().file("a.rs", "fn a() {}\n").model(steps.clone());
    let mut live = world.start();
    live.submit("look at @a.rs");
    live.end().await;
    live.submit("and now?");
    live.end().await;
    let sent = live.requests().last().expect("a request").messages.clone();
    let answered = plain(&sent);
    let first = live.until_session();
    live.close().await;

    let world = world.model([say("Resumed.")]);
    let mut live = world.start();
    live.open(SessionChoice::Resume(first));
    live.submit("still there?");
    live.end().await;
    let resumed = plain(&live.requests()[0].messages);
    assert_eq!(resumed[..answered.len()], answered);
    assert_eq!(resumed.len(), answered.len() + 2);
    let visible = live.events.iter().filter(|e| matches!(e, EventBody::Added(_, Item::Call(_)))).count();
    assert_eq!(visible, 1);
}

fn plain(messages: &[std::sync::Arc<Message>]) -> Vec<Message> {
    messages.iter().map(|m| (**m).clone()).collect()
}

impl Live {
    fn until_session(&self) -> String {
        let opened = self.events.iter().find_map(|e| match e {
            EventBody::Opened(info) => Some(info.id.clone()),
            _ => None,
        });
        opened.expect("an open session")
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_same_call_three_times_and_the_step_limit_stop_to_ask() {
    let again = || call("list", json!({"path": "."}));
    let world = World::new().model([again(), again(), again(), say("Never reached.")]);
    let mut live = world.start();
    live.submit("loop");
    assert!(matches!(live.end().await, TurnEnd::Asking(why) if why.contains("again and again")));
    let world = World::new().max_steps(2).model([
        call("list", json!({"path": "."})),
        call("list", json!({"path": ".", "recursive": true})),
        say("Later."),
    ]);
    let mut live = world.start();
    live.submit("walk");
    assert!(matches!(live.end().await, TurnEnd::Asking(why) if why.starts_with("2 steps")));
    live.send(Command::Continue(nebula::protocol::Continuation::Resume));
    assert_eq!(live.end().await, TurnEnd::Done);
    check_protocol(&live);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn broken_arguments_are_repaired_or_returned() {
    let broken = |text: &str| {
        vec![
            nebula::provider::Delta::Call {
                index: 0,
                id: Some("x".into()),
                name: Some("list".into()),
                arguments: text.into(),
            },
            nebula::provider::Delta::End(nebula::provider::EndReason::Calls),
        ]
    };
    let world = World::new().file("a.rs", "").model([
        broken("{\"path\": \".\""),
        broken("{\"path\": 3}"),
        broken("[}"),
        say("Done."),
    ]);
    let mut live = world.start();
    live.submit("list");
    assert_eq!(live.end().await, TurnEnd::Done);
    let result_texts = results(&live);
    assert!(result_texts[0].contains("a.rs"), "{result_texts:?}");
    assert!(result_texts[1].contains("must be a string"), "{result_texts:?}");
    assert!(result_texts[2].contains("[}"), "{result_texts:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn edits_in_the_text_become_one_proposal() {
    let answer = "I rename it.\n\n<replace_file>\n<path>a.rs</path>\n<search>\nfn a() {}\n</search>\n<replace>\nfn b() {}\n</replace>\n</replace_file>\n";
    let world = World::new().format("xml").file("a.rs", "fn a() {}\n").model([say(answer), say("Never asked.")]);
    let mut live = world.start();
    live.submit("rename");
    live.decide(Choice::Accept).await;
    assert_eq!(live.end().await, TurnEnd::Done);
    assert_eq!(world.read("a.rs"), "fn b() {}\n");
    assert_eq!(live.requests().len(), 1);
    check_protocol(&live);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_nearly_full_archive_is_reported_in_the_chat() {
    let full = |e: &EventBody| match e {
        EventBody::Added(_, Item::Notice(n)) if n.title.starts_with("the archive holds") => Some(n.title.clone()),
        _ => None,
    };
    let world = World::new()
        .approve("edits")
        .file("a.rs", &format!("fn a() {{}}\n// {}\n", "x".repeat(2000)))
        .model([calls(&[replace("a.rs", "fn a()", "fn b()")]), say("Done.")]);
    std::fs::create_dir_all(world.home().join(".nebula")).expect("made");
    std::fs::write(world.home().join(".nebula/config.json"), r#"{"archiveMaxSize": 2500}"#).expect("written");
    let mut live = world.start();
    live.submit("rename");
    let result_texts = live.until(full).await;
    assert!(result_texts.ends_with("% of archiveMaxSize (2.4 KiB)"), "{result_texts}");
    live.close().await;
    // At the next start it is told once the chat is there.
    let mut live = world.model([say("Hello.")]).start();
    live.open(SessionChoice::New);
    live.until(|e| matches!(e, EventBody::Opened(_)).then_some(())).await;
    live.until(full).await;
    live.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_said_before_a_call_is_shown_before_it() {
    // A line without an end might be the path above an edit; the call that follows says that it is not.
    let mut deltas = vec![nebula::provider::Delta::Text("Reading.".into())];
    deltas.extend(call("list", json!({"path": "."})));
    let world = World::new().file("a.rs", "").model([deltas, say("src/a.rs")]);
    let mut live = world.start();
    live.submit("look");
    assert_eq!(live.end().await, TurnEnd::Done);
    let visible: Vec<&str> = live
        .events
        .iter()
        .filter_map(|e| match e {
            EventBody::Added(_, Item::Answer { text }) => Some(text.as_str()),
            EventBody::Added(_, Item::Call(call)) => Some(call.name.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(visible, ["Reading.", "list", "src/a.rs"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_missing_mention_gives_the_prompt_back() {
    let world = World::new().model([say("Never asked.")]);
    let mut live = world.start();
    live.submit("look at @missing.rs");
    let (prompt, why) = live
        .until(|e| match e {
            EventBody::Returned(p, w) => Some((p.clone(), w.clone())),
            _ => None,
        })
        .await;
    assert_eq!(prompt.text, "look at @missing.rs");
    assert!(why.contains("missing.rs"), "{why}");
    assert!(live.requests().is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_message_that_cannot_fit_comes_back_and_spoils_nothing() {
    let world = World::new().model([say("Hello.")]);
    let mut live = world.start();
    live.submit(&"words ".repeat(1_000_000));
    let (prompt, why) = live
        .until(|e| match e {
            EventBody::Returned(p, w) => Some((p.clone(), w.clone())),
            _ => None,
        })
        .await;
    assert_eq!(prompt.text.len(), 6_000_000);
    assert!(why.contains("context window"), "{why}");
    live.submit("hello");
    assert_eq!(live.end().await, TurnEnd::Done);
    assert_eq!(live.requests().len(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_policy_writes_exact_edits_and_asks_about_inexact_ones() {
    let text = "fn total(lines: &[Line]) -> i64 {\n    lines.iter().map(|line| line.price * line.count).sum()\n}\n";
    let near = "    lines.iter().map(|line| line.price * line.counts).sum()";
    let world = World::new().approve("edits").file("a.rs", text).model([
        calls(&[replace("a.rs", "fn total", "fn sum")]),
        calls(&[replace("a.rs", near, "    0")]),
        say("Done."),
    ]);
    let mut live = world.start();
    live.submit("change");
    live.until(|e| matches!(e, EventBody::Proposal(ProposalEvent::Approved(..))).then_some(())).await;
    let proposal = live.decide(Choice::Reject).await;
    assert!(proposal.needs_person().is_some_and(|n| n.why == Personal::Inexact));
    live.end().await;
    assert_eq!(world.read("a.rs"), text.replace("fn total", "fn sum"));
    check_protocol(&live);
}

/// A resumed session shows edits in the text as a live one did: prose and calls, no notation.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn edits_in_the_text_are_shown_again_on_resume() {
    let edit = |search: &str, replace: &str| {
        format!(
            "<replace_file><path>a.txt</path><search>\n{search}\n</search><replace>\n{replace}\n</replace></replace_file>\n"
        )
    };
    let text = format!(
        "First:\n{}Then:\n{}{{\"name\": \"deleteFile\", \"arguments\": {{\"path\": \"gone\"}}}}\nThat is all.",
        edit("one", "ONE"),
        edit("two", "TWO")
    );
    let world = World::new().format("xml").file("a.txt", "one\n1\n2\n3\n4\n5\ntwo\n").file("gone", "x\n");
    let world = world.model([say(&text), say("Done.")]);
    let mut live = world.start();
    live.submit("shout");
    let proposal = live.proposal().await;
    let mut files = proposal.choices(Choice::Accept);
    files[0].hunks[1] = Choice::Reject;
    let decision = Decision::new(files, Consent::Person);
    live.send(Command::Decide(proposal.id, decision));
    live.end().await;
    let visible = |items: Vec<Item>| -> Vec<String> {
        let said = |item| match item {
            Item::Answer { text } => Some(text.trim().to_string()),
            Item::Call(c) => Some(format!("{} {} {:?} {}", c.name, c.main, c.state, c.preview.len())),
            _ => None,
        };
        items.into_iter().filter_map(said).collect()
    };
    let mut items = std::collections::BTreeMap::new();
    for event in &live.events {
        match event {
            EventBody::Added(id, item) | EventBody::Changed(id, item) => {
                items.insert(*id, item.clone());
            }
            EventBody::Grew(id, more) => {
                if let Some(Item::Answer { text }) = items.get_mut(id) {
                    text.push_str(more);
                }
            }
            _ => {}
        }
    }
    let before = visible(items.into_values().collect());
    assert_eq!(before.len(), 7, "{before:?}");
    live.close().await;
    let mut again = world.start();
    again.open(SessionChoice::Continue);
    let recalled = again
        .until(|e| match e {
            EventBody::Recalled(items) => Some(items.clone()),
            _ => None,
        })
        .await;
    let after = visible(recalled.into_iter().map(|(_, item)| item).collect());
    assert_eq!(after, before);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_that_changes_while_its_proposal_waits_is_reported() {
    let world = World::new().file("a.txt", "one\n").model([calls(&[replace("a.txt", "one", "two")]), say("Well.")]);
    let mut live = world.start();
    live.submit("count");
    let proposal = live.proposal().await;
    world.write("a.txt", "ONE\n");
    live.until(|e| matches!(e, EventBody::Drifted(p) if *p == ["a.txt"]).then_some(())).await;
    live.send(Command::Decide(proposal.id, Decision::accept(&proposal, Consent::Person)));
    live.until(|e| matches!(e, EventBody::Proposal(ProposalEvent::Settled(_, Outcome::Conflict { .. }))).then_some(()))
        .await;
    assert_eq!(live.end().await, TurnEnd::Done);
    assert_eq!(world.read("a.txt"), "ONE\n");
}

/// A block that was told to be a file by its likeness shows as an edit again, though the file is another one by then.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_known_by_its_likeness_is_shown_again_on_resume() {
    let text = "So one runs it:\n\n```sh\nmake\n```\n\nHere it is:\n\n```\nONE\n2\n3\n4\n5\n```\n\nDone.";
    let world = World::new().format("xml").file("a.txt", "one\n2\n3\n4\n5\n").model([say(text), say("Done.")]);
    let mut live = world.start();
    live.submit("shout in @a.txt");
    let proposal = live.proposal().await;
    live.send(Command::Decide(proposal.id, Decision::accept(&proposal, Consent::Person)));
    live.end().await;
    live.close().await;
    assert_eq!(world.read("a.txt"), "ONE\n2\n3\n4\n5\n");
    let mut again = world.start();
    again.open(SessionChoice::Continue);
    let recalled = again
        .until(|e| match e {
            EventBody::Recalled(items) => Some(items.clone()),
            _ => None,
        })
        .await;
    let call = recalled.iter().find_map(|(_, item)| match item {
        Item::Call(c) => Some((c.name.as_str(), c.main.as_str(), c.state)),
        _ => None,
    });
    assert_eq!(call, Some(("whole", "a.txt", CallState::Done)));
}

/// A changeset that cannot be read stays so: it is told where changesets are looked at.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_changeset_that_cannot_be_read_is_not_told_at_each_start() {
    let world = World::new().file("a.txt", "one\n").model([calls(&[replace("a.txt", "one", "two")]), say("Done.")]);
    let mut live = world.start();
    live.submit("change it");
    live.decide(Choice::Accept).await;
    assert_eq!(live.end().await, TurnEnd::Done);
    live.close().await;
    // As a process leaves it that is killed before it records its changeset; then its versions are lost.
    let memory = rusqlite::Connection::open(world.home().join(".nebula/memory.db")).expect("a database");
    assert_eq!(memory.execute("UPDATE changesets SET state = 'pending', id = NULL", []), Ok(1));
    let entries = std::fs::read_dir(world.root().join(".shaft/archives")).expect("listed").flatten();
    let folders: Vec<_> = entries.map(|entry| entry.path()).filter(|path| path.is_dir()).collect();
    assert_eq!(folders.len(), 1);
    std::fs::remove_dir_all(&folders[0]).expect("removed");
    std::fs::write(&folders[0], "in its place").expect("written");
    for _ in 0..2 {
        let mut live = world.start();
        let counted = |event: &EventBody| match event {
            EventBody::Status(status) => status.archive.map(|_| status.banner.clone()),
            _ => None,
        };
        assert_eq!(live.until(counted).await, None);
        let events = live.close().await;
        let is_notice = |event: &&EventBody| matches!(event, EventBody::Added(_, Item::Notice(_)));
        assert!(events.iter().all(|event| !is_notice(&event)), "{events:?}");
    }
}
