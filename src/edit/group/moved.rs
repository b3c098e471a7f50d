//! Moves from one file to another in the same answer: what the one loses and the other gains is not lost.

use std::borrow::Cow;
use std::collections::HashSet;
use std::ops::Range;

use crate::edit::lines::Lines;
use crate::edit::place::{definition_lines, definition_names};
use crate::edit::{Edit, Op};

/// The part that an edit puts into another file, which that one did not have.
#[derive(Debug)]
pub(super) struct Gain {
    /// The number of the edit.
    edit: usize,
    /// The names of definitions.
    names: HashSet<String>,
    /// The names of those that its file had before.
    had: HashSet<String>,
    /// The lines, without the blanks around them.
    lines: HashSet<String>,
}

impl Gain {
    /// Returns what an edit puts into a file that has this text `before`.
    pub fn of(number: usize, edit: &Edit, before: &str) -> Option<Self> {
        let text: Cow<str> = match &edit.op {
            Op::Write { content } | Op::Overwrite { content } => content.into(),
            Op::Replace { replace, .. } => replace.into(),
            Op::Hunks(hunks) => {
                let added = hunks.iter().flat_map(|hunk| &hunk.body).filter_map(|line| line.strip_prefix('+'));
                added.map(|line| format!("{line}\n")).collect::<String>().into()
            }
            _ => return None,
        };
        let had: HashSet<&str> = definition_names(before).into_iter().collect();
        let names = definition_names(&text).into_iter().filter(|name| !had.contains(name)).map(str::to_string);
        let known: HashSet<&str> = before.lines().map(str::trim).collect();
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !known.contains(line));
        let (names, lines) = (names.collect(), lines.map(str::to_string).collect());
        Some(Gain { edit: number, names, had: had.into_iter().map(str::to_string).collect(), lines })
    }
}

/// The text of a file but for what moves out of it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Staying<'o> {
    pub text: Cow<'o, str>,
    /// The numbers of the edits that put the rest into other files.
    pub gained_by: Vec<usize>,
}

/// Returns a file but for the definitions, and the styles and scripts of a page, that its new text lacks and other files
/// gain.
pub(super) fn staying<'o>(old: &'o str, new: &str, gains: &[Gain]) -> Staying<'o> {
    let mut gained_by = Vec::new();
    if gains.is_empty() {
        return Staying { text: old.into(), gained_by };
    }
    let lines = Lines::new(old);
    let mut is_moved = vec![false; lines.len()];
    let names: HashSet<&str> = definition_names(new).into_iter().collect();
    let own = definition_lines(&lines);
    let keeps_none = !own.iter().any(|(name, _)| names.contains(name));
    // Two texts under each other's path.
    let is_swapped =
        |gain: &Gain| keeps_none && names.iter().filter(|name| gain.had.contains(**name)).count() * 2 > names.len();
    for (name, extent) in own.into_iter().filter(|(name, _)| !names.contains(name)) {
        if let Some(gain) = gains.iter().find(|gain| gain.names.contains(name) && !is_swapped(gain)) {
            is_moved[extent].fill(true);
            gained_by.push(gain.edit);
        }
    }
    let there: HashSet<&str> = new.lines().map(str::trim).collect();
    for extent in embedded(&lines) {
        let own = || extent.clone().map(|at| lines.content(at).trim()).filter(|line| !line.is_empty());
        let has_all = |gain: &&Gain| own().all(|line| gain.lines.contains(line));
        let is_gone = own().next().is_some() && own().any(|line| !there.contains(line));
        if let Some(gain) = gains.iter().find(has_all).filter(|_| is_gone) {
            is_moved[extent.start - 1..=extent.end].fill(true);
            gained_by.push(gain.edit);
        }
    }
    if gained_by.is_empty() {
        return Staying { text: old.into(), gained_by };
    }
    let text: String = (0..lines.len())
        .filter(|at| !is_moved[*at])
        .map(|at| &old[lines.spans[at].start..lines.spans[at].next])
        .collect();
    Staying { text: text.into(), gained_by }
}

/// Returns the lines inside of each `<style>` and `<script>` of a page.
fn embedded(lines: &Lines) -> Vec<Range<usize>> {
    const TAGS: [[&str; 2]; 2] = [["<style", "</style"], ["<script", "</script"]];
    let (mut all, mut open): (Vec<Range<usize>>, Option<(usize, &str)>) = (Vec::new(), None);
    for at in 0..lines.len() {
        let line = lines.content(at).trim_start().to_ascii_lowercase();
        match open {
            Some((from, end)) if line.starts_with(end) => {
                all.push(from..at);
                open = None;
            }
            Some(_) => {}
            None => {
                let opens = |[tag, end]: &&[&str; 2]| line.starts_with(*tag) && !line.contains(*end);
                open = TAGS.iter().find(opens).map(|[_, end]| (at + 1, *end));
            }
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edit::Format;

    fn gain(content: &str, before: &str) -> Gain {
        let edit = Edit::new("b", Op::Overwrite { content: content.into() }, Format::WHOLE, "whole");
        Gain::of(3, &edit, before).expect("a text")
    }

    #[test]
    fn what_another_file_gains_does_not_stay() {
        let (a, b) = ("def a():\n    return 1\n", "def b():\n    return 2\n");
        let both = format!("{a}\n\n{b}");
        let of = |gains: &[Gain], new: &str| {
            let staying = staying(&both, new, gains);
            (staying.text.trim_end().to_string(), staying.gained_by)
        };
        assert_eq!(of(&[gain(b, "")], a), (a.trim_end().to_string(), vec![3]));
        // The other one has it already, or it stays.
        assert_eq!(of(&[gain(b, b)], a), (both.trim_end().to_string(), vec![]));
        assert_eq!(of(&[gain(b, "")], &both), (both.trim_end().to_string(), vec![]));
    }

    #[test]
    fn texts_under_each_others_paths_are_no_moves() {
        let (a, b) = ("def a():\n    return 1\n\n\ndef aa():\n    return 2\n", "function b() {\n  return 2;\n}\n");
        for (own, other) in [(a, b), (b, a)] {
            let staying = staying(own, other, &[gain(own, other)]);
            assert_eq!((staying.text.as_ref(), staying.gained_by), (own, vec![]));
        }
        // All of a file may go to another one.
        let staying = staying(a, "from b import *\n", &[gain(a, b)]);
        assert_eq!((staying.text.trim(), staying.gained_by), ("", vec![3, 3]));
    }

    #[test]
    fn the_style_of_a_page_moves_with_its_tags() {
        let style = "body {\n  margin: 0;\n}\n\nh1 {\n  color: red;\n}\n";
        let page = format!("<head>\n<style>\n{style}</style>\n</head>\n");
        let new = "<head>\n<link rel=\"stylesheet\" href=\"style.css\">\n</head>\n";
        let moved = |gain: Gain| staying(&page, new, &[gain]).text.into_owned();
        assert_eq!(moved(gain(style, "")), "<head>\n</head>\n");
        assert_eq!(moved(gain("body {\n}\n", "")), page);
    }
}
