//! The certainty that a mention means a definition.

use std::ops::Range;

/// The certainty that a mention means a definition, the least first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Certainty {
    /// It has the same name.
    Name,
    /// It is the only one of the name in the package.
    Scoped,
    /// An import leads from the mention to the definition.
    Import,
    /// The scopes of the file lead to it.
    Local,
}

/// Each with its word.
const WORDS: [(Certainty, &str); 4] = [
    (Certainty::Name, "name"),
    (Certainty::Scoped, "scoped"),
    (Certainty::Import, "import"),
    (Certainty::Local, "local"),
];

impl Certainty {
    /// All of them, the least certain first.
    pub const ALL: [Certainty; 4] = [Certainty::Name, Certainty::Scoped, Certainty::Import, Certainty::Local];

    /// Returns its word.
    pub fn word(self) -> &'static str {
        WORDS.iter().find(|(own, _)| *own == self).map_or("", |(_, word)| word)
    }

    /// Returns the certainty of a word.
    pub fn named(word: &str) -> Option<Certainty> {
        WORDS.iter().find(|(_, own)| *own == word).map(|(certainty, _)| *certainty)
    }
}

/// A mention of a definition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CodeMention {
    /// Its bytes.
    pub at: Range<usize>,
    /// Its certainty.
    pub certainty: Certainty,
    /// It stands under another name, which an import gives the definition: a rename leaves it as it is.
    pub is_alias: bool,
    /// The scopes lead to it, but to something else too, or were not followed: a removal waits for more than its name.
    pub is_possible: bool,
}
