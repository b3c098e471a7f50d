//! nebula: a full-screen terminal coding agent.
pub mod agent;
pub mod apply;
pub mod archive;
pub mod cli;
pub mod config;
pub mod context;
pub mod disk;
pub mod edit;
pub mod memory;
pub mod proposal;
pub mod protocol;
pub mod provider;
pub mod strand;
pub mod tools;
pub mod tui;
pub mod workspace;
