//! Definitions of Rust that something outside the files finds by their names.

use tree_sitter::Node;

use super::super::lang::{NodeKind, SourceLanguage};
use super::meaning::{Meaning, Names};
use super::names::Lookup;
use super::role::around;
use super::target::{CodeTarget, SourceTree};

impl CodeTarget {
    /// Returns whether programs in other languages are linked to it by its name: it is declared in `extern "C" { … }`.
    pub fn is_linked(&self) -> bool {
        let around = self.around(&["foreign_mod_item", "block"]);
        self.node().kind != NodeKind::Type && around.is_some_and(|around| around.kind() == "foreign_mod_item")
    }

    /// Returns the trait of Rust that it is a part of, in an `impl` for a type, if that is defined in none of the files.
    pub fn foreign_trait(&self, tree: &dyn SourceTree) -> Option<&str> {
        let around = self.around(&["impl_item", "block", "trait_item", "mod_item"])?;
        let named = around.child_by_field_name("trait").filter(|_| around.kind() == "impl_item")?;
        let lookup = Lookup::new(tree);
        lookup.begin();
        match lookup.type_of(&self.file, named) {
            Some(Meaning::Node { .. }) => None,
            _ => Some(&self.file.text[named.byte_range()]),
        }
    }

    /// Returns the innermost syntax node of these kinds around its name.
    fn around(&self, kinds: &[&str]) -> Option<Node<'_>> {
        let name = &self.node().name_at;
        let name = self.file.syntax().root.descendant_for_byte_range(name.start, name.end)?;
        around(name, kinds).filter(|_| self.file.language == SourceLanguage::Rust)
    }
}
