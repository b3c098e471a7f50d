//! The hunks of a written change that are undone in a later state of its file.

use std::ops::Range;

use super::decision::keep;
use super::merge::{has_change, is_contained};
use super::{Choice, FileChange, Hunk, HunkKind, State, lines_touch};

/// The most runs of one hunk that are looked at one by one.
const MOST_RUNS: usize = 64;

/// The change of one file that was written, and which of its hunks restores have undone since.
#[derive(Debug)]
pub struct WrittenChange {
    hunks: Vec<Hunk>,
    /// The change, cut into runs of changed lines: of a hunk one or more.
    runs: FileChange,
    /// A mark for each run: it is undone.
    undone: Vec<bool>,
}

impl WrittenChange {
    /// Creates a change of which nothing is undone.
    pub fn new(path: &str, before: State, after: State) -> Self {
        let mut runs = FileChange::new(path, before, after, "", &[]);
        let hunks = runs.hunks.clone();
        runs.cut_further(|_, _| true);
        WrittenChange { hunks, undone: vec![false; runs.hunks.len()], runs }
    }

    /// Takes in the state of the file that an undo, redo or restore left. Lines that were changed again keep what was known
    /// of them.
    pub fn restored(&mut self, now: &State) {
        for hunk in &self.hunks {
            let of_hunk: Vec<usize> = self.runs_of(hunk).collect();
            match self.is_undone(hunk, now) {
                Some(undone) => of_hunk.into_iter().for_each(|run| self.undone[run] = undone),
                // A part of it, perhaps, that another call made: each is a comparison of the whole file.
                None if (2..=MOST_RUNS).contains(&of_hunk.len()) => {
                    for run in of_hunk {
                        self.undone[run] = self.is_undone(&self.runs.hunks[run], now).unwrap_or(self.undone[run]);
                    }
                }
                None => {}
            }
        }
    }

    /// Returns how many of its hunks are undone, and how many there are.
    pub fn count(&self) -> (usize, usize) {
        let undone = self.hunks.iter().filter(|hunk| self.runs_of(hunk).all(|run| self.undone[run]));
        (undone.count(), self.hunks.len())
    }

    /// Returns its runs of changed lines, in the text after it, each with whether it is undone.
    pub fn lines(&self) -> Vec<(Range<usize>, bool)> {
        let runs = self.runs.hunks.iter().zip(&self.undone).filter(|(run, _)| run.kind == HunkKind::Lines);
        runs.map(|(run, undone)| (run.after.clone(), *undone)).collect()
    }

    fn runs_of(&self, hunk: &Hunk) -> impl Iterator<Item = usize> {
        (0..self.runs.hunks.len()).filter(move |run| is_part(&self.runs.hunks[*run], hunk))
    }

    /// Returns whether a state is without a hunk or a run of it. None: its lines are neither as before it nor as after.
    fn is_undone(&self, hunk: &Hunk, now: &State) -> Option<bool> {
        let FileChange { before, after, .. } = &self.runs;
        if now == before || now == after {
            return Some(now == before);
        }
        let is_text = hunk.kind == HunkKind::Lines;
        match is_text.then(|| self.runs.without(|run| is_part(run, hunk))).flatten() {
            Some(without) => {
                let is_without = is_contained(after, &without, now)?;
                if is_without || is_contained(&without, after, now)? {
                    return Some(is_without);
                }
                // Someone else's lines may stand right beside its own.
                let (after, without, now) = (after.text()?, without.text()?, now.text()?);
                let is_without = has_change(after, without, now);
                (is_without != has_change(without, after, now)).then_some(is_without)
            }
            // What is no text is there as a whole, or is not.
            None if now.is_same_but_for_mode(before) => Some(true),
            None if now.is_same_but_for_mode(after) => Some(false),
            None if before.is_absent() || after.is_absent() => Some(now.is_absent() == before.is_absent()),
            None => None,
        }
    }
}

/// Returns whether a run of changed lines is a part of a hunk, or all of it.
fn is_part(run: &Hunk, hunk: &Hunk) -> bool {
    let is_in = |inner: &Range<usize>, outer: &Range<usize>| outer.start <= inner.start && inner.end <= outer.end;
    run.kind == hunk.kind && is_in(&run.before, &hunk.before) && is_in(&run.after, &hunk.after)
}

impl FileChange {
    /// Returns the state after the change without its runs of changed lines that touch these, of the text after. None: one
    /// of its states is no text.
    pub fn without_lines(&self, lines: &[Range<usize>]) -> Option<State> {
        let mut runs = self.clone();
        runs.cut_further(|_, _| true);
        runs.without(|run| run.kind == HunkKind::Lines && lines.iter().any(|lines| lines_touch(lines, &run.after)))
    }

