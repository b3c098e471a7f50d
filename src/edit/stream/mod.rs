//! Reads a streamed answer: prose goes on at once, edits and calls are recognised, whatever the chunking.

mod blocks;
mod call;
mod fence;
mod input;
mod named;
mod patch;
mod paths;
mod python;
mod starts;
mod tags;
mod text;
mod whole;
mod xml;

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use self::blocks::Blocks;
use self::call::Call;
use self::input::Input;
use self::named::Named;
use self::patch::Patch;
use self::paths::same_path;
use self::python::Python;
use self::starts::Fence;
use self::text::Text;
use self::whole::Whole;
use self::xml::Xml;
use super::calls::CallTable;
use super::{Edit, Format};

/// Names an edit or a call within one answer, from 0, in the order in which they begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct EditId(pub usize);

/// Which part of an edit grew.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Part {
    /// The path.
    Path,
    /// Text that is to go.
    Old,
    /// Text that is to come.
    New,
    /// Text that stays (a patch's context).
    Same,
}

/// What an answer is made of.
#[derive(Debug, Clone, PartialEq)]
pub enum Piece {
    /// Text for the person, to be shown at once. Never a part of a tag.
    Prose(String),
    /// An edit begins.
    EditStarted {
        /// Its name.
        id: EditId,
        /// How it is written.
        format: Format,
    },
    /// An edit grew by some text.
    EditGrew {
        /// Which edit.
        id: EditId,
        /// Which part of it.
        part: Part,
        /// The text that joins that part.
        text: String,
    },
    /// An edit is complete.
    EditDone {
        /// Which edit.
        id: EditId,
        /// The edit.
        edit: Edit,
    },
    /// An edit came to nothing: the answer was cut in it, or it was only the example of the instructions.
    EditDropped {
        /// Which edit.
        id: EditId,
        /// Why, for the person and the model.
        why: String,
    },
    /// A tool call written as text begins; not every one is known early enough.
    CallStarted {
        /// Its name among the edits and calls.
        id: EditId,
        /// The tool's name, as in the tools' list.
        name: String,
    },
    /// The arguments of a call grew.
    CallGrew {
        /// Which call.
        id: EditId,
        /// The text that joins them, as it was written.
        text: String,
    },
    /// A tool call that was written as text.
    Call {
        /// Which call, if its beginning was told.
        id: Option<EditId>,
        /// The tool's name, as in the tools' list.
        name: String,
        /// Its arguments, under the tool's own names for them.
        arguments: serde_json::Value,
    },
    /// A text that was meant as a tool call and cannot be read as one.
    BrokenCall {
        /// Which call, if its beginning was told.
        id: Option<EditId>,
        /// The text, as it was written.
        text: String,
        /// What is wrong with it, for the model.
        why: String,
    },
}

/// How an answer ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// The model stopped.
    Ordinary,
    /// Its length ran out, or the connection broke.
    Cut,
}

/// A file the model knows of: attached, or read in this session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Known {
    /// Its normalised path.
    pub path: String,
    /// Its present text.
    pub text: Arc<str>,
}

/// What an edit is told that the end of the answer cut.
const CUT: &str = "the answer was cut in the middle of this edit, so nothing of it was used. Send it again.";
/// What an edit is told that the model did not write to its end.
const BROKE_OFF: &str = "the edit breaks off before its replacement, so nothing of it was used. Send it again, whole.";

/// Recognises every format while the text streams.
#[derive(Debug)]
pub struct Parser {
    input: Input,
    state: State,
    text: Text,
    ctx: ReaderContext,
    /// How often a state had to be given up because it consumed nothing.
    given_up: usize,
}

/// What is being read.
#[derive(Debug)]
enum State {
    Text,
    Xml(Xml),
    Blocks(Blocks),
    Whole(Whole),
    Patch(Patch),
    Call(Call),
    Named(Named),
    Python(Python),
    /// Never waits and never consumes: what the driver must be safe against.
    #[cfg(test)]
    Idle,
}

