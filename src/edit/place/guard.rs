//! Guards around a whole new text for a file that exists: small models hand over a part of a file as if it were all of
//! it.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::ops::Range;

use similar::{Algorithm, DiffOp, capture_diff_slices};

use super::added::with_added;
use super::left_out::is_mark;
use super::part::{METHOD, definitions, lone, only, outside, same_definition};
use super::snippet::{filled_by_keys, passages};
use super::splice::{Done, spliced};
use crate::edit::lines::Lines;
use crate::edit::locate::{Pattern, indent};

/// The part of an old text that a new one leaves out, and all there is.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::edit) enum Lost {
    /// Definitions.
    Definitions(usize, usize),
    /// Lines that are not blank, outside of definitions.
    Lines(usize, usize),
}

impl Lost {
    /// Formats as `it leaves out 2 of the file's 3 definitions`.
    pub(super) fn text(&self) -> String {
        match self {
            Lost::Definitions(lost, of) => format!("it leaves out {lost} of the file's {of} definitions"),
            Lost::Lines(lost, of) => format!("it leaves out {lost} of the file's {of} lines"),
        }
    }
}

/// Fewer lines than this tell little by themselves: one of them that is alike stays.
const FEW: usize = 4;
/// More lines than this are not compared by their likeness.
const MANY: usize = 200;
/// Above this likeness a line is another form of the same.
const ALIKE: f32 = 0.5;

/// Returns what a new text loses, where that is at least half of the old one: of its definitions, unless they only have
/// other names, or, where it has none and nothing comes in their place, of its lines. A text that only stands near the file's path (`is_shown`) must
/// keep a third of the lines in any case. Less tells a part by itself where it stood around what is kept.
pub(in crate::edit) fn lost(old: &str, new: &str, is_shown: bool) -> Option<Lost> {
    let (old_lines, new_lines) = (Lines::new(old), Lines::new(new));
    let (mut before, mut after) = (definitions(&old_lines), definitions(&new_lines));
    // A class and its methods without keywords count as one, but where there is nothing else.
    let is_of_methods = before.iter().all(|own| own.kind == METHOD);
    if !is_of_methods {
        before.retain(|own| own.kind != METHOD);
        after.retain(|own| own.kind != METHOD);
    }
    let names: HashSet<&str> = after.iter().map(|a| a.name).collect();
    let surviving = before.iter().filter(|b| names.contains(b.name)).count();
    let most = |n: usize| n * 2 <= before.len();
    let heads: HashSet<usize> = before.iter().map(|own| own.line).collect();
    if !before.is_empty() && most(surviving) && (most(after.len()) || !keeps_bodies(&old_lines, new, &heads)) {
        return Some(Lost::Definitions(before.len() - surviving, before.len()));
    }
    let lines = if is_of_methods { lost_lines(old, new, is_shown) } else { None };
    lines.or_else(|| if before.is_empty() { lost_around(old, new) } else { lost_outside(&old_lines, &new_lines) })
}

/// Returns what an edit loses that replaces most of a file by a part of it: at least half of the definitions that it replaces, or
/// of the lines where the file has no definitions. Nothing of what it takes out without a new text.
pub(super) fn lost_by(text: &str, done: &Done) -> Option<Lost> {
    let (mut gone, mut come) = (String::new(), String::new());
    let mut before = Cow::Borrowed(text);
    for splices in &done.stages {
        for splice in splices {
            gone.extend([&before[splice.range.clone()], "\n"]);
            come.extend([splice.new.as_str(), "\n"]);
        }
        before = spliced(&before, splices).into();
    }
    let solid = |text: &str| text.lines().filter(|line| !line.trim().is_empty()).count();
    let (all, replaced) = (solid(text), solid(&gone));
    // One side of a conflict is less than its lines.
    let is_conflict = gone.lines().any(|line| line.starts_with("<<<<<<<"));
    if is_conflict || all < FEW || replaced * 2 < all || come.trim().is_empty() && !before.trim().is_empty() {
        return None;
    }
    let (old, new) = (Lines::new(&gone), Lines::new(&come));
    let names = |lines| -> Vec<&str> { definitions(lines).into_iter().map(|own| own.name).collect() };
    let (theirs, own) = (names(&old), names(&new));
    let staying = theirs.iter().filter(|name| own.contains(*name)).count();
    if theirs.len() > 1 {
        let is_part = staying * 2 <= theirs.len() && own.len() * 2 <= theirs.len();
        return is_part.then(|| Lost::Definitions(theirs.len() - staying, theirs.len()));
    }
    let (theirs, own) = (telling(&gone), telling(&come));
    let there: HashSet<&str> = own.iter().copied().collect();
    let staying = theirs.iter().filter(|line| there.contains(*line)).count();
    let is_part = own.len() * 2 <= theirs.len() && staying * 2 >= own.len() && staying * 2 <= theirs.len();
    (is_part && definitions(&Lines::new(text)).is_empty()).then(|| Lost::Lines(theirs.len() - staying, theirs.len()))
}

/// Returns whether a text has half of a file's lines outside of the heads of definitions: these have other names only.
fn keeps_bodies(old: &Lines, new: &str, heads: &HashSet<usize>) -> bool {
    let there: HashSet<&str> = telling(new).into_iter().collect();
    let is_body = |at: &usize| !heads.contains(at);
    let bodies: Vec<&str> = (0..old.len()).filter(is_body).flat_map(|at| telling(old.content(at))).collect();
    bodies.iter().filter(|line| there.contains(*line)).count() * 2 >= bodies.len()
}

