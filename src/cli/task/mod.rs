//! One turn without a screen: the same commands and events as the screen's, printed.
//!
//! Text goes to standard output as it comes; calls, diffs and notices go to standard error. With `--json` each event
//! is one line of JSON on standard output: a contract, see the page `commands` of the guide.

mod aside;
mod ask;
mod cause;
mod ending;
mod exit;
mod proposals;
mod signals;
mod silence;
mod started;

use std::collections::{BTreeSet, HashMap};
use std::io::{self, Write};

use serde_json::{Value, json};

use self::aside::Aside;
use self::ask::ApprovalRequest;
use self::cause::{add_cause, tokens_line, words_here};
pub use self::exit::TaskExit;
use self::started::StartedCommands;
use super::out::{self, Out};
use super::print;
use super::shell::event_line;
use crate::agent::AgentHandle;
use crate::context::small_model;
use crate::proposal::{REPOSITORY, State, is_in_repository};
use crate::protocol::{
    CallState, Cause, Changeset, Command, CommandEvent, EventBody, Item, ItemId, Level, Mode, Notice, Prompt,
    ProposalEvent, Question, Reply, SessionChoice, SessionInfo, TurnEnd,
};

/// The kind of a changeset that a command made.
const COMMAND: &str = "command";
/// The kind of a changeset that a call of a Strand store made.
const STRAND: &str = "strand";

/// The arguments of a task.
pub struct Task {
    /// The message.
    pub prompt: String,
    /// One event a line.
    pub json: bool,
    /// A turn that changes no file is asked once more, and fails if it still changes none.
    pub expect_change: bool,
    /// The session it goes into.
    pub session: SessionChoice,
    /// Proposals are put to the person at the terminal; otherwise what the policy does not accept is refused.
    pub ask: bool,
}

/// Runs the turn to its end.
///
/// # Errors
/// When standard output cannot be written.
pub async fn run(mut handle: AgentHandle, task: Task) -> io::Result<TaskExit> {
    let mut printer = EventPrinter::new(&task);
    let say = |command: Command| handle.commands.send(command.into()).is_ok();
    say(Command::Open(task.session));
    let mut prompt = Some(Prompt { text: task.prompt });
    let commands = handle.commands.clone();
    let mut signals = signals::listen(move || drop(commands.send(Command::Interrupt.into())))?;
    let mut stopped = None;
    let exit = loop {
        let step = tokio::select! {
            event = silence::next(&mut handle.events, |seconds| printer.say_at_work(seconds)) => match event {
                Some(event) => printer.event(event.body),
                None => break Ok(TaskExit::Failed),
            },
            Some(by) = signals.recv() => {
                // The second one waits for nothing more; `timeout` sends two at once.
                if let Some(first) = stopped.replace(by) {
                    break printer.done("interrupted", "", first).and_then(|exit| printer.finish().map(|()| exit));
                }
                continue;
            }
        };
        let step = match step {
            Ok(step) => step,
            // Nobody reads on: the turn is stopped like by a person, so that nothing is left half done.
            Err(why) if why.kind() == io::ErrorKind::BrokenPipe => break Ok(TaskExit::Interrupted),
            Err(why) => break Err(why),
        };
        step.command.map(say);
        // Into the requested session, or none.
        if let Some(prompt) = prompt.take_if(|_| printer.opened) {
            say(Command::Submit(prompt));
            // An interrupt that came before it met no turn.
            stopped = stopped.or_else(|| signals.try_recv().ok());
            stopped.map(|_| say(Command::Interrupt));
        }
        if let Some(question) = step.question {
            let asking = tokio::task::spawn_blocking(move || question.ask());
            tokio::select! {
                // The question stays unanswered; the interrupted turn withdraws it.
                Some(by) = signals.recv() => stopped = Some(by),
                answer = asking => match answer.map_err(io::Error::other).flatten() {
                    Ok(command) => drop(say(printer.answered(command)?)),
                    Err(why) => break Err(why),
                },
            }
        }
        let Some(exit) = step.exit else { continue };
        if exit != TaskExit::Interrupted && !step.returned {
            break Ok(exit);
        }
        // A message that a signal kept from being sent did not fail.
        let by = stopped.or_else(|| signals.try_recv().ok());
        break by.map_or(Ok(exit), |by| printer.done("interrupted", "", by));
    };
    say(Command::Shutdown);
    printer.end(handle).await?;
    exit
}

