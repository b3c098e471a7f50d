//! Paths that are a file at one time and a folder at another, where processes race: between the guard's look at a call and
//! the call itself another one may take away what is in its way. Only one of the two was there before.

use std::fs::Metadata;
use std::path::Path;

use super::{Keeping, Verdict};
use crate::archive::staging::StagedKind;
use crate::shell::places::{PathClass, holds_objects, is_cache};

impl Keeping {
    /// Notes that no file, or no `folder`, is at a path where the other of the two is. A call that makes one fails, unless
    /// that goes before the kernel looks.
    pub(super) fn may_replace(&mut self, path: &Path, there: &Metadata, folder: bool) -> Verdict {
        match (there.is_dir(), folder) {
            (true, false) if self.class(path, true) != PathClass::Kept => Ok(()),
            // The folder first: what is noted of the file alone says that there was no folder.
            (true, false) => self.folder(path, there).and_then(|()| self.absent(path)),
            (false, true) => self.note(path, StagedKind::Absent, 0, true),
            _ => Ok(()),
        }
    }

    /// Returns whether a file or link was not there before: it lies in a new folder, or in the place of an old one.
    pub(super) fn is_new(&self, name: &str) -> bool {
        !self.archived.contains(name) && (self.is_in_new(name) || self.was_folder(name))
    }

    /// Returns whether a path lies in a folder that was not there before. What other threads moved there between the
    /// guard's look and the call was not there either.
    pub(super) fn is_in_new(&self, name: &str) -> bool {
        let is_new = |end: usize| self.new_folders.contains(&name[..=end]) || self.was_no_folder(&name[..end]);
        name.match_indices('/').any(|(end, _)| is_new(end))
    }

    /// Returns the class of a path. A cache that programs fill beside their files, in a folder that was not there before,
    /// goes with that: what is made in it is noted.
    pub(super) fn class(&self, path: &Path, is_folder: bool) -> PathClass {
        match self.places.of(path, is_folder) {
            PathClass::Derived(folder) if is_cache(&folder) && self.is_in_new(folder.trim_end_matches('/')) => {
                match self.places.archive().excluded_by(&self.name(path)) {
                    Some(glob) => PathClass::Excluded(glob.to_string()),
                    None => PathClass::Kept,
                }
            }
            class => class,
        }
    }

    /// Counts a change in a folder that is not kept. The objects of a repository that was made go with it.
    pub(super) fn count_derived(&mut self, folder: String) {
        if !(holds_objects(&folder) && self.is_in_new(&folder)) {
            *self.summary.derived.entry(folder).or_default() += 1;
        }
    }

    /// Returns whether something else than a folder, or nothing, was at a path when that was first kept.
    pub(super) fn was_no_folder(&self, name: &str) -> bool {
        self.saved.contains(name) && !self.saved.contains(&format!("{name}/"))
    }

    /// Returns whether a folder was at a path when that was first kept.
    fn was_folder(&self, name: &str) -> bool {
        let folder = format!("{name}/");
        self.saved.contains(&folder) && !self.new_folders.contains(&folder)
    }
}
