//! `paint_screen(&App, &mut Buffer)`: status line, pane lines, panes, input line, input, hints, and what floats. Nothing is
//! decided here.

mod bar;
mod hints;
pub mod question;
mod queue;

use ratatui::buffer::{Buffer, Cell};
use ratatui::layout::{Position, Rect};
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};

use super::action::{Action, Context};
use super::app::{App, Focus, Screen};
use super::card;
use super::layout::{self, MEDIUM, NARROW};
use super::pane::id::PaneId;
use super::pane::line::{line, pane_line};
use super::pane::mark::Mark;
use super::popup::sessions::Sessions;
use super::popup::{Popup, finder};
use super::text::{cut, paint, wrap};
use super::theme::Role;
use crate::messages::{count, view as say};
use crate::protocol::{Approval, Mode};
use crate::text::number::tokens;

/// Draws into a buffer, whatever it held, and tells where the terminal's cursor goes.
pub fn paint_screen(app: &App, buf: &mut Buffer) -> Option<Position> {
    let ctx = app.ctx(true);
    let background = ctx.theme.base();
    let mut blank = Cell::EMPTY;
    blank.set_style(background);
    let (fg, bg, modifier) = (blank.fg, blank.bg, blank.modifier);
    for cell in &mut buf.content {
        // Made anew, which costs less than a copy.
        *cell = Cell::EMPTY;
        (cell.fg, cell.bg, cell.modifier) = (fg, bg, modifier);
    }
    let rects = &app.rects;
    if rects.tiny {
        let (w, h) = (buf.area.width, buf.area.height);
        let words = say::needs(&layout::SMALLEST.0, &layout::SMALLEST.1, &w, &h);
        paint::text(buf, 0, 0, usize::from(w), &words, ctx.theme.style(Role::Text));
        return None;
    }
    if let Some(area) = rects.status {
        status(app, area, buf);
    }
    match &app.screen {
        Screen::Main => main(app, buf),
        Screen::Start(sessions) => start(app, sessions, buf),
        Screen::Review(review) => review.draw(rects.body, buf, app.focus() == Focus::Review, &ctx),
        Screen::Graph(graph) => graph.draw(rects.body, buf, app.focus() == Focus::Graph, &ctx),
        Screen::Past(past) => past.draw(rects.body, buf, app.focus() == Focus::Past, &ctx),
        Screen::Sessions(sessions) => {
            let (list, preview) = sessions_areas(rects.body);
            let note = sessions.note();
            let title = say::sessions_of(&app.session.status.workspace);
            let focus = app.focus() == Focus::Sessions;
            let dim = ctx.theme.style(Role::Dim);
            let note = Span::styled(note, dim).into();
            pane_line(Rect { height: 1, ..list }, &title, focus, Some(note), buf, &ctx);
            if sessions.listed {
                sessions.draw(Rect { y: list.y + 1, height: list.height - 1, ..list }, true, buf, &ctx);
            }
            if let Some(preview) = preview {
                rule(app, Rect { x: preview.x - 1, width: 1, ..rects.body }, buf);
                let note = Some(Span::styled(say::last_messages(), dim).into());
                pane_line(Rect { height: 1, ..preview }, say::preview(), false, note, buf, &ctx);
                sessions.draw_preview(Rect { y: preview.y + 1, height: preview.height - 1, ..preview }, buf, &ctx);
            }
        }
    }
    notices(app, rects.notices, buf);
    let mut cursor = bar::draw(app, buf);
    hints::draw(app, buf);
    if let (Focus::Input, Some(completion)) = (app.focus(), &app.composer.completion) {
        let column = bar::mention_column(app, &cursor);
        finder::popup(completion, finder::place(rects, column), buf, &ctx);
    }
    if let Some(top) = app.popups.last() {
        cursor = top.draw(rects.popup_body(), buf, &ctx);
    }
    cursor
}

