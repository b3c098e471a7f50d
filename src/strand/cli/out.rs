//! Printing: results on stdout, messages on stderr, colour where it is wanted.

use std::io::{IsTerminal, Write};

use serde_json::{Value, json};
use similar::{ChangeTag, TextDiff};
use unicode_width::UnicodeWidthStr;

use super::args::{Args, Color};
use crate::strand::check::Diagnostic;
use crate::strand::issue::{Refusal, Unparsed};
use crate::strand::store::Error;

/// How to print.
pub struct Out {
    /// Whether results are JSON.
    pub json: bool,
    quiet: bool,
    color: bool,
    color_err: bool,
}

impl Out {
    /// As the arguments and the terminal say.
    pub fn new(args: &Args) -> Out {
        let wanted = |terminal: bool| match args.color {
            Color::Always => true,
            Color::Never => false,
            Color::Auto => terminal && std::env::var_os("NO_COLOR").is_none(),
        };
        Out {
            json: args.json,
            quiet: args.quiet,
            color: wanted(std::io::stdout().is_terminal()),
            color_err: wanted(std::io::stderr().is_terminal()),
        }
    }

    /// Prints to stdout. A reader that went away is no concern.
    pub fn text(&self, text: &str) {
        let _ = std::io::stdout().lock().write_all(text.as_bytes());
    }

    /// One line to stdout.
    pub fn line(&self, line: &str) {
        self.text(&format!("{line}\n"));
    }

    /// One JSON value as a line of stdout.
    pub fn value(&self, value: &Value) {
        self.line(&value.to_string());
    }

    /// A result, in words or as JSON.
    pub fn answer(&self, words: &str, value: impl FnOnce() -> Value) {
        if self.json {
            self.value(&value());
        } else if !words.is_empty() {
            self.line(words);
        }
    }

    /// A message to stderr.
    pub fn note(&self, message: &str) {
        if !self.quiet {
            self.err(message);
        }
    }

    fn err(&self, message: &str) {
        let _ = writeln!(std::io::stderr().lock(), "{message}");
    }

    /// Tells a failure. Returns its exit code.
    pub fn failure(&self, error: &Error) -> u8 {
        let word = paint(self.color_err, RED, "Error:");
        self.err(&format!("{word} {}", self.told(error)));
        if self.json {
            let details = match error {
                Error::Refused(refusal) => refusal.details(),
                _ => json!({}),
            };
            let first = error.to_string();
            let message = first.lines().next().unwrap_or_default();
            self.value(&json!({"error": {
                "code": error.exit(), "kind": error.kind(), "message": message, "details": details,
            }}));
        }
        error.exit()
    }

    /// A failure in words; of a text that does not parse, with its lines and a caret under each fault.
    fn told(&self, error: &Error) -> String {
        let Error::Refused(Refusal::Syntax { message, faults }) = error else { return error.to_string() };
        let faults: Vec<String> = faults.iter().map(|fault| self.shown(fault)).collect();
        format!("{message}\n  {}", faults.join("\n  "))
    }

    /// A fault of a text that does not parse, with its line and a caret.
    fn shown(&self, fault: &Unparsed) -> String {
        let marked = marked(&fault.line, fault.start, fault.start + 1, self.color_err, RED);
        format!("{}\n{}", fault.message, marked.trim_end_matches('\n'))
    }

    /// Tells of one thing refused among others, even when quiet.
    pub fn refused(&self, words: &str) {
        self.err(&format!("{} {words}", paint(self.color_err, RED, "Error:")));
    }

    /// Tells where a file does not parse, even when quiet.
    pub fn unparsed(&self, faults: &[Unparsed]) {
        faults.iter().for_each(|fault| self.refused(&self.shown(fault)));
    }

    /// A fault in colour, with its source and carets under the fault.
    pub fn fault(&self, fault: &Diagnostic) -> String {
        self.fault_with(fault, self.color)
    }

    /// Faults that an edit brought, to stderr.
    pub fn new_faults(&self, faults: &[Diagnostic]) {
        for fault in faults {
            self.note(self.fault_with(fault, self.color_err).trim_end());
        }
    }

    fn fault_with(&self, fault: &Diagnostic, color: bool) -> String {
        let (word, code) = if fault.warning { ("warning", YELLOW) } else { ("error", RED) };
        let head = paint(color, code, &format!("{word}[{}]", fault.code));
        let mut text = format!("{head} {}: {}\n", fault.location, fault.message);
        if let Some((source, start, end)) = &fault.source {
            text.push_str(&marked(source, *start, *end, color, code));
        }
        if let Some(help) = help(fault) {
            text.push_str(&format!("  {} {help}\n", paint(color, "36", "help:")));
        }
        text
    }

