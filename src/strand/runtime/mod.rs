//! The minimal runtime: values, evaluation, and runs recorded as episodes.

pub mod builtin;
pub mod eval;
pub mod value;
