//! The state of an answer that arrives: what is shown of it, what is kept of it, and what it asks for so far.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::agent::services::target::RequestTarget;
use crate::agent::session::call_preview;
use crate::agent::session::context::Settings;
use crate::agent::session::conversation::Conversation;
use crate::agent::session::records::{AnswerRecord, assistant_record};
use crate::agent::session::usage::BudgetLeft;
use crate::agent::turn::prompt_kind::wants_empty_file;
use crate::agent::turn::side_request::backoff_event;
use crate::agent::turn::step::act::{Act, Ended, Step};
use crate::agent::turn::step::call_item::CallItem;
use crate::agent::turn::step::context::StepContext;
use crate::agent::turn::step::stream::repeated_output::{RepeatedOutput, Repetition, unescaped};
use crate::agent::turn::step::stream::streaming_edit::StreamingEdit;
use crate::edit::Format;
use crate::edit::stream::{EditId, End, Parser, Piece, edits_in_no_format};
use crate::memory::{MessageMeta, MessageState};
use crate::protocol::{self, CallState, EventBody, Item, ItemId, Level, Mode, Notice};
use crate::provider::{Answer, Delta, EndReason, Message, Origin, PartKind, Span};

/// An answer on its way in.
pub(super) struct StepReader<'a> {
    pub(super) step: StepContext<'a>,
    /// It began in plan mode: nothing in its text is an edit.
    pub(super) plan: bool,
    pub(super) session: &'a mut Conversation,
    pub(super) format: Format,
    /// The model makes its changes by calls: a file in its text is only displayed.
    pub(super) displays: bool,
    pub(super) target: &'a RequestTarget,
    /// The one who is asked.
    pub(super) origin: Option<Arc<Origin>>,
    pub(super) answer: Answer,
    pub(super) parser: Parser,
    pub(super) row: Option<i64>,
    pub(super) dirty: bool,
    /// Something of the answer has arrived.
    arrived: bool,
    pub(super) retrying: bool,
    /// The entry that grows with prose, if one does.
    pub(super) prose: Option<ItemId>,
    /// The entries of prose of the newest part.
    pub(super) said: Vec<ItemId>,
    pub(super) thinking: Option<(ItemId, Instant, usize)>,
    /// The time since when it thinks what the server does not show.
    hidden: Option<Instant>,
    /// True while the answer is commentary.
    commentary: bool,
    /// The text of the present part is commentary.
    part_commentary: bool,
    /// The time when something of it was last shown, or the request began.
    shown_at: Instant,
    /// The duration of each thought that was shown; none where the server told none.
    thoughts: Vec<Option<Duration>>,
    pub(super) acts: Vec<Act>,
    /// The number of acts when the newest part began.
    pub(super) part_acts: usize,
    /// Edits in the text that are being streamed or done: their place in `acts` once they are done.
    pub(super) edits: Vec<(EditId, StreamingEdit)>,
    /// Calls in the text that are being streamed.
    pub(super) written: Vec<(EditId, CallItem)>,
    /// Native calls by index, while they grow.
    pub(super) calls: Vec<Option<CallItem>>,
    /// Calls and edits of any kind that have begun so far.
    pub(super) calls_made: usize,
    /// The first native call that still grows, and how long its arguments were when they were last looked at.
    pub(super) oldest_open: (usize, usize),
    /// Something before the next call may change files.
    pub(super) writes: bool,
    /// The end of the answer, watched for repetition, and what it repeats.
    pub(super) output: RepeatedOutput,
    pub(super) repeating: Option<String>,
    /// The rest of the session's budget, and the bytes of the answer that have arrived and at which it is looked at again.
    pub(super) budget: Option<BudgetLeft>,
    received: usize,
    look_at: usize,
    /// The tokens of the answer were counted here.
    counted: bool,
    /// The person stopped it.
    stopped: bool,
}

/// Bytes of an answer between two looks at the budget.
const BUDGET_EVERY: usize = 1_024;

