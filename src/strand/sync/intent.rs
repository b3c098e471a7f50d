//! Compares every file with its record and derives its intended change of the store.

use std::collections::{BTreeMap, BTreeSet};

use super::earlier::is_earlier_text;
use super::{Message, Projection, Record, SyncRun, paths};
use crate::strand::id::{DefId, Layer, QName};
use crate::strand::issue::Unparsed;
use crate::strand::lang::ast::Definition;
use crate::strand::lang::names::name_fault;
use crate::strand::lang::parse::parse_definitions;
use crate::strand::lang::print;
use crate::strand::lang::resolve::each_ref;
use crate::strand::lang::token::SyntaxError;
use crate::strand::lang::unit::split;
use crate::strand::state::{State, View};

/// The intended change of a file. `base` is the definition's text that the file was made from.
pub(super) enum FileIntent {
    /// The definition has the name that its file has now. `was` is the path of the file that is gone.
    Rename { was: String, path: String, def: DefId, definition: Definition, base: String },
    /// A definition that is not there yet.
    Add { path: String, definition: Definition },
    /// The definition takes the file's text; both are merged where the store has another text than `base`.
    Change { path: String, def: DefId, definition: Definition, base: String },
    /// The definition's file was deleted.
    Remove { path: String, def: DefId, base: String },
}

impl FileIntent {
    /// Returns the definition that was changed, and its text then.
    pub(super) fn base(&self) -> Option<(DefId, &str)> {
        match self {
            FileIntent::Add { .. } => None,
            FileIntent::Rename { def, base, .. }
            | FileIntent::Change { def, base, .. }
            | FileIntent::Remove { def, base, .. } => Some((*def, base)),
        }
    }
}

/// Files that are recorded and not there.
type Gone<'r> = Vec<(&'r String, &'r Record)>;

impl SyncRun {
    /// Compares every file with what was recorded of it. They come in the order they are imported in: names first,
    /// then what is new, what changed, and what goes.
    pub(super) fn intents(
        &mut self,
        state: &State,
        recorded: &Projection,
        files: &BTreeMap<String, String>,
    ) -> Vec<FileIntent> {
        let known = |record: &Record| state.graph().lattice(record.def).is_some();
        let gone: Gone = recorded.iter().filter(|(path, record)| !files.contains_key(*path) && known(record)).collect();
        let (mut renames, mut added, mut changed) = (BTreeMap::new(), Vec::new(), Vec::new());
        let mut moved = BTreeSet::new();
        for (path, text) in files {
            let record = recorded.get(path);
            if self.held.contains(path) || record.is_some_and(|record| record.is_text(text)) {
                continue;
            }
            let definition = match read_file(path, text, record, state) {
                Ok(definition) => definition,
                Err(message) => {
                    moved.extend(names_in(text));
                    self.refuse(path, message);
                    continue;
                }
            };
            // A definition that the log does not know is no one's: the log may be older than the files.
            let Some(record) = record.filter(|record| state.graph().lattice(record.def).is_some()) else {
                match self.new_file(state, path, text, &definition, &gone, &renames) {
                    New::Known => {}
                    New::Renamed { was, def, base } => {
                        renames.insert(def, FileIntent::Rename { was, path: path.clone(), def, definition, base });
                    }
                    New::Added => added.push((path.clone(), definition)),
                    New::Changed { def, base } => {
                        changed.push(FileIntent::Change { path: path.clone(), def, definition, base });
                    }
                }
                continue;
            };
            match state.reading(record.def).filter(|view| view.visible()) {
                None => self.clash(path, text, "its definition was removed"),
                // As after a sync that was cut short: the store took it in already.
                Some(view) if view.text() == print::definition(&definition) => {}
                // Git may have put an older file back, or that of one side of a merge.
                Some(view) if view.text() != record.text && is_earlier_text(state, view.id, &definition) => {}
                Some(view) => {
                    let base = record.text.clone();
                    changed.push(FileIntent::Change { path: path.clone(), def: view.id, definition, base });
                }
            }
        }
        let removed = self.removals(state, &gone, &renames, &moved);
        let added = in_order(added).into_iter().map(|(path, definition)| FileIntent::Add { path, definition });
        renames.into_values().chain(added).chain(changed).chain(removed).collect()
    }

