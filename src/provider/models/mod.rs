//! The knowledge of models: by the server's own list, by a dated table, by what errors taught.

mod capabilities;
mod cost;
mod effort;
mod facts;
mod known;
mod listed;
mod store;
mod table;

pub use capabilities::Capabilities;
pub use effort::{Effort, Thinking};
pub use facts::{Facts, Model};
pub use known::Known;
pub(super) use listed::{gemini_generation, listed, writes};
pub use store::KnownModels;
pub use table::{as_of, by_name};
