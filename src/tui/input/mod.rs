//! The input: a small editor with folds for large pastes, and what stands around it: completion, history, the
//! queue, a question of the model.
//!
//! A fold is one character of the text (from the private plane 15) that stands for a pasted text kept aside, so
//! that 5 MB cost no more than a letter to move over, draw or undo. [`Editor::expanded`] puts it back.

pub mod complete;
pub mod composer;
mod edit;
pub mod history;
pub mod question;
pub mod queue;
mod rows;

use unicode_segmentation::UnicodeSegmentation;

pub use rows::{InputRow, InputRows, RowPart};

use crate::messages::app as say;
use crate::text::number::thousands;

/// The first character that stands for a fold; the n-th fold is the n-th character from it.
const FOLD: u32 = 0xF0000;
/// Folds that fit into the plane.
const FOLDS: usize = 0xFFFD;
/// A paste above this many lines is folded.
const FOLD_LINES: usize = 8;
/// A paste above this many bytes is folded.
const FOLD_BYTES: usize = 1000;
/// A text of more bytes or lines was not typed: it comes back folded from the history of an earlier run.
const TYPED_BYTES: usize = 8 * 1024;
const TYPED_LINES: usize = 60;
/// Folds that are looked for in a text that comes back.
const KNOWN_FOLDS: usize = 32;
/// Steps that can be undone.
const UNDO: usize = 200;

/// A text being written, with a caret.
#[derive(Debug, Clone, Default)]
pub struct Editor {
    text: String,
    /// The position in bytes, at a grapheme's edge.
    caret: usize,
    folds: Vec<Fold>,
    killed: String,
    undo: Vec<(String, usize)>,
    redo: Vec<(String, usize)>,
    /// The kind of the last change: a run of one kind is undone as one.
    run: Run,
    /// The column that Up and Down keep, in cells.
    goal: Option<usize>,
    /// Cells in a row, as drawn last.
    width: usize,
}

/// A pasted text that is kept aside.
#[derive(Debug, Clone)]
struct Fold {
    text: String,
    /// Its text on the screen; counting the lines of 5 MB at each drawing would be felt.
    label: String,
}

/// Kinds of change that join into one step of undo.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Run {
    #[default]
    None,
    Typing,
    Deleting,
}

impl Editor {
    /// Returns an editor with a text, the caret at its end.
    pub fn with(text: &str) -> Editor {
        let mut editor = Editor::default();
        editor.set(text);
        editor
    }

    /// Returns the text with folds as single characters.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the text as it is meant: pastes put back in place.
    pub fn expanded(&self) -> String {
        if !self.text.contains(is_fold) {
            return self.text.clone();
        }
        let mut out = String::with_capacity(self.text.len() + self.folds.iter().map(|f| f.text.len()).sum::<usize>());
        for c in self.text.chars() {
            match self.fold(c) {
                Some(fold) => out.push_str(&fold.text),
                None => out.push(c),
            }
        }
        out
    }

    /// Returns where the caret is, in bytes of [`Editor::text`].
    pub fn caret(&self) -> usize {
        self.caret
    }

    /// Returns whether nothing is written.
    pub fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// Puts another text in place, large ones folded; undo brings the old one back.
    pub fn set(&mut self, text: &str) {
        self.step(Run::None);
        self.text.clear();
        self.caret = 0;
        self.put_folded(text);
    }

    /// Puts a text at the caret, what was pasted before folded as it was; a text that nobody typed becomes one fold.
    fn put_folded(&mut self, text: &str) {
        let found = |fold: &Fold| text.find(&fold.text).map(|at| at..at + fold.text.len());
        let newest = self.folds.iter().enumerate().rev().take(KNOWN_FOLDS);
        let fold = newest.filter_map(|(n, fold)| Some((n, found(fold)?))).max_by_key(|(_, place)| place.len());
        match fold.and_then(|(n, place)| Some((char::from_u32(FOLD + n as u32)?, place))) {
            Some((mark, place)) => {
                self.put_folded(&text[..place.start]);
                self.put(mark.encode_utf8(&mut [0; 4]));
                self.put_folded(&text[place.end..]);
            }
            None if text.len() > TYPED_BYTES || text.lines().count() > TYPED_LINES || text.contains(is_fold) => {
                self.insert_fold(text);
            }
            None => self.put(text),
        }
    }

    /// Empties it; undo brings the text back.
    pub fn clear(&mut self) {
        self.step(Run::None);
        self.text.clear();
        self.caret = 0;
    }

