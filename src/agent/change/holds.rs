//! Calls of a running command that wait for the person: each is asked about in turn, and its answer goes back to the
//! command. Without an answer within ten minutes, or without a person, it is refused.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use crate::agent::services::lock;
use crate::agent::session::context::SessionContext;
use crate::messages::card as words;
use crate::messages::records::localized;
use crate::protocol::{
    CommandEvent, CommandHold, DecidedHold, EventBody, HoldCard, Item, Level, Notice, Question, Reply,
};
use crate::shell::{Hold, HoldAnswer, HoldReason, ShellCommand};
use crate::text::{size, time};

/// The time that the person has.
const PATIENCE: Duration = Duration::from_secs(600);
/// Bytes that are copied in a second, as it is estimated.
const PACE: u64 = 500 << 20;

/// A decision that is offered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum HoldChoice {
    Give(HoldAnswer),
    /// Every command may reach the port from now on: in this workspace, or in each.
    Always {
        /// True: in this workspace alone.
        here: bool,
    },
    Stop,
}

impl HoldChoice {
    /// Returns the word for programs.
    fn word(self) -> &'static str {
        match self {
            HoldChoice::Give(HoldAnswer::Allow) => "allowed",
            HoldChoice::Give(HoldAnswer::AllowAll) => "all",
            HoldChoice::Give(HoldAnswer::Unkept) => "unkept",
            HoldChoice::Give(HoldAnswer::Refuse) => "refused",
            HoldChoice::Give(HoldAnswer::Nobody) => "unanswered",
            HoldChoice::Always { .. } => "always",
            HoldChoice::Stop => "stopped",
        }
    }

    fn key(self) -> char {
        match self {
            HoldChoice::Give(HoldAnswer::Allow) => 'y',
            HoldChoice::Give(HoldAnswer::AllowAll) => 'a',
            HoldChoice::Give(HoldAnswer::Unkept) => 'g',
            HoldChoice::Give(HoldAnswer::Refuse | HoldAnswer::Nobody) => 'n',
            HoldChoice::Always { .. } => 'w',
            HoldChoice::Stop => 'x',
        }
    }
}

/// The holds of a command that were decided before its call was answered.
#[derive(Debug, Clone)]
pub struct HoldsOfCall(Arc<Mutex<Option<Vec<DecidedHold>>>>);

impl HoldsOfCall {
    /// Returns those so far.
    pub fn so_far(&self) -> Vec<DecidedHold> {
        lock(&self.0).clone().unwrap_or_default()
    }

    /// Returns all of them; what is decided from now on is told by itself.
    pub fn end(&self) -> Vec<DecidedHold> {
        lock(&self.0).take().unwrap_or_default()
    }

    /// Adds one, or gives it back where the call is answered already.
    fn add(&self, hold: DecidedHold) -> Result<(), DecidedHold> {
        match lock(&self.0).as_mut() {
            Some(holds) => holds.push(hold),
            None => return Err(hold),
        }
        Ok(())
    }
}

/// Asks about the calls of a command that wait, until nothing of it runs. `limit` is its time limit, which stands still
/// meanwhile; `halt` ends it. Returns what the person decides.
pub fn watch(
    context: &Arc<SessionContext>,
    command: &Arc<ShellCommand>,
    limit: Option<Duration>,
    halt: &CancellationToken,
) -> HoldsOfCall {
    let (context, command, halt) = (Arc::clone(context), Arc::clone(command), halt.clone());
    let decided = HoldsOfCall(Arc::new(Mutex::new(Some(Vec::new()))));
    let of_call = decided.clone();
    let changed = Arc::new(Notify::new());
    let tell = Arc::clone(&changed);
    command.running.on_hold(move || tell.notify_one());
    tokio::spawn(async move {
        loop {
            let (next, is_over) = {
                let progress = command.running.progress();
                (progress.held.first().cloned(), progress.is_over())
            };
            match next {
                _ if is_over => return,
                Some(hold) => ask(&context, &command, &hold, limit, (&halt, &changed), &decided).await,
                None => changed.notified().await,
            }
        }
    });
    of_call
}

