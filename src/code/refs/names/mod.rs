//! Looks names up: through the scopes of a file, through imports, through modules.

mod go;
mod python;
mod rust;
mod typescript;

use std::rc::Rc;

use tree_sitter::Node;

use super::super::file::SourceFile;
use super::super::lang::{NodeKind, SourceLanguage};
use super::binding::{Bound, bindings, innermost};
use super::meaning::{HOPS, Meaning, Names};
use super::role::Import;
use super::target::SourceTree;

/// The files in which names are looked up.
pub(super) struct Lookup<'a> {
    tree: &'a dyn SourceTree,
}

impl Names for Lookup<'_> {
    fn tree(&self) -> &dyn SourceTree {
        self.tree
    }

    fn name(&self, file: &Rc<SourceFile>, name: &str, at: usize, hops: usize) -> Meaning {
        if hops >= HOPS {
            return Meaning::Unknown;
        }
        let barrier = if file.language == SourceLanguage::Rust { rust::module_at(file, at).1 } else { 0 };
        if let Some(at) = python::in_class_body(file, name, at) {
            return Meaning::Node { file: file.clone(), at, scoped: false };
        }
        let mut all = bindings(file, name);
        if file.language == SourceLanguage::Rust {
            all.retain(|binding| rust::may_mean(file, name, at, &binding.bound));
        }
        match innermost(&all, at, barrier).map(|binding| &binding.bound) {
            Some(Bound::Variable) => Meaning::Variable,
            Some(Bound::Node(at)) => Meaning::Node { file: file.clone(), at: *at, scoped: false },
            Some(Bound::Import(import)) => self.import(file, import, hops + 1),
            None => match file.language {
                SourceLanguage::Rust => rust::unbound(self, file, name, at, hops + 1),
                SourceLanguage::Python => python::unbound(self, file, name, hops + 1),
                SourceLanguage::Go => go::unbound(self, file, name),
                SourceLanguage::TypeScript | SourceLanguage::Tsx => Meaning::Elsewhere,
            },
        }
    }

    fn import(&self, file: &Rc<SourceFile>, import: &Import, hops: usize) -> Meaning {
        match file.language {
            _ if hops >= HOPS => Meaning::Unknown,
            SourceLanguage::Rust => rust::import(self, file, import, hops),
            SourceLanguage::Python => python::import(self, file, import, hops),
            SourceLanguage::TypeScript | SourceLanguage::Tsx => typescript::import(self, file, import, hops),
            SourceLanguage::Go => Meaning::Elsewhere,
        }
    }
}

impl<'a> Lookup<'a> {
    pub fn new(tree: &'a dyn SourceTree) -> Lookup<'a> {
        Lookup { tree }
    }

    /// Returns what `of.name` means among what scopes and modules could mean.
    pub fn member(&self, file: &Rc<SourceFile>, of: Option<Node<'_>>, name: &str) -> Meaning {
        let Some(of) = of else { return Meaning::Elsewhere };
        match file.language {
            SourceLanguage::Rust => rust::member(self, file, of, name),
            SourceLanguage::Python => python::member(self, file, of, name),
            SourceLanguage::TypeScript | SourceLanguage::Tsx => typescript::member(self, file, of, name),
            SourceLanguage::Go => go::member(self, file, of, name),
        }
    }

    /// Returns what the type before a member or the brace of a literal means, if it is a type.
    pub fn type_of(&self, file: &Rc<SourceFile>, of: Node<'_>) -> Option<Meaning> {
        let meaning = match file.language {
            SourceLanguage::Rust => rust::path(self, file, of),
            _ if ["identifier", "type_identifier"].contains(&of.kind()) => {
                self.name(file, &file.text[of.byte_range()], of.start_byte(), 0)
            }
            _ => Meaning::Unknown,
        };
        let types =
            [NodeKind::Class, NodeKind::Struct, NodeKind::Enum, NodeKind::Trait, NodeKind::Interface, NodeKind::Type];
        let is_type = matches!(&meaning, Meaning::Node { file, at, .. } if types.contains(&file.nodes[*at].kind));
        is_type.then_some(meaning)
    }

    /// Returns the dotted name of the type whose own value `self`, `this` or a receiver is.
    pub fn own_type(&self, file: &SourceFile, of: Option<Node<'_>>) -> Option<String> {
        match file.language {
            SourceLanguage::Rust => rust::own_type(file, of?),
            SourceLanguage::Python => python::own_type(file, of?),
            SourceLanguage::TypeScript | SourceLanguage::Tsx => typescript::own_type(file, of?),
            SourceLanguage::Go => go::own_type(file, of?),
        }
    }
}
