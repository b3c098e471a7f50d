//! Blocks of code under no format of their own: one that is the text of a file in play, or a part of it, is an edit.

use std::collections::HashSet;
use std::sync::Arc;

use super::block::{BlockPath, FEW, InnerFile, closed_at_end, emit, inner_file};
use super::blocks::unmarked;
use crate::edit::format::Format;
use crate::edit::path::{is_prose, may_name, with_words};
use crate::edit::place::{begin_alike, elided_definitions, is_all_of, is_diff_of, keeps_all_of, passages};
use crate::edit::stream::block::{UnreadBlock, changes_definition, is_numbered};
use crate::edit::stream::context::{KnownLines, ReaderContext};
use crate::edit::stream::paths;
use crate::edit::stream::paths::claims::{Prose, begins_with_other, claim, warns};
use crate::edit::stream::paths::labels::{is_other_way, is_past};
use crate::edit::stream::paths::namesakes::{is_full, is_version, meant_by, version_of};
use crate::edit::stream::pieces::{EditPart, KnownFile};
use crate::edit::stream::starts::{self, Fence};

/// The text around a block of code.
#[derive(Debug, Default)]
pub(in crate::edit) struct Surroundings {
    pub path: Option<String>,
    /// The path is right above it or in its opening line.
    pub titled: bool,
    /// The lines that are named with the path.
    pub range: Option<(usize, usize)>,
    /// The last line of prose above it.
    pub said: String,
    /// The lines above that one.
    pub before: String,
    /// Its file may have such fences itself, and the end of the block is the one that goes together with them.
    pub is_bounded: bool,
}

impl Surroundings {
    /// Returns the path of the file in play of which a block near it may hold more than this `content`, up to a line that
    /// could close its fence: one that has such lines itself, or may get them. Where several may be meant, it is the path as
    /// it is given.
    pub fn going_on(&self, content: &str, fence: &Fence, ctx: &ReaderContext) -> Option<String> {
        let path = paths::without_side(self.path.as_deref()?, &ctx.known);
        let files = meant_by(path, &ctx.known);
        let goes_on = |file: &&KnownFile| {
            let holds = is_prose(&file.path) || ctx.lines_of(&file.path).is_some_and(|lines| lines.holds(fence));
            holds && (self.titled || begin_alike(&file.text, content))
        };
        let path = if let [file] = files[..] { &file.path } else { path };
        files.iter().any(goes_on).then(|| path.to_string())
    }

    /// Returns whether the line above leaves a file as it is, or as an edit before in the answer has it: the block shows how it
    /// should not be, how it was, or another way to write it.
    fn leaves(&self, file: &KnownFile, ctx: &ReaderContext) -> bool {
        let is_only = || ctx.known.len() == 1;
        let is_last = ctx.path.as_deref().map_or_else(is_only, |path| paths::same_path(path, &file.path));
        let is_shown = || ctx.has_edits && is_last && (is_past(&self.said) || is_other_way(&self.said));
        // A path and words: `a.py: the old code`.
        let words = with_words(&self.said).map(|(_, words)| format!("{}:", words.trim_end_matches([':', '：'])));
        let is_left = || words.is_some_and(|words| is_past(&words) || LEFT.iter().any(|left| words.starts_with(left)));
        !self.titled && (warns(&self.said) || is_shown() || is_left())
    }

    /// Returns whether the prose above says that the block is for another file than the one of this path, which it is like.
    fn is_for_other(&self, path: &str, known: &[KnownFile]) -> bool {
        let prose = Prose { before: &self.before, said: &self.said };
        claim(prose, Some(path), known).is_some_and(|claim| !claim.is_of(path))
    }
}

/// Beginnings of words that say of a file that it stays.
const LEFT: [&str; 4] = ["not changed", "unchanged", "不变", "変更なし"];

