//! The newest lines of what a command prints, as the pane draws them.

use std::collections::VecDeque;

use crate::protocol::PreviewLine;

/// The most lines that are held.
const MOST: usize = 2_000;
/// And their bytes.
const MOST_BYTES: usize = 2 << 20;
/// The most characters of a line.
const LONGEST: usize = 2_000;

/// The end of the output of a command.
#[derive(Debug, Default)]
pub(super) struct PrintedLines {
    /// Whole lines.
    lines: VecDeque<String>,
    bytes: usize,
    /// The number of whole lines so far.
    whole: usize,
    /// The line that is not over yet; empty: there is none.
    begun: String,
}

impl PrintedLines {
    /// Takes whole lines, before which `missed` ones were left out, and the line after them that is not over yet.
    pub(super) fn take(&mut self, missed: usize, text: &str, begun: &str) {
        if missed > 0 {
            self.lines.clear();
            self.bytes = 0;
        }
        self.whole += missed;
        for line in text.lines() {
            let line = cut(line);
            self.whole += 1;
            self.bytes += line.len();
            self.lines.push_back(line);
            while self.lines.len() > MOST || self.bytes > MOST_BYTES {
                self.bytes -= self.lines.pop_front().map_or(0, |line| line.len());
            }
        }
        self.begun = cut(begun);
    }

    /// Returns the number of lines so far, the unfinished one among them.
    pub(super) fn count(&self) -> usize {
        self.whole + usize::from(!self.begun.is_empty())
    }

    /// Returns the number of whole lines so far.
    pub(super) fn whole(&self) -> usize {
        self.whole
    }

    /// Returns the number of lines before those that are held.
    pub(super) fn left_out(&self) -> usize {
        self.whole - self.lines.len()
    }

    /// Returns the whole lines that are held, from line `first` of the output on, counted from 0.
    pub(super) fn whole_from(&self, first: usize) -> impl Iterator<Item = &str> {
        self.lines.range(first.saturating_sub(self.left_out()).min(self.lines.len())..).map(String::as_str)
    }

    /// Returns the line that is not over yet; none: there is none.
    pub(super) fn begun(&self) -> Option<&str> {
        Some(self.begun.as_str()).filter(|line| !line.is_empty())
    }

    /// Returns the last lines that are held, at most this many.
    pub(super) fn last(&self, count: usize) -> Vec<PreviewLine> {
        let whole = count.saturating_sub(usize::from(!self.begun.is_empty()));
        let lines = self.whole_from(self.whole.saturating_sub(whole)).chain(self.begun());
        lines.take(count).map(|text| PreviewLine { sign: ' ', text: text.into() }).collect()
    }

    /// Returns the number of lines that are held.
    pub(super) fn held(&self) -> usize {
        self.count() - self.left_out()
    }
}

fn cut(line: &str) -> String {
    match line.char_indices().nth(LONGEST) {
        None => line.into(),
        Some((at, _)) => format!("{}…", &line[..at]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(lines: Vec<PreviewLine>) -> Vec<String> {
        lines.into_iter().map(|line| line.text).collect()
    }

    #[test]
    fn the_newest_lines_are_held_and_all_are_counted() {
        let mut printed = PrintedLines::default();
        printed.take(0, "one\ntwo\n", "thr");
        assert_eq!(
            (printed.count(), printed.left_out(), texts(printed.last(2))),
            (3, 0, vec!["two".into(), "thr".into()])
        );
        printed.take(0, "three\n", "");
        assert_eq!((printed.count(), printed.begun(), texts(printed.last(1))), (3, None, vec!["three".into()]));
        let many: String = (0..MOST).map(|n| format!("line {n}\n")).collect();
        printed.take(0, &many, "");
        assert_eq!((printed.count(), printed.left_out(), printed.held()), (MOST + 3, 3, MOST));
        // What was left out in between leaves nothing before it that would seem to stand beside it.
        printed.take(7, "x\n", "");
        assert_eq!(
            (printed.count(), printed.held(), printed.whole_from(0).collect::<Vec<_>>()),
            (MOST + 11, 1, vec!["x"])
        );
    }

    #[test]
    fn long_lines_are_cut_and_bytes_are_bounded() {
        let mut printed = PrintedLines::default();
        let long = "é".repeat(LONGEST + 1);
        printed.take(0, &format!("{long}\n").repeat(1_500), "");
        assert!(printed.held() < 1_000 && printed.bytes <= MOST_BYTES, "{}", printed.held());
        let line = texts(printed.last(1)).remove(0);
        assert!(line.ends_with('…') && line.chars().count() == LONGEST + 1);
    }
}
