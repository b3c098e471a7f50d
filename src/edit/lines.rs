//! The ranges of the lines of a text.

/// One line: content is `start..end`, its ending `end..next`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Span {
    pub start: usize,
    pub end: usize,
    pub next: usize,
}

/// All lines of a text. Text after the last line ending is a line only if it is not empty.
#[derive(Debug, Clone)]
pub(super) struct Lines<'t> {
    pub text: &'t str,
    pub spans: Vec<Span>,
}

impl<'t> Lines<'t> {
    pub fn new(text: &'t str) -> Self {
        let bytes = text.as_bytes();
        // Only a text without any `\n` can have lines that end in a lone `\r`.
        let stop = if memchr::memchr(b'\n', bytes).is_none() { b'\r' } else { b'\n' };
        let (mut spans, mut start) = (Vec::new(), 0);
        for at in memchr::memchr_iter(stop, bytes) {
            let end = if stop == b'\n' && at > start && bytes[at - 1] == b'\r' { at - 1 } else { at };
            spans.push(Span { start, end, next: at + 1 });
            start = at + 1;
        }
        if start < text.len() {
            spans.push(Span { start, end: text.len(), next: text.len() });
        }
        Lines { text, spans }
    }

    pub fn len(&self) -> usize {
        self.spans.len()
    }

    pub fn content(&self, line: usize) -> &'t str {
        let span = self.spans[line];
        &self.text[span.start..span.end]
    }

    /// Returns the line that holds the byte at `offset`; the last one for an offset at the end.
    pub fn at(&self, offset: usize) -> usize {
        self.spans.partition_point(|s| s.next <= offset).min(self.len().saturating_sub(1))
    }

    /// Returns the byte range of the lines `first..last`, without the ending of the last one.
    pub fn range(&self, lines: std::ops::Range<usize>) -> std::ops::Range<usize> {
        match (self.spans.get(lines.start), lines.end.checked_sub(1).and_then(|i| self.spans.get(i))) {
            (Some(first), Some(last)) if lines.start < lines.end => first.start..last.end,
            (Some(first), _) => first.start..first.start,
            _ => self.text.len()..self.text.len(),
        }
    }
}

/// Returns the 1-based number of the line that holds `offset`.
pub(super) fn number(text: &str, offset: usize) -> usize {
    let before = &text.as_bytes()[..offset.min(text.len())];
    let count = memchr::memchr_iter(b'\n', before).count();
    if count == 0 && memchr::memchr(b'\n', text.as_bytes()).is_none() {
        return memchr::memchr_iter(b'\r', before).count() + 1;
    }
    count + 1
}