/// Adds an edit for a block of code that is the text of a file in play, or of a part of it; any other is kept as unread.
/// `closed`: a line closed it; else the answer ended. Returns whether that line closed a file inside of the block, and one
/// of the block itself is yet to come.
pub(in crate::edit) fn from_code(
    content: &str,
    fence: &Fence,
    near: &Surroundings,
    closed: bool,
    ctx: &mut ReaderContext,
) -> bool {
    ctx.note_said(near.titled, &near.said);
    let content: String = content.split_inclusive('\n').map(|line| starts::dedented(line, fence.indent)).collect();
    // The last line of a file with such fences may be its own.
    let at_end = closed_at_end(&content, fence).filter(|_| !closed && !near.is_bounded);
    let (content, closed) = (at_end.unwrap_or(&content), closed || at_end.is_some());
    let may_quote = !matches!(ctx.expected, None | Some(Format::WHOLE));
    if let Some(inner) = inner_file(content, None, &ctx.known).filter(|inner| is_its_own(inner, near)) {
        from_inner(&inner, near, closed, may_quote, ctx);
        return closed && !inner.is_closed;
    }
    let path = near.path.as_deref().map(|path| paths::without_side(path, &ctx.known));
    let (title, content) = titled_inside(content, path, fence, ctx);
    let (path, titled) = (path.or(title.as_deref()), near.titled || title.is_some());
    let several = path.map(|path| meant_by(path, &ctx.known)).filter(|files| files.len() > 1);
    // The text does not overrule a full path.
    let may_be_any = !path.is_some_and(is_full);
    let version = several.map(|files| version_of(content, &files).filter(|_| may_be_any).map(|file| file.path.clone()));
    if let (Some(path), Some(None)) = (path, &version) {
        of_several(path, (titled, near), (fence, content), closed, ctx);
        return false;
    }
    let version = version.flatten();
    let path = version.as_deref().or(path);
    let named = |k: &KnownFile| path.is_none_or(|p| is_name_of(p, k, &ctx.known));
    // Where the file has such fences itself, it is not certain that the block holds all of it.
    let holds = |file: &KnownLines| !near.is_bounded && file.holds(fence);
    // A model that has tools for its changes may only quote the file, or a part of it.
    let is_expected = ctx.expected != Some(Format::TOOLS);
    let is_other =
        |file: &KnownFile| near.is_for_other(&file.path, &ctx.known) || begins_with_other(content, file, &ctx.known);
    let is_meant = |file: &KnownFile| titled || !ctx.displays && !near.leaves(file, ctx) && !is_other(file);
    // The text tells the file, whatever else a sentence mentions.
    let by_text = || resembled(content, ctx, |_| true, holds).filter(|_| !titled);
    let found = resembled(content, ctx, named, holds).or_else(by_text).or_else(|| diffed(content, fence, named, ctx));
    if let Some((file, nearly_all)) = found.filter(|(file, _)| is_meant(file)) {
        let is_named = path.is_some() && named(file);
        let is_all = || is_expected || is_all(file, nearly_all, (is_named, titled), content, ctx);
        let complete = closed && !is_step(file, content, (titled, &near.said)) && is_all();
        let (range, path) = (near.range.filter(|_| is_named || near.path.is_none()), file.path.clone());
        emit(&BlockPath { path: &path, range }, content, fence, complete, ctx);
    } else if titled
        && closed
        && ctx.expected.is_some()
        && path.is_some()
        && let Some(file) = ctx.known.iter().find(|file| named(file) && changes(file, content, ctx))
    {
        let (path, complete) = (file.path.clone(), is_certain(file, content, is_expected));
        emit(&BlockPath { path: &path, range: near.range }, content, fence, complete, ctx);
    } else if !add_unmarked(path, content, ctx) {
        unread(path, (titled, near), (fence, content), ctx);
    }
    false
}

/// Adds the edit of a block whose first mark is missing; returns whether it is one.
fn add_unmarked(path: Option<&str>, content: &str, ctx: &mut ReaderContext) -> bool {
    let Some(edit) = unmarked(path, content, ctx) else { return false };
    let id = ctx.start(Format::BLOCKS);
    ctx.grew(id, EditPart::Path, edit.path.as_deref().unwrap_or_default());
    ctx.done(id, edit);
    true
}

/// Returns the one file in play that a fence of a diff without a header changes, and that it is surely meant: the lines that stay
/// and go are in it alone.
fn diffed<'c>(
    content: &str,
    fence: &Fence,
    named: impl Fn(&KnownFile) -> bool,
    ctx: &'c ReaderContext,
) -> Option<(&'c KnownFile, bool)> {
    if !matches!(fence.language().as_str(), "diff" | "patch") {
        return None;
    }
    let mut files = ctx.known.iter().filter(|file| is_diff_of(&file.text, content));
    files.next().filter(|file| files.next().is_none() && named(file)).map(|file| (file, true))
}

/// Returns whether a path is that of a file in play: but for its folders only where it is that of none.
fn is_name_of(path: &str, file: &KnownFile, known: &[KnownFile]) -> bool {
    let is_known = known.iter().any(|k| paths::same_path(path, &k.path));
    if is_known { paths::same_path(path, &file.path) } else { may_name(path, &file.path) }
}

/// Returns whether a file inside of a block is meant, not the one that the block is under.
fn is_its_own(inner: &InnerFile, near: &Surroundings) -> bool {
    let other = near.path.as_deref().filter(|path| !paths::same_path(path, &inner.path));
    other.is_none_or(|path| !near.titled && !is_prose(path))
}

