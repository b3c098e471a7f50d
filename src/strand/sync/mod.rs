//! Files and store kept in line: edited files become ops, ops become files.
//!
//! Nothing is lost: a file is overwritten only if what it says is recorded, or already in an op.

mod diff;
mod projection;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde_json::{Value, json};

pub use diff::{diff, disjoint};
pub use projection::{Projection, Record, path_of, scan};

use super::id::{DefId, QName, new_id, new_op_id, now_ms};
use super::issue::{self, Draft, Issuer, Refusal, Removal, changed_body, edit_sealed};
use super::lang::ast::Definition;
use super::lang::parse::parse_definitions;
use super::lang::print;
use super::op::{Change, Op};
use super::state::{State, View};
use super::store::{Conflict, Error, Store, atomic_write};

/// Which way changes go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Both ways.
    Both,
    /// Only from the store into files.
    ToFiles,
    /// Only from files into the store.
    ToStore,
}

/// How to sync.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Which way.
    pub direction: Direction,
    /// What a deleted file does to those that refer to its definition.
    pub removal: Removal,
    /// Only plan.
    pub dry_run: bool,
}

/// What a sync did.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Synced {
    /// One line for each thing done or planned.
    pub plan: Vec<String>,
    /// Files made, changed, deleted.
    pub files: (usize, usize, usize),
    /// Ops issued.
    pub ops: usize,
    /// Files whose text was put aside.
    pub conflicts: usize,
    /// Files that were refused.
    pub errors: usize,
    /// What to tell on stderr.
    pub messages: Vec<String>,
}

impl Synced {
    /// Whether nothing stands in the way.
    pub fn is_clean(&self) -> bool {
        self.conflicts == 0 && self.errors == 0
    }

    /// `+2 ~1 -0 files, 3 ops, 0 conflicts`.
    pub fn summary(&self) -> String {
        let (made, changed, deleted) = self.files;
        format!("+{made} ~{changed} -{deleted} files, {} ops, {} conflicts", self.ops, self.conflicts)
    }

    /// The plan and the counts.
    pub fn to_json(&self) -> Value {
        let (created, updated, deleted) = self.files;
        json!({
            "plan": self.plan, "created": created, "updated": updated, "deleted": deleted,
            "ops": self.ops, "conflicts": self.conflicts, "errors": self.errors,
        })
    }
}

/// What changes when someone edits a file or the store: sizes and times of all of them.
pub fn stamp(store: &Store) -> String {
    let mut out = String::new();
    let of = |path: &Path| {
        let meta = std::fs::metadata(path).ok();
        meta.map(|meta| format!("{} {} {:?}\n", path.display(), meta.len(), meta.modified().ok())).unwrap_or_default()
    };
    for path in scan(store.root()).unwrap_or_default().keys() {
        out.push_str(&of(&store.root().join(path)));
    }
    out + &of(&store.inner("op-log.jsonl"))
}

/// Brings files and store in line.
pub fn sync(store: &mut Store, options: &Options, issuer: &Issuer) -> Result<Synced, Error> {
    store.catch_up()?;
    let mut recorded = Projection::read(store)?;
    let files = scan(store.root())?;
    let mut work = Work { done: Synced::default(), options: *options, held: BTreeSet::new(), aside: Vec::new() };
    let mut wishes = Vec::new();
    if options.direction != Direction::ToFiles {
        wishes = work.wishes(store.state(), &recorded, &files);
    } else {
        work.hold_changed(&recorded, &files);
    }
    if !wishes.is_empty() {
        work.fulfil(store, wishes, issuer)?;
    }
    if !options.dry_run {
        work.put_aside(store)?;
    }
    if options.direction != Direction::ToStore {
        work.write_files(store, &mut recorded, &files)?;
    } else {
        work.record_files(store, &mut recorded, &files);
    }
    if !options.dry_run {
        recorded.write(store)?;
    }
    Ok(work.done)
}

