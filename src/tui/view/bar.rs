//! The input line (what nebula is doing, what to press) and the input below it.

use std::borrow::Cow;

use ratatui::buffer::Buffer;
use ratatui::layout::Position;
use ratatui::style::Modifier;
use ratatui::text::{Line, Span};

use super::super::action::Action;
use super::super::app::{App, Attention, Focus, Screen};
use super::super::input::complete::Completion;
use super::super::layout::{MEDIUM, NARROW};
use super::super::pane::id::PaneId;
use super::super::pane::line::{SHORTEST_TITLE, line, note_room};
use super::super::pane::tools::OwnCommand;
use super::super::popup::Popup;
use super::super::text::{cut, paint, show, wrap};
use super::super::theme::Role;
use crate::messages::{agent as agent_say, card as card_say, count, times, tools, verbs, view as say};
use crate::protocol::TurnEnd;
use crate::text::number::thousands;

/// Draws both and tells where the terminal's cursor goes.
pub(super) fn draw(app: &App, buf: &mut Buffer) -> Option<Position> {
    let rects = &app.rects;
    let focus = matches!(app.focus(), Focus::Input | Focus::Line | Focus::NoModel);
    let ctx = app.ctx(focus);
    let mut doing = doing(app).line(app, focus);
    if let Some(words) = said_beside(app) {
        // It may name the next key: without a row of hints it is whole before the title is.
        let beside = note_room(rects.bar.width, wrap::cells(words)).max(SHORTEST_TITLE);
        doing = cut::line(doing, beside, app.appearance.glyphs.cut, app.appearance.theme.style(Role::Dim));
    }
    let room = note_room(rects.bar.width, doing.width());
    line(rects.bar, doing, focus, note(app, room), buf, &ctx);
    joins(app, focus, buf);
    ledger(app, buf);
    let area = rects.input;
    if matches!(app.screen, Screen::Start(_)) && app.line.is_none() && app.lacks_model() {
        let form = app.popups.last().and_then(Popup::inside).is_some();
        app.no_model.draw(area, (app.focus() == Focus::NoModel, form, &app.session.status), buf, &ctx);
        return None;
    }
    let prompt = if focus { Role::Focus } else { Role::Dim };
    let mut style = app.appearance.theme.style(prompt);
    if focus {
        style = style.add_modifier(Modifier::BOLD);
    }
    paint::text(buf, area.x + 1, area.y, 1, app.appearance.glyphs.prompt, style);
    let width = usize::from(area.width.saturating_sub(4));
    if app.editor().is_empty() {
        let words = empty_words(app);
        let words = cut::end(&words, width, app.appearance.glyphs.cut);
        paint::text(buf, area.x + 3, area.y, width, &words, app.appearance.theme.style(Role::Dim));
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
            x += paint::text(buf, x, area.y + (i - top) as u16, room, &part.label, app.appearance.theme.style(role))
                as u16;
        }
    }
    let x = area.x + 3 + u16::try_from(rows.caret.1).unwrap_or(0);
    focus.then(|| Position::new(x.min(area.right().saturating_sub(1)), area.y + (rows.caret.0 - top) as u16))
}

/// Returns what was just said, where it stands in the row of hints: beside what nebula does it has no room.
pub(super) fn said_below(app: &App) -> Option<&str> {
    let (words, _) = app.say.as_deref().zip(app.rects.hints)?;
    let doing = doing(app).line(app, false).width();
    (wrap::cells(words) > note_room(app.rects.bar.width, doing)).then_some(words)
}

/// Returns what was just said, where it stands beside what nebula does.
fn said_beside(app: &App) -> Option<&str> {
    if said_below(app).is_some() { None } else { app.say.as_deref() }
}

