//! The tools of definitions in a session: what a model sees, what it changes, what it is refused, and when it is offered
//! them.

use std::process::Command as Process;

use nebula::code::SourceFile;
use nebula::proposal::{Choice, Consent, Decision};
use nebula::protocol::{Command, EventBody, Item, Reply, RestoreRequest, SessionChoice, TurnEnd};
use serde_json::{Value, json};

use crate::session::{calls_of, results};
use crate::support::world::{Live, World, call, calls, say};

const CART: &str = "\
use std::fmt;

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

fn show(cart: &Cart) -> u64 {
    cart.total()
}
";

/// The first digits of a definition's hash.
fn hash(path: &str, text: &str, name: &str) -> String {
    let file = SourceFile::read(path, text.as_bytes()).unwrap_or_else(|fault| panic!("{fault}"));
    let at = (0..file.nodes.len()).find(|at| file.name(*at) == name).expect("a definition");
    file.hash(at)[..14].to_string()
}

fn replace(selector: &str, hash: &str, text: &str) -> (&'static str, Value) {
    ("codeReplace", json!({"selector": selector, "expect_hash": hash, "text": text}))
}

/// Runs one turn in which every proposal is accepted by policy, and gives the results of its last request.
async fn told(world: World, steps: impl IntoIterator<Item = Vec<(&'static str, Value)>>) -> (World, Vec<String>) {
    let steps = steps.into_iter().map(|step| calls(&step)).chain([say("Done.")]);
    let world = world.approve("edits").model(steps);
    let mut live = world.start();
    live.submit("do it");
    assert_eq!(live.end().await, TurnEnd::Done);
    let results = results(&live);
    live.close().await;
    (world, results)
}

fn offered(live: &Live) -> Vec<String> {
    let requests = live.requests();
    let tools = requests.last().expect("a request").tools.iter().map(|tool| tool.name.to_string());
    tools.filter(|name| name.starts_with("code")).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_model_sees_definitions() {
    let world = World::new().file("src/cart.rs", CART).file("notes.md", "fn total() {}\n");
    let asks = vec![
        ("codeOutline", json!({"selector": "src"})),
        ("codeView", json!({"selector": "method.total"})),
        ("codeRefs", json!({"selector": "src/cart.rs::Cart"})),
        ("codeView", json!({"selector": "src/cart.rs::Cart, src/cart.rs::Cart.items"})),
    ];
    let (_, results) = told(world, [asks]).await;
    let outline = "\
src/cart.rs
    3 Cart  pub struct Cart
    5 Cart.items  items: Vec<u64>
    9 Cart.total  pub fn total(&self) -> u64
   15 show  fn show(cart: &Cart) -> u64
";
    assert_eq!(results[0], outline);
    let hash = hash("src/cart.rs", CART, "Cart.total");
    let total = "    /// Sums.\n    pub fn total(&self) -> u64 {\n        self.items.iter().sum()\n    }\n";
    assert_eq!(results[1], format!("src/cart.rs::Cart.total  lines 9-12  {hash}\n{total}"));
    assert_eq!(
        results[2],
        "src/cart.rs::Cart: local 2, import 0, scoped 0, name 0\nsrc/cart.rs:8  local  impl Cart {\nsrc/cart.rs:15  local  fn show(cart: &Cart) -> u64 {\n"
    );
    // A field within a struct that is shown is not shown twice.
    assert_eq!(results[3].matches("src/cart.rs::").count(), 1, "{}", results[3]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_definition_is_replaced_as_a_proposal_and_undone() {
    let hash = hash("src/cart.rs", CART, "Cart.total");
    let by = "/// Sums.\npub fn total(&self) -> u64 {\n    self.items.iter().sum::<u64>() + 1\n}";
    let world = World::new()
        .file("src/cart.rs", CART)
        .model([calls(&[replace("src/cart.rs::Cart.total", &hash, by)]), say("Done.")]);
    let mut live = world.start();
    live.submit("one more");
    let proposal = live.decide(Choice::Accept).await;
    assert_eq!((proposal.title.as_str(), proposal.files.len()), ("one more", 1));
    let labels = proposal.files[0].hunks.iter().flat_map(|hunk| &hunk.definitions);
    assert_eq!(labels.map(|label| label.name.as_str()).collect::<Vec<_>>(), ["method Cart.total"]);
    assert_eq!(live.end().await, TurnEnd::Done);
    assert_eq!(world.read("src/cart.rs"), CART.replace("sum()", "sum::<u64>() + 1"));
    assert_eq!(results(&live), ["src/cart.rs: written (+1 −1)"]);
    live.close().await;
    history(&world, "src/cart.rs::Cart.total", &["changed: one more"]);
    history(&world, "src/cart.rs::show", &[]);

    let world = world.model([]).approve("all");
    let mut live = world.start();
    live.send(Command::Restore(RestoreRequest::Undo { count: 1, files: Vec::new() }));
    live.decide(Choice::Accept).await;
    live.until(|_| (world.read("src/cart.rs") == CART).then_some(())).await;
    live.close().await;
    history(&world, "src/cart.rs::Cart.total", &["changed: undo of one more", "changed: one more"]);
}

/// A definition that is replaced in a file which someone else changed since the model read it goes into the file as it is,
/// and the card and the model are told so.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_definition_that_is_replaced_in_a_file_that_changed_is_said_to_be_merged() {
    let hash = hash("src/cart.rs", CART, "Cart.total");
    let by = "/// Sums.\npub fn total(&self) -> u64 {\n    self.items.iter().sum::<u64>() + 1\n}";
    let world = World::new().file("src/cart.rs", CART).approve("edits").model([
        calls(&[("readFile", json!({"path": "src/cart.rs"}))]),
        say("Read."),
        calls(&[replace("src/cart.rs::Cart.total", &hash, by)]),
        say("Done."),
    ]);
    let mut live = world.start();
    live.submit("look");
    assert_eq!(live.end().await, TurnEnd::Done);
    let theirs = format!("{CART}\nfn theirs() {{}}\n");
    world.write("src/cart.rs", &theirs);
    live.submit("one more");
    assert_eq!(live.end().await, TurnEnd::Done);
    assert_eq!(world.read("src/cart.rs"), theirs.replace("sum()", "sum::<u64>() + 1"));
    let told = &results(&live)[1];
    assert!(told.contains("src/cart.rs changed on disk after it was read."), "{told}");
    assert!(told.contains("+fn theirs() {}"), "{told}");
    let all = calls_of(&live.events);
    let call = all.values().next_back().expect("a call");
    assert_eq!(call.summary, "merged: lines");
    live.close().await;
}

/// Returns the calls among these entries: the main argument, the counts and the preview of each.
fn cards<'a>(items: impl Iterator<Item = &'a Item>) -> Vec<String> {
    let card = |item: &Item| match item {
        Item::Call(call) => {
            let counts = call.counts.map_or(String::new(), |counts| format!(" +{} -{}", counts.added, counts.removed));
            let lines: String = call.preview.iter().map(|line| format!("\n{}{}", line.sign, line.text)).collect();
            Some(format!("{}{counts}{lines}", call.main))
        }
        _ => None,
    };
    items.filter_map(card).collect()
}

/// Calls of one step that replace definitions of one file next to each other: each card names its own and shows its own
/// lines, before the decision as after it and when the session is read again.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_card_of_a_replacement_names_its_definition_and_shows_its_lines() {
    let text = "class Cart:\n    def total(self):\n        return 1\n    def count(self):\n        return 2\n";
    let (total, count) = (hash("cart.py", text, "Cart.total"), hash("cart.py", text, "Cart.count"));
    let step = calls(&[
        replace("method.total", &total, "def total(self):\n    a = 1\n    return a"),
        replace("cart.py::Cart.count", &count, "def counted(self):\n    return 3"),
    ]);
    let world = World::new().file("cart.py", text).model([step, say("Done.")]);
    let mut live = world.start();
    live.submit("change it");
    live.decide(Choice::Accept).await;
    assert_eq!(live.end().await, TurnEnd::Done);
    let want = [
        "cart.py::Cart.total +2 -1\n-        return 1\n+        a = 1\n+        return a",
        "cart.py::Cart.count +2 -2\n-    def count(self):\n-        return 2\n+    def counted(self):\n+        return 3",
    ];
    let asked = live.events.iter().position(|event| matches!(event, EventBody::Proposal(_))).expect("a proposal");
    for events in [&live.events[..asked], &live.events] {
        let calls: Vec<Item> = calls_of(events).into_values().map(Item::Call).collect();
        assert_eq!(cards(calls.iter()), want);
    }
    live.close().await;
    let mut again = world.start();
    again.open(SessionChoice::Continue);
    let recalled = again.until(|e| if let EventBody::Recalled(items) = e { Some(items.clone()) } else { None }).await;
    assert_eq!(cards(recalled.iter().map(|(_, item)| item)), want);
    again.close().await;
}

/// What was rejected is no change of its definition; what the person left of an answer is.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_history_of_a_definition_is_what_was_accepted() {
    let (total, show) = (hash("src/cart.rs", CART, "Cart.total"), hash("src/cart.rs", CART, "show"));
    let step = calls(&[
        replace("src/cart.rs::Cart.total", &total, "/// Sums.\npub fn total(&self) -> u64 {\n    0\n}"),
        replace("fn.show", &show, "fn show(cart: &Cart) -> u64 {\n    0\n}"),
    ]);
    let world = World::new().file("src/cart.rs", CART).model([step, say("Done.")]);
    let mut live = world.start();
    live.submit("nothing at all");
    let proposal = live.proposal().await;
    let mut choices = proposal.choices(Choice::Accept);
    choices[0].hunks[0] = Choice::Reject;
    live.send(Command::Decide(proposal.id, Decision::new(choices, Consent::Person)));
    assert_eq!(live.end().await, TurnEnd::Done);
    live.close().await;
    assert!(world.read("src/cart.rs").contains("sum()"));
    history(&world, "src/cart.rs::Cart.total", &[]);
    history(&world, "src/cart.rs::show", &["changed: nothing at all"]);
}

