//! The context of a tool's run, and its progress.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use sha2::{Digest, Sha256};
use tokio::sync::mpsc::UnboundedSender;

use super::drift;
use crate::edit::bare_path;
use crate::proposal::State;
use crate::shell::Commands;
use crate::workspace::{Access, PathError, Workspace};

/// SHA-256 of a file's bytes.
pub type ContentHash = [u8; 32];

/// The version of a file that a session has read or written.
#[derive(Debug, Clone)]
pub struct FileVersion {
    /// The SHA-256 of its bytes.
    pub sha: ContentHash,
    /// The text, where it is one of a bearable size.
    pub text: Option<Arc<str>>,
}

impl FileVersion {
    /// Returns what changed since, for the model; `None`: nothing did, or the text is not known.
    pub fn drift(&self, now: &State) -> Option<String> {
        let read = self
            .text
            .as_ref()
            .filter(|_| now.bytes().is_none_or(|b| self.sha != ContentHash::from(Sha256::digest(b))))?;
        drift::since_read(&State::file(read.as_bytes()), now)
    }
}

/// The context of a tool's run.
#[derive(Debug, Clone)]
pub struct ToolContext {
    /// The workspace, for reading.
    pub workspace: Arc<Workspace>,
    /// The files this session has read or written, by normalised path.
    pub versions: Arc<HashMap<String, FileVersion>>,
    /// The path outside the workspace that the call was approved to read.
    pub approved: Option<PathBuf>,
    /// The commands of the session.
    pub commands: Arc<Commands>,
    /// The longest text of a file that the model's window has room for, in bytes.
    pub longest: usize,
}

/// Receives the progress messages of a run.
#[derive(Debug, Clone, Default)]
pub struct Progress(Option<UnboundedSender<String>>);

impl Progress {
    /// Creates a progress that sends each line.
    pub fn to(lines: UnboundedSender<String>) -> Self {
        Progress(Some(lines))
    }

    /// Tells how far the run is, in a word or two.
    pub fn say(&self, line: impl Into<String>) {
        if let Some(lines) = &self.0 {
            // Nobody listens any more once the call is over.
            let _ = lines.send(line.into());
        }
    }
}

/// The target of a read.
#[derive(Debug)]
pub enum ReadTarget {
    /// Into the workspace: the normalised path.
    Inside(String),
    /// The path is outside the workspace, and the person approved it.
    Approved(PathBuf),
    /// The path is outside the workspace, and the person was not asked yet.
    Outside(PathBuf),
}

impl ToolContext {
    /// Returns the normalised path of a file in the workspace, which need not exist yet.
    ///
    /// # Errors
    /// When the path may not be used; the text says why.
    pub fn inside(&self, path: &str) -> Result<String, String> {
        self.workspace.resolve(path, Access::File).map_err(|e| e.to_string())
    }

    /// Resolves as [`ToolContext::inside`] does, for a link itself rather than what it leads to.
    ///
    /// # Errors
    /// As there.
    pub fn entry(&self, path: &str) -> Result<String, String> {
        self.workspace.resolve(path, Access::Entry).map_err(|e| e.to_string())
    }

    /// Returns a path without quotes, a label or the number of a line around it, where nothing is at the path as it
    /// stands and something at what remains.
    pub fn without_extras<'p>(&self, path: &'p str, access: Access) -> &'p str {
        let is_there = |path: &str| {
            let resolved = self.workspace.resolve(path, access);
            resolved.is_ok_and(|path| self.workspace.root().join(path).symlink_metadata().is_ok())
        };
        let bare = bare_path(path);
        if bare != path && !is_there(path) && is_there(bare) { bare } else { path }
    }

    /// Returns where a read leads: into the workspace, or out of it where the person approved or must be asked.
    ///
    /// # Errors
    /// When the path may not be read at all.
    pub fn reading(&self, path: &str, access: Access) -> Result<ReadTarget, String> {
        let path = self.without_extras(path, access);
        match self.workspace.resolve(path, access) {
            Ok(path) => Ok(ReadTarget::Inside(path)),
            Err(PathError::Outside { real, .. }) if self.approved.as_ref() == Some(&real) => {
                Ok(ReadTarget::Approved(real))
            }
            Err(PathError::Outside { real, .. }) => Ok(ReadTarget::Outside(real)),
            Err(e) => Err(e.to_string()),
        }
    }

    /// Returns whether something is at a normalised path.
    pub fn exists(&self, path: &str) -> bool {
        self.workspace.stamp(path).is_some()
    }

    /// Checks that a file exists and was read in this session. One that changed since passes where the text that was
    /// read is known: the edit is merged then, or refused.
    ///
    /// # Errors
    /// When it was not; the text says to read it.
    pub fn must_be_read(&self, path: &str) -> Result<(), String> {
        let read = self.workspace.read_whole(path).map_err(|e| e.to_string())?;
        let State::File { bytes, .. } = &read.state else {
            return Err(format!("{path} does not exist: writeFile makes new files"));
        };
        match self.versions.get(path) {
            None => Err(format!(
                "{path} was not read in this session: read it with readFile first, then hand over its complete new content"
            )),
            Some(version) if version.text.is_none() && version.sha != ContentHash::from(Sha256::digest(bytes)) => {
                Err(format!("{path} changed on disk since it was read: read it again with readFile, then edit"))
            }
            Some(_) => Ok(()),
        }
    }
}
