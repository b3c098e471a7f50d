//! A command of the model on its way: the policy or the person decides, it runs under its keeper, what it overwrote is
//! sealed, and its result goes to the model.

mod card;
mod follow;
mod judge;
pub mod own;
mod preview;

use std::sync::Arc;
use std::sync::atomic::Ordering;

use tokio_util::sync::CancellationToken;

use crate::agent::change::command::{self, Finished};
use crate::agent::change::holds;
use crate::agent::session::call_preview;
use crate::agent::session::context::SessionContext;
use crate::agent::turn::step::call_item::CallItem;
use crate::archive::staging::CommandInfo;
use crate::messages::{agent as say, card as words};
use crate::proposal::Consent;
use crate::protocol::{
    Approval, CallState, CommandBegan, CommandDecision, CommandEvent, EventBody, Level, Mode, PreviewLine, QuestionId,
};
use crate::shell::class::Class;
use crate::shell::class::rules::CommandVerdict;
use crate::shell::{self, CommandRequest, Grant, HoldSettings, Keeper, ShellCommand, StartError};
use crate::text::quote;
use crate::tools::CommandCall;
use follow::follow;
use judge::{JudgedCommand, judge_command};
use preview::Purpose;

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
    let mut call = call.clone();
    // The person may have gone to another folder since the model wrote it.
    call.folder = call.folder.take().or_else(|| context.commands.model_folder());
    let mut asking = Asking::default();
    let started = start(context, item, &mut call, &info, &mut asking, stop).await;
    if let Some(card) = asking.card {
        context.approvals.close(card).await;
    }
    let (allowed, command) = match started {
        Ok(started) => started,
        Err(result) => return result,
    };
    if let Some(purpose) = allowed.preview {
        let times = (call.limit, began(context, &call, &allowed));
        let mut finished = preview::finish(context, item, command, times, purpose, stop).await;
        note_edit(&mut finished, allowed.edited);
        return CommandResult::Done(Box::new(finished));
    }
    let (id, entry) = (Some(command.id.clone()), Some(item.id));
    let began = CommandBegan { id, entry, ..began(context, &call, &allowed) };
    context.events.send(EventBody::Command(CommandEvent::Began(began))).await;
    item.set(&context.events, CallState::Running).await;
    let halt = stop.child_token();
    let holds = holds::watch(context, &command, (!call.background).then_some(call.limit), &halt);
    if call.background {
        command.running.release();
    }
    // One that was released is answered at once.
    let stopped = follow(&context.events, item, (&command, &holds), call.limit, &halt).await;
    let mut finished = command::finish(context, command, stopped).await;
    note_edit(&mut finished, allowed.edited);
    CommandResult::Done(Box::new(finished))
}

/// The question about a command until it has started.
#[derive(Default)]
struct Asking {
    /// The name of the card, once there is one: the person has one before them, however often the command is judged.
    card: Option<QuestionId>,
    /// The person changed the text.
    edited: bool,
    /// The reason why its preview could not begin.
    no_preview: Option<String>,
    /// The outcome of the rule that the person asked for last, for the next card.
    rule: Option<String>,
}

/// Starts a command once it is allowed; an error is the result of the call. What was to be a preview and cannot be one is
/// asked about, whatever the policy lets run.
async fn start(
    context: &Arc<SessionContext>,
    item: &mut CallItem,
    call: &mut CommandCall,
    info: &CommandInfo,
    asking: &mut Asking,
    stop: &CancellationToken,
) -> Result<(Allowed, Arc<ShellCommand>), CommandResult> {
    let mut is_second = false;
    loop {
        let allowed = decide(context, item, call, asking, stop).await?;
        let request = request(call, &allowed);
        let started = match allowed.preview {
            None => command::begin(context, request, allowed.keeper, info.clone()).await,
            Some(_) => preview::begin(context, request, info.clone()).await,
        };
        match (started, allowed.preview) {
            (Ok(command), _) => return Ok((allowed, command)),
            (Err(StartError::Refused(why)), _) => return Err(CommandResult::Failed(why)),
            (Err(StartError::NoView(why)), Some(Purpose::Propose)) => asking.no_preview = Some(why),
            (Err(why), Some(Purpose::Propose)) => asking.no_preview = Some(why.to_string()),
            // Starting it showed that something is not there which it was judged by: it is decided anew, knowing that.
            (Err(why), _) if why.shows_what_works() && !std::mem::replace(&mut is_second, true) => {}
            (Err(why), _) => return Err(CommandResult::Failed(why.to_string())),
        }
    }
}

