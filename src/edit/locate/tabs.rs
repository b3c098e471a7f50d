//! The tabs of a file that is indented with them, for texts that have spaces in their place.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap, HashSet};

use super::indent;

/// Returns the whole new text of a file that is indented with tabs, with tabs where it has spaces in their place and more
/// than that changes.
pub(in crate::edit) fn with_tabs<'n>(new: &'n str, old: &str) -> Cow<'n, str> {
    indented(new, old, |lost, step| lost.or(step))
}

/// Returns the same for a part of a new text, which may have lost some of the indentation in front of all its lines.
pub(in crate::edit) fn part_with_tabs<'n>(new: &'n str, old: &str) -> Cow<'n, str> {
    indented(new, old, |lost, step| lost.max(step))
}

/// Puts tabs in place of spaces. The number of these that stand for one tab comes from `unit`, of what the lines that the
/// file has show and of what the lines show among each other.
fn indented<'n>(new: &'n str, old: &str, unit: fn(Option<usize>, Option<usize>) -> Option<usize>) -> Cow<'n, str> {
    if !has_tabs(old) || begins(new, ' ') == 0 {
        return Cow::Borrowed(new);
    }
    if begins(new, '\t') > 0 {
        return blocks_with_tabs(new, old);
    }
    // The indentation of each line; `None` where the file has the line with several.
    let mut own: HashMap<&str, Option<&str>> = HashMap::new();
    for line in old.lines() {
        let lead = indent(line);
        own.entry(line.trim()).and_modify(|own| *own = own.filter(|own| *own == lead)).or_insert(Some(lead));
    }
    let own = |line: &str| own.get(line.trim()).copied().flatten();
    // A line of the file's that lost its tabs shows how many spaces stand for one.
    let lost = |line: &str| {
        let tabs = own(line).filter(|own| line.starts_with(' ') && !own.is_empty() && is_tabs(own))?;
        Some((indent(line).len() / tabs.len()).max(1))
    };
    let step = step(new).filter(|step| *step > 1);
    let Some(unit) = unit(new.lines().filter_map(lost).min(), step) else {
        return Cow::Borrowed(new);
    };
    let tabbed = |line: &'n str| -> String {
        let (lead, text) = line.split_at(indent(line).len());
        // A line may have moved: its own tabs count only where the spaces are no whole number of them.
        match own(line).filter(|own| !lead.is_empty() && (!is_tabs(own) || lead.len() % unit != 0)) {
            Some(own) => format!("{own}{text}"),
            None => format!("{}{}{text}", "\t".repeat(lead.len() / unit), " ".repeat(lead.len() % unit)),
        }
    };
    let text: String = new.split_inclusive('\n').map(tabbed).collect();
    if text.trim_end() == old.trim_end() { Cow::Borrowed(new) } else { Cow::Owned(text) }
}

/// Returns a text, of a file that is indented with tabs, with tabs in those blocks below a line at the margin that are indented
/// with spaces alone. Lines that the file has so stay.
pub(in crate::edit) fn blocks_with_tabs<'n>(new: &'n str, old: &str) -> Cow<'n, str> {
    if begins(new, ' ') == 0 || !has_tabs(old) {
        return Cow::Borrowed(new);
    }
    let own: HashSet<&str> = old.lines().filter(|line| line.starts_with(' ')).collect();
    let lines: Vec<&str> = new.split_inclusive('\n').collect();
    let is_inner = |line: &str| line.trim().is_empty() || line.starts_with([' ', '\t']);
    let (mut text, mut at) = (String::with_capacity(new.len()), 0);
    while at < lines.len() {
        let end = (at + 1..lines.len()).find(|next| !is_inner(lines[*next])).unwrap_or(lines.len());
        let (head, inner) = (lines[at].trim_end(), &lines[at + 1..end]);
        let is_opened = !is_inner(head) && head.ends_with(['{', '(', '[', ':']);
        let is_spaced = |line: &&str| line.trim().is_empty() || line.starts_with(' ') && !indent(line).contains('\t');
        let width = step(&lines[at..end].concat()).filter(|width| *width > 1);
        let width = width.filter(|_| is_opened && inner.iter().all(is_spaced));
        text.push_str(lines[at]);
        for line in inner {
            let (lead, code) = line.split_at(indent(line).len());
            match width.filter(|_| !own.contains(line.trim_end_matches(['\r', '\n']))) {
                Some(width) if !code.trim().is_empty() => {
                    text.extend(["\t".repeat(lead.len() / width), " ".repeat(lead.len() % width)]);
                    text.push_str(code);
                }
                _ => text.push_str(line),
            }
        }
        at = end;
    }
    if text == new { Cow::Borrowed(new) } else { Cow::Owned(text) }
}

/// Returns whether more lines of a text are indented with tabs than with spaces.
pub(in crate::edit) fn has_tabs(text: &str) -> bool {
    begins(text, '\t') > begins(text, ' ')
}

/// Returns how many lines begin so.
fn begins(text: &str, with: char) -> usize {
    text.lines().filter(|line| line.starts_with(with) && !line.trim().is_empty()).count()
}

