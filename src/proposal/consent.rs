//! The consent to a change, with its author.
//!
//! A [`Consent`] is made only where the person, the policy or a flag is asked; it is never read back from a disk. What
//! an archive or memory keeps of it is its text.

use std::fmt;

/// The author of a decision. Every accepted change names one, and its changeset stores it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Consent {
    /// The person, asked about this change: on the screen or at a prompt.
    Person,
    /// The approval policy of this name, as the configuration or the session sets it: `edits`, `review`, `all`;
    /// `session` where the person accepted the rest of a session's edits.
    Policy(&'static str),
    /// A flag of the command line: `--yes`, `--force`, `--approve edits`.
    Flag(&'static str),
    /// A rule for commands.
    Rule,
}

impl Consent {
    const RULE: &'static str = "rule";

    /// Returns whether a consent, by its text, is one that nobody gave to this change: a rule let it happen, or a
    /// policy that lets changes happen which are looked at afterwards.
    pub fn is_unasked(text: &str) -> bool {
        let policies = ["policy ", "flag --approve "];
        let policy = policies.iter().find_map(|by| text.strip_prefix(by));
        text == Self::RULE || policy.is_some_and(|policy| ["review", "all"].contains(&policy))
    }
}

impl fmt::Display for Consent {
    /// Writes `person`, `policy edits`, `flag --yes`, `rule`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Consent::Person => f.write_str("person"),
            Consent::Policy(which) => write!(f, "policy {which}"),
            Consent::Flag(which) => write!(f, "flag {which}"),
            Consent::Rule => f.write_str(Self::RULE),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nobody_agreed_to_beforehand_is_distinguished_from_the_rest() {
        for policy in ["review", "all"] {
            assert!(Consent::is_unasked(&Consent::Policy(policy).to_string()), "{policy}");
        }
        for flag in ["--approve review", "--approve all"] {
            assert!(Consent::is_unasked(&Consent::Flag(flag).to_string()), "{flag}");
        }
        assert!(Consent::is_unasked(&Consent::Rule.to_string()));
        let consents = [Consent::Person, Consent::Policy("edits"), Consent::Policy("session"), Consent::Flag("--yes")];
        assert!(consents.iter().all(|consent| !Consent::is_unasked(&consent.to_string())));
    }
}
