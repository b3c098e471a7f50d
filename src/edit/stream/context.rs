//! The state that all readers share: the files in play, the tools, and the pieces that have been read.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, OnceLock};

use serde_json::{Map, Value, json};

use super::block::{MOST_COMPARED, UnreadBlock, shows_output};
use super::paths::same_path;
use super::paths::spaced::longer;
use super::pieces::{EditId, EditPart, KnownFile, Piece};
use super::starts::{Fence, LineMark};
use crate::edit::calls::CallTable;
use crate::edit::format::Format;
use crate::edit::op::{Edit, Op};
use crate::edit::place::definition_names;

/// The message about an edit that the end of the answer cut.
pub(in crate::edit) const CUT: &str =
    "the answer was cut in the middle of this edit, so nothing of it was used. Send it again.";
/// The message about an edit that the model did not finish.
pub(in crate::edit) const BROKE_OFF: &str =
    "the edit breaks off before its replacement, so nothing of it was used. Send it again, whole.";
/// The message about a call that the model did not finish.
pub(in crate::edit) const CALL_BROKE_OFF: &str =
    "the call breaks off before its end, so nothing of it was used. Send it again, whole.";

/// The progress of a reader after it took what it could.
pub(in crate::edit) enum Progress {
    /// It needs more text.
    Wait,
    /// The reader goes on.
    Again,
    /// It is over; what follows is for the text around it.
    Done,
    /// It was only prose, which has been shown; the line goes on.
    Back,
}

/// The state that all readers share.
#[derive(Debug)]
pub(in crate::edit) struct ReaderContext {
    pub expected: Option<Format>,
    pub known: Arc<Vec<KnownFile>>,
    /// The tools whose calls may stand in the text.
    pub calls: Arc<CallTable>,
    /// The lines of each known file, computed at first use.
    lines: OnceLock<Vec<OnceLock<KnownLines>>>,
    pub out: Vec<Piece>,
    next: usize,
    /// The path of the edit before, for blocks that name none.
    pub path: Option<String>,
    /// The last line of prose above the edit that begins, where no line is its path alone.
    pub said: String,
    /// A line that is a path alone stands above that edit.
    pub is_titled: bool,
    /// The text is a document, not an answer: a diff in it that breaks off is refused.
    pub document: bool,
    /// The model makes its changes by calls: a file that a sentence or nothing names is only displayed.
    pub displays: bool,
    /// The person wants a file without text: a fence around nothing may be one.
    pub makes_empty: bool,
    /// The lines that begin an edit.
    pub marks: Vec<LineMark>,
    /// The answer holds an edit.
    pub has_edits: bool,
    /// A document was given up because its end is not certain: what follows may be a part of it.
    pub is_unclear: bool,
    /// The path of a document stands in the answer and no fence below it: its text may follow without one.
    pub is_unfenced: bool,
    /// The blocks of code that are no edits.
    pub unread: Vec<UnreadBlock>,
    /// A whole file that lacks definitions of the one before: blocks of the answer may hold them.
    waiting: Option<(EditId, Edit)>,
}

/// The lines of a known file, prepared so that similar text is recognised without reading the file again.
#[derive(Debug)]
pub(in crate::edit) struct KnownLines {
    /// Its lines without surrounding space and without blank ones, with how often each occurs.
    pub counts: HashMap<String, usize>,
    /// The number of those in all.
    pub solid: usize,
    /// The names of its definitions.
    names: Vec<String>,
    /// Its lines that could close a fence, one of each kind.
    fences: Vec<Fence>,
}

impl KnownLines {
    fn of(text: &str) -> Self {
        let (mut counts, mut solid, mut fences) = (HashMap::new(), 0, Vec::new());
        for line in text.lines().map(str::trim).filter(|l| !l.is_empty()) {
            *counts.entry(line.to_string()).or_insert(0) += 1;
            solid += 1;
        }
        for fence in text.lines().filter_map(Fence::open).filter(|f| f.info.is_empty()) {
            if !fences.contains(&fence) && fences.len() < MOST_FENCES {
                fences.push(fence);
            }
        }
        let names = definition_names(text).into_iter().map(str::to_string).collect();
        KnownLines { counts, solid, names, fences }
    }

