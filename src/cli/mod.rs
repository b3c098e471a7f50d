//! (being built)

pub mod diff;
pub mod files;
