//! Opens a store, and reads its log: from the checkpoint or its beginning, then on from where it was read last.

use std::collections::{BTreeMap, HashSet};
use std::path::Path;
use std::rc::Rc;

use tokio_util::sync::CancellationToken;

use crate::strand::id::OpId;
use crate::strand::op::Op;
use crate::strand::state::State;
use crate::strand::store::archive::Archives;
use crate::strand::store::archive::base::Base;
use crate::strand::store::issue::BeforeCommit;
use crate::strand::store::log::{Entries, Log, LogWatch};
use crate::strand::store::position::{Chain, fold_chain};
use crate::strand::store::write_lock::LOCK_TIMEOUT;
use crate::strand::store::{Config, Error, Store, files};

impl Store {
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
    pub(in crate::strand::store) fn read_from_log(&mut self) -> Result<(), Error> {
        self.start_over();
        self.catch_up().map(|_| ())
    }

    /// Forgets what was read.
    pub(in crate::strand::store) fn start_over(&mut self) {
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
    pub(in crate::strand::store) fn take_in(
        &mut self,
        mut entries: Entries,
        pending: Vec<Op>,
    ) -> Result<Vec<OpId>, Error> {
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
}
