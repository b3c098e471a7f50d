//! Settings, ownership, sync, conflicts, and the maintenance of a store.

use std::time::Duration;

use chrono::{DateTime, NaiveDate};
use serde_json::{Value, json};

use super::args::{self, ConflictCommand};
use super::out::{Writer, plural};
use super::session::Session;
use crate::strand::check::Diagnostic;
use crate::strand::conflicts::{self, Reissued};
use crate::strand::id::{OpId, now_ms};
use crate::strand::issue::{Issuer, Refusal};
use crate::strand::store::{Before, Config, Error, Lock, Repaired, Verified, is_pattern, overlap};
use crate::strand::sync::{self, Message};

pub(super) fn config(s: &mut Session, out: &mut Writer, key: &str, value: Option<&str>) -> Result<u8, Error> {
    if let Some(value) = value {
        // Another store is found from anywhere, not only from here.
        let path = match key {
            "upstream" if !value.is_empty() => Some(absolute(value)?),
            _ => None,
        };
        let value = path.as_deref().unwrap_or(value);
        s.store.change_config(|config| Ok(config.set(key, value).map_err(Refusal::Usage)?))?;
    }
    let unknown = || Refusal::Usage(format!("there is no key '{key}'; there are {}", Config::KEYS.join(", ")));
    let now = s.store.config().get(key).ok_or_else(unknown)?;
    out.answer(&now, || json!({"key": key, "value": now}));
    Ok(0)
}

/// Prints every setting.
pub(super) fn settings(s: &mut Session, out: &mut Writer) -> Result<u8, Error> {
    let value = |key: &str| s.store.config().get(key).unwrap_or_default();
    if out.json {
        out.value(&Config::KEYS.iter().map(|key| json!({"key": key, "value": value(key)})).collect());
        return Ok(0);
    }
    Config::KEYS.iter().for_each(|key| out.line(format!("{key} {}", value(key)).trim_end()));
    Ok(0)
}

/// Returns the whole path of another store.
fn absolute(value: &str) -> Result<String, Error> {
    let path = std::fs::canonicalize(value).ok().filter(|path| path.join(".strand").is_dir());
    let path = path.ok_or_else(|| Error::NotFound(format!("there is no store in {value}")))?;
    Ok(path.display().to_string())
}

fn show_locks(s: &Session, out: &Writer) -> Result<u8, Error> {
    let locks = s.store.locks()?;
    if out.json {
        out.value(&json!(locks));
    } else {
        locks.iter().for_each(|lock| out.line(&format!("{} {}", lock.owner, lock.pattern)));
    }
    Ok(0)
}

pub(super) fn locks(s: &mut Session, out: &mut Writer) -> Result<u8, Error> {
    show_locks(s, out)
}

pub(super) fn lock(s: &mut Session, out: &mut Writer, owner: &str, patterns: &str, steal: bool) -> Result<u8, Error> {
    let owner = owner.split_once(':').map_or(owner, |(_, id)| id);
    if !crate::strand::op::author_is_valid(&format!("agent:{owner}")) {
        return Err(Refusal::Usage(format!("'{owner}' is not the id of an author")).into());
    }
    let listed: Vec<&str> = patterns.split(',').map(str::trim).filter(|pattern| !pattern.is_empty()).collect();
    if listed.is_empty() {
        return Err(Refusal::Usage("name a pattern such as slot.todos*".to_owned()).into());
    }
    if let Some(pattern) = listed.iter().find(|pattern| !is_pattern(pattern)) {
        return Err(Refusal::Usage(format!("'{pattern}' is no pattern: use layer.name with * and ?")).into());
    }
    s.store.change_locks(|locks| give(locks, owner, &listed, steal))?;
    if out.json {
        return show_locks(s, out);
    }
    out.line(&format!("locked {patterns} for {owner}"));
    Ok(0)
}

