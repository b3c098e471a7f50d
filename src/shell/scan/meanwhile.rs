//! Changes that someone else made after a command was over, and before it was looked at: its nebula was gone.

use std::fs;
use std::os::unix::fs::symlink;

use super::{Entry, ScanError, at, copy};
use crate::archive::staging::{CommandStaging, JournalLine, StagedKind};
use crate::shell::places::PathClasses;

impl Entry {
    /// Returns whether it was changed after this time, in seconds and nanoseconds. A folder's times tell nothing of that.
    pub(super) fn is_after(&self, over: Option<(i64, i64)>) -> bool {
        let changed = (self.stat.3, self.stat.4);
        self.kind != StagedKind::Folder && over.is_some_and(|over| changed > over)
    }

    /// Adds what is at a path now as a state that someone else made of it: the state before, which stands in the journal
    /// already, is that of no change of the command.
    pub(super) fn add_again(&self, places: &PathClasses, staging: &mut CommandStaging) -> Result<(), ScanError> {
        let (mut copied, folder) = (self.clone(), staging.folder().to_path_buf());
        copy(places, &mut copied, &folder).map_err(at(&folder))?;
        let (to, name) = staging.new_name();
        let made = match copied.kind {
            StagedKind::Link => symlink(&copied.copy, &to),
            _ => fs::rename(folder.join(&copied.copy), &to),
        };
        made.map_err(at(&to))?;
        let (path, kind, mode, staged) = (copied.path, copied.kind, copied.mode, Some(name));
        let line = JournalLine { path, kind, mode, staged, inode: JournalLine::COPY, kept: 0, again: true };
        staging.add(&line).map_err(at(&folder))
    }
}
