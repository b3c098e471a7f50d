//! The lines of each kind of entry but answers, wrapped to a width.

use std::time::Duration;

use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};

use super::words::{self, CallSummary};
use crate::context::mention::{MentionTarget, mentions};
use crate::messages::{chat as say, count, times, verbs};
use crate::proposal::HunkCount;
use crate::protocol::{Attached, CallState, ItemId, Level, Notice, RuleChip, Wait};
use crate::text::time::Clock;
use crate::tui::action::{Action, Context};
use crate::tui::keys::Keys;
use crate::tui::look::Look;
use crate::tui::pane::verb_column;
use crate::tui::text::markdown::{prose, styled};
use crate::tui::text::wrap::{cells, wrap};
use crate::tui::text::{cut, show};
use crate::tui::theme::Role;

/// The name of who answers.
pub(super) const NEBULA: &str = "nebula";

/// Returns a message as it was typed, its mentions short unless it is shown `whole`.
pub(super) fn user(
    text: &str,
    attached: &[Attached],
    whole: bool,
    width: usize,
    look: &Look<'_>,
) -> Vec<Line<'static>> {
    let (plain, mention) = (look.theme.style(Role::Text), look.theme.style(Role::Mention));
    let mut spans: Vec<Span<'static>> = Vec::new();
    let mut at = 0;
    for found in mentions(text) {
        let real = match &found.target {
            MentionTarget::Path { path, sure, .. } => *sure || attached.iter().any(|a| a.path == *path),
            MentionTarget::Rag { .. } => true,
        };
        if real {
            spans.push(Span::styled(text[at..found.range.start].to_string(), plain));
            let visible = if whole { text[found.range.clone()].to_string() } else { found.short() };
            spans.push(Span::styled(visible, mention));
            at = found.range.end;
        }
    }
    spans.push(Span::styled(text[at..].to_string(), plain));
    let (mut out, mut line) = (Vec::new(), Vec::new());
    for span in spans {
        for (n, part) in span.content.split('\n').enumerate() {
            if n > 0 {
                out.extend(wrap(&line, width));
                line.clear();
            }
            line.push(Span::styled(show::plain(part).into_owned(), span.style));
        }
    }
    out.extend(wrap(&line, width));
    out
}

