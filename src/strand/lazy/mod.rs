//! Lazy loading: the parts of a state that are read from a checkpoint when they are first needed.
//!
//! A state may stand on a [`LazySource`] source. Then it holds only what was asked for or has changed since; what it
//! holds counts, and the source answers for everything else. Without a source everything is held.

mod append_only_map;
mod ids;
mod names;
mod row;
mod sets;
mod source;

pub use append_only_map::AppendOnlyMap;
pub use ids::{IdHasher, IdMap, IdSet, Ids};
pub use names::{NameId, Names, name_hash};
pub use row::{At, CheckpointDefinition, Head, Mention, Name, Relation, StoredOp, StoredOps, Visibility, Watch};
pub use sets::Sets;
pub use source::{ArchiveReader, LazySource};
