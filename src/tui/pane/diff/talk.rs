//! The words about a hunk, below it: the person's question and the model's answer, and a comment that is sent with the
//! decision.

use super::choices::is_same;
use super::page::DiffPage;
use super::rows::{FileView, Row, Talk, TalkKind};
use super::view::View;
use crate::messages::diff as say;
use crate::proposal::{Hunk, HunkComment};
use crate::protocol::{Command, Comment};
use crate::tui::look::Look;
use crate::tui::msg::PaneEffect;
use crate::tui::pane::paint::{Pen, bold};
use crate::tui::text::markdown::{Inline, prose, styled};
use crate::tui::text::wrap::cells;
use crate::tui::theme::Role;

/// The column of the labels, and that of the text.
const LABEL: u16 = 7;
const TEXT: u16 = 15;
/// Cells before the note of a comment.
const GAP: usize = 3;
/// No text is wider.
const WIDEST: usize = 100;

impl FileView {
    /// Returns the rows of one thing said, in a pane of `width` cells.
    pub fn talk_rows(&self, hunk: usize, part: usize, width: u16) -> Vec<Vec<Inline>> {
        let Some(Talk { text, kind }) = self.hunks.get(hunk).and_then(|h| h.talk.get(part)) else { return Vec::new() };
        let room = usize::from(width.saturating_sub(TEXT + 1)).clamp(8, WIDEST);
        let mut rows = prose(text, room);
        let note = GAP + cells(say::sent_with_decision());
        if *kind == TalkKind::Comment && rows.last().is_none_or(|last| width_of(last) + note > room) {
            rows.push(Vec::new());
        }
        rows
    }
}

fn width_of(row: &[Inline]) -> usize {
    row.iter().map(|run| cells(&run.text)).sum()
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
        let kind = file.hunks[hunk].talk[part].kind;
        let (label, role) = match kind {
            TalkKind::Question | TalkKind::Comment => (say::you(), Role::Focus),
            TalkKind::Answer => ("nebula", Role::Accent),
        };
        for (n, row) in rows.iter().enumerate() {
            let Ok(y) = u16::try_from(y + n as isize) else { continue };
            if n == 0 {
                pen.put(LABEL, y, label, usize::from(TEXT - LABEL), bold(look.theme, role));
            }
            let room = usize::from(width.saturating_sub(TEXT));
            let end = pen.spans(TEXT, y, &styled(row, look.theme).spans, room);
            if kind == TalkKind::Comment && n + 1 == rows.len() {
                let x = if row.is_empty() { end } else { end + GAP as u16 };
                pen.put(x, y, say::sent_with_decision(), room, look.theme.style(Role::Dim));
            }
        }
        rows.len().max(1)
    }

    fn say(&mut self, (f, h): (usize, usize), kind: TalkKind, text: &str) {
        if let Some(hunk) = self.files.get_mut(f).and_then(|file| file.hunks.get_mut(h)) {
            hunk.talk.push(Talk { kind, text: text.to_string() });
            self.lay();
            self.show_talk((f, h));
        }
    }

    /// Scrolls so that the end of what was said last of the hunk in focus is seen; what has more rows than are seen, from
    /// its beginning.
    fn show_talk(&mut self, at: (usize, usize)) {
        self.show_focus();
        if self.focus != Some(at) {
            return;
        }
        let of = |(f, row): &(u32, Row)| *f as usize == at.0 && matches!(row, Row::Talk { hunk, .. } if *hunk == at.1);
        let Some(row) = self.laid.rows.iter().rposition(of) else { return };
        let (first, end) = (self.laid.tops[row], self.laid.tops[row + 1]);
        if end > self.top + self.height() {
            self.top = (end - self.height()).min(first.saturating_sub(self.head_rows())).min(self.last_top());
            self.moved = true;
        }
    }

    /// Keeps a comment on a hunk in place of the one there was; an empty one is none.
    fn keep(&mut self, (f, h): (usize, usize), text: &str) {
        if let Some(hunk) = self.files.get_mut(f).and_then(|file| file.hunks.get_mut(h)) {
            hunk.talk.retain(|talk| talk.kind != TalkKind::Comment);
            self.lay();
        }
        if !text.is_empty() {
            self.say((f, h), TalkKind::Comment, text);
        }
    }

    /// Returns the comment on a hunk. Of hunks that became one it has the words of all.
    pub(super) fn comment(&self, (f, h): (usize, usize)) -> Option<String> {
        let talk = self.files.get(f)?.hunks.get(h)?.talk.iter();
        let kept: Vec<&str> = talk.filter(|t| t.kind == TalkKind::Comment).map(|t| t.text.as_str()).collect();
        (!kept.is_empty()).then(|| kept.join("\n"))
    }
}

