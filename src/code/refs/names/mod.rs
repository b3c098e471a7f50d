//! Looks names up: through the scopes of a file, through imports, through modules.

mod go;
mod python;
mod rust;
mod typescript;
mod values;

use std::cell::{Cell, RefCell};
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use tree_sitter::Node;

use super::super::file::SourceFile;
use super::super::lang::{NodeKind, SourceLanguage};
use super::binding::{Binding, Bound, bindings, innermost};
use super::meaning::{HOPS, Meaning, Module, Names};
use super::packages::Packages;
use super::role::Import;
use super::roles::{self, globs};
use super::target::{CodeTarget, SourceTree};

pub(super) use go::{imports as go_imports, is_embedded};
pub(super) use python::below_path;
pub(super) use rust::is_variant;
pub(super) use typescript::{default_imports, holds_module, is_global, may_lead_to};
pub(super) use values::is_held;

/// The files in which names are looked up.
pub(super) struct Lookup<'a> {
    tree: &'a dyn SourceTree,
    /// By path and name.
    bindings: RefCell<HashMap<(String, String), Rc<Vec<Binding>>>>,
    /// By path.
    globs: RefCell<HashMap<String, Rc<Vec<Import>>>>,
    /// The globs behind which the present mention was looked for: by path, scope and name.
    entered: RefCell<HashSet<(String, usize, String)>>,
    /// True while stubs of Python are found before their sources.
    stubs: Cell<bool>,
    packages: Packages,
}

impl Names for Lookup<'_> {
    fn tree(&self) -> &dyn SourceTree {
        self.tree
    }

    fn bindings(&self, file: &SourceFile, name: &str) -> Rc<Vec<Binding>> {
        let mut known = self.bindings.borrow_mut();
        known.entry((file.path.clone(), name.to_owned())).or_insert_with(|| Rc::new(bindings(file, name))).clone()
    }

    fn globs(&self, file: &SourceFile) -> Rc<Vec<Import>> {
        let mut known = self.globs.borrow_mut();
        known.entry(file.path.clone()).or_insert_with(|| Rc::new(globs(file.syntax()))).clone()
    }

    fn packages(&self) -> &Packages {
        &self.packages
    }

    fn begin(&self) {
        self.entered.borrow_mut().clear();
    }

    fn prefers_stubs(&self) -> bool {
        self.stubs.get()
    }

    fn enter(&self, file: &SourceFile, start: usize, name: &str) -> bool {
        self.entered.borrow_mut().insert((file.path.clone(), start, name.to_owned()))
    }

    fn name(&self, file: &Rc<SourceFile>, name: &str, at: usize, hops: usize) -> Meaning {
        self.lexical(file, name, at, hops, true)
    }

    fn bound(&self, file: &Rc<SourceFile>, bound: &Bound, hops: usize) -> Meaning {
        match bound {
            Bound::Untold => Meaning::Unknown,
            Bound::Variable | Bound::TypeVariable | Bound::Pattern => Meaning::Variable,
            Bound::Node(at) => Meaning::Node { file: file.clone(), at: *at, scoped: false },
            Bound::Import(import) => self.import(file, import, hops + 1),
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
        let (bindings, globs, entered) = (RefCell::default(), RefCell::default(), RefCell::default());
        Lookup { tree, bindings, globs, entered, stubs: Cell::default(), packages: Packages::default() }
    }

    /// Finds stubs of Python before their sources from now on, or after them. Returns what was before.
    pub fn prefer_stubs(&self, stubs: bool) -> bool {
        self.stubs.replace(stubs)
    }

    /// Returns what a name means at a byte; `patterns`: or else the variable that a pattern of Rust makes of it.
    fn lexical(&self, file: &Rc<SourceFile>, name: &str, at: usize, hops: usize, patterns: bool) -> Meaning {
        let all = self.bindings(file, name);
        if hops >= HOPS || matches!(all.as_slice(), [Binding { bound: Bound::Untold, .. }]) {
            return Meaning::Unknown;
        }
        let leaf = file.syntax().root.descendant_for_byte_range(at, at + name.len());
        if file.language == SourceLanguage::Python {
            return python::lexical(self, file, (name, leaf), &all, hops);
        }
        let barrier = if file.language == SourceLanguage::Rust { rust::module_at(file, at).1 } else { 0 };
        let may_mean = |binding: &&Binding| match (file.language, &binding.bound) {
            (_, Bound::Pattern) if !patterns => false,
            (SourceLanguage::Rust, bound) => rust::may_mean(file, leaf, bound),
            (SourceLanguage::Go | SourceLanguage::Python, _) => true,
            (SourceLanguage::TypeScript | SourceLanguage::Tsx, bound) => typescript::may_mean(file, leaf, bound),
        };
        let bound = innermost(all.iter().filter(may_mean), at, barrier);
        let mut found: Vec<Meaning> = { bound.iter() }
            .map(|binding| match &binding.bound {
                Bound::Pattern => self.in_pattern(file, name, at, hops),
                bound => self.bound(file, bound, hops),
            })
            .collect();
        match file.language {
            SourceLanguage::Rust => {
                // Where a condition does not hold, `*` may bring another.
                if bound.iter().all(|one| rust::is_conditional(file, &one.bound)) {
                    let brought = rust::unbound(self, file, name, at, hops + 1);
                    let is_told = !matches!(brought, Meaning::Elsewhere | Meaning::Unknown);
                    found.extend(Some(brought).filter(|_| is_told || bound.is_empty()));
                }
                rust::one_of(self, file, leaf, found)
            }
            SourceLanguage::Go if found.is_empty() => go::unbound(self, file, name),
            _ if found.is_empty() => Meaning::Unbound,
            _ => Meaning::one_of(found),
        }
    }

    /// Returns what a name means that stands alone in a pattern of Rust.
    pub fn in_pattern(&self, file: &Rc<SourceFile>, name: &str, at: usize, hops: usize) -> Meaning {
        rust::in_pattern(name, self.lexical(file, name, at, hops, false))
    }

    /// Returns whether a name in the body of a class may mean this member of it.
    pub fn is_of_body(&self, file: &SourceFile, leaf: Node<'_>, target: &CodeTarget) -> bool {
        let is_own = |at: usize| target.is(file, &file.nodes[at]);
        file.language == SourceLanguage::Python
            && roles::body_of_class(leaf, file.syntax())
                .is_some_and(|body| python::of_body(file, &target.node().name, &body).is_some_and(is_own))
    }

    /// Returns what a literal of Go is of, by the type before its braces: true: what is numbered or named by values,
    /// false: a structure; none: it cannot be told.
    pub fn has_values_for_keys(&self, file: &Rc<SourceFile>, of: Option<Node<'_>>) -> Option<bool> {
        go::has_values_for_keys(self, file, of?)
    }

    /// Returns whether a definition of TypeScript is what its file exports as `default`.
    pub fn is_default(&self, target: &CodeTarget) -> bool {
        let is_script = target.file.language.is_like(SourceLanguage::TypeScript);
        self.begin();
        is_script
            && matches!(typescript::default_export(self, &target.file, 0),
                Meaning::Node { file, at, .. } if target.is(&file, &file.nodes[at]))
    }

    /// Returns the module that a definition is, if it is one.
    pub fn module(&self, target: &CodeTarget) -> Option<Module> {
        let node = Meaning::Node { file: target.file.clone(), at: target.at, scoped: false };
        match rust::as_module(self, node) {
            Meaning::Module(module) if target.file.language == SourceLanguage::Rust => Some(module),
            _ => None,
        }
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
            SourceLanguage::Go => go::own_type(self, file, of?),
        }
    }
}
