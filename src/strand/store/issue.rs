//! Issuing: drafts become ops, checked, durable, or nothing at all.

use std::collections::{BTreeSet, HashSet};

use super::checkpoint;
use super::open::update_attributes;
use super::position::fold_chain;
use super::{Accepted, CHECKPOINT_AFTER_BYTES, CHECKPOINT_AFTER_OPS, Error, Lock, Store, forbids};
use crate::strand::check::{Checks, Diagnostic, LocatedFault, render};
use crate::strand::id::{DefId, OpId, QName};
use crate::strand::integrity::is_heal;
use crate::strand::issue::{Draft, Issuer, Refusal, issue_all, target};
use crate::strand::op::{Kind, Op};
use crate::strand::state::{Changed, State};

/// The result of a write.
#[derive(Debug, Default)]
pub struct WriteResult {
    /// The ops, in order.
    pub ops: Vec<Op>,
    /// Definitions it touched.
    pub changed: BTreeSet<DefId>,
    /// Faults that were not there before.
    pub new_faults: Vec<Diagnostic>,
}

/// A definition that a write touches, before and after it.
#[derive(Clone, Debug, PartialEq)]
pub struct TouchedDefinition {
    /// Its identity.
    pub id: DefId,
    /// Its qualified name and its text before; none: it is not visible.
    pub before: Option<(String, String)>,
    /// Its qualified name and its text after; none: it is not visible.
    pub after: Option<(String, String)>,
}

impl TouchedDefinition {
    /// Returns its qualified name after the write, or else before it.
    pub fn name(&self) -> &str {
        self.after.as_ref().or(self.before.as_ref()).map_or("", |(name, _)| name)
    }

    /// Returns its texts before and after; empty where it is not visible.
    pub fn texts(&self) -> (&str, &str) {
        let [before, after] =
            [&self.before, &self.after].map(|side| side.as_ref().map_or("", |(_, text)| text.as_str()));
        (before, after)
    }

    /// Returns what a write does to definitions, each below its name; `marked` marks the lines that differ.
    pub fn marked(all: &[TouchedDefinition], marked: impl Fn(&str, &str) -> String) -> String {
        let one = |touched: &TouchedDefinition| {
            let head = match (&touched.before, &touched.after) {
                (None, Some((name, _))) => format!("{name} (new)"),
                (Some((name, _)), None) => format!("{name} (removed)"),
                (Some((old, _)), Some((new, _))) if old != new => format!("{old} -> {new}"),
                _ => touched.name().to_owned(),
            };
            let (before, after) = touched.texts();
            match marked(before, after) {
                lines if lines.is_empty() => format!("{head}\n its text stays as it is\n"),
                lines => format!("{head}\n{lines}"),
            }
        };
        all.iter().map(one).collect::<Vec<_>>().join("\n").trim_end().to_owned()
    }
}

/// Hears of the ops of each write before they are durable; an error refuses the write.
#[derive(Default)]
pub struct BeforeCommit(pub Option<Box<dyn FnMut(&[OpId]) -> Result<(), String>>>);

impl std::fmt::Debug for BeforeCommit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "BeforeCommit({})", self.0.is_some())
    }
}

impl Store {
    /// Issues drafts as one transaction: sealed on the present state, all or none. With `check`,
    /// new errors refuse them.
    pub fn issue(&mut self, drafts: &[Draft], issuer: &Issuer, check: bool) -> Result<WriteResult, Error> {
        self.transact(check, |state| issue_all(state, drafts, issuer))
    }

    /// Runs a write on the state under the lock and makes its ops durable. When it is refused, or
    /// its ops touch what belongs to another, the state is as before.
    pub fn transact(
        &mut self,
        check: bool,
        work: impl FnOnce(&mut State) -> Result<Vec<Op>, Refusal>,
    ) -> Result<WriteResult, Error> {
        self.transact_after(check, work, |_| Ok(()))
    }

