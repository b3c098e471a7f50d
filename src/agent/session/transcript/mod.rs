//! A stored session as the entries a live one would have sent.

mod restored;

use std::collections::HashMap;

use std::sync::Arc;
use std::time::Duration;

pub use self::restored::PersonRestore;
use crate::agent::session::call_preview;
use crate::agent::session::prompt_state;
use crate::agent::session::records::{
    AnswerRecord, EditRecord, ResultRecord, TurnSoFar, arguments, read_attached, read_calls, read_notices,
    read_results, spans,
};
use crate::agent::session::unanswered::EarlierCommands;
use crate::edit::Format;
use crate::edit::stream::{self, End, KnownFile, Piece};
use crate::memory::{self, ChangesetRecord, ConversationSummary, MessageState, NewMessage, StoredRole};
use crate::messages::agent as say;
use crate::proposal::Rung;
use crate::protocol::{Call, CallState, Item, Level, Notice};
use crate::provider::{PartKind, Span};
use crate::tools::ToolSet;

/// Returns the entries of these messages, oldest first, with what the person restored between them, and what `commands`
/// printed whose calls have no result; `tools` are those of the session, and `summary` is what stands for the first of the
/// messages.
pub fn items(
    rows: &[memory::StoredMessage],
    (restores, commands): (&[ChangesetRecord], &EarlierCommands),
    tools: &ToolSet,
    summary: Option<&ConversationSummary>,
) -> Vec<Item> {
    let mut transcript = Transcript::default();
    let restores = restores.iter().filter(|restore| rows.first().is_some_and(|first| first.at <= restore.at));
    for part in in_order(rows, restores) {
        let row = match part {
            SessionPart::Message(row) => row,
            SessionPart::Restored(restore) => {
                transcript.end_turn();
                transcript.items.push(Item::Notice(PersonRestore::of(restore).notice()));
                continue;
            }
        };
        transcript.add(row, tools);
        if let Some(summary) = summary.filter(|summary| summary.upto == row.id) {
            transcript.end_turn();
            transcript.items.push(Item::Commentary { text: say::summary_of_conversation(&summary.text) });
            let stands = Notice::new(Level::Info, say::summary_stands(), say::compact_undo());
            transcript.items.push(Item::Notice(stands));
        }
    }
    transcript.end_turn();
    transcript.end_commands(commands);
    transcript.items
}

/// A part of a session.
pub enum SessionPart<'a> {
    /// A message, of whomever.
    Message(&'a memory::StoredMessage),
    /// An undo, redo or restore by the person.
    Restored(&'a ChangesetRecord),
}

/// Returns messages with what the person restored between them, both oldest first.
pub fn in_order<'a>(
    messages: &'a [memory::StoredMessage],
    restores: impl Iterator<Item = &'a ChangesetRecord>,
) -> Vec<SessionPart<'a>> {
    let mut parts = Vec::with_capacity(messages.len());
    let mut restores = restores.peekable();
    for message in messages {
        let before = std::iter::from_fn(|| restores.next_if(|restore| restore.at < message.at));
        parts.extend(before.map(SessionPart::Restored));
        parts.push(SessionPart::Message(message));
    }
    parts.extend(restores.map(SessionPart::Restored));
    parts
}

/// Returns what the person restored since the last message of theirs: the model has not been told of it.
pub fn untold<'a>(
    rows: &[memory::StoredMessage],
    restores: &'a [ChangesetRecord],
) -> impl Iterator<Item = PersonRestore> + use<'a> {
    let last = rows.iter().rfind(|row| typed(row).is_some()).map(|row| row.at);
    restores.iter().filter(move |restore| last.is_some_and(|last| restore.at >= last)).map(PersonRestore::of)
}

/// The entries so far.
#[derive(Default)]
struct Transcript {
    items: Vec<Item>,
    /// Calls without their result, each with its entry.
    open: HashMap<String, usize>,
    step: u32,
    turn: TurnSoFar,
}

impl Transcript {
    /// Adds what was said at the end of a turn that changed no file, where that was not kept.
    fn end_turn(&mut self) {
        if self.turn.has_failed() {
            let nothing = Notice::new(Level::Warning, say::no_file_changed(), say::no_edit_applied());
            self.items.push(Item::Notice(nothing));
            self.turn = TurnSoFar::default();
        }
    }

    /// Shows what the commands of calls without a result printed.
    fn end_commands(&mut self, commands: &EarlierCommands) {
        for (id, at) in &self.open {
            let Some(Item::Call(call)) = self.items.get_mut(*at) else { continue };
            if let Some((result, text)) = commands.result(id, &call.name) {
                ended(call, &result, &text);
            }
        }
    }

