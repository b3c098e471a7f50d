//! The test vectors of hashing: what changes a hash, and what does not.

use std::collections::BTreeMap;

use nebula::strand::id::QName;
use nebula::strand::issue::{Draft, Issuer, issue};
use nebula::strand::lang::parse::parse_definitions;
use nebula::strand::lang::print;
use nebula::strand::state::State;

use super::world::TODO;

fn qname(text: &str) -> QName {
    QName::parse(text).unwrap()
}

fn load(text: &str) -> State {
    let mut state = State::new();
    for found in parse_definitions(text).unwrap() {
        let found = found.result.unwrap();
        let (qname, body) = (QName::new(found.layer, found.name), print::body(&found.body));
        issue(&mut state, &Draft::Add { qname, body, doc: None, def: None }, &Issuer::new("user:me")).unwrap();
    }
    state
}

fn replace(state: &mut State, name: &str, body: &str) {
    let draft = Draft::Replace { qname: qname(name), body: body.into(), doc: None };
    issue(state, &draft, &Issuer::new("user:me")).unwrap();
}

fn hash(state: &State, name: &str) -> String {
    state.named(&qname(name)).unwrap().hash.to_string()
}

/// The hash of the last definition of a text.
fn last(text: &str) -> String {
    let found = parse_definitions(text).unwrap();
    let last = found.last().unwrap();
    hash(&load(text), &format!("{}.{}", last.layer, last.name))
}

#[test]
fn a_hash_depends_on_meaning_and_not_on_layout() {
    let filter = "type F = | A(n: Int) | B\n";
    let with = |definition: &str| last(&format!("{filter}{definition}"));
    let base = with("fn f = (x: F) -> Int = match x { A(n) -> n + 1 * 2; B -> 0 }");
    assert_eq!(with("fn f   =  ( x : F )->Int=match x{A(n)->n+1*2;B->0;}"), base, "spacing");
    assert_eq!(with("fn f = (x: F) -> Int = match x { A(m) -> m + 1 * 2; B -> 0 }"), base, "binders of a match");
    assert_eq!(with("fn f = (x: F) -> Int = (match (x) { A(n) -> (n + (1 * 2)); B -> 00 })"), base, "brackets, zeros");
    assert_eq!(with("fn other = (x: F) -> Int = match x { A(n) -> n + 1 * 2; B -> 0 }"), base, "the name");
    assert_ne!(with("fn f = (x: F) -> Int = match x { A(n) -> n + 1 * 3; B -> 0 }"), base, "a literal");
    assert_ne!(with("fn f = (x: F) -> Int = match x { A(n) -> (n + 1) * 2; B -> 0 }"), base, "the shape");
    assert_ne!(with("fn f = (y: F) -> Int = match y { A(n) -> n + 1 * 2; B -> 0 }"), base, "a parameter can be named");
    assert_eq!(last("type R = { a: Int, b: Text }"), last("type R = { b: Text, a: Int }"), "order of fields");
    assert_ne!(last("type U = | A | B"), last("type U = | B | A"), "order of variants");
    let made = |args: &str| last(&format!("type R = {{ a: Int, b: Int }}\nfn f = () -> R = R({args})"));
    assert_eq!(made("a=1, b=2"), made("b=2, a=1"), "order of named arguments");
    let effect = |needs: &str| last(&format!("effect e = () -> Int needs=[{needs}] do=clock.now()"));
    assert_eq!(effect("clock, log"), effect("log, clock"), "order of needs");
}

