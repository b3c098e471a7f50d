//! One JSON object a line: bytes in any pieces become lines.

use memchr::memchr;

use super::sse::{Event, TooLong};

/// The longest line, in bytes.
const LARGEST: usize = 16 << 20;

/// Takes bytes in and gives lines out; each is an event without a name.
#[derive(Debug, Default)]
pub(super) struct LineParser {
    line: Vec<u8>,
}

impl LineParser {
    /// Takes the next bytes and appends the lines that they finish to `out`; empty ones are left out.
    pub fn feed(&mut self, mut bytes: &[u8], out: &mut Vec<Event>) -> Result<(), TooLong> {
        while let Some(end) = memchr(b'\n', bytes) {
            self.line.extend_from_slice(&bytes[..end]);
            out.extend(self.take());
            bytes = &bytes[end + 1..];
        }
        self.line.extend_from_slice(bytes);
        if self.line.len() > LARGEST { Err(TooLong) } else { Ok(()) }
    }

    /// Returns the last line, where the stream ended without a newline.
    pub fn finish(mut self) -> Option<Event> {
        self.take()
    }

    fn take(&mut self) -> Option<Event> {
        // Checking costs far less than replacing what is broken, which nearly nothing is.
        let data = match str::from_utf8(&self.line) {
            Ok(line) => line.trim().to_string(),
            Err(_) => String::from_utf8_lossy(&self.line).trim().to_string(),
        };
        self.line.clear();
        (!data.is_empty()).then(|| Event { name: String::new(), data })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_in_any_pieces() {
        let text = "{\"a\":\"é\"}\r\n\n  \n{\"b\":1}\n{\"c\":2}".as_bytes();
        for size in 1..text.len() {
            let (mut parser, mut out) = (LineParser::default(), Vec::new());
            for piece in text.chunks(size) {
                assert!(parser.feed(piece, &mut out).is_ok());
            }
            out.extend(parser.finish());
            let lines: Vec<_> = out.iter().map(|event| event.data.as_str()).collect();
            assert_eq!(lines, ["{\"a\":\"é\"}", "{\"b\":1}", "{\"c\":2}"]);
        }
    }

    #[test]
    fn endless_lines_are_refused() {
        let (mut parser, mut out) = (LineParser::default(), Vec::new());
        let chunk = vec![b'x'; 1 << 20];
        assert!((0..20).any(|_| parser.feed(&chunk, &mut out).is_err()));
    }
}
