//! The changes of a hunk at a place that is only alike: what has a `-` goes, what has a `+` comes, and the lines that the hunk
//! leaves out or has otherwise stay as the file has them.

use std::ops::Range;

use super::{Body, LineKind};
use crate::edit::lines::Lines;

/// Lines of a file that go, and those that come in their place.
pub(in crate::edit::place) type Run = (Range<usize>, Vec<String>);

/// Returns the runs of changed lines, from first to last. `pairs`: the lines that answer to each other, of the hunk before its
/// change and of `lines` of the file. `fitted`: a line that comes behind so many of those before, as the file wants it. A line
/// without a mark that the file does not have comes, where nothing else stands in its place; `None` where that is not certain.
pub(in crate::edit::place) fn runs(
    body: &Body,
    hay: &Lines,
    (pairs, lines): (&[(usize, usize)], Range<usize>),
    fitted: &dyn Fn(usize, &str) -> Option<String>,
) -> Option<Vec<Run>> {
    let is_blank = |at: usize| at < hay.len() && hay.content(at).trim().is_empty();
    let answers = answers(&body.before(), hay, (pairs, lines.clone()))?;
    let (mut row, mut line, mut runs) = (0, lines.start, Vec::<Run>::new());
    for (kind, text) in &body.lines {
        let is_solid = !text.trim().is_empty();
        let at = match kind {
            LineKind::Comes => None,
            _ if is_solid => answers[row],
            _ => Some(line).filter(|at| is_blank(*at)),
        };
        let comes = *kind == LineKind::Comes || *kind == LineKind::Stays && is_solid && at.is_none();
        let begins = if *kind == LineKind::Goes { at } else { Some(line).filter(|_| comes) };
        if let Some(begins) = begins {
            if runs.last().is_none_or(|(lines, _)| lines.end != begins) {
                runs.push((begins..begins, Vec::new()));
            }
            let (lines, new) = runs.last_mut()?;
            match comes {
                true => new.push(fitted(row, text)?),
                false => lines.end = begins + 1,
            }
        }
        row += usize::from(*kind != LineKind::Comes);
        line = at.map_or(line, |at| at + 1);
    }
    for (lines, new) in &mut runs {
        let there = lines.end..lines.end + new.len();
        let is_left_out = |at: usize| !answers.contains(&Some(at));
        let is_same = |(at, line): (usize, &String)| is_left_out(at) && hay.content(at).trim() == line.trim();
        if there.end <= hay.len() && there.zip(new.iter()).all(is_same) {
            new.clear();
        }
    }
    runs.retain(|(lines, new)| !lines.is_empty() || !new.is_empty());
    Some(runs)
}

/// Returns for each line of a hunk before its change, blank ones aside, the line of the file to which it answers. Between two
/// pairs as many others answer to each other in their order; `None` where they are not as many on both sides.
fn answers(
    rows: &[&str],
    hay: &Lines,
    (pairs, lines): (&[(usize, usize)], Range<usize>),
) -> Option<Vec<Option<usize>>> {
    let mut answers = vec![None; rows.len()];
    let (mut row, mut line) = (0, lines.start);
    for (next_row, next_line) in pairs.iter().copied().chain([(rows.len(), lines.end)]) {
        let open: Vec<usize> = (row..next_row).filter(|at| !rows[*at].trim().is_empty()).collect();
        let left_out: Vec<usize> = (line..next_line).filter(|at| !hay.content(*at).trim().is_empty()).collect();
        if open.len() == left_out.len() {
            open.into_iter().zip(left_out).for_each(|(row, line)| answers[row] = Some(line));
        } else if !open.is_empty() && !left_out.is_empty() {
            return None;
        }
        if let Some(answer) = answers.get_mut(next_row) {
            *answer = Some(next_line);
        }
        (row, line) = (next_row + 1, next_line + 1);
    }
    Some(answers)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changed(file: &str, hunk: &str, pairs: &[(usize, usize)]) -> Option<String> {
        let body: Vec<String> = hunk.lines().map(str::to_string).collect();
        let hay = Lines::new(file);
        let runs = runs(&Body::strict(&body), &hay, (pairs, 0..hay.len()), &|_, line| Some(line.to_string()))?;
        let mut lines: Vec<String> = (0..hay.len()).map(|at| hay.content(at).to_string()).collect();
        runs.into_iter().rev().for_each(|(range, new)| drop(lines.splice(range, new)));
        Some(lines.join(" "))
    }

    #[test]
    fn only_what_is_marked_changes() {
        let of = |hunk, pairs: &[(usize, usize)]| changed("a\nb\nc\nd", hunk, pairs);
        for (hunk, pairs, wanted) in [
            // A line that is left out of the hunk stays, before and behind what changes.
            (" a\n-c\n+C\n d", vec![(0, 0), (1, 2), (2, 3)], Some("a b C d")),
            (" a\n-b\n+B\n d", vec![(0, 0), (1, 1), (2, 3)], Some("a B c d")),
            (" a\n+x\n d", vec![(0, 0), (1, 3)], Some("a x b c d")),
            // What comes is what was left out.
            (" a\n+b\n c\n d", vec![(0, 0), (1, 2), (2, 3)], Some("a b c d")),
            // A line that is quite another one in the file is the file's.
            (" a\n q\n-c\n d", vec![(0, 0), (2, 2), (3, 3)], Some("a b d")),
            // A line without its mark, alone and beside one that is left out elsewhere.
            (" a\n b\n x\n c\n d", vec![(0, 0), (1, 1), (3, 2), (4, 3)], Some("a b x c d")),
            (" a\n-c\n x\n d", vec![(0, 0), (1, 2), (3, 3)], Some("a b x d")),
            // It may stand for one line of several, or be new.
            (" a\n x\n d", vec![(0, 0), (2, 3)], None),
        ] {
            assert_eq!(of(hunk, &pairs).as_deref(), wanted, "{hunk}");
        }
    }
}