impl<'a> StepReader<'a> {
    pub(super) fn new(
        step: StepContext<'a>,
        session: &'a mut Conversation,
        settings: &Settings,
        target: &'a RequestTarget,
    ) -> Self {
        let format = settings.format;
        let parser = Parser::new(Some(format), session.files.known_by_name(), session.tools.calls());
        let makes_empty = session.prompt_text().is_some_and(|prompt| wants_empty_file(&prompt));
        let parser = parser.displaying(settings.displays).making_empty(makes_empty);
        session.model = Some(target.model.clone());
        StepReader {
            plan: settings.mode == Mode::Plan,
            step,
            session,
            format,
            displays: settings.displays,
            target,
            origin: None,
            answer: Answer::default(),
            parser,
            row: None,
            dirty: false,
            arrived: false,
            retrying: false,
            prose: None,
            said: Vec::new(),
            thinking: None,
            hidden: None,
            commentary: false,
            part_commentary: false,
            shown_at: Instant::now(),
            thoughts: Vec::new(),
            acts: Vec::new(),
            part_acts: 0,
            edits: Vec::new(),
            written: Vec::new(),
            calls: Vec::new(),
            calls_made: 0,
            oldest_open: (0, usize::MAX),
            writes: false,
            output: RepeatedOutput::default(),
            repeating: None,
            budget: None,
            received: 0,
            look_at: BUDGET_EVERY,
            counted: false,
            stopped: false,
        }
    }

    /// Adds what the server lets know to the chat.
    async fn say(&self, title: String) {
        self.session.say_behind(self.step.events, self.row, Notice::new(Level::Info, title, "")).await;
    }

    pub(super) async fn take(&mut self, delta: Delta) {
        let mut delta = self.with_own_name(delta);
        self.watch(&mut delta);
        self.answer.push(&delta);
        if let Delta::Retrying(wait) = delta {
            self.retrying = true;
            // The pause is no thought, and what was thought before it is not in the answer.
            self.hidden = None;
            return self.step.events.send(EventBody::Retrying(Some(backoff_event(wait)))).await;
        }
        if std::mem::take(&mut self.retrying) {
            self.step.events.send(EventBody::Retrying(None)).await;
        }
        if !matches!(delta, Delta::Thinking(_) | Delta::Usage(_)) {
            self.end_thinking().await;
        }
        match delta {
            Delta::Text(text) => {
                self.keep();
                self.speak().await;
                let pieces = self.parser.push(&text);
                if self.plan {
                    self.prose(text).await;
                }
                self.pieces(pieces).await;
            }
            Delta::Thinking(text) => {
                self.keep();
                self.add_thinking(text).await;
            }
            Delta::Call { index, name, arguments, .. } => {
                self.keep();
                self.call(index, name, arguments).await;
            }
            // A call that a limit or a filter cut is no call, even where its JSON can be completed.
            Delta::End(reason) => self.begin_reads(!matches!(reason, EndReason::Length | EndReason::Filter)).await,
            Delta::Notice(title) => self.say(title).await,
            Delta::Withdraw { text, calls, .. } => {
                // The times are those of the thoughts that are left.
                let left = self.answer.spans.iter().filter(|span| span.kind == PartKind::Thinking).count();
                self.thoughts.truncate(left);
                self.withdraw(text > 0, calls).await;
            }
            Delta::Part => {
                self.part_acts = self.acts.len();
                self.said.clear();
                self.part_commentary = false;
                return;
            }
            Delta::Commentary => {
                self.part_commentary = true;
                return;
            }
            Delta::Seal { kind, .. } => self.sealed(kind).await,
            Delta::Usage(_) | Delta::Retrying(_) => return,
        }
        self.shown_at = Instant::now();
    }

    /// Begins commentary, or the answer behind it.
    async fn speak(&mut self) {
        if self.commentary == self.part_commentary {
            return;
        }
        self.pause().await;
        self.commentary = self.part_commentary;
    }

    /// Ends the entry that grows with prose: what waits belongs to what was said before.
    async fn pause(&mut self) {
        let pieces = self.parser.pause();
        Box::pin(self.pieces(pieces)).await;
        self.prose = None;
    }

    /// Shows that the model thought where a part that is sealed holds no word of it: once an answer.
    async fn sealed(&mut self, kind: PartKind) {
        let hidden = self.answer.spans.iter().rfind(|span| span.kind == kind && span.seal.is_some());
        if !hidden.is_some_and(Span::hides_thoughts) || !self.thoughts.is_empty() {
            return;
        }
        self.keep();
        self.pause().await;
        // A server that tells it behind the answer tells no time.
        let first = self.answer.text.is_empty() && self.answer.calls.is_empty();
        let took = first.then(|| self.shown_at.elapsed());
        self.thoughts.push(took);
        self.step.events.add(Item::Thinking { text: String::new(), took }).await;
    }

    /// Looks for a text that comes again and again, in what is said, thought or written into a call, and cuts the piece
    /// there: nothing of the rest is shown, kept or carried out.
    fn watch(&mut self, delta: &mut Delta) {
        let (text, escaped) = match delta {
            Delta::Text(text) | Delta::Thinking(text) => (text, false),
            // In the arguments of a call line breaks and quotes are escaped.
            Delta::Call { arguments, .. } => (arguments, true),
            _ => return,
        };
        self.received += text.len();
        let seen = &self.session.files.versions;
        let stands = |run: &str| seen.values().filter_map(|s| s.text.as_deref()).any(|t| t.contains(run));
        let known = |run: &str| stands(run) || unescaped(run).is_some_and(|plain| stands(&plain));
        if let Some(Repetition { at, text: repeated }) = self.output.push(text, escaped, known) {
            text.truncate(at);
            self.repeating = Some(repeated);
        }
    }

