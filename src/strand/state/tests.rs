//! The state over small histories: hashes, names, merging.

use serde_json::json;

use super::State;
use crate::strand::id::{Layer, QName};
use crate::strand::issue::{Draft, Issuer, Removal, issue};
use crate::strand::lang::parse::parse_definitions;
use crate::strand::lang::print;
use crate::strand::op::Op;

const TODO: &str = include_str!("../../../tests/it/strand/programs/todo.strand");

fn me() -> Issuer {
    Issuer::new("user:me")
}

/// Issues every definition of a text.
fn load(state: &mut State, text: &str) -> Vec<Op> {
    let mut ops = Vec::new();
    for found in parse_definitions(text).unwrap() {
        let found = found.result.unwrap();
        let qname = QName::new(found.layer, found.name);
        let draft = Draft::Add { qname, body: print::body(&found.body), doc: None, def: None };
        ops.extend(issue(state, &draft, &me()).unwrap());
    }
    ops
}

fn qname(text: &str) -> QName {
    QName::parse(text).unwrap()
}

fn text(state: &State, name: &str) -> String {
    state.named(&qname(name)).unwrap().text().to_owned()
}

fn hashes(state: &State) -> Vec<(crate::strand::id::DefId, crate::strand::hash::Hash)> {
    let mut all: Vec<_> = state.views().map(|view| (view.id, view.hash)).collect();
    all.sort();
    all
}

#[test]
fn a_rename_changes_no_hash_and_shows_everywhere() {
    let mut state = State::new();
    load(&mut state, TODO);
    let before = hashes(&state);
    issue(&mut state, &Draft::Rename { qname: qname("type.Todo"), to: "Task".into() }, &me()).unwrap();
    assert_eq!(hashes(&state), before);
    assert_eq!(text(&state, "fn.toggled"), "fn toggled = (t: Task) -> Task = with(t, done=not t.done)\n");
}

#[test]
fn a_late_mention_follows_a_rename_by_an_edit() {
    let mut state = State::new();
    load(&mut state, "fn f = () -> Int = g()\nfn g = () -> Int = 1\n");
    let ops = issue(&mut state, &Draft::Rename { qname: qname("fn.g"), to: "h".into() }, &me()).unwrap();
    assert_eq!(ops.len(), 2);
    assert_eq!(text(&state, "fn.f"), "fn f = () -> Int = h()\n");
}

#[test]
fn an_edit_travels_as_registers() {
    let mut state = State::new();
    load(&mut state, "slot users = List(Text) = []\ntile TodoRow = row { text(value=text(len(usres))) }");
    let patch = json!({"body:2": "replace 'usres' -> 'users'"});
    let ops = issue(&mut state, &Draft::Edit { qname: qname("tile.TodoRow"), patch }, &me()).unwrap();
    let changes = ops[0].to_json()["changes"].clone();
    let id = state.named(&qname("tile.TodoRow")).unwrap().id;
    assert_eq!(changes, json!([{"reg": format!("{id}.2/arg.value"), "set": "text(len(users))"}]));
    assert_eq!(text(&state, "tile.TodoRow"), "tile TodoRow =\n  row {\n    text(value=text(len(users)))\n  }\n");
}

#[test]
fn edits_of_different_registers_both_show_and_order_does_not_matter() {
    let mut base = State::new();
    let mut ops = load(&mut base, "slot n = Int = 0\nreducer r = do= n := 1; n := 2\n");
    let made: Vec<Op> = [
        json!({"body:1.value": "set 10"}),
        json!({"body:1": "add guard=n > 0"}),
        json!({"body:1": "insert n := 3; n := 4"}),
        json!({"body:2": "delete"}),
    ]
    .into_iter()
    .map(|patch| {
        let mut replica = State::new();
        replica.apply(ops.clone());
        issue(&mut replica, &Draft::Edit { qname: qname("reducer.r"), patch }, &me()).unwrap().remove(0)
    })
    .collect();
    base.apply(made.clone());
    assert_eq!(text(&base, "reducer.r"), "reducer r =\n  do=\n    n := 10 when n > 0\n    n := 3\n    n := 4\n");
    ops.extend(made);
    ops.reverse();
    let mut other = State::new();
    for op in ops {
        other.apply([op]);
    }
    assert_eq!(other.state_hash(), base.state_hash());
}

