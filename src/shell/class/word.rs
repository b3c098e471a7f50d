//! Words of a shell text: what of them is known before they run.

use tree_sitter::Node;

/// The most hexadecimal digits behind a letter of ANSI-C quotes.
const HEX_DIGITS: [(char, usize); 3] = [('x', 2), ('u', 4), ('U', 8)];

/// A word of a simple command.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Word {
    /// Its bytes, as far as they are known from the beginning on.
    pub text: String,
    /// All of it is known.
    pub is_static: bool,
    /// It may become several words, or none.
    pub splits: bool,
    /// The pattern that it is, where the files there make words of it.
    pub pattern: Option<String>,
    /// It holds quoted bytes that are no text: it may be any name.
    pub is_garbled: bool,
}

impl Word {
    /// Creates a word that is known.
    pub fn known(text: &str) -> Word {
        Word { text: text.into(), is_static: true, ..Word::default() }
    }

    /// Creates a word of which nothing is known.
    pub fn unknown() -> Word {
        Word { splits: true, ..Word::default() }
    }

    /// Returns the word, where it is known.
    pub fn value(&self) -> Option<&str> {
        self.is_static.then_some(self.text.as_str())
    }

    /// Returns whether the word may be, or become, an option.
    pub fn may_be_option(&self) -> bool {
        self.splits || self.text.starts_with('-') || (!self.is_static && self.text.is_empty())
    }

    /// Returns the pattern that stands for the word among the files there; none: what it becomes is not known.
    pub fn as_pattern(&self) -> Option<String> {
        let escaped = |c: char| ['\\'].into_iter().filter(move |_| "*?[]{}\\".contains(c)).chain([c]);
        if self.is_static { Some(self.text.chars().flat_map(escaped).collect()) } else { self.pattern.clone() }
    }

    fn push(&mut self, piece: Word) {
        // A word that is known is a pattern whenever it is asked for: to make one of it with each piece would copy the whole.
        if !self.is_static || !piece.is_static {
            let own = if self.is_static { self.as_pattern() } else { self.pattern.take() };
            self.pattern = own.zip(piece.as_pattern()).map(|(own, more)| own + &more);
        }
        if self.is_static {
            self.text.push_str(&piece.text);
            self.is_static = piece.is_static;
        }
        self.splits |= piece.splits;
        self.is_garbled |= piece.is_garbled;
    }
}

/// Reads the word that a node is.
pub fn word(node: Node<'_>, text: &str) -> Word {
    let source = text.get(node.byte_range()).unwrap_or_default();
    match node.kind() {
        "word" | "number" | "variable_name" | "test_operator" => bare(source),
        "raw_string" => {
            Word::known(source.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\'')).unwrap_or(source))
        }
        "ansi_c_string" => match ansi_quoted(source).map(String::from_utf8) {
            Some(Ok(known)) => Word::known(&known),
            _ => Word { is_garbled: true, ..Word::default() },
        },
        "string" => string(node, text),
        "concatenation" => {
            let whole = pieces(node, text, node.byte_range(), |piece| word(piece, text), bare);
            // Braces may stand in several of its pieces.
            match source.contains('{') && (source.contains(',') || source.contains("..")) {
                true => {
                    let pattern = Some(source).filter(|source| !source.contains(['"', '\'', '\\', '$', '`']));
                    Word { is_static: false, splits: true, pattern: pattern.map(str::to_string), ..whole }
                }
                false => whole,
            }
        }
        "process_substitution" => Word { text: "/dev/fd/".into(), ..Word::default() },
        "command_name" => node.child(0).map_or_else(Word::unknown, |inner| word(inner, text)),
        _ => Word::unknown(),
    }
}

/// Joins what lies in a node, with the text between.
fn pieces(
    node: Node<'_>,
    text: &str,
    range: std::ops::Range<usize>,
    read: impl Fn(Node<'_>) -> Word,
    plain: impl Fn(&str) -> Word,
) -> Word {
    let mut whole = Word::known("");
    let (mut at, mut cursor) = (range.start, node.walk());
    for child in node.named_children(&mut cursor) {
        if child.start_byte() > at {
            whole.push(plain(text.get(at..child.start_byte()).unwrap_or_default()));
        }
        whole.push(read(child));
        at = child.end_byte().max(at);
    }
    if at < range.end {
        whole.push(plain(text.get(at..range.end).unwrap_or_default()));
    }
    whole
}

/// Returns a string in double quotes: what is expanded in it stays one word, but for lists.
fn string(node: Node<'_>, text: &str) -> Word {
    let range = node.start_byte() + 1..node.end_byte().saturating_sub(1).max(node.start_byte() + 1);
    let read = |child: Node<'_>| {
        let source = text.get(child.byte_range()).unwrap_or_default();
        match child.kind() {
            "string_content" => quoted(source),
            _ => Word { splits: source.contains('@'), ..Word::unknown() },
        }
    };
    pieces(node, text, range, read, quoted)
}

