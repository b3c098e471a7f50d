//! A whole file in a fence.

use std::borrow::Cow;

use super::block::{COMMANDS, Held, held, lines};
use super::spec::FormatSpec;
use crate::edit::format::Format;
use crate::edit::op::{Edit, Op};
use crate::edit::path::is_prose;
use crate::edit::stream::context::{CUT, Progress, ReaderContext};
use crate::edit::stream::input::Input;
use crate::edit::stream::paths;
use crate::edit::stream::pieces::{EditId, EditPart, End};
use crate::edit::stream::reader::Reader;
use crate::edit::stream::starts::{self, Fence};
use crate::edit::stream::tags::{Tag, tag};

impl Format {
    /// A path line and a fenced block with the whole file.
    pub const WHOLE: Format = Format::named("whole");
}

pub(super) const SPEC: FormatSpec = FormatSpec {
    format: Format::WHOLE,
    prompt: include_str!("../../../assets/prompts/format-whole.md"),
    small_prompt: Some(include_str!("../../../assets/prompts/format-whole-small.md")),
    example: Some([
        include_str!("../../../assets/prompts/example-ask.md"),
        include_str!("../../../assets/prompts/example-whole.md"),
    ]),
    reminder: Some(
        "Reply with each changed file: its path alone on a line, then a fenced block with the file's complete new text.",
    ),
    label_on_screen: "whole",
    verb: ["write", "writing", "wrote"],
    start: None,
};

/// A fenced file being read, from after its opening line.
#[derive(Debug)]
pub(in crate::edit) struct Whole {
    id: EditId,
    path: String,
    /// The lines that the path names.
    range: Option<(usize, usize)>,
    fence: Fence,
    content: String,
    /// Fences inside the file that are open.
    depth: usize,
    /// The file is one that holds fences itself: a closing line may be its own.
    holds_fences: bool,
    ahead: Ahead,
}

/// The result of looking ahead after a line that may close the fence.
#[derive(Debug, Default)]
struct Ahead {
    /// Whole lines, in bytes.
    looked: usize,
    /// No line ends before this, in bytes.
    searched: usize,
    /// The last of the lines that is not blank.
    last: String,
}

impl Ahead {
    /// Returns how long the next line is; none if it has not come to its end.
    fn line(&mut self, after: &str, ended: bool) -> Option<usize> {
        let from = self.searched.max(self.looked);
        let found = memchr::memchr(b'\n', &after.as_bytes()[from..]);
        self.searched = found.map_or(after.len(), |at| from + at);
        let rest = after.len() - self.looked;
        found.map(|at| from + at + 1 - self.looked).or((ended && rest > 0).then_some(rest))
    }
}

/// The meaning of a bare fence line in a file of fences.
enum Bare {
    /// The text does not decide yet.
    Wait,
    /// The end of the file.
    Closes,
    /// The beginning of a block inside the file, which ends this many bytes later.
    Opens(usize),
    /// Neither form is certain.
    Unclear,
}

impl Whole {
    pub fn new(path: String, range: Option<(usize, usize)>, fence: Fence, ctx: &mut ReaderContext) -> Self {
        let id = ctx.start(Format::WHOLE);
        ctx.grew(id, EditPart::Path, &path);
        let known = ctx.lines_of(&path).is_some_and(|lines| lines.holds(&fence));
        let holds_fences = known || is_prose(&path);
        Whole { id, path, range, fence, content: String::new(), depth: 0, holds_fences, ahead: Ahead::default() }
    }

    /// Returns what a bare fence line is that stands outside of every block of the file, seen from what follows it. To
    /// the letter it closes. But small models write Markdown with bare blocks inside into a fence that is no longer
    /// than theirs; a file cut short there would pass for whole.
    fn bare(&mut self, after: &str, end: Option<End>, ctx: &ReaderContext) -> Bare {
        if !self.holds_fences {
            return Bare::Closes;
        }
        while let Some(length) = self.ahead.line(after, end.is_some()) {
            let at = self.ahead.looked;
            let bare = after[at..at + length].trim_end();
            let begins_edit = ctx.begins_edit(bare) || begins_tag(bare, ctx);
            if begins_edit || self.fence.opened_by(bare) {
                return Bare::Closes;
            }
            if self.fence.closed_by(bare) {
                // A path right above it: another file begins there.
                if paths::path_line(&self.ahead.last, &ctx.known).is_some() {
                    return Bare::Closes;
                }
                return self.block(&after[..at], at + length, ctx);
            }
            if self.ahead.last.is_empty() && self.is_said(bare, after, ctx) {
                return Bare::Closes;
            }
            if !bare.trim().is_empty() {
                self.ahead.last = bare.to_string();
            }
            self.ahead.looked += length;
        }
        match end {
            None => Bare::Wait,
            Some(end) => self.rest(after, end, ctx),
        }
    }

