//! The sessions of this project: at start, and for `/sessions` and `/resume`. It takes the whole body.

mod pointer;
mod preview;

use std::collections::HashMap;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Modifier;

use super::{select, thumb};
use crate::messages::{count, popups as say, times};
use crate::protocol::{
    Command, ExportFormat, Listing, OnDisk, Query, SessionChange, SessionChoice, SessionPreview, SessionRow,
    SessionState,
};
use crate::text::number::thousands;
use crate::tui::action::Action;
use crate::tui::look::{Ctx, Look};
use crate::tui::msg::{Effect, LineFor, LineInput, PaneEffect};
use crate::tui::pane::chat::Chat;
use crate::tui::text::{cut, paint, wrap};
use crate::tui::theme::Role;

/// The list of sessions.
#[derive(Debug, Default)]
pub struct Sessions {
    /// Newest first.
    rows: Vec<SessionRow>,
    /// An answer came.
    pub listed: bool,
    words: String,
    /// Sessions without a search, once they are known.
    all: Option<usize>,
    selected: usize,
    top: usize,
    /// The wheel scrolled the list: the selected session may be out of sight.
    wheeled: bool,
    height: usize,
    preview: Option<SessionPreview>,
    /// Its last entries, drawn as in the chat.
    said: Chat,
    /// The reason why there is no list.
    failed: Option<String>,
    /// The number of a session's files that were changed outside nebula, for those that were looked at.
    drifted: HashMap<String, usize>,
}

/// The columns of the list: their beginning, or their end for those that are aligned to the right.
struct ListColumns {
    title: usize,
    titles: usize,
    state: usize,
    states: usize,
    count: Option<usize>,
    model: Option<usize>,
    age: usize,
    /// The words of a state are the long ones.
    long: bool,
}

/// The most cells of a list whose columns have all of them; a wider one has this many for titles at least.
const NARROW: usize = 82;
const TITLES: usize = 40;
/// Cells of the name of a model.
const MODEL: usize = 13;
/// Rows above the conversation of the preview: its line, and its title with the row below.
const ABOVE: u16 = 3;

/// The outcome of an action.
#[derive(Debug, Clone, PartialEq)]
pub enum SessionsOutcome {
    /// Do this, and stay.
    Stay(Vec<PaneEffect>),
    /// Do this, and go to the main screen.
    Leave(Vec<PaneEffect>),
    /// Ask whether to delete the selected one.
    Remove {
        /// Its id.
        id: String,
        /// Its title.
        title: String,
        /// True if another nebula has it open.
        in_use: bool,
    },
    /// Ask which format to export the selected one to.
    Export(String),
}

impl Sessions {
    /// Returns what to ask when the screen opens.
    pub fn ask(&self) -> Query {
        Query::Sessions(self.words.clone())
    }

    /// Returns whether the first one is selected.
    pub fn is_first(&self) -> bool {
        self.selected == 0
    }

    /// Sessions listed.
    pub fn count(&self) -> usize {
        self.rows.len()
    }

    /// Returns `2 of 7`, while words are looked for: the sessions that hold them.
    pub fn search_hits(&self) -> Option<String> {
        let all = self.all.filter(|_| self.listed && !self.words.is_empty())?;
        Some(cut::rows_left(self.rows.len(), all))
    }

    /// Returns the number of sessions, for the pane line; empty until it is known.
    pub fn note(&self) -> String {
        let all = self.listed.then(|| count::sessions(self.rows.len()));
        self.search_hits().or(all).unwrap_or_default()
    }

    /// Takes an answer. Returns what to ask next.
    pub fn answer(&mut self, query: &Query, listing: &Listing) -> Vec<Query> {
        match (query, listing) {
            (Query::Sessions(words), Listing::Sessions(rows)) if *words == self.words => {
                self.rows = rows.clone();
                (self.listed, self.failed) = (true, None);
                if words.is_empty() {
                    self.all = Some(rows.len());
                }
                self.selected = self.selected.min(rows.len().saturating_sub(1));
                self.look()
            }
            (Query::Sessions(_), Listing::Failed(why)) => {
                (self.listed, self.failed) = (true, Some(why.clone()));
                Vec::new()
            }
            (Query::Preview(id), Listing::Preview(preview)) => {
                self.drifted
                    .insert(id.clone(), preview.files.iter().filter(|(_, file)| *file != OnDisk::AsLeft).count());
                if self.current().is_some_and(|r| r.id == *id) {
                    self.said = Chat::preview(&preview.items);
                    self.preview = Some(preview.clone());
                }
                Vec::new()
            }
            _ => Vec::new(),
        }
    }

