//! The part of a session that a step and its calls use.

use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use crate::agent::services::events::Events;
use crate::agent::session::context::SessionContext;
use crate::shell::Commands;
use crate::workspace::Workspace;

/// The workspace, the session's commands and events, and the token that ends the turn.
#[derive(Clone, Copy)]
pub struct StepContext<'a> {
    /// The channel to the front end.
    pub events: &'a Events,
    /// The folder that calls read.
    pub workspace: &'a Arc<Workspace>,
    /// The session's commands.
    pub commands: &'a Arc<Commands>,
    /// Ends the turn.
    pub stop: &'a CancellationToken,
}

impl<'a> StepContext<'a> {
    /// Returns the part of a session that its steps use, until `stop`.
    pub fn of(context: &'a SessionContext, stop: &'a CancellationToken) -> Self {
        let SessionContext { services, events, commands, .. } = context;
        StepContext { events, workspace: &services.workspace, commands, stop }
    }
}
