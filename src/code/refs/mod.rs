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

#[cfg(test)]
mod tests;

use std::ops::Range;
use std::rc::Rc;

use super::file::SourceFile;
use super::lang::{NodeKind, SourceLanguage};
use meaning::{Meaning, Names};
use names::Lookup;
use role::Role;

pub use certainty::{Certainty, CodeMention};
pub use target::{CodeTarget, SourceTree};

/// Returns where a file mentions a definition, in its order.
pub fn mentions(target: &CodeTarget, file: &Rc<SourceFile>, tree: &dyn SourceTree) -> Vec<CodeMention> {
    if !target.file.language.is_like(file.language) {
        return Vec::new();
    }
    let lookup = Lookup::new(tree);
    let mut found = Vec::new();
    for leaf in binding::leaves(file, &target.node().name) {
        let at = leaf.byte_range();
        let role = roles::role(leaf, file.syntax());
        let certainty = match target.is_member() {
            true => of_member(target, file, &at, &role, &lookup),
            false => of_lexical(target, file, &at, &role, &lookup),
        };
        found.extend(certainty.map(|certainty| CodeMention { at, certainty }));
    }
    found
}

/// Returns how certainly an identifier means a definition that its name alone may mean.
fn of_lexical(
    target: &CodeTarget,
    file: &Rc<SourceFile>,
    at: &Range<usize>,
    role: &Role<'_>,
    lookup: &Lookup<'_>,
) -> Option<Certainty> {
    let name = &target.node().name;
    let is_macro = target.node().kind == NodeKind::Macro;
    let meaning = match role {
        Role::Other | Role::Binds(_) | Role::BindsKey(_) => return None,
        Role::Macro => match lookup.name(file, name, at.start, 0) {
            _ if !is_macro => return None,
            // A macro is known in all that follows it, in other files too.
            Meaning::Elsewhere => Meaning::Unknown,
            meaning => meaning,
        },
        Role::Plain if is_macro => return None,
        Role::Plain => lookup.name(file, name, at.start, 0),
        // It names a field as well, which another name would change.
        Role::Shorthand => {
            let meaning = lookup.name(file, name, at.start, 0);
            return certainty(target, file, &meaning).map(|_| Certainty::Name);
        }
        // The keys of a map of Go are values.
        Role::Key { of: Some(of) } if ["map_type", "slice_type", "array_type"].contains(&of.kind()) => {
            lookup.name(file, name, at.start, 0)
        }
        Role::Key { .. } => return None,
        Role::Member { of } => lookup.member(file, *of, name),
        Role::Import(import) => lookup.import(file, import, 0),
    };
    certainty(target, file, &meaning)
}

/// Returns how certainly an identifier means a definition that belongs to a type.
fn of_member(
    target: &CodeTarget,
    file: &Rc<SourceFile>,
    at: &Range<usize>,
    role: &Role<'_>,
    lookup: &Lookup<'_>,
) -> Option<Certainty> {
    let only_node = |meaning: Meaning| match meaning {
        Meaning::Node { .. } => certainty(target, file, &meaning),
        _ => None,
    };
    match role {
        Role::Other | Role::Binds(_) | Role::Macro => None,
        Role::Plain => only_node(lookup.name(file, &target.node().name, at.start, 0)),
        Role::Import(import) => only_node(lookup.import(file, import, 0)),
        Role::Key { of } => Some(in_type(target, file, of.and_then(|of| lookup.type_of(file, of)))),
        // It names a variable as well, which another name would change.
        Role::Shorthand | Role::BindsKey(_) => Some(Certainty::Name),
        Role::Member { of } => match lookup.own_type(file, *of) {
            Some(own) => Some(of_own(target, file, &own)),
            None => Some(in_type(target, file, of.and_then(|of| lookup.type_of(file, of)))),
        },
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

fn certainty(target: &CodeTarget, file: &SourceFile, meaning: &Meaning) -> Option<Certainty> {
    match meaning {
        Meaning::Node { file: other, at, scoped } => {
            let equal = other.path == target.file.path && other.nodes[*at].dotted == target.node().dotted;
            match () {
                () if !equal => None,
                () if target.node().shared => Some(Certainty::Name),
                () if *scoped => Some(Certainty::Scoped),
                () if other.path == file.path => Some(Certainty::Local),
                () => Some(Certainty::Import),
            }
        }
        Meaning::Unknown => Some(Certainty::Name),
        Meaning::Variable | Meaning::Module(_) | Meaning::Elsewhere => None,
    }
}
