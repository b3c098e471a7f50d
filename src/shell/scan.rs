//! The keeper that looks before and after: every kept file is copied once into `.shaft/shadow`, and again only when its
//! stat changed. After the command the stats tell which files changed, and their copies are the states before.
//!
//! What other programs change meanwhile is in it, and a change within one tick of the clock that leaves size and times
//! as they were is not seen.

use std::collections::{BTreeMap, HashSet};
use std::fs::{self, DirBuilder, File, Metadata};
use std::io::{self, BufRead, BufReader};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Component, Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::places::{PathClass, PathClasses, holds_objects};
use crate::archive::staging::{CommandStaging, JournalLine, StagedKind};
use crate::disk::{self, Folder};
use crate::text::name;
use crate::text::number::thousands;

/// The most files that are looked at.
pub const MOST_FILES: usize = 50_000;
/// The most bytes that are copied for one command.
const MOST_BYTES: u64 = 1 << 30;
/// The copies, in `.shaft`.
const SHADOW: &str = "shadow";
/// The state before the command, in its staging folder.
const BEFORE: &str = "before";

/// The reason why a tree cannot be scanned.
#[derive(Debug, thiserror::Error)]
pub enum ScanError {
    /// It is too large.
    #[error("this tree is too large to archive without the guard ({0}): what this command overwrites cannot be undone")]
    TooLarge(String),
    /// A call of the file system failed.
    #[error("{}", disk::words_at(path, source))]
    Io {
        /// The path.
        path: PathBuf,
        /// The error of the file system.
        source: io::Error,
    },
}

fn at(path: &Path) -> impl FnOnce(io::Error) -> ScanError + '_ {
    move |source| ScanError::Io { path: path.to_path_buf(), source }
}

/// One path as it was.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Entry {
    path: String,
    kind: StagedKind,
    mode: u32,
    /// Size, and the times of the last change of bytes and of the inode, in seconds and nanoseconds.
    stat: (u64, i64, i64, i64, i64),
    inode: (u64, u64),
    /// The copy, in the folder of copies; the text of a link.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    copy: String,
    /// It is an object of a repository, which nothing writes to: its copy is a further name of it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    object: bool,
}

impl Entry {
    fn new(path: String, meta: &Metadata) -> Option<Self> {
        let kind = match meta.file_type() {
            kind if kind.is_symlink() => StagedKind::Link,
            kind if kind.is_dir() => StagedKind::Folder,
            kind if kind.is_file() => StagedKind::File,
            _ => return None,
        };
        // A folder's size and times change with what is in it.
        let stat = match kind {
            StagedKind::Folder => (0, 0, 0, 0, 0),
            _ => (meta.len(), meta.mtime(), meta.mtime_nsec(), meta.ctime(), meta.ctime_nsec()),
        };
        let path = if kind == StagedKind::Folder { format!("{path}/") } else { path };
        let mode = meta.mode() & 0o7777;
        Some(Entry { path, kind, mode, stat, inode: (meta.dev(), meta.ino()), copy: String::new(), object: false })
    }

    /// Returns the bytes that a copy of it takes.
    fn cost(&self) -> u64 {
        if self.object { 0 } else { self.stat.0 }
    }

    fn is_same(&self, other: &Entry) -> bool {
        let folder = self.kind == StagedKind::Folder;
        if self.object && other.object && !folder {
            // A further name of it changes the time of its inode.
            return (self.kind, self.stat.0, self.inode) == (other.kind, other.stat.0, other.inode);
        }
        (self.kind, self.mode, self.stat) == (other.kind, other.mode, other.stat)
            && (folder || self.inode == other.inode)
    }
}

/// The state before a command, and the paths that could not be copied.
#[derive(Debug)]
pub struct Scan {
    shadow: PathBuf,
    entries: BTreeMap<String, Entry>,
    /// Paths that are not archived, each with why.
    pub left_out: Vec<(String, String)>,
}

