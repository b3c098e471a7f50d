//! Searching a diff, folding its hunks, and copying the one in focus.

use crate::tui::text::cut;
use std::collections::{BTreeSet, HashMap};

use super::folds::Folds;
use super::rows::{Heads, Layout, Row, Show};
use super::view::{CONTEXT, View, hunk_of};
use crate::messages::{count, diff as say};
use crate::proposal::Counts;
use crate::text::definition::DefinitionChange;

impl View {
    /// Looks for words while they are typed: from what is at the top on, round the end, and scrolls there. Whether
    /// they are anywhere.
    pub fn search(&mut self, words: &str) -> bool {
        self.words = words.to_string();
        self.show_shut();
        self.find_hits();
        self.hit = self.next_hit();
        words.is_empty() || self.show_hit()
    }

    /// Goes to the next place that holds the words, or to the one before, round the ends.
    pub fn search_on(&mut self, forward: bool) -> bool {
        let n = self.hits.len();
        let visible = self
            .hits
            .get(self.hit)
            .is_some_and(|row| (self.top..self.top + self.height()).contains(&self.laid.tops[*row]));
        self.hit = match (visible, forward) {
            _ if n == 0 => 0,
            (true, true) => (self.hit + 1) % n,
            (true, false) => (self.hit + n - 1) % n,
            // It was scrolled away: what is looked at counts.
            (false, true) => self.next_hit(),
            (false, false) => (self.next_hit() + n - 1) % n,
        };
        self.show_hit()
    }

    /// Returns the first hit at or below the top, else the first of all.
    fn next_hit(&self) -> usize {
        let here = self.laid.at(self.top);
        let next = self.hits.partition_point(|row| *row < here);
        if next < self.hits.len() { next } else { 0 }
    }

    /// Scrolls to the present hit and gives its hunk the focus. Whether there is one.
    fn show_hit(&mut self) -> bool {
        let Some(row) = self.hits.get(self.hit).copied() else { return false };
        let top = self.laid.tops[row].saturating_sub(usize::from(self.heads == Heads::All));
        self.top = top.min(self.last_top());
        self.follow();
        if let Some(hunk) = self.laid.rows.get(row).and_then(hunk_of) {
            (self.focus, self.on_head) = (Some(hunk), false);
        }
        true
    }

    fn holds(&self, row: usize) -> bool {
        let (file, row) = self.laid.rows[row];
        let file = &self.files[file as usize];
        let has = |line: &[u8]| contains(&String::from_utf8_lossy(line), &self.words);
        match row {
            Row::Head => contains(&file.path, &self.words),
            Row::Same { before, .. } => has(file.before.line(before)),
            Row::Pair { left, right, show, .. } => {
                left.is_some_and(|i| show != Show::Right && has(file.before.line(i)))
                    || right.is_some_and(|i| show != Show::Left && has(file.after.line(i)))
            }
            _ => false,
        }
    }

    /// Finds the rows that hold the words: for other words, and for other rows.
    pub(super) fn find_hits(&mut self) {
        let all = if self.words.is_empty() { 0 } else { self.laid.rows.len() };
        self.hits = (0..all).filter(|i| self.holds(*i)).collect();
        self.hit = self.hit.min(self.hits.len().saturating_sub(1));
    }

    /// Returns `2 of 7`: which of the rows that hold the words is the present one. None: nothing is looked for.
    pub fn hits(&self) -> Option<String> {
        let at = (self.hit + 1).min(self.hits.len());
        let hits = || cut::hits(at, self.hits.len());
        (!self.words.is_empty()).then(hits)
    }

    /// Returns the hunk in focus as a unified diff, for the clipboard.
    pub fn copy(&self) -> Option<String> {
        let (f, h) = self.focus?;
        let file = &self.files[f];
        let mut out = format!("--- a/{0}\n+++ b/{0}\n", file.path);
        let (mut body, mut counts) = (String::new(), (0usize, 0usize));
        let mut rows = Vec::new();
        file.rows(Layout::Unified, CONTEXT, &Folds::default().of(f), true, &mut rows);
        let (mut first, mut push) = (None, |sign: char, line: &[u8]| {
            body.push(sign);
            body.push_str(&String::from_utf8_lossy(line));
            if !line.ends_with(b"\n") {
                body.push_str("\n\\ No newline at end of file\n");
            }
        });
        for row in rows {
            match row {
                Row::Same { hunk: Some(hunk), before, after } if hunk == h => {
                    first.get_or_insert((before, after));
                    push(' ', file.before.whole(before));
                    counts = (counts.0 + 1, counts.1 + 1);
                }
                Row::Pair { hunk, left: Some(i), show: Show::Left, .. } if hunk == h => {
                    first.get_or_insert((i, file.hunks[h].after.start));
                    push('-', file.before.whole(i));
                    counts.0 += 1;
                }
                Row::Pair { hunk, right: Some(i), show: Show::Right, .. } if hunk == h => {
                    first.get_or_insert((file.hunks[h].before.start, i));
                    push('+', file.after.whole(i));
                    counts.1 += 1;
                }
                _ => {}
            }
        }
        let Some((b, a)) = first else { return file.note(h).map(str::to_string) };
        // A side without lines is counted from the line before it.
        let start = |at: usize, n: usize| if n == 0 { at } else { at + 1 };
        out.push_str(&format!("@@ -{},{} +{},{} @@\n", start(b, counts.0), counts.0, start(a, counts.1), counts.1));
        Some(out + &body)
    }