/// Returns the lines that a text lacks of another one.
pub(in crate::edit) fn lacking(old: &str, new: &str) -> Lost {
    let (before, after) = (telling(old), telling(new).into_iter().collect::<HashSet<&str>>());
    let gone = before.iter().filter(|line| !after.contains(*line)).count();
    Lost::Lines(gone, before.len())
}

/// Returns the lines of a text that hold more than signs, without space around them and the sign between them and the
/// next one.
fn telling(text: &str) -> Vec<&str> {
    let bare = |line| str::trim(line).trim_end_matches([',', ';']);
    text.lines().map(bare).filter(|line| line.contains(char::is_alphanumeric)).collect()
}

/// Returns what a new text loses outside of definitions, such as imports, constants and calls: all lines, so many that a
/// third of the old text goes and nothing comes, or one above the definitions that names what the new text still uses.
fn lost_outside(old: &Lines, new: &Lines) -> Option<Lost> {
    let in_old = definitions(old);
    let line = |at: usize| telling(old.content(at)).pop().unwrap_or_default();
    let (before, after) = (telling(old.text), telling(new.text));
    let [there, here]: [HashSet<&str>; 2] = [&before, &after].map(|lines| lines.iter().copied().collect());
    let all = outside(old, &in_old);
    let gone: Vec<usize> = all.iter().copied().filter(|at| !here.contains(line(*at))).collect();
    let come = after.iter().filter(|line| !there.contains(*line)).count();
    let is_new = |at: &usize| telling(new.content(*at)).iter().any(|line| !there.contains(line));
    let comes_outside = outside(new, &definitions(new)).iter().any(is_new);
    let is_much = gone.len().saturating_sub(come) * 3 >= before.len();
    let is_all = !comes_outside && gone.len() == all.len();
    let first = in_old.first().map_or(0, |own| own.line);
    let words: HashSet<&str> = new.text.split(|c: char| !(c.is_alphanumeric() || c == '_')).collect();
    let is_used = |at: &usize| *at < first && named(line(*at)).is_some_and(|name| words.contains(name));
    let is_part = gone.len() >= SOME && (is_much || is_all) || !comes_outside && gone.iter().any(is_used);
    is_part.then_some(Lost::Lines(gone.len(), before.len()))
}

/// Returns the name that a line above the definitions makes known: of a constant, or the last one of an import.
fn named(line: &str) -> Option<&str> {
    const IMPORTS: [&str; 5] = ["import ", "from ", "use ", "using ", "require "];
    let last = |text: &str| -> Option<(usize, usize)> {
        let end = text.trim_end_matches(|c: char| !(c.is_alphanumeric() || c == '_')).len();
        let start = text[..end].trim_end_matches(|c: char| c.is_alphanumeric() || c == '_').len();
        (start < end).then_some((start, end))
    };
    if !line.starts_with(|c: char| c.is_alphabetic() || c == '_') {
        return None;
    }
    let is_import = IMPORTS.iter().any(|word| line.starts_with(word));
    let head = match line.split_once('=') {
        Some((head, _)) if !is_import => head.split(':').next()?,
        // The module behind `from` is no name that is bound.
        _ if is_import => {
            line.split_once(" from ").filter(|_| line.starts_with("import ")).map_or(line, |(head, _)| head)
        }
        _ => return None,
    };
    last(head).map(|(start, end)| &head[start..end]).filter(|name| *name != "import")
}

/// Returns what a new text, of lines most of which are the old text's, loses above and below them: at both ends, a quarter
/// of the old text, or half of its outermost lines, such as keys and headings; or anywhere, where that is a third.
fn lost_around(old: &str, new: &str) -> Option<Lost> {
    let (before, after) = (telling(old), telling(new));
    let there: HashSet<&str> = before.iter().copied().collect();
    if after.iter().filter(|line| there.contains(*line)).count() * 2 < after.len() {
        return None;
    }
    let places = capture_diff_slices(Algorithm::Myers, &before, &after);
    let kept: usize =
        places.iter().filter(|place| matches!(place, DiffOp::Equal { .. })).map(|place| place.old_range().len()).sum();
    if after.is_empty() || kept * 2 < after.len() {
        return None;
    }
    let depths: Vec<usize> =
        old.lines().filter(|line| line.contains(char::is_alphanumeric)).map(|line| indent(line).len()).collect();
    let least = depths.iter().min();
    let outermost = |lines: &[usize]| lines.iter().filter(|depth| Some(*depth) == least).count();
    let (mut ends, mut anywhere, mut outer) = ([0; 2], 0, 0);
    for place in places.iter().filter(|place| !matches!(place, DiffOp::Equal { .. })) {
        let (lines, come) = (place.old_range(), place.new_range().len());
        let gone = lines.len().saturating_sub(come);
        // Lines that go beside equal ones may as well be those further up or down.
        let (rise, fall) = if come == 0 {
            let rise = (1..=lines.start).take_while(|n| before[lines.start - n] == before[lines.end - n]).count();
            (rise, (lines.end..before.len()).take_while(|at| before[*at] == before[at - lines.len()]).count())
        } else {
            (0, 0)
        };
        let end = [lines.start == rise, lines.end + fall == before.len()].iter().position(|is| *is);
        if let Some(end) = end {
            ends[end] += gone;
        }
        if come == 0 {
            anywhere += gone;
            outer += if end.is_some() { outermost(&depths[lines]) } else { 0 };
        }
    }
    let (around, all) = (ends[0] + ends[1], before.len());
    let is_part = around >= SOME && (around * 4 >= all || outer * 2 >= outermost(&depths))
        || around > SOME && ends.iter().all(|gone| *gone > 0)
        || anywhere > SOME && anywhere * 3 >= all;
    is_part.then_some(Lost::Lines(around.max(anywhere), all))
}

