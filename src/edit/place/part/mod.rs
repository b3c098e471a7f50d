//! A definition that stands alone under its file's path: it takes the place of its only namesake in the file.

mod gone;
mod outline;

use std::collections::HashSet;
use std::ops::Range;

pub(in crate::edit) use gone::{emptied, gone};
pub(super) use outline::{
    Definition, METHOD, decorated, definitions, extent, has_receiver, is_decoration, lone, methods, only, outermost,
    outside,
};

use self::outline::ends_there;
use super::splice::{Splice, spliced};
use crate::edit::bytes;
use crate::edit::lines::Lines;
use crate::edit::locate::{Shift, indent, part_with_tabs};

/// Returns a file with the one definition that a text consists of in the place of the only one of that name and kind, and
/// its name. Of a class around a few of those methods that the file's class has, the methods are placed, and named, alone.
pub(in crate::edit) fn same_definition(file: &str, new: &str) -> Option<(String, String)> {
    let new = bytes::fit_whole(&part_with_tabs(new, file), file);
    let (splices, names) = placed(file, &new, None)?;
    Some((spliced(file, &splices), names))
}

/// Returns the names of the definitions of a text.
pub(in crate::edit) fn definition_names(text: &str) -> Vec<&str> {
    definitions(&Lines::new(text)).into_iter().map(|definition| definition.name).collect()
}

/// Returns whether a text is nothing but a definition of a file that has anything more above that definition, or below it
/// and no other one: it is a part of such a file, however much of the file that definition is.
pub(in crate::edit) fn is_lone_part(file: &str, new: &str) -> bool {
    let part = Lines::new(new);
    let Some(one) = lone(&part, &definitions(&part)).filter(|one| file.contains(one.name)) else { return false };
    let hay = Lines::new(file);
    let in_file = definitions(&hay);
    let Some(there) = in_file.iter().find(|own| own.name == one.name && own.kind == one.kind) else { return false };
    let own: HashSet<&str> = new.lines().map(str::trim).collect();
    let is_more = |line: &str| !line.is_empty() && !own.contains(line);
    let has_more = |mut lines: Range<usize>| lines.any(|at| is_more(hay.content(at).trim()));
    let is_only = only(&in_file).is_some_and(|only| only.line == there.line);
    let above = there.line - decorated(&hay, there.line);
    has_more(0..above) || is_only && has_more(extent(&hay, there).end..hay.len())
}

/// Returns whether a text is nothing but one of the outermost definitions of a file, as it stands there: as a part of the file
/// it changes nothing.
pub(in crate::edit) fn is_standing_definition(file: &str, new: &str) -> bool {
    let part = Lines::new(new);
    let Some(one) = lone(&part, &definitions(&part)) else { return false };
    let head = part.content(one.line).trim_end();
    one.indent == 0
        && file.lines().any(|line| line.trim_end() == head)
        && same_definition(file, new).is_some_and(|(placed, _)| placed == file)
}

/// Returns the definitions of a text: the name of each, and its lines with those that belong to it above.
pub(in crate::edit) fn definition_lines<'t>(lines: &Lines<'t>) -> Vec<(&'t str, Range<usize>)> {
    let lines_of = |own: &Definition| own.line - decorated(lines, own.line)..extent(lines, own).end;
    definitions(lines).iter().map(|own| (own.name, lines_of(own))).collect()
}

/// Returns a definition without the lines far above it that the file has itself, such as a licence.
fn without_head<'n>(file: &str, new: &'n str) -> &'n str {
    let part = Lines::new(new);
    let Some(one) = lone(&part, &definitions(&part)) else { return new };
    let start = one.line - decorated(&part, one.line);
    if start == 0 {
        return new;
    }
    let own: HashSet<&str> = file.lines().map(str::trim).collect();
    let is_of_file = |at: usize| own.contains(part.content(at).trim());
    let is_known = (0..start).all(|at| part.content(at).trim().is_empty() || is_of_file(at));
    if is_known { &new[part.spans[start].start..] } else { new }
}

