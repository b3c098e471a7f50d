//! Lines of dots in texts of keys (JSON, YAML, settings): each stands for what the file has between the keys around it.

use std::collections::HashSet;
use std::ops::Range;

use super::form::{Form, is_dots_alone};
use super::units::Unit;
use super::{Side, passages};
use crate::edit::bytes;
use crate::edit::lines::Lines;
use crate::edit::locate::{indent, only_dots, part_with_tabs, with_own_width};
use crate::edit::place::left_out::{filled, is_mark};

/// Texts of more lines than this are not filled.
const MOST_LINES: usize = 4000;

/// Returns a file as a text has it whose lines of dots stand for keys of the file, and the names of those that are other ones.
/// Nothing where what one of them stands for is not certain.
pub(in crate::edit::place) fn filled_by_keys(file: &str, new: &str, path: &str) -> Option<(String, String)> {
    let form = Form::of(path);
    let may_elide = || new.contains("...") || new.contains('…') || new.lines().any(is_mark);
    let is_large = || file.lines().count().max(new.lines().count()) > MOST_LINES;
    if !form.has_keys() || !may_elide() || is_large() {
        return None;
    }
    let hollow = filled(file, new).map(|(text, _)| text);
    let new = with_own_width(hollow.as_deref().unwrap_or(new), file);
    let new = bytes::fit_whole(&part_with_tabs(&new, file), file);
    let (hay, part) = (Side::new(file, form), Side::new(&new, form));
    let own: HashSet<&str> = file.lines().map(str::trim).collect();
    let is_gap = |at: usize| {
        let line = part.lines.content(at);
        !own.contains(line.trim()) && (is_dots_alone(line) || is_mark(line)) && !ends_document(&part.lines, at, form)
    };
    let gaps: Vec<bool> = (0..part.lines.len()).map(is_gap).collect();
    let changed = if gaps.contains(&true) { Gaps::of(&hay, &part, gaps)?.filled()? } else { hollow? };
    let keys = |side: &Side| -> HashSet<String> {
        side.outermost(0..side.lines.len()).into_iter().map(|unit| unit.key.clone()).collect()
    };
    let whole = Side::new(&changed, form);
    let ends = |text: &str| [text.trim_start().chars().next(), text.trim_end().chars().next_back()];
    let is_whole = keys(&hay).is_subset(&keys(&whole)) && (form != Form::Json || ends(file) == ends(&changed));
    if !is_whole {
        return passages(file, &changed, path);
    }
    let is_other = |unit: &&Unit| !file.contains(&part.lines.text[part.lines.range(unit.lines.clone())]);
    let names: Vec<&str> = part.outermost(0..part.lines.len()).into_iter().filter(is_other).map(Unit::name).collect();
    (changed != file && form.keeps_sound(file, &changed)).then(|| (changed.clone(), names.join(", ")))
}

/// Returns whether a line of YAML is dots that end a document, before the next one.
pub(super) fn ends_document(lines: &Lines, at: usize, form: Form) -> bool {
    let next = || (at + 1..lines.len()).map(|at| lines.content(at).trim_end()).find(|line| !line.is_empty());
    form == Form::Yaml && only_dots(lines.content(at).trim_end()) && next().is_some_and(|line| line.starts_with("---"))
}

/// Lines of dots in a text, and where in the file what is around them stands.
struct Gaps<'s, 't> {
    hay: &'s Side<'t>,
    part: &'s Side<'t>,
    /// The lines of the text that are dots.
    gaps: Vec<bool>,
    /// The line of the file at which dots above a line of the text end.
    before: Vec<Option<usize>>,
    /// The line of the file at which dots below a line of the text begin.
    behind: Vec<Option<usize>>,
    /// The comments of the file that stay above a line of the text.
    above: Vec<Range<usize>>,
}

