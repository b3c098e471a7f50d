//! The definitions of a Strand store that a restore takes back: shown to the person before they agree.

use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use crate::agent::change::execute_proposal::ProposalResult;
use crate::agent::session::approval::yes_once;
use crate::agent::session::context::SessionContext;
use crate::execute::store::StoreRevert;
use crate::messages::agent as say;
use crate::protocol::Reply;

/// Asks the person whether definitions are taken back. Returns how the restore ends where they are not.
pub(super) async fn unwanted(
    context: &Arc<SessionContext>,
    title: &str,
    revert: &StoreRevert,
    stop: &CancellationToken,
) -> Option<ProposalResult> {
    let text = say::revert_store(&revert.store(), &title, &revert.marked());
    let choices = yes_once(say::this_change_once().into(), say::nothing_changed());
    match context.approvals.permission(text, choices, stop).await {
        Some(Reply::Choice(0)) => None,
        Some(_) => Some(ProposalResult::refused()),
        None => Some(ProposalResult::withdrawn()),
    }
}
