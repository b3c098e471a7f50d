//! Commands of a model: asked for, run, told, and what goes on from one to the next.

use std::path::Path;
use std::sync::Arc;

use nebula::protocol::{
    CallState, Command, CommandDecision, CommandEvent, EventBody, Item, Listing, PastKind, Query, QueryId,
    SessionChoice, TurnEnd,
};
use nebula::provider::Replay;
use serde_json::json;

use super::tree::works;
use crate::support::world::{Live, World, call, calls, say};

/// Starts an agent whose commands find a shell and the helper.
pub fn start(world: &World, steps: Vec<Vec<nebula::provider::Delta>>) -> Live {
    let model = Arc::new(Replay::from_steps(steps));
    let mut parts = world.parts(model.clone());
    parts.config.program = Path::new(env!("CARGO_BIN_EXE_nebula")).into();
    world.start_with(parts, model)
}

pub fn world() -> World {
    World::new().variable("PATH", &std::env::var("PATH").expect("a PATH")).file("a.txt", "one\n")
}

/// The results that the model got in its last request.
pub fn last_results(live: &Live) -> String {
    live.requests().last().map(|request| format!("{:?}", request.messages)).unwrap_or_default()
}

/// The final state of the call of that name.
pub async fn ended(live: &mut Live) -> nebula::protocol::Call {
    live.until(|event| match event {
        EventBody::Changed(_, Item::Call(call)) if call.state.is_final() => Some(call.clone()),
        _ => None,
    })
    .await
}

/// The session that an event opened.
pub fn session_of(event: &EventBody) -> Option<String> {
    if let EventBody::Opened(info) = event { Some(info.id.clone()) } else { None }
}

/// The call of a session that is resumed.
pub async fn resumed(world: &World, session: String) -> nebula::protocol::Call {
    let mut live = start(world, Vec::new());
    live.open(SessionChoice::Resume(session));
    let call = |item: &Item| if let Item::Call(call) = item { Some(call.clone()) } else { None };
    let recalled = live.until(|event| match event {
        EventBody::Recalled(items) => items.iter().find_map(|(_, item)| call(item)),
        _ => None,
    });
    let found = recalled.await;
    live.close().await;
    found
}

#[tokio::test]
async fn the_command_that_ran_is_shown_in_place_of_the_one_that_the_person_changed() {
    let world = world();
    let command = json!({"command": "echo one > one.txt", "why": "a file"});
    let mut live = start(&world, vec![call("runCommand", command), say("done")]);
    live.submit("go");
    let question = live.question().await;
    let ran = "echo two > two.txt\ncat two.txt";
    live.send(Command::DecideCommand(question.id, CommandDecision::Edit(ran.into())));
    let question = live.question().await;
    live.send(Command::DecideCommand(question.id, CommandDecision::Run { network: false }));
    let shown = ended(&mut live).await;
    assert_eq!(live.end().await, TurnEnd::Done);
    let session = live.events.iter().find_map(session_of).expect("a session");
    live.close().await;
    let arguments = json!({"command": ran, "why": "a file"}).to_string();
    for call in [shown, resumed(&world, session).await] {
        assert_eq!((call.main.as_str(), &call.arguments), ("\"echo two > two.txt\"", &arguments));
    }
}

#[tokio::test]
async fn what_a_command_that_runs_changed_so_far_is_its_own_in_blame_and_timeline() {
    if !works() {
        return;
    }
    let world = world().approve("all");
    let script = "echo two >> a.txt; echo begun; until [ -e go ]; do sleep 0.05; done; echo three >> a.txt";
    let mut live = start(&world, vec![call("runCommand", json!({"command": script})), say("done")]);
    live.submit("go");
    live.until(|event| match event {
        EventBody::Command(CommandEvent::Printed { text, .. }) => text.contains("begun").then_some(()),
        _ => None,
    })
    .await;
    let answer = |event: &EventBody| match event {
        EventBody::Answer(_, listing) => Some(listing.clone()),
        _ => None,
    };
    live.send(Command::Ask(QueryId(1), Query::Blame("a.txt".into())));
    let Listing::Blame(file) = live.until(answer).await else { panic!("no blame") };
    let kinds: Vec<PastKind> = file.lines.iter().map(|cause| file.causes[*cause].kind).collect();
    assert_eq!(kinds, [PastKind::Before, PastKind::Command], "{file:?}");
    live.send(Command::Ask(QueryId(2), Query::Timeline));
    let Listing::Timeline(moments) = live.until(answer).await else { panic!("no timeline") };
    assert_eq!(moments.iter().map(|moment| moment.kind).collect::<Vec<_>>(), [PastKind::Command]);
    world.write("go", "");
    let end = live.until(|event| match event {
        EventBody::Command(CommandEvent::Ended(end)) => Some(end.clone()),
        _ => None,
    });
    let end = end.await;
    assert_eq!((end.changeset.is_some(), end.earlier.len()), (true, 1));
    assert_eq!(live.end().await, TurnEnd::Done);
    live.close().await;
}

#[tokio::test]
async fn nothing_runs_before_the_person_agrees() {
    let world = world();
    let command = json!({"command": "rm a.txt", "why": "it is old"});
    let mut live = start(&world, vec![call("runCommand", command.clone()), call("runCommand", command), say("done")]);
    live.submit("go");
    for answer in ["no", "run"] {
        let question = live.question().await;
        assert!(question.permission && question.text.contains("$ rm a.txt") && question.text.contains("it is old"));
        assert!(world.has("a.txt"));
        live.send(question.answer(nebula::protocol::Reply::Choice(usize::from(answer == "no"))));
        let call = ended(&mut live).await;
        assert_eq!(call.state, if answer == "no" { CallState::Refused } else { CallState::Done });
    }
    assert_eq!(live.end().await, TurnEnd::Done);
    assert!(!world.has("a.txt"));
    assert!(
        last_results(&live).contains("exit 0") && last_results(&live).contains("D a.txt"),
        "{}",
        last_results(&live)
    );
    live.close().await;
}

