//! Blocks → rows at a width. Rows of settled blocks, and of the whole lines of a code block, are made once.

use std::ops::Range;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};

use super::inline::lines;
use super::{Block, BlockKind, CodeBlock, Inline, Markdown, Prefix, table};
use crate::tui::look::Look;
use crate::tui::text::highlight::{Highlighter, Source, Token};
use crate::tui::text::wrap::{breaks, cells};
use crate::tui::text::{cut, paint};
use crate::tui::theme::Role;

/// A row of a document.
#[derive(Debug, Clone, PartialEq)]
enum DocumentRow {
    Text(Line<'static>),
    /// A part of a line of the code block `block`.
    Code {
        block: u32,
        line: u32,
        from: u32,
        to: u32,
    },
}

/// A document laid out.
#[derive(Debug, Clone, Default)]
pub struct Rows {
    width: usize,
    stamp: u64,
    rows: Vec<DocumentRow>,
    /// Rows that are final; they end before line `line` of block `block`.
    settled: usize,
    block: usize,
    line: usize,
}

impl Rows {
    /// Brings the rows up to date with `doc`, which has been refreshed. Paragraphs leave the last cell free for the
    /// mark of growing text, so that its going moves nothing.
    pub fn update(&mut self, doc: &Markdown, width: usize, look: Look<'_>) {
        let width = width.max(8);
        if (self.width, self.stamp) != (width, look.theme.stamp()) {
            *self = Rows { width, stamp: look.theme.stamp(), ..Rows::default() };
        }
        self.rows.truncate(self.settled);
        for (index, block) in doc.blocks().iter().enumerate().skip(self.block) {
            let layout = BlockLayout { width, look, prefix: &block.prefix };
            let done = index < doc.settled_blocks();
            let from = if index == self.block { self.line } else { 0 };
            if from == 0 && block.gap && index > 0 {
                self.gap(&doc.blocks()[index - 1], block, look);
            }
            if let BlockKind::Code(code) = &block.kind {
                for line in from..code.visible().max(1) {
                    self.code_line(code, index, line, &layout);
                    if index == self.block && line < code.lines() && code.has_colours() {
                        (self.settled, self.line) = (self.rows.len(), line + 1);
                    }
                }
            } else {
                layout.block(block, &mut self.rows);
            }
            if done {
                (self.settled, self.block, self.line) = (self.rows.len(), index + 1, 0);
            }
        }
    }

    /// Returns the number of rows.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Returns whether there is nothing to show.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Cells from the left edge to the end of the last row's text.
    pub fn end(&self, doc: &Markdown) -> usize {
        match self.rows.last() {
            None => 0,
            Some(DocumentRow::Text(line)) => line.spans.iter().map(|s| cells(&s.content)).sum(),
            Some(DocumentRow::Code { block, line, from, to }) => match doc.blocks().get(*block as usize) {
                Some(Block { kind: BlockKind::Code(code), prefix, .. }) => {
                    let text = code.line(*line as usize);
                    let room = code_room(self.width.saturating_sub(prefix_cells(prefix)));
                    let before = if *from > 0 { 4 + indent(text, room) } else { 2 };
                    prefix_cells(prefix) + before + cells(&text[*from as usize..*to as usize])
                }
                _ => 0,
            },
        }
    }

    /// Returns the text of a row, for searching.
    pub fn text(&self, doc: &Markdown, row: usize) -> String {
        match self.rows.get(row) {
            None => String::new(),
            Some(DocumentRow::Text(line)) => line.spans.iter().map(|s| s.content.as_ref()).collect(),
            Some(DocumentRow::Code { block, line, from, to }) => match doc.blocks().get(*block as usize) {
                Some(Block { kind: BlockKind::Code(code), .. }) => {
                    code.line(*line as usize)[*from as usize..*to as usize].to_string()
                }
                _ => String::new(),
            },
        }
    }

