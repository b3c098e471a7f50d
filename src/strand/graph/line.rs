//! The summary of a definition whose ops follow one another, from what a checkpoint says about the earlier ones.

use std::collections::HashSet;

use super::{Graph, Lattice, Node, Summary};
use crate::strand::id::{DefId, OpId, UnitId};
use crate::strand::lazy::{Ids, Line, Role};
use crate::strand::op::{Change, Kind, Op};

/// The most pairs of changes that are compared when an op comes; where there are more, the edit before is looked at when
/// the line is stored.
const MOST_COMPARED: usize = 64;

impl Graph {
    /// Returns what the ops on a definition come to if they are a line. They are read only where the lattice does not
    /// have it.
    pub(super) fn line(&self, lattice: &Lattice) -> Option<Line> {
        if lattice.forked || lattice.line.is_some() {
            return lattice.line.as_deref().cloned();
        }
        let mut line: Option<Line> = None;
        let mut last = None;
        for id in &lattice.ops {
            let Node { op, void, .. } = self.light(*id)?;
            match &mut line {
                Some(line) if last.is_some_and(|last| op.parents.contains(&last)) => line.take(op, void.is_some())?,
                Some(_) => return None,
                None => line = Some(Line::begin(op, void.is_some())?),
            }
            last = Some(*id);
        }
        line
    }

    /// Returns whether an edit sets everything that the last op on its definition sets, another edit of the same body.
    pub(super) fn covers_last(&self, op: &Op) -> bool {
        let last = self.lattices.get(op.target()).filter(|lattice| lattice.line.is_some() && op.kind == Kind::Edit);
        let Some(last) = last.and_then(|lattice| self.light(*lattice.ops.last()?)) else { return false };
        let is_set = |change: &Change| match change {
            Change::Set { unit, register, .. } => op.changes.iter().any(
                |later| matches!(later, Change::Set { unit: to, register: name, .. } if (to, name) == (unit, register)),
            ),
            Change::Insert(_) | Change::Delete(_) => false,
        };
        let few = last.op.changes.len().saturating_mul(op.changes.len()) <= MOST_COMPARED;
        let edits = last.op.kind == Kind::Edit && last.op.base == op.base && last.void.is_none();
        edits && few && !last.op.changes.is_empty() && last.op.changes.iter().all(is_set)
    }

    /// Returns the line of a definition for a source to store: edits that no longer count are marked.
    pub fn line_to_store(&self, def: DefId) -> Option<Line> {
        self.marked_line(self.lattice(def)?)
    }

    fn marked_line(&self, lattice: &Lattice) -> Option<Line> {
        let mut line = self.line(lattice)?;
        if lattice.stored == line.roles.len() {
            return Some(line);
        }
        let mut set: HashSet<(Option<UnitId>, &str), Ids> = HashSet::default();
        for (id, role) in lattice.ops.iter().zip(&mut line.roles).rev().filter(|(_, role)| **role == Role::Edit) {
            let mut counts = false;
            for change in &self.light(*id)?.op.changes {
                counts |= match change {
                    Change::Set { unit, register, .. } => set.insert((*unit, register)),
                    Change::Insert(_) | Change::Delete(_) => true,
                };
            }
            if !counts {
                *role = Role::Covered;
            }
        }
        Some(line)
    }
}

impl Summary {
    /// Returns what a line of ops comes to.
    pub(super) fn of_line(line: &Line, ops: &[OpId]) -> Summary {
        let of = |kinds: &'static [Role]| {
            ops.iter().zip(&line.roles).filter(move |(_, role)| kinds.contains(role)).map(|(id, _)| *id)
        };
        let other_bodies = of(&[Role::Body]).filter(|id| *id != line.epoch);
        Summary {
            live: true,
            edits: of(&[Role::Edit, Role::Covered]).collect(),
            counting: of(&[Role::Edit]).collect(),
            inactive: of(&[Role::Inactive]).chain(other_bodies).collect(),
            name: line.name.clone(),
            claim: line.claim,
            claimed_by_add: line.claimed_by_add,
            epoch: line.epoch,
            links: line.links.clone(),
            settled: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::strand::id::QName;
    use crate::strand::issue::{Draft, Issuer, Removal, issue};
    use crate::strand::state::State;

    fn draft(chance: &mut impl FnMut(u64) -> u64, n: u64) -> Draft {
        let qname = QName::parse(&format!("reducer.r{}", chance(4))).unwrap();
        let patch = |text: String| serde_json::json!({"body:1": text});
        match chance(12) {
            0 | 1 => Draft::Add { qname, body: "do= s := 1".into(), doc: None, def: None },
            2..=6 => Draft::Edit { qname, patch: patch(format!("set s := {n}")) },
            7 | 8 => Draft::Edit { qname, patch: patch(format!("append s := {n}")) },
            9 => Draft::Replace { qname, body: format!("do= s := {n}"), doc: None },
            10 => Draft::Rename { qname, to: format!("r{}", chance(4)) },
            _ => Draft::Remove { qname, how: Removal::Refuse },
        }
    }

    fn ops(state: &State) -> Vec<Op> {
        state.graph().ids().filter_map(|id| Some(state.graph().node(id)?.op.clone())).collect()
    }

    /// Compares the kept lines with what all ops come to. Returns how many lines it met, and how many covered edits.
    fn compare(graph: &Graph, seed: u64) -> (usize, usize) {
        let mut found = (0, 0);
        for def in graph.definitions() {
            let Some(lattice) = graph.lattices.get(def) else { continue };
            let (ops, heads, layer) = (lattice.ops.clone(), lattice.heads.clone(), lattice.layer);
            let bare = Lattice { ops, heads, layer, forked: lattice.forked, line: None, stored: 0 };
            assert_eq!(graph.marked_line(lattice), graph.marked_line(&bare), "history {seed}");
            let summary = |found: Option<Summary>| found.map(|found| Summary { counting: Vec::new(), ..found });
            assert_eq!(summary(graph.summary(def)), summary(graph.summary_from_scratch(&bare)), "history {seed}");
            let Some(line) = &lattice.line else { continue };
            assert_eq!(line.roles.len(), lattice.ops.len());
            found.0 += 1;
            found.1 += line.roles.iter().filter(|role| **role == Role::Covered).count();
        }
        found
    }

    #[test]
    fn a_kept_line_says_what_all_ops_say() {
        let mut found = (0, 0);
        for seed in 0..16 {
            let mut chance = crate::strand::numbers(seed);
            let (mut state, mut other) = (State::new(), State::new());
            for n in 0..80 {
                // A draft that does not fit is refused, and changes nothing.
                let made = issue(&mut state, &draft(&mut chance, n), &Issuer::new("user:me")).unwrap_or_default();
                match chance(12) {
                    0 => {
                        let _ = issue(&mut other, &draft(&mut chance, n), &Issuer::new("user:them"));
                        state.apply(ops(&other));
                    }
                    1 => drop(other.apply(ops(&state))),
                    2 => {
                        state.retract(&made.iter().map(|op| op.id).collect());
                        state.refresh();
                    }
                    _ => {}
                }
                let (lines, covered) = compare(state.graph(), seed);
                found = (found.0 + lines, found.1 + covered);
            }
        }
        assert!(found.0 > 100 && found.1 > 100, "{found:?}");
    }
}
