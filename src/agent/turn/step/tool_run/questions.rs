//! Calls that lead to a question to the person: asked together, answered in any order, each done in its turn.

use std::path::PathBuf;

use crate::agent::session::conversation::first_words;
use crate::agent::session::records::arguments;
use crate::agent::turn::step::act::{Act, EarlyCall};
use crate::agent::turn::step::call_item::CallItem;
use crate::agent::turn::step::call_question::{self, EarlyQuestion, EarlyResult};
use crate::agent::turn::step::context::StepContext;
use crate::agent::turn::step::running_call::RunningCall;
use crate::agent::turn::step::tool_run::{INTERRUPTED, ToolRun};
#[cfg(feature = "strand")]
use crate::proposal::Consent;
use crate::protocol::{CallState, Question, Reply};
use crate::provider::ToolCall;
use crate::text::width::shortened;
use crate::tools::{RunResult, ToolKind, ToolOutput};

impl ToolRun<'_> {
    /// Asks what a result leads to, together with what the calls that follow lead to, and goes on with the reply.
    pub(super) async fn ask(
        &mut self,
        mut item: CallItem,
        call: ToolCall,
        native: bool,
        result: RunResult,
        question: Question,
    ) {
        let (context, stop) = (self.context, self.stop);
        let reply = call_question::ask(context, &mut item, question, stop, || self.ask_ahead()).await;
        self.replied(item, call, native, result, reply).await;
    }

    /// Runs the questions and reads that follow up to the first call that may change something, and asks what they lead to.
    fn ask_ahead(&mut self) {
        for act in &mut self.ahead {
            let Act::Call(act) = act else { break };
            let Some(tool) = self.session.tools.find(&act.call.name) else { break };
            // What a command printed is handed out once.
            if !tool.kind().reads() && tool.kind() != ToolKind::Ask || tool.kind() == ToolKind::Output {
                break;
            }
            let running = match (act.early.take(), arguments(&act.call.arguments)) {
                (Some(EarlyCall::Running(running)), _) => running,
                (None, Ok(value)) => {
                    let step = StepContext::of(self.context, self.stop);
                    RunningCall::begin(step, &self.session.files, tool, value, None)
                }
                (early, _) => {
                    act.early = early;
                    continue;
                }
            };
            let id = self.context.events.question();
            let question = EarlyQuestion::begin(self.context, act.item.clone(), running, id, self.stop);
            act.early = Some(EarlyCall::Question(question));
        }
    }

    /// Goes on with a call that ran before its turn, and may have asked.
    pub(super) async fn answer_early(&mut self, item: CallItem, call: ToolCall, native: bool, question: EarlyQuestion) {
        match question.end().await {
            None => self.refuse(item, &call, native, CallState::Failed, "it failed in nebula itself").await,
            // The person may have changed the file before the reply.
            Some((item, EarlyResult::Ran(Some(Ok(RunResult::Output(_)) | Err(_))))) => {
                self.read_again(item, call, native).await;
            }
            Some((item, EarlyResult::Ran(ran))) => self.ran(item, call, native, ran).await,
            Some((item, EarlyResult::Asked(result, reply))) => {
                self.flush().await;
                self.replied(item, call, native, result, reply).await;
            }
        }
    }

    /// Runs a read that asked nothing once more, now that its turn has come.
    async fn read_again(&mut self, mut item: CallItem, call: ToolCall, native: bool) {
        let Some(tool) = self.session.tools.find(&call.name).cloned() else { return };
        let Ok(value) = arguments(&call.arguments) else { return };
        item.set(&self.context.events, CallState::Running).await;
        let running = RunningCall::begin(self.step(), &self.session.files, &tool, value, None);
        let ran = running.end(&self.context.events, &mut item).await;
        self.ran(item, call, native, ran).await;
    }

    /// Goes on with a call about which the person was asked; no reply: it was interrupted.
    pub(super) async fn replied(
        &mut self,
        item: CallItem,
        call: ToolCall,
        native: bool,
        result: RunResult,
        reply: Option<(Reply, String)>,
    ) {
        match (result, reply) {
            (RunResult::Outside(path, _), Some((Reply::Choice(0), _))) => {
                self.approved(item, call, native, path).await;
            }
            #[cfg(feature = "strand")]
            (RunResult::StoreChange(change), Some((Reply::Choice(0), _))) => {
                self.issue(item, call, native, *change, Consent::Person).await;
            }
            #[cfg(feature = "strand")]
            (RunResult::StoreChange(_), Some((reply, _))) => self.refuse_change(item, &call, native, &reply).await,
            (RunResult::Outside(path, _), Some((reply, _))) => {
                let why = call_question::not_allowed(self.context, &path, &reply);
                self.refuse(item, &call, native, CallState::Refused, &why).await;
            }
            (_, Some((_, reply))) => {
                let summary = shortened(&first_words(&reply, 24), 25);
                let output = ToolOutput { text: reply, summary, ..ToolOutput::default() };
                self.answered(item, &call, native, output).await;
            }
            (_, None) => self.refuse(item, &call, native, CallState::Interrupted, INTERRUPTED).await,
        }
    }

    /// Runs a read that was allowed: of a path outside the workspace, or of one that may hold keys.
    pub(super) async fn approved(&mut self, mut item: CallItem, call: ToolCall, native: bool, path: PathBuf) {
        item.set(&self.context.events, CallState::Running).await;
        let Some(tool) = self.session.tools.find(&call.name).cloned() else { return };
        let Ok(value) = arguments(&call.arguments) else { return };
        let running = RunningCall::begin(self.step(), &self.session.files, &tool, value, Some(path));
        match running.end(&self.context.events, &mut item).await {
            None => self.refuse(item, &call, native, CallState::Interrupted, INTERRUPTED).await,
            Some(Ok(RunResult::Output(output))) => self.answered(item, &call, native, output).await,
            Some(Err(why)) => self.refuse(item, &call, native, CallState::Failed, &why).await,
            _ => self.refuse(item, &call, native, CallState::Failed, "it could not be done").await,
        }
    }
}