    /// Returns whether what has arrived uses up the budget, and takes down its tokens then: the server will not report
    /// them. Where it has not reported the prompt yet, the prompt counts as cheaply as it may be.
    pub(super) fn is_over_budget(&mut self) -> bool {
        let Some(budget) = self.budget.filter(|_| self.received >= self.look_at) else { return false };
        self.look_at = self.received + BUDGET_EVERY;
        let mut usage = self.answer.usage.unwrap_or_default();
        usage.output = usage.output.max(self.session.window.tokens(self.received));
        let mut least = usage;
        if usage.input == 0 {
            usage.input = self.session.sent.size.map_or(0, |(tokens, _)| tokens);
            (least.input, least.cache_read) = (usage.input, usage.input);
        }
        if !budget.is_used_up(self.target, &least) {
            return false;
        }
        (self.answer.usage, self.counted) = (Some(usage), true);
        true
    }

    /// Notes that something has arrived which is to be stored.
    fn keep(&mut self) {
        (self.dirty, self.arrived) = (true, true);
    }

    /// Stores what has arrived. An answer that is whole before its first second is over is stored once.
    pub(super) fn checkpoint(&mut self) {
        self.dirty = false;
        match self.row {
            Some(row) => {
                let thinking = Some(self.answer.thinking.clone()).filter(|t| !t.is_empty());
                let text = self.answer.text.clone();
                self.session.post(move |memory, id| memory.checkpoint(id, row, &text, thinking.as_deref()));
            }
            None => {
                let message = Message::answer(&self.answer.text, &self.answer.thinking, Vec::new(), Vec::new());
                let record = assistant_record(&message, MessageState::Streaming, self.meta());
                self.row = Some(self.session.append(record));
            }
        }
    }

    fn meta(&self) -> MessageMeta {
        let cost = self.answer.usage.map(|usage| self.target.cost(&usage)).unwrap_or_default();
        MessageMeta {
            turn: self.session.turn,
            model: Some(self.target.model.clone()),
            format: Some(self.format.name().into()),
            input_tokens: self.answer.usage.map(|u| u.input),
            output_tokens: self.answer.usage.map(|u| u.output),
            cached_tokens: self.answer.usage.map(|u| u.cache_read),
            written_tokens: self.answer.usage.map(|u| u.cache_write),
            thinking_tokens: self.answer.usage.map(|u| u.thinking),
            hour_tokens: self.answer.usage.map(|u| u.cache_write_1h),
            extra: AnswerRecord {
                thought_ms: self.thoughts.iter().map(|took| u64::try_from(took.as_ref()?.as_millis()).ok()).collect(),
                context: self.session.sent.size,
                plan: self.plan && self.calls_made == 0,
                new_prefix: self.session.sent.prefix_cause.is_some(),
                prefix: self.session.sent.prefix.as_ref().map(|prefix| prefix.basis.clone()),
                estimated: cost.estimated || self.counted,
                stopped: self.stopped,
            }
            .write(),
            cost_nanos: cost.nanos,
            ..MessageMeta::default()
        }
    }

    async fn add_thinking(&mut self, text: String) {
        if let Some((id, ..)) = self.thinking {
            return self.step.events.send(EventBody::Grew(id, text)).await;
        }
        if text.is_empty() {
            self.hidden.get_or_insert_with(Instant::now);
            return;
        }
        // What is said after a second thought stands below it.
        self.pause().await;
        let before = self.answer.thinking.len() - text.len();
        let id = self.step.events.add(Item::Thinking { text, took: None }).await;
        self.thinking = Some((id, self.hidden.take().unwrap_or_else(Instant::now), before));
    }

    async fn end_thinking(&mut self) {
        if let Some(began) = self.hidden.take().filter(|_| self.thoughts.is_empty()) {
            self.pause().await;
            let took = began.elapsed();
            self.thoughts.push(Some(took));
            self.step.events.add(Item::Thinking { text: String::new(), took: Some(took) }).await;
        }
        if let Some((id, began, before)) = self.thinking.take() {
            let took = began.elapsed();
            self.thoughts.push(Some(took));
            // What was thought may have been withdrawn.
            let text = self.answer.thinking.get(before..).unwrap_or_default().to_string();
            let item = Item::Thinking { text, took: Some(took) };
            self.step.events.send(EventBody::Changed(id, item)).await;
        }
    }

