//! Issuing: drafts become sealed ops on the present state, or are refused.

mod admit;
mod draft;
mod patch;
mod references;
mod refusal;
mod reissue;
mod remove;
mod rename;
mod revert;

use std::collections::HashSet;

use serde_json::Value;

pub use admit::{dep, depends, edit_sealed, heads, target};
pub use draft::{Draft, Issuer, Removal};
pub use patch::{find_tokens, patch_of, replace_tokens};
pub use references::{References, references};
pub use refusal::{Refusal, Unparsed};
pub use reissue::reissue;
pub use revert::{changed_body, current_text, revert, revert_all};

use super::id::{DefId, Layer, OpId, QName};
use super::lang::ast::Body;
use super::lang::parse::parse_body;
use super::lang::print;
use super::op::{Kind, Op};
use super::state::State;
use admit::{admit, admit_edit, blank, checked_name, own_heads};

/// Seals a draft on the state and admits the resulting ops there. On refusal the state is as before.
pub fn issue(state: &mut State, draft: &Draft, issuer: &Issuer) -> Result<Vec<Op>, Refusal> {
    let mut made = Vec::new();
    let result = seal(state, draft, issuer, &mut made);
    match result {
        Ok(()) => Ok(made),
        Err(refusal) => {
            let ids: HashSet<OpId> = made.iter().map(|op| op.id).collect();
            if !ids.is_empty() {
                state.retract(&ids);
                state.refresh();
            }
            Err(refusal)
        }
    }
}

/// Seals drafts one after the other; all or none.
pub fn issue_all(state: &mut State, drafts: &[Draft], issuer: &Issuer) -> Result<Vec<Op>, Refusal> {
    let mut made: Vec<Op> = Vec::new();
    for draft in drafts {
        match issue(state, draft, issuer) {
            Ok(ops) => made.extend(ops),
            Err(refusal) => {
                let ids: HashSet<OpId> = made.iter().map(|op| op.id).collect();
                state.retract(&ids);
                state.refresh();
                return Err(refusal);
            }
        }
    }
    Ok(made)
}

fn seal(state: &mut State, draft: &Draft, issuer: &Issuer, made: &mut Vec<Op>) -> Result<(), Refusal> {
    match draft {
        Draft::Add { qname, body, doc, def } => add(state, qname, body, doc.clone(), *def, issuer, made),
        Draft::Replace { qname, body, doc } => replace(state, qname, body, doc.clone(), issuer, made),
        Draft::Edit { qname, patch } => edit(state, qname, patch, issuer, made),
        Draft::Rename { qname, to } => rename::rename(state, qname, to, issuer, made),
        Draft::Remove { qname, how } => remove::remove(state, qname, *how, issuer, made),
        Draft::Link(from, to) => link(state, Kind::Link, from, to, issuer, made),
        Draft::Unlink(from, to) => link(state, Kind::Unlink, from, to, issuer, made),
    }
}

fn parsed(layer: Layer, name: &str, text: &str) -> Result<Body, Refusal> {
    parse_body(layer, text).map_err(|faults| Refusal::syntax(layer, name, text, &faults))
}

fn add(
    state: &mut State,
    qname: &QName,
    text: &str,
    doc: Option<String>,
    def: Option<DefId>,
    issuer: &Issuer,
    made: &mut Vec<Op>,
) -> Result<(), Refusal> {
    checked_name(qname.layer, &qname.name)?;
    if state.named(qname).is_some() {
        return Err(Refusal::Exists(qname.to_string()));
    }
    let mut body = parsed(qname.layer, &qname.name, text)?;
    let old = def.and_then(|def| state.view(def));
    let (depends, follow) = depends(state, &mut body, old);
    let mut op = blank(Kind::Add, qname, issuer);
    op.def = def;
    op.body = Some(print::body(&body).into());
    op.set_rare(|rare| rare.doc = doc.filter(|doc| !doc.is_empty()));
    op.depends = depends;
    let mut parents = heads(state, follow);
    parents.extend(heads(state, state.graph().holders(qname.layer, &qname.name)));
    parents.extend(heads(state, def));
    admit(state, op, parents, made);
    Ok(())
}

fn replace(
    state: &mut State,
    qname: &QName,
    text: &str,
    doc: Option<String>,
    issuer: &Issuer,
    made: &mut Vec<Op>,
) -> Result<(), Refusal> {
    let view = target(state, qname)?;
    let id = view.id;
    let mut body = parsed(qname.layer, &qname.name, text)?;
    let doc = doc.unwrap_or_else(|| view.doc.clone());
    let (depends, follow) = depends(state, &mut body, Some(view));
    let mut op = blank(Kind::Replace, qname, issuer);
    op.def = Some(id);
    op.body = Some(print::body(&body).into());
    op.set_rare(|rare| rare.doc = Some(doc).filter(|doc| !doc.is_empty()));
    op.depends = depends;
    let mut parents = heads(state, follow);
    parents.extend(own_heads(state, id));
    admit(state, op, parents, made);
    Ok(())
}

fn edit(state: &mut State, qname: &QName, patch: &Value, issuer: &Issuer, made: &mut Vec<Op>) -> Result<(), Refusal> {
    let view = target(state, qname)?;
    let mut op = blank(Kind::Edit, qname, issuer);
    let sealed = patch::seal(view, patch, op.id)?;
    // Units put into units, each fine alone, must not nest deeper than a text may.
    if parse_body(view.layer, &print::body(&sealed.body)).is_err() {
        return Err(Refusal::PatchFailed("this is nested too deeply".to_owned()));
    }
    op.changes = sealed.changes;
    admit_edit(state, view.id, op, sealed.body, made);
    Ok(())
}

fn link(
    state: &mut State,
    kind: Kind,
    from: &QName,
    to: &QName,
    issuer: &Issuer,
    made: &mut Vec<Op>,
) -> Result<(), Refusal> {
    let (source, end) = (target(state, from)?, target(state, to)?);
    let mut op = blank(kind, from, issuer);
    op.def = Some(source.id);
    op.set_rare(|rare| rare.to = Some(to.to_string()));
    op.depends = vec![dep(end)];
    let mut parents = own_heads(state, source.id);
    parents.extend(heads(state, Some(end.id)));
    admit(state, op, parents, made);
    Ok(())
}
