//! The definitions of the workspace for the screen, read from its Strand store and its source files, and the conflicts in
//! the store that a person decides. Store and files are read for each question, so that they are seen as they are now.

#[cfg(feature = "code")]
mod code;
#[cfg(any(feature = "code", feature = "strand"))]
mod limits;
#[cfg(feature = "strand")]
mod store;

use std::path::Path;
use std::sync::Arc;

use tokio_util::sync::CancellationToken;

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

    pub fn unknown(_: &Path) -> Option<String> {
        None
    }

    pub fn beside(_: &Path, _: &Path) -> Vec<String> {
        Vec::new()
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

/// A build without definitions of source files.
#[cfg(not(feature = "code"))]
mod code {
    use tokio_util::sync::CancellationToken;

    use super::absent;
    use crate::agent::services::Services;
    use crate::protocol::{DefinitionDetail, GraphPage};

    pub fn has(_: &str) -> bool {
        false
    }

    pub fn add(_: &mut GraphPage, _: &Services, _: &CancellationToken, _: &str, _: usize) -> Result<(), String> {
        Ok(())
    }

    pub fn definition(_: &Services, _: &CancellationToken, _: &str) -> Result<DefinitionDetail, String> {
        Err(absent())
    }
}

/// Returns why there is nothing to show.
fn absent() -> String {
    match (cfg!(feature = "strand"), cfg!(feature = "code")) {
        (true, true) => say::no_definitions(),
        (true, false) => say::no_store(),
        (false, true) => say::no_sources(),
        (false, false) => say::built_without_strand(),
    }
    .into()
}

/// Does `work` with the folder of the workspace's store.
fn with<T>(services: &Services, work: impl FnOnce(&Path) -> Result<T, String>) -> Result<T, String> {
    work(&store::find(services.workspace.root()).ok_or_else(absent)?)
}

/// Returns the first `limit` definitions whose names hold all words of a filter. For blocking code alone.
///
/// # Errors
/// When there is nothing that could hold one, it cannot be read, or it was stopped, in words.
pub fn page(services: &Services, stop: &CancellationToken, filter: &str, limit: usize) -> Result<GraphPage, String> {
    let root = services.workspace.root();
    let unknown = store::unknown(root);
    let stored = store::find(root).map(|store| (store::page(&store, filter, limit), store));
    let (mut page, failed) = match stored {
        Some((Ok(page), store)) => (GraphPage { beside: store::beside(root, &store), ..page }, None),
        Some((Err(why), store)) => {
            let page = GraphPage { trouble: Some(why.clone()), ..GraphPage::empty(&store) };
            (GraphPage { beside: store::beside(root, &store), ..page }, Some(why))
        }
        None => (GraphPage::empty(root), Some(unknown.clone().unwrap_or_else(absent))),
    };
    page.trouble = page.trouble.or(unknown);
    code::add(&mut page, services, stop, filter, limit)?;
    match failed {
        Some(why) if page.files == 0 => Err(why),
        _ => Ok(page),
    }
}

/// Returns a definition with what is around it. For blocking code alone.
///
/// # Errors
/// When it is gone, it cannot be read, or it was stopped, in words.
pub fn definition(services: &Services, stop: &CancellationToken, id: &str) -> Result<DefinitionDetail, String> {
    match code::has(id) {
        true => code::definition(services, stop, id),
        false => with(services, |root| store::definition(root, id)),
    }
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