    /// Writes as [`Store::transact`] does, after `first`, which is told the ops while nobody else can write: its error
    /// refuses them.
    pub fn transact_after(
        &mut self,
        check: bool,
        work: impl FnOnce(&mut State) -> Result<Vec<Op>, Refusal>,
        first: impl FnOnce(&[Op]) -> Result<(), String>,
    ) -> Result<WriteResult, Error> {
        let lock = self.lock()?;
        let locks = if self.config.locks_enforced { self.locks()? } else { Vec::new() };
        self.meets_expectation()?;
        let ops = work(&mut self.state)?;
        let changed = self.neighbours(&ops);
        let refused = ops.iter().find_map(|op| self.forbidden(op, &locks).or_else(|| self.idle(op)));
        let new_faults = if refused.is_none() { self.faults_of(&ops, &changed) } else { Vec::new() };
        let errors = new_faults.iter().filter(|fault| !fault.warning).count();
        let refusal = refused.or_else(|| (check && errors > 0).then(|| Refusal::NewErrors(errors_text(&new_faults))));
        let allowed = refusal.map_or(Ok(()), |refusal| Err(refusal.into()));
        if let Err(error) = allowed.and_then(|()| first(&ops).map_err(Error::NotBegun)) {
            self.state.retract(&ops.iter().map(|op| op.id).collect());
            self.state.refresh();
            return Err(error);
        }
        self.commit(&ops, &[])?;
        drop(lock);
        Ok(WriteResult { ops, changed, new_faults })
    }

    /// Refuses a write that was made for another text than the present one.
    fn meets_expectation(&mut self) -> Result<(), Refusal> {
        for (id, text) in std::mem::take(&mut self.shown) {
            let view = self.state.view(id).filter(|view| view.visible());
            if view.map(|view| view.text()) != text.as_deref() {
                let name = self.state.qname(id).map_or_else(|| id.to_string(), |name| name.to_string());
                return Err(Refusal::Stale {
                    name,
                    found: view.map_or_else(String::new, |view| view.hash.to_string()),
                });
            }
        }
        let Some((qname, expected)) = self.expected.take() else { return Ok(()) };
        let found = target(&self.state, &qname)?.hash.to_string();
        let is_met = found == expected || found.strip_prefix("h:") == Some(&*expected);
        if is_met { Ok(()) } else { Err(Refusal::Stale { name: qname.to_string(), found }) }
    }

    /// Returns what a write would bring about: its ops, and what `ask` finds in the state that has them. Nothing is
    /// written, and the state is as before.
    pub fn rehearse_write<T>(
        &mut self,
        work: impl FnOnce(&mut State) -> Result<Vec<Op>, Refusal>,
        ask: impl FnOnce(&State, &[Op]) -> T,
    ) -> Result<(Vec<Op>, T), Refusal> {
        let ops = work(&mut self.state)?;
        let found = ask(&self.state, &ops);
        self.state.retract(&ops.iter().map(|op| op.id).collect());
        self.state.refresh();
        Ok((ops, found))
    }

    /// Begins to try writes: from here on nothing that they issue leaves this process.
    pub fn begin_rehearsal(&mut self) {
        self.rehearsed = Some(Vec::new());
    }

    /// Ends it. Returns what the ops touched: their definitions, and those whose text they make another. The state is as
    /// before.
    pub fn end_rehearsal(&mut self) -> Vec<TouchedDefinition> {
        let ids: HashSet<OpId> = self.rehearsed.take().unwrap_or_default().into_iter().collect();
        let ops: Vec<Op> =
            ids.iter().filter_map(|id| self.state.graph().node(*id)).map(|node| node.op.clone()).collect();
        let own: BTreeSet<DefId> = ops.iter().map(Op::target).collect();
        let around = self.neighbours(&ops);
        let shown = |state: &State, id: DefId| {
            let view = state.view(id).filter(|view| view.visible())?;
            Some((view.qname().to_string(), view.text().to_owned()))
        };
        let after: Vec<_> = around.iter().map(|id| (*id, shown(&self.state, *id))).collect();
        self.state.retract(&ids);
        self.state.refresh();
        let touched =
            after.into_iter().map(|(id, after)| TouchedDefinition { id, before: shown(&self.state, id), after });
        touched.filter(|touched| own.contains(&touched.id) || touched.before != touched.after).collect()
    }

    /// Lets the next write be refused unless definitions have the texts that they had before it was tried.
    pub fn expect_shown(&mut self, touched: &[TouchedDefinition]) {
        let text = |touched: &TouchedDefinition| touched.before.as_ref().map(|(_, text)| text.clone());
        self.shown = touched.iter().map(|touched| (touched.id, text(touched))).collect();
    }

