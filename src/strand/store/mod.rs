//! A store: a folder whose op log is the source of truth; everything else can be derived from it.

mod accept;
mod archive;
mod checkpoint;
pub mod disk;
mod error;
mod exchange;
#[cfg(test)]
mod fault;
mod files;
mod issue;
mod locks;
mod log;
mod past;
mod position;
mod repair;
mod write_lock;

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;

pub use accept::{Accepted, Rejected};
pub use archive::{Before, Compacted};
pub use checkpoint::{ListingRow, read as read_checkpoint};
pub use error::Error;
pub use exchange::{Exchange, pull, pull_from, push};
pub use files::{Config, Conflict, Policy, atomic_write, read_optional};
pub use issue::{BeforeCommit, TouchedDefinition, WriteResult};
pub use locks::{Lock, covers, forbids, glob, is_pattern, overlap};
pub use log::{Damage, Entries, Log};
pub use past::Verified;
pub use repair::Repaired;
pub use write_lock::{LOCK_TIMEOUT, WriteLock};

use tokio_util::sync::CancellationToken;

use super::id::{DefId, Layer, OpId, QName, new_id};
use super::issue::Refusal;
use super::op::Op;
use super::state::State;
use crate::disk::check_stop;
use archive::Archives;
use archive::base::Base;
use checkpoint::Source;
use log::LogWatch;
use position::{Chain, LogPosition, fold_chain};

/// The bytes of log that the checkpoint may lag behind; a fifth of the log, where that is more.
const CHECKPOINT_AFTER_BYTES: u64 = 4 << 20;
/// The number of ops that the checkpoint may lag behind; a fifth of all, where that is more.
const CHECKPOINT_AFTER_OPS: usize = 10_000;
/// An open store.
#[derive(Debug)]
pub struct Store {
    root: PathBuf,
    log: Log,
    /// The state of its file when it was read or written last.
    log_watch: LogWatch,
    state: State,
    config: Config,
    withdrawn: HashSet<OpId>,
    /// The offset up to which the log has been read.
    offset: u64,
    /// The sum of the last commit line that was read.
    sum: String,
    /// The chained sums of all commit lines up to there.
    chain: Chain,
    /// True if the checkpoint is to note again when the log was written last.
    restamp: bool,
    /// The checkpoint the state loads from.
    source: Option<Rc<Source>>,
    /// The position of the checkpoint when changes began to be collected; none: it must be made again.
    marked: Option<u64>,
    /// Ops read or written since `placed_from`, and where they stand in the log.
    placed: BTreeMap<OpId, LogPosition>,
    placed_from: u64,
    /// True if it wrote to the checkpoint.
    checkpointed: bool,
    /// The time to wait for the lock.
    timeout: Duration,
    /// Cancelled once nobody waits for what is read.
    stop: CancellationToken,
    /// The expected text of a definition for the next write.
    expected: Option<(QName, String)>,
    /// The texts that the next write was shown with; none: the definition is not visible.
    shown: Vec<(DefId, Option<String>)>,
    /// The ops of a write that is only tried; none: writes are real.
    rehearsed: Option<Vec<OpId>>,
    /// Hears of ops before they are durable.
    before_commit: BeforeCommit,
    /// The archives of the log.
    archives: Rc<Archives>,
    /// Notices for the person, shown once.
    notices: Vec<String>,
    /// The place from which the log is damaged: what precedes it is read, nothing is written.
    damage: Option<Damage>,
    /// True if a merge of two logs waits to be closed by a commit line.
    mixed: bool,
    /// True if the log was read with the line ends that it was written with, which its file could not be given back.
    as_written: bool,
}

impl Store {
    /// Makes a store in a folder that has none.
    pub fn init(root: &Path) -> Result<Store, Error> {
        Store::init_as(root, &new_id("st_"))
    }

    /// Makes a store of an identity.
    fn init_as(root: &Path, identity: &str) -> Result<Store, Error> {
        let inner = root.join(".strand");
        if inner.join("op-log.jsonl").exists() {
            return Err(Refusal::Exists(format!("a store in {}", root.display())).into());
        }
        for folder in ["rejected", "runtime"] {
            let path = inner.join(folder);
            disk::create_folder(&path).map_err(|error| Error::io("make", &path, error))?;
        }
        let ignored = [".strand/store.crdt*", ".strand/lock", ".strand/runtime/", ".strand/projection.json"];
        add_lines(&root.join(".gitignore"), &ignored)?;
        add_lines(&root.join(".gitattributes"), &[ATTRIBUTES])?;
        Log::new(inner.join("op-log.jsonl")).create(identity)?;
        Store::open(root)
    }

