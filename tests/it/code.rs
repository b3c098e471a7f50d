//! `strand code`, typed at the real program: what it prints, what it writes, what it refuses.

use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

struct World {
    dir: tempfile::TempDir,
}

const CART: &str = "\
/// A cart.
pub struct Cart {
    items: Vec<u64>,
}

impl Cart {
    /// Sums.
    pub fn total(&self) -> u64 {
        self.items.iter().sum()
    }
}

fn helper() {}
";

impl World {
    fn new() -> Self {
        let dir = tempfile::tempdir().expect("a folder");
        for folder in ["work/.git", "work/src", "work/app", "home"] {
            fs::create_dir_all(dir.path().join(folder)).expect("made");
        }
        let world = World { dir };
        world.write("src/cart.rs", CART);
        world.write("app/main.py", "class Cart:\n    def total(self):\n        return 1\n");
        world.write(".gitignore", "/out\n");
        world.write("notes.txt", "fn total() {}\n");
        world
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join("work").join(name)
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        fs::write(path, text).expect("written");
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).expect("there")
    }

    fn run_in(&self, folder: &str, program: &str, words: &[&str], input: &str) -> Output {
        let mut command = Command::new(program);
        command.args(words).current_dir(self.path(folder)).env_clear().env("HOME", self.dir.path().join("home"));
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("started");
        // One that has no use for its input may be gone already.
        let _ = child.stdin.take().expect("piped").write_all(input.as_bytes());
        child.wait_with_output().expect("ended")
    }

    /// Runs `strand code`, wants an exit code, and gives both outputs.
    #[track_caller]
    fn code(&self, exit: i32, words: &[&str], input: &str) -> (String, String) {
        let out = self.run_in("", env!("CARGO_BIN_EXE_strand"), &[&["code"], words].concat(), input);
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).expect("text");
        assert_eq!(out.status.code(), Some(exit), "{words:?}: {} {}", text(&out.stdout), text(&out.stderr));
        (text(&out.stdout), text(&out.stderr))
    }

    #[track_caller]
    fn json(&self, exit: i32, words: &[&str], input: &str) -> Value {
        let (out, _) = self.code(exit, &[words, &["--json"]].concat(), input);
        serde_json::from_str(&out).unwrap_or_else(|error| panic!("{error}: {out}"))
    }

    fn hash(&self, selector: &str) -> String {
        let seen = self.json(0, &["view", selector], "");
        seen["nodes"][0]["hash"].as_str().expect("a hash").to_owned()
    }

    fn nebula(&self, words: &[&str]) -> String {
        let out = self.run_in("", env!("CARGO_BIN_EXE_nebula"), words, "");
        assert_eq!(out.status.code(), Some(0), "{out:?}");
        String::from_utf8(out.stdout).expect("text")
    }
}

#[test]
fn a_source_file_without_definitions_is_there() {
    let world = World::new();
    world.write("a.test.ts", "test('a', () => {});\n");
    world.write("pk/__init__.py", "");
    let none = "a.test.ts has no definitions\n".to_owned();
    for words in [&["list", "a.test.ts"][..], &["view", "a.test.ts"], &["view", "--outline", "a.test.ts"]] {
        assert_eq!(world.code(0, words, ""), (String::new(), none.clone()), "{words:?}");
    }
    assert_eq!(world.code(0, &["list", "pk"], "").1, "pk/__init__.py has no definitions\n");
    let told = world.json(0, &["list", "a.test.ts,pk"], "");
    assert_eq!(told["nodes"], serde_json::json!([]));
    assert_eq!(told["without_definitions"], serde_json::json!(["a.test.ts", "pk/__init__.py"]));
    for command in ["refs", "history"] {
        assert!(world.code(6, &[command, "a.test.ts"], "").1.contains("a.test.ts has no definitions"), "{command}");
    }
    assert!(world.code(6, &["list", "no.test.ts"], "").1.contains("nothing is called no.test.ts"));
    // Among definitions they are not named.
    assert_eq!(world.code(0, &["list"], "").1, "");
}

#[test]
fn definitions_are_listed_and_viewed() {
    let world = World::new();
    let (listed, _) = world.code(0, &["list"], "");
    let want = "\
app/main.py::Cart  class  1-3
app/main.py::Cart.total  method  2-3
src/cart.rs::Cart  struct  1-4
src/cart.rs::Cart.items  field  3-3
src/cart.rs::Cart.total  method  7-10
src/cart.rs::helper  fn  13-13
";
    assert_eq!(listed, want);
    assert_eq!(world.code(0, &["list", "method.total,class.*"], "").0.lines().count(), 3);
    let (seen, _) = world.code(0, &["view", "src/cart.rs::Cart.total"], "");
    let hash = world.hash("src/cart.rs::Cart.total");
    let text = "    /// Sums.\n    pub fn total(&self) -> u64 {\n        self.items.iter().sum()\n    }\n";
    assert_eq!(seen, format!("src/cart.rs::Cart.total  method  7-10  {hash}\n{text}"));
    let (outline, _) = world.code(0, &["view", "--outline", "src"], "");
    let want = "\
src/cart.rs
     1  pub struct Cart
     3    items: Vec<u64>
     7  pub fn total(&self) -> u64
    13  fn helper()
";
    assert_eq!(outline, want);
    // What it mentions comes first, once, from other files too.
    world.write("app/shop.py", "from app.main import Cart\n\ndef sum(a):\n    return helper(a) + helper(1) + Cart()\n\ndef helper(a):\n    return a.sum\n");
    let ids = |words: &[&str]| -> Vec<String> {
        let seen = world.json(0, words, "");
        seen["nodes"].as_array().expect("nodes").iter().filter_map(|n| n["id"].as_str().map(str::to_owned)).collect()
    };
    assert_eq!(
        ids(&["view", "app/shop.py::sum", "--with-deps"]),
        ["app/shop.py::helper", "app/main.py::Cart", "app/shop.py::sum"]
    );
    assert_eq!(ids(&["view", "app/shop.py::sum"]), ["app/shop.py::sum"]);
    assert_eq!(
        ids(&["view", "src/cart.rs::Cart.total", "--with-deps"]),
        ["src/cart.rs::Cart.items", "src/cart.rs::Cart.total"]
    );
    let json = world.json(0, &["view", "src/cart.rs:9"], "");
    assert_eq!(json["nodes"][0]["id"], "src/cart.rs::Cart.total");
    assert_eq!(json["nodes"][0]["lines"], serde_json::json!([7, 10]));
    // A path is one of the workspace, else one from here; the flag may stand before.
    for (folder, path) in [("src", "cart.rs:13"), ("src", "src/cart.rs:13"), ("app", "../src/cart.rs:13")] {
        let out = world.run_in(folder, env!("CARGO_BIN_EXE_nebula"), &["strand", "--json", "code", "list", path], "");
        let json: Value = serde_json::from_slice(&out.stdout).unwrap_or_else(|error| panic!("{error}: {out:?}"));
        assert_eq!(json["nodes"][0]["id"], "src/cart.rs::helper", "{path}");
    }
}