/// The effects of an event.
#[derive(Default)]
struct StepDone {
    command: Option<Command>,
    /// The question to the person.
    question: Option<ApprovalRequest>,
    exit: Option<TaskExit>,
    /// The message was not sent.
    returned: bool,
}

struct EventPrinter {
    json: bool,
    ask: bool,
    /// A turn without a change is a failure; before that the model is asked once more, in the words for its format.
    expect_change: bool,
    nudge: Option<String>,
    /// The session only reads.
    plan: bool,
    /// The files of the newest proposal, and all that were written.
    proposed: Vec<(String, State)>,
    changed: BTreeSet<String>,
    /// The commands that were started.
    commands: StartedCommands,
    /// The files, as they would be, of edits that nobody was there to approve and that were not made since.
    unmade: HashMap<String, State>,
    /// Standard error is a terminal.
    terminal: bool,
    /// The first line of `--json`, until something follows: a local model may be found meanwhile.
    session: Option<Value>,
    session_id: String,
    opened: bool,
    /// The notices before the session's line, with `--json`.
    early: Vec<Notice>,
    /// Entries whose text goes to standard output as it grows.
    answer: Option<ItemId>,
    thinking: Option<ItemId>,
    aside: Aside,
    column: usize,
    /// Text and notices go to the same terminal, pipe or file.
    together: bool,
    refused: bool,
    calls: HashMap<ItemId, (u64, bool)>,
    next_call: u64,
    /// The part of the answer that was not read as an edit, in words.
    note: Option<String>,
    /// The newest notice, and what it was by kind.
    newest: (String, Cause),
    /// The last line.
    last: Option<Value>,
    /// The notices so far, each with the id of its request, if it is about one.
    notices_printed: Vec<(String, Option<String>)>,
}

impl EventPrinter {
    fn new(task: &Task) -> Self {
        EventPrinter {
            json: task.json,
            ask: task.ask,
            nudge: task.expect_change.then(String::new),
            expect_change: task.expect_change,
            plan: false,
            proposed: Vec::new(),
            changed: BTreeSet::new(),
            commands: StartedCommands::default(),
            unmade: HashMap::new(),
            terminal: Out::stderr().is_terminal(),
            session: None,
            session_id: String::new(),
            opened: false,
            early: Vec::new(),
            answer: None,
            thinking: None,
            aside: Aside::default(),
            column: 0,
            together: out::together(),
            refused: false,
            calls: HashMap::new(),
            next_call: 0,
            note: None,
            newest: Default::default(),
            last: None,
            notices_printed: Vec::new(),
        }
    }

