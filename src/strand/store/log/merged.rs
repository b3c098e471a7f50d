//! Reads logs that Git merged line by line: finds each transaction by its sum, wherever its lines stand.
//!
//! A union merge keeps the order of each side's lines but may put those of the other side between them, and leaves a
//! line both sides have once. So the lines of a transaction are looked for among all lines before its commit line.

use std::collections::HashSet;
use std::ops::Range;

use serde_json::Value;

use super::commit::Commit;

/// The number of ways tried to find the lines of one transaction.
const TRIES: usize = 4096;

/// The bytes hashed for such tries in one log, and for each byte of it: a log may come with a clone, and one made to cost
/// much is damaged.
const HASHED: u64 = 256 << 20;
const HASHED_EACH: u64 = 8;

/// A transaction whose sum holds.
pub struct VerifiedTransaction {
    /// The number of each of its lines, and its range, without its newline.
    pub lines: Vec<(usize, Range<usize>)>,
    /// The number of its commit line.
    pub number: usize,
    /// The sum of its lines.
    pub sum: String,
    /// The beginning and the end of its commit line, newline included.
    pub start: usize,
    /// The end of its commit line, newline included.
    pub end: usize,
}

/// The resolved lines of a log.
pub struct ResolvedLog {
    /// The end of the first line, newline included.
    pub head: usize,
    /// Transactions whose sum holds, in order of their commit lines.
    pub transactions: Vec<VerifiedTransaction>,
    /// Lines that belong to none, by number; those after the last commit line are not among them.
    pub left: Vec<(usize, Range<usize>)>,
    /// The beginning of the first line after the last commit line.
    pub tail: usize,
    /// True if the last commit line covers all lines before it.
    pub closed: bool,
}

/// The transactions of a log to which every line belongs.
pub(super) struct Whole {
    pub head: usize,
    pub transactions: Vec<VerifiedTransaction>,
    pub closed: bool,
}

impl ResolvedLog {
    /// Returns the transactions, if every line belongs to one.
    pub(super) fn whole(self) -> Option<Whole> {
        let ResolvedLog { head, transactions, left, closed, .. } = self;
        left.is_empty().then_some(Whole { head, transactions, closed })
    }
}

struct Lines<'t> {
    text: &'t [u8],
    /// Lines that are no commit line, each once, with their numbers.
    pool: Vec<(usize, Range<usize>)>,
    seen: HashSet<&'t [u8]>,
    claimed: HashSet<usize>,
    /// The hash of the whole pool.
    hasher: blake3::Hasher,
    /// The bytes that may still be hashed for tries.
    budget: u64,
}

/// Finds the transactions of a log.
pub fn resolve(text: &[u8]) -> ResolvedLog {
    resolve_within(text, (text.len() as u64).saturating_mul(HASHED_EACH).saturating_add(HASHED))
}

fn resolve_within(text: &[u8], budget: u64) -> ResolvedLog {
    let mut lines = Lines {
        text,
        pool: Vec::new(),
        seen: HashSet::new(),
        claimed: HashSet::new(),
        hasher: blake3::Hasher::new(),
        budget,
    };
    let head = memchr::memchr(b'\n', text).map_or(text.len(), |at| at + 1);
    let mut out = ResolvedLog { head, transactions: Vec::new(), left: Vec::new(), tail: head, closed: false };
    let (mut start, mut number, mut since, mut broken) = (head, 1, 0, Vec::new());
    // Everything before this line is claimed.
    let (mut after_last, mut settled) = (0, 0);
    while let Some(length) = memchr::memchr(b'\n', &text[start..]) {
        let place = start..start + length;
        start = place.end + 1;
        number += 1;
        let Some(commit) = commit(&text[place.clone()]) else {
            if lines.seen.insert(&text[place.clone()]) {
                lines.hasher.update(&text[place.start..=place.end]);
                lines.pool.push((number, place));
            }
            continue;
        };
        if commit.merged {
            let count = lines.pool.len();
            out.closed = commit.lines as usize == count && *lines.hasher.finalize().to_hex() == *commit.sum;
            let covered = if out.closed { count } else { 0 };
            let rest = (settled..covered.max(settled)).filter(|at| !lines.claimed.contains(at)).collect();
            settled = covered.max(settled);
            out.transactions.push(lines.claim(rest, number, commit.sum, &place));
            broken.retain(|_| !out.closed);
        } else if let Some(found) = lines.find(&commit, since) {
            out.transactions.push(lines.claim(found, number, commit.sum, &place));
            out.closed = false;
        } else {
            broken.push((number, place));
        }
        (since, after_last, out.tail) = (lines.pool.len(), lines.pool.len(), start);
    }
    let unclaimed = (0..after_last).filter(|at| !lines.claimed.contains(at)).map(|at| lines.pool[at].clone());
    out.left = unclaimed.chain(broken).collect();
    out.left.sort_by_key(|(number, _)| *number);
    out
}

/// Returns the commit line that a line is.
pub(super) fn commit(line: &[u8]) -> Option<Commit> {
    // A commit line is short, and only reading it confirms what it is.
    let short = line.len() < 256 && line.windows(9).any(|part| part == b"\"commit\":");
    short.then(|| serde_json::from_slice::<Value>(line).ok()).flatten().as_ref().and_then(Commit::read)
}

