//! What is kept before a call goes on: a hard link of what is removed or replaced, a copy of what is changed in place,
//! a note of what was absent.
//!
//! A staged hard link shares its bytes with whatever other name the file has. The first write through such a name gives
//! the staged file bytes of its own first.

use std::collections::{HashMap, HashSet};
use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::names::{Inode, Names, has_others, inode, meta_of, own_names};
use super::path::is_descriptor;
use crate::archive::staging::{CommandStaging, JournalLine, StagedKind};
use crate::disk;
use crate::shell::message::Summary;
use crate::shell::places::{CopyLimits, PathClass, PathClasses};
use crate::shell::sandbox::{Bounds, TEMPORARY};

/// The terminals, each a file.
const TERMINALS: &str = "/dev/pts";
/// Paths of a kind that are named.
const NAMED: usize = 20;

/// An answer other than letting the call go on: the error number that the caller gets.
pub type Refusal = i32;
type Verdict = Result<(), Refusal>;

/// The states that were kept since the last sealing.
pub struct Keeping {
    places: PathClasses,
    limits: CopyLimits,
    bounds: Option<Bounds>,
    staging: CommandStaging,
    saved: HashSet<String>,
    /// Staged files that still share their bytes, by inode.
    linked: HashMap<Inode, Vec<Linked>>,
    /// Files that no longer had a name of the workspace's when they were handed to the archive, and the one they had.
    sealed: HashMap<Inode, PathBuf>,
    /// Inodes whose bytes were copied.
    copied: HashSet<Inode>,
    /// Files that the command made where nothing is archived.
    made: HashSet<PathBuf>,
    names: Names,
    bytes: u64,
    /// The paths that the summary counts as not archived, each with why.
    unarchived: HashSet<(String, String)>,
    summary: Summary,
}

/// A staged hard link.
struct Linked {
    staged: String,
    path: PathBuf,
}

/// Returns whether something was made since the session began. Where the file system does not say, it counts as older.
fn is_newer(meta: &Metadata, since: u64) -> bool {
    let made = meta.created().ok().and_then(|at| at.duration_since(SystemTime::UNIX_EPOCH).ok());
    made.is_some_and(|made| made.as_nanos() >= u128::from(since))
}

/// Returns whether a terminal was there before the session began.
fn is_older(meta: &Metadata, since: u64) -> bool {
    i128::from(meta.ctime()) * 1_000_000_000 + i128::from(meta.ctime_nsec()) < i128::from(since)
}

/// Returns the error number that an error is to the caller.
fn number(error: &io::Error) -> Refusal {
    error.raw_os_error().unwrap_or(libc::EIO)
}

impl Keeping {
    /// Creates a keeper that keeps into a staging folder.
    pub fn new(places: PathClasses, limits: CopyLimits, bounds: Option<Bounds>, staging: CommandStaging) -> Self {
        Keeping {
            places,
            limits,
            bounds,
            staging,
            saved: HashSet::new(),
            linked: HashMap::new(),
            sealed: HashMap::new(),
            copied: HashSet::new(),
            made: HashSet::new(),
            names: Names::default(),
            bytes: 0,
            unarchived: HashSet::new(),
            summary: Summary::default(),
        }
    }

    /// Begins anew in another staging folder; what was to be known so far.
    pub fn switch(&mut self, staging: CommandStaging) -> Summary {
        self.part_all();
        self.staging = staging;
        self.saved.clear();
        self.copied.clear();
        self.unarchived.clear();
        std::mem::take(&mut self.summary)
    }

    /// Returns the notes so far.
    pub fn summary(&self) -> &Summary {
        &self.summary
    }

