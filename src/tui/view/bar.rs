//! The input line (what nebula is doing, what to press) and the input below it.

use ratatui::buffer::Buffer;
use ratatui::layout::Position;
use ratatui::style::Modifier;
use ratatui::text::{Line, Span};

use super::super::action::Action;
use super::super::app::{App, Focus, Screen};
use super::super::input::complete::Completion;
use super::super::text::{cut, paint, wrap};
use super::super::theme::Role;
use crate::protocol::TurnEnd;

/// Draws both and tells where the terminal's cursor goes.
pub(super) fn draw(app: &App, buf: &mut Buffer) -> Option<Position> {
    let rects = &app.rects;
    let focus = matches!(app.focus(), Focus::Input | Focus::Line);
    let ctx = app.ctx(focus);
    super::line(rects.bar, state(app, focus), focus, note(app), buf, &ctx);
    joins(app, focus, buf);
    let area = rects.input;
    let prompt = if focus { Role::Focus } else { Role::Dim };
    let mut style = app.theme.style(prompt);
    if focus {
        style = style.add_modifier(Modifier::BOLD);
    }
    paint::text(buf, area.x + 1, area.y, 1, app.glyphs.prompt, style);
    let width = usize::from(area.width.saturating_sub(4));
    if app.editor().is_empty() {
        let words = empty_words(app);
        let words = cut::end(&words, width, app.glyphs.cut);
        paint::text(buf, area.x + 3, area.y, width, &words, app.theme.style(Role::Dim));
        return focus.then(|| Position::new(area.x + 3, area.y));
    }
    let rows = app.input_rows();
    let height = usize::from(area.height);
    // The caret's row stays in sight.
    let top = (rows.caret.0 + 1).saturating_sub(height).min(rows.rows.len().saturating_sub(height));
    for (i, row) in rows.rows.iter().enumerate().skip(top).take(height) {
        let mut x = area.x + 3;
        for part in &row.parts {
            let role = match (part.mention, part.dim) {
                (true, _) => Role::Mention,
                (_, true) => Role::Dim,
                _ => Role::Text,
            };
            let room = usize::from(area.right().saturating_sub(x));
            x += paint::text(buf, x, area.y + (i - top) as u16, room, &part.shown, app.theme.style(role)) as u16;
        }
    }
    let x = area.x + 3 + u16::try_from(rows.caret.1).unwrap_or(0);
    focus.then(|| Position::new(x.min(area.right().saturating_sub(1)), area.y + (rows.caret.0 - top) as u16))
}

/// Where upright rules above meet the input line.
fn joins(app: &App, focus: bool, buf: &mut Buffer) {
    // The first line below the panes: a question's, the queue's, or the input line.
    let (row, heavy) = match (app.rects.question, app.rects.queue) {
        (question, _) if question.height > 0 => (question.y, app.focus() == Focus::Question),
        (_, queue) if queue.height > 0 => (queue.y, false),
        _ => (app.rects.bar.y, focus),
    };
    if row == 0 || app.rects.notices.height > 0 {
        return;
    }
    let line = app.theme.style(Role::Line);
    // Between the sides of a diff the rule may stop above at a fold; below it ends in the input line all the same.
    let diff = app.rects.place(super::PaneId::Diff).filter(|_| matches!(app.screen, Screen::Main));
    let sides = diff.and_then(|place| app.panes.diff.middle().map(|x| place.body.x + x));
    for x in 0..app.rects.bar.width {
        let above = &buf[(x, row - 1)];
        let is_rule = above.symbol() == app.glyphs.upright && above.fg == line.fg.unwrap_or(above.fg);
        let on_rule = [app.glyphs.heavy, app.glyphs.rule].contains(&buf[(x, row)].symbol());
        // In the left column an upright may be a quote's or a block's.
        let joins = match (&app.screen, app.rects.rule) {
            (Screen::Welcome(_), _) => false,
            (Screen::Main, Some(rule)) => rule.x == x,
            _ => full_rule(app, x, row, buf),
        };
        if on_rule && (is_rule && joins || sides == Some(x)) {
            let (glyph, style) = if heavy {
                (app.glyphs.join_up_heavy, app.theme.style(Role::Focus))
            } else {
                (app.glyphs.join_up, line)
            };
            buf[(x, row)].set_symbol(glyph).set_style(style);
        }
    }
}

