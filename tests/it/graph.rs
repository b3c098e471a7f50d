//! The graph over a real store and over source files: definitions with their references and history, what changes under
//! it, and conflicts that are decided, over the channel of a front end and in a terminal.

use std::path::{Path, PathBuf};

use nebula::protocol::{
    Command, ConflictChoice, ConflictRow, DefinitionDetail, EventBody, GraphLink, GraphPage, Listing, Query, QueryId,
    SessionChoice,
};
use nebula::strand::id::QName;
use nebula::strand::issue::{Draft, Issuer};
use nebula::strand::store::{Store, pull};
use serde_json::json;

use crate::pty::Terminal;
use crate::support::world::{Live, World, call, say};

fn qname(text: &str) -> QName {
    QName::parse(text).expect("layer.Name")
}

fn add(name: &str, body: &str) -> Draft {
    Draft::Add { qname: qname(name), body: body.into(), doc: None, def: None }
}

fn issue(store: &mut Store, drafts: &[Draft]) {
    store.issue(drafts, &Issuer::new("user:me"), false).expect("issued");
}

/// Makes a store in a folder.
fn store(folder: &Path) -> Store {
    let mut store = Store::init(&folder.join("shop.strand")).expect("a store");
    let drafts = [
        add("slot.count", "Int = 0"),
        add("fn.twice", "(n: Int) -> Int = n + n"),
        add("fn.shown", "(n: Int) -> Int = twice(n)"),
    ];
    issue(&mut store, &drafts);
    store
}

/// Makes a store in which an edit lost against a new body that did not know it.
fn conflicting(folder: &Path) -> PathBuf {
    let mut store = store(folder);
    let mut copy = store.snapshot(&folder.join("elsewhere/copy")).expect("a copy");
    let name = qname("slot.count");
    issue(&mut store, &[Draft::Replace { qname: name.clone(), body: "Int = 1".into(), doc: None }]);
    issue(&mut copy, &[Draft::Edit { qname: name, patch: json!({"init": "set 5"}) }]);
    pull(&mut store, &mut copy, false).expect("pulled");
    store.root().to_owned()
}

async fn ask(live: &mut Live, query: Query) -> Listing {
    live.send(Command::Ask(QueryId(7), query));
    live.until(|event| match event {
        EventBody::Answer(QueryId(7), listing) => Some(listing.clone()),
        _ => None,
    })
    .await
}

async fn page(live: &mut Live, filter: &str, limit: usize) -> GraphPage {
    match ask(live, Query::Graph { filter: filter.into(), limit }).await {
        Listing::Graph(page) => page,
        other => panic!("{other:?}"),
    }
}

async fn definition(live: &mut Live, id: &str) -> DefinitionDetail {
    match ask(live, Query::Definition(id.into())).await {
        Listing::Definition(found) => *found,
        other => panic!("{other:?}"),
    }
}

fn names(links: &[GraphLink]) -> Vec<(&str, &str)> {
    links.iter().map(|link| (&*link.name, &*link.place)).collect()
}

#[tokio::test]
async fn definitions_are_listed_with_their_references_and_history() {
    let world = World::new();
    let mut live = world.start();
    let Listing::Failed(why) = ask(&mut live, Query::Graph { filter: String::new(), limit: 9 }).await else {
        panic!("there is no store yet")
    };
    assert!(why.contains("strand init") && why.contains("no source file"), "{why}");
    let mut store = store(&world.root());
    let found = page(&mut live, "", 2).await;
    assert_eq!((found.rows.len(), found.found, found.total), (2, 3, 3));
    assert_eq!(found.conflicts, []);
    let found = page(&mut live, "TWICE fn.", 9).await;
    let [twice] = &found.rows[..] else { panic!("{found:?}") };
    assert_eq!((&*twice.group, &*twice.name, &*twice.signature), ("fn", "twice", "(n: Int) -> Int"));
    let shown = definition(&mut live, &twice.id).await;
    assert!(shown.text.contains("n + n"), "{}", shown.text);
    assert_eq!(names(&shown.used_by.rows), [("fn.shown", "1")]);
    let user = definition(&mut live, &shown.used_by.rows[0].id).await;
    assert_eq!(names(&user.uses.rows), [("fn.twice", "1")]);
    // What refers to nothing is told where it stands.
    issue(
        &mut store,
        &[Draft::Rename { qname: qname("fn.twice"), to: "double".into() }, add("fn.bad", "() -> Int = x")],
    );
    let shown = definition(&mut live, &twice.id).await;
    assert_eq!(shown.name, "fn.double");
    let ops: Vec<_> = shown.history.iter().map(|op| (&*op.kind, &*op.author, &*op.summary)).collect();
    assert_eq!(ops, [("rename", "user:me", "twice -> double"), ("add", "user:me", "(n: Int) -> Int = n + n")]);
    let found = page(&mut live, "fn.bad", 9).await;
    assert_eq!(found.rows[0].errors, 1);
    let bad = definition(&mut live, &found.rows[0].id).await;
    assert!(bad.faults[0].code.starts_with("E01"), "{:?}", bad.faults);
    let Listing::Failed(why) = ask(&mut live, Query::Definition("op_gone".into())).await else { panic!("it is gone") };
    assert!(why.contains("no longer there"), "{why}");
    // Looking writes nothing.
    assert!(!store.inner("store.crdt").exists());
    live.close().await;
}

