//! `nebula mcp serve` as another agent's client speaks to it: the archive over pipes, message by message.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use serde_json::{Value, json};

use crate::support::mcp::{CheckedCalls, Client};

/// A workspace and a home, and the real program.
struct World(tempfile::TempDir);

impl World {
    fn new() -> World {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir_all(dir.path().join("work/.git")).unwrap();
        fs::create_dir(dir.path().join("home")).unwrap();
        World(dir)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join("work").join(name)
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).unwrap();
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    fn nebula(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_nebula"));
        command.args(args).current_dir(self.path("")).env_clear().env("HOME", self.0.path().join("home"));
        command
    }

    /// Its exit code and standard error.
    fn failure(&self, args: &[&str]) -> (Option<i32>, String) {
        let output = self.nebula(args).output().unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    }

    #[track_caller]
    fn run(&self, args: &[&str]) -> Output {
        let output = self.nebula(args).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{args:?}: {output:?}");
        output
    }

    fn serve(&self, args: &[&str]) -> Client {
        Client::start(&mut self.nebula(&[&["mcp", "serve"], args].concat()))
    }

    fn client(&self, args: &[&str]) -> Client {
        self.serve(args).greeted("agent")
    }
}

fn yes() -> Value {
    json!({"action": "accept", "content": {"consent": true}})
}

const TOOLS: [&str; 7] = [
    "archive_diff",
    "archive_list",
    "archive_restore",
    "archive_save",
    "archive_show",
    "archive_versions",
    "sessions_search",
];

#[test]
fn every_tool_answers_as_its_schema_says() {
    let world = World::new();
    world.write("a.txt", "one\ntwo\n");
    let mut client = world.serve(&["--sessions"]).with_person(yes()).greeted("My Editor");
    let mut calls = CheckedCalls::of(&mut client);
    assert_eq!(calls.names(), TOOLS);
    for tool in &calls.tools {
        let changes = ["archive_save", "archive_restore"].contains(&tool["name"].as_str().unwrap());
        assert_eq!(tool["annotations"]["readOnlyHint"], !changes);
        assert_eq!(tool["annotations"]["destructiveHint"], tool["name"] == "archive_restore");
    }
    let mut call = |name: &str, arguments: Value| calls.call(&mut client, name, arguments);
    assert_eq!(call("archive_list", json!({})), json!({"changesets": [], "more": false}));
    let saved = call("archive_save", json!({"paths": ["a.txt", "new.txt"], "cause": "write a greeting"}));
    assert_eq!((&saved["files"][0]["absent"], &saved["files"][1]["absent"]), (&json!(false), &json!(true)));
    // Saved again, nothing is added.
    assert_eq!(call("archive_save", json!({"paths": ["new.txt", "./a.txt"]})), saved);
    world.write("a.txt", "one\n2\n");
    world.write("new.txt", "made\n");
    let list = call("archive_list", json!({"path": "a.txt"}));
    assert_eq!(list["changesets"].as_array().unwrap().len(), 1);
    assert_eq!((&list["changesets"][0]["cause"], &list["more"]), (&json!("write a greeting"), &json!(false)));
    let versions = call("archive_versions", json!({"path": "a.txt"}));
    let version = versions["versions"][0]["id"].as_str().unwrap().to_owned();
    assert_eq!((&versions["versions"][0]["bytes"], &saved["files"][0]["version"]), (&json!(8), &json!(version)));
    let shown = call("archive_show", json!({"version": version, "startLine": 2}));
    assert_eq!((&shown["text"], &shown["lines"], &shown["path"]), (&json!("two\n"), &json!(2), &json!("a.txt")));
    let absent = call("archive_show", json!({"version": saved["files"][1]["version"]}));
    assert_eq!((&absent["kind"], absent.get("text")), (&json!("absent"), None));
    let diff = call("archive_diff", json!({"from": version}));
    assert_eq!((&diff["added"], &diff["removed"]), (&json!(1), &json!(1)));
    assert!(diff["diff"].as_str().unwrap().ends_with("@@ -1,2 +1,2 @@\n one\n-two\n+2\n"), "{diff}");
    let preview = call("archive_restore", json!({"changeset": saved["changeset"]}));
    assert_eq!(preview["changeset"], Value::Null);
    assert_eq!(preview["files"][0], json!({"path": "a.txt", "fate": "foreign", "applied": false}));
    assert_eq!(preview["complete"], false);
    assert!(preview["notes"][0].as_str().unwrap().starts_with("a.txt was changed outside nebula and stays as it is"));
    assert_eq!(call("sessions_search", json!({"words": "greeting"})), json!({"hits": []}));
    let recording = world.0.path().join("recording.jsonl");
    let deltas = [json!({"text": "A greeting is a line."}), json!({"end": "stop"})];
    let deltas = deltas.map(|delta| json!({"ms": 0, "delta": delta}).to_string()).join("\n");
    fs::write(&recording, format!("{{\"recording\":1}}\n{{\"step\":1}}\n{deltas}\n")).unwrap();
    world.run(&["task", "what is a greeting?", "--replay", recording.to_str().unwrap()]);
    let hits = call("sessions_search", json!({"words": "greeting line"}));
    assert_eq!((hits["hits"].as_array().unwrap().len(), &hits["hits"][0]["title"]), (1, &json!("what is a greeting?")));
    assert_eq!(calls.called, TOOLS.map(String::from).into());
    assert_eq!(world.read("a.txt"), "one\n2\n");
    assert_eq!(client.end(), (Some(0), String::new()));
    assert!(String::from_utf8(world.run(&["history", "--check"]).stdout).unwrap().starts_with("the archive is intact"));
}