/// Draws where upright rules above meet the input line.
fn joins(app: &App, focus: bool, buf: &mut Buffer) {
    // The first line below the panes: a question's, the queue's, or the input line.
    let (row, heavy) = match (app.rects.question, app.rects.queue) {
        (question, _) if question.height > 0 => (question.y, app.focus() == Focus::Question),
        (_, queue) if queue.height > 0 => (queue.y, false),
        _ => (app.rects.bar.y, focus),
    };
    if row == 0 || app.rects.notices.height > 0 || matches!(app.screen, Screen::Start(_)) {
        return;
    }
    let line = app.appearance.theme.style(Role::Line);
    // Between the sides of a diff the rule may stop above at a fold; below it ends in the input line all the same.
    let diff = app.rects.place(PaneId::Diff).filter(|_| matches!(app.screen, Screen::Main));
    let sides = diff.and_then(|place| app.panes.diff.middle().map(|x| place.body.x + x));
    // In the left column an upright may be a quote's or a block's.
    let own = app.rects.rule.filter(|_| matches!(app.screen, Screen::Main)).map(|rule| rule.x);
    for x in (0..app.rects.bar.width).filter(|x| own.is_none() || own == Some(*x) || sides == Some(*x)) {
        let above = &buf[(x, row - 1)];
        let is_rule = above.symbol() == app.appearance.glyphs.upright && above.fg == line.fg.unwrap_or(above.fg);
        let on_rule = [app.appearance.glyphs.heavy, app.appearance.glyphs.rule].contains(&buf[(x, row)].symbol());
        let joins = own.map_or_else(|| full_rule(app, x, row, buf), |rule| rule == x);
        if on_rule && (is_rule && joins || sides == Some(x)) {
            let (glyph, style) = if heavy {
                (app.appearance.glyphs.join_up_heavy, app.appearance.theme.style(Role::Focus))
            } else {
                (app.appearance.glyphs.join_up, line)
            };
            buf[(x, row)].set_symbol(glyph).set_style(style);
        }
    }
}

/// Returns whether a column of a full pane looks like a rule: three cells of it above the line in row `y`.
fn full_rule(app: &App, x: u16, y: u16, buf: &Buffer) -> bool {
    !app.rects.tabs && (1..=3).all(|d| y >= d && buf[(x, y - d)].symbol() == app.appearance.glyphs.upright)
}

/// Returns what stands in an empty input.
fn empty_words(app: &App) -> String {
    let to = |action, does: &str| {
        let key = app.keyboard.keys.word(app.context_below(), action);
        key.map(|key| say::key_to(&key, &does)).unwrap_or_default()
    };
    match app.focus_below() {
        Focus::Sessions if matches!(app.screen, Screen::Start(_)) => say::type_to_write().into(),
        Focus::Sessions => to(Action::Search, say::to_search()),
        Focus::Question if app.letters_decide() => to(Action::Later, say::to_write()),
        Focus::Question => to(Action::FocusInput, say::answer_freely()),
        Focus::Pane(PaneId::Diff) => to(Action::Later, say::to_write()),
        Focus::Pane(id) if !app.layout.zoom && !app.panes.offers(id, Action::Escape) => {
            to(Action::Escape, say::to_write())
        }
        Focus::Pane(_) if app.goes_to_input() => to(Action::NextPane, say::to_write()),
        Focus::Pane(_) => to(Action::FocusInput, say::to_write()),
        Focus::Review | Focus::Graph | Focus::Past if app.closes_screen() => to(Action::Close, say::to_write()),
        Focus::Input if app.is_answering() => say::answer_freely().into(),
        Focus::Input if matches!(app.screen, Screen::Start(_)) => say::ask_for_change().into(),
        _ => String::new(),
    }
}

/// The activity of nebula, in words: a mark where it is more than a label.
struct Doing {
    mark: Option<(&'static str, Role)>,
    words: String,
}

impl Doing {
    fn calm(words: impl Into<String>) -> Self {
        Doing { mark: None, words: words.into() }
    }

    fn marked(glyph: &'static str, role: Role, words: impl Into<String>) -> Self {
        Doing { mark: Some((glyph, role)), words: words.into() }
    }