    /// Returns whether the first line after a bare fence line is a sentence of the answer: a blank line before it,
    /// which a block does not begin with, and the file does not have it.
    fn is_said(&self, line: &str, after: &str, ctx: &ReaderContext) -> bool {
        let apart = after.lines().next().is_some_and(|l| l.trim().is_empty());
        let ends = line.ends_with(['.', ':', '!', '?', '。', '：', '！', '？']);
        let words = line.split_whitespace().count() >= 3 || line.chars().filter(|c| !c.is_ascii()).count() >= 6;
        let there = || ctx.lines_of(&self.path).is_some_and(|lines| lines.counts.contains_key(line));
        apart && ends && words && line.starts_with(char::is_alphanumeric) && !there()
    }

    /// Returns the same, where no other fence follows.
    fn rest(&self, after: &str, end: End, ctx: &ReaderContext) -> Bare {
        let prose = !after.trim().is_empty() && after.lines().next().is_none_or(|l| l.trim().is_empty());
        match self.is_of_the_file(after, ctx) {
            true => Bare::Unclear,
            false if prose || end == End::Ordinary => Bare::Closes,
            // The answer was cut in what may be a block of the file.
            false => Bare::Unclear,
        }
    }

    /// Returns whether most of these lines are in the file as it is.
    fn is_of_the_file(&self, text: &str, ctx: &ReaderContext) -> bool {
        let Some(known) = ctx.lines_of(&self.path) else { return false };
        let solid: Vec<&str> = text.lines().map(str::trim).filter(|l| !l.is_empty()).collect();
        !solid.is_empty() && solid.iter().filter(|l| known.counts.contains_key::<str>(l)).count() * 2 >= solid.len()
    }

    /// Returns whether the text between two bare fence lines is a block of the file, or prose after it. The present text
    /// of the file decides, else blank lines: prose has them around it, and code has not.
    fn block(&self, between: &str, length: usize, ctx: &ReaderContext) -> Bare {
        if between.trim().is_empty() {
            return Bare::Unclear;
        }
        if self.is_of_the_file(between, ctx) {
            return Bare::Opens(length);
        }
        let blank = |line: Option<&str>| line.is_none_or(|l| l.trim().is_empty());
        match (blank(between.lines().next()), blank(between.lines().next_back())) {
            (false, false) => Bare::Opens(length),
            (true, true) => Bare::Closes,
            _ => Bare::Unclear,
        }
    }

    /// Adds the edits of the block's text. Where files are made by calls it is none.
    fn close(&self, content: &str, is_whole: bool, ctx: &mut ReaderContext) {
        if ctx.expected == Some(Format::TOOLS) {
            return ctx.dropped(self.id, format!("{}: {NOT_AT_HAND}", self.path));
        }
        let named = BlockPath { path: &self.path, range: self.range };
        add(self.id, &named, content, &self.fence, is_whole, ctx);
    }

    /// Returns lines without the indentation that the fence itself has.
    fn without_indent<'t>(&self, text: &'t str) -> Cow<'t, str> {
        if self.fence.indent == 0 {
            return Cow::Borrowed(text);
        }
        Cow::Owned(text.split_inclusive('\n').map(|line| starts::dedented(line, self.fence.indent)).collect())
    }
}

impl Reader for Whole {
    fn step(&mut self, input: &mut Input, ctx: &mut ReaderContext) -> Progress {
        while let Some(line) = input.line() {
            let content = &input.rest()[..line.content];
            let mut taken = line.next;
            if self.fence.opened_by(content) {
                self.depth += 1;
            } else if self.fence.closed_by(content) {
                if self.depth == 0 {
                    match self.bare(&input.rest()[line.next..], input.end, ctx) {
                        Bare::Wait => return Progress::Wait,
                        Bare::Closes => {
                            input.skip(line.next);
                            self.close(&self.content, true, ctx);
                            return Progress::Done;
                        }
                        Bare::Opens(block) => taken += block,
                        Bare::Unclear => {
                            let why = if input.end == Some(End::Cut) { CUT } else { UNCLEAR };
                            input.skip(line.next);
                            ctx.dropped(self.id, why.to_string());
                            return Progress::Done;
                        }
                    }
                } else {
                    self.depth -= 1;
                }
            }
            let text = self.without_indent(&input.rest()[..taken]);
            self.content.push_str(&text);
            ctx.grew(self.id, EditPart::New, &text);
            input.skip(taken);
            self.ahead = Ahead::default();
        }
        Progress::Wait
    }

