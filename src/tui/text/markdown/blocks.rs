//! A piece of Markdown → flat blocks: each leaf knows the quotes and list entries around it.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Range;

use pulldown_cmark::{Alignment, CodeBlockKind, Event, Options, Parser, Tag, TagEnd};

use crate::tui::text::highlight::{self, Source};
use crate::tui::text::show;
use crate::tui::text::wrap::cells;

/// A leaf of the document.
#[derive(Debug, Clone, PartialEq)]
pub struct Block {
    /// The marks to its left, from the outside in.
    pub prefix: Vec<Prefix>,
    /// An empty row stands before it.
    pub gap: bool,
    /// It goes on in the quotes of the block before it.
    pub joined: bool,
    /// Its kind.
    pub kind: BlockKind,
}

/// A mark to the left of a block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Prefix {
    /// A bar, on every row.
    Quote,
    /// A list entry: its mark on the first row, as many blank cells on the others.
    Entry {
        /// `None`: a bullet, if this is the entry's first block.
        number: Option<String>,
        /// The mark is drawn.
        first: bool,
    },
}

/// The kind of a block.
#[derive(Debug, Clone, PartialEq)]
pub enum BlockKind {
    /// A paragraph.
    Text(Vec<Inline>),
    /// A heading.
    Heading(Vec<Inline>),
    /// A code block.
    Code(CodeBlock),
    /// A table: its columns' alignment, and rows of cells, the header first.
    Table(Vec<Alignment>, Vec<TableRow>),
    /// A rule across.
    Rule,
}

/// The cells of a table's row.
pub type TableRow = Vec<Vec<Inline>>;

/// A run of text of one look. A newline in it breaks the line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inline {
    /// The text.
    pub text: String,
    /// The face.
    pub face: Face,
}

/// The face of a run of text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[allow(missing_docs)]
pub struct Face {
    pub strong: bool,
    pub emphasis: bool,
    pub strike: bool,
    pub code: bool,
    pub link: bool,
    /// Beside the point: the address of a link.
    pub dim: bool,
}

/// The lines of a code block, as they are shown.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CodeBlock {
    /// The label at its top right: the language as it was written.
    pub tag: String,
    id: u64,
    language: String,
    text: String,
    starts: Vec<u32>,
    partial: bool,
}

/// Blocks of a text, and where each of its top-level units begins.
pub(super) struct Parsed {
    pub(super) blocks: Vec<Block>,
    pub(super) units: Vec<Unit>,
}

/// A top-level block, or an entry of a top-level list.
#[derive(Debug, Clone)]
pub(super) struct Unit {
    /// Byte of the text, at the start of a line.
    pub(super) start: usize,
    /// Its first block.
    pub(super) block: usize,
    /// It is an entry of a list: with its number, if numbered.
    pub(super) list: Option<ListEntry>,
}

/// An entry of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ListEntry {
    /// Its number, if numbered.
    pub(super) number: Option<u64>,
    /// It is the list's first.
    pub(super) first: bool,
}

impl CodeBlock {
    pub(super) fn new(info: &str, id: u64) -> Self {
        let tag = info.split([' ', ',', '{', '\t']).next().unwrap_or("").trim_start_matches('.');
        // Some models write `rust:src/a.rs` or the path alone.
        let name = tag.split(':').next().unwrap_or(tag);
        let language = if name.contains(['/', '.']) { highlight::language_of(name) } else { name };
        CodeBlock { id, language: language.into(), tag: show::plain(tag).into(), ..Self::default() }
    }

    pub(super) fn push(&mut self, line: &str) {
        // Blocks above 4 GiB would be needed for this to wrap.
        self.starts.push(self.text.len() as u32);
        self.text.push_str(&show::plain(line));
    }

    pub(super) fn push_partial(&mut self, line: &str) {
        if !line.is_empty() {
            self.push(line);
            self.partial = true;
        }
    }

    pub(super) fn drop_partial(&mut self) {
        if let (true, Some(start)) = (self.partial, self.starts.last()) {
            self.text.truncate(*start as usize);
            self.starts.pop();
            self.partial = false;
        }
    }

