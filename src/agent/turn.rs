//! One turn, top to bottom: ask the model, do what it asks for, tell it what came of that, until it is done.

use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use super::answer::{self, Act, CallAct, Ended, Step};
use super::change::{self, Edits};
use super::compact;
use super::env::Env;
use super::request;
use super::session::{ResultRecord, SeenRecord, Session, hex, results_json};
use super::shown::Shown;
use crate::edit::{Edit, Format};
use crate::memory::{self, MessageMeta, NewMessage};
use crate::protocol::{CallState, Event, How, ItemId, Level, Mode, NoticeAction, Prompt, Question, TurnEnd, TurnId};
use crate::provider::{Kind as ErrorKind, Message, ToolCall};
use crate::tools::{self, Answer, Prepared};

/// What begins a turn.
pub enum Begin {
    /// A message of the person.
    Prompt(Prompt),
    /// On from where the last turn stopped, or its last request again.
    GoOn(How),
    /// A summary of the conversation.
    Compact,
}

/// What becomes of the turn after a step.
enum Next {
    Step,
    End(TurnEnd),
}

/// How a turn ended. `Err`: nothing was sent, the prompt goes back and why.
pub type Outcome = Result<(TurnId, TurnEnd), (Prompt, String)>;

/// Runs a turn. The session comes back however it ends; the loop tells the end once it has the session, so that
/// whoever hears of it can send the next message.
pub async fn run(env: Arc<Env>, mut session: Session, begin: Begin, stop: CancellationToken) -> (Session, Outcome) {
    let compact = matches!(begin, Begin::Compact);
    match begin {
        Begin::Prompt(prompt) => {
            if let Err(why) = request::say(&env, &mut session, &prompt, &stop).await {
                return (session, Err((prompt, why)));
            }
        }
        Begin::GoOn(How::On) => request::go_on(&env, &mut session).await,
        Begin::GoOn(How::Again) => request::ask_again(&env, &mut session).await,
        Begin::Compact => {}
    }
    let turn = env.events.turn();
    env.events.send(Event::TurnStarted(turn)).await;
    let end = match compact {
        true => compact::run(&env, &mut session, &stop).await,
        false => steps(&env, &mut session, &stop).await,
    };
    let (memory, id) = (Arc::clone(&env.memory), session.id.clone());
    // Safe against power loss: on the blocking pool, since it waits for the disk.
    let kept = tokio::task::spawn_blocking(move || memory.end_turn(&id)).await;
    if let Ok(kept) = kept {
        env.kept(kept);
    }
    (session, Ok((turn, end)))
}

async fn steps(env: &Arc<Env>, session: &mut Session, stop: &CancellationToken) -> TurnEnd {
    let mut repeats = Repeats::default();
    let mut count = 0;
    loop {
        let limit = env.live().max_steps;
        if limit > 0 && count == limit {
            let steps = if limit == 1 { "step" } else { "steps" };
            let title = format!("{limit} {steps} in this turn; nebula stopped to ask");
            let detail = "What was done so far is kept.";
            env.events.notice_with(Level::Warning, &title, detail, vec![NoticeAction::GoOn]).await;
            return TurnEnd::Asking(title);
        }
        count += 1;
        let request = match request::build(env, session).await {
            Ok(request) => request,
            Err(end) => return end,
        };
        let step = answer::stream(env, session, request, stop).await;
        if let Some(usage) = step.usage {
            session.window.counted(usage.input);
        }
        request::add_usage(env, session, step.usage).await;
        if step.silent {
            return said_nothing(env, count == 1).await;
        }
        match act(env, session, step, &mut repeats, stop).await {
            Next::Step => {}
            Next::End(end) => return end,
        }
    }
}