/// Returns the splices that place a definition in a file, or in the classes of the file that are called so (`class`), and
/// its name.
pub(super) fn placed(file: &str, new: &str, class: Option<&Definition>) -> Option<(Vec<Splice>, String)> {
    let new = without_head(file, new.trim_matches(['\r', '\n']));
    let part = Lines::new(new);
    let in_part = definitions(&part);
    let one = lone(&part, &in_part).filter(|one| file.contains(one.name))?;
    let hay = Lines::new(file);
    let in_file = definitions(&hay);
    let is_same = |own: &&Definition, other: &Definition| own.name == other.name && own.kind == other.kind;
    let classes = || in_file.iter().filter(|own| class.is_some_and(|class| is_same(own, class)));
    let is_inside = |own: &Definition| classes().any(|around| extent(&hay, around).contains(&own.line));
    let same: Vec<&Definition> =
        in_file.iter().filter(|own| is_same(own, &one) && (class.is_none() || is_inside(own))).collect();

    let own = methods(&part, &in_part, &one);
    let there: Vec<Definition> = same.iter().flat_map(|class| methods(&hay, &in_file, class)).collect();
    let staying = there.iter().filter(|old| own.iter().any(|new| new.name == old.name)).count();
    if !there.is_empty() && staying * 2 <= there.len() && own.len() * 2 <= there.len() {
        return unwrapped(file, &part, &one, &own);
    }
    let [there] = same.as_slice() else { return None };
    let splice = in_its_place((&hay, there), (&part, &one))?;
    Some((vec![splice], one.name.to_string()))
}

/// Places the methods of a class that leaves out most of the file's: all there is of it but those must be in the file, and
/// one of them must be another one.
fn unwrapped(file: &str, part: &Lines, class: &Definition, own: &[Definition]) -> Option<(Vec<Splice>, String)> {
    let (mut splices, mut reached) = (Vec::new(), 0);
    let is_of_file = |at: usize| {
        let line = part.content(at).trim();
        line.is_empty() || file.lines().any(|own| own.trim() == line)
    };
    for method in own {
        let lines = extent(part, method);
        let start = lines.start - decorated(part, lines.start);
        if !(reached..start).all(is_of_file) {
            return None;
        }
        reached = lines.end;
        splices.extend(placed(file, &part.text[part.range(start..lines.end)], Some(class))?.0);
    }
    let splices = in_order(splices)?;
    let names: Vec<&str> = own.iter().map(|method| method.name).collect();
    ((reached..part.len()).all(is_of_file) && spliced(file, &splices) != file).then(|| (splices, names.join(", ")))
}

/// Returns the splice by which a text, which is a definition, takes the place of one of the file's.
fn in_its_place((hay, there): (&Lines, &Definition), (part, one): (&Lines, &Definition)) -> Option<Splice> {
    let mut lines = extent(hay, there);
    if !ends_there(hay, &lines, there) {
        return None;
    }
    let (given, wanted) = (indent(part.content(one.line)), indent(hay.content(there.line)));
    // A function is no method of the same name.
    if given != wanted && has_receiver(part, one) != has_receiver(hay, there) {
        return None;
    }
    let own = Passage { lines: part, head: one.line, extent: extent(part, one) };
    let mut new = own.fitted(0..part.len(), &Passage { lines: hay, head: there.line, extent: lines.clone() })?;
    // Lines right above it in both belong to it.
    let above = (0..one.line).filter(|at| !part.content(*at).trim().is_empty()).count();
    lines.start -= above.min(decorated(hay, there.line));
    let range = hay.range(lines);
    // What separates it from the next one is no part of it.
    let old = &hay.text[range.clone()];
    if new.ends_with('}') && (old.ends_with("},") || old.ends_with("};")) {
        new.push_str(&old[old.len() - 1..]);
    }
    Some(Splice { range, new })
}

/// Returns splices from first to last; none where two of them meet.
pub(super) fn in_order(mut splices: Vec<Splice>) -> Option<Vec<Splice>> {
    splices.sort_by_key(|splice| splice.range.start);
    splices.windows(2).all(|two| two[0].range.end <= two[1].range.start).then_some(splices)
}

/// A passage of a text: its lines, from the one that says what it is.
pub(super) struct Passage<'l, 't> {
    pub lines: &'l Lines<'t>,
    pub head: usize,
    pub extent: Range<usize>,
}

impl Passage<'_, '_> {
    /// Returns the text of these lines of its text, which are those of the passage and what stands above them, indented like
    /// another one; nothing where it is not known how far they are indented.
    pub fn fitted(&self, lines: Range<usize>, there: &Passage) -> Option<String> {
        let (given, wanted) = (indent(self.lines.content(self.head)), indent(there.lines.content(there.head)));
        let shift = Shift::between(given, wanted);
        let text = &self.lines.text[self.lines.range(lines.clone())];
        let begins = |mark: char| text.lines().any(|line| line.starts_with(mark) && !line.trim().is_empty());
        let is_mixed = || wanted.contains('\t') && begins(' ') || wanted.contains(' ') && begins('\t');
        // Tabs in front of spaces do not say how far a line is indented.
        if matches!(shift, Shift::Add(_)) && is_mixed() {
            return None;
        }
        // Where the body stands as in the file, only the line above it lost its indentation.
        let is_all_moved = self.body_indent() != there.body_indent();
        let moved = |(at, line): (usize, &str)| {
            if is_all_moved || lines.start + at <= self.head { shift.apply(line) } else { line.to_string() }
        };
        Some(text.split_inclusive('\n').enumerate().map(moved).collect())
    }

