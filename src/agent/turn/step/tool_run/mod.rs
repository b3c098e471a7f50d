//! The calls and edits of one step, done in their order, each with its result.

mod questions;
#[cfg(feature = "strand")]
mod store_change;
mod undecided;

use std::collections::VecDeque;
use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use crate::agent::change::command::seal_jobs;
use crate::agent::session::context::SessionContext;
use crate::agent::session::conversation::{Conversation, first_words};
use crate::agent::session::records::{KnownFileRecord, ResultRecord, arguments, blob_record, hex, results_json};
use crate::agent::turn::effect::StepNotes;
use crate::agent::turn::step::act::{Act, CallAct, EarlyCall, MAX_CALLS};
use crate::agent::turn::step::call_item::CallItem;
use crate::agent::turn::step::call_question::{self, EarlyResult};
use crate::agent::turn::step::command::{self, CommandResult};
use crate::agent::turn::step::context::StepContext;
use crate::agent::turn::step::edits::{self, Edits};
use crate::agent::turn::step::results::MADE;
use crate::agent::turn::step::running_call::RunningCall;
use crate::agent::turn::step::undo;
use crate::archive::staging::CommandInfo;
use crate::context::small_model;
use crate::edit::{Edit, Format, Op};
use crate::memory::{self, MessageMeta, NewMessage};
use crate::messages::agent as say;
use crate::proposal::HunkCount;
use crate::protocol::{CallChange, CallState, ItemId, Level, Mode, Notice};
use crate::provider::{Blob, Message, ToolCall};
use crate::shell::ShellCommand;
use crate::tools::{CommandCall, FileRead, OutputBlock, RunResult, ToolKind, ToolOutput};

/// The acts of one step under way.
pub struct ToolRun<'a> {
    /// The session's context.
    pub context: &'a Arc<SessionContext>,
    /// The conversation.
    pub session: &'a mut Conversation,
    /// Ends the turn.
    pub stop: &'a CancellationToken,
    /// Neighbouring edits, waiting to be one proposal.
    pub edits: Edits,
    /// Results of what was written as text: the model gets them as one message.
    pub texts: Vec<String>,
    /// Images of results of calls written as text.
    pub images: Vec<Blob>,
    /// The results for memory, each with its entry on the screen.
    pub records: Vec<(ItemId, ResultRecord)>,
    /// True if the model is to answer to the results of this step.
    pub go_on: bool,
    /// The notes for the turn.
    pub notes: StepNotes,
    /// The acts whose turn has not come.
    pub ahead: VecDeque<Act>,
}

impl<'a> ToolRun<'a> {
    /// Creates a run of these acts in which nothing is done yet.
    pub fn new(
        context: &'a Arc<SessionContext>,
        session: &'a mut Conversation,
        stop: &'a CancellationToken,
        acts: Vec<Act>,
    ) -> ToolRun<'a> {
        let (edits, texts, images) = (Edits::default(), Vec::new(), Vec::new());
        let (records, notes) = (Vec::new(), StepNotes::default());
        ToolRun { context, session, stop, edits, texts, images, records, go_on: false, notes, ahead: acts.into() }
    }
}

