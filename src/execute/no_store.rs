//! A program without Strand stores takes nothing back in one.

use super::{Executed, Restorer, Stores};
use crate::archive::{Id, StoreOps};
use crate::memory::ChangesetCause;
use crate::proposal::{Consent, Decided, RestorePreview};

/// Ops that a restore takes back: there are none here.
#[derive(Debug, Clone)]
pub enum NoRevert {}

pub use self::NoRevert as StoreRevert;

impl NoRevert {
    /// Returns the names of the definitions that it changes.
    pub fn definitions(&self) -> Vec<String> {
        match *self {}
    }

    /// Returns what it does as marked lines.
    pub fn marked(&self) -> String {
        match *self {}
    }

    /// Returns the folder of the store.
    pub fn store(&self) -> &str {
        match *self {}
    }

    /// Returns a preview of each definition.
    pub fn previews(&self) -> Vec<RestorePreview> {
        match *self {}
    }
}

/// Returns that ops cannot be taken back by this program.
///
/// # Errors
/// Whenever there are ops.
pub fn plan_revert(ops: &[StoreOps], _: Restorer, _: Stores<'_>) -> Result<Option<StoreRevert>, String> {
    match ops.first() {
        None => Ok(None),
        Some(ops) => {
            Err(format!("the Strand store {}: this program was built without Strand (feature strand)", ops.store))
        }
    }
}

/// Takes nothing back.
pub fn revert(revert: &StoreRevert, _: Option<&Decided>, _: (ChangesetCause, Consent), _: Stores<'_>) -> Executed {
    match *revert {}
}

/// Returns that a changeset without ops issued none; of others it is not known here.
pub fn is_issued(changeset: Id, stores: Stores<'_>) -> Option<bool> {
    stores.archive.store_ops(changeset).ok()?.is_empty().then_some(false)
}
