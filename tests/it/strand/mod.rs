//! Strand as a whole: convergence over generated histories, and the command as a person runs it.

mod chapter;
mod checkpoint;
mod command;
mod compact;
mod converge;
mod episodes;
mod hashes;
mod killed;
mod language;
mod laws;
#[cfg(all(feature = "mcp", feature = "code"))]
mod messages;
mod parallel;
mod remote;
mod road;
#[cfg(feature = "mcp")]
mod served;
mod sessions;
mod terminal;
mod trees;
mod trouble;
mod world;