#[test]
fn the_diff_is_one_that_git_takes() {
    let world = World::new();
    world.write("a.txt", "one\ntwo");
    let mut client = world.client(&[]);
    let saved = client.done("archive_save", json!({"paths": ["a.txt"]}));
    world.write("a.txt", "one\n日本\n");
    let diff = client.done("archive_diff", json!({"from": saved["files"][0]["version"]}));
    fs::write(world.path("change.diff"), diff["diff"].as_str().unwrap()).unwrap();
    world.write("a.txt", "one\ntwo");
    fs::remove_dir(world.path(".git")).unwrap();
    let git = Command::new("git").args(["apply", "change.diff"]).current_dir(world.path("")).output().unwrap();
    assert!(git.status.success(), "{git:?}");
    assert_eq!(world.read("a.txt"), "one\n日本\n");
}

/// Saves a file as nebula wrote it, and changes it through `execute` too, so that its present state counts as nebula's.
fn changed(world: &World) {
    world.write("a.txt", "old\n");
    world.run(&["shi", "a.txt"]);
    fs::write(world.0.path().join("edit.diff"), "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-old\n+new\n").unwrap();
    let edit = world.0.path().join("edit.diff");
    world.run(&["patch", "--yes", edit.to_str().unwrap()]);
    assert_eq!(world.read("a.txt"), "new\n");
}

#[test]
fn a_save_that_no_edit_followed_is_passed_over_by_an_undo() {
    let world = World::new();
    changed(&world);
    let mut client = world.client(&[]);
    client.done("archive_save", json!({"paths": ["a.txt"]}));
    world.run(&["undo", "--yes"]);
    assert_eq!(world.read("a.txt"), "old\n");
    world.run(&["shi", "a.txt"]);
    world.run(&["redo", "--yes"]);
    assert_eq!(world.read("a.txt"), "new\n");
    world.run(&["shi", "a.txt"]);
    world.run(&["undo", "a.txt", "--yes"]);
    assert_eq!(world.read("a.txt"), "old\n");
    world.run(&["redo", "--yes"]);
    assert_eq!(world.read("a.txt"), "new\n");
    // The edit that followed one is undone.
    client.done("archive_save", json!({"paths": ["a.txt"]}));
    world.write("a.txt", "other\n");
    world.run(&["undo", "--force"]);
    assert_eq!(world.read("a.txt"), "new\n");
    assert_eq!(client.end().0, Some(0));
    // Where no more than that was saved, that is said.
    let world = World::new();
    world.write("a.txt", "one\n");
    world.run(&["shi", "a.txt"]);
    let undone = world.nebula(&["undo", "--yes"]).output().unwrap();
    let said = String::from_utf8(undone.stderr).unwrap();
    assert!(said.contains("no file was changed after what the archive holds"), "{said}");
}

