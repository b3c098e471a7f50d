//! Dispatches each command to its function.

use serde_json::json;

use super::args::{Command, ConflictCommand, OpCommand, PatchCommand, StoreCommand};
use super::out::Writer;
use super::session::Session;
use super::{admin, exchange, fix, read, run, write};
use crate::strand::store::Error;

/// Runs a command on an open store. Returns its exit code.
pub(super) fn perform(s: &mut Session, command: Command, out: &mut Writer) -> Result<u8, Error> {
    match command {
        Command::Init { .. } | Command::Store(StoreCommand::Repair) | Command::Mcp(_) | Command::Code { .. } => Ok(0),
        Command::View(view) => read::view(s, out, &view),
        Command::List { layer, hash, long } => read::list(s, out, layer.as_deref(), hash, long),
        Command::Add(add) => write::add(s, out, &add),
        Command::Replace { qname, body, check } => write::replace(s, out, &qname, &body, check),
        Command::Edit { qname, patch, check } => write::edit(s, out, &qname, &patch, check),
        Command::Rename { qname, new } => write::rename(s, out, &qname, &new),
        Command::Remove(remove) => write::remove(s, out, &remove),
        Command::Link { from, to } => write::link(s, out, &from, &to, true),
        Command::Unlink { from, to } => write::link(s, out, &from, &to, false),
        Command::Patch(PatchCommand::Apply { file, dry_run }) | Command::Op(OpCommand::Apply { file, dry_run }) => {
            exchange::apply(s, out, &file, dry_run)
        }
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
        Command::Op(OpCommand::Push { remote: Some(remote), .. }) => exchange::publish(s, out, &remote),
        Command::Op(OpCommand::Pull { remote: Some(remote), join, .. }) => exchange::take_in(s, out, &remote, join),
        Command::Op(OpCommand::Push { store, .. }) => exchange::push(s, out, store),
        Command::Op(OpCommand::Pull { store, .. }) => exchange::pull(s, out, store),
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
