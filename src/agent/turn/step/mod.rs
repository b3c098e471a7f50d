//! One step of a turn: the model's answer as it streams, then the calls and edits it asks for, each with its result.

pub mod act;
pub mod broken_off;
pub mod call_item;
mod call_question;
pub mod command;
mod comment;
pub mod context;
mod edit_records;
mod edits;
mod results;
mod running_call;
pub mod stream;
mod syntax;
pub mod tool_run;
mod undo;
mod unread_files;
