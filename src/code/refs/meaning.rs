//! The meanings of a name, and the trait that looks them up.

use std::rc::Rc;

use super::super::file::SourceFile;
use super::binding::{Binding, Bound};
use super::packages::Packages;
use super::role::Import;
use super::target::{SourceTree, is_member};

/// Imports that lead to imports are followed so often.
pub(super) const HOPS: usize = 8;

/// The meaning of a name.
#[derive(Clone)]
pub(super) enum Meaning {
    /// A variable.
    Variable,
    /// A definition; `scoped`: the only one of its name in the package.
    Node { file: Rc<SourceFile>, at: usize, scoped: bool },
    /// A module.
    Module(Module),
    /// Something that is not in these files.
    Elsewhere,
    /// Nothing that the file binds or imports, in a language whose files may share such names.
    Unbound,
    /// One of these, by what was run before or by what the program is built for.
    OneOf(Vec<Meaning>),
    /// It cannot be told.
    Unknown,
}

impl Meaning {
    /// Returns the one of some meanings, or what says that it is one of several.
    pub fn one_of(all: impl IntoIterator<Item = Meaning>) -> Meaning {
        let mut found: Vec<Meaning> = Vec::new();
        for meaning in all.into_iter().flat_map(Meaning::each) {
            if !found.iter().any(|known| known.is(&meaning)) {
                found.push(meaning);
            }
        }
        if found.len() == 1 { found.remove(0) } else { Meaning::OneOf(found) }
    }

    /// Returns what it may be.
    pub fn each(self) -> Vec<Meaning> {
        match self {
            Meaning::OneOf(all) => all,
            one => vec![one],
        }
    }

    /// Returns the modules that it may be.
    pub fn modules(self) -> Vec<Module> {
        match self {
            Meaning::Module(module) => vec![module],
            Meaning::OneOf(all) => all.into_iter().flat_map(Meaning::modules).collect(),
            _ => Vec::new(),
        }
    }

    fn is(&self, other: &Meaning) -> bool {
        match (self, other) {
            (Meaning::Node { file, at, .. }, Meaning::Node { file: other, at: other_at, .. }) => {
                file.path == other.path && file.nodes[*at].dotted == other.nodes[*other_at].dotted
            }
            (Meaning::Module(module), Meaning::Module(other)) => module.is(other),
            (Meaning::OneOf(_), _) | (_, Meaning::OneOf(_)) => false,
            _ => std::mem::discriminant(self) == std::mem::discriminant(other),
        }
    }
}

/// A module of some language.
#[derive(Clone)]
pub(super) enum Module {
    /// A file, and the inline modules in it, joined by dots.
    File(Rc<SourceFile>, String),
    /// A package of Python without a file of its own, by its folder.
    Folder(String),
}

impl Module {
    /// Returns whether it is the same module as another.
    pub fn is(&self, other: &Module) -> bool {
        match (self, other) {
            (Module::File(file, within), Module::File(other, other_within)) => {
                file.path == other.path && within == other_within
            }
            (Module::Folder(own), Module::Folder(other)) => own == other,
            _ => false,
        }
    }
}

/// Looks names up.
pub(super) trait Names {
    /// Returns the files.
    fn tree(&self) -> &dyn SourceTree;

    /// Returns what a name is bound to in a file.
    fn bindings(&self, file: &SourceFile, name: &str) -> Rc<Vec<Binding>>;

    /// Returns the imports of all names of a module that a file has.
    fn globs(&self, file: &SourceFile) -> Rc<Vec<Import>>;

    /// Begins with another mention.
    fn begin(&self);

    /// Returns whether the stub of a module of Python, `a.pyi`, is found before its source.
    fn prefers_stubs(&self) -> bool;

    /// Notes that a name is looked for behind the globs of a file's scope that begins here. False: it was already, for
    /// this mention.
    fn enter(&self, file: &SourceFile, start: usize, name: &str) -> bool;

    /// Returns what a name means at a byte of a file.
    fn name(&self, file: &Rc<SourceFile>, name: &str, at: usize, hops: usize) -> Meaning;

    /// Returns what a name means that is bound so.
    fn bound(&self, file: &Rc<SourceFile>, bound: &Bound, hops: usize) -> Meaning;

    /// Returns what an import of a file leads to.
    fn import(&self, file: &Rc<SourceFile>, import: &Import, hops: usize) -> Meaning;

    /// Returns the packages of the files.
    fn packages(&self) -> &Packages;
}

/// Returns all that a name means which a module defines or imports in the scope that begins here.
pub(super) fn of_module(
    names: &dyn Names,
    file: &Rc<SourceFile>,
    (within, start): (&str, usize),
    name: &str,
    hops: usize,
) -> Vec<Meaning> {
    let own = defined(file, within, name);
    let bindings = names.bindings(file, name);
    let imported = bindings.iter().filter_map(|binding| match &binding.bound {
        Bound::Import(import) if binding.scope.start == start => Some(names.import(file, import, hops + 1)),
        _ => None,
    });
    own.into_iter().chain(imported).collect()
}

/// Returns the definition of a name in a file's own scope, or in a module of it.
pub(super) fn defined(file: &Rc<SourceFile>, within: &str, name: &str) -> Option<Meaning> {
    let dotted = if within.is_empty() { name.to_owned() } else { format!("{within}.{name}") };
    let found = file.nodes.iter().enumerate().find(|(at, node)| node.dotted == dotted && !is_member(file, *at));
    found.map(|(at, _)| Meaning::Node { file: file.clone(), at, scoped: false })
}
