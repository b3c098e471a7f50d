//! The reasoning of a Chat Completions answer, kept under the name it came by: some servers refuse the next step
//! without it.

use serde_json::{Map, Value};

use super::words::words;
use crate::provider::{Delta, PartKind};

/// The fields in which servers of this format put reasoning.
pub(super) const FIELDS: [&str; 3] = ["reasoning_content", "reasoning", "reasoning_details"];

/// The reasoning of one answer so far.
#[derive(Debug, Default)]
pub(super) struct Reasoning {
    content: Option<String>,
    reasoning: Option<String>,
    details: Vec<Value>,
    /// Something of it was shown, or that it is hidden.
    shown: bool,
}

impl Reasoning {
    /// Takes in what a chunk holds in the three fields; gives what of it is to be shown, which is empty, once, where the
    /// server thinks and shows nothing of it.
    pub fn push(&mut self, content: Option<Value>, reasoning: Option<Value>, details: Option<Value>) -> Option<String> {
        let of_content = content.as_ref().and_then(Value::as_str).unwrap_or_default();
        let of_reasoning = reasoning.as_ref().and_then(Value::as_str).unwrap_or_default();
        append(&mut self.content, of_content);
        append(&mut self.reasoning, of_reasoning);
        let mut of_details = String::new();
        if let Some(Value::Array(entries)) = details {
            for entry in entries {
                of_details.push_str(&words(&entry));
                self.detail(entry);
            }
        }
        // Servers that fill several of them say the same in each.
        let text = [of_content, of_reasoning, &of_details].into_iter().find(|t| !t.is_empty()).unwrap_or_default();
        let hidden = text.is_empty() && !self.shown && !self.details.is_empty();
        self.shown |= hidden || !text.is_empty();
        (hidden || !text.is_empty()).then(|| text.to_string())
    }

    /// Returns the reasoning that goes back with the answer, once it is whole.
    pub fn seal(self) -> Option<Delta> {
        let mut fields = Map::new();
        fields.extend(self.content.map(|text| (FIELDS[0].into(), text.into())));
        fields.extend(self.reasoning.map(|text| (FIELDS[1].into(), text.into())));
        if !self.details.is_empty() {
            fields.insert(FIELDS[2].into(), self.details.into());
        }
        let json = Value::Object(fields).to_string();
        (json != "{}").then_some(Delta::Seal { kind: PartKind::Thinking, index: 0, json })
    }

    /// Takes one entry of `reasoning_details`: pieces with the same index are one.
    fn detail(&mut self, entry: Value) {
        let index = entry.get("index").filter(|index| !index.is_null());
        let same = |old: &&mut Value| index.is_some() && old.get("index") == index && old["type"] == entry["type"];
        match (self.details.iter_mut().find(same), entry) {
            (Some(Value::Object(old)), Value::Object(more)) => merge(old, more),
            (_, entry @ Value::Object(_)) => self.details.push(entry),
            _ => {}
        }
    }
}

/// Texts go on; of anything else the newest value that says something stands.
fn merge(old: &mut Map<String, Value>, more: Map<String, Value>) {
    for (name, value) in more {
        match (old.get_mut(&name), value) {
            (Some(Value::String(text)), Value::String(next)) if matches!(&*name, "text" | "summary" | "data") => {
                text.push_str(&next);
            }
            (Some(_), Value::Null) => {}
            (_, value) => drop(old.insert(name, value)),
        }
    }
}

fn append(text: &mut Option<String>, more: &str) {
    if !more.is_empty() {
        text.get_or_insert_default().push_str(more);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn sealed(reasoning: Reasoning) -> Option<Value> {
        match reasoning.seal()? {
            Delta::Seal { json, .. } => serde_json::from_str(&json).ok(),
            _ => None,
        }
    }

    #[test]
    fn each_field_goes_back_under_its_own_name() {
        let mut both = Reasoning::default();
        assert_eq!(both.push(Some(json!("a")), Some(json!("a")), None).as_deref(), Some("a"));
        assert_eq!(both.push(Some(json!("b")), None, None).as_deref(), Some("b"));
        assert_eq!(sealed(both), Some(json!({"reasoning_content": "ab", "reasoning": "a"})));
        let mut none = Reasoning::default();
        assert_eq!(none.push(Some(json!("")), Some(json!({"effort": "low"})), Some(json!(7))), None);
        assert_eq!(sealed(none), None);
    }

    #[test]
    fn details_are_merged_by_index() {
        let mut reasoning = Reasoning::default();
        let piece = |n: u32, text: &str, signature: Value| {
            Some(json!([{"type": "reasoning.text", "index": n, "text": text, "signature": signature}]))
        };
        assert_eq!(reasoning.push(None, None, piece(0, "a", Value::Null)).as_deref(), Some("a"));
        assert_eq!(reasoning.push(None, None, piece(0, "b", "sig".into())).as_deref(), Some("b"));
        reasoning.push(None, None, piece(0, "", Value::Null));
        reasoning.push(None, None, Some(json!([{"type": "reasoning.encrypted", "index": 0, "data": "x"}, "odd"])));
        let wanted = json!({"reasoning_details": [
            {"type": "reasoning.text", "index": 0, "text": "ab", "signature": "sig"},
            {"type": "reasoning.encrypted", "index": 0, "data": "x"},
        ]});
        assert_eq!(sealed(reasoning), Some(wanted));
    }
}