/// Returns whether a block is all of the file that it is like. Where it is not `titled`, a sentence above names the file or
/// nothing does: a file of few lines is in many a text, and of a longer one nearly all lines must stay.
fn is_all(
    file: &KnownFile,
    nearly_all: bool,
    (is_named, titled): (bool, bool),
    content: &str,
    ctx: &ReaderContext,
) -> bool {
    let (text, path) = (&*file.text, &file.path);
    match ctx.lines_of(path).map_or(0, |lines| lines.solid) {
        _ if is_diff_of(text, content) => true,
        _ if titled => nearly_all || is_all_of(text, content, path),
        0..=1 => false,
        2..=FEW => is_named && is_all_of(text, content, path),
        _ => keeps_all_of(text, content, path),
    }
}

/// Returns whether a block under a number, and under no path, is a part of a file that it is like: one of several steps.
fn is_step(file: &KnownFile, content: &str, (titled, said): (bool, &str)) -> bool {
    let is_part = |new: &str| !new.lines().eq(content.trim_end().lines());
    !titled && is_numbered(said) && passages(&file.text, content, &file.path).is_some_and(|(new, _)| is_part(&new))
}

/// Returns whether a block that changes a file says for certain how: where a part goes, a person decides; the lines of a diff
/// say it themselves. Where whole files are not `expected` it must be all of the file by its lines.
fn is_certain(file: &KnownFile, content: &str, expected: bool) -> bool {
    let (path, text) = (&file.path, &*file.text);
    let is_other = |new: &str| !new.lines().eq(content.trim_end().lines());
    let is_several = || passages(text, content, path).is_some_and(|(new, _)| is_other(&new));
    let is_part = || !changes_definition(text, content) && is_several();
    is_diff_of(text, content) || (expected || is_all_of(text, content, path)) && !is_part()
}

/// Adds an edit for a block under a path that several files in play may have, if it is one of a file of them: by that path,
/// so that the model is asked which is meant, or the workspace says it of a full path.
fn of_several(
    path: &str,
    (titled, near): (bool, &Surroundings),
    (fence, content): (&Fence, &str),
    closed: bool,
    ctx: &mut ReaderContext,
) {
    let (files, is_full) = (meant_by(path, &ctx.known), is_full(path));
    let is_other = |file: &&KnownFile| file.text.trim_end() != content.trim_end();
    let is_of = |file: &KnownFile| {
        let is_change = || is_full && changes(file, content, ctx);
        is_version(content, &file.text) || changes_definition(&file.text, content) || is_change()
    };
    let is_edit = match is_full {
        true => files.iter().any(|file| is_other(file) && is_of(file)),
        false => files.iter().all(is_other) && files.iter().any(|file| is_of(file)),
    };
    if !titled || !is_edit {
        return unread(Some(path), (titled, near), (fence, content), ctx);
    }
    let is_expected = ctx.expected != Some(Format::TOOLS);
    let complete = closed && is_full && files.iter().all(|file| is_certain(file, content, is_expected));
    let range = near.range.filter(|_| is_full);
    emit(&BlockPath { path, range }, content, fence, complete, ctx);
}

/// Keeps a block as one that is no edit.
pub(super) fn unread(
    path: Option<&str>,
    (titled, near): (bool, &Surroundings),
    (fence, content): (&Fence, &str),
    ctx: &mut ReaderContext,
) {
    // What a sentence mentions is not what it says the block is for.
    let path = path.filter(|path| titled || !near.is_for_other(path, &ctx.known)).map(str::to_string);
    let (said, before) = (near.said.clone(), near.before.clone());
    let (info, content) = (fence.info.clone(), content.to_string());
    ctx.unread.push(UnreadBlock { path, titled, said, before, info, content });
}

/// Adds an edit for a file inside of a block, whose other lines are none of it. Where another form is asked for (`may_quote`)
/// it must be like the file.
fn from_inner(inner: &InnerFile, near: &Surroundings, closed: bool, may_quote: bool, ctx: &mut ReaderContext) {
    let named = |k: &KnownFile| paths::same_path(&inner.path, &k.path);
    let holds = |file: &KnownLines| file.holds(&inner.fence);
    let is_all = |(file, nearly_all): (&KnownFile, bool)| nearly_all || is_all_of(&file.text, inner.text, &file.path);
    let like = resembled(inner.text, ctx, named, holds).map(is_all);
    if !may_quote || like.is_some() {
        let complete = closed && (ctx.expected != Some(Format::TOOLS) || like == Some(true));
        return emit(&BlockPath { path: &inner.path, range: None }, inner.text, &inner.fence, complete, ctx);
    }
    unread(Some(&inner.path), (false, near), (&inner.fence, inner.text), ctx);
}

