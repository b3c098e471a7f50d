//! The model for commands that need one but no session: the one that a session would use.

use std::sync::Arc;

use super::Context;
use crate::provider::{self, Error, Kind, Provider};

/// A provider that can be asked, and the model to ask it for.
pub struct Connected {
    /// The provider.
    pub provider: Arc<dyn Provider>,
    /// The model.
    pub model: String,
}

/// Connects to the configured provider; without a key for its own address, to a server on this computer.
///
/// # Errors
/// When neither can be used.
pub fn connect(context: &Context) -> Result<Connected, Error> {
    let connection = context.config.connection();
    let usual = context.config.model.clone();
    let provider = match provider::connect(&connection) {
        Err(e) if e.kind == Kind::NoKey && !connection.custom_url => {
            let found = context.block_on(provider::find());
            let (server, model) = provider::choose(found, &usual).ok_or(e)?;
            return Ok(Connected { provider: provider::connect(&server.connection())?, model });
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
    Ok(Connected { provider, model })
}
