//! The places where definitions are mentioned, and how certain each is.
//!
//! A mention is an identifier of the same name. Its role in the syntax says whether it can mean the definition at all;
//! scopes, imports and modules say whether it does. Where they cannot tell it is [`Certainty::Name`]: the same name, no
//! more. Mentions that certainly mean something else are left out.

mod binding;
mod certainty;
mod meaning;
mod names;
mod role;
mod roles;
mod target;
mod uses;

#[cfg(test)]
mod tests;

use std::cell::OnceCell;
use std::ops::Range;
use std::rc::Rc;

use tree_sitter::Node;

use super::file::SourceFile;
use super::lang::{NodeKind, SourceLanguage};
use meaning::{Meaning, Module, Names};
use names::Lookup;
use role::Role;

pub use certainty::{Certainty, CodeMention};
pub use target::{CodeTarget, SourceTree};
pub use uses::{CodeUse, CodeUses, uses};

/// Finds the mentions of a definition, one file after another.
pub struct MentionFinder<'a> {
    target: &'a CodeTarget,
    lookup: Lookup<'a>,
    /// The module that the definition is.
    module: Option<Module>,
    /// True if all files know it without an import.
    is_global: bool,
    /// True if `value.name` may mean it though no scope and no import says so.
    as_member: OnceCell<bool>,
}