/// Draws the sessions there were, below a prompt that stands on top.
fn start(app: &App, sessions: &Sessions, buf: &mut Buffer) {
    let (rects, focus) = (&app.rects, app.focus() == Focus::Sessions);
    let ctx = app.ctx(focus);
    let dim = ctx.theme.style(Role::Dim);
    let (body, list) = (rects.body, app.list_area());
    if list.height > 1 {
        let note = Span::styled(sessions.note(), dim).into();
        pane_line(Rect { height: 1, ..list }, say::recent(), focus, Some(note), buf, &ctx);
        // Nothing is said of them until they are known.
        if sessions.listed {
            sessions.draw(Rect { y: list.y + 1, height: list.height - 1, ..list }, focus, buf, &ctx);
        }
    }
    if let Some(hints) = rects.hints {
        let foot = Rect { y: hints.y - 1, height: 1, ..hints };
        line(foot, Line::default(), false, None, buf, &ctx);
    }
    if let Some(preview) = rects.preview {
        // It ends above a list that has all the cells.
        let has_all = list.width > body.width && list.height > 1;
        let preview = if has_all { Rect { height: list.y - preview.y, ..preview } } else { preview };
        let upright = Rect { x: preview.x - 1, width: 1, ..preview };
        rule(app, upright, buf);
        for (y, height) in [(body.y, body.height), (list.y, list.height)] {
            if height > 1 && y < upright.bottom() {
                buf[(upright.x, y)].set_symbol(ctx.glyphs.join_left);
            }
        }
        if rects.hints.is_some() || has_all {
            buf[(upright.x, upright.bottom())].set_symbol(ctx.glyphs.join_up);
        }
        if app.focus_below() == Focus::NoModel {
            let form = match app.popups.last() {
                Some(Popup::Connect(form)) if form.inside().is_some() => Some(&**form),
                _ => None,
            };
            return app.no_model.draw_sources(preview, (&app.session.status, form), buf, &ctx);
        }
        let note =
            ctx.key(Context::Input, Action::Down).filter(|_| !focus && app.line.is_none() && sessions.count() > 0);
        let note = note.map(|key| Span::styled(say::opens_list(&key), dim).into());
        pane_line(Rect { height: 1, ..preview }, say::preview(), false, note, buf, &ctx);
        sessions.draw_preview(Rect { y: preview.y + 1, height: preview.height - 1, ..preview }, buf, &ctx);
    }
}

/// Returns the column of the mention that is being completed.
pub fn mention_at(app: &App) -> u16 {
    let caret = u16::try_from(app.input_rows().caret.1).unwrap_or(0);
    bar::mention_column(app, &Some(Position::new(app.rects.input.x + 3 + caret, app.rects.input.y)))
}

/// Returns the notices that stay, as rows of `width` cells: the first of each has its mark.
fn notice_lines(app: &App, width: u16) -> Vec<(bool, bool, String)> {
    let width = usize::from(width.saturating_sub(4)).max(8);
    let mut rows = Vec::new();
    for notice in app.notices() {
        for (text, bold) in [(&notice.title, true), (&notice.detail, false)].into_iter().filter(|(t, _)| !t.is_empty())
        {
            let visible = super::text::show::plain(text);
            for (i, range) in wrap::breaks(&visible, width).into_iter().enumerate() {
                rows.push((bold && i == 0, bold, visible[range].to_string()));
            }
        }
    }
    rows
}

/// Returns the number of rows that the notices need, with the empty row below.
pub fn notice_rows(app: &App, width: u16) -> u16 {
    match notice_lines(app, width).len() {
        0 => 0,
        n => u16::try_from(n + 1).unwrap_or(u16::MAX),
    }
}

fn notices(app: &App, area: Rect, buf: &mut Buffer) {
    if area.height < 2 {
        return;
    }
    let (t, rows) = (&app.appearance.theme, usize::from(area.height - 1));
    let lines = notice_lines(app, area.width);
    let hidden = lines.len().saturating_sub(rows);
    for (i, (first, bold, text)) in lines.iter().enumerate().take(rows) {
        let (y, room) = (area.y + i as u16, usize::from(area.width.saturating_sub(4)));
        if hidden > 0 && i + 1 == rows {
            let more = format!("{} {}", app.appearance.glyphs.more, count::more(&(hidden + 1)));
            paint::text(buf, area.x + 3, y, room, &more, t.style(Role::Dim));
            break;
        }
        let style = if *bold { t.style(Role::Text).add_modifier(Modifier::BOLD) } else { t.style(Role::Text) };
        if *first {
            let mark = t.style(Role::Removed).add_modifier(Modifier::BOLD);
            paint::text(buf, area.x + 1, y, 1, app.appearance.glyphs.refused, mark);
        }
        paint::text(buf, area.x + 3, y, room, text, style);
    }
}