/// So many rounds in a row may consume nothing: entering a state, leaving it, and what the text around it settles.
const IDLE_ROUNDS: usize = 16;

/// What a reader of one of them says after it took what it could.
enum Progress {
    /// It needs more text.
    Wait,
    /// It goes on.
    Again,
    /// It is over; what follows is for the text around it.
    Done,
    /// It was only prose, which has been shown; the line goes on.
    Back,
}

/// What all readers share.
#[derive(Debug)]
struct ReaderContext {
    expected: Option<Format>,
    known: Vec<Known>,
    /// The tools whose calls may stand in the text.
    calls: Arc<CallTable>,
    /// The lines of each known file, once they are asked for.
    lines: Vec<OnceLock<KnownLines>>,
    out: Vec<Piece>,
    next: usize,
    /// The path of the edit before, for blocks that name none.
    path: Option<String>,
    /// The text is a document, not an answer: a diff in it that breaks off is refused.
    document: bool,
}

/// The lines of a known file, so that what resembles it is told without reading the file again.
#[derive(Debug)]
struct KnownLines {
    /// Its lines without space around them, but for blank ones, and how often each stands there.
    counts: HashMap<String, usize>,
    /// How many that are in all.
    solid: usize,
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
        KnownLines { counts, solid, fences }
    }

    /// Whether the file has a line that would close this fence.
    fn holds(&self, fence: &Fence) -> bool {
        self.fences.iter().any(|f| fence.like(f))
    }
}

/// A file with more kinds of closing fences than this is not looked through further.
const MOST_FENCES: usize = 100;

impl ReaderContext {
    /// The lines of the known file at this index.
    fn lines(&self, at: usize) -> Option<&KnownLines> {
        let text = &self.known.get(at)?.text;
        Some(self.lines.get(at)?.get_or_init(|| KnownLines::of(text)))
    }

    /// The lines of a file, if it is in play.
    fn lines_of(&self, path: &str) -> Option<&KnownLines> {
        self.lines(self.known.iter().position(|k| same_path(path, &k.path))?)
    }

    fn prose(&mut self, text: &str) {
        match self.out.last_mut() {
            _ if text.is_empty() => {}
            Some(Piece::Prose(before)) => before.push_str(text),
            _ => self.out.push(Piece::Prose(text.to_string())),
        }
    }

    fn new_id(&mut self) -> EditId {
        self.next += 1;
        EditId(self.next - 1)
    }

    fn start(&mut self, format: Format) -> EditId {
        let id = self.new_id();
        self.out.push(Piece::EditStarted { id, format });
        id
    }

    fn grew(&mut self, id: EditId, part: Part, text: &str) {
        match self.out.last_mut() {
            _ if text.is_empty() => {}
            Some(Piece::EditGrew { id: i, part: p, text: before }) if *i == id && *p == part => before.push_str(text),
            _ => self.out.push(Piece::EditGrew { id, part, text: text.to_string() }),
        }
    }

    fn done(&mut self, id: EditId, edit: Edit) {
        self.path = edit.path.clone().or(self.path.take());
        self.out.push(Piece::EditDone { id, edit });
    }

    fn dropped(&mut self, id: EditId, why: String) {
        self.out.push(Piece::EditDropped { id, why });
    }
}

impl Parser {
    /// A parser for one answer. `expected` is the format the model was asked for; `None` when the text is known
    /// to be an edit of any format (`nebula patch`). `known` are the files in play, `calls` the tools whose calls are read.
    pub fn new(expected: Option<Format>, known: Vec<Known>, calls: Arc<CallTable>) -> Self {
        let lines = known.iter().map(|_| OnceLock::new()).collect();
        let ctx =
            ReaderContext { expected, known, calls, lines, out: Vec::new(), next: 0, path: None, document: false };
        Parser { input: Input::default(), state: State::Text, text: Text::default(), ctx, given_up: 0 }
    }

    /// The same for a document instead of an answer: in one, a unified diff outside of a fence is refused if it ends in the
    /// middle of a line, or before its counts say.
    pub fn document(expected: Option<Format>, known: Vec<Known>, calls: Arc<CallTable>) -> Self {
        let mut parser = Parser::new(expected, known, calls);
        parser.ctx.document = true;
        parser
    }

