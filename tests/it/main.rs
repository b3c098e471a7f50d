//! The one integration test binary.

mod edits;
mod memory;
mod rules;
mod streams;
mod support;
