//! A command of the model on its way: the policy or the person decides, it runs under its keeper, what it overwrote is
//! sealed, and its result goes to the model.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use crate::agent::approval;
use crate::agent::command::{self, Finished};
use crate::agent::session::context::SessionContext;
use crate::agent::turn::call_item::CallItem;
use crate::archive::staging::CommandInfo;
use crate::messages::agent as say;
use crate::protocol::{Call, CallState, EventBody, PreviewLine, Question, Verb};
use crate::shell::{self, Command, Keeper, Stopped};
use crate::text::clean::clean;
use crate::tools::CommandCall;

/// Lines of output that are shown below a running command.
const SHOWN: usize = 12;
/// How often they are shown anew at most.
const PACE: Duration = Duration::from_millis(100);
/// Lines of a command's text in its question; the whole text is below its entry in the conversation.
const ASKED: usize = 12;
/// The person's own commands run until they end or are stopped.
const NO_LIMIT: Duration = Duration::from_secs(30 * 24 * 3_600);

/// The result of a call.
pub enum CommandResult {
    /// It was run, and this is its result.
    Done(Box<Finished>),
    /// It was not run: why, for the model.
    Refused(String),
    /// It could not be started: why, for the model.
    Failed(String),
    /// The turn was stopped before it began.
    Interrupted,
}

/// Runs a call of the model once it is allowed.
pub async fn run(
    context: &Arc<SessionContext>,
    item: &mut CallItem,
    call: &CommandCall,
    info: CommandInfo,
    stop: &CancellationToken,
) -> CommandResult {
    item.call.preview = call.text.lines().map(|line| PreviewLine { sign: '$', text: line.to_string() }).collect();
    let (keeper, has_sandbox) = surroundings(context).await;
    let approved = match approval::command_policy(context.settings().approval, context.settings().consent) {
        approval::CommandPolicy::Run(consent) => consent.to_string(),
        approval::CommandPolicy::Refuse(why) => return CommandResult::Refused(why.into()),
        approval::CommandPolicy::Ask => {
            match ask(context, item, &run_question(call, keeper, has_sandbox), stop).await {
                Answer::Run => "person".to_string(),
                Answer::No(why) => return CommandResult::Refused(why),
                Answer::Interrupted => return CommandResult::Interrupted,
            }
        }
    };
    let info = CommandInfo { approved: Some(approved), ..info };
    let begun = match command::begin(context, call, keeper, info.clone()).await {
        Err(shell::StartError::Unkept(why @ shell::ScanError::TooLarge(_))) => {
            let question = say::run_all_the_same(&why, &shortened(&call.text));
            match ask(context, item, &question, stop).await {
                Answer::Run => command::begin(context, call, Keeper::None, info.clone()).await,
                Answer::No(why) => return CommandResult::Refused(why),
                Answer::Interrupted => return CommandResult::Interrupted,
            }
        }
        begun => begun,
    };
    let command = match begun {
        Ok(command) => command,
        Err(why) => return CommandResult::Failed(why.to_string()),
    };
    item.set(&context.events, CallState::Running).await;
    let stopped = match call.background {
        true => None,
        false => follow(context, item, &command, call.limit, stop).await,
    };
    CommandResult::Done(Box::new(command::finish(context, command, info, stopped).await))
}

/// Runs a command of the person's own, without waiting for its end.
pub fn run_of_person(context: &Arc<SessionContext>, text: String, stop: CancellationToken) {
    let context = Arc::clone(context);
    tokio::spawn(async move {
        let (short, doing) = ("run".into(), "running".into());
        let verb = Verb { short, doing, done: "ran".into(), one: "command".into() };
        let entry = Call {
            main: text.lines().next().unwrap_or_default().to_string(),
            arguments: serde_json::json!({"command": text}).to_string(),
            ..Call::new("runCommand", verb, CallState::Waiting)
        };
        let mut item = CallItem::add(&context.events, entry).await;
        let call = CommandCall { text, folder: None, limit: NO_LIMIT, background: false, network: false, why: None };
        let info = CommandInfo { session: context.id(), approved: Some("person".into()), ..CommandInfo::default() };
        let command = match command::begin(&context, &call, surroundings(&context).await.0, info.clone()).await {
            Ok(command) => command,
            Err(why) => return item.end(&context.events, CallState::Failed, &why.to_string(), &why.to_string()).await,
        };
        item.set(&context.events, CallState::Running).await;
        let stopped = follow(&context, &mut item, &command, call.limit, &stop).await;
        let finished = command::finish(&context, command, info, stopped).await;
        item.call.summary = finished.report.summary.clone();
        item.call.reason = (!finished.ok).then(|| finished.report.line.clone());
        item.call.result = Some(finished.report.text(&finished.output));
        item.set(&context.events, CallState::Done).await;
    });
}

