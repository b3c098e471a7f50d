//! Pure functions on text that every part of the program shares. Names nothing of the crate.

pub mod clean;
pub mod definition;
pub mod distance;
pub mod id;
pub mod name;
pub mod number;
pub mod quote;
pub mod schema;
pub mod sentence;
pub mod size;
pub mod time;
pub mod width;
