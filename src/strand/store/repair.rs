//! Repairs a damaged log: keeps the transactions whose sums hold and quarantines every other line.

use std::collections::{BTreeSet, HashSet};
use std::path::{Path, PathBuf};

use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::archive::{self, Archives, base};
use super::files::read_ops;
use super::log::{header, resolve};
use super::{Error, LOCK_TIMEOUT, Log, Store, WriteLock, atomic_write, checkpoint, disk};
use crate::strand::id::{OpId, new_id, now_ms};
use crate::strand::op::Op;

/// The result of a repair.
#[derive(Clone, Debug, PartialEq)]
pub struct Repaired {
    /// The number of ops in transactions whose sums match.
    pub retained: usize,
    /// All other lines, with their numbers in the old log.
    pub quarantined: Vec<(usize, String)>,
    /// Ops that the upstream had and this log had lost.
    pub fetched: usize,
    /// The path of the old log.
    pub old_log: PathBuf,
}

impl Store {
    /// Keeps the transactions of a damaged log whose sums hold. Every other line goes to `quarantine.jsonl`; the ops
    /// that are missed then are fetched from the upstream, if there is one. An altered op is never accepted.
    ///
    /// # Errors
    /// When there is no store, or its files cannot be read or written: then the old log stands.
    pub fn repair(root: &Path) -> Result<Repaired, Error> {
        let path = root.join(".strand/op-log.jsonl");
        if !path.exists() {
            return Err(Error::NoStore);
        }
        let log = Log::new(path.clone());
        log.check_form()?;
        let (retained, old_log, quarantined) = {
            let _lock = WriteLock::wait(root, &log, LOCK_TIMEOUT, &CancellationToken::new())?;
            let old = disk::read(&path).map_err(|error| Error::io("read", &path, error))?;
            let (text, quarantined) = repaired_text(&log, &without_returns(&old))?;
            let old_log = root.join(format!(".strand/rejected/op-log-{}.jsonl", now_ms()));
            let folder = root.join(".strand/rejected");
            disk::create_folder(&folder).map_err(|error| Error::io("make", &folder, error))?;
            atomic_write(&old_log, &old)?;
            let aside = root.join(".strand/quarantine.jsonl");
            let lines: String = quarantined.iter().map(|(_, line)| format!("{line}\n")).collect();
            if !lines.is_empty() {
                disk::append_lines(&aside, &lines).map_err(|error| Error::io("append to", &aside, error))?;
            }
            let entries = log.parse(&text)?;
            let retained = entries.ops.len() + entries.base.map_or(0, |base| base.ops.len());
            if text != old {
                log.replace_text(&text)?;
            }
            // It belongs to a log that was replaced.
            checkpoint::remove(root);
            (retained, old_log, quarantined)
        };
        let fetched = Store::open(root)?.fetch_lost(&quarantined)?;
        Ok(Repaired { retained, quarantined, fetched, old_log })
    }

    /// Gives a damaged log back the line ends that it was written with, where Git converted them: the sums hold again then.
    /// Where its file cannot be written, it is read as if it had them.
    pub(super) fn restore_line_ends(&mut self) -> Result<(), Error> {
        if self.damage.is_none() {
            return Ok(());
        }
        let path = self.log.path().to_owned();
        let read = || disk::read(&path).map_err(|error| Error::io("read", &path, error));
        let is_converted = |text: &[u8]| without_returns(text).len() < text.len();
        let found = read()?;
        if !is_converted(&found) {
            return Ok(());
        }
        let rewrite = || {
            let _lock = WriteLock::wait(&self.root, &self.log, self.timeout, &self.stop)?;
            let text = read()?;
            if is_converted(&text) { self.log.replace_text(&without_returns(&text)) } else { Ok(()) }
        };
        match rewrite() {
            Ok(()) => self.read_from_log(),
            Err(_) => self.read_as_written(&without_returns(&found)),
        }
    }

    /// Reads the log from this text of it, which its file has with other line ends. One that is damaged all the same
    /// stays so.
    fn read_as_written(&mut self, text: &[u8]) -> Result<(), Error> {
        let Ok(entries) = self.log.parse(text) else { return Ok(()) };
        let pending = read_ops(&self.inner("pending.jsonl"))?;
        self.start_over();
        self.take_in(entries, pending)?;
        // In the file they stand elsewhere.
        self.placed.clear();
        self.as_written = true;
        Ok(())
    }

