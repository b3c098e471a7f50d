//! Replaces, makes and removes workspace files, atomically. Used by `execute` alone.
//!
//! A write has three steps: [`Staging::stage`] puts the new state into a temporary file beside its target,
//! [`Staged::commit`] exchanges the two in one step and looks at what came out, [`Staged::finish`] removes what came
//! out. Until then [`Staged::undo`] puts it back, the very same file. Between the steps the files of a whole proposal
//! are flushed together.
//!
//! All names are looked up in folders that were opened without following a link: a folder that is swapped for one
//! meanwhile leads no write out of the workspace.

use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use super::large::{copy_large, holds_large};
use super::read::{Read, is_absent, split};
use super::stamp::{Stamp, wide};
use super::{Access, Workspace};
use crate::disk::{self, Folder};
use crate::proposal::State;

/// Prepares the files of one proposal.
pub struct Staging<'a> {
    workspace: &'a Workspace,
    /// The open folders, by normalised path.
    folders: HashMap<String, Arc<Folder>>,
    /// True if files are exchanged where the file system can.
    exchanges: bool,
}

/// A state that is ready to be put in place.
#[derive(Debug)]
pub struct Staged {
    root: Arc<Folder>,
    /// The way to its folder from there.
    folder_path: String,
    folder: Arc<Folder>,
    name: String,
    step: Step,
    done: Done,
    /// Folders that were made for it, outermost first: each with its parent and its normalised path.
    made: Vec<(Arc<Folder>, String)>,
    /// The attributes of the old file that the new one could not keep.
    lost: Vec<String>,
    exchanges: bool,
    /// The two files were not exchanged.
    unguarded: bool,
    /// The temporary file's.
    inode: Option<u64>,
    /// The number of names of the target.
    names: i64,
}

/// The step to be done, with the name of the temporary file.
#[derive(Debug)]
enum Step {
    Replace(String),
    Make(String),
    Remove(String),
}

/// The step that was done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Done {
    Nothing,
    /// The previous file has the temporary name now.
    Aside,
    /// The previous file was replaced.
    Over,
}

/// The reason why a state was not put in place. The target is as it was.
#[derive(Debug)]
pub enum Stop {
    /// Someone else wrote the file, or its folder is another one now.
    Changed,
    /// The disk refused.
    Disk(io::Error),
}

impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Self {
        Stop::Disk(error)
    }
}

impl<'a> Staging<'a> {
    /// Begins.
    ///
    /// # Errors
    /// When the root cannot be opened.
    pub fn new(workspace: &'a Workspace) -> io::Result<Self> {
        let root = Arc::new(Folder::open(workspace.root())?);
        Ok(Staging { workspace, folders: HashMap::from([(String::new(), root)]), exchanges: true })
    }

    /// Prepares `after` at a normalised path where `now` is. The file handed back must be flushed before the commit.
    ///
    /// # Errors
    /// Any error of the file system; nothing is left behind then.
    pub fn stage(&mut self, path: &str, now: &State, after: &State) -> io::Result<(Staged, Option<File>)> {
        let (folder_path, name) = split(path);
        let (root, way) = match folder_path.starts_with('/') {
            true => {
                let (base, folder, way) = self.workspace.open_base(folder_path)?;
                (Arc::clone(self.folders.entry(base).or_insert_with(|| Arc::new(folder))), way)
            }
            false => (Arc::clone(&self.folders[""]), folder_path),
        };
        let mut made = Vec::new();
        let folder = match after.is_absent() {
            true => self.folder(folder_path, &mut None),
            false => self.folder(folder_path, &mut Some(&mut made)),
        };
        let temp = disk::temp_name();
        let step = match (now.is_absent(), after.is_absent()) {
            (_, true) => Step::Remove(temp.clone()),
            (true, false) => Step::Make(temp.clone()),
            (false, false) => Step::Replace(temp.clone()),
        };
        let folder = match folder {
            Ok(folder) => folder,
            Err(error) => {
                remove_made(&made);
                return Err(error);
            }
        };
        let mut staged = Staged {
            root,
            folder_path: way.into(),
            folder,
            name: name.into(),
            step,
            done: Done::Nothing,
            made,
            lost: Vec::new(),
            exchanges: self.exchanges,
            unguarded: false,
            inode: None,
            names: 0,
        };
        let stat = staged.folder.stat(&staged.name).ok().flatten();
        staged.names = stat.map_or(0, |stat| wide(stat.st_nlink));
        match staged.write_temp(&temp, now, after, &self.workspace.stop) {
            Ok(file) => {
                staged.inode = staged.folder.stat(&temp)?.map(|stat| stat.st_ino);
                Ok((staged, file))
            }
            Err(error) => {
                staged.discard();
                // Folders made for it are removed again.
                staged.made.iter().for_each(|(_, path)| drop(self.folders.remove(path)));
                Err(error)
            }
        }
    }

