//! One step: the model's answer as it streams. Prose goes up at once, edits in the prose are recognised, calls are
//! collected, and reads begin as soon as their arguments are whole.

use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::StreamExt;
use serde_json::Value;
use tokio::task::coop::consume_budget;
use tokio_util::sync::CancellationToken;

use crate::agent::session::call_preview;
use crate::agent::session::context::SessionContext;
use crate::agent::session::conversation::Conversation;
use crate::agent::session::records::{ResultRecord, arguments, assistant_record};
use crate::agent::session::request;
use crate::agent::turn::call_item::CallItem;
use crate::agent::turn::repeated_output::RepeatedOutput;
use crate::agent::turn::running_call::RunningCall;
use crate::agent::turn::streaming_edit::{self, StreamingEdit};
use crate::edit::stream::{EditId, End, Parser, Piece};
use crate::edit::{Edit, Format};
use crate::memory::{MessageMeta, MessageState};
use crate::protocol::{self, CallState, EventBody, Item, ItemId, Level, Mode};
use crate::provider::{self, Answer, Delta, EndReason, Message, Origin, Request, ToolCall};
use crate::tools::ToolKind;

/// What one answer came to.
pub struct Step {
    /// What is to be done, in the order in which it was written.
    pub acts: Vec<Act>,
    /// How it ended.
    pub ended: Ended,
    /// Tokens, where they were told.
    pub usage: Option<provider::Usage>,
    /// Its row in memory, if it is kept.
    pub row: Option<i64>,
    /// It ended by itself and holds neither text nor anything to do.
    pub silent: bool,
}

impl Act {
    /// Whether it was written in the text of the answer.
    pub fn is_text(&self) -> bool {
        match self {
            Act::Edit(..) | Act::Dropped(..) => true,
            Act::Call(call) => !call.native,
        }
    }
}

/// How an answer ended.
pub enum Ended {
    /// By itself.
    Whole,
    /// The model's limit of tokens cut it.
    Cut,
    /// The server held back the rest.
    Withheld,
    /// It made more calls than one answer may; those beyond [`MAX_CALLS`] are left out.
    TooManyCalls,
    /// It repeated this text until it was cut.
    Repeating(String),
    /// The person stopped it.
    Interrupted,
    /// The connection, or the server.
    Broken(provider::Error),
}

/// Something an answer asks for.
pub enum Act {
    /// An edit written in the text.
    Edit(CallItem, Box<Edit>),
    /// An edit or a call in the text that came to nothing, with its entry; what the model is told is in the record.
    Dropped(ItemId, Box<ResultRecord>),
    /// A tool call.
    Call(Box<CallAct>),
}

/// A tool call of an answer.
pub struct CallAct {
    /// Its entry on the screen.
    pub item: CallItem,
    /// The call, as the model wrote it.
    pub call: ToolCall,
    /// Made through the API; otherwise written as text.
    pub native: bool,
    /// A read that has already begun.
    pub early: Option<RunningCall>,
}

/// So many calls of one answer are run at most; the rest of the answer is not read.
pub const MAX_CALLS: usize = 500;
/// How often growing text is kept, so that a kill loses no more than this.
const CHECKPOINT: Duration = Duration::from_secs(1);

/// Asks, and takes the answer in until it ends or is stopped. What arrived is kept in memory and in the session
/// whatever happens.
pub async fn stream(
    context: &Arc<SessionContext>,
    session: &mut Conversation,
    request: Request,
    stop: &CancellationToken,
) -> Step {
    let format = context.settings().format;
    let mut reader = StepReader::new(context, session, format, request.model.clone(), stop);
    let connection = context.services.connection();
    let Some(provider) = connection.provider else {
        let unknown =
            || provider::Error::new(provider::Kind::NoKey, "no model is connected", "nebula doctor says more.");
        return reader.finish(Ended::Broken(connection.why_not.unwrap_or_else(unknown))).await;
    };
    reader.origin = Some(Arc::new(provider.origin(&request.model)));
    let mut deltas = provider.stream(request);
    let mut tick = tokio::time::interval(CHECKPOINT);
    tick.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    let mut preview = tokio::time::interval(streaming_edit::OFTEN);
    preview.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    let ended = loop {
        tokio::select! {
            biased;
            () = stop.cancelled() => break Ended::Interrupted,
            // Before the next delta, which may always be there: a kill loses no more than a second all the same.
            _ = tick.tick(), if reader.dirty => reader.checkpoint(),
            delta = deltas.next() => match delta {
                Some(Ok(delta)) => {
                    reader.take(delta).await;
                    if reader.calls_made > MAX_CALLS {
                        break Ended::TooManyCalls;
                    }
                    if let Some(text) = reader.repeating.take() {
                        break Ended::Repeating(text);
                    }
                    // A flood that never makes this task wait lets the others run all the same.
                    consume_budget().await;
                }
                Some(Err(error)) => break Ended::Broken(error),
                None => break match reader.answer.end {
                    Some(EndReason::Length) => Ended::Cut,
                    Some(EndReason::Filter) => Ended::Withheld,
                    _ => Ended::Whole,
                },
            },
            _ = preview.tick(), if reader.edits.iter().any(|(_, g)| g.stale) => reader.show_grown().await,
        }
    };
    drop(deltas);
    reader.finish(ended).await
}

