//! Computes the change from a definition to a file's text, and merges the changes of both sides.

use super::{diff, disjoint};
use crate::strand::id::{DefId, OpId, QName, new_op_id};
use crate::strand::issue::{self, Draft, Issuer, changed_body, edit_sealed};
use crate::strand::lang::ast::Definition;
use crate::strand::lang::parse::parse_definitions;
use crate::strand::lang::print;
use crate::strand::op::{Change, Op};
use crate::strand::state::{State, View};

/// Returns the changes that make a view what a definition says, doc lines included.
pub(super) fn changes_to(view: &View, file: &Definition, op: OpId) -> Option<Vec<Change>> {
    let mut changes = diff(view.layer, &view.body, &view.units, &file.body, op)?;
    if view.doc != file.doc {
        let value = Some(file.doc.clone()).filter(|doc| !doc.is_empty());
        changes.push(Change::Set { unit: None, register: "doc".into(), value: value.map(Into::into) });
    }
    Some(changes)
}

/// Returns what file and store come to when both changed since a text they shared: both changes, unless they touch the
/// same register.
pub(super) fn merged(state: &State, def: DefId, file: &Definition, base: &str) -> Option<Definition> {
    let view = state.view(def)?;
    let issuer = Issuer::new("strand:sync");
    let base = parse_definitions(base).ok()?.into_iter().next()?.result.ok()?;
    let mut ours = State::new();
    let qname = QName::new(file.layer, file.name.clone());
    let add = Draft::Add { qname, body: print::body(&base.body), doc: Some(base.doc), def: None };
    let start = issue::issue(&mut ours, &add, &issuer).ok()?;
    let scratch = start.first()?.id;
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
    if !disjoint(&a.first()?.changes, &b.first()?.changes) {
        return None;
    }
    ours.apply(b);
    let both = ours.view(scratch)?;
    Some(Definition { layer: file.layer, name: file.name.clone(), doc: both.doc.clone(), body: both.body.clone() })
}