    /// Returns the folder at a normalised path. Missing ones are made where `made` is there to name them.
    fn folder(&mut self, path: &str, made: &mut Option<&mut Vec<(Arc<Folder>, String)>>) -> io::Result<Arc<Folder>> {
        if let Some(folder) = self.folders.get(path) {
            return Ok(Arc::clone(folder));
        }
        let (above, name) = split(path);
        let above = self.folder(above, made)?;
        let folder = match above.enter(name) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let Some(made) = made else { return Err(error) };
                if above.make(name, 0o777)? {
                    made.push((Arc::clone(&above), path.to_string()));
                }
                above.enter(name)?
            }
            other => other?,
        };
        let folder = Arc::new(folder);
        self.folders.insert(path.to_string(), Arc::clone(&folder));
        Ok(folder)
    }

    /// Returns the workspace that is written.
    pub fn workspace(&self) -> &Workspace {
        self.workspace
    }
}

/// Removes a pipe, socket or device at a normalised path, which holds no bytes. Returns what it was; none: there is none.
///
/// # Errors
/// Any error of the file system.
pub fn remove_special(workspace: &Workspace, path: &str) -> io::Result<Option<&'static str>> {
    let Some((folder, kind)) = workspace.special(path) else { return Ok(None) };
    folder.remove_file(split(path.trim_end_matches('/')).1)?;
    Ok(Some(kind))
}

fn remove_made(made: &[(Arc<Folder>, String)]) {
    for (above, path) in made.iter().rev() {
        // One that is not empty any more stays.
        let _ = above.remove_folder(split(path).1);
    }
}

impl Staged {
    fn write_temp(
        &mut self,
        temp: &str,
        now: &State,
        after: &State,
        stop: &CancellationToken,
    ) -> io::Result<Option<File>> {
        let was_file = matches!(now, State::File { .. } | State::Large(_));
        let mode = after.mode().or(now.mode());
        let file = match after {
            // Folders are made by [`super::folders`].
            State::Folder { .. } => return Err(io::ErrorKind::InvalidInput.into()),
            State::Absent => {
                if was_file {
                    self.lost = disk::beside_bytes(&self.folder.open_unreadable(&self.name)?, &self.folder)?;
                }
                return Ok(None);
            }
            State::Link { target } => return self.folder.make_link(temp, target).map(|()| None),
            State::File { bytes, .. } => self.folder.write_new(temp, bytes, mode)?,
            State::Large(large) => {
                let file = self.folder.write_new(temp, b"", mode)?;
                copy_large(large, &file, stop)?;
                file
            }
        };
        if !was_file {
            return Ok(Some(file));
        }
        let old = self.folder.open_unreadable(&self.name)?;
        let mode = mode.unwrap_or(0o600);
        self.lost = disk::keep(&old, &file, mode)?;
        let names = old.metadata()?.nlink();
        if names > 1 {
            self.lost.push(format!("its {} other name{} (hard links)", names - 1, if names > 2 { "s" } else { "" }));
        }
        Ok(Some(file))
    }

    /// Puts the state in place where `now` was read. What was there is compared with it once it is out of the way, and
    /// is put back where it is not the same: whatever someone else saved meanwhile stays.
    ///
    /// # Errors
    /// When the file changed meanwhile, or the disk refuses; the target then is as it was.
    pub fn commit(&mut self, now: &Read) -> Result<(), Stop> {
        let stamp = self.folder.stat(&self.name)?.map(|stat| Stamp::of_stat(&stat));
        let is_same_file = || stamp.zip(now.stamp).is_some_and(|(found, read)| found.is_same_file(&read));
        let same = match self.step {
            // The archive may have given it a second name, which changes its stamp but for the file.
            Step::Remove(_) => is_same_file(),
            // That another of its names was written, or that its owner was let read it, changes a file's stamp, but not
            // its bytes.
            Step::Replace(_) | Step::Make(_) => {
                let may_differ = self.names > 1 || now.state.mode().is_some_and(|mode| mode & 0o400 == 0);
                stamp == now.stamp || may_differ && is_same_file() && self.holds(&self.name, &now.state)
            }
        };
        if !same || !self.is_in_place()? {
            return Err(Stop::Changed);
        }
        self.exchange(now)?;
        if !self.is_in_place()? {
            // Its folder was moved away in that very moment.
            self.undo_unchecked()?;
            return Err(Stop::Changed);
        }
        Ok(())
    }

