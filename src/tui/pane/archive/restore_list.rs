//! The preview of a restore, before anything is written: what happens to each file, and the choice for those that someone
//! else changed.

use std::sync::Arc;

use crate::messages::{archive as say, count, records, times};
use crate::proposal::{Counts, ForeignChoice, Proposal, RestoreFate, RestorePreview, RestoreStatus};
use crate::protocol::{Command, RestoreRequest};
use crate::text::number::thousands;
use crate::tui::action::{Action, Context};
use crate::tui::look::Ctx;
use crate::tui::msg::PaneEffect;
use crate::tui::pane::id::PaneId;
use crate::tui::pane::paint::{self, Pen, bold, span};
use crate::tui::text::wrap::cells;
use crate::tui::text::{cut, show};
use crate::tui::theme::Role;

/// A restore that waits.
#[derive(Debug, Clone)]
pub(super) struct RestoreList {
    pub proposal: Arc<Proposal>,
    previews: Vec<RestorePreview>,
    /// The person went on to the proposal, or cancelled it: the list waits for nothing more.
    pub left: bool,
    top: usize,
    /// A file that someone else changed and that the person went to, to choose for it, maybe once more.
    gone_to: Option<usize>,
}

/// The number of files that are seen without scrolling almost everywhere.
const FEW: usize = 8;

/// Cells of `undo of ` and of the beginning of what is named behind it.
const SHORTEST_TITLE: usize = 18;

/// Returns the title of a restore in `room` cells: what it names gives way, not that it is a restore. None: too little of
/// that would be left.
fn fitted_title(title: &str, room: usize, mark: &str) -> Option<String> {
    let whole = records::cause(title);
    let over = cells(&whole).saturating_sub(room);
    if over == 0 {
        return Some(whole.into_owned());
    }
    let (what, maker) = records::without_maker(title);
    let left = cells(what).checked_sub(over).filter(|left| *left >= SHORTEST_TITLE)?;
    let shorter = cut::end(what, left, mark);
    Some(records::cause(&format!("{shorter}{maker}")).into_owned())
}

/// Returns whether someone else changed the file.
fn is_foreign(preview: &RestorePreview) -> bool {
    matches!(preview.status, RestoreStatus::Foreign { .. })
}

/// Returns what becomes of a path, in words.
fn fate_words(fate: &RestoreFate) -> &'static str {
    match fate {
        RestoreFate::Content | RestoreFate::ContentAndMode(..) | RestoreFate::Repository(_) => say::will_restore(),
        RestoreFate::Made => say::will_make(),
        RestoreFate::Deleted => say::will_delete(),
        RestoreFate::Mode(..) => say::will_set_mode(),
        RestoreFate::FolderMade | RestoreFate::WholeMade(_) => say::will_make_folder(),
        RestoreFate::FolderRemoved => say::will_remove_folder(),
        RestoreFate::WholeRemoved(_) => say::will_remove_whole(),
    }
}

fn fate_detail(fate: &RestoreFate) -> String {
    match fate {
        RestoreFate::Mode(now, then) => format!("{now:o} → {then:o}"),
        RestoreFate::ContentAndMode(now, then) => say::mode_change(&format!("{now:o}"), &format!("{then:o}")),
        RestoreFate::Repository(words) => records::repository(words).into_owned(),
        RestoreFate::WholeMade(files) | RestoreFate::WholeRemoved(files) => count::files(*files),
        _ => String::new(),
    }
}

/// The words of a preview in its row.
struct Said {
    glyph: &'static str,
    mark: Role,
    words: String,
    role: Role,
    counts: Option<Counts>,
    why: String,
}

