//! The lines of the list, laid out once for each page that comes.

use crate::protocol::GraphPage;

/// A line of the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum GraphLine {
    /// The store that is shown, where several are.
    Store,
    /// One of the stores beside it.
    Another(usize),
    /// The conflicts begin.
    Conflicts,
    /// A layer or a file begins: the row that is its first.
    Group(usize),
    /// An entry by its place among them.
    Entry(usize),
}

/// The lines of a page.
#[derive(Debug, Default)]
pub(super) struct ListLines {
    /// All of them, in order.
    pub(super) all: Vec<GraphLine>,
    /// The first entry of the conflicts and of each layer or file.
    pub(super) starts: Vec<usize>,
    /// The number of rows that are marked as having errors.
    pub(super) marked: usize,
    /// The line of each entry.
    of_entry: Vec<usize>,
}

impl ListLines {
    /// Lays out a page.
    pub(super) fn of(page: &GraphPage) -> ListLines {
        let mut lines = ListLines::default();
        if !page.beside.is_empty() {
            lines.all.push(GraphLine::Store);
            lines.all.extend((0..page.beside.len()).map(GraphLine::Another));
        }
        for at in 0..page.conflicts.len() {
            if at == 0 {
                lines.begin(GraphLine::Conflicts);
            }
            lines.add_entry();
        }
        for (at, row) in page.rows.iter().enumerate() {
            if at == 0 || page.rows[at - 1].group != row.group {
                lines.begin(GraphLine::Group(at));
            }
            lines.add_entry();
            lines.marked += usize::from(row.errors > 0);
        }
        lines
    }

    fn begin(&mut self, heading: GraphLine) {
        self.all.push(heading);
        self.starts.push(self.of_entry.len());
    }

    fn add_entry(&mut self) {
        let at = self.of_entry.len();
        self.of_entry.push(self.all.len());
        self.all.push(GraphLine::Entry(at));
    }

    /// Returns the line of an entry; the first line where there is none.
    pub(super) fn of_entry(&self, at: usize) -> usize {
        self.of_entry.get(at).copied().unwrap_or(0)
    }
}
