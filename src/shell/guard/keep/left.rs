//! The states in which the command left its paths, so that what someone else changes afterwards is told apart from its
//! own work, also where that was written into the same file.
//!
//! A path is left once every call of the command on it is over, no process of the command has the file open for writing
//! or mapped, and no other name leads to it: from then on the command can change it by a further call alone. This is
//! looked for a few times a second, so what someone else writes within that time of the command's own write is still
//! counted as the command's.

use std::collections::{HashMap, HashSet};
use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::{Duration, Instant};

use super::super::call::{Notification, has_returned};
use super::super::names::{Inode, inode};
use super::super::reach::{meta_at, reach};
use crate::disk::is_local;
use crate::shell::tree;

/// Looking takes at most one part in this many of the time, for the calls of the command wait meanwhile.
const SHARE: u32 = 100;
/// The most bytes of a file that are kept as it was left, and of all together, and the most files.
const LARGEST: u64 = 64 << 10;
const MOST_BYTES: usize = 4 << 20;
const MOST_FILES: usize = 256;

/// The paths that calls of the command may be changing, and those that it has left.
#[derive(Default)]
pub(super) struct Left {
    /// The call that is answered now; none: its path is only looked at.
    pub call: Option<Notification>,
    /// The last call of each thread.
    calls: HashMap<i32, Notification>,
    /// The calls on each path since it was last left: thread and number. A folder's path ends in `/`.
    on: HashMap<String, Vec<(i32, u64)>>,
    /// The states in which paths were left.
    states: HashMap<String, LeftRecord>,
    /// The number of files whose bytes were kept as they were left, and of these bytes.
    held: (usize, usize),
    /// The time before which it is not looked for again.
    next: Option<Instant>,
    /// The device of the files whose times tell of changes.
    device: Option<u64>,
}

/// The file at a path, and when its bytes were last changed.
#[derive(Debug, Clone, Copy)]
struct LeftFile {
    inode: Inode,
    size: u64,
    modified: (i64, i64),
}

/// The state in which a path was left.
#[derive(Debug, Default)]
struct LeftRecord {
    /// The file; none: nothing is there.
    file: Option<LeftFile>,
    /// Its bytes and its mode, as far as they are kept.
    bytes: Option<(Vec<u8>, u32)>,
}

impl LeftFile {
    fn of(meta: &Metadata) -> Self {
        LeftFile { inode: inode(meta), size: meta.size(), modified: (meta.mtime(), meta.mtime_nsec()) }
    }
}

impl Left {
    /// Creates those of a command that has not begun, in the workspace of this root.
    pub fn of(root: &Path) -> Self {
        let device = fs::metadata(root).ok().filter(|_| is_local(root)).map(|meta| meta.dev());
        Left { device, ..Left::default() }
    }

    /// Notes that a call is about to be answered.
    pub fn begin(&mut self, call: Notification) {
        self.call = Some(call);
        self.calls.insert(call.process, call);
    }

    /// Notes that the present call may change a path; `is_folder`: with all that lies below.
    pub fn touch(&mut self, name: String, is_folder: bool) {
        self.forget(&name);
        let name = if is_folder { name + "/" } else { name };
        if is_folder {
            let below = self.states.extract_if(|path, _| path.starts_with(&name));
            let freed = below.filter_map(|(_, state)| Some(state.bytes?.0.len())).collect::<Vec<_>>();
            self.held = (self.held.0 - freed.len(), self.held.1 - freed.iter().sum::<usize>());
        }
        let calls = self.on.entry(name).or_default();
        if let Some(call) = self.call {
            calls.retain(|(thread, _)| *thread != call.process);
            calls.push((call.process, call.id));
        }
    }

    /// Returns whether the file at a path that was left is another's; none: the path was not left.
    pub fn is_from_another(&self, name: &str, now: Option<&Metadata>) -> Option<bool> {
        let state = self.states.get(name)?;
        Some(match (&state.file, now.map(LeftFile::of)) {
            (Some(was), Some(now)) => !is_same(was, &now),
            (None, None) => false,
            _ => true,
        })
    }

    /// Puts off the next look by a time that fits how long this one took.
    pub fn put_off(&mut self, took: Duration) {
        self.next = Some(Instant::now() + took * SHARE);
    }

    /// Returns the paths that were left.
    pub fn names(&self) -> impl Iterator<Item = &String> {
        self.states.keys()
    }

    /// Notes that the command goes on from what someone else left at a path.
    pub fn take_up(&mut self, name: &str, now: &Metadata) {
        if self.states.contains_key(name) {
            self.forget(name);
            self.states.insert(name.to_string(), LeftRecord { file: Some(LeftFile::of(now)), bytes: None });
        }
    }

