//! `<<<<<<< SEARCH`, `=======`, `>>>>>>> REPLACE`.

use std::sync::Arc;

use super::spec::{EDIT, FormatSpec};
use crate::edit::format::Format;
use crate::edit::locate::SearchShape;
use crate::edit::op::{Edit, Op};
use crate::edit::stream::block::is_within;
use crate::edit::stream::context::{BROKE_OFF, CUT, Progress, ReaderContext};
use crate::edit::stream::input::Input;
use crate::edit::stream::paths;
use crate::edit::stream::paths::namesakes::meant_by;
use crate::edit::stream::pieces::{EditId, EditPart, End, KnownFile, Piece};
use crate::edit::stream::reader::{Beginning, LineStart, Reader};
use crate::edit::stream::starts::{
    Fence, LineMark, dedented, is_divider, is_replace_mark, marks, may_be_search, search_mark,
};

impl Format {
    /// `<<<<<<< SEARCH` blocks under a path line.
    pub const BLOCKS: Format = Format::named("blocks");
}

pub(super) const SPEC: FormatSpec = FormatSpec {
    format: Format::BLOCKS,
    prompt: include_str!("../../../assets/prompts/format-blocks.md"),
    small_prompt: Some(include_str!("../../../assets/prompts/format-blocks-small.md")),
    example: Some([
        include_str!("../../../assets/prompts/example-ask.md"),
        include_str!("../../../assets/prompts/example-blocks.md"),
    ]),
    reminder: Some("Reply with the path and a SEARCH/REPLACE block for each change; copy the SEARCH lines exactly."),
    label_on_screen: "blocks",
    verb: EDIT,
    start: Some(LineStart { mark: LineMark { is: |line| search_mark(line).is_some(), may_be: may_be_search }, read }),
};

/// Begins a block, whose path stands behind its mark or above it.
fn read(at: Beginning<'_>, ctx: &mut ReaderContext) -> Box<dyn Reader> {
    let indent = at.fence.map(|fence| fence.indent);
    let text = dedented(&at.input.rest()[..at.line.content], indent.unwrap_or(0));
    let begun = Begun::of(text, indent);
    let named = search_mark(text).filter(|path| paths::is_path(path, &ctx.known)).map(str::to_string);
    at.input.skip(at.line.next);
    let is_said = at.fence.is_some_and(|fence| fence.path(&ctx.known).is_some())
        || paths::heads::mentioned(&ctx.said, &ctx.known).is_some();
    let is_carried = named.is_none() && !ctx.is_titled && !is_said;
    let path = named.or_else(|| (at.above)(ctx));
    let is_carried = is_carried && path.is_some() && path == ctx.path;
    Box::new(Blocks { is_carried, ..Blocks::new(path, begun, ctx) })
}

/// The first line of a block, as far as it says how the others are written.
#[derive(Debug, Clone, Copy)]
struct Begun {
    /// The length of its mark.
    marks: usize,
    /// The indentation of the fence around it, if there is one.
    fence: Option<usize>,
    /// Its own indentation, where no fence is around it.
    indent: usize,
}

impl Begun {
    fn of(line: &str, fence: Option<usize>) -> Begun {
        let indent = if fence.is_none() { line.len() - line.trim_start_matches(' ').len() } else { 0 };
        Begun { marks: marks(line.trim(), [b'<', b'-']), fence, indent }
    }
}

/// A block being read, from after its first line.
#[derive(Debug)]
struct Blocks {
    id: EditId,
    path: Option<String>,
    /// The path is that of the edit before, and no line names it again.
    is_carried: bool,
    search: Vec<String>,
    begun: Begun,
    /// The line that parts the two texts.
    divider: String,
    /// That line is indented as the first one is, and so all of the block.
    is_indented: bool,
    /// Only notes about the place have arrived: `:start_line:4`, and the rule below it.
    noted: bool,
    /// `None` before the divider.
    replace: Option<Vec<String>>,
}

impl Blocks {
    fn new(path: Option<String>, begun: Begun, ctx: &mut ReaderContext) -> Self {
        let id = ctx.start(Format::BLOCKS);
        if let Some(path) = &path {
            ctx.grew(id, EditPart::Path, path);
        }
        let (search, divider) = (Vec::new(), String::new());
        Blocks { id, path, is_carried: false, search, begun, divider, is_indented: false, noted: false, replace: None }
    }

