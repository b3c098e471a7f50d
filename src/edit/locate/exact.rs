//! The first rung: byte for byte.

use std::ops::Range;

use memchr::memmem;

use super::fold;
use super::search::SearchShape;

/// Returns the places of `needle`, at most `limit`. Places of whole lines may overlap (each is a candidate); inline
/// ones are counted likewise, so that `aa` in `aaa` is two places and therefore none.
pub(super) fn find(text: &str, needle: &str, shape: SearchShape, limit: usize) -> Vec<Range<usize>> {
    find_where(text, needle, limit, |range| fits(text, range, shape))
}

fn find_where(text: &str, needle: &str, limit: usize, fits: impl Fn(&Range<usize>) -> bool) -> Vec<Range<usize>> {
    let (hay, pin) = (text.as_bytes(), needle.as_bytes());
    let finder = memmem::Finder::new(pin);
    let step = needle.chars().next().map_or(1, char::len_utf8);
    let (mut places, mut from) = (Vec::new(), 0);
    while places.len() < limit
        && let Some(at) = finder.find(&hay[from..])
    {
        let range = from + at..from + at + pin.len();
        from = range.start + step;
        if fits(&range) {
            places.push(range);
        }
    }
    places
}

/// Returns the places of `needle` inside of words too.
pub(super) fn find_in_words(text: &str, needle: &str, limit: usize) -> Vec<Range<usize>> {
    find_where(text, needle, limit, |range| !splits_mark(text, range))
}

/// Returns whether a match ends between a letter and its mark: か of か\u{3099} is another letter.
fn splits_mark(text: &str, range: &Range<usize>) -> bool {
    text[range.end..].chars().next().is_some_and(fold::is_mark)
}

/// Returns whether a match stands where its shape allows: between line ends, or at word boundaries.
pub(in crate::edit) fn fits(text: &str, range: &Range<usize>, shape: SearchShape) -> bool {
    match shape {
        SearchShape::Lines => starts_line(text, range.start) && ends_line(text, range.end),
        SearchShape::Inline | SearchShape::Literal => {
            let within = &text[range.clone()];
            let parted = |a: Option<char>, b: Option<char>| !(a.is_some_and(is_word) && b.is_some_and(is_word));
            parted(text[..range.start].chars().next_back(), within.chars().next())
                && parted(within.chars().next_back(), text[range.end..].chars().next())
                && !splits_mark(text, range)
        }
    }
}

fn starts_line(text: &str, at: usize) -> bool {
    at == 0 || matches!(text.as_bytes()[at - 1], b'\n') || (text.as_bytes()[at - 1] == b'\r' && lone_cr(text))
}

fn ends_line(text: &str, at: usize) -> bool {
    match text.as_bytes()[at..] {
        [] | [b'\n', ..] | [b'\r', b'\n', ..] => true,
        [b'\r', ..] => lone_cr(text),
        _ => false,
    }
}

fn lone_cr(text: &str) -> bool {
    memchr::memchr(b'\n', text.as_bytes()).is_none()
}

/// Returns whether a character joins with its neighbours to a word. Scripts that write words without spaces between
/// them have no boundaries to ask for.
pub(super) fn is_word(c: char) -> bool {
    let unspaced = matches!(c as u32,
        0x0E00..=0x0EFF | 0x1000..=0x109F | 0x1780..=0x17FF | 0x2E80..=0x9FFF | 0xA000..=0xA4CF
        | 0xAC00..=0xD7AF | 0xF900..=0xFAFF | 0xFF66..=0xFF9F | 0x20000..=0x3FFFF);
    c == '_' || (c.is_alphanumeric() && !unspaced)
}
