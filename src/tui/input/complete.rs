//! Completion of mentions: the files under `@`, with a preview of the selected one.

use crate::context::mention::{Typing, typing, written};
use crate::protocol::{Listing, Query};
use crate::tui::text::highlight::Code;

/// The list under `@`.
#[derive(Debug, Clone, Default)]
pub struct Completion {
    /// The words that it completes.
    pub words: String,
    /// Files and the byte positions of matched letters, best first.
    pub hits: Vec<(String, Vec<u32>)>,
    /// Files in the index.
    pub total: usize,
    /// The walk over the workspace is over.
    pub complete: bool,
    /// The selected one.
    pub selected: usize,
    /// The first row shown.
    pub top: usize,
    /// An answer came.
    pub listed: bool,
    /// It was one for these words.
    pub fresh: bool,
    /// The beginning of the file that was previewed last.
    pub preview: Option<Preview>,
    /// First line of the preview.
    pub scroll: usize,
    /// Lines that were typed behind the path, with their colon; they go with the file.
    pub lines: String,
    /// Take the first file as soon as the answer is there: the key was quicker.
    pub hasty: bool,
}

/// A file's beginning.
#[derive(Debug, Clone)]
pub struct Preview {
    /// Normalised path.
    pub path: String,
    /// Its lines; `None`: not a text.
    pub lines: Option<Vec<String>>,
    /// The lines as a text to be coloured.
    pub code: Code,
    /// Lines in all.
    pub count: usize,
    /// Bytes.
    pub bytes: u64,
}

impl Completion {
    /// Returns what is under way at the caret, with the place that a file would take.
    pub fn at(text: &str, caret: usize) -> Option<Typing> {
        // `@rag words` is no file, and a colon that begins no line numbers is in no path that is offered.
        typing(text, caret).filter(|t| t.words != "rag" && !t.words.contains(':'))
    }

    /// Takes the lines typed behind the path; the preview goes there.
    pub fn set_lines(&mut self, lines: &str) {
        if self.lines != lines {
            self.lines = lines.to_string();
            self.scroll = self.first_line();
        }
    }

    /// Returns the line the preview begins with: the first one asked for.
    fn first_line(&self) -> usize {
        let first = self.lines.trim_start_matches(':').split('-').next().and_then(|n| n.parse::<usize>().ok());
        let last = self.preview.as_ref().and_then(|p| p.lines.as_ref()).map_or(0, |l| l.len().saturating_sub(1));
        first.unwrap_or(1).saturating_sub(1).min(last)
    }

    /// Returns a list for `words`, keeping what is shown until the answer comes.
    pub fn narrow(&mut self, words: &str) -> Vec<Query> {
        self.words = words.to_string();
        self.selected = 0;
        self.top = 0;
        self.fresh = false;
        vec![Query::Files(words.to_string())]
    }

    /// Asks for the same list again, because files came or went.
    pub fn again(&self) -> Vec<Query> {
        vec![Query::Files(self.words.clone())]
    }

    /// Takes an answer; late ones are dropped. Returns what to ask next.
    pub fn answer(&mut self, query: &Query, listing: &Listing) -> Vec<Query> {
        match (query, listing) {
            (Query::Files(words), Listing::Files { hits, total, complete }) if *words == self.words => {
                let chosen = self.path().filter(|_| self.listed && self.selected > 0).cloned();
                self.hits = hits.clone();
                (self.total, self.complete, self.listed) = (*total, *complete, true);
                self.fresh = *complete || !hits.is_empty();
                // More may have come before the one that was chosen meanwhile.
                let stays = chosen.and_then(|path| self.hits.iter().position(|(p, _)| *p == path));
                self.selected = stays.unwrap_or(self.selected.min(self.hits.len().saturating_sub(1)));
                let more = (!complete).then(|| query.clone());
                self.look().into_iter().chain(more).collect()
            }
            (Query::Text(queries), Listing::Text { path, text, lines, bytes }) => {
                if self.path() == Some(queries) {
                    let code = Code::of_file(path, text.as_deref().unwrap_or_default());
                    let text = text.as_ref().map(|t| t.lines().map(str::to_string).collect());
                    let preview = Preview { path: path.clone(), lines: text, code, count: *lines, bytes: *bytes };
                    self.preview = Some(preview);
                    self.scroll = self.first_line();
                }
                Vec::new()
            }
            (Query::Text(queries), Listing::Failed(_)) if self.path() == Some(queries) => {
                self.preview = None;
                Vec::new()
            }
            _ => Vec::new(),
        }
    }

