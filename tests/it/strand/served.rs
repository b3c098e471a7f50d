//! `strand mcp serve` as an agent's client speaks to it: one process over pipes, message by message.

use std::io::Write;
use std::process::{Command, Stdio};
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};

use super::world::{TODO, World};
use crate::support::mcp::{CheckedCalls, Client};

/// Starts a server of the world's store.
fn start(world: &World, args: &[&str]) -> Client {
    let mut command = Command::new(env!("CARGO_BIN_EXE_strand"));
    command.args(["mcp", "serve", "--store"]).arg(world.path().join("project.strand")).args(args);
    Client::start(command.env_remove("STRAND_AUTHOR"))
}

/// One whose client shook hands.
fn greeted(world: &World, name: &str) -> Client {
    start(world, &[]).greeted(name)
}

const TOOLS: [&str; 16] = [
    "strand_add",
    "strand_check",
    "strand_conflicts",
    "strand_edit",
    "strand_episode",
    "strand_fix",
    "strand_history",
    "strand_list",
    "strand_patch_apply",
    "strand_refs",
    "strand_remove",
    "strand_rename",
    "strand_replace",
    "strand_run",
    "strand_sync",
    "strand_view",
];

#[test]
fn every_tool_answers_as_its_schema_says() {
    let world = World::new();
    world.load(TODO);
    let mut client = greeted(&world, "My Editor");
    let mut calls = CheckedCalls::of(&mut client);
    assert_eq!(calls.names(), TOOLS);
    for tool in &calls.tools {
        assert_eq!(tool["annotations"]["destructiveHint"], tool["name"] == "strand_remove");
    }
    let mut call = |name: &str, arguments: Value| calls.call(&mut client, name, arguments);
    let seen = call("strand_view", json!({"selector": "slot.draft", "units": true}));
    assert_eq!(seen["definitions"][0]["text"], "slot draft = Text = \"\"\n");
    assert_eq!(seen["definitions"][0]["units"][0]["unit"], 1);
    let page = call("strand_list", json!({"limit": 3}));
    assert_eq!(page["names"], json!(["type.Filter", "type.Todo", "type.TodoId"]));
    let first = call("strand_list", json!({"layer": "slot", "limit": 2}));
    let page = call("strand_list", json!({"layer": "slot", "limit": 2, "cursor": first["next_cursor"]}));
    assert_eq!((&page["names"], page.get("next_cursor")), (&json!(["slot.shown", "slot.todos"]), None));
    let added = call("strand_add", json!({"layer": "fn", "name": "twice", "body": "(n: Int) -> Int = n * too"}));
    assert_eq!(added["diagnostics"][0]["code"], "E0103");
    let checked = call("strand_check", json!({"scope": "refs"}));
    assert_eq!((&checked["clean"], &checked["errors"][0]["location"]), (&json!(false), &json!("fn.twice.body:1")));
    let hash = added["hash"].clone();
    let edited = call("strand_edit", json!({"qname": "fn.twice", "patch": {"expr": "set n * 2"}, "expect_hash": hash}));
    assert_eq!(edited["diagnostics"], json!([]));
    assert_eq!(call("strand_check", json!({}))["clean"], true);
    call("strand_replace", json!({"qname": "fn.twice", "body": "(n: Int) -> Int = n + n"}));
    call("strand_rename", json!({"qname": "fn.twice", "new_name": "doubled"}));
    let history = call("strand_history", json!({"qname": "fn.doubled"}));
    let kinds: Vec<&str> = history["ops"].as_array().unwrap().iter().map(|op| op["op"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["add", "edit", "replace", "rename"]);
    assert_eq!(history["ops"][0]["author"], "agent:My-Editor");
    let refs = call("strand_refs", json!({"qname": "slot.shown"}));
    assert_eq!(refs["refs"][0], json!({"from": "reducer.pick", "unit": "1", "kind": "ref", "text": "shown := f"}));
    let removed = call("strand_remove", json!({"qname": "fn.doubled"}));
    assert_eq!(removed["removed"], json!(["fn.doubled"]));
    let draft = json!({"op": "add", "layer": "slot", "name": "late", "body": "Int = lte"});
    let applied = call("strand_patch_apply", json!({"ops": [draft]}));
    assert_eq!(applied["accepted"].as_array().unwrap().len(), 1);
    assert_eq!(applied["diagnostics"][0]["code"], "E0103");
    call("strand_replace", json!({"qname": "slot.late", "body": "Option(Int) = null"}));
    assert_eq!(call("strand_fix", json!({"error_code": "E0403"}))["patches"].as_array().unwrap().len(), 1);
    let fixed = call("strand_fix", json!({"error_code": "E0403", "apply": true}));
    assert_eq!((fixed["applied"].as_array().unwrap().len(), &fixed["left"]), (1, &json!(0)));
    let ran = call("strand_run", json!({"event": "slot.draft=\"milk\""}));
    assert_eq!(ran["status"], "done");
    assert_eq!(call("strand_episode", json!({"episode_id": "latest"}))["episode"], ran["episode"]);
    assert_eq!(call("strand_conflicts", json!({}))["conflicts"], json!([]));
    assert_eq!(call("strand_sync", json!({"dry_run": true}))["ops"], 0);
    assert_eq!(calls.called, TOOLS.map(String::from).into());
    assert_eq!(client.end(), (Some(0), String::new()));
    assert_eq!(world.out(0, &["store", "verify"]).split(' ').next(), Some("ok"));
}

#[test]
fn what_breaks_by_a_removal_or_by_ops_is_answered() {
    let world = World::new();
    world.load(TODO);
    let mut client = greeted(&world, "a");
    let removed = client.done("strand_remove", json!({"qname": "slot.shown", "force": true}));
    let about = |answer: &Value| -> Vec<(String, String)> {
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let all = answer["diagnostics"].as_array().unwrap().iter();
        all.map(|one| (text(&one["code"]), text(&one["location"]))).collect()
    };
    let broken = about(&removed);
    for name in ["reducer.pick.", "tile.App."] {
        assert!(broken.iter().any(|(code, at)| code == "E0501" && at.starts_with(name)), "{broken:?}");
    }
    let checked: Vec<(String, String)> =
        about(&json!({"diagnostics": client.done("strand_check", json!({}))["errors"]}));
    assert!(broken.iter().all(|one| checked.contains(one)), "{broken:?} {checked:?}");
    // Sealed ops of another store.
    let other = World::new();
    other.load(TODO);
    let ops: Vec<Value> =
        other.out(0, &["--json", "op", "log"]).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    other.out(0, &["add", "slot.lost", "Int = nowhere"]);
    let all: Vec<Value> =
        other.out(0, &["--json", "op", "log"]).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let sealed = &all[ops.len()..];
    let applied = client.done("strand_patch_apply", json!({"ops": sealed}));
    assert_eq!(about(&applied).iter().map(|(code, _)| code.as_str()).collect::<Vec<_>>(), ["E0103"], "{applied}");
    assert_eq!(client.done("strand_patch_apply", json!({"ops": sealed}))["diagnostics"], json!([]), "known before");
    client.end();
}

#[test]
fn a_refusal_is_a_result_to_act_on() {
    let world = World::new();
    world.load(TODO);
    let mut client = greeted(&world, "a");
    let error = client.refused("strand_view", json!({"selector": "slot.draf"}));
    assert_eq!((&error["kind"], &error["details"]["did_you_mean"]), (&json!("not-found"), &json!("slot.draft")));
    let error = client.refused("strand_remove", json!({"qname": "slot.shown"}));
    assert_eq!(error["details"]["referenced_by"], json!(["reducer.pick:1", "tile.App:4"]));
    assert!(error["message"].as_str().unwrap().starts_with("cannot remove slot.shown (referenced by 1 reducer"));
    let both = json!({"qname": "slot.shown", "cascade": true, "force": true});
    assert_eq!(client.refused("strand_remove", both)["kind"], "usage");
    let stale = json!({"qname": "slot.draft", "body": "Text = \"x\"", "expect_hash": "h:00"});
    let error = client.refused("strand_replace", stale.clone());
    assert_eq!(error["kind"], "stale");
    let mut again = stale;
    again["expect_hash"] = error["details"]["hash"].clone();
    client.done("strand_replace", again);
    for arguments in [json!({}), json!({"qname": 1, "body": ""}), json!({"qname": "slot.draft", "body": "", "x": 1})] {
        assert_eq!(client.refused("strand_replace", arguments)["kind"], "usage");
    }
    let error = client.refused("strand_add", json!({"layer": "slot", "name": "n", "body": "Int = ="}));
    assert_eq!(error["kind"], "syntax");
    assert!(error["details"]["faults"][0].as_str().unwrap().contains("slot.n.body:1:7"));
    assert_eq!(client.refused("strand_list", json!({"cursor": "zz"}))["kind"], "usage");
    // What no tool could answer is a fault of the protocol.
    let answer = client.ask("tools/call", json!({"name": "strand_nothing", "arguments": {}}));
    assert_eq!(answer["error"]["code"], -32602);
    assert_eq!(client.ask("nothing/there", json!({}))["error"]["code"], -32601);
    world.out(0, &["lock", "someone", "slot.*"]);
    assert_eq!(client.refused("strand_rename", json!({"qname": "slot.draft", "new_name": "d"}))["kind"], "locked");
}

#[test]
fn both_eras_of_the_protocol_are_answered() {
    let world = World::new();
    world.load(TODO);
    for (asked, answered) in [("2025-06-18", "2025-06-18"), ("2025-11-25", "2025-11-25"), ("2024-11-05", "2025-11-25")]
    {
        let mut client = start(&world, &[]);
        let result = client.greet(asked, "old");
        assert_eq!((&result["protocolVersion"], &result["serverInfo"]["name"]), (&json!(answered), &json!("strand")));
        assert!(client.done("strand_list", json!({}))["names"].is_array());
        assert_eq!(client.end().0, Some(0));
    }
    let mut client = start(&world, &[]).stateless("new");
    let found = client.ask("server/discover", json!({}))["result"].clone();
    assert_eq!(found["supportedVersions"], json!(["2025-06-18", "2025-11-25", "2026-07-28"]));
    let tools = client.ask("tools/list", json!({}));
    assert_eq!(tools["result"]["tools"].as_array().unwrap().len(), TOOLS.len());
    client.done("strand_add", json!({"layer": "slot", "name": "n", "body": "Int = 0"}));
    let history = client.done("strand_history", json!({"qname": "slot.n"}));
    assert_eq!(history["ops"][0]["author"], "agent:new");
    assert_eq!(client.end().0, Some(0));
}

#[test]
fn definitions_are_resources() {
    let world = World::new();
    let draft = |n| json!({"op": "add", "layer": "slot", "name": format!("s{n}"), "body": format!("Int = {n}")});
    let many: Vec<Value> = (0..250).map(draft).collect();
    std::fs::write(world.path().join("many.json"), Value::Array(many).to_string()).unwrap();
    world.out(0, &["patch", "apply", "many.json"]);
    let mut client = greeted(&world, "a");
    let first = client.ask("resources/list", json!({}))["result"].clone();
    assert_eq!(first["resources"].as_array().unwrap().len(), 200);
    let second = client.ask("resources/list", json!({"cursor": first["nextCursor"]}))["result"].clone();
    assert_eq!((second["resources"].as_array().unwrap().len(), second.get("nextCursor")), (50, None));
    let read = client.ask("resources/read", json!({"uri": "strand:///slot.s7"}));
    assert_eq!(read["result"]["contents"][0]["text"], "slot s7 = Int = 7\n");
    assert!(client.ask("resources/read", json!({"uri": "strand:///slot.none"}))["error"]["code"].is_i64());
    assert!(client.ask("resources/read", json!({"uri": "file:///etc/passwd"}))["error"]["code"].is_i64());
    let templates = client.ask("resources/templates/list", json!({}))["result"].clone();
    assert_eq!(templates["resourceTemplates"][0]["uriTemplate"], "strand:///{layer}.{name}");
}

#[test]
fn a_page_begins_after_the_entry_that_the_one_before_ended_with() {
    let world = World::new();
    world.load(TODO);
    let mut client = greeted(&world, "a");
    let first = client.done("strand_list", json!({"limit": 2}));
    let viewed = client.done("strand_view", json!({"selector": "*", "limit": 2}));
    assert_eq!(first["names"], json!(["type.Filter", "type.Todo"]));
    // What is new before the end of the page moves nothing.
    client.done("strand_add", json!({"layer": "type", "name": "A", "body": "Int"}));
    let next = client.done("strand_list", json!({"limit": 1, "cursor": first["next_cursor"]}));
    assert_eq!(next["names"], json!(["type.TodoId"]));
    let next = client.done("strand_view", json!({"selector": "*", "limit": 1, "cursor": viewed["next_cursor"]}));
    assert_eq!(next["definitions"][0]["qname"], "type.TodoId");
    client.done("strand_remove", json!({"qname": "type.A"}));
    // The entry itself may be gone.
    client.done("strand_add", json!({"layer": "type", "name": "Tod", "body": "Int"}));
    let page = client.done("strand_list", json!({"limit": 2}));
    client.done("strand_remove", json!({"qname": "type.Tod"}));
    let next = client.done("strand_list", json!({"limit": 1, "cursor": page["next_cursor"]}));
    assert_eq!(next["names"], json!(["type.Todo"]));
    client.done("strand_replace", json!({"qname": "slot.draft", "body": "Text = \"x\""}));
    let ops = client.done("strand_history", json!({"qname": "slot.draft", "limit": 1}));
    let rest = client.done("strand_history", json!({"qname": "slot.draft", "limit": 1, "cursor": ops["next_cursor"]}));
    assert_eq!((&ops["ops"][0]["op"], &rest["ops"][0]["op"]), (&json!("add"), &json!("replace")));
    assert_eq!(client.refused("strand_history", json!({"qname": "slot.draft", "cursor": "x"}))["kind"], "usage");
    for (tool, arguments) in [
        ("strand_view", json!({"selector": "*", "limit": 0})),
        ("strand_list", json!({"limit": 0})),
        ("strand_check", json!({"limit": 0})),
        ("strand_history", json!({"qname": "slot.draft", "limit": 0})),
    ] {
        let error = client.refused(tool, arguments);
        let message = error["message"].as_str().expect("a text");
        assert!(error["kind"] == "usage" && message.ends_with("limit must be at least 1"), "{tool}: {error}");
    }
    assert_eq!(client.end().0, Some(0));
}

#[test]
fn several_servers_serve_one_store() {
    let world = World::new();
    world.load("slot shared = Int = 0\n");
    let mut one = greeted(&world, "one");
    let mut two = greeted(&world, "two");
    one.done("strand_replace", json!({"qname": "slot.shared", "body": "Int = 1"}));
    let seen = two.done("strand_view", json!({"selector": "slot.shared"}));
    assert_eq!(seen["definitions"][0]["text"], "slot shared = Int = 1\n");
    two.done("strand_rename", json!({"qname": "slot.shared", "new_name": "both"}));
    assert_eq!(one.done("strand_list", json!({}))["names"], json!(["slot.both"]));
    std::thread::scope(|scope| {
        for (name, client) in [("one", one), ("two", two)] {
            scope.spawn(move || {
                let mut client = client;
                for n in 0..15 {
                    client
                        .done("strand_add", json!({"layer": "slot", "name": format!("{name}{n}"), "body": "Int = 0"}));
                    client.done("strand_replace", json!({"qname": "slot.both", "body": format!("Int = {n}")}));
                }
                assert_eq!(client.end(), (Some(0), String::new()));
            });
        }
    });
    assert_eq!(world.out(0, &["list"]).lines().count(), 31);
    assert_eq!(world.out(0, &["op", "log"]).lines().count(), 3 + 60);
    assert_eq!(world.out(0, &["store", "verify"]).split(' ').next(), Some("ok"));
}

#[test]
fn a_server_that_only_reads_offers_nothing_else() {
    let world = World::new();
    world.load(TODO);
    let mut client = start(&world, &["--read-only"]);
    client.greet("2025-11-25", "a");
    let tools = client.ask("tools/list", json!({}))["result"]["tools"].as_array().unwrap().clone();
    assert!(tools.iter().all(|tool| tool["annotations"]["readOnlyHint"] == true));
    assert_eq!(tools.len(), 6);
    let answer = client.ask("tools/call", json!({"name": "strand_remove", "arguments": {"qname": "slot.draft"}}));
    assert_eq!(answer["error"]["code"], -32602);
}

#[test]
fn invalid_messages_do_not_end_the_server() {
    let world = World::new();
    world.load(TODO);
    let mut client = greeted(&world, "a");
    let deep = "[".repeat(5_000);
    for line in ["", "{", "nonsense", "[1,2]", "null", &deep, "{\"jsonrpc\":\"2.0\"}", "{\"jsonrpc\":\"1.0\",\"id\":1}"]
    {
        client.send(line);
    }
    client.send("{\"jsonrpc\":\"2.0\",\"id\":900,\"method\":\"tools/call\",\"params\":{\"name\":7}}");
    // Arguments of every shape, in every tool: each is answered.
    for tool in TOOLS {
        for arguments in
            [json!({}), json!({"qname": []}), json!({"selector": "\u{0}", "limit": -1}), json!({"ops": [1]})]
        {
            client.call(tool, arguments);
        }
    }
    assert_eq!(client.done("strand_list", json!({"layer": "slot"}))["names"].as_array().unwrap().len(), 4);
    assert_eq!(client.end().0, Some(0));
}

#[test]
fn a_cancelled_call_is_stopped_or_never_begun() {
    let world = World::new();
    world.load("slot n = Int = 0\n");
    let mut client = start(&world, &["--lock-timeout", "100000"]).greeted("a");
    let lock = std::fs::File::options().write(true).open(world.path().join("project.strand/.strand/lock")).unwrap();
    lock.lock().unwrap();
    let call = |id: &str, body: &str| {
        let arguments = json!({"qname": "slot.n", "body": body});
        let params = json!({"name": "strand_replace", "arguments": arguments});
        json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}).to_string()
    };
    let cancel = |id: &str| {
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}}).to_string()
    };
    // The first waits for the lock, the second for the first.
    client.send(&call("one", "Int = 1"));
    client.send(&call("two", "Int = 2"));
    for id in ["two", "one", "one", "none"] {
        client.send(&cancel(id));
    }
    // The lock is still held: without the word of the client the first would wait on, and this behind it.
    let seen = client.done("strand_view", json!({"selector": "slot.n"}));
    assert_eq!(seen["definitions"][0]["text"], "slot n = Int = 0\n");
    drop(lock);
    client.done("strand_replace", json!({"qname": "slot.n", "body": "Int = 3"}));
    assert_eq!(client.end(), (Some(0), String::new()));
    assert_eq!(world.out(0, &["op", "log"]).lines().count(), 2);
}

