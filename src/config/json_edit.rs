//! Changes one value of a JSON text and leaves every other byte as it is: order, indentation and line ends stay the
//! person's own.

use std::ops::Range;

use serde_json::Value;

/// A member of an object by its places in the text; `key` is the text with its quotes.
struct Member {
    key: Range<usize>,
    value: Range<usize>,
}

/// An object: its braces and what is between them.
struct Object {
    open: usize,
    close: usize,
    members: Vec<Member>,
}

/// Returns `text` with `value` at `path`, or without what is there (`None`). `None` where the text is no object, or
/// what the path leads through is none.
pub(super) fn edit(text: &str, path: &[String], value: Option<&Value>) -> Option<String> {
    let open = text.find('{')?;
    edit_in(text, &object(text, open)?, path, value)
}

fn edit_in(text: &str, object: &Object, path: &[String], value: Option<&Value>) -> Option<String> {
    let (name, rest) = path.split_first()?;
    // Of two members with one name the later one counts.
    let at = object.members.iter().rposition(|m| key_is(&text[m.key.clone()], name));
    match (at, value) {
        (None, None) => Some(text.to_string()),
        (None, Some(value)) => Some(inserted(text, object, name, &nested(rest, value))),
        (Some(at), None) if rest.is_empty() => Some(removed(text, object, at)),
        (Some(at), Some(value)) if rest.is_empty() => {
            let place = object.members[at].value.clone();
            let new = written(value, text, &indent_of(text, object), text[place.clone()].contains('\n'));
            Some(replaced(text, place, &new))
        }
        (Some(at), value) => {
            let inner = self::object(text, object.members[at].value.start)?;
            edit_in(text, &inner, rest, value)
        }
    }
}

/// Returns the value inside objects with the names of `path`.
fn nested(path: &[String], value: &Value) -> Value {
    let wrap = |inner: Value, name: &String| Value::Object([(name.clone(), inner)].into_iter().collect());
    path.iter().rev().fold(value.clone(), wrap)
}

fn replaced(text: &str, place: Range<usize>, new: &str) -> String {
    [&text[..place.start], new, &text[place.end..]].concat()
}

/// Returns a new last member, set off as the one before it is.
fn inserted(text: &str, object: &Object, name: &str, value: &Value) -> String {
    let key = Value::from(name).to_string();
    let indent = indent_of(text, object);
    let Some(last) = object.members.last() else {
        // An object without members: on lines of its own where the text has lines.
        let line = line_end(text);
        let outer = line_indent(text, object.open);
        let value = written(value, text, &indent, true);
        return replaced(
            text,
            object.open..object.close + 1,
            &format!("{{{line}{indent}{key}: {value}{line}{outer}}}"),
        );
    };
    let before = match object.members.len() {
        1 => object.open + 1,
        n => after_comma(text, object.members[n - 2].value.end),
    };
    let gap = &text[before..last.key.start];
    let gap = if gap.is_empty() && text[last.key.end..last.value.start].contains(' ') { " " } else { gap };
    let colon = &text[last.key.end..last.value.start];
    let value = written(value, text, &indent, gap.contains('\n'));
    replaced(text, last.value.end..last.value.end, &format!(",{gap}{key}{colon}{value}"))
}

fn removed(text: &str, object: &Object, at: usize) -> String {
    let members = &object.members;
    let place = match (at, members.get(at + 1)) {
        (_, Some(next)) => members[at].key.start..next.key.start,
        (0, None) => object.open + 1..object.close,
        (_, None) => members[at - 1].value.end..members[at].value.end,
    };
    replaced(text, place, "")
}

/// Returns a value as text: over several lines, with the indentation of the text around it, where there is room for
/// lines.
fn written(value: &Value, text: &str, indent: &str, lines: bool) -> String {
    let whole = value.as_object().is_some_and(|map| !map.is_empty()) && lines;
    if !whole {
        return value.to_string();
    }
    let unit = indent_unit(text);
    let mut bytes = Vec::new();
    let formatter = serde_json::ser::PrettyFormatter::with_indent(unit.as_bytes());
    let mut to = serde_json::Serializer::with_formatter(&mut bytes, formatter);
    if serde::Serialize::serialize(value, &mut to).is_err() {
        return value.to_string();
    }
    let pretty = String::from_utf8_lossy(&bytes).into_owned();
    pretty.split('\n').collect::<Vec<_>>().join(&format!("{}{indent}", line_end(text)))
}

fn line_end(text: &str) -> &'static str {
    if text.contains("\r\n") { "\r\n" } else { "\n" }
}

/// Returns the white space that the line of `at` begins with.
fn line_indent(text: &str, at: usize) -> &str {
    let line = text[..at].rfind('\n').map_or(0, |n| n + 1);
    let rest = &text[line..];
    &rest[..rest.len() - rest.trim_start_matches([' ', '\t']).len()]
}

/// Returns the white space in front of the members of an object, or what it would be.
fn indent_of(text: &str, object: &Object) -> String {
    match object.members.first() {
        Some(first) if text[object.open..first.key.start].contains('\n') => {
            line_indent(text, first.key.start).to_string()
        }
        _ => format!("{}{}", line_indent(text, object.open), indent_unit(text)),
    }
}

/// Returns one step of indentation: what the first indented line begins with, else two spaces.
fn indent_unit(text: &str) -> &str {
    let indents = text.lines().map(|line| &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]);
    indents.into_iter().find(|indent| !indent.is_empty()).unwrap_or("  ")
}

fn key_is(quoted: &str, name: &str) -> bool {
    serde_json::from_str::<String>(quoted).is_ok_and(|key| key == name)
}

