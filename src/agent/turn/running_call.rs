//! A call of a tool under way: a task of its own, which tells its progress and ends with the turn.

use std::path::PathBuf;
use std::sync::Arc;

use serde_json::Value;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::agent::session::context::SessionContext;
use crate::agent::session::conversation::Conversation;
use crate::agent::turn::call_item::CallItem;
use crate::tools::{Args, Progress, RunResult, Tool, ToolContext};

/// A call of a tool under way. It is stopped when it is dropped.
pub struct RunningCall {
    handle: JoinHandle<Result<RunResult, String>>,
    progress: mpsc::UnboundedReceiver<String>,
    stop: CancellationToken,
}

impl RunningCall {
    /// Begins a call. `outside` is a path beyond the workspace that the person approved.
    pub fn begin(
        context: &SessionContext,
        session: &Conversation,
        tool: &Arc<dyn Tool>,
        arguments: Value,
        outside: Option<PathBuf>,
        stop: &CancellationToken,
    ) -> Self {
        let tool = Arc::clone(tool);
        let versions = Arc::new(session.seen.clone());
        let commands = Arc::clone(&context.commands);
        let stop = stop.child_token();
        let workspace = Arc::new(context.services.workspace.stopped_by(&stop));
        let sight = ToolContext { workspace, versions, outside, commands };
        let (lines, progress) = mpsc::unbounded_channel();
        let handle = tokio::spawn({
            let stop = stop.clone();
            async move { tool.run(sight, Args::new(arguments)?, Progress::to(lines), stop).await }
        });
        RunningCall { handle, progress, stop }
    }

    /// Waits for its end, and shows how far it is until then. None when the turn is stopped: the call is not waited for.
    pub async fn end(mut self, context: &SessionContext, item: &mut CallItem) -> Option<Result<RunResult, String>> {
        let ended = loop {
            tokio::select! {
                biased;
                () = self.stop.cancelled() => break None,
                ended = &mut self.handle => {
                    break Some(ended.unwrap_or_else(|_| Err("it failed in nebula itself; try another way".into())));
                }
                Some(line) = self.progress.recv() => {
                    item.call.summary = line;
                    item.tell(&context.events).await;
                }
            }
        };
        item.call.summary.clear();
        ended
    }
}

impl Drop for RunningCall {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}