#[test]
fn a_restore_needs_the_person() {
    let world = World::new();
    changed(&world);
    let back = json!({"path": "a.txt", "count": 1, "apply": true});
    // One that cannot ask is told what the person may run.
    let mut client = world.client(&[]);
    let error = client.refused("archive_restore", back.clone());
    assert_eq!(error["kind"], "consent");
    let said =
        "a restore needs the person: run `nebula undo 1 a.txt`, or serve with --allow-restore; nothing was changed";
    assert_eq!(error["message"], said);
    let newest = client.done("archive_list", json!({"limit": 1}))["changesets"][0]["id"].clone();
    let error = client.refused("archive_restore", json!({"changeset": newest, "apply": true}));
    assert!(error["message"].as_str().unwrap().contains("run `nebula undo`, or"), "{error}");
    assert_eq!(world.read("a.txt"), "new\n");
    assert_eq!(client.end().0, Some(0));
    // A no, a yes without the box ticked, and an answer that is none: nothing happens.
    let noes = [
        json!({"action": "decline"}),
        json!({"action": "cancel"}),
        json!({"action": "accept", "content": {"consent": false}}),
        json!({"action": "accept", "content": {"consent": "true"}}),
        json!({"action": "accept"}),
        json!({"nonsense": 1}),
    ];
    for answer in noes {
        for stateless in [false, true] {
            let client = world.serve(&[]).with_person(answer.clone());
            let mut client = if stateless { client.stateless("agent") } else { client.greeted("agent") };
            if stateless && answer.get("action").is_none() {
                // What is no answer asks anew.
                let mut params = json!({"name": "archive_restore", "arguments": back});
                params["requestState"] = json!("none");
                params["inputResponses"] = json!({"consent": answer});
                let asked = client.ask("tools/call", params);
                assert_eq!(asked["result"]["resultType"], "input_required", "{asked}");
                continue;
            }
            assert_eq!(client.refused("archive_restore", back.clone())["kind"], "refused", "{answer}");
            assert_eq!((world.read("a.txt").as_str(), client.forms.len()), ("new\n", 1));
            assert_eq!(client.end().0, Some(0));
        }
    }
    // A yes, in either era, shows the list and restores; the undo of it is a redo.
    for stateless in [false, true] {
        let client = world.serve(&[]).with_person(yes());
        let mut client = if stateless { client.stateless("My\u{1b}[2J Agent") } else { client.greeted("agent") };
        let done = client.done("archive_restore", back.clone());
        assert_eq!(done["files"], json!([{"path": "a.txt", "fate": "restore", "applied": true}]));
        assert!(done["changeset"].is_string());
        assert_eq!(world.read("a.txt"), "old\n");
        let form = &client.forms[0];
        let text = form["message"].as_str().unwrap();
        assert!(text.contains("wants to restore 1 file in") && text.contains("✓ a.txt  will restore"), "{text}");
        assert!(!text.contains('\u{1b}'), "{text}");
        assert_eq!(form["requestedSchema"]["properties"]["consent"]["type"], "boolean");
        let shown = world.run(&["show", done["changeset"].as_str().unwrap()]);
        assert!(String::from_utf8(shown.stdout).unwrap().contains("approved   person"));
        world.run(&["redo", "--yes"]);
        assert_eq!(world.read("a.txt"), "new\n");
    }
}

#[test]
fn a_flag_allows_restores_but_not_of_what_others_changed() {
    let world = World::new();
    changed(&world);
    let mut client = world.client(&["--allow-restore"]);
    let done = client.done("archive_restore", json!({"path": "a.txt", "apply": true}));
    assert_eq!((world.read("a.txt").as_str(), &done["files"][0]["applied"]), ("old\n", &json!(true)));
    let shown = world.run(&["show", done["changeset"].as_str().unwrap()]);
    assert!(String::from_utf8(shown.stdout).unwrap().contains("approved   flag --allow-restore"));
    // Changed by hand: it stays, unless the person is asked.
    world.write("a.txt", "by hand\n");
    let back = json!({"path": "a.txt", "count": 1, "apply": true});
    let stays = client.refused("archive_restore", back.clone());
    let said = "nothing was restored: a.txt was changed outside nebula and stays as it is; with force it is \
        overwritten, once the person says yes";
    assert_eq!((&stays["kind"], stays["message"].as_str().unwrap()), (&json!("foreign"), said));
    let mut forced = back;
    forced["force"] = json!(true);
    let error = client.refused("archive_restore", forced.clone());
    let said = "a restore needs the person: run `nebula undo 1 a.txt --force`; nothing was changed";
    assert_eq!((&error["kind"], error["message"].as_str().unwrap()), (&json!("consent"), said));
    assert_eq!(world.read("a.txt"), "by hand\n");
    let mut asking = world.serve(&["--allow-restore"]).with_person(yes()).greeted("agent");
    asking.done("archive_restore", forced);
    assert_eq!((world.read("a.txt").as_str(), asking.forms.len()), ("new\n", 1));
    let form = asking.forms[0]["message"].as_str().unwrap();
    assert!(form.contains("! a.txt  changed outside nebula       will be overwritten"), "{form}");
    // What acts later is for the person, too.
    world.write("AGENTS.md", "one\n");
    client.done("archive_save", json!({"paths": ["AGENTS.md"]}));
    world.write("AGENTS.md", "two\n");
    client.done("archive_save", json!({"paths": ["AGENTS.md"]}));
    let error = client.refused("archive_restore", json!({"path": "AGENTS.md", "count": 2, "apply": true}));
    assert_eq!((&error["kind"], world.read("AGENTS.md").as_str()), (&json!("consent"), "two\n"));
    let mut asking = world.serve(&[]).with_person(yes()).greeted("an\u{202e}agent");
    asking.done("archive_restore", json!({"path": "AGENTS.md", "count": 2, "apply": true}));
    let form = asking.forms[0]["message"].as_str().unwrap();
    assert!(form.starts_with("an⟨U+202E⟩agent wants to restore 1 file"), "{form}");
    assert!(form.contains("careful: AGENTS.md acts later"), "{form}");
}

