//! The parts that live as long as one question of a front end, which is answered beside the turns.

pub mod commit;
pub mod export;
pub mod graph;
pub mod listings;
mod model_list;
mod past;
pub mod undone;
pub mod unsaved;
