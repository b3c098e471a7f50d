//! Definitions of the workspace's source files: found by selectors, in the files a selector names, else in all that git
//! would find; and the places where they are mentioned.
//!
//! The files are the truth, and are read when they are asked for. One that was read before and has the same stamp is
//! passed over where it cannot hold the name.

mod fault;
mod find;
mod label;
mod near;
mod sources;

pub use fault::FindFault;
pub use find::{DefinitionFinder, FindNotes, FoundFile, SecretFiles, VisitEnd};
pub use label::label;
pub use sources::{FoundMention, SourceFiles};
