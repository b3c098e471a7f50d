//! Commands that issue ops.

use std::path::Path;

use serde_json::{Value, json};

use super::args;
use super::out::Writer;
use super::read::{layer_named, op_id, qname, read_file};
use super::session::Session;
use crate::strand::check::Diagnostic;
use crate::strand::id::{OpId, QName};
use crate::strand::issue::{self, Draft, Refusal, Removal};
use crate::strand::op::Op;
use crate::strand::state::State;
use crate::strand::store::{Error, WriteResult};

/// Returns a body as given, or from stdin.
fn body(text: &str) -> Result<String, Error> {
    if text == "-" { read_file(Path::new(text)) } else { Ok(text.to_owned()) }
}

/// Prints the ops of a write, and on stderr the faults it brought.
fn print_result(s: &Session, out: &Writer, written: &WriteResult, about: Option<&QName>) {
    let diagnostics: Vec<Value> = written.new_faults.iter().map(Diagnostic::to_json).collect();
    if out.json {
        let first = written.ops.first();
        let name = about.map(ToString::to_string);
        let def = first.map(Op::target).and_then(|def| s.store.state().view(def));
        let qname = name.or_else(|| def.map(|view| view.qname().to_string()));
        out.value(&json!({
            "op-id": first.map(|op| op.id),
            "qname": qname,
            "hash": def.map(|view| view.hash.to_string()),
            "diagnostics": diagnostics,
        }));
        return;
    }
    written.ops.iter().for_each(|op| out.line(&op.id.to_string()));
    out.new_faults(&written.new_faults);
}

pub(super) fn add(s: &mut Session, out: &mut Writer, args: &args::Add) -> Result<u8, Error> {
    let (qname, text) = match args.parts.as_slice() {
        [name, text] => (qname(name)?, text),
        [layer, name, text] => (QName::new(layer_named(layer)?, name.clone()), text),
        _ => return Err(Refusal::Usage("add needs a layer, a name and a body".to_owned()).into()),
    };
    let draft = Draft::Add { qname: qname.clone(), body: body(text)?, doc: args.doc.clone(), def: None };
    let written = s.store.issue(&[draft], &s.issuer, args.check)?;
    print_result(s, out, &written, Some(&qname));
    Ok(0)
}

pub(super) fn replace(s: &mut Session, out: &mut Writer, name: &str, text: &str, check: bool) -> Result<u8, Error> {
    let draft = Draft::Replace { qname: qname(name)?, body: body(text)?, doc: None };
    let written = s.store.issue(&[draft], &s.issuer, check)?;
    print_result(s, out, &written, None);
    Ok(0)
}

pub(super) fn edit(s: &mut Session, out: &mut Writer, name: &str, patch: &str, check: bool) -> Result<u8, Error> {
    let text = match patch.strip_prefix('@') {
        Some(path) => read_file(Path::new(path))?,
        None => body(patch)?,
    };
    let patch = serde_json::from_str(&text)
        .map_err(|error| Refusal::Usage(format!("the patch is no JSON such as '{{\"init\": \"set 2\"}}': {error}")))?;
    let draft = Draft::Edit { qname: qname(name)?, patch };
    let written = s.store.issue(&[draft], &s.issuer, check)?;
    print_result(s, out, &written, None);
    Ok(0)
}

pub(super) fn rename(s: &mut Session, out: &mut Writer, name: &str, new: &str) -> Result<u8, Error> {
    let draft = Draft::Rename { qname: qname(name)?, to: new.to_owned() };
    let written = s.store.issue(&[draft], &s.issuer, false)?;
    print_result(s, out, &written, None);
    Ok(0)
}

pub(super) fn link(s: &mut Session, out: &mut Writer, from: &str, to: &str, link: bool) -> Result<u8, Error> {
    let (from, to) = (qname(from)?, qname(to)?);
    let draft = if link { Draft::Link(from, to) } else { Draft::Unlink(from, to) };
    let written = s.store.issue(&[draft], &s.issuer, false)?;
    print_result(s, out, &written, None);
    Ok(0)
}

