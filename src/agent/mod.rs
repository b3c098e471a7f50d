//! The agent: it owns the sessions, the workspace's archive and memory, and exchanges messages with a front end over
//! two channels.
//!
//! The supervisor hands each command to the actor of the session it is for; several sessions and their turns run side
//! by side. A folder holds what lives equally long, and names only what lives longer:
//!
//! | folder | lives as long as |
//! |---|---|
//! | `services`, `background` | the process |
//! | `session` | a conversation |
//! | `change`, `query` | a change on its way to the disk, a question of a front end |
//! | `turn` | a turn; `turn/step` one step of it |
//!
//! The files beside them start what lives shorter: `start` the supervisor, `supervisor` the actors of sessions,
//! `actor` and `begin` the turns.

mod actor;
pub mod background;
mod begin;
mod change;
mod query;
mod services;
pub mod session;
mod start;
mod supervisor;
mod turn;

pub use background::adopt::{Adopted, adopt};
pub use change::command_event::ended as command_end;
pub use query::unsaved::UnsavedSession;
pub use query::{commit, export};
pub use services::learnt_windows::read as learnt_windows;
pub use services::model_facts::{AnswerCost, is_missing, list_or_stored, listed_facts};
pub use services::{StoreError, check_rules, command_rules, shell, with_folders};
pub use session::approval::shell_policy;
pub use start::{AgentEnd, AgentHandle, AgentParts, ended, open_archive, spawn};
