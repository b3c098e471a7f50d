//! Tool calls written as JSON in the text.

use std::ops::Range;

use crate::edit::stream::context::{CUT, Progress, ReaderContext};
use crate::edit::stream::input::Input;
use crate::edit::stream::pieces::{EditId, Piece};
use crate::edit::stream::reader::Reader;
use crate::edit::{calls, json};

/// A JSON value being read.
#[derive(Debug, Default)]
pub(in crate::edit::stream) struct Call {
    text: String,
    depth: usize,
    state: JsonState,
    /// The opening line of the fence around it, to be shown if it is no call.
    lead: String,
    /// The tool, where it is named before the value, which is the arguments alone.
    tool: Option<String>,
    /// The object that is being read, of which there is more than one in a list.
    item: Option<Item>,
    /// The calls that are whole: their place in the text, and what they were begun as.
    whole: Vec<(Range<usize>, Option<EditId>)>,
}

/// One object that may be a call.
#[derive(Debug)]
struct Item {
    start: usize,
    /// Once it is known to be a call: its name, and how much of the text has been shown as growth.
    begun: Option<(EditId, usize)>,
    /// Enough has arrived: an object that is not recognised as a call by now is reported only at its end.
    tried: bool,
}

/// Returns how much of a text that begins with `"""` inside of such a string belongs together, and whether it closes
/// the string. None if more must come to tell.
fn triple(text: &str, ended: bool) -> Option<(usize, bool)> {
    let run = text.bytes().take(RUN).take_while(|b| *b == b'"').count();
    if run == RUN {
        return Some((RUN - 3, false));
    }
    // It closes if a comma, a bracket or the end follows; that must have arrived.
    let after = text[run..].trim_start();
    let near = text.len() - after.len() < SPACE;
    match after.as_bytes().first() {
        None if near && !ended => None,
        None | Some(b',' | b'}' | b']') if near || ended => Some((text.len() - after.len(), true)),
        _ => Some((3, false)),
    }
}

/// The deepest nesting of the objects of a list under `tool_calls`.
const DEEPEST: usize = 3;
/// The most white space after a `"""` that is waited through, in bytes.
const SPACE: usize = 4096;

/// The length of a run of quotes above which its last ones do not close a string.
const RUN: usize = 64;

/// The message to the model about a list in which only some members are calls.
const NOT_ALL: &str = "it begins as a tool call, but what it holds is not one, or not only tool calls. Send each call \
                       as one object with a name and its arguments.";

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum JsonState {
    #[default]
    Value,
    /// A string in these quotes.
    String(u8),
    /// After a backslash in a string.
    Escape(u8),
    /// A `"""` string.
    Triple,
}

impl Call {
    pub fn new(lead: String) -> Self {
        Call { lead, ..Call::default() }
    }

    /// Creates a call of this tool from its arguments.
    pub fn of(tool: String) -> Self {
        Call { tool: Some(tool), ..Call::default() }
    }

    /// Returns whether a value or a name may begin after this: an apostrophe elsewhere is no quote.
    fn is_open(&self, text: &str) -> bool {
        let last = |text: &str| text.trim_end().bytes().next_back();
        last(text).or_else(|| last(&self.text)).is_some_and(|b| b"{[,:".contains(&b))
    }

    /// Returns whether the object that opens at the end of the text, at the present depth, may be a call: the value
    /// itself, one of a list, or one of those under `tool_calls`.
    fn is_item(&self) -> bool {
        let text = self.text.trim_start();
        match self.depth {
            1 => true,
            2 => text.starts_with('['),
            _ => text.strip_prefix('{').is_some_and(|t| t.trim_start().starts_with("\"tool_calls\"")),
        }
    }

    /// Handles a closing brace: the object that was being read may be whole.
    fn close_item(&mut self, ctx: &mut ReaderContext) {
        let depth = match self.text.trim_start().starts_with('[') {
            true => 2,
            // Under `tool_calls` the value itself was given up for what it holds.
            false if self.item.as_ref().is_some_and(|i| i.start > 0) => DEEPEST,
            false => 1,
        };
        if self.depth == depth {
            self.grow(ctx);
            if let Some(item) = self.item.take() {
                self.whole.push((item.start..self.text.len(), item.begun.map(|(id, _)| id)));
            }
        }
    }

    /// Shows the arguments as they come, once it is certain that this is a call.
    fn grow(&mut self, ctx: &mut ReaderContext) {
        let Some(item) = &mut self.item else { return };
        if item.begun.is_none() && !item.tried {
            let text = &self.text[item.start..];
            item.tried = text.len() >= calls::HEAD;
            let named = self.tool.as_deref().and_then(|tool| ctx.calls.own_name(tool)).map(|name| (name, 0));
            if let Some((name, at)) = named.or_else(|| ctx.calls.begun(text)) {
                let name = name.to_string();
                let id = ctx.new_id();
                ctx.out.push(Piece::CallStarted { id, name });
                item.begun = Some((id, item.start + at));
            }
        }
        if let Some((id, emitted)) = &mut item.begun
            && *emitted < self.text.len()
        {
            ctx.out.push(Piece::CallGrew { id: *id, text: self.text[*emitted..].to_string() });
            *emitted = self.text.len();
        }
    }

