//! The alignment of removed lines with added ones.

use similar::{Algorithm, DiffOp};

use super::lines::Lines;

/// Comparisons of letters that aligning one proposal may cost; past it, lines are paired by their order.
pub const BUDGET: usize = 6_000_000;

/// Lines are counterparts when they have more than this share in common.
const ALIKE: f32 = 0.45;

/// A stretch of a hunk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HunkPart {
    /// Lines that are the same on both sides, from here on.
    Same {
        /// First line before.
        before: usize,
        /// First line after.
        after: usize,
        /// The number of lines.
        len: usize,
    },
    /// A removed line, an added line, or the two as counterparts.
    Pair(Option<usize>, Option<usize>),
}

/// Cuts changed lines into what is the same and what is not, and pairs the latter, in order. `budget` is used up.
pub fn parts(
    old: &Lines,
    before: std::ops::Range<usize>,
    new: &Lines,
    after: std::ops::Range<usize>,
    budget: &mut usize,
) -> Vec<HunkPart> {
    let (mut out, b0, a0) = (Vec::new(), before.start, after.start);
    if before.is_empty() || after.is_empty() {
        out.extend(before.map(|i| HunkPart::Pair(Some(i), None)));
        out.extend(after.map(|i| HunkPart::Pair(None, Some(i))));
        return out;
    }
    let left: Vec<&[u8]> = before.map(|i| old.whole(i)).collect();
    let right: Vec<&[u8]> = after.map(|i| new.whole(i)).collect();
    for op in ops(&left, &right) {
        let (l, r) = (op.old_range(), op.new_range());
        if matches!(op, DiffOp::Equal { .. }) {
            out.push(HunkPart::Same { before: b0 + l.start, after: a0 + r.start, len: l.len() });
        } else {
            let pairs = align(&left[l.clone()], &right[r.clone()], budget);
            out.extend(
                pairs
                    .into_iter()
                    .map(|(x, y)| HunkPart::Pair(x.map(|x| b0 + l.start + x), y.map(|y| a0 + r.start + y))),
            );
        }
    }
    out
}

fn ops(left: &[&[u8]], right: &[&[u8]]) -> Vec<DiffOp> {
    // Two long texts without a line in common cost the product of their lengths: not worth a search.
    if left.len().saturating_mul(right.len()) > 100_000_000 {
        return vec![DiffOp::Replace { old_index: 0, old_len: left.len(), new_index: 0, new_len: right.len() }];
    }
    similar::capture_diff_slices(Algorithm::Myers, left, right)
}

type Pairs = Vec<(Option<usize>, Option<usize>)>;

/// Pairs lines so that the sum of likeness is greatest, in order.
fn align(left: &[&[u8]], right: &[&[u8]], budget: &mut usize) -> Pairs {
    let (n, m) = (left.len(), right.len());
    if n == 1 && m == 1 {
        return vec![(Some(0), Some(0))];
    }
    let size = |lines: &[&[u8]]| lines.iter().map(|l| l.len()).sum::<usize>();
    let cost = (size(left) * m).saturating_add(size(right) * n).saturating_add(n * m);
    if n == 0 || m == 0 || cost > *budget {
        return (0..n.max(m)).map(|i| ((i < n).then_some(i), (i < m).then_some(i))).collect();
    }
    *budget -= cost;
    let (ls, rs): (Vec<_>, Vec<_>) =
        (left.iter().map(|l| letters(l)).collect(), right.iter().map(|r| letters(r)).collect());
    let like: Vec<f32> = ls.iter().flat_map(|l| rs.iter().map(|r| likeness(l, r))).collect();
    // best[i][j]: the greatest sum for the lines from i and j on.
    let at = |i: usize, j: usize| i * (m + 1) + j;
    let mut best = vec![0f32; (n + 1) * (m + 1)];
    for i in (0..n).rev() {
        for j in (0..m).rev() {
            let s = like[i * m + j];
            let both = if s > ALIKE { best[at(i + 1, j + 1)] + s } else { 0.0 };
            best[at(i, j)] = best[at(i + 1, j)].max(best[at(i, j + 1)]).max(both);
        }
    }
    let (mut out, mut i, mut j) = (Pairs::with_capacity(n.max(m)), 0, 0);
    while i < n || j < m {
        let paired = i < n && j < m && {
            let s = like[i * m + j];
            s > ALIKE && best[at(i, j)] == best[at(i + 1, j + 1)] + s
        };
        if paired {
            out.push((Some(i), Some(j)));
            (i, j) = (i + 1, j + 1);
        } else if i < n && (j >= m || best[at(i, j)] == best[at(i + 1, j)]) {
            out.push((Some(i), None));
            i += 1;
        } else {
            out.push((None, Some(j)));
            j += 1;
        }
    }
    out
}

