//! The review queue: what ran unasked waits to be kept or restored, whatever happens to the program meanwhile.

use std::path::Path;
use std::process::{Command, Output};
use std::sync::Arc;

use nebula::protocol::TurnEnd;
use nebula::provider::Replay;
use serde_json::{Value, json};

use super::tree::{text, works};
use crate::support::world::{World, calls, say};

/// Runs one step of these commands under a policy, to its end.
async fn ran(world: &World, texts: &[&str]) {
    let commands: Vec<(&str, Value)> = texts.iter().map(|text| ("runCommand", json!({"command": text}))).collect();
    let model = Arc::new(Replay::from_steps(vec![calls(&commands), say("done")]));
    let mut parts = world.parts(model.clone());
    parts.config.program = Path::new(env!("CARGO_BIN_EXE_nebula")).into();
    let mut live = world.start_with(parts, model);
    live.submit("go");
    assert_eq!(live.end().await, TurnEnd::Done);
    live.close().await;
}

/// The words of the next notice in passing.
async fn told(live: &mut crate::support::world::Live) -> String {
    live.until(|event| match event {
        nebula::protocol::EventBody::Notice(notice) => Some(notice.title.clone()),
        _ => None,
    })
    .await
}

#[tokio::test]
async fn a_session_keeps_and_restores_what_waits() {
    if !works() {
        return;
    }
    use nebula::protocol::{Command, RestoreRequest};
    let path = std::env::var("PATH").expect("a PATH");
    let world = World::new().variable("PATH", &path).file("a.txt", "one\n").file("b.txt", "two\n").approve("review");
    ran(&world, &["rm a.txt", "echo more >> b.txt"]).await;
    let (entries, _) = open(&world);
    let id = entries[1]["id"].as_str().expect("an id").to_string();
    let model = Arc::new(Replay::from_steps(Vec::new()));
    let mut live = world.start_with(world.parts(model.clone()), model);
    live.send(Command::KeepReviewed(vec![id]));
    assert_eq!(told(&mut live).await, "1 change kept");
    live.send(Command::Restore(RestoreRequest::Review(vec!["all".into()])));
    live.decide(nebula::proposal::Choice::Accept).await;
    live.until(|event| matches!(event, nebula::protocol::EventBody::Settled(..)).then_some(())).await;
    assert_eq!(world.read("a.txt"), "one\n");
    live.close().await;
    assert_eq!(open(&world).0.len(), 0);
}

fn nebula(world: &World, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_nebula"));
    command.args(arguments).current_dir(world.root()).env_clear().env("PATH", std::env::var("PATH").expect("a PATH"));
    command.env("HOME", world.home());
    command.output().expect("it runs")
}

fn open(world: &World) -> (Vec<Value>, Option<i32>) {
    let said = nebula(world, &["review", "--json"]);
    (serde_json::from_slice(&said.stdout).unwrap_or_else(|_| panic!("{said:?}")), said.status.code())
}

#[tokio::test]
async fn what_ran_unasked_waits_and_is_kept_or_restored() {
    if !works() {
        return;
    }
    let path = std::env::var("PATH").expect("a PATH");
    let world = World::new().variable("PATH", &path).file("a.txt", "one\n").file("b.txt", "two\n").approve("review");
    ran(&world, &["rm a.txt", "echo more >> b.txt"]).await;
    let (entries, code) = open(&world);
    assert_eq!((entries.len(), code), (2, Some(1)), "{entries:?}");
    assert_eq!(
        (&entries[0]["files"][0]["path"], &entries[0]["approved"]),
        (&"a.txt".into(), &"flag --approve review".into())
    );
    // Keeping writes nothing.
    let id = entries[1]["id"].as_str().expect("an id").to_string();
    assert!(nebula(&world, &["review", "--keep", &id]).status.success());
    assert_eq!(world.read("b.txt"), "two\nmore\n");
    assert_eq!(open(&world).0.len(), 1);
    // Restoring is a change like any other.
    assert_eq!(nebula(&world, &["review", "--restore", "zzz", "--yes"]).status.code(), Some(1));
    let restored = nebula(&world, &["review", "--restore", "all", "--yes"]);
    assert!(restored.status.success(), "{}", text(&restored.stderr));
    assert_eq!(world.read("a.txt"), "one\n");
    let (entries, code) = open(&world);
    assert_eq!((entries.len(), code), (0, Some(0)));
}