    fn exchange(&mut self, now: &Read) -> Result<(), Stop> {
        match &self.step {
            Step::Make(temp) => {
                match self.folder.rename_new(temp, &self.folder, &self.name) {
                    Err(e) if e.kind() == io::ErrorKind::AlreadyExists => return Err(Stop::Changed),
                    other => other?,
                }
                self.done = Done::Over;
            }
            Step::Replace(temp) => {
                if !self.exchanges || !self.folder.exchange(temp, &self.name)? {
                    // The moment since the look at the stamp stays open.
                    self.folder.rename(temp, &self.name)?;
                    self.done = Done::Over;
                    self.unguarded = true;
                    return Ok(());
                }
                self.done = Done::Aside;
            }
            Step::Remove(temp) => {
                self.folder.rename_new(&self.name, &self.folder, temp)?;
                self.done = Done::Aside;
            }
        }
        if self.done == Done::Aside && !self.is_aside(now)? {
            self.undo_unchecked()?;
            return Err(Stop::Changed);
        }
        Ok(())
    }

    /// Returns whether what came out of the way is what was read.
    fn is_aside(&self, now: &Read) -> io::Result<bool> {
        let stamp = self.folder.stat(self.temp())?.map(|stat| Stamp::of_stat(&stat));
        let same = stamp.zip(now.stamp).is_some_and(|(aside, read)| aside.is_same_file(&read));
        // A large file is compared by its stamp: reading it once more takes as long as writing it.
        Ok(same && (matches!(now.state, State::Large(_)) || self.holds(self.temp(), &now.state)))
    }

    /// Returns whether what has this name in the folder is this state, but for its mode.
    fn holds(&self, name: &str, state: &State) -> bool {
        match state {
            State::Absent => self.folder.stat(name).is_ok_and(|stat| stat.is_none()),
            State::Folder { .. } => false,
            State::Link { target } => self.folder.read_link(name).is_ok_and(|found| found == *target),
            State::Large(large) => {
                // Not to be stopped: it decides whether a file is put back.
                let file = self.folder.open_unreadable(name);
                let held = file.and_then(|file| holds_large(&file, large, &CancellationToken::new()));
                held.is_ok_and(|held| held)
            }
            State::File { bytes, .. } => {
                let file = self.folder.open_unreadable(name);
                file.and_then(|file| disk::read_open(&file, bytes.len() as u64)).is_ok_and(|found| found == **bytes)
            }
        }
    }