/// Fewer lines than this that go are no more than what an edit takes away.
const SOME: usize = 2;

fn lost_lines(old: &str, new: &str, is_shown: bool) -> Option<Lost> {
    let lines = |text| str::lines(text).map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>();
    let (before, after) = (lines(old), lines(new));
    let kept: HashSet<&str> = after.iter().copied().collect();
    let surviving = before.iter().filter(|line| kept.contains(*line)).count();
    let most = |n: usize| n * 2 <= before.len();
    let mut doubted = before.len() >= FEW && most(surviving) && most(after.len());
    if is_shown && !doubted && !before.is_empty() {
        let is_alike = |line: &&&str| {
            let line = Pattern::new(line);
            kept.iter().any(|new| line.ratio(new, ALIKE) >= ALIKE)
        };
        let few = before.len().max(after.len()) <= MANY;
        // One new line takes the place of one.
        let alike = if few { before.iter().filter(is_alike).count().min(after.len()) } else { surviving };
        let fewer = |n: usize| n * 2 < before.len();
        doubted = alike * 3 < before.len() && (few || surviving == 0);
        doubted |= before.len() < FEW && fewer(alike) && fewer(after.len());
    }
    doubted.then_some(Lost::Lines(before.len() - surviving, before.len()))
}

/// Returns whether a text is a piece of a source file and cannot be all of it: it begins further right, or is nothing but
/// one of the file's definitions, or methods without the class around them.
pub(in crate::edit) fn is_piece(file: &str, new: &str) -> bool {
    let (hay, part) = (Lines::new(file), Lines::new(new));
    let begins_indented = |text: &str| {
        text.lines().find(|line| !line.trim().is_empty()).is_some_and(|line| line.starts_with([' ', '\t']))
    };
    let (in_file, in_part) = (definitions(&hay), definitions(&part));
    if begins_indented(new) && !begins_indented(file) && !in_file.is_empty() {
        return true;
    }
    if let Some(one) = lone(&part, &in_part) {
        let is_only = only(&in_file).is_some_and(|own| own.name == one.name);
        return !is_only && in_file.iter().any(|own| own.name == one.name);
    }
    let outermost = in_part.iter().map(|one| one.indent).min();
    let mut outer = in_part.iter().filter(|one| Some(one.indent) == outermost).peekable();
    let is_deeper = |name, than| in_file.iter().any(|own| own.name == name && own.indent > than);
    outer.peek().is_some() && outer.all(|one| one.kind == METHOD && is_deeper(one.name, one.indent))
}

/// The advice to the model on a piece of a file whose place is not certain. Sent again, it stays a piece.
pub(in crate::edit) const PIECE: &str = "Nothing was written yet. It is a piece of the file and not certain where it \
    belongs: send it as a search and replace, with the lines that it takes the place of, or send the whole file with \
    everything that stays.";

/// Returns a file with those of its definitions and other passages replaced that a text writes out between lines such as
/// `# ... rest unchanged ...`, or with keys around dots that stand for its others, and their names; `None` where the text
/// leaves nothing out so, or holds anything else that the file does not.
pub(in crate::edit) fn elided_definitions(file: &str, new: &str, path: &str) -> Option<(String, String)> {
    if let Some(filled) = filled_by_keys(file, new, path) {
        return Some(filled);
    }
    let is_left_out = |line: &str| is_mark(line) && !file.lines().any(|own| own.trim() == line.trim());
    let lines: Vec<&str> = new.lines().collect();
    let (mut text, mut names) = (file.to_string(), Vec::new());
    let mut marks = lines.iter().filter(|line| is_left_out(line)).peekable();
    marks.peek()?;
    let mut class: Option<&str> = None;
    for part in lines.split(|line| is_left_out(line)) {
        let mark = marks.next();
        let opened = mark.map_or(part, |mark| unopened(file, part, indent(mark).len()));
        class = match mark {
            Some(mark) if indent(mark).is_empty() => None,
            _ => opened_class(&part[..part.len() - opened.len()]).or(class),
        };
        let part = opened;
        if part.iter().all(|line| line.trim().is_empty()) || has_lines(file, part) {
            continue;
        }
        let part = part.join("\n");
        let part = part.trim_matches(['\r', '\n']);
        let placed = same_definition(&text, part).or_else(|| passages(&text, part, path));
        let (changed, name) = placed.or_else(|| with_added(&text, part, class, mark.is_none()))?;
        if changed != text {
            names.push(name);
        }
        text = changed;
    }
    (!names.is_empty()).then(|| (text, names.join(", ")))
}

/// Returns the name of the class that the last of these lines which define something opens.
fn opened_class<'n>(lines: &[&'n str]) -> Option<&'n str> {
    let opens =
        |line: &&'n str| definitions(&Lines::new(line)).pop().filter(|own| own.kind != METHOD).map(|own| own.name);
    lines.iter().rev().find_map(opens)
}