#[tokio::test]
async fn a_change_of_which_nothing_was_restored_waits_on() {
    let path = std::env::var("PATH").expect("a PATH");
    for by_agent in [false, true] {
        let world =
            World::new().variable("PATH", &path).file("a.txt", "one\n").file("b.txt", "two\n").approve("review");
        ran(&world, &["rm a.txt", "echo more >> b.txt"]).await;
        std::fs::write(world.root().join("b.txt"), "two\nmore\nmine\n").expect("written by another");
        if by_agent {
            use nebula::protocol::{Command, RestoreRequest};
            let model = Arc::new(Replay::from_steps(Vec::new()));
            let mut live = world.start_with(world.parts(model.clone()), model);
            live.send(Command::Restore(RestoreRequest::Review(vec!["all".into()])));
            live.decide(nebula::proposal::Choice::Accept).await;
            live.until(|event| matches!(event, nebula::protocol::EventBody::Settled(..)).then_some(())).await;
            live.close().await;
        } else {
            assert_eq!(nebula(&world, &["review", "--restore", "all", "--yes"]).status.code(), Some(3));
        }
        assert_eq!((world.read("a.txt"), world.read("b.txt")), ("one\n".into(), "two\nmore\nmine\n".into()));
        let (entries, code) = open(&world);
        assert_eq!((entries.len(), code), (1, Some(1)), "{by_agent}");
        assert_eq!(entries[0]["files"][0]["path"], "b.txt");
    }
}

#[tokio::test]
async fn a_policy_that_is_chosen_in_a_session_fills_the_queue() {
    use nebula::protocol::{Approval, Command, Setting};
    let path = std::env::var("PATH").expect("a PATH");
    let world = World::new().variable("PATH", &path).file("a.txt", "one\n").file("b.txt", "two\n");
    let steps = vec![calls(&[("runCommand", json!({"command": "rm a.txt"}))]), say("done")];
    let model = Arc::new(Replay::from_steps(steps));
    let mut parts = world.parts(model.clone());
    parts.config.program = Path::new(env!("CARGO_BIN_EXE_nebula")).into();
    let mut live = world.start_with(parts, model);
    live.send(Command::Set(Setting::Approval(Approval::Review)));
    live.submit("go");
    assert_eq!(live.end().await, TurnEnd::Done);
    live.close().await;
    let (entries, _) = open(&world);
    assert_eq!((entries.len(), &entries[0]["approved"]), (1, &"policy review".into()), "{entries:?}");
}

#[tokio::test]
async fn an_entry_whose_restore_leaves_something_waits_on() {
    let path = std::env::var("PATH").expect("a PATH");
    let world = World::new().variable("PATH", &path).file("a.txt", "one\n").approve("review");
    let made = Command::new("git").args(["init", "-q"]).current_dir(world.root()).status();
    assert!(made.expect("git runs").success());
    ran(&world, &["rm a.txt; git config user.name x"]).await;
    std::fs::write(world.root().join(".git/index.lock"), "").expect("written");
    let left = nebula(&world, &["review", "--restore", "all", "--yes"]);
    assert_eq!(left.status.code(), Some(3), "{}", text(&left.stderr));
    assert!(text(&left.stderr).contains("not restored: .git/config"), "{}", text(&left.stderr));
    assert_eq!((world.read("a.txt").as_str(), open(&world).0.len()), ("one\n", 1));
    std::fs::remove_file(world.root().join(".git/index.lock")).expect("removed");
    let whole = nebula(&world, &["review", "--restore", "all", "--yes"]);
    assert_eq!((whole.status.code(), open(&world).0.len()), (Some(0), 0), "{}", text(&whole.stderr));
}

#[tokio::test]
async fn a_change_that_was_taken_back_waits_no_more_and_a_lost_memory_loses_no_entry() {
    if !works() {
        return;
    }
    let path = std::env::var("PATH").expect("a PATH");
    let world = World::new().variable("PATH", &path).file("a.txt", "one\n").approve("all");
    ran(&world, &["rm a.txt"]).await;
    assert_eq!(open(&world).0.len(), 1);
    // The archive alone knows who approved it.
    for file in ["memory.db", "memory.db-wal", "memory.db-shm"] {
        let _ = std::fs::remove_file(world.home().join(".nebula").join(file));
    }
    assert_eq!(open(&world).0.len(), 1);
    assert!(nebula(&world, &["undo", "--yes", "--force"]).status.success());
    assert_eq!(world.read("a.txt"), "one\n");
    assert_eq!(open(&world).0.len(), 0, "its files are as they were");
}