/// Returns whether a block under the path of a file in play changes it: by a definition of it, by several passages,
/// with lines that leave something out between them or without, by the lines of a diff, or where the file is so short that none of its lines need stay.
fn changes(file: &KnownFile, content: &str, ctx: &ReaderContext) -> bool {
    let (text, path) = (&*file.text, &file.path);
    if changes_definition(text, content)
        || is_diff_of(text, content)
        || elided_definitions(text, content, path).is_some_and(|(new, _)| new != text)
        || passages(text, content, path).is_some()
    {
        return true;
    }
    let solid = ctx.lines_of(path).map_or(0, |lines| lines.solid);
    let own = content.lines().filter(|line| !line.trim().is_empty()).count();
    let is_short = solid <= FEW && own > 0 && (solid == 0 || own <= FEW);
    is_short && !content.lines().eq(text.lines())
}

/// Returns a line without its number in front, as the file has it: `12: x = 1`, `12 | x = 1`.
fn unnumbered(line: &str) -> Option<&str> {
    let text = line.trim_start();
    let rest = text.trim_start_matches(|c: char| c.is_ascii_digit());
    let mark = rest.trim_start_matches([' ', '\t']);
    let is_number = rest.len() < text.len();
    (is_number && (mark.starts_with([':', '|']) || rest.starts_with('\t')))
        .then(|| mark.trim_start_matches([':', '|']).trim())
}

/// Returns the path of a file in play that a block begins with, alone on its first line, and the text below it. A list of files
/// has none, nor has a listing or a log behind the edit of that file.
fn titled_inside<'t>(
    content: &'t str,
    path: Option<&str>,
    fence: &Fence,
    ctx: &ReaderContext,
) -> (Option<String>, &'t str) {
    let Some((first, rest)) = content.split_once('\n') else { return (None, content) };
    let is_path = |line: &str| paths::path_line(line, &ctx.known).is_some();
    let below: HashSet<&str> = rest.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let is_list = !below.is_empty() && below.iter().all(|line| is_path(line));
    let title = paths::path_line(first, &ctx.known).filter(|title| {
        let is_file = |k: &&KnownFile| paths::same_path(title, &k.path);
        let bare = first.trim().starts_with(|c: char| c.is_alphanumeric() || matches!(c, '.' | '_' | '`'));
        // A text of the file has a line of it, whatever else it is.
        let shares = |k: &KnownFile| k.text.lines().map(str::trim).any(|line| below.contains(line));
        let is_other = |k: &KnownFile| (is_list || ctx.is_log_of(title, fence)) && !shares(k);
        let own = ctx.known.iter().find(is_file).is_some_and(|k| !paths::holds_line(&k.text, first) && !is_other(k));
        bare && own && path.is_none_or(|path| paths::same_path(path, title))
    });
    if title.is_some() { (title, rest) } else { (None, content) }
}

/// Returns the one file in play whose new text a fenced block is, although nothing says so. And whether it is hardly a
/// part of it that is quoted: it holds nearly all lines. A file that `holds` such fences itself is none, and so is one of which
/// it has fewer lines than of another one.
fn resembled<'c>(
    content: &str,
    ctx: &'c ReaderContext,
    named: impl Fn(&KnownFile) -> bool,
    holds: impl Fn(&KnownLines) -> bool,
) -> Option<(&'c KnownFile, bool)> {
    let lines: HashSet<&str> = content.lines().map(str::trim).collect();
    let bare: HashSet<&str> = content.lines().filter_map(unnumbered).collect();
    let alike = |(at, _): (usize, &'c KnownFile)| {
        let known = ctx.lines(at).filter(|known| !holds(known))?;
        let count = |lines: &HashSet<&str>| lines.iter().filter_map(|l| known.counts.get(*l)).sum::<usize>();
        let known_lines = count(&lines).max(count(&bare));
        (known_lines * 10 >= known.solid * 6 && known_lines > 0).then_some((at, known_lines * 10 >= known.solid * 9))
    };
    let mut fits = ctx.known.iter().enumerate().filter(|(_, k)| named(k)).filter_map(alike);
    let (at, nearly_all) = fits.next()?;
    let file = &ctx.known[at];
    let held = |at: usize| {
        let counts = ctx.lines(at).map(|known| &known.counts);
        let of = |lines: &HashSet<&str>| lines.iter().filter(|l| counts.is_some_and(|c| c.contains_key(**l))).count();
        of(&lines).max(of(&bare))
    };
    let own = held(at);
    let is_part = ctx.known.iter().enumerate().any(|(other, k)| named(k) && held(other) > own);
    let without_number = |line| unnumbered(line).unwrap_or(str::trim(line));
    let same = content.lines().eq(file.text.lines())
        || !bare.is_empty() && content.lines().map(without_number).eq(file.text.lines().map(str::trim));
    // A file may be in play under two names.
    let is_only = fits.all(|(other, _)| Arc::ptr_eq(&ctx.known[other].text, &file.text));
    (is_only && !is_part && !same).then_some((file, nearly_all))
}
