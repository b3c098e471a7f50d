//! File names for completion: an index of all paths that is filled while it is asked, and fuzzy search in it.
//!
//! A million paths do not all go through the matcher. Each carries the set of letters in it and in its name; what
//! lacks a letter of the query is passed over at once, and of the rest the likeliest go first.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use ignore::WalkState;
use nucleo_matcher::pattern::{AtomKind, CaseMatching, Normalization, Pattern};
use nucleo_matcher::{Config, Matcher, Utf32Str, chars};
use unicode_segmentation::UnicodeSegmentation;

use super::{Access, Workspace};

/// Paths that the matcher sees in a first round, in all threads together. Later rounds follow while too few match.
const ROUND: usize = 12_000;
/// Paths handed over at once by a walk.
const BATCH: usize = 4_096;
/// Threads that match at once, at most.
const THREADS: usize = 4;

/// All paths of a workspace, for completion. Folders end in `/`.
#[derive(Debug, Default)]
pub struct Files {
    index: RwLock<Index>,
    complete: AtomicBool,
}

/// A path that matches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hit {
    /// Normalised path; a folder's ends in `/`.
    pub path: String,
    /// Byte positions of matched letters.
    pub at: Vec<u32>,
}

/// What a search found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hits {
    /// Best first.
    pub hits: Vec<Hit>,
    /// Paths in the index.
    pub total: usize,
    /// The walk is over.
    pub complete: bool,
}

/// Paths one after another in one text, and what tells quickly that one cannot match.
#[derive(Debug, Default)]
struct Index {
    text: String,
    ends: Vec<u32>,
    letters: Vec<u64>,
    names: Vec<Name>,
    gone: Vec<bool>,
    left: usize,
    /// Entries by path, for those that the walk found; later ones follow unsorted.
    order: Vec<u32>,
}

/// The last name of a path.
#[derive(Debug, Clone, Copy)]
struct Name {
    letters: u64,
    first: u8,
    depth: u8,
}

impl Files {
    /// An empty index.
    pub fn new() -> Self {
        Self::default()
    }

    /// Fills the index from the workspace, by several threads. Searches meanwhile find what is known by then. Ends early
    /// when `stop` is set.
    pub fn walk(&self, workspace: &Workspace, stop: &AtomicBool) {
        workspace.walk("").build_parallel().run(|| {
            let mut batch = Batch { files: self, paths: Vec::new() };
            Box::new(move |entry| {
                if stop.load(Ordering::Relaxed) {
                    return WalkState::Quit;
                }
                // What cannot be read is not offered.
                let Ok(entry) = entry else { return WalkState::Continue };
                let path = entry.path().strip_prefix(workspace.root()).ok().and_then(|p| p.to_str());
                if let Some(path) = path.filter(|p| !p.is_empty()) {
                    let folder = entry.file_type().is_some_and(|t| t.is_dir());
                    batch.paths.push(if folder { format!("{path}/") } else { path.to_string() });
                    if batch.paths.len() >= BATCH {
                        batch.hand_over();
                    }
                }
                WalkState::Continue
            })
        });
        if !stop.load(Ordering::Relaxed) {
            self.finish();
        }
    }

    /// Adds paths; a folder's ends in `/`.
    pub fn add<S: AsRef<str>>(&self, paths: &[S]) {
        let mut index = self.write();
        paths.iter().for_each(|p| index.push(p.as_ref()));
    }

    /// Says that all paths are added.
    pub fn finish(&self) {
        // Sorted beside the lock's readers, so that no search waits for it.
        let order = self.read().sorted();
        self.write().order = order;
        self.complete.store(true, Ordering::Release);
    }