#[tokio::test]
async fn policy_none_refuses_and_policy_all_runs() {
    if !works() {
        return;
    }
    for (policy, runs) in [("none", false), ("all", true)] {
        let world = world().approve(policy);
        let mut live = start(&world, vec![call("runCommand", json!({"command": "echo x > b.txt"})), say("done")]);
        live.submit("go");
        assert_eq!(live.end().await, TurnEnd::Done);
        assert_eq!(world.has("b.txt"), runs, "{policy}");
        live.close().await;
    }
}

#[tokio::test]
async fn in_a_tree_too_large_for_scan_every_command_but_a_reading_one_asks_and_says_why() {
    if !works() {
        return;
    }
    let world = world().approve("all");
    // It takes no room, and would be copied.
    let large = std::fs::File::create(world.root().join("large.bin")).and_then(|file| file.set_len(2 << 30));
    large.expect("made");
    let texts = ["cat a.txt", "echo x > b.txt"];
    let mut steps: Vec<_> = texts.iter().map(|text| call("runCommand", json!({"command": text}))).collect();
    steps.push(say("done"));
    let model = Arc::new(Replay::from_steps(steps));
    let mut parts = world.parts(model.clone());
    parts.config.program = Path::new(env!("CARGO_BIN_EXE_nebula")).into();
    parts.config.shell.keeper = Some("scan".into());
    let mut live = world.start_with(parts, model);
    live.submit("go");
    let question = live.question().await;
    let card = question.card.clone().expect("a card");
    assert_eq!(card.text, "echo x > b.txt");
    assert!(question.text.contains("this tree is too large to archive without the guard"), "{}", question.text);
    assert!(!card.keeper.contains("scan"), "{}", card.keeper);
    live.send(question.answer(nebula::protocol::Reply::Choice(0)));
    assert_eq!(live.end().await, TurnEnd::Done);
    assert!(world.has("b.txt") && last_results(&live).contains("one"), "{}", last_results(&live));
    // What only reads overwrote nothing.
    let told = last_results(&live).matches("nothing was archived: what it overwrote cannot be undone").count();
    assert_eq!(told, 1, "{}", last_results(&live));
    live.close().await;
}

#[tokio::test]
async fn folder_and_variables_go_on_and_a_failure_is_a_result() {
    if !works() {
        return;
    }
    let world = world().approve("all").file("sub/x", "");
    let texts = [
        "cd sub && export MARK=here",
        "pwd; echo $MARK; exit 3",
        "cd /; echo gone",
        "pwd",
        "mkdir moved && cd moved && mv ../moved ../other",
    ];
    let mut steps: Vec<_> = texts.iter().map(|text| call("runCommand", json!({"command": text}))).collect();
    steps.push(say("done"));
    let mut live = start(&world, steps);
    live.submit("go");
    assert_eq!(live.end().await, TurnEnd::Done);
    let last_results = last_results(&live);
    let root = world.root().canonicalize().expect("real");
    assert!(last_results.contains("cwd is now sub") && last_results.contains("exit 3"), "{last_results}");
    assert!(
        last_results.contains(&format!("{}/sub\\\\nhere", root.display()))
            || last_results.contains(&format!("{}/sub\\nhere", root.display())),
        "{last_results}"
    );
    assert!(last_results.contains("it had left the workspace"), "{last_results}");
    assert!(last_results.contains("root again: the folder it was in was removed or renamed"), "{last_results}");
    live.close().await;
}

#[tokio::test]
async fn variables_of_several_lines_and_unset_ones_go_on_and_too_large_ones_are_named() {
    if !works() {
        return;
    }
    let world = world().approve("all");
    let texts = [
        "export TEXT_LINES=$(printf 'l1\\nl2') AWAY=1; declare -x FIXED=7; readonly FIXED",
        "echo \"<$TEXT_LINES>\" fixed=$FIXED away=$AWAY; unset AWAY PAGER",
        "echo away=${AWAY-none} pager=${PAGER-none}; export BIG=$(head -c 40000 /dev/zero | tr '\\0' x) SMALL=1",
        "echo small=$SMALL big=${#BIG}",
    ];
    let mut steps: Vec<_> = texts.iter().map(|text| call("runCommand", json!({"command": text}))).collect();
    steps.push(say("done"));
    let mut live = start(&world, steps);
    live.submit("go");
    assert_eq!(live.end().await, TurnEnd::Done);
    let results = last_results(&live).replace("\\\\", "\\");
    let lines = ["<l1\\nl2> fixed=7 away=1", "away=none pager=none", "small=1 big=0"];
    for part in lines.into_iter().chain(["not set for the next command: BIG ("]) {
        assert!(results.contains(part), "{part}: {results}");
    }
    live.close().await;
}

#[tokio::test]
async fn the_person_is_told_which_variable_of_theirs_does_not_go_on() {
    if !works() {
        return;
    }
    let world = world();
    let mut live = start(&world, vec![]);
    live.send(Command::Run("export BIG=$(head -c 40000 /dev/zero | tr '\\0' x)".into()));
    live.until(|event| match event {
        EventBody::Notice(notice) => {
            notice.title.starts_with("not set for the next command: BIG (at most ").then_some(())
        }
        _ => None,
    })
    .await;
    live.close().await;
}

