//! Patches: the input of an `edit` by a person or a model, converted to sealed changes.

mod again;
mod read;
mod tokens;

pub use again::patch_of;
use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

pub use tokens::{find_tokens, replace_tokens};

use super::Refusal;
use crate::strand::id::{Layer, OpId, UnitId};
use crate::strand::lang::ast::{Body, TypeBody};
use crate::strand::lang::parse::{
    category, parse_body, parse_elements, parse_members, parse_register, parse_statements,
};
use crate::strand::lang::print;
use crate::strand::lang::unit::{
    Parts, Reg, RegName, Unit, field_unit, form, has_units, join, mandatory, push_element, split, stmt_unit,
    variant_unit,
};
use crate::strand::op::{Change, Insert};
use crate::strand::state::View;
use read::{Address, Instruction, read_patch};
use tokens::{failed, replace_plain};

/// A sealed patch.
pub struct Sealed {
    /// The changes, positions no longer in them.
    pub changes: Vec<Change>,
    /// The body as it will be, with the new names not yet looked up.
    pub body: Body,
}

/// A unit while it is patched.
struct UnitDraft {
    id: Option<UnitId>,
    parent: Option<usize>,
    old: BTreeMap<RegName, Reg>,
    regs: BTreeMap<RegName, Reg>,
    deleted: bool,
}

/// A unit to be inserted: after a sibling, below a parent.
struct Insertion {
    id: UnitId,
    after: Option<UnitId>,
    parent: Option<UnitId>,
    unit: Unit,
}

/// Seals a patch against the present definition. `op` is the id the edit will have.
pub fn seal(view: &View, patch: &Value, op: OpId) -> Result<Sealed, Refusal> {
    let steps = read_patch(view.layer, patch)?;
    let mut work = Patcher::new(view, op);
    for (address, steps) in steps {
        for step in steps {
            work.apply(&address, step)?;
        }
        work.chain = None;
    }
    work.finish()
}

struct Patcher<'v> {
    view: &'v View,
    layer: Layer,
    op: OpId,
    multi: bool,
    old_header: BTreeMap<RegName, Reg>,
    header: BTreeMap<RegName, Reg>,
    units: Vec<UnitDraft>,
    inserts: Vec<Insertion>,
    /// The last unit inserted at the address at hand.
    chain: Option<UnitId>,
}