#[tokio::test]
async fn of_several_stores_the_first_is_shown_and_the_others_are_named() {
    let world = World::new();
    let mut live = world.start();
    store(&world.root());
    let alone = page(&mut live, "", 9).await;
    assert!(alone.place.ends_with("shop.strand") && alone.beside.is_empty(), "{alone:?}");
    // One that is not called as a store is named too, and comes last.
    Store::init(&world.root().join("a plain one")).expect("a store");
    assert_eq!(page(&mut live, "", 9).await.beside, ["a plain one"]);
    Store::init(&world.root().join("other.strand")).expect("a store");
    let found = page(&mut live, "", 9).await;
    assert!(found.place.ends_with("other.strand") && found.rows.is_empty(), "{found:?}");
    assert_eq!(found.beside, ["shop.strand", "a plain one"]);
    live.close().await;
}

#[tokio::test]
async fn a_store_that_another_program_writes_is_told() {
    let world = World::new();
    let mut store = store(&world.root());
    let mut live = world.start();
    live.open(SessionChoice::New);
    // The watch begins a moment after the start: ops are written until it tells of one.
    let mut n = 0;
    loop {
        n += 1;
        issue(&mut store, &[add(&format!("slot.new{n}"), "Int = 0")]);
        let told = live.until(|event| matches!(event, EventBody::GraphChanged).then_some(()));
        if tokio::time::timeout(std::time::Duration::from_secs(1), told).await.is_ok() {
            break;
        }
        assert!(n < 60, "the watch tells nothing");
    }
    live.close().await;
}

#[tokio::test]
async fn a_conflict_is_decided_by_the_code_of_the_command_line() {
    for choice in [ConflictChoice::Keep, ConflictChoice::Take] {
        let world = World::new();
        let root = conflicting(&world.root());
        let mut live = world.start();
        let found = page(&mut live, "", 9).await;
        let [conflict] = &found.conflicts[..] else { panic!("{:?}", found.conflicts) };
        assert_eq!((&*conflict.id, &*conflict.kind), ("W0902@slot.count", "edit-superseded"));
        assert!(conflict.can_take && conflict.lost.contains("set 5"), "{conflict:?}");
        // Another one of the same place than the one that was shown is not decided.
        let other = ConflictRow { lost: "set 7".into(), ..conflict.clone() };
        live.send(Command::DecideConflict(Box::new(other), choice));
        live.until(|event| match event {
            EventBody::Notice(notice) if notice.title.contains("has changed since it was shown") => Some(()),
            _ => None,
        })
        .await;
        assert_eq!(page(&mut live, "", 9).await.conflicts, found.conflicts);
        live.send(Command::DecideConflict(Box::new(conflict.clone()), choice));
        live.until(|event| matches!(event, EventBody::GraphChanged).then_some(())).await;
        assert_eq!(page(&mut live, "", 9).await.conflicts, []);
        let store = Store::open(&root).expect("it opens");
        let text = store.state().named(&qname("slot.count")).expect("it is there").text().to_owned();
        assert_eq!(
            text,
            if choice == ConflictChoice::Keep { "slot count = Int = 1\n" } else { "slot count = Int = 5\n" }
        );
        // What is decided already is an error in words, and changes nothing.
        live.send(Command::DecideConflict(Box::new(conflict.clone()), choice));
        let why = live.until(|event| match event {
            EventBody::Notice(notice) if notice.title.contains("there is no conflict") => Some(notice.title.clone()),
            _ => None,
        });
        why.await;
        live.close().await;
        let after = Store::open(&root).expect("it opens");
        assert_eq!(after.state().state_hash(), store.state().state_hash());
    }
}