    /// Fetches the ops of lost lines and missing parents from the upstream. Returns how many.
    fn fetch_lost(&mut self, lost: &[(usize, String)]) -> Result<usize, Error> {
        let Some(path) = self.config.upstream.clone() else { return Ok(0) };
        let upstream = match Store::open(Path::new(&path)) {
            Ok(store) => store,
            Err(error) => {
                self.notices.push(format!("the upstream could not be asked for what is lost: {error}"));
                return Ok(0);
            }
        };
        let _lock = self.lock()?;
        let named = lost.iter().filter_map(|(_, line)| id_in(line));
        let mut wanted: BTreeSet<OpId> = named.filter(|id| !self.state.graph().has(*id)).collect();
        let mut found: Vec<Op> = Vec::new();
        loop {
            let graph = self.state.graph();
            wanted.extend(graph.pending().flat_map(|op| graph.missing(op)));
            let known: HashSet<OpId> = found.iter().map(|op| op.id).collect();
            let next = |id: &OpId| upstream.state.graph().node(*id).map(|node| node.op.clone());
            let came: Vec<Op> = wanted.iter().filter(|id| !known.contains(id)).filter_map(next).collect();
            if came.is_empty() {
                break;
            }
            self.state.offer(came.iter().cloned());
            found.extend(came);
            wanted.clear();
        }
        upstream.sound()?;
        self.state.refresh();
        found.retain(|op| self.state.graph().has(op.id));
        self.commit(&found, &[])?;
        Ok(found.len())
    }
}

/// Returns a text without the carriage returns at the ends of its lines: no line of a log is written with one, and within
/// it they are escaped.
fn without_returns(text: &[u8]) -> Vec<u8> {
    let mut lines: Vec<&[u8]> = text.split(|byte| *byte == b'\n').collect();
    // The last is not ended.
    let last = lines.len() - 1;
    lines[..last].iter_mut().for_each(|line| *line = line.strip_suffix(b"\r").unwrap_or(line));
    lines.join(&b'\n')
}

/// Returns the op-id in a line that may not be JSON any more.
fn id_in(line: &str) -> Option<OpId> {
    let after = line.split("\"op-id\":\"").nth(1)?;
    after.split('"').next().and_then(OpId::parse)
}

/// Returns a damaged log's text with nothing in it but what can be proved, and the lines that were left out.
fn repaired_text(log: &Log, text: &[u8]) -> Result<(Vec<u8>, Vec<(usize, String)>), Error> {
    let resolved = resolve(text);
    let numbered = |number: usize, line: &[u8]| (number, String::from_utf8_lossy(line).into_owned());
    let mut left: Vec<(usize, String)> =
        resolved.left.iter().map(|(number, place)| numbered(*number, &text[place.clone()])).collect();
    let head = text.get(..resolved.head).unwrap_or_default();
    let value: Value = serde_json::from_slice(head).unwrap_or_default();
    let head_holds = value.get("strand").is_some() && head.ends_with(b"\n");
    if !head_holds && !head.is_empty() {
        left.insert(0, numbered(1, head.strip_suffix(b"\n").unwrap_or(head)));
    }
    let is_base = |place: &std::ops::Range<usize>| text[place.clone()].starts_with(base::BEGINS);
    let base_kept = resolved.transactions.iter().flat_map(|found| &found.lines).any(|(_, place)| is_base(place));
    let wants_base =
        value.get("archives").is_some() || left.iter().any(|(_, line)| line.as_bytes().starts_with(base::BEGINS));
    let anew = || format!("{}\n", header(&new_id("st_"))).into_bytes();
    let mut out = if head_holds && (base_kept || !wants_base) { head.to_vec() } else { anew() };
    if (wants_base || base_kept) && !(head_holds && base_kept) {
        unpack(log, &mut out)?;
    }
    let skips_base = out != head;
    for found in &resolved.transactions {
        if skips_base && found.lines.iter().any(|(_, place)| is_base(place)) {
            continue;
        }
        for (_, place) in &found.lines {
            out.extend_from_slice(&text[place.clone()]);
            out.push(b'\n');
        }
        out.extend_from_slice(&text[found.start..found.end]);
    }
    let tail = &text[resolved.tail.min(text.len())..];
    let numbers = memchr::memchr_iter(b'\n', &text[..resolved.tail.min(text.len())]).count() + 1;
    left.extend(
        tail.split(|byte| *byte == b'\n')
            .enumerate()
            .filter(|(_, line)| !line.is_empty())
            .map(|(at, line)| numbered(numbers + at, line)),
    );
    Ok((out, left))
}

/// Puts the transactions of the archives into a log that has lost its base.
fn unpack(log: &Log, out: &mut Vec<u8>) -> Result<(), Error> {
    let archives = Archives::of(log.path());
    let folder = archive::folder(log.path());
    for number in (1..).take_while(|number| folder.join(archive::file_name(*number)).exists()) {
        let text = archives.text(number)?;
        let start = memchr::memchr(b'\n', &text).map_or(text.len(), |at| at + 1);
        out.extend_from_slice(&text[start..]);
    }
    Ok(())
}
