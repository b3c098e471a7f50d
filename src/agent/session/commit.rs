//! `/commit` and `nebula commit`: the model proposes a message for what is staged, the person edits it, and git commits.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;

use futures_util::StreamExt;
use tokio_util::sync::CancellationToken;

use crate::agent::Agent;
use crate::agent::services::{Env, lock};
use crate::context::commit;
use crate::context::templates::Templates;
use crate::protocol::{Event, Level};
use crate::provider::{Answer, Hurry, Message, Provider, Request};

impl Agent {
    /// Asks the model for a message and hands it to the person. [`Command::Interrupt`] ends that.
    ///
    /// [`Command::Interrupt`]: crate::protocol::Command::Interrupt
    pub(in crate::agent) fn draft_commit(&mut self) {
        let stop = CancellationToken::new();
        self.draft = Some(stop.clone());
        let env = Arc::clone(&self.env);
        tokio::spawn(async move {
            let drafted = stop.run_until_cancelled(draft(&env)).await;
            let event = match drafted {
                Some(Ok(text)) => Event::CommitMessage(text),
                Some(Err((title, hint))) => {
                    env.say(Level::Warning, title, hint).await;
                    Event::CommitEnded
                }
                None => {
                    env.say(Level::Info, "no commit message was written", "").await;
                    Event::CommitEnded
                }
            };
            stop.cancel();
            env.events.send(event).await;
        });
    }

    /// Ends a draft under way; `false`: there is none.
    pub(in crate::agent) fn stop_draft(&self) -> bool {
        let draft = self.draft.as_ref().filter(|stop| !stop.is_cancelled());
        draft.inspect(|stop| stop.cancel()).is_some()
    }

    /// Commits what is staged with the message the person settled on. Where git refuses, the message comes back.
    pub(in crate::agent) fn commit(&self, message: String) {
        let env = Arc::clone(&self.env);
        tokio::spawn(async move {
            let (root, text) = (env.workspace.root().to_path_buf(), message.clone());
            let done = tokio::task::spawn_blocking(move || run(&root, &text)).await;
            match done.unwrap_or_else(|_| Err("git could not be run".into())) {
                Ok(said) => env.say(Level::Info, said, "").await,
                Err(why) => {
                    env.events.notice(Level::Error, "nothing was committed", why).await;
                    env.events.send(Event::CommitMessage(message)).await;
                }
            }
        });
    }
}

async fn draft(env: &Env) -> Result<String, (String, String)> {
    let (provider, model) = {
        let live = env.live();
        (live.provider.clone(), live.model.clone())
    };
    let provider = provider.ok_or(("no model is connected".to_string(), String::new()))?;
    let (templates, language) = {
        let config = lock(&env.config);
        (Templates::new(env.workspace.root(), config.paths.folder()), config.language.clone())
    };
    let root = env.workspace.root().to_path_buf();
    propose(&*provider, &model, templates, root, language, env.hurry.clone()).await
}

/// A message for what is staged, as the model proposes it.
///
/// # Errors
/// What went wrong and what to do: nothing staged, no repository, a model that did not answer.
pub async fn propose(
    provider: &dyn Provider,
    model: &str,
    templates: Templates,
    root: std::path::PathBuf,
    language: Option<String>,
    hurry: Hurry,
) -> Result<String, (String, String)> {
    let prepared = tokio::task::spawn_blocking(move || {
        commit::staged(&root).map(|staged| commit::prompt(&templates, &staged, language.as_deref()))
    });
    let prompt = match prepared.await {
        Ok(Ok(prompt)) => prompt,
        Ok(Err(e)) => return Err((e.to_string(), String::new())),
        Err(_) => return Err(("git could not be run".into(), String::new())),
    };
    let messages = vec![Arc::new(Message::user(prompt))];
    let mut deltas = provider.stream(Request { model: model.to_string(), messages, hurry, ..Request::default() });
    let mut answer = Answer::default();
    while let Some(delta) = deltas.next().await {
        answer.push(&delta.map_err(|e| (e.message, e.hint))?);
    }
    match commit::tidied(&answer.text) {
        text if text.is_empty() => Err(("the model proposed no message".into(), "Try again, or another model.".into())),
        text => Ok(text),
    }
}

/// Commits what is staged; what git said of it, in one line. The repository's hooks run.
///
/// # Errors
/// What git said when it refused.
pub fn run(root: &Path, message: &str) -> Result<String, String> {
    if message.trim().is_empty() {
        return Err("the message is empty".into());
    }
    let mut child = Command::new("git")
        .args(["commit", "--file=-"])
        .current_dir(root)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|e| format!("git cannot be run: {e}"))?;
    if let Some(mut stdin) = child.stdin.take() {
        // A git that ended early says why on its standard error.
        let _ = stdin.write_all(message.as_bytes());
    }
    let output = child.wait_with_output().map_err(|e| format!("git cannot be run: {e}"))?;
    let said = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_string();
    if output.status.success() {
        Ok(said(&output.stdout).lines().next().unwrap_or("committed").to_string())
    } else {
        let (error, out) = (said(&output.stderr), said(&output.stdout));
        Err(if error.is_empty() { out } else { error })
    }
}
