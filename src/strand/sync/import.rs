//! Imports the changes of files: as one bundle, each by the smallest op.

use std::collections::BTreeSet;

use super::intent::{FileIntent, names_in};
use super::merge::{changes_to, doc_change, merged, merged_doc};
use super::{Message, SyncRun, paths};
use crate::strand::id::{DefId, QName, new_op_id};
use crate::strand::issue::{self, Draft, Issuer, Refusal, changed_body, edit_sealed};
use crate::strand::lang::ast::Definition;
use crate::strand::lang::print;
use crate::strand::op::Op;
use crate::strand::state::State;
use crate::strand::store::{Error, Store, forbids};

impl SyncRun {
    /// Issues the changes of the files as one bundle. A refused change leaves its file as it is. A plan returns the
    /// state as it would be.
    pub(super) fn import(
        &mut self,
        store: &mut Store,
        intents: Vec<FileIntent>,
        issuer: &Issuer,
    ) -> Result<Option<State>, Error> {
        if intents.is_empty() {
            return Ok(None);
        }
        let issuer = issuer.bundled().because("sync");
        if self.options.dry_run {
            let mut rehearsal = State::new();
            rehearsal.apply(store.ops());
            self.done.ops = self.import_all(&mut rehearsal, intents, &issuer).len();
            return Ok(Some(rehearsal));
        }
        let written = store.transact(false, |state| Ok(self.import_all(state, intents, &issuer)))?;
        self.done.ops = written.ops.len();
        Ok(None)
    }

    fn import_all(&mut self, state: &mut State, intents: Vec<FileIntent>, issuer: &Issuer) -> Vec<Op> {
        // Ops of this sync change texts too, by renames; those are no changes of others.
        let changed: BTreeSet<DefId> = intents
            .iter()
            .filter_map(FileIntent::base)
            .filter(|(def, base)| state.reading(*def).is_none_or(|view| view.text() != *base))
            .map(|(def, _)| def)
            .collect();
        let (mut ops, mut removed) = (Vec::new(), Vec::new());
        for intent in intents {
            let made = match intent {
                FileIntent::Add { path, definition } => {
                    self.add(state, definition, issuer).map_err(|refusal| (vec![path], refusal))
                }
                FileIntent::Change { path, def, definition, base } => {
                    let base = Some(base).filter(|_| changed.contains(&def));
                    let made = self.change(state, &path, def, definition, base, issuer);
                    made.map_err(|refusal| (vec![path], refusal))
                }
                FileIntent::Rename { was, path, def, definition, base } => {
                    let made = self.rename(state, &path, def, definition, &base, issuer);
                    // The old file does not come back: the new one would be taken for another definition then.
                    made.map_err(|refusal| (vec![path, was], refusal))
                }
                FileIntent::Remove { path, def, .. } if changed.contains(&def) => {
                    if paths(state).get(&path).is_some_and(|view| view.id == def) {
                        self.clash_of_deleted(&path);
                    }
                    Ok(Vec::new())
                }
                FileIntent::Remove { path, def, .. } => {
                    removed.push((path, def));
                    Ok(Vec::new())
                }
            };
            match made {
                Ok(made) => ops.extend(made),
                Err((paths, refusal)) => {
                    self.refuse(&paths[0], Message::Refused(refusal.to_string()));
                    self.held.extend(paths);
                }
            }
        }
        ops.extend(self.remove_all(state, removed, issuer));
        ops
    }

    /// Removes definitions whose files were deleted, unreferenced ones first: files that were deleted together are
    /// handled together.
    fn remove_all(&mut self, state: &mut State, mut gone: Vec<(String, DefId)>, issuer: &Issuer) -> Vec<Op> {
        let mut ops = Vec::new();
        loop {
            let before = gone.len();
            let mut refused = Vec::new();
            for (path, def) in std::mem::take(&mut gone) {
                match self.remove(state, def, issuer) {
                    Ok(made) => ops.extend(made),
                    Err(refusal) => refused.push((path, def, refusal)),
                }
            }
            if refused.is_empty() || refused.len() == before {
                for (path, _, refusal) in refused {
                    self.done.errors += 1;
                    self.done.messages.push(Message::Refused(refusal.to_string()));
                    self.warn(format!("{path} was deleted, but its definition stays; {}", self.restoring()));
                }
                return ops;
            }
            gone = refused.into_iter().map(|(path, def, _)| (path, def)).collect();
        }
    }

    fn remove(&mut self, state: &mut State, def: DefId, issuer: &Issuer) -> Result<Vec<Op>, Refusal> {
        let Some(view) = state.view(def).filter(|view| view.visible()) else { return Ok(Vec::new()) };
        let qname = view.qname();
        self.owned(&qname, issuer)?;
        let made = issue::issue(state, &Draft::Remove { qname: qname.clone(), how: self.options.removal }, issuer)?;
        self.plan(format!("remove {qname}"));
        Ok(made)
    }

