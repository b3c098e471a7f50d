//! Finds the definitions of two versions of a file that are the same one: of one name, or renamed.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::hash::Hash;

use super::likeness::{alike, nearest};
use crate::code::{CodeNode, NodeKind, SourceFile, nameless, unnamed};
use crate::proposal::ChangedLines;

/// The way in which a definition of one version is that of the other.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum LinkKind {
    /// It has its name; as a member that of the type around it, which may be renamed.
    Same,
    /// Nothing but the name differs.
    Renamed,
    /// The name differs, and a little more.
    Alike,
}

/// A definition of the other version that one is.
#[derive(Clone, Copy)]
pub(super) struct DefinitionLink {
    pub other: usize,
    pub how: LinkKind,
}

/// For each definition before the one after, and the other way round.
pub(super) struct DefinitionPairs {
    pub later: Vec<Option<DefinitionLink>>,
    pub earlier: Vec<Option<DefinitionLink>>,
}

impl DefinitionPairs {
    /// Finds them; the work grows with the size of the texts, however many definitions they hold.
    /// `changed`: the lines that differ, in the order of the texts.
    pub fn new(before: &SourceFile, after: &SourceFile, changed: &[ChangedLines]) -> DefinitionPairs {
        let (later, earlier) = (vec![None; before.nodes.len()], vec![None; after.nodes.len()]);
        let pairs = DefinitionPairs { later, earlier };
        let mut finding = Finding { before, after, pairs, names: HashMap::new(), changed };
        finding.find_same();
        // What holds others is found before them: they may be its members under its new name.
        let mut by_depth: BTreeMap<usize, Open> = BTreeMap::new();
        let depth = |node: &CodeNode| node.dotted.matches('.').count();
        let Open { gone, new } = finding.open();
        gone.into_iter().for_each(|b| by_depth.entry(depth(&before.nodes[b])).or_default().gone.push(b));
        new.into_iter().for_each(|a| by_depth.entry(depth(&after.nodes[a])).or_default().new.push(a));
        for open in by_depth.into_values() {
            finding.find_members(&open);
            finding.find_renamed(&open);
            finding.find_alike(&open);
        }
        finding.find_renamed_elsewhere();
        finding.pairs
    }
}

/// Definitions that are not paired: those that went and those that came.
#[derive(Default)]
struct Open {
    gone: Vec<usize>,
    new: Vec<usize>,
}

/// The search for pairs.
struct Finding<'f> {
    before: &'f SourceFile,
    after: &'f SourceFile,
    pairs: DefinitionPairs,
    /// The dotted names of those that were renamed, before and after.
    names: HashMap<&'f str, &'f str>,
    changed: &'f [ChangedLines],
}

impl<'f> Finding<'f> {
    fn pair(&mut self, b: usize, a: usize, how: LinkKind) {
        self.pairs.later[b] = Some(DefinitionLink { other: a, how });
        self.pairs.earlier[a] = Some(DefinitionLink { other: b, how });
        if how != LinkKind::Same {
            self.names.entry(&self.before.nodes[b].dotted).or_insert(&self.after.nodes[a].dotted);
        }
    }

    /// Pairs definitions of one kind and name: of several those of one text first, then the likest.
    fn find_same(&mut self) {
        let all = Open { gone: (0..self.before.nodes.len()).collect(), new: (0..self.after.nodes.len()).collect() };
        self.find_named(&all);
    }

    /// Pairs those of one kind and name, as what holds them is called now. Of several of one text those first whose name
    /// stands in the same unchanged line, then in their order; what is left with the likest.
    fn find_named(&mut self, open: &Open) {
        let (before, after) = (self.before, self.after);
        let text = |file: &'f SourceFile, at: usize| &file.text[file.nodes[at].range.clone()];
        let called: HashMap<usize, (NodeKind, String)> =
            open.gone.iter().map(|b| (*b, self.named_before(*b))).collect();
        let named = |a: usize| (after.nodes[a].kind, after.nodes[a].dotted.clone());
        let later = |b: usize| later_line(self.changed, name_line(before, b));
        let old = open.gone.iter().filter_map(|b| Some(((&called[b], text(before, *b), later(*b)?), *b)));
        let names: HashMap<usize, (NodeKind, String)> = open.new.iter().map(|a| (*a, named(*a))).collect();
        let now = open.new.iter().map(|a| ((&names[a], text(after, *a), name_line(after, *a)), *a));
        matched(old, now).into_iter().for_each(|(b, a)| self.pair(b, a, LinkKind::Same));
        let Open { gone, new } = self.still(open);
        let old = gone.iter().map(|b| ((&called[b], text(before, *b)), *b));
        let now = new.iter().map(|a| ((&names[a], text(after, *a)), *a));
        matched(old, now).into_iter().for_each(|(b, a)| self.pair(b, a, LinkKind::Same));
        for Open { gone, new } in grouped(self.still(open), |b| &called[&b], |a| &names[&a]) {
            nearest((before, &gone), (after, &new)).into_iter().for_each(|(b, a)| self.pair(b, a, LinkKind::Same));
        }
    }

    /// Returns the kind of a definition before, and the name that it has after the change where it keeps its own.
    fn named_before(&self, b: usize) -> (NodeKind, String) {
        (self.before.nodes[b].kind, self.now_called(&self.before.nodes[b].dotted))
    }

    /// Returns those that are not paired, without what lies in one of which nothing but the name differs.
    fn open(&self) -> Open {
        let of = |file: &SourceFile, links: &[Option<DefinitionLink>]| {
            (0..links.len()).filter(|at| is_open(file, links, *at)).collect()
        };
        Open { gone: of(self.before, &self.pairs.later), new: of(self.after, &self.pairs.earlier) }
    }

