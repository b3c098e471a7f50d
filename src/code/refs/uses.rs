//! The definitions that a definition mentions: the way from a mention to what it means.

use std::ops::Range;
use std::rc::Rc;

use tree_sitter::Node;

use super::super::file::SourceFile;
use super::super::lang::{NodeKind, SourceLanguage};
use super::binding;
use super::certainty::Certainty;
use super::meaning::{Meaning, Names};
use super::names::Lookup;
use super::role::Role;
use super::roles;
use super::target::{CodeTarget, SourceTree, folder, is_stub};

/// A definition that another one mentions.
pub struct CodeUse {
    /// The definition.
    pub used: CodeTarget,
    /// The bytes of the first mention of it.
    pub at: Range<usize>,
    /// The certainty that this is the one that is meant.
    pub certainty: Certainty,
}

/// The definitions that a definition mentions.
pub struct CodeUses {
    /// Each once, by their first mention.
    pub found: Vec<CodeUse>,
    /// The definition holds more names than are looked at: what the last of them mention is missing.
    pub is_cut: bool,
}

/// Returns the definitions outside a definition that it mentions. Those that only a name says are left out, and modules
/// that are files.
pub fn uses(target: &CodeTarget, tree: &dyn SourceTree) -> CodeUses {
    let (file, own, lookup) = (&target.file, &target.node().range, Lookup::new(tree));
    lookup.prefer_stubs(is_stub(&file.path));
    let leaves = binding::leaves_within(file, own);
    // What is bound in the call of a macro hides a function of that name.
    let is_hidden = |leaf: Node<'_>| {
        let name = &file.text[leaf.byte_range()];
        let alike: Vec<Node<'_>> = leaves.iter().filter(|one| &file.text[one.byte_range()] == name).copied().collect();
        roles::may_bind(&alike, file.syntax()).iter().any(|call| call.contains(&leaf.start_byte()))
    };
    let mut found: Vec<CodeUse> = Vec::new();
    for leaf in leaves.iter().copied() {
        lookup.begin();
        let role = roles::role(leaf, file.syntax());
        let is_plain = matches!(role, Role::Plain | Role::Loose { .. });
        let may_be_member = matches!(role, Role::Loose { .. }) && roles::may_be_member(leaf, file);
        let Some((used, scoped)) = meant(&lookup, file, leaf, role) else { continue };
        let node = used.node();
        let inside = used.file.path == file.path && own.contains(&node.own.start);
        if inside || found.iter().any(|known| known.used.is(&used.file, node)) {
            continue;
        }
        let at = leaf.byte_range();
        let certainty = match () {
            () if node.shared => continue,
            () if may_be_member || is_plain && node.kind == NodeKind::Fn && is_hidden(leaf) => continue,
            () if scoped => Certainty::Scoped,
            () if used.file.path == file.path => Certainty::Local,
            () => Certainty::Import,
        };
        found.push(CodeUse { used, at, certainty });
    }
    CodeUses { found, is_cut: leaves.len() >= binding::MOST }
}

/// Returns the definition that an identifier means, and whether only its package says so.
fn meant(lookup: &Lookup<'_>, file: &Rc<SourceFile>, leaf: Node<'_>, role: Role<'_>) -> Option<(CodeTarget, bool)> {
    let (name, start) = (&file.text[leaf.byte_range()], leaf.start_byte());
    let meaning = match role {
        Role::Plain | Role::Shorthand { .. } | Role::Macro | Role::Loose { is_key: false } => {
            lookup.name(file, name, start, 0)
        }
        Role::Pattern(_) => lookup.in_pattern(file, name, start, 0),
        Role::Import(import) => lookup.import(file, &import, 0),
        Role::Member { of } => match member(lookup, file, of, name) {
            Some(found) => return Some(found),
            None => lookup.member(file, of, name),
        },
        Role::Key { of } => return in_type(lookup, file, of, name).map(|key| (key, false)),
        Role::Other | Role::Binds(_) | Role::BindsKey(_) | Role::Untold | Role::Loose { .. } => return None,
    };
    match meaning {
        Meaning::Node { file, at, scoped } => Some((CodeTarget { file, at }, scoped)),
        _ => None,
    }
}

/// Returns the member of a type that `of.name` means, and whether only its package says so.
fn member(lookup: &Lookup<'_>, file: &Rc<SourceFile>, of: Option<Node<'_>>, name: &str) -> Option<(CodeTarget, bool)> {
    let Some(own) = lookup.own_type(file, of) else { return in_type(lookup, file, of, name).map(|it| (it, false)) };
    if let Some(found) = below(file, &own, name) {
        return Some((found, false));
    }
    // A package of Go is a folder.
    let tree = lookup.tree();
    let beside = |path: &&String| {
        folder(path) == folder(&file.path) && SourceLanguage::of_path(path) == Some(SourceLanguage::Go)
    };
    let mut others = tree.paths().iter().filter(beside).filter_map(|path| tree.source(path));
    match file.language {
        SourceLanguage::Go => others.find_map(|other| below(&other, &own, name)).map(|found| (found, true)),
        _ => None,
    }
}

/// Returns the member of the type that stands before a member, or before the brace of a literal.
fn in_type(lookup: &Lookup<'_>, file: &Rc<SourceFile>, of: Option<Node<'_>>, name: &str) -> Option<CodeTarget> {
    match lookup.type_of(file, of?)? {
        Meaning::Node { file, at, .. } if !file.nodes[at].shared => below(&file, &file.nodes[at].dotted, name),
        _ => None,
    }
}

fn below(file: &Rc<SourceFile>, container: &str, name: &str) -> Option<CodeTarget> {
    let is = |dotted: &str| dotted.strip_prefix(container).and_then(|rest| rest.strip_prefix('.')) == Some(name);
    let at = file.nodes.iter().position(|node| is(&node.dotted))?;
    Some(CodeTarget { file: file.clone(), at })
}
