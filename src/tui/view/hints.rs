//! The hints: keys that do something now, as many as fit, in order of use; `? help` always.

use ratatui::buffer::Buffer;

use super::super::action::{Action, Context, GROUPS, Group};
use super::super::app::{App, Focus};
use super::super::text::paint;
use super::super::text::wrap::cells;
use super::super::theme::Role;

/// Draws them in the last row.
pub(super) fn draw(app: &App, buf: &mut Buffer) {
    let Some(area) = app.rects.hints else { return };
    let mut pairs = list(app);
    // Help comes last and always has its place.
    let help = pairs.iter().position(|(_, word)| word == "help").map(|i| pairs.remove(i));
    let kept = help.as_ref().map_or(0, |(k, w)| cells(k) + 1 + cells(w) + 3);
    let mut x = area.x + 1;
    let right = area.right();
    let mut put = |x: &mut u16, key: &str, word: &str| {
        let room = usize::from(right.saturating_sub(*x));
        *x += paint::text(buf, *x, area.y, room, key, app.theme.style(Role::Text)) as u16 + 1;
        let room = usize::from(right.saturating_sub(*x));
        *x += paint::text(buf, *x, area.y, room, word, app.theme.style(Role::Dim)) as u16 + 3;
    };
    for (key, word) in &pairs {
        if usize::from(x) + cells(key) + 1 + cells(word) + kept <= usize::from(right) {
            put(&mut x, key, word);
        }
    }
    if let Some((key, word)) = help {
        put(&mut x, &key, &word);
    }
}

/// Keys and words of the present context.
pub(in crate::tui) fn list(app: &App) -> Vec<(String, String)> {
    let context = app.context_below();
    let mut pairs: Vec<(String, String)> = Vec::new();
    if app.focus_below() == Focus::Question
        && let Some(asking) = app.question().filter(|q| !q.choices().is_empty())
    {
        pairs.push((format!("1-{}", asking.choices().len()), "choose".to_string()));
    }
    // Under a completion the input's keys are still the ones to know.
    let inner = if context == Context::Completion { Context::Input } else { context };
    for around in std::iter::once(&inner).chain(inner.outer()) {
        for group in GROUPS.iter().filter(|g| g.context == *around && !g.hint.is_empty()) {
            // A context's own word for a key comes before the general one.
            pairs.extend(hint(app, inner, group).filter(|(key, _)| !pairs.iter().any(|(k, _)| k == key)));
        }
    }
    pairs
}

fn hint(app: &App, inner: Context, group: &Group) -> Option<(String, String)> {
    let mut shown: Vec<String> = Vec::new();
    for action in group.actions.iter().filter(|a| app.offers(group.context, **a)) {
        let key = match (action, group.context) {
            (Action::Mention, _) => Some("@".into()),
            (Action::Commands, Context::Input) => Some("/".into()),
            (Action::Help, Context::Global) => help_key(app, inner),
            _ => app.keys.word(inner, *action),
        };
        shown.extend(key);
    }
    if shown.is_empty() {
        return None;
    }
    let key = match group.actions {
        [one @ (Action::Up | Action::BackInTime), other] => app.keys.pair(inner, [*one, *other])?,
        _ => shown.join(" "),
    };
    Some((key, word(app, group)))
}

/// `?` where a letter is no text, else F1.
fn help_key(app: &App, inner: Context) -> Option<String> {
    if inner == Context::Input && app.input.is_empty() {
        return Some("?".into());
    }
    app.keys.word(inner, Action::Help)
}

/// The word of a hint, as the state has it.
fn word(app: &App, group: &Group) -> String {
    match (group.context, group.actions) {
        (Context::Input, [Action::Send]) if app.question().is_some() => "answer".into(),
        (Context::Input, [Action::Send]) if app.is_busy() => "queue".into(),
        (Context::Pane, [Action::Zoom]) if app.zoom => "unzoom".into(),
        (Context::List, [Action::Choose]) => "choose".into(),
        (Context::Diff, [Action::Layout]) => app.panes.diff.other_layout().into(),
        _ => group.hint.into(),
    }
}