impl<'s, 't> Gaps<'s, 't> {
    /// Returns nothing where the place of something around the dots is not certain.
    fn of(hay: &'s Side<'t>, part: &'s Side<'t>, gaps: Vec<bool>) -> Option<Self> {
        let lines = part.lines.len();
        let mut found = Gaps {
            hay,
            part,
            gaps,
            before: vec![None; lines + 1],
            behind: vec![None; lines],
            above: vec![0..0; lines],
        };
        let mut inside = [0..lines, 0..hay.lines.len()];
        if part.form == Form::Json {
            let ends = |lines: &Lines| {
                let is_bracket = |at: &usize| matches!(lines.content(*at).trim(), "{" | "}" | "[" | "]");
                Some((0..lines.len()).find(is_bracket)?..(0..lines.len()).rfind(is_bracket)?)
            };
            if let (Some(here), Some(there)) = (ends(&part.lines), ends(&hay.lines))
                && (here.start, there.start) == (0, 0)
            {
                found.pair(here.start..here.start + 1, there.start..there.start + 1);
                found.pair(here.end..here.end + 1, there.end..there.end + 1);
                inside = [here.start + 1..here.end, there.start + 1..there.end];
            }
        }
        let [here, there] = inside;
        found.look(here, there)?;
        Some(found)
    }

    /// Notes that lines of the text are these of the file.
    fn pair(&mut self, here: Range<usize>, there: Range<usize>) {
        let end = &mut self.before[here.start];
        *end = Some(end.map_or(there.start, |end| end.min(there.start)));
        self.behind[here.end - 1] = Some(there.end);
    }

    fn has_gap(&self, lines: Range<usize>) -> bool {
        self.gaps[lines].contains(&true)
    }

    /// Finds the lines of the text, among those of the file.
    fn look(&mut self, here: Range<usize>, there: Range<usize>) -> Option<()> {
        let (hay, part) = (self.hay, self.part);
        let (ones, own) = (part.outermost(here.clone()), hay.outermost(there.clone()));
        let is_text = |lines: &Lines, at: &usize| {
            !lines.content(*at).trim().is_empty() && !part.form.decorates(lines.content(*at))
        };
        let content_end = there.clone().rfind(|at| is_text(&hay.lines, at)).map_or(there.start, |at| at + 1);
        let mut at = here.start;
        let mut new = Vec::new();
        while at < here.end {
            let line = part.lines.content(at);
            let unit = ones.iter().find(|one| one.lines.start == at);
            let end = unit.map_or(at + 1, |one| self.end_of(one).min(here.end));
            if self.gaps[at] || unit.is_none() && !is_text(&part.lines, &at) {
                at += 1;
                continue;
            }
            let bare = |line: &str| line.trim().trim_end_matches(',').to_string();
            let mut same: Vec<Range<usize>> = match unit {
                Some(one) => own.iter().filter(|own| own.key == one.key).map(|own| own.lines.clone()).collect(),
                None if bare(line).len() < 2 => return None,
                None => {
                    let is_it = |at: &usize| bare(hay.lines.content(*at)) == bare(line);
                    there.clone().filter(is_it).map(|at| at..at + 1).collect()
                }
            };
            if let (Some(one), [lines]) = (unit, same.as_slice()) {
                self.keep_comments(one, own.iter().find(|own| own.lines == *lines)?, (here.start, there.start))?;
            }
            match (same.pop().filter(|_| same.is_empty()), unit) {
                (Some(lines), Some(one)) if self.has_gap(at..end) => {
                    self.look_inside(one, at..end, own.iter().find(|own| own.lines == lines)?)?;
                }
                (Some(_), Some(one)) if self.has_gap(end..here.end) && self.leaves_out(one, &own) => return None,
                (Some(lines), _) => self.pair(at..end, lines),
                (None, _) if same.is_empty() && !self.has_gap(at..end) => new.push(at..end),
                (None, _) => return None,
            }
            at = end;
        }
        // What is new below dots stands below all that they stand for.
        for lines in new {
            let is_known_below = (lines.end..here.end).any(|at| self.before[at].is_some());
            if !is_known_below && self.has_gap(here.start..lines.start) {
                self.pair(lines, content_end..content_end);
            }
        }
        Some(())
    }

