//! Imports the changes of files: as one bundle, each by the smallest op.

use super::intent::FileIntent;
use super::merge::{changes_to, merged};
use super::{Message, SyncRun};
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
        let (mut ops, mut removed) = (Vec::new(), Vec::new());
        for intent in intents {
            let path = match &intent {
                FileIntent::Add { path, .. } | FileIntent::Become { path, .. } | FileIntent::Merge { path, .. } => {
                    path.clone()
                }
                FileIntent::Rename { .. } => String::new(),
                FileIntent::Remove { def } => {
                    removed.push(*def);
                    continue;
                }
            };
            match self.import_one(state, intent, issuer) {
                Ok(made) => ops.extend(made),
                Err(refusal) => self.refuse(&path, Message::Refused(refusal.to_string())),
            }
        }
        ops.extend(self.remove_all(state, removed, issuer));
        ops
    }

    /// Removes definitions whose files were deleted, unreferenced ones first: files that were deleted together are
    /// handled together.
    fn remove_all(&mut self, state: &mut State, mut defs: Vec<DefId>, issuer: &Issuer) -> Vec<Op> {
        let mut ops = Vec::new();
        loop {
            let before = defs.len();
            let mut refused = Vec::new();
            for def in std::mem::take(&mut defs) {
                match self.remove(state, def, issuer) {
                    Ok(made) => ops.extend(made),
                    Err(refusal) => refused.push((def, refusal)),
                }
            }
            if refused.is_empty() || refused.len() == before {
                for (_, refusal) in refused {
                    self.refuse("", Message::Refused(refusal.to_string()));
                }
                return ops;
            }
            defs = refused.into_iter().map(|(def, _)| def).collect();
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

    fn import_one(&mut self, state: &mut State, intent: FileIntent, issuer: &Issuer) -> Result<Vec<Op>, Refusal> {
        match intent {
            FileIntent::Add { definition, .. } => {
                let qname = QName::new(definition.layer, definition.name);
                self.owned(&qname, issuer)?;
                let body = print::body(&definition.body);
                let draft = Draft::Add { qname: qname.clone(), body, doc: Some(definition.doc), def: None };
                let made = issue::issue(state, &draft, issuer)?;
                self.plan(format!("add {qname}"));
                Ok(made)
            }
            FileIntent::Become { def, definition, .. } => self.become_file(state, def, definition, issuer),
            FileIntent::Merge { path, def, definition, base } => match merged(state, def, &definition, &base) {
                Some(both) => self.become_file(state, def, both, issuer),
                None => {
                    let text = print::definition(&definition);
                    self.clash(&path, &text, "file and store changed the same part");
                    Ok(Vec::new())
                }
            },
            FileIntent::Rename { def, to } => {
                let Some(view) = state.view(def) else { return Ok(Vec::new()) };
                let qname = view.qname();
                self.owned(&qname, issuer)?;
                self.owned(&QName::new(qname.layer, to.clone()), issuer)?;
                let made = issue::issue(state, &Draft::Rename { qname: qname.clone(), to: to.clone() }, issuer)?;
                self.plan(format!("rename {qname} {to}"));
                Ok(made)
            }
            FileIntent::Remove { def } => self.remove(state, def, issuer),
        }
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