/// Whether a column of a full pane looks like a rule: three cells of it above the line in row `y`.
fn full_rule(app: &App, x: u16, y: u16, buf: &Buffer) -> bool {
    !app.rects.tabs && (1..=3).all(|d| y >= d && buf[(x, y - d)].symbol() == app.glyphs.upright)
}

/// What stands in an empty input.
fn empty_words(app: &App) -> String {
    let to = |action, does: &str| {
        let key = app.keys.word(app.context_below(), action);
        key.map(|key| format!("{key} to {does}")).unwrap_or_default()
    };
    match app.focus_below() {
        Focus::Sessions => to(Action::Search, "search"),
        Focus::Welcome => "connect a model to write to it".into(),
        Focus::Question => "answer in your own words, or choose above".into(),
        Focus::Pane(_) if app.goes_to_input() => to(Action::NextPane, "write to nebula"),
        Focus::Pane(_) => to(Action::FocusInput, "write to nebula"),
        Focus::Input if app.question().is_some() => "answer in your own words".into(),
        _ => String::new(),
    }
}

/// What nebula is doing.
fn state(app: &App, focus: bool) -> Line<'static> {
    let t = &app.theme;
    let words = |words: String| {
        let role = if focus { Role::Focus } else { Role::Text };
        Span::styled(words, t.style(role).add_modifier(Modifier::BOLD))
    };
    let calm = |words: &str| {
        if focus {
            Line::from(Span::styled(words.to_string(), t.style(Role::Focus).add_modifier(Modifier::BOLD)))
        } else {
            Line::from(Span::styled(words.to_string(), t.style(Role::Dim)))
        }
    };
    let marked = |glyph: &'static str, role: Role, text: String| {
        let mark = Span::styled(glyph, t.style(role).add_modifier(Modifier::BOLD));
        Line::from(vec![mark, words(format!(" {text}"))])
    };
    if let Some(line) = &app.line {
        return calm(&line.prompt);
    }
    match &app.screen {
        Screen::Sessions(..) => return calm("search titles and messages"),
        Screen::Welcome(_) => return marked(app.glyphs.asking, Role::Attention, "no model".into()),
        Screen::Main => {}
    }
    if let Some(w) = app.panes.diff.waiting() {
        let narrow = app.rects.bar.width < super::MEDIUM;
        let text = match (w.undecided, w.hunks) {
            (0, 1) => "waiting for you: the hunk is decided".to_string(),
            (0, n) => format!("waiting for you: {n} hunks decided"),
            (u, n) if narrow => format!("waiting for you: {u} of {n} undecided"),
            (1, 1) => "waiting for you: 1 hunk undecided".into(),
            (u, n) => format!("waiting for you: {u} of {n} hunks undecided"),
        };
        return marked(app.glyphs.asking, Role::Attention, text);
    }
    match app.panes.archive.restoring() {
        Some((0, 1)) => {
            return marked(app.glyphs.asking, Role::Attention, "waiting for you: a restore of 1 file".into());
        }
        Some((0, n)) => {
            return marked(app.glyphs.asking, Role::Attention, format!("waiting for you: a restore of {n} files"));
        }
        Some((1, _)) => return marked(app.glyphs.asking, Role::Attention, "waiting for you: 1 file to choose".into()),
        Some((n, _)) => {
            return marked(app.glyphs.asking, Role::Attention, format!("waiting for you: {n} files to choose"));
        }
        None => {}
    }
    if !app.questions.is_empty() {
        let n = app.questions.len();
        let text =
            if n == 1 { "waiting for you: 1 question".into() } else { format!("waiting for you: {n} questions") };
        return marked(app.glyphs.asking, Role::Attention, text);
    }
    if let Some(wait) = &app.retry {
        let seconds = (wait.until - app.now + 999).max(0) / 1000;
        return marked(app.glyphs.retry, Role::Attention, format!("trying again in {seconds} s"));
    }
    if app.is_busy() {
        let seconds = app.turn.map_or(0, |t| (app.now - t.started).max(0) / 1000);
        return marked(app.glyphs.spin(app.tick()), Role::Accent, format!("working {seconds} s"));
    }
    if app.drafting {
        return calm("writing a commit message");
    }
    match &app.ended {
        Some(TurnEnd::Asking(why)) => marked(app.glyphs.asking, Role::Attention, why.clone()),
        Some(TurnEnd::Interrupted) => marked(app.glyphs.broken, Role::Dim, "interrupted".into()),
        Some(TurnEnd::Failed { .. }) => marked(app.glyphs.failed, Role::Removed, "failed".into()),
        _ if app.status.model.is_none() && app.session.is_some() => {
            marked(app.glyphs.asking, Role::Attention, "no model".into())
        }
        _ => calm("ready"),
    }
}