    /// Opens the store in a folder.
    pub fn open(root: &Path) -> Result<Store, Error> {
        let log = Log::new(root.join(".strand/op-log.jsonl"));
        let there = log.path().try_exists().map_err(|error| Error::io("look for", log.path(), error))?;
        if !there {
            return Err(Error::NoStore);
        }
        log.check_form()?;
        let archives = Rc::new(Archives::of(log.path()));
        let mut store = Store {
            archives,
            config: Config::read(root)?,
            root: root.to_owned(),
            log,
            log_watch: LogWatch::default(),
            state: State::new(),
            withdrawn: HashSet::new(),
            offset: 0,
            sum: String::new(),
            chain: Chain::default(),
            restamp: false,
            source: None,
            marked: None,
            placed: BTreeMap::new(),
            placed_from: 0,
            checkpointed: false,
            timeout: LOCK_TIMEOUT,
            stop: CancellationToken::new(),
            expected: None,
            shown: Vec::new(),
            rehearsed: None,
            before_commit: BeforeCommit::default(),
            notices: Vec::new(),
            damage: None,
            mixed: false,
            as_written: false,
        };
        store.stand_on_checkpoint();
        store.catch_up()?;
        store.restore_line_ends()?;
        Ok(store)
    }

    /// Opens the store in a folder by its log alone.
    pub fn open_from_log(root: &Path) -> Result<Store, Error> {
        let mut store = Store::open(root)?;
        if store.source.is_some() {
            store.read_from_log()?;
        }
        Ok(store)
    }

    /// Begins again with the log alone.
    fn read_from_log(&mut self) -> Result<(), Error> {
        self.start_over();
        self.catch_up().map(|_| ())
    }

    /// Forgets what was read.
    fn start_over(&mut self) {
        self.state = State::new();
        self.state.set_archives(self.archives.clone());
        self.source = None;
        self.withdrawn.clear();
        (self.offset, self.sum, self.chain) = (0, String::new(), Chain::default());
        self.marked = None;
        self.placed.clear();
        self.placed_from = 0;
        self.damage = None;
        self.mixed = false;
    }

    /// Checks the log: a damaged one is the error of every command.
    ///
    /// # Errors
    /// The damage, if there is any.
    pub fn whole(&self) -> Result<(), Error> {
        match &self.damage {
            Some(damage) => Err(self.log.damaged(damage.clone())),
            None => Ok(()),
        }
    }

    /// Returns whether everything read from the checkpoint and the archives could be read. If not, what was found out
    /// by it does not count, and the checkpoint is removed.
    pub fn sound(&self) -> Result<(), Error> {
        if let Some(failure) = self.archives.failure() {
            return Err(Error::Archive(failure));
        }
        let Some(failure) = self.source.as_ref().and_then(|source| source.failure()) else { return Ok(()) };
        checkpoint::remove(&self.root);
        Err(Error::Checkpoint(failure))
    }

    /// Finds the store in a folder or in one above it.
    pub fn find_above(from: &Path) -> Option<PathBuf> {
        from.ancestors().find(|folder| folder.join(".strand/op-log.jsonl").exists()).map(Path::to_owned)
    }

    /// Finds the store for a working directory: upwards, else the only child that is one and is called `*.strand` or
    /// `*.strand-store`, else the only one whatever it is called.
    pub fn find(from: &Path) -> Option<PathBuf> {
        if let Some(above) = Store::find_above(from) {
            return Some(above);
        }
        let (mut named, mut others): (Vec<_>, Vec<_>) =
            Store::below(from).into_iter().partition(|path| files::is_named(path));
        let stores = if named.is_empty() { &mut others } else { &mut named };
        stores.pop().filter(|_| stores.is_empty())
    }

    /// Returns the stores directly in a folder by their names, first those that are called as one.
    pub fn below(folder: &Path) -> Vec<PathBuf> {
        let mut stores: Vec<PathBuf> =
            files::folders(folder).filter(|path| path.join(".strand/op-log.jsonl").exists()).collect();
        stores.sort_by_cached_key(|path| (!files::is_named(path), path.clone()));
        stores
    }

    /// Sets how long a writer waits for another.
    pub fn set_timeout(&mut self, timeout: Duration) {
        self.timeout = timeout;
    }

    /// Sets what ends long reading, and waiting for a writer, once it is cancelled.
    pub fn stop_with(&mut self, stop: CancellationToken) {
        self.stop = stop;
    }

    /// Fails once nobody waits for what is read.
    ///
    /// # Errors
    /// When it was stopped.
    pub fn go_on(&self) -> Result<(), Error> {
        check_stop(&self.stop).map_err(|error| Error::io("read", &self.root, error))
    }

