//! Calls of a running command that wait for the person.

use std::io::Write;
use std::net::TcpListener;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use nebula::archive::{Archive, ArchiveSettings};
use nebula::protocol::{CallState, Command, CommandEvent, CommandHold, EventBody, Item, Question, Reply, TurnEnd};
use nebula::provider::Replay;
use serde_json::json;

use super::model::{ended, last_results, start, world};
use super::tree::{has_python, works};
use crate::interaction::{chat_with, recalled};
use crate::support::world::{Live, World, call, say};

/// An agent whose model runs a script of the workspace, whose text names nothing of what it does.
fn runs(world: &World) -> Live {
    start(world, vec![call("runCommand", json!({"command": "sh ./tool.sh"})), say("done")])
}

/// The choice of that key.
fn choice(question: &Question, key: char) -> Command {
    let hold = question.hold.as_ref().expect("a call that waits");
    let index = hold.keys.iter().position(|known| *known == key).expect("offered");
    question.answer(Reply::Choice(index))
}

async fn told(live: &mut Live) -> CommandHold {
    live.until(|event| match event {
        EventBody::Command(CommandEvent::Held(hold)) => Some(hold.clone()),
        _ => None,
    })
    .await
}

#[tokio::test]
async fn a_change_of_what_acts_later_waits_for_the_person() {
    if !works() {
        return;
    }
    for (key, decision, content) in
        [('y', "allowed", "new\n"), ('a', "all", "new\n"), ('n', "refused", "old\n"), ('x', "stopped", "old\n")]
    {
        let script = "echo first > a.txt; echo new > AGENTS.md; echo $? > code";
        let world = world().approve("all").file("AGENTS.md", "old\n").file("tool.sh", script);
        let mut live = runs(&world);
        live.submit("go");
        let question = live.question().await;
        assert!(question.permission, "refusing is the default");
        assert!(question.text.contains("wants to change AGENTS.md, which acts later"), "{}", question.text);
        assert_eq!((world.read("AGENTS.md").as_str(), world.read("a.txt").as_str()), ("old\n", "first\n"));
        live.send(choice(&question, key));
        let told = told(&mut live).await;
        assert_eq!((told.id.as_str(), told.path.as_str(), told.decision), ("c1", "AGENTS.md", decision));
        let call = ended(&mut live).await;
        let answer = question.choices.iter().zip(question.hold.iter().flat_map(|hold| &hold.keys));
        let answer = answer.filter(|(_, known)| **known == key).map(|((name, _), _)| name.as_str());
        let held: Vec<_> = call.held.iter().map(|held| (held.wants.as_str(), held.answer.as_str())).collect();
        let wants = "c1 is held: sh wants to change AGENTS.md, which acts later";
        assert_eq!(held, answer.map(|answer| (wants, answer)).collect::<Vec<_>>(), "{key}");
        let held = call.held.clone();
        let result = call.result.unwrap_or_default();
        assert_eq!(world.read("AGENTS.md"), content, "{key}: {result}");
        match key {
            'n' => assert!(
                result.contains("refused by the person: 1 write, first AGENTS.md") && world.read("code") != "0\n",
                "{result}"
            ),
            'x' => assert!(result.starts_with("stopped by the person") && result.contains("M a.txt"), "{result}"),
            _ => assert!(result.contains("M AGENTS.md") && world.read("code") == "0\n", "{result}"),
        }
        assert_eq!(live.end().await, TurnEnd::Done, "the turn goes on");
        live.close().await;
        let recalled = recalled(&world).await;
        assert_eq!(recalled.iter().map(|call| &call.held).collect::<Vec<_>>(), [&held], "{key}");
    }
}

#[tokio::test]
async fn one_answer_may_cover_the_rest_of_the_command() {
    if !works() {
        return;
    }
    for (key, questions) in [('a', 1), ('y', 2), ('n', 2)] {
        let script = "echo 1 > CLAUDE.md; echo 2 >> CLAUDE.md; mkdir .github; echo 3 > .github/x; echo 4 >> CLAUDE.md";
        let world = world().approve("all").file("tool.sh", script);
        let mut live = runs(&world);
        live.submit("go");
        for _ in 0..questions {
            let question = live.question().await;
            live.send(choice(&question, key));
        }
        let result = ended(&mut live).await.result.unwrap_or_default();
        assert_eq!(world.has(".github/x"), key != 'n', "{key}: {result}");
        assert_eq!(world.has("CLAUDE.md"), key != 'n', "{key}: {result}");
        assert_eq!(live.end().await, TurnEnd::Done);
        live.close().await;
    }
}

