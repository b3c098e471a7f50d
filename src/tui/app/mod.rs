//! `App`: all state of the screen, and `update(Msg) -> Vec<Effect>`. It routes and holds no detail.

mod msg;

pub use msg::{EditFor, Effect, LineFor, Msg, Typed};
