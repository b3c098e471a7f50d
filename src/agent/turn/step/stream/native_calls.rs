//! Calls that are made through the API: they grow piece by piece, and those that only read begin as soon as they are
//! whole.

use serde_json::Value;

use super::reader::StepReader;
use crate::agent::session::records::arguments;
use crate::agent::turn::step::act::{Act, CallAct, EarlyCall, MAX_CALLS};
use crate::agent::turn::step::call_item::CallItem;
use crate::agent::turn::step::running_call::RunningCall;
use crate::edit::stream::Parser;
use crate::protocol::{CallState, EventBody, Item};
use crate::provider::{Delta, ToolCall};

impl StepReader<'_> {
    /// Returns a piece of an answer under the own name of the tool it calls, where the model put a prefix before that.
    pub(super) fn with_own_name(&self, mut delta: Delta) -> Delta {
        if let Delta::Call { name: Some(name), .. } = &mut delta
            && let Some(own) = self.session.tools.own_name(name)
        {
            *name = own.to_string();
        }
        delta
    }

    pub(super) async fn call(&mut self, index: usize, name: Option<String>, arguments: String) {
        self.prose = None;
        let at = index.min(self.calls.len());
        if at == self.calls.len() {
            // Text before the call is shown before it.
            let pieces = self.parser.pause();
            Box::pin(self.pieces(pieces)).await;
            self.calls_made += 1;
            if self.calls_made > MAX_CALLS {
                return;
            }
            self.prose = None;
            // A new call: those before it are whole.
            self.begin_reads(false).await;
            let item = CallItem::add(self.step.events, self.streamed_call(name.as_deref().unwrap_or(""))).await;
            self.calls.push(Some(item));
        }
        let Some(item) = &mut self.calls[at] else { return };
        item.grow(self.step.events, &arguments).await;
    }

    /// Moves native calls whose arguments are whole from streaming to waiting, in order, and begins those that only
    /// read, as long as nothing before them changes files. At the `end` of the answer all arguments are as whole as
    /// they will be.
    pub(super) async fn begin_reads(&mut self, end: bool) {
        while let Some(call) =
            self.answer.calls.get(self.oldest_open.0).filter(|_| self.oldest_open.0 < self.calls.len())
        {
            let (at, length) = self.oldest_open;
            // Arguments that were examined and are as they were need no second look.
            if !end && length == call.arguments.len() {
                return;
            }
            self.oldest_open.1 = call.arguments.len();
            let parsed = match serde_json::from_str(&call.arguments) {
                Ok(value) => Ok(value),
                Err(_) if !end => return,
                Err(_) => arguments(&call.arguments),
            };
            let call = call.clone();
            self.oldest_open = (at + 1, usize::MAX);
            if let Some(item) = self.calls[at].take() {
                self.begin_call(item, call, parsed).await;
            }
        }
    }

    /// Begins a native call whose arguments are whole.
    async fn begin_call(&mut self, mut item: CallItem, call: ToolCall, parsed: Result<Value, String>) {
        let tool = self.session.tools.find(&call.name).cloned();
        if let (Some(tool), Ok(value)) = (&tool, &parsed) {
            item.call.main = tool.main(value);
        }
        let early = match (tool, parsed) {
            (Some(tool), Ok(value)) if tool.kind().reads() && !self.writes => {
                item.set(self.step.events, CallState::Running).await;
                Some(EarlyCall::Running(RunningCall::early(self.step, &self.session.files, &tool, value, &item)))
            }
            _ => {
                item.set(self.step.events, CallState::Waiting).await;
                None
            }
        };
        self.push(Act::Call(Box::new(CallAct { item, call, native: true, early })));
    }

    /// Drops a call whose arguments were still arriving: it is shown as interrupted and left out of what is sent.
    pub(super) async fn drop_unfinished_calls(&mut self) {
        for item in self.calls.iter_mut().flatten() {
            item.end(self.step.events, CallState::Interrupted, "the answer broke off in it", "").await;
        }
        self.answer.keep_calls(|at| self.calls.get(at).is_some_and(Option::is_none));
    }

    /// Drops what does not count: the last `calls`, and the newest part of the text with what was recognised in it. The
    /// entries of calls and edits stay on the screen, interrupted; prose goes.
    pub(super) async fn withdraw(&mut self, text: bool, calls: usize) {
        let remaining = self.calls.len().saturating_sub(calls);
        let mut items: Vec<CallItem> = self.calls.split_off(remaining).into_iter().flatten().collect();
        self.calls_made = self.calls_made.saturating_sub(items.len());
        if self.oldest_open.0 >= remaining {
            self.oldest_open = (remaining, usize::MAX);
        }
        if text {
            items.extend(self.withdraw_text().await);
        }
        for mut item in items {
            item.end(self.step.events, CallState::Interrupted, "it was withdrawn", "").await;
        }
    }

    /// Drops the newest part of the text. Returns the entries of what was recognised in it.
    async fn withdraw_text(&mut self) -> Vec<CallItem> {
        self.prose = None;
        for id in std::mem::take(&mut self.said) {
            self.step.events.send(EventBody::Changed(id, Item::Answer { text: String::new() })).await;
        }
        let parser = Parser::new(Some(self.format), self.session.files.known_by_name(), self.session.tools.calls());
        self.parser = parser.displaying(self.displays);
        let mut items: Vec<CallItem> = self.written.drain(..).map(|(_, item)| item).collect();
        items.extend(self.edits.drain(..).map(|(_, edit)| edit.end(None)));
        let mut dropped = 0;
        for act in self.acts.split_off(self.part_acts.min(self.acts.len())) {
            match act {
                Act::Edit(item, _) => items.push(item),
                // A native call that is still in the answer stands.
                Act::Call(call) if !call.native || !self.answer.calls.iter().any(|kept| kept.id == call.call.id) => {
                    items.push(call.item);
                }
                Act::Call(_) => self.acts.push(act),
                Act::Dropped(..) => dropped += 1,
            }
        }
        // What was begun is counted anew: an answer without any may hold edits in no format.
        self.calls_made = self.calls_made.saturating_sub(items.len() + dropped);
        self.writes = self.acts.iter().any(|act| self.changes(act));
        items
    }
}
