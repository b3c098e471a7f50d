//! Reading the line of an op that is exactly as this program writes one, without a tree of values in between. Any other
//! line is left to [`Op::from_json`], which also says what is wrong with it. A line has no limit of its own: the file it is in
//! is read whole, and reading a line of n bytes takes no more than the order of n log n steps.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;

use super::{Change, Dep, Insert, Kind, Op, Rare, author_is_valid, shared};
use crate::strand::id::{Layer, OpId, UnitId};

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Wire<'l> {
    #[serde(borrow)]
    op: Cow<'l, str>,
    #[serde(borrow)]
    layer: Cow<'l, str>,
    #[serde(borrow)]
    name: Cow<'l, str>,
    body: Option<Box<str>>,
    #[serde(borrow)]
    author: Cow<'l, str>,
    ts: i64,
    op_id: OpId,
    parent_ops: Vec<OpId>,
    #[serde(borrow)]
    depends_on: Vec<Cow<'l, str>>,
    def: Option<OpId>,
    name_new: Option<String>,
    #[serde(rename = "patch")]
    _patch: Option<IgnoredAny>,
    base: Option<OpId>,
    #[serde(borrow)]
    changes: Option<Vec<WireChange<'l>>>,
    to: Option<String>,
    #[serde(borrow)]
    bundle: Option<Cow<'l, str>>,
    cause: Option<String>,
    doc: Option<String>,
}

#[derive(Deserialize)]
#[serde(untagged, deny_unknown_fields)]
enum WireChange<'l> {
    Set {
        #[serde(borrow)]
        reg: Cow<'l, str>,
        set: Option<Box<str>>,
    },
    Insert {
        #[serde(borrow)]
        ins: Cow<'l, str>,
        #[serde(borrow)]
        after: Option<Cow<'l, str>>,
        #[serde(borrow)]
        parent: Option<Cow<'l, str>>,
        regs: BTreeMap<String, String>,
    },
    Delete {
        #[serde(borrow)]
        del: Cow<'l, str>,
    },
}

impl WireChange<'_> {
    fn change(self) -> Option<Change> {
        let optional = |unit: Option<Cow<str>>| match unit {
            None => Some(None),
            Some(text) => UnitId::parse(&text).map(Some),
        };
        Some(match self {
            // A register that is cleared and one whose value is missing look alike here.
            WireChange::Set { set: None, .. } => return None,
            WireChange::Set { reg, set } => {
                let (unit, register) = match reg.split_once('/') {
                    Some((unit, register)) => (Some(UnitId::parse(unit)?), register),
                    None => (None, &*reg),
                };
                Change::Set { unit, register: shared(register), value: set }
            }
            WireChange::Insert { ins, after, parent, regs } => {
                let (id, after, parent) = (UnitId::parse(&ins)?, optional(after)?, optional(parent)?);
                Change::Insert(Box::new(Insert { id, after, parent, regs }))
            }
            WireChange::Delete { del } => Change::Delete(UnitId::parse(&del)?),
        })
    }
}

impl Op {
    /// Reads a sealed op from a line of a log.
    ///
    /// # Errors
    /// When the line is no op; the text says why.
    pub fn from_line(line: &[u8]) -> Result<Op, String> {
        if let Some(op) = read(line) {
            return Ok(op);
        }
        let value: Value = serde_json::from_slice(line).map_err(|_| "it is not JSON".to_owned())?;
        Op::from_json(&value).map_err(|why| format!("it is not an op: {why}"))
    }
}

/// Returns the op of a line that has every field its kind needs and none that is unknown.
pub(super) fn read(line: &[u8]) -> Option<Op> {
    let wire: Wire = serde_json::from_slice(line).ok()?;
    let kind = Kind::named(&wire.op).ok()?;
    let whole = match kind {
        Kind::Add | Kind::Replace => wire.body.is_some(),
        Kind::Rename => wire.name_new.is_some(),
        Kind::Link | Kind::Unlink => wire.to.is_some(),
        Kind::Edit => wire.base.is_some() && wire.changes.is_some(),
        Kind::Remove => true,
    };
    if !whole || kind != Kind::Add && wire.def.is_none() || !author_is_valid(&wire.author) {
        return None;
    }
    let changes = wire.changes.filter(|_| kind == Kind::Edit).unwrap_or_default();
    let mut changes: Vec<Change> = changes.into_iter().map(WireChange::change).collect::<Option<_>>()?;
    // A list that was read has room for more; of a million ops that would be a third of the memory.
    changes.shrink_to_fit();
    let mut depends: Vec<Dep> = wire.depends_on.iter().map(|dep| Dep::parse(dep)).collect::<Option<_>>()?;
    depends.shrink_to_fit();
    let mut op = Op {
        body: wire.body,
        parents: wire.parent_ops.into_iter().collect(),
        depends,
        def: wire.def,
        base: wire.base,
        changes,
        bundle: wire.bundle.as_deref().map(shared),
        ..Op::new(kind, (Layer::parse(&wire.layer)?, &wire.name), &wire.author, wire.ts, wire.op_id)
    };
    let (name_new, to, cause, doc) = (wire.name_new, wire.to, wire.cause, wire.doc);
    if name_new.is_some() || to.is_some() || cause.is_some() || doc.is_some() {
        op.set_rare(|rare| *rare = Rare { name_new, to, cause, doc, ..Rare::default() });
    }
    Some(op)
}
