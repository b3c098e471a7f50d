//! States that are kept again: where someone else put another file in the place of one that was kept, that file's state is
//! no work of the command. It is known by its inode, where no call of the command may have set that.
//!
//! Not seen is what someone else writes into the same inode, as the command's own writes into it are not seen either; nor
//! another file in the place of one that the command made, moved or removed itself.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use super::super::names::inode;
use super::{Keeping, Verdict, is_below};
use crate::archive::staging::{JournalLine, StagedKind};

impl Keeping {
    /// Returns whether someone else put a file there whose path was kept before.
    pub(super) fn is_from_another(&mut self, name: &str, meta: &Metadata) -> bool {
        if self.loose.contains(name) || is_below(name, &self.loose_folders) {
            return false;
        }
        let now = inode(meta);
        // At the first look it is what the command itself has made.
        *self.own.entry(name.to_string()).or_insert(now) != now
    }

    /// Keeps the bytes of a file that someone else put there.
    pub(super) fn copy_again(&mut self, path: &Path, name: &str, meta: &Metadata) -> Verdict {
        let (to, staged) = self.staging.new_name();
        if self.copy_to((path, &to), meta, path, true)? {
            self.add(JournalLine {
                path: name.to_string(),
                kind: StagedKind::File,
                mode: meta.mode() & 0o7777,
                staged: Some(staged),
                inode: JournalLine::COPY,
                kept: 0,
                again: true,
            })?;
        }
        self.note_another(name, meta)
    }

    /// Notes a file that someone else put there, once its state is kept: from here on the command may change it.
    pub(super) fn note_another(&mut self, name: &str, meta: &Metadata) -> Verdict {
        self.own.insert(name.to_string(), inode(meta));
        if !self.summary.meanwhile.iter().any(|named| named == name) {
            self.summary.meanwhile.push(name.to_string());
        }
        Ok(())
    }

    /// Notes that the command itself may put other files at these paths: what is there is not known any more.
    pub(super) fn set_loose(&mut self, paths: &[&Path], is_folder: bool) {
        for path in paths {
            if let Some(name) = self.inside(path).to_str().map(str::to_string) {
                if is_folder {
                    self.loose_folders.insert(format!("{name}/"));
                }
                self.loose.insert(name);
            }
        }
    }

    /// Notes the same of a path whose file was known.
    pub(super) fn set_own_loose(&mut self, path: &Path) {
        if self.inside(path).to_str().is_some_and(|name| self.own.contains_key(name)) {
            self.set_loose(&[path], false);
        }
    }
}