    /// Sets who hears of ops before they are durable.
    pub fn before_commit(&mut self, hears: BeforeCommit) {
        self.before_commit = hears;
    }

    /// Takes the state from the disk, after a write that failed: the state was ahead of it.
    pub(super) fn read_back(&mut self) -> Result<(), Error> {
        self.stand_on_checkpoint();
        self.catch_up().map(drop)
    }

    /// Appends ops and control lines to the log. Without any, nothing is written.
    pub(super) fn commit(&mut self, ops: &[Op], control: &[String]) -> Result<(), Error> {
        let ids: Vec<OpId> = ops.iter().map(|op| op.id).collect();
        self.log_ops(&ids, ops.iter().map(Op::to_line).collect(), control)
    }

    /// Appends the lines of ops after control lines.
    pub(super) fn log_ops(&mut self, ids: &[OpId], ops: Vec<String>, control: &[String]) -> Result<(), Error> {
        if ops.is_empty() && control.is_empty() {
            return Ok(());
        }
        if let Some(rehearsed) = &mut self.rehearsed {
            rehearsed.extend(ids);
            return Ok(());
        }
        let heard = match &mut self.before_commit.0 {
            Some(hears) if !ids.is_empty() => hears(ids).map_err(Error::NotBegun),
            _ => Ok(()),
        };
        let mut lines = control.to_vec();
        lines.extend(ops);
        let appended = match heard.and_then(|()| self.sound()).and_then(|()| self.log.append(&lines)) {
            Ok(appended) => appended,
            Err(error) => {
                self.read_back()?;
                return Err(error);
            }
        };
        self.log_watch.note(&self.log);
        if update_attributes(&self.root) {
            self.notices.push(
                "the line of .gitattributes for the log ends in -text now, so that Git keeps its line ends".into(),
            );
        }
        fold_chain(&mut self.chain, &appended.sum);
        (self.offset, self.sum) = (appended.end, appended.sum);
        self.placed.extend(ids.iter().copied().zip(appended.places.into_iter().skip(control.len())));
        if !control.is_empty() {
            // Control lines withdraw what a checkpoint may have.
            self.marked = None;
            let graph = self.state.graph();
            self.placed.retain(|id, _| graph.has(*id));
        }
        let from = self.marked.unwrap_or(self.placed_from);
        // Each checkpoint writes most definitions of a large store anew, so those of a large store are further apart.
        let (bytes, ops) = (from / 5, self.state.graph().len() / 5);
        let behind = self.offset.saturating_sub(from);
        let count = self.placed.len();
        // They are no further apart than memory allows.
        let heavy = count > CHECKPOINT_AFTER_OPS && self.state.weight() > checkpoint::MOST_HELD_WRITING;
        if behind > bytes.max(CHECKPOINT_AFTER_BYTES) || count > ops.max(CHECKPOINT_AFTER_OPS) || heavy {
            self.checkpoint();
            self.let_go(checkpoint::MOST_HELD_WRITING);
        }
        Ok(())
    }

    /// Returns why an op may not touch what it touches, if an ownership lock says so.
    fn forbidden(&self, op: &Op, locks: &[Lock]) -> Option<Refusal> {
        let find = |id| self.state.graph().light(id).map(|node| (node.op.kind, node.op.target()));
        if locks.is_empty() || is_heal(op, find) {
            return None;
        }
        let label = self.state.view(op.target()).map(|view| view.qname());
        let claimed = match op.kind {
            Kind::Add => Some(QName::new(op.layer, &*op.name)),
            Kind::Rename => op.name_new().map(|name| QName::new(op.layer, name)),
            _ => None,
        };
        let written = QName::new(op.layer, &*op.name);
        [label, claimed, Some(written)].into_iter().flatten().find_map(|qname| {
            forbids(locks, &op.author, &qname)
                .map(|lock| Refusal::Locked(format!("{qname} is owned by {} (pattern {})", lock.owner, lock.pattern)))
        })
    }

    /// Returns why an op would have no effect, if it would have none: after an op whose time is the greatest there is,
    /// say.
    fn idle(&self, op: &Op) -> Option<Refusal> {
        let void = self.state.graph().light(op.id)?.void.as_ref()?;
        Some(Refusal::Malformed(format!("it would have no effect: {void}")))
    }

