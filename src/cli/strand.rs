//! Strand's own command line: `nebula strand` and the program `strand`, with what nebula adds to it.

use std::ffi::OsString;

#[cfg(feature = "code")]
use super::code::run as run_code;
#[cfg(feature = "mcp")]
use crate::mcp::serve_store;

/// Runs a command of Strand, given with the name of the program. Returns the exit code.
pub fn strand(args: impl Iterator<Item = OsString>) -> u8 {
    crate::strand::cli::main(args, serve_store, run_code)
}

/// Says that this program reads no source files. Returns the exit code.
#[cfg(not(feature = "code"))]
fn run_code(_: Vec<OsString>, _: bool) -> u8 {
    crate::strand::cli::unable("this program was built without definitions of source files (feature code)")
}

/// Says that this program cannot serve. Returns the exit code.
#[cfg(not(feature = "mcp"))]
fn serve_store(_: crate::strand::cli::Opening) -> u8 {
    crate::strand::cli::unable("this program was built without the Model Context Protocol (feature mcp)")
}