/// Returns what keeps the states of commands here, and whether they run in a sandbox. The first time it is tried.
async fn surroundings(context: &SessionContext) -> (Keeper, bool) {
    let shell = Arc::clone(&context.services.shell);
    let known = tokio::task::spawn_blocking(move || (shell.keeper(), shell.has_sandbox())).await;
    known.unwrap_or((Keeper::Scan, false))
}

/// Returns what the person is asked.
fn run_question(call: &CommandCall, keeper: Keeper, has_sandbox: bool) -> String {
    let why = call.why.as_ref().map_or(String::new(), |why| format!("\n{}", clean(why)));
    let limit = if call.background { say::in_background().into() } else { say::limit(&call.limit.as_secs()) };
    let keeper = match keeper {
        Keeper::Guard => say::guard(),
        Keeper::Scan => say::scan(),
        Keeper::None => say::no_keeper(),
    };
    let bounds = match (has_sandbox, call.network) {
        (false, _) => say::no_sandbox(),
        (true, false) => say::grant_workspace(),
        (true, true) => say::grant_online(),
    };
    say::run_this(&why, &shortened(&call.text), &keeper, &bounds, &limit)
}

/// Returns a command's text for a question.
fn shortened(text: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let mut lines_shown: Vec<String> = lines.iter().take(ASKED).map(|line| format!("  $ {}", clean(line))).collect();
    if lines.len() > ASKED {
        lines_shown.push(say::more_lines(&(lines.len() - ASKED)));
    }
    lines_shown.join("\n")
}

enum Answer {
    Run,
    No(String),
    Interrupted,
}

/// Asks the person and waits.
async fn ask(context: &SessionContext, item: &mut CallItem, text: &str, stop: &CancellationToken) -> Answer {
    let id = context.events.question();
    let reply = context.approvals.await_reply(id);
    item.set(&context.events, CallState::Asking).await;
    let no = say::default_goes_on();
    let choices = vec![(say::run_it().to_string(), String::new()), (say::no().into(), no.into())];
    context.events.send(EventBody::Asked(Question { id, text: text.into(), choices, permission: true })).await;
    let reply = stop.run_until_cancelled(reply).await.and_then(Result::ok);
    context.approvals.withdraw_question(id);
    context.events.send(EventBody::Answered(id)).await;
    match reply.as_deref().map(str::trim) {
        None => Answer::Interrupted,
        Some(run) if run == say::run_it() => Answer::Run,
        Some(no) if no.is_empty() || no == say::no() => {
            Answer::No("the person did not allow the command. Do not ask for it again unless they say so".into())
        }
        Some(reason) => Answer::No(format!("the person did not allow the command: {reason}")),
    }
}

/// Shows a command's output until its call can be answered; why it was ended, if it was.
async fn follow(
    context: &SessionContext,
    item: &mut CallItem,
    command: &Arc<Command>,
    limit: Duration,
    stop: &CancellationToken,
) -> Option<Stopped> {
    let changed = Arc::new(Notify::new());
    let tell = Arc::clone(&changed);
    command.running.on_change(move || tell.notify_one());
    let deadline = tokio::time::Instant::now() + limit;
    let text = item.call.preview.clone();
    // What was printed before the listener stood was told to nobody.
    let due = !command.running.output().last(1).is_empty();
    let (mut stopped, mut shown_at, mut due) = (None, Instant::now(), due);
    loop {
        if command.running.progress().is_answerable() {
            return stopped;
        }
        if due && shown_at.elapsed() >= PACE {
            (shown_at, due) = (Instant::now(), false);
            show(item, command, &text);
            item.tell(&context.events).await;
        }
        tokio::select! {
            () = changed.notified() => due = true,
            () = tokio::time::sleep(PACE), if due => {}
            () = stop.cancelled(), if stopped.is_none() => {
                stopped = Some(Stopped::Person);
                command.running.stop();
            }
            () = tokio::time::sleep_until(deadline), if stopped.is_none() => {
                stopped = Some(Stopped::Limit(limit.as_secs()));
                command.running.stop();
            }
        }
    }
}

fn show(item: &mut CallItem, command: &Command, text: &[PreviewLine]) {
    let output = command.running.output();
    item.call.summary = crate::text::number::plural(output.line_count(), "line");
    let lines = output.last(SHOWN).into_iter().map(|text| PreviewLine { sign: ' ', text });
    item.call.preview = text.iter().cloned().chain(lines).collect();
}
