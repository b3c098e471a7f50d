//! Staged hard links: they share their bytes with the file's other names until one of these is written.

use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::super::names::{has_others, inode, own_names};
use super::super::path::is_descriptor;
use super::super::reach::reach;
use super::copies::copy_file;
use super::{Keeping, Linked, Verdict, number};

impl Keeping {
    /// Prepares the writing of a file wherever it lies now: the staged hard links to it get bytes of their own.
    pub(super) fn part_shared(&mut self, path: &Path) -> Verdict {
        if self.linked.is_empty() && self.sealed.is_empty() {
            return Ok(());
        }
        let Ok(meta) = reach(path, |path| fs::metadata(path)) else { return Ok(()) };
        let own = inode(&meta);
        // Its number alone may be another file's by now: in the archive it has a name more.
        let sealed = self.sealed.get(&own).filter(|_| meta.nlink() > own_names(path)).cloned();
        // What has a name now is named by that: the one it was kept under may be another file's.
        let now = |kept: &PathBuf| if is_descriptor(path) { kept.clone() } else { path.to_path_buf() };
        if let Some(kept) = sealed {
            self.unarchived(&now(&kept), "it is in the archive: writing to it through a descriptor was refused")?;
            return Err(libc::EACCES);
        }
        let Some(links) = self.linked.remove(&own) else { return Ok(()) };
        let parted = self.part(&links, Some((&meta, &now(&links[0].path))));
        if parted.is_err() {
            self.linked.insert(own, links);
        }
        parted
    }

    /// Separates the staged files before the archive takes them: what has another name goes on being written there.
    /// What has none can be reached through a descriptor alone, and stays the archive's.
    pub(super) fn part_all(&mut self) {
        for (own, links) in std::mem::take(&mut self.linked) {
            let staged = self.staging.folder().join(&links[0].staged);
            let has_more = fs::symlink_metadata(staged).is_ok_and(|meta| meta.nlink() > links.len() as u64);
            if !has_more || self.part(&links, None).is_err() {
                self.sealed.insert(own, links[0].path.clone());
            }
        }
    }

    /// Gives staged hard links of one file bytes of their own; `limited`: the copy counts as one of the command's, which is
    /// about to write that path. The copy takes each place under a number of the staging folder, not under a temporary
    /// name of `disk`: what a killed keeper leaves is told apart and removed there by its number.
    fn part(&mut self, links: &[Linked], limited: Option<(&Metadata, &Path)>) -> Verdict {
        let folder = self.staging.folder().to_path_buf();
        let shared = folder.join(&links[0].staged);
        let (own, _) = self.staging.new_name();
        match limited {
            Some((meta, path)) => drop(self.copy_to((&shared, &own), meta, path, false)?),
            None => fs::symlink_metadata(&shared)
                .and_then(|meta| copy_file(&shared, &own, &meta))
                .map_err(|error| number(&error))?,
        }
        let mut replace = |staged: &str| {
            let (next, _) = self.staging.new_name();
            fs::hard_link(&own, &next)?;
            fs::rename(&next, folder.join(staged))
        };
        links.iter().try_for_each(|link| replace(&link.staged)).map_err(|error| number(&error))?;
        fs::remove_file(&own).map_err(|error| number(&error))
    }

    /// Keeps the other names of a file that is not archived itself before it is written: under its other names it may
    /// be.
    pub(super) fn keep_other_names(&mut self, path: &Path, meta: Option<&Metadata>) -> Verdict {
        let Some(meta) = meta.filter(|meta| has_others(path, meta)) else { return Ok(()) };
        match self.copied.contains(&inode(meta)) {
            true => Ok(()),
            false => {
                let names = self.names.others(&self.places, inode(meta), path);
                self.copy_names(names, meta)
            }
        }
    }
}
