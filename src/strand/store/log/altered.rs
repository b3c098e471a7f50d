//! Notices that a log was changed otherwise than by appending, while a process has it open: the sums of what was read of
//! it are checked again then.

use std::io::{BufRead, BufReader, Seek, SeekFrom};
use std::os::unix::fs::MetadataExt;

use serde_json::Value;

use super::{Log, merged};
use crate::strand::store::position::{Chain, fold_chain};
use crate::strand::store::{Error, disk};

/// The bytes of log that are looked through at each call once another process appended to it, which looked at it itself.
/// A log whose lines a union merge mixed is read whole by the call that comes to them.
const AT_ONCE: u64 = 1 << 20;

/// The state of the file of a log at one moment; whoever writes to it makes it another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct LogStamp {
    file: (u64, u64),
    length: u64,
    written: (i64, i64),
    changed: (i64, i64),
}

/// The state of a log's file as it was read or written last, and the check of its sums, if one is going on.
#[derive(Debug, Default)]
pub struct LogWatch {
    seen: Option<LogStamp>,
    check: Option<SumCheck>,
    /// True if the file changed since the check began.
    again: bool,
}

impl LogWatch {
    /// Notes the file as this process left it.
    pub fn note(&mut self, log: &Log) {
        self.seen = log.stamp().ok();
    }

    /// Returns whether a log is still what was read of it up to `offset`, where all sums were chained to this one. Once
    /// others wrote to it, its sums are checked again: all of them at once where it did not only grow, else a piece at each
    /// call. `anew`: everything is read again in any case.
    ///
    /// # Errors
    /// When the log cannot be read.
    pub fn is_unaltered(&mut self, log: &Log, (offset, chain): (u64, Chain), anew: bool) -> Result<bool, Error> {
        let now = log.stamp()?;
        let before = self.seen.replace(now).unwrap_or(now);
        if anew {
            *self = LogWatch { seen: self.seen, ..LogWatch::default() };
            return Ok(true);
        }
        let grew = now.file == before.file && now.length > before.length;
        let begun = || Some(SumCheck::new(offset, chain));
        if now != before {
            self.again = grew && self.check.is_some();
            if !self.again {
                self.check = begun();
            }
        }
        let Some(check) = &mut self.check else { return Ok(true) };
        let Some(holds) = check.read_on(log, if grew || now == before { AT_ONCE } else { u64::MAX })? else {
            return Ok(true);
        };
        let (end, wanted) = (check.end, check.wanted);
        // A union merge may have put lines of two logs between each other: these sums are found in the whole log alone,
        // which is read here.
        let holds = holds || log.chain_to(end)? == Some(wanted);
        self.check = if holds && std::mem::take(&mut self.again) { begun() } else { None };
        Ok(holds)
    }
}

impl Log {
    fn stamp(&self) -> Result<LogStamp, Error> {
        let meta = disk::open(&self.path).and_then(|file| file.metadata());
        let meta = meta.map_err(|error| Error::io("read", &self.path, error))?;
        Ok(LogStamp {
            file: (meta.dev(), meta.ino()),
            length: meta.len(),
            written: (meta.mtime(), meta.mtime_nsec()),
            changed: (meta.ctime(), meta.ctime_nsec()),
        })
    }
}

/// A check of the sums of a log from its beginning on, which may be made piece by piece and keeps nothing of it.
#[derive(Debug)]
struct SumCheck {
    /// The offset up to which they were checked.
    at: u64,
    /// The offset up to which they are to be.
    end: u64,
    /// The chained sums of all commit lines up to there.
    wanted: Chain,
    chain: Chain,
    /// The lines since the last commit line.
    hasher: blake3::Hasher,
    lines: u64,
}

impl SumCheck {
    fn new(end: u64, wanted: Chain) -> SumCheck {
        SumCheck { at: 0, end, wanted, chain: Chain::default(), hasher: blake3::Hasher::new(), lines: 0 }
    }

    /// Goes on for about so many bytes. Returns whether all sums hold and are those that were known; `None`: more is left.
    fn read_on(&mut self, log: &Log, most: u64) -> Result<Option<bool>, Error> {
        let failed = |error| Error::io("read", &log.path, error);
        let mut file = disk::open(&log.path).map_err(failed)?;
        file.seek(SeekFrom::Start(self.at)).map_err(failed)?;
        let (mut reader, mut line) = (BufReader::with_capacity(1 << 16, file), Vec::new());
        let stop = self.at.saturating_add(most);
        while self.at < self.end {
            if self.at >= stop {
                return Ok(None);
            }
            line.clear();
            reader.read_until(b'\n', &mut line).map_err(failed)?;
            if !self.holds(&line) {
                return Ok(Some(false));
            }
        }
        Ok(Some(self.at == self.end && self.lines == 0 && self.chain == self.wanted))
    }

