//! The keys that decide about a command, above the input.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};

use super::rule;
use super::state::CardState;
use crate::messages::card as say;
use crate::protocol::CommandCard;
use crate::tui::action::{Action, Context};
use crate::tui::look::Ctx;
use crate::tui::pane::line::line;
use crate::tui::popup;
use crate::tui::text::{cut, paint, wrap};
use crate::tui::theme::Role;

/// Columns from which choices stand in two columns.
const TWO: u16 = 120;

/// A choice: its action, its name, what it does.
type CardChoice = (Action, &'static str, &'static str);

fn choices(card: &CommandCard) -> Vec<CardChoice> {
    let state = CardState::default();
    let all: [CardChoice; 8] = [
        (Action::Accept, say::run(), say::run_does()),
        (Action::Reject, say::refuse(), say::refuse_does()),
        (Action::EditResult, say::edit(), say::edit_does()),
        (Action::RunInView, say::preview(), say::preview_does()),
        (Action::WithNetwork, say::with_network(), say::with_network_does()),
        (Action::AlwaysRun, say::always(), say::always_does()),
        (Action::AcceptSession, say::review(), say::review_does()),
        (Action::Later, say::later(), say::later_does()),
    ];
    all.into_iter().filter(|(action, ..)| state.offers(card, *action)).collect()
}

/// Returns the number of rows of the choices with their line, on a screen of this size. Where one each would take more than
/// half of it they stand close, and the card has the other rows.
pub fn rows(card: &CommandCard, state: &CardState, (width, height): (u16, u16), ctx: &Ctx<'_>) -> u16 {
    let listed = listed_rows(card, width);
    // A rule that is being made needs them.
    if listed <= height / 2 || state.rule.is_some() {
        return listed;
    }
    let close = places(&choices(card), width, ctx).last().map_or(0, |last| last.bottom());
    listed.min(close + 1)
}

/// Returns the number of rows of the choices where each has its own, with their line and the empty row below.
fn listed_rows(card: &CommandCard, width: u16) -> u16 {
    let count = choices(card).len();
    let rows = if width >= TWO { count.div_ceil(2) } else { count };
    u16::try_from(rows + 2).unwrap_or(u16::MAX)
}

/// Draws the choices.
pub fn draw(card: &CommandCard, state: &CardState, area: Rect, buf: &mut Buffer, ctx: &Ctx<'_>) {
    let dim = ctx.theme.style(Role::Dim);
    let title = Span::styled(say::decide(), dim);
    let note = Span::styled(card.rule.clone(), dim);
    line(Rect { height: 1, ..area }, Line::from(title), false, Some(note.into()), buf, ctx);
    let inside = Rect { y: area.y + 1, height: area.height.saturating_sub(2), ..area };
    if let Some((count, keep)) = state.rule {
        return draw_rule(card, count, keep, inside, buf, ctx);
    }
    let mut all = choices(card);
    if !state.is_read() {
        let unread = |choice: &mut CardChoice| (choice.1, choice.2) = (say::next_rows(), say::next_rows_do());
        all.iter_mut().filter(|choice| choice.0 == Action::Accept).for_each(unread);
        let waits = |choice: &&mut CardChoice| !state.offers(card, choice.0);
        all.iter_mut().filter(waits).for_each(|choice| choice.2 = say::after_rows());
    }
    if area.height < listed_rows(card, area.width) {
        all.retain(|choice| state.offers(card, choice.0));
        return draw_close(&all, Rect { height: area.height.saturating_sub(1), ..inside }, buf, ctx);
    }
    let two = area.width >= TWO;
    let first = if two { all.len().div_ceil(2) } else { all.len() };
    let names = all.iter().map(|(_, name, _)| wrap::cells(name)).max().unwrap_or(0);
    let column = if two { area.width / 2 } else { area.width };
    for (i, (action, name, does)) in all.iter().enumerate() {
        let (x, y) = (inside.x + if i < first { 0 } else { column }, inside.y + (i % first.max(1)) as u16);
        if y >= inside.bottom() {
            continue;
        }
        let is_default = *action == Action::Reject;
        let bold = ctx.theme.style(Role::Text).add_modifier(Modifier::BOLD);
        let style = match is_default {
            true => bold,
            false if state.offers(card, *action) => ctx.theme.style(Role::Text),
            false => dim,
        };
        let key = ctx.key(Context::Card, *action).unwrap_or_default();
        let comes_back = || ctx.key(Context::Global, Action::FocusQuestion).map(|key| say::later_comes_back(&key));
        let does = Some(*action)
            .filter(|action| *action == Action::Later)
            .and_then(|_| comes_back())
            .unwrap_or((*does).into());
        let room = |used: usize| usize::from(column).saturating_sub(used + 1);
        paint::text(buf, x + 1, y, 5, &key, bold);
        paint::text(buf, x + 6, y, room(6), name, style);
        // Half a sentence is none.
        if wrap::cells(&does) <= room(8 + names) {
            paint::text(buf, x + 8 + names as u16, y, room(8 + names), &does, dim);
        }
        if is_default && ctx.focus {
            popup::select(Rect { x, y, width: column, height: 1 }, buf, ctx);
        }
    }
}

