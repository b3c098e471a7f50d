//! The one integration test binary.

mod edits;
mod memory;
mod road;
mod rules;
mod streams;
mod support;
