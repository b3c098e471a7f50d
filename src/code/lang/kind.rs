//! The kinds of definitions.

/// The kind of a definition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum NodeKind {
    /// A function.
    Fn,
    /// A function that belongs to a type.
    Method,
    /// A class.
    Class,
    /// A structure; a union too.
    Struct,
    /// An enumeration.
    Enum,
    /// A trait.
    Trait,
    /// An interface.
    Interface,
    /// Another name for a type, or a type made of another.
    Type,
    /// A constant; a static of Rust too.
    Const,
    /// A variable of a module.
    Var,
    /// A module or namespace within a file.
    Mod,
    /// A macro.
    Macro,
    /// A field of a structure or class, or a variant of an enumeration.
    Field,
}

/// Each with its word.
const WORDS: [(NodeKind, &str); 13] = [
    (NodeKind::Fn, "fn"),
    (NodeKind::Method, "method"),
    (NodeKind::Class, "class"),
    (NodeKind::Struct, "struct"),
    (NodeKind::Enum, "enum"),
    (NodeKind::Trait, "trait"),
    (NodeKind::Interface, "interface"),
    (NodeKind::Type, "type"),
    (NodeKind::Const, "const"),
    (NodeKind::Var, "var"),
    (NodeKind::Mod, "mod"),
    (NodeKind::Macro, "macro"),
    (NodeKind::Field, "field"),
];

impl NodeKind {
    /// Returns its word.
    pub fn word(self) -> &'static str {
        WORDS.iter().find(|(kind, _)| *kind == self).map_or("", |(_, word)| word)
    }

    /// Returns the kind of a word.
    pub fn named(word: &str) -> Option<NodeKind> {
        WORDS.iter().find(|(_, own)| *own == word).map(|(kind, _)| *kind)
    }
}
