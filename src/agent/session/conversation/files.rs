//! The files of a session: what it read, wrote or spoke of.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use crate::agent::session::records::sha;
use crate::edit::bytes::{Encoding, decode};
use crate::edit::stream::KnownFile;
use crate::tools::{ContentHash, FileVersion};

/// The files of a session.
#[derive(Default)]
pub struct SessionFiles {
    /// The version of each file that was read or written last.
    pub versions: HashMap<String, FileVersion>,
    /// Files in play, for the rules: mentioned, read or changed.
    pub in_play: Vec<String>,
    /// Texts that are not UTF-8, and so are not written whole.
    pub not_utf8: HashSet<String>,
    /// Whole new texts of files, by path, of which the model was asked whether they are meant as a part.
    pub asked_whole: HashSet<(String, String)>,
}

/// The longest text that is stored beside what was read, in bytes.
const MAX_TEXT: usize = 256 << 10;

impl SessionFiles {
    /// Records that a file is in play.
    pub fn touch(&mut self, path: &str) {
        if !self.in_play.iter().any(|p| p == path) {
            self.in_play.push(path.to_string());
        }
    }

    /// Records what is now known of a file.
    pub fn know(&mut self, path: &str, bytes: &[u8]) -> ContentHash {
        let sha = sha(bytes);
        let text = (bytes.len() <= MAX_TEXT).then(|| std::str::from_utf8(bytes).ok()).flatten().map(Arc::from);
        // What holds a zero is no text.
        match memchr::memchr(0, bytes).is_none() && decode(bytes).0 == Encoding::Raw {
            true => self.not_utf8.insert(path.to_string()),
            false => self.not_utf8.remove(path),
        };
        self.versions.insert(path.to_string(), FileVersion { sha, text });
        self.touch(path);
        sha
    }

    /// Returns the files whose text is known, for recognising edits in prose.
    pub fn known(&self) -> Vec<KnownFile> {
        let known = self
            .versions
            .iter()
            .filter_map(|(path, version)| Some(KnownFile { path: path.clone(), text: version.text.clone()? }));
        known.collect()
    }

    /// Returns what the tools may know of what was read.
    pub fn shas(&self) -> HashMap<String, ContentHash> {
        self.versions.iter().map(|(p, s)| (p.clone(), s.sha)).collect()
    }
}