/// A workspace of source files, one of which does not parse and one of which is no text.
fn shop() -> World {
    let world = World::new();
    world.write("src/lib.rs", "pub mod cart;\nuse cart::total;\n\npub fn shown() -> u32 {\n    total(2)\n}\n");
    world.write(
        "src/cart.rs",
        "/// The price.\npub fn total(n: u32) -> u32 {\n    twice(n)\n}\n\nfn twice(n: u32) -> u32 {\n    n + n\n}\n",
    );
    world.write("tools/half.py", "def whole():\n    return 1\n\ndef half(:\n");
    std::fs::write(world.root().join("tools/bytes.py"), b"def f():\n    return '\xff'\n").expect("written");
    world
}

#[tokio::test]
async fn definitions_of_source_files_are_listed_by_file_and_what_does_not_parse_is_named() {
    let world = shop();
    let mut live = world.start();
    let found = page(&mut live, "", 99).await;
    assert_eq!((found.files, found.files_left, found.trouble.as_deref()), (4, 0, None));
    let rows: Vec<_> = found.rows.iter().map(|row| (&*row.group, &*row.name, row.errors)).collect();
    assert_eq!(rows[..2], [("src/cart.rs", "total", 0), ("src/cart.rs", "twice", 0)]);
    assert_eq!(rows[2..4], [("src/lib.rs", "cart", 0), ("src/lib.rs", "shown", 0)]);
    let [bytes, half, rest @ ..] = &found.rows[4..] else { panic!("{rows:?}") };
    assert!(bytes.id == "tools/bytes.py" && bytes.name.contains("not UTF-8"), "{bytes:?}");
    assert!(half.id == "tools/half.py" && half.name.starts_with("syntax error in line 4"), "{half:?}");
    assert_eq!((&*rest[0].name, found.found, found.total), ("whole", found.total, found.rows.len() - 2));
    // Its detail says so as well, and what it holds.
    let file = definition(&mut live, "tools/half.py").await;
    assert!(file.is_file && file.text.contains("def whole()"), "{file:?}");
    assert!(file.faults[0].message.contains("line 4"), "{:?}", file.faults);
    // Words of path and name narrow it; no more is read than is asked for.
    let found = page(&mut live, "CART tw", 99).await;
    assert_eq!(found.rows.iter().map(|row| &*row.id).collect::<Vec<_>>(), ["src/cart.rs::twice"]);
    let found = page(&mut live, "", 1).await;
    assert_eq!((found.rows.len(), found.found, found.files_left), (1, 2, 3));
    live.close().await;
}

#[tokio::test]
async fn a_definition_of_a_source_file_has_references_both_ways_and_a_history() {
    let world = shop().approve("edits").model([
        call("readFile", json!({"path": "src/cart.rs"})),
        call("editFile", json!({"path": "src/cart.rs", "new_content": "fn twice(n: u32) -> u32 {\n    2 * n\n}\n\npub fn total(n: u32) -> u32 {\n    twice(n)\n}\n"})),
        say("done"),
    ]);
    let mut live = world.start();
    let total = definition(&mut live, "src/cart.rs::total").await;
    assert!(total.text.starts_with("/// The price.\npub fn total"), "{}", total.text);
    assert_eq!(names(&total.uses.rows), [("src/cart.rs::twice", "3 local")]);
    assert_eq!(names(&total.used_by.rows), [("src/lib.rs", "2 import"), ("src/lib.rs::shown", "5 import")]);
    assert_eq!(total.history, []);
    live.submit("twice as a product");
    live.end().await;
    let twice = definition(&mut live, "src/cart.rs::twice").await;
    assert_eq!(names(&twice.used_by.rows), [("src/cart.rs::total", "6 local")]);
    let [change] = &twice.history[..] else { panic!("{:?}", twice.history) };
    assert_eq!((&*change.author, &*change.kind, &*change.summary), ("nebula", "changed", "twice as a product"));
    // Of the other one its documentation went.
    assert_eq!(definition(&mut live, "src/cart.rs::total").await.history.len(), 1);
    // What someone else writes then is not nebula's.
    world.write("src/cart.rs", "fn twice(n: u32) -> u32 {\n    n << 1\n}\n");
    assert_eq!(definition(&mut live, "src/cart.rs::twice").await.history, twice.history);
    let Listing::Failed(why) = ask(&mut live, Query::Definition("src/cart.rs::total".into())).await else {
        panic!("it is gone")
    };
    assert!(why.contains("no longer there"), "{why}");
    live.close().await;
}