/// Reads text within double quotes.
fn quoted(source: &str) -> Word {
    let (mut known, mut chars) = (String::new(), source.chars().peekable());
    while let Some(c) = chars.next() {
        match (c, chars.peek()) {
            ('\\', Some('\n')) => drop(chars.next()),
            ('\\', Some('$' | '`' | '"' | '\\')) => known.extend(chars.next()),
            _ => known.push(c),
        }
    }
    Word::known(&known)
}

/// Returns the bytes of a string in ANSI-C quotes; none: it ends at a quote or a zero byte in it, or is written as no shell
/// but bash reads it.
fn ansi_quoted(source: &str) -> Option<Vec<u8>> {
    let mut rest = source.strip_prefix("$'")?.strip_suffix('\'')?;
    let mut bytes = Vec::new();
    while let Some(c) = rest.chars().next() {
        rest = &rest[c.len_utf8()..];
        match c {
            '\'' => return None,
            '\\' => rest = escaped(rest, &mut bytes)?,
            c => bytes.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
    (!bytes.contains(&0)).then_some(bytes)
}

/// Returns whether bash ends a string in ANSI-C quotes before the grammar does, which takes `\\'` for a quote in it.
pub(super) fn ends_earlier(source: &str) -> bool {
    let inner = source.strip_prefix("$'").and_then(|rest| rest.strip_suffix('\'')).unwrap_or_default();
    let mut chars = inner.chars();
    while let Some(c) = chars.next() {
        match c {
            '\'' => return true,
            '\\' if chars.next().is_none() => return true,
            _ => {}
        }
    }
    false
}

/// Adds what stands behind a backslash in ANSI-C quotes. Returns the text after it.
fn escaped<'a>(rest: &'a str, bytes: &mut Vec<u8>) -> Option<&'a str> {
    let c = rest.chars().next()?;
    let after = &rest[c.len_utf8()..];
    // Where no digit follows, the letter stands for itself and the backslash too.
    let number = |text: &'a str, radix: u32, most: usize| {
        let length = text.bytes().take(most).take_while(|b| char::from(*b).is_digit(radix)).count();
        let number = u32::from_str_radix(&text[..length], radix).ok()?;
        Some((number, &text[length..]))
    };
    let simple = match c {
        'a' => 7,
        'b' => 8,
        'e' | 'E' => 27,
        'f' => 12,
        'n' => b'\n',
        'r' => b'\r',
        't' => b'\t',
        'v' => 11,
        '\\' | '\'' | '"' | '?' => u8::try_from(c).ok()?,
        'c' => {
            let key = after.chars().next().filter(|key| key.is_ascii() && *key != '\\')?;
            bytes.push(if key == '?' { 0x7f } else { u8::try_from(key).ok()? & 0x1f });
            return Some(&after[1..]);
        }
        '0'..='7' => {
            let (number, after) = number(rest, 8, 3)?;
            bytes.push(u8::try_from(number & 0xff).ok()?);
            return Some(after);
        }
        'x' if after.starts_with('{') => return None,
        'x' | 'u' | 'U' => {
            let most = HEX_DIGITS.iter().find(|(letter, _)| *letter == c).map_or(0, |(_, most)| *most);
            let Some((number, after)) = number(after, 16, most) else {
                bytes.extend([b'\\', u8::try_from(c).ok()?]);
                return Some(after);
            };
            match c {
                'x' => bytes.push(u8::try_from(number).ok()?),
                _ => bytes.extend_from_slice(char::from_u32(number)?.encode_utf8(&mut [0; 4]).as_bytes()),
            }
            return Some(after);
        }
        c => {
            bytes.push(b'\\');
            bytes.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
            return Some(after);
        }
    };
    bytes.push(simple);
    Some(after)
}

/// Returns the word of a pattern that begins as it is known so far.
fn many(known: Word, source: &str) -> Word {
    Word { is_static: false, splits: true, pattern: Some(source.into()), ..known }
}

/// Reads text without quotes: patterns and braces become what is there.
fn bare(source: &str) -> Word {
    let (mut known, mut chars) = (Word::known(""), source.chars().peekable());
    while let Some(c) = chars.next() {
        match c {
            '\\' if chars.peek() == Some(&'\n') => drop(chars.next()),
            '\\' => known.text.extend(chars.next()),
            '*' | '?' | '[' => return many(known, source),
            '{' if source != "{}" && source.contains([',', '.']) => return many(known, source),
            _ => known.text.push(c),
        }
    }
    known
}
