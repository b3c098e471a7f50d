//! The one integration test binary.

mod rules;