#[test]
fn the_commands_that_a_refusal_names_are_words_of_a_shell() {
    let world = World::new();
    let mut client = world.client(&[]);
    let files = ["my file.txt", "it's.txt", "b.txt"];
    files.iter().for_each(|file| world.write(file, "old\n"));
    let saved = client.done("archive_save", json!({"paths": files}));
    files.iter().for_each(|file| world.write(file, "new\n"));
    world.write("c.txt", "");
    client.done("archive_save", json!({"paths": ["c.txt"]}));
    let restore = json!({"changeset": saved["changeset"], "force": true, "apply": true});
    let error = client.refused("archive_restore", restore);
    let command = r#"nebula undo 1 b.txt 'it'\''s.txt' 'my file.txt' --force"#;
    assert!(error["message"].as_str().unwrap().contains(&format!("run `{command}`;")), "{error}");
}

#[test]
fn flags_that_could_do_nothing_are_wrong_use() {
    let world = World::new();
    for flags in [["--only", "archive", "--store", "x"], ["--only", "strand", "--sessions", "--allow-restore"]] {
        let (code, error) = world.failure(&[&["mcp", "serve"][..], &flags].concat());
        assert_eq!(code, Some(2), "{error}");
        assert!(
            error.contains(&format!(
                "--only {} leaves nothing for {}",
                flags[1],
                flags[2].replace("--sessions", "--allow-restore")
            )),
            "{error}"
        );
    }
}

#[test]
fn a_change_of_someone_else_that_a_restore_can_go_around_is_merged() {
    let world = World::new();
    world.write("a.txt", "old\ntwo\nthree\n");
    let edit = world.0.path().join("edit.diff");
    fs::write(&edit, "--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n-old\n+new\n two\n").unwrap();
    world.run(&["patch", "--yes", edit.to_str().unwrap()]);
    let undo = json!({"path": "a.txt", "count": 1});
    let apply = json!({"path": "a.txt", "count": 1, "apply": true});
    world.write("a.txt", "new\ntwo\nthree\nby hand\n");
    let mut client = world.serve(&[]).with_person(yes()).greeted("agent");
    let preview = client.done("archive_restore", undo);
    let row = |applied| json!({"path": "a.txt", "fate": "foreign", "applied": applied, "merged": "lines"});
    assert_eq!((&preview["files"][0], &preview["complete"]), (&row(false), &json!(true)));
    let done = client.done("archive_restore", apply);
    assert_eq!((&done["files"][0], world.read("a.txt").as_str()), (&row(true), "old\ntwo\nthree\nby hand\n"));
    let form = client.forms[0]["message"].as_str().unwrap();
    assert!(form.contains("! a.txt  changed outside nebula       will be merged: lines"), "{form}");
    world.run(&["undo", "--yes"]);
    assert_eq!(world.read("a.txt"), "new\ntwo\nthree\nby hand\n");
}