    /// Returns whether the file has a line that would close this fence.
    pub fn holds(&self, fence: &Fence) -> bool {
        self.fences.iter().any(|f| fence.like(f))
    }
}

/// A file with more kinds of closing fences than this is not looked through further.
const MOST_FENCES: usize = 100;

impl ReaderContext {
    /// Creates the reader of one answer, or of a document (see [`super::Parser`]).
    pub fn new(
        expected: Option<Format>,
        known: impl Into<Arc<Vec<KnownFile>>>,
        calls: Arc<CallTable>,
        document: bool,
    ) -> Self {
        ReaderContext {
            expected,
            known: known.into(),
            calls,
            lines: OnceLock::new(),
            out: Vec::new(),
            next: 0,
            path: None,
            said: String::new(),
            is_titled: false,
            document,
            displays: false,
            makes_empty: false,
            marks: Vec::new(),
            has_edits: false,
            is_unclear: false,
            is_unfenced: false,
            unread: Vec::new(),
            waiting: None,
        }
    }

    /// Adds the call `id` of a tool; `raw` is its text, for the model where the arguments do not fit the tool.
    pub fn add_call(&mut self, id: EditId, tool: &str, arguments: Map<String, Value>, raw: String) {
        match self.calls.read(&json!({"name": tool, "arguments": arguments})) {
            Some((name, arguments)) => self.out.push(Piece::Call { id: Some(id), name, arguments }),
            None => self.add_broken_call(id, raw, "its arguments are none that this tool takes"),
        }
    }

    /// Adds a call that cannot be read, with its text.
    pub fn add_broken_call(&mut self, id: EditId, text: String, why: &str) {
        self.out.push(Piece::BrokenCall { id: Some(id), text, why: why.to_string() });
    }

    /// Returns the lines of the known file at this index.
    pub fn lines(&self, at: usize) -> Option<&KnownLines> {
        let text = &self.known.get(at)?.text;
        let lines = self.lines.get_or_init(|| self.known.iter().map(|_| OnceLock::new()).collect());
        Some(lines.get(at)?.get_or_init(|| KnownLines::of(text)))
    }

    /// Returns the lines of a file, if it is in play.
    pub fn lines_of(&self, path: &str) -> Option<&KnownLines> {
        self.lines(self.known.iter().position(|k| same_path(path, &k.path))?)
    }

    /// Returns whether this line begins an edit.
    pub fn begins_edit(&self, line: &str) -> bool {
        self.marks.iter().any(|mark| (mark.is)(line))
    }

    /// Returns whether the beginning of a line may come to begin an edit.
    pub fn may_begin_edit(&self, partial: &str) -> bool {
        self.marks.iter().any(|mark| (mark.may_be)(partial))
    }

    pub fn prose(&mut self, text: &str) {
        match self.out.last_mut() {
            _ if text.is_empty() => {}
            Some(Piece::Prose(before)) => before.push_str(text),
            _ => self.out.push(Piece::Prose(text.to_string())),
        }
    }

    pub fn new_id(&mut self) -> EditId {
        self.end_waiting();
        self.next += 1;
        EditId(self.next - 1)
    }

    pub fn start(&mut self, format: Format) -> EditId {
        let id = self.new_id();
        self.out.push(Piece::EditStarted { id, format });
        id
    }

    pub fn grew(&mut self, id: EditId, part: EditPart, text: &str) {
        match self.out.last_mut() {
            _ if text.is_empty() => {}
            Some(Piece::EditGrew { id: i, part: p, text: before }) if *i == id && *p == part => before.push_str(text),
            _ => self.out.push(Piece::EditGrew { id, part, text: text.to_string() }),
        }
    }

