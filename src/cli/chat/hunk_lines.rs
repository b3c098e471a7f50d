//! A hunk as lines of text, and by the definition it changes.

use std::ops::Range;

use crate::messages::diff;
use crate::proposal::{FileChange, Hunk, HunkDefinition, HunkKind, State, changes, display_text, hidden, lines};
use crate::text::clean::{clean_line, numbered};
use crate::text::definition::{DefinitionChange, of_change};

/// Unchanged lines around a hunk.
pub const AROUND: usize = 2;
/// Definitions that the head of a hunk names.
const NAMED: usize = 4;

/// Returns a hunk's lines with their signs and numbers: `-  17   text`. What stays has the number that it will have.
pub fn lines_of(file: &FileChange, hunk: &Hunk) -> Vec<String> {
    // A hunk counts lines as they lie in the file, whatever their encoding.
    fn bytes(state: &State) -> Vec<&[u8]> {
        state.bytes().and_then(|bytes| lines(bytes)).unwrap_or_default()
    }
    fn text(state: &State) -> Vec<String> {
        let shown = state.bytes().and_then(|bytes| display_text(bytes)).unwrap_or_default();
        shown.split_inclusive('\n').map(|line| line.trim_end_matches(['\r', '\n']).to_string()).collect()
    }
    fn rows(out: &mut Vec<String>, sign: char, all: &[String], range: Range<usize>) {
        let numbered = (range.start + 1..).zip(all.get(range).unwrap_or_default());
        let shown = |text: &str| if sign == '+' { marked(text) } else { text.to_string() };
        out.extend(numbered.map(|(n, text)| format!("{sign} {n:>4}   {}", shown(text))));
    }
    let (old, new) = (bytes(&file.before), bytes(&file.after));
    let (before, after) = (text(&file.before), text(&file.after));
    let (from, to) = match hunk.kind {
        HunkKind::Lines => (hunk.before.clone(), hunk.after.clone()),
        HunkKind::Create | HunkKind::Delete => (0..old.len(), 0..new.len()),
        _ => return Vec::new(),
    };
    let mut out = Vec::new();
    let mut at = to.start.saturating_sub(AROUND);
    let runs = changes(old.get(from.clone()).unwrap_or_default(), new.get(to.clone()).unwrap_or_default());
    for (gone, come) in runs {
        rows(&mut out, ' ', &after, at..to.start + come.start);
        rows(&mut out, '-', &before, from.start + gone.start..from.start + gone.end);
        rows(&mut out, '+', &after, to.start + come.start..to.start + come.end);
        at = to.start + come.end;
    }
    rows(&mut out, ' ', &after, at..(to.end + AROUND).min(after.len()));
    out
}

/// Returns an added line with the letters that make it read differently by their numbers, as they are counted in the head
/// of its hunk.
fn marked(line: &str) -> String {
    let hiding = hidden(line);
    let one = |(at, c): (usize, char)| match hiding.binary_search(&(at, c)) {
        Ok(_) => numbered(c),
        Err(_) => c.to_string(),
    };
    line.char_indices().map(one).collect()
}