    /// Types one character.
    pub fn type_char(&mut self, c: char) {
        self.step(Run::Typing);
        if is_fold(c) {
            self.insert_fold(&c.to_string())
        } else {
            self.put(c.encode_utf8(&mut [0; 4]))
        }
        if c.is_whitespace() {
            // Undo goes word by word.
            self.run = Run::None;
        }
    }

    /// Pastes; a large text becomes a fold.
    pub fn paste(&mut self, text: &str) {
        self.step(Run::None);
        let clean = text.replace("\r\n", "\n").replace('\r', "\n");
        let large = clean.len() > FOLD_BYTES || clean.lines().count() > FOLD_LINES || clean.contains(is_fold);
        if large { self.insert_fold(&clean) } else { self.put(&clean) }
    }

    /// Puts `text` in place of the bytes `range`, the caret behind it.
    pub fn replace(&mut self, range: std::ops::Range<usize>, text: &str) {
        self.step(Run::None);
        self.text.replace_range(range.clone(), text);
        self.caret = range.start + text.len();
    }

    /// Tells the width that is drawn next: Up and Down move by the rows as they are drawn.
    pub fn measure(&mut self, width: usize) {
        self.width = width;
    }

    /// Returns what is behind a fold's character.
    fn fold(&self, c: char) -> Option<&Fold> {
        if !is_fold(c) {
            return None;
        }
        self.folds.get((c as u32 - FOLD) as usize)
    }

    fn insert_fold(&mut self, pasted: &str) {
        let mark = u32::try_from(self.folds.len()).ok().filter(|_| self.folds.len() < FOLDS);
        match mark.and_then(|n| char::from_u32(FOLD + n)) {
            Some(mark) => {
                self.folds.push(Fold { text: pasted.to_string(), label: fold_label(pasted) });
                self.put(mark.encode_utf8(&mut [0; 4]));
            }
            // 65,533 pastes later the text itself will do.
            None => self.put(&pasted.replace(is_fold, "")),
        }
    }

    fn put(&mut self, text: &str) {
        self.text.insert_str(self.caret, text);
        self.caret += text.len();
        self.goal = None;
    }

    /// Remembers the present state for undo, unless this change continues a run.
    fn step(&mut self, run: Run) {
        self.goal = None;
        if run == Run::None || run != self.run {
            self.undo.push((self.text.clone(), self.caret));
            if self.undo.len() > UNDO {
                self.undo.remove(0);
            }
        }
        self.redo.clear();
        self.run = run;
    }

    /// Returns the grapheme edge before `at`.
    fn before(&self, at: usize) -> usize {
        self.text[..at].grapheme_indices(true).next_back().map_or(0, |(i, _)| i)
    }

    /// Returns the grapheme edge after `at`.
    fn after(&self, at: usize) -> usize {
        self.text[at..].graphemes(true).next().map_or(at, |g| at + g.len())
    }
}

/// Returns whether a character may stand for a fold.
fn is_fold(c: char) -> bool {
    (FOLD..FOLD + FOLDS as u32).contains(&(c as u32))
}

