//! The source that a state loads missing parts from.

use std::fmt::Debug;

use super::row::{At, CheckpointDefinition, Mention, Name, Relation, StoredOp, StoredOps};
use crate::strand::id::{DefId, Layer, OpId};
use crate::strand::op::Op;

/// The source of what a state does not hold. Every answer is as of one moment.
pub trait LazySource: Debug {
    /// Returns how many ops are admitted.
    fn op_count(&self) -> usize;
    /// Returns whether an op is admitted.
    fn has_op(&self, id: OpId) -> bool;
    /// Returns an admitted op with what was found out about it.
    fn op(&self, id: OpId) -> Option<StoredOp>;
    /// Returns every admitted op, in order of their ids.
    fn op_ids(&self) -> Vec<OpId>;
    /// Returns a definition as it stood.
    fn row(&self, id: DefId) -> Option<CheckpointDefinition>;
    /// Returns the ops on a definition.
    fn ops_on(&self, id: DefId) -> Option<StoredOps>;
    /// Returns every definition that has a row.
    fn row_ids(&self) -> Vec<DefId>;
    /// Returns every definition as it stood.
    fn all_rows(&self) -> Vec<CheckpointDefinition>;
    /// Returns the admitted ops that have no effect.
    fn void_ids(&self) -> Vec<OpId>;
    /// Returns the visible definition of a name.
    fn labelled(&self, layer: Layer, label: &str) -> Option<DefId>;
    /// Returns the visible definitions of a layer.
    fn labels(&self, layer: Layer) -> Vec<(String, DefId)>;
    /// Returns the live definitions that claim a name.
    fn claimants(&self, name: &Name) -> Vec<DefId>;
    /// Returns the definitions that ever had a name.
    fn holders(&self, name: &Name) -> Vec<DefId>;
    /// Returns the definitions that look a name up.
    fn late(&self, name: &Name) -> Vec<DefId>;
    /// Returns the definitions that stand to another in a relation.
    fn related(&self, relation: Relation, to: DefId) -> Vec<DefId>;
    /// Returns the live definitions that refer to another, with the places where they do.
    fn mentions(&self, of: DefId) -> Vec<Mention>;
    /// Returns the names that some claimant did not get.
    fn contested(&self) -> Vec<Name>;
}

/// The source of the texts of archived ops.
pub trait ArchiveReader: Debug {
    /// Returns the op of a line. `None` if it cannot be read; the archives remembers why.
    fn op(&self, at: At) -> Option<Op>;
}
