//! Small files in nebula's own folder that a run leaves for the next one.

pub mod last_request;
pub mod model_cache;
pub(super) mod text_models;
