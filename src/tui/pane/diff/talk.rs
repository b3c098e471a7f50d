//! The questions and answers about a hunk, below it: the person's question and the model's answer.

use super::choices::is_same;
use super::page::DiffPage;
use super::rows::{FileView, Talk};
use super::view::View;
use crate::messages::diff as say;
use crate::proposal::Hunk;
use crate::protocol::{Command, Comment};
use crate::tui::look::Look;
use crate::tui::msg::PaneEffect;
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

impl DiffPage {
    /// Returns which hunk of the proposal, as the model knows it, the one in focus is; `None`: the person wrote it.
    fn proposed(&self) -> Option<(usize, usize)> {
        let (f, h) = self.view.focus()?;
        let (edited, proposal) = (self.edited.files.get(f)?, self.proposal.files.get(f)?);
        let hunk = edited.hunks.get(h)?;
        let at = proposal.hunks.iter().position(|of_model| is_same(proposal, of_model, edited, hunk))?;
        Some((f, at))
    }

    /// Returns the hunk of the model nearest to the one in focus, which the person wrote, and that one as it is now.
    fn edited_near(&self) -> Option<((usize, usize), String)> {
        let (f, h) = self.view.focus()?;
        let (edited, proposal) = (self.edited.files.get(f)?, self.proposal.files.get(f)?);
        let hunk = edited.hunks.get(h)?;
        let distance = |of_model: &Hunk| {
            let (above, below) = (of_model.before.end, hunk.before.end);
            of_model.before.start.saturating_sub(below).max(hunk.before.start.saturating_sub(above))
        };
        let at = (0..proposal.hunks.len()).min_by_key(|at| distance(&proposal.hunks[*at]))?;
        let text = edited.after.bytes().map(|bytes| String::from_utf8_lossy(bytes).into_owned()).unwrap_or_default();
        let lines = text.split_inclusive('\n').skip(hunk.after.start).take(hunk.after.len()).collect::<String>();
        Some(((f, at), lines))
    }

    /// Shows what the model answered about a hunk of the proposal, at that hunk as it is shown now.
    pub fn answered(&mut self, comment: &Comment, words: &str) {
        let (f, h) = (comment.file, comment.hunk);
        let (Some(edited), Some(proposal)) = (self.edited.files.get(f), self.proposal.files.get(f)) else { return };
        let Some(proposed_hunk) = proposal.hunks.get(h) else { return };
        let now = edited.hunks.iter().position(|hunk| is_same(proposal, proposed_hunk, edited, hunk));
        // The person edited it meanwhile: what is nearest shows the answer.
        let at = now.unwrap_or(h.min(edited.hunks.len().saturating_sub(1)));
        self.view.answer_talk((f, at), words);
    }

    /// Asks the model about the hunk in focus. One that the person wrote is sent with the question, which is about the
    /// nearest hunk that the model knows.
    pub fn ask(&mut self, text: &str) -> Vec<PaneEffect> {
        if text.is_empty() {
            return Vec::new();
        }
        if !self.asks {
            return vec![PaneEffect::Say(say::nobody_to_ask().into())];
        }
        let of_person = || {
            let (near, lines) = self.edited_near()?;
            Some((near, say::about_edited(&text, &lines.trim_end())))
        };
        let Some(((file, hunk), words)) = self.proposed().map(|at| (at, text.to_string())).or_else(of_person) else {
            return Vec::new();
        };
        if let Some(visible) = self.view.focus() {
            self.view.add_talk(visible, text);
        }
        vec![PaneEffect::send(Command::Comment(self.proposal.id, Comment { file, hunk, text: words }))]
    }
}
