//! Classes and rules: what runs unasked, what asks, what is refused, and what a person's answer to a card does.

use std::path::Path;
use std::sync::Arc;

use nebula::protocol::{
    CallState, Command, CommandCard, CommandClass, CommandDecision, EventBody, Item, Mode, QuestionId, Setting, TurnEnd,
};
use nebula::provider::{Delta, Replay};
use nebula::shell::class::{Around, Class, assess};
use serde_json::json;

use super::tree::{Tree, text, works};
use crate::support::world::{Live, World, call, say};

fn start(world: &World, texts: &[&str]) -> Live {
    let mut steps: Vec<Vec<Delta>> = texts.iter().map(|text| call("runCommand", json!({"command": text}))).collect();
    steps.push(say("done"));
    let model = Arc::new(Replay::from_steps(steps));
    let mut parts = world.parts(model.clone());
    parts.config.program = Path::new(env!("CARGO_BIN_EXE_nebula")).into();
    world.start_with(parts, model)
}

fn world() -> World {
    World::new().variable("PATH", &std::env::var("PATH").expect("a PATH")).file("a.txt", "one\n")
}

/// The next card.
async fn card(live: &mut Live) -> (QuestionId, Arc<CommandCard>) {
    live.until(|event| match event {
        EventBody::Asked(question) => Some((question.id, question.card.clone().expect("a card"))),
        _ => None,
    })
    .await
}

/// The final state of the next call, and its result.
async fn ended(live: &mut Live) -> (CallState, String) {
    live.until(|event| match event {
        EventBody::Changed(_, Item::Call(call)) if call.state.is_final() => {
            Some((call.state, call.result.clone().or_else(|| call.reason.clone()).unwrap_or_default()))
        }
        _ => None,
    })
    .await
}

#[tokio::test]
async fn reading_runs_unasked_and_cannot_write() {
    let world = world();
    // Judged by its text alone it reads; the kernel holds it to that.
    let mut live = start(&world, &["cat a.txt", "sort a.txt | tee /dev/null"]);
    live.submit("go");
    let (state, result) = ended(&mut live).await;
    assert!(state == CallState::Done && result.contains("one"), "{result}");
    let (_, card) = card(&mut live).await;
    assert_eq!((card.class, card.parts.len()), (CommandClass::Harm, 2), "tee opens its file anew");
    live.close().await;
}

#[tokio::test]
async fn a_card_tells_what_is_met_and_its_answers_are_obeyed() {
    let world = world().file("gen/x", "12").file("gen/y", "345");
    let mut live = start(&world, &["rm -rf gen && ls", "touch made-1", "touch made-2", "touch made-3"]);
    live.submit("go");
    let (id, card_text) = card(&mut live).await;
    assert_eq!(
        (card_text.class, card_text.parts[0].class, card_text.parts[1].class),
        (CommandClass::Harm, CommandClass::Harm, CommandClass::Read)
    );
    assert!(card_text.parts[0].note.starts_with("2 files, 5"), "{:?}", card_text.parts);
    // An edited text is judged anew.
    live.send(Command::DecideCommand(id, CommandDecision::Edit("rm gen/x".into())));
    let (again, card_text) = card(&mut live).await;
    assert_eq!((again, card_text.text.as_str()), (id, "rm gen/x"), "it takes the place of the card");
    live.send(Command::DecideCommand(id, CommandDecision::Run { network: false }));
    let (_, result) = ended(&mut live).await;
    assert!(result.contains("the person changed the command to: rm gen/x"), "{result}");
    assert!(!world.has("gen/x") && world.has("gen/y"));
    // A rule for this session lets the next one run.
    let (id, card_text) = card(&mut live).await;
    assert_eq!((card_text.class, card_text.prefix.0.join(" ").as_str()), (CommandClass::Work, "touch made-1"));
    live.send(Command::DecideCommand(id, CommandDecision::Always { prefix: vec!["touch".into()], keep: false }));
    assert_eq!(ended(&mut live).await.0, CallState::Done);
    assert_eq!(ended(&mut live).await.0, CallState::Done, "by the rule");
    assert_eq!(ended(&mut live).await.0, CallState::Done);
    assert_eq!(live.end().await, TurnEnd::Done);
    assert!(world.has("made-2") && world.has("made-3"));
    live.close().await;
}

