//! The replies of a small real model (`fixtures/model-replies`): what each comes to is stored beside it, and is the same
//! read alone, through `nebula patch` and in a session.

use std::collections::BTreeMap;
use std::path::Path;

use nebula::edit::stream::End;
use nebula::proposal::{Consent, Decision};
use nebula::protocol::{EventBody, ProposalEvent, TurnEnd};
use nebula::provider::Role;

use crate::edits::{Files, after, answer_any, check_numbers, failures, files, fixtures, folders, place};
use crate::support::world::{World, say};

/// The file a task is about.
fn task(folder: &Path) -> (String, Files) {
    let own = |path: &str| path.ends_with(".py") && path != "check.py" && !path.contains('/');
    let before: Files = files(folder).into_iter().filter(|(path, _)| own(path)).collect();
    (before.keys().next().unwrap().clone(), before)
}

/// The replies of a real model: what each must come to is stored beside it, as bytes (`after`) or as the whole text the
/// model is told (`told`).
#[test]
fn real_replies_land_or_are_refused_with_help() {
    // By format: how many change their file, of how many.
    let mut counts: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for folder in folders(&fixtures("model-replies")) {
        let (path, before) = task(&folder);
        for (name, reply) in replies(&folder) {
            let label = format!("{} {name}", folder.display());
            let answer = answer_any(&label, &reply, None, &before, End::Ordinary);
            let outcome = place(&answer.edits, &before);
            let stored = |kind: &str| std::fs::read(folder.join("expected").join(&name).join(kind)).ok();
            let now = after(&outcome, &before).remove(&path);
            let wanted = stored("after").unwrap_or_else(|| before[&path].clone());
            assert_eq!(now.map(|b| String::from_utf8(b).unwrap()), Some(String::from_utf8(wanted).unwrap()), "{label}");
            let wanted = String::from_utf8(stored("told").unwrap_or_default()).unwrap();
            let failures = failures(&answer, &outcome);
            assert_eq!(failures, wanted, "{label}");
            check_numbers(&label, &failures, &before);
            let landed = counts.entry(requested_format(&name)).or_default();
            landed.0 += usize::from(stored("after").is_some());
            landed.1 += 1;
        }
    }
    // Of the tool calls none says where: a word that stands in several places, a word that is nowhere, no change at all.
    // Of the tags two name a method that is not there yet, one has no replacement, one names several places.
    assert_eq!(
        counts.into_iter().collect::<Vec<_>>(),
        [("blocks", (6, 6)), ("patch", (6, 6)), ("tools", (0, 33)), ("whole", (6, 6)), ("xml", (8, 12))]
    );
}

/// All replies of a task by name.
fn replies(folder: &Path) -> Vec<(String, String)> {
    let mut replies = Vec::new();
    for (name, bytes) in files(folder) {
        let text = String::from_utf8(bytes).unwrap();
        if name.starts_with("reply.") {
            replies.push((name, text));
        } else if name.starts_with("replies.") {
            let list: Vec<String> = serde_json::from_str(&text).unwrap();
            replies.extend(list.into_iter().enumerate().map(|(i, text)| (format!("{name}.{i}"), text)));
        }
    }
    replies
}

/// Applies the replies through `nebula patch`: what a person would have to look at is not written by `--yes`, the rest comes to
/// the same bytes, and what is refused leaves the file alone and helps.
#[test]
fn real_replies_come_to_the_same_through_the_command() {
    let home = tempfile::tempdir().unwrap();
    for folder in folders(&fixtures("model-replies")) {
        let (path, before) = task(&folder);
        for (name, reply) in replies(&folder) {
            let answer = answer_any(&name, &reply, None, &before, End::Ordinary);
            let outcome = place(&answer.edits, &before);
            let ok = outcome.ok() && answer.broken.is_empty() && !answer.edits.is_empty();
            let inexact = outcome.results.iter().any(|r| r.rung() == Some(nebula::proposal::Rung::Inexact));
            let root = tempfile::tempdir().unwrap();
            std::fs::create_dir(root.path().join(".shaft")).unwrap();
            std::fs::write(root.path().join(&path), &before[&path]).unwrap();
            std::fs::write(root.path().join("reply"), &reply).unwrap();
            let ran = std::process::Command::new(env!("CARGO_BIN_EXE_nebula"))
                .args(["patch", "--yes", "reply"])
                .current_dir(root.path())
                .env("HOME", home.path())
                .env("NEBULA_HOME", home.path().join(".nebula"))
                .output()
                .unwrap();
            let label = format!("{} {name}: {}", folder.display(), String::from_utf8_lossy(&ran.stderr));
            let now = std::fs::read(root.path().join(&path)).unwrap();
            let wanted =
                if ok && !inexact { after(&outcome, &before).remove(&path).unwrap() } else { before[&path].clone() };
            assert_eq!(String::from_utf8(now).unwrap(), String::from_utf8(wanted).unwrap(), "{label}");
            let code = if !ok {
                1
            } else if inexact {
                3
            } else {
                0
            };
            assert_eq!(ran.status.code(), Some(code), "{label}");
        }
    }
}

/// The format a reply was asked for.
fn requested_format(name: &str) -> &'static str {
    match name.split('.').nth(1).unwrap_or_default() {
        "fence" => "blocks",
        "whole" => "whole",
        "udiff" => "patch",
        word if word.starts_with("xml") => "xml",
        _ => "tools",
    }
}

/// Applies the replies in a session, with the file mentioned and everything accepted: the same bytes, and the model is
/// told the same of what could not be placed.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn real_replies_come_to_the_same_in_a_session() {
    for folder in folders(&fixtures("model-replies")) {
        let (path, before) = task(&folder);
        let before = String::from_utf8(before[&path].clone()).unwrap();
        for (name, reply) in replies(&folder) {
            let label = format!("{} {name}", folder.display());
            let stored = |kind: &str| std::fs::read_to_string(folder.join("expected").join(&name).join(kind)).ok();
            let world = World::new().format(requested_format(&name)).file(&path, &before);
            let world = world.model([say(&reply), say("Done."), say("Done.")]);
            let mut live = world.start();
            live.submit(&format!("Do it in @{path}"));
            loop {
                match live.next().await {
                    EventBody::Proposal(ProposalEvent::Proposed(proposal, _)) => {
                        let all = Decision::accept(&proposal, Consent::Person);
                        live.send(nebula::protocol::Command::Decide(proposal.id, all));
                    }
                    EventBody::TurnEnded(_, end) => {
                        assert_eq!(end, TurnEnd::Done, "{label}");
                        break;
                    }
                    _ => {}
                }
            }
            assert_eq!(world.read(&path), stored("after").unwrap_or_else(|| before.clone()), "{label}");
            let requests = live.requests();
            let last = requests.last().unwrap();
            let answer = last.messages.iter().rposition(|m| m.role == Role::Assistant);
            let said: String = answer.map_or(String::new(), |at| {
                last.messages[at + 1..].iter().map(|m| m.text()).collect::<Vec<_>>().join("\n")
            });
            for line in stored("told").unwrap_or_default().lines().filter(|l| !l.contains("ignored, it is the example"))
            {
                assert!(said.contains(line), "{label}: told\n{said}\nwithout\n{line}");
            }
            live.close().await;
        }
    }
}
