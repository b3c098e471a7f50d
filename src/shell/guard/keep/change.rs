//! The states before one change, whatever its kind.

use std::path::Path;

use super::super::change::{Made, PathChange};
use super::super::reach::meta_at;
use super::{Keeping, Verdict};

impl Keeping {
    /// Keeps what a call is about to change.
    pub fn keep_change(&mut self, change: &PathChange) -> Verdict {
        match change {
            PathChange::Lose(path) => self.configs.remove(path),
            PathChange::Mode(path, _) => self.configs.excuse(path),
            _ => {}
        }
        let has = |flags: u64, flag: u32| flags & u64::from(flag) != 0;
        match change {
            PathChange::Write(path, _) if self.places.is_proof(path) => self.refuse(path),
            PathChange::Write(path, makes) => self.write(path, *makes),
            PathChange::Lose(path) if self.places.holds_proof(path) => self.refuse(path),
            PathChange::Lose(path) => self.lose(path),
            PathChange::LoseFolder(path) => {
                self.note_attributes(path)?;
                self.lose_folder(path)
            }
            PathChange::Make(path, made) => self.make(path, *made == Made::Folder),
            PathChange::MakeUnnamed(path) => self.make_unnamed(path),
            PathChange::Rename(_, new, flags) if has(*flags, libc::RENAME_NOREPLACE) && meta_at(new).is_ok() => Ok(()),
            PathChange::Rename(old, new, flags) => self.rename(old, new, has(*flags, libc::RENAME_EXCHANGE)),
            PathChange::SecondName(old, new) => self.second_name(old, new),
            PathChange::Mode(path, to) => self.set_mode(path, *to),
            // A command may give no file to another user.
            PathChange::Group(path, to) => {
                self.note_group(path, *to as u32)?;
                self.set_mode(path, None)
            }
            PathChange::Times(path) => self.set_times(path),
            PathChange::Lock(path) => self.lock_file(path),
        }
    }

    fn set_mode(&mut self, path: &Path, to: Option<u64>) -> Verdict {
        match meta_at(path).is_ok_and(|meta| meta.is_dir()) {
            true => self.lose_folder(path),
            false => self.change_mode(path, to.map(|to| to as u32)),
        }
    }

    /// Keeps anew what the calls are about to change that went on before the states were begun anew.
    pub fn keep_under_way(&mut self) {
        for change in self.under_way.changes() {
            // Its call went on: there is nothing to refuse, and nobody to ask.
            let _ = self.keep_change(&change);
            self.question = None;
        }
    }
}
