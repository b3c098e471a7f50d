//! Markdown that grows. Finished blocks are parsed once and never touched again; only the unfinished block at the
//! end is parsed again when text arrives, and of an unfinished code block only the new lines are looked at.
//!
//! [`Markdown`] knows no width; [`rows::Rows`] lays it out, keeping the rows of finished blocks.

mod blocks;
mod inline;
pub mod rows;
mod table;

use std::sync::atomic::{AtomicU64, Ordering};

pub use inline::{begin, prose, styled};

pub use blocks::{Block, BlockKind, CodeBlock, Face, Inline, Prefix, TableRow};

/// A Markdown text, whole or still arriving.
#[derive(Debug, Clone, Default)]
pub struct Markdown {
    text: String,
    blocks: Vec<Block>,
    /// Bytes whose blocks are finished, and how many blocks those are.
    settled: usize,
    settled_blocks: usize,
    /// The settled part ends before this entry of a list.
    list: Option<blocks::ListEntry>,
    fence: Option<Fence>,
    /// Bytes that the blocks show; less than the text has when more has arrived.
    parsed: usize,
    finished: bool,
}

/// A code block at the end whose closing fence has not come yet: its block is the last one.
#[derive(Debug, Clone)]
struct Fence {
    mark: u8,
    length: usize,
    indent: usize,
    /// Bytes of the text up to the end of the last whole line.
    taken: usize,
}

impl Markdown {
    /// Creates a whole text.
    pub fn whole(text: &str) -> Self {
        let mut doc = Markdown { text: text.to_string(), ..Self::default() };
        doc.finish();
        doc.refresh();
        doc
    }

    /// Adds text at the end, also of one that had ended. It is parsed by [`Self::refresh`].
    pub fn push(&mut self, text: &str) {
        if std::mem::take(&mut self.finished) {
            self.forget();
        }
        self.text.push_str(text);
    }

    /// Ends the text. What is left is parsed by [`Self::refresh`].
    pub fn finish(&mut self) {
        self.finished = true;
    }

    /// Returns whether the text has ended.
    pub fn is_finished(&self) -> bool {
        self.finished
    }

    /// Frees all but the text; [`Self::refresh`] makes it again.
    pub fn forget(&mut self) {
        *self = Markdown { text: std::mem::take(&mut self.text), finished: self.finished, ..Self::default() };
    }

    /// Returns the text as it arrived.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the blocks as of the last [`Self::refresh`].
    pub fn blocks(&self) -> &[Block] {
        &self.blocks
    }

    /// Returns the number of blocks at the beginning that will never change.
    pub fn settled_blocks(&self) -> usize {
        self.settled_blocks
    }

    /// Parses what has arrived since the last time.
    pub fn refresh(&mut self) {
        while self.parsed < self.text.len() || self.finished && self.settled < self.text.len() {
            self.parsed = self.text.len();
            if self.fence.is_some() {
                if !self.read_fence() {
                    return;
                }
                continue;
            }
            self.read_tail();
        }
    }

    /// Parses from the first unfinished block on.
    fn read_tail(&mut self) {
        self.blocks.truncate(self.settled_blocks);
        let parsed = blocks::parse(&self.text, self.settled, self.list);
        let last = parsed.units.last().cloned();
        let fence = last.as_ref().and_then(|last| self.open_fence(last.start, &parsed.blocks[last.block..]));
        match (last, fence) {
            (Some(last), Some(fence)) => self.enter_fence(parsed, &last, fence),
            (Some(last), None) if !self.finished => self.read_open(parsed, &last),
            _ => {
                self.close_blocks(parsed, usize::MAX);
                if self.finished {
                    self.settled = self.text.len();
                }
            }
        }
    }

    /// Finishes all before the code block at the end, whose lines are read from now on one by one.
    fn enter_fence(&mut self, mut parsed: blocks::Parsed, last: &blocks::Unit, fence: Fence) {
        let mut block = parsed.blocks[last.block].clone();
        parsed.blocks.truncate(last.block);
        self.close_blocks(parsed, usize::MAX);
        let id = if self.finished { 0 } else { live_id() };
        block.kind = BlockKind::Code(CodeBlock::new(blocks::info(&self.text[last.start..fence.taken]), id));
        self.blocks.push(block);
        (self.settled, self.parsed, self.list) = (last.start, last.start, None);
        self.fence = Some(fence);
    }