    pub fn done(&mut self, id: EditId, edit: Edit) {
        self.end_waiting();
        self.has_edits = true;
        let edit = self.in_full(edit);
        self.path = edit.path.clone().or(self.path.take());
        self.out.push(Piece::EditDone { id, edit });
    }

    /// Ends an edit that is the whole text of a file. Where it lacks definitions of the file as it is, that waits for the
    /// blocks behind it.
    pub fn done_whole(&mut self, id: EditId, edit: Edit) {
        if self.lacking(&edit).is_empty() {
            return self.done(id, edit);
        }
        self.end_waiting();
        self.has_edits = true;
        let edit = self.in_full(edit);
        self.path = edit.path.clone().or(self.path.take());
        self.waiting = Some((id, edit));
    }

    /// Notes the line above an edit that begins, from which it may have its path; not where it is `titled` by a path alone.
    pub fn note_said(&mut self, titled: bool, said: &str) {
        self.is_titled = titled;
        match titled {
            true => self.said.clear(),
            false if !said.is_empty() => self.said = said.to_string(),
            false => {}
        }
    }

    /// Returns whether a fence that only its own first line says a path of is no edit of that file, but a listing or a log: it
    /// follows the edit of the same file, and has no language.
    pub fn is_log_of(&self, path: &str, fence: &Fence) -> bool {
        let last = self.path.as_deref().filter(|_| self.has_edits);
        let is_plain = fence.info.trim().is_empty() || shows_output(&fence.info);
        is_plain && last.is_some_and(|last| same_path(last, path))
    }

    /// Returns an edit with the name of which its path may be the end.
    fn in_full(&self, edit: Edit) -> Edit {
        let longer = edit.path.as_deref().and_then(|path| longer(&self.said, path, &self.known));
        Edit { longer, ..edit }
    }

    /// Ends the whole file that waits.
    pub fn end_waiting(&mut self) {
        let Some((id, edit)) = self.waiting.take() else { return };
        let elsewhere = self.elsewhere(&edit);
        self.out.push(Piece::EditDone { id, edit: Edit { elsewhere, ..edit } });
    }

    /// Returns the names of the definitions of its file that a whole text lacks.
    fn lacking(&self, edit: &Edit) -> Vec<&str> {
        let (Op::Overwrite { content }, Some(path)) = (&edit.op, &edit.path) else { return Vec::new() };
        let Some(lines) = self.lines_of(path).filter(|lines| !lines.names.is_empty()) else { return Vec::new() };
        let own: HashSet<&str> = definition_names(content).into_iter().collect();
        lines.names.iter().map(String::as_str).filter(|name| !own.contains(name)).collect()
    }

    /// Returns those of them that a block which is no edit holds, and hardly any other.
    fn elsewhere(&self, edit: &Edit) -> Option<String> {
        let is_of_file = |block: &&UnreadBlock| match (&block.path, &edit.path) {
            (Some(path), Some(own)) => same_path(path, own),
            _ => true,
        };
        let mut blocks = self.unread.iter().filter(is_of_file).take(MOST_COMPARED).peekable();
        blocks.peek()?;
        let lacking = self.lacking(edit);
        let mut names: Vec<&str> = Vec::new();
        for block in blocks {
            let held = definition_names(&block.content);
            let lost: Vec<&str> = held.iter().copied().filter(|name| lacking.contains(name)).collect();
            if lost.len() * 2 <= held.len() {
                continue;
            }
            for name in lost {
                if !names.contains(&name) {
                    names.push(name);
                }
            }
        }
        (!names.is_empty()).then(|| names.join(", "))
    }

    pub fn dropped(&mut self, id: EditId, why: String) {
        self.end_waiting();
        self.out.push(Piece::EditDropped { id, why });
    }
}