    /// Draws the rows of `range` at (`x`, `y`) and below.
    pub fn draw(
        &self,
        doc: &Markdown,
        range: Range<usize>,
        at: (u16, u16),
        buf: &mut Buffer,
        look: Look<'_>,
        colours: &Highlighter,
    ) {
        let range = range.start..range.end.min(self.rows.len());
        let mut tokens: Vec<(u32, u32, Vec<Token>)> = Vec::new();
        for (y, row) in (at.1..).zip(range.clone()) {
            match &self.rows[row] {
                DocumentRow::Text(line) => {
                    paint::spans(buf, at.0, y, self.width, &line.spans);
                }
                DocumentRow::Code { block, line, from, to } => {
                    let Some(Block { kind: BlockKind::Code(code), prefix, .. }) = doc.blocks().get(*block as usize)
                    else {
                        continue;
                    };
                    if tokens.first().is_none_or(|(b, ..)| b != block) {
                        tokens = self.tokens(*block, code, row..range.end, colours);
                    }
                    let found = tokens.iter().find(|(_, l, _)| l == line).map_or(&[][..], |(.., t)| t);
                    let part = CodePart { code, prefix, line: *line as usize, part: *from as usize..*to as usize };
                    part.draw(found, at.0, y, self.width, buf, look);
                }
            }
        }
    }

    /// Returns the colours of the lines of one code block among `rows`.
    fn tokens(
        &self,
        block: u32,
        code: &CodeBlock,
        rows: Range<usize>,
        colours: &Highlighter,
    ) -> Vec<(u32, u32, Vec<Token>)> {
        let lines = self.rows[rows].iter().map_while(|r| match r {
            DocumentRow::Code { block: b, line, .. } if *b == block => Some(*line),
            _ => None,
        });
        let (first, last) = lines.fold((u32::MAX, 0), |(a, b), l| (a.min(l), b.max(l)));
        let mut found = Vec::new();
        if code.has_colours() {
            colours.look(code, first as usize..last as usize + 1, |line, tokens| {
                found.push((block, line as u32, tokens.to_vec()));
            });
        }
        if found.is_empty() {
            // Remembers that this block was asked for.
            found.push((block, u32::MAX, Vec::new()));
        }
        found
    }

    fn gap(&mut self, before: &Block, block: &Block, look: Look<'_>) {
        let both = before.prefix.iter().zip(&block.prefix);
        let bars = both.take_while(|(a, b)| block.joined && **a == Prefix::Quote && **b == Prefix::Quote).count();
        let bar = Span::styled(format!("{} ", look.glyphs.upright), look.theme.style(Role::Line));
        self.rows.push(DocumentRow::Text(vec![bar; bars].into()));
    }

    fn code_line(&mut self, code: &CodeBlock, block: usize, line: usize, layout: &BlockLayout<'_>) {
        let text = code.line(line);
        let room = code_room(layout.room());
        let mut parts = breaks(text, room);
        if parts.len() > 1 {
            let head = parts[0].clone();
            let rest = parts[1].start;
            let room = room - 2 - indent(text, room);
            parts = breaks(&text[rest..], room).into_iter().map(|r| r.start + rest..r.end + rest).collect();
            parts.insert(0, head);
        }
        for part in parts {
            let (from, to) = (part.start as u32, part.end as u32);
            self.rows.push(DocumentRow::Code { block: block as u32, line: line as u32, from, to });
        }
    }
}

/// The inputs of the rows of one block.
struct BlockLayout<'a> {
    width: usize,
    look: Look<'a>,
    prefix: &'a [Prefix],
}

