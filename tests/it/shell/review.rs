//! The review queue: what ran unasked waits to be kept or restored, whatever happens to the program meanwhile.

use std::path::Path;
use std::process::{Command, Output};
use std::sync::Arc;

use nebula::proposal::{Consent, Decision, FileChange, Proposal, RestorePreview};
use nebula::protocol::{EventBody, ProposalEvent, ReviewScope, TurnEnd};
use nebula::provider::Replay;
use serde_json::{Value, json};

use super::tree::{text, works};
use crate::support::world::{World, calls, say};

/// Runs one step of these commands under a policy, to its end.
async fn ran(world: &World, texts: &[&str]) {
    ran_for(world, "go", texts).await;
}

/// Runs the same for a prompt.
async fn ran_for(world: &World, prompt: &str, texts: &[&str]) {
    let commands: Vec<(&str, Value)> = texts.iter().map(|text| ("runCommand", json!({"command": text}))).collect();
    let model = Arc::new(Replay::from_steps(vec![calls(&commands), say("done")]));
    let mut parts = world.parts(model.clone());
    parts.config.program = Path::new(env!("CARGO_BIN_EXE_nebula")).into();
    let mut live = world.start_with(parts, model);
    live.submit(prompt);
    assert_eq!(live.end().await, TurnEnd::Done);
    live.close().await;
}

/// The next proposal, and the previews of a restore.
async fn proposed(live: &mut crate::support::world::Live) -> (Arc<Proposal>, Vec<RestorePreview>) {
    live.until(|event| match event {
        EventBody::Proposal(ProposalEvent::Proposed(proposal, previews)) => Some((proposal.clone(), previews.clone())),
        _ => None,
    })
    .await
}

/// The words of the next notice in passing.
async fn next_notice(live: &mut crate::support::world::Live) -> String {
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
    assert_eq!(next_notice(&mut live).await, "1 change kept");
    live.send(Command::Restore(RestoreRequest::Review { names: vec!["all".into()], reason: "keep the file".into() }));
    live.decide(nebula::proposal::Choice::Accept).await;
    live.until(|event| {
        matches!(event, nebula::protocol::EventBody::Proposal(nebula::protocol::ProposalEvent::Settled(..)))
            .then_some(())
    })
    .await;
    assert_eq!(world.read("a.txt"), "one\n");
    live.close().await;
    assert_eq!(open(&world).0.len(), 0);
}

pub fn nebula(world: &World, arguments: &[&str]) -> Output {
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
    // A later change of the file is none of the entry's; where the restore itself is undone, the entry waits again.
    world.write("a.txt", "mine\n");
    assert_eq!(open(&world).0.len(), 0);
    world.write("a.txt", "one\n");
    assert!(nebula(&world, &["undo", "--yes"]).status.success());
    assert!(!world.root().join("a.txt").exists());
    let (entries, code) = open(&world);
    assert_eq!((entries.len(), code), (1, Some(1)));
}

#[tokio::test]
async fn an_entry_is_restored_without_what_a_later_one_did() {
    if !works() {
        return;
    }
    let path = std::env::var("PATH").expect("a PATH");
    let lines: String = (1..=60).map(|n| format!("{n}\n")).collect();
    let world = World::new().variable("PATH", &path).file("a.txt", &lines).approve("review");
    ran(&world, &["sed -i 's/^10$/TEN/' a.txt; echo n > new"]).await;
    ran(&world, &["sed -i 's/^50$/FIFTY/' a.txt; echo k >> new"]).await;
    let (entries, _) = open(&world);
    let first = entries[0]["id"].as_str().expect("an id").to_string();
    let restored = nebula(&world, &["review", "--restore", &first, "--yes"]);
    let out = text(&restored.stdout);
    assert!(out.contains("! a.txt  changed again later          will be merged: lines"), "{out}");
    assert!(text(&restored.stderr).contains("changed again later, so kept: new"), "{restored:?}");
    assert_eq!(restored.status.code(), Some(3));
    assert_eq!(world.read("a.txt"), lines.replace("\n50\n", "\nFIFTY\n"));
    assert_eq!(world.read("new"), "n\nk\n");
    // Both together are as if neither had been.
    assert_eq!(open(&world).0.len(), 2);
    assert!(nebula(&world, &["review", "--restore", "all", "--yes"]).status.success());
    assert_eq!(world.read("a.txt"), lines);
    assert!(!world.root().join("new").exists());
    assert_eq!(open(&world).0.len(), 0);
}

/// Two turns, restored one by one, the oldest first: nothing is said to be done that is not, and nothing of them is left in
/// the end, with the newest first once something stays.
#[tokio::test]
async fn turns_restored_oldest_first_leave_nothing_behind() {
    if !works() {
        return;
    }
    let path = std::env::var("PATH").expect("a PATH");
    let lines: String = (1..=20).map(|n| format!("{n}\n")).collect();
    // The second: the restore of the first leaves something, and says so.
    for (first, second, stays) in [
        ("echo a >> a.txt; seq 30 > new", "mv new newer", Some("new: restore")),
        ("echo a >> a.txt; mkdir d", "echo b > d/b", Some("d/: something else is in it; restore")),
        ("echo w >> a.txt; chmod 700 src", "rm -f a.txt; echo w2 >> a.txt", Some("a.txt: ")),
        ("echo s > src/s; seq 7 > a.txt", "rm -f src/s; echo x > src/t", Some("src/s: restore")),
        ("mkdir d", "touch d/x; chmod 700 d", Some("d/: something else is in it; restore")),
        ("mv a.txt g", "echo z >> g", Some("a.txt: it was moved to g")),
        ("mv src lib", "echo z >> lib/f.txt", Some("src/f.txt: it was moved to lib/f.txt")),
        ("seq 30 > new", "mv new newer", Some("new: restore")),
        ("chmod 700 src; seq 30 > new", "mv new newer; echo a >> a.txt", Some("new: restore")),
        ("echo a >> a.txt; mkdir d", "echo b > b.txt", None),
        ("sed -i s/^3$/three/ a.txt; chmod 700 src", "sed -i s/^18$/x/ a.txt", None),
    ] {
        let world = World::new().variable("PATH", &path).approve("review");
        let world = world.file("a.txt", &lines).file("src/f.txt", &lines).file("src/g.txt", "g\n");
        let set = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(world.root().join("src"), set).expect("set");
        let before = tree_of(&world.root());
        ran(&world, &[first]).await;
        ran(&world, &[second]).await;
        let (mut said, mut code) = (String::new(), Some(0));
        for _ in 0..6 {
            let (entries, _) = open(&world);
            let next = if code == Some(0) { entries.first() } else { entries.last() };
            let Some(id) = next.and_then(|entry| entry["id"].as_str()) else { break };
            let restored = nebula(&world, &["review", "--restore", id, "--yes"]);
            let newest_first = code == Some(3);
            assert!(!newest_first || restored.status.success(), "{first} | {second}: {restored:?}");
            if restored.status.code() != Some(0) {
                (code, said) = (restored.status.code(), text(&restored.stderr));
            }
        }
        assert_eq!(code, Some(if stays.is_some() { 3 } else { 0 }), "{first} | {second}: {said}");
        assert!(stays.is_none_or(|stays| said.contains(stays)), "{first} | {second}: {said}");
        assert_eq!((open(&world).0, tree_of(&world.root())), (Vec::new(), before), "{first} | {second}");
    }
}

#[tokio::test]
async fn a_folder_that_a_person_uses_stays_and_no_entry_waits_for_it() {
    if !works() {
        return;
    }
    let path = std::env::var("PATH").expect("a PATH");
    for (command, code) in [("mkdir n; echo 1 > n/a", 0), ("mkdir n", 3)] {
        let world = World::new().variable("PATH", &path).approve("review");
        ran(&world, &[command]).await;
        std::fs::write(world.root().join("n/own"), "mine\n").expect("written");
        let restored = nebula(&world, &["review", "--restore", "all", "--yes"]);
        let said = text(&restored.stdout) + &text(&restored.stderr);
        assert_eq!(restored.status.code(), Some(code), "{command}: {said}");
        assert!(said.contains("n/: something else is in it"), "{command}: {said}");
        assert!(!said.contains("n/ removed"), "{command}: {said}");
        assert_eq!((open(&world).0.len(), world.read("n/own").as_str()), (0, "mine\n"), "{command}");
        assert!(!world.root().join("n/a").exists(), "{command}");
    }
}

#[tokio::test]
async fn no_entry_restored_by_hunks_waits_for_a_folder_that_a_person_uses() {
    if !works() {
        return;
    }
    let path = std::env::var("PATH").expect("a PATH");
    let world = World::new().variable("PATH", &path).approve("review");
    ran(&world, &["mkdir n; echo 1 > n/a"]).await;
    std::fs::write(world.root().join("n/own"), "mine\n").expect("written");
    restored_by_hunks(&world, ReviewScope::Net).await;
    assert_eq!((open(&world).0.len(), world.has("n/a"), world.read("n/own").as_str()), (0, false, "mine\n"));
}

