//! Views: copy-on-write overlays over the workspace in which a command runs and changes nothing. What it would have
//! changed is read afterwards.
//!
//! ```text
//! .shaft/views/<id>/
//!   lock    held by the process whose view it is; one that no process holds is removed
//!   upper   what was made or changed, whiteouts for what was removed
//!   work    the kernel's own
//!   tmp/N   the same two for each folder of temporary files, and for the repository of a linked worktree
//! ```
//!
//! Where the file system of `.shaft` holds no such layers, they lie in memory: `/dev/shm/nebula-views-UID/<id>`.

mod changes;
#[cfg(target_os = "linux")]
pub(super) mod layers;
mod met;
#[cfg(target_os = "linux")]
mod mountinfo;
#[cfg(target_os = "linux")]
mod mounts;
#[cfg(target_os = "linux")]
mod overlay;
#[cfg(target_os = "linux")]
mod pieces;
mod refusal;

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, FileType, Mode};
use tokio_util::sync::CancellationToken;

use changes::Beginning;
pub use changes::{TooMuch, ViewChanges};
use met::{FileTime, MetStates, changed_at};
#[cfg(target_os = "linux")]
pub use mounts::{enter, only_read_below};
pub use refusal::{refusal, refusal_within};

use super::message::ViewStart;
use super::places::PathClasses;
use super::sandbox::TEMPORARY;
use crate::archive::{Archive, Error};
use crate::disk::{self, Links};
use crate::proposal::State;
use crate::workspace::{Workspace, copy_large};

/// The folder of views in `.shaft`.
const VIEWS: &str = "views";
const LOCK: &str = "lock";
const UPPER: &str = "upper";
const WORK: &str = "work";
const TMP: &str = "tmp";

/// A view. Dropping it throws away what was changed in it.
#[derive(Debug)]
pub struct View {
    folder: PathBuf,
    root: PathBuf,
    home: PathBuf,
    /// Held as long as it is in use.
    _lock: File,
    /// The time at which it began, by the clock of the workspace's file system.
    begun: FileTime,
    /// The mode that its layer over the workspace began with.
    mode: u32,
    /// The repository of a linked worktree, which lies outside the workspace.
    repository: Option<PathBuf>,
    /// The files as they were when it began, for those that change on disk meanwhile.
    met: MetStates,
}

impl View {
    /// Creates a view of the workspace as it is.
    ///
    /// # Errors
    /// When its folders cannot be made.
    pub fn create(workspace: &Workspace, archive: &Archive) -> Result<View, Error> {
        // The lock makes `.shaft` and excludes it from git.
        drop(archive.lock()?);
        let at = |path: &Path| {
            let path = path.to_path_buf();
            move |source| Error::Io { path, source }
        };
        let own = archive.make_own(VIEWS)?.path().to_path_buf();
        sweep(archive);
        let begun = now_in(&own).map_err(at(&own))?;
        let views = elsewhere(archive.home()).unwrap_or(own);
        // It gets its name once it is held: one that a kill left half made is none.
        let (temp, folder) = (views.join(disk::temp_name()), views.join(uuid::Uuid::new_v4().to_string()));
        make_folder(&temp).map_err(at(&temp))?;
        let lock = OpenOptions::new().write(true).create_new(true).mode(0o600).open(temp.join(LOCK));
        let held = lock.and_then(|lock| lock.lock().and_then(|()| fs::rename(&temp, &folder)).map(|()| lock));
        let lock = held.map_err(at(&folder))?;
        let (root, home) = (workspace.root().to_path_buf(), archive.home().to_path_buf());
        let linked = workspace.outside().into_iter().find(|outside| outside.is_repository);
        let repository = linked.map(|linked| linked.folder).filter(|folder| !folder.starts_with(&root));
        let mut view = View { folder, root, home, _lock: lock, begun, mode: 0, repository, met: MetStates::default() };
        view.mode = view.make_layers().map_err(at(&view.folder))?;
        Ok(view)
    }

    /// Begins to read the files of the workspace as they are now: what a command changes of one that someone else changes
    /// meanwhile can be proposed then.
    #[must_use]
    pub fn with_met_states(mut self, workspace: &Workspace) -> View {
        self.met = MetStates::begin(workspace, self.begun);
        self
    }

