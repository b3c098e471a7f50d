//! Tool calls as Python writes them: `replaceInFile(path="a.py", search="x", replace="y")`, alone or several in a list,
//! also inside of `print(…)`.

use serde_json::{Map, Value};

use super::starts::{self, Calls, Head};
use crate::edit::json;
use crate::edit::stream::context::{CALL_BROKE_OFF, CUT, Progress, ReaderContext};
use crate::edit::stream::input::Input;
use crate::edit::stream::pieces::{EditId, Piece};
use crate::edit::stream::reader::Reader;

/// The length of a run of quotes above which its last ones do not close a string.
const RUN: usize = 64;

/// Calls being read, from the first one's name.
#[derive(Debug, Default)]
pub(in crate::edit::stream) struct Python {
    call: Option<OpenCall>,
    /// Brackets around the calls that are open.
    around: usize,
}

/// The message to the model about an argument that is no value.
const NO_VALUE: &str = "an argument is not written as `name=value` with a plain string, a number, True or False. Send the call \
                        again with each text as one string in quotes.";

impl Python {
    /// Creates the calls that begin so.
    pub fn new(begun: Head, input: &mut Input, ctx: &mut ReaderContext) -> Self {
        let mut calls = Python::default();
        calls.open(begun, input, ctx);
        calls
    }

    fn open(&mut self, begun: Head, input: &mut Input, ctx: &mut ReaderContext) {
        input.skip(begun.length);
        self.around += begun.around;
        self.call = Some(OpenCall::new(begun.tool, ctx));
    }

    /// Reads after a call: what closes the brackets around it, or the next of a list.
    fn between(&mut self, input: &mut Input, ctx: &mut ReaderContext) -> Progress {
        let rest = input.rest();
        let text = rest.trim_start_matches([' ', '\t', '\r', '\n', ',', ';']);
        let space = rest.len() - text.len();
        let open = self.around > 0;
        if open && text.starts_with([')', ']']) {
            self.around -= 1;
            input.skip(space + 1);
            return if self.around == 0 { Progress::Done } else { Progress::Again };
        }
        let begun = if text.is_empty() { Err(Calls::Wait) } else { starts::python_head(text, &ctx.calls) };
        match begun {
            Ok(begun) if open || space == 0 => {
                let length = space + begun.length;
                self.open(Head { length, ..begun }, input, ctx);
                Progress::Again
            }
            Err(Calls::Wait) if open && space < starts::SPACE && !input.ended() => Progress::Wait,
            _ => Progress::Done,
        }
    }
}

impl Reader for Python {
    fn step(&mut self, input: &mut Input, ctx: &mut ReaderContext) -> Progress {
        let Some(call) = &mut self.call else { return self.between(input, ctx) };
        if !call.read(input, ctx) {
            return Progress::Wait;
        }
        self.call = None;
        Progress::Again
    }

    fn end(&mut self, ctx: &mut ReaderContext, cut: bool) {
        let Some(mut call) = self.call.take() else { return };
        // Only the last bracket may be missing.
        let complete = call.string.is_none() && call.depth == 0 && !call.argument.trim().is_empty();
        match (cut, complete) {
            (true, _) => call.broken(CUT, ctx),
            (false, true) => {
                call.take(ctx);
                call.finish(ctx);
            }
            (false, false) => call.broken(CALL_BROKE_OFF, ctx),
        }
    }

    fn ends_inside_line(&self) -> bool {
        true
    }
}

/// One call, from its first argument.
#[derive(Debug)]
struct OpenCall {
    id: EditId,
    tool: String,
    /// All of it so far, for the model if it cannot be read.
    raw: String,
    arguments: Map<String, Value>,
    /// The argument being read.
    argument: String,
    /// Brackets that are open in it.
    depth: usize,
    /// The quotes of the string that is open in it.
    string: Option<String>,
    /// True in a comment, which goes up to the end of its line.
    comment: bool,
    wrong: Option<&'static str>,
}

