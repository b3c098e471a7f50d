//! States that are kept again: where someone else changed a file that was kept, that file's state is no work of the
//! command. It is known by its inode, where no call of the command may have set that, and by the state in which the
//! command left it.
//!
//! Not seen is what someone else writes while the command may still be writing the same file, or before it was seen that
//! it had left it.

use std::collections::{BTreeSet, HashSet};
use std::ffi::OsStr;
use std::fs::{self, Metadata, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::Instant;

use super::super::call::Notification;
use super::super::names::{Inode, inode, meta_of};
use super::super::reach::{is_nothing, meta_at, reach};
use super::left::open_files;
use super::{Keeping, Verdict, is_below, number};
use crate::archive::staging::{JournalLine, StagedKind};
use crate::proposal::is_in_repository;
use crate::text::name;

/// The most files that are kept as a command left them which nobody seals, the largest of them, and the most bytes of all.
const MOST_AT_END: usize = 4_096;
const LARGEST_AT_END: u64 = 4 << 20;
const MOST_BYTES_AT_END: u64 = 64 << 20;

impl Keeping {
    /// Returns whether someone else put a file there whose path was kept before.
    pub(super) fn is_from_another(&mut self, name: &str, meta: &Metadata) -> bool {
        if let Some(another) = self.left.is_from_another(name, Some(meta)) {
            return another;
        }
        if self.is_loose(name) {
            return false;
        }
        let now = inode(meta);
        // At the first look it is what the command itself has made.
        let known = self.own.entry(name.to_string()).or_insert(now);
        let another = is_another(*known, now);
        *known = if another { *known } else { now };
        another
    }

    /// Adds a line to the journal; that of a path that was kept before is a later state of it, before which stands what the
    /// command had left there, as far as that is known.
    pub(super) fn add(&mut self, saved: JournalLine) -> Verdict {
        if !self.places.is_root_in_place() {
            // What was looked at lies in another folder, which has the root's place.
            return Err(libc::ESTALE);
        }
        let again = self.saved.contains(&saved.path) || self.archived.contains(&saved.path);
        if let Some(left) = self.left.take_bytes(&saved.path).filter(|_| again) {
            self.note_left_bytes(&saved.path, left);
        }
        self.staging.add(&JournalLine { again, ..saved.clone() }).map_err(|e| number(&e))?;
        self.saved.insert(saved.path);
        Ok(())
    }

    /// Stages what the command had left at a path. Where that fails, what of it is the command's is not known.
    fn note_left_bytes(&mut self, name: &str, left: Option<(Vec<u8>, u32)>) {
        let staged = left.map(|(bytes, mode)| {
            let (to, staged) = self.staging.new_name();
            let mut options = OpenOptions::new();
            let file = options.write(true).create_new(true).mode(0o600).open(to);
            file.and_then(|mut file| file.write_all(&bytes)).map(|()| (staged, mode))
        });
        if let Ok(staged) = staged.transpose() {
            let _ = self.staging.add_left(name, staged);
        }
    }

    /// Keeps the bytes of a file that someone else put there.
    pub(super) fn copy_again(&mut self, path: &Path, name: &str, meta: &Metadata) -> Verdict {
        let (to, staged) = self.staging.new_name();
        if self.copy_to((path, &to), meta, path, true)? {
            self.add(JournalLine {
                staged: Some(staged),
                again: true,
                ..JournalLine::of(name.to_string(), StagedKind::File, meta.mode() & 0o7777)
            })?;
        }
        self.note_another(name, meta)
    }

    /// Notes a file that someone else put there, once its state is kept: from here on the command may change it.
    pub(super) fn note_another(&mut self, name: &str, meta: &Metadata) -> Verdict {
        self.own.insert(name.to_string(), inode(meta));
        self.left.take_up(name, meta);
        self.summary.add_meanwhile(name.to_string());
        Ok(())
    }

    /// Notes the call that is about to be answered.
    pub fn begin_call(&mut self, call: &Notification) {
        self.begin_archived_anew();
        self.configs.begin_call();
        self.left.begin(*call);
    }

    /// Begins anew with the paths whose states were archived when someone else's change of them was: what is there now is
    /// kept before it is changed, and at once where it is open for writing.
    fn begin_archived_anew(&mut self) {
        if !self.places.is_root_in_place() {
            return;
        }
        let paths = self.staging.sealed_by_another(self.places.archive()).unwrap_or_default();
        if paths.is_empty() {
            return;
        }
        for path in &paths {
            self.saved.remove(path);
            self.new_folders.remove(path);
            self.own.remove(path);
            self.left.forget(path);
            self.summary.add_meanwhile(path.clone());
        }
        self.archived.extend(paths.iter().cloned());
        self.copied.clear();
        let (open, call) = (open_files(), self.left.call.take());
        let may_wait = std::mem::take(&mut self.copies.may_wait);
        for path in paths.iter().filter(|path| !path.ends_with('/')).map(|path| self.path_of(path)).collect::<Vec<_>>()
        {
            if meta_of(&path).is_some_and(|meta| meta.is_file() && open.contains(&inode(&meta))) {
                // The call that opened it is over: there is nothing to refuse.
                let _ = self.write(&path, false);
                self.question = None;
            }
        }
        (self.copies.may_wait, self.left.call) = (may_wait, call);
    }

    /// Notes that no call is answered: what is kept now is only looked at.
    pub fn end_call(&mut self) {
        self.left.call = None;
    }

    /// Looks which paths the command has left. Every call waits meanwhile.
    pub fn look_for_left(&mut self) {
        if !self.places.is_root_in_place() {
            return;
        }
        self.begin_archived_anew();
        let begun = Instant::now();
        let Some(over) = self.left.take_over() else { return };
        let is_kept = |name: &String| self.saved.contains(name) && !name.ends_with('/');
        let over: Vec<String> = over.into_iter().filter(is_kept).collect();
        if !over.is_empty() {
            let open = open_files();
            over.into_iter().for_each(|name| self.note_left(name, &open));
        }
        self.left.put_off(begun.elapsed());
    }

    /// Notes the state of a path on which no call is under way, unless the file there can be written otherwise.
    fn note_left(&mut self, name: String, open: &HashSet<Inode>) {
        let there = match meta_at(&self.path_of(&name)) {
            Ok(meta) if meta.is_dir() => return,
            Ok(meta) => Some(meta),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(_) => return,
        };
        let own = |meta: &Metadata| self.linked.get(&inode(meta)).map_or(0, |links| links.len() as u64);
        let is_closed = |meta: &Metadata| match meta.is_file() {
            true => !open.contains(&inode(meta)) && meta.nlink() <= 1 + own(meta),
            false => meta.is_symlink(),
        };
        if there.as_ref().is_some_and(|meta| !self.left.tells_of(meta) || !is_closed(meta)) {
            return self.left.put_back(name);
        }
        // Someone else has replaced or removed it already, which its next call or the end of the command sees.
        let is_own = |own: &Inode| there.as_ref().is_some_and(|meta| !is_another(*own, inode(meta)));
        if !self.is_loose(&name) && self.own.get(&name).is_some_and(|own| !is_own(own)) {
            return;
        }
        match there.as_ref().filter(|meta| meta.is_file()) {
            Some(meta) => drop(self.own.insert(name.clone(), inode(meta))),
            None => drop(self.own.remove(&name)),
        }
        self.loose.remove(&name);
        self.left.note(name.clone(), &self.path_of(&name), there.as_ref());
    }

    /// Looks at the files that the command last opened, and at those that it left: where someone else has changed one of
    /// them since, what it left is not what is there now.
    pub fn look_over(&mut self) {
        if !self.places.is_root_in_place() {
            // The workspace itself went, and its files with it.
            return;
        }
        self.begin_archived_anew();
        let open = self.own.keys().filter(|name| !self.is_loose(name));
        let known: BTreeSet<String> = open.chain(self.left.names()).cloned().collect();
        for name in known {
            let path = self.path_of(&name);
            let there = match meta_at(&path) {
                Ok(there) => Some(there),
                Err(error) if is_nothing(&error) => None,
                // The command has closed a folder above it: what is there is not known, and not gone.
                Err(_) => continue,
            };
            if self.is_as_left(&name, there.as_ref()) {
                continue;
            }
            // It is there to stay: what cannot be kept of it is not lost. What is too large to be copied here gets one
            // more name, and is copied when it is archived.
            let _ = match there {
                Some(meta) if meta.is_file() && self.is_within_limits(&meta) => self.copy_again(&path, &name, &meta),
                Some(meta) if meta.is_file() => self.link_large(&name, &path, &meta),
                Some(meta) if meta.is_symlink() => self.link(name.clone(), &path, &meta),
                Some(_) => Ok(()),
                None => self.add(JournalLine { again: true, ..JournalLine::of(name.clone(), StagedKind::Absent, 0) }),
            };
            self.question = None;
            self.own.remove(&name);
            self.left.forget(&name);
            self.summary.add_meanwhile(name);
        }
    }

    /// Stages what the command, which is over, has left at its paths: nobody seals it now, and whoever does it later finds
    /// there what was changed since, too. Those of a repository come first, as far as they are not too many or too large.
    pub fn stage_left(&mut self) {
        if !self.places.is_root_in_place() {
            return;
        }
        let mut names: Vec<String> = self.saved.iter().filter(|name| !name.ends_with('/')).cloned().collect();
        names.sort_by_cached_key(|name| (!is_in_repository(name), name.clone()));
        let mut bytes = 0;
        for name in names.into_iter().take(MOST_AT_END) {
            let path = self.path_of(&name);
            let left = match meta_at(&path) {
                Ok(meta) if meta.is_file() && meta.len() <= LARGEST_AT_END && bytes <= MOST_BYTES_AT_END => {
                    let Ok(read) = reach(&path, |path| fs::read(path)) else { continue };
                    bytes += meta.len();
                    Some((read, meta.mode() & 0o7777))
                }
                Err(error) if error.kind() == io::ErrorKind::NotFound => None,
                _ => continue,
            };
            self.note_left_bytes(&name, left);
        }
    }

    /// Returns whether what is at a path now is what the command put or left there, as far as that is known.
    fn is_as_left(&self, name: &str, there: Option<&Metadata>) -> bool {
        let is_own = |own: &Inode| there.is_some_and(|meta| !is_another(*own, inode(meta)));
        match self.left.is_from_another(name, there) {
            Some(another) => !another,
            None => self.own.get(name).is_none_or(is_own),
        }
    }

    /// Returns where the file of a name lies.
    pub(super) fn path_of(&self, name: &str) -> PathBuf {
        self.places.root().join(name::name_of(OsStr::new(name)))
    }

    /// Notes a file that is kept by one more name.
    pub(super) fn add_linked(&mut self, name: String, staged: String, meta: &Metadata) -> Verdict {
        self.add(JournalLine {
            staged: Some(staged),
            inode: inode(meta),
            ..JournalLine::of(name, StagedKind::File, meta.mode() & 0o7777)
        })
    }

    /// Keeps a file by one more name, which stays one of the same file until it is archived.
    fn link_large(&mut self, name: &str, path: &Path, meta: &Metadata) -> Verdict {
        let (to, staged) = self.staging.new_name();
        match reach(path, |path| fs::hard_link(path, &to)) {
            Ok(()) => self.add_linked(name.into(), staged, meta),
            // Another file system, or another owner's file: the note says that it changed meanwhile.
            Err(_) => Ok(()),
        }
    }

    fn is_loose(&self, name: &str) -> bool {
        self.loose.contains(name) || is_below(name, &self.loose_folders)
    }

    /// Notes that the command itself may put other files at these paths: what is there is not known any more.
    pub(super) fn set_loose(&mut self, paths: &[&Path], is_folder: bool) {
        for path in paths {
            let name = self.name(path);
            self.left.touch(name.clone(), is_folder);
            if is_folder {
                self.loose_folders.insert(format!("{name}/"));
            }
            self.loose.insert(name);
        }
    }

    /// Notes the same of a path of which a state is kept, though what is made there now is not archived.
    pub(super) fn set_saved_loose(&mut self, path: &Path) {
        if self.saved.contains(&self.name(path)) {
            self.set_loose(&[path], false);
        }
    }

    /// Notes the same of a path whose file was known.
    pub(super) fn set_own_loose(&mut self, path: &Path) {
        if self.own.contains_key(&self.name(path)) {
            self.set_loose(&[path], false);
        }
    }
}

/// Returns whether a file is another one than that which was known. An overlay gives a file a further device, and with it
/// another number, when it is first written.
fn is_another(known: Inode, now: Inode) -> bool {
    known.0 == now.0 && known.1 != now.1
}
