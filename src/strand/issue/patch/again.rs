//! Converts the sealed changes of an edit back to a patch, for an edit whose body does not exist any more.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::strand::id::{Layer, UnitId};
use crate::strand::op::{Change, Kind, Op};

/// Returns a patch that asks for what an edit changed, units by their numbers in the body it was made on. None where a
/// change is about a unit that another edit inserted, or is no edit.
pub fn patch_of(op: &Op) -> Option<Value> {
    if op.kind != Kind::Edit {
        return None;
    }
    let number = |unit: UnitId| (Some(unit.op) == op.base).then_some(unit.n);
    let mut patch: Map<String, Value> = Map::new();
    let mut add = |address: String, step: Value| match patch.entry(address).or_insert_with(|| json!([])) {
        Value::Array(steps) => steps.push(step),
        other => *other = step,
    };
    for change in &op.changes {
        match change {
            Change::Set { unit: None, register, value } => add(register.to_string(), set(value.as_deref())),
            Change::Set { unit: Some(unit), register, value } => {
                let part = register.strip_prefix("arg.").unwrap_or(register);
                add(format!("body:{}.{part}", number(*unit)?), set(value.as_deref()));
            }
            Change::Insert(insert) => {
                let text = unit_text(op.layer, &insert.regs)?;
                match (insert.after, insert.parent) {
                    (Some(after), _) => add(format!("body:{}", number(after)?), json!(format!("insert {text}"))),
                    (None, Some(parent)) => {
                        add(format!("body:{}", number(parent)?), json!(format!("insert-child {text}")))
                    }
                    (None, None) => add("body:0".to_owned(), json!(format!("insert {text}"))),
                }
            }
            Change::Delete(unit) => add(format!("body:{}", number(*unit)?), json!("delete")),
        }
    }
    // One step needs no list.
    patch.values_mut().for_each(|steps| match steps {
        Value::Array(all) if all.len() == 1 => *steps = all.remove(0),
        _ => {}
    });
    Some(Value::Object(patch))
}

fn set(value: Option<&str>) -> Value {
    value.map_or(json!("delete"), |text| json!(format!("set {text}")))
}

/// Returns the text of a unit that has these registers.
fn unit_text(layer: Layer, regs: &BTreeMap<String, String>) -> Option<String> {
    let reg = |name: &str| regs.get(name).map(String::as_str);
    let optional = |name: &str, before: &str| reg(name).map_or(String::new(), |text| format!(" {before}{text}"));
    Some(match layer {
        Layer::Reducer => {
            let head = match reg("kind")? {
                "write" => format!("{} := {}", reg("target")?, reg("value")?),
                "emit" => format!("emit {}({})", reg("target")?, reg("args")?),
                _ => format!("{}({})", reg("target")?, reg("args")?),
            };
            format!("{head}{}{}{}", optional("ok", "ok="), optional("err", "err="), optional("guard", "when "))
        }
        Layer::Tile => {
            let arg = |(name, text): (&String, &String)| Some(format!("{}={text}", name.strip_prefix("arg.")?));
            let args: Vec<String> = regs.iter().filter_map(arg).collect();
            format!("{}({})", reg("elem")?, args.join(", "))
        }
        _ => match (reg("type"), reg("fields")) {
            (Some(ty), _) => format!("{}: {ty}", reg("name")?),
            (None, fields) => match fields.unwrap_or_default() {
                "" => reg("name")?.to_owned(),
                fields => format!("{}({fields})", reg("name")?),
            },
        },
    })
}
