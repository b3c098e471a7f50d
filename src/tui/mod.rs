//! (being built)
pub mod colour;
pub mod glyphs;
pub mod text;
pub mod theme;
