//! Decides what an opening fence holds, by its first lines: edits, a whole file, or code to be shown.

use super::block::shows_output;
use super::call::{self, starts::Calls};
use super::context::ReaderContext;
use super::paths::claims::presented;
use super::paths::{self, heads, same_path, spaced};
use super::pieces::KnownFile;
use super::starts::{self, Fence, HEAD, head};
use super::tags::{Tag, tag};
use crate::edit::format::Format;
use crate::edit::formats::code::Surroundings;
use crate::edit::path::{is_language, is_other_language, is_prose, may_name};

/// The contents of an opening fence.
pub(super) enum Contents {
    Wait,
    /// Edits; how much to skip before them.
    Edits {
        skip: usize,
    },
    /// A diff without a header.
    Diff,
    /// Edits under a path line that is inside the fence; how much to skip.
    Titled {
        path: String,
        skip: usize,
    },
    Whole {
        path: String,
        skip: usize,
    },
    /// Nothing but the path of what the next fence holds; how much to skip up to that one.
    Heading {
        path: String,
        skip: usize,
    },
    Code(Option<String>),
}

/// A line that is nothing but a path.
#[derive(Debug)]
pub(super) struct Heading {
    pub path: String,
    pub raw: String,
}

impl Heading {
    /// Returns whether a line is nothing but the line under it that makes a heading of it: `=====` or `-----`.
    pub fn is_underlined_by(&self, line: &str) -> bool {
        let line = line.trim();
        let is_line = line.len() >= 3 && ['=', '-'].iter().any(|mark| line.chars().all(|c| c == *mark));
        is_line && self.raw.matches('\n').count() == 1
    }
}

/// A fence that is open.
#[derive(Debug)]
pub(super) struct OpenFence {
    pub fence: Fence,
    pub line: String,
    pub holds: Holds,
}

impl OpenFence {
    /// Takes a block of code, at a line that closes it to the letter, where that may be a line of its file: its text so far.
    pub fn take_unclosed(
        open: &mut Option<OpenFence>,
        line: &str,
        ctx: &ReaderContext,
    ) -> Option<(String, Fence, Surroundings)> {
        let Some(OpenFence { fence, holds: Holds::Code { content_so_far: Some(content), near }, .. }) = open else {
            return None;
        };
        let is_deeper = line.len() - line.trim_start().len() > fence.indent;
        match near.going_on(content, fence, ctx) {
            Some(path) => near.path = Some(path),
            // In a document it is that of a block in a list.
            None if is_deeper && is_document(near.path.as_deref(), fence, content) => {}
            None => return None,
        }
        near.is_bounded = true;
        match open.take()? {
            OpenFence { fence, holds: Holds::Code { content_so_far: Some(content), near }, .. } => {
                Some((content, fence, near))
            }
            _ => None,
        }
    }
}

/// Returns whether the text of a fence is that of a document, by the path near it, its language, or its heading.
fn is_document(path: Option<&str>, fence: &Fence, content: &str) -> bool {
    let begins = || content.trim_start().lines().next().is_some_and(|line| line.starts_with("# "));
    match (path, fence.language().as_str()) {
        (_, "markdown" | "md" | "mdx") => true,
        (Some(path), _) => is_prose(path),
        (None, language) => language.is_empty() && begins(),
    }
}

/// The contents of an open fence.
#[derive(Debug)]
pub(super) enum Holds {
    /// Edits; the fence itself is not shown, unless prose follows inside (true).
    Edits(bool),
    /// Code, shown as prose; kept if it may be a whole file.
    Code { content_so_far: Option<String>, near: Surroundings },
}

