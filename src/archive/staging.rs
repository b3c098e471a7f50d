//! The states that a command overwrites, kept while it runs: `.shaft/commands/<UUIDv7>/`, of which sealing makes a
//! changeset.
//!
//! ```text
//! info.json   what ran, and who approved it; every process that still adds to the folder holds its lock, shared
//! journal     one line a kept path, written before the path is changed, and one before each changeset made of them
//! over        made when the command is over and its nebula is gone: what changed later is no work of it
//! 0001, …     the states before
//! ```
//!
//! Staged files are not flushed one by one: whatever is killed, they are there; after a loss of power they are there
//! from the sealing on.

mod journal;
mod sealed;
mod seals;

use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs::{self, File, TryLockError};
use std::io::{self, Write as _};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::fs::FileType;
use serde::{Deserialize, Serialize};

use self::journal::{EndLine, LeftLine, is_staged};
pub use self::journal::{Journal, JournalLine, StagedKind};
pub use self::seals::{SealKind, SealedStates};
use super::{Archive, Error, Id, NotUndone, at};
use crate::disk::{self, Folder, Links};
use crate::text::time;

/// The folder of staging folders in `.shaft`.
const COMMANDS: &str = "commands";
const INFO: &str = "info.json";
/// A file that is made when a command is over of which no nebula is left: its time is that.
const OVER: &str = "over";
/// The longest that a command whose nebula is gone is waited for: its processes have two seconds to end by themselves.
pub const PATIENCE: Duration = Duration::from_secs(5);
const PAUSE: Duration = Duration::from_millis(10);
const JOURNAL: &str = "journal";
/// The largest description of a command that is read, in bytes.
const MAX_INFO: u64 = 16 << 20;
/// The largest journal that is read, in bytes: some millions of paths.
const MAX_JOURNAL: u64 = 1 << 30;

/// The record of a command before it starts, for the process that finds its states after its own processes have
/// ended.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct CommandInfo {
    /// Its text.
    pub command: String,
    /// The folder it runs in.
    pub cwd: PathBuf,
    /// The session that runs it; none: the command line.
    pub session: Option<String>,
    /// The message that asked for it, as memory counts them.
    pub message: Option<i64>,
    /// The message that began the turn, by its id in the file of memory where it is stored there.
    pub turn: Option<i64>,
    /// The tool call's id.
    pub call: Option<String>,
    /// The one who approved it, in words.
    pub approved: Option<String>,
    /// The keeper of the states: `guard` or `scan`.
    pub keeper: String,
    /// The inode of the staging folder, set when it is made: one that came with a clone has another, and what it says
    /// of files is not believed. Not the device: its number may be another after a restart.
    #[serde(default)]
    pub place: u64,
    /// The name of the command's first staging folder; empty: it is this one.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub first: String,
}

/// The staging folders whose processes are gone.
#[derive(Debug, Default)]
pub struct CutOff {
    /// The folders of this archive, oldest first.
    pub found: Vec<(CommandStaging, CommandInfo)>,
    /// The folders that came from elsewhere: what they say of files is not believed.
    pub foreign: Vec<PathBuf>,
    /// The folders that cannot be read, and why: they may hold states that are nowhere else.
    pub unreadable: Vec<(PathBuf, io::Error)>,
    /// The number of folders that commands still keep states in.
    pub in_use: usize,
}

/// The staging folder of one command.
#[derive(Debug)]
pub struct CommandStaging {
    id: Id,
    folder: PathBuf,
    /// Held, shared, by everyone who may still add to it.
    _lock: File,
    /// Held by the one who made it, and who seals it.
    _maker: Option<File>,
    journal: File,
    /// The length of the journal as this one left it: what is more was written by another one's sealing.
    length: u64,
    names: u64,
    /// The changesets that were made of these states, and of those before them: they are no one else's work.
    made: Vec<Id>,
    /// The changesets that the journal announces and that never come: they failed, or are pruned.
    never_made: HashSet<Id>,
}

