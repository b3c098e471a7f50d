//! The base: what a log begins with once its older part was moved into archives.
//!
//! It holds the lattice elements of the definitions as their archived ops make them: every op by its identity, time and
//! parents, and whole wherever its text still counts. An op whose text others have overwritten for good is a stub; its
//! text stays in the archive, for histories and for whoever lacks it.

use std::collections::{BTreeMap, HashMap, HashSet};

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::super::position::LogPosition;
use crate::strand::graph::Node;
use crate::strand::id::{DefId, OpId, UnitId};
use crate::strand::lazy::At;
use crate::strand::op::{Change, Kind, Op};

/// The beginning of the line of a base.
pub const BEGINS: &[u8] = b"{\"base\":";

/// The entry of one archive in a base.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Note {
    /// Its file, in `.strand/archive`.
    pub file: String,
    /// The number of ops moved into it.
    pub ops: usize,
    /// The bytes of log it holds.
    pub bytes: u64,
}

/// One archived op in the base.
#[derive(Debug)]
pub struct ArchivedOp {
    /// Its node; a stub names the place of its text.
    pub node: Node,
    /// The place of its line.
    pub at: At,
    /// The place of its entry in the log.
    pub place: LogPosition,
}

/// The beginning of a log.
#[derive(Debug, Default)]
pub struct Base {
    /// The archives, oldest first.
    pub archives: Vec<Note>,
    /// Ops withdrawn there and not accepted again.
    pub withdrawn: Vec<OpId>,
    /// The archived ops, in order of the log.
    pub ops: Vec<ArchivedOp>,
}

#[derive(Deserialize)]
struct BaseLine<'l> {
    #[serde(borrow)]
    base: Inner<'l>,
}

#[derive(Deserialize)]
struct Inner<'l> {
    archives: Vec<Note>,
    withdrawn: Vec<String>,
    #[serde(borrow)]
    ops: Vec<&'l RawValue>,
}

impl Base {
    /// Reads the line of a base that begins at an offset of its log.
    pub fn parse(line: &[u8], offset: u64) -> Result<Base, String> {
        let describe = |error: serde_json::Error| error.to_string();
        let inner = serde_json::from_slice::<BaseLine>(line).map_err(describe)?.base;
        let mut ops = Vec::with_capacity(inner.ops.len());
        for raw in inner.ops {
            let text = raw.get();
            // The text is a part of the line.
            let start = text.as_ptr().addr() - line.as_ptr().addr();
            let place = LogPosition::of(offset + start as u64, text.as_bytes());
            ops.push(parse_op(&serde_json::from_str(text).map_err(describe)?, place)?);
        }
        let withdrawn = inner.withdrawn.iter().filter_map(|id| OpId::parse(id)).collect();
        Ok(Base { archives: inner.archives, withdrawn, ops })
    }

    /// Returns the line of a base without its newline.
    pub fn line(archives: &[Note], withdrawn: &[OpId], entries: &[String]) -> String {
        format!(
            "{{\"base\":{{\"archives\":{},\"withdrawn\":{},\"ops\":[{}]}}}}",
            json!(archives),
            json!(withdrawn),
            entries.join(",")
        )
    }
}

/// Returns the entry of an archived op. A `stub` is without the op's text.
pub fn entry(node: &Node, at: At, stub: bool) -> String {
    let op = &node.op;
    let mut out = if stub {
        let mut out = json!({
            "stub": op.kind.word(), "layer": op.layer.word(), "op-id": op.id, "ts": op.ts, "parent-ops": &op.parents[..],
        });
        // The name that an add gives, and what an edit was made on, count whatever became of the text.
        let named = (op.kind == Kind::Add).then(|| json!(op.name));
        let more = [("name", named), ("def", op.def.map(|def| json!(def))), ("base", op.base.map(|base| json!(base)))];
        for (name, value) in more {
            if let Some(value) = value {
                out[name] = value;
            }
        }
        out
    } else {
        json!({"op": op.to_json()})
    };
    out["at"] = json!([at.archive, at.piece, at.start, at.length]);
    if node.max_ts != op.ts {
        out["max-ts"] = json!(node.max_ts);
    }
    if !node.anchored {
        out["loose"] = json!(true);
    }
    if let Some(void) = &node.void {
        out["void"] = json!(void);
    }
    out.to_string()
}

