//! Layers of JSON values: putting one over another, and reading checked values out of them.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::text::size;

/// The source of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ValueSource {
    /// Built in.
    Default,
    /// The person's file.
    User,
    /// The workspace's file.
    Workspace,
    /// A variable.
    Environment,
    /// The command line.
    Flag,
}

impl ValueSource {
    /// Returns its name in what programs and the command line read.
    pub fn word(self) -> &'static str {
        match self {
            ValueSource::Default => "default",
            ValueSource::User => "user",
            ValueSource::Workspace => "workspace",
            ValueSource::Environment => "environment",
            ValueSource::Flag => "flag",
        }
    }
}

/// Puts one layer over another: names inside `models`, `providers` and `headers` are merged, all else replaced.
pub(super) fn overlay(
    under: &mut Map<String, Value>,
    origins: &mut BTreeMap<String, ValueSource>,
    over: Map<String, Value>,
    origin: ValueSource,
) {
    for (name, value) in over {
        origins.insert(name.clone(), origin);
        merge(under.entry(name).or_insert(Value::Null), value);
    }
}

fn merge(under: &mut Value, over: Value) {
    match (under, over) {
        (Value::Object(under), Value::Object(over)) => {
            for (name, value) in over {
                merge(under.entry(name).or_insert(Value::Null), value);
            }
        }
        (under, over) => *under = over,
    }
}

pub(super) fn hide_headers(name: &str, value: &mut Value) {
    let hide = |headers: &mut Value| {
        if let Some(headers) = headers.as_object_mut() {
            headers.values_mut().for_each(|value| *value = "…".into());
        }
    };
    match name {
        "headers" => hide(value),
        "providers" => {
            let providers = value.as_object_mut().into_iter().flat_map(|map| map.values_mut());
            providers.filter_map(|provider| provider.get_mut("headers")).for_each(hide);
        }
        _ => {}
    }
}

pub(super) fn text(keys: &Map<String, Value>, name: &str) -> Option<String> {
    keys.get(name)?.as_str().map(Into::into)
}

pub(super) fn texts(keys: &Map<String, Value>, name: &str) -> Vec<String> {
    let list = keys.get(name).and_then(Value::as_array).into_iter().flatten();
    list.filter_map(|text| text.as_str().map(Into::into)).collect()
}

pub(super) fn text_by_name(keys: &Map<String, Value>, name: &str) -> BTreeMap<String, String> {
    let map = keys.get(name).and_then(Value::as_object).into_iter().flatten();
    map.filter_map(|(name, value)| Some((name.clone(), value.as_str()?.into()))).collect()
}

pub(super) fn count(keys: &Map<String, Value>, name: &str) -> Option<u32> {
    keys.get(name)?.as_u64()?.try_into().ok()
}

pub(super) fn bytes(value: Option<&Value>) -> Option<u64> {
    let value = value?;
    value.as_u64().or_else(|| size::parse(value.as_str()?))
}
