//! Settings, ownership, sync, conflicts, and the care of a store.

use serde_json::{Value, json};

use super::Session;
use super::args::{self, ConflictCommand};
use super::fix::hidden_findings;
use super::out::Out;
use crate::strand::findings::findings;
use crate::strand::id::now_ms;
use crate::strand::issue::Refusal;
use crate::strand::op::Op;
use crate::strand::store::{Config, Conflict, Error, Lock, is_pattern, overlap};
use crate::strand::sync;

pub(super) fn config(s: &mut Session, out: &mut Out, key: &str, value: Option<&str>) -> Result<u8, Error> {
    let mut config = s.store.config().clone();
    if let Some(value) = value {
        config.set(key, value).map_err(Refusal::Usage)?;
        s.store.set_config(config.clone())?;
    }
    let unknown = || Refusal::Usage(format!("there is no key '{key}'; there are {}", Config::KEYS.join(", ")));
    let now = config.get(key).ok_or_else(unknown)?;
    out.answer(&now, || json!({"key": key, "value": now}));
    Ok(0)
}

fn show_locks(s: &Session, out: &Out) -> Result<u8, Error> {
    let locks = s.store.locks()?;
    if out.json {
        out.value(&json!(locks));
    } else {
        locks.iter().for_each(|lock| out.line(&format!("{} {}", lock.owner, lock.pattern)));
    }
    Ok(0)
}

pub(super) fn locks(s: &mut Session, out: &mut Out) -> Result<u8, Error> {
    show_locks(s, out)
}

pub(super) fn lock(s: &mut Session, out: &mut Out, owner: &str, patterns: &str, steal: bool) -> Result<u8, Error> {
    let owner = owner.split_once(':').map_or(owner, |(_, id)| id);
    if !crate::strand::op::author_is_valid(&format!("agent:{owner}")) {
        return Err(Refusal::Usage(format!("'{owner}' is not the id of an author")).into());
    }
    let mut locks = s.store.locks()?;
    for pattern in patterns.split(',').map(str::trim).filter(|pattern| !pattern.is_empty()) {
        if !is_pattern(pattern) {
            return Err(Refusal::Usage(format!("'{pattern}' is no pattern: use layer.name with * and ?")).into());
        }
        let other = locks.iter().find(|lock| lock.owner != owner && overlap(&lock.pattern, pattern));
        if let Some(other) = other.filter(|_| !steal) {
            let message = format!("{pattern} overlaps {}, which is owned by {}", other.pattern, other.owner);
            return Err(Refusal::Locked(message).into());
        }
        locks.retain(|lock| lock.owner == owner || !overlap(&lock.pattern, pattern));
        if !locks.iter().any(|lock| lock.owner == owner && lock.pattern == pattern) {
            locks.push(Lock { owner: owner.to_owned(), pattern: pattern.to_owned(), since: now_ms() });
        }
    }
    s.store.set_locks(&locks)?;
    if out.json {
        return show_locks(s, out);
    }
    out.line(&format!("locked {patterns} for {owner}"));
    Ok(0)
}

pub(super) fn unlock(s: &mut Session, out: &mut Out, owner: &str, patterns: Option<&str>) -> Result<u8, Error> {
    let mut locks = s.store.locks()?;
    let before = locks.len();
    let wanted: Option<Vec<&str>> = patterns.map(|patterns| patterns.split(',').map(str::trim).collect());
    let listed = |lock: &Lock| wanted.as_ref().is_none_or(|wanted| wanted.contains(&lock.pattern.as_str()));
    locks.retain(|lock| lock.owner != owner || !listed(lock));
    if locks.len() == before {
        return Err(Error::NotFound(format!("{owner} owns nothing like that")));
    }
    s.store.set_locks(&locks)?;
    if out.json {
        return show_locks(s, out);
    }
    out.line(&format!("unlocked {} for {owner}", before - locks.len()));
    Ok(0)
}

