//! Every call that reads or changes a file of a store, those that change one step by step, so that a test can end the
//! program at each of them.
//!
//! A store may come with a clone: below its root no link is followed, and what is no regular file is refused by its path.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Component, Path, PathBuf};

use rustix::fs::FileType;

use crate::disk::{self, Folder};

#[cfg(test)]
use super::fault::pass;

#[cfg(not(test))]
fn pass(bytes: usize) -> io::Result<usize> {
    Ok(bytes)
}

fn step() -> io::Result<()> {
    pass(0).map(|_| ())
}

fn write(file: &mut File, bytes: &[u8]) -> io::Result<()> {
    let allowed = pass(bytes.len())?;
    file.write_all(&bytes[..allowed])?;
    if allowed < bytes.len() { Err(io::ErrorKind::WriteZero.into()) } else { Ok(()) }
}

fn flush(file: &File) -> io::Result<()> {
    step()?;
    file.sync_all()
}

/// The folder of a store's own files.
const INNER: &str = ".strand";
/// A definition's file that is larger is refused, in bytes.
const LARGEST: u64 = 64 << 20;

/// Returns the root of the store that a path lies in, and the rest of the path. A path without the folder of a store is
/// one in a root: its last name alone is the rest.
fn split(path: &Path) -> (PathBuf, PathBuf) {
    let inner = path.ancestors().find(|above| above.file_name() == Some(OsStr::new(INNER)));
    let root = disk::parent(inner.unwrap_or(path));
    let rest = if root == Path::new(".") { Some(path) } else { path.strip_prefix(root).ok() };
    // A path such as `./.strand/lock` begins with a name that is no folder to make.
    let names = rest.unwrap_or(path).components().filter(|name| *name != Component::CurDir);
    (root.to_owned(), names.collect())
}

/// Opens the folder that a path of a store lies in. Returns the name in it too.
fn place(path: &Path) -> io::Result<(Folder, OsString)> {
    let (root, rest) = split(path);
    place_below(&root, &rest)
}

/// Opens the folder that a path below `root` lies in; no folder on the way may be a link.
fn place_below(root: &Path, rest: &Path) -> io::Result<(Folder, OsString)> {
    let name = rest.file_name().ok_or(io::ErrorKind::InvalidFilename)?;
    let folder = Folder::open(root)?.descend(rest.parent().unwrap_or(Path::new("")))?;
    Ok((folder, name.to_owned()))
}

/// Opens a file of a store for reading.
pub fn open(path: &Path) -> io::Result<File> {
    let (folder, name) = place(path)?;
    folder.open_file(&name)
}

/// Returns the bytes of a file of a store.
pub fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open(path)?.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Returns the text of a file of a store.
pub fn read_text(path: &Path) -> io::Result<String> {
    String::from_utf8(read(path)?).map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "it is no text in UTF-8"))
}

/// Returns the bytes of the file at a path below a store's root.
pub fn read_below(root: &Path, rest: &str) -> io::Result<Vec<u8>> {
    let (folder, name) = place_below(root, Path::new(rest))?;
    disk::read_open(&folder.open_file(&name)?, LARGEST)
}

