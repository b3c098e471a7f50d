//! The archive of a workspace as it is served: what its tools work on.

use std::cell::OnceCell;

use anyhow::Result;
use serde::Deserialize;
use tokio_util::sync::CancellationToken;

use super::refusal::ToolRefusal;
use crate::archive::{Archive, Restoration};
use crate::cli::Context;
use crate::cli::args::ServeArgs;
use crate::cli::files::reconcile_killed;
use crate::cli::out::complain;
use crate::execute::Stores;
use crate::execute::store::StoreRevert;
use crate::mcp::ConsentQuestion;
use crate::memory::Memory;
use crate::restore_plan::RestorePlan;
use crate::text::schema::PageLimit;

/// Entries of a list unless another number is asked for.
pub(super) const CHANGESETS: usize = 50;
pub(super) const VERSIONS: usize = 200;
pub(super) const HITS: usize = 20;

/// The archive of a workspace, and what memory knows of it.
pub(super) struct ArchiveTools {
    context: Context,
    archive: Archive,
    /// Opened when it is first needed: a client that only shakes hands does not wait for it.
    memory: OnceCell<Memory>,
    pub(super) allow_restore: bool,
    pub(super) sessions: bool,
    /// Restores that wait for the person.
    pub(super) waiting: Vec<WaitingRestore>,
}

/// A restore that waits for the person. What is written is what was looked at for the question, or nothing.
pub(super) struct WaitingRestore {
    pub ticket: String,
    pub plan: RestorePlan,
    pub restoration: Restoration,
    pub revert: Option<StoreRevert>,
}

/// The outcome of a tool, as far as it came.
pub(super) enum RestoreStep {
    /// It is done.
    Done(serde_json::Value),
    /// The person is asked.
    Ask(ConsentQuestion),
}

impl ArchiveTools {
    /// Opens the archive of a workspace.
    ///
    /// # Errors
    /// When it cannot be used.
    pub(super) fn open(context: Context, args: &ServeArgs) -> Result<Self> {
        let archive = context.archive()?;
        let (allow_restore, sessions) = (args.allow_restore, args.sessions);
        Ok(ArchiveTools { context, archive, memory: OnceCell::new(), allow_restore, sessions, waiting: Vec::new() })
    }

    /// Returns what the commands about the archive work on.
    pub(super) fn stores(&self) -> Stores<'_> {
        let memory = self.memory.get_or_init(|| self.context.memory());
        Stores { workspace: &self.context.workspace, archive: &self.archive, memory }
    }

    /// Lets what reads and saves end once this is cancelled.
    pub(super) fn stop_with(&mut self, stop: &CancellationToken) {
        self.archive = self.archive.stopped_by(stop);
    }

    /// Returns the archive alone.
    pub(super) fn archive(&self) -> &Archive {
        &self.archive
    }

    /// Returns the normalised path of a file that a client names.
    pub(super) fn path(&self, given: &str) -> Result<String, ToolRefusal> {
        Ok(self.stores().archived_path(self.context.workspace.root(), given)?)
    }

    /// Takes in what killed processes left, as the commands do.
    pub(super) fn reconcile(&self) -> Result<(), ToolRefusal> {
        let (lines, reconciled) = reconcile_killed(self.stores())?;
        lines.iter().for_each(complain);
        self.stores().memory.or_report(reconciled);
        Ok(())
    }
}

/// Arguments that name a page.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ListArgs {
    pub path: Option<String>,
    pub limit: Option<PageLimit>,
    pub before: Option<String>,
}
