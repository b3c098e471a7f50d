//! A call on the screen: what it shows now, told again each time it moves on.

use std::ops::Range;
use std::time::Instant;

use crate::agent::events::Events;
use crate::agent::turn::streaming_edit::Before;
use crate::edit::{Edit, Op};
use crate::proposal::{self, Counts, FileChange, State};
use crate::protocol::{Call, CallState, Event, Item, ItemId, PreviewLine};

/// A call's entry in the conversation.
pub struct Shown {
    /// Its name on the channel.
    pub id: ItemId,
    /// What it shows.
    pub call: Call,
    began: Option<Instant>,
}

impl Shown {
    /// A new entry.
    pub async fn add(events: &Events, name: &str, state: CallState) -> Self {
        let call = blank(name, state);
        let id = events.add(Item::Call(call.clone())).await;
        Shown { id, call, began: None }
    }

    /// Moves on to another state.
    pub async fn set(&mut self, events: &Events, state: CallState) {
        if state == CallState::Running {
            self.began = Some(Instant::now());
        }
        if state.is_final() && self.call.took.is_none() {
            self.call.took = self.began.map(|b| b.elapsed());
        }
        self.call.state = state;
        self.tell(events).await;
    }

    /// Ends it with a reason that is shown below it.
    pub async fn end(&mut self, events: &Events, state: CallState, reason: &str, result: &str) {
        self.call.reason = reason.lines().next().map(str::to_string);
        self.call.result = Some(result.to_string());
        self.set(events, state).await;
    }

    /// Shows it as it is now.
    pub async fn tell(&self, events: &Events) {
        events.send(Event::Changed(self.id, Item::Call(self.call.clone()))).await;
    }
}

/// A call of which nothing is known but its name.
pub fn blank(name: &str, state: CallState) -> Call {
    Call {
        name: name.to_string(),
        main: String::new(),
        arguments: String::new(),
        state,
        summary: String::new(),
        counts: None,
        preview: Vec::new(),
        result: None,
        reason: None,
        rung: None,
        took: None,
    }
}

/// An edit as a small diff, as far as it can be told without its file.
pub fn preview(edit: &Edit) -> Vec<PreviewLine> {
    match &edit.op {
        Op::Replace { search: old, replace, .. } | Op::Lines { expect: old, replace, .. } => {
            let mut out = Vec::new();
            differing(old.lines(), replace.lines(), &mut out);
            out
        }
        Op::Write { content } | Op::Overwrite { content } => {
            content.lines().map(|l| PreviewLine { sign: '+', text: l.to_string() }).collect()
        }
        Op::Hunks(hunks) | Op::DeleteText(hunks) => hunks
            .iter()
            .flat_map(|h| &h.body)
            .map(|l| match l.chars().next() {
                Some(sign @ ('+' | '-')) => PreviewLine { sign, text: l[1..].to_string() },
                _ => PreviewLine { sign: ' ', text: l.strip_prefix(' ').unwrap_or(l).to_string() },
            })
            .collect(),
        Op::Mode { mode } => vec![PreviewLine { sign: '+', text: format!("permissions {mode:o}") }],
        Op::Delete => Vec::new(),
        Op::Move { to } => vec![PreviewLine { sign: '+', text: to.clone() }],
    }
}

/// The lines that go and come where a whole file is given a new text.
pub fn changed(change: &FileChange) -> Vec<PreviewLine> {
    let text = |state: &State| state.bytes().and_then(|b| proposal::shown(b)).unwrap_or_default().into_owned();
    let (before, after) = (text(&change.before), text(&change.after));
    let (before, after): (Vec<&str>, Vec<&str>) = (before.lines().collect(), after.lines().collect());
    let mut out = Vec::new();
    for hunk in &change.hunks {
        differing(part(&before, &hunk.before), part(&after, &hunk.after), &mut out);
    }
    out
}

fn part<'a>(lines: &'a [&'a str], range: &Range<usize>) -> impl Iterator<Item = &'a str> {
    lines.iter().skip(range.start).take(range.len()).copied()
}

/// The lines that go and come where `after` takes the place of `before`; those that stay are left out.
fn differing<'a>(
    before: impl Iterator<Item = &'a str>,
    after: impl Iterator<Item = &'a str>,
    out: &mut Vec<PreviewLine>,
) {
    let mut before = Before::new(before.map(str::to_string).collect());
    for line in after {
        before.follow(line, out);
    }
    before.end(out);
}

/// Lines added and removed in a preview.
pub fn signs(preview: &[PreviewLine]) -> Counts {
    let count = |sign| preview.iter().filter(|l| l.sign == sign).count();
    Counts { added: count('+'), removed: count('-') }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edit::{Format, Shape};

    #[test]
    fn lines_that_an_edit_only_quotes_are_no_change() {
        let op = Op::Replace {
            search: "mod a;\nmod c;\nuse x;\n".into(),
            replace: "mod a;\nmod b;\nmod c;\nuse y;\n".into(),
            all: false,
            shape: Shape::Lines,
        };
        let edit =
            Edit { path: Some("a.rs".into()), op, format: Format::Tools, by: "replaceInFile".into(), whole: true };
        let shown: String = preview(&edit).iter().map(|l| format!("{}{}\n", l.sign, l.text)).collect();
        assert_eq!(shown, "+mod b;\n-use x;\n+use y;\n");
    }
}
