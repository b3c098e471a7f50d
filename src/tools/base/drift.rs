//! The changes of a file since the model read it, for the texts that refuse an edit of it or say with what it was merged:
//! with the change before its eyes the next try can fit.

use crate::proposal::{FileChange, State, lines};

/// The most lines that are listed, of both sides together.
const MOST: usize = 60;
/// The most characters of a line that are listed.
const WIDTH: usize = 200;

/// Compares what was read with what is there now, as a small diff without unchanged lines. `None`: one of the two is no
/// text, or they do not differ.
pub fn since_read(read: &State, now: &State) -> Option<String> {
    Some(format!("What changed since (- as it was read, + as it is now):{}", compared(read, now)?.0))
}

/// Compares what an edit alone would have left with what is there after it was merged, in the same way. The second: it
/// lists all of it.
pub fn beside_edit(alone: &State, merged: &State) -> Option<(String, bool)> {
    let (lines, all) = compared(alone, merged)?;
    Some((format!("What else changed in it (- without it, + as it is now):{lines}"), all))
}

fn compared(read: &State, now: &State) -> Option<(String, bool)> {
    let (before, after) = (lines(read.bytes()?)?, lines(now.bytes()?)?);
    let change = FileChange::new("", read.clone(), now.clone(), "", &[]);
    let mut out = String::new();
    let (mut left, mut more, mut cut) = (MOST, 0, false);
    for hunk in &change.hunks {
        let sides = before[hunk.before.clone()].iter().map(|l| ('-', *l));
        let sides: Vec<_> = sides.chain(after[hunk.after.clone()].iter().map(|l| ('+', *l))).collect();
        let listed = sides.len().min(left);
        more += sides.len() - listed;
        left -= listed;
        if listed > 0 {
            out.push_str(&format!("\n@@ line {} @@", hunk.after.start + 1));
        }
        for (sign, line) in &sides[..listed] {
            let shown = shortened(line);
            cut |= shown.ends_with('…');
            out.push_str(&format!("\n{sign}{shown}"));
        }
    }
    if more > 0 {
        out.push_str(&format!("\n({more} more changed lines are left out)"));
    }
    (!change.hunks.is_empty()).then_some((out, more == 0 && !cut))
}

/// Returns a line without its ending, cut where it is too long.
fn shortened(line: &[u8]) -> String {
    let line = String::from_utf8_lossy(line);
    let line = line.trim_end_matches(['\r', '\n']);
    match line.char_indices().nth(WIDTH) {
        Some((at, _)) => format!("{}…", &line[..at]),
        None => line.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text_diff(read: &str, now: &str) -> Option<String> {
        since_read(&State::file(read.as_bytes()), &State::file(now.as_bytes()))
    }

    #[test]
    fn what_changed_is_reported_in_few_lines() {
        let text = text_diff("a\nb\nc\nd\ne\nf\ng\n", "a\nB\nc\nd\ne\nf\n").expect("a change");
        let lines: Vec<_> = text.lines().skip(1).collect();
        assert_eq!(lines, ["@@ line 2 @@", "-b", "+B", "@@ line 7 @@", "-g"]);
        assert_eq!(text_diff("a\n", "a\n"), None);
        assert_eq!(text_diff("a\n", "\0"), None);
        assert_eq!(since_read(&State::file(&b"a"[..]), &State::Absent), None);
    }

    #[test]
    fn what_others_changed_beside_an_edit_is_listed_and_whether_that_is_all() {
        let state = |text: &str| State::file(text.as_bytes());
        let text = "What else changed in it (- without it, + as it is now):\n@@ line 2 @@\n+c";
        assert_eq!(beside_edit(&state("a\n"), &state("a\nc\n")), Some((text.into(), true)));
        let long = format!("a\n{}\n", "x".repeat(WIDTH + 1));
        assert!(beside_edit(&state("a\n"), &state(&long)).is_some_and(|(_, all)| !all));
        assert!(beside_edit(&state("a\n"), &state(&"b\n".repeat(MOST))).is_some_and(|(_, all)| !all));
    }

    #[test]
    fn a_large_change_is_cut() {
        let many: String = (0..100).map(|n| format!("{n}\n")).collect();
        let text = text_diff(&"x".repeat(10_000), &many).expect("a change");
        assert!(text.len() < 2_000 && text.ends_with("(41 more changed lines are left out)"), "{text}");
        assert!(text.contains(&format!("-{}…", "x".repeat(WIDTH))), "{text}");
    }
}
