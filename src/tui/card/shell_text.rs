//! Shell text in colours: programs, options, strings and operators. Colours alone: what a command is, the agent tells.

use std::ops::Range;

use ratatui::style::{Modifier, Style};
use ratatui::text::Span;

use crate::tui::theme::{Role, Theme};

/// The kind of a piece of shell text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ShellPart {
    /// White space.
    Blank,
    /// `&&`, `|`, `>` and the like.
    Operator,
    /// A comment.
    Comment,
    /// Text in quotes, with them.
    String,
    /// An option.
    Option,
    /// The name of a program.
    Program,
    /// Any other word.
    Word,
}

/// Pieces of a line, or of a row of it, with their kinds.
pub type ShellPieces = Vec<(ShellPart, String)>;

/// Reads shell text line by line: a string, or a command, may go on in the next line.
#[derive(Debug, Default)]
pub struct ShellReader {
    /// The quote of a string that is open.
    quote: Option<char>,
    /// The command of the line before goes on.
    goes_on: bool,
}

/// The characters of operators.
const OPERATORS: &str = "&|;()<>";

impl ShellReader {
    /// Returns the kinds of the pieces of the next line: all of it, in order.
    pub fn line(&mut self, line: &str) -> Vec<(ShellPart, Range<usize>)> {
        let mut found = Vec::new();
        let mut program = self.quote.is_none() && !self.goes_on;
        let mut at = 0;
        while let Some(first) = line[at..].chars().next() {
            let (part, length) = self.piece(&line[at..], first, program, follows_blank(&line[..at]));
            let text = &line[at..at + length];
            match part {
                ShellPart::Operator => program = !text.contains(['<', '>']),
                ShellPart::Blank => {}
                // The line goes on: it is no word.
                _ if text == "\\" && at + length == line.len() => {}
                _ => program = false,
            }
            found.push((part, at..at + length));
            at += length;
        }
        let is_open = !matches!(found.last(), Some((ShellPart::Comment, _)));
        let is_broken = line.bytes().rev().take_while(|b| *b == b'\\').count() % 2 == 1;
        self.goes_on = self.quote.is_some() || is_open && is_broken && !program;
        found
    }

    /// Returns the kind of the piece that begins a text, and its bytes.
    fn piece(&mut self, rest: &str, first: char, program: bool, begins: bool) -> (ShellPart, usize) {
        let same = |wanted: &dyn Fn(char) -> bool| rest.find(|c| !wanted(c)).unwrap_or(rest.len());
        if let Some(quote) = self.quote {
            return (ShellPart::String, self.string(rest, quote));
        }
        match first {
            c if c.is_whitespace() => (ShellPart::Blank, same(&char::is_whitespace)),
            c if OPERATORS.contains(c) => (ShellPart::Operator, same(&|c| OPERATORS.contains(c))),
            '\'' | '"' => (ShellPart::String, 1 + self.string(&rest[1..], first)),
            '#' if begins => (ShellPart::Comment, rest.len()),
            '-' => (ShellPart::Option, word(rest)),
            _ if program => (ShellPart::Program, word(rest)),
            _ => (ShellPart::Word, word(rest)),
        }
    }

    /// Returns the bytes up to the end of a string, the closing quote among them. It stays open where there is none.
    fn string(&mut self, rest: &str, quote: char) -> usize {
        let mut escaped = false;
        let closing = rest.find(|c| {
            let closes = c == quote && !escaped;
            escaped = quote == '"' && c == '\\' && !escaped;
            closes
        });
        self.quote = closing.is_none().then_some(quote);
        closing.map_or(rest.len(), |at| at + 1)
    }
}

/// Returns whether a word begins after this text.
fn follows_blank(before: &str) -> bool {
    before.chars().next_back().is_none_or(|c| c.is_whitespace() || OPERATORS.contains(c))
}

/// Returns the bytes of the word that begins a text.
fn word(text: &str) -> usize {
    let mut escaped = false;
    let end = text.find(|c: char| {
        let ends = !escaped && (c.is_whitespace() || OPERATORS.contains(c) || c == '\'' || c == '"');
        escaped = c == '\\' && !escaped;
        ends
    });
    end.unwrap_or(text.len())
}

/// Returns the pieces of a line within a byte range of it.
pub fn slice(line: &str, pieces: &[(ShellPart, Range<usize>)], range: &Range<usize>) -> ShellPieces {
    let within = pieces.iter().map(|(part, piece)| (*part, piece.start.max(range.start)..piece.end.min(range.end)));
    within.filter(|(_, piece)| piece.start < piece.end).map(|(part, piece)| (part, line[piece].to_string())).collect()
}

/// Returns a text of one line in colours.
pub fn coloured(line: &str, theme: &Theme) -> Vec<Span<'static>> {
    styled(&slice(line, &ShellReader::default().line(line), &(0..line.len())), theme)
}

/// Returns pieces in their colours.
pub fn styled(pieces: &[(ShellPart, String)], theme: &Theme) -> Vec<Span<'static>> {
    let style = |part| match part {
        ShellPart::Blank => Style::new(),
        ShellPart::Operator | ShellPart::Comment => theme.style(Role::Dim),
        ShellPart::String => theme.style(Role::SynString),
        ShellPart::Option => theme.style(Role::SynNumber),
        ShellPart::Program => theme.style(Role::SynKeyword).add_modifier(Modifier::BOLD),
        ShellPart::Word => theme.style(Role::Text),
    };
    pieces.iter().map(|(part, text)| Span::styled(text.clone(), style(*part))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces(line: &str) -> ShellPieces {
        slice(line, &ShellReader::default().line(line), &(0..line.len()))
    }

    fn words(line: &str) -> Vec<String> {
        pieces(line).into_iter().map(|(_, text)| text).collect()
    }

    #[test]
    fn no_part_of_a_line_is_lost() {
        for line in [
            "rm -rf a && cargo run -- 'x y' | head -n 4 > \"out\"",
            "'unended",
            "  a;b",
            "",
            "ä\u{3000}ö|",
            "a\\ b \"c \\\" d\" # don't",
            "'é",
            "\\",
        ] {
            assert_eq!(words(line).concat(), line);
        }
        assert_eq!(words("a&&b 'c d'"), ["a", "&&", "b", " ", "'c d'"]);
        assert_eq!(words(r#"a "b \" c" \'d"#), ["a", " ", r#""b \" c""#, " ", r"\'d"]);
    }

    #[test]
    fn a_string_and_a_command_go_on_in_the_next_line() {
        let mut reader = ShellReader::default();
        let mut programs = |line: &str| {
            let found = reader.line(line);
            let programs = found.into_iter().filter(|(part, _)| *part == ShellPart::Program);
            programs.map(|(_, range)| line[range].to_string()).collect::<Vec<_>>()
        };
        assert_eq!(programs("git commit -m 'first"), ["git"]);
        assert_eq!(programs("rm in the message"), [""; 0]);
        assert_eq!(programs("last' && rm -rf src \\"), ["rm"]);
        assert_eq!(programs("docs"), [""; 0]);
        assert_eq!(programs("# it's a comment \\"), [""; 0]);
        assert_eq!(programs("echo"), ["echo"]);
        // A program may begin behind a line that goes on.
        assert_eq!(programs("cargo build && \\"), ["cargo", "\\"]);
        assert_eq!(programs("rm -rf src"), ["rm"]);
    }
}
