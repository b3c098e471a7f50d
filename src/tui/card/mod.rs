//! The card of a command that waits: what it would do takes the body of the screen, and the keys that decide stand above
//! the input.

pub mod body;
pub mod decide;
mod rule;
mod shell_text;
mod state;

pub use state::{CardOutcome, CardState};