fn parse_op(value: &Value, place: LogPosition) -> Result<ArchivedOp, String> {
    let at = at(value).ok_or("an op of the base does not say where it is archived")?;
    let (op, archived) = read_op(value)?;
    let max_ts = value.get("max-ts").and_then(Value::as_i64).unwrap_or(op.ts);
    let void = value.get("void").and_then(Value::as_str).map(Into::into);
    let node = Node::known(op, void, max_ts, value.get("loose").is_none(), archived);
    Ok(ArchivedOp { node, at, place })
}

fn at(value: &Value) -> Option<At> {
    let [archive, piece, start, length] = value.get("at")?.as_array()?.as_slice() else { return None };
    let small = |value: &Value| value.as_u64().and_then(|number| u32::try_from(number).ok());
    Some(At { archive: small(archive)?, piece: piece.as_u64()?, start: small(start)?, length: small(length)? })
}

/// Reads the text of an op as a log has it: see [`read_op`].
pub fn read_line(line: &[u8]) -> Result<(Op, Option<At>), String> {
    if let Ok(op) = Op::from_line(line) {
        return Ok((op, None));
    }
    let value = serde_json::from_slice(line).map_err(|error| error.to_string())?;
    read_op(&value)
}

/// Reads an op as a log has it: a line of its own, or an entry of the base. Of a stub, returns the place of its text.
pub fn read_op(value: &Value) -> Result<(Op, Option<At>), String> {
    let Some(kind) = value.get("stub") else {
        let op = value.get("op").filter(|op| op.is_object()).unwrap_or(value);
        return Op::from_json(op).map(|op| (op, None));
    };
    let at = at(value).ok_or("a stub does not say where its text is")?;
    let mut wire = json!({"op": kind, "author": "strand:sync", "depends-on": [], "name": ""});
    let text = if kind.as_str() == Some(Kind::Edit.word()) { ("changes", json!([])) } else { ("body", json!("")) };
    wire[text.0] = text.1;
    for field in ["layer", "name", "op-id", "ts", "parent-ops", "def", "base"] {
        if let Some(found) = value.get(field) {
            wire[field] = found.clone();
        }
    }
    Op::from_json(&wire).map(|op| (op, Some(at)))
}

/// Returns, of these ops on any definitions, those whose text still counts. Ops that come later can only take from
/// them: a register goes to the greatest key, and the body too.
pub fn counting<'n>(nodes: impl Iterator<Item = &'n Node>) -> HashSet<OpId> {
    let mut by_definition: BTreeMap<DefId, Vec<&Node>> = BTreeMap::new();
    let mut out = HashSet::new();
    for node in nodes {
        match node.op.kind {
            Kind::Add | Kind::Replace | Kind::Edit if node.void.is_none() => {
                by_definition.entry(node.op.target()).or_default().push(node);
            }
            Kind::Add | Kind::Replace | Kind::Edit => {}
            _ => {
                out.insert(node.op.id);
            }
        }
    }
    for nodes in by_definition.into_values() {
        let bodies = nodes.iter().filter(|node| node.op.kind != Kind::Edit);
        let Some(epoch) = bodies.max_by_key(|node| node.op.key()) else { continue };
        out.insert(epoch.op.id);
        let mut cells: HashMap<(Option<UnitId>, &str), &Op> = HashMap::new();
        for edit in nodes.iter().filter(|node| node.op.kind == Kind::Edit && node.op.base == Some(epoch.op.id)) {
            for change in &edit.op.changes {
                match change {
                    Change::Set { unit, register, .. } => {
                        let held = cells.entry((*unit, &**register)).or_insert(&edit.op);
                        if held.key() < edit.op.key() {
                            *held = &edit.op;
                        }
                    }
                    Change::Insert(_) | Change::Delete(_) => {
                        out.insert(edit.op.id);
                    }
                }
            }
        }
        out.extend(cells.into_values().map(|op| op.id));
    }
    out
}