impl CommandStaging {
    /// Opens an existing one, to add to it.
    ///
    /// # Errors
    /// When it is gone, or cannot be read.
    pub fn open(folder: &Path) -> io::Result<Self> {
        let id = folder.file_name().and_then(|name| Id::parse(name.to_str()?)).ok_or(io::ErrorKind::InvalidInput)?;
        CommandStaging::open_as(id, folder)
    }

    fn open_as(id: Id, folder: &Path) -> io::Result<Self> {
        let name = folder.file_name().ok_or(io::ErrorKind::InvalidInput)?;
        let open = Folder::open(disk::parent(folder))?.enter(name)?;
        let lock = open.open_file(INFO)?;
        lock.lock_shared()?;
        let journal = open.open_to_append(JOURNAL)?;
        let (names, length) = (greatest_staged(&open)?, journal.metadata()?.len());
        let folder = folder.to_path_buf();
        let (made, never_made) = (Vec::new(), HashSet::new());
        Ok(CommandStaging { id, folder, _lock: lock, _maker: None, journal, length, names, made, never_made })
    }

    /// Marks it as in the hands of this process, until that ends.
    fn claim(mut self) -> io::Result<Self> {
        let maker = File::open(&self.folder)?;
        maker.lock()?;
        self._maker = Some(maker);
        Ok(self)
    }

    /// Returns its id, which says when it was made.
    pub fn id(&self) -> Id {
        self.id
    }

    /// Notes changesets that were made of states kept before these: they are no one else's work.
    pub fn follows(&mut self, made: &[Id]) {
        self.made.extend_from_slice(made);
        // For whoever seals these states with others of the same paths.
        made.iter().for_each(|id| drop(self.note(*id, Vec::new(), SealKind::Own)));
    }

    /// Returns the changesets that were made of these states, and of those before them.
    pub fn made(&self) -> &[Id] {
        &self.made
    }

    /// Returns where it lies.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns a path for one more staged file, and its name.
    pub fn new_name(&mut self) -> (PathBuf, String) {
        self.names += 1;
        let name = format!("{:04}", self.names);
        (self.folder.join(&name), name)
    }

    /// Adds a line to the journal, in one piece.
    ///
    /// # Errors
    /// Any error of the file system; then the path must not be changed.
    pub fn add(&mut self, entry: &JournalLine) -> io::Result<()> {
        let (kept, within) = if entry.kept == 0 { time::now_exactly() } else { (entry.kept, entry.within) };
        self.write_line(&JournalLine { kept, within, ..entry.clone() })
    }

    /// Notes what the command had left at a path, before the line of the state that someone else made of it is added, or at
    /// its end: the staged file and its mode; none: nothing was there.
    ///
    /// # Errors
    /// Any error of the file system.
    pub fn add_left(&mut self, path: &str, staged: Option<(String, u32)>) -> io::Result<()> {
        self.write_line(&LeftLine { left: path.to_string(), staged })
    }

    /// Writes a line of the journal. Its break stands before it: a line that was cut off, by a kill or a full disk, spoils
    /// none but itself.
    fn write_line(&mut self, line: &impl Serialize) -> io::Result<()> {
        let mut text = vec![b'\n'];
        serde_json::to_writer(&mut text, line)?;
        (&self.journal).write_all(&text)?;
        self.length += text.len() as u64;
        Ok(())
    }

    /// Notes, once, that its command has ended by itself, and what an undo does not bring back of it: its states could not
    /// be archived then, and whoever finds them later takes it for none that was cut off.
    ///
    /// # Errors
    /// Any error of the file system.
    pub fn note_ended(&mut self, not_undone: &[NotUndone]) -> io::Result<()> {
        if self.journal().is_ok_and(|journal| journal.ended.is_some()) {
            return Ok(());
        }
        self.write_line(&EndLine::of(not_undone))
    }

    /// Returns the paths of which it is noted what the command had left there at its end.
    ///
    /// # Errors
    /// When the journal cannot be read.
    pub fn left_at_end(&self) -> io::Result<HashSet<String>> {
        Ok(self.journal()?.at_end.into_keys().collect())
    }

