//! The parts of a prompt, seen from outside: passages by `@rag`, the person's prompts, rules by the files in play,
//! commit messages, and a conversation that outgrows its context window.

use std::process::Command as Process;

use nebula::protocol::{Command, EventBody, Item, Mode, SessionChoice, Setting, TurnEnd};
use nebula::provider::{Delta, EndReason, Request, Role, Usage};
use serde_json::json;

use crate::support::world::{Live, World, call, say};

/// Returns why the message came back.
async fn returned(live: &mut Live) -> String {
    live.until(|e| match e {
        EventBody::Returned(_, why) => Some(why.clone()),
        _ => None,
    })
    .await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn passages_are_found_only_on_request() {
    let world = World::new()
        .file("docs/rounding.md", "Prices round half to even.\n")
        .file("docs/在庫.md", "在庫の価格表はここにある\n")
        .model([say("Half to even."), say("はい。")]);
    let mut live = world.start();
    live.submit("@rag how do prices round?");
    assert_eq!(live.end().await, TurnEnd::Done);
    let sent = live.requests()[0].messages[0].text().into_owned();
    assert!(sent.ends_with("title=\"docs/rounding.md:1-1\"\nPrices round half to even.\n```\n"), "{sent}");
    let attached = live.events.iter().find_map(|e| match e {
        EventBody::Added(_, Item::User { attached, .. }) => Some(attached.clone()),
        _ => None,
    });
    assert_eq!(attached.expect("a message")[0].path, "docs/rounding.md");
    live.submit("@rag 価格");
    assert_eq!(live.end().await, TurnEnd::Done);
    assert!(live.requests()[1].messages.last().expect("sent").text().contains("在庫の価格表"));
    live.submit("@rag zebra");
    assert!(returned(&mut live).await.contains("found nothing for zebra"));
    assert_eq!(live.requests().len(), 2);
    live.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn prompts_of_the_person_stand_for_their_text() {
    let world = World::new()
        .file("a.rs", "fn a() {}\n")
        .file(".nebula/prompts/review.md", "---\narguments: file\n---\nReview @$file strictly.\n")
        .model([say("Fine.")]);
    let mut live = world.start();
    live.submit("/prompt review");
    assert!(returned(&mut live).await.contains("needs file"));
    live.submit("/prompt other x");
    assert!(returned(&mut live).await.contains("there is no prompt other"));
    live.submit("/prompt review a.rs");
    assert_eq!(live.end().await, TurnEnd::Done);
    let sent = live.requests()[0].messages[0].text().into_owned();
    assert!(sent.starts_with("Review @a.rs strictly.\n\n---\nReference\n"), "{sent}");
    live.close().await;
}

/// Returns whether a provider can reuse the earlier request: the system prompt and the messages of an earlier request begin a later one.
fn begins(earlier: &Request, later: &Request) {
    assert_eq!(earlier.system, later.system);
    let same = earlier.messages.iter().zip(&later.messages).take_while(|(a, b)| a == b).count();
    assert_eq!(same, earlier.messages.len(), "{:?}\n{:?}", earlier.messages, later.messages);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_request_begins_as_the_one_before_whatever_changes() {
    let world =
        World::new().approve("edits").file("a.rs", "fn a() {}\n").file(".git/HEAD", "ref: refs/heads/main\n").model([
            call("writeFile", json!({"path": "new/b.rs", "content": "fn b() {}\n"})),
            say("Made."),
            say("Still there."),
            say("Plan."),
            say("Nothing new."),
        ]);
    let mut live = world.start();
    live.submit("make b");
    assert_eq!(live.end().await, TurnEnd::Done);
    world.write(".git/HEAD", "ref: refs/heads/other\n");
    world.write("AGENTS.md", "Be brief.");
    live.submit("and now?");
    assert_eq!(live.end().await, TurnEnd::Done);
    let sent_text = live.requests()[2].messages.last().expect("sent").text().into_owned();
    assert!(
        sent_text.starts_with("and now?\n\n---\nRules of this project that apply from here on, from AGENTS.md"),
        "{sent_text}"
    );
    assert!(sent_text.contains("- Git: branch other") && sent_text.ends_with("  new/: b.rs"), "{sent_text}");
    // Another mode has another prompt, on the same ground; back in the first, the beginning is the old one.
    live.send(Command::Set(Setting::Mode(Mode::Plan)));
    live.submit("plan");
    assert_eq!(live.end().await, TurnEnd::Done);
    live.send(Command::Set(Setting::Mode(Mode::Agent)));
    live.submit("go");
    assert_eq!(live.end().await, TurnEnd::Done);
    let requests = live.requests();
    assert!(requests[3].system.contains("branch main") && requests[3].system != requests[2].system);
    for later in [1, 2, 4] {
        begins(&requests[later - 1 - usize::from(later == 4)], &requests[later]);
    }
    let events = live.close().await;
    let session = events.iter().find_map(|e| match e {
        EventBody::Opened(info) => Some(info.id.clone()),
        _ => None,
    });
    let world = world.model([say("Resumed.")]);
    let mut live = world.start();
    live.open(SessionChoice::Resume(session.expect("a session")));
    live.submit("once more");
    assert_eq!(live.end().await, TurnEnd::Done);
    begins(&requests[4], &live.requests()[0]);
    assert_eq!(live.requests()[0].messages.last().expect("sent").text(), "once more");
    live.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_model_does_not_take_is_reported_before_it_is_sent() {
    let world = World::new().model([say("A picture."), say("I see none."), say("Text.")]);
    let png = world.root().join("p.png");
    std::fs::write(&png, [0x89, b'P', b'N', b'G', 0, 1]).expect("written");
    let mut live = world.start();
    live.submit("see @p.png");
    assert_eq!(live.end().await, TurnEnd::Done);
    assert_eq!(live.requests()[0].messages[0].blobs().count(), 1);
    let events = live.close().await;
    let session = events.iter().find_map(|e| match e {
        EventBody::Opened(info) => Some(info.id.clone()),
        _ => None,
    });

    std::fs::create_dir_all(world.home().join(".nebula")).expect("made");
    let config = json!({"models": {"recording": {"images": false}}}).to_string();
    std::fs::write(world.home().join(".nebula/config.json"), config).expect("written");
    let mut live = world.start();
    live.open(SessionChoice::Resume(session.expect("a session")));
    live.submit("see @p.png again");
    let why = returned(&mut live).await;
    assert!(why.starts_with("p.png cannot be attached") && why.contains("models.NAME.images"), "{why}");
    live.submit("what was it?");
    assert_eq!(live.end().await, TurnEnd::Done);
    let sent = &live.requests()[0].messages[0];
    assert!(sent.blobs().next().is_none() && sent.text().ends_with("you do not take such files: p.png."), "{sent:?}");
    live.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rules_join_when_a_tool_first_touches_a_file() {
    let world = World::new()
        .file("AGENTS.md", "Speak plainly.")
        .file("src/a.rs", "fn a() {}\n")
        .file(".nebula/rules/rust.md", "---\nglobs: \"*.rs\"\n---\nNo unwrap.")
        .model([call("readFile", json!({"path": "src/a.rs"})), say("Read.")]);
    let mut live = world.start();
    live.submit("look at the code");
    assert_eq!(live.end().await, TurnEnd::Done);
    let requests = live.requests();
    assert!(requests[0].system.contains("Speak plainly.") && !requests[0].system.contains("No unwrap."));
    assert_eq!(requests[1].system, requests[0].system);
    let sent_text = requests[1].messages.last().expect("sent").text();
    assert!(sent_text.contains("from .nebula/rules/rust.md (matches *.rs (src/a.rs)):\n\nNo unwrap."), "{sent_text}");
    let chips = live.events.iter().rev().find_map(|e| match e {
        EventBody::Status(status) => Some(status.rules.iter().map(|r| r.reason.clone()).collect::<Vec<_>>()),
        _ => None,
    });
    assert_eq!(chips.expect("a status"), ["workspace", "matches *.rs (src/a.rs)"]);
    let joined = live.events.iter().filter_map(|e| match e {
        EventBody::Added(_, Item::Rules(rules)) => {
            Some(rules.iter().map(|r| (r.path.clone(), r.bytes)).collect::<Vec<_>>())
        }
        _ => None,
    });
    let joined: Vec<_> = joined.flatten().collect();
    assert_eq!(joined, [("AGENTS.md".to_string(), 14), (".nebula/rules/rust.md".to_string(), 10)], "each is told once");
    live.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_commit_message_is_proposed_edited_and_used() {
    let world = World::new().file("a.txt", "one\n").model([say("```\nAdd a\n```")]);
    let git = |arguments: &[&str]| {
        let output = Process::new("git").args(arguments).current_dir(world.root()).output().expect("git runs");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    git(&["init", "-q", "--template="]);
    // Whatever the person's own configuration says.
    for (key, value) in [
        ("user.name", "N"),
        ("user.email", "n@example.com"),
        ("commit.gpgsign", "false"),
        ("core.hooksPath", ".git/hooks"),
    ] {
        git(&["config", key, value]);
    }
    let mut live = world.start();
    live.send(Command::DraftCommit);
    let notice = |e: &EventBody| match e {
        EventBody::Notice(n) => Some(n.title.clone()),
        _ => None,
    };
    live.until(|e| notice(e).filter(|t| t.contains("nothing is staged"))).await;
    git(&["add", "a.txt"]);
    live.send(Command::DraftCommit);
    let proposed = live
        .until(|e| match e {
            EventBody::CommitMessage(text) => Some(text.clone()),
            _ => None,
        })
        .await;
    assert_eq!(proposed, "Add a");
    assert!(live.requests()[0].messages[0].text().contains("+one"));
    live.send(Command::Commit("Add a, and say why".into()));
    live.until(|e| notice(e).filter(|t| t.contains("Add a, and say why"))).await;
    assert_eq!(git(&["log", "--format=%s"]).trim(), "Add a, and say why");
    // A hook that refuses loses no message; only a trusted folder runs its hooks.
    live.send(Command::Set(Setting::Trust));
    world.write(".git/hooks/pre-commit", "#!/bin/sh\necho 'tabs are not allowed' >&2\nexit 1\n");
    make_executable(&world.root().join(".git/hooks/pre-commit"));
    world.write("b.txt", "two\n");
    git(&["add", "b.txt"]);
    live.send(Command::Commit("Add b".into()));
    let why = live
        .until(|e| match e {
            EventBody::Added(_, Item::Notice(n)) if n.title == "nothing was committed" => Some(n.detail.clone()),
            _ => None,
        })
        .await;
    assert_eq!(why, "git: tabs are not allowed");
    live.until(|e| matches!(e, EventBody::CommitMessage(text) if text == "Add b").then_some(())).await;
    live.close().await;
}

fn make_executable(path: &std::path::Path) {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).expect("set");
}

#[test]
fn a_message_that_nobody_can_approve_is_not_requested() {
    let world = World::new().file("a.txt", "one\n");
    let server = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    server.set_nonblocking(true).expect("set");
    let url = format!("http://{}/v1", server.local_addr().expect("an address"));
    let git = |arguments: &[&str]| Process::new("git").args(arguments).current_dir(world.root()).output().expect("git");
    git(&["init", "-q"]);
    let commit = || {
        let mut command = Process::new(env!("CARGO_BIN_EXE_nebula"));
        let output = command
            .arg("commit")
            .env_remove("NEBULA_HOME")
            .env("HOME", world.home())
            .env("OPENAI_BASE_URL", &url)
            .current_dir(world.root())
            .stdin(std::process::Stdio::null())
            .output()
            .expect("it runs");
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let (code, said) = commit();
    assert!(code == Some(1) && said.contains("nothing is staged"), "{said}");
    git(&["add", "a.txt"]);
    let (code, said) = commit();
    assert!(code == Some(3) && said.contains("--yes"), "{said}");
    assert!(server.accept().is_err(), "no model was asked");
}

#[test]
fn a_task_lists_what_joined_its_prompt() {
    let world = World::new().file("docs/p.md", "Prices round half to even.\n").file("a.rs", "fn a() {}\n");
    let recording = world.home().join("r.jsonl");
    let lines = [
        json!({"recording": 1, "model": "m", "provider": "p"}),
        json!({"step": 1}),
        json!({"ms": 0, "delta": {"text": "Fine."}}),
        json!({"ms": 0, "delta": {"end": "stop"}}),
    ];
    std::fs::write(&recording, lines.map(|l| l.to_string()).join("\n")).expect("written");
    let output = Process::new(env!("CARGO_BIN_EXE_nebula"))
        .args(["task", "@a.rs @rag prices", "--replay"])
        .arg(&recording)
        .env_remove("NEBULA_HOME")
        .env("HOME", world.home())
        .current_dir(world.root())
        .output()
        .expect("it runs");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("attached a.rs, 1 line\n") && said.contains("attached docs/p.md:1-1, 1 line\n"), "{said}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_mentioned_is_still_known_after_a_resume() {
    let world = World::new()
        .file("a.rs", "fn a() {}\n")
        .file("b.txt", "one\ntwo\nthree\n")
        .file(".nebula/rules/rust.md", "---\nglobs: \"*.rs\"\n---\nNo unwrap.")
        .model([vec![Delta::Text("Read.".into()), Delta::Usage(Usage::new(900, 100)), Delta::End(EndReason::Stop)]]);
    let mut live = world.start();
    live.submit("see @a.rs and @b.txt:2-3");
    live.end().await;
    live.close().await;
    world.write("a.rs", "fn b() {}\n");
    let mut live = world.start();
    live.open(SessionChoice::Continue);
    let drifted = live
        .until(|e| match e {
            EventBody::Drifted(paths) => Some(paths.clone()),
            _ => None,
        })
        .await;
    assert_eq!(drifted, ["a.rs"]);
    let attached = live.events.iter().find_map(|e| match e {
        EventBody::Added(_, Item::User { attached, .. }) => Some(attached.clone()),
        _ => None,
    });
    assert_eq!(attached.expect("the message")[1].range, Some((2, 3)));
    let joined = |live: &crate::support::world::Live| -> Vec<String> {
        let rules = live.events.iter().filter_map(|e| match e {
            EventBody::Added(_, Item::Rules(rules)) => Some(rules.clone()),
            EventBody::Recalled(items) => items.iter().find_map(|(_, item)| match item {
                Item::Rules(rules) => Some(rules.clone()),
                _ => None,
            }),
            _ => None,
        });
        rules.flatten().map(|r| r.path).collect()
    };
    assert_eq!(joined(&live), [".nebula/rules/rust.md"], "the rule that joined shows");
    let tokens = live.events.iter().find_map(|e| match e {
        EventBody::Opened(info) => Some(info.status.tokens),
        _ => None,
    });
    assert_eq!(tokens, Some(1000), "what it cost so far shows at once");
    live.submit("go on");
    live.end().await;
    assert!(live.requests()[0].system.contains("No unwrap."), "its rule applies still");
    live.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rules_are_listed_and_broken_ones_reported_once() {
    let world = World::new()
        .file("AGENTS.md", "Speak plainly.")
        .file(".nebula/rules/open.md", "---\nglobs: \"*.py\"\nNever closed.")
        .file(".nebula/rules/web.md", "---\napplyTo: \"web/**, *.css\"\n---\nWeb.")
        .model([say("One."), say("Two.")]);
    let mut live = world.start();
    live.submit("one");
    live.end().await;
    live.submit("two");
    live.end().await;
    let sent_text = live.events.iter().filter_map(|e| match e {
        EventBody::Added(_, Item::Notice(n)) if n.title.contains("not used") => Some(n.detail.clone()),
        _ => None,
    });
    let sent_text: Vec<String> = sent_text.collect();
    assert_eq!(sent_text, [".nebula/rules/open.md: its front matter never ends; close it with a line of `---`"]);
    assert!(!live.requests()[0].system.contains("Never closed."));
    live.send(Command::Ask(nebula::protocol::QueryId(1), nebula::protocol::Query::Rules));
    let view = live
        .until(|e| match e {
            EventBody::Answer(_, nebula::protocol::Listing::Rules(view)) => Some(view.clone()),
            _ => None,
        })
        .await;
    assert_eq!(view.active[0].path, "AGENTS.md");
    assert_eq!(view.waiting, [(".nebula/rules/web.md".to_string(), "web/**, *.css".to_string())]);
    assert_eq!(view.complaints, sent_text);
    let origins: Vec<&str> = view.parts.iter().map(|p| p.origin.as_str()).collect();
    assert_eq!(origins, ["agent.md (built in)", "format-tools.md (built in)", "AGENTS.md", "what is true now"]);
    live.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_full_window_leaves_the_oldest_results_out() {
    let long = "a line of some length\n".repeat(1500);
    let reads = (0..7).map(|i| call("readFile", json!({"path": format!("f{i}.txt")})));
    let mut world = World::new().model(reads.chain([say("Read all.")]));
    for i in 0..7 {
        world = world.file(&format!("f{i}.txt"), &long);
    }
    let settings = json!({"models": {"recording": {"contextWindow": 40_000}}});
    std::fs::create_dir_all(world.home().join(".nebula")).expect("made");
    std::fs::write(world.home().join(".nebula/config.json"), settings.to_string()).expect("written");
    let mut live = world.start();
    live.submit("read them all");
    assert_eq!(live.end().await, TurnEnd::Done);
    let requests = live.requests();
    let last = requests.last().expect("a request");
    let results: Vec<_> = last.messages.iter().filter(|m| m.role == Role::Tool).map(|m| m.text()).collect();
    assert_eq!(results.len(), 7);
    assert!(results[0].starts_with("readFile f0.txt: ") && results[0].ends_with("lines, left out"), "{}", results[0]);
    assert!(results[6].len() > 30_000, "the newest is whole");
    let is_notice =
        |e: &EventBody| matches!(e, EventBody::Added(_, Item::Notice(n)) if n.title.contains("context window"));
    assert!(live.events.iter().any(is_notice));
    let sent = last.messages.clone();
    live.close().await;

    let world = world.model([say("Still.")]);
    let mut live = world.start();
    live.open(SessionChoice::Continue);
    live.submit("and now?");
    live.end().await;
    let again = live.requests().pop().expect("a request").messages;
    assert_eq!(again[..sent.len()], sent[..], "a resumed session leaves out the same");
    live.close().await;
}

/// Answers as a server on this computer would: a list of models, and to each question a word.
fn local_server(models: &'static [&str]) -> (String, std::sync::mpsc::Receiver<String>) {
    use std::io::{BufRead, BufReader, Read, Write};
    let server = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}/v1", server.local_addr().expect("an address"));
    let (tell, asked_for) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        for stream in server.incoming().flatten() {
            let mut reader = BufReader::new(stream);
            let (mut first, mut length) = (String::new(), 0);
            reader.read_line(&mut first).expect("a request");
            loop {
                let mut line = String::new();
                reader.read_line(&mut line).expect("a header");
                match line.trim_end().split_once(": ") {
                    Some((name, value)) if name.eq_ignore_ascii_case("content-length") => {
                        length = value.parse().expect("a number");
                    }
                    Some(_) => {}
                    None => break,
                }
            }
            let mut body = vec![0; length];
            reader.read_exact(&mut body).expect("a body");
            let body = if first.starts_with("GET") {
                json!({"data": models.iter().map(|id| json!({"id": id})).collect::<Vec<_>>()}).to_string()
            } else {
                let asked_for: serde_json::Value = serde_json::from_slice(&body).expect("JSON");
                let _ = tell.send(asked_for["model"].as_str().expect("a model").to_string());
                let message = json!({"role": "assistant", "content": "Hello."});
                json!({"choices": [{"message": message, "finish_reason": "stop"}]}).to_string()
            };
            let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\nconnection: close\r\n\r\n", body.len());
            reader.into_inner().write_all((head + &body).as_bytes()).expect("answered");
        }
    });
    (url, asked_for)
}

#[test]
fn a_server_on_this_computer_is_sent_a_model_that_it_has() {
    let ended = |models: &'static [&str], words: &[&str]| {
        let (url, asked_for) = local_server(models);
        let world = World::new();
        let done = Process::new(env!("CARGO_BIN_EXE_nebula"))
            .args(words)
            .env_remove("NEBULA_HOME")
            .env_remove("OPENAI_API_KEY")
            .env("HOME", world.home())
            .env("OPENAI_BASE_URL", &url)
            .current_dir(world.root())
            .stdin(std::process::Stdio::null())
            .output()
            .expect("it runs");
        (done, asked_for.try_recv().ok())
    };
    let run = |models: &'static [&str], words: &[&str]| {
        let (done, asked_for) = ended(models, words);
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        (String::from_utf8(done.stdout).expect("text"), asked_for)
    };
    let ask = |models: &'static [&str], flags: &[&str]| {
        run(models, &[&["task", "hello"], flags].concat()).1.expect("it was asked")
    };
    assert_eq!(ask(&["all-minilm", "llama3.2", "qwen2.5-coder"], &[]), "qwen2.5-coder");
    assert_eq!(ask(&["gpt-4.1-nano", "qwen2.5-coder"], &[]), "gpt-4.1-nano");
    assert_eq!(ask(&["llama3.2"], &["--model", "my-own"]), "my-own");
    // One that lists none is asked for the model that is named alone.
    assert_eq!(ask(&[], &["--model", "my-own"]), "my-own");
    let (done, asked_for) = ended(&[], &["task", "hello"]);
    let said = String::from_utf8_lossy(&done.stderr);
    assert!(asked_for.is_none() && !done.status.success() && said.contains("nebula config set model"), "{said}");
    // What is told of it is the same everywhere.
    let (out, _) = run(&["llama3.2"], &["task", "hello", "--json"]);
    assert!(out.starts_with("{\"type\":\"session\"") && out.lines().next().expect("one").contains("llama3.2"), "{out}");
    let (out, _) = run(&["llama3.2"], &["model", "--json"]);
    let sent_text: serde_json::Value = serde_json::from_str(&out).expect("JSON");
    assert_eq!(
        (&sent_text["model"], &sent_text["offered"][0], &sent_text["models"][0]["name"]),
        (&"llama3.2".into(), &"llama3.2".into(), &"llama3.2".into())
    );
}
