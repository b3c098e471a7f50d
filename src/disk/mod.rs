//! Reading and writing files and folders, for the modules that own some.
//!
//! Replacing is atomic: temporary file beside the target, flush, rename, flush of the folder. A crash at any instant
//! leaves the old or the new file, and at worst a temporary one. Reading is bounded and waits for nobody. Names are
//! looked up in open folders, so that no link leads a write elsewhere.

mod copy;
mod editor_file;
mod flush;
mod folder;
mod keep;
mod links;
mod read;
mod stop;

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rustix::fs::FileType;
use rustix::io::Errno;
use rustix::process::{Pid, test_kill_process};

pub use copy::{can_share_blocks, copy_new, copy_pieces, read_pieces, share_blocks, share_new};
pub use editor_file::{EditorFile, private_folder};
pub use flush::{Unflushed, each, is_local};
pub use folder::{Folder, is, is_linked_folder, kind_of_stat};
pub use keep::{attributes_at, beside_bytes, keep};
pub use links::{LinkView, OwnView, follow_links, is_loop};
pub use read::{Links, kind_of, open_file, read_file, read_named, read_open, read_text};
pub use stop::{check_stop, is_stopped};

/// The beginning of the names of temporary files; the id of the process follows.
const TEMP_PREFIX: &str = ".nebula-tmp-";

/// Returns a new name for a temporary file, unlike that of any other process, alive or dead.
pub fn temp_name() -> String {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let n = NEXT.fetch_add(1, Ordering::Relaxed);
    let nanos = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.subsec_nanos());
    format!("{TEMP_PREFIX}{}-{n}-{nanos:x}", std::process::id())
}

/// Returns whether a folder was made so long ago that its making is over, in whatever state it is.
pub fn is_old(folder: &Path) -> bool {
    let age = fs::symlink_metadata(folder).and_then(|meta| meta.modified()).ok().and_then(|at| at.elapsed().ok());
    age.is_some_and(|age| age.as_secs() > 60)
}

/// Returns whether a file name is one that [`temp_name`] gives.
pub fn is_temp_name(name: &str) -> bool {
    owner_of_temp(name).is_some()
}

/// Returns whether a file name is that of a temporary file whose process is gone, or is this one.
pub fn is_left_over(name: &str) -> bool {
    is_of_this_process(name) || owner_of_temp(name).is_some_and(|pid| test_kill_process(pid) == Err(Errno::SRCH))
}

/// Returns whether a file name is that of a temporary file of this process.
pub fn is_of_this_process(name: &str) -> bool {
    owner_of_temp(name).is_some_and(|pid| pid.as_raw_nonzero().get().unsigned_abs() == std::process::id())
}

/// Returns the process that a temporary file belongs to; `None`: the name is none of ours.
fn owner_of_temp(name: &str) -> Option<Pid> {
    let mut parts = name.strip_prefix(TEMP_PREFIX)?.split('-');
    let (pid, count, nanos) = (parts.next()?, parts.next()?, parts.next()?);
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let is_hex = !nanos.is_empty() && nanos.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b));
    let ours = is_number(pid) && is_number(count) && is_hex && nanos.len() <= 8 && parts.next().is_none();
    Pid::from_raw(pid.parse().ok().filter(|_| ours)?)
}

impl Folder {
    /// Makes a new file with these bytes, not flushed yet. `mode` are its permission bits whatever the process's mask;
    /// `None`: those the mask gives a new file.
    ///
    /// # Errors
    /// When the name is taken or the file cannot be written; a file begun is removed again.
    pub fn write_new(&self, name: &str, bytes: &[u8], mode: Option<u32>) -> io::Result<File> {
        let mut file = self.make_file(name, mode.map_or(0o666, |_| 0o600))?;
        let written = file.write_all(bytes).and_then(|()| match mode {
            Some(mode) => file.set_permissions(fs::Permissions::from_mode(mode)),
            None => Ok(()),
        });
        if let Err(error) = written {
            // The first error is the one worth telling.
            let _ = self.remove_file(name);
            return Err(error);
        }
        Ok(file)
    }

