//! The forms of files by their names: what in them is a passage with a head.

use std::ops::Range;

use super::heads::{begins_statement, without_comment};
use crate::edit::lines::Lines;
use crate::edit::locate::only_dots;
use crate::edit::place::part::is_decoration;

/// A form of files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// Definitions, assignments and blocks of any language.
    Code,
    /// Rules and their declarations.
    Css,
    /// Statements that create something.
    Sql,
    /// Keys and items of lists, by their indentation.
    Yaml,
    /// Members of objects.
    Json,
    /// Headings, each with the text up to the next one.
    Markdown,
    /// Sections under a name in brackets, and keys with values.
    Sections,
    /// Targets and variables.
    Make,
}

impl Form {
    /// Returns the form of the file of this path.
    pub fn of(path: &str) -> Form {
        let name = path.rsplit('/').next().unwrap_or(path).to_ascii_lowercase();
        if matches!(name.as_str(), "makefile" | "gnumakefile" | "justfile") {
            return Form::Make;
        }
        if name.starts_with(".env") {
            return Form::Sections;
        }
        match name.rsplit_once('.').map_or("", |(_, extension)| extension) {
            "css" | "scss" | "less" => Form::Css,
            "sql" | "ddl" => Form::Sql,
            "yaml" | "yml" => Form::Yaml,
            "json" | "jsonc" | "json5" => Form::Json,
            "md" | "mdx" | "markdown" => Form::Markdown,
            "toml" | "ini" | "cfg" | "conf" | "properties" | "env" | "service" | "editorconfig" => Form::Sections,
            "mk" | "mak" => Form::Make,
            _ => Form::Code,
        }
    }

    /// Returns whether a line is a comment, or an attribute, which belongs to the passage right below it.
    pub fn decorates(self, line: &str) -> bool {
        let line = line.trim();
        let begins = |marks: &[&str]| marks.iter().any(|mark| line.starts_with(mark));
        match self {
            _ if line.is_empty() => false,
            Form::Code => {
                is_decoration(line) && !begins(&["#include", "#define", "#import", "#pragma", "#if", "#end", "#!"])
            }
            // `* { … }` is a rule.
            Form::Css => line == "*" || begins(&["/*", "//", "*/"]) || begins(&["* "]) && !line.contains(['{', '}']),
            Form::Json => begins(&["//", "/*"]),
            Form::Sql => begins(&["--", "/*"]),
            Form::Yaml | Form::Make => begins(&["#"]),
            Form::Sections => begins(&["#", ";"]),
            Form::Markdown => false,
        }
    }

    /// Returns whether files of this form are keys with values: dots alone on a line are no part of them.
    pub fn has_keys(self) -> bool {
        matches!(self, Form::Json | Form::Yaml | Form::Sections)
    }

    /// Returns whether a comma parts a passage from the next one.
    pub fn has_commas(self) -> bool {
        self == Form::Json
    }

    /// Returns whether a passage is over after these lines.
    pub fn ends(self, lines: &Lines, passage: Range<usize>) -> bool {
        let text: Vec<&str> = passage.clone().map(|at| lines.content(at).trim_end()).collect();
        let is_open = |mark: &str| text.iter().map(|line| line.matches(mark).count()).sum::<usize>() % 2 == 1;
        let is_balanced = |open: char, close: char| {
            let count = |mark: char| text.iter().map(|line| line.matches(mark).count()).sum::<usize>();
            count(open) == count(close)
        };
        let next = (passage.end..lines.len()).map(|at| lines.content(at).trim()).find(|line| !line.is_empty());
        let goes_on = |line: &&str| line.ends_with(['\\', ',', '(', '[', '{', '=', '+', '|', '&', '.']);
        match self {
            Form::Css | Form::Json => is_balanced('{', '}') && is_balanced('[', ']') && is_balanced('(', ')'),
            Form::Sql => {
                let is_next = |line: &str| self.decorates(line) || begins_statement(line);
                text.last().is_some_and(|line| without_comment(line).ends_with(';')) && next.is_none_or(is_next)
            }
            Form::Code => {
                !["\"\"\"", "'''", "`"].into_iter().any(is_open)
                    && is_balanced('{', '}')
                    && is_balanced('(', ')')
                    && is_balanced('[', ']')
                    && !text.last().is_some_and(goes_on)
            }
            Form::Sections => !["\"\"\"", "'''"].into_iter().any(is_open) && is_balanced('[', ']'),
            Form::Make => !text.last().is_some_and(|line| line.ends_with('\\')),
            Form::Yaml | Form::Markdown => true,
        }
    }

    /// Returns whether a new text of a file can be read where the old one could.
    pub fn keeps_sound(self, old: &str, new: &str) -> bool {
        let is_sound = |text: &str| serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok();
        self != Form::Json || is_sound(new) || !is_sound(old)
    }
}

/// Returns whether a line is dots and nothing else, but for the sign that parts it from the next one.
pub(super) fn is_dots_alone(line: &str) -> bool {
    only_dots(line.trim().trim_end_matches(','))
}