    fn has_begun(&self) -> bool {
        self.item.as_ref().is_some_and(|i| i.begun.is_some()) || self.whole.iter().any(|(_, id)| id.is_some())
    }

    /// Reports what was meant as calls and cannot be read. Those of a list that are whole stand.
    fn broken(&mut self, why: &str, ctx: &mut ReaderContext) {
        ctx.end_waiting();
        let mut from = 0;
        for (range, id) in std::mem::take(&mut self.whole) {
            let call = json::repair(&self.text[range.clone()]).ok().as_ref().and_then(|value| ctx.calls.read(value));
            match call {
                Some((name, arguments)) => ctx.out.push(Piece::Call { id, name, arguments }),
                None if id.is_some() => {
                    let text = self.text[range.clone()].to_string();
                    ctx.out.push(Piece::BrokenCall { id, text, why: why.to_string() });
                }
                None => continue,
            }
            from = range.end;
        }
        let id = self.item.take().and_then(|i| i.begun).map(|(id, _)| id);
        let text = self.text[from..].trim_start_matches([',', ' ', '\n', '\r', '\t']).to_string();
        // After the last of them only the brackets around them are left.
        if id.is_some() || from == 0 || text.contains('{') {
            ctx.out.push(Piece::BrokenCall { id, text, why: why.to_string() });
        }
        self.text.clear();
    }

    /// Ends a call of a tool that was named before.
    fn finish_of(&mut self, tool: &str, ctx: &mut ReaderContext) {
        let open = self.item.take().and_then(|item| item.begun).map(|(id, _)| id);
        let id = self.whole.drain(..).find_map(|(_, id)| id).or(open).unwrap_or_else(|| ctx.new_id());
        let text = std::mem::take(&mut self.text);
        match json::repair(&text) {
            Ok(serde_json::Value::Object(arguments)) => ctx.add_call(id, tool, arguments, text),
            Ok(_) => ctx.add_broken_call(id, text, "its arguments are no JSON object"),
            Err(why) => ctx.add_broken_call(id, text, &why),
        }
    }

    /// Returns whether it was a call; if not, it is prose after all.
    fn finish(&mut self, ctx: &mut ReaderContext) -> bool {
        if let Some(tool) = self.tool.take() {
            self.finish_of(&tool, ctx);
            return true;
        }
        let values = match json::repair(&self.text) {
            Ok(serde_json::Value::Array(items)) => items,
            Ok(value) => match value.get("tool_calls").and_then(|c| c.as_array()) {
                Some(items) => items.clone(),
                None => vec![value],
            },
            Err(why) if self.has_begun() || ctx.calls.was_meant(&self.text) => {
                self.broken(&why, ctx);
                return true;
            }
            Err(_) => Vec::new(),
        };
        let calls: Vec<_> = values.iter().filter_map(|value| ctx.calls.read(value)).collect();
        if calls.is_empty() || calls.len() < values.len() {
            if self.has_begun() {
                self.not_all(ctx);
                return true;
            }
            ctx.prose(&self.lead);
            ctx.prose(&self.text);
            return false;
        }
        let open = self.item.take().and_then(|i| i.begun).map(|(id, _)| id);
        let mut ids = self.whole.drain(..).map(|(_, id)| id).chain([open]);
        ctx.end_waiting();
        ctx.out.extend(calls.into_iter().map(|(name, arguments)| {
            let id = ids.next().flatten();
            Piece::Call { id, name, arguments }
        }));
        true
    }

    /// Handles a list of which some members are calls and others are not: what is meant is not certain.
    fn not_all(&mut self, ctx: &mut ReaderContext) {
        let open = self.item.take().and_then(|i| i.begun).map(|(id, _)| id);
        let begun = self.whole.drain(..).filter_map(|(_, id)| id).chain(open);
        let mut text = std::mem::take(&mut self.text);
        for id in begun {
            let text = std::mem::take(&mut text);
            ctx.out.push(Piece::BrokenCall { id: Some(id), text, why: NOT_ALL.to_string() });
        }
    }
}