/// Returns the list's and the preview's area in the sessions screen.
pub fn sessions_areas(body: Rect) -> (Rect, Option<Rect>) {
    if body.width < layout::WIDE {
        return (body, None);
    }
    let right = layout::right_width(body.width, None);
    let left = body.width - right - 1;
    (Rect { width: left, ..body }, Some(Rect { x: left + 1, width: right, ..body }))
}

fn main(app: &App, buf: &mut Buffer) {
    let rects = &app.rects;
    for place in &rects.panes {
        let focus = app.focus() == Focus::Pane(place.id);
        let ctx = app.ctx(focus);
        if rects.tabs {
            tabs(app, place.line, focus, buf);
        } else {
            let note = app.panes.note(place.id, place.line.width.saturating_sub(16), &app.ctx(app.searches(place.id)));
            let note = (note.width() > 0).then_some(note);
            let right = Some(place.id).filter(|id| *id == PaneId::Archive);
            let right = right.and_then(|_| app.panes.archive.second_title(ctx.look()));
            let mut area = place.line;
            if let Some((x, title, note)) = right {
                area.width = x;
                let join =
                    if focus { app.appearance.glyphs.join_right_heavy } else { app.appearance.glyphs.join_right };
                let role = if focus { Role::Focus } else { Role::Line };
                paint::text(buf, area.right(), area.y, 1, join, app.appearance.theme.style(role));
                let rest = Rect { x: area.right() + 1, width: place.line.width - x - 1, ..area };
                line(rest, title, false, Some(note), buf, &ctx);
            }
            pane_line(area, &app.panes.title(place.id), focus, note, buf, &ctx);
        }
        app.panes.draw(place.id, place.body, buf, &ctx);
    }
    if let Some(area) = rects.rule {
        rule(app, area, buf);
    }
    if let Some((card, state)) = app.card() {
        card::body::draw(card, state.rows(), rects.body, buf, &app.ctx(app.focus() == Focus::Question));
    }
    question::draw(app, rects.question, buf);
    queue::draw(app, rects.queue, buf);
}

/// Draws the upright rule between two columns, joined to the pane line above it.
fn rule(app: &App, area: Rect, buf: &mut Buffer) {
    let style = app.appearance.theme.style(Role::Line);
    for y in area.top()..area.bottom() {
        let glyph = if y == area.top() { app.appearance.glyphs.join_right } else { app.appearance.glyphs.upright };
        buf[(area.x, y)].set_symbol(glyph).set_style(style);
    }
}

/// Returns what stands on the line of tabs, from left to right: the pane, the first cell of its title, its width.
fn tab_stops(app: &App) -> Vec<(PaneId, u16, u16)> {
    let width = |id: &PaneId| {
        let marked = app.panes.mark(*id).is_some() && *id != app.layout.pane;
        (wrap::cells(&app.panes.title(*id)) + if marked { 2 } else { 0 }) as u16
    };
    let widths: Vec<u16> = PaneId::ALL.iter().map(width).collect();
    let gaps = PaneId::ALL.len() as u16 - 1;
    let spare = app.rects.bar.width.saturating_sub(widths.iter().sum::<u16>() + 2);
    // Where it is narrow the rules between them give way, so that no title is cut.
    let gap = if spare >= 4 * gaps { 4 } else { 3 };
    let own = spare.saturating_sub(gap * gaps).min(8);
    let mut x = 1;
    let mut stops = Vec::new();
    for (id, width) in PaneId::ALL.iter().copied().zip(widths) {
        stops.push((id, x, width));
        // The open one draws its own rule, so that it shows which one it is.
        x += width + gap + if id == app.layout.pane { own } else { 0 };
    }
    stops
}

