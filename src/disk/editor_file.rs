//! A text that an editor opens: a file of its own in a private folder, removed when the value is dropped.

use std::io;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::{Links, read_file};

/// The largest text that is taken back, in bytes.
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
        // Readable by the person alone.
        let folder = tempfile::Builder::new().prefix("nebula-").tempdir()?;
        let path = folder.path().join(Path::new(name).file_name().unwrap_or_else(|| "text".as_ref()));
        std::fs::write(&path, text)?;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_comes_back_and_nothing_stays() {
        let file = EditorFile::new("../a/notes.md", b"one").unwrap();
        assert!(file.path().ends_with("notes.md"));
        std::fs::write(file.path(), "two").unwrap();
        assert_eq!(file.read().unwrap(), b"two");
        let folder = file.path().parent().unwrap().to_path_buf();
        std::fs::remove_file(file.path()).unwrap();
        assert!(file.read().is_err());
        drop(file);
        assert!(!folder.exists());
    }
}