impl OpenCall {
    fn new(tool: String, ctx: &mut ReaderContext) -> Self {
        let id = ctx.new_id();
        let name = ctx.calls.own_name(&tool).unwrap_or(&tool).to_string();
        ctx.out.push(Piece::CallStarted { id, name });
        let raw = format!("{tool}(");
        OpenCall {
            id,
            tool,
            raw,
            arguments: Map::new(),
            argument: String::new(),
            depth: 0,
            string: None,
            comment: false,
            wrong: None,
        }
    }

    /// Reads what has come. Returns whether that was all of the call.
    fn read(&mut self, input: &mut Input, ctx: &mut ReaderContext) -> bool {
        let rest = input.rest().to_string();
        let mut at = 0;
        let mut over = false;
        while at < rest.len() && !over {
            let Some(taken) = self.take_some(&rest[at..], input.ended()) else { break };
            let piece = &rest[at..at + taken];
            let comment = self.comment || (self.string.is_none() && piece.starts_with('#'));
            self.comment = comment && at + taken == rest.len();
            let outer = !comment && self.string.is_none() && self.depth == 0;
            over = outer && piece == ")";
            if over || (outer && piece == ",") {
                self.take(ctx);
            } else if !comment {
                self.argument.push_str(piece);
                self.bracket(piece);
            }
            at += taken;
        }
        self.raw.push_str(&rest[..at]);
        input.skip(at);
        if over {
            self.finish(ctx);
        }
        over
    }

    /// Returns how much of the text belongs together: quotes, an escape, a comment, one character outside of strings,
    /// or a run inside of one. `None` if more must come to tell.
    fn take_some(&mut self, text: &str, ended: bool) -> Option<usize> {
        let first = text.chars().next()?;
        self.comment &= first != '\n';
        if self.comment || (first == '#' && self.string.is_none()) {
            return Some(text.find('\n').unwrap_or(text.len()));
        }
        // Only runs of quotes are counted, and none longer than can be waited for.
        let quote = matches!(first, '"' | '\'');
        let same = if quote { text.bytes().take(RUN).take_while(|b| *b == first as u8).count() } else { 0 };
        let unsure = same == text.len() && same < RUN && !ended;
        let Some(quotes) = &self.string else {
            if !matches!(first, '"' | '\'') {
                return Some(first.len_utf8());
            }
            // `""` is an empty string.
            return match same {
                1 | 2 if unsure => None,
                2 => Some(2),
                _ => {
                    let quotes = &text[..if same > 2 { 3 } else { 1 }];
                    self.string = Some(quotes.to_string());
                    Some(quotes.len())
                }
            };
        };
        if first == '\\' {
            let escaped = text.chars().nth(1);
            return if escaped.is_none() && !ended { None } else { Some(1 + escaped.map_or(0, char::len_utf8)) };
        }
        if !quotes.starts_with(first) {
            return Some(text.find(['\\', '"', '\'']).unwrap_or(text.len()).max(first.len_utf8()));
        }
        if quotes.len() == 1 {
            self.string = None;
            return Some(1);
        }
        // Of four or more quotes the last three close.
        match same {
            _ if unsure => None,
            0..3 => Some(same),
            RUN => Some(RUN - 3),
            _ => {
                self.string = None;
                Some(same)
            }
        }
    }

    fn bracket(&mut self, piece: &str) {
        if self.string.is_none() {
            match piece {
                "(" | "[" | "{" => self.depth += 1,
                ")" | "]" | "}" => self.depth = self.depth.saturating_sub(1),
                _ => {}
            }
        }
    }

    /// Takes the argument that is whole.
    fn take(&mut self, ctx: &mut ReaderContext) {
        let argument = std::mem::take(&mut self.argument);
        if argument.trim().is_empty() {
            return;
        }
        let read = argument.split_once('=').and_then(|(key, text)| Some((key.trim(), value(text)?)));
        let Some((key, value)) = read else {
            self.wrong = Some(NO_VALUE);
            return;
        };
        let first = if self.arguments.is_empty() { "{" } else { ", " };
        let text = format!("{first}{}: {value}", Value::from(key));
        ctx.out.push(Piece::CallGrew { id: self.id, text });
        self.arguments.insert(key.to_string(), value);
    }