    /// Forgets the state of a path.
    pub fn forget(&mut self, name: &str) {
        if let Some((bytes, _)) = self.states.remove(name).and_then(|state| state.bytes) {
            self.held = (self.held.0 - 1, self.held.1 - bytes.len());
        }
    }

    /// Notes the state in which a path was left; none: nothing is there. Small files are read, as far as they are not too
    /// many: their bytes tell what is the command's where someone else changes them.
    pub fn note(&mut self, name: String, path: &Path, there: Option<&Metadata>) {
        let file = there.map(LeftFile::of);
        self.forget(&name);
        let (files, bytes) = self.held;
        let is_held = |meta: &&Metadata| meta.is_file() && meta.size() <= LARGEST;
        let read = there.filter(is_held).filter(|_| files < MOST_FILES && bytes < MOST_BYTES).and_then(|meta| {
            let read = reach(path, |path| fs::read(path)).ok()?;
            // Unless someone else has changed it just now.
            let after = meta_at(path).ok()?;
            file.is_some_and(|file| is_same(&file, &LeftFile::of(&after))).then_some((read, meta.mode() & 0o7777))
        });
        if let Some((read, _)) = &read {
            self.held = (files + 1, bytes + read.len());
        }
        self.states.insert(name, LeftRecord { file, bytes: read });
    }

    /// Takes out the bytes and the mode of a file as it was left, of which `Some(None)` says that none was. None: they are not
    /// known.
    pub fn take_bytes(&mut self, name: &str) -> Option<Option<(Vec<u8>, u32)>> {
        let state = self.states.get_mut(name)?;
        match state.file {
            None => Some(None),
            Some(_) => {
                let taken = state.bytes.take()?;
                self.held = (self.held.0 - 1, self.held.1 - taken.0.len());
                Some(Some(taken))
            }
        }
    }

    /// Notes that a path is to be looked at again.
    pub fn put_back(&mut self, name: String) {
        self.on.entry(name).or_default();
    }

    /// Returns whether a file lies where times tell of changes.
    pub fn tells_of(&self, meta: &Metadata) -> bool {
        Some(meta.dev()) == self.device
    }

    /// Forgets the states: what is kept from now on is another's to compare.
    pub fn clear(&mut self) {
        self.states.clear();
        self.held = (0, 0);
    }

    /// Takes out the paths on which, and above which, no call is under way. None: there are none to look at, or it is put
    /// off where it took long before.
    pub fn take_over(&mut self) -> Option<Vec<String>> {
        if self.on.is_empty() {
            self.calls.clear();
        }
        let is_due = self.next.is_none_or(|next| Instant::now() >= next);
        if self.on.is_empty() || self.device.is_none() || !is_due {
            return None;
        }
        let mut known = HashMap::new();
        let calls = &self.calls;
        let mut is_over = |(thread, id): &(i32, u64)| match calls.get(thread) {
            // One after it: a thread makes one call at a time.
            Some(last) if last.id != *id => true,
            Some(last) => *known.entry(*thread).or_insert_with(|| has_returned(last)),
            None => true,
        };
        let mut over: HashSet<String> = HashSet::new();
        for (name, calls) in &mut self.on {
            calls.retain(|call| !is_over(call));
            if calls.is_empty() {
                over.insert(name.clone());
            }
        }
        let is_busy = |name: &&str| name.ends_with('/') && !over.contains(*name);
        let busy: HashSet<&str> = self.on.keys().map(String::as_str).filter(is_busy).collect();
        let is_below = |name: &str| name.match_indices('/').any(|(end, _)| busy.contains(&name[..=end]));
        let over: HashSet<String> = over.iter().filter(|name| !is_below(name)).cloned().collect();
        let is_known = |thread: &i32| known.get(thread) != Some(&true);
        self.calls.retain(|thread, _| is_known(thread));
        self.on.retain(|name, _| !over.contains(name));
        Some(over.into_iter().collect())
    }
}

/// Returns whether two are one file with the same bytes. An overlay gives a file another device and number when it is
/// first written.
fn is_same(one: &LeftFile, other: &LeftFile) -> bool {
    let is_file = one.inode.0 != other.inode.0 || one.inode.1 == other.inode.1;
    is_file && (one.size, one.modified) == (other.size, other.modified)
}

/// Returns the files that the command's processes have open for writing.
pub(super) fn open_files() -> HashSet<Inode> {
    let links = tree::all_open_for_writing();
    links.iter().filter_map(|link| fs::metadata(link).ok()).map(|meta| inode(&meta)).collect()
}
