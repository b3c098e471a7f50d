//! The tools of a store in a session of the agent: reads ask nothing, each change is shown and asked about.

use std::process::Command as Process;

use nebula::protocol::{Command, EventBody, ProposalEvent, Reply, RestoreRequest, TurnEnd};
use nebula::tools::of_store;
use serde_json::{Value, json};

use crate::session::results;
use crate::support::world::{Live, World, calls, say};

/// Makes a workspace whose folder is a store with one slot.
fn store(steps: impl IntoIterator<Item = Vec<(&'static str, Value)>>) -> World {
    let steps = steps.into_iter().map(|step| calls(&step)).chain([say("Done.")]);
    let world = World::new().model(steps);
    strand(&world, &["init"]);
    strand(&world, &["add", "slot", "count", "Int = 1"]);
    world
}

#[track_caller]
fn strand(world: &World, args: &[&str]) -> String {
    let mut command = Process::new(env!("CARGO_BIN_EXE_strand"));
    let out = command.args(args).current_dir(world.root()).env_clear().env("USER", "me").output().expect("run");
    assert!(out.status.success(), "{args:?}: {out:?}");
    String::from_utf8(out.stdout).expect("text")
}

fn start(world: &World) -> Live {
    world.start_with_tools(of_store(&world.root()))
}

fn replace(body: &str) -> (&'static str, Value) {
    ("strand_replace", json!({"qname": "slot.count", "body": body}))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_change_of_a_store_is_shown_asked_about_and_taken_back_by_the_store() {
    let world = store([
        vec![("strand_view", json!({"selector": "slot.count"})), ("strand_fix", json!({"error_code": "E0103"}))],
        vec![replace("Int = 2")],
    ]);
    let mut live = start(&world);
    live.submit("two");
    let question = live.question().await;
    // Neither the view nor the fix that is only shown asked.
    assert!(question.permission && question.text.contains("strand_replace"), "{question:?}");
    let diff = "slot.count\n@@ -1 +1 @@\n-slot count = Int = 1\n+slot count = Int = 2";
    assert!(question.text.ends_with(diff), "{question:?}");
    assert_eq!(strand(&world, &["view", "slot.count"]), "slot count = Int = 1\n");
    live.send(Command::Reply(question.id, Reply::Choice(0)));
    assert_eq!(live.end().await, TurnEnd::Done);
    let told = results(&live);
    let answer: Value =
        serde_json::from_str(told.last().expect("a result")).unwrap_or_else(|error| panic!("{error}: {told:?}"));
    assert_eq!(answer["qname"], "slot.count", "{answer}");
    live.close().await;
    assert_eq!(strand(&world, &["view", "slot.count"]), "slot count = Int = 2\n");
    let op = answer["op-id"].as_str().expect("an op");
    strand(&world, &["patch", "revert", op]);
    assert_eq!(strand(&world, &["view", "slot.count"]), "slot count = Int = 1\n");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_person_undoes_the_turn_that_changed_the_store_and_redoes_it() {
    let world = store([vec![replace("Int = 2")]]).approve("edits");
    let mut live = start(&world);
    live.submit("two");
    assert_eq!(live.end().await, TurnEnd::Done);
    let view = || strand(&world, &["view", "slot.count"]);
    assert_eq!(view(), "slot count = Int = 2\n");
    for (request, choice, after) in [
        (RestoreRequest::Turn, 1, "slot count = Int = 2\n"),
        (RestoreRequest::Turn, 0, "slot count = Int = 1\n"),
        (RestoreRequest::Redo, 0, "slot count = Int = 2\n"),
    ] {
        live.send(Command::Restore(request));
        let question = live.question().await;
        assert!(question.text.contains("+slot count = Int = ") && question.permission, "{question:?}");
        live.send(Command::Reply(question.id, Reply::Choice(choice)));
        live.until(|event| matches!(event, EventBody::Proposal(ProposalEvent::RestoreEnded)).then_some(())).await;
        assert_eq!(view(), after);
    }
    live.close().await;
    // What the person takes back is theirs, and what the model changed its own.
    let history = strand(&world, &["view", "slot.count", "--history"]);
    let by = |author: &str| history.matches(author).count();
    assert_eq!((by(" agent:nebula "), by(" user:") - by(" add user:me ")), (1, 2), "{history}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_model_undoes_its_change_of_the_store_in_its_own_name() {
    let world = store([vec![replace("Int = 2")], vec![("undo", json!({"count": 1}))]]).approve("edits");
    let mut live = start(&world);
    live.submit("two");
    let question = live.question().await;
    live.send(Command::Reply(question.id, Reply::Choice(0)));
    assert_eq!(live.end().await, TurnEnd::Done);
    live.close().await;
    assert_eq!(strand(&world, &["view", "slot.count"]), "slot count = Int = 1\n");
    let history = strand(&world, &["view", "slot.count", "--history"]);
    assert_eq!(history.matches(" agent:nebula ").count(), 2, "{history}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_the_store_refuses_is_answered_without_a_question() {
    let world = store([vec![replace("Int = ("), ("strand_rename", json!({"qname": "slot.no", "new_name": "a"}))]]);
    let mut live = start(&world);
    live.submit("two");
    assert_eq!(live.end().await, TurnEnd::Done);
    let told = results(&live);
    assert!(told[0].contains("\"error\"") && told[1].contains("there is no slot.no"), "{told:?}");
    let events = live.close().await;
    assert!(!events.iter().any(|event| matches!(event, EventBody::Asked(_))), "{events:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_definition_that_changed_while_the_person_decided_is_left_alone() {
    let world = store([vec![replace("Int = 2")]]);
    let mut live = start(&world);
    live.submit("two");
    let question = live.question().await;
    strand(&world, &["replace", "slot.count", "Int = 9"]);
    live.send(Command::Reply(question.id, Reply::Choice(0)));
    assert_eq!(live.end().await, TurnEnd::Done);
    assert!(results(&live)[0].contains("changed since"), "{:?}", results(&live));
    live.close().await;
    assert_eq!(strand(&world, &["view", "slot.count"]), "slot count = Int = 9\n");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_definition_that_changed_since_it_was_viewed_is_overwritten_only_when_that_was_read() {
    let add = ("strand_add", json!({"layer": "slot", "name": "more", "body": "Int = 0"}));
    let remove = ("strand_remove", json!({"qname": "slot.count"}));
    let world = store([
        vec![("strand_view", json!({"selector": "*"}))],
        vec![add],
        vec![replace("Int = 2")],
        vec![replace("Int = 3")],
        vec![replace("Int = 4")],
        vec![("strand_add", json!({"layer": "slot", "name": "other", "body": "Int = 0"}))],
        vec![remove],
    ]);
    let view = || strand(&world, &["view", "slot.count"]);
    let mut live = start(&world);
    live.submit("go");
    // Someone else changes it after it was viewed, and once more after the model's own change.
    for (asked, theirs) in
        [("strand_add", Some("Int = 9")), ("Int = 3", None), ("Int = 4", None), ("slot other", Some("Int = 8"))]
    {
        let question = live.question().await;
        assert!(question.text.contains(asked), "{asked}: {question:?}");
        if let Some(body) = theirs {
            strand(&world, &["replace", "slot.count", body]);
        }
        live.send(Command::Reply(question.id, Reply::Choice(0)));
    }
    assert_eq!(live.end().await, TurnEnd::Done);
    assert_eq!(view(), "slot count = Int = 8\n");
    let told: Vec<String> = results(&live).into_iter().filter(|text| text.contains("\"stale\"")).collect();
    assert_eq!(told.len(), 2, "{told:?}");
    assert!(told[0].contains("slot count = Int = 9") && told[1].contains("slot count = Int = 8"), "{told:?}");
    live.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_refused_change_would_have_made_is_not_known_as_viewed() {
    let world =
        store([vec![("strand_view", json!({"selector": "*"}))], vec![replace("Int = 2")], vec![replace("Int = 3")]]);
    let mut live = start(&world);
    live.submit("two");
    let question = live.question().await;
    // The person refuses it, and makes the same change.
    strand(&world, &["replace", "slot.count", "Int = 2"]);
    live.send(Command::Reply(question.id, Reply::Choice(question.choices.len() - 1)));
    assert_eq!(live.end().await, TurnEnd::Done);
    let told = results(&live);
    assert!(told.iter().any(|text| text.contains("the change of the store was refused")), "{told:?}");
    let last = told.last().expect("a result");
    assert!(last.contains("\"stale\"") && last.contains("slot count = Int = 2"), "{told:?}");
    live.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_change_that_is_not_wanted_leaves_the_store_as_it_was() {
    let world = store([vec![replace("Int = 2")]]);
    let mut live = start(&world);
    live.submit("two");
    let question = live.question().await;
    live.send(Command::Reply(question.id, Reply::Choice(question.choices.len() - 1)));
    assert_eq!(live.end().await, TurnEnd::Done);
    assert!(results(&live)[0].contains("the change of the store was refused"), "{:?}", results(&live));
    live.close().await;
    // A policy that accepts nothing asks nothing either.
    let world = store([vec![replace("Int = 2")]]).approve("none");
    let mut live = start(&world);
    live.submit("two");
    assert_eq!(live.end().await, TurnEnd::Done);
    live.close().await;
    assert_eq!(strand(&world, &["view", "slot.count"]), "slot count = Int = 1\n");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_policy_that_accepts_edits_accepts_ops_and_a_refusal_is_a_result() {
    let world = store([vec![replace("Int = 2"), replace("Int = (")]]).approve("edits");
    let mut live = start(&world);
    live.submit("two");
    assert_eq!(live.end().await, TurnEnd::Done);
    let told = results(&live);
    assert!(told[0].contains("\"op-id\"") && told[1].contains("\"error\""), "{told:?}");
    live.close().await;
    assert_eq!(strand(&world, &["view", "slot.count"]), "slot count = Int = 2\n");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_tools_are_those_of_a_store_in_the_workspace_and_plan_mode_has_its_readers() {
    let world = store([vec![replace("Int = 2")]]).plan();
    let names: Vec<String> = of_store(&world.root()).iter().map(|tool| tool.spec().name).collect();
    assert!(names.iter().any(|name| name == "strand_patch_apply") && names.iter().all(|name| name != "strand_sync"));
    // A folder below is found as well, whatever it is called; of two that are called alike, none.
    let around = World::new();
    for (made, is_found) in [("app", true), ("other", false), ("one.strand", true), ("two.strand", false)] {
        strand(&around, &["init", made]);
        assert_eq!(!of_store(&around.root()).is_empty(), is_found, "{made}");
    }
    // A folder below it is a workspace of its own, and the store is not in it.
    world.write("below/a.txt", "");
    assert!(of_store(&world.root().join("below")).is_empty());
    let mut live = start(&world);
    live.submit("two");
    assert_eq!(live.end().await, TurnEnd::Done);
    assert!(results(&live)[0].contains("plan mode"), "{:?}", results(&live));
    let requests = live.requests();
    let offered: Vec<&str> = requests[0].tools.iter().map(|tool| &*tool.name).collect();
    assert!(offered.contains(&"strand_view") && !offered.contains(&"strand_replace"), "{offered:?}");
    live.close().await;
    assert_eq!(strand(&world, &["view", "slot.count"]), "slot count = Int = 1\n");
}