impl Scan {
    /// Looks at a workspace before a command, copying what is not copied yet. What it finds is put down in the staging
    /// folder, so that another process can seal it should this one die.
    ///
    /// # Errors
    /// When the tree is too large, or the disk refuses.
    pub fn before(places: &PathClasses, home: &Path, staging: &CommandStaging) -> Result<Scan, ScanError> {
        let shadow = home.join(SHADOW);
        match DirBuilder::new().mode(0o700).create(&shadow) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(at(&shadow)(error)),
            _ => {}
        }
        let index = shadow.join("index");
        let known = read(&index).unwrap_or_default();
        let (mut entries, mut left_out) = look(places)?;
        let (mut copied, mut changed) = (0, known.len() != entries.len());
        let mut unread = Vec::new();
        for entry in entries.values_mut().filter(|entry| entry.kind != StagedKind::Folder) {
            let old = known.get(&entry.path).filter(|old| old.is_same(entry));
            if let Some(old) = old.filter(|old| old.kind == StagedKind::Link || shadow.join(&old.copy).exists()) {
                entry.copy.clone_from(&old.copy);
                continue;
            }
            changed = true;
            copied += entry.cost();
            if copied > MOST_BYTES {
                return Err(ScanError::TooLarge(format!("more than {}", crate::text::size::words(MOST_BYTES))));
            }
            match copy(&places.root().join(name::name_of(entry.path.as_ref())), entry, &shadow) {
                Ok(()) => {}
                Err(error) if error.kind() == io::ErrorKind::StorageFull => return Err(at(&shadow)(error)),
                Err(error) => unread.push((entry.path.clone(), error.to_string())),
            }
        }
        unread.iter().for_each(|(path, _)| drop(entries.remove(path)));
        left_out.extend(unread);
        if changed || !index.exists() {
            write(&index, &entries).map_err(at(&index))?;
        }
        fs::hard_link(&index, staging.folder().join(BEFORE)).map_err(at(staging.folder()))?;
        Ok(Scan { shadow, entries, left_out })
    }

    /// Resumes the scan of a command whose process has ended.
    ///
    /// # Errors
    /// When what was put down cannot be read.
    pub fn take_up(home: &Path, staging: &CommandStaging) -> io::Result<Scan> {
        let entries = read(&staging.folder().join(BEFORE))?;
        Ok(Scan { shadow: home.join(SHADOW), entries, left_out: Vec::new() })
    }

    /// Looks again after the command: what changed is put into the journal, with its state before.
    ///
    /// # Errors
    /// When the tree cannot be looked at, or the disk refuses.
    pub fn after(&self, places: &PathClasses, staging: &mut CommandStaging) -> Result<(), ScanError> {
        let (now, _) = look(places)?;
        // The states are those of the moment when the folder was made.
        let stored = staging.id().at();
        let mut add = |entry: JournalLine| staging.add(&entry).map_err(at(&self.shadow));
        let is_new = |entry: &&Entry| !entry.object && !self.entries.contains_key(&entry.path);
        for path in now.values().filter(is_new).map(|entry| &entry.path).filter(|path| !self.is_left_out(path)) {
            add(JournalLine {
                path: path.clone(),
                kind: StagedKind::Absent,
                mode: 0,
                staged: None,
                inode: (0, 0),
                kept: stored,
                again: false,
            })?;
        }
        let changed: Vec<&Entry> =
            self.entries.values().filter(|entry| !now.get(&entry.path).is_some_and(|now| now.is_same(entry))).collect();
        for entry in changed {
            let staged = match entry.kind {
                StagedKind::Folder | StagedKind::Absent => None,
                StagedKind::Link => {
                    let (path, name) = staging.new_name();
                    std::os::unix::fs::symlink(&entry.copy, &path).map_err(at(&path))?;
                    Some(name)
                }
                StagedKind::File => {
                    let (path, name) = staging.new_name();
                    // A copy that another command's scan names too keeps its name, and the version is a copy of it.
                    let copy = self.shadow.join(&entry.copy);
                    fs::hard_link(&copy, &path).map_err(at(&path))?;
                    Some(name)
                }
            };
            let (path, kind, mode) = (entry.path.clone(), entry.kind, entry.mode);
            staging
                .add(&JournalLine { path, kind, mode, staged, inode: JournalLine::COPY, kept: stored, again: false })
                .map_err(at(&self.shadow))?;
        }
        Ok(())
    }

    fn is_left_out(&self, path: &str) -> bool {
        self.left_out.iter().any(|(left_out, _)| left_out == path)
    }
}

/// Returns every kept path below the root, by its path.
fn look(places: &PathClasses) -> Result<(BTreeMap<String, Entry>, Vec<(String, String)>), ScanError> {
    let (mut found, mut left_out) = (BTreeMap::new(), Vec::new());
    let mut folders = vec![PathBuf::new()];
    let mut kept = 0;
    while let Some(folder) = folders.pop() {
        let full = places.root().join(&folder);
        let entries = match fs::read_dir(&full) {
            Ok(entries) => entries,
            // It went meanwhile, or may not be read.
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => {
                left_out.push((folder.display().to_string(), error.to_string()));
                continue;
            }
        };
        for entry in entries.flatten() {
            let (full, inside) = (entry.path(), folder.join(entry.file_name()));
            let Ok(meta) = entry.metadata() else { continue };
            let is_git_lock = folder.starts_with(".git") && inside.extension().is_some_and(|e| e == "lock");
            let object = match places.of(&full, meta.is_dir()) {
                PathClass::Kept => false,
                // As with the guard, what a repository only ever gains is kept where it goes all the same.
                PathClass::Derived(folder) if holds_objects(&folder) => true,
                _ => continue,
            };
            if is_git_lock {
                continue;
            }
            let path = name::text_of(inside.as_os_str()).into_owned();
            match Entry::new(path.clone(), &meta) {
                Some(entry) => drop(found.insert(entry.path.clone(), Entry { object, ..entry })),
                None => left_out.push((path, "special file".into())),
            }
            if meta.is_dir() {
                folders.push(inside);
            }
            kept += usize::from(!object);
            if kept > MOST_FILES {
                return Err(ScanError::TooLarge(format!("more than {} files", thousands(MOST_FILES))));
            }
        }
    }
    Ok((found, left_out))
}

