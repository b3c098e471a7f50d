//! Covers a folder below which something is mounted, which no overlay takes as one: a folder of the view lies in its place,
//! with an overlay over each folder of it.

use std::fs::{self, DirBuilder, File, Metadata, Permissions};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, Mode, OFlags};

use super::mountinfo::mounts;
use super::overlay::{Layers, bind_to_read, link_of};
use super::{TMP, UPPER, make_layer};

/// The most entries of a folder that is covered so.
const MOST_ENTRIES: usize = 1_000;
/// The most bytes of a file that is copied; a larger one is only read.
const MOST_COPIED: u64 = 64 << 10;

/// The mounts that keep overlays from covering what they lie in.
pub struct Pieces<'a> {
    /// The workspace, which has an overlay of its own.
    root: &'a Path,
    /// The places where something is mounted.
    mounts: Vec<PathBuf>,
}

impl<'a> Pieces<'a> {
    /// Reads what is mounted before a view is.
    ///
    /// # Errors
    /// When the list cannot be read.
    pub fn new(root: &'a Path) -> io::Result<Self> {
        Ok(Pieces { root, mounts: mounts()?.into_iter().map(|mount| mount.at).collect() })
    }

    /// Returns whether something is mounted below a folder.
    pub fn lie_below(&self, at: &Path) -> bool {
        self.mounts.iter().any(|mount| mount != at && mount.starts_with(at))
    }

    /// Covers the folder `at`, opened as `lower`, by one in `own`.
    ///
    /// # Errors
    /// When it holds too much, or the machine has no such mounts.
    pub fn cover(&self, at: &Path, lower: &OwnedFd, own: &Path) -> io::Result<()> {
        let from = PathBuf::from(link_of(lower));
        let names = fs::read_dir(&from)?.map(|entry| Ok(entry?.file_name())).collect::<io::Result<Vec<_>>>()?;
        if names.len() > MOST_ENTRIES {
            return Err(io::Error::other("too many entries"));
        }
        make_layer(own, &from)?;
        let upper = own.join(UPPER);
        rustix::mount::mount_bind(&upper, at)?;
        for (number, name) in names.iter().enumerate() {
            let piece = Piece { from: from.join(name), made: upper.join(name), at: at.join(name) };
            match fs::symlink_metadata(&piece.from) {
                Ok(meta) => self.cover_entry(&piece, &meta, &own.join(TMP).join(number.to_string()))?,
                // It was removed meanwhile.
                Err(_) => continue,
            }
        }
        Ok(())
    }

    fn cover_entry(&self, piece: &Piece, meta: &Metadata, own: &Path) -> io::Result<()> {
        if meta.is_symlink() {
            return std::os::unix::fs::symlink(fs::read_link(&piece.from)?, &piece.made);
        }
        if !meta.is_dir() {
            return piece.copy(meta).or_else(|_| piece.show());
        }
        fs::create_dir(&piece.made)?;
        fs::set_permissions(&piece.made, Permissions::from_mode(meta.permissions().mode() & 0o7777))?;
        if piece.at == self.root {
            return Ok(());
        }
        DirBuilder::new().recursive(true).mode(0o700).create(own)?;
        if self.lie_below(&piece.at) {
            return self.cover(&piece.at, &piece.open()?, own);
        }
        make_layer(own, &piece.from)?;
        let covered = Layers::open(&piece.from, own).and_then(|layers| layers.mount(&piece.at));
        covered.or_else(|_| bind_to_read(&piece.open()?, &piece.at))
    }
}

/// An entry of a folder that is covered so.
struct Piece {
    /// The entry as it is.
    from: PathBuf,
    /// Its stand-in in the view's own folder.
    made: PathBuf,
    /// Its path in the view.
    at: PathBuf,
}

impl Piece {
    /// Copies a small file.
    fn copy(&self, meta: &Metadata) -> io::Result<()> {
        match meta.is_file() && meta.len() <= MOST_COPIED {
            true => fs::copy(&self.from, &self.made).map(|_| ()),
            false => Err(io::ErrorKind::FileTooLarge.into()),
        }
    }

    /// Shows a file as it is, to be only read.
    fn show(&self) -> io::Result<()> {
        File::create(&self.made)?;
        bind_to_read(&self.open()?, &self.at)
    }

    fn open(&self) -> io::Result<OwnedFd> {
        let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        Ok(rustix::fs::openat(CWD, &self.from, flags, Mode::empty())?)
    }
}