    /// Opens the folds around the hunk in focus, or closes them; one that is shut is opened with all of its definition.
    pub fn switch_folds(&mut self) {
        let Some((f, h)) = self.focus else { return };
        let around = [(f, h), (f, h + 1)];
        if self.folds.shut.contains(&(f, h)) {
            let own = self.same_definition((f, h), &|_| false);
            self.folds.shut.retain(|at| !own.contains(at));
        } else if around.iter().any(|slot| self.folds.open.contains(slot)) {
            self.folds.open.retain(|slot| !around.contains(slot));
        } else {
            self.folds.open.extend(around);
        }
        self.lay();
        self.show_focus();
    }

    /// Leaves the heads of the hunks alone, each with its definition, or shows all of them again.
    pub fn switch_shut(&mut self) {
        let all = self.hunks().filter(|(f, h)| self.files[*f].hunk_counts(*h) != Counts::default()).collect();
        self.folds.shut = if self.folds.shut.is_empty() { all } else { BTreeSet::new() };
        self.lay();
        self.show_focus();
    }

    /// Shows the lines of all hunks: what is looked for may be among them.
    pub(super) fn show_shut(&mut self) {
        if !std::mem::take(&mut self.folds.shut).is_empty() {
            self.lay();
        }
    }

    /// Returns the hunks that are decided with one, by definition: each that touches a definition of it, and of what moves,
    /// is renamed, comes or goes all parts, also where one of them shares its hunk with another definition.
    pub fn same_definition(&self, (f, h): (usize, usize), is_rejected: &dyn Fn(usize) -> bool) -> Vec<(usize, usize)> {
        let hunks = self.files.get(f).map_or(&[][..], |file| &file.hunks);
        let mut places: HashMap<&str, Vec<usize>> = HashMap::new();
        for (at, hunk) in hunks.iter().enumerate() {
            hunk.definitions.iter().for_each(|one| places.entry(&one.name).or_default().push(at));
        }
        let of = |at: usize| hunks.get(at).map_or(&[][..], |hunk| &hunk.definitions).iter();
        let (mut found, mut names) = (BTreeSet::from([h]), of(h).map(|one| one.name.as_str()).collect::<Vec<_>>());
        while let Some(name) = names.pop() {
            let open = |at: &usize| !is_rejected(*at);
            for at in places.remove(name).into_iter().flatten().filter(open).filter(|at| found.insert(*at)) {
                let whole = of(at).filter(|one| one.change != DefinitionChange::Changed);
                names.extend(whole.map(|one| one.name.as_str()));
            }
        }
        found.into_iter().map(|h| (f, h)).collect()
    }

    /// Returns a line about the definitions that are accepted with those of a hunk, as they share other hunks with them, and
    /// about their hunks that stay rejected; none: there is neither.
    pub fn beside_definition(&self, (f, h): (usize, usize), is_rejected: &dyn Fn(usize) -> bool) -> Option<String> {
        let hunks = &self.files.get(f)?.hunks;
        let own = &hunks.get(h)?.definitions;
        let accepted = self.same_definition((f, h), is_rejected);
        let others = accepted.iter().filter_map(|(_, at)| hunks.get(*at));
        let beside = others.flat_map(|hunk| &hunk.definitions).filter(|one| own.iter().all(|own| own.name != one.name));
        let mut names: Vec<String> =
            beside.map(|one| format!("{} ({})", one.name, say::definition_change(one.change))).collect();
        names.dedup();
        let left = self.same_definition((f, h), &|_| false).len() - accepted.len();
        let left = (left > 0).then(|| say::left_rejected(&count::hunks(left)));
        let lines = (!names.is_empty()).then(|| say::accepted_too(&names.join(", "))).into_iter().chain(left);
        lines.reduce(|all, line| all + "; " + &line)
    }
}

/// Returns whether `text` holds `words`; small letters stand for capitals too.
pub fn contains(text: &str, words: &str) -> bool {
    if words.chars().any(char::is_uppercase) { text.contains(words) } else { text.to_lowercase().contains(words) }
}