    fn event(&mut self, event: EventBody) -> io::Result<StepDone> {
        match event {
            EventBody::Opened(info) => self.open(info)?,
            EventBody::Status(status) => {
                self.nudge = self.nudge.take().map(|_| small_model::nudge(&status.format));
                if let (Some(session), Some(model)) = (&mut self.session, status.model) {
                    session["model"] = model.into();
                }
            }
            EventBody::Added(_, Item::Notice(notice)) if !self.opened && notice.level == Level::Error => {
                self.notice(&notice)?;
                let exit = self.done("failed", &notice.title, TaskExit::Failed)?;
                return Ok(StepDone { exit: Some(exit), ..StepDone::default() });
            }
            EventBody::Added(id, item) => self.added(id, item)?,
            EventBody::Grew(id, text) => self.grew(id, &text)?,
            EventBody::Changed(id, Item::Call(call)) => self.call(id, &call)?,
            EventBody::Proposal(ProposalEvent::Proposed(proposal, _)) => return self.proposed(proposal),
            EventBody::Proposal(ProposalEvent::Approved(proposal, decision)) => self.decided(&proposal, &decision)?,
            EventBody::Proposal(ProposalEvent::Settled(_, outcome)) => self.settled(&outcome)?,
            EventBody::Asked(question) => return self.on_question(question),
            EventBody::Archived(changeset) => self.archived(&changeset)?,
            EventBody::Command(event) if event.is_for_screens() => {}
            EventBody::Command(event) => {
                let was_refused = match &event {
                    CommandEvent::Began(began) => began.decision == "refused",
                    CommandEvent::Ended(end) => end.unanswered_writes > 0,
                    _ => false,
                };
                // In plan mode it is named in the plan instead.
                self.refused |= was_refused && !self.plan;
                self.commands.note(&event);
                self.line(event_line(&event))?;
            }
            event @ (EventBody::Usage(_) | EventBody::Compacted { .. }) => self.line(tokens_line(&event))?,
            EventBody::Retrying(Some(wait)) => {
                let text = format!("{}; attempt {} of {}", wait.why, wait.attempt, wait.of);
                self.notice(&Notice { cause: wait.cause, ..Notice::new(Level::Warning, text, "") })?;
            }
            EventBody::Notice(notice) if self.json && !self.opened => self.early.push(notice),
            EventBody::Notice(notice) => self.notice(&notice)?,
            EventBody::Returned(_, why) => {
                self.notice(&Notice::new(Level::Error, &why, ""))?;
                let exit = Some(self.done("failed", &why, TaskExit::Failed)?);
                return Ok(StepDone { exit, returned: true, ..StepDone::default() });
            }
            // A model that only reads has no tools to change anything with.
            EventBody::TurnEnded(_, TurnEnd::Done) if self.is_unchanged() && self.nudge.is_some() && !self.plan => {
                let text = self.nudge.take().unwrap_or_default();
                self.notice(&Notice::new(Level::Info, "no file was changed", "The model is asked once more."))?;
                self.note = None;
                return Ok(StepDone { command: Some(Command::Submit(Prompt { text })), ..StepDone::default() });
            }
            EventBody::TurnEnded(_, end) => {
                return Ok(StepDone { exit: Some(self.ended(end)?), ..StepDone::default() });
            }
            _ => {}
        }
        Ok(StepDone::default())
    }

    /// Counts a changeset that was made without a proposal as a change, and prints its line.
    fn archived(&mut self, changeset: &Changeset) -> io::Result<()> {
        let paths: Vec<_> = changeset.files.iter().map(|f| f.path.as_str()).collect();
        let is_own = changeset.session.as_ref() == Some(&self.session_id);
        if is_own && [COMMAND, STRAND].contains(&changeset.by.as_str()) {
            self.changed.extend(paths.iter().map(|path| path.to_string()));
            self.changed.extend(changeset.definitions.iter().cloned());
        }
        let mut paths: Vec<&str> =
            paths.into_iter().map(|path| if is_in_repository(path) { REPOSITORY } else { path }).collect();
        paths.dedup();
        let mut line = json!({"type": "changeset", "id": changeset.id, "paths": paths});
        if !changeset.definitions.is_empty() {
            line["definitions"] = json!(changeset.definitions);
        }
        self.line(line)
    }

    /// Takes in the session that opened, and prints the notices that came before it.
    fn open(&mut self, info: SessionInfo) -> io::Result<()> {
        self.opened = true;
        self.plan = info.status.mode == Mode::Plan;
        let model = info.status.model.unwrap_or_default();
        self.session_id.clone_from(&info.id);
        self.session = Some(json!({"type": "session", "id": info.id, "model": model, "mode": info.status.mode.word()}));
        for early in std::mem::take(&mut self.early) {
            self.notice(&early)?;
        }
        Ok(())
    }

