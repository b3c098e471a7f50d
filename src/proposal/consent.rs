//! Who agreed to a change.
//!
//! A [`Consent`] is made only where the person, the policy or a flag is asked; it is never read back from a disk. What
//! an archive or memory keeps of it is its text.

use std::fmt;

/// The author of a decision. Every accepted change names one, and its changeset stores it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Consent {
    /// The person, asked about this change: on the screen or at a prompt.
    Person,
    /// The approval policy of this name, as the configuration or the session sets it: `edits`, `all`, `session`.
    Policy(&'static str),
    /// A flag of the command line: `--yes`, `--force`, `--approve edits`.
    Flag(&'static str),
}

impl fmt::Display for Consent {
    /// Writes `person`, `policy edits`, `flag --yes`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Consent::Person => f.write_str("person"),
            Consent::Policy(which) => write!(f, "policy {which}"),
            Consent::Flag(which) => write!(f, "flag {which}"),
        }
    }
}
