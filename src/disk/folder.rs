//! Open folders. A name is looked up in the opened folder itself, even if it was moved since, and no link is followed:
//! neither in the name nor in the folders on the way to it.

use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

use rustix::fs::{
    AtFlags, CWD, Dir, FileType, Mode, OFlags, RawMode, RenameFlags, Stat, chmodat, fchmod, linkat, mkdirat, openat,
    readlinkat, renameat, renameat_with, statat, symlinkat, unlinkat,
};
use rustix::io::Errno;
use rustix::path::Arg;

use super::kind_of;
use crate::text::name;

/// An open folder.
#[derive(Debug)]
pub struct Folder {
    fd: OwnedFd,
    /// Its path when it was opened, for messages.
    path: PathBuf,
}

impl Folder {
    /// Opens a folder by its path, links in it followed: for a root, and for what the person named.
    ///
    /// # Errors
    /// Any error of the file system.
    pub fn open(path: &Path) -> io::Result<Folder> {
        let fd = match openat(CWD, path, FOLDER, Mode::empty()) {
            Err(Errno::ACCESS) => pass_into(CWD, path, PASSED)?,
            opened => opened?,
        };
        Ok(Folder { fd, path: path.to_path_buf() })
    }

    /// Returns where it lay when it was opened.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Opens the folder of that name in this one.
    ///
    /// # Errors
    /// When there is none, or it is a link or no folder; the message says so.
    pub fn enter(&self, name: impl AsRef<OsStr>) -> io::Result<Folder> {
        let name = one_name(name.as_ref())?;
        let path = self.path.join(&name);
        match openat(&self.fd, &*name, FOLDER | OFlags::NOFOLLOW, Mode::empty()) {
            Ok(fd) => Ok(Folder { fd, path }),
            Err(Errno::NOTDIR | Errno::LOOP) => Err(self.no_folder(&name)),
            Err(Errno::ACCESS) => Ok(Folder { fd: pass_into(&self.fd, &*name, PASSED | OFlags::NOFOLLOW)?, path }),
            Err(error) => Err(error.into()),
        }
    }

    /// Opens the folder at a relative path below this one, itself where the path is empty.
    ///
    /// # Errors
    /// As [`Folder::enter`], for each folder on the way.
    pub fn descend(&self, path: &Path) -> io::Result<Folder> {
        let mut folder = Folder { fd: rustix::io::fcntl_dupfd_cloexec(&self.fd, 0)?, path: self.path.clone() };
        for part in path.components() {
            match part {
                Component::Normal(name) => folder = folder.enter(name)?,
                Component::CurDir => {}
                _ => return Err(io::Error::other(format!("{} leads out of the folder", path.display()))),
            }
        }
        Ok(folder)
    }

    /// Returns why what has this name cannot be entered.
    fn no_folder(&self, name: &OsStr) -> io::Error {
        let path = self.path.join(name);
        match self.stat(name) {
            Ok(Some(stat)) if is(&stat, FileType::Symlink) => {
                io::Error::new(io::ErrorKind::NotADirectory, LinkedFolder { path })
            }
            _ => io::ErrorKind::NotADirectory.into(),
        }
    }

