//! The text around edits: prose, passed on at once, and possible beginnings of edits, held back until decided.

mod ends;
mod said;

use self::said::ProseAbove;
use super::block::headed::part_head;
use super::call::starts::{self as calls, CALLS_MARK, Calls};
use super::call::{self, Addressed, Call, Named};
use super::context::ReaderContext;
use super::fence::{Around, Contents, Heading, Holds, OpenFence, said_path};
use super::input::{Input, Line};
use super::paths::{self, claims, heads, same_path, spaced};
use super::reader::{Beginning, Next, ReadFrom};
use super::starts::{self, Fence, HEAD, head};
use super::tags::{Tag, tag};
use crate::edit::format::Format;
use crate::edit::formats;
use crate::edit::formats::code::Surroundings;
use crate::edit::formats::patch::{self, Patch};
use crate::edit::formats::whole::Whole;
use crate::edit::formats::xml::Xml;
use crate::edit::path::{is_prose, line_range};

/// Code longer than this, in bytes, is not looked at as a whole file.
const LONGEST: usize = 4 << 20;

/// The state of the reader of ordinary text.
#[derive(Debug, Default)]
pub(super) struct Text {
    /// True in the middle of a line that is prose.
    inside_line: bool,
    /// The line break right after an edit goes with it.
    after_edit: bool,
    /// A line that is nothing but a path, with the blank lines after it: shown only if no edit follows.
    heading: Option<Heading>,
    said: ProseAbove,
    /// The last character of the prose is a backtick.
    after_backtick: bool,
    fence: Option<OpenFence>,
    /// A fence around a path and the file's own fence, until its closing line or prose.
    ignored: Option<Fence>,
}

impl Text {
    /// Goes back to prose after an edit or a call.
    pub fn resume(&mut self, inside_line: bool) {
        self.inside_line = false;
        self.after_edit = inside_line;
        self.said.clear();
    }

    /// Goes back to prose after text that turned out to be prose.
    pub fn go_on(&mut self) {
        self.inside_line = true;
        if let Some(OpenFence { holds: Holds::Edits(emitted), .. }) = &mut self.fence {
            *emitted = true;
        }
    }

    /// Takes the rest of the line, or what there is of it, as prose.
    pub fn take_as_prose(&mut self, input: &mut Input, ctx: &mut ReaderContext) {
        let rest = input.rest();
        let end = memchr::memchr(b'\n', rest.as_bytes()).map_or(rest.len(), |at| at + 1);
        let text = rest[..end].to_string();
        input.skip(end);
        self.flush(ctx);
        self.after_edit = false;
        self.inside_line = !text.is_empty() && !text.ends_with('\n');
        self.say(&text, ctx);
    }

    pub fn step(&mut self, input: &mut Input, ctx: &mut ReaderContext) -> Next {
        if self.after_edit {
            let rest = input.rest();
            let blank = rest.trim_start_matches([' ', '\t', '\r']);
            match blank.as_bytes().first() {
                None if !input.ended() && rest.len() < HEAD => return Next::Wait,
                Some(b'\n') if rest.len() - blank.len() < HEAD => input.skip(rest.len() - blank.len() + 1),
                _ => {}
            }
            self.after_edit = false;
            return Next::Again;
        }
        if input.rest().is_empty() {
            return Next::Wait;
        }
        if self.inside_line { self.middle(input, ctx) } else { self.start(input, ctx) }
    }

    /// Reads a line of prose: up to its end, or to a tag.
    fn middle(&mut self, input: &mut Input, ctx: &mut ReaderContext) -> Next {
        let rest = input.rest();
        let tags = self.fence.as_ref().is_none_or(|f| matches!(f.holds, Holds::Edits(_)));
        let found = match tags {
            true => memchr::memchr3(b'\n', b'<', b'[', rest.as_bytes()),
            false => memchr::memchr(b'\n', rest.as_bytes()),
        };
        let Some(at) = found else {
            let text = rest.to_string();
            input.skip(text.len());
            self.say(&text, ctx);
            return Next::Wait;
        };
        if rest.as_bytes()[at] == b'\n' {
            let text = rest[..=at].to_string();
            input.skip(at + 1);
            self.say(&text, ctx);
            self.inside_line = false;
            return Next::Again;
        }
        if at > 0 {
            let text = rest[..at].to_string();
            input.skip(at);
            self.say(&text, ctx);
            return Next::Again;
        }
        // A tag in inline code is only spoken of.
        match if self.after_backtick { Tag::No } else { tag(rest, &ctx.calls) } {
            Tag::Wait if !input.ended() => Next::Wait,
            Tag::Wait | Tag::No => {
                let mark = rest[..1].to_string();
                input.skip(1);
                self.say(&mark, ctx);
                Next::Again
            }
            Tag::Around(length) => {
                input.skip(length);
                self.inside_line = false;
                self.after_edit = true;
                Next::Again
            }
            Tag::Open(kind, length, path) => {
                let raw = rest[..length].to_string();
                input.skip(length);
                let path = path.or_else(|| self.take_path());
                ctx.said.clear();
                Next::Enter(Box::new(Xml::new(kind, &raw, path)))
            }
            Tag::Named(style, length, tool) => {
                let raw = rest[..length].to_string();
                input.skip(length);
                Next::Enter(Box::new(Named::new(style, tool, raw, ctx)))
            }
            Tag::Addressed(header) => {
                input.skip(header.length);
                Next::Enter(Box::new(Addressed::new(header)))
            }
        }
    }

