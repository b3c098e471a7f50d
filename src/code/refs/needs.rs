//! The definitions that a definition needs: those that the identifiers in it mean.

use std::collections::BTreeSet;
use std::rc::Rc;

use tree_sitter::Node;

use super::super::file::SourceFile;
use super::binding;
use super::meaning::{Meaning, Names};
use super::names::Lookup;
use super::role::Role;
use super::roles::role;
use super::target::{CodeTarget, SourceTree};

/// Returns the definitions that a definition mentions, by more than a name, each once, in the order of its text; not those
/// in it or around it.
pub fn needs(target: &CodeTarget, tree: &dyn SourceTree) -> Vec<CodeTarget> {
    let (file, own) = (&target.file, &target.node().range);
    let lookup = Lookup::new(tree);
    let is_word = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
    let names: BTreeSet<&str> = file.text[own.clone()].split(|c| !is_word(c)).filter(|name| !name.is_empty()).collect();
    let mut found: Vec<(usize, CodeTarget)> = Vec::new();
    for name in names {
        for leaf in binding::leaves(file, name).apart() {
            let at = leaf.start_byte();
            if !own.contains(&at) {
                continue;
            }
            lookup.begin();
            let Some((other, node)) = meant(&lookup, file, leaf, name) else { continue };
            let range = &other.nodes[node].range;
            let beside = other.path != file.path || range.end <= own.start || own.end <= range.start;
            let known = found.iter().any(|(_, need)| need.file.path == other.path && need.at == node);
            if beside && !known {
                found.push((at, CodeTarget { file: other, at: node }));
            }
        }
    }
    found.sort_by_key(|(at, _)| *at);
    found.into_iter().map(|(_, need)| need).collect()
}

/// Returns the definition that an identifier means; none: something else, or it cannot be told.
fn meant(lookup: &Lookup<'_>, file: &Rc<SourceFile>, leaf: Node<'_>, name: &str) -> Option<(Rc<SourceFile>, usize)> {
    let meaning = match role(leaf, file.syntax()) {
        Role::Plain | Role::Macro => lookup.name(file, name, leaf.start_byte(), 0),
        Role::Import(import) => lookup.import(file, &import, 0),
        Role::Member { of } => {
            let of_type = of.and_then(|of| lookup.type_of(file, of));
            match (lookup.own_type(file, of), of_type) {
                (Some(own), _) => return Some((file.clone(), member(file, &own, name)?)),
                (None, Some(Meaning::Node { file: other, at, .. })) => {
                    let found = member(&other, &other.nodes[at].dotted, name)?;
                    return Some((other, found));
                }
                _ => lookup.member(file, of, name),
            }
        }
        _ => return None,
    };
    match meaning {
        Meaning::Node { file: other, at, .. } => (!other.nodes[at].shared).then_some((other, at)),
        _ => None,
    }
}

/// Returns the member of a type, if there is one of that name.
fn member(file: &SourceFile, of: &str, name: &str) -> Option<usize> {
    let dotted = format!("{of}.{name}");
    file.nodes.iter().position(|node| node.dotted == dotted && !node.shared)
}
