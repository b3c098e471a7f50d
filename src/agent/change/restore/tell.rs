//! The report of a restore, for the person and the model.

use crate::agent::change::execute_proposal::ProposalResult;
use crate::agent::services::lock;
use crate::agent::session::context::SessionContext;
use crate::agent::session::transcript::PersonRestore;
use crate::messages::agent as say;
use crate::proposal::Proposal;
use crate::protocol::{EventBody, Item, Level, NoticeAction, Outcome, ProposalEvent};

/// Says how the restore of this title ended: in the chat where there is one, and in a note for the model.
pub(super) async fn tell(context: &SessionContext, result: &ProposalResult, title: &str) {
    if let Outcome::Applied { .. } = &result.outcome {
        let restored = PersonRestore::new(title, result.written.iter().map(|(path, _)| path.clone()).collect());
        lock(&context.notes).push(restored.note());
        let notice = restored.notice();
        // What redid something is undone by the other word.
        let back = if title.starts_with("redo of") { "/undo undoes that." } else { "/redo undoes that." };
        context.say(Level::Info, notice.title.clone(), back).await;
        if context.session.is_some() {
            context.events.add(Item::Notice(notice)).await;
        }
    }
    tell_unwritten(context, result).await;
}

/// Says how a change ended that is no restore, and leaves a note for the model.
pub(super) async fn tell_written(context: &SessionContext, result: &ProposalResult) {
    if let Outcome::Applied { .. } = &result.outcome {
        let paths = result.written.iter().map(|(path, _)| path.as_str()).collect::<Vec<_>>().join(", ");
        let note = format!("Meanwhile the person wrote: {paths}. Read these files again before you edit them.");
        lock(&context.notes).push(note);
        context.say(Level::Info, format!("wrote {paths}"), "").await;
    }
    tell_unwritten(context, result).await;
}

/// Says why a change was not written, where the person wanted it.
pub async fn tell_unwritten(context: &SessionContext, result: &ProposalResult) {
    match &result.outcome {
        Outcome::Conflict { path, .. } => {
            let title = say::changed_meanwhile(&path);
            let actions = vec![NoticeAction::ShowChange(path.clone()), NoticeAction::OpenFile(path.clone())];
            context.events.notice_with(Level::Warning, title, say::nothing_written(), actions).await;
        }
        Outcome::Failed(why) => context.say(Level::Error, why.clone(), "").await,
        Outcome::Applied { .. } | Outcome::Refused | Outcome::Withdrawn => {}
    }
}

/// Tells that the person asked for a proposal.
pub(super) async fn tell_own(context: &SessionContext, proposal: &Proposal) {
    context.events.send(EventBody::Proposal(ProposalEvent::Own(proposal.id))).await;
}