    /// Lets the next write be refused unless a definition has this hash then.
    pub fn expect_hash(&mut self, expected: Option<(QName, String)>) {
        self.expected = expected;
    }

    /// Returns its folder.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Returns a path within `.strand`.
    pub fn inner(&self, name: &str) -> PathBuf {
        self.root.join(".strand").join(name)
    }

    /// Returns the state as last read.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// Returns its settings.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Returns its log.
    pub fn log(&self) -> &Log {
        &self.log
    }

    /// Returns how far the log has been read, in bytes since its beginning: what was moved into archives counts.
    pub fn offset(&self) -> Result<u64, Error> {
        self.log.since_the_beginning(self.offset)
    }

    /// Returns how far the log has been read: the offset after a commit line, and its sum.
    pub fn position(&self) -> (u64, &str) {
        (self.offset, &self.sum)
    }

    /// Returns notices for the person, once.
    pub fn take_notices(&mut self) -> Vec<String> {
        std::mem::take(&mut self.notices)
    }

    /// Replaces the settings, on disk too.
    pub fn set_config(&mut self, config: Config) -> Result<(), Error> {
        self.change_config(|old| {
            *old = config;
            Ok(())
        })
    }

    /// Changes the settings as they stand when no other process writes, on disk too; on an error nothing changes.
    pub fn change_config(&mut self, change: impl FnOnce(&mut Config) -> Result<(), Error>) -> Result<(), Error> {
        let _lock = self.lock()?;
        let mut config = self.config.clone();
        change(&mut config)?;
        config.write(&self.root)?;
        self.config = config;
        Ok(())
    }

    /// Reads what other processes have written since. Returns the ops that were new here.
    pub fn catch_up(&mut self) -> Result<Vec<OpId>, Error> {
        if self.as_written {
            return Ok(Vec::new());
        }
        // Read first: what fails later would lose the ops of the log that are read past here.
        let config = Config::read(&self.root)?;
        let pending = files::read_ops(&self.inner("pending.jsonl"))?;
        let (known, anew) = ((self.offset, self.chain), self.damage.is_some() || self.offset == 0);
        let is_unaltered = self.log_watch.is_unaltered(&self.log, known, anew)?;
        let read = if is_unaltered { self.log.read_on(self.offset, &self.sum)? } else { None };
        let mut entries = match read {
            Some(entries) => entries,
            None => self.read_anew()?,
        };
        // A withdrawn op may be in the checkpoint.
        if entries.withdrawn.iter().any(|id| self.state.graph().has(*id)) {
            entries = self.read_anew()?;
        }
        let admitted = self.take_in(entries, pending)?;
        self.config = config;
        Ok(admitted)
    }

    /// Takes in what was read of the log, and ops that wait. Returns the ops that were new here.
    fn take_in(&mut self, mut entries: Entries, pending: Vec<Op>) -> Result<Vec<OpId>, Error> {
        if !entries.sum.is_empty() || self.offset == 0 {
            self.sum.clone_from(&entries.sum);
        }
        if let Some(base) = entries.base.take() {
            self.stand_on_base(base, &entries)?;
        }
        entries.sums.iter().for_each(|sum| fold_chain(&mut self.chain, sum));
        self.offset = entries.end;
        self.damage = entries.damage.take();
        self.mixed |= entries.mixed;
        self.withdrawn.extend(&entries.withdrawn);
        for op in &entries.ops {
            self.withdrawn.remove(&op.id);
        }
        self.placed.extend(entries.ops.iter().map(|op| op.id).zip(entries.places.iter().copied()));
        // Ops in the log were accepted, though a later op of their bundle may still be pending.
        let mut offered = self.state.offer(entries.ops);
        offered.admitted.extend(self.state.offer(pending).admitted);
        self.state.refresh();
        Ok(offered.admitted)
    }

    /// Reads the log from its start, having forgotten everything else.
    fn read_anew(&mut self) -> Result<Entries, Error> {
        self.start_over();
        self.log.read()
    }

    /// Begins at the base of a log.
    fn stand_on_base(&mut self, base: Base, entries: &Entries) -> Result<(), Error> {
        if base.ops.iter().any(|archived_op| entries.withdrawn.contains(&archived_op.node.op.id)) {
            let message = "it withdraws an op that is archived".to_owned();
            return Err(Error::BadFile { path: self.log.path().to_owned(), message });
        }
        self.withdrawn.extend(&base.withdrawn);
        self.placed.extend(base.ops.iter().map(|archived_op| (archived_op.node.op.id, archived_op.place)));
        self.state.restore(base.ops.into_iter().map(|archived_op| archived_op.node).collect());
        Ok(())
    }

