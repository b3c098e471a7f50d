//! The states that are kept before a system call goes on: a hard link of what is removed or replaced, a copy of what is
//! changed in place, a note of what was absent.
//!
//! A staged hard link shares its bytes with whatever other name the file has. The first write through such a name gives
//! the staged file bytes of its own first.

mod again;
mod asks;
mod change;
mod config_file;
mod copies;
mod left;
mod moved;
mod outside;
mod owners;
mod private;
mod raced;
mod shared;
mod unseen;

use std::collections::{BTreeSet, HashMap, HashSet};
use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use super::call::{Refusal, number};
use super::hold::{Consents, HoldQuestion, lock};
use super::names::{Inode, Names, has_others, inode, meta_of};
use super::reach::{meta_at, reach};
use super::under_way::CallsUnderWay;
use crate::archive::staging::{CommandStaging, JournalLine, StagedKind};
use crate::shell::message::{NAMED, Summary};
use crate::shell::places::{CopyLimits, PathClass, PathClasses, holds_objects};
use crate::shell::sandbox::Bounds;
use crate::text::clean::clean_line;
use config_file::RepositoryConfigs;
use copies::Copies;
use left::Left;
pub use outside::is_older_terminal;

/// The size below which a file that gets another mode is copied, in bytes.
const SMALL: u64 = 64 << 10;
/// The bits of a mode with which a file runs as its owner or group.
const SET_ID: u32 = 0o6000;

type Verdict = Result<(), Refusal>;

/// The states that were kept since the last sealing.
pub struct Keeping {
    places: PathClasses,
    limits: CopyLimits,
    bounds: Option<Bounds>,
    staging: CommandStaging,
    saved: HashSet<String>,
    /// Paths whose first state was archived by another one's sealing.
    archived: HashSet<String>,
    /// Folders among them that were not there.
    new_folders: HashSet<String>,
    /// Derived folders that went themselves.
    gone: BTreeSet<String>,
    /// Staged files that still share their bytes, by inode.
    linked: HashMap<Inode, Vec<Linked>>,
    /// Files that no longer had a name of the workspace's when they were handed to the archive, and the one they had.
    sealed: HashMap<Inode, PathBuf>,
    /// Inodes whose bytes were copied.
    copied: HashSet<Inode>,
    /// The files at paths that the command only opens, as they were at its last call.
    own: HashMap<String, Inode>,
    /// Paths at which it may itself put other files.
    loose: HashSet<String>,
    /// The states in which it left its paths.
    left: Left,
    /// Folders that it moves, and with them whatever lies in them, each with a closing `/`.
    loose_folders: HashSet<String>,
    /// Files that the command made where nothing is archived.
    made: HashSet<PathBuf>,
    names: Names,
    bytes: u64,
    /// Large files that are copied while other calls are answered.
    copies: Copies,
    /// The calls that went on and may not be over yet.
    pub(super) under_way: CallsUnderWay,
    /// The decisions of the person about calls that waited for them.
    consents: Arc<Mutex<Consents>>,
    configs: RepositoryConfigs,
    /// The question that the present call raises.
    question: Option<HoldQuestion>,
    /// The paths that the summary counts as not archived, each with why.
    unarchived: HashSet<(String, String)>,
    summary: Summary,
}

/// A staged hard link.
struct Linked {
    staged: String,
    path: PathBuf,
}

impl Keeping {
    /// Creates a keeper that keeps into a staging folder.
    pub fn new(
        places: PathClasses,
        limits: CopyLimits,
        bounds: Option<Bounds>,
        staging: CommandStaging,
        consents: Arc<Mutex<Consents>>,
    ) -> Self {
        let left = Left::of(places.root());
        let configs = RepositoryConfigs::new(lock(&consents).made_configs());
        Keeping {
            places,
            limits,
            bounds,
            staging,
            saved: HashSet::new(),
            archived: HashSet::new(),
            new_folders: HashSet::new(),
            gone: BTreeSet::new(),
            linked: HashMap::new(),
            sealed: HashMap::new(),
            copied: HashSet::new(),
            own: HashMap::new(),
            loose: HashSet::new(),
            left,
            loose_folders: HashSet::new(),
            made: HashSet::new(),
            names: Names::default(),
            bytes: 0,
            copies: Copies::default(),
            under_way: CallsUnderWay::default(),
            consents,
            configs,
            question: None,
            unarchived: HashSet::new(),
            summary: Summary::default(),
        }
    }

    /// Begins again in another staging folder; what was to be known so far.
    pub fn switch(&mut self, staging: CommandStaging) -> Summary {
        self.look_over();
        self.part_all();
        self.staging = staging;
        self.saved.clear();
        self.archived.clear();
        self.new_folders.clear();
        self.copied.clear();
        self.own.clear();
        self.left.clear();
        self.unarchived.clear();
        let notes = self.summary();
        (self.summary, self.gone) = (Summary::default(), BTreeSet::new());
        notes
    }

    /// Returns the notes so far.
    pub fn summary(&self) -> Summary {
        // What is no folder there now is none that was built again.
        let meta = |folder: &str| meta_at(&self.path_of(folder.trim_end_matches('/')));
        let gone = self.gone.iter().filter(|folder| !meta(folder).is_ok_and(|meta| meta.is_dir()));
        let mut summary = Summary { derived_gone: gone.cloned().collect(), ..self.summary.clone() };
        self.configs.add_to(&mut summary, |path| self.name(path));
        summary
    }

    /// Notes that there was no room for a state: its call failed.
    pub fn set_full(&mut self) {
        self.summary.no_room = true;
    }

    /// Keeps the state before a file is changed in place, or made where `makes`.
    pub fn write(&mut self, path: &Path, makes: bool) -> Verdict {
        self.part_shared(path)?;
        let there = meta_of(path);
        match self.class(path, false) {
            PathClass::Refused => return self.refuse(path),
            PathClass::Outside => {
                self.keep_other_names(path, there.as_ref())?;
                return if makes || there.is_some() { self.outside(path, there.as_ref()) } else { Ok(()) };
            }
            PathClass::Derived(folder) => {
                self.keep_other_names(path, there.as_ref())?;
                self.set_saved_loose(path);
                if there.is_none() {
                    self.made.insert(path.to_path_buf());
                }
                self.count_derived(folder);
                return Ok(());
            }
            PathClass::Excluded(glob) => {
                self.ask_about_later(path)?;
                self.ask_about_excluded(path, &glob)?;
                self.set_saved_loose(path);
                if there.is_none() && makes {
                    self.made.insert(path.to_path_buf());
                }
                return self.keep_other_names(path, there.as_ref());
            }
            PathClass::Kept => {}
        }
        if makes && there.is_none() {
            self.configs.open(path);
        }
        if makes || there.as_ref().is_some_and(Metadata::is_file) {
            self.ask_about_later(path)?;
        }
        match there {
            None if makes => self.absent(path),
            None => self.nothing_at(path),
            Some(meta) if meta.is_file() => self.copy(path, &meta),
            Some(meta) if meta.is_dir() && makes => self.may_replace(path, &meta, false),
            Some(meta) if meta.is_dir() || meta.is_symlink() => Ok(()),
            Some(_) => self.unarchived(path, "special file"),
        }?;
        self.left.touch(self.name(path), false);
        Ok(())
    }