    /// Finishes all but the unfinished unit at the end.
    fn read_open(&mut self, mut parsed: blocks::Parsed, last: &blocks::Unit) {
        if let Some(repaired) = blocks::repair(&self.text[last.start..], parsed.blocks.last()) {
            let gap = parsed.blocks.get(last.block).is_some_and(|b| b.gap);
            parsed.blocks.truncate(last.block);
            parsed.blocks.extend(blocks::parse(&repaired, 0, last.list).blocks);
            if let Some(first) = parsed.blocks.get_mut(last.block) {
                first.gap = gap;
            }
        }
        // A line that is not whole yet may still join the block before it.
        let whole = self.text.rfind('\n').map_or(0, |n| n + 1);
        let open = parsed.units.iter().rev().find(|u| u.start < whole).filter(|u| u.start > self.settled);
        match open.cloned() {
            Some(unit) => {
                (self.settled, self.list) = (unit.start, unit.list);
                self.close_blocks(parsed, unit.block);
            }
            None => self.close_blocks(parsed, 0),
        }
    }

    /// Takes new blocks over; the first `settled` of them will not change.
    fn close_blocks(&mut self, parsed: blocks::Parsed, settled: usize) {
        let first = self.blocks.len();
        self.blocks.extend(parsed.blocks);
        self.settled_blocks = self.blocks.len().min(first.saturating_add(settled));
        for block in &mut self.blocks[first..self.settled_blocks] {
            if let BlockKind::Code(code) = &mut block.kind {
                code.name();
            }
        }
    }

    /// Returns the fence of a code block that stands alone at the end, if its opening line is whole.
    fn open_fence(&self, start: usize, blocks: &[Block]) -> Option<Fence> {
        let [Block { kind: BlockKind::Code(_), prefix, .. }] = blocks else { return None };
        let text = &self.text[start..];
        let line = &text[..text.find('\n')?];
        let indent = line.len() - line.trim_start_matches(' ').len();
        let mark = *line.as_bytes().get(indent)?;
        let length = line[indent..].bytes().take_while(|b| *b == mark).count();
        let fenced = matches!(mark, b'`' | b'~') && length >= 3 && indent < 4 && prefix.is_empty();
        fenced.then_some(Fence { mark, length, indent, taken: start + line.len() + 1 })
    }

    /// Reads the lines that an open code block has got. Returns whether its end was found.
    fn read_fence(&mut self) -> bool {
        let (Some(fence), Some(Block { kind: BlockKind::Code(code), .. })) = (&mut self.fence, self.blocks.last_mut())
        else {
            return true;
        };
        code.drop_partial();
        while let Some(end) = self.text[fence.taken..].find('\n') {
            let line = &self.text[fence.taken..fence.taken + end];
            fence.taken += end + 1;
            if fence.closes(line) {
                code.name();
                (self.settled, self.parsed) = (fence.taken, fence.taken);
                self.settled_blocks = self.blocks.len();
                self.fence = None;
                return true;
            }
            code.push(fence.strip(line));
        }
        let rest = &self.text[fence.taken..];
        let closed = fence.closes(rest);
        // What may become the closing fence is not shown as code.
        let begun = rest.trim_start_matches(' ').bytes().all(|b| b == fence.mark);
        if self.finished {
            if !closed && !rest.is_empty() {
                code.push(fence.strip(rest));
            }
            code.name();
            self.settled = self.text.len();
            self.settled_blocks = self.blocks.len();
            self.fence = None;
            return true;
        }
        if !begun {
            code.push_partial(fence.strip(rest));
        }
        false
    }
}

impl Fence {
    fn closes(&self, line: &str) -> bool {
        let body = line.trim_start_matches(' ');
        let marks = body.bytes().take_while(|b| *b == self.mark).count();
        line.len() - body.len() < 4 && marks >= self.length && body[marks..].trim().is_empty()
    }

    /// Returns a line of code without the fence's own indentation and without a carriage return.
    fn strip<'a>(&self, line: &'a str) -> &'a str {
        let spaces = line.bytes().take(self.indent).take_while(|b| *b == b' ').count();
        let line = &line[spaces..];
        line.strip_suffix('\r').unwrap_or(line)
    }
}

/// Returns a name for a text that grows. Names of whole texts are hashes; a clash would cost colours and nothing more.
fn live_id() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

#[cfg(test)]
mod tests;