/// Returns the definitions that a hunk changes, and what becomes of each: `fn total, changed, fn sum, added`. Where they are
/// many, those that go come first and the rest is counted. None: none is known.
pub fn definitions(file: &FileChange, hunk: &Hunk) -> Option<String> {
    let words = |name: &str, change| format!("{}, {}", clean_line(name), diff::definition_change(change));
    if hunk.definitions.is_empty() {
        fn plain(state: &State) -> Vec<&str> {
            state.text().map(|text| text.lines().collect()).unwrap_or_default()
        }
        let (before, after) = (plain(&file.before), plain(&file.after));
        let of_lines = || of_change(&file.path, (&before, &hunk.before), (&after, &hunk.after));
        return (hunk.kind == HunkKind::Lines).then(of_lines).flatten().map(|(name, change)| words(&name, change));
    }
    let more = hunk.definitions.len().saturating_sub(NAMED);
    let part = |is_removed| {
        let is_of = move |one: &&HunkDefinition| (one.change == DefinitionChange::Removed) == is_removed;
        hunk.definitions.iter().filter(is_of)
    };
    let sorted: Vec<&HunkDefinition> = match more {
        0 => hunk.definitions.iter().collect(),
        _ => part(true).chain(part(false)).take(NAMED).collect(),
    };
    let named = sorted.iter().map(|one| words(&one.name, one.change)).collect::<Vec<_>>().join(", ");
    Some(if more > 0 { diff::more_definitions(more, &named) } else { named })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_definition_of_a_hunk_is_named_and_of_many_those_that_go() {
        let (before, after) = (State::file(&b"1\n"[..]), State::file(&b"2\n"[..]));
        let mut file = FileChange::new("a.rs", before, after, "edit", &[]);
        assert_eq!(definitions(&file, &file.hunks[0]), None);
        let one = |name: &str, change| HunkDefinition { name: name.into(), change };
        let changed = |n: usize| one(&format!("fn f{n}"), DefinitionChange::Changed);
        file.hunks[0].definitions = vec![changed(1), one("fn b", DefinitionChange::New)];
        assert_eq!(definitions(&file, &file.hunks[0]).as_deref(), Some("fn f1, changed, fn b, added"));
        file.hunks[0].definitions = (1..6).map(changed).chain([one("fn b", DefinitionChange::Removed)]).collect();
        let many = "fn b, removed, fn f1, changed, fn f2, changed, fn f3, changed and 2 more";
        assert_eq!(definitions(&file, &file.hunks[0]).as_deref(), Some(many));
    }

    #[test]
    fn what_hides_in_an_added_line_is_shown_by_its_number() {
        let after = State::file("p\u{430}y\u{202e} день\n".as_bytes().to_vec());
        let file = FileChange::new("a.txt", State::file("p\u{430}x\n".as_bytes().to_vec()), after, "edit", &[]);
        assert_eq!(lines_of(&file, &file.hunks[0]), ["-    1   pаx", "+    1   p⟨U+0430⟩y⟨U+202E⟩ день"]);
    }

    #[test]
    fn lines_that_stay_have_the_numbers_they_will_have() {
        let file = FileChange::new("a.txt", State::file(*b"a\nb\nc\n"), State::file(*b"a\nx\ny\nc\n"), "edit", &[]);
        let lines = lines_of(&file, &file.hunks[0]);
        assert_eq!(lines, ["     1   a", "-    2   b", "+    2   x", "+    3   y", "     4   c"]);
        let file = FileChange::new("a.txt", State::file(*b"a\nb\nc\nd"), State::file(*b"A\nb\nC\n"), "edit", &[]);
        let lines = lines_of(&file, &file.hunks[0]);
        assert_eq!(lines, ["-    1   a", "+    1   A", "     2   b", "-    3   c", "-    4   d", "+    3   C"]);
    }

    #[test]
    fn lines_of_another_encoding_are_shown_as_far_as_they_can_be() {
        let latin = |tenth: &[u8]| [b"caf\xe9\n".repeat(9), tenth.to_vec(), b"\nend\n".to_vec()].concat();
        let file = FileChange::new("a", State::file(latin(b"\xe9")), State::file(latin(b"\xe8")), "edit", &[]);
        let lines = lines_of(&file, &file.hunks[0]);
        assert_eq!(lines[2..4], ["-   10   \u{fffd}", "+   10   \u{fffd}"], "{lines:?}");
        let wide = |text: &str| {
            [&[0xff, 0xfe][..], &text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<_>>()].concat()
        };
        let file = FileChange::new("a", State::file(wide("a\nb\n")), State::file(wide("a\nc\n")), "edit", &[]);
        assert_eq!(lines_of(&file, &file.hunks[0]), ["     1   a", "-    2   b", "+    2   c"]);
    }
}