    fn current(&self) -> Option<&SessionRow> {
        self.rows.get(self.selected)
    }

    fn look(&mut self) -> Vec<Query> {
        match self.current() {
            Some(row) if self.preview.as_ref().is_none_or(|p| p.id != row.id) => vec![Query::Preview(row.id.clone())],
            _ => Vec::new(),
        }
    }

    /// Returns whether an action would do something now.
    pub fn offers(&self, action: Action) -> bool {
        match action {
            Action::Open => {
                self.current().is_some_and(|r| !matches!(r.state, SessionState::InUse | SessionState::Here))
            }
            Action::Rename | Action::Fork | Action::Remove | Action::Export => self.current().is_some(),
            Action::Up | Action::Down | Action::PageUp | Action::PageDown | Action::First | Action::Last => true,
            Action::New | Action::Search => true,
            _ => false,
        }
    }

    /// Does an action.
    pub fn act(&mut self, action: Action) -> SessionsOutcome {
        let last = self.rows.len().saturating_sub(1);
        let page = self.height.max(1);
        match action {
            Action::Up => self.selected = self.selected.saturating_sub(1),
            Action::Down => self.selected = (self.selected + 1).min(last),
            Action::PageUp => self.selected = self.selected.saturating_sub(page),
            Action::PageDown => self.selected = (self.selected + page).min(last),
            Action::First => self.selected = 0,
            Action::Last => self.selected = last,
            Action::New => return SessionsOutcome::Leave(vec![PaneEffect::send(Command::Open(SessionChoice::New))]),
            Action::Search => {
                let (prompt, text) = (say::search_sessions().into(), self.words.clone());
                return SessionsOutcome::Stay(vec![PaneEffect::Line { purpose: LineFor::Search, prompt, text }]);
            }
            _ => return self.act_on(action),
        }
        self.wheeled = false;
        self.top = self.top.min(self.selected).max((self.selected + 1).saturating_sub(page));
        SessionsOutcome::Stay(self.look().into_iter().map(PaneEffect::Ask).collect())
    }

    fn act_on(&mut self, action: Action) -> SessionsOutcome {
        let Some(row) = self.current() else { return SessionsOutcome::Stay(Vec::new()) };
        let id = row.id.clone();
        let stay = |why: &str| SessionsOutcome::Stay(vec![PaneEffect::Say(why.into())]);
        let open = |choice| SessionsOutcome::Leave(vec![PaneEffect::send(Command::Open(choice))]);
        match action {
            Action::Open => match row.state {
                SessionState::InUse => stay(say::in_use_elsewhere()),
                SessionState::Here => stay(say::is_here()),
                SessionState::Open | SessionState::Ended => open(SessionChoice::Resume(id)),
            },
            Action::Fork => open(SessionChoice::Fork(id)),
            Action::Remove => {
                let in_use = row.state == SessionState::InUse;
                SessionsOutcome::Remove { id, title: row.title.clone(), in_use }
            }
            Action::Export => SessionsOutcome::Export(id),
            Action::Rename => SessionsOutcome::Stay(vec![PaneEffect::Line {
                purpose: LineFor::Rename(id),
                prompt: say::new_title().into(),
                text: row.title.clone(),
            }]),
            _ => SessionsOutcome::Stay(Vec::new()),
        }
    }

    /// Handles a line that was asked for.
    pub fn line(&mut self, purpose: &LineFor, typed: LineInput<'_>) -> Vec<PaneEffect> {
        match (purpose, typed) {
            (LineFor::Search, LineInput::Now(words) | LineInput::Taken(words)) => {
                if self.words != words {
                    self.words = words.to_string();
                    (self.selected, self.top, self.wheeled) = (0, 0, false);
                    return vec![PaneEffect::Ask(self.ask())];
                }
                Vec::new()
            }
            (LineFor::Search, LineInput::Left) => {
                self.words.clear();
                vec![PaneEffect::Ask(self.ask())]
            }
            (LineFor::Rename(id), LineInput::Taken(title)) if !title.trim().is_empty() => {
                let title = title.trim().to_string();
                if let Some(row) = self.rows.iter_mut().find(|r| r.id == *id) {
                    row.title.clone_from(&title);
                }
                vec![PaneEffect::send(Command::Sessions(SessionChange::Rename(id.clone(), title)))]
            }
            _ => Vec::new(),
        }
    }