impl<'a> MentionFinder<'a> {
    /// Creates one that looks names up in these files.
    pub fn new(target: &'a CodeTarget, tree: &'a dyn SourceTree) -> MentionFinder<'a> {
        let lookup = Lookup::new(tree);
        let module = lookup.module(target);
        MentionFinder { target, lookup, module, is_global: names::is_global(target), as_member: OnceCell::new() }
    }

    /// Returns where a file mentions the definition, in its order.
    pub fn of(&self, file: &Rc<SourceFile>) -> Vec<CodeMention> {
        let (target, name) = (self.target, &self.target.node().name);
        if !target.file.language.is_like(file.language) {
            return Vec::new();
        }
        let leaves = binding::leaves(file, name);
        if !leaves.legible {
            let name = |leaf: &Node<'_>| CodeMention { at: leaf.byte_range(), certainty: Certainty::Name };
            return leaves.nodes.iter().map(name).collect();
        }
        // What is bound there hides a function; a constant or type of the name would be what the pattern means.
        let hidden = match target.node().kind {
            NodeKind::Fn => roles::may_bind(&leaves.nodes, file.syntax()),
            _ => Vec::new(),
        };
        let is_hidden =
            |at: usize| hidden.get(hidden.partition_point(|call| call.end <= at)).is_some_and(|call| call.start <= at);
        let mut found = Vec::new();
        for leaf in leaves.nodes {
            self.lookup.begin();
            let at = leaf.byte_range();
            let role = roles::role(leaf, file.syntax());
            let certainty = match target.is_member() {
                true => self.of_member(file, &at, &role),
                false => self.of_lexical(file, &at, &role),
            };
            let most =
                if matches!(role, Role::Plain) && is_hidden(at.start) { Certainty::Name } else { Certainty::Local };
            found.extend(certainty.map(|certainty| CodeMention { at, certainty: certainty.min(most) }));
        }
        found
    }

    /// Returns how certainly an identifier means a definition that its name alone may mean.
    fn of_lexical(&self, file: &Rc<SourceFile>, at: &Range<usize>, role: &Role<'_>) -> Option<Certainty> {
        let (target, name) = (self.target, &self.target.node().name);
        let is_macro = target.node().kind == NodeKind::Macro;
        let meaning = match role {
            Role::Other | Role::Binds(_) => return None,
            Role::Untold => return Some(Certainty::Name),
            Role::Macro => match self.lookup.name(file, name, at.start, 0) {
                _ if !is_macro => return None,
                // A macro is known in all that follows it, in other files too.
                Meaning::Elsewhere => Meaning::Unknown,
                meaning => meaning,
            },
            Role::Plain if is_macro => return None,
            Role::Plain => self.lookup.name(file, name, at.start, 0),
            // It names a field as well, which another name would change.
            Role::Shorthand => {
                let meaning = self.lookup.name(file, name, at.start, 0);
                return self.certainty(file, &meaning).map(|_| Certainty::Name);
            }
            // The keys of a map of Go are values.
            Role::Key { of: Some(of) } if ["map_type", "slice_type", "array_type"].contains(&of.kind()) => {
                self.lookup.name(file, name, at.start, 0)
            }
            Role::Key { .. } | Role::BindsKey(_) => return self.as_member().then_some(Certainty::Name),
            Role::Member { of } => match self.lookup.member(file, *of, name) {
                Meaning::Elsewhere | Meaning::Unbound if self.as_member() => Meaning::Unknown,
                meaning => meaning,
            },
            Role::Import(import) => self.lookup.import(file, import, 0),
        };
        self.certainty(file, &meaning)
    }

    /// Returns whether a member or a key may mean the definition: the module it belongs to is a value somewhere, or a type
    /// that it is lends its name to a field of others.
    fn as_member(&self) -> bool {
        *self.as_member.get_or_init(|| match self.target.file.language {
            SourceLanguage::TypeScript | SourceLanguage::Tsx => names::holds_module(&self.lookup, self.target),
            SourceLanguage::Go => names::is_embedded(&self.lookup, self.target),
            SourceLanguage::Rust | SourceLanguage::Python => false,
        })
    }

    /// Returns how certainly an identifier means a definition that belongs to a type.
    fn of_member(&self, file: &Rc<SourceFile>, at: &Range<usize>, role: &Role<'_>) -> Option<Certainty> {
        let (target, lookup) = (self.target, &self.lookup);
        let only_node = |meaning: Meaning| match meaning {
            Meaning::Node { .. } => self.certainty(file, &meaning),
            _ => None,
        };
        match role {
            Role::Other | Role::Binds(_) | Role::Macro => None,
            Role::Plain => only_node(lookup.name(file, &target.node().name, at.start, 0)),
            Role::Import(import) => only_node(lookup.import(file, import, 0)),
            Role::Key { of } => Some(in_type(target, file, of.and_then(|of| lookup.type_of(file, of)))),
            // It names a variable as well, which another name would change.
            Role::Shorthand | Role::BindsKey(_) | Role::Untold => Some(Certainty::Name),
            Role::Member { of } => match lookup.own_type(file, *of) {
                Some(own) => Some(of_own(target, file, &own)),
                None => Some(in_type(target, file, of.and_then(|of| lookup.type_of(file, of)))),
            },
        }
    }

    fn certainty(&self, file: &SourceFile, meaning: &Meaning) -> Option<Certainty> {
        let target = self.target;
        let (equal, scoped) = match meaning {
            Meaning::Node { file: other, at, scoped } => {
                (other.path == target.file.path && other.nodes[*at].dotted == target.node().dotted, *scoped)
            }
            Meaning::Module(module) => (self.module.as_ref().is_some_and(|own| own.is(module)), false),
            Meaning::Unknown => return Some(Certainty::Name),
            Meaning::Unbound => return self.is_global.then_some(Certainty::Name),
            Meaning::Variable | Meaning::Elsewhere => return None,
        };
        match () {
            () if !equal => None,
            () if target.node().shared => Some(Certainty::Name),
            () if scoped => Some(Certainty::Scoped),
            () if target.file.path == file.path => Some(Certainty::Local),
            () => Some(Certainty::Import),
        }
    }
}

/// Returns how certainly a member of the type that the code belongs to is a definition.
fn of_own(target: &CodeTarget, file: &SourceFile, own: &str) -> Certainty {
    let folder = |file: &SourceFile| target::folder(&file.path).to_owned();
    match own == target.container() && !target.node().shared {
        true if target.file.path == file.path => Certainty::Local,
        // A package of Go is a folder.
        true if file.language == SourceLanguage::Go && folder(file) == folder(&target.file) => Certainty::Scoped,
        _ => Certainty::Name,
    }
}

/// Returns how certainly the member of a type is a definition.
fn in_type(target: &CodeTarget, file: &SourceFile, of: Option<Meaning>) -> Certainty {
    match of {
        Some(Meaning::Node { file: other, at, .. })
            if other.path == target.file.path
                && other.nodes[at].dotted == target.container()
                && !target.node().shared =>
        {
            if other.path == file.path {
                Certainty::Local
            } else {
                Certainty::Import
            }
        }
        _ => Certainty::Name,
    }
}
