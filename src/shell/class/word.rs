//! Words of a shell text: what of them is known before they run.

use tree_sitter::Node;

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
        "ansi_c_string" if !source.contains('\\') => {
            Word::known(source.strip_prefix("$'").and_then(|rest| rest.strip_suffix('\'')).unwrap_or(source))
        }
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