#[tokio::test]
async fn an_entry_restored_by_hunks_in_part_waits_on_with_the_rest() {
    if !works() {
        return;
    }
    let path = std::env::var("PATH").expect("a PATH");
    let world = World::new().variable("PATH", &path).file("a.txt", "one\n").approve("review");
    ran(&world, &["echo two > a.txt; seq 9 > b.txt"]).await;
    let mine = world.read("b.txt").replace("5\n", "5\nmine\n");
    world.write("b.txt", &mine);
    ran(&world, &["echo more >> b.txt"]).await;
    let (entries, _) = open(&world);
    assert_eq!(entries.len(), 2, "{entries:?}");
    restored_turns(&world, ReviewScope::Net, 2).await;
    assert_eq!((world.read("a.txt"), world.read("b.txt")), ("one\n".into(), mine));
    let (waiting, _) = open(&world);
    assert_eq!((waiting.len(), &waiting[0]["id"]), (1, &entries[0]["id"]), "{waiting:?}");
}

/// The files and folders of a workspace, each with its mode and text.
fn tree_of(root: &Path) -> Vec<(String, u32, String)> {
    let (mut found, mut folders) = (Vec::new(), vec![root.to_path_buf()]);
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("read") {
            let path = entry.expect("read").path();
            let name = path.strip_prefix(root).expect("within").to_string_lossy().into_owned();
            if name == ".shaft" || name == ".git" {
                continue;
            }
            let mode = std::os::unix::fs::PermissionsExt::mode(&std::fs::metadata(&path).expect("read").permissions());
            if path.is_dir() {
                folders.push(path.clone());
            }
            found.push((name, mode, std::fs::read_to_string(&path).unwrap_or_default()));
        }
    }
    found.sort();
    found
}

#[tokio::test]
async fn a_session_says_what_stays_of_a_restored_turn_and_not_that_it_was_restored() {
    if !works() {
        return;
    }
    use nebula::protocol::{Command, RestoreRequest};
    let path = std::env::var("PATH").expect("a PATH");
    let world = World::new().variable("PATH", &path).file("a.txt", "one\n").approve("review");
    ran(&world, &["echo a >> a.txt; mkdir d"]).await;
    ran(&world, &["echo b > d/b"]).await;
    let (entries, _) = open(&world);
    let first = entries[0]["id"].as_str().expect("an id").to_string();
    let model = Arc::new(Replay::from_steps(Vec::new()));
    let mut live = world.start_with(world.parts(model.clone()), model);
    live.send(Command::Restore(RestoreRequest::Review { names: vec![first], reason: String::new() }));
    live.decide(nebula::proposal::Choice::Accept).await;
    let mut notices: Vec<String> = Vec::new();
    while !notices.iter().any(|title| title.contains("still waits")) {
        notices.push(next_notice(&mut live).await);
    }
    live.close().await;
    assert!(notices.iter().any(|title| title == "restored a.txt"), "{notices:?}");
    assert_eq!((world.read("a.txt").as_str(), world.has("d"), open(&world).0.len()), ("one\n", true, 2));
}

