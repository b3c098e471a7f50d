//! The arguments of a call while they arrive: JSON that is not whole yet, read leniently and for showing only.

/// An argument as far as it has arrived.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Field {
    /// Its name.
    pub name: String,
    /// Its value: text without quotes and escapes, anything else as it was written.
    pub value: String,
    /// True if the value is a text.
    pub text: bool,
    /// True if it is whole.
    pub whole: bool,
}

/// Returns the fields of an object that may break off anywhere. What is no object gives none.
pub fn read(json: &str) -> Vec<Field> {
    let mut fields = Vec::new();
    let Some(mut rest) = json.trim_start().strip_prefix('{') else { return fields };
    loop {
        rest = rest.trim_start_matches(|c: char| c.is_whitespace() || c == ',');
        let Some(begun) = rest.strip_prefix('"') else { return fields };
        let (name, whole, after) = string(begun);
        if !whole {
            return fields;
        }
        let Some(value) = after.trim_start().strip_prefix(':') else { return fields };
        let value = value.trim_start();
        let field;
        (field, rest) = match value.strip_prefix('"') {
            Some(begun) => {
                let (text, whole, after) = string(begun);
                (Field { name, value: text, text: true, whole }, after)
            }
            None => {
                let end = raw_end(value);
                let whole = end < value.len();
                (Field { name, value: value[..end].trim_end().to_string(), text: false, whole }, &value[end..])
            }
        };
        fields.push(field);
    }
}

/// Returns a text after its opening quote: what it says, whether its closing quote came, and what follows.
fn string(text: &str) -> (String, bool, &str) {
    let mut out = String::new();
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return (out, true, &text[at + 1..]),
            '\\' => match chars.next() {
                // The escape is not whole yet.
                None => break,
                Some((_, 'n')) => out.push('\n'),
                Some((_, 't')) => out.push('\t'),
                Some((_, 'r')) => out.push('\r'),
                Some((_, 'b')) => out.push('\u{8}'),
                Some((_, 'f')) => out.push('\u{c}'),
                Some((at, 'u')) => match code(&text[at + 1..]) {
                    Some((c, len)) => {
                        out.push(c);
                        // Escapes are ASCII, so `len` bytes are `len` characters.
                        for _ in 0..len {
                            chars.next();
                        }
                    }
                    None if text.len() - at < 12 => break,
                    None => out.push('\u{fffd}'),
                },
                Some((_, other)) => out.push(other),
            },
            c => out.push(c),
        }
    }
    (out, false, "")
}

/// Returns the character of `\uXXXX` after the `u`, a pair of surrogates included, and how many letters it took.
fn code(text: &str) -> Option<(char, usize)> {
    let unit = |at: usize| u32::from_str_radix(text.get(at..at + 4)?, 16).ok();
    let first = unit(0)?;
    if let Some(c) = char::from_u32(first) {
        return Some((c, 4));
    }
    let second = text.get(4..6).filter(|u| *u == "\\u").and_then(|_| unit(6))?;
    let pair = char::decode_utf16([first as u16, second as u16]).next()?.ok()?;
    Some((pair, 10))
}

/// Returns where a value that is no text ends: at the comma or brace behind it, outside of its own brackets and texts.
fn raw_end(value: &str) -> usize {
    let (mut depth, mut quoted, mut escaped) = (0usize, false, false);
    for (at, c) in value.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            _ if quoted => {}
            '[' | '{' => depth += 1,
            ',' | '}' | ']' if depth == 0 => return at,
            ']' | '}' => depth -= 1,
            _ => {}
        }
    }
    value.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn visible(json: &str) -> Vec<(String, String, bool)> {
        read(json).into_iter().map(|f| (f.name, f.value, f.whole)).collect()
    }

    fn field(name: &str, value: &str, whole: bool) -> (String, String, bool) {
        (name.into(), value.into(), whole)
    }

    #[test]
    fn fields_show_as_they_arrive() {
        let json =
            r#"{"path": "src/a.rs", "all": true, "list": ["x, y", {"z": 1}], "search": "a\n\"b\" \u3042\ud83d\ude00"}"#;
        assert_eq!(
            visible(json),
            [
                field("path", "src/a.rs", true),
                field("all", "true", true),
                field("list", r#"["x, y", {"z": 1}]"#, true),
                field("search", "a\n\"b\" あ😀", true)
            ]
        );
    }

    #[test]
    fn no_prefix_shows_a_torn_escape() {
        let json = r#"{"path": "src/a.rs", "n": 12, "text": "ü\n\u3042\ud83d\ude00 end"}"#;
        for end in (0..=json.len()).filter(|i| json.is_char_boundary(*i)) {
            for (name, value, _) in visible(&json[..end]) {
                let whole = match name.as_str() {
                    "path" => "src/a.rs",
                    "n" => "12",
                    "text" => "ü\nあ😀 end",
                    other => panic!("{other}"),
                };
                assert!(whole.starts_with(&value), "{value:?} of {:?}", &json[..end]);
            }
        }
    }

    #[test]
    fn what_is_no_object_has_no_fields() {
        for json in ["", "[1]", "{", "{\"a", "{\"a\"", "{a: 1}", "null"] {
            assert_eq!(read(json), [], "{json}");
        }
        assert_eq!(visible("{\"a\":"), [field("a", "", false)]);
    }
}
