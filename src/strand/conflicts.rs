//! Conflicts to decide: those that were recorded, and what merging left. A person keeps what stands, or has the ops of
//! the other side issued again.

use std::collections::HashSet;

use serde_json::Value;

use super::findings::{Finding, findings};
use super::id::{OpId, now_ms};
use super::issue::{Draft, Issuer, Refusal, reissue};
use super::op::{Kind, Op};
use super::state::State;
use super::store::{Conflict, Error, Store, WriteResult};

/// The kind of the record that puts a finding aside.
const FINDING: &str = "finding";
/// The status of what is decided.
const RESOLVED: &str = "resolved";

/// The conflicts of a store.
#[derive(Clone, Debug, PartialEq)]
pub struct Conflicts {
    /// The recorded ones, oldest first.
    pub recorded: Vec<Conflict>,
    /// The findings, by definition.
    pub merged: Vec<Finding>,
}

/// The findings that a person has put aside in a store: the identity and the cause of each, so that a later one at the
/// same place is listed.
#[derive(Debug, Default)]
pub struct PutAside(HashSet<(String, String)>);

impl PutAside {
    /// Reads them.
    ///
    /// # Errors
    /// When the records cannot be read.
    pub fn of(store: &Store) -> Result<PutAside, Error> {
        Ok(PutAside::among(&store.conflicts()?))
    }

    fn among(recorded: &[Conflict]) -> PutAside {
        let findings = recorded.iter().filter(|conflict| conflict.kind == FINDING);
        PutAside(findings.flat_map(|conflict| conflict.edges.iter().cloned()).collect())
    }

    /// Returns whether a finding is one of them.
    pub fn has(&self, finding: &Finding) -> bool {
        self.0.contains(&(finding.id(), finding.cause.clone()))
    }
}

/// Returns the conflicts that are not decided. With `all`, every one that is known.
///
/// # Errors
/// When the records cannot be read.
pub fn list(store: &Store, all: bool) -> Result<Conflicts, Error> {
    let mut recorded = store.conflicts()?;
    let aside = PutAside::among(&recorded);
    recorded.retain(|conflict| conflict.kind != FINDING && (all || conflict.status != RESOLVED));
    let merged = findings(store.state(), all).into_iter().filter(|finding| all || !aside.has(finding));
    Ok(Conflicts { recorded, merged: merged.collect() })
}

impl Conflicts {
    /// Returns the finding of an id.
    pub fn finding(&self, id: &str) -> Option<&Finding> {
        self.of(id).next()
    }

    /// Returns the findings of an id: one place may have several of a kind.
    fn of(&self, id: &str) -> impl Iterator<Item = &Finding> {
        self.merged.iter().filter(move |finding| finding.id() == id)
    }

    /// Returns the op of the body that does not show at a place, as a replacement, and the edits made on it. Empty:
    /// no body was lost there.
    fn lost_body(&self, id: &str, state: &State) -> Result<Vec<Op>, Refusal> {
        let nodes = self.of(id).filter_map(|finding| state.graph().node(OpId::parse(&finding.cause)?));
        let (bodies, edits): (Vec<&Op>, Vec<&Op>) = nodes.map(|node| &node.op).partition(|op| op.body.is_some());
        match bodies.as_slice() {
            [] => Ok(Vec::new()),
            [body] => {
                let edits = edits.into_iter().filter(|edit| edit.base == Some(body.id)).cloned();
                Ok(std::iter::once(Op { kind: Kind::Replace, ..(*body).clone() }).chain(edits).collect())
            }
            // All but one of them would be lost for good.
            several => Err(Refusal::Usage(format!(
                "{id} holds {} texts; 'strand fix --auto-patch {id}' prints each as a draft for 'strand patch apply'",
                several.len()
            ))),
        }
    }
}

/// Returns the record of a conflict, decided or not.
///
/// # Errors
/// When there is none of that id, or the records cannot be read.
pub fn recorded(store: &Store, id: &str) -> Result<Conflict, Error> {
    let found = store.conflicts()?.into_iter().find(|conflict| conflict.id == id && conflict.kind != FINDING);
    found.ok_or_else(|| Error::NotFound(format!("there is no conflict {id}")))
}