    /// Returns the time at which its command was over where nobody looked at what it did then, in seconds and nanoseconds.
    pub fn over(&self) -> Option<(i64, i64)> {
        let about = fs::symlink_metadata(self.folder.join(OVER)).ok()?;
        Some((about.mtime(), about.mtime_nsec()))
    }

    /// Returns the readable lines of the journal.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn journal(&self) -> io::Result<Journal> {
        let text = match disk::read_file(&self.folder.join(JOURNAL), MAX_JOURNAL, Links::Refuse) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Journal::default()),
            read => read?,
        };
        Ok(Journal::read(&text))
    }

    /// Returns what is known of its command.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn info(&self) -> io::Result<CommandInfo> {
        read_info(&disk::open_file(&self.folder.join(INFO), Links::Refuse)?)
    }

    /// Empties the folder once its states are archived.
    ///
    /// # Errors
    /// Any error of the file system.
    pub fn empty(&mut self) -> io::Result<()> {
        // First the journal: a staged file without a line is nothing.
        self.journal.set_len(0)?;
        for entry in fs::read_dir(&self.folder)? {
            let entry = entry?;
            if is_staged(&entry.file_name()) {
                fs::remove_file(entry.path())?;
            }
        }
        Ok(())
    }

    /// Removes the whole folder, which has another name first: cut off, it is not taken for one of a command.
    ///
    /// # Errors
    /// Any error of the file system.
    pub fn remove(self) -> io::Result<()> {
        let temp = self.folder.with_file_name(disk::temp_name());
        fs::rename(&self.folder, &temp)?;
        fs::remove_dir_all(temp)
    }
}

/// Notes in a staging folder that its command is over, and that its nebula is gone.
///
/// # Errors
/// Any error of the file system.
pub fn note_over(folder: &Path) -> io::Result<()> {
    File::create_new(folder.join(OVER)).map(drop)
}

/// Writes down whose command a new staging folder is for, and begins its journal.
fn describe(folder: &Folder, info: &CommandInfo) -> io::Result<()> {
    let info = CommandInfo { place: place(folder.path())?, ..info.clone() };
    folder.make_file(INFO, 0o600)?.write_all(&serde_json::to_vec(&info)?)?;
    folder.make_file(JOURNAL, 0o600).map(drop)
}

fn read_info(file: &File) -> io::Result<CommandInfo> {
    Ok(serde_json::from_slice(&disk::read_open(file, MAX_INFO)?)?)
}

/// Returns the greatest number among staged files.
fn greatest_staged(folder: &Folder) -> io::Result<u64> {
    Ok(folder.names()?.iter().filter_map(|name| name.to_str()?.parse().ok()).max().unwrap_or(0))
}

impl Archive {
    /// Returns `.shaft`, where a command's states, previews and removed files lie.
    pub fn home(&self) -> &Path {
        &self.home
    }

    /// Makes the staging folder of a command that is about to start.
    ///
    /// # Errors
    /// Any error of the file system; then the command must not start.
    pub fn stage(&self, info: &CommandInfo) -> Result<CommandStaging, Error> {
        // The lock creates `.shaft` and excludes it from git.
        let mut lock = self.lock()?;
        let id = lock.next();
        lock.save().map_err(at(&self.home))?;
        let commands = self.make_own(COMMANDS)?;
        // It gets its name once it is described and held: one that a kill left half made is none.
        let (temp, name) = (disk::temp_name(), id.to_string());
        let folder = commands.path().join(&name);
        let make = || {
            commands.make(&temp, 0o700)?;
            let made = commands.enter(&temp)?;
            describe(&made, info)?;
            let staging = CommandStaging::open_as(id, made.path())?.claim()?;
            commands.rename(&temp, &name)?;
            Ok(CommandStaging { folder: folder.clone(), ..staging })
        };
        make().map_err(|error| {
            // Nothing was kept in it; what stays is removed once it is old.
            let _ = commands.remove_all(&temp);
            at(&folder)(error)
        })
    }

