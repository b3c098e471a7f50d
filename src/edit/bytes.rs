//! Properties of a file that an edit preserves: encoding, byte order mark, line endings, final newline.

use std::borrow::Cow;

/// The encoding between the bytes of a file and its text, without loss.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Encoding {
    /// UTF-8, with or without a byte order mark.
    Utf8 {
        /// True if a byte order mark leads the file.
        bom: bool,
    },
    /// UTF-16 with its byte order mark.
    Utf16 {
        /// Big-endian.
        big: bool,
    },
    /// Anything else: each byte is a character of its own, and only exact search and replace are allowed.
    Raw,
}

const BOM: &[u8] = &[0xEF, 0xBB, 0xBF];

/// Reads bytes as text. The byte order mark is not part of the text. Text of [`Encoding::Raw`] has one
/// character (U+0000 to U+00FF) a byte; a text to look for in it goes through [`raw`] first.
pub fn decode(bytes: &[u8]) -> (Encoding, Cow<'_, str>) {
    if let Some(text) = utf16(bytes) {
        return (Encoding::Utf16 { big: bytes[0] == 0xFE }, Cow::Owned(text));
    }
    let (bom, rest) = match bytes.strip_prefix(BOM) {
        Some(rest) => (true, rest),
        None => (false, bytes),
    };
    match std::str::from_utf8(rest) {
        Ok(text) => (Encoding::Utf8 { bom }, Cow::Borrowed(text)),
        Err(_) => (Encoding::Raw, Cow::Owned(latin(bytes))),
    }
}

/// Encodes text as bytes again; the inverse of [`decode`] for text it gave, changed or not.
pub fn encode(encoding: Encoding, text: &str) -> Vec<u8> {
    match encoding {
        Encoding::Utf8 { bom: false } => text.as_bytes().to_vec(),
        Encoding::Utf8 { bom: true } => [BOM, text.as_bytes()].concat(),
        Encoding::Utf16 { big } => std::iter::once(0xFEFF)
            .chain(text.encode_utf16())
            .flat_map(|unit| if big { unit.to_be_bytes() } else { unit.to_le_bytes() })
            .collect(),
        Encoding::Raw => text.chars().map(|c| c as u32 as u8).collect(),
    }
}

/// Returns a text for the start of a file without the byte order mark that its encoding writes by itself.
pub fn unmarked(encoding: Encoding, text: &str) -> &str {
    let is_marked = matches!(encoding, Encoding::Utf8 { bom: true } | Encoding::Utf16 { .. });
    text.strip_prefix('\u{feff}').filter(|_| is_marked).unwrap_or(text)
}

/// Returns how many bytes of the encoded file come before the offset `at` of its text.
pub fn offset(encoding: Encoding, text: &str, at: usize) -> usize {
    match encoding {
        Encoding::Utf8 { bom } => at + if bom { BOM.len() } else { 0 },
        Encoding::Utf16 { .. } => 2 + 2 * text[..at].encode_utf16().count(),
        Encoding::Raw => text[..at].chars().count(),
    }
}

/// Returns a text as it would look inside a file of [`Encoding::Raw`].
pub fn raw(text: &str) -> String {
    latin(text.as_bytes())
}

fn latin(bytes: &[u8]) -> String {
    bytes.iter().map(|b| char::from(*b)).collect()
}

fn utf16(bytes: &[u8]) -> Option<String> {
    let unit: fn([u8; 2]) -> u16 = match bytes {
        [0xFE, 0xFF, ..] => u16::from_be_bytes,
        [0xFF, 0xFE, ..] => u16::from_le_bytes,
        _ => return None,
    };
    let (pairs, rest) = bytes[2..].as_chunks::<2>();
    if !rest.is_empty() {
        return None;
    }
    char::decode_utf16(pairs.iter().map(|pair| unit(*pair))).collect::<Result<String, _>>().ok()
}

/// The line endings of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Endings {
    /// No line ends.
    None,
    /// All end alike: `"\n"`, `"\r\n"` or (in a text without `\n`) `"\r"`.
    One(&'static str),
    /// Line ends of several kinds.
    Mixed,
}

/// Looks at every line ending of a text.
pub fn endings(text: &str) -> Endings {
    let bytes = text.as_bytes();
    if memchr::memchr(b'\r', bytes).is_none() {
        return if memchr::memchr(b'\n', bytes).is_some() { Endings::One("\n") } else { Endings::None };
    }
    let (mut lf, mut crlf) = (false, false);
    for at in memchr::memchr_iter(b'\n', bytes) {
        if at > 0 && bytes[at - 1] == b'\r' {
            crlf = true
        } else {
            lf = true
        }
        if lf && crlf {
            return Endings::Mixed;
        }
    }
    match (lf, crlf) {
        (true, false) => Endings::One("\n"),
        (false, true) => Endings::One("\r\n"),
        _ => Endings::One("\r"),
    }
}

/// Gives new text the line endings of the file around it.
///
/// `old` is what `new` replaces, `before` the text in front of it. Where the file's endings are mixed, a line
/// that stays keeps its own and a new one takes that of the line before.
pub fn fit_endings<'n>(new: &'n str, endings: Endings, old: &str, before: &str) -> Cow<'n, str> {
    match endings {
        Endings::None | Endings::One("\n") if !new.contains("\r\n") => Cow::Borrowed(new),
        Endings::None => Cow::Borrowed(new),
        Endings::One(ending) => Cow::Owned(new.replace("\r\n", "\n").replace('\n', ending)),
        Endings::Mixed => Cow::Owned(fit_mixed(new, old, before)),
    }
}

