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
mod open;
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

use super::id::{DefId, Layer, OpId, QName};
use super::state::State;
use crate::disk::check_stop;
use archive::Archives;
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