    /// Adds the entries of a message.
    fn add(&mut self, row: &memory::StoredMessage, tools: &ToolSet) {
        if typed(row).is_some() {
            self.end_turn();
            self.turn = TurnSoFar::default();
        }
        self.turn.note(&row.message);
        let Transcript { items, open, step, .. } = self;
        let m = &row.message;
        let notices = read_notices(m.meta.extra.as_deref());
        let text = m.content.as_deref().unwrap_or("");
        match m.role {
            StoredRole::User => {
                if let Some(typed) = typed(row) {
                    let attached = read_attached(m.meta.attached.as_deref());
                    items.push(Item::User { text: typed.to_string(), at: row.at, attached });
                }
            }
            StoredRole::Assistant => {
                let first = items.len();
                assistant(row, text, tools, items, open);
                // The end of one that broke off is kept, unless nebula ended with it.
                items.extend(broke_off(m).filter(|_| notices.is_empty()));
                *step += 1;
                items[first..].iter_mut().for_each(|item| {
                    if let Item::Call(call) = item {
                        call.step = *step;
                    }
                });
            }
            StoredRole::Tool => {
                for result in read_results(m.tool_results.as_deref()).unwrap_or_default() {
                    if let Some(Item::Call(call)) = open.remove(&result.id).and_then(|at| items.get_mut(at)) {
                        ended(call, &result, text);
                    }
                }
            }
        }
        let joined = prompt_state::joined(m.meta.extra.as_deref()).unwrap_or_default();
        if !joined.is_empty() {
            items.push(Item::Rules(joined));
        }
        if !notices.is_empty() {
            items.extend(notices.into_iter().map(Item::Notice));
            self.turn.add_notice();
        }
    }
}

/// Returns what the person typed in a message: an entry of the conversation. None where nothing was typed: nebula wrote
/// it, or it is no message of theirs.
pub fn typed(row: &memory::StoredMessage) -> Option<&str> {
    let text = row.message.content.as_deref().unwrap_or("");
    match row.message.meta.typed {
        _ if row.message.role != StoredRole::User => None,
        Some(0) => None,
        typed => Some(typed.and_then(|n| text.get(..n)).unwrap_or(text)),
    }
}

fn assistant(
    row: &memory::StoredMessage,
    text: &str,
    tools: &ToolSet,
    items: &mut Vec<Item>,
    open: &mut HashMap<String, usize>,
) {
    let m = &row.message;
    let first = items.len();
    let said = said(text, m.meta.thinking.as_deref().unwrap_or_default(), &spans(m).unwrap_or_default());
    // Thoughts that a server tells behind the calls stand below them.
    let behind = said.iter().take_while(|part| !part.behind_calls).count();
    let (said, behind) = said.split_at(behind);
    items.extend(written(said, m, tools).unwrap_or_else(|| said.iter().filter_map(Said::item).collect()));
    for call in read_calls(m.tool_calls.as_deref()).unwrap_or_default() {
        let mut call_item = call_preview::of_tool(tools, &call.name, CallState::Interrupted);
        if let Ok(value) = arguments(&call.arguments) {
            call_item.main = tools.main(&call.name, &value);
            if let Some(Ok(edits)) = tools.edits(&call.name, &value) {
                call_item.preview = edits.iter().flat_map(call_preview::preview).collect();
                call_item.counts = Some(call_preview::signs(&call_item.preview));
            }
        }
        call_item.arguments = call.arguments;
        open.insert(call.id, items.len());
        items.push(Item::Call(call_item));
    }
    items.extend(behind.iter().filter_map(Said::item));
    items.extend(of_earlier_answers(m, tools));
    let answer = AnswerRecord::read(m.meta.extra.as_deref()).unwrap_or_default();
    let thoughts = items[first..].iter_mut().filter_map(|item| match item {
        Item::Thinking { took, .. } => Some(took),
        _ => None,
    });
    for (took, ms) in thoughts.zip(answer.thought_ms) {
        *took = ms.map(Duration::from_millis);
    }
}

/// Returns the entries of edits of earlier answers that the person decided once this one was there.
fn of_earlier_answers(m: &NewMessage, tools: &ToolSet) -> impl Iterator<Item = Item> {
    let results = read_results(m.tool_results.as_deref()).unwrap_or_default();
    results.into_iter().filter(|result| result.of_earlier_answer).map(|result| {
        let format = result.edits.first().and_then(|edit| Format::parse(&edit.format));
        let mut call = match format.filter(|format| *format != Format::TOOLS) {
            Some(format) => call_preview::of_format(format, CallState::Interrupted),
            None => call_preview::of_tool(tools, &result.name, CallState::Interrupted),
        };
        ended(&mut call, &result, result.for_model.as_deref().unwrap_or_default());
        Item::Call(call)
    })
}

