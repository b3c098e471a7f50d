//! A stored session as the entries a live one would have sent.

use std::collections::HashMap;

use super::session::{ResultRecord, read_calls, read_results};
use super::shown;
use crate::memory::{self, MessageState, Role};
use crate::protocol::{Attached, Call, CallState, Item, Level, Notice};
use crate::tools;

/// The entries of these messages, oldest first.
pub fn items(rows: &[memory::Message]) -> Vec<Item> {
    let mut items = Vec::new();
    let mut open: HashMap<String, usize> = HashMap::new();
    for row in rows {
        let m = &row.message;
        let text = m.content.as_deref().unwrap_or("");
        match m.role {
            Role::User if m.meta.typed == Some(0) => {}
            Role::User => {
                let typed = m.meta.typed.and_then(|n| text.get(..n)).unwrap_or(text);
                items.push(Item::User { text: typed.to_string(), at: row.at, attached: attached(&m.meta) });
            }
            Role::Assistant => assistant(row, text, &mut items, &mut open),
            Role::Tool => {
                for result in read_results(m.tool_results.as_deref()) {
                    if let Some(Item::Call(call)) = open.remove(&result.id).and_then(|at| items.get_mut(at)) {
                        ended(call, &result, text);
                    }
                }
            }
        }
    }
    items
}

fn assistant(row: &memory::Message, text: &str, items: &mut Vec<Item>, open: &mut HashMap<String, usize>) {
    let m = &row.message;
    if let Some(thinking) = m.meta.thinking.as_deref().filter(|t| !t.is_empty()) {
        items.push(Item::Thinking { text: thinking.to_string(), took: Some(std::time::Duration::ZERO) });
    }
    if !text.trim().is_empty() {
        items.push(Item::Answer { text: text.to_string() });
    }
    for call in read_calls(m.tool_calls.as_deref()) {
        let mut shown = shown::blank(&call.name, CallState::Interrupted);
        if let (Some(tool), Ok(value)) = (tools::find(&call.name), super::arguments(&call.arguments)) {
            shown.main = tool.main_of(&value);
        }
        shown.arguments = call.arguments;
        open.insert(call.id, items.len());
        items.push(Item::Call(shown));
    }
    if m.meta.state != MessageState::Complete {
        items.push(Item::Notice(Notice {
            level: Level::Broken,
            title: "the answer broke off here".into(),
            detail: "What arrived is kept above.".into(),
            actions: Vec::new(),
        }));
    }
}

fn ended(call: &mut Call, result: &ResultRecord, text: &str) {
    call.result = Some(text.to_string());
    call.state = if result.ok { CallState::Done } else { CallState::Failed };
    if !result.ok {
        call.reason = text.lines().next().map(str::to_string);
    }
    if let Some(edit) = result.edits.first() {
        call.main.clone_from(&edit.path);
    }
}

/// What was attached, as `agent::request` kept it.
fn attached(meta: &memory::MessageMeta) -> Vec<Attached> {
    meta.attached.as_deref().map(super::request::read_attached).unwrap_or_default()
}
