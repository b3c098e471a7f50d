//! Tags of edits in the middle of a text: their names, what a `<` begins, and what ends a field.

use super::headers::{CallHeader, HeaderStart, header};
use super::starts::char_floor;
use crate::edit::calls::CallTable;
use crate::edit::names::{Element, elements, fields};

/// The style of a call that names its tool in a tag.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::edit) enum Style {
    /// `<function=NAME>`, with `<parameter=KEY>` or a JSON object inside.
    Function,
    /// `<invoke name="NAME">`, with `<parameter name="KEY">` inside.
    Invoke,
    /// `NAME` alone, with `<arg_key>KEY</arg_key>` and `<arg_value>` behind it.
    Keys,
}

/// The meaning of a `<`, or of the `[` of a mark, in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::edit) enum Tag {
    /// The text is not the beginning of a known tag.
    No,
    /// The text does not decide yet.
    Wait,
    /// An edit's opening tag: what it is, its length, and its path if it has one.
    Open(Element, usize, Option<String>),
    /// A call's opening tag that names its tool: which way it is written, its length, and the tool.
    Named(Style, usize, String),
    /// The header of a call that names its tool, up to the arguments.
    Addressed(CallHeader),
    /// A tag around calls, which are read without it: its length.
    Around(usize),
}

/// Tags that models put around calls.
const AROUND: [&str; 15] = [
    "<tool_call>",
    "</tool_call>",
    "<tools>",
    "</tools>",
    "<function_calls>",
    "</function_calls>",
    "<|python_tag|>",
    "<|tool_call|>",
    "<|/tool_call|>",
    "<｜tool▁calls▁begin｜>",
    "<｜tool▁calls▁end｜>",
    "<｜tool▁call▁end｜>",
    "<|tool_calls_section_begin|>",
    "<|tool_calls_section_end|>",
    "<|tool_call_end|>",
];

/// Opening tags of edits are no longer than this behind their name, in bytes.
const LONGEST: usize = 300;
/// No tool's name in a tag is longer than this with what closes it, in bytes.
const LONGEST_NAME: usize = 60;

/// Returns the first bytes of a text.
fn within(text: &str, bytes: usize) -> &[u8] {
    &text.as_bytes()[..text.len().min(bytes)]
}

/// Reads a tag at the beginning of a text.
pub(in crate::edit) fn tag(rest: &str, calls: &CallTable) -> Tag {
    if let Some(tag) = AROUND.iter().find(|t| rest.starts_with(**t)) {
        return Tag::Around(tag.len());
    }
    let mut wait = AROUND.iter().any(|t| t.starts_with(rest));
    match header(rest, calls) {
        HeaderStart::Whole(header) => return Tag::Addressed(header),
        HeaderStart::Wait => wait = true,
        HeaderStart::No => {}
    }
    let Some(name) = rest.strip_prefix('<') else { return if wait { Tag::Wait } else { Tag::No } };
    for (element, kind) in elements() {
        let Some(after) = name.strip_prefix(element.as_str()) else {
            wait |= element.starts_with(name);
            continue;
        };
        match after.as_bytes().first() {
            None => wait = true,
            Some(b'>') => return Tag::Open(*kind, element.len() + 2, None),
            Some(b' ' | b'\t' | b'\n') => match memchr::memchr(b'>', within(after, LONGEST)) {
                Some(end) => {
                    return Tag::Open(*kind, element.len() + end + 2, attribute(&after[..end], "path"));
                }
                None => wait |= after.len() < LONGEST,
            },
            Some(_) => {}
        }
    }
    for (style, open, close) in [(Style::Function, "<function=", ">"), (Style::Invoke, "<invoke name=\"", "\">")] {
        if let Some(after) = rest.strip_prefix(open) {
            match memchr::memmem::find(within(after, LONGEST_NAME), close.as_bytes()) {
                Some(end) if calls.is_tool(&after[..end]) => {
                    return Tag::Named(style, open.len() + end + close.len(), after[..end].to_string());
                }
                Some(_) => {}
                None => wait |= after.len() < LONGEST_NAME && !after.contains([' ', '\n', '<']),
            }
        }
        wait |= open.starts_with(rest);
    }
    if wait { Tag::Wait } else { Tag::No }
}

/// Returns the value of an attribute in an opening tag.
pub(in crate::edit) fn attribute(attributes: &str, name: &str) -> Option<String> {
    let value = attributes.split_once(&format!(" {name}="))?.1;
    let quote = value.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    value[1..].split(quote).next().map(str::to_string)
}

/// A field of an element, while it is read.
#[derive(Debug)]
pub(in crate::edit) struct Field {
    pub name: &'static str,
    /// The name it was written with.
    pub tag: &'static str,
    pub text: String,
    /// True if a line break followed the opening tag; unknown while nothing has arrived.
    pub lines: Option<bool>,
    /// The number of open tags of its own name in the text itself.
    pub inner: usize,
    /// The length of the text already reported as growth.
    pub emitted: usize,
    pub open: bool,
    /// True if its closing tag was there.
    pub whole: bool,
    /// The end of its line ended it: its closing tag may still come, on a line of its own.
    pub by_line: bool,
}

/// Returns whether a field is one line: it is not shown while it grows, and ends with its line.
pub(in crate::edit) fn is_short(name: &str) -> bool {
    matches!(name, "path" | "start" | "end" | "to")
}

impl Field {
    /// Returns an open field, from after its opening tag.
    pub fn open(name: &'static str, tag: &'static str) -> Field {
        Field {
            name,
            tag,
            text: String::new(),
            lines: None,
            inner: 0,
            emitted: 0,
            open: true,
            whole: false,
            by_line: false,
        }
    }