/// Returns the path of a file, none of those in play, that the last line of prose heads in a way of its own, or presents, where
/// files are written as text. A fence of commands, of what they print, or of the language of other files is no file.
pub(super) fn said_path(said: &str, fence: &Fence, ctx: &ReaderContext) -> Option<String> {
    let (language, known) = (fence.language(), &ctx.known);
    if matches!(language.as_str(), "diff" | "patch") || fence.path(known).is_some() {
        return None;
    }
    let path = match ctx.expected {
        Some(Format::TOOLS) => spaced::named(said, known).filter(|_| ctx.has_edits)?,
        _ => heads::headed(said, known).or_else(|| presented(said, known, |path| is_language(&language, path)))?,
    };
    let is_it = |file: &KnownFile| same_path(&path, &file.path) || may_name(&path, &file.path);
    let is_other = shows_output(&fence.info) && !is_language(&language, &path) || is_other_language(&language, &path);
    (!is_other && !known.iter().any(is_it)).then_some(path)
}

/// The text before a fence.
pub(super) struct Around<'a> {
    /// The path line right above it.
    pub heading: Option<&'a str>,
    /// The last line of prose.
    pub said: &'a str,
}

impl Contents {
    /// Returns what a fence holds, seen from its first lines.
    pub(super) fn of(fence: &Fence, after: &str, ended: bool, around: &Around, ctx: &ReaderContext) -> Contents {
        let blank = after.len() - after.trim_start_matches(['\n', '\r', ' ', '\t']).len();
        if blank >= HEAD {
            return Contents::Code(None);
        }
        let start = after[..blank].rfind('\n').map_or(0, |i| i + 1);
        Opened { fence, after, rest: &after[start..], ended, around, ctx }.contents()
    }
}

/// The place of a fence behind another one.
enum NextFence {
    Wait,
    At(usize),
    None,
}

/// A fence that has opened, and what has arrived after it.
struct Opened<'a> {
    fence: &'a Fence,
    after: &'a str,
    /// The text from the first line that is not blank.
    rest: &'a str,
    ended: bool,
    around: &'a Around<'a>,
    ctx: &'a ReaderContext,
}

