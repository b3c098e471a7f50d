//! Lines inside a block that no line has closed, at which another file begins all the same.

use super::namesakes::may_be_version;
use super::{is_likely, path_line, same_path};
use crate::edit::path::{is_prose, may_name};
use crate::edit::stream::context::ReaderContext;
use crate::edit::stream::starts::{Fence, HEAD};

/// A block that is open.
#[derive(Debug, Clone, Copy)]
pub(in crate::edit) struct OpenBlock<'a> {
    pub fence: &'a Fence,
    /// The path that stands near it.
    pub path: Option<&'a str>,
    /// Its text so far.
    pub content: &'a str,
}

impl OpenBlock<'_> {
    /// Returns whether another file begins with a line of the block: a fence that names it, or the file's path right above
    /// such a fence. `below`: what has arrived behind the line. `None`: it does not decide yet.
    pub fn is_ended_by(&self, line: &str, below: &str, ended: bool, ctx: &ReaderContext) -> Option<bool> {
        let is_opener = |line: &str| self.fence.opened_by(line) && line.trim_start().len() == line.len();
        let other = |path: Option<String>| path.filter(|path| self.is_other(path, ctx));
        let first = |text: &str| text.split('\n').next().unwrap_or_default().trim_end().to_string();
        let is_here = |text: &str| ended || text.contains('\n') || text.len() >= HEAD;
        let path = if is_opener(line) {
            let named = other(Fence::open(line).and_then(|fence| fence.path(&ctx.known)));
            if named.is_none() && !is_here(below) {
                return None;
            }
            let is_known = |path: &String| ctx.known.iter().any(|file| same_path(path, &file.path));
            named.or_else(|| other(path_line(&first(below), &ctx.known)).filter(is_known))
        } else if let Some(path) = other(path_line(line, &ctx.known)) {
            let text = below.trim_start_matches(['\r', '\n']);
            if !is_here(text) && below.len() < HEAD {
                return text.is_empty().then_some(()).or(Fence::may(text).then_some(())).map_or(Some(false), |()| None);
            }
            is_opener(&first(text)).then_some(path)
        } else {
            None
        };
        Some(path.is_some() && self.is_file(ctx))
    }

    /// Returns whether a path is of another file than the block.
    fn is_other(&self, path: &str, ctx: &ReaderContext) -> bool {
        let is_it = |own: &str| same_path(path, own) || same_path(own, path) || may_name(path, own);
        is_likely(path, &ctx.known) && !self.path.is_some_and(is_it)
    }

    /// Returns whether the text so far is that of a file which holds no such fences itself, and none in a quotation of it.
    fn is_file(&self, ctx: &ReaderContext) -> bool {
        let is_quoted = ["\"\"\"", "'''"].iter().any(|mark| self.content.matches(mark).count() % 2 == 1);
        let is_version =
            |text: &str| may_be_version(self.content, text) && !text.lines().any(|l| Fence::open(l).is_some());
        let known = ctx.known.iter().find(|file| self.path.is_some_and(|path| same_path(path, &file.path)));
        let is_own = match (known, self.path) {
            (Some(file), _) => !is_prose(&file.path) && is_version(&file.text),
            (None, Some(path)) => !is_prose(path) && !self.content.trim().is_empty(),
            (None, None) => ctx.known.iter().any(|file| !is_prose(&file.path) && is_version(&file.text)),
        };
        is_own && !is_quoted
    }
}