impl Said {
    /// Returns those of a file that is to be restored, or not.
    fn of(status: &RestoreStatus, ctx: &Ctx<'_>) -> Said {
        let look = paint::look(ctx);
        let (glyph, mark, words, role, counts, why) = match status {
            RestoreStatus::Restore(fate, counts) => {
                let counts = matches!(
                    fate,
                    RestoreFate::Content | RestoreFate::ContentAndMode(..) | RestoreFate::Made | RestoreFate::Deleted
                )
                .then_some(*counts);
                (look.glyphs.done, Role::Added, fate_words(fate).to_string(), Role::Text, counts, fate_detail(fate))
            }
            RestoreStatus::Equal => {
                (look.glyphs.equal, Role::Dim, say::already_equal().into(), Role::Dim, None, String::new())
            }
            RestoreStatus::NotArchived(why) => {
                (look.glyphs.refused, Role::Dim, say::not_archived().into(), Role::Dim, None, why.clone())
            }
            RestoreStatus::Refused(why) => {
                (look.glyphs.refused, Role::Attention, say::not_restored().into(), Role::Text, None, why.clone())
            }
            RestoreStatus::NotUndone(why) => {
                (look.glyphs.dot, Role::Attention, say::not_undone().into(), Role::Text, None, why.clone())
            }
            RestoreStatus::Foreign { at, counts, choice, is_later, .. } => {
                let changed = if *is_later { say::changed_later() } else { say::foreign() };
                let words = match choice {
                    None => changed,
                    Some(ForeignChoice::Keep) => say::kept(),
                    Some(ForeignChoice::Merge) => say::will_merge(),
                    Some(ForeignChoice::RestoreVersion) => say::will_restore_version(),
                };
                let why = match at {
                    _ if *is_later && choice.is_some() => changed.to_string(),
                    Some(at) if !is_later => say::at(&times::exact(&ctx.clock(), *at)),
                    _ => String::new(),
                };
                (look.glyphs.foreign, Role::Attention, words.into(), Role::Attention, Some(*counts), why)
            }
        };
        Said { glyph, mark, words, role, counts, why }
    }

    /// Returns the cells of the words and of the reason behind them.
    fn cells(&self) -> usize {
        let why = cells(&records::localized(&self.why));
        cells(&self.words) + if why > 0 { why + 2 } else { 0 }
    }
}

/// Returns the words behind a path that fit beside it. Where none do, the row above has said why.
fn fitting<'w>(path: &str, words: &'w str, short: &'w str, width: usize) -> &'w str {
    let name = cells(&path[cut::name_start(path)..]);
    match () {
        () if cells(path) + cells(words) <= width => words,
        () if name + cells(short) <= width => short,
        () => say::choose_shorter(),
    }
}

/// Returns whether nothing was said of a file that someone else changed.
fn undecided(preview: &RestorePreview) -> bool {
    matches!(preview.status, RestoreStatus::Foreign { choice: None, .. })
}

impl RestoreList {
    pub fn new(proposal: Arc<Proposal>, previews: Vec<RestorePreview>) -> Self {
        RestoreList { proposal, previews, left: false, top: 0, gone_to: None }
    }

    /// Returns the file that is asked about: the one gone to, else the first that someone else changed and nothing was
    /// said of.
    fn current_file(&self) -> Option<usize> {
        self.gone_to.or_else(|| self.previews.iter().position(undecided))
    }

    /// Returns whether nothing is left to be chosen.
    fn is_chosen(&self) -> bool {
        !self.previews.iter().any(undecided)
    }

    /// Goes to the next file that someone else changed, or to the one before.
    fn go_to(&mut self, down: bool) {
        let foreign: Vec<usize> = (0..self.previews.len()).filter(|i| is_foreign(&self.previews[*i])).collect();
        let next = match (self.current_file(), down) {
            (Some(at), true) => foreign.iter().find(|i| **i > at),
            (Some(at), false) => foreign.iter().rfind(|i| **i < at),
            (None, true) => foreign.first(),
            (None, false) => foreign.last(),
        };
        if let Some(next) = next {
            self.gone_to = Some(*next);
            self.top = next.saturating_sub(3);
        }
    }

    /// Files that are still to be asked about, and all.
    pub fn count(&self) -> (usize, usize) {
        let files = self.previews.iter().filter(|preview| preview.is_file()).count();
        (self.previews.iter().filter(|f| undecided(f)).count(), files)
    }