fn fold_line(text: String, open: bool, width: usize, look: &Look<'_>) -> Line<'static> {
    let mark = if open { look.glyphs.open } else { look.glyphs.folded };
    let text = format!("{mark} {text}");
    Span::styled(cut::end(&text, width, look.glyphs.cut).into_owned(), look.theme.style(Role::Dim)).into()
}

pub(super) fn attachments(attached: &[Attached], open: bool, width: usize, look: &Look<'_>) -> Vec<Line<'static>> {
    let lines: usize = attached.iter().filter_map(|a| a.lines).sum();
    let mut text = say::attached(attached.len());
    if lines > 0 {
        text.push_str(&format!(", {}", count::lines(lines)));
    }
    let mut out = vec![fold_line(text, open, width, look)];
    if open {
        let (dim, path) = (look.theme.style(Role::Dim), look.theme.style(Role::Path));
        for a in attached {
            let size = match a.lines {
                Some(n) => count::lines(n),
                None => count::bytes(a.bytes),
            };
            let range = match a.range {
                Some((from, to)) if from == to => format!(":{from}"),
                Some((from, to)) => format!(":{from}-{to}"),
                None => String::new(),
            };
            let mut spans = vec![Span::raw("  ")];
            let room = width.saturating_sub(cells(&size) + cells(&range) + 5);
            spans.extend(cut::path_spans(&a.path, room, look.glyphs.cut, dim, path));
            spans.push(Span::styled(format!("{range}  {size}"), dim));
            out.push(spans.into());
        }
    }
    out
}

/// Rules that joined: their names, and open, why each applies and how large it is.
pub(super) fn rules(rules: &[RuleChip], open: bool, width: usize, look: &Look<'_>) -> Vec<Line<'static>> {
    let names: Vec<&str> = rules.iter().map(|r| r.path.strip_prefix(".nebula/rules/").unwrap_or(&r.path)).collect();
    let text = format!("{}: {}", count::rules(rules.len()), names.join(", "));
    let mut out = vec![fold_line(text, open, width, look)];
    if open {
        let (dim, path) = (look.theme.style(Role::Dim), look.theme.style(Role::Path));
        for r in rules {
            let why = format!("  {}, {}", r.reason, count::bytes(r.bytes));
            let mut spans = vec![Span::raw("  ")];
            let room = width.saturating_sub(cells(&why) + 2).max(12);
            spans.extend(cut::path_spans(&r.path, room, look.glyphs.cut, dim, path));
            let left = width.saturating_sub(spans.iter().map(|s| cells(&s.content)).sum());
            spans.push(Span::styled(cut::end(&why, left, look.glyphs.cut).into_owned(), dim));
            out.push(spans.into());
        }
    }
    out
}

/// Returns text below an open fold: dim, indented.
fn below(text: &str, width: usize, style: Style, indent: &'static str) -> Vec<Line<'static>> {
    let mut out = Vec::new();
    for line in text.trim().split('\n') {
        for mut wrapped in
            wrap(&[Span::styled(show::plain(line).into_owned(), style)], width.saturating_sub(indent.len()))
        {
            wrapped.spans.insert(0, Span::raw(indent));
            out.push(wrapped);
        }
    }
    out
}

pub(super) fn thought(
    text: &str,
    took: Option<Duration>,
    over: bool,
    open: bool,
    width: usize,
    look: &Look<'_>,
) -> Vec<Line<'static>> {
    // Of what a server does not show there is nothing to open.
    if text.is_empty() && (over || took.is_some()) {
        let title = match took {
            Some(took) => say::thought_hidden_for(&words::seconds(took)),
            None => say::thought_hidden().to_string(),
        };
        let title = cut::end(&title, width, look.glyphs.cut).into_owned();
        return vec![Span::styled(title, look.theme.style(Role::Dim)).into()];
    }
    let title = match took {
        Some(took) => say::thought_for(&words::seconds(took)),
        None if over => say::thought().to_string(),
        None => say::thinking().to_string(),
    };
    let mut out = vec![fold_line(title, open, width, look)];
    if open {
        out.extend(below(text, width, look.theme.style(Role::Dim), "  "));
    }
    out
}

pub(super) fn run_of_calls(
    calls: &[(ItemId, CallSummary)],
    open: bool,
    width: usize,
    look: &Look<'_>,
) -> Vec<Line<'static>> {
    let all: Vec<CallSummary> = calls.iter().map(|(_, d)| d.clone()).collect();
    let text = words::steps(&all, look.glyphs.dot).fitted(width.saturating_sub(2), look.glyphs.cut);
    let mut out = vec![fold_line(text, open, width, look)];
    if !open {
        // What went wrong is never folded away.
        let alone = all.len() == 1;
        let wrong = |c: &&CallSummary| {
            // What is left of one that was undone since is said above.
            c.is_partial && !c.undone().is_any()
                || c.is_unsuccessful && !alone
                || matches!(c.state, CallState::Failed | CallState::Refused) && !(alone && c.reason.is_none())
        };
        let wrong: Vec<&CallSummary> = all.iter().filter(wrong).collect();
        let earlier = wrong.len().saturating_sub(WRONG);
        if earlier > 0 {
            let words = format!("{} {}", look.glyphs.more, count::more(&earlier));
            out.push(Span::styled(words, look.theme.style(Role::Dim)).into());
        }
        for call in &wrong[earlier..] {
            out.extend(went_wrong(call, width, look));
        }
        out.extend(all.iter().flat_map(|call| output(call, width, look)));
        return out;
    }
    let (theme, glyphs) = (look.theme, look.glyphs);
    let (text, dim) = (theme.style(Role::Text), theme.style(Role::Dim));
    let column = verb_column::of(all.iter().map(|did| (did.name.as_str(), &did.verb, did.state)));
    for did in &all {
        let (mark, role) = mark(did, look);
        let names = verb_column::in_row(&did.verb, column);
        let name = cut::end(verbs::localized(&did.verb.short), names, glyphs.cut);
        let summary = did.result();
        let room = width.saturating_sub(names + cells(summary) + 7);
        let mut spans = vec![
            Span::raw("  "),
            Span::styled(mark, theme.style(role)),
            Span::styled(format!(" {name}{} ", " ".repeat(names - cells(&name))), text),
        ];
        spans.extend(cut::path_spans(&did.main, room, glyphs.cut, dim, theme.style(Role::Path)));
        spans.push(Span::styled(format!("  {summary}"), dim));
        out.push(spans.into());
        if let Some(reason) = &did.reason {
            out.extend(below(reason, width, dim, "    "));
        }
        out.extend(output(did, width, look));
    }
    out
}

/// Returns the mark of a call in an open fold.
fn mark(did: &CallSummary, look: &Look<'_>) -> (&'static str, Role) {
    let glyphs = look.glyphs;
    match did.state {
        CallState::Done if did.undone().is_all() => (glyphs.undo, Role::Dim),
        CallState::Done if did.is_unsuccessful => (glyphs.failed, Role::Attention),
        CallState::Done => (glyphs.done, Role::Added),
        CallState::Failed => (glyphs.failed, Role::Removed),
        CallState::Refused => (glyphs.refused, Role::Removed),
        CallState::Interrupted => (glyphs.broken, Role::Dim),
        CallState::Asking => (glyphs.asking, Role::Attention),
        CallState::Running | CallState::Streaming => (glyphs.queued, Role::Accent),
        CallState::Waiting => (glyphs.queued, Role::Dim),
    }
}

/// Calls that went wrong which a closed fold shows, the newest ones.
const WRONG: usize = 3;

/// Returns the end of what a command of the person printed.
fn output(call: &CallSummary, width: usize, look: &Look<'_>) -> Vec<Line<'static>> {
    let Some((lines, before)) = &call.output else { return Vec::new() };
    let (text, dim) = (look.theme.style(Role::Text), look.theme.style(Role::Dim));
    let more =
        (*before > 0).then(|| Span::styled(format!("  {} {}", look.glyphs.more, count::more(before)), dim).into());
    let line = |line: &String| {
        let line = Span::styled(format!("  {}", show::plain(line)), text);
        cut::line(line.into(), width, look.glyphs.cut, dim)
    };
    more.into_iter().chain(lines.iter().map(line)).collect()
}

/// Returns a call that went wrong, below its closed fold: what it was and why.
fn went_wrong(call: &CallSummary, width: usize, look: &Look<'_>) -> Vec<Line<'static>> {
    let (mark, role) = match call.state {
        CallState::Failed => (look.glyphs.failed, Role::Removed),
        CallState::Done if call.is_unsuccessful => (look.glyphs.failed, Role::Attention),
        CallState::Done => (look.glyphs.done, Role::Attention),
        _ => (look.glyphs.refused, Role::Removed),
    };
    let (text, dim) = (look.theme.style(Role::Text), look.theme.style(Role::Dim));
    // What follows the first sentence is meant for the model; the opened call has it.
    let reason = call.reason.as_deref().unwrap_or_default().lines().next().unwrap_or_default();
    let reason = reason.find(". ").map_or(reason, |end| &reason[..end]);
    let verb = verbs::localized(&call.verb.short);
    // A reason that begins with the path names it.
    let main = Some(call.main.as_str()).filter(|main| !main.is_empty() && !reason.starts_with(main));
    let what = main.map_or(verb.to_string(), |main| format!("{verb} {main}"));
    let what = if call.summary.is_empty() { what } else { format!("{what}, {}", call.summary) };
    let gap = if reason.is_empty() { "" } else { ": " };
    let line = Line::from(vec![
        Span::styled(format!("{mark} "), look.theme.style(role)),
        Span::styled(format!("{}{gap}", show::plain(&what)), text),
        Span::styled(show::plain(reason).into_owned(), dim),
    ]);
    vec![cut::line(line, width, look.glyphs.cut, dim)]
}

/// Returns a question to the person.
pub(super) fn question(text: &str, width: usize, look: &Look<'_>) -> Vec<Line<'static>> {
    titled("?", Role::Attention, text, width, look)
}

/// Returns a proposal that waits for the person.
pub(super) fn proposal(files: usize, hunks: usize, width: usize, look: &Look<'_>) -> Line<'static> {
    let (attention, dim) = (look.theme.style(Role::Attention), look.theme.style(Role::Dim));
    let words = say::proposal(&format!("{}, {}", count::files(files), count::hunks(hunks)));
    let mut line = Line::from(vec![
        Span::styled(format!("{} ", look.glyphs.asking), attention.add_modifier(Modifier::BOLD)),
        Span::styled(words, look.theme.style(Role::Text)),
    ]);
    let waits = format!(" {} {}", look.glyphs.dot, say::waiting_for_you());
    if line.width() + cells(&waits) <= width {
        line.push_span(Span::styled(waits, dim));
    }
    cut::line(line, width, look.glyphs.cut, dim)
}

/// Returns `you approved 4 of 4 hunks`.
pub(super) fn decided_words(hunks: HunkCount) -> String {
    match hunks.accepted {
        0 => say::you_rejected(&count::hunks(hunks.rejected)),
        n => say::you_approved(&n, &count::hunks(n + hunks.rejected)),
    }
}

/// Returns what the person decided of a proposal, and when.
pub(super) fn decided(hunks: HunkCount, at: i64, width: usize, look: &Look<'_>) -> Vec<Line<'static>> {
    let time = Clock { now: look.now, zone: look.zone }.minute(at);
    vec![fold_line(format!("{} {} {time}", decided_words(hunks), look.glyphs.dot), false, width, look)]
}

/// Returns a question of the person about a hunk, and the model's answer.
pub(super) fn comment(question: &str, answer: &str, width: usize, look: &Look<'_>) -> Vec<Line<'static>> {
    const COLUMN: &str = "          ";
    let mut out = Vec::new();
    for (name, role, text) in [(say::you(), Role::Focus, question), (NEBULA, Role::Accent, answer)] {
        for (n, row) in prose(text.trim(), width.saturating_sub(COLUMN.len()).max(8)).iter().enumerate() {
            let mut line = styled(row, look.theme);
            if n == 0 {
                let label = Span::styled(name, look.theme.style(role).add_modifier(Modifier::BOLD));
                let gap = Span::raw(" ".repeat(COLUMN.len().saturating_sub(cells(name) + 2)));
                line.spans.splice(0..0, [Span::raw("  "), label, gap]);
            } else {
                line.spans.insert(0, Span::raw(COLUMN));
            }
            out.push(line);
        }
    }
    out
}

/// Returns a notice: its mark and what happened, what that means, what to press.
pub(super) fn notice(notice: &Notice, width: usize, look: &Look<'_>) -> Vec<Line<'static>> {
    let (mark, role) = match notice.level {
        Level::Info => (look.glyphs.dot, Role::Accent),
        Level::Warning => (look.glyphs.refused, Role::Removed),
        Level::Error => (look.glyphs.failed, Role::Removed),
        Level::Broken => (look.glyphs.broken, Role::Text),
    };
    let mut out = titled(mark, role, &notice.title, width, look);
    if !notice.detail.is_empty() {
        out.extend(below(&notice.detail, width, look.theme.style(Role::Text), "  "));
    }
    let mut keys = vec![Span::raw("  ")];
    for (n, (action, does)) in notice.actions.iter().map(words::offer).enumerate() {
        let Some(key) = offer_key(action, n == 0, look.keys) else { continue };
        if keys.len() > 1 {
            keys.push(Span::raw("   "));
        }
        keys.push(Span::styled(key, look.theme.style(Role::Text)));
        keys.push(Span::styled(format!(" {does}"), look.theme.style(Role::Dim)));
    }
    if keys.len() > 1 {
        out.push(cut::line(keys.into(), width, look.glyphs.cut, look.theme.style(Role::Dim)));
    }
    out
}

/// Returns the key that takes an offer of a notice, in the chat and in the input alike: Enter takes the first one, and
/// what only the chat's keys do comes after the key that leads there.
fn offer_key(action: Action, is_first: bool, keys: &Keys) -> Option<String> {
    let key = keys.word(Context::Chat, action)?;
    if keys.word(Context::Input, action).is_some_and(|same| same == key) {
        return Some(key);
    }
    if is_first {
        return keys.word(Context::Chat, Action::Open);
    }
    let chat = keys.word(Context::Input, Action::FocusChat)?;
    Some(if action == Action::Open { key } else { format!("{chat} {key}") })
}

fn titled(mark: &'static str, role: Role, title: &str, width: usize, look: &Look<'_>) -> Vec<Line<'static>> {
    let bold = look.theme.style(Role::Text).add_modifier(Modifier::BOLD);
    let mut out = below(title, width, bold, "  ");
    if let Some(first) = out.first_mut() {
        let mark = Span::styled(mark, look.theme.style(role).add_modifier(Modifier::BOLD));
        first.spans.splice(0..1, [mark, Span::raw(" ")]);
    }
    out
}

/// Returns why and until when the request waits, with the seconds left at `now`.
pub(super) fn retry(wait: &Wait, now: i64, width: usize, look: &Look<'_>) -> Vec<Line<'static>> {
    let mut out = titled(look.glyphs.retry, Role::Attention, &wait.why, width, look);
    let text = look.theme.style(Role::Text);
    let left = (wait.until - now).max(0).div_euclid(1000) + i64::from((wait.until - now).max(0) % 1000 > 0);
    let spans = [
        Span::styled(say::attempt(&wait.attempt, &wait.of), text),
        Span::styled(times::seconds(&left), text.add_modifier(Modifier::BOLD)),
        Span::styled(say::attempt_end(), text),
    ];
    for mut line in wrap(&spans, width.saturating_sub(2)) {
        line.spans.insert(0, Span::raw("  "));
        out.push(line);
    }
    out
}
