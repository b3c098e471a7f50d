//! The reasons why a language server gave no edit.

use std::fmt;

/// A reason why a language server gave no edit. Each is said with the server's name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LspFault {
    /// It cannot be started.
    NotStarted(String),
    /// It ended before it answered; the last that it said on standard error.
    Ended(String),
    /// It sent what is no message of the protocol.
    Garbage(String),
    /// It took too long: for what, and the seconds it had.
    Late(&'static str, u64),
    /// It does not offer what is asked.
    Unable,
    /// It refused, in its own words.
    Refused(String),
    /// It says that there is nothing to rename.
    Nothing,
    /// Its edit cannot be applied.
    Edit(String),
}

impl fmt::Display for LspFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LspFault::NotStarted(why) => write!(f, "cannot be started: {why}"),
            LspFault::Ended(said) if said.is_empty() => write!(f, "ended before it answered"),
            LspFault::Ended(said) => write!(f, "ended before it answered: {said}"),
            LspFault::Garbage(why) => write!(f, "sent what is no message of the protocol: {why}"),
            LspFault::Late(what, seconds) => write!(f, "did not {what} within {seconds} s"),
            LspFault::Unable => write!(f, "does not offer to rename"),
            LspFault::Refused(said) => write!(f, "refused: {said}"),
            LspFault::Nothing => write!(f, "finds nothing to rename there"),
            LspFault::Edit(why) => write!(f, "gave an edit that cannot be applied: {why}"),
        }
    }
}

impl std::error::Error for LspFault {}

/// Returns what a server said as one line of bounded length.
pub(super) fn one_line(said: &str) -> String {
    const MOST: usize = 300;
    let line = said.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}
