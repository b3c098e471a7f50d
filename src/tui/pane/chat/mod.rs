//! The conversation: messages, answers, thoughts, runs of calls and notices, one below the other. It follows the
//! end, or stays where it was scrolled to; one entry may be selected, to be copied, opened, or have its keys taken.

mod lines;
mod notices;
mod offer;
mod transcript;
mod unit;
mod window;
mod words;

#[cfg(test)]
mod tests;

use std::collections::{HashMap, HashSet};

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Modifier;
use ratatui::text::{Line, Span};

use crate::messages::{chat as say, count, tools};
use crate::proposal::ProposalId;
use crate::protocol::{
    Command, EventBody, Item, ItemId, Listing, Notice, NoticeAction, ProposalEvent, Query, RestoreRequest,
};
use crate::tui::action::Action;
use crate::tui::look::{Ctx, Look};
use crate::tui::msg::{Effect, LineFor, LineInput, PaneEffect};
use crate::tui::pane::mark::Mark;
use crate::tui::text::wrap::cells;
use crate::tui::text::{cut, paint};
use crate::tui::theme::Role;
use offer::{first_offer, take};
use unit::{BlockContent, ChatBlock, ChatColumns};
use window::{Find, MOST_HITS, Move, VisibleBlocks, position};
use words::sentences;
pub(super) use words::{StepWords, count_steps, summary_of};

/// The conversation.
#[derive(Debug, Default)]
pub struct Chat {
    window: VisibleBlocks,
    /// The place of each entry: its block, and its place in a run of calls.
    places: HashMap<ItemId, (usize, usize)>,
    /// Files read so far, for `again`.
    read: HashSet<String>,
    running: bool,
    selected: Option<usize>,
    /// The block that is laid out as the selected one.
    whole: Option<usize>,
    moves: Vec<Move>,
    search: Search,
    /// Notices from before anything was said: they stay the last entries until the first turn begins.
    standing: Vec<Notice>,
    /// The proposals that wait, with their files and hunks: a line each below the entries.
    waiting: Vec<(ProposalId, usize, usize)>,
    /// Labels stand beside the text in a narrow pane too.
    beside: bool,
}

#[derive(Debug, Default)]
struct Search {
    words: String,
    /// The block, its row and the place in the row found last.
    at: Option<(usize, usize, usize)>,
    /// Its number among the places that hold the words, and the number of those places.
    hits: (usize, usize),
    /// The block that was folded and is open for the place found last.
    opened: Option<usize>,
}

impl Chat {
    /// Takes in what the agent told.
    pub fn apply(&mut self, event: &EventBody, _now: i64) -> Vec<PaneEffect> {
        match event {
            EventBody::Opened(_) => {
                let (window, standing) = (std::mem::take(&mut self.window), std::mem::take(&mut self.standing));
                *self = Chat { window, ..Chat::default() };
                self.window.clear();
                standing.into_iter().for_each(|notice| self.keep(notice));
            }
            EventBody::Added(id, item) => self.add_before_standing(*id, item),
            EventBody::Grew(id, text) => self.grow(*id, text),
            EventBody::Changed(id, item) => self.change(*id, item),
            EventBody::Undone(changes) => self.undone(changes),
            EventBody::TurnStarted(_) => {
                self.running = true;
                self.standing.clear();
            }
            EventBody::TurnEnded(..) => {
                self.running = false;
                self.finish_last();
            }
            EventBody::Retrying(wait) => {
                self.drop_retry();
                if let Some(wait) = wait {
                    self.push(BlockContent::Retry(wait.clone()));
                }
            }
            EventBody::Proposal(ProposalEvent::Proposed(proposal, _)) => self.proposed(proposal),
            EventBody::Proposal(ProposalEvent::Settled(id, _)) => self.waiting.retain(|(waits, ..)| waits != id),
            _ => {}
        }
        Vec::new()
    }

    /// Returns a conversation to look at: labels beside the text whatever the width.
    pub fn preview(items: &[Item]) -> Chat {
        let mut chat = Chat { beside: true, ..Chat::default() };
        for (id, item) in (0..).zip(items) {
            chat.add(ItemId(id), item);
        }
        chat.finish_last();
        chat
    }

