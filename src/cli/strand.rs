//! Strand's own command line: `nebula strand` and the program `strand`, with what nebula adds to it.

use std::ffi::OsString;

#[cfg(feature = "code")]
use super::code::run as run_code;
use crate::strand::cli::Serving;

/// Runs a command of Strand, given with the name of the program. Returns the exit code.
pub fn strand(args: impl Iterator<Item = OsString>) -> u8 {
    crate::strand::cli::main(args, serve, run_code)
}

/// Says that this program reads no source files. Returns the exit code.
#[cfg(not(feature = "code"))]
fn run_code(_: Vec<OsString>, _: bool) -> u8 {
    crate::strand::cli::unable("this program was built without definitions of source files (feature code)")
}

/// Serves what is asked for until standard input ends. Returns the exit code.
#[cfg(feature = "mcp")]
fn serve(serving: Serving) -> u8 {
    crate::mcp::serve(move || {
        let mut parts: Vec<Box<dyn crate::mcp::Toolbox>> = Vec::new();
        if let Some(store) = serving.store {
            parts.push(Box::new(store.open()?));
        }
        if serving.code {
            parts.push(super::served::code_tools(super::args::Global::default(), serving.read_only)?);
        }
        Ok(Box::new(crate::mcp::Joined::new("strand", parts)))
    })
}

/// Says that this program cannot serve. Returns the exit code.
#[cfg(not(feature = "mcp"))]
fn serve(_: Serving) -> u8 {
    crate::strand::cli::unable("this program was built without the Model Context Protocol (feature mcp)")
}