/// What a file asks of the store.
enum Wish {
    Add {
        path: String,
        definition: Definition,
    },
    /// The definition becomes what the file says.
    Become {
        path: String,
        def: DefId,
        definition: Definition,
    },
    /// The file and the store changed both; what the file said when both were equal.
    Merge {
        path: String,
        def: DefId,
        definition: Definition,
        base: String,
    },
    Rename {
        def: DefId,
        to: String,
    },
    Remove {
        def: DefId,
    },
}

struct Work {
    done: Synced,
    options: Options,
    /// Files not to be touched.
    held: BTreeSet<String>,
    /// Texts to put beside their files: path, text, what it clashed with.
    aside: Vec<(String, String, String)>,
}

impl Work {
    fn error(&mut self, path: &str, message: String) {
        self.done.errors += 1;
        self.done.messages.push(format!("Error: {message}"));
        self.held.insert(path.to_owned());
    }

    fn plan(&mut self, line: String) {
        self.done.plan.push(line);
    }

    /// Files that changed are left alone when only the store is read.
    fn hold_changed(&mut self, recorded: &Projection, files: &BTreeMap<String, String>) {
        for (path, text) in files {
            if recorded.get(path).is_none_or(|record| !record.is_text(text)) {
                self.held.insert(path.clone());
            }
        }
    }

    /// Compares every file with what was recorded of it.
    fn wishes(&mut self, state: &State, recorded: &Projection, files: &BTreeMap<String, String>) -> Vec<Wish> {
        let mut wishes = Vec::new();
        let gone: Vec<(&String, &Record)> = recorded.iter().filter(|(path, _)| !files.contains_key(*path)).collect();
        let mut renamed: BTreeSet<DefId> = BTreeSet::new();
        for (path, text) in files {
            let record = recorded.get(path);
            if record.is_some_and(|record| record.is_text(text)) {
                continue;
            }
            let definition = match read_file(path, text, record, state) {
                Ok(definition) => definition,
                Err(message) => {
                    self.error(path, message);
                    continue;
                }
            };
            let Some(record) = record else {
                self.new_file(state, path, text, definition, &gone, &mut renamed, &mut wishes);
                continue;
            };
            match state.view(record.def).filter(|view| view.visible()) {
                None => self.clash(path, text, "its definition was removed"),
                Some(view) if view.text == record.text => {
                    wishes.push(Wish::Become { path: path.clone(), def: view.id, definition });
                }
                Some(view) => {
                    let base = record.text.clone();
                    wishes.push(Wish::Merge { path: path.clone(), def: view.id, definition, base });
                }
            }
        }
        for (path, record) in gone {
            let Some(view) = state.view(record.def).filter(|view| view.visible()) else { continue };
            if renamed.contains(&record.def) {
                continue;
            }
            if view.text == record.text {
                wishes.push(Wish::Remove { def: record.def });
            } else if path_of(state, view) == *path {
                self.done.conflicts += 1;
                self.done.messages.push(format!("Warning: {path} was deleted, but its definition changed; restored"));
            }
        }
        wishes
    }

    /// A file nobody recorded: a new definition, a renamed one, or one that stands there already.
    #[allow(clippy::too_many_arguments)]
    fn new_file(
        &mut self,
        state: &State,
        path: &str,
        text: &str,
        definition: Definition,
        gone: &[(&String, &Record)],
        renamed: &mut BTreeSet<DefId>,
        wishes: &mut Vec<Wish>,
    ) {
        let qname = QName::new(definition.layer, definition.name.clone());
        if let Some(view) = state.named(&qname) {
            if view.text != print::definition(&definition) {
                self.clash(path, text, "the store has another text under that name");
            }
            return;
        }
        let body = print::body(&definition.body);
        let same = |(_, record): &&(&String, &Record)| {
            state.view(record.def).is_some_and(|view| {
                view.visible()
                    && view.layer == definition.layer
                    && view.body_text() == body
                    && !renamed.contains(&view.id)
            })
        };
        match gone.iter().find(same) {
            Some((_, record)) => {
                renamed.insert(record.def);
                wishes.push(Wish::Rename { def: record.def, to: definition.name });
            }
            None => wishes.push(Wish::Add { path: path.to_owned(), definition }),
        }
    }

