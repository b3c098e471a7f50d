//! Documents of sessions that could not be stored, beside the database.

use std::fs;
use std::io::{Error as IoError, ErrorKind, Write as _};
use std::path::PathBuf;

use super::{Error, Memory};

/// The most documents of one session.
const MOST: u32 = 100;

impl Memory {
    /// Writes the document of a session that could not be stored to a new file beside the database, for the person
    /// alone; returns its path.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write_document(&self, id: &str, text: &str) -> Result<PathBuf, Error> {
        let path_of = |n: u32| {
            self.options.path.with_file_name(match n {
                1 => format!("session-{id}.json"),
                n => format!("session-{id}-{n}.json"),
            })
        };
        let mut options = fs::OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut last = IoError::from(ErrorKind::AlreadyExists);
        for path in (1..=MOST).map(path_of) {
            let written = options.open(&path).and_then(|mut file| {
                file.write_all(text.as_bytes())?;
                file.sync_all()
            });
            match written {
                Ok(()) => return Ok(path),
                Err(error) if error.kind() == ErrorKind::AlreadyExists => last = error,
                Err(source) => return Err(Error::File { path, source }),
            }
        }
        Err(Error::File { path: path_of(1), source: last })
    }
}
