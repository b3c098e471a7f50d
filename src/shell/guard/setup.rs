//! The setup of a command's guard, from the order that starts its helper.

use std::io;
use std::sync::{Arc, Mutex};

use super::{Answering, ConnectionPolicy, Consents, HeldCalls, Keeping};
use crate::archive::staging::CommandStaging;
use crate::archive::{Archive, ArchiveSettings};
use crate::shell::env::command_id;
use crate::shell::message::{GuardStart, Hold, Start};
use crate::shell::places::PathClasses;
use crate::workspace::Workspace;

/// Returns the parts that answer a command's calls; none: no call of it waits. `hold` is called with each call that waits
/// for the person, `notice` with what they are told.
///
/// # Errors
/// When the workspace, its archive or the staging folder cannot be opened.
pub fn answering(
    start: &Start,
    hold: impl Fn(Hold) + Send + Sync + 'static,
    notice: impl Fn(String) + Send + Sync + 'static,
) -> io::Result<Option<Answering>> {
    if start.guard.is_none() && start.view.is_none() {
        return Ok(None);
    }
    let consents = Arc::new(Mutex::new(Consents::new(start.holds.clone())));
    let keeping = start.guard.as_ref().map(|with| keeping(start, with, &consents)).transpose()?;
    let above = rustix::process::getppid();
    let id = command_id(&start.variables).to_string();
    let told = move |what: String| notice(format!("{id} {what}"));
    let policy = |bounds| ConnectionPolicy::new(bounds, above, Arc::clone(&consents), told);
    let network = start.bounds.clone().map(policy).map(Arc::new);
    let home = start.view.as_ref().map(|view| view.home.clone());
    let held = Arc::new(HeldCalls::new(consents, hold));
    Ok(Some(Answering { keeping: keeping.map(|keeping| Arc::new(Mutex::new(keeping))), network, home, held }))
}

/// Returns the keeper of states before.
fn keeping(start: &Start, with: &GuardStart, consents: &Arc<Mutex<Consents>>) -> io::Result<Keeping> {
    let staging = start.staging.as_ref().ok_or(io::ErrorKind::InvalidInput)?;
    let workspace = Workspace::open(&with.root).map_err(io::Error::other)?;
    let workspace = workspace.with_folders(&with.folders, with.private.clone());
    let workspace = with.protected.iter().fold(workspace, |workspace, folder| workspace.protect(folder));
    let settings = ArchiveSettings { folder: Some(with.archive.clone()), exclude: with.exclude.clone() };
    let archive = Archive::open(&workspace, &settings).map_err(io::Error::other)?;
    let places = PathClasses::new(&workspace, &archive, &with.places);
    let staging = CommandStaging::open(staging)?;
    let bounds = start.bounds.clone().or_else(|| with.bounds.clone());
    Ok(Keeping::new(places, with.limits, bounds, staging, Arc::clone(consents)))
}