impl<'v> Patcher<'v> {
    fn new(view: &'v View, op: OpId) -> Patcher<'v> {
        let mut parts = split(&view.body);
        if !view.doc.is_empty() {
            parts.header.insert(RegName::Borrowed("doc"), Reg::Word(view.doc.clone()));
        }
        let multi = has_units(view.layer, &parts);
        let ids = view.units.iter().map(|id| Some(*id)).chain(std::iter::repeat(None));
        let draft = |(unit, id): (Unit, Option<UnitId>)| UnitDraft {
            id,
            parent: unit.parent,
            old: unit.regs.clone(),
            regs: unit.regs,
            deleted: false,
        };
        let units = parts.units.into_iter().zip(ids).map(draft).collect();
        let (old_header, header) = (parts.header.clone(), parts.header);
        Patcher { view, layer: view.layer, op, multi, old_header, header, units, inserts: Vec::new(), chain: None }
    }

    fn apply(&mut self, address: &Address, step: Instruction) -> Result<(), Refusal> {
        match address {
            Address::Header(name) => self.header_step(name, step),
            Address::Unit(0) => match step {
                Instruction::Insert(text) if self.multi && self.layer != Layer::Tile => self.insert(None, &text),
                _ => Err(failed("body:0 takes only an insert, and a tile has one root")),
            },
            Address::Unit(number) => self.unit_step(*number, step),
            Address::Part(number, part) => self.part_step(*number, part, step),
        }
    }

    fn header_step(&mut self, name: &str, step: Instruction) -> Result<(), Refusal> {
        let old = self.header.get(name).map(Reg::text).unwrap_or_default();
        let value = match step {
            Instruction::Set(text) => Some(text),
            Instruction::Replace { from, to, all } if name == "doc" => Some(replace_plain(&old, &from, &to, all)?),
            Instruction::Replace { from, to, all } => Some(replace_tokens(&old, &from, &to, all)?),
            Instruction::Delete => None,
            Instruction::Unset(_) if !mandatory(self.layer, false, name) => None,
            _ => return Err(failed(format!("'{name}' can be set, replaced in, or deleted"))),
        };
        self.set_header(name, value)
    }

    fn set_header(&mut self, name: &str, value: Option<String>) -> Result<(), Refusal> {
        let category = category(self.layer, false, name);
        let category = category.ok_or_else(|| failed(format!("a {} has no '{name}'", self.layer)))?;
        let Some(text) = value else {
            if mandatory(self.layer, false, name) && !matches!((self.layer, name), (Layer::Tile, "params")) {
                return Err(failed(format!("'{name}' must be set")));
            }
            if name == "params" {
                self.header.insert(RegName::Borrowed("params"), Reg::Params(Vec::new()));
            } else {
                self.header.remove(name);
            }
            return Ok(());
        };
        if name == "form" && (self.multi || !matches!(text.trim(), "alias" | "nominal")) {
            return Err(failed("the form of this type cannot be edited; use replace"));
        }
        if self.layer == Layer::Type && self.multi && matches!(name, "base" | "where") {
            return Err(failed(format!("a record or union has no '{name}'; use replace")));
        }
        let reg = parse_register(category, &text).map_err(|fault| failed(fault.message))?;
        self.header.insert(RegName::Owned(name.to_owned()), reg);
        Ok(())
    }

    fn draft(&mut self, number: usize) -> Result<&mut UnitDraft, Refusal> {
        let count = self.units.len();
        let missing = || failed(format!("there is no body:{number}; the last is body:{count}"));
        self.units.get_mut(number.wrapping_sub(1)).filter(|draft| !draft.deleted).ok_or_else(missing)
    }

    fn unit_step(&mut self, number: usize, step: Instruction) -> Result<(), Refusal> {
        if !self.multi {
            return self.whole_step(number, step);
        }
        match step {
            Instruction::Insert(text) => {
                self.draft(number)?;
                self.insert(Some(number), &text)
            }
            Instruction::InsertChild(text) => self.insert_child(number, &text),
            Instruction::Delete => self.delete(number),
            Instruction::Set(text) => self.set_unit(number, &text),
            Instruction::Replace { from, to, all } => {
                let text = self.unit_text(number)?;
                let text = replace_tokens(&text, &from, &to, all)?;
                self.set_unit(number, &text)
            }
            Instruction::Add(name, value) => self.set_part(number, &name, Some(&value)),
            Instruction::Unset(name) => self.set_part(number, &name, None),
        }
    }

    /// Instructions on a body that is one unit.
    fn whole_step(&mut self, number: usize, step: Instruction) -> Result<(), Refusal> {
        if number != 1 {
            return Err(failed(format!("there is no body:{number}; the whole body is body:1")));
        }
        let text = match step {
            Instruction::Set(text) => text,
            Instruction::Replace { from, to, all } => {
                let parts = Parts { header: self.header.clone(), units: Vec::new() };
                let body = join(self.layer, parts).ok_or_else(|| failed("the body is not whole"))?;
                replace_tokens(&print::body(&body), &from, &to, all)?
            }
            Instruction::Add(name, value) => return self.set_header(&name, Some(value)),
            Instruction::Unset(name) => return self.set_header(&name, None),
            _ => return Err(failed("this body is one unit: set it, or replace in it")),
        };
        let body = parse_body(self.layer, &text).map_err(|faults| failed(faults[0].message.clone()))?;
        let parts = split(&body);
        if has_units(self.layer, &parts) || !parts.units.is_empty() {
            return Err(failed("this changes the form of the type; use replace"));
        }
        let doc = self.header.remove("doc");
        self.header = parts.header;
        if let Some(doc) = doc {
            self.header.insert(RegName::Borrowed("doc"), doc);
        }
        Ok(())
    }

    fn part_step(&mut self, number: usize, part: &str, step: Instruction) -> Result<(), Refusal> {
        if !self.multi {
            return if number == 1 { self.header_step(part, step) } else { Err(failed("the whole body is body:1")) };
        }
        let register = self.register_name(part);
        let old = self.draft(number)?.regs.get(register.as_str()).map(Reg::text);
        match step {
            Instruction::Set(text) => self.set_part(number, part, Some(&text)),
            Instruction::Replace { from, to, all } => {
                let old = old.ok_or_else(|| failed(format!("body:{number} has no '{part}'")))?;
                let text = replace_tokens(&old, &from, &to, all)?;
                self.set_part(number, part, Some(&text))
            }
            Instruction::Delete | Instruction::Unset(_) => self.set_part(number, part, None),
            _ => Err(failed(format!("'{part}' can be set, replaced in, or deleted"))),
        }
    }

    fn register_name(&self, part: &str) -> String {
        if self.layer == Layer::Tile && part != "elem" { format!("arg.{part}") } else { part.to_owned() }
    }

    fn set_part(&mut self, number: usize, part: &str, value: Option<&str>) -> Result<(), Refusal> {
        let (layer, register) = (self.layer, self.register_name(part));
        let category = category(layer, true, &register).ok_or_else(|| failed(format!("there is no '{part}' here")))?;
        let draft = self.draft(number)?;
        match value {
            Some(text) => {
                let reg = parse_register(category, text).map_err(|fault| failed(fault.message))?;
                draft.regs.insert(RegName::Owned(register), reg);
            }
            None if mandatory(layer, true, &register) => return Err(failed(format!("'{part}' must be set"))),
            None if draft.regs.remove(register.as_str()).is_none() => {
                return Err(failed(format!("body:{number} has no '{part}'")));
            }
            None => {}
        }
        // The unit must still be one.
        self.unit_text(number).map(|_| ())
    }

    /// Returns the text of a unit as patched so far.
    fn unit_text(&mut self, number: usize) -> Result<String, Refusal> {
        let layer = self.layer;
        let form = form(&Parts { header: self.header.clone(), units: Vec::new() }).to_owned();
        let draft = self.draft(number)?;
        let unit = Unit { id: None, parent: None, regs: draft.regs.clone() };
        let body = match layer {
            Layer::Reducer => {
                let stmt = crate::strand::lang::unit::join_stmt(unit);
                stmt.map(|stmt| Body::Reducer { on: None, input: None, stmts: vec![stmt] })
            }
            Layer::Tile => {
                crate::strand::lang::unit::join_element(unit).map(|root| Body::Tile { params: Vec::new(), root })
            }
            _ => {
                let header = [(RegName::Borrowed("form"), Reg::Word(form))].into();
                join(Layer::Type, Parts { header, units: vec![unit] })
            }
        };
        let printed = body.and_then(|body| print::unit(&body, 1));
        printed.map(|printed| printed.text).ok_or_else(|| failed("the unit is not whole"))
    }

    fn set_unit(&mut self, number: usize, text: &str) -> Result<(), Refusal> {
        let mut units = self.parse_units(text)?;
        let has_children =
            self.units.iter().any(|draft| draft.parent == Some(number.wrapping_sub(1)) && !draft.deleted);
        let layer = self.layer;
        if units.len() > 1 && (layer != Layer::Tile || has_children || units.iter().skip(1).any(|u| u.parent.is_none()))
        {
            return Err(failed("set takes one unit; a block of children only where there is none"));
        }
        if units.is_empty() {
            return Err(failed("set needs a unit"));
        }
        let first = units.remove(0);
        self.draft(number)?.regs = first.regs;
        if !units.is_empty() {
            let parent = self.draft(number)?.id;
            for unit in &mut units {
                // Parents are counted within the text: 0 is the unit set.
                unit.parent = unit.parent.and_then(|parent| parent.checked_sub(1));
            }
            self.push_inserts(units, parent, None);
        }
        Ok(())
    }

    /// Returns the units of a text: statements, elements with their children, fields or variants.
    fn parse_units(&self, text: &str) -> Result<Vec<Unit>, Refusal> {
        let parsed = match self.layer {
            Layer::Reducer => parse_statements(text).map(|stmts| stmts.iter().map(stmt_unit).collect()),
            Layer::Tile => parse_elements(text).map(|elements| {
                let mut units = Vec::new();
                elements.iter().for_each(|element| push_element(element, None, &mut units));
                units
            }),
            _ => {
                let union = matches!(&self.view.body, Body::Type(TypeBody::Union(_)));
                parse_members(text, union).map(|(fields, variants)| {
                    fields.iter().map(field_unit).chain(variants.iter().map(variant_unit)).collect()
                })
            }
        };
        parsed.map_err(|fault| failed(fault.message))
    }

    fn insert(&mut self, after: Option<usize>, text: &str) -> Result<(), Refusal> {
        let parent = match after {
            Some(number) if self.layer == Layer::Tile => {
                let parent = self.draft(number)?.parent;
                let parent = parent.ok_or_else(|| failed("a tile has one root; use insert-child"))?;
                self.draft(parent + 1)?.id
            }
            _ => None,
        };
        let after = match (self.chain, after) {
            (Some(last), _) => Some(last),
            (None, Some(number)) => self.draft(number)?.id,
            (None, None) => None,
        };
        let units = self.parse_units(text)?;
        self.push_inserts(units, parent, after);
        Ok(())
    }

    fn insert_child(&mut self, number: usize, text: &str) -> Result<(), Refusal> {
        if self.layer != Layer::Tile {
            return Err(failed("only elements have children"));
        }
        let parent = self.draft(number)?.id;
        let last = self.units.iter().rev().find(|draft| draft.parent == Some(number - 1) && !draft.deleted);
        let after = self.chain.or(last.and_then(|draft| draft.id));
        let units = self.parse_units(text)?;
        self.push_inserts(units, parent, after);
        Ok(())
    }

    /// Chains units after one another; children go below their own parents.
    fn push_inserts(&mut self, units: Vec<Unit>, parent: Option<UnitId>, after: Option<UnitId>) {
        let base = self.inserts.len();
        let mut last: BTreeMap<Option<usize>, UnitId> = BTreeMap::new();
        for unit in units {
            let id = UnitId { op: self.op, n: self.inserts.len() as u32 + 1 };
            let before = last.insert(unit.parent, id);
            let (parent, after) = match unit.parent {
                Some(at) => (self.inserts.get(base + at).map(|insert| insert.id), before),
                None => (parent, before.or(after)),
            };
            self.inserts.push(Insertion { id, after, parent, unit });
        }
        if let Some(id) = last.get(&None) {
            self.chain = Some(*id);
        }
    }

    fn delete(&mut self, number: usize) -> Result<(), Refusal> {
        if self.layer == Layer::Tile && number == 1 {
            return Err(failed("the root of a tile cannot be deleted; set it"));
        }
        self.draft(number)?.deleted = true;
        Ok(())
    }

    fn finish(mut self) -> Result<Sealed, Refusal> {
        // An equal register is not written: it keeps the names as they were bound.
        keep_equal(&self.old_header, &mut self.header);
        for draft in &mut self.units {
            keep_equal(&draft.old, &mut draft.regs);
        }
        let mut changes = Vec::new();
        header_changes(&self.old_header, &self.header, &mut changes);
        for draft in &self.units {
            let Some(id) = draft.id else { continue };
            if draft.deleted {
                changes.push(Change::Delete(id));
            } else {
                unit_changes(id, &draft.old, &draft.regs, &mut changes);
            }
        }
        for insert in &self.inserts {
            let regs = insert.unit.regs.iter().map(|(name, reg)| (name.to_string(), reg.text())).collect();
            let (id, after, parent) = (insert.id, insert.after, insert.parent);
            changes.push(Change::Insert(Box::new(Insert { id, after, parent, regs })));
        }
        if changes.is_empty() {
            return Err(failed("the patch changes nothing"));
        }
        let body = self.body().ok_or_else(|| failed("the patched body is not whole"))?;
        Ok(Sealed { changes, body })
    }

    /// Returns the body as it will be. Order does not matter for what its names refer to, except that a unit must stay
    /// below its parent.
    fn body(self) -> Option<Body> {
        let mut units: Vec<Unit> = Vec::new();
        let mut place: BTreeMap<UnitId, usize> = BTreeMap::new();
        let mut remaining: BTreeSet<usize> = BTreeSet::new();
        let mut at_of: BTreeMap<usize, usize> = BTreeMap::new();
        for (index, draft) in self.units.into_iter().enumerate() {
            let below_deleted = draft.parent.is_some_and(|parent| !remaining.contains(&parent));
            if draft.deleted || below_deleted {
                continue;
            }
            remaining.insert(index);
            at_of.insert(index, units.len());
            if let Some(id) = draft.id {
                place.insert(id, units.len());
            }
            let parent = draft.parent.and_then(|parent| at_of.get(&parent).copied());
            units.push(Unit { id: draft.id, parent, regs: draft.regs });
        }
        for insert in self.inserts {
            let parent = match insert.parent {
                // Below a unit that the same patch deletes, an insert has no effect.
                Some(parent) => match place.get(&parent) {
                    Some(at) => Some(*at),
                    None => continue,
                },
                None => None,
            };
            place.insert(insert.id, units.len());
            units.push(Unit { id: Some(insert.id), parent, regs: insert.unit.regs });
        }
        let mut header = self.header;
        header.remove("doc");
        join(self.layer, Parts { header, units })
    }
}

fn keep_equal(old: &BTreeMap<RegName, Reg>, new: &mut BTreeMap<RegName, Reg>) {
    for (name, reg) in new {
        if let Some(held) = old.get(name)
            && held.text() == reg.text()
        {
            reg.clone_from(held);
        }
    }
}

fn header_changes(old: &BTreeMap<RegName, Reg>, new: &BTreeMap<RegName, Reg>, changes: &mut Vec<Change>) {
    let names: BTreeSet<&RegName> = old.keys().chain(new.keys()).collect();
    for name in names {
        let value = new.get(name).map(Reg::text);
        if old.get(name).map(Reg::text) != value {
            changes.push(Change::Set { unit: None, register: name.as_ref().into(), value: value.map(Into::into) });
        }
    }
}

fn unit_changes(id: UnitId, old: &BTreeMap<RegName, Reg>, new: &BTreeMap<RegName, Reg>, changes: &mut Vec<Change>) {
    let kind_changed = old.get("kind").map(Reg::text) != new.get("kind").map(Reg::text);
    let names: BTreeSet<&RegName> = old.keys().chain(new.keys()).collect();
    for name in names {
        let value = new.get(name).map(Reg::text);
        // A new kind writes every register it has; what only the old kind had is left alone.
        let forced = kind_changed && value.is_some();
        let leave = kind_changed && value.is_none() && matches!(name.as_ref(), "value" | "args");
        if (forced || old.get(name).map(Reg::text) != value) && !leave {
            changes.push(Change::Set { unit: Some(id), register: name.as_ref().into(), value: value.map(Into::into) });
        }
    }
}