    /// Takes in what was asked for: the chat asks for nothing.
    pub fn answer(&mut self, _query: &Query, _listing: &Listing, _now: i64) -> Vec<PaneEffect> {
        Vec::new()
    }

    /// Returns whether `action` would do something now.
    pub fn offers(&self, action: Action) -> bool {
        let any = !self.window.units.is_empty();
        match action {
            Action::Up | Action::HalfUp | Action::PageUp | Action::First => self.window.above > 0,
            Action::Down | Action::HalfDown | Action::PageDown | Action::Last => !self.window.follow,
            Action::NextItem => self.selected.is_some(),
            Action::PreviousItem | Action::Copy | Action::Search => any,
            Action::NextMatch | Action::PreviousMatch => self.search.hits.1 > 0,
            Action::FoldAll => self.window.units.iter().any(ChatBlock::folds),
            Action::Open => {
                self.current_notice().is_some_and(|n| first_offer(n).is_some()) || self.current_fold().is_some()
            }
            Action::Fold => self.open_file().is_some() || self.current_fold().is_some(),
            Action::RestoreSince => self.current_message().is_some(),
            Action::Again => self.current_notice().is_some_and(|n| n.actions.contains(&NoticeAction::Retry)),
            _ => false,
        }
    }

    /// Does `action`.
    pub fn act(&mut self, action: Action, _now: i64) -> Vec<PaneEffect> {
        match action {
            Action::Up => self.moves.push(Move::Rows(-1)),
            Action::Down => self.moves.push(Move::Rows(1)),
            Action::HalfUp => self.moves.push(Move::Halves(-1)),
            Action::HalfDown => self.moves.push(Move::Halves(1)),
            Action::PageUp => self.moves.push(Move::Halves(-2)),
            Action::PageDown => self.moves.push(Move::Halves(2)),
            Action::First => self.moves.push(Move::First),
            Action::Last => {
                self.selected = None;
                self.moves.push(Move::Last);
            }
            Action::NextItem => self.select_next(),
            Action::PreviousItem => self.select_previous(),
            Action::Copy => return self.copy(),
            Action::Search => {
                let text = self.search.words.clone();
                return vec![PaneEffect::Line { purpose: LineFor::Search, prompt: say::search().into(), text }];
            }
            Action::NextMatch => self.moves.push(Move::Find(true)),
            Action::PreviousMatch => self.moves.push(Move::Find(false)),
            Action::FoldAll => self.fold_all(),
            Action::Open => match self.current_notice().and_then(first_offer).cloned() {
                Some(action) => return take(&action),
                None => self.toggle(self.current_fold()),
            },
            Action::Fold => match self.open_file() {
                Some(path) => return vec![PaneEffect::Run(Effect::OpenFile(path))],
                None => self.toggle(self.current_fold()),
            },
            Action::Again => return take(&NoticeAction::Retry),
            Action::RestoreSince => {
                let since = self.current_message().map(RestoreRequest::SinceMessage);
                return since.map(|request| PaneEffect::send(Command::Restore(request))).into_iter().collect();
            }
            _ => {}
        }
        Vec::new()
    }

    /// Handles the words of a search.
    pub fn line(&mut self, purpose: LineFor, typed: LineInput<'_>, _now: i64) -> Vec<PaneEffect> {
        if purpose == LineFor::Search {
            match typed {
                LineInput::Now(words) | LineInput::Taken(words) => {
                    if self.search.words != words {
                        let opened = self.search.opened;
                        self.search = Search { words: words.to_string(), opened, ..Search::default() };
                        if !words.is_empty() {
                            // What was said last is looked for first.
                            self.search.at = Some((self.window.units.len().saturating_sub(1), usize::MAX, 0));
                            self.moves.push(Move::Find(false));
                        }
                    }
                }
                // The fold with the place found last stays open.
                LineInput::Left => self.search = Search::default(),
            }
        }
        Vec::new()
    }