    /// Takes the next piece of the answer, of any size.
    pub fn push(&mut self, text: &str) -> Vec<Piece> {
        self.input.push(text);
        self.run();
        std::mem::take(&mut self.ctx.out)
    }

    /// The model turns to something else, such as a call of a tool: prose that waits only because an edit might follow
    /// it is prose.
    pub fn pause(&mut self) -> Vec<Piece> {
        if matches!(self.state, State::Text) {
            self.text.pause(&mut self.input, &mut self.ctx);
        }
        std::mem::take(&mut self.ctx.out)
    }

    /// Ends the answer.
    pub fn finish(mut self, end: End) -> Vec<Piece> {
        self.input.end = Some(end);
        self.run();
        self.end_state(end == End::Cut);
        self.text.end(&mut self.input, &mut self.ctx);
        self.ctx.out
    }

    /// Ends what is being read where it stands.
    fn end_state(&mut self, cut: bool) {
        let ctx = &mut self.ctx;
        match &mut self.state {
            State::Text => {}
            State::Xml(xml) => xml.end(ctx, cut),
            State::Blocks(blocks) => blocks.end(ctx, cut),
            State::Whole(whole) => whole.end(ctx, cut),
            State::Patch(patch) => patch.end(ctx, cut),
            State::Call(call) => call.end(ctx, cut),
            State::Named(call) => call.end(ctx, cut),
            State::Python(call) => call.end(ctx, cut),
            #[cfg(test)]
            State::Idle => {}
        }
    }

    /// Reads what has arrived, as far as it can be understood.
    fn run(&mut self) {
        let (mut taken, mut idle) = (self.input.taken, 0);
        while self.step() {
            idle = if self.input.taken == taken { idle + 1 } else { 0 };
            taken = self.input.taken;
            if idle > IDLE_ROUNDS {
                self.give_up();
                idle = 0;
            }
        }
    }

    /// A state that consumes nothing yields its text as prose: no input may keep the reader from coming to its end.
    fn give_up(&mut self) {
        self.given_up += 1;
        self.end_state(true);
        self.state = State::Text;
        self.text.take_as_prose(&mut self.input, &mut self.ctx);
    }

    /// One round of what is being read; false if more text is needed.
    fn step(&mut self) -> bool {
        let (input, ctx) = (&mut self.input, &mut self.ctx);
        let progress = match &mut self.state {
            State::Text => match self.text.step(input, ctx) {
                text::Next::Wait => return false,
                text::Next::Again => return true,
                text::Next::Enter(state) => {
                    self.state = state;
                    return true;
                }
            },
            State::Xml(xml) => xml.step(input, ctx),
            State::Blocks(blocks) => blocks.step(input, ctx),
            State::Whole(whole) => whole.step(input, ctx),
            State::Patch(patch) => patch.step(input, ctx),
            State::Call(call) => call.step(input, ctx),
            State::Named(call) => call.step(input, ctx),
            State::Python(call) => call.step(input, ctx),
            #[cfg(test)]
            State::Idle => Progress::Again,
        };
        match progress {
            Progress::Wait => return false,
            Progress::Again => {}
            Progress::Done => {
                let inside_line =
                    matches!(&self.state, State::Xml(_) | State::Call(_) | State::Named(_) | State::Python(_));
                self.state = State::Text;
                self.text.resume(inside_line);
            }
            Progress::Back => {
                self.state = State::Text;
                self.text.go_on();
            }
        }
        true
    }
}

/// Reads a whole answer at once: all its pieces, in order.
pub fn read(text: &str, expected: Option<Format>, known: Vec<Known>, calls: Arc<CallTable>, end: End) -> Vec<Piece> {
    let mut parser = Parser::new(expected, known, calls);
    let mut pieces = parser.push(text);
    pieces.extend(parser.finish(end));
    pieces
}

#[cfg(test)]
mod tests;
