//! New definitions and lines that a text holds for a file which does not have them, and where they come.

use std::ops::Range;

use super::part::{
    Definition, METHOD, Passage, decorated, definitions, extent, has_receiver, is_decoration, methods, outermost,
    placed,
};
use super::snippet::assigned;
use super::splice::{Splice, spliced};
use crate::edit::bytes;
use crate::edit::lines::Lines;
use crate::edit::locate::{indent, part_with_tabs};
use crate::edit::op::PatchHunk;

/// The place of new text, as an answer says it.
#[derive(Debug, Clone, Copy)]
pub(in crate::edit) enum AddedPlace<'a> {
    /// The place above the first definition that uses it, of those that have these new texts.
    Used(&'a [&'a str]),
    /// The end of the file; true: any text, at the very end.
    End(bool),
    /// The end of a class, by its name: of the only outermost one where it has none.
    ClassEnd(Option<&'a str>),
}

/// A new text, and the line of the file that it comes above.
struct AddedLines {
    line: usize,
    text: String,
}

impl AddedLines {
    /// Puts a text above a definition and the lines that belong to it.
    fn above(hay: &Lines, there: &Definition, text: &str) -> Self {
        let line = there.line - decorated(hay, there.line);
        AddedLines { line, text: format!("{}\n{}", text.trim_end(), "\n".repeat(gap(hay, there))) }
    }

    /// Puts a text below a definition.
    fn below(hay: &Lines, there: &Definition, text: &str) -> Self {
        let text = format!("{}{}\n", "\n".repeat(gap(hay, there)), text.trim_end());
        AddedLines { line: extent(hay, there).end, text }
    }

    /// Puts a text at the end of a file.
    fn at_end(hay: &Lines, all: &[Definition], text: &str) -> Self {
        let is_solid = |at: &usize| !hay.content(*at).trim().is_empty();
        let line = (0..hay.len()).rev().find(is_solid).map_or(0, |at| at + 1);
        let gap = all.iter().rfind(|own| own.indent == 0).map_or(1, |own| gap(hay, own));
        let gap = if line == 0 { 0 } else { gap };
        AddedLines { line, text: format!("{}{}\n", "\n".repeat(gap), text.trim_end()) }
    }

    /// Returns the file with it.
    fn made(&self, hay: &Lines) -> String {
        let start = hay.spans.get(self.line).map_or(hay.text.len(), |span| span.start);
        let is_unended = start == hay.text.len() && !hay.text.is_empty() && !hay.text.ends_with(['\n', '\r']);
        let text = if is_unended { format!("\n{}", self.text.trim_end()) } else { self.text.clone() };
        let text = bytes::fit_endings(&text, bytes::endings(hay.text), "", &hay.text[..start]).into_owned();
        spliced(hay.text, &[Splice { range: start..start, new: text }])
    }

    /// Returns the hunk that puts it there, with as many lines around as tell the place; nothing where none do.
    fn hunk(&self, hay: &Lines) -> Option<PatchHunk> {
        let is_there = |at: usize, lines: &Range<usize>| {
            at + lines.len() <= hay.len()
                && (0..lines.len()).all(|n| hay.content(at + n) == hay.content(lines.start + n))
        };
        let is_solid = |lines: &Range<usize>| lines.clone().any(|at| !hay.content(at).trim().is_empty());
        let is_only =
            |lines: &Range<usize>| is_solid(lines) && (0..hay.len()).filter(|at| is_there(*at, lines)).count() == 1;
        let below = (1..=MOST_AROUND.min(hay.len() - self.line)).map(|n| self.line..self.line + n).find(is_only);
        let above = (1..=MOST_AROUND.min(self.line)).map(|n| self.line - n..self.line).find(is_only);
        let stays = |lines: Range<usize>| lines.map(|at| format!(" {}", hay.content(at)));
        let comes = || self.text.lines().map(|line| format!("+{line}"));
        // Its own blank lines are on the side of what it stands beside.
        let is_below = match (&above, &below) {
            (Some(above), Some(below)) => self.text.starts_with('\n') || above.len() < below.len(),
            (above, _) => above.is_some(),
        };
        let lines = if is_below { above } else { below };
        let lines = stays(lines?);
        let body = if is_below { lines.chain(comes()).collect() } else { comes().chain(lines).collect() };
        Some(PatchHunk { body, ..PatchHunk::default() })
    }
}

/// The most lines around by which a place is told.
const MOST_AROUND: usize = 60;

