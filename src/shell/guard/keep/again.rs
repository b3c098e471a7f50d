//! States that are kept again: where someone else put another file in the place of one that was kept, that file's state is
//! no work of the command. It is known by its inode, where no call of the command may have set that.
//!
//! Not seen is what someone else writes into the same inode, as the command's own writes into it are not seen either; nor
//! another file in the place of one that the command made, moved or removed itself.

use std::ffi::OsStr;
use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use super::super::names::{Inode, inode, meta_of};
use super::{Keeping, Verdict, is_below};
use crate::archive::staging::{JournalLine, StagedKind};
use crate::text::name;

impl Keeping {
    /// Returns whether someone else put a file there whose path was kept before.
    pub(super) fn is_from_another(&mut self, name: &str, meta: &Metadata) -> bool {
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
        self.summary.add_meanwhile(name.to_string());
        Ok(())
    }

    /// Looks at the files that the command last opened: where someone else has changed one of them since, what it left is
    /// not what is there now.
    pub fn look_over(&mut self) {
        if !self.places.root().is_dir() {
            // The workspace itself went, and its files with it.
            return;
        }
        let known = self.own.iter().filter(|(name, _)| !self.is_loose(name));
        let known: Vec<(String, Inode)> = known.map(|(name, own)| (name.clone(), *own)).collect();
        for (name, own) in known {
            let path = self.places.root().join(name::name_of(OsStr::new(&name)));
            let there = meta_of(&path);
            if there.as_ref().is_some_and(|meta| !is_another(own, inode(meta))) {
                continue;
            }
            // It is there to stay: what cannot be kept of it is not lost. What is too large to be copied here gets one
            // more name, and is copied when it is archived.
            let _ = match there {
                Some(meta) if meta.is_file() && self.is_within_limits(&meta) => self.copy_again(&path, &name, &meta),
                Some(meta) if meta.is_file() => self.link_large(&name, &path, &meta),
                Some(meta) if meta.is_symlink() => self.link(name.clone(), &path, &meta),
                Some(_) => Ok(()),
                None => self.add(JournalLine {
                    path: name.clone(),
                    kind: StagedKind::Absent,
                    mode: 0,
                    staged: None,
                    inode: JournalLine::COPY,
                    kept: 0,
                    again: true,
                }),
            };
            self.question = None;
            self.own.remove(&name);
            self.summary.add_meanwhile(name);
        }
    }

    /// Notes a file that is kept by one more name.
    pub(super) fn add_linked(&mut self, name: String, staged: String, meta: &Metadata) -> Verdict {
        self.add(JournalLine {
            path: name,
            kind: StagedKind::File,
            mode: meta.mode() & 0o7777,
            staged: Some(staged),
            inode: inode(meta),
            kept: 0,
            again: false,
        })
    }

    /// Keeps a file by one more name, which stays one of the same file until it is archived.
    fn link_large(&mut self, name: &str, path: &Path, meta: &Metadata) -> Verdict {
        let (to, staged) = self.staging.new_name();
        match fs::hard_link(path, &to) {
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
            if is_folder {
                self.loose_folders.insert(format!("{name}/"));
            }
            self.loose.insert(name);
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