    /// Returns what nebula said last, since the last message of the person: the text before its last call.
    pub fn last_words(&self) -> String {
        let since = self.window.units.iter().rev().take_while(|unit| !matches!(unit.said, BlockContent::User { .. }));
        let said = since.filter_map(|unit| match &unit.said {
            BlockContent::Answer(doc) => Some(sentences(doc.text())),
            _ => None,
        });
        said.into_iter().find(|words| !words.is_empty()).unwrap_or_default()
    }

    /// Returns what is being said now: `thinking`, `answering`. None: nothing is.
    pub fn now(&self) -> Option<&'static str> {
        match &self.window.units.last()?.said {
            BlockContent::Thinking { over: false, .. } if self.running => Some(say::thinking()),
            BlockContent::Answer(doc) if self.running && !doc.text().is_empty() => Some(say::answering()),
            _ => None,
        }
    }

    /// Shows the message of the person that was stored at a time, in unix milliseconds; its block is made a moment later.
    /// Returns whether there is one.
    pub fn show_message(&mut self, time: i64) -> bool {
        const MOMENT: u64 = 60_000;
        let distance = |unit: &ChatBlock| match unit.said {
            BlockContent::User { at, .. } => Some(at.abs_diff(time)).filter(|distance| *distance < MOMENT),
            _ => None,
        };
        let units = self.window.units.iter().enumerate();
        let found = units.filter_map(|(at, unit)| Some((distance(unit)?, at))).min().map(|(_, at)| at);
        if let Some(at) = found {
            self.selected = Some(at);
            self.moves.push(Move::Show(at));
        }
        found.is_some()
    }

    /// Goes to the end and follows it: the person said something and waits for the answer.
    pub fn follow_end(&mut self) {
        self.selected = None;
        self.moves.push(Move::Last);
    }

    /// Returns whether the person said anything.
    pub fn has_messages(&self) -> bool {
        self.window.units.iter().any(|unit| matches!(unit.said, BlockContent::User { .. }))
    }

    /// Returns whether the last entry is an answer with a plan: the heading that the plan prompt asks for, in whatever
    /// language.
    pub fn ends_in_plan(&self) -> bool {
        let Some(BlockContent::Answer(doc)) = self.window.units.last().map(|u| &u.said) else { return false };
        let headings = doc.text().lines().filter(|line| line.starts_with('#'));
        headings.map(str::to_lowercase).any(|line| line.contains("plan") || line.contains("計画"))
    }

    /// Handles a click inside the body: selects an entry, or opens and closes its fold.
    pub fn click(&mut self, _column: u16, row: u16, _now: i64) -> Vec<PaneEffect> {
        if let Some((unit, row)) = self.window.at(usize::from(row)) {
            self.selected = Some(unit);
            if self.window.units[unit].is_fold_row(row) {
                self.toggle(Some(unit));
            }
        }
        Vec::new()
    }

    /// Takes the size of the body that is drawn next.
    pub fn measure(&mut self, width: u16, height: u16, look: &Look<'_>) {
        let moves = std::mem::take(&mut self.moves);
        self.window.growing = self.is_growing();
        if self.whole != self.selected {
            for (number, whole) in [(self.whole, false), (self.selected, true)] {
                if let Some(unit) = number.and_then(|n| self.window.units.get_mut(n)) {
                    unit.whole = whole;
                }
            }
            self.whole = self.selected;
        }
        let Search { words, at, hits, opened } = &self.search;
        let mut find = Find { words, at: *at, hits: *hits, opened: *opened };
        let height = usize::from(height - self.waiting_rows(height));
        self.window.measure(ChatColumns::new(width, self.beside), height, &moves, &mut find, look);
        let (at, hits, opened) = (find.at, find.hits, find.opened);
        (self.search.at, self.search.hits, self.search.opened) = (at, hits, opened);
    }

    /// Returns the title on the pane line.
    pub fn title(&self) -> String {
        say::chat().into()
    }

    /// Returns the note on the pane line: how much lies below.
    pub fn note(&self, width: u16, ctx: &Ctx<'_>) -> Line<'static> {
        let text = match (self.search_hits().filter(|_| ctx.focus), self.window.below) {
            (Some(hits), _) => cut::search(&self.search.words, &hits, usize::from(width)),
            (None, 0) => return Line::default(),
            (None, below) => tools::below(&count::lines(below)),
        };
        if cells(&text) > usize::from(width) {
            return Line::default();
        }
        Span::styled(text, ctx.theme.style(Role::Dim)).into()
    }

    /// Returns `2 of 7`, while words are looked for.
    pub fn search_hits(&self) -> Option<String> {
        let (at, all) = self.search.hits;
        // From there on they are not counted.
        let more = if all >= MOST_HITS { "+" } else { "" };
        (!self.search.words.is_empty()).then(|| format!("{}{more}", cut::hits(at, all)))
    }

    /// Returns what a tab shows: the calls' tab tells what runs.
    pub fn mark(&self) -> Option<Mark> {
        None
    }

    /// Draws the body.
    pub fn draw(&self, area: Rect, buf: &mut Buffer, ctx: &Ctx<'_>) {
        let all = area;
        let area = Rect { height: all.height - self.waiting_rows(all.height), ..all };
        let mut y = area.y;
        for (number, rows) in self.window.visible() {
            let height = rows.len().min(usize::from(area.bottom().saturating_sub(y))) as u16;
            let unit = &self.window.units[*number];
            let growing = self.is_growing() && number + 1 == self.window.units.len();
            unit.draw(rows.start..rows.start + usize::from(height), (area.x, y), growing, buf, ctx);
            if self.selected == Some(*number) && ctx.focus {
                // The gap above is not part of what is selected.
                let gap = if rows.start == 0 { unit.gap_height() as u16 } else { 0 };
                let rows = Rect { x: area.x, y: y + gap, width: area.width, height: height.saturating_sub(gap) };
                select(rows, buf, ctx);
            }
            y += height;
        }
        self.draw_waiting(Rect { y, height: all.height - area.height, ..all }, buf, ctx);
        if !self.search.words.is_empty() {
            self.mark_found(area, buf, ctx);
        }
        self.draw_thumb(area, buf, ctx);
    }
}

