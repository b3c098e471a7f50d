//! The languages: their grammars, and which of their syntax nodes are definitions.

mod go;
mod kind;
mod language;
mod layout;
mod node;
mod parts;
mod python;
mod reserved;
mod rust;
mod tokens;
mod typescript;
mod walk;

pub use kind::NodeKind;
pub use language::SourceLanguage;
pub(super) use layout::misplaced;
pub use node::CodeNode;
pub use reserved::{is_found_by_name, is_reserved};
pub(super) use tokens::{Syntax, code_between, multiline_strings};
pub(super) use walk::definitions;