/// As many files as a walk does not read at once; the list that is not wanted any more ends without an answer of use.
#[tokio::test]
async fn what_is_read_for_a_list_ends_when_the_graph_is_left() {
    let world = World::new();
    let text: String = (0..200).map(|n| format!("def f{n}(a, b):\n    return a + b + {n}\n\n")).collect();
    (0..300).for_each(|n| world.write(&format!("m{n}.py"), &text));
    let mut live = world.start();
    let all = Query::Graph { filter: "f".into(), limit: usize::MAX };
    live.send(Command::Ask(QueryId(1), all.clone()));
    live.send(Command::LeaveGraph);
    live.send(Command::Ask(QueryId(2), all));
    live.send(Command::Ask(QueryId(3), Query::Graph { filter: "f7 m7.py".into(), limit: 9 }));
    let mut answers = std::collections::BTreeMap::new();
    while answers.len() < 3 {
        let answer = live.until(|event| match event {
            EventBody::Answer(id, listing) => Some((id.0, listing.clone())),
            _ => None,
        });
        let (id, listing) = answer.await;
        answers.insert(id, listing);
    }
    for id in [1, 2] {
        assert!(matches!(&answers[&id], Listing::Failed(why) if why.starts_with("stopped")), "{id}");
    }
    assert!(matches!(&answers[&3], Listing::Graph(page) if page.rows.len() == 9), "{:?}", answers[&3]);
    live.close().await;
}

#[test]
fn a_conflict_goes_from_its_key_to_its_decision() {
    let home = tempfile::tempdir().expect("a folder");
    let root = conflicting(home.path());
    let recording = concat!(env!("CARGO_MANIFEST_DIR"), "/assets/demo.jsonl");
    let mut terminal = Terminal::start_in(env!("CARGO_BIN_EXE_nebula"), &["--replay", recording], home.path());
    terminal.wait_for("ask for a change");
    terminal.keys("\x1b[18~");
    terminal.wait_for("slot.count edit-superseded");
    terminal.wait_for("set 5");
    // A no first, which leaves it as it is.
    terminal.press("T", "issue again what does not show in slot.count?");
    terminal.keys("x");
    terminal.press("T", "issue again what does not show in slot.count?");
    terminal.keys("\r");
    terminal.wait_until("no conflict", |screen| !screen.contains("edit-superseded"));
    assert_eq!(terminal.leave(), 0);
    let store = Store::open(&root).expect("it opens");
    let text = store.state().named(&qname("slot.count")).expect("it is there").text().to_owned();
    assert_eq!(text, "slot count = Int = 5\n");
}

#[test]
fn a_store_that_the_environment_names_and_is_none_is_said_in_the_graph() {
    let home = tempfile::tempdir().expect("a folder");
    store(home.path());
    let recording = concat!(env!("CARGO_MANIFEST_DIR"), "/assets/demo.jsonl");
    let shown = |named: &str, words: &str| {
        let named = format!("STRAND_STORE={named}");
        let args = [&named, env!("CARGO_BIN_EXE_nebula"), "--replay", recording];
        let mut terminal = Terminal::start_in("/usr/bin/env", &args, home.path());
        terminal.wait_for("ask for a change");
        terminal.keys("\x1b[18~");
        terminal.wait_for("twice");
        terminal.wait_for(words);
        assert_eq!(terminal.leave(), 0);
    };
    shown("other.strand", "STRAND_STORE=other.strand is no store here");
    // A store, but none of this folder.
    let elsewhere = tempfile::tempdir().expect("a folder");
    let outside = store(elsewhere.path()).root().display().to_string();
    shown(&outside, "STRAND_STORE=/");
    // The one that is shown without it: there is nothing to say.
    shown("shop.strand", "shop.strand");
}
