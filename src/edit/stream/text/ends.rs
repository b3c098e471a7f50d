//! The ends of blocks and of the answer.

use super::super::block::shows_output;
use super::super::context::ReaderContext;
use super::super::fence::{Holds, OpenFence};
use super::super::input::{Input, Line};
use super::super::paths::{openers::OpenBlock, path_line};
use super::super::pieces::End;
use super::super::reader::Next;
use super::Text;
use crate::edit::formats::code::from_code;
use crate::edit::formats::whole::Whole;
use crate::edit::path::is_prose;

impl Text {
    /// Returns whether another file begins at a line of the open block of code; `None` if what follows must be seen first.
    pub(super) fn ended_by(&self, line: Line, input: &Input, ctx: &ReaderContext) -> Option<bool> {
        let Some(OpenFence { fence, holds: Holds::Code { content_so_far: Some(content), near }, .. }) = &self.fence
        else {
            return Some(false);
        };
        let path = near.path.as_deref().filter(|_| near.titled);
        let (text, below) = (&input.rest()[..line.content], &input.rest()[line.next..]);
        OpenBlock { fence, path, content }.is_ended_by(text, below, input.ended(), ctx)
    }

    /// Ends the open block of code that no line closes.
    pub(super) fn leave(&mut self, ctx: &mut ReaderContext) -> Next {
        self.said.end_block();
        if let Some(OpenFence { fence, holds: Holds::Code { content_so_far: Some(content), near }, .. }) =
            self.fence.take()
        {
            from_code(content.trim_end(), &fence, &near, true, ctx);
        }
        Next::Again
    }

    /// Handles the closing line of the open fence.
    pub(super) fn close(&mut self, line: Line, input: &mut Input, ctx: &mut ReaderContext) -> Next {
        let text = &input.rest()[..line.content];
        if let Some(block) = OpenFence::take_unclosed(&mut self.fence, text, ctx) {
            return Next::Enter(Box::new(Whole::of_code(block)));
        }
        let raw = input.rest()[..line.next].to_string();
        input.skip(line.next);
        let Some(OpenFence { fence, holds, .. }) = self.fence.take() else { return Next::Again };
        match holds {
            Holds::Code { content_so_far, near } => {
                self.show(&raw, ctx);
                ctx.is_unfenced |= content_so_far.as_deref().is_some_and(|text| names_document(text, ctx));
                if !shows_output(&fence.info) {
                    self.said.end_block();
                }
                if content_so_far.is_some_and(|content| from_code(&content, &fence, &near, true, ctx)) {
                    self.ignored = Some(fence);
                }
            }
            Holds::Edits(true) => {
                self.flush(ctx);
                ctx.prose(&raw);
            }
            Holds::Edits(false) => self.flush(ctx),
        }
        Next::Again
    }

    /// Handles the end of the answer.
    pub(in super::super) fn end(&mut self, input: &mut Input, ctx: &mut ReaderContext) {
        self.flush(ctx);
        let rest = input.rest().to_string();
        input.skip(rest.len());
        self.say(&rest, ctx);
        if let Some(OpenFence { fence, holds: Holds::Code { content_so_far: Some(content), near }, .. }) =
            self.fence.take_if(|_| input.end == Some(End::Ordinary))
        {
            from_code(&content, &fence, &near, false, ctx);
        }
    }
}

/// Returns whether a text is nothing but the path of a document.
fn names_document(text: &str, ctx: &ReaderContext) -> bool {
    let line = text.trim();
    !line.contains('\n') && path_line(line, &ctx.known).is_some_and(|path| is_prose(&path))
}
