//! Computes the fewest changes from one body to another: units are matched, registers compared.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::iter::successors;

use crate::strand::id::{Layer, OpId, UnitId};
use crate::strand::lang::ast::{Body, TypeBody};
use crate::strand::lang::unit::{Parts, Unit, has_units, split};
use crate::strand::op::{Change, Insert};

/// The most cells of the table that compares two runs of siblings, beside their equal ends: 16 MB.
const CELLS: usize = 4_000_000;

/// Returns the changes that make one body of another, for an edit of the given id; `None` if only a whole replacement
/// can, or the fewest changes would take too long to find. `units` are the identities of the old body's units.
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
    let (olds, news) = (Side::new(&old.units), Side::new(&new.units));
    let mut work = UnitDiff { op, changes: Vec::new(), inserted: 0, ids: units, old: &olds, new: &news };
    work.header(&old, &new);
    if has_units(layer, &old) {
        if units.len() != old.units.len() {
            return None;
        }
        if layer == Layer::Tile {
            work.pair(0, 0)?;
        } else {
            let all = |units: &[Unit]| (0..units.len()).collect::<Vec<_>>();
            work.sequence(None, &all(&old.units), &all(&new.units))?;
        }
    }
    Some(work.changes)
}

/// The units of one body.
struct Side<'w> {
    units: &'w [Unit],
    /// The children of each unit, in order.
    children: Vec<Vec<usize>>,
}

impl Side<'_> {
    fn new(units: &[Unit]) -> Side<'_> {
        let mut children = vec![Vec::new(); units.len()];
        for (at, unit) in units.iter().enumerate() {
            if let Some(parent) = unit.parent {
                children[parent].push(at);
            }
        }
        Side { units, children }
    }

    /// Returns the texts of units with everything below them.
    fn texts(&self, list: &[usize]) -> Vec<String> {
        list.iter().map(|at| self.text(*at)).collect()
    }

    fn text(&self, at: usize) -> String {
        let mut out = String::new();
        for (name, reg) in &self.units[at].regs {
            out.push_str(&format!("{name}={}\n", reg.text()));
        }
        for child in self.texts(&self.children[at]) {
            out.push_str(&format!("{{{child}}}"));
        }
        out
    }

    /// Returns the element that a unit of a tile is.
    fn elem(&self, at: usize) -> Option<String> {
        self.units[at].regs.get("elem").map(|reg| reg.text())
    }
}

struct UnitDiff<'w> {
    op: OpId,
    changes: Vec<Change>,
    inserted: u32,
    ids: &'w [UnitId],
    old: &'w Side<'w>,
    new: &'w Side<'w>,
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
        let (old, new) = (&self.old.units[a].regs, &self.new.units[b].regs);
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
        self.sequence(Some(a), &self.old.children[a], &self.new.children[b])
    }

    /// Makes one run of siblings of another.
    fn sequence(&mut self, parent: Option<usize>, a: &[usize], b: &[usize]) -> Option<()> {
        let (old, new) = (self.old.texts(a), self.new.texts(b));
        let parent = parent.map(|at| self.ids[at]);
        let mut last: Option<UnitId> = None;
        let (mut i, mut j) = (0, 0);
        for (x, y) in common(&old, &new)?.into_iter().chain([(a.len(), b.len())]) {
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
        self.old.elem(a) == self.new.elem(b)
    }

    fn insert(&mut self, at: usize, parent: Option<UnitId>, after: Option<UnitId>) -> UnitId {
        self.inserted += 1;
        let id = UnitId { op: self.op, n: self.inserted };
        let regs = self.new.units[at].regs.iter().map(|(name, reg)| (name.to_string(), reg.text())).collect();
        self.changes.push(Change::Insert(Box::new(Insert { id, after, parent, regs })));
        let mut last = None;
        for child in &self.new.children[at] {
            last = Some(self.insert(*child, Some(id), last));
        }
        id
    }
}

