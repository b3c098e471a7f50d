//! Commands that exchange ops: `patch apply`, `op`, `snapshot`.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::out::{Writer, plural};
use super::read::{history_line, op_id, read_file};
use super::session::{Session, remotes};
use crate::strand::check::Diagnostic;
use crate::strand::conflicts::about_ops;
use crate::strand::findings::newly_superseded;
use crate::strand::id::OpId;
use crate::strand::issue::{self, Draft, Refusal};
use crate::strand::op::Op;
use crate::strand::remote::RemoteRef;
use crate::strand::state::State;
use crate::strand::store::{self, Accepted, Error, Exchange, Log, Store, atomic_write};

/// Returns the ops of a file: one, an array, a bundle `{"ops": [..]}`, or one a line. `-` is stdin.
fn read_ops(file: &str) -> Result<Vec<Value>, Error> {
    let text = read_file(Path::new(file))?;
    let values = match serde_json::from_str::<Value>(&text) {
        Ok(Value::Array(ops)) => ops,
        Ok(Value::Object(mut object)) => match object.remove("ops") {
            Some(Value::Array(ops)) => ops,
            _ => serde_json::from_str(&text).map(|value| vec![value]).unwrap_or_default(),
        },
        Ok(Value::Null) => Vec::new(),
        _ => {
            let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
            let parsed = lines.map(|(at, line)| {
                serde_json::from_str(line).map_err(|error| Refusal::Malformed(format!("line {}: {error}", at + 1)))
            });
            parsed.collect::<Result<_, _>>()?
        }
    };
    if values.is_empty() {
        return Err(Refusal::Malformed(format!("there is no op in {file}")).into());
    }
    Ok(values)
}

pub(super) fn apply(s: &mut Session, out: &mut Writer, file: &str, dry_run: bool) -> Result<u8, Error> {
    apply_ops(s, out, &read_ops(file)?, file, dry_run)
}

/// Applies ops that stand in what a message calls `file`.
pub(super) fn apply_ops(
    s: &mut Session,
    out: &mut Writer,
    values: &[Value],
    file: &str,
    dry_run: bool,
) -> Result<u8, Error> {
    let (mut drafts, mut sealed) = (Vec::new(), Vec::new());
    // Which of several ops it is that cannot be read.
    let which = |at: usize, refusal: Refusal| match refusal {
        Refusal::Malformed(message) if values.len() > 1 => Refusal::Malformed(format!("op {}: {message}", at + 1)),
        refusal => refusal,
    };
    for (at, value) in values.iter().enumerate() {
        if value.get("op-id").is_some() {
            let op = Op::from_json(value).map_err(Refusal::Malformed);
            sealed.push(op.map_err(|refusal| which(at, refusal))?);
        } else {
            drafts.push(Draft::from_json(value).map_err(|refusal| which(at, refusal))?);
        }
    }
    if !drafts.is_empty() && !sealed.is_empty() {
        let message = format!(
            "{file} holds {} and {}; give them in files of their own",
            plural(sealed.len(), "sealed op"),
            plural(drafts.len(), "draft")
        );
        return Err(Refusal::Malformed(message).into());
    }
    let (mut result, mut brought) = match sealed.is_empty() {
        true => (Accepted::default(), Vec::new()),
        false if dry_run => (s.store.rehearse(sealed)?, Vec::new()),
        false => s.store.accept_checked(sealed)?,
    };
    if !drafts.is_empty() {
        let issuer = if drafts.len() > 1 { s.issuer.bundled() } else { s.issuer.clone() };
        if dry_run {
            let (ops, ()) = s.store.rehearse_write(|state| issue::issue_all(state, &drafts, &issuer), |_, _| ())?;
            result.accepted.extend(ops.iter().map(|op| op.id));
        } else {
            let written = s.store.issue(&drafts, &issuer, false)?;
            result.accepted.extend(written.ops.iter().map(|op| op.id));
            brought = written.new_faults;
        }
    }
    out.new_faults(&brought);
    result.state_hash = s.store.state().state_hash();
    warn_of_lost(&mut result, s.store.state(), WrittenSide::Here);
    let brought = brought.iter().map(Diagnostic::to_json).collect();
    Ok(tell_with(out, &result, &[("diagnostics", Value::Array(brought))]))
}

/// The side of an exchange that a text was written on.
#[derive(Clone, Copy, PartialEq)]
enum WrittenSide {
    /// That of the ops that were there before.
    Here,
    /// That of the ops that came.
    There,
}