    fn end(&mut self, ctx: &mut ReaderContext, cut: bool) {
        match cut {
            true => ctx.dropped(self.id, CUT.to_string()),
            false => {
                let closed = closed_at_end(&self.content, &self.fence).filter(|_| !self.holds_fences);
                let (content, is_whole) = closed.map_or((self.content.as_str(), false), |content| (content, true));
                self.close(content, is_whole, ctx);
            }
        }
    }
}

/// The marks that models and their servers leave at the end of an answer, no part of it.
const END_MARKS: [&str; 6] = ["<|im_end|>", "<|endoftext|>", "<|eot_id|>", "<|end_of_text|>", "<|end|>", "</s>"];

/// Returns the text in a fence before the last line of an answer that ended by itself, where that line closes the fence
/// in a way of its own: with the language again, at the end of a line of code, or with a mark of the model's behind it.
pub(super) fn closed_at_end<'t>(content: &'t str, fence: &Fence) -> Option<&'t str> {
    let mut text = content.trim_end();
    while let Some(rest) = END_MARKS.iter().find_map(|mark| text.strip_suffix(mark)) {
        text = rest.trim_end();
    }
    let marked = text.len() < content.trim_end().len();
    let start = text.rfind('\n').map_or(0, |at| at + 1);
    let last = &text[start..];
    if Fence::open(last).is_some_and(|f| fence.like(&f) && !f.info.contains(char::is_whitespace)) {
        return Some(&text[..start]);
    }
    let glued = last.trim_end_matches(fence.mark);
    let count = last.len() - glued.len();
    if count >= fence.length && !glued.trim().is_empty() && !glued.contains(fence.mark) {
        return Some(&text[..start + glued.len()]);
    }
    marked.then_some(text)
}

const NOT_AT_HAND: &str = "it is none of the files that were read, so the block under its path was not taken for the file. If it \
                           is to be written, do that now in the way you are asked to change files.";
const UNCLEAR: &str = "the file holds lines of ``` itself, so it is not certain where it ends, and nothing of it was used. \
                       Send it again inside a fence of four backticks (````).";

fn begins_tag(line: &str, ctx: &ReaderContext) -> bool {
    let line = line.trim_start();
    line.starts_with('<') && matches!(tag(line, &ctx.calls), Tag::Open(..))
}

/// Returns the edit that gives a file this text.
fn whole(path: &str, content: &str, complete: bool) -> Edit {
    let path = path.strip_prefix("./").unwrap_or(path);
    let mut content = content.to_string();
    if (!complete || !content.is_empty()) && !content.ends_with('\n') {
        content.push('\n');
    }
    let edit = Edit::new(path, Op::Overwrite { content }, Format::WHOLE, Format::WHOLE.name());
    Edit { whole: complete, ..edit }
}

/// Adds the edits of a block under a path at once.
pub(super) fn emit(named: &BlockPath, content: &str, fence: &Fence, complete: bool, ctx: &mut ReaderContext) {
    let id = ctx.start(Format::WHOLE);
    ctx.grew(id, EditPart::Path, named.path);
    ctx.grew(id, EditPart::New, content);
    add(id, named, content, fence, complete, ctx);
}

/// A path that stands near a block, and the lines it names.
pub(super) struct BlockPath<'a> {
    pub path: &'a str,
    pub range: Option<(usize, usize)>,
}

/// Ends the edit `id`, which a block began, with what the block holds; more files than one are edits of their own.
fn add(id: EditId, named: &BlockPath, content: &str, fence: &Fence, complete: bool, ctx: &mut ReaderContext) {
    let path = named.path;
    match named.range.map_or(Ok(None), |range| lines(path, range, content, ctx)) {
        Ok(Some(edit)) => return ctx.done(id, edit),
        Ok(None) => {}
        Err(why) => return ctx.dropped(id, why.to_string()),
    }
    match held(path, content, fence, ctx) {
        Held::Text => ctx.done_whole(id, whole(path, content, complete)),
        Held::Commands => ctx.dropped(id, COMMANDS.to_string()),
        Held::Files(files) => {
            for (at, (path, text)) in files.iter().enumerate() {
                let id = if at == 0 { id } else { ctx.start(Format::WHOLE) };
                ctx.done(id, whole(path, text, complete));
            }
        }
    }
}
