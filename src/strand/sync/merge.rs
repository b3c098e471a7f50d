//! Computes the change from a definition to a file's text, and merges the changes of both sides.

use std::collections::BTreeMap;

use super::diff::{diff, disjoint};
use crate::strand::id::{DefId, OpId, QName, UnitId, new_op_id};
use crate::strand::issue::{self, Draft, Issuer, changed_body, edit_sealed};
use crate::strand::lang::ast::Definition;
use crate::strand::lang::parse::parse_definitions;
use crate::strand::lang::print;
use crate::strand::lang::unit::split;
use crate::strand::op::{Change, Op};
use crate::strand::state::{State, View};

/// Returns the changes that make a view what a definition says, doc lines included.
pub(super) fn changes_to(view: &View, file: &Definition, op: OpId) -> Option<Vec<Change>> {
    let mut changes = diff(view.layer, &view.body, &view.units, &file.body, op)?;
    changes.extend(doc_change(view, &file.doc));
    Some(changes)
}

/// Returns the change that gives a view other doc lines, if they are others.
pub(super) fn doc_change(view: &View, doc: &str) -> Option<Change> {
    let value = Some(doc).filter(|doc| !doc.is_empty()).map(Into::into);
    (view.doc != doc).then(|| Change::Set { unit: None, register: "doc".into(), value })
}

/// Returns the definition that a text holds, if it holds one.
fn definition_of(text: &str) -> Option<Definition> {
    parse_definitions(text).ok()?.into_iter().next()?.result.ok()
}

/// Returns the doc lines of a renamed file and its definition, unless both changed them since a text they shared.
pub(super) fn merged_doc(view: &View, file: &Definition, base: &str) -> Option<String> {
    if view.doc == file.doc {
        return Some(view.doc.clone());
    }
    let base = definition_of(base)?.doc;
    let unlike = |other: &String| *other != base;
    match (unlike(&file.doc), unlike(&view.doc)) {
        (true, true) => None,
        (true, false) => Some(file.doc.clone()),
        (false, _) => Some(view.doc.clone()),
    }
}

/// Returns what file and store come to when both changed since a text they shared: both changes, unless they touch the
/// same register.
pub(super) fn merged(state: &State, def: DefId, file: &Definition, base: &str) -> Option<Definition> {
    let view = state.view(def)?;
    let issuer = Issuer::new("strand:sync");
    let base = definition_of(base)?;
    let mut ours = State::new();
    let qname = QName::new(file.layer, file.name.clone());
    let add = Draft::Add { qname, body: print::body(&base.body), doc: Some(base.doc), def: None };
    let start = issue::issue(&mut ours, &add, &issuer).ok()?;
    let scratch = start.first()?.id;
    let above = parents(ours.view(scratch)?);
    let mut theirs = State::new();
    theirs.apply(start);
    let stored =
        Definition { layer: view.layer, name: file.name.clone(), doc: view.doc.clone(), body: view.body.clone() };
    let edit = |state: &mut State, to: &Definition| -> Option<Vec<Op>> {
        let old = state.view(scratch)?.clone();
        let probe = changes_to(&old, to, new_op_id())?;
        changed_body(&old, &probe)?;
        let mut made = Vec::new();
        let make = |op| (changes_to(&old, to, op).unwrap_or_default(), to.body.clone());
        edit_sealed(state, scratch, make, &issuer, &mut made);
        Some(made)
    };
    let (a, b) = (edit(&mut ours, &stored)?, edit(&mut theirs, file)?);
    if !disjoint(&a.first()?.changes, &b.first()?.changes, &above) {
        return None;
    }
    ours.apply(b);
    let both = ours.view(scratch)?;
    Some(Definition { layer: file.layer, name: file.name.clone(), doc: both.doc.clone(), body: both.body.clone() })
}

/// Returns the parent of each unit that has one.
fn parents(view: &View) -> BTreeMap<UnitId, UnitId> {
    let units = split(&view.body).units;
    units.iter().zip(&view.units).filter_map(|(unit, id)| Some((*id, *view.units.get(unit.parent?)?))).collect()
}