    /// Reads at the beginning of a line.
    fn start(&mut self, input: &mut Input, ctx: &mut ReaderContext) -> Next {
        let line = input.line();
        let rest = input.rest();
        let head = head(line.map_or(rest, |l| &rest[..l.content]));
        if let Some(open) = &self.fence {
            match line {
                Some(line) if open.fence.closed_by(&rest[..line.content]) => return self.close(line, input, ctx),
                None if Fence::may(head) => return Next::Wait,
                _ => {}
            }
            if matches!(open.holds, Holds::Code { .. }) {
                return self.code(line, input, ctx);
            }
        }
        let bare = head.trim_start();
        let (indent, is_mark) = (head.len() - bare.len(), bare.starts_with(CALLS_MARK));
        if line.is_none() && !bare.is_empty() && !is_mark && CALLS_MARK.starts_with(bare) && !input.ended() {
            return Next::Wait;
        }
        if bare.starts_with('<') || is_mark {
            match tag(&rest[indent..], &ctx.calls) {
                Tag::No => {}
                Tag::Wait if !input.ended() => return Next::Wait,
                Tag::Wait => {}
                Tag::Open(..) | Tag::Named(..) | Tag::Addressed(_) | Tag::Around(_) => {
                    input.skip(indent);
                    self.inside_line = true;
                    return Next::Again;
                }
            }
        }
        if is_mark {
            input.skip(indent + CALLS_MARK.len());
            return Next::Again;
        }
        let Some(line) = line else {
            let lead = starts::dedented(head, self.indent());
            let held = rest.len() < HEAD
                && (head.trim().is_empty()
                    || Fence::may(head)
                    || ctx.may_begin_edit(lead)
                    || "--- ".starts_with(lead)
                    || lead.starts_with("--- ")
                    || self.heading.as_ref().is_some_and(|heading| heading.is_underlined_by(head))
                    || self.bare_hunk(lead, ctx)
                    || paths::may_be_path(head, &ctx.known));
            return if held { Next::Wait } else { self.call_or_prose(input, ctx) };
        };
        if line.content >= HEAD {
            return self.call_or_prose(input, ctx);
        }
        self.whole_line(line, input, ctx)
    }

    /// Reads at the beginning of a line that has arrived whole.
    fn whole_line(&mut self, line: Line, input: &mut Input, ctx: &mut ReaderContext) -> Next {
        let rest = input.rest();
        let text = starts::dedented(&rest[..line.content], self.indent());
        if text.trim().is_empty() {
            let raw = rest[..line.next].to_string();
            input.skip(line.next);
            match &mut self.heading {
                Some(heading) if heading.raw.matches('\n').count() < 3 => heading.raw.push_str(&raw),
                _ => self.show(&raw, ctx),
            }
            return Next::Again;
        }
        if let Some(start) = formats::start_of(text) {
            return self.enter(start.read, line, input, ctx);
        }
        let is_patch = match self.bare_hunk(text, ctx) {
            true => Some(true),
            false => starts::is_header(text, &rest[line.next..], self.indent(), input.ended()),
        };
        match is_patch {
            Some(true) => return self.enter(patch::read, line, input, ctx),
            None => return Next::Wait,
            Some(false) => {}
        }
        if let Some(heading) = self.heading.as_mut().filter(|heading| heading.is_underlined_by(text)) {
            heading.raw.push_str(&rest[..line.next]);
            input.skip(line.next);
            return Next::Again;
        }
        if self.heading.is_none() && self.ignored.take_if(|outer| outer.closed_by(text)).is_some() {
            input.skip(line.next);
            return Next::Again;
        }
        if let Some(fence) = Fence::open(text) {
            ctx.note_said(self.heading.is_some(), self.said.last());
            return self.fence(fence, line, input, ctx);
        }
        match calls::calls(head(rest), &ctx.calls) {
            Calls::No => {}
            Calls::Wait if input.ended() => {}
            Calls::Wait | Calls::Yes => return self.call_or_prose(input, ctx),
        }
        if let Some(path) = paths::path_line(text, &ctx.known) {
            self.flush(ctx);
            self.heading = Some(Heading { path, raw: rest[..line.next].to_string() });
            input.skip(line.next);
            return Next::Again;
        }
        self.plain(ctx)
    }

