//! Formats what the commands print: an error, an attached file, a finished call.

use std::io;
use std::time::Duration;

use super::out;
use crate::messages::times::duration;
use crate::messages::{self, Language};
use crate::protocol::{Attached, Call, CallState};
use crate::text::clean::{clean, clean_line};
use crate::text::number::plural;
use crate::text::size;
use crate::text::width::shortened;

const RED: &str = "\x1b[31m";
const GREEN: &str = "\x1b[32m";
const RESET: &str = "\x1b[0m";

/// The exit code for a command line that cannot be parsed.
pub const USAGE: u8 = 2;

/// An error of the command line: exit code 2.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct UsageError(String);

impl UsageError {
    /// Creates the error of what cannot be meant, in one line.
    pub fn new(what: impl Into<String>) -> Self {
        UsageError(what.into())
    }
}

/// Returns the line of a thought of which the server shows nothing.
pub fn thought_hidden(took: Option<Duration>) -> String {
    let hidden = "thought, not shown";
    took.map_or_else(
        || hidden.into(),
        |took| {
            // What commands print is English.
            messages::with(Language::English, || format!("{hidden} · {}", duration(took)))
        },
    )
}

/// Prints an error in one line and returns its exit code.
pub fn report(error: &anyhow::Error) -> u8 {
    if is_broken_pipe(error) {
        return 0;
    }
    out::complain(one_line(error));
    if error.is::<UsageError>() { USAGE } else { 1 }
}

/// Returns an error with its causes in one line; a cause that the text before it holds already is not repeated.
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

/// Returns whether an error is that whoever reads the output has seen enough, as in `nebula history | head`.
pub fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let broken = |cause: &(dyn std::error::Error + 'static)| {
        cause.downcast_ref::<io::Error>().is_some_and(|e| e.kind() == io::ErrorKind::BrokenPipe)
    };
    error.chain().any(broken)
}

/// Returns a file that joined a message, in one line: `attached src/a.rs:3-5, 3 lines`.
pub fn attached(a: &Attached) -> String {
    let range = a.range.map(|(from, to)| format!(":{from}-{to}")).unwrap_or_default();
    let size = match a.lines {
        Some(n) => plural(n, "line"),
        None => size::words(a.bytes as u64),
    };
    format!("attached {}{range}, {size}", a.path)
}

/// Columns of a call's main argument in its line.
const MAIN: usize = 200;

/// Returns a finished call in one line, and its reason if it has one.
pub fn call_line(call: &Call, colour: bool) -> String {
    let (glyph, code) = match call.state {
        CallState::Done => ("✓", GREEN),
        CallState::Refused => ("⊘", RED),
        CallState::Interrupted => ("◌", ""),
        _ => ("✗", RED),
    };
    let glyph = if colour && !code.is_empty() { format!("{code}{glyph}{RESET}") } else { glyph.to_string() };
    let mut line = format!("{glyph} {} {}", clean_line(&call.name), shortened(&clean_line(&call.main), MAIN));
    if let Some(counts) = call.counts {
        line.push_str(&format!("  +{} −{}", counts.added, counts.removed));
    }
    if !call.summary.is_empty() {
        line.push_str(&format!("  {}", clean(&call.summary)));
    }
    if let Some(reason) = &call.reason {
        line.push_str(&format!("\n  {}", clean(reason)));
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_argument_of_a_call_is_shortened() {
        let verb = crate::protocol::Verb { short: "run".into(), doing: "".into(), done: "".into(), one: "".into() };
        let mut call = Call::new("runCommand", verb, CallState::Refused);
        call.main = format!("\"echo {}\"", "x".repeat(70_000));
        let line = call_line(&call, false);
        assert!(line.starts_with("⊘ runCommand \"echo xxx") && line.chars().count() < 300, "{}", line.len());
    }

    #[test]
    fn a_cause_is_reported_once() {
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