#[test]
fn what_is_not_read_is_told() {
    let world = World::new();
    world.write("src/broken.rs", "fn a() {}\nfn b( {\n");
    fs::write(world.path("src/latin.rs"), b"fn a() { \"\xe9\" }").expect("written");
    world.write("src/large.py", &" ".repeat((2 << 20) + 1));
    fs::create_dir(world.path("out")).expect("made");
    world.write("out/a.rs", "fn a() {}");
    std::os::unix::fs::symlink("/etc/hostname", world.path("src/link.rs")).expect("linked");
    let (listed, told) = world.code(0, &["list", "fn.a"], "");
    assert_eq!(listed, "src/broken.rs::a  fn  1-1\n");
    assert!(told.contains("syntax errors, so definitions may be missing: src/broken.rs:2"), "{told}");
    assert!(told.contains("src/large.py has 2097153 bytes") && told.contains("src/latin.rs is not UTF-8"), "{told}");
    let json = world.json(0, &["list", "fn.a"], "");
    assert_eq!(
        (&json["errors"][0]["path"], json["skipped"].as_array().map(Vec::len)),
        (&"src/broken.rs".into(), Some(2))
    );
    // One that is asked for by its path is an answer of its own.
    assert_eq!(world.json(2, &["view", "src/latin.rs::a"], "")["error"]["kind"], "unreadable");
    assert_eq!(world.json(2, &["view", "src/large.py"], "")["error"]["kind"], "unreadable");
    assert_eq!(world.json(2, &["view", "notes.txt"], "")["error"]["kind"], "unreadable");
    assert_eq!(world.json(6, &["view", "src/none.rs"], "")["error"]["kind"], "not-found");
    assert_ne!(world.json(7, &["view", "src/link.rs"], "")["error"]["kind"], Value::Null);
    let missing = &world.json(6, &["view", "fn.helpr"], "")["error"];
    assert_eq!(missing["details"]["did_you_mean"][0], "src/cart.rs::helper");
    assert_eq!(world.json(2, &["frob"], "")["error"]["kind"], "usage");
    assert_eq!(world.json(2, &["view", "a.rs:x"], "")["error"]["kind"], "usage");
}

#[test]
fn a_definition_is_replaced_recorded_and_undone() {
    let world = World::new();
    let selector = "src/cart.rs::Cart.total";
    let hash = world.hash(selector);
    let text = "/// Sums all.\npub fn total(&self) -> u64 {\n    self.items.iter().copied().sum()\n}\n";
    let want = CART.replace("/// Sums.", "/// Sums all.").replace("iter().sum", "iter().copied().sum");
    let dry = world.json(0, &["replace", selector, "--expect-hash", &hash, "--dry-run"], text);
    assert_eq!(dry["op-id"], Value::Null);
    assert!(
        dry["diff"].as_str().is_some_and(|diff| diff.contains("+        self.items.iter().copied().sum()")),
        "{dry}"
    );
    assert_eq!(world.read("src/cart.rs"), CART);
    // Nobody can be asked.
    assert_eq!(world.json(3, &["replace", selector, "--expect-hash", &hash], text)["error"]["kind"], "consent");
    assert_eq!(world.read("src/cart.rs"), CART);
    let done = world.json(0, &["replace", selector, "--expect-hash", &hash, "--yes"], text);
    assert_eq!(world.read("src/cart.rs"), want);
    assert_eq!(done["hash"].as_str(), Some(&*world.hash(selector)));
    let history: Value = serde_json::from_str(&world.nebula(&["history", "--json"])).expect("JSON");
    assert_eq!(history[0]["cause"], "code: replace method.Cart.total");
    assert_eq!((&history[0]["id"], &history[0]["approved"]), (&done["op-id"], &"flag --yes".into()));
    // The hash of what is no longer there.
    let stale = world.json(3, &["replace", selector, "--expect-hash", &hash, "--yes"], text);
    assert_eq!((&stale["error"]["kind"], &stale["error"]["details"]["hash"]), (&"stale".into(), &done["hash"]));
    world.nebula(&["undo", "--yes"]);
    assert_eq!(world.read("src/cart.rs"), CART);
}

#[test]
fn what_does_not_fit_is_refused_and_changes_nothing() {
    let world = World::new();
    let hash = world.hash("fn.helper");
    let refused = |words: &[&str], text: &str| {
        let exit = if words.contains(&"fn.none") { 6 } else { 2 };
        world.json(exit, &[&["replace", "--yes", "--expect-hash", &hash], words].concat(), text)["error"].clone()
    };
    assert_eq!(refused(&["fn.helper"], "fn helper() {")["kind"], "syntax");
    assert_eq!(refused(&["fn.helper"], "struct A;")["kind"], "not-one");
    assert_eq!(refused(&["fn.helper"], "")["kind"], "not-one");
    assert_eq!(refused(&["method.total"], "fn total() {}")["details"]["candidates"].as_array().map(Vec::len), Some(2));
    assert_eq!(refused(&["fn.none"], "fn none() {}")["kind"], "not-found");
    assert_eq!(world.json(2, &["replace", "fn.helper"], "fn helper() {}")["error"]["kind"], "usage");
    let short = world.json(2, &["replace", "fn.helper", "--expect-hash", "h:12"], "fn helper() {}");
    assert_eq!(short["error"]["kind"], "usage");
    assert_eq!(world.read("src/cart.rs"), CART);
    // A comment that was not there when it was viewed.
    world.write("new.txt", "fn helper() { 1; }\n");
    let commented = CART.replace("fn helper() {}", "fn helper() { /* Not yet. */ }");
    world.write("src/cart.rs", &commented);
    let stale = world.json(3, &["replace", "fn.helper", "new.txt", "--yes", "--expect-hash", &hash], "");
    assert_eq!((stale["error"]["kind"].as_str(), world.read("src/cart.rs")), (Some("stale"), commented));
    // A file of the text, with a beginning of the hash; what is beside it does not make it stale.
    world.write("src/cart.rs", &CART.replace("fn helper() {}", "// Why.\n\nfn helper() {}"));
    world.code(0, &["replace", "fn.helper", "new.txt", "--yes", "--expect-hash", &hash[..14]], "");
    assert_eq!(world.read("src/cart.rs"), CART.replace("fn helper() {}", "// Why.\n\nfn helper() { 1; }"));
    // The same again changes nothing, and says so.
    let (_, told) =
        world.code(0, &["replace", "fn.helper", "new.txt", "--yes", "--expect-hash", &world.hash("fn.helper")], "");
    assert!(told.contains("nothing to change"), "{told}");
}

