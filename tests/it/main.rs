//! The one integration test binary.

mod memory;
mod rules;
mod streams;
mod support;
