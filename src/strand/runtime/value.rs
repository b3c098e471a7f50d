//! Values, their order, and their JSON.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value as Json, json};

use crate::strand::check::types::{Shape, Ty, Types};

/// The reason why an evaluation stopped, in a few words.
pub type Trap = String;

/// A value while running. Nominal and refined values are values of their base.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub enum Value {
    Unit,
    Bool(bool),
    Int(i64),
    Float(f64),
    Text(String),
    List(Vec<Value>),
    Set(BTreeSet<Value>),
    Map(BTreeMap<Value, Value>),
    Option(Option<Box<Value>>),
    Record(BTreeMap<String, Value>),
    /// A variant: its position in the union, its name, its fields in declared order.
    Variant(usize, String, Vec<(String, Value)>),
}

impl Value {
    fn rank(&self) -> u8 {
        match self {
            Value::Unit => 0,
            Value::Bool(_) => 1,
            Value::Int(_) => 2,
            Value::Float(_) => 3,
            Value::Text(_) => 4,
            Value::List(_) => 5,
            Value::Set(_) => 6,
            Value::Map(_) => 7,
            Value::Option(_) => 8,
            Value::Record(_) => 9,
            Value::Variant(..) => 10,
        }
    }

    /// Returns the value as JSON.
    pub fn to_json(&self) -> Json {
        match self {
            Value::Unit => Json::Null,
            Value::Bool(value) => json!(value),
            // Beyond 2^53 a number would lose digits in other readers.
            Value::Int(value) if value.unsigned_abs() > 1 << 53 => json!(value.to_string()),
            Value::Int(value) => json!(value),
            Value::Float(value) => json!(value),
            Value::Text(value) => json!(value),
            Value::List(items) => items.iter().map(Value::to_json).collect(),
            Value::Set(items) => items.iter().map(Value::to_json).collect(),
            Value::Map(pairs) => pairs.iter().map(|(key, value)| json!([key.to_json(), value.to_json()])).collect(),
            Value::Option(None) => json!("none"),
            Value::Option(Some(value)) => json!({"some": value.to_json()}),
            Value::Record(fields) => {
                Json::Object(fields.iter().map(|(name, value)| (name.clone(), value.to_json())).collect())
            }
            Value::Variant(_, name, fields) if fields.is_empty() => json!(name),
            Value::Variant(_, name, fields) => {
                let fields: Map<String, Json> = fields.iter().map(|(f, v)| (f.clone(), v.to_json())).collect();
                json!({name.as_str(): fields})
            }
        }
    }

    /// Reads a value of a type from JSON; `None` if it does not fit the type's shape. Predicates
    /// are not looked at here.
    pub fn from_json(types: &Types, ty: &Ty, json: &Json) -> Option<Value> {
        Some(match ty {
            Ty::Err => return None,
            Ty::Unit => json.is_null().then_some(Value::Unit)?,
            Ty::Bool => Value::Bool(json.as_bool()?),
            Ty::Int => Value::Int(match json {
                Json::String(digits) => digits.parse().ok()?,
                number => number.as_i64()?,
            }),
            Ty::Float => Value::Float(json.as_f64().filter(|value| value.is_finite())?),
            Ty::Text => Value::Text(json.as_str()?.to_owned()),
            Ty::List(item) => Value::List(Self::items(types, item, json)?),
            Ty::Set(item) => Value::Set(Self::items(types, item, json)?.into_iter().collect()),
            Ty::Map(key, value) => {
                let mut map = BTreeMap::new();
                for pair in json.as_array()? {
                    let pair = pair.as_array().filter(|pair| pair.len() == 2)?;
                    map.insert(Self::from_json(types, key, &pair[0])?, Self::from_json(types, value, &pair[1])?);
                }
                Value::Map(map)
            }
            Ty::Option(inner) => match json {
                Json::String(none) if none == "none" => Value::Option(None),
                json => Value::Option(Some(Box::new(Self::from_json(types, inner, json.get("some")?)?))),
            },
            Ty::Named(def) => match types.shape(*def) {
                Shape::Alias(base) | Shape::Refined(base, _) | Shape::Nominal(base, _) => {
                    return Self::from_json(types, &base, json);
                }
                Shape::Record(fields) => {
                    let object = json.as_object().filter(|object| object.len() == fields.len())?;
                    let mut record = BTreeMap::new();
                    for (name, ty) in fields {
                        record.insert(name.clone(), Self::from_json(types, &ty, object.get(&name)?)?);
                    }
                    Value::Record(record)
                }
                Shape::Union(variants) => {
                    let (name, given) = match json {
                        Json::String(name) => (name.clone(), None),
                        Json::Object(object) if object.len() == 1 => {
                            let (name, fields) = object.iter().next()?;
                            (name.clone(), Some(fields.as_object()?))
                        }
                        _ => return None,
                    };
                    let at = variants.iter().position(|(variant, _)| *variant == name)?;
                    let mut fields = Vec::new();
                    for (field, ty) in &variants[at].1 {
                        fields.push((field.clone(), Self::from_json(types, ty, given?.get(field)?)?));
                    }
                    (given.map_or(0, Map::len) == fields.len()).then_some(Value::Variant(at, name, fields))?
                }
                Shape::Unknown => return None,
            },
        })
    }

    fn items(types: &Types, item: &Ty, json: &Json) -> Option<Vec<Value>> {
        json.as_array()?.iter().map(|json| Self::from_json(types, item, json)).collect()
    }
}

impl Ord for Value {
    fn cmp(&self, other: &Value) -> Ordering {
        match (self, other) {
            (Value::Bool(a), Value::Bool(b)) => a.cmp(b),
            (Value::Int(a), Value::Int(b)) => a.cmp(b),
            // Zero and minus zero are one value.
            (Value::Float(a), Value::Float(b)) => a.partial_cmp(b).unwrap_or_else(|| a.total_cmp(b)),
            (Value::Text(a), Value::Text(b)) => a.cmp(b),
            (Value::List(a), Value::List(b)) => a.cmp(b),
            (Value::Set(a), Value::Set(b)) => a.cmp(b),
            (Value::Map(a), Value::Map(b)) => a.cmp(b),
            (Value::Option(a), Value::Option(b)) => a.cmp(b),
            (Value::Record(a), Value::Record(b)) => a.cmp(b),
            (Value::Variant(a, _, x), Value::Variant(b, _, y)) => a.cmp(b).then_with(|| x.cmp(y)),
            (a, b) => a.rank().cmp(&b.rank()),
        }
    }
}

impl PartialOrd for Value {
    fn partial_cmp(&self, other: &Value) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Value {
    fn eq(&self, other: &Value) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Value {}
