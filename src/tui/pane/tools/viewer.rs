//! One call, whole: its arguments, its result as the model got it, and what its command prints as it comes.

use std::ops::Range;

use ratatui::text::Span;

use crate::proposal::Rung;
use crate::protocol::{Call, ItemId};
use crate::tui::action::{Action, Context};
use crate::tui::look::Ctx;
use crate::tui::msg::{Effect, LineFor, LineInput, PaneEffect};
use crate::tui::pane::paint::{self, Pen, bold, found_word, span};
use crate::tui::text::highlight::{Code, Source};
use crate::tui::text::{cut, show, wrap};
use crate::tui::theme::Role;

use super::fields;
use super::printed::PrintedLines;
use crate::messages::{count, tools as say};

/// Lines of one call, wrapped for the pane.
#[derive(Debug)]
pub(super) struct Viewer {
    id: ItemId,
    title: String,
    lines: Vec<(LineKind, String)>,
    /// The texts of the blocks that are code, each with the line it begins in.
    codes: Vec<(usize, Code)>,
    /// Line and byte range of each row.
    rows: Vec<(usize, Range<usize>)>,
    top: usize,
    size: (u16, u16),
    words: String,
    /// The rows that hold them.
    hits: Vec<usize>,
    printed: Option<PrintedBlock>,
}

/// The last block, of what the command prints.
#[derive(Debug, Clone, Copy, Default)]
struct PrintedBlock {
    /// The line of its name.
    at: usize,
    /// The number of whole lines of the output before those of the block.
    left_out: usize,
    /// The number of whole lines of the output so far.
    whole: usize,
    /// True if a line follows that is not over yet.
    is_begun: bool,
    /// True if its end stays in view.
    follows: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LineKind {
    Name,
    Text,
}

impl Viewer {
    pub fn new(id: ItemId, call: &Call, output: Option<&PrintedLines>, size: (u16, u16)) -> Self {
        let mut viewer = Viewer {
            id,
            title: String::new(),
            lines: Vec::new(),
            codes: Vec::new(),
            rows: Vec::new(),
            top: 0,
            size,
            words: String::new(),
            hits: Vec::new(),
            printed: None,
        };
        viewer.take(call);
        output.into_iter().for_each(|output| viewer.print(output));
        viewer
    }

    /// Returns the call that is shown.
    pub fn id(&self) -> ItemId {
        self.id
    }

    /// Takes the call as it is now.
    pub fn take(&mut self, call: &Call) {
        self.title = format!("{} {}", call.name, call.main);
        // The block of what is printed stays below, with the empty line above it.
        let from = self.printed.map_or(self.lines.len(), |block| block.at.saturating_sub(1));
        let printed = self.lines.split_off(from);
        let before = std::mem::take(&mut self.lines);
        let codes = std::mem::take(&mut self.codes);
        self.take_head(call);
        let (is_same, head) = (before == self.lines, self.lines.len());
        self.lines.extend(printed);
        if is_same {
            self.codes = codes;
            return;
        }
        let rows_above = |rows: &[(usize, Range<usize>)], lines| rows.partition_point(|(line, _)| *line < lines);
        let (rows_before, top) = (rows_above(&self.rows, from), self.top);
        if let Some(block) = &mut self.printed {
            block.at = head + (block.at - from);
        }
        self.wrap();
        if self.printed.is_some() && top >= rows_before {
            // What is read of it stays in view.
            self.go_to(top - rows_before + rows_above(&self.rows, head));
        }
    }