#[test]
fn what_changed_while_the_person_was_asked_is_not_overwritten() {
    let world = World::new();
    changed(&world);
    let mut client = world.serve(&[]).with_person(yes()).stateless("agent");
    let mut params = json!({"name": "archive_restore", "arguments": {"path": "a.txt", "apply": true}});
    let asked = client.ask("tools/call", params.clone())["result"].clone();
    world.write("a.txt", "saved meanwhile\n");
    params["inputResponses"] = json!({"consent": yes()});
    params["requestState"] = asked["requestState"].clone();
    let answer = client.ask("tools/call", params.clone())["result"].clone();
    let said: Value = serde_json::from_str(answer["content"][0]["text"].as_str().unwrap()).unwrap();
    assert_eq!((&answer["isError"], &said["error"]["kind"]), (&json!(true), &json!("stale")));
    assert_eq!(world.read("a.txt"), "saved meanwhile\n");
    // A yes counts once: the same request asks anew, and what it would restore is now someone else's.
    let answer = client.ask("tools/call", params)["result"].clone();
    assert!(answer["content"][0]["text"].as_str().unwrap().contains("\"kind\":\"foreign\""), "{answer}");
    assert_eq!(world.read("a.txt"), "saved meanwhile\n");
}

#[test]
fn a_refusal_is_a_result_to_act_on() {
    let world = World::new();
    changed(&world);
    world.write(".env", "KEY=1\n");
    world.write("bytes", "");
    fs::write(world.path("bytes"), [0xff, 0, 1]).unwrap();
    let mut client = world.client(&[]);
    let saved = client.done("archive_save", json!({"paths": [".env", "bytes"]}));
    let of = |path: &str| {
        let file = saved["files"].as_array().unwrap().iter().find(|file| file["path"] == path);
        file.unwrap()["version"].clone()
    };
    let shown = client.done("archive_show", json!({"version": of("bytes")}));
    assert_eq!((&shown["base64"], shown.get("text")), (&json!("/wAB"), None));
    for (tool, arguments, kind) in [
        ("archive_show", json!({"version": of(".env")}), "consent"),
        ("archive_diff", json!({"from": of(".env")}), "consent"),
        ("archive_diff", json!({"from": of("bytes"), "to": of(".env")}), "consent"),
        ("archive_show", json!({"version": "ffff"}), "not-found"),
        ("archive_show", json!({"version": ""}), "not-found"),
        ("archive_show", json!({"version": "0"}), "ambiguous"),
        ("archive_show", json!({"version": saved["changeset"]}), "not-found"),
        ("archive_show", json!({"version": of("bytes"), "startLine": 1}), "usage"),
        ("archive_show", json!({}), "usage"),
        ("archive_versions", json!({}), "usage"),
        ("archive_versions", json!({"path": "../outside"}), "path"),
        ("archive_versions", json!({"path": "/etc/passwd"}), "path"),
        ("archive_list", json!({"limit": 0}), "usage"),
        ("archive_list", json!({"limit": -1}), "usage"),
        ("archive_list", json!({"more": true}), "usage"),
        ("archive_list", json!({"before": "ffff"}), "not-found"),
        ("archive_save", json!({"paths": []}), "usage"),
        ("archive_save", json!({"paths": ["../x"]}), "path"),
        ("archive_save", json!({"paths": [".shaft/lock"]}), "path"),
        ("archive_save", json!({"paths": [""]}), "path"),
        ("archive_restore", json!({}), "usage"),
        ("archive_restore", json!({"path": "a.txt", "count": 0}), "usage"),
        ("archive_restore", json!({"path": "a.txt", "count": 99}), "not-found"),
        ("archive_restore", json!({"path": "a.txt", "version": "0"}), "usage"),
        ("archive_restore", json!({"changeset": "ffff"}), "not-found"),
    ] {
        let error = client.refused(tool, arguments.clone());
        assert_eq!(error["kind"], kind, "{tool} {arguments}: {error}");
        assert!(!error["message"].as_str().unwrap().is_empty());
    }
    for (tool, arguments) in
        [("archive_list", json!({"limit": 0})), ("archive_versions", json!({"path": "a.txt", "limit": 0}))]
    {
        let error = client.refused(tool, arguments);
        assert!(error["message"].as_str().unwrap().ends_with("limit must be at least 1"), "{tool}: {error}");
    }
    let unknown = client.ask("tools/call", json!({"name": "sessions_search", "arguments": {"words": "x"}}));
    assert_eq!(unknown["error"]["code"], -32602);
    assert_eq!(client.end(), (Some(0), String::new()));
}