/// Returns a part without the lines of the file that open what goes on below it, where a line `deep` further right says
/// that something is left out: `class A:`, whose other methods stay.
fn unopened<'l, 'n>(file: &str, part: &'l [&'n str], deep: usize) -> &'l [&'n str] {
    let opens = |line: &&&str| {
        line.trim().is_empty()
            || (indent(line).len() < deep && file.lines().any(|own| own.trim_end() == line.trim_end()))
    };
    match part.iter().position(|line| indent(line).len() < deep && !line.trim().is_empty()) {
        Some(_) => &part[part.iter().take_while(opens).count()..],
        None => part,
    }
}

/// Returns whether a file has these lines, one after another.
fn has_lines(file: &str, part: &[&str]) -> bool {
    let trimmed: Vec<&str> = part.iter().map(|line| line.trim_end()).collect();
    let blank = |line: &&str| line.is_empty();
    let from = trimmed.iter().take_while(|line| blank(line)).count();
    let to = trimmed.len() - trimmed.iter().rev().take_while(|line| blank(line)).count();
    let own: Vec<&str> = file.lines().map(str::trim_end).collect();
    own.windows(to - from).any(|lines| lines == &trimmed[from..to])
}

/// Returns whether a text reaches from the first line of a file to its last one, which are the file's or other forms of them,
/// and has at least as many lines in the place of each that is changed, of no more than half of them: a part of a class
/// between its head and its end is not all of it.
pub(super) fn reaches_both_ends(old: &str, new: &str) -> bool {
    fn solid(text: &str) -> Vec<&str> {
        text.lines().map(str::trim_end).filter(|line| !line.is_empty()).collect()
    }
    const FEW: usize = 3;
    let (before, after) = (solid(old), solid(new));
    let is_alike = |old: usize, new: usize| Pattern::new(before[old]).ratio(after[new], ALIKE) >= ALIKE;
    let is_kept = |place: &DiffOp| {
        let (gone, come) = (place.old_range(), place.new_range());
        if matches!(place, DiffOp::Equal { .. } | DiffOp::Insert { .. }) {
            return true;
        }
        let is_first = || gone.start > 0 || is_alike(0, come.start);
        let is_last = || gone.end < before.len() || is_alike(gone.end - 1, come.end - 1);
        come.len() >= gone.len() && is_first() && is_last()
    };
    let places = capture_diff_slices(Algorithm::Myers, &before, &after);
    let equal = |place: &DiffOp| if matches!(place, DiffOp::Equal { .. }) { place.old_range().len() } else { 0 };
    let stays: usize = places.iter().map(equal).sum();
    !after.is_empty() && (before.len() <= FEW || stays * 2 >= before.len()) && places.iter().all(is_kept)
}

/// Returns whether a text keeps nearly all lines of a file in their order, and all of its definitions. Where its last line is
/// another one, something stands in its place: a text that ends before is a part. At its start a comment may go.
pub(super) fn keeps_all(old: &str, new: &str) -> bool {
    fn solid(text: &str) -> Vec<&str> {
        text.lines().map(str::trim).filter(|line| !line.is_empty()).collect()
    }
    const COMMENTS: [&str; 8] = ["\"\"\"", "'''", "# ", "//", "/*", "*", "--", "<!--"];
    let (before, after) = (solid(old), solid(new));
    let is_few = |lines: usize| lines <= 1 || lines * 10 <= before.len();
    let is_alike = |old: usize, mut come: Range<usize>| {
        let line = Pattern::new(before[old]);
        come.any(|at| line.ratio(after[at], ALIKE) >= ALIKE)
    };
    let (mut changed, mut lost) = (0, 0);
    for place in capture_diff_slices(Algorithm::Myers, &before, &after) {
        let (gone, come) = (place.old_range(), place.new_range());
        if matches!(place, DiffOp::Equal { .. } | DiffOp::Insert { .. }) {
            continue;
        }
        changed += gone.len();
        lost += gone.len().saturating_sub(come.len());
        let is_said = || before[gone.clone()].iter().all(|line| COMMENTS.iter().any(|mark| line.starts_with(mark)));
        let is_there = |at: usize| !come.is_empty() && (is_few(gone.len()) || is_alike(at, come.clone()));
        if gone.end == before.len() && !is_there(gone.end - 1) || gone.start == 0 && !(is_there(0) || is_said()) {
            return false;
        }
    }
    let is_kept = is_few(lost) && changed * MOST_CHANGED <= before.len();
    is_kept && !before.is_empty() && keeps_definitions(old, new)
}

/// No more than one in so many lines of a file is another one in a text that keeps them.
const MOST_CHANGED: usize = 4;

/// Returns whether all names that a file defines are defined as often in a text.
fn keeps_definitions(old: &str, new: &str) -> bool {
    fn counts(lines: &Lines) -> HashMap<String, usize> {
        let mut counts = HashMap::new();
        definitions(lines).iter().for_each(|own| *counts.entry(own.name.to_string()).or_insert(0) += 1);
        counts
    }
    let (own, there) = (counts(&Lines::new(old)), counts(&Lines::new(new)));
    own.iter().all(|(name, count)| there.get(name).is_some_and(|there| there >= count))
}

/// Returns whether two texts begin with the same line.
pub(in crate::edit) fn begin_alike(old: &str, new: &str) -> bool {
    let first = |text| str::lines(text).map(str::trim_end).find(|line| !line.trim().is_empty());
    first(old) == first(new)
}

