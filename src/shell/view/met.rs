//! The files of a workspace as a view met them: read beside the command, for those that change on disk meanwhile.

use std::collections::HashMap;
use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use tokio_util::sync::CancellationToken;

use crate::disk::{self, Links};
use crate::proposal::State;
use crate::workspace::{Workspace, state_of};

/// The most bytes that are held, of all files.
const MOST_BYTES: u64 = 16 << 20;
/// The most bytes of one file.
const MOST_OF_FILE: u64 = 256 << 10;
/// The most files.
const MOST_FILES: usize = 20_000;

/// A time of the file system's clock.
pub type FileTime = (i64, i64);

/// The states of a workspace's files when a view began, as far as they are read within bounds. Dropping it ends the reading.
#[derive(Debug, Default)]
pub struct MetStates {
    states: Arc<Mutex<HashMap<PathBuf, State>>>,
    over: Arc<AtomicBool>,
}

impl MetStates {
    /// Begins to read the files of a workspace as they have been since a time.
    pub fn begin(workspace: &Workspace, begun: FileTime) -> Self {
        let met = MetStates::default();
        let (states, over) = (Arc::clone(&met.states), Arc::clone(&met.over));
        let workspace = workspace.clone();
        // Where no thread can be had, nothing is known.
        let _ = std::thread::Builder::new().name("met".into()).spawn(move || read(&workspace, begun, &states, &over));
        met
    }

    /// Reads the files of a workspace before it returns.
    #[cfg(test)]
    pub fn at_once(workspace: &Workspace, begun: FileTime) -> Self {
        let met = MetStates::default();
        read(workspace, begun, &met.states, &met.over);
        met
    }

    /// Returns the state of a path below the root when the view began; none: it is not known.
    pub fn state(&self, inside: &Path) -> Option<State> {
        self.states.lock().unwrap_or_else(PoisonError::into_inner).get(inside).cloned()
    }
}

impl Drop for MetStates {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
    }
}

/// Returns the time of the last change of a file, or of what is known about it.
pub fn changed_at(meta: &Metadata) -> FileTime {
    (meta.ctime(), meta.ctime_nsec())
}

fn read(workspace: &Workspace, begun: FileTime, states: &Mutex<HashMap<PathBuf, State>>, over: &AtomicBool) {
    let (mut bytes, mut files) = (0, 0);
    for entry in workspace.walk("").build().flatten() {
        if over.load(Ordering::Relaxed) || files >= MOST_FILES {
            return;
        }
        let Ok(inside) = entry.path().strip_prefix(workspace.root()) else { continue };
        let Some(state) = state_since(entry.path(), begun) else { continue };
        files += 1;
        bytes += state.bytes().map_or(0, |bytes| bytes.len() as u64);
        if bytes > MOST_BYTES {
            return;
        }
        states.lock().unwrap_or_else(PoisonError::into_inner).insert(inside.to_path_buf(), state);
    }
}

/// Returns the state of a small file or a link that has not changed since a time.
fn state_since(path: &Path, begun: FileTime) -> Option<State> {
    let is_old = |meta: &Metadata| changed_at(meta) <= begun;
    let meta = fs::symlink_metadata(path).ok().filter(is_old)?;
    if meta.is_symlink() {
        let target = fs::read_link(path).ok()?;
        return fs::symlink_metadata(path).ok().filter(is_old).map(|_| State::Link { target });
    }
    if !meta.is_file() || meta.len() > MOST_OF_FILE {
        return None;
    }
    let file = disk::open_file(path, Links::Refuse).ok()?;
    let (state, _) = state_of(file.try_clone().ok()?, path, &CancellationToken::new()).ok()?;
    // What it was while it was read, it had been before.
    file.metadata().ok().filter(is_old).map(|_| state)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_known_as_it_was_only_where_it_has_not_changed_since() {
        let dir = tempfile::tempdir().expect("a folder");
        let at = |name: &str| dir.path().join(name);
        fs::write(at("a"), "one\n").expect("written");
        fs::write(at("large"), vec![0; MOST_OF_FILE as usize + 1]).expect("written");
        std::os::unix::fs::symlink("a", at("link")).expect("linked");
        let later = (i64::MAX, 0);
        assert_eq!(state_since(&at("a"), later).as_ref().and_then(State::text), Some("one\n"));
        assert_eq!(state_since(&at("link"), later), Some(State::Link { target: "a".into() }));
        for (path, begun) in [("a", (0, 0)), ("link", (0, 0)), ("large", later), ("none", later), ("", later)] {
            assert_eq!(state_since(&at(path), begun), None, "{path}");
        }
    }

    #[test]
    fn what_is_ignored_or_of_the_repository_is_not_held() {
        let dir = tempfile::tempdir().expect("a folder");
        fs::create_dir_all(dir.path().join(".git")).expect("made");
        for (path, text) in [(".gitignore", "out\n"), ("out", "x"), ("a", "x"), (".git/HEAD", "x")] {
            fs::write(dir.path().join(path), text).expect("written");
        }
        let workspace = Workspace::open(dir.path()).expect("open");
        let met = MetStates::at_once(&workspace, (i64::MAX, 0));
        let known = |path: &str| met.state(Path::new(path)).is_some();
        assert_eq!(["a", ".gitignore", "out", ".git/HEAD"].map(known), [true, true, false, false]);
    }
}
