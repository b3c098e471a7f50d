//! The effects of the editing actions on the text.

use unicode_segmentation::UnicodeSegmentation;

use super::{Editor, Run};
use crate::tui::action::Action;

impl Editor {
    /// Does an editing action. `false`: it is none, or there is nothing to do (Up in the first row).
    pub fn act(&mut self, action: Action) -> bool {
        act(self, action)
    }
}

/// Does `action`; `false`: it is no editing action, or changes nothing.
fn act(e: &mut Editor, action: Action) -> bool {
    match action {
        Action::Left => go(e, e.before(e.caret)),
        Action::Right => go(e, e.after(e.caret)),
        Action::WordLeft => go(e, word_left(e)),
        Action::WordRight => go(e, word_right(e)),
        Action::LineStart => go(e, line_start(e)),
        Action::LineEnd => go(e, line_end(e)),
        Action::TextStart => go(e, 0),
        Action::TextEnd => go(e, e.text.len()),
        Action::Up => vertical(e, false),
        Action::Down => vertical(e, true),
        Action::NewLine => {
            e.step(Run::None);
            e.put("\n");
            true
        }
        Action::Backspace => erase(e, e.before(e.caret), e.caret),
        Action::Delete => erase(e, e.caret, e.after(e.caret)),
        Action::DeleteWordLeft => kill(e, word_left(e), e.caret),
        Action::DeleteWordRight => kill(e, e.caret, word_right(e)),
        Action::DeleteToStart => kill(e, line_start(e), e.caret),
        Action::DeleteToEnd => match line_end(e) {
            // At the end of a line the line break itself goes.
            end if end == e.caret => kill(e, e.caret, e.after(e.caret)),
            end => kill(e, e.caret, end),
        },
        Action::Yank if !e.killed.is_empty() => {
            e.step(Run::None);
            let killed = e.killed.clone();
            e.put(&killed);
            true
        }
        Action::UndoTyping => travel(e, true),
        Action::RedoTyping => travel(e, false),
        _ => false,
    }
}

/// Moves the caret. A motion ends a run of typing.
fn go(e: &mut Editor, to: usize) -> bool {
    e.run = Run::None;
    e.goal = None;
    let moved = to != e.caret;
    e.caret = to;
    moved
}

fn erase(e: &mut Editor, from: usize, to: usize) -> bool {
    if from == to {
        return false;
    }
    e.step(Run::Deleting);
    e.text.replace_range(from..to, "");
    e.caret = from;
    true
}

fn kill(e: &mut Editor, from: usize, to: usize) -> bool {
    if from == to {
        return false;
    }
    e.step(Run::None);
    e.killed = e.text[from..to].to_string();
    e.text.replace_range(from..to, "");
    e.caret = from;
    true
}

fn travel(e: &mut Editor, back: bool) -> bool {
    let now = (e.text.clone(), e.caret);
    let (from, to) = if back { (&mut e.undo, &mut e.redo) } else { (&mut e.redo, &mut e.undo) };
    // A step may have been remembered before nothing changed; such ones are passed over.
    let Some(state) = std::iter::from_fn(|| from.pop()).find(|(text, _)| *text != now.0) else { return false };
    to.push(now);
    (e.text, e.caret) = state;
    e.run = Run::None;
    e.goal = None;
    true
}

fn vertical(e: &mut Editor, down: bool) -> bool {
    let rows = e.rows(e.width.max(1));
    let (row, column) = rows.caret;
    let goal = e.goal.unwrap_or(column);
    let target = if down { row + 1 } else { row.wrapping_sub(1) };
    let Some(at) = rows.rows.get(target).map(|r| r.position(goal)) else { return false };
    e.run = Run::None;
    e.caret = at;
    e.goal = Some(goal);
    true
}

fn line_start(e: &Editor) -> usize {
    e.text[..e.caret].rfind('\n').map_or(0, |i| i + 1)
}

fn line_end(e: &Editor) -> usize {
    e.text[e.caret..].find('\n').map_or(e.text.len(), |i| e.caret + i)
}

fn is_word(piece: &str) -> bool {
    piece.chars().any(|c| c.is_alphanumeric() || c == '_' || super::is_fold(c))
}

fn word_left(e: &Editor) -> usize {
    let words = e.text[..e.caret].split_word_bound_indices();
    words.rev().find(|(_, w)| is_word(w)).map_or(0, |(i, _)| i)
}

fn word_right(e: &Editor) -> usize {
    let words = e.text[e.caret..].split_word_bound_indices();
    words.into_iter().find(|(_, w)| is_word(w)).map_or(e.text.len(), |(i, w)| e.caret + i + w.len())
}
