//! Files and folders that get other names: what goes from the old one and what the new one takes the place of are kept.

use std::fs::{self, Metadata};
use std::io;
use std::path::{Path, PathBuf};

use super::super::call::Refusal;
use super::super::reach::{meta_at, reach};
use super::{Keeping, Verdict, number};
use crate::archive::staging::StagedKind;
use crate::shell::message::CALL_REFUSED;
use crate::shell::places::PathClass;

impl Keeping {
    /// Keeps the states before a file or folder gets the name `new`, from which it takes what is there.
    pub fn rename(&mut self, old: &Path, new: &Path, exchange: bool) -> Verdict {
        if old == new {
            return Ok(());
        }
        if self.places.holds_proof(old) || exchange && self.places.holds_proof(new) || self.places.is_proof(new) {
            return self.refuse(old);
        }
        self.keep_private(old, new)?;
        if exchange {
            self.keep_private(new, old)?;
        }
        let Ok(meta) = meta_at(old) else {
            self.nothing_at(old).and_then(|()| self.nothing_at(new))?;
            // Another thread may put something there before the kernel looks: what is at the new name is kept all the same.
            return match meta_at(new) {
                Ok(there) if there.is_dir() => self.lose_folder(new),
                Ok(_) => self.lose(new),
                Err(_) => self.make(new, false),
            };
        };
        self.names.add(old, new);
        if !exchange {
            self.configs.check(old, new);
        }
        let is_folder = meta.is_dir() || exchange && meta_at(new).is_ok_and(|there| there.is_dir());
        self.move_away(old, new, &meta)?;
        self.replace(old, new, &meta, exchange)?;
        self.set_loose(&[old, new], is_folder);
        // What goes into one that can be rebuilt is not undone there, though it comes back where it was.
        if let PathClass::Derived(folder) = self.class(new, meta.is_dir())
            && !matches!(self.class(old, meta.is_dir()), PathClass::Derived(_))
        {
            self.count_derived(folder);
        }
        Ok(())
    }

    /// Keeps what is at `new`, whose place something else takes.
    fn replace(&mut self, old: &Path, new: &Path, meta: &Metadata, exchange: bool) -> Verdict {
        match meta_at(new) {
            Ok(there) if exchange => {
                self.move_away(new, old, &there)?;
                match (meta.is_dir(), there.is_dir()) {
                    (one, other) if one == other => Ok(()),
                    // A file takes the place of a folder and the other way round: neither was there before.
                    (one, other) => self.was_absent(new, one).and_then(|()| self.was_absent(old, other)),
                }
            }
            Ok(there) if there.is_dir() => self.lose_folder(new),
            Ok(_) => self.lose(new),
            Err(_) => self.make(new, meta.is_dir()),
        }
    }

    /// Notes that nothing of this kind was at a path.
    fn was_absent(&mut self, path: &Path, folder: bool) -> Verdict {
        match self.class(path, folder) {
            PathClass::Kept => self.note(path, StagedKind::Absent, 0, folder),
            _ => Ok(()),
        }
    }

    /// Answers for a file that is about to have the name `new` too: whoever writes there writes to `old`.
    pub fn second_name(&mut self, old: &Path, new: &Path) -> Verdict {
        self.keep_private(old, new)?;
        match self.class(old, false) {
            PathClass::Refused => return self.refuse(old),
            // A write by the new name changes the old file, so the command must be allowed to change that.
            PathClass::Outside => self.outside(old, meta_at(old).ok().as_ref())?,
            // By another name it could be written without being known.
            PathClass::Kept => self.ask_about_later(old)?,
            _ => {}
        }
        self.make(new, false)?;
        if matches!(self.class(old, false), PathClass::Excluded(_)) && !self.made.contains(old) {
            // What it is written into was there before.
            self.made.remove(new);
        }
        self.left.touch(self.name(old), false);
        self.names.add(old, new);
        Ok(())
    }

    /// Keeps what is at `old` and below, and notes what of it is new at `new`.
    fn move_away(&mut self, old: &Path, new: &Path, meta: &Metadata) -> Verdict {
        if !meta.is_dir() {
            return self.lose(old);
        }
        if self.places.root().starts_with(old) {
            return self.refuse(old);
        }
        let mut folders = vec![PathBuf::new()];
        while let Some(inside) = folders.pop() {
            let from = join(old, &inside);
            self.lose_folder(&from)?;
            self.make(&join(new, &inside), true)?;
            for entry in self.listed(&from)? {
                let entry = entry.map_err(|e| number(&e))?;
                let inside = inside.join(entry.file_name());
                if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                    folders.push(inside);
                } else {
                    let (from, to) = (old.join(&inside), new.join(&inside));
                    self.configs.carry(&from, &to);
                    self.lose(&from)?;
                    self.make(&to, false)?;
                    self.names.add(&from, &to);
                }
            }
        }
        Ok(())
    }

    /// Lists a folder that moves with all that is in it. Where it cannot be listed, what is in it cannot be kept: the call
    /// is refused.
    fn listed(&mut self, folder: &Path) -> Result<fs::ReadDir, Refusal> {
        reach(folder, |folder| fs::read_dir(folder)).map_err(|error| {
            if error.kind() == io::ErrorKind::PermissionDenied {
                let _ = self.unarchived(folder, &format!("it cannot be listed: {CALL_REFUSED}"));
            }
            number(&error)
        })
    }
}

fn join(folder: &Path, inside: &Path) -> PathBuf {
    if inside.as_os_str().is_empty() { folder.to_path_buf() } else { folder.join(inside) }
}