/// The entries of a folder whose names end in `.strand`.
#[derive(Default)]
pub struct DefinitionFiles {
    /// The names of the regular files.
    pub files: Vec<String>,
    /// The names of the others, each with what it is.
    pub others: Vec<(String, &'static str)>,
}

/// Returns the entries of a folder of a store's root that end in `.strand`; none if there is no such folder.
///
/// # Errors
/// When the folder is a link.
pub fn definitions(root: &Path, folder: &str) -> io::Result<DefinitionFiles> {
    let folder = match Folder::open(root)?.enter(folder) {
        Ok(folder) => folder,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(DefinitionFiles::default()),
        Err(error) => return Err(error),
    };
    let mut found = DefinitionFiles::default();
    for name in folder.names()? {
        if Path::new(&name).extension() != Some(OsStr::new("strand")) {
            continue;
        }
        let shown = name.to_string_lossy().into_owned();
        match folder.stat(&name)? {
            Some(stat) if !disk::is(&stat, FileType::RegularFile) => {
                found.others.push((shown, disk::kind_of_stat(&stat)));
            }
            Some(_) => found.files.push(shown),
            None => {}
        }
    }
    Ok(found)
}

/// Checks that a database and what SQLite writes beside it are regular files, or are not there.
pub fn check_database(path: &Path) -> io::Result<()> {
    for suffix in ["", "-wal", "-shm", "-journal"] {
        let mut name = path.as_os_str().to_owned();
        name.push(suffix);
        let (folder, name) = place(Path::new(&name))?;
        if let Some(stat) = folder.stat(&name)?.filter(|stat| !disk::is(stat, FileType::RegularFile)) {
            let kind = disk::kind_of_stat(&stat);
            return Err(io::Error::other(format!("{} is {kind}, not a regular file", name.display())));
        }
    }
    Ok(())
}

/// Makes the names in a file's folder durable.
pub fn flush_folder(path: &Path) -> io::Result<()> {
    step()?;
    place(path)?.0.sync()
}

/// Makes a file that is not there yet, durably.
pub fn create(path: &Path, bytes: &[u8]) -> io::Result<()> {
    step()?;
    let (folder, name) = place(path)?;
    let mut file = folder.make_file(&name, 0o666)?;
    write(&mut file, bytes)?;
    flush(&file)?;
    flush_folder(path)
}

/// Makes a folder of a store and those above it.
pub fn create_folder(path: &Path) -> io::Result<()> {
    let (root, rest) = split(path);
    create_below(&root, &rest)
}

/// Makes a folder below a store's root and those above it.
pub fn create_below(root: &Path, rest: &Path) -> io::Result<()> {
    step()?;
    fs::create_dir_all(root)?;
    let mut folder = Folder::open(root)?;
    for name in rest {
        folder.make(name, 0o777)?;
        folder = folder.enter(name)?;
    }
    Ok(())
}

/// Replaces or makes a file durably: a reader sees the old text or the new one, after a crash too. An existing file
/// keeps its mode.
pub fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    replace_in(place(path)?, bytes)
}

/// Replaces durably the file at a path below a store's root if it holds `seen`, or makes it where none was seen. Returns
/// false where something else stands there, which stays.
pub fn replace_below(root: &Path, rest: &str, seen: Option<&[u8]>, bytes: &[u8]) -> io::Result<bool> {
    let (folder, name) = place_below(root, Path::new(rest))?;
    step()?;
    let replaced = match seen {
        Some(seen) => folder.replace_seen(&name, seen, bytes)?,
        None => match make_in(&folder, |temp| folder.rename_new(temp, &folder, &name), bytes) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => false,
            made => made.map(|()| true)?,
        },
    };
    step()?;
    Ok(replaced)
}

fn replace_in((folder, name): (Folder, OsString), bytes: &[u8]) -> io::Result<()> {
    step()?;
    if folder.stat(&name)?.is_none() {
        make_in(&folder, |temp| folder.rename_over(temp, &folder, &name), bytes)?;
    } else {
        // Refused unless it is a regular file.
        folder.open_file(&name)?;
        folder.replace(&name, bytes, 0o666)?;
    }
    step()
}

/// Makes a file with the permissions that the mask of the process gives it, durably; `place` gives it its name.
fn make_in(folder: &Folder, place: impl FnOnce(&str) -> io::Result<()>, bytes: &[u8]) -> io::Result<()> {
    let temp = disk::temp_name();
    let made = folder.make_file(&temp, 0o666).and_then(|mut file| {
        write(&mut file, bytes)?;
        flush(&file)?;
        place(&temp)
    });
    if let Err(error) = made {
        // The first error is the one to report; a file that stays is swept by the next sync.
        let _ = folder.remove_file(&temp);
        return Err(error);
    }
    folder.sync()
}

/// Makes a file below a store's root durably and whole, where there is none yet.
pub fn make_below(root: &Path, rest: &str, bytes: &[u8]) -> io::Result<()> {
    let (folder, name) = place_below(root, Path::new(rest))?;
    make_in(&folder, |temp| folder.rename_new(temp, &folder, &name), bytes)?;
    step()
}

