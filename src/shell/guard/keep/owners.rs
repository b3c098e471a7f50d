//! Owners, groups and attributes, which no version holds: what an undo does not bring back of them is named.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use rustix::process::{getegid, geteuid, getgroups};

use super::super::reach::meta_at;
use super::{Keeping, Verdict};
use crate::disk::attributes_at;
use crate::shell::places::PathClass;

/// The bit with which what is made in a folder gets the folder's group.
const SET_GROUP: u32 = 0o2000;

impl Keeping {
    /// Names a file that is about to get another group, where the kernel lets its owner do that.
    pub fn note_group(&mut self, path: &Path, to: u32) -> Verdict {
        let Ok(meta) = meta_at(path) else { return Ok(()) };
        let is_own = || to == getegid().as_raw() || getgroups().is_ok_and(|own| own.iter().any(|id| id.as_raw() == to));
        let changes = to != u32::MAX && to != meta.gid() && meta.uid() == geteuid().as_raw();
        if !changes || !is_own() || self.is_new(&self.name(path)) {
            return Ok(());
        }
        match self.class(path, meta.is_dir()) {
            PathClass::Kept => self.unarchived(path, "its group: an undo does not bring it back"),
            _ => Ok(()),
        }
    }

    /// Names a file or an empty folder that goes with an access list, attributes or capabilities, which no version holds.
    pub(super) fn note_attributes(&mut self, path: &Path) -> Verdict {
        let has = attributes_at(path).join(", ");
        let is_kept = || self.class(path, false) == PathClass::Kept && !self.is_new(&self.name(path));
        if has.is_empty() || !is_kept() {
            return Ok(());
        }
        self.unarchived(path, &format!("its {has}: an undo brings it back without"))
    }

    /// Names a kept file that goes, where what an undo makes in its place is of another user or group.
    pub(super) fn note_owner(&mut self, path: &Path, whose: Option<&Metadata>) -> Verdict {
        let Some(meta) = whose.filter(|meta| meta.is_file()) else { return Ok(()) };
        let above = path.parent().and_then(|above| meta_at(above).ok());
        let gives = above.filter(|above| above.mode() & SET_GROUP != 0).map(|above| above.gid());
        let comes_back = meta.uid() == geteuid().as_raw() && meta.gid() == gives.unwrap_or(getegid().as_raw());
        if comes_back || self.is_new(&self.name(path)) {
            return Ok(());
        }
        self.unarchived(path, "its owner and group: an undo brings it back as your own")
    }
}
