//! The reasons why a language server gave no edit.

use std::fmt;

/// A reason why a language server gave no edit. Each is said with the server's name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LspFault {
    /// It cannot be started.
    NotStarted(String),
    /// It ended before it answered; the line of standard error that says why.
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

/// Returns the line of what a server said that tells why it ended: the first that says so, else the last.
pub(super) fn telling(said: &str) -> &str {
    let begins = |line: &&str| ["error", "Error"].iter().any(|word| line.trim_start().starts_with(word));
    let last = || said.lines().rev().find(|line| !line.trim().is_empty());
    said.lines().find(begins).or_else(last).unwrap_or_default()
}

/// Returns what a server said as one line of bounded length.
pub(super) fn one_line(said: &str) -> String {
    const MOST: usize = 300;
    let line = said.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_that_tells_an_error_is_quoted() {
        let proxy =
            "info: syncing\nerror: Unknown binary 'x' in official toolchain\nstack backtrace:\n  15: <unknown>\n\n";
        assert_eq!(telling(proxy), "error: Unknown binary 'x' in official toolchain");
        assert_eq!(telling("at a\nout of luck\n\n"), "out of luck");
        assert_eq!(telling(""), "");
    }
}