    fn finish(&mut self, whole: bool, ctx: &mut ReaderContext) {
        if self.is_carried
            && let Some(path) = self.lines_in_other(&ctx.known)
        {
            self.path = Some(path);
        }
        let edit = self.edit(whole);
        ctx.done(self.id, edit);
    }

    /// Returns the path of the only file in play that has the lines of the search text, where it is not the one before.
    fn lines_in_other(&self, known: &[KnownFile]) -> Option<String> {
        let search = self.search.join("\n");
        let has = |file: &&KnownFile| !search.trim().is_empty() && is_within(&search, &file.text);
        let mut files = known.iter().filter(has);
        let file = files.next().filter(|_| files.next().is_none())?;
        let is_known =
            known.iter().any(|own| self.path.as_deref().is_some_and(|path| paths::same_path(path, &own.path)));
        (is_known && !self.path.as_deref().is_some_and(|path| paths::same_path(path, &file.path)))
            .then(|| file.path.clone())
    }

    fn edit(&mut self, whole: bool) -> Edit {
        let mut replace = self.replace.take().unwrap_or_default();
        if self.is_indented {
            for line in self.search.iter_mut().chain(&mut replace) {
                *line = dedented(line, self.begun.indent).to_string();
            }
        }
        let op = if self.search.iter().all(|l| l.trim().is_empty()) {
            let content = replace.iter().flat_map(|l| [l.as_str(), "\n"]).collect();
            Op::Write { content }
        } else {
            let (search, replace) = (self.search.join("\n"), replace.join("\n"));
            Op::Replace { search, replace, shape: SearchShape::Lines, all: false }
        };
        let edit = Edit::new("", op, Format::BLOCKS, Format::BLOCKS.name());
        Edit { path: self.path.clone(), whole, ..edit }
    }
}

impl Reader for Blocks {
    fn step(&mut self, input: &mut Input, ctx: &mut ReaderContext) -> Progress {
        while let Some(line) = input.line() {
            let text = dedented(&input.rest()[..line.content], self.begun.fence.unwrap_or(0));
            let bare = dedented(text, self.begun.indent);
            match &mut self.replace {
                None if self.search.is_empty() && is_note(text, self.noted) => self.noted = true,
                None if is_divider(text) || is_divider(bare) => {
                    self.divider = bare.to_string();
                    self.is_indented = !is_divider(text);
                    self.replace = Some(Vec::new());
                }
                // The divider was forgotten, or an empty search ends at once: what is meant is not certain.
                None if is_replace_mark(text) => {
                    ctx.dropped(self.id, "the block has no ======= line. Send it again with one.".to_string());
                    input.skip(line.next);
                    return Progress::Done;
                }
                None => {
                    grow(ctx, self.id, EditPart::Old, &self.search, text);
                    self.search.push(text.to_string());
                }
                // One as long as the first line's mark parts them: the one before was the underline of a heading.
                Some(replace)
                    if is_divider(bare)
                        && bare.trim_end().len() == self.begun.marks
                        && self.divider.trim_end().len() != self.begun.marks =>
                {
                    self.search.push(std::mem::replace(&mut self.divider, bare.to_string()));
                    self.search.append(replace);
                }
                Some(_) if is_replace_mark(text) => {
                    input.skip(line.next);
                    self.finish(true, ctx);
                    return Progress::Done;
                }
                Some(_) if search_mark(text).is_some() => {
                    self.finish(false, ctx);
                    return Progress::Done;
                }
                Some(replace) => {
                    grow(ctx, self.id, EditPart::New, replace, text);
                    replace.push(text.to_string());
                }
            }
            input.skip(line.next);
        }
        Progress::Wait
    }

    fn end(&mut self, ctx: &mut ReaderContext, cut: bool) {
        if cut {
            return ctx.dropped(self.id, CUT.to_string());
        }
        match &mut self.replace {
            None => ctx.dropped(self.id, BROKE_OFF.to_string()),
            Some(replace) => {
                if self.begun.fence.is_some() && replace.last().is_some_and(|l| l.trim() == "```") {
                    replace.pop();
                }
                self.finish(false, ctx);
            }
        }
    }
}

