//! Printing: results on stdout, messages on stderr, colour where it is wanted.

use std::cell::RefCell;
use std::io::{IsTerminal, Write};
use std::sync::OnceLock;

use serde_json::{Value, json};
use similar::{ChangeTag, TextDiff};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use super::args::{Args, Color};
use crate::strand::check::Diagnostic;
use crate::strand::issue::{Refusal, Unparsed};
use crate::strand::store::Error;
use crate::text::clean::{clean, clean_json};

/// The printer of results.
pub struct Writer {
    /// True if results are JSON.
    pub json: bool,
    quiet: bool,
    /// True if results go to a terminal.
    terminal: bool,
    color: bool,
    color_err: bool,
    /// Columns of the terminal that results go to, or as many as a line may have elsewhere.
    columns: usize,
    /// The width of the terminal for messages.
    columns_err: usize,
    /// The results that are not printed.
    captured: Option<RefCell<Vec<Value>>>,
}

impl Writer {
    /// Creates a writer that collects its results instead of printing them, and prints no message.
    pub fn capturing() -> Writer {
        Writer {
            json: true,
            quiet: true,
            terminal: false,
            color: false,
            color_err: false,
            columns: WIDEST,
            columns_err: WIDEST,
            captured: Some(RefCell::default()),
        }
    }

    /// Returns the collected results.
    pub fn take(&self) -> Vec<Value> {
        self.captured.as_ref().map(RefCell::take).unwrap_or_default()
    }

    /// Creates the writer that the arguments and the terminal ask for.
    pub fn new(args: &Args) -> Writer {
        let wanted = |terminal: bool| match args.color {
            Color::Always => true,
            Color::Never => false,
            Color::Auto => terminal && std::env::var_os("NO_COLOR").is_none(),
        };
        Writer {
            json: args.json,
            quiet: args.quiet,
            terminal: std::io::stdout().is_terminal(),
            color: wanted(std::io::stdout().is_terminal()),
            color_err: wanted(std::io::stderr().is_terminal()),
            columns: columns(std::io::stdout()),
            columns_err: columns(std::io::stderr()),
            captured: None,
        }
    }

    /// Prints to stdout: cleaned at a terminal, byte for byte elsewhere. A reader that went away is no concern.
    pub fn text(&self, text: &str) {
        if self.captured.is_some() {
            return;
        }
        let safe = if self.terminal { safe(text) } else { text.replace(mark(), "\u{1b}[") };
        let _ = std::io::stdout().lock().write_all(safe.as_bytes());
    }

    /// Prints one line to stdout.
    pub fn line(&self, line: &str) {
        self.text(&format!("{line}\n"));
    }

    /// Prints one JSON value as a line of stdout.
    pub fn value(&self, value: &Value) {
        if let Some(captured) = &self.captured {
            captured.borrow_mut().push(value.clone());
            return;
        }
        let _ = writeln!(std::io::stdout().lock(), "{}", clean_json(&value.to_string()));
    }

    /// Prints a result, in words or as JSON.
    pub fn answer(&self, words: &str, value: impl FnOnce() -> Value) {
        if self.json {
            self.value(&value());
        } else if !words.is_empty() {
            self.line(words);
        }
    }

    /// Prints a message to stderr.
    pub fn note(&self, message: &str) {
        if !self.quiet {
            self.err(message);
        }
    }

    fn err(&self, message: &str) {
        if self.captured.is_some() {
            return;
        }
        let _ = writeln!(std::io::stderr().lock(), "{}", safe(message));
    }

    /// Tells a failure. Returns its exit code.
    pub fn failure(&self, error: &Error) -> u8 {
        let word = paint(self.color_err, RED, "Error:");
        self.err(&format!("{word} {}", self.error_text(error)));
        if self.json {
            self.value(&json!({"error": error_json(error)}));
        }
        error.exit()
    }

