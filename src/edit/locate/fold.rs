//! The differences that each rung ignores: texts and lines in the form in which they are compared.

use std::borrow::Cow;

use icu_normalizer::properties::{CanonicalDecompositionBorrowed, Decomposed};

use crate::proposal::Rung;

/// Returns whether a character is indentation or trailing space.
pub(super) fn is_space(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\r' | '\u{b}' | '\u{c}')
}

/// Returns a line as the rung compares it. Each rung keeps the tolerance of those before.
pub(in crate::edit) fn line(content: &str, rung: Rung) -> Cow<'_, str> {
    match rung {
        Rung::Exact | Rung::LineEndings => Cow::Borrowed(content),
        Rung::TrailingSpace => Cow::Borrowed(content.trim_end_matches(is_space)),
        Rung::Indentation => Cow::Borrowed(content.trim_matches(is_space)),
        Rung::LookAlikes | Rung::Elided | Rung::Inexact => {
            if content.is_ascii() {
                return Cow::Borrowed(content.trim_matches(is_space));
            }
            let mut folded = String::with_capacity(content.len());
            content.chars().for_each(|c| fold(c, &mut folded));
            Cow::Owned(folded.trim_matches(is_space).to_string())
        }
    }
}

/// Returns the white space in front of a line.
pub(in crate::edit) fn indent(content: &str) -> &str {
    &content[..content.len() - content.trim_start_matches(|c| is_space(c) || is_wide_space(c)).len()]
}

fn is_wide_space(c: char) -> bool {
    matches!(c, '\u{a0}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}')
}

fn fold(c: char, out: &mut String) {
    match c {
        '\u{201c}' | '\u{201d}' | '\u{201e}' | '\u{201f}' | '\u{2033}' | '\u{ff02}' => out.push('"'),
        '\u{2018}' | '\u{2019}' | '\u{201a}' | '\u{201b}' | '\u{2032}' | '\u{ff07}' => out.push('\''),
        '\u{2010}'..='\u{2015}' | '\u{2212}' | '\u{fe58}' | '\u{fe63}' | '\u{ff0d}' => out.push('-'),
        '\u{2026}' => out.push_str("..."),
        '\u{200b}' | '\u{2060}' | '\u{feff}' => {}
        c if is_wide_space(c) => out.push(' '),
        c if c < FIRST_COMPOSED => out.push(c),
        c => decompose(c, out),
    }
}

/// Returns a text in which the look-alikes of a search text are the ASCII characters that a passage has in their place, where that
/// is the same one everywhere.
pub(in crate::edit) fn with_plain(searched: &str, passage: &str, new: &str) -> Option<String> {
    let folded = |c: char| {
        let mut out = String::new();
        fold(c, &mut out);
        out
    };
    let mut plain: Vec<(char, &str)> = Vec::new();
    let (theirs, mut own) = (searched.trim_matches(is_space).chars(), passage.trim_matches(is_space));
    for c in theirs {
        let form = folded(c);
        let there = if own.starts_with(c) {
            c.len_utf8()
        } else if own.starts_with(&form) {
            plain.push((c, &own[..form.len()]));
            form.len()
        } else {
            // The passage has another look-alike, or other space around its lines.
            let other = own.chars().next().filter(|other| folded(*other) == form)?;
            plain.push((c, &own[..other.len_utf8()]));
            other.len_utf8()
        };
        own = &own[there..];
    }
    let is_one = |(c, to): &(char, &str)| {
        let is_plain = !c.is_ascii() && to.is_ascii() && !passage.contains(*c);
        is_plain && plain.iter().all(|(other, own)| other != c || own == to)
    };
    let plain: Vec<(char, &str)> = plain.iter().copied().filter(is_one).collect();
    let of = |c: char| plain.iter().find(|(own, _)| *own == c).map(|(_, to)| *to);
    let is_changed = new.chars().any(|c| of(c).is_some());
    is_changed.then(|| {
        new.chars().fold(String::with_capacity(new.len()), |mut text, c| {
            match of(c) {
                Some(to) => text.push_str(to),
                None => text.push(c),
            }
            text
        })
    })
}