/// Returns whether two texts end in the same two lines of code: one that ended by itself was written to its end.
pub(in crate::edit) fn end_alike(old: &str, new: &str) -> bool {
    fn last(text: &str) -> Vec<&str> {
        text.lines().rev().map(str::trim_end).filter(|line| !line.trim().is_empty()).take(2).collect()
    }
    let (old, new) = (last(old), last(new));
    // Brackets alone end many a part of a file.
    let tells = |line: &&str| line.chars().filter(|c| c.is_alphanumeric()).count() >= 3;
    old.len() == 2 && old == new && old.iter().any(tells)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edit::place::splice::{Splice, sure};

    #[test]
    fn definitions_between_lines_that_leave_something_out_are_replaced_alone() {
        let new = "import os\n\n# ... existing code ...\n\ndef one():\n    return 11\n\n# ... rest unchanged ...\n\nclass A:\n    def three(self):\n        return 33\n";
        let (text, names) = elided_definitions(FILE, new, "a.py").expect("taken");
        assert_eq!(text, FILE.replace("return 1\n", "return 11\n").replace("return 3\n", "return 33\n"));
        assert_eq!(names, "one, A");
        // Nothing is left out, a definition is not whole, and something stands there that the file does not have.
        assert!(elided_definitions(FILE, "def one():\n    return 11\n", "a.py").is_none());
        assert!(elided_definitions(FILE, "def one():\n    # ... existing code ...\n    return 11\n", "a.py").is_none());
        assert!(elided_definitions(FILE, "print(1)\n# ... rest unchanged ...\n", "a.py").is_none());
        // The rest of a class stays, and a line that only begins like one of the file is another one.
        let class = "class A:\n    def three(self):\n        return 3\n\n    def four(self):\n        return 4\n";
        let part = "class A:\n    def three(self):\n        return 33\n\n    # ... rest unchanged ...\n";
        let (text, names) = elided_definitions(class, part, "a.py").expect("taken");
        assert_eq!((text, names.as_str()), (class.replace("return 3\n", "return 33\n"), "three"));
        let sum = "def one():\n    return a + b + 1\n\n\ndef two():\n    return 2\n";
        let part = "def one():\n    return a + b\n\n# ... existing code ...\n\ndef two():\n    return 22\n";
        let (text, _) = elided_definitions(sum, part, "a.py").expect("taken");
        assert_eq!(text, sum.replace(" + 1", "").replace("return 2\n", "return 22\n"));
        let crlf = FILE.replace('\n', "\r\n");
        let (text, _) = elided_definitions(&crlf, new, "a.py").expect("taken");
        assert!(!text.replace("\r\n", "").contains('\n'), "{text:?}");
    }

    #[test]
    fn a_text_of_a_whole_file_reaches_both_of_its_ends() {
        let json = "{\n  \"name\": \"x\",\n  \"scripts\": {\n    \"a\": \"1\",\n    \"b\": \"2\"\n  }\n}\n";
        let css = "a {\n  color: red;\n}\n\nb {\n  color: blue;\n}\n\nc {\n  margin: 0;\n}\n";
        let functions = "def f():\n    return 1\n\n\ndef g():\n    return 2\n\n\ndef h():\n    return 3\n";
        for (old, new) in [
            (json, json.replace("\"1\"", "\"7\"")),
            (css, css.replace("margin: 0", "margin: 1px")),
            (functions, format!("import os\n\n\n{functions}\n\nprint(f())\n")),
            ("all: a\n\t./a.out\n", "all: b\n\t./b.out\n".to_string()),
            ("1.0.0\n", "1.1.0\n".to_string()),
            ("", "x = 1\n".to_string()),
        ] {
            assert!(reaches_both_ends(old, &new), "{new}");
        }
        for (old, new) in [
            (css, "a {\n  color: green;\n}\n"),
            (css, "a {\n  color: red;\n}\n\nb {\n  color: green;\n}\n"),
            (css, "b {\n  color: green;\n}\n"),
            (css, "c {\n  margin: 1px;\n}\n"),
            (functions, "def f():\n    return 1\n\n\ndef g():\n    return 22\n"),
            (functions, "def g():\n    return 22\n\n\ndef h():\n    return 3\n"),
            (functions, "def f():\n    return 1\n\n\ndef h():\n    return 3\n"),
            ("class P {\n  a() {}\n  b() {}\n  c() {}\n}\n", "class P {\n  a() {\n    return 1;\n  }\n}\n"),
            ("{\n  \"a\": 1,\n  \"b\": 2\n}\n", "{\n  \"a\": 7\n}\n"),
            ("a = 1\nb = 2\nc = 3\n", "b = 7\n"),
            ("1.0.0\n", "See the log.\n"),
            ("x = 1\n", ""),
        ] {
            assert!(!reaches_both_ends(old, new), "{new}");
        }
    }

    #[test]
    fn a_text_that_keeps_nearly_all_lines_of_its_file_is_all_of_it() {
        let lines = (1..10).map(|n| format!("def f{n}(a):\n    return a + {n}\n\n\n")).collect::<String>();
        let file = format!("\"\"\"Sums.\"\"\"\n\n{lines}print(f1(2))\nprint(f2(3))\n");
        let js = "const e = require(\"e\");\nconst app = e();\n\napp.get(\"/\", (a, b) => {\n  b.send(\"hi\");\n});\n\napp.listen(3000);\n";
        for (old, new) in [
            (file.as_str(), format!("{file}\n\ndef more(a):\n    return a\n")),
            (&file, file.replace("print(f2(3))", "raise SystemExit")),
            (&file, file.replace("print(f2(3))", "if f2(3):\n    print(1)\n    print(2)")),
            (&file, file.replace("\"\"\"Sums.\"\"\"\n\n", "").replace("f2(3)", "f3(3)")),
            (&file, file.replace("    return a + 4\n", "    b = a\n    return b + 4\n")),
            (js, js.replace("3000", "8080")),
            (js, js.replace("app.listen(3000);", "app.listen(3000, () => {\n  console.log(\"up\");\n});")),
        ] {
            assert!(keeps_all(old, &new), "{new}");
        }
        for new in [
            file.replace("print(f1(2))\nprint(f2(3))\n", ""),
            file.replace("print(f2(3))\n", ""),
            file.replace("def f1(a):\n    return a + 1\n", "").replace("f2(3)", "f3(3)"),
            file.replace("def f9(", "def g("),
            file.replace("return a", "return b"),
            lines.clone(),
        ] {
            assert!(!keeps_all(&file, &new), "{new}");
        }
        let shop = "version: 3\nservices:\n  web:\n    image: web:1\n    restart: always\n";
        assert!(!keeps_all(shop, &shop.replace("version: 3\n", "").replace("always", "never")), "a key above is gone");
        for (old, new) in
            [("1.0.0\n", "See the log.\n"), ("import os\nx = 1\n", "import os\nprint(2)\n"), ("", "x = 1\n")]
        {
            assert!(!keeps_all(old, new), "{new}");
        }
    }

    #[test]
    fn a_text_that_ends_like_its_file_is_whole() {
        assert!(end_alike(FILE, &FILE.replace("one", "uno")));
        assert!(end_alike(FILE, FILE.trim_end()));
        assert!(!end_alike(FILE, &FILE[..FILE.len() - 10]));
        assert!(!end_alike("a {\n    }\n}\n", "b {\n    }\n}\n"));
    }

    const FILE: &str = "import os\n\n\ndef one():\n    return 1\n\n\n@cached\ndef two(x):\n    def inner():\n        pass\n    return 2\n\n\nclass A:\n    def three(self):\n        return 3\n";

    #[test]
    fn a_part_of_a_file_is_distinguished_from_all_of_it() {
        let part = "def two(x):\n    return 22\n";
        assert_eq!(lost(FILE, part, false), Some(Lost::Definitions(4, 5)));
        assert_eq!(lost(FILE, &FILE.replace("one", "uno"), false), None);
        assert_eq!(lost("x = 1\n", "y = 2\n", false), None);
        assert_eq!(lost("def add(a, b):\n    return a + b\n", "x = 1\n", false), Some(Lost::Definitions(1, 1)));
        assert_eq!(lost("def add(a, b):\n    return a + b\n", "def plus(a, b):\n    return a + b\n", false), None);
        let names = ["add", "sub", "mul", "div"];
        let file: String = names.map(|name| format!("def {name}(a, b):\n    return {name}_of(a, b)\n\n\n")).concat();
        let tests = names.map(|name| format!("def test_{name}():\n    assert {name}(4, 2) == 6\n\n\n")).concat();
        let tests = format!("from s import *\n\n\n{tests}");
        for (new, lost_of) in [(tests.as_str(), 4), (&file.replace("def ", "def my_"), 0), (&tests.repeat(2), 4)] {
            let wanted = (lost_of > 0).then_some(Lost::Definitions(lost_of, 4));
            assert_eq!(lost(&file, new, false), wanted, "{new}");
        }
        let keys = |n: usize| (0..n).map(|i| format!("key{i} = {i}\n")).collect::<String>();
        assert_eq!(lost(&keys(40), "key7 = 700\n", false), Some(Lost::Lines(40, 40)));
        assert_eq!(lost(&keys(40), &keys(15), false), Some(Lost::Lines(25, 40)));
        assert_eq!(lost(&keys(40), &keys(31), false), None);
        assert_eq!(lost(&keys(40), &keys(30), false), Some(Lost::Lines(10, 40)));
        assert_eq!(lost(&keys(40), &keys(40).replace("key", "name"), false), None);
        assert_eq!(lost(&keys(3), "x = 1\n", false), None);
        // What stands near a path must keep something of the file.
        assert_eq!(lost("x = 1\n", "x = 2\n", true), None);
        assert_eq!(lost("x = 1\n", "sed -i s/1/2/ x.py\n", true), Some(Lost::Lines(1, 1)));
        assert_eq!(lost(&keys(3), "key1 = 7\n", true), Some(Lost::Lines(3, 3)));
        assert_eq!(lost("a: 1\nb: 2\n", "a: 1\n", true), None);
        assert_eq!(lost(&keys(40), &keys(40).replace("key", "name"), true), None);
        assert_eq!(lost(&keys(4), ">>> import os\n>>> os.getcwd()\n'/tmp'\n", true), Some(Lost::Lines(4, 4)));
        let (text, name) = same_definition(FILE, part).unwrap();
        let two = "def two(x):\n    def inner():\n        pass\n    return 2\n";
        assert_eq!((text, name.as_str()), (FILE.replace(two, part), "two"));
        let (text, _) = same_definition(FILE, "@other\ndef two(x):\n    return 22\n").unwrap();
        assert_eq!(text, FILE.replace(two, part).replace("@cached", "@other"));
        assert!(same_definition(FILE, "def four():\n    pass\n").is_none());
        assert!(
            same_definition(FILE, "def one():\n    pass\nprint(1)\n").is_none(),
            "there is more than the definition"
        );
        let rust = "fn a() {\n    1\n}\n\npub fn b(\n    x: u8,\n) {\n    2\n}\n";
        let (text, _) = same_definition(rust, "pub fn b(x: u8) {\n    3\n}\n").unwrap();
        assert_eq!(text, "fn a() {\n    1\n}\n\npub fn b(x: u8) {\n    3\n}\n");
    }

    #[test]
    fn a_replacement_of_most_of_a_file_by_a_part_of_it_is_a_loss() {
        let done = |text: &str, old: &str, new: &str| {
            let start = text.find(old).expect("there");
            let splice = Splice { range: start..start + old.len(), new: new.into() };
            lost_by(text, &Done { stages: vec![vec![splice]], found: sure(true), stands: false })
        };
        let python = "import os\n\n\ndef a():\n    return 1\n\n\ndef b():\n    return 2\n\n\ndef c():\n    return 3\n";
        let js = "const a = 1;\n\nfunction one() {\n  return a;\n}\n\nfunction two() {\n  return 2;\n}\n";
        let yaml = "a: 1\nb: 2\nc: 3\nd: 4\ne: 5\nf: 6\n";
        for (text, new, of) in [
            (python, "def a():\n    return 11\n", Lost::Definitions(2, 3)),
            (js, "function one() {\n  return a + 1;\n}\n", Lost::Definitions(1, 2)),
            (yaml, "a: 1\nb: 22\n", Lost::Lines(5, 6)),
            (yaml, "", Lost::Lines(6, 6)),
            (python, "", Lost::Definitions(3, 3)),
        ] {
            assert_eq!(done(text, text, new), Some(of), "{new}");
        }
        // All of it stays, other names come, one function or a part of the lines goes, little is replaced or there, a function
        // becomes shorter, or one side of a conflict is chosen.
        let long = "def a(x):\n    y = x\n    x = y\n    print(x)\n    return x\n";
        let conflict = "<<<<<<< HEAD\na: 1\nb: 2\n=======\na: 1\nc: 2\n>>>>>>> other\n";
        let (one, b) = ("def a(x):\n    y = x\n    return y\n", "def b():\n    return 2\n");
        for (text, old, new) in [
            (python, python, python.replace("1", "11")),
            (python, python, python.replace("def ", "def new_")),
            (python, b, String::new()),
            (python, b, "x = 1\n".to_string()),
            (js, &js[js.find("function one").expect("there")..js.find("function two").expect("there")], String::new()),
            (one, one, "def add(x):\n    return x + 1\n".to_string()),
            (yaml, yaml, "x: 1\ny: 2\n".to_string()),
            (yaml, "b: 2\nc: 3\nd: 4\ne: 5\n", String::new()),
            (yaml, "b: 2\nc: 3\n", "b: 2\n".to_string()),
            ("a: 1\nb: 2\nc: 3\n", "a: 1\nb: 2\nc: 3\n", "a: 1\n".to_string()),
            (long, long, "def a(x):\n    return x\n".to_string()),
            (conflict, conflict, "a: 1\nb: 2\n".to_string()),
        ] {
            assert_eq!(done(text, old, &new), None, "{new}");
        }
    }

    #[test]
    fn definitions_alone_are_no_source_file() {
        const FILE: &str = "\"\"\"Doc.\"\"\"\nimport os\n\nA = 1\nB = 2\n\n\ndef f():\n    return A\n\n\ndef g():\n    return B\n\n\nif __name__ == \"__main__\":\n    print(f(), g())\n";
        let (head, rest) = FILE.split_once("def f").expect("a head");
        let main = "\n\nif __name__ == \"__main__\":\n    print(f(), g())\n";
        let defs = format!("def f{}", rest.strip_suffix(main).expect("an end"));
        assert_eq!(lost(FILE, &defs, false), Some(Lost::Lines(6, 10)));
        assert_eq!(lost(FILE, &defs.replace("return A", "return A + 1"), true), Some(Lost::Lines(6, 10)));
        // A third of it goes, and little comes.
        assert_eq!(lost(FILE, &format!("import os\n\n\n{defs}"), false), Some(Lost::Lines(5, 10)));
        // What the rest uses is gone with one line; what it does not use may go.
        assert_eq!(lost(FILE, &FILE.replace("A = 1\n", ""), false), Some(Lost::Lines(1, 10)));
        for kept in [
            FILE.replace("A = 1\n", "").replace("return A", "return 1"),
            FILE.replace("import os\n", ""),
            FILE.replace("import os\n", "import re\n"),
            FILE.replace(main, ""),
            format!("{head}def f{}\n\ndef main():\n    print(f(), g())\n\n\nmain()\n", rest.replace(main, "")),
        ] {
            assert_eq!(lost(FILE, &kept, false), None, "{kept}");
        }
        let script = "import { api } from \"./api\";\n\nconst LIMIT = 10;\n\nexport function load(n) {\n  return api(n);\n}\n\nregister(load);\n";
        let function = "export function load(n) {\n  return api(n, LIMIT);\n}\n";
        assert_eq!(lost(script, function, false), Some(Lost::Lines(3, 5)));
    }

    #[test]
    fn sections_alone_are_no_file() {
        let toml = "[package]\nname = \"x\"\nversion = \"1\"\n\n[dependencies]\na = \"1\"\nb = \"2\"\nc = \"3\"\n\n[dev]\nd = \"1\"\ne = \"2\"\n";
        let compose = "version: \"3\"\nservices:\n  web:\n    image: web:1\n    ports:\n      - \"80:80\"\n  db:\n    image: pg:1\n    volumes:\n      - data:/data\nvolumes:\n  data: {}\n";
        let workflow = "name: CI\non: push\njobs:\n  test:\n    runs-on: linux\n    steps:\n      - uses: checkout\n      - run: make\n      - run: make test\n";
        let make = "CC = gcc\nall: a b\n\na: a.c\n\t$(CC) a.c\n\nb: b.c\n\t$(CC) b.c\n";
        let markdown = "# Title\n\nIntro.\n\n## Install\n\nrun it\n\n## Use\n\nuse it\n\n## Licence\n\nMIT\n";
        let sql = "CREATE TABLE a (\n  id int,\n  n text\n);\n\nCREATE TABLE b (\n  id int,\n  n text\n);\n\nCREATE INDEX i ON a(n);\n";
        for (file, from, to, changed) in [
            (toml, "[dependencies]", "", ("b = \"2\"", "b = \"3\"")),
            (compose, "services:", "volumes:\n  data: {}", ("web:1", "web:2")),
            (workflow, "jobs:", "", ("make test", "make check")),
            (make, "a: a.c", "", ("b.c\n\t$(CC)", "b.c\n\t$(CC) -g")),
            (markdown, "## Install", "", ("run it", "run it twice")),
            (sql, "CREATE TABLE b", "", ("n text\n);\n\nCREATE I", "n text,\n  z int\n);\n\nCREATE I")),
        ] {
            let part = &file[file.find(from).expect("there")..];
            let part = part.strip_suffix('\n').and_then(|part| part.strip_suffix(to)).expect("an end").to_string();
            assert!(matches!(lost(file, &part, false), Some(Lost::Lines(..))), "{part}");
            let part = part.replace(changed.0, changed.1);
            assert!(matches!(lost(file, &part, true), Some(Lost::Lines(..))), "{part}");
            assert_eq!(lost(file, &file.replace(changed.0, changed.1), true), None, "{file}");
        }
        let json = "{\n  \"name\": \"x\",\n  \"scripts\": {\n    \"a\": \"1\",\n    \"b\": \"2\"\n  },\n  \"deps\": {\n    \"z\": \"1\"\n  }\n}\n";
        let scripts = "{\n  \"scripts\": {\n    \"a\": \"1\",\n    \"b\": \"22\"\n  }\n}\n";
        assert_eq!(lost(json, scripts, false), Some(Lost::Lines(3, 6)));
        // A key, or a section between others, may be meant to go.
        for (file, gone) in [(compose, "version: \"3\"\n"), (markdown, "## Use\n\nuse it\n\n"), (toml, "e = \"2\"\n")] {
            assert_eq!(lost(file, &file.replace(gone, ""), false), None, "{gone}");
        }
    }

    #[test]
    fn a_definition_that_goes_on_at_its_own_indentation_is_not_cut() {
        let rust = "fn a() {\n    1\n}\n\nfn b<T>(x: T) -> u8\nwhere\n    T: Copy,\n{\n    2\n}\n";
        assert!(same_definition(rust, "fn b(x: u8) -> u8 {\n    3\n}\n").is_none());
        let python = "def a():\n    return 1\n\ndef b():\n    \"\"\"Says\n\nmore\n    \"\"\"\n    return 2\n";
        assert!(same_definition(python, "def b():\n    return 3\n").is_none());
        let inner = "mod m {\n    fn a() {\n        1\n    }\n    fn b() {\n        2\n    }\n}\n";
        let (text, _) = same_definition(inner, "    fn b() {\n        3\n    }\n").unwrap();
        assert_eq!(text, inner.replace("2\n", "3\n"));
    }

    #[test]
    fn a_piece_of_a_file_is_no_file() {
        let cart = "class Cart {\n  add(x) {\n    return 1;\n  }\n\n  total() {\n    return 2;\n  }\n}\n\nclass Other {\n  add(x) {\n  }\n}\n";
        for piece in [
            "  add(x) {\n    return 11;\n  }\n",
            "add(x) {\n  return 11;\n}\n",
            "add(x) {\n}\n\ntotal() {\n}\n",
            "class Cart {\n  discount() {\n  }\n}\n",
        ] {
            assert!(is_piece(cart, piece), "{piece}");
        }
        for whole in [
            "import x from \"x\";\n\nclass Cart {\n}\n",
            "class Shop {\n}\n",
            "function add(x) {\n}\n\nfunction total() {\n}\n",
        ] {
            assert!(!is_piece(cart, whole), "{whole}");
        }
        let one = "class A {\n  one() {\n  }\n\n  two() {\n  }\n}\n";
        assert!(!is_piece(one, "class A {\n  all() {\n  }\n}\n"), "the file is nothing else");
        assert!(!is_piece("a: 1\nb: 2\n", "  c: 3\n"), "a file without definitions may begin anywhere");
    }
}
