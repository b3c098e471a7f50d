//! `nebula mcp serve`: archive, sessions and Strand as tools for other agents.

#[cfg(feature = "mcp")]
mod archive;
#[cfg(feature = "mcp")]
mod change;
#[cfg(feature = "mcp")]
mod list;
#[cfg(feature = "mcp")]
mod refusal;
#[cfg(feature = "mcp")]
mod schema;
#[cfg(feature = "mcp")]
mod states;
#[cfg(feature = "mcp")]
mod tools;

use super::args::{Global, ServeArgs};

/// Serves until standard input ends. Returns the exit code.
#[cfg(feature = "mcp")]
pub fn serve(args: ServeArgs, global: Global) -> i32 {
    i32::from(crate::mcp::serve(move || open(&args, global)))
}

/// Says that this program cannot serve. Returns the exit code.
#[cfg(not(feature = "mcp"))]
pub fn serve(_: ServeArgs, _: Global) -> i32 {
    super::out::complain("this program was built without the Model Context Protocol (feature mcp)");
    i32::from(super::USAGE)
}

/// Opens what is asked for. The error is a message and the exit code.
#[cfg(feature = "mcp")]
fn open(args: &ServeArgs, global: Global) -> Result<Box<dyn crate::mcp::Toolbox>, (String, u8)> {
    let idle = match args.only.as_deref() {
        Some(_) if args.code => Some("--code"),
        Some("archive") => args.store.is_some().then_some("--store"),
        Some(_) => (args.allow_restore || args.sessions).then_some("--allow-restore and --sessions"),
        None => None,
    };
    if let (Some(flags), Some(only)) = (idle, args.only.as_deref()) {
        return Err((format!("--only {only} leaves nothing for {flags} to do"), super::USAGE));
    }
    let source = if args.code { Some(code_tools(global.clone(), false)?) } else { None };
    let context = super::Context::for_one(global, None).map_err(failure)?;
    context.config.warnings.iter().for_each(super::out::complain);
    let strand = match args.only.as_deref() {
        Some("archive") => None,
        only => strand(args, context.workspace.root(), only.is_some())?,
    };
    let mut parts: Vec<Box<dyn crate::mcp::Toolbox>> = Vec::new();
    if args.only.as_deref() != Some("strand") {
        parts.push(Box::new(tools::ArchiveTools::open(context, args).map_err(failure)?));
    }
    parts.extend(strand);
    parts.extend(source);
    Ok(Box::new(crate::mcp::Joined::new("nebula", parts)))
}

/// Returns an error as a message and the exit code.
#[cfg(feature = "mcp")]
fn failure(error: anyhow::Error) -> (String, u8) {
    let code = if error.is::<super::UsageError>() { super::USAGE } else { 1 };
    (super::print::one_line(&error), code)
}

/// Opens the source files of the workspace. The error is a message and the exit code.
#[cfg(all(feature = "mcp", feature = "strand", feature = "code"))]
pub(super) fn code_tools(global: Global, read_only: bool) -> Result<Box<dyn crate::mcp::Toolbox>, (String, u8)> {
    let context = super::Context::for_one(global, None).map_err(failure)?;
    Ok(Box::new(super::code::CodeTools::new(context, read_only)))
}

/// Refuses what this program was built without.
#[cfg(all(feature = "mcp", not(all(feature = "strand", feature = "code"))))]
pub(super) fn code_tools(_: Global, _: bool) -> Result<Box<dyn crate::mcp::Toolbox>, (String, u8)> {
    Err(("this program was built without definitions of source files (features strand and code)".into(), super::USAGE))
}

/// Opens the store that is named, or found. One that is only found and cannot be opened is told on standard error.
#[cfg(all(feature = "mcp", feature = "strand"))]
fn strand(
    args: &ServeArgs,
    root: &std::path::Path,
    wanted: bool,
) -> Result<Option<Box<dyn crate::mcp::Toolbox>>, (String, u8)> {
    let wanted = wanted || args.store.is_some();
    let found = crate::strand::cli::Opening::find(args.store.clone(), root);
    let opened = found.map_err(|error| (error.to_string(), error.exit())).and_then(|found| match found {
        Some(opening) => opening.open().map(Some),
        None if wanted => Err(("there is no Strand store here: name one with --store".into(), 6)),
        None => Ok(None),
    });
    match opened {
        Ok(tools) => Ok(tools.map(|tools| Box::new(tools) as Box<dyn crate::mcp::Toolbox>)),
        Err(failed) if wanted => Err(failed),
        Err((message, _)) => {
            super::out::complain(format_args!("the Strand store is not served: {message}"));
            Ok(None)
        }
    }
}

/// Refuses what this program was built without.
#[cfg(all(feature = "mcp", not(feature = "strand")))]
fn strand(
    args: &ServeArgs,
    _: &std::path::Path,
    wanted: bool,
) -> Result<Option<Box<dyn crate::mcp::Toolbox>>, (String, u8)> {
    match wanted || args.store.is_some() {
        true => Err(("this program was built without Strand (feature strand)".into(), super::USAGE)),
        false => Ok(None),
    }
}