    fn line(self, app: &App, focus: bool) -> Line<'static> {
        let t = &app.appearance.theme;
        let bold = |role| t.style(role).add_modifier(Modifier::BOLD);
        match (self.mark, focus) {
            (None, true) => Span::styled(self.words, bold(Role::Focus)).into(),
            (None, false) => Span::styled(self.words, t.style(Role::Dim)).into(),
            (Some((glyph, role)), _) => Line::from(vec![
                Span::styled(glyph, bold(role)),
                Span::styled(format!(" {}", self.words), bold(if focus { Role::Focus } else { Role::Text })),
            ]),
        }
    }
}

/// Returns what nebula is doing.
fn doing(app: &App) -> Doing {
    if let Some(line) = &app.line {
        let hits = app.search_hits().map(|hits| format!(" {} {hits}", app.appearance.glyphs.dot));
        return Doing::calm(format!("{}{}", line.prompt, hits.unwrap_or_default()));
    }
    match &app.screen {
        Screen::Start(_) if app.lacks_model() => {
            return Doing::marked(app.appearance.glyphs.asking, Role::Attention, say::no_model());
        }
        Screen::Start(_) => return commit(app).unwrap_or_else(|| Doing::calm(say::new())),
        Screen::Sessions(_) => return Doing::calm(say::search_sessions()),
        Screen::Main | Screen::Review(_) | Screen::Graph(_) | Screen::Past(_) => {}
    }
    if let Some(what) = app.banner() {
        return banner(app, what);
    }
    if let Some(what) = waiting(app).filter(|_| app.is_held_up()) {
        return Doing::marked(app.appearance.glyphs.asking, Role::Attention, say::waiting_for_you(&what));
    }
    if let Some(wait) = &app.session.retry {
        let seconds = (wait.until - app.now + 999).max(0) / 1000;
        return Doing::marked(app.appearance.glyphs.retry, Role::Attention, say::trying_again(&seconds));
    }
    if app.is_busy() {
        return Doing::marked(app.appearance.glyphs.spin(app.tick()), Role::Accent, now(app));
    }
    if let Some(commit) = commit(app) {
        return commit;
    }
    if let Some(own) = app.panes.tools.own_command() {
        return Doing::marked(app.appearance.glyphs.spin(app.tick()), Role::Accent, own_command(app, own));
    }
    match &app.session.ended {
        Some(TurnEnd::Asking(why)) => Doing::marked(app.appearance.glyphs.asking, Role::Attention, why.as_str()),
        Some(TurnEnd::Interrupted) => Doing::marked(app.appearance.glyphs.broken, Role::Dim, say::interrupted()),
        Some(TurnEnd::Failed { .. }) => Doing::marked(app.appearance.glyphs.failed, Role::Removed, say::failed()),
        _ if app.session.status.model.is_none() && app.session.id.is_some() => {
            Doing::marked(app.appearance.glyphs.asking, Role::Attention, say::no_model())
        }
        Some(TurnEnd::Done) if app.session.unchanged => {
            Doing::calm([say::ready(), agent_say::no_file_changed()].join(&format!(" {} ", app.appearance.glyphs.dot)))
        }
        _ => Doing::calm(say::ready()),
    }
}

/// Returns the state of a commit message that is written, or that waits.
fn commit(app: &App) -> Option<Doing> {
    let commit = &app.session.commit;
    if !commit.written.is_empty() {
        let is_beside = matches!(app.screen, Screen::Main | Screen::Start(_));
        let words = match is_beside {
            true if app.composer.input.is_empty() => say::commit_opens(),
            true => say::commit_waits(),
            false => say::commit_waits_below(),
        };
        return Some(Doing::marked(app.appearance.glyphs.asking, Role::Attention, words));
    }
    commit.is_writing.then(|| Doing::calm(say::writing_commit()))
}

