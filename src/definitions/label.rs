//! The definitions that each hunk of a change touches: for the head of the hunk, and to fold or decide a definition as a
//! whole. What lies in two definitions is two hunks, however near they are.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use crate::code::{NodeKind, SourceFile, broken_line, is_renamed};
use crate::proposal::{ChangedLines, FileChange, HunkDefinition, HunkKind, State};
use crate::text::definition::DefinitionChange;

/// The bytes of all texts that are parsed for one proposal at most: it waits for that.
const MOST: usize = 2 << 20;
/// Pairs of definitions that are compared at most to find renamed ones.
const PAIRS: usize = 4_000;

/// Names the definitions that each hunk of some changes touches, where the files are ones that definitions are read from.
pub fn label(changes: &mut [FileChange]) {
    let mut left = MOST;
    for change in changes {
        let size = |state: &State| state.bytes().map_or(0, |bytes| bytes.len());
        let parsed = size(&change.before) + size(&change.after);
        if parsed <= left && label_file(change) {
            left -= parsed;
        }
    }
}

/// Returns whether the texts were parsed.
fn label_file(change: &mut FileChange) -> bool {
    let read = |state: &State| SourceFile::read(&change.path, state.bytes()?).ok().map(Side::new);
    if !change.hunks.iter().any(|hunk| matches!(hunk.kind, HunkKind::Lines | HunkKind::Create)) {
        return false;
    }
    let nothing = State::file(*b"");
    let from = if change.before.is_absent() { &nothing } else { &change.before };
    let (Some(before), Some(after)) = (read(from), read(&change.after)) else { return false };
    change.broken = broken_line(&before.file, &after.file);
    let versions = Versions::new(before, after);
    change.cut_further(|last, next| versions.are_apart(last, next));
    for hunk in change.hunks.iter_mut().filter(|hunk| hunk.kind == HunkKind::Lines) {
        hunk.definitions = versions.touched(&hunk.before, &hunk.after);
    }
    true
}

/// A text, and the innermost definition of each of its lines.
struct Side {
    file: SourceFile,
    innermost: Vec<Option<usize>>,
}

impl Side {
    fn new(file: SourceFile) -> Side {
        let mut innermost = vec![None; file.text.lines().count()];
        // One that stands in another comes after it. A field is a part of its type.
        for at in (0..file.nodes.len()).filter(|at| file.nodes[*at].kind != NodeKind::Field) {
            let (first, last) = file.lines(at);
            innermost[first - 1..last].fill(Some(at));
        }
        Side { file, innermost }
    }

    /// Returns the lines of a definition, from 0.
    fn lines(&self, at: usize) -> Range<usize> {
        let (first, last) = self.file.lines(at);
        first - 1..last
    }

    fn text(&self, at: usize) -> &str {
        &self.file.text[self.file.nodes[at].range.clone()]
    }

    fn label(&self, at: usize) -> String {
        format!("{} {}", self.file.nodes[at].kind.word(), self.file.name(at))
    }

    /// Returns the outermost of a definition and those around it that the other text does not have. `alike`: those of which
    /// it has most lines.
    fn outermost(&self, at: usize, other: &[Option<usize>], alike: &HashSet<usize>) -> usize {
        let around = std::iter::successors(Some(at), |at| self.file.nodes[*at].parent);
        around.take_while(|around| other[*around].is_none() && !alike.contains(around)).last().unwrap_or(at)
    }

    /// Returns whether a definition lies in another one.
    fn is_within(&self, at: usize, other: usize) -> bool {
        std::iter::successors(Some(at), |at| self.file.nodes[*at].parent).any(|around| around == other)
    }

    /// Returns the rest of a definition's name behind that of a type.
    fn member(&self, at: usize, of: usize) -> Option<&str> {
        self.file.nodes[at].dotted.strip_prefix(&self.file.nodes[of].dotted)?.strip_prefix('.')
    }

    fn has_members(&self, of: usize) -> bool {
        (0..self.file.nodes.len()).any(|at| self.member(at, of).is_some())
    }
}

/// A file before and after a change, with the definitions that are the same in both.
struct Versions {
    before: Side,
    after: Side,
    /// For each definition before the one after, and the other way round.
    later: Vec<Option<usize>>,
    earlier: Vec<Option<usize>>,
    /// The definition before that was renamed to one after.
    renamed: HashMap<usize, usize>,
    /// The ones of them, before and after, of which more than the name differs.
    alike: [HashSet<usize>; 2],
}