/// Returns the notice of an answer that did not arrive whole; none of one that did.
fn broke_off(m: &NewMessage) -> Option<Item> {
    let answer = AnswerRecord::read(m.meta.extra.as_deref()).unwrap_or_default();
    let (title, detail) = match answer.stopped {
        true => (say::interrupted(), say::arrived_kept()),
        false => (say::broke_off_here(), say::arrived_above()),
    };
    let notice = || Item::Notice(Notice::new(Level::Broken, title, detail));
    (m.meta.state != MessageState::Complete).then(notice)
}

/// A part of an answer that is shown as one entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Said<'a> {
    kind: SaidKind,
    text: &'a str,
    /// It came after the calls.
    behind_calls: bool,
}

/// The entry a part of an answer is shown as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SaidKind {
    Thought,
    Commentary,
    Answer,
}

impl Said<'_> {
    /// Returns its entry; nothing where there is nothing to show.
    fn item(&self) -> Option<Item> {
        let text = self.text.trim_start_matches('\n').to_string();
        match self.kind {
            SaidKind::Thought => Some(Item::Thinking { text: self.text.to_string(), took: None }),
            _ if self.text.trim().is_empty() => None,
            SaidKind::Commentary => Some(Item::Commentary { text }),
            SaidKind::Answer => Some(Item::Answer { text }),
        }
    }
}

/// Returns the text and the thoughts of an answer in the order in which they came; neighbouring texts of one kind are one.
fn said<'a>(text: &'a str, thinking: &'a str, spans: &[Span]) -> Vec<Said<'a>> {
    let mut said = Vec::new();
    let (mut text, mut thinking) = (Rest::new(text), Rest::new(thinking));
    let mut behind_calls = false;
    // Of a session that was kept without its parts the thoughts come first.
    if !spans.iter().any(|span| span.kind == PartKind::Thinking) {
        thinking.take(usize::MAX, SaidKind::Thought, false, &mut said);
    }
    for span in spans {
        match span.kind {
            PartKind::Text if span.is_commentary() => text.take(span.bytes, SaidKind::Commentary, false, &mut said),
            PartKind::Text => text.take(span.bytes, SaidKind::Answer, false, &mut said),
            PartKind::Thinking if span.bytes > 0 => {
                thinking.take(span.bytes, SaidKind::Thought, behind_calls, &mut said);
            }
            PartKind::Call => behind_calls = true,
            // That there were thoughts is said where none were before.
            _ if span.hides_thoughts() && !said.iter().any(|part| part.kind == SaidKind::Thought) => {
                said.push(Said { kind: SaidKind::Thought, text: "", behind_calls });
            }
            PartKind::Thinking | PartKind::Other | PartKind::Result | PartKind::Image => {}
        }
    }
    thinking.take(usize::MAX, SaidKind::Thought, behind_calls, &mut said);
    text.take(usize::MAX, SaidKind::Answer, false, &mut said);
    said
}

/// The text or the thoughts of an answer, of which parts are taken from the front.
struct Rest<'a> {
    run: &'a str,
    taken: usize,
}

impl<'a> Rest<'a> {
    fn new(run: &'a str) -> Self {
        Rest { run, taken: 0 }
    }

    /// Adds the next bytes to what is said.
    fn take(&mut self, bytes: usize, kind: SaidKind, behind_calls: bool, said: &mut Vec<Said<'a>>) {
        let start = self.taken;
        let end = start.saturating_add(bytes).min(self.run.len());
        let Some(text) = self.run.get(start..end).filter(|text| !text.is_empty()) else { return };
        self.taken = end;
        match said.last_mut() {
            Some(last) if kind != SaidKind::Thought && (last.kind, last.behind_calls) == (kind, behind_calls) => {
                last.text = &self.run[start - last.text.len()..end];
            }
            _ => said.push(Said { kind, text, behind_calls }),
        }
    }
}

