//! Every row of the table of error codes: its program, its JSON, and what its patch does.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::{Checks, Diagnostic, all_capabilities, render};
use crate::strand::id::QName;
use crate::strand::issue::{Draft, Issuer, Removal, issue};
use crate::strand::lang::parse::parse_definitions;
use crate::strand::lang::print;
use crate::strand::state::State;

const TABLE: &str = include_str!("../../../tests/it/strand/programs/errors.txt");

fn load(state: &mut State, text: &str) {
    for found in parse_definitions(text).unwrap() {
        let found = found.result.unwrap_or_else(|faults| panic!("{text}: {faults:?}"));
        let qname = QName::new(found.layer, found.name);
        let draft = Draft::Add { qname, body: print::body(&found.body), doc: None, def: None };
        issue(state, &draft, &Issuer::new("user:me")).unwrap();
    }
}

fn diagnostics(state: &State) -> Vec<Diagnostic> {
    let checks = Checks::full(state, &all_capabilities());
    render(state, checks.all(state))
}

/// Rows of four lines: code and kind; program; location, message; suggestion; patch.
#[test]
fn every_row_of_the_table_holds() {
    let mut codes = BTreeSet::new();
    for row in TABLE.split("\n\n").filter(|row| !row.trim().is_empty()) {
        let lines: Vec<&str> = row.trim().lines().collect();
        let [head, program, location, message, suggestion, patch] = lines[..] else { panic!("{row}") };
        let (code, kind) = head.split_once(' ').unwrap();
        codes.insert(code.to_owned());
        let mut state = State::new();
        load(&mut state, &program.replace(" ¦ ", "\n"));
        let diagnosed = diagnostics(&state);
        assert_eq!(diagnosed.len(), 1, "{head}: {diagnosed:#?}");
        let json = diagnosed[0].to_json();
        assert_eq!(json["code"], code);
        assert_eq!(json["kind"], kind);
        assert_eq!(json["location"], location);
        assert_eq!(json["message"], message);
        let suggestion: Value = serde_json::from_str(suggestion).unwrap();
        assert_eq!(json["suggestion"], suggestion, "{head}");
        let patch: Value = serde_json::from_str(patch).unwrap();
        let expected = match &patch {
            Value::Null => Value::Null,
            patch => {
                let qname = QName::parse(location.split(".body").next().unwrap()).unwrap();
                let name = qname.name.split('.').next().unwrap();
                json!({"op": "edit", "layer": qname.layer.word(), "name": name, "patch": patch})
            }
        };
        assert_eq!(json["auto-patch"], expected, "{head}");
        assert_eq!(json["id"], format!("{code}@{location}"));
        if !patch.is_null() {
            let draft = Draft::from_json(&json["auto-patch"]).unwrap();
            issue(&mut state, &draft, &Issuer::new("user:me")).unwrap();
            let left = diagnostics(&state);
            assert!(left.is_empty(), "{head}: {left:?}");
        }
    }
    // All of the table but the dangling reference, which needs a history, and the duplicate member, which it only
    // names.
    assert_eq!(codes.len(), 24);
}

#[test]
fn complete_programs_are_clean() {
    for text in [
        include_str!("../../../tests/it/strand/programs/counter.strand"),
        include_str!("../../../tests/it/strand/programs/todo.strand"),
        include_str!("../../../tests/it/strand/programs/form.strand"),
    ] {
        let mut state = State::new();
        load(&mut state, text);
        assert_eq!(diagnostics(&state), []);
    }
}

#[test]
fn a_removed_definition_leaves_a_dangling_reference_that_can_be_fixed() {
    let mut state = State::new();
    load(&mut state, "slot draft = Text = \"x\"\ntile T = input(bind=draft, label=\"d\")");
    let qname = QName::parse("slot.draft").unwrap();
    let def = state.named(&qname).unwrap().id;
    issue(&mut state, &Draft::Remove { qname, how: Removal::Force }, &Issuer::new("user:me")).unwrap();
    let diagnosed = diagnostics(&state);
    assert_eq!(diagnosed.len(), 1);
    assert_eq!(
        (diagnosed[0].code, diagnosed[0].message.as_str()),
        ("E0501", "Dangling reference to removed slot 'draft'")
    );
    let patch = json!({"op": "add", "layer": "slot", "name": "draft", "body": "Text = \"\"", "def": def.to_string()});
    assert_eq!(diagnosed[0].auto_patch, patch);
    issue(&mut state, &Draft::from_json(&patch).unwrap(), &Issuer::new("user:me")).unwrap();
    assert_eq!(diagnostics(&state), []);
}

#[test]
fn an_incremental_check_equals_a_full_one() {
    let mut state = State::new();
    load(&mut state, include_str!("../../../tests/it/strand/programs/todo.strand"));
    let mut checks = Checks::full(&state, &all_capabilities());
    let rename = |from: &str, to: &str| Draft::Rename { qname: QName::parse(from).unwrap(), to: to.into() };
    let replace =
        |name: &str, body: &str| Draft::Replace { qname: QName::parse(name).unwrap(), body: body.into(), doc: None };
    let drafts = [
        rename("type.Todo", "Task"),
        replace("type.Task", "{ id: TodoId, title: Text }"),
        replace("fn.matchFilter", "(t: Task, f: Filter) -> Bool = match f { All -> true }"),
        rename("type.Filter", "Shown"),
        Draft::Remove { qname: QName::parse("slot.nextId").unwrap(), how: Removal::Force },
        replace("fn.toggled", "(t: Task) -> Task = toggled(t)"),
    ];
    for draft in drafts {
        let ops = issue(&mut state, &draft, &Issuer::new("user:me")).unwrap();
        // `issue` refreshed the state itself: what it touched stands for what changed.
        let definitions = ops.iter().map(crate::strand::op::Op::target).collect();
        let mut changed = super::Changed { definitions, rehashed: 0 };
        changed.definitions.extend(state.views().map(|view| view.id).filter(|id| state.watchers(*id).next().is_some()));
        checks.update(&state, &all_capabilities(), &changed);
        let diagnosed = render(&state, checks.all(&state));
        assert_eq!(diagnosed, diagnostics(&state));
    }
}