impl Versions {
    fn new(before: Side, after: Side) -> Versions {
        let (later, earlier) = (vec![None; before.file.nodes.len()], vec![None; after.file.nodes.len()]);
        let mut versions =
            Versions { before, after, later, earlier, renamed: HashMap::new(), alike: Default::default() };
        versions.find_same();
        versions.find_renamed();
        versions.find_alike();
        versions.find_members();
        versions
    }

    fn pair(&mut self, b: usize, a: usize) {
        self.later[b] = Some(a);
        self.earlier[a] = Some(b);
    }

    /// Pairs definitions of one kind and name: of several those of one text first, and the others in their order.
    fn find_same(&mut self) {
        let named = |side: &Side| {
            let mut named: HashMap<(&'static str, String), Vec<usize>> = HashMap::new();
            for (at, node) in side.file.nodes.iter().enumerate() {
                named.entry((node.kind.word(), node.dotted.clone())).or_default().push(at);
            }
            named
        };
        let mut new = named(&self.after);
        for (key, old) in named(&self.before) {
            let (mut now, mut others) = (new.remove(&key).unwrap_or_default(), Vec::new());
            for b in old {
                match now.iter().position(|a| self.after.text(*a) == self.before.text(b)) {
                    Some(at) => self.pair(b, now.remove(at)),
                    None => others.push(b),
                }
            }
            others.into_iter().zip(now).for_each(|(b, a)| self.pair(b, a));
        }
    }

    /// Returns the definitions that came and those that went.
    fn unpaired(&self) -> [Vec<usize>; 2] {
        let of = |pairs: &[Option<usize>]| (0..pairs.len()).filter(|at| pairs[*at].is_none()).collect();
        [of(&self.earlier), of(&self.later)]
    }

    fn is_free(&self, b: usize, a: usize) -> bool {
        !self.renamed.contains_key(&a) && !self.renamed.values().any(|taken| *taken == b)
    }

    /// Finds types that came and went under another name with most of their lines.
    fn find_alike(&mut self) {
        let [new, gone] = self.unpaired();
        if new.is_empty() || gone.is_empty() {
            return;
        }
        let (new, gone) = (
            new.into_iter().filter(|a| self.after.has_members(*a)).collect::<Vec<_>>(),
            gone.into_iter().filter(|b| self.before.has_members(*b)).collect::<Vec<_>>(),
        );
        let pairs = new.iter().flat_map(|a| gone.iter().map(move |b| (*a, *b)));
        for (a, b) in pairs.take(PAIRS) {
            let (old, now) = (&self.before.file.nodes[b], &self.after.file.nodes[a]);
            let is_other = old.kind == now.kind && old.name != now.name;
            if is_other && self.is_free(b, a) && has_most_lines(self.before.text(b), self.after.text(a)) {
                self.renamed.insert(a, b);
                self.alike[0].insert(b);
                self.alike[1].insert(a);
            }
        }
    }

    /// Pairs the members of types that were renamed, but for what lies in one of which only the name differs.
    fn find_members(&mut self) {
        let renamed: Vec<(usize, usize)> = self.renamed.iter().map(|(a, b)| (*a, *b)).collect();
        for (of_a, of_b) in renamed {
            let [new, gone] = self.unpaired();
            let is_alike = self.alike[1].contains(&of_a);
            for b in gone {
                if !is_alike && self.before.is_within(b, of_b) {
                    continue;
                }
                let Some(member) = self.before.member(b, of_b) else { continue };
                let old = &self.before.file.nodes[b];
                let is_it = |a: &&usize| {
                    let now = &self.after.file.nodes[**a];
                    let is_same = now.kind == old.kind && now.number == old.number;
                    is_same && self.earlier[**a].is_none() && self.after.member(**a, of_a) == Some(member)
                };
                if let Some(a) = new.iter().find(is_it).copied() {
                    self.pair(b, a);
                }
            }
        }
    }

    /// Finds those of the definitions that came and went of which only the name differs.
    fn find_renamed(&mut self) {
        let [new, gone] = self.unpaired();
        let pairs = new.iter().flat_map(|a| gone.iter().map(move |b| (*a, *b)));
        for (a, b) in pairs.take(PAIRS) {
            if self.is_free(b, a) && is_renamed(&self.before.file, b, &self.after.file, a) {
                self.renamed.insert(a, b);
            }
        }
    }

    /// Returns whether two runs of changed lines touch definitions of which none is the other's, so that each can be
    /// decided alone.
    fn are_apart(&self, last: &ChangedLines, next: &ChangedLines) -> bool {
        let [last, next] = [last, next].map(|(before, after)| self.touched(before, after));
        let is_other = |one: &HunkDefinition| next.iter().all(|other| other.name != one.name);
        !last.is_empty() && !next.is_empty() && last.iter().all(is_other)
    }

    /// Returns whether a hunk puts its lines into another order, and changes none.
    fn is_reordered(&self, before: &Range<usize>, after: &Range<usize>) -> bool {
        let of = |side: &Side, lines: &Range<usize>| {
            let all = side.file.text.lines().skip(lines.start).take(lines.len());
            solid(all).into_iter().map(|(line, count)| (line.to_owned(), count)).collect::<HashMap<_, _>>()
        };
        of(&self.before, before) == of(&self.after, after)
    }

    /// Returns the definitions that a hunk with these lines before and after touches. The whole texts say which of them
    /// come or go: its lines may end in the middle of one, where two end alike.
    fn touched(&self, before: &Range<usize>, after: &Range<usize>) -> Vec<HunkDefinition> {
        let mut found: Vec<HunkDefinition> = Vec::new();
        let mut add = |name: String, change: DefinitionChange| {
            if !found.iter().any(|one| one.name == name) {
                found.push(HunkDefinition { name, change });
            }
        };
        for at in innermost(&self.after, after) {
            let at = self.after.outermost(at, &self.earlier, &self.alike[1]);
            let name = self.after.label(at);
            match (self.earlier[at], self.renamed.get(&at)) {
                (None, Some(_)) => add(name, DefinitionChange::Renamed),
                (None, None) => add(name, DefinitionChange::New),
                (Some(b), _) if self.after.text(at) != self.before.text(b) => add(name, DefinitionChange::Changed),
                (Some(b), _) if !meet(&self.before.lines(b), before) => add(name, DefinitionChange::Moved),
                _ => {}
            }
        }
        for at in innermost(&self.before, before) {
            let at = self.before.outermost(at, &self.later, &self.alike[0]);
            let renamed = || self.renamed.iter().find(|(_, before)| **before == at);
            match self.later[at] {
                None => match renamed() {
                    Some((a, _)) => add(self.after.label(*a), DefinitionChange::Renamed),
                    None => add(self.before.label(at), DefinitionChange::Removed),
                },
                Some(a) if self.after.text(a) != self.before.text(at) => {
                    add(self.after.label(a), DefinitionChange::Changed);
                }
                Some(a) if !meet(&self.after.lines(a), after) => add(self.after.label(a), DefinitionChange::Moved),
                Some(_) => {}
            }
        }
        if found.is_empty() && self.is_reordered(before, after) {
            // One that changed places with its neighbour lies in the hunk at both ends.
            let whole = |at: &usize| contains(after, &self.after.lines(*at)) && self.earlier[*at].is_some();
            let moved = innermost(&self.after, after).into_iter().filter(whole);
            found
                .extend(moved.map(|at| HunkDefinition { name: self.after.label(at), change: DefinitionChange::Moved }));
        }
        found
    }
}

/// Returns how often each line of a text stands in it, without blank ones and the space around each.
fn solid<'t>(lines: impl Iterator<Item = &'t str>) -> HashMap<&'t str, usize> {
    let mut counts = HashMap::new();
    lines.map(str::trim).filter(|line| !line.is_empty()).for_each(|line| *counts.entry(line).or_insert(0) += 1);
    counts
}