    /// Takes the exclusive lock, and reads what was written meanwhile. A torn tail is put aside.
    pub fn lock(&mut self) -> Result<WriteLock, Error> {
        let lock = WriteLock::wait(&self.root, &self.log, self.timeout, &self.stop)?;
        // Nothing is written to a log that has other line ends.
        self.as_written = false;
        self.catch_up()?;
        self.whole()?;
        if self.rehearsed.is_some() {
            // What is only tried leaves the files as they are.
            return Ok(lock);
        }
        if self.log.length()? > self.offset {
            let torn_file = self.log.truncate(self.offset, &self.inner("rejected"))?;
            let torn_file = torn_file.file_name().unwrap_or_default().to_string_lossy().into_owned();
            self.notices.push(format!("an unfinished transaction was put aside in .strand/rejected/{torn_file}"));
        }
        if std::mem::take(&mut self.mixed) {
            (self.offset, self.sum) = self.log.close_merge(self.offset)?;
            fold_chain(&mut self.chain, &self.sum);
        }
        Ok(lock)
    }

    /// Removes temporary files of programs that were killed while replacing a file.
    pub fn tidy(&self) -> Result<(), Error> {
        for folder in Layer::ALL.iter().map(|layer| layer.folder()).chain(["", ".strand"]) {
            let tidied = disk::remove_left_over(&self.root, folder);
            tidied.map_err(|error| Error::io("tidy", &self.root.join(folder), error))?;
        }
        Ok(())
    }

    /// Returns the ownership locks.
    pub fn locks(&self) -> Result<Vec<Lock>, Error> {
        files::read_locks(&self.root)
    }

    /// Changes the ownership locks as they stand when no other process writes; on an error nothing changes.
    pub fn change_locks(&mut self, change: impl FnOnce(&mut Vec<Lock>) -> Result<(), Error>) -> Result<(), Error> {
        let _lock = self.lock()?;
        let mut locks = self.locks()?;
        change(&mut locks)?;
        files::write_locks(&self.root, &locks)
    }

    /// Returns the recorded conflicts, oldest first.
    pub fn conflicts(&self) -> Result<Vec<Conflict>, Error> {
        files::read_conflicts(&self.root)
    }

    /// Records conflicts, or new versions of them.
    pub fn record_conflicts(&self, conflicts: &[Conflict]) -> Result<(), Error> {
        if self.rehearsed.is_some() {
            return Ok(());
        }
        files::append_conflicts(&self.root, conflicts)
    }
}

/// The attributes that Git has of the log: lines of two sides are joined, and their ends are never converted.
const ATTRIBUTES: &str = ".strand/*.jsonl merge=union -text";
/// The attributes that stores were made with before: a checkout could give the log the line ends of another system.
const OLD_ATTRIBUTES: &str = ".strand/*.jsonl merge=union";

/// Updates the attributes of a store that was made with the old ones: that line alone. Returns whether it did.
fn update_attributes(root: &Path) -> bool {
    let path = root.join(".gitattributes");
    // A file that cannot be read or written is no reason to refuse an op: the next write tries again.
    let Ok(Some(text)) = read_optional(&path) else { return false };
    let updated = |line: &str| match line.trim_end_matches(['\r', '\n']) {
        OLD_ATTRIBUTES => line.replacen(OLD_ATTRIBUTES, ATTRIBUTES, 1),
        _ => line.to_owned(),
    };
    let lines: String = text.split_inclusive('\n').map(updated).collect();
    lines != text && atomic_write(&path, lines.as_bytes()).is_ok()
}

/// Adds the lines that a file lacks.
fn add_lines(path: &Path, lines: &[&str]) -> Result<(), Error> {
    let mut text = files::read_optional(path)?.unwrap_or_default();
    let lacking: Vec<&str> = lines.iter().copied().filter(|line| !text.lines().any(|there| there == *line)).collect();
    if lacking.is_empty() {
        return Ok(());
    }
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    lacking.iter().for_each(|line| text.push_str(&format!("{line}\n")));
    atomic_write(path, text.as_bytes())
}

impl Drop for Store {
    /// Leaves the checkpoint in order, now that this store does not read it any more.
    fn drop(&mut self) {
        if self.checkpointed && self.source.take().is_some() {
            self.state = State::new();
            checkpoint::fold(&self.root);
        }
    }
}

#[cfg(test)]
mod fault_tests;
#[cfg(test)]
mod tests;