/// An answer on its way in.
struct StepReader<'a> {
    context: &'a Arc<SessionContext>,
    /// It began in plan mode: nothing in its text is an edit.
    plan: bool,
    session: &'a mut Conversation,
    /// Ends the turn.
    stop: &'a CancellationToken,
    format: Format,
    model: String,
    /// Who is asked.
    origin: Option<Arc<Origin>>,
    answer: Answer,
    parser: Parser,
    row: Option<i64>,
    dirty: bool,
    retrying: bool,
    /// The entry that grows with prose, if one does.
    prose: Option<ItemId>,
    thinking: Option<(ItemId, Instant)>,
    acts: Vec<Act>,
    /// Edits in the text that are growing or done: their place in `acts` once they are done.
    edits: Vec<(EditId, StreamingEdit)>,
    /// Calls in the text that are growing.
    written: Vec<(EditId, CallItem)>,
    /// Native calls by index, while they grow.
    calls: Vec<Option<CallItem>>,
    /// Calls and edits of any kind that have begun so far.
    calls_made: usize,
    /// The first native call that still grows, and how long its arguments were when they were last looked at.
    growing: (usize, usize),
    /// Something before the next call may change files.
    writes: bool,
    /// The end of the answer, watched for repetition, and what it repeats.
    output: RepeatedOutput,
    repeating: Option<String>,
}

impl<'a> StepReader<'a> {
    fn new(
        context: &'a Arc<SessionContext>,
        session: &'a mut Conversation,
        format: Format,
        model: String,
        stop: &'a CancellationToken,
    ) -> Self {
        let parser = Parser::new(Some(format), session.known(), session.tools.calls());
        session.model = Some(model.clone());
        StepReader {
            plan: context.settings().mode == Mode::Plan,
            context,
            session,
            stop,
            format,
            model,
            origin: None,
            answer: Answer::default(),
            parser,
            row: None,
            dirty: false,
            retrying: false,
            prose: None,
            thinking: None,
            acts: Vec::new(),
            edits: Vec::new(),
            written: Vec::new(),
            calls: Vec::new(),
            calls_made: 0,
            growing: (0, usize::MAX),
            writes: false,
            output: RepeatedOutput::default(),
            repeating: None,
        }
    }

    async fn take(&mut self, delta: Delta) {
        self.answer.push(&delta);
        if let Delta::Retrying(wait) = delta {
            self.retrying = true;
            return self.context.events.send(EventBody::Retrying(Some(shown_wait(wait)))).await;
        }
        if std::mem::take(&mut self.retrying) {
            self.context.events.send(EventBody::Retrying(None)).await;
        }
        if !matches!(delta, Delta::Thinking(_) | Delta::Usage(_)) {
            self.end_thinking().await;
        }
        match delta {
            Delta::Text(text) => {
                self.keep();
                self.watch(&text);
                let pieces = self.parser.push(&text);
                if self.plan {
                    self.prose(text).await;
                }
                self.pieces(pieces).await;
            }
            Delta::Thinking(text) => {
                self.keep();
                self.think(text).await;
            }
            Delta::Call { index, name, arguments, .. } => {
                self.keep();
                self.call(index, name, arguments).await;
            }
            // What a limit or a filter cut may look whole once it is mended, and is not.
            Delta::End(reason) => self.begin_reads(!matches!(reason, EndReason::Length | EndReason::Filter)).await,
            Delta::Notice(title) => self.context.events.notice(Level::Info, title, "").await,
            Delta::Part | Delta::Seal { .. } | Delta::Usage(_) | Delta::Retrying(_) => {}
        }
    }