    fn added(&mut self, id: ItemId, item: Item) -> io::Result<()> {
        self.aside.end();
        match item {
            Item::Commentary { text } => {
                self.answer = None;
                self.fresh_line()?;
                // With `--json` the entry alone is noted.
                self.aside.begin(id, if self.json { "" } else { &text });
                self.line(json!({"type": "text", "text": text, "commentary": true}))
            }
            Item::Answer { text } => {
                self.answer = Some(id);
                self.thinking = None;
                if self.column > 0 && !self.json {
                    self.out("\n\n")?;
                }
                self.text("text", &text)
            }
            Item::Thinking { text, took } if text.is_empty() => {
                if !self.json {
                    self.fresh_line()?;
                    out::aside(print::thought_hidden(took));
                }
                let took = took.map(|took| u64::try_from(took.as_millis()).unwrap_or(u64::MAX));
                self.line(json!({"type": "thinking", "text": "", "hidden": true, "ms": took}))
            }
            Item::Thinking { text, .. } => {
                self.thinking = Some(id);
                self.text("thinking", &text)
            }
            Item::Call(_) => {
                self.answer = None;
                Ok(())
            }
            Item::Notice(notice) => self.notice(&notice),
            Item::Rules(rules) => {
                if !self.json {
                    rules.iter().for_each(|r| out::aside(format_args!("rule {}, {}", r.path, r.reason)));
                }
                Ok(())
            }
            Item::User { attached, .. } => {
                if !self.json {
                    attached.iter().for_each(|a| out::aside(print::attached(a)));
                }
                Ok(())
            }
        }
    }

    fn grew(&mut self, id: ItemId, text: &str) -> io::Result<()> {
        if self.answer == Some(id) {
            self.text("text", text)
        } else if self.thinking == Some(id) {
            self.text("thinking", text)
        } else if self.json && self.aside.is(id) {
            self.line(json!({"type": "text", "text": text, "commentary": true}))
        } else {
            self.aside.grew(id, text);
            Ok(())
        }
    }

    fn text(&mut self, kind: &str, text: &str) -> io::Result<()> {
        match (self.json, kind) {
            (true, _) => self.line(json!({"type": kind, "text": text})),
            (false, "text") => self.out(text),
            (false, _) => Ok(()),
        }
    }

    fn call(&mut self, id: ItemId, call: &crate::protocol::Call) -> io::Result<()> {
        if call.state == CallState::Streaming {
            return Ok(());
        }
        let next = self.next_call + 1;
        let (number, printed) = *self.calls.entry(id).or_insert((next, false));
        self.next_call = self.next_call.max(number);
        if !printed {
            self.calls.insert(id, (number, true));
            let arguments: Value =
                serde_json::from_str(&call.arguments).unwrap_or(Value::String(call.arguments.clone()));
            self.line(
                json!({"type": "tool_call", "id": format!("call-{number}"), "name": call.name, "arguments": arguments}),
            )?;
        }
        if call.state.is_final() {
            let ok = call.state == CallState::Done && !call.is_partial();
            // What became of an edit whose hunks were decided is known by its decision.
            let is_refused = call.state == CallState::Refused && call.counts.is_some() && call.hunks.is_none();
            self.refused |= call.is_partial() || is_refused;
            let said = call.result.as_deref().filter(|text| !text.is_empty());
            let text = said.or(call.reason.as_deref()).unwrap_or("");
            self.line(json!({"type": "tool_result", "id": format!("call-{number}"), "ok": ok, "text": text}))?;
            if !self.json {
                self.fresh_line()?;
                out::aside_styled(&print::call_line(call, self.terminal && out::coloured()));
            }
        }
        Ok(())
    }

    fn on_question(&mut self, question: Question) -> io::Result<StepDone> {
        if self.ask {
            self.fresh_line()?;
            return Ok(StepDone { question: Some(ApprovalRequest::Question(question)), ..StepDone::default() });
        }
        self.refused |= question.card.is_some() || question.hold.is_some();
        Ok(StepDone { command: Some(question.answer(Reply::Nobody)), ..StepDone::default() })
    }

