//! The end of a turn whose answer broke off.

use crate::agent::services::config_files::ConfigFiles;
use crate::agent::services::events::Events;
use crate::agent::services::last_request;
use crate::agent::session::conversation::{Conversation, first_words};
use crate::agent::turn::end::{failed, failure};
use crate::agent::turn::step::act::Ended;
use crate::messages::agent as say;
use crate::protocol::{Cause, Level, NoticeAction, TurnEnd};
use crate::provider::{Error, ErrorKind};

/// Says in the chat how an answer broke off; `row`: that of what had come of it.
pub async fn broken_off(
    config: &ConfigFiles,
    events: &Events,
    session: &Conversation,
    (ended, row): (&Ended, Option<i64>),
) -> TurnEnd {
    match ended {
        Ended::Whole | Ended::TooManyCalls | Ended::OverBudget | Ended::Interrupted => TurnEnd::Interrupted,
        Ended::Repeating(text) => {
            let hint = match text.trim() {
                "" => say::wrote_blanks().to_string(),
                text => say::wrote_again(&format!("{:?}", first_words(text, 60))),
            };
            let actions = vec![NoticeAction::Retry, NoticeAction::ChooseModel];
            let notice = failure(Level::Broken, (say::repeated(), &hint), actions, Cause::of("answer"));
            failed(events, session, row, notice, true).await
        }
        Ended::Cut | Ended::Withheld | Ended::Paused | Ended::Malformed => {
            let (why, actions) = match ended {
                Ended::Paused => (say::paused_again(), vec![NoticeAction::Continue, NoticeAction::Retry]),
                Ended::Malformed => (say::call_unreadable(), vec![NoticeAction::Retry, NoticeAction::ChooseModel]),
                Ended::Cut => (say::token_limit(), vec![NoticeAction::Continue, NoticeAction::Retry]),
                _ => (say::held_back(), vec![NoticeAction::Retry, NoticeAction::ChooseModel]),
            };
            let hint = if row.is_some() { say::arrived_above() } else { "" };
            let cause = Cause::of(if matches!(ended, Ended::Withheld) { "refused" } else { "answer" });
            let notice = failure(Level::Broken, (&say::broke_off(&why), hint), actions, cause);
            failed(events, session, row, notice, true).await
        }
        Ended::Broken(error) => {
            let resumable = error.resumable();
            let (level, actions) = match error.kind {
                ErrorKind::Broken { .. } => (Level::Broken, vec![NoticeAction::Continue, NoticeAction::Retry]),
                _ if resumable => (Level::Error, vec![NoticeAction::Retry]),
                _ => (Level::Error, vec![NoticeAction::ChooseModel]),
            };
            let (kind, request_id) = (error.kind.word(), error.request_id.clone());
            let cause = Cause { kind, status: error.status, request_id };
            let notice = failure(level, (&error.message, &with_the_message(error)), actions, cause);
            let end = failed(events, session, row, notice, resumable).await;
            last_request::keep(config, error).await;
            end
        }
    }
}

/// Returns the hint of a request that failed, and that the message is saved where it may be sent again as it is.
fn with_the_message(error: &Error) -> String {
    match error.kind {
        ErrorKind::Quota
        | ErrorKind::RateLimited
        | ErrorKind::Server
        | ErrorKind::Broken { after_first_token: false } => say::message_saved(&error.hint),
        _ => error.hint.clone(),
    }
}
