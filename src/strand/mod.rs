//! Strand: code as a graph of definitions, edited by structured ops instead of text diffs.

pub mod graph;
pub mod hash;
pub mod id;
pub mod issue;
pub mod lang;
pub mod op;
pub mod state;
