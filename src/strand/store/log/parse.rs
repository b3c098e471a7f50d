//! Parses a part of the log: the transactions whose sums hold, up to the first damaged line.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use super::super::archive::base::{self, Base};
use super::super::position::LogPosition;
use super::commit::Commit;
use super::merged;
use crate::strand::id::OpId;
use crate::strand::op::Op;

/// The contents of a part of the log.
#[derive(Debug, Default)]
pub struct Entries {
    /// Ops in order; an op that was withdrawn later in the stretch is not among them.
    pub ops: Vec<Op>,
    /// The place of each of them.
    pub places: Vec<LogPosition>,
    /// Ops withdrawn and not accepted again.
    pub withdrawn: HashSet<OpId>,
    /// The offset after the last commit line.
    pub end: u64,
    /// The sum of the last commit line.
    pub sum: String,
    /// The end of each transaction.
    pub borders: Vec<u64>,
    /// The sum of each commit line.
    pub sums: Vec<String>,
    /// The base that replaces ops moved into archives.
    pub base: Option<Base>,
    /// The first damaged line. No entry is from its transaction or later.
    pub damage: Option<Damage>,
    /// True if the lines of transactions were mixed by a merge of two logs and no `merged` commit line follows them.
    pub mixed: bool,
}

/// A line of a log that cannot be believed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damage {
    /// Its number, from 1.
    pub line: usize,
    /// The problem with it.
    pub why: String,
}

/// The error of a commit line whose lines were altered.
const WRONG_SUM: &str = "the sum does not hold";

/// A line of the log as it is read.
enum LogLine {
    Op(Box<Op>),
    Withdraw(Vec<OpId>),
    Commit(Commit),
    Head { archives: bool },
}

fn read_line(line: &[u8]) -> Result<LogLine, String> {
    if let Some(op) = line.starts_with(b"{\"op\":").then(|| Op::from_line(line)) {
        return op.map(|op| LogLine::Op(Box::new(op)));
    }
    let value: Value = serde_json::from_slice(line).map_err(|_| unreadable(line))?;
    if let Some(commit) = Commit::read(&value) {
        return Ok(LogLine::Commit(commit));
    }
    if let Some(list) = value.get("withdraw").and_then(Value::as_array) {
        return Ok(LogLine::Withdraw(list.iter().filter_map(Value::as_str).filter_map(OpId::parse).collect()));
    }
    if value.get("strand").is_some() {
        return Ok(LogLine::Head { archives: value.get("archives").is_some() });
    }
    Op::from_json(&value).map(|op| LogLine::Op(Box::new(op))).map_err(|why| format!("it is not an op: {why}"))
}

/// Returns what is wrong with a line that is no JSON.
fn unreadable(line: &[u8]) -> String {
    let marker = [&b"<<<<<<< "[..], b"=======", b">>>>>>> ", b"||||||| "].iter().any(|mark| line.starts_with(mark));
    let why = if marker { "it is a conflict marker of Git" } else { "it is not JSON" };
    why.to_owned()
}

/// Reads the text that begins at an offset. Lines after the last commit line that are whole are a transaction that was
/// not finished: they are left out, and are no damage.
pub(super) fn parse(text: &[u8], from: u64) -> Entries {
    let mut reader = Reader { text, from, entries: Entries { end: from, ..Entries::default() }, ..Reader::default() };
    match reader.run() {
        Ok(()) => reader.finish(None),
        // Lines of two logs may stand between each other: then every transaction is found by its sum.
        Err(damage) if from == 0 && damage.why == WRONG_SUM => match merged::resolve(text).whole() {
            Some(found) => {
                let mut again = Reader { text, ..Reader::default() };
                let read = again.take_resolved(found);
                again.finish(read.err())
            }
            None => reader.finish(Some(damage)),
        },
        Err(damage) => reader.finish(Some(damage)),
    }
}

#[derive(Default)]
struct Reader<'t> {
    text: &'t [u8],
    from: u64,
    entries: Entries,
    taken: Taken,
    open: Open,
    /// True if the head announces a base.
    wants_base: bool,
}

impl<'t> Reader<'t> {
    fn run(&mut self) -> Result<(), Damage> {
        let (mut start, mut number) = (0, 0);
        while let Some(length) = memchr::memchr(b'\n', &self.text[start..]) {
            let whole = start..start + length + 1;
            start = whole.end;
            number += 1;
            self.line(whole, number)?;
        }
        self.head_is_there()
    }

    fn head_is_there(&self) -> Result<(), Damage> {
        match (self.entries.end, self.wants_base && self.entries.base.is_none()) {
            (0, _) => Err(Damage { line: 1, why: "it is not the head of a log".to_owned() }),
            (_, true) => Err(Damage { line: 2, why: "the base of the log is missing".to_owned() }),
            _ => Ok(()),
        }
    }

