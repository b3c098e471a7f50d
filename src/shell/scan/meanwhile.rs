//! Changes that someone else made after a command was over, and before it was looked at: its nebula was gone.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use super::{ScanEntry, ScanError, at, copy};
use crate::archive::staging::{CommandStaging, JournalLine, StagedKind};
use crate::proposal::REPOSITORY;
use crate::shell::places::PathClasses;

/// The most files of a repository that are kept as a command left them, and the largest of them.
const MOST_LEFT: usize = 4_096;
const LARGEST_LEFT: u64 = 16 << 20;

/// Keeps what a command that is over left of the repository at `root`, but for its objects, as far as it is not too much:
/// the repository comes back as a whole, and git writes to it even where it only looks.
pub fn note_repository(root: &Path, staging: &mut CommandStaging) {
    let (mut folders, mut left) = (vec![PathBuf::from(REPOSITORY)], MOST_LEFT);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(root.join(&folder)).into_iter().flatten().flatten() {
            let path = folder.join(entry.file_name());
            let (Some(name), Ok(about)) = (path.to_str(), entry.metadata()) else { continue };
            let is_kept = ![".git/objects", ".git/lfs"].contains(&name) && !name.ends_with(".lock");
            if about.is_dir() && is_kept {
                folders.push(path);
            } else if about.is_file() && is_kept && left > 0 && about.len() <= LARGEST_LEFT {
                left -= 1;
                let (to, staged) = staging.new_name();
                let mode = about.permissions().mode() & 0o7777;
                // Without it the present state counts as another's.
                let _ = fs::copy(root.join(name), to).and_then(|_| staging.add_left(name, Some((staged, mode))));
            }
        }
    }
}

impl ScanEntry {
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
        let line = JournalLine { staged, again: true, ..JournalLine::of(path, kind, mode) };
        staging.add(&line).map_err(at(&folder))
    }
}