impl DiffPage {
    /// Returns which hunk of the proposal, as the model knows it, this one is; `None`: the person wrote it.
    fn proposed(&self, (f, h): (usize, usize)) -> Option<(usize, usize)> {
        let (edited, proposal) = (self.edited.files.get(f)?, self.proposal.files.get(f)?);
        let hunk = edited.hunks.get(h)?;
        let at = proposal.hunks.iter().position(|of_model| is_same(proposal, of_model, edited, hunk))?;
        Some((f, at))
    }

    /// Returns the hunk of the model nearest to this one, which the person wrote, and this one as it is now.
    fn edited_near(&self, (f, h): (usize, usize)) -> Option<((usize, usize), String)> {
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

    /// Shows what the model answered about a hunk of the proposal, at that hunk as it is shown now. Says where, if the
    /// person is at another one by now.
    pub fn answered(&mut self, comment: &Comment, words: &str) -> Option<PaneEffect> {
        let (f, h) = (comment.file, comment.hunk);
        let (edited, proposal) = (self.edited.files.get(f)?, self.proposal.files.get(f)?);
        let proposed_hunk = proposal.hunks.get(h)?;
        let now = edited.hunks.iter().position(|hunk| is_same(proposal, proposed_hunk, edited, hunk));
        // The person edited it meanwhile: what is nearest shows the answer.
        let at = now.unwrap_or(h.min(edited.hunks.len().saturating_sub(1)));
        self.view.say((f, at), TalkKind::Answer, words);
        let number = self.view.hunks().position(|hunk| hunk == (f, at))? + 1;
        (self.view.focus() != Some((f, at))).then(|| PaneEffect::Say(say::answer_under(&number)))
    }

    /// Keeps a comment on the hunk in focus, to be sent with the decision.
    pub fn keep(&mut self, text: &str) -> Vec<PaneEffect> {
        let Some(at) = self.view.focus() else { return Vec::new() };
        if !self.asks {
            return vec![PaneEffect::Say(say::nobody_to_ask().into())];
        }
        self.view.keep(at, text);
        Vec::new()
    }

    /// Returns the comments that were kept, each with the hunk as the model knows it.
    pub fn comments(&self) -> Vec<HunkComment> {
        let kept = self.view.hunks().filter_map(|at| {
            let text = self.view.comment(at)?;
            let (file, hunk) = self.proposed(at).or_else(|| Some(self.edited_near(at)?.0))?;
            Some(HunkComment { file, hunk, place: self.proposal.place(file, hunk), text })
        });
        kept.collect()
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
        let Some(visible) = self.view.focus() else { return Vec::new() };
        let of_person = || {
            let (near, lines) = self.edited_near(visible)?;
            Some((near, say::about_edited(&text, &lines.trim_end())))
        };
        let proposed = self.proposed(visible).map(|at| (at, text.to_string()));
        let Some(((file, hunk), words)) = proposed.or_else(of_person) else { return Vec::new() };
        // The line held what was kept before.
        self.view.keep(visible, "");
        self.view.say(visible, TalkKind::Question, text);
        vec![PaneEffect::send(Command::Comment(self.proposal.id, Comment { file, hunk, text: words }))]
    }
}