    /// Returns whether `action` would do something now.
    pub fn offers(&self, action: Action) -> bool {
        match action {
            Action::Keep | Action::RestoreVersion => self.current_file().is_some(),
            Action::Merge => {
                let current_file = self.current_file().map(|i| &self.previews[i].status);
                matches!(current_file, Some(RestoreStatus::Foreign { conflicts: Some(_), .. }))
            }
            Action::Open | Action::Write => self.is_chosen(),
            Action::Escape | Action::Later | Action::Close => true,
            // Where there is one to choose for, it is asked about already.
            Action::Up | Action::Down => {
                let foreign = self.previews.iter().filter(|f| is_foreign(f)).count();
                foreign > usize::from(self.current_file().is_some()) || foreign == 0 && self.previews.len() > FEW
            }
            Action::HalfUp | Action::HalfDown | Action::First | Action::Last => true,
            _ => false,
        }
    }

    /// Does `action`.
    pub fn act(&mut self, action: Action) -> Vec<PaneEffect> {
        let choice = match action {
            Action::Keep => ForeignChoice::Keep,
            Action::Merge => ForeignChoice::Merge,
            Action::RestoreVersion => ForeignChoice::RestoreVersion,
            Action::Open | Action::Write if !self.proposal.files.is_empty() => {
                self.left = true;
                return vec![PaneEffect::Focus(PaneId::Diff)];
            }
            // Where everything stays as it is, going on ends it too.
            Action::Open | Action::Write | Action::Escape | Action::Later | Action::Close => {
                // The keys go back at once: what is typed next is meant for what had them before.
                self.left = true;
                let refused = crate::proposal::Decision::refuse(&self.proposal);
                let say = say::nothing_restored().to_string();
                return vec![PaneEffect::send(Command::Decide(self.proposal.id, refused)), PaneEffect::Say(say)];
            }
            Action::Up | Action::Down if self.previews.iter().any(is_foreign) => {
                self.go_to(action == Action::Down);
                return Vec::new();
            }
            _ => {
                self.scroll(action);
                return Vec::new();
            }
        };
        let Some(path) = self.current_file().map(|i| self.previews[i].path.clone()) else { return Vec::new() };
        let request = RestoreRequest::Foreign { proposal: self.proposal.id, path, choice };
        vec![PaneEffect::send(Command::Restore(request))]
    }

    fn scroll(&mut self, action: Action) {
        self.top = match action {
            Action::Up => self.top.saturating_sub(1),
            Action::Down => self.top + 1,
            Action::HalfUp => self.top.saturating_sub(10),
            Action::HalfDown => self.top + 10,
            Action::First => 0,
            Action::Last => self.previews.len(),
            _ => self.top,
        };
        self.top = self.top.min(self.previews.len().saturating_sub(1));
    }

    /// Returns what a click on row `row` of `height` does: the choices and, once all are made, the line that goes on.
    pub fn at_row(&self, row: u16, height: u16) -> Option<Action> {
        let question = self.rows(height) as u16 + 2;
        let below = row.checked_sub(question)?;
        let action = match (self.current_file(), below) {
            (Some(_), 1) => Action::Keep,
            (Some(_), 2) => Action::Merge,
            (Some(_), 3) => Action::RestoreVersion,
            (None, 0) => Action::Open,
            _ => return None,
        };
        self.offers(action).then_some(action)
    }

    /// Returns the number of rows of the list where `height` rows hold it all; the question stays in view.
    fn rows(&self, height: u16) -> usize {
        let current_file = if self.current_file().is_some() { 5 } else { 2 };
        usize::from(height.saturating_sub(1 + current_file)).min(self.previews.len()).max(1)
    }

    /// Returns the number of rows that everything needs.
    pub fn height(&self) -> u16 {
        u16::try_from(self.previews.len() + 7).unwrap_or(u16::MAX)
    }

