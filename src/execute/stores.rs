//! The stores that a change goes to: workspace, archive and memory.

use std::path::Path;

use crate::archive::restore::{is_damaged, state_sha};
use crate::archive::{self, Archive, Version};
use crate::disk;
use crate::memory::{self, LeftState, Memory, ReviewDecision};
use crate::proposal::State;
use crate::text::name::text_of;
use crate::workspace::{Access, PathError, Workspace};

/// The stores that a change goes to.
#[derive(Clone, Copy)]
pub struct Stores<'a> {
    /// The files.
    pub workspace: &'a Workspace,
    /// The archive of those files.
    pub archive: &'a Archive,
    /// The record of who changed them, and why.
    pub memory: &'a Memory,
}

impl Stores<'_> {
    /// Returns the workspace's root, as memory names projects.
    pub fn project(&self) -> String {
        self.workspace.root().to_string_lossy().into_owned()
    }

    /// Records what was decided about changesets and why, safe against power loss when this returns. The time of the
    /// archive's folder tells it to another nebula that watches there; memory is written too often to be watched.
    ///
    /// # Errors
    /// When memory cannot be written.
    pub fn decide(
        &self,
        changesets: &[String],
        decision: ReviewDecision,
        reason: Option<&str>,
    ) -> Result<(), memory::Error> {
        self.memory.review(&self.project(), changesets, decision, reason)?;
        // Where it cannot be set, the other one sees it when it looks next.
        let _ = disk::touch(self.archive.folder());
        Ok(())
    }

    /// Returns the normalised path of a file as it is really written; or of the link itself, where only that has been
    /// archived. One outside the workspace counts where it has versions.
    ///
    /// # Errors
    /// When it is no path that nebula may change.
    pub fn archived_path(&self, base: &Path, file: &str) -> Result<String, PathError> {
        let has_versions = |path: &str| self.archive.versions(path).is_ok_and(|versions| !versions.is_empty());
        match self.workspace.resolve_from(base, file, Access::Entry) {
            Ok(path) if has_versions(&path) => Ok(path),
            Err(PathError::Outside { real, .. }) if has_versions(&text_of(real.as_os_str())) => {
                Ok(text_of(real.as_os_str()).into_owned())
            }
            _ => self.workspace.resolve_from(base, file, Access::File),
        }
    }

    /// Returns the folder of a Strand store, from the workspace's root on; `.` is the root itself, and one that lies
    /// elsewhere is named by its absolute path.
    #[cfg(feature = "strand")]
    pub(super) fn named(&self, opening: &crate::strand::cli::Opening) -> String {
        let real = opening.root().canonicalize();
        let real = real.as_deref().unwrap_or(opening.root());
        match real.strip_prefix(self.workspace.root()).unwrap_or(real).to_string_lossy() {
            root if root.is_empty() => ".".into(),
            below => below.into_owned(),
        }
    }

    /// Returns the state that a version of a path holds.
    ///
    /// # Errors
    /// When it is gone, cannot be read, or is not what memory says was archived.
    pub fn show(&self, path: &str, version: &Version) -> Result<State, archive::Error> {
        let state = self.archive.show(version)?;
        let archived = self.memory.version_hash(&self.project(), path, &version.id.to_string());
        match is_damaged(&state, self.memory.or_report(archived)) {
            true => Err(archive::Error::DamagedVersion { path: path.into(), id: version.id }),
            false => Ok(state),
        }
    }

    /// Returns the state that a changeset left, by the version of the path that it made old; `met` as in [`Stores::left`].
    ///
    /// # Errors
    /// When memory cannot be read.
    pub fn left_by(&self, path: &str, version: archive::Id, met: State) -> Result<State, memory::Error> {
        let version = version.to_string();
        let left = self.memory.left_states(&self.project(), path)?;
        self.left(path, left.iter().find(|(of, _)| *of == version).map(|(_, left)| left), met)
    }

    /// Returns the state that a changeset left at a path, where its bytes are kept; else the one that was met there next,
    /// which someone else may have changed before.
    ///
    /// # Errors
    /// When memory cannot be read.
    pub fn left(&self, path: &str, left: Option<&LeftState>, met: State) -> Result<State, memory::Error> {
        let Some(sha) = left.and_then(|left| left.sha256).filter(|sha| *sha != state_sha(&met)) else {
            return Ok(met);
        };
        let Some(sha) = sha else { return Ok(State::Absent) };
        Ok(match self.memory.bytes_left(&self.project(), path, &sha)? {
            Some(bytes) => State::File { bytes: bytes.into(), mode: met.mode() },
            None => met,
        })
    }
}
