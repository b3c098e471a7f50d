//! The files of a session: what it read, wrote or spoke of.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::versions::FileVersions;
use crate::agent::session::records::sha;
use crate::edit::PastChanges;
use crate::edit::bytes::{Encoding, decode};
use crate::edit::stream::{KnownFile, Unread};
use crate::proposal::FileChange;
use crate::tools::{ContentHash, FileVersion};

/// The files of a session.
#[derive(Default)]
pub struct SessionFiles {
    /// The version of each file that was read or written last.
    pub versions: FileVersions,
    /// Files in play, for the rules: mentioned, read or changed.
    pub in_play: Arc<Vec<String>>,
    /// Other names under which files were attached, through links, with their paths.
    pub links: HashMap<String, String>,
    /// Texts that are not UTF-8, and so are not written whole.
    pub not_utf8: HashSet<String>,
    /// Files that were read and whose text is not kept: it is too large, or not UTF-8.
    no_text: HashSet<String>,
    /// Whole new texts of files, by path, of which the model was asked whether they are meant as a part.
    pub asked_whole: HashSet<(String, String)>,
    /// The changes that edits made to files, by path.
    pub past: HashMap<String, PastChanges>,
    /// The longest text of a file that the window has room for, in bytes; none: it is not known yet.
    pub longest_read: Option<usize>,
}

/// The longest text that is stored beside what was read, in bytes.
const MAX_TEXT: usize = 256 << 10;
/// The number of earlier texts of one file that are kept.
const MOST_EARLIER: usize = 8;