#[test]
fn a_log_that_is_damaged_while_it_is_served_is_read_up_to_there_and_not_written() {
    let world = World::new();
    for name in ["a", "b", "c"] {
        world.out(0, &["add", &format!("slot.{name}"), &format!("Text = \"of {name}\"")]);
    }
    let mut client = greeted(&world, "editor");
    assert_eq!(client.done("strand_list", json!({}))["names"], json!(["slot.a", "slot.b", "slot.c"]));
    let log = world.path().join("project.strand/.strand/op-log.jsonl");
    let damaged = std::fs::read_to_string(&log).unwrap().replacen("of b", "of x", 1);
    let mut file = std::fs::OpenOptions::new().write(true).open(&log).unwrap();
    file.write_all(damaged.as_bytes()).unwrap();
    // Two writes within one tick of the clock may have the same time.
    file.set_modified(SystemTime::now() + Duration::from_secs(1)).unwrap();
    let add = json!({"layer": "slot", "name": "d", "body": "Int = 1"});
    for mut client in [client, greeted(&world, "another")] {
        let refusal = client.refused("strand_add", add.clone());
        assert_eq!(refusal["kind"], "corrupt", "{refusal}");
        let words = "op-log.jsonl line 5: the sum does not hold; nothing was written: run 'strand store repair'";
        assert!(refusal["message"].as_str().unwrap().contains(words), "{refusal}");
        assert_eq!(client.done("strand_list", json!({}))["names"], json!(["slot.a"]));
        let answer = client.ask("tools/call", json!({"name": "strand_list", "arguments": {}}));
        let note = answer["result"]["content"][1]["text"].as_str().unwrap_or_default();
        assert!(note.contains(words), "{answer}");
        let (code, told) = client.end();
        assert_eq!(code, Some(0));
        assert!(told.contains(words), "{told}");
    }
    assert_eq!(std::fs::read_to_string(&log).unwrap(), damaged);
}

#[test]
fn a_store_that_is_not_there_is_reported_before_anything_else() {
    let dir = tempfile::tempdir().unwrap();
    let out = Command::new(env!("CARGO_BIN_EXE_strand"))
        .args(["mcp", "serve", "--store"])
        .arg(dir.path().join("none"))
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert_eq!((out.status.code(), out.stdout.len()), (Some(6), 0));
    assert!(String::from_utf8_lossy(&out.stderr).contains("there is no store in"));
}