#[tokio::test]
async fn what_the_card_had_named_does_not_wait() {
    if !works() {
        return;
    }
    let world = world().approve("all");
    let text = json!({"command": "mkdir -p .github/workflows; echo x > .github/workflows/ci.yml; cp a.txt AGENTS.md"});
    let mut live = start(&world, vec![call("runCommand", text), say("done")]);
    live.submit("go");
    let card = live.question().await;
    assert!(card.card.is_some() && card.hold.is_none(), "its text names what acts later: {card:?}");
    live.send(card.answer(Reply::Choice(0)));
    let call = ended(&mut live).await;
    assert_eq!((call.state, world.has(".github/workflows/ci.yml")), (CallState::Done, true));
    assert_eq!(world.read("AGENTS.md"), "one\n");
    assert_eq!(live.end().await, TurnEnd::Done);
    live.close().await;
}

#[tokio::test]
async fn what_the_text_only_reads_waits_all_the_same() {
    if !works() {
        return;
    }
    let script = "echo new > .github/x; echo new > sub/AGENTS.md";
    let world =
        world().approve("all").file("tool.sh", script).file(".github/x", "old\n").file("sub/AGENTS.md", "old\n");
    let text = json!({"command": "echo x > AGENTS.md; cat .github/x; sh ./tool.sh"});
    let mut live = start(&world, vec![call("runCommand", text), say("done")]);
    live.submit("go");
    let card = live.question().await;
    assert!(card.card.is_some(), "its text names what acts later: {card:?}");
    live.send(card.answer(Reply::Choice(0)));
    for path in [".github/x", "sub/AGENTS.md"] {
        let question = live.question().await;
        assert!(question.text.contains(&format!("wants to change {path}")), "{}", question.text);
        live.send(choice(&question, 'n'));
    }
    ended(&mut live).await;
    let left = [".github/x", "sub/AGENTS.md", "AGENTS.md"].map(|path| world.read(path));
    assert_eq!(left, ["old\n", "old\n", "x\n"]);
    assert_eq!(live.end().await, TurnEnd::Done);
    live.close().await;
}

#[tokio::test]
async fn without_a_person_a_call_that_waits_fails_and_the_end_of_the_turn_withdraws_it() {
    if !works() {
        return;
    }
    let world = world().approve("all").file("tool.sh", "echo new > AGENTS.md; sleep 60");
    let mut live = runs(&world);
    live.submit("go");
    let question = live.question().await;
    live.send(Command::Interrupt);
    // The end of the call and that of its hold are told by two tasks, in either order.
    let (mut decision, mut call) = (None, None);
    live.until(|event| {
        match event {
            EventBody::Command(CommandEvent::Held(hold)) => decision = Some(hold.decision),
            EventBody::Changed(_, Item::Call(ended)) if ended.state.is_final() => call = Some(ended.clone()),
            _ => {}
        }
        (decision.is_some() && call.is_some()).then_some(())
    })
    .await;
    assert_eq!(decision, Some("gone"));
    let result = call.and_then(|call| call.result).unwrap_or_default();
    assert!(result.starts_with("stopped by the person"), "{result}");
    live.close().await;
    assert!(!world.has("AGENTS.md"), "{question:?}");

    let world = self::world().approve("all").file("tool.sh", "echo new > AGENTS.md");
    let mut live = runs(&world);
    live.submit("go");
    let question = live.question().await;
    live.send(question.answer(Reply::Nobody));
    assert_eq!(told(&mut live).await.decision, "unanswered");
    let result = ended(&mut live).await.result.unwrap_or_default();
    assert!(result.contains("not allowed, as nobody answered: 1 write, first AGENTS.md"), "{result}");
    assert!(!world.has("AGENTS.md"));
    assert_eq!(live.end().await, TurnEnd::Done);
    live.close().await;
}