impl Chat {
    /// Returns the entry that keys act on: the selected entry, else the last one in view that can be acted on.
    fn current(&self, can: impl Fn(&ChatBlock) -> bool) -> Option<usize> {
        let good = |n: &usize| self.window.units.get(*n).is_some_and(&can);
        match self.selected {
            Some(n) => Some(n).filter(good),
            None => self.window.visible().iter().rev().map(|(n, _)| *n).find(good),
        }
    }

    /// Returns the selected message of the person: its number among theirs, from 0.
    fn current_message(&self) -> Option<usize> {
        let said = |unit: &ChatBlock| matches!(unit.said, BlockContent::User { .. });
        let at = self.selected.filter(|at| self.window.units.get(*at).is_some_and(said))?;
        Some(self.window.units[..at].iter().filter(|u| said(u)).count())
    }

    fn current_fold(&self) -> Option<usize> {
        self.current(ChatBlock::folds)
    }

    /// Returns whether Enter closes a fold.
    pub fn closes_fold(&self) -> bool {
        let is_open = |n: usize| self.window.units.get(n).is_some_and(|unit| unit.open);
        self.current_notice().and_then(first_offer).is_none() && self.current_fold().is_some_and(is_open)
    }

    fn toggle(&mut self, unit: Option<usize>) {
        if let Some((number, unit)) = unit.and_then(|n| Some((n, self.window.units.get_mut(n)?))) {
            unit.open = !unit.open;
            let is_open = unit.open;
            self.search.opened = None;
            self.window.hold();
            if is_open {
                self.moves.push(Move::Show(number));
            }
        }
    }

    fn fold_all(&mut self) {
        self.search.opened = None;
        let open = !self.window.units.iter().any(|u| u.folds() && u.open);
        self.window.units.iter_mut().filter(|u| u.folds()).for_each(|u| u.open = open);
        self.window.hold();
    }

