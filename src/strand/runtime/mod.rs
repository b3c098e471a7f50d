//! The minimal runtime: values, evaluation, and runs recorded as episodes.

pub mod builtin;
pub mod episode;
pub mod eval;
mod replay;
pub mod run;
pub mod value;
mod world;

pub use replay::{Replay, again, perform, play, replay};
pub use world::Primitives;