#[test]
fn changesets_and_versions_are_resources_and_lists_go_on() {
    let world = World::new();
    let mut client = world.client(&[]);
    for n in 0..5 {
        world.write("a.txt", &format!("{n}\n"));
        client.done("archive_save", json!({"paths": ["a.txt"]}));
    }
    let all = client.done("archive_list", json!({}))["changesets"].clone();
    let first = client.done("archive_list", json!({"limit": 2}));
    assert_eq!((&first["changesets"][0], &first["changesets"][1], &first["more"]), (&all[0], &all[1], &json!(true)));
    let rest = client.done("archive_list", json!({"before": all[1]["id"], "path": "a.txt"}));
    assert_eq!((&rest["changesets"][0], &rest["more"]), (&all[2], &json!(false)));
    let versions = client.done("archive_versions", json!({"path": "a.txt", "limit": 3}));
    assert_eq!((versions["versions"].as_array().unwrap().len(), &versions["more"]), (3, &json!(true)));
    let older = client.done("archive_versions", json!({"path": "a.txt", "before": versions["versions"][2]["id"]}));
    assert_eq!((older["versions"].as_array().unwrap().len(), &older["more"]), (2, &json!(false)));
    let listed = client.ask("resources/list", json!({}))["result"].clone();
    assert_eq!((listed["resources"].as_array().unwrap().len(), listed.get("nextCursor")), (5, None));
    let changeset = client.ask("resources/read", json!({"uri": listed["resources"][0]["uri"]}))["result"].clone();
    let changeset: Value = serde_json::from_str(changeset["contents"][0]["text"].as_str().unwrap()).unwrap();
    assert_eq!(changeset, all[0]);
    let uri = format!("shaft:///versions/{}", all[0]["files"][0]["version"].as_str().unwrap());
    let version = client.ask("resources/read", json!({"uri": uri}))["result"].clone();
    assert_eq!(version["contents"][0]["text"], "4\n");
    for uri in ["shaft:///versions/ffff", "shaft:///changesets/ffff", "file:///etc/passwd", ""] {
        assert!(client.ask("resources/read", json!({"uri": uri}))["error"]["code"].is_i64(), "{uri}");
    }
    // What memory forgot, the archive still tells.
    assert_eq!(client.end().0, Some(0));
    fs::remove_dir_all(world.0.path().join("home")).unwrap();
    fs::create_dir(world.0.path().join("home")).unwrap();
    let mut client = world.client(&[]);
    let again = client.done("archive_list", json!({"path": "a.txt"}))["changesets"].clone();
    let ids = |list: &Value| list.as_array().unwrap().iter().map(|c| c["id"].clone()).collect::<Vec<_>>();
    assert_eq!(ids(&again), ids(&all));
    assert_eq!((&again[0]["cause"], &again[1]["files"][0]["added"]), (&Value::Null, &json!(1)));
}

#[cfg(feature = "strand")]
#[test]
fn the_store_of_a_workspace_is_served_beside_the_archive() {
    let world = World::new();
    let mut client = world.client(&[]);
    let names = |client: &mut Client| -> Vec<String> {
        let tools = client.ask("tools/list", json!({}))["result"]["tools"].clone();
        tools.as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(names(&mut client).len(), 6);
    let missing = world.nebula(&["mcp", "serve", "--only", "strand"]).output().unwrap();
    assert_eq!((missing.status.code(), missing.stdout.len()), (Some(6), 0));
    world.run(&["strand", "init"]);
    let mut client = world.client(&[]);
    assert_eq!(names(&mut client).len(), 22);
    client.done("strand_add", json!({"layer": "slot", "name": "n", "body": "Int = 0"}));
    client.done("archive_list", json!({}));
    let listed = client.ask("resources/list", json!({}))["result"].clone();
    let listed = client.ask("resources/list", json!({"cursor": listed["nextCursor"]}))["result"].clone();
    assert_eq!(listed["resources"][0]["uri"], "strand:///slot.n");
    for cursor in ["", "9:", "x:", ":"] {
        let answer = client.ask("resources/list", json!({"cursor": cursor}));
        assert_eq!(answer["error"]["code"], -32602, "{answer}");
    }
    assert_eq!(names(&mut world.client(&["--only", "archive"])).len(), 6);
    assert_eq!(names(&mut world.client(&["--only", "strand"])).len(), 16);
    // One that is damaged is told, and the archive is served all the same.
    fs::write(world.path("project.strand/.strand/op-log.jsonl"), "damage\n").unwrap();
    let mut client = world.client(&[]);
    client.done("archive_list", json!({}));
    assert_eq!(client.end().0, Some(0));
}

#[test]
fn several_servers_share_one_archive() {
    let world = World::new();
    for name in ["one", "two", "three"] {
        world.write(name, "0\n");
    }
    std::thread::scope(|scope| {
        for name in ["one", "two", "three"] {
            let world = &world;
            scope.spawn(move || {
                let mut client = world.client(&["--allow-restore"]);
                for n in 1..=8 {
                    client.done("archive_save", json!({"paths": [name]}));
                    world.write(name, &format!("{n}\n"));
                }
                client.done("archive_save", json!({"paths": [name]}));
                let done = client.done("archive_restore", json!({"path": name, "count": 9, "apply": true}));
                assert_eq!(done["files"][0]["applied"], true, "{done}");
                assert_eq!(client.end(), (Some(0), String::new()));
            });
        }
    });
    let mut client = world.client(&[]);
    for name in ["one", "two", "three"] {
        assert_eq!(world.read(name), "0\n");
        let versions = client.done("archive_versions", json!({"path": name}))["versions"].clone();
        assert_eq!(versions.as_array().unwrap().len(), 10);
    }
    assert!(String::from_utf8(world.run(&["history", "--check"]).stdout).unwrap().starts_with("the archive is intact"));
}

/// The names below nebula's own folder of a workspace: versions, changesets, temporary files.
fn own_names(world: &World) -> BTreeSet<PathBuf> {
    let mut found = BTreeSet::new();
    let mut folders = vec![world.path(".shaft")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                folders.push(entry.path());
            }
            found.insert(entry.path());
        }
    }
    found
}

