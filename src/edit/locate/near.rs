//! The last rung, and what a refusal shows: the run of lines most like the search text.
//!
//! Blank lines and indentation do not count. Lines that occur in both texts vote for where the search text
//! lies on the file's (its diagonal); around the best diagonals the lines are aligned, so that a few lines too many or
//! too few do no harm.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::collections::HashMap;
use std::ops::Range;

use super::alike::Pattern;

/// A run of lines, how like the search text it is, and which line answers to which.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Near {
    pub lines: Range<usize>,
    /// The likeness, from 0 to 1.
    pub score: f32,
    /// (line of the search text, line of the file), from first to last.
    pub pairs: Vec<(usize, usize)>,
    /// True if the search text's first and last line have an answer.
    pub ends: bool,
}

/// Two lines less alike than this do not answer to each other.
const LEAST: f32 = 0.6;
/// The number of diagonals looked at closely.
const TRIES: usize = 6;
/// The farthest that an alignment may stray from its diagonal, in lines.
const WIDEST: usize = 100;
/// The number of lines of the search text that look for lines that are only alike.
const FUZZY: usize = 6;
/// The number of pairs of unequal lines compared in all.
const BUDGET: usize = 60_000;

/// Returns the runs of lines most like the needle, best first; they do not overlap.
pub(super) fn find(hay: &[Cow<str>], needle: &[Cow<str>]) -> Vec<Near> {
    let solid = |keys: &[Cow<str>]| -> Vec<usize> { (0..keys.len()).filter(|i| !keys[*i].is_empty()).collect() };
    let (rows, cols) = (solid(needle), solid(hay));
    if rows.is_empty() || cols.is_empty() {
        return Vec::new();
    }
    // Narrower than the needle is long, so that two adjacent runs are never taken for one.
    let band = (rows.len() / 10 + 2).min(WIDEST).min(rows.len() - 1);
    let starts = diagonals(hay, needle, &rows, &cols, band);
    let mut budget = BUDGET;
    let aligner = Aligner { hay, needle, rows: &rows, cols: &cols, band };
    let mut nears: Vec<Near> = starts.into_iter().filter_map(|d| aligner.at(d, &mut budget)).collect();
    nears.sort_by(|a, b| b.score.total_cmp(&a.score));
    let mut apart: Vec<Near> = Vec::new();
    for near in nears {
        if apart.iter().all(|a| near.lines.end <= a.lines.start || a.lines.end <= near.lines.start) {
            apart.push(near);
        }
    }
    apart
}

fn weight(line: &str) -> f32 {
    line.len() as f32 + 1.0
}

/// Returns the most promising diagonals (column minus row, in lines that are not blank), best first.
fn diagonals(hay: &[Cow<str>], needle: &[Cow<str>], rows: &[usize], cols: &[usize], band: usize) -> Vec<isize> {
    let mut votes = vec![0.0_f32; rows.len() + cols.len()];
    let mut places: HashMap<&str, Vec<usize>> = HashMap::new();
    for (row, line) in rows.iter().enumerate() {
        let of = places.entry(&needle[*line]).or_default();
        if of.len() < 8 {
            of.push(row);
        }
    }
    let mut met = vec![false; rows.len()];
    for (col, line) in cols.iter().enumerate() {
        for row in places.get(&*hay[*line]).into_iter().flatten() {
            met[*row] = true;
            votes[col + rows.len() - row] += weight(&hay[*line]);
        }
    }
    let mut strange: Vec<usize> = (0..rows.len()).filter(|r| !met[*r]).collect();
    strange.sort_by_key(|r| std::cmp::Reverse(needle[rows[*r]].len()));
    for row in strange.into_iter().take(FUZZY) {
        let pattern = Pattern::new(&needle[rows[row]]);
        for (col, line) in cols.iter().enumerate() {
            let ratio = pattern.ratio(&hay[*line], 0.7);
            if ratio >= 0.7 {
                votes[col + rows.len() - row] += ratio * weight(&hay[*line]);
            }
        }
    }
    best(&votes, band).into_iter().map(|i| i as isize - rows.len() as isize).collect()
}

/// Returns the places with the most votes around them, at least two bands apart.
fn best(votes: &[f32], band: usize) -> Vec<usize> {
    let mut around = Vec::with_capacity(votes.len());
    let mut sum = votes.iter().take(band).sum::<f32>();
    for i in 0..votes.len() {
        sum += votes.get(i + band).copied().unwrap_or(0.0);
        // Its own vote counts twice, so that the middle of a hill wins over its foot.
        around.push(sum.max(0.0) + votes[i]);
        sum -= if i >= band { votes[i - band] } else { 0.0 };
    }
    let mut order: Vec<usize> = (0..votes.len()).filter(|i| votes[*i] > 0.0).collect();
    order.sort_by(|a, b| around[*b].total_cmp(&around[*a]).then(a.cmp(b)));
    let mut taken: Vec<usize> = Vec::new();
    for i in order {
        if taken.len() == TRIES {
            break;
        }
        if taken.iter().all(|t| t.abs_diff(i) > band) {
            taken.push(i);
        }
    }
    taken
}

struct Aligner<'a> {
    hay: &'a [Cow<'a, str>],
    needle: &'a [Cow<'a, str>],
    rows: &'a [usize],
    cols: &'a [usize],
    band: usize,
}

