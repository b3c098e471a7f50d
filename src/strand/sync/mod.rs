//! Files and store kept in line: edited files become ops, ops become files.
//!
//! Nothing is lost: a file is overwritten only if what it says is recorded, or already in an op.

mod diff;
mod earlier;
mod import;
mod intent;
mod merge;
mod projection;
mod write;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde_json::{Value, json};

pub use projection::{Projection, Record, list, paths, scan};

use super::issue::{Issuer, Removal, Unparsed};
use super::state::State;
use super::store::{Error, Lock, Store};

/// The direction of changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Files and store are both changed.
    Both,
    /// Only from the store into files.
    ToFiles,
    /// Only from files into the store.
    ToStore,
}

/// The options of a sync.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// The direction.
    pub direction: Direction,
    /// The effect of a deleted file on references to its definition.
    pub removal: Removal,
    /// Only plan.
    pub dry_run: bool,
}

/// A message for the person.
#[derive(Clone, Debug, PartialEq)]
pub enum Message {
    /// A file was refused, or an op for it.
    Refused(String),
    /// A file does not parse: every fault in it.
    Unparsed(Vec<Unparsed>),
    /// A warning.
    Warning(String),
}

impl Message {
    /// Returns the message in words, without `Error:` or `Warning:` before them.
    pub fn words(&self) -> String {
        match self {
            Message::Refused(words) | Message::Warning(words) => words.clone(),
            Message::Unparsed(faults) => {
                faults.iter().map(|fault| fault.message.as_str()).collect::<Vec<_>>().join("\n")
            }
        }
    }
}

/// The result of a sync.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Synced {
    /// One line for each thing done or planned.
    pub plan: Vec<String>,
    /// Files made, changed, deleted.
    pub files: (usize, usize, usize),
    /// Ops issued.
    pub ops: usize,
    /// The number of files whose text was put aside, and of deleted files that were restored.
    pub conflicts: usize,
    /// Files that were refused.
    pub errors: usize,
    /// Messages for stderr.
    pub messages: Vec<Message>,
}

impl Synced {
    /// Returns whether nothing stands in the way.
    pub fn is_clean(&self) -> bool {
        self.conflicts == 0 && self.errors == 0
    }

    /// Returns whether files and store were in line already.
    pub fn is_idle(&self) -> bool {
        *self == Synced::default()
    }

    /// Formats as `+2 ~1 -0 files, 3 ops, 0 conflicts`.
    pub fn summary(&self) -> String {
        let (made, changed, deleted) = self.files;
        format!("+{made} ~{changed} -{deleted} files, {} ops, {} conflicts", self.ops, self.conflicts)
    }

    /// Returns the plan and the counts.
    pub fn to_json(&self) -> Value {
        let (created, updated, deleted) = self.files;
        json!({
            "plan": self.plan, "created": created, "updated": updated, "deleted": deleted,
            "ops": self.ops, "conflicts": self.conflicts, "errors": self.errors,
        })
    }
}

/// Returns what changes when someone edits a file or the store: sizes and times of all of them.
pub fn stamp(store: &Store) -> String {
    let mut out = String::new();
    let of = |path: &Path| {
        let meta = std::fs::metadata(path).ok();
        meta.map(|meta| format!("{} {} {:?}\n", path.display(), meta.len(), meta.modified().ok())).unwrap_or_default()
    };
    for path in list(store.root()).unwrap_or_default() {
        out.push_str(&of(&store.root().join(path)));
    }
    out + &of(&store.inner("op-log.jsonl"))
}

/// Brings files and store in line.
///
/// # Errors
/// When the store or a file cannot be read or written. A file that is refused is told in the result, and the others
/// go on.
pub fn sync(store: &mut Store, options: &Options, issuer: &Issuer) -> Result<Synced, Error> {
    sync_while(store, options, issuer, || ())
}

