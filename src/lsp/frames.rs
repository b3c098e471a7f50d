//! The messages of the base protocol: a header with the length, an empty line, JSON.

use std::io::{self, BufRead, Read};

use serde_json::Value;

/// The longest message that is read, in bytes.
const LARGEST: usize = 64 << 20;
/// The longest header line, and the most lines of a header.
const LONGEST_LINE: u64 = 4 << 10;
const MOST_LINES: usize = 32;

/// Returns a message as it is sent.
pub(super) fn framed(message: &Value) -> Vec<u8> {
    let body = message.to_string();
    format!("Content-Length: {}\r\n\r\n{body}", body.len()).into_bytes()
}

/// Reads the next message. None: the stream ended between two of them.
///
/// # Errors
/// When what comes is no message, or cannot be read.
pub(super) fn read(from: &mut impl BufRead) -> Result<Option<Value>, String> {
    let mut length = None;
    for at in 0..MOST_LINES {
        let line = match header_line(from).map_err(|error| error.to_string())? {
            Some(line) => line,
            None if at == 0 => return Ok(None),
            None => return Err("it ends within a header".to_owned()),
        };
        if line.is_empty() {
            let length: usize = length.ok_or("a header has no Content-Length")?;
            let mut body = vec![0; length];
            from.read_exact(&mut body).map_err(|_| "it ends within a message".to_owned())?;
            return serde_json::from_slice(&body).map(Some).map_err(|error| format!("a message is no JSON: {error}"));
        }
        let (name, value) = line.split_once(':').ok_or_else(|| format!("{:?} is no header", short(&line)))?;
        if name.eq_ignore_ascii_case("content-length") {
            let told: usize = value.trim().parse().map_err(|_| format!("{:?} is no length", short(value)))?;
            if told > LARGEST {
                return Err(format!("a message of {told} bytes is too large"));
            }
            length = Some(told);
        }
    }
    Err("a header is too long".to_owned())
}

fn short(text: &str) -> String {
    text.chars().take(60).collect()
}

/// Reads a line of a header, without its ending. None: the stream is at its end.
fn header_line(from: &mut impl BufRead) -> io::Result<Option<String>> {
    let mut line = Vec::new();
    from.take(LONGEST_LINE).read_until(b'\n', &mut line)?;
    if line.is_empty() {
        return Ok(None);
    }
    Ok(Some(String::from_utf8_lossy(&line).trim_end_matches(['\r', '\n']).to_owned()))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_sent_is_read_again_and_nothing_else_is() {
        let message = json!({"a": "é"});
        let mut sent: &[u8] = &[framed(&message), framed(&json!(1))].concat();
        assert_eq!(read(&mut sent), Ok(Some(message)));
        assert_eq!(read(&mut sent), Ok(Some(json!(1))));
        assert_eq!(read(&mut sent), Ok(None));
        let typed = b"content-type: x\r\nCONTENT-LENGTH: 2\r\n\r\n{}";
        assert_eq!(read(&mut &typed[..]), Ok(Some(json!({}))));
        let wrong: [&[u8]; 8] = [
            b"hello\n",
            b"Content-Length: x\r\n\r\n{}",
            b"Content-Length: 99999999999\r\n\r\n{}",
            b"Content-Length: -1\r\n\r\n{}",
            b"Content-Length: 3\r\n\r\n{}",
            b"Content-Length: 2\r\n\r\n{]",
            b"Content-Type: a\r\n\r\n{}",
            b"Content-Length: 2\r\n",
        ];
        for mut text in wrong {
            assert!(read(&mut text).is_err(), "{:?}", String::from_utf8_lossy(text));
        }
        let long = [b"a: b\r\n".repeat(MOST_LINES), b"\r\n".to_vec()].concat();
        assert!(read(&mut long.as_slice()).is_err());
    }
}