    /// Returns the staging folders of this archive, and those that cannot be told from them: what lies in its place but is
    /// a link, has another name, or came from elsewhere, is none.
    ///
    /// # Errors
    /// When they cannot be listed.
    pub fn staging_folders(&self) -> Result<Vec<PathBuf>, Error> {
        let Some(commands) = self.open_own(COMMANDS)? else { return Ok(Vec::new()) };
        let mut folders = Vec::new();
        for name in commands.names().map_err(at(commands.path()))? {
            let folder = commands.path().join(&name);
            let info = || read_info(&commands.enter(&name)?.open_file(INFO)?);
            let is_foreign = || info().is_ok_and(|info| place(&folder).is_ok_and(|place| place != info.place));
            if is_named(&name) && is_folder(&commands, &name) && !is_foreign() {
                folders.push(folder);
            }
        }
        Ok(folders)
    }

    /// Returns the staging folders whose processes are gone, oldest first, each with a lock that no other finds it by,
    /// and those that were made in another archive and copied here. Where nebula alone is gone, the helper of its command
    /// ends what still runs: it is waited for, no longer than `patience`.
    ///
    /// # Errors
    /// When they cannot be listed.
    pub fn cut_off(&self, patience: Duration) -> Result<CutOff, Error> {
        let Some(commands) = self.open_own(COMMANDS)? else { return Ok(CutOff::default()) };
        let mut cut = CutOff::default();
        let until = Instant::now() + patience;
        let pause = || {
            let waits = Instant::now() < until && !self.stop.is_cancelled();
            waits.then(|| std::thread::sleep(PAUSE)).is_some()
        };
        for name in commands.names().map_err(at(commands.path()))? {
            // Whatever else lies there is none of nebula's business.
            if !is_folder(&commands, &name) {
                continue;
            }
            let folder = commands.path().join(&name);
            if name.to_str().is_some_and(disk::is_temp_name) {
                if disk::is_old(&folder) {
                    // What stays is removed by the next one.
                    let _ = commands.remove_all(&name);
                }
            } else if is_named(&name) {
                match look_at(&commands, &name, pause) {
                    Ok(StagingLook::CutOff(found)) => cut.found.push(*found),
                    Ok(StagingLook::Foreign) => cut.foreign.push(folder),
                    Ok(StagingLook::InUse) => cut.in_use += 1,
                    Ok(StagingLook::Gone) => {}
                    Err(error) => cut.unreadable.push((folder, error)),
                }
            }
        }
        cut.found.sort_by_key(|(staging, _)| staging.id);
        cut.foreign.sort();
        cut.unreadable.sort_by(|one, other| one.0.cmp(&other.0));
        Ok(cut)
    }
}

/// Returns whether a name is one that staging folders have.
fn is_named(name: &OsStr) -> bool {
    name.to_str().and_then(Id::parse).is_some()
}

/// Returns whether a name is that of a folder, which a link to one is not.
fn is_folder(above: &Folder, name: &OsStr) -> bool {
    above.stat(name).is_ok_and(|stat| stat.is_some_and(|stat| disk::is(&stat, FileType::Directory)))
}

/// The outcome of a look at one staging folder.
enum StagingLook {
    /// Its processes are gone; nobody else finds it now.
    CutOff(Box<(CommandStaging, CommandInfo)>),
    /// It was made in another archive.
    Foreign,
    /// A command still keeps states in it.
    InUse,
    /// There is none, or not any more.
    Gone,
}

