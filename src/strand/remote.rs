//! Exchange through a Git remote: the op set lies in a ref, one file an author, each only ever appended to. An empty
//! file is named as the store is identified, so that a clone is known before it has an op of it.
//!
//! Any Git host is the server. Who publishes takes in first what the ref holds, judges its own unpublished ops by that,
//! and moves the ref on only from where it saw it; whoever came first meanwhile is taken in, and it tries again. A
//! program that is killed leaves the ref as it was or moved on whole.

use std::collections::{BTreeMap, HashSet};
use std::path::Path;
use std::time::Duration;

use tempfile::TempDir;

use super::id::OpId;
use super::op::Op;
use super::store::{Error, Exchange, Store, pull_from};
use crate::disk;
use crate::git::{Remote, Repository};

/// The number of tries to move a ref that others move.
const TRIES: u32 = 100;
/// The longest wait before the next try.
const LONGEST_PAUSE: Duration = Duration::from_millis(500);

/// The beginning of the name of a file that identifies a store. Those of authors end otherwise.
const IDENTITY: &str = "st_";

/// The result of an exchange with a remote.
#[derive(Clone, Debug, PartialEq)]
pub struct Exchanged {
    /// The ops taken in, and those withdrawn for them.
    pub taken: Exchange,
    /// The number of ops published.
    pub published: usize,
}

/// The ops that a ref holds.
struct Published {
    /// The commit it points to.
    commit: Option<String>,
    files: BTreeMap<String, Vec<u8>>,
    ops: Vec<Op>,
}

impl Published {
    /// Returns whether it names the stores whose copies published it. Earlier versions named none.
    fn names_stores(&self) -> bool {
        self.files.keys().any(|name| name.starts_with(IDENTITY) && !name.ends_with(".jsonl"))
    }

    /// Returns whether it is another store's: neither copies of that store published it, nor has that store an op of it.
    fn is_foreign(&self, store: &Store) -> Result<bool, Error> {
        let own = store.state().graph();
        if self.ops.is_empty() || self.ops.iter().any(|op| own.has(op.id)) {
            return Ok(false);
        }
        Ok(match identity_file(store)? {
            Some(name) if self.names_stores() => !self.files.contains_key(&name),
            // By ops alone an empty store cannot be known.
            _ => !own.is_empty(),
        })
    }
}

/// Returns the name of the file that identifies a store; none: it has no identity.
fn identity_file(store: &Store) -> Result<Option<String>, Error> {
    Ok(Some(plain(&store.identity()?)).filter(|name| name.starts_with(IDENTITY)))
}

/// A ref of a remote, as a store sees it.
pub struct RemoteRef {
    remote: Remote,
    /// The name or address that it was asked for by.
    name: String,
    reference: String,
    /// The folder of what was fetched, where nothing is kept: it is removed with this value.
    _once: Option<TempDir>,
}

/// Returns what of a word may stand in the name of a ref and of a file.
fn plain(word: &str) -> String {
    let fits = |c: char| if c.is_ascii_alphanumeric() || "_-".contains(c) { c } else { '-' };
    word.chars().map(fits).collect()
}

/// Returns whether a store is the whole of a repository.
fn is_top(root: &Path) -> bool {
    let Ok(repository) = Repository::find(root) else { return false };
    let same = |a: &Path, b: &Path| a.canonicalize().ok() == b.canonicalize().ok();
    same(repository.top(), root)
}

fn failed(error: crate::git::Error) -> Error {
    Error::Remote(error.to_string())
}

impl RemoteRef {
    /// Returns the ref of a store in a remote, which is named as the repository around the store names it, or by its
    /// address. What is fetched is kept in `cache`, a folder of the person's own, so that the next exchange fetches the
    /// rest alone: a repository in the store might be a clone's, and name programs to run.
    ///
    /// # Errors
    /// When there is no such remote.
    pub fn of(store: &Store, name: &str, cache: Option<&Path>) -> Result<RemoteRef, Error> {
        let root = std::path::absolute(store.root()).map_err(|error| Error::io("find", store.root(), error))?;
        let key = blake3::hash(root.as_os_str().as_encoded_bytes()).to_hex();
        let bare = format!("{}-{}.git", &key[..16], plain(name));
        let private = || {
            disk::private_folder("strand-").map_err(|error| Error::io("make a folder in", &std::env::temp_dir(), error))
        };
        let (bare, once) = match cache {
            Some(cache) => (cache.join(bare), None),
            None => private().map(|once| (once.path().join(bare), Some(once)))?,
        };
        let remote = Remote::open(&root, name, &bare).map_err(failed)?;
        // A clone's own folder is called as its owner likes.
        let shared = if is_top(&root) { remote.last_word() } else { None };
        let folder = || root.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let reference = format!("refs/strand/{}", plain(&shared.unwrap_or_else(folder)));
        Ok(RemoteRef { remote, name: name.to_owned(), reference, _once: once })
    }