    fn finish(&mut self, ctx: &mut ReaderContext) {
        if let Some(why) = self.wrong {
            return self.broken(why, ctx);
        }
        let (arguments, raw) = (std::mem::take(&mut self.arguments), std::mem::take(&mut self.raw));
        ctx.add_call(self.id, &self.tool, arguments, raw);
    }

    fn broken(&mut self, why: &str, ctx: &mut ReaderContext) {
        ctx.add_broken_call(self.id, std::mem::take(&mut self.raw), why);
    }
}

/// The prefixes of a string's quotes.
const PREFIXES: [char; 6] = ['r', 'b', 'u', 'R', 'B', 'U'];

/// Parses a value: strings one after another, in brackets or not, are one string.
fn value(text: &str) -> Option<Value> {
    let text = text.trim();
    let inner = text.strip_prefix('(').and_then(|t| t.strip_suffix(')')).unwrap_or(text).trim();
    if !inner.trim_start_matches(PREFIXES).starts_with(['"', '\'']) {
        return json::repair(text).ok();
    }
    let (mut joined, mut rest) = (String::new(), inner);
    while !rest.is_empty() {
        let (text, after) = string(rest)?;
        joined.push_str(&text);
        rest = after.trim_start();
    }
    Some(joined.into())
}

/// Parses a string in quotes; returns what follows it too.
fn string(text: &str) -> Option<(String, &str)> {
    let bare = text.trim_start_matches(PREFIXES);
    let raw = text[..text.len() - bare.len()].contains(['r', 'R']);
    let quotes = ["\"\"\"", "'''", "\"", "'"].into_iter().find(|q| bare.starts_with(q))?;
    let (mut out, mut rest) = (String::new(), &bare[quotes.len()..]);
    loop {
        let c = rest.chars().next()?;
        let more = quotes.len() == 3 && rest.get(3..).is_some_and(|r| r.starts_with(c));
        if rest.starts_with(quotes) && !more {
            return Some((out, &rest[quotes.len()..]));
        }
        rest = &rest[c.len_utf8()..];
        if c != '\\' || raw {
            out.push(c);
            continue;
        }
        rest = escape(rest, &mut out)?;
    }
}

/// Parses an escape: what a backslash stands for together with what follows it; the rest.
fn escape<'t>(text: &'t str, out: &mut String) -> Option<&'t str> {
    let c = text.chars().next()?;
    let rest = &text[c.len_utf8()..];
    match c {
        'n' => out.push('\n'),
        't' => out.push('\t'),
        'r' => out.push('\r'),
        '\n' => {}
        '\\' | '"' | '\'' => out.push(c),
        'x' | 'u' => {
            let digits = rest.get(..if c == 'x' { 2 } else { 4 })?;
            out.push(char::from_u32(u32::from_str_radix(digits, 16).ok()?)?);
            return Some(&rest[digits.len()..]);
        }
        // Python keeps a backslash without a meaning (`\d` of a pattern).
        _ => out.extend(['\\', c]),
    }
    Some(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_read_as_python_has_them() {
        let cases = [
            (r#" "a\n\"b\"" "#, Some(Value::from("a\n\"b\""))),
            (r"'\d\x41あ'", Some("\\dA\u{3042}".into())),
            (r#"r"a\n""#, Some("a\\n".into())),
            ("(\"a\"\n  'b')", Some("ab".into())),
            ("\"\"\"x\n\"y\"\"\"\"", Some("x\n\"y\"".into())),
            ("True", Some(true.into())),
            ("12", Some(12.into())),
            ("a + \"b\"", None),
            ("\"a\" + b", None),
        ];
        for (text, read) in cases {
            assert_eq!(value(text), read, "{text}");
        }
    }
}