/// Returns what is told of a command that is about to start.
fn began(context: &SessionContext, call: &CommandCall, allowed: &Allowed) -> CommandBegan {
    CommandBegan {
        id: None,
        text: masked(context, &call.text),
        class: allowed.class.word(),
        grant: allowed.grant.word(),
        keeper: allowed.keeper.word(),
        decision: allowed.decision,
        by_person: false,
        entry: None,
    }
}

/// Tells of a command that was refused; the error is its result.
async fn refused<T>(
    context: &SessionContext,
    call: &CommandCall,
    judged: &JudgedCommand,
    why: String,
) -> Result<T, CommandResult> {
    let began = CommandBegan {
        id: None,
        text: masked(context, &call.text),
        class: judged.found.class.word(),
        grant: judged.judgement.grant.word(),
        keeper: judged.keeper.word(),
        decision: "refused",
        by_person: false,
        entry: None,
    };
    context.events.send(EventBody::Command(CommandEvent::Began(began))).await;
    Err(CommandResult::Refused(why))
}

/// Tells the model the text that was run, where the person changed it.
fn note_edit(finished: &mut Finished, edited: bool) {
    if edited {
        finished.report.notes.push(format!("the person changed the command to: {}", finished.command));
    }
}

/// Returns the text of a command as it is shown and kept: without the values of secrets.
fn masked(context: &SessionContext, text: &str) -> String {
    context.services.shell.environment.masked(text)
}

fn request(call: &CommandCall, allowed: &Allowed) -> CommandRequest {
    let Allowed { grant, consent, holds, .. } = allowed;
    // What is thrown away asks nobody.
    let holds = (allowed.preview != Some(Purpose::ThrowAway)).then(|| holds.clone());
    let (text, folder) = (call.text.clone(), call.folder.clone());
    CommandRequest { text, folder, grant: *grant, consent: *consent, view: None, holds, terminal: None, input: false }
}

/// A command that may run.
struct Allowed {
    class: Class,
    /// The decision, for programs.
    decision: &'static str,
    consent: Consent,
    grant: Grant,
    keeper: Keeper,
    /// The person changed its text.
    edited: bool,
    /// It runs in a view; what becomes of the changes there.
    preview: Option<Purpose>,
    /// The calls of it that wait for the person.
    holds: HoldSettings,
}

/// Judges a command as its text is now, which its entry shows.
async fn judge_text(
    context: &Arc<SessionContext>,
    item: &mut CallItem,
    call: &CommandCall,
) -> Result<JudgedCommand, CommandResult> {
    shell::check_text(&call.text).map_err(CommandResult::Failed)?;
    call_preview::show_command(&mut item.call, &call.text);
    item.call.preview =
        masked(context, &call.text).lines().map(|line| PreviewLine { sign: '$', text: line.to_string() }).collect();
    let judged = judge_command(context, call).await;
    judged.ok_or_else(|| CommandResult::Failed("the command could not be judged: nothing was run".into()))
}

/// Lets the rules, the policy or the person decide, and judges the command until it is decided; the text may be another
/// afterwards. An error is the result of the call.
async fn decide(
    context: &Arc<SessionContext>,
    item: &mut CallItem,
    call: &mut CommandCall,
    asking: &mut Asking,
    stop: &CancellationToken,
) -> Result<Allowed, CommandResult> {
    loop {
        let (when, edited) = (context.services.shell.settings.preview, asking.edited);
        let judged = judge_text(context, item, call).await?;
        let judged = judged.with_lacking_preview(when, call, asking.no_preview.as_deref());
        let is_plan = context.settings().mode == Mode::Plan;
        if let Some(why) = judged.refusal().or_else(|| judged.refusal_of_plan(call).filter(|_| is_plan)) {
            return refused(context, call, &judged, why).await;
        }
        let (class, keeper) = (judged.found.class, judged.keeper);
        let allowed = |decision, consent, grant| {
            let decision = if edited { "edited" } else { decision };
            let holds = HoldSettings { unattended: context.settings().unattended, ..judged.holds(consent) };
            Ok(Allowed { class, decision, consent, grant, keeper, edited, preview: None, holds })
        };
        let in_view = |purpose, consent| {
            let decision = if consent == Consent::Person { "allowed" } else { "policy" };
            let allowed = allowed(decision, consent, Grant::Workspace)?;
            Ok(Allowed { keeper: Keeper::View, preview: Some(purpose), ..allowed })
        };
        if is_plan && judged.found.class != Class::Read {
            return in_view(Purpose::ThrowAway, Consent::Policy("plan"));
        }
        if judged.is_previewed(when, call) {
            return in_view(Purpose::Propose, Consent::Policy("preview"));
        }
        if let Some((decision, consent)) = unasked(context, &judged) {
            warn_once(context, &judged).await;
            return allowed(decision, consent, judged.judgement.grant);
        }
        let id = *asking.card.get_or_insert_with(|| context.events.question());
        match card::ask(context, item, (id, call, asking.rule.take()), &judged, stop).await {
            // The mode changed while it waited: it is judged by that one.
            Some(decision) if !is_plan && decision.runs() && context.settings().mode == Mode::Plan => {}
            None => return Err(CommandResult::Interrupted),
            Some(CommandDecision::Run { network }) => {
                let grant = if network { Grant::Online } else { judged.judgement.grant };
                return allowed("allowed", Consent::Person, grant);
            }
            Some(CommandDecision::Refuse(why)) => return refused(context, call, &judged, not_allowed(&why)).await,
            Some(CommandDecision::Nobody) => return refused(context, call, &judged, judged.unanswered(context)).await,
            Some(CommandDecision::Edit(text)) => match shell::check_text(&text) {
                Ok(()) => (call.text, asking.edited, asking.no_preview) = (text, true, None),
                Err(why) => context.say(Level::Warning, words::text_not_taken(&why), "").await,
            },
            Some(CommandDecision::Preview) => return in_view(Purpose::Propose, Consent::Person),
            Some(CommandDecision::Always { prefix, keep }) => {
                asking.rule = Some(add_rule(context, &judged, prefix, keep).await);
            }
            Some(CommandDecision::Review) => review_from_now(context).await,
        }
    }
}