#[tokio::test]
async fn what_was_cut_off_leaves_no_folder_and_no_variable() {
    if !works() {
        return;
    }
    let world = world().approve("all").file("sub/x", "");
    let cut = json!({"command": "cd sub; export MARK=here; sleep 600", "timeoutSeconds": 1});
    let killed = json!({"command": "cd sub; export MARK=here; kill -TERM $$; sleep 600"});
    let looks = json!({"command": "test ! -e x && echo mark=$MARK"});
    let steps = [cut, killed, looks].map(|arguments| call("runCommand", arguments));
    let mut live = start(&world, steps.into_iter().chain([say("done")]).collect());
    live.submit("go");
    assert_eq!(live.end().await, TurnEnd::Done);
    let results = last_results(&live);
    assert!(results.contains("mark=\\n") || results.contains("mark=\\\\n"), "{results}");
    assert!(!results.contains("cwd is now"), "{results}");
    live.close().await;
}

/// What `/env` shows.
async fn environment(live: &mut Live, id: u64) -> String {
    live.send(Command::Ask(QueryId(id), Query::Environment));
    live.until(|event| match event {
        EventBody::Answer(_, Listing::Table { text, .. }) => Some(text.clone()),
        _ => None,
    })
    .await
}

#[tokio::test]
async fn what_is_left_to_the_next_command_is_shown_and_cleared() {
    if !works() {
        return;
    }
    let world = world().approve("all").file("sub/x", "");
    let mut live =
        start(&world, vec![call("runCommand", json!({"command": "cd sub && export MARK=here"})), say("done")]);
    live.submit("go");
    assert_eq!(live.end().await, TurnEnd::Done);
    let shown = environment(&mut live, 1).await;
    assert!(shown.contains("sub") && shown.contains("MARK") && shown.contains("here"), "{shown}");
    live.send(Command::ClearEnvironment);
    let shown = environment(&mut live, 2).await;
    assert!(!shown.contains("MARK") && shown.contains("Folder: the workspace's root."), "{shown}");
    live.close().await;
}

#[tokio::test]
async fn a_limit_stops_it_and_what_it_changed_is_preserved() {
    if !works() {
        return;
    }
    let world = world().approve("all");
    let command = json!({"command": "echo two > a.txt; trap '' TERM; sleep 60", "timeoutSeconds": 1});
    let later = call("commandOutput", json!({"id": "c1"}));
    let mut live = start(&world, vec![call("runCommand", command), later, call("undo", json!({})), say("done")]);
    live.submit("go");
    let call = ended(&mut live).await;
    assert!(
        call.result.as_deref().is_some_and(|r| r.starts_with("stopped after 1 s") && r.contains("M a.txt")),
        "{call:?}"
    );
    let call = ended(&mut live).await;
    assert!(call.result.as_deref().is_some_and(|r| r.starts_with("stopped after 1 s")), "{call:?}");
    live.decide(nebula::proposal::Choice::Accept).await;
    assert_eq!(live.end().await, TurnEnd::Done);
    assert_eq!(world.read("a.txt"), "one\n", "undone by the model's undo");
    live.close().await;
}

/// What the sandbox refused once it refuses again, unless something changed meanwhile.
#[tokio::test]
async fn the_second_equal_refusal_of_a_command_ends_the_turn() {
    if !works() {
        return;
    }
    let connects = || call("runCommand", json!({"command": "exec 3<>/dev/tcp/192.0.2.1/80"}));
    let changes = || call("runCommand", json!({"command": "echo two > a.txt"}));
    for (steps, ends) in [(vec![connects(), connects()], true), (vec![connects(), changes(), connects()], false)] {
        let asked = steps.len();
        let world = world().approve("all");
        let mut live = start(&world, steps.into_iter().chain([say("done")]).collect());
        live.submit("go");
        let end = live.end().await;
        let words = "the same was refused twice: no network: 1 connection refused, first 192.0.2.1:80";
        let is_asking = matches!(&end, TurnEnd::Asking(why) if why == words);
        assert_eq!((is_asking, live.requests().len()), (ends, asked + usize::from(!ends)), "{end:?}");
        live.close().await;
    }
}

/// A command whose processes end all the time keeps its helper busy with their ends alone.
#[tokio::test]
async fn a_limit_holds_while_processes_keep_ending() {
    if !works() {
        return;
    }
    let world = world().approve("all");
    let command = json!({"command": "trap '' TERM; while :; do (true &); done", "timeoutSeconds": 1});
    let mut live = start(&world, vec![call("runCommand", command), say("done")]);
    live.submit("go");
    let call = ended(&mut live).await;
    assert!(call.result.as_deref().is_some_and(|r| r.starts_with("stopped after 1 s")), "{call:?}");
    assert_eq!(live.end().await, TurnEnd::Done);
    live.close().await;
}

