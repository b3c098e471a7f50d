//! Built-in functions on values.

use super::value::{Trap, Value};

/// Returns the text of a plain value.
pub fn text(value: &Value) -> Option<String> {
    Some(match value {
        Value::Int(value) => value.to_string(),
        Value::Float(value) if value.fract() == 0.0 && value.abs() < 1e15 => format!("{value:.1}"),
        Value::Float(value) => value.to_string(),
        Value::Bool(value) => value.to_string(),
        Value::Text(value) => value.clone(),
        _ => return None,
    })
}

/// The values of a call, as many as there are.
type Values = (Option<Value>, Option<Value>, Option<Value>);

fn overflow() -> Trap {
    "overflow".to_owned()
}

/// Calls a built-in function that takes values only.
pub fn call(name: &str, args: Vec<Value>) -> Result<Value, Trap> {
    let mut args = args.into_iter();
    let values: Values = (args.next(), args.next(), args.next());
    let found = match (name, values) {
        ("raw", (Some(value), None, _)) => Some(value),
        ("len", (Some(value), None, _)) => Some(length(&value).ok_or("this has no length")?),
        ("min", (Some(a), Some(b), _)) => Some(a.min(b)),
        ("max", (Some(a), Some(b), _)) => Some(a.max(b)),
        (_, values @ (Some(Value::Map(_)), ..)) => on_map(name, values),
        (_, values @ (Some(Value::List(_)), ..)) => on_list(name, values)?,
        (_, values @ (Some(Value::Set(_)), ..)) => on_set(name, values),
        (_, values @ (Some(Value::Text(_)), ..)) => on_text(name, values)?,
        (_, values) => on_plain(name, values)?,
    };
    found.ok_or_else(|| format!("{name} does not take these values"))
}

fn length(value: &Value) -> Option<Value> {
    let count = match value {
        Value::Text(text) => text.chars().count(),
        Value::List(items) => items.len(),
        Value::Set(items) => items.len(),
        Value::Map(map) => map.len(),
        _ => return None,
    };
    Some(Value::Int(count as i64))
}

/// Calls built-in functions of numbers, truths and options.
fn on_plain(name: &str, values: Values) -> Result<Option<Value>, Trap> {
    Ok(Some(match (name, values) {
        ("text", (Some(value), None, _)) => Value::Text(text(&value).ok_or("this has no text")?),
        ("float", (Some(Value::Int(value)), None, _)) => Value::Float(value as f64),
        ("floor", (Some(Value::Float(value)), None, _)) => {
            let floor = value.floor();
            // The largest f64 below 2^63 and -2^63 itself are both exact.
            let fits = (-9_223_372_036_854_775_808.0..9_223_372_036_854_775_808.0).contains(&floor);
            if fits { Value::Int(floor as i64) } else { return Err(overflow()) }
        }
        ("abs", (Some(Value::Int(value)), ..)) => Value::Int(value.checked_abs().ok_or_else(overflow)?),
        ("abs", (Some(Value::Float(value)), ..)) => Value::Float(value.abs()),
        ("or_else", (Some(Value::Option(value)), Some(other), _)) => value.map_or(other, |value| *value),
        ("is_some", (Some(Value::Option(value)), ..)) => Value::Bool(value.is_some()),
        _ => return Ok(None),
    }))
}

fn on_text(name: &str, values: Values) -> Result<Option<Value>, Trap> {
    Ok(Some(match (name, values) {
        ("text", (Some(text), None, _)) => text,
        ("upper", (Some(Value::Text(text)), ..)) => Value::Text(text.to_uppercase()),
        ("lower", (Some(Value::Text(text)), ..)) => Value::Text(text.to_lowercase()),
        ("trim", (Some(Value::Text(text)), ..)) => Value::Text(text.trim().to_owned()),
        ("contains", (Some(Value::Text(a)), Some(Value::Text(b)), _)) => Value::Bool(a.contains(&b)),
        ("starts_with", (Some(Value::Text(a)), Some(Value::Text(b)), _)) => Value::Bool(a.starts_with(&b)),
        ("matches", (Some(Value::Text(text)), Some(Value::Text(pattern)), _)) => {
            let regex = regex::Regex::new(&pattern).map_err(|_| "invalid regex".to_owned())?;
            Value::Bool(regex.is_match(&text))
        }
        _ => return Ok(None),
    }))
}

fn on_map(name: &str, values: Values) -> Option<Value> {
    Some(match (name, values) {
        ("keys", (Some(Value::Map(map)), ..)) => Value::List(map.into_keys().collect()),
        ("values", (Some(Value::Map(map)), ..)) => Value::List(map.into_values().collect()),
        ("has", (Some(Value::Map(map)), Some(key), _)) => Value::Bool(map.contains_key(&key)),
        ("get", (Some(Value::Map(mut map)), Some(key), _)) => Value::Option(map.remove(&key).map(Box::new)),
        ("put", (Some(Value::Map(mut map)), Some(key), Some(value))) => {
            map.insert(key, value);
            Value::Map(map)
        }
        ("del", (Some(Value::Map(mut map)), Some(key), _)) => {
            map.remove(&key);
            Value::Map(map)
        }
        _ => return None,
    })
}

fn on_list(name: &str, values: Values) -> Result<Option<Value>, Trap> {
    Ok(Some(match (name, values) {
        ("append", (Some(Value::List(mut items)), Some(item), _)) => {
            items.push(item);
            Value::List(items)
        }
        ("first", (Some(Value::List(items)), ..)) => Value::Option(items.into_iter().next().map(Box::new)),
        ("at", (Some(Value::List(items)), Some(Value::Int(at)), _)) => {
            Value::Option(usize::try_from(at).ok().and_then(|at| items.get(at).cloned()).map(Box::new))
        }
        ("sum", (Some(Value::List(items)), ..)) => {
            let mut sum = 0i64;
            for item in items {
                let Value::Int(item) = item else { return Err("no Int".to_owned()) };
                sum = sum.checked_add(item).ok_or_else(overflow)?;
            }
            Value::Int(sum)
        }
        ("set", (Some(Value::List(items)), ..)) => Value::Set(items.into_iter().collect()),
        _ => return Ok(None),
    }))
}

fn on_set(name: &str, values: Values) -> Option<Value> {
    Some(match (name, values) {
        ("add", (Some(Value::Set(mut set)), Some(item), _)) => {
            set.insert(item);
            Value::Set(set)
        }
        ("drop", (Some(Value::Set(mut set)), Some(item), _)) => {
            set.remove(&item);
            Value::Set(set)
        }
        _ => return None,
    })
}