/// Returns the pane whose title is at a column of the line of tabs.
pub fn tab_at(app: &App, column: u16) -> Option<PaneId> {
    tab_stops(app).into_iter().find(|(_, x, w)| (*x..*x + *w).contains(&column)).map(|(id, ..)| id)
}

fn tabs(app: &App, area: Rect, focus: bool, buf: &mut Buffer) {
    let ctx = app.ctx(focus);
    let (g, t) = (ctx.glyphs, ctx.theme);
    for x in area.left()..area.right() {
        buf[(x, area.y)].set_symbol(g.rule).set_style(t.style(Role::Line));
    }
    let stops = tab_stops(app);
    for (i, (id, x, width)) in stops.iter().enumerate() {
        let open = *id == app.layout.pane;
        let role = if open && focus { Role::Focus } else { Role::Dim };
        let style = match (open, focus) {
            (true, true) => t.style(Role::Focus).add_modifier(Modifier::BOLD),
            (true, false) => t.style(Role::Text).add_modifier(Modifier::BOLD),
            (false, _) => t.style(Role::Dim),
        };
        let room = usize::from(area.right().saturating_sub(*x + 1));
        if room < 3 {
            break;
        }
        let title = app.panes.title(*id);
        let title = cut::end(&title, room, g.cut);
        paint::bare(buf, x - 1, area.y, usize::from(*width) + 2);
        paint::text(buf, x - 1, area.y, 1, " ", Style::new());
        let used = paint::text(buf, *x, area.y, room, &title, style) as u16;
        let mark = app.panes.mark(*id).filter(|_| !open);
        if let Some(mark) = mark {
            let (glyph, role) = match mark {
                Mark::Running => (g.spin(ctx.tick), Role::Accent),
                Mark::Waiting => (g.asking, Role::Attention),
            };
            paint::text(buf, x + used, area.y, 1, " ", Style::new());
            paint::text(buf, x + used + 1, area.y, 1, glyph, t.style(role).add_modifier(Modifier::BOLD));
        }
        paint::text(buf, x + width, area.y, 1, " ", Style::new());
        if open {
            let end = stops.get(i + 1).map_or(area.right(), |(_, next, _)| next - 1).min(area.right());
            for x in (x + width + 1)..end {
                buf[(x, area.y)].set_symbol(g.heavy).set_style(t.style(role));
            }
        }
    }
    let end = stops.last().map_or(0, |(_, x, width)| x + width);
    tab_hits(app, Rect { x: end, width: area.right().saturating_sub(end), ..area }, buf);
}

/// Draws `2 of 7` at the right of the line of tabs, while words are looked for in the open one.
fn tab_hits(app: &App, area: Rect, buf: &mut Buffer) {
    let hits = app.panes.search_hits(app.layout.pane);
    let Some(hits) = hits.filter(|_| app.searches(app.layout.pane)) else { return };
    let n = wrap::cells(&hits) as u16 + 2;
    if n + 4 < area.width {
        let x = area.right() - n - 1;
        paint::bare(buf, x, area.y, usize::from(n));
        paint::text(buf, x, area.y, usize::from(n), &format!(" {hits} "), app.appearance.theme.style(Role::Dim));
    }
}

