//! Files that are too large to be held in memory: hashed in one pass, copied a piece at a time.

use std::fs::File;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use sha2::{Digest, Sha256};
use tokio_util::sync::CancellationToken;

use super::stamp::Stamp;
use crate::disk::{self, Folder};
use crate::proposal::{LargeFile, State};

/// The largest file that is held whole, in bytes.
pub const LARGEST_WHOLE: u64 = 64 << 20;

/// Returns the state of an open file and its stamp of before the bytes were read: a change while they are shows.
/// `source` is where it lies.
///
/// # Errors
/// Any error of the file system, or when it is stopped.
pub fn state_of(file: File, source: &Path, stop: &CancellationToken) -> io::Result<(State, Stamp)> {
    let meta = file.metadata()?;
    let (stamp, mode) = (Stamp::of(&meta), Some(meta.permissions().mode() & 0o7777));
    if meta.len() <= LARGEST_WHOLE {
        let bytes = disk::read_open(&file, LARGEST_WHOLE)?;
        return Ok((State::File { bytes: bytes.into(), mode }, stamp));
    }
    let (size, sha256) = digest(&file, stop)?;
    let large = LargeFile { size, sha256, mode, source: source.to_path_buf() };
    Ok((State::Large(Box::new(large)), stamp))
}

/// Copies a large file's bytes into a new one; the blocks are shared where the file system can.
///
/// # Errors
/// When they are not those that were read before, the disk refuses, or it is stopped.
pub fn copy_large(from: &LargeFile, to: &File, stop: &CancellationToken) -> io::Result<()> {
    let name = from.source.file_name().ok_or(io::ErrorKind::InvalidFilename)?;
    let old = Folder::open(disk::parent(&from.source))?.open_unreadable(name)?;
    // The bytes are read for their sum in any case, so that a copy within the system would save nothing.
    let copied = match disk::share_blocks(&old, to) {
        true => digest(to, stop)?,
        false => summed(|each| disk::copy_pieces(&old, to, stop, each))?,
    };
    match copied == (from.size, from.sha256) {
        true => Ok(()),
        false => Err(io::Error::other(format!("{} changed while it was copied", from.source.display()))),
    }
}

/// Returns whether an open file holds the bytes of a large one.
///
/// # Errors
/// Any error of the file system, or when it is stopped.
pub fn holds_large(file: &File, large: &LargeFile, stop: &CancellationToken) -> io::Result<bool> {
    Ok(file.metadata()?.len() == large.size && digest(file, stop)? == (large.size, large.sha256))
}

/// Returns the size and SHA-256 of an open file.
fn digest(file: &File, stop: &CancellationToken) -> io::Result<(u64, [u8; 32])> {
    summed(|each| disk::read_pieces(file, stop, each))
}

/// Returns the size and SHA-256 of what goes by, piece by piece.
fn summed(run: impl FnOnce(&mut dyn FnMut(&[u8])) -> io::Result<u64>) -> io::Result<(u64, [u8; 32])> {
    let mut sum = Sha256::new();
    let size = run(&mut |piece| sum.update(piece))?;
    Ok((size, sum.finalize().into()))
}
