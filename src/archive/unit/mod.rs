//! Many paths of a restore that are one line of its list: the repository, and folders that come or go with many files.

pub(super) mod listed;
pub(super) mod listing;
pub(super) mod made;
mod objects;
mod ops;
pub(super) mod repository;
pub(super) mod whole;
