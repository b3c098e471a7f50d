//! The command as a person, or a script, runs it.

use serde_json::{Value, json};

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

/// The keys of an object, in order.
fn keys(value: &Value) -> Vec<&str> {
    value.as_object().map(|object| object.keys().map(String::as_str).collect()).unwrap_or_default()
}

const WRITTEN: [&str; 4] = ["op-id", "qname", "hash", "diagnostics"];
const EXCHANGED: [&str; 8] =
    ["accepted", "duplicate", "pending", "rejected", "absorbed", "healed", "warnings", "state-hash"];

#[test]
fn elements_put_into_elements_nest_no_deeper_than_a_text_may() {
    let world = World::new();
    world.load("tile T = row { row { row { row { text(value=\"x\") } } } }");
    let nest = "row { ".repeat(80) + "text(value=\"y\")" + &" }".repeat(80);
    let insert = |unit: usize| json!({format!("body:{unit}"): {"insert-child": nest}}).to_string();
    world.out(0, &["edit", "tile.T", &insert(4)]);
    assert!(world.err(2, &["edit", "tile.T", &insert(80)]).contains("this is nested too deeply"));
    world.out(0, &["sync"]);
    assert_eq!(world.out(0, &["sync"]), "+0 ~0 -0 files, 0 ops, 0 conflicts\n");
}