    /// Replaces or makes a file atomically and flushes it and the folder. A replaced file keeps its mode, owner and
    /// attributes. Returns what could not be kept. `mode` is that of a new file.
    ///
    /// # Errors
    /// Any error of the file system; the old file then stands as it was.
    pub fn replace(&self, name: impl AsRef<OsStr>, bytes: &[u8], mode: u32) -> io::Result<Vec<String>> {
        self.replace_within(name.as_ref(), bytes, mode, 0o7777)
    }

    /// Replaces as [`Folder::replace`] does a file that holds `seen`. Returns false where it holds something else: that
    /// stays, also what someone saved in that very moment.
    ///
    /// # Errors
    /// As there.
    pub fn replace_seen(&self, name: impl AsRef<OsStr>, seen: &[u8], bytes: &[u8]) -> io::Result<bool> {
        let (name, temp) = (name.as_ref(), temp_name());
        let Some(old) = self.opened_if(name, seen)? else { return Ok(false) };
        let mode = old.metadata()?.permissions().mode() & 0o7777;
        let replaced = self.write_new(&temp, bytes, Some(mode)).and_then(|file| {
            keep(&old, &file, mode)?;
            file.sync_all()?;
            if !self.exchange(&temp, name)? {
                // The moment since the look stays open.
                self.rename(&temp, name)?;
                return Ok(true);
            }
            if self.opened_if(&temp, seen)?.is_some() {
                return Ok(true);
            }
            self.exchange(&temp, name)?;
            if self.opened_if(&temp, bytes)?.is_none() {
                // What was saved since is the newest.
                self.exchange(&temp, name)?;
            }
            Ok(false)
        });
        // It is there but where it was renamed; the first error is the one worth telling.
        let _ = self.remove_file(&temp);
        let replaced = replaced?;
        self.sync()?;
        Ok(replaced)
    }

    /// Removes a file that holds `seen`, and flushes the folder. Returns false where it holds something else: that stays,
    /// also what someone saved in that very moment.
    ///
    /// # Errors
    /// Any error of the file system.
    pub fn remove_seen(&self, name: impl AsRef<OsStr>, seen: &[u8]) -> io::Result<bool> {
        let (name, temp) = (name.as_ref(), temp_name());
        if self.opened_if(name, seen)?.is_none() {
            return Ok(false);
        }
        self.rename_new(name, self, &temp)?;
        if self.opened_if(&temp, seen)?.is_none() {
            match self.rename_new(&temp, self, name) {
                // What was saved since is the newest.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => self.remove_file(&temp)?,
                other => other?,
            }
            return Ok(false);
        }
        self.remove_file(&temp)?;
        self.sync()?;
        Ok(true)
    }

    /// Opens a file if it holds these bytes.
    fn opened_if(&self, name: impl AsRef<OsStr>, bytes: &[u8]) -> io::Result<Option<File>> {
        let file = match self.open_file(name) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            opened => opened?,
        };
        let is_same = file.metadata()?.len() == bytes.len() as u64 && read_open(&file, bytes.len() as u64)? == bytes;
        Ok(is_same.then_some(file))
    }

    /// Replaces as [`Folder::replace`] does; the mode is at most `most`.
    fn replace_within(&self, name: &OsStr, bytes: &[u8], mode: u32, most: u32) -> io::Result<Vec<String>> {
        let old = match self.stat(name)? {
            Some(stat) if is(&stat, FileType::RegularFile) => Some(self.open_file(name)?),
            _ => None,
        };
        let lost = self.replace_from(self, name, |temp| {
            let file = self.write_new(temp, bytes, Some(mode))?;
            let lost = match &old {
                Some(old) => keep(old, &file, old.metadata()?.permissions().mode() & most)?,
                None => Vec::new(),
            };
            file.sync_all()?;
            Ok(lost)
        })?;
        self.sync()?;
        Ok(lost)
    }

    /// Puts a new file in the place of `name` in `to`, or makes it there, in one step: `make` makes it in this folder,
    /// under the temporary name that it is given, and flushes what has to last. The names are not flushed.
    ///
    /// # Errors
    /// Those of `make` or of the file system; the old file then stands, and the temporary one is gone.
    pub fn replace_from<T>(
        &self,
        to: &Folder,
        name: impl AsRef<OsStr>,
        make: impl FnOnce(&str) -> io::Result<T>,
    ) -> io::Result<T> {
        let temp = temp_name();
        let replaced = make(&temp).and_then(|made| {
            self.rename_over(&temp, to, name)?;
            Ok(made)
        });
        if replaced.is_err() {
            // The first error is the one worth telling; a file that stays is swept at a later start.
            let _ = self.remove_file(&temp);
        }
        replaced
    }
}

