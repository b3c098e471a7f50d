//! Three-way merge, for restores over someone else's change.