/// Checks what `strand code history` says of a definition.
#[track_caller]
fn history(world: &World, selector: &str, want: &[&str]) {
    if !cfg!(feature = "strand") {
        return;
    }
    let mut strand = Process::new(env!("CARGO_BIN_EXE_nebula"));
    strand.args(["strand", "code", "history", selector, "--json"]).current_dir(world.root());
    let out = strand.env_clear().env("HOME", world.home()).output().expect("run");
    let found: Value = serde_json::from_slice(&out.stdout).unwrap_or_else(|error| panic!("{error}: {out:?}"));
    let word = |op: &Value, key: &str| op[key].as_str().unwrap_or_default().to_owned();
    let ops = found["ops"].as_array().expect("a list").iter();
    let ops: Vec<String> = ops.map(|op| format!("{}: {}", word(op, "change"), word(op, "cause"))).collect();
    assert_eq!(ops, want);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn definitions_and_text_of_one_answer_are_one_proposal() {
    let (total, show) = (hash("src/cart.rs", CART, "Cart.total"), hash("src/cart.rs", CART, "show"));
    let step = vec![
        (
            "replaceInFile",
            json!({"path": "src/cart.rs", "search": "use std::fmt;\n", "replace": "use std::fmt;\nuse std::io;\n"}),
        ),
        replace("fn.show", &show, "fn sum(cart: &Cart) -> u64 {\n    cart.total()\n}"),
        replace("src/cart.rs::Cart.total", &total, "pub fn total(&self) -> u64 {\n    2\n}"),
    ];
    let (world, results) = told(World::new().file("src/cart.rs", CART), [step]).await;
    let want = CART.replace("use std::fmt;", "use std::fmt;\nuse std::io;").replace("fn show", "fn sum");
    let want = want.replace("    /// Sums.\n", "").replace("self.items.iter().sum()", "2");
    assert_eq!(world.read("src/cart.rs"), want, "{results:?}");
    assert!(results.iter().all(|told| told == "src/cart.rs: written"), "{results:?}");
    history(&world, "src/cart.rs::sum", &["renamed from show: do it"]);
    history(&world, "src/cart.rs::Cart.total", &["changed: do it"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_replacement_that_does_not_fit_is_refused_with_what_to_do() {
    let (total, show) = (hash("src/cart.rs", CART, "Cart.total"), hash("src/cart.rs", CART, "show"));
    let whole = "fn show(cart: &Cart) -> u64 {\n    0\n}";
    let step = vec![
        replace("fn.show", &total, whole),
        replace("fn.show", "12ab", whole),
        replace("fn.sho", &show, whole),
        replace("src/cart.rs", &show, whole),
        replace("fn.show", &show, "fn show(cart: &Cart) -> u64 {"),
        replace("fn.show", &show, "struct Show;"),
        replace("fn.show", &show, &format!("{whole}\n{}", whole.replace("show", "more"))),
        ("codeReplace", json!({"selector": "fn.show", "text": whole})),
    ];
    let (world, results) = told(World::new().file("src/cart.rs", CART), [step]).await;
    assert_eq!(world.read("src/cart.rs"), CART);
    let wants = [
        format!("src/cart.rs::show has changed since it was viewed: it is {show} now, not {total}; view it again. Nothing was changed; codeView shows it."),
        "'12ab' is no hash: viewing src/cart.rs::show tells it, 12 digits will do. Nothing was changed; codeView shows it.".into(),
        "nothing is called fn.sho; did you mean src/cart.rs::show, src/cart.rs::Cart, src/cart.rs::Cart.items?".into(),
        "src/cart.rs is not one definition but 4: name one of src/cart.rs::Cart, src/cart.rs::Cart.items, src/cart.rs::Cart.total, src/cart.rs::show".into(),
        "src/cart.rs would not parse any more: line 15 of it has a syntax error that is not there now. Nothing was changed; send the whole definition, with all its brackets.".into(),
        "the text for src/cart.rs::show must be one fn and nothing else, but it is a struct. Nothing was changed; other changes go by replaceInFile.".into(),
        "the text for src/cart.rs::show must be one fn and nothing else, but it is 2 definitions, show to more. Nothing was changed; other changes go by replaceInFile.".into(),
        "`expect_hash` is missing: it must be a string".into(),
    ];
    for (told, want) in results.iter().zip(&wants) {
        assert_eq!(told, want);
    }
    assert_eq!(results.len(), wants.len());
}

/// An edit before it in the same answer changed the definition: another of the same text is not taken for it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_replacement_never_lands_in_another_definition_of_the_same_text() {
    let text = "mod a {\n    fn f() {}\n}\n\nmod b {\n    fn f() {}\n}\n";
    let hash = hash("x.rs", text, "a.f");
    let step = vec![replace("x.rs::a.f", &hash, "fn f() { 1; }"), replace("x.rs::a.f", &hash, "fn f() { 2; }")];
    let (world, results) = told(World::new().file("x.rs", text), [step]).await;
    assert_eq!(world.read("x.rs"), text, "{results:?}");
    assert!(results[1].contains("an edit before it in the same answer changed those lines"), "{results:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_tools_are_offered_where_there_are_definitions_or_as_it_is_set() {
    const ALL: &[&str] = &["codeOutline", "codeView", "codeRefs", "codeReplace"];
    let config = |word: &str| format!("{{\"codeOps\": \"{word}\"}}");
    let cases: [(&str, &str, &str, &[&str]); 7] = [
        ("auto", "a.rs", "tools", ALL),
        ("auto", "a.c", "tools", &[]),
        ("auto", "a.rs", "blocks", &[]),
        ("off", "a.rs", "tools", &[]),
        ("on", "a.c", "tools", ALL),
        ("on", "a.rs", "blocks", ALL),
        ("auto", "deep/er/a.go", "tools", ALL),
    ];
    for (word, file, format, want) in cases {
        let world = World::new().file(file, "x\n").format(format).model([say("Hello.")]);
        world.write(".nebula/config.json", &config(word));
        let mut live = world.start();
        live.submit("hello");
        assert_eq!(live.end().await, TurnEnd::Done);
        assert_eq!(offered(&live), want, "{word} {file} {format}");
        live.close().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn plan_mode_has_the_readers_alone() {
    let show = hash("src/cart.rs", CART, "show");
    let steps = [
        calls(&[replace("fn.show", &show, "fn show() {}"), ("codeView", json!({"selector": "fn.show"}))]),
        say("Done."),
    ];
    let world = World::new().file("src/cart.rs", CART).plan().model(steps);
    let mut live = world.start();
    live.submit("look");
    assert_eq!(live.end().await, TurnEnd::Done);
    assert_eq!(offered(&live), ["codeOutline", "codeView", "codeRefs"]);
    let results = results(&live);
    assert!(results[0].contains("plan mode") && results[1].contains("fn show(cart: &Cart)"), "{results:?}");
    assert_eq!(world.read("src/cart.rs"), CART);
    live.close().await;
}

/// A workspace without source files that gets its first one: the next message brings the tools.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_first_source_file_brings_the_tools() {
    let write = call("writeFile", json!({"path": "a.py", "content": "x = 1\n"}));
    let world = World::new().approve("edits").model([write, say("Written."), say("Hello.")]);
    let mut live = world.start();
    live.submit("begin");
    assert_eq!(live.end().await, TurnEnd::Done);
    assert!(offered(&live).is_empty());
    live.submit("go on");
    assert_eq!(live.end().await, TurnEnd::Done);
    assert_eq!(offered(&live).len(), 4);
    live.close().await;
}

#[tokio::test]
async fn what_usually_holds_keys_is_not_shown_and_a_cut_answer_says_what_it_lacks() {
    let many: String =
        (0..2_000).map(|n| format!("fn a_name_that_is_long_enough_to_fill_the_answer_{n}() {{}}\n")).collect();
    let world =
        World::new().file(".env.ts", "export const secret = 1;\n").file("a.rs", "fn b( {\n").file("b.rs", &many);
    let steps = vec![
        ("codeOutline", json!({"selector": "**"})),
        ("codeView", json!({"selector": "const.secret"})),
        ("codeView", json!({"selector": "b.rs"})),
    ];
    let (_, results) = told(world, [steps]).await;
    let withheld = ".env.ts usually holds keys: its definitions are not shown";
    for result in &results[..2] {
        assert!(result.contains(withheld) && !result.contains("export"), "{result}");
    }
    assert!(results[0].contains("(syntax errors, so definitions may be missing: a.rs:1)"), "{}", results[0]);
    for result in [&results[0], &results[2]] {
        assert!(result.contains("(the first ") && result.contains("definitions; name a file"), "{result}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_that_usually_holds_keys_is_shown_once_the_person_allows_it() {
    for tool in ["codeOutline", "codeView", "codeRefs"] {
        let steps = [call(tool, json!({"selector": ".env.ts::secret"})), say("Done.")];
        let world = World::new().file(".env.ts", "export const secret = 1;\n").approve("all").model(steps);
        for (choice, is_shown) in [(0, true), (1, false)] {
            let mut live = world.start();
            live.submit("look");
            let question =
                live.until(|event| if let EventBody::Asked(asked) = event { Some(asked.clone()) } else { None }).await;
            assert!(question.permission && question.text.contains(".env.ts"), "{}", question.text);
            live.send(Command::Reply(question.id, Reply::Choice(choice)));
            assert_eq!(live.end().await, TurnEnd::Done);
            let result = results(&live).pop().expect("a result");
            assert_eq!(result.contains("secret") && !result.contains("did not allow"), is_shown, "{tool}: {result}");
            live.close().await;
        }
    }
}

#[tokio::test]
async fn a_source_file_without_definitions_is_there() {
    let world = World::new()
        .file("a.test.ts", "test('a', () => {});\n")
        .file("pk/__init__.py", "# nothing yet\n")
        .file("pk/sub/__init__.py", "")
        .file("docs/guide.md", "# Guide\n")
        .file("b.rs", "fn b() {}\n");
    let steps = vec![
        ("codeOutline", json!({"selector": "a.test.ts"})),
        ("codeView", json!({"selector": "pk"})),
        ("codeRefs", json!({"selector": "a.test.ts"})),
        ("codeOutline", json!({"selector": "no.test.ts"})),
        ("codeOutline", json!({"selector": "docs"})),
        ("codeOutline", json!({"selector": "a.test.ts,b.rs"})),
        ("codeOutline", json!({"selector": "**"})),
    ];
    let (_, results) = told(world, [steps]).await;
    let outline = "b.rs\n    1 b  fn b()\n";
    let wants = [
        "a.test.ts has no definitions; readFile shows the text\n",
        "pk/__init__.py, pk/sub/__init__.py have no definitions; readFile shows the text\n",
        "a.test.ts has no definitions",
        "nothing is called no.test.ts",
        "no source files of Rust, Python, TypeScript or Go are in docs",
        &format!("{outline}a.test.ts has no definitions; readFile shows the text\n"),
        // Of a whole folder what is found is enough.
        outline,
    ];
    assert_eq!(results, wants);
}

#[tokio::test]
async fn a_file_whose_name_reads_like_a_kind_and_a_name_is_a_file() {
    let world = World::new().file("mod.rs", "fn own() {}\n").file("a.rs", "mod rs {}\n");
    let steps = vec![("codeOutline", json!({"selector": "mod.rs"})), ("codeView", json!({"selector": "mod.r*"}))];
    let (_, results) = told(world, [steps]).await;
    assert!(results[0].starts_with("mod.rs\n") && results[0].contains("own"), "{}", results[0]);
    assert!(results[1].starts_with("a.rs::rs"), "{}", results[1]);
}
