//! File names for completion: all paths of a workspace, gathered by a walk, kept fresh, and searched fuzzily.
//!
//! Whoever types waits for nobody: a walk hands over what it found in batches that are made ready beside the lock, a
//! search ends when its time is over or a newer one was asked for, and goes on where it was when it is asked again.

mod index;

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::{Duration, Instant};

use ignore::WalkState;

use self::index::{Index, RunningSearch};
use super::{Access, Workspace};

pub use self::index::Hit;

/// Paths handed over at once by a walk.
const BATCH: usize = 4_096;

/// All paths of a workspace, for completion. Folders end in `/`.
#[derive(Debug, Default)]
pub struct Files {
    index: RwLock<Index>,
    complete: AtomicBool,
    /// Told when the walk is over.
    over: (Mutex<()>, Condvar),
    /// Counts the searches, so that each knows whether a newer one has begun.
    searches: AtomicU64,
    /// The last search, if its time was over before it was.
    going: Mutex<Option<RunningSearch>>,
}

/// The result of a search.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hits {
    /// Best first.
    pub hits: Vec<Hit>,
    /// Paths in the index.
    pub total: usize,
    /// True if walk and search have ended: a repetition finds the same.
    pub complete: bool,
}

impl Files {
    /// Creates an empty index.
    pub fn new() -> Self {
        Self::default()
    }

    /// Fills the index from the workspace, by several threads. Searches meanwhile find what is known by then. Ends
    /// early when `stop` is set.
    pub fn walk(&self, workspace: &Workspace, stop: &AtomicBool) {
        workspace.walk("").build_parallel().run(|| {
            let mut batch = Batch { files: self, paths: Vec::new() };
            Box::new(move |entry| {
                if stop.load(Ordering::Relaxed) {
                    return WalkState::Quit;
                }
                // Entries that cannot be read are not offered.
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
        let batch = Index::of(paths);
        self.write().append(batch);
    }

    /// Says that all paths are added.
    pub fn finish(&self) {
        self.complete.store(true, Ordering::Release);
        // Whoever is about to wait holds the lock from its look at the flag to the wait.
        drop(lock(&self.over.0));
        self.over.1.notify_all();
    }

    /// Waits until the walk is over, at most so long. Returns whether it is.
    pub fn wait(&self, patience: Duration) -> bool {
        let guard = lock(&self.over.0);
        let waited = self.over.1.wait_timeout_while(guard, patience, |()| !self.complete.load(Ordering::Acquire));
        drop(waited);
        self.complete.load(Ordering::Acquire)
    }

    /// Checks paths that may have appeared or been removed.
    pub fn update(&self, workspace: &Workspace, paths: &[String]) {
        for path in paths {
            let is_file = workspace.resolve(path, Access::Entry).is_ok() && workspace.stamp(path).is_some();
            let folder = format!("{path}/");
            let is_folder = !is_file && workspace.resolve(path, Access::Folder).is_ok();
            let mut index = self.write();
            for (name, there) in [(path, is_file), (&folder, is_folder)] {
                match (index.position(name), there) {
                    (Some(i), _) => index.set_gone(i, !there),
                    (None, true) => index.append(Index::of(&[name])),
                    _ => {}
                }
            }
        }
    }

    /// Returns paths that match fuzzily, best first, at most `limit`. An empty query gives the shallowest.
    pub fn find(&self, query: &str, limit: usize) -> Hits {
        self.find_within(query, limit, Duration::MAX)
    }

    /// Finds as [`Files::find`] does, but answers with what is found when `patience` is over or another search is asked
    /// for. Asked the same again, it goes on.
    pub fn find_within(&self, query: &str, limit: usize, patience: Duration) -> Hits {
        let mine = self.searches.fetch_add(1, Ordering::Relaxed) + 1;
        let end = Instant::now().checked_add(patience);
        let over = || self.searches.load(Ordering::Relaxed) != mine || end.is_some_and(|e| Instant::now() >= e);
        // Before the search: a walk that ends meanwhile has reported everything by the next one.
        let complete = self.complete.load(Ordering::Acquire);
        let index = self.read();
        let total = index.count();
        if query.trim().is_empty() {
            return Hits { hits: index.shallowest(limit), total, complete };
        }
        let begun = lock(&self.going).take().filter(|s| s.is_of(query, limit, &index));
        let mut search = begun.unwrap_or_else(|| RunningSearch::new(query, limit, &index));
        while search.go_on(&index) && !over() {}
        let hits = search.hits(&index);
        let complete = complete && search.is_over();
        if !search.is_over() {
            *lock(&self.going) = Some(search);
        }
        Hits { hits, total, complete }
    }

    // A panic while a lock was held leaves at worst a path that is not found.
    fn read(&self) -> RwLockReadGuard<'_, Index> {
        self.index.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Index> {
        self.index.write().unwrap_or_else(PoisonError::into_inner)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
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
    fn a_walk_finds_files_and_folders_and_is_refreshed() {
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
    fn a_search_out_of_time_goes_on_when_called_again() {
        let files = Files::new();
        let many: Vec<_> = (0..60_000).map(|i| format!("{i:05}/cba")).chain(["some/abc".into()]).collect();
        files.add(&many);
        files.finish();
        let mut searches = 1;
        let mut hits = files.find_within("abc", 5, Duration::ZERO);
        while !hits.complete {
            searches += 1;
            hits = files.find_within("abc", 5, Duration::ZERO);
        }
        assert_eq!(paths(&hits), ["some/abc"]);
        assert!(searches > 2, "{searches}");
        assert!(!files.find_within("abc", 5, Duration::ZERO).complete, "begins anew");
        assert_eq!(files.find("abc", 5), hits);
    }

    #[test]
    fn the_shallowest_are_known_whatever_comes_and_goes() {
        let files = Files::new();
        for i in (0..1_000).rev() {
            files.add(&[format!("a/{i:04}"), format!("b/c/{i:04}")]);
        }
        let first = |n: usize| (0..n).map(|i| format!("a/{i:04}")).collect::<Vec<_>>();
        assert_eq!(paths(&files.find("", 100)), first(100));
        assert_eq!(paths(&files.find("", 1_000)), first(1_000));
        let dir = tempfile::tempdir().expect("a folder");
        let workspace = Workspace::open(dir.path()).expect("open");
        files.update(&workspace, &first(990));
        assert_eq!(paths(&files.find("", 3)), ["a/0990", "a/0991", "a/0992"]);
        files.add(&["z"]);
        assert_eq!(paths(&files.find("", 2)), ["z", "a/0990"]);
        assert_eq!(files.find("", 2).total, 1_011);
    }

    #[test]
    fn a_walk_can_be_waited_for() {
        let files = Files::new();
        assert!(!files.wait(Duration::ZERO));
        std::thread::scope(|s| {
            let waits = s.spawn(|| files.wait(Duration::from_secs(60)));
            files.finish();
            assert!(waits.join().expect("no panic"));
        });
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
