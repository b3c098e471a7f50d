//! A hunk as lines of text.

use crate::proposal::{FileChange, Hunk, HunkKind, State, changes};

/// Unchanged lines around a hunk.
pub const AROUND: usize = 2;

/// Returns a hunk's lines with their signs and numbers: `-  17   text`. What stays has the number that it will have.
pub fn lines_of(file: &FileChange, hunk: &Hunk) -> Vec<String> {
    fn text(state: &State) -> Vec<&str> {
        // With their ends: a last line that loses its own has changed.
        state.text().map(|text| text.split_inclusive('\n').collect()).unwrap_or_default()
    }
    fn bytes<'t>(lines: &[&'t str]) -> Vec<&'t [u8]> {
        lines.iter().map(|line| line.as_bytes()).collect()
    }
    fn rows<'t>(out: &mut Vec<String>, sign: char, first: usize, lines: impl IntoIterator<Item = &'t &'t str>) {
        let numbered = (first + 1..).zip(lines);
        out.extend(numbered.map(|(n, text)| format!("{sign} {n:>4}   {}", text.trim_end_matches(['\r', '\n']))));
    }
    let (before, after) = (text(&file.before), text(&file.after));
    let (from, to) = match hunk.kind {
        HunkKind::Lines => (hunk.before.clone(), hunk.after.clone()),
        HunkKind::Create | HunkKind::Delete => (0..before.len(), 0..after.len()),
        _ => return Vec::new(),
    };
    let (from, to) = (from.start..from.end.min(before.len()), to.start..to.end.min(after.len()));
    let mut out = Vec::new();
    let mut at = to.start.saturating_sub(AROUND);
    let (old, new) = (bytes(&before[from.clone()]), bytes(&after[to.clone()]));
    for (gone, come) in changes(&old, &new) {
        rows(&mut out, ' ', at, &after[at..to.start + come.start]);
        rows(&mut out, '-', from.start + gone.start, &before[from.start + gone.start..from.start + gone.end]);
        rows(&mut out, '+', to.start + come.start, &after[to.start + come.start..to.start + come.end]);
        at = to.start + come.end;
    }
    rows(&mut out, ' ', at, &after[at..(to.end + AROUND).min(after.len())]);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_stay_have_the_numbers_they_will_have() {
        let file = FileChange::new("a.txt", State::file(*b"a\nb\nc\n"), State::file(*b"a\nx\ny\nc\n"), "edit", &[]);
        let lines = lines_of(&file, &file.hunks[0]);
        assert_eq!(lines, ["     1   a", "-    2   b", "+    2   x", "+    3   y", "     4   c"]);
        let file = FileChange::new("a.txt", State::file(*b"a\nb\nc\nd"), State::file(*b"A\nb\nC\n"), "edit", &[]);
        let lines = lines_of(&file, &file.hunks[0]);
        assert_eq!(lines, ["-    1   a", "+    1   A", "     2   b", "-    3   c", "-    4   d", "+    3   C"]);
    }
}