    /// Keeps the state before something is made where nothing is.
    pub fn make(&mut self, path: &Path, folder: bool) -> Verdict {
        match self.class(path, folder) {
            PathClass::Refused => self.refuse(path),
            PathClass::Kept => {
                match (meta_at(path), folder) {
                    (Err(_), true) => self.note(path, StagedKind::Absent, 0, true),
                    (Err(_), false) => {
                        self.ask_about_later(path)?;
                        self.set_own_loose(path);
                        self.absent(path)
                    }
                    (Ok(there), _) => self.may_replace(path, &there, folder),
                }?;
                self.left.touch(self.name(path), false);
                Ok(())
            }
            PathClass::Excluded(glob) if !folder && meta_at(path).is_err() => {
                self.ask_about_later(path)?;
                self.set_saved_loose(path);
                self.made.insert(path.to_path_buf());
                self.unarchived(path, &format!("archiveExclude: {glob}"))
            }
            PathClass::Derived(_) if meta_at(path).is_err() => {
                self.set_saved_loose(path);
                self.made.insert(path.to_path_buf());
                Ok(())
            }
            PathClass::Outside if meta_at(path).is_err() => self.outside(path, None),
            _ => Ok(()),
        }
    }

    /// Keeps a file or link that is about to lose this name.
    pub fn lose(&mut self, path: &Path) -> Verdict {
        let whose = meta_at(path).ok();
        let is_first = !self.saved.contains(&self.name(path));
        self.keep_named(path, 0)?;
        if self.saved.contains(&self.name(path)) {
            self.set_loose(&[path], false);
            self.note_owner(path, whose.as_ref())?;
        }
        if is_first { self.note_attributes(path) } else { Ok(()) }
    }

    /// Keeps a file or link at this name, by a further name of it where that can be; one of fewer than `copied` bytes by
    /// a copy.
    fn keep_named(&mut self, path: &Path, copied: u64) -> Verdict {
        let Some(meta) = self.found(path)? else { return self.nothing_at(path) };
        match self.class(path, false) {
            PathClass::Refused => return self.refuse(path),
            PathClass::Outside => return self.outside(path, Some(&meta)),
            PathClass::Excluded(glob) => {
                self.ask_about_later(path)?;
                return self.ask_about_excluded(path, &glob);
            }
            // What a repository only ever gains is kept where it goes all the same.
            PathClass::Derived(folder) if self.made.contains(path) || !holds_objects(&folder) => {
                self.count_derived(folder);
                return Ok(());
            }
            PathClass::Derived(_) | PathClass::Kept => {}
        }
        if !meta.is_dir() {
            self.ask_about_later(path)?;
        }
        let name = self.name(path);
        if self.saved.contains(&name) {
            if !meta.is_file() || !self.is_from_another(&name, &meta) {
                return Ok(());
            }
            self.hard_link(name.clone(), path, &meta)?;
            return self.note_another(&name, &meta);
        }
        if self.is_new(&name) && !meta.is_dir() {
            return self.absent(path);
        }
        match meta.file_type() {
            kind if kind.is_symlink() => self.link(name, path, &meta),
            kind if kind.is_file() && meta.len() < copied => self.copy_names(vec![path.to_path_buf()], &meta),
            kind if kind.is_file() => self.hard_link(name, path, &meta),
            kind if kind.is_dir() => self.folder(path, &meta),
            _ => self.unarchived(path, "special file"),
        }
    }

    /// Keeps the state before a file gets another mode, `to` where it is known, or another owner, under every name that
    /// it has.
    pub fn change_mode(&mut self, path: &Path, to: Option<u32>) -> Verdict {
        if let (Some(meta), Some(to)) = (meta_of(path), to)
            && meta.is_file()
            && to & !meta.mode() & SET_ID != 0
            && self.class(path, false) == PathClass::Kept
        {
            self.unarchived(path, "no version holds a set-user-ID or set-group-ID bit: setting it was refused")?;
            return Err(libc::EPERM);
        }
        if let Some(meta) = meta_of(path).filter(|meta| has_others(path, meta)) {
            for other in self.names.others(&self.places, inode(&meta), path) {
                self.keep_named(&other, SMALL)?;
            }
        }
        // It stays where it is: another program may write its bytes before it is archived.
        self.keep_named(path, SMALL)
    }

    /// Keeps a folder that is about to go or to get another mode. Where a file or link is, such a call changes nothing.
    pub fn lose_folder(&mut self, path: &Path) -> Verdict {
        let Some(meta) = self.found(path)?.filter(Metadata::is_dir) else { return Ok(()) };
        match self.class(path, true) {
            // One that holds the workspace is not the command's, whatever it may write in it.
            _ if self.places.root() != path && self.places.root().starts_with(path) => self.refuse(path),
            PathClass::Refused => self.refuse(path),
            PathClass::Kept => self.folder(path, &meta),
            PathClass::Derived(folder) if holds_objects(&folder) && !self.made.contains(path) => {
                self.folder(path, &meta)
            }
            PathClass::Derived(folder) => {
                if self.name(path) == folder.trim_end_matches('/') {
                    self.gone.insert(folder);
                }
                Ok(())
            }
            PathClass::Outside => self.outside(path, Some(&meta)),
            PathClass::Excluded(_) => Ok(()),
        }
    }

    /// Counts a call that is refused because of a path.
    pub fn refuse(&mut self, path: &Path) -> Verdict {
        self.summary.refused += 1;
        self.summary.first_refused.get_or_insert_with(|| path.display().to_string());
        Err(libc::EACCES)
    }

    fn unarchived(&mut self, path: &Path, why: &str) -> Verdict {
        let line = (clean_line(&self.name(path)).into_owned(), why.to_string());
        if self.unarchived.insert(line.clone()) {
            match self.summary.not_archived.len() < NAMED {
                true => self.summary.not_archived.push(line),
                false => self.summary.more_not_archived += 1,
            }
        }
        Ok(())
    }

