//! A JSON object as its fields in their order, each value byte for byte as it came.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;

/// An object whose values are not read.
#[derive(Debug, Default)]
pub(super) struct RawObject(Vec<(String, Box<RawValue>)>);

impl RawObject {
    /// Creates the object of this text; `None` where it is none.
    pub fn parse(json: &str) -> Option<Self> {
        serde_json::from_str(json).ok()
    }

    /// Returns the value of a field as it stands there.
    pub fn raw(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(field, _)| field == name).map(|(_, value)| value.get())
    }

    /// Returns the value of a field.
    pub fn value(&self, name: &str) -> Value {
        self.raw(name).and_then(|raw| serde_json::from_str(raw).ok()).unwrap_or_default()
    }

    /// Returns the text of a field.
    pub fn text(&self, name: &str) -> Option<String> {
        self.raw(name).and_then(|raw| serde_json::from_str(raw).ok())
    }

    /// Returns it as JSON, without the field of this name.
    pub fn without(&self, name: &str) -> String {
        joined(self.0.iter().filter(|(field, _)| field != name).map(|(field, value)| (field, value.get())))
    }

    /// Returns it as JSON, with this text in the field of this name.
    pub fn with(&self, name: &str, text: &str) -> String {
        self.with_json(name, &Value::from(text).to_string())
    }

    /// Returns it as JSON, with this JSON in the field of this name.
    pub fn with_json(&self, name: &str, json: &str) -> String {
        joined(self.0.iter().map(|(field, value)| (field, if field == name { json } else { value.get() })))
    }
}

fn joined<'o>(fields: impl Iterator<Item = (&'o String, &'o str)>) -> String {
    let fields: Vec<String> = fields.map(|(field, value)| format!("{}:{value}", Value::from(field.as_str()))).collect();
    format!("{{{}}}", fields.join(","))
}

impl<'de> Deserialize<'de> for RawObject {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Fields;
        impl<'de> Visitor<'de> for Fields {
            type Value = RawObject;

            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<RawObject, A::Error> {
                let mut fields = Vec::new();
                while let Some(field) = map.next_entry()? {
                    fields.push(field);
                }
                Ok(RawObject(fields))
            }
        }
        deserializer.deserialize_map(Fields)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_stay_as_they_came() {
        let json = "{\"z\": {\"n\":1.0, \"e\":\"\\u00e9\"}, \"status\":\"completed\",\"a\":1e2}";
        let object = RawObject::parse(json).expect("an object");
        assert_eq!(object.without("status"), "{\"z\":{\"n\":1.0, \"e\":\"\\u00e9\"},\"a\":1e2}");
        assert_eq!(object.text("status").as_deref(), Some("completed"));
        assert!(RawObject::parse("[1]").is_none());
    }
}
