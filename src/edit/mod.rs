//! From a model's words to file changes. Pure: bytes are handed in, [`FileChange`]s come out, nothing is written.
//!
//! - [`stream::Parser`] reads a streamed answer in any chunking and tells prose from edits and calls.
//! - [`Edit`] is one change a model asked for, whatever the [`Format`] it was written in.
//! - [`apply`] places a run of edits in evolving texts and gives the changed files and a result an edit.
//! - [`locate`] is the ladder that finds the place of a search text, from exact to inexact.
//! - [`bytes`] keeps what an edit must not disturb: encoding, byte order mark, line endings, final newline.
//! - [`json`] reads the JSON that models really write.
//!
//! [`FileChange`]: crate::proposal::FileChange

pub mod bytes;
pub mod calls;
mod data;
mod format;
mod formats;
mod group;
pub mod json;
mod lines;
pub mod locate;
pub mod names;
mod op;
mod outcome;
mod path;
mod place;
pub mod stream;

pub use data::{broken_line, is_data};
pub use format::Format;
pub use group::{Current, GroupRules, Lookup, NO_FILE, PastChanges, TextRead, Wishes, apply};
pub use locate::SearchShape;
pub use op::{Edit, Op, PatchHunk};
pub use outcome::{EditOutcome, EditResult, EditStatus, UNCHANGED};
pub use path::bare as bare_path;
pub use place::unfenced;
