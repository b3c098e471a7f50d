//! Splits text into tokens. White space is dropped, but each token records whether a newline preceded it.

/// A fault in a text that cannot be parsed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyntaxError {
    /// Byte offset in the text that was parsed.
    pub at: usize,
    /// The problem, as a sentence without its end.
    pub message: String,
}

impl SyntaxError {
    /// Creates a complaint about the text at a byte offset.
    pub fn new(at: usize, message: impl Into<String>) -> SyntaxError {
        SyntaxError { at, message: message.into() }
    }

    /// Returns line and column (both from 1, columns in characters) of the fault in its text.
    pub fn line_col(&self, text: &str) -> (usize, usize) {
        let mut at = self.at.min(text.len());
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        let before = &text[..at];
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1)
    }
}

/// One token, borrowed from the text it came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tok<'a> {
    /// A name or a keyword.
    Ident(&'a str),
    /// Digits.
    Int(&'a str),
    /// Digits, a point, digits.
    Float(&'a str),
    /// A string with its quotes and escapes, known to be well formed.
    Str(&'a str),
    /// Punctuation or an operator.
    Sym(&'static str),
    /// The end of a line that ends a statement; made by the parser, never by the lexer.
    Newline,
    /// The end of the text.
    End,
}

/// A token with its place.
#[derive(Clone, Copy, Debug)]
pub struct Token<'a> {
    /// The token.
    pub tok: Tok<'a>,
    /// Byte offset of its first byte.
    pub start: usize,
    /// Byte offset after its last byte.
    pub end: usize,
    /// True if a newline separates it from the token before.
    pub newline: bool,
}

/// Returns the symbol at the front of some bytes; the longest one, so that `:=` is not read as `:`.
fn symbol(bytes: &[u8]) -> Option<&'static str> {
    let long = match bytes.get(..2) {
        Some(b":=") => Some(":="),
        Some(b"==") => Some("=="),
        Some(b"!=") => Some("!="),
        Some(b"<=") => Some("<="),
        Some(b">=") => Some(">="),
        Some(b"=>") => Some("=>"),
        Some(b"->") => Some("->"),
        _ => None,
    };
    long.or_else(|| {
        Some(match bytes.first()? {
            b'(' => "(",
            b')' => ")",
            b'[' => "[",
            b']' => "]",
            b'{' => "{",
            b'}' => "}",
            b',' => ",",
            b':' => ":",
            b';' => ";",
            b'.' => ".",
            b'|' => "|",
            b'=' => "=",
            b'<' => "<",
            b'>' => ">",
            b'+' => "+",
            b'-' => "-",
            b'*' => "*",
            b'/' => "/",
            b'%' => "%",
            _ => return None,
        })
    })
}

/// Cuts a text into tokens; the last one is [`Tok::End`].
pub fn lex(text: &str) -> Result<Vec<Token<'_>>, SyntaxError> {
    let bytes = text.as_bytes();
    let mut tokens = Vec::with_capacity(text.len() / 2 + 2);
    let (mut at, mut newline) = (0, false);
    while at < bytes.len() {
        let start = at;
        let tok = match bytes[at] {
            b'\n' => {
                newline = true;
                at += 1;
                continue;
            }
            b' ' | b'\t' | b'\r' => {
                at += 1;
                continue;
            }
            b'#' if bytes.get(at + 1) == Some(&b'#') => {
                return Err(SyntaxError::new(at, "a ## doc line may only stand before a definition"));
            }
            b'#' => return Err(SyntaxError::new(at, "comments are kept only as ## doc lines")),
            b'"' => {
                at = string_end(text, at)?;
                Tok::Str(&text[start..at])
            }
            byte if is_letter(byte) => {
                at = ident_end(bytes, at);
                Tok::Ident(&text[start..at])
            }
            byte if byte.is_ascii_digit() => {
                at = digits_end(bytes, at);
                if bytes.get(at) == Some(&b'.') && bytes.get(at + 1).is_some_and(u8::is_ascii_digit) {
                    at = digits_end(bytes, at + 1);
                    if !text[start..at].parse::<f64>().is_ok_and(f64::is_finite) {
                        return Err(SyntaxError::new(start, "this number is too large for a Float"));
                    }
                    Tok::Float(&text[start..at])
                } else {
                    Tok::Int(&text[start..at])
                }
            }
            _ => {
                let symbol = symbol(&bytes[at..]).ok_or_else(|| {
                    let found = text[at..].chars().next().unwrap_or(' ');
                    SyntaxError::new(at, format!("unexpected character '{found}'"))
                })?;
                at += symbol.len();
                Tok::Sym(symbol)
            }
        };
        tokens.push(Token { tok, start, end: at, newline });
        newline = false;
    }
    tokens.push(Token { tok: Tok::End, start: text.len(), end: text.len(), newline });
    Ok(tokens)
}

/// Returns whether the whole text is one identifier.
pub fn is_ident(text: &str) -> bool {
    text.bytes().next().is_some_and(is_letter) && ident_end(text.as_bytes(), 0) == text.len()
}

/// Returns the value of a well-formed string token.
pub fn unescape(raw: &str) -> String {
    let inner = raw.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(raw);
    let mut out = String::with_capacity(inner.len());
    let mut rest = inner;
    while let Some(at) = rest.find('\\') {
        out.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        let escape = rest.chars().next().unwrap_or('\\');
        rest = rest.get(escape.len_utf8()..).unwrap_or("");
        match escape {
            'n' => out.push('\n'),
            't' => out.push('\t'),
            'u' => {
                let end = rest.find('}').unwrap_or(0);
                let code = u32::from_str_radix(rest.get(1..end).unwrap_or(""), 16).unwrap_or(0xFFFD);
                out.push(char::from_u32(code).unwrap_or('\u{FFFD}'));
                rest = rest.get(end + 1..).unwrap_or("");
            }
            other => out.push(other),
        }
    }
    out.push_str(rest);
    out
}

/// Returns the text as a string token.
pub fn escape(value: &str) -> String {
    let mut out = String::with_capacity(value.len() + 2);
    out.push('"');
    for c in value.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            c if c.is_control() => out.push_str(&format!("\\u{{{:x}}}", u32::from(c))),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

fn is_letter(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_'
}

fn ident_end(bytes: &[u8], mut at: usize) -> usize {
    loop {
        while at < bytes.len() && (is_letter(bytes[at]) || bytes[at].is_ascii_digit()) {
            at += 1;
        }
        // A hyphen joins only when a letter follows: `a-b` is a name, `a-1` is a subtraction.
        if bytes.get(at) == Some(&b'-') && bytes.get(at + 1).copied().is_some_and(is_letter) {
            at += 1;
        } else {
            return at;
        }
    }
}

fn digits_end(bytes: &[u8], mut at: usize) -> usize {
    while at < bytes.len() && bytes[at].is_ascii_digit() {
        at += 1;
    }
    at
}

fn string_end(text: &str, start: usize) -> Result<usize, SyntaxError> {
    let bytes = text.as_bytes();
    let mut at = start + 1;
    while at < bytes.len() {
        match bytes[at] {
            b'"' => return Ok(at + 1),
            b'\n' => break,
            b'\\' => match bytes.get(at + 1) {
                Some(b'"' | b'\\' | b'n' | b't') => at += 2,
                Some(b'u') => at = unicode_end(text, at)?,
                _ => return Err(SyntaxError::new(at, "unknown escape; use \\\" \\\\ \\n \\t or \\u{..}")),
            },
            _ => at += 1,
        }
    }
    Err(SyntaxError::new(start, "this string has no closing quote on its line"))
}

fn unicode_end(text: &str, at: usize) -> Result<usize, SyntaxError> {
    let wrong = || SyntaxError::new(at, "\\u{..} needs the hexadecimal number of a character");
    let rest = text[at + 2..].strip_prefix('{').ok_or_else(wrong)?;
    let end = rest.find('}').ok_or_else(wrong)?;
    let hex = &rest[..end];
    let plain = !hex.is_empty() && hex.len() <= 8 && hex.bytes().all(|b| b.is_ascii_hexdigit());
    let code = if plain { u32::from_str_radix(hex, 16).ok() } else { None };
    code.and_then(char::from_u32).ok_or_else(wrong)?;
    Ok(at + 3 + end + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<Tok<'_>> {
        lex(text).unwrap().into_iter().map(|token| token.tok).collect()
    }

    #[test]
    fn a_hyphen_joins_letters_and_subtracts_digits() {
        assert_eq!(words("a-b"), [Tok::Ident("a-b"), Tok::End]);
        assert_eq!(words("a-1"), [Tok::Ident("a"), Tok::Sym("-"), Tok::Int("1"), Tok::End]);
    }

    #[test]
    fn strings_survive_escaping() {
        for text in ["", "a\"b\\c", "line\nend\t", "\u{1}é😀\u{7f}"] {
            assert_eq!(unescape(&escape(text)), text);
            assert_eq!(words(&escape(text)).len(), 2);
        }
    }

    #[test]
    fn a_comment_is_refused_with_its_place() {
        let error = lex("a\n  # why").unwrap_err();
        assert_eq!(error.line_col("a\n  # why"), (2, 3));
        assert_eq!(error.message, "comments are kept only as ## doc lines");
    }
}