#[tokio::test]
async fn a_repository_is_made_unasked_and_what_its_configuration_may_run_is_not() {
    if !works() {
        return;
    }
    let git = "git -C app -c user.name=x -c user.email=x@y";
    let makes = format!(
        "git init -q -b main app; echo a > app/a; {git} add -A; {git} commit -qm a; git clone -q app twin; \
         {git} remote add up ../twin; {git} fetch -q up; {git} checkout -q -b b --track up/main; \
         {git} checkout -q main; {git} branch -q -D b; {git} fsck --no-dangling; cat app/.git/config"
    );
    let world = world().approve("all").file("tool.sh", &makes);
    let mut live = runs(&world);
    live.submit("go");
    let result = ended(&mut live).await.result.unwrap_or_default();
    assert!(result.starts_with("exit 0") && !result.contains("not allowed"), "{result}");
    assert!(result.contains("filemode = true") && result.contains("[remote \"up\"]"), "{result}");
    assert_eq!(live.end().await, TurnEnd::Done);
    assert!(!live.events.iter().any(|event| matches!(event, EventBody::Asked(_))));
    live.close().await;
    assert!(world.has("twin/.git/config") && !world.has("app/.git/config.lock"));

    // A second name of one that was made just now would be written unseen.
    world.write("tool.sh", "git init -q own && ln own/.git/config y && echo >> y");
    let mut live = runs(&world);
    live.submit("go");
    let question = live.question().await;
    live.send(question.answer(Reply::Nobody));
    let result = ended(&mut live).await.result.unwrap_or_default();
    assert!(result.contains("not allowed, as nobody answered: 1 write, first own/.git/config"), "{result}");
    assert_eq!(live.end().await, TurnEnd::Done);
    live.close().await;

    for evil in [
        "git -C app config core.fsmonitor ./x",
        "git -C app remote set-url up ext::x",
        "echo >> app/.git/config",
        "ln app/.git/config y; echo >> y",
    ] {
        let before = world.read("app/.git/config");
        world.write("tool.sh", evil);
        let mut live = runs(&world);
        live.submit("go");
        let question = live.question().await;
        live.send(question.answer(Reply::Nobody));
        let result = ended(&mut live).await.result.unwrap_or_default();
        assert!(result.contains("not allowed, as nobody answered: 1 write, first app/.git/config"), "{result}");
        assert_eq!(live.end().await, TurnEnd::Done);
        live.close().await;
        assert_eq!(world.read("app/.git/config"), before, "{evil}");
    }
}

#[tokio::test]
async fn a_configuration_that_nobody_answers_for_is_made_empty_and_written_by_checked_ones_alone() {
    if !works() {
        return;
    }
    // As the library behind `cargo new` makes one.
    let makes = "mkdir -p new/.git && : > new/.git/config && printf '[core]\n\tbare = false\n' > new/.git/config.lock && \
                 mv new/.git/config.lock new/.git/config";
    let writes = "mkdir -p bad/.git && echo '[core] fsmonitor = ./x' > bad/.git/config";
    for (script, exit, at, text) in
        [(makes, "exit 0", "new", "[core]\n\tbare = false\n"), (writes, "exit 1", "bad", "")]
    {
        let world = world().approve("all").unattended().file("tool.sh", script);
        let mut live = runs(&world);
        live.submit("go");
        let result = ended(&mut live).await.result.unwrap_or_default();
        assert!(result.starts_with(exit), "{result}");
        let is_told = result.contains("not allowed, as nobody answered: 1 write, first bad/.git/config");
        assert_eq!((is_told, result.contains("not allowed")), (at == "bad", at == "bad"), "{result}");
        assert_eq!(live.end().await, TurnEnd::Done);
        assert!(!live.events.iter().any(|event| matches!(event, EventBody::Asked(_))));
        live.close().await;
        assert_eq!(world.read(&format!("{at}/.git/config")), text, "{result}");
    }
}

