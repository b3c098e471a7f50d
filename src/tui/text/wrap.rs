//! Breaking text into lines of a width: at spaces and between wide characters, with the rules of Japanese
//! typesetting for what may not begin or end a line.

use std::ops::Range;

use ratatui::text::{Line, Span};
use unicode_segmentation::UnicodeSegmentation;

use crate::text::width::is_printable;

pub use crate::text::width::cells;

/// Returns the lines of `text` at `width` cells, as byte ranges: white space at a break belongs to no line. There is
/// always one line, and every line holds at least one grapheme.
///
/// `text` is one logical line: newlines are not looked for.
pub fn breaks(text: &str, width: usize) -> Vec<Range<usize>> {
    let mut lines = Vec::new();
    if is_printable(text) {
        ascii_breaks(text.as_bytes(), width.max(1), &mut lines);
    } else {
        wide_breaks(text, width.max(1), &mut lines);
    }
    lines
}

/// Wraps a styled line to `width` cells, each span keeping its style.
pub fn wrap(spans: &[Span<'_>], width: usize) -> Vec<Line<'static>> {
    let text: String = spans.iter().map(|s| s.content.as_ref()).collect();
    breaks(&text, width).into_iter().map(|range| slice(spans, range)).collect()
}

/// Returns the part of a styled line in a byte range of its text.
pub fn slice(spans: &[Span<'_>], range: Range<usize>) -> Line<'static> {
    let (mut line, mut at) = (Line::default(), 0);
    for span in spans {
        let (from, to) = (range.start.max(at), range.end.min(at + span.content.len()));
        if from < to {
            line.spans.push(Span::styled(span.content[from - at..to - at].to_string(), span.style));
        }
        at += span.content.len();
        if at >= range.end {
            break;
        }
    }
    line
}

fn ascii_breaks(text: &[u8], width: usize, lines: &mut Vec<Range<usize>>) {
    let mut start = 0;
    while text.len() - start > width {
        let window = &text[start..=start + width];
        // The break is the last run of spaces that ends at or before the cell after the edge.
        match window.iter().rposition(|b| *b == b' ') {
            Some(space) => {
                let end = text[start..start + space].iter().rposition(|b| *b != b' ').map_or(0, |i| i + 1);
                let next =
                    text[start + space..].iter().position(|b| *b != b' ').map_or(text.len(), |i| start + space + i);
                if end == 0 && next < text.len() && next - start < width {
                    // Only the indentation fits before the word: cut the word at the edge.
                    lines.push(start..start + width);
                    start += width;
                } else {
                    lines.push(start..start + end);
                    start = next;
                    if start == text.len() {
                        return;
                    }
                }
            }
            None => {
                lines.push(start..start + width);
                start += width;
            }
        }
    }
    lines.push(start..text.len());
}

fn wide_breaks(text: &str, width: usize, lines: &mut Vec<Range<usize>>) {
    let (mut start, mut used) = (0, 0);
    // Where this line may end and the next begin, and the cells used up to the latter.
    let mut chance: Option<(usize, usize, usize)> = None;
    let mut before: Option<(&str, usize)> = None;
    let (mut word_end, mut in_space) = (0, false);
    for (at, grapheme) in text.grapheme_indices(true) {
        let wide = cells(grapheme);
        if is_space(grapheme) {
            if !in_space {
                (word_end, in_space) = (at, true);
            }
            used += wide;
            before = Some((grapheme, wide));
            continue;
        }
        if in_space {
            in_space = false;
            if word_end > start {
                chance = Some((word_end, at, used));
            }
        } else if may_break(before, (grapheme, wide)) && at > start {
            chance = Some((at, at, used));
        }
        if used + wide > width && at > start {
            let (end, next, gone) = chance.unwrap_or((at, at, used));
            lines.push(start..end);
            (start, used, chance) = (next, used - gone, None);
            // A word longer than a line is cut wherever the edge falls.
            if used + wide > width && at > start {
                lines.push(start..at);
                (start, used) = (at, 0);
            }
        }
        used += wide;
        before = Some((grapheme, wide));
    }
    let end = if in_space && used > width && word_end > start { word_end } else { text.len() };
    lines.push(start..end);
}

fn is_space(grapheme: &str) -> bool {
    grapheme == " " || grapheme == "\u{3000}"
}

/// Returns whether a line may end between two neighbours that are no spaces.
fn may_break(before: Option<(&str, usize)>, after: (&str, usize)) -> bool {
    let Some((before, width)) = before else { return false };
    (width == 2 || after.1 == 2) && !never_first(after.0) && !never_last(before)
}

/// Returns whether a grapheme may not begin a line: closing marks, small kana, what prolongs or repeats.
fn never_first(grapheme: &str) -> bool {
    const CLOSING: &str = "、。，．,.:;：；!?！？)]}）］｝」』】〉》〕〗〙”’»…‥・ー～〜々ゝゞヽヾ％%°\
        ぁぃぅぇぉっゃゅょゎゕゖァィゥェォッャュョヮヵヶ｡､｣･ｰｧｨｩｪｫｬｭｮｯﾞﾟ";
    grapheme.chars().next().is_some_and(|c| CLOSING.contains(c))
}

/// Returns whether a grapheme may not end a line: opening marks.
fn never_last(grapheme: &str) -> bool {
    const OPENING: &str = "([{（［｛「『【〈《〔〖〘“‘«｢￥＄$#@";
    grapheme.chars().next().is_some_and(|c| OPENING.contains(c))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn lines(text: &str, width: usize) -> Vec<&str> {
        breaks(text, width).into_iter().map(|r| &text[r]).collect()
    }

    #[test]
    fn breaks_at_spaces() {
        assert_eq!(lines("one query, and keep it", 10), ["one query,", "and keep", "it"]);
        assert_eq!(lines("", 10), [""]);
        assert_eq!(lines("abcdefghij k", 4), ["abcd", "efgh", "ij k"]);
        assert_eq!(lines("ab   cd", 3), ["ab", "cd"]);
        assert_eq!(lines("  indented text", 10), ["  indented", "text"]);
        assert_eq!(lines("    abcdefghij", 8), ["    abcd", "efghij"]);
        assert_eq!(lines("ab ", 2), ["ab"]);
    }

    #[test]
    fn breaks_between_wide_characters_but_not_before_closing_marks() {
        assert_eq!(lines("四十行のカートでは", 8), ["四十行の", "カートで", "は"]);
        assert_eq!(lines("これは、それ。", 6), ["これ", "は、そ", "れ。"]);
        assert_eq!(lines("表（今）へ", 4), ["表", "（今", "）へ"]);
        assert_eq!(lines("四十回 price_of を", 12), ["四十回", "price_of を"]);
    }

    #[test]
    fn wide_characters_do_not_straddle_the_edge() {
        assert_eq!(lines("aあいう", 4), ["aあ", "いう"]);
        assert_eq!(lines("あ", 1), ["あ"]);
        assert_eq!(cells("ｶﾅ"), 2);
        assert_eq!(cells("👩‍👩‍👧"), 2);
    }

    #[test]
    fn spans_keep_their_styles() {
        use ratatui::style::Stylize;
        let wrapped = wrap(&["one ".into(), "two three".bold()], 7);
        assert_eq!(wrapped.len(), 2);
        assert_eq!(wrapped[0].spans, ["one ".into(), "two".bold()]);
        assert_eq!(wrapped[1].spans, ["three".bold()]);
    }

    proptest! {
        #[test]
        fn nothing_is_lost_and_nothing_is_too_wide(text in "[ a-c、。「あｱ漢é👩\u{200d}]{0,60}", width in 1usize..12) {
            let ranges = breaks(&text, width);
            let mut at = 0;
            for range in &ranges {
                prop_assert!(text[at..range.start].chars().all(|c| c == ' '));
                at = range.end;
                let line = text[range.clone()].trim_end_matches(' ');
                prop_assert!(cells(line) <= width || line.graphemes(true).count() == 1, "{:?} at {}", line, width);
            }
            prop_assert!(text[at..].chars().all(|c| c == ' '));
        }

        #[test]
        fn both_ways_agree(text in "[ a-d]{0,60}", width in 1usize..12) {
            let mut wide = Vec::new();
            wide_breaks(&text, width, &mut wide);
            let trim = |r: &Range<usize>| text[r.clone()].trim_end().to_string();
            let (a, b): (Vec<_>, Vec<_>) = (breaks(&text, width).iter().map(trim).collect(), wide.iter().map(trim).collect());
            prop_assert_eq!(a, b);
        }
    }
}
