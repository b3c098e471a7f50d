//! A tool call under way: a task of its own, which reports its progress and ends with the turn.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::Value;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::agent::events::Events;
use crate::agent::session::context::SessionContext;
use crate::agent::session::conversation::Conversation;
use crate::agent::turn::call_item::CallItem;
use crate::protocol::CallState;
use crate::tools::{Args, Progress, RunResult, Tool, ToolContext};

/// A call of a tool under way. It is stopped when it is dropped.
pub struct RunningCall {
    handle: JoinHandle<(Result<RunResult, String>, Duration)>,
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
        Self::start(context, session, tool, arguments, (outside, None), stop)
    }

    /// Begins a call whose result is shown when it exists, though the answer that makes it goes on.
    pub fn early(
        context: &SessionContext,
        session: &Conversation,
        tool: &Arc<dyn Tool>,
        arguments: Value,
        item: &CallItem,
        stop: &CancellationToken,
    ) -> Self {
        Self::start(context, session, tool, arguments, (None, Some((item.clone(), context.events.clone()))), stop)
    }

    fn start(
        context: &SessionContext,
        session: &Conversation,
        tool: &Arc<dyn Tool>,
        arguments: Value,
        (outside, mut display): (Option<PathBuf>, Option<(CallItem, Events)>),
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
            let (stop, began) = (stop.clone(), Instant::now());
            async move {
                let ran = match Args::new(arguments) {
                    Ok(args) => {
                        let mut running = tool.run(sight, args, Progress::to(lines), stop.clone());
                        tokio::select! {
                            biased;
                            ran = &mut running => ran,
                            // Nobody waits any more: the way to the front end must close though the tool goes on.
                            () = stop.cancelled() => {
                                display = None;
                                running.await
                            }
                        }
                    }
                    Err(why) => Err(why),
                };
                let took = began.elapsed();
                if let (Some((item, events)), Ok(RunResult::Output(output))) = (&mut display, &ran)
                    && !output.is_error
                {
                    item.take_output(output, Some(took));
                    item.set(events, CallState::Done).await;
                }
                (ran, took)
            }
        });
        RunningCall { handle, progress, stop }
    }

    /// Waits for its end, and shows its progress until then. Returns `None` when the turn is stopped: the call is not
    /// waited for.
    pub async fn end(mut self, context: &SessionContext, item: &mut CallItem) -> Option<Result<RunResult, String>> {
        let ended = loop {
            tokio::select! {
                biased;
                () = self.stop.cancelled() => break None,
                ended = &mut self.handle => {
                    break Some(match ended {
                        Ok((ran, took)) => {
                            item.call.took = Some(took);
                            ran
                        }
                        Err(_) => Err("it failed in nebula itself; try another way".into()),
                    });
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