    /// Begins to read the edit that begins with this line.
    fn enter(&mut self, read: ReadFrom, line: Line, input: &mut Input, ctx: &mut ReaderContext) -> Next {
        let fence = self.fence.as_ref().map(|open| open.fence.clone());
        ctx.note_said(self.heading.is_some(), self.said.last());
        let above = &mut |ctx: &ReaderContext| self.path_above(ctx);
        Next::Enter(read(Beginning { input, line, fence: fence.as_ref(), above }, ctx))
    }

    /// Returns how far the open fence is indented, and so what it holds.
    fn indent(&self) -> usize {
        self.fence.as_ref().map_or(0, |open| open.fence.indent)
    }

    /// Returns whether a hunk without a header counts: where a patch was asked for, or in a fence of edits.
    fn bare_hunk(&self, text: &str, ctx: &ReaderContext) -> bool {
        let is_expected = matches!(ctx.expected, None | Some(Format::PATCH));
        text.starts_with("@@ ") && (is_expected || self.fence.is_some())
    }

    /// Handles a JSON object that is a call, or prose.
    fn call_or_prose(&mut self, input: &mut Input, ctx: &mut ReaderContext) -> Next {
        match calls::calls(head(input.rest()), &ctx.calls) {
            Calls::Wait if !input.ended() => Next::Wait,
            Calls::Yes => {
                self.flush(ctx);
                if let Some(reader) = call::named(input, ctx) {
                    return Next::Enter(reader);
                }
                let lead = match &self.fence {
                    Some(OpenFence { line, holds: Holds::Edits(false), .. }) => line.clone(),
                    _ => String::new(),
                };
                Next::Enter(Box::new(Call::new(lead)))
            }
            _ => self.plain(ctx),
        }
    }

    /// Handles a line of prose.
    fn plain(&mut self, ctx: &mut ReaderContext) -> Next {
        self.flush(ctx);
        self.ignored = None;
        if let Some(OpenFence { line, holds: Holds::Edits(emitted @ false), .. }) = &mut self.fence {
            *emitted = true;
            ctx.prose(line);
        }
        self.inside_line = true;
        Next::Again
    }

    /// Handles an opening fence outside of one, or one more inside a fence of edits.
    fn fence(&mut self, fence: Fence, line: Line, input: &mut Input, ctx: &mut ReaderContext) -> Next {
        // A path and the file's own fence inside a fence: the outer one is ignored.
        let outer = self.fence.take_if(|_| self.heading.is_some() && !fence.info.is_empty());
        let inner = outer.as_ref().and_then(|_| Fence::open(&input.rest()[..line.content]));
        self.ignored = outer.map(|outer| outer.fence).or(self.ignored.take());
        let fence = inner.unwrap_or(fence);
        if self.fence.is_some() {
            // A model that opens its fence twice closes it once.
            input.skip(line.next);
            return Next::Again;
        }
        let after = &input.rest()[line.next..];
        let opening = input.rest()[..line.next].to_string();
        let heading =
            self.heading.as_ref().map(|h| h.path.clone()).or_else(|| said_path(self.said.last(), &fence, ctx));
        let around = Around { heading: heading.as_deref(), said: self.said.last() };
        match Contents::of(&fence, after, input.ended(), &around, ctx) {
            Contents::Wait => Next::Wait,
            Contents::Edits { skip } => {
                input.skip(line.next + skip);
                self.fence = Some(OpenFence { fence, line: opening, holds: Holds::Edits(false) });
                Next::Again
            }
            Contents::Diff => {
                input.skip(line.next);
                let outer = self.take_path().or_else(|| fence.path(&ctx.known));
                let outer = outer.or_else(|| heads::mentioned(self.said.last(), &ctx.known).map(str::to_string));
                self.fence = Some(OpenFence { fence: fence.clone(), line: opening, holds: Holds::Edits(false) });
                Next::Enter(Box::new(Patch::headless(fence, outer)))
            }
            Contents::Heading { path, skip } => {
                let before = self.heading.take().map_or_else(String::new, |heading| heading.raw);
                self.heading = Some(Heading { path, raw: before + &input.rest()[..line.next + skip] });
                input.skip(line.next + skip);
                Next::Again
            }
            Contents::Titled { path, skip } => {
                input.skip(line.next + skip);
                self.heading = Some(Heading { path, raw: String::new() });
                self.fence = Some(OpenFence { fence, line: opening, holds: Holds::Edits(false) });
                Next::Again
            }
            Contents::Whole { path, skip } => {
                input.skip(line.next + skip);
                let range = self.range(&fence);
                self.heading = None;
                Next::Enter(Box::new(Whole::new(path, range, fence, ctx)))
            }
            Contents::Code(path) => {
                input.skip(line.next);
                self.begin_code(path, fence, opening, ctx);
                Next::Again
            }
        }
    }

