//! Reads a streamed answer: prose is passed on at once, edits and calls are recognised, whatever the chunking.

pub(super) mod block;
mod call;
pub(super) mod context;
mod fence;
pub(super) mod headers;
pub(super) mod input;
pub(super) mod paths;
pub(super) mod pieces;
pub(super) mod reader;
pub(super) mod starts;
pub(super) mod tags;
mod text;
mod unfenced;
pub(super) mod unread;

use std::sync::Arc;

pub use pieces::{EditId, EditPart, End, KnownFile, Piece};
pub use unread::{Unread, UnreadText};

use self::block::UnreadBlock;
use self::context::{Progress, ReaderContext};
use self::input::Input;
use self::pieces::edits_of_files;
use self::reader::{Next, ParserState};
use self::text::Text;
use super::calls::CallTable;
use super::format::Format;
use super::formats;

/// Recognises every format while the text streams.
#[derive(Debug)]
pub struct Parser {
    input: Input,
    state: ParserState,
    text: Text,
    ctx: ReaderContext,
    /// The number of times a state was given up because it consumed nothing.
    given_up: usize,
}

/// The most consecutive rounds that may consume nothing: entering a state, leaving it, and the steps of the text around
/// it.
const IDLE_ROUNDS: usize = 16;

impl Parser {
    /// Creates a parser for one answer. `expected` is the format the model was asked for; `None` when the text is known
    /// to be an edit of any format (`nebula patch`). `known` are the files in play, `calls` the tools whose calls are
    /// read.
    pub fn new(expected: Option<Format>, known: impl Into<Arc<Vec<KnownFile>>>, calls: Arc<CallTable>) -> Self {
        Parser::of(ReaderContext::new(expected, known, calls, false))
    }

    /// Sets whether the model makes its changes by calls, so that a file which a sentence or nothing names is only displayed.
    #[must_use]
    pub fn displaying(mut self, displays: bool) -> Self {
        self.ctx.displays = displays;
        self
    }

    /// Sets whether the person wants a file without text, so that a fence around nothing below the path of a new file is one.
    #[must_use]
    pub fn making_empty(mut self, makes_empty: bool) -> Self {
        self.ctx.makes_empty = makes_empty;
        self
    }

    /// Creates a parser of a document instead of an answer: in one, a unified diff outside of a fence is a patch,
    /// which is refused if it ends in the middle of a line or before its counts say.
    pub fn document(expected: Option<Format>, known: Vec<KnownFile>, calls: Arc<CallTable>) -> Self {
        Parser::of(ReaderContext::new(expected, known, calls, true))
    }

    fn of(mut ctx: ReaderContext) -> Self {
        ctx.marks = formats::marks();
        Parser { input: Input::default(), state: ParserState::Text, text: Text::default(), ctx, given_up: 0 }
    }

    /// Takes the next piece of the answer, of any size.
    pub fn push(&mut self, text: &str) -> Vec<Piece> {
        self.input.push(text);
        self.run();
        std::mem::take(&mut self.ctx.out)
    }

    /// Tells the parser that the model turns to something else, such as a call of a tool: prose that waits is returned.
    pub fn pause(&mut self) -> Vec<Piece> {
        if matches!(self.state, ParserState::Text) {
            self.text.pause(&mut self.input, &mut self.ctx);
            self.ctx.end_waiting();
        }
        std::mem::take(&mut self.ctx.out)
    }

    /// Ends the answer.
    pub fn finish(self, end: End) -> Vec<Piece> {
        self.finish_with_blocks(end).0
    }

    /// Ends the answer, and returns the blocks of code that are no edits too.
    fn finish_with_blocks(mut self, end: End) -> (Vec<Piece>, Vec<UnreadBlock>) {
        self.input.end = Some(end);
        self.run();
        self.end_state(end == End::Cut);
        self.text.end(&mut self.input, &mut self.ctx);
        self.ctx.end_waiting();
        (self.ctx.out, self.ctx.unread)
    }

