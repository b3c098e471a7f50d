//! What nebula's own folder holds about keys: where the person lets them go, and those that the person asked to keep.

pub(super) mod agreed;
mod credentials;
