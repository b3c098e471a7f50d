//! Lazy loading: the parts of a state that are read from a checkpoint when they are first needed.
//!
//! A state may stand on a [`LazySource`] source. Then it holds only what was asked for or has changed since; what it
//! holds counts, and the source answers for everything else. Without a source everything is held.
//!
//! Whole commands need it. On a store of a million ops on 100,000 definitions, a release build takes, with the
//! checkpoint and from the log alone: `view` 0.01 s of the processor and 9 MiB against 23 s and 1.5 GiB, `edit` 0.02 s and
//! 11 MiB against 24 s and 1.5 GiB, `check` 5 s and 460 MiB against 25 s and 1.5 GiB, `sync --dry-run` 1.7 s and
//! 340 MiB against as much as `check`.

mod append_only_map;
mod ids;
mod line;
mod names;
mod row;
mod sets;
mod source;

pub use append_only_map::AppendOnlyMap;
pub use ids::{IdHasher, IdMap, IdSet, Ids};
pub use line::{Line, Role};
pub use names::{NameId, Names, name_hash};
pub use row::{At, CheckpointDefinition, Head, Mention, Name, Relation, StoredOp, StoredOps, Visibility, Watch};
pub use sets::Sets;
pub use source::{ArchiveReader, LazySource};