    /// Looks for a text that comes again and again.
    fn watch(&mut self, text: &str) {
        let seen = &self.session.seen;
        let known = |run: &str| seen.values().filter_map(|s| s.text.as_deref()).any(|t| t.contains(run));
        self.repeating = self.output.push(text, known);
    }

    /// The first piece makes the message's row; from then on it is kept once a second.
    fn keep(&mut self) {
        self.dirty = true;
        if self.row.is_none() {
            let message = Message::assistant("", Vec::new());
            let record = assistant_record(&message, MessageState::Streaming, self.meta());
            self.row = Some(self.context.services.memory.append(&self.session.id, record));
        }
    }

    fn checkpoint(&mut self) {
        self.dirty = false;
        let Some(row) = self.row else { return };
        let thinking = Some(self.answer.thinking.clone()).filter(|t| !t.is_empty());
        let (id, text) = (self.session.id.clone(), self.answer.text.clone());
        self.context.services.memory.post(move |memory| memory.checkpoint(&id, row, &text, thinking.as_deref()));
    }

    fn meta(&self) -> MessageMeta {
        MessageMeta {
            turn: self.session.turn,
            model: Some(self.model.clone()),
            format: Some(self.format.name().into()),
            input_tokens: self.answer.usage.map(|u| u.input),
            output_tokens: self.answer.usage.map(|u| u.output),
            cached_tokens: self.answer.usage.map(|u| u.cache_read),
            written_tokens: self.answer.usage.map(|u| u.cache_write),
            thinking_tokens: self.answer.usage.map(|u| u.thinking),
            hour_tokens: self.answer.usage.map(|u| u.cache_write_1h),
            cost_nanos: self.answer.usage.and_then(|u| request::cost_nanos(self.context, &self.model, &u)),
            ..MessageMeta::default()
        }
    }

    async fn think(&mut self, text: String) {
        match self.thinking {
            Some((id, _)) => self.context.events.send(EventBody::Grew(id, text)).await,
            None => {
                let id = self.context.events.add(Item::Thinking { text, took: None }).await;
                self.thinking = Some((id, Instant::now()));
            }
        }
    }

    async fn end_thinking(&mut self) {
        if let Some((id, began)) = self.thinking.take() {
            let item = Item::Thinking { text: self.answer.thinking.clone(), took: Some(began.elapsed()) };
            self.context.events.send(EventBody::Changed(id, item)).await;
        }
    }