    /// Looks again at paths that may have appeared or gone.
    pub fn update(&self, workspace: &Workspace, paths: &[String]) {
        for path in paths {
            let is_file = workspace.resolve(path, Access::Entry).is_ok() && workspace.stamp(path).is_some();
            let folder = format!("{path}/");
            let is_folder = !is_file && workspace.resolve(path, Access::Folder).is_ok();
            let mut index = self.write();
            for (name, there) in [(path, is_file), (&folder, is_folder)] {
                match (index.position(name), there) {
                    (Some(i), _) if index.gone[i] == there => index.set_gone(i, !there),
                    (None, true) => index.push(name),
                    _ => {}
                }
            }
        }
    }

    /// Paths that match fuzzily, best first, at most `limit`. An empty query gives the shallowest.
    pub fn find(&self, query: &str, limit: usize) -> Hits {
        let index = self.read();
        let hits = if query.trim().is_empty() { index.shallowest(limit) } else { index.find(query, limit) };
        Hits { hits, total: index.left, complete: self.complete.load(Ordering::Acquire) }
    }

    // A panic while the lock was held leaves at worst a path that is not found.
    fn read(&self) -> RwLockReadGuard<'_, Index> {
        self.index.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Index> {
        self.index.write().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Paths that one thread of a walk has found; the last are handed over when it ends.
struct Batch<'a> {
    files: &'a Files,
    paths: Vec<String>,
}

impl Batch<'_> {
    fn hand_over(&mut self) {
        self.files.add(&self.paths);
        self.paths.clear();
    }
}

impl Drop for Batch<'_> {
    fn drop(&mut self) {
        self.hand_over();
    }
}

impl Index {
    fn push(&mut self, path: &str) {
        // 4 GiB of names: beyond that the index is full.
        let Ok(end) = u32::try_from(self.text.len() + path.len()) else { return };
        let trimmed = path.trim_end_matches('/');
        let name = trimmed.rsplit('/').next().unwrap_or(trimmed);
        let first = name.bytes().next().unwrap_or(0).to_ascii_lowercase();
        let depth = u8::try_from(trimmed.matches('/').count()).unwrap_or(u8::MAX);
        self.letters.push(letters(path));
        self.names.push(Name { letters: letters(name), first, depth });
        self.gone.push(false);
        self.left += 1;
        self.text.push_str(path);
        self.ends.push(end);
    }

    fn path(&self, i: usize) -> &str {
        let start = if i == 0 { 0 } else { self.ends[i - 1] as usize };
        &self.text[start..self.ends[i] as usize]
    }

    fn sorted(&self) -> Vec<u32> {
        let mut order: Vec<u32> = (0..self.ends.len() as u32).collect();
        order.sort_unstable_by_key(|i| self.path(*i as usize));
        order
    }

    fn position(&self, path: &str) -> Option<usize> {
        let found = self.order.binary_search_by_key(&path, |i| self.path(*i as usize));
        let late = || (self.order.len()..self.ends.len()).find(|i| self.path(*i) == path);
        found.ok().map(|at| self.order[at] as usize).or_else(late)
    }

    fn set_gone(&mut self, i: usize, gone: bool) {
        self.gone[i] = gone;
        if gone { self.left -= 1 } else { self.left += 1 }
    }

    fn shallowest(&self, limit: usize) -> Vec<Hit> {
        let mut all: Vec<u32> = (0..self.ends.len() as u32).filter(|i| !self.gone[*i as usize]).collect();
        let key = |i: &u32| (self.names[*i as usize].depth, self.path(*i as usize));
        if all.len() > limit {
            all.select_nth_unstable_by_key(limit, key);
            all.truncate(limit);
        }
        all.sort_unstable_by_key(key);
        all.into_iter().map(|i| Hit { path: self.path(i as usize).into(), at: Vec::new() }).collect()
    }