/// Returns a longest common subsequence, as pairs of positions; `None` if it would take too long to find.
fn common(a: &[String], b: &[String]) -> Option<Vec<(usize, usize)>> {
    let head = a.iter().zip(b).take_while(|(x, y)| x == y).count();
    let tail = a[head..].iter().rev().zip(b[head..].iter().rev()).take_while(|(x, y)| x == y).count();
    let (a_tail, b_tail) = (a.len() - tail, b.len() - tail);
    let between = common_between(&a[head..a_tail], &b[head..b_tail])?;
    let mut out: Vec<(usize, usize)> = (0..head).map(|n| (n, n)).collect();
    out.extend(between.into_iter().map(|(i, j)| (head + i, head + j)));
    out.extend((0..tail).map(|n| (a_tail + n, b_tail + n)));
    Some(out)
}

/// Returns the same for sequences without equal ends.
fn common_between(a: &[String], b: &[String]) -> Option<Vec<(usize, usize)>> {
    if a.len().saturating_mul(b.len()) > CELLS {
        return None;
    }
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
    Some(out)
}

/// Returns whether two edits of one body touch no register in common, and neither one what the other deletes. `above`
/// holds the parent of each unit that has one.
pub fn disjoint(a: &[Change], b: &[Change], above: &BTreeMap<UnitId, UnitId>) -> bool {
    let set: HashSet<_> = a.iter().filter_map(register).collect();
    let is_set = b.iter().filter_map(register).any(|register| set.contains(&register));
    !is_set && !touches_deleted(a, b, above) && !touches_deleted(b, a, above)
}

/// Returns the register that a change sets.
fn register(change: &Change) -> Option<(Option<UnitId>, &str)> {
    match change {
        Change::Set { unit, register, .. } => Some((*unit, register)),
        _ => None,
    }
}

/// Returns whether changes touch a unit that others delete, or one below it.
fn touches_deleted(changes: &[Change], others: &[Change], above: &BTreeMap<UnitId, UnitId>) -> bool {
    let deleted = |change: &Change| if let Change::Delete(unit) = change { Some(*unit) } else { None };
    let gone: HashSet<UnitId> = others.iter().filter_map(deleted).collect();
    changes.iter().any(|change| {
        let touched = match change {
            Change::Set { unit, .. } => *unit,
            Change::Insert(insert) => insert.parent,
            // Deleted by both, or with what is above it.
            Change::Delete(_) => None,
        };
        successors(touched, |unit| above.get(unit).copied()).any(|unit| gone.contains(&unit))
    })
}

#[cfg(test)]
mod tests {
    use super::{CELLS, common};

    fn texts(units: std::ops::Range<usize>) -> Vec<String> {
        units.map(|n| n.to_string()).collect()
    }

    #[test]
    fn an_edited_line_among_many_is_found_and_two_long_unlike_runs_are_not_compared() {
        let (old, mut new) = (texts(0..60_000), texts(0..60_000));
        new[30_000] = "other".to_owned();
        let pairs = common(&old, &new).unwrap();
        assert_eq!((pairs.len(), pairs[29_999], pairs[30_000]), (59_999, (29_999, 29_999), (30_001, 30_001)));
        let long = CELLS.isqrt() + 1;
        assert_eq!(common(&texts(0..long), &texts(long..2 * long)), None);
    }

    #[test]
    fn what_two_runs_share_between_unlike_ends_is_found() {
        let of = |text: &str| text.chars().map(String::from).collect::<Vec<_>>();
        assert_eq!(common(&of("axbyc"), &of("xqyc")), Some(vec![(1, 0), (3, 2), (4, 3)]));
        assert_eq!(common(&of("aa"), &of("aaa")), Some(vec![(0, 0), (1, 1)]));
        assert_eq!(common(&of(""), &of("a")), Some(Vec::new()));
    }
}
