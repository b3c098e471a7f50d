//! The person's files for the screen, `keys.toml` and `themes/*.toml`: read here, parsed by the screen.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::disk::{Links, read_text};

/// The themes that the screen comes with, and the one that goes by the terminal.
pub const THEMES: &[&str] = &["auto", "dark", "light", "contrast", "plain", "ansi"];

/// The largest file of these that is read, in bytes.
const LARGEST: u64 = 1 << 20;

/// A text file of the person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UserFile {
    /// The path of the file.
    pub path: PathBuf,
    /// Its text, or why it cannot be read.
    pub text: Result<String, String>,
}

/// The files for the screen that are there.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ScreenFiles {
    /// `keys.toml`.
    pub keys: Option<UserFile>,
    /// `themes/*.toml`.
    pub themes: Vec<UserFile>,
}

impl ScreenFiles {
    /// Reads those in nebula's own folder.
    pub fn read(folder: &Path) -> Self {
        let entries = fs::read_dir(folder.join("themes")).into_iter().flatten().flatten().map(|e| e.path());
        let themes = entries.filter(|path| path.extension().is_some_and(|e| e == "toml"));
        ScreenFiles { keys: read(folder.join("keys.toml")), themes: themes.filter_map(read).collect() }
    }

    /// Returns what `keys.toml` says; nothing where there is none.
    pub fn keys_text(&self) -> &str {
        self.keys.as_ref().and_then(|file| file.text.as_deref().ok()).unwrap_or_default()
    }
}

/// Returns a file that exists.
fn read(path: PathBuf) -> Option<UserFile> {
    match read_text(&path, LARGEST, Links::Follow) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        text => Some(UserFile { path, text: text.map_err(|error| error.to_string()) }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_file_of_a_bearable_size_is_named_and_waits_for_nobody() {
        let dir = tempfile::tempdir().expect("a folder");
        assert_eq!(ScreenFiles::read(dir.path()), ScreenFiles::default());
        fs::create_dir(dir.path().join("themes")).expect("made");
        let pipe = dir.path().join("keys.toml");
        rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, rustix::fs::Mode::RUSR).expect("a pipe");
        std::os::unix::fs::symlink("/dev/zero", dir.path().join("themes/zero.toml")).expect("linked");
        fs::write(dir.path().join("themes/mine.toml"), "text").expect("written");
        fs::write(dir.path().join("themes/notes.txt"), "text").expect("written");
        let files = ScreenFiles::read(dir.path());
        let why = |file: &UserFile| file.text.clone().expect_err("no text");
        assert!(why(&files.keys.clone().expect("there")).contains("a pipe"));
        assert_eq!(files.keys_text(), "");
        let mut themes = files.themes;
        themes.sort_by(|a, b| a.path.cmp(&b.path));
        assert_eq!(themes[0].text.as_deref(), Ok("text"));
        assert!(why(&themes[1]).contains("a device"));
        assert_eq!(themes.len(), 2);
    }
}
