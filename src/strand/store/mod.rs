//! A store: a folder whose op log is the truth, and everything else can be made from it.

mod accept;
mod checkpoint;
mod error;
mod exchange;
mod files;
mod locks;
mod log;

use std::collections::{BTreeSet, HashMap, HashSet};
use std::fs::{File, OpenOptions};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

pub use accept::{Accepted, Rejected};
pub use checkpoint::{Row, read as read_checkpoint};
pub use error::Error;
pub use exchange::{Exchange, pull, push};
pub use files::{Config, Conflict, Policy, atomic_write};
pub use locks::{Lock, covers, forbids, glob, is_pattern, overlap};
pub use log::{Entries, Log};

use super::check::{Checks, Diagnostic, Found, render};
use super::id::{DefId, OpId, QName};
use super::issue::{Draft, Issuer, Refusal, issue_all};
use super::op::{Kind, Op};
use super::state::{Changed, State};

/// How long a writer waits for another, by default.
pub const LOCK_TIMEOUT: Duration = Duration::from_secs(10);

/// How many bytes of log the checkpoint may lag behind.
const CHECKPOINT_AFTER: u64 = 4 << 20;

/// An open store.
#[derive(Debug)]
pub struct Store {
    root: PathBuf,
    log: Log,
    state: State,
    config: Config,
    withdrawn: HashSet<OpId>,
    /// How far the log has been read.
    offset: u64,
    /// Where the log stood when changes since the last checkpoint began to be collected.
    marked: u64,
    /// The faults of the present state, once they were asked for.
    checks: Option<Checks>,
    /// How long to wait for the lock.
    timeout: Duration,
    /// Things a person should know, told once.
    notices: Vec<String>,
    /// Whether the checkpoint is known to lag.
    behind: bool,
}

/// What a write brought about.
#[derive(Debug, Default)]
pub struct Written {
    /// The ops, in order.
    pub ops: Vec<Op>,
    /// Definitions it touched.
    pub changed: BTreeSet<DefId>,
    /// Faults that were not there before.
    pub new_faults: Vec<Diagnostic>,
}

