//! The past of the workspace, from what archive and memory hold: its files at any moment, and who wrote each line of one.
//! Nothing here writes.

mod blame;
mod error;
mod listing;
mod moment;

pub use blame::{BlamedLine, LineCause, blame};
pub use error::PastError;
pub use listing::{cause, files_of, of_path};
pub use moment::{Differing, FileThen, Moment, PathThen, REPOSITORY, differing, state_at, version_at};