#[tokio::test]
async fn plan_mode_holds_for_a_card_that_waits() {
    let world = world().file("gen/x", "12");
    let mut live = start(&world, &["rm -rf gen"]);
    live.submit("go");
    let (id, _) = card(&mut live).await;
    live.send(Command::Set(Setting::Mode(Mode::Plan)));
    live.send(Command::DecideCommand(id, CommandDecision::Run { network: false }));
    let (_, result) = ended(&mut live).await;
    assert!(world.has("gen/x"), "{result}");
    assert!(["would have been", "plan mode"].iter().any(|words| result.contains(words)), "{result}");
    live.close().await;
}

#[tokio::test]
async fn a_card_says_what_became_of_a_rule_and_what_has_none_yet() {
    let world = world();
    let mut live = start(&world, &["touch made-1 && mkdir made-2", "touch made-3"]);
    live.submit("go");
    let (id, card_text) = card(&mut live).await;
    assert_eq!((card_text.asks.len(), card_text.rule.as_str()), (0, "no rule meets this text"));
    let always = |word: &str| CommandDecision::Always { prefix: vec![word.into()], keep: false };
    live.send(Command::DecideCommand(id, always("touch")));
    let (_, card_text) = card(&mut live).await;
    assert_eq!(
        (card_text.asks[0].as_str(), card_text.rule.as_str()),
        ("rule for this session: touch", "no rule yet: mkdir made-2")
    );
    assert_eq!(card_text.prefix.0[0], "mkdir");
    live.send(Command::DecideCommand(id, always("sh")));
    let (_, card_text) = card(&mut live).await;
    assert!(card_text.asks[0].starts_with("no rule: "), "{:?}", card_text.asks);
    live.send(Command::DecideCommand(id, CommandDecision::Refuse(String::new())));
    assert_eq!(ended(&mut live).await.0, CallState::Refused);
    assert_eq!(ended(&mut live).await.0, CallState::Done, "the rule stays");
    assert_eq!(live.end().await, TurnEnd::Done);
    live.close().await;
}

#[tokio::test]
async fn review_runs_what_can_be_undone_and_asks_for_the_rest() {
    if !works() {
        return;
    }
    let world = world().approve("review");
    let mut live = start(&world, &["rm a.txt", "git push"]);
    live.submit("go");
    assert_eq!(ended(&mut live).await.0, CallState::Done);
    assert!(!world.has("a.txt"));
    let (id, card_text) = card(&mut live).await;
    assert_eq!(card_text.class, CommandClass::Final);
    live.send(Command::DecideCommand(id, CommandDecision::Refuse("not yet".into())));
    let (state, result) = ended(&mut live).await;
    assert!(state == CallState::Refused && result.contains("not yet"), "{result}");
    live.close().await;
}

