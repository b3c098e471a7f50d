//! The name and the arguments of a call of the past, as servers that read them back want them.

use std::borrow::Cow;

use serde_json::json;
use serde_json::value::RawValue;

use super::raw::RawObject;
use crate::provider::ToolCall;

/// The longest name of a tool.
const MAX_NAME: usize = 64;

/// Returns the name that a call goes out under: models write names that no strict server takes back, and each later
/// request would be refused for it. It is one that all formats take.
pub(super) fn name(call: &ToolCall) -> Cow<'_, str> {
    match call.name.as_str() {
        "" => "unknown".into(),
        name if is_fit(name) => name.into(),
        name => {
            let first = if name.starts_with(begins_name) || !name.starts_with(is_of_name) { "" } else { "_" };
            let all = first.chars().chain(name.chars()).take(MAX_NAME);
            all.map(|c| if is_of_name(c) { c } else { '_' }).collect::<String>().into()
        }
    }
}

/// Returns whether the server of every format takes this name of a call back: some want a letter or `_` first.
pub(super) fn is_fit(name: &str) -> bool {
    is_name(name) && name.starts_with(begins_name)
}

fn begins_name(c: char) -> bool {
    c.is_ascii_alphabetic() || c == '_'
}

/// Returns a sealed call as it came, but for a name that its server refuses to get back, and for an id in `field` that is
/// not the one the call goes out under.
pub(super) fn sealed(seal: String, call: &ToolCall, (field, id): (&str, &str)) -> String {
    let Some(object) = RawObject::parse(&seal) else { return seal };
    let is_sendable = object.text("name").is_some_and(|name| is_name(&name));
    let seal = if is_sendable { seal } else { object.with("name", &name(call)) };
    match RawObject::parse(&seal).filter(|_| object.text(field).is_some_and(|own| own != id)) {
        Some(object) => object.with(field, id),
        None => seal,
    }
}

fn is_name(name: &str) -> bool {
    (1..=MAX_NAME).contains(&name.len()) && name.chars().all(is_of_name)
}

fn is_of_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '-')
}

/// Returns the arguments as the text of a JSON object: byte for byte where they are one.
pub(super) fn object(call: &ToolCall) -> String {
    let arguments = call.arguments.trim();
    match serde_json::from_str::<&RawValue>(arguments) {
        Ok(json) if json.get().starts_with('{') => arguments.to_string(),
        _ if arguments.is_empty() => "{}".into(),
        _ => json!({"unreadable": call.arguments}).to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_fits_and_one_that_does_stays() {
        let (long, digits) = ("x".repeat(90), "7".repeat(64));
        for (written, sent) in [
            ("readFile", "readFile"),
            ("read_file-2", "read_file-2"),
            ("functions.readFile", "functions_readFile"),
            ("read file", "read_file"),
            ("lire_données", "lire_donn_es"),
            ("価格", "__"),
            ("1abc", "_1abc"),
            ("-list", "_-list"),
            ("_list", "_list"),
            (".list", "_list"),
            (&digits, &format!("_{}", &digits[..63])),
            ("", "unknown"),
            (&long, &long[..64]),
        ] {
            let call = ToolCall { id: "c".into(), name: written.into(), arguments: String::new() };
            assert_eq!(name(&call), sent);
            assert!(is_fit(&name(&call)));
        }
    }

    #[test]
    fn a_sealed_call_stays_as_it_came_but_for_a_name_or_an_id_that_does_not_fit() {
        let call = ToolCall { id: "c".into(), name: "readFile".into(), arguments: "{}".into() };
        let seal = |name: &str| format!("{{\"id\":\"c\", \"name\":\"{name}\",\"input\":{{\"n\":1.0}}}}");
        assert_eq!(sealed(seal("list"), &call, ("id", "c")), seal("list"));
        let renamed = "{\"id\":\"c\",\"name\":\"readFile\",\"input\":{\"n\":1.0}}";
        assert_eq!(sealed(seal("functions.readFile"), &call, ("id", "c")), renamed);
        assert_eq!(sealed(seal("1abc"), &call, ("id", "c")), seal("1abc"), "its own server gave it");
        let another = |name: &str| format!("{{\"id\":\"call_1\",\"name\":\"{name}\",\"input\":{{\"n\":1.0}}}}");
        assert_eq!(sealed(seal("list"), &call, ("id", "call_1")), another("list"));
        assert_eq!(sealed(seal("functions.readFile"), &call, ("id", "call_1")), another("readFile"));
    }
}