    /// Makes its folders; the mode of the layer over the workspace.
    fn make_layers(&self) -> io::Result<u32> {
        make_layer(&self.folder, &self.root)?;
        make_folder(&self.folder.join(TMP))?;
        for (at, layer) in self.beside() {
            make_folder(&layer)?;
            make_layer(&layer, &at)?;
        }
        Ok(fs::metadata(self.folder.join(UPPER))?.mode() & 0o7777)
    }

    /// Returns the other folders that it lies over, those for temporary files and the repository of a linked worktree, each
    /// with the folder of its layers.
    fn beside(&self) -> Vec<(PathBuf, PathBuf)> {
        let there = TEMPORARY.iter().filter_map(|folder| Path::new(folder).canonicalize().ok());
        let there = there.chain(self.repository.clone());
        let layer = |(i, at): (usize, PathBuf)| (at, self.folder.join(TMP).join(i.to_string()));
        there.enumerate().map(layer).collect()
    }

    /// Returns what the process that mounts it has to know.
    pub(super) fn start(&self) -> ViewStart {
        let (root, home) = (self.root.clone(), self.home.clone());
        ViewStart { root, home, folder: self.folder.clone(), beside: self.beside() }
    }

    /// Puts a state into the view before a command runs in it.
    ///
    /// # Errors
    /// Any error of the file system.
    pub fn put(&self, path: &str, state: &State) -> io::Result<()> {
        let upper = self.folder.join(UPPER);
        let inside = Path::new(path.trim_end_matches('/'));
        self.make_folders(inside.parent().unwrap_or(Path::new("")))?;
        let to = upper.join(inside);
        match fs::symlink_metadata(&to) {
            Ok(meta) if !meta.is_dir() => fs::remove_file(&to)?,
            // What was put into it goes with it.
            Ok(_) if !matches!(state, State::Folder { .. }) => fs::remove_dir_all(&to)?,
            Ok(_) | Err(_) => {}
        }
        let old = fs::symlink_metadata(self.root.join(inside)).ok();
        let usual = old.as_ref().filter(|meta| meta.is_file()).map_or(0o644, |meta| meta.mode() & 0o7777);
        match state {
            State::Absent if old.is_none() => Ok(()),
            State::Absent => {
                let whiteout = rustix::fs::mknodat(CWD, &to, FileType::CharacterDevice, Mode::empty(), 0);
                whiteout.map_err(io::Error::from)
            }
            State::File { bytes, mode } => {
                fs::write(&to, bytes)?;
                fs::set_permissions(&to, fs::Permissions::from_mode(mode.unwrap_or(usual)))
            }
            State::Large(large) => {
                let file = OpenOptions::new().read(true).write(true).create_new(true).open(&to)?;
                copy_large(large, &file, &CancellationToken::new())?;
                file.set_permissions(fs::Permissions::from_mode(large.mode.unwrap_or(usual)))
            }
            State::Link { target } => std::os::unix::fs::symlink(target, &to),
            State::Folder { mode } => {
                self.make_folders(inside)?;
                fs::set_permissions(&to, fs::Permissions::from_mode(*mode))
            }
        }
    }

    /// Makes a folder of the upper layer and those above it, with the modes that they have in the workspace.
    fn make_folders(&self, inside: &Path) -> io::Result<()> {
        let mut path = PathBuf::new();
        for part in inside.components() {
            path.push(part);
            let to = self.folder.join(UPPER).join(&path);
            match fs::symlink_metadata(&to) {
                Ok(meta) if meta.is_dir() => continue,
                // A file that was removed, or a folder that was something else before.
                Ok(_) => fs::remove_file(&to)?,
                Err(_) => {}
            }
            fs::create_dir(&to)?;
            let old = fs::symlink_metadata(self.root.join(&path)).ok().filter(|meta| meta.is_dir());
            let mode = old.map_or(0o755, |meta| meta.mode() & 0o7777);
            fs::set_permissions(&to, fs::Permissions::from_mode(mode | 0o700))?;
        }
        Ok(())
    }

