//! A call whose arguments come in pieces, each named by its place in them.

use serde_json::{Map, Value, json};

use super::super::raw::RawObject;

/// A call on its way in.
#[derive(Debug, Default)]
pub(super) struct StreamedCall {
    name: String,
    id: Option<String>,
    /// The signature of the part, as it came.
    signature: Option<String>,
    args: Value,
    /// The number of places made in them.
    made: usize,
    /// True if more arguments were asked for than are made: the call has none.
    too_large: bool,
}

/// Arguments nested deeper are nobody's.
const DEEPEST: usize = 32;
/// A list of arguments is at most so long.
const LONGEST: usize = 4_096;
/// All arguments of a call have at most this many places.
const MOST: usize = 16_384;

impl StreamedCall {
    /// Takes in what a chunk says of the call.
    pub fn take(&mut self, part: &RawObject, call: &RawObject) {
        if let Some(name) = call.text("name").filter(|name| !name.is_empty()) {
            self.name = name;
        }
        self.id = call.text("id").filter(|id| !id.is_empty()).or(self.id.take());
        self.signature = part.raw("thoughtSignature").map(Into::into).or(self.signature.take());
        if let args @ Value::Object(_) = call.value("args") {
            self.args = args;
        }
        let pieces = call.value("partialArgs");
        for piece in pieces.as_array().into_iter().flatten() {
            self.piece(piece);
        }
    }

    /// Returns the part as it would have come at once.
    pub fn json(&self) -> String {
        let args = if self.args.is_object() && !self.too_large { self.args.clone() } else { json!({}) };
        let mut call = json!({"name": self.name, "args": args});
        if let Some(id) = &self.id {
            call["id"] = id.as_str().into();
        }
        match &self.signature {
            Some(signature) => format!("{{\"functionCall\":{call},\"thoughtSignature\":{signature}}}"),
            None => format!("{{\"functionCall\":{call}}}"),
        }
    }

    fn piece(&mut self, piece: &Value) {
        let Some(path) = piece["jsonPath"].as_str().and_then(steps) else { return };
        let Some(place) = place(&mut self.args, &path, &mut self.made) else {
            self.too_large |= self.made > MOST;
            return;
        };
        let new = ["stringValue", "numberValue", "boolValue", "nullValue"].iter().find_map(|name| {
            let value = piece.get(*name)?;
            Some(if *name == "nullValue" { Value::Null } else { value.clone() })
        });
        match (place, new) {
            // More of a text that has begun.
            (Value::String(text), Some(Value::String(more))) => text.push_str(&more),
            (place, Some(new)) => *place = new,
            (_, None) => {}
        }
    }
}

/// A step of a path: a field's name, or a place in a list.
enum Step {
    Field(String),
    Index(usize),
}

/// Returns the steps of a path such as `$.edits[0].text` or `$['a b']`; `None` for what is no such path.
fn steps(path: &str) -> Option<Vec<Step>> {
    let mut rest = path.strip_prefix('$')?;
    let mut steps = Vec::new();
    while !rest.is_empty() {
        if steps.len() == DEEPEST {
            return None;
        }
        if let Some(named) = rest.strip_prefix('.') {
            let end = named.find(['.', '[']).unwrap_or(named.len());
            steps.push(Step::Field(named[..end].to_string()));
            rest = &named[end..];
            continue;
        }
        let inner = rest.strip_prefix('[')?;
        let quote = inner.chars().next().filter(|c| matches!(c, '\'' | '"'));
        let (step, after) = match quote {
            Some(quote) => {
                let (name, after) = inner[1..].split_once(&format!("{quote}]"))?;
                (Step::Field(name.to_string()), after)
            }
            None => {
                let (number, after) = inner.split_once(']')?;
                (Step::Index(number.parse().ok().filter(|at| *at < LONGEST)?), after)
            }
        };
        steps.push(step);
        rest = after;
    }
    Some(steps)
}

/// Returns the value at a place, made where it is not there yet. `made` counts what was made; none beyond [`MOST`].
fn place<'a>(value: &'a mut Value, path: &[Step], made: &mut usize) -> Option<&'a mut Value> {
    let Some((step, rest)) = path.split_first() else { return Some(value) };
    let inner = match step {
        Step::Field(name) => {
            if !value.is_object() {
                *value = Map::new().into();
            }
            let object = value.as_object_mut()?;
            *made += usize::from(!object.contains_key(name));
            if *made > MOST {
                return None;
            }
            object.entry(name.as_str()).or_insert(Value::Null)
        }
        Step::Index(at) => {
            if !value.is_array() {
                *value = Vec::<Value>::new().into();
            }
            let list = value.as_array_mut()?;
            *made += (at + 1).saturating_sub(list.len());
            if *made > MOST {
                return None;
            }
            if list.len() <= *at {
                list.resize(at + 1, Value::Null);
            }
            &mut list[*at]
        }
    };
    place(inner, rest, made)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn streamed(chunks: &[Value]) -> Value {
        let mut streamed = StreamedCall::default();
        for chunk in chunks {
            let part = RawObject::parse(&chunk.to_string()).expect("an object");
            let call = RawObject::parse(part.raw("functionCall").expect("a call")).expect("an object");
            streamed.take(&part, &call);
        }
        serde_json::from_str(&streamed.json()).expect("JSON")
    }

    #[test]
    fn pieces_join_at_their_places() {
        let text = |text: &str| json!({"functionCall": {"partialArgs": [{"jsonPath": "$.path", "stringValue": text}]}});
        let got = streamed(&[
            json!({"functionCall": {"name": "edit", "id": "7"}, "thoughtSignature": "s=="}),
            text("src/"),
            text("a.rs"),
            json!({"functionCall": {"partialArgs": [
                {"jsonPath": "$.edits[1]['a b'].n", "numberValue": 2}, {"jsonPath": "$.all", "boolValue": true},
                {"jsonPath": "$.none", "nullValue": "NULL_VALUE"}]}}),
        ]);
        let args = json!({"path": "src/a.rs", "edits": [null, {"a b": {"n": 2}}], "all": true, "none": null});
        assert_eq!(got, json!({"functionCall": {"name": "edit", "id": "7", "args": args}, "thoughtSignature": "s=="}));
    }

    #[test]
    fn no_more_places_are_made_than_a_call_can_need() {
        let deep = format!("$.a{}", "[4095]".repeat(31));
        let many: Vec<Value> =
            (0..4).map(|at| json!({"jsonPath": format!("$.a[{at}][4095]"), "stringValue": "x"})).collect();
        for pieces in [vec![json!({"jsonPath": deep, "stringValue": "x"})], many] {
            let got = streamed(&[json!({"functionCall": {"name": "f", "partialArgs": pieces}})]);
            assert_eq!(got["functionCall"]["args"], json!({}));
        }
    }

    #[test]
    fn invalid_paths_change_nothing() {
        for path in ["", "x", "$.a[", "$[99999999]", "$[-1]", &format!("${}", ".a".repeat(99))] {
            let got = streamed(&[json!({"functionCall": {"partialArgs": [{"jsonPath": path, "stringValue": "x"}]}})]);
            assert_eq!(got["functionCall"]["args"], json!({}), "{path}");
        }
    }
}
