//! `strand code rename --server`, with a scripted language server: what it may do, and what becomes of a bad one.

use std::fs;
use std::io::Read;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::thread;

use serde_json::{Value, json};

const CART: &str = "pub struct Cart;\n\nimpl Cart {\n    pub fn total(&self) -> u64 {\n        1\n    }\n}\n";
const MAIN: &str = "mod cart;\nfn é(c: &cart::Cart) -> u64 {\n    /* 𝄞 */ c.total()\n}\n";
const SELECTOR: &str = "src/cart.rs::Cart.total";

/// The script of a server. `$1` of `say` is a message; the texts of `case` are what it answers with.
const SERVER: &str = r#"#!/bin/sh
cd "${0%/*}"
exec 9<>alive
say() { printf 'Content-Length: %s\r\n\r\n%s' "${#1}" "$1"; }
say '{"jsonrpc":"2.0","id":"c","method":"workspace/configuration","params":{"items":[{},{}]}}'
while read -r header; do
  length=${header#*: }
  read -r empty
  body=$(head -c "${length%?}")
  printf '%s\n' "$body" >> heard
  id=${body#*\"id\":}; id=${id%%,*}
  case $body in
    *'"method":"initialize"'*) say '{"jsonrpc":"2.0","id":'"$id"',"result":{"capabilities":{"renameProvider":true}}}' ;;
    *'"method":"textDocument/rename"'*)
      say '{"jsonrpc":"2.0","id":"a","method":"workspace/applyEdit","params":{"edit":{}}}'
      RENAME ;;
    *'"method":"shutdown"'*) say '{"jsonrpc":"2.0","id":'"$id"',"result":null}' ;;
    *'"method":"exit"'*) exit 0 ;;
  esac
done
"#;

struct World {
    dir: tempfile::TempDir,
}

