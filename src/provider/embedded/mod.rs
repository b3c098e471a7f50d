//! A model inside: a GGUF file that is run in this program, on the processor, without a server. Reading the headers of
//! such files and looking for them is part of every build; running one needs the feature `embedded`.
//!
//! Nothing is ever downloaded. A file from elsewhere is data: its template is recognised, not run, and its sizes are
//! checked before memory is taken for them.

#[cfg(feature = "embedded")]
mod engine;
mod found;
mod gguf;
#[cfg(feature = "embedded")]
mod inside;
#[cfg(feature = "embedded")]
mod network;
#[cfg(feature = "embedded")]
mod rotation;
#[cfg(feature = "embedded")]
mod split;
#[cfg(feature = "embedded")]
mod template;
#[cfg(test)]
mod testing;
#[cfg(all(test, feature = "embedded"))]
mod tests;
#[cfg(feature = "embedded")]
mod vocabulary;

pub use found::{ModelFile, NAME, look};

use std::sync::Arc;

use super::{Error, Provider};
use crate::config::Connection;

/// True if this build runs model files.
pub const RUNS: bool = cfg!(feature = "embedded");

/// Returns the provider that runs the model files of `connection`.
///
/// # Errors
/// When this build runs none.
#[cfg(feature = "embedded")]
pub(super) fn connect(connection: &Connection) -> Result<Arc<dyn Provider>, Error> {
    Ok(Arc::new(inside::Inside::new(connection.model_folders.clone())))
}

/// Returns the provider that runs the model files of `connection`.
///
/// # Errors
/// When this build runs none.
#[cfg(not(feature = "embedded"))]
pub(super) fn connect(_connection: &Connection) -> Result<Arc<dyn Provider>, Error> {
    Err(Error::new(
        super::ErrorKind::Settings,
        "this nebula was built without the part that runs model files",
        "Build it with `cargo install --path . --features embedded`, or choose another provider.",
    ))
}
