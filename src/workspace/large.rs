//! Files that are too large to be held: read once through for their sum, copied a piece at a time.

use std::fs::File;
use std::io::{self, Write as _};
use std::os::unix::fs::{FileExt, PermissionsExt};
use std::path::Path;

use sha2::{Digest, Sha256};

use super::stamp::Stamp;
use crate::disk::{self, Links};
use crate::proposal::{LargeFile, State};

/// The largest file that is held whole, in bytes.
const LARGEST_WHOLE: u64 = 64 << 20;
/// Bytes that are read at once of a larger one.
const PIECE: usize = 1 << 20;

/// The state of an open file and its stamp of before the bytes were read: a change while they are shows. `source` is where
/// it lies.
///
/// # Errors
/// Whatever the disk says.
pub fn state_of(file: File, source: &Path) -> io::Result<(State, Stamp)> {
    let meta = file.metadata()?;
    let (stamp, mode) = (Stamp::of(&meta), Some(meta.permissions().mode() & 0o7777));
    if meta.len() <= LARGEST_WHOLE {
        let bytes = disk::read_open(&file, LARGEST_WHOLE)?;
        return Ok((State::File { bytes: bytes.into(), mode }, stamp));
    }
    let (size, sha256) = pieces(&file, |_| Ok(()))?;
    let large = LargeFile { size, sha256, mode, source: source.to_path_buf() };
    Ok((State::Large(Box::new(large)), stamp))
}

/// Copies a large file's bytes into a new one, the blocks shared where the file system can.
///
/// # Errors
/// When they are not those that were read before, or the disk refuses.
pub fn copy_large(from: &LargeFile, mut to: &File) -> io::Result<()> {
    let old = disk::open_file(&from.source, Links::Refuse)?;
    let copied = match share_blocks(&old, to) {
        true => pieces(to, |_| Ok(()))?,
        false => pieces(&old, |piece| to.write_all(piece))?,
    };
    match copied == (from.size, from.sha256) {
        true => Ok(()),
        false => Err(io::Error::other(format!("{} changed while it was copied", from.source.display()))),
    }
}

/// Whether an open file holds the bytes of a large one.
pub fn holds_large(file: &File, large: &LargeFile) -> bool {
    let same_size = file.metadata().is_ok_and(|meta| meta.len() == large.size);
    same_size && pieces(file, |_| Ok(())).is_ok_and(|found| found == (large.size, large.sha256))
}

#[cfg(target_os = "linux")]
fn share_blocks(old: &File, new: &File) -> bool {
    rustix::fs::ioctl_ficlone(new, old).is_ok()
}

#[cfg(not(target_os = "linux"))]
fn share_blocks(_old: &File, _new: &File) -> bool {
    false
}

/// Hands out a file from its beginning piece by piece; its size and SHA-256.
fn pieces(file: &File, mut each: impl FnMut(&[u8]) -> io::Result<()>) -> io::Result<(u64, [u8; 32])> {
    let (mut sum, mut size, mut piece) = (Sha256::new(), 0, vec![0; PIECE]);
    loop {
        let read = match file.read_at(&mut piece, size) {
            Ok(0) => return Ok((size, sum.finalize().into())),
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        sum.update(&piece[..read]);
        each(&piece[..read])?;
        size += read as u64;
    }
}