    /// Deletes a session that the person said to delete; it is listed until that is done.
    pub fn delete(id: &str) -> Effect {
        Effect::Send(Command::Sessions(SessionChange::Delete(id.to_string())))
    }

    /// Takes a session that was deleted out of the list. Returns what to ask next.
    pub fn deleted(&mut self, id: &str) -> Vec<Query> {
        let before = self.rows.len();
        self.rows.retain(|r| r.id != id);
        self.all = self.all.map(|all| all.saturating_sub(before - self.rows.len()));
        self.selected = self.selected.min(self.rows.len().saturating_sub(1));
        self.look()
    }

    /// Returns the id of the selected session.
    pub fn selected_id(&self) -> Option<&str> {
        self.current().map(|row| row.id.as_str())
    }

    /// Writes a session to a file.
    pub fn export(id: &str, format: ExportFormat) -> Effect {
        Effect::Send(Command::Sessions(SessionChange::Export(id.to_string(), format)))
    }

    /// Tells it the height of the list, and the size of the preview, that are drawn next.
    pub fn measure(&mut self, height: u16, preview: Option<(u16, u16)>, look: &Look<'_>) {
        if let (Some((width, height)), Some(p)) = (preview, &self.preview) {
            let below = rows_below(visible_files(p, height));
            self.said.measure(width, height.saturating_sub(below + ABOVE), look);
        }
        // The last row tells of those that have no room.
        let rows = usize::from(height.saturating_sub(1));
        self.height = rows.saturating_sub(usize::from(self.rows.len() > rows)).max(1);
        match self.wheeled {
            true => self.top = self.top.min(self.rows.len().saturating_sub(self.height)),
            false => self.top = self.top.min(self.selected).max((self.selected + 1).saturating_sub(self.height)),
        }
    }

    /// Columns from the right: age, model, messages, state; the title takes the rest. Where it would be short, the
    /// others give way, the state of a session last; where it would be wider than all titles, they stand closer.
    fn columns(&self, w: usize, ctx: &Ctx<'_>) -> ListColumns {
        let (age, long) = (w.saturating_sub(1), w >= 82);
        let model = (w >= 80).then(|| w.saturating_sub(21));
        let count = (w >= 64).then(|| model.map_or(age.saturating_sub(8), |m| m.saturating_sub(2)));
        let words = self.rows.iter().map(|row| wrap::cells(&self.state(row, long, ctx).0));
        let states = words.max().filter(|widest| *widest > 0).map_or(0, |widest| widest.max(5));
        let beside = |count: usize| count.saturating_sub((states + 5).max(14));
        let state = count.map_or(age.saturating_sub(8 + states), beside);
        let titles = state.saturating_sub(4);
        let widest = self.rows.iter().map(|row| wrap::cells(&row.title)).fold(TITLES, usize::max);
        if w > NARROW && titles > widest {
            return self.columns(NARROW.max(w - (titles - widest)), ctx);
        }
        ListColumns { title: 3, titles, state, states, count, model, age, long }
    }

    /// Returns the word for a session's state, in amber where it asks for attention.
    fn state(&self, row: &SessionRow, long: bool, ctx: &Ctx<'_>) -> (String, Role) {
        let drifted = self.drifted.get(&row.id).copied().unwrap_or_default();
        match state_word(row.state, long) {
            "" if drifted > 0 => (format!("{} {}", ctx.glyphs.foreign, say::drifted(&drifted)), Role::Attention),
            word => (word.into(), Role::Text),
        }
    }

    /// Draws the list below its pane line; `selects`: the keys go to it.
    pub fn draw(&self, area: Rect, selects: bool, buf: &mut Buffer, ctx: &Ctx<'_>) {
        let dim = ctx.theme.style(Role::Dim);
        let c = self.columns(usize::from(area.width), ctx);
        let right = |buf: &mut Buffer, x: usize, words: &str| {
            let n = wrap::cells(words);
            paint::text(buf, area.x + x.saturating_sub(n) as u16, area.y, n, words, dim);
        };
        paint::text(buf, area.x + c.title as u16, area.y, c.titles, say::title(), dim);
        paint::text(buf, area.x + c.state as u16, area.y, c.states, say::state(), dim);
        if let Some(count) = c.count {
            right(buf, count, say::messages());
        }
        if let Some(model) = c.model {
            paint::text(buf, area.x + model as u16, area.y, MODEL, say::model(), dim);
        }
        right(buf, c.age, say::age());
        let visible = self.rows.iter().enumerate().skip(self.top).take(self.height);
        for ((i, row), y) in visible.zip(area.y + 1..area.bottom()) {
            self.draw_row(row, &c, Rect { y, height: 1, ..area }, selects && i == self.selected, buf, ctx);
        }
        let w = usize::from(area.width);
        let (width, height) = (area.width.saturating_sub(4), area.height.saturating_sub(1));
        let empty = Rect { x: area.x + 3, y: area.y + 1, width, height };
        paint::prose(buf, empty, &self.empty_words(), ctx.glyphs.cut, dim);
        let older = self.rows.len().saturating_sub(self.top + self.height);
        if older > 0 {
            let words = format!("{} {}", ctx.glyphs.more, say::older(&thousands(older)));
            paint::text(buf, area.x + 1, area.bottom().saturating_sub(1), w.saturating_sub(2), &words, dim);
        }
        let height = area.height.saturating_sub(1).min(self.height as u16);
        let list = Rect { y: area.y + 1, x: area.right().saturating_sub(1), width: 1, height };
        thumb(list, self.rows.len(), self.top, buf, ctx);
    }