/// Returns an answer with edits or calls in its text: prose and calls as they were shown when it came. None where what
/// was kept of their results does not fit what the text is read as.
fn written(said: &[Said], m: &NewMessage, tools: &ToolSet) -> Option<Vec<Item>> {
    let mut results = read_results(m.tool_results.as_deref()).unwrap_or_default();
    results.retain(|result| !result.of_earlier_answer);
    if results.is_empty() {
        return None;
    }
    let edits = || results.iter().flat_map(|r| &r.edits);
    let known = |text: &str, e: &EditRecord| KnownFile { path: e.path.clone(), text: Arc::from(text) };
    let plain = edits().map(|e| known("", e)).collect();
    read(said, m, &results, plain, tools).or_else(|| {
        // A block was recognised as a file by its likeness to what that file was then. Which one it was is found by
        // trying.
        let blocks = fenced(
            &said.iter().filter(|part| part.kind != SaidKind::Thought).map(|part| part.text).collect::<String>(),
        );
        let whole: Vec<&EditRecord> = edits().filter(|e| e.format == Format::WHOLE.name()).collect();
        let mut runs = blocks.windows(whole.len().max(1)).take(BLOCKS);
        runs.find_map(|run| {
            let alike = |e: &EditRecord| whole.iter().position(|w| std::ptr::eq(*w, e)).and_then(|i| run.get(i));
            // A blank line more: the block is not the file as it is.
            let known = edits().map(|e| known(&alike(e).map_or(String::new(), |block| format!("{block}\n")), e));
            read(said, m, &results, known.collect(), tools)
        })
    })
}

/// The most blocks of an answer that are tried.
const BLOCKS: usize = 24;

/// Returns the insides of the fenced blocks of a text.
fn fenced(text: &str) -> Vec<String> {
    let mut blocks = Vec::new();
    let mut open: Option<(String, String)> = None;
    for line in text.lines() {
        let bare = line.trim_start();
        let mark: String = bare.chars().take_while(|c| matches!(c, '`' | '~')).collect();
        match &mut open {
            Some((fence, block)) if mark.len() >= fence.len() && bare.trim_end() == mark => {
                blocks.push(std::mem::take(block));
                open = None;
            }
            Some((_, block)) => block.extend([line, "\n"]),
            None if mark.len() >= 3 => open = Some((mark, String::new())),
            None => {}
        }
    }
    blocks
}

/// Returns the same with these files known.
fn read(
    said: &[Said],
    m: &NewMessage,
    results: &[ResultRecord],
    known: Vec<KnownFile>,
    tools: &ToolSet,
) -> Option<Vec<Item>> {
    let end = if m.meta.state == MessageState::Complete { End::Ordinary } else { End::Cut };
    let format = m.meta.format.as_deref().and_then(Format::parse);
    let mut items: Vec<Item> = Vec::new();
    let mut left = results.iter();
    let mut formats = HashMap::new();
    let mut talking = false;
    // Thoughts are no text that is read.
    let texts: Vec<&str> =
        said.iter().map(|part| if part.kind == SaidKind::Thought { "" } else { part.text }).collect();
    let mut part = 0;
    for (at, piece) in stream::read_parts(&texts, format, known, tools.calls(), end) {
        items.extend(thoughts(&said[part..at]));
        talking &= part == at;
        part = at;
        let mut call = match piece {
            Piece::Prose(text) => {
                add_prose(&mut items, &said[..=at], &text, talking);
                talking |= !text.trim().is_empty();
                continue;
            }
            Piece::EditStarted { id, format } => {
                formats.insert(id, format);
                talking = false;
                continue;
            }
            Piece::EditGrew { .. } | Piece::CallStarted { .. } | Piece::CallGrew { .. } => continue,
            Piece::EditDone { edit, .. } => {
                let mut call = call_preview::of_format(edit.format, CallState::Interrupted);
                call.preview = call_preview::preview(&edit);
                call.counts = Some(call_preview::signs(&call.preview));
                call.main = edit.path.unwrap_or_default();
                call
            }
            Piece::EditDropped { id, .. } => {
                call_preview::of_format(formats.get(&id).copied().unwrap_or(Format::TOOLS), CallState::Failed)
            }
            Piece::BrokenCall { .. } => call_preview::blank("tool call", CallState::Failed),
            Piece::Call { name, arguments, .. } => {
                let mut call = call_preview::of_tool(tools, &name, CallState::Interrupted);
                call.main = tools.main(&name, &arguments);
                call.arguments = arguments.to_string();
                call
            }
        };
        talking = false;
        let result = left.next()?;
        ended(&mut call, result, result.for_model.as_deref().unwrap_or_default());
        items.push(Item::Call(call));
    }
    items.extend(thoughts(&said[part..]));
    left.next().is_none().then_some(items)
}

