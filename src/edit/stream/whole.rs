//! A whole file in a fence.

use std::collections::HashSet;

use super::input::Input;
use super::starts::Fence;
use super::{Context, EditId, Known, Part, Progress};
use crate::edit::{Edit, Format, Op};

/// A fenced file being read, from after its opening line.
#[derive(Debug)]
pub(super) struct Whole {
    id: EditId,
    path: String,
    fence: Fence,
    content: String,
    /// Fences inside the file that are open.
    depth: usize,
}

impl Whole {
    pub fn new(path: String, fence: Fence, ctx: &mut Context) -> Self {
        let id = ctx.start(Format::Whole);
        ctx.grew(id, Part::Path, &path);
        Whole { id, path, fence, content: String::new(), depth: 0 }
    }

    pub fn step(&mut self, input: &mut Input, ctx: &mut Context) -> Progress {
        while let Some(line) = input.line() {
            let text = &input.rest()[..line.next];
            let content = &text[..line.content];
            if self.fence.opened_by(content) {
                self.depth += 1;
            } else if self.fence.closed_by(content) {
                if self.depth == 0 {
                    input.skip(line.next);
                    let (id, edit) = (self.id, whole(&self.path, &self.content, true));
                    ctx.done(id, edit);
                    return Progress::Done;
                }
                self.depth -= 1;
            }
            self.content.push_str(text);
            ctx.grew(self.id, Part::New, text);
            input.skip(line.next);
        }
        Progress::Wait
    }

    pub fn end(&mut self, ctx: &mut Context, cut: bool) {
        match cut {
            true => ctx.dropped(self.id, super::CUT.to_string()),
            false => ctx.done(self.id, whole(&self.path, &self.content, false)),
        }
    }
}

/// The edit that gives a file this text.
pub(super) fn whole(path: &str, content: &str, complete: bool) -> Edit {
    let path = path.strip_prefix("./").unwrap_or(path);
    let mut content = content.to_string();
    if !complete && !content.ends_with('\n') {
        content.push('\n');
    }
    let edit = Edit::new(path, Op::Overwrite { content }, Format::Whole, Format::Whole.name());
    Edit { whole: complete, ..edit }
}

/// The one file in play whose new text a fenced block is, although nothing says so: it holds most lines of that
/// file, and is not the file as it is.
pub(super) fn resembled<'k>(content: &str, known: impl Iterator<Item = &'k Known>) -> Option<&'k Known> {
    let lines: HashSet<&str> = content.lines().map(str::trim).collect();
    let alike = |file: &&Known| {
        let solid: Vec<&str> = file.text.lines().map(str::trim).filter(|l| !l.is_empty()).collect();
        let kept = solid.iter().filter(|l| lines.contains(*l)).count();
        kept * 10 >= solid.len() * 6 && kept > 0
    };
    let mut fits = known.filter(alike);
    let file = fits.next()?;
    let same = content.lines().eq(file.text.lines());
    (fits.next().is_none() && !same).then_some(file)
}