/// Returns `step 41 · reading src/cart.rs · 14 s`: the step of the turn, what it does, and for how long: a call that runs
/// since it began to, all else since the step did.
fn now(app: &App) -> String {
    let (step, since) = match app.session.turn {
        Some(turn) if turn.step.0 > 0 => turn.step,
        Some(turn) => (0, turn.started),
        None => (0, app.now),
    };
    let since = app.panes.tools.runs_since().filter(|_| step > 0).unwrap_or(since);
    let seconds = times::seconds(&((app.now - since).max(0) / 1000));
    let dot = format!(" {} ", app.appearance.glyphs.dot);
    if step == 0 {
        return say::working(&seconds);
    }
    let step = say::step(&step);
    // A path loses folders before a number is cut.
    let (room, mark) = (room_beside(app, &step, &seconds), app.appearance.glyphs.cut);
    let doing = app.panes.tools.now(room, mark).or_else(|| app.panes.chat.now().map(str::to_string));
    let doing = doing.unwrap_or_else(|| say::waiting_for_model().into());
    let doing = cut::end(&doing, room, mark).into_owned();
    [step, doing, seconds].join(&dot)
}

/// Returns the cells for what is done between two words of the line.
fn room_beside(app: &App, before: &str, after: &str) -> usize {
    /// The cells of the separators and of the hint at the right.
    const OTHERS: usize = 30;
    usize::from(app.rects.bar.width).saturating_sub(wrap::cells(before) + wrap::cells(after) + OTHERS).max(8)
}

/// Returns `running npm run dev · 12 s`: the person's own command.
fn own_command(app: &App, own: OwnCommand<'_>) -> String {
    let seconds = times::seconds(&((app.now - own.began).max(0) / 1000));
    let (text, words) = (show::plain(own.text), format!("{} ", tools::running()));
    let text = cut::end(&text, room_beside(app, &words, &seconds), app.appearance.glyphs.cut);
    format!("{words}{text} {} {seconds}", app.appearance.glyphs.dot)
}

/// Draws `changed 3 files +42 −7 · waiting 0 · failed 2 · F2 diff`.
fn ledger(app: &App, buf: &mut Buffer) {
    let Some(area) = app.rects.ledger else { return };
    let ctx = app.ctx(false);
    let (dim, text) = (ctx.theme.style(Role::Dim), ctx.theme.style(Role::Text));
    let dot = Span::styled(format!(" {} ", ctx.glyphs.dot), dim);
    let (mut spans, definitions) = (Vec::new(), app.changed_definitions());
    match app.panes.diff.session_size() {
        None => {}
        Some((0, _)) if definitions == 0 => {
            spans.extend([say::changed(), say::nothing()].map(|words| Span::styled(words, dim)));
        }
        Some((files, counts)) => {
            spans.push(Span::styled(say::changed(), dim));
            spans.extend((files > 0).then(|| Span::styled(count::files(files), text)));
            let signed =
                [(ctx.glyphs.added, counts.added, Role::Added), (ctx.glyphs.removed, counts.removed, Role::Removed)];
            for (sign, n, role) in signed.into_iter().filter(|(_, n, _)| *n > 0) {
                spans.push(Span::styled(format!(" {sign}{}", thousands(n)), ctx.theme.style(role)));
            }
            if definitions > 0 {
                spans.extend((files > 0).then(|| Span::styled(", ", dim)));
                spans.push(Span::styled(count::definitions(definitions), text));
            }
        }
    }
    let waiting = app.panes.waiting_count() + app.questions.len();
    let failed = app.panes.tools.failed();
    let counted = |word: &str, n: usize, role: Role| {
        Span::styled(format!("{word} {}", thousands(n)), ctx.theme.style(if n > 0 { role } else { Role::Dim }))
    };
    spans.extend(Some(dot.clone()).filter(|_| !spans.is_empty()));
    spans.push(counted(say::waiting(), waiting, Role::Text));
    spans.extend([dot.clone(), counted(say::failed(), failed, Role::Removed)]);
    let key = app.keyboard.keys.word(app.context_below(), Action::FocusDiff);
    if let Some(key) = key.filter(|_| app.opens_diff()) {
        let does = if app.panes.diff.waiting().is_some() { say::does_review() } else { say::does_diff() };
        spans.extend([dot, Span::styled(key, text), Span::styled(does, dim)]);
    }
    paint::spans(buf, area.x + 1, area.y, usize::from(area.width.saturating_sub(2)), &spans);
}

