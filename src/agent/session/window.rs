//! The context window of the model that a session asks, beside what is sent in every request.

use crate::agent::services::config_files::ConfigFiles;
use crate::agent::services::learnt_windows;
use crate::agent::services::target::RequestTarget;
use crate::agent::session::context::StatusData;
use crate::agent::session::conversation::Conversation;
use crate::context::request::Budget;
use crate::messages::agent as say;
use crate::provider::Error;
use crate::text::number;

/// Returns half of what system prompt and tools leave of the window, in bytes: the largest size of the facts of a summary, and
/// of a file that is read.
pub fn half_room(status: &StatusData, session: &Conversation, target: &RequestTarget) -> usize {
    session.window.bytes(target.budget().room().saturating_sub(status.fixed_tokens()) / 2)
}

/// Shows what the next request will hold, after a summary took the place of messages or was taken back.
pub fn show_next(status: &StatusData, session: &Conversation, target: &RequestTarget) {
    let fixed = session.window.bytes(status.fixed_tokens());
    let summary = session.summary.as_ref().map(|(text, covered)| (text.as_str(), *covered));
    // What is left out is decided when the request is made.
    let sizes = session.window.clone().fit(&session.messages, summary, fixed, target.budget()).sizes;
    status.show_messages([sizes.user, sizes.answers, sizes.results].map(|bytes| session.window.tokens(bytes)));
}

/// The refusals for length in a turn.
#[derive(Default)]
pub struct LengthRefusals {
    /// True once one of them has led to another request.
    asked_again: bool,
    guess: Option<GuessedWindow>,
}

/// A window that was guessed, since the refusal names none.
struct GuessedWindow {
    refusal: Error,
    target: RequestTarget,
    /// The window that was learnt before.
    before: Option<u32>,
    /// The largest window that may be: the refused request did not fit it.
    most: u32,
    /// It may be so: no other window is known, or the refused request took half of it or more.
    is_likely: bool,
    /// True once that is kept for the next run.
    kept: bool,
}

impl LengthRefusals {
    /// Learns from a refusal of `target`. Returns whether the model is asked once more: where the server counts more
    /// tokens than were estimated, and else once a turn.
    pub fn learn(
        &mut self,
        config: &ConfigFiles,
        status: &StatusData,
        session: &mut Conversation,
        target: &RequestTarget,
        error: &Error,
    ) -> bool {
        if corrects_count(session, error) {
            if error.window().is_some_and(|window| window < target.window()) {
                learn(config, status, session, target, error);
            }
            return true;
        }
        if std::mem::replace(&mut self.asked_again, true) {
            // No guess makes later messages fail that the server was never asked for.
            let is_likely = self.guess.as_ref().is_some_and(|guess| guess.is_likely);
            let guessed = self.forget_guess().is_some() && is_likely;
            // Where it has answered before, what it refused is too long, and the next message is not to meet that again.
            if guessed && was_answered(session, target) {
                let most = window_below(status, session, (15, 16));
                if target.learn_window(most) {
                    learnt_windows::keep(config, &target.address(), &target.model, most);
                }
            }
            return false;
        }
        let before = target.learnt_window();
        let said = target.facts().window.map(u64::from);
        let is_likely = said.is_none_or(|window| session.window.sent() * 2 >= window);
        let (shorter, named) = learn(config, status, session, target, error);
        if shorter && !named {
            let most = window_below(status, session, (15, 16));
            let (refusal, target) = (error.clone(), target.clone());
            self.guess = Some(GuessedWindow { refusal, target, before, most, is_likely, kept: false });
        }
        shorter
    }

    /// Takes down that an answer came: what was refused before it was too long for sure, which is kept for the next run. Of a
    /// request far below the known window it is not: whatever stands before the server may have refused it.
    pub fn answered(&mut self, config: &ConfigFiles) {
        if self.guess.as_ref().is_some_and(|guess| !guess.is_likely) {
            self.forget_guess();
        }
        if let Some(guess) = self.guess.as_mut().filter(|guess| !guess.kept) {
            guess.kept = true;
            learnt_windows::keep(config, &guess.target.address(), &guess.target.model, guess.most);
        }
    }

    /// Forgets the window that was guessed from a refusal, as far as one was. Returns the refusal.
    pub fn forget_guess(&mut self) -> Option<Error> {
        let GuessedWindow { refusal, target, before, .. } = self.guess.take()?;
        target.restore_window(before);
        Some(refusal)
    }
}

/// Returns what to tell the person where a refusal of `target` names a smaller window than the configured one, which
/// counted `before`.
pub fn contradiction(config: &ConfigFiles, target: &RequestTarget, before: u32, error: &Error) -> Option<String> {
    let configured = config.read().model_config(&target.model).context_window.filter(|window| *window == before)?;
    let (window, _) = (target.window(), error.window()?);
    let [taken, set] = [window, configured].map(|tokens| number::large(u64::from(tokens)));
    (window < configured).then(|| say::window_is_smaller(&target.model, &taken, &set))
}

/// Takes down the tokens of the prompt that a server counted. Returns whether they are more than were estimated: the next
/// request is shorter by that.
fn corrects_count(session: &mut Conversation, error: &Error) -> bool {
    let estimate = session.window.sent();
    let counted = error.said.as_ref().and_then(|said| said.prompt.or(said.long_prompt)).map(u64::from);
    let Some(counted) = counted.filter(|counted| *counted > estimate) else { return false };
    session.window.counted(counted);
    session.window.sent() > estimate
}

/// Records the window that a refusal of `target` for length shows: the one that the server names, else one that takes
/// three quarters of the messages that were sent, beside system prompt and tools. A named one is kept for the next run.
/// Returns whether the next request will be shorter, and whether the server named the window.
fn learn(
    config: &ConfigFiles,
    status: &StatusData,
    session: &Conversation,
    target: &RequestTarget,
    error: &Error,
) -> (bool, bool) {
    let (known, sent) = (target.window(), session.window.sent());
    let guess = window_below(status, session, (3, 4));
    let named = error.window().filter(|limit| u64::from(*limit) < sent.max(u64::from(known)));
    let learnt = named.unwrap_or(guess);
    let shorter = learnt >= 256 && target.learn_window(learnt);
    if shorter && named.is_some() {
        learnt_windows::keep(config, &target.address(), &target.model, target.window());
    }
    (shorter, named.is_some())
}

/// Returns the window that takes this share of the messages that were sent, beside system prompt and tools.
fn window_below(status: &StatusData, session: &Conversation, (share, of): (u64, u64)) -> u32 {
    let sent = session.window.sent();
    let fixed = status.fixed_tokens().min(sent);
    u32::try_from(Budget::window_for(fixed + (sent - fixed) / of * share)).unwrap_or(u32::MAX)
}

/// Returns whether an answer of `target` stands in the conversation.
fn was_answered(session: &Conversation, target: &RequestTarget) -> bool {
    let origin = target.connected().map(|provider| provider.origin(&target.model));
    session.messages.iter().any(|message| message.origin.as_deref().is_some_and(|from| Some(from) == origin.as_ref()))
}