pub(super) fn sync(s: &mut Session, out: &mut Out, args: &args::Sync) -> Result<u8, Error> {
    let direction = match (args.to_files, args.to_store) {
        (true, _) => sync::Direction::ToFiles,
        (_, true) => sync::Direction::ToStore,
        _ => sync::Direction::Both,
    };
    let removal = match (args.cascade, args.force) {
        (true, _) => crate::strand::issue::Removal::Cascade,
        (_, true) => crate::strand::issue::Removal::Force,
        _ => crate::strand::issue::Removal::Refuse,
    };
    let mut issuer = s.issuer.clone();
    if !s.author_given {
        issuer.author = "strand:sync".to_owned();
    }
    let options = sync::Options { direction, removal, dry_run: args.dry_run };
    loop {
        let done = sync::sync(&mut s.store, &options, &issuer)?;
        done.messages.iter().for_each(|message| out.note(message));
        if args.dry_run && !out.json {
            done.plan.iter().for_each(|line| out.line(line));
        }
        out.answer(&done.summary(), || done.to_json());
        if !args.watch {
            return Ok(u8::from(!done.is_clean()));
        }
        // Changes are collected for a moment before the next round.
        let seen = sync::stamp(&s.store);
        while sync::stamp(&s.store) == seen {
            std::thread::sleep(std::time::Duration::from_millis(200));
        }
        s.store.catch_up()?;
    }
}

pub(super) fn conflicts(s: &mut Session, out: &mut Out, command: &ConflictCommand, all: bool) -> Result<u8, Error> {
    let stored = s.store.conflicts()?;
    let hidden = hidden_findings(s);
    let merged: Vec<_> = findings(s.store.state())
        .into_iter()
        .filter(|finding| all || (finding.is_notable() && !hidden.contains(&finding.id())))
        .collect();
    let find = |id: &str| {
        let found = stored.iter().find(|conflict| conflict.id == id && conflict.kind != "finding").cloned();
        found.ok_or_else(|| Error::NotFound(format!("there is no conflict {id}")))
    };
    match command {
        ConflictCommand::List => {
            let open = |conflict: &&Conflict| conflict.kind != "finding" && (all || conflict.status != "resolved");
            let shown: Vec<&Conflict> = stored.iter().filter(open).collect();
            if out.json {
                let values = shown.iter().map(|conflict| conflict.to_json());
                out.value(&values.chain(merged.iter().map(|finding| finding.to_json())).collect());
                return Ok(0);
            }
            for conflict in shown {
                let edges: Vec<String> = conflict.edges.iter().map(|(from, to)| format!("{from} -> {to}")).collect();
                let line = format!("{} {} {} {}", conflict.id, conflict.kind, conflict.status, edges.join(", "));
                out.line(line.trim_end());
            }
            merged.iter().for_each(|finding| out.line(&format!("{} {}", finding.id(), finding.message)));
        }
        ConflictCommand::Show { id } => match merged.iter().find(|finding| finding.id() == *id) {
            Some(finding) => out.line(&format!("{:#}", finding.to_json())),
            None => out.line(&format!("{:#}", find(id)?.to_json())),
        },
        ConflictCommand::Resolve { id } => {
            let record = match merged.iter().find(|finding| finding.id() == *id) {
                Some(finding) => Conflict {
                    id: finding.id(),
                    kind: "finding".to_owned(),
                    policy: s.store.config().policy.word().to_owned(),
                    at: now_ms(),
                    edges: Vec::new(),
                    ops: Vec::new(),
                    status: "resolved".to_owned(),
                },
                None => Conflict { status: "resolved".to_owned(), ..find(id)? },
            };
            s.store.record_conflicts(&[record])?;
            out.answer(&format!("resolved {id}"), || json!({"resolved": id}));
        }
        ConflictCommand::Reissue { id } => return reissue(s, out, find(id)?),
    }
    Ok(0)
}

/// Seals the ops of a conflict again on the present state, as one bundle.
fn reissue(s: &mut Session, out: &mut Out, conflict: Conflict) -> Result<u8, Error> {
    let ops: Vec<Op> = conflict.ops.iter().filter_map(|op| Op::from_json(op).ok()).collect();
    let issuer = s.issuer.bundled();
    let written = s.store.transact(false, |state| crate::strand::issue::reissue(state, &ops, &issuer))?;
    s.store.record_conflicts(&[Conflict { status: "resolved".to_owned(), ..conflict }])?;
    let ids: Vec<Value> = written.ops.iter().map(|op| json!(op.id)).collect();
    let lines: Vec<String> = written.ops.iter().map(|op| op.id.to_string()).collect();
    out.answer(&lines.join("\n"), || json!({"op-ids": ids}));
    out.new_faults(&written.new_faults);
    Ok(0)
}

pub(super) fn verify(s: &mut Session, out: &mut Out) -> Result<u8, Error> {
    let (now, rebuilt) = s.store.verify()?;
    let equal = now == rebuilt;
    let words = if equal { format!("ok {now}") } else { format!("different: {now}, rebuilt {rebuilt}") };
    out.answer(&words, || json!({"equal": equal, "state-hash": now, "rebuilt": rebuilt}));
    Ok(if equal { 0 } else { 7 })
}
