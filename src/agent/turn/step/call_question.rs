//! Questions to the person that calls lead to. Those of calls whose turn has not come are asked together with the one
//! that the person is being asked.

use std::path::Path;
use std::sync::Arc;

use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::agent::session::approval::yes_once;
use crate::agent::session::context::SessionContext;
use crate::agent::turn::step::call_item::CallItem;
use crate::agent::turn::step::running_call::RunningCall;
#[cfg(feature = "strand")]
use crate::messages::strand;
use crate::messages::{agent as say, count};
use crate::protocol::{CallState, Question, QuestionId, Reply};
use crate::text::clean::clean_line;
use crate::text::time;
use crate::tools::{AtPath, RunResult};

/// A call that runs before its turn, and asks its question as soon as it is known.
pub struct EarlyQuestion(JoinHandle<(CallItem, EarlyResult)>);

/// The state of a call when its turn comes.
pub enum EarlyResult {
    /// It ran and asked nothing; none: it was stopped.
    Ran(Option<Result<RunResult, String>>),
    /// It asked about this result; the reply, and in words. None: it was stopped.
    Asked(RunResult, Option<(Reply, String)>),
}

impl EarlyQuestion {
    /// Waits for a call beside the others, and asks what it leads to as question `id`.
    pub fn begin(
        context: &Arc<SessionContext>,
        mut item: CallItem,
        call: RunningCall,
        id: QuestionId,
        stop: &CancellationToken,
    ) -> EarlyQuestion {
        let (context, stop) = (Arc::clone(context), stop.clone());
        EarlyQuestion(tokio::spawn(async move {
            let ran = call.end(&context.events, &mut item).await;
            let result = match ran {
                Some(Ok(result)) => match question(&context, &result, id) {
                    Some(question) => {
                        let reply = ask(&context, &mut item, question, &stop, || ()).await;
                        EarlyResult::Asked(result, reply)
                    }
                    None => EarlyResult::Ran(Some(Ok(result))),
                },
                ran => EarlyResult::Ran(ran),
            };
            (item, result)
        }))
    }

    /// Waits for the reply; none where nebula itself failed.
    pub async fn end(self) -> Option<(CallItem, EarlyResult)> {
        self.0.await.ok()
    }
}

/// Returns the question to the person that a result leads to, as question `id`; none: it leads to none.
pub fn question(context: &SessionContext, result: &RunResult, id: QuestionId) -> Option<Question> {
    let (text, choices, permission) = match result {
        RunResult::Question { text, choices } => (text.clone(), choices.clone(), false),
        RunResult::Outside(path, there) => {
            let text = match inside(context, path) {
                Some(path) => say::send_secrets(&on_line(path)),
                None => say::read_outside(&on_line(path)),
            };
            let allows = match there {
                AtPath::File(bytes) => say::this_file_once(&count::size(*bytes)),
                AtPath::Folder => say::this_folder_once().into(),
                AtPath::Nothing => say::this_path_once().into(),
            };
            (text, yes_once(allows, say::default_continues()), true)
        }
        #[cfg(feature = "strand")]
        RunResult::StoreChange(change) => {
            let choices = yes_once(say::this_change_once().into(), say::default_continues());
            let store = on_line(change.opening.root());
            let text = match change.touched.is_empty() {
                true => strand::run_store(&store, &change.what),
                false => strand::change_store(&store, &change.what),
            };
            (text, choices, true)
        }
        _ => return None,
    };
    Some(Question { id, text, choices, permission, card: None, hold: None })
}

/// Returns a path on one line: a line break in a name is no line of the question.
fn on_line(path: &Path) -> String {
    clean_line(&path.display().to_string()).into_owned()
}

/// Returns the reason for the model why a path was not read, after this reply.
pub fn not_allowed(context: &SessionContext, path: &Path, reply: &Reply) -> String {
    let what = match inside(context, path) {
        Some(path) => format!("{} may hold keys", path.display()),
        None => format!("{} is outside the workspace", path.display()),
    };
    match reply {
        Reply::Choice(_) => format!("{what} and the person did not allow it"),
        Reply::Text(reason) => format!("{what} and the person did not allow it: {reason}"),
        Reply::Nobody => format!("{what}, and nobody is there to allow it"),
    }
}

/// Returns a path from the workspace's root on; none: it is outside.
fn inside<'p>(context: &SessionContext, path: &'p Path) -> Option<&'p Path> {
    path.strip_prefix(context.services.workspace.root()).ok()
}

/// Asks the person, does `then` and waits; none when interrupted. Returns the reply in words too.
pub async fn ask(
    context: &SessionContext,
    item: &mut CallItem,
    question: Question,
    stop: &CancellationToken,
    then: impl FnOnce(),
) -> Option<(Reply, String)> {
    item.set(&context.events, CallState::Asking).await;
    let reply = context.approvals.open(question.clone()).await;
    then();
    let reply = context.approvals.wait(question.id, async { reply.await.ok() }, stop).await?;
    let words = reply.words(&question.choices);
    item.call.exchange = Some((question.text, words.clone()));
    item.call.answered = Some(time::now());
    item.set(&context.events, CallState::Waiting).await;
    Some((reply, words))
}