    /// Returns whether the folder still lies where the path leads.
    fn is_in_place(&self) -> io::Result<bool> {
        match self.root.descend(Path::new(&self.folder_path)) {
            Ok(found) => found.is_same(&self.folder),
            Err(error) if is_absent(&error) || disk::is_linked_folder(&error) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Puts back what was there before the commit: the same file where it was kept aside, else `before` written again.
    /// `after` is what the commit put in place.
    ///
    /// # Errors
    /// When someone else has written since, or the disk refuses.
    pub fn undo(&mut self, before: &State, after: &State) -> io::Result<()> {
        if self.done == Done::Nothing {
            return Ok(());
        }
        if !self.holds(&self.name, after) {
            // The other program's file stays. The file aside is archived, unless its path is excluded from the archive;
            // a copy beside the file would only be swept at the next start.
            self.finish();
            return Err(io::Error::other("someone else has written since"));
        }
        if self.done == Done::Over && !before.is_absent() {
            let temp = disk::temp_name();
            // A restore that has begun is completed, even after an interruption.
            let written = self.write_temp(&temp, after, before, &CancellationToken::new());
            let written = written.and_then(|file| file.map_or(Ok(()), |f| f.sync_all()));
            if let Err(error) = written.and_then(|()| self.folder.rename(&temp, &self.name)) {
                // A file that cannot be removed now is swept at the next start.
                let _ = self.folder.remove_file(&temp);
                return Err(error);
            }
            self.done = Done::Nothing;
        } else {
            self.undo_unchecked()?;
        }
        self.folder.sync()
    }

    fn undo_unchecked(&mut self) -> io::Result<()> {
        match (&self.step, self.done) {
            (_, Done::Nothing) => {}
            (Step::Replace(temp), _) => {
                self.folder.exchange(temp, &self.name)?;
                let back = self.folder.stat(temp)?.map(|stat| stat.st_ino);
                if back != self.inode {
                    return Err(self.keep_both(temp));
                }
            }
            (Step::Make(temp), _) => self.folder.rename_new(&self.name, &self.folder, temp)?,
            (Step::Remove(temp), _) => self.folder.rename_new(temp, &self.folder, &self.name)?,
        }
        self.done = Done::Nothing;
        Ok(())
    }

    /// Handles a file that another program saved, and then once more over the new file: the newest stays, the earlier
    /// one gets a name beside it.
    fn keep_both(&self, temp: &str) -> io::Error {
        let saved_name = format!("{}.saved-meanwhile", self.name);
        let done = self
            .folder
            .exchange(temp, &self.name)
            .and_then(|_| self.folder.rename_new(temp, &self.folder, &saved_name));
        match done {
            Ok(()) => io::Error::other(format!("it was saved twice meanwhile; the earlier text is in {saved_name}")),
            Err(error) => error,
        }
    }

    fn temp(&self) -> &str {
        let (Step::Replace(temp) | Step::Make(temp) | Step::Remove(temp)) = &self.step;
        temp
    }

    /// Removes what was there before the commit.
    pub fn finish(&self) {
        if self.done == Done::Aside {
            // A file that cannot be removed now is swept at the next start.
            let _ = self.folder.remove_file(self.temp());
        }
    }

    /// Returns what the new file could not keep of the one it replaces, in a few words each.
    pub fn lost(&self) -> &[String] {
        &self.lost
    }

    /// Returns whether the file was replaced without looking at what came out: a save by someone else in that very
    /// moment is lost.
    pub fn was_unguarded(&self) -> bool {
        self.unguarded
    }

    /// Returns the folders that were made for it, outermost first, as normalised paths.
    pub fn made(&self) -> impl Iterator<Item = String> + '_ {
        self.made.iter().map(|(_, path)| path.clone())
    }

    /// Undoes the preparation: the temporary file, and folders made that are still empty.
    pub fn discard(&self) {
        if self.done == Done::Nothing && !matches!(self.step, Step::Remove(_)) {
            // A file that cannot be removed now is swept at the next start.
            let _ = self.folder.remove_file(self.temp());
        }
        remove_made(&self.made);
    }
}

/// Returns whether the file system of the root can exchange two files in one step, tried with two of its own.
///
/// # Errors
/// When they cannot be made there.
pub fn can_exchange(workspace: &Workspace) -> io::Result<bool> {
    let root = Folder::open(workspace.root())?;
    let names = [disk::temp_name(), disk::temp_name()];
    let made = names.iter().try_for_each(|name| root.write_new(name, b"", Some(0o600)).map(drop));
    let tried = made.and_then(|()| root.exchange(&names[0], &names[1]));
    for name in &names {
        // One that was not made, or cannot be removed now, which the next start does.
        let _ = root.remove_file(name);
    }
    tried
}

/// Flushes the folders of files that were put in place.
///
/// # Errors
/// The first that failed.
pub fn sync_folders(staged: &[Staged]) -> io::Result<()> {
    let all = staged.iter().flat_map(|s| s.made.iter().map(|(above, _)| above).chain([&s.folder]));
    let mut folders: Vec<&Arc<Folder>> = all.collect();
    folders.sort_by_key(|folder| Arc::as_ptr(folder));
    folders.dedup_by_key(|folder| Arc::as_ptr(folder));
    disk::each(&folders, |folder| folder.sync())
}

/// Removes folders (normalised paths) that are empty, in this order; those that went. One that is not empty, or not a
/// folder any more, stays, and nothing is wrong with that.
pub fn remove_empty<'a>(workspace: &Workspace, folders: impl Iterator<Item = &'a String>) -> Vec<String> {
    let inside = |folder: &&String| match folder.starts_with('/') {
        true => workspace.resolve_archived(&format!("{folder}/")).is_ok_and(|real| real[..real.len() - 1] == **folder),
        false => workspace.resolve_normalised(folder, Access::Folder).is_ok_and(|real| real == **folder),
    };
    let mut gone: Vec<String> = Vec::new();
    for folder in folders.filter(inside) {
        let (above, name) = split(folder);
        if workspace.folder(above).and_then(|above| above.remove_folder(name)).is_ok() {
            gone.push(folder.clone());
        }
    }
    gone
}

