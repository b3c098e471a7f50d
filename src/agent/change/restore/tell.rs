//! The report of a restore, for the person and the model.

use crate::agent::change::execute_proposal::ProposalResult;
use crate::agent::services::lock;
use crate::agent::session::context::SessionContext;
use crate::messages::agent as say;
use crate::protocol::{Level, NoticeAction, Outcome};

/// Says in passing how what the person asked for ended, in the word for it, and leaves a note for the model.
pub(super) async fn tell(context: &SessionContext, result: &ProposalResult, did: &str) {
    match &result.outcome {
        Outcome::Applied { .. } => {
            let paths: Vec<&str> = result.written.iter().map(|(p, _)| p.as_str()).collect();
            let (paths, back) = (paths.join(", "), if did == "restored" { "/redo undoes that." } else { "" });
            let note = format!("Meanwhile the person {did}: {paths}. Read these files again before you edit them.");
            lock(&context.notes).push(note);
            context.say(Level::Info, format!("{did} {paths}"), back).await;
        }
        Outcome::Conflict { path, .. } => {
            let title = say::changed_meanwhile(&path);
            let actions = vec![NoticeAction::ShowChange(path.clone()), NoticeAction::OpenFile(path.clone())];
            context.events.notice_with(Level::Warning, title, say::nothing_written(), actions).await;
        }
        Outcome::Failed(why) => context.say(Level::Error, why.clone(), "").await,
        Outcome::Refused | Outcome::Withdrawn => {}
    }
}
