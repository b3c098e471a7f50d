//! Compaction: the older part of the log moves into an archive, and its combined effect replaces it.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use super::super::log::{Entries, LogHeader, transaction};
use super::super::{Error, Store, disk};
use super::base::{Base, Note, counting, entry};
use super::{Packed, file_name};
use crate::strand::id::OpId;
use crate::strand::issue::Refusal;
use crate::strand::state::State;

/// The part that stays in the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Before {
    /// This op, its transaction, and what follows.
    Op(OpId),
    /// Everything from the first op that is not older than this, in unix milliseconds.
    Time(i64),
}

/// The result of a compaction.
#[derive(Clone, Debug, PartialEq)]
pub struct Compacted {
    /// The new archive.
    pub archive: PathBuf,
    /// The number of ops moved into it.
    pub moved: usize,
    /// The number of ops the log still holds one by one.
    pub left: usize,
    /// Bytes of the log before and after.
    pub log_bytes: (u64, u64),
    /// Bytes of the archive.
    pub archive_bytes: u64,
    /// The hash of the state, before and after.
    pub state_hash: String,
}

impl Store {
    /// Moves the transactions before an op or a time into an archive. The log then begins with what they come to. The
    /// state is the same before and after, and so is what ops that come late do to it.
    pub fn compact(&mut self, before: Before) -> Result<Compacted, Error> {
        let _lock = self.lock()?;
        let state_hash = self.state.state_hash();
        self.sound()?;
        let text = disk::read(self.log.path()).map_err(|error| Error::io("read", self.log.path(), error))?;
        let (head, entries) = (self.log.head()?, self.log.parse(&text)?);
        let cut = self.cut(&entries, &head, before)?;
        let number = head.archives + 1;
        let old_header =
            (head.archives > 0).then(|| LogHeader { store: head.store.clone(), ..LogHeader::default() }.line());
        let from = if head.archives > 0 { head.rest() as usize } else { 0 };
        let moved = &text[from..cut as usize];
        let packed = Packed::new(old_header.as_deref(), moved).map_err(|error| Error::Io {
            what: "pack",
            path: self.log.path().to_owned(),
            source: error,
        })?;
        let made = self.moved_log(&text, &entries, &head, &packed, cut)?;
        let archive = self.archives.write(number, &packed)?;
        self.prove(&made, &state_hash, moved, number)?;
        self.log.replace_text(&made)?;
        let moved = entries.places.iter().filter(|place| place.offset < cut).count();
        self.read_from_log()?;
        self.checkpoint();
        Ok(Compacted {
            archive,
            moved,
            left: entries.ops.len() - moved,
            log_bytes: (text.len() as u64, made.len() as u64),
            archive_bytes: packed.bytes.len() as u64,
            state_hash,
        })
    }

    /// Returns where the log is to be cut: the end of the last transaction that may go with all before it.
    fn cut(&self, entries: &Entries, head: &LogHeader, before: Before) -> Result<u64, Error> {
        let graph = self.state.graph();
        if let Before::Op(id) = before {
            if !graph.has(id) {
                return Err(Error::NotFound(format!("there is no op {id}")));
            }
            if !entries.ops.iter().any(|op| op.id == id) {
                return Err(nothing(format!("{id} is in an archive already")));
            }
        }
        let upstream = self.upstream()?;
        let mut known: HashSet<OpId> =
            entries.base.iter().flat_map(|base| &base.ops).map(|retained| retained.node.op.id).collect();
        let mut listed = entries.ops.iter().zip(&entries.places).peekable();
        let (mut cut, mut stays) = (None, None);
        for border in entries.borders.iter().filter(|border| **border > head.rest()) {
            let mut ops = Vec::new();
            while let Some((op, _)) = listed.next_if(|(_, place)| place.offset < *border) {
                ops.push(op);
            }
            known.extend(ops.iter().map(|op| op.id));
            let reason = ops.iter().find_map(|op| {
                let before_time = match before {
                    Before::Op(id) => op.id == id,
                    Before::Time(time) => op.ts >= time,
                };
                if before_time {
                    return Some("nothing in the log is older than that".to_owned());
                }
                if !graph.has(op.id) || op.parents.iter().any(|parent| !known.contains(parent)) {
                    return Some(format!("{} still waits for ops that it needs", op.id));
                }
                let unpushed = upstream.as_ref().filter(|(_, store)| !store.state.graph().has(op.id));
                unpushed.map(|(path, _)| {
                    let path = path.display();
                    format!("{} is not in {path} yet, and a pull may have to withdraw it: push it first", op.id)
                })
            });
            if reason.is_some() {
                stays = reason;
                break;
            }
            cut = Some(*border);
        }
        cut.ok_or_else(|| nothing(stays.unwrap_or_else(|| "the log holds no op beside those in archives".to_owned())))
    }