/// Looks at a staging folder. Its description is compared with where it lies before anything else of it is opened; nothing
/// is made or removed in it.
fn look_at(commands: &Folder, name: &OsStr, pause: impl FnMut() -> bool) -> io::Result<StagingLook> {
    let folder = commands.path().join(name);
    let open = match commands.enter(name) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(StagingLook::Gone),
        opened => opened?,
    };
    let file = match open.open_file(INFO) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return without_info(commands, name),
        opened => opened?,
    };
    match lock_unused(&file, &folder, pause) {
        Err(TryLockError::WouldBlock) => return Ok(StagingLook::InUse),
        Err(TryLockError::Error(error)) => return Err(error),
        Ok(()) => {}
    }
    if !is_at(&file, &folder.join(INFO)) {
        // Another process has archived it meanwhile.
        return Ok(StagingLook::Gone);
    }
    let info = read_info(&file)?;
    if place(&folder)? != info.place {
        return Ok(StagingLook::Foreign);
    }
    // Shared from here on, and claimed: the next process that looks finds it taken.
    file.lock_shared()?;
    Ok(StagingLook::CutOff(Box::new((CommandStaging::open(&folder)?.claim()?, info))))
}

/// Tells what a folder without a description is. Each is made with one: what lies in it is not looked into, and stays.
fn without_info(commands: &Folder, name: &OsStr) -> io::Result<StagingLook> {
    // One that is about to go has lost its description first; one that is empty goes.
    let is_recent = !disk::is_old(&commands.path().join(name));
    if is_recent || commands.remove_folder(name).is_ok() || !is_folder(commands, name) {
        return Ok(StagingLook::Gone);
    }
    Err(io::Error::new(io::ErrorKind::NotFound, "its info.json is missing"))
}

/// Locks the description of a staging folder, where nobody adds to it any more. Where its maker is gone it is tried
/// again after each `pause`, until that says no.
fn lock_unused(file: &File, folder: &Path, mut pause: impl FnMut() -> bool) -> Result<(), TryLockError> {
    loop {
        match file.try_lock() {
            Err(TryLockError::WouldBlock) if !has_maker(folder) && pause() => {}
            locked => return locked,
        }
    }
}

/// Returns whether the process that made a staging folder is there and will archive what is in it.
pub(super) fn has_maker(folder: &Path) -> bool {
    match File::open(folder) {
        Ok(maker) => matches!(maker.try_lock_shared(), Err(TryLockError::WouldBlock)),
        Err(_) => true,
    }
}

/// Returns whether an open file is the one of a path.
fn is_at(file: &File, path: &Path) -> bool {
    let same = || Ok::<_, io::Error>(file.metadata()?.ino() == fs::symlink_metadata(path)?.ino());
    same().unwrap_or(false)
}