/// Returns how many blank lines part a definition from those beside it.
fn gap(hay: &Lines, own: &Definition) -> usize {
    let is_blank = |at: &usize| hay.content(*at).trim().is_empty();
    let (top, end) = (own.line - decorated(hay, own.line), extent(hay, own).end);
    let above = (0..top).rev().take_while(is_blank).count();
    let below = (end..hay.len()).take_while(is_blank).count();
    let is_beside = end + below < hay.len() && indent(hay.content(end + below)).len() == own.indent;
    match (above, below) {
        (_, below @ 1..) if is_beside => below,
        (above @ 1.., _) if above < top => above,
        _ if own.indent == 0 && hay.content(own.line).trim_end().ends_with(':') => 2,
        _ => 1,
    }
}

fn is_same(one: &Definition, other: &Definition) -> bool {
    one.name == other.name && one.kind == other.kind
}

/// Returns the lines of a definition, with those above that belong to it.
fn lines_of(lines: &Lines, own: &Definition) -> Range<usize> {
    own.line - decorated(lines, own.line)..extent(lines, own).end
}

/// Returns the text of lines of a part as it comes beside a definition of the file.
fn fitted(part: &Lines, (own, lines): (&Definition, Range<usize>), hay: &Lines, there: &Definition) -> Option<String> {
    let here = Passage { lines: part, head: own.line, extent: extent(part, own) };
    here.fitted(lines, &Passage { lines: hay, head: there.line, extent: extent(hay, there) })
}

/// Returns a file with the definitions of a part of it, which leaves out what is around them: those that the file has in
/// their places, new ones behind the one before, or above the one behind, at the end of the class that they are in (`class`)
/// or, where nothing comes below the part (`is_last`), of the file; and the names of those that are other ones.
pub(super) fn with_added(file: &str, part: &str, class: Option<&str>, is_last: bool) -> Option<(String, String)> {
    let new = bytes::fit_whole(&part_with_tabs(part, file), file);
    let part = Lines::new(&new);
    let outer = outermost(&part, &definitions(&part));
    let is_inside = |at: usize| outer.iter().any(|own| lines_of(&part, own).contains(&at));
    let is_known =
        |line: &str| line.chars().all(|c| "})];, ".contains(c)) || file.lines().any(|own| own.trim() == line);
    if outer.is_empty() || !(0..part.len()).all(|at| is_inside(at) || is_known(part.content(at).trim())) {
        return None;
    }
    let (mut text, mut names) = (file.to_string(), Vec::new());
    for (at, own) in outer.iter().enumerate() {
        let changed = {
            let hay = Lines::new(&text);
            let all = definitions(&hay);
            // At the margin the class is over.
            let class = match class.filter(|_| own.indent > 0) {
                Some(name) => Some(class_of(&hay, &all, Some(name))?),
                None => None,
            };
            let scope = class.map_or(0..hay.len(), |class| extent(&hay, &class));
            let there = |one: &Definition| {
                let mut same = all.iter().filter(|other| is_same(one, other) && scope.contains(&other.line));
                same.next().filter(|_| same.next().is_none())
            };
            let lines = lines_of(&part, own);
            if all.iter().any(|other| is_same(own, other) && scope.contains(&other.line)) {
                let piece = &part.text[part.range(lines)];
                spliced(&text, &placed(&text, piece, class.as_ref())?.0)
            } else {
                let before = outer[..at].last().and_then(there);
                let behind = outer[at + 1..].iter().find_map(there);
                let last = class.and_then(|class| methods(&hay, &all, &class).pop());
                let fit = |there: &Definition| fitted(&part, (own, lines.clone()), &hay, there);
                let insertion = match (before, behind, last) {
                    (Some(there), ..) => AddedLines::below(&hay, there, &fit(there)?),
                    (None, Some(there), _) => AddedLines::above(&hay, there, &fit(there)?),
                    (None, None, Some(there)) => AddedLines::below(&hay, &there, &fit(&there)?),
                    _ if class.is_none() && is_last && own.indent == 0 => {
                        AddedLines::at_end(&hay, &all, &part.text[part.range(lines)])
                    }
                    _ => return None,
                };
                insertion.made(&hay)
            }
        };
        if changed != text {
            names.push(own.name);
            text = changed;
        }
    }
    Some((text, names.join(", ")))
}

