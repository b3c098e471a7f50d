//! Preparing a call on the blocking pool.

use std::path::PathBuf;
use std::sync::Arc;

use serde_json::Value;
use tokio::task::JoinHandle;

use crate::agent::session::context::SessionContext;
use crate::agent::session::conversation::Session;
use crate::tools::{Args, Context, Prepared, Tool};

/// Prepares a call. `outside` is a path beyond the workspace that the person approved.
pub fn prepare(
    context: &Arc<SessionContext>,
    tool: &'static Tool,
    arguments: Value,
    session: &Session,
    outside: Option<PathBuf>,
) -> JoinHandle<Result<Prepared, String>> {
    let workspace = Arc::clone(&context.services.workspace);
    let seen = session.seen.clone();
    tokio::task::spawn_blocking(move || {
        let context = Context { workspace: &workspace, seen: &seen, outside: outside.as_deref() };
        (tool.prepare)(&Args::new(arguments)?, &context)
    })
}