    /// Returns the definitions whose files are gone. One that changed since keeps its file, and so does one that stands
    /// in another file that was refused: it was moved, not given up.
    fn removals(
        &mut self,
        state: &State,
        gone: &Gone,
        renames: &BTreeMap<DefId, FileIntent>,
        moved: &BTreeSet<QName>,
    ) -> Vec<FileIntent> {
        let mut removed = Vec::new();
        let paths = if gone.is_empty() { BTreeMap::new() } else { paths(state) };
        for (path, record) in gone {
            let Some(view) = state.reading(record.def).filter(|view| view.visible()) else { continue };
            if renames.contains_key(&record.def) || moved.contains(&view.qname()) {
                continue;
            }
            if view.text() == record.text {
                let (path, base) = ((*path).clone(), record.text.clone());
                removed.push(FileIntent::Remove { path, def: record.def, base });
            } else if paths.get(*path).is_some_and(|there| there.id == view.id) {
                self.clash_of_deleted(path);
            }
        }
        removed
    }

    /// Returns a file nobody recorded: a new definition, a renamed one, or one that stands there already.
    fn new_file(
        &mut self,
        state: &State,
        path: &str,
        text: &str,
        definition: &Definition,
        gone: &Gone,
        renames: &BTreeMap<DefId, FileIntent>,
    ) -> New {
        let qname = QName::new(definition.layer, definition.name.clone());
        if let Some(view) = state.named(&qname) {
            let is_known = view.text() == print::definition(definition) || is_earlier_text(state, view.id, definition);
            if is_known || self.is_of_renamed(state, &qname, definition) {
                return New::Known;
            }
            // After a clone or a change of branches nothing is recorded: files and log are of one commit, and
            // differences were edited since.
            if self.unrecorded {
                return New::Changed { def: view.id, base: view.text().to_owned() };
            }
            self.clash(path, text, "the store has another text under that name");
            return New::Known;
        }
        if self.is_of_renamed(state, &qname, definition) {
            self.displaced.push(path.to_owned());
            return New::Known;
        }
        let was = |def: &DefId| state.reading(*def).is_some_and(|view| !view.live() && view.label == qname.name);
        let before = state.graph().holders(qname.layer, &qname.name).into_iter().filter(was).max();
        if self.unrecorded && before.is_some_and(|def| is_earlier_text(state, def, definition)) {
            self.warn(format!(
                "{path} says what {qname} said before it was removed; delete the file, or change it to add it again"
            ));
            self.held.insert(path.to_owned());
            return New::Known;
        }
        let body = print::body(&definition.body);
        let is_same = |view: &View| {
            let free = view.visible() && !renames.contains_key(&view.id);
            free && view.layer == definition.layer && view.body_text() == body
        };
        let same = gone.iter().find(|(_, record)| state.reading(record.def).is_some_and(is_same));
        // One that was removed meanwhile is renamed all the same: its author is told what comes of it.
        let is_removed = |record: &Record| {
            let is_gone = state.reading(record.def).is_none_or(|view| !view.visible());
            is_gone && !renames.contains_key(&record.def) && record.is_of(definition.layer, &body)
        };
        let same = same.or_else(|| gone.iter().find(|(_, record)| is_removed(record)));
        same.map_or(New::Added, |(was, record)| New::Renamed {
            was: (*was).clone(),
            def: record.def,
            base: record.text.clone(),
        })
    }
}

impl SyncRun {
    /// Returns whether a file without a record shows a definition under a name that it had.
    pub(super) fn is_old_name(&self, state: &State, path: &str, text: &str) -> bool {
        self.unrecorded
            && read_file(path, text, None, state).is_ok_and(|definition| {
                let had = QName::new(definition.layer, definition.name.clone());
                self.is_of_renamed(state, &had, &definition)
            })
    }

    /// Returns whether a file without a record shows a definition as it was under a name that it had: after a clone or a
    /// change of branches the file of the old name is still there.
    fn is_of_renamed(&self, state: &State, had: &QName, file: &Definition) -> bool {
        let is_renamed = |def: DefId| state.reading(def).is_some_and(|view| view.visible() && view.label != had.name);
        let mut holders = state.graph().holders(had.layer, &had.name).into_iter();
        self.unrecorded && holders.any(|def| is_renamed(def) && is_earlier_text(state, def, file))
    }
}