/// Asks about one call, and waits until it does not wait any more.
async fn ask(
    context: &SessionContext,
    command: &ShellCommand,
    hold: &Hold,
    limit: Option<Duration>,
    (halt, changed): (&CancellationToken, &Notify),
    decided: &HoldsOfCall,
) {
    let is_open = || {
        let progress = command.running.progress();
        !progress.is_over() && progress.held.iter().any(|held| held.id == hold.id)
    };
    let choices = choices(hold, is_trusted(context, hold).await);
    let gone = CancellationToken::new();
    let asked = context.approvals.question(question(context, command, hold, limit, &choices), Some(PATIENCE), &gone);
    tokio::pin!(asked);
    let reply = loop {
        tokio::select! {
            reply = &mut asked => break reply,
            () = changed.notified() => if !is_open() {
                gone.cancel();
            }
        }
    };
    let choice = match reply {
        Some(Reply::Choice(index)) => choices.get(index).copied(),
        Some(Reply::Text(_) | Reply::Nobody) | None => None,
    };
    let choice = choice.unwrap_or(HoldChoice::Give(HoldAnswer::Nobody));
    let decision = if gone.is_cancelled() { "gone" } else { choice.word() };
    if !gone.is_cancelled() {
        keep(context, decided, hold_decided(command, hold, choice)).await;
    }
    let told = CommandHold { id: command.id.clone(), call: hold.call.clone(), path: hold.path.clone(), decision };
    context.events.send(EventBody::Command(CommandEvent::Held(told))).await;
    match choice {
        HoldChoice::Give(answer) => command.running.answer(hold.id, answer),
        HoldChoice::Always { .. } => {
            // The next command may begin once this call goes on.
            keep_port(context, hold).await;
            command.running.answer(hold.id, HoldAnswer::Allow);
        }
        HoldChoice::Stop => {
            halt.cancel();
            // A job is followed by nobody.
            command.running.stop();
        }
    }
    while is_open() {
        changed.notified().await;
    }
}

/// Lets every command in this workspace reach the port of a hold from now on, or says why only those of this nebula may.
async fn keep_port(context: &SessionContext, hold: &Hold) {
    let Ok(port) = hold.path.parse() else { return };
    let services = Arc::clone(&context.services);
    let kept = tokio::task::spawn_blocking(move || services.keep_port(port)).await;
    if let Err(why) = kept.map_err(|error| error.to_string()).and_then(|kept| kept) {
        context.say(Level::Warning, words::port_not_kept(&hold.path, &why), "").await;
    }
}

/// Keeps a decision with the call of the command; of one that runs on as a job the chat says it by itself.
async fn keep(context: &SessionContext, decided: &HoldsOfCall, hold: DecidedHold) {
    if let Err(hold) = decided.add(hold) {
        context.events.add(Item::Notice(Notice::new(Level::Info, hold.wants, hold.answer))).await;
    }
}

fn hold_decided(command: &ShellCommand, hold: &Hold, choice: HoldChoice) -> DecidedHold {
    let later = if hold.reason == HoldReason::ActsLater { words::hold_acts_later() } else { "" };
    let answer = match choice {
        HoldChoice::Give(HoldAnswer::Nobody) => words::hold_unanswered().into(),
        choice => choice_words(choice, hold).0,
    };
    DecidedHold { wants: words::is_held(&command.id, &format!("{}{later}", wants(hold))), answer, at: time::now() }
}

/// Returns whether what is kept about a hold is kept in the workspace's own file: all of that counts.
async fn is_trusted(context: &SessionContext, hold: &Hold) -> bool {
    let services = Arc::clone(&context.services);
    let trusted = move || services.config.read().is_trusted();
    hold.reason == HoldReason::Port && tokio::task::spawn_blocking(trusted).await.unwrap_or(false)
}

