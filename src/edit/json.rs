//! Reads the JSON that models really write.
//!
//! Accepted beyond the standard, because only one meaning is possible: raw control characters in strings,
//! `"""` strings, backslashes before characters that need none, commas before a closing bracket, `True`, `False`,
//! `None`, single quotes around strings, the name of a call's tool without quotes, closing brackets that are missing or
//! too many at the end. A text that ends inside a string, a number or a pair was cut, and is an error: what is missing
//! cannot be known.

use serde_json::{Map, Number, Value};

use super::names::TOOL;

/// The deepest nesting of values.
const DEEPEST: usize = 100;

/// Reads one JSON value, repairing what has only one meaning.
///
/// # Errors
/// When it cannot be read; the text says why, at which line and column from 1, and how to write it instead.
pub fn repair(text: &str) -> Result<Value, String> {
    if let Ok(value) = serde_json::from_str(text) {
        return Ok(value);
    }
    let mut reader = JsonReader { text, at: 0 };
    let complaint = |reader: &JsonReader, wrong: String| {
        let before = &text[..reader.at.min(text.len())];
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().map_or(0, |l| l.chars().count()) + 1;
        format!("the JSON cannot be read: {wrong} at line {line}, column {column}. {ADVICE}")
    };
    let value = reader.value(0).map_err(|wrong| complaint(&reader, wrong))?;
    reader.rest().map_err(|wrong| complaint(&reader, wrong))?;
    Ok(value)
}

/// Returns the name without quotes that a text begins with, no plain word, where the next member or the end of the object
/// follows.
pub(super) fn bare_name(text: &str) -> Option<&str> {
    let rest = text.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'));
    let word = &text[..text.len() - rest.len()];
    let is_name =
        word.starts_with(|c: char| c.is_ascii_lowercase()) && word.contains(|c: char| !c.is_ascii_lowercase());
    (is_name && rest.trim_start().starts_with([',', '}'])).then_some(word)
}

const ADVICE: &str = "Write one JSON object with double quotes; inside a string write a line break as \\n, a double \
                      quote as \\\" and a backslash as \\\\.";

struct JsonReader<'t> {
    text: &'t str,
    at: usize,
}

