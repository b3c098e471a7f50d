//! The definition whose mentions are looked for, and the files they are looked for in.

use std::collections::BTreeSet;
use std::rc::Rc;

use super::super::file::SourceFile;
use super::super::lang::{CodeNode, NodeKind, SourceLanguage};

/// The files around a text, by their paths.
pub trait SourceTree {
    /// Returns the paths of all source files.
    fn paths(&self) -> &BTreeSet<String>;

    /// Returns a source file; none: there is none, or it cannot be read.
    fn source(&self, path: &str) -> Option<Rc<SourceFile>>;

    /// Returns the text of any file, such as one that names a package.
    fn text(&self, path: &str) -> Option<String>;

    /// Returns the text of a file that holds one of some words; none: it holds none of them, or cannot be read.
    fn text_with(&self, path: &str, words: &[&str]) -> Option<String> {
        self.text(path).filter(|text| words.iter().any(|word| text.contains(word)))
    }
}

/// A definition in its file.
#[derive(Clone)]
pub struct CodeTarget {
    /// The file.
    pub file: Rc<SourceFile>,
    /// The place of the definition in its list.
    pub at: usize,
}

impl CodeTarget {
    /// Returns the definition.
    pub fn node(&self) -> &CodeNode {
        &self.file.nodes[self.at]
    }

    /// Returns whether it is this definition of a file.
    pub fn is(&self, file: &SourceFile, node: &CodeNode) -> bool {
        self.file.path == file.path && self.node().name_at == node.name_at
    }

    /// Returns whether the definition belongs to a type, so that its name alone does not mean it.
    pub fn is_member(&self) -> bool {
        is_member(&self.file, self.at)
    }

    /// Returns whether files are found by its name, which another name would have to be given too: a module of Rust whose
    /// text, or that of a module in it, is a file of its own.
    pub fn names_files(&self) -> bool {
        let node = self.node();
        let within = |other: &CodeNode| node.own.start <= other.own.start && other.own.end <= node.own.end;
        let is_file = |other: &CodeNode| other.kind == NodeKind::Mod && other.body.is_none();
        self.file.language == SourceLanguage::Rust
            && node.kind == NodeKind::Mod
            && self.file.nodes.iter().any(|other| within(other) && is_file(other))
    }

    /// Returns the namespace or the declared module of TypeScript that holds it.
    pub(super) fn namespace(&self) -> Option<&CodeNode> {
        let holder = &self.file.nodes[self.node().parent?];
        let is_script = self.file.language.is_like(SourceLanguage::TypeScript);
        (is_script && holder.kind == NodeKind::Mod).then_some(holder)
    }

    /// Returns whether a byte of a file is in the body of the enumeration of TypeScript that it is a member of: there it
    /// is known by its name alone.
    pub(super) fn is_of_enum(&self, file: &SourceFile, at: usize) -> bool {
        let holder = self.node().parent.map(|parent| &self.file.nodes[parent]);
        let holder = holder.filter(|holder| holder.kind == NodeKind::Enum);
        self.file.language.is_like(SourceLanguage::TypeScript)
            && holder
                .is_some_and(|own| holders(file, at).any(|other| other.dotted == own.dotted && other.kind == own.kind))
    }

    /// Returns the dotted name of the type it belongs to.
    pub(super) fn container(&self) -> &str {
        self.node().dotted.rsplit_once('.').map_or("", |(container, _)| container)
    }
}

/// Returns whether a definition belongs to a type.
pub(super) fn is_member(file: &SourceFile, at: usize) -> bool {
    let node = &file.nodes[at];
    let holder = node.parent.map(|parent| &file.nodes[parent]);
    let of_type = [NodeKind::Class, NodeKind::Struct, NodeKind::Enum, NodeKind::Trait, NodeKind::Interface];
    match node.kind {
        NodeKind::Method | NodeKind::Field => true,
        _ if holder.is_some_and(|holder| of_type.contains(&holder.kind)) => true,
        // An `impl` of Rust is no definition, but it names its members.
        _ => {
            file.language == SourceLanguage::Rust && {
                let outer = holder.map_or(0, |holder| holder.dotted.len() + 1);
                node.dotted.len() > outer + node.name.len()
            }
        }
    }
}

/// Returns the definitions that hold a byte, the innermost first.
pub(super) fn holders(file: &SourceFile, at: usize) -> impl Iterator<Item = &CodeNode> {
    file.nodes.iter().rev().filter(move |node| node.own.contains(&at))
}

/// Returns whether a path is that of a stub of Python: the types of a module alone.
pub(super) fn is_stub(path: &str) -> bool {
    path.ends_with(".pyi")
}

/// Returns whether two paths are those of a stub of Python and of the source of the same module.
pub fn is_counterpart(path: &str, other: &str) -> bool {
    path.strip_suffix('i').filter(|_| is_stub(path)) == Some(other)
        || other.strip_suffix('i').filter(|_| is_stub(other)) == Some(path)
}

/// Returns the folder of a path.
pub(super) fn folder(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// Returns a path of a folder.
pub(super) fn joined(folder: &str, name: &str) -> String {
    if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") }
}