    /// Returns the definitions ops are about, and those that mention them.
    fn neighbours(&self, ops: &[Op]) -> BTreeSet<DefId> {
        let targets: BTreeSet<DefId> = ops.iter().map(Op::target).collect();
        let mut out = targets.clone();
        for id in targets {
            out.extend(self.state.watchers(id));
            if let Some(view) = self.state.view(id) {
                for name in [&view.name, &view.label] {
                    out.extend(self.state.late_watchers(view.layer, name));
                }
            }
        }
        out
    }

    /// Returns the faults ops on the state brought: those among what they touched that were not there without them.
    fn faults_of(&mut self, ops: &[Op], touched: &BTreeSet<DefId>) -> Vec<Diagnostic> {
        let after = self.checks_of(touched);
        if after.found().next().is_none() {
            return Vec::new();
        }
        self.state.retract(&ops.iter().map(|op| op.id).collect());
        self.state.refresh();
        let known: HashSet<(DefId, String)> = self.checks_of(touched).found().map(fault_key).collect();
        self.state.apply(ops.iter().cloned());
        render(&self.state, after.found().filter(|found| !known.contains(&fault_key(found))))
    }

    fn checks_of(&self, definitions: &BTreeSet<DefId>) -> Checks {
        let changed = Changed { definitions: definitions.clone(), rehashed: 0 };
        let mut checks = Checks::default();
        checks.update(&self.state, &self.config.capabilities, &changed);
        checks
    }

    /// Accepts sealed ops as [`Store::accept`] does. Returns the faults that they brought too, among what they touched.
    pub fn accept_checked(&mut self, ops: Vec<Op>) -> Result<(Accepted, Vec<Diagnostic>), Error> {
        self.catch_up()?;
        let mut around = self.neighbours(&ops);
        for op in &ops {
            let named = [Some(&*op.name), op.name_new()];
            around.extend(named.into_iter().flatten().flat_map(|name| self.state.late_watchers(op.layer, name)));
        }
        let known: HashSet<(DefId, String)> = self.checks_of(&around).found().map(fault_key).collect();
        let result = self.accept(ops)?;
        let graph = self.state.graph();
        let taken = result.accepted.iter().chain(&result.healed).filter_map(|id| graph.node(*id));
        let taken: Vec<Op> = taken.map(|node| node.op.clone()).collect();
        let after = self.checks_of(&self.neighbours(&taken));
        let brought = render(&self.state, after.found().filter(|found| !known.contains(&fault_key(found))));
        Ok((result, brought))
    }

    /// Creates the faults of the present state. Those that the checkpoint has are taken from it, and the others go into
    /// it.
    ///
    /// # Errors
    /// When it was stopped.
    pub fn checks(&mut self) -> Result<Checks, Error> {
        self.checkpoint();
        let granted = &self.config.capabilities;
        let diagnostics = match self.rehearsed {
            None => checkpoint::diagnostics(&self.root, &self.sum, granted),
            // The checkpoint has none of a state that is only tried.
            Some(_) => Default::default(),
        };
        let (checks, fresh) = Checks::resume(&self.state, granted, diagnostics, &|| self.stop.is_cancelled());
        self.go_on()?;
        if !fresh.is_empty() && self.is_at_checkpoint() {
            let fresh = fresh.iter().map(|id| (*id, checks.of(*id)));
            checkpoint::keep_diagnostics(&self.root, &self.sum, granted, fresh);
        }
        Ok(checks)
    }

    /// Returns every fault of the present state.
    ///
    /// # Errors
    /// When it was stopped.
    pub fn check(&mut self) -> Result<Vec<Diagnostic>, Error> {
        let checks = self.checks()?;
        Ok(render(&self.state, checks.all(&self.state)))
    }
}

fn fault_key(found: &LocatedFault) -> (DefId, String) {
    (found.def, format!("{:?} {:?}", found.place, found.fault))
}

fn errors_text(faults: &[Diagnostic]) -> String {
    let lines: Vec<String> = faults
        .iter()
        .filter(|fault| !fault.warning)
        .map(|fault| format!("error[{}] {}: {}", fault.code, fault.location, fault.message))
        .collect();
    format!("new errors would arise\n  {}", lines.join("\n  "))
}