    fn draw_row(&self, row: &SessionRow, c: &ListColumns, area: Rect, chosen: bool, buf: &mut Buffer, ctx: &Ctx<'_>) {
        let (dim, text) = (ctx.theme.style(Role::Dim), ctx.theme.style(Role::Text));
        let right = |buf: &mut Buffer, x: usize, words: &str| {
            let n = wrap::cells(words);
            paint::text(buf, area.x + x.saturating_sub(n) as u16, area.y, n, words, dim);
        };
        let style = if chosen { text.add_modifier(Modifier::BOLD) } else { text };
        if row.state == SessionState::Open {
            paint::text(buf, area.x + 1, area.y, 1, ctx.glyphs.bullet, ctx.theme.style(Role::Accent));
        }
        let title = cut::end(&row.title, c.titles, ctx.glyphs.cut);
        paint::text(buf, area.x + c.title as u16, area.y, c.titles, &title, style);
        let (words, role) = self.state(row, c.long, ctx);
        paint::text(buf, area.x + c.state as u16, area.y, c.states, &words, ctx.theme.style(role));
        if let Some(count) = c.count {
            right(buf, count, &row.messages.to_string());
        }
        if let Some(model) = c.model {
            let name = cut::end(&row.model, MODEL, ctx.glyphs.cut);
            paint::text(buf, area.x + model as u16, area.y, MODEL, &name, dim);
        }
        right(buf, c.age, &times::age(ctx.now - row.at));
        if chosen {
            select(area, buf, ctx);
        }
    }

    /// Returns what stands in an empty list.
    fn empty_words(&self) -> String {
        match (&self.failed, self.rows.is_empty(), self.words.is_empty()) {
            (Some(why), ..) => why.clone(),
            (_, true, true) => say::no_session().into(),
            (_, true, false) => say::nothing_found().into(),
            _ => String::new(),
        }
    }
}

fn state_word(state: SessionState, long: bool) -> &'static str {
    match state {
        SessionState::Open if long => say::unclean(),
        SessionState::Open => say::unclean_short(),
        SessionState::InUse => say::in_use(),
        SessionState::Here => say::here(),
        SessionState::Ended => "",
    }
}

/// Files of the preview that are listed in `height` rows.
fn visible_files(p: &SessionPreview, height: u16) -> usize {
    p.files.len().min(usize::from(height / 3))
}

