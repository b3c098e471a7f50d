//! The definitions that each hunk of a change touches: for the head of the hunk, and to fold or decide a definition as a
//! whole. What lies in two definitions is two hunks, however near they are.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::ops::Range;

use crate::code::{
    DefinitionLink, DefinitionPairs, LinkKind, NodeKind, SourceFile, broken_line, is_respelled, later_line, name_line,
};
use crate::proposal::{ChangedLines, FileChange, HunkDefinition, HunkKind, State};
use crate::text::definition::DefinitionChange;

/// The bytes of all texts that are parsed for one proposal at most: it waits for that.
const MOST: usize = 2 << 20;

/// Names the definitions that each hunk of some changes touches, where the files are ones that definitions are read from.
pub fn label(changes: &mut [FileChange]) {
    let mut left = MOST;
    let mut within = |change: &mut FileChange| {
        let size = |state: &State| state.bytes().map_or(0, |bytes| bytes.len());
        let parsed = size(&change.before) + size(&change.after);
        if parsed <= left && label_file(change) {
            left -= parsed;
        }
    };
    for at in 0..changes.len() {
        match in_place(changes, at) {
            Some(mut unmoved) => {
                within(&mut unmoved);
                label_move(&mut changes[at], unmoved);
            }
            None => within(&mut changes[at]),
        }
    }
}

/// Returns the change of a file that comes from another path, as it would be had the file stayed; none: it is no such end
/// of a move.
fn in_place(changes: &[FileChange], at: usize) -> Option<FileChange> {
    let to = &changes[at];
    let path = to.moved.as_ref().filter(|_| to.before.is_absent())?;
    let from = changes.iter().find(|change| change.path == *path && change.after.is_absent())?;
    Some(FileChange::new(to.path.as_str(), from.before.clone(), to.after.clone(), "", &[]))
}

/// Names the definitions that the far end of a move changes, each once: its one hunk holds them all.
fn label_move(to: &mut FileChange, unmoved: FileChange) {
    to.broken = unmoved.broken;
    let mut definitions = unmoved.hunks.into_iter().flat_map(|hunk| hunk.definitions).collect::<Vec<_>>();
    let mut names = HashSet::new();
    definitions.retain(|one| names.insert(one.name.clone()));
    if let Some(hunk) = to.hunks.iter_mut().find(|hunk| hunk.kind == HunkKind::Move) {
        hunk.definitions = definitions;
    }
}

/// Returns whether the texts were parsed.
fn label_file(change: &mut FileChange) -> bool {
    let read = |state: &State| SourceFile::read(&change.path, state.bytes()?).ok().map(Side::new);
    let is_read = |kind: HunkKind| matches!(kind, HunkKind::Lines | HunkKind::Create | HunkKind::Delete);
    if !change.hunks.iter().any(|hunk| is_read(hunk.kind)) {
        return false;
    }
    let nothing = State::file(*b"");
    let text = |state| if State::is_absent(state) { &nothing } else { state };
    let (Some(before), Some(after)) = (read(text(&change.before)), read(text(&change.after))) else { return false };
    change.broken = broken_line(&before.file, &after.file);
    let lines = change.hunks.iter().filter(|hunk| hunk.kind == HunkKind::Lines);
    let lines = lines.map(|hunk| (hunk.before.clone(), hunk.after.clone())).collect();
    let versions = Versions::new(before, after, lines);
    let growing = RefCell::new(GrowingHunk::default());
    change.cut_further(|last, next| versions.are_apart(&mut growing.borrow_mut(), last, next));
    for hunk in change.hunks.iter_mut().filter(|hunk| is_read(hunk.kind)) {
        hunk.definitions = match hunk.kind {
            HunkKind::Lines => versions.touched(&hunk.before, &hunk.after),
            _ => versions.touched(&versions.before.all(), &versions.after.all()),
        };
    }
    true
}

/// A text, and the innermost definition of each of its lines.
struct Side {
    file: SourceFile,
    innermost: Vec<Option<usize>>,
    /// The lines that hold nothing, or a comment alone.
    blank: Vec<bool>,
}

