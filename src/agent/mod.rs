//! The agent: it owns the sessions, the workspace's archive and memory, and exchanges messages with a front end over
//! two channels.
//!
//! The supervisor hands each command to the actor of the session it is for; several sessions and their turns run side
//! by side. Files are sorted by how long what they hold lives, and name only what lives longer: `services`, `model` and
//! `background` as long as the process, `session` as long as a conversation, `turn` as long as a turn.

mod actor;
mod approval;
pub mod background;
mod changesets;
mod command;
pub mod commit;
mod events;
mod execute_proposal;
mod file_index;
mod listings;
mod model;
mod proposal_test;
mod restore;
mod services;
pub mod session;
mod start;
mod supervisor;
mod turn;

pub use approval::shell_policy;
pub use background::adopt::adopt;
pub use services::{command_rules, shell};
pub use session::export;
pub use start::{AgentHandle, AgentParts, ended, open_archive, spawn};