    fn notice(&mut self, Notice { level, title, detail, cause, .. }: &Notice) -> io::Result<()> {
        let word = level.word();
        let detail = words_here(detail);
        let text = if detail.is_empty() { title.clone() } else { format!("{title}. {detail}") };
        self.keep_note(title, &text);
        // Trouble at the start comes again with the session, or as the end of the turn; that of another request is news.
        let id = cause.request_id.as_ref();
        let is_same =
            |(printed, of): &(String, Option<String>)| text.starts_with(printed) && (id.is_none() || id == of.as_ref());
        if self.notices_printed.iter().any(is_same) {
            return Ok(());
        }
        self.notices_printed.push((text.clone(), id.cloned()));
        let mut line = json!({"type": "notice", "level": word, "text": text});
        add_cause(&mut line, cause);
        self.line(line)?;
        self.newest = (title.clone(), cause.clone());
        if !self.json {
            self.fresh_line()?;
            out::complain(format_args!("{text}"));
        }
        Ok(())
    }

    fn line(&mut self, value: Value) -> io::Result<()> {
        if !self.json {
            return Ok(());
        }
        let mut out = Out::stdout();
        if let Some(session) = self.session.take() {
            out.json(&session)?;
        }
        out.json(&value)?;
        out.flush()
    }

    fn out(&mut self, text: &str) -> io::Result<()> {
        let mut out = Out::stdout();
        out.document(text.as_bytes())?;
        self.column = match text.rfind('\n') {
            Some(at) => text.len() - at - 1,
            None => self.column + text.len(),
        };
        out.flush()
    }

    /// Ends the line of text that is under way, where text and notices go to the same place.
    fn fresh_line(&mut self) -> io::Result<()> {
        if self.column > 0 && self.together {
            self.out("\n")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proposal::{Counts, HunkCount, ProposalId};
    use crate::protocol::{Call, ChangesetFile, Outcome, TurnId, Verb};

    fn printer() -> EventPrinter {
        let session = SessionChoice::New;
        EventPrinter::new(&Task { prompt: String::new(), json: false, expect_change: true, session, ask: false })
    }

    /// Returns the exit of a task in which an edit was not made, then a call was refused, and the edit was made after all.
    fn exit_with(refused: Call) -> Option<TaskExit> {
        let (mut printer, edited) = (printer(), State::file(&b"text"[..]));
        printer.unmade.insert("a".into(), edited.clone());
        printer.event(EventBody::Changed(ItemId(1), Item::Call(refused))).expect("printed");
        printer.proposed = vec![("a".into(), edited)];
        let hunks = HunkCount { accepted: 1, rejected: 0 };
        let outcome = Outcome::Applied { hunks, changeset: None, merged: Vec::new() };
        printer.event(EventBody::Proposal(ProposalEvent::Settled(ProposalId(2), outcome))).expect("printed");
        printer.event(EventBody::TurnEnded(TurnId(1), TurnEnd::Done)).expect("printed").exit
    }

    #[test]
    fn a_refused_change_of_a_store_counts_whatever_becomes_of_an_edit_before_it() {
        let verb = || Verb { short: "".into(), doing: "".into(), done: "".into(), one: "".into() };
        let counts = Some(Counts { added: 1, removed: 0 });
        let change = Call { counts, ..Call::new("replaceDefinition", verb(), CallState::Refused) };
        let edit = Call { hunks: Some(HunkCount { accepted: 0, rejected: 1 }), ..change.clone() };
        assert_eq!((exit_with(change), exit_with(edit)), (Some(TaskExit::Refused), Some(TaskExit::Done)));
    }

    #[test]
    fn only_commands_of_the_tasks_own_session_count_as_its_changes() {
        let mut printer = printer();
        printer.session_id = "own".into();
        for (path, by, session) in [
            ("theirs", COMMAND, Some("other")),
            ("outside", COMMAND, None),
            ("edited", "edit", Some("own")),
            ("mine", COMMAND, Some("own")),
        ] {
            let file = ChangesetFile { path: path.into(), version: None, absent: false, counts: None };
            let (by, session, files) = (by.into(), session.map(String::from), vec![file]);
            let changeset = Changeset {
                id: String::new(),
                at: 0,
                cause: String::new(),
                by,
                session,
                merged: None,
                files,
                definitions: Vec::new(),
            };
            printer.event(EventBody::Archived(changeset)).expect("printed");
        }
        assert_eq!(printer.changed.into_iter().collect::<Vec<_>>(), ["mine"]);
    }
}
