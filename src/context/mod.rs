//! The parts of a prompt beside the conversation: mentions and the files they attach, rules, the templates of the
//! system prompt with what is true now, the person's own prompts, and the request made of all that.
//!
//! Reads the workspace and memory, and makes values of [`crate::provider`]. Knows no tool and no agent; writes nothing.

pub mod attach;
pub mod commit;
mod decode;
pub mod environment;
mod front_matter;
pub mod mention;
pub mod model_class;
pub mod prefix;
pub mod prompts;
pub mod request;
pub mod retrieval;
pub mod rules;
pub mod small_model;
pub mod templates;