    /// Reads what was changed in it: nothing of it runs any more.
    ///
    /// # Errors
    /// When it is too much for a proposal, or cannot be read.
    pub fn changes(&self, workspace: &Workspace, places: &PathClasses) -> Result<ViewChanges, TooMuch> {
        // What proves that a folder can be rebuilt may have been made in it.
        let upper = self.folder.join(UPPER);
        let linked = self.beside().into_iter().find(|(at, _)| Some(at) == self.repository.as_ref());
        let linked = linked.map(|(_, layer)| layer.join(UPPER));
        let begun = Beginning { at: self.begun, mode: self.mode, met: &self.met };
        changes::read((&upper, linked.as_deref()), workspace, &places.over(&upper), &begun)
    }
}

impl Drop for View {
    fn drop(&mut self) {
        // What stays is removed by the next one.
        let _ = remove(&self.folder);
    }
}

/// Makes the two folders of an overlay of `lower`.
fn make_layer(folder: &Path, lower: &Path) -> io::Result<()> {
    make_folder(&folder.join(UPPER))?;
    make_folder(&folder.join(WORK))?;
    let mode = fs::metadata(lower)?.mode() & 0o7777;
    fs::set_permissions(folder.join(UPPER), fs::Permissions::from_mode(mode | 0o700))
}

/// Returns the present time by the clock of the file system of a folder, which may be another machine's.
fn now_in(folder: &Path) -> io::Result<FileTime> {
    let made = folder.join(disk::temp_name());
    make_folder(&made)?;
    let now = fs::metadata(&made).map(|meta| changed_at(&meta));
    // What stays is removed by the next one.
    let _ = fs::remove_dir(&made);
    now
}

/// Makes a folder for its owner alone, where it is missing.
fn make_folder(folder: &Path) -> io::Result<()> {
    match DirBuilder::new().mode(0o700).create(folder) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
        _ => Ok(()),
    }
}

/// Removes the views whose processes are gone.
pub fn sweep(archive: &Archive) {
    // A link in its place leads to what is none of nebula's business.
    let own = archive.open_own(VIEWS).ok().flatten();
    own.into_iter().for_each(|views| sweep_in(views.path()));
    elsewhere(archive.home()).into_iter().for_each(|views| sweep_in(&views));
}

/// Returns the folder of views where they cannot lie in `.shaft`.
fn elsewhere(home: &Path) -> Option<PathBuf> {
    #[cfg(target_os = "linux")]
    return layers::elsewhere(home).ok().flatten();
    #[cfg(not(target_os = "linux"))]
    return None;
}

fn sweep_in(views: &Path) {
    for entry in fs::read_dir(views).into_iter().flatten().flatten() {
        let folder = entry.path();
        let name = entry.file_name();
        let name = name.to_str().unwrap_or_default();
        let is_named = uuid::Uuid::try_parse(name).is_ok();
        // A link or a folder of another name is none of nebula's.
        if !entry.file_type().is_ok_and(|kind| kind.is_dir()) || !(is_named || disk::is_temp_name(name)) {
            continue;
        }
        let free = match disk::open_file(&folder.join(LOCK), Links::Refuse) {
            Ok(lock) if is_named => lock.try_lock().is_ok(),
            Ok(_) => disk::is_old(&folder),
            // It may be on its way; what is no file is no lock.
            Err(_) => disk::is_old(&folder),
        };
        if free {
            // What stays is removed by the next one.
            let _ = remove(&folder);
        }
    }
}

/// Removes a view's folder, its lock last: one without a lock is left alone for a while.
fn remove(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)?.flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            remove_layer(&entry.path())?;
        }
    }
    fs::remove_dir_all(folder)
}

/// Removes a folder of a view, also where a command or the kernel took the rights of folders in it away.
fn remove_layer(folder: &Path) -> io::Result<()> {
    if fs::remove_dir_all(folder).is_ok() {
        return Ok(());
    }
    open_up(folder);
    fs::remove_dir_all(folder)
}

