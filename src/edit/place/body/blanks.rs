//! Blank lines that a text leaves out between the lines which it names: those of the file stay where they are.

use super::LineKind;
use crate::edit::lines::Lines;
use crate::edit::locate::folded_line;
use crate::proposal::Rung;

/// The detail of a place that was found so.
pub(in crate::edit::place) const DETAIL: &str = "the file has blank lines between";

/// A line of a change, without its prefix.
type Row<'a> = (LineKind, &'a str);

/// Returns the lines of a change with the blank lines that the file has between those that stay and go, where these are in it
/// in one place but for such lines; none where it has no more than the change, and where blank lines come with it: they may be
/// those of the file.
pub(in crate::edit::place) fn with_own<'a>(text: &'a str, rows: &[Row<'a>]) -> Option<Vec<Row<'a>>> {
    let before: Vec<&str> = rows.iter().filter(|(kind, _)| *kind != LineKind::Comes).map(|(_, line)| *line).collect();
    let hay = Lines::new(text);
    let (wanted, gaps) = solid(before.iter().copied());
    let (own, own_gaps) = solid((0..hay.len()).map(|at| hay.content(at)));
    let comes_blank = rows.iter().any(|(kind, line)| *kind == LineKind::Comes && line.trim().is_empty());
    if wanted.len() < 2 || comes_blank {
        return None;
    }
    let folded = |line: &str| folded_line(line, Rung::Indentation).into_owned();
    let (keys, key): (Vec<String>, Vec<String>) =
        (own.iter().map(|line| folded(line)).collect(), wanted.iter().map(|line| folded(line)).collect());
    let mut places = keys.windows(key.len()).enumerate().filter(|(_, lines)| *lines == key).map(|(at, _)| at);
    let at = places.next().filter(|_| places.next().is_none())?;
    // Above each line but the first.
    let missing = |row: usize| own_gaps[at + row].checked_sub(gaps[row]);
    let missing: Vec<usize> = (1..wanted.len()).map(missing).collect::<Option<_>>()?;
    if missing.iter().all(|count| *count == 0) {
        return None;
    }
    let (mut all, mut met) = (Vec::with_capacity(rows.len() + missing.len()), 0);
    for (kind, line) in paired(rows) {
        if kind != LineKind::Comes && !line.trim().is_empty() {
            let count = if met == 0 { 0 } else { missing[met - 1] };
            all.extend(std::iter::repeat_n((LineKind::Stays, ""), count));
            met += 1;
        }
        all.push((kind, line));
    }
    Some(all)
}

/// Returns the lines of a text that are not blank, and how many blank ones are above each.
fn solid<'t>(lines: impl Iterator<Item = &'t str>) -> (Vec<&'t str>, Vec<usize>) {
    let (mut all, mut gaps, mut gap) = (Vec::new(), Vec::new(), 0);
    for line in lines {
        if line.trim().is_empty() {
            gap += 1;
        } else {
            all.push(line);
            gaps.push(std::mem::take(&mut gap));
        }
    }
    (all, gaps)
}

/// Returns the lines of a change, each that goes above the one that takes its place where as many come as go.
fn paired<'a>(rows: &[Row<'a>]) -> Vec<Row<'a>> {
    let mut all = Vec::with_capacity(rows.len());
    let mut at = 0;
    while at < rows.len() {
        let run = |from: usize, kind| rows[from..].iter().take_while(|row| row.0 == kind).count();
        let gone = run(at, LineKind::Goes);
        let come = run(at + gone, LineKind::Comes);
        if gone > 0 && gone == come {
            (0..gone).for_each(|n| all.extend([rows[at + n], rows[at + gone + n]]));
            at += gone + come;
        } else {
            let length = gone.max(1);
            all.extend_from_slice(&rows[at..at + length]);
            at += length;
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use LineKind::{Comes, Goes, Stays};

    #[test]
    fn the_blank_lines_of_the_file_stay() {
        let file = "import os\n\nRATE = 0.2\n\n\ndef f():\n    pass\n";
        let rows = [(Stays, "import os"), (Goes, "RATE = 0.2"), (Comes, "RATE = 0.25"), (Stays, "def f():")];
        let made: Vec<&str> =
            with_own(file, &rows).expect("a place").iter().filter(|row| row.0 != Goes).map(|row| row.1).collect();
        assert_eq!(made, ["import os", "", "RATE = 0.25", "", "", "def f():"]);
        assert_eq!(with_own(&file.repeat(2), &rows), None, "two places");
        assert_eq!(with_own("import os\nRATE = 0.2\ndef f():\n    pass\n", &rows), None);
        let each = [(Goes, "import os"), (Goes, "RATE = 0.2"), (Comes, "import re"), (Comes, "RATE = 0.3")];
        let made = with_own(file, &each).expect("a place");
        assert_eq!(made, [each[0], each[2], (Stays, ""), each[1], each[3]]);
    }
}
