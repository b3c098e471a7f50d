//! Tool calls written as JSON in the text.

use super::input::Input;
use super::{Context, EditId, Piece, Progress};
use crate::edit::{calls, json};

/// A JSON value being read.
#[derive(Debug, Default)]
pub(super) struct Call {
    text: String,
    depth: usize,
    state: Inside,
    /// The opening line of the fence around it, to be shown if it is no call.
    lead: String,
    /// Once it is known to be a call: its name, and how much of the text has been shown as growth.
    begun: Option<(EditId, usize)>,
    /// Enough has been seen: if it has not begun to be a call by now, it is not told before its end.
    tried: bool,
}

/// More white space than this after a `"""` is not waited through, in bytes.
const SPACE: usize = 4096;

/// What the model is told of a list in which only some are calls.
const NOT_ALL: &str = "it begins as a tool call, but what it holds is not one, or not only tool calls. Send each call \
                       as one object with a name and its arguments.";

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Inside {
    #[default]
    Value,
    String,
    /// After a backslash.
    Escape,
    /// A `"""` string.
    Triple,
}

impl Call {
    pub fn new(lead: String) -> Self {
        Call { lead, ..Call::default() }
    }

    pub fn step(&mut self, input: &mut Input, ctx: &mut Context) -> Progress {
        let rest = input.rest();
        let bytes = rest.as_bytes();
        let mut at = 0;
        while at < bytes.len() {
            let quotes = bytes[at..].iter().take(4).take_while(|b| **b == b'"').count();
            let unsure = at + quotes == bytes.len() && quotes > 0 && quotes < 3 && !input.ended();
            match (self.state, bytes[at]) {
                (Inside::Value, b'"') if unsure => break,
                (Inside::Value, b'"') if quotes >= 3 => {
                    self.state = Inside::Triple;
                    at += 2;
                }
                // `""` is an empty string.
                (Inside::Value, b'"') if quotes == 2 => at += 1,
                (Inside::Value, b'"') => self.state = Inside::String,
                (Inside::Value, b'{' | b'[') => self.depth += 1,
                (Inside::Value, b'}' | b']') => {
                    self.depth = self.depth.saturating_sub(1);
                    if self.depth == 0 {
                        self.text.push_str(&rest[..=at]);
                        input.skip(at + 1);
                        self.grow(ctx);
                        return if self.finish(ctx) { Progress::Done } else { Progress::Back };
                    }
                }
                (Inside::String, b'"') => self.state = Inside::Value,
                (Inside::String, b'\\') => self.state = Inside::Escape,
                (Inside::Escape, _) => self.state = Inside::String,
                (Inside::Triple, b'"') if quotes < 3 && unsure => break,
                (Inside::Triple, b'"') if quotes >= 3 => {
                    // It closes if a comma, a bracket or the end comes next; that must have arrived to be seen.
                    let after = rest[at..].trim_start_matches('"').trim_start();
                    let near = rest.len() - at - after.len() < SPACE;
                    match after.as_bytes().first() {
                        None if near && !input.ended() => break,
                        None | Some(b',' | b'}' | b']') if near || input.ended() => {
                            at = rest.len() - after.len() - 1;
                            self.state = Inside::Value;
                        }
                        _ => at += 2,
                    }
                }
                _ => {}
            }
            at += 1;
        }
        self.text.push_str(&rest[..at]);
        input.skip(at);
        self.grow(ctx);
        Progress::Wait
    }

    /// Shows the arguments as they come, once it is certain that this is a call.
    fn grow(&mut self, ctx: &mut Context) {
        if self.begun.is_none() && !self.tried {
            self.tried = self.text.len() >= calls::HEAD;
            if let Some((name, at)) = calls::begun(&self.text) {
                let id = ctx.new_id();
                ctx.out.push(Piece::CallStarted { id, name: name.to_string() });
                self.begun = Some((id, at));
            }
        }
        if let Some((id, shown)) = &mut self.begun
            && *shown < self.text.len()
        {
            ctx.out.push(Piece::CallGrew { id: *id, text: self.text[*shown..].to_string() });
            *shown = self.text.len();
        }
    }

    fn broken(&mut self, why: String, ctx: &mut Context) {
        let id = self.begun.map(|(id, _)| id);
        ctx.out.push(Piece::BrokenCall { id, text: std::mem::take(&mut self.text), why });
    }

    /// Whether it was a call; if not, it is prose after all.
    fn finish(&mut self, ctx: &mut Context) -> bool {
        let values = match json::repair(&self.text) {
            Ok(serde_json::Value::Array(items)) => items,
            Ok(value) => match value.get("tool_calls").and_then(|c| c.as_array()) {
                Some(items) => items.clone(),
                None => vec![value],
            },
            Err(why) if self.begun.is_some() || calls::was_meant(&self.text) => {
                self.broken(why, ctx);
                return true;
            }
            Err(_) => Vec::new(),
        };
        let calls: Vec<_> = values.iter().filter_map(calls::read).collect();
        if calls.is_empty() || calls.len() < values.len() {
            if self.begun.is_some() {
                self.broken(NOT_ALL.to_string(), ctx);
                return true;
            }
            ctx.prose(&self.lead);
            ctx.prose(&self.text);
            return false;
        }
        let mut id = self.begun.map(|(id, _)| id);
        ctx.out.extend(calls.into_iter().map(|(name, arguments)| Piece::Call { id: id.take(), name, arguments }));
        true
    }

    pub fn end(&mut self, ctx: &mut Context, cut: bool) {
        if cut && (self.begun.is_some() || calls::was_meant(&self.text)) {
            self.broken(super::CUT.to_string(), ctx);
        } else {
            self.finish(ctx);
        }
    }
}
