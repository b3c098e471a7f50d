//! Changesets of ops of Strand stores: they name the ops before these are issued; the stores' own logs keep what was
//! there before.

use crate::archive::restore::RestoreError;
use crate::archive::{Archive, Error, Id, LastWrittenLookup, RestoreTarget, StoreOps, at};
use crate::proposal::Consent;

impl Archive {
    /// Returns the ops that a changeset issued to Strand stores.
    ///
    /// # Errors
    /// When it is not there, cannot be read, or is damaged.
    pub fn store_ops(&self, changeset: Id) -> Result<Vec<StoreOps>, Error> {
        Ok(self.read_changeset(changeset)?.ops)
    }

    /// Names the ops that are about to be issued to a Strand store, as a changeset of its own or with the files of
    /// `into`; those of the same store that it names are replaced. When this returns it is on disk.
    ///
    /// # Errors
    /// Any error of the archive: nothing is named then.
    pub fn name_ops(&self, ops: StoreOps, into: Option<Id>, consent: Consent) -> Result<Id, Error> {
        let mut lock = self.lock()?;
        let mut changeset = into.map(|id| self.read_changeset(id)).transpose()?.unwrap_or_default();
        changeset.ops.retain(|known| known.store != ops.store);
        changeset.ops.push(ops);
        changeset.approved.get_or_insert_with(|| consent.to_string());
        let id = into.unwrap_or_else(|| lock.next());
        lock.save().map_err(at(&self.folder))?;
        self.probe_step("archive: name ops").map_err(at(&self.folder))?;
        self.write_changeset(id, &changeset)?;
        Ok(id)
    }

    /// Returns the ops that a restore takes back, those of the newest changeset first. Whoever names files or versions
    /// takes back files alone.
    pub(in crate::archive) fn ops_to_revert(
        &self,
        request: &RestoreTarget,
        undone: &[Id],
        written: &dyn LastWrittenLookup,
    ) -> Result<Vec<StoreOps>, RestoreError> {
        let count = match request {
            RestoreTarget::Version { .. } => return Ok(Vec::new()),
            RestoreTarget::Undo { files, .. } if !files.is_empty() => return Ok(Vec::new()),
            RestoreTarget::Undo { count, .. } => *count,
            RestoreTarget::Changesets(_) | RestoreTarget::Since(_) => 1,
        };
        let mut ids: Vec<Id> = undone.iter().copied().filter(|id| !written.failed(*id)).collect();
        ids.sort_unstable_by(|a, b| b.cmp(a));
        // One that cannot be read is told as a warning where its paths are.
        let ops: Vec<StoreOps> = ids.into_iter().filter_map(|id| self.store_ops(id).ok()).flatten().collect();
        match ops.first() {
            Some(ops) if count > 1 => Err(RestoreError::OpsOnce(ops.store.clone())),
            _ => Ok(ops),
        }
    }
}