/// Returns the inode of a folder.
fn place(folder: &Path) -> io::Result<u64> {
    Ok(fs::symlink_metadata(folder)?.ino())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::archive::ArchiveSettings;
    use crate::workspace::Workspace;

    #[test]
    fn a_path_is_in_work_from_its_keeping_until_its_command_is_archived_or_its_nebula_gone() {
        let dir = tempfile::tempdir().expect("a folder");
        let workspace = Workspace::open(dir.path()).expect("open");
        let archive = Archive::open(&workspace, &ArchiveSettings::default()).expect("open");
        let in_work = || {
            let mut found: Vec<&str> = archive.in_work(&HashSet::from(["a", "b"])).into_iter().collect();
            found.sort_unstable();
            found
        };
        let info = |keeper: &str| CommandInfo { keeper: keeper.into(), ..CommandInfo::default() };
        let line = JournalLine {
            path: "a".into(),
            kind: StagedKind::Absent,
            mode: 0o600,
            staged: None,
            inode: JournalLine::COPY,
            kept: 0,
            again: false,
            within: 0,
        };
        let mut guarded = archive.stage(&info("guard")).expect("staged");
        assert!(in_work().is_empty());
        guarded.add(&line).expect("added");
        assert_eq!(in_work(), ["a"]);
        guarded.empty().expect("emptied");
        assert!(in_work().is_empty());
        guarded.add(&line).expect("added");
        drop(guarded);
        assert!(in_work().is_empty(), "nobody archives it but the next start");
        // What a scan finds is known at its end.
        let mut scanned = archive.stage(&info("scan")).expect("staged");
        assert_eq!(in_work(), ["a", "b"]);
        scanned.note_ended(&[]).expect("noted");
        assert!(in_work().is_empty());
    }

    #[test]
    fn a_line_that_names_a_file_elsewhere_does_not_count() {
        let dir = tempfile::tempdir().expect("a folder");
        let workspace = Workspace::open(dir.path()).expect("open");
        let archive = Archive::open(&workspace, &ArchiveSettings::default()).expect("open");
        let mut staging = archive.stage(&CommandInfo::default()).expect("staged");
        for (path, staged) in [("a", "/home/me/key"), ("b", "../x"), ("c", ""), ("d", "journal"), ("e", "0001")] {
            let (kind, staged) = (StagedKind::File, Some(staged.to_string()));
            staging
                .add(&JournalLine {
                    path: path.into(),
                    kind,
                    mode: 0o600,
                    staged,
                    inode: (1, 2),
                    kept: 0,
                    again: false,
                    within: 0,
                })
                .expect("added");
        }
        let paths: Vec<String> = staging.journal().expect("read").states.into_iter().map(|line| line.path).collect();
        assert_eq!(paths, ["e"]);
    }

    #[test]
    fn a_command_whose_nebula_is_gone_is_waited_for_and_one_that_runs_is_counted() {
        let dir = tempfile::tempdir().expect("a folder");
        let workspace = Workspace::open(dir.path()).expect("open");
        let archive = Archive::open(&workspace, &ArchiveSettings::default()).expect("open");
        let nebula = archive.stage(&CommandInfo::default()).expect("staged");
        let helper = CommandStaging::open(nebula.folder()).expect("open");
        let look = || archive.cut_off(Duration::ZERO).expect("listed");
        let counts = |cut: &CutOff| (cut.found.len(), cut.in_use, cut.unreadable.len());
        let folder = nebula.folder().to_path_buf();
        let info = || File::open(folder.join(INFO)).expect("open");
        let never = || panic!("a command that runs is not waited for");
        assert!(lock_unused(&info(), &folder, never).is_err());
        assert_eq!(counts(&look()), (0, 1, 0), "it runs");
        drop(nebula);
        assert_eq!(counts(&look()), (0, 1, 0), "its helper ends it");
        let mut helper = Some(helper);
        let unused = info();
        assert!(
            lock_unused(&unused, &folder, || helper.take().is_some()).is_ok(),
            "it has ended while it was waited for"
        );
        drop(unused);
        let cut = look();
        assert_eq!(cut.found.iter().map(|(own, _)| own.folder()).collect::<Vec<_>>(), [&folder]);
        // One that is being archived is not waited for, and gone it is none.
        assert!(lock_unused(&info(), &folder, never).is_err());
        let late = info();
        cut.found.into_iter().for_each(|(own, _)| own.remove().expect("removed"));
        assert!(!is_at(&late, &folder.join(INFO)));
        assert_eq!(counts(&look()), (0, 0, 0));
    }

    #[test]
    fn a_line_that_was_cut_off_takes_no_other_with_it() {
        let dir = tempfile::tempdir().expect("a folder");
        let workspace = Workspace::open(dir.path()).expect("open");
        let archive = Archive::open(&workspace, &ArchiveSettings::default()).expect("open");
        let mut staging = archive.stage(&CommandInfo::default()).expect("staged");
        let line = |path: &str| JournalLine {
            path: path.into(),
            kind: StagedKind::Absent,
            mode: 0,
            staged: None,
            inode: JournalLine::COPY,
            kept: 1,
            again: false,
            within: 0,
        };
        staging.add(&line("before")).expect("added");
        (&staging.journal).write_all(b"\n{\"path\":\"torn").expect("written");
        staging.add(&line("after")).expect("added");
        (&staging.journal).write_all(b"\n{").expect("written");
        staging.seals(staging.id(), vec![0, 1]).expect("noted");
        let journal = staging.journal().expect("read");
        assert_eq!(journal.states, [line("before"), line("after")]);
        let sealed = SealedStates { changeset: staging.id(), states: vec![0, 1], kind: SealKind::Own };
        assert_eq!(journal.seals, [sealed]);
    }

    #[test]
    fn a_folder_that_was_cut_off_half_made_or_half_removed_is_none() {
        let dir = tempfile::tempdir().expect("a folder");
        let workspace = Workspace::open(dir.path()).expect("open");
        let archive = Archive::open(&workspace, &ArchiveSettings::default()).expect("open");
        let staging = archive.stage(&CommandInfo::default()).expect("staged");
        let commands = staging.folder().parent().expect("a folder").to_path_buf();
        let [new, old] = [(); 2].map(|()| commands.join(disk::temp_name()));
        for half in [&new, &old] {
            fs::create_dir(half).expect("made");
            fs::write(half.join(INFO), "").expect("written");
        }
        let long_ago = std::time::SystemTime::now() - Duration::from_secs(3_600);
        File::open(&old).and_then(|old| old.set_modified(long_ago)).expect("set");
        let cut = archive.cut_off(Duration::ZERO).expect("listed");
        assert!(cut.found.is_empty() && cut.foreign.is_empty() && cut.unreadable.is_empty(), "{cut:?}");
        assert_eq!((cut.in_use, new.exists(), old.exists()), (1, true, false));
        let left = || fs::read_dir(&commands).expect("listed").count();
        assert_eq!(left(), 2, "nothing is left of its making");
        staging.remove().expect("removed");
        assert_eq!(left(), 1, "nor of its removal");
    }

    #[test]
    fn a_folder_that_was_copied_here_is_named_and_left() {
        let dir = tempfile::tempdir().expect("a folder");
        let workspace = Workspace::open(dir.path()).expect("open");
        let archive = Archive::open(&workspace, &ArchiveSettings::default()).expect("open");
        let staging = archive.stage(&CommandInfo::default()).expect("staged");
        let (own, copy) =
            (staging.folder().to_path_buf(), staging.folder().with_file_name(Id::after(staging.id()).to_string()));
        drop(staging);
        fs::create_dir(&copy).expect("made");
        fs::copy(own.join(INFO), copy.join(INFO)).expect("copied");
        let cut = archive.cut_off(Duration::ZERO).expect("listed");
        assert_eq!(cut.found.iter().map(|(own, _)| own.folder()).collect::<Vec<_>>(), [own]);
        assert_eq!(cut.foreign, [copy]);
    }

    #[test]
    fn a_folder_whose_description_is_damaged_is_named() {
        let dir = tempfile::tempdir().expect("a folder");
        let workspace = Workspace::open(dir.path()).expect("open");
        let archive = Archive::open(&workspace, &ArchiveSettings::default()).expect("open");
        let staging = archive.stage(&CommandInfo::default()).expect("staged");
        let folder = staging.folder().to_path_buf();
        drop(staging);
        fs::write(folder.join(INFO), "{").expect("damaged");
        let cut = archive.cut_off(Duration::ZERO).expect("listed");
        assert_eq!(cut.unreadable.iter().map(|(folder, _)| folder.clone()).collect::<Vec<_>>(), [folder]);
        assert!(cut.found.is_empty() && cut.foreign.is_empty());
    }

    fn long_ago(folder: &Path) {
        let long_ago = std::time::SystemTime::now() - Duration::from_secs(3_600);
        File::open(folder).and_then(|folder| folder.set_modified(long_ago)).expect("set");
    }

    #[test]
    fn a_link_in_the_place_of_the_folder_leads_nothing_away() {
        let dir = tempfile::tempdir().expect("a folder");
        let (kept, root) = (dir.path().join("kept"), dir.path().join("clone"));
        fs::create_dir_all(kept.join("sub")).expect("made");
        long_ago(&kept);
        fs::create_dir_all(root.join(".shaft")).expect("made");
        std::os::unix::fs::symlink("../..", root.join(".shaft/commands")).expect("linked");
        let workspace = Workspace::open(&root).expect("open");
        let archive = Archive::open(&workspace, &ArchiveSettings::default()).expect("open");
        assert!(archive.cut_off(Duration::ZERO).is_err_and(|error| error.to_string().contains("is a link")));
        assert!(archive.staging_folders().is_err() && archive.stage(&CommandInfo::default()).is_err());
        assert!(kept.join("sub").is_dir());
        fs::remove_file(root.join(".shaft/commands")).expect("removed");
        let staging = archive.stage(&CommandInfo::default()).expect("staged");
        let linked = staging.folder().with_file_name(Id::after(staging.id()).to_string());
        std::os::unix::fs::symlink("../../../kept", &linked).expect("linked");
        let cut = archive.cut_off(Duration::ZERO).expect("listed");
        assert!((cut.in_use, cut.unreadable.len()) == (1, 0) && kept.join("sub").is_dir());
    }

    #[test]
    fn a_folder_without_a_description_or_of_another_name_stays() {
        let dir = tempfile::tempdir().expect("a folder");
        let workspace = Workspace::open(dir.path()).expect("open");
        let archive = Archive::open(&workspace, &ArchiveSettings::default()).expect("open");
        let mut staging = archive.stage(&CommandInfo::default()).expect("staged");
        fs::write(staging.new_name().0, "before").expect("kept");
        let folder = staging.folder().to_path_buf();
        fs::remove_file(folder.join(INFO)).expect("lost");
        let empty = folder.with_file_name(Id::after(staging.id()).to_string());
        drop(staging);
        let mine = folder.with_file_name("mine");
        [&empty, &mine].into_iter().for_each(|folder| fs::create_dir(folder).expect("made"));
        [&folder, &empty, &mine].into_iter().for_each(|folder| long_ago(folder));
        let cut = archive.cut_off(Duration::ZERO).expect("listed");
        let unreadable: Vec<_> = cut.unreadable.iter().map(|(folder, why)| (folder.clone(), why.to_string())).collect();
        assert_eq!(unreadable, [(folder.clone(), "its info.json is missing".to_string())]);
        assert_eq!(fs::read(folder.join("0001")).expect("there"), b"before");
        assert!(mine.is_dir() && !empty.exists());
    }

    #[test]
    fn what_is_no_regular_file_is_neither_opened_nor_waited_for_and_nothing_is_made() {
        let dir = tempfile::tempdir().expect("a folder");
        let root = dir.path().join("clone");
        fs::create_dir(&root).expect("made");
        let workspace = Workspace::open(&root).expect("open");
        let archive = Archive::open(&workspace, &ArchiveSettings::default()).expect("open");
        let folders = [(); 3].map(|()| archive.stage(&CommandInfo::default()).expect("staged").folder().to_path_buf());
        let pipe = |path: &Path| {
            fs::remove_file(path).expect("removed");
            let (pipe, mode) = (FileType::Fifo, rustix::fs::Mode::RUSR);
            rustix::fs::mknodat(rustix::fs::CWD, path, pipe, mode, 0).expect("a pipe");
        };
        pipe(&folders[0].join(INFO));
        pipe(&folders[1].join(JOURNAL));
        fs::remove_file(folders[2].join(JOURNAL)).expect("removed");
        std::os::unix::fs::symlink(dir.path().join("made"), folders[2].join(JOURNAL)).expect("linked");
        let foreign = folders[2].with_file_name(Id::after(Id::MIN).to_string());
        fs::create_dir(&foreign).expect("made");
        fs::write(foreign.join(INFO), r#"{"command":"","cwd":"","keeper":""}"#).expect("written");
        std::os::unix::fs::symlink(dir.path().join("made"), foreign.join(JOURNAL)).expect("linked");
        let cut = archive.cut_off(Duration::ZERO).expect("listed");
        let unreadable: Vec<_> = cut.unreadable.iter().map(|(folder, _)| folder).collect();
        assert_eq!((unreadable, cut.found.len()), (folders.iter().collect(), 0), "{:?}", cut.unreadable);
        assert_eq!(cut.foreign, [foreign]);
        assert!(!dir.path().join("made").exists());
    }
}
