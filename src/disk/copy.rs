//! Copies file contents a piece at a time. Holes of a sparse file stay holes in its copy.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;

use tokio_util::sync::CancellationToken;

use super::check_stop;

/// Bytes that are read at once.
const PIECE: usize = 1 << 20;
/// Bytes that are written or left empty together: the blocks of most file systems.
const BLOCK: usize = 4 << 10;

/// Reads a file from its beginning, piece by piece. Returns the file's size.
///
/// # Errors
/// Any error of the file system, or when it is stopped.
pub fn read_pieces(file: &File, stop: &CancellationToken, mut each: impl FnMut(&[u8])) -> io::Result<u64> {
    pieces(file, stop, |piece, _| {
        each(piece);
        Ok(())
    })
}

/// Copies a file's bytes into a new, empty one, and hands them out as [`read_pieces`] does. Blocks that hold zeros
/// alone become holes.
///
/// # Errors
/// As there.
pub fn copy_pieces(from: &File, to: &File, stop: &CancellationToken, mut each: impl FnMut(&[u8])) -> io::Result<u64> {
    let mut end = 0;
    let size = pieces(from, stop, |piece, at| {
        each(piece);
        end = write_data(to, piece, at)?.unwrap_or(end);
        Ok(())
    })?;
    if end < size {
        // It ends with a hole.
        to.set_len(size)?;
    }
    Ok(size)
}

/// Lets a new, empty file share the blocks of another. Returns whether the file system can.
#[cfg(target_os = "linux")]
pub fn share_blocks(from: &File, to: &File) -> bool {
    rustix::fs::ioctl_ficlone(to, from).is_ok()
}

/// Lets a new, empty file share the blocks of another. Returns whether the file system can.
#[cfg(not(target_os = "linux"))]
pub fn share_blocks(_from: &File, _to: &File) -> bool {
    false
}

/// Returns whether files in a folder can share blocks: a copy costs no room then until one of them changes.
pub fn can_share_blocks(folder: &Path) -> bool {
    let share = || {
        let (mut from, to) = (tempfile::tempfile_in(folder)?, tempfile::tempfile_in(folder)?);
        io::Write::write_all(&mut from, &[1; BLOCK])?;
        io::Result::Ok(share_blocks(&from, &to))
    };
    share().unwrap_or(false)
}

/// Creates a new file that shares the blocks of an open one. Returns false, and leaves nothing, where the file system
/// cannot.
///
/// # Errors
/// When the name is taken or the disk refuses.
pub fn share_new(from: &File, to: &Path, mode: u32) -> io::Result<bool> {
    let new = OpenOptions::new().write(true).create_new(true).mode(mode).open(to)?;
    if share_blocks(from, &new) && new.set_permissions(Permissions::from_mode(mode)).is_ok() {
        return Ok(true);
    }
    fs::remove_file(to).map(|()| false)
}

/// Creates a new file with the bytes of an open one, its blocks shared where the file system can. Not flushed.
///
/// # Errors
/// When the name is taken or the disk refuses; a file begun is removed again.
pub fn copy_new(from: &File, to: &Path, mode: u32) -> io::Result<File> {
    let new = OpenOptions::new().write(true).create_new(true).mode(mode).open(to)?;
    let copied = match share_blocks(from, &new) {
        true => Ok(0),
        false => copy_pieces(from, &new, &CancellationToken::new(), |_| {}),
    };
    // Bits of it may have been masked.
    let set_mode = || match new.metadata()?.mode() & 0o7777 == mode {
        true => Ok(()),
        false => new.set_permissions(Permissions::from_mode(mode)),
    };
    if let Err(error) = copied.and_then(|_| set_mode()) {
        // The first error is the one worth telling.
        let _ = fs::remove_file(to);
        return Err(error);
    }
    Ok(new)
}