/// The rules of a change: what is mentioned stays, what cannot be told is not renamed.
mod rules {
    use super::*;

    #[test]
    fn mentions_are_listed_with_their_certainty() {
        let world = World::new();
        world.write("src/cart.rs", &format!("{CART}fn other(cart: &Cart) {{ helper(); cart.total(); }}\n"));
        let (listed, _) = world.code(0, &["refs", "fn.helper"], "");
        assert_eq!(listed, "src/cart.rs:14:25  local  fn other(cart: &Cart) { helper(); cart.total(); }\n");
        let json = world.json(0, &["refs", "src/cart.rs::Cart.total"], "");
        assert_eq!(json["counts"], serde_json::json!({"local": 0, "import": 0, "scoped": 0, "name": 1}));
        assert_eq!(json["refs"][0]["in"], "src/cart.rs::other");
        assert_eq!(
            world.json(0, &["refs", "src/cart.rs::Cart.total", "--min-certainty", "local"], "")["error"],
            Value::Null
        );
    }

    #[test]
    fn what_is_mentioned_is_not_removed() {
        let world = World::new();
        let text = format!("{CART}\nfn other() {{ helper(); }}\n");
        world.write("src/cart.rs", &text);
        let refused = world.json(3, &["remove", "fn.helper", "--yes"], "")["error"].clone();
        assert_eq!(
            (&refused["kind"], &refused["details"]["referenced_by"][0]),
            (&"referenced".into(), &"src/cart.rs:15".into())
        );
        let (_, told) = world.code(3, &["remove", "fn.helper", "--yes"], "");
        assert!(
            told.contains("cannot remove src/cart.rs::helper (referenced by 1 place)\n  src/cart.rs:15\nUse --force"),
            "{told}"
        );
        assert_eq!(world.json(3, &["remove", "fn.other"], "")["error"]["kind"], "consent");
        assert_eq!(world.read("src/cart.rs"), text);
        let done = world.json(0, &["remove", "fn.other", "--yes"], "");
        assert!(done["op-id"].is_string(), "{done}");
        assert_eq!(world.read("src/cart.rs"), CART);
        world.write("src/cart.rs", &text);
        world.code(0, &["remove", "fn.helper", "--yes", "--force"], "");
        assert_eq!(world.read("src/cart.rs"), text.replace("fn helper() {}\n\n", ""));
        world.nebula(&["undo", "--yes"]);
        assert_eq!(world.read("src/cart.rs"), text);
    }

    #[test]
    fn a_rename_keeps_the_field_that_one_word_names_too() {
        let world = World::new();
        world.write(
            "app/a.ts",
            "const save = () => 2;\nexport function load() {}\nexport const api = { load, save };\n",
        );
        world.write(
            "app/b.tsx",
            "import { api, load } from './a';\nexport const App = () => <b {...{ load }}>{api.save()}</b>;\n",
        );
        assert_eq!(world.code(0, &["refs", "app/a.ts::save"], "").0.matches("local").count(), 1);
        world.code(3, &["remove", "app/a.ts::load", "--yes"], "");
        world.code(0, &["rename", "app/a.ts::save", "store", "--yes"], "");
        world.code(0, &["rename", "app/a.ts::load", "fetched", "--yes"], "");
        let want = "const store = () => 2;\nexport function fetched() {}\nexport const api = { load: fetched, save: store };\n";
        assert_eq!(world.read("app/a.ts"), want);
        let want = "import { api, fetched } from './a';\nexport const App = () => <b {...{ load: fetched }}>{api.save()}</b>;\n";
        assert_eq!(world.read("app/b.tsx"), want);
        world.write("src/lib.rs", "struct C { size: fn() -> u8 }\nfn size() -> u8 { 1 }\nfn a() -> C { C { size } }\n");
        world.code(0, &["rename", "src/lib.rs::size", "extent", "--yes"], "");
        let want = "struct C { size: fn() -> u8 }\nfn extent() -> u8 { 1 }\nfn a() -> C { C { size: extent } }\n";
        assert_eq!(world.read("src/lib.rs"), want);
        world.code(3, &["rename", "src/lib.rs::C.size", "extent", "--yes"], "");
    }

    #[test]
    fn a_rename_takes_every_mention_or_none() {
        let world = World::new();
        world.write("Cargo.toml", "[package]\nname = \"shop\"\n");
        world.write("src/lib.rs", "mod cart;\nuse cart::helper;\n\npub fn run() {\n    helper(); // helper\n}\n");
        let dry = world.json(0, &["rename", "fn.helper", "aid", "--dry-run"], "");
        assert_eq!(
            dry["changed"],
            serde_json::json!([{"path": "src/cart.rs", "count": 1}, {"path": "src/lib.rs", "count": 2}])
        );
        assert_eq!(world.read("src/cart.rs"), CART);
        let unresolved = &world.json(3, &["rename", "src/cart.rs::Cart.total", "sum", "--yes"], "")["error"];
        assert_eq!(unresolved["kind"], "exists", "{unresolved}");
        let file = &world.json(3, &["rename", "mod.cart", "basket", "--yes"], "")["error"];
        assert_eq!((&file["kind"], world.read("src/cart.rs")), (&"unresolved".into(), CART.to_owned()), "{file}");
        let used = &world.json(3, &["rename", "fn.helper", "run", "--yes"], "")["error"];
        assert_eq!((&used["kind"], &used["details"]["place"]), (&"exists".into(), &"src/lib.rs:4".into()));
        for wrong in ["", "a b", "1a"] {
            world.code(2, &["rename", "fn.helper", wrong, "--yes"], "");
        }
        world.code(0, &["rename", "fn.helper", "aid", "--yes"], "");
        assert_eq!(world.read("src/cart.rs"), CART.replace("fn helper", "fn aid"));
        assert_eq!(world.read("src/lib.rs"), "mod cart;\nuse cart::aid;\n\npub fn run() {\n    aid(); // helper\n}\n");
        // The history follows the name.
        let hash = world.hash("fn.aid");
        world.json(0, &["replace", "fn.aid", "--expect-hash", &hash, "--yes"], "fn aid() { 1; }");
        world.nebula(&["undo", "--yes"]);
        // So it does where the name was changed outside, which is no change of nebula's.
        world.write("src/cart.rs", &CART.replace("fn helper", "fn hand"));
        let history = world.json(0, &["history", "fn.hand"], "");
        let told =
            |op: &Value| [&op["change"], &op["cause"]].map(|v| v.as_str().unwrap_or_default().to_owned()).join(": ");
        let told: Vec<String> = history["ops"].as_array().expect("ops").iter().map(told).collect();
        let want = [
            "changed: undo of code: replace fn.aid",
            "changed: code: replace fn.aid",
            "renamed from helper: code: rename fn.helper to fn.aid",
        ];
        assert_eq!(told, want);
        assert_eq!(history["ops"][0]["unsure"], false, "{history}");
        assert_eq!(world.json(0, &["history", "src/cart.rs::Cart.total"], "")["ops"], serde_json::json!([]));
        world.write("src/cart.rs", &CART.replace("fn helper", "fn aid"));
        // A method that another type has too.
        world.write("src/two.rs", "struct Two;\nimpl Two {\n    fn total(&self) {}\n}\n");
        let shared = &world.json(3, &["rename", "src/cart.rs::Cart.total", "all", "--yes"], "")["error"];
        assert_eq!((&shared["kind"], &shared["details"]["places"][0]), (&"unresolved".into(), &"src/two.rs:3".into()));
    }

