//! The questions and answers about a hunk, below it: the person's question and the model's answer.

use super::rows::{FileView, Talk};
use super::view::View;
use crate::messages::diff as say;
use crate::tui::look::Look;
use crate::tui::pane::paint::{Pen, bold};
use crate::tui::text::markdown::{Inline, prose, styled};
use crate::tui::theme::Role;

/// The column of the labels, and that of the text.
const LABEL: u16 = 7;
const TEXT: u16 = 15;
/// No text is wider.
const WIDEST: usize = 100;

impl FileView {
    /// Returns the rows of one thing said, in a pane of `width` cells.
    pub fn talk_rows(&self, hunk: usize, part: usize, width: u16) -> Vec<Vec<Inline>> {
        let Some(Talk { text, .. }) = self.hunks.get(hunk).and_then(|h| h.talk.get(part)) else { return Vec::new() };
        let room = usize::from(width.saturating_sub(TEXT + 1)).clamp(8, WIDEST);
        prose(text, room)
    }
}

impl View {
    /// Draws one thing said from row `y` on; returns how many rows it took.
    pub(super) fn draw_talk(
        &self,
        pen: &mut Pen<'_>,
        y: isize,
        (f, hunk, part): (usize, usize, usize),
        width: u16,
        look: Look<'_>,
    ) -> usize {
        let file = &self.files[f];
        let rows = file.talk_rows(hunk, part, width);
        let is_question = file.hunks[hunk].talk[part].is_question;
        let (label, role) = if is_question { (say::you(), Role::Focus) } else { ("nebula", Role::Accent) };
        for (n, row) in rows.iter().enumerate() {
            let Ok(y) = u16::try_from(y + n as isize) else { continue };
            if n == 0 {
                pen.put(LABEL, y, label, usize::from(TEXT - LABEL), bold(look.theme, role));
            }
            pen.spans(TEXT, y, &styled(row, look.theme).spans, usize::from(width.saturating_sub(TEXT)));
        }
        rows.len().max(1)
    }
}