impl JsonReader<'_> {
    fn peek(&self) -> Option<char> {
        self.text[self.at..].chars().next()
    }

    fn space(&mut self) {
        let rest = &self.text[self.at..];
        self.at += rest.len() - rest.trim_start_matches(|c: char| c.is_whitespace() || c == '\u{feff}').len();
    }

    fn eat(&mut self, text: &str) -> bool {
        let there = self.text[self.at..].starts_with(text);
        self.at += if there { text.len() } else { 0 };
        there
    }

    fn value(&mut self, depth: usize) -> Result<Value, String> {
        self.space();
        if depth > DEEPEST {
            return Err("values nest too deep".into());
        }
        match self.peek() {
            None => Err("it ends where a value must stand".into()),
            Some('{') => self.object(depth),
            Some('[') => self.array(depth),
            Some('"' | '\'') => self.string().map(Value::String),
            Some(_) => self.word(),
        }
    }

    fn object(&mut self, depth: usize) -> Result<Value, String> {
        self.at += 1;
        let mut map = Map::new();
        loop {
            self.space();
            if self.eat("}") || (self.peek().is_none() && !map.is_empty() && !self.after_comma()) {
                return Ok(Value::Object(map));
            }
            if !matches!(self.peek(), Some('"' | '\'')) {
                return Err("a name in double quotes is missing".into());
            }
            let name = self.string()?;
            self.space();
            if !self.eat(":") {
                return Err(format!("a colon is missing after \"{name}\""));
            }
            self.space();
            let bare = bare_name(&self.text[self.at..]).filter(|_| TOOL.contains(&name.as_str()));
            let value = match bare {
                Some(word) => {
                    self.at += word.len();
                    Value::String(word.to_string())
                }
                None => self.value(depth + 1)?,
            };
            map.insert(name, value);
            self.parted('}')?;
        }
    }

    fn array(&mut self, depth: usize) -> Result<Value, String> {
        self.at += 1;
        let mut items = Vec::new();
        loop {
            self.space();
            if self.eat("]") || (self.peek().is_none() && !items.is_empty() && !self.after_comma()) {
                return Ok(Value::Array(items));
            }
            items.push(self.value(depth + 1)?);
            self.parted(']')?;
        }
    }

    /// Reads what follows a member: a comma, or the closing bracket or the end of the text, which are left.
    fn parted(&mut self, close: char) -> Result<(), String> {
        self.space();
        match self.peek() {
            Some(',') => {
                self.at += 1;
                Ok(())
            }
            None => Ok(()),
            Some(c) if c == close => Ok(()),
            // A bracket too few here is one too many later on: `[{"a": 1]`.
            Some('}' | ']') => Err(format!("'{close}' is missing")),
            Some('"') => Err("a comma is missing, or a double quote inside a string is not escaped".into()),
            Some(_) => Err("a double quote inside a string is not escaped, or a comma is missing".into()),
        }
    }

    fn after_comma(&self) -> bool {
        self.text[..self.at].trim_end().ends_with(',')
    }

    fn word(&mut self) -> Result<Value, String> {
        let rest = &self.text[self.at..];
        let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || "+-._".contains(c))).unwrap_or(rest.len());
        let word = &rest[..end];
        let value = match word {
            "true" | "True" => Value::Bool(true),
            "false" | "False" => Value::Bool(false),
            "null" | "None" => Value::Null,
            _ if end == rest.len() && self.at > 0 => return Err("it ends in the middle of a value".into()),
            _ => match word.parse::<Number>() {
                Ok(number) => Value::Number(number),
                Err(_) => return Err("a value is neither in quotes nor a number".into()),
            },
        };
        self.at += end;
        Ok(value)
    }

    fn string(&mut self) -> Result<String, String> {
        if self.eat("\"\"\"") {
            return self.triple();
        }
        let quote = if self.eat("'") { '\'' } else { '"' };
        self.at += usize::from(quote == '"');
        let mut out = String::new();
        loop {
            let rest = &self.text[self.at..];
            let Some(stop) = rest.find([quote, '\\']) else {
                self.at = self.text.len();
                return Err("it ends inside a string".into());
            };
            out.push_str(&rest[..stop]);
            self.at += stop + 1;
            if rest.as_bytes()[stop] != b'\\' {
                return Ok(out);
            }
            self.escape(&mut out)?;
        }
    }

    fn escape(&mut self, out: &mut String) -> Result<(), String> {
        let Some(c) = self.peek() else { return Err("it ends inside a string".into()) };
        self.at += c.len_utf8();
        match c {
            'n' => out.push('\n'),
            't' => out.push('\t'),
            'r' => out.push('\r'),
            'b' => out.push('\u{8}'),
            'f' => out.push('\u{c}'),
            '"' | '\\' | '/' | '\'' => out.push(c),
            'u' => out.push(self.unicode()?),
            // A backslash at the end of a raw line, or before a character that needs none (`\d` of a pattern): both are
            // kept.
            _ => out.extend(['\\', c]),
        }
        Ok(())
    }

    fn unicode(&mut self) -> Result<char, String> {
        let first = self.hex()?;
        if (0xD800..0xDC00).contains(&first) && self.text[self.at..].starts_with("\\u") {
            self.at += 2;
            let second = self.hex()?;
            let pair = [first as u16, second as u16];
            return char::decode_utf16(pair).next().and_then(Result::ok).ok_or_else(|| "half a character".to_string());
        }
        char::from_u32(first).ok_or_else(|| "half a character".to_string())
    }

    fn hex(&mut self) -> Result<u32, String> {
        let digits = self.text.get(self.at..self.at + 4).ok_or("four digits must follow \\u")?;
        let value = u32::from_str_radix(digits, 16).map_err(|_| "four digits must follow \\u")?;
        self.at += 4;
        Ok(value)
    }

    /// Returns the rest of a `"""` string: raw text up to the `"""` that a comma, a bracket or the end follows.
    fn triple(&mut self) -> Result<String, String> {
        let (start, mut inner) = (self.at, 0);
        while let Some(stop) = self.text[self.at..].find("\"\"\"") {
            let end = self.at + stop;
            let mut after = end + 3;
            // Of four or more quotes the last three close.
            while self.text[after..].starts_with('"') {
                after += 1;
            }
            if !matches!(self.text[after..].trim_start().chars().next(), None | Some(',' | '}' | ']')) {
                inner += 1;
                self.at = after;
                continue;
            }
            if inner % 2 == 1 {
                return Err("a \"\"\" string holds \"\"\" itself, so where it begins and ends is not certain".into());
            }
            self.at = after;
            return Ok(self.text[start..after - 3].to_string());
        }
        self.at = self.text.len();
        Err("it ends inside a string".into())
    }

    /// Checks what may follow the value: space, closing brackets too many, the fence around it.
    fn rest(&mut self) -> Result<(), String> {
        let rest = self.text[self.at..].trim_start_matches(|c: char| c.is_whitespace() || "}]);`".contains(c));
        if rest.is_empty() { Ok(()) } else { Err("text follows after the value".into()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn json_with_one_meaning_is_repaired() {
        let cases = [
            ("{\"a\": \"x\ny\t\"}", json!({"a": "x\ny\t"})),
            (r#"{"a": """say "hi"\n""", "b": 1}"#, json!({"a": "say \"hi\"\\n", "b": 1})),
            (r#"{"a": [1, 2,], }"#, json!({"a": [1, 2]})),
            (r#"{"a": {"b": "c"}"#, json!({"a": {"b": "c"}})),
            (r#"{"a": "b"}}"#, json!({"a": "b"})),
            ("{\"a\": true}\n```", json!({"a": true})),
            (r#"{"a": "\d+\.", 'b': None}"#, json!({"a": "\\d+\\.", "b": null})),
            (r#"{"name": replaceInFile, "arguments": {}}"#, json!({"name": "replaceInFile", "arguments": {}})),
            (r#"{"a": "\ud83d\ude00", "b": True,}"#, json!({"a": "😀", "b": true})),
        ];
        for (text, value) in cases {
            assert_eq!(repair(text), Ok(value), "{text}");
        }
    }

    #[test]
    fn what_was_cut_or_is_unclear_is_an_error() {
        for text in [
            "",
            "{",
            "{\"a\"",
            "{\"a\":",
            "{\"a\": \"b",
            "{\"a\": 12",
            "{\"a\": 1,",
            "{\"a\": 1} and more",
            "{\"a\": \"say \"hi\"\"}",
            "{\"a\": \"\"\"x\"\"\"\ny\"\"\"}",
            "[{\"a\": 1]",
            "{\"a\": \"\\u12",
            "{\"name\": list, \"arguments\": {}}",
            "{\"search\": replaceInFile, \"arguments\": {}}",
            "{\"name\": replaceInFile(1)}",
        ] {
            assert!(repair(text).is_err(), "{text}");
        }
        let deep = "[".repeat(100_000);
        assert!(repair(&deep).is_err());
    }

    #[test]
    fn the_error_says_where() {
        let error = repair("{\"a\": 1,\n \"b\": say}").unwrap_err();
        assert!(error.contains("line 2, column 7"), "{error}");
    }
}