    /// Keeps the state before a file is changed in place, or made where `makes`.
    pub fn write(&mut self, path: &Path, makes: bool) -> Verdict {
        self.part_shared(path)?;
        let there = meta_of(path);
        match self.places.of(path, false) {
            PathClass::Refused => return self.refuse(path),
            PathClass::Outside => {
                self.keep_other_names(path, there.as_ref())?;
                return if makes || there.is_some() { self.outside(path, there.as_ref()) } else { Ok(()) };
            }
            PathClass::Derived(folder) => {
                self.keep_other_names(path, there.as_ref())?;
                if there.is_none() {
                    self.made.insert(path.to_path_buf());
                }
                *self.summary.derived.entry(folder).or_default() += 1;
                return Ok(());
            }
            PathClass::Excluded(glob) => return self.unarchived(path, &format!("archiveExclude: {glob}")),
            PathClass::Kept => {}
        }
        match there {
            None if makes => self.absent(path),
            None => Ok(()),
            Some(meta) if meta.is_file() => self.copy(path, &meta),
            Some(meta) if meta.is_dir() || meta.is_symlink() => Ok(()),
            Some(_) => self.unarchived(path, "special file"),
        }
    }

    /// Keeps the state before something is made where nothing is.
    pub fn make(&mut self, path: &Path, folder: bool) -> Verdict {
        match self.places.of(path, folder) {
            PathClass::Refused => self.refuse(path),
            PathClass::Kept if fs::symlink_metadata(path).is_err() => match folder {
                true => self.note(path, StagedKind::Absent, 0, true),
                false => self.absent(path),
            },
            PathClass::Derived(_) if !folder && fs::symlink_metadata(path).is_err() => {
                self.made.insert(path.to_path_buf());
                Ok(())
            }
            PathClass::Outside if fs::symlink_metadata(path).is_err() => self.outside(path, None),
            _ => Ok(()),
        }
    }

    /// Keeps a file or link that is about to lose this name.
    pub fn lose(&mut self, path: &Path) -> Verdict {
        let Ok(meta) = fs::symlink_metadata(path) else { return Ok(()) };
        match self.places.of(path, false) {
            PathClass::Refused => return self.refuse(path),
            PathClass::Outside => return self.outside(path, Some(&meta)),
            PathClass::Excluded(glob) => return self.unarchived(path, &format!("archiveExclude: {glob}")),
            // What a repository only ever gains is kept where it goes all the same.
            PathClass::Derived(folder) if self.made.contains(path) || !folder.starts_with(".git/") => {
                *self.summary.derived.entry(folder).or_default() += 1;
                return Ok(());
            }
            PathClass::Derived(_) | PathClass::Kept => {}
        }
        let Some(name) = self.name(path)? else { return Ok(()) };
        if self.saved.contains(&name) {
            return Ok(());
        }
        match meta.file_type() {
            kind if kind.is_symlink() => self.link(name, path, &meta),
            kind if kind.is_file() => self.hard_link(name, path, &meta),
            kind if kind.is_dir() => self.folder(path, &meta),
            _ => self.unarchived(path, "special file"),
        }
    }

    /// Keeps the state before a file gets another mode, under every name that it has.
    pub fn change_mode(&mut self, path: &Path) -> Verdict {
        if let Some(meta) = meta_of(path).filter(|meta| has_others(path, meta)) {
            for other in self.names.others(&self.places, inode(&meta), path) {
                self.lose(&other)?;
            }
        }
        self.lose(path)
    }

    /// Answers for something whose times are about to be set. No version holds them; what is not the command's stays as
    /// it is.
    pub fn set_times(&mut self, path: &Path) -> Verdict {
        match self.places.of(path, false) {
            PathClass::Refused => self.refuse(path),
            PathClass::Outside => match meta_of(path) {
                Some(meta) => self.outside(path, Some(&meta)),
                None => Ok(()),
            },
            _ => Ok(()),
        }
    }

    /// Answers for a file that is about to be locked: nebula waits for the locks of its own.
    pub fn lock_file(&mut self, path: &Path) -> Verdict {
        if self.places.of(path, false) == PathClass::Refused { self.refuse(path) } else { Ok(()) }
    }

