//! The past of the workspace, from what archive and memory hold: its files at any moment, and who wrote each line of one.
//! Nothing here writes.

mod blame;
mod moment;

pub use blame::{BlameError, BlamedLine, LineCause, blame};
pub use moment::{FileThen, Moment, MomentError, differing, state_at, version_at};