#[tokio::test]
async fn a_new_repository_is_configured_unasked_by_what_makes_nothing_run() {
    if !works() {
        return;
    }
    let world = world().approve("all").unattended();
    let run = |text: &str| call("runCommand", json!({ "command": text }));
    let commits = "echo a > a && git add a && git commit -qm a && git log --format=%an";
    let steps = [
        format!("git init -q own && cd own && git config user.name Ann && git config user.email a@b && {commits}"),
        "git config commit.gpgsign false && git -C . config user.name Bob && git config user.name".into(),
        "git config core.fsmonitor ./x".into(),
    ];
    let mut live = start(&world, steps.iter().map(|step| run(step)).chain([say("done")]).collect());
    live.submit("go");
    for (step, told) in steps.iter().zip(["\nAnn", "\nBob"]) {
        let result = ended(&mut live).await.result.unwrap_or_default();
        assert!(result.starts_with("exit 0") && result.contains(told), "{step}: {result}");
    }
    let question = live.question().await;
    live.send(question.answer(Reply::Nobody));
    let result = ended(&mut live).await.result.unwrap_or_default();
    assert!(result.contains("not allowed, as nobody answered: 1 write, first own/.git/config"), "{result}");
    assert_eq!(live.end().await, TurnEnd::Done);
    live.close().await;
    assert!(!world.read("own/.git/config").contains("fsmonitor"));

    // That of the person is asked about before the start.
    let world = self::world().approve("all").unattended().file(".git/config", "[core]\n\tbare = false\n");
    let mut live = start(&world, vec![run("git config user.name Ann"), say("done")]);
    live.submit("go");
    let question = live.question().await;
    assert!(question.card.is_some(), "{question:?}");
    live.send(question.answer(Reply::Nobody));
    let result = ended(&mut live).await.result.unwrap_or_default();
    assert!(result.contains("nobody is there to allow this command"), "{result}");
    assert_eq!(live.end().await, TurnEnd::Done);
    live.close().await;
}

#[tokio::test]
async fn what_an_earlier_command_made_is_the_sessions_own_until_somebody_changes_it() {
    if !works() {
        return;
    }
    let world = world().approve("all").unattended();
    let run = |text: &str| call("runCommand", json!({ "command": text }));
    let steps = [
        "git init -q app; git init -q --bare b.git; git init -q kept",
        "git -C app remote add up ../b.git && git clone -q --bare b.git c.git && mv app app2",
        "git -C app2 remote add on ../c.git && rm -rf b.git c.git kept",
        "mv app2 app3",
    ];
    let mut live = start(&world, vec![run(steps[0]), run(steps[1]), run(steps[2]), say("done")]);
    live.submit("go");
    for step in &steps[..3] {
        let result = ended(&mut live).await.result.unwrap_or_default();
        assert!(result.starts_with("exit 0") && !result.contains("not allowed"), "{step}: {result}");
    }
    assert_eq!(live.end().await, TurnEnd::Done);
    live.close().await;
    let config = world.read("app2/.git/config");
    assert!(config.contains("[remote \"up\"]") && config.contains("[remote \"on\"]"), "{config}");

    // Of another program, what is called so is like any other file.
    let rotates = "mkdir conf; (cd conf; echo '[a]' > config.lock; mv config.lock config; mv config config.old; \
                   echo '[b]' > config.lock; mv config.lock config; rm config.old; cat config)";
    // What was moved out of a repository is nobody's own any more.
    let evil = "git init -q n; mv n/.git/HEAD h; mv n/.git z; echo '[x]' > z/config; mv z n/.git; ls n";
    let world = self::world().approve("all").unattended().file("tool.sh", evil);
    let mut live = start(&world, vec![run(rotates), run("sh ./tool.sh"), say("done")]);
    live.submit("go");
    let result = ended(&mut live).await.result.unwrap_or_default();
    assert!(result.starts_with("exit 0") && result.contains("[b]"), "{result}");
    let question = live.question().await;
    live.send(question.answer(Reply::Nobody));
    let result = ended(&mut live).await.result.unwrap_or_default();
    assert!(result.contains("not allowed, as nobody answered: 1 write, first n/.git/config"), "{result}");
    assert_eq!(live.end().await, TurnEnd::Done);
    live.close().await;
    assert!(!world.has("z/HEAD") && !world.read("n/.git/config").contains("[x]"));

    let world = self::world().approve("all").unattended();
    let mut live = start(&world, vec![run("git init -q app2"), say("done"), run(steps[3]), say("done")]);
    live.submit("go");
    assert!(ended(&mut live).await.result.unwrap_or_default().starts_with("exit 0"));
    assert_eq!(live.end().await, TurnEnd::Done);
    let config = format!("{}[x]\n", world.read("app2/.git/config"));
    world.write("app2/.git/config", &config);
    live.submit("on");
    let question = live.question().await;
    live.send(question.answer(Reply::Nobody));
    let result = ended(&mut live).await.result.unwrap_or_default();
    assert!(result.contains("not allowed, as nobody answered: 1 write, first app2/.git/config"), "{result}");
    assert_eq!(live.end().await, TurnEnd::Done);
    live.close().await;
    assert_eq!(world.read("app2/.git/config"), config);
}