    /// Returns a failure in words; of a text that does not parse, with its lines and a caret under each fault.
    fn error_text(&self, error: &Error) -> String {
        let Error::Refused(Refusal::Syntax { message, faults }) = error else { return error.to_string() };
        let faults: Vec<String> = faults.iter().map(|fault| self.safe(fault)).collect();
        format!("{message}\n  {}", faults.join("\n  "))
    }

    /// Returns a fault of a text that does not parse, with its line and a caret.
    fn safe(&self, fault: &Unparsed) -> String {
        let end = fault.start + fault.line[fault.start..].chars().next().map_or(1, char::len_utf8);
        let look = Look { color: self.color_err, code: RED, columns: self.columns_err };
        let marked = marked(&fault.line, fault.start, end, look);
        format!("{}\n{}", fault.message, marked.trim_end_matches('\n'))
    }

    /// Tells of one thing refused among others, even when quiet.
    pub fn refused(&self, words: &str) {
        self.err(&format!("{} {words}", paint(self.color_err, RED, "Error:")));
    }

    /// Tells where a file does not parse, even when quiet.
    pub fn unparsed(&self, faults: &[Unparsed]) {
        faults.iter().for_each(|fault| self.refused(&self.safe(fault)));
    }

    /// Returns a fault in colour, with its source and carets under the fault.
    pub fn fault(&self, fault: &Diagnostic) -> String {
        self.fault_with(fault, self.color, self.columns)
    }

    /// Prints the faults that an edit brought to stderr.
    pub fn new_faults(&self, faults: &[Diagnostic]) {
        for fault in faults {
            self.note(self.fault_with(fault, self.color_err, self.columns_err).trim_end());
        }
    }

    fn fault_with(&self, fault: &Diagnostic, color: bool, columns: usize) -> String {
        let (word, code) = if fault.warning { ("warning", YELLOW) } else { ("error", RED) };
        let head = paint(color, code, &format!("{word}[{}]", fault.code));
        let mut text = format!("{head} {}: {}\n", fault.location, fault.message);
        if let Some((source, start, end)) = &fault.source {
            text.push_str(&marked(source, *start, *end, Look { color, code, columns }));
        }
        if let Some(help) = help(fault) {
            text.push_str(&format!("  {} {help}\n", paint(color, "36", "help:")));
        }
        text
    }

    /// Returns the lines that differ between two texts.
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

    /// Returns a definition's text, its words coloured where colour is wanted.
    pub fn code(&self, text: &str) -> String {
        text.lines().map(|line| highlight(line, (0, line.len()), self.color) + "\n").collect()
    }
}

/// Returns a failure for a program: `{code, kind, message, details}`.
pub fn error_json(error: &Error) -> Value {
    let details = match error {
        Error::Refused(refusal) => refusal.details(),
        _ => json!({}),
    };
    let first = error.to_string();
    let message = first.lines().next().unwrap_or_default();
    json!({"code": error.exit(), "kind": error.kind(), "message": message, "details": details})
}

/// Returns what stands for the beginning of a colour until the text is printed: an escape character and a number of this
/// run, which no text from elsewhere can know.
fn mark() -> &'static str {
    static MARK: OnceLock<String> = OnceLock::new();
    MARK.get_or_init(|| format!("\u{1b}{{{}}}", uuid::Uuid::new_v4().simple()))
}

/// Returns text as a terminal may be given it: what was painted in its colours, everything else cleaned.
fn safe(text: &str) -> String {
    let mut parts = text.split(mark());
    let mut out = clean(parts.next().unwrap_or_default()).into_owned();
    for part in parts {
        match part.split_once('m') {
            Some((code, rest)) => out.push_str(&format!("\u{1b}[{code}m{}", clean(rest))),
            None => out.push_str(&clean(part)),
        }
    }
    out
}

const RED: &str = "1;31";
const YELLOW: &str = "1;33";