    /// Returns the normalised path.
    fn name(&self, path: &Path) -> String {
        self.places.name(path)
    }

    fn absent(&mut self, path: &Path) -> Verdict {
        self.note(path, StagedKind::Absent, 0, false)
    }

    fn folder(&mut self, path: &Path, meta: &Metadata) -> Verdict {
        let name = self.name(path);
        if self.is_in_new(&name) || self.was_no_folder(&name) {
            return self.note(path, StagedKind::Absent, 0, true);
        }
        self.note(path, StagedKind::Folder, meta.mode() & 0o7777, true)
    }

    /// Writes a line of the journal without a staged file.
    fn note(&mut self, path: &Path, kind: StagedKind, mode: u32, folder: bool) -> Verdict {
        let name = self.name(path);
        let path = match (folder, name.is_empty()) {
            (true, true) => "./".to_string(),
            (true, false) => format!("{name}/"),
            (false, _) => name,
        };
        if self.saved.contains(&path) {
            return Ok(());
        }
        if folder && kind == StagedKind::Absent {
            self.new_folders.insert(path.clone());
        }
        self.add(JournalLine::of(path, kind, mode))
    }

    fn link(&mut self, name: String, path: &Path, meta: &Metadata) -> Verdict {
        let (to, staged) = self.staging.new_name();
        let target = reach(path, |path| fs::read_link(path)).map_err(|e| number(&e))?;
        std::os::unix::fs::symlink(target, to).map_err(|e| number(&e))?;
        self.add(JournalLine {
            staged: Some(staged),
            inode: inode(meta),
            ..JournalLine::of(name, StagedKind::Link, 0o777)
        })
    }

    fn hard_link(&mut self, name: String, path: &Path, meta: &Metadata) -> Verdict {
        let (to, staged) = self.staging.new_name();
        if reach(path, |path| fs::hard_link(path, &to)).is_err() {
            // Another file system, too many names, or another owner's file.
            return self.copy(path, meta);
        }
        let linked = Linked { staged: staged.clone(), path: path.to_path_buf() };
        self.linked.entry(inode(meta)).or_default().push(linked);
        self.add_linked(name, staged, meta)
    }

    /// Keeps the bytes of a file that is about to be written, under every name that it has in the workspace.
    fn copy(&mut self, path: &Path, meta: &Metadata) -> Verdict {
        let own = inode(meta);
        let name = self.name(path);
        if self.saved.contains(&name) {
            if self.is_from_another(&name, meta) {
                self.copy_again(path, &name, meta)?;
            }
            if meta.nlink() == 1 || self.copied.contains(&own) {
                return Ok(());
            }
        }
        self.own.insert(name, own);
        let mut names = vec![path.to_path_buf()];
        if meta.nlink() > 1 {
            names.extend(self.names.others(&self.places, own, path));
        }
        self.copy_names(names, meta)
    }

    /// Keeps the bytes of one file under these names.
    fn copy_names(&mut self, names: Vec<PathBuf>, meta: &Metadata) -> Verdict {
        let mut first: Option<PathBuf> = None;
        for path in names {
            let name = self.name(&path);
            if self.saved.contains(&name) {
                continue;
            }
            self.ask_about_later(&path)?;
            if self.is_new(&name) {
                self.absent(&path)?;
                continue;
            }
            let (to, staged) = self.staging.new_name();
            match &first {
                Some(first) => fs::hard_link(first, &to).map_err(|e| number(&e))?,
                None if self.copy_to((&path, &to), meta, &path, true)? => {}
                None => {
                    self.saved.insert(name);
                    continue;
                }
            }
            first.get_or_insert(to);
            let mode = meta.mode() & 0o7777;
            self.add(JournalLine { staged: Some(staged), ..JournalLine::of(name, StagedKind::File, mode) })?;
        }
        self.copied.insert(inode(meta));
        Ok(())
    }
}