    /// Notes that the comments above a passage of the file (`own`) stay; nothing where it is indented otherwise than in the text.
    fn keep_comments(&mut self, one: &Unit, own: &Unit, (here, there): (usize, usize)) -> Option<()> {
        let (hay, part, at) = (self.hay, self.part, one.lines.start);
        let margin = |side: &Side<'t>, unit: &Unit| indent(side.lines.content(unit.lines.start));
        if margin(part, one) != margin(hay, own) {
            return None;
        }
        let is_comment = |at: &usize| !self.gaps[*at] && part.form.decorates(part.lines.content(*at));
        let given = (here..at).rev().take_while(is_comment).count();
        let comments = own.lines.start - hay.decorated(own, there);
        // Dots right above hold them, but for those that the text gives itself.
        if given > 0 {
            self.before[at - given] = Some(comments);
        } else if at == here || !self.gaps[at - 1] {
            self.above[at] = comments..own.lines.start;
        }
        Some(())
    }

    /// Returns whether a passage lacks keys that those of the file (`own`) have under its head: dots behind it may stand for them.
    fn leaves_out(&self, one: &Unit, own: &[&Unit]) -> bool {
        let there: HashSet<&str> = self.part.inside(one).into_iter().map(|unit| unit.key.as_str()).collect();
        let same = own.iter().filter(|own| own.key == one.key);
        same.flat_map(|own| self.hay.inside(own)).any(|unit| !there.contains(unit.key.as_str()))
    }

    /// Returns the end of a passage of the text. Dots that are parted from a section belong to what is around it.
    fn end_of(&self, one: &Unit) -> usize {
        let is_parted = |at: &usize| self.gaps[*at] && self.part.lines.content(*at - 1).trim().is_empty();
        let is_section = self.part.form == Form::Sections;
        (one.line + 1..one.lines.end).find(is_parted).filter(|_| is_section).unwrap_or(one.lines.end)
    }

    /// Finds the lines of a passage of the text that holds dots.
    fn look_inside(&mut self, one: &Unit, here: Range<usize>, own: &Unit) -> Option<()> {
        let (hay, part) = (self.hay, self.part);
        let closes = |lines: &Lines, at: usize| lines.content(at).trim_start().starts_with(['}', ']']);
        let (last, own_last) = (here.end - 1, own.lines.end - 1);
        let is_closed = closes(&part.lines, last) && last > one.line;
        if is_closed != (closes(&hay.lines, own_last) && own_last > own.line) {
            return None;
        }
        let closing = usize::from(is_closed);
        // Dots deeper in it stand for nothing of its own.
        let inner = one.line + 1..here.end - closing;
        let deeper: Vec<Range<usize>> = part.outermost(inner.clone()).iter().map(|unit| unit.lines.clone()).collect();
        let is_own = |at: usize| self.gaps[at] && !deeper.iter().any(|lines| lines.contains(&at));
        if !inner.clone().any(is_own) && self.leaves_out(one, &[own]) {
            return None;
        }
        self.look(inner, own.line + 1..own.lines.end - closing)?;
        self.pair(here.start..one.line + 1, own.lines.start..own.line + 1);
        if is_closed {
            self.pair(last..here.end, own_last..own.lines.end);
        }
        // Dots at its end stand for no more than is in it.
        let end = &mut self.before[here.end];
        *end = Some(end.map_or(own.lines.end, |end| end.min(own.lines.end)));
        self.behind[last] = Some(own.lines.end);
        Some(())
    }