#[tokio::test]
async fn a_connection_to_another_program_waits() {
    if !works() {
        return;
    }
    for (key, connects) in [('y', true), ('n', false)] {
        let listener = TcpListener::bind("127.0.0.1:0").expect("bound");
        let port = listener.local_addr().expect("an address").port();
        let script = format!("for i in 1 2; do bash -c 'exec 3<>/dev/tcp/127.0.0.1/{port} && echo there'; done");
        let world = world().approve("all").file("tool.sh", &script);
        let mut live = runs(&world);
        live.submit("go");
        let question = live.question().await;
        assert!(question.text.contains(&format!("wants to connect to port {port} on this machine")), "{question:?}");
        live.send(choice(&question, key));
        let result = ended(&mut live).await.result.unwrap_or_default();
        assert_eq!(result.matches("there\n").count(), if connects { 2 } else { 0 }, "{result}");
        assert_eq!(result.contains("no network: 2 connections refused"), !connects, "{result}");
        listener.set_nonblocking(true).expect("set");
        assert_eq!(listener.accept().is_ok(), connects);
        assert_eq!(live.end().await, TurnEnd::Done);
        live.close().await;
    }
}

#[tokio::test]
async fn a_port_is_let_for_good_with_one_key() {
    if !works() {
        return;
    }
    let listener = TcpListener::bind("127.0.0.1:0").expect("bound");
    let port = listener.local_addr().expect("an address").port();
    let world =
        world().approve("all").file("tool.sh", &format!("bash -c 'exec 3<>/dev/tcp/127.0.0.1/{port} && echo there'"));
    let once = || call("runCommand", json!({"command": "sh ./tool.sh"}));
    let mut live = start(&world, vec![once(), once(), say("done")]);
    live.submit("go");
    let question = live.question().await;
    assert_eq!(question.hold.as_ref().map(|hold| hold.keys.iter().collect::<String>()).as_deref(), Some("yawxn"));
    live.send(choice(&question, 'w'));
    assert_eq!(told(&mut live).await.decision, "always");
    for _ in 0..2 {
        // The second is not held.
        let result = ended(&mut live).await.result.unwrap_or_default();
        assert!(result.contains("there"), "{result}");
    }
    assert_eq!(live.end().await, TurnEnd::Done);
    live.close().await;
    let kept = world.parts(Arc::new(Replay::from_steps(Vec::new()))).config.shell.ports;
    assert_eq!(kept, [port], "it holds in later sessions too");
}

/// An agent whose archive leaves out `*.big`.
fn leaves_out(world: &World, steps: Vec<Vec<nebula::provider::Delta>>) -> Live {
    let model = Arc::new(Replay::from_steps(steps));
    let mut parts = world.parts(model.clone());
    parts.config.program = Path::new(env!("CARGO_BIN_EXE_nebula")).into();
    let settings = ArchiveSettings { exclude: vec!["*.big".into()], ..ArchiveSettings::default() };
    parts.archive = Archive::open(&parts.workspace, &settings).expect("an archive");
    world.start_with(parts, model)
}