/// Tells a wrong use of the command line, in the form of every other failure. Returns its exit code.
pub fn misused(error: &clap::Error, json: bool) -> u8 {
    let text = error.render().to_string();
    let text = text.strip_prefix("error: ").unwrap_or(&text).trim_end();
    let _ = writeln!(std::io::stderr().lock(), "Error: {}", safe(text));
    if json {
        let message = text.lines().next().unwrap_or_default();
        let error = json!({"error": {"code": 2, "kind": "usage", "message": message, "details": {}}});
        let _ = writeln!(std::io::stdout().lock(), "{}", clean_json(&error.to_string()));
    }
    2
}

/// The most columns of a marked line where the output is no terminal.
const WIDEST: usize = 200;

/// Returns the columns of a terminal, or as many as a line may have elsewhere.
fn columns(output: impl std::os::fd::AsFd) -> usize {
    let size = rustix::termios::tcgetwinsize(output).ok();
    size.map(|size| usize::from(size.ws_col)).filter(|columns| *columns > 0).unwrap_or(WIDEST)
}

/// The look of marked lines.
#[derive(Clone, Copy)]
struct Look<'l> {
    color: bool,
    /// The colour of the carets.
    code: &'l str,
    /// Longer lines are cut to what is around the fault, so that the carets stay under it.
    columns: usize,
}

/// Returns the lines of a text that hold a range of bytes, with carets under it. Carets are as wide as what stands
/// above them on a terminal.
fn marked(source: &str, start: usize, end: usize, look: Look) -> String {
    let bar = paint(look.color, "34", "|");
    let (mut text, mut offset) = (String::new(), 0);
    for line in source.split('\n') {
        let (first, last) = (offset, offset + line.len());
        let (from, to) = (start.clamp(first, last), end.clamp(first, last));
        // A fault at the end of a line is marked after its last character.
        if from < to || (first..=last).contains(&start) {
            let cut = window(line, (from - first, to - first), look.columns.saturating_sub(5));
            let (indent, width) = (line.get(cut.0..from - first), line.get(from - first..(to - first).min(cut.1)));
            let (indent, width) = (indent.map_or(0, UnicodeWidthStr::width), width.map_or(0, UnicodeWidthStr::width));
            let (before, after) = (if cut.0 > 0 { "…" } else { "" }, if cut.1 < line.len() { "…" } else { "" });
            let safe = highlight(line, cut, look.color);
            text.push_str(&format!("  {bar} {before}{safe}{after}\n"));
            let indent = " ".repeat(indent + before.width());
            text.push_str(&format!("  {bar} {indent}{}\n", paint(look.color, look.code, &"^".repeat(width.max(1)))));
        }
        offset = last + 1;
    }
    text
}