/// The exclusive lock of a store, held while it lives.
#[derive(Debug)]
pub struct WriteLock(#[allow(dead_code)] File);

impl Store {
    /// Makes a store in a folder that has none.
    pub fn init(root: &Path) -> Result<Store, Error> {
        let inner = root.join(".strand");
        if inner.join("op-log.jsonl").exists() {
            return Err(Refusal::Exists(format!("a store in {}", root.display())).into());
        }
        for folder in ["rejected", "runtime"] {
            let path = inner.join(folder);
            std::fs::create_dir_all(&path).map_err(|error| Error::io("make", &path, error))?;
        }
        Log::new(inner.join("op-log.jsonl")).create()?;
        let ignore = root.join(".gitignore");
        if !ignore.exists() {
            let text = ".strand/store.crdt*\n.strand/lock\n.strand/runtime/\n.strand/projection.json\n";
            atomic_write(&ignore, text.as_bytes())?;
        }
        Store::open(root)
    }

    /// Opens the store in a folder.
    pub fn open(root: &Path) -> Result<Store, Error> {
        let log = Log::new(root.join(".strand/op-log.jsonl"));
        if !root.join(".strand/op-log.jsonl").exists() {
            return Err(Error::NoStore);
        }
        let mut store = Store {
            config: Config::read(root)?,
            root: root.to_owned(),
            log,
            state: State::new(),
            withdrawn: HashSet::new(),
            offset: 0,
            marked: 0,
            checks: None,
            timeout: LOCK_TIMEOUT,
            notices: Vec::new(),
            behind: false,
        };
        store.catch_up()?;
        store.state.take_touched();
        store.marked = store.offset;
        Ok(store)
    }

    /// Brings the checkpoint to where the log is. Failing to is no failure of the store.
    pub fn checkpoint(&mut self) {
        let touched = self.state.take_touched();
        let standing = self.inner("store.crdt").exists();
        if standing && touched.is_empty() && self.marked == self.offset && !self.behind {
            return;
        }
        match checkpoint::write(&self.root, &self.state, &touched, self.marked, self.offset) {
            Ok(()) => self.behind = false,
            Err(message) => self.notices.push(message),
        }
        self.marked = self.offset;
    }

    /// Finds the store for a working directory: upwards, else the only child that is one.
    pub fn find(from: &Path) -> Option<PathBuf> {
        let up = from.ancestors().find(|folder| folder.join(".strand/op-log.jsonl").exists());
        if let Some(up) = up {
            return Some(up.to_owned());
        }
        let children = std::fs::read_dir(from).ok()?.flatten().map(|entry| entry.path());
        let mut stores = children.filter(|path| {
            let named = path.extension().is_some_and(|ext| ext == "strand" || ext == "strand-store");
            named && path.join(".strand/op-log.jsonl").exists()
        });
        stores.next().filter(|_| stores.next().is_none())
    }

    /// Sets how long a writer waits for another.
    pub fn set_timeout(&mut self, timeout: Duration) {
        self.timeout = timeout;
    }

    /// Its folder.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// A path within `.strand`.
    pub fn inner(&self, name: &str) -> PathBuf {
        self.root.join(".strand").join(name)
    }

    /// The state as last read.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// Its settings.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Its log.
    pub fn log(&self) -> &Log {
        &self.log
    }

    /// How far the log has been read, in bytes.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// Things to tell a person, once.
    pub fn take_notices(&mut self) -> Vec<String> {
        std::mem::take(&mut self.notices)
    }

    /// Replaces the settings, on disk too.
    pub fn set_config(&mut self, config: Config) -> Result<(), Error> {
        let _lock = self.lock()?;
        config.write(&self.root)?;
        self.checks = None;
        self.config = config;
        Ok(())
    }

    /// Reads what other processes have written since. Returns the ops that were new here.
    pub fn catch_up(&mut self) -> Result<Vec<OpId>, Error> {
        // A log that became shorter was made anew.
        let from = if self.log.length()? < self.offset { 0 } else { self.offset };
        if from == 0 {
            self.state = State::new();
        }
        let entries = self.log.read(from)?;
        self.offset = entries.end;
        let gone: HashSet<OpId> =
            entries.withdrawn.iter().copied().filter(|id| self.state.graph().node(*id).is_some()).collect();
        if !gone.is_empty() {
            self.state.retract(&gone);
        }
        self.withdrawn.extend(&entries.withdrawn);
        for op in &entries.ops {
            self.withdrawn.remove(&op.id);
        }
        if self.state.graph().is_empty() || !entries.ops.is_empty() || !gone.is_empty() {
            self.checks = None;
        }
        let pending = files::read_ops(&self.inner("pending.jsonl"))?;
        let offered = self.state.offer(entries.ops.into_iter().chain(pending));
        self.state.refresh();
        self.config = Config::read(&self.root)?;
        Ok(offered.admitted)
    }

    /// Takes the exclusive lock, and reads what was written meanwhile. A torn tail is put aside.
    pub fn lock(&mut self) -> Result<WriteLock, Error> {
        let path = self.inner("lock");
        let file = OpenOptions::new().create(true).truncate(false).write(true).open(&path);
        let file = file.map_err(|error| Error::io("open", &path, error))?;
        let start = Instant::now();
        loop {
            match file.try_lock() {
                Ok(()) => break,
                Err(std::fs::TryLockError::WouldBlock) if start.elapsed() < self.timeout => {
                    std::thread::sleep(Duration::from_millis(2));
                }
                Err(std::fs::TryLockError::WouldBlock) => return Err(Error::Busy(self.timeout.as_secs())),
                Err(std::fs::TryLockError::Error(error)) => return Err(Error::io("lock", &path, error)),
            }
        }
        self.catch_up()?;
        if self.log.length()? > self.offset {
            let kept = self.log.truncate(self.offset, &self.inner("rejected"))?;
            let kept = kept.file_name().unwrap_or_default().to_string_lossy().into_owned();
            self.notices.push(format!("an unfinished transaction was put aside in .strand/rejected/{kept}"));
        }
        Ok(WriteLock(file))
    }

    /// Issues drafts as one transaction: sealed on the present state, all or none. With `check`,
    /// new errors refuse them.
    pub fn issue(&mut self, drafts: &[Draft], issuer: &Issuer, check: bool) -> Result<Written, Error> {
        self.transact(check, |state| issue_all(state, drafts, issuer))
    }

    /// Runs a write on the state under the lock and makes its ops durable. When it is refused, or
    /// its ops touch what belongs to another, the state is as before.
    pub fn transact(
        &mut self,
        check: bool,
        work: impl FnOnce(&mut State) -> Result<Vec<Op>, Refusal>,
    ) -> Result<Written, Error> {
        let lock = self.lock()?;
        let known = self.known_faults();
        let ops = work(&mut self.state)?;
        let ids: HashSet<OpId> = ops.iter().map(|op| op.id).collect();
        let mut written = Written { changed: self.neighbours(&ops), ops, new_faults: Vec::new() };
        let locked = written.ops.iter().find_map(|op| self.forbidden(op));
        written.new_faults = self.faults_beyond(&known, &written.changed);
        let errors = written.new_faults.iter().filter(|fault| !fault.warning).count();
        let refusal =
            locked.or_else(|| (check && errors > 0).then(|| Refusal::NewErrors(errors_text(&written.new_faults))));
        if let Some(refusal) = refusal {
            self.checks = None;
            self.state.retract(&ids);
            self.state.refresh();
            return Err(refusal.into());
        }
        self.commit(&written.ops, &[])?;
        drop(lock);
        Ok(written)
    }

    /// Appends ops and control lines to the log. Without any, nothing is written.
    fn commit(&mut self, ops: &[Op], control: &[String]) -> Result<(), Error> {
        if ops.is_empty() && control.is_empty() {
            return Ok(());
        }
        let lines: Vec<String> = control.iter().cloned().chain(ops.iter().map(Op::to_line)).collect();
        let (end, _) = self.log.append(&lines)?;
        self.offset = end;
        if end - self.marked.min(end) > CHECKPOINT_AFTER {
            self.checkpoint();
        }
        Ok(())
    }

    /// Why an op may not touch what it touches, if an ownership lock says so.
    fn forbidden(&self, op: &Op) -> Option<Refusal> {
        if !self.config.locks_enforced {
            return None;
        }
        let locks = files::read_locks(&self.root).unwrap_or_default();
        let label = self.state.view(op.target()).map(|view| view.qname());
        let claimed = match op.kind {
            Kind::Add => Some(QName::new(op.layer, op.name.clone())),
            Kind::Rename => op.name_new.clone().map(|name| QName::new(op.layer, name)),
            _ => None,
        };
        let written = QName::new(op.layer, op.name.clone());
        [label, claimed, Some(written)].into_iter().flatten().find_map(|qname| {
            forbids(&locks, &op.author, &qname)
                .map(|lock| Refusal::Locked(format!("{qname} is owned by {} (pattern {})", lock.owner, lock.pattern)))
        })
    }

    /// The definitions ops are about, and those that mention them.
    fn neighbours(&self, ops: &[Op]) -> BTreeSet<DefId> {
        let targets: BTreeSet<DefId> = ops.iter().map(Op::target).collect();
        let mut out = targets.clone();
        for id in targets {
            out.extend(self.state.watchers(id));
            if let Some(view) = self.state.view(id) {
                for name in [&view.name, &view.label] {
                    out.extend(self.state.late_watchers(view.layer, name));
                }
            }
        }
        out
    }

    /// The faults before a write. For a large store that was not checked yet there are none: then
    /// every fault of what is touched counts as new.
    fn known_faults(&mut self) -> HashSet<(DefId, String)> {
        if self.checks.is_none() && self.state.graph().len() <= 20_000 {
            self.checks = Some(Checks::full(&self.state, &self.config.capabilities));
        }
        let checks = self.checks.iter().flat_map(|checks| checks.all(&self.state));
        checks.map(fault_key).collect()
    }

    /// Brings the faults up to date after a write, and returns those that were not known.
    fn faults_beyond(&mut self, known: &HashSet<(DefId, String)>, touched: &BTreeSet<DefId>) -> Vec<Diagnostic> {
        let mut checks = self.checks.take().unwrap_or_default();
        let changed = Changed { definitions: touched.clone(), rehashed: 0 };
        checks.update(&self.state, &self.config.capabilities, &changed);
        let new: Vec<&Found> = checks.all(&self.state).filter(|found| !known.contains(&fault_key(found))).collect();
        let told = render(&self.state, new);
        self.checks = Some(checks);
        told
    }

    /// Every fault of the present state.
    pub fn check(&self) -> Vec<Diagnostic> {
        let checks = Checks::full(&self.state, &self.config.capabilities);
        render(&self.state, checks.all(&self.state))
    }

    /// The state as of an op of this store's log, with it.
    pub fn state_at(&self, id: OpId) -> Result<State, Error> {
        if self.state.graph().node(id).is_none() {
            return Err(Error::NotFound(format!("there is no op {id}")));
        }
        let mut state = State::new();
        state.apply(self.log.read_until(id)?);
        Ok(state)
    }

    /// The state as of just before an op.
    pub fn state_before(&self, id: OpId) -> Result<State, Error> {
        let mut ops = self.log.read_until(id)?;
        ops.pop();
        let mut state = State::new();
        state.apply(ops);
        Ok(state)
    }

    /// Every admitted op in causal order: by time, which grows along it, then by id.
    pub fn ops(&self) -> Vec<Op> {
        let graph = self.state.graph();
        let mut ops: Vec<Op> = graph.ids().filter_map(|id| graph.node(id)).map(|node| node.op.clone()).collect();
        ops.sort_by_key(|op| (op.ts, op.id));
        ops
    }

    /// Rebuilds the state from the log alone and compares. Returns both hashes.
    pub fn verify(&self) -> Result<(String, String), Error> {
        let mut state = State::new();
        state.apply(self.log.read(0)?.ops);
        Ok((self.state.state_hash(), state.state_hash()))
    }

    /// Saves every readable op of a corrupt log into a new one; the old file is kept. Returns how
    /// many ops were saved, and where the old log is.
    pub fn repair(root: &Path) -> Result<(usize, PathBuf), Error> {
        let path = root.join(".strand/op-log.jsonl");
        let log = Log::new(path.clone());
        let ops = log.salvage()?;
        let kept = root.join(format!(".strand/rejected/op-log-{}.jsonl", super::id::now_ms()));
        let folder = root.join(".strand/rejected");
        std::fs::create_dir_all(&folder).map_err(|error| Error::io("make", &folder, error))?;
        std::fs::rename(&path, &kept).map_err(|error| Error::io("move", &path, error))?;
        log.create()?;
        if !ops.is_empty() {
            log.append(&ops.iter().map(Op::to_line).collect::<Vec<_>>())?;
        }
        Ok((ops.len(), kept))
    }

    /// The ownership locks.
    pub fn locks(&self) -> Result<Vec<Lock>, Error> {
        files::read_locks(&self.root)
    }

    /// Replaces the ownership locks.
    pub fn set_locks(&mut self, locks: &[Lock]) -> Result<(), Error> {
        let _lock = self.lock()?;
        files::write_locks(&self.root, locks)
    }

    /// The recorded conflicts, oldest first.
    pub fn conflicts(&self) -> Result<Vec<Conflict>, Error> {
        files::read_conflicts(&self.root)
    }

    /// Records conflicts, or new versions of them.
    pub fn record_conflicts(&self, conflicts: &[Conflict]) -> Result<(), Error> {
        files::append_conflicts(&self.root, conflicts)
    }

    /// Ops by definition, for histories: oldest first.
    pub fn history(&self, def: DefId) -> Vec<Op> {
        let lattice = self.state.graph().lattice(def);
        let ids = lattice.map(|lattice| lattice.ops.clone()).unwrap_or_default();
        let mut ops: Vec<Op> =
            ids.into_iter().filter_map(|id| self.state.graph().node(id)).map(|node| node.op.clone()).collect();
        ops.sort_by_key(Op::key);
        ops
    }

    /// Each definition's ops, for whoever walks them all.
    pub fn by_definition(&self) -> HashMap<DefId, Vec<Op>> {
        let mut out: HashMap<DefId, Vec<Op>> = HashMap::new();
        for op in self.ops() {
            out.entry(op.target()).or_default().push(op);
        }
        out
    }
}

fn fault_key(found: &Found) -> (DefId, String) {
    (found.def, format!("{:?} {:?}", found.place, found.fault))
}

fn errors_text(faults: &[Diagnostic]) -> String {
    let lines: Vec<String> = faults
        .iter()
        .filter(|fault| !fault.warning)
        .map(|fault| format!("error[{}] {}: {}", fault.code, fault.location, fault.message))
        .collect();
    format!("new errors would arise\n  {}", lines.join("\n  "))
}

#[cfg(test)]
mod tests;