/// Calls `each` with every piece of the file and its offset.
fn pieces(
    file: &File,
    stop: &CancellationToken,
    mut each: impl FnMut(&[u8], u64) -> io::Result<()>,
) -> io::Result<u64> {
    // No more is taken than is read: it is filled with zeros first.
    let expected = file.metadata()?.len();
    let length = expected.saturating_add(1).clamp(BLOCK as u64, PIECE as u64);
    let (mut size, mut piece) = (0, vec![0; length as usize]);
    loop {
        check_stop(stop)?;
        let read = match file.read_at(&mut piece, size) {
            Ok(0) => return Ok(size),
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        each(&piece[..read], size)?;
        size += read as u64;
        if size == expected && read < piece.len() {
            // There was room for more: no further read needs to say that this was the end.
            return Ok(size);
        }
    }
}

/// Writes the blocks of a piece that hold anything but zeros, neighbours in one write. Returns where the last of them ends.
fn write_data(to: &File, piece: &[u8], at: u64) -> io::Result<Option<u64>> {
    let (mut data_from, mut end) = (None, None);
    let write = |from: usize, end: usize| to.write_all_at(&piece[from..end], at + from as u64);
    for (i, block) in piece.chunks(BLOCK).enumerate() {
        let is_empty = *block == [0; BLOCK][..block.len()];
        match (is_empty, data_from) {
            (false, None) => data_from = Some(i * BLOCK),
            (true, Some(from)) => {
                write(from, i * BLOCK)?;
                (data_from, end) = (None, Some(at + (i * BLOCK) as u64));
            }
            _ => {}
        }
    }
    if let Some(from) = data_from {
        write(from, piece.len())?;
        end = Some(at + piece.len() as u64);
    }
    Ok(end)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::is_stopped;
    use std::fs;

    fn two() -> (tempfile::TempDir, File, File) {
        let dir = tempfile::tempdir().expect("a folder");
        let new = |name: &str| {
            let path = dir.path().join(name);
            fs::OpenOptions::new().read(true).write(true).create_new(true).open(path).expect("made")
        };
        let (from, to) = (new("from"), new("to"));
        (dir, from, to)
    }

    #[test]
    fn a_copy_has_the_same_bytes_and_the_same_holes() {
        let (dir, from, to) = two();
        from.set_len((8 << 20) + 5).expect("a sparse file");
        let ends = [(0, "begin"), (4_095, "two blocks"), ((3 << 20) - 2, "two pieces"), ((8 << 20) + 2, "end")];
        for (at, text) in ends {
            from.write_all_at(text.as_bytes(), at).expect("written");
        }
        let mut seen = Vec::new();
        let size = copy_pieces(&from, &to, &CancellationToken::new(), |piece| seen.extend_from_slice(piece));
        assert_eq!(size.expect("copied"), from.metadata().expect("there").len());
        let bytes = fs::read(dir.path().join("from")).expect("read");
        assert!(seen == bytes && fs::read(dir.path().join("to")).expect("read") == bytes);
        assert!(to.metadata().expect("there").blocks() * 512 < 1 << 20, "the holes were filled");
    }

    #[test]
    fn a_copy_has_the_same_size_and_mode_whatever_it_ends_with() {
        let (dir, from, _) = two();
        for (n, (text, size)) in [("", 0), ("text", 4), ("text", 9_000), ("", 5_000)].into_iter().enumerate() {
            from.set_len(0).and_then(|()| from.set_len(size)).expect("set");
            from.write_all_at(text.as_bytes(), 0).expect("written");
            for mode in [0o600, 0o666, 0o444, 0o1777] {
                let to = dir.path().join(format!("{n}-{mode:o}"));
                copy_new(&from, &to, mode).expect("copied");
                let meta = fs::metadata(&to).expect("there");
                assert_eq!((meta.len(), meta.mode() & 0o7777), (size, mode));
                assert_eq!(fs::read(&to).expect("read"), fs::read(dir.path().join("from")).expect("read"));
            }
        }
    }

    #[test]
    fn a_copy_ends_between_two_pieces() {
        let (_dir, from, to) = two();
        from.set_len(1 << 40).expect("a sparse file");
        let (stop, mut pieces) = (CancellationToken::new(), 0);
        let copied = copy_pieces(&from, &to, &stop, |_| {
            pieces += 1;
            stop.cancel();
        });
        assert!(copied.is_err_and(|e| is_stopped(&e)));
        assert_eq!(pieces, 1);
    }
}