    /// The file's text goes beside it; the store's version goes into the file.
    fn clash(&mut self, path: &str, text: &str, why: &str) {
        self.done.conflicts += 1;
        self.plan(format!("conflict {path}"));
        self.done.messages.push(format!("Warning: {path}: {why}; the file's text is in {path}.conflict"));
        self.aside.push((path.to_owned(), text.to_owned(), why.to_owned()));
    }

    /// Issues what the files ask for, as one bundle. What is refused leaves its file alone.
    fn fulfil(&mut self, store: &mut Store, wishes: Vec<Wish>, issuer: &Issuer) -> Result<(), Error> {
        let issuer = issuer.bundled().because("sync");
        if self.options.dry_run {
            let mut rehearsal = State::new();
            rehearsal.apply(store.ops());
            let ops = self.grant_all(&mut rehearsal, wishes, &issuer);
            self.done.ops = ops.len();
            return Ok(());
        }
        let written = store.transact(false, |state| Ok(self.grant_all(state, wishes, &issuer)))?;
        self.done.ops = written.ops.len();
        Ok(())
    }

    fn grant_all(&mut self, state: &mut State, wishes: Vec<Wish>, issuer: &Issuer) -> Vec<Op> {
        let mut ops = Vec::new();
        for wish in wishes {
            let path = match &wish {
                Wish::Add { path, .. } | Wish::Become { path, .. } | Wish::Merge { path, .. } => Some(path.clone()),
                Wish::Rename { .. } | Wish::Remove { .. } => None,
            };
            match self.grant(state, wish, issuer) {
                Ok(made) => ops.extend(made),
                Err(refusal) => {
                    self.done.errors += 1;
                    self.done.messages.push(format!("Error: {refusal}"));
                    self.held.extend(path);
                }
            }
        }
        ops
    }

    fn grant(&mut self, state: &mut State, wish: Wish, issuer: &Issuer) -> Result<Vec<Op>, Refusal> {
        match wish {
            Wish::Add { definition, .. } => {
                let qname = QName::new(definition.layer, definition.name);
                self.plan(format!("add {qname}"));
                let body = print::body(&definition.body);
                issue::issue(state, &Draft::Add { qname, body, doc: Some(definition.doc), def: None }, issuer)
            }
            Wish::Become { def, definition, .. } => self.become_file(state, def, definition, issuer),
            Wish::Merge { path, def, definition, base } => match merged(state, def, &definition, &base) {
                Some(both) => self.become_file(state, def, both, issuer),
                None => {
                    let text = print::definition(&definition);
                    self.clash(&path, &text, "file and store changed the same part");
                    Ok(Vec::new())
                }
            },
            Wish::Rename { def, to } => {
                let Some(view) = state.view(def) else { return Ok(Vec::new()) };
                self.plan(format!("rename {} {to}", view.qname()));
                let draft = Draft::Rename { qname: view.qname(), to };
                issue::issue(state, &draft, issuer)
            }
            Wish::Remove { def } => {
                let Some(view) = state.view(def).filter(|view| view.visible()) else { return Ok(Vec::new()) };
                self.plan(format!("remove {}", view.qname()));
                let draft = Draft::Remove { qname: view.qname(), how: self.options.removal };
                issue::issue(state, &draft, issuer)
            }
        }
    }