#[tokio::test]
async fn what_is_not_archived_is_asked_about_before_the_start_where_the_text_names_it() {
    if !works() {
        return;
    }
    for text in ["rm x.big", "rm *.big", "rm -r data", "echo n > x.big"] {
        let world = world().approve("all").file("x.big", "old\n").file("data/x.big", "old\n");
        let command = json!({"command": text});
        let mut live =
            leaves_out(&world, vec![call("runCommand", command.clone()), call("runCommand", command), say("done")]);
        live.submit("go");
        let path = if text.contains("data") { "data/x.big" } else { "x.big" };
        let question = live.question().await;
        let card = question.card.clone().expect("a card");
        assert!(card.keeper.contains(&format!("{path} (archiveExclude: *.big)")), "{text}: {}", card.keeper);
        assert!(card.asks.iter().any(|why| why.starts_with("not archived: ")), "{text}: {:?}", card.asks);
        assert!(!card.has_usual_bounds && question.text.contains(path), "{text}: {}", question.text);
        live.send(question.answer(Reply::Nobody));
        let result = ended(&mut live).await.result.unwrap_or_default();
        let why = format!(
            "no policy and no rule lets what is not archived be changed unasked: {path} (archiveExclude: *.big)"
        );
        assert!(result.contains(&why), "{text}: {result}");
        assert_eq!(world.read(path), "old\n");
        let question = live.question().await;
        live.send(question.answer(Reply::Choice(0)));
        let result = ended(&mut live).await.result.unwrap_or_default();
        assert!(result.contains(&format!("not archived: {path} (archiveExclude: *.big)")), "{text}: {result}");
        assert!(!world.has(path) || world.read(path) == "n\n", "what the card named is not held");
        assert_eq!(live.end().await, TurnEnd::Done);
        live.close().await;
    }
}

#[tokio::test]
async fn what_is_not_archived_is_held_where_no_text_names_it() {
    if !works() {
        return;
    }
    for (key, content) in [(Some('y'), "new\n"), (Some('n'), "old\n"), (None, "old\n")] {
        let world = world().approve("all").file("x.big", "old\n").file("tool.sh", "echo new > x.big; echo 1 > new.big");
        let mut live = leaves_out(&world, vec![call("runCommand", json!({"command": "sh ./tool.sh"})), say("done")]);
        live.submit("go");
        let question = live.question().await;
        let wants = "sh wants to change x.big, which is not archived (archiveExclude: *.big)";
        assert!(question.permission && question.text.contains(wants), "{}", question.text);
        live.send(key.map_or_else(|| question.answer(Reply::Nobody), |key| choice(&question, key)));
        let result = ended(&mut live).await.result.unwrap_or_default();
        assert_eq!((world.read("x.big").as_str(), world.read("new.big").as_str()), (content, "1\n"), "{result}");
        let refused = "not archived: x.big (archiveExclude: *.big: the call was refused)";
        assert_eq!(result.contains(refused), content == "old\n", "{result}");
        assert_eq!(live.end().await, TurnEnd::Done);
        live.close().await;
    }
}

#[tokio::test]
async fn of_their_own_command_a_person_is_warned_of_what_is_not_archived() {
    if !works() {
        return;
    }
    let world = world().file("x.big", "old\n");
    let mut live = leaves_out(&world, vec![]);
    live.send(Command::Run("rm x.big".into()));
    let told = live
        .until(|event| match event {
            EventBody::Notice(notice) if notice.title.contains("archive") => Some(notice.title.clone()),
            _ => None,
        })
        .await;
    assert!(told.contains("not archived: x.big (archiveExclude: *.big)"), "{told}");
    ended(&mut live).await;
    assert!(!world.has("x.big"), "their own words named it");
    live.close().await;
}

#[tokio::test]
async fn a_large_file_is_copied_or_not_as_the_person_says() {
    if !works() {
        return;
    }
    for (key, content, noted) in [
        ('y', "large file\nmore\n", "M large"),
        ('g', "large file\nmore\n", "not archived: large (too large to be copied: you let the call go on)"),
        ('n', "large file\n", "not archived: large (too large to be copied: the call was refused)"),
    ] {
        let world = world().approve("all").file("large", "large file\n").file("tool.sh", "echo more >> large");
        let model =
            Arc::new(Replay::from_steps(vec![call("runCommand", json!({"command": "sh ./tool.sh"})), say("done")]));
        let mut parts = world.parts(model.clone());
        parts.config.program = Path::new(env!("CARGO_BIN_EXE_nebula")).into();
        parts.config.shell.keep_file = Some(4);
        let mut live = world.start_with(parts, model);
        live.submit("go");
        let question = live.question().await;
        assert!(question.text.contains("wants to change large in place"), "{}", question.text);
        live.send(choice(&question, key));
        let result = ended(&mut live).await.result.unwrap_or_default();
        assert_eq!(world.read("large"), content, "{key}");
        assert!(result.contains(noted), "{key}: {result}");
        assert_eq!(live.end().await, TurnEnd::Done);
        assert!(last_results(&live).contains("large"));
        live.close().await;
    }
}

