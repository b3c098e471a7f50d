//! The hints: keys that do something now, as many as fit, in order of use; `? keys` always.

use ratatui::buffer::Buffer;

use super::super::action::{Action, Context};
use super::super::app::{App, Focus, Screen};
use super::super::key_groups::{GROUPS, Group};
use super::super::popup::Popup;
use super::super::text::wrap::cells;
use super::super::text::{cut, paint};
use super::super::theme::Role;
use crate::messages::{actions, card, hints as say};

/// Keys that give way first where there is no room for all.
const MINOR: [Action; 6] =
    [Action::Toggle, Action::NextFile, Action::Layout, Action::ToggleMode, Action::FocusDiff, Action::FocusArchive];

/// A key, its word, and how early it gives way: the larger, the earlier.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::tui) struct Hint {
    pub key: String,
    pub word: String,
    rank: u8,
}

impl Hint {
    fn cells(&self) -> usize {
        cells(&self.key) + 1 + cells(&self.word) + 3
    }
}

/// Draws them in the last row.
pub(super) fn draw(app: &App, buf: &mut Buffer) {
    let Some(area) = app.rects.hints else { return };
    let mut x = area.x + 1;
    let right = area.right();
    if let Some(words) = super::bar::said_below(app) {
        let room = usize::from(area.width.saturating_sub(2));
        let words = cut::words(words, room, app.appearance.glyphs.cut);
        paint::text(buf, x, area.y, room, &words, app.appearance.theme.style(Role::Text));
        return;
    }
    let hints = match app.popups.last() {
        Some(Popup::Connect(form)) if form.inside().is_some() => {
            let keys = form.hints(&app.ctx(true)).into_iter();
            keys.map(|(key, word)| Hint { key, word: word.into(), rank: 1 }).collect()
        }
        _ => list(app),
    };
    for hint in fitted(app, hints, usize::from(area.width) + 2) {
        let room = usize::from(right.saturating_sub(x));
        x += paint::text(buf, x, area.y, room, &hint.key, app.appearance.theme.style(Role::Text)) as u16 + 1;
        let room = usize::from(right.saturating_sub(x));
        x += paint::text(buf, x, area.y, room, &hint.word, app.appearance.theme.style(Role::Dim)) as u16 + 3;
    }
}

/// The actions on the selected session, whose keys say their modifier once where there is no room for each.
const ON_SESSION: [Action; 4] = [Action::Rename, Action::Fork, Action::Remove, Action::Export];

/// Returns the hints that have room in `width` cells, with the keys of the list of sessions joined where they must be.
fn fitted(app: &App, hints: Vec<Hint>, width: usize) -> Vec<Hint> {
    let joined = (app.context_below() == Context::Sessions).then(|| joined(app, &hints)).flatten();
    let needed = |hints: &[Hint]| hints.iter().filter(|hint| hint.rank <= 2).count();
    let all = needed(&hints);
    let separate = fitting(hints, width);
    match joined {
        Some((hint, hints)) if needed(&separate) < all => {
            let fits = fitting(hints, width);
            if fits.contains(&hint) { fits } else { separate }
        }
        _ => separate,
    }
}

/// Returns the keys that do something with a session as one hint, and all hints with it in their place. None: they have
/// no modifier in common.
fn joined(app: &App, hints: &[Hint]) -> Option<(Hint, Vec<Hint>)> {
    let key = |action: &Action| app.keyboard.keys.word(Context::Sessions, *action);
    let keys: Vec<String> = ON_SESSION.iter().filter_map(key).collect();
    let is_own = |hint: &Hint| keys.contains(&hint.key);
    let at = hints.iter().position(is_own)?;
    let (own, mut rest): (Vec<Hint>, Vec<Hint>) = hints.iter().cloned().partition(is_own);
    let before = own[0].key.rsplit_once('-')?.0;
    let ends = own.iter().map(|hint| hint.key.rsplit_once('-').filter(|(same, _)| *same == before).map(|(_, end)| end));
    let ends = ends.collect::<Option<Vec<_>>>()?.join("/");
    let words: Vec<&str> = own.iter().map(|hint| hint.word.as_str()).collect();
    let hint = Hint { key: format!("{before}-{ends}"), word: words.join(", "), rank: 2 };
    rest.insert(at, hint.clone());
    Some((hint, rest))
}

/// Returns those that have room in `width` cells, in their order.
fn fitting(hints: Vec<Hint>, width: usize) -> Vec<Hint> {
    let mut order: Vec<usize> = (0..hints.len()).collect();
    order.sort_by_key(|i| hints[*i].rank);
    let (mut left, mut fits) = (width.saturating_sub(1), vec![false; hints.len()]);
    for i in order {
        if hints[i].cells() <= left {
            left -= hints[i].cells();
            fits[i] = true;
        }
    }
    hints.into_iter().zip(fits).filter_map(|(hint, fits)| fits.then_some(hint)).collect()
}

