//! A store on its checkpoint: it begins there, brings it up to date, and drops from memory what it has.

use std::rc::Rc;

use super::{Opened, Progress, Source};
use crate::strand::op::Op;
use crate::strand::state::State;
use crate::strand::store::{Error, Store};

/// The weight of what a process that lives long may hold before what is in the checkpoint is dropped: about 450 MiB.
#[cfg(not(test))]
pub(in crate::strand::store) const MOST_HELD: usize = 800_000;
/// The limit while ops are written: about 800 MiB. Each drop costs every definition that is met again a read.
#[cfg(not(test))]
pub(in crate::strand::store) const MOST_HELD_WRITING: usize = 1_500_000;
/// In tests, so little that small stores get there.
#[cfg(test)]
pub(in crate::strand::store) const MOST_HELD: usize = 150;
#[cfg(test)]
pub(in crate::strand::store) const MOST_HELD_WRITING: usize = 150;

impl Store {
    /// Begins at the checkpoint, if there is one that can be used.
    pub(in crate::strand::store) fn stand_on_checkpoint(&mut self) {
        self.start_over();
        match Source::open(&self.root, &self.log) {
            Opened::Absent => {}
            Opened::Unfit(why) => {
                self.notices.push(format!("the checkpoint cannot be used and is made anew from the log: {why}"));
            }
            Opened::Ready(source) => self.stand_on(source),
        }
    }

    /// Begins at a checkpoint.
    fn stand_on(&mut self, source: Box<Source>) {
        let source: Rc<Source> = Rc::from(source);
        self.state = State::on(Some(source.clone()));
        self.state.set_archives(self.archives.clone());
        (self.offset, self.sum, self.chain) = (source.offset, source.sum.clone(), source.chain);
        self.restamp = source.is_restamped;
        self.withdrawn = source.withdrawn.iter().copied().collect();
        self.marked = Some(source.offset);
        self.placed_from = source.offset;
        self.source = Some(source);
    }

    /// Brings the checkpoint up to date and drops what it has from memory, where much is held: a process that lives long
    /// meets every definition in time.
    pub fn relieve(&mut self) {
        if self.state.weight() > MOST_HELD {
            self.checkpoint();
            self.let_go(MOST_HELD);
        }
    }

    /// Drops what the checkpoint has from memory, where more than `most` is held and the checkpoint has all of it.
    pub(in crate::strand::store) fn let_go(&mut self, most: usize) {
        if self.state.weight() <= most || !self.is_at_checkpoint() || self.sound().is_err() {
            return;
        }
        let Some(source) = self.source_of_now() else { return };
        let pending: Vec<Op> = self.state.graph().pending().cloned().collect();
        self.stand_on(source);
        // The reader that is gone kept SQLite's log from being begun anew, and so would one that reads a part of it.
        super::fold(&self.root);
        if let Some(source) = self.source_of_now() {
            self.stand_on(source);
        }
        self.state.offer(pending);
        self.state.refresh();
    }

    /// Opens the checkpoint if it has exactly what this store knows: another process may have brought it further.
    fn source_of_now(&self) -> Option<Box<Source>> {
        match Source::open(&self.root, &self.log) {
            Opened::Ready(source) if source.offset == self.offset && source.sum == self.sum => Some(source),
            _ => None,
        }
    }

    /// Brings the checkpoint to where the log is. Failing to is no failure of the store.
    pub fn checkpoint(&mut self) {
        if self.rehearsed.is_some()
            || self.damage.is_some()
            || self.mixed
            || self.sound().is_err()
            || !self.is_checkpoint_due()
        {
            return;
        }
        let anew = self.marked.is_none() || !self.inner("store.crdt").exists();
        if anew && (!self.state.is_whole() || self.placed_from != 0 && self.place_all().is_err()) {
            return;
        }
        // An op in the log that waits for a parent would be forgotten: then the log alone must do.
        if self.placed.keys().any(|id| !self.state.graph().has(*id)) {
            return;
        }
        let touched = self.state.take_touched();
        let progress = Progress {
            state: &self.state,
            touched: &touched,
            placed: &self.placed,
            from: self.marked.filter(|_| !anew),
            end: self.offset,
            sum: &self.sum,
            chain: &self.chain,
            withdrawn: &self.withdrawn,
        };
        if let Err(message) = super::write(&self.root, &self.log, &progress) {
            self.notices.push(message);
            self.marked = None;
            return;
        }
        self.marked = Some(self.offset);
        self.restamp = false;
        self.placed.clear();
        self.placed_from = self.offset;
        self.checkpointed = true;
        if self.source.is_none() {
            super::fold(&self.root);
        }
    }

    /// Returns whether the checkpoint stands where the state does.
    pub(in crate::strand::store) fn is_at_checkpoint(&self) -> bool {
        self.rehearsed.is_none() && self.damage.is_none() && !self.mixed && self.marked == Some(self.offset)
    }

    fn is_checkpoint_due(&self) -> bool {
        self.restamp || self.marked != Some(self.offset) || !self.inner("store.crdt").exists()
    }

    /// Finds the place of every op.
    fn place_all(&mut self) -> Result<(), Error> {
        let entries = self.log.read()?;
        self.placed = entries.ops.iter().map(|op| op.id).zip(entries.places).collect();
        let archived = entries.base.into_iter().flat_map(|base| base.ops);
        self.placed.extend(archived.map(|archived_op| (archived_op.node.op.id, archived_op.place)));
        self.placed_from = 0;
        Ok(())
    }
}