impl BlockLayout<'_> {
    /// Cells for the block itself.
    fn room(&self) -> usize {
        self.width.saturating_sub(prefix_cells(self.prefix)).max(4)
    }

    fn block(&self, block: &Block, rows: &mut Vec<DocumentRow>) {
        let theme = self.look.theme;
        let body: Vec<Line<'static>> = match &block.kind {
            BlockKind::Text(inlines) => self.text(inlines, Style::new()),
            BlockKind::Heading(inlines) => self.text(inlines, Style::new().add_modifier(Modifier::BOLD)),
            BlockKind::Rule => {
                let rule = self.look.glyphs.rule.repeat(self.room());
                vec![Span::styled(rule, theme.style(Role::Line)).into()]
            }
            BlockKind::Table(columns, cells) => table::lines_of(columns, cells, self.room(), self.look),
            BlockKind::Code(_) => Vec::new(),
        };
        for (n, line) in body.into_iter().enumerate() {
            let mut spans = prefix_spans(self.prefix, n == 0, self.look);
            spans.extend(line.spans);
            rows.push(DocumentRow::Text(spans.into()));
        }
    }

    fn text(&self, inlines: &[Inline], add: Style) -> Vec<Line<'static>> {
        lines(inlines, self.room() - 1, self.look, add)
    }
}

fn prefix_cells(prefix: &[Prefix]) -> usize {
    prefix
        .iter()
        .map(|p| match p {
            Prefix::Entry { number: Some(n), .. } => n.len() + 1,
            _ => 2,
        })
        .sum()
}

fn prefix_spans(prefix: &[Prefix], first_row: bool, look: Look<'_>) -> Vec<Span<'static>> {
    let spans = prefix.iter().map(|p| match p {
        Prefix::Quote => Span::styled(format!("{} ", look.glyphs.upright), look.theme.style(Role::Line)),
        Prefix::Entry { number, first } => {
            let mark = number.as_deref().unwrap_or(look.glyphs.bullet);
            let text = if *first && first_row { format!("{mark} ") } else { " ".repeat(cells(mark) + 1) };
            Span::styled(text, look.theme.style(Role::Dim))
        }
    });
    spans.collect()
}

/// Cells for code in a block of `room`: without the bar and a blank at its left, and a blank at its right.
fn code_room(room: usize) -> usize {
    room.saturating_sub(3).max(4)
}

/// Returns the indent of a wrapped line of code, before its mark: that of the line, within reason.
fn indent(line: &str, room: usize) -> usize {
    line.bytes().take_while(|b| *b == b' ').count().min(room.saturating_sub(4) / 2)
}

/// A row of code.
struct CodePart<'a> {
    code: &'a CodeBlock,
    prefix: &'a [Prefix],
    line: usize,
    part: Range<usize>,
}

impl CodePart<'_> {
    fn draw(&self, tokens: &[Token], x: u16, y: u16, width: usize, buf: &mut Buffer, look: Look<'_>) {
        let theme = look.theme;
        let (text, dim) = (theme.on(Role::Text, Role::CodeBg), theme.on(Role::Dim, Role::CodeBg));
        let first = self.line == 0 && self.part.start == 0;
        let used = paint::spans(buf, x, y, width, &prefix_spans(self.prefix, first, look));
        let (edge, room) = (x + used as u16, width.saturating_sub(used));
        buf.set_style(Rect::new(edge, y, room as u16, 1).intersection(buf.area), text);
        // Where the tint is no colour a bar stands for it.
        let bar = if theme.paints(Role::CodeBg) { " " } else { look.glyphs.upright };
        let mut at = paint::text(buf, edge, y, room, bar, dim) + 1;
        if self.part.start > 0 {
            at += indent(self.code.line(self.line), code_room(room));
            at += paint::text(buf, edge + at as u16, y, room.saturating_sub(at), look.glyphs.wrapped, dim) + 1;
        }
        let line = self.code.line(self.line);
        let mut from = self.part.start;
        for token in tokens {
            let to = (token.end as usize).min(self.part.end);
            if to > from {
                let style = theme.on(token.role, Role::CodeBg);
                at += paint::text(buf, edge + at as u16, y, room.saturating_sub(at), &line[from..to], style);
                from = to;
            }
        }
        at += paint::text(buf, edge + at as u16, y, room.saturating_sub(at), &line[from..self.part.end], text);
        let tag = cut::end(&self.code.tag, 20, look.glyphs.cut);
        if first && !tag.is_empty() && at + cells(&tag) + 2 <= room {
            paint::text(buf, edge + (room - cells(&tag) - 1) as u16, y, cells(&tag), &tag, dim);
        }
    }
}
