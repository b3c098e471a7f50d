//! The summary of a definition whose ops follow one another, from what a checkpoint says about the earlier ones.

use std::collections::HashSet;

use super::{Graph, Lattice, Node, Summary};
use crate::strand::id::{DefId, OpId, UnitId};
use crate::strand::lazy::{Line, Role};
use crate::strand::op::Change;

impl Graph {
    /// Returns what the ops on a definition come to if they are a line. Only ops that its source did not take into the
    /// line are read.
    pub(super) fn line(&self, lattice: &Lattice) -> Option<Line> {
        if lattice.forked {
            return None;
        }
        let mut line = lattice.line.as_deref().cloned();
        let taken = line.as_ref().map_or(0, |line| line.roles.len());
        let mut last = lattice.ops.get(taken.wrapping_sub(1)).copied();
        for id in lattice.ops.get(taken..)? {
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

    /// Returns the line of a definition for a source to store: edits that no longer count are marked.
    pub fn line_to_store(&self, def: DefId) -> Option<Line> {
        let lattice = self.lattice(def)?;
        let mut line = self.line(lattice)?;
        if lattice.line.as_ref().is_some_and(|stored| stored.roles.len() == line.roles.len()) {
            return Some(line);
        }
        let mut set: HashSet<(Option<UnitId>, &str)> = HashSet::new();
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
    pub(super) fn of_line(line: Line, ops: &[OpId]) -> Summary {
        let of = |kinds: &'static [Role]| {
            ops.iter().zip(&line.roles).filter(move |(_, role)| kinds.contains(role)).map(|(id, _)| *id)
        };
        let other_bodies = of(&[Role::Body]).filter(|id| *id != line.epoch);
        Summary {
            live: true,
            edits: of(&[Role::Edit, Role::Covered]).collect(),
            counting: of(&[Role::Edit]).collect(),
            inactive: of(&[Role::Inactive]).chain(other_bodies).collect(),
            name: line.name,
            claim: line.claim,
            claimed_by_add: line.claimed_by_add,
            epoch: line.epoch,
            links: line.links,
            settled: None,
        }
    }
}
