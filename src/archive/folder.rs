//! Opens the folders of the archive without following a link: a clone may bring links of those names.

use std::io;
use std::path::{Component, Path};

use super::version::{self, Version};
use super::{Archive, Error, at};
use crate::disk::{self, Folder};

impl Archive {
    /// Returns the folder `.shaft`; `None`: it does not exist.
    pub(super) fn open_home(&self) -> Result<Option<Folder>, Error> {
        present(self.reach_folder(&self.home)).map_err(at(&self.home))
    }

    /// Returns the folder of this name in `.shaft`; `None`: it is not there.
    ///
    /// # Errors
    /// When it or `.shaft` is a link or no folder, or cannot be read.
    pub fn open_own(&self, name: &str) -> Result<Option<Folder>, Error> {
        let Some(home) = self.open_home()? else { return Ok(None) };
        present(home.enter(name)).map_err(at(&self.home.join(name)))
    }

    /// Opens the folder of this name in `.shaft`, made where it is missing.
    ///
    /// # Errors
    /// As [`Archive::open_own`], and when it cannot be made.
    pub fn make_own(&self, name: &str) -> Result<Folder, Error> {
        self.make(&self.home.join(name))
    }

    /// Returns the folder of versions and changesets; `None`: it is not there.
    pub(super) fn open_folder(&self) -> Result<Option<Folder>, Error> {
        present(self.reach_folder(&self.folder)).map_err(at(&self.folder))
    }

    /// Returns the folder of a file's versions; `None`: it is not there.
    pub(super) fn open_versions(&self, folder: &Path) -> Result<Option<Folder>, Error> {
        self.open_folder()?.map_or(Ok(None), |open| open_below(&open, folder))
    }

    /// Returns the versions in one of the folders of versions, oldest first. `archives`: the folder that holds them.
    pub(super) fn versions_below(archives: &Folder, folder: &Path) -> Result<Vec<Version>, Error> {
        open_below(archives, folder)?.map_or(Ok(Vec::new()), |open| version::list(&open).map_err(at(folder)))
    }

    /// Returns the folder that a version lies in.
    pub(super) fn folder_of(&self, version: &Version) -> io::Result<Folder> {
        let name = version.file.parent().and_then(Path::file_name).ok_or(io::ErrorKind::NotFound)?;
        self.reach_folder(&self.folder)?.enter(name)
    }

    /// Returns a folder in the workspace, reached from its root without following a link; a folder elsewhere is opened
    /// by its path.
    fn reach_folder(&self, folder: &Path) -> io::Result<Folder> {
        match folder.strip_prefix(&self.root) {
            Ok(below) => Folder::open(&self.root)?.descend(below),
            Err(_) => Folder::open(folder),
        }
    }

    /// Opens the folder of versions and changesets, made where it is missing.
    pub(super) fn make_folder(&self) -> Result<Folder, Error> {
        self.make(&self.folder)
    }

    /// Opens a folder of the archive; makes what is missing of it, for its owner alone, and flushes the names.
    pub(super) fn make(&self, folder: &Path) -> Result<Folder, Error> {
        let (mut open, below) = match folder.strip_prefix(&self.root) {
            Ok(below) => (Folder::open(&self.root).map_err(at(&self.root))?, below),
            Err(_) => {
                let there = folder.ancestors().find(|f| f.is_dir()).unwrap_or(Path::new("/"));
                let below = folder.strip_prefix(there).unwrap_or(Path::new(""));
                (Folder::open(there).map_err(at(there))?, below)
            }
        };
        for name in below.components() {
            let Component::Normal(name) = name else { continue };
            let path = open.path().join(name);
            if open.make(name, 0o700).map_err(at(&path))? {
                open.sync().map_err(at(open.path()))?;
            }
            open = open.enter(name).map_err(|e| match e.kind() {
                io::ErrorKind::NotADirectory if !disk::is_linked_folder(&e) => Error::NotAFolder(path.clone()),
                _ => at(&path)(e),
            })?;
        }
        Ok(open)
    }
}

/// Returns an existing folder; `None`: it does not exist.
fn present(opened: io::Result<Folder>) -> io::Result<Option<Folder>> {
    match opened {
        Ok(folder) => Ok(Some(folder)),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(e) => Err(e),
    }
}

/// Returns one of the folders of versions, in the folder that holds them; `None`: it is not there.
fn open_below(archives: &Folder, folder: &Path) -> Result<Option<Folder>, Error> {
    let Some(name) = folder.file_name() else { return Ok(None) };
    present(archives.enter(name)).map_err(at(folder))
}
