//! `/commit` and `nebula commit`: the model proposes a message for what is staged, the person edits it, and git
//! commits.

use std::path::Path;
use std::sync::Arc;

use futures_util::StreamExt;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::agent::session::context::SessionContext;
use crate::context::commit as staged;
use crate::context::request::Window;
use crate::context::templates::Templates;
use crate::git::{Repository, Trust};
use crate::messages::agent as say;
use crate::protocol::{EventBody, Level};
use crate::provider::models::Effort;
use crate::provider::{Answer, Message, Provider, Request, Usage};

/// Asks the model for a message and hands it to the person. Cancelling the token ends that.
pub fn draft(context: &Arc<SessionContext>) -> CancellationToken {
    let (stop, context) = (CancellationToken::new(), Arc::clone(context));
    let token = stop.clone();
    tokio::spawn(async move {
        let drafted = stop.run_until_cancelled(drafted(&context)).await;
        // The commit is the workspace's, whichever session is shown by now.
        let events = &context.services.events;
        match drafted {
            Some(Ok(text)) => events.send(EventBody::CommitMessage(text)).await,
            Some(Err((title, hint))) => context.say(Level::Warning, title, hint).await,
            None => context.say(Level::Info, say::no_message(), "").await,
        }
        stop.cancel();
        events.send(EventBody::CommitEnded).await;
    });
    token
}

/// Commits what is staged with the message the person accepted. Where git refuses, the message comes back.
pub fn commit(context: &Arc<SessionContext>, message: String) -> JoinHandle<()> {
    let context = Arc::clone(context);
    tokio::spawn(async move {
        let trusted = context.services.config.read().is_trusted();
        let trust = if trusted { Trust::Folder } else { Trust::Nothing };
        let (root, text) = (context.services.workspace.root().to_path_buf(), message.clone());
        let done = tokio::task::spawn_blocking(move || run(&root, &text, trust)).await;
        match done.unwrap_or_else(|_| Err(say::git_not_run().into())) {
            Ok(done) => context.say(Level::Info, done.said, done.left_out.unwrap_or_default()).await,
            Err(why) => {
                context.events.notice(Level::Error, say::nothing_committed(), why).await;
                context.services.events.send(EventBody::CommitMessage(message)).await;
            }
        }
    })
}

async fn drafted(context: &SessionContext) -> Result<String, (String, String)> {
    let target = context.target();
    let provider = target.provider.clone().map_err(|_| (say::no_model().to_string(), String::new()))?;
    let (templates, language) = {
        let config = context.services.config.read();
        (Templates::new(&context.services.workspace, config.paths.folder()), config.language.clone())
    };
    let root = context.services.workspace.root().to_path_buf();
    // The same facts as in the session: a local server would load the model anew for another window.
    let facts = target.facts();
    let effort = context.services.config.read().effort_for(&target.model).and_then(Effort::parse);
    let skip_backoff = context.skip_backoff.clone();
    let base = Request { model: target.model.clone(), facts, effort, skip_backoff, beside: true, ..Request::default() };
    let (message, usage) = propose(&*provider, base, templates, root, language).await?;
    let beside = target.cost(&usage).beside(None, &target.model, &usage);
    let (project, id) = (context.services.project(), context.id());
    context.services.memory.post(move |memory| memory.add_usage_beside(&project, id.as_deref(), &beside));
    Ok(message)
}

/// Returns a message for what is staged, as the model of `base` proposes it, and the tokens it took.
///
/// # Errors
/// When nothing is staged, there is no repository, or the model did not answer; the texts say what to do.
pub async fn propose(
    provider: &dyn Provider,
    base: Request,
    templates: Templates,
    root: std::path::PathBuf,
    language: Option<String>,
) -> Result<(String, Usage), (String, String)> {
    let prepared = tokio::task::spawn_blocking(move || {
        staged::staged(&root).map(|staged| staged::prompt(&templates, &staged, language.as_deref()))
    });
    let prompt = match prepared.await {
        Ok(Ok(prompt)) => prompt,
        Ok(Err(e)) => return Err((e.to_string(), String::new())),
        Err(_) => return Err((say::git_not_run().into(), String::new())),
    };
    let tokens = |bytes: usize| Window::default().tokens(bytes);
    let (sent, messages) = (tokens(prompt.len()), vec![Arc::new(Message::user(prompt))]);
    let mut deltas = provider.stream(Request { messages, ..base });
    let mut answer = Answer::default();
    while let Some(delta) = deltas.next().await {
        answer.push(&delta.map_err(|e| (e.message, e.hint))?);
    }
    match staged::tidied(&answer.text) {
        text if text.is_empty() => Err((say::no_proposed_message().into(), say::try_again().into())),
        text => Ok((text, Usage::or_counted(answer.usage, sent, tokens(answer.written())))),
    }
}

/// Commits what is staged. Returns git's message in one line, and what was not run because the folder is not trusted.
///
/// # Errors
/// When git refuses, with its words.
pub fn run(root: &Path, message: &str, trust: Trust) -> Result<Committed, String> {
    if message.trim().is_empty() {
        return Err("the message is empty".into());
    }
    let repository = Repository::find(root).map_err(|e| e.to_string())?;
    let left_out = trust == Trust::Nothing && repository.has_commit_hooks();
    let said = repository.commit(message, trust).map_err(|e| e.to_string())?;
    Ok(Committed { said, left_out: left_out.then_some(say::hooks_not_run()) })
}

/// The result of a commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Committed {
    /// Git's message, in one line.
    pub said: String,
    /// The hooks that were not run.
    pub left_out: Option<&'static str>,
}