    /// Returns the store that this one pushes to, if it has one.
    fn upstream(&self) -> Result<Option<(PathBuf, Store)>, Error> {
        let Some(path) = self.config.upstream.as_deref().map(Path::new) else { return Ok(None) };
        let with_upstream = |error: Error| {
            let path = path.display();
            Error::NotFound(format!(
                "cannot tell which ops {path} has ({error}); make it reachable, or set none: strand config upstream ''"
            ))
        };
        Ok(Some((path.to_owned(), Store::open(path).map_err(with_upstream)?)))
    }

    /// Returns the log as it will be: a base, and what is not moved as it is.
    fn moved_log(
        &self,
        text: &[u8],
        entries: &Entries,
        head: &LogHeader,
        packed: &Packed,
        cut: u64,
    ) -> Result<Vec<u8>, Error> {
        let number = head.archives + 1;
        let old = entries.base.as_ref();
        let from = if number > 1 { head.rest() } else { 0 };
        let unreadable =
            || self.sound().err().unwrap_or_else(|| Error::NotFound("an op of the log is not known".to_owned()));
        let mut archived: Vec<_> =
            old.into_iter().flat_map(|base| &base.ops).map(|retained| (&retained.node, retained.at)).collect();
        let moved = entries.ops.iter().zip(&entries.places).filter(|(_, place)| place.offset < cut);
        let mut count = 0;
        for (op, place) in moved {
            let node = self.state.graph().node(op.id).ok_or_else(unreadable)?;
            archived.push((node, packed.at(number, (place.offset - from) as usize, place.length)));
            count += 1;
        }
        let counts = counting(archived.iter().map(|(node, _)| *node).filter(|node| node.archived.is_none()));
        let lines: Vec<String> =
            archived.iter().map(|(node, at)| entry(node, *at, !counts.contains(&node.op.id))).collect();
        let mut notes: Vec<Note> = old.map(|base| base.archives.clone()).unwrap_or_default();
        notes.push(Note { file: file_name(number), ops: count, bytes: cut - from });
        let mut withdrawn: HashSet<OpId> = old.into_iter().flat_map(|base| &base.withdrawn).copied().collect();
        withdrawn.extend(&self.log.parse(&text[..cut as usize])?.withdrawn);
        let mut withdrawn: Vec<OpId> = withdrawn.into_iter().filter(|id| !self.state.graph().has(*id)).collect();
        withdrawn.sort_unstable();
        let mut base = Base::line(&notes, &withdrawn, &lines);
        let archived = if number > 1 { head.archived + (cut - from) } else { cut };
        loop {
            let standing = transaction(std::slice::from_ref(&base)).0;
            let head = LogHeader { archives: number, archived, base: standing.len() as u64, ..head.clone() };
            let mut made = format!("{}\n{standing}", head.line()).into_bytes();
            // A reader of the old log asks whether the log continues at its offset: no offset may fit by chance.
            if made.len() as u64 == cut {
                base.push(' ');
                continue;
            }
            made.extend_from_slice(&text[cut as usize..]);
            return Ok(made);
        }
    }

    /// Verifies, before anything is removed, that the new log has the same state and that the archive holds what is
    /// moved.
    fn prove(&self, made: &[u8], state_hash: &str, moved: &[u8], archive: u32) -> Result<(), Error> {
        let entries = self.log.parse(made)?;
        let mut state = State::new();
        state.set_archives(self.archives.clone());
        state.restore(entries.base.into_iter().flat_map(|base| base.ops).map(|retained| retained.node).collect());
        state.apply(entries.ops);
        let retained = self.archives.text(archive)?;
        if state.state_hash() == state_hash && retained.ends_with(moved) {
            return Ok(());
        }
        let message = "a log made smaller would not come to the same state; nothing was changed".to_owned();
        Err(Error::BadFile { path: self.log.path().to_owned(), message })
    }
}

fn nothing(why: String) -> Error {
    Refusal::Usage(format!("there is nothing to move: {why}")).into()
}