/// Returns the number of rows below the conversation: the files with their line, and the totals.
fn rows_below(files: usize) -> u16 {
    if files > 0 { files as u16 + 5 } else { 3 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::pane::testing;
    use crate::tui::theme::Theme;

    fn row(id: &str, state: SessionState) -> SessionRow {
        SessionRow { id: id.into(), title: format!("about {id}"), state, messages: 2, model: "m".into(), at: 0 }
    }

    #[test]
    fn enter_resumes_and_a_session_in_use_can_only_be_forked() {
        let mut s = Sessions::default();
        let rows = vec![row("a", SessionState::InUse), row("b", SessionState::Open)];
        let queries = s.answer(&s.ask(), &Listing::Sessions(rows));
        assert_eq!(queries, [Query::Preview("a".into())]);
        assert!(!s.offers(Action::Open));
        assert_eq!(
            s.act(Action::Fork),
            SessionsOutcome::Leave(vec![PaneEffect::send(Command::Open(SessionChoice::Fork("a".into())))])
        );
        // The one on the screen is open already.
        s.answer(&s.ask(), &Listing::Sessions(vec![row("a", SessionState::Here), row("b", SessionState::Open)]));
        assert!(!s.offers(Action::Open));
        assert_eq!(
            s.act(Action::Open),
            SessionsOutcome::Stay(vec![PaneEffect::Say("this session is on the screen".into())])
        );
        s.act(Action::Down);
        let resume = Command::Open(SessionChoice::Resume("b".into()));
        assert_eq!(s.act(Action::Open), SessionsOutcome::Leave(vec![PaneEffect::send(resume)]));
        let (id, title) = ("b".to_string(), "about b".to_string());
        assert_eq!(s.act(Action::Remove), SessionsOutcome::Remove { id, title, in_use: false });
    }

    #[test]
    fn a_session_is_listed_until_it_is_deleted() {
        let mut s = Sessions::default();
        let rows = vec![row("a", SessionState::InUse), row("b", SessionState::Ended)];
        s.answer(&s.ask(), &Listing::Sessions(rows));
        assert!(matches!(s.act(Action::Remove), SessionsOutcome::Remove { in_use: true, .. }));
        assert_eq!(Sessions::delete("a"), Effect::Send(Command::Sessions(SessionChange::Delete("a".into()))));
        assert_eq!(s.count(), 2);
        assert_eq!(s.deleted("a"), [Query::Preview("b".into())]);
        assert_eq!((s.count(), s.all, s.selected_id()), (1, Some(1), Some("b")));
        // What is not listed changes nothing.
        s.deleted("a");
        assert_eq!((s.count(), s.all), (1, Some(1)));
    }

    #[test]
    fn in_a_wide_list_the_columns_stand_beside_the_titles() {
        let mut s = Sessions::default();
        s.answer(&s.ask(), &Listing::Sessions(vec![row("a", SessionState::InUse), row("b", SessionState::Ended)]));
        let theme = Theme::shipped("dark");
        testing::note(&theme, |ctx| {
            let columns = s.columns(140, ctx);
            assert!(columns.titles < TITLES + 5 && columns.state < 50 && columns.age < 140, "as wide as its titles");
            assert_eq!(s.columns(82, ctx).age, 81, "a narrow list has all of the width");
            s.rows[0].title = "x".repeat(120);
            assert_eq!(s.columns(140, ctx).age, 139, "so has one with a long title");
            ratatui::text::Line::default()
        });
    }

    #[test]
    fn a_click_asks_for_the_preview_and_the_wheel_leaves_the_selection() {
        let mut s = Sessions::default();
        let rows = (0..9).map(|n| row(&n.to_string(), SessionState::Ended)).collect();
        s.answer(&s.ask(), &Listing::Sessions(rows));
        let theme = Theme::shipped("dark");
        let measure = |s: &mut Sessions| {
            testing::note(&theme, |ctx| {
                s.measure(5, None, &ctx.look());
                ratatui::text::Line::default()
            });
        };
        measure(&mut s);
        let preview = |id: &str| SessionsOutcome::Stay(vec![PaneEffect::Ask(Query::Preview(id.into()))]);
        assert!(s.is_selected_at(1) && !s.is_selected_at(2) && !s.is_selected_at(0));
        assert_eq!(s.select_at(2), preview("1"));
        s.wheel(Action::Down);
        measure(&mut s);
        assert_eq!((s.top, s.selected_id()), (3, Some("1")), "it scrolls past the selected one");
        assert_eq!(s.select_at(1), preview("3"));
        s.wheel(Action::Down);
        s.wheel(Action::Down);
        assert_eq!(s.top, 6, "no further than the last one");
        s.act(Action::Down);
        assert_eq!((s.top, s.selected_id()), (4, Some("4")), "a key brings the selection in sight");
    }

    #[test]
    fn nothing_is_said_of_sessions_until_they_are_known() {
        let mut s = Sessions::default();
        assert_eq!((s.listed, s.note().as_str()), (false, ""));
        s.answer(&s.ask(), &Listing::Sessions(Vec::new()));
        assert_eq!((s.listed, s.note().as_str()), (true, "0 sessions"));
    }

    #[test]
    fn searching_asks_as_one_types() {
        let mut s = Sessions::default();
        let queries = s.line(&LineFor::Search, LineInput::Now("ca"));
        assert_eq!(queries, [PaneEffect::Ask(Query::Sessions("ca".into()))]);
        // An answer to older words is dropped.
        s.answer(&Query::Sessions("c".into()), &Listing::Sessions(vec![row("x", SessionState::Ended)]));
        assert_eq!(s.count(), 0);
    }
}