    fn select_next(&mut self) {
        let next = self.selected.map_or(0, |n| n + 1);
        if next < self.window.units.len() {
            self.selected = Some(next);
            self.moves.push(Move::Show(next));
        } else {
            // Beyond the last entry nothing is selected, and the end is followed.
            self.selected = None;
            self.moves.push(Move::Last);
        }
    }

    fn select_previous(&mut self) {
        let last_seen = || self.window.visible().last().map(|(n, _)| *n);
        let previous = match self.selected {
            Some(n) => Some(n.saturating_sub(1)),
            None => last_seen(),
        };
        self.selected = previous;
        self.moves.extend(previous.map(Move::Show));
    }

    fn copy(&self) -> Vec<PaneEffect> {
        let answer = |u: &ChatBlock| matches!(u.said, BlockContent::Answer(_));
        let last_answer = || self.window.units.iter().rposition(answer);
        let unit = self.selected.or_else(last_answer).or(self.window.units.len().checked_sub(1));
        match unit.and_then(|n| self.window.units.get(n)) {
            Some(unit) => vec![PaneEffect::Run(Effect::Copy(unit.copied().into_owned()))],
            None => Vec::new(),
        }
    }

    /// Returns whether the last entry still grows.
    fn is_growing(&self) -> bool {
        self.running && self.waiting.is_empty()
    }

    /// Returns the rows of the proposals that wait, in a pane of this height: an empty one first, but below a fold.
    fn waiting_rows(&self, height: u16) -> u16 {
        let gap = self.window.units.last().is_some_and(|unit| !unit.said.is_fold());
        let rows = if self.waiting.is_empty() { 0 } else { self.waiting.len() + usize::from(gap) };
        u16::try_from(rows).unwrap_or(u16::MAX).min(height / 2)
    }

    /// Draws the proposals that wait, the newest last.
    fn draw_waiting(&self, area: Rect, buf: &mut Buffer, ctx: &Ctx<'_>) {
        let columns = ChatColumns::new(area.width, self.beside);
        for (y, (_, files, hunks)) in (area.top()..area.bottom()).rev().zip(self.waiting.iter().rev()) {
            let line = lines::proposal(*files, *hunks, columns.width, &ctx.look());
            paint::spans(buf, area.x + columns.text as u16, y, columns.width, &line.spans);
        }
    }

    /// Marks the letters that were looked for.
    fn mark_found(&self, area: Rect, buf: &mut Buffer, ctx: &Ctx<'_>) {
        let style = ctx.theme.style(Role::Focus).add_modifier(Modifier::BOLD | Modifier::UNDERLINED);
        for y in area.top()..area.bottom() {
            let (mut text, mut columns) = (String::new(), Vec::new());
            for x in area.left()..area.right() {
                let symbol = buf[(x, y)].symbol();
                columns.extend(std::iter::repeat_n(x, symbol.len()));
                text.push_str(symbol);
            }
            let mut at = 0;
            while let Some(found) = position(&text[at..], &self.search.words) {
                let (from, to) = (at + found, at + found + self.search.words.len());
                for x in &columns[from..to] {
                    buf[(*x, y)].set_style(style);
                }
                at = to;
            }
        }
    }

    fn draw_thumb(&self, area: Rect, buf: &mut Buffer, ctx: &Ctx<'_>) {
        let height = usize::from(area.height);
        let total = self.window.above + height + self.window.below;
        if total <= height || area.width == 0 {
            return;
        }
        let size = (height * height / total).max(1);
        let room = height - size.min(height);
        let top = (self.window.above * room + (total - height) / 2) / (total - height);
        for y in top..(top + size).min(height) {
            paint::text(buf, area.right() - 1, area.y + y as u16, 1, ctx.glyphs.thumb, ctx.theme.style(Role::Dim));
        }
    }
}

/// Shows that rows are selected: a bar in the first column, and the tint over all.
fn select(rows: Rect, buf: &mut Buffer, ctx: &Ctx<'_>) {
    let rows = rows.intersection(buf.area);
    paint::tint(buf, rows, ctx.theme);
    for y in rows.top()..rows.bottom() {
        paint::text(buf, rows.x, y, 1, ctx.glyphs.selected, ctx.theme.on(Role::Focus, Role::Selection));
    }
}
