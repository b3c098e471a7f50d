//! The op log: the source of truth. Append-only transactions of ops, each closed by a checked commit line.

mod altered;
mod commit;
mod merged;
mod parse;

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::archive::{self, Archives};
use super::position::{Chain, LogPosition, fold_chain};
use super::{Error, disk};
use crate::strand::id::{OpId, new_id, now_ms};
use crate::strand::op::Op;
pub use altered::LogWatch;
pub(super) use merged::resolve;
pub use parse::{Damage, Entries};

/// The form of log this program reads and writes.
const FORM: u64 = 1;

/// The first line of a log.
#[derive(Clone, Debug, Default)]
pub(super) struct LogHeader {
    /// The form of the log; 0 where the line is no head.
    pub form: u64,
    /// Its own length, with its newline.
    pub length: u64,
    /// The store's identity.
    pub store: String,
    /// The number of archives of what stood before the base.
    pub archives: u32,
    /// The bytes of log they hold, as the log was before.
    pub archived: u64,
    /// The length of the base, with its commit line.
    pub base: u64,
}

impl LogHeader {
    /// Returns where what was not moved begins.
    pub fn rest(&self) -> u64 {
        self.length + self.base
    }

    /// Returns the line without its newline.
    pub fn line(&self) -> String {
        let mut line = json!({"strand": FORM, "store": self.store});
        if self.archives > 0 {
            line["archives"] = json!(self.archives);
            line["archived"] = json!(self.archived);
            line["base"] = json!(self.base);
        }
        line.to_string()
    }
}

/// A transaction that was appended.
#[derive(Debug)]
pub struct Appended {
    /// The offset after its commit line.
    pub end: u64,
    /// The sum of that line.
    pub sum: String,
    /// The place of each of its lines.
    pub places: Vec<LogPosition>,
}

/// The log of one store.
#[derive(Clone, Debug)]
pub struct Log {
    path: PathBuf,
}

impl Log {
    /// Creates the log at a path.
    pub fn new(path: PathBuf) -> Log {
        Log { path }
    }

    /// Writes a log without ops for a store of an identity.
    pub(super) fn create(&self, identity: &str) -> Result<(), Error> {
        let header = header(identity);
        disk::create(&self.path, format!("{header}\n").as_bytes())
            .map_err(|error| Error::io("write", &self.path, error))
    }

    /// Returns its file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns whether a transaction with this sum ends at an offset.
    pub fn has_commit(&self, end: u64, sum: &str) -> Result<bool, Error> {
        let found = disk::open(&self.path).and_then(|file| ends_at(&file, end, sum));
        found.map_err(|error| Error::io("read", &self.path, error))
    }

    /// Returns what its first line says.
    pub(super) fn head(&self) -> Result<LogHeader, Error> {
        let mut line = Vec::new();
        let file = disk::open(&self.path).map_err(|error| Error::io("read", &self.path, error))?;
        let read = BufReader::new(file).take(LONGEST_HEAD).read_until(b'\n', &mut line);
        read.map_err(|error| Error::io("read", &self.path, error))?;
        let value: Value = serde_json::from_slice(&line).unwrap_or_default();
        let number = |name: &str| value.get(name).and_then(Value::as_u64).unwrap_or(0);
        Ok(LogHeader {
            form: number("strand"),
            length: line.len() as u64,
            store: value.get("store").and_then(Value::as_str).unwrap_or_default().to_owned(),
            archives: u32::try_from(number("archives")).unwrap_or(u32::MAX),
            archived: number("archived"),
            base: number("base"),
        })
    }

    /// Refuses a log of a newer format than this program's.
    pub(super) fn check_form(&self) -> Result<(), Error> {
        let form = self.head()?.form;
        if form > FORM { Err(Error::Newer { path: self.path.clone(), form }) } else { Ok(()) }
    }

    /// Returns where an offset would be had nothing been moved into archives.
    pub fn since_the_beginning(&self, offset: u64) -> Result<u64, Error> {
        let head = self.head()?;
        Ok(if head.archives == 0 { offset } else { offset.saturating_sub(head.rest()) + head.archived })
    }