/// Returns the class of this name, or the only outermost one.
fn class_of<'t>(hay: &Lines, all: &[Definition<'t>], name: Option<&str>) -> Option<Definition<'t>> {
    let is_class = |own: &&Definition| {
        let is_it = name.map_or(own.indent == 0, |name| own.name == name);
        is_it && !methods(hay, all, own).is_empty()
    };
    let mut classes = all.iter().filter(is_class);
    classes.next().filter(|_| classes.next().is_none()).copied()
}

/// Returns the hunk that puts a text, which the file does not have, in its place in the file.
pub(in crate::edit) fn added(file: &str, new: &str, place: AddedPlace) -> Option<PatchHunk> {
    let new = part_with_tabs(new.trim_matches(['\r', '\n']), file);
    let (hay, part) = (Lines::new(file), Lines::new(&new));
    if part.len() == 0 || hay.len() == 0 {
        return None;
    }
    let (all, own) = (definitions(&hay), definitions(&part));
    let outer = outermost(&part, &own);
    let is_new = |one: &Definition| !all.iter().any(|other| other.name == one.name);
    let insertion = match place {
        AddedPlace::End(true) => AddedLines::at_end(&hay, &all, &new),
        _ if let Some(insertion) = beside_known(&hay, &part) => insertion,
        // Definitions that are all new, and nothing else.
        _ if !outer.is_empty() => {
            let is_inside = |at: usize| outer.iter().any(|own| lines_of(&part, own).contains(&at));
            let is_blank = |at: usize| part.content(at).trim().is_empty();
            if !outer.iter().all(is_new) || !(0..part.len()).all(|at| is_inside(at) || is_blank(at)) {
                return None;
            }
            let names: Vec<&str> = outer.iter().map(|own| own.name).collect();
            definition_added((&hay, &all), (&part, &outer[0]), &names, place)?
        }
        AddedPlace::Used(texts) => {
            let names = names_given(&part)?;
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            let is_there = |name: &&str| hay.text.lines().filter_map(assigned).any(|own| own == *name);
            let user = user(&hay, &all, texts, &names).filter(|_| !names.iter().any(is_there))?;
            AddedLines::above(&hay, &around(&hay, &all, user), &new)
        }
        _ => return None,
    };
    insertion.hunk(&hay)
}

/// Returns where new definitions come.
fn definition_added(
    (hay, all): (&Lines, &[Definition]),
    (part, own): (&Lines, &Definition),
    names: &[&str],
    place: AddedPlace,
) -> Option<AddedLines> {
    let fit = |there: &Definition| fitted(part, (own, 0..part.len()), hay, there);
    match place {
        AddedPlace::Used(texts) => {
            let user = user(hay, all, texts, names)?;
            let is_alike = user.kind == own.kind && has_receiver(hay, &user) == has_receiver(part, own);
            let there = if is_alike { user } else { around(hay, all, user) };
            Some(AddedLines::above(hay, &there, &fit(&there)?))
        }
        AddedPlace::ClassEnd(name) => {
            let class = class_of(hay, all, name)?;
            let last = methods(hay, all, &class).pop()?;
            Some(AddedLines::below(hay, &last, &fit(&last)?))
        }
        AddedPlace::End(_) => {
            // A method belongs to a class.
            let are_methods = own.kind == METHOD && all.iter().any(|own| own.kind == METHOD && own.indent > 0);
            if own.indent > 0 || has_receiver(part, own) || are_methods {
                return definition_added((hay, all), (part, own), names, AddedPlace::ClassEnd(None));
            }
            let guard = (0..hay.len()).find(|at| hay.content(*at).starts_with("if __name__ =="));
            let guard = guard.map(|line| Definition { name: "", kind: "", line, indent: 0 });
            Some(match guard {
                Some(guard) => AddedLines::above(hay, &guard, part.text),
                None => AddedLines::at_end(hay, all, part.text),
            })
        }
    }
}

/// Returns the names that the lines of a text give values at the margin, each on one line or on several in brackets; nothing
/// where it holds any other code.
fn names_given(part: &Lines) -> Option<Vec<String>> {
    let mut names = Vec::new();
    for at in 0..part.len() {
        let line = part.content(at);
        let goes_on = !names.is_empty() && (!indent(line).is_empty() || line.starts_with(['}', ')', ']']));
        if !goes_on && !is_decoration(line) {
            names.push(assigned(line)?);
        }
    }
    let is_closed = |(open, close)| part.text.matches::<char>(open).count() == part.text.matches::<char>(close).count();
    (!names.is_empty() && [('{', '}'), ('(', ')'), ('[', ']')].into_iter().all(is_closed)).then_some(names)
}

