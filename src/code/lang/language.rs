//! The languages and their grammars.

use tree_sitter::Language;

/// A language whose definitions are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SourceLanguage {
    /// Rust.
    Rust,
    /// Python.
    Python,
    /// TypeScript.
    TypeScript,
    /// TypeScript with elements of JSX.
    Tsx,
    /// Go.
    Go,
}

impl SourceLanguage {
    /// Returns the language of a file, told from the ending of its name.
    pub fn of_path(path: &str) -> Option<SourceLanguage> {
        let name = path.rsplit('/').next().unwrap_or(path);
        match name.rsplit_once('.')?.1 {
            "rs" => Some(SourceLanguage::Rust),
            "py" | "pyi" => Some(SourceLanguage::Python),
            "ts" | "mts" | "cts" => Some(SourceLanguage::TypeScript),
            "tsx" => Some(SourceLanguage::Tsx),
            "go" => Some(SourceLanguage::Go),
            _ => None,
        }
    }

    /// Returns whether texts of both may mention each other's definitions.
    pub fn is_like(self, other: SourceLanguage) -> bool {
        let family = |language| if language == SourceLanguage::Tsx { SourceLanguage::TypeScript } else { language };
        family(self) == family(other)
    }

    /// Returns its grammar.
    pub(in crate::code) fn grammar(self) -> Language {
        match self {
            SourceLanguage::Rust => tree_sitter_rust::LANGUAGE.into(),
            SourceLanguage::Python => tree_sitter_python::LANGUAGE.into(),
            SourceLanguage::TypeScript => tree_sitter_typescript::LANGUAGE_TYPESCRIPT.into(),
            SourceLanguage::Tsx => tree_sitter_typescript::LANGUAGE_TSX.into(),
            SourceLanguage::Go => tree_sitter_go::LANGUAGE.into(),
        }
    }
}