    /// Returns the text as it would be had nothing been moved into archives.
    pub(super) fn original(&self) -> Result<Vec<u8>, Error> {
        self.check_form()?;
        let text = disk::read(&self.path).map_err(|error| Error::io("read", &self.path, error))?;
        let head = self.head()?;
        if head.archives == 0 {
            return Ok(text);
        }
        let archives = Archives::of(&self.path);
        let mut whole = archives.text(1)?;
        for number in 2..=head.archives {
            // The first line of a later one is a header of its own.
            let text = archives.text(number)?;
            let start = text.iter().position(|byte| *byte == b'\n').map_or(text.len(), |at| at + 1);
            whole.extend_from_slice(&text[start..]);
        }
        if whole.len() as u64 != head.archived {
            let folder = archive::folder(&self.path);
            return Err(Error::Archive(format!(
                "the archives in {} hold {} bytes of log instead of {}; put the right files back",
                folder.display(),
                whole.len(),
                head.archived
            )));
        }
        whole.extend_from_slice(text.get(head.rest() as usize..).unwrap_or_default());
        Ok(whole)
    }

    /// Returns every op, those in archives too, in order.
    ///
    /// # Errors
    /// When a line is damaged, or the log cannot be read.
    pub fn read_whole(&self) -> Result<Vec<Op>, Error> {
        Ok(self.parse(&self.original()?)?.ops)
    }

    /// Reads a whole text of a log, none of which may be damaged.
    pub(super) fn parse(&self, text: &[u8]) -> Result<Entries, Error> {
        let entries = parse::parse(text, 0);
        match entries.damage {
            Some(damage) => Err(self.damaged(damage)),
            None => Ok(entries),
        }
    }

    /// Returns what a damaged line is reported as.
    pub(super) fn damaged(&self, damage: Damage) -> Error {
        Error::Corrupt { path: self.path.clone(), line: damage.line, why: damage.why }
    }

    /// Returns how long the log is, in bytes.
    pub fn length(&self) -> Result<u64, Error> {
        let length = disk::open(&self.path).and_then(|log| log.metadata()).map(|meta| meta.len());
        length.map_err(|error| Error::io("read", &self.path, error))
    }

    /// Reads everything from the start, up to the first damage. Text after the last commit is not read: a transaction
    /// that was not finished never happened.
    pub fn read(&self) -> Result<Entries, Error> {
        self.read_on(0, "").map(Option::unwrap_or_default)
    }

    /// Reads on from where a transaction with this sum ended, or from the start. `None` if no such transaction ends
    /// there, or if what follows it can only be judged with what precedes it: then read everything.
    pub fn read_on(&self, from: u64, sum: &str) -> Result<Option<Entries>, Error> {
        let at = |error| Error::io("read", &self.path, error);
        let mut file = disk::open(&self.path).map_err(at)?;
        if from > 0 && !ends_at(&file, from, sum).map_err(at)? {
            return Ok(None);
        }
        file.seek(SeekFrom::Start(from)).map_err(at)?;
        let mut text = Vec::new();
        file.read_to_end(&mut text).map_err(at)?;
        let entries = parse::parse(&text, from);
        Ok(Some(entries).filter(|entries| from == 0 || entries.damage.is_none()))
    }

    /// Reads the log as it was up to and with an op.
    pub fn read_until(&self, id: OpId) -> Result<Vec<Op>, Error> {
        let mut ops = self.read_whole()?;
        if let Some(at) = ops.iter().position(|op| op.id == id) {
            ops.truncate(at + 1);
        }
        Ok(ops)
    }

    /// Reads the transactions up to an offset, counted since the beginning.
    pub fn read_prefix(&self, end: u64) -> Result<Vec<Op>, Error> {
        let mut text = self.original()?;
        text.truncate(usize::try_from(end).unwrap_or(usize::MAX));
        Ok(self.parse(&text)?.ops)
    }

    /// Returns what the sums of the commit lines up to an offset come to, if each of them holds and one ends there.
    pub(super) fn chain_to(&self, end: u64) -> Result<Option<Chain>, Error> {
        let at = |error| Error::io("read", &self.path, error);
        let mut text = Vec::new();
        disk::open(&self.path).map_err(at)?.take(end).read_to_end(&mut text).map_err(at)?;
        let Some(found) = merged::resolve(&text).whole() else { return Ok(None) };
        let mut chain = Chain::default();
        found.transactions.iter().for_each(|transaction| fold_chain(&mut chain, &transaction.sum));
        Ok(Some(chain))
    }

