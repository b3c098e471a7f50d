//! Tool calls written as JSON in the text.

use super::input::Input;
use super::{Context, Piece, Progress};
use crate::edit::{calls, json};

/// A JSON value being read.
#[derive(Debug, Default)]
pub(super) struct Call {
    text: String,
    depth: usize,
    state: Inside,
    /// The opening line of the fence around it, to be shown if it is no call.
    lead: String,
}

/// More white space than this after a `"""` is not waited through, in bytes.
const SPACE: usize = 4096;

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
        Progress::Wait
    }

    /// Whether it was a call; if not, it is prose after all.
    fn finish(&mut self, ctx: &mut Context) -> bool {
        let values = match json::repair(&self.text) {
            Ok(serde_json::Value::Array(items)) => items,
            Ok(value) => match value.get("tool_calls").and_then(|c| c.as_array()) {
                Some(items) => items.clone(),
                None => vec![value],
            },
            Err(why) if calls::was_meant(&self.text) => {
                ctx.out.push(Piece::BrokenCall { text: std::mem::take(&mut self.text), why });
                return true;
            }
            Err(_) => Vec::new(),
        };
        let calls: Vec<_> = values.iter().filter_map(calls::read).collect();
        if calls.is_empty() || calls.len() < values.len() {
            ctx.prose(&self.lead);
            ctx.prose(&self.text);
            return false;
        }
        ctx.out.extend(calls.into_iter().map(|(name, arguments)| Piece::Call { name, arguments }));
        true
    }

    pub fn end(&mut self, ctx: &mut Context, cut: bool) {
        if cut && calls::was_meant(&self.text) {
            ctx.out.push(Piece::BrokenCall { text: std::mem::take(&mut self.text), why: super::CUT.to_string() });
        } else {
            self.finish(ctx);
        }
    }
}