/// Returns whether a path lies below one of these folders.
fn is_below(name: &str, folders: &HashSet<String>) -> bool {
    !folders.is_empty() && name.match_indices('/').any(|(end, _)| folders.contains(&name[..=end]))
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsRawFd;
    use std::os::unix::fs::PermissionsExt;

    use super::super::hold::lock;
    use super::*;
    use crate::archive::staging::CommandInfo;
    use crate::archive::{Archive, ArchiveSettings};
    use crate::proposal::State;
    use crate::shell::message::{HoldAnswer, HoldReason, HoldSettings};
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
        (root, archive, Keeping::new(places, limits, None, staging, Arc::default()))
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

    /// Puts another file in the place of one, as an editor does.
    fn save(path: &Path, text: &str) {
        let new = path.with_extension("new");
        fs::write(&new, text).expect("written");
        fs::rename(new, path).expect("renamed");
    }

    /// Returns the bytes that were kept again, each with its path.
    fn kept_again(keeping: &Keeping) -> Vec<(String, String)> {
        let lines = keeping.staging.journal().expect("read").states.into_iter().filter(|line| line.again);
        let bytes = |name: String| read(&keeping.staging.folder().join(name));
        let bytes = |staged: Option<String>| staged.map_or("none".into(), bytes);
        lines.map(|line| (line.path, bytes(line.staged))).collect()
    }

    #[test]
    fn a_path_that_racing_calls_make_a_folder_and_a_file_was_only_the_first() {
        let dir = tempfile::tempdir().expect("a folder");
        let (root, _, mut keeping) = keeping(dir.path(), CopyLimits::default());
        let (a, d) = (root.join("a"), root.join("d"));
        fs::create_dir(&d).expect("made");
        fs::write(d.join("x"), "x").expect("written");
        // Both calls look while the other kind is there; it goes before the kernel carries them out.
        keeping.make(&a, true).expect("kept");
        keeping.write(&d, true).expect("kept");
        keeping.lose(&a).expect("kept");
        fs::remove_file(&a).and_then(|()| fs::create_dir(&a)).expect("replaced");
        fs::write(a.join("in"), "in").expect("written");
        keeping.lose(&a.join("in")).expect("kept");
        keeping.lose_folder(&a).expect("kept");
        keeping.lose(&d.join("x")).expect("kept");
        keeping.lose_folder(&d).expect("kept");
        fs::remove_dir_all(&d).and_then(|()| fs::write(&d, "file")).expect("replaced");
        keeping.lose(&d).expect("kept");
        let lines = keeping.staging.journal().expect("read").states;
        let kinds: Vec<(&str, StagedKind)> = lines.iter().map(|line| (line.path.as_str(), line.kind)).collect();
        let (absent, file) = (StagedKind::Absent, StagedKind::File);
        let first = [("a/", absent), ("d/", StagedKind::Folder), ("d", absent), ("a", file)];
        assert_eq!(kinds, [&first[..], &[("a/in", absent), ("d/x", file)]].concat());
    }

    #[test]
    fn a_file_that_is_removed_as_a_folder_is_kept_by_what_changes_it_afterwards() {
        let dir = tempfile::tempdir().expect("a folder");
        let (root, _, mut keeping) = keeping(dir.path(), CopyLimits::default());
        let (a, link) = (root.join("a"), root.join("link"));
        std::os::unix::fs::symlink("a", &link).expect("linked");
        for path in [&a, &link] {
            keeping.lose_folder(path).expect("nothing to keep");
            keeping.lose(path).expect("kept");
        }
        let lines = keeping.staging.journal().expect("read").states;
        let kinds: Vec<(&str, StagedKind)> = lines.iter().map(|line| (line.path.as_str(), line.kind)).collect();
        assert_eq!(kinds, [("a", StagedKind::File), ("link", StagedKind::Link)]);
    }

    #[test]
    fn a_file_whose_path_is_longer_than_the_kernel_takes_is_kept_or_stays() {
        use std::io::Write as _;
        let dir = tempfile::tempdir().expect("a folder");
        let (root, _, mut keeping) = keeping(dir.path(), CopyLimits::default());
        let mut above = root.clone();
        while above.as_os_str().len() + 203 < 4_000 {
            above.push("d".repeat(200));
        }
        above.push("e".repeat(3_999 - above.as_os_str().len()));
        fs::create_dir_all(&above).expect("made");
        let name = "y".repeat(150);
        let flags = rustix::fs::OFlags::CREATE | rustix::fs::OFlags::WRONLY;
        let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
        let made = rustix::fs::openat(fs::File::open(&above).expect("open"), &name, flags, mode).expect("made");
        fs::File::from(made).write_all(b"work").expect("written");
        let file = above.join(&name);
        keeping.lose(&file).expect("kept");
        let [line] = &keeping.staging.journal().expect("read").states[..] else { panic!("one state") };
        assert_eq!((line.kind, keeping.path_of(&line.path)), (StagedKind::File, file.clone()));
        assert_eq!(read(&keeping.staging.folder().join(line.staged.as_deref().expect("a file"))), "work");
        // What is out of reach there too is no more taken for absent.
        assert_eq!(keeping.lose(&file.join("z")), Err(libc::ENAMETOOLONG));
        let [(_, why)] = &keeping.summary().not_archived[..] else { panic!("named") };
        assert_eq!(why, "its path is too long: the call was refused");
        keeping.lose(&root.join("a/below")).expect("nothing is below a file");
    }

    #[test]
    fn a_name_that_a_file_is_about_to_get_is_known_whenever_names_are_searched_for() {
        let dir = tempfile::tempdir().expect("a folder");
        let (root, _, mut keeping) = keeping(dir.path(), CopyLimits::default());
        let [a, b, c, twin] = ["a", "b", "c", "twin"].map(|name| root.join(name));
        fs::hard_link(&b, &twin).expect("linked");
        keeping.second_name(&a, &c).expect("kept");
        // Another process writes a file with several names before the kernel makes this one.
        keeping.write(&b, false).expect("kept");
        fs::hard_link(&a, &c).expect("linked");
        keeping.write(&c, false).expect("kept");
        let lines = keeping.staging.journal().expect("read").states;
        let kept: Vec<_> =
            lines.iter().filter(|line| line.kind == StagedKind::File).map(|line| &line.path[..]).collect();
        assert_eq!(kept, ["b", "twin", "a"]);
    }

    #[test]
    fn what_another_saved_and_could_not_be_kept_is_not_overwritten_at_the_second_try() {
        let dir = tempfile::tempdir().expect("a folder");
        let (root, _, mut keeping) = keeping(dir.path(), CopyLimits { file: 3, total: 1_000 });
        let a = root.join("a");
        keeping.write(&a, false).expect("kept");
        save(&a, "longer");
        for _ in 0..2 {
            assert_eq!(keeping.write(&a, false), Err(libc::EDQUOT));
        }
        assert_eq!(kept_again(&keeping), []);
        // What is removed needs no copy.
        keeping.lose(&a).expect("kept");
        assert_eq!(kept_again(&keeping), [("a".to_string(), "longer".to_string())]);
        assert_eq!(keeping.summary().meanwhile, ["a"]);
    }

    #[test]
    fn a_file_that_gets_another_mode_is_kept_as_it_was_whoever_writes_it_then() {
        let dir = tempfile::tempdir().expect("a folder");
        let (root, _, mut keeping) = keeping(dir.path(), CopyLimits::default());
        let a = root.join("a");
        let before = read(&a);
        keeping.change_mode(&a, Some(0o600)).expect("kept");
        fs::write(&a, "of another command").expect("written in place");
        let state = keeping.staging.journal().expect("read").states.remove(0);
        assert_eq!(read(&keeping.staging.folder().join(state.staged.expect("staged"))), before);
    }

    #[test]
    fn what_another_saved_is_seen_after_a_change_of_its_mode_and_a_move_of_another_folder() {
        let dir = tempfile::tempdir().expect("a folder");
        let (root, _, mut keeping) = keeping(dir.path(), CopyLimits::default());
        fs::create_dir(root.join("moved")).expect("made");
        fs::write(root.join("moved/c"), "c").expect("written");
        let (a, b, c) = (root.join("a"), root.join("b"), root.join("to/c"));
        keeping.write(&a, false).expect("kept");
        keeping.write(&b, false).expect("kept");
        keeping.write(&root.join("moved/c"), false).expect("kept");
        keeping.change_mode(&a, Some(0o600)).expect("kept");
        keeping.rename(&root.join("moved"), &root.join("to"), false).expect("kept");
        fs::rename(root.join("moved"), root.join("to")).expect("renamed");
        keeping.lose(&b).expect("kept");
        for path in [&a, &b, &c] {
            save(path, "another's");
            keeping.write(path, false).expect("kept");
        }
        // The command itself may have put the others there.
        assert_eq!(kept_again(&keeping), [("a".to_string(), "another's".to_string())]);
    }

    #[test]
    fn what_another_changed_after_the_last_call_is_seen_at_the_end() {
        let dir = tempfile::tempdir().expect("a folder");
        let (root, archive, mut keeping) = keeping(dir.path(), CopyLimits { file: 10, total: 1_000 });
        fs::write(root.join("c"), "c").expect("written");
        let [a, b, c] = ["a", "b", "c"].map(|name| root.join(name));
        for path in [&a, &b, &c] {
            keeping.write(path, false).expect("kept");
        }
        fs::write(&c, "the command's").expect("written");
        save(&a, "another's");
        fs::remove_file(&b).expect("removed");
        keeping.look_over();
        let mut again = kept_again(&keeping);
        again.sort();
        assert_eq!(again, [("a".to_string(), "another's".to_string()), ("b".to_string(), "none".to_string())]);
        assert_eq!(keeping.summary().meanwhile.len(), 2);
        keeping.look_over();
        assert_eq!(kept_again(&keeping).len(), 2, "once");
        // One that is too large to be copied, and a link.
        save(&c, "too large to be copied");
        keeping.write(&root.join("d"), true).expect("kept");
        fs::write(root.join("d"), "").expect("written");
        keeping.write(&root.join("d"), false).expect("kept");
        std::os::unix::fs::symlink("anywhere", root.join("e")).expect("linked");
        fs::rename(root.join("e"), root.join("d")).expect("renamed");
        keeping.look_over();
        let lines = keeping.staging.journal().expect("read").states;
        let kind = |path: &str| lines.iter().rev().find(|line| line.path == path).map(|line| (line.kind, line.again));
        assert_eq!([kind("c"), kind("d")], [Some((StagedKind::File, true)), Some((StagedKind::Link, true))]);
        let notes = keeping.switch(archive.stage(&CommandInfo::default()).expect("staged"));
        assert_eq!((notes.meanwhile.len(), notes.not_archived), (4, Vec::new()));
    }

    #[test]
    fn what_another_writes_into_what_the_command_has_left_is_seen() {
        let dir = tempfile::tempdir().expect("a folder");
        let (root, _, mut keeping) = keeping(dir.path(), CopyLimits::default());
        for name in ["c", "d"] {
            fs::write(root.join(name), name).expect("written");
        }
        let [a, b, c, d, new] = ["a", "b", "c", "d", "new"].map(|name| root.join(name));
        for path in [&a, &d] {
            keeping.write(path, false).expect("kept");
            fs::write(path, "the command's").expect("written");
        }
        keeping.make(&new, false).expect("kept");
        fs::write(&new, "new").expect("written");
        keeping.rename(&new, &b, false).expect("kept");
        fs::rename(&new, &b).expect("renamed");
        keeping.lose(&c).expect("kept");
        fs::remove_file(&c).expect("removed");
        keeping.look_for_left();
        for path in [&a, &b, &c] {
            fs::write(path, "another's words").expect("written");
        }
        keeping.write(&a, false).expect("kept");
        fs::write(&a, "the command's again").expect("written");
        keeping.write(&d, false).expect("kept");
        fs::write(&d, "more of the command's").expect("written");
        keeping.look_over();
        let mut again = kept_again(&keeping);
        again.sort();
        assert_eq!(again, ["a", "b", "c"].map(|name| (name.to_string(), "another's words".to_string())));
        assert_eq!(keeping.summary().meanwhile, ["a", "b", "c"]);
        // Before these stands what the command had left, of which nothing was there in place of one of them.
        let journal = read(&keeping.staging.folder().join("journal"));
        let mut left: Vec<(&str, bool)> = ["a", "b", "c"].map(|name| (name, true)).to_vec();
        left.retain(|(name, _)| journal.contains(&format!("{{\"left\":\"{name}\",\"staged\":[")));
        assert_eq!(left, [("a", true), ("b", true)], "{journal}");
        assert!(journal.contains("{\"left\":\"c\",\"staged\":null}"), "{journal}");
    }

    #[test]
    fn what_another_replaced_before_it_was_seen_that_the_command_had_left_it_is_not_the_commands() {
        let dir = tempfile::tempdir().expect("a folder");
        let (root, _, mut keeping) = keeping(dir.path(), CopyLimits::default());
        fs::write(root.join("c"), "c").expect("written");
        let [a, b, c, new] = ["a", "b", "c", "new"].map(|name| root.join(name));
        for path in [&a, &b, &c] {
            keeping.write(path, false).expect("kept");
            fs::write(path, "the command's").expect("written");
        }
        keeping.make(&new, false).expect("kept");
        fs::write(&new, "new").expect("written");
        keeping.rename(&new, &b, false).expect("kept");
        fs::rename(&new, &b).expect("renamed");
        save(&a, "another's");
        fs::remove_file(&c).expect("removed");
        keeping.look_for_left();
        keeping.write(&a, false).expect("kept");
        fs::write(&a, "the command's again").expect("written");
        keeping.look_for_left();
        keeping.look_over();
        let of_another = [("a", "another's"), ("c", "none")].map(|(name, bytes)| (name.to_string(), bytes.to_string()));
        assert_eq!(kept_again(&keeping), of_another);
    }

    #[test]
    fn a_cache_in_a_folder_that_was_not_there_is_noted_with_it() {
        let dir = tempfile::tempdir().expect("a folder");
        fs::write(dir.path().join(".gitignore"), "__pycache__/\ntarget/\n").expect("written");
        let (root, _, mut keeping) = keeping(dir.path(), CopyLimits::default());
        fs::create_dir(root.join("old")).expect("made");
        let make = |keeping: &mut Keeping, folder: &str| {
            let path = root.join(folder);
            keeping.make(&path, true).expect("kept");
            fs::create_dir(path).expect("made");
        };
        let write = |keeping: &mut Keeping, file: &str| {
            let path = root.join(file);
            keeping.write(&path, true).expect("kept");
            fs::write(path, "new").expect("written");
        };
        make(&mut keeping, "new");
        write(&mut keeping, "new/Cargo.toml");
        for folder in ["new/__pycache__", "old/__pycache__", "new/target"] {
            make(&mut keeping, folder);
            write(&mut keeping, &format!("{folder}/file"));
        }
        let journal = keeping.staging.journal().expect("read");
        let noted: Vec<&str> = journal.states.iter().map(|line| line.path.as_str()).collect();
        assert_eq!(noted, ["new/", "new/Cargo.toml", "new/__pycache__/", "new/__pycache__/file"]);
        let derived: Vec<(String, u64)> = keeping.summary().derived.into_iter().collect();
        assert_eq!(derived, [("new/target/".into(), 1), ("old/__pycache__/".into(), 1)]);
    }

    #[test]
    fn an_object_that_goes_and_is_made_again_is_the_commands_own() {
        let dir = tempfile::tempdir().expect("a folder");
        let (root, _, mut keeping) = keeping(dir.path(), CopyLimits::default());
        let objects = root.join(".git/objects/06");
        fs::create_dir_all(&objects).expect("made");
        let [object, new] = ["bb", "tmp_obj_1"].map(|name| objects.join(name));
        fs::write(&object, "an object").expect("written");
        keeping.lose(&object).expect("kept");
        fs::remove_file(&object).expect("removed");
        keeping.look_for_left();
        // As git makes one.
        keeping.write(&new, true).expect("kept");
        fs::write(&new, "an object").expect("written");
        keeping.second_name(&new, &object).expect("kept");
        fs::hard_link(&new, &object).expect("linked");
        keeping.lose(&new).expect("kept");
        fs::remove_file(&new).expect("removed");
        keeping.look_over();
        assert_eq!(keeping.summary().meanwhile, [""; 0]);
    }

    #[test]
    fn a_folder_of_objects_that_is_made_and_goes_again_was_not_there() {
        let dir = tempfile::tempdir().expect("a folder");
        let (root, _, mut keeping) = keeping(dir.path(), CopyLimits::default());
        let [old, new] = [".git/objects/06", ".git/objects/tmp_objdir"].map(|name| root.join(name));
        fs::create_dir_all(&old).expect("made");
        keeping.make(&new, true).expect("kept");
        fs::create_dir(&new).expect("made");
        for folder in [&old, &new] {
            keeping.lose_folder(folder).expect("kept");
            fs::remove_dir(folder).expect("removed");
        }
        let states = keeping.staging.journal().expect("read").states;
        assert_eq!(states.iter().map(|line| line.path.as_str()).collect::<Vec<_>>(), [".git/objects/06/"]);
    }

    #[test]
    fn what_is_open_has_two_names_or_lies_where_a_call_is_under_way_is_not_left() {
        let dir = tempfile::tempdir().expect("a folder");
        let (root, _, mut keeping) = keeping(dir.path(), CopyLimits::default());
        fs::create_dir(root.join("moved")).expect("made");
        for name in ["twin", "moved/c"] {
            fs::write(root.join(name), name).expect("written");
        }
        let [a, b, twin, other, c] = ["a", "b", "twin", "other", "moved/c"].map(|name| root.join(name));
        for path in [&a, &b, &twin, &c] {
            keeping.write(path, false).expect("kept");
        }
        fs::hard_link(&twin, &other).expect("linked");
        // It holds its output open.
        let held = fs::File::create(&a).expect("open");
        let sleeps = std::process::Command::new("sleep").arg("600").stdout(held).spawn();
        let mut sleeps = sleeps.expect("started");
        // Of a thread that runs it cannot be told whether its last call is over.
        let is_done = Arc::new(std::sync::atomic::AtomicBool::new(false));
        let (done, (tell, told)) = (Arc::clone(&is_done), std::sync::mpsc::channel());
        let runs = std::thread::spawn(move || {
            tell.send(rustix::thread::gettid().as_raw_nonzero().get()).expect("told");
            while !done.load(std::sync::atomic::Ordering::Relaxed) {
                std::hint::spin_loop();
            }
        });
        let process = told.recv().expect("told");
        let call = super::super::call::Notification { id: 1, process, number: libc::SYS_rename, arguments: [0; 6] };
        keeping.begin_call(&call);
        keeping.rename(&root.join("moved"), &root.join("to"), false).expect("kept");
        keeping.end_call();
        keeping.look_for_left();
        is_done.store(true, std::sync::atomic::Ordering::Relaxed);
        sleeps.kill().and_then(|()| sleeps.wait()).expect("over");
        runs.join().expect("over");
        for path in [&a, &b, &twin, &c] {
            fs::write(path, "written").expect("written");
        }
        keeping.look_over();
        assert_eq!(keeping.summary().meanwhile, ["b"]);
    }

    #[test]
    fn what_lies_beyond_the_bounds_is_refused_or_named() {
        let (dir, there) = (tempfile::tempdir().expect("a folder"), Path::new("/etc/passwd"));
        for names_only in [false, true] {
            let (root, _, mut keeping) = keeping(dir.path(), CopyLimits::default());
            keeping.bounds = Some(Bounds {
                grant: crate::shell::Grant::Workspace,
                write: vec![root.clone(), "/dev/null".into()],
                folders: Vec::new(),
                temporary: root,
                since: 1,
                private: Vec::new(),
                known: Vec::new(),
                caches: vec!["/usr".into()],
                sockets: Vec::new(),
                ports: Vec::new(),
                names_only,
            });
            keeping.write(Path::new("/dev/null"), false).expect("free");
            let expected = if names_only { Ok(()) } else { Err(libc::EACCES) };
            assert_eq!((keeping.lose(there), keeping.write(there, true)), (expected, expected));
            let (summary, named) = (keeping.summary(), usize::from(names_only));
            assert_eq!((summary.refused, summary.not_archived.len()), (if names_only { 0 } else { 2 }, named));
            // A cache is only read, and programs go on without it.
            assert_eq!(keeping.write(Path::new("/usr/new"), true), expected);
            let cached = keeping.summary();
            assert_eq!((cached.refused, cached.caches), (summary.refused, u64::from(!names_only)));
            assert_eq!(cached.cache_words().is_some(), !names_only);
            assert_eq!(keeping.since(), (!names_only).then_some(1));
        }
    }

    #[test]
    fn what_was_archived_with_anothers_change_is_kept_anew_before_it_is_changed() {
        use crate::archive::staging::SealKind;
        let dir = tempfile::tempdir().expect("a folder");
        let (root, archive, mut keeping) = keeping(dir.path(), CopyLimits::default());
        let (a, b) = (root.join("a"), root.join("b"));
        keeping.write(&a, false).expect("kept");
        keeping.write(&b, false).expect("kept");
        let mut another = CommandStaging::open(keeping.staging.folder()).expect("open");
        // The changeset that the first of them announces is never made.
        another.note(another.id(), vec![0], SealKind::Met).expect("noted");
        keeping.look_for_left();
        keeping.write(&a, false).expect("kept");
        assert_eq!(kept_again(&keeping), []);
        let mut lock = archive.lock().expect("locked");
        let made = archive.record(&mut lock, &[("c", &State::Absent).into()], None).expect("archived");
        drop(lock);
        let id = made.changeset.expect("one");
        another.note(id, vec![0], SealKind::Met).expect("noted");
        another.note(id, vec![1], SealKind::Earlier).expect("noted");
        fs::write(&a, "another's").expect("written");
        keeping.look_for_left();
        keeping.write(&a, false).expect("kept");
        keeping.write(&b, false).expect("kept");
        assert_eq!(kept_again(&keeping), [("a".to_string(), "another's".to_string())]);
        assert_eq!(keeping.summary().meanwhile, ["a"]);
        keeping.write(&a, false).expect("kept");
        assert_eq!(kept_again(&keeping).len(), 1, "once");
    }

    #[test]
    fn a_folder_that_can_be_rebuilt_is_gone_where_a_link_has_its_place() {
        let dir = tempfile::tempdir().expect("a folder");
        let (root, _, mut keeping) = keeping(dir.path(), CopyLimits::default());
        fs::create_dir_all(root.join("target/debug")).expect("made");
        fs::write(root.join("Cargo.toml"), "")
            .and_then(|()| fs::write(root.join(".gitignore"), "target"))
            .expect("made");
        fs::create_dir(root.join("src")).expect("made");
        keeping.lose_folder(&root.join("target")).expect("it can be rebuilt");
        assert!(keeping.summary().derived_gone.is_empty(), "it is still there");
        fs::remove_dir_all(root.join("target")).expect("removed");
        std::os::unix::fs::symlink("src", root.join("target")).expect("linked");
        assert_eq!(keeping.summary().derived_gone.into_iter().collect::<Vec<_>>(), ["target/"]);
    }

    #[test]
    fn a_new_file_that_acts_later_is_asked_for_where_it_is_not_archived_too() {
        let dir = tempfile::tempdir().expect("a folder");
        let workspace = Workspace::open(dir.path()).expect("open");
        let settings = ArchiveSettings { exclude: vec!["*.yml".into()], ..ArchiveSettings::default() };
        let archive = Archive::open(&workspace, &settings).expect("open");
        let staging = archive.stage(&CommandInfo::default()).expect("staged");
        let places = PathClasses::new(&workspace, &archive, &PlaceSettings::default());
        let asks = HoldSettings { later: true, ..HoldSettings::default() };
        let consents = Arc::new(Mutex::new(Consents::new(Some(asks))));
        let mut keeping = Keeping::new(places, CopyLimits::default(), None, staging, consents);
        let later = workspace.root().join(".github/workflows/x.yml");
        assert_eq!(keeping.make(&later, false), Err(libc::EACCES));
        assert_eq!(keeping.take_question().map(|question| question.path).as_deref(), Some(".github/workflows/x.yml"));
        keeping.make(&workspace.root().join("x.yml"), false).expect("made");
        assert_eq!(keeping.summary().not_archived, [("x.yml".to_string(), "archiveExclude: *.yml".to_string())]);
    }

    #[test]
    fn what_the_configuration_leaves_out_is_changed_only_where_it_was_named_or_the_person_lets_it() {
        let dir = tempfile::tempdir().expect("a folder");
        let workspace = Workspace::open(dir.path()).expect("open");
        let settings = ArchiveSettings { exclude: vec!["*.big".into()], ..ArchiveSettings::default() };
        let archive = Archive::open(&workspace, &settings).expect("open");
        let root = workspace.root().to_path_buf();
        let keeping = |asks: Option<HoldSettings>| {
            let staging = archive.stage(&CommandInfo::default()).expect("staged");
            let places = PathClasses::new(&workspace, &archive, &PlaceSettings::default());
            Keeping::new(places, CopyLimits::default(), None, staging, Arc::new(Mutex::new(Consents::new(asks))))
        };
        let [x, y, new] = ["x.big", "y.big", "new.big"].map(|name| root.join(name));
        fs::write(&x, "old").and_then(|()| fs::write(&y, "old")).expect("written");
        let named = HoldSettings { excluded: vec!["y.big".into()], ..HoldSettings::default() };
        let mut held = keeping(Some(named));
        let ways: [&dyn Fn(&mut Keeping) -> Verdict; 4] = [
            &|keeping| keeping.write(&x, false),
            &|keeping| keeping.lose(&x),
            &|keeping| keeping.rename(&root.join("a"), &x, false),
            &|keeping| keeping.change_mode(&x, Some(0o600)),
        ];
        for way in ways {
            assert_eq!(way(&mut held), Err(libc::EACCES));
            let question = held.take_question().expect("asked");
            assert_eq!(
                (question.reason, question.path.as_str(), question.bytes),
                (HoldReason::Excluded, "x.big", Some(3))
            );
        }
        held.lose(&y).expect("it was named");
        // What the command makes is its own; a further name of what was there is not.
        held.write(&new, true).expect("made");
        fs::write(&new, "new").expect("written");
        held.write(&new, false).expect("its own");
        let twin = root.join("twin.big");
        held.second_name(&x, &twin).expect("linked");
        fs::hard_link(&x, &twin).expect("linked");
        assert_eq!(held.write(&twin, false), Err(libc::EACCES));
        held.take_question().expect("asked");
        lock(&held.consents).take((HoldReason::Excluded, "x.big".into()), HoldAnswer::Nobody);
        assert_eq!(held.write(&x, false), Err(libc::EACCES));
        let line = |held: &Keeping, path: &str| {
            let noted = held.summary().not_archived;
            noted.into_iter().rfind(|(noted, _)| noted == path).map(|(_, why)| why)
        };
        assert_eq!(line(&held, "x.big").as_deref(), Some("archiveExclude: *.big: the call was refused"));
        lock(&held.consents).take((HoldReason::Excluded, "x.big".into()), HoldAnswer::AllowAll);
        held.write(&x, false).expect("let");
        held.write(&twin, false).expect("let");
        // Where nobody is asked, they are told before the start.
        let mut told = keeping(None);
        told.lose(&x).expect("told");
        assert_eq!(line(&told, "x.big").as_deref(), Some("archiveExclude: *.big"));
    }

    #[test]
    fn of_a_bare_repository_a_branch_is_no_file_that_acts_later_whatever_it_is_called() {
        let dir = tempfile::tempdir().expect("a folder");
        let (root, _, mut keeping) = keeping(dir.path(), CopyLimits::default());
        for folder in ["x.git/objects", "x.git/refs/heads", "no.git/hooks"] {
            fs::create_dir_all(root.join(folder)).expect("made");
        }
        fs::write(root.join("x.git/HEAD"), "ref: refs/heads/main\n").expect("written");
        *lock(&keeping.consents) = Consents::new(Some(HoldSettings { later: true, ..HoldSettings::default() }));
        for (path, asked) in [
            ("x.git/config", true),
            ("x.git/HOOKS/update", true),
            ("x.git/AGENTS.md", true),
            ("x.git/refs/heads/AGENTS.md", false),
            ("x.git/refs/heads/config", false),
            ("no.git/hooks/update", false),
            ("no.git/AGENTS.md", true),
        ] {
            let answer = keeping.make(&root.join(path), false);
            let question = keeping.take_question();
            assert_eq!((answer.is_err(), question.is_some()), (asked, asked), "{path}");
        }
    }

    #[test]
    fn what_a_call_that_went_on_may_still_change_is_kept_anew_after_a_sealing() {
        use super::super::call::Notification;
        use super::super::change::{CallNames, PathChange};
        let dir = tempfile::tempdir().expect("a folder");
        let (root, archive, mut keeping) = keeping(dir.path(), CopyLimits::default());
        // Of a thread that runs it is not known whether its call is over; of the other number there is none.
        let (to, from) = std::sync::mpsc::channel();
        let is_done = Arc::new(std::sync::atomic::AtomicBool::new(false));
        let is_over = Arc::clone(&is_done);
        let runs = std::thread::spawn(move || {
            to.send(rustix::thread::gettid().as_raw_nonzero().get()).expect("sent");
            while !is_over.load(std::sync::atomic::Ordering::Relaxed) {
                std::hint::spin_loop();
            }
        });
        for (process, path) in [(from.recv().expect("its number"), "a"), (i32::MAX, "b")] {
            let call = Notification { id: 1, process, number: libc::SYS_unlinkat, arguments: [0; 6] };
            let change = PathChange::Lose(root.join(path));
            assert!(keeping.under_way.enter(&call, Some(change.clone()), CallNames::default()));
            keeping.keep_change(&change).expect("kept");
        }
        keeping.switch(archive.stage(&CommandInfo::default()).expect("staged"));
        keeping.keep_under_way();
        is_done.store(true, std::sync::atomic::Ordering::Relaxed);
        runs.join().expect("over");
        let states = keeping.staging.journal().expect("read").states;
        assert_eq!(states.into_iter().map(|line| line.path).collect::<Vec<_>>(), ["a"]);
    }

    #[test]
    fn a_large_file_is_copied_before_its_call_is_looked_at_again() {
        for changed in [false, true] {
            let dir = tempfile::tempdir().expect("a folder");
            let (root, archive, mut keeping) = keeping(dir.path(), CopyLimits::default());
            let a = root.join("a");
            let large = fs::File::options().write(true).open(&a).expect("open");
            large.set_len(copies::LARGE).expect("set");
            assert_eq!(keeping.look(|keeping| keeping.write(&a, false)), Err(libc::EAGAIN));
            let copy = keeping.take_copy().expect("to be made");
            copy.make();
            if changed {
                large.set_len(copies::LARGE + 1).expect("set");
            }
            keeping.add_copy(copy);
            keeping.look(|keeping| keeping.write(&a, false)).expect("kept");
            assert!(keeping.take_copy().is_none() && keeping.take_question().is_none());
            let [line] = &keeping.staging.journal().expect("read").states[..] else { panic!("one state") };
            let staged = keeping.staging.folder().join(line.staged.as_deref().expect("a file"));
            let meta = fs::metadata(staged).expect("there");
            assert_eq!((meta.len(), line.path.as_str()), (copies::LARGE + u64::from(changed), "a"));
            // The journal, the description and the one state.
            assert_eq!(fs::read_dir(keeping.staging.folder()).expect("listed").count(), 3);
            // What cannot wait is copied at once.
            keeping.switch(archive.stage(&CommandInfo::default()).expect("staged"));
            keeping.write(&a, false).expect("kept");
        }
    }

    #[test]
    fn what_cannot_be_read_goes_on_unkept_only_as_the_person_says() {
        for (answer, goes_on) in [(HoldAnswer::Unkept, true), (HoldAnswer::AllowAll, true), (HoldAnswer::Refuse, false)]
        {
            let dir = tempfile::tempdir().expect("a folder");
            let (root, _, mut keeping) = keeping(dir.path(), CopyLimits::default());
            *lock(&keeping.consents) = Consents::new(Some(HoldSettings::default()));
            let (a, to) = (root.join("a"), keeping.staging.folder().join("0001"));
            fs::set_permissions(&a, fs::Permissions::from_mode(0o000)).expect("set");
            // Whoever may read every file may not read this one.
            let from = if fs::File::open(&a).is_err() { a.clone() } else { "/sys/bus/cpu/drivers_probe".into() };
            let meta = fs::symlink_metadata(&a).expect("there");
            let mut copy = |may_go_unkept| keeping.copy_to((&from, &to), &meta, &a, may_go_unkept);
            assert_eq!(copy(true), Err(libc::EACCES));
            let question = keeping.take_question().expect("asked");
            assert_eq!(
                (question.reason, question.path.as_str(), question.may_go_unkept),
                (HoldReason::Unkeepable, "a", true)
            );
            lock(&keeping.consents).take((question.reason, question.path), answer);
            let mut copy = |may_go_unkept| keeping.copy_to((&from, &to), &meta, &a, may_go_unkept);
            assert_eq!(copy(true), if goes_on { Ok(false) } else { Err(libc::EACCES) }, "{answer:?}");
            // A state that others stand on goes nowhere unkept.
            assert_eq!(copy(false), Err(libc::EACCES));
            let why = if goes_on { "you let the call go on" } else { "the call was refused" };
            assert_eq!(keeping.summary().not_archived[0], ("a".into(), format!("it cannot be read: {why}")));
            assert!(keeping.take_question().is_none());
        }
    }

    #[test]
    fn what_is_too_large_is_named_by_its_own_path_and_what_is_not_named_is_counted() {
        let dir = tempfile::tempdir().expect("a folder");
        let (root, _, mut keeping) = keeping(dir.path(), CopyLimits { file: 2, total: 2 });
        fs::hard_link(root.join("a"), root.join("twin")).expect("linked");
        // A file that is renamed is refused under its name now.
        keeping.rename(&root.join("a"), &root.join("moved"), false).expect("kept");
        fs::rename(root.join("a"), root.join("moved")).expect("renamed");
        assert_eq!(keeping.write(&root.join("moved"), false), Err(libc::EDQUOT));
        assert_eq!(keeping.write(&root.join("twin"), false), Err(libc::EDQUOT));
        let why = "too large to be copied: the call was refused; shell.keepFile raises the limit";
        assert_eq!(keeping.summary().not_archived, ["moved", "twin"].map(|path| (path.to_string(), why.to_string())));
        assert_eq!(
            keeping.summary().not_undone(Some(crate::shell::Grant::Workspace), &[]),
            Vec::new(),
            "it is as it was"
        );
        for n in 0..30 {
            keeping.unarchived(&root.join(n.to_string()), "a reason").expect("noted");
            keeping.unarchived(&root.join(n.to_string()), "a reason").expect("noted");
        }
        assert_eq!((keeping.summary().not_archived.len(), keeping.summary().more_not_archived), (NAMED, 12));
        assert_eq!(keeping.summary().not_archived_words().last().as_deref(), Some("and 12 more are not archived"));
    }
}
