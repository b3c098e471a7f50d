//! The tabs in front of the recipes of a Makefile, which are none with spaces.

use std::borrow::Cow;
use std::collections::HashSet;

use super::indent;

/// Returns whether a file is one of Make, which knows a recipe by its tab.
pub(in crate::edit) fn is_of_make(path: &str) -> bool {
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path).to_ascii_lowercase();
    let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
    matches!(name.as_str(), "makefile" | "gnumakefile" | "makefile.am" | "makefile.in")
        || ["mk", "mak"].contains(&ending)
}

/// Returns a new text of a file at `path`, which comes below what is `above` it there, with a tab in front of each recipe line
/// that the `old` file does not have so. The text of any other file is as it was.
pub(in crate::edit) fn with_recipe_tabs<'n>((above, new): (&str, &'n str), old: &str, path: &str) -> Cow<'n, str> {
    const OTHER_SIGN: &str = ".RECIPEPREFIX";
    if !is_of_make(path) || !new.contains(' ') || [old, new].iter().any(|text| text.contains(OTHER_SIGN)) {
        return Cow::Borrowed(new);
    }
    let own: HashSet<&str> = old.lines().collect();
    let mut reader = RuleReader::default();
    let begun = above.rsplit('\n').next().unwrap_or_default();
    above[..above.len() - begun.len()].lines().for_each(|line| {
        reader.is_recipe(line);
    });
    let mut text = String::with_capacity(new.len());
    for (at, line) in new.split_inclusive('\n').enumerate() {
        if at == 0 && !begun.is_empty() {
            reader.is_recipe(&format!("{begun}{line}"));
            text.push_str(line);
            continue;
        }
        let is_recipe = reader.is_recipe(line);
        if !is_recipe || !line.starts_with(' ') || own.contains(line.trim_end_matches(['\r', '\n'])) {
            text.push_str(line);
            continue;
        }
        let (lead, command) = line.split_at(indent(line).len());
        let first = *reader.first.get_or_insert(lead.len());
        text.extend(["\t", &" ".repeat(lead.len().saturating_sub(first)), command]);
    }
    if text == new { Cow::Borrowed(new) } else { Cow::Owned(text) }
}

/// Reads the lines of a Makefile, from first to last.
#[derive(Default)]
struct RuleReader {
    /// The lines belong to a rule.
    in_rule: bool,
    /// They belong to a variable of several lines.
    in_define: bool,
    /// The line before goes on.
    goes_on: bool,
    /// The indentation of the first recipe line of the rule that is to have a tab.
    first: Option<usize>,
}

impl RuleReader {
    /// Returns whether the next line is one of a recipe.
    fn is_recipe(&mut self, line: &str) -> bool {
        const CONDITIONS: [&str; 6] = ["ifeq", "ifneq", "ifdef", "ifndef", "else", "endif"];
        let text = line.trim_end();
        let bare = text.trim_start();
        let word = bare.split(|c: char| c.is_whitespace() || c == '(').next().unwrap_or_default();
        if std::mem::replace(&mut self.goes_on, text.ends_with('\\')) || bare.is_empty() || bare.starts_with('#') {
            return false;
        }
        if text.starts_with([' ', '\t']) {
            return self.in_rule && !self.in_define && !CONDITIONS.contains(&word) && !gives_value(bare);
        }
        self.in_define = self.in_define && word != "endef" || word == "define";
        self.first = None;
        // Below a condition at the margin a line may as well give a variable its value.
        self.in_rule = bare.split_once(':').is_some_and(|(targets, rest)| {
            !targets.trim().is_empty() && !targets.contains('=') && !rest.trim_start_matches(':').starts_with('=')
        });
        false
    }
}

/// Returns whether a line gives a variable its value: a command has no space before its `=`.
fn gives_value(line: &str) -> bool {
    let mut words = line.split_whitespace();
    words.next().is_some() && words.next().is_some_and(|sign| ["=", ":=", "::=", "+=", "?=", "!="].contains(&sign))
}

#[cfg(test)]
mod tests {
    use super::*;

    const OLD: &str = "CC = gcc\n\nall: rpn\n\nclean:\n\trm -f rpn\n";

    #[test]
    fn a_recipe_has_a_tab() {
        let wanted = "test: rpn\n\t./rpn 1 2 +\n\tif a; then \\\n        b; \\\n    fi\n\t  c\n\nclean:\n";
        let new = "test: rpn\n    ./rpn 1 2 +\n    if a; then \\\n        b; \\\n    fi\n      c\n\nclean:\n";
        for path in ["Makefile", "src/makefile", "rules.mk", "./GNUmakefile"] {
            assert_eq!(with_recipe_tabs(("all: rpn\n\n", new), OLD, path), wanted, "{path}");
            assert_eq!(with_recipe_tabs(("", new), "", path), wanted, "{path}");
        }
        assert_eq!(with_recipe_tabs(("clean:\n\trm -f rpn\n", "  rm b\n"), OLD, "Makefile"), "\trm b\n");
        assert_eq!(with_recipe_tabs(("test:", "\n    a\n"), OLD, "Makefile"), "\n\ta\n");
        for path in ["justfile", "a.py", "Makefile.md"] {
            assert_eq!(with_recipe_tabs(("", new), OLD, path), new, "{path}");
        }
    }

    #[test]
    fn other_lines_of_a_makefile_keep_their_spaces() {
        for new in [
            "all: a \\\n     b\n",
            "ifdef DEBUG\n    CFLAGS += -g\nendif\n",
            "all: a\n\nifdef DEBUG\n    CFLAGS += -g\nendif\n",
            "all: a\n    ifdef DEBUG\n    FLAGS = 1\n",
            "FLAGS := a \\\n    b\n",
            "define RUN\nall: x\n    echo\nendef\n",
            ".RECIPEPREFIX = >\nall:\n    a\n",
        ] {
            assert_eq!(with_recipe_tabs(("", new), OLD, "Makefile"), new);
        }
        // What the file has so stays.
        let old = "all:\n    a\n";
        assert_eq!(with_recipe_tabs(("", "all:\n    a\n    b\n"), old, "Makefile"), "all:\n    a\n\tb\n");
    }
}