/// New texts of which one uses another, in a row, at the most.
const MOST_USED: usize = 8;

/// Returns the first of the file's definitions and constants the new text of which, among these, uses one of the names; of
/// one that is new itself, the first that uses that one.
fn user<'t>(hay: &Lines<'t>, all: &[Definition<'t>], texts: &[&str], names: &[&str]) -> Option<Definition<'t>> {
    let uses = |text: &str, names: &[&str]| {
        text.split(|c: char| !(c.is_alphanumeric() || c == '_')).any(|word| names.contains(&word))
    };
    let parts: Vec<(String, &str)> = texts.iter().flat_map(|text| parts_of(text)).collect();
    let (mut names, mut users) = (names.to_vec(), Vec::new());
    for _ in 0..MOST_USED {
        let using = |(name, text): &&(String, &str)| !names.contains(&name.as_str()) && uses(text, &names);
        let mut new = Vec::new();
        for (name, _) in parts.iter().filter(using) {
            let mut there = all.iter().filter(|own| own.name == name).copied();
            match there.next() {
                Some(own) => users.extend(Some(own).filter(|_| there.next().is_none())),
                None => match constant(hay, name) {
                    Some(own) => users.push(own),
                    None => new.push(name.as_str()),
                },
            }
        }
        if new.is_empty() {
            break;
        }
        names = new;
    }
    users.into_iter().min_by_key(|user| user.line)
}

/// Returns the outermost definitions of a text, or where it has none what it gives a value at the margin, each with its text.
fn parts_of(text: &str) -> Vec<(String, &str)> {
    let lines = Lines::new(text);
    let outer = outermost(&lines, &definitions(&lines));
    if outer.is_empty() {
        let name = text.lines().find(|line| !is_decoration(line)).filter(|line| indent(line).is_empty());
        return name.and_then(assigned).map(|name| (name, text)).into_iter().collect();
    }
    let part = |own: &Definition| (own.name.to_string(), &text[lines.range(lines_of(&lines, own))]);
    outer.iter().map(part).collect()
}

/// Returns the line that gives a name a value at the margin of a file, as a place.
fn constant<'t>(hay: &Lines<'t>, name: &str) -> Option<Definition<'t>> {
    let is_it = |at: &usize| indent(hay.content(*at)).is_empty() && assigned(hay.content(*at)).as_deref() == Some(name);
    (0..hay.len()).find(is_it).map(|line| Definition { name: "", kind: "", line, indent: 0 })
}

/// Returns the outermost definition around one, which may be that one.
fn around<'t>(hay: &Lines, all: &[Definition<'t>], own: Definition<'t>) -> Definition<'t> {
    outermost(hay, all).into_iter().find(|outer| extent(hay, outer).contains(&own.line)).unwrap_or(own)
}

/// Returns where lines at the margin come, such as imports and constants, that stand right above or below one which the file
/// has once.
fn beside_known(hay: &Lines, part: &Lines) -> Option<AddedLines> {
    let place = |line: &str| {
        let mut same = (0..hay.len()).filter(|at| hay.content(*at).trim_end() == line);
        same.next().filter(|_| same.next().is_none())
    };
    let lines: Vec<&str> = (0..part.len()).map(|at| part.content(at).trim_end()).collect();
    let is_statement = |line: &&str| {
        let begins = ["import ", "from ", "use ", "using ", "#include "].iter().any(|word| line.starts_with(word));
        indent(line).is_empty() && (begins || assigned(line).is_some()) && !line.ends_with(['{', '(', '[', '\\'])
    };
    if !lines.iter().all(is_statement) {
        return None;
    }
    let new: Vec<usize> = (0..lines.len()).filter(|at| place(lines[*at]).is_none()).collect();
    let (first, last) = (*new.first()?, *new.last()?);
    let text: String = lines[first..=last].iter().flat_map(|line| [*line, "\n"]).collect();
    if new.len() != last + 1 - first || new.len() == lines.len() {
        return None;
    }
    let below = lines.get(last + 1).and_then(|line| place(line));
    let above = || first.checked_sub(1).and_then(|at| place(lines[at])).map(|at| at + 1);
    below.or_else(above).map(|line| AddedLines { line, text })
}

#[cfg(test)]
mod tests {
    use super::*;

    const PY: &str = "import os\n\n\nclass A:\n    def one(self):\n        return 1\n\n    def two(self):\n        return 2\n\n\ndef three():\n    return 3\n";

