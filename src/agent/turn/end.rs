//! The notices with which turns end.

use crate::agent::services::events::Events;
use crate::agent::session::conversation::{Conversation, first_words};
use crate::agent::turn::effect::{RefusalKind, RefusedCall};
use crate::agent::turn::prompt_kind::is_undo;
use crate::messages::{agent as say, count, records};
use crate::protocol::{Cause, Level, Notice, NoticeAction, TurnEnd};

/// Ends a turn that has made as many steps as the configuration lets it.
pub async fn limit_reached(events: &Events, session: &Conversation, limit: u32) -> TurnEnd {
    let title = say::steps_done(&count::steps(limit as usize));
    let actions = vec![NoticeAction::Continue];
    session.say(events, Notice { actions, ..Notice::new(Level::Warning, &title, say::done_kept()) }).await;
    TurnEnd::Asking(title)
}

/// Stops a turn in which the same was refused a second time, and says what would help.
pub async fn refused_again(events: &Events, session: &Conversation, refusal: &RefusedCall) -> TurnEnd {
    let title = say::refused_twice(&first_words(&records::localized(&refusal.why), 160));
    let detail = match refusal.kind {
        // The text of a file helps a model that does not find a place in it, and no other.
        RefusalKind::Unplaced => say::say_exactly(),
        RefusalKind::Blocked => say::allow_or_without(),
        RefusalKind::Other => say::say_more(),
    };
    let is_undo = session.prompt_text().is_some_and(|prompt| is_undo(&prompt));
    let detail = if is_undo { format!("{} {detail}", say::undo_by()) } else { detail.to_string() };
    let actions = vec![NoticeAction::Continue, NoticeAction::ChooseModel];
    session.say(events, Notice { actions, ..Notice::new(Level::Warning, &title, detail) }).await;
    TurnEnd::Asking(title)
}

/// Says in the chat that the person stopped the turn; `arrived`: after something of the answer came. `row`: the answer that
/// was arriving.
pub async fn interrupted(events: &Events, session: &Conversation, row: Option<i64>, arrived: bool) -> TurnEnd {
    let detail = if arrived { say::arrived_kept() } else { "" };
    session.say_behind(events, row, Notice::new(Level::Broken, say::interrupted(), detail)).await;
    TurnEnd::Interrupted
}

/// Ends the turn after an empty answer. At the beginning of a turn that is a failure; after work, many models end so.
pub async fn said_nothing(events: &Events, session: &Conversation, at_once: bool) -> TurnEnd {
    let actions = vec![NoticeAction::Retry, NoticeAction::ChooseModel];
    let notice = failure(Level::Warning, (say::empty_answer(), say::done_before()), actions, Cause::of("answer"));
    match at_once {
        true => failed(events, session, None, notice, true).await,
        false => {
            session.say(events, notice).await;
            TurnEnd::Done
        }
    }
}

/// Returns the notice of a request that failed.
pub fn failure(level: Level, (title, detail): (&str, &str), actions: Vec<NoticeAction>, cause: Cause) -> Notice {
    Notice { actions, cause, ..Notice::new(level, title, detail) }
}

/// Says that a request failed, and returns the end of its turn.
pub async fn failed(
    events: &Events,
    session: &Conversation,
    row: Option<i64>,
    notice: Notice,
    resumable: bool,
) -> TurnEnd {
    let (message, hint, cause) = (notice.title.clone(), notice.detail.clone(), notice.cause.clone());
    session.say_behind(events, row, notice).await;
    TurnEnd::Failed { message, hint, resumable, cause }
}
