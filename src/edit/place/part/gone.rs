//! Definitions that a whole new text of a file lacks, and that have no other name in it.

use std::collections::HashSet;

use super::outline::{Definition, METHOD, definitions, extent, methods, outermost};
use crate::edit::lines::Lines;
use crate::edit::locate::commented;

/// Returns the names of the definitions of a text that a new one lacks: outermost ones, and those of classes that stay. One that
/// has the lines of another one that is new has a new name only, and so has one in the place of which another one with a like
/// head stands.
pub(in crate::edit) fn gone(old: &str, new: &str) -> Vec<String> {
    let (hay, part) = (Lines::new(old), Lines::new(new));
    let all = definitions(&part);
    let there: HashSet<&str> = all.iter().map(|own| own.name).collect();
    let (before, after) = (counted(&hay, &there), counted(&part, &there));
    let known: HashSet<&str> = before.iter().map(|own| own.name).collect();
    let mut come: Vec<usize> = (0..after.len()).filter(|at| !known.contains(after[*at].name)).collect();
    let mut gone: Vec<String> = Vec::new();
    for (at, own) in before.iter().enumerate() {
        let count =
            |all: &[Definition]| all.iter().filter(|other| other.kind == METHOD && other.name == own.name).count();
        if there.contains(own.name) && own.kind == METHOD && (1..count(&before)).contains(&count(&after)) {
            let is_named = gone.iter().any(|name| name == own.name);
            gone.extend((!is_named).then(|| own.name.to_string()));
            continue;
        }
        if there.contains(own.name) || is_given(new, own.name) || gone.iter().any(|name| name == own.name) {
            continue;
        }
        let place = beside(&before, at, &there);
        // What is still called has no other name.
        let is_called = calls(new, own.name);
        let is_it = |other: &usize| {
            let is_there = beside(&after, *other, &known) == place;
            !is_called && is_there && has_like_head((&hay, own), (&part, &after[*other]))
                || is_alike(&body(&hay, own), &body(&part, &after[*other]))
        };
        match come.iter().position(is_it) {
            Some(at) => drop(come.remove(at)),
            None => gone.push(own.name.to_string()),
        }
    }
    gone
}

/// Returns the names of the definitions that do something in a text, and nothing in a new one.
pub(in crate::edit) fn emptied(old: &str, new: &str) -> Vec<String> {
    let (hay, part) = (Lines::new(old), Lines::new(new));
    let (before, after) = (definitions(&hay), definitions(&part));
    let is_emptied = |own: &&Definition| {
        let mut same = after.iter().filter(|other| (other.name, other.kind) == (own.name, own.kind));
        let (Some(other), None) = (same.next(), same.next()) else { return false };
        let (does, now) = (lines_of_body(&hay, own), lines_of_body(&part, other));
        does.iter().any(|line| !is_placeholder(line)) && !now.is_empty() && now.iter().all(|line| is_placeholder(line))
    };
    before.iter().filter(is_emptied).map(|own| own.name.to_string()).collect()
}

/// Returns the lines of the body of a definition, also what stands behind its head: `def f(): ...`, `fn f() {}`.
fn lines_of_body<'t>(lines: &Lines<'t>, own: &Definition) -> Vec<&'t str> {
    let head = lines.content(own.line).trim();
    let in_braces = || head.split_once('{').filter(|(_, inside)| inside.ends_with('}')).map(|(_, inside)| inside);
    let behind = head.rsplit_once("):").map(|(_, behind)| behind.trim()).or_else(in_braces);
    let below = extent(lines, own).skip(1).map(|at| lines.content(at).trim());
    behind.into_iter().chain(below).filter(|line| !line.is_empty()).collect()
}

/// Returns whether a line of a body stands for what is not there: nothing, a comment, a text, or a word for that.
fn is_placeholder(line: &str) -> bool {
    const NOTHING: [&str; 6] = ["pass", "...", "todo!()", "unimplemented!()", "raise NotImplementedError", "end"];
    const TEXTS: [&str; 3] = ["\"\"\"", "'''", "*"];
    let is_sign = !line.contains(char::is_alphanumeric) && line != "...";
    let is_text = TEXTS.iter().any(|mark| line.starts_with(mark));
    is_sign
        || is_text
        || commented(line).is_some()
        || NOTHING.iter().any(|word| line.trim_end_matches(['(', ')', ';']) == word.trim_end_matches(['(', ')']))
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

/// Returns whether a text calls a function by its bare name.
fn calls(text: &str, name: &str) -> bool {
    let is_of_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.');
    text.match_indices(name).any(|(at, _)| {
        text[at + name.len()..].starts_with('(') && !text[..at].chars().next_back().is_some_and(is_of_name)
    })
}

/// Returns the lines of a definition below its head that hold more than signs.
fn body<'t>(lines: &Lines<'t>, own: &Definition) -> HashSet<&'t str> {
    let inside = extent(lines, own).skip(1).map(|at| lines.content(at).trim());
    inside.filter(|line| line.contains(char::is_alphanumeric)).collect()
}