impl SessionFiles {
    /// Records that a file is in play.
    pub fn touch(&mut self, path: &str) {
        if !self.in_play.iter().any(|p| p == path) {
            Arc::make_mut(&mut self.in_play).push(path.to_string());
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
        match text {
            None => self.no_text.insert(path.to_string()),
            Some(_) => self.no_text.remove(path),
        };
        self.versions.insert(path.to_string(), FileVersion { sha, text });
        self.touch(path);
        sha
    }

    /// Begins a turn: what was changed so far belongs to those before it.
    pub fn begin_turn(&mut self) {
        self.past.values_mut().for_each(|past| past.in_turn = false);
    }

    /// Records a change that was written.
    pub fn note_change(&mut self, change: &FileChange) {
        let past = self.past.entry(change.path.clone()).or_default();
        let is_gone = change.after.is_absent();
        past.in_turn = true;
        past.deleted = is_gone && change.moved.is_none();
        past.moved = change.moved.clone().filter(|_| is_gone);
        let is_text = |bytes: &[u8]| bytes.len() <= MAX_TEXT && memchr::memchr(0, bytes).is_none();
        if let Some(bytes) = change.before.bytes().filter(|bytes| is_text(bytes)) {
            if past.texts.len() == MOST_EARLIER {
                past.texts.remove(0);
            }
            past.texts.push(decode(bytes).1.into());
        }
    }

    /// Returns the files that were changed in the present turn.
    pub fn changed_in_turn(&self) -> HashSet<String> {
        self.past.iter().filter(|(_, past)| past.in_turn).map(|(path, _)| path.clone()).collect()
    }

    /// Returns the files whose text is known, for recognising edits in prose.
    pub fn known(&self) -> Arc<Vec<KnownFile>> {
        Arc::clone(self.versions.texts())
    }

    /// Returns why a block for this file is no edit, where the file was read and its text is not compared with blocks.
    fn not_compared(&self, name: &str) -> Option<Unread> {
        // The parser knows no such file, and takes only the end of a path for it in which a folder has a space in its name.
        let is_front = |front: &str| front.ends_with('/') || front.ends_with(' ') && name.contains('/');
        let is_named = |path: &str| path.strip_suffix(name).is_some_and(|front| front.is_empty() || is_front(front));
        let mut files = self.no_text.iter().filter(|path| self.versions.contains_key(*path) && is_named(path));
        let path = files.next()?.clone();
        Some(Unread::NotCompared { is_raw: self.not_utf8.contains(&path), path })
    }

    /// Returns the same of several files, whose names stand in one text; a name may hold the sign between them, too.
    pub fn none_compared(&self, names: &str) -> Option<Unread> {
        let each = || {
            let whys: Vec<Unread> = names.split(", ").map(|name| self.not_compared(name)).collect::<Option<_>>()?;
            let are_raw = whys.iter().all(|why| matches!(why, Unread::NotCompared { is_raw: true, .. }));
            Some(Unread::NotCompared { is_raw: are_raw, path: names.to_string() })
        };
        self.not_compared(names).or_else(each)
    }

    /// Returns the files whose text is known, under the names of links to them, too.
    pub fn known_by_name(&self) -> Arc<Vec<KnownFile>> {
        let linked = self.links.iter().filter(|(name, _)| !self.versions.contains_key(*name));
        let text = |path: &String| self.versions.get(path)?.text.clone();
        let linked = linked.filter_map(|(name, path)| Some(KnownFile { path: name.clone(), text: text(path)? }));
        let mut known = self.known();
        // Most sessions have none, and take what is there as it is.
        linked.for_each(|file| Arc::make_mut(&mut known).push(file));
        known
    }

    /// Returns what the tools may know of what was read.
    pub fn shas(&self) -> HashMap<String, ContentHash> {
        self.versions.iter().map(|(p, s)| (p.clone(), s.sha)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edit::stream::{Parser, Piece};
    use crate::edit::{Edit, Format, stream::End};

    #[test]
    fn a_file_without_text_is_named_with_the_reason() {
        let mut files = SessionFiles::default();
        files.know("src/a.py", b"x = 1\n");
        files.know("src/m.py", b"# \xe9\n");
        files.know("big.txt", &vec![b'x'; MAX_TEXT + 1]);
        let not_compared = |path: &str, is_raw| Some(Unread::NotCompared { path: path.into(), is_raw });
        assert_eq!(files.not_compared("src/m.py"), not_compared("src/m.py", true));
        assert_eq!(files.not_compared("m.py"), not_compared("src/m.py", true));
        assert_eq!(files.not_compared("big.txt"), not_compared("big.txt", false));
        assert_eq!(files.none_compared("m.py, big.txt"), not_compared("m.py, big.txt", false));
        assert_eq!(files.none_compared("m.py, t.py"), None);
        assert_eq!(files.not_compared("src/a.py").or(files.not_compared("t.py")).or(files.not_compared(".py")), None);
        files.know("a b/m.py", b"# \xe9\n");
        assert_eq!(files.not_compared("b/m.py"), not_compared("a b/m.py", true));
        files.know("src/m.py", b"# e\n");
        assert_eq!(files.not_compared("src/m.py"), None, "it has a text now");
        // After a session is resumed, only the hash of a file is known until it is read again.
        files.versions.insert("src/r.py".into(), FileVersion { sha: [0; 32], text: None });
        assert_eq!(files.not_compared("src/r.py"), None);
        files.versions.remove("big.txt");
        assert_eq!(files.not_compared("big.txt"), None, "it is known no more");
    }

    #[test]
    fn a_file_that_was_attached_by_a_link_is_changed_under_both_names_and_under_none() {
        let mut files = SessionFiles::default();
        files.know("real.py", b"a = 1\nb = 2\nc = 3\n");
        files.links.insert("link.py".into(), "real.py".into());
        for head in ["link.py", "real.py", "So:"] {
            let calls = crate::tools::ToolSet::builtin().calls();
            let mut parser = Parser::new(Some(Format::TOOLS), files.known_by_name(), calls);
            let mut pieces = parser.push(&format!("{head}\n```python\na = 1\nb = 5\nc = 3\n```\n"));
            pieces.extend(parser.finish(End::Ordinary));
            let is_done = |piece: &Piece| matches!(piece, Piece::EditDone { edit: Edit { path: Some(_), .. }, .. });
            assert!(pieces.iter().any(is_done), "{head}: {pieces:?}");
        }
    }
}