    /// Draws heading, list and question from the top of `pen`; a list that is too long scrolls.
    pub fn draw(&self, pen: &mut Pen<'_>, ctx: &Ctx<'_>) {
        let look = paint::look(ctx);
        let (theme, width) = (look.theme, pen.width());
        let dim = theme.style(Role::Dim);
        let short = count::files(self.previews.iter().filter(|preview| preview.is_file()).count());
        let long = say::not_written_yet(&short);
        // The title, its blanks and what parts it from the note.
        let left = |note: &str| usize::from(width).saturating_sub(cells(note) + 5);
        let title = &self.proposal.title;
        let fitted = |title, note: &str| fitted_title(title, left(note), look.glyphs.cut);
        let whole = records::cause(title);
        let (title, note) = match fitted(title, &long) {
            // The note gives way to a title that the row holds.
            _ if cells(&whole) > left(&long) && cells(&whole) + 2 <= usize::from(width) => (whole.into_owned(), short),
            Some(title) => (title, long),
            // Without who made it, it may still have room.
            None => {
                let bare = || fitted(records::without_maker(title).0, &short);
                let cut = || cut::end(&records::cause(title), left(&short), look.glyphs.cut).into_owned();
                (fitted(title, &short).or_else(bare).unwrap_or_else(cut), short)
            }
        };
        let title = [span(title, bold(theme, Role::Text))];
        pen.heading(0, 0, width, &title, &[span(note, dim)], look);
        let rows = self.rows(pen.height());
        let top = self.top.min(self.previews.len().saturating_sub(rows));
        let longest = self.previews.iter().map(|f| cells(&f.path)).max().unwrap_or(0);
        // The name is shown whole as long as a word for its preview has room.
        let name = |f: &RestorePreview| cells(&f.path[cut::name_start(&f.path)..]);
        let names = self.previews.iter().map(name).max().unwrap_or(0).min(usize::from(width).saturating_sub(20));
        let path_room = longest.clamp(12, self.path_room(width, longest, (top, rows), ctx)).max(names).max(14) + 4;
        let current_file = self.current_file();
        for (i, preview) in self.previews.iter().enumerate().skip(top).take(rows) {
            self.row(pen, ctx, (i - top) as u16 + 1, preview, path_room, current_file == Some(i));
        }
        if self.previews.len() > rows {
            pen.thumb(1, rows as u16, top, self.previews.len(), look);
        }
        self.question(pen, ctx, rows as u16 + 2);
    }

    /// Returns the cells for paths of at most `longest` cells. The counts give way to them, the reasons do not.
    fn path_room(&self, width: u16, longest: usize, (top, rows): (usize, usize), ctx: &Ctx<'_>) -> usize {
        const WITH_COUNTS: usize = 52;
        let room = |reserved| usize::from(width).saturating_sub(reserved).clamp(12, 60);
        if longest <= room(WITH_COUNTS) {
            return room(WITH_COUNTS);
        }
        let shown = self.previews.iter().skip(top).take(rows);
        let beside = shown.map(|f| Said::of(&f.status, ctx).cells()).max().unwrap_or(0);
        room((beside + 8).min(WITH_COUNTS))
    }

    fn row(&self, pen: &mut Pen<'_>, ctx: &Ctx<'_>, y: u16, preview: &RestorePreview, path_room: usize, current: bool) {
        let look = paint::look(ctx);
        let theme = look.theme;
        let Said { glyph, mark, words, role, counts, why } = Said::of(&preview.status, ctx);
        pen.put(1, y, glyph, 1, bold(theme, mark));
        let room = path_room - 4;
        let name = if current { bold(theme, Role::Path) } else { theme.style(Role::Path) };
        let path = match preview.status {
            RestoreStatus::NotUndone(_) => records::place(&preview.path),
            _ => &preview.path,
        };
        pen.spans(3, y, &paint::path(&show::plain(path), room, name, look), room);
        let x = path_room as u16 + 3;
        let room = usize::from(pen.width().saturating_sub(x + 1));
        pen.put(x, y, &cut::words(&words, room, look.glyphs.cut), room, theme.style(role));
        // The other columns stand to the right of the longest words; without room for them they go.
        let x = x + 31;
        if usize::from(x) + 10 <= usize::from(pen.width()) {
            if let Some(counts) = counts {
                pen.spans(x, y, &paint::count_columns(counts, [3, 4], look), 9);
            }
            // Without counts the reason may begin where they would stand.
            let room = |at: u16| usize::from(pen.width().saturating_sub(at + 1));
            let at = if counts.is_none() && cells(&why) > room(x + 10) { x } else { x + 10 };
            self.why(pen, (at, y), (&why, is_foreign(preview)), ctx);
        } else {
            let x = x.saturating_sub(31) + cells(&words) as u16 + 2;
            self.why(pen, (x, y), (&why, is_foreign(preview)), ctx);
        }
    }

