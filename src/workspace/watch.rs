//! Watches the workspace and the archive and hands debounced changes to a callback. The receiver decides by stamps and bytes
//! who made them.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

use notify::event::{AccessKind, AccessMode};
use notify::{Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher};

use super::Workspace;
use crate::disk;

/// The quiet time after which changes are reported.
const QUIET: Duration = Duration::from_millis(100);
/// Changes are reported after this time even without quiet.
const LONGEST: Duration = Duration::from_secs(1);
/// Folders above which a tree is not watched.
const MAX_FOLDERS: usize = 20_000;
/// The number of paths above which a change is reported as one of everything.
const MAX_PATHS: usize = 5_000;

/// The changes since the last report.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Changes {
    /// Normalised paths that were made, changed or deleted.
    pub paths: Vec<String>,
    /// The archive changed, or something was decided about its changesets.
    pub archive: bool,
    /// True if there were too many changes, or events were lost: anything may have changed.
    pub all: bool,
}

/// A running watch. Dropping it ends it.
pub struct FileWatch {
    _watcher: Arc<Mutex<RecommendedWatcher>>,
    /// The archive alone is watched: the tree is too big, or the system gave no more watches.
    pub archive_only: bool,
}

/// The reason why nothing can be watched.
#[derive(Debug, thiserror::Error)]
#[error("cannot watch {}: {source}", path.display())]
pub struct WatchError {
    path: PathBuf,
    source: notify::Error,
}

impl Workspace {
    /// Watches the workspace (but not what is ignored) and the archive's folder; `tell` gets what changed, from a thread of
    /// its own. A huge tree is not watched: then only the archive is, and the receiver checks the files that are in play
    /// itself.
    ///
    /// # Errors
    /// When the system lets nothing be watched.
    pub fn watch(&self, archive: &Path, tell: impl Fn(Changes) + Send + 'static) -> Result<FileWatch, WatchError> {
        let fail = |path: &Path| {
            let path = path.to_path_buf();
            move |source| WatchError { path, source }
        };
        let (send, receive) = mpsc::channel();
        let handler = move |event: notify::Result<Event>| {
            if event.as_ref().is_ok_and(changes_nothing) {
                return;
            }
            // The receiver ends after the watcher.
            let _ = send.send(event);
        };
        let mut watcher = notify::recommended_watcher(handler).map_err(fail(self.root()))?;
        let archive_seen = archive.is_dir();
        if archive_seen {
            watcher.watch(archive, RecursiveMode::NonRecursive).map_err(fail(archive))?;
        }
        let archive_only = !self.watch_folders(&mut watcher, "");
        if archive_only && !archive_seen {
            // So that the archive is noticed when it appears.
            watcher.watch(self.root(), RecursiveMode::NonRecursive).map_err(fail(self.root()))?;
        }
        let watcher = Arc::new(Mutex::new(watcher));
        let mut teller = Teller {
            workspace: self.clone(),
            archive: archive.to_path_buf(),
            archive_seen,
            archive_only,
            watcher: Arc::downgrade(&watcher),
        };
        std::thread::Builder::new()
            .name("watch".into())
            .spawn(move || teller.run(&receive, tell))
            .map_err(|e| fail(archive)(notify::Error::io(e)))?;
        Ok(FileWatch { _watcher: watcher, archive_only })
    }

    /// Watches each folder below `folder` that is not ignored, itself too. Returns whether all could be.
    fn watch_folders(&self, watcher: &mut RecommendedWatcher, folder: &str) -> bool {
        let mut folders = Vec::new();
        for entry in self.walk(folder).build().flatten() {
            if entry.file_type().is_some_and(|t| t.is_dir()) {
                folders.push(entry.into_path());
                if folders.len() > MAX_FOLDERS {
                    return false;
                }
            }
        }
        let watched = folders.iter().take_while(|f| watcher.watch(f, RecursiveMode::NonRecursive).is_ok()).count();
        if watched < folders.len() {
            for folder in &folders[..watched] {
                // Gone already, then.
                let _ = watcher.unwatch(folder);
            }
        }
        watched == folders.len()
    }
}

/// Collects events until it is quiet.
struct Teller {
    workspace: Workspace,
    archive: PathBuf,
    archive_seen: bool,
    archive_only: bool,
    /// Gone with the [`FileWatch`].
    watcher: Weak<Mutex<RecommendedWatcher>>,
}

