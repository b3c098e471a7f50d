//! The values that a source returns for ops, definitions and names.

use std::collections::BTreeSet;

use super::Line;
use crate::strand::hash::Hash;
use crate::strand::id::{DefId, Layer, OpId};
use crate::strand::lang::place::Place;
use crate::strand::one_or_many::OneOrMany;
use crate::strand::op::Op;

/// A layer and a name in it.
pub type Name = (Layer, String);

/// The visibility of a definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Visibility {
    /// It is visible under its label.
    Visible,
    /// Another definition of the same name replaces it.
    Absorbed(DefId),
    /// It was removed.
    Dead,
}

/// The dependencies of a definition's references.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Watch {
    /// All definitions met on the way, sorted.
    pub defs: OneOrMany<DefId>,
    /// All names looked up.
    pub names: BTreeSet<Name>,
    /// The targets of the references, sorted, each with its places.
    pub targets: OneOrMany<(DefId, OneOrMany<Place>)>,
    /// The definitions it is linked to.
    pub links: Vec<DefId>,
    /// True if it is live: then it counts among those who refer.
    pub live: bool,
}

impl Watch {
    /// Returns where the references stand that lead to a definition.
    pub fn places(&self, of: DefId) -> Option<&[Place]> {
        let at = self.targets.binary_search_by_key(&of, |(id, _)| *id).ok()?;
        self.targets.get(at).map(|(_, places)| &**places)
    }

    /// Records the place of a reference.
    pub fn note(&mut self, target: DefId, place: Place) {
        match self.targets.binary_search_by_key(&target, |(id, _)| *id) {
            Ok(at) => {
                if !self.targets[at].1.contains(&place) {
                    self.targets[at].1.push(place);
                }
            }
            Err(at) => self.targets.insert(at, (target, OneOrMany::One(place))),
        }
    }
}

/// The place of an op's whole text that was moved out of the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct At {
    /// The number of the archive.
    pub archive: u32,
    /// The offset of the piece in it, in bytes.
    pub piece: u64,
    /// The offset of its line in the unpacked piece.
    pub start: u32,
    /// The length of the line, without its newline.
    pub length: u32,
}

/// A definition that refers to another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mention {
    /// The definition that refers.
    pub id: DefId,
    /// Its layer.
    pub layer: Layer,
    /// The name it shows.
    pub label: String,
    /// The places of its references, each once.
    pub places: Vec<Place>,
}

/// The relation of one definition to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// Resolving one of its references visits the other.
    Watches,
    /// One of its references resolves to the other.
    Refers,
    /// It is linked to the other.
    Links,
}

/// An admitted op as a checkpoint has it.
#[derive(Clone, Debug)]
pub struct StoredOp {
    /// The op.
    pub op: Op,
    /// The reason why it has no effect, if it has none.
    pub void: Option<String>,
    /// The greatest `ts` among it and its ancestors.
    pub max_ts: i64,
    /// True if the `add` of its target is among its ancestors.
    pub anchored: bool,
    /// The place of its text, if `op` is without it.
    pub archived: Option<At>,
}

/// The ops on a definition as a checkpoint has them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredOps {
    /// Its layer.
    pub layer: Layer,
    /// The ops, in order of admission.
    pub ops: Vec<OpId>,
    /// The ops that no other follows.
    pub heads: Vec<OpId>,
    /// True if some were made without knowing each other.
    pub forked: bool,
    /// Their combined effect, if they are a line.
    pub line: Option<Line>,
}

/// A definition without its body.
#[derive(Clone, Debug, PartialEq)]
pub struct Head {
    /// Its identity.
    pub id: DefId,
    /// Its layer.
    pub layer: Layer,
    /// The name it shows.
    pub label: String,
    /// The name its ops claim.
    pub name: String,
    /// The op that set the name.
    pub claim: OpId,
    /// True if that op was an `add`.
    pub claimed_by_add: bool,
    /// True if it is visible.
    pub status: Visibility,
    /// The op whose body it is based on.
    pub epoch: OpId,
    /// The definition that replaced it when it was removed.
    pub settled: Option<DefId>,
    /// Its content hash.
    pub hash: Hash,
}

/// A definition as a checkpoint has it: everything but its body, which its ops make.
#[derive(Clone, Debug, PartialEq)]
pub struct CheckpointDefinition {
    /// The definition without its body.
    pub head: Head,
    /// Its canonical text with doc lines.
    pub text: String,
    /// The definitions in its hash.
    pub deps: Vec<DefId>,
    /// The dependencies of its references.
    pub watch: Watch,
    /// True if some of its ops were made without knowing each other.
    pub forked: bool,
    /// True if its text means something else than its body: a slot is read where a binder has its name.
    pub hidden: bool,
    /// True if it is live and no other live definition claims its name.
    pub alone: bool,
}