/// Keys and words of the present context.
pub(in crate::tui) fn list(app: &App) -> Vec<Hint> {
    let context = app.context_below();
    let mut hints: Vec<Hint> = Vec::new();
    if app.focus_below() == Focus::Question
        && let Some(asking) = app.question()
    {
        hints.extend(asking.keys().into_iter().map(|(key, word)| Hint { key, word, rank: 1 }));
    }
    // Under a completion the input's keys are still the ones to know.
    let inner = if context == Context::Completion { Context::Input } else { context };
    for around in std::iter::once(&inner).chain(inner.outer()) {
        for group in GROUPS.iter().filter(|g| g.context == *around && !g.hint().is_empty()) {
            let Some((key, word)) = hint(app, inner, group) else { continue };
            // A context's own word for a key comes before the general one.
            if hints.iter().any(|h| h.key == key) {
                continue;
            }
            let minor = u8::from(MINOR.contains(&group.actions[0]));
            let rank = match group.actions[0] {
                // Help always has its place.
                Action::Help => 0,
                // They work after a search alone.
                Action::NextMatch => 1,
                // What decides. The way out stands in the input's line as well.
                Action::Accept | Action::Reject | Action::Comment | Action::NextHunk if inner == Context::Diff => 1,
                Action::AcceptAll | Action::RejectAll if inner == Context::Diff => 1,
                Action::Restore | Action::RestoreSince if inner == Context::Timeline => 1,
                // Without it what was decided comes to nothing.
                Action::Open if inner == Context::Review && is_staged(app) => 1,
                // Without them not all is seen.
                Action::Up if inner == Context::Card => 1,
                Action::PageUp if inner == Context::Question => 1,
                // The ways in and out.
                Action::Open | Action::Close if inner == Context::Sessions => 1,
                Action::New if inner == Context::Sessions => 3,
                _ if group.context == inner => 2 + minor,
                _ => 4 + minor,
            };
            hints.push(Hint { key, word, rank });
            // What a message begins with is no action.
            if group.actions == [Action::Commands] && *around == Context::Input && !app.is_answering() {
                hints.push(Hint { key: "!".into(), word: say::run().into(), rank: 3 });
            }
        }
    }
    // Help, and after it the way out, come last.
    hints.sort_by_key(|h| match h.rank {
        0 => 1,
        _ if h.word == actions::quit() => 2,
        _ => 0,
    });
    hints
}

fn is_staged(app: &App) -> bool {
    matches!(&app.screen, Screen::Review(review) if review.is_staged())
}

fn hint(app: &App, inner: Context, group: &Group) -> Option<(String, String)> {
    let mut visible: Vec<String> = Vec::new();
    for action in group.actions.iter().filter(|a| app.offers(group.context, **a)) {
        let key = match (action, group.context) {
            (Action::Comment, Context::Diff) if !app.panes.diff.asks_model() => None,
            (Action::Mention, _) => Some("@".into()),
            (Action::Commands, Context::Input) => Some("/".into()),
            (Action::Sessions, Context::Input) => app.keyboard.keys.word(inner, Action::Down),
            _ => app.keyboard.keys.word_offered(inner, *action, |action| app.takes_key(action)),
        };
        visible.extend(key);
    }
    if visible.is_empty() {
        return None;
    }
    let key = match group.actions {
        [one @ (Action::Up | Action::BackInTime), other] => app.keyboard.keys.pair(inner, [*one, *other])?,
        _ => visible.join(" "),
    };
    Some((key, word(app, group)))
}

/// Returns the word of a hint, as the state has it.
fn word(app: &App, group: &Group) -> String {
    match (group.context, group.actions) {
        (_, [Action::FocusDiff]) if app.attention().is_some_and(|what| what.proposal().is_some()) => {
            say::to_review().into()
        }
        (Context::Graph, [Action::Open]) if matches!(&app.screen, Screen::Graph(graph) if graph.is_confirming()) => {
            say::yes().into()
        }
        (Context::Card, [Action::Accept]) if app.card().is_some_and(|(_, state)| !state.is_read()) => {
            card::next_rows().into()
        }
        (Context::Input, [Action::Send]) if app.is_answering() => say::answer().into(),
        (Context::Input, [Action::Send]) if app.is_busy() => say::queue().into(),
        (Context::Pane, [Action::Zoom]) if app.layout.zoom => say::unzoom().into(),
        (Context::List, [Action::Choose]) => say::choose().into(),
        (Context::Graph, [Action::Search]) if matches!(&app.screen, Screen::Graph(graph) if graph.is_in_detail()) => {
            say::search().into()
        }
        (Context::Review, [Action::Open]) if matches!(&app.screen, Screen::Review(review) if review.is_in_diff()) => {
            let is_decided = matches!(&app.screen, Screen::Review(review) if review.is_decided());
            if is_decided { say::run_decisions().into() } else { say::next_undecided().into() }
        }
        (Context::Tools, [Action::Open]) if app.panes.tools.is_viewing() => say::close().into(),
        (Context::Chat, [Action::Open]) if app.panes.chat.closes_fold() => say::close().into(),
        (Context::Archive, [Action::Escape]) if app.panes.archive.restoring().is_some() => say::cancel().into(),
        (Context::Archive, [Action::Open]) if app.panes.archive.restoring().is_some() => say::preview().into(),
        (Context::Archive, [Action::Open]) if app.panes.archive.is_comparing() => say::list().into(),
        (Context::Diff, [Action::Accept]) if app.panes.diff.writes_at_once() => say::writes().into(),
        (Context::Diff, [Action::Layout]) => app.panes.diff.other_layout().into(),
        _ => group.hint().into(),
    }
}