#[test]
fn a_killed_server_leaves_each_file_old_or_new_and_its_state_archived() {
    let world = World::new();
    let text = |n: usize| format!("{n}\n").repeat(2_000);
    world.write("a.txt", &text(0));
    world.run(&["shi", "a.txt"]);
    for n in 1..12 {
        let mut client = world.client(&["--allow-restore"]);
        let now = world.read("a.txt");
        client.done("archive_save", json!({"paths": ["a.txt"]}));
        world.write("a.txt", &text(n));
        client.done("archive_save", json!({"paths": ["a.txt"]}));
        let mut names = own_names(&world);
        let restore = json!({"name": "archive_restore", "arguments": {"path": "a.txt", "count": 2, "apply": true}});
        client.send(&json!({"jsonrpc": "2.0", "id": 99, "method": "tools/call", "params": restore}).to_string());
        // Killed at the first, second or third name that it makes or removes, once the file is written, or once it has
        // answered.
        let mut left = n % 5;
        while left > 0 && world.read("a.txt") != now {
            let next = own_names(&world);
            left -= usize::from(left < 4 && next != names);
            names = next;
        }
        if n % 5 == 0 {
            client.receive();
        }
        client.kill();
        let then = world.read("a.txt");
        assert!(then == now || then == text(n), "torn after kill {n}");
        let mut client = world.client(&[]);
        let list = client.done("archive_list", json!({}));
        assert!(list["changesets"].as_array().unwrap().len() > n, "{list}");
        let versions = client.done("archive_versions", json!({"path": "a.txt"}))["versions"].clone();
        let newest = client.done("archive_show", json!({"version": versions[0]["id"]}));
        assert!(newest["text"] == now || newest["text"] == text(n));
        assert_eq!(client.end().0, Some(0));
    }
    // What is left of the killed is swept before anything else is written: the last may have left the file as archived.
    world.write("a.txt", "last\n");
    world.run(&["undo", "--yes", "1", "a.txt"]);
    assert!(String::from_utf8(world.run(&["history", "--check"]).stdout).unwrap().starts_with("the archive is intact"));
    let names = fs::read_dir(world.path("")).unwrap().map(|entry| entry.unwrap().file_name());
    assert_eq!(names.collect::<BTreeSet<_>>(), [".git", ".shaft", "a.txt"].map(OsString::from).into());
}