/// Adds prose of the last of these parts: to the entry before it where that goes on, which `talking` says.
fn add_prose(items: &mut Vec<Item>, said: &[Said], text: &str, talking: bool) {
    match items.last_mut().filter(|_| talking) {
        Some(Item::Answer { text: before } | Item::Commentary { text: before }) => before.push_str(text),
        _ => {
            let words = said.iter().rfind(|part| part.kind != SaidKind::Thought);
            items.extend(words.and_then(|words| Said { text, ..*words }.item()));
        }
    }
}

/// Returns the entries of the thoughts among these parts.
fn thoughts(said: &[Said]) -> impl Iterator<Item = Item> {
    said.iter().filter(|part| part.kind == SaidKind::Thought).filter_map(Said::item)
}

fn ended(call: &mut Call, result: &ResultRecord, text: &str) {
    call.result = Some(text.to_string());
    if let Some(command) = &result.command {
        call_preview::show_command(call, command);
    }
    let placed = result.edits.iter().any(|e| e.rung.is_some());
    call.state = match (result.ok, placed) {
        (true, _) => CallState::Done,
        (false, true) => CallState::Refused,
        (false, false) => CallState::Failed,
    };
    if !result.ok {
        call.reason = text.lines().next().map(str::to_string);
    }
    if let Some(edit) = result.edits.first().filter(|e| !e.path.is_empty()) {
        call.main.clone_from(edit.place.as_ref().unwrap_or(&edit.path));
    }
    call.rung = result.edits.iter().filter_map(|e| Rung::named(e.rung.as_deref()?)).max();
    if let Some(call_item) = &result.display {
        call_item.show(call);
    }
    call.change = result.change();
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::session::records::{CallDisplayRecord, results_json};

    #[test]
    fn a_turn_that_changed_nothing_says_so_when_it_is_read_again() {
        let edit =
            |ok| EditRecord { path: "a.txt".into(), rung: Some("exact".into()), ok: Some(ok), ..EditRecord::default() };
        let message = |role, content: Option<&str>, tool_results| NewMessage {
            role,
            content: content.map(str::to_string),
            tool_calls: None,
            tool_results,
            meta: memory::MessageMeta::default(),
            blobs: Vec::new(),
            parts: Vec::new(),
        };
        let result = |ok| {
            let record = ResultRecord { edits: vec![edit(ok)], ..ResultRecord::failed("1", "edit") };
            message(StoredRole::Tool, None, Some(results_json(&[record])))
        };
        let answer = message(StoredRole::Assistant, Some("Done."), None);
        let said = |messages: &[NewMessage]| {
            let mut transcript = Transcript::default();
            messages.iter().for_each(|message| transcript.turn.note(message));
            transcript.end_turn();
            transcript.items
        };
        let nothing = Notice::new(Level::Warning, say::no_file_changed(), say::no_edit_applied());
        assert_eq!(said(&[result(false), answer.clone()]), [Item::Notice(nothing)]);
        assert!(said(&[result(false)]).is_empty(), "it goes on");
        assert!(said(&[result(false), result(true), answer.clone()]).is_empty(), "something was written");
        assert!(said(&[answer]).is_empty());
    }

    #[test]
    fn an_edit_that_was_decided_behind_a_later_answer_is_read_again() {
        let edit = EditRecord { path: "a.txt".into(), format: Format::TOOLS.name().into(), ..EditRecord::default() };
        let failed = ResultRecord::failed("", "replaceInFile");
        let record = ResultRecord { edits: vec![edit], ok: true, of_earlier_answer: true, ..failed };
        let mut message = NewMessage::text(StoredRole::Assistant, "It is right as it is.");
        message.tool_results = Some(results_json(&[record]));
        let row = memory::StoredMessage { id: 1, at: 1, message, damage: memory::MessageDamage::default() };
        let items = items(&[row], (&[], &EarlierCommands::default()), &ToolSet::builtin(), None);
        let [Item::Answer { text }, Item::Call(call)] = items.as_slice() else { panic!("{items:?}") };
        assert_eq!(text, "It is right as it is.");
        assert_eq!((call.name.as_str(), call.main.as_str(), call.state), ("replaceInFile", "a.txt", CallState::Done));
    }

    #[test]
    fn a_call_that_nebula_stopped_before_stays_interrupted() {
        let mut call = call_preview::of_tool(&ToolSet::builtin(), "readFile", CallState::Interrupted);
        let before = call.clone();
        let display = Some(CallDisplayRecord::interrupted(None));
        let record = ResultRecord { display, ..ResultRecord::failed("1", "readFile") };
        ended(&mut call, &record, "nebula stopped before this call was run");
        assert_eq!((call.state, &call.reason), (before.state, &before.reason));
    }
}
