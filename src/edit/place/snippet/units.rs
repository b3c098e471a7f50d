//! Passages of a text: where each begins and ends.

use std::collections::HashSet;
use std::ops::Range;

use super::form::Form;
use super::heads;
use crate::edit::lines::Lines;
use crate::edit::locate::indent;
use crate::edit::place::part::{Definition, definitions, extent};

/// A passage.
#[derive(Debug)]
pub(super) struct Unit {
    /// The head that it is recognised by.
    pub key: String,
    /// The last line of its head.
    pub line: usize,
    /// All of its lines, from the first one of its head.
    pub lines: Range<usize>,
    pub is_definition: bool,
}

impl Unit {
    fn new(key: String, line: usize, lines: Range<usize>) -> Self {
        Unit { key, line, lines, is_definition: false }
    }

    /// Returns its name, for people.
    pub fn name(&self) -> &str {
        self.key.trim_end_matches([':', '=', '{', ' '])
    }
}

/// Returns the passages of a text, those inside of others too, in the order of their heads.
pub(super) fn units(lines: &Lines, form: Form) -> Vec<Unit> {
    let mut units = match form {
        Form::Code => of_code(lines),
        Form::Markdown => of_markdown(lines),
        Form::Sections => of_sections(lines),
        Form::Sql => (0..lines.len()).filter_map(|at| of_sql(lines, at)).collect(),
        Form::Css | Form::Yaml | Form::Json | Form::Make => {
            (0..lines.len()).filter_map(|at| indented(lines, at, form)).collect()
        }
    };
    units.sort_by_key(|unit| (unit.lines.start, unit.line));
    units
}

/// Returns the lines from one on up to the next that is indented no further, a closing bracket included.
fn deeper(lines: &Lines, line: usize) -> Range<usize> {
    let indent = indent(lines.content(line)).len();
    extent(lines, &Definition { name: "", kind: "", line, indent })
}

/// Returns the passage whose head ends at a line, by indentation.
fn indented(lines: &Lines, at: usize, form: Form) -> Option<Unit> {
    let line = lines.content(at);
    let (start, key) = match form {
        Form::Css => heads::of_css(lines, at)?,
        Form::Yaml => (at, heads::of_yaml(line)?),
        Form::Json => (at, heads::of_json(line)?),
        _ => (at, heads::of_make(line)?),
    };
    let mut end = deeper(lines, at).end;
    // The items of a list may stand right below its key. An item itself has none but its own.
    if form == Form::Yaml && line.trim_end().ends_with(':') && !line.trim_start().starts_with("- ") {
        let margin = indent(line).len();
        let is_item = |at: usize| {
            let line = lines.content(at);
            indent(line).len() == margin && line.trim_start().starts_with("- ")
        };
        while let Some(next) =
            (end..lines.len()).find(|at| !lines.content(*at).trim().is_empty()).filter(|at| is_item(*at))
        {
            end = deeper(lines, next).end;
        }
    }
    Some(Unit::new(key, at, start..end))
}

/// Returns definitions, and beside them the lines that give a name a value or that open something.
fn of_code(lines: &Lines) -> Vec<Unit> {
    let all = definitions(lines);
    let own = all.iter().map(|own| Unit {
        is_definition: true,
        ..Unit::new(format!("{} {}", own.kind, own.name), own.line, extent(lines, own))
    });
    let begun: HashSet<usize> = all.iter().map(|own| own.line).collect();
    let other = |at: usize| {
        let line = lines.content(at);
        let text = line.trim();
        if begun.contains(&at) || text.is_empty() || Form::Code.decorates(text) || text.starts_with(['}', ')', ']']) {
            return None;
        }
        let lines = deeper(lines, at);
        let key = heads::of_assignment(text).or_else(|| (lines.len() > 1).then(|| text.to_string()))?;
        Some(Unit::new(key, at, lines))
    };
    own.chain((0..lines.len()).filter_map(other)).collect()
}

/// Returns the headings of a document, each with the text up to the next one.
fn of_markdown(lines: &Lines) -> Vec<Unit> {
    let mut units: Vec<Unit> = Vec::new();
    let mut fence: Option<&str> = None;
    for at in 0..lines.len() {
        let line = lines.content(at).trim_start();
        let mark = ["```", "~~~"].into_iter().find(|mark| line.starts_with(mark));
        match (fence, mark) {
            (Some(open), Some(mark)) if open == mark => fence = None,
            (None, Some(mark)) => fence = Some(mark),
            (None, None) => {
                if let Some((count, key)) = heads::of_markdown(lines, at) {
                    units.push(Unit::new(key, at + count - 1, at..lines.len()));
                }
            }
            _ => {}
        }
    }
    end_at_next(lines, &mut units, |_| false);
    units
}

/// Returns the sections of settings, each up to the next one, and the settings in them and above.
fn of_sections(lines: &Lines) -> Vec<Unit> {
    let section = |at: usize| Some(Unit::new(heads::of_section(lines.content(at))?, at, at..lines.len()));
    let mut units: Vec<Unit> = (0..lines.len()).filter_map(section).collect();
    // What is said right above a section is said of that one.
    end_at_next(lines, &mut units, |line| Form::Sections.decorates(line));
    let setting = |at: usize| Some(Unit::new(heads::of_setting(lines.content(at))?, at, deeper(lines, at)));
    units.extend((0..lines.len()).filter_map(setting));
    units
}

/// Ends each passage before the next one and the lines right above that belong to it.
fn end_at_next(lines: &Lines, units: &mut [Unit], belongs: impl Fn(&str) -> bool) {
    let starts: Vec<usize> = units.iter().skip(1).map(|unit| unit.lines.start).chain([lines.len()]).collect();
    for (unit, next) in units.iter_mut().zip(starts) {
        let is_own = |at: &usize| *at <= unit.line || !belongs(lines.content(*at));
        let end = match next < lines.len() {
            true => (unit.line..next).rev().find(is_own).map_or(next, |at| at + 1),
            false => next,
        };
        let is_solid = |at: &usize| *at <= unit.line || !lines.content(*at).trim().is_empty();
        unit.lines.end = (unit.line..end).rev().find(is_solid).map_or(end, |at| at + 1);
    }
}

/// Returns the statement that creates something and begins at a line.
fn of_sql(lines: &Lines, at: usize) -> Option<Unit> {
    let key = heads::of_sql(lines.content(at))?;
    let margin = indent(lines.content(at)).len();
    let mut quoted = false;
    for end in at..lines.len() {
        let line = heads::without_comment(lines.content(end));
        let is_outer = !quoted && indent(line).len() <= margin;
        if end > at && is_outer && heads::of_sql(line).is_some() {
            return None;
        }
        quoted ^= line.matches("$$").count() % 2 == 1;
        if !quoted && line.ends_with(';') && indent(line).len() <= margin {
            return Some(Unit::new(key, at, at..end + 1));
        }
    }
    None
}