/// The watch sees what a command changes long before it ends, and someone else may write beside it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_command_that_goes_on_changes_was_not_changed_outside_nebula() {
    if !works() {
        return;
    }
    for keeper in ["guard", "scan"] {
        let world = world().file("b.txt", "b\n").file("c.txt", "c\n").approve("all");
        let read = ["a.txt", "b.txt", "c.txt"].map(|path| ("readFile", json!({"path": path})));
        let command = json!({"command": "echo two >> a.txt; mkfifo pipe; echo begun; cat pipe"});
        let steps = vec![calls(&read), say("read"), call("runCommand", command), say("done")];
        let model = Arc::new(Replay::from_steps(steps));
        let mut parts = world.parts(model.clone());
        parts.config.program = Path::new(env!("CARGO_BIN_EXE_nebula")).into();
        parts.config.shell.keeper = Some(keeper.into());
        let mut live = world.start_with(parts, model);
        let is_told = |path: &'static str| {
            move |e: &EventBody| matches!(e, EventBody::Drifted(all) if all.iter().any(|p| p == path)).then_some(())
        };
        live.submit("read");
        assert_eq!(live.end().await, TurnEnd::Done);
        // From here on the watch stands.
        world.write("c.txt", "theirs\n");
        live.until(is_told("c.txt")).await;
        live.submit("go");
        live.until(|event| match event {
            EventBody::Changed(_, Item::Call(call)) if call.preview.iter().any(|line| line.text == "begun") => Some(()),
            _ => None,
        })
        .await;
        // What the watch saw before this it has looked at.
        world.write("x.rs", "fn x() {}\n");
        live.until(|event| matches!(event, EventBody::GraphChanged).then_some(())).await;
        if keeper == "guard" {
            world.write("b.txt", "theirs\n");
            live.until(is_told("b.txt")).await;
            world.write("saved", "theirs\n");
            std::fs::rename(world.root().join("saved"), world.root().join("a.txt")).expect("renamed");
        }
        assert!(!live.events.iter().any(|e| is_told("a.txt")(e).is_some()), "{keeper}: while the command runs");
        let pipe = world.root().join("pipe");
        tokio::task::spawn_blocking(move || std::fs::write(pipe, "go\n")).await.expect("joined").expect("written");
        assert_eq!(live.end().await, TurnEnd::Done);
        if keeper == "guard" {
            // What someone else made of it is told then.
            if !live.events.iter().any(|e| is_told("a.txt")(e).is_some()) {
                live.until(is_told("a.txt")).await;
            }
        } else {
            world.write("y.rs", "fn y() {}\n");
            live.until(|event| matches!(event, EventBody::GraphChanged).then_some(())).await;
            assert!(!live.events.iter().any(|e| is_told("a.txt")(e).is_some()));
        }
        live.close().await;
    }
}

/// Without guard and sandbox `review` is `edits`.
#[tokio::test]
async fn where_review_asks_it_says_why_when_it_is_chosen_and_on_the_first_card() {
    use nebula::protocol::{Approval, CommandDecision, Setting};
    if !works() {
        return;
    }
    let world = world();
    let texts = ["touch b.txt", "touch c.txt"];
    let mut steps: Vec<_> = texts.iter().map(|text| call("runCommand", json!({"command": text}))).collect();
    steps.push(say("done"));
    let model = Arc::new(Replay::from_steps(steps));
    let mut parts = world.parts(model.clone());
    parts.config.program = Path::new(env!("CARGO_BIN_EXE_nebula")).into();
    parts.config.shell.keeper = Some("scan".into());
    let mut live = world.start_with(parts, model);
    live.send(Command::Set(Setting::Approval(Approval::Review)));
    let why = "review acts as edits here, so commands ask: shell.keeper is scan";
    live.until(|event| matches!(event, EventBody::Notice(notice) if notice.title == why).then_some(())).await;
    live.submit("go");
    for is_first in [true, false] {
        let question = live.question().await;
        let asks = question.card.as_ref().map(|card| card.asks.clone()).unwrap_or_default();
        assert_eq!(asks.iter().any(|line| line == why), is_first, "{asks:?}");
        live.send(Command::DecideCommand(question.id, CommandDecision::Refuse(String::new())));
        assert_eq!(ended(&mut live).await.state, CallState::Refused);
    }
    assert_eq!(live.end().await, TurnEnd::Done);
    live.close().await;
}

#[tokio::test]
async fn a_job_runs_on_is_looked_at_and_stopped() {
    if !works() {
        return;
    }
    let world = world().approve("all");
    let script = "echo begun; sleep 60";
    let mut live = start(
        &world,
        vec![
            call("runCommand", json!({"command": script, "background": true})),
            call("commandOutput", json!({"id": "c1", "waitSeconds": 20})),
            calls(&[("stopCommand", json!({"id": "c1"})), ("commandOutput", json!({"id": "c9"}))]),
            say("done"),
        ],
    );
    live.submit("go");
    assert_eq!(live.end().await, TurnEnd::Done);
    let last_results = last_results(&live);
    assert!(last_results.contains("still running as c1") && last_results.contains("begun"), "{last_results}");
    assert!(
        last_results.contains("stopped") && last_results.contains("there is no command c9; there are: c1"),
        "{last_results}"
    );
    live.close().await;
}

#[tokio::test]
async fn what_a_job_changed_since_its_call_is_told_in_the_same_turn() {
    if !works() {
        return;
    }
    let world = world().approve("all");
    let job = "mkfifo pipe; cat pipe; echo two > a.txt; sleep 300";
    let waits = "until [ -p pipe ]; do sleep 0.05; done; echo go > pipe; until grep -q two a.txt; do sleep 0.05; done";
    let mut live = start(
        &world,
        vec![
            call("runCommand", json!({"command": job, "background": true})),
            call("runCommand", json!({"command": waits})),
            call("replaceInFile", json!({"path": "none.txt", "search": "x", "replace": "y"})),
            call("stopCommand", json!({"id": "c1"})),
            say("done"),
        ],
    );
    live.submit("go");
    assert_eq!(live.end().await, TurnEnd::Done);
    let last_results = last_results(&live);
    assert!(last_results.contains("c1 is over") && last_results.contains("M a.txt +1 −1"), "{last_results}");
    let is_nothing = |event: &EventBody| matches!(event, EventBody::Added(_, Item::Notice(notice)) if notice.title.contains("no file was changed"));
    assert!(!live.events.iter().any(is_nothing));
    live.close().await;
}

