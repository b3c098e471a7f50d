//! The files about keys in nebula's own folder: the agreed uses, and the stored keys.

pub(super) mod agreed;
pub(super) mod credentials;