fn fit_mixed(new: &str, old: &str, before: &str) -> String {
    let mut last = match before.strip_suffix('\n') {
        Some(rest) => ending_of(&rest[rest.rfind('\n').map_or(0, |i| i + 1)..], true),
        None => old.split_inclusive('\n').next().map_or("\n", |line| ending_of(line.trim_end_matches('\n'), true)),
    };
    let mut places: std::collections::HashMap<&str, Vec<usize>> = std::collections::HashMap::new();
    let old: Vec<&str> = old.split_inclusive('\n').collect();
    for (i, line) in old.iter().enumerate().rev() {
        places.entry(content(line)).or_default().push(i);
    }
    let (mut out, mut reached) = (String::with_capacity(new.len()), 0);
    for line in new.split_inclusive('\n') {
        out.push_str(content(line));
        if !line.ends_with('\n') {
            continue;
        }
        // The stacks hold old lines last to first: lines that were passed are dropped, the next one is on top.
        let matching = places.get_mut(content(line)).and_then(|stack| {
            while stack.last().is_some_and(|i| *i < reached) {
                stack.pop();
            }
            stack.pop()
        });
        if let Some(i) = matching.filter(|i| old[*i].ends_with('\n')) {
            reached = i + 1;
            last = if old[i].ends_with("\r\n") { "\r\n" } else { "\n" };
        }
        out.push_str(last);
    }
    out
}

fn content(line: &str) -> &str {
    let line = line.strip_suffix('\n').unwrap_or(line);
    line.strip_suffix('\r').unwrap_or(line)
}

fn ending_of(line_without_newline: &str, ended: bool) -> &'static str {
    if ended && line_without_newline.ends_with('\r') { "\r\n" } else { "\n" }
}

/// Returns a text with a space for each no-break space that its lines begin with, where no line of the `old` one does.
fn plain_indents<'n>(new: &'n str, old: &str) -> Cow<'n, str> {
    const NO_BREAK: char = '\u{a0}';
    let indent = |line: &str| line.len() - line.trim_start_matches([' ', '\t', NO_BREAK]).len();
    let is_odd = |line: &str| line[..indent(line)].contains(NO_BREAK);
    if !new.contains(NO_BREAK) || !new.lines().any(is_odd) || old.lines().any(is_odd) {
        return Cow::Borrowed(new);
    }
    let plain = |line: &str| line[..indent(line)].replace(NO_BREAK, " ") + &line[indent(line)..];
    Cow::Owned(new.split_inclusive('\n').map(plain).collect())
}

/// Returns a whole new text for a file that was `old`: its line endings, its final newline and the spaces of its
/// indentation follow the old text.
pub fn fit_whole(new: &str, old: &str) -> String {
    if old.is_empty() {
        return new.to_string();
    }
    let new = plain_indents(new, old);
    let mut fitted = fit_endings(&new, endings(old), old, "").into_owned();
    let ended = |t: &str| t.ends_with('\n') || t.ends_with('\r');
    match (ended(old), ended(&fitted)) {
        (true, false) if !fitted.is_empty() => {
            let ending = if old.ends_with("\r\n") {
                "\r\n"
            } else if old.ends_with('\r') {
                "\r"
            } else {
                "\n"
            };
            fitted.push_str(ending);
        }
        (false, true) => {
            fitted.pop();
            if fitted.ends_with('\r') {
                fitted.pop();
            }
        }
        _ => {}
    }
    fitted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_no_break_space_is_no_indentation() {
        let (old, odd) = ("def f():\n    return 1\n", "def f():\n\u{a0}\u{a0} return 'a\u{a0}b'\n");
        assert_eq!(fit_whole(odd, old), "def f():\n   return 'a\u{a0}b'\n");
        assert_eq!(fit_whole(odd, odd), odd);
    }

    #[test]
    fn every_encoding_comes_back_byte_for_byte() {
        let cases: [&[u8]; 6] = [
            b"plain\n",
            b"\xEF\xBB\xBFwith mark\r\n",
            b"\xFF\xFEa\0\n\0",
            b"\xFE\xFF\0a\x30\x42",
            b"caf\xE9\n",
            b"\xFF\xFEodd",
        ];
        for bytes in cases {
            let (encoding, text) = decode(bytes);
            assert_eq!(encode(encoding, &text), bytes);
            assert_eq!(offset(encoding, &text, text.len()), bytes.len());
        }
        assert_eq!(decode(b"caf\xE9").0, Encoding::Raw);
        assert_eq!(decode(b"\xFE\xFF\0a").1, "a");
    }

    #[test]
    fn a_new_line_takes_the_ending_of_its_neighbour() {
        assert_eq!(fit_endings("a\nb", Endings::One("\r\n"), "", ""), "a\r\nb");
        assert_eq!(fit_endings("x\nnew\ny\n", Endings::Mixed, "x\r\ny\n", "before\n"), "x\r\nnew\r\ny\n");
        assert_eq!(fit_whole("a\nb\n", "a\r\nc"), "a\r\nb");
        assert_eq!(fit_whole("a\nb", "a\nc\n"), "a\nb\n");
    }
}
