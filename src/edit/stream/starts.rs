//! The forms that a line of an edit can begin. Every question has two forms: what a whole line is, and what the
//! beginning of a line may yet become. The second must hold for every beginning of a line for which the first says yes;
//! then the answer does not depend on how the text was cut.

use super::paths::{is_path, slashed};
use super::pieces::KnownFile;
use crate::edit::path::{bare, line_range};

/// The first bytes of a line say what it is.
pub(in crate::edit) const HEAD: usize = 400;

/// A fence's opening line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::edit) struct Fence {
    pub mark: char,
    pub length: usize,
    pub indent: usize,
    pub info: String,
}

impl Fence {
    pub fn open(line: &str) -> Option<Fence> {
        let text = line.trim_start_matches([' ', '\t']);
        let mark = text.chars().next().filter(|c| matches!(c, '`' | '~'))?;
        let length = text.chars().take_while(|c| *c == mark).count();
        let info = text[length..].trim();
        // A line with more of the mark after it is inline code.
        let fits = length >= 3 && !info.contains('`');
        fits.then(|| Fence { mark, length, indent: line.len() - text.len(), info: info.to_string() })
    }

    /// Returns whether the line closes this fence.
    pub fn closed_by(&self, line: &str) -> bool {
        Fence::open(line).is_some_and(|f| self.like(&f) && f.info.is_empty())
    }

    /// Returns whether the line opens a fence inside this one.
    pub fn opened_by(&self, line: &str) -> bool {
        Fence::open(line).is_some_and(|f| self.like(&f) && !f.info.is_empty())
    }

    /// Returns whether the other fence, without an info string, would close this one.
    pub fn like(&self, other: &Fence) -> bool {
        other.mark == self.mark && other.length >= self.length && other.indent <= self.indent + 3
    }

    /// Returns whether the beginning of a line may become a fence of this mark.
    pub fn may(partial: &str) -> bool {
        let text = partial.trim_start_matches([' ', '\t']);
        match text.chars().next() {
            None => true,
            Some(mark @ ('`' | '~')) => {
                let length = text.chars().take_while(|c| *c == mark).count();
                length == text.len() || (length >= 3 && !text[length..].contains('`'))
            }
            Some(_) => false,
        }
    }

    /// Returns the language in small letters.
    pub fn language(&self) -> String {
        language(&self.info)
    }

    /// Returns a path in the info string: `python title="a.py"`, `python:a.py`, `python a.py`, `src/a.py`.
    pub fn path(&self, known: &[KnownFile]) -> Option<String> {
        let titled = ["title=", "path=", "file=", "filename="].iter().find_map(|key| {
            let value = self.info.split_once(key)?.1;
            match value.chars().next().filter(|c| matches!(c, '"' | '\'')) {
                Some(quote) => value[1..].split(quote).next(),
                None => value.split([' ', ',', '}']).next(),
            }
        });
        titled.map(bare).map(str::to_string).or_else(|| {
            let parts = self.info.split_whitespace().map(without_lines).flat_map(|word| word.splitn(2, ':'));
            parts.map(bare).map(slashed).find(|part| is_path(part, known)).map(std::borrow::Cow::into_owned)
        })
    }
}

/// Returns the language that the text behind a fence begins with, in small letters.
pub(in crate::edit) fn language(info: &str) -> String {
    info.split([' ', '\t', ':', ',', '{']).next().unwrap_or_default().to_lowercase()
}

/// Returns the path in `8:43:a.py`, which names lines first.
fn without_lines(word: &str) -> &str {
    let quoted = word.starts_with(|c: char| c.is_ascii_digit()) && line_range(word).is_some();
    word.rsplit_once(':').filter(|_| quoted).map_or(word, |(_, path)| path)
}

/// A line that begins an edit by itself.
#[derive(Debug, Clone, Copy)]
pub(in crate::edit) struct LineMark {
    /// Returns whether a whole line is one.
    pub is: fn(&str) -> bool,
    /// Returns whether the beginning of a line may become one.
    pub may_be: fn(&str) -> bool,
}

/// Returns a line inside a fence without the indentation the fence has.
pub(in crate::edit) fn dedented(line: &str, indent: usize) -> &str {
    &line[line.bytes().take(indent).take_while(|b| *b == b' ').count()..]
}

/// Parses `<<<<<<< SEARCH` or `------- SEARCH`, and a path behind it if there is one; a bare `<<<<<<<` too.
pub(in crate::edit) fn search_mark(line: &str) -> Option<&str> {
    let text = line.trim();
    let marks = marks(text, [b'<', b'-']);
    let rest = text[marks..].trim_start();
    if rest.is_empty() && text.starts_with('<') && (5..=9).contains(&marks) {
        return Some(rest);
    }
    let word =
        ["SEARCH", "ORIGINAL"].iter().find(|w| rest.get(..w.len()).is_some_and(|r| r.eq_ignore_ascii_case(w)))?;
    ((5..=9).contains(&marks)).then(|| rest[word.len()..].trim_start_matches(':').trim())
}

