//! A client of language servers, for what cannot be told without types: the edits of a rename.
//!
//! A server is a program that runs code of the project it looks at. Whoever calls this has asked for it, in a folder that
//! the person trusts. It is started for one question and gone afterwards, with the programs it started. It writes nothing
//! through the protocol: its edit is handed out as plain places and texts, and every edit that it asks us to apply is
//! declined. What it says is material: positions are checked against the text, messages are bounded in size and time.

mod choose;
mod edits;
mod fault;
mod frames;
mod process;
mod rename;
mod session;
mod stage;
mod uri;

pub use choose::{LanguageServer, choose};
pub use edits::FileEdits;
pub use fault::LspFault;
pub use process::ServerStart;
pub use rename::{OpenText, RenameQuestion, rename};
pub use stage::main as stage_main;
