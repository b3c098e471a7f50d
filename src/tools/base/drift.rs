//! The changes of a file since the model read it, for the texts that refuse an edit of it: with the change before its
//! eyes the next try can fit.

use crate::proposal::{FileChange, State, lines};

/// The most lines that are listed, of both sides together.
const MOST: usize = 60;
/// The most characters of a line that are listed.
const WIDTH: usize = 200;

/// Compares what was read with what is there now, as a small diff without unchanged lines. `None`: one of the two is no
/// text, or they do not differ.
pub fn since_read(read: &State, now: &State) -> Option<String> {
    let (before, after) = (lines(read.bytes()?)?, lines(now.bytes()?)?);
    let change = FileChange::new("", read.clone(), now.clone(), "", &[]);
    let mut out = String::from("What changed since (- as it was read, + as it is now):");
    let mut left = MOST;
    let mut more = 0;
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
            out.push_str(&format!("\n{sign}{}", shortened(line)));
        }
    }
    if more > 0 {
        out.push_str(&format!("\n({more} more changed lines are left out)"));
    }
    (!change.hunks.is_empty()).then_some(out)
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
    fn a_large_change_is_cut() {
        let many: String = (0..100).map(|n| format!("{n}\n")).collect();
        let text = text_diff(&"x".repeat(10_000), &many).expect("a change");
        assert!(text.len() < 2_000 && text.ends_with("(41 more changed lines are left out)"), "{text}");
        assert!(text.contains(&format!("-{}…", "x".repeat(WIDTH))), "{text}");
    }
}
