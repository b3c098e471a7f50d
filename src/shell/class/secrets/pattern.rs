//! The patterns of searching programs, as the regular expressions that nebula's own search reads.

use std::iter::Peekable;
use std::str::Chars;

/// The syntax of a pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PatternSyntax {
    /// The one of `grep`.
    Basic,
    /// The one of `grep -E`.
    Extended,
    /// Plain text.
    Fixed,
    /// The one of `rg`.
    Modern,
    /// The one of `-P`, as far as it is the same as that of `rg`.
    Perl,
}

/// Returns an expression for each line of a pattern: each matches at least what the pattern does. None: there is none for
/// a part of it.
pub fn expressions(pattern: &str, syntax: PatternSyntax) -> Option<Vec<String>> {
    let one = |line: &str| match syntax {
        PatternSyntax::Fixed => Some(line.chars().map(escaped).collect()),
        PatternSyntax::Modern => Some(line.to_string()),
        PatternSyntax::Perl => is_modern(line).then(|| line.to_string()),
        PatternSyntax::Basic => Posix { is_basic: true, rest: line.chars().peekable(), out: String::new() }.read(),
        PatternSyntax::Extended => Posix { is_basic: false, rest: line.chars().peekable(), out: String::new() }.read(),
    };
    pattern.split('\n').map(one).collect()
}

/// Returns whether `rg` reads a pattern of `-P` alike: one without sets, groups of its own kinds, and escapes of its own.
fn is_modern(pattern: &str) -> bool {
    let mut chars = pattern.chars().peekable();
    while let Some(c) = chars.next() {
        let is_same = match (c, chars.peek()) {
            ('[', _) | ('(', Some('?' | '*')) | ('\\', None | Some('<' | '>')) => false,
            ('\\', Some(next)) => next.is_ascii_punctuation() || "bdsw".contains(*next),
            _ => true,
        };
        if !is_same {
            return false;
        }
        if c == '\\' && chars.next() == Some('b') && chars.peek() == Some(&'{') {
            return false;
        }
    }
    true
}

fn escaped(c: char) -> String {
    if "\\.+*?()|[]{}^$#&-~".contains(c) { format!("\\{c}") } else { c.to_string() }
}

/// A reader of the patterns of `grep`.
struct Posix<'p> {
    is_basic: bool,
    rest: Peekable<Chars<'p>>,
    out: String,
}