    /// Takes all of the call but what its command prints.
    fn take_head(&mut self, call: &Call) {
        let fields = fields::read(&call.arguments);
        if fields.is_empty() && !call.arguments.trim().is_empty() {
            self.block(say::arguments(), &call.arguments);
        }
        for field in &fields {
            self.block_of(&field.name, field.value.lines().map(show::named));
            if field.text && field.value.contains('\n') {
                self.colour(call.file(), &field.value);
            }
        }
        // Where nothing differed there is nothing to say.
        if let Some(rung) = call.rung.filter(|rung| *rung != Rung::Exact) {
            self.block(say::found(), found_word(rung));
        }
        if let Some(reason) = call.shown_reason() {
            self.block(say::why_not(), reason);
        }
        if let Some(result) = &call.result {
            self.block(say::result(), result);
            if call.verb.done == "read" {
                self.colour(&call.main, result);
            }
        }
    }

    /// Adds the block of what the command prints, whose end stays in view.
    fn begin_printed(&mut self) -> PrintedBlock {
        self.block(say::output(), "");
        let block = PrintedBlock { at: self.lines.len() - 1, follows: true, ..PrintedBlock::default() };
        self.printed = Some(block);
        self.wrap();
        block
    }

    /// Takes what the command has printed since: new lines are added, those that are not held any more go.
    pub fn print(&mut self, output: &PrintedLines) {
        let mut block = self.printed.unwrap_or_else(|| self.begin_printed());
        let width = self.width();
        if std::mem::take(&mut block.is_begun) {
            self.lines.pop();
            let last = self.lines.len();
            self.rows.truncate(self.rows.partition_point(|(line, _)| *line < last));
        }
        let held = self.lines.len() - block.at - 1;
        let gone = (output.left_out() - block.left_out).min(held);
        block.left_out = output.left_out();
        self.leave_out(block.at + 1, gone);
        if block.left_out > 0 {
            self.lines[block.at].1 = format!("{}  {}", say::output(), say::before(&count::lines(block.left_out)));
            let name = self.rows.partition_point(|(line, _)| *line < block.at);
            self.rows[name].1 = 0..self.lines[block.at].1.len();
        }
        let new = output.whole_from(block.whole).chain(output.begun());
        (block.whole, block.is_begun) = (output.whole(), output.begun().is_some());
        for text in new {
            let text = show::plain(text).into_owned();
            rows_of(self.lines.len(), &text, width, &mut self.rows);
            self.lines.push((LineKind::Text, text));
        }
        self.printed = Some(block);
        self.top = if block.follows { self.last_top() } else { self.top.min(self.last_top()) };
        if !self.words.is_empty() {
            self.find_hits();
        }
    }

    /// Removes `count` lines from line `first` on; the rows that are seen stay, as far as their lines do.
    fn leave_out(&mut self, first: usize, count: usize) {
        if count == 0 {
            return;
        }
        self.lines.drain(first..first + count);
        let from = self.rows.partition_point(|(line, _)| *line < first);
        let to = self.rows.partition_point(|(line, _)| *line < first + count);
        self.rows.drain(from..to);
        self.rows[from..].iter_mut().for_each(|(line, _)| *line -= count);
        if self.top > from {
            self.top = self.top.saturating_sub(to - from).max(from);
        }
    }

    fn block(&mut self, name: &str, text: &str) {
        self.block_of(name, text.lines().map(|line| show::plain(line).into_owned()));
    }

    fn block_of(&mut self, name: &str, lines: impl Iterator<Item = String>) {
        if !self.lines.is_empty() {
            self.lines.push((LineKind::Text, String::new()));
        }
        self.lines.push((LineKind::Name, name.to_string()));
        self.lines.extend(lines.map(|line| (LineKind::Text, line)));
    }

    /// Colours the block added last as code of this file.
    fn colour(&mut self, path: &str, text: &str) {
        let begins = self.lines.len() - text.lines().count();
        let lines: Vec<&str> = self.lines[begins..].iter().map(|(_, line)| line.as_str()).collect();
        self.codes.push((begins, Code::of_file(path, lines.join("\n"))));
    }