fn is_tabs(lead: &str) -> bool {
    lead.bytes().all(|b| b == b'\t')
}

/// Returns by how many spaces one line of a text is deeper than another, at the least: as far as the first step to the right
/// consists of them, which may be one of several levels. A comment's own spaces count for nothing.
pub(super) fn step(text: &str) -> Option<usize> {
    const ALIGNED: usize = 2;
    let solid = text.lines().filter(|line| !line.trim().is_empty() && !line.trim_start().starts_with('*'));
    let leads: BTreeSet<usize> = solid.map(|line| indent(line).len()).collect();
    let steps: Vec<usize> = leads.iter().zip(leads.iter().skip(1)).map(|(lead, next)| next - lead).collect();
    let first = *steps.first()?;
    steps.into_iter().filter(|step| *step > ALIGNED && first % step == 0).min().or(Some(first))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_with_tabs_keeps_them() {
        const MAKEFILE: (&str, &str) = (
            "all: a b\n\na:\n\techo a\n\nb:\n\techo b\n",
            "all: a b\n\na:\n    echo a\n\nb:\n    echo bb\n    echo c\n",
        );
        let (old, new) = MAKEFILE;
        assert_eq!(with_tabs(new, old), "all: a b\n\na:\n\techo a\n\nb:\n\techo bb\n\techo c\n");
        // A comment's own spaces say nothing of the tabs; a line may stand deeper than before.
        let old = "/**\n * One.\n */\nfunc a() {\n\tb()\n}\n\nfunc c() {\n\tif d {\n\t\te()\n\t}\n}\n";
        let new = "/**\n * Two.\n */\nfunc a() {\n    if d {\n        b()\n    }\n}\n";
        let tabbed = "/**\n * Two.\n */\nfunc a() {\n\tif d {\n\t\tb()\n\t}\n}\n";
        assert_eq!(with_tabs(new, old), tabbed);
        let (old, new) = MAKEFILE;
        // To put spaces in their place is the change; and a file of spaces has none.
        let spaced = old.replace('\t', "    ");
        assert_eq!(with_tabs(&spaced, old), spaced);
        assert_eq!(with_tabs(new, &spaced), new);
        // A line that the file has shows the number, though the first step is two tabs deep.
        let new = "a:\n        one\nb:\n        three\n";
        assert_eq!(with_tabs(new, "a:\n\t\tone\nb:\n\t\ttwo\n"), "a:\n\t\tone\nb:\n\t\tthree\n");
    }

    #[test]
    fn a_block_of_spaces_beside_tabs_gets_tabs() {
        let old = "package main\n\nfunc a() {\n\tb()\n}\n";
        let func = "func c() {\n    if d {\n        e()\n    }\n}\n";
        let tabbed = "func c() {\n\tif d {\n\t\te()\n\t}\n}\n";
        let whole = |func: &str| format!("{old}\n{func}");
        assert_eq!(with_tabs(&whole(func), old), whole(tabbed));
        assert_eq!(blocks_with_tabs(&format!("{func}\nfunc a() {{\n"), old), format!("{tabbed}\nfunc a() {{\n"));
        // A line that is aligned, one that the file has so, and a file of spaces.
        for new in ["func a(b int,\n       c int) {\n\tb()\n}\n", "var x = f(a,\n      b)\n"] {
            assert_eq!(blocks_with_tabs(new, old), new);
        }
        let aligned = format!("{old}var (\n    a = 1\n)\n");
        assert_eq!(blocks_with_tabs(&aligned, &format!("{aligned}\tc()\n")), aligned);
        assert_eq!(blocks_with_tabs(func, func), func);
    }

    #[test]
    fn a_part_all_lines_of_which_are_others_gets_tabs() {
        let old = "class A:\n\tdef one(self):\n\t\tself.x += 1\n\n\tdef two(self):\n\t\treturn 2\n";
        for (part, tabbed) in [
            ("def one(self):\n    self.x += 10\n", "def one(self):\n\tself.x += 10\n"),
            ("  def one(self):\n    self.x += 10\n", "\tdef one(self):\n\t\tself.x += 10\n"),
            // Another line in it says nothing else where all lost a tab in front.
            (
                "def one(self):\n    if a:\n        b()\n    self.x += 1\n",
                "def one(self):\n\tif a:\n\t\tb()\n\tself.x += 1\n",
            ),
            // Only its first line lost what stood in front of it; a line may be aligned to another one.
            ("def one(self):\n        if a:\n            b()\n", "def one(self):\n\t\tif a:\n\t\t\tb()\n"),
            ("def one(self):\n    b(c,\n      d)\n", "def one(self):\n\tb(c,\n\t  d)\n"),
        ] {
            assert_eq!(part_with_tabs(part, old), tabbed);
        }
        let make = "all: a\n\na:\n\tcc a.c\n\ntest:\n\t./a.out\n";
        assert_eq!(part_with_tabs("test:\n    ./b.out\n", make), "test:\n\t./b.out\n");
        // Nothing says how many spaces stand for a tab.
        assert_eq!(part_with_tabs("    ./b.out\n", make), "    ./b.out\n");
    }
}
