//! The command as a person, or a script, runs it.

use serde_json::Value;

use super::world::{TODO, World};

#[test]
fn reading_commands_answer_as_the_chapter_says() {
    let world = World::new();
    world.load(TODO);
    assert_eq!(world.out(0, &["view", "slot.todos"]), "slot todos = Map(TodoId, Todo) = {}\n");
    assert_eq!(world.out(0, &["list", "slot"]), "draft\nnextId\nshown\ntodos\n");
    assert_eq!(world.out(0, &["view", "--refs", "slot.shown"]), "reducer.pick:1\ntile.App:4\n");
    assert!(world.out(0, &["view", "--hash", "slot.todos"]).starts_with("slot.todos h:"));
    assert!(world.out(0, &["view", "--history", "slot.todos"]).contains(" add user:me  Map(TodoId, Todo) = {}\n"));
    let deps = world.out(0, &["view", "--with-deps", "fn.toggled"]);
    let order: Vec<&str> =
        deps.lines().filter(|line| line.contains('=')).map(|line| line.split(' ').nth(1).unwrap()).collect();
    assert_eq!(order, ["TodoId", "Todo", "toggled"]);
    assert_eq!(world.out(0, &["check"]), "0 errors, 0 warnings\n");
    assert!(world.err(6, &["view", "slot.todo"]).contains("did you mean slot.todos?"));
}

#[test]
fn refusals_have_their_codes_and_words() {
    let world = World::new();
    world.load(TODO);
    assert!(world.err(3, &["remove", "slot.draft"]).starts_with("Error: cannot remove slot.draft (referenced by "));
    assert!(world.err(3, &["add", "slot", "draft", "Int = 1"]).contains("slot.draft exists already"));
    assert!(world.err(2, &["add", "slot", "x", "Int = ="]).contains("E0001 at slot.x.body:1:7"));
    assert!(world.err(2, &["add", "slot", "Upper", "Int = 1"]).contains("small letter"));
    assert!(world.err(2, &["edit", "slot.draft", r#"{"body:1":"replace 'zzz' -> 'a'"}"#]).contains("does not occur"));
    world.out(0, &["lock", "agent-1", "slot.todos*,reducer.todo-*"]);
    let refused = world.err(5, &["--author", "agent:agent-2", "replace", "slot.todos", "Int = 1"]);
    assert_eq!(refused, "Error: slot.todos is owned by agent-1 (pattern slot.todos*)\n");
    let json: Value = serde_json::from_str(&world.out(6, &["--json", "view", "slot.gone"])).unwrap();
    assert_eq!(json["error"]["kind"], "not-found");
    assert!(world.out(1, &["add", "fn", "f", "() -> Int = x", "--check"]).is_empty());
    assert!(!world.out(0, &["list", "fn"]).contains("f\n"));
}

#[test]
fn revert_and_its_revert() {
    let world = World::new();
    world.load("slot n = Int = 1\n");
    let op = world.out(0, &["replace", "slot.n", "Int = 2"]);
    let inverse = world.out(0, &["patch", "revert", op.trim()]);
    assert_eq!(world.out(0, &["view", "slot.n"]), "slot n = Int = 1\n");
    world.out(0, &["patch", "revert", inverse.trim()]);
    assert_eq!(world.out(0, &["view", "slot.n"]), "slot n = Int = 2\n");
    let removed = world.out(0, &["remove", "slot.n"]);
    world.out(0, &["patch", "revert", removed.trim()]);
    assert_eq!(world.out(0, &["view", "slot.n"]), "slot n = Int = 2\n");
    assert_eq!(world.out(0, &["view", "slot.n", "--at", op.trim()]), "slot n = Int = 2\n");
}

#[test]
fn an_app_runs_and_replays() {
    let world = World::new();
    world.load(include_str!("programs/form.strand"));
    world.out(0, &["run", "slot.email=\"a@b\""]);
    std::fs::write(world.path().join("answers.json"), r#"{"signup":[{"err":"offline"},{"ok":true}]}"#).unwrap();
    let run = world.out(0, &["--json", "run", "SignupForm.submit", "--effects", "answers.json"]);
    let episode: Value = serde_json::from_str(&run).unwrap();
    assert_eq!((episode["status"].as_str(), episode["steps"].as_array().map(Vec::len)), (Some("done"), Some(3)));
    assert_eq!(world.out(0, &["replay", "latest"]), "replay ok (3 steps)\n");
    world.out(0, &["rename", "slot.status", "state"]);
    assert_eq!(world.out(0, &["replay", "latest"]), "replay ok (3 steps)\n");
    world.out(0, &["replace", "reducer.signedUp", "in=(fine: Bool) do= state := Status.Idle"]);
    assert!(world.out(1, &["replay", "latest"]).starts_with("step 2: slot.status expected \"Sent\", got \"Idle\""));
    assert_eq!(world.out(0, &["replay", "latest", "--at-graph"]), "replay ok (3 steps)\n");
}

/// A thousand chance events of the todo app, each episode replayed on the graph it ran on.
#[test]
fn a_thousand_events_replay_equal() {
    use nebula::strand::id::QName;
    use nebula::strand::issue::{Draft, Issuer};
    use nebula::strand::runtime::run::{Slots, Trigger, World, run};
    use nebula::strand::state::{State, View};

    struct Silent;
    impl World for Silent {
        fn answer(&mut self, _: &View, _: &str, _: &[Value]) -> Option<Value> {
            None
        }
    }
    let mut state = State::new();
    for found in nebula::strand::lang::parse::parse_definitions(TODO).unwrap() {
        let definition = found.result.unwrap();
        let body = nebula::strand::lang::print::body(&definition.body);
        let draft = Draft::Add { qname: QName::new(definition.layer, definition.name), body, doc: None, def: None };
        nebula::strand::issue::issue(&mut state, &draft, &Issuer::new("user:me")).unwrap();
    }
    let tile = |name: &str| QName::parse(&format!("tile.{name}")).unwrap();
    let (mut slots, mut seed) = (Slots::new(), 7u64);
    for step in 0..1_000 {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let n = (seed >> 33) % 40;
        let trigger = match (seed >> 60) % 5 {
            0 => Trigger::Set(QName::parse("slot.draft").unwrap(), Value::from(format!("item {step}"))),
            1 => Trigger::Event(tile("NewForm"), "submit".into(), None),
            2 => Trigger::Event(tile("TodoRow"), "toggle".into(), Some(n.into())),
            3 => Trigger::Event(tile("TodoRow"), "delete".into(), Some(n.into())),
            _ => Trigger::Event(
                tile("FilterBar"),
                "pick".into(),
                Some(Value::from(["All", "Active", "Done"][n as usize % 3])),
            ),
        };
        let first = run(&state, &trigger, slots.clone(), &mut Silent).unwrap();
        let again = run(&state, &trigger, slots, &mut Silent).unwrap();
        assert_eq!(first.steps, again.steps);
        slots = first.slots;
    }
    assert!(slots.len() >= 4);
}