impl Aligner<'_> {
    /// Returns the best alignment within a band around a diagonal.
    ///
    /// `best[r][k]` is the best sum of the first `r` rows with the first `r + diagonal - band + k` columns. What is
    /// alike counts for it, every column from the first that answers to the last counts against it.
    fn at(&self, diagonal: isize, budget: &mut usize) -> Option<Near> {
        let width = 2 * self.band + 1;
        let mut best = vec![0.0_f32; (self.rows.len() + 1) * width];
        let mut gains = vec![0.0_f32; self.rows.len() * width];
        for row in 0..self.rows.len() {
            let pattern = std::cell::OnceCell::new();
            for k in 0..width {
                let above = row * width + k;
                let col = self.column(row, k, diagonal);
                gains[above] = col.map_or(0.0, |col| self.gain(row, col, &pattern, budget));
                let skip_row = if k + 1 < width { best[above + 1] } else { f32::MIN };
                let skip_column = if k > 0 { best[above + width - 1] - self.cost(col) } else { f32::MIN };
                let answer = if gains[above] > 0.0 { best[above] + gains[above] - self.cost(col) } else { f32::MIN };
                best[above + width] = skip_row.max(skip_column).max(answer);
            }
        }
        self.near(&best, &gains, diagonal)
    }

    /// Returns the column that answers to a row at this offset in the band.
    fn column(&self, row: usize, k: usize, diagonal: isize) -> Option<usize> {
        let col = row as isize + diagonal - self.band as isize + k as isize;
        usize::try_from(col).ok().filter(|c| *c < self.cols.len())
    }

    /// Returns what a column costs that lies inside of the run.
    fn cost(&self, col: Option<usize>) -> f32 {
        col.map_or(0.0, |col| weight(&self.hay[self.cols[col]]) / 2.0)
    }

    fn gain<'p>(&'p self, row: usize, col: usize, pattern: &OnceCell<Pattern<'p>>, budget: &mut usize) -> f32 {
        let (a, b) = (&self.needle[self.rows[row]], &self.hay[self.cols[col]]);
        let whole = weight(a) + weight(b);
        if a == b {
            return whole;
        }
        if *budget == 0 {
            return 0.0;
        }
        *budget -= 1;
        let ratio = pattern.get_or_init(|| Pattern::new(a)).ratio(b, LEAST);
        if ratio >= LEAST { ratio * whole } else { 0.0 }
    }

    /// Reads the alignment off the table, from its end.
    fn near(&self, best: &[f32], gains: &[f32], diagonal: isize) -> Option<Near> {
        let width = 2 * self.band + 1;
        let mut solid = Vec::new();
        let (mut row, mut sum) = (self.rows.len(), 0.0);
        let last = &best[row * width..];
        let mut k = (0..width).max_by(|a, b| last[*a].total_cmp(&last[*b]))?;
        while row > 0 {
            let (here, above) = (best[row * width + k], (row - 1) * width + k);
            let col = self.column(row - 1, k, diagonal);
            if gains[above] > 0.0 && here == best[above] + gains[above] - self.cost(col) {
                sum += gains[above];
                solid.push((row - 1, col?));
                row -= 1;
            } else if k > 0 && here == best[row * width + k - 1] - self.cost(col) {
                k -= 1;
            } else {
                row -= 1;
                k = (k + 1).min(width - 1);
            }
        }
        solid.reverse();
        let (head, tail) = (solid.first()?, solid.last()?);
        let weigh = |keys: &[Cow<str>], which: &[usize]| which.iter().map(|i| weight(&keys[*i])).sum::<f32>();
        let total = weigh(self.needle, self.rows) + weigh(self.hay, &self.cols[head.1..=tail.1]);
        Some(Near {
            lines: self.cols[head.1]..self.cols[tail.1] + 1,
            score: sum / total,
            ends: head.0 == 0 && tail.0 + 1 == self.rows.len(),
            pairs: solid.iter().map(|(r, c)| (self.rows[*r], self.cols[*c])).collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nears(hay: &str, needle: &str) -> Vec<Near> {
        let keys = |t: &'static str| t.split('\n').map(|l| Cow::Borrowed(l.trim())).collect::<Vec<_>>();
        find(&keys(hay.to_string().leak()), &keys(needle.to_string().leak()))
    }

    #[test]
    fn lines_too_many_or_too_few_do_no_harm() {
        let hay = "zero\nfn alpha() {\n    first();\n\n    second(1, 2);\n    third();\n}\nlast";
        let near = &nears(hay, "fn alpha() {\n    first();\n    second(1, 3);\n    third();\n}")[0];
        assert_eq!(near.lines, 1..7);
        assert!(near.score > 0.9 && near.ends, "{near:?}");
        let near = &nears(hay, "fn alpha() {\n    second(1, 2);\n    third();\n}")[0];
        assert_eq!(near.lines, 1..7);
        assert!(near.score < 0.9, "{near:?}");
    }

    #[test]
    fn a_text_without_a_likeness_has_no_near_place() {
        assert!(nears("a b c\nd e f", "0123456789").is_empty());
        assert!(nears("", "x").is_empty());
        assert!(nears("x", "").is_empty());
    }
}