pub(super) fn remove(s: &mut Session, out: &mut Writer, args: &args::Remove) -> Result<u8, Error> {
    let how = match (args.cascade, args.force) {
        (true, _) => Removal::Cascade,
        (_, true) => Removal::Force,
        _ => Removal::Refuse,
    };
    let qname = qname(&args.qname)?;
    let id = issue::target(s.store.state(), &qname)?.id;
    let found = issue::references(s.store.state(), id);
    let draft = Draft::Remove { qname: qname.clone(), how };
    if args.dry_run {
        let issuer = s.issuer.clone();
        let (ops, ()) = s.store.rehearse_write(|state| issue::issue(state, &draft, &issuer), |_, _| ())?;
        let removed = names(s.store.state(), &ops);
        let none: [Value; 0] = [];
        let answer = || json!({"op-ids": [], "removed": removed, "dangling": found.places(), "diagnostics": none});
        out.answer(&removed.join("\n"), answer);
        return Ok(0);
    }
    let written = s.store.issue(&[draft], &s.issuer, false)?;
    let removed: Vec<String> = written.ops.iter().map(|op| format!("{}.{}", op.layer, op.name)).collect();
    let ids: Vec<OpId> = written.ops.iter().map(|op| op.id).collect();
    let dangling = if how == Removal::Force { found.places() } else { Vec::new() };
    if how == Removal::Cascade && !out.json {
        removed.iter().for_each(|name| out.note(&format!("removed {name}")));
    }
    let lines: Vec<String> = ids.iter().map(ToString::to_string).collect();
    let diagnostics: Vec<Value> = written.new_faults.iter().map(Diagnostic::to_json).collect();
    let answer = || json!({"op-ids": ids, "removed": removed, "dangling": dangling, "diagnostics": diagnostics});
    out.answer(&lines.join("\n"), answer);
    if !dangling.is_empty() {
        let are = if dangling.len() == 1 { "reference to {} is" } else { "references to {} are" };
        out.note(&format!("Warning: {} {} now dangling", dangling.len(), are.replace("{}", &qname.to_string())));
    }
    Ok(0)
}

/// Returns the names of what ops are about.
fn names(state: &State, ops: &[Op]) -> Vec<String> {
    ops.iter().filter_map(|op| state.view(op.target())).map(|view| view.qname().to_string()).collect()
}

pub(super) fn revert(s: &mut Session, out: &mut Writer, op: &str, dry_run: bool) -> Result<u8, Error> {
    let id = op_id(op)?;
    if !s.store.state().graph().has(id) {
        return Err(Error::NotFound(format!("there is no op {id}")));
    }
    let about = s.store.state().graph().light(id).map(|node| node.op.target());
    let before = s.store.past_of(id, false, &about.into_iter().collect::<Vec<_>>())?;
    let issuer = s.issuer.clone();
    if dry_run {
        let mut skipped = Vec::new();
        let work = |state: &mut State| {
            let (ops, left) = issue::revert(state, &before, id, &issuer)?;
            skipped = left;
            Ok(ops)
        };
        let (ops, ()) = s.store.rehearse_write(work, |_, _| ())?;
        let lines: Vec<String> = ops.iter().map(Op::to_line).collect();
        let values: Vec<Value> = ops.iter().map(Op::to_json).collect();
        out.answer(&lines.join("\n"), || json!({"ops": values, "skipped": skipped}));
        return Ok(0);
    }
    let mut skipped = Vec::new();
    let written = s.store.transact(false, |state| {
        let (ops, left) = issue::revert(state, &before, id, &issuer)?;
        skipped = left;
        Ok(ops)
    })?;
    print_result(s, out, &written, None);
    for register in skipped {
        out.note(&format!("skipped {register}: something newer stands there"));
    }
    Ok(0)
}