/// What to press, or what was just said.
fn note(app: &App) -> Option<Line<'static>> {
    let t = &app.theme;
    let (text, dim) = (t.style(Role::Text), t.style(Role::Dim));
    let context = app.context_below();
    let keys = |pairs: &[(&[Action], &str)]| {
        let mut spans = Vec::new();
        for (actions, word) in pairs {
            // The first of the actions that a key reaches from here.
            let Some(key) = actions.iter().find_map(|a| app.keys.word(context, *a)) else { continue };
            spans.push(Span::styled(format!("{}{key}", if spans.is_empty() { "" } else { "   " }), text));
            spans.push(Span::styled(format!(" {word}"), dim));
        }
        Some(Line::from(spans))
    };
    if let Some(words) = &app.say {
        return Some(Span::styled(words.clone(), text).into());
    }
    if app.line.is_some() {
        return keys(&[(&[Action::Send], "takes it"), (&[Action::Close], "goes back")]);
    }
    if let (Focus::Input, Some(path)) = (app.focus(), app.on_offer()) {
        return keys(&[(&[Action::NextPane], &format!("attaches {path}"))]);
    }
    if !matches!(app.screen, Screen::Main) {
        return None;
    }
    let focus = app.focus_below();
    let narrow = app.rects.bar.width < super::MEDIUM;
    if let Some(w) = app.panes.diff.waiting() {
        return match (focus, w.undecided) {
            (Focus::Pane(super::PaneId::Diff), 0) => keys(&[(&[Action::Write], "writes what was accepted")]),
            (Focus::Pane(super::PaneId::Diff), _) if app.rects.bar.width < super::NARROW => {
                keys(&[(&[Action::Write], "next hunk")])
            }
            (Focus::Pane(super::PaneId::Diff), _) if narrow => {
                keys(&[(&[Action::Write], "writes when all are decided")])
            }
            (Focus::Pane(super::PaneId::Diff), _) => keys(&[(&[Action::Write], "writes once every hunk is decided")]),
            _ => keys(&[(&[Action::FocusDiff], "shows the proposal")]),
        };
    }
    if app.panes.archive.restoring().is_some() {
        // In the pane itself the keys stand below the list.
        return match focus {
            Focus::Pane(super::PaneId::Archive) => None,
            _ => keys(&[(&[Action::FocusArchive], "shows it")]),
        };
    }
    // What Enter would do with an empty input.
    let empty: &[Action] = if focus == Focus::Input && app.input.is_empty() { &[Action::Send] } else { &[] };
    let stop = &[Action::Escape, Action::Later, Action::Close];
    if app.retry.is_some() {
        return keys(&[(empty, "now"), (stop, "stop")]);
    }
    if !app.questions.is_empty() {
        return None;
    }
    if app.is_busy() || app.drafting {
        return keys(&[(stop, "interrupts")]);
    }
    if matches!(app.ended, Some(TurnEnd::Asking(_))) {
        return keys(&[(empty, "goes on")]);
    }
    if app.offers_plan() {
        return keys(&[(empty, "carries out the plan")]);
    }
    None
}

/// The column of the mention that is being completed.
pub(super) fn mention_column(app: &App, cursor: &Option<Position>) -> u16 {
    let caret = app.input.caret();
    let typed = Completion::at(app.input.text(), caret).map_or(0, |t| wrap::cells(&app.input.text()[t.range]));
    cursor.map_or(0, |c| c.x.saturating_sub(typed as u16))
}