    /// Answers for a file without a name that is about to be made in a folder.
    pub fn make_unnamed(&mut self, folder: &Path) -> Verdict {
        if self.places.of(folder, true) == PathClass::Refused { self.refuse(folder) } else { Ok(()) }
    }

    /// Returns when the session began, in nanoseconds since 1970; none: there is no sandbox.
    pub fn since(&self) -> Option<u64> {
        Some(self.bounds.as_ref()?.since)
    }

    /// Answers for a terminal that is about to be set: one older than the session is another program's.
    pub fn set_terminal(&mut self, path: &Path) -> Verdict {
        let Some(since) = self.since() else { return Ok(()) };
        let older = path.starts_with(TERMINALS) && fs::metadata(path).is_ok_and(|meta| is_older(&meta, since));
        if older { self.refuse(path) } else { Ok(()) }
    }

    /// Keeps a folder that is about to go or to get another mode.
    pub fn lose_folder(&mut self, path: &Path) -> Verdict {
        let Ok(meta) = fs::symlink_metadata(path) else { return Ok(()) };
        match self.places.of(path, true) {
            PathClass::Refused => self.refuse(path),
            PathClass::Kept => self.folder(path, &meta),
            PathClass::Derived(folder) if folder.starts_with(".git/") => self.folder(path, &meta),
            PathClass::Outside if self.places.root().starts_with(path) => self.refuse(path),
            PathClass::Outside => self.outside(path, Some(&meta)),
            _ => Ok(()),
        }
    }

    /// Keeps the states before a file or folder gets the name `new`, from which it takes what is there.
    pub fn rename(&mut self, old: &Path, new: &Path, exchange: bool) -> Verdict {
        let Ok(meta) = fs::symlink_metadata(old) else { return Ok(()) };
        if old == new {
            return Ok(());
        }
        self.names.add(old, new);
        self.move_away(old, new, &meta)?;
        match fs::symlink_metadata(new) {
            Ok(there) if exchange => self.move_away(new, old, &there),
            Ok(there) if there.is_dir() => self.lose_folder(new),
            Ok(_) => self.lose(new),
            Err(_) => self.make(new, meta.is_dir()),
        }
    }

