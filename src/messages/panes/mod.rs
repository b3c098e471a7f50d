//! The words of the four panes.

pub(crate) mod archive;
pub(crate) mod chat;
pub(crate) mod diff;
pub(crate) mod graph;
pub(crate) mod past;
pub(crate) mod review;
pub(crate) mod tools;