/// Returns the edit of a block whose first mark is missing: what stands above its `=======` is in one place of one file.
pub(super) fn unmarked(path: Option<&str>, content: &str, ctx: &ReaderContext) -> Option<Edit> {
    let (body, mark) = content.trim_end().rsplit_once('\n').filter(|(_, mark)| is_replace_mark(mark))?;
    let lines: Vec<&str> = body.lines().collect();
    let mut dividers = (0..lines.len()).filter(|at| is_divider(lines[*at]));
    let at = dividers.next().filter(|_| dividers.next().is_none())?;
    if lines.iter().any(|line| search_mark(line).is_some() || is_replace_mark(line)) {
        return None;
    }
    let (search, replace) = (lines[..at].join("\n"), lines[at + 1..].join("\n"));
    let files = path.map_or_else(|| ctx.known.iter().collect(), |path| meant_by(path, &ctx.known));
    let has = |file: &&KnownFile| places(&search, &file.text) > 0 && !file.text.contains(mark.trim());
    let mut files = files.into_iter().filter(has);
    let file = files.next().filter(|file| files.next().is_none() && places(&search, &file.text) == 1)?;
    let op = Op::Replace { search, replace, shape: SearchShape::Lines, all: false };
    Some(Edit::new(&file.path, op, Format::BLOCKS, Format::BLOCKS.name()))
}

/// Returns in how many places a text has the lines of a part, whatever blanks are around them.
fn places(part: &str, text: &str) -> usize {
    let solid = |text: &str| text.lines().map(|line| line.trim().to_string()).filter(|l| !l.is_empty()).collect();
    let (part, text): (Vec<String>, Vec<String>) = (solid(part), solid(text));
    if part.is_empty() { 0 } else { text.windows(part.len()).filter(|lines| *lines == part).count() }
}

/// Returns whether a line before the search text says where it is, or is the rule after such lines (`noted`): the text
/// itself says it better.
fn is_note(line: &str, noted: bool) -> bool {
    let line = line.trim();
    let number = [":start_line:", ":end_line:"].iter().find_map(|n| line.strip_prefix(n));
    let note = number.is_some_and(|n| n.trim().parse::<usize>().is_ok());
    note || (noted && line.len() >= 5 && line.bytes().all(|b| b == b'-'))
}

/// Shows one more line of a part; the line break belongs to the line after it.
fn grow(ctx: &mut ReaderContext, id: EditId, part: EditPart, before: &[String], line: &str) {
    match before.is_empty() {
        true => ctx.grew(id, part, line),
        false => ctx.grew(id, part, &format!("\n{line}")),
    }
}

/// Returns the blocks inside an element that holds them under `<diff>`.
pub(super) fn inside(text: &str, path: Option<&str>, whole: bool) -> Result<Vec<Edit>, String> {
    let mut ctx = ReaderContext::new(Some(Format::BLOCKS), Vec::new(), Arc::default(), false);
    let mut input = Input::default();
    input.push(text);
    input.end = Some(if whole { End::Ordinary } else { End::Cut });
    let mut fence: Option<Fence> = None;
    while let Some(line) = input.line() {
        let text = &input.rest()[..line.content];
        let is_mark = search_mark(dedented(text, fence.as_ref().map_or(0, |f| f.indent))).is_some();
        let begun = Begun::of(text, fence.as_ref().map(|f| f.indent));
        if !is_mark {
            fence = match fence {
                Some(open) if open.closed_by(text) => None,
                Some(open) => Some(open),
                None => Fence::open(text),
            };
        }
        input.skip(line.next);
        if is_mark {
            let mut block = Blocks::new(None, begun, &mut ctx);
            if !matches!(block.step(&mut input, &mut ctx), Progress::Done) {
                block.end(&mut ctx, !whole);
            }
        }
    }
    let mut edits = Vec::new();
    for piece in ctx.out {
        match piece {
            Piece::EditDone { edit, .. } => edits.push(Edit { path: path.map(str::to_string), ..edit }),
            Piece::EditDropped { why, .. } => return Err(why),
            _ => {}
        }
    }
    if edits.is_empty() { Err("there is no SEARCH block inside <diff>.".to_string()) } else { Ok(edits) }
}