    /// Names the block after its contents, unless it has a name.
    pub(super) fn name(&mut self) {
        if self.id == 0 {
            let mut hasher = DefaultHasher::new();
            (&self.language, &self.text, &self.starts).hash(&mut hasher);
            self.id = hasher.finish() | 1 << 63;
        }
    }

    /// Returns lines to show, an unfinished one at the end among them.
    pub fn visible(&self) -> usize {
        self.starts.len()
    }

    /// Returns whether its colours can be asked for: not while it grows inside something else.
    pub fn has_colours(&self) -> bool {
        self.id != 0
    }
}

impl Source for CodeBlock {
    fn id(&self) -> u64 {
        self.id
    }

    fn language(&self) -> &str {
        &self.language
    }

    fn lines(&self) -> usize {
        self.starts.len() - usize::from(self.partial)
    }

    fn line(&self, number: usize) -> &str {
        let Some(start) = self.starts.get(number) else { return "" };
        let end = self.starts.get(number + 1).map_or(self.text.len(), |e| *e as usize);
        &self.text[*start as usize..end]
    }
}

/// Returns the info string of an opening fence's line.
pub(super) fn info(line: &str) -> &str {
    let line = line.trim();
    line.trim_start_matches(|c| line.starts_with(c)).trim()
}

/// Parses `text` from byte `from` on; `list` tells that an entry of a list begins there.
pub(super) fn parse(text: &str, from: usize, list: Option<ListEntry>) -> Parsed {
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    let mut builder = Builder { text, from, list, ..Builder::default() };
    for (event, range) in Parser::new_ext(&text[from..], options).into_offset_iter() {
        builder.event(event, range.start + from..range.end + from);
    }
    Parsed { blocks: builder.blocks, units: builder.units }
}

#[derive(Default)]
struct Builder<'a> {
    text: &'a str,
    from: usize,
    list: Option<ListEntry>,
    blocks: Vec<Block>,
    units: Vec<Unit>,
    around: Vec<Around>,
    inlines: Vec<Inline>,
    /// The beginning of the first of them.
    inline_start: usize,
    face: Face,
    address: Option<String>,
    code: Option<(CodeBlock, String)>,
    table: Option<(Vec<Alignment>, Vec<TableRow>)>,
    /// The next block is the first of a unit that stands apart.
    apart: bool,
    heading: bool,
}

enum Around {
    Quote,
    List(Option<u64>),
    Entry { number: Option<String>, first: bool },
}

