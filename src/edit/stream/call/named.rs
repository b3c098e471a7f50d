//! Tool calls whose arguments are in tags: `<function=readFile>` and `<invoke name="readFile">`, with a `<parameter>`
//! for each argument or, in the first, a JSON object; and a tool's name with `<arg_key>` and `<arg_value>`.

use serde_json::{Map, Value};

use super::starts::ARGUMENT;
use crate::edit::json;
use crate::edit::stream::context::{CALL_BROKE_OFF, CUT, Progress, ReaderContext};
use crate::edit::stream::input::Input;
use crate::edit::stream::pieces::{EditId, Piece};
use crate::edit::stream::reader::Reader;
use crate::edit::stream::tags::Style;

/// A call being read, from after its opening tag.
#[derive(Debug)]
pub(in crate::edit::stream) struct Named {
    id: EditId,
    style: Style,
    tool: String,
    /// All of it so far, for the model if it cannot be read.
    raw: String,
    arguments: Map<String, Value>,
    inside: TagState,
}

/// The part that is being read.
#[derive(Debug)]
enum TagState {
    Between,
    /// The value of a parameter. `lines`, once it has begun: it began with a line break; that one and the last one
    /// belong to the tags.
    Value {
        key: String,
        text: String,
        lines: Option<bool>,
    },
    Json(String),
}

impl Named {
    pub fn new(style: Style, tool: String, raw: String, ctx: &mut ReaderContext) -> Self {
        let id = ctx.new_id();
        let name = ctx.calls.own_name(&tool).unwrap_or(&tool).to_string();
        ctx.out.push(Piece::CallStarted { id, name });
        Named { id, style, tool, raw, arguments: Map::new(), inside: TagState::Between }
    }

    fn close(&self) -> &'static str {
        match self.style {
            Style::Function => "</function>",
            Style::Invoke => "</invoke>",
            Style::Keys => "</tool_call>",
        }
    }

    /// Reads between parameters: white space, the next one, or the end.
    fn between(&mut self, input: &mut Input, ctx: &mut ReaderContext) -> Progress {
        let rest = input.rest();
        let text = rest.trim_start();
        let space = rest.len() - text.len();
        // What stands before a parameter's name, behind it, and before its value.
        let (open, end, value) = match self.style {
            Style::Function => ("<parameter=", ">", ""),
            Style::Invoke => ("<parameter name=\"", "\">", ""),
            Style::Keys => (ARGUMENT, "</arg_key>", "<arg_value>"),
        };
        let close = self.close();
        if text.starts_with(close) {
            self.take(input, space + close.len());
            self.finish(ctx);
            return Progress::Done;
        }
        if let Some((key, behind)) = text.strip_prefix(open).and_then(|after| after.split_once(end))
            && let Some(rest_of_value) = within_value(behind, value)
        {
            let (key, length) = (key.trim().to_string(), rest.len() - rest_of_value.len());
            self.take(input, length);
            let first = if self.arguments.is_empty() { "{" } else { ", " };
            self.grew(&format!("{first}{}: ", quoted(&key)), ctx);
            self.inside = TagState::Value { key, text: String::new(), lines: None };
            return Progress::Again;
        }
        if text.starts_with('{') && self.style == Style::Function && self.arguments.is_empty() {
            self.take(input, space);
            self.inside = TagState::Json(String::new());
            return Progress::Again;
        }
        let may = text.is_empty() || close.starts_with(text) || open.starts_with(text) || text.starts_with(open);
        if may && rest.len() < LONGEST && !input.ended() {
            return Progress::Wait;
        }
        // Anything else: the end was forgotten, which is accepted once there are arguments.
        match self.arguments.is_empty() {
            true => self.broken("it has no arguments. Send the call again with them.", ctx),
            false => self.finish(ctx),
        }
        Progress::Done
    }

    /// Reads inside a value, up to the tag that ends it.
    fn within(&mut self, input: &mut Input, ctx: &mut ReaderContext) -> Progress {
        let close = match &self.inside {
            TagState::Value { .. } if self.style == Style::Keys => "</arg_value>",
            TagState::Value { .. } => "</parameter>",
            _ => self.close(),
        };
        let rest = input.rest();
        if rest.is_empty() || (rest == "\r" && !input.ended()) {
            return Progress::Wait;
        }
        let begun = matches!(self.inside, TagState::Value { lines: Some(_), .. });
        let lines = match &self.inside {
            TagState::Value { lines, .. } => lines.unwrap_or(rest.starts_with('\n') || rest.starts_with("\r\n")),
            _ => false,
        };
        let found = memchr::memmem::find(rest.as_bytes(), close.as_bytes());
        // Text that may begin the closing tag is held back, and so is the line break before it.
        let held = (1..close.len()).rev().find(|n| rest.ends_with(&close[..*n])).unwrap_or(0);
        let end = found.unwrap_or(if input.ended() { rest.len() } else { rest.len() - held });
        let body = &rest[..end];
        let last = ["\r\n", "\n"].iter().find(|b| body.ends_with(**b)).map_or(0, |b| b.len());
        let safe = match (lines, found) {
            (false, _) => end,
            // Of an empty value there is but one line break.
            (true, Some(_)) if last == end && !begun => end,
            (true, Some(_)) => end - last,
            (true, None) if input.ended() => end,
            (true, None) => end - last.max(usize::from(body.ends_with('\r'))),
        };
        if found.is_none() && safe == 0 {
            return Progress::Wait;
        }
        let piece = rest[..safe].to_string();
        let whole = found.map(|at| at + close.len());
        self.value(&piece, whole.is_some(), ctx);
        self.take(input, whole.unwrap_or(safe));
        match whole {
            None => Progress::Again,
            Some(_) => self.closed(ctx),
        }
    }

    /// Takes in more of a value.
    fn value(&mut self, piece: &str, last: bool, ctx: &mut ReaderContext) {
        let mut grown = String::new();
        match &mut self.inside {
            TagState::Value { text, lines, .. } => {
                let mut piece = piece;
                if lines.is_none() {
                    let rest = piece.strip_prefix("\r\n").or_else(|| piece.strip_prefix('\n'));
                    *lines = Some(rest.is_some());
                    piece = rest.unwrap_or(piece);
                    grown.push('"');
                }
                text.push_str(piece);
                let escaped = quoted(piece);
                grown.push_str(&escaped[1..escaped.len() - 1]);
                if last {
                    grown.push('"');
                }
            }
            TagState::Json(text) => {
                text.push_str(piece);
                grown.push_str(piece);
            }
            TagState::Between => {}
        }
        self.grew(&grown, ctx);
    }

    /// Completes a value.
    fn closed(&mut self, ctx: &mut ReaderContext) -> Progress {
        match std::mem::replace(&mut self.inside, TagState::Between) {
            TagState::Value { key, mut text, lines } => {
                // A file of lines ends with a line break, though the tags have taken it.
                let whole_text = ["content", "contents", "new_content", "text"].contains(&key.as_str());
                if whole_text && lines == Some(true) && !text.is_empty() && !text.ends_with('\n') {
                    text.push('\n');
                }
                self.arguments.insert(key.clone(), valued(&key, text));
                Progress::Again
            }
            TagState::Json(text) => {
                match json::repair(&text) {
                    Ok(Value::Object(arguments)) => {
                        self.arguments = arguments;
                        self.finish(ctx);
                    }
                    Ok(_) => self.broken("its arguments are no JSON object", ctx),
                    Err(why) => self.broken(&why, ctx),
                }
                Progress::Done
            }
            TagState::Between => Progress::Again,
        }
    }

    fn take(&mut self, input: &mut Input, bytes: usize) {
        self.raw.push_str(&input.rest()[..bytes]);
        input.skip(bytes);
    }

    fn grew(&self, text: &str, ctx: &mut ReaderContext) {
        if !text.is_empty() {
            ctx.out.push(Piece::CallGrew { id: self.id, text: text.to_string() });
        }
    }

    fn finish(&mut self, ctx: &mut ReaderContext) {
        let (arguments, raw) = (std::mem::take(&mut self.arguments), std::mem::take(&mut self.raw));
        ctx.add_call(self.id, &self.tool, arguments, raw);
    }

    fn broken(&mut self, why: &str, ctx: &mut ReaderContext) {
        ctx.add_broken_call(self.id, std::mem::take(&mut self.raw), why);
    }
}

