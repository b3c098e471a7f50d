//! A stored session as the entries a live one would have sent.

use std::collections::HashMap;

use std::sync::Arc;

use crate::agent::session::call_preview;
use crate::agent::session::prompt_state;
use crate::agent::session::records::{
    AnswerRecord, EditRecord, ResultRecord, arguments, is_readable, read_attached, read_calls, read_results, spans,
};
use crate::edit::Format;
use crate::edit::stream::{self, End, KnownFile, Piece};
use crate::memory::{self, MessageState, NewMessage, StoredRole};
use crate::messages::agent as say;
use crate::proposal::Rung;
use crate::protocol::{Attached, Call, CallState, Item, Level, Notice};
use crate::provider::{PartKind, Span};
use crate::tools::ToolSet;

/// Returns the entries of these messages, oldest first; `tools` are those of the session.
pub fn items(rows: &[memory::StoredMessage], tools: &ToolSet) -> Vec<Item> {
    let mut items = Vec::new();
    let mut open: HashMap<String, usize> = HashMap::new();
    let mut step = 0;
    for row in rows {
        let m = &row.message;
        let text = m.content.as_deref().unwrap_or("");
        match m.role {
            StoredRole::User => {
                let Some(typed) = typed(row) else { continue };
                items.push(Item::User { text: typed.to_string(), at: row.at, attached: attached(&m.meta) });
            }
            StoredRole::Assistant => {
                let first = items.len();
                assistant(row, text, tools, &mut items, &mut open);
                step += 1;
                items[first..].iter_mut().for_each(|item| {
                    if let Item::Call(call) = item {
                        call.step = step;
                    }
                });
            }
            StoredRole::Tool => {
                for result in read_results(m.tool_results.as_deref()) {
                    if let Some(Item::Call(call)) = open.remove(&result.id).and_then(|at| items.get_mut(at)) {
                        ended(call, &result, text);
                    }
                }
            }
        }
        items.extend(damage(row).map(|(title, detail)| Item::Notice(Notice::new(Level::Warning, title, detail))));
        let joined = prompt_state::joined(m.meta.extra.as_deref());
        if !joined.is_empty() {
            items.push(Item::Rules(joined));
        }
    }
    items
}

/// Returns what of a message is damaged in memory, as the title and the detail of notices.
fn damage(row: &memory::StoredMessage) -> impl Iterator<Item = (String, &'static str)> {
    let calls = (!is_readable(&row.message)).then(|| say::damaged_calls(&row.id));
    let blobs = (row.damage.blobs > 0).then(|| say::damaged_attachments(&row.damage.blobs, &row.id));
    let parts = row.damage.parts.then(|| say::damaged_parts(&row.id));
    let details = [say::damaged_calls_left_out(), say::damaged_attachments_left_out(), say::damaged_parts_left_out()];
    [calls, blobs, parts].into_iter().zip(details).filter_map(|(title, detail)| Some((title?, detail)))
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
    let spans = spans(m);
    let thinking = m.meta.thinking.as_deref().unwrap_or_default();
    if !thinking.is_empty() || spans.iter().any(Span::hides_thoughts) {
        let took = AnswerRecord::read(m.meta.extra.as_deref()).thought_ms.map(std::time::Duration::from_millis);
        items.push(Item::Thinking { text: thinking.to_string(), took });
    }
    match written(text, m, tools) {
        Some(parts) => items.extend(parts),
        None => items.extend(answers(text, &spans)),
    }
    for call in read_calls(m.tool_calls.as_deref()) {
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
    if m.meta.state != MessageState::Complete {
        items.push(Item::Notice(Notice {
            level: Level::Broken,
            title: say::broke_off_here().into(),
            detail: say::arrived_above().into(),
            actions: Vec::new(),
            cause: Default::default(),
        }));
    }
}

/// Returns the text of an answer as entries: what was said on the way stands for itself.
fn answers(text: &str, spans: &[Span]) -> Vec<Item> {
    let mut said: Vec<(String, bool)> = Vec::new();
    let mut at = 0usize;
    let texts = spans.iter().filter(|span| span.kind == PartKind::Text);
    for (bytes, commentary) in texts.map(|span| (span.bytes, span.is_commentary())).chain([(text.len(), false)]) {
        let end = at.saturating_add(bytes).min(text.len());
        let Some(part) = text.get(at..end).filter(|part| !part.is_empty()) else { continue };
        at = end;
        match said.last_mut() {
            Some((before, same)) if *same == commentary => before.push_str(part),
            _ => said.push((part.to_string(), commentary)),
        }
    }
    let said = said.into_iter().filter(|(text, _)| !text.trim().is_empty());
    let item = |(text, commentary): (String, bool)| {
        let text = text.trim_start_matches('\n').to_string();
        if commentary { Item::Commentary { text } } else { Item::Answer { text } }
    };
    said.map(item).collect()
}

/// Returns an answer with edits or calls in its text: prose and calls as they were shown when it came. None where what
/// was kept of their results does not fit what the text is read as.
fn written(text: &str, m: &NewMessage, tools: &ToolSet) -> Option<Vec<Item>> {
    let results = read_results(m.tool_results.as_deref());
    if results.is_empty() {
        return None;
    }
    let edits = || results.iter().flat_map(|r| &r.edits);
    let known = |text: &str, e: &EditRecord| KnownFile { path: e.path.clone(), text: Arc::from(text) };
    let plain = edits().map(|e| known("", e)).collect();
    read(text, m, &results, plain, tools).or_else(|| {
        // A block was recognised as a file by its likeness to what that file was then. Which one it was is found by
        // trying.
        let blocks = fenced(text);
        let whole: Vec<&EditRecord> = edits().filter(|e| e.format == Format::WHOLE.name()).collect();
        let mut runs = blocks.windows(whole.len().max(1)).take(BLOCKS);
        runs.find_map(|run| {
            let alike = |e: &EditRecord| whole.iter().position(|w| std::ptr::eq(*w, e)).and_then(|i| run.get(i));
            // A blank line more: the block is not the file as it is.
            let known = edits().map(|e| known(&alike(e).map_or(String::new(), |block| format!("{block}\n")), e));
            read(text, m, &results, known.collect(), tools)
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
    text: &str,
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
    for piece in stream::read(text, format, known, tools.calls(), end) {
        let mut call = match piece {
            Piece::Prose(text) => {
                match items.last_mut().filter(|_| talking) {
                    Some(Item::Answer { text: before }) => before.push_str(&text),
                    _ if text.trim().is_empty() => continue,
                    _ => {
                        let text = text.trim_start_matches('\n').to_string();
                        items.push(Item::Answer { text });
                    }
                }
                talking = true;
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
    left.next().is_none().then_some(items)
}

fn ended(call: &mut Call, result: &ResultRecord, text: &str) {
    call.result = Some(text.to_string());
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
        call.main.clone_from(&edit.path);
    }
    call.rung = result.edits.iter().filter_map(|e| Rung::named(e.rung.as_deref()?)).max();
    if let Some(call_item) = &result.display {
        call_item.show(call);
    }
}

/// Returns what was attached, as `records` kept it.
fn attached(meta: &memory::MessageMeta) -> Vec<Attached> {
    meta.attached.as_deref().map(read_attached).unwrap_or_default()
}
