//! The one integration test binary.

mod memory;
mod edits;
mod rules;
mod streams;
mod support;
