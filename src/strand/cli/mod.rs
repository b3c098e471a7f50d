//! The `strand` command. Thin over the façade: results on stdout, messages on stderr.

mod admin;
mod args;
mod exchange;
mod fix;
mod out;
mod perform;
mod read;
mod run;
mod session;
mod tools;
mod write;

pub use super::store::TouchedDefinition;
pub use session::{issuer, store_of, unknown_store};
pub use tools::{Opening, Page, Reverted, Tool, ToolAnswer, ToolCall, Tools};

use std::ffi::OsString;
use std::path::Path;

use clap::Parser;
use serde_json::json;

use super::store::{Error, Store};
use args::{Args, Command, McpCommand, StoreCommand};
use out::Writer;
use perform::perform;
use session::{author, none_in, open, root};

/// The tools that are to be served.
pub struct Serving {
    /// The store whose tools are served; none: only those of source files are asked for.
    pub store: Option<Opening>,
    /// True if those of ordinary source files are to be served too.
    pub code: bool,
    /// True if only those that change nothing are to be served.
    pub read_only: bool,
}

/// Serves tools over the Model Context Protocol on stdin and stdout. Returns the exit code.
pub type Serve = fn(Serving) -> u8;

/// Works on definitions of ordinary source files: the words after `code`, and whether JSON is asked for before them.
/// Returns the exit code.
pub type RunCode = fn(Vec<OsString>, bool) -> u8;

/// Runs the command with its arguments, the program's name first. Returns the exit code.
pub fn main(args: impl IntoIterator<Item = OsString>, serve: Serve, code: RunCode) -> u8 {
    let args: Vec<OsString> = args.into_iter().collect();
    let json = args.iter().take_while(|arg| *arg != "--").any(|arg| arg == "--json");
    let args = match Args::try_parse_from(args) {
        Ok(args) => args,
        // Help and version are answers, everything else is a usage error. A closed pipe is no concern.
        Err(error) if !error.use_stderr() => {
            let _ = error.print();
            return 0;
        }
        Err(error) => return out::misused(&error, json),
    };
    if let Command::Code { words } = args.command {
        return code(words, args.json);
    }
    let mut out = Writer::new(&args);
    match dispatch(args, &mut out, serve) {
        Ok(code) => code,
        Err(error) => out.failure(&error),
    }
}

/// Tells on stderr why a command cannot be done by this program. Returns the exit code.
pub fn unable(why: &str) -> u8 {
    eprintln!("Error: {why}");
    2
}

/// Makes a store. One inside another would not be found from within, which is reported.
fn init(args: &Args, out: &Writer, path: Option<&Path>) -> Result<u8, Error> {
    let path = path.or(args.store.as_deref()).unwrap_or(Path::new("project.strand"));
    Store::init(path)?;
    out.answer(&path.display().to_string(), || json!({"path": path}));
    let whole = path.canonicalize().map_err(|error| Error::io("find", path, error))?;
    if let Some(outer) = whole.parent().and_then(Store::find_above) {
        out.note(&format!(
            "this store lies in that of {}, which commands given there go on using; name this one with --store",
            outer.display()
        ));
    }
    Ok(0)
}

fn dispatch(args: Args, out: &mut Writer, serve: Serve) -> Result<u8, Error> {
    if let Command::Init { path } = &args.command {
        return init(&args, out, path.as_deref());
    }
    if let Command::Store(StoreCommand::Repair) = &args.command {
        let root = root(&args)?;
        let done = Store::repair(&root).map_err(|error| none_in(&root, error))?;
        admin::repaired(out, &done);
        return Ok(0);
    }
    if let Command::Mcp(McpCommand::Serve { read_only, code }) = args.command {
        let store = match root(&args) {
            Ok(root) => Some(Opening::new(root, author(args.author), read_only, args.lock_timeout)?),
            Err(Error::NoStore) if code => None,
            Err(error) => return Err(error),
        };
        return Ok(serve(Serving { store, code, read_only }));
    }
    if let Some(code) = read::from_checkpoint(&args, out)? {
        return Ok(code);
    }
    let mut session = open(&args, out)?;
    let code = perform(&mut session, args.command, out);
    session.store.sound()?;
    session.store.checkpoint();
    for notice in session.store.take_notices() {
        out.note(&notice);
    }
    // The output rests on a part of the log only.
    match (&code, session.store.whole()) {
        (Ok(_), Err(damage)) => Ok(out.failure(&damage)),
        _ => code,
    }
}
