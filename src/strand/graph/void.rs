//! Examines an op when its ancestors are known: parses its text, and finds whether it is void.

use std::cell::{OnceCell, RefCell};
use std::collections::{BTreeMap, HashMap, HashSet};

use super::{Graph, Node};
use crate::strand::id::{Layer, OpId, UnitId};
use crate::strand::lang::ast::{Body, TypeBody};
use crate::strand::lang::names::{is_upper, name_fault};
use crate::strand::lang::parse::{Category, MAX_DEPTH, category, parse_body, parse_register};
use crate::strand::lang::unit::{Reg, count, is_multi, mandatory, split};
use crate::strand::op::{Change, Kind, LAST_TS, Op};

/// The parsed text of an op.
#[derive(Debug, Default)]
pub enum Parsed {
    /// It has none.
    #[default]
    Nothing,
    /// The body of an add or replace.
    Body(Body),
    /// The changes of an edit.
    Changes(Vec<ParsedChange>),
}

/// One parsed change of an edit.
#[derive(Debug)]
pub enum ParsedChange {
    /// A register's new value; the unit is `None` for the header.
    Set(Option<UnitId>, String, Option<Reg>),
    /// A new unit.
    Insert {
        /// Its identity.
        id: UnitId,
        /// The sibling before it.
        after: Option<UnitId>,
        /// Its parent element.
        parent: Option<UnitId>,
        /// Its registers.
        regs: BTreeMap<String, Reg>,
    },
    /// A deleted unit.
    Delete(UnitId),
}

/// What stands in the way of an op having an effect.
type Fault = String;

/// Parses the op of a new node and judges it by its ancestors alone, all of which are admitted.
pub(super) fn examine(graph: &Graph, node: &mut Node) {
    let above = node.op.parents.iter().filter_map(|id| graph.light(*id)).map(|node| node.max_ts).max();
    node.anchored = is_anchored(graph, &node.op);
    // A time that cannot be counts for nothing, or nobody could write after it.
    let late = node.op.ts > LAST_TS;
    node.max_ts = if late { above.unwrap_or(0) } else { node.op.ts.max(above.unwrap_or(i64::MIN)) };
    let verdict = if late {
        Err("its ts is after the year 9999".to_owned())
    } else if above.is_some_and(|above| node.op.ts <= above) {
        Err("its ts is not above that of every ancestor".to_owned())
    } else if !node.anchored {
        Err("the definition it is about is not among its ancestors".to_owned())
    } else {
        parse(graph, &node.op)
    };
    match verdict {
        Ok(Parsed::Body(body)) => node.body = RefCell::new(Some(Box::new(body))),
        Ok(parsed) => node.parsed = OnceCell::from(parsed),
        Err(fault) => node.void = Some(fault),
    }
}

/// Whether the target's `add` (non-void, fresh, of the same layer) is among the op's ancestors.
fn is_anchored(graph: &Graph, op: &Op) -> bool {
    let Some(def) = op.def else { return op.kind == Kind::Add };
    let Some(add) = graph.light(def) else { return false };
    if add.void.is_some() || add.op.kind != Kind::Add || add.op.def.is_some() || add.op.layer != op.layer {
        return false;
    }
    let by_parent = |id: &OpId| graph.light(*id).is_some_and(|node| node.op.target() == def && node.anchored);
    op.parents.iter().any(by_parent) || graph.reaches(add, &op.parents)
}

fn parse(graph: &Graph, op: &Op) -> Result<Parsed, Fault> {
    let name = if op.kind == Kind::Rename { op.name_new.as_deref() } else { Some(op.name.as_str()) };
    if matches!(op.kind, Kind::Add | Kind::Rename)
        && let Some(fault) = name.and_then(|name| name_fault(op.layer, name))
    {
        return Err(fault);
    }
    match op.kind {
        Kind::Add | Kind::Replace => {
            let text = op.body.as_deref().unwrap_or("");
            let body = parse_body(op.layer, text);
            body.map(Parsed::Body).map_err(|faults| format!("its body does not parse: {}", faults[0].message))
        }
        Kind::Edit => edit(graph, op),
        Kind::Link | Kind::Unlink if op.to_def().is_none() => {
            Err("depends-on does not say what it links to".to_owned())
        }
        _ => Ok(Parsed::Nothing),
    }
}

/// Parses an op that was found not to be void before.
pub(super) fn parse_known(op: &Op) -> Parsed {
    let known = |unit: Option<UnitId>, name: &str, text: &str| {
        parse_register(category(op.layer, unit.is_some(), name)?, text).ok()
    };
    match op.kind {
        Kind::Add | Kind::Replace => {
            parse_body(op.layer, op.body.as_deref().unwrap_or("")).map_or(Parsed::Nothing, Parsed::Body)
        }
        Kind::Edit => {
            let changes = op.changes.iter().map(|change| match change {
                Change::Set { unit, register, value } => {
                    let value = value.as_deref().and_then(|text| known(*unit, register, text));
                    ParsedChange::Set(*unit, register.clone(), value)
                }
                Change::Insert { id, after, parent, regs } => {
                    let parsed =
                        |(name, text): (&String, &String)| known(Some(*id), name, text).map(|reg| (name.clone(), reg));
                    let regs = regs.iter().filter_map(parsed).collect();
                    ParsedChange::Insert { id: *id, after: *after, parent: *parent, regs }
                }
                Change::Delete(unit) => ParsedChange::Delete(*unit),
            });
            Parsed::Changes(changes.collect())
        }
        _ => Parsed::Nothing,
    }
}