    /// Makes a folder. Returns whether it was missing. `mode` is cut by the process's mask.
    ///
    /// # Errors
    /// Any error of the file system; what is there already is not looked at.
    pub fn make(&self, name: impl AsRef<OsStr>, mode: u32) -> io::Result<bool> {
        match mkdirat(&self.fd, &*one_name(name.as_ref())?, bits(mode)) {
            Ok(()) => Ok(true),
            Err(Errno::EXIST) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Returns what has this name, a link itself; `None`: nothing.
    ///
    /// # Errors
    /// Any error of the file system.
    pub fn stat(&self, name: impl AsRef<OsStr>) -> io::Result<Option<Stat>> {
        match statat(&self.fd, &*one_name(name.as_ref())?, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => Ok(Some(stat)),
            Err(Errno::NOENT) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Returns the names in it, without `.` and `..`.
    ///
    /// # Errors
    /// Any error of the file system.
    pub fn names(&self) -> io::Result<Vec<OsString>> {
        let mut names = Vec::new();
        for entry in Dir::new(openat(&self.fd, ".", FOLDER, Mode::empty())?)? {
            let name = OsStr::from_bytes(entry?.file_name().to_bytes()).to_os_string();
            if name != "." && name != ".." {
                names.push(name);
            }
        }
        Ok(names)
    }

    /// Returns the same, also where its mode keeps its owner from listing it: it may be listed for that moment.
    ///
    /// # Errors
    /// Any error of the file system.
    pub fn names_unlisted(&self) -> io::Result<Vec<OsString>> {
        let refused = match self.names() {
            Err(refused) if refused.kind() == io::ErrorKind::PermissionDenied => refused,
            listed => return listed,
        };
        let mode = self.mode()? & 0o7777;
        if mode & 0o400 != 0 || self.set_folder_mode(".", mode | 0o400).is_err() {
            return Err(refused);
        }
        let names = self.names();
        self.set_folder_mode(".", mode)?;
        names
    }

    /// Opens a regular file for reading, without blocking on a pipe.
    ///
    /// # Errors
    /// When there is none, or it is anything else; the message says what.
    pub fn open_file(&self, name: impl AsRef<OsStr>) -> io::Result<File> {
        self.open_regular(name.as_ref(), OFlags::RDONLY, 0)
    }

    /// Opens a regular file for reading and writing, made where it is missing. A file of several names is refused: what
    /// is written would appear under the others.
    ///
    /// # Errors
    /// As [`Folder::open_file`].
    pub fn open_or_make(&self, name: impl AsRef<OsStr>, mode: u32) -> io::Result<File> {
        use std::os::unix::fs::MetadataExt;
        let file = self.open_regular(name.as_ref(), OFlags::RDWR | OFlags::CREATE, mode)?;
        match file.metadata()?.nlink() {
            0 | 1 => Ok(file),
            _ => Err(io::Error::other(
                "it is a file of several names (hard links): remove it, then nebula makes its own",
            )),
        }
    }

    fn open_regular(&self, name: &OsStr, flags: OFlags, mode: u32) -> io::Result<File> {
        let name = one_name(name)?;
        if let Some(stat) = self.stat(&name)? {
            check_regular(&stat)?;
        }
        let flags = flags | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let file = File::from(openat(&self.fd, &*name, flags, bits(mode))?);
        match file.metadata()?.file_type() {
            kind if kind.is_file() => Ok(file),
            kind => Err(io::Error::other(format!("it is {}, not a regular file", kind_of(kind)))),
        }
    }

    /// Opens an existing regular file to add to its end.
    ///
    /// # Errors
    /// As [`Folder::open_file`].
    pub fn open_to_append(&self, name: impl AsRef<OsStr>) -> io::Result<File> {
        self.open_regular(name.as_ref(), OFlags::WRONLY | OFlags::APPEND, 0)
    }

    /// Makes a new file for writing.
    ///
    /// # Errors
    /// When the name is taken, by a link too, or the disk refuses.
    pub fn make_file(&self, name: impl AsRef<OsStr>, mode: u32) -> io::Result<File> {
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        Ok(File::from(openat(&self.fd, &*one_name(name.as_ref())?, flags, bits(mode))?))
    }

    /// Makes a link with this text.
    ///
    /// # Errors
    /// When the name is taken, or the disk refuses.
    pub fn make_link(&self, name: impl AsRef<OsStr>, target: &Path) -> io::Result<()> {
        Ok(symlinkat(target, &self.fd, &*one_name(name.as_ref())?)?)
    }

    /// Returns the text of a link.
    ///
    /// # Errors
    /// When it is none.
    pub fn read_link(&self, name: impl AsRef<OsStr>) -> io::Result<PathBuf> {
        let text = readlinkat(&self.fd, &*one_name(name.as_ref())?, Vec::new())?;
        Ok(OsStr::from_bytes(text.to_bytes()).into())
    }

    /// Renames over the file of the new name.
    ///
    /// # Errors
    /// Any error of the file system.
    pub fn rename(&self, from: impl AsRef<OsStr>, to: impl AsRef<OsStr>) -> io::Result<()> {
        Ok(renameat(&self.fd, &*one_name(from.as_ref())?, &self.fd, &*one_name(to.as_ref())?)?)
    }

    /// Renames into another folder, over the file of the new name.
    ///
    /// # Errors
    /// Any error of the file system.
    pub fn rename_over(&self, from: impl AsRef<OsStr>, to: &Folder, name: impl AsRef<OsStr>) -> io::Result<()> {
        Ok(renameat(&self.fd, &*one_name(from.as_ref())?, &to.fd, &*one_name(name.as_ref())?)?)
    }

    /// Renames, into another folder too, but never over something.
    ///
    /// # Errors
    /// When the new name is taken, or the disk refuses.
    pub fn rename_new(&self, from: impl AsRef<OsStr>, to: &Folder, name: impl AsRef<OsStr>) -> io::Result<()> {
        let (from, name) = (one_name(from.as_ref())?, one_name(name.as_ref())?);
        match renameat_with(&self.fd, &*from, &to.fd, &*name, RenameFlags::NOREPLACE) {
            Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => {
                // A file system without such renames: a hard link refuses an existing name too.
                self.hard_link(&from, to, &name)?;
                Ok(unlinkat(&self.fd, &*from, AtFlags::empty())?)
            }
            other => Ok(other?),
        }
    }

    /// Exchanges two names in one step; `false`: the file system cannot, and nothing was done.
    ///
    /// # Errors
    /// When one of them is not there, or the disk refuses.
    pub fn exchange(&self, a: impl AsRef<OsStr>, b: impl AsRef<OsStr>) -> io::Result<bool> {
        let (a, b) = (one_name(a.as_ref())?, one_name(b.as_ref())?);
        match renameat_with(&self.fd, &*a, &self.fd, &*b, RenameFlags::EXCHANGE) {
            Ok(()) => Ok(true),
            Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Gives a file one more name, in another folder too; a link is not followed.
    ///
    /// # Errors
    /// When the new name is taken, or the file system cannot.
    pub fn hard_link(&self, from: impl AsRef<OsStr>, to: &Folder, name: impl AsRef<OsStr>) -> io::Result<()> {
        let (from, name) = (one_name(from.as_ref())?, one_name(name.as_ref())?);
        Ok(linkat(&self.fd, &*from, &to.fd, &*name, AtFlags::empty())?)
    }

    /// Removes a file or link.
    ///
    /// # Errors
    /// Any error of the file system.
    pub fn remove_file(&self, name: impl AsRef<OsStr>) -> io::Result<()> {
        Ok(unlinkat(&self.fd, &*one_name(name.as_ref())?, AtFlags::empty())?)
    }

    /// Removes an empty folder.
    ///
    /// # Errors
    /// Any error of the file system.
    pub fn remove_folder(&self, name: impl AsRef<OsStr>) -> io::Result<()> {
        Ok(unlinkat(&self.fd, &*one_name(name.as_ref())?, AtFlags::REMOVEDIR)?)
    }

    /// Removes a folder with all that is in it. A link in it goes itself, never what it leads to.
    ///
    /// # Errors
    /// When the name is none of a folder, or the disk refuses; what went until then is gone.
    pub fn remove_all(&self, name: impl AsRef<OsStr>) -> io::Result<()> {
        let folder = self.enter(&name)?;
        for inner in folder.names()? {
            match folder.stat(&inner)? {
                Some(stat) if is(&stat, FileType::Directory) => folder.remove_all(&inner)?,
                Some(_) => folder.remove_file(&inner)?,
                None => {}
            }
        }
        self.remove_folder(name)
    }

    /// Opens a regular file to read it, also where its mode keeps its owner out: it may be read for that moment.
    ///
    /// # Errors
    /// As [`Folder::open_file`].
    pub fn open_unreadable(&self, name: impl AsRef<OsStr>) -> io::Result<File> {
        let name = one_name(name.as_ref())?;
        let refused = match self.open_file(&name) {
            Err(refused) if refused.kind() == io::ErrorKind::PermissionDenied => refused,
            opened => return opened,
        };
        let Some(stat) = self.stat(&name)?.filter(|stat| stat.st_mode & 0o400 == 0) else { return Err(refused) };
        let mode = stat.st_mode & 0o7777;
        self.set_mode(&name, OFlags::empty(), mode | 0o400)?;
        let opened = self.open_file(&name);
        self.set_mode(&name, OFlags::empty(), mode)?;
        opened
    }

    /// Sets the permission bits of the folder of that name in this one, or of this one where the name is `.`. It need
    /// not be readable.
    ///
    /// # Errors
    /// When there is none, or it is a link or no folder.
    pub fn set_folder_mode(&self, name: impl AsRef<OsStr>, mode: u32) -> io::Result<()> {
        if name.as_ref() == "." {
            return match fchmod(&self.fd, Mode::from_raw_mode(mode as RawMode)) {
                Err(Errno::BADF) => self.set_own_mode(mode),
                set => Ok(set?),
            };
        }
        self.set_mode(&one_name(name.as_ref())?, OFlags::DIRECTORY, mode)
    }

    /// Sets the permission bits of what has this name, which is no link; `kind` is a flag with which it can be opened.
    #[cfg(target_os = "linux")]
    fn set_mode(&self, name: &OsStr, kind: OFlags, mode: u32) -> io::Result<()> {
        let found = openat(&self.fd, name, OFlags::PATH | kind | OFlags::NOFOLLOW, Mode::empty())?;
        if is(&rustix::fs::fstat(&found)?, FileType::Symlink) {
            return Err(Errno::LOOP.into());
        }
        set_mode_of(&found, mode)
    }

    /// Sets the permission bits of this folder where it can only be passed through.
    #[cfg(target_os = "linux")]
    fn set_own_mode(&self, mode: u32) -> io::Result<()> {
        set_mode_of(&self.fd, mode)
    }

    #[cfg(not(target_os = "linux"))]
    fn set_own_mode(&self, _mode: u32) -> io::Result<()> {
        Err(Errno::ACCESS.into())
    }

    #[cfg(not(target_os = "linux"))]
    fn set_mode(&self, name: &OsStr, _kind: OFlags, mode: u32) -> io::Result<()> {
        let mode = Mode::from_raw_mode(mode as RawMode);
        Ok(chmodat(&self.fd, name, mode, AtFlags::SYMLINK_NOFOLLOW)?)
    }

    /// Flushes the names in it.
    ///
    /// # Errors
    /// Any error of the file system.
    pub fn sync(&self) -> io::Result<()> {
        match rustix::fs::fsync(&self.fd) {
            // One that can only be passed through is not open to be flushed itself.
            Err(Errno::BADF) => {
                rustix::fs::sync();
                Ok(())
            }
            flushed => Ok(flushed?),
        }
    }

    /// Flushes all of its file system if that many names or files in it are to be flushed, and that brings them to the disk.
    /// Returns whether it did.
    ///
    /// # Errors
    /// Any error of the file system.
    pub fn sync_all_if_many(&self, count: usize) -> io::Result<bool> {
        super::flush::sync_if_many(count, &self.fd)
    }

    /// Returns its mode, as the file system has it.
    ///
    /// # Errors
    /// Any error of the file system.
    pub fn mode(&self) -> io::Result<u32> {
        Ok(rustix::fs::fstat(&self.fd)?.st_mode)
    }

    /// Returns the id of its group.
    ///
    /// # Errors
    /// Any error of the file system.
    pub fn group(&self) -> io::Result<u32> {
        Ok(rustix::fs::fstat(&self.fd)?.st_gid)
    }

    /// Returns whether this and another are the same folder.
    ///
    /// # Errors
    /// Any error of the file system.
    pub fn is_same(&self, other: &Folder) -> io::Result<bool> {
        let (a, b) = (rustix::fs::fstat(&self.fd)?, rustix::fs::fstat(&other.fd)?);
        Ok((a.st_dev, a.st_ino) == (b.st_dev, b.st_ino))
    }
}

/// The flags with which folders are opened.
const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);
/// The flags with which folders are opened that cannot be listed.
#[cfg(target_os = "linux")]
const PASSED: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);
#[cfg(not(target_os = "linux"))]
const PASSED: OFlags = FOLDER;

/// Opens a folder whose mode lets what is in it be reached by name, though not listed.
fn pass_into(above: impl AsFd, path: impl Arg, flags: OFlags) -> io::Result<OwnedFd> {
    let fd = openat(above, path, flags, Mode::empty())?;
    // Where its names cannot be looked up either, nothing in it is within reach.
    statat(&fd, ".", AtFlags::empty())?;
    Ok(fd)
}

/// Sets the permission bits of what a descriptor stands for, also of one that is no more than a place.
#[cfg(target_os = "linux")]
fn set_mode_of(found: &OwnedFd, mode: u32) -> io::Result<()> {
    let path = format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(found));
    Ok(chmodat(CWD, path, Mode::from_raw_mode(mode as RawMode), AtFlags::empty())?)
}

/// A folder on the way is a link.
#[derive(Debug, thiserror::Error)]
#[error("{} is a link to a folder, which nebula does not follow here: put a folder in its place", path.display())]
struct LinkedFolder {
    path: PathBuf,
}

/// Returns whether an error says that a folder on the way is a link.
pub fn is_linked_folder(error: &io::Error) -> bool {
    error.get_ref().is_some_and(|inner| inner.is::<LinkedFolder>())
}

/// Returns whether a `stat` is of this kind.
pub fn is(stat: &Stat, kind: FileType) -> bool {
    FileType::from_raw_mode(stat.st_mode) == kind
}

/// Returns what a `stat` tells of, in a sentence.
pub fn kind_of_stat(stat: &Stat) -> &'static str {
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => "a file",
        FileType::Directory => "a folder",
        FileType::Symlink => "a link",
        FileType::Fifo => "a pipe",
        FileType::Socket => "a socket",
        _ => "a device",
    }
}

fn check_regular(stat: &Stat) -> io::Result<()> {
    match is(stat, FileType::RegularFile) {
        true => Ok(()),
        false => Err(io::Error::other(format!("it is {}, not a regular file", kind_of_stat(stat)))),
    }
}

/// Returns a single name, also by its text: a path would be looked up by the system, links on the way followed.
fn one_name(name: &OsStr) -> io::Result<Cow<'_, OsStr>> {
    let is_one = !name.is_empty() && !name.as_bytes().contains(&b'/') && name != "." && name != "..";
    is_one.then(|| name::name_of(name)).ok_or_else(|| io::ErrorKind::InvalidFilename.into())
}