    /// Begins a block of code, which is shown.
    fn begin_code(&mut self, path: Option<String>, fence: Fence, opening: String, ctx: &mut ReaderContext) {
        let head = part_head(self.said.last(), &fence.info, &ctx.known).filter(|head| !head.adds);
        let is_part = head.zip(path.as_deref()).is_some_and(|(head, path)| same_path(head.path, path));
        let titled = self.heading.is_some() || fence.path(&ctx.known).is_some() || is_part;
        let range = self.range(&fence).or_else(|| line_range(self.said.last()));
        let (said, before) = (self.said.last().to_string(), self.said.before());
        let near = Surroundings { path, titled, range, said, before, is_bounded: false };
        // The path is that of the block, and not said before it.
        if let Some(heading) = self.heading.take() {
            ctx.prose(&heading.raw);
        }
        self.show(&opening, ctx);
        let holds = Holds::Code { content_so_far: Some(String::new()), near };
        self.fence = Some(OpenFence { fence, line: opening, holds });
    }

    /// Handles a line of code inside a fence.
    fn code(&mut self, line: Option<Line>, input: &mut Input, ctx: &mut ReaderContext) -> Next {
        let Some(line) = line else {
            // Code that cannot be the end of the fence is shown as it comes.
            let rest = head(input.rest());
            if starts::may_be_search(rest) || rest.len() < HEAD && paths::may_be_path(rest, &ctx.known) {
                return Next::Wait;
            }
            self.inside_line = true;
            return Next::Again;
        };
        match self.ended_by(line, input, ctx) {
            None => return Next::Wait,
            Some(true) => return self.leave(ctx),
            Some(false) => {}
        }
        let text = input.rest()[..line.next].to_string();
        if starts::search_mark(&text).is_some() {
            if let Some(OpenFence { holds, .. }) = &mut self.fence {
                *holds = Holds::Edits(true);
            }
            return Next::Again;
        }
        input.skip(line.next);
        self.say(&text, ctx);
        Next::Again
    }

    /// Passes prose on, and remembers its last line.
    fn say(&mut self, text: &str, ctx: &mut ReaderContext) {
        self.after_backtick = text.ends_with('`');
        if let Some(OpenFence { holds: Holds::Code { content_so_far, .. }, .. }) = &mut self.fence {
            match content_so_far {
                Some(code) if code.len() + text.len() <= LONGEST => code.push_str(text),
                _ => *content_so_far = None,
            }
        } else {
            self.said.say(text);
        }
        ctx.prose(text);
    }

    /// Passes lines on without remembering them.
    fn show(&mut self, text: &str, ctx: &mut ReaderContext) {
        self.flush(ctx);
        ctx.prose(text);
    }

    /// Handles a path line that no edit follows as prose.
    fn flush(&mut self, ctx: &mut ReaderContext) {
        if let Some(heading) = self.heading.take() {
            ctx.is_unfenced |= is_prose(&heading.path);
            ctx.prose(&heading.raw);
            self.said.note(heading.raw.lines().next().unwrap_or_default().to_string());
        }
    }

    /// Returns the path for what names none itself: of the line above, the fence, the sentence or the edit before.
    fn path_above(&mut self, ctx: &ReaderContext) -> Option<String> {
        let fence = self.fence.as_ref().and_then(|open| open.fence.path(&ctx.known));
        let said = || claims::of_prose(self.said.last(), &ctx.known);
        let named = || spaced::named(self.said.last(), &ctx.known);
        let around = fence.or_else(named).or_else(said).or_else(|| ctx.path.clone());
        self.take_path().or(around)
    }

    /// Returns the lines that the path above a fence or in it names.
    fn range(&self, fence: &Fence) -> Option<(usize, usize)> {
        self.heading.as_ref().and_then(|heading| line_range(&heading.raw)).or_else(|| line_range(&fence.info))
    }

    fn take_path(&mut self) -> Option<String> {
        self.heading.take().map(|h| h.path)
    }

    /// Shows what waits for what follows it, but for what may be the beginning of an edit itself.
    pub fn pause(&mut self, input: &mut Input, ctx: &mut ReaderContext) {
        let rest = input.rest().to_string();
        if self.fence.is_some() || self.after_edit || rest.trim_start().starts_with(['<', '{', '[', '`', '~', '*']) {
            return;
        }
        self.flush(ctx);
        input.skip(rest.len());
        self.inside_line = (self.inside_line || !rest.is_empty()) && !rest.ends_with('\n');
        self.say(&rest, ctx);
    }
}
