//! The pane's view of a call, and the choice of calls that are shown.

use super::fields::Field;
use crate::protocol::{Call, CallState, ItemId, PreviewLine};
use crate::text::number::thousands;
use crate::tui::pane::chat::StepWords;
use crate::tui::text::{cut, show, wrap};

/// Lines of an unfinished argument that are shown: its last ones.
pub(super) const UNFINISHED_LINES: usize = 4;

/// The calls that are folded into the first row.
#[derive(Debug, Default)]
pub(super) struct EarlierCalls {
    /// The number of folded calls; 0: none is.
    pub(super) count: usize,
    /// True if the person unfolded the earlier calls.
    pub(super) open: bool,
    /// The summary of what they did.
    pub(super) words: StepWords,
}

/// The calls that are looked for.
#[derive(Debug, Default)]
pub(super) struct Filter {
    /// Only those that failed show.
    pub(super) failed: bool,
    /// Words that are searched.
    pub(super) words: String,
    /// The calls that hold them.
    pub(super) hits: Vec<usize>,
}

#[derive(Debug)]
pub(super) struct CallEntry {
    pub(super) id: ItemId,
    pub(super) call: Call,
    pub(super) apart: bool,
    /// True if the person opened it, false if they folded it; none: neither.
    pub(super) open: Option<bool>,
    /// The time when it began to run.
    pub(super) began: Option<i64>,
    pub(super) fields: Vec<Field>,
    /// The rows of its file's path below it, where the name of the file has no room beside the verb, or would take that of
    /// a number.
    pub(super) path_rows: Vec<String>,
    pub(super) reason: Vec<String>,
    /// True if it has more rows than are shown.
    pub(super) reason_goes_on: bool,
    /// True if someone else changed the file since this call read or wrote it.
    pub(super) drifted: bool,
}

impl CallEntry {
    /// Creates the entry of a call; `apart`: an empty row stands above it.
    pub(super) fn new(id: ItemId, call: Call, apart: bool, now: i64) -> CallEntry {
        CallEntry {
            id,
            began: (call.state == CallState::Running).then_some(now),
            call,
            apart,
            open: None,
            fields: Vec::new(),
            path_rows: Vec::new(),
            reason: Vec::new(),
            reason_goes_on: false,
            drifted: false,
        }
    }

    /// Returns whether it is a command under way.
    pub(super) fn is_running_command(&self) -> bool {
        self.call.state == CallState::Running && self.call.preview.first().is_some_and(|line| line.sign == '$')
    }

    /// Returns whether it is a command that may print: it runs, or a call of it waits for the person.
    pub(super) fn prints(&self) -> bool {
        let is_held = self.call.state == CallState::Asking && self.call.printed > 0;
        self.is_running_command() || is_held || self.call.state == CallState::Running && self.call.is_typed
    }

    /// Returns the number of preview lines that are the text of a command.
    pub(super) fn text_lines(&self) -> usize {
        self.call.preview.iter().take_while(|line| line.sign == '$').count()
    }

    /// Returns the lines of the preview that have room: its first ones, then its last ones. What grows is shown at its
    /// end, of a command the first line of its text and the newest of its output.
    pub(super) fn visible_lines(&self, room: usize) -> (&[PreviewLine], &[PreviewLine]) {
        let all = &self.call.preview;
        let room = room.min(all.len());
        let text = self.text_lines();
        let is_command = text < all.len() && (text > 0 || self.call.printed > 0);
        let head = match () {
            () if self.call.state == CallState::Streaming => 0,
            () if is_command => room.min(text).min(1),
            () => room,
        };
        (&all[..head], &all[all.len() - (room - head)..])
    }

    pub(super) fn path_of_main(&self) -> Option<&str> {
        (!self.call.main.starts_with('"') && !self.call.main.contains(' ')).then_some(self.call.main.as_str())
    }

    /// Returns the cells of the numbers that end its row: its counts, those of its result, and its time.
    fn number_cells(&self) -> usize {
        /// The column of the time.
        const TIME: usize = 8;
        if self.call.state != CallState::Done {
            return 0;
        }
        let signed = |n: usize| if n == 0 { 0 } else { wrap::cells(&thousands(n)) + 1 };
        let counts = self.call.counts.map_or(0, |counts| {
            let both = counts.added > 0 && counts.removed > 0;
            signed(counts.added) + signed(counts.removed) + usize::from(both)
        });
        let is_number = self.call.summary.contains(|c: char| c.is_ascii_digit());
        let summary = if is_number { wrap::cells(&self.call.summary) + if counts > 0 { 2 } else { 0 } } else { 0 };
        match counts + summary {
            0 => 0,
            numbers => numbers + TIME,
        }
    }

    /// Lays out its file's path in a pane of `width` cells, with `verbs` cells for the verb.
    pub(super) fn lay_path(&mut self, width: usize, verbs: usize) {
        let path = self.path_of_main().map(|path| show::plain(path).into_owned()).unwrap_or_default();
        let name = wrap::cells(&path[cut::name_start(&path)..]) + if path.contains('/') { 2 } else { 0 };
        let has_room = path.is_empty()
            || match self.number_cells() {
                0 => name + verbs + 6 <= width,
                numbers => name + verbs + numbers + 7 <= width,
            };
        if has_room {
            return self.path_rows.clear();
        }
        let room = width.saturating_sub(4).max(8);
        // The name stays in one row where it can.
        let (folder, name) = match path.split_at(cut::name_start(&path)) {
            (folder, name) if wrap::cells(&path) > room && wrap::cells(name) <= room => (folder, name),
            _ => ("", path.as_str()),
        };
        let rows =
            |part: &str| wrap::breaks(part, room).into_iter().map(|row| part[row].to_string()).collect::<Vec<_>>();
        self.path_rows = if folder.is_empty() { Vec::new() } else { rows(folder) };
        self.path_rows.extend(rows(name));
    }

    /// Returns the number of rows of a field: a growing text shows its last lines.
    pub(super) fn field_rows(field: &Field) -> usize {
        if field.whole || !field.text { 1 } else { field.value.lines().count().clamp(1, UNFINISHED_LINES) }
    }

    /// Returns the number of lines of the whole preview, as far as they are known.
    pub(super) fn preview_total(&self) -> usize {
        let changed = self.call.counts.map_or(0, |c| c.added + c.removed);
        if self.call.printed > 0 {
            return self.call.preview.len().max(self.text_lines() + self.call.printed);
        }
        self.call.preview.len().max(if self.call.preview.is_empty() { 0 } else { changed })
    }
}
