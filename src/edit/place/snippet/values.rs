//! Constants that a new text of a file uses and gives no value any more.

use super::form::Form;
use super::heads::of_assignment;
use crate::edit::lines::Lines;
use crate::edit::locate::{commented, indent};
use crate::edit::place::part::definitions;

/// Returns the names of the constants at the margin of a file of code that a new text of it uses without a value.
pub(in crate::edit) fn values_gone(file: &str, new: &str, path: &str) -> Vec<String> {
    if Form::of(path) != Form::Code {
        return Vec::new();
    }
    let is_constant = |name: &String| {
        let is_of_it = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
        name.len() > 1 && name.chars().all(is_of_it)
    };
    let at_margin = file.lines().filter(|line| indent(line).is_empty());
    let mut names: Vec<String> = at_margin
        .filter_map(|line| Some(of_assignment(line)?.trim_end_matches(" =").to_string()))
        .filter(is_constant)
        .filter(|name| is_used(new, name))
        .collect();
    names.dedup();
    names
}

/// Returns whether code has a name in it and nothing that makes it known: a value, an import, a definition.
fn is_used(text: &str, name: &str) -> bool {
    const IMPORTS: [&str; 6] = ["import ", "from ", "use ", "pub use ", "using ", "#define "];
    let has = |code: &str| code.split(|c: char| !(c.is_alphanumeric() || c == '_')).any(|word| word == name);
    let gives = |line: &str| {
        line.split_once('=').is_some_and(|(before, _)| has(before)) || IMPORTS.iter().any(|word| line.starts_with(word))
    };
    // As a part of another thing, or in a text, it is no use of the constant.
    let is_bare = |line: &str| {
        line.match_indices(name).any(|(at, _)| {
            let (before, after) = (line[..at].chars().next_back(), line[at + name.len()..].chars().next());
            let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '\'' | '"' | ':');
            !before.is_some_and(is_part) && !after.is_some_and(|c| c.is_alphanumeric() || matches!(c, '_' | '\'' | '"'))
        })
    };
    let gives_all = |line: &str| line.trim_start().starts_with("from ") && line.trim_end().ends_with('*');
    if text.lines().any(gives_all) {
        return false;
    }
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| has(line) && commented(line).is_none()).collect();
    // A list in brackets may be that of an import.
    let is_listed = |line: &&str| line.trim_end_matches([',', ')', '}']).trim() == name;
    let is_known = lines.iter().any(|line| gives(line) || is_listed(line))
        || definitions(&Lines::new(text)).iter().any(|own| own.name == name);
    lines.iter().any(|line| is_bare(line)) && !is_known
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_constant_that_is_used_is_missing_where_nothing_gives_it() {
        let file = "EPS = 4\nLIMIT: int = 9\n\n\ndef f(n):\n    return n + EPS\n";
        let without = "LIMIT: int = 9\n\n\ndef f(n):\n    return n + EPS\n";
        assert_eq!(values_gone(file, without, "a.py"), ["EPS"]);
        assert_eq!(values_gone("export const EPS = 4;\nf(EPS);\n", "f(EPS);\n", "a.ts"), ["EPS"]);
        for new in [
            file.to_string(),
            "def f(n):\n    return n + 4\n".to_string(),
            format!("from b import EPS\n{without}"),
            format!("from b import (\n    EPS,\n)\n{without}"),
            format!("EPS: int = 5\n{without}"),
            format!("from settings import *\n{without}"),
            "def f(n):\n    return n + settings.EPS\n".to_string(),
            "def f(n):\n    return n + os.environ['EPS']\n".to_string(),
            "def f(n):\n    # EPS is 4.\n    return n + 4\n".to_string(),
        ] {
            assert_eq!(values_gone(file, &new, "a.py"), [""; 0], "{new}");
        }
    }
}
