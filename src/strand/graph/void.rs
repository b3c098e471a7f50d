//! Examines an op when its ancestors are known: parses its text, and finds whether it is void.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap, HashSet};

use super::Graph;
use super::node::{Form, Node, Outline};
use crate::strand::id::{Layer, OpId, UnitId};
use crate::strand::lang::ast::Body;
use crate::strand::lang::names::{is_upper, name_fault};
use crate::strand::lang::parse::{Category, MAX_DEPTH, category, parse_body, parse_register};
use crate::strand::lang::unit::{mandatory, split};
use crate::strand::op::{Change, Insert, Kind, LAST_TS, Op};

/// The reason why an op has no effect.
type VoidReason = String;

impl Graph {
    /// Parses the op of a new node and judges it by its ancestors alone, all of which are admitted.
    pub(super) fn examine(&self, node: &mut Node) {
        let above = node.op.parents.iter().filter_map(|id| self.light(*id)).map(|node| node.max_ts).max();
        node.anchored = is_anchored(self, &node.op);
        // An op whose time is out of range has no effect, or no later op could be written.
        let late = node.op.ts > LAST_TS;
        node.max_ts = if late { above.unwrap_or(0) } else { node.op.ts.max(above.unwrap_or(i64::MIN)) };
        let verdict = if late {
            Err("its ts is after the year 9999".to_owned())
        } else if above.is_some_and(|above| node.op.ts <= above) {
            Err("its ts is not above that of every ancestor".to_owned())
        } else if !node.anchored {
            Err("the definition it is about is not among its ancestors".to_owned())
        } else {
            parse(self, &node.op)
        };
        match verdict {
            Ok(body) => node.body = RefCell::new(body.map(Box::new)),
            Err(fault) => node.void = Some(fault.into()),
        }
    }
}

/// Returns whether the target's `add` (non-void, fresh, of the same layer) is among the op's ancestors.
fn is_anchored(graph: &Graph, op: &Op) -> bool {
    let Some(def) = op.def else { return op.kind == Kind::Add };
    let after_add = |id: &OpId| {
        let parent = graph.light(*id);
        parent.is_some_and(|node| node.anchored && node.op.def == Some(def) && node.op.layer == op.layer)
    };
    // The `add` is then known to be one: it need not be read.
    if op.parents.iter().any(after_add) {
        return true;
    }
    let Some(add) = graph.light(def) else { return false };
    if add.void.is_some() || add.op.kind != Kind::Add || add.op.def.is_some() || add.op.layer != op.layer {
        return false;
    }
    let by_parent = |id: &OpId| graph.light(*id).is_some_and(|node| node.op.target() == def && node.anchored);
    op.parents.iter().any(by_parent) || graph.reaches(add, &op.parents)
}

/// Parses what an op says. Returns the body it brings, if it brings one.
fn parse(graph: &Graph, op: &Op) -> Result<Option<Body>, VoidReason> {
    let name = if op.kind == Kind::Rename { op.name_new() } else { Some(&*op.name) };
    if matches!(op.kind, Kind::Add | Kind::Rename)
        && let Some(fault) = name.and_then(|name| name_fault(op.layer, name))
    {
        return Err(fault);
    }
    match op.kind {
        Kind::Add | Kind::Replace => {
            let text = op.body.as_deref().unwrap_or("");
            let body = parse_body(op.layer, text);
            body.map(Some).map_err(|faults| format!("its body does not parse: {}", faults[0].message))
        }
        Kind::Edit => edit(graph, op).map(|()| None),
        Kind::Link | Kind::Unlink if op.to_def().is_none() => {
            Err("depends-on does not say what it links to".to_owned())
        }
        _ => Ok(None),
    }
}

fn edit(graph: &Graph, op: &Op) -> Result<(), VoidReason> {
    let base = op.base.and_then(|base| graph.node(base)).filter(|node| node.op.target() == op.target());
    let base = base.filter(|base| knows(graph, op, base)).ok_or("its base is not among its ancestors")?;
    let Outline { units, form } = base.outline().ok_or("its base is not a body")?;
    let mut check = EditCheck {
        graph,
        op,
        base: base.op.id,
        units,
        form,
        own: HashSet::new(),
        kinds: kinds_set(op),
        places: HashMap::new(),
        base_parents: None,
    };
    op.changes.iter().try_for_each(|change| check.change(change))
}

/// Returns whether the base is among the op's ancestors. A parent edit of the same base shows it at once.
fn knows(graph: &Graph, op: &Op, base: &Node) -> bool {
    let by_parent = |id: &OpId| {
        graph
            .light(*id)
            .is_some_and(|node| node.void.is_none() && node.op.kind == Kind::Edit && node.op.base == op.base)
    };
    op.parents.iter().any(by_parent) || graph.reaches(base, &op.parents)
}

/// Returns the units whose kind the op sets, with the kind.
fn kinds_set(op: &Op) -> BTreeMap<UnitId, &str> {
    fn kind(change: &Change) -> Option<(UnitId, &str)> {
        match change {
            Change::Set { unit: Some(unit), register, value: Some(kind) } if **register == *"kind" => {
                Some((*unit, kind))
            }
            _ => None,
        }
    }
    op.changes.iter().filter_map(kind).collect()
}

struct EditCheck<'g> {
    graph: &'g Graph,
    op: &'g Op,
    base: OpId,
    /// The number of the base body's own units.
    units: u32,
    form: Form,
    own: HashSet<UnitId>,
    kinds: BTreeMap<UnitId, &'g str>,
    /// The parent and the depth of elements that were looked up.
    places: HashMap<UnitId, (Option<UnitId>, u32)>,
    /// The parent of each element of the base body.
    base_parents: Option<Vec<Option<usize>>>,
}