/// Returns whether two texts have at least 60 % of their lines in common.
fn has_most_lines(one: &str, other: &str) -> bool {
    let (one, other) = (solid(one.lines()), solid(other.lines()));
    let most = one.values().sum::<usize>().max(other.values().sum());
    let common = one.iter().map(|(line, count)| (*count).min(other.get(line).copied().unwrap_or_default()));
    common.sum::<usize>() * 5 >= most * 3
}

fn contains(one: &Range<usize>, other: &Range<usize>) -> bool {
    one.start <= other.start && other.end <= one.end
}

/// Returns the innermost definitions of some lines, each once.
fn innermost(side: &Side, lines: &Range<usize>) -> Vec<usize> {
    let end = lines.end.min(side.innermost.len());
    let mut found: Vec<usize> = side.innermost[lines.start.min(end)..end].iter().flatten().copied().collect();
    found.dedup();
    found
}

fn meet(one: &Range<usize>, other: &Range<usize>) -> bool {
    one.start < other.end && other.start < one.end
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    const BEFORE: &str = "\
use a;

fn total() {
    1
}

fn keep() {
    2
}

struct Cart {
    items: u8,
    name: u8,
}

fn gone() {
    let far = 3;
    far
}

mod b {
    fn deep() {
        total();
    }
}
";

    /// The labels of each hunk of a change of a file.
    fn labels(path: &str, before: &str, after: &str) -> Vec<String> {
        let mut change = FileChange::new(path, State::file(before.as_bytes()), State::file(after.as_bytes()), "", &[]);
        label(std::slice::from_mut(&mut change));
        let one = |d: &HunkDefinition| format!("{} {:?}", d.name, d.change);
        let hunks = change.hunks.iter();
        hunks.map(|hunk| hunk.definitions.iter().map(one).collect::<Vec<_>>().join(", ")).collect()
    }

    #[track_caller]
    fn check(replace: &[(&str, &str)], want: &[&str]) {
        let after = replace.iter().fold(BEFORE.to_string(), |text, (old, new)| {
            assert!(text.contains(old), "{old}");
            text.replace(old, new)
        });
        assert_eq!(labels("a.rs", BEFORE, &after), want);
    }

    #[test]
    fn a_hunk_bears_what_it_does_to_which_definition() {
        check(&[("    1\n", "    7\n")], &["fn total Changed"]);
        check(&[("use a;", "use b;")], &[""]);
        check(&[("        total();\n", "        total(1);\n")], &["fn b.deep Changed"]);
        check(&[("    name: u8,\n", "    name: u16,\n    more: u8,\n")], &["struct Cart Changed"]);
        check(&[("fn keep() {", "fn kept() {")], &["fn kept Renamed"]);
        check(&[("fn gone() {\n    let far = 3;\n    far\n}\n\n", "")], &["fn gone Removed"]);
        // Its body holds a name that is made of its own.
        let (before, after) = ("fn a() {\n    a(aa)\n}\n", "fn b() {\n    b(aa)\n}\n");
        assert_eq!(labels("a.rs", before, after), ["fn b Renamed"]);
        check(&[("mod b {\n", "mod c {\n    fn new() {\n        0\n    }\n}\n\nmod b {\n")], &["mod c New"]);
        // Two definitions near each other are two hunks.
        check(&[("    1\n", "    7\n"), ("    2\n", "    8\n")], &["fn total Changed", "fn keep Changed"]);
        // The definition goes from one place to another: two hunks, one label.
        let gone = "fn gone() {\n    let far = 3;\n    far\n}\n\n";
        check(
            &[(gone, ""), ("use a;\n", &format!("use a;\n\n{}", gone.trim_end()))],
            &["fn gone Moved", "fn gone Moved"],
        );
    }

    #[test]
    fn what_comes_or_goes_behind_a_changed_definition_is_named_so_though_both_end_alike() {
        let rust = |n: u8, next: &str| format!("fn a() -> u8 {{\n    {n}\n}}\n{next}\nfn c() {{}}\n");
        let typed = |n: u8, next: &str| {
            format!("export class A {{\n  two() {{\n    return {n};\n  }}\n{next}}}\n\nexport const last = 1;\n")
        };
        let go = |n: u8, next: &str| format!("package p\n\nfunc A() int {{\n\treturn {n}\n}}\n{next}\nfunc Z() {{}}\n");
        let python = |n: u8, next: &str| format!("def a():\n    return {n}\n\n\n{next}def c():\n    return 3\n");
        let in_rust = "\nfn b() -> u8 {\n    5\n}\n";
        let in_class = "\n  three() {\n    return 3;\n  }\n\n  four() {\n    return 4;\n  }\n";
        let in_go = "\nfunc B() int {\n\treturn 5\n}\n";
        let in_python = "def b():\n    return 5\n\n\n";
        for (path, short, long, first, others) in [
            ("a.rs", rust(1, ""), rust(2, in_rust), "fn a", &["fn b"][..]),
            ("a.ts", typed(1, ""), typed(2, in_class), "method A.two", &["method A.three", "method A.four"]),
            ("a.go", go(1, ""), go(2, in_go), "fn A", &["fn B"]),
            ("a.py", python(1, ""), python(2, in_python), "fn a", &["fn b"]),
        ] {
            for (before, after, change) in [(&short, &long, "New"), (&long, &short, "Removed")] {
                let hunks = labels(path, before, after);
                let named = hunks.iter().flat_map(|hunk| hunk.split(", ")).filter(|one| *one != "class A Changed");
                let named: BTreeSet<String> = named.map(str::to_owned).collect();
                let others = others.iter().map(|name| format!("{name} {change}"));
                let want: BTreeSet<String> = others.chain([format!("{first} Changed")]).collect();
                assert_eq!(named, want, "{path}");
            }
        }
    }

    #[test]
    fn both_ends_of_what_is_renamed_and_moved_bear_its_new_name() {
        let helper = |name: &str| format!("fn {name}(x: u32) -> u32 {{\n    let y = x * 2;\n    y + 1\n}}\n\n");
        let middle = format!("fn mid() {{\n{}}}\n\n", "    step();\n".repeat(9));
        let (before, after) = (format!("{}{middle}fn last() {{}}\n", helper("helper")), helper("doubled"));
        let after = format!("{middle}{after}fn last() {{}}\n");
        assert_eq!(labels("a.rs", &before, &after), ["fn doubled Renamed", "fn doubled Renamed"]);
        // Another text under another name comes, and the old one goes.
        let other = after.replace("y + 1", "y + 2");
        assert_eq!(labels("a.rs", &before, &other), ["fn helper Removed", "fn doubled New"]);
        // What stands in a renamed one is renamed with it.
        let class = |name: &str| format!("class {name} {{\n  a = 1;\n\n\n\n  make() {{\n    new {name}();\n  }}\n}}\n");
        assert_eq!(labels("a.ts", &class("A"), &class("B")), ["class B Renamed", "class B Renamed"]);
    }

    #[test]
    fn what_changed_in_a_renamed_type_bears_its_own_label() {
        let class = |name: &str, n: u8| {
            let gap = "  // a line\n".repeat(9);
            format!("class {name} {{\n  one() {{\n    return 1;\n  }}\n{gap}  two() {{\n    return {n};\n  }}\n}}\n")
        };
        let want = ["class Basket Renamed", "method Basket.two Changed"];
        assert_eq!(labels("a.ts", &class("Cart", 1), &class("Basket", 2)), want);
        let go = |name: &str| {
            format!("package p\n\ntype {name} struct {{\n\ta int\n}}\n\nfunc (c {name}) One() int {{\n\treturn 1\n}}\n")
        };
        let found = labels("a.go", &go("Cart"), &go("Basket"));
        let is_named = |name: &str| found.iter().any(|one| one.contains(name));
        assert!(is_named("method Basket.One Changed") && is_named("struct Basket Renamed"), "{found:?}");
        assert!(!is_named("New") && !is_named("Removed"), "{found:?}");
    }

    #[test]
    fn those_of_one_name_are_told_apart_by_their_texts_and_neighbours_that_swap_are_moved() {
        let from = |n: &str| {
            format!("impl From<{n}> for E {{\n    fn from(x: {n}) -> E {{\n        E(x as u8)\n    }}\n}}\n\n")
        };
        let [one, two] = [from("u8"), from("u16")];
        let found = labels("a.rs", &one, &format!("{two}{one}"));
        assert!(found.iter().any(|one| one.contains("New")), "{found:?}");
        assert!(found.iter().all(|one| !one.contains("Changed")), "{found:?}");
        let [a, b] = ["a", "b"].map(|name| format!("fn {name}() {{\n    {name}{name}();\n}}\n\n"));
        let found = labels("a.rs", &format!("{a}{b}fn c() {{}}\n"), &format!("{b}{a}fn c() {{}}\n"));
        assert!(!found.is_empty() && found.iter().all(|one| one.ends_with("Moved")), "{found:?}");
    }

    #[test]
    fn what_is_no_source_has_no_label() {
        assert_eq!(labels("a.md", "fn a() {}\n\nfn b() {}\n", "fn a() {}\n\nfn c() {}\n"), [""]);
        assert_eq!(labels("a.rs", "", "fn a() {}\n"), ["fn a New"]);
        let large = format!("fn a() {{}}\n{}", "// x\n".repeat(MOST / 5));
        assert_eq!(labels("a.rs", &large, &large.replace("a()", "b()")), [""]);
    }
}