    /// Draws the reason of a preview; a time is shown whole or not at all.
    fn why(&self, pen: &mut Pen<'_>, (x, y): (u16, u16), (why, whole): (&str, bool), ctx: &Ctx<'_>) {
        let room = usize::from(pen.width().saturating_sub(x + 1));
        if whole && cells(why) > room {
            return;
        }
        let why = records::localized(why);
        let visible = show::plain(&why);
        pen.put(x, y, &cut::words(&visible, room, ctx.glyphs.cut), room, ctx.theme.style(Role::Dim));
    }

    fn question(&self, pen: &mut Pen<'_>, ctx: &Ctx<'_>, y: u16) {
        let look = paint::look(ctx);
        let (text, dim) = (look.theme.style(Role::Text), look.theme.style(Role::Dim));
        let width = usize::from(pen.width().saturating_sub(2));
        let current_file = self.current_file().map(|i| &self.previews[i]);
        let Some(RestorePreview { path, status: RestoreStatus::Foreign { counts, conflicts, is_later, .. } }) =
            current_file
        else {
            let is_empty = self.proposal.files.is_empty();
            let show = Some((Action::Open, if is_empty { say::ends() } else { say::previews() }));
            let leave = Some((Action::Escape, say::cancels())).filter(|_| !is_empty);
            let mut spans = Vec::new();
            for (action, does) in show.into_iter().chain(leave) {
                let Some(key) = ctx.key(Context::Archive, action) else { continue };
                let gap = if spans.is_empty() { "" } else { "   " };
                spans
                    .extend([span(format!("{gap}{key}"), bold(look.theme, Role::Text)), span(format!(" {does}"), dim)]);
            }
            pen.spans(1, y, &spans, width);
            return;
        };
        let words = match counts.added {
            _ if *is_later => say::choose_later().to_string(),
            0 => say::choose_foreign().to_string(),
            1 => say::choose_line().to_string(),
            n => say::choose_lines(&thousands(n)),
        };
        let short = if *is_later { say::choose_later_short() } else { say::choose_short() };
        let words = fitting(path, &words, short, width);
        let room = width.saturating_sub(cells(words)).max(12);
        let mut spans = paint::path(&show::plain(path), room, look.theme.style(Role::Path), look);
        spans.push(span(words, text));
        pen.spans(1, y, &spans, width);
        let merge = match conflicts {
            None => say::merge_cannot().to_string(),
            Some(0) => say::merge_clean().into(),
            Some(1) => say::merge_one().into(),
            Some(n) => say::merge_many(&n),
        };
        let choices = [
            (Action::Keep, say::keep(), say::keep_detail()),
            (Action::Merge, say::merge(), merge.as_str()),
            (Action::RestoreVersion, say::restore_version(), say::restore_version_detail()),
        ];
        let keys = choices.map(|(action, ..)| ctx.key(Context::Archive, action).unwrap_or_default());
        let x = keys.iter().map(|key| cells(key)).max().unwrap_or(0) as u16 + 3;
        for (k, ((action, does, why), key)) in choices.into_iter().zip(&keys).enumerate() {
            let y = y + 1 + k as u16;
            let off = action == Action::Merge && conflicts.is_none();
            pen.put(1, y, key, width, if off { dim } else { bold(look.theme, Role::Text) });
            pen.put(x, y, does, 22, if off { dim } else { text });
            let room = usize::from(pen.width().saturating_sub(x + 23));
            pen.put(x + 22, y, &cut::words(why, room, look.glyphs.cut), room, dim);
        }
    }
}