#[tokio::test]
async fn a_resumed_session_knows_the_commands_of_the_one_before() {
    if !works() {
        return;
    }
    let world = world().approve("all").file("sub/x", "");
    let first = json!({"command": "cd sub; export MARK=here; seq 1 9000"});
    let job = json!({"command": "sleep 300", "background": true});
    let mut live = start(&world, vec![call("runCommand", first), call("runCommand", job), say("done")]);
    live.submit("go");
    assert_eq!(live.end().await, TurnEnd::Done);
    let told = live.close().await;
    let mut ends = told.iter().filter_map(|event| match event {
        EventBody::Command(CommandEvent::Ended(end)) => Some((end.id.as_str(), end.running, end.stopped)),
        _ => None,
    });
    assert_eq!(ends.next_back(), Some(("c2", false, true)));
    let asked = [
        ("commandOutput", json!({"id": "c1", "startLine": 2000, "endLine": 2001})),
        ("stopCommand", json!({"id": "c2"})),
        ("runCommand", json!({"command": "pwd", "cwd": ""})),
        ("commandOutput", json!({"id": "c9"})),
    ];
    let mut live = start(&world, vec![calls(&asked), say("done")]);
    live.open(SessionChoice::Continue);
    let notice = live.until(|event| match event {
        EventBody::Added(_, Item::Notice(notice)) if notice.title.contains("not set any more") => {
            Some(notice.title.clone())
        }
        _ => None,
    });
    assert!(notice.await.ends_with(": MARK"));
    live.submit("what runs?");
    assert_eq!(live.end().await, TurnEnd::Done);
    let results = last_results(&live);
    let folder = format!("{}/sub", world.root().canonicalize().expect("real").display());
    for words in [
        "c2 is over: ended with nebula (sleep 300)",
        "(MARK) are not set any more",
        "exit 0 · c1",
        "2001\\t2001",
        "c2 is over: ended with nebula; an earlier nebula ran it",
        &folder,
        "there is no command c9; there are: c1, c2, c3",
    ] {
        assert!(results.contains(words), "{words}: {results}");
    }
    live.close().await;
    // Told once.
    let mut live = start(&world, vec![say("done")]);
    live.open(SessionChoice::Continue);
    live.submit("and now?");
    assert_eq!(live.end().await, TurnEnd::Done);
    assert_eq!(last_results(&live).matches("c2 is over: ended with nebula (sleep 300)").count(), 1);
    live.close().await;
}

#[tokio::test]
async fn an_entry_has_the_end_of_what_was_printed_and_counts_it() {
    if !works() {
        return;
    }
    let world = world().approve("all");
    let command = json!({"command": "seq 300; printf last"});
    let mut live = start(&world, vec![call("runCommand", command), say("done")]);
    live.submit("go");
    let call = ended(&mut live).await;
    assert_eq!(call.printed, 301);
    let end: Vec<&str> = call.preview.iter().rev().take(2).map(|line| line.text.as_str()).collect();
    assert_eq!((call.preview[0].text.as_str(), end), ("seq 300; printf last", vec!["last", "300"]));
    assert_eq!(live.end().await, TurnEnd::Done);
    live.close().await;
    // And so has the session that is read again.
    let mut live = start(&world, Vec::new());
    live.open(SessionChoice::Continue);
    let printed = live.until(|event| match event {
        EventBody::Recalled(items) => items.iter().find_map(|(_, item)| match item {
            Item::Call(call) => Some(call.printed),
            _ => None,
        }),
        _ => None,
    });
    assert_eq!(printed.await, 301);
    live.close().await;
}

#[tokio::test]
async fn the_person_ends_a_command_with_the_turn() {
    if !works() {
        return;
    }
    let world = world().approve("all");
    let mut live =
        start(&world, vec![call("runCommand", json!({"command": "echo x > made; echo begun; sleep 60"})), say("done")]);
    live.submit("go");
    live.until(|event| match event {
        EventBody::Changed(_, Item::Call(call)) if call.preview.iter().any(|line| line.text == "begun") => Some(()),
        _ => None,
    })
    .await;
    live.send(Command::Interrupt);
    let call = ended(&mut live).await;
    assert!(
        call.result.as_deref().is_some_and(|r| r.starts_with("stopped by the person") && r.contains("A made")),
        "{call:?}"
    );
    assert_eq!(live.end().await, TurnEnd::Interrupted);
    live.close().await;
}

#[tokio::test]
async fn a_command_of_the_person_asks_nobody() {
    let world = world();
    let mut live = start(&world, vec![]);
    live.send(Command::Run("echo mine > a.txt".into()));
    let call = ended(&mut live).await;
    assert_eq!(call.state, CallState::Done);
    assert_eq!(world.read("a.txt"), "mine\n");
    live.close().await;
}