#[test]
fn every_command_answers_in_json_with_its_keys() {
    let world = World::new();
    world.load(TODO);
    let json = |code: i32, args: &[&str]| -> Value {
        let mut all = vec!["--json"];
        all.extend(args);
        let text = world.out(code, &all);
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{args:?}: {error}: {text}"))
    };
    let first = |value: Value| value.as_array().unwrap()[0].clone();
    assert_eq!(keys(&json(0, &["init", "other"])), ["path"]);
    let view = first(json(0, &["view", "slot.todos", "--history", "--refs"]));
    assert_eq!(keys(&view), ["qname", "def", "hash", "text", "units", "deps", "history", "refs"]);
    assert_eq!(keys(&view["units"][0]), ["unit", "text"]);
    assert_eq!(keys(&first(json(0, &["view", "slot.*"]))), ["qname", "def", "hash", "text", "units", "deps"]);
    assert_eq!(keys(&first(json(0, &["list", "slot"]))), ["qname", "def", "hash"]);
    assert_eq!(keys(&json(0, &["add", "slot.a", "Int = 1"])), WRITTEN);
    assert_eq!(keys(&json(0, &["replace", "slot.a", "Int = 2"])), WRITTEN);
    let edited = json(0, &["edit", "slot.a", r#"{"init":"set 3"}"#]);
    assert_eq!((keys(&edited), edited["qname"].as_str()), (WRITTEN.to_vec(), Some("slot.a")));
    assert_eq!(keys(&json(0, &["rename", "slot.a", "b"])), WRITTEN);
    assert_eq!(keys(&json(0, &["link", "slot.b", "slot.todos"])), WRITTEN);
    assert_eq!(keys(&json(0, &["unlink", "slot.b", "slot.todos"])), WRITTEN);
    let removal = ["op-ids", "removed", "dangling", "diagnostics"];
    assert_eq!(keys(&json(0, &["remove", "slot.b", "--dry-run"])), removal);
    let removed = json(0, &["remove", "slot.b"]);
    assert_eq!((keys(&removed), &removed["removed"]), (removal.to_vec(), &json!(["slot.b"])));
    let id = removed["op-ids"][0].as_str().unwrap();
    assert_eq!(keys(&json(0, &["patch", "revert", id, "--dry-run"])), ["ops", "skipped"]);
    assert_eq!(keys(&json(0, &["patch", "revert", id])), WRITTEN);
    std::fs::write(world.path().join("draft.json"), r#"{"op":"add","layer":"slot","name":"c","body":"Int = x"}"#)
        .unwrap();
    let applied = [&EXCHANGED[..], &["diagnostics"]].concat();
    assert_eq!(keys(&json(0, &["patch", "apply", "draft.json", "--dry-run"])), applied);
    let told = json(0, &["patch", "apply", "draft.json"]);
    assert_eq!((keys(&told), &told["diagnostics"][0]["code"]), (applied, &json!("E0103")));
    let fault = json(1, &["check"]);
    assert_eq!(keys(&fault), ["code", "kind", "location", "message", "suggestion", "auto-patch", "severity", "id"]);
    assert_eq!(json(0, &["fix", "--apply"]), json!({"applied": 0, "left": 1, "op-ids": []}));
    assert_eq!(json(0, &["config", "conflict-policy", "warn"]), json!({"key": "conflict-policy", "value": "warn"}));
    assert_eq!(keys(&first(json(0, &["lock", "agent-1", "slot.zz*"]))), ["owner", "pattern", "since"]);
    assert_eq!(keys(&first(json(0, &["locks"]))), ["owner", "pattern", "since"]);
    assert_eq!(json(0, &["unlock", "agent-1"]), json!([]));
    let sync = json(0, &["sync", "--dry-run"]);
    assert_eq!(keys(&sync), ["plan", "created", "updated", "deleted", "ops", "conflicts", "errors"]);
    assert_eq!(json(0, &["conflicts"]), json!([]));
    assert_eq!(
        keys(&json(0, &["op", "show", id])),
        ["op", "layer", "name", "author", "ts", "op-id", "parent-ops", "depends-on", "def"]
    );
    assert_eq!(json(0, &["op", "pending"]), json!([]));
    assert_eq!(keys(&json(0, &["op", "bundle", "-o", "ops.jsonl"])), ["ops", "file"]);
    assert_eq!(keys(&json(0, &["snapshot", "copy"])), ["path", "state-hash"]);
    assert_eq!(keys(&json(0, &["op", "push", "copy"])), EXCHANGED);
    assert_eq!(keys(&json(0, &["op", "pull", "copy"])), [&EXCHANGED[..], &["withdrawn"]].concat());
    assert_eq!(keys(&json(0, &["op", "merge", "copy/.strand/op-log.jsonl"])), EXCHANGED);
    assert_eq!(keys(&json(0, &["state-hash"])), ["state-hash"]);
    assert_eq!(keys(&json(0, &["store", "verify"])), ["equal", "state-hash", "rebuilt", "difference"]);
    assert_eq!(keys(&json(0, &["run", "slot.draft=\"milk\""])), ["episode", "status", "graph", "steps"]);
    assert_eq!(keys(&json(0, &["replay", "latest"])), ["episode", "equal", "steps", "difference"]);
    assert_eq!(keys(&first(json(0, &["episodes"]))), ["episode", "ts", "trigger", "steps", "status"]);
    for line in world.out(0, &["--json", "op", "log"]).lines() {
        assert!(serde_json::from_str::<Value>(line).unwrap()["op-id"].is_string());
    }
}

#[test]
fn bad_input_is_reported_with_its_exit_code_and_changes_nothing() {
    let world = World::new();
    world.load(TODO);
    world.out(0, &["run", "slot.draft=\"milk\""]);
    let before = world.out(0, &["state-hash"]);
    for (code, args, words) in [
        (2, &["add", "slots", "a", "Int = 1"][..], "there is no layer 'slots'"),
        (
            2,
            &["add", "slot.a", "Int = ("],
            "E0001 at slot.a.body:1:8: expected an expression, found the end of the text\n  | Int = (\n  |        ^",
        ),
        (2, &["add", "fn", "len", "() -> Int = 1"], "'len' is a built-in function"),
        (2, &["add", "slot", "when", "Int = 1"], "'when' is a keyword"),
        (6, &["replace", "slot.drfat", "Int = 1"], "there is no slot.drfat; did you mean slot.draft?"),
        (2, &["edit", "slot.draft", "{"], "the patch is no JSON"),
        (2, &["edit", "slot.draft", "{}"], "the patch is empty"),
        (2, &["edit", "slot.draft", r#"{"body:1": "frobnicate"}"#], "unknown instruction 'frobnicate'"),
        (2, &["edit", "slot.draft", r#"{"needs": "set [net]"}"#], "a slot has no 'needs' to address"),
        (
            2,
            &["edit", "reducer.todo-add", r#"{"body:1": "replace 'nextId' -> 'n'"}"#],
            "the patch is ambiguous: 'nextId' occurs 2 times",
        ),
        (2, &["edit", "reducer.todo-add", r#"{"body:9": "delete"}"#], "there is no body:9; the last is body:3"),
        (6, &["edit", "slot.draft", "@nowhere.json"], "there is no file nowhere.json"),
        (3, &["rename", "slot.draft", "todos"], "slot.todos exists already"),
        (2, &["rename", "slot.draft", "Draft"], "starts with a small letter"),
        (2, &["rename", "slot.draft", "fn.draft"], "is not a name in the layer slot"),
        (6, &["remove", "slot.drfat"], "did you mean slot.draft?"),
        (6, &["link", "slot.draft", "slot.drfat"], "did you mean slot.draft?"),
        (6, &["patch", "apply", "nowhere.json"], "there is no file nowhere.json"),
        (6, &["patch", "revert", "op_01JB0000000000000000000000"], "there is no op"),
        (2, &["patch", "revert", "op_1"], "'op_1' is not an op-id"),
        (6, &["check", "--scope", "slot.drfat"], "did you mean slot.draft?"),
        (2, &["fix", "--auto-patch", "E9103"], "there is no code 'E9103'"),
        (2, &["fix", "--apply", "E013"], "there is no code 'E013'"),
        (2, &["config", "policy"], "there is no key 'policy'"),
        (6, &["config", "upstream", "nowhere"], "there is no store in nowhere"),
        (2, &["view", ""], "the selector is empty"),
        (2, &["lock", "agent-1", ","], "name a pattern"),
        (2, &["config", "capabilities", "net,teleport"], "teleport"),
        (2, &["lock", "agent 1", "slot.a"], "'agent 1' is not the id of an author"),
        (2, &["lock", "agent-1", "todos*"], "is no pattern"),
        (6, &["unlock", "agent-1"], "agent-1 owns nothing like that"),
        (6, &["conflicts", "show", "cf_1"], "there is no conflict cf_1"),
        (6, &["conflicts", "reissue", "W0902@slot.draft"], "there is no conflict"),
        (6, &["op", "show", "op_01JB0000000000000000000000"], "there is no op"),
        (2, &["op", "push"], "strand config upstream"),
        (6, &["op", "push", "nowhere"], "there is no store in nowhere"),
        (6, &["run", "NewFrom.submit"], "there is no tile.NewFrom; did you mean tile.NewForm?"),
        (6, &["run", "NewForm.sumbit"], "no reducer runs on NewForm.sumbit; there is submit"),
        (6, &["run", "slot.drfat=1"], "did you mean slot.draft?"),
        (2, &["run", "slot.draft=milk"], "a text needs quotes: '\"milk\"'"),
        (2, &["run", "slot.draft=1"], "1 does not fit slot.draft, a Text"),
        (2, &["run", "slot.nextId=1.5"], "1.5 does not fit slot.nextId, an Int"),
        (2, &["run", "TodoRow.toggle"], "reducer.todo-toggle takes a TodoId, and there is no payload"),
        (
            2,
            &["run", "TodoRow.toggle", "--payload", "\"x\""],
            "the payload \"x\" does not fit reducer.todo-toggle, which takes a TodoId",
        ),
        (2, &["run", "nothing"], "is not Tile.event, reducer.name or slot.name=json"),
        (2, &["run", "NewForm.submit", "--live"], "--effects"),
        (6, &["run", "NewForm.submit", "--effects", "nowhere.json"], "there is no file nowhere.json"),
        (6, &["replay", "ep_1"], "there is no episode ep_1"),
        (2, &["--author", "somebody", "add", "slot.a", "Int = 1"], "use agent:<id> or user:<id>"),
        (6, &["--store", "nowhere", "list"], "there is no store in nowhere"),
        (2, &["frobnicate"], "Error: unrecognized subcommand 'frobnicate'"),
        (2, &["remove", "slot.draft", "--cascade", "--force"], "Error: the argument '--cascade' cannot be used with"),
    ] {
        let output = world.run(args);
        let message = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(code), "{args:?}: {message}");
        assert!(message.contains(words), "{args:?}: {message}");
        assert!(output.stdout.is_empty(), "{args:?}");
    }
    assert_eq!(world.out(0, &["state-hash"]), before);
    assert_eq!(world.out(0, &["--json", "episodes"]).matches("ep_").count(), 1);
}

#[test]
fn an_upstream_is_found_from_any_folder() {
    let world = World::new();
    world.out(0, &["snapshot", "other"]);
    let whole = world.path().canonicalize().unwrap().join("other").display().to_string();
    assert_eq!(world.out(0, &["config", "upstream", "other"]), format!("{whole}\n"));
    assert_eq!(world.out(0, &["config", "upstream"]), format!("{whole}\n"));
    world.out(0, &["op", "push"]);
}

#[test]
fn snapshots_of_a_store_without_ops_push_to_it() {
    let world = World::new();
    for copy in ["a", "b"] {
        world.out(0, &["snapshot", copy]);
    }
    for copy in ["a", "b"] {
        world.out(0, &["--store", copy, "add", "slot", copy, "Int = 1"]);
        world.out(0, &["--store", copy, "op", "push"]);
    }
    assert_eq!(world.out(0, &["list"]), "slot.a\nslot.b\n");
}

#[test]
fn an_upstream_of_a_clone_is_told_and_not_used_if_it_is_another_store() {
    let world = World::new();
    world.load("slot n = Int = 0");
    world.out(0, &["init", "private"]);
    world.out(0, &["--store", "private", "add", "slot.secret", "Int = 1"]);
    // As a clone may bring it.
    let settings = world.path().join("project.strand/.strand/config.json");
    std::fs::write(&settings, json!({"upstream": world.path().join("private")}).to_string()).unwrap();
    for command in ["push", "pull"] {
        let message = world.err(2, &["op", command]);
        assert!(message.contains("private has no op in common with this store; name it if it is meant"), "{message}");
    }
    assert!(!world.out(0, &["--store", "private", "op", "log"]).contains("slot.n"));
    // An empty store takes nothing from it unasked either.
    world.out(0, &["init", "empty"]);
    std::fs::copy(&settings, world.path().join("empty/.strand/config.json")).unwrap();
    let message = world.err(2, &["--store", "empty", "op", "pull"]);
    assert!(message.contains("name it if it is meant"), "{message}");
    world.out(0, &["--store", "empty", "op", "pull", "private"]);
    world.out(0, &["--store", "empty", "op", "pull"]);
    world.out(0, &["op", "push", "private"]);
    let output = world.run(&["op", "push"]);
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(
        output.status.success() && message.contains("the upstream is ") && message.contains("private"),
        "{message}"
    );
}

#[test]
fn a_wrong_use_is_reported_in_json_too() {
    let world = World::new();
    for args in [&["--json", "view"][..], &["view", "--json"], &["--json", "lock", "x"]] {
        let message: Value = serde_json::from_str(&world.out(2, args)).unwrap();
        assert_eq!((&message["error"]["code"], &message["error"]["kind"]), (&json!(2), &json!("usage")), "{args:?}");
        assert!(
            message["error"]["message"].as_str().unwrap().starts_with("the following required arguments"),
            "{message}"
        );
    }
}

#[test]
fn of_several_stores_one_must_be_named() {
    let world = World::new();
    world.out(0, &["init", "second.strand"]);
    assert_eq!(
        world.err(6, &["list"]),
        "Error: there are several stores here, project.strand and second.strand; name one with --store\n"
    );
    world.out(0, &["--store", "second.strand", "list"]);
    // One that is called as a store is before others, and one that is not is found where it is alone.
    let world = World::new();
    world.out(0, &["init", "app"]);
    assert_eq!(world.out(0, &["list"]), world.out(0, &["--store", "project.strand", "list"]));
    std::fs::remove_dir_all(world.path().join("project.strand")).unwrap();
    world.out(0, &["--store", "app", "add", "slot", "own", "Int = 1"]);
    assert!(world.out(0, &["list"]).contains("slot.own"));
    world.out(0, &["init", "other"]);
    assert!(world.err(6, &["list"]).contains("several stores here, app and other;"));
}

#[test]
fn a_slot_is_not_renamed_to_what_a_binder_is_called_where_it_is_read() {
    let world = World::new();
    world.load("slot total = Int = 0\nslot out = Int = 0\nreducer add = in=(n: Int) do= out := total + n");
    world.load("tile T = column { each(item=row-item, of=[1]) { text(value=text(total)) } }");
    let message = world.err(3, &["rename", "slot.total", "n"]);
    assert_eq!(message, "Error: cannot rename to n: reducer.add:1 reads it where 'n' is the name of something else\n");
    assert!(world.err(3, &["rename", "slot.total", "row-item"]).contains("tile.T:3 reads it"));
    // Written but not read there: `:=` names a slot whatever is bound.
    world.out(0, &["rename", "slot.out", "n"]);
    assert_eq!(world.out(0, &["view", "reducer.add"]), "reducer add =\n  in=(n: Int)\n  do=\n    n := total + n\n");
    world.out(0, &["rename", "slot.total", "sum-of-all"]);
}

#[test]
fn ownership_refuses_others_until_it_yields() {
    let world = World::new();
    world.load(TODO);
    world.out(0, &["lock", "agent-1", "slot.todos*, reducer.todo-*"]);
    let agent = |id: &str, code: i32, args: &[&str]| {
        let author = format!("agent:{id}");
        let mut all = vec!["--author", &author];
        all.extend(args);
        let output = world.run(&all);
        let message = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(code), "{args:?}: {message}");
        message
    };
    let owned = "Error: slot.todos2 is owned by agent-1 (pattern slot.todos*)\n";
    assert_eq!(agent("agent-2", 5, &["add", "slot.todos2", "Int = 1"]), owned);
    assert_eq!(agent("agent-2", 5, &["rename", "slot.shown", "todos2"]), owned);
    assert!(agent("agent-2", 5, &["rename", "slot.todos", "list"]).contains("slot.todos is owned by agent-1"));
    assert!(agent("agent-2", 5, &["remove", "reducer.todo-delete"]).contains("reducer.todo-delete is owned"));
    // References are free, and so is everything to its owner.
    agent("agent-2", 0, &["add", "fn.size", "(n: Int) -> Int = n"]);
    agent("agent-2", 0, &["add", "reducer.clear", "do= todos := {}"]);
    agent("agent-1", 0, &["add", "slot.todos2", "Int = 1"]);
    assert!(
        agent("agent-2", 5, &["lock", "agent-2", "*.to?os*"])
            .contains("overlaps slot.todos*, which is owned by agent-1")
    );
    agent("agent-2", 0, &["lock", "agent-2", "slot.to*", "--steal"]);
    assert_eq!(world.out(0, &["locks"]), "agent-1 reducer.todo-*\nagent-2 slot.to*\n");
    agent("agent-1", 5, &["replace", "slot.todos2", "Int = 2"]);
    world.out(0, &["unlock", "agent-2", "slot.to*"]);
    agent("agent-1", 0, &["replace", "slot.todos2", "Int = 2"]);
    // A push is judged by the locks of the store it goes to.
    world.out(0, &["snapshot", "copy"]);
    agent("agent-2", 0, &["--store", "copy", "add", "reducer.todo-new", "do="]);
    assert!(agent("agent-2", 5, &["--store", "copy", "op", "push"]).contains("reducer.todo-new is owned by agent-1"));
    world.out(0, &["config", "lock-mode", "off"]);
    agent("agent-2", 0, &["add", "reducer.todo-new", "do="]);
}

#[test]
fn what_merging_left_is_listed_shown_and_issued_again() {
    let world = World::new();
    world.load("slot n = Int = 0\nfn f = () -> Int = 1");
    world.out(0, &["snapshot", "copy"]);
    world.out(0, &["replace", "slot.n", "Int = 1"]);
    world.out(0, &["--store", "copy", "edit", "slot.n", r#"{"init":"set 5"}"#]);
    world.out(0, &["op", "pull", "copy"]);
    let listed = world.out(0, &["conflicts"]);
    assert!(listed.starts_with("W0902@slot.n edit by user:me was made while the body was replaced"), "{listed}");
    let draft = world.out(0, &["fix", "--auto-patch", "W0902@slot.n"]);
    assert_eq!(draft, "{\"op\":\"edit\",\"layer\":\"slot\",\"name\":\"n\",\"patch\":{\"init\":\"set 5\"}}\n");
    assert!(world.out(0, &["conflicts", "show", "W0902@slot.n"]).contains("\"code\": \"W0902\""));
    world.out(0, &["conflicts", "reissue", "W0902@slot.n"]);
    assert_eq!(world.out(0, &["view", "slot.n"]), "slot n = Int = 5\n");
    assert_eq!(world.out(0, &["conflicts"]), "");
    // What is only to be known is put aside in this store.
    world.out(0, &["--store", "copy", "rename", "fn.f", "g"]);
    world.out(0, &["add", "fn.g", "() -> Int = 2"]);
    world.out(0, &["op", "pull", "copy"]);
    let listed = world.out(0, &["conflicts"]);
    let id = listed.split(' ').next().unwrap();
    assert!(id.starts_with("W0905@fn.g__"), "{listed}");
    assert!(world.err(2, &["conflicts", "reissue", id]).contains("holds no op to issue again"));
    world.out(0, &["conflicts", "resolve", id]);
    assert_eq!(world.out(0, &["conflicts"]), "");
    assert!(world.out(0, &["conflicts", "--all"]).contains(id));
}

#[test]
fn a_body_that_lost_is_issued_again_with_the_edits_made_on_it() {
    let world = World::new();
    world.load("slot n = Int = 0");
    world.out(0, &["snapshot", "copy"]);
    let copy = |args: &[&'static str]| [&["--store", "copy"], args].concat();
    world.out(0, &copy(&["replace", "slot.n", "Int = 1"]));
    world.out(0, &copy(&["edit", "slot.n", r#"{"init":"set 5"}"#]));
    world.out(0, &["replace", "slot.n", "Int = 2"]);
    let told = world.err(0, &copy(&["op", "push"]));
    assert!(told.contains("Warning: slot.n: replace by user:me was made while the body was replaced"), "{told}");
    assert!(told.contains("'strand op pull' brings what replaced it"), "{told}");
    let told = world.err(0, &copy(&["op", "pull"]));
    assert_eq!(told.matches("strand conflicts reissue W0902@slot.n").count(), 1, "{told}");
    let drafts = world.out(0, &copy(&["fix", "--auto-patch", "W0902@slot.n"]));
    let body = r#"{"op":"replace","layer":"slot","name":"n","body":"Int = 1"}"#;
    let edit = r#"{"op":"edit","layer":"slot","name":"n","patch":{"init":"set 5"}}"#;
    assert_eq!(drafts, format!("{body}\n{edit}\n"));
    world.out(0, &copy(&["conflicts", "reissue", "W0902@slot.n"]));
    assert_eq!(world.out(0, &copy(&["view", "slot.n"])), "slot n = Int = 5\n");
    assert_eq!(world.out(0, &copy(&["conflicts"])), "");
}

#[test]
fn of_several_texts_that_do_not_show_none_is_lost_by_issuing_one_again() {
    let world = World::new();
    world.load("slot n = Int = 0");
    for copy in ["one", "two"] {
        world.out(0, &["snapshot", copy]);
    }
    world.out(0, &["--store", "one", "replace", "slot.n", "Int = 1"]);
    world.out(0, &["--store", "two", "replace", "slot.n", "Int = 2"]);
    world.out(0, &["replace", "slot.n", "Int = 3"]);
    for copy in ["one", "two"] {
        world.out(0, &["op", "pull", copy]);
    }
    let told = world.err(2, &["conflicts", "reissue", "W0902@slot.n"]);
    assert!(told.contains("W0902@slot.n holds 2 texts; 'strand fix --auto-patch W0902@slot.n'"), "{told}");
    let drafts = world.out(0, &["fix", "--auto-patch", "W0902@slot.n"]);
    let wanted = drafts.lines().find(|draft| draft.contains("Int = 1")).unwrap();
    std::fs::write(world.path().join("draft.json"), wanted).unwrap();
    world.out(0, &["patch", "apply", "draft.json"]);
    assert_eq!(world.out(0, &["view", "slot.n"]), "slot n = Int = 1\n");
    assert_eq!(world.out(0, &["conflicts"]), "");
}

#[test]
fn a_text_that_was_added_twice_is_taken_back() {
    let world = World::new();
    world.out(0, &["snapshot", "copy"]);
    world.out(0, &["--store", "copy", "add", "slot", "n", "Int = 1"]);
    world.out(0, &["add", "slot", "n", "Int = 2"]);
    world.out(0, &["op", "pull", "copy"]);
    let shown = world.out(0, &["view", "slot.n"]);
    let other = if shown == "slot n = Int = 1\n" { "slot n = Int = 2\n" } else { "slot n = Int = 1\n" };
    world.out(0, &["conflicts", "reissue", "W0901@slot.n"]);
    assert_eq!((world.out(0, &["view", "slot.n"]).as_str(), world.out(0, &["conflicts"]).as_str()), (other, ""));
}

#[test]
fn what_is_kept_hides_no_later_conflict_of_the_same_place() {
    let world = World::new();
    world.load("slot n = Int = 0");
    world.out(0, &["snapshot", "copy"]);
    let lose = |theirs: &str, ours: &str| {
        world.out(0, &["replace", "slot.n", ours]);
        world.out(0, &["--store", "copy", "edit", "slot.n", &format!(r#"{{"init":"set {theirs}"}}"#)]);
        world.out(0, &["op", "pull", "copy"]);
        world.out(0, &["conflicts"])
    };
    assert!(lose("5", "Int = 1").starts_with("W0902@slot.n "));
    world.out(0, &["conflicts", "resolve", "W0902@slot.n"]);
    assert_eq!(world.out(0, &["conflicts"]), "");
    let listed = lose("6", "Int = 2");
    assert!(listed.starts_with("W0902@slot.n ") && listed.lines().count() >= 1, "{listed}");
    world.out(0, &["conflicts", "resolve", "W0902@slot.n"]);
    assert_eq!(world.out(0, &["conflicts"]), "");
}

#[test]
fn settings_are_listed_and_the_log_says_what_each_op_is_about() {
    let world = World::new();
    world.out(0, &["config", "author", "agent:a"]);
    let message = world.out(0, &["config"]);
    assert_eq!(
        message,
        "conflict-policy strict\ncapabilities net,storage,clock,random,log\nupstream\nauthor agent:a\nlock-mode enforce\n"
    );
    let listed: serde_json::Value = serde_json::from_str(&world.out(0, &["config", "--json"])).unwrap();
    assert_eq!((listed.as_array().unwrap().len(), listed[3]["value"].as_str()), (5, Some("agent:a")));
    world.out(0, &["add", "slot", "n", "Int = 1"]);
    let log = world.out(0, &["op", "log"]);
    assert!(log.ends_with(" add agent:a slot.n  Int = 1\n"), "{log}");
    let history = world.out(0, &["view", "slot.n", "--history"]);
    assert!(history.ends_with(" add agent:a  Int = 1\n"), "{history}");
    let written = world.out(0, &["op", "bundle", "-o", "ops.jsonl"]);
    assert_eq!(written, "1 op in ops.jsonl\n");
}

#[test]
fn a_refused_push_says_what_to_do_next() {
    let world = World::new();
    world.out(0, &["add", "slot", "draft", "Text = \"\""]);
    world.out(0, &["snapshot", "a"]);
    world.out(0, &["--store", "a", "add", "tile", "T", "input(bind=draft, label=\"d\")"]);
    world.out(0, &["--store", "project.strand", "remove", "slot.draft"]);
    let message = world.err(4, &["--store", "a", "op", "push"]);
    assert!(message.contains("dangling: tile.T:1 -> slot.draft") && message.contains("'strand op pull'"), "{message}");
    let quiet = world.err(4, &["--quiet", "--store", "a", "op", "push"]);
    assert!(quiet.starts_with("Error: dangling: tile.T:1 -> slot.draft") && quiet.lines().count() == 1, "{quiet}");
    world.out(4, &["--store", "a", "op", "pull"]);
    let message = world.err(0, &["--store", "a", "op", "push"]);
    assert!(message.starts_with("the upstream is ") && message.lines().count() == 1, "{message}");
}

#[test]
fn what_was_left_out_or_misspelt_is_reported_with_what_there_is() {
    let world = World::new();
    for (code, args, message) in [
        (2, &["add", "slot"][..], "Error: add needs a layer, a name and a body"),
        (
            2,
            &["add", "slots", "n", "Int = 1"],
            "Error: there is no layer 'slots'; there are type, slot, effect, reducer, tile, fn",
        ),
        (2, &["list", "slots"], "Error: there is no layer 'slots'; there are type, slot"),
        (6, &["op", "merge", "nowhere"], "Error: there is no log nowhere; name another store's op-log.jsonl"),
    ] {
        let err = world.err(code, args);
        assert!(err.starts_with(message), "{err}");
    }
}

#[test]
fn the_present_folder_may_be_a_store() {
    let world = World::new();
    std::fs::create_dir(world.path().join("s")).unwrap();
    let run = |args: &[&str]| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_strand"));
        let output = command.env_clear().env("USER", "me").current_dir(world.path().join("s")).args(args).output();
        let output = output.unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(0), "{args:?}: {said}");
        said
    };
    // It lies beside the store of the world, not in itself.
    assert_eq!(run(&["init", "../s"]), "");
    std::fs::remove_dir_all(world.path().join("s/.strand")).unwrap();
    assert_eq!(run(&["init", "."]), "");
    run(&["--store", ".", "add", "slot.n", "Int = 0"]);
    run(&["--store", ".", "run", "slot.n=1"]);
    run(&["--store", ".", "store", "repair"]);
}