/// Adds a warning for each definition of which a text, written on one side, does not show since ops were taken in.
fn warn_of_lost(result: &mut Accepted, state: &State, written: WrittenSide) {
    let came: HashSet<OpId> = result.accepted.iter().copied().collect();
    let own = |id: OpId| came.contains(&id) == (written == WrittenSide::There);
    let mut lost = newly_superseded(state, &came, own);
    // What is told of the body holds for the edits made on it.
    lost.dedup_by_key(|finding| finding.id());
    result.warnings.extend(lost.iter().map(|finding| {
        let back = match written {
            WrittenSide::Here if finding.draft.is_null() => format!("its text: strand conflicts show {}", finding.id()),
            WrittenSide::Here => format!("to issue it again: strand conflicts reissue {}", finding.id()),
            WrittenSide::There => "'strand op pull' brings what replaced it".to_owned(),
        };
        format!("{}: {}; {back}", finding.location, finding.message)
    }));
}

/// Prints what became of offered ops. Returns the exit code.
fn print_accepted(out: &Writer, result: &Accepted) -> u8 {
    tell_with(out, result, &[])
}

/// Prints what became of offered ops, and gives programs more values. Returns the exit code.
fn tell_with(out: &Writer, result: &Accepted, more: &[(&str, Value)]) -> u8 {
    for rejected in &result.rejected {
        let stored_as = rejected.conflict.as_ref().map_or(String::new(), |conflict| format!(" (kept as {conflict})"));
        out.refused(&format!("{}{stored_as}", rejected.message));
    }
    result.warnings.iter().for_each(|warning| out.note(&format!("Warning: {warning}")));
    for (name, _, loser) in &result.absorbed {
        out.note(&format!("Warning: {name} was added twice; {loser} is absorbed"));
    }
    let counts = format!(
        "applied {}, duplicate {}, pending {}, rejected {}",
        result.accepted.len(),
        result.duplicate.len(),
        result.pending.len(),
        result.rejected.iter().map(|rejected| rejected.ops.len()).sum::<usize>()
    );
    out.answer(&counts, || {
        let mut value = result.to_json();
        more.iter().for_each(|(name, found)| value[*name] = found.clone());
        value
    });
    result.exit()
}

pub(super) fn log(s: &mut Session, out: &mut Writer) -> Result<u8, Error> {
    for op in s.store.ops() {
        if out.json {
            out.value(&op.to_json());
        } else {
            out.line(&history_line(&op, Some(&format!("{}.{}", op.layer, op.name))));
        }
    }
    Ok(0)
}

pub(super) fn show(s: &mut Session, out: &mut Writer, id: &str) -> Result<u8, Error> {
    let id = op_id(id)?;
    let graph = s.store.state().graph();
    let op = graph.node(id).map(|node| &node.op).or_else(|| graph.pending().find(|op| op.id == id));
    let op = op.ok_or_else(|| Error::NotFound(format!("there is no op {id}")))?;
    out.answer(&format!("{:#}", op.to_json()), || op.to_json());
    Ok(0)
}

pub(super) fn pending(s: &mut Session, out: &mut Writer) -> Result<u8, Error> {
    let graph = s.store.state().graph();
    let list: Vec<(OpId, Vec<OpId>)> = graph.pending().map(|op| (op.id, graph.missing(op))).collect();
    if out.json {
        out.value(&list.iter().map(|(id, missing)| json!({"op-id": id, "missing": missing})).collect());
        return Ok(0);
    }
    for (id, missing) in list {
        let missing: Vec<String> = missing.iter().map(ToString::to_string).collect();
        out.line(&format!("{id} waits for {}", missing.join(", ")));
    }
    Ok(0)
}

/// Returns the other store: as named, else the upstream, whose path is told. Also whether it is the upstream.
///
/// The settings may have come with a clone, so an upstream that is neither a copy of this store nor has an op in common
/// with it is not used unless it is named, by an empty store neither.
fn other(s: &Session, out: &Writer, named: Option<PathBuf>) -> Result<(Store, bool), Error> {
    let upstream = s.store.config().upstream.clone().map(PathBuf::from);
    let same = |a: &Path, b: &Path| std::fs::canonicalize(a).ok() == std::fs::canonicalize(b).ok();
    if let Some(named) = named {
        let is_upstream = upstream.is_some_and(|upstream| same(&named, &upstream));
        return Ok((super::session::open_at(&named)?, is_upstream));
    }
    let none = || Refusal::Usage("name a store, or set one: strand config upstream <store>".to_owned());
    let path = upstream.ok_or_else(none)?;
    let store = super::session::open_at(&path)?;
    if !store.state().graph().is_empty() && !s.store.is_kin(&store)? {
        let path = path.display();
        let message = format!("the upstream {path} has no op in common with this store; name it if it is meant");
        return Err(Refusal::Usage(message).into());
    }
    out.note(&format!("the upstream is {}", path.display()));
    Ok((store, true))
}