impl Posix<'_> {
    fn read(mut self) -> Option<String> {
        // Where a branch begins, an anchor is one and a star is not; what repeats is repeated once only.
        let (mut is_begun, mut is_repeated) = (false, false);
        while let Some(c) = self.rest.next() {
            let is_quoted = c == '\\';
            let c = if is_quoted { self.rest.next()? } else { c };
            let is_special = |known: &str| known.contains(c) && is_quoted == self.is_basic;
            let repeats = is_special("+?{") || c == '*' && !is_quoted;
            let begins = is_special("(|") || c == '^' && !is_quoted && !is_begun;
            match c {
                _ if repeats && (!is_begun || is_repeated) => match c == '*' && !is_begun && self.is_basic {
                    true => self.out.push_str("\\*"),
                    false => return None,
                },
                '{' if repeats => self.interval()?,
                '(' if begins && self.rest.peek() == Some(&'?') => return None,
                _ if repeats || begins || is_special(")") => self.out.push(c),
                '$' if !is_quoted && self.ends_branch() => self.out.push('$'),
                '^' | '$' if !is_quoted && !self.is_basic => self.out.push(c),
                '.' if !is_quoted => self.out.push('.'),
                '[' if !is_quoted => self.bracket()?,
                '<' | '>' if is_quoted => self.out.push_str("\\b"),
                'w' | 'W' | 's' | 'S' | 'b' | 'B' if is_quoted => self.out.extend(['\\', c]),
                _ if is_quoted && (c.is_alphanumeric() || "`'".contains(c)) => return None,
                _ => self.out.push_str(&escaped(c)),
            }
            (is_begun, is_repeated) = (!begins, repeats && self.out.ends_with(['*', '+', '?', '}']));
        }
        Some(self.out)
    }

    /// Returns whether what follows ends a branch of a basic pattern.
    fn ends_branch(&self) -> bool {
        let rest: String = self.rest.clone().take(2).collect();
        rest.is_empty() || self.is_basic && ["\\)", "\\|"].contains(&rest.as_str())
    }

    /// Reads what follows the brace of a repetition.
    fn interval(&mut self) -> Option<()> {
        self.out.push('{');
        loop {
            match self.rest.next()? {
                c if c.is_ascii_digit() || c == ',' => self.out.push(c),
                '\\' if self.is_basic && self.rest.next() == Some('}') => break,
                '}' if !self.is_basic => break,
                _ => return None,
            }
        }
        self.out.push('}');
        Some(())
    }

    /// Reads what follows the bracket of a set: a backslash in it is one.
    fn bracket(&mut self) -> Option<()> {
        self.out.push('[');
        self.out.extend(self.rest.next_if_eq(&'^'));
        let mut is_first = true;
        loop {
            match self.rest.next()? {
                ']' if !is_first => break,
                '[' if self.rest.peek() == Some(&':') => {
                    self.out.push('[');
                    while !self.out.ends_with(":]") || self.out.ends_with("[:]") {
                        self.out.push(self.rest.next()?);
                    }
                }
                '[' if matches!(self.rest.peek(), Some('.' | '=')) => return None,
                '-' if self.rest.peek() == Some(&'-') => return None,
                '-' => self.out.push('-'),
                c => self.out.push_str(&escaped(c)),
            }
            is_first = false;
        }
        self.out.push(']');
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(pattern: &str, syntax: PatternSyntax) -> Option<String> {
        expressions(pattern, syntax).map(|lines| lines.join("⏎"))
    }

    #[test]
    fn patterns_of_grep_become_expressions_or_none() {
        for (pattern, expression) in [
            ("def add", "def add"),
            ("a+b?(c)|{d}", "a\\+b\\?\\(c\\)\\|\\{d\\}"),
            ("def add\\|class \\(Foo\\)\\+", "def add|class (Foo)+"),
            ("^fn .*$", "^fn .*$"),
            ("a^b$c", "a\\^b\\$c"),
            ("*a", "\\*a"),
            ("\\<word\\>", "\\bword\\b"),
            ("a\\{2,3\\}", "a{2,3}"),
            ("[]a[:alpha:]\\w]*", "[\\]a[:alpha:]\\\\w]*"),
            ("a\nb.c", "a⏎b.c"),
            ("a\\.b\\/", "a\\.b/"),
        ] {
            assert_eq!(of(pattern, PatternSyntax::Basic).as_deref(), Some(expression), "{pattern}");
        }
        for (pattern, expression) in
            [("a+|(b)?", "a+|(b)?"), ("a\\+\\|b", "a\\+\\|b"), ("(^a|b$)", "(^a|b$)"), ("a{2}", "a{2}")]
        {
            assert_eq!(of(pattern, PatternSyntax::Extended).as_deref(), Some(expression), "{pattern}");
        }
        assert_eq!(of("a.b(", PatternSyntax::Fixed).as_deref(), Some("a\\.b\\("));
        for pattern in ["\\(a\\)\\1", "a**", "[[=a=]]", "[a", "a\\", "\\`a", "[+--]", "a\\{b\\}"] {
            assert_eq!(of(pattern, PatternSyntax::Basic), None, "{pattern}");
        }
        for pattern in ["def add\\(", "\\bkey\\s*=", "a\\[b"] {
            assert_eq!(of(pattern, PatternSyntax::Perl).as_deref(), Some(pattern), "{pattern}");
        }
        for pattern in ["[K&&Z]", "(?U)a+", "(*UCP)a", "\\Ka", "\\<a", "\\b{start}", "a\\"] {
            assert_eq!(of(pattern, PatternSyntax::Perl), None, "{pattern}");
        }
        for pattern in ["a+?", "(?i)a", "a{b", "*a", "(*a)"] {
            assert_eq!(of(pattern, PatternSyntax::Extended), None, "{pattern}");
        }
    }
}