/// Returns whether two definitions have a word of their names in common, or the same two parameters or more.
fn has_like_head((hay, own): (&Lines, &Definition), (part, other): (&Lines, &Definition)) -> bool {
    let (one, two) = (words_of(own.name), words_of(other.name));
    let is_shared = one.iter().any(|word| word.chars().count() > 2 && two.contains(word)) || one == two;
    let given = |lines: &Lines, own: &Definition| {
        let line = lines.content(own.line);
        let inside = line.split_once('(').and_then(|(_, rest)| rest.rsplit_once(')')).map_or("", |(inside, _)| inside);
        inside.split(',').map(|one| one.trim().to_string()).filter(|one| !SELVES.contains(&&**one)).collect::<Vec<_>>()
    };
    let (mine, theirs) = (given(hay, own), given(part, other));
    is_shared || mine.len() >= 2 && mine == theirs
}

/// Names of the object that a method is called on.
const SELVES: [&str; 5] = ["", "self", "&self", "&mut self", "cls"];

/// Returns the words of a name, in small letters: `getUser`, `get_user`.
fn words_of(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut is_small = false;
    for c in name.chars() {
        if c == '_' || c.is_uppercase() && is_small {
            words.push(String::new());
        }
        is_small = c.is_lowercase();
        words.iter_mut().last().expect("a word").extend(c.to_lowercase().filter(|c| *c != '_'));
    }
    words.retain(|word| !word.is_empty());
    words
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

    #[test]
    fn a_definition_that_does_nothing_any_more_is_emptied() {
        let file = "def one(a):\n    \"\"\"Adds.\"\"\"\n    return a + 1\n\n\ndef two(a):\n    return a + 2\n";
        for body in [
            "    ...",
            "    pass",
            "    # the same",
            "    \"\"\"same as before\"\"\"",
            "    raise NotImplementedError()",
        ] {
            let new = file.replace("    return a + 2", body);
            assert_eq!(emptied(file, &new), ["two"], "{body}");
            assert_eq!(emptied(&new, &new), [""; 0], "{body}");
        }
        for new in [
            file.replace("a + 2", "a + 3"),
            file.replace("    return a + 2", "    return None"),
            "def one(a):\n    return a\n".into(),
        ] {
            assert_eq!(emptied(file, &new), [""; 0], "{new}");
        }
        let short = "def one(a): return a + 1\ndef two(a): return a + 2\n";
        assert_eq!(emptied(short, &short.replace("return a + 2", "...")), ["two"]);
        assert_eq!(emptied(file, &file.replace("two(a):\n    return a + 2", "two(a): ...")), ["two"]);
        let rust = "fn one() -> u8 {\n    two();\n    1\n}\n";
        assert_eq!(emptied(rust, "fn one() -> u8 {\n    todo!()\n}\n"), ["one"]);
        assert_eq!(emptied(rust, "fn one() -> u8 {\n    // unchanged\n}\n"), ["one"]);
        assert_eq!(emptied(rust, "fn one() -> u8 {}\n"), ["one"]);
        assert_eq!(emptied("function f() {\n  g();\n}\n", "function f() {\n}\n"), ["f"]);
    }

    #[test]
    fn another_function_in_its_place_is_no_new_name() {
        let file = "def circle(r):\n    return 3 * r * r\n\n\ndef square(a):\n    return a * a\n\n\ndef rectangle(a, b):\n    return a * b\n";
        let one = "def rectangle(a, b):\n    return a * b\n";
        let triangle = file.replace(one, "def triangle(a, h):\n    return a * h / 2\n");
        assert_eq!(gone(file, &triangle), ["rectangle"]);
        for other in [
            "def oblong(a, b):\n    return b * a\n",
            "def rectangle_area(a, h):\n    return a * h\n",
            "def Rectangle(x, y):\n    return x * y\n",
            "def oblong(x, y):\n    return a * b\n",
        ] {
            assert_eq!(gone(file, &file.replace(one, other)), [""; 0], "{other}");
        }
        let class = "class A:\n    def whole(self):\n        return 2\n\n    def half(self):\n        return 1\n";
        assert_eq!(
            gone(class, &class.replace("half(self):\n        return 1", "rest(self):\n        return 3")),
            ["half"]
        );
    }

    #[test]
    fn an_overload_and_a_function_that_is_an_expression_are_definitions() {
        let java = "class A {\n    int add(int a) {\n        return a;\n    }\n\n    int add(int a, int b) {\n        return a + b;\n    }\n}\n";
        let without = java.replace("\n    int add(int a, int b) {\n        return a + b;\n    }\n", "");
        assert_eq!(gone(java, &without), ["add"]);
        assert_eq!(gone(java, java), [""; 0]);
        let kotlin = "fun one(a: Int) = a + 1\n\nfun two(a: Int): Int = a + 2\n";
        assert_eq!(gone(kotlin, "fun one(a: Int) = a + 1\n"), ["two"]);
        let js = "exports.one = function (a) {\n  return a;\n};\n\nexports.two = (a) => {\n  return a + 2;\n};\n";
        assert_eq!(gone(js, "exports.one = function (a) {\n  return a;\n};\n"), ["two"]);
    }
}
