//! Searches files for a keyword, with the first lines that match.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::sinks::Lossy;
use grep_searcher::{BinaryDetection, SearcherBuilder};

use super::Workspace;
use crate::disk::{Links, open_file, read_file};

/// Bytes of a matching line that are returned.
const MAX_LINE: usize = 400;

/// Bytes of a file that are held at once; one with a longer line is passed over.
const MAX_BUFFER: usize = 16 << 20;

/// A request for a search.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchRequest {
    /// The words, or a regular expression.
    pub keyword: String,
    /// It is a regular expression.
    pub regex: bool,
    /// `A` is not `a`.
    pub case_sensitive: bool,
    /// Files to list at most: there the search ends.
    pub max_files: usize,
    /// Lines to show of each at most; more are counted.
    pub max_lines: usize,
}

/// A file that holds it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileMatches {
    /// Normalised path.
    pub path: String,
    /// The first lines that match: number from 1, and text without its ending, cut where it is very long.
    pub lines: Vec<(u64, String)>,
    /// Lines that match, in all.
    pub count: u64,
}

/// All that was found.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SearchResult {
    /// The files with matches, by path.
    pub files: Vec<FileMatches>,
    /// True if the search ended at `max_files`, though more files may match.
    pub more: bool,
}

/// The keyword is not a valid regular expression.
#[derive(Debug, thiserror::Error)]
#[error("invalid regex: {0}")]
pub struct SearchError(String);

impl Workspace {
    /// Searches the files below `folder` (normalised; empty: the root; it may name a file). Ignored and binary files
    /// are passed over, as are those that cannot be read. `watch` is asked before each file and while a long one is
    /// read.
    ///
    /// # Errors
    /// When the keyword is not a valid regular expression.
    pub fn search(
        &self,
        folder: &str,
        search: &SearchRequest,
        watch: &mut dyn SearchObserver,
    ) -> Result<SearchResult, SearchError> {
        let matcher = RegexMatcherBuilder::new()
            .case_insensitive(!search.case_sensitive)
            .fixed_strings(!search.regex)
            .line_terminator(Some(b'\n'))
            .build(&search.keyword)
            .map_err(|e| SearchError(e.to_string()))?;
        let mut result = SearchResult::default();
        let mut walk = self.walk(folder);
        for entry in walk.sort_by_file_path(|a, b| a.cmp(b)).build().flatten() {
            if watch.stopped() {
                break;
            }
            if !entry.file_type().is_some_and(|t| t.is_file()) {
                continue;
            }
            watch.looked_at_one();
            let Some(path) = entry.path().strip_prefix(self.root()).ok().and_then(|p| p.to_str()) else { continue };
            let found = search_file(&matcher, entry.path(), path, search.max_lines, watch);
            if found.count == 0 {
                continue;
            }
            if result.files.len() == search.max_files {
                result.more = true;
                break;
            }
            result.files.push(found);
        }
        Ok(result)
    }
}

/// Returns whether a line of a file may match one of these regular expressions, with `A` as `a` or not. Of what cannot be
/// read, is no text or is no expression, that may be so.
pub fn may_match(path: &Path, expressions: &[String]) -> bool {
    let Ok(bytes) = read_file(path, MAX_BUFFER as u64, Links::Follow) else { return true };
    if bytes.contains(&0) || std::str::from_utf8(&bytes).is_err() {
        return true;
    }
    let finds = |expression: &String, is_insensitive: bool| {
        let mut builder = RegexMatcherBuilder::new();
        let builder = builder.case_insensitive(is_insensitive).multi_line(true).line_terminator(Some(b'\n'));
        let built = builder.build(expression);
        let Ok(matcher) = built else { return true };
        let mut found = false;
        let sink = Lossy(|_, _| {
            found = true;
            Ok(false)
        });
        let searched = SearcherBuilder::new().line_number(true).build().search_slice(&matcher, &bytes, sink);
        searched.is_err() || found
    };
    expressions.iter().any(|expression| finds(expression, false) || finds(expression, true))
}

/// The observer of a search.
pub trait SearchObserver {
    /// Returns whether the search is to end.
    fn stopped(&self) -> bool;

    /// Is called for each file that is searched.
    fn looked_at_one(&mut self) {}
}

/// An observer that never ends the search.
impl SearchObserver for () {
    fn stopped(&self) -> bool {
        false
    }
}

/// A file whose reading ends when the search is to.
struct Watched<'w> {
    file: File,
    watch: &'w dyn SearchObserver,
}

impl Read for Watched<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.watch.stopped() { Err(io::Error::other("stopped")) } else { self.file.read(buffer) }
    }
}

fn search_file(
    matcher: &RegexMatcher,
    full: &Path,
    path: &str,
    max_lines: usize,
    watch: &dyn SearchObserver,
) -> FileMatches {
    let mut found = FileMatches { path: path.into(), lines: Vec::new(), count: 0 };
    let mut searcher = SearcherBuilder::new()
        .binary_detection(BinaryDetection::quit(0))
        .line_number(true)
        .heap_limit(Some(MAX_BUFFER))
        .build();
    let sink = Lossy(|number, line| {
        found.count += 1;
        if found.lines.len() < max_lines {
            let line = line.trim_end_matches(['\n', '\r']);
            let end = line.floor_char_boundary(MAX_LINE);
            let cut = if end < line.len() { "…" } else { "" };
            found.lines.push((number, format!("{}{cut}", &line[..end])));
        }
        Ok(true)
    });
    // A file that vanished or may not be read holds nothing for us.
    if let Ok(file) = open_file(full, Links::Refuse) {
        let _ = searcher.search_reader(matcher, Watched { file, watch }, sink);
    }
    found
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn files_that_hold_the_keyword_are_found_with_their_first_lines() {
        let dir = tempfile::tempdir().expect("a folder");
        for (path, text) in [
            ("a.rs", &b"fn total() {}\nfn Total() {}\n"[..]),
            ("b/c.md", "合計 total\r\n".as_bytes()),
            ("bin", b"total\0"),
            (".gitignore", b"out\n"),
            ("out/d", b"total\n"),
        ] {
            let path = dir.path().join(path);
            fs::create_dir_all(path.parent().expect("inside")).expect("made");
            fs::write(path, text).expect("written");
        }
        let w = Workspace::open(dir.path()).expect("open");
        let search =
            SearchRequest { keyword: "total".into(), regex: false, case_sensitive: false, max_files: 10, max_lines: 1 };
        let found = w.search("", &search, &mut ()).expect("searched");
        assert_eq!(
            found.files,
            [
                FileMatches { path: "a.rs".into(), lines: vec![(1, "fn total() {}".into())], count: 2 },
                FileMatches { path: "b/c.md".into(), lines: vec![(1, "合計 total".into())], count: 1 },
            ]
        );
        let strict = SearchRequest { case_sensitive: true, keyword: "^fn T".into(), regex: true, ..search.clone() };
        assert_eq!(w.search("a.rs", &strict, &mut ()).expect("searched").files[0].lines[0].0, 2);
        assert!(w.search("", &SearchRequest { max_files: 1, ..search.clone() }, &mut ()).expect("searched").more);
        assert!(!w.search("", &SearchRequest { max_files: 2, ..search.clone() }, &mut ()).expect("searched").more);
        assert!(w.search("", &SearchRequest { keyword: "(".into(), regex: true, ..search.clone() }, &mut ()).is_err());
        assert!(w.search("", &SearchRequest { keyword: "(".into(), ..search }, &mut ()).is_ok());
    }
}
