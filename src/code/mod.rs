//! Definitions of ordinary source files in Rust, Python, TypeScript and Go: found by grammars, named by ids, replaced
//! and removed one at a time; and the places where they are mentioned.
//!
//! Bytes are handed in: nothing here reads a file, writes one or waits. What comes out of a change is the whole text of
//! the file, which becomes a proposal like any other.
//!
//! A [`SourceFile`] is one text with its definitions, the [`CodeNode`]s; a [`NodeSelector`] chooses among them. No types
//! are inferred, no macro is expanded: what is found is what the text says.

mod broken;
mod fault;
mod file;
mod lang;
mod merge;
mod nameless;
mod pairs;
mod refs;
mod select;
mod shift;
mod splice;
mod unions;
mod words;

#[cfg(test)]
mod tests;

pub use broken::broken_line;
pub use fault::{CodeFault, short};
pub use file::{LARGEST, SourceFile};
pub use lang::{CodeNode, NodeKind, SourceLanguage, is_found_by_name, is_reserved};
pub use merge::{LineMerge, has_definitions_of_both, has_twice, merge};
pub use nameless::is_respelled;
pub use pairs::{DefinitionLink, DefinitionPairs, LinkKind, earlier, is_called, later_line, name_line};
pub use refs::{
    Certainty, CodeMention, CodeTarget, CodeUse, CodeUses, MentionFinder, SourceTree, bound_in_module, import_called,
    is_counterpart, misfit, uses,
};
pub use select::NodeSelector;
pub use splice::{SplicedFile, names_field, numbers_others, remove, renamed, replace, respelled};
pub use unions::{TypeUnion, unions};
pub use words::{is_of_name, whole_places};