impl Side {
    fn new(file: SourceFile) -> Side {
        let mut innermost = vec![None; file.text.lines().count()];
        // One that stands in another comes after it. A field is a part of its type.
        for at in (0..file.nodes.len()).filter(|at| file.nodes[*at].kind != NodeKind::Field) {
            let (first, last) = file.lines(at);
            innermost[first - 1..last].fill(Some(at));
        }
        let is_blank =
            |line: &str| line.is_empty() || ["//", "# ", "/*", "* ", "*/"].iter().any(|mark| line.starts_with(mark));
        let blank = file.text.lines().map(|line| is_blank(line.trim())).collect();
        Side { file, innermost, blank }
    }

    /// Returns its lines, from 0.
    fn all(&self) -> Range<usize> {
        0..self.innermost.len()
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

    /// Returns the outermost of a definition and those around it that bear no label of their own: they come, go or are
    /// renamed with what holds them. `links`: those to the other text.
    fn outermost(&self, at: usize, links: &[Option<DefinitionLink>]) -> usize {
        let around = std::iter::successors(Some(at), |at| self.file.nodes[*at].parent);
        let is_own = |at: usize| links[at].is_some_and(|link| link.how != LinkKind::Renamed);
        around.take_while(|around| !is_own(*around)).last().unwrap_or(at)
    }

    /// Returns the lines of a definition that lie in no other one, without space around them and blank ones.
    fn own_lines(&self, at: usize) -> String {
        let range = self.lines(at);
        let is_own = move |n: &usize| self.innermost.get(*n).is_some_and(|innermost| *innermost == Some(at));
        let lines = self.file.text_of_lines(&range).lines().zip(range).filter(move |(_, n)| is_own(n));
        lines.map(|(line, _)| line.trim()).filter(|line| !line.is_empty()).flat_map(|line| [line, "\n"]).collect()
    }
}

/// A file before and after a change, with the definitions that are the same in both.
struct Versions {
    before: Side,
    after: Side,
    pairs: DefinitionPairs,
    /// The lines that differ.
    lines: Vec<ChangedLines>,
    /// The definitions after the change of which more than the name differs, and more than those in them.
    changed: Vec<bool>,
}

impl Versions {
    fn new(before: Side, after: Side, lines: Vec<ChangedLines>) -> Versions {
        let pairs = DefinitionPairs::new(&before.file, &after.file, &lines);
        let is_changed = |(a, link): (usize, &Option<DefinitionLink>)| {
            link.is_some_and(|link| match link.how {
                LinkKind::Same => after.text(a) != before.text(link.other),
                LinkKind::Renamed => false,
                LinkKind::Alike => {
                    let name = |side: &Side, at: usize| side.file.nodes[at].name.clone();
                    let (old, new) = (name(&before, link.other), name(&after, a));
                    !is_respelled(&before.own_lines(link.other), &after.own_lines(a), &old, &new)
                }
            })
        };
        let changed = pairs.earlier.iter().enumerate().map(is_changed).collect();
        Versions { before, after, pairs, lines, changed }
    }

    /// Returns whether two runs of changed lines touch definitions of which none is the other's, so that each can be
    /// decided alone. `growing`: the hunk that the first ends, as far as it was looked at.
    fn are_apart(&self, growing: &mut GrowingHunk, last: &ChangedLines, next: &ChangedLines) -> bool {
        let start = (last.0.start, last.1.start);
        if growing.start != start {
            *growing = GrowingHunk { start, end: start, names: HashSet::new() };
        }
        let more = self.touched(&(growing.end.0..last.0.end), &(growing.end.1..last.1.end));
        growing.names.extend(more.into_iter().map(|one| one.name));
        growing.end = (last.0.end, last.1.end);
        let next = self.touched(&next.0, &next.1);
        let is_other = |one: &HunkDefinition| !growing.names.contains(&one.name);
        !growing.names.is_empty() && !next.is_empty() && next.iter().all(is_other)
    }