    /// Returns those of some that are still open.
    fn still(&self, open: &Open) -> Open {
        let of = |file: &SourceFile, links: &[Option<DefinitionLink>], some: &[usize]| {
            some.iter().copied().filter(|at| is_open(file, links, *at)).collect()
        };
        Open {
            gone: of(self.before, &self.pairs.later, &open.gone),
            new: of(self.after, &self.pairs.earlier, &open.new),
        }
    }

    /// Returns the dotted name after the change of what had this one before.
    fn now_called(&self, dotted: &str) -> String {
        let ends = std::iter::successors(Some(dotted.len()), |end| dotted[..*end].rfind('.'));
        let mut renamed = ends.filter_map(|end| Some((*self.names.get(&dotted[..end])?, end)));
        renamed.next().map_or_else(|| dotted.to_owned(), |(new, end)| format!("{new}{}", &dotted[end..]))
    }

    /// Pairs the members of types that were renamed.
    fn find_members(&mut self, open: &Open) {
        if self.names.is_empty() {
            return;
        }
        self.find_named(&self.still(open));
    }

    /// Returns the kind of a definition before, and the name after the change of what holds it.
    fn home_of_old(&self, b: usize) -> (NodeKind, String) {
        (self.before.nodes[b].kind, self.now_called(holder(&self.before.nodes[b])))
    }

    fn home_of_new(&self, a: usize) -> (NodeKind, String) {
        (self.after.nodes[a].kind, holder(&self.after.nodes[a]).to_owned())
    }

    /// Pairs those of which nothing but the name differs, where one thing holds both.
    fn find_renamed(&mut self, open: &Open) {
        for rest in [unnamed, nameless] {
            let Open { gone, new } = self.still(open);
            let old = gone.iter().map(|b| ((self.home_of_old(*b), rest(self.before, *b)), *b));
            let now = new.iter().map(|a| ((self.home_of_new(*a), rest(self.after, *a)), *a));
            for (b, a) in matched(old, now) {
                let is_renamed = self.before.nodes[b].name != self.after.nodes[a].name;
                self.pair(b, a, if is_renamed { LinkKind::Renamed } else { LinkKind::Same });
            }
        }
    }

    /// Pairs those that have most of their lines in common, where one thing holds both.
    fn find_alike(&mut self, open: &Open) {
        for Open { gone, new } in grouped(self.still(open), |b| self.home_of_old(b), |a| self.home_of_new(a)) {
            for (b, a) in alike((self.before, &gone), (self.after, &new)) {
                self.pair(b, a, LinkKind::Alike);
            }
        }
    }

    /// Pairs those of which nothing but the name and the place differs.
    fn find_renamed_elsewhere(&mut self) {
        for rest in [unnamed, nameless] {
            let Open { gone, new } = self.open();
            let old = gone.iter().map(|b| ((self.before.nodes[*b].kind, rest(self.before, *b)), *b));
            let now = new.iter().map(|a| ((self.after.nodes[*a].kind, rest(self.after, *a)), *a));
            for (b, a) in matched(old, now) {
                // One that keeps its name and comes to stand in something else is another one.
                if self.before.nodes[b].name != self.after.nodes[a].name {
                    self.pair(b, a, LinkKind::Renamed);
                }
            }
        }
    }
}

/// Returns the line of a definition's name, from 0.
pub(super) fn name_line(file: &SourceFile, at: usize) -> usize {
    file.line(file.nodes[at].name_at.start) - 1
}

/// Returns the line after a change of an unchanged line; none: it is a changed one. `changed`: the lines that differ.
pub(super) fn later_line(changed: &[ChangedLines], line: usize) -> Option<usize> {
    let next = changed.partition_point(|(before, _)| before.end <= line);
    let is_changed = changed.get(next).is_some_and(|(before, _)| before.start <= line);
    let (before, after) = next.checked_sub(1).map_or((0, 0), |last| (changed[last].0.end, changed[last].1.end));
    (!is_changed).then(|| line - before + after)
}

/// Returns the dotted name of what holds a definition; empty: nothing does.
fn holder(node: &CodeNode) -> &str {
    let before = node.dotted.strip_suffix(&node.name).unwrap_or_default();
    before.strip_suffix('.').unwrap_or_default()
}

fn is_open(file: &SourceFile, links: &[Option<DefinitionLink>], at: usize) -> bool {
    let mut around = std::iter::successors(file.nodes[at].parent, |up| file.nodes[*up].parent);
    links[at].is_none() && !around.any(|up| links[up].is_some_and(|link| link.how == LinkKind::Renamed))
}

/// Returns the pairs of one key, each the first that is left, in the order of those before.
fn matched<K: Hash + Eq>(
    old: impl Iterator<Item = (K, usize)>,
    now: impl Iterator<Item = (K, usize)>,
) -> Vec<(usize, usize)> {
    let mut left: HashMap<K, VecDeque<usize>> = HashMap::new();
    now.for_each(|(key, a)| left.entry(key).or_default().push_back(a));
    old.filter_map(|(key, b)| Some((b, left.get_mut(&key)?.pop_front()?))).collect()
}

/// Returns those of one key in a group each, where some went and some came.
fn grouped<K: Hash + Eq>(open: Open, of_old: impl Fn(usize) -> K, of_new: impl Fn(usize) -> K) -> Vec<Open> {
    let mut groups: HashMap<K, Open> = HashMap::new();
    open.gone.into_iter().for_each(|b| groups.entry(of_old(b)).or_default().gone.push(b));
    open.new.into_iter().for_each(|a| groups.entry(of_new(a)).or_default().new.push(a));
    groups.into_values().filter(|group| !group.gone.is_empty() && !group.new.is_empty()).collect()
}
