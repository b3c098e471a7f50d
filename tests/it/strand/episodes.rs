//! Episodes: what was played is played again, and a difference is seen.

use std::collections::HashMap;

use nebula::strand::id::QName;
use nebula::strand::issue::{Draft, Issuer, issue};
use nebula::strand::lang::parse::parse_definitions;
use nebula::strand::lang::print;
use nebula::strand::runtime::run::{SlotValues, Trigger};
use nebula::strand::runtime::{Primitives, again, play};
use nebula::strand::state::State;
use serde_json::{Value, json};

use super::world::{TODO, World};

/// Definitions that the todo app has not: effects whose answers differ each time they are asked.
const CHANCE: &str = "\
effect roll = (hi: Int) -> Int needs=[random] do=random.int(1, hi)
effect now = () -> Int needs=[clock] do=clock.now()
effect keep = (n: Int) -> Unit needs=[storage] do=storage.write(\"n\", n)
slot last = Int = 0
tile Dice = button(label=\"Roll\", event=roll)
reducer dice = on=Dice.roll do= emit roll(6 + nextId) ok=rolled
reducer rolled = in=(n: Int) do= last := n; emit now() ok=timed; emit keep(n)
reducer timed = in=(n: Int) do= last := last + n % 7
";

fn load(text: &str) -> State {
    let mut state = State::new();
    for found in parse_definitions(text).unwrap() {
        let found = found.result.unwrap();
        let (qname, body) = (QName::new(found.layer, found.name), print::body(&found.body));
        issue(&mut state, &Draft::Add { qname, body, doc: None, def: None }, &Issuer::new("user:me")).unwrap();
    }
    state
}

fn qname(text: &str) -> QName {
    QName::parse(text).unwrap()
}

/// A chance event of the app.
fn event(step: u64, chance: u64) -> Trigger {
    let n = (chance >> 33) % 40;
    let on = |tile: &str, event: &str, payload| Trigger::Event(qname(tile), event.to_owned(), payload);
    match (chance >> 60) % 6 {
        0 => Trigger::Set(qname("slot.draft"), json!(format!("項目 {step}"))),
        1 => on("tile.NewForm", "submit", None),
        2 => on("tile.TodoRow", "toggle", Some(json!(n))),
        3 => on("tile.TodoRow", "delete", Some(json!(n))),
        4 => on("tile.FilterBar", "pick", Some(json!(["All", "Active", "Done"][n as usize % 3]))),
        _ => on("tile.Dice", "roll", None),
    }
}

#[test]
fn a_thousand_chance_events_replay_equal_and_a_changed_app_does_not() {
    let state = load(&format!("{TODO}{CHANCE}"));
    let mut world = Primitives { given: HashMap::new(), storage: Default::default(), seed: 7, printed: Vec::new() };
    let (mut slots, mut chance) = (SlotValues::new(), 7u64);
    let mut episodes = Vec::new();
    for step in 0..1_000 {
        chance = chance.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let trigger = event(step, chance);
        let (episode, after) = play(&state, &trigger, slots, &mut world, &json!({})).unwrap();
        let (outcome, difference) = again(&state, &trigger, &episode).unwrap();
        assert_eq!(difference, None, "{trigger:?}");
        // Not only the steps: every slot an episode touched ends as it did.
        assert!(outcome.slots.iter().all(|(id, value)| after.get(id) == Some(value)));
        slots = after;
        episodes.push((trigger, episode));
    }
    assert!(slots.len() >= 5);
    let rolls = episodes.iter().filter(|(_, episode)| episode.steps.len() == 3).count();
    assert!(rolls > 50, "{rolls}");
    // An app that does something else is found out, in every episode where it matters.
    let mut changed = state;
    let other = Draft::Replace {
        qname: qname("reducer.timed"),
        body: "in=(n: Int) do= last := last + n % 7 + 1".into(),
        doc: None,
    };
    issue(&mut changed, &other, &Issuer::new("user:me")).unwrap();
    let found = episodes.iter().filter(|(trigger, old)| again(&changed, trigger, old).unwrap().1.is_some()).count();
    assert_eq!(found, rolls);
}

#[test]
fn a_replay_tells_what_differs_first() {
    let world = World::new();
    world.load("slot a = Int = 0\nslot b = Int = 0\ntile T = button(label=\"Go\", event=go)");
    world.load("effect say = (t: Text) -> Unit needs=[log] do=log.print(t)");
    world.load(
        "reducer one = on=T.go do= a := a + 1; emit say(\"hi\")\nreducer two = on=T.go do= b := b + 1 when a > 0",
    );
    world.out(0, &["run", "T.go"]);
    let differs = |words: &str| assert_eq!(world.out(1, &["replay", "latest"]).trim_end(), words);
    let replace = |name: &str, body: &str| world.out(0, &["replace", name, body]);
    assert_eq!(world.out(0, &["replay", "latest"]), "replay ok (2 steps)\n");
    replace("reducer.one", "on=T.go do= a := a + 2; emit say(\"hi\")");
    differs("step 0: slot.a expected 1, got 2");
    replace("reducer.one", "on=T.go do= a := a + 1; emit say(\"ho\")");
    let printed = world.out(1, &["replay", "latest"]);
    assert!(
        printed.starts_with("step 0: requests expected [{") && printed.contains("\"hi\"") && printed.contains("\"ho\""),
        "{printed}"
    );
    replace("reducer.one", "on=T.go do= a := a + 1; emit say(\"hi\")");
    replace("reducer.two", "on=T.go do= b := b + 1 when a > 9");
    differs("step 1: skipped expected [], got [1]");
    replace("reducer.two", "do= b := b + 1 when a > 0");
    differs("expected 2 steps, got 1");
    replace("reducer.two", "on=T.go do= b := b + 1 when a > 0");
    // A new name alone is no difference; another order of reducers is.
    world.out(0, &["rename", "reducer.two", "second"]);
    world.out(0, &["rename", "slot.a", "first"]);
    assert_eq!(world.out(0, &["replay", "latest"]), "replay ok (2 steps)\n");
    world.out(0, &["rename", "reducer.second", "above"]);
    differs("step 0: reducer expected \"reducer.one\", got \"reducer.above\"");
    assert_eq!(world.out(0, &["replay", "latest", "--at-graph"]), "replay ok (2 steps)\n");
    world.out(0, &["replay", "latest", "--update"]);
    assert_eq!(world.out(0, &["replay", "latest"]), "replay ok (2 steps)\n");
    assert!(world.err(6, &["replay", "ep_00"]).contains("'strand episodes' lists them"));
}

#[test]
fn answers_come_in_order_and_their_mistakes_are_reported() {
    let world = World::new();
    world.load(include_str!("programs/form.strand"));
    world.out(0, &["run", "slot.email=\"a@b\""]);
    let answers = |text: &str| std::fs::write(world.path().join("answers.json"), text).unwrap();
    let run = |code: i32| {
        world.run(&["--json", "run", "SignupForm.submit", "--effects", "answers.json"]).status.code() == Some(code)
    };
    for (text, words) in [
        (r#"{"sigup": []}"#, "answers.json: there is no effect.sigup; did you mean effect.signup?"),
        (r#"{"signup": [true]}"#, "an answer of signup is {\"ok\": ..} or {\"err\": ..}, not true"),
        (r#"["signup"]"#, "not answers by effect"),
    ] {
        answers(text);
        let printed = world.err(2, &["run", "SignupForm.submit", "--effects", "answers.json"]);
        assert!(printed.contains(words), "{printed}");
    }
    // A result that does not fit what is declared is an error result.
    answers(r#"{"signup": [{"ok": "yes"}, {"ok": true}]}"#);
    assert!(run(0));
    let status = |world: &World| -> Value {
        let state: Value = serde_json::from_str(
            &std::fs::read_to_string(world.path().join("project.strand/.strand/runtime/state.json")).unwrap(),
        )
        .unwrap();
        let def: Value = serde_json::from_str(&world.out(0, &["--json", "view", "slot.status"])).unwrap();
        state[def[0]["def"].as_str().unwrap()].clone()
    };
    assert_eq!(status(&world), json!("Sent"));
    // Without an answer the effect fails, as it says it can.
    world.out(0, &["run", "--reset", "slot.email=\"a@b\""]);
    world.out(0, &["run", "SignupForm.submit"]);
    assert_eq!(status(&world), json!({"Failed": {"reason": "no handler"}}));
}

#[test]
fn a_line_cut_short_by_a_crash_takes_no_episode_with_it() {
    let world = World::new();
    world.load("slot n = Int = 0\nreducer r = do= n := n + 1");
    world.out(0, &["run", "reducer.r"]);
    let log = world.path().join("project.strand/.strand/episode-log.jsonl");
    let whole = std::fs::read_to_string(&log).unwrap();
    std::fs::write(&log, format!("{whole}{}", &whole[..40])).unwrap();
    world.out(0, &["run", "reducer.r"]);
    assert_eq!(world.out(0, &["episodes"]).lines().count(), 2);
    assert_eq!(world.out(0, &["replay", "latest"]), "replay ok (1 steps)\n");
}