    /// Takes in the next line. Returns false where it shows that the log is another.
    fn holds(&mut self, whole: &[u8]) -> bool {
        let Some(line) = whole.strip_suffix(b"\n") else { return false };
        let is_first = self.at == 0;
        self.at += whole.len() as u64;
        if is_first {
            // No sum covers the head.
            return serde_json::from_slice::<Value>(line).is_ok_and(|head| head.get("strand").is_some());
        }
        let Some(commit) = merged::commit(line) else {
            self.hasher.update(whole);
            self.lines += 1;
            return true;
        };
        let covers_all = commit.merged && self.lines == 0;
        let is_closed = covers_all || commit.lines == self.lines && *commit.sum == *self.hasher.finalize().to_hex();
        fold_chain(&mut self.chain, &commit.sum);
        self.hasher.reset();
        self.lines = 0;
        is_closed
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{self, OpenOptions};
    use std::io::Write;
    use std::time::{Duration, SystemTime};

    use super::*;
    use crate::strand::id::{Layer, QName};
    use crate::strand::issue::{Draft, Issuer};
    use crate::strand::store::Store;

    fn add(store: &mut Store, name: &str) -> Result<(), Error> {
        let body = format!("Text = \"of {name}\"");
        let draft = Draft::Add { qname: QName::new(Layer::Slot, name), body, doc: None, def: None };
        store.issue(&[draft], &Issuer::new("user:me"), false).map(drop)
    }

    /// Puts other bytes of the same length into the log, in its file as it stands. The time of it is one that no write had:
    /// two within one tick of the clock may have the same.
    fn alter(store: &Store, from: &str, to: &str) {
        let text = fs::read_to_string(store.log().path()).unwrap();
        let mut file = OpenOptions::new().write(true).open(store.log().path()).unwrap();
        file.write_all(text.replacen(from, to, 1).as_bytes()).unwrap();
        file.set_modified(SystemTime::now() + Duration::from_secs(1)).unwrap();
    }

    fn has(store: &Store, name: &str) -> bool {
        store.state().named(&QName::new(Layer::Slot, name)).is_some()
    }

    /// A store of three definitions, and another process that has it open.
    fn opened() -> (tempfile::TempDir, Store, Store) {
        let dir = tempfile::tempdir().unwrap();
        let mut store = Store::init(dir.path()).unwrap();
        ["a", "b", "c"].iter().for_each(|name| add(&mut store, name).unwrap());
        let other = Store::open(dir.path()).unwrap();
        (dir, store, other)
    }

    #[test]
    fn a_log_that_is_damaged_in_place_is_noticed_by_who_has_it_open() {
        let (dir, mut store, _) = opened();
        alter(&store, "of b", "of x");
        assert_eq!(add(&mut store, "d").unwrap_err().kind(), "corrupt");
        let reported = store.whole().unwrap_err().to_string();
        assert!(reported.contains("op-log.jsonl line 5: the sum does not hold"), "{reported}");
        store.catch_up().unwrap();
        assert_eq!(["a", "b", "c", "d"].map(|name| has(&store, name)), [true, false, false, false]);
        let damaged = fs::read(store.log().path()).unwrap();
        assert_eq!(add(&mut store, "d").unwrap_err().kind(), "corrupt");
        assert_eq!(fs::read(store.log().path()).unwrap(), damaged, "nothing is written");
        // Once it is repaired the same process writes again.
        Store::repair(dir.path()).unwrap();
        add(&mut store, "d").unwrap();
        assert_eq!(["a", "b", "c", "d"].map(|name| has(&store, name)), [true, false, true, true]);
        store.whole().unwrap();
    }

    #[test]
    fn damage_before_what_another_process_appended_is_noticed_too() {
        let (_dir, mut store, mut other) = opened();
        add(&mut other, "d").unwrap();
        alter(&store, "of b", "of x");
        store.catch_up().unwrap();
        assert!(store.whole().is_err() && has(&store, "a") && !has(&store, "c"));
        assert_eq!(add(&mut other, "e").unwrap_err().kind(), "corrupt");
    }

    #[test]
    fn appending_is_no_damage_and_costs_no_look_at_the_whole_log() {
        let (_dir, mut store, mut other) = opened();
        for name in ["d", "e", "f"] {
            add(&mut store, name).unwrap();
            assert!(store.log_watch.check.is_none(), "its own writes are known");
            other.catch_up().unwrap();
            assert!(has(&other, name));
        }
        // A file that was touched is what it was.
        alter(&store, "of b", "of b");
        add(&mut store, "g").unwrap();
        assert!(has(&store, "g") && store.state().graph().len() == 7);
    }

    #[test]
    fn the_sums_of_a_log_are_checked_piece_by_piece() {
        let (_dir, store, _) = opened();
        let log = store.log();
        let pieces = |check: &mut SumCheck| {
            for piece in 1.. {
                if let Some(holds) = check.read_on(log, 1).unwrap() {
                    return (piece, holds);
                }
            }
            unreachable!("it ends")
        };
        // The head, and an op and a commit line three times, each of them a piece.
        assert_eq!(pieces(&mut SumCheck::new(store.offset, store.chain)), (7, true));
        let mut check = SumCheck::new(store.offset, store.chain);
        assert_eq!(check.read_on(log, u64::MAX).unwrap(), Some(true));
        assert!(!pieces(&mut SumCheck::new(store.offset, Chain::default())).1, "another log");
        assert!(!pieces(&mut SumCheck::new(store.offset - 1, store.chain)).1, "no end of a transaction");
        let mut check = SumCheck::new(store.offset, store.chain);
        assert_eq!(check.read_on(log, 1).unwrap(), None);
        alter(&store, "of c", "of x");
        assert!(!pieces(&mut check).1);
    }
}