#[cfg(test)]
mod tests {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::path::PathBuf;
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    struct World {
        dir: tempfile::TempDir,
        workspace: Workspace,
    }

    impl World {
        fn new() -> Self {
            let dir = tempfile::tempdir().expect("a folder");
            fs::create_dir(dir.path().join("w")).expect("made");
            let workspace = Workspace::open(&dir.path().join("w")).expect("open");
            World { dir, workspace }
        }

        fn at(&self, path: &str) -> PathBuf {
            self.workspace.full(path)
        }

        fn text(&self, path: &str) -> String {
            fs::read_to_string(self.at(path)).expect("there")
        }

        /// Returns the names in a folder, sorted.
        fn names(&self, path: &str) -> Vec<String> {
            let entries = fs::read_dir(self.at(path)).expect("there").flatten();
            let mut names: Vec<String> = entries.map(|e| e.file_name().to_string_lossy().into_owned()).collect();
            names.sort();
            names
        }

        fn stage(&self, path: &str, after: &State) -> (Staged, Read) {
            let now = self.workspace.read(path).expect("read");
            let mut staging = Staging::new(&self.workspace).expect("open");
            (staging.stage(path, &now.state, after).expect("staged").0, now)
        }
    }

    #[test]
    fn a_file_that_appeared_is_not_overwritten() {
        let w = World::new();
        let (mut staged, now) = w.stage("d/a", &State::file(&b"new"[..]));
        fs::write(w.at("d/a"), "theirs").expect("written");
        assert!(matches!(staged.commit(&now), Err(Stop::Changed)));
        assert!(matches!(staged.exchange(&now), Err(Stop::Changed)), "as after the look at the stamp");
        staged.discard();
        assert_eq!(w.text("d/a"), "theirs");
        assert_eq!(w.names("d"), ["a"]);
    }

    #[test]
    fn discarding_leaves_no_trace() {
        let w = World::new();
        let (staged, _) = w.stage("d/e/a", &State::file(&b"new"[..]));
        staged.discard();
        assert_eq!(w.names(""), Vec::<String>::new());
    }

    #[test]
    fn a_save_in_the_last_moment_is_put_back() {
        for after in [State::file(&b"new"[..]), State::Absent] {
            let saves: [fn(&Path); 2] = [
                |file| fs::write(file, "THEIRS").expect("written"),
                |file| {
                    fs::write(file.with_extension("new"), "THEIRS").expect("written");
                    fs::rename(file.with_extension("new"), file).expect("renamed");
                },
            ];
            for save in saves {
                let w = World::new();
                fs::write(w.at("a"), "before").expect("written");
                let (mut staged, now) = w.stage("a", &after);
                let time = fs::metadata(w.at("a")).and_then(|m| m.modified()).expect("a time");
                save(&w.at("a"));
                // Not even the time tells.
                fs::File::open(w.at("a")).and_then(|f| f.set_modified(time)).expect("set");
                // Saved after the look at the stamp: what came out of the way tells.
                assert!(matches!(staged.exchange(&now), Err(Stop::Changed)));
                staged.discard();
                assert_eq!(w.text("a"), "THEIRS");
                assert_eq!(w.names(""), ["a"]);
            }
        }
    }

    #[test]
    fn without_exchange_a_file_is_replaced_and_undone_all_the_same() {
        let w = World::new();
        fs::write(w.at("a"), "old").expect("written");
        let (before, after) = (w.workspace.read("a").expect("read"), State::file(&b"new"[..]));
        let mut staging = Staging { exchanges: false, ..Staging::new(&w.workspace).expect("open") };
        let (mut staged, _) = staging.stage("a", &before.state, &after).expect("staged");
        staged.commit(&before).expect("written");
        assert!(staged.was_unguarded());
        assert_eq!(w.text("a"), "new");
        staged.undo(&before.state, &after).expect("undone");
        staged.finish();
        assert_eq!(w.text("a"), "old");
        assert!(can_exchange(&w.workspace).is_ok());
        assert_eq!(w.names(""), ["a"]);
    }