    #[test]
    fn a_refused_rename_lists_every_mention_and_what_may_be_the_same() {
        let world = World::new();
        world.write("src/cart.rs", &format!("{CART}fn other(cart: &Cart) {{ cart.total(); }}\n"));
        world.write("src/two.rs", "struct Two;\nimpl Two {\n    fn total(&self) {}\n}\n");
        let (_, told) = world.code(3, &["rename", "src/cart.rs::Cart.total", "sum", "--yes"], "");
        let lines = "\n  src/cart.rs:14  name\n  src/two.rs:3  defines the name too\n";
        assert!(told.ends_with(lines), "{told}");
    }

    #[test]
    fn a_rename_leaves_the_names_that_imports_give_and_takes_patterns() {
        let world = World::new();
        world.write(
            "src/lib.rs",
            "mod a;\nuse a::{LIMIT, total as sum};\nfn f(x: u8) -> u8 { match x { LIMIT => sum(), _ => 2 } }\n",
        );
        world.write("src/a.rs", "pub const LIMIT: u8 = 1;\npub fn total() -> u8 { 1 }\n");
        world.code(0, &["rename", "const.LIMIT", "MOST", "--yes"], "");
        world.code(0, &["rename", "src/a.rs::total", "all", "--yes"], "");
        let lib = "mod a;\nuse a::{MOST, all as sum};\nfn f(x: u8) -> u8 { match x { MOST => sum(), _ => 2 } }\n";
        assert_eq!(world.read("src/lib.rs"), lib);
        assert_eq!(world.code(0, &["refs", "fn.all"], "").0.lines().count(), 2);
        world.code(3, &["remove", "const.MOST", "--yes"], "");
    }

    #[test]
    fn a_default_export_is_not_removed_while_it_is_imported() {
        let world = World::new();
        world.write("app/a.ts", "export default function render() {}\n");
        world.write("app/b.ts", "import draw from './a';\ndraw();\n");
        let (_, told) = world.code(3, &["remove", "fn.render", "--yes"], "");
        assert!(told.contains("app/b.ts:1\n  app/b.ts:2"), "{told}");
        world.code(0, &["rename", "fn.render", "paint", "--yes"], "");
        assert_eq!(world.read("app/b.ts"), "import draw from './a';\ndraw();\n");
    }

    #[test]
    fn one_of_several_definitions_of_a_name_is_not_renamed() {
        let world = World::new();
        world.write(
            "app/over.ts",
            "function over(a: string): void;\nfunction over(a: number): void;\nfunction over(a: any) {}\n",
        );
        world.write("app/either.py", "try:\n    def load(): pass\nexcept ImportError:\n    def load(): pass\n");
        for selector in ["app/over.ts::over#1", "app/either.py::load#2"] {
            let refused = &world.json(3, &["rename", selector, "other", "--yes"], "")["error"];
            assert_eq!(refused["kind"], "unresolved", "{selector}: {refused}");
        }
    }

    #[test]
    fn a_word_of_the_language_is_no_name() {
        let world = World::new();
        world.write("app/a.ts", "export function one() {}\n");
        world.write("app/b.go", "package b\n\nfunc two() {}\n\ntype T struct{}\n\nfunc (t T) four() {}\n");
        world.write("app/c.py", "def three(): pass\n");
        for (selector, words) in [
            ("fn.helper", &["crate", "Self", "async", "_", "a$"][..]),
            ("fn.one", &["delete", "any", "await"]),
            ("fn.two", &["func", "_", "string"]),
            ("fn.three", &["None", "lambda"]),
        ] {
            for word in words {
                assert_eq!(world.json(2, &["rename", selector, word, "--yes"], "")["error"]["kind"], "usage", "{word}");
            }
        }
        world.code(0, &["rename", "fn.one", "type$", "--yes"], "");
        world.code(0, &["rename", "method.four", "close", "--yes"], "");
    }

    #[test]
    fn a_path_may_be_written_from_the_root_of_the_disk() {
        let world = World::new();
        for rest in ["::helper", ":13"] {
            let selector = format!("{}{rest}", world.path("src/cart.rs").display());
            assert_eq!(world.json(0, &["list", &selector], "")["nodes"][0]["id"], "src/cart.rs::helper", "{selector}");
        }
        let all = world.path("src").display().to_string();
        assert_eq!(world.json(0, &["list", &all], "")["nodes"].as_array().map(Vec::len), Some(4));
        let root = world.path("").display().to_string();
        assert_eq!(world.code(0, &["list", &root], "").0, world.code(0, &["list"], "").0);
    }

    #[test]
    fn what_a_trait_of_others_or_a_linker_asks_for_keeps_its_name() {
        let world = World::new();
        world.write(
            "src/lib.rs",
            "pub struct C;\nimpl Iterator for C {\n    type Item = u8;\n    fn next(&mut self) -> Option<u8> {\n        None\n    \
             }\n}\nextern \"C\" {\n    fn abs(n: i32) -> i32;\n    #[link_name = \"labs\"]\n    fn long(n: i64) -> i64;\n}\n\
             pub fn f() {\n    unsafe {\n        abs(1);\n        long(1);\n    }\n}\n",
        );
        let refused = |words: &[&str]| world.code(3, words, "").1;
        for name in ["next", "Item"] {
            let id = format!("src/lib.rs::C.{name}");
            assert!(refused(&["rename", &id, "other", "--yes"]).contains("the trait Iterator"), "{name}");
            assert!(refused(&["remove", &id, "--yes"]).contains("Use --force"), "{name}");
        }
        assert!(refused(&["rename", "src/lib.rs::abs", "other", "--yes"]).contains("linked by this name"));
        world.code(0, &["rename", "src/lib.rs::long", "other", "--yes"], "");
        assert!(world.read("src/lib.rs").contains("        other(1);"));
        world.code(0, &["remove", "src/lib.rs::C.Item", "--force", "--yes"], "");
    }

