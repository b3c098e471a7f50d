//! The `strand` command. Thin over the façade: results on stdout, messages on stderr.

mod admin;
mod args;
mod exchange;
mod fix;
mod out;
mod read;
mod run;
mod session;
mod write;

use std::ffi::OsString;
use std::path::Path;

use clap::Parser;
use serde_json::json;

use super::store::{Error, Store};
use args::{Args, Command, ConflictCommand, OpCommand, PatchCommand, StoreCommand};
use out::Out;
use session::{Session, none_in, open, root};

/// Runs the command with its arguments, the program's name first. Returns the exit code.
pub fn main(args: impl IntoIterator<Item = OsString>) -> u8 {
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
    let mut out = Out::new(&args);
    match dispatch(args, &mut out) {
        Ok(code) => code,
        Err(error) => out.failure(&error),
    }
}

/// Makes a store. One that lies in another would not be found from within: that is told.
fn init(args: &Args, out: &Out, path: Option<&Path>) -> Result<u8, Error> {
    let path = path.or(args.store.as_deref()).unwrap_or(Path::new("project.strand"));
    Store::init(path)?;
    out.answer(&path.display().to_string(), || json!({"path": path}));
    let whole = std::path::absolute(path).map_err(|error| Error::io("find", path, error))?;
    if let Some(outer) = whole.parent().and_then(Store::find_above) {
        out.note(&format!(
            "this store lies in that of {}, which commands given there go on using; name this one with --store",
            outer.display()
        ));
    }
    Ok(0)
}

fn dispatch(args: Args, out: &mut Out) -> Result<u8, Error> {
    if let Command::Init { path } = &args.command {
        return init(&args, out, path.as_deref());
    }
    if let Command::Store(StoreCommand::Repair) = &args.command {
        let root = root(&args)?;
        let done = Store::repair(&root).map_err(|error| none_in(&root, error))?;
        admin::repaired(out, &done);
        return Ok(0);
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
    // What was told stands on a part of the log only.
    match (&code, session.store.whole()) {
        (Ok(_), Err(damage)) => Ok(out.failure(&damage)),
        _ => code,
    }
}

/// Runs a command on an open store. Returns its exit code.
fn perform(s: &mut Session, command: Command, out: &mut Out) -> Result<u8, Error> {
    match command {
        Command::Init { .. } | Command::Store(StoreCommand::Repair) => Ok(0),
        Command::View(view) => read::view(s, out, &view),
        Command::List { layer, hash, long } => read::list(s, out, layer.as_deref(), hash, long),
        Command::Add(add) => write::add(s, out, &add),
        Command::Replace { qname, body, check } => write::replace(s, out, &qname, &body, check),
        Command::Edit { qname, patch, check } => write::edit(s, out, &qname, &patch, check),
        Command::Rename { qname, new } => write::rename(s, out, &qname, &new),
        Command::Remove(remove) => write::remove(s, out, &remove),
        Command::Link { from, to } => write::link(s, out, &from, &to, true),
        Command::Unlink { from, to } => write::link(s, out, &from, &to, false),
        Command::Patch(PatchCommand::Apply { file, dry_run }) => exchange::apply(s, out, &file, dry_run),
        Command::Patch(PatchCommand::Revert { op, dry_run }) => write::revert(s, out, &op, dry_run),
        Command::Check(check) => fix::check(s, out, &check),
        Command::Fix(fix) => fix::fix(s, out, &fix),
        Command::Config { key: Some(key), value } => admin::config(s, out, &key, value.as_deref()),
        Command::Config { key: None, .. } => admin::settings(s, out),
        Command::Lock { owner, patterns, steal } => admin::lock(s, out, &owner, &patterns, steal),
        Command::Unlock { owner, patterns } => admin::unlock(s, out, &owner, patterns.as_deref()),
        Command::Locks => admin::locks(s, out),
        Command::Sync(sync) => admin::sync(s, out, &sync),
        Command::Conflicts { command, all } => {
            let command = command.unwrap_or(ConflictCommand::List);
            admin::conflicts(s, out, &command, all)
        }
        Command::Op(OpCommand::Log) => exchange::log(s, out),
        Command::Op(OpCommand::Show { id }) => exchange::show(s, out, &id),
        Command::Op(OpCommand::Pending) => exchange::pending(s, out),
        Command::Op(OpCommand::Push { store }) => exchange::push(s, out, store),
        Command::Op(OpCommand::Pull { store }) => exchange::pull(s, out, store),
        Command::Op(OpCommand::Bundle { since, output }) => exchange::bundle(s, out, since.as_deref(), &output),
        Command::Op(OpCommand::Merge { log }) => exchange::merge(s, out, &log),
        Command::Snapshot { dir } => exchange::snapshot(s, out, &dir),
        Command::StateHash => {
            let hash = s.store.state().state_hash();
            out.answer(&hash, || json!({"state-hash": hash}));
            Ok(0)
        }
        Command::Store(StoreCommand::Verify) => admin::verify(s, out),
        Command::Store(StoreCommand::Compact { before }) => admin::compact(s, out, &before),
        Command::Run(run) => run::run(s, out, &run),
        Command::Replay { episode, at_graph, update } => run::replay(s, out, &episode, at_graph, update),
        Command::Episodes => run::episodes(s, out),
    }
}
