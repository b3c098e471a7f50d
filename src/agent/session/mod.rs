//! The parts that live as long as a session: its conversation, settings and prompt, and how they are kept in memory.

pub mod approval;
pub mod call_preview;
pub mod context;
pub mod conversation;
pub mod damage;
pub mod load;
pub mod message;
pub mod open;
pub mod prompt_parts;
pub mod prompt_state;
pub mod records;
pub mod settings;
pub mod summary_facts;
pub mod transcript;
pub mod unanswered;
pub mod usage;
pub mod window;
