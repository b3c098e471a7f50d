//! Tool calls whose tool is named in a header, with the arguments alone behind it.

use super::Call;
use crate::edit::stream::context::{Progress, ReaderContext};
use crate::edit::stream::headers::{CallHeader, ENDS, FENCE, SPACE};
use crate::edit::stream::input::Input;
use crate::edit::stream::reader::Reader;

/// A call being read, from its arguments on.
#[derive(Debug)]
pub(in crate::edit::stream) struct Addressed {
    arguments: Call,
    is_read: bool,
    /// A fence around the arguments is open.
    is_fenced: bool,
}

impl Addressed {
    pub fn new(header: CallHeader) -> Self {
        Addressed { arguments: Call::of(header.tool), is_read: false, is_fenced: header.is_fenced }
    }

    /// Reads the marks that close it.
    fn close(&mut self, input: &mut Input) -> Progress {
        let rest = input.rest();
        let text = rest.trim_start();
        let space = rest.len() - text.len();
        let fence = self.is_fenced.then_some(FENCE);
        let mut marks = ENDS.into_iter().chain(fence);
        if let Some(mark) = marks.clone().find(|mark| text.starts_with(mark)) {
            self.is_fenced &= mark != FENCE;
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