/// Returns what may be decided about a call; the last refuses it. `here`: the workspace's own file counts whole.
fn choices(hold: &Hold, here: bool) -> Vec<HoldChoice> {
    let gives: &[HoldAnswer] = match (hold.reason, hold.may_go_unkept) {
        (HoldReason::Unkeepable, true) => &[HoldAnswer::Unkept, HoldAnswer::AllowAll],
        (HoldReason::Unkeepable, false) => &[],
        (_, true) => &[HoldAnswer::Allow, HoldAnswer::AllowAll, HoldAnswer::Unkept],
        (_, false) => &[HoldAnswer::Allow, HoldAnswer::AllowAll],
    };
    let gives = gives.iter().copied().map(HoldChoice::Give);
    let always = (hold.reason == HoldReason::Port).then_some(HoldChoice::Always { here });
    gives.chain(always).chain([HoldChoice::Stop, HoldChoice::Give(HoldAnswer::Refuse)]).collect()
}

fn question(
    context: &SessionContext,
    command: &ShellCommand,
    hold: &Hold,
    limit: Option<Duration>,
    choices: &[HoldChoice],
) -> Question {
    let card = card(command, hold, limit, choices);
    let later = if card.acts_later { words::hold_acts_later() } else { "" };
    let rows = card.rows.iter().map(|(label, words)| format!("\n{label}: {words}"));
    let text = format!("{}{later}{}", words::is_held(&card.command, &card.wants), rows.collect::<String>());
    let choices = choices.iter().map(|choice| choice_words(*choice, hold)).collect();
    Question { id: context.events.question(), text, choices, permission: true, card: None, hold: Some(Arc::new(card)) }
}

fn card(command: &ShellCommand, hold: &Hold, limit: Option<Duration>, choices: &[HoldChoice]) -> HoldCard {
    let (began, limit) = {
        let progress = command.running.progress();
        // What its call does not wait for any more has no limit.
        (progress.running_for(), limit.filter(|_| !progress.is_answerable()))
    };
    let note = match limit {
        Some(limit) => words::limit_stands(&began.as_secs().min(limit.as_secs()), &limit.as_secs()),
        None => String::new(),
    };
    let process = format!("{} {}", hold.process, hold.program);
    let call = hold.call.clone();
    let mut rows = vec![(words::hold_process().to_string(), process), (words::hold_call().to_string(), call)];
    if !matches!(hold.reason, HoldReason::Port | HoldReason::Socket) {
        let state = match (hold.reason, hold.bytes) {
            (HoldReason::ActsLater, Some(bytes)) => words::hold_kept(&size::words(bytes)),
            (_, Some(bytes)) => size::words(bytes),
            (_, None) => words::hold_new().to_string(),
        };
        rows.push((words::hold_path().into(), words::hold_path_of(&hold.path, &state)));
    }
    HoldCard {
        command: command.id.clone(),
        wants: wants(hold),
        acts_later: hold.reason == HoldReason::ActsLater,
        rows,
        note,
        keys: choices.iter().map(|choice| choice.key()).collect(),
    }
}

/// Returns the name of the program that a line of words starts.
fn program_name(hold: &Hold) -> &str {
    let first = hold.program.split_whitespace().next().unwrap_or("?");
    first.rsplit('/').next().unwrap_or(first)
}

/// Returns what a call is about to do.
fn wants(hold: &Hold) -> String {
    let (program, path) = (program_name(hold), &hold.path);
    let bytes = size::words(hold.bytes.unwrap_or_default());
    match hold.reason {
        HoldReason::ActsLater => words::wants_to_change(&program, path),
        HoldReason::TooLarge => words::wants_to_change_large(&program, path, &bytes),
        HoldReason::Unkeepable => {
            words::wants_to_change_unkeepable(&program, path, &localized(hold.why.as_deref().unwrap_or_default()))
        }
        HoldReason::Excluded => {
            words::wants_to_change_excluded(&program, path, &localized(hold.why.as_deref().unwrap_or_default()))
        }
        HoldReason::Port => words::wants_port(&program, path),
        HoldReason::Socket => words::wants_socket(&program, path),
    }
}