    /// Appends a commit line that covers everything before it. Call it under the lock only.
    pub(super) fn close_merge(&self, end: u64) -> Result<(u64, String), Error> {
        let at = |error| Error::io("read", &self.path, error);
        let mut text = disk::read(&self.path).map_err(at)?;
        text.truncate(usize::try_from(end).unwrap_or(usize::MAX));
        let (line, sum) = merged::closing_line(&text, &new_id("tx_"));
        let before =
            disk::append(&self.path, line.as_bytes()).map_err(|error| Error::io("append to", &self.path, error))?;
        Ok((before + line.len() as u64, sum))
    }

    /// Moves what follows the last commit out of the way. Call it under the lock only.
    pub fn truncate(&self, end: u64, rejected: &Path) -> Result<PathBuf, Error> {
        let at = |error| Error::io("repair", &self.path, error);
        let mut file = disk::open(&self.path).map_err(at)?;
        file.seek(SeekFrom::Start(end)).map_err(at)?;
        let mut torn = Vec::new();
        file.read_to_end(&mut torn).map_err(at)?;
        let torn_path = rejected.join(format!("torn-{}.jsonl", now_ms()));
        let keep = disk::create_folder(rejected).and_then(|()| disk::replace(&torn_path, &torn));
        keep.map_err(|error| Error::io("write", &torn_path, error))?;
        disk::cut(&self.path, end).map_err(at)?;
        Ok(torn_path)
    }

    /// Puts another text in place of this log, durably: a reader sees the one or the other.
    pub(super) fn replace_text(&self, text: &[u8]) -> Result<(), Error> {
        disk::replace(&self.path, text).map_err(|error| Error::io("write", &self.path, error))
    }

    /// Appends one transaction and makes it durable.
    pub fn append(&self, lines: &[String]) -> Result<Appended, Error> {
        let (text, sum) = transaction(lines);
        let before =
            disk::append(&self.path, text.as_bytes()).map_err(|error| Error::io("append to", &self.path, error))?;
        let mut places = Vec::with_capacity(lines.len());
        let mut offset = before;
        for line in lines {
            places.push(LogPosition::of(offset, line.as_bytes()));
            offset += line.len() as u64 + 1;
        }
        Ok(Appended { end: before + text.len() as u64, sum, places })
    }
}

/// No first line is longer than this, in bytes.
const LONGEST_HEAD: u64 = 4096;

/// Returns whether a transaction with this sum ends at an offset of an open log.
pub(super) fn ends_at(file: &File, end: u64, sum: &str) -> std::io::Result<bool> {
    // A commit line is shorter than this.
    let start = end.saturating_sub(256);
    if file.metadata()?.len() < end {
        return Ok(false);
    }
    let mut tail = vec![0; (end - start) as usize];
    file.read_exact_at(&mut tail, start)?;
    let line = tail.strip_suffix(b"\n").and_then(|text| text.rsplit(|byte| *byte == b'\n').next());
    let value: Option<Value> = line.and_then(|line| serde_json::from_slice(line).ok());
    // A log without a transaction ends after its header.
    Ok(value.is_some_and(|value| match value.get("sum").and_then(Value::as_str) {
        Some(found) => found == sum,
        None => sum.is_empty() && value.get("strand").is_some(),
    }))
}

/// Returns the first line of a log that holds no archive.
pub(super) fn header(identity: &str) -> Value {
    json!({"strand": FORM, "store": identity})
}

/// Returns the text of a transaction, and its sum.
pub(super) fn transaction(lines: &[String]) -> (String, String) {
    let mut text = String::with_capacity(lines.iter().map(|line| line.len() + 1).sum::<usize>() + 160);
    for line in lines {
        text.push_str(line);
        text.push('\n');
    }
    let sum = blake3::hash(text.as_bytes()).to_hex().to_string();
    let commit = json!({"commit": new_id("tx_"), "n": lines.len(), "sum": sum});
    text.push_str(&format!("{commit}\n"));
    (text, sum)
}
