//! A tool call under way: a task of its own, which reports its progress and ends with the turn.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::Value;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::agent::services::events::Events;
use crate::agent::session::conversation::SessionFiles;
use crate::agent::turn::step::call_item::CallItem;
use crate::agent::turn::step::context::StepContext;
use crate::protocol::CallState;
use crate::tools::{Args, Progress, RunResult, Tool, ToolContext};

/// The outcome of a call.
struct Ran {
    result: Result<RunResult, String>,
    took: Duration,
    /// Its output was shown when it existed.
    is_shown: bool,
}

/// A call of a tool under way. It is stopped when it is dropped.
pub struct RunningCall {
    handle: JoinHandle<Ran>,
    progress: mpsc::UnboundedReceiver<String>,
    stop: CancellationToken,
}

impl RunningCall {
    /// Begins a call. `approved` is the path that it was approved for.
    pub fn begin(
        step: StepContext<'_>,
        files: &SessionFiles,
        tool: &Arc<dyn Tool>,
        arguments: Value,
        approved: Option<PathBuf>,
    ) -> Self {
        Self::start(step, files, tool, arguments, (approved, None))
    }

    /// Begins a call whose result is shown when it exists, though the answer that makes it goes on.
    pub fn early(
        step: StepContext<'_>,
        files: &SessionFiles,
        tool: &Arc<dyn Tool>,
        arguments: Value,
        item: &CallItem,
    ) -> Self {
        Self::start(step, files, tool, arguments, (None, Some((item.clone(), step.events.clone()))))
    }

    fn start(
        step: StepContext<'_>,
        files: &SessionFiles,
        tool: &Arc<dyn Tool>,
        arguments: Value,
        (approved, mut display): (Option<PathBuf>, Option<(CallItem, Events)>),
    ) -> Self {
        let tool = Arc::clone(tool);
        let versions = files.versions.shared();
        let commands = Arc::clone(step.commands);
        let stop = step.stop.child_token();
        let workspace = Arc::new(step.workspace.stopped_by(&stop));
        let longest = files.longest_read.unwrap_or(usize::MAX);
        let sight = ToolContext { workspace, versions, approved, commands, longest };
        let (lines, progress) = mpsc::unbounded_channel();
        let handle = tokio::spawn({
            let (stop, began) = (stop.clone(), Instant::now());
            async move {
                let result = match Args::new(arguments) {
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
                let mut ran = Ran { result, took: began.elapsed(), is_shown: false };
                if let (Some((item, events)), Ok(RunResult::Output(output))) = (&mut display, &ran.result)
                    && !output.is_error
                {
                    item.take_output(output, Some(ran.took));
                    item.set(events, CallState::Done).await;
                    ran.is_shown = true;
                }
                ran
            }
        });
        RunningCall { handle, progress, stop }
    }

    /// Returns whether it has ended.
    pub fn is_over(&self) -> bool {
        self.handle.is_finished()
    }

    /// Waits for its end, and shows its progress until then. Returns `None` when the turn is stopped: the call is not
    /// waited for. Where the output is shown already, `item` has it and is done.
    pub async fn end(mut self, events: &Events, item: &mut CallItem) -> Option<Result<RunResult, String>> {
        let ended = loop {
            tokio::select! {
                biased;
                // What was shown as done stays done when the turn is stopped.
                ended = &mut self.handle => break Some(ended),
                () = self.stop.cancelled() => break None,
                Some(line) = self.progress.recv() => {
                    item.call.summary = line;
                    item.tell(events).await;
                }
            }
        };
        item.call.summary.clear();
        let Ok(ran) = ended? else { return Some(Err("it failed in nebula itself; try another way".into())) };
        item.call.took = Some(ran.took);
        match &ran.result {
            Ok(RunResult::Output(output)) if ran.is_shown => {
                item.take_output(output, None);
                item.call.state = CallState::Done;
            }
            _ if self.stop.is_cancelled() => return None,
            _ => {}
        }
        Some(ran.result)
    }
}

impl Drop for RunningCall {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}