/// Keeps what stands: the conflict counts as decided in this store.
///
/// # Errors
/// When it is none of the `known` ones nor a recorded one, or the record cannot be written.
pub fn keep(store: &Store, known: &Conflicts, id: &str) -> Result<(), Error> {
    let mut causes: Vec<(String, String)> = known.of(id).map(|finding| (finding.id(), finding.cause.clone())).collect();
    let record = match causes.is_empty() {
        false => {
            // The newest record of an id counts: it names those of before, too.
            let before = store.conflicts()?.into_iter().find(|conflict| conflict.id == id && conflict.kind == FINDING);
            causes.extend(before.map(|before| before.edges).unwrap_or_default());
            causes.sort();
            causes.dedup();
            Conflict {
                id: id.to_owned(),
                kind: FINDING.to_owned(),
                policy: store.config().policy.word().to_owned(),
                at: now_ms(),
                edges: causes,
                ops: Vec::new(),
                status: RESOLVED.to_owned(),
            }
        }
        true => Conflict { status: RESOLVED.to_owned(), ..recorded(store, id)? },
    };
    store.record_conflicts(&[record])
}

/// The outcome of a conflict whose ops were issued again.
#[derive(Debug)]
pub struct Reissued {
    /// The ops as they are now.
    pub written: WriteResult,
    /// The reason why the conflict stays listed though its ops stand.
    pub unmarked: Option<Error>,
}

/// Issues the ops of a conflict again on the present state, as one bundle; those of a finding have both sides as
/// parents then, which decides it.
///
/// # Errors
/// When it is none of the `known` ones nor a recorded one, holds no op or one that cannot be read, or the ops are
/// refused; nothing is written then.
pub fn take(store: &mut Store, known: &Conflicts, id: &str, issuer: &Issuer) -> Result<Reissued, Error> {
    let nothing = || Refusal::Usage(format!("{id} holds no op to issue again"));
    if known.finding(id).is_some() {
        let draft = known.of(id).map(|finding| &finding.draft).find(|draft| !draft.is_null()).ok_or_else(nothing)?;
        let written = match known.lost_body(id, store.state())?.as_slice() {
            [] | [_] => store.issue(&[Draft::from_json(draft)?], issuer, false)?,
            ops => store.transact(false, |state| reissue(state, ops, &issuer.bundled()))?,
        };
        return Ok(Reissued { written, unmarked: None });
    }
    let conflict = recorded(store, id)?;
    let ops = ops_of(&conflict);
    if ops.is_empty() {
        return Err(nothing().into());
    }
    if ops.len() < conflict.ops.len() {
        let unread = conflict.ops.len() - ops.len();
        return Err(
            Refusal::Usage(format!("{id} holds {unread} of {} ops that cannot be read", conflict.ops.len())).into()
        );
    }
    let issuer = issuer.bundled();
    let written = store.transact(false, |state| reissue(state, &ops, &issuer))?;
    let unmarked = store.record_conflicts(&[Conflict { status: RESOLVED.to_owned(), ..conflict }]).err();
    Ok(Reissued { written, unmarked })
}

/// Returns the ops of a record that can be read.
pub fn ops_of(conflict: &Conflict) -> Vec<Op> {
    conflict.ops.iter().filter_map(|op| Op::from_json(op).ok()).collect()
}

/// Returns what a conflict is about: its edges, or else what its ops are about.
pub fn about(conflict: &Conflict) -> String {
    let edge = |(from, to): &(String, String)| match conflict.kind.as_str() {
        "sync" => format!("{from}: {to}"),
        _ => format!("{from} -> {to}"),
    };
    match conflict.edges.is_empty() {
        true => about_ops(conflict),
        false => conflict.edges.iter().map(edge).collect::<Vec<_>>().join(", "),
    }
}

/// Returns what the ops of a conflict are about.
pub fn about_ops(conflict: &Conflict) -> String {
    let op = |op: &Value| {
        let text = |key: &str| op.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        format!("{} {}.{} by {}", text("op"), text("layer"), text("name"), text("author"))
    };
    conflict.ops.iter().map(op).collect::<Vec<_>>().join(", ")
}
