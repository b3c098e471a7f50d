//! Pure functions on text that every part of the program shares. Names nothing of the crate.

pub mod clean;