/// The meaning of a file without a record.
enum New {
    Known,
    Renamed {
        was: String,
        def: DefId,
        base: String,
    },
    Added,
    /// The definition of that name, edited.
    Changed {
        def: DefId,
        base: String,
    },
}

/// Returns new definitions, each after those it names where that can be: what is named is then known by identity.
fn in_order(added: Vec<(String, Definition)>) -> Vec<(String, Definition)> {
    let place: BTreeMap<(Layer, &str), usize> = added
        .iter()
        .enumerate()
        .map(|(at, (_, definition))| ((definition.layer, definition.name.as_str()), at))
        .collect();
    let names = |definition: &Definition| -> Vec<usize> {
        let mut parts = split(&definition.body);
        let mut found = Vec::new();
        let regs = parts.header.values_mut().chain(parts.units.iter_mut().flat_map(|unit| unit.regs.values_mut()));
        for reg in regs {
            each_ref(reg, &mut |reference| {
                // A call may be of a fn or of an effect: whichever is new.
                let layers = Layer::ALL.into_iter().filter(|layer| place.contains_key(&(*layer, &reference.name)));
                found.extend(layers.filter_map(|layer| place.get(&(layer, reference.name.as_str()))));
            });
        }
        found
    };
    let needs: Vec<Vec<usize>> = added.iter().map(|(_, definition)| names(definition)).collect();
    let (mut order, mut seen) = (Vec::new(), BTreeSet::new());
    // Depth first with a stack of its own, so that a long chain is no deep recursion.
    for start in 0..added.len() {
        let mut stack = vec![(start, 0)];
        while let Some((at, next)) = stack.pop() {
            if next == 0 && !seen.insert(at) {
                continue;
            }
            match needs[at].get(next) {
                Some(need) => {
                    stack.push((at, next + 1));
                    if !seen.contains(need) {
                        stack.push((*need, 0));
                    }
                }
                None => order.push(at),
            }
        }
    }
    let mut added: Vec<Option<(String, Definition)>> = added.into_iter().map(Some).collect();
    order.into_iter().filter_map(|at| added[at].take()).collect()
}

/// Returns the names of the definitions in the text of a file, whatever else is wrong with it.
pub(super) fn names_in(text: &str) -> Vec<QName> {
    let found = parse_definitions(text).unwrap_or_default();
    found.into_iter().map(|found| QName::new(found.layer, found.name)).collect()
}

/// Returns the one definition of a file, whose layer and name must be those of its path.
fn read_file(path: &str, text: &str, record: Option<&Record>, state: &State) -> Result<Definition, Message> {
    let fault = |fault: &SyntaxError| Unparsed::new(path, text, fault);
    let whole = |message: String| Message::Unparsed(vec![fault(&SyntaxError::new(0, message))]);
    let mut found = parse_definitions(text).map_err(|error| Message::Unparsed(vec![fault(&error)]))?;
    if found.len() != 1 {
        return Err(whole(format!("a file holds one definition, this one holds {}", found.len())));
    }
    let parsed = found.remove(0);
    let (folder, file) = path.split_once('/').unwrap_or(("", path));
    let stem = file.strip_suffix(".strand").unwrap_or(file);
    let stem = stem.split_once('~').map_or(stem, |(stem, _)| stem);
    let known = record.and_then(|record| state.reading(record.def)).map(|view| view.label.clone());
    let (layer, name) = (parsed.layer, parsed.name);
    if layer.folder() != folder || (name != stem && Some(&name) != known.as_ref()) {
        let folder = layer.folder();
        return Err(whole(format!(
            "the file of {layer}.{name} is {folder}/{name}.strand; to rename it, change the name in the text as well"
        )));
    }
    if let Some(message) = name_fault(layer, &name) {
        return Err(Message::Refused(format!("E0003 at {path}: {message}")));
    }
    parsed.result.map_err(|faults| Message::Unparsed(faults.iter().map(fault).collect()))
}
