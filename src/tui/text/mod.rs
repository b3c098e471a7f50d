//! Text → styled lines at a width. Everything is measured in cells, by grapheme.

pub mod cut;
mod grammar;
pub mod highlight;
pub mod markdown;
pub mod paint;
pub mod show;
mod token;
pub mod wrap;
