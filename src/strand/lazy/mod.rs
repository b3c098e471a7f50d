//! Lazy loading: the parts of a state that are read from a checkpoint when they are first needed.
//!
//! A state may stand on a [`LazySource`] source. Then it holds only what was asked for or has changed since; what it
//! holds counts, and the source answers for everything else. Without a source everything is held.

mod append_only_map;
mod names;
mod sets;

use std::collections::{HashMap, HashSet};
use std::fmt::Debug;
use std::hash::{BuildHasherDefault, Hasher};

pub use append_only_map::AppendOnlyMap;
pub use names::{Name, NameId, Names, name_hash};
pub use sets::Sets;

use super::hash::Hash;
use super::id::{DefId, Layer, OpId};
use super::lang::place::Place;
use super::op::Op;
use super::state::{Status, Watch};

/// Where a state finds what it does not hold. Every answer is as of one moment.
pub trait LazySource: Debug {
    /// How many ops are admitted.
    fn op_count(&self) -> usize;
    /// Whether an op is admitted.
    fn has_op(&self, id: OpId) -> bool;
    /// An admitted op with what was found out about it.
    fn op(&self, id: OpId) -> Option<StoredOp>;
    /// Every admitted op, in order of their ids.
    fn op_ids(&self) -> Vec<OpId>;
    /// A definition as it stood.
    fn row(&self, id: DefId) -> Option<Row>;
    /// The ops on a definition.
    fn ops_on(&self, id: DefId) -> Option<StoredOps>;
    /// Every definition that has a row.
    fn row_ids(&self) -> Vec<DefId>;
    /// Every definition as it stood.
    fn all_rows(&self) -> Vec<Row>;
    /// The admitted ops that have no effect.
    fn void_ids(&self) -> Vec<OpId>;
    /// The visible definition of a name.
    fn labelled(&self, layer: Layer, label: &str) -> Option<DefId>;
    /// The visible definitions of a layer.
    fn labels(&self, layer: Layer) -> Vec<(String, DefId)>;
    /// Live definitions that claim a name.
    fn claimants(&self, name: &Name) -> Vec<DefId>;
    /// Definitions that ever had a name.
    fn holders(&self, name: &Name) -> Vec<DefId>;
    /// Definitions that look a name up.
    fn late(&self, name: &Name) -> Vec<DefId>;
    /// Definitions that stand to another in a relation.
    fn related(&self, relation: Relation, to: DefId) -> Vec<DefId>;
    /// Live definitions that refer to another, with the places where they do.
    fn mentions(&self, of: DefId) -> Vec<Mention>;
    /// Names that some claimant did not get.
    fn contested(&self) -> Vec<Name>;
}

/// Where the whole text of an op stands that was moved out of the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct At {
    /// The number of the archive.
    pub archive: u32,
    /// Where in it the piece begins, in bytes.
    pub piece: u64,
    /// Where in the unpacked piece its line begins.
    pub start: u32,
    /// How long the line is, without its newline.
    pub length: u32,
}

/// Where the texts of archived ops are found.
pub trait ArchiveReader: Debug {
    /// The op of a line. `None` if it cannot be read; the archives remembers why.
    fn op(&self, at: At) -> Option<Op>;
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
    /// Where it refers, each place once.
    pub places: Vec<Place>,
}

/// How one definition stands to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// It meets the other on the way of a reference.
    Watches,
    /// A reference of it leads to the other.
    Refers,
    /// It is linked to the other.
    Links,
}

/// An admitted op as a checkpoint has it.
#[derive(Clone, Debug)]
pub struct StoredOp {
    /// The op.
    pub op: Op,
    /// Why it has no effect, if it has none.
    pub void: Option<String>,
    /// The greatest `ts` among it and its ancestors.
    pub max_ts: i64,
    /// Whether the `add` of its target is among its ancestors.
    pub anchored: bool,
    /// Where its text stands, if `op` is without it.
    pub archived: Option<At>,
}

/// The ops on a definition as a checkpoint has them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredOps {
    /// Its layer.
    pub layer: Layer,
    /// The ops, in order of admission.
    pub ops: Vec<OpId>,
    /// Those that no other follows.
    pub heads: Vec<OpId>,
    /// Whether some were made without knowing each other.
    pub forked: bool,
}

/// What a definition is, apart from its body.
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
    /// Whether that op was an `add`.
    pub claimed_by_add: bool,
    /// Whether it can be seen.
    pub status: Status,
    /// The op whose body it stands on.
    pub epoch: OpId,
    /// What took its place when it was removed.
    pub settled: Option<DefId>,
    /// Its content hash.
    pub hash: Hash,
}

/// A definition as a checkpoint has it: everything but its body, which its ops make.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// What it is.
    pub head: Head,
    /// Its canonical text with doc lines.
    pub text: String,
    /// What its hash is made of.
    pub deps: Vec<DefId>,
    /// What its references depend on.
    pub watch: Watch,
    /// Whether some of its ops were made without knowing each other.
    pub forked: bool,
    /// Whether its text means something else than its body: a slot is read where a binder has its name.
    pub hidden: bool,
}

/// Hashes identities, which are well spread already.
#[derive(Clone, Copy, Debug, Default)]
pub struct IdHasher(u64);

/// Builds [`IdHasher`]s.
pub type Ids = BuildHasherDefault<IdHasher>;

/// Values by identity.
pub type IdMap<V> = HashMap<OpId, V, Ids>;

/// Identities.
pub type IdSet = HashSet<OpId, Ids>;

impl Hasher for IdHasher {
    #[inline]
    fn write(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks::<8>();
        words.iter().for_each(|word| self.write_u64(u64::from_le_bytes(*word)));
        // The length keeps apart what only differs in zeros at the end.
        let last = rest.iter().fold(bytes.len() as u64, |all, byte| all << 8 | u64::from(*byte));
        self.write_u64(last);
    }

    #[inline]
    fn write_u8(&mut self, value: u8) {
        self.write_u64(u64::from(value));
    }

    #[inline]
    fn write_usize(&mut self, value: usize) {
        self.write_u64(value as u64);
    }

    #[inline]
    fn write_isize(&mut self, value: isize) {
        self.write_u64(value as u64);
    }

    #[inline]
    fn write_u32(&mut self, value: u32) {
        self.write_u64(u64::from(value));
    }

    #[inline]
    fn write_u64(&mut self, value: u64) {
        let mixed = u128::from(self.0.rotate_left(23) ^ value ^ 0xA076_1D64_78BD_642F) * 0x9E37_79B9_7F4A_7C15_u128;
        self.0 = (mixed >> 64) as u64 ^ mixed as u64;
    }

    #[inline]
    fn write_u128(&mut self, value: u128) {
        self.write_u64((value >> 64) as u64 ^ (value as u64).rotate_left(25));
    }

    #[inline]
    fn finish(&self) -> u64 {
        self.0
    }
}