fn edit(graph: &Graph, op: &Op) -> Result<Parsed, Fault> {
    let base = op.base.and_then(|base| graph.node(base)).filter(|node| node.op.target() == op.target());
    let base = base.filter(|base| knows(graph, op, base)).ok_or("its base is not among its ancestors")?;
    let Parsed::Body(body) = base.parsed() else { return Err("its base is not a body".to_owned()) };
    let mut check = EditCheck {
        graph,
        op,
        base: base.op.id,
        units: if is_multi(body) { count(body) as u32 } else { 0 },
        form: form(body),
        own: HashSet::new(),
        kinds: kinds_set(op),
        places: HashMap::new(),
        base_parents: None,
    };
    let mut changes = Vec::with_capacity(op.changes.len());
    for change in &op.changes {
        changes.push(check.change(change)?);
    }
    Ok(Parsed::Changes(changes))
}

/// Whether the base is among the op's ancestors. A parent edit of the same base shows it at once.
fn knows(graph: &Graph, op: &Op, base: &Node) -> bool {
    let by_parent = |id: &OpId| {
        graph
            .light(*id)
            .is_some_and(|node| node.void.is_none() && node.op.kind == Kind::Edit && node.op.base == op.base)
    };
    op.parents.iter().any(by_parent) || graph.reaches(base, &op.parents)
}

fn form(body: &Body) -> &'static str {
    match body {
        Body::Type(TypeBody::Plain { .. }) => "plain",
        Body::Type(TypeBody::Record(_)) => "record",
        Body::Type(TypeBody::Union(_)) => "union",
        _ => "",
    }
}

/// The units whose kind the op sets, with the kind.
fn kinds_set(op: &Op) -> BTreeMap<UnitId, String> {
    let kind = |change: &Change| match change {
        Change::Set { unit: Some(unit), register, value: Some(kind) } if register == "kind" => {
            Some((*unit, kind.clone()))
        }
        _ => None,
    };
    op.changes.iter().filter_map(kind).collect()
}

struct EditCheck<'g> {
    graph: &'g Graph,
    op: &'g Op,
    base: OpId,
    /// How many units the base body has of its own.
    units: u32,
    form: &'static str,
    own: HashSet<UnitId>,
    kinds: BTreeMap<UnitId, String>,
    /// The parent and the depth of elements that were asked for.
    places: HashMap<UnitId, (Option<UnitId>, u32)>,
    /// The parent of each element of the base body.
    base_parents: Option<Vec<Option<usize>>>,
}

