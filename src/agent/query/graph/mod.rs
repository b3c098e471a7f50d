//! The definitions of the workspace for the screen, read from its Strand store, and the conflicts in it that a person
//! decides. The store is opened for each question, so that it is seen as it is now.

#[cfg(feature = "strand")]
mod store;

use std::path::Path;
use std::sync::Arc;

use crate::agent::services::Services;
use crate::agent::session::context::SessionContext;
use crate::messages::agent as say;
use crate::protocol::{ConflictChoice, ConflictRow, DefinitionDetail, EventBody, GraphPage, Level};

/// A build without Strand: no folder has a store that it could read.
#[cfg(not(feature = "strand"))]
mod store {
    use std::path::{Path, PathBuf};

    use super::absent;
    use crate::protocol::{ConflictChoice, ConflictRow, DefinitionDetail, GraphPage};

    pub fn find(_: &Path) -> Option<PathBuf> {
        None
    }

    pub fn page(_: &Path, _: &str, _: usize) -> Result<GraphPage, String> {
        Err(absent())
    }

    pub fn definition(_: &Path, _: &str) -> Result<DefinitionDetail, String> {
        Err(absent())
    }

    pub fn decide(_: &Path, _: &ConflictRow, _: ConflictChoice) -> Result<String, String> {
        Err(absent())
    }
}

/// Returns why there is nothing to show.
fn absent() -> String {
    if cfg!(feature = "strand") { say::no_store() } else { say::built_without_strand() }.into()
}

/// Does `work` with the folder of the workspace's store.
fn with<T>(services: &Services, work: impl FnOnce(&Path) -> Result<T, String>) -> Result<T, String> {
    work(&store::find(services.workspace.root()).ok_or_else(absent)?)
}

/// Returns the first `limit` definitions whose names hold all words of a filter. For blocking code alone.
///
/// # Errors
/// When there is no store, or it cannot be read, in words.
pub fn page(services: &Services, filter: &str, limit: usize) -> Result<GraphPage, String> {
    with(services, |root| store::page(root, filter, limit))
}

/// Returns a definition with what is around it. For blocking code alone.
///
/// # Errors
/// When it is gone, or the store cannot be read, in words.
pub fn definition(services: &Services, id: &str) -> Result<DefinitionDetail, String> {
    with(services, |root| store::definition(root, id))
}

/// Decides a conflict and tells how that went.
pub async fn decide(context: Arc<SessionContext>, row: Box<ConflictRow>, choice: ConflictChoice) {
    let services = Arc::clone(&context.services);
    let decided = tokio::task::spawn_blocking(move || with(&services, |root| store::decide(root, &row, choice))).await;
    match decided.unwrap_or_else(|_| Err(say::failed_itself().into())) {
        Ok(done) => context.say(Level::Info, done, "").await,
        Err(why) => context.say(Level::Error, why, say::nothing_changed()).await,
    }
    // Where it failed the list may be old.
    context.services.events.send(EventBody::GraphChanged).await;
}