impl EditCheck<'_> {
    fn change(&mut self, change: &Change) -> Result<(), VoidReason> {
        match change {
            Change::Set { unit, register, value } => {
                if let Some(unit) = unit {
                    self.known(*unit)?;
                    self.complete_kind(*unit)?;
                }
                self.register(*unit, register, value.as_deref())
            }
            Change::Insert(insert) => self.insert(insert),
            Change::Delete(unit) => {
                self.known(*unit)?;
                if self.op.layer == Layer::Tile && *unit == (UnitId { op: self.base, n: 1 }) {
                    return Err("it deletes the root of a tile".to_owned());
                }
                Ok(())
            }
        }
    }

    fn register(&self, unit: Option<UnitId>, name: &str, value: Option<&str>) -> Result<(), VoidReason> {
        let unknown = || format!("it names the register '{name}', which is not there");
        let category = category(self.op.layer, unit.is_some(), name).ok_or_else(unknown)?;
        if self.op.layer == Layer::Type && (unit.is_some() == (self.form == Form::Plain)) && name != "doc" {
            return Err(unknown());
        }
        if unit.is_some() && self.op.layer == Layer::Type && name == "fields" && self.form == Form::Record {
            return Err(unknown());
        }
        let Some(text) = value else {
            return if mandatory(self.op.layer, unit.is_some(), name)
                && !unit.is_some_and(|u| self.kinds.contains_key(&u))
            {
                Err(format!("it clears '{name}', which must be set"))
            } else {
                Ok(())
            };
        };
        if name == "form" && !matches!(text, "alias" | "nominal") {
            return Err("it changes the form of a type; that needs a replace".to_owned());
        }
        if category == Category::AnyName && is_upper(text) != (self.form == Form::Union) {
            return Err(format!("'{text}' cannot be the name here"));
        }
        let reg = parse_register(category, text);
        reg.map(|_| ()).map_err(|fault| format!("the text of '{name}' does not parse: {}", fault.message))
    }

    /// Checks that a change of kind brings every register the new kind must have.
    fn complete_kind(&self, unit: UnitId) -> Result<(), VoidReason> {
        let Some(kind) = self.kinds.get(&unit) else { return Ok(()) };
        let sets = |name: &str| {
            self.op.changes.iter().any(|change| {
                matches!(change, Change::Set { unit: Some(u), register, value: Some(_) } if *u == unit && **register == *name)
            })
        };
        let body = if *kind == "write" { "value" } else { "args" };
        if sets("target") && sets(body) { Ok(()) } else { Err(format!("it makes a {kind} without all its parts")) }
    }

    fn insert(&mut self, insert: &Insert) -> Result<(), VoidReason> {
        let Insert { id, after, parent, regs } = insert;
        let (id, after, parent) = (*id, *after, *parent);
        if id.op != self.op.id || id.n != self.own.len() as u32 + 1 {
            return Err("its inserts are not numbered in order".to_owned());
        }
        if self.units == 0 && !matches!(self.form, Form::Record | Form::Union) && self.op.layer != Layer::Reducer {
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
        for (name, text) in regs {
            self.register(Some(id), name, Some(text))?;
        }
        let needed: &[&str] = match (self.op.layer, self.form, regs.get("kind").map(String::as_str)) {
            (Layer::Tile, _, _) => &["elem"],
            (Layer::Reducer, _, Some("write")) => &["kind", "target", "value"],
            (Layer::Reducer, _, _) => &["kind", "target", "args"],
            (_, Form::Union, _) => &["name", "fields"],
            _ => &["name", "type"],
        };
        if let Some(lacking) = needed.iter().find(|name| !regs.contains_key(**name)) {
            return Err(format!("it inserts a unit without '{lacking}'"));
        }
        self.own.insert(id);
        self.places.insert(id, (parent, depth));
        Ok(())
    }

    /// Checks that units are of the base, of ancestors on that base, or made earlier in this op.
    fn known(&self, unit: UnitId) -> Result<(), VoidReason> {
        let unknown = || format!("the unit {unit} is not known there");
        if unit.op == self.base {
            return if unit.n <= self.units { Ok(()) } else { Err(unknown()) };
        }
        if unit.op == self.op.id {
            return if self.own.contains(&unit) { Ok(()) } else { Err(unknown()) };
        }
        let node = self.graph.node(unit.op).ok_or_else(unknown)?;
        let fits = node.void.is_none() && node.op.base == Some(self.base) && self.graph.reaches(node, &self.op.parents);
        let inserted =
            node.op.changes.iter().any(|change| matches!(change, Change::Insert(insert) if insert.id == unit));
        if fits && inserted { Ok(()) } else { Err(unknown()) }
    }

    /// Returns the parent and the depth of a known element.
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
                let Some(body) = self.graph.node(self.base).and_then(Node::body) else { return Vec::new() };
                split(&body).units.iter().map(|unit| unit.parent).collect()
            });
            let parent = (*parents.get((unit.n as usize).checked_sub(1)?)?)?;
            return Some(UnitId { op: self.base, n: parent as u32 + 1 });
        }
        self.graph.node(unit.op)?.op.changes.iter().find_map(|change| match change {
            Change::Insert(insert) if insert.id == unit => insert.parent,
            _ => None,
        })
    }
}
