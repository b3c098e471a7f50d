//! What the person is shown of a command that waits for them, and what they can say to it.

/// A command that waits, as the person is shown it. Sentences are in the person's language.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CommandCard {
    /// Its text.
    pub text: String,
    /// The name that it will have: `c7`.
    pub id: String,
    /// What the model says that it is for.
    pub why: Option<String>,
    /// `work`, `harm`, `reach`, `final`, `read`.
    pub class: &'static str,
    /// Why it has that class.
    pub class_why: String,
    /// Its parts.
    pub parts: Vec<CardPart>,
    /// Files that it would remove or overwrite and that git does not have: the path, its size, and why git has it not.
    pub not_in_git: Vec<(String, String, String)>,
    /// What its sandbox allows.
    pub grant: String,
    /// What keeps the states before.
    pub keeper: String,
    /// What could not be undone; empty: all of it could.
    pub not_kept: String,
    /// The rule that makes it ask, or that there is none.
    pub rule: String,
    /// The words of a rule that would let it run, and how many of them are proposed; empty: there can be none.
    pub prefix: (Vec<String>, usize),
    /// It may be run with the network, which its class alone does not give.
    pub may_network: bool,
    /// What can be undone may run without a question from now on.
    pub may_review: bool,
}

/// A part of a command.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CardPart {
    /// Its class.
    pub class: &'static str,
    /// Its text.
    pub text: String,
    /// What it meets on disk, or why it has its class.
    pub note: String,
}

/// What the person says to a command that waits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CommandDecision {
    /// Run it; with the network, where its class alone does not give it.
    Run {
        /// With the network.
        network: bool,
    },
    /// Do not run it, and why not; may be empty.
    Refuse(String),
    /// Run this text instead; it is looked at again.
    Edit(String),
    /// Let commands that begin with these words run from now on.
    Always {
        /// The words.
        prefix: Vec<String>,
        /// Also in later sessions.
        keep: bool,
    },
    /// Let what can be undone run for the rest of the session.
    Review,
}
