//! Connecting a model: the configured one, or a local server that answers.

use std::sync::Arc;

use crate::agent::services::{Env, lock};
use crate::protocol::Level;
use crate::provider::{self, Provider, Recorder};

/// From here on this provider answers. The first one is recorded, where that was asked for.
pub async fn plug(env: &Arc<Env>, provider: Arc<dyn Provider>) {
    let record = lock(&env.record).take();
    let provider = match record.map(|path| Recorder::create(Arc::clone(&provider), &path)) {
        None => provider,
        Some(Ok(recorder)) => Arc::new(recorder),
        Some(Err(e)) => {
            env.say(Level::Error, e.message, e.hint).await;
            provider
        }
    };
    env.change(|live| (live.provider, live.why_not) = (Some(provider), None));
}

/// Connects the configured model; without a key for the provider's own address, a local server that answers.
pub async fn connect(env: &Arc<Env>) {
    let connection = lock(&env.config).connection();
    match provider::connect(&connection) {
        Ok(provider) => {
            plug(env, Arc::clone(&provider)).await;
            let chosen = lock(&env.config).model_is_chosen();
            // A server on this computer hardly has the model that is meant for the one in the cloud.
            if provider::is_local(&connection) && !chosen {
                settle_on_model(env, provider);
            }
        }
        Err(e) => {
            env.change(|live| live.why_not = Some(e.clone()));
            match e.kind {
                // Who names a server means that one, and no other that happens to listen here.
                provider::Kind::NoKey if !connection.custom_url => look_for_local(env),
                _ => env.say(Level::Error, e.message, e.hint).await,
            }
        }
    }
}

/// Looks for a local server without holding anything up; the status line changes when one is found.
fn look_for_local(env: &Arc<Env>) {
    env.looking.send_replace(true);
    let env = Arc::clone(env);
    tokio::spawn(async move {
        let found = provider::find().await;
        let usual = env.live().model;
        match provider::choose(found, &usual) {
            Some((server, model)) => take_local(&env, server, model).await,
            None => env.change(|live| live.tried = provider::PORTS.iter().map(|(port, _)| *port).collect()),
        }
        env.looking.send_replace(false);
        env.tell_status().await;
    });
}

/// Takes a model that the server offers, without holding anything up, where nobody chose one and it lacks the usual.
fn settle_on_model(env: &Arc<Env>, provider: Arc<dyn Provider>) {
    env.looking.send_replace(true);
    let (env, usual) = (Arc::clone(env), env.live().model);
    tokio::spawn(async move {
        let offered = tokio::time::timeout(TO_LIST, provider.models()).await;
        let offered = offered.ok().and_then(Result::ok).unwrap_or_default();
        let meant = env.live().model == usual;
        if let Some(model) = provider::begin_with(&offered, &usual).filter(|model| meant && **model != usual) {
            env.change(|live| live.model.clone_from(model));
            env.tell_status().await;
            let title = format!("{} offers no {usual}: {model} answers", provider.place());
            env.say(Level::Info, title, "Ctrl-O chooses another").await;
        }
        env.looking.send_replace(false);
        env.tell_status().await;
    });
}

/// A server that is there lists its models from memory.
const TO_LIST: std::time::Duration = std::time::Duration::from_secs(2);

async fn take_local(env: &Arc<Env>, server: provider::LocalServer, model: String) {
    match provider::connect(&server.connection()) {
        Ok(provider) => {
            plug(env, provider).await;
            let usual = env.live().model;
            let lacks = lock(&env.config).model_is_chosen() && !model.starts_with(&usual);
            let detail = if lacks { format!("It has no {usual}: {model} answers") } else { String::new() };
            env.change(|live| (live.tried, live.model) = (Vec::new(), model));
            // Before it is said: `task --json` begins with who answers.
            env.tell_status().await;
            env.say(Level::Info, format!("connected to {} on this computer", server.name), detail).await;
        }
        Err(e) => env.say(Level::Error, e.message, e.hint).await,
    }
}