    fn find(&self, query: &str, limit: usize) -> Vec<Hit> {
        let pattern = Pattern::new(query, CaseMatching::Smart, Normalization::Smart, AtomKind::Fuzzy);
        let mut rest = self.candidates(query);
        let mut found = Vec::new();
        let mut round = ROUND;
        while !rest.is_empty() && found.len() < limit {
            let likeliest = if rest.len() > round {
                rest.select_nth_unstable_by(round, |a, b| b.cmp(a));
                let later = rest.split_off(round);
                std::mem::replace(&mut rest, later)
            } else {
                std::mem::take(&mut rest)
            };
            found.extend(self.matches(&pattern, &likeliest));
            round *= 4;
        }
        let key = |(score, i): &(u32, u32)| (std::cmp::Reverse(*score), self.ends[*i as usize] - self.start(*i), *i);
        if found.len() > limit {
            found.select_nth_unstable_by_key(limit, key);
            found.truncate(limit);
        }
        found.sort_unstable_by_key(key);
        let mut matcher = Matcher::new(Config::DEFAULT.match_paths());
        found.into_iter().map(|(_, i)| hit(&pattern, self.path(i as usize), &mut matcher)).collect()
    }

    fn start(&self, i: u32) -> u32 {
        if i == 0 { 0 } else { self.ends[i as usize - 1] }
    }

    /// Entries that hold all letters of the query, each with how likely it is, in a form that sorts by that.
    fn candidates(&self, query: &str) -> Vec<u64> {
        let wanted = letters(query);
        let first = query.trim_start().bytes().next().unwrap_or(0).to_ascii_lowercase();
        let likely = |i: usize| {
            let name = self.names[i];
            let in_name = u64::from(name.letters & wanted == wanted);
            let begins = u64::from(name.first == first);
            let length = u64::from(self.ends[i] - self.start(i as u32)).min(1023);
            ((in_name * 2 + in_name * begins) << 10 | (1023 - length)) << 32 | i as u64
        };
        let fits = |i: &usize| self.letters[*i] & wanted == wanted && !self.gone[*i];
        in_parts(self.ends.len(), |part| part.filter(fits).map(likely).collect())
    }

    /// The scores of those among the candidates that match.
    fn matches(&self, pattern: &Pattern, candidates: &[u64]) -> Vec<(u32, u32)> {
        in_parts(candidates.len(), |part| {
            let mut matcher = Matcher::new(Config::DEFAULT.match_paths());
            let mut buffer = Vec::new();
            let entries = candidates[part].iter().map(|c| (*c & u64::from(u32::MAX)) as u32);
            entries
                .filter_map(|i| {
                    let path = Utf32Str::new(self.path(i as usize), &mut buffer);
                    pattern.score(path, &mut matcher).map(|score| (score, i))
                })
                .collect()
        })
    }
}

