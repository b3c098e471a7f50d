//! Computes the fewest changes from one body to another: units are matched, registers compared.

use std::collections::BTreeSet;

use crate::strand::id::{Layer, OpId, UnitId};
use crate::strand::lang::ast::{Body, TypeBody};
use crate::strand::lang::unit::{Parts, Unit, has_units, split};
use crate::strand::op::{Change, Insert};

/// Returns the changes that make one body of another, for an edit of the given id; `None` if only a whole replacement
/// can. `units` are the identities of the old body's units.
pub fn diff(layer: Layer, old: &Body, units: &[UnitId], new: &Body, op: OpId) -> Option<Vec<Change>> {
    let same_form = match (old, new) {
        (Body::Type(old), Body::Type(new)) => matches!(
            (old, new),
            (TypeBody::Plain { .. }, TypeBody::Plain { .. })
                | (TypeBody::Record(_), TypeBody::Record(_))
                | (TypeBody::Union(_), TypeBody::Union(_))
        ),
        _ => old.layer() == new.layer(),
    };
    if !same_form {
        return None;
    }
    let (old, new) = (split(old), split(new));
    let mut work = UnitDiff { op, changes: Vec::new(), inserted: 0, ids: units, old: &old.units, new: &new.units };
    work.header(&old, &new);
    if has_units(layer, &old) {
        if units.len() != old.units.len() {
            return None;
        }
        if layer == Layer::Tile {
            work.pair(0, 0)?;
        } else {
            let (a, b) = ((0..old.units.len()).collect(), (0..new.units.len()).collect());
            work.sequence(None, a, b)?;
        }
    }
    Some(work.changes)
}

struct UnitDiff<'w> {
    op: OpId,
    changes: Vec<Change>,
    inserted: u32,
    ids: &'w [UnitId],
    old: &'w [Unit],
    new: &'w [Unit],
}

impl UnitDiff<'_> {
    fn header(&mut self, old: &Parts, new: &Parts) {
        let names: BTreeSet<_> = old.header.keys().chain(new.header.keys()).collect();
        for name in names {
            let value = new.header.get(name).map(|reg| reg.text());
            if old.header.get(name).map(|reg| reg.text()) != value {
                self.changes.push(Change::Set {
                    unit: None,
                    register: name.as_ref().into(),
                    value: value.map(Into::into),
                });
            }
        }
    }

    /// Makes one unit of another, children included.
    fn pair(&mut self, a: usize, b: usize) -> Option<()> {
        let (old, new) = (&self.old[a].regs, &self.new[b].regs);
        let kind = |regs: &std::collections::BTreeMap<_, crate::strand::lang::unit::Reg>| {
            regs.get("kind").map(|reg| reg.text())
        };
        let new_kind = kind(old) != kind(new);
        let names: BTreeSet<_> = old.keys().chain(new.keys()).collect();
        for name in names {
            let value = new.get(name).map(|reg| reg.text());
            let differs = old.get(name).map(|reg| reg.text()) != value;
            let left_over = new_kind && value.is_none() && matches!(name.as_ref(), "value" | "args");
            if (differs || (new_kind && value.is_some())) && !left_over {
                self.changes.push(Change::Set {
                    unit: Some(self.ids[a]),
                    register: name.as_ref().into(),
                    value: value.map(Into::into),
                });
            }
        }
        self.sequence(Some(a), children(self.old, a), children(self.new, b))
    }

    /// Makes one run of siblings of another.
    fn sequence(&mut self, parent: Option<usize>, a: Vec<usize>, b: Vec<usize>) -> Option<()> {
        let texts =
            |units: &[Unit], list: &[usize]| -> Vec<String> { list.iter().map(|at| text(units, *at)).collect() };
        let (old, new) = (texts(self.old, &a), texts(self.new, &b));
        let parent = parent.map(|at| self.ids[at]);
        let mut last: Option<UnitId> = None;
        let (mut i, mut j) = (0, 0);
        for (x, y) in common(&old, &new).into_iter().chain([(a.len(), b.len())]) {
            // Between two equal units: what can be matched is changed, the rest comes or goes.
            while i < x && j < y && self.alike(a[i], b[j]) {
                last = Some(self.ids[a[i]]);
                self.pair(a[i], b[j])?;
                (i, j) = (i + 1, j + 1);
            }
            while i < x {
                self.changes.push(Change::Delete(self.ids[a[i]]));
                i += 1;
            }
            while j < y {
                last = Some(self.insert(b[j], parent, last));
                j += 1;
            }
            if x < a.len() {
                last = Some(self.ids[a[x]]);
                (i, j) = (x + 1, y + 1);
            }
        }
        Some(())
    }

    /// Returns whether one unit may become another: of a tile, only the same element.
    fn alike(&self, a: usize, b: usize) -> bool {
        let elem = |units: &[Unit], at: usize| units[at].regs.get("elem").map(|reg| reg.text());
        elem(self.old, a) == elem(self.new, b)
    }

    fn insert(&mut self, at: usize, parent: Option<UnitId>, after: Option<UnitId>) -> UnitId {
        self.inserted += 1;
        let id = UnitId { op: self.op, n: self.inserted };
        let regs = self.new[at].regs.iter().map(|(name, reg)| (name.to_string(), reg.text())).collect();
        self.changes.push(Change::Insert(Box::new(Insert { id, after, parent, regs })));
        let mut last = None;
        for child in children(self.new, at) {
            last = Some(self.insert(child, Some(id), last));
        }
        id
    }
}

fn children(units: &[Unit], of: usize) -> Vec<usize> {
    (of + 1..units.len()).filter(|at| units[*at].parent == Some(of)).collect()
}

/// Returns the text of a unit with everything below it.
fn text(units: &[Unit], at: usize) -> String {
    let mut out = String::new();
    for (name, reg) in &units[at].regs {
        out.push_str(&format!("{name}={}\n", reg.text()));
    }
    for child in children(units, at) {
        out.push_str(&format!("{{{}}}", text(units, child)));
    }
    out
}

/// Returns a longest common subsequence, as pairs of positions.
fn common(a: &[String], b: &[String]) -> Vec<(usize, usize)> {
    let mut best = vec![vec![0u32; b.len() + 1]; a.len() + 1];
    for i in (0..a.len()).rev() {
        for j in (0..b.len()).rev() {
            best[i][j] = if a[i] == b[j] { best[i + 1][j + 1] + 1 } else { best[i + 1][j].max(best[i][j + 1]) };
        }
    }
    let (mut out, mut i, mut j) = (Vec::new(), 0, 0);
    while i < a.len() && j < b.len() {
        if a[i] == b[j] {
            out.push((i, j));
            (i, j) = (i + 1, j + 1);
        } else if best[i + 1][j] >= best[i][j + 1] {
            i += 1;
        } else {
            j += 1;
        }
    }
    out
}

/// Returns whether two edits of one body touch no register in common.
pub fn disjoint(a: &[Change], b: &[Change]) -> bool {
    let clash = |x: &Change, y: &Change| match (x, y) {
        (Change::Set { unit: u, register: r, .. }, Change::Set { unit: v, register: s, .. }) => u == v && r == s,
        (Change::Delete(u), Change::Set { unit: Some(v), .. })
        | (Change::Set { unit: Some(u), .. }, Change::Delete(v)) => u == v,
        (Change::Delete(unit), Change::Insert(insert)) | (Change::Insert(insert), Change::Delete(unit)) => {
            insert.parent == Some(*unit)
        }
        _ => false,
    };
    !a.iter().any(|x| b.iter().any(|y| clash(x, y)))
}
