//! Edits whose effect stands since an earlier text of their file: what an answer only reports is not made again.

use std::ops::Range;
use std::sync::Arc;

use crate::edit::bytes::Encoding;
use crate::edit::lines::number;
use crate::edit::place::{self, Done, TargetText};
use crate::edit::{Edit, Op};
use crate::proposal::merge::has_change;
use crate::proposal::{Rung, changes, lines};

/// The changes that edits of a session made to one file before.
#[derive(Debug, Clone, Default)]
pub struct PastChanges {
    /// The texts that it had before them, newest last.
    pub texts: Vec<Arc<str>>,
    /// True if the last one deleted it.
    pub deleted: bool,
    /// The path to which the last one moved it.
    pub moved: Option<String>,
    /// True if one of them was made in the present turn.
    pub in_turn: bool,
}

/// Returns whether two operations are the same, whatever format they were written in.
pub(super) fn is_same(one: &Op, other: &Op) -> bool {
    match (one, other) {
        (
            Op::Replace { search, replace, all, .. },
            Op::Replace { search: other, replace: with, all: everywhere, .. },
        ) => all == everywhere && bare(search) == bare(other) && bare(replace) == bare(with),
        _ => one == other,
    }
}

/// Returns a text without the ending of its last line.
fn bare(text: &str) -> &str {
    text.strip_suffix('\n').unwrap_or(text)
}

/// Returns whether what an edit makes of one of the earlier texts stands in the present one. `found`: the edit as it would be
/// placed in that, which must be where the earlier text has it, and add lines that are there.
pub(super) fn stands_since<'t>(
    mut earlier: impl Iterator<Item = &'t str>,
    now: &str,
    (edit, encoding): (&Edit, Encoding),
    found: Option<&Done>,
) -> bool {
    if found.is_some_and(|found| !adds_what_is_there(now, found)) {
        return false;
    }
    earlier.any(|before| {
        let target = TargetText { text: before, encoding, base: before, steps: &[] };
        let Some(done) = place::edit(&target, edit).ok().filter(|done| done.found.rung != Rung::Inexact) else {
            return false;
        };
        let made = done.made(before);
        made != before
            && found.is_none_or(|found| is_same_place((before, &done), (now, found)))
            && has_change(before, &made, now)
    })
}

/// Returns whether the first change of an edit only adds something that is in the text already.
fn adds_what_is_there(text: &str, done: &Done) -> bool {
    let Some(first) = done.stages.first().and_then(|splices| splices.first()) else { return false };
    let (old, new) = (&text[first.range.clone()], first.new.as_str());
    let shared = |(a, b): &(char, char)| a == b;
    let front: usize = old.chars().zip(new.chars()).take_while(shared).map(|(c, _)| c.len_utf8()).sum();
    let back = old[front..].len();
    let added = new[front..].strip_suffix(&old[front..]).map(str::trim).unwrap_or_default();
    new.len() > front + back && added.chars().any(char::is_alphanumeric) && text.contains(added)
}

/// Returns whether an edit begins at the same line in two texts, or below the same line.
fn is_same_place((before, done): (&str, &Done), (now, found): (&str, &Done)) -> bool {
    let line = |text: &str, done: &Done| {
        done.stages.first().and_then(|splices| splices.first()).map(|splice| number(text, splice.range.start))
    };
    let (Some(from), Some(to)) = (line(before, done), line(now, found)) else { return false };
    let (Some(old), Some(new)) = (lines(before.as_bytes()), lines(now.as_bytes())) else { return false };
    let changed = changes(&old, &new);
    let is_kept = |above: usize| {
        let line = from.checked_sub(above + 1).and_then(|line| line_after(&changed, line));
        line.is_some() && line == to.checked_sub(above + 1)
    };
    is_kept(0) || is_kept(1)
}

/// Returns what has become of a line: its new number, from 0; none if it was changed.
fn line_after(changed: &[(Range<usize>, Range<usize>)], line: usize) -> Option<usize> {
    match changed.iter().rev().find(|(before, _)| before.start <= line) {
        Some((before, _)) if line < before.end => None,
        Some((before, after)) => Some(line - before.end + after.end),
        None => Some(line),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edit::{Format, SearchShape};

    fn stands(earlier: &str, now: &str, search: &str, replace: &str) -> bool {
        let op = Op::Replace { search: search.into(), replace: replace.into(), shape: SearchShape::Inline, all: false };
        let (edit, encoding) = (Edit::new("a", op, Format::TOOLS, "replaceInFile"), Encoding::Utf8 { bom: false });
        let target = TargetText { text: now, encoding, base: now, steps: &[] };
        let found = place::edit(&target, &edit).ok().filter(|done| done.found.rung != Rung::Inexact);
        stands_since([earlier].into_iter(), now, (&edit, encoding), found.as_ref())
    }

    #[test]
    fn what_was_made_of_an_earlier_text_stands() {
        // A removal, a replacement, and the first of two insertions at one place.
        assert!(stands("a\nb\nc\n", "a\nc\n", "b\n", ""));
        assert!(stands("one\ntwo\n", "1\ntwo\n", "one", "1"));
        let (search, replace) = ("import os\n", "import os\nimport sys\n");
        assert!(stands("import os\n\nf()\n", "import os\nimport re\nimport sys\n\nf()\n", search, replace));
        // It was taken back, or stands at another place.
        assert!(!stands("a\nb\nc\n", "a\nb\nc\nd\n", "b\n", ""));
        assert!(!stands("import os\n\nf()\n", "import os\n\nf()\nimport sys\n", search, replace));
        assert!(!stands("one\nx\n", "1\nx\none\n", "one", "1"), "another one came");
    }
}