/// Draws the choices one behind the other, where not each has a row: a key that decides is named.
fn draw_close(all: &[CardChoice], area: Rect, buf: &mut Buffer, ctx: &Ctx<'_>) {
    let (text, bold) = (ctx.theme.style(Role::Text), ctx.theme.style(Role::Text).add_modifier(Modifier::BOLD));
    for ((action, name, _), place) in all.iter().zip(places(all, area.width, ctx)) {
        let key = ctx.key(Context::Card, *action).unwrap_or_default();
        let Rect { x, y, width, .. } = Rect { x: area.x + place.x, y: area.y + place.y, ..place };
        if y >= area.bottom() {
            return;
        }
        let is_default = *action == Action::Reject;
        paint::text(buf, x, y, usize::from(area.right() - x), &key, bold);
        let name_x = x + wrap::cells(&key) as u16 + 1;
        let room = usize::from(area.right().saturating_sub(name_x));
        paint::text(buf, name_x, y, room, name, if is_default { bold } else { text });
        if is_default && ctx.focus {
            paint::tint(buf, Rect { x, y, width, height: 1 }, ctx.theme);
        }
    }
}

/// Returns the places of choices that stand one behind the other in `width` columns.
fn places(all: &[CardChoice], width: u16, ctx: &Ctx<'_>) -> Vec<Rect> {
    let (mut x, mut y) = (1, 0);
    let place = |(action, name, _): &CardChoice| {
        let key = ctx.key(Context::Card, *action).unwrap_or_default();
        let cells = (wrap::cells(&key) + 1 + wrap::cells(name)) as u16;
        if x > 1 && x + cells >= width {
            (x, y) = (1, y + 1);
        }
        let place = Rect { x, y, width: cells, height: 1 };
        x += cells + 3;
        place
    };
    all.iter().map(place).collect()
}

/// Returns a line with more words behind it.
fn with(line: &Line<'static>, words: &str, style: Style) -> Line<'static> {
    let more = Span::styled(words.to_string(), style);
    line.spans.iter().cloned().chain([more]).collect::<Vec<_>>().into()
}

/// Draws the lines of a rule that is being made.
fn draw_rule(card: &CommandCard, count: usize, keep: bool, area: Rect, buf: &mut Buffer, ctx: &Ctx<'_>) {
    let (text, dim) = (ctx.theme.style(Role::Text), ctx.theme.style(Role::Dim));
    let room = usize::from(area.width.saturating_sub(2));
    let (label, words, rest) = rule::words(card, count);
    let rule = [Span::styled(label, dim), Span::styled(words, text.add_modifier(Modifier::BOLD))];
    let mut lines = wrap::wrap(&rule, room);
    let most = usize::from(area.height.saturating_sub(rule::BELOW)).max(1);
    if lines.len() > most {
        lines.truncate(most);
        lines[most - 1] = cut::line(with(&lines[most - 1], ctx.glyphs.cut, dim), room, ctx.glyphs.cut, dim);
    } else if let Some(last) = lines.last_mut().filter(|_| !rest.is_empty()) {
        *last = cut::line(with(last, &format!(" {} {rest}", ctx.glyphs.cut), dim), room, ctx.glyphs.cut, dim);
    }
    for (y, line) in (area.y..area.bottom()).zip(&lines) {
        paint::spans(buf, area.x + 1, y, room, &line.spans);
    }
    let scope = if keep { say::rule_kept() } else { say::rule_session() };
    for (y, line) in (area.y + lines.len() as u16..area.bottom()).zip([scope.to_string(), rule_keys(keep, ctx)]) {
        paint::text(buf, area.x + 1, y, room, &cut::end(&line, room, ctx.glyphs.cut), dim);
    }
}

/// Returns `Left shorter · Right longer · …`: the keys of a rule that is being made.
fn rule_keys(keep: bool, ctx: &Ctx<'_>) -> String {
    let keys = [
        (Action::Left, say::shorter()),
        (Action::Right, say::longer()),
        (Action::Toggle, if keep { say::do_not_keep() } else { say::keep_it() }),
        (Action::Answer, say::makes_rule()),
        (Action::Later, say::back()),
    ];
    let words =
        keys.into_iter().filter_map(|(action, does)| Some(format!("{} {does}", ctx.key(Context::Card, action)?)));
    words.collect::<Vec<_>>().join(&format!(" {} ", ctx.glyphs.dot))
}
