//! Server-sent events: bytes in any pieces become events, to the letter of the standard.

use memchr::memchr2;

/// One event.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(in crate::provider) struct Event {
    /// Its `event` field; empty when there is none.
    pub name: String,
    /// Its `data` lines, joined by newlines.
    pub data: String,
}

/// An event with more bytes than any event has: the stream is not one of events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TooLong;

/// The largest event, in bytes.
const LARGEST: usize = 16 << 20;

/// Takes bytes in and gives events out.
#[derive(Debug, Default)]
pub(super) struct SseParser {
    /// The unfinished line.
    line: Vec<u8>,
    event: Event,
    has_data: bool,
    /// The last byte was a CR: a LF right after it belongs to it.
    after_cr: bool,
    /// The first line is over: a byte order mark may stand only before it.
    begun: bool,
}

impl SseParser {
    /// Takes the next bytes and appends the events that they finish to `out`.
    pub fn feed(&mut self, mut bytes: &[u8], out: &mut Vec<Event>) -> Result<(), TooLong> {
        while let Some((&first, rest)) = bytes.split_first() {
            if std::mem::take(&mut self.after_cr) && first == b'\n' {
                bytes = rest;
                continue;
            }
            let Some(end) = memchr2(b'\n', b'\r', bytes) else {
                self.line.extend_from_slice(bytes);
                break;
            };
            let line = &bytes[..end];
            self.after_cr = bytes[end] == b'\r';
            bytes = &bytes[end + 1..];
            if self.line.is_empty() {
                self.take_line(line, out);
                continue;
            }
            let mut begun = std::mem::take(&mut self.line);
            begun.extend_from_slice(line);
            self.take_line(&begun, out);
            // Keeps the allocation.
            begun.clear();
            self.line = begun;
        }
        if self.line.len() + self.event.data.len() > LARGEST { Err(TooLong) } else { Ok(()) }
    }

    /// Returns the event that was under way when the stream ended. The standard drops it; a caller that can tell a
    /// whole one from a torn one need not.
    pub fn finish(mut self) -> Option<Event> {
        let line = std::mem::take(&mut self.line);
        let mut out = Vec::new();
        if !line.is_empty() {
            self.take_line(&line, &mut out);
        }
        self.dispatch(&mut out);
        out.pop()
    }

    fn take_line(&mut self, line: &[u8], out: &mut Vec<Event>) {
        let line = match std::mem::replace(&mut self.begun, true) {
            false => line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line),
            true => line,
        };
        if line.is_empty() {
            return self.dispatch(out);
        }
        let (field, value) = match line.iter().position(|byte| *byte == b':') {
            // A comment.
            Some(0) => return,
            Some(colon) => (&line[..colon], &line[colon + 1..]),
            None => (line, &line[line.len()..]),
        };
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match field {
            b"data" => {
                if self.has_data {
                    self.event.data.push('\n');
                }
                self.has_data = true;
                // Looking for what is not UTF-8 costs more than finding that nothing is.
                match std::str::from_utf8(value) {
                    Ok(text) => self.event.data.push_str(text),
                    Err(_) => self.event.data.push_str(&String::from_utf8_lossy(value)),
                }
            }
            b"event" => self.event.name = String::from_utf8_lossy(value).into_owned(),
            // llama.cpp reports a failure under a field of its own.
            b"error" => {
                self.event = Event { name: "error".into(), data: String::from_utf8_lossy(value).into_owned() };
                self.has_data = true;
            }
            // `id` and `retry` are for clients that connect again to the same stream, which none of ours can do.
            _ => {}
        }
    }

    fn dispatch(&mut self, out: &mut Vec<Event>) {
        let event = std::mem::take(&mut self.event);
        if std::mem::take(&mut self.has_data) {
            out.push(event);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn parse(chunks: &[&[u8]]) -> (Vec<Event>, Option<Event>) {
        let (mut parser, mut out) = (SseParser::default(), Vec::new());
        for chunk in chunks {
            parser.feed(chunk, &mut out).unwrap();
        }
        (out, parser.finish())
    }

    fn data(text: &str) -> Vec<String> {
        parse(&[text.as_bytes()]).0.into_iter().map(|event| event.data).collect()
    }

    #[test]
    fn the_examples_of_the_standard() {
        assert_eq!(data("data: YHOO\ndata: +2\ndata: 10\n\n"), ["YHOO\n+2\n10"]);
        assert_eq!(
            data(": test stream\n\ndata: first event\nid: 1\n\ndata:second event\nid\n\ndata:  third event\n"),
            ["first event", "second event"]
        );
        assert_eq!(data("data\n\ndata\ndata\n\ndata:"), ["", "\n"]);
        assert_eq!(data("data:test\n\ndata: test\n\n"), ["test", "test"]);
    }

    #[test]
    fn line_endings_marks_and_names() {
        assert_eq!(data("\u{feff}data: a\r\n\r\ndata: b\r\rdata: c\n\n"), ["a", "b", "c"]);
        let (events, _) = parse(&[b"event: error\r", b"\ndata: x\r\n", b"\r\n"]);
        assert_eq!(events, [Event { name: "error".into(), data: "x".into() }]);
        assert_eq!(data("event: lonely\n\nDATA: x\nfoo: y\n\n"), Vec::<String>::new());
    }

    #[test]
    fn a_failure_under_its_own_field_is_an_event() {
        let (events, _) = parse(&[b"error: {\"code\":500}\n\n"]);
        assert_eq!(events, [Event { name: "error".into(), data: "{\"code\":500}".into() }]);
    }

    #[test]
    fn characters_may_be_cut_and_wrong() {
        let text = "data: 価格 🦀\n\n".as_bytes();
        for cut in 0..text.len() {
            assert_eq!(parse(&[&text[..cut], &text[cut..]]).0[0].data, "価格 🦀");
        }
        assert_eq!(parse(&[b"data: a\xffb\n\n"]).0[0].data, "a\u{fffd}b");
    }

    #[test]
    fn what_was_under_way_at_the_end_can_be_had() {
        assert_eq!(parse(&[b"data: a\n\ndata: {}"]).1.unwrap().data, "{}");
        assert_eq!(parse(&[b"data: a\n\n: bye"]).1, None);
    }

    #[test]
    fn endless_lines_are_refused() {
        let (mut parser, mut out) = (SseParser::default(), Vec::new());
        let chunk = vec![b'x'; 1 << 20];
        assert!((0..20).any(|_| parser.feed(&chunk, &mut out).is_err()));
    }

    proptest! {
        #[test]
        fn any_chunking_gives_the_same(
            pieces in prop::collection::vec(
                prop::sample::select(vec!["data: a", "data", ":c", "event: e", "\n", "\r", "\r\n", "\u{feff}", "é", ":"]),
                0..40,
            ),
            cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..8),
        ) {
            let text = pieces.concat().into_bytes();
            let mut cuts: Vec<_> = cuts.iter().map(|cut| cut.index(text.len() + 1)).collect();
            cuts.extend([0, text.len()]);
            cuts.sort_unstable();
            let chunks: Vec<_> = cuts.windows(2).map(|pair| &text[pair[0]..pair[1]]).collect();
            prop_assert_eq!(parse(&chunks), parse(&[&text]));
            let bytes: Vec<_> = text.chunks(1).collect();
            prop_assert_eq!(parse(&bytes), parse(&[&text]));
        }
    }
}