    #[test]
    fn a_name_that_others_would_not_see_or_not_tell_apart_is_refused() {
        let world = World::new();
        let refused = |words: &[&str]| world.json(3, words, "")["error"]["details"]["place"].clone();
        world.write("app/a.go", "package a\n\nfunc Sum() int { return 1 }\n");
        world.write("src/b.go", "package b\n\nimport \"x/app\"\n\nfunc F() int { return a.Sum() }\n");
        world.write("go.mod", "module x\n");
        let unseen = world.json(3, &["rename", "app/a.go::Sum", "sum", "--yes"], "");
        assert!(["exists", "unresolved"].contains(&unseen["error"]["kind"].as_str().unwrap_or_default()), "{unseen}");
        world.write("app/p.py", "def total():\n    return 1\n");
        world.write("app/q.py", "from app.p import *\n\nprint(total())\n");
        assert_eq!(refused(&["rename", "app/p.py::total", "_total", "--yes"]), "app/q.py:1");
        world.write("src/lib.rs", "mod m;\nmod n;\nmod u;\n");
        world.write("src/m.rs", "pub fn one() {}\n");
        world.write("src/n.rs", "pub fn two() {}\n");
        world.write("src/u.rs", "use crate::m::*;\nuse crate::n::*;\nfn f() {\n    two();\n}\n");
        assert_eq!(refused(&["rename", "src/m.rs::one", "two", "--yes"]), "src/u.rs:4");
        world.code(0, &["rename", "src/m.rs::one", "three", "--yes"], "");
    }

    #[test]
    fn what_is_found_by_its_name_is_not_renamed() {
        let world = World::new();
        world.write("src/main.rs", "#[unsafe(no_mangle)]\npub extern \"C\" fn entry() {}\n\nfn main() {}\n");
        world.write("app/k.py", "class K:\n    def __len__(self):\n        return 1\n");
        world.write(
            "app/m.go",
            "package m\n\ntype T struct{}\n\nfunc (t T) String() string { return \"\" }\n\nfunc init() {}\n",
        );
        world.write("app/a.ts", "export class A {\n  toString(): string {\n    return '';\n  }\n}\n");
        for (selector, words) in [
            ("src/main.rs::main", "the language or its library finds it by this name"),
            ("src/main.rs::entry", "linked to it by this name"),
            ("app/k.py::K.__len__", "finds it by this name"),
            ("app/m.go::T.String", "finds it by this name"),
            ("app/m.go::init", "finds it by this name"),
            ("app/a.ts::A.toString", "finds it by this name"),
        ] {
            let (_, said) = world.code(3, &["rename", selector, "other", "--yes"], "");
            assert!(said.contains(words), "{selector}: {said}");
        }
    }

    #[test]
    fn a_rename_that_something_would_miss_is_refused() {
        let world = World::new();
        for (path, text) in [
            ("app/a.py", "import threading\nclass W(threading.Thread):\n    def run(self): pass\n"),
            ("app/d.py", "@dataclass\nclass D:\n    red: int = 1\n"),
            ("app/f.py", "@pytest.fixture\ndef client(): pass\n"),
            ("app/g.py", "def glob(): pass\nclass K:\n    def f(self): return glob()\n"),
            ("app/h.py", "from app.g import *\n"),
            ("app/i.py", "from app.h import *\nprint(sum([1]))\n"),
            ("app/s.py", "def stubbed(): pass\n"),
            ("app/s.pyi", "def stubbed(): ...\n"),
            (
                "app/a.tsx",
                "export function Tag(p: {}) {}\nexport const v = <Tag/>;\nclass P { #x = 1; f() { return this.#x } }\n",
            ),
            ("app/b.ts", "export interface Opt {}\n"),
            ("app/c.ts", "import './b';\ndeclare module './b' { interface Opt {} }\n"),
            ("app/a.go", "package a\n\nfunc one() int { return 1 }\n"),
            ("app/b.go", "package a\n\nimport \"strings\"\n\nvar x = strings.ToUpper(\"\")\n"),
            ("app/a_test.go", "package a\n\nfunc TestOne() {}\n"),
        ] {
            world.write(path, text);
        }
        for (selector, new, words) in [
            ("app/a.py::W.run", "work", "the base threading.Thread"),
            ("app/d.py::D.red", "blue", "@dataclass"),
            ("app/f.py::client", "other", "@pytest.fixture"),
            ("app/g.py::glob", "__glob", "app/g.py:3: Python changes names"),
            ("app/g.py::glob", "sum", "app/i.py:2 uses"),
            ("app/s.py::stubbed", "other", "app/s.pyi:1"),
            ("app/a.tsx::Tag", "tag", "app/a.tsx:2: a tag of JSX"),
            ("app/b.ts::Opt", "Options", "app/c.ts:2"),
            ("app/a.go::one", "strings", "app/b.go:3 uses"),
            ("app/a_test.go::TestOne", "check", "`go test`"),
        ] {
            let (_, said) = world.code(3, &["rename", selector, new, "--yes"], "");
            assert!(said.contains(words), "{selector}: {said}");
        }
        for (selector, new) in [("app/a.tsx::P.#x", "y"), ("fn.helper", "r#aid"), ("fn.helper", "r#self")] {
            world.code(2, &["rename", selector, new, "--yes"], "");
        }
        world.code(0, &["rename", "app/a.tsx::P.#x", "#y", "--yes"], "");
        assert!(world.read("app/a.tsx").contains("#y = 1; f() { return this.#y }"));
        world.code(0, &["rename", "fn.helper", "r#match", "--yes"], "");
        assert!(world.read("src/cart.rs").contains("fn r#match"));
    }

    #[test]
    fn what_a_rename_leaves_and_a_removal_breaks_is_told() {
        let world = World::new();
        world.write("app/a.ts", "export function total() {}\n");
        world.write("app/b.js", "import { total } from './a';\ntotals();\n");
        let (_, said) = world.code(0, &["rename", "app/a.ts::total", "sum", "--yes"], "");
        assert!(said.contains("left as they are, since what they mean is not looked up: app/b.js:1\n"), "{said}");
        world.write("app/a.go", "package a\n\nconst (\n\tA = iota\n\tB\n\tC\n)\n");
        for (name, exit) in [("A", 3), ("B", 3), ("C", 0)] {
            world.code(exit, &["remove", &format!("app/a.go::{name}"), "--yes"], "");
        }
        let again = "def f(): pass\nif fast:\n    from x import f\nf()\n";
        world.write("app/f.py", again);
        let many: String = (0..4_001).map(|n| format!("x{n} = many()\n")).collect();
        world.write("app/many.py", &format!("def many(): pass\n{many}"));
        for (selector, place) in [("app/f.py::f", "app/f.py:4"), ("app/many.py::many", "app/many.py:2")] {
            let (_, said) = world.code(3, &["remove", selector, "--yes"], "");
            assert!(said.contains(place), "{said}");
        }
    }