/// Returns what waits while the keys go elsewhere, with the key that shows it.
fn banner(app: &App, what: Attention) -> Doing {
    let key = |action| app.keyboard.keys.word(app.context_below(), action);
    let shows = |words: String, action, does: &str| match key(action) {
        Some(key) => format!("{words} {} {key} {does}", app.appearance.glyphs.dot),
        None => words,
    };
    match what {
        Attention::Proposal(_) => {
            let (files, counts) = app.panes.diff.size_of_waiting().unwrap_or_default();
            let (files, hunks) = (count::files(files), app.panes.diff.waiting().map_or(0, |w| w.hunks));
            let g = &app.appearance.glyphs;
            let signed = |sign: &str, n: usize| if n > 0 { format!(" {sign}{}", thousands(n)) } else { String::new() };
            let lines = format!("{}{}", signed(g.added, counts.added), signed(g.removed, counts.removed));
            // The key is never cut: the counts give way first.
            let most = usize::from(app.rects.bar.width).saturating_sub(5);
            let all = [
                say::proposal(&format!("{files}{lines}"), &count::hunks(hunks)),
                say::proposal(&files, &count::hunks(hunks)),
                say::proposal_of(&files),
            ];
            let mut all = all.map(|words| shows(words, Action::FocusDiff, say::review())).into_iter();
            let words = all.find(|words| wrap::cells(words) <= most).unwrap_or_else(|| say::proposal_of(&files));
            Doing::marked(g.asking, Role::Attention, words)
        }
        Attention::Restore(_) => {
            let files = app.panes.archive.restoring().map_or(0, |(_, n)| n);
            let words = say::restore(&count::files(files));
            Doing::marked(app.appearance.glyphs.asking, Role::Attention, shows(words, Action::FocusDiff, say::review()))
        }
        Attention::Question(_) => {
            let words = match &app.questions[..] {
                [asking] => match &asking.question.card {
                    Some(card) => card_say::waits(&verbs::class(card.class.word())),
                    None => say::question().into(),
                },
                _ => questions(app).unwrap_or_default(),
            };
            Doing::marked("?", Role::Attention, shows(words, Action::FocusQuestion, say::answer()))
        }
    }
}

/// Returns what waits for the person.
fn waiting(app: &App) -> Option<String> {
    let narrow = app.rects.bar.width < MEDIUM;
    if let Some(w) = app.panes.diff.waiting() {
        return Some(match (w.undecided, w.hunks) {
            (0, 1) => say::ready_to_write().into(),
            (0, n) => say::hunks_ready(&n),
            (u, n) if narrow => say::undecided(&u, &n),
            (1, 1) => say::hunk_undecided().into(),
            (u, n) => say::hunks_undecided(&u, &n),
        });
    }
    match app.panes.archive.restoring() {
        Some((0, n)) => return Some(say::a_restore(&count::files(n))),
        Some((n, _)) => return Some(say::to_choose(&count::files(n))),
        None => {}
    }
    questions(app)
}

/// Returns how many commands or questions wait.
fn questions(app: &App) -> Option<String> {
    let all = app.questions.len();
    let cards = app.questions.iter().filter(|asking| asking.question.card.is_some()).count();
    (all > 0).then(|| if cards == all { card_say::commands(all) } else { count::questions(all) })
}

