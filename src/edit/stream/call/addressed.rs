//! Tool calls whose tool is named in a header, with the arguments alone behind it.

use super::Call;
use super::starts::NamedObject;
use crate::edit::stream::context::{Progress, ReaderContext};
use crate::edit::stream::headers::{CallHeader, ENDS, FENCE, SPACE};
use crate::edit::stream::input::Input;
use crate::edit::stream::reader::Reader;

/// A call being read, from its arguments on.
#[derive(Debug)]
pub(in crate::edit::stream) struct Addressed {
    arguments: Call,
    is_read: bool,
    /// The mark that closes what is open around the arguments.
    around: Option<&'static str>,
}

impl Addressed {
    pub fn new(header: CallHeader) -> Self {
        let around = header.is_fenced.then_some(FENCE);
        Addressed { arguments: Call::of(header.tool), is_read: false, around }
    }

    /// Creates the call of a tool that stands before its arguments.
    pub fn of(named: NamedObject) -> Self {
        let around = named.is_bracketed.then_some(")");
        Addressed { arguments: Call::of(named.tool), is_read: false, around }
    }

    /// Reads the marks that close it.
    fn close(&mut self, input: &mut Input) -> Progress {
        let rest = input.rest();
        let text = rest.trim_start();
        let space = rest.len() - text.len();
        let mut marks = ENDS.into_iter().chain(self.around);
        if let Some(mark) = marks.clone().find(|mark| text.starts_with(mark)) {
            self.around = self.around.filter(|around| *around != mark);
            input.skip(space + mark.len());
            return Progress::Again;
        }
        let may = space < SPACE && marks.any(|mark| mark.starts_with(text));
        if may && !input.ended() { Progress::Wait } else { Progress::Done }
    }
}

impl Reader for Addressed {
    fn step(&mut self, input: &mut Input, ctx: &mut ReaderContext) -> Progress {
        if self.is_read {
            return self.close(input);
        }
        match self.arguments.step(input, ctx) {
            Progress::Done | Progress::Back => {
                self.is_read = true;
                Progress::Again
            }
            other => other,
        }
    }

    fn end(&mut self, ctx: &mut ReaderContext, cut: bool) {
        if !self.is_read {
            self.arguments.end(ctx, cut);
        }
    }

    fn ends_inside_line(&self) -> bool {
        true
    }
}