pub(super) fn push(s: &mut Session, out: &mut Writer, named: Option<PathBuf>) -> Result<u8, Error> {
    let (mut target, _) = other(s, out, named)?;
    let mut result = store::push(&mut s.store, &mut target)?;
    target.checkpoint();
    result.state_hash = target.state().state_hash();
    warn_of_lost(&mut result, target.state(), WrittenSide::There);
    let code = print_accepted(out, &result);
    if code == 4 {
        out.note("'strand op pull' brings what stands in its way; fix your part and push again");
    }
    Ok(code)
}

pub(super) fn pull(s: &mut Session, out: &mut Writer, named: Option<PathBuf>) -> Result<u8, Error> {
    let (mut source, upstream) = other(s, out, named)?;
    let pulled = store::pull(&mut s.store, &mut source, upstream)?;
    Ok(tell_pulled(s, out, pulled, &[]))
}

/// Publishes in a Git remote what it lacks, after taking in what it has.
pub(super) fn publish(s: &mut Session, out: &mut Writer, remote: &str) -> Result<u8, Error> {
    let done = RemoteRef::of(&s.store, remote, remotes().as_deref())?.push(&mut s.store)?;
    let published = plural(done.published, "op");
    let code = tell_pulled(s, out, done.taken, &[("published", done.published.into())]);
    out.note(&format!("published {published}"));
    Ok(code)
}

/// Takes in what a Git remote has; of another store only if it `joins`.
pub(super) fn take_in(s: &mut Session, out: &mut Writer, remote: &str, joins: bool) -> Result<u8, Error> {
    let done = RemoteRef::of(&s.store, remote, remotes().as_deref())?.pull(&mut s.store, joins)?;
    Ok(tell_pulled(s, out, done.taken, &[]))
}

/// Prints what was taken in and what was withdrawn for it. Returns the exit code.
fn tell_pulled(s: &Session, out: &Writer, mut pulled: Exchange, more: &[(&str, Value)]) -> u8 {
    pulled.result.state_hash = s.store.state().state_hash();
    warn_of_lost(&mut pulled.result, s.store.state(), WrittenSide::Here);
    let withdrawn =
        pulled.records.iter().map(|record| json!({"conflict": record.id, "ops": record.ops})).collect::<Vec<_>>();
    let mut values = vec![("withdrawn", Value::Array(withdrawn))];
    values.extend(more.iter().cloned());
    tell_with(out, &pulled.result, &values);
    for record in &pulled.records {
        let (ops, id) = (plural(record.ops.len(), "op"), &record.id);
        out.refused(&format!(
            "withdrew {ops}: {}; to issue them again: strand conflicts reissue {id}",
            about_ops(record)
        ));
    }
    pulled.exit()
}

pub(super) fn bundle(s: &mut Session, out: &mut Writer, since: Option<&str>, output: &Path) -> Result<u8, Error> {
    let mut ops = s.store.log().read_whole()?;
    if let Some(since) = since {
        let id = op_id(since)?;
        let at = ops.iter().position(|op| op.id == id);
        let at = at.ok_or_else(|| Error::NotFound(format!("there is no op {id}")))?;
        ops.drain(..=at);
    }
    let text: String = ops.iter().map(|op| op.to_line() + "\n").collect();
    let path = std::path::absolute(output).map_err(|error| Error::io("find", output, error))?;
    atomic_write(&path, text.as_bytes())?;
    out.answer(
        &format!("{} in {}", plural(ops.len(), "op"), output.display()),
        || json!({"ops": ops.len(), "file": output}),
    );
    Ok(0)
}

pub(super) fn merge(s: &mut Session, out: &mut Writer, log: &Path) -> Result<u8, Error> {
    if !log.is_file() {
        return Err(Error::NotFound(format!("there is no log {}; name another store's op-log.jsonl", log.display())));
    }
    // Links to what the person named are followed, those in a store are not.
    let log = std::fs::canonicalize(log).map_err(|error| Error::io("find", log, error))?;
    let ops = Log::new(log).read_whole()?;
    let mut result = s.store.accept(ops)?;
    result.state_hash = s.store.state().state_hash();
    warn_of_lost(&mut result, s.store.state(), WrittenSide::Here);
    Ok(print_accepted(out, &result))
}

pub(super) fn snapshot(s: &mut Session, out: &mut Writer, dir: &Path) -> Result<u8, Error> {
    let copy = s.store.snapshot(dir)?;
    let hash = copy.state().state_hash();
    out.answer(&dir.display().to_string(), || json!({"path": dir, "state-hash": hash}));
    Ok(0)
}