    /// Answers for a file that is about to have the name `new` too: whoever writes there writes to `old`.
    pub fn second_name(&mut self, old: &Path, new: &Path) -> Verdict {
        if self.places.of(old, false) == PathClass::Refused {
            return self.refuse(old);
        }
        self.make(new, false)?;
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
            for entry in fs::read_dir(&from).map_err(|e| number(&e))? {
                let entry = entry.map_err(|e| number(&e))?;
                let inside = inside.join(entry.file_name());
                if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                    folders.push(inside);
                } else {
                    let (from, to) = (old.join(&inside), new.join(&inside));
                    self.lose(&from)?;
                    self.make(&to, false)?;
                    self.names.add(&from, &to);
                }
            }
        }
        Ok(())
    }

    /// Answers for something outside the workspace that is about to be changed, or made where nothing is.
    fn outside(&mut self, path: &Path, there: Option<&Metadata>) -> Verdict {
        let Some(bounds) = &self.bounds else { return Ok(()) };
        if is_descriptor(path) || path.starts_with(&bounds.temporary) {
            return Ok(());
        }
        if path.starts_with(TERMINALS) && there.is_some_and(|meta| is_older(meta, bounds.since)) {
            return self.refuse(path);
        }
        if TEMPORARY.iter().any(|folder| path.starts_with(folder)) && !bounds.unkept.iter().any(|p| path.starts_with(p))
        {
            let own = there.is_none_or(|meta| self.made.contains(path) || is_newer(meta, bounds.since));
            if there.is_none() {
                self.made.insert(path.to_path_buf());
            }
            return if own { Ok(()) } else { self.refuse(path) };
        }
        match bounds.write.iter().any(|free| path.starts_with(free)) {
            true if bounds.unkept.iter().any(|unkept| path.starts_with(unkept)) => {
                self.unarchived(path, "outside the workspace")
            }
            true => Ok(()),
            false => self.refuse(path),
        }
    }

    fn refuse(&mut self, path: &Path) -> Verdict {
        self.summary.refused += 1;
        self.summary.first_refused.get_or_insert_with(|| path.display().to_string());
        Err(libc::EACCES)
    }

    fn unarchived(&mut self, path: &Path, why: &str) -> Verdict {
        let line = (self.inside(path).display().to_string(), why.to_string());
        if self.unarchived.insert(line.clone()) {
            match self.summary.not_archived.len() < NAMED {
                true => self.summary.not_archived.push(line),
                false => self.summary.more_not_archived += 1,
            }
        }
        Ok(())
    }

    fn inside<'a>(&self, path: &'a Path) -> &'a Path {
        path.strip_prefix(self.places.root()).unwrap_or(path)
    }

    /// Returns the normalised path; none where it has no text: nothing is there then that could be lost.
    fn name(&mut self, path: &Path) -> Result<Option<String>, Refusal> {
        if let Some(name) = self.inside(path).to_str() {
            return Ok(Some(name.to_string()));
        }
        let there = fs::symlink_metadata(path).is_ok();
        let why = if there { "its name is not UTF-8: the call was refused" } else { "its name is not UTF-8" };
        self.unarchived(path, why)?;
        if there { Err(libc::EACCES) } else { Ok(None) }
    }

    fn absent(&mut self, path: &Path) -> Verdict {
        self.note(path, StagedKind::Absent, 0, false)
    }

    fn folder(&mut self, path: &Path, meta: &Metadata) -> Verdict {
        self.note(path, StagedKind::Folder, meta.mode() & 0o7777, true)
    }

    /// Writes a line of the journal without a staged file.
    fn note(&mut self, path: &Path, kind: StagedKind, mode: u32, folder: bool) -> Verdict {
        let Some(name) = self.name(path)? else { return Ok(()) };
        let path = match (folder, name.is_empty()) {
            (true, true) => "./".to_string(),
            (true, false) => format!("{name}/"),
            (false, _) => name,
        };
        if self.saved.contains(&path) {
            return Ok(());
        }
        self.add(JournalLine { path, kind, mode, staged: None, inode: JournalLine::COPY })
    }

    fn add(&mut self, saved: JournalLine) -> Verdict {
        self.staging.add(&saved).map_err(|e| number(&e))?;
        self.saved.insert(saved.path);
        Ok(())
    }

    fn link(&mut self, name: String, path: &Path, meta: &Metadata) -> Verdict {
        let (to, staged) = self.staging.new_name();
        let target = fs::read_link(path).map_err(|e| number(&e))?;
        std::os::unix::fs::symlink(target, to).map_err(|e| number(&e))?;
        self.add(JournalLine {
            path: name,
            kind: StagedKind::Link,
            mode: 0o777,
            staged: Some(staged),
            inode: inode(meta),
        })
    }

    fn hard_link(&mut self, name: String, path: &Path, meta: &Metadata) -> Verdict {
        let (to, staged) = self.staging.new_name();
        if fs::hard_link(path, &to).is_err() {
            // Another file system, too many names, or another owner's file.
            return self.copy(path, meta);
        }
        let linked = Linked { staged: staged.clone(), path: path.to_path_buf() };
        self.linked.entry(inode(meta)).or_default().push(linked);
        let mode = meta.mode() & 0o7777;
        self.add(JournalLine { path: name, kind: StagedKind::File, mode, staged: Some(staged), inode: inode(meta) })
    }

    /// Keeps the bytes of a file that is about to be written, under every name that it has in the workspace.
    fn copy(&mut self, path: &Path, meta: &Metadata) -> Verdict {
        let own = inode(meta);
        let Some(name) = self.name(path)? else { return Ok(()) };
        if self.saved.contains(&name) && (meta.nlink() == 1 || self.copied.contains(&own)) {
            return Ok(());
        }
        let mut names = vec![path.to_path_buf()];
        if meta.nlink() > 1 {
            names.extend(self.names.others(&self.places, own, path));
        }
        self.copy_names(names, meta)
    }

    /// Keeps the other names of a file that is not archived itself before it is written: under its other names it may
    /// be.
    fn keep_other_names(&mut self, path: &Path, meta: Option<&Metadata>) -> Verdict {
        let Some(meta) = meta.filter(|meta| has_others(path, meta)) else { return Ok(()) };
        match self.copied.contains(&inode(meta)) {
            true => Ok(()),
            false => {
                let names = self.names.others(&self.places, inode(meta), path);
                self.copy_names(names, meta)
            }
        }
    }

    /// Keeps the bytes of one file under these names.
    fn copy_names(&mut self, names: Vec<PathBuf>, meta: &Metadata) -> Verdict {
        let mut first: Option<PathBuf> = None;
        for path in names {
            let Some(name) = self.name(&path)? else { continue };
            if self.saved.contains(&name) {
                continue;
            }
            let (to, staged) = self.staging.new_name();
            match &first {
                Some(first) => fs::hard_link(first, &to).map_err(|e| number(&e))?,
                None => self.copy_to(&path, &to, meta, &path)?,
            }
            first.get_or_insert(to);
            let mode = meta.mode() & 0o7777;
            self.add(JournalLine {
                path: name,
                kind: StagedKind::File,
                mode,
                staged: Some(staged),
                inode: JournalLine::COPY,
            })?;
        }
        self.copied.insert(inode(meta));
        Ok(())
    }

    /// Copies a file as far as the limits go; it has this path in the workspace.
    fn copy_to(&mut self, from: &Path, to: &Path, meta: &Metadata, path: &Path) -> Verdict {
        if meta.len() > self.limits.file || self.bytes + meta.len() > self.limits.total {
            self.unarchived(path, "too large to be copied: the call was refused")?;
            return Err(libc::EDQUOT);
        }
        self.bytes += meta.len();
        copy_file(from, to, meta).map_err(|e| number(&e))
    }

    /// Prepares the writing of a file wherever it lies now: the staged hard links to it get bytes of their own.
    fn part_shared(&mut self, path: &Path) -> Verdict {
        if self.linked.is_empty() && self.sealed.is_empty() {
            return Ok(());
        }
        let Ok(meta) = fs::metadata(path) else { return Ok(()) };
        let own = inode(&meta);
        // Its number alone may be another file's by now: in the archive it has a name more.
        let sealed = self.sealed.get(&own).filter(|_| meta.nlink() > own_names(path)).cloned();
        if let Some(path) = sealed {
            self.unarchived(&path, "it is in the archive: writing to it through a descriptor was refused")?;
            return Err(libc::EACCES);
        }
        let Some(links) = self.linked.remove(&own) else { return Ok(()) };
        let parted = self.part(&links, Some(&meta));
        if parted.is_err() {
            self.linked.insert(own, links);
        }
        parted
    }

    /// Separates the staged files before the archive takes them: what has another name goes on being written there.
    /// What has none can be reached through a descriptor alone, and stays the archive's.
    fn part_all(&mut self) {
        for (own, links) in std::mem::take(&mut self.linked) {
            let staged = self.staging.folder().join(&links[0].staged);
            let has_more = fs::symlink_metadata(staged).is_ok_and(|meta| meta.nlink() > links.len() as u64);
            if !has_more || self.part(&links, None).is_err() {
                self.sealed.insert(own, links[0].path.clone());
            }
        }
    }

    /// Gives staged hard links of one file bytes of their own; `limited`: the copy counts as one of the command's.
    fn part(&mut self, links: &[Linked], limited: Option<&Metadata>) -> Verdict {
        let folder = self.staging.folder().to_path_buf();
        let shared = folder.join(&links[0].staged);
        let (own, _) = self.staging.new_name();
        match limited {
            Some(meta) => self.copy_to(&shared, &own, meta, &links[0].path)?,
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
}

fn copy_file(from: &Path, to: &Path, meta: &Metadata) -> io::Result<()> {
    let file = disk::open_file(from, disk::Links::Refuse)?;
    disk::copy_new(&file, to, meta.mode() & 0o1777).map(drop)
}

fn join(folder: &Path, inside: &Path) -> PathBuf {
    if inside.as_os_str().is_empty() { folder.to_path_buf() } else { folder.join(inside) }
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsRawFd;

    use super::*;
    use crate::archive::staging::CommandInfo;
    use crate::archive::{Archive, ArchiveSettings};
    use crate::shell::places::PlaceSettings;
    use crate::workspace::Workspace;

    fn read(path: &Path) -> String {
        fs::read_to_string(path).expect("readable")
    }

    /// A workspace with two files, its archive, and what keeps its states.
    fn keeping(dir: &Path, limits: CopyLimits) -> (PathBuf, Archive, Keeping) {
        let workspace = Workspace::open(dir).expect("open");
        let root = workspace.root().to_path_buf();
        for name in ["a", "b"] {
            fs::write(root.join(name), name.repeat(3)).expect("written");
        }
        let archive = Archive::open(&workspace, &ArchiveSettings::default()).expect("open");
        let staging = archive.stage(&CommandInfo::default()).expect("staged");
        let places = PathClasses::new(&workspace, &archive, &PlaceSettings::default());
        (root, archive, Keeping::new(places, limits, None, staging))
    }

    #[test]
    fn what_was_handed_to_the_archive_is_written_by_nobody_any_more() {
        let dir = tempfile::tempdir().expect("a folder");
        let (root, archive, mut keeping) = keeping(dir.path(), CopyLimits::default());
        let (a, b, c) = (root.join("a"), root.join("b"), root.join("c"));
        let open = fs::File::open(&a).expect("open");
        keeping.lose(&a).expect("kept");
        fs::remove_file(&a).expect("removed");
        keeping.rename(&b, &c, false).expect("kept");
        fs::rename(&b, &c).expect("renamed");
        let old = keeping.staging.folder().to_path_buf();
        keeping.switch(archive.stage(&CommandInfo::default()).expect("staged"));
        // The file itself lies in the archive: what is still open leads there.
        let link = PathBuf::from(format!("/proc/self/fd/{}", open.as_raw_fd()));
        assert_eq!(keeping.write(&link, false), Err(libc::EACCES));
        assert_eq!(keeping.summary().not_archived[0].0, "a");
        // What has a name goes on being written, and only there.
        keeping.write(&c, false).expect("kept");
        fs::write(&c, "new").expect("written");
        assert_eq!((read(&old.join("0001")), read(&old.join("0002"))), ("aaa".to_string(), "bbb".to_string()));
    }

    #[test]
    fn what_is_too_large_is_named_by_its_own_path_and_what_is_not_named_is_counted() {
        let dir = tempfile::tempdir().expect("a folder");
        let (root, _, mut keeping) = keeping(dir.path(), CopyLimits { file: 2, total: 2 });
        fs::hard_link(root.join("a"), root.join("twin")).expect("linked");
        keeping.lose(&root.join("a")).expect("kept");
        assert_eq!(keeping.write(&root.join("twin"), false), Err(libc::EDQUOT));
        assert_eq!(keeping.summary().not_archived[0].0, "a");
        for n in 0..30 {
            keeping.unarchived(&root.join(n.to_string()), "a reason").expect("noted");
            keeping.unarchived(&root.join(n.to_string()), "a reason").expect("noted");
        }
        assert_eq!((keeping.summary().not_archived.len(), keeping.summary().more_not_archived), (NAMED, 11));
        assert_eq!(keeping.summary().not_archived_words().last().as_deref(), Some("and 11 more are not archived"));
    }
}
