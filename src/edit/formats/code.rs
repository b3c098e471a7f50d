//! Blocks of code under no format of their own: one that is the text of a file in play, or a part of it, is an edit.

use std::collections::HashSet;
use std::sync::Arc;

use super::block::{BlockPath, InnerFile, closed_at_end, emit, inner_file};
use crate::edit::format::Format;
use crate::edit::path::{is_prose, may_name};
use crate::edit::place::{begin_alike, elided_definitions, is_all_of, is_diff_of, passages};
use crate::edit::stream::block::{UnreadBlock, changes_definition};
use crate::edit::stream::context::{KnownLines, ReaderContext};
use crate::edit::stream::paths;
use crate::edit::stream::paths::namesakes::{is_version, meant_by, version_of};
use crate::edit::stream::pieces::KnownFile;
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
    /// Its file may have such fences itself, and the end of the block is the one that goes together with them.
    pub is_bounded: bool,
}

impl Surroundings {
    /// Returns the file in play of which a block near its path may hold more than this `content`, up to a line that could
    /// close its fence: one that has such lines itself, or may get them.
    pub fn going_on(&self, content: &str, fence: &Fence, ctx: &ReaderContext) -> Option<String> {
        let path = paths::without_side(self.path.as_deref()?, &ctx.known);
        let [file] = meant_by(path, &ctx.known)[..] else { return None };
        let holds = is_prose(&file.path) || ctx.lines_of(&file.path).is_some_and(|lines| lines.holds(fence));
        (holds && (self.titled || begin_alike(&file.text, content))).then(|| file.path.clone())
    }
}

/// A file of this many lines and no more may have none in common with its next text.
const FEW: usize = 3;

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
    let lines = content.split_inclusive('\n').map(|line| starts::dedented(line, fence.indent));
    let content = lines.collect::<String>();
    let at_end = closed_at_end(&content, fence).filter(|_| !closed);
    let (content, closed) = (at_end.unwrap_or(&content), closed || at_end.is_some());
    let may_quote = !matches!(ctx.expected, None | Some(Format::WHOLE));
    let is_its_own = |inner: &InnerFile| {
        let other = near.path.as_deref().filter(|path| !paths::same_path(path, &inner.path));
        other.is_none_or(|path| !near.titled && !is_prose(path))
    };
    if let Some(inner) = inner_file(content, None, &ctx.known).filter(is_its_own) {
        from_inner(&inner, near, closed, may_quote, ctx);
        return closed && !inner.is_closed;
    }
    let path = near.path.as_deref().map(|path| paths::without_side(path, &ctx.known));
    let (title, content) = titled_inside(content, path, &ctx.known);
    let (path, titled) = (title.as_deref().or(path), near.titled || title.is_some());
    let several = path.map(|path| meant_by(path, &ctx.known)).filter(|files| files.len() > 1);
    let version = several.map(|files| version_of(content, &files).map(|file| file.path.clone()));
    if let (Some(path), Some(None)) = (path, &version) {
        of_several(path, (titled, near), (fence, content), ctx);
        return false;
    }
    let version = version.flatten();
    let path = version.as_deref().or(path);
    let is_known = path.is_some_and(|p| ctx.known.iter().any(|k| paths::same_path(p, &k.path)));
    let names = if is_known { paths::same_path } else { may_name };
    let named = |k: &KnownFile| path.is_none_or(|p| names(p, &k.path));
    // Where the file has such fences itself, it is not certain that the block holds all of it.
    let holds = |file: &KnownLines| !near.is_bounded && file.holds(fence);
    // A model that has tools for its changes may only quote the file, or a part of it.
    let is_expected = ctx.expected != Some(Format::TOOLS);
    if let Some((file, nearly_all)) = resembled(content, ctx, named, holds) {
        let path = file.path.clone();
        let is_all = || nearly_all || is_all_of(&file.text, content, &path);
        let complete = closed && (is_expected || titled && is_all());
        emit(&BlockPath { path: &path, range: near.range }, content, fence, complete, ctx);
    } else if titled
        && closed
        && ctx.expected.is_some()
        && path.is_some()
        && let Some(file) = ctx.known.iter().enumerate().find(|(at, file)| named(file) && changes(*at, content, ctx))
    {
        let (path, complete) = (file.1.path.clone(), is_certain(file.1, content, is_expected));
        emit(&BlockPath { path: &path, range: near.range }, content, fence, complete, ctx);
    } else {
        unread(path, (titled, near), (fence, content), ctx);
    }
    false
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

