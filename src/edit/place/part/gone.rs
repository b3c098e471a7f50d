//! Definitions that a whole new text of a file lacks, and that have no other name in it.

use std::collections::HashSet;

use super::outline::{Definition, definitions, extent, methods, outermost};
use crate::edit::lines::Lines;

/// Returns the names of the definitions of a text that a new one lacks: outermost ones, and those of classes that stay. One in the
/// place of which another one stands, or that has the lines of another one that is new, has a new name only.
pub(in crate::edit) fn gone(old: &str, new: &str) -> Vec<String> {
    let (hay, part) = (Lines::new(old), Lines::new(new));
    let all = definitions(&part);
    let there: HashSet<&str> = all.iter().map(|own| own.name).collect();
    let (before, after) = (counted(&hay, &there), counted(&part, &there));
    let known: HashSet<&str> = before.iter().map(|own| own.name).collect();
    let mut come: Vec<usize> = (0..after.len()).filter(|at| !known.contains(after[*at].name)).collect();
    let mut gone: Vec<String> = Vec::new();
    for (at, own) in before.iter().enumerate() {
        if there.contains(own.name) || is_given(new, own.name) || gone.iter().any(|name| name == own.name) {
            continue;
        }
        let place = beside(&before, at, &there);
        let is_it = |other: &usize| {
            beside(&after, *other, &known) == place || is_alike(&body(&hay, own), &body(&part, &after[*other]))
        };
        match come.iter().position(is_it) {
            Some(at) => drop(come.remove(at)),
            None => gone.push(own.name.to_string()),
        }
    }
    gone
}

/// Returns the outermost definitions of a text, and those of each class that is `there` in both.
fn counted<'t>(lines: &Lines<'t>, there: &HashSet<&str>) -> Vec<Definition<'t>> {
    let all = definitions(lines);
    let outer = outermost(lines, &all);
    let inside = outer.iter().filter(|own| there.contains(own.name)).flat_map(|class| methods(lines, &all, class));
    let mut counted: Vec<Definition> = inside.chain(outer.iter().copied()).collect();
    counted.sort_by_key(|own| own.line);
    counted
}

/// Returns the last definition before one, and the first behind it, of those that stay.
fn beside<'t>(all: &[Definition<'t>], at: usize, staying: &HashSet<&str>) -> [Option<&'t str>; 2] {
    let name = |own: &Definition<'t>| Some(own.name).filter(|name| staying.contains(name));
    [all[..at].iter().rev().find_map(name), all[at + 1..].iter().find_map(name)]
}

/// Returns whether a text makes a name known without a definition: it imports it, or gives it a value.
fn is_given(text: &str, name: &str) -> bool {
    const IMPORTS: [&str; 6] = ["import ", "from ", "use ", "pub use ", "using ", "export "];
    let has_name = |line: &str| line.split(|c: char| !(c.is_alphanumeric() || c == '_')).any(|word| word == name);
    let gives = |line: &str| line.split_once('=').is_some_and(|(before, _)| before.trim_end().ends_with(name));
    let is_import = |line: &str| IMPORTS.iter().any(|word| line.starts_with(word));
    text.lines().map(str::trim_start).any(|line| has_name(line) && (is_import(line) || gives(line)))
}

/// Returns the lines of a definition below its head that hold more than signs.
fn body<'t>(lines: &Lines<'t>, own: &Definition) -> HashSet<&'t str> {
    let inside = extent(lines, own).skip(1).map(|at| lines.content(at).trim());
    inside.filter(|line| line.contains(char::is_alphanumeric)).collect()
}

/// Returns whether two definitions have most of their lines in common.
fn is_alike(one: &HashSet<&str>, other: &HashSet<&str>) -> bool {
    let shared = one.intersection(other).count();
    shared > 0 && shared * 3 >= one.len().max(other.len()) * 2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_definition_that_is_gone_is_named_unless_it_has_another_name() {
        let names = ["circle", "square", "rectangle", "cube"];
        let one = |name: &str| format!("def {name}(a):\n    b = a + {}\n    return b\n\n\n", name.len());
        let file: String = names.map(one).concat();
        let without = file.replace(&one("rectangle"), "");
        assert_eq!(gone(&file, &without), ["rectangle"]);
        assert_eq!(gone(&file, &format!("{without}{}", one("prism"))), ["rectangle"], "another one comes elsewhere");
        for new in [
            file.replace("rectangle", "oblong"),
            format!("{without}{}", one("rectangle").replace("rectangle", "oblong")),
            file.replace(&one("rectangle"), &one("triangles")),
            format!("from shapes import rectangle\n{without}"),
            format!("{without}rectangle = square\n"),
            format!("{file}{}", one("more")),
        ] {
            assert_eq!(gone(&file, &new), [""; 0], "{new}");
        }
        let class = "class A:\n    def one(self):\n        return 1\n\n    def two(self):\n        def inner():\n            pass\n        return 2\n";
        assert_eq!(gone(class, &class.replace("    def one(self):\n        return 1\n\n", "")), ["one"]);
        assert_eq!(gone(class, &class.replace("        def inner():\n            pass\n", "")), [""; 0]);
        assert_eq!(gone(&format!("{class}\n\n{file}"), &file), ["A"]);
    }
}
