//! Text → styled lines at a width. Everything is measured in cells, by grapheme.

pub mod cut;
pub mod show;
pub mod wrap;