    /// Returns a field that the opening tag of the element gives.
    pub fn given(name: &'static str, text: String) -> Field {
        Field { text, open: false, whole: true, ..Field::open(name, name) }
    }

    /// Returns the closing tags that may come after the line that ended it.
    pub fn late_tags(&self) -> Vec<String> {
        let names: &[&str] = if self.by_line { &[self.tag, "file"] } else { &[] };
        names.iter().map(|name| format!("</{name}>")).collect()
    }

    /// Takes the `<` that `from` begins with as part of the text, and counts the tags of the field's own name. Returns
    /// false if more text is needed to decide whether it is one.
    pub fn take_angle(&mut self, from: &str, ended: bool) -> bool {
        let rest = &from[1..];
        let closing = rest.strip_prefix('/');
        let name = closing.unwrap_or(rest);
        match name.strip_prefix(self.tag) {
            None if self.tag.starts_with(name) && !ended => return false,
            Some("") if !ended => return false,
            Some(after) if closing.is_none() && after.starts_with(['>', ' ']) => self.inner += 1,
            Some(after) if closing.is_some() && after.starts_with('>') => self.inner = self.inner.saturating_sub(1),
            _ => {}
        }
        self.text.push('<');
        true
    }
}

/// The meaning of a `<` inside a field.
pub(in crate::edit) enum Ending {
    No,
    Wait,
    At { skip: usize, whole: bool },
}

/// Looks for a tag given in three parts; returns how long it is and whether it is the field's own.
type At<'a> = dyn FnMut([&str; 3], bool) -> Option<(usize, bool)> + 'a;

/// Returns whether what begins with `<` ends the field: its own closing tag, or what can only come after it.
pub(in crate::edit) fn end_of(field: &Field, kind: Element, from: &str, ended: bool) -> Ending {
    let mut wait = false;
    // A tag in three parts, so that nothing is put together for each `<` of a text.
    let mut at = |tag: [&str; 3], whole: bool| {
        let mut rest = from;
        for part in tag {
            match rest.strip_prefix(part) {
                Some(after) => rest = after,
                None => {
                    wait |= part.starts_with(rest) && !ended;
                    return None;
                }
            }
        }
        Some((from.len() - rest.len(), whole))
    };
    let element = |at: &mut At, open: &str| {
        let mut names = elements().iter().filter(|(_, k)| *k == kind);
        names.find_map(|(name, _)| at([open, name, ">"], false))
    };
    let ending = |(skip, whole): (usize, bool)| Ending::At { skip: if whole { skip } else { 0 }, whole };
    let own = at(["</", field.tag, ">"], true);
    if let Some((skip, _)) = own
        && let Some(inner) = is_inner(field, &from[skip..], ended)
    {
        return inner;
    }
    let found = own.or_else(|| {
        let starts_line = || starts_line(field);
        match field.name {
            "search" | "expect" => {
                let mut replace = fields().filter(|(_, name)| *name == "replace");
                let next = if starts_line() { replace.find_map(|(tag, _)| at(["<", tag, ">"], false)) } else { None };
                // Text that follows the element must not be lost with it.
                next.or_else(|| element(&mut at, "</"))
                    .or_else(|| if starts_line() { element(&mut at, "<") } else { None })
            }
            "replace" | "content" => {
                element(&mut at, "</").or_else(|| if starts_line() { element(&mut at, "<") } else { None })
            }
            _ => None,
        }
    });
    if let Some(found) = found {
        return ending(found);
    }
    if is_short(field.name) {
        if let Some((skip, _)) = at(["</", "file", ">"], true) {
            return Ending::At { skip, whole: true };
        }
        // The next field ends this one as well as its own tag would.
        if fields().any(|(tag, _)| at(["<", tag, ">"], true).is_some()) {
            return Ending::At { skip: 0, whole: true };
        }
    }
    if wait { Ending::Wait } else { Ending::No }
}

/// Returns whether nothing but white space stands before the end of a field's text on its line.
fn starts_line(field: &Field) -> bool {
    let before = field.text.trim_end_matches([' ', '\t']);
    before.ends_with('\n') || (field.lines == Some(true) && before.is_empty())
}

/// Returns whether a closing tag belongs to the text itself (a file may hold `<content>…</content>`): one of its name is
/// open there, or its line goes on, and what follows is neither another field nor the end of the element.
fn is_inner(field: &Field, after: &str, ended: bool) -> Option<Ending> {
    let held = &after[..char_floor(after, HELD)];
    let (in_line, is_open) = (held.trim_start_matches([' ', '\t', '\r']), field.inner > 0);
    // In the middle of a line it may be spoken of: text of that line follows.
    let is_within_line = field.lines == Some(true) && !starts_line(field) && !in_line.starts_with('\n');
    if is_short(field.name) || !(is_open || is_within_line && !in_line.starts_with("</")) {
        return None;
    }
    let next = if is_open { held.trim_start() } else { in_line };
    let elements_end = elements().iter().map(|(name, _)| format!("</{name}>"));
    let others = fields().filter(|(tag, _)| *tag != field.tag).map(|(tag, _)| format!("<{tag}>"));
    let mut ends = elements_end.chain(others);
    if ends.any(|tag| next.starts_with(&tag)) || (next.is_empty() && ended) {
        return None;
    }
    let longest = elements().iter().map(|(name, _)| name.len() + 3).max().unwrap_or_default();
    let may = next.is_empty() || (next.starts_with('<') && next.len() < longest && !next.contains('>'));
    Some(if may && !ended && after.len() < HELD { Ending::Wait } else { Ending::No })
}

/// The most text after a closing tag that is waited through, in bytes.
const HELD: usize = 4 << 10;