/// Returns how many of the same mark a text begins with.
pub(in crate::edit) fn marks(text: &str, of: [u8; 2]) -> usize {
    let first = text.bytes().next().filter(|b| of.contains(b));
    first.map_or(0, |mark| text.bytes().take_while(|b| *b == mark).count())
}

/// Returns whether the beginning of a line may become `<<<<<<< SEARCH`.
pub(in crate::edit) fn may_be_search(partial: &str) -> bool {
    let text = partial.trim_start();
    let marks = marks(text, [b'<', b'-']);
    if marks > 9 || (marks < 5 && marks < text.len()) {
        return false;
    }
    let rest = text[marks..].trim_start();
    ["SEARCH", "ORIGINAL"].iter().any(|w| {
        let shared = rest.len().min(w.len());
        rest.is_char_boundary(shared) && rest[..shared].eq_ignore_ascii_case(&w[..shared])
    })
}

/// Returns whether a line is `=======`.
pub(in crate::edit) fn is_divider(line: &str) -> bool {
    let text = line.trim_end();
    (5..=9).contains(&text.len()) && text.bytes().all(|b| b == b'=')
}

/// Returns whether a line is `>>>>>>> REPLACE` or `+++++++ REPLACE`.
pub(in crate::edit) fn is_replace_mark(line: &str) -> bool {
    let text = line.trim();
    let marks = marks(text, [b'>', b'+']);
    let rest = text[marks..].trim_start().to_ascii_uppercase();
    let named = rest.starts_with("REPLACE") || rest.starts_with("UPDATED");
    (5..=9).contains(&marks) && (named || (rest.is_empty() && text.starts_with('>')))
}

/// The beginnings of lines that begin a patch by themselves.
const PATCH: [&str; 5] = ["*** Begin Patch", "*** Update File:", "*** Add File:", "*** Delete File:", "diff --git "];

/// A line of the `*** Begin Patch` envelope.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::edit) enum Mark<'t> {
    Begin,
    End,
    EndOfFile,
    Update(&'t str),
    Add(&'t str),
    Delete(&'t str),
    MoveTo(&'t str),
}

impl Mark<'_> {
    /// Returns what the line says, if it is one of the envelope.
    pub fn of(line: &str) -> Option<Mark<'_>> {
        let word = line.trim_end().strip_prefix("*** ")?;
        let path = |name: &str| word.strip_prefix(name).map(str::trim);
        match word {
            "Begin Patch" => Some(Mark::Begin),
            "End Patch" => Some(Mark::End),
            "End of File" => Some(Mark::EndOfFile),
            _ => path("Update File:")
                .map(Mark::Update)
                .or_else(|| path("Add File:").map(Mark::Add))
                .or_else(|| path("Delete File:").map(Mark::Delete))
                .or_else(|| path("Move to:").map(Mark::MoveTo)),
        }
    }
}

/// Returns whether the line begins a patch.
pub(in crate::edit) fn is_patch(line: &str) -> bool {
    line.starts_with("diff --git ")
        || matches!(Mark::of(line), Some(Mark::Begin | Mark::Update(_) | Mark::Add(_) | Mark::Delete(_)))
}

/// Returns whether the beginning of a line may come to begin a patch.
pub(in crate::edit) fn may_be_patch(partial: &str) -> bool {
    // The first byte decides for most lines.
    partial.as_bytes().first().is_none_or(|b| matches!(b, b'*' | b'd'))
        && PATCH.iter().any(|p| p.starts_with(partial) || partial.starts_with(p))
}

/// Returns whether the header of a patch without the line of `git` or of the envelope begins with this line; `None` if
/// the line below it must be seen first. Both may be in a fence that is indented.
pub(in crate::edit) fn is_header(line: &str, below: &str, indent: usize, ended: bool) -> Option<bool> {
    if !line.starts_with("--- ") {
        return Some(false);
    }
    if below.len() < indent && below.trim().is_empty() && !ended {
        return None;
    }
    let below: String = dedented(below, indent).chars().take(4).collect();
    if below != "+++ " && "+++ ".starts_with(&below) && !ended {
        return None;
    }
    Some(below == "+++ ")
}

/// Returns the beginning of a text, by which it is known.
pub(in crate::edit) fn head(text: &str) -> &str {
    &text[..char_floor(text, HEAD)]
}

/// Returns the last place at or before `at` where a character begins.
pub(in crate::edit) fn char_floor(text: &str, at: usize) -> usize {
    (0..=at.min(text.len())).rev().find(|i| text.is_char_boundary(*i)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn beginnings_of_marks_may_become_marks() {
        for line in ["<<<<<<< SEARCH", "------- SEARCH", "<<<<< search", "  <<<<<<< ORIGINAL a.rs"] {
            assert!(search_mark(line).is_some(), "{line}");
            for (at, _) in line.char_indices() {
                assert!(may_be_search(&line[..at]), "{line} up to {at}");
            }
        }
        assert!(search_mark("------- SEARCH").is_some() && search_mark("- SEARCH").is_none());
        assert!(may_be_search("------- SEA") && !may_be_search("- SEA"));
        assert!(!may_be_search("<<a"));
        assert!(!may_be_search("<<<<<<< HEAD"));
    }
}