impl Builder<'_> {
    fn event(&mut self, event: Event<'_>, range: Range<usize>) {
        match event {
            Event::Start(tag) => self.start(tag, range),
            Event::End(tag) => self.end(tag, range),
            Event::Text(text) => match &mut self.code {
                Some((_, code)) => code.push_str(&text),
                None => self.inline(&text, self.face, range),
            },
            Event::Code(text) => self.inline(&text, Face { code: true, ..self.face }, range),
            Event::Html(text) | Event::InlineHtml(text) => self.inline(&text, self.face, range),
            Event::SoftBreak => self.soft_break(range),
            Event::HardBreak => self.inline("\n", self.face, range),
            Event::Rule => {
                self.unit(&range);
                self.leaf(BlockKind::Rule, range.start);
            }
            Event::TaskListMarker(done) => self.inline(if done { "[x] " } else { "[ ] " }, Face::default(), range),
            Event::InlineMath(text) | Event::DisplayMath(text) | Event::FootnoteReference(text) => {
                self.inline(&text, self.face, range);
            }
        }
    }

    fn start(&mut self, tag: Tag<'_>, range: Range<usize>) {
        match tag {
            Tag::Paragraph | Tag::HtmlBlock => self.unit(&range),
            Tag::Heading { .. } => {
                self.unit(&range);
                self.heading = true;
            }
            Tag::BlockQuote(_) => {
                self.unit(&range);
                self.around.push(Around::Quote);
            }
            Tag::CodeBlock(kind) => {
                self.unit(&range);
                let info = match &kind {
                    CodeBlockKind::Fenced(info) => info,
                    CodeBlockKind::Indented => "",
                };
                self.code = Some((CodeBlock::new(info, 0), String::new()));
            }
            Tag::List(first) => {
                self.flush();
                let resumed = self.list.filter(|_| self.units.is_empty() && range.start < self.from + 4);
                let first = match resumed {
                    // A list cut at an entry goes on counting where it was.
                    Some(entry) if self.around.is_empty() && entry.number.is_some() == first.is_some() => {
                        self.apart |= entry.first;
                        entry.number
                    }
                    _ => {
                        self.apart |= self.around.is_empty();
                        first
                    }
                };
                self.around.push(Around::List(first));
            }
            Tag::Item => self.entry(&range),
            Tag::Table(columns) => {
                self.unit(&range);
                self.table = Some((columns, Vec::new()));
            }
            Tag::TableHead | Tag::TableRow => {
                if let Some((_, rows)) = &mut self.table {
                    rows.push(Vec::new());
                }
            }
            Tag::Emphasis => self.face.emphasis = true,
            Tag::Strong => self.face.strong = true,
            Tag::Strikethrough => self.face.strike = true,
            Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. } => {
                self.face.link = true;
                self.address = Some(dest_url.into_string());
            }
            _ => {}
        }
    }

    fn end(&mut self, tag: TagEnd, range: Range<usize>) {
        match tag {
            TagEnd::Paragraph | TagEnd::Heading(_) | TagEnd::HtmlBlock => self.flush(),
            TagEnd::CodeBlock => {
                if let Some((mut code, text)) = self.code.take() {
                    text.lines().for_each(|line| code.push(line));
                    self.leaf(BlockKind::Code(code), range.start);
                }
            }
            TagEnd::BlockQuote(_) | TagEnd::List(_) => {
                self.around.pop();
            }
            TagEnd::Item => {
                self.flush();
                if let Some(Around::Entry { first: true, .. }) = self.around.last() {
                    self.leaf(BlockKind::Text(Vec::new()), range.start);
                }
                self.around.pop();
            }
            TagEnd::TableCell => {
                let cell = std::mem::take(&mut self.inlines);
                if let Some(row) = self.table.as_mut().and_then(|(_, rows)| rows.last_mut()) {
                    row.push(cell);
                }
            }
            TagEnd::Table => {
                if let Some((columns, rows)) = self.table.take() {
                    self.leaf(BlockKind::Table(columns, rows), range.start);
                }
            }
            TagEnd::Emphasis => self.face.emphasis = false,
            TagEnd::Strong => self.face.strong = false,
            TagEnd::Strikethrough => self.face.strike = false,
            TagEnd::Link | TagEnd::Image => {
                self.face.link = false;
                self.link_address(range);
            }
            _ => {}
        }
    }

    /// Begins a top-level unit, unless inside one.
    fn unit(&mut self, range: &Range<usize>) {
        self.flush();
        if self.around.is_empty() {
            self.apart = true;
            self.units.push(Unit { start: self.line_start(range.start), block: self.blocks.len(), list: None });
        }
    }

    fn entry(&mut self, range: &Range<usize>) {
        let top = self.around.len() == 1;
        let Some(Around::List(next)) = self.around.last_mut() else { return };
        let number = *next;
        if let Some(n) = next {
            *n += 1;
        }
        if top {
            let start = self.line_start(range.start);
            let entry = ListEntry { number, first: self.apart };
            self.units.push(Unit { start, block: self.blocks.len(), list: Some(entry) });
        }
        self.around.push(Around::Entry { number: number.map(|n| format!("{n}.")), first: true });
    }

    fn line_start(&self, at: usize) -> usize {
        self.text[..at].rfind('\n').map_or(0, |n| n + 1).max(self.from)
    }

    fn inline(&mut self, text: &str, face: Face, range: Range<usize>) {
        if self.inlines.is_empty() {
            self.inline_start = range.start;
        }
        let text = match text.contains('\n') {
            true => text.split('\n').map(show::plain).collect::<Vec<_>>().join("\n").into(),
            false => show::plain(text),
        };
        match self.inlines.last_mut() {
            Some(last) if last.face == face => last.text.push_str(&text),
            _ => self.inlines.push(Inline { text: text.into_owned(), face }),
        }
    }

    /// Adds a line's end of the source as a space, but between wide characters it is nothing.
    fn soft_break(&mut self, range: Range<usize>) {
        let wide = |c: Option<char>| c.is_some_and(|c| cells(c.encode_utf8(&mut [0; 4])) == 2);
        let before = self.text[..range.start].chars().next_back();
        let after = self.text[range.end..].chars().next();
        if !(wide(before) && wide(after)) {
            self.inline(" ", self.face, range);
        }
    }

    /// Adds the address of a link whose text does not tell it.
    fn link_address(&mut self, range: Range<usize>) {
        let Some(address) = self.address.take() else { return };
        let is_address =
            self.inlines.last().is_some_and(|i| i.face.link && i.text.ends_with(address.trim_end_matches('/')));
        if !is_address && address.starts_with("http") {
            self.inline(&format!(" ({address})"), Face { dim: true, ..self.face }, range);
        }
    }

    /// Ends a run of text that is waiting for its block: inside a tight entry no event says so.
    fn flush(&mut self) {
        let heading = std::mem::take(&mut self.heading);
        if self.table.is_some() || self.inlines.is_empty() {
            return;
        }
        let mut inlines = std::mem::take(&mut self.inlines);
        if let Some(last) = inlines.last_mut() {
            last.text.truncate(last.text.trim_end_matches('\n').len());
        }
        let kind = if heading { BlockKind::Heading(inlines) } else { BlockKind::Text(inlines) };
        self.leaf(kind, self.inline_start);
    }

    fn leaf(&mut self, kind: BlockKind, start: usize) {
        let mut prefix = Vec::new();
        for around in &mut self.around {
            match around {
                Around::Quote => prefix.push(Prefix::Quote),
                Around::List(_) => {}
                Around::Entry { number, first } => {
                    prefix.push(Prefix::Entry { number: number.clone(), first: std::mem::take(first) });
                }
            }
        }
        let apart = std::mem::take(&mut self.apart);
        let gap = apart || blank_before(&self.text[..start]);
        self.blocks.push(Block { prefix, gap, joined: !apart, kind });
    }
}

