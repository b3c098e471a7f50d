//! Making text fit: titles, models, causes and code lose their end, paths their middle.

use std::borrow::Cow;

use ratatui::style::Style;
use ratatui::text::{Line, Span};
use unicode_segmentation::UnicodeSegmentation;

use super::wrap::cells;
use crate::messages::count;
use crate::text::number::thousands;

/// Returns the beginning of `text` in `width` cells, ending in `mark` if anything is missing.
pub fn end<'a>(text: &'a str, width: usize, mark: &str) -> Cow<'a, str> {
    if cells(text) <= width {
        return text.into();
    }
    if width == 0 {
        return "".into();
    }
    let head = head(text, width.saturating_sub(cells(mark)));
    format!("{head}{mark}").into()
}

/// Returns `text` in `width` cells, with `mark` in its middle if anything is missing: for names that differ at their end.
pub fn middle<'a>(text: &'a str, width: usize, mark: &str) -> Cow<'a, str> {
    if cells(text) <= width {
        return text.into();
    }
    let room = width.saturating_sub(cells(mark));
    if room == 0 {
        return end(text, width, mark);
    }
    let head = head(text, room / 2);
    format!("{head}{mark}{}", tail(text, room - cells(head))).into()
}

/// Cuts like [`end`], for prose: no word is cut in two, as long as that leaves something to read. A long word is, and one
/// of wide characters, which no space parts.
pub fn words<'a>(text: &'a str, width: usize, mark: &str) -> Cow<'a, str> {
    if cells(text) <= width {
        return text.into();
    }
    let head = head(text, width.saturating_sub(cells(mark) + 1));
    let whole = text[head.len()..].starts_with(' ');
    match head.rfind(' ').filter(|at| *at > 0) {
        _ if whole && !head.is_empty() => format!("{} {mark}", head.trim_end()).into(),
        Some(at) if !is_long(&head[at + 1..]) => {
            format!("{} {mark}", head[..at].trim_end_matches([' ', ',', ';'])).into()
        }
        _ => before_number(text, width, mark).unwrap_or_else(|| end(text, width, mark)),
    }
}

/// Cuts before a number that would be cut in two behind wide characters: a part of it says something else.
fn before_number<'a>(text: &'a str, width: usize, mark: &str) -> Option<Cow<'a, str>> {
    let is_of_number = |c: char| c.is_ascii_digit() || matches!(c, '$' | '.' | ',');
    let head = head(text, width.saturating_sub(cells(mark)));
    let is_cut = head.ends_with(is_of_number) && text[head.len()..].starts_with(is_of_number);
    let begin = head.trim_end_matches(is_of_number);
    (is_cut && begin.ends_with(|c: char| !c.is_ascii())).then(|| format!("{begin}{mark}").into())
}

/// Cells of the beginning of a word that are not left out.
const LONG: usize = 20;

/// Returns whether the beginning of a word says too much to be left out.
fn is_long(begin: &str) -> bool {
    cells(begin) > LONG || cells(begin) > begin.chars().count()
}

/// Returns `/ money  2 of 7`, words that are looked for and where they were found; without the words where they have no
/// room.
pub fn search(words: &str, hits: &str, width: usize) -> String {
    let both = format!("/ {words}  {hits}");
    if cells(&both) <= width { both } else { hits.to_string() }
}

/// Returns `2 of 7`: which of the places that hold the words is the present one; `no match` where there are none.
pub fn hits(at: usize, all: usize) -> String {
    match all {
        0 => count::no_match().into(),
        _ => count::hits(&thousands(at), &thousands(all)),
    }
}

/// Returns `2 of 7`: how many rows of a list a filter leaves; `no match` where it leaves none.
pub fn rows_left(found: usize, all: usize) -> String {
    if found == 0 { hits(0, 0) } else { hits(found, all) }
}

/// Returns the first of `texts` that fits in `width` cells, else the last, cut at a word.
pub fn first_fit<'a>(texts: &[&'a str], width: usize, mark: &str) -> Cow<'a, str> {
    match texts.iter().find(|t| cells(t) <= width) {
        Some(text) => (*text).into(),
        None => texts.last().map_or("".into(), |last| words(last, width, mark)),
    }
}

/// Returns the longest beginning of `text` that fits in `width` cells.
pub fn head(text: &str, width: usize) -> &str {
    let mut used = 0;
    for (at, grapheme) in text.grapheme_indices(true) {
        used += cells(grapheme);
        if used > width {
            return &text[..at];
        }
    }
    text
}

/// Returns the longest ending of `text` that fits in `width` cells.
pub fn tail(text: &str, width: usize) -> &str {
    let mut used = 0;
    for (at, grapheme) in text.grapheme_indices(true).rev() {
        used += cells(grapheme);
        if used > width {
            return &text[at + grapheme.len()..];
        }
    }
    text
}

/// Returns a styled line in `width` cells; `mark` in `style` stands for what is missing.
pub fn line(line: Line<'static>, width: usize, mark: &'static str, style: Style) -> Line<'static> {
    if line.spans.iter().map(|s| cells(&s.content)).sum::<usize>() <= width {
        return line;
    }
    let (mut out, mut left) = (Line::default(), width.saturating_sub(cells(mark)));
    for span in line.spans {
        let visible = head(&span.content, left);
        left -= cells(visible);
        if visible.len() < span.content.len() {
            if !visible.is_empty() {
                out.spans.push(Span::styled(visible.to_string(), span.style));
            }
            break;
        }
        out.spans.push(span);
    }
    if width > 0 {
        out.spans.push(Span::styled(mark, style));
    }
    out
}