#[test]
fn of_many_restores_that_wait_the_oldest_is_forgotten_and_asks_anew() {
    let world = World::new();
    changed(&world);
    let mut client = world.serve(&[]).with_person(yes()).stateless("agent");
    let params = json!({"name": "archive_restore", "arguments": {"path": "a.txt", "apply": true}});
    let asked: Vec<Value> = (0..5).map(|_| client.ask("tools/call", params.clone())["result"].clone()).collect();
    let answered = |asked: &Value| {
        let mut params = params.clone();
        params["inputResponses"] = json!({"consent": yes()});
        params["requestState"] = asked["requestState"].clone();
        params
    };
    let again = client.ask("tools/call", answered(&asked[0]))["result"].clone();
    assert_eq!((&again["resultType"], world.read("a.txt").as_str()), (&json!("input_required"), "new\n"), "{again}");
    // That question took the place of the second one, and this one that of the third; the fourth still waits.
    let again = client.ask("tools/call", answered(&asked[1]))["result"].clone();
    assert_eq!(again["resultType"], "input_required", "{again}");
    let done = client.ask("tools/call", answered(&asked[3]))["result"].clone();
    assert_eq!(done["structuredContent"]["files"][0]["applied"], true, "{done}");
    assert_eq!(world.read("a.txt"), "old\n");
    assert_eq!(client.end().0, Some(0));
}

/// The values of which hostile arguments are made.
fn values() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_filter_map("a number", |n| serde_json::Number::from_f64(n).map(Value::Number)),
        "\\PC{0,12}|[\u{0}-\u{20}/.~*\\\\]{0,9}|a\\.txt|now|0[0-9a-f-]{0,8}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map("[a-z_]{1,8}", inner, 0..4).prop_map(|map| json!(map)),
        ]
    })
}

#[test]
fn whatever_a_client_sends_is_answered() {
    let world = World::new();
    changed(&world);
    let mut client = world.client(&["--sessions", "--allow-restore"]);
    let keys = "paths|path|version|changeset|count|limit|before|from|to|words|startLine|endLine|apply|force|x";
    let arguments = prop::collection::btree_map(keys, values(), 0..4);
    let method =
        "tools/call|tools/list|resources/list|resources/read|resources/templates/list|ping|prompts/list|[a-z/]{1,9}";
    let messages = (prop::sample::select(TOOLS.to_vec()), arguments, method, values());
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    for _ in 0..300 {
        let (tool, arguments, method, params) = messages.new_tree(&mut runner).unwrap().current();
        client.call(tool, json!(arguments));
        let params = if params.is_object() { params } else { json!({"name": params.clone(), "uri": params}) };
        let answer = client.ask(&method, params);
        assert!(answer["result"].is_object() || answer["error"]["code"].is_i64(), "{method}: {answer}");
    }
    // Lines that are no messages are answered without an id, in their order.
    for (line, code) in [("{", -32700), ("[]", -32600), ("{\"jsonrpc\":\"2.0\"}", -32600), ("\u{fffd}", -32700)] {
        client.send(line);
        let answer = client.receive();
        assert_eq!((&answer["error"]["code"], answer.get("id")), (&json!(code), None), "{line}");
    }
    client.send_bytes(&[0xff, 0xfe, 0]);
    assert_eq!(client.receive()["error"]["code"], -32700);
    client.send_bytes(&vec![b'x'; (16 << 20) + 1]);
    assert_eq!(client.receive()["error"]["code"], -32600);
    client.send("{\"jsonrpc\":\"2.0\",\"id\":900,\"method\":\"tools/call\",\"params\":{\"name\":7}}");
    let answer = client.receive();
    assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!(900), &json!(-32602)));
    // Notifications and answers to nothing are passed over.
    for line in ["{\"jsonrpc\":\"2.0\",\"method\":\"notifications/x\"}", "{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{}}"]
    {
        client.send(line);
    }
    assert_eq!(client.ask("ping", json!({}))["result"], json!({}));
    assert_eq!(client.end(), (Some(0), String::new()));
    assert!(String::from_utf8(world.run(&["history", "--check"]).stdout).unwrap().starts_with("the archive is intact"));
}

#[test]
fn a_message_before_the_first_request_does_not_end_the_server() {
    let world = World::new();
    let mut client = world.serve(&[]);
    client.send("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}");
    client.send("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}");
    client.send("nonsense");
    assert_eq!(client.receive()["error"]["code"], -32700);
    assert_eq!(client.ask("ping", json!({}))["result"], json!({}));
    assert_eq!(client.ask("tools/list", json!({}))["error"]["code"], -32602);
    let version = client.greet("2024-11-05", "old");
    assert_eq!((&version["protocolVersion"], &version["serverInfo"]["name"]), (&json!("2025-11-25"), &json!("nebula")));
    client.done("archive_list", json!({}));
    assert_eq!(client.end(), (Some(0), String::new()));
}