    /// Returns whether a hunk puts its lines into another order, and changes none.
    fn is_reordered(&self, before: &Range<usize>, after: &Range<usize>) -> bool {
        solid(self.before.file.text_of_lines(before)) == solid(self.after.file.text_of_lines(after))
    }

    /// Returns whether the name of a definition stands in a line that stays: others of its lines may be paired with those
    /// of one that ends alike.
    fn stays(&self, b: usize, a: usize) -> bool {
        later_line(&self.lines, name_line(&self.before.file, b)) == Some(name_line(&self.after.file, a))
    }

    /// Returns what becomes of a definition that is there before and after; none: nothing. `is_here`: it stays in its place.
    fn effect(&self, how: LinkKind, a: usize, is_here: bool) -> Option<DefinitionChange> {
        match (how, self.changed[a]) {
            (LinkKind::Same, true) if is_here => Some(DefinitionChange::Changed),
            (LinkKind::Same, true) => Some(DefinitionChange::MovedAndChanged),
            (LinkKind::Same, false) => (!is_here).then_some(DefinitionChange::Moved),
            (LinkKind::Alike, true) => Some(DefinitionChange::RenamedAndChanged),
            (LinkKind::Renamed | LinkKind::Alike, _) => Some(DefinitionChange::Renamed),
        }
    }

