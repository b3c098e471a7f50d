//! What the commands print: lines, call lines, complaints, questions at the terminal.

use std::borrow::Cow;
use std::fmt::Display;
use std::io::{self, BufRead, IsTerminal, Write};

use std::time::{SystemTime, UNIX_EPOCH};

use crate::protocol::{Attached, Call, CallState};

const RED: &str = "\x1b[31m";
const GREEN: &str = "\x1b[32m";
const RESET: &str = "\x1b[0m";

/// A line of what was asked for.
///
/// # Errors
/// When standard output takes no more.
pub fn say(line: impl Display) -> io::Result<()> {
    writeln!(io::stdout(), "{line}")
}

/// A line on standard error, beside what was asked for. Where nobody can hear it there is nothing to be done.
pub fn aside(line: impl Display) {
    let _ = writeln!(io::stderr(), "{line}");
}

/// A complaint in one line on standard error.
pub fn complain(what: impl Display) {
    aside(format_args!("nebula: {what}"));
}

/// Unix milliseconds; 0 for a clock before 1970.
pub fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |d| i64::try_from(d.as_millis()).unwrap_or(i64::MAX))
}

/// Whether what goes to standard output and to standard error meets in one place: a terminal, a pipe, a file.
pub fn together() -> bool {
    let place = |stat: rustix::fs::Stat| (stat.st_dev, stat.st_ino);
    let (out, err) = (rustix::fs::fstat(io::stdout()), rustix::fs::fstat(io::stderr()));
    io::stdout().is_terminal() || out.map(place).is_ok_and(|out| err.map(place) == Ok(out))
}

/// An error with its causes in one line; a cause that the text before it holds already is not repeated.
pub fn one_line(error: &anyhow::Error) -> String {
    let mut text = String::new();
    for cause in error.chain().map(|cause| cause.to_string().replace('\n', "; ")) {
        if text.is_empty() {
            text = cause;
        } else if !text.contains(&cause) {
            text.push_str(&format!(": {cause}"));
        }
    }
    text
}

/// Whether an error is that whoever reads the output has seen enough, as in `nebula history | head`.
pub fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let broken = |cause: &(dyn std::error::Error + 'static)| {
        cause.downcast_ref::<io::Error>().is_some_and(|e| e.kind() == io::ErrorKind::BrokenPipe)
    };
    error.chain().any(broken)
}

/// A file that joined a message, in one line: `attached src/a.rs:3-5, 3 lines`.
pub fn attached(a: &Attached) -> String {
    let range = a.range.map(|(from, to)| format!(":{from}-{to}")).unwrap_or_default();
    let size = match a.lines {
        Some(1) => "1 line".to_string(),
        Some(n) => format!("{n} lines"),
        None => format!("{} bytes", a.bytes),
    };
    format!("attached {}{range}, {size}", a.path)
}

/// Whether a terminal may be given colours.
pub fn coloured() -> bool {
    std::env::var_os("NO_COLOR").is_none()
}

/// Text as a terminal may be given it: what would move the cursor, hide text or turn its direction is shown instead of
/// done, `^[` for an escape. Line breaks and tabs stay.
pub fn seen(text: &str) -> Cow<'_, str> {
    let unseen = |c: char| {
        let turns = matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
        turns || c.is_control() && c != '\n' && c != '\t'
    };
    if !text.contains(unseen) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        match u8::try_from(c) {
            _ if !unseen(c) => out.push(c),
            // The caret names the key that types it.
            Ok(byte @ (..0x20 | 0x7f)) => out.extend(['^', char::from(byte ^ 0x40)]),
            _ => out.push_str(&format!("<U+{:04X}>", u32::from(c))),
        }
    }
    Cow::Owned(out)
}

/// A finished call in one line, and its reason if it has one.
pub fn call_line(call: &Call, colour: bool) -> String {
    let (glyph, code) = match call.state {
        CallState::Done => ("✓", GREEN),
        CallState::Refused => ("⊘", RED),
        CallState::Interrupted => ("◌", ""),
        _ => ("✗", RED),
    };
    let glyph = if colour && !code.is_empty() { format!("{code}{glyph}{RESET}") } else { glyph.to_string() };
    let mut line = format!("{glyph} {} {}", seen(&call.name), seen(&call.main).replace('\n', "^J"));
    if let Some(counts) = call.counts {
        line.push_str(&format!("  +{} −{}", counts.added, counts.removed));
    }
    if !call.summary.is_empty() {
        line.push_str(&format!("  {}", seen(&call.summary)));
    }
    if let Some(reason) = &call.reason {
        line.push_str(&format!("\n  {}", seen(reason)));
    }
    line
}

/// Asks at the terminal, on standard error; an empty line at the end of input.
///
/// # Errors
/// When the terminal cannot be read.
pub fn read_line(question: &str) -> io::Result<String> {
    let mut err = io::stderr();
    write!(err, "{question}")?;
    err.flush()?;
    let mut line = String::new();
    io::stdin().lock().read_line(&mut line)?;
    Ok(line)
}

/// Whether a person sits at both ends.
pub fn at_terminal() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// Whether standard output is a terminal.
pub fn to_terminal() -> bool {
    io::stdout().is_terminal()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_would_act_on_a_terminal_is_shown() {
        assert_eq!(seen("a\tb\n日本"), "a\tb\n日本");
        assert_eq!(seen("\x1b[2J\r\x7f\u{9b}x\u{202e}y"), "^[[2J^M^?<U+009B>x<U+202E>y");
    }

    #[test]
    fn a_cause_is_told_once() {
        #[derive(Debug, thiserror::Error)]
        #[error("cannot read x: {source}")]
        struct Outer {
            source: io::Error,
        }
        let error = anyhow::Error::from(Outer { source: io::ErrorKind::NotFound.into() });
        assert_eq!(one_line(&error), "cannot read x: entity not found");
        assert_eq!(one_line(&error.context("a\nb")), "a; b: cannot read x: entity not found");
        let broken = anyhow::Error::from(io::Error::from(io::ErrorKind::BrokenPipe)).context("writing");
        assert!(is_broken_pipe(&broken) && !is_broken_pipe(&anyhow::anyhow!("no")));
    }
}
