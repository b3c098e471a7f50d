//! The way to an open store: one is made or found, and its log is read, from its beginning or from where it was read last.

mod find;
mod make;
mod read;

pub use make::update_attributes;
