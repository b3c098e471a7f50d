//! (being built)
mod events;
mod gate;