/// Gives patterns to an owner; those of others that overlap are in the way, or go with `steal`.
fn give(locks: &mut Vec<Lock>, owner: &str, patterns: &[&str], steal: bool) -> Result<(), Error> {
    for pattern in patterns {
        let other = locks.iter().find(|lock| lock.owner != owner && overlap(&lock.pattern, pattern));
        if let Some(other) = other.filter(|_| !steal) {
            let message = format!("{pattern} overlaps {}, which is owned by {}", other.pattern, other.owner);
            return Err(Refusal::Locked(message).into());
        }
        locks.retain(|lock| lock.owner == owner || !overlap(&lock.pattern, pattern));
        if !locks.iter().any(|lock| lock.owner == owner && lock.pattern == *pattern) {
            locks.push(Lock { owner: owner.to_owned(), pattern: (*pattern).to_owned(), since: now_ms() });
        }
    }
    Ok(())
}

pub(super) fn unlock(s: &mut Session, out: &mut Writer, owner: &str, patterns: Option<&str>) -> Result<u8, Error> {
    let wanted: Option<Vec<&str>> = patterns.map(|patterns| patterns.split(',').map(str::trim).collect());
    let listed = |lock: &Lock| wanted.as_ref().is_none_or(|wanted| wanted.contains(&lock.pattern.as_str()));
    let mut gone = 0;
    s.store.change_locks(|locks| {
        let before = locks.len();
        locks.retain(|lock| lock.owner != owner || !listed(lock));
        gone = before - locks.len();
        if gone == 0 { Err(Error::NotFound(format!("{owner} owns nothing like that"))) } else { Ok(()) }
    })?;
    if out.json {
        return show_locks(s, out);
    }
    out.line(&format!("unlocked {gone} for {owner}"));
    Ok(0)
}

pub(super) fn sync(s: &mut Session, out: &mut Writer, args: &args::Sync) -> Result<u8, Error> {
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
    if args.watch {
        return watch(s, out, &options, &issuer);
    }
    let done = sync::sync(&mut s.store, &options, &issuer)?;
    tell_sync(out, &done, args.dry_run);
    Ok(u8::from(!done.is_clean()))
}

fn tell_sync(out: &Writer, done: &sync::Synced, plan: bool) {
    for message in &done.messages {
        match message {
            Message::Warning(words) => out.note(&format!("Warning: {words}")),
            Message::Refused(words) => out.refused(words),
            Message::Unparsed(faults) => out.unparsed(faults),
        }
    }
    if plan && !out.json {
        done.plan.iter().for_each(|line| out.line(line));
    }
    out.answer(&done.summary(), || done.to_json());
}

/// Syncs again whenever files or store changed and have been unchanged for a moment, until it is interrupted. Errors
/// are reported, and the next change is waited for.
fn watch(s: &mut Session, out: &mut Writer, options: &sync::Options, issuer: &Issuer) -> Result<u8, Error> {
    const PAUSE: Duration = Duration::from_millis(200);
    let mut first = true;
    loop {
        // Taken before the sync: a file written meanwhile is another change.
        let seen = sync::stamp(&s.store);
        match sync::sync(&mut s.store, options, issuer) {
            Ok(done) => {
                if first || !done.is_idle() {
                    tell_sync(out, &done, false);
                }
                s.store.checkpoint();
            }
            Err(error) => {
                out.failure(&error);
            }
        }
        if std::mem::take(&mut first) {
            out.note("watching for changes; Ctrl-C ends it");
        }
        let mut last = seen.clone();
        loop {
            std::thread::sleep(PAUSE);
            let now = sync::stamp(&s.store);
            if now != seen && now == last {
                break;
            }
            last = now;
        }
    }
}