    /// Ends the present state at the present position.
    fn end_state(&mut self, cut: bool) {
        if let ParserState::Reading(reader) = &mut self.state {
            reader.end(&mut self.ctx, cut);
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

    /// Leaves a state that consumes nothing, which yields its text as prose: no input may keep the reader from coming
    /// to its end.
    fn give_up(&mut self) {
        self.given_up += 1;
        self.end_state(true);
        self.state = ParserState::Text;
        self.text.take_as_prose(&mut self.input, &mut self.ctx);
    }

    /// Runs one round of the present state; returns false if more text is needed.
    fn step(&mut self) -> bool {
        let (input, ctx) = (&mut self.input, &mut self.ctx);
        let progress = match &mut self.state {
            ParserState::Text => match self.text.step(input, ctx) {
                Next::Wait => return false,
                Next::Again => return true,
                Next::Enter(reader) => {
                    self.state = ParserState::Reading(reader);
                    return true;
                }
            },
            ParserState::Reading(reader) => reader.step(input, ctx),
        };
        match progress {
            Progress::Wait => return false,
            Progress::Again => {}
            Progress::Done => {
                let inside_line = matches!(&self.state, ParserState::Reading(reader) if reader.ends_inside_line());
                self.state = ParserState::Text;
                self.text.resume(inside_line);
            }
            Progress::Back => {
                self.state = ParserState::Text;
                self.text.go_on();
            }
        }
        true
    }
}

/// Reads a whole answer at once: all its pieces, in order. Where no edit or call is read, whole files in forms that no
/// format has come last.
pub fn read(
    text: &str,
    expected: Option<Format>,
    known: Vec<KnownFile>,
    calls: Arc<CallTable>,
    end: End,
) -> Vec<Piece> {
    let pieces = read_parts(&[text], expected, known, calls, end);
    pieces.into_iter().map(|(_, piece)| piece).collect()
}

/// Reads an answer that was said in parts, like [`read`]: each piece with the number of the part in which it ends.
pub fn read_parts(
    parts: &[&str],
    expected: Option<Format>,
    known: Vec<KnownFile>,
    calls: Arc<CallTable>,
    end: End,
) -> Vec<(usize, Piece)> {
    let mut parser = Parser::new(expected, known.clone(), Arc::clone(&calls));
    let mut pieces = Vec::new();
    for (at, part) in parts.iter().enumerate() {
        if at > 0 {
            pieces.extend(parser.pause().into_iter().map(|piece| (at - 1, piece)));
        }
        pieces.extend(parser.push(part).into_iter().map(|piece| (at, piece)));
    }
    let last = parts.len().saturating_sub(1);
    pieces.extend(parser.finish(end).into_iter().map(|piece| (last, piece)));
    if end == End::Ordinary && pieces.iter().all(|(_, piece)| matches!(piece, Piece::Prose(_))) {
        let late = edits_in_no_format(&parts.concat(), expected, &known, calls);
        pieces.extend(late.into_iter().map(|piece| (last, piece)));
    }
    pieces
}

/// Returns the edits, as pieces, of an answer in which no edit or call is read: files in forms that no format has, and
/// blocks of code that can mean one file alone.
pub fn edits_in_no_format(
    text: &str,
    expected: Option<Format>,
    known: &[KnownFile],
    calls: Arc<CallTable>,
) -> Vec<Piece> {
    let files = unfenced::unfenced(text, expected, known);
    let has_fences = || text.contains("```") || text.contains("~~~");
    let Some(format) = expected.filter(|_| files.is_empty() && text.len() <= LARGEST && has_fences()) else {
        return edits_of_files(files);
    };
    let (_, blocks) = parsed(text, Parser::new(expected, known.to_vec(), calls));
    edits_of_files(block::answer::loose(&blocks, format, known))
}

/// A larger answer is read by its format alone.
const LARGEST: usize = 4 << 20;

/// Returns the pieces of a whole answer by the formats, and the blocks of code that are no edits.
fn parsed(text: &str, mut parser: Parser) -> (Vec<Piece>, Vec<UnreadBlock>) {
    let mut pieces = parser.push(text);
    let (rest, blocks) = parser.finish_with_blocks(End::Ordinary);
    pieces.extend(rest);
    (pieces, blocks)
}

/// Returns what in an answer looks like an edit and was not read as one, if anything.
pub fn unread(
    text: &str,
    (format, displays): (Format, bool),
    known: impl Into<Arc<Vec<KnownFile>>>,
    calls: Arc<CallTable>,
) -> Option<UnreadText> {
    let known = known.into();
    if !unread::may_hold(text, format, &known) {
        return None;
    }
    let parser = Parser::new(Some(format), Arc::clone(&known), Arc::clone(&calls)).displaying(displays);
    let (pieces, blocks) = parsed(text, parser);
    let is_prose = pieces.iter().all(|piece| matches!(piece, Piece::Prose(_)));
    if let Some(path) = unread::only_path(text, &known).filter(|_| is_prose) {
        return Some(UnreadText { why: Unread::OnlyPath(path), beside_edit: false });
    }
    if is_prose && !displays && !edits_in_no_format(text, Some(format), &known, calls).is_empty() {
        let left = block::answer::left(&blocks, format, &known);
        return left.map(|path| UnreadText { why: Unread::Step(path), beside_edit: true });
    }
    let step = block::answer::left_beside(&blocks, &pieces, &known).filter(|_| !displays);
    let step = step.map(|path| UnreadText { why: Unread::Step(path), beside_edit: true });
    let found = unread::unread_text(pieces, &blocks, (format, displays), &known);
    // Whose step it is says more than that it names no file.
    found.filter(|found| step.is_none() || found.why != Unread::NoFile).or(step)
}

#[cfg(test)]
mod tests;
