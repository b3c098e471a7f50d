//! What the commands print: call lines, questions at the terminal.

use std::io::{self, BufRead, IsTerminal, Write};

use crate::protocol::{Call, CallState};

const RED: &str = "\x1b[31m";
const GREEN: &str = "\x1b[32m";
const RESET: &str = "\x1b[0m";

/// A finished call in one line, and its reason if it has one.
pub fn call_line(call: &Call, colour: bool) -> String {
    let (glyph, code) = match call.state {
        CallState::Done => ("✓", GREEN),
        CallState::Refused => ("⊘", RED),
        CallState::Interrupted => ("◌", ""),
        _ => ("✗", RED),
    };
    let glyph = if colour && !code.is_empty() { format!("{code}{glyph}{RESET}") } else { glyph.to_string() };
    let mut line = format!("{glyph} {} {}", call.name, call.main);
    if let Some(counts) = call.counts {
        line.push_str(&format!("  +{} −{}", counts.added, counts.removed));
    }
    if !call.summary.is_empty() {
        line.push_str(&format!("  {}", call.summary));
    }
    if let Some(reason) = &call.reason {
        line.push_str(&format!("\n  {reason}"));
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

/// Whether standard output takes colours.
pub fn colour() -> bool {
    io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none()
}