#[tokio::test]
async fn a_command_of_the_person_names_the_folder_that_it_runs_in() {
    let world = world();
    let mut live = start(&world, vec![]);
    live.send(Command::Run("mkdir -p d && cd d".into()));
    assert_eq!(ended(&mut live).await.main, "mkdir -p d && cd d");
    live.send(Command::Run("pwd".into()));
    let call = ended(&mut live).await;
    assert_eq!(call.main, "in d: pwd", "{call:?}");
    live.send(Command::ClearEnvironment);
    live.send(Command::Run("pwd".into()));
    assert_eq!(ended(&mut live).await.main, "pwd");
    live.close().await;
}

#[tokio::test]
async fn the_model_is_told_once_in_which_folder_its_next_command_begins() {
    if !works() {
        return;
    }
    let world = world().approve("all");
    let look = call("runCommand", json!({"command": "pwd"}));
    let mut live = start(&world, vec![say("one"), look, say("two"), say("three")]);
    live.send(Command::Run("mkdir -p d && cd d".into()));
    ended(&mut live).await;
    live.submit("first");
    assert_eq!(live.end().await, TurnEnd::Done);
    assert_eq!(last_results(&live).matches("cwd is now d").count(), 1, "{}", last_results(&live));
    live.submit("second");
    assert_eq!(live.end().await, TurnEnd::Done);
    assert_eq!(last_results(&live).matches("cwd is now").count(), 1, "{}", last_results(&live));
    live.send(Command::ClearEnvironment);
    live.submit("third");
    assert_eq!(live.end().await, TurnEnd::Done);
    assert_eq!(last_results(&live).matches("cwd is now the workspace's root").count(), 1, "{}", last_results(&live));
    live.close().await;
}

#[tokio::test]
async fn where_the_person_goes_while_a_command_of_the_model_runs_is_not_lost() {
    if !works() {
        return;
    }
    let world = world().approve("all").file("d/x", "");
    let waits = call("runCommand", json!({"command": "mkfifo pipe; cat pipe"}));
    let look = call("runCommand", json!({"command": "pwd"}));
    let mut live = start(&world, vec![waits, look, say("done")]);
    live.submit("go");
    live.until(|event| matches!(event, EventBody::Command(CommandEvent::Began(_))).then_some(())).await;
    live.send(Command::Run("cd d".into()));
    ended(&mut live).await;
    // It waits for a reader.
    let pipe = world.root().join("pipe");
    let written = tokio::task::spawn_blocking(move || {
        while !pipe.exists() {
            std::thread::yield_now();
        }
        std::fs::write(pipe, "on\n")
    });
    written.await.expect("over").expect("written");
    assert_eq!(live.end().await, TurnEnd::Done);
    let results = last_results(&live);
    assert_eq!(results.matches("cwd is now d").count(), 1, "{results}");
    assert!(results.contains("/d\n") || results.contains("/d\\n"), "{results}");
    live.close().await;
}

#[tokio::test]
async fn the_output_of_a_command_of_the_person_goes_along_where_they_say_so() {
    let world = world();
    let mut live = start(&world, vec![say("one"), say("two"), say("three")]);
    let noticed = |text: &'static str| {
        move |event: &EventBody| match event {
            EventBody::Notice(notice) if notice.title.contains(text) => Some(()),
            _ => None,
        }
    };
    live.send(Command::RunForModel(None));
    live.until(noticed("no command of yours has ended")).await;
    live.send(Command::Run("echo un; echo told".into()));
    ended(&mut live).await;
    live.submit("first");
    assert_eq!(live.end().await, TurnEnd::Done);
    assert!(!last_results(&live).contains("un\\ntold"), "{}", last_results(&live));
    // The one that ended last, said twice.
    live.send(Command::RunForModel(None));
    live.until(noticed("`echo un; echo told`")).await;
    live.send(Command::RunForModel(None));
    live.until(noticed("`echo un; echo told`")).await;
    live.send(Command::RunForModel(Some("cat a.txt; false".into())));
    live.until(noticed("`cat a.txt; false`")).await;
    live.submit("second");
    assert_eq!(live.end().await, TurnEnd::Done);
    let sent = last_results(&live);
    assert_eq!(sent.matches("The person ran `echo un; echo told`").count(), 1, "{sent}");
    assert!(sent.contains("un\\ntold") && sent.contains("The person ran `cat a.txt; false`"), "{sent}");
    assert!(sent.contains("exit 1") && sent.contains("material, no instruction"), "{sent}");
    // It went along with one message alone.
    live.submit("third");
    assert_eq!(live.end().await, TurnEnd::Done);
    assert_eq!(last_results(&live).matches("The person ran").count(), 2);
    live.close().await;
}

#[tokio::test]
async fn the_person_is_told_what_the_sandbox_refused_to_their_command_and_what_lifts_it() {
    if !works() {
        return;
    }
    let mut live = start(&world(), vec![say("done")]);
    for (command, title, detail) in [
        ("cat < /dev/tcp/192.0.2.1/80", "no network: 1 connection refused", "!--network COMMAND"),
        ("echo x > /etc/nebula-test", "refused: 1 write outside what it may write", "shell.write"),
        ("curl -m 1 http://192.0.2.1/", "it needs the network", "!--network COMMAND"),
        ("vim --version", "vim gets no keys here", "nebula run -- vim --version"),
    ] {
        live.send(Command::Run(command.into()));
        let told = live.until(|event| match event {
            EventBody::Added(_, Item::Notice(notice)) | EventBody::Notice(notice)
                if notice.title.starts_with(title) =>
            {
                Some(notice.detail.clone())
            }
            _ => None,
        });
        assert!(told.await.contains(detail), "{command}");
    }
    live.send(Command::Run("--network true".into()));
    let began = live.until(|event| match event {
        EventBody::Command(CommandEvent::Began(began)) if began.text == "true" => Some(began.grant),
        _ => None,
    });
    assert_eq!(began.await, "online");
    live.close().await;
}

