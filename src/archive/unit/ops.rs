//! Changesets of ops of Strand stores: they name the ops before these are issued; the stores' own logs keep what was
//! there before.

use std::collections::BTreeSet;

use crate::archive::restore::RestoreError;
use crate::archive::{Archive, Choices, Error, Id, LastWrittenLookup, NotUndone, RestoreTarget, StoreOps, at};
use crate::proposal::{Consent, ForeignChoice, RestorePreview, RestoreStatus};

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

    /// Returns what commands did that is not brought back with their changesets, each once. What cannot be read is told as
    /// a warning where its paths are. `gone`: folders that the restore removes all the same.
    pub(in crate::archive) fn previews_of_not_undone(
        &self,
        undone: &[Id],
        gone: &BTreeSet<String>,
    ) -> Vec<RestorePreview> {
        let all = undone.iter().filter_map(|id| self.not_undone(*id).ok()).flatten();
        let all: BTreeSet<NotUndone> = all.filter(|not_undone| !gone.contains(&not_undone.what)).collect();
        let preview = |NotUndone { what, why }| RestorePreview { path: what, status: RestoreStatus::NotUndone(why) };
        all.into_iter().map(preview).collect()
    }

    /// Returns the ops that a restore takes back, those of the newest changeset first, and previews of those that stay.
    /// Whoever names files or versions takes back files alone; where what someone else changed is to stay, the ops of
    /// changesets that no one remembers do too.
    pub(in crate::archive) fn ops_to_revert(
        &self,
        request: &RestoreTarget,
        undone: &[Id],
        written: &dyn LastWrittenLookup,
        choices: &Choices,
    ) -> Result<(Vec<StoreOps>, Vec<RestorePreview>), RestoreError> {
        let count = match request {
            RestoreTarget::Version { .. } => return Ok(Default::default()),
            RestoreTarget::Undo { files, .. } if !files.is_empty() => return Ok(Default::default()),
            RestoreTarget::Undo { count, .. } => *count,
            RestoreTarget::Changesets(_) | RestoreTarget::Since(_) => 1,
        };
        let mut ids: Vec<Id> = undone.iter().copied().filter(|id| !written.failed(*id)).collect();
        ids.sort_unstable_by(|a, b| b.cmp(a));
        let keeps = choices.others == Some(ForeignChoice::Keep);
        let (mut ops, mut left) = (Vec::new(), Vec::new());
        for id in ids {
            // One that cannot be read is told as a warning where its paths are.
            let named = self.store_ops(id).unwrap_or_default();
            match keeps && !written.knows_changeset(id) {
                true => left.extend(named.iter().map(preview_of_unknown)),
                false => ops.extend(named),
            }
        }
        match ops.first() {
            Some(ops) if count > 1 => Err(RestoreError::OpsOnce(ops.store.clone())),
            _ => Ok((ops, left)),
        }
    }
}

/// Returns the preview of ops that stay because no one remembers who issued them.
fn preview_of_unknown(ops: &StoreOps) -> RestorePreview {
    let why = "nebula's memory does not know this change, which may have come with a clone; --force takes it back";
    RestorePreview {
        path: format!("{}: {}", ops.store, ops.definitions.join(", ")),
        status: RestoreStatus::Refused(why.into()),
    }
}
