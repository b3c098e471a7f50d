//! Whom a command asks that needs a model but no session: the one that would answer a session.

use std::sync::Arc;

use super::Context;
use crate::provider::{self, Error, Kind, Provider};

/// Who answers.
pub struct Reached {
    /// The way there.
    pub provider: Arc<dyn Provider>,
    /// The model that is asked.
    pub model: String,
}

/// The configured provider; without a key for its own address, a server on this computer.
///
/// # Errors
/// When nobody would answer.
pub fn reach(context: &Context) -> Result<Reached, Error> {
    let connection = context.config.connection();
    let usual = context.config.model.clone();
    let provider = match provider::connect(&connection) {
        Err(e) if e.kind == Kind::NoKey && !connection.custom_url => {
            let found = context.block_on(provider::find());
            let (server, model) = provider::choose(found, &usual).ok_or(e)?;
            return Ok(Reached { provider: provider::connect(&server.connection())?, model });
        }
        configured => configured?,
    };
    // A server on this computer hardly has the model that is meant for the one in the cloud.
    let model = match provider::is_local(&connection) && !context.config.model_is_chosen() {
        true => {
            let offered = context.block_on(provider.models()).unwrap_or_default();
            provider::begin_with(&offered, &usual).cloned().unwrap_or(usual)
        }
        false => usual,
    };
    Ok(Reached { provider, model })
}