    #[test]
    fn a_new_method_stands_beside_its_neighbour_or_at_the_end_of_its_class() {
        let method = "    def new(self):\n        return 0\n";
        let one = "    def one(self):\n        return 1\n";
        let two = "    def two(self):\n        return 2\n";
        let behind_one = PY.replace(one, &format!("{one}\n{method}"));
        let behind_two = PY.replace(two, &format!("{two}\n{method}"));
        for (part, class, wanted) in [
            (format!("{one}\n{method}"), Some("A"), &behind_one),
            (format!("{method}\n{two}"), Some("A"), &behind_one),
            (method.to_string(), Some("A"), &behind_two),
            (format!("{two}\n{method}"), None, &behind_two),
        ] {
            assert_eq!(with_added(PY, &part, class, false), Some((wanted.clone(), "new".to_string())), "{part}");
        }
        assert!(with_added(PY, method, None, true).is_none(), "no class is named");
        assert!(with_added(PY, &format!("    x = 1\n\n{method}"), Some("A"), false).is_none());
        let four = "def four():\n    return 4\n";
        assert_eq!(with_added(PY, four, None, true), Some((format!("{PY}\n\n{four}"), "four".to_string())));
        assert!(with_added(PY, four, None, false).is_none());
    }

    #[test]
    fn new_lines_stand_where_they_are_used_or_where_it_is_said() {
        let body = |new: &str, place| added(PY, new, place).map(|hunk| hunk.body.join("\n"));
        let three = ["def three():\n    return new() + LIMIT\n"];
        let used = AddedPlace::Used(&three);
        assert_eq!(
            body("def new():\n    return 0\n", used).as_deref(),
            Some("+def new():\n+    return 0\n+\n+\n def three():")
        );
        assert_eq!(body("LIMIT = 3\n", used).as_deref(), Some("+LIMIT = 3\n+\n+\n def three():"));
        assert_eq!(body("import json\nimport os\n", used).as_deref(), Some("+import json\n import os"));
        assert_eq!(body("import os\nimport sys\n", used).as_deref(), Some(" import os\n+import sys"));
        for new in ["OTHER = 3\n", "def other():\n    return 0\n", "print(new())\n", "def one():\n    return new\n"] {
            assert_eq!(body(new, used), None, "{new}");
        }
        let table = "+LIMITS = {\n+    \"a\": 1,\n+}\n+\n+\n def three():";
        let uses = ["def three():\n    return LIMITS\n"];
        assert_eq!(body("LIMITS = {\n    \"a\": 1,\n}\n", AddedPlace::Used(&uses)).as_deref(), Some(table));
        assert_eq!(body("LIMITS = {\n    \"a\": 1,\n", AddedPlace::Used(&uses)), None);
        // What a new definition uses comes above that, and of several users the first one counts.
        let chain = ["def four():\n    return RATE\n", "def three():\n    return four()\n"];
        assert_eq!(body("RATE = 1\n", AddedPlace::Used(&chain)).as_deref(), Some("+RATE = 1\n+\n+\n def three():"));
        let both = ["def three():\n    return 3\n\n\nclass A:\n    def one(self):\n        return RATE\n"];
        assert_eq!(body("RATE = 1\n", AddedPlace::Used(&both)).as_deref(), Some("+RATE = 1\n+\n+\n class A:"));
        let end = "     return 3\n+\n+\n+def new():\n+    return 0";
        assert_eq!(body("def new():\n    return 0\n", AddedPlace::End(false)).as_deref(), Some(end));
        assert_eq!(body("new()\n", AddedPlace::End(false)), None);
        assert_eq!(body("new()\n", AddedPlace::End(true)).as_deref(), Some("     return 3\n+\n+\n+new()"));
        let method = "         return 2\n+\n+    def new(self):\n+        return 0";
        for place in [AddedPlace::ClassEnd(None), AddedPlace::ClassEnd(Some("A")), AddedPlace::End(false)] {
            assert_eq!(body("def new(self):\n    return 0\n", place).as_deref(), Some(method));
        }
        let guarded = format!("{PY}\n\nif __name__ == \"__main__\":\n    three()\n");
        let hunk = added(&guarded, "def new():\n    return 0\n", AddedPlace::End(false)).expect("placed");
        assert_eq!(hunk.body.join("\n"), "+def new():\n+    return 0\n+\n+\n if __name__ == \"__main__\":");
    }
}