    /// The lines that differ between two texts.
    pub fn change(&self, old: &str, new: &str) -> String {
        let mut text = String::new();
        for change in TextDiff::from_lines(old, new).iter_all_changes() {
            let (sign, code) = match change.tag() {
                ChangeTag::Delete => ('-', "31"),
                ChangeTag::Insert => ('+', "32"),
                ChangeTag::Equal => continue,
            };
            text.push_str(&paint(self.color, code, &format!("{sign} {}", change.value().trim_end_matches('\n'))));
            text.push('\n');
        }
        text
    }

    /// A definition's text, its words coloured where colour is wanted.
    pub fn code(&self, text: &str) -> String {
        text.lines().map(|line| highlight(line, self.color) + "\n").collect()
    }
}

const RED: &str = "1;31";
const YELLOW: &str = "1;33";

/// The lines of a text that hold a range of bytes, with carets under it. Carets are as wide as what stands above them
/// on a terminal.
fn marked(source: &str, start: usize, end: usize, color: bool, code: &str) -> String {
    let bar = paint(color, "34", "|");
    let (mut text, mut offset) = (String::new(), 0);
    for line in source.split('\n') {
        let (first, last) = (offset, offset + line.len());
        let (from, to) = (start.clamp(first, last), end.clamp(first, last));
        // A fault at the end of a line stands after its last character.
        if from < to || (first..=last).contains(&start) {
            let columns = |from: usize, to: usize| line.get(from - first..to - first).map_or(0, UnicodeWidthStr::width);
            let (indent, width) = (columns(first, from), columns(from, to).max(1));
            text.push_str(&format!("  {bar} {}\n", highlight(&line.replace('\t', " "), color)));
            text.push_str(&format!("  {bar} {}{}\n", " ".repeat(indent), paint(color, code, &"^".repeat(width))));
        }
        offset = last + 1;
    }
    text
}

fn help(fault: &Diagnostic) -> Option<String> {
    let text = |name: &str| fault.suggestion.get(name).and_then(Value::as_str).unwrap_or_default();
    Some(match text("kind") {
        "did-you-mean" => format!("did you mean '{}'?", text("name")),
        "convert" => format!("convert with {}(..)", text("with")),
        "satisfy" => format!("the value must satisfy {}", text("predicate")),
        "add-arms" => "cover the missing cases".to_owned(),
        "add-capability" => format!("add '{}' to needs", text("name")),
        "use-emit" => "write emit before it".to_owned(),
        "move-to-reducer" => "move it into a statement of a reducer".to_owned(),
        "pass-as-param" => format!("pass '{}' as a parameter", text("name")),
        "extract-fn" => "give it a name as a fn".to_owned(),
        "use-option" => "use none, of an Option".to_owned(),
        "restore" => format!("bring '{}' back", text("name")),
        "add-arg" => format!("add the argument '{}'", text("name")),
        _ => return None,
    })
}

/// `1 step`, `2 steps`.
pub fn plural(count: usize, word: &str) -> String {
    format!("{count} {word}{}", if count == 1 { "" } else { "s" })
}

/// The text in a colour of the terminal.
pub fn paint(color: bool, code: &str, text: &str) -> String {
    if color { format!("\u{1b}[{code}m{text}\u{1b}[0m") } else { text.to_owned() }
}

/// A line of Strand with keywords, names of types, strings and numbers coloured.
fn highlight(line: &str, color: bool) -> String {
    use crate::strand::lang::names::{is_keyword, is_upper};
    use crate::strand::lang::token::{Tok, lex};
    if !color {
        return line.to_owned();
    }
    if line.trim_start().starts_with("##") {
        return paint(true, "2", line);
    }
    let Ok(tokens) = lex(line) else { return line.to_owned() };
    let (mut out, mut at) = (String::new(), 0);
    for token in tokens {
        out.push_str(&line[at..token.start]);
        let text = &line[token.start..token.end];
        let first = token.start == 0 && crate::strand::id::Layer::parse(text).is_some();
        out.push_str(&match token.tok {
            Tok::Ident(word) if first || is_keyword(word) => paint(true, "35", text),
            Tok::Ident(word) if is_upper(word) => paint(true, "33", text),
            Tok::Str(_) => paint(true, "32", text),
            Tok::Int(_) | Tok::Float(_) => paint(true, "36", text),
            _ => text.to_owned(),
        });
        at = token.end;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::marked;

    #[test]
    fn carets_are_as_wide_as_what_they_mark() {
        let text = "Text = len(\"日本語\") + x";
        assert_eq!(marked(text, 7, 23, false, ""), "  | Text = len(\"日本語\") + x\n  |        ^^^^^^^^^^^^^\n");
        let after = text.len() - 1;
        assert_eq!(
            marked(text, after, after + 1, false, "").lines().nth(1),
            Some(&*format!("  | {}^", " ".repeat(23)))
        );
    }

    #[test]
    fn a_fault_at_the_end_of_a_line_has_its_caret_there() {
        assert_eq!(marked("a :=\nb := 1", 4, 5, false, ""), "  | a :=\n  |     ^\n");
        assert_eq!(marked("", 0, 1, false, ""), "  | \n  | ^\n");
    }
}
