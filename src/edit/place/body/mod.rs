//! The lines of a hunk: unchanged, removed and added.

pub(super) mod blanks;
pub(super) mod near;

use std::collections::HashSet;

use crate::edit::lines::Lines;
use crate::edit::locate::folded_line;
use crate::proposal::Rung;

/// The kind of a line in a hunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LineKind {
    Stays,
    Goes,
    Comes,
}

/// A hunk's lines without their prefixes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Body<'a> {
    pub lines: Vec<(LineKind, &'a str)>,
    /// True if `\ No newline at end of file` stands under the last line before, and after.
    pub unended: [bool; 2],
}

impl<'a> Body<'a> {
    /// Reads a hunk to the letter: the first character of each line is its prefix; a line without a prefix stays.
    pub fn strict(body: &'a [String]) -> Self {
        Body::read(body, |line| line.strip_prefix(' ').unwrap_or(line))
    }

    /// Reads a hunk leniently: whether a leading space is a prefix or indentation is decided by the file.
    pub fn lenient(body: &'a [String], text: &str) -> Self {
        let lines = Lines::new(text);
        let there: HashSet<&str> = (0..lines.len()).map(|i| lines.content(i).trim_end()).collect();
        let bare: Vec<Option<bool>> = body.iter().map(|line| prefixed(line, &there)).collect();
        let mut at = 0;
        let mut guess = bare.iter().flatten().next().copied().unwrap_or(true);
        let reader = |line: &'a str| {
            // `read` takes every line without another prefix, in order.
            while !stays(&body[at]) {
                at += 1;
            }
            let strip = bare[at].unwrap_or(guess);
            if line.starts_with("  ") || line.starts_with(" \t") || line.starts_with('\t') {
                guess = bare[at].unwrap_or(guess);
            }
            at += 1;
            let blank = line.trim().is_empty();
            if strip || blank { line.strip_prefix(' ').unwrap_or(line) } else { line }
        };
        Body::read(body, reader)
    }

    fn read(body: &'a [String], mut stay: impl FnMut(&'a str) -> &'a str) -> Self {
        let mut lines: Vec<(LineKind, &str)> = Vec::with_capacity(body.len());
        let mut unended = [false; 2];
        for line in body {
            match line.as_bytes().first() {
                Some(b'+') => lines.push((LineKind::Comes, &line[1..])),
                Some(b'-') => lines.push((LineKind::Goes, &line[1..])),
                Some(b'\\') if !stays(line) => match lines.last() {
                    Some((LineKind::Goes, _)) => unended[0] = true,
                    Some((LineKind::Comes, _)) => unended[1] = true,
                    _ => unended = [true; 2],
                },
                _ => lines.push((LineKind::Stays, stay(line))),
            }
        }
        Body { lines, unended }
    }

    /// Returns the lines of one side.
    pub fn side(&self, other: LineKind) -> Vec<&'a str> {
        self.lines.iter().filter(|(kind, _)| *kind != other).map(|(_, line)| *line).collect()
    }

    pub fn before(&self) -> Vec<&'a str> {
        self.side(LineKind::Comes)
    }

    pub fn after(&self) -> Vec<&'a str> {
        self.side(LineKind::Goes)
    }

    /// Returns whether some line goes or comes.
    pub fn changes(&self) -> bool {
        self.lines.iter().any(|(kind, _)| *kind != LineKind::Stays)
    }
}

/// Returns whether a line has none of the prefixes `+`, `-` and `\ No newline`.
fn stays(line: &str) -> bool {
    !(line.starts_with(['+', '-']) || line.starts_with("\\ No newline") || line.starts_with("\\ no newline"))
}

/// Returns whether the line's leading space is a prefix, if the file tells.
fn prefixed(line: &str, there: &HashSet<&str>) -> Option<bool> {
    if !stays(line) || !line.starts_with([' ', '\t']) || folded_line(line, Rung::Indentation).is_empty() {
        return None;
    }
    let line = line.trim_end();
    let stripped = line.strip_prefix(' ');
    match (there.contains(line), stripped.is_some_and(|l| there.contains(l))) {
        (true, false) => Some(false),
        (false, true) => Some(true),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<String> {
        text.split('\n').map(str::to_string).collect()
    }

    #[test]
    fn a_forgotten_prefix_is_seen_from_the_file() {
        let body = lines(" fn a() {\n    one();\n-    two();\n+    three();\n    four();\n }");
        let file = "fn a() {\n    one();\n    two();\n}\n";
        let read = Body::lenient(&body, file);
        assert_eq!(read.before(), ["fn a() {", "    one();", "    two();", "    four();", "}"]);
        let strict = lines(" fn a() {\n     one();\n     four();\n }");
        assert_eq!(Body::lenient(&strict, file).before(), ["fn a() {", "    one();", "    four();", "}"]);
    }
}