    /// The smallest op that makes a definition what a file says.
    fn become_file(
        &mut self,
        state: &mut State,
        def: DefId,
        file: Definition,
        issuer: &Issuer,
    ) -> Result<Vec<Op>, Refusal> {
        let Some(view) = state.view(def) else { return Ok(Vec::new()) };
        let qname = view.qname();
        let Some(probe) = changes_to(view, &file, new_op_id()) else {
            self.plan(format!("replace {qname}"));
            let draft = Draft::Replace { qname, body: print::body(&file.body), doc: Some(file.doc) };
            return issue::issue(state, &draft, issuer);
        };
        if probe.is_empty() {
            return Ok(Vec::new());
        }
        let old = view.clone();
        if changed_body(&old, &probe).is_none() {
            let draft = Draft::Replace { qname, body: print::body(&file.body), doc: Some(file.doc) };
            return issue::issue(state, &draft, issuer);
        }
        self.plan(format!("edit {qname}"));
        let mut made = Vec::new();
        let make = |op| {
            let changes = changes_to(&old, &file, op).unwrap_or_default();
            let body = changed_body(&old, &changes).unwrap_or_else(|| file.body.clone());
            (changes, body)
        };
        edit_sealed(state, def, make, issuer, &mut made);
        Ok(made)
    }

    /// Saves texts that found no place, and tells of them.
    fn put_aside(&mut self, store: &mut Store) -> Result<(), Error> {
        let mut conflicts = Vec::new();
        for (path, text, why) in &self.aside {
            atomic_write(&store.root().join(format!("{path}.conflict")), text.as_bytes())?;
            conflicts.push(Conflict {
                id: new_id("cf_"),
                kind: "sync".to_owned(),
                policy: store.config().policy.word().to_owned(),
                at: now_ms(),
                edges: vec![(path.clone(), why.clone())],
                ops: Vec::new(),
                status: "open".to_owned(),
            });
        }
        store.record_conflicts(&conflicts)
    }

    /// Makes every file what the store says, but for those held back.
    fn write_files(
        &mut self,
        store: &Store,
        recorded: &mut Projection,
        files: &BTreeMap<String, String>,
    ) -> Result<(), Error> {
        let state = store.state();
        let mut wanted: BTreeMap<String, &View> = BTreeMap::new();
        for view in state.visible() {
            wanted.insert(path_of(state, view), view);
        }
        let stale: Vec<String> =
            recorded.iter().map(|(path, _)| path.clone()).filter(|path| !wanted.contains_key(path)).collect();
        for path in stale {
            if files.contains_key(&path) && !self.held.contains(&path) {
                self.plan(format!("delete {path}"));
                self.done.files.2 += 1;
                if !self.options.dry_run {
                    let full = store.root().join(&path);
                    std::fs::remove_file(&full).map_err(|error| Error::io("delete", &full, error))?;
                }
            }
            if !self.held.contains(&path) {
                recorded.remove(&path);
            }
        }
        for (path, view) in wanted {
            if self.held.contains(&path) {
                continue;
            }
            match files.get(&path) {
                Some(text) if *text == view.text => {}
                found => {
                    self.plan(format!("write {path}"));
                    if found.is_some() {
                        self.done.files.1 += 1;
                    } else {
                        self.done.files.0 += 1;
                    }
                    if !self.options.dry_run {
                        let full = store.root().join(&path);
                        let folder = full.parent().unwrap_or(store.root()).to_owned();
                        std::fs::create_dir_all(&folder).map_err(|error| Error::io("make", &folder, error))?;
                        atomic_write(&full, view.text.as_bytes())?;
                    }
                }
            }
            recorded.set(path, Record::new(view.id, &view.text, &view.text));
        }
        Ok(())
    }

    /// Notes what files say that went into the store, without writing any.
    fn record_files(&mut self, store: &Store, recorded: &mut Projection, files: &BTreeMap<String, String>) {
        let state = store.state();
        for view in state.visible() {
            let path = path_of(state, view);
            if let Some(text) = files.get(&path).filter(|_| !self.held.contains(&path)) {
                let aside = self.aside.iter().any(|(other, _, _)| *other == path);
                let known = recorded.get(&path).is_some_and(|record| record.is_text(text));
                if !aside && !known {
                    recorded.set(path, Record::new(view.id, text, &view.text));
                }
            }
        }
        let gone: Vec<String> = recorded
            .iter()
            .filter(|(path, record)| !files.contains_key(*path) && !state.view(record.def).is_some_and(View::visible))
            .map(|(path, _)| path.clone())
            .collect();
        gone.iter().for_each(|path| recorded.remove(path));
    }
}