/// Returns what to press, or what was just said, in at most `room` cells: a key that has no room is left out.
fn note(app: &App, room: usize) -> Option<Line<'static>> {
    let (text, dim) = (app.appearance.theme.style(Role::Text), app.appearance.theme.style(Role::Dim));
    if let Some(words) = said_beside(app) {
        return Some(Span::styled(words.to_string(), text).into());
    }
    if app.focus_below() == Focus::NoModel {
        let words = [say::connect_first(), say::connect_first_short()];
        let fitting = if wrap::cells(words[0]) <= room { words[0] } else { words[1] };
        return Some(Span::styled(fitting, dim).into());
    }
    let context = app.context_below();
    let mut line = Line::default();
    for (actions, word) in offers(app) {
        // The first of the actions that a key reaches from here.
        let Some(key) = actions.iter().find_map(|a| app.keyboard.keys.word(context, *a)) else { continue };
        let gap = if line.spans.is_empty() { "" } else { "   " };
        // From elsewhere the first press leads to the input.
        let away = actions.contains(&Action::Escape) && !matches!(app.focus_below(), Focus::Input);
        let key = if away { format!("{key} {key}") } else { key };
        let offer = [Span::styled(format!("{gap}{key}"), text), Span::styled(format!(" {word}"), dim)];
        if line.width() + offer.iter().map(Span::width).sum::<usize>() <= room || line.spans.is_empty() {
            line.spans.extend(offer);
        }
    }
    Some(line)
}

/// The effect that a key of some actions has now.
type KeyOffer = (&'static [Action], Cow<'static, str>);

/// Returns what to press now.
fn offers(app: &App) -> Vec<KeyOffer> {
    const STOP: &[Action] = &[Action::Escape, Action::Later, Action::Close];
    if app.line.is_some() {
        return vec![(&[Action::Send], say::ok().into()), (&[Action::Close], say::cancel().into())];
    }
    if let (Focus::Input, Some(path)) = (app.focus(), app.on_offer()) {
        return vec![(&[Action::NextPane], say::attaches(&path).into())];
    }
    if let (Focus::Input, Some(folder)) = (app.focus(), app.runs_in()) {
        return vec![(&[Action::Send], say::runs_in(&folder).into())];
    }
    if !matches!(app.screen, Screen::Main) {
        return Vec::new();
    }
    let focus = app.focus_below();
    match app.attention() {
        Some(_) if app.banner().is_some() && app.is_busy() => return vec![(STOP, say::interrupts().into())],
        Some(_) if app.banner().is_some() => return Vec::new(),
        Some(Attention::Proposal(_)) => {
            let undecided = app.panes.diff.waiting().map_or(0, |w| w.undecided);
            return vec![(&[Action::Write], writes(app, undecided).into())];
        }
        // In the pane itself the keys stand below the list.
        Some(_) => return Vec::new(),
        None => {}
    }
    // What Enter would do with an empty input.
    let empty: &[Action] = if focus == Focus::Input && app.composer.input.is_empty() { &[Action::Send] } else { &[] };
    if app.session.retry.is_some() {
        return vec![(empty, say::now().into()), (STOP, say::stop().into())];
    }
    if app.is_busy() || app.session.commit.is_writing {
        return vec![(STOP, say::interrupts().into())];
    }
    if app.panes.tools.own_command().is_some() && app.composer.input.is_empty() {
        return vec![(STOP, say::stop().into())];
    }
    if matches!(app.session.ended, Some(TurnEnd::Asking(_))) {
        return vec![(empty, say::continues().into())];
    }
    if app.offers_plan() {
        return vec![(empty, say::runs_plan().into())];
    }
    Vec::new()
}

/// Returns what Enter does with a proposal, as long as there is room for.
fn writes(app: &App, undecided: usize) -> &'static str {
    match app.rects.bar.width {
        _ if app.panes.diff.lacks_reason() => say::asks_why(),
        _ if undecided == 0 => say::writes_accepted(),
        width if width < NARROW => say::next_hunk(),
        width if width < MEDIUM => say::writes_decided(),
        _ => say::writes_once_decided(),
    }
}

/// Returns the column of the mention that is being completed.
pub(super) fn mention_column(app: &App, cursor: &Option<Position>) -> u16 {
    let caret = app.composer.input.caret();
    let typed = Completion::at(app.composer.input.text(), caret)
        .map_or(0, |t| wrap::cells(&app.composer.input.text()[t.range]));
    cursor.map_or(0, |c| c.x.saturating_sub(typed as u16))
}