/// Returns `[pasted 120 lines]`.
fn fold_label(pasted: &str) -> String {
    match pasted.lines().count() {
        0 | 1 => say::pasted_characters(&thousands(pasted.chars().count())),
        n => say::pasted_lines(&thousands(n)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::action::Action;
    use proptest::prelude::*;

    fn type_in(editor: &mut Editor, text: &str) {
        text.chars().for_each(|c| editor.type_char(c));
    }

    #[test]
    fn large_pastes_fold_and_come_back_whole() {
        let mut e = Editor::with("look: ");
        let big = "line\n".repeat(120);
        e.paste(&big);
        type_in(&mut e, " ok");
        assert_eq!(e.expanded(), format!("look: {big} ok"));
        assert!(e.text().len() < 20);
        assert_eq!(e.rows(60).rows[0].text(), "look: [pasted 120 lines] ok");
        e.act(Action::WordLeft);
        e.act(Action::Left);
        e.act(Action::Backspace);
        assert_eq!(e.expanded(), "look:  ok");
        e.act(Action::UndoTyping);
        assert_eq!(e.expanded(), format!("look: {big} ok"));
    }

    #[test]
    fn a_large_paste_comes_back_folded() {
        let mut e = Editor::with("look: ");
        let (big, other) = ("line\n".repeat(20), "x".repeat(2000));
        e.paste(&big);
        type_in(&mut e, " and ");
        e.paste(&other);
        let sent = e.expanded();
        e.clear();
        e.set(&sent);
        assert_eq!(e.expanded(), sent);
        assert_eq!(e.rows(80).rows[0].text(), "look: [pasted 20 lines] and [pasted 2,000 characters]");
        // In another run nothing is known of the paste; only what nobody types is folded.
        let mut fresh = Editor::default();
        fresh.set(&"typed\n".repeat(12));
        assert_eq!(fresh.text(), "typed\n".repeat(12));
        fresh.set(&"line\n".repeat(500));
        assert_eq!(fresh.rows(40).rows[0].text(), "[pasted 500 lines]");
    }

    #[test]
    fn a_paste_of_five_megabytes_is_quick_and_exact() {
        let big = "é\r\n".repeat(1_700_000);
        let mut e = Editor::default();
        e.paste(&big);
        e.act(Action::Left);
        type_in(&mut e, "x");
        assert_eq!(e.expanded().len(), 1 + 1_700_000 * 3);
    }

    #[test]
    fn undo_goes_by_words_and_redo_comes_back() {
        let mut e = Editor::default();
        type_in(&mut e, "one two");
        e.act(Action::UndoTyping);
        assert_eq!(e.text(), "one ");
        e.act(Action::UndoTyping);
        assert_eq!(e.text(), "");
        assert!(!e.act(Action::UndoTyping));
        e.act(Action::RedoTyping);
        e.act(Action::RedoTyping);
        assert_eq!(e.text(), "one two");
        assert!(!e.act(Action::RedoTyping));
    }

    #[test]
    fn words_and_lines_are_killed_and_yanked() {
        let mut e = Editor::with("fix src/cart.rs now\nsecond");
        e.act(Action::DeleteWordLeft);
        assert_eq!(e.text(), "fix src/cart.rs now\n");
        e.act(Action::Up);
        e.act(Action::LineEnd);
        e.act(Action::DeleteToStart);
        assert_eq!(e.text(), "\n");
        e.act(Action::Yank);
        assert_eq!(e.text(), "fix src/cart.rs now\n");
        e.act(Action::LineStart);
        e.act(Action::DeleteWordRight);
        assert_eq!(e.text(), " src/cart.rs now\n");
    }

    #[test]
    fn up_and_down_keep_the_column_over_wide_rows() {
        let mut e = Editor::with("価格を直す\nab\n単位テスト");
        e.measure(40);
        assert!(e.act(Action::Up));
        assert!(e.act(Action::Up));
        assert_eq!(e.rows(40).caret, (0, 10));
        assert!(!e.act(Action::Up));
        assert!(e.act(Action::Down) && e.act(Action::Down));
        assert_eq!(e.rows(40).caret, (2, 10));
        assert!(!e.act(Action::Down));
    }

    proptest! {
        #[test]
        fn the_caret_stays_at_an_edge(keys in prop::collection::vec(0usize..24, 0..60)) {
            let mut e = Editor::default();
            e.measure(7);
            for k in keys {
                match k {
                    0 => e.type_char('a'),
                    1 => e.type_char(' '),
                    2 => e.type_char('価'),
                    3 => e.type_char('\u{301}'),
                    4 => e.paste("x\ny 👩‍👩‍👧 z"),
                    5 => e.paste(&"p\n".repeat(20)),
                    6 => { e.act(Action::NewLine); }
                    7 => { e.act(Action::Backspace); }
                    8 => { e.act(Action::Delete); }
                    9 => { e.act(Action::Up); }
                    10 => { e.act(Action::Down); }
                    11 => { e.act(Action::Left); }
                    12 => { e.act(Action::Right); }
                    13 => { e.act(Action::WordLeft); }
                    14 => { e.act(Action::WordRight); }
                    15 => { e.act(Action::DeleteWordLeft); }
                    16 => { e.act(Action::DeleteWordRight); }
                    17 => { e.act(Action::UndoTyping); }
                    18 => { e.act(Action::RedoTyping); }
                    19 => { e.act(Action::DeleteToEnd); }
                    20 => { e.act(Action::DeleteToStart); }
                    21 => { e.act(Action::Yank); }
                    22 => { e.act(Action::LineStart); }
                    _ => { e.act(Action::LineEnd); }
                }
                prop_assert!(e.text.is_char_boundary(e.caret));
                let rows = e.rows(7);
                prop_assert!(rows.caret.0 < rows.rows.len());
                for row in &rows.rows {
                    prop_assert!(row.cells() <= 7 || row.parts.len() == 1, "{:?}", row);
                }
            }
        }
    }
}