    /// Returns how far the lines below its first one are indented at least.
    fn body_indent(&self) -> Option<usize> {
        let below = self.extent.clone().filter(|at| *at > self.head).map(|at| self.lines.content(at));
        below.filter(|line| !line.trim().is_empty()).map(|line| indent(line).len()).min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CART: &str = "export class Cart {\n  private items: Item[] = [];\n\n  /** Adds an item. */\n  add(name: string, quantity = 1): void {\n    this.items.push({ name, quantity });\n  }\n\n  remove(name: string): void {\n    this.items = [];\n  }\n\n  total(): number {\n    return 0;\n  }\n}\n\nexport function format(x: number): string {\n  return `$${x}`;\n}\n";
    const CHANGED: &str = "  add(name: string, quantity: number): void {\n    if (quantity < 1) {\n      throw new Error(`bad ${quantity}`);\n    }\n    this.items.push({ name, quantity });\n  }\n";

    fn changed() -> String {
        let old = "  add(name: string, quantity = 1): void {\n    this.items.push({ name, quantity });\n  }\n";
        assert!(CART.contains(old));
        CART.replace(old, CHANGED)
    }

    fn shifted(text: &str, by: &str) -> String {
        text.lines().map(|line| format!("{by}{line}\n")).collect()
    }

    fn dedented(text: &str) -> String {
        text.lines().map(|line| format!("{}\n", &line[2..])).collect()
    }

    #[test]
    fn a_method_is_placed_at_any_indentation() {
        let free_first = CHANGED.trim_start();
        for method in [CHANGED, &dedented(CHANGED), &shifted(CHANGED, "    "), free_first] {
            assert_eq!(same_definition(CART, method), Some((changed(), "add".to_string())), "{method}");
        }
        let documented = format!("/** Adds one. */\n{}", dedented(CHANGED));
        let (text, _) = same_definition(CART, &documented).expect("placed");
        assert_eq!(text, changed().replace("an item", "one"));
        // A comment where the file has none takes no line of its own away.
        let (text, _) = same_definition(CART, "// Sum.\ntotal(): number {\n  return 1;\n}\n").expect("placed");
        let sum = "  // Sum.\n  total(): number {\n    return 1;\n";
        assert_eq!(text, CART.replace("  total(): number {\n    return 0;\n", sum));
    }

    #[test]
    fn a_definition_beside_anything_else_is_no_whole_file() {
        let class = "class A:\n    def one(self):\n        return 1\n\n    def two(self):\n        return 2\n";
        let changed = class.replace("return 2", "return 22");
        for above in ["import os\n\n\n", "LIMIT = 3\n\n", "# Licence: MIT\n\n"] {
            let file = format!("{above}{class}");
            assert!(is_lone_part(&file, &changed));
            assert_eq!(same_definition(&file, &changed), Some((format!("{above}{changed}"), "A".to_string())));
        }
        for below in ["\n\nregister(A)\n", "\n\nif __name__ == \"__main__\":\n    print(A().two())\n"] {
            let file = format!("{class}{below}");
            assert!(is_lone_part(&file, &changed));
            assert_eq!(same_definition(&file, &changed), Some((format!("{changed}{below}"), "A".to_string())));
        }
        assert!(!is_lone_part(class, &changed), "the file is nothing else");
        // What the file has above it comes once.
        let licence = "# Licence: MIT\n\n";
        assert!(!is_lone_part(&format!("{licence}{class}"), &format!("{licence}{changed}")));
        let (file, wanted) =
            (format!("{licence}{class}\n\nprint(A())\n"), format!("{licence}{changed}\n\nprint(A())\n"));
        let placed = same_definition(&file, &format!("{licence}{changed}"));
        assert_eq!(placed, Some((wanted, "A".to_string())));
        // From the first line on it may be all of the file.
        assert!(!is_lone_part(&format!("{class}\n\ndef main():\n    pass\n"), &changed));
        assert!(!is_lone_part(&format!("import os\n\n{class}"), &format!("import sys\n\n{changed}")));
    }

    #[test]
    fn a_method_of_other_languages_is_placed() {
        let python = "class A:\n    def one(self):\n        return 1\n\n    def two(self, x):\n        return 2\n";
        for method in [
            "def two(self, x, y=0):\n    return 22\n",
            "def two(self, x, y=0):\n        return 22\n",
            "    def two(self, x, y=0):\n        return 22\n",
        ] {
            let (text, _) = same_definition(python, method).expect("placed");
            assert_eq!(text, python.replace("x):\n        return 2", "x, y=0):\n        return 22"), "{method}");
        }
        assert!(same_definition(python, "def two(x):\n    return 22\n").is_none(), "a function is no method");
        let go = "func (c *Cart) Total() int {\n\treturn 1\n}\n\nfunc (i Item) Total() int {\n\treturn 2\n}\n";
        let (text, _) = same_definition(go, "func (i *Item) Total() int {\n\treturn 22\n}\n").expect("placed");
        assert_eq!(text, go.replace("i Item", "i *Item").replace("return 2\n", "return 22\n"));
        let object = "const cart = {\n  add(x) {\n    return 1;\n  },\n  total() {\n    return 2;\n  },\n};\n";
        let (text, _) = same_definition(object, "add(x) {\n  return 11;\n}\n").expect("placed");
        assert_eq!(text, object.replace("1;", "11;"));
        let java = "class A {\n    int one()\n    {\n        return 1;\n    }\n\n    int two()\n    {\n        return 2;\n    }\n}\n";
        let (text, _) = same_definition(java, "int one()\n{\n    return 11;\n}\n").expect("placed");
        assert_eq!(text, java.replace("1;", "11;"));
    }

    #[test]
    fn a_class_around_one_method_means_that_method() {
        let class = format!("export class Cart {{\n{CHANGED}}}\n");
        assert_eq!(same_definition(CART, &class), Some((changed(), "add".to_string())));
        let rust = "pub struct Cart {\n    n: u64,\n}\n\nimpl Cart {\n    pub fn new() -> Self {\n        Cart { n: 0 }\n    }\n\n    pub fn add(&mut self, n: u64) {\n        self.n += n;\n    }\n}\n\nimpl fmt::Display for Cart {\n    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {\n        Ok(())\n    }\n}\n";
        let method = "    pub fn add(&mut self, n: u64) {\n        assert!(n > 0);\n        self.n += n;\n    }\n";
        let wanted = rust.replace("        self.n += n;\n", "        assert!(n > 0);\n        self.n += n;\n");
        let around = format!("impl Cart {{\n{method}}}\n");
        for part in [around.as_str(), method, method.replace("\n    ", "\n").trim_start()] {
            assert_eq!(same_definition(rust, part), Some((wanted.clone(), "add".to_string())), "{part}");
        }
        // There is something else in it, nothing of it is another one, or it has a method that the file does not have.
        for unclear in [
            class.replace("{\n  add", "{\n  private count = 0;\n  add"),
            "export class Cart {\n  total(): number {\n    return 0;\n  }\n}\n".to_string(),
            "export class Cart {\n  discount(): number {\n    return 0;\n  }\n}\n".to_string(),
            "export class Cart {\n  private items: Item[] = [];\n}\n".to_string(),
        ] {
            assert!(same_definition(CART, &unclear).is_none(), "{unclear}");
        }
    }

    #[test]
    fn a_definition_of_several_places_is_not_placed() {
        let two = CART.replace("export function", "class Other {\n  add(x: number): void {\n  }\n}\n\nexport function");
        assert!(same_definition(&two, CHANGED).is_none());
        // The class around it says which one is meant.
        let class = format!("export class Cart {{\n{CHANGED}}}\n");
        assert!(same_definition(&two, &class).is_some());
        assert!(same_definition(CART, "function add(x: number): void {\n}\n").is_none(), "another kind");
        let tabs = CART.replace("    ", "\t\t").replace("\n  ", "\n\t");
        let (of, to) = (
            "\tadd(name: string, quantity = 1): void {\n\t\tthis.items.push({ name, quantity });\n\t}\n",
            "\tadd(name: string, quantity: number): void {\n\t\tif (quantity < 1) {\n\t\t\tthrow new Error(`bad ${quantity}`);\n\t\t}\n\t\tthis.items.push({ name, quantity });\n\t}\n",
        );
        assert!(tabs.contains(of));
        for part in [CHANGED, &dedented(CHANGED)] {
            assert_eq!(same_definition(&tabs, part), Some((tabs.replace(of, to), "add".to_string())), "{part}");
        }
        let spaced = "add(name: string, quantity: number): void {\n this.items.push(name);\n}\n";
        assert!(same_definition(&tabs, spaced).is_none(), "no one knows how far it is indented");
    }
}