/// Returns what lets a command run that nobody is asked about; none: the person is.
fn unasked(context: &SessionContext, judged: &JudgedCommand) -> Option<(&'static str, Consent)> {
    match judged.judgement.verdict {
        _ if judged.lacks_preview.is_some() => None,
        CommandVerdict::Rule => Some(("rule", Consent::Rule)),
        CommandVerdict::Policy => Some(("policy", context.settings().consent)),
        _ => None,
    }
}

/// Says, the first time, what nothing keeps a command from that nobody is asked about. A card says it itself.
async fn warn_once(context: &SessionContext, judged: &JudgedCommand) {
    let is_unprotected = judged.keeper == Keeper::Scan && judged.is_own_unprotected;
    let mut lines: Vec<String> =
        is_unprotected.then(say::scan_unprotected).into_iter().chain(judged.no_sandbox()).map(str::to_string).collect();
    // No call of it can be held.
    if judged.keeper == Keeper::Scan && !judged.leaves_out.is_empty() {
        lines.push(words::excluded_by_scan(&judged.leaves_out.join(", ")));
    }
    // Without a sandbox nothing keeps one that reads from private files.
    let is_off = context.services.shell.settings.sandbox.off;
    let is_held = judged.found.class == Class::Read && (judged.has_sandbox || is_off);
    if lines.is_empty() || is_held || context.services.reported_unprotected.swap(true, Ordering::Relaxed) {
        return;
    }
    for line in lines {
        context.say(Level::Warning, line, "").await;
    }
}

/// Adds a rule that the person asked for, and says so, or why there can be none. Returns the same for the card, which
/// covers the chat.
async fn add_rule(context: &Arc<SessionContext>, judged: &JudgedCommand, prefix: Vec<String>, keep: bool) -> String {
    let rule = masked(context, &quote::line(&prefix));
    let (level, said) = match judge::allow(context, &judged.found, prefix, keep).await {
        Ok(()) if keep => (Level::Info, words::rule_written(&rule)),
        Ok(()) => (Level::Info, words::rule_added(&rule)),
        Err(why) => (Level::Warning, words::no_such_rule(&why)),
    };
    context.say(level, said.clone(), "").await;
    said
}

/// Lets what can be undone run without a question for the rest of the session.
async fn review_from_now(context: &SessionContext) {
    context.change_settings(|settings| settings.approve(Approval::Review, Consent::Policy("review")));
    context.say(Level::Info, words::review_now(), "").await;
    context.events.refresh_status();
}

fn not_allowed(reason: &str) -> String {
    match reason.is_empty() {
        true => "the person did not allow the command. Do not ask for it again unless they say so".into(),
        false => format!("the person did not allow the command: {reason}"),
    }
}

/// Returns what keeps the states of commands here. The first time it is tried.
async fn keeper(context: &SessionContext) -> Keeper {
    let shell = Arc::clone(&context.services.shell);
    tokio::task::spawn_blocking(move || shell.keeper()).await.unwrap_or(Keeper::Scan)
}