impl Lines<'_> {
    fn sum(&self, which: &[usize]) -> String {
        let mut hasher = blake3::Hasher::new();
        for at in which {
            hasher.update(&self.text[self.pool[*at].1.clone()]);
            hasher.update(b"\n");
        }
        hasher.finalize().to_hex().to_string()
    }

    /// Returns these lines if they have a sum, as long as there is budget for tries.
    fn attempt(&mut self, which: Vec<usize>, sum: &str) -> Option<Vec<usize>> {
        let bytes = which.iter().map(|at| self.pool[*at].1.len() as u64 + 1).sum();
        self.budget = self.budget.saturating_sub(bytes);
        (self.budget > 0 && self.sum(&which) == sum).then_some(which)
    }

    /// Returns the lines that a commit line closes: those since the one before it; the last ones of all; or these with
    /// a run of others between them.
    fn find(&mut self, commit: &Commit, since: usize) -> Option<Vec<usize>> {
        let (count, wanted) = (self.pool.len(), usize::try_from(commit.lines).ok()?);
        if count - since == wanted {
            let which: Vec<usize> = (since..count).collect();
            if self.sum(&which) == commit.sum {
                return Some(which);
            }
        }
        let first = count.checked_sub(wanted).filter(|_| self.budget > 0)?;
        if let Some(found) = self.attempt((first..count).collect(), &commit.sum) {
            return Some(found);
        }
        let mut tries = 0;
        for gap in 1..=first {
            for before in 1..=wanted {
                tries += 1;
                if tries > TRIES || self.budget == 0 {
                    return None;
                }
                let begins = first - gap;
                let which = (begins..begins + before).chain(begins + before + gap..count).collect();
                if let Some(found) = self.attempt(which, &commit.sum) {
                    return Some(found);
                }
            }
        }
        None
    }

    fn claim(&mut self, which: Vec<usize>, number: usize, sum: String, place: &Range<usize>) -> VerifiedTransaction {
        self.claimed.extend(&which);
        let lines = which.into_iter().map(|at| self.pool[at].clone()).collect();
        VerifiedTransaction { lines, number, sum, start: place.start, end: place.end + 1 }
    }
}

/// Returns the line that closes a log whose transactions a merge has mixed.
pub fn closing_line(text: &[u8], id: &str) -> (String, String) {
    let mut seen = HashSet::new();
    let mut hasher = blake3::Hasher::new();
    let lines = text.split(|byte| *byte == b'\n').skip(1);
    for line in lines.filter(|line| !line.is_empty() && commit(line).is_none()) {
        if seen.insert(line) {
            hasher.update(line);
            hasher.update(b"\n");
        }
    }
    let sum = hasher.finalize().to_hex().to_string();
    (serde_json::json!({"commit": id, "n": seen.len(), "sum": sum, "merged": true}).to_string() + "\n", sum)
}

#[cfg(test)]
mod tests {
    use super::super::transaction;
    use super::*;

    fn lines(of: &[&str]) -> (Vec<String>, String) {
        let lines: Vec<String> = of.iter().map(|op| format!("{{\"op\":\"{op}\"}}")).collect();
        let commit = transaction(&lines).0.lines().last().unwrap().to_owned();
        (lines, commit)
    }

    /// A log of lines, with how many transactions are found in it and how many lines belong to none.
    fn found(of: &[&str]) -> (usize, usize) {
        let text = format!("{{\"strand\":1}}\n{}\n", of.join("\n"));
        let resolved = resolve(text.as_bytes());
        (resolved.transactions.len(), resolved.left.len())
    }

    #[test]
    fn transactions_that_share_lines_are_found_in_any_mix() {
        let ((x, cx), (y, cy)) = (lines(&["a", "e"]), lines(&["a", "b"]));
        assert_eq!(found(&[&x[0], &x[1], &cx, &y[1], &cy]), (2, 0));
        assert_eq!(found(&[&x[0], &x[1], &y[1], &cx, &cy]), (2, 0));
        assert_eq!(found(&[&x[0], &x[1], &cx, &y[0], &y[1], &cy]), (2, 0));
        assert_eq!(found(&[&x[0], &x[1], &cx, &cx, &y[1], &cy]), (3, 0));
        // A line that nobody closed, and one that was altered.
        assert_eq!(found(&[&x[0], &x[1], &cx, "{\"op\":\"c\"}", &y[1], &cy]), (2, 1));
        assert_eq!(found(&[&x[0], "{\"op\":\"E\"}", &cx]), (0, 3));
    }

    #[test]
    fn a_log_that_costs_too_much_is_damaged() {
        let ((x, cx), (y, cy)) = (lines(&["a", "e"]), lines(&["a", "b"]));
        let mixed = [&x[0], &x[1], &cx, &y[1], &cy].map(String::as_str).join("\n");
        let text = format!("{{\"strand\":1}}\n{mixed}\n");
        let found = |budget: u64| resolve_within(text.as_bytes(), budget).transactions.len();
        assert_eq!((found(1_000), found(10)), (2, 1));
    }

    #[test]
    fn a_closing_line_covers_what_stands_before_it() {
        let ((x, cx), (y, cy)) = (lines(&["a", "e"]), lines(&["a", "b"]));
        let mut text =
            format!("{{\"strand\":1}}\n{}\n", [&x[0], &y[1], &x[1], &cx, &cy].map(String::as_str).join("\n"));
        text.push_str(&closing_line(text.as_bytes(), "tx_1").0);
        let resolved = resolve(text.as_bytes());
        assert!(resolved.closed && resolved.left.is_empty());
        // It covers nothing any more once a line before it is another.
        let altered = resolve(text.replacen("\"e\"", "\"E\"", 1).as_bytes()).left.len();
        assert_eq!(altered, 2);
    }
}