pub(super) fn conflicts(s: &mut Session, out: &mut Writer, command: &ConflictCommand, all: bool) -> Result<u8, Error> {
    let known = conflicts::list(&s.store, all)?;
    match command {
        ConflictCommand::List => {
            if out.json {
                let values = known.recorded.iter().map(|conflict| conflict.to_json());
                out.value(&values.chain(known.merged.iter().map(|finding| finding.to_json())).collect());
                return Ok(0);
            }
            for conflict in &known.recorded {
                let about = conflicts::about(conflict);
                let line = format!("{} {} {} {about}", conflict.id, conflict.kind, conflict.status);
                out.line(line.trim_end());
            }
            known.merged.iter().for_each(|finding| out.line(&format!("{} {}", finding.id(), finding.message)));
        }
        ConflictCommand::Show { id } => match known.finding(id) {
            Some(finding) => out.line(&format!("{:#}", finding.to_json())),
            None => out.line(&format!("{:#}", conflicts::recorded(&s.store, id)?.to_json())),
        },
        ConflictCommand::Resolve { id } => {
            conflicts::keep(&s.store, &known, id)?;
            out.answer(&format!("resolved {id}"), || json!({"resolved": id}));
        }
        ConflictCommand::Reissue { id } => {
            let Reissued { written, unmarked } = conflicts::take(&mut s.store, &known, id, &s.issuer)?;
            let ids: Vec<Value> = written.ops.iter().map(|op| json!(op.id)).collect();
            let lines: Vec<String> = written.ops.iter().map(|op| op.id.to_string()).collect();
            let diagnostics: Vec<Value> = written.new_faults.iter().map(Diagnostic::to_json).collect();
            out.answer(&lines.join("\n"), || json!({"op-ids": ids, "diagnostics": diagnostics}));
            out.new_faults(&written.new_faults);
            if let Some(error) = unmarked {
                out.note(&format!("{id} could not be marked as decided, so it stays listed: {error}"));
            }
        }
    }
    Ok(0)
}

pub(super) fn verify(s: &mut Session, out: &mut Writer) -> Result<u8, Error> {
    let Verified { now, rebuilt, difference } = s.store.verify()?;
    let equal = now == rebuilt && difference.is_none();
    let words = match &difference {
        _ if equal => format!("ok {now}"),
        Some(what) => format!("different: {now}, rebuilt {rebuilt}; {what}"),
        None => format!("different: {now}, rebuilt {rebuilt}"),
    };
    let value = || json!({"equal": equal, "state-hash": now, "rebuilt": rebuilt, "difference": difference});
    out.answer(&words, value);
    Ok(if equal { 0 } else { 7 })
}

/// Tells what a repair did.
pub(super) fn repaired(out: &Writer, done: &Repaired) {
    let fetched =
        if done.fetched > 0 { format!(", fetched {} from the upstream", done.fetched) } else { String::new() };
    let aside = match done.quarantined.len() {
        0 => String::new(),
        1 => "; 1 line is in .strand/quarantine.jsonl".to_owned(),
        lines => format!("; {lines} lines are in .strand/quarantine.jsonl"),
    };
    let mut text =
        format!("kept {}{fetched}{aside}; the old log is {}", plural(done.retained, "op"), done.old_log.display());
    for (number, line) in &done.quarantined {
        let first: String = line.chars().take(100).collect();
        text.push_str(&format!("\n  line {number}: {first}"));
    }
    out.answer(&text, || {
        let lines: Vec<Value> =
            done.quarantined.iter().map(|(line, text)| json!({"line": line, "text": text})).collect();
        json!({"kept": done.retained, "fetched": done.fetched, "quarantined": lines, "old_log": done.old_log})
    });
}

/// Returns the op or the time that a person named.
fn before(text: &str) -> Result<Before, Error> {
    if let Some(id) = OpId::parse(text) {
        return Ok(Before::Op(id));
    }
    let time = DateTime::parse_from_rfc3339(text).map(|time| time.timestamp_millis());
    let day = || NaiveDate::parse_from_str(text, "%Y-%m-%d").ok()?.and_hms_opt(0, 0, 0);
    let time = time.ok().or_else(|| day().map(|day| day.and_utc().timestamp_millis()));
    time.map(Before::Time).ok_or_else(|| {
        Refusal::Usage(format!("'{text}' is no op-id and no date: use op_…, 2026-11-21 or 2026-11-21T10:00:00Z")).into()
    })
}

pub(super) fn compact(s: &mut Session, out: &mut Writer, text: &str) -> Result<u8, Error> {
    let done = s.store.compact(before(text)?)?;
    let (was, is) = done.log_bytes;
    let line = format!(
        "moved {} to {} ({} bytes); the log holds {} beside them, {was} bytes became {is}",
        plural(done.moved, "op"),
        done.archive.display(),
        done.archive_bytes,
        plural(done.left, "op"),
    );
    out.answer(&line, || {
        json!({
            "archive": done.archive, "moved": done.moved, "left": done.left, "log_bytes": [was, is],
            "archive_bytes": done.archive_bytes, "state_hash": done.state_hash,
        })
    });
    Ok(0)
}
