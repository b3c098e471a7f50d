//! Changes that are written where a whole text belongs: a diff without its header, the two sides of a conflict, and what a
//! shell shows.

use std::borrow::Cow;
use std::collections::HashSet;

use super::splice::{Done, TargetText};
use super::{hunks, passage};
use crate::edit::bytes::Encoding;
use crate::edit::op::PatchHunk;
use crate::edit::path::is_prose;
use crate::proposal::{PlaceMatch, Rung};

/// A text that a change makes, and how the change found its place.
pub(super) type Changed = (String, PlaceMatch);

/// Returns the text after a diff whose lines stand for a whole text: each has a column of ` `, `-` or `+`, and without
/// that column those that stay and go are the file's. `None` if it is none.
pub(super) fn diff(old: &str, content: &str) -> Option<Result<Changed, String>> {
    let own: HashSet<&str> = old.lines().map(str::trim_end).collect();
    let content = with_column(content, &own);
    let content = without_spaces(&content, &own);
    let content = &*content;
    let solid = || content.lines().filter(|line| !line.trim().is_empty());
    let has = |mark| solid().any(|line| line.starts_with(mark));
    if !solid().all(|line| line.starts_with([' ', '+', '-'])) || !(has('+') || has('-')) {
        return None;
    }
    let before: Vec<&str> = solid().filter(|line| !line.starts_with('+')).collect();
    let there = before.iter().filter(|line| own.contains(line[1..].trim_end())).count();
    let as_they_are = before.iter().filter(|line| own.contains(line.trim_end())).count();
    if before.is_empty() || there * 3 < before.len() * 2 || as_they_are >= there {
        return None;
    }
    let body = content.lines().map(|line| if line.is_empty() { " " } else { line }.to_string()).collect();
    let hunk = PatchHunk { body, ..PatchHunk::default() };
    Some(placed(old, |target| hunks::place(target, &[hunk])))
}

/// Returns a diff with a column in front of the lines that stay, where they are the file's only without one.
fn with_column<'c>(content: &'c str, own: &HashSet<&str>) -> Cow<'c, str> {
    let is_signed = |line: &&str| line.starts_with(['+', '-']);
    let solid = || content.lines().filter(|line| !line.trim().is_empty());
    let staying: Vec<&str> = solid().filter(|line| !is_signed(line)).collect();
    let as_they_are = staying.iter().filter(|line| own.contains(line.trim_end())).count();
    let shifted = staying.iter().filter(|line| line.starts_with(' ') && own.contains(line[1..].trim_end())).count();
    // A list has such signs itself, and so may an expression over several lines.
    let mut signed = solid().filter(is_signed);
    let is_diff =
        signed.clone().any(|line| line.starts_with('-') && own.contains(line[1..].trim_end()) || line.starts_with('+'))
            && !signed.any(|line| own.contains(line.trim_end()));
    if !is_diff || as_they_are <= shifted || as_they_are * 3 < staying.len() * 2 {
        return content.into();
    }
    let bare = |line: &str| if is_signed(&line) { format!("{line}\n") } else { format!(" {line}\n") };
    content.lines().map(bare).collect::<String>().into()
}

/// Returns a diff without the space that stands behind each sign, where the lines are the file's only without it: `- a`.
fn without_spaces<'c>(content: &'c str, own: &HashSet<&str>) -> Cow<'c, str> {
    let signed = || content.lines().filter(|line| line.starts_with(['+', '-']) && line.len() > 1);
    let gone = |from: usize| {
        let lines = signed().filter(|line| line.starts_with('-')).filter_map(|line| line.get(from..));
        lines.filter(|line| own.contains(line.trim_end())).count()
    };
    if !signed().all(|line| line[1..].starts_with(' ')) || gone(1) > 0 || gone(2) == 0 {
        return content.into();
    }
    let bare = |line: &str| match line.starts_with(['+', '-']) && line.len() > 1 {
        true => format!("{}{}\n", &line[..1], &line[2..]),
        false => format!("{line}\n"),
    };
    content.lines().map(bare).collect::<String>().into()
}

