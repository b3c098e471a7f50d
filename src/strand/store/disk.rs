//! Every call that changes a file of a store, one step at a time, so that a test can end the program at each of them.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

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

/// Makes the names in a file's folder durable.
pub fn flush_folder(path: &Path) -> io::Result<()> {
    step()?;
    File::open(path.parent().unwrap_or(path))?.sync_all()
}

/// Makes a file that is not there yet, durably.
pub fn create(path: &Path, bytes: &[u8]) -> io::Result<()> {
    step()?;
    let mut file = OpenOptions::new().write(true).create_new(true).open(path)?;
    write(&mut file, bytes)?;
    flush(&file)?;
    flush_folder(path)
}

/// Makes a folder and those above it.
pub fn create_folder(path: &Path) -> io::Result<()> {
    step()?;
    fs::create_dir_all(path)
}

/// Replaces or makes a file durably: a reader sees the old text or the new one, after a crash too. An existing file
/// keeps its mode.
pub fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    step()?;
    let mode = fs::metadata(path).map_or(0o644, |meta| meta.permissions().mode() & 0o7777);
    crate::disk::replace(path, bytes, mode)?;
    step()
}

/// Replaces or makes a file that can be made again: a reader sees the old text or the new one, after a crash perhaps
/// neither.
pub fn replace_unflushed(path: &Path, bytes: &[u8]) -> io::Result<()> {
    step()?;
    let temp = crate::disk::temp_path(path.parent().unwrap_or(path));
    let mut file = OpenOptions::new().write(true).create_new(true).open(&temp)?;
    let written = write(&mut file, bytes).and_then(|()| step()).and_then(|()| fs::rename(&temp, path));
    if written.is_err() {
        // A remaining file is swept by the next process.
        let _ = fs::remove_file(&temp);
    }
    written
}

/// Removes temporary files of programs that ended before they gave them their names.
pub fn remove_left_over(folder: &Path) -> io::Result<()> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    for entry in entries.flatten() {
        if crate::disk::is_left_over(&entry.file_name().to_string_lossy()) {
            fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

/// Appends bytes durably to an existing file. Returns where they begin. Bytes written before a failure are removed as
/// far as possible.
pub fn append(path: &Path, bytes: &[u8]) -> io::Result<u64> {
    let mut file = OpenOptions::new().append(true).open(path)?;
    let before = file.metadata()?.len();
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
    let mut file = OpenOptions::new().create(true).read(true).append(true).open(path)?;
    let length = file.metadata()?.len();
    let mut last = [b'\n'];
    if length > 0 {
        file.seek(SeekFrom::Start(length - 1))?;
        file.read_exact(&mut last)?;
    }
    let joined = if last == *b"\n" { text.to_owned() } else { format!("\n{text}") };
    write(&mut file, joined.as_bytes())?;
    step()?;
    file.sync_data()?;
    if length == 0 { flush_folder(path) } else { Ok(()) }
}

/// Cuts a file off, durably.
pub fn cut(path: &Path, length: u64) -> io::Result<()> {
    let file = OpenOptions::new().write(true).open(path)?;
    step()?;
    file.set_len(length)?;
    flush(&file)
}