/// Returns `path` in `width` cells: whole folders go from the middle first (`src/…/cart.rs`, then `…/cart.rs`), then
/// the middle of the name, which keeps its extension.
pub fn path<'a>(path: &'a str, width: usize, mark: &str) -> Cow<'a, str> {
    if cells(path) <= width {
        return path.into();
    }
    // The slash of a folder belongs to its name.
    let body = path.strip_suffix('/').unwrap_or(path);
    let closing = &path[body.len()..];
    let parts: Vec<&str> = body.split('/').collect();
    for visible in (1..parts.len()).rev() {
        let ending = parts[parts.len() - visible..].join("/") + closing;
        if visible < parts.len() - 1 {
            let both = format!("{}/{mark}/{ending}", parts[0]);
            if cells(&both) <= width {
                return both.into();
            }
        }
        let short = format!("{mark}/{ending}");
        if cells(&short) <= width {
            return short.into();
        }
    }
    // A whole name says more than the mark of its folders.
    let bare = &path[name_start(path)..];
    if cells(bare) <= width { bare.into() } else { name(parts.last().unwrap_or(&""), closing, width, mark) }
}

fn name(text: &str, closing: &str, width: usize, mark: &str) -> Cow<'static, str> {
    let room = width.saturating_sub(cells(mark) + cells(closing));
    if room == 0 {
        return end(mark, width, "").into_owned().into();
    }
    let dot = text.rfind('.').filter(|at| *at > 0).map_or("", |at| &text[at..]);
    // Half of the room for the end, more if the extension needs it, but always something of the beginning.
    let want = (room / 2).max(cells(dot)).min(room.saturating_sub(1));
    let ending = tail(text, want);
    let begin = head(text, room - cells(ending));
    format!("{begin}{mark}{ending}{closing}").into()
}

/// Returns where the name begins in a path that may end in a slash: what is before it are folders.
pub fn name_start(path: &str) -> usize {
    let body = path.strip_suffix('/').unwrap_or(path);
    body.rfind('/').map_or(0, |at| at + 1)
}

/// Returns a path as spans: folders in one style, the name in another. It is cut to `width` cells first.
pub fn path_spans(text: &str, width: usize, mark: &str, folders: Style, name: Style) -> Vec<Span<'static>> {
    let text = path(text, width, mark);
    let (head, tail) = text.split_at(name_start(&text));
    let mut spans = Vec::with_capacity(2);
    if !head.is_empty() {
        spans.push(Span::styled(head.to_string(), folders));
    }
    spans.push(Span::styled(tail.to_string(), name));
    spans
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn text_loses_its_end() {
        assert_eq!(end("let price = catalog", 10, "…"), "let price…");
        assert_eq!(end("価格の決め方", 6, "…"), "価格…");
        assert_eq!(end("価格", 4, "…"), "価格");
        assert_eq!((end("ab", 1, "…"), end("ab", 0, "…")), ("…".into(), "".into()));
    }

    #[test]
    fn prose_loses_whole_words() {
        let text = "simple, but it changes when that line is removed";
        assert_eq!(words(text, 44, "…"), "simple, but it changes when that line is …");
        assert_eq!(words(text, 10, "…"), "simple …");
        assert_eq!(words(text, 48, "…"), text);
        assert_eq!(words("unbreakable", 6, "…"), "unbre…");
        assert_eq!(words("mv 資料/がぎぐ.txt 資料/移動した.txt", 24, "…"), "mv 資料/がぎぐ.txt 資料…");
        assert_eq!(words("入力$3.00、出力$15.00", 19, "…"), "入力$3.00、出力…");
        assert_eq!(words("見積もり を 出してください", 16, "…"), "見積もり を 出…");
        let path = "rm target/debug/build/of-a-long-name/output";
        assert_eq!(words(path, 30, "…"), "rm target/debug/build/of-a-lo…");
        assert_eq!(first_fit(&["a long one", "short"], 7, "…"), "short");
    }

    #[test]
    fn paths_lose_their_middle() {
        assert_eq!(path("src/handlers/product.rs", 18, "…"), "src/…/product.rs");
        assert_eq!(path("src/handlers/product.rs", 14, "…"), "…/product.rs");
        assert_eq!(path("src/handlers/product.rs", 10, "…"), "product.rs");
        assert_eq!(path("src/handlers/product.rs", 9, "…"), "prod…t.rs");
        assert_eq!(path("価格のいろいろな決め方.md", 16, "…"), "価格のい…め方.md");
        assert_eq!(path("a/b/", 4, "…"), "a/b/");
    }

    #[test]
    fn styled_lines_are_cut_with_a_mark() {
        use ratatui::style::Stylize;
        let cut = line(vec!["fn ".bold(), "prices(&self)".into()].into(), 9, "…", Style::new());
        assert_eq!(cut.spans, ["fn ".bold(), "price".into(), "…".into()]);
    }

    proptest! {
        #[test]
        fn everything_fits(text in "[a-c/.価ｱ]{0,30}", width in 0usize..20) {
            prop_assert!(cells(&end(&text, width, "…")) <= width);
            prop_assert!(cells(&words(&text.replace('/', " "), width, "…")) <= width);
            prop_assert!(cells(&path(&text, width.max(1), "…")) <= width.max(1));
        }
    }
}