    /// In plan mode what looks like an edit is a part of the plan and shown as it is; calls are still made, as far as
    /// they only read.
    async fn pieces(&mut self, pieces: Vec<Piece>) {
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

    async fn piece(&mut self, piece: Piece) {
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
                let item = CallItem::add(
                    &self.context.events,
                    call_preview::blank(call_preview::tag(format), CallState::Streaming),
                )
                .await;
                self.edits.push((id, StreamingEdit::new(format, item)));
            }
            Piece::EditGrew { id, part, text } => {
                if let Some((_, growing)) = self.edits.iter_mut().find(|(e, _)| *e == id) {
                    growing.grow(self.context, part, &text, self.stop).await;
                }
            }
            Piece::EditDone { id, edit } => {
                if let Some(growing) = self.grown(id) {
                    let mut item = growing.end(Some(&edit));
                    item.set(&self.context.events, CallState::Waiting).await;
                    self.push(Act::Edit(item, Box::new(edit)));
                }
            }
            Piece::EditDropped { id, why } => {
                if let Some(growing) = self.grown(id) {
                    self.edit_dropped(growing, &why).await;
                }
            }
            Piece::CallStarted { id, name } => {
                self.prose = None;
                let item = CallItem::add(&self.context.events, self.growing_call(&name)).await;
                self.written.push((id, item));
            }
            Piece::CallGrew { id, text } => {
                if let Some((_, item)) = self.written.iter_mut().find(|(e, _)| *e == id) {
                    item.call.arguments.push_str(&text);
                    self.context.events.send(EventBody::Grew(item.id, text)).await;
                }
            }
            Piece::BrokenCall { id, text, why } => self.call_broken(id, &text, &why).await,
            Piece::Call { id, name, arguments } => self.call_written(id, name, &arguments).await,
        }
    }

    /// An edit in the text that came to nothing.
    async fn edit_dropped(&mut self, growing: StreamingEdit, why: &str) {
        let format = growing.format;
        let mut item = growing.end(None);
        item.end(&self.context.events, CallState::Failed, why, why).await;
        let record = ResultRecord::failed("", &item.call.name).and_edit(&item.call.main, format);
        let told = Some(format!("an edit was left out: {why}"));
        self.push(Act::Dropped(item.id, Box::new(ResultRecord { told, ..record })));
    }

    /// A call in the text that cannot be read.
    async fn call_broken(&mut self, id: Option<EditId>, text: &str, why: &str) {
        let mut item = self.begun(id, "tool call").await;
        let told = format!("the tool call could not be read: {why}\nIt was:\n{text}");
        item.end(&self.context.events, CallState::Failed, why, &told).await;
        let record = ResultRecord::failed("", &item.call.name).and_edit("", Format::Tools);
        self.push(Act::Dropped(item.id, Box::new(ResultRecord { told: Some(told), ..record })));
    }

    /// A whole call in the text.
    async fn call_written(&mut self, id: Option<EditId>, name: String, arguments: &serde_json::Value) {
        let mut item = self.begun(id, &name).await;
        item.call.main = self.session.tools.main(&name, arguments);
        let call = ToolCall { id: String::new(), name, arguments: arguments.to_string() };
        let named = self.growing_call(&call.name);
        (item.call.name, item.call.verb) = (named.name, named.verb);
        item.call.arguments.clone_from(&call.arguments);
        item.set(&self.context.events, CallState::Waiting).await;
        self.push(Act::Call(Box::new(CallAct { item, call, native: false, early: None })));
    }

    /// The entry of a call that begins.
    fn growing_call(&self, name: &str) -> protocol::Call {
        call_preview::of_tool(&self.session.tools, name, CallState::Streaming)
    }

    /// The entry of a call in the text: the one that has been growing, or a new one.
    async fn begun(&mut self, id: Option<EditId>, name: &str) -> CallItem {
        self.prose = None;
        match self.written.iter().position(|(e, _)| Some(*e) == id) {
            Some(at) => self.written.remove(at).1,
            None => CallItem::add(&self.context.events, self.growing_call(name)).await,
        }
    }

    async fn prose(&mut self, text: String) {
        match self.prose {
            Some(id) => self.context.events.send(EventBody::Grew(id, text)).await,
            // White space alone between calls is nothing to show.
            None if text.trim().is_empty() => {}
            None => self.prose = Some(self.context.events.add(Item::Answer { text }).await),
        }
    }

    /// Shows what has grown since it was shown last: when the stream pauses nothing of it is held back.
    async fn show_grown(&mut self) {
        for (_, growing) in self.edits.iter_mut().filter(|(_, g)| g.stale) {
            growing.tell(self.context).await;
        }
    }

    fn grown(&mut self, id: EditId) -> Option<StreamingEdit> {
        let at = self.edits.iter().position(|(e, _)| *e == id)?;
        Some(self.edits.remove(at).1)
    }

    async fn call(&mut self, index: usize, name: Option<String>, arguments: String) {
        self.prose = None;
        let at = index.min(self.calls.len());
        if at == self.calls.len() {
            // What was said before it is shown before it.
            let pieces = self.parser.pause();
            Box::pin(self.pieces(pieces)).await;
            self.calls_made += 1;
            if self.calls_made > MAX_CALLS {
                return;
            }
            self.prose = None;
            // A new call: those before it are whole.
            self.begin_reads(false).await;
            let item = CallItem::add(&self.context.events, self.growing_call(name.as_deref().unwrap_or(""))).await;
            self.calls.push(Some(item));
        }
        let Some(item) = &mut self.calls[at] else { return };
        item.call.arguments.push_str(&arguments);
        if !arguments.is_empty() {
            self.context.events.send(EventBody::Grew(item.id, arguments)).await;
        }
    }

    /// Moves native calls whose arguments are whole from growing to waiting, in order, and begins those that only
    /// read, as long as nothing before them changes files. At the `end` of the answer all arguments are as whole as
    /// they will be.
    async fn begin_reads(&mut self, end: bool) {
        while let Some(call) = self.answer.calls.get(self.growing.0).filter(|_| self.growing.0 < self.calls.len()) {
            let (at, length) = self.growing;
            // What was looked at and has not grown since is no more whole than it was.
            if !end && length == call.arguments.len() {
                return;
            }
            self.growing.1 = call.arguments.len();
            let parsed = match serde_json::from_str(&call.arguments) {
                Ok(value) => Ok(value),
                Err(_) if !end => return,
                Err(_) => arguments(&call.arguments),
            };
            let call = call.clone();
            self.growing = (at + 1, usize::MAX);
            if let Some(item) = self.calls[at].take() {
                self.begin_call(item, call, parsed).await;
            }
        }
    }

    /// A native call whose arguments are whole.
    async fn begin_call(&mut self, mut item: CallItem, call: ToolCall, parsed: Result<Value, String>) {
        let tool = self.session.tools.find(&call.name).cloned();
        if let (Some(tool), Ok(value)) = (&tool, &parsed) {
            item.call.main = tool.main(value);
        }
        let early = match (tool, parsed) {
            (Some(tool), Ok(value)) if tool.kind() == ToolKind::Read && !self.writes => {
                item.set(&self.context.events, CallState::Running).await;
                Some(RunningCall::early(self.context, self.session, &tool, value, &item, self.stop))
            }
            _ => {
                item.set(&self.context.events, CallState::Waiting).await;
                None
            }
        };
        self.push(Act::Call(Box::new(CallAct { item, call, native: true, early })));
    }

    fn push(&mut self, act: Act) {
        self.writes |= match &act {
            Act::Call(c) => !self.session.tools.is(&c.call.name, ToolKind::Read),
            Act::Edit(..) | Act::Dropped(..) => true,
        };
        self.acts.push(act);
    }

    /// Whether a piece of the text is the first of an edit or a call.
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

    async fn finish(mut self, ended: Ended) -> Step {
        if std::mem::take(&mut self.retrying) {
            self.context.events.send(EventBody::Retrying(None)).await;
        }
        self.end_thinking().await;
        let whole = matches!(ended, Ended::Whole);
        let parser = std::mem::replace(&mut self.parser, Parser::new(None, Vec::new(), Arc::default()));
        self.pieces(parser.finish(if whole { End::Ordinary } else { End::Cut })).await;
        for (_, growing) in std::mem::take(&mut self.edits) {
            growing.end(None).end(&self.context.events, CallState::Interrupted, "the answer broke off in it", "").await;
        }
        // Calls that were complete before a cut stand; a person who stops wants nothing more begun.
        if !matches!(ended, Ended::Interrupted) {
            self.begin_reads(whole).await;
        }
        self.drop_unfinished_calls().await;
        let silent = whole && self.acts.is_empty() && self.answer.text.trim().is_empty();
        self.save(if whole { MessageState::Complete } else { MessageState::Interrupted });
        Step { acts: self.acts, ended, usage: self.answer.usage, row: self.row, silent }
    }

    /// A call whose arguments were still arriving is no call: it is shown as interrupted and left out of what is sent.
    async fn drop_unfinished_calls(&mut self) {
        for item in self.calls.iter_mut().flatten() {
            item.end(&self.context.events, CallState::Interrupted, "the answer broke off in it", "").await;
        }
        self.answer.keep_calls(|at| self.calls.get(at).is_some_and(Option::is_none));
    }

    fn save(&mut self, state: MessageState) {
        if self.answer.is_empty() && self.row.is_none() {
            return;
        }
        let meta = self.meta();
        let message = std::mem::take(&mut self.answer);
        let usage = message.usage;
        let mut message = message.into_message();
        message.origin.clone_from(&self.origin);
        let record = assistant_record(&message, state, meta);
        if let Some(row) = self.row {
            let id = self.session.id.clone();
            self.context.services.memory.post(move |memory| memory.replace(&id, row, &record));
            self.session.push(message, row);
        }
        self.answer.usage = usage;
    }
}

/// A pause between tries, for the front end.
pub fn shown_wait(wait: provider::Wait) -> protocol::Wait {
    protocol::Wait { attempt: wait.attempt, of: wait.of, until: wait.until, why: wait.why }
}
