//! Runs of text with a face each, as lines.

use std::borrow::Cow;
use std::ops::Range;

use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};

use super::{Block, BlockKind, Face, Inline, Markdown};
use crate::tui::look::Look;
use crate::tui::text::wrap::{breaks, wrap};
use crate::tui::text::{cut, show};
use crate::tui::theme::{Role, Theme};

/// Returns the lines of a text of prose at `width` cells, each in runs with their faces. What would be a block of its
/// own, a list or a heading, keeps its marks and is text like the rest.
pub fn prose(text: &str, width: usize) -> Vec<Vec<Inline>> {
    let lines = text.lines().map(runs);
    let broken = |runs: Vec<Inline>| {
        let whole: String = runs.iter().map(|run| run.text.as_str()).collect();
        breaks(&whole, width).into_iter().map(move |range| part(&runs, range)).collect::<Vec<_>>()
    };
    lines.flat_map(broken).collect()
}

/// Returns the beginning of a line of [`prose`] in `width` cells, cut at a word; `mark` stands for what is missing.
pub fn begin(runs: &[Inline], width: usize, mark: &str) -> Vec<Inline> {
    let whole: String = runs.iter().map(|run| run.text.as_str()).collect();
    let Cow::Owned(cut) = cut::words(&whole, width, mark) else { return runs.to_vec() };
    let kept = cut.strip_suffix(mark).unwrap_or(&cut).trim_end().len();
    let mut begin = part(runs, 0..kept);
    begin.push(Inline { text: cut[kept..].to_string(), face: Face::default() });
    begin
}

/// Returns a line of [`prose`] with its styles.
pub fn styled(runs: &[Inline], theme: &Theme) -> Line<'static> {
    runs.iter().map(|run| Span::styled(run.text.clone(), style(run.face, theme))).collect()
}

/// Returns a line's runs of text, its hidden characters marked.
fn runs(line: &str) -> Vec<Inline> {
    let words = line.trim_start_matches([' ', '\t']);
    let numbered = words.trim_start_matches(|c: char| c.is_ascii_digit()).strip_prefix(". ");
    let listed = words.strip_prefix("- ").or(words.strip_prefix("* ")).or(numbered);
    let words = listed.unwrap_or(words);
    let plain = |text: &str| Inline { text: show::plain(text).into_owned(), face: Face::default() };
    let mut runs = vec![plain(&line[..line.len() - words.len()])];
    match Markdown::whole(words).blocks() {
        [Block { kind: BlockKind::Text(inlines), prefix, .. }] if prefix.is_empty() => runs.extend_from_slice(inlines),
        _ => runs.push(plain(words)),
    }
    runs.retain(|run| !run.text.is_empty());
    runs
}

/// Returns the runs in a byte range of their text.
fn part(runs: &[Inline], range: Range<usize>) -> Vec<Inline> {
    let (mut found, mut at) = (Vec::new(), 0);
    for run in runs {
        let (from, to) = (range.start.max(at), range.end.min(at + run.text.len()));
        if from < to {
            found.push(Inline { text: run.text[from - at..to - at].to_string(), face: run.face });
        }
        at += run.text.len();
    }
    found
}

/// Runs of text as lines of at most `width` cells.
pub(super) fn lines(inlines: &[Inline], width: usize, look: Look<'_>, add: Style) -> Vec<Line<'static>> {
    let (mut out, mut spans) = (Vec::new(), Vec::new());
    for inline in inlines {
        let style = style(inline.face, look.theme).patch(add);
        for (n, text) in inline.text.split('\n').enumerate() {
            if n > 0 {
                out.extend(wrap(&spans, width));
                spans.clear();
            }
            if !text.is_empty() {
                spans.push(Span::styled(text, style));
            }
        }
    }
    out.extend(wrap(&spans, width));
    out
}

fn style(face: Face, theme: &Theme) -> Style {
    let mut style = match face {
        Face { dim: true, .. } => theme.style(Role::Dim),
        Face { link: true, .. } => theme.style(Role::Mention),
        _ => theme.style(Role::Text),
    };
    if face.code {
        style = style.patch(theme.style(Role::CodeBg));
    }
    for (on, modifier) in
        [(face.strong, Modifier::BOLD), (face.emphasis, Modifier::ITALIC), (face.strike, Modifier::CROSSED_OUT)]
    {
        if on {
            style = style.add_modifier(modifier);
        }
    }
    style
}