impl Teller {
    /// Runs until the watcher is dropped.
    fn run(&mut self, events: &Receiver<notify::Result<Event>>, tell: impl Fn(Changes)) {
        while let Ok(first) = events.recv() {
            let (mut paths, mut changes) = (BTreeSet::new(), Changes::default());
            let start = Instant::now();
            self.note(first, &mut paths, &mut changes);
            let over = loop {
                match events.recv_timeout(QUIET) {
                    Ok(event) => self.note(event, &mut paths, &mut changes),
                    Err(RecvTimeoutError::Timeout) => break false,
                    Err(RecvTimeoutError::Disconnected) => break true,
                }
                if start.elapsed() > LONGEST {
                    break false;
                }
            };
            self.follow(&mut paths, &mut changes);
            if paths.len() > MAX_PATHS {
                changes.all = true;
                paths.clear();
            }
            changes.paths = paths.into_iter().collect();
            if changes != Changes::default() {
                tell(changes);
            }
            if over {
                return;
            }
        }
    }

    /// Watches new folders, and the archive once it exists; their contents count as changed too.
    fn follow(&mut self, paths: &mut BTreeSet<String>, changes: &mut Changes) {
        let Some(watcher) = self.watcher.upgrade() else { return };
        let mut watcher = watcher.lock().unwrap_or_else(PoisonError::into_inner);
        if !self.archive_seen && watcher.watch(&self.archive, RecursiveMode::NonRecursive).is_ok() {
            self.archive_seen = true;
            changes.archive = true;
        }
        if self.archive_only {
            paths.clear();
            return;
        }
        let is_folder = |p: &&String| self.workspace.full(p).symlink_metadata().is_ok_and(|m| m.is_dir());
        let folders: Vec<_> = paths.iter().filter(is_folder).cloned().collect();
        for folder in folders {
            changes.all |= !self.workspace.watch_folders(&mut watcher, &folder);
            let inside = self.workspace.walk(&folder).build().flatten();
            paths.extend(
                inside.filter_map(|e| Some(e.path().strip_prefix(self.workspace.root()).ok()?.to_str()?.into())),
            );
        }
    }

    fn note(&self, event: notify::Result<Event>, paths: &mut BTreeSet<String>, changes: &mut Changes) {
        let Ok(event) = event else {
            changes.all = true;
            return;
        };
        changes.all |= event.need_rescan();
        for path in event.paths.into_iter().filter(|path| !is_temporary(path)) {
            if path.starts_with(&self.archive) {
                changes.archive = true;
            } else if let Some(path) = path.strip_prefix(self.workspace.root()).ok().and_then(|p| p.to_str())
                && !path.is_empty()
                && !path.starts_with(".shaft")
                && !path.starts_with(".git/")
            {
                paths.insert(path.to_string());
            }
        }
    }
}

/// Returns whether an event tells of no change: a file was opened or read, or only temporary files were touched. Most
/// events do, and wake nobody.
fn changes_nothing(event: &Event) -> bool {
    let wrote = EventKind::Access(AccessKind::Close(AccessMode::Write));
    let read = matches!(event.kind, EventKind::Access(_)) && event.kind != wrote;
    let temporary = !event.paths.is_empty() && event.paths.iter().all(|path| is_temporary(path));
    !event.need_rescan() && (read || temporary)
}

fn is_temporary(path: &Path) -> bool {
    path.file_name().and_then(|name| name.to_str()).is_some_and(disk::is_temp_name)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::time::SystemTime;

    use super::*;

    #[test]
    fn changes_are_reported_once_and_temporary_files_never() {
        let dir = tempfile::tempdir().expect("a folder");
        let archive = dir.path().canonicalize().expect("there").join(".shaft/archives");
        fs::create_dir_all(&archive).expect("made");
        let workspace = Workspace::open(dir.path()).expect("open");
        let (send, receive) = mpsc::channel();
        let tell = move |c| send.send(c).expect("the test listens");
        let watch = workspace.watch(&archive, tell).expect("watched");
        assert!(!watch.archive_only);
        // On a busy machine the writes may lie apart and are told one by one.
        let next = || receive.recv_timeout(Duration::from_secs(60)).expect("told");
        fs::write(dir.path().join(".nebula-tmp-1-0-0"), "").expect("written");
        fs::write(dir.path().join("a"), "1").expect("written");
        fs::write(archive.join("x.txt"), "1").expect("written");
        let mut changes = next();
        while changes.paths.is_empty() || !changes.archive {
            let more = next();
            assert!(changes.paths.is_empty() || more.paths.is_empty(), "told twice: {changes:?} {more:?}");
            changes.paths.extend(more.paths);
            changes.archive |= more.archive;
        }
        assert_eq!(changes, Changes { paths: vec!["a".into()], archive: true, ..Changes::default() });
        fs::File::open(&archive).expect("there").set_modified(SystemTime::now()).expect("touched");
        assert_eq!(next(), Changes { archive: true, ..Changes::default() });
        fs::create_dir_all(dir.path().join("new/deep")).expect("made");
        fs::write(dir.path().join("new/deep/b"), "1").expect("written");
        while !next().paths.contains(&"new/deep/b".to_string()) {}
        drop(watch);
        assert!(receive.recv().is_err());
    }
}