impl Reader for Call {
    fn step(&mut self, input: &mut Input, ctx: &mut ReaderContext) -> Progress {
        let rest = input.rest();
        let bytes = rest.as_bytes();
        let (mut at, mut from) = (0, 0);
        while at < bytes.len() {
            let quotes = bytes[at..].iter().take(4).take_while(|b| **b == b'"').count();
            let unsure = at + quotes == bytes.len() && quotes > 0 && quotes < 3 && !input.ended();
            match (self.state, bytes[at]) {
                (JsonState::Value, b'"') if unsure => break,
                (JsonState::Value, b'"') if quotes >= 3 => {
                    self.state = JsonState::Triple;
                    at += 2;
                }
                // `""` is an empty string.
                (JsonState::Value, b'"') if quotes == 2 => at += 1,
                (JsonState::Value, b'"') => self.state = JsonState::String(b'"'),
                (JsonState::Value, b'\'') if self.is_open(&rest[from..at]) => self.state = JsonState::String(b'\''),
                (JsonState::Value, b'{' | b'[') => {
                    self.depth += 1;
                    if bytes[at] == b'{' && self.depth <= DEEPEST {
                        self.text.push_str(&rest[from..at]);
                        from = at;
                        if self.is_item() {
                            self.item = Some(Item { start: self.text.len(), begun: None, tried: false });
                        }
                    }
                }
                (JsonState::Value, b'}' | b']') => {
                    if bytes[at] == b'}' && self.depth <= DEEPEST {
                        self.text.push_str(&rest[from..=at]);
                        from = at + 1;
                        self.close_item(ctx);
                    }
                    self.depth = self.depth.saturating_sub(1);
                    if self.depth == 0 {
                        self.text.push_str(&rest[from..=at]);
                        input.skip(at + 1);
                        return if self.finish(ctx) { Progress::Done } else { Progress::Back };
                    }
                }
                (JsonState::String(quote), byte) if byte == quote => self.state = JsonState::Value,
                (JsonState::String(quote), b'\\') => self.state = JsonState::Escape(quote),
                (JsonState::Escape(quote), _) => self.state = JsonState::String(quote),
                (JsonState::Triple, b'"') if quotes < 3 && unsure => break,
                (JsonState::Triple, b'"') if quotes >= 3 => {
                    let Some((length, closes)) = triple(&rest[at..], input.ended()) else { break };
                    if closes {
                        self.state = JsonState::Value;
                    }
                    at += length - 1;
                }
                _ => {}
            }
            at += 1;
        }
        self.text.push_str(&rest[from..at]);
        input.skip(at);
        self.grow(ctx);
        Progress::Wait
    }

    fn end(&mut self, ctx: &mut ReaderContext, cut: bool) {
        if cut && (self.tool.is_some() || self.has_begun() || ctx.calls.was_meant(&self.text)) {
            self.broken(CUT, ctx);
        } else {
            self.finish(ctx);
        }
    }

    fn ends_inside_line(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use crate::edit::stream::{End, Parser, Piece};

    /// The outcome of each call by its id: its growth, and the name it ended with (none: it is broken).
    fn calls(text: &str, size: usize, end: End) -> Vec<(String, Option<String>)> {
        let mut parser = Parser::new(None, Vec::new(), crate::tools::ToolSet::builtin().calls());
        let chars: Vec<char> = text.chars().collect();
        let mut pieces: Vec<Piece> =
            chars.chunks(size).flat_map(|c| parser.push(&c.iter().collect::<String>())).collect();
        pieces.extend(parser.finish(end));
        let mut calls: Vec<(String, Option<String>)> = Vec::new();
        for piece in pieces {
            match piece {
                Piece::CallStarted { id, .. } => {
                    assert_eq!(id.0, calls.len());
                    calls.push(Default::default());
                }
                Piece::CallGrew { id, text } => calls[id.0].0.push_str(&text),
                Piece::Call { id, name, .. } => calls[id.expect("begun").0].1 = Some(name),
                Piece::BrokenCall { id, .. } => assert_eq!(calls[id.expect("begun").0].1, None),
                piece => panic!("{piece:?}"),
            }
        }
        calls
    }

    #[test]
    fn each_call_of_a_list_grows_by_itself() {
        let (first, second) = (r#"{"path": "a", "search": "x", "replace": "{y"}"#, r#"{"path": "b.rs"}"#);
        let one = format!(r#"{{"name": "replaceInFile", "arguments": {first}}}"#);
        let two = format!(r#"{{"name": "readFile", "arguments": {second}}}"#);
        let grown =
            [(format!("{first}}}"), Some("replaceInFile".into())), (format!("{second}}}"), Some("readFile".into()))];
        for list in [format!("[{one},\n {two}]"), format!(r#"{{"tool_calls": [{one}, {two}]}}"#)] {
            for size in [1, 7, 1000] {
                assert_eq!(calls(&list, size, End::Ordinary), grown, "{list} by {size}");
            }
        }
        // What was whole before a cut stands.
        for size in [1, 1000] {
            let cut = calls(&format!("[{one}, {}", &two[..two.len() - 4]), size, End::Cut);
            assert_eq!((cut[0].1.as_deref(), cut[1].1.as_deref()), (Some("replaceInFile"), None));
        }
    }
}