    fn line(&mut self, whole: std::ops::Range<usize>, number: usize) -> Result<(), Damage> {
        let damage = |why: String| Damage { line: number, why };
        let line = &self.text[whole.start..whole.end - 1];
        let place = LogPosition::of(self.from + whole.start as u64, line);
        let first = self.from == 0 && number == 1;
        if self.from == 0 && number == 2 && line.starts_with(base::BEGINS) {
            self.open.base = Some(Base::parse(line, place.offset).map_err(damage)?);
            self.open.hash(&self.text[whole]);
            return Ok(());
        }
        match read_line(line) {
            Ok(LogLine::Head { archives }) if first => {
                self.entries.end = whole.end as u64;
                self.wants_base = archives;
            }
            _ if first => return Err(damage("it is not the head of a log".to_owned())),
            Ok(LogLine::Head { .. }) => return Err(damage("it is a second head".to_owned())),
            Err(why) => return Err(damage(why)),
            // The lines it covers were read and match.
            Ok(LogLine::Commit(commit)) if commit.merged && self.open.lines == 0 => {
                self.close(whole.end, commit.sum, number)?;
            }
            Ok(LogLine::Commit(commit)) if self.open.is_closed_by(&commit) => {
                self.close(whole.end, commit.sum, number)?
            }
            Ok(LogLine::Commit(_)) => return Err(damage(WRONG_SUM.to_owned())),
            Ok(line) => {
                self.open.hash(&self.text[whole]);
                self.open.entries.push((line, place));
            }
        }
        Ok(())
    }

    /// Takes in the lines of a transaction that ends at a place of the text.
    fn close(&mut self, end: usize, sum: String, number: usize) -> Result<(), Damage> {
        let open = std::mem::take(&mut self.open);
        if open.base.is_some() {
            self.entries.base = open.base;
        }
        for (line, place) in open.entries {
            let taken = match line {
                LogLine::Op(op) => self.taken.op(*op, place),
                LogLine::Withdraw(ids) => {
                    self.taken.withdraw(ids);
                    Ok(())
                }
                LogLine::Commit(_) | LogLine::Head { .. } => Ok(()),
            };
            taken.map_err(|why| Damage { line: number, why })?;
        }
        self.entries.end = self.from + end as u64;
        self.entries.sums.push(sum.clone());
        self.entries.sum = sum;
        self.entries.borders.push(self.entries.end);
        Ok(())
    }

    /// Takes in transactions that were found by their sums.
    fn take_resolved(&mut self, found: merged::Whole) -> Result<(), Damage> {
        self.line(0..found.head, 1)?;
        for transaction in found.transactions {
            for (number, place) in transaction.lines {
                let line = &self.text[place.clone()];
                let stands = LogPosition::of(place.start as u64, line);
                if number == 2 && line.starts_with(base::BEGINS) {
                    self.open.base = Some(Base::parse(line, 0).map_err(|why| Damage { line: number, why })?);
                    continue;
                }
                self.open.entries.push((read_line(line).map_err(|why| Damage { line: number, why })?, stands));
            }
            self.close(transaction.end, transaction.sum, transaction.number)?;
        }
        self.entries.mixed = !found.closed;
        self.head_is_there()
    }

    fn finish(mut self, damage: Option<Damage>) -> Entries {
        self.entries.withdrawn = self.taken.withdrawn;
        (self.entries.ops, self.entries.places) = self.taken.ops.into_iter().flatten().unzip();
        self.entries.damage = damage;
        self.entries
    }
}

/// The contents of the closed transactions so far.
#[derive(Default)]
struct Taken {
    /// The ops in order, with their positions; none where one was withdrawn.
    ops: Vec<Option<(Op, LogPosition)>>,
    /// The index of each op among them.
    at: HashMap<OpId, usize>,
    withdrawn: HashSet<OpId>,
}

impl Taken {
    fn op(&mut self, op: Op, place: LogPosition) -> Result<(), String> {
        self.withdrawn.remove(&op.id);
        // A merge of two logs may leave an op twice.
        if let Some((known, _)) = self.at.get(&op.id).and_then(|at| self.ops[*at].as_ref()) {
            return if *known == op { Ok(()) } else { Err(format!("two ops have the id {}", op.id)) };
        }
        self.at.insert(op.id, self.ops.len());
        self.ops.push(Some((op, place)));
        Ok(())
    }

    fn withdraw(&mut self, ids: Vec<OpId>) {
        for id in ids {
            self.withdrawn.insert(id);
            if let Some(at) = self.at.remove(&id) {
                self.ops[at] = None;
            }
        }
    }
}

/// The lines of a transaction whose commit line has not come yet.
#[derive(Default)]
struct Open {
    hasher: Option<blake3::Hasher>,
    entries: Vec<(LogLine, LogPosition)>,
    base: Option<Base>,
    lines: u64,
}

impl Open {
    fn hash(&mut self, whole: &[u8]) {
        self.hasher.get_or_insert_with(blake3::Hasher::new).update(whole);
        self.lines += 1;
    }

    fn is_closed_by(&self, commit: &Commit) -> bool {
        let sum = || self.hasher.as_ref().map_or_else(|| blake3::hash(b""), blake3::Hasher::finalize);
        commit.lines == self.lines && *commit.sum == *sum().to_hex()
    }
}