    fn add(&mut self, state: &mut State, definition: Definition, issuer: &Issuer) -> Result<Vec<Op>, Refusal> {
        let qname = QName::new(definition.layer, definition.name);
        self.owned(&qname, issuer)?;
        let body = print::body(&definition.body);
        let draft = Draft::Add { qname: qname.clone(), body, doc: Some(definition.doc), def: None };
        let made = issue::issue(state, &draft, issuer)?;
        self.plan(format!("add {qname}"));
        Ok(made)
    }

    /// Gives a definition what a file says. `base` is what both were made from, if the store has another text now.
    fn change(
        &mut self,
        state: &mut State,
        path: &str,
        def: DefId,
        file: Definition,
        base: Option<String>,
        issuer: &Issuer,
    ) -> Result<Vec<Op>, Refusal> {
        let text = print::definition(&file);
        let Some(view) = state.view(def).filter(|view| view.visible()) else {
            self.clash(path, &text, "its definition was removed");
            return Ok(Vec::new());
        };
        let Some(base) = base.filter(|_| view.text() != text) else {
            return self.become_file(state, def, file, issuer);
        };
        match merged(state, def, &file, &base) {
            Some(both) => self.become_file(state, def, both, issuer),
            None => {
                self.clash(path, &text, "file and store changed the same part");
                Ok(Vec::new())
            }
        }
    }

    /// Gives a definition the name of a file that has its body, and the file's doc lines.
    fn rename(
        &mut self,
        state: &mut State,
        path: &str,
        def: DefId,
        file: Definition,
        base: &str,
        issuer: &Issuer,
    ) -> Result<Vec<Op>, Refusal> {
        let (was, to) = (names_in(base).into_iter().next(), file.name.clone());
        let Some(view) = state.view(def).filter(|view| view.visible()) else {
            let was = was.map_or(String::new(), |was| was.to_string());
            self.warn(format!("{path} has the body of {was}, which was removed; it is added as a new definition"));
            return self.add(state, file, issuer);
        };
        let qname = view.qname();
        if was.is_some_and(|was| was != qname) && qname.name != to {
            self.clash(path, &print::definition(&file), &format!("file and store renamed it; it is {qname} now"));
            self.displaced.push(path.to_owned());
            return Ok(Vec::new());
        }
        let mut made = Vec::new();
        if qname.name != to {
            self.owned(&qname, issuer)?;
            self.owned(&QName::new(qname.layer, to.clone()), issuer)?;
            made = issue::issue(state, &Draft::Rename { qname: qname.clone(), to: to.clone() }, issuer)?;
            self.plan(format!("rename {qname} {to}"));
        }
        let Some(view) = state.view(def) else { return Ok(made) };
        match merged_doc(view, &file, base) {
            Some(doc) => {
                if let Some(change) = doc_change(view, &doc) {
                    self.plan(format!("edit {}", view.qname()));
                    let body = view.body.clone();
                    edit_sealed(state, def, |_| (vec![change], body), issuer, &mut made);
                }
            }
            None => self.clash(path, &print::definition(&file), "file and store changed the doc lines"),
        }
        Ok(made)
    }

    /// Returns the smallest op that makes a definition what a file says.
    fn become_file(
        &mut self,
        state: &mut State,
        def: DefId,
        file: Definition,
        issuer: &Issuer,
    ) -> Result<Vec<Op>, Refusal> {
        let Some(view) = state.view(def) else { return Ok(Vec::new()) };
        let qname = view.qname();
        let probe = changes_to(view, &file, new_op_id());
        if probe.as_ref().is_some_and(Vec::is_empty) {
            return Ok(Vec::new());
        }
        self.owned(&qname, issuer)?;
        let old = view.clone();
        if probe.is_none_or(|probe| changed_body(&old, &probe).is_none()) {
            let draft = Draft::Replace { qname: qname.clone(), body: print::body(&file.body), doc: Some(file.doc) };
            let made = issue::issue(state, &draft, issuer)?;
            self.plan(format!("replace {qname}"));
            return Ok(made);
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

    /// Refuses what someone else owns, so that one such file does not hold up the others.
    fn owned(&self, qname: &QName, issuer: &Issuer) -> Result<(), Refusal> {
        match forbids(&self.locks, &issuer.author, qname) {
            Some(lock) => {
                Err(Refusal::Locked(format!("{qname} is owned by {} (pattern {})", lock.owner, lock.pattern)))
            }
            None => Ok(()),
        }
    }
}