    /// Returns the definitions that a hunk with these lines before and after touches. The whole texts say which of them
    /// come or go: its lines may end in the middle of one, where two end alike.
    fn touched(&self, before: &Range<usize>, after: &Range<usize>) -> Vec<HunkDefinition> {
        let (mut found, mut names) = (Vec::new(), HashSet::new());
        let mut add = |name: String, change: Option<DefinitionChange>| {
            if let Some(change) = change.filter(|_| !names.contains(&name)) {
                names.insert(name.clone());
                found.push(HunkDefinition { name, change });
            }
        };
        for at in innermost(&self.after, after) {
            let at = self.after.outermost(at, &self.pairs.earlier);
            let change = match self.pairs.earlier[at] {
                None => Some(DefinitionChange::New),
                Some(link) => {
                    let is_here = self.stays(link.other, at) || meet(&self.before.lines(link.other), before);
                    self.effect(link.how, at, is_here)
                }
            };
            add(self.after.label(at), change);
        }
        for at in innermost(&self.before, before) {
            let at = self.before.outermost(at, &self.pairs.later);
            match self.pairs.later[at] {
                None => add(self.before.label(at), Some(DefinitionChange::Removed)),
                Some(DefinitionLink { other, how }) => {
                    let is_here = self.stays(at, other) || meet(&self.after.lines(other), after);
                    add(self.after.label(other), self.effect(how, other, is_here));
                }
            }
        }
        if found.is_empty() && self.is_reordered(before, after) {
            // One that changed places with its neighbour lies in the hunk at both ends.
            let whole = |at: &usize| contains(after, &self.after.lines(*at)) && self.pairs.earlier[*at].is_some();
            let moved = innermost(&self.after, after).into_iter().filter(whole);
            found
                .extend(moved.map(|at| HunkDefinition { name: self.after.label(at), change: DefinitionChange::Moved }));
        }
        found
    }
}

/// A hunk that runs of changed lines are joined to, with the names that those so far touch.
#[derive(Default)]
struct GrowingHunk {
    /// Its first line before and after.
    start: (usize, usize),
    /// The ends of the lines that were looked at.
    end: (usize, usize),
    names: HashSet<String>,
}

/// Returns how often each line of a text stands in it, without blank ones and the space around each.
fn solid(text: &str) -> HashMap<&str, usize> {
    let mut counts = HashMap::new();
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    lines.for_each(|line| *counts.entry(line).or_insert(0) += 1);
    counts
}

fn contains(one: &Range<usize>, other: &Range<usize>) -> bool {
    one.start <= other.start && other.end <= one.end
}

/// Returns the innermost definitions of some lines, each once. A blank line or a comment beside others is of none: it comes
/// or goes with them.
fn innermost(side: &Side, lines: &Range<usize>) -> Vec<usize> {
    let end = lines.end.min(side.innermost.len());
    let lines = lines.start.min(end)..end;
    let all_blank = side.blank[lines.clone()].iter().all(|blank| *blank);
    let mut found: Vec<usize> =
        lines.filter(|n| all_blank || !side.blank[*n]).filter_map(|n| side.innermost[n]).collect();
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
                let named = hunks.iter().flat_map(|hunk| hunk.split(", "));
                let named: BTreeSet<String> = named.map(str::to_owned).collect();
                let others = others.iter().map(|name| format!("{name} {change}"));
                let want: BTreeSet<String> = others.chain([format!("{first} Changed")]).collect();
                assert_eq!(named, want, "{path}");
            }
        }
    }

    #[test]
    fn a_blank_line_beside_what_comes_or_goes_is_no_change_of_what_holds_it() {
        let class = |one: &str, two: &str| {
            format!("class A:\n    \"\"\"Doc.\"\"\"\n\n{one}    def keep(self):\n        return 0\n{two}")
        };
        let one = "    def one(self):\n        a = 1\n        return a\n\n";
        let last = "\n    def one(self):\n        a = 1\n        return a\n";
        let of = |before: &str, after: &str| labels("a.py", before, after);
        assert_eq!(of(&class(one, ""), &class("", "")), ["method A.one Removed"]);
        assert_eq!(of(&class("", ""), &class("", last)), ["method A.one New"]);
        assert_eq!(of(&class(one, ""), &class("", last)), ["method A.keep Moved, method A.one Moved"]);
        let commented = last.replace("\n    def", "\n    # It is one.\n    def");
        assert_eq!(of(&class("", &commented), &class("", "")), ["method A.one Removed"]);
        let doc = class("", "").replace("Doc.", "Docs.");
        assert_eq!(of(&class("", ""), &doc), ["class A Changed"]);
    }

    #[test]
    fn both_ends_of_what_is_renamed_and_moved_bear_its_new_name() {
        let helper = |name: &str| {
            format!("fn {name}(x: u32) -> u32 {{\n    let y = x * 2;\n    let z = y + 3;\n    z + 1\n}}\n\n")
        };
        let middle = format!("fn mid() {{\n{}}}\n\n", "    step();\n".repeat(9));
        let (before, after) = (format!("{}{middle}fn last() {{}}\n", helper("helper")), helper("doubled"));
        let after = format!("{middle}{after}fn last() {{}}\n");
        assert_eq!(labels("a.rs", &before, &after), ["fn doubled Renamed", "fn doubled Renamed"]);
        // A little more of it differs.
        let little = after.replace("z + 1", "z + 2");
        assert_eq!(labels("a.rs", &before, &little), ["fn doubled RenamedAndChanged"; 2]);
        // Another text under another name comes, and the old one goes.
        let other = little.replace("let y = x * 2;", "let y = other(x);");
        assert_eq!(labels("a.rs", &before, &other), ["fn helper Removed", "fn doubled New"]);
        // What stands in a renamed one is renamed with it.
        let class = |name: &str| format!("class {name} {{\n  a = 1;\n\n\n\n  make() {{\n    new {name}();\n  }}\n}}\n");
        assert_eq!(labels("a.ts", &class("A"), &class("B")), ["class B Renamed", "class B Renamed"]);
    }

    #[test]
    fn what_is_renamed_and_changed_is_paired_with_the_likest_of_its_kind_in_the_same_container() {
        let body =
            |n: u8| format!("    let one = {n};\n    let two = step(one);\n    let three = 3;\n    two + three\n");
        let function = |name: &str, n: u8| format!("fn {name}() -> u8 {{\n{}}}\n\n", body(n));
        let of = |before: &str, after: &str| {
            let found = labels("a.rs", before, after).into_iter();
            found.flat_map(|hunk| hunk.split(", ").map(str::to_owned).collect::<Vec<_>>()).collect::<BTreeSet<_>>()
        };
        let want = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<BTreeSet<_>>();
        let found = of(&function("alpha", 1), &function("beta", 2));
        assert_eq!(found, want(&["fn beta RenamedAndChanged"]));
        // The likest of two, whichever comes first; each is one alone.
        let half = function("half", 9).replace("let three = 3;", "let four = 4;");
        for after in [function("near", 2) + &half, half.clone() + &function("near", 2)] {
            assert_eq!(of(&function("alpha", 1), &after), want(&["fn near RenamedAndChanged", "fn half New"]));
        }
        // The same head and first line make no other name of it.
        let short = |name: &str, last: &str| format!("fn {name}(x: u32) -> u32 {{\n    check(x);\n    {last}\n}}\n\n");
        let found = of(&short("login", "open(x)"), &short("leave", "remove(x)"));
        assert_eq!(found, want(&["fn leave New", "fn login Removed"]));
        // Another kind or container is no other name of it.
        let inside = format!("struct S;\n\nimpl S {{\n{}}}\n", function("beta", 2));
        let found = of(&format!("struct S;\n\n{}", function("alpha", 1)), &inside);
        // The lines of `impl` belong to no definition.
        assert_eq!(found, want(&["", "fn alpha Removed", "method S.beta New"]));
        let inside = |name: &str, n| format!("mod {name} {{\n{}}}\n", function(&format!("of_{name}"), n));
        let both = |one: &str, two: &str| format!("mod a {{}}\n{one}mod z {{}}\n{two}");
        let found = of(&both(&inside("b", 1), "mod c {\n}\n"), &both("mod b {\n}\n", &inside("c", 2)));
        assert!(found.contains("fn b.of_b Removed") && found.contains("fn c.of_c New"), "{found:?}");
    }

    #[test]
    fn of_many_that_are_renamed_and_changed_each_bears_its_new_name() {
        let one = |name: String, n: usize, last: usize| {
            format!("fn {name}() {{\n    let of = {n};\n    let more = of + {n};\n    call({last});\n}}\n")
        };
        let before: String = (0..150).map(|n| one(format!("old{n}"), n, 0)).collect();
        let after: String = (0..150).rev().map(|n| one(format!("new{n}"), n, 1)).collect();
        let found = labels("a.rs", &before, &after).join(", ");
        for n in 0..150 {
            assert!(found.contains(&format!("fn new{n} RenamedAndChanged")), "{n}: {found}");
        }
        assert!(!found.contains("Removed") && !found.contains(" New"), "{found}");
    }

    #[test]
    fn of_several_of_one_name_a_changed_one_is_paired_with_the_likest() {
        let two = |text: &str| format!("function f(text: string, places: number): {text};\n");
        let new = "function f(flag: boolean): void;\n";
        let last = "function f(...all: any[]) {\n  return all;\n}\n";
        let gap = "// a line\n".repeat(9);
        let before = format!("{}{gap}{last}", two("string"));
        let after = format!("{new}{gap}{}{gap}{last}", two("string | null"));
        let found = labels("a.ts", &before, &after);
        let all = found.join(", ");
        assert!(all.contains("fn f#1 New") && all.contains("fn f#2 Changed"), "{found:?}");
        assert!(!all.contains("fn f#1 Changed") && !all.contains("fn f#2 New"), "{found:?}");
    }

    #[test]
    fn parts_of_one_definition_stay_one_hunk_however_many_they_are() {
        let text = |word: &str| {
            let lines: String = (0..40).map(|n| format!("    {word}({n});\n    keep({n});\n")).collect();
            format!("fn a() {{\n{lines}}}\n\nfn b() {{\n    {word}();\n}}\n")
        };
        assert_eq!(labels("a.rs", &text("one"), &text("two")), ["fn a Changed", "fn b Changed"]);
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

    /// The labels of all hunks, each once.
    fn all(path: &str, before: &str, after: &str) -> BTreeSet<String> {
        let found = labels(path, before, after).into_iter();
        found.flat_map(|hunk| hunk.split(", ").map(str::to_owned).collect::<Vec<_>>()).collect()
    }

    #[test]
    fn of_namesakes_of_one_text_the_one_that_comes_or_goes_is_named_and_none_is_moved() {
        let rust = |of: &str| {
            format!(
                "impl fmt::{of} for Id {{\n    fn fmt(&self, f: &mut F) -> R {{\n        self.0.fmt(f)\n    }}\n}}\n\n"
            )
        };
        let python = |of: &str| format!("if {of}:\n    def f():\n        return 1\n\n");
        let typed = |of: &str| format!("// {of}\n\nfunction f() {{\n  return 1;\n}}\n\n");
        let go = |of: &str| format!("// {of}\n\nfunc init() {{\n\treg()\n}}\n\n");
        for (path, head, one) in [
            ("a.rs", "struct Id(u64);\n\n", &rust as &dyn Fn(&str) -> String),
            ("a.py", "", &python),
            ("a.ts", "", &typed),
            ("a.go", "package p\n\n", &go),
        ] {
            let [a, b, c] = ["one", "two", "three"].map(one);
            let long = format!("{head}{a}{b}{c}");
            for short in [format!("{head}{b}{c}"), format!("{head}{a}{c}")] {
                for (before, after, change) in [(&long, &short, "Removed"), (&short, &long, "New")] {
                    let found = all(path, before, after);
                    let is_named = found.len() == 1 && found.iter().all(|one| one.ends_with(&format!(" {change}")));
                    assert!(is_named, "{path}: {found:?}\n{before}->\n{after}");
                }
            }
        }
    }

    #[test]
    fn one_that_is_only_renamed_is_so_though_its_name_stands_elsewhere_in_it() {
        for (path, before, old, new, want) in [
            ("a.py", "def total(o):\n    return o.total * 2\n", "def total", "def order_total", "fn order_total"),
            (
                "a.py",
                "def load(p):\n    \"\"\"load a file\"\"\"\n    return json.load(p)\n",
                "def load",
                "def load_file",
                "fn load_file",
            ),
            (
                "a.ts",
                "function url(c: C) {\n  return c.url + '/';\n}\n",
                "function url",
                "function baseUrl",
                "fn baseUrl",
            ),
            (
                "a.go",
                "package p\n\nfunc read(f *F) string {\n\treturn f.read()\n}\n",
                "func read",
                "func readAll",
                "fn readAll",
            ),
            (
                "a.rs",
                "struct U {\n    name: S,\n}\n\nimpl U {\n    fn name(&self) -> &S {\n        &self.name\n    }\n}\n",
                "fn name",
                "fn full_name",
                "method U.full_name",
            ),
        ] {
            let after = before.replace(old, new);
            assert_eq!(labels(path, before, &after), [format!("{want} Renamed")], "{path}");
        }
    }

    #[test]
    fn a_getter_beside_another_is_no_other_name_of_it() {
        let rust = |fields: &str, name: &str, body: &str| {
            format!("struct C {{\n{fields}}}\n\nimpl C {{\n    fn {name}(&self) -> u8 {{\n        {body}\n    }}\n}}\n")
        };
        let both = "    x: u8,\n    y: u8,\n";
        let gone_and_new = |path: &str, before: &str, after: &str| {
            let found = all(path, before, after);
            let has = |change: &str| found.iter().any(|one| one.ends_with(change));
            assert!(has(" Removed") && has(" New") && !has(" Renamed") && !has("RenamedAndChanged"), "{found:?}");
        };
        for [x, y] in [["self.x", "self.y"], ["self.x.len()", "self.y.len()"], ["self.all.x()", "self.all.y()"]] {
            gone_and_new("a.rs", &rust(both, "x", x), &rust(both, "y", y));
        }
        let python = |name: &str| format!("class C:\n    def {name}(self):\n        return self.{name}\n");
        gone_and_new("a.py", &python("x"), &python("y"));
        let typed =
            |name: &str| format!("class C {{\n  {name}(v) {{\n    this._{name} = v;\n    return this;\n  }}\n}}\n");
        gone_and_new("a.ts", &typed("x"), &typed("y"));
        // The same field, and a field that is renamed with it.
        let found = all("a.rs", &rust(both, "x", "self.x"), &rust(both, "z", "self.x"));
        assert_eq!(found, BTreeSet::from(["method C.z Renamed".to_owned()]));
        let found = all("a.rs", &rust("    x: u8,\n", "x", "self.x"), &rust("    z: u8,\n", "z", "self.z"));
        assert!(found.contains("method C.z#2 Renamed") && !found.iter().any(|one| one.contains("New")), "{found:?}");
    }

    #[test]
    fn members_of_a_renamed_type_keep_their_names_and_a_new_one_is_new() {
        let rust = |name: &str, field: &str, more: &str| {
            format!(
                "struct {name} {{\n    id: u8,\n    total: u32,\n{field}}}\n\nimpl {name} {{\n    fn total(&self) -> u32 {{\n        self.total\n    }}\n{more}}}\n"
            )
        };
        let more = "\n    fn tax(&self) -> u32 {\n        self.tax\n    }\n";
        let found = all("a.rs", &rust("Order", "", ""), &rust("Purchase", "    tax: u32,\n", more));
        assert!(found.contains("method Purchase.tax#2 New"), "{found:?}");
        let python =
            |name: &str, more: &str| format!("class {name}:\n    def total(self):\n        return self.total_\n{more}");
        let more = "\n    def tax(self):\n        return self.tax_\n";
        let in_python = all("a.py", &python("Order", ""), &python("Purchase", more));
        let typed = |name: &str, more: &str| {
            format!("class {name} {{\n  total() {{\n    return this._total;\n  }}\n{more}}}\n")
        };
        let more = "\n  tax() {\n    return this._tax;\n  }\n";
        let in_class = all("a.ts", &typed("Order", ""), &typed("Purchase", more));
        for found in [found, in_python, in_class] {
            assert!(!found.iter().any(|one| one.contains(".total") || one.contains("tax#2 Renamed")), "{found:?}");
        }
    }

    #[test]
    fn a_moved_file_has_the_labels_of_one_that_stays() {
        let after = BEFORE.replace("    1\n", "    7\n").replace("fn keep() {", "fn kept() {").replace("    far\n", "");
        let state = |text: &str| State::file(text.as_bytes());
        let ends = |after: &str| {
            let mut ends = FileChange::moved("a.rs", "b.rs", state(BEFORE), state(after), "move", &[]);
            label(&mut ends);
            ends
        };
        let [from, to] = ends(&after);
        assert_eq!(from.hunks[0].definitions, []);
        assert_eq!((to.hunks.len(), to.hunks[0].kind), (1, HunkKind::Move));
        let found: Vec<String> =
            to.hunks[0].definitions.iter().map(|one| format!("{} {:?}", one.name, one.change)).collect();
        assert_eq!(found, ["fn total Changed", "fn kept Renamed", "fn gone Changed"]);
        assert_eq!(to.broken, None);
        // Only moved, and moved with a fault.
        assert_eq!(ends(BEFORE)[1].hunks[0].definitions, []);
        assert_eq!(ends(&BEFORE.replace("fn keep() {", "fn keep( {"))[1].broken, Some(7));
    }

    #[test]
    fn what_is_no_source_has_no_label() {
        assert_eq!(labels("a.md", "fn a() {}\n\nfn b() {}\n", "fn a() {}\n\nfn c() {}\n"), [""]);
        assert_eq!(labels("a.rs", "", "fn a() {}\n"), ["fn a New"]);
        let large = format!("fn a() {{}}\n{}", "// x\n".repeat(MOST / 5));
        assert_eq!(labels("a.rs", &large, &large.replace("a()", "b()")), [""]);
    }
}
