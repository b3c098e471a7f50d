//! The notices with which turns end.

use crate::agent::services::events::Events;
use crate::agent::session::conversation::{Conversation, first_words};
use crate::agent::session::records::EndRecord;
use crate::agent::turn::effect::{RefusalKind, RefusedCall};
use crate::messages::{agent as say, count, records};
use crate::protocol::{Item, Level, Notice, NoticeAction, TurnEnd};
use crate::text::sentence::first_sentence;

/// Adds a notice with which a turn ends, and stores it with the newest message, so that a resumed session shows it too.
pub async fn say_end(events: &Events, session: &Conversation, notice: Notice) {
    if let Some(row) = session.rows.last().copied() {
        let stored = EndRecord::write(&notice);
        session.post(move |memory, id| memory.keep_extra(id, row, &stored));
    }
    events.add(Item::Notice(notice)).await;
}

/// Ends a turn that has made as many steps as the configuration lets it.
pub async fn limit_reached(events: &Events, session: &Conversation, limit: u32) -> TurnEnd {
    let title = say::steps_done(&count::steps(limit as usize));
    let actions = vec![NoticeAction::Continue];
    say_end(events, session, Notice { actions, ..Notice::new(Level::Warning, &title, say::done_kept()) }).await;
    TurnEnd::Asking(title)
}

/// Stops a turn in which the same was refused a second time, and says what would help.
pub async fn refused_again(events: &Events, session: &Conversation, refusal: &RefusedCall) -> TurnEnd {
    let why = refusal.text.lines().last().unwrap_or_default();
    let title = say::refused_twice(&first_words(&records::localized(first_sentence(why)), 160));
    let detail = match refusal.kind {
        // The text of a file helps a model that does not find a place in it, and no other.
        RefusalKind::Unplaced => say::say_exactly(),
        RefusalKind::Blocked => say::allow_or_without(),
        RefusalKind::Other => say::say_more(),
    };
    let actions = vec![NoticeAction::Continue, NoticeAction::ChooseModel];
    say_end(events, session, Notice { actions, ..Notice::new(Level::Warning, &title, detail) }).await;
    TurnEnd::Asking(title)
}
