//! The pieces that the parser recognises in an answer's text: prose, edits and calls, whole and unfinished.

use super::reader::StepReader;
use crate::agent::session::call_preview;
use crate::agent::session::records::ResultRecord;
use crate::agent::turn::step::act::{Act, CallAct, MAX_CALLS};
use crate::agent::turn::step::call_item::CallItem;
use crate::agent::turn::step::stream::streaming_edit::StreamingEdit;
use crate::edit::Format;
use crate::edit::stream::{EditId, Piece};
use crate::protocol::CallState;
use crate::provider::ToolCall;

impl StepReader<'_> {
    /// Handles recognised pieces. In plan mode what looks like an edit is part of the plan and shown as it is; calls
    /// that only read are still made.
    pub(super) async fn pieces(&mut self, pieces: Vec<Piece>) {
        for piece in pieces {
            let calls = matches!(
                piece,
                Piece::CallStarted { .. } | Piece::CallGrew { .. } | Piece::Call { .. } | Piece::BrokenCall { .. }
            );
            if calls || !self.plan {
                self.piece(piece).await;
            }
        }
    }

    pub(super) async fn piece(&mut self, piece: Piece) {
        if self.begins(&piece) {
            self.calls_made += 1;
        }
        if self.calls_made > MAX_CALLS {
            return;
        }
        match piece {
            Piece::Prose(text) => self.prose(text).await,
            Piece::EditStarted { id, format } => {
                self.prose = None;
                let item = CallItem::add(self.step.events, call_preview::of_format(format, CallState::Streaming)).await;
                self.edits.push((id, StreamingEdit::new(format, item)));
            }
            Piece::EditGrew { id, part, text } => {
                if let Some((_, edit_in_text)) = self.edits.iter_mut().find(|(e, _)| *e == id) {
                    edit_in_text.grow(self.step, part, &text).await;
                }
            }
            Piece::EditDone { id, edit } => {
                if let Some(edit_in_text) = self.edit_in_text(id) {
                    let mut item = edit_in_text.end(Some(&edit));
                    item.set(self.step.events, CallState::Waiting).await;
                    self.push(Act::Edit(item, Box::new(edit)));
                }
            }
            Piece::EditDropped { id, why } => {
                if let Some(edit_in_text) = self.edit_in_text(id) {
                    self.edit_dropped(edit_in_text, &why).await;
                }
            }
            Piece::CallStarted { id, name } => {
                self.prose = None;
                let item = CallItem::add(self.step.events, self.streamed_call(&name)).await;
                self.written.push((id, item));
            }
            Piece::CallGrew { id, text } => {
                if let Some((_, item)) = self.written.iter_mut().find(|(e, _)| *e == id) {
                    item.grow(self.step.events, &text).await;
                }
            }
            Piece::BrokenCall { id, text, why } => self.call_broken(id, &text, &why).await,
            Piece::Call { id, name, arguments } => self.call_written(id, name, &arguments).await,
        }
    }

    /// Records an edit in the text that failed.
    async fn edit_dropped(&mut self, edit_in_text: StreamingEdit, why: &str) {
        let format = edit_in_text.format;
        let mut item = edit_in_text.end(None);
        item.end(self.step.events, CallState::Failed, why, why).await;
        let record = ResultRecord::failed("", &item.call.name).and_edit(&item.call.main, format);
        let for_model = Some(format!("an edit was left out: {why}"));
        let display = Some(item.record());
        self.push(Act::Dropped(item.id, Box::new(ResultRecord { for_model, display, ..record })));
    }

    /// Records a call in the text that cannot be read.
    async fn call_broken(&mut self, id: Option<EditId>, text: &str, why: &str) {
        let mut item = self.begun(id, "tool call").await;
        let for_model = format!("the tool call could not be read: {why}\nIt was:\n{text}");
        item.end(self.step.events, CallState::Failed, why, &for_model).await;
        let record = ResultRecord::failed("", &item.call.name).and_edit("", Format::TOOLS);
        let (for_model, display) = (Some(for_model), Some(item.record()));
        self.push(Act::Dropped(item.id, Box::new(ResultRecord { for_model, display, ..record })));
    }

    /// Records a whole call in the text.
    async fn call_written(&mut self, id: Option<EditId>, name: String, arguments: &serde_json::Value) {
        let mut item = self.begun(id, &name).await;
        item.call.main = self.session.tools.main(&name, arguments);
        let call = ToolCall { id: String::new(), name, arguments: arguments.to_string() };
        let named = self.streamed_call(&call.name);
        (item.call.name, item.call.verb) = (named.name, named.verb);
        item.call.arguments.clone_from(&call.arguments);
        item.set(self.step.events, CallState::Waiting).await;
        self.push(Act::Call(Box::new(CallAct { item, call, native: false, early: None })));
    }

    /// Returns the entry of a call in the text: the one that its stream began, or a new one.
    async fn begun(&mut self, id: Option<EditId>, name: &str) -> CallItem {
        self.prose = None;
        match self.written.iter().position(|(e, _)| Some(*e) == id) {
            Some(at) => self.written.remove(at).1,
            None => CallItem::add(self.step.events, self.streamed_call(name)).await,
        }
    }

    /// Shows what the stream has added to edits since they were shown last, so that nothing is held back while it pauses.
    pub(super) async fn show_streamed(&mut self) {
        for (_, edit_in_text) in self.edits.iter_mut().filter(|(_, g)| g.stale) {
            edit_in_text.tell(self.step.events).await;
        }
    }

    fn edit_in_text(&mut self, id: EditId) -> Option<StreamingEdit> {
        let at = self.edits.iter().position(|(e, _)| *e == id)?;
        Some(self.edits.remove(at).1)
    }

    /// Returns whether a piece of the text is the first of an edit or a call.
    fn begins(&self, piece: &Piece) -> bool {
        match piece {
            Piece::EditStarted { .. } | Piece::CallStarted { .. } => true,
            Piece::Call { id, .. } | Piece::BrokenCall { id, .. } => {
                id.is_none_or(|id| self.written.iter().all(|(begun, _)| *begun != id))
            }
            Piece::Prose(_) | Piece::EditGrew { .. } | Piece::EditDone { .. } => false,
            Piece::EditDropped { .. } | Piece::CallGrew { .. } => false,
        }
    }
}
