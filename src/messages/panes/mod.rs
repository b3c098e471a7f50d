//! The words of the panes and views, and of what is done in them.

pub(crate) mod archive;
pub(crate) mod chat;
pub(crate) mod diff;
pub(crate) mod graph;
pub(crate) mod past;
pub(crate) mod review;
#[cfg(feature = "code")]
pub(crate) mod sources;
#[cfg(feature = "strand")]
pub(crate) mod strand;
pub(crate) mod tools;
