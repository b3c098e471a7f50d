//! Merges the ops on one definition into its body: the winning body, with the edits made on it.

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::strand::graph::{Graph, Summary};
use crate::strand::id::{Layer, OpId, UnitId};
use crate::strand::lang::ast::{Body, Element, Ref, To, TypeBody};
use crate::strand::lang::parse::{category, parse_register};
use crate::strand::lang::resolve::{each_body_ref, each_ref};
use crate::strand::lang::unit::{Parts, Reg, RegName, Unit, has_units, join, split, target_layer};
use crate::strand::lazy::Ids;
use crate::strand::op::{Change, Insert, Op};

/// A merged body, its names not yet resolved but bound as their writers bound them.
pub struct Merged {
    /// The body.
    pub body: Body,
    /// Doc lines without `## `.
    pub doc: String,
    /// The identity of each unit, in order.
    pub units: Vec<UnitId>,
}

/// Order of last-writer-wins: time, op, and the change's number in its op.
type WriteOrder = (i64, OpId, u32);

/// The units that follow each unit, by parent and previous unit.
type Followers = HashMap<(Option<UnitId>, Option<UnitId>), Vec<(WriteOrder, UnitId)>, Ids>;

/// One written register: the key of its writer, and its value.
type Cell<'g> = (WriteOrder, Option<Reg>, &'g Op);

/// Merges what a summary names. `None` cannot come from admitted ops; it means the parts do not
/// make a body.
pub fn merge(graph: &Graph, layer: Layer, summary: &Summary) -> Option<Merged> {
    let epoch = graph.node(summary.epoch)?;
    let mut doc = epoch.op.doc().unwrap_or_default().to_owned();
    if summary.edits.is_empty() {
        let (body, units) = unedited(epoch.body()?, &epoch.op);
        return Some(Merged { body, doc, units });
    }
    let mut parts = split(&epoch.body()?);
    for (index, unit) in parts.units.iter_mut().enumerate() {
        unit.id = Some(UnitId { op: summary.epoch, n: index as u32 + 1 });
    }
    bind_parts(&mut parts, layer, &epoch.op);
    let mut edits = Edits::collect(graph, layer, summary);
    for (name, (_, value, op)) in std::mem::take(&mut edits.header) {
        match value {
            Some(Reg::Word(text)) if name == "doc" => doc = text,
            None if name == "doc" => doc.clear(),
            Some(reg) => {
                parts.header.insert(RegName::Owned(name), bound(reg, layer, None, op));
            }
            None => {
                parts.header.remove(name.as_str());
            }
        }
    }
    if has_units(layer, &parts) {
        parts.units = sequence(layer, parts.units, &edits, epoch.op.key());
    }
    let ids = parts.units.iter().filter_map(|unit| unit.id).collect();
    Some(Merged { body: join(layer, parts)?, doc, units: ids })
}

/// Returns a body that nobody edited, its names bound as its op bound them, and its units.
fn unedited(mut body: Body, op: &Op) -> (Body, Vec<UnitId>) {
    each_body_ref(&mut body, &mut |reference| bind_one(reference, op));
    let mut units: Vec<UnitId> = Vec::new();
    let mut next = || {
        units.push(UnitId { op: op.id, n: units.len() as u32 + 1 });
        units.last().copied()
    };
    match &mut body {
        Body::Type(TypeBody::Record(fields)) => fields.iter_mut().for_each(|field| field.unit = next()),
        Body::Type(TypeBody::Union(variants)) => variants.iter_mut().for_each(|variant| variant.unit = next()),
        Body::Reducer { stmts, .. } => stmts.iter_mut().for_each(|stmt| stmt.unit = next()),
        Body::Tile { root, .. } => number_elements(root, &mut next),
        _ => {}
    }
    (body, units)
}

fn number_elements(element: &mut Element, next: &mut dyn FnMut() -> Option<UnitId>) {
    element.unit = next();
    element.children.iter_mut().for_each(|child| number_elements(child, next));
}

/// The combined edits of one body, before its units are ordered.
struct Edits<'g> {
    header: BTreeMap<String, Cell<'g>>,
    cells: HashMap<UnitId, BTreeMap<String, Cell<'g>>, Ids>,
    inserts: Vec<Inserted<'g>>,
    deleted: HashSet<UnitId, Ids>,
}

struct Inserted<'g> {
    key: WriteOrder,
    id: UnitId,
    after: Option<UnitId>,
    parent: Option<UnitId>,
    regs: BTreeMap<String, Reg>,
    op: &'g Op,
}

