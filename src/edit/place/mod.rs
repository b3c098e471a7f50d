//! Places one edit in one text: which bytes are replaced by what.

mod added;
mod body;
mod definition;
mod dress;
mod entities;
mod fit;
mod guard;
mod hunks;
mod left_out;
mod numbers;
mod part;
mod passage;
mod snippet;
mod splice;
mod standing;
mod transcript;
mod whole;
mod wrapped;

pub(super) use added::{AddedPlace, added};
pub(super) use fit::DOTS;
pub(super) use guard::{begin_alike, elided_definitions};
pub(super) use left_out::stands_for_more;
pub(super) use part::{definition_lines, definition_names, emptied, gone, is_standing_definition, same_definition};
pub use passage::unfenced;
pub(super) use snippet::{begins_passage, passages, values_gone, written_dots};
pub(super) use splice::{Done, Splice, Step, TargetText, sure};
pub(super) use whole::{NewText, is_all_of, keeps_all_of, leaves_out, made, replaced, whole, whole_twice};

use super::bytes::{self, Encoding};
use super::format::Format;
use super::lines::Lines;
use super::op::{Edit, Op, PatchHunk};
use crate::proposal::{PlaceMatch, Rung};

/// Places an edit that changes a part of a text, without what stands there already. The error is for the model.
pub(super) fn edit(target: &TargetText, edit: &Edit) -> Result<Done, String> {
    let mut done = match &edit.op {
        Op::Replace { search, replace, .. } if edit.format == Format::BLOCKS => passage::block(target, search, replace),
        Op::Replace { search, replace, shape, all } => passage::place(target, search, replace, *shape, *all),
        Op::Hunks(hunks) => hunks::place(target, hunks),
        Op::Lines { start, end, expect, replace } => numbers::place(target, (*start, *end), expect, replace),
        Op::Definition { name, expect, text, .. } => {
            definition::place(target, edit.path.as_deref().unwrap_or_default(), name, expect, text)
        }
        Op::Write { .. }
        | Op::Overwrite { .. }
        | Op::Mode { .. }
        | Op::Delete
        | Op::DeleteText(_)
        | Op::Move { .. } => Err("this edit changes the whole file, not a part of it".to_string()),
    }?;
    if target.encoding != Encoding::Raw {
        splice::indent_with_tabs(&mut done, target.text, edit.path.as_deref().unwrap_or_default());
    }
    if done.found.rung != Rung::Inexact
        && let Some(lost) = guard::lost_by(target.text, &done)
    {
        done.found = PlaceMatch { rung: Rung::Inexact, detail: Some(lost.text()) };
    }
    // Of hunks each is looked at by itself.
    Ok(if let Op::Hunks(_) = edit.op { done } else { standing::without_standing(target.text, done) })
}

/// Returns whether a text is a diff of a file, without its header, that changes it.
pub(super) fn is_diff_of(old: &str, content: &str) -> bool {
    transcript::diff(old, content).is_some_and(|changed| changed.is_ok_and(|(new, _)| new != old))
}

/// Returns the text of a file that an edit makes although it speaks of changing one.
pub(super) fn fresh(op: &Op) -> Option<String> {
    match op {
        Op::Replace { search, replace, .. } if search.trim().is_empty() => Some(replace.clone()),
        Op::Hunks(hunks) => hunks::fresh(hunks),
        _ => None,
    }
}

/// Returns whether hunks remove a text to its last line.
pub(super) fn removes_all(hunks: &[PatchHunk], encoding: Encoding, text: &str) -> bool {
    let lines = Lines::new(text);
    let there = (0..lines.len()).map(|i| lines.content(i));
    let read = |line: &String| if encoding == Encoding::Raw { bytes::raw(line) } else { line.clone() };
    let bodies: Vec<String> = hunks.iter().flat_map(|h| &h.body).map(read).collect();
    let body = body::Body::strict(&bodies);
    body.after().is_empty() && there.eq(body.before())
}

impl Edit {
    /// Returns whether it may mean a file in another folder, where nothing is at its path: it changes a part of a file, or
    /// is a block with a whole one.
    pub fn is_within(&self) -> bool {
        self.is_of_part() || self.whole_block().is_some()
    }

    /// Returns whether it changes a part of a file, which must be there.
    pub(super) fn is_of_part(&self) -> bool {
        matches!(self.op, Op::Replace { .. } | Op::Lines { .. } | Op::Hunks(_)) && fresh(&self.op).is_none()
    }

    /// Returns the text of a block with a whole file.
    pub(super) fn whole_block(&self) -> Option<&str> {
        match &self.op {
            Op::Write { content } | Op::Overwrite { content } if self.format == Format::WHOLE => Some(content),
            _ => None,
        }
    }
}