fn bits(mode: u32) -> Mode {
    // Bits that do not fit are none that a file can have.
    Mode::from_raw_mode(RawMode::try_from(mode).unwrap_or(0o600))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use rustix::fs::mkfifoat;

    use super::*;

    #[test]
    fn no_link_is_followed_on_the_way() {
        let dir = tempfile::tempdir().expect("a folder");
        fs::create_dir_all(dir.path().join("in/deep")).expect("made");
        fs::create_dir(dir.path().join("out")).expect("made");
        symlink("../out", dir.path().join("in/linked")).expect("linked");
        symlink("../out/new", dir.path().join("in/file")).expect("linked");
        let folder = Folder::open(&dir.path().join("in")).expect("open");
        assert!(folder.descend(Path::new("deep")).is_ok());
        let error = folder.descend(Path::new("linked/x")).expect_err("a link");
        assert!(is_linked_folder(&error) && error.to_string().contains("in/linked is a link"), "{error}");
        for path in ["..", "deep/../..", "/"] {
            assert!(folder.descend(Path::new(path)).is_err(), "{path}");
        }
        assert!(folder.open_file("file").is_err_and(|e| e.to_string().contains("a link")));
        assert!(folder.open_or_make("file", 0o600).is_err());
        assert!(folder.make_file("file", 0o600).is_err());
        assert!(folder.make_file("../out/x", 0o600).is_err());
        assert_eq!(fs::read_dir(dir.path().join("out")).expect("there").count(), 0);
        assert_eq!(folder.read_link("linked").expect("a link"), Path::new("../out"));
    }

    #[test]
    fn only_regular_files_of_one_name_are_written() {
        let dir = tempfile::tempdir().expect("a folder");
        let folder = Folder::open(dir.path()).expect("open");
        mkfifoat(CWD, dir.path().join("pipe"), Mode::RUSR | Mode::WUSR).expect("a pipe");
        assert!(folder.open_file("pipe").is_err_and(|e| e.to_string().contains("a pipe")));
        assert!(folder.open_or_make("pipe", 0o600).is_err());
        fs::write(dir.path().join("a"), "text").expect("written");
        fs::hard_link(dir.path().join("a"), dir.path().join("b")).expect("linked");
        assert!(folder.open_or_make("a", 0o600).is_err_and(|e| e.to_string().contains("several names")));
        fs::remove_file(dir.path().join("b")).expect("removed");
        assert!(folder.open_or_make("a", 0o600).is_ok());
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn in_a_folder_that_cannot_be_listed_files_are_reached_by_name() {
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("in");
        fs::create_dir(&path).expect("made");
        fs::write(path.join("a"), "1").expect("written");
        let set = |mode| fs::set_permissions(&path, fs::Permissions::from_mode(mode)).expect("set");
        set(0o300);
        // The superuser can list any, but for one without that right.
        std::thread::scope(|scope| scope.spawn(|| in_unlisted(dir.path())).join().expect("looked"));
        assert_eq!(fs::metadata(&path).expect("there").permissions().mode() & 0o777, 0o700);
        assert_eq!(fs::metadata(path.join("a")).expect("there").len(), 0);
        set(0o700);
    }

    #[cfg(target_os = "linux")]
    fn in_unlisted(above: &Path) {
        let none = rustix::thread::CapabilitySet::empty();
        let sets = rustix::thread::CapabilitySets { effective: none, permitted: none, inheritable: none };
        rustix::thread::set_capabilities(None, sets).expect("dropped");
        let above = Folder::open(above).expect("open");
        let folder = above.enter("in").expect("passed into");
        assert!(folder.names().is_err());
        assert_eq!(folder.names_unlisted().expect("listed"), ["a"]);
        assert_eq!(folder.mode().expect("known") & 0o777, 0o300);
        assert!(folder.open_file("a").is_ok() && folder.stat("b").expect("looked").is_none());
        folder.make_file("b", 0o600).expect("made");
        folder.rename("b", "a").expect("renamed");
        folder.sync().expect("flushed");
        folder.set_folder_mode(".", 0o000).expect("set");
        assert!(above.enter("in").is_err_and(|error| error.kind() == io::ErrorKind::PermissionDenied));
        folder.set_folder_mode(".", 0o700).expect("set");
    }

    #[test]
    fn two_names_are_exchanged_in_one_step() {
        let dir = tempfile::tempdir().expect("a folder");
        fs::write(dir.path().join("a"), "1").expect("written");
        fs::write(dir.path().join("b"), "2").expect("written");
        let folder = Folder::open(dir.path()).expect("open");
        if folder.exchange("a", "b").expect("exchanged") {
            assert_eq!(fs::read(dir.path().join("a")).expect("there"), b"2");
        }
        assert!(folder.rename_new("a", &folder, "b").is_err());
        let mut names = folder.names().expect("listed");
        names.sort();
        assert_eq!(names, ["a", "b"]);
        fs::rename(dir.path().join("a"), dir.path().join("c")).expect("renamed");
        assert!(folder.exchange("a", "b").is_err());
    }
}
