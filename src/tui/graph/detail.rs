//! The right side: a definition with its references and history, or a conflict, as lines to move in.

use ratatui::text::Span;

use crate::messages::{graph as say, records};
use crate::protocol::{ConflictRow, DefinitionDetail, GraphLinks};
use crate::tui::action::Action;
use crate::tui::list;
use crate::tui::text::{show, wrap};

/// Cells beside a line: the bar, a space, the scroll thumb.
const AROUND: u16 = 4;

/// Something that is shown.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum DetailItem {
    Definition(DefinitionDetail),
    Conflict(ConflictRow),
    Failed(String),
}

/// A line of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum DetailLine {
    /// The head of a section, and the number of its entries.
    Head(&'static str, usize),
    /// A line of a text.
    Text(String),
    /// A line of an error, or of a warning.
    Fault(String, bool),
    /// A reference by its name and the place that refers, and the definition it leads to.
    Link {
        name: String,
        place: String,
        id: String,
    },
    /// An op of the history by its place there.
    Op(usize),
    /// Something about what stands around it.
    Note(String),
    Blank,
}

/// Something that is shown, and the place of the keys in it.
#[derive(Debug)]
pub(super) struct Detail {
    pub shown: DetailItem,
    pub lines: Vec<DetailLine>,
    /// The line under the keys.
    pub at: usize,
    pub top: usize,
    pub words: String,
    width: u16,
    height: usize,
}

impl Detail {
    pub fn new(shown: DetailItem, width: u16) -> Self {
        let lines = lines_of(&shown, width);
        Detail { shown, lines, at: 0, top: 0, words: String::new(), width, height: 1 }
    }

    /// Returns it with another state of the same thing.
    pub fn renewed(self, shown: DetailItem, width: u16) -> Self {
        let Detail { at, top, words, height, .. } = self;
        let mut detail = Detail { at, top, words, height, ..Detail::new(shown, width) };
        detail.fit();
        detail
    }

    /// Returns whether it shows the same definition or conflict.
    pub fn is_of(&self, other: &DetailItem) -> bool {
        match (&self.shown, other) {
            (DetailItem::Definition(a), DetailItem::Definition(b)) => a.id == b.id,
            (DetailItem::Conflict(a), DetailItem::Conflict(b)) => a.id == b.id,
            _ => false,
        }
    }

    /// Returns the definition that the line under the keys leads to.
    pub fn link(&self) -> Option<String> {
        match self.lines.get(self.at) {
            Some(DetailLine::Link { id, .. }) => Some(id.clone()),
            _ => None,
        }
    }

    /// Moves the keys.
    pub fn go(&mut self, action: Action) {
        let (last, page) = (self.lines.len().saturating_sub(1), self.height);
        let head = |line: &DetailLine| matches!(line, DetailLine::Head(..));
        self.at = match action {
            Action::NextItem => (self.at + 1..=last).find(|at| head(&self.lines[*at])).unwrap_or(last),
            Action::PreviousItem => (0..self.at).rfind(|at| head(&self.lines[*at])).unwrap_or(0),
            Action::NextMatch => self.find(self.at + 1),
            Action::PreviousMatch => {
                let hits = self.hits();
                hits.iter().rfind(|hit| **hit < self.at).or(hits.last()).copied().unwrap_or(self.at)
            }
            _ => list::moved(self.at, action, last, page).unwrap_or(self.at),
        };
        self.fit();
    }

    /// Looks for words, from the line under the keys on.
    pub fn look_for(&mut self, words: &str) {
        if self.words != words {
            self.words = words.to_string();
            self.at = self.find(self.at);
            self.fit();
        }
    }

    /// Returns the first line from one on that holds the words, round the end.
    fn find(&self, from: usize) -> usize {
        let hits = self.hits();
        hits.iter().find(|hit| **hit >= from).or(hits.first()).copied().unwrap_or(self.at)
    }

    fn hits(&self) -> Vec<usize> {
        let words = self.words.to_lowercase();
        let holds = |line: &DetailLine| self.text(line).to_lowercase().contains(&words);
        (0..self.lines.len()).filter(|at| !words.is_empty() && holds(&self.lines[*at])).collect()
    }

