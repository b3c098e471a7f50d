//! The definitions of a Strand store that a restore takes back: shown to the person before they agree.

use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use crate::agent::session::approval::yes_once;
use crate::agent::session::context::SessionContext;
use crate::execute::store::StoreRevert;
use crate::messages::agent as say;
use crate::protocol::Reply;

/// Asks the person whether definitions are taken back; none: it was interrupted.
pub(super) async fn agrees(
    context: &Arc<SessionContext>,
    title: &str,
    revert: &StoreRevert,
    stop: &CancellationToken,
) -> Option<bool> {
    let text = say::revert_store(&revert.store(), &title, &revert.marked());
    let choices = yes_once(say::this_change_once().into(), say::nothing_changed());
    let reply = context.approvals.permission(text, choices, stop).await?;
    Some(matches!(reply, Reply::Choice(0)))
}