    /// Returns the selected path.
    pub fn path(&self) -> Option<&String> {
        self.hits.get(self.selected).map(|(p, _)| p)
    }

    /// Returns what to put in place of the mention, with a space after a file so that typing goes on.
    pub fn chosen(&self) -> Option<String> {
        let path = self.path()?;
        let (mention, lines) = (written(path), self.lines.trim_end_matches([':', '-']));
        Some(if path.ends_with('/') { mention } else { format!("{mention}{lines} ") })
    }

    /// Moves the selection, in a list of `rows` rows. Returns what to ask.
    pub fn step(&mut self, down: bool, rows: usize) -> Vec<Query> {
        let last = self.hits.len().saturating_sub(1);
        self.selected = if down { (self.selected + 1).min(last) } else { self.selected.saturating_sub(1) };
        self.top = self.top.min(self.selected).max((self.selected + 1).saturating_sub(rows.max(1)));
        self.look()
    }

    /// Selects a row. Returns what to ask.
    pub fn select(&mut self, index: usize) -> Vec<Query> {
        self.selected = index.min(self.hits.len().saturating_sub(1));
        self.look()
    }

    /// Scrolls the preview by half of its rows.
    pub fn scroll(&mut self, down: bool, rows: usize) {
        let half = (rows / 2).max(1);
        let max = self.preview.as_ref().and_then(|p| p.lines.as_ref()).map_or(0, |l| l.len().saturating_sub(rows));
        self.scroll = if down { (self.scroll + half).min(max) } else { self.scroll.saturating_sub(half) };
    }

    fn look(&mut self) -> Vec<Query> {
        self.scroll = 0;
        match self.path() {
            Some(path) if self.preview.as_ref().is_none_or(|p| p.path != *path) => vec![Query::Text(path.clone())],
            _ => Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_previews_and_inserts() {
        let mut c = Completion::default();
        assert_eq!(c.narrow("mon"), [Query::Files("mon".into())]);
        let late = Listing::Files { hits: vec![("x".into(), vec![])], total: 9, complete: true };
        assert_eq!(c.answer(&Query::Files("m".into()), &late), []);
        let hits = vec![("src/money.rs".into(), vec![4, 5, 6]), ("a b.rs".into(), vec![])];
        let listing = Listing::Files { hits, total: 9, complete: true };
        assert_eq!(c.answer(&Query::Files("mon".into()), &listing), [Query::Text("src/money.rs".into())]);
        assert_eq!(c.chosen().as_deref(), Some("@src/money.rs "));
        assert_eq!(c.step(true, 5), [Query::Text("a b.rs".into())]);
        assert_eq!(c.chosen().as_deref(), Some("@\"a b.rs\" "));
    }

    #[test]
    fn asks_on_while_more_may_come_and_keeps_what_was_chosen() {
        let mut c = Completion::default();
        c.narrow("m");
        let query = Query::Files("m".into());
        let files = |names: &[&str], complete| Listing::Files {
            hits: names.iter().map(|n| (n.to_string(), vec![])).collect(),
            total: 9,
            complete,
        };
        assert_eq!(c.answer(&query, &files(&["m1", "m2"], false)), [Query::Text("m1".into()), query.clone()]);
        c.step(true, 5);
        assert_eq!(c.answer(&query, &files(&["m0", "m1", "m2"], true)), [Query::Text("m2".into())]);
        assert_eq!(c.path().map(String::as_str), Some("m2"));
    }

    #[test]
    fn words_after_a_colon_are_lines() {
        assert_eq!(Completion::at("see @src/a", 10).map(|t| t.range), Some(4..10));
        assert_eq!(
            Completion::at("see @src/a.rs:10", 16).map(|t| (t.words, t.lines)),
            Some(("src/a.rs".into(), ":10".into()))
        );
        assert_eq!(Completion::at("see @a:b", 8), None);
        let hits = vec![("src/a.rs".into(), vec![])];
        let mut c = Completion { hits, lines: ":10-".into(), ..Completion::default() };
        assert_eq!(c.chosen().as_deref(), Some("@src/a.rs:10 "));
        let lines = Some((1..=50).map(|n| n.to_string()).collect());
        let code = Code::of_file("src/a.rs", "");
        c.preview = Some(Preview { path: "src/a.rs".into(), lines, code, count: 50, bytes: 0 });
        c.set_lines(":10-12");
        assert_eq!((c.scroll, c.chosen().as_deref()), (9, Some("@src/a.rs:10-12 ")));
        assert_eq!(Completion::at("see @rag", 8), None);
        assert_eq!(Completion::at("me@example", 10), None);
    }
}