    /// Returns the entry of a call that begins.
    pub(super) fn streamed_call(&self, name: &str) -> protocol::Call {
        call_preview::of_tool(&self.session.tools, name, CallState::Streaming)
    }

    pub(super) async fn prose(&mut self, text: String) {
        match self.prose {
            Some(id) => self.step.events.send(EventBody::Grew(id, text)).await,
            // White space alone between calls is nothing to show.
            None if text.trim().is_empty() => {}
            None => {
                let text = text.trim_start_matches('\n').to_string();
                let item = if self.commentary { Item::Commentary { text } } else { Item::Answer { text } };
                let id = self.step.events.add(item).await;
                self.prose = Some(id);
                self.said.push(id);
            }
        }
    }

    pub(super) fn push(&mut self, act: Act) {
        self.writes |= self.changes(&act);
        self.acts.push(act);
    }

    /// Returns whether an act may change files.
    pub(super) fn changes(&self, act: &Act) -> bool {
        match act {
            Act::Call(c) => !self.session.tools.find(&c.call.name).is_some_and(|tool| tool.kind().reads()),
            Act::Edit(..) | Act::Dropped(..) => true,
        }
    }

    pub(super) async fn finish(mut self, ended: Ended) -> Step {
        if std::mem::take(&mut self.retrying) {
            self.step.events.send(EventBody::Retrying(None)).await;
        }
        self.end_thinking().await;
        let whole = matches!(ended, Ended::Whole | Ended::Paused);
        let parser = std::mem::replace(&mut self.parser, Parser::new(None, Vec::new(), Arc::default()));
        self.pieces(parser.finish(if whole { End::Ordinary } else { End::Cut })).await;
        if whole && self.calls_made == 0 && !self.displays {
            let (known, calls) = (self.session.files.known(), self.session.tools.calls());
            let edits = edits_in_no_format(&self.answer.text, Some(self.format), &known, calls);
            let edits = self.without_reports(edits);
            self.pieces(edits).await;
        }
        for (_, edit) in std::mem::take(&mut self.edits) {
            edit.end(None).end(self.step.events, CallState::Interrupted, "the answer broke off in it", "").await;
        }
        // Calls that were complete before a cut stand; a person who stops wants nothing more begun.
        // Nor is the call that an answer repeats itself in, though its arguments may be whole; those before it have begun.
        let repeats_in_call = matches!(ended, Ended::Repeating(_))
            && self.answer.spans.last().is_some_and(|span| span.kind == PartKind::Call);
        if !matches!(ended, Ended::Interrupted) && !repeats_in_call {
            self.begin_reads(whole).await;
        }
        self.drop_unfinished_calls().await;
        self.stopped = matches!(ended, Ended::Interrupted);
        let silent = whole && self.acts.is_empty() && self.answer.text.trim().is_empty();
        let thought = !self.thoughts.is_empty() || !self.answer.thinking.is_empty();
        self.save(if whole { MessageState::Complete } else { MessageState::Interrupted });
        let (usage, counted) = (self.answer.usage, self.counted);
        Step { acts: self.acts, ended, usage, counted, row: self.row, silent, thought }
    }

    /// Returns the pieces without edits that only likeness tells, of files that calls have changed in the turn: such a block
    /// reports the change.
    fn without_reports(&self, mut pieces: Vec<Piece>) -> Vec<Piece> {
        if self.format == Format::TOOLS {
            let changed = self.session.files.changed_in_turn();
            let report = |piece: &Piece| match piece {
                Piece::EditDone { id, edit } if !edit.whole => {
                    edit.path.as_ref().is_some_and(|path| changed.contains(path)).then_some(*id)
                }
                _ => None,
            };
            let reports: Vec<EditId> = pieces.iter().filter_map(report).collect();
            pieces.retain(|piece| match piece {
                Piece::EditStarted { id, .. } | Piece::EditDone { id, .. } => !reports.contains(id),
                _ => true,
            });
        }
        pieces
    }

    fn save(&mut self, state: MessageState) {
        if self.answer.is_empty() && !self.arrived {
            return;
        }
        let meta = self.meta();
        let message = std::mem::take(&mut self.answer);
        let usage = message.usage;
        let mut message = message.into_message();
        message.origin.clone_from(&self.origin);
        let record = assistant_record(&message, state, meta);
        let row = match self.row {
            Some(row) => {
                self.session.post(move |memory, id| memory.replace(id, row, &record));
                row
            }
            None => self.session.append(record),
        };
        self.row = Some(row);
        self.session.push(message, row);
        self.answer.usage = usage;
    }
}