/// The one definition of a file, whose layer and name must be those of its path.
fn read_file(path: &str, text: &str, record: Option<&Record>, state: &State) -> Result<Definition, String> {
    let fault = |at: usize, message: &str| {
        let (line, column) = super::lang::token::SyntaxError::new(at, "").line_col(text);
        format!("E0001 at {path}:{line}:{column}: {message}")
    };
    let mut found = parse_definitions(text).map_err(|error| fault(error.at, &error.message))?;
    if found.len() != 1 {
        return Err(fault(0, &format!("a file holds one definition, this one holds {}", found.len())));
    }
    let parsed = found.remove(0);
    let (folder, file) = path.split_once('/').unwrap_or(("", path));
    let stem = file.strip_suffix(".strand").unwrap_or(file);
    let stem = stem.split_once('~').map_or(stem, |(stem, _)| stem);
    let known = record.and_then(|record| state.view(record.def)).map(|view| view.label.clone());
    if parsed.layer.folder() != folder || (parsed.name != stem && Some(&parsed.name) != known.as_ref()) {
        return Err(fault(
            0,
            &format!(
                "the file of {}.{} is {}/{}.strand",
                parsed.layer,
                parsed.name,
                parsed.layer.folder(),
                parsed.name
            ),
        ));
    }
    if let Some(message) = super::lang::names::name_fault(parsed.layer, &parsed.name) {
        return Err(format!("E0003 at {path}: {message}"));
    }
    parsed.result.map_err(|faults| {
        let lines: Vec<String> = faults.iter().map(|error| fault(error.at, &error.message)).collect();
        lines.join("\n")
    })
}

/// The changes that make a view what a definition says, doc lines included.
fn changes_to(view: &View, file: &Definition, op: super::id::OpId) -> Option<Vec<Change>> {
    let mut changes = diff(view.layer, &view.body, &view.units, &file.body, op)?;
    if view.doc != file.doc {
        let value = Some(file.doc.clone()).filter(|doc| !doc.is_empty());
        changes.push(Change::Set { unit: None, register: "doc".to_owned(), value });
    }
    Some(changes)
}

/// What file and store come to when both changed since a text they shared: both changes, unless
/// they touch the same register.
fn merged(state: &State, def: DefId, file: &Definition, base: &str) -> Option<Definition> {
    let view = state.view(def)?;
    let issuer = Issuer::new("strand:sync");
    let base = parse_definitions(base).ok()?.into_iter().next()?.result.ok()?;
    let mut ours = State::new();
    let qname = QName::new(file.layer, file.name.clone());
    let add = Draft::Add { qname, body: print::body(&base.body), doc: Some(base.doc), def: None };
    let start = issue::issue(&mut ours, &add, &issuer).ok()?;
    let scratch = start.first()?.id;
    let mut theirs = State::new();
    theirs.apply(start);
    let stored =
        Definition { layer: view.layer, name: file.name.clone(), doc: view.doc.clone(), body: view.body.clone() };
    let edit = |state: &mut State, to: &Definition| -> Option<Vec<Op>> {
        let old = state.view(scratch)?.clone();
        let probe = changes_to(&old, to, new_op_id())?;
        changed_body(&old, &probe)?;
        let mut made = Vec::new();
        let make = |op| (changes_to(&old, to, op).unwrap_or_default(), to.body.clone());
        edit_sealed(state, scratch, make, &issuer, &mut made);
        Some(made)
    };
    let (a, b) = (edit(&mut ours, &stored)?, edit(&mut theirs, file)?);
    if !disjoint(&a.first()?.changes, &b.first()?.changes) {
        return None;
    }
    ours.apply(b);
    let both = ours.view(scratch)?;
    Some(Definition { layer: file.layer, name: file.name.clone(), doc: both.doc.clone(), body: both.body.clone() })
}

#[cfg(test)]
mod tests;