impl Reader for Named {
    fn step(&mut self, input: &mut Input, ctx: &mut ReaderContext) -> Progress {
        match &self.inside {
            TagState::Between => self.between(input, ctx),
            TagState::Value { .. } | TagState::Json(_) => self.within(input, ctx),
        }
    }

    fn end(&mut self, ctx: &mut ReaderContext, cut: bool) {
        let complete = matches!(self.inside, TagState::Between) && !self.arguments.is_empty();
        match (complete, cut) {
            (true, false) => self.finish(ctx),
            (_, true) => self.broken(CUT, ctx),
            (false, false) => match std::mem::replace(&mut self.inside, TagState::Between) {
                // Only the end is missing of an object that is whole.
                TagState::Json(text) if text.trim_end().ends_with('}') => {
                    self.inside = TagState::Json(text);
                    self.closed(ctx);
                }
                _ => self.broken(CALL_BROKE_OFF, ctx),
            },
        }
    }

    fn ends_inside_line(&self) -> bool {
        true
    }
}

/// Returns the text behind the tag of a value, which may stand on the next line.
fn within_value<'t>(text: &'t str, tag: &str) -> Option<&'t str> {
    if tag.is_empty() { Some(text) } else { text.trim_start().strip_prefix(tag) }
}

/// White space and tags between parameters that are waited through, in bytes.
const LONGEST: usize = 4 << 10;

/// Returns a text as JSON writes it.
fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

/// Returns a parameter's value: numbers and truth where the tools have them, else text.
fn valued(key: &str, text: String) -> Value {
    const PLAIN: [&str; 8] =
        ["startLine", "endLine", "count", "timeoutSeconds", "replaceAll", "recursive", "regex", "caseSensitive"];
    let plain = || serde_json::from_str(text.trim().to_lowercase().as_str()).ok().filter(|v: &Value| !v.is_object());
    match PLAIN.contains(&key) {
        true => plain().unwrap_or(Value::String(text)),
        false => Value::String(text),
    }
}
