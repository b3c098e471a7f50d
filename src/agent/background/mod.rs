//! What goes on beside the sessions as long as the process lives.

pub mod adopt;
pub mod archive_size;
pub mod maintenance;
pub mod model_facts;
pub mod reconcile;
pub mod watch;