    #[test]
    fn what_was_put_in_place_is_undone_as_the_same_file() {
        let w = World::new();
        fs::write(w.at("a"), "before").expect("written");
        let inode = fs::metadata(w.at("a")).expect("there").ino();
        for after in [State::file(&b"new"[..]), State::Absent, State::Link { target: "x".into() }] {
            let (mut staged, now) = w.stage("a", &after);
            staged.commit(&now).expect("written");
            assert_eq!(w.workspace.read("a").expect("read").state.bytes(), after.bytes());
            staged.undo(&now.state, &after).expect("undone");
            staged.discard();
            assert_eq!(fs::metadata(w.at("a")).expect("there").ino(), inode);
            assert_eq!(w.names(""), ["a"]);
        }
        let after = State::file(&b"new"[..]);
        let (mut staged, now) = w.stage("a", &after);
        staged.commit(&now).expect("written");
        fs::write(w.at("a"), "theirs").expect("written");
        assert!(staged.undo(&now.state, &after).is_err());
        assert_eq!(w.text("a"), "theirs");
    }

    #[test]
    fn a_replaced_file_keeps_what_it_had_or_it_is_reported() {
        use rustix::fs::{XattrFlags, getxattr, setxattr};
        let w = World::new();
        fs::write(w.at("a"), "before").expect("written");
        fs::set_permissions(w.at("a"), Permissions::from_mode(0o4754)).expect("set");
        let has_attributes = setxattr(w.at("a"), "user.note", b"kept", XattrFlags::empty()).is_ok();
        fs::hard_link(w.at("a"), w.at("b")).expect("linked");
        let (mut staged, now) = w.stage("a", &State::file(&b"new"[..]));
        staged.commit(&now).expect("written");
        staged.finish();
        assert_eq!(staged.lost(), ["its 1 other name (hard links)"]);
        assert_eq!(fs::metadata(w.at("a")).expect("there").permissions().mode() & 0o7777, 0o4754);
        assert_eq!((w.text("a"), w.text("b")), ("new".into(), "before".into()));
        if has_attributes {
            let mut value = [0; 16];
            let length = getxattr(w.at("a"), "user.note", &mut value[..]).expect("kept");
            assert_eq!(&value[..length], b"kept");
        }
        assert_eq!(w.names(""), ["a", "b"]);
    }

    #[test]
    fn a_linked_folder_is_refused_by_name() {
        let w = World::new();
        fs::create_dir(w.dir.path().join("out")).expect("made");
        symlink("../out", w.at("d")).expect("linked");
        let mut staging = Staging::new(&w.workspace).expect("open");
        let error = staging.stage("d/a", &State::Absent, &State::file(&b"x"[..])).expect_err("a link");
        assert!(error.to_string().contains("/d is a link to a folder"), "{error}");
        assert!(w.workspace.read("d/a").is_err_and(|e| e.to_string().contains("is a link")));
        assert_eq!(fs::read_dir(w.dir.path().join("out")).expect("there").count(), 0);
    }

    /// Rounds of the race; NEBULA_RACES asks for more.
    fn rounds() -> usize {
        std::env::var("NEBULA_RACES").ok().and_then(|n| n.parse().ok()).unwrap_or(300)
    }

    #[test]
    fn a_folder_swapped_for_a_link_leads_nothing_out() {
        let w = World::new();
        let out = w.dir.path().join("out");
        fs::create_dir(&out).expect("made");
        fs::create_dir(w.at("d")).expect("made");
        let over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !over.load(Ordering::Relaxed) {
                    // The other half of the race may have made or removed something there.
                    let _ = fs::rename(w.at("d"), w.at("aside"));
                    let _ = symlink(&out, w.at("d"));
                    let _ = fs::remove_file(w.at("d"));
                    let _ = fs::rename(w.at("aside"), w.at("d"));
                }
            });
            for round in 0..rounds() {
                let path = format!("d/f{}", round % 7);
                let after = if round % 3 == 2 { State::Absent } else { State::file(round.to_string().into_bytes()) };
                let Ok(now) = w.workspace.read(&path) else { continue };
                let Ok(mut staging) = Staging::new(&w.workspace) else { continue };
                let Ok((mut staged, _)) = staging.stage(&path, &now.state, &after) else { continue };
                if now.state.is_absent() && after.is_absent() {
                    continue;
                }
                let done = staged.commit(&now);
                staged.finish();
                if done.is_err() {
                    staged.discard();
                }
            }
            over.store(true, Ordering::Relaxed);
        });
        assert_eq!(fs::read_dir(&out).expect("there").count(), 0);
    }
}