impl EditCheck<'_> {
    fn change(&mut self, change: &Change) -> Result<ParsedChange, Fault> {
        match change {
            Change::Set { unit, register, value } => {
                if let Some(unit) = unit {
                    self.known(*unit)?;
                    self.complete_kind(*unit)?;
                }
                let value = self.register(*unit, register, value.as_deref())?;
                Ok(ParsedChange::Set(*unit, register.clone(), value))
            }
            Change::Insert { id, after, parent, regs } => self.insert(*id, *after, *parent, regs),
            Change::Delete(unit) => {
                self.known(*unit)?;
                if self.op.layer == Layer::Tile && *unit == (UnitId { op: self.base, n: 1 }) {
                    return Err("it deletes the root of a tile".to_owned());
                }
                Ok(ParsedChange::Delete(*unit))
            }
        }
    }

    fn register(&self, unit: Option<UnitId>, name: &str, value: Option<&str>) -> Result<Option<Reg>, Fault> {
        let unknown = || format!("it names the register '{name}', which is not there");
        let category = category(self.op.layer, unit.is_some(), name).ok_or_else(unknown)?;
        if self.op.layer == Layer::Type && (unit.is_some() == (self.form == "plain")) && name != "doc" {
            return Err(unknown());
        }
        if unit.is_some() && self.op.layer == Layer::Type && name == "fields" && self.form == "record" {
            return Err(unknown());
        }
        let Some(text) = value else {
            return if mandatory(self.op.layer, unit.is_some(), name)
                && !unit.is_some_and(|u| self.kinds.contains_key(&u))
            {
                Err(format!("it clears '{name}', which must be set"))
            } else {
                Ok(None)
            };
        };
        if name == "form" && !matches!(text, "alias" | "nominal") {
            return Err("it changes the form of a type; that needs a replace".to_owned());
        }
        if category == Category::AnyName && is_upper(text) != (self.form == "union") {
            return Err(format!("'{text}' cannot be the name here"));
        }
        let reg = parse_register(category, text);
        reg.map(Some).map_err(|fault| format!("the text of '{name}' does not parse: {}", fault.message))
    }

    /// A change of kind brings every register the new kind must have.
    fn complete_kind(&self, unit: UnitId) -> Result<(), Fault> {
        let Some(kind) = self.kinds.get(&unit) else { return Ok(()) };
        let sets = |name: &str| {
            self.op.changes.iter().any(|change| {
                matches!(change, Change::Set { unit: Some(u), register, value: Some(_) } if *u == unit && register == name)
            })
        };
        let body = if kind == "write" { "value" } else { "args" };
        if sets("target") && sets(body) { Ok(()) } else { Err(format!("it makes a {kind} without all its parts")) }
    }

    fn insert(
        &mut self,
        id: UnitId,
        after: Option<UnitId>,
        parent: Option<UnitId>,
        regs: &BTreeMap<String, String>,
    ) -> Result<ParsedChange, Fault> {
        if id.op != self.op.id || id.n != self.own.len() as u32 + 1 {
            return Err("its inserts are not numbered in order".to_owned());
        }
        if self.units == 0 && !matches!(self.form, "record" | "union") && self.op.layer != Layer::Reducer {
            return Err("this body has no units to insert among".to_owned());
        }
        let parent_of_after = match after {
            Some(after) => {
                self.known(after)?;
                Some(self.place(after).0)
            }
            None => None,
        };
        match (self.op.layer == Layer::Tile, parent) {
            (true, None) => return Err("it inserts beside the root of a tile".to_owned()),
            (true, Some(parent)) => self.known(parent)?,
            (false, Some(_)) => return Err("only elements have parents".to_owned()),
            (false, None) => {}
        }
        if parent_of_after.is_some_and(|found| found != parent) {
            return Err("it inserts after a unit that has another parent".to_owned());
        }
        let depth = parent.map_or(0, |parent| self.place(parent).1 + 1);
        if depth > MAX_DEPTH {
            return Err(format!("it inserts an element deeper than {MAX_DEPTH} levels"));
        }
        let mut parsed = BTreeMap::new();
        for (name, text) in regs {
            if let Some(reg) = self.register(Some(id), name, Some(text))? {
                parsed.insert(name.clone(), reg);
            }
        }
        let needed: &[&str] = match (self.op.layer, self.form, regs.get("kind").map(String::as_str)) {
            (Layer::Tile, _, _) => &["elem"],
            (Layer::Reducer, _, Some("write")) => &["kind", "target", "value"],
            (Layer::Reducer, _, _) => &["kind", "target", "args"],
            (_, "union", _) => &["name", "fields"],
            _ => &["name", "type"],
        };
        if let Some(lacking) = needed.iter().find(|name| !parsed.contains_key(**name)) {
            return Err(format!("it inserts a unit without '{lacking}'"));
        }
        self.own.insert(id);
        self.places.insert(id, (parent, depth));
        Ok(ParsedChange::Insert { id, after, parent, regs: parsed })
    }

    /// Units of the base, of ancestors on that base, or made earlier in this op.
    fn known(&self, unit: UnitId) -> Result<(), Fault> {
        let unknown = || format!("the unit {unit} is not known there");
        if unit.op == self.base {
            return if unit.n <= self.units { Ok(()) } else { Err(unknown()) };
        }
        if unit.op == self.op.id {
            return if self.own.contains(&unit) { Ok(()) } else { Err(unknown()) };
        }
        let node = self.graph.node(unit.op).ok_or_else(unknown)?;
        let fits = node.void.is_none() && node.op.base == Some(self.base) && self.graph.reaches(node, &self.op.parents);
        let inserted = node.op.changes.iter().any(|change| matches!(change, Change::Insert { id, .. } if *id == unit));
        if fits && inserted { Ok(()) } else { Err(unknown()) }
    }

    /// The parent and the depth of a known element.
    fn place(&mut self, unit: UnitId) -> (Option<UnitId>, u32) {
        if self.op.layer != Layer::Tile {
            return (None, 0);
        }
        // From the element up to the first that is known, and down again.
        let (mut at, mut way) = (Some(unit), Vec::new());
        let mut depth = None;
        while let Some(unit) = at {
            if let Some((_, known)) = self.places.get(&unit) {
                depth = Some(*known);
                break;
            }
            at = self.parent_of(unit);
            way.push((unit, at));
        }
        for (unit, parent) in way.into_iter().rev() {
            let own = depth.map_or(0, |depth| depth + 1);
            self.places.insert(unit, (parent, own));
            depth = Some(own);
        }
        self.places.get(&unit).copied().unwrap_or_default()
    }

    fn parent_of(&mut self, unit: UnitId) -> Option<UnitId> {
        if unit.op == self.base {
            let parents = self.base_parents.get_or_insert_with(|| {
                let Some(Parsed::Body(body)) = self.graph.node(self.base).map(Node::parsed) else { return Vec::new() };
                split(body).units.iter().map(|unit| unit.parent).collect()
            });
            let parent = (*parents.get((unit.n as usize).checked_sub(1)?)?)?;
            return Some(UnitId { op: self.base, n: parent as u32 + 1 });
        }
        self.graph.node(unit.op)?.op.changes.iter().find_map(|change| match change {
            Change::Insert { id, parent, .. } if *id == unit => *parent,
            _ => None,
        })
    }
}