/// Does the parts of `0..len` side by side and joins what they give.
fn in_parts<T: Send>(len: usize, act: impl Fn(std::ops::Range<usize>) -> Vec<T> + Sync) -> Vec<T> {
    const SMALL: usize = 2_000;
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(THREADS);
    if len < SMALL || threads == 1 {
        return act(0..len);
    }
    let size = len.div_ceil(threads);
    std::thread::scope(|scope| {
        let act = &act;
        let starts = (0..len).step_by(size);
        let workers: Vec<_> = starts.map(|s| scope.spawn(move || act(s..(s + size).min(len)))).collect();
        let mut all = Vec::new();
        for worker in workers {
            match worker.join() {
                Ok(part) => all.extend(part),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        all
    })
}

/// The letters of a text as a set: one bit each for `a`–`z` and `0`–`9`, the other bits shared by all else.
fn letters(text: &str) -> u64 {
    let bit = |c: char| match c {
        'a'..='z' => 1 << (c as u32 - 'a' as u32),
        '0'..='9' => 1 << (c as u32 - '0' as u32 + 26),
        c => 1 << (c as u32 % 28 + 36),
    };
    text.chars().filter(|c| !c.is_whitespace()).fold(0, |set, c| match c {
        'A'..='Z' => set | bit(c.to_ascii_lowercase()),
        c if c.is_ascii() => set | bit(c),
        // The matcher takes a plain letter for one with a mark.
        c => {
            let lower = chars::to_lower_case(c);
            set | bit(lower) | bit(chars::to_lower_case(chars::normalize(lower)))
        }
    })
}

/// A path with the places where it matches.
fn hit(pattern: &Pattern, path: &str, matcher: &mut Matcher) -> Hit {
    let (mut buffer, mut indices) = (Vec::new(), Vec::new());
    pattern.indices(Utf32Str::new(path, &mut buffer), matcher, &mut indices);
    indices.sort_unstable();
    indices.dedup();
    let at = if path.is_ascii() {
        indices
    } else {
        let starts: Vec<_> = path.grapheme_indices(true).map(|(at, _)| at as u32).collect();
        indices.into_iter().filter_map(|i| starts.get(i as usize).copied()).collect()
    };
    Hit { path: path.into(), at }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn paths(hits: &Hits) -> Vec<&str> {
        hits.hits.iter().map(|h| h.path.as_str()).collect()
    }

    #[test]
    fn names_that_begin_so_come_first() {
        let files = Files::new();
        files.add(&[
            "src/domain/entry.rs",
            "src/main.rs",
            "docs/maintenance/manual.md",
            "src/",
            "価格/計算.md",
            "Café.md",
        ]);
        files.finish();
        let found = files.find("main", 10);
        assert_eq!(paths(&found)[0], "src/main.rs");
        assert_eq!(found.hits[0].at, [4, 5, 6, 7]);
        assert_eq!((found.total, found.complete), (6, true));
        assert_eq!(files.find("計算", 10).hits, [Hit { path: "価格/計算.md".into(), at: vec![7, 10] }]);
        assert_eq!(paths(&files.find("cafe", 10)), ["Café.md"]);
        assert_eq!(paths(&files.find("src rs", 1)), ["src/main.rs"]);
        assert_eq!(paths(&files.find("", 3)), ["Café.md", "src/", "src/main.rs"]);
        assert!(files.find("zzz", 10).hits.is_empty());
    }

    #[test]
    fn a_walk_finds_files_and_folders_and_is_kept_fresh() {
        let dir = tempfile::tempdir().expect("a folder");
        fs::create_dir_all(dir.path().join("src/deep")).expect("made");
        fs::write(dir.path().join("src/deep/a.rs"), "").expect("written");
        let workspace = Workspace::open(dir.path()).expect("open");
        let files = Files::new();
        files.walk(&workspace, &AtomicBool::new(false));
        let mut all = files.find("", 10);
        all.hits.sort_by(|a, b| a.path.cmp(&b.path));
        assert_eq!(paths(&all), ["src/", "src/deep/", "src/deep/a.rs"]);
        fs::remove_file(dir.path().join("src/deep/a.rs")).expect("removed");
        fs::write(dir.path().join("b.rs"), "").expect("written");
        files.update(&workspace, &["src/deep/a.rs".into(), "b.rs".into(), "b.rs".into()]);
        assert_eq!(paths(&files.find("rs", 10)), ["b.rs"]);
        assert_eq!(files.find("", 10).total, 3);
        fs::write(dir.path().join("src/deep/a.rs"), "").expect("written");
        files.update(&workspace, &["src/deep/a.rs".into()]);
        assert_eq!(files.find("a", 10).total, 4);
    }

    #[test]
    fn later_rounds_find_what_the_first_did_not() {
        let files = Files::new();
        let many: Vec<_> =
            (0..60_000).map(|i| format!("{:05}/ba", i)).chain(["some/where/far/away/abc".into()]).collect();
        files.add(&many);
        assert_eq!(paths(&files.find("abc", 5)), ["some/where/far/away/abc"]);
        assert_eq!(paths(&files.find("aw", 5)), ["some/where/far/away/abc"]);
    }
}