#[test]
fn the_smaller_add_absorbs_and_a_rename_settles() {
    let (mut a, mut b) = (State::new(), State::new());
    let one = load(&mut a, "slot n = Int = 1");
    let two = load(&mut b, "slot n = Int = 2\nfn f = () -> Int = 3\ntile T = text(value=text(n))");
    a.apply(two.clone());
    assert_eq!(text(&a, "slot.n"), "slot n = Int = 1\n");
    assert_eq!(text(&a, "tile.T"), "tile T =\n  text(value=text(n))\n");
    let ops = issue(&mut a, &Draft::Rename { qname: qname("slot.n"), to: "m".into() }, &me()).unwrap();
    assert_eq!(ops.len(), 2);
    assert!(a.find(Layer::Slot, "n").is_none());
    assert_eq!(text(&a, "tile.T"), "tile T =\n  text(value=text(m))\n");
    b.apply(one);
    b.apply(ops);
    assert_eq!(a.state_hash(), b.state_hash());
}

#[test]
fn removal_is_refused_with_the_places() {
    let mut state = State::new();
    load(&mut state, TODO);
    let remove = |how| Draft::Remove { qname: qname("slot.draft"), how };
    let refusal = issue(&mut state, &remove(Removal::Refuse), &me()).unwrap_err();
    assert_eq!(
        refusal.to_string(),
        "cannot remove slot.draft (referenced by 1 reducer, 1 tile)\n  reducer.todo-add:1\n  reducer.todo-add:2\n  \
         reducer.todo-add:3\n  tile.NewForm:2\n  tile.NewForm:3\n\
         Use --cascade to remove all dependents, or --force to leave dangling"
    );
    let before = state.state_hash();
    let ops = issue(&mut state, &remove(Removal::Cascade), &me()).unwrap();
    assert_eq!(ops.len(), 4, "the reducer, the form and the app go with it");
    state.retract(&ops.iter().map(|op| op.id).collect());
    state.refresh();
    assert_eq!(state.state_hash(), before);
}

#[test]
fn cycles_hash_without_an_order_of_members() {
    let text = "effect e = () -> Text err=Text needs=[net] do=http.get(\"/\")\n\
                reducer a = in=(t: Text) do= emit e() err=b\nreducer b = in=(t: Text) do= emit e() err=a\n";
    let mut state = State::new();
    load(&mut state, text);
    let hash = |state: &State, name: &str| state.named(&qname(name)).unwrap().hash;
    assert_eq!(hash(&state, "reducer.a"), hash(&state, "reducer.b"));
    let before = hash(&state, "reducer.a");
    issue(&mut state, &Draft::Rename { qname: qname("reducer.b"), to: "c".into() }, &me()).unwrap();
    assert_eq!(hash(&state, "reducer.a"), before);
    issue(&mut state, &Draft::Edit { qname: qname("reducer.c"), patch: json!({"body:1": "unset err"}) }, &me())
        .unwrap();
    assert_ne!(hash(&state, "reducer.a"), before);
}

#[test]
fn the_hash_is_of_exactly_these_bytes() {
    let mut state = State::new();
    load(&mut state, "slot n = Int = 0");
    let mut bytes = b"strand/1\0".to_vec();
    let mut str = |text: &str| {
        bytes.extend((text.len() as u32).to_le_bytes());
        bytes.extend(text.as_bytes());
    };
    str("slot");
    str("");
    str("slot-body");
    bytes.extend(2u32.to_le_bytes());
    for (kind, text) in [("built-in", "Int"), ("int", "0")] {
        bytes.extend((kind.len() as u32).to_le_bytes());
        bytes.extend(kind.as_bytes());
        bytes.extend(u32::MAX.to_le_bytes());
        bytes.extend((text.len() as u32).to_le_bytes());
        bytes.extend(text.as_bytes());
    }
    bytes.extend(0u32.to_le_bytes());
    assert_eq!(state.named(&qname("slot.n")).unwrap().hash.0, *blake3::hash(&bytes).as_bytes());
}