/// Draws `nebula · workspace · mode · model`, and on the right tokens, cost, rules.
fn status(app: &App, area: Rect, buf: &mut Buffer) {
    let (t, g) = (&app.appearance.theme, &app.appearance.glyphs);
    let (dim, text) = (t.style(Role::Dim), t.style(Role::Text));
    let s = &app.session.status;
    let attention = t.style(Role::Attention).add_modifier(Modifier::BOLD);
    let jobs = (s.jobs > 0).then(|| (count::jobs(s.jobs), t.style(Role::Accent)));
    let mut right: Vec<(String, Style)> = jobs.into_iter().chain(gauge(app, area.width)).collect();
    right.extend(s.cost.map(|cost| (cost.text(g.estimated), dim)));
    if area.width >= NARROW && !s.rules.is_empty() {
        right.push((count::rules(s.rules.len()), dim));
    }
    let right: Vec<Span<'static>> = joined(right, Span::styled(format!(" {} ", g.dot), dim));
    let mut parts: Vec<(String, Style)> = Vec::new();
    if area.width >= MEDIUM && !s.workspace.is_empty() {
        parts.push((s.workspace.clone(), text));
    }
    parts.push((if s.mode == Mode::Plan { say::plan() } else { say::agent() }.into(), text));
    match &s.model {
        Some(model) if s.recording && model == "recording" => parts.push((say::a_recording().into(), text)),
        Some(model) if s.recording => parts.push((say::recording_of(&model), text)),
        Some(model) => parts.push((model.clone(), text)),
        None if app.lacks_model() => {
            parts.push((say::no_model().into(), t.style(Role::Attention)));
        }
        None => {}
    }
    let approved = match s.approval {
        _ if s.mode == Mode::Plan => None,
        Approval::Ask => None,
        Approval::Edits => Some((say::edits_approved(), attention)),
        Approval::Review => Some((say::review_approved(), attention)),
        Approval::All => Some((say::all_approved(), attention)),
        Approval::None => Some((say::nothing_approved(), text)),
    };
    parts.extend(approved.map(|(words, style)| (words.to_string(), style)));
    if s.banner.is_some() {
        parts.push((say::not_saved().into(), attention));
    }
    if s.unreviewed > 0 {
        parts.push((count::unreviewed(&s.unreviewed), t.style(Role::Attention)));
    }
    let right_cells: usize = right.iter().map(Span::width).sum();
    let room = usize::from(area.width).saturating_sub(right_cells + 4);
    let mut spans = vec![Span::styled("nebula", t.style(Role::Accent).add_modifier(Modifier::BOLD))];
    for (words, style) in parts {
        spans.push(Span::styled(format!(" {} ", g.dot), dim));
        spans.push(Span::styled(words, style));
    }
    // That letters decide is said whatever else has room.
    let bold = t.style(Role::Accent).add_modifier(Modifier::BOLD);
    let decides = decides(app).map(|words| [Span::styled(format!(" {} ", g.dot), dim), Span::styled(words, bold)]);
    let own: usize = decides.iter().flatten().map(Span::width).sum();
    let mut left = cut::line(Line::from(spans), room.saturating_sub(own), g.cut, dim);
    left.spans.extend(decides.into_iter().flatten());
    paint::spans(buf, area.x + 1, area.y, room, &left.spans);
    let x = area.right().saturating_sub(right_cells as u16 + 1);
    paint::spans(buf, x, area.y, right_cells, &right);
}

/// Returns what says that letters decide, while they do.
fn decides(app: &App) -> Option<&'static str> {
    let deciding = app.letters_decide() && app.focus() == Focus::Question;
    let reviewing = app.is_reviewing() || matches!(&app.screen, Screen::Review(review) if review.count() > 0);
    deciding.then(say::deciding).or_else(|| reviewing.then(say::reviewing))
}

/// Spans with another between each two.
fn joined(parts: Vec<(String, Style)>, between: Span<'static>) -> Vec<Span<'static>> {
    let mut spans = Vec::new();
    for (words, style) in parts {
        if !spans.is_empty() {
            spans.push(between.clone());
        }
        spans.push(Span::styled(words, style));
    }
    spans
}

/// The percentage from which on the context window is nearly full.
const NEARLY_FULL: u64 = 80;

/// Returns `18k of 128k · 14%`: how full the model's context window is; where there is little room the percentage
/// alone. Before the first request `128k free`.
fn gauge(app: &App, width: u16) -> Option<(String, Style)> {
    let (used, window) = app.session.status.context.filter(|(_, window)| *window > 0)?;
    if used == 0 {
        let words = say::free(&tokens(window));
        return (width >= MEDIUM).then(|| (words, app.appearance.theme.style(Role::Dim)));
    }
    let percent = used.saturating_mul(100) / window;
    let role = if percent >= NEARLY_FULL { Role::Attention } else { Role::Dim };
    let words = match app.rects.ledger {
        Some(_) if width >= MEDIUM => {
            let g = &app.appearance.glyphs;
            format!("{} {} {percent}%", say::context(&tokens(used), &tokens(window)), g.dot)
        }
        _ => format!("{percent}%"),
    };
    Some((words, app.appearance.theme.style(role)))
}
