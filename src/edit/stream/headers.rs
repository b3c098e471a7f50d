//! Headers of calls in the special tokens of some models, which name the tool before its arguments:
//! `<|channel|>commentary to=functions.readFile <|constrain|>json<|message|>{…}<|call|>`,
//! `<｜tool▁call▁begin｜>function<｜tool▁sep｜>readFile`, `<|tool_call_begin|>functions.readFile:0` and
//! `[TOOL_CALLS]readFile[ARGS]{…}`.

use super::call::starts::CALLS_MARK;
use super::starts::char_floor;
use crate::edit::calls::CallTable;

/// A header, up to the object with the arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::edit) struct CallHeader {
    pub length: usize,
    pub tool: String,
    /// The arguments are in a fence, which it opens.
    pub is_fenced: bool,
}

/// The result of looking for a header at the beginning of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::edit) enum HeaderStart {
    No,
    /// The text does not decide yet.
    Wait,
    Whole(CallHeader),
}

/// Marks that close such a call, beside the fence around its arguments.
pub(super) const ENDS: [&str; 5] =
    ["<|call|>", "<｜tool▁call▁end｜>", "<｜tool▁calls▁end｜>", "<|tool_call_end|>", "<|tool_calls_section_end|>"];
pub(super) const FENCE: &str = "```";
/// The most white space that is waited through, in bytes.
pub(super) const SPACE: usize = 300;
/// The longest header, in bytes.
const LONGEST: usize = 400;

/// Reads a header at the beginning of a text.
pub(in crate::edit) fn header(rest: &str, calls: &CallTable) -> HeaderStart {
    let opens = |open: &str| rest.starts_with(open) || open.starts_with(rest);
    let head = &rest[..char_floor(rest, LONGEST)];
    let may_grow = head.len() == rest.len() && rest.len() < LONGEST;
    let found = if opens(CHANNEL) || opens(START) {
        message(head, calls)
    } else if opens(CALL) {
        section(head, calls)
    } else if opens(NUMBERED_CALL) {
        numbered(head, calls)
    } else if opens(CALLS_MARK) {
        marked(head, calls)
    } else {
        return HeaderStart::No;
    };
    match found {
        HeaderStart::Wait if !may_grow => HeaderStart::No,
        found => found,
    }
}

const CHANNEL: &str = "<|channel|>";
const START: &str = "<|start|>";
const MESSAGE: &str = "<|message|>";
const CALL: &str = "<｜tool▁call▁begin｜>";
const NAME: &str = "<｜tool▁sep｜>";
const NUMBERED_CALL: &str = "<|tool_call_begin|>";
const NUMBERED_ARGUMENTS: &str = "<|tool_call_argument_begin|>";
const CALL_ID: &str = "[CALL_ID]";
const ARGUMENTS: &str = "[ARGS]";

/// Reads the header of a message that is addressed to a tool: one line.
fn message(head: &str, calls: &CallTable) -> HeaderStart {
    let Some((before, behind)) = head.split_once(MESSAGE) else {
        return if head.contains('\n') { HeaderStart::No } else { HeaderStart::Wait };
    };
    let to = before.split_once(" to=").map(|(_, to)| to.split([' ', '<']).next().unwrap_or_default());
    let Some(tool) = to.filter(|tool| !before.contains('\n') && calls.is_tool(tool)) else { return HeaderStart::No };
    arguments(head, behind.trim_start(), tool, false)
}

/// Reads the header of a section with a call: the tool's name, or its kind before the name.
fn section(head: &str, calls: &CallTable) -> HeaderStart {
    let Some(inner) = head.strip_prefix(CALL) else { return HeaderStart::Wait };
    let Some((kind, behind)) = inner.split_once(NAME) else { return HeaderStart::Wait };
    let (tool, rest) = match kind.trim() {
        tool if calls.is_tool(tool) => (tool, behind),
        _ => match behind.find(|c: char| c.is_whitespace() || matches!(c, '{' | '`')) {
            Some(end) => behind.split_at(end),
            None => return HeaderStart::Wait,
        },
    };
    if !calls.is_tool(tool) {
        return HeaderStart::No;
    }
    let rest = rest.trim_start();
    match rest.strip_prefix(FENCE) {
        Some(fenced) => {
            let below = fenced.trim_start_matches(|c: char| c.is_ascii_alphanumeric()).trim_start();
            arguments(head, below, tool, true)
        }
        None if FENCE.starts_with(rest) => HeaderStart::Wait,
        None => arguments(head, rest, tool, false),
    }
}

/// Reads a tool's name with the number of the call behind it.
fn numbered(head: &str, calls: &CallTable) -> HeaderStart {
    let Some(inner) = head.strip_prefix(NUMBERED_CALL) else { return HeaderStart::Wait };
    let Some((id, behind)) = inner.split_once(NUMBERED_ARGUMENTS) else { return HeaderStart::Wait };
    let tool = id.trim();
    let tool = tool.rsplit_once(':').map_or(tool, |(tool, _)| tool);
    match calls.is_tool(tool) {
        true => arguments(head, behind.trim_start(), tool, false),
        false => HeaderStart::No,
    }
}

/// Reads a tool's name behind the mark of calls, with the call's id and the mark of its arguments, which may both be missing.
fn marked(head: &str, calls: &CallTable) -> HeaderStart {
    let Some(inner) = head.strip_prefix(CALLS_MARK).map(str::trim_start) else { return HeaderStart::Wait };
    let ends_name = |c: char| c.is_whitespace() || matches!(c, '[' | '{');
    let Some(end) = inner.find(ends_name) else { return HeaderStart::Wait };
    let (tool, rest) = inner.split_at(end);
    if !calls.is_tool(tool) {
        return HeaderStart::No;
    }
    let mut rest = rest.trim_start();
    if let Some(id) = rest.strip_prefix(CALL_ID) {
        let Some(end) = id.find(['[', '{']) else { return HeaderStart::Wait };
        rest = &id[end..];
    }
    match rest.strip_prefix(ARGUMENTS) {
        Some(behind) => arguments(head, behind.trim_start(), tool, false),
        None if [CALL_ID, ARGUMENTS].iter().any(|mark| mark.starts_with(rest)) => HeaderStart::Wait,
        None => arguments(head, rest, tool, false),
    }
}

/// Returns the header that ends before `rest`, if the arguments begin there.
fn arguments(head: &str, rest: &str, tool: &str, is_fenced: bool) -> HeaderStart {
    match rest.as_bytes().first() {
        None => HeaderStart::Wait,
        Some(b'{') => {
            HeaderStart::Whole(CallHeader { length: head.len() - rest.len(), tool: tool.to_string(), is_fenced })
        }
        Some(_) => HeaderStart::No,
    }
}