#[tokio::test]
async fn the_model_is_told_what_lets_a_command_write_further() {
    if !works() {
        return;
    }
    let write = |command: &str| call("runCommand", json!({"command": command}));
    let steps = vec![write("echo x > /etc/nebula-test"), write("echo x > x"), say("done")];
    let mut live = start(&world().approve("all"), steps);
    live.submit("go");
    assert_eq!(live.end().await, TurnEnd::Done);
    let sent = last_results(&live);
    assert_eq!(sent.matches("`shell.write` in the configuration names further folders").count(), 1, "{sent}");
    live.close().await;
}

#[tokio::test]
async fn the_time_of_a_call_is_that_of_its_command() {
    if !works() {
        return;
    }
    let world = world().approve("all");
    let mut live = start(&world, vec![call("runCommand", json!({"command": "echo a; echo b"})), say("done")]);
    live.submit("go");
    let of_model = ended(&mut live).await;
    assert_eq!(live.end().await, TurnEnd::Done);
    live.send(Command::Run("echo a; echo b".into()));
    let own = ended(&mut live).await;
    let ends = live.events.iter().filter_map(|event| match event {
        EventBody::Command(CommandEvent::Ended(end)) => end.ms,
        _ => None,
    });
    let took = [of_model, own].map(|call| call.took.map(|took| took.as_millis() as u64));
    assert_eq!(took.to_vec(), ends.map(Some).collect::<Vec<_>>());
    live.close().await;
}

#[tokio::test]
async fn the_end_of_a_job_is_reported_and_what_it_changed_is_sealed() {
    if !works() {
        return;
    }
    let world = world().approve("all");
    let job = json!({"command": "mkfifo pipe; cat pipe; echo two > a.txt", "background": true});
    let mut live = start(&world, vec![call("runCommand", job), say("done")]);
    live.submit("go");
    assert_eq!(live.end().await, TurnEnd::Done);
    let pipe = world.root().join("pipe");
    while !pipe.exists() {
        tokio::task::yield_now().await;
    }
    tokio::task::spawn_blocking(move || std::fs::write(pipe, "go\n")).await.expect("joined").expect("written");
    live.until(|event| match event {
        EventBody::Archived(changeset) if changeset.files.iter().any(|file| file.path == "a.txt") => Some(()),
        _ => None,
    })
    .await;
    live.until(|event| match event {
        EventBody::Status(status) if status.jobs == 0 => Some(()),
        _ => None,
    })
    .await;
    live.close().await;
}

#[tokio::test]
async fn a_job_ends_although_another_program_holds_its_output() {
    if !works() {
        return;
    }
    let world = world().approve("all");
    let job = json!({"command": "echo $$ > number; mkfifo pipe; echo begun; cat pipe", "background": true});
    let mut live = start(&world, vec![call("runCommand", job), say("done")]);
    live.submit("go");
    assert_eq!(live.end().await, TurnEnd::Done);
    let pipe = world.root().join("pipe");
    while !pipe.exists() {
        tokio::task::yield_now().await;
    }
    let output = format!("/proc/{}/fd/1", world.read("number").trim());
    let held = std::fs::OpenOptions::new().write(true).open(output).expect("open");
    tokio::task::spawn_blocking(move || std::fs::write(pipe, "last\n")).await.expect("joined").expect("written");
    let end = live
        .until(|event| match event {
            EventBody::Command(CommandEvent::Ended(end)) if !end.running => Some(end.clone()),
            _ => None,
        })
        .await;
    assert_eq!((end.id.as_str(), end.exit), ("c1", Some(0)));
    drop(held);
    live.close().await;
}

#[tokio::test]
async fn a_running_command_goes_on_as_a_job_at_the_persons_word() {
    if !works() {
        return;
    }
    let world = world().approve("all");
    let waits = json!({"command": "mkfifo pipe; echo begun; cat pipe; echo two > a.txt"});
    let mut live = start(&world, vec![call("runCommand", waits), say("done")]);
    live.submit("go");
    live.until(|event| match event {
        EventBody::Changed(_, Item::Call(call)) if call.preview.iter().any(|line| line.text == "begun") => Some(()),
        _ => None,
    })
    .await;
    live.send(Command::RunOn);
    let call = ended(&mut live).await;
    assert!(call.result.as_deref().is_some_and(|r| r.contains("still running as c1")), "{call:?}");
    assert_eq!(live.end().await, TurnEnd::Done);
    let pipe = world.root().join("pipe");
    tokio::task::spawn_blocking(move || std::fs::write(pipe, "go\n")).await.expect("joined").expect("written");
    let end = live
        .until(|event| match event {
            EventBody::Command(CommandEvent::Ended(end)) if !end.running => Some(end.clone()),
            _ => None,
        })
        .await;
    assert_eq!((end.id.as_str(), end.exit), ("c1", Some(0)));
    assert_eq!(world.read("a.txt"), "two\n");
    live.close().await;
}

/// The next event of a command.
async fn command_event(live: &mut Live) -> CommandEvent {
    live.until(|event| match event {
        EventBody::Command(event) => Some(event.clone()),
        _ => None,
    })
    .await
}

/// What was told of a command's output, in whatever pieces: its id and the text.
fn texts(printed: &[CommandEvent]) -> (String, String) {
    let mut all = (String::new(), String::new());
    for event in printed {
        let CommandEvent::Printed { id, text, .. } = event else { panic!("{event:?}") };
        all.0.clone_from(id);
        all.1.push_str(text);
    }
    all
}