impl Opened<'_> {
    fn contents(&self) -> Contents {
        let (rest, first) = (self.rest, first_line(self.rest));
        if !self.is_whole(first, rest) {
            return Contents::Wait;
        }
        let above = self.around.heading.map(str::to_string).or_else(|| self.fence.path(&self.ctx.known));
        let calls = self.calls(above.as_deref());
        if self.begins_edits(first, rest) || calls == Calls::Yes {
            return Contents::Edits { skip: 0 };
        }
        if first.trim_start().starts_with("apply_patch") && first.contains("<<") {
            return handed_over(self.after, self.after.len() - rest.len() + first.len() + 1, self.ended);
        }
        if calls == Calls::Wait && !self.ended {
            return Contents::Wait;
        }
        if self.is_bare_diff(first, above.is_some()) {
            return Contents::Diff;
        }
        self.file_or_code(first, above)
    }

    /// Returns whether a line has arrived as far as what it begins can be told.
    fn is_whole(&self, line: &str, rest: &str) -> bool {
        let below = &rest[line.len()..];
        let header = !line.trim_start().starts_with("--- ") || below.len() >= HEAD || below.trim_start().len() >= 4;
        self.ended || line.len() >= HEAD || (!below.is_empty() && header)
    }

    fn calls(&self, above: Option<&str>) -> Calls {
        let rest = head(self.rest);
        match above.filter(|path| self.may_be_file() || self.makes_file(path)) {
            // Under a path it is that file, which may well hold a call, or data like one.
            Some(path) if path.ends_with(".json") => Calls::No,
            Some(_) => call::starts::objects(rest, &self.ctx.calls),
            None => call::starts::calls(rest, &self.ctx.calls),
        }
    }

    /// Returns whether a whole file in a fence counts as an edit.
    fn may_be_file(&self) -> bool {
        matches!(self.ctx.expected, None | Some(Format::WHOLE))
    }

    /// Returns whether a fence under this path is a file where another form is asked for: one that is not in play, or that
    /// holds such fences itself. Where calls are asked for, such a block counts only beside an edit in the text.
    fn makes_file(&self, path: &str) -> bool {
        let known = &self.ctx.known;
        let bare = paths::without_side(path, known);
        let is_it = |file: &KnownFile| same_path(bare, &file.path) || may_name(bare, &file.path);
        let of_calls = self.ctx.expected == Some(Format::TOOLS);
        match known.iter().any(is_it) {
            true => !of_calls && self.ctx.lines_of(bare).is_some_and(|lines| lines.holds(self.fence)),
            false => (!of_calls || self.ctx.has_edits) && !self.is_language(path),
        }
    }

    /// Returns whether a path is the only word behind the fence and may be a language: `node.js`, `text/plain`.
    fn is_language(&self, path: &str) -> bool {
        let is_file = path.rsplit_once('/').is_some_and(|(_, name)| name.contains('.'));
        self.around.heading.is_none() && self.fence.info == path && !is_file
    }

    /// Returns whether it is a diff without a header, where one is asked for, or where its path is `titled`.
    fn is_bare_diff(&self, first: &str, titled: bool) -> bool {
        (titled || matches!(self.ctx.expected, None | Some(Format::PATCH)))
            && matches!(self.fence.language().as_str(), "diff" | "patch")
            && starts::dedented(first, self.fence.indent).starts_with(['+', '-', ' '])
    }

    /// Describes a fence without edits: a whole file, edits under a path line of their own, or code.
    fn file_or_code(&self, first: &str, above: Option<String>) -> Contents {
        let (rest, known) = (self.rest, &self.ctx.known);
        let is_new = |path: &String| !known.iter().any(|k| same_path(path, &k.path));
        let (mut skip, mut direct) = (0, above);
        let mut is_titled = direct.is_some();
        let may_be_meant = |path: &String| !is_new(path) || paths::names_new_file(first, path, known);
        if let Some(path) = paths::path_line(first, known).filter(may_be_meant) {
            let next = rest[first.len()..].trim_start_matches(['\r', '\n']);
            let second = first_line(next);
            if !self.is_whole(second, next) && rest.len() - first.len() - next.len() < HEAD {
                return Contents::Wait;
            }
            let below = self.after.len() - next.len();
            if self.begins_edits(second, next) || Fence::open(second).is_some_and(|f| !f.info.is_empty()) {
                return Contents::Titled { path, skip: below };
            }
            let again = direct.as_deref().is_some_and(|d| same_path(d, &path));
            if is_bare(first) && (again || direct.is_none()) {
                skip = below;
            }
            // In a list of a document it is an example.
            let is_example = self.fence.indent > 1 && !again && (self.ctx.is_unclear || self.ctx.is_unfenced);
            if is_bare(first) && (again || direct.is_none()) && !is_example && self.fence.closed_by(second) {
                match self.next_fence(&path, &next[second.len()..]) {
                    NextFence::Wait => return Contents::Wait,
                    NextFence::At(next) => return Contents::Heading { path, skip: below + second.len() + next },
                    NextFence::None => {}
                }
            }
            // Paths below one another are a list of files, and one alone is a name: of a file that is run, or of what is printed.
            let holds = |file: &KnownFile| same_path(&path, &file.path) && paths::holds_line(&file.text, second);
            let is_list = known.iter().any(holds) || lists_paths(&path);
            let is_listed = is_bare(second) && paths::path_line(second, known).is_some() && !is_list;
            let is_alone = self.fence.closed_by(second) && !is_empty_file(&path);
            is_titled |= is_bare(first) && !is_listed;
            if !is_bare(first) || !is_listed && !is_alone {
                direct = direct.or(Some(path));
            }
        }
        let may_be_empty = |path: &str| self.ctx.makes_empty || is_empty_file(path);
        let is_file = |path: &str| self.may_be_file() || is_titled && self.makes_file(path);
        match direct {
            // A file without text is made: `__init__.py`.
            Some(path) if self.fence.closed_by(first) && may_be_empty(&path) && is_new(&path) && is_file(&path) => {
                Contents::Whole { path, skip: 0 }
            }
            _ if self.fence.closed_by(first) => Contents::Code(None),
            Some(path) if is_file(&path) => Contents::Whole { path, skip },
            Some(path) => Contents::Code(Some(path)),
            None => Contents::Code(heads::mentioned(self.around.said, known).map(str::to_string)),
        }
    }

    /// Returns how far behind its closing line another fence opens that is none of commands and names no other file itself,
    /// with blank lines at most between them.
    fn next_fence(&self, path: &str, behind: &str) -> NextFence {
        let start = behind.len() - behind.trim_start().len();
        let start = behind[..start].rfind('\n').map_or(0, |at| at + 1);
        let line = first_line(&behind[start..]);
        let may_go_on = !self.ended && start < HEAD && line.len() < HEAD;
        match Fence::open(line).filter(|_| start > 0) {
            _ if may_go_on && start + line.len() == behind.len() && Fence::may(line) => NextFence::Wait,
            Some(fence) if start < HEAD && line.len() < HEAD && !shows_output(&fence.info) => {
                match self.names_another(path, &fence, &behind[start + line.len()..]) {
                    None => NextFence::Wait,
                    Some(true) => NextFence::None,
                    Some(false) => NextFence::At(start),
                }
            }
            _ => NextFence::None,
        }
    }

    /// Returns whether a fence names another file than `path`, behind itself or on its first line; `None` until that has
    /// arrived.
    fn names_another(&self, path: &str, fence: &Fence, after: &str) -> Option<bool> {
        let known = &self.ctx.known;
        let is_other = |own: String| !same_path(&own, path) && !lists_paths(path);
        if fence.path(known).is_some_and(is_other) {
            return Some(true);
        }
        let text = after.trim_start_matches(['\r', '\n']);
        let first = first_line(text);
        let is_here = self.ended || first.len() < text.len() || first.len() >= HEAD || after.len() >= 2 * HEAD;
        is_here.then(|| paths::path_line(first, known).is_some_and(is_other))
    }

    /// Returns whether a line in the fence begins edits; `rest` is the text from this line on.
    fn begins_edits(&self, line: &str, rest: &str) -> bool {
        let dedented = |line| starts::dedented(line, self.fence.indent);
        let line = dedented(line);
        let trimmed = line.trim_start();
        let below = || rest.lines().nth(1).is_some_and(|l| dedented(l).starts_with("+++ "));
        self.ctx.begins_edit(line)
            || line.starts_with("@@")
            || (line.starts_with("--- ") && below())
            || (trimmed.starts_with('<')
                && matches!(
                    tag(trimmed, &self.ctx.calls),
                    Tag::Open(..) | Tag::Named(..) | Tag::Addressed(_) | Tag::Around(_)
                ))
    }
}