/// Does the same. `meanwhile` runs after the files were compared and before anything is changed: what others write to
/// the store then counts.
fn sync_while(
    store: &mut Store,
    options: &Options,
    issuer: &Issuer,
    meanwhile: impl FnOnce(),
) -> Result<Synced, Error> {
    store.catch_up()?;
    // A log that is readable only in part would revert the effects of the rest.
    store.whole()?;
    if !options.dry_run {
        store.tidy()?;
    }
    let before = Projection::read(store)?;
    let mut recorded = before.clone();
    let mut work = SyncRun::new(*options, if store.config().locks_enforced { store.locks()? } else { Vec::new() });
    let files = work.readable(scan(store.root())?);
    work.unrecorded = recorded.is_empty();
    let mut intents = Vec::new();
    if options.direction != Direction::ToFiles {
        intents = work.intents(store.state(), &recorded, &files);
    } else {
        work.hold_changed(store.state(), &recorded, &files);
    }
    meanwhile();
    let planned = work.import(store, intents, issuer)?;
    if !options.dry_run {
        work.put_aside(store)?;
    }
    let state = planned.as_ref().unwrap_or_else(|| store.state());
    if options.direction != Direction::ToStore {
        work.write_files(store.root(), state, &mut recorded, &files)?;
    } else {
        work.record_files(state, &mut recorded, &files);
    }
    if !options.dry_run && !recorded.is_current(&before, store) {
        recorded.write(store)?;
    }
    Ok(work.done)
}

/// A sync under way.
struct SyncRun {
    done: Synced,
    options: Options,
    /// The locks on names and their owners.
    locks: Vec<Lock>,
    /// Files not to be touched.
    held: BTreeSet<String>,
    /// True if nothing was recorded of the files that counts with this log.
    unrecorded: bool,
    /// The conflicts to be recorded.
    clashes: Vec<Clash>,
    /// Files whose definition has another file: their text is put aside, or is an earlier one of it.
    displaced: Vec<String>,
}

/// A file that could not be brought in line.
struct Clash {
    path: String,
    /// The file's text, to be put beside it; `None` if it was deleted.
    text: Option<String>,
    why: String,
}

impl SyncRun {
    fn new(options: Options, locks: Vec<Lock>) -> SyncRun {
        SyncRun {
            done: Synced::default(),
            options,
            locks,
            held: BTreeSet::new(),
            unrecorded: false,
            clashes: Vec::new(),
            displaced: Vec::new(),
        }
    }

    /// Returns the files that hold text. The others are refused.
    fn readable(&mut self, files: BTreeMap<String, Result<String, String>>) -> BTreeMap<String, String> {
        let mut texts = BTreeMap::new();
        for (path, text) in files {
            match text {
                Ok(text) => {
                    texts.insert(path, text);
                }
                Err(fault) => {
                    // Known to be there, so that nothing is made of its absence.
                    self.refuse(&path, Message::Refused(format!("E0001 at {path}:1:1: {fault}")));
                    texts.insert(path, String::new());
                }
            }
        }
        texts
    }

    /// Refuses a file: it stays as it is.
    fn refuse(&mut self, path: &str, message: Message) {
        self.done.errors += 1;
        self.done.messages.push(message);
        self.held.insert(path.to_owned());
    }

    fn plan(&mut self, line: String) {
        self.done.plan.push(line);
    }

    fn warn(&mut self, words: String) {
        self.done.messages.push(Message::Warning(words));
    }

    /// Files that changed are left alone when only the store is read.
    fn hold_changed(&mut self, state: &State, recorded: &Projection, files: &BTreeMap<String, String>) {
        let wanted = paths(state);
        for (path, text) in files {
            let is_stored = || wanted.get(path).is_some_and(|view| view.text() == text);
            if recorded.get(path).is_none_or(|record| !record.is_text(text)) && !is_stored() {
                match self.is_old_name(state, path, text) && !wanted.contains_key(path) {
                    true => self.displaced.push(path.clone()),
                    false => drop(self.held.insert(path.clone())),
                }
            }
        }
    }

    /// Writes the file's text beside it and the store's version into the file.
    fn clash(&mut self, path: &str, text: &str, why: &str) {
        self.done.conflicts += 1;
        self.plan(format!("conflict {path}"));
        self.clashes.push(Clash { path: path.to_owned(), text: Some(text.to_owned()), why: why.to_owned() });
    }

    /// Restores a file that was deleted though its definition changed.
    fn clash_of_deleted(&mut self, path: &str) {
        self.done.conflicts += 1;
        self.plan(format!("conflict {path}"));
        self.warn(format!("{path} was deleted, but its definition changed; {}", self.restoring()));
        let why = "the file was deleted, its definition changed".to_owned();
        self.clashes.push(Clash { path: path.to_owned(), text: None, why });
    }

    /// Returns what becomes of a deleted file whose definition stays.
    fn restoring(&self) -> &'static str {
        match self.options.direction {
            Direction::ToStore => "a sync to files restores the file",
            _ => "the file is restored",
        }
    }
}

#[cfg(test)]
mod tests;