#[tokio::test]
async fn no_event_of_a_command_shows_a_secret_of_its_text() {
    if !works() {
        return;
    }
    // The arguments have it as JSON writes it.
    let secret = "tok-\"ABCDEFGH12345";
    for approval in ["all", "none"] {
        let world = world().approve(approval).variable("MY_TOKEN", secret);
        let command = json!({"command": format!("echo '{secret}' > a.txt; cat a.txt")});
        let mut live = start(&world, vec![call("runCommand", command), say("done")]);
        live.submit("go");
        let mut seen = String::new();
        let ended = live.until(|event| {
            seen += &format!("{event:?}\n");
            matches!(event, EventBody::TurnEnded(..)).then_some(())
        });
        ended.await;
        assert!(seen.contains("echo '[MY_TOKEN]' > a.txt") && !seen.contains("ABCDEFGH12345"), "{seen}");
        // It was run as it is.
        let expected = if approval == "all" { format!("{secret}\n") } else { "one\n".into() };
        assert_eq!(world.read("a.txt"), expected);
        live.close().await;
        let (mut live, mut seen) = (start(&world, Vec::new()), String::new());
        live.open(SessionChoice::Continue);
        let recalled = live.until(|event| {
            seen += &format!("{event:?}\n");
            matches!(event, EventBody::Recalled(..)).then_some(())
        });
        recalled.await;
        assert!(seen.contains("[MY_TOKEN]") && !seen.contains("ABCDEFGH12345"), "{seen}");
        live.close().await;
    }
}

#[tokio::test]
async fn a_card_shows_no_secret_of_its_text() {
    let secret = "tok-ABCDEFGH12345";
    let world = world().variable("MY_TOKEN", secret);
    let command = json!({"command": format!("rm a.txt; echo {secret}")});
    let mut live = start(&world, vec![call("runCommand", command), say("done")]);
    live.submit("go");
    let question = live.question().await;
    let card = question.card.clone().expect("a card");
    let shown = format!("{}{}{:?}", question.text, card.text, card.parts);
    assert!(shown.contains("echo [MY_TOKEN]") && !shown.contains(secret), "{shown}");
    assert!(card.source.contains(secret), "the person edits what runs");
    live.send(question.answer(nebula::protocol::Reply::Choice(1)));
    assert_eq!(live.end().await, TurnEnd::Done);
    live.close().await;
}

#[tokio::test]
async fn programs_are_told_what_a_job_prints() {
    if !works() {
        return;
    }
    let world = world().approve("all");
    let text = "mkfifo go; echo begun; printf 'half '; read word < go; echo $word; rm go";
    let steps = vec![call("runCommand", json!({"command": text, "background": true})), say("done")];
    let mut live = start(&world, steps);
    live.submit("go");
    let mut told = Vec::new();
    // The call is answered while the job waits for a word.
    while !matches!(told.last(), Some(CommandEvent::Ended(end)) if end.running) {
        told.push(command_event(&mut live).await);
    }
    let fifo = world.root().join("go");
    let write = std::thread::spawn(move || {
        while !fifo.exists() {
            std::thread::yield_now();
        }
        std::fs::write(fifo, "whole\n").expect("written");
    });
    while !matches!(told.last(), Some(CommandEvent::Ended(end)) if !end.running) {
        told.push(command_event(&mut live).await);
    }
    write.join().expect("written");
    let is_printed = |event: &&CommandEvent| matches!(event, CommandEvent::Printed { .. });
    let printed: Vec<CommandEvent> = told.iter().filter(is_printed).cloned().collect();
    assert_eq!(texts(&printed), ("c1".into(), "begun\nhalf whole\n".into()));
    live.close().await;
}

#[tokio::test]
async fn programs_are_told_of_a_command_from_its_decision_to_its_end() {
    if !works() {
        return;
    }
    let world = world().approve("review");
    let steps = vec![
        call("runCommand", json!({"command": "echo out; printf half; echo x >> a.txt; rm -f none"})),
        call("runCommand", json!({"command": "curl http://192.0.2.1"})),
        say("done"),
    ];
    let mut live = start(&world, steps);
    live.submit("go");
    let mut told = Vec::new();
    while !matches!(told.last(), Some(CommandEvent::Ended(_))) {
        told.push(command_event(&mut live).await);
    }
    let [CommandEvent::Began(began), printed @ .., CommandEvent::Ended(end)] = told.as_slice() else {
        panic!("{told:?}")
    };
    assert_eq!((began.id.as_deref(), began.class, began.decision), (Some("c1"), "harm", "policy"));
    assert_eq!((began.grant, began.keeper), ("workspace", "guard"));
    assert_eq!(texts(printed), ("c1".into(), "out\nhalf\n".into()));
    let changed: Vec<_> = end.changed.iter().map(|path| (path.path.as_str(), path.kind, path.added)).collect();
    assert_eq!((end.exit, end.running, changed), (Some(0), false, vec![("a.txt", "changed", 1)]));
    assert!(end.changeset.is_some());
    let question = live.question().await;
    live.send(question.answer(nebula::protocol::Reply::Choice(1)));
    let began = live
        .until(|event| match event {
            EventBody::Command(CommandEvent::Began(began)) => Some(began.clone()),
            _ => None,
        })
        .await;
    assert_eq!((began.id, began.class, began.decision), (None, "reach", "refused"));
    assert_eq!(live.end().await, TurnEnd::Done);
    live.close().await;
}
