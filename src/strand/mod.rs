//! Strand: code as a graph of definitions, edited by structured ops instead of text diffs.

pub mod check;
pub mod graph;
pub mod hash;
pub mod id;
pub mod integrity;
pub mod issue;
pub mod lang;
pub mod op;
pub mod runtime;
pub mod state;
pub mod store;
