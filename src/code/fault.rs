//! The reasons why a definition is not read, found or changed.

/// The fewest digits of a hash that name it.
pub const DIGITS: usize = 12;

/// The reason why nothing was done. Each says what to do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CodeFault {
    /// It cannot be meant.
    #[error("{0}")]
    Usage(String),
    /// The file is none that definitions are read from.
    #[error("{path} {why}")]
    Unreadable {
        /// The file.
        path: String,
        /// The reason.
        why: String,
    },
    /// No definition is called so.
    #[error("nothing is called {selector}{}", meant(near))]
    NotFound {
        /// The words it was asked for by.
        selector: String,
        /// The nearest ids.
        near: Vec<String>,
    },
    /// The files that it asks for are there, and none has a definition.
    #[error("{0}")]
    NoDefinitions(String),
    /// There are no files that definitions are read from: in these folders, if some are named, else in the workspace.
    #[error("no source files of Rust, Python, TypeScript or Go are {}", place(.0))]
    NoFiles(Vec<String>),
    /// Several definitions are called so, and one is to be changed.
    #[error("{selector} is not one definition but {}: name one of {}", candidates.len(), few(candidates))]
    Ambiguous {
        /// The words it was asked for by.
        selector: String,
        /// The ids of all.
        candidates: Vec<String>,
    },
    /// The definition is not the one that was looked at.
    #[error("{id} has changed since it was viewed: it is {} now, not {expected}; view it again", short(hash))]
    Stale {
        /// The definition.
        id: String,
        /// Its hash now.
        hash: String,
        /// The hash that was expected.
        expected: String,
    },
    /// The file would hold more syntax errors than before.
    #[error("{path} would not parse any more: line {line} of it has a syntax error that is not there now")]
    Syntax {
        /// The file.
        path: String,
        /// The line of the first error, from 1, in the text as it would be.
        line: usize,
    },
    /// The text is not one definition of the same kind.
    #[error("the text for {id} must be one {kind} and nothing else, but it is {found}")]
    NotOne {
        /// The definition.
        id: String,
        /// Its kind.
        kind: &'static str,
        /// The contents of the text.
        found: String,
    },
    /// Something beside the definition would change its meaning or be lost.
    #[error("{id} cannot be changed alone: {other} would no longer be what it is")]
    Others {
        /// The definition.
        id: String,
        /// The id of the other.
        other: String,
    },
}

impl CodeFault {
    /// Returns the word for the kind of fault.
    pub fn kind(&self) -> &'static str {
        match self {
            CodeFault::Usage(_) => "usage",
            CodeFault::Unreadable { .. } => "unreadable",
            CodeFault::NotFound { .. } | CodeFault::NoDefinitions(_) | CodeFault::NoFiles(_) => "not-found",
            CodeFault::Ambiguous { .. } => "ambiguous",
            CodeFault::Stale { .. } => "stale",
            CodeFault::Syntax { .. } => "syntax",
            CodeFault::NotOne { .. } => "not-one",
            CodeFault::Others { .. } => "others",
        }
    }
}

/// The most ids that a sentence names.
const NAMED: usize = 8;

/// Returns as much of a hash as names it.
pub fn short(hash: &str) -> &str {
    hash.get(.."h:".len() + DIGITS).unwrap_or(hash)
}

fn few(ids: &[String]) -> String {
    let more = ids.len().saturating_sub(NAMED);
    let named = ids.iter().take(NAMED).cloned().collect::<Vec<_>>().join(", ");
    if more > 0 { format!("{named} and {more} more") } else { named }
}

fn place(folders: &[String]) -> String {
    if folders.is_empty() { "here".to_owned() } else { format!("in {}", few(folders)) }
}

fn meant(near: &[String]) -> String {
    match near {
        [] => String::new(),
        near => format!("; did you mean {}?", few(near)),
    }
}