/// No character before it is composed of others.
const FIRST_COMPOSED: char = '\u{c0}';

/// Splits a composed character into those it stands for, as some systems write it: `が` as `か` and its mark.
fn decompose(c: char, out: &mut String) {
    const PARTS: CanonicalDecompositionBorrowed<'static> = CanonicalDecompositionBorrowed::new();
    match PARTS.decompose(c) {
        Decomposed::Default => out.push(c),
        Decomposed::Singleton(one) => decompose(one, out),
        Decomposed::Expansion(first, mark) => {
            decompose(first, out);
            out.push(mark);
        }
    }
}

/// Returns whether a character is a mark on the one before it.
pub(super) fn is_mark(c: char) -> bool {
    matches!(c,
        '\u{300}'..='\u{36f}' | '\u{1ab0}'..='\u{1aff}' | '\u{1dc0}'..='\u{1dff}' | '\u{20d0}'..='\u{20ff}'
        | '\u{3099}' | '\u{309a}' | '\u{1160}'..='\u{11ff}')
}

/// A text in the form the rung compares, with the way back to its own offsets.
pub(super) struct Folded {
    pub text: String,
    /// The position in the original of each byte of `text`, and one more for the end.
    map: Vec<usize>,
}

impl Folded {
    /// Returns the original's bytes behind a range of the folded text. White space that was overlooked at its end is
    /// not among them.
    pub fn original(&self, range: std::ops::Range<usize>) -> std::ops::Range<usize> {
        let start = self.map[range.start];
        // The end of the last character, not the start of the next: what was overlooked between them stays.
        start..self.map[range.end]
    }
}

/// Returns the whole text without what the rung overlooks inside and between lines (indentation is not among it). Only
/// [`Rung::LineEndings`], [`Rung::TrailingSpace`] and [`Rung::LookAlikes`] make sense here.
pub(super) fn text(original: &str, rung: Rung) -> Folded {
    let mut folded =
        Folded { text: String::with_capacity(original.len()), map: Vec::with_capacity(original.len() + 1) };
    let (trailing, alike) = (rung >= Rung::TrailingSpace, rung >= Rung::LookAlikes);
    let mut chars = original.char_indices().peekable();
    // Up to here white space is known to stand inside of a line.
    let mut inside = 0;
    while let Some((at, c)) = chars.next() {
        let from = folded.text.len();
        match c {
            '\r' => {
                chars.next_if(|(_, next)| *next == '\n');
                folded.text.push('\n');
            }
            ' ' | '\t' if trailing && at >= inside => {
                let run = &original[at..];
                let rest = run.trim_start_matches([' ', '\t']);
                inside = at + run.len() - rest.len();
                if matches!(rest.as_bytes(), [] | [b'\n' | b'\r', ..]) {
                    while chars.next_if(|(next, _)| *next < inside).is_some() {}
                } else {
                    folded.text.push(c);
                }
            }
            c if alike => fold(c, &mut folded.text),
            c => folded.text.push(c),
        }
        folded.map.extend(std::iter::repeat_n(at, folded.text.len() - from));
    }
    folded.map.push(original.len());
    folded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn composed_and_decomposed_characters_are_equal() {
        let (composed, apart) = ("が é 각 Å", "か\u{3099} e\u{301} \u{1100}\u{1161}\u{11a8} A\u{30a}");
        assert_eq!(line(composed, Rung::LookAlikes), line(apart, Rung::LookAlikes));
        let folded = text(composed, Rung::LookAlikes);
        let at = folded.text.find('e').unwrap();
        assert_eq!(&composed[folded.original(at..at + 3)], "é");
    }

    #[test]
    fn offsets_lead_back() {
        let original = "a  \r\nb \u{201c}c\u{201d}\r\n";
        let folded = text(original, Rung::LookAlikes);
        assert_eq!(folded.text, "a\nb \"c\"\n");
        let at = folded.text.find("\"c\"").unwrap();
        assert_eq!(&original[folded.original(at..at + 3)], "\u{201c}c\u{201d}");
    }
}
