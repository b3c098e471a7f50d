//! `/compact`: the conversation so far is summarised; the summary is shown, and counts only once the person says so.

use std::sync::Arc;

use futures_util::StreamExt;

use super::Agent;
use super::env::{Env, lock};
use super::session::Session;
use crate::context::templates::Templates;
use crate::memory;
use crate::protocol::{Event, Item, Level, Question};
use crate::provider::{Answer, Message, Request};

impl Agent {
    /// Asks the model for a summary and puts it to the person.
    pub(super) async fn compact(&mut self) {
        if self.turn.is_some() {
            return self.env.say(Level::Info, "nebula is working: /compact when the turn is over", "").await;
        }
        let Some(session) = self.session.as_ref().filter(|s| !s.messages.is_empty()) else {
            return self.env.say(Level::Info, "there is nothing to summarise yet", "").await;
        };
        let (env, request) = (Arc::clone(&self.env), request(&self.env, session));
        let upto = session.rows.last().copied().unwrap_or(0);
        let id = session.id.clone();
        tokio::spawn(async move {
            match summarise(&env, request).await {
                Ok(text) => offer(&env, &id, text, upto).await,
                Err((title, hint)) => env.events.notice(Level::Error, title, hint).await,
            }
        });
    }

    /// Takes a summary up that the person accepted meanwhile.
    pub(super) fn take_summary(&mut self) {
        let accepted = lock(&self.env.summary).take();
        let (Some((id, summary)), Some(session)) = (accepted, self.session.as_mut()) else { return };
        if session.id == id {
            let covered = session.rows.iter().filter(|r| **r <= summary.upto).count();
            session.summary = Some((summary.text, covered));
            session.window.reset();
            // What was read is known no more: the texts are not in what is sent.
            session.seen.clear();
        }
    }
}

fn request(env: &Env, session: &Session) -> Request {
    let templates = Templates::new(env.workspace.root(), lock(&env.config).paths.folder());
    let system = templates.get("summarise.md").map(|t| t.text).unwrap_or_default();
    let mut messages = session.messages.clone();
    messages.push(Arc::new(Message::user("Summarise this conversation now, as your instructions say.")));
    let model = env.live().model.clone();
    Request { model, system: system.into(), messages, hurry: env.hurry.clone(), ..Request::default() }
}

async fn summarise(env: &Env, request: Request) -> Result<String, (String, String)> {
    let Some(provider) = env.live().provider.clone() else {
        return Err(("no model is connected".into(), String::new()));
    };
    env.say(Level::Info, "summarising", "").await;
    let mut deltas = provider.stream(request);
    let mut answer = Answer::default();
    while let Some(delta) = deltas.next().await {
        answer.push(&delta.map_err(|e| (e.message, e.hint))?);
    }
    if answer.text.trim().is_empty() {
        return Err(("the model gave no summary".into(), "Nothing was changed.".into()));
    }
    Ok(answer.text)
}

/// Shows the summary and waits for what the person says of it.
async fn offer(env: &Arc<Env>, session: &str, text: String, upto: i64) {
    env.events.add(Item::Answer { text: format!("**Summary of this conversation**\n\n{text}") }).await;
    let id = env.events.question();
    let reply = env.gate.await_reply(id);
    let choices = vec![
        ("use it".to_string(), "the model gets this in place of the messages so far; memory keeps them".to_string()),
        ("drop it".to_string(), "nothing changes".to_string()),
    ];
    let question = Question { id, text: "Send this summary in place of the conversation so far?".into(), choices };
    env.events.send(Event::Asked(question)).await;
    let said = reply.await;
    env.events.send(Event::Answered(id)).await;
    if said.as_deref() == Ok("use it") {
        let summary = memory::Summary { text, upto };
        env.kept(env.memory.set_summary(session, Some(&summary)));
        *lock(&env.summary) = Some((session.to_string(), summary));
        env.say(Level::Info, "the summary counts from the next message on", "").await;
    }
}
