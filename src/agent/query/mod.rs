//! What lives as long as one question of a front end, and is answered beside the turns.

pub mod commit;
pub mod export;
pub mod listings;