    #[test]
    fn a_rename_takes_what_stands_in_code_that_is_no_plain_identifier() {
        let world = World::new();
        world.write("src/size.rs", "fn size<T>() -> usize { 1 }\nfn f() { println!(\"{}\", size::<u8>()); }\n");
        world.code(0, &["rename", "src/size.rs::size", "sized", "--yes"], "");
        let sized = "fn sized<T>() -> usize { 1 }\nfn f() { println!(\"{}\", sized::<u8>()); }\n";
        assert_eq!(world.read("src/size.rs"), sized);
        let (_, said) = world.code(3, &["remove", "src/size.rs::sized", "--yes"], "");
        assert!(said.contains("src/size.rs:2"), "{said}");
        let node =
            "import typing as t\nclass Node:\n    def next(self) -> \"t.List[Node]\": pass\n__all__ = [\"Node\"]\n";
        world.write("app/n.py", &format!("{node}T = t.TypeVar(\"T\", bound=\"Node\")\nprint(\"Node\")\n"));
        world.write("app/m.py", "from app.n import Node\n__all__ = (\"Node\",)\n");
        world.code(0, &["rename", "app/n.py::Node", "Item", "--yes"], "");
        world.code(0, &["rename", "app/n.py::T", "U", "--yes"], "");
        let item = node.replace("Node", "Item");
        assert_eq!(world.read("app/n.py"), format!("{item}U = t.TypeVar(\"U\", bound=\"Item\")\nprint(\"Node\")\n"));
        assert_eq!(world.read("app/m.py"), "from app.n import Item\n__all__ = (\"Item\",)\n");
    }

    #[test]
    fn what_may_be_meant_holds_a_rename_and_a_removal() {
        let world = World::new();
        for (path, text) in [
            (
                "src/lib.rs",
                "struct Cart { goods: u32 }\nenum Kind { Small }\nsum_of!(Cart: goods);\nmk!(Kind, Small);\n",
            ),
            (
                "src/two.rs",
                "mod a { pub fn find() {} }\nmod b { pub fn find() {} }\n#[cfg(unix)]\nuse a::*;\n#[cfg(not(unix))]\nuse b::*;\n\
                 fn f() { find(); }\n",
            ),
            ("app/__init__.py", "from ._make import A\nfrom ._make import B\n"),
            ("app/__init__.pyi", "class A: ...\nclass B: ...\n"),
            ("app/_make.py", "class A: pass\nclass B: pass\n"),
            ("app/filters.pyi", "from . import A\n"),
        ] {
            world.write(path, text);
        }
        for (selector, place) in [
            ("src/lib.rs::Cart", "src/lib.rs:3"),
            ("src/lib.rs::Kind.Small", "src/lib.rs:4"),
            ("src/two.rs::a.find", "src/two.rs:7"),
            ("src/two.rs::b.find", "src/two.rs:7"),
            ("app/__init__.pyi::A", "app/filters.pyi:1"),
            ("app/_make.py::A", "app/filters.pyi:1"),
        ] {
            for words in [vec!["rename", selector, "Other", "--yes"], vec!["remove", selector, "--yes"]] {
                let (_, said) = world.code(3, &words, "");
                assert!(said.contains(place), "{words:?}: {said}");
            }
        }
        world.code(3, &["rename", "src/lib.rs::Cart.goods", "wares", "--yes"], "");
        // The stub says what the module holds, though nothing imports it from there.
        let stub = [("app/_make.py::B", "app/__init__.pyi:2"), ("app/__init__.pyi::B", "app/__init__.py:2")];
        for (selector, place) in stub {
            let (_, said) = world.code(3, &["rename", selector, "C", "--yes"], "");
            assert!(said.contains(&format!("{place}  defines the name too")), "{said}");
        }
    }

    #[test]
    fn what_is_not_read_holds_a_rename_and_is_told() {
        use std::os::unix::ffi::OsStrExt;
        let world = World::new();
        let large = |name: &str| format!("fn x() {{ {name}(); }}\n{}", " ".repeat(2 << 20));
        // Neither of them holds the name.
        world.write("src/large.rs", &large("other"));
        fs::write(world.path("src/latin.rs"), b"fn a() { \"\xe9\" }").expect("written");
        world.json(0, &["rename", "fn.helper", "aid", "--dry-run"], "");
        let odd = world.path("src").join(std::ffi::OsStr::from_bytes(b"\xff.rs"));
        for (path, text) in [
            (world.path("src/large.rs"), large("helper").into_bytes()),
            (world.path("src/latin.rs"), b"fn a() { helper(\"\xe9\") }".to_vec()),
            (odd, b"fn a() { helper() }".to_vec()),
        ] {
            let before = fs::read(&path).ok();
            fs::write(&path, text).expect("written");
            let refused = &world.json(3, &["rename", "fn.helper", "aid", "--yes"], "")["error"];
            assert_eq!(refused["kind"], "unread", "{refused}");
            assert_eq!(refused["details"]["skipped"].as_array().map(Vec::len), Some(1), "{refused}");
            let told = world.code(0, &["refs", "fn.helper"], "").1;
            assert!(told.contains("not read: src/"), "{told}");
            let found = world.json(0, &["refs", "fn.helper"], "");
            assert_eq!(found["skipped"].as_array().map(Vec::len), Some(1), "{found}");
            let removed = world.json(0, &["remove", "fn.helper", "--dry-run"], "");
            assert_eq!(removed["skipped"].as_array().map(Vec::len), Some(1), "{removed}");
            match before {
                Some(before) => fs::write(&path, before).expect("written"),
                None => fs::remove_file(&path).expect("removed"),
            }
        }
        assert_eq!(world.read("src/cart.rs"), CART);
        // A syntax error in a file that mentions it.
        world.write("src/broken.rs", "use crate::cart::helper;\nfn a() { helper(); }\nfn b( {\n");
        let found = world.json(0, &["refs", "fn.helper"], "");
        assert_eq!(found["errors"], serde_json::json!([{"path": "src/broken.rs", "line": 3}]));
        world.write("src/lib.rs", "mod cart;\nmod broken;\n");
        let dry = world.json(0, &["rename", "fn.helper", "aid", "--dry-run"], "");
        assert_eq!(
            (&dry["diagnostics"][0]["path"], &dry["diagnostics"][0]["line"]),
            (&"src/broken.rs".into(), &3.into())
        );
    }

    #[test]
    fn a_folder_that_cannot_be_listed_holds_a_rename() {
        use std::os::unix::fs::PermissionsExt;
        let world = World::new();
        fs::set_permissions(world.path("app"), fs::Permissions::from_mode(0o000)).expect("closed");
        // For root every folder is open.
        if fs::read_dir(world.path("app")).is_err() {
            let refused = &world.json(3, &["rename", "fn.helper", "aid", "--yes"], "")["error"];
            assert_eq!(
                (&refused["kind"], &refused["details"]["skipped"][0]["path"]),
                (&"unread".into(), &"app".into())
            );
            assert!(world.code(0, &["list", "fn.helper"], "").1.contains("app cannot be listed"));
        }
        fs::set_permissions(world.path("app"), fs::Permissions::from_mode(0o755)).expect("opened");
    }
}