    /// Returns the state after the change without some of its hunks.
    fn without(&self, is_out: impl Fn(&Hunk) -> bool) -> Option<State> {
        let choice = |hunk: &Hunk| if is_out(hunk) { Choice::Reject } else { Choice::Accept };
        let choices: Vec<Choice> = self.hunks.iter().map(choice).collect();
        Some(State::file(keep(self, &choices)?).with_mode(self.after.mode()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> State {
        State::file(text.as_bytes())
    }

    const BEFORE: &str = "one\ntwo\n3\n4\n5\n6\n7\n8\nnine\nten\n";
    const AFTER: &str = "ONE\ntwo\n3\n4\n5\n6\n7\n8\nNINE\nten\n";

    #[test]
    fn hunks_are_undone_one_by_one_also_below_later_changes() {
        let mut change = WrittenChange::new("a", text(BEFORE), text(AFTER));
        let mut after = |now: &str| {
            change.restored(&text(now));
            change.count()
        };
        assert_eq!(after(AFTER), (0, 2));
        assert_eq!(after(&BEFORE.replace("nine", "NINE")), (1, 2));
        assert_eq!(after(BEFORE), (2, 2));
        assert_eq!(after(AFTER), (0, 2), "a redo brings it back");
        // A line of someone else's stands between.
        let others = |text: &str| text.replace("5\n", "5\nfive and a half\n");
        assert_eq!(after(&others(&AFTER.replace("ONE", "one"))), (1, 2));
        assert_eq!(after(&others(BEFORE)), (2, 2));
        assert_eq!(after(&others(AFTER)), (0, 2));
    }

    #[test]
    fn hunks_are_undone_also_where_others_put_lines_beside_them() {
        let mut change = WrittenChange::new("a", text(BEFORE), text(AFTER));
        let beside = |text: &str| text.replace("two\n", "beside\ntwo\n").replace("ten\n", "under\nten\n");
        change.restored(&text(&beside(BEFORE)));
        assert_eq!(change.count(), (2, 2));
        change.restored(&text(&beside(&AFTER.replace("ONE", "one"))));
        assert_eq!(change.count(), (1, 2));
        change.restored(&text(&beside(AFTER)));
        assert_eq!(change.count(), (0, 2));
    }

    #[test]
    fn what_was_changed_again_keeps_what_was_known() {
        let mut change = WrittenChange::new("a", text("one\n"), text("two\n"));
        change.restored(&text("three\n"));
        assert_eq!(change.count(), (0, 1));
        change.restored(&text("one\n"));
        change.restored(&text("three\n"));
        assert_eq!(change.count(), (1, 1));
    }

    #[test]
    fn a_file_that_was_made_is_undone_when_it_is_gone() {
        let mut change = WrittenChange::new("a", State::Absent, text("two\n"));
        change.restored(&text("two\nthree\n"));
        assert_eq!(change.count(), (0, 1));
        change.restored(&State::Absent);
        assert_eq!(change.count(), (1, 1));
        let mut change = WrittenChange::new("a", text("two\n"), State::Absent);
        change.restored(&text("two\n"));
        assert_eq!(change.count(), (1, 1));
        let image = |byte: u8| State::file([0xff, byte]);
        let mut change = WrittenChange::new("a", image(1), image(2));
        change.restored(&image(1));
        assert_eq!(change.count(), (1, 1));
        change.restored(&image(3));
        assert_eq!(change.count(), (1, 1));
    }

    #[test]
    fn lines_side_by_side_are_undone_apart() {
        let (before, after) = ("one\n2\nthree\n4\n", "ONE\n2\nTHREE\n4\n");
        let mut change = WrittenChange::new("a", text(before), text(after));
        assert_eq!((change.count(), change.lines()), ((0, 1), vec![(0..1, false), (2..3, false)]));
        let first =
            FileChange::new("a", text(before), text(after), "", &[]).without_lines(std::slice::from_ref(&(0..1)));
        assert_eq!(first, Some(text("one\n2\nTHREE\n4\n")));
        change.restored(&first.expect("a text"));
        assert_eq!((change.count(), change.lines()), ((0, 1), vec![(0..1, true), (2..3, false)]));
        change.restored(&text(before));
        assert_eq!((change.count(), change.lines()), ((1, 1), vec![(0..1, true), (2..3, true)]));
    }

    #[test]
    fn a_hunk_of_many_runs_is_undone_as_a_whole_alone() {
        let lines = |word: &str| (0..100).map(|n| format!("{word} {n}\nsame {n}\n")).collect::<String>();
        let (before, after) = (lines("old"), lines("new"));
        let mut change = WrittenChange::new("a", text(&before), text(&after));
        assert_eq!((change.count(), change.lines().len()), ((0, 1), 100));
        change.restored(&text(&after.replace("new 7\n", "old 7\n")));
        assert!(change.lines().iter().all(|(_, undone)| !undone), "{:?}", change.lines());
        change.restored(&text(&before));
        assert_eq!(change.count(), (1, 1));
    }
}