/// Adds an edit for a block under a name that several files in play have, if it is one of a file of them: by that name, so
/// that the model is asked which is meant.
fn of_several(
    path: &str,
    (titled, near): (bool, &Surroundings),
    (fence, content): (&Fence, &str),
    ctx: &mut ReaderContext,
) {
    let files = meant_by(path, &ctx.known);
    let is_other = files.iter().all(|file| file.text.trim_end() != content.trim_end());
    let is_of = |file: &&KnownFile| is_version(content, &file.text) || changes_definition(&file.text, content);
    match titled && is_other && files.iter().any(is_of) {
        true => emit(&BlockPath { path, range: None }, content, fence, false, ctx),
        false => unread(Some(path), (titled, near), (fence, content), ctx),
    }
}

/// Keeps a block as one that is no edit.
pub(super) fn unread(
    path: Option<&str>,
    (titled, near): (bool, &Surroundings),
    (fence, content): (&Fence, &str),
    ctx: &mut ReaderContext,
) {
    let (path, said) = (path.map(str::to_string), near.said.clone());
    let (info, content) = (fence.info.clone(), content.to_string());
    ctx.unread.push(UnreadBlock { path, titled, said, info, content });
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

/// Returns whether a block under the path of the file at this index changes it: by a definition of it, by several passages,
/// with lines that leave something out between them or without, by the lines of a diff, or where the file is so short that none of its lines need stay.
fn changes(at: usize, content: &str, ctx: &ReaderContext) -> bool {
    let (text, path) = (&*ctx.known[at].text, &ctx.known[at].path);
    if changes_definition(text, content)
        || is_diff_of(text, content)
        || elided_definitions(text, content, path).is_some_and(|(new, _)| new != text)
        || passages(text, content, path).is_some()
    {
        return true;
    }
    let solid = ctx.lines(at).map_or(0, |lines| lines.solid);
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

/// Returns the path of a file in play that a block begins with, alone on its first line, and the text below it.
fn titled_inside<'t>(content: &'t str, path: Option<&str>, known: &[KnownFile]) -> (Option<String>, &'t str) {
    let Some((first, rest)) = content.split_once('\n') else { return (None, content) };
    let title = paths::path_line(first, known).filter(|title| {
        let is_file = |k: &&KnownFile| paths::same_path(title, &k.path);
        let bare = first.trim().starts_with(|c: char| c.is_alphanumeric() || matches!(c, '.' | '_' | '`'));
        let own = known.iter().find(is_file).is_some_and(|k| !k.text.lines().any(|line| line.trim() == first.trim()));
        bare && own && path.is_none_or(|path| paths::same_path(path, title))
    });
    if title.is_some() { (title, rest) } else { (None, content) }
}

/// Returns the one file in play whose new text a fenced block is, although nothing says so. And whether it is hardly a
/// part of it that is quoted: it holds nearly all lines. A file that `holds` such fences itself is none.
fn resembled<'c>(
    content: &str,
    ctx: &'c ReaderContext,
    named: impl Fn(&KnownFile) -> bool,
    holds: impl Fn(&KnownLines) -> bool,
) -> Option<(&'c KnownFile, bool)> {
    let lines: HashSet<&str> = content.lines().map(str::trim).collect();
    let bare: HashSet<&str> = content.lines().filter_map(unnumbered).collect();
    let alike = |(at, file): (usize, &'c KnownFile)| {
        let known = ctx.lines(at).filter(|known| !holds(known))?;
        let count = |lines: &HashSet<&str>| lines.iter().filter_map(|l| known.counts.get(*l)).sum::<usize>();
        let known_lines = count(&lines).max(count(&bare));
        (known_lines * 10 >= known.solid * 6 && known_lines > 0).then_some((file, known_lines * 10 >= known.solid * 9))
    };
    let mut fits = ctx.known.iter().enumerate().filter(|(_, k)| named(k)).filter_map(alike);
    let (file, nearly_all) = fits.next()?;
    let without_number = |line| unnumbered(line).unwrap_or(str::trim(line));
    let same = content.lines().eq(file.text.lines())
        || !bare.is_empty() && content.lines().map(without_number).eq(file.text.lines().map(str::trim));
    // A file may be in play under two names.
    let is_only = fits.all(|(other, _)| Arc::ptr_eq(&other.text, &file.text));
    (is_only && !same).then_some((file, nearly_all))
}