/// Returns the offset behind the comma that follows `at`.
fn after_comma(text: &str, at: usize) -> usize {
    text[at..].find(',').map_or(at, |comma| at + comma + 1)
}

/// Returns the object whose brace stands at `open`.
fn object(text: &str, open: usize) -> Option<Object> {
    let bytes = text.as_bytes();
    if *bytes.get(open)? != b'{' {
        return None;
    }
    let mut members = Vec::new();
    let mut at = space(bytes, open + 1);
    while *bytes.get(at)? != b'}' {
        let key = at..value_end(bytes, at)?;
        let colon = space(bytes, key.end);
        let start = space(bytes, colon + 1);
        let value = start..value_end(bytes, start)?;
        at = space(bytes, value.end);
        members.push(Member { key, value });
        if *bytes.get(at)? == b',' {
            at = space(bytes, at + 1);
        }
    }
    Some(Object { open, close: at, members })
}

fn space(bytes: &[u8], at: usize) -> usize {
    at + bytes[at.min(bytes.len())..].iter().take_while(|b| b.is_ascii_whitespace()).count()
}

/// Returns where the value that begins at `at` ends. The text is known to be JSON.
fn value_end(bytes: &[u8], at: usize) -> Option<usize> {
    let (mut depth, mut at) = (0_usize, at);
    loop {
        match *bytes.get(at)? {
            b'"' => at = string_end(bytes, at)?,
            b'{' | b'[' => (depth, at) = (depth + 1, at + 1),
            b'}' | b']' => (depth, at) = (depth.checked_sub(1)?, at + 1),
            b',' | b':' => at += 1,
            byte if byte.is_ascii_whitespace() => at += 1,
            _ => at += bytes[at..].iter().take_while(|b| !b",:]}\"".contains(b) && !b.is_ascii_whitespace()).count(),
        }
        if depth == 0 {
            return Some(at);
        }
    }
}

/// Returns the offset behind the string that begins at `at`.
fn string_end(bytes: &[u8], at: usize) -> Option<usize> {
    let mut at = at + 1;
    loop {
        match *bytes.get(at)? {
            b'\\' => at += 2,
            b'"' => return Some(at + 1),
            _ => at += 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn set(text: &str, path: &str, value: Value) -> String {
        let path: Vec<_> = path.split('/').map(String::from).collect();
        edit(text, &path, Some(&value)).expect("an object")
    }

    #[test]
    fn only_the_value_changes() {
        let text = "{\r\n\t\"zoo\": [1,2],\r\n\t\"model\" : \"a\",\r\n\t\"models\": { \"x\": {\"images\":true} }\r\n}";
        assert_eq!(set(text, "model", "b".into()), text.replace("\"a\"", "\"b\""));
        assert_eq!(set(text, "models/x/images", false.into()), text.replace("true", "false"));
        assert_eq!(set(text, "models/x/pdfs", true.into()), text.replace("true}", "true,\"pdfs\":true}"));
        assert_eq!(set(text, "mouse", true.into()), text.replace("} }\r\n}", "} },\r\n\t\"mouse\": true\r\n}"));
    }

    #[test]
    fn new_members_stand_as_the_others_do() {
        assert_eq!(set("{\"a\": 1}\n", "b", 2.into()), "{\"a\": 1, \"b\": 2}\n");
        assert_eq!(set("{\"a\":1}", "b", 2.into()), "{\"a\":1,\"b\":2}");
        assert_eq!(set("{}\n", "b", 2.into()), "{\n  \"b\": 2\n}\n");
        assert_eq!(
            set("{\n    \"a\": 1\n}\n", "models/m/price/input", 2.into()),
            "{\n    \"a\": 1,\n    \"models\": {\n        \"m\": {\n            \"price\": {\n                \"input\": 2\n            }\n        }\n    }\n}\n"
        );
    }

    #[test]
    fn a_member_goes_with_its_comma() {
        let cut = |text: &str, name: &str| edit(text, &[name.to_string()], None).expect("an object");
        let text = "{\n  \"a\": 1,\n  \"b\": 2,\n  \"c\": 3\n}\n";
        assert_eq!(cut(text, "a"), "{\n  \"b\": 2,\n  \"c\": 3\n}\n");
        assert_eq!(cut(text, "c"), "{\n  \"a\": 1,\n  \"b\": 2\n}\n");
        assert_eq!(cut("{ \"a\": 1 }", "a"), "{}");
        assert_eq!(cut(text, "d"), text);
    }

    fn json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i32>().prop_map(Value::from),
            "[a\"\\\\{}:, ]{0,4}".prop_map(Value::from),
        ];
        leaf.prop_recursive(3, 12, 4, |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
                proptest::collection::vec(("[ab\"]{1,2}", inner), 0..4)
                    .prop_map(|m| Value::Object(m.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn the_text_means_what_the_change_asks_for(
            root in proptest::collection::vec(("[abc]", json()), 0..4),
            path in proptest::collection::vec("[abc]", 1..3),
            value in proptest::option::of(json()),
            pretty in any::<bool>(),
        ) {
            let mut keys: serde_json::Map<String, Value> = root.into_iter().collect();
            let whole = Value::Object(keys.clone());
            let text = if pretty { serde_json::to_string_pretty(&whole) } else { serde_json::to_string(&whole) }.expect("JSON");
            let edited = edit(&text, &path, value.as_ref());
            let placed = super::super::file::place(&mut keys, &path, value);
            prop_assert!(edited.is_some() || placed.is_err(), "{}", text);
            if let (Some(edited), Ok(())) = (edited, placed) {
                prop_assert_eq!(serde_json::from_str::<Value>(&edited).expect("JSON"), Value::Object(keys));
            }
        }
    }
}