/// Replaces as [`Folder::replace`] does, by path: links on the way are followed, one at its end is replaced.
///
/// # Errors
/// As there.
pub fn replace(path: &Path, bytes: &[u8], mode: u32) -> io::Result<Vec<String>> {
    let name = path.file_name().ok_or(io::ErrorKind::InvalidFilename)?;
    Folder::open(parent(path))?.replace(name, bytes, mode)
}

/// Replaces as [`replace`] does, for a file that is its owner's alone, even where it was not.
///
/// # Errors
/// As there.
pub fn replace_private(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let name = path.file_name().ok_or(io::ErrorKind::InvalidFilename)?;
    // Attributes that could not be kept do not change the contents.
    Folder::open(parent(path))?.replace_within(name, bytes, 0o600, 0o600).map(drop)
}

/// Says that a file was changed now, where it was not since `age` ago.
///
/// # Errors
/// When it cannot be read, or is another's.
pub fn freshen(path: &Path, age: Duration) -> io::Result<()> {
    let file = open_file(path, Links::Refuse)?;
    let now = SystemTime::now();
    match now.duration_since(file.metadata()?.modified()?) {
        Ok(since) if since > age => file.set_modified(now),
        _ => Ok(()),
    }
}

/// Says that a folder was changed now, to whoever watches it.
///
/// # Errors
/// When it cannot be read, or is another's.
pub fn touch(folder: &Path) -> io::Result<()> {
    File::open(folder)?.set_modified(SystemTime::now())
}

/// Returns whether the machine, or the person's share of it, only lacked something then: processes, memory or descriptors.
pub fn is_shortage(error: &io::Error) -> bool {
    let lacks = [Errno::AGAIN, Errno::NOMEM, Errno::MFILE, Errno::NFILE];
    Errno::from_io_error(error).is_some_and(|number| lacks.contains(&number))
}

/// Returns what the disk said, and for a full one what to do about it.
pub fn words(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            format!("{error}: free some space there, then try again")
        }
        _ => error.to_string(),
    }
}

/// Returns what the disk said of a path, which is named once.
pub fn words_at(path: &Path, error: &io::Error) -> String {
    let words = words(error);
    let path = path.display().to_string();
    if words.starts_with(&path) { words } else { format!("{path}: {words}") }
}

