//! What a fence that opens holds: edits, a whole file, or code to be shown. Its first lines tell.

use super::paths::{self, same_path};
use super::starts::{self, Calls, Fence, HEAD, head};
use super::tags::{Tag, tag};

use super::{Format, ReaderContext};

/// What is in a fence that opens.
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
    Code(Option<String>),
}

/// What stands before a fence.
pub(super) struct Around<'a> {
    /// The path line right above it.
    pub heading: Option<&'a str>,
    /// The last line of prose.
    pub said: &'a str,
}

impl Contents {
    /// What a fence holds, seen from its first lines.
    pub(super) fn of(fence: &Fence, after: &str, ended: bool, around: &Around, ctx: &ReaderContext) -> Contents {
        let blank = after.len() - after.trim_start_matches(['\n', '\r', ' ', '\t']).len();
        let first_start = after[..blank].rfind('\n').map_or(0, |i| i + 1);
        if blank >= HEAD {
            return Contents::Code(None);
        }
        let rest = &after[first_start..];
        let first = rest.split('\n').next().unwrap_or_default();
        let whole = |line: &str, rest: &str| {
            let below = &rest[line.len()..];
            let header = !line.trim_start().starts_with("--- ") || below.len() >= HEAD || below.trim_start().len() >= 4;
            ended || line.len() >= HEAD || (!below.is_empty() && header)
        };
        if !whole(first, rest) {
            return Contents::Wait;
        }
        let edits = |line: &str, rest: &str| begins_edits(fence, line, rest, ctx);
        let above = around.heading.map(str::to_string).or_else(|| fence.path(&ctx.known));
        let calls = match above.as_deref().filter(|_| matches!(ctx.expected, None | Some(Format::Whole))) {
            // Under a path it is that file, which may well hold a call, or data like one.
            Some(path) if path.ends_with(".json") => Calls::No,
            Some(_) => starts::objects(head(rest), &ctx.calls),
            None => starts::calls(head(rest), &ctx.calls),
        };
        if edits(first, rest) || calls == Calls::Yes {
            return Contents::Edits { skip: 0 };
        }
        if first.trim_start().starts_with("apply_patch") && first.contains("<<") {
            return handed_over(after, first_start + first.len() + 1, ended);
        }
        if calls == Calls::Wait && !ended {
            return Contents::Wait;
        }
        let asked = matches!(ctx.expected, None | Some(Format::Patch));
        if asked
            && matches!(fence.language().as_str(), "diff" | "patch")
            && starts::dedented(first, fence.indent).starts_with(['+', '-', ' '])
        {
            return Contents::Diff;
        }
        let mut skip = 0;
        let mut direct = above;
        if let Some(path) = paths::path_line(first, &ctx.known) {
            let next = rest[first.len()..].trim_start_matches(['\r', '\n']);
            let second = next.split('\n').next().unwrap_or_default();
            if !whole(second, next) && rest.len() - first.len() - next.len() < HEAD {
                return Contents::Wait;
            }
            if edits(second, next) || Fence::open(second).is_some_and(|f| !f.info.is_empty()) {
                let skip = after.len() - next.len();
                return Contents::Titled { path, skip };
            }
            let again = direct.as_deref().is_some_and(|d| same_path(d, &path));
            let bare = is_bare(first);
            if bare && (again || direct.is_none()) {
                skip = after.len() - next.len();
            }
            direct = direct.or(Some(path));
        }
        match direct {
            _ if fence.closed_by(first) => Contents::Code(None),
            Some(path) if matches!(ctx.expected, None | Some(Format::Whole)) => Contents::Whole { path, skip },
            Some(path) => Contents::Code(Some(path)),
            None => Contents::Code(paths::mentioned(around.said, &ctx.known).map(str::to_string)),
        }
    }
}

/// What a fence holds in which a patch is handed to a command in a shell; the patch begins after `skip` bytes.
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

/// Whether a line in a fence begins edits; `rest` is the text from this line on.
fn begins_edits(fence: &Fence, line: &str, rest: &str, ctx: &ReaderContext) -> bool {
    let line = starts::dedented(line, fence.indent);
    let trimmed = line.trim_start();
    let below = || rest.lines().nth(1).is_some_and(|l| starts::dedented(l, fence.indent).starts_with("+++ "));
    starts::search_mark(line).is_some()
        || starts::is_patch(line)
        || line.starts_with("@@")
        || (line.starts_with("--- ") && below())
        || (trimmed.starts_with('<')
            && matches!(tag(trimmed, &ctx.calls), Tag::Open(..) | Tag::Named(..) | Tag::Around(_)))
}

/// Whether a path line is not a comment, which could be the file's own first line.
fn is_bare(line: &str) -> bool {
    !line.trim_start().starts_with(['#', '/', '-', ';', '<', '*', '"', '\''])
}