/// Returns a decision's name and what it does.
fn choice_words(choice: HoldChoice, hold: &Hold) -> (String, String) {
    let is_large = hold.reason == HoldReason::TooLarge;
    let connects = matches!(hold.reason, HoldReason::Port | HoldReason::Socket);
    let seconds = hold.bytes.unwrap_or_default().div_ceil(PACE);
    let (name, does) = match choice {
        HoldChoice::Give(HoldAnswer::Allow) if is_large => {
            (words::hold_copy(), words::hold_copy_does(&size::words(hold.bytes.unwrap_or_default()), &seconds))
        }
        HoldChoice::Give(HoldAnswer::Allow) if connects => (words::hold_allow(), words::hold_allow_target().into()),
        HoldChoice::Give(HoldAnswer::Allow) => (words::hold_allow(), words::hold_allow_does().into()),
        HoldChoice::Give(HoldAnswer::AllowAll) if is_large => (words::hold_copy_all(), words::hold_all_does().into()),
        HoldChoice::Give(HoldAnswer::AllowAll) if hold.reason == HoldReason::Unkeepable => {
            (words::hold_all_unkept(), words::hold_all_does().into())
        }
        HoldChoice::Give(HoldAnswer::AllowAll) => (words::hold_allow_all(), words::hold_all_does().into()),
        HoldChoice::Give(HoldAnswer::Unkept) => (words::hold_unkept(), words::hold_unkept_does().into()),
        HoldChoice::Give(HoldAnswer::Refuse | HoldAnswer::Nobody) => {
            (words::hold_refuse(), words::hold_refuse_does(&program_name(hold)))
        }
        HoldChoice::Always { here: true } => (words::hold_here(), words::hold_here_does(&hold.path)),
        HoldChoice::Always { here: false } => (words::hold_everywhere(), words::hold_everywhere_does(&hold.path)),
        HoldChoice::Stop => (words::hold_stop(), words::hold_stop_does().into()),
    };
    (name.into(), does)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hold(reason: HoldReason, may_go_unkept: bool) -> Hold {
        Hold {
            id: 1,
            reason,
            process: 7,
            program: "/usr/bin/python3 tools/bump.py 0.4.0".into(),
            call: "openat · write".into(),
            path: ".envrc".into(),
            bytes: Some(3 << 30),
            may_go_unkept,
            why: None,
        }
    }

    #[test]
    fn the_last_choice_refuses_and_each_has_a_key_of_its_own() {
        let cases = [
            (HoldReason::ActsLater, false, "yaxn"),
            (HoldReason::TooLarge, true, "yagxn"),
            (HoldReason::TooLarge, false, "yaxn"),
            (HoldReason::Unkeepable, true, "gaxn"),
            (HoldReason::Unkeepable, false, "xn"),
            (HoldReason::Excluded, false, "yaxn"),
            (HoldReason::Port, false, "yawxn"),
        ];
        for (reason, unkept, keys) in cases {
            let hold = hold(reason, unkept);
            assert_eq!(choices(&hold, true).iter().map(|choice| choice.key()).collect::<String>(), keys, "{reason:?}");
        }
    }

    #[test]
    fn a_call_is_told_in_words() {
        let later = hold(HoldReason::ActsLater, false);
        assert_eq!(wants(&later), "python3 wants to change .envrc");
        let large = hold(HoldReason::TooLarge, true);
        let (name, does) = choice_words(HoldChoice::Give(HoldAnswer::Allow), &large);
        assert_eq!((name.as_str(), does.as_str()), ("copy", "3 GiB, about 7 s; then the call goes on"));
    }
}