/// The last that was written to each register, not parsed yet, by unit and name.
type Last<'g> = BTreeMap<(Option<UnitId>, &'g str), (WriteOrder, Option<&'g str>, &'g Op)>;

impl<'g> Edits<'g> {
    /// Collects the edits; only what counts in the end is parsed.
    fn collect(graph: &'g Graph, layer: Layer, summary: &Summary) -> Edits<'g> {
        let mut edits = Edits {
            header: BTreeMap::new(),
            cells: HashMap::default(),
            inserts: Vec::new(),
            deleted: HashSet::default(),
        };
        let mut last: Last = BTreeMap::new();
        for node in summary.counting.iter().filter_map(|id| graph.light(*id)) {
            let (ts, id) = node.op.key();
            for change in &node.op.changes {
                match change {
                    Change::Set { unit, register, value } => {
                        let cell = ((ts, id, 0), value.as_deref(), &node.op);
                        let held = last.entry((*unit, register)).or_insert(cell);
                        if held.0 <= cell.0 {
                            *held = cell;
                        }
                    }
                    Change::Insert(insert) => {
                        let Insert { id: unit, after, parent, regs } = &**insert;
                        let regs = regs
                            .iter()
                            .filter_map(|(name, text)| Some((name.clone(), parse_known(layer, true, name, text)?)));
                        let (key, regs) = ((ts, id, unit.n), regs.collect());
                        let (after, parent) = (*after, *parent);
                        edits.inserts.push(Inserted { key, id: *unit, after, parent, regs, op: &node.op });
                    }
                    Change::Delete(unit) => {
                        edits.deleted.insert(*unit);
                    }
                }
            }
        }
        for ((unit, register), (key, text, op)) in last {
            let value = text.and_then(|text| parse_known(layer, unit.is_some(), register, text));
            let cells = match unit {
                Some(unit) => edits.cells.entry(unit).or_default(),
                None => &mut edits.header,
            };
            cells.insert(register.to_owned(), (key, value, op));
        }
        edits
    }
}

/// Returns the text of a register that was found to parse before.
fn parse_known(layer: Layer, in_unit: bool, name: &str, text: &str) -> Option<Reg> {
    parse_register(category(layer, in_unit, name)?, text).ok()
}

/// Orders units: each follows the unit it was inserted after, later inserts first.
fn sequence(layer: Layer, initial: Vec<Unit>, edits: &Edits, epoch: (i64, OpId)) -> Vec<Unit> {
    let ids: Vec<Option<UnitId>> = initial.iter().map(|unit| unit.id).collect();
    // The units that follow each unit, within one parent; `None` as the previous unit is the head.
    let mut followers: Followers = HashMap::default();
    let mut last_child: HashMap<Option<UnitId>, UnitId, Ids> = HashMap::default();
    let mut units: HashMap<UnitId, Unit, Ids> = HashMap::default();
    for unit in initial {
        let Some(id) = unit.id else { continue };
        let parent = unit.parent.and_then(|at| ids[at]);
        let before = last_child.insert(parent, id);
        followers.entry((parent, before)).or_default().push(((epoch.0, epoch.1, id.n), id));
        units.insert(id, unit);
    }
    for insert in &edits.inserts {
        followers.entry((insert.parent, insert.after)).or_default().push((insert.key, insert.id));
        let kind = word(insert.regs.get("kind"));
        let regs = insert.regs.iter().map(|(name, reg)| {
            (RegName::Owned(name.clone()), bound(reg.clone(), layer, Some((name.as_str(), kind)), insert.op))
        });
        units.insert(insert.id, Unit { id: Some(insert.id), parent: None, regs: regs.collect() });
    }
    for followers in followers.values_mut() {
        followers.sort_unstable_by_key(|(key, _)| std::cmp::Reverse(*key));
    }
    for (id, cells) in &edits.cells {
        if let Some(unit) = units.get_mut(id) {
            write_cells(unit, cells, layer);
        }
    }
    let mut out = Vec::with_capacity(units.len());
    emit(None, None, &followers, &edits.deleted, &mut units, &mut out);
    out
}

fn word(reg: Option<&Reg>) -> &str {
    match reg {
        Some(Reg::Word(word)) => word,
        _ => "",
    }
}

fn write_cells(unit: &mut Unit, cells: &BTreeMap<String, Cell>, layer: Layer) {
    let kind = match cells.get("kind") {
        Some((_, Some(reg), _)) => word(Some(reg)).to_owned(),
        _ => word(unit.regs.get("kind")).to_owned(),
    };
    for (name, (_, value, op)) in cells {
        match value {
            Some(reg) => {
                unit.regs.insert(RegName::Owned(name.clone()), bound(reg.clone(), layer, Some((name, &kind)), op));
            }
            None => {
                unit.regs.remove(name.as_str());
            }
        }
    }
}

/// Writes the units of one parent in order, each followed by its own children.
fn emit(
    parent: Option<UnitId>,
    parent_at: Option<usize>,
    followers: &Followers,
    deleted: &HashSet<UnitId, Ids>,
    units: &mut HashMap<UnitId, Unit, Ids>,
    out: &mut Vec<Unit>,
) {
    let after = |unit: Option<UnitId>| followers.get(&(parent, unit)).into_iter().flatten().rev().map(|(_, id)| *id);
    let mut stack: Vec<UnitId> = after(None).collect();
    while let Some(id) = stack.pop() {
        stack.extend(after(Some(id)));
        if deleted.contains(&id) {
            continue;
        }
        let Some(mut unit) = units.remove(&id) else { continue };
        unit.parent = parent_at;
        let at = out.len();
        out.push(unit);
        if followers.contains_key(&(Some(id), None)) {
            emit(Some(id), Some(at), followers, deleted, units, out);
        }
    }
}

fn bind_parts(parts: &mut Parts, layer: Layer, op: &Op) {
    for reg in parts.header.values_mut() {
        bind(reg, op);
    }
    for unit in &mut parts.units {
        let kind = word(unit.regs.get("kind")).to_owned();
        for (name, reg) in &mut unit.regs {
            aim(reg, layer, Some((name, &kind)));
            bind(reg, op);
        }
    }
}

fn bound(mut reg: Reg, layer: Layer, at: Option<(&str, &str)>, op: &Op) -> Reg {
    aim(&mut reg, layer, at);
    bind(&mut reg, op);
    reg
}

/// Checks that the target of a statement refers to what its kind says.
fn aim(reg: &mut Reg, layer: Layer, at: Option<(&str, &str)>) {
    if let (Layer::Reducer, Some(("target", kind)), Reg::Ref(target)) = (layer, at, reg) {
        target.layer = target_layer(kind);
    }
}

/// Marks every name of a register with its writer, and with what the writer bound it to.
pub fn bind(reg: &mut Reg, op: &Op) {
    each_ref(reg, &mut |reference: &mut Ref| bind_one(reference, op));
}

fn bind_one(reference: &mut Ref, op: &Op) {
    reference.writer = Some(op.id);
    reference.to = To::Unset;
    let fits = |layer: Layer| layer == reference.layer || (reference.layer == Layer::Fn && layer == Layer::Effect);
    reference.bound =
        op.depends.iter().find(|dep| dep.name == reference.name && fits(dep.layer)).and_then(|dep| dep.def);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::strand::lang::parse::parse_definitions;
    use crate::strand::state::State;

    #[test]
    fn a_body_without_edits_is_what_its_parts_make() {
        for text in [
            include_str!("../../../tests/it/strand/programs/todo.strand"),
            include_str!("../../../tests/it/strand/programs/form.strand"),
        ] {
            let mut state = State::new();
            let me = crate::strand::issue::Issuer::new("user:me");
            for found in parse_definitions(text).unwrap() {
                let found = found.result.unwrap();
                let qname = crate::strand::id::QName::new(found.layer, found.name);
                let body = crate::strand::lang::print::body(&found.body);
                let draft = crate::strand::issue::Draft::Add { qname, body, doc: None, def: None };
                let op = crate::strand::issue::issue(&mut state, &draft, &me).unwrap().remove(0);
                let node = state.graph().node(op.id).unwrap();
                let body = node.body().unwrap();
                let mut parts = split(&body);
                for (index, unit) in parts.units.iter_mut().enumerate() {
                    unit.id = Some(UnitId { op: op.id, n: index as u32 + 1 });
                }
                let ids: Vec<UnitId> = parts.units.iter().filter_map(|unit| unit.id).collect();
                bind_parts(&mut parts, found.layer, &op);
                let (quick, units) = unedited(body.clone(), &op);
                assert_eq!(units, ids);
                assert_eq!(format!("{quick:?}"), format!("{:?}", join(found.layer, parts).unwrap()));
            }
        }
    }
}