/// Does what a step asks for.
async fn act(
    env: &Arc<Env>,
    session: &mut Session,
    step: Step,
    repeats: &mut Repeats,
    stop: &CancellationToken,
) -> Next {
    let cut = match &step.ended {
        Ended::Whole => None,
        ended => Some(broken_off(env, ended).await),
    };
    let (edits, texts, records) = (Edits::default(), Vec::new(), Vec::new());
    let mut work = Work { env, session, stop, edits, texts, records, go_on: false };
    let mut asked_again = None;
    for act in step.acts {
        let halted = stop.is_cancelled() || matches!(step.ended, Ended::Interrupted);
        match act {
            Act::Edit(shown, edit) if env.live().mode == Mode::Plan => work.not_planned(shown, &edit).await,
            Act::Edit(shown, edit) => {
                if repeats.thrice(&edit.by, &format!("{:?} {:?}", edit.path, edit.op)) {
                    asked_again = Some(format!("edit in the format {}", edit.format.name()));
                }
                work.edits.push(shown, None, vec![*edit]);
            }
            Act::Dropped(item, record) => work.tell(item, *record),
            Act::Call(call) if halted => work.interrupted(*call).await,
            Act::Call(call) => {
                if repeats.thrice(&call.call.name, &call.call.arguments) {
                    asked_again = Some(format!("call of {}", call.call.name));
                }
                work.call(*call).await;
            }
        }
    }
    work.flush().await;
    work.keep_records(step.row);
    work.say_texts();
    let go_on = work.go_on;
    if stop.is_cancelled() {
        env.events.notice(Level::Broken, "interrupted", "What arrived is kept.").await;
        return Next::End(TurnEnd::Interrupted);
    }
    if let Some(end) = cut {
        return Next::End(end);
    }
    if let Some(what) = asked_again.filter(|_| go_on) {
        let title = format!("the same {what} three times in a row; nebula stopped to ask");
        env.events.notice_with(Level::Warning, &title, "Nothing is lost.", vec![NoticeAction::GoOn]).await;
        return Next::End(TurnEnd::Asking(title));
    }
    if go_on { Next::Step } else { Next::End(TurnEnd::Done) }
}

/// The answer is empty. At the beginning of a turn that is a failure; after work, many models end so.
async fn said_nothing(env: &Env, at_once: bool) -> TurnEnd {
    let message = "the model ended without a word".to_string();
    let hint = "What was done before is kept. Asking again, or another model, may help.".to_string();
    let actions = vec![NoticeAction::AskAgain, NoticeAction::ChooseModel];
    env.events.notice_with(Level::Warning, &message, &hint, actions).await;
    if at_once { TurnEnd::Failed { message, hint, resumable: true } } else { TurnEnd::Done }
}

/// Says in the chat how an answer broke off.
async fn broken_off(env: &Env, ended: &Ended) -> TurnEnd {
    match ended {
        Ended::Whole | Ended::Interrupted => TurnEnd::Interrupted,
        Ended::Cut | Ended::Withheld => {
            let (why, actions) = match ended {
                Ended::Cut => {
                    ("the model's limit of tokens was reached", vec![NoticeAction::GoOn, NoticeAction::AskAgain])
                }
                _ => (
                    "the server held back the rest (its content filter)",
                    vec![NoticeAction::AskAgain, NoticeAction::ChooseModel],
                ),
            };
            let message = format!("the answer broke off: {why}");
            let hint = "What arrived is kept above.".to_string();
            env.events.notice_with(Level::Broken, &message, &hint, actions).await;
            TurnEnd::Failed { message, hint, resumable: true }
        }
        Ended::Broken(error) => {
            let resumable = error.resumable();
            let (level, actions) = match error.kind {
                ErrorKind::Broken { .. } => (Level::Broken, vec![NoticeAction::GoOn, NoticeAction::AskAgain]),
                _ if resumable => (Level::Error, vec![NoticeAction::AskAgain]),
                _ => (Level::Error, vec![NoticeAction::ChooseModel]),
            };
            env.events.notice_with(level, &error.message, &error.hint, actions).await;
            TurnEnd::Failed { message: error.message.clone(), hint: error.hint.clone(), resumable }
        }
    }
}

/// The acts of one step under way.
struct Work<'a> {
    env: &'a Arc<Env>,
    session: &'a mut Session,
    stop: &'a CancellationToken,
    /// Neighbouring edits, waiting to be one proposal.
    edits: Edits,
    /// Results of what was written as text: the model gets them as one message.
    texts: Vec<String>,
    /// The same for memory, each with its entry on the screen.
    records: Vec<(ItemId, ResultRecord)>,
    /// Whether the model is to answer to what came of this step.
    go_on: bool,
}