    /// Returns the text with what its dots stand for; nothing where two of them stand for the same.
    fn filled(&self) -> Option<String> {
        let (hay, part) = (&self.hay.lines, &self.part.lines);
        let (mut lines, mut reached): (Vec<&str>, usize) = (Vec::new(), 0);
        for at in 0..part.len() {
            if !self.gaps[at] {
                lines.extend(self.above[at].clone().map(|at| hay.content(at)));
                lines.push(part.content(at));
                continue;
            }
            let from = (0..at).rev().find_map(|at| self.behind[at]).unwrap_or(0);
            let to = (at + 1..=part.len()).find_map(|at| self.before[at]).unwrap_or(hay.len());
            let is_solid = |at: &usize| !hay.content(*at).trim().is_empty();
            if to < from || from < reached && (from..to).any(|at| is_solid(&at)) {
                return None;
            }
            reached = to.max(reached);
            if let (Some(first), Some(last)) = ((from..to).find(is_solid), (from..to).rfind(is_solid)) {
                lines.extend((first..=last).map(|at| hay.content(at)));
            }
        }
        let ending = if hay.text.contains("\r\n") { "\r\n" } else { "\n" };
        let lines = if self.part.form == Form::Json {
            with_commas(&lines)
        } else {
            lines.iter().map(ToString::to_string).collect()
        };
        let end = if hay.text.ends_with('\n') { ending } else { "" };
        Some(lines.join(ending) + end)
    }
}