fn open_up(folder: &Path) {
    if !fs::symlink_metadata(folder).is_ok_and(|meta| meta.is_dir()) {
        return;
    }
    // What cannot be opened up cannot be removed, which the removal says.
    let _ = fs::set_permissions(folder, fs::Permissions::from_mode(0o700));
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            open_up(&entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::archive::ArchiveSettings;

    #[test]
    fn views_of_processes_that_are_gone_are_removed_and_nothing_else() {
        let dir = tempfile::tempdir().expect("a folder");
        let workspace = Workspace::open(dir.path()).expect("open");
        let archive = Archive::open(&workspace, &ArchiveSettings::default()).expect("open");
        let held = View::create(&workspace, &archive).expect("a view");
        let views = archive.home().join(VIEWS);
        let new_name = || uuid::Uuid::new_v4().to_string();
        let (left, mine) = (views.join(new_name()), views.join("mine"));
        fs::create_dir(&mine).expect("made");
        File::open(&mine).and_then(|mine| mine.set_modified(std::time::SystemTime::UNIX_EPOCH)).expect("set");
        make_folder(&left).expect("made");
        File::create(left.join(LOCK)).expect("made");
        fs::create_dir_all(left.join("upper/shut/in")).expect("made");
        fs::set_permissions(left.join("upper/shut"), fs::Permissions::from_mode(0o0)).expect("set");
        let target = dir.path().join("elsewhere");
        fs::create_dir(&target).expect("made");
        fs::set_permissions(&target, fs::Permissions::from_mode(0o755)).expect("set");
        std::os::unix::fs::symlink(&target, views.join(new_name())).expect("linked");
        let half = views.join(disk::temp_name());
        make_folder(&half).expect("made");
        File::create(half.join(LOCK)).expect("made");
        sweep(&archive);
        assert!(held.folder.is_dir() && half.is_dir() && !left.exists() && mine.is_dir());
        let long_ago = std::time::SystemTime::now() - std::time::Duration::from_secs(3_600);
        File::open(&half).and_then(|half| half.set_modified(long_ago)).expect("set");
        sweep(&archive);
        assert!(!half.exists());
        assert_eq!(fs::metadata(&target).expect("there").mode() & 0o777, 0o755);
        let folder = held.folder.clone();
        drop(held);
        assert!(!folder.exists());
    }

    #[test]
    fn states_are_put_into_a_view_and_read_from_it() {
        let dir = tempfile::tempdir().expect("a folder");
        fs::create_dir_all(dir.path().join("a")).expect("made");
        fs::write(dir.path().join("a/b"), "old").expect("written");
        fs::write(dir.path().join("same"), "same").expect("written");
        let workspace = Workspace::open(dir.path()).expect("open");
        let archive = Archive::open(&workspace, &ArchiveSettings::default()).expect("open");
        let view = View::create(&workspace, &archive).expect("a view");
        view.put("a/b", &State::file(*b"new")).expect("put");
        view.put("c/d", &State::file(*b"made")).expect("put");
        view.put("same", &State::file(*b"same")).expect("put");
        let places = PathClasses::new(&workspace, &archive, &crate::shell::PlaceSettings::default());
        let changes = view.changes(&workspace, &places).expect("read");
        let paths: Vec<&str> = changes.files.iter().map(|file| file.path.as_str()).collect();
        assert_eq!(paths, ["a/b", "c/", "c/d"]);
        assert_eq!(changes.files[0].after.text(), Some("new"));
        // A folder that is removed after what is in it, a file in its place, and a folder in a file's.
        view.put("a/b", &State::Absent).expect("put");
        view.put("a/", &State::Absent).expect("put");
        view.put("a", &State::file(*b"a file now")).expect("put");
        view.put("same", &State::Absent).expect("put");
        view.put("same/in", &State::file(*b"in")).expect("put");
        let changes = view.changes(&workspace, &places).expect("read");
        let of = |path: &str| changes.files.iter().find(|file| file.path == path).map(|file| file.after.clone());
        assert_eq!(of("a").and_then(|state| state.text().map(str::to_string)).as_deref(), Some("a file now"));
        assert_eq!((of("a/b"), of("a/")), (Some(State::Absent), Some(State::Absent)), "{changes:?}");
        assert_eq!(of("same/in").and_then(|state| state.text().map(str::to_string)).as_deref(), Some("in"));
        view.put("same/in", &State::Absent).expect("put");
        view.put("same/", &State::Absent).expect("put");
        view.put("a", &State::Absent).expect("put");
        view.put("a/b", &State::file(*b"new")).expect("put");
        // What someone writes meanwhile is not taken back.
        // The clock of the file system goes on in steps.
        while changed_at(&fs::metadata(dir.path().join("a/b")).expect("there")) <= view.begun {
            fs::write(dir.path().join("a/b"), "theirs").expect("written");
        }
        let changes = view.changes(&workspace, &places).expect("read");
        assert!(changes.files.iter().all(|file| file.path != "a/b"), "{changes:?}");
        assert_eq!(changes.left_out, [("a/b".to_string(), "it changed on disk while the preview ran".to_string())]);
        assert_eq!(changes.unknown.as_deref(), Some("a/b"), "the rest is not the whole");
    }

    #[test]
    fn what_changed_on_disk_meanwhile_is_merged_or_proposed_as_a_change_of_what_the_view_met() {
        let dir = tempfile::tempdir().expect("a folder");
        let at = |name: &str| dir.path().join(name);
        for name in ["changed", "removed", "gone", "touched", "there"] {
            fs::write(at(name), "one\n").expect("written");
        }
        let workspace = Workspace::open(dir.path()).expect("open");
        let archive = Archive::open(&workspace, &ArchiveSettings::default()).expect("open");
        let mut view = View::create(&workspace, &archive).expect("a view");
        view.met = MetStates::at_once(&workspace, view.begun);
        view.put("changed", &State::file(*b"one\ntwo\n")).expect("put");
        view.put("removed", &State::Absent).expect("put");
        view.put("gone", &State::file(*b"one\ntwo\n")).expect("put");
        view.put("touched", &State::file(*b"one\n")).expect("put");
        view.put("there", &State::file(*b"mine\none\n")).expect("put");
        fs::remove_file(at("gone")).expect("removed");
        for name in ["changed", "removed", "touched", "there"] {
            // The clock of the file system goes on in steps.
            while changed_at(&fs::metadata(at(name)).expect("there")) <= view.begun {
                fs::write(at(name), "mine\none\n").expect("written");
            }
        }
        let places = PathClasses::new(&workspace, &archive, &crate::shell::PlaceSettings::default());
        let changes = view.changes(&workspace, &places).expect("read");
        let found: Vec<_> = changes.files.iter().map(|file| (file.path.as_str(), file.after.text())).collect();
        let merged = ("changed", Some("mine\none\ntwo\n"));
        assert_eq!(found, [merged, ("gone", Some("one\ntwo\n")), ("removed", None)]);
        // A line of someone else's is none of the command's.
        let before: Vec<_> = changes.files.iter().map(|file| file.before.text()).collect();
        assert_eq!(before, [Some("mine\none\n"), Some("one\n"), Some("one\n")]);
        assert_eq!((changes.files[0].counts.added, changes.files[0].counts.removed), (1, 0));
        assert_eq!(
            (changes.met.len(), changes.unknown.as_deref(), changes.left_out.len()),
            (3, None, 0),
            "{changes:?}"
        );
        assert!(changes.notes()[0].starts_with("changed on disk while the preview ran: changed, gone, removed: "));
    }

    #[test]
    fn a_line_that_both_the_command_and_someone_else_have_is_not_proposed() {
        let dir = tempfile::tempdir().expect("a folder");
        let lines = |five: &str, nine: &str| format!("1\n2\n3\n4\n{five}\n6\n7\n8\n{nine}\n");
        for name in ["met", "same"] {
            fs::write(dir.path().join(name), lines("5", "9")).expect("written");
        }
        let workspace = Workspace::open(dir.path()).expect("open");
        let archive = Archive::open(&workspace, &ArchiveSettings::default()).expect("open");
        let mut view = View::create(&workspace, &archive).expect("a view");
        view.met = MetStates::at_once(&workspace, view.begun);
        // The command met the line already, as a view shows what is on disk.
        view.put("met", &State::file(lines("FIVE", "NINE").into_bytes())).expect("put");
        view.put("same", &State::file(lines("5", "NINE").into_bytes())).expect("put");
        for (name, text) in [("met", lines("FIVE", "9")), ("same", lines("FIVE", "NINE"))] {
            // The clock of the file system goes on in steps.
            while changed_at(&fs::metadata(dir.path().join(name)).expect("there")) <= view.begun {
                fs::write(dir.path().join(name), &text).expect("written");
            }
        }
        let places = PathClasses::new(&workspace, &archive, &crate::shell::PlaceSettings::default());
        let changes = view.changes(&workspace, &places).expect("read");
        let [met] = &changes.files[..] else { panic!("{changes:?}") };
        assert_eq!((met.path.as_str(), met.counts.added, met.counts.removed), ("met", 1, 1));
        let (before, after) = (lines("FIVE", "9"), lines("FIVE", "NINE"));
        assert_eq!((met.before.text(), met.after.text()), (Some(before.as_str()), Some(after.as_str())));
    }

    /// To read a file that keeps its owner out its mode is another for a moment, which is no change by someone else.
    #[test]
    fn a_file_that_its_owner_cannot_read_did_not_change_on_disk() {
        let dir = tempfile::tempdir().expect("a folder");
        let at = |name: &str| dir.path().join(name);
        fs::write(at("private"), "one\n").expect("written");
        fs::set_permissions(at("private"), fs::Permissions::from_mode(0o0)).expect("set");
        let workspace = Workspace::open(dir.path()).expect("open");
        let archive = Archive::open(&workspace, &ArchiveSettings::default()).expect("open");
        let view = View::create(&workspace, &archive).expect("a view");
        view.put("private", &State::Absent).expect("put");
        fs::write(at("later"), "").expect("written");
        while changed_at(&fs::metadata(at("later")).expect("there")) <= view.begun {
            // The clock of the file system goes on in steps.
            fs::write(at("later"), "").expect("written");
        }
        let places = PathClasses::new(&workspace, &archive, &crate::shell::PlaceSettings::default());
        let changes = view.changes(&workspace, &places).expect("read");
        let paths: Vec<&str> = changes.files.iter().map(|file| file.path.as_str()).collect();
        assert_eq!((paths, changes.left_out.len()), (vec!["private"], 0), "{changes:?}");
    }

    #[test]
    fn what_a_command_changes_of_nebulas_own_is_left_out_and_said() {
        let dir = tempfile::tempdir().expect("a folder");
        fs::create_dir_all(dir.path().join("sub/.shaft")).expect("made");
        let workspace = Workspace::open(dir.path()).expect("open");
        let archive = Archive::open(&workspace, &ArchiveSettings::default()).expect("open");
        let view = View::create(&workspace, &archive).expect("a view");
        for path in [".nebula/config.json", "sub/.shaft/lock", "other"] {
            view.put(path, &State::file(*b"x")).expect("put");
        }
        let places = PathClasses::new(&workspace, &archive, &crate::shell::PlaceSettings::default());
        let changes = view.changes(&workspace, &places).expect("read");
        let paths: Vec<&str> = changes.files.iter().map(|file| file.path.as_str()).collect();
        let left: Vec<&str> = changes.left_out.iter().map(|(path, _)| path.as_str()).collect();
        assert_eq!((paths, left), (vec!["other"], vec![".nebula", "sub/.shaft"]));
        assert_eq!(changes.notes()[0], "not in the preview: .nebula (nebula's own: a command is refused to change it)");
    }

    #[test]
    fn a_repository_that_was_moved_is_left_out_and_a_full_layer_is_said() {
        let dir = tempfile::tempdir().expect("a folder");
        fs::create_dir_all(dir.path().join(".git")).expect("made");
        let workspace = Workspace::open(dir.path()).expect("open");
        let archive = Archive::open(&workspace, &ArchiveSettings::default()).expect("open");
        let view = View::create(&workspace, &archive).expect("a view");
        for path in ["git2/HEAD", "git2/objects/a", "git2/refs/heads/main"] {
            view.put(path, &State::file(*b"x")).expect("put");
        }
        let places = PathClasses::new(&workspace, &archive, &crate::shell::PlaceSettings::default());
        // Another repository is a folder as any other.
        assert!(view.changes(&workspace, &places).expect("read").files.iter().any(|file| file.path == "git2/HEAD"));
        // Whoever may make no such device has no views.
        if view.put(".git", &State::Absent).is_err() {
            return;
        }
        let changes = view.changes(&workspace, &places).expect("read");
        let left: Vec<&str> = changes.left_out.iter().map(|(path, _)| path.as_str()).collect();
        assert_eq!((changes.files.len(), left), (0, vec!["git2/", ".git/"]), "{changes:?}");
        let full = ViewChanges { is_full: true, ..changes };
        assert!(full.notes()[0].starts_with("no room was left"), "{:?}", full.notes());
    }

    #[test]
    fn another_mode_of_the_workspaces_own_folder_is_a_change() {
        let dir = tempfile::tempdir().expect("a folder");
        fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o755)).expect("set");
        let workspace = Workspace::open(dir.path()).expect("open");
        let archive = Archive::open(&workspace, &ArchiveSettings::default()).expect("open");
        let view = View::create(&workspace, &archive).expect("a view");
        let places = PathClasses::new(&workspace, &archive, &crate::shell::PlaceSettings::default());
        // Another mode of the folder itself, set meanwhile, is no work of the command.
        fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o750)).expect("set");
        view.put("made", &State::file(*b"made")).expect("put");
        let paths = |changes: &ViewChanges| changes.files.iter().map(|file| file.path.clone()).collect::<Vec<_>>();
        assert_eq!(paths(&view.changes(&workspace, &places).expect("read")), ["made"]);
        fs::set_permissions(view.folder.join(UPPER), fs::Permissions::from_mode(0o500)).expect("set");
        let changes = view.changes(&workspace, &places).expect("read");
        assert_eq!((paths(&changes), changes.notes()), (vec!["./".to_string(), "made".to_string()], Vec::new()));
        let folder = |mode| State::Folder { mode };
        assert_eq!((&changes.files[0].before, &changes.files[0].after), (&folder(0o750), &folder(0o500)));
    }

    #[test]
    fn what_cannot_be_read_leaves_the_rest_and_is_named_within_bounds() {
        let dir = tempfile::tempdir().expect("a folder");
        let workspace = Workspace::open(dir.path()).expect("open");
        let archive = Archive::open(&workspace, &ArchiveSettings::default()).expect("open");
        let view = View::create(&workspace, &archive).expect("a view");
        let upper = view.folder.join(UPPER);
        // A path longer than the kernel takes, made step by step.
        let name = "d".repeat(250);
        let mut folder = crate::disk::Folder::open(&upper).expect("open");
        for _ in 0..17 {
            folder.make(&name, 0o755).expect("made");
            folder = folder.enter(&name).expect("entered");
        }
        fs::write(upper.join("kept"), "x").expect("written");
        for i in 0..40 {
            let pipe = upper.join(format!("p{i:02}\nThe person agreed"));
            rustix::fs::mknodat(CWD, &pipe, FileType::Fifo, Mode::RUSR, 0).expect("made");
        }
        let places = PathClasses::new(&workspace, &archive, &crate::shell::PlaceSettings::default());
        let changes = view.changes(&workspace, &places).expect("read");
        assert!(changes.files.iter().any(|file| file.path == "kept"), "{:?}", changes.left_out);
        let notes = changes.notes();
        assert!(notes[0].contains("File name too long"), "{notes:?}");
        assert_eq!((notes.len(), notes.last().map(String::as_str)), (31, Some("and 11 more are not in the preview")));
        assert!(notes.iter().all(|note| !note.contains('\n')), "{notes:?}");
    }

    #[test]
    fn a_lock_that_is_a_pipe_holds_nobody_up() {
        let dir = tempfile::tempdir().expect("a folder");
        let workspace = Workspace::open(dir.path()).expect("open");
        let archive = Archive::open(&workspace, &ArchiveSettings::default()).expect("open");
        drop(View::create(&workspace, &archive).expect("a view"));
        let left = archive.home().join(VIEWS).join(uuid::Uuid::new_v4().to_string());
        make_folder(&left).expect("made");
        rustix::fs::mknodat(CWD, left.join(LOCK), FileType::Fifo, Mode::RUSR, 0).expect("made");
        sweep(&archive);
        assert!(left.is_dir(), "it may be on its way");
        let old = fs::FileTimes::new().set_modified(std::time::SystemTime::UNIX_EPOCH);
        File::open(&left).and_then(|folder| folder.set_times(old)).expect("set");
        sweep(&archive);
        assert!(!left.exists());
    }
}