#[tokio::test]
async fn a_command_of_the_persons_own_waits_for_what_cannot_be_undone_alone() {
    if !works() {
        return;
    }
    let listener = TcpListener::bind("127.0.0.1:0").expect("bound");
    let port = listener.local_addr().expect("an address").port();
    let script = format!("echo mine > AGENTS.md; bash -c 'exec 3<>/dev/tcp/127.0.0.1/{port} && echo there'");
    let world = world().file("tool.sh", &script);
    let mut live = start(&world, vec![]);
    live.send(Command::Run("sh ./tool.sh".into()));
    let question = live.question().await;
    assert!(question.text.contains(&format!("port {port}")), "{question:?}");
    assert_eq!(world.read("AGENTS.md"), "mine\n");
    live.send(choice(&question, 'a'));
    let call = ended(&mut live).await;
    assert!(call.result.as_deref().is_some_and(|result| result.contains("there")), "{call:?}");
    live.close().await;
}

/// The end of a job.
async fn job_over(live: &mut Live) -> Option<i32> {
    live.until(|event| match event {
        EventBody::Command(CommandEvent::Ended(end)) if !end.running => Some(end.exit),
        _ => None,
    })
    .await
}

#[tokio::test]
async fn a_jobs_call_waits_too_and_its_card_names_no_limit() {
    if !works() {
        return;
    }
    for (key, decision, content) in [('y', "allowed", "new\n"), ('n', "refused", "old\n"), ('x', "stopped", "old\n")] {
        // The call is answered before the job asks.
        let script = "mkfifo pipe; cat pipe; echo new > AGENTS.md; echo over > a.txt";
        let world = world().approve("all").file("AGENTS.md", "old\n").file("tool.sh", script);
        let job = json!({"command": "sh ./tool.sh", "background": true});
        let mut live = start(&world, vec![call("runCommand", job), say("done")]);
        live.submit("go");
        assert_eq!(live.end().await, TurnEnd::Done);
        let pipe = world.root().join("pipe");
        while !pipe.exists() {
            tokio::task::yield_now().await;
        }
        tokio::task::spawn_blocking(move || std::fs::write(pipe, "go\n")).await.expect("joined").expect("written");
        let question = live.question().await;
        assert_eq!(question.hold.as_ref().map(|card| (card.command.as_str(), card.note.as_str())), Some(("c1", "")));
        live.send(choice(&question, key));
        let told = told(&mut live).await;
        assert_eq!((told.id.as_str(), told.path.as_str(), told.decision), ("c1", "AGENTS.md", decision));
        assert_eq!(job_over(&mut live).await, (key != 'x').then_some(0), "{key}");
        assert_eq!(world.read("AGENTS.md"), content, "{key}");
        assert_eq!(world.read("a.txt"), if key == 'x' { "one\n" } else { "over\n" });
        live.close().await;
    }
}