/// Returns whether two lines have enough in common for telling their words apart.
pub fn alike(a: &[u8], b: &[u8]) -> bool {
    likeness(&letters(a), &letters(b)) > ALIKE
}

/// Returns the pairs of neighbouring letters of a line without its outer white space, sorted.
fn letters(line: &[u8]) -> Vec<u16> {
    let mut pairs: Vec<u16> = line.trim_ascii().windows(2).map(|w| u16::from(w[0]) << 8 | u16::from(w[1])).collect();
    pairs.sort_unstable();
    pairs
}

/// Returns the likeness of two lines, from 0 to 1.
fn likeness(a: &[u16], b: &[u16]) -> f32 {
    let total = a.len() + b.len();
    // Lines of a letter or none: too little to tell.
    if total < 2 {
        return 0.0;
    }
    let (mut i, mut j, mut common) = (0, 0, 0usize);
    while i < a.len() && j < b.len() {
        match a[i].cmp(&b[j]) {
            std::cmp::Ordering::Less => i += 1,
            std::cmp::Ordering::Greater => j += 1,
            std::cmp::Ordering::Equal => (i, j, common) = (i + 1, j + 1, common + 1),
        }
    }
    (2 * common) as f32 / total as f32
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    fn text(s: &str) -> Lines {
        Lines::new(Arc::from(s.as_bytes()))
    }

    fn all(a: &str, b: &str) -> Vec<HunkPart> {
        let (a, b) = (text(a), text(b));
        parts(&a, 0..a.len(), &b, 0..b.len(), &mut BUDGET.clone())
    }

    #[test]
    fn alike_lines_are_counterparts() {
        let found = all(
            "self.lines.push(Line(id));\n",
            "match self.find(id) {\n    Some(n) => n.grow(),\n    None => self.lines.push(Line(id)),\n}\n",
        );
        assert_eq!(
            found,
            [
                HunkPart::Pair(None, Some(0)),
                HunkPart::Pair(None, Some(1)),
                HunkPart::Pair(Some(0), Some(2)),
                HunkPart::Pair(None, Some(3))
            ]
        );
    }

    #[test]
    fn unchanged_lines_are_not_paired() {
        let found = all("a(1)\nsame\n", "a(2)\nsame\nnew\n");
        assert_eq!(
            found,
            [
                HunkPart::Pair(Some(0), Some(0)),
                HunkPart::Same { before: 1, after: 1, len: 1 },
                HunkPart::Pair(None, Some(2))
            ]
        );
    }

    #[test]
    fn past_the_budget_order_decides() {
        let (a, b) = (text("aaa\nbbb\nccc\n"), text("xxx\nyyy\n"));
        let found = parts(&a, 0..3, &b, 0..2, &mut 0);
        assert_eq!(
            found,
            [HunkPart::Pair(Some(0), Some(0)), HunkPart::Pair(Some(1), Some(1)), HunkPart::Pair(Some(2), None)]
        );
    }

    #[test]
    fn a_change_of_line_endings_is_a_change() {
        assert_eq!(all("a\n", "a\r\n"), [HunkPart::Pair(Some(0), Some(0))]);
    }
}
