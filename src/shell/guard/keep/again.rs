//! States that are kept again: where someone else put another file in the place of one that was kept, that file's state is
//! no work of the command. It is known by its inode, where no call of the command may have set that.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use super::super::names::inode;
use super::{Keeping, Verdict};
use crate::archive::staging::{JournalLine, StagedKind};

impl Keeping {
    /// Keeps a file again whose path was kept before, where someone else put it there.
    pub(super) fn keep_again(&mut self, path: &Path, name: &str, meta: &Metadata) -> Verdict {
        if self.loose_folders || self.loose.contains(name) {
            return Ok(());
        }
        let now = inode(meta);
        match self.own.insert(name.to_string(), now) {
            Some(own) if own != now => {}
            // The first look at what the command itself has made.
            _ => return Ok(()),
        }
        let (to, staged) = self.staging.new_name();
        if !self.copy_to((path, &to), meta, path, true)? {
            return Ok(());
        }
        self.note_other_hand(name);
        self.add(JournalLine {
            path: name.to_string(),
            kind: StagedKind::File,
            mode: meta.mode() & 0o7777,
            staged: Some(staged),
            inode: JournalLine::COPY,
            kept: 0,
            again: true,
        })
    }

    fn note_other_hand(&mut self, name: &str) {
        let name = name.to_string();
        if !self.summary.meanwhile.contains(&name) {
            self.summary.meanwhile.push(name);
        }
    }

    /// Notes that the command itself may put other files at these paths: what is there is not known any more.
    pub(super) fn set_loose(&mut self, paths: &[&Path], is_folder: bool) {
        self.loose_folders |= is_folder;
        for path in paths {
            if let Some(name) = self.inside(path).to_str().map(str::to_string) {
                self.loose.insert(name);
            }
        }
    }
}
