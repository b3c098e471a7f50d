//! A text that an editor opens: a file of its own in a private folder, removed when the value is dropped.

use std::fs::{OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::{Links, read_file};

/// The largest text that is read from the editor, in bytes.
const LARGEST: u64 = 64 << 20;

/// A text in a temporary file. The file and its folder are removed when the value is dropped.
#[derive(Debug)]
pub struct EditorFile {
    path: PathBuf,
    _folder: TempDir,
}

impl EditorFile {
    /// Writes `text` to a file whose name is the last part of `name`: editors choose the syntax by it.
    ///
    /// # Errors
    /// When there is no temporary folder that can be written.
    pub fn new(name: &str, text: &[u8]) -> io::Result<Self> {
        let folder = private_folder("nebula-")?;
        let path = folder.path().join(Path::new(name).file_name().unwrap_or_else(|| "text".as_ref()));
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path)?;
        file.write_all(text)?;
        Ok(EditorFile { path, _folder: folder })
    }

    /// Returns what the editor is given.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns what the editor left. Waits for nobody, even if it left no regular file.
    ///
    /// # Errors
    /// When there is no regular file of at most 64 MiB any more.
    pub fn read(&self) -> io::Result<Vec<u8>> {
        read_file(&self.path, LARGEST, Links::Follow)
    }
}

/// Makes a temporary folder that its owner alone can enter, removed when the value is dropped.
///
/// # Errors
/// When there is no temporary folder that can be written.
pub fn private_folder(prefix: &str) -> io::Result<TempDir> {
    tempfile::Builder::new().prefix(prefix).permissions(Permissions::from_mode(0o700)).tempdir()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::MetadataExt;

    #[test]
    fn the_text_comes_back_and_nothing_stays() {
        let file = EditorFile::new("../a/notes.md", b"one").unwrap();
        assert!(file.path().ends_with("notes.md"));
        let mode = |path: &Path| path.metadata().unwrap().mode() & 0o777;
        assert_eq!((mode(file.path()), mode(file.path().parent().unwrap())), (0o600, 0o700), "its owner's alone");
        std::fs::write(file.path(), "two").unwrap();
        assert_eq!(file.read().unwrap(), b"two");
        let folder = file.path().parent().unwrap().to_path_buf();
        std::fs::remove_file(file.path()).unwrap();
        assert!(file.read().is_err());
        drop(file);
        assert!(!folder.exists());
    }
}
