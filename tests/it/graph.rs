//! The graph over a real store: definitions with their references and history, a store that changes under it, and
//! conflicts that are decided.

use std::path::{Path, PathBuf};

use nebula::protocol::{
    Command, ConflictChoice, ConflictRow, DefinitionDetail, EventBody, GraphLink, GraphPage, Listing, Query, QueryId,
    SessionChoice,
};
use nebula::strand::id::QName;
use nebula::strand::issue::{Draft, Issuer};
use nebula::strand::store::{Store, pull};
use serde_json::json;

use crate::support::world::{Live, World};

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
    assert!(why.contains("strand init"), "{why}");
    let mut store = store(&world.root());
    let found = page(&mut live, "", 2).await;
    assert_eq!((found.rows.len(), found.found, found.total), (2, 3, 3));
    assert_eq!(found.conflicts, []);
    let found = page(&mut live, "TWICE fn.", 9).await;
    let [twice] = &found.rows[..] else { panic!("{found:?}") };
    assert_eq!((&*twice.layer, &*twice.name, &*twice.signature), ("fn", "twice", "(n: Int) -> Int"));
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