impl Work<'_> {
    /// What came of an edit in the text that is not as the model wanted it.
    fn tell(&mut self, item: ItemId, record: ResultRecord) {
        self.texts.extend(record.told.clone());
        self.records.push((item, record));
        self.go_on = true;
    }

    /// An edit of an answer that began in agent mode, when plan mode was taken meanwhile.
    async fn not_planned(&mut self, mut shown: Shown, edit: &Edit) {
        let why = "this is plan mode, which only reads: nothing was written. Put the change into the plan.";
        shown.end(&self.env.events, CallState::Refused, "plan mode", why).await;
        let path = edit.path.as_deref().unwrap_or_default();
        let record = ResultRecord::failed("", &shown.call.name).and_edit(path, edit.format);
        self.tell(shown.id, ResultRecord { told: Some(format!("{path}: {why}")), ..record });
    }

    /// One call: what reads is answered, what changes joins its neighbours.
    async fn call(&mut self, act: CallAct) {
        self.go_on = true;
        let CallAct { mut shown, call, native, early } = act;
        let Some(tool) = tools::find(&call.name) else {
            let names: Vec<_> = tools::ALL.iter().map(|t| t.name).collect();
            let why = format!("there is no tool named {}; there are: {}", call.name, names.join(", "));
            return self.refuse(shown, &call, native, CallState::Failed, &why).await;
        };
        if !self.env.allows(tool) {
            let why = format!(
                "{} changes files, and this is plan mode, which only reads. Put the change into the plan.",
                tool.name
            );
            return self.refuse(shown, &call, native, CallState::Refused, &why).await;
        }
        let prepared = match early {
            Some(running) => running.await,
            None => match super::arguments(&call.arguments) {
                Ok(value) => {
                    if tool.kind == tools::Kind::Read {
                        self.flush().await;
                        shown.set(&self.env.events, CallState::Running).await;
                    }
                    self.env.prepare(tool, value, self.session, None).await
                }
                Err(why) => {
                    let why = format!("the arguments could not be read: {why}\nThey were:\n{}", call.arguments);
                    return self.refuse(shown, &call, native, CallState::Failed, &why).await;
                }
            },
        };
        let prepared =
            prepared.unwrap_or_else(|_| Err(format!("{} failed in nebula itself; try another way", tool.name)));
        match prepared {
            Err(why) => self.refuse(shown, &call, native, CallState::Failed, &why).await,
            Ok(Prepared::Edits(edits)) => self.edits.push(shown, Some((call, native)), edits),
            Ok(other) => {
                self.flush().await;
                self.other(shown, call, native, other).await;
            }
        }
    }

    /// A call that is not an edit.
    async fn other(&mut self, shown: Shown, call: ToolCall, native: bool, prepared: Prepared) {
        match prepared {
            Prepared::Answer(answer) => self.answered(shown, &call, native, answer).await,
            Prepared::Undo { count, path } => {
                let done = change::undo(self.env, self.session, shown, &call, count, path, self.stop).await;
                self.result(done.item, &call, native, done.record, &done.text);
            }
            Prepared::Question { text, choices } => self.ask(shown, &call, native, text, choices).await,
            Prepared::Outside(path) => self.outside(shown, call, native, path).await,
            Prepared::Edits(_) => {}
        }
    }

    async fn answered(&mut self, mut shown: Shown, call: &ToolCall, native: bool, answer: Answer) {
        let mut record = ResultRecord { ok: true, ..ResultRecord::failed(&call.id, &call.name) };
        if let Some((path, bytes)) = &answer.seen {
            let sha = self.session.know(path, bytes);
            self.env.knows(path, sha);
            record.seen.push(SeenRecord { path: path.clone(), sha256: hex(&sha) });
        }
        shown.call.summary = answer.summary;
        shown.call.preview =
            answer.preview.into_iter().map(|text| crate::protocol::PreviewLine { sign: ' ', text }).collect();
        shown.call.result = Some(answer.text.clone());
        shown.set(&self.env.events, CallState::Done).await;
        self.result(shown.id, call, native, record, &answer.text);
    }

    /// A read outside the workspace: path by path, by the person.
    async fn outside(&mut self, shown: Shown, call: ToolCall, native: bool, path: std::path::PathBuf) {
        let text = format!("Read {} outside the workspace?", path.display());
        let choices = vec![("yes, this once".into(), String::new()), ("no".into(), String::new())];
        let mut shown = shown;
        let reply = self.question(&mut shown, text, choices).await;
        if reply.as_deref() != Some("yes, this once") {
            let why = format!("{} is outside the workspace and the person did not allow it", path.display());
            return self.refuse(shown, &call, native, CallState::Refused, &why).await;
        }
        shown.set(&self.env.events, CallState::Running).await;
        let Some(tool) = tools::find(&call.name) else { return };
        let Ok(value) = super::arguments(&call.arguments) else { return };
        match self.env.prepare(tool, value, self.session, Some(path)).await {
            Ok(Ok(Prepared::Answer(answer))) => self.answered(shown, &call, native, answer).await,
            Ok(Err(why)) => self.refuse(shown, &call, native, CallState::Failed, &why).await,
            _ => self.refuse(shown, &call, native, CallState::Failed, "it could not be read").await,
        }
    }

    async fn ask(
        &mut self,
        mut shown: Shown,
        call: &ToolCall,
        native: bool,
        text: String,
        choices: Vec<(String, String)>,
    ) {
        match self.question(&mut shown, text, choices).await {
            Some(reply) => {
                let answer =
                    Answer { text: reply.clone(), summary: super::first_words(&reply, 24), ..Answer::default() };
                self.answered(shown, call, native, answer).await;
            }
            None => self.refuse(shown, call, native, CallState::Interrupted, INTERRUPTED).await,
        }
    }

    /// Asks the person and waits; none when interrupted.
    async fn question(&mut self, shown: &mut Shown, text: String, choices: Vec<(String, String)>) -> Option<String> {
        let id = self.env.events.question();
        let reply = self.env.gate.await_reply(id);
        shown.set(&self.env.events, CallState::Asking).await;
        self.env.events.send(Event::Asked(Question { id, text, choices })).await;
        let reply = self.stop.run_until_cancelled(reply).await.and_then(Result::ok);
        self.env.gate.withdraw_question(id);
        self.env.events.send(Event::Answered(id)).await;
        reply
    }

    /// Neighbouring edits become one proposal; each call gets its result.
    async fn flush(&mut self) {
        if self.edits.is_empty() {
            return;
        }
        let edits = std::mem::take(&mut self.edits);
        let done = change::edits(self.env, self.session, edits, self.stop).await;
        for result in done.results {
            match result.call {
                Some((call, native)) => self.result(result.item, &call, native, result.record, &result.text),
                None if done.all_well => {
                    self.records.push((result.item, ResultRecord { told: Some(result.text), ..result.record }));
                }
                None => self.tell(result.item, ResultRecord { told: Some(result.text), ..result.record }),
            }
        }
    }

    async fn refuse(&mut self, mut shown: Shown, call: &ToolCall, native: bool, state: CallState, why: &str) {
        shown.end(&self.env.events, state, why, why).await;
        let mut record = ResultRecord::failed(&call.id, &call.name);
        let changes = tools::find(&call.name).is_some_and(|t| t.kind == tools::Kind::Write);
        if changes && state == CallState::Failed {
            record = record.and_edit(&shown.call.main, Format::Tools);
        }
        self.result(shown.id, call, native, record, why);
    }

    async fn interrupted(&mut self, act: CallAct) {
        self.refuse(act.shown, &act.call, act.native, CallState::Interrupted, INTERRUPTED).await;
    }

    /// Keeps a call's result: its own message for a native call, a part of one for a call written as text.
    fn result(&mut self, item: ItemId, call: &ToolCall, native: bool, record: ResultRecord, text: &str) {
        if native {
            let kept = self.session.save_result(&self.env.memory, record, text);
            if self.env.kept(kept).is_none() {
                self.session.push(Message::tool(call.id.clone(), text), 0);
            }
        } else {
            self.texts.push(format!("Result of {}:\n{text}", call.name));
            self.records.push((item, ResultRecord { told: Some(text.to_string()), ..record }));
        }
    }

    /// Keeps what came of edits and calls in the text with the answer they were in, in their order there.
    fn keep_records(&mut self, row: Option<i64>) {
        self.records.sort_by_key(|(item, _)| *item);
        let records: Vec<_> = std::mem::take(&mut self.records).into_iter().map(|(_, record)| record).collect();
        if let Some(row) = row.filter(|_| !records.is_empty()) {
            self.env.kept(self.env.memory.keep_results(&self.session.id, row, &results_json(&records)));
        }
    }

    /// What came of calls and edits written as text goes to the model as one message.
    fn say_texts(&mut self) {
        if self.texts.is_empty() {
            return;
        }
        let text = std::mem::take(&mut self.texts).join("\n\n");
        let mut record = NewMessage::text(memory::Role::User, text.clone());
        // Nobody typed it: the screen and the history of the input leave it out.
        record.meta = MessageMeta { typed: Some(0), turn: self.session.turn, ..MessageMeta::default() };
        let row = self.env.kept(self.env.memory.append(&self.session.id, &record)).unwrap_or(0);
        self.session.push(Message::user(text), row);
    }
}

/// What a call that was not run is answered.
const INTERRUPTED: &str = "interrupted by the user";

/// Tells the same call or edit made again and again.
#[derive(Default)]
struct Repeats {
    last: Option<(String, String)>,
    times: u32,
}

impl Repeats {
    /// Whether this is the third time in a row.
    fn thrice(&mut self, name: &str, arguments: &str) -> bool {
        let this = (name.to_string(), arguments.to_string());
        self.times = if self.last.as_ref() == Some(&this) { self.times + 1 } else { 1 };
        self.last = Some(this);
        self.times == 3
    }
}