#[tokio::test]
async fn what_a_command_made_and_a_later_one_removed_is_not_made_anew() {
    if !works() {
        return;
    }
    let path = std::env::var("PATH").expect("a PATH");
    let world = World::new().variable("PATH", &path).file("a.txt", "one\n").file("b.txt", "two\n").approve("review");
    ran(&world, &["echo x > new; mkdir d", "cat new > /dev/null", "rm new; rmdir d", "chmod 600 b.txt"]).await;
    ran(&world, &["mv a.txt m", "rm m"]).await;
    let (entries, _) = open(&world);
    assert_eq!(entries.len(), 3, "{entries:?}");
    assert!(nebula(&world, &["review", "--restore", "all", "--yes"]).status.success());
    assert_eq!((world.read("a.txt").as_str(), open(&world)), ("one\n", (Vec::new(), Some(0))));
    assert!(["new", "d", "m"].iter().all(|path| !world.has(path)));
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
            live.send(Command::Restore(RestoreRequest::Review {
                names: vec!["all".into()],
                reason: "keep the file".into(),
            }));
            live.decide(nebula::proposal::Choice::Accept).await;
            live.until(|event| {
                matches!(event, nebula::protocol::EventBody::Proposal(nebula::protocol::ProposalEvent::Settled(..)))
                    .then_some(())
            })
            .await;
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
async fn an_entry_of_which_nothing_is_left_is_restored_with_the_later_ones() {
    if !works() {
        return;
    }
    let path = std::env::var("PATH").expect("a PATH");
    let world = World::new().variable("PATH", &path).file("a.txt", "one\n").approve("review");
    ran(&world, &["echo two > a.txt", "echo one > a.txt", "echo three > a.txt"]).await;
    let (entries, _) = open(&world);
    assert_eq!(entries.len(), 3, "{entries:?}");
    let first = entries[0]["id"].as_str().expect("an id");
    let restored = nebula(&world, &["review", "--restore", first, "--yes"]);
    assert!(text(&restored.stderr).contains("nothing to restore"), "{}", text(&restored.stderr));
    assert!(text(&restored.stderr).contains("still waits: a.txt: restore "), "{}", text(&restored.stderr));
    assert_eq!(restored.status.code(), Some(3), "it was asked for, and waits on");
    assert_eq!((world.read("a.txt").as_str(), open(&world).0.len()), ("three\n", 3));
    assert!(nebula(&world, &["review", "--restore", "all", "--yes"]).status.success());
    assert_eq!((world.read("a.txt").as_str(), open(&world).0.len()), ("one\n", 0));
}

#[tokio::test]
async fn what_a_job_and_the_model_wrote_to_one_file_at_once_is_restored_together() {
    if !works() {
        return;
    }
    let path = std::env::var("PATH").expect("a PATH");
    let lines: String = (1..=60).map(|n| format!("{n}\n")).collect();
    let job = "echo begun; while [ ! -e stop ]; do echo more >> a.txt; sleep 0.002; done";
    let edit = |n: u32| {
        ("replaceInFile", json!({"path": "a.txt", "search": format!("\n{n}\n"), "replace": format!("\nline {n}\n")}))
    };
    for way in [&["undo", "--turn", "--yes"][..], &["review", "--restore", "all", "--yes"]] {
        let world = World::new().variable("PATH", &path).file("a.txt", &lines).approve("review");
        let steps = [
            vec![("runCommand", json!({"command": job, "background": true}))],
            vec![("readFile", json!({"path": "a.txt"}))],
            vec![edit(10)],
            vec![edit(20)],
            vec![edit(30)],
            vec![("runCommand", json!({"command": "touch stop"}))],
            vec![("commandOutput", json!({"id": "c1", "waitSeconds": 60}))],
        ];
        let steps = steps.iter().map(|of_step| calls(of_step)).chain([say("done")]).collect();
        let model = Arc::new(Replay::from_steps(steps));
        let mut parts = world.parts(model.clone());
        parts.config.program = Path::new(env!("CARGO_BIN_EXE_nebula")).into();
        let mut live = world.start_with(parts, model);
        live.submit("go");
        assert_eq!(live.end().await, TurnEnd::Done);
        live.close().await;
        let written = world.read("a.txt");
        assert!(written.contains("more\n"), "{written}");
        assert!([10, 20, 30].iter().all(|n| written.contains(&format!("\nline {n}\n"))), "{written}");
        let restored = nebula(&world, way);
        assert!(restored.status.success(), "{}", text(&restored.stdout));
        assert_eq!(world.read("a.txt"), lines, "{way:?}");
        assert_eq!((world.has("stop"), open(&world).0), (false, Vec::new()), "{way:?}");
    }
}

/// Waits until a job has printed these words.
async fn printed(live: &mut crate::support::world::Live, words: &str) {
    use nebula::protocol::{CommandEvent, EventBody};
    let is_it = |event: &EventBody| {
        matches!(event, EventBody::Command(CommandEvent::Printed { text, .. }) if text.contains(words)).then_some(())
    };
    if !live.events.iter().any(|event| is_it(event).is_some()) {
        live.until(is_it).await;
    }
}

/// Starts a job that writes after its turn has ended, and goes on.
async fn job_that_went_on(world: &World) -> crate::support::world::Live {
    let pipe = world.root().join("pipe");
    let (kind, mode) = (rustix::fs::FileType::Fifo, rustix::fs::Mode::RWXU);
    rustix::fs::mknodat(rustix::fs::CWD, &pipe, kind, mode, 0).expect("a pipe");
    let job = "echo one >> log; read line < pipe; echo two >> log; echo three > b.txt; echo more; sleep 300";
    let steps = vec![calls(&[("runCommand", json!({"command": job, "background": true}))]), say("done")];
    let model = Arc::new(Replay::from_steps(steps));
    let mut parts = world.parts(model.clone());
    parts.config.program = Path::new(env!("CARGO_BIN_EXE_nebula")).into();
    let mut live = world.start_with(parts, model);
    live.submit("go");
    assert_eq!(live.end().await, TurnEnd::Done);
    tokio::task::spawn_blocking(move || std::fs::write(pipe, "go\n")).await.expect("joined").expect("written");
    printed(&mut live, "more").await;
    live
}

/// A command that a call waits for, beside a job that ends meanwhile and someone who looks.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_command_changes_until_its_call_is_answered_is_one_changeset() {
    use nebula::protocol::{Command, CommandEvent, Listing, Query, QueryId};
    if !works() {
        return;
    }
    let path = std::env::var("PATH").expect("a PATH");
    let world = World::new().variable("PATH", &path).file("a.txt", "one\n").approve("review");
    let pipe = |name: &str| {
        let (kind, mode) = (rustix::fs::FileType::Fifo, rustix::fs::Mode::RWXU);
        rustix::fs::mknodat(rustix::fs::CWD, world.root().join(name), kind, mode, 0).expect("a pipe");
        world.root().join(name)
    };
    let pipes = [pipe("job"), pipe("call")];
    let job = json!({"command": "read line < job; echo job > j.txt", "background": true});
    let waits = json!({"command": "rm a.txt; echo begun; read line < call; echo b > b.txt"});
    let steps = vec![calls(&[("runCommand", job), ("runCommand", waits)]), say("done")];
    let model = Arc::new(Replay::from_steps(steps));
    let mut parts = world.parts(model.clone());
    parts.config.program = Path::new(env!("CARGO_BIN_EXE_nebula")).into();
    let mut live = world.start_with(parts, model);
    live.submit("go");
    printed(&mut live, "begun").await;
    let [job, call] = pipes;
    tokio::task::spawn_blocking(move || std::fs::write(job, "go\n")).await.expect("joined").expect("written");
    let ended = |event: &EventBody| match event {
        EventBody::Command(CommandEvent::Ended(end)) if !end.running => Some(end.clone()),
        _ => None,
    };
    let of_job = live.until(ended).await;
    assert_eq!((of_job.id.as_str(), of_job.changeset.is_some()), ("c1", true));
    live.send(Command::Ask(QueryId(1), Query::Review));
    let Listing::Review(turns) = live.until(|event| answer(event, 1)).await else { panic!("a list") };
    assert_eq!(turns.iter().map(|turn| turn.entries.len()).sum::<usize>(), 1, "{turns:?}");
    tokio::task::spawn_blocking(move || std::fs::write(call, "go\n")).await.expect("joined").expect("written");
    let of_call = live.until(ended).await;
    let changed: Vec<_> = of_call.changed.iter().map(|change| change.path.as_str()).collect();
    assert_eq!((of_call.id.as_str(), changed, of_call.earlier), ("c2", vec!["a.txt", "b.txt"], vec![]));
    assert_eq!(live.end().await, TurnEnd::Done);
    live.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_running_job_wrote_is_not_what_others_changed() {
    use nebula::proposal::RestoreStatus;
    use nebula::protocol::{Command, Listing, Query, QueryId, RestoreRequest};
    if !works() {
        return;
    }
    let path = std::env::var("PATH").expect("a PATH");
    for looks in [true, false] {
        let world = World::new().variable("PATH", &path).file("a.txt", "one\n").approve("review");
        let mut live = job_that_went_on(&world).await;
        if looks {
            live.send(Command::Ask(QueryId(1), Query::Review));
            let Listing::Review(turns) = live.until(|event| answer(event, 1)).await else { panic!("a list") };
            let ids: Vec<String> = turns.iter().flat_map(|turn| &turn.entries).map(|entry| entry.id.clone()).collect();
            live.send(Command::Ask(QueryId(2), Query::ReviewChange(ids, ReviewScope::Net)));
            let Listing::ReviewChange(change) = live.until(|event| answer(event, 2)).await else { panic!("a change") };
            assert!(!change.aside.iter().any(|(_, why)| why.contains("outside nebula")), "{:?}", change.aside);
            for path in ["log", "b.txt"] {
                assert!(change.change.files.iter().any(|file| file.path == path), "{path}: {:?}", change.change);
            }
        }
        live.send(Command::Restore(RestoreRequest::Turn));
        let (proposal, previews) = proposed(&mut live).await;
        let is_foreign = |status: &RestoreStatus| matches!(status, RestoreStatus::Foreign { .. });
        assert!(!previews.iter().any(|preview| is_foreign(&preview.status)), "{previews:?}");
        assert!(["log", "b.txt"].iter().all(|path| proposal.files.iter().any(|file| file.path == *path)));
        live.close().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_leaves_is_told_of_the_last_changes_of_their_jobs_too() {
    if !works() {
        return;
    }
    let path = std::env::var("PATH").expect("a PATH");
    let world = World::new().variable("PATH", &path).file("a.txt", "one\n").approve("review");
    let count = job_that_went_on(&world).await.close_and_count().await;
    let (entries, _) = open(&world);
    let waits = |path: &str| entries.iter().any(|entry| entry["files"].to_string().contains(path));
    assert!(count == entries.len() && waits("b.txt"), "{count}: {entries:?}");
}

#[tokio::test]
async fn what_a_job_and_a_command_wrote_to_one_file_in_turn_is_restored_together() {
    if !works() {
        return;
    }
    let path = std::env::var("PATH").expect("a PATH");
    // The job opens the file, the command replaces it: the job alone sees each time that it is another's.
    let job = "for n in 1 2 3; do echo A$n >> a.txt; echo go > to.b; read line < to.a; done";
    let replace = |n: u32| format!("read line < to.b; (cat a.txt; echo B{n}) > new; mv new a.txt; echo go > to.a");
    let command = [1, 2, 3].map(replace).join("; ");
    for way in [&["undo", "--turn", "--yes"][..], &["review", "--restore", "all", "--yes"]] {
        let world = World::new().variable("PATH", &path).file("a.txt", "one\n").approve("review");
        for pipe in ["to.a", "to.b"] {
            let (kind, mode) = (rustix::fs::FileType::Fifo, rustix::fs::Mode::RWXU);
            rustix::fs::mknodat(rustix::fs::CWD, world.root().join(pipe), kind, mode, 0).expect("a pipe");
        }
        let both =
            [("runCommand", json!({"command": job, "background": true})), ("runCommand", json!({"command": &command}))];
        let look = ("commandOutput", json!({"id": "c1", "waitSeconds": 60}));
        let model = Arc::new(Replay::from_steps(vec![calls(&both), calls(&[look]), say("done")]));
        let mut parts = world.parts(model.clone());
        parts.config.program = Path::new(env!("CARGO_BIN_EXE_nebula")).into();
        let mut live = world.start_with(parts, model);
        live.submit("go");
        assert_eq!(live.end().await, TurnEnd::Done);
        live.close().await;
        assert_eq!(world.read("a.txt"), "one\nA1\nB1\nA2\nB2\nA3\nB3\n");
        // Every line waits, and each changeset is one of the turn.
        let (entries, _) = open(&world);
        let files = entries.iter().flat_map(|entry| entry["files"].as_array().expect("files"));
        let added: u64 = files.filter(|file| file["path"] == "a.txt").filter_map(|file| file["added"].as_u64()).sum();
        assert_eq!(added, 6, "{entries:?}");
        let listed = nebula(&world, &["timeline", "--json"]);
        let moments: Value = serde_json::from_slice(&listed.stdout).expect("JSON");
        let made = moments.as_array().expect("a list").iter().filter(|moment| !moment["changeset"].is_null()).count();
        assert_eq!(made, entries.len(), "{moments}");
        let restored = nebula(&world, way);
        assert!(restored.status.success(), "{}{}", text(&restored.stdout), text(&restored.stderr));
        assert_eq!((world.read("a.txt").as_str(), open(&world).0), ("one\n", Vec::new()), "{way:?}");
    }
}

#[tokio::test]
async fn hunks_are_restored_one_by_one_and_the_model_hears_why() {
    use nebula::proposal::{Choice, Consent, Decision};
    use nebula::protocol::{Command, Listing, Query, QueryId, ReviewVerdict, ReviewedFile};
    let path = std::env::var("PATH").expect("a PATH");
    let lines: String = (0..20).map(|n| format!("{n}\n")).collect();
    let world = World::new().variable("PATH", &path).file("a.txt", &lines).approve("review");
    ran_for(&world, "go\n  on", &["printf 'x\\n' > b.txt; sed -i -e s/^2$/two/ -e s/^17$/seventeen/ a.txt"]).await;
    let model = Arc::new(Replay::from_steps(vec![say("hello"), say("I see")]));
    let mut live = world.start_with(world.parts(model.clone()), model.clone());
    live.submit("hi");
    assert_eq!(live.end().await, TurnEnd::Done);
    live.send(Command::Ask(QueryId(1), Query::Review));
    let turns = live.until(|event| answer(event, 1)).await;
    let Listing::Review(turns) = turns else { panic!("{turns:?}") };
    assert_eq!((turns.len(), turns[0].title.as_str(), turns[0].entries.len()), (1, "go on", 1));
    // It is known by its text.
    assert!(turns[0].entries[0].title.starts_with("printf 'x\\n' > b.txt"), "{:?}", turns[0].entries[0]);
    let ids = vec![turns[0].entries[0].id.clone()];
    live.send(Command::Ask(QueryId(2), Query::ReviewChange(ids.clone(), ReviewScope::Net)));
    let change = live.until(|event| answer(event, 2)).await;
    let Listing::ReviewChange(change) = change else { panic!("{change:?}") };
    let file = change.change.files.iter().find(|file| file.path == "a.txt").expect("the file");
    assert_eq!(file.hunks.len(), 2);
    // Someone goes on writing the file; only the first hunk is restored.
    let now = world.read("a.txt");
    std::fs::write(world.root().join("a.txt"), format!("{now}mine\n")).expect("written");
    let restoring = |text: String| ReviewedFile {
        path: "a.txt".into(),
        is_whole: false,
        is_all: false,
        displayed: file.after.clone(),
        then: nebula::proposal::State::file(text.into_bytes()),
    };
    let first = restoring(now.replace("two", "2"));
    let restored = vec![restoring(now.replace("two", "2").replace("seventeen", "17"))];
    let scope = ReviewScope::Net;
    let verdict = ReviewVerdict { ids, scope, restored, reason: "two stays a number".into() };
    live.send(Command::Review(verdict.clone()));
    // The restore itself may be refused in part: the entry waits on then.
    let proposal = live.proposal().await;
    let mut choices = proposal.choices(Choice::Accept);
    choices[0].hunks[1] = Choice::Reject;
    live.send(Command::Decide(proposal.id, Decision::new(choices, Consent::Person)));
    assert!(next_notice(&mut live).await.contains("restored a.txt"));
    assert_eq!(open(&world).0.len(), 1);
    // What is asked for stands already: nothing is written, and it is decided.
    live.send(Command::Review(ReviewVerdict { restored: vec![first], ..verdict }));
    assert!(next_notice(&mut live).await.contains("already as they were"));
    assert_eq!(world.read("a.txt"), format!("{}mine\n", now.replace("two", "2")));
    assert_eq!(open(&world).0.len(), 0);
    live.submit("and now?");
    assert_eq!(live.end().await, TurnEnd::Done);
    let requests_text = format!("{:?}", model.requests());
    assert!(
        requests_text.contains("two stays a number") && requests_text.contains("a.txt lines 3."),
        "{requests_text}"
    );
    live.close().await;
}

/// Restores all that the entries of the only turn changed, hunk by hunk; returns the files that were decided about.
async fn restored_by_hunks(world: &World, scope: ReviewScope) -> Vec<FileChange> {
    restored_turns(world, scope, 1).await
}

/// Restores all that the entries of the first turns changed, hunk by hunk; returns the files that were decided about.
async fn restored_turns(world: &World, scope: ReviewScope, count: usize) -> Vec<FileChange> {
    use nebula::protocol::{Command, Listing, Query, QueryId, ReviewVerdict, ReviewedFile};
    let model = Arc::new(Replay::from_steps(Vec::new()));
    let mut live = world.start_with(world.parts(model.clone()), model);
    live.send(Command::Ask(QueryId(1), Query::Review));
    let Listing::Review(turns) = live.until(|event| answer(event, 1)).await else { panic!("no queue") };
    let entries = turns[..count].iter().flat_map(|turn| &turn.entries);
    let ids: Vec<String> = entries.map(|entry| entry.id.clone()).collect();
    live.send(Command::Ask(QueryId(2), Query::ReviewChange(ids.clone(), scope)));
    let Listing::ReviewChange(change) = live.until(|event| answer(event, 2)).await else { panic!("no change") };
    let restored = change.change.files.iter().map(|file| ReviewedFile {
        path: file.path.clone(),
        is_whole: file.unit.is_some(),
        is_all: true,
        displayed: file.after.clone(),
        then: file.before.clone(),
    });
    live.send(Command::Review(ReviewVerdict { ids, scope, restored: restored.collect(), reason: String::new() }));
    let (proposal, previews) = proposed(&mut live).await;
    // Where there is a list, it is one of everything that is shown.
    let is_listed = |file: &&FileChange| previews.iter().any(|preview| preview.path == file.path);
    let shown = change.change.files.iter().filter(|file| previews.is_empty() || !is_listed(file));
    assert!(previews.is_empty() || shown.count() == 0, "{previews:?}");
    let choices = proposal.choices(nebula::proposal::Choice::Accept);
    live.send(Command::Decide(proposal.id, Decision::new(choices, Consent::Person)));
    while !next_notice(&mut live).await.starts_with("restored ") {}
    live.close().await;
    change.change.files.clone()
}

fn paths(files: &[FileChange]) -> Vec<&str> {
    files.iter().map(|file| file.path.as_str()).collect()
}

#[tokio::test]
async fn the_work_of_others_and_what_was_restored_is_no_part_of_the_net_change() {
    if !works() {
        return;
    }
    let path = std::env::var("PATH").expect("a PATH");
    let lines: String = (1..=60).map(|n| format!("{n}\n")).collect();
    let world = World::new().variable("PATH", &path).file("a.txt", &lines).approve("review");
    ran(&world, &["sed -i 's/^10$/TEN/' a.txt", "sed -i 's/^50$/FIFTY/' a.txt"]).await;
    let (entries, _) = open(&world);
    let first = entries[0]["id"].as_str().expect("an id").to_string();
    assert!(nebula(&world, &["review", "--restore", &first, "--yes"]).status.success());
    assert!(nebula(&world, &["run", "--", "sed -i 's/^30$/MINE/' a.txt"]).status.success());
    world.write("a.txt", &world.read("a.txt").replace("\n40\n", "\nBY HAND\n"));
    let files = restored_by_hunks(&world, ReviewScope::Net).await;
    assert_eq!((paths(&files), files[0].hunks.len()), (vec!["a.txt"], 1), "{files:?}");
    let theirs = lines.replace("\n30\n", "\nMINE\n").replace("\n40\n", "\nBY HAND\n");
    assert_eq!((world.read("a.txt"), open(&world).0.len()), (theirs, 0));
}

/// Runs git in a workspace; returns what it printed.
fn git(world: &World, arguments: &[&str]) -> String {
    let mut command = Command::new("git");
    let ran = command.args(arguments).current_dir(world.root()).env("HOME", world.home()).output().expect("git");
    assert!(ran.status.success(), "{ran:?}");
    text(&ran.stdout)
}

/// Makes the workspace a repository with one commit of all that it holds.
fn commit_all(world: &World) {
    let (name, address) = (["config", "user.name", "a"], ["config", "user.email", "a@b"]);
    for arguments in [&["init", "-q"][..], &name, &address, &["add", "-A"], &["commit", "-qm", "base"]] {
        git(world, arguments);
    }
}

#[tokio::test]
async fn a_repository_in_which_someone_committed_since_stays_and_is_one_line() {
    if !works() {
        return;
    }
    use nebula::protocol::{Command, Listing, Query, QueryId};
    let path = std::env::var("PATH").expect("a PATH");
    let lines: String = (1..=60).map(|n| format!("{n}\n")).collect();
    let world = World::new().variable("PATH", &path).file("a.txt", &lines).approve("review");
    commit_all(&world);
    let base = git(&world, &["rev-parse", "HEAD"]);
    ran(&world, &["sed -i 's/^10$/TEN/' a.txt; git commit -qam ten"]).await;
    let theirs = git(&world, &["rev-parse", "--short=7", "HEAD"]);
    let unit = |entry: &Value| {
        let files = entry["files"].as_array().expect("files");
        let unit = files.iter().find(|file| file["path"] == ".git").expect("the repository");
        unit["changed"].as_str().expect("words").to_string()
    };
    let words = unit(&open(&world).0[0]);
    assert!(words.starts_with("HEAD ") && words.contains(&format!("→ {}", theirs.trim())), "{words}");
    world.write("a.txt", &world.read("a.txt").replace("\n30\n", "\nMINE\n"));
    git(&world, &["commit", "-qam", "own"]);
    let own = git(&world, &["rev-parse", "HEAD"]);
    // What the command did stays what it is said to have done.
    let (entries, _) = open(&world);
    assert_eq!(unit(&entries[0]), words);
    let id = entries[0]["id"].as_str().expect("an id").to_string();
    let model = Arc::new(Replay::from_steps(Vec::new()));
    let mut live = world.start_with(world.parts(model.clone()), model);
    live.send(Command::Ask(QueryId(1), Query::ReviewChange(vec![id], ReviewScope::Net)));
    let Listing::ReviewChange(change) = live.until(|event| answer(event, 1)).await else { panic!("no change") };
    live.close().await;
    let shown = change.change.files.iter().find(|file| file.path == ".git").expect("the repository");
    assert_eq!(shown.unit.as_deref(), Some(words.as_str()));
    let stays = |(what, why): &(String, String)| what == ".git" && why.starts_with("the repository stays: .git/refs/");
    assert!(change.aside.iter().any(stays), "{:?}", change.aside);
    // It is judged as one: no file of it is asked about, nor said to have hunks.
    let restored = nebula(&world, &["review", "--restore", "all", "--yes"]);
    let said = text(&restored.stdout) + &text(&restored.stderr);
    assert_eq!(restored.status.code(), Some(3), "{said}");
    assert!(said.contains("the repository stays: .git/refs/heads/"), "{said}");
    let singly = ["COMMIT_EDITMSG", ".git/index", ".git/logs", "choose its hunks"];
    assert!(singly.iter().all(|words| !said.contains(words)), "{said}");
    assert_eq!(world.read("a.txt"), lines.replace("\n30\n", "\nMINE\n"));
    assert_eq!((git(&world, &["rev-parse", "HEAD"]), open(&world).0.len()), (own, 1));
    // Who insists is told what that goes over.
    let forced = nebula(&world, &["review", "--restore", "all", "--force"]);
    let said = text(&forced.stdout);
    assert!(forced.status.success() && said.contains("over what changed outside nebula"), "{forced:?}");
    assert_eq!(git(&world, &["rev-parse", "HEAD"]), base);
}

/// Returns a workspace with a repository in which two turns commit, and someone runs a command in between; with the first commit.
async fn committed_around(between: &str) -> (World, String) {
    let path = std::env::var("PATH").expect("a PATH");
    let lines: String = (1..=60).map(|n| format!("{n}\n")).collect();
    let world = World::new().variable("PATH", &path).file("a.txt", &lines).approve("review");
    commit_all(&world);
    let base = git(&world, &["rev-parse", "HEAD"]);
    ran(&world, &["sed -i 's/^10$/TEN/' a.txt; git commit -qam ten"]).await;
    let mut command = Command::new("sh");
    let command = command.args(["-c", between]).current_dir(world.root()).env("HOME", world.home());
    assert!(command.status().expect("sh").success(), "{between}");
    ran(&world, &["sed -i 's/^50$/FIFTY/' a.txt; git commit -qam fifty"]).await;
    (world, base)
}

#[tokio::test]
async fn a_repository_in_which_someone_committed_between_two_turns_stays_when_both_are_undone() {
    if !works() {
        return;
    }
    let lines: String = (1..=60).map(|n| format!("{n}\n")).collect();
    let commit = "echo own > own.txt; git add own.txt; git commit -qm own";
    for between in
        [commit, "git commit -q --amend -m mine", "echo own > own.txt; git add own.txt", "git checkout -qb x"]
    {
        let (world, base) = committed_around(between).await;
        let log = git(&world, &["log", "--format=%H", "--all"]);
        let head = git(&world, &["symbolic-ref", "HEAD"]);
        let restored = nebula(&world, &["review", "--restore", "all", "--yes"]);
        let said = text(&restored.stdout) + &text(&restored.stderr);
        assert_eq!(restored.status.code(), Some(3), "{between}: {said}");
        assert!(said.contains("the repository stays: .git/"), "{between}: {said}");
        assert_eq!(git(&world, &["log", "--format=%H", "--all"]), log, "{between}: {said}");
        assert_eq!((git(&world, &["symbolic-ref", "HEAD"]), world.read("a.txt")), (head, lines.clone()), "{between}");
        if between != commit {
            continue;
        }
        // The newest one alone comes back to what was met; the one before stays.
        let (entries, _) = open(&world);
        let newest = entries.iter().filter_map(|entry| entry["id"].as_str()).max().expect("an entry").to_string();
        assert!(nebula(&world, &["review", "--restore", &newest, "--yes"]).status.success());
        assert_eq!(git(&world, &["log", "-1", "--format=%s"]).trim(), "own");
        assert_eq!(nebula(&world, &["review", "--restore", "all", "--yes"]).status.code(), Some(3));
        assert_eq!(git(&world, &["log", "-1", "--format=%s"]).trim(), "own");
        assert!(nebula(&world, &["review", "--restore", "all", "--force"]).status.success());
        assert_eq!(git(&world, &["rev-parse", "HEAD"]), base);
    }
    // Two versions back are no more than both turns.
    let (world, _) = committed_around(commit).await;
    let head = git(&world, &["rev-parse", "HEAD"]);
    assert_eq!(nebula(&world, &["undo", "2", "--yes"]).status.code(), Some(3));
    assert_eq!(git(&world, &["rev-parse", "HEAD"]), head);
    let (world, base) = committed_around(commit).await;
    let forced = nebula(&world, &["undo", "2", "--force"]);
    assert!(forced.status.success(), "{forced:?}");
    assert_eq!(git(&world, &["rev-parse", "HEAD"]), base);
    // Only the times in the index are others.
    let (world, base) = committed_around("touch -d '2001-02-03' a.txt; git status >/dev/null").await;
    let restored = nebula(&world, &["review", "--restore", "all", "--yes"]);
    assert!(restored.status.success(), "{restored:?}");
    assert_eq!((git(&world, &["rev-parse", "HEAD"]), open(&world).0.len()), (base, 0));
}

#[tokio::test]
async fn what_someone_did_between_two_commands_of_a_turn_stays_when_both_are_undone() {
    if !works() {
        return;
    }
    let path = std::env::var("PATH").expect("a PATH");
    let lines: String = (1..=60).map(|n| format!("{n}\n")).collect();
    for by_hunks in [false, true] {
        let world = World::new().variable("PATH", &path).file("a.txt", &lines).approve("review");
        ran(&world, &["sed -i 's/^10$/TEN/' a.txt"]).await;
        world.write("a.txt", &world.read("a.txt").replace("\n40\n", "\nBY HAND\n"));
        ran(&world, &["sed -i 's/^50$/FIFTY/' a.txt"]).await;
        if by_hunks {
            // Each is a turn of its own.
            for _ in 0..2 {
                let files = restored_by_hunks(&world, ReviewScope::Single).await;
                assert_eq!(files[0].hunks.len(), 1, "{files:?}");
            }
        } else {
            let restored = nebula(&world, &["review", "--restore", "all", "--yes"]);
            assert!(restored.status.success(), "{}", text(&restored.stderr));
        }
        assert_eq!(world.read("a.txt"), lines.replace("\n40\n", "\nBY HAND\n"), "{by_hunks}");
        assert_eq!(open(&world).0.len(), 0, "{by_hunks}");
    }
}

#[tokio::test]
async fn what_another_program_decides_or_changes_is_told() {
    use nebula::protocol::{Command, EventBody, Listing, Query, QueryId};
    let path = std::env::var("PATH").expect("a PATH");
    let world = World::new().variable("PATH", &path).file("a.txt", "one\n").file("b.txt", "two\n").approve("review");
    ran(&world, &["rm a.txt", "echo more >> b.txt"]).await;
    let (entries, _) = open(&world);
    let model = Arc::new(Replay::from_steps(Vec::new()));
    let mut live = world.start_with(world.parts(model.clone()), model);
    live.send(Command::Ask(QueryId(1), Query::Review));
    let Listing::Review(_) = live.until(|event| answer(event, 1)).await else { panic!("no queue") };
    let told = |event: &EventBody| matches!(event, EventBody::ReviewChanged).then_some(());
    // The watch begins a moment after the start: a file is written until it tells of it.
    for n in 0.. {
        world.write("b.txt", &format!("two\nmore\n{n}\n"));
        if tokio::time::timeout(std::time::Duration::from_secs(1), live.until(told)).await.is_ok() {
            break;
        }
        assert!(n < 60, "the watch tells nothing");
    }
    let mut asked = 1;
    for (word, left) in [("--keep", 1), ("--restore", 0)] {
        let id = entries[left]["id"].as_str().expect("an id");
        assert!(nebula(&world, &["review", word, id, "--yes"]).status.success());
        loop {
            live.until(told).await;
            asked += 1;
            live.send(Command::Ask(QueryId(asked), Query::Review));
            let Listing::Review(turns) = live.until(|event| answer(event, asked)).await else { panic!("no queue") };
            if turns.iter().map(|turn| turn.entries.len()).sum::<usize>() == left {
                break;
            }
        }
    }
    live.close().await;
}

#[tokio::test]
async fn what_became_a_folder_or_a_pipe_leaves_the_rest_to_be_reviewed() {
    if !works() {
        return;
    }
    let path = std::env::var("PATH").expect("a PATH");
    let world = World::new().variable("PATH", &path).approve("review");
    let world = world.file("a.txt", "one\n").file("b.txt", "two\n").file("c.txt", "three\n");
    let becomes = "rm b.txt c.txt; mkdir b.txt; echo z > b.txt/z; mkfifo c.txt";
    ran(&world, &[&format!("sed -i s/one/ONE/ a.txt; {becomes}")]).await;
    let files = restored_by_hunks(&world, ReviewScope::Single).await;
    assert_eq!(paths(&files), ["a.txt", "b.txt", "b.txt/", "b.txt/z", "c.txt"]);
    assert_eq!(["a.txt", "b.txt", "c.txt"].map(|path| world.read(path)), ["one\n", "two\n", "three\n"]);
    assert_eq!(open(&world).0.len(), 0);
}

#[tokio::test]
async fn folders_and_modes_are_restored_by_their_hunks_and_many_files_made_are_one() {
    use std::os::unix::fs::PermissionsExt;
    if !works() {
        return;
    }
    let path = std::env::var("PATH").expect("a PATH");
    let world = World::new().variable("PATH", &path).approve("review");
    let world = world.file("a.txt", "one\n").file("old/in/f.txt", "f\n").file("sub/g.txt", "g\n");
    let at = |path: &str| world.root().join(path);
    let mode = |path: &str| std::fs::metadata(at(path)).expect("there").permissions().mode() & 0o777;
    std::fs::create_dir(at("empty")).expect("made");
    std::fs::set_permissions(at("sub"), std::fs::Permissions::from_mode(0o755)).expect("set");
    let many = "mkdir -p big/in; for i in $(seq 1001); do echo $i > big/in/$i; done";
    let folders = "rm -r empty old; mkdir -p new/in; chmod 700 sub";
    ran(&world, &[&format!("echo two >> a.txt; {folders}; {many}")]).await;
    let listed = text(&nebula(&world, &["review"]).stdout);
    assert!(listed.contains("      big/  with 1,001 files\n") && listed.lines().count() < 20, "{listed}");
    let files = restored_by_hunks(&world, ReviewScope::Single).await;
    assert_eq!(paths(&files), ["a.txt", "big/", "empty/", "new/", "old/", "old/in/f.txt", "sub/"]);
    assert_eq!((world.read("a.txt").as_str(), world.read("old/in/f.txt").as_str()), ("one\n", "f\n"));
    assert!(at("empty").is_dir() && !world.has("new") && !world.has("big"));
    assert_eq!(mode("sub"), 0o755);
    assert_eq!(open(&world).0.len(), 0);
}

#[tokio::test]
async fn the_changes_of_a_project_that_is_put_back_wait_again() {
    if !works() {
        return;
    }
    let path = std::env::var("PATH").expect("a PATH");
    let world = World::new().variable("PATH", &path).approve("review").file("f.txt", "1\n").file("lib.txt", "l\n");
    ran(&world, &["echo kept > kept.txt", "echo 2 >> f.txt; rm lib.txt; echo n > new.txt"]).await;
    let (entries, _) = open(&world);
    let kept = entries.iter().find(|entry| entry.to_string().contains("kept.txt")).expect("it waits");
    let kept = kept["id"].as_str().expect("an id").to_string();
    assert!(nebula(&world, &["review", "--keep", &kept]).status.success());
    let backup = world.root().with_extension("backup");
    let copy = |from: &Path, to: &Path| {
        assert!(Command::new("cp").arg("-a").args([from, to]).status().expect("ran").success());
    };
    for undo in [&["undo", "--yes"][..], &["review", "--restore", "all", "--yes"]] {
        let _ = std::fs::remove_dir_all(&backup);
        copy(&world.root(), &backup);
        let undone = nebula(&world, undo);
        assert!(open(&world).0.is_empty() && world.read("f.txt") == "1\n", "{undone:?}");
        std::fs::remove_dir_all(world.root()).expect("removed");
        copy(&backup, &world.root());
        let (again, _) = open(&world);
        assert_eq!(again.len(), 1, "{again:?}");
        assert!(!again[0].to_string().contains("kept.txt"), "{again:?}");
    }
    let undone = nebula(&world, &["undo", "--yes"]);
    assert!(world.read("f.txt") == "1\n" && world.has("kept.txt"), "{undone:?}");
}

fn answer(event: &nebula::protocol::EventBody, id: u64) -> Option<nebula::protocol::Listing> {
    match event {
        nebula::protocol::EventBody::Answer(own, listing) if own.0 == id => Some(listing.clone()),
        _ => None,
    }
}

#[tokio::test]
async fn plan_mode_runs_what_reads_and_writes_nothing() {
    use nebula::protocol::{Command, Mode, Setting};
    let path = std::env::var("PATH").expect("a PATH");
    let world = World::new().variable("PATH", &path).file("a.txt", "one\n").approve("all");
    let commands = [("runCommand", json!({"command": "cat a.txt"})), ("runCommand", json!({"command": "touch b.txt"}))];
    let model = Arc::new(Replay::from_steps(vec![calls(&commands), say("a plan")]));
    let mut parts = world.parts(model.clone());
    parts.config.program = Path::new(env!("CARGO_BIN_EXE_nebula")).into();
    let mut live = world.start_with(parts, model.clone());
    live.send(Command::Set(Setting::Mode(Mode::Plan)));
    live.submit("go");
    assert_eq!(live.end().await, TurnEnd::Done);
    live.close().await;
    let requests_text = format!("{:?}", model.requests());
    let runs_nothing_else = ["plan mode runs reading commands only here", "1 file would have been"];
    assert!(
        runs_nothing_else.iter().any(|next_notice| requests_text.contains(next_notice))
            && requests_text.contains("exit 0"),
        "{requests_text}"
    );
    assert!(!world.root().join("b.txt").exists());
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
    ran(&world, &["git add a.txt; rm a.txt"]).await;
    std::fs::write(world.root().join(".git/index.lock"), "").expect("written");
    let left = nebula(&world, &["review", "--restore", "all", "--yes"]);
    assert_eq!(left.status.code(), Some(3), "{}", text(&left.stderr));
    assert!(text(&left.stderr).contains("not restored: .git ("), "{}", text(&left.stderr));
    assert_eq!((world.read("a.txt").as_str(), open(&world).0.len()), ("one\n", 1));
    std::fs::remove_file(world.root().join(".git/index.lock")).expect("removed");
    let whole = nebula(&world, &["review", "--restore", "all", "--yes"]);
    assert_eq!((whole.status.code(), open(&world).0.len()), (Some(0), 0), "{}", text(&whole.stderr));
}

#[tokio::test]
async fn a_change_that_was_undone_waits_no_more_and_a_lost_memory_loses_no_entry() {
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

#[tokio::test]
async fn a_moment_is_shown_and_restored_and_each_line_has_its_author() {
    let path = std::env::var("PATH").expect("a PATH");
    let world = World::new().variable("PATH", &path).file("a.txt", "one\ntwo\n").approve("all");
    ran(&world, &["printf 'three\\n' >> a.txt; printf 'new\\n' > b.txt"]).await;
    // Someone goes on by hand, then another command changes the file again.
    std::fs::write(world.root().join("a.txt"), "mine\none\ntwo\nthree\n").expect("written");
    ran(&world, &["printf 'four\\n' >> a.txt"]).await;
    std::fs::write(world.root().join("a.txt"), "mine\none\ntwo\nthree\nfour\nlast\n").expect("written");
    let json = |arguments: &[&str]| -> Vec<Value> {
        let said = nebula(&world, arguments);
        serde_json::from_slice(&said.stdout).unwrap_or_else(|_| panic!("{said:?}"))
    };
    let moments = json(&["timeline", "--json"]);
    assert_eq!(moments.len(), 2, "{moments:?}");
    let first = moments[0]["changeset"].as_str().expect("an id");
    let files = json(&["at", first, "--json"]);
    let named: Vec<_> = files.iter().map(|file| (file["path"].as_str(), file["then"].as_str())).collect();
    assert_eq!(named, [(Some("a.txt"), Some("there")), (Some("b.txt"), Some("absent"))]);
    assert_eq!(text(&nebula(&world, &["at", first, "a.txt"]).stdout), "one\ntwo\n");
    assert_eq!(nebula(&world, &["at", first, "b.txt"]).status.code(), Some(1));
    assert_eq!(nebula(&world, &["at", "2001-01-01"]).status.code(), Some(1));
    let lines = json(&["blame", "a.txt", "--json"]);
    let causes: Vec<_> = lines.iter().map(|line| line["cause"].as_str().expect("a cause")).collect();
    assert_eq!(causes, ["outside", "before", "before", "command", "command", "outside"], "{lines:?}");
    assert!(lines.iter().all(|line| line["unsure"] == false), "{lines:?}");
    assert_eq!(lines[3]["prompt"], "go");
    let back = nebula(&world, &["at", first, "--restore", "--force"]);
    assert!(back.status.success(), "{}", text(&back.stderr));
    assert_eq!((world.read("a.txt").as_str(), world.root().join("b.txt").exists()), ("one\ntwo\n", false));
}

#[tokio::test]
async fn blame_follows_a_file_that_was_moved() {
    let path = std::env::var("PATH").expect("a PATH");
    let world = World::new().variable("PATH", &path).file("a.txt", "one\ntwo\nthree\n").approve("all");
    ran(&world, &["printf 'four\\n' >> a.txt", "mkdir sub && mv a.txt sub/b.txt"]).await;
    assert_eq!(world.read("sub/b.txt"), "one\ntwo\nthree\nfour\n");
    let said = nebula(&world, &["blame", "sub/b.txt", "--json"]);
    let lines: Vec<Value> = serde_json::from_slice(&said.stdout).unwrap_or_else(|_| panic!("{said:?}"));
    let causes: Vec<_> = lines.iter().map(|line| line["cause"].as_str().expect("a cause")).collect();
    assert_eq!(causes, ["before", "before", "before", "command"], "{lines:?}");
    let command = lines[3]["command"].as_str().unwrap_or_default();
    assert!(command.starts_with("printf"), "the move wrote no line: {lines:?}");
}

#[tokio::test]
async fn a_moved_files_lines_keep_their_causes_whatever_becomes_of_both_paths() {
    let path = std::env::var("PATH").expect("a PATH");
    let old = "one\ntwo\nthree\nfour\n";
    let before = ["before"; 4];
    // The commands, what someone then writes at both paths, and the causes of the lines at the new one.
    let cases: [(&[&str], Option<&str>, Option<&str>, Vec<&str>); 4] = [
        (&["mv a.txt b.txt"], Some("use b\n"), None, before.to_vec()),
        (&["mv a.txt b.txt; echo 'use b' > a.txt"], None, None, before.to_vec()),
        (&["mv a.txt b.txt"], None, Some("one\nx\ny\nz\n"), vec!["before", "outside", "outside", "outside"]),
        // A copy is no move: the old path has its lines still.
        (&["cp a.txt b.txt; echo five >> a.txt"], None, None, vec!["command"; 4]),
    ];
    for (commands, at_old, at_new, causes) in cases {
        let world = World::new().variable("PATH", &path).file("a.txt", old).approve("all");
        ran(&world, commands).await;
        at_old.into_iter().for_each(|text| world.write("a.txt", text));
        at_new.into_iter().for_each(|text| world.write("b.txt", text));
        let said = nebula(&world, &["blame", "b.txt", "--json"]);
        let lines: Vec<Value> = serde_json::from_slice(&said.stdout).unwrap_or_else(|_| panic!("{said:?}"));
        let found: Vec<_> = lines.iter().map(|line| line["cause"].as_str().expect("a cause")).collect();
        assert_eq!(found, causes, "{commands:?}: {lines:?}");
        assert!(lines.iter().all(|line| line["unsure"] == false), "{commands:?}: {lines:?}");
    }
}

#[tokio::test]
async fn lines_that_come_back_over_a_move_have_the_causes_that_they_had() {
    let path = std::env::var("PATH").expect("a PATH");
    for moves in [
        &["mv a.txt b.txt"][..],
        &["mv a.txt b.txt", "sed -i s/five/FIVE/ b.txt"],
        &["mv a.txt b.txt", "mv b.txt a.txt"],
    ] {
        let world = World::new().variable("PATH", &path).approve("all");
        let world = world.file("a.txt", "one\ntwo\nthree\nfour\nfive\n");
        ran(&world, &[&["sed -i s/two/TWO/ a.txt"], moves].concat()).await;
        let said = nebula(&world, &["timeline", "--json"]);
        let moments: Vec<Value> = serde_json::from_slice(&said.stdout).unwrap_or_else(|_| panic!("{said:?}"));
        let first = moments[0]["changeset"].as_str().expect("an id");
        let back = nebula(&world, &["at", first, "--restore", "--yes"]);
        assert!(back.status.success(), "{}", text(&back.stderr));
        assert_eq!(world.read("a.txt"), "one\ntwo\nthree\nfour\nfive\n");
        let said = nebula(&world, &["blame", "a.txt", "--json"]);
        let lines: Vec<Value> = serde_json::from_slice(&said.stdout).unwrap_or_else(|_| panic!("{said:?}"));
        assert!(lines.len() == 5 && lines.iter().all(|line| line["cause"] == "before"), "{moves:?}: {lines:?}");
    }
}

#[tokio::test]
async fn the_state_of_a_moment_is_written_elsewhere_and_foreign_work_is_not_shown_as_the_past() {
    let path = std::env::var("PATH").expect("a PATH");
    let world =
        World::new().variable("PATH", &path).file("a.txt", "one\n").file("sub/same.txt", "same\n").approve("all");
    ran(&world, &["printf 'two\n' >> a.txt; rm -f gone.txt; printf 'g\n' > gone.txt", "rm gone.txt"]).await;
    std::fs::write(world.root().join("a.txt"), "one\ntwo\nlater\n").expect("written");
    let said = nebula(&world, &["timeline", "--json"]);
    let moments: Vec<Value> = serde_json::from_slice(&said.stdout).expect("JSON");
    let last = moments.last().and_then(|moment| moment["changeset"].as_str()).expect("an id");
    // What someone wrote since is no part of the past.
    assert_eq!(text(&nebula(&world, &["at", last, "a.txt"]).stdout), "one\ntwo\n");
    let files: Vec<Value> = serde_json::from_slice(&nebula(&world, &["at", last, "--json"]).stdout).expect("JSON");
    let outside: Vec<_> = files.iter().map(|file| (file["path"].as_str(), file["outside"].as_bool())).collect();
    assert_eq!(outside, [(Some("a.txt"), Some(true)), (Some("gone.txt"), Some(false))]);
    // Now is what is on disk.
    assert_eq!(text(&nebula(&world, &["at", "now", "a.txt"]).stdout), "one\ntwo\nlater\n");
    assert_eq!(text(&nebula(&world, &["at", "now", "--json"]).stdout).trim(), "[]");
    let listed = text(&nebula(&world, &["at", last]).stderr);
    assert!(listed.contains("go back in 1; the others were changed outside nebula only"), "{listed}");
    let to = world.home().join("then");
    let wrote = nebula(&world, &["at", last, "--to", to.to_str().expect("text")]);
    assert!(wrote.status.success(), "{wrote:?}");
    let read = |path: &str| std::fs::read_to_string(to.join(path)).expect("written");
    assert_eq!(
        (read("a.txt"), read("gone.txt"), read("sub/same.txt")),
        ("one\ntwo\n".into(), "g\n".into(), "same\n".into())
    );
    for refused in [to.as_path(), &world.root().join("in")] {
        let again = nebula(&world, &["at", last, "--to", refused.to_str().expect("text")]);
        assert_eq!(again.status.code(), Some(1), "{again:?}");
    }
    assert!(!world.root().join("in").exists());
    // A name is one of bytes.
    use std::os::unix::ffi::OsStrExt;
    let name = std::ffi::OsStr::from_bytes(b"not\xff");
    std::fs::write(world.root().join(name), "x").expect("written");
    let wrote = nebula(&world, &["at", last, "--to", world.home().join("part").to_str().expect("text")]);
    assert!(wrote.status.success(), "{wrote:?}");
    assert_eq!(std::fs::read(world.home().join("part").join(name)).expect("written"), b"x");
    let elsewhere = world.home().join("dry");
    let dry = nebula(&world, &["at", last, "--dry-run", "--to", elsewhere.to_str().expect("text")]);
    assert!(dry.status.code() == Some(2) && !elsewhere.exists(), "{dry:?}");
}

#[tokio::test]
async fn what_cannot_be_read_of_one_file_hides_nothing_of_the_others() {
    let path = std::env::var("PATH").expect("a PATH");
    let world = World::new().variable("PATH", &path).file("a.txt", "one\n").file("b.txt", "b\n").approve("all");
    ran(&world, &["printf 'two\n' >> a.txt; printf 'more\n' >> b.txt"]).await;
    // A pipe stands where a file was.
    std::fs::remove_file(world.root().join("b.txt")).expect("removed");
    make_pipe(&world.root().join("b.txt"));
    let said = nebula(&world, &["timeline", "--json"]);
    let moments: Vec<Value> = serde_json::from_slice(&said.stdout).expect("JSON");
    let first = moments[0]["changeset"].as_str().expect("an id");
    let at = nebula(&world, &["at", first, "--json"]);
    let files: Vec<Value> = serde_json::from_slice(&at.stdout).unwrap_or_else(|_| panic!("{at:?}"));
    assert!(files.iter().any(|file| file["path"] == "a.txt"), "{files:?}");
    assert!(text(&at.stderr).contains("b.txt"), "{at:?}");
    let to = world.home().join("then");
    let wrote = nebula(&world, &["at", first, "--to", to.to_str().expect("text")]);
    assert_eq!(wrote.status.code(), Some(1), "{wrote:?}");
    assert!(to.join("a.txt").exists() && !to.join("b.txt").exists());
}

/// Makes a pipe.
fn make_pipe(path: &std::path::Path) {
    let made = std::process::Command::new("mkfifo").arg(path).status().expect("mkfifo runs");
    assert!(made.success());
}

#[tokio::test]
async fn a_review_that_is_killed_anywhere_loses_nothing_and_claims_nothing() {
    if !works() {
        return;
    }
    let path = std::env::var("PATH").expect("a PATH");
    let rounds: u64 = std::env::var("NEBULA_KILLS").ok().and_then(|n| n.parse().ok()).unwrap_or(3);
    for round in 0..rounds {
        let world =
            World::new().variable("PATH", &path).file("a.txt", "one\n").file("b.txt", "two\n").approve("review");
        ran(&world, &["rm a.txt", "echo more >> b.txt"]).await;
        let mut command = Command::new(env!("CARGO_BIN_EXE_nebula"));
        command.args(["review", "--restore", "all", "--yes"]).current_dir(world.root()).env_clear();
        command.env("PATH", &path).env("HOME", world.home());
        let mut child = command.stdout(std::process::Stdio::null()).spawn().expect("started");
        let due = std::time::Duration::from_millis(round * 37 % 150);
        let begun = std::time::Instant::now();
        while begun.elapsed() < due && child.try_wait().expect("looked").is_none() {
            std::thread::yield_now();
        }
        // It may be over already.
        let _ = child.kill();
        child.wait().expect("it ends");
        let (entries, _) = open(&world);
        let waits = |path: &str| entries.iter().any(|entry| entry["files"][0]["path"] == path);
        let now = |path: &str| std::fs::read_to_string(world.root().join(path)).ok();
        for (path, old, new) in [("a.txt", Some("one\n"), None), ("b.txt", Some("two\n"), Some("two\nmore\n"))] {
            let is = now(path);
            assert!(is.as_deref() == old || is.as_deref() == new, "{path}: {is:?}, after {due:?}");
            assert!(is.as_deref() == old || waits(path), "{path} is not restored and waits no more, after {due:?}");
        }
        nebula(&world, &["review", "--restore", "all", "--yes"]);
        assert_eq!((now("a.txt").as_deref(), now("b.txt").as_deref()), (Some("one\n"), Some("two\n")), "{due:?}");
        assert_eq!(open(&world).0.len(), 0, "{due:?}");
        assert!(nebula(&world, &["history", "--check"]).status.success(), "{due:?}");
    }
}

#[tokio::test]
async fn every_entry_waits_again_once_its_restore_is_undone() {
    if !works() {
        return;
    }
    let path = std::env::var("PATH").expect("a PATH");
    let world = World::new().variable("PATH", &path).file("a.txt", "one\n").file("b.txt", "two\n").approve("review");
    // The second one changes a file of the first again, which none of the two has left as it is in the end.
    ran(&world, &["rm b.txt; echo a >> a.txt", "echo b >> a.txt"]).await;
    assert_eq!(open(&world).0.len(), 2);
    assert!(nebula(&world, &["review", "--restore", "all", "--yes"]).status.success());
    assert_eq!(open(&world).0.len(), 0);
    assert!(nebula(&world, &["undo", "--yes"]).status.success());
    assert_eq!(world.read("a.txt"), "one\na\nb\n");
    assert_eq!(open(&world).0.len(), 2);
}

#[tokio::test]
async fn what_was_undone_waits_no_more_whatever_changes_its_files_afterwards() {
    if !works() {
        return;
    }
    let path = std::env::var("PATH").expect("a PATH");
    let world = World::new().variable("PATH", &path).file("a.txt", "one\n").file("b.txt", "two\n").approve("all");
    ran(&world, &["echo hello > new.txt; echo a >> a.txt"]).await;
    assert_eq!(open(&world).0.len(), 1);
    assert!(nebula(&world, &["undo", "--yes"]).status.success());
    assert_eq!(open(&world).0.len(), 0);
    // By hand, or by git.
    std::fs::write(world.root().join("a.txt"), "one\nmine\n").expect("written");
    assert_eq!(open(&world).0.len(), 0);
    std::fs::write(world.root().join("a.txt"), "one\n").expect("written");
    assert!(nebula(&world, &["redo", "--yes"]).status.success());
    assert_eq!(open(&world).0.len(), 1, "its undo was undone");
    ran(&world, &["echo b >> b.txt"]).await;
    std::fs::write(world.root().join("a.txt"), "one\na\nmine\n").expect("written");
    assert_eq!(open(&world).0.len(), 2, "a later change hides none");
    // All of a turn, with the second command's end as no state of the first one.
    ran(&world, &["echo c >> b.txt", "echo d >> b.txt"]).await;
    assert_eq!(open(&world).0.len(), 4);
    assert!(nebula(&world, &["undo", "--turn", "--yes"]).status.success());
    assert_eq!((world.read("b.txt").as_str(), open(&world).0.len()), ("two\nb\n", 2));
    std::fs::write(world.root().join("b.txt"), "two\nb\nmine\n").expect("written");
    assert_eq!(open(&world).0.len(), 2);
}

#[tokio::test]
async fn a_repository_that_a_turn_made_and_moved_goes_with_the_turn() {
    if !works() {
        return;
    }
    let path = std::env::var("PATH").expect("a PATH");
    let git = "git -c user.name=x -c user.email=x@y";
    let makes = format!("git init -q app; cd app; echo a > a; {git} add -A; {git} commit -qm a; cd ..");
    for then in ["mv app app2", "rm -rf app"] {
        let world = World::new().variable("PATH", &path).file("a.txt", "one\n").approve("review");
        ran(&world, &[&makes, then]).await;
        let undone = nebula(&world, &["undo", "--turn", "--yes"]);
        assert!(undone.status.success(), "{then}: {}{}", text(&undone.stdout), text(&undone.stderr));
        assert!(!world.root().join("app").exists() && !world.root().join("app2").exists(), "{then}");
        // Where the turn left nothing, nothing was undone.
        let has_left = then == "mv app app2";
        assert_eq!(nebula(&world, &["redo", "--yes"]).status.success(), has_left, "{then}");
        assert_eq!(world.root().join("app2/.git/HEAD").exists(), has_left, "{then}");
    }
}

#[tokio::test]
async fn an_entry_that_was_restored_waits_no_more_whatever_else_is_redone() {
    if !works() {
        return;
    }
    let path = std::env::var("PATH").expect("a PATH");
    let world =
        World::new().variable("PATH", &path).file("docs/a.md", "a\n").file("docs/b.md", "b\n").approve("review");
    ran(&world, &["rm docs/a.md"]).await;
    assert_eq!(open(&world).0.len(), 1);
    for arguments in [
        &["review", "--restore", "all", "--yes"][..],
        &["run", "--", "rm -r docs"],
        &["undo", "--yes"],
        &["redo", "--yes"],
        &["undo", "--yes"],
    ] {
        let done = nebula(&world, arguments);
        assert!(done.status.success(), "{arguments:?}: {done:?}");
        assert_eq!(open(&world), (Vec::new(), Some(0)), "{arguments:?}");
    }
    assert_eq!(world.read("docs/a.md"), "a\n");
}

#[tokio::test]
async fn what_was_discarded_or_undone_beside_own_lines_waits_no_more() {
    if !works() {
        return;
    }
    let path = std::env::var("PATH").expect("a PATH");
    let lines: String = (1..=40).map(|n| format!("{n}\n")).collect();
    let world = World::new().variable("PATH", &path).file("a.txt", &lines).file("b.txt", "two\n").approve("review");
    ran(&world, &["sed -i 's/^5$/FIVE/' a.txt", "rm b.txt"]).await;
    // Without nebula, and nobody looks.
    std::fs::write(world.root().join("a.txt"), &lines).expect("written");
    std::fs::write(world.root().join("b.txt"), "two\n").expect("written");
    ran(&world, &["sed -i 's/^30$/THIRTY/' a.txt; echo more >> b.txt"]).await;
    assert_eq!(open(&world).0.len(), 1, "{:?}", open(&world));
    let own = world.read("a.txt").replace("\n10\n", "\nmine\n");
    std::fs::write(world.root().join("a.txt"), own).expect("written");
    let undone = nebula(&world, &["undo", "--yes"]);
    assert_eq!(undone.status.code(), Some(0), "{undone:?}");
    assert_eq!(world.read("a.txt"), lines.replace("\n10\n", "\nmine\n"));
    assert_eq!(open(&world), (Vec::new(), Some(0)));
    // The undo of that undo lets it wait again.
    assert!(nebula(&world, &["redo", "--yes"]).status.success());
    assert_eq!(open(&world).1, Some(1));
}

#[tokio::test]
async fn the_restore_of_an_edit_leaves_restored_permissions() {
    if !works() {
        return;
    }
    use std::os::unix::fs::PermissionsExt;
    let path = std::env::var("PATH").expect("a PATH");
    let world = World::new().variable("PATH", &path).file("a.txt", "one\n").approve("review");
    let file = world.root().join("a.txt");
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o644)).expect("set");
    ran(&world, &["chmod 777 a.txt", "sed -i 's/one/two/' a.txt"]).await;
    let entries = open(&world).0;
    let first = entries[0]["id"].as_str().expect("an id").to_string();
    for which in [first.as_str(), "all"] {
        assert!(nebula(&world, &["review", "--restore", which, "--yes"]).status.success());
        let mode = std::fs::metadata(&file).expect("there").permissions().mode() & 0o777;
        assert_eq!(mode, 0o644, "after {which}");
    }
    assert_eq!((world.read("a.txt").as_str(), open(&world).1), ("one\n", Some(0)));
}
