//! The hunks of a written change that are undone in a later state of its file.

use super::hunks::lines;
use super::merge::is_contained;
use super::{FileChange, HunkKind, State};

/// The change of one file that was written, and which of its hunks restores have undone since.
#[derive(Debug)]
pub struct WrittenChange {
    change: FileChange,
    undone: Vec<bool>,
}

impl WrittenChange {
    /// Creates a change of which nothing is undone.
    pub fn new(path: &str, before: State, after: State) -> Self {
        let change = FileChange::new(path, before, after, "", &[]);
        WrittenChange { undone: vec![false; change.hunks.len()], change }
    }

    /// Takes in the state of the file that an undo, redo or restore left. A hunk whose lines were changed again keeps what
    /// was known of it.
    pub fn restored(&mut self, now: &State) {
        for hunk in 0..self.undone.len() {
            if let Some(undone) = self.is_undone(hunk, now) {
                self.undone[hunk] = undone;
            }
        }
    }

    /// Returns how many of its hunks are undone, and how many there are.
    pub fn count(&self) -> (usize, usize) {
        (self.undone.iter().filter(|undone| **undone).count(), self.undone.len())
    }

    /// Returns whether a state is without a hunk. None: its lines are neither as before it nor as after.
    fn is_undone(&self, hunk: usize, now: &State) -> Option<bool> {
        let FileChange { before, after, .. } = &self.change;
        if now == before || now == after {
            return Some(now == before);
        }
        match self.without(hunk) {
            Some(without) => {
                let is_without = is_contained(after, &without, now)?;
                (is_without || is_contained(&without, after, now)?).then_some(is_without)
            }
            // What is no text is there as a whole, or is not.
            None if now.is_same_but_for_mode(before) => Some(true),
            None if now.is_same_but_for_mode(after) => Some(false),
            None if before.is_absent() || after.is_absent() => Some(now.is_absent() == before.is_absent()),
            None => None,
        }
    }

    /// Returns the state after the change without one of its hunks, where that is a run of lines.
    fn without(&self, hunk: usize) -> Option<State> {
        let hunk = self.change.hunks.get(hunk).filter(|hunk| hunk.kind == HunkKind::Lines)?;
        let (before, after) = (lines(self.change.before.bytes()?)?, lines(self.change.after.bytes()?)?);
        let parts = [after.get(..hunk.after.start)?, before.get(hunk.before.clone())?, after.get(hunk.after.end..)?];
        Some(State::file(parts.concat().concat()))
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
}