    /// Returns the parts of a line in their colours.
    fn coloured(&self, line: usize, ctx: &Ctx<'_>) -> Vec<Span<'static>> {
        let (kind, text) = &self.lines[line];
        let role = if *kind == LineKind::Name { Role::Dim } else { Role::Text };
        let plain = || vec![span(text.as_str(), ctx.theme.style(role))];
        let code = self.codes.iter().rev().find(|(from, code)| (*from..*from + code.lines()).contains(&line));
        let Some((from, code)) = code else { return plain() };
        let (mut spans, mut at) = (Vec::new(), 0);
        ctx.colours.look(code, line - from..line - from + 1, |_, tokens| {
            for token in tokens {
                let end = (token.end as usize).min(text.len());
                if let Some(part) = text.get(at..end) {
                    spans.push(span(part, ctx.theme.style(token.role)));
                    at = end;
                }
            }
        });
        spans.push(span(text.get(at..).unwrap_or_default(), ctx.theme.style(role)));
        spans
    }

    pub fn measure(&mut self, width: u16, height: u16) {
        self.size = (width, height);
        self.wrap();
    }

    fn width(&self) -> usize {
        usize::from(self.size.0.saturating_sub(3)).max(4)
    }

    fn wrap(&mut self) {
        let width = self.width();
        self.rows.clear();
        for (i, (_, text)) in self.lines.iter().enumerate() {
            rows_of(i, text, width, &mut self.rows);
        }
        let follows = self.printed.is_some_and(|printed| printed.follows);
        self.top = if follows { self.last_top() } else { self.top.min(self.last_top()) };
        self.find_hits();
    }

    /// Brings a row to the top as far as there are rows below it. The end of what is printed stays in view from there on
    /// where it is reached.
    fn go_to(&mut self, top: usize) {
        self.top = top.min(self.last_top());
        let is_end = self.top == self.last_top();
        if let Some(printed) = &mut self.printed {
            printed.follows = is_end;
        }
    }

    /// Finds the rows that hold the words: for other words, and for other rows.
    fn find_hits(&mut self) {
        let words = self.words.to_lowercase();
        let holds = |i: &usize| {
            let (line, range) = &self.rows[*i];
            self.lines[*line].1[range.clone()].to_lowercase().contains(&words)
        };
        let all = if words.is_empty() { 0 } else { self.rows.len() };
        self.hits = (0..all).filter(holds).collect();
    }

    fn body(&self) -> usize {
        usize::from(self.size.1.saturating_sub(1))
    }

    fn last_top(&self) -> usize {
        self.rows.len().saturating_sub(self.body())
    }

    /// Returns whether words were looked for.
    pub fn searches(&self) -> bool {
        !self.words.is_empty()
    }

    /// Does an action; `false`: it is closed.
    pub fn act(&mut self, action: Action) -> (bool, Vec<PaneEffect>) {
        let half = (self.body() / 2).max(1) as isize;
        let by = match action {
            Action::Open | Action::Close | Action::Escape => return (false, Vec::new()),
            Action::Copy => {
                let text: Vec<&str> = self.lines.iter().map(|(_, l)| l.as_str()).collect();
                return (
                    true,
                    vec![PaneEffect::Run(Effect::Copy(text.join("\n"))), PaneEffect::Say(say::call_copied().into())],
                );
            }
            Action::Search => {
                let prompt = say::search_result().to_string();
                return (true, vec![PaneEffect::Line { purpose: LineFor::Search, prompt, text: String::new() }]);
            }
            Action::NextMatch => return (true, self.search(self.top + 1, true)),
            Action::PreviousMatch => return (true, self.search(self.top + self.rows.len().max(1) - 1, false)),
            Action::Up => -1,
            Action::Down => 1,
            Action::HalfUp => -half,
            Action::HalfDown => half,
            Action::PageUp => -2 * half,
            Action::PageDown => 2 * half,
            Action::First => isize::MIN,
            Action::Last => isize::MAX,
            _ => 0,
        };
        if by != 0 {
            self.go_to(self.top.saturating_add_signed(by));
        }
        (true, Vec::new())
    }

    pub fn line(&mut self, typed: LineInput<'_>) -> Vec<PaneEffect> {
        match typed {
            LineInput::Now(words) => {
                self.look_for(words);
                self.search(self.top, true);
                Vec::new()
            }
            LineInput::Taken(words) => {
                self.look_for(words);
                self.search(self.top, true)
            }
            LineInput::Left => {
                self.look_for("");
                Vec::new()
            }
        }
    }

    fn look_for(&mut self, words: &str) {
        self.words = words.to_string();
        self.find_hits();
    }

    /// Goes to the first row that holds the words from row `start` on, or back from it, going round.
    fn search(&mut self, start: usize, forward: bool) -> Vec<PaneEffect> {
        let n = self.rows.len();
        if self.words.is_empty() || n == 0 {
            return Vec::new();
        }
        let (start, hits) = (start % n, &self.hits);
        let found = match forward {
            true => hits.iter().find(|i| **i >= start).or(hits.first()),
            false => hits.iter().rev().find(|i| **i <= start).or(hits.last()),
        };
        match found {
            Some(i) => {
                self.go_to(*i);
                Vec::new()
            }
            None => vec![PaneEffect::Say(say::not_in_result(&self.words))],
        }
    }

    /// Returns `2 of 7`: which of the rows that hold the words is at the top.
    pub fn hits(&self) -> Option<String> {
        let seen = self.top..self.top + self.body();
        let at = self.hits.iter().position(|i| seen.contains(i)).map_or(0, |at| at + 1);
        (!self.words.is_empty()).then(|| cut::hits(at, self.hits.len()))
    }

    /// Returns the note on the pane line.
    pub fn note(&self, ctx: &Ctx<'_>) -> String {
        if let Some(hits) = self.hits() {
            return hits;
        }
        match self.rows.len().saturating_sub(self.top + self.body()) {
            0 => ctx.key(Context::Tools, Action::Open).map(|key| say::closes(&key)).unwrap_or_default(),
            below => say::below(&count::lines(below)),
        }
    }

    pub fn draw(&self, pen: &mut Pen<'_>, ctx: &Ctx<'_>) {
        let look = paint::look(ctx);
        let width = usize::from(pen.width().saturating_sub(2));
        let title = crate::tui::text::cut::end(&self.title, width, look.glyphs.cut);
        pen.put(1, 0, &title, width, bold(look.theme, Role::Text));
        for (y, (line, range)) in self.rows.iter().skip(self.top).take(self.body()).enumerate() {
            let indent = if range.start > 0 { indent_of(&self.lines[*line].1, width) } else { 0 };
            let part = wrap::slice(&self.coloured(*line, ctx), range.clone());
            pen.spans(1 + indent as u16, y as u16 + 1, &part.spans, width);
        }
        pen.thumb(1, pen.height().saturating_sub(1), self.top, self.rows.len(), look);
    }
}

/// Adds the rows of line `i`. What goes on below keeps the indentation of its line.
fn rows_of(i: usize, text: &str, width: usize, rows: &mut Vec<(usize, Range<usize>)>) {
    let indent = indent_of(text, width);
    let first = wrap::breaks(text, width).into_iter().next().unwrap_or(0..0);
    let rest = text.get(first.end..).map_or(0, |rest| rest.len() - rest.trim_start().len()) + first.end;
    rows.push((i, first));
    if let Some(more) = text.get(rest..).filter(|rest| !rest.is_empty()) {
        rows.extend(wrap::breaks(more, width - indent).into_iter().map(|r| (i, r.start + rest..r.end + rest)));
    }
}

/// Cells before the first word of a line, the number of a line that was read with them, as far as they leave room for
/// words.
fn indent_of(text: &str, width: usize) -> usize {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let number = if text[digits..].starts_with(' ') { digits } else { 0 };
    let indent = text.len() - text[number..].trim_start_matches(' ').len();
    if indent * 2 < width { indent } else { 0 }
}