    fn text(&self, line: &DetailLine) -> String {
        match line {
            DetailLine::Head(text, _) => (*text).into(),
            DetailLine::Text(text) | DetailLine::Fault(text, _) | DetailLine::Note(text) => text.clone(),
            DetailLine::Link { name, place, .. } => format!("{name} {place}"),
            DetailLine::Op(at) => match &self.shown {
                DetailItem::Definition(found) => {
                    let op = &found.history[*at];
                    format!("{} {} {}", op.author, op.kind, op.summary)
                }
                _ => String::new(),
            },
            DetailLine::Blank => String::new(),
        }
    }

    /// Moves the keys to a row of the screen.
    pub fn click(&mut self, row: usize) {
        self.at = self.top + row;
        self.fit();
    }

    /// Takes the size of what is drawn next.
    pub fn measure(&mut self, width: u16, height: usize) {
        if width != self.width {
            (self.width, self.lines) = (width, lines_of(&self.shown, width));
        }
        self.height = height;
        self.fit();
    }

    fn fit(&mut self) {
        self.at = self.at.min(self.lines.len().saturating_sub(1));
        self.top = self.top.clamp((self.at + 1).saturating_sub(self.height.max(1)), self.at);
    }
}

/// Returns a text in lines of at most `width` cells.
fn wrapped(text: &str, width: u16) -> Vec<String> {
    let width = usize::from(width.saturating_sub(AROUND)).max(8);
    let line = |line: &str| -> Vec<String> {
        let line = show::plain(line);
        let rows = wrap::wrap(&[Span::raw(line)], width);
        rows.iter().map(|row| row.spans.iter().map(|span| span.content.as_ref()).collect()).collect()
    };
    text.lines().flat_map(line).collect()
}

fn lines_of(shown: &DetailItem, width: u16) -> Vec<DetailLine> {
    let mut lines = Vec::new();
    match shown {
        DetailItem::Failed(why) => lines.extend(wrapped(why, width).into_iter().map(DetailLine::Note)),
        DetailItem::Conflict(conflict) => {
            let message = records::of_definition(&conflict.message);
            let about = if message.is_empty() { &conflict.about } else { &*message };
            lines.extend(wrapped(about, width).into_iter().map(DetailLine::Text));
            if !conflict.lost.is_empty() {
                lines.extend([DetailLine::Blank, DetailLine::Head(say::lost(), 0)]);
                lines.extend(wrapped(&conflict.lost, width).into_iter().map(DetailLine::Text));
            }
            if let Some(link) = &conflict.definition {
                let links = GraphLinks { rows: vec![link.clone()], more: 0 };
                section(&mut lines, say::stands(), &links);
            }
            lines.push(DetailLine::Blank);
            let ways = [Some(say::keep_means()), conflict.can_take.then(say::take_means)];
            let ways = ways.into_iter().flatten().flat_map(|way| wrapped(way, width));
            lines.extend(ways.map(DetailLine::Note));
        }
        DetailItem::Definition(found) => {
            for fault in &found.faults {
                let message = records::of_definition(&fault.message);
                let rows = wrapped(format!("{} {message}", fault.code).trim_start(), width);
                lines.extend(rows.into_iter().map(|row| DetailLine::Fault(row, fault.is_warning)));
            }
            if !found.faults.is_empty() {
                lines.push(DetailLine::Blank);
            }
            lines.extend(wrapped(&found.text, width).into_iter().map(DetailLine::Text));
            if found.is_cut {
                lines.push(DetailLine::Note(say::cut().into()));
            }
            if found.is_file {
                return lines;
            }
            section(&mut lines, say::uses(), &found.uses);
            section(&mut lines, say::used_by(), &found.used_by);
            lines.extend([DetailLine::Blank, DetailLine::Head(say::history(), found.history.len() + found.older)]);
            lines.extend((0..found.history.len()).map(DetailLine::Op));
            if found.older > 0 {
                lines.push(DetailLine::Note(crate::messages::count::more(&found.older)));
            }
        }
    }
    lines
}

fn section(lines: &mut Vec<DetailLine>, head: &'static str, links: &GraphLinks) {
    lines.extend([DetailLine::Blank, DetailLine::Head(head, links.rows.len() + links.more)]);
    lines.extend(links.rows.iter().map(|link| DetailLine::Link {
        name: link.name.clone(),
        place: link.place.clone(),
        id: link.id.clone(),
    }));
    if links.more > 0 {
        lines.push(DetailLine::Note(crate::messages::count::more(&links.more)));
    }
}