impl World {
    /// A workspace with a definition that the text alone cannot rename.
    fn new() -> World {
        let world = World { dir: tempfile::tempdir().expect("a folder") };
        for folder in ["work/.git", "work/src", "work/target", "home/.nebula"] {
            fs::create_dir_all(world.path(folder)).expect("made");
        }
        let texts = [("Cargo.toml", "[package]\nname = \"shop\"\n"), ("src/cart.rs", CART), ("src/main.rs", MAIN)];
        let ignored = [(".gitignore", "/target\n"), ("target/made.rs", "fn made() {}\n")];
        for (name, text) in texts.iter().chain(&ignored) {
            fs::write(world.path("work").join(name), text).expect("written");
        }
        world
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// Configures the server for the person, who trusts the folder or does not.
    fn configured(self, trusted: bool) -> World {
        let work = self.path("work").canonicalize().expect("a path");
        let trusted: Vec<PathBuf> = trusted.then_some(work).into_iter().collect();
        let config = json!({"trusted": trusted, "lsp": self.server()});
        fs::write(self.path("home/.nebula/config.json"), config.to_string()).expect("written");
        self
    }

    fn server(&self) -> Value {
        json!({"own": {"command": [self.path("server.sh")], "globs": ["*.rs", "*.ts"]}})
    }

    /// Writes the server; it answers a rename as these lines of shell do.
    fn answering(&self, rename: &str) {
        let script = SERVER.replace("RENAME", rename);
        fs::write(self.path("server.sh"), script).expect("written");
        fs::set_permissions(self.path("server.sh"), fs::Permissions::from_mode(0o755)).expect("set");
        if !self.path("alive").exists() {
            assert!(Command::new("mkfifo").arg(self.path("alive")).status().expect("it runs").success());
        }
    }

    /// Waits until no process holds the pipe: the server is gone, and what it started. A test that waits for ever fails.
    fn wait_until_gone(&self) {
        let flags = i32::try_from(rustix::fs::OFlags::NONBLOCK.bits()).expect("small");
        let mut held = fs::File::options().read(true).custom_flags(flags).open(self.path("alive")).expect("opened");
        while held.read(&mut [0]).is_err() {
            thread::yield_now();
        }
    }

    /// The words of a server that answers with this edit.
    fn edit(&self, edit: &Value) -> String {
        let answer = json!({"jsonrpc": "2.0", "id": "ID", "result": edit}).to_string();
        format!("say '{}'", answer.replace("\"ID\"", "'\"$id\"'"))
    }

    fn uri(&self, name: &str) -> String {
        format!("file://{}", self.path("work").canonicalize().expect("a path").join(name).display())
    }

    /// The edit of the definition and of its mention, whose columns are counted in UTF-16.
    fn right(&self) -> Value {
        json!({"changes": {
            self.uri("src/cart.rs"): [at(3, 11, 16)],
            self.uri("src/main.rs"): [at(2, 15, 20)],
        }})
    }

    fn command(&self, words: &[&str]) -> Command {
        self.command_of(SELECTOR, words)
    }

    fn command_of(&self, selector: &str, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_strand"));
        command.args([&["code", "rename", selector, "sum"], words].concat()).current_dir(self.path("work"));
        command.env_clear().env("HOME", self.path("home")).env("SHOP_TOKEN", "secret");
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    #[track_caller]
    fn rename(&self, exit: i32, words: &[&str]) -> (Value, String) {
        self.rename_of(SELECTOR, exit, words)
    }

    #[track_caller]
    fn rename_of(&self, selector: &str, exit: i32, words: &[&str]) -> (Value, String) {
        let mut command = self.command_of(selector, &[&["--json"], words].concat());
        let Output { status, stdout, stderr } = command.output().expect("it runs");
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("text");
        let (out, err) = (text(stdout), text(stderr));
        assert_eq!(status.code(), Some(exit), "{out}{err}");
        (serde_json::from_str(&out).unwrap_or_else(|error| panic!("{error}: {out}{err}")), err)
    }

    fn texts(&self) -> [String; 2] {
        ["work/src/cart.rs", "work/src/main.rs"].map(|name| fs::read_to_string(self.path(name)).expect("there"))
    }

    fn heard(&self) -> String {
        fs::read_to_string(self.path("heard")).unwrap_or_default()
    }
}

/// An edit of one line.
fn at(line: usize, from: usize, to: usize) -> Value {
    json!({"range": {"start": {"line": line, "character": from}, "end": {"line": line, "character": to}}, "newText": "sum"})
}

#[test]
fn the_edit_of_a_server_is_a_change_like_any_other() {
    let world = World::new().configured(true);
    world.answering("exit 1");
    // Without being asked for it is not started, but named.
    let (refused, told) = world.rename(3, &["--yes"]);
    assert_eq!(refused["error"]["kind"], "unresolved");
    assert!(
        told.contains("1 of 1 mentions cannot be resolved") && told.ends_with("may tell them: add --server\n"),
        "{told}"
    );
    world.answering(&world.edit(&world.right()));
    let (dry, _) = world.rename(0, &["--server", "--dry-run"]);
    world.wait_until_gone();
    assert_eq!((&dry["server"], &dry["left"], &dry["op-id"]), (&json!("own"), &json!([]), &Value::Null));
    assert_eq!(world.texts(), [CART, MAIN]);
    // It was shown the texts, asked at the name, and answered what it asked.
    let heard: Vec<Value> = world.heard().lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let said = |key: &str, value: &Value| heard.iter().find(|one| one[key] == *value).cloned().unwrap_or_default();
    assert_eq!(said("method", &"initialize".into())["params"]["rootUri"], world.uri("").trim_end_matches('/'));
    assert_eq!(said("id", &"c".into())["result"], json!([null, null]));
    assert_eq!(said("id", &"a".into())["result"]["applied"], false);
    assert_eq!(said("method", &"textDocument/didOpen".into())["params"]["textDocument"]["text"], CART);
    let asked = &said("method", &"textDocument/rename".into())["params"];
    assert_eq!((&asked["position"], &asked["newName"]), (&json!({"line": 3, "character": 11}), &json!("sum")));
    // Nobody is asked here, so nothing is written without the flag.
    world.answering(&world.edit(&world.right()));
    assert_eq!(world.rename(3, &["--server"]).0["error"]["kind"], "consent");
    world.wait_until_gone();
    world.answering(&world.edit(&world.right()));
    let (done, _) = world.rename(0, &["--server", "--yes"]);
    world.wait_until_gone();
    assert_eq!(done["changed"], json!([{"path": "src/cart.rs", "count": 1}, {"path": "src/main.rs", "count": 1}]));
    assert_eq!(done["id"], "src/cart.rs::Cart.sum");
    assert_eq!(world.texts(), [CART.replace("total", "sum"), MAIN.replace("total", "sum")]);
    let mut undo = Command::new(env!("CARGO_BIN_EXE_nebula"));
    undo.args(["undo", "--yes"]).current_dir(world.path("work")).env_clear().env("HOME", world.path("home"));
    assert!(undo.output().expect("it runs").status.success());
    assert_eq!(world.texts(), [CART, MAIN]);
}

#[test]
fn nothing_is_started_in_a_folder_that_is_not_trusted() {
    let world = World::new().configured(false);
    // The file of the workspace has no say either.
    fs::create_dir(world.path("work/.nebula")).expect("made");
    let own = json!({"trusted": [world.path("work").canonicalize().expect("a path")], "lsp": world.server()});
    fs::write(world.path("work/.nebula/config.json"), own.to_string()).expect("written");
    fs::write(world.path("server.sh"), "#!/bin/sh\ntouch \"$(dirname \"$0\")/heard\"\n").expect("written");
    fs::set_permissions(world.path("server.sh"), fs::Permissions::from_mode(0o755)).expect("set");
    let (refused, told) = world.rename(3, &["--server", "--yes"]);
    assert_eq!(refused["error"]["kind"], "untrusted", "{refused}");
    assert!(told.contains("own is not started: a server runs the project's code, and"), "{told}");
    assert!(world.rename(3, &["--yes"]).1.contains("own is installed and may tell them (--server), but"), "{told}");
    fs::remove_file(world.path("home/.nebula/config.json")).expect("removed");
    assert_eq!(world.rename(3, &["--server", "--yes"]).0["error"]["kind"], "no-server");
    assert!(!world.rename(3, &["--yes"]).1.contains("--server"));
    assert!(!world.path("heard").exists());
    assert_eq!(world.texts(), [CART, MAIN]);
    let off = json!({"lsp": false, "trusted": own["trusted"]});
    fs::write(world.path("home/.nebula/config.json"), off.to_string()).expect("written");
    assert!(world.rename(3, &["--server", "--yes"]).1.contains("lsp is false in the configuration"));
}

#[test]
fn a_server_gets_no_keys_and_ends_with_the_program_that_was_killed() {
    let world = World::new().configured(true);
    // It heeds nothing from then on.
    world.answering("env > environment; exec sleep 100000");
    let mut running = world.command(&["--server", "--yes"]).spawn().expect("started");
    // The rename was heard once the environment is written.
    while !fs::read_to_string(world.path("environment")).is_ok_and(|text| text.contains("HOME=")) {
        thread::yield_now();
    }
    running.kill().expect("killed");
    running.wait().expect("ended");
    let environment = fs::read_to_string(world.path("environment")).expect("there");
    assert!(!environment.contains("secret") && environment.contains("HOME="), "{environment}");
    world.wait_until_gone();
}

/// Each of these answers is refused, and changes nothing.
#[test]
fn what_a_bad_server_says_changes_nothing() {
    let world = World::new().configured(true);
    let outside = format!("file://{}", world.path("outside.rs").display());
    fs::write(world.path("outside.rs"), "fn total() {}\n").expect("written");
    std::os::unix::fs::symlink(world.path("outside.rs"), world.path("work/src/link.rs")).expect("linked");
    let (cart, main) = (world.uri("src/cart.rs"), world.uri("src/main.rs"));
    let with = |uri: &str, edit: Value| {
        let mut all = world.right();
        all["changes"][uri] = json!([edit]);
        world.edit(&all)
    };
    let documents = |more: Value| {
        let of = |uri: &str, edit: Value| json!({"textDocument": {"uri": uri, "version": null}, "edits": [edit]});
        world.edit(&json!({"documentChanges": [of(&cart, at(3, 11, 16)), of(&main, at(2, 15, 20)), more]}))
    };
    let cases = [
        ("server", "finds nothing", world.edit(&Value::Null)),
        ("server", "is no place in it", with(&main, at(99, 15, 20))),
        ("server", "is no place in it", with(&main, at(2, 15, 999))),
        ("server", "is no place in it", with(&main, at(2, 8, 20))),
        ("server", "overlap", world.edit(&json!({"changes": {&cart: [at(3, 11, 16), at(3, 12, 16)]}}))),
        ("server", "outside the workspace", with(&outside, at(0, 3, 8))),
        ("server", "is no file here", with(&format!("{main}/../../../outside.rs"), at(0, 3, 8))),
        ("server", "which", with(&world.uri("src/link.rs"), at(0, 3, 8))),
        ("server", "which is ignored", with(&world.uri("target/made.rs"), at(0, 3, 7))),
        ("server", "which", with(&world.uri(".git/config"), at(0, 0, 0))),
        ("server", "which", with(&world.uri("src/none.rs"), at(0, 0, 0))),
        ("server", "it would rename a file", documents(json!({"kind": "rename", "oldUri": cart, "newUri": main}))),
        ("server", "it would create a file", documents(json!({"kind": "create", "uri": world.uri("src/new.rs")}))),
        ("server", "another version", documents(json!({"textDocument": {"uri": main, "version": 7}, "edits": []}))),
        ("server", "does not rename", world.edit(&json!({"changes": {&main: [at(2, 15, 20)]}}))),
        (
            "server",
            "refused: no",
            world.edit(&Value::Null).replace("\"result\":null", "\"error\":{\"code\":1,\"message\":\"no\\nno\"}"),
        ),
        ("server", "no message of the protocol", "printf 'hello\\n'".into()),
        ("server", "no message of the protocol", "printf 'Content-Length: 3\\r\\n\\r\\n{x}'".into()),
        ("server", "no message of the protocol", "printf 'Content-Length: 999999999999\\r\\n\\r\\n'".into()),
        ("server", "ended before it answered: out of luck", "echo out of luck >&2; exit 1".into()),
        ("server", "ended before it answered: error: none", "printf 'error: none\\n15: at\\n' >&2; exit 1".into()),
        ("syntax", "", with(&main, json!({"range": at(1, 0, 2)["range"], "newText": "("}))),
        ("stale", "changed on disk meanwhile", format!("echo >> work/src/main.rs; {}", world.edit(&world.right()))),
    ];
    for (kind, says, rename) in cases {
        world.answering(&rename);
        let exit = if kind == "syntax" { 2 } else { 3 };
        let (refused, told) = world.rename(exit, &["--server", "--yes"]);
        world.wait_until_gone();
        assert_eq!(refused["error"]["kind"], kind, "{rename}: {told}");
        assert!(told.contains(says), "{rename}: {told}");
        if kind == "stale" {
            fs::write(world.path("work/src/main.rs"), MAIN).expect("written");
        }
        assert_eq!(world.texts(), [CART, MAIN], "{rename}");
        assert_eq!(fs::read_to_string(world.path("outside.rs")).expect("there"), "fn total() {}\n");
    }
    // One that hangs is ended with what it started.
    let script = fs::read_to_string(world.path("server.sh")).expect("there");
    let hangs = script.replace("while read", "sleep 100000 & sleep 100000\nwhile read");
    fs::write(world.path("server.sh"), hangs).expect("written");
    let (late, told) = world.rename(3, &["--server", "--yes", "--wait", "1"]);
    world.wait_until_gone();
    assert_eq!(late["error"]["kind"], "late", "{told}");
}

#[test]
fn a_mention_that_is_certain_is_not_left_behind() {
    let world = World::new().configured(true);
    let text = "pub struct Cart;\n\nimpl Cart {\n    pub fn total(&self) -> u64 {\n        1\n    }\n    #[cfg(windows)]\n    fn two(&self) -> u64 {\n        self.total()\n    }\n}\n";
    fs::write(world.path("work/src/cart.rs"), text).expect("written");
    world.answering(&world.edit(&world.right()));
    let (refused, told) = world.rename(3, &["--server", "--yes"]);
    world.wait_until_gone();
    assert_eq!(refused["error"]["kind"], "incomplete", "{told}");
    assert_eq!(refused["error"]["details"]["places"], json!(["src/cart.rs:9"]));
    // What has the same name alone may be something else: it is told, and left.
    fs::write(world.path("work/src/cart.rs"), CART).expect("written");
    world.answering(&world.edit(&json!({"changes": {world.uri("src/cart.rs"): [at(3, 11, 16)]}})));
    let (done, _) = world.rename(0, &["--server", "--yes"]);
    world.wait_until_gone();
    assert_eq!(done["left"], json!(["src/main.rs:3"]));
}

#[test]
fn a_member_that_a_union_makes_one_with_others_is_not_renamed_without_them() {
    let world = World::new().configured(true);
    let cat = "export interface Cat { total: number }\n";
    let dog = "export interface Dog { total: number }\n";
    let edit = |uri: String| json!({"changes": {uri: [at(0, 23, 28)]}});
    let selector = "src/pets.ts::Cat.total";
    let unions = [
        ("export type Pet = Cat | Dog;\n", Some("src/pets.ts:3")),
        ("export type Furry = Dog | null;\nexport function f(pet: Cat | Furry) {}\n", Some("src/pets.ts:4")),
        ("export type Pet = Cat | null;\n", None),
    ];
    for (union, place) in unions {
        fs::write(world.path("work/src/pets.ts"), format!("{cat}{dog}{union}")).expect("written");
        world.answering(&world.edit(&edit(world.uri("src/pets.ts"))));
        let exit = if place.is_some() { 3 } else { 0 };
        let (answer, _) = world.rename_of(selector, exit, &["--server", "--dry-run"]);
        world.wait_until_gone();
        match place {
            Some(place) => {
                assert_eq!(answer["error"]["kind"], "incomplete", "{answer}");
                let message = answer["error"]["message"].as_str().expect("words");
                assert!(message.contains(place) && message.contains("src/pets.ts:2"), "{message}");
            }
            None => assert_eq!(answer["left"], json!(["src/pets.ts:2"])),
        }
    }
}

#[test]
fn a_word_that_is_a_field_and_a_variable_is_not_renamed_as_one() {
    let world = World::new().configured(true);
    let text = "export const total = 3;\nexport const box = { total };\n";
    fs::write(world.path("work/src/box.ts"), text).expect("written");
    for (put, exit) in [("sum", 3), ("total: sum", 0)] {
        let mut of_field = at(1, 21, 26);
        of_field["newText"] = put.into();
        world.answering(&world.edit(&json!({"changes": {world.uri("src/box.ts"): [at(0, 13, 18), of_field]}})));
        let (answer, _) = world.rename_of("src/box.ts::total", exit, &["--server", "--dry-run"]);
        world.wait_until_gone();
        if exit != 0 {
            let message = answer["error"]["message"].as_str().expect("words");
            assert!(message.contains("a field and a variable as one at src/box.ts:2"), "{message}");
        }
    }
}

/// What a server answers while it begins to load is asked again.
#[test]
fn a_server_that_began_to_load_is_asked_again() {
    let world = World::new().configured(true);
    let part = world.edit(&json!({"changes": {world.uri("src/cart.rs"): [at(3, 11, 16)]}}));
    let work = |kind: &str| {
        let params = json!({"token": "t", "value": {"kind": kind}});
        format!("say '{}'", json!({"jsonrpc": "2.0", "method": "$/progress", "params": params}))
    };
    let (begin, end, whole) = (work("begin"), work("end"), world.edit(&world.right()));
    world.answering(&format!("if [ -e asked ]; then {whole}; else touch asked; {begin}; {part}; {end}; fi"));
    let (done, _) = world.rename(0, &["--server", "--yes"]);
    world.wait_until_gone();
    assert_eq!(done["left"], json!([]));
    assert_eq!(world.texts(), [CART.replace("total", "sum"), MAIN.replace("total", "sum")]);
    // One that tells of each question as work is asked until it says the same again.
    for (name, text) in [("work/src/cart.rs", CART), ("work/src/main.rs", MAIN)] {
        fs::write(world.path(name), text).expect("written");
    }
    world.answering(&format!("{begin}; {end}; {part}"));
    let asked = || world.heard().matches("textDocument/rename").count();
    let before = asked();
    assert_eq!(world.rename(0, &["--server", "--dry-run"]).0["left"], json!(["src/main.rs:3"]));
    world.wait_until_gone();
    assert_eq!(asked() - before, 2);
    let told = world.command(&["--server", "--dry-run"]).output().expect("it runs").stderr;
    world.wait_until_gone();
    let told = String::from_utf8(told).expect("text");
    assert!(told.contains("left as they are, not found by own: src/main.rs:3"), "{told}");
}

/// Over the Model Context Protocol a server is used where the person has configured one and trusts the folder.
#[cfg(feature = "mcp")]
#[test]
fn an_agent_gets_the_server_that_the_person_configured() {
    use crate::support::mcp::Client;
    let rename = json!({"selector": SELECTOR, "new_name": "sum"});
    let client = |world: &World| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_strand"));
        command.args(["mcp", "serve", "--code"]).current_dir(world.path("work"));
        command.env_clear().env("HOME", world.path("home"));
        Client::start(&mut command).greeted("agent")
    };
    let world = World::new().configured(false);
    assert_eq!(client(&world).refused("code_rename", rename.clone())["kind"], "unresolved");
    assert!(!world.path("heard").exists());
    let world = world.configured(true);
    world.answering(&world.edit(&world.right()));
    let done = client(&world).done("code_rename", rename);
    world.wait_until_gone();
    assert_eq!((&done["server"], &done["id"]), (&json!("own"), &json!("src/cart.rs::Cart.sum")));
    assert_eq!(world.texts(), [CART.replace("total", "sum"), MAIN.replace("total", "sum")]);
}