/// Removes the file at a path below a store's root durably if it holds `seen`. Returns false where something else stands
/// there, which stays.
pub fn remove_below(root: &Path, rest: &str, seen: &[u8]) -> io::Result<bool> {
    let (folder, name) = place_below(root, Path::new(rest))?;
    step()?;
    let removed = folder.remove_seen(&name, seen)?;
    step()?;
    Ok(removed)
}

/// Replaces or makes a file that can be made again: a reader sees the old text or the new one, after a crash perhaps
/// neither.
pub fn replace_unflushed(path: &Path, bytes: &[u8]) -> io::Result<()> {
    step()?;
    let (folder, name) = place(path)?;
    folder.replace_from(&folder, &name, |temp| {
        write(&mut folder.make_file(temp, 0o666)?, bytes)?;
        step()
    })
}

/// Removes temporary files of programs that ended before they gave them their names, in a folder of a store's root or
/// the root itself.
pub fn remove_left_over(root: &Path, folder: &str) -> io::Result<()> {
    let folder = match Folder::open(root)?.descend(Path::new(folder)) {
        Ok(folder) => folder,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    for name in folder.names()? {
        if disk::is_left_over(&name.to_string_lossy()) {
            folder.remove_file(&name)?;
        }
    }
    Ok(())
}

/// Opens an existing file of a store for writing.
fn open_to_write(path: &Path) -> io::Result<File> {
    let (folder, name) = place(path)?;
    match folder.stat(&name)? {
        Some(_) => folder.open_or_make(&name, 0o666),
        None => Err(io::ErrorKind::NotFound.into()),
    }
}

/// Opens the file that the lock of a store is taken on; it is made if it is not there.
pub fn open_lock(path: &Path) -> io::Result<File> {
    let (folder, name) = place(path)?;
    folder.open_or_make(&name, 0o666)
}

/// Appends bytes durably to an existing file. Returns where they begin. Bytes written before a failure are removed as
/// far as possible.
pub fn append(path: &Path, bytes: &[u8]) -> io::Result<u64> {
    let mut file = open_to_write(path)?;
    let before = file.seek(SeekFrom::End(0))?;
    let written = write(&mut file, bytes).and_then(|()| {
        step()?;
        file.sync_data()
    });
    if let Err(error) = written {
        // The first error is the one to report; the next writer puts a torn end aside.
        let _ = step().and_then(|()| file.set_len(before));
        return Err(error);
    }
    Ok(before)
}

/// Appends whole lines durably to a file of records, which is made if it is not there. An end torn by a crash becomes
/// a line of its own.
pub fn append_lines(path: &Path, text: &str) -> io::Result<()> {
    step()?;
    let (folder, name) = place(path)?;
    let mut file = folder.open_or_make(&name, 0o666)?;
    // Not every writer holds the lock of the store: two that found one end would write over each other.
    file.lock()?;
    let length = file.metadata()?.len();
    let mut last = [b'\n'];
    if length > 0 {
        file.seek(SeekFrom::Start(length - 1))?;
        file.read_exact(&mut last)?;
    }
    file.seek(SeekFrom::Start(length))?;
    let joined = if last == *b"\n" { text.to_owned() } else { format!("\n{text}") };
    write(&mut file, joined.as_bytes())?;
    step()?;
    file.sync_data()?;
    if length == 0 { flush_folder(path) } else { Ok(()) }
}

/// Cuts a file off, durably.
pub fn cut(path: &Path, length: u64) -> io::Result<()> {
    let file = open_to_write(path)?;
    step()?;
    file.set_len(length)?;
    flush(&file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_from_the_present_folder_on_has_no_name_for_it() {
        for (path, root, rest) in [
            ("./.strand/rejected", ".", ".strand/rejected"),
            (".strand/rejected", ".", ".strand/rejected"),
            ("./.gitignore", ".", ".gitignore"),
            ("./a/.strand/lock", "./a", ".strand/lock"),
            ("/a/.strand/lock", "/a", ".strand/lock"),
        ] {
            assert_eq!(split(Path::new(path)), (PathBuf::from(root), PathBuf::from(rest)), "{path}");
        }
    }
}
