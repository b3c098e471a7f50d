//! Runs of text with a face each, as lines.

use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};

use super::{Face, Inline};
use crate::tui::look::Look;
use crate::tui::text::wrap::wrap;
use crate::tui::theme::{Role, Theme};

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