/// Returns the text after conflicts (`<<<<<<< HEAD`, `=======`, `>>>>>>> new`) that are not the file's own: the first side
/// is what is there, the second what comes. `None` if there are none.
pub(super) fn conflict(old: &str, content: &str, path: &str) -> Option<Result<Changed, String>> {
    let is_own = |line: &str| old.lines().any(|own| own == line);
    if is_prose(path) || !content.lines().any(|line| line.starts_with("<<<<<<<") && !is_own(line)) {
        return None;
    }
    let (mut sides, mut around) = (Vec::new(), Vec::new());
    let mut lines = content.lines();
    while let Some(line) = lines.next() {
        if !line.starts_with("<<<<<<<") {
            around.push(line.trim());
            continue;
        }
        let first: Vec<&str> = lines.by_ref().take_while(|line| line.trim_end() != "=======").collect();
        let mut is_closed = false;
        let more = |line: &&str| {
            is_closed = line.starts_with(">>>>>>>");
            !is_closed
        };
        let second: Vec<&str> = lines.by_ref().take_while(more).collect();
        if !is_closed || first.iter().all(|line| line.trim().is_empty()) {
            return Some(Err(CONFLICT.to_string()));
        }
        sides.push((first.join("\n"), second.join("\n")));
    }
    let own: HashSet<&str> = old.lines().map(str::trim).collect();
    if around.iter().any(|line| !line.is_empty() && !own.contains(line)) {
        return Some(Err(CONFLICT.to_string()));
    }
    let mut text = old.to_string();
    let mut found = PlaceMatch { rung: Rung::Exact, detail: None };
    for (first, second) in sides {
        match placed(&text, |target| passage::block(target, &first, &second)) {
            Ok((new, place)) => {
                text = new;
                if place.rung > found.rung {
                    found = place;
                }
            }
            Err(why) => return Some(Err(why)),
        }
    }
    Some(Ok((text, found)))
}

fn placed(text: &str, place: impl FnOnce(&TargetText) -> Result<Done, String>) -> Result<Changed, String> {
    let target = TargetText { text, encoding: Encoding::Utf8 { bom: false }, base: text, steps: &[] };
    let done = place(&target)?;
    Ok((done.made(text), done.found))
}

/// Returns whether a text shows what was typed into a shell, which the file does not.
pub(super) fn is_session(old: &str, content: &str, path: &str) -> bool {
    let typed = |line: &str| ["$ ", ">>> ", "PS> ", "PS C:\\"].iter().any(|prompt| line.starts_with(prompt));
    let first = content.lines().find(|line| !line.trim().is_empty());
    !is_prose(path) && first.is_some_and(typed) && !old.lines().any(typed)
}

const CONFLICT: &str = "the text holds the marks of a conflict (<<<<<<<), so which lines are meant is not certain. Write the \
                        file's whole text without them.";

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "def a():\n    return 1\n\n\ndef b():\n    return 2\n";

    #[test]
    fn a_diff_of_the_file_is_one() {
        let shown = " def a():\n-    return 1\n+    return 11\n \n \n def b():\n     return 2\n";
        let (text, _) = diff(FILE, shown).expect("a diff").expect("placed");
        assert_eq!(text, FILE.replace("1\n", "11\n"));
        let part = "-    return 2\n+    return 22";
        assert_eq!(diff(FILE, part).expect("a diff").expect("placed").0, FILE.replace("2\n", "22\n"));
        assert!(diff(FILE, FILE).is_none());
        let spaced = "-     return 2\n+     return 22";
        assert_eq!(diff(FILE, spaced).expect("a diff").expect("placed").0, FILE.replace("2\n", "22\n"));
        let bare = FILE.replace("    return 1\n", "-    return 1\n+    return 11\n");
        assert_eq!(diff(FILE, &bare).expect("a diff").expect("placed").0, FILE.replace("1\n", "11\n"));
        let added = FILE.replace("    return 2\n", "    return 2\n+\n+def c():\n+    return 3\n");
        let (text, _) = diff(FILE, &added).expect("a diff").expect("placed");
        assert_eq!(text, format!("{FILE}\ndef c():\n    return 3\n"));
        // A list has such marks itself.
        assert!(diff("- a\n- b\n", "- a\n- b\n- c\n").is_none());
        assert!(diff("x = 1\n", "- a\n+ b\n").is_none());
    }

    #[test]
    fn the_sides_of_a_conflict_are_a_change() {
        let sides =
            "def a():\n<<<<<<< HEAD\n    return 1\n=======\n    return 11\n>>>>>>> new\n\ndef b():\n    return 2\n";
        let (text, _) = conflict(FILE, sides, "a.py").expect("a conflict").expect("placed");
        assert_eq!(text, FILE.replace("1\n", "11\n"));
        for unclear in
            ["<<<<<<< HEAD\n    return 1\n", &sides.replace("def b", "def c"), "<<<<<<< a\n=======\nx\n>>>>>>> b\n"]
        {
            assert!(conflict(FILE, unclear, "a.py").expect("a conflict").is_err(), "{unclear}");
        }
        assert!(conflict(sides, &sides.replace("11", "12"), "a.py").is_none(), "the file has them");
        assert!(conflict("", sides, "doc.md").is_none());
    }
}
