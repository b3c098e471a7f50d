//! A whole file in a fence.

use std::borrow::Cow;

use super::block::{BlockPath, add, closed_at_end};
use super::code::{Surroundings, from_code, unread};
use super::spec::FormatSpec;
use crate::edit::format::Format;
use crate::edit::path::is_prose;
use crate::edit::place::begin_alike;
use crate::edit::stream::context::{CUT, Progress, ReaderContext};
use crate::edit::stream::input::Input;
use crate::edit::stream::paths;
use crate::edit::stream::paths::openers::OpenBlock;
use crate::edit::stream::pieces::{EditId, EditPart, End, KnownFile};
use crate::edit::stream::reader::Reader;
use crate::edit::stream::starts::{self, Fence, HEAD};
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
    becomes: Becomes,
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

/// The result of reading a fenced file.
#[derive(Debug)]
enum Becomes {
    /// An edit that has begun.
    Edit(EditId),
    /// A block of code, shown as prose, which is an edit if its text says so.
    Block(Surroundings),
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
        let becomes = Becomes::Edit(id);
        Whole { becomes, path, range, fence, content: String::new(), depth: 0, holds_fences, ahead: Ahead::default() }
    }

    /// Goes on reading a block of code near a file's path, whose text so far is shown, at a line that may close it.
    pub fn of_code((content, fence, near): (String, Fence, Surroundings)) -> Self {
        let (path, range) = (near.path.clone().unwrap_or_default(), near.range);
        let depth = content.lines().filter(|line| fence.opened_by(line)).count();
        let (becomes, ahead) = (Becomes::Block(near), Ahead::default());
        Whole { becomes, path, range, fence, content, depth, holds_fences: true, ahead }
    }

    /// Returns what a bare fence line is that stands outside of every block of the file, seen from what follows it. To
    /// the letter it closes. But small models write Markdown with bare blocks inside into a fence that is no longer
    /// than theirs; a file cut short there would pass for whole.
    fn bare(&mut self, line: &str, after: &str, end: Option<End>, ctx: &ReaderContext) -> Bare {
        if !self.holds_fences {
            return Bare::Closes;
        }
        let inner = Some(indent(line)).filter(|indent| *indent > self.fence.indent);
        while let Some(length) = self.ahead.line(after, end.is_some()) {
            let at = self.ahead.looked;
            let bare = after[at..at + length].trim_end();
            let begins_edit = ctx.begins_edit(bare) || begins_tag(bare, ctx);
            if begins_edit || self.fence.opened_by(bare) {
                return Bare::Closes;
            }
            if self.fence.closed_by(bare) {
                // Of an indented one, as in a list, the indentation tells which belong together.
                if inner == Some(indent(bare)) && !after[..at].trim().is_empty() {
                    return Bare::Opens(at + length);
                }
                return self.block(&after[..at], &after[at + length..], end, ctx).unwrap_or(Bare::Opens(at + length));
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

    /// Returns whether what came so far is the file as it is, and what follows ends with a line that leads to another block: it
    /// changes nothing.
    fn is_quoted(&self, ctx: &ReaderContext) -> bool {
        let leads = self.ahead.last.ends_with([':', '：']) || self.ahead.last.ends_with("**");
        let is_own = |file: &KnownFile| paths::same_path(&self.path, &file.path);
        leads && ctx.known.iter().any(|file| is_own(file) && file.text.trim_end() == self.content.trim_end())
    }

    /// Returns whether most of these lines are in the file as it is.
    fn is_of_the_file(&self, text: &str, ctx: &ReaderContext) -> bool {
        let Some(known) = ctx.lines_of(&self.path) else { return false };
        let solid: Vec<&str> = text.lines().map(str::trim).filter(|l| !l.is_empty()).collect();
        !solid.is_empty() && solid.iter().filter(|l| known.counts.contains_key::<str>(l)).count() * 2 >= solid.len()
    }

    /// Returns whether the text between two bare fence lines is prose after the file, or not certain to be that; none: it
    /// is a block of the file. The present text of the file decides, else blank lines: prose has them around it, and code
    /// has not. `below`: the text behind the second of the lines.
    fn block(&self, between: &str, below: &str, end: Option<End>, ctx: &ReaderContext) -> Option<Bare> {
        if between.trim().is_empty() {
            return Some(Bare::Unclear);
        }
        let blank = |line: Option<&str>| line.is_none_or(|l| l.trim().is_empty());
        let is_apart = blank(between.lines().next());
        // A path right above the second one: another file may begin there.
        let path = paths::path_line(&self.ahead.last, &ctx.known);
        if paths::is_of_tree(&self.ahead.last) || path.is_some() && self.has_block(between, ctx) {
            return None;
        }
        if path.is_some() && is_apart {
            return Some(Bare::Closes);
        }
        if self.is_of_the_file(between, ctx) {
            return None;
        }
        if let Some(path) = path {
            return self.titled(&path, between, below, end, ctx);
        }
        match (is_apart, blank(between.lines().next_back())) {
            (false, false) => None,
            (true, true) => Some(Bare::Closes),
            _ => Some(Bare::Unclear),
        }
    }

    /// Returns the same, where a path right above the second of the lines does not stand apart from the first one. Behind a
    /// block of a document comes a blank line, and another file begins with its first line at once.
    fn titled(&self, path: &str, between: &str, below: &str, end: Option<End>, ctx: &ReaderContext) -> Option<Bare> {
        let line = starts::head(below).lines().next().unwrap_or_default().trim();
        if end.is_none() && !below.contains('\n') && below.len() < HEAD {
            return Some(Bare::Wait);
        }
        let mut lines = between.lines().filter(|line| !line.trim().is_empty());
        let is_list = between.trim().contains('\n') && lines.all(|l| paths::path_line(l, &ctx.known).is_some());
        if line.is_empty() || Fence::open(line).is_some() || is_list {
            return None;
        }
        let file = ctx.known.iter().find(|file| paths::same_path(path, &file.path));
        let above = self.content.lines().next_back().unwrap_or_default().trim();
        let leads = above.is_empty() || above.ends_with([':', '：']) || above.starts_with('#');
        let begins = file.is_some_and(|file| paths::holds_line(&file.text, line));
        Some(if begins || !leads && !is_sentence(line) { Bare::Closes } else { Bare::Unclear })
    }

    /// Returns whether the file as it is has a block of just these lines.
    fn has_block(&self, between: &str, ctx: &ReaderContext) -> bool {
        let Some(file) = ctx.known.iter().find(|file| paths::same_path(&self.path, &file.path)) else { return false };
        let block: Vec<&str> = between.lines().map(str::trim_end).collect();
        let lines: Vec<&str> = file.text.lines().map(str::trim_end).collect();
        let is_fence = |line: &str| self.fence.closed_by(line);
        lines
            .windows(block.len() + 2)
            .any(|own| own[1..=block.len()] == block[..] && is_fence(own[0]) && is_fence(own[block.len() + 1]))
    }

    /// Adds the edits of the block's text. Where files are made by calls it is none.
    fn close(&self, content: &str, is_whole: bool, ctx: &mut ReaderContext) {
        let id = match &self.becomes {
            Becomes::Edit(id) => *id,
            Becomes::Block(near) => {
                from_code(content, &self.fence, near, is_whole, ctx);
                return;
            }
        };
        if ctx.expected == Some(Format::TOOLS) {
            return ctx.dropped(id, format!("{}: {NOT_AT_HAND}", self.path));
        }
        if ctx.is_unclear && ctx.lines_of(&self.path).is_none() {
            return ctx.dropped(id, format!("{}: {BEHIND_UNCLEAR}", self.path));
        }
        let named = BlockPath { path: &self.path, range: self.range };
        add(id, &named, content, &self.fence, is_whole, ctx);
    }

    /// Drops the file, of which not all may be known. A block that may only quote a part of its file is noted as unread.
    fn drop_it(&self, why: &str, ctx: &mut ReaderContext) {
        ctx.is_unclear |= why == UNCLEAR;
        match &self.becomes {
            Becomes::Edit(id) => ctx.dropped(*id, why.to_string()),
            Becomes::Block(_) if why == CUT => {}
            Becomes::Block(near) => {
                let own = ctx.known.iter().find(|file| file.path == self.path);
                if near.titled && own.is_some_and(|file| begin_alike(&file.text, &self.content)) {
                    let id = ctx.start(Format::WHOLE);
                    ctx.grew(id, EditPart::Path, &self.path);
                    return ctx.dropped(id, why.to_string());
                }
                unread(near.path.as_deref(), (near.titled, near), (&self.fence, &self.content), ctx);
            }
        }
    }

    /// Takes lines of the file.
    fn take(&mut self, text: &str, ctx: &mut ReaderContext) {
        match &self.becomes {
            Becomes::Edit(id) => {
                let text = self.without_indent(text);
                ctx.grew(*id, EditPart::New, &text);
                self.content.push_str(&text);
            }
            Becomes::Block(_) => {
                ctx.prose(text);
                self.content.push_str(text);
            }
        }
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
            if self.depth == 0 && !self.holds_fences {
                let block = OpenBlock { fence: &self.fence, path: Some(&self.path), content: &self.content };
                match block.is_ended_by(content, &input.rest()[line.next..], input.ended(), ctx) {
                    None => return Progress::Wait,
                    Some(true) => {
                        self.close(&without_blank_end(&self.content), true, ctx);
                        return Progress::Done;
                    }
                    Some(false) => {}
                }
            }
            if self.fence.opened_by(content) {
                self.depth += 1;
            } else if self.fence.closed_by(content) {
                if self.depth == 0 {
                    match self.bare(content, &input.rest()[line.next..], input.end, ctx) {
                        Bare::Wait => return Progress::Wait,
                        Bare::Opens(block) => taken += block,
                        bare => {
                            if let Becomes::Block(_) = self.becomes {
                                ctx.prose(&input.rest()[..line.next]);
                            }
                            input.skip(line.next);
                            match bare {
                                Bare::Closes => self.close(&self.content, true, ctx),
                                _ if input.end != Some(End::Cut) && self.is_quoted(ctx) => {
                                    self.close(&self.content, true, ctx);
                                }
                                _ => self.drop_it(if input.end == Some(End::Cut) { CUT } else { UNCLEAR }, ctx),
                            }
                            return Progress::Done;
                        }
                    }
                } else {
                    self.depth -= 1;
                }
            }
            self.take(&input.rest()[..taken], ctx);
            input.skip(taken);
            self.ahead = Ahead::default();
        }
        Progress::Wait
    }

    fn end(&mut self, ctx: &mut ReaderContext, cut: bool) {
        match cut {
            true => self.drop_it(CUT, ctx),
            false => {
                let closed = closed_at_end(&self.content, &self.fence).filter(|_| !self.holds_fences);
                let (content, is_whole) = closed.map_or((self.content.as_str(), false), |content| (content, true));
                self.close(content, is_whole, ctx);
            }
        }
    }
}

const NOT_AT_HAND: &str = "it is none of the files that were read, so the block under its path was not taken for the file. If it \
                           is to be written, do that now in the way you are asked to change files.";
const UNCLEAR: &str = "the file holds lines of ``` itself, so it is not certain where it ends, and nothing of it was used. \
                       Send it again inside a fence of four backticks (````).";
const BEHIND_UNCLEAR: &str = "it stands behind a file of which it is not certain where it ends, so it may be an example in that one, \
                              and was not made. Send it again too.";

/// Returns a text without blank lines at its end.
fn without_blank_end(text: &str) -> String {
    format!("{}\n", text.trim_end_matches(['\r', '\n', ' ', '\t']))
}

/// Returns whether a line reads as prose, not as code.
fn is_sentence(line: &str) -> bool {
    let begins = line.starts_with(|c: char| c.is_uppercase() || !c.is_ascii());
    line.split_whitespace().count() >= 3 && (begins || line.ends_with(['.', ':', '!', '?']))
}

/// Returns how far a line is indented, in bytes.
fn indent(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

fn begins_tag(line: &str, ctx: &ReaderContext) -> bool {
    let line = line.trim_start();
    line.starts_with('<') && matches!(tag(line, &ctx.calls), Tag::Open(..))
}