#[tokio::test]
async fn a_call_that_nobody_answers_is_refused_after_ten_minutes() {
    if !works() {
        return;
    }
    let world = world().approve("all").file("tool.sh", "echo new > AGENTS.md; echo $? > code");
    let text = json!({"command": "sh ./tool.sh", "timeoutSeconds": 3_600});
    let mut live = start(&world, vec![call("runCommand", text), say("done")]);
    live.submit("go");
    live.question().await;
    // From here on the clock goes on by itself whenever everyone waits.
    tokio::time::pause();
    let asked = tokio::time::Instant::now();
    let told = loop {
        match live.handle.events.recv().await.expect("the agent lives").body {
            EventBody::Command(CommandEvent::Held(told)) => break told,
            _ => assert!(asked.elapsed() < Duration::from_secs(601), "nothing was decided"),
        }
    };
    assert_eq!((told.decision, told.path.as_str()), ("unanswered", "AGENTS.md"));
    let waited = asked.elapsed();
    assert!((599..601).contains(&waited.as_secs()), "{waited:?}");
    tokio::time::resume();
    let result = ended(&mut live).await.result.unwrap_or_default();
    assert!(result.contains("not allowed, as nobody answered: 1 write, first AGENTS.md"), "{result}");
    assert!(!world.has("AGENTS.md"));
    assert_eq!(live.end().await, TurnEnd::Done);
    live.close().await;
}

#[tokio::test]
async fn the_socket_of_another_program_waits_unless_the_text_named_it() {
    if !works() || !has_python() {
        return;
    }
    let outside = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder");
    let path = outside.path().join("s");
    let listener = UnixListener::bind(&path).expect("bound");
    listener.set_nonblocking(true).expect("set");
    let path = path.display().to_string();
    let connects =
        "import sys, socket as s\nfor i in 1, 2:\n  c = s.socket(1)\n  c.connect(sys.argv[1])\n  print('there')\n";
    let by_script = format!("python3 tool.py {path}");
    // The card of a text that asks names what it names.
    let named = format!("echo x > AGENTS.md; {by_script}");
    for (key, text, there) in [
        (Some('y'), "sh ./tool.sh", 2),
        (Some('a'), "sh ./tool.sh", 2),
        (Some('n'), "sh ./tool.sh", 0),
        (None, named.as_str(), 2),
    ] {
        let world = world().approve("all").file("tool.py", connects).file("tool.sh", &by_script);
        let mut live = start(&world, vec![call("runCommand", json!({"command": text})), say("done")]);
        live.submit("go");
        let card = live.question().await;
        if let Some(key) = key {
            assert!(card.text.contains(&format!("wants to connect to {path}: reaching it can do")), "{}", card.text);
            live.send(choice(&card, key));
            assert_eq!(told(&mut live).await.path, path);
        } else {
            assert!(card.hold.is_none(), "the text named it: {card:?}");
            live.send(card.answer(Reply::Choice(0)));
        }
        let result = ended(&mut live).await.result.unwrap_or_default();
        assert_eq!(result.matches("there\n").count(), there, "{key:?}: {result}");
        let reached = std::iter::from_fn(|| listener.accept().ok()).count();
        assert_eq!(reached, there, "{key:?}");
        assert_eq!(live.end().await, TurnEnd::Done);
        live.close().await;
    }
}

#[test]
fn line_mode_lists_the_choices_and_reads_their_keys() {
    if !works() {
        return;
    }
    let command = json!({"command": "sh ./tool.sh"}).to_string();
    let recording = [
        json!({"step": 1}),
        json!({"ms": 0, "delta": {"call": {"index": 0, "id": "c", "name": "runCommand", "arguments": command}}}),
        json!({"ms": 0, "delta": {"end": "calls"}}),
        json!({"step": 2}),
        json!({"ms": 0, "delta": {"text": "Done."}}),
        json!({"ms": 0, "delta": {"end": "stop"}}),
    ];
    let (out, after) = chat_with(&recording, "one\n", |stdin, _, file| {
        let script = "echo 1 > AGENTS.md && echo 2 > CLAUDE.md && echo both > a.txt\n";
        std::fs::write(file.with_file_name("tool.sh"), script).expect("written");
        stdin.write_all(b"go\ny\ng\na\n").expect("written");
    });
    assert!(out.contains("wants to change AGENTS.md, which acts later"), "{out}");
    for (key, name) in [('y', "allow"), ('a', "allow all"), ('x', "stop the command"), ('n', "refuse the call")] {
        assert!(out.contains(&format!("\n  {key} {name}: ")), "{out}");
    }
    assert!(out.contains("not understood, and nothing was decided: one of y, a, x, n; n is the default"), "{out}");
    assert!(out.contains("answered: allow all"), "{out}");
    assert_eq!(after, "both\n", "one answer for both: {out}");
}
