//! The card that the person is shown of a command that waits for them, and their answers to it.

use std::collections::BTreeSet;

/// The class of a command, as the agent judged it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum CommandClass {
    /// It only reads.
    #[default]
    Read,
    /// It works in the workspace.
    Work,
    /// It removes or overwrites something there.
    Harm,
    /// It needs more than the workspace.
    Reach,
    /// No undo brings its effects back.
    Final,
}

impl CommandClass {
    /// Returns `read`, `work`, `harm`, `reach` or `final`.
    pub fn word(self) -> &'static str {
        match self {
            CommandClass::Read => "read",
            CommandClass::Work => "work",
            CommandClass::Harm => "harm",
            CommandClass::Reach => "reach",
            CommandClass::Final => "final",
        }
    }
}

/// A command that waits, as the person is shown it. Sentences are in the person's language.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CommandCard {
    /// Its text as it is shown: what would not be seen in it is written out.
    pub text: String,
    /// The numbers of the lines of its text that are the content of a here-document, no commands.
    pub document_lines: BTreeSet<usize>,
    /// Its text as it would be run.
    pub source: String,
    /// Its purpose, in the words of the model.
    pub why: Option<String>,
    /// Its class.
    pub class: CommandClass,
    /// The reason why it has that class.
    pub class_why: String,
    /// Its parts.
    pub parts: Vec<CardPart>,
    /// Sentences about the parts of it that no policy and no rule accepts.
    pub asks: Vec<String>,
    /// Files that it would remove or overwrite and that git does not have: the path, its size, and why git has it not.
    pub not_in_git: Vec<(String, String, String)>,
    /// The limits of its sandbox.
    pub grant: String,
    /// The keeper of the states before.
    pub keeper: String,
    /// Effects that could not be undone.
    pub not_kept: String,
    /// Its keeper and what is not kept are as for any command: nobody has to read them again.
    pub has_usual_bounds: bool,
    /// The rule that makes it ask, or that there is none.
    pub rule: String,
    /// The words of a rule that would let it run, and how many of them are proposed; empty: there can be none.
    pub prefix: (Vec<String>, usize),
    /// It may be run with the network, which its class alone does not give.
    pub may_network: bool,
    /// Commands that can be undone may run without a question from now on.
    pub may_review: bool,
    /// The reason why there is no preview of it; none: there may be one.
    pub no_preview: Option<String>,
}

/// A part of a command.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CardPart {
    /// Its class.
    pub class: CommandClass,
    /// Its text.
    pub text: String,
    /// The files it meets on disk, or why it has its class.
    pub note: String,
}

/// The decision of the person about a command that waits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CommandDecision {
    /// Run it; with the network, where its class alone does not give it.
    Run {
        /// True: with the network.
        network: bool,
    },
    /// Do not run it, and why not; may be empty.
    Refuse(String),
    /// Do not run it: no person is there to decide.
    Nobody,
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
    /// Run it in a view; what it changes there is proposed.
    Preview,
}

impl CommandDecision {
    /// Returns whether the command runs, where it may write or in a view.
    pub fn runs(&self) -> bool {
        matches!(self, CommandDecision::Run { .. } | CommandDecision::Preview)
    }
}