/// The same over the Model Context Protocol: `strand mcp serve --code`, without a store.
#[cfg(feature = "mcp")]
mod served {
    use serde_json::json;

    use super::*;
    use crate::support::mcp::{CheckedCalls, Client};

    const TOOLS: [&str; 6] = ["code_history", "code_refs", "code_remove", "code_rename", "code_replace", "code_view"];

    fn client(world: &World, program: &str, words: &[&str]) -> Client {
        let mut command = Command::new(program);
        command.args(words).current_dir(world.path("")).env_clear().env("HOME", world.dir.path().join("home"));
        Client::start(&mut command).greeted("agent")
    }

    fn served(world: &World) -> Client {
        client(world, env!("CARGO_BIN_EXE_strand"), &["mcp", "serve", "--code"])
    }

    #[test]
    fn every_tool_answers_as_its_schema_says() {
        let world = World::new();
        world.write("src/lib.rs", "mod cart;\nuse cart::helper;\n\npub fn run() {\n    helper();\n}\n");
        let mut client = served(&world);
        let mut calls = CheckedCalls::of(&mut client);
        assert_eq!(calls.names(), TOOLS);
        let mut call = |name: &str, arguments: Value| calls.call(&mut client, name, arguments);
        let seen = call("code_view", json!({"selector": "src/cart.rs", "outline": true}));
        assert_eq!(seen["nodes"][2]["text"], "pub fn total(&self) -> u64", "{seen}");
        let seen = call("code_view", json!({"selector": "fn.run", "with_deps": true}));
        let ids: Vec<_> = seen["nodes"].as_array().expect("nodes").iter().map(|node| &node["id"]).collect();
        assert_eq!(ids, ["src/cart.rs::helper", "src/lib.rs::run"]);
        let refs = call("code_refs", json!({"selector": "fn.helper", "min_certainty": "import"}));
        assert_eq!((&refs["counts"]["import"], &refs["refs"][0]["path"]), (&json!(2), &json!("src/lib.rs")), "{refs}");
        let hash = seen["nodes"][0]["hash"].clone();
        let new = json!({"selector": "fn.helper", "text": "fn helper() { 1; }", "expect_hash": hash});
        let mut dry = new.clone();
        dry["dry_run"] = true.into();
        let tried = call("code_replace", dry);
        assert_eq!((&tried["op-id"], world.read("src/cart.rs")), (&Value::Null, CART.to_owned()));
        let replaced = call("code_replace", new);
        assert_eq!(world.read("src/cart.rs"), CART.replace("fn helper() {}", "fn helper() { 1; }"));
        let history = call("code_history", json!({"selector": "fn.helper"}));
        assert_eq!(history["ops"][0]["op-id"], replaced["op-id"]);
        assert_eq!(history["ops"][0]["cause"], "code: replace fn.helper");
        let renamed = call("code_rename", json!({"selector": "fn.helper", "new_name": "aid"}));
        assert_eq!(renamed["changed"][1], json!({"path": "src/lib.rs", "count": 2}));
        let removed = call("code_remove", json!({"selector": "fn.run"}));
        assert_eq!(removed["id"], "src/lib.rs::run");
        assert_eq!(calls.called, TOOLS.map(String::from).into());
        assert_eq!(client.end(), (Some(0), String::new()));
        // What it wrote is in the history, and comes back.
        assert!(world.nebula(&["history"]).contains("code: replace fn.helper"));
        assert_eq!(world.read("src/lib.rs"), "mod cart;\nuse cart::aid;\n");
        world.nebula(&["undo", "--yes"]);
        assert_eq!(world.read("src/lib.rs"), "mod cart;\nuse cart::aid;\n\npub fn run() {\n    aid();\n}\n");
    }

    #[test]
    fn a_refusal_is_a_result_to_act_on_and_keys_are_not_shown() {
        let world = World::new();
        world.write("src/lib.rs", "mod cart;\nuse cart::helper;\n\npub fn run() {\n    helper();\n}\n");
        world.write(".env.ts", "export const helper = 'secret';\n");
        world.write("src/a.test.ts", "test('a', () => {});\n");
        let mut client = served(&world);
        let none = client.done("code_view", json!({"selector": "src/a.test.ts"}));
        assert_eq!((&none["nodes"], &none["without_definitions"]), (&json!([]), &json!(["src/a.test.ts"])));
        for name in ["b", "c", "d"] {
            world.write(&format!("tests/{name}.test.ts"), "test('a', () => {});\n");
        }
        let page = |client: &mut Client, cursor: Option<&Value>| {
            let mut asked = json!({"selector": "tests", "limit": 2});
            cursor.into_iter().for_each(|cursor| asked["cursor"] = cursor.clone());
            client.done("code_view", asked)
        };
        let first = page(&mut client, None);
        assert_eq!(first["without_definitions"], json!(["tests/b.test.ts", "tests/c.test.ts"]));
        assert_eq!(first["without_definitions_left"], 1);
        let last = page(&mut client, Some(&first["next_cursor"]));
        assert_eq!(last["without_definitions"], json!(["tests/d.test.ts"]));
        assert!(last.get("next_cursor").is_none() && last.get("without_definitions_left").is_none(), "{last}");
        let hash = client.done("code_view", json!({"selector": "fn.helper"}))["nodes"][0]["hash"].clone();
        let all = client.done("code_view", json!({"selector": "**"}));
        assert!(!all.to_string().contains("secret"), "{all}");
        assert_eq!(all["skipped"][0]["path"], ".env.ts");
        let mut kind = |name: &str, arguments: Value| {
            let error = client.refused(name, arguments);
            (error["kind"].as_str().expect("a kind").to_owned(), error)
        };
        let replace = |text: &str, hash: &Value| json!({"selector": "fn.helper", "text": text, "expect_hash": hash});
        assert_eq!(kind("code_view", json!({"selector": ".env.ts"})).0, "unreadable");
        assert_eq!(kind("code_view", json!({"selector": "fn.none"})).0, "not-found");
        let (none, error) = kind("code_refs", json!({"selector": "src/a.test.ts"}));
        assert_eq!((none.as_str(), &error["message"]), ("not-found", &json!("src/a.test.ts has no definitions")));
        assert_eq!(kind("code_view", json!({"selector": "**", "cursor": "src/none.rs::x"})).0, "stale");
        assert_eq!(kind("code_view", json!({"selectors": "**"})).0, "usage");
        assert_eq!(kind("code_refs", json!({"selector": "fn.helper", "min_certainty": "bogus"})).0, "usage");
        let (stale, error) = kind("code_replace", replace("fn helper() {}", &json!("h:000000000000")));
        assert_eq!((stale.as_str(), &error["details"]["hash"]), ("stale", &hash));
        assert_eq!(kind("code_replace", json!({"selector": "fn.helper", "text": "fn helper() {}"})).0, "usage");
        assert_eq!(kind("code_replace", replace("fn helper() {", &hash)).0, "syntax");
        let (referenced, error) = kind("code_remove", json!({"selector": "fn.helper"}));
        assert_eq!(
            (referenced.as_str(), &error["details"]["referenced_by"][0]),
            ("referenced", &json!("src/lib.rs:2"))
        );
        assert!(error["message"].as_str().is_some_and(|told| told.contains("force")), "{error}");
        let rename = json!({"selector": "src/cart.rs::Cart.total", "new_name": "sum", "expect_hash": "h:000000000000"});
        assert_eq!(kind("code_rename", rename).0, "stale");
        assert_eq!(world.read("src/cart.rs"), CART);
    }

