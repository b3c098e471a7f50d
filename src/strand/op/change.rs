//! The changes that an edit is sealed as: registers set, units inserted and deleted.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Value, json};

use super::super::id::UnitId;
use super::Op;

/// One sealed change of an edit.
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    /// A register set, or cleared.
    Set {
        /// The unit; none for the header.
        unit: Option<UnitId>,
        /// The register.
        register: Arc<str>,
        /// Its new canonical text.
        value: Option<Box<str>>,
    },
    /// A unit inserted.
    Insert(Box<Insert>),
    /// A unit deleted, with its children.
    Delete(UnitId),
}

/// A unit that an edit inserts.
#[derive(Clone, Debug, PartialEq)]
pub struct Insert {
    /// Its identity.
    pub id: UnitId,
    /// The sibling before it.
    pub after: Option<UnitId>,
    /// Its parent element, in a tile.
    pub parent: Option<UnitId>,
    /// Its registers.
    pub regs: BTreeMap<String, String>,
}

impl Change {
    pub(super) fn parse(value: &Value) -> Option<Change> {
        let object = value.as_object()?;
        let unit = |name: &str| match object.get(name) {
            None | Some(Value::Null) => Some(None),
            Some(value) => Some(Some(UnitId::parse(value.as_str()?)?)),
        };
        if let Some(target) = object.get("reg") {
            let target = target.as_str()?;
            let (unit, register) = match target.split_once('/') {
                Some((unit, register)) => (Some(UnitId::parse(unit)?), register),
                None => (None, target),
            };
            let value = match object.get("set")? {
                Value::Null => None,
                value => Some(value.as_str()?.into()),
            };
            return Some(Change::Set { unit, register: shared(register), value });
        }
        if object.contains_key("ins") {
            let mut regs = BTreeMap::new();
            for (name, value) in object.get("regs")?.as_object()? {
                regs.insert(name.clone(), value.as_str()?.to_owned());
            }
            let (id, after, parent) = (unit("ins")??, unit("after")?, unit("parent")?);
            return Some(Change::Insert(Box::new(Insert { id, after, parent, regs })));
        }
        Some(Change::Delete(unit("del")??))
    }

    pub(super) fn to_json(&self) -> Value {
        match self {
            Change::Set { unit, register, value } => {
                let target = unit.map_or_else(|| register.to_string(), |unit| format!("{unit}/{register}"));
                json!({"reg": target, "set": value})
            }
            Change::Insert(insert) => json!({
                "ins": insert.id.to_string(),
                "after": insert.after.map(|unit| unit.to_string()),
                "parent": insert.parent.map(|unit| unit.to_string()),
                "regs": insert.regs,
            }),
            Change::Delete(unit) => json!({"del": unit.to_string()}),
        }
    }
}

impl Change {
    /// Returns it in few words.
    fn summary(&self) -> String {
        match self {
            Change::Set { register, value: Some(value), .. } => format!("{register}: {value}"),
            Change::Set { register, value: None, .. } => format!("{register}: none"),
            Change::Insert(insert) => {
                let regs: Vec<String> = insert.regs.iter().map(|(name, value)| format!("{name}: {value}")).collect();
                format!("insert {}", regs.join(", "))
            }
            Change::Delete(_) => "delete".to_owned(),
        }
    }
}

impl Op {
    /// Returns the first line of what it says: the new body, name, end or values.
    pub fn summary(&self) -> String {
        let changes = || self.changes.iter().map(Change::summary).collect::<Vec<_>>().join("; ");
        let text = match (&self.body, self.name_new(), self.to()) {
            (Some(body), ..) => body.to_string(),
            (None, Some(new), _) => format!("{} -> {new}", self.name),
            (None, None, Some(to)) => to.to_owned(),
            (None, None, None) => changes(),
        };
        text.lines().next().unwrap_or_default().to_owned()
    }
}

/// Returns a text that is the same in many ops, held once as long as no other text takes its place in the table.
pub(in crate::strand) fn shared(text: &str) -> Arc<str> {
    const PLACES: usize = 1 << 10;
    // Only names are the same in many ops, and the table keeps what is in it.
    const LONGEST: usize = 128;
    if text.len() > LONGEST {
        return text.into();
    }
    thread_local! {
        static TABLE: RefCell<Vec<Option<Arc<str>>>> = const { RefCell::new(Vec::new()) };
    }
    let spread = |hash: u32, byte: u8| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193);
    let at = text.bytes().fold(0x811c_9dc5, spread) as usize % PLACES;
    TABLE.with_borrow_mut(|table| {
        table.resize(PLACES, None);
        match &mut table[at] {
            Some(known) if **known == *text => known.clone(),
            other => other.insert(text.into()).clone(),
        }
    })
}