#[test]
fn docs_authors_and_links_do_not_count() {
    let plain = load("fn f = () -> Int = 1\nslot s = Int = 2");
    let mut replayed = State::new();
    for (name, body) in [("slot.s", "Int = 2"), ("fn.f", "() -> Int = 1")] {
        let draft = Draft::Add { qname: qname(name), body: body.into(), doc: Some("what it is for".into()), def: None };
        issue(&mut replayed, &draft, &Issuer::new("agent:other")).unwrap();
    }
    issue(&mut replayed, &Draft::Link(qname("fn.f"), qname("slot.s")), &Issuer::new("agent:other")).unwrap();
    assert_eq!(hash(&replayed, "fn.f"), hash(&plain, "fn.f"));
    assert_eq!(hash(&replayed, "slot.s"), hash(&plain, "slot.s"));
}

#[test]
fn a_change_spreads_to_what_reaches_it_and_no_further() {
    let mut state = load(TODO);
    let all = |state: &State| -> BTreeMap<String, String> {
        state.visible().map(|view| (view.qname().to_string(), view.hash.to_string())).collect()
    };
    let before = all(&state);
    replace(&mut state, "type.Todo", "{ id: TodoId, title: Text, done: Bool, due: Option(Int) }");
    let after = all(&state);
    let changed: Vec<&str> =
        before.iter().filter(|(name, hash)| after[*name] != **hash).map(|(name, _)| name.as_str()).collect();
    assert_eq!(
        changed,
        [
            "fn.matchFilter",
            "fn.toggled",
            "reducer.todo-add",
            "reducer.todo-delete",
            "reducer.todo-toggle",
            "slot.todos",
            "tile.App",
            "tile.TodoRow",
            "type.Todo"
        ]
    );
}

#[test]
fn a_nominal_type_is_salted_and_shapes_are_not() {
    let state = load("type A = nominal Int\ntype B = nominal Int\ntype C = { x: Int }\ntype D = { x: Int }");
    assert_ne!(hash(&state, "type.A"), hash(&state, "type.B"));
    assert_eq!(hash(&state, "type.C"), hash(&state, "type.D"));
}

#[test]
fn cycles_hash_the_same_in_any_order() {
    let effect = "effect e = () -> Text err=Text needs=[net] do=http.get(\"/\")\nslot n = Int = 0\n";
    let (a, b) = (
        "reducer a = in=(t: Text) do= emit e() err=b; n := 1\n",
        "reducer b = in=(t: Text) do= emit e() err=a; n := 2\n",
    );
    let (one, two) = (load(&format!("{effect}{a}{b}")), load(&format!("{effect}{b}{a}")));
    for name in ["reducer.a", "reducer.b"] {
        assert_eq!(hash(&one, name), hash(&two, name));
    }
    assert_ne!(hash(&one, "reducer.a"), hash(&one, "reducer.b"));
    let mut changed = load(&format!("{effect}{a}{b}"));
    replace(&mut changed, "reducer.b", "in=(t: Text) do= emit e() err=a; n := 3");
    assert_ne!(hash(&changed, "reducer.a"), hash(&one, "reducer.a"));
    assert_ne!(hash(&changed, "reducer.b"), hash(&one, "reducer.b"));
    // Illegal cycles are kept, and hash too.
    let illegal = load("fn f = () -> Int = g()\nfn g = () -> Int = f()\nfn h = () -> Int = h()");
    assert_eq!(hash(&illegal, "fn.f"), hash(&illegal, "fn.g"));
    assert_ne!(hash(&illegal, "fn.f"), hash(&illegal, "fn.h"));
}

#[test]
fn a_body_put_back_has_its_hash_back() {
    let mut state = load("type T = { x: Int }\nslot s = T = T(x=1)");
    let before = (hash(&state, "type.T"), hash(&state, "slot.s"));
    let id = state.named(&qname("type.T")).unwrap().id;
    replace(&mut state, "type.T", "{ y: Text }");
    assert_ne!((hash(&state, "type.T"), hash(&state, "slot.s")), before);
    replace(&mut state, "type.T", "{ x: Int }");
    assert_eq!((hash(&state, "type.T"), hash(&state, "slot.s")), before);
    assert_eq!(state.named(&qname("type.T")).unwrap().id, id);
}
