//! Finds the definitions of two versions of a file that are the same one: of one name, or renamed.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::hash::Hash;
use std::ops::Range;

use self::likeness::{alike, nearest};
use super::file::SourceFile;
use super::lang::{CodeNode, NodeKind};
use super::nameless::{is_respelled, nameless, unnamed};

mod likeness;

/// A run of lines that differ, before and after.
type LineRun = (Range<usize>, Range<usize>);

/// The way in which a definition of one version is that of the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LinkKind {
    /// It has its name; as a member that of the type around it, which may be renamed.
    Same,
    /// Nothing but the name differs.
    Renamed,
    /// The name differs, and a little more.
    Alike,
}

/// A definition of the other version that one is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DefinitionLink {
    /// Its place in the list of that version.
    pub other: usize,
    /// The way in which it is the same one.
    pub how: LinkKind,
}

/// For each definition before the one after, and the other way round.
pub struct DefinitionPairs {
    /// The place after of each definition before; none: it went, or went on within one of which nothing but the name differs.
    pub later: Vec<Option<DefinitionLink>>,
    /// The place before of each definition after; none: it came, or came within one of which nothing but the name differs.
    pub earlier: Vec<Option<DefinitionLink>>,
}

impl DefinitionPairs {
    /// Finds them; the work grows with the size of the texts, however many definitions they hold.
    /// `changed`: the lines that differ, in the order of the texts.
    pub fn new(before: &SourceFile, after: &SourceFile, changed: &[LineRun]) -> DefinitionPairs {
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

/// Returns what a definition of a file was in the version before. What stands in one of which nothing but the name differs
/// is what stood at its place there. `changed`: finds the lines that differ, in the order of the texts, where the names
/// alone do not say it.
pub fn earlier(
    before: &SourceFile,
    after: &SourceFile,
    at: usize,
    changed: impl FnOnce() -> Vec<LineRun>,
) -> Option<DefinitionLink> {
    let node = &after.nodes[at];
    let alone = before.nodes.iter().position(|other| is_called(other, node) && !other.shared && !node.shared);
    if let Some(other) = alone {
        return Some(DefinitionLink { other, how: LinkKind::Same });
    }
    let pairs = DefinitionPairs::new(before, after, &changed());
    let around = std::iter::successors(Some(at), |at| after.nodes[*at].parent);
    let (around, link) = around.filter_map(|around| Some((around, pairs.earlier[around]?))).next()?;
    match (around == at, link.how) {
        (true, _) => Some(link),
        (false, LinkKind::Renamed) => {
            let other = link.other + (at - around);
            let is_it = before.nodes.get(other).is_some_and(|other| other.kind == node.kind);
            is_it.then_some(DefinitionLink { other, how: LinkKind::Same })
        }
        (false, _) => None,
    }
}

/// Returns whether two definitions of two versions of a file have one name, number and kind.
pub fn is_called(one: &CodeNode, other: &CodeNode) -> bool {
    let key = |node: &CodeNode| (node.kind, node.number);
    key(one) == key(other) && one.dotted == other.dotted
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
    changed: &'f [LineRun],
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
        for rest in [|file, at| Some(unnamed(file, at)), nameless] {
            let Open { gone, new } = self.still(open);
            let old = gone.iter().filter_map(|b| Some(((self.home_of_old(*b), rest(self.before, *b)?), *b)));
            let now = new.iter().filter_map(|a| Some(((self.home_of_new(*a), rest(self.after, *a)?), *a)));
            for (b, a) in matched(old, now) {
                let is_renamed = self.before.nodes[b].name != self.after.nodes[a].name;
                self.pair(b, a, if is_renamed { LinkKind::Renamed } else { LinkKind::Same });
            }
        }
        self.find_renamed_with_field(open);
    }

    /// Pairs those that are renamed as the field whose name they bear: it is the member of that name in them.
    fn find_renamed_with_field(&mut self, open: &Open) {
        let fields = |file: &'f SourceFile| (0..file.nodes.len()).filter(|at| file.nodes[*at].kind == NodeKind::Field);
        let named: HashMap<&str, &str> = fields(self.before)
            .filter_map(|b| {
                let link = self.pairs.later[b].filter(|link| link.how == LinkKind::Renamed)?;
                Some((self.before.nodes[b].dotted.as_str(), self.after.nodes[link.other].dotted.as_str()))
            })
            .collect();
        if named.is_empty() {
            return;
        }
        let Open { gone, new } = self.still(open);
        let old = gone.iter().filter_map(|b| {
            let node = &self.before.nodes[*b];
            Some(((node.kind, *named.get(node.dotted.as_str())?), *b))
        });
        let now = new.iter().map(|a| ((self.after.nodes[*a].kind, self.after.nodes[*a].dotted.as_str()), *a));
        for (b, a) in matched(old, now) {
            let text =
                |file: &'f SourceFile, at: usize| (&file.text[file.nodes[at].range.clone()], &file.nodes[at].name);
            let ((old, old_name), (now, new_name)) = (text(self.before, b), text(self.after, a));
            if is_respelled(old, now, old_name, new_name) {
                self.pair(b, a, LinkKind::Renamed);
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
        for rest in [|file, at| Some(unnamed(file, at)), nameless] {
            let Open { gone, new } = self.open();
            let old = gone.iter().filter_map(|b| Some(((self.before.nodes[*b].kind, rest(self.before, *b)?), *b)));
            let now = new.iter().filter_map(|a| Some(((self.after.nodes[*a].kind, rest(self.after, *a)?), *a)));
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
pub fn name_line(file: &SourceFile, at: usize) -> usize {
    file.line(file.nodes[at].name_at.start) - 1
}

/// Returns the line after a change of an unchanged line; none: it is a changed one. `changed`: the lines that differ.
pub fn later_line(changed: &[LineRun], line: usize) -> Option<usize> {
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

#[cfg(test)]
mod tests {
    use super::*;

    /// The name before of a definition, and whether more of it differs.
    fn was(before: &str, after: &str, name: &str) -> Option<(String, LinkKind)> {
        let file = |text: &str| SourceFile::read("a.ts", text.as_bytes()).unwrap();
        let lines = || vec![(0..before.lines().count(), 0..after.lines().count())];
        let (before, after) = (file(before), file(after));
        let at = (0..after.nodes.len()).find(|at| after.name(*at) == name).unwrap();
        earlier(&before, &after, at, lines).map(|link| (before.name(link.other), link.how))
    }

    #[test]
    fn a_definition_is_followed_to_the_version_before() {
        let was = |before: &str, after: &str, name: &str| {
            let found = was(before, after, name);
            found.map_or_else(String::new, |(name, how)| format!("{name} {how:?}"))
        };
        let before = "function a() { a(1) }\nfunction b() {}\nfunction c() {}\n";
        assert_eq!(was(before, "function c() {}\nfunction b() { 2 }\n", "b"), "b Same");
        // Renamed and nothing else, wherever it stands now.
        assert_eq!(was(before, "function b() {}\nfunction d() { d(1) }\n", "d"), "a Renamed");
        // Its name stands elsewhere in it as something else, and as its own.
        let both = "function b() {}\nfunction e(o) { o.e + e(1) }\n";
        assert_eq!(was(both, "function all(o) { o.e + all(1) }\nfunction b() {}\n", "all"), "e Renamed");
        assert_eq!(was(both, "function all(o) { o.e + e(1) }\nfunction b() {}\nfunction f() {}\n", "all"), "e Renamed");
        assert_eq!(was(both, "function all(o) { o.e + f(1) }\nfunction b() {}\nfunction f() {}\n", "all"), "");
        // Another name and another text is another one, also in its place; so is one of another kind.
        assert_eq!(was(before, "function a() { a(1) }\nfunction d() { 4 }\nfunction c() {}\n", "d"), "");
        assert_eq!(was(before, "function a() { a(1) }\nclass B {}\nfunction c() {}\n", "B"), "");
        // Two that are renamed and changed at once are each the likest.
        let of = |one: &str, two: &str, n: u8| {
            let body = |k: u8| format!("  step({k});\n  more({k});\n  last({k});\n  return {n};\n");
            format!("function {one}() {{\n{}}}\nfunction {two}() {{\n{}}}\n", body(1), body(2))
        };
        assert_eq!(was(&of("one", "two", 0), &of("uno", "due", 7), "uno"), "one Alike");
        assert_eq!(was(&of("one", "two", 0), &of("uno", "due", 7), "due"), "two Alike");
    }

    #[test]
    fn a_member_of_a_renamed_type_is_followed() {
        let class = |name: &str, n: u8| format!("class {name} {{\n  a = 1;\n  two() {{\n    return {n};\n  }}\n}}\n");
        assert_eq!(was(&class("A", 1), &class("B", 1), "B.two"), Some(("A.two".into(), LinkKind::Same)));
        assert_eq!(was(&class("A", 1), &class("B", 2), "B.two"), Some(("A.two".into(), LinkKind::Same)));
    }

    #[test]
    fn of_several_of_one_name_the_one_before_is_that_of_its_text() {
        let one = |text: &str| format!("function f(x: {text}): {text};\n");
        let last = "function f(x) {\n  return x;\n}\n";
        let before = format!("{}{}{last}", one("string"), one("number"));
        let after = format!("{}{last}", one("number"));
        assert_eq!(was(&before, &after, "f#1"), Some(("f#2".into(), LinkKind::Same)));
    }
}