/// Returns whether a path is a file that may be executed.
pub fn is_program(file: &Path) -> bool {
    file.metadata().is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

/// Returns the folder a path lies in.
pub fn parent(path: &Path) -> &Path {
    match path.parent() {
        Some(p) if !p.as_os_str().is_empty() => p,
        _ => Path::new("."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replacing_leaves_the_new_file_and_nothing_else() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("a");
        replace(&path, b"one", 0o640).expect("made");
        assert_eq!(fs::metadata(&path).expect("there").permissions().mode() & 0o777, 0o640);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o604)).expect("set");
        assert_eq!(replace(&path, b"two", 0o640).expect("replaced"), Vec::<String>::new());
        assert_eq!(fs::read(&path).expect("there"), b"two");
        assert_eq!(fs::metadata(&path).expect("there").permissions().mode() & 0o777, 0o604);
        assert_eq!(fs::read_dir(dir.path()).expect("a folder").count(), 1);
    }

    #[test]
    fn a_failed_replacement_leaves_the_old_state() {
        let dir = tempfile::tempdir().expect("a folder");
        fs::create_dir(dir.path().join("a")).expect("made");
        assert!(replace(&dir.path().join("a"), b"x", 0o600).is_err());
        assert_eq!(fs::read_dir(dir.path()).expect("a folder").count(), 1);
    }

    #[test]
    fn a_file_made_elsewhere_takes_its_place_in_one_step_or_not_at_all() {
        let dir = tempfile::tempdir().expect("a folder");
        let at = |name: &str| dir.path().join(name);
        ["here", "there"].iter().for_each(|name| fs::create_dir(at(name)).expect("made"));
        fs::write(at("there/a"), "old").expect("written");
        let (here, there) = (Folder::open(&at("here")).expect("open"), Folder::open(&at("there")).expect("open"));
        let stopped = here.replace_from(&there, "a", |temp| {
            here.write_new(temp, b"half", None)?;
            Err::<(), _>(io::ErrorKind::StorageFull.into())
        });
        assert_eq!(stopped.map_err(|error| error.kind()), Err(io::ErrorKind::StorageFull));
        assert_eq!(fs::read(at("there/a")).expect("there"), b"old");
        let made = here.replace_from(&there, "a", |temp| here.write_new(temp, b"new", None));
        made.expect("replaced");
        assert_eq!(fs::read(at("there/a")).expect("there"), b"new");
        assert!(here.names().expect("listed").is_empty(), "nothing is left over");
    }

    #[test]
    fn what_is_saved_while_a_file_is_replaced_or_removed_stays() {
        let dir = tempfile::tempdir().expect("a folder");
        let folder = Folder::open(dir.path()).expect("opened");
        let (path, saved) = (dir.path().join("a"), dir.path().join("saved"));
        let seen = || fs::write(&path, "seen").expect("written");
        seen();
        assert!(!folder.replace_seen("a", b"other", b"ours").expect("compared"));
        assert!(!folder.remove_seen("a", b"other").expect("compared") && fs::read(&path).expect("there") == b"seen");
        assert!(folder.replace_seen("a", b"seen", b"ours").expect("replaced"));
        assert!(fs::read(&path).expect("there") == b"ours" && folder.remove_seen("a", b"ours").expect("removed"));
        assert!(
            !folder.replace_seen("a", b"ours", b"x").expect("compared") && folder.names().expect("listed").is_empty()
        );
        // Whoever is first, what the person saved is there in the end.
        for round in 0..1_000 {
            seen();
            fs::write(&saved, "saved").expect("written");
            std::thread::scope(|scope| {
                scope.spawn(|| match round % 2 {
                    0 => folder.replace_seen("a", b"seen", b"ours").expect("compared"),
                    _ => folder.remove_seen("a", b"seen").expect("compared"),
                });
                scope.spawn(|| fs::rename(&saved, &path).expect("saved"));
            });
            assert_eq!(fs::read(&path).expect("there"), b"saved", "round {round}");
        }
        assert_eq!(folder.names().expect("listed"), ["a"]);
    }

    #[test]
    fn leftovers_are_those_of_processes_that_are_gone() {
        let own = temp_name();
        assert!(is_left_over(&own) && is_temp_name(&own));
        assert!(!is_left_over(&format!("{TEMP_PREFIX}1-0-0")));
        assert!(is_left_over(&format!("{TEMP_PREFIX}2147483600-0-0")));
        // A person may name files so.
        for name in ["", "notes", "2147483600", "2147483600-0", "2147483600-0-0.txt", "2147483600-0-0-1", "-1-0-0"] {
            let name = format!("{TEMP_PREFIX}{name}");
            assert!(!is_left_over(&name) && !is_temp_name(&name), "{name}");
        }
        assert!(!is_left_over("notes.txt"));
    }
}