impl ToolRun<'_> {
    fn step(&self) -> StepContext<'_> {
        StepContext::of(self.context, self.stop)
    }

    /// Records the result of an edit in the text that differs from what the model wanted.
    pub fn tell(&mut self, item: ItemId, record: ResultRecord) {
        self.notes.add(&record.name, &record, record.for_model.as_deref().unwrap_or_default());
        self.texts.extend(record.for_model.clone());
        self.records.push((item, record));
        self.go_on = true;
    }

    /// Refuses an edit of an answer that began in agent mode when plan mode was chosen meanwhile.
    async fn not_planned(&mut self, mut item: CallItem, edit: &Edit) {
        let why = "this is plan mode, which only reads: nothing was written. Put the change into the plan.";
        item.end(&self.context.events, CallState::Refused, "plan mode", why).await;
        let path = edit.path.as_deref().unwrap_or_default();
        let record = ResultRecord::failed("", &item.call.name).and_edit(path, edit.format);
        let (for_model, display) = (Some(format!("{path}: {why}")), Some(item.record()));
        self.tell(item.id, ResultRecord { for_model, display, ..record });
    }

    /// Tells the person and the model that the answer was not read on.
    pub async fn too_many(&mut self) {
        let title = format!("the answer makes more than {MAX_CALLS} calls: the first {MAX_CALLS} were taken");
        self.session.say(&self.context.events, Notice::new(Level::Warning, &title, say::told_others())).await;
        self.texts.push(format!(
            "Your answer made more than {MAX_CALLS} calls. The first {MAX_CALLS} were taken; the rest was not read. Make fewer calls at a time."
        ));
        self.go_on = true;
    }

    /// Performs one act of the step; once the turn is halted nothing more is begun.
    pub async fn act(&mut self, act: Act, halted: bool) {
        match act {
            Act::Edit(item, edit) if self.context.settings().mode == Mode::Plan => self.not_planned(item, &edit).await,
            Act::Edit(item, edit) => self.edits.push(item, None, vec![*edit]),
            Act::Dropped(item, record) => self.tell(item, *record),
            Act::Call(call) if halted => self.interrupted(*call).await,
            Act::Call(call) => self.call(*call).await,
        }
    }

    /// Answers a call or edit that repeats one written in this turn, whose file is still as it was then.
    pub async fn already_done(&mut self, act: Act) {
        let text = "already done: the file has this change. Go on with what is left, or say that you are done.";
        let (mut item, call, native) = match act {
            Act::Call(act) => (act.item, Some(act.call), act.native),
            Act::Edit(item, _) => (item, None, false),
            Act::Dropped(..) => return,
        };
        self.flush().await;
        item.call.summary = MADE.into();
        item.call.result = Some(text.into());
        item.set(&self.context.events, CallState::Done).await;
        let id = call.as_ref().map_or("", |call| call.id.as_str());
        let display = Some(item.record());
        let record = ResultRecord { ok: true, display, ..ResultRecord::failed(id, &item.call.name) };
        match call {
            Some(call) => {
                self.go_on = true;
                self.result(item.id, &call, native, record, text);
            }
            // Written in the text once more: there is nothing the model must answer to.
            None => self.records.push((item.id, ResultRecord { for_model: Some(text.into()), ..record })),
        }
    }

    /// Performs one call: a read is answered at once, a change joins its neighbours.
    pub async fn call(&mut self, act: CallAct) {
        self.go_on = true;
        let CallAct { mut item, call, native, early } = act;
        let Some(tool) = self.session.tools.find(&call.name).cloned() else {
            let names: Vec<_> = self.session.tools.names().collect();
            let why = format!("there is no tool named {}; there are: {}", call.name, names.join(", "));
            return self.refuse(item, &call, native, CallState::Failed, &why).await;
        };
        if !self.context.allows(tool.as_ref()) {
            let why = format!(
                "{} changes files, and this is plan mode, which only reads. Put the change into the plan.",
                call.name
            );
            return self.refuse(item, &call, native, CallState::Refused, &why).await;
        }
        let running = match early {
            Some(EarlyCall::Running(running)) => running,
            Some(EarlyCall::Question(question)) => return self.answer_early(item, call, native, question).await,
            None => match arguments(&call.arguments) {
                Ok(value) => {
                    if let Some(edits) = self.written_file(&call, native, &value) {
                        return self.edits.push(item, Some((call, native)), edits);
                    }
                    if tool.kind().reads() {
                        self.flush().await;
                        item.set(&self.context.events, CallState::Running).await;
                    }
                    RunningCall::begin(self.step(), &self.session.files, &tool, value, None)
                }
                Err(why) => {
                    let why = format!("the arguments could not be read: {why}\nThey were:\n{}", call.arguments);
                    return self.refuse(item, &call, native, CallState::Failed, &why).await;
                }
            },
        };
        let ran = running.end(&self.context.events, &mut item).await;
        self.ran(item, call, native, ran).await;
    }

    /// Goes on with what a call came to; none: it was stopped.
    async fn ran(&mut self, item: CallItem, call: ToolCall, native: bool, ran: Option<Result<RunResult, String>>) {
        match ran {
            None => self.refuse(item, &call, native, CallState::Interrupted, INTERRUPTED).await,
            Some(Err(why)) => self.refuse(item, &call, native, CallState::Failed, &why).await,
            Some(Ok(RunResult::Edits(edits))) => self.edits.push(item, Some((call, native)), edits),
            Some(Ok(other)) => {
                self.flush().await;
                self.other(item, call, native, other).await;
            }
        }
    }

    /// Returns what a call that gives a file its whole text and is written as text comes to: a whole file as the formats of
    /// text have them, with the same guards.
    fn written_file(&self, call: &ToolCall, native: bool, arguments: &serde_json::Value) -> Option<Vec<Edit>> {
        if native {
            return None;
        }
        let edits = self.session.tools.edits(&call.name, arguments)?.ok()?;
        let as_file = |edit: Edit| match edit.op {
            Op::Write { content } | Op::Overwrite { content } => {
                Some(Edit { op: Op::Write { content }, format: Format::WHOLE, ..edit })
            }
            _ => None,
        };
        edits.into_iter().map(as_file).collect()
    }

    /// Performs a call that is not an edit.
    async fn other(&mut self, item: CallItem, call: ToolCall, native: bool, result: RunResult) {
        match result {
            RunResult::Output(output) => self.answered(item, &call, native, output).await,
            RunResult::Undo { count, path } => {
                let done = undo::run(self.context, self.session, item, &call, count, path, self.stop).await;
                self.result(done.item, &call, native, done.record, &done.text);
            }
            RunResult::Command(wanted) => self.command(item, call, native, wanted).await,
            #[cfg(feature = "strand")]
            RunResult::StoreChange(change) => self.store_change(item, call, native, *change).await,
            RunResult::Question { .. } | RunResult::Outside(..) => {
                if let Some(question) = call_question::question(self.context, &result, self.context.events.question()) {
                    self.ask(item, call, native, result, question).await;
                }
            }
            RunResult::Edits(_) => {}
        }
    }

    async fn answered(&mut self, mut item: CallItem, call: &ToolCall, native: bool, output: ToolOutput) {
        let mut record = ResultRecord { ok: !output.is_error, ..ResultRecord::failed(&call.id, &call.name) };
        if let Some(FileRead { path, bytes, .. }) = &output.read {
            let sha = self.session.files.know(path, bytes);
            self.context.services.watched.knows(path, sha);
            record.known_files.push(KnownFileRecord { path: path.clone(), sha256: hex(&sha) });
        }
        if item.call.state != CallState::Done {
            item.take_output(&output, None);
        }
        let images = output.blocks.into_iter().map(|block| image(&call.name, block)).collect();
        if output.is_error {
            return self.fail(item, call, native, (CallState::Failed, &output.text), (record, images)).await;
        }
        if item.call.state != CallState::Done {
            item.set(&self.context.events, CallState::Done).await;
        }
        record.display = Some(item.record());
        let title = output.read.and_then(|read| read.title).filter(|_| self.context.settings().small_model);
        match title {
            Some(title) => {
                let text = small_model::passage(&title, &output.text);
                self.result_with(item.id, call, native, record, &text, images);
            }
            None => self.result_with(item.id, call, native, record, &output.text, images),
        }
    }

    /// Asks for, runs and seals a command, and records its result.
    async fn command(&mut self, mut item: CallItem, call: ToolCall, native: bool, wanted: CommandCall) {
        let info = CommandInfo {
            session: Some(self.session.id.clone()),
            turn: self.session.turn,
            call: Some(call.id.clone()),
            ..CommandInfo::default()
        };
        let ran = command::run(self.context, &mut item, &wanted, info, self.stop).await;
        let finished = match ran {
            CommandResult::Done(finished) => finished,
            CommandResult::Refused(why) => return self.refuse(item, &call, native, CallState::Refused, &why).await,
            CommandResult::Failed(why) => return self.refuse(item, &call, native, CallState::Failed, &why).await,
            CommandResult::Interrupted => {
                return self.refuse(item, &call, native, CallState::Interrupted, INTERRUPTED).await;
            }
        };
        let text = finished.report.text(&finished.output);
        item.call.summary = finished.report.summary.clone();
        if !item.call.hunks.is_some_and(HunkCount::is_partial) {
            item.call.reason = (!finished.ok).then(|| finished.report.line.clone());
        }
        item.call.result = Some(text.clone());
        item.call.took = finished.took;
        item.call.change = finished.changeset.clone().map(|changeset| CallChange::new(changeset, Vec::new()));
        let state = if finished.is_dropped { CallState::Interrupted } else { CallState::Done };
        item.set(&self.context.events, state).await;
        if !finished.ok {
            self.notes.add_blocked(&wanted.text, &finished.report.blocked);
        }
        // A result that says how it went is no failed call, whatever the command's code.
        let record = ResultRecord {
            ok: true,
            changeset: finished.changeset.clone(),
            command: Some(finished.command.clone()),
            display: Some(item.record()),
            ..ResultRecord::failed(&call.id, &call.name)
        };
        self.result(item.id, &call, native, record, &text);
    }

    /// Notes what a native call that was refused before its edits were placed says of how the model writes edits: one that
    /// cannot be read says it at once, one that lacks an argument where that happens again. A path that may not be used, or
    /// a definition that was changed meanwhile, says nothing.
    fn note_unread(&mut self, call: &ToolCall) {
        let tools = &self.session.tools;
        match arguments(&call.arguments) {
            Ok(args) if tools.is_incomplete(&call.name, &args) => self.notes.native_edit_incomplete = true,
            Ok(args) => {
                let is_unread = tools.edits(&call.name, &args).is_some_and(|edits| edits.is_err());
                self.notes.native_edit_failed |= is_unread;
            }
            Err(_) => self.notes.native_edit_failed = true,
        }
    }

    /// Proposes neighbouring edits as one proposal; each call gets its result.
    pub async fn flush(&mut self) {
        if self.edits.is_empty() {
            return;
        }
        let edits = std::mem::take(&mut self.edits);
        self.seal_jobs().await;
        let done = edits::edits(self.context, self.session, edits, self.stop).await;
        for result in done.results {
            self.notes.made.extend(result.stands.then_some(result.item));
            match result.call {
                Some((call, native)) => {
                    self.notes.native_edit_failed |= native && result.misplaced;
                    self.notes.native_edit_placed |= native && (result.stands || result.record.holds_native_edit());
                    self.result(result.item, &call, native, result.record, &result.text);
                }
                None if done.all_well => {
                    self.notes.add("", &result.record, &result.text);
                    self.records.push((result.item, ResultRecord { for_model: Some(result.text), ..result.record }));
                }
                None => self.tell(result.item, ResultRecord { for_model: Some(result.text), ..result.record }),
            }
        }
    }

    async fn refuse(&mut self, item: CallItem, call: &ToolCall, native: bool, state: CallState, why: &str) {
        let record = ResultRecord::failed(&call.id, &call.name);
        self.fail(item, call, native, (state, why), (record, Vec::new())).await;
    }

    /// Ends a call that did not do what was asked, with what it gave all the same.
    async fn fail(
        &mut self,
        mut item: CallItem,
        call: &ToolCall,
        native: bool,
        (state, why): (CallState, &str),
        (mut record, images): (ResultRecord, Vec<Blob>),
    ) {
        item.end(&self.context.events, state, why, why).await;
        let changes = self.session.tools.is(&call.name, ToolKind::Write);
        if changes && state == CallState::Failed {
            record = record.and_edit(&item.call.main, Format::TOOLS);
            if native {
                self.note_unread(call);
            }
        }
        record.display = Some(item.record());
        self.result_with(item.id, call, native, record, why, images);
    }

    /// Seals what jobs changed so far as changesets of their own.
    pub async fn seal_jobs(&self) {
        let SessionContext { services, commands, events, .. } = &**self.context;
        seal_jobs(services, commands, events).await;
    }

    /// Seals what jobs changed so far. Where the model is asked once more, it is told of those that are over.
    pub async fn end_jobs(&mut self) {
        self.seal_jobs().await;
        let of_turn = |job: &Arc<ShellCommand>| job.info.call.is_some() && job.has_later();
        self.notes.job_changed |= self.context.commands.all().iter().any(of_turn);
        if self.go_on {
            self.texts.extend(self.context.take_job_news());
        }
    }

    /// Ends a call that a stop left undone; what was read before it is kept, as it was shown.
    pub async fn interrupted(&mut self, act: CallAct) {
        let CallAct { mut item, call, native, early } = act;
        let ran = match early {
            Some(EarlyCall::Running(read)) if read.is_over() => read.end(&self.context.events, &mut item).await,
            // The stop ended it too.
            Some(EarlyCall::Question(question)) => match question.end().await {
                // What the person said before the stop is kept.
                Some((there, EarlyResult::Asked(result @ RunResult::Question { .. }, reply @ Some(_)))) => {
                    return self.replied(there, call, native, result, reply).await;
                }
                Some((there, EarlyResult::Ran(ran))) => {
                    item = there;
                    ran
                }
                // A permission: it is shown what was said of it.
                Some((there, EarlyResult::Asked(..))) => {
                    item = there;
                    None
                }
                None => None,
            },
            _ => None,
        };
        if let Some(Ok(RunResult::Output(output))) = ran {
            return self.answered(item, &call, native, output).await;
        }
        self.refuse(item, &call, native, CallState::Interrupted, INTERRUPTED).await;
    }

    fn result(&mut self, item: ItemId, call: &ToolCall, native: bool, record: ResultRecord, text: &str) {
        self.result_with(item, call, native, record, text, Vec::new());
    }

    /// Keeps a call's result: its own message for a native call, a part of one for a call written as text. A model that
    /// takes no images is told their names when the request is made.
    fn result_with(
        &mut self,
        item: ItemId,
        call: &ToolCall,
        native: bool,
        record: ResultRecord,
        text: &str,
        images: Vec<Blob>,
    ) {
        self.notes.add(&format!("{} {}", call.name, call.arguments), &record, text);
        if native {
            let (stored, for_model) = self.session.result(record, text, images);
            let row = self.session.append(stored);
            self.session.push(for_model, row);
        } else {
            self.images.extend(images);
            self.texts.push(format!("Result of {}:\n{text}", call.name));
            self.records.push((item, ResultRecord { for_model: Some(text.to_string()), ..record }));
        }
    }

    /// Keeps the results of edits and calls in the text with the answer they were in, in their order there.
    pub fn keep_records(&mut self, row: Option<i64>) {
        self.records.sort_by_key(|(item, _)| *item);
        let records: Vec<_> = std::mem::take(&mut self.records).into_iter().map(|(_, record)| record).collect();
        if let Some(row) = row.filter(|_| !records.is_empty()) {
            let results = results_json(&records);
            self.session.post(move |memory, id| memory.keep_results(id, row, &results));
        }
    }

    /// Sends the results of calls and edits written as text to the model as one message.
    pub fn say_texts(&mut self) {
        if self.texts.is_empty() {
            return;
        }
        // A small model that wrote the file as it was has lost sight of the task.
        let is_idle = !self.notes.changed && !self.notes.unchanged().is_empty();
        let again = self.context.settings().small_model && is_idle;
        if let Some(task) = self.session.prompt_text().filter(|_| again) {
            self.texts.push(format!("The task: {}", first_words(&task, MAX_TASK)));
        }
        let text = std::mem::take(&mut self.texts).join("\n\n");
        let images = std::mem::take(&mut self.images);
        let mut record = NewMessage::text(memory::StoredRole::User, text.clone());
        record.blobs = images.iter().map(blob_record).collect();
        // Nobody typed it: the screen and the history of the input leave it out.
        record.meta = MessageMeta { typed: Some(0), turn: self.session.turn, ..MessageMeta::default() };
        let row = self.session.append(record);
        self.session.push(Message::user(text).with_blobs(images), row);
    }
}

/// Returns an image of a call's answer, as it goes with a message.
fn image(tool: &str, block: OutputBlock) -> Blob {
    let OutputBlock::Image { media_type, bytes } = block;
    let kind = media_type.rsplit('/').next().unwrap_or_default();
    Blob { name: format!("{tool}.{kind}"), mime: media_type, bytes }
}

/// The most of a task that is told again, in characters.
const MAX_TASK: usize = 600;

/// The result of a call that was not run.
const INTERRUPTED: &str = "interrupted by the user";