/// Returns lines of JSON with a comma behind each value that another one follows, and none behind the last one.
fn with_commas(lines: &[&str]) -> Vec<String> {
    let is_value = |line: &str| !line.trim().is_empty() && !Form::Json.decorates(line);
    let with_comma = |(at, line): (usize, &&str)| {
        let next = lines[at + 1..].iter().find(|line| is_value(line)).map(|line| line.trim_start());
        let Some(next) = next.filter(|_| is_value(line) && !line.contains("//")) else { return line.to_string() };
        let bare = line.trim_end().trim_end_matches(',');
        match (bare.ends_with(['{', '[', ':']), next.starts_with(['}', ']'])) {
            (true, _) | (_, true) => bare.to_string(),
            (false, false) => format!("{bare},"),
        }
    };
    lines.iter().enumerate().map(with_comma).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const JSON: &str = "{\n  \"name\": \"a\",\n  \"scripts\": {\n    \"start\": \"node a.js\",\n    \"lint\": \"eslint .\"\n  },\n  \"files\": [\n    \"a.js\",\n    \"b.js\"\n  ],\n  \"dependencies\": {\n    \"x\": \"1\"\n  }\n}\n";
    const YAML: &str = "name: a\nservices:\n  web:\n    image: web:1\n    ports:\n      - 80\n  db:\n    image: db:1\nvolumes:\n  data: {}\n";
    const TOML: &str = "[package]\nname = \"a\"\nversion = \"1.0.0\"\nedition = \"2021\"\n\n[dependencies]\nserde = \"1\"\n\n[profile.release]\nlto = true\n";

    #[test]
    fn dots_stand_for_the_keys_that_the_file_has_there() {
        let json = |from: &str, to: &str| JSON.replace(from, to);
        let yaml = |from: &str, to: &str| YAML.replace(from, to);
        let test = json("eslint .\"\n", "eslint .\",\n    \"test\": \"vitest\"\n");
        let clap = TOML.replace("serde = \"1\"\n", "serde = \"1\"\nclap = \"4\"\n");
        for (path, new, wanted) in [
            ("a.json", "{\n  ...\n  \"scripts\": {\n    ...\n    \"test\": \"vitest\"\n  },\n  ...\n}\n", test.clone()),
            (
                "a.json",
                "{\n  ...,\n  \"scripts\": {\n    ...,\n    \"test\": \"vitest\",\n  },\n  ...\n}\n",
                test.clone(),
            ),
            ("a.json", "{\n  \"name\": \"b\",\n  ...\n}\n", json("\"a\",\n  \"s", "\"b\",\n  \"s")),
            (
                "a.json",
                "{\n  \"name\": \"b\",\n  \"scripts\": { ... },\n  \"files\": [ ... ],\n  \"dependencies\": {\n    ...\n  }\n}\n",
                json("\"a\",\n  \"s", "\"b\",\n  \"s"),
            ),
            (
                "a.json",
                "{\n  ...\n  \"type\": \"module\"\n}\n",
                json("\"1\"\n  }\n", "\"1\"\n  },\n  \"type\": \"module\"\n"),
            ),
            (
                "a.json",
                "{\n  ...\n  \"files\": [\n    ...\n    \"c.js\"\n  ],\n  ...\n}\n",
                json("\"b.js\"\n", "\"b.js\",\n    \"c.js\"\n"),
            ),
            (
                "a.jsonc",
                "{\n  \"name\": \"a\",\n  // ... existing ...\n  \"dependencies\": {\n    \"x\": \"2\"\n  }\n}\n",
                json("\"x\": \"1\"", "\"x\": \"2\""),
            ),
            (
                "a.json",
                "{\n    ...\n    \"scripts\": {\n        ...\n        \"test\": \"vitest\"\n    },\n    ...\n}\n",
                test.clone(),
            ),
            (
                "b.jsonc",
                "{\n  ...\n  // Now two.\n  \"b\": 3,\n  \"c\": {\n    ...\n  }\n}\n",
                COMMENTED.replace("// Two.", "// Now two.").replace("2,", "3,"),
            ),
            ("b.jsonc", "{\n  \"a\": 5,\n  \"b\": 2,\n  ...\n}\n", COMMENTED.replace("1,", "5,")),
            ("a.yaml", "...\nservices:\n  web:\n    image: web:2\n    ...\n  ...\n...\n", yaml("web:1", "web:2")),
            (
                "a.yml",
                "name: a\nservices:\n  ...\n  cache:\n    image: c:1\n...\n",
                yaml("volumes", "  cache:\n    image: c:1\nvolumes"),
            ),
            (
                "a.toml",
                "[package]\nname = \"a\"\nversion = \"1.1.0\"\n...\n\n[dependencies]\n...\nclap = \"4\"\n\n...\n",
                clap.replace("1.0.0", "1.1.0"),
            ),
            ("a.toml", "...\n[dependencies]\nserde = \"1\"\nclap = \"4\"\n...\n", clap.clone()),
            ("a.toml", "[dependencies]\n...\nclap = \"4\"\n", clap),
        ] {
            assert_eq!(filled_by_keys(file(path), new, path).map(|(text, _)| text), Some(wanted), "{new}");
        }
        for (path, new) in [
            // A key that is nowhere, dots around one that is new, two that stand for the same, and one line of it all.
            ("a.json", "{\n  ...\n  \"other\": {\n    ...\n  },\n  ...\n}\n"),
            ("a.json", "{\n  \"files\": [\n    {\n      ...\n    }\n  ],\n  ...\n}\n"),
            ("a.json", "{\n  ...\n  \"dependencies\": {\n    \"x\": \"2\"\n  },\n  \"name\": \"a\",\n  ...\n}\n"),
            ("a.json", "{ ... \"scripts\": { ... \"test\": \"vitest\" } ... }\n"),
            ("a.yaml", "services:\n  web:\n    image: web:2\n    ports:\n      - 80\n...\n"),
            ("a.py", "x = 1\n...\n"),
            // Dots in a list stand for none of the keys beside it.
            ("a.yaml", "name: a\nservices:\n  web:\n    ports:\n      ...\n      - 81\n  ...\n...\n"),
        ] {
            assert_eq!(filled_by_keys(file(path), new, path), None, "{new}");
        }
    }

    const COMMENTED: &str =
        "{\n  // One.\n  \"a\": 1,\n  // Two.\n  \"b\": 2,\n  // Three.\n  \"c\": {\n    \"d\": 4\n  }\n}\n";

    fn file(path: &str) -> &'static str {
        match path.rsplit('.').next() {
            _ if path == "b.jsonc" => COMMENTED,
            Some("toml") => TOML,
            Some("yaml" | "yml") => YAML,
            _ => JSON,
        }
    }
}
