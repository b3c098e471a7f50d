//! The past of the workspace, from what archive and memory hold: its files at any moment, who wrote each line of one, and
//! what changed a definition of one.
//! Nothing here writes.

mod blame;
#[cfg(feature = "code")]
mod definition;
mod error;
mod listing;
mod moment;

pub use blame::{BlamedLine, LineCause, blame};
#[cfg(feature = "code")]
pub use definition::{DefinitionEdit, of_definition};
pub use error::PastError;
pub use listing::{cause, files_of, of_path};
pub use moment::{Differing, FileThen, Moment, PathThen, differing, state_at, version_at};