/// Returns the bytes of a line that are shown where it is wider than these columns: what is marked, and as much around
/// it as there is room for.
fn window(line: &str, marked: (usize, usize), columns: usize) -> (usize, usize) {
    if line.width() <= columns {
        return (0, line.len());
    }
    let (mut from, mut to) = (marked.0, marked.0);
    // Two marks of what is left out take a column each.
    let room = columns.saturating_sub(2).max(1);
    let mut used = 0;
    let wide = |c: char| c.width().unwrap_or(0);
    // First the marked part, then by turns what precedes and follows it.
    for c in line[marked.0..marked.1].chars().take_while(|c| {
        used += wide(*c);
        used <= room
    }) {
        to += c.len_utf8();
    }
    let whole = to == marked.1;
    let mut widened = whole;
    while widened {
        widened = false;
        if let Some(c) = line[..from].chars().next_back().filter(|c| used + wide(*c) <= room) {
            (from, used, widened) = (from - c.len_utf8(), used + wide(c), true);
        }
        if let Some(c) = line[to..].chars().next().filter(|c| used + wide(*c) <= room) {
            (to, used, widened) = (to + c.len_utf8(), used + wide(c), true);
        }
    }
    (from, to)
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

/// Formats as `1 step`, `2 steps`.
pub fn plural(count: usize, word: &str) -> String {
    format!("{count} {word}{}", if count == 1 { "" } else { "s" })
}

/// Returns the text in a colour, as [`safe`] gives it to a terminal.
fn paint(color: bool, code: &str, text: &str) -> String {
    let mark = mark();
    if color { format!("{mark}{code}m{text}{mark}0m") } else { text.to_owned() }
}

/// Returns the bytes of a line of Strand from one to another, with keywords, names of types, strings and numbers
/// coloured.
fn highlight(line: &str, cut: (usize, usize), color: bool) -> String {
    use crate::strand::lang::names::{is_keyword, is_upper};
    use crate::strand::lang::token::{Tok, lex};
    let whole = line[cut.0..cut.1].replace('\t', " ");
    if !color {
        return whole;
    }
    if line.trim_start().starts_with("##") {
        return paint(true, "2", &whole);
    }
    let Ok(tokens) = lex(line) else { return whole };
    let (mut out, mut at) = (String::new(), cut.0);
    for token in tokens {
        let (start, end) = (token.start.clamp(cut.0, cut.1), token.end.clamp(cut.0, cut.1));
        if start >= end {
            continue;
        }
        out.push_str(&line[at..start].replace('\t', " "));
        let text = &line[start..end];
        let first = token.start == 0 && crate::strand::id::Layer::parse(text).is_some();
        out.push_str(&match token.tok {
            Tok::Ident(word) if first || is_keyword(word) => paint(true, "35", text),
            Tok::Ident(word) if is_upper(word) => paint(true, "33", text),
            Tok::Str(_) => paint(true, "32", text),
            Tok::Int(_) | Tok::Float(_) => paint(true, "36", text),
            _ => text.to_owned(),
        });
        at = end;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::{Look, RED, marked, paint, safe};

    const PLAIN: Look = Look { color: false, code: "", columns: usize::MAX };

    #[test]
    fn only_its_own_colours_reach_a_terminal() {
        let hostile = "a\u{1b}[2Jb\u{1b}[31mc\u{202e}";
        assert_eq!(safe(hostile), "a^[[2Jb^[[31mc⟨U+202E⟩");
        let red = paint(true, RED, hostile);
        assert_eq!(safe(&red), "\u{1b}[1;31ma^[[2Jb^[[31mc⟨U+202E⟩\u{1b}[0m");
    }

    #[test]
    fn carets_are_as_wide_as_what_they_mark() {
        let text = "Text = len(\"日本語\") + x";
        assert_eq!(marked(text, 7, 23, PLAIN), "  | Text = len(\"日本語\") + x\n  |        ^^^^^^^^^^^^^\n");
        let after = text.len() - 1;
        assert_eq!(marked(text, after, after + 1, PLAIN).lines().nth(1), Some(&*format!("  | {}^", " ".repeat(23))));
    }

    #[test]
    fn a_fault_at_the_end_of_a_line_has_its_caret_there() {
        assert_eq!(marked("a :=\nb := 1", 4, 5, PLAIN), "  | a :=\n  |     ^\n");
        assert_eq!(marked("", 0, 1, PLAIN), "  | \n  | ^\n");
    }

    #[test]
    fn a_line_too_long_for_the_terminal_is_cut_around_its_fault() {
        let narrow = Look { columns: 20, ..PLAIN };
        let line = "text(value=\"日本語の見出し\" + usres + \"件\")";
        let at = line.find("usres").unwrap();
        assert_eq!(marked(line, at, at + 5, narrow), "  | …\" + usres + \"…\n  |      ^^^^^\n");
        for width in 1..60 {
            let look = Look { columns: width, ..PLAIN };
            for (from, to) in [(0, line.len()), (at, at + 5), (12, 33), (line.len(), line.len())] {
                for safe in marked(line, from, to, look).lines().filter(|_| width > 8) {
                    assert!(unicode_width::UnicodeWidthStr::width(safe) <= width, "{width}: {safe}");
                }
            }
        }
    }
}