/// Returns whether an empty line, maybe a quoted one, stands at the end of `text`, before the line that begins there.
fn blank_before(text: &str) -> bool {
    let mut lines = text.rsplit('\n').skip(1);
    let blank = |l: &str| l.bytes().all(|b| matches!(b, b' ' | b'\t' | b'\r' | b'>'));
    lines.next().is_some_and(|l| blank(l) && !text.is_empty())
}

/// Closes what the unfinished paragraph at the end of `text` has opened, so that its marks do not show for as long
/// as their counterparts have not arrived. `None`: nothing is open.
pub(super) fn repair(text: &str, last: Option<&Block>) -> Option<String> {
    let Some(Block { kind: BlockKind::Text(_) | BlockKind::Heading(_), .. }) = last else { return None };
    let start = text.rfind("\n\n").map_or(0, |n| n + 2);
    let bytes = text.as_bytes();
    let (mut at, mut code, mut strong) = (start, None, None);
    while at < bytes.len() {
        let run = bytes[at..].iter().take_while(|b| **b == bytes[at]).count();
        match (bytes[at], code) {
            (b'`', None) => code = Some((run, at + run)),
            (b'`', Some((length, _))) if length == run => code = None,
            (b'*', None) if run >= 2 && strong.is_some() => strong = None,
            (b'*', None) if run >= 2 && bytes.get(at + run) != Some(&b' ') => strong = Some(at + run),
            (b'\\', None) => at += 1,
            _ => {}
        }
        at += run;
    }
    let (open, mark) = match (code, strong) {
        (Some((run, _)), _) if run > 2 => return None,
        (Some((run, open)), _) => (open, "``".get(..run)?),
        (None, Some(open)) => (open, "**"),
        (None, None) => return None,
    };
    let body = text.trim_end_matches([' ', '\n', '*']);
    if body.len() <= open {
        // Nothing after the mark yet: leave it out.
        return Some(text[..open].trim_end_matches(['*', '`']).to_string());
    }
    let closing_strong = if mark == "**" || strong.is_none() { "" } else { "**" };
    Some(format!("{}{mark}{closing_strong}", if mark == "**" { body } else { text.trim_end() }))
}