/// Returns whether a file of this path is often an empty one.
fn is_empty_file(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    matches!(name, "__init__.py" | "py.typed" | ".gitkeep" | ".keep" | ".nojekyll" | "conftest.py")
}

/// Returns whether a file of this path is itself a list of names that may be paths.
fn lists_paths(path: &str) -> bool {
    path.ends_with("ignore") || path.ends_with("requirements.txt")
}

fn first_line(text: &str) -> &str {
    text.split('\n').next().unwrap_or_default()
}

/// Returns what a fence holds in which a patch is handed to a command in a shell; the patch begins after `skip` bytes.
fn handed_over(after: &str, skip: usize, ended: bool) -> Contents {
    let next = after.get(skip..).unwrap_or_default();
    let line = next.split('\n').next().unwrap_or_default();
    let is_whole = ended || line.len() < next.len();
    match line {
        line if is_whole && starts::is_patch(line) => Contents::Edits { skip },
        line if !is_whole && starts::may_be_patch(line) && line.len() < HEAD => Contents::Wait,
        _ => Contents::Code(None),
    }
}

/// Returns whether a path line is not a comment, which could be the file's own first line.
fn is_bare(line: &str) -> bool {
    !line.trim_start().starts_with(['#', '/', '-', ';', '<', '*', '"', '\''])
}