#[tokio::test]
async fn a_rule_that_is_written_meanwhile_holds_for_the_next_command() {
    let world = world().approve("all");
    let mut live = start(&world, &["touch one", "touch two", "touch three"]);
    let config = world.root().join(".nebula/config.json");
    let write = |text: &str| {
        std::fs::create_dir_all(config.parent().expect("a folder")).expect("made");
        std::fs::write(&config, text).expect("written");
    };
    write(r#"{"shell": {"rules": [{"prefix": ["touch"], "decision": "refuse", "why": "no files"}]}}"#);
    live.submit("go");
    let (state, result) = ended(&mut live).await;
    assert!(state == CallState::Refused && result.contains("no files"), "{result}");
    assert!(!world.has("one"));
    // A file that cannot be read takes no rule away.
    write("");
    write("{ half");
    live.send(Command::Set(Setting::Theme("light".into())));
    assert_eq!(ended(&mut live).await.0, CallState::Refused);
    live.close().await;
}

#[test]
fn what_is_judged_to_read_changes_nothing() {
    let lines = include_str!("../../fixtures/commands/classes.tsv").lines().filter_map(|line| line.split_once('\t'));
    let reading: Vec<&str> = lines.filter(|(class, _)| *class == "read").map(|(_, text)| text).collect();
    assert!(reading.len() > 80, "{}", reading.len());
    let tree = Tree::new();
    let before = tree.snapshot();
    for text in reading {
        let mut bash = std::process::Command::new("bash");
        bash.args(["--noprofile", "--norc", "-c", text]).current_dir(tree.root());
        // As a command that reads gets it.
        bash.env("GIT_OPTIONAL_LOCKS", "0").stdin(std::process::Stdio::null());
        bash.output().expect("bash runs");
        assert_eq!(tree.snapshot(), before, "{text}");
    }
}

/// The simple commands that a shell traced, without what the shell itself does.
fn traced(trace: &str) -> impl Iterator<Item = &str> {
    let lines = trace.lines().filter(|line| line.starts_with('+'));
    let own = ["for ", "case ", "select ", "[[ ", "(( "];
    lines.map(|line| line.trim_start_matches('+').trim_start()).filter(move |line| {
        let sets = line.split(' ').next().is_some_and(|word| word.contains('='));
        !sets && !line.is_empty() && !own.iter().any(|word| line.starts_with(word))
    })
}

#[test]
fn what_the_shell_traces_of_a_text_that_reads_only_reads() {
    let lines = include_str!("../../fixtures/commands/classes.tsv").lines().filter_map(|line| line.split_once('\t'));
    let tree = Tree::new();
    let around = Around { root: tree.root(), folder: tree.root(), kept: Vec::new() };
    let mut seen = 0;
    for (_, text) in lines.filter(|(class, _)| *class == "read") {
        let mut bash = std::process::Command::new("bash");
        bash.args(["--noprofile", "--norc", "-x", "-c", text]).current_dir(tree.root());
        bash.env("GIT_OPTIONAL_LOCKS", "0").env("PS4", "+ ").stdin(std::process::Stdio::null());
        let ran = bash.output().expect("bash runs");
        let trace = String::from_utf8_lossy(&ran.stderr).into_owned();
        for command in traced(&trace) {
            seen += 1;
            // Brackets are quoted where they name the program.
            let command = command.replace("'['", "[").replace("']'", "]");
            assert_eq!(assess(&command, &around, false).class, Class::Read, "{command} of {text}");
        }
    }
    assert!(seen > 80, "{seen}");
}

#[test]
fn rules_check_prints_the_class_and_the_decision() {
    let tree = Tree::new();
    let check = |arguments: &[&str]| {
        let ran = tree.nebula(&[&["rules", "check", "--json"], arguments].concat());
        let said: serde_json::Value = serde_json::from_str(&text(&ran.stdout)).expect("JSON");
        let word = |key: &str| said[key].as_str().unwrap_or_default().to_string();
        (word("class"), word("decision"), word("grant"), ran.status.code())
    };
    let is = |found: (String, String, String, Option<i32>), class, decision, grant, code| {
        assert_eq!(found, (String::from(class), String::from(decision), String::from(grant), Some(code)));
    };
    is(check(&["ls -la"]), "read", "policy", "read", 0);
    is(check(&["cargo test"]), "work", "ask", "workspace", 3);
    is(check(&["--approve", "review", "rm -rf x"]), "harm", "policy", "workspace", 0);
    is(check(&["--approve", "all", "git push"]), "final", "ask", "online", 3);
    is(check(&["--approve", "none", "cargo test"]), "work", "refused", "workspace", 3);
    is(check(&["--network", "ls"]), "reach", "ask", "online", 3);
    assert!(
        tree.nebula(&["config", "set", "shell.rules", r#"[{"prefix": ["cargo", "test"], "decision": "allow"}]"#])
            .status
            .success()
    );
    is(check(&["cargo test --lib"]), "work", "rule", "workspace", 0);
    is(check(&["cargo test; curl x"]), "reach", "ask", "online", 3);
    // The workspace's own file only tightens, and takes nothing away.
    std::fs::create_dir_all(tree.root().join(".nebula")).expect("made");
    let own = r#"{"shell": {"rules": [{"prefix": ["cargo", "test"], "decision": "refuse"}, {"prefix": ["make", "x"], "decision": "allow"}]}}"#;
    std::fs::write(tree.root().join(".nebula/config.json"), own).expect("written");
    is(check(&["cargo test"]), "work", "refused", "workspace", 3);
    is(check(&["make x"]), "work", "ask", "workspace", 3);
    assert_eq!(tree.nebula(&["rules", "check", " "]).status.code(), Some(1));
    // What no policy accepts is said, in place of the class.
    assert!(tree.nebula(&["config", "set", "archiveExclude", r#"["*.bin"]"#]).status.success());
    for (command, why) in [
        ("rm -rf .git", "no policy and no rule lets what acts later be changed unasked (.git)"),
        ("rm large.bin", "lets what is not archived be changed unasked: large.bin (archiveExclude: *.bin)"),
    ] {
        let ran = tree.nebula(&["rules", "check", "--approve", "all", command]);
        let said = text(&ran.stdout);
        assert!(said.contains(why) && !said.contains("asks about class"), "{said}");
        assert_eq!(ran.status.code(), Some(3), "{said}");
    }
}