    #[test]
    fn pages_go_on_where_they_ended() {
        let world = World::new();
        let calls: String = (0..5).map(|n| format!("fn f{n}() {{ helper(); }}\n")).collect();
        world.write("src/cart.rs", &format!("{CART}{calls}"));
        let mut client = served(&world);
        let mut all = |name: &str, list: &str, mut arguments: Value| {
            let whole = client.done(name, arguments.clone());
            let (mut entries, mut pages) = (Vec::new(), 0);
            arguments["limit"] = 2.into();
            loop {
                let page = client.done(name, arguments.clone());
                let some = page[list].as_array().expect("a list");
                assert!(some.len() <= 2 && pages < 20, "{page}");
                (pages, entries) = (pages + 1, [entries, some.clone()].concat());
                match page.get("next_cursor") {
                    Some(next) => arguments["cursor"] = next.clone(),
                    None => break,
                }
            }
            assert_eq!((Some(&entries), whole.get("next_cursor")), (whole[list].as_array(), None));
            (entries.len(), pages)
        };
        assert_eq!(all("code_refs", "refs", json!({"selector": "fn.helper"})), (5, 3));
        let (nodes, pages) = all("code_view", "nodes", json!({"selector": "**"}));
        assert_eq!(nodes.div_ceil(2), pages);
        for tool in ["code_view", "code_refs", "code_history"] {
            let error = client.refused(tool, json!({"selector": "fn.helper", "limit": 0}));
            assert_eq!((&error["kind"], &error["message"]), (&json!("usage"), &json!("limit must be at least 1")));
        }
    }

    #[test]
    fn they_are_offered_where_they_are_asked_for() {
        let world = World::new();
        let names = |program: &str, words: &[&str]| {
            let mut client = client(&world, program, words);
            CheckedCalls::of(&mut client).names().iter().map(|name| (*name).to_owned()).collect::<Vec<_>>()
        };
        let (strand, nebula) = (env!("CARGO_BIN_EXE_strand"), env!("CARGO_BIN_EXE_nebula"));
        let reading = ["code_history", "code_refs", "code_view"];
        assert_eq!(names(strand, &["mcp", "serve", "--code", "--read-only"]), reading);
        assert_eq!(names(nebula, &["strand", "mcp", "serve", "--code"]), TOOLS);
        let of_code = |names: Vec<String>| names.iter().filter(|name| name.starts_with("code_")).count();
        assert_eq!(of_code(names(nebula, &["mcp", "serve"])), 0);
        assert_eq!(of_code(names(nebula, &["mcp", "serve", "--code"])), 6);
    }
}

#[test]
fn patterns_are_those_of_the_workspace_or_else_of_the_folder() {
    let world = World::new();
    let listed = |folder: &str, selector: &str| {
        let out = world.run_in(folder, env!("CARGO_BIN_EXE_strand"), &["code", "list", selector], "");
        (out.status.code(), String::from_utf8(out.stdout).expect("text").lines().count())
    };
    for selector in ["*.rs", "./*.rs", "c*.rs::*", "src/*.rs"] {
        assert_eq!(listed("src", selector).0, Some(0), "{selector}");
    }
    assert_eq!(listed("app", "*.rs"), (Some(6), 0));
    world.write("top.rs", "fn top() {}\n");
    assert_eq!(listed("src", "*.rs"), (Some(0), 1));
    fs::create_dir_all(world.path("src/.git")).expect("made");
    fs::remove_file(world.path("src/cart.rs")).expect("removed");
    let out = world.run_in("src", env!("CARGO_BIN_EXE_strand"), &["code", "list"], "");
    let said = String::from_utf8(out.stderr).expect("text");
    assert_eq!(
        (out.status.code(), said.as_str()),
        (Some(6), "Error: no source files of Rust, Python, TypeScript or Go are here\n")
    );
    fs::create_dir_all(world.path("docs/more")).expect("made");
    world.write("docs/guide.md", "# Guide\n");
    for selector in ["docs", "docs/", "docs::total", "docs,docs/more"] {
        let out = world.run_in("", env!("CARGO_BIN_EXE_strand"), &["code", "list", selector], "");
        let said = String::from_utf8(out.stderr).expect("text");
        let start = "Error: no source files of Rust, Python, TypeScript or Go are in docs";
        assert!(out.status.code() == Some(6) && said.starts_with(start), "{selector}: {said}");
    }
}

#[test]
fn an_id_is_a_selector_whatever_its_path_holds() {
    let world = World::new();
    fs::create_dir_all(world.path("a::b")).expect("made");
    for path in ["a,b.rs", "a::b/c.rs", "a:3.rs"] {
        world.write(path, "fn one() {}\nimpl T for (A, B) {\n    fn two() {}\n}\n");
        let all = world.json(0, &["list", path], "");
        let ids: Vec<&str> =
            all["nodes"].as_array().expect("nodes").iter().filter_map(|one| one["id"].as_str()).collect();
        assert_eq!(ids.len(), 2, "{all}");
        for id in ids {
            assert_eq!(world.json(0, &["list", id], "")["nodes"][0]["id"], id);
        }
    }
    // Several of them stand with commas as before.
    assert_eq!(world.code(0, &["list", "src/cart.rs::helper,src/cart.rs::Cart"], "").0.lines().count(), 2);
}

#[test]
fn a_reader_that_has_seen_enough_is_no_error() {
    let world = World::new();
    let many: String = (0..20_000).map(|n| format!("fn f{n}() {{}}\n")).collect();
    world.write("src/many.rs", &many);
    for words in [&["list"][..], &["view", "src/many.rs"], &["view", "--outline", "src/many.rs"], &["list", "--json"]] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_strand"));
        command
            .arg("code")
            .args(words)
            .current_dir(world.path(""))
            .env_clear()
            .env("HOME", world.dir.path().join("home"));
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("started");
        drop(child.stdout.take());
        let out = child.wait_with_output().expect("ended");
        assert_eq!((out.status.code(), String::from_utf8_lossy(&out.stderr).as_ref()), (Some(0), ""), "{words:?}");
    }
}