    fn read(&self) -> Result<Published, Error> {
        let commit = self.remote.fetch(&self.reference).map_err(failed)?;
        let files = match &commit {
            Some(commit) => self.remote.files(commit).map_err(failed)?,
            None => BTreeMap::new(),
        };
        let mut ops = Vec::new();
        for (name, bytes) in &files {
            for (at, line) in bytes.split(|byte| *byte == b'\n').enumerate().filter(|(_, line)| !line.is_empty()) {
                let op = Op::from_line(line);
                let wrong = |why| Error::Remote(format!("{} {name} line {}: {why}", self.reference, at + 1));
                ops.push(op.map_err(wrong)?);
            }
        }
        Ok(Published { commit, files, ops })
    }

    /// Takes in the ops of the ref; those of another store only if it `joins` that. Ops that are not in the ref yet are
    /// judged again.
    ///
    /// # Errors
    /// When the remote cannot be read, or holds another store.
    pub fn pull(&self, store: &mut Store, joins: bool) -> Result<Exchanged, Error> {
        let published = self.read()?;
        let taken = self.take_in(store, &published, joins)?;
        Ok(Exchanged { taken, published: 0 })
    }

    /// Takes in what the ref holds, and publishes what it lacks.
    ///
    /// # Errors
    /// When the remote cannot be read or written, or holds another store.
    pub fn push(&self, store: &mut Store) -> Result<Exchanged, Error> {
        let mut taken: Option<Exchange> = None;
        for tried in 0..TRIES {
            let published = self.read()?;
            let now = self.take_in(store, &published, false)?;
            taken = Some(match taken {
                Some(before) => before.and(now),
                None => now,
            });
            let known: HashSet<OpId> = published.ops.iter().map(|op| op.id).collect();
            let lacking: Vec<Op> = store.ops().into_iter().filter(|op| !known.contains(&op.id)).collect();
            let count = lacking.len();
            if count == 0 || self.publish(published, identity_file(store)?, &lacking)? {
                return Ok(Exchanged { taken: taken.unwrap_or_default(), published: count });
            }
            std::thread::sleep(pause(tried));
        }
        Err(Error::Remote(format!("others moved {} each of {TRIES} times; push again", self.reference)))
    }

    fn take_in(&self, store: &mut Store, published: &Published, joins: bool) -> Result<Exchange, Error> {
        store.catch_up()?;
        if !joins && published.is_foreign(store)? {
            let (holds, joins) = match published.names_stores() {
                true => (
                    "holds another store: this one is no clone of it and has no op of it.",
                    "To take that store's definitions into this one",
                ),
                false => (
                    "does not say which store it holds, as an earlier version published it, and this one has no op of it.",
                    "If this store is a clone of that one, or to take its definitions in all the same",
                ),
            };
            let why = format!(
                "{} {holds} {joins}: strand op pull --join --remote {}. To publish this store beside it, move it into a \
                 folder of its own within the repository, whose name then names the ref",
                self.reference, self.name
            );
            return Err(Error::Remote(why));
        }
        pull_from(store, &published.ops)
    }

    /// Appends ops to the files of their authors and moves the ref on. Returns whether the ref was unchanged meanwhile.
    fn publish(&self, published: Published, identity: Option<String>, ops: &[Op]) -> Result<bool, Error> {
        let Published { commit, mut files, .. } = published;
        if let Some(name) = identity {
            files.entry(name).or_default();
        }
        for op in ops {
            let file = files.entry(format!("{}.jsonl", plain(&op.author))).or_default();
            file.extend_from_slice(op.to_line().as_bytes());
            file.push(b'\n');
        }
        let message = format!("Publish {} ops", ops.len());
        let next = self.remote.commit(&files, commit.as_deref(), &message).map_err(failed)?;
        self.remote.push(&self.reference, &next, commit.as_deref()).map_err(failed)
    }
}

/// Returns how long to wait after a number of tries: longer each time, and not the same as everybody else.
fn pause(tried: u32) -> Duration {
    let spread = std::process::id().wrapping_mul(7_919).wrapping_add(tried.wrapping_mul(104_729));
    LONGEST_PAUSE.min(Duration::from_millis(u64::from(spread % (20 * (tried + 1)))))
}