/// Copies one file into the folder of copies; of a link its text is noted.
fn copy(from: &Path, entry: &mut Entry, shadow: &Path) -> io::Result<()> {
    if entry.kind == StagedKind::Link {
        let target = fs::read_link(from)?;
        entry.copy = target.to_str().ok_or_else(|| io::Error::other("the link's text is not UTF-8"))?.to_string();
        return Ok(());
    }
    let name = disk::temp_name();
    if !entry.object || fs::hard_link(from, shadow.join(&name)).is_err() {
        let last = from.file_name().ok_or(io::ErrorKind::InvalidFilename)?;
        let file = Folder::open(disk::parent(from))?.open_unreadable(last)?;
        disk::copy_new(&file, &shadow.join(&name), entry.mode & 0o1777 | 0o400)?;
        // Its owner may have been let read it, which changes the time of its inode.
        let meta = file.metadata()?;
        if (meta.len(), meta.mtime(), meta.mtime_nsec()) == (entry.stat.0, entry.stat.1, entry.stat.2) {
            (entry.stat.3, entry.stat.4) = (meta.ctime(), meta.ctime_nsec());
        }
    }
    entry.copy = name;
    Ok(())
}

fn read(index: &Path) -> io::Result<BTreeMap<String, Entry>> {
    let lines = BufReader::new(File::open(index)?).lines();
    let entry = |line: io::Result<String>| {
        let entry: Entry = serde_json::from_str(&line?)?;
        // A command may have written it where nothing keeps it from there.
        match entry.kind == StagedKind::File && !is_plain(&entry.copy) {
            true => Err(io::Error::new(io::ErrorKind::InvalidData, "a copy that lies elsewhere")),
            false => Ok(entry),
        }
    };
    lines.map(|line| entry(line).map(|entry| (entry.path.clone(), entry))).collect()
}

/// Returns whether a text is one name in a folder.
fn is_plain(name: &str) -> bool {
    Path::new(name).components().eq([Component::Normal(name.as_ref())])
}

fn write(index: &Path, entries: &BTreeMap<String, Entry>) -> io::Result<()> {
    let mut lines = Vec::new();
    for entry in entries.values() {
        serde_json::to_writer(&mut lines, entry)?;
        lines.push(b'\n');
    }
    disk::replace_private(index, &lines)
}

/// Removes copies that neither the index nor a command under way names. To be called under the archive's lock.
///
/// # Errors
/// When the folder of copies cannot be listed.
pub fn sweep(home: &Path) -> io::Result<usize> {
    let shadow = home.join(SHADOW);
    let commands = fs::read_dir(home.join("commands")).into_iter().flatten().flatten();
    let indexes = commands.map(|entry| entry.path().join(BEFORE)).chain([shadow.join("index")]);
    let used: HashSet<String> = indexes
        .filter_map(|index| read(&index).ok())
        .flat_map(|entries| entries.into_values().map(|entry| entry.copy))
        .chain(["index".to_string()])
        .collect();
    let mut gone = 0;
    for entry in fs::read_dir(&shadow)?.flatten() {
        let unused = entry.file_name().to_str().is_none_or(|name| !used.contains(name));
        gone += usize::from(unused && fs::remove_file(entry.path()).is_ok());
    }
    Ok(gone)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_index_that_names_a_copy_elsewhere_is_not_taken() {
        let dir = tempfile::tempdir().expect("a folder");
        let index = dir.path().join("index");
        let line = |copy: &str| {
            format!(r#"{{"path":"a","kind":"file","mode":420,"stat":[0,0,0,0,0],"inode":[1,2],"copy":"{copy}"}}"#)
        };
        fs::write(&index, line("4f2a")).expect("written");
        assert_eq!(read(&index).expect("read").len(), 1);
        for elsewhere in ["/home/me/key", "../key", "a/b", "", ".."] {
            fs::write(&index, line(elsewhere)).expect("written");
            assert!(read(&index).is_err(), "{elsewhere}");
        }
    }
}
