//! Modules of Python that are held as values: `m = a`, `f(a)`, `import_module("a")`. What is called on a value may be theirs.

use std::collections::BTreeSet;
use std::rc::Rc;

use tree_sitter::Node;

use super::super::super::file::SourceFile;
use super::super::super::lang::SourceLanguage;
use super::super::binding::leaves;
use super::super::meaning::{Meaning, Module, Names};
use super::super::role::{Role, is_field};
use super::super::roles::{body_of_class, role};
use super::super::target::{CodeTarget, folder, joined};
use super::python::{PACKAGES, below, is_same, member, module};

/// Returns whether some file holds the module of a definition, or one that hands it on, as a value.
pub(in super::super) fn is_held(names: &dyn Names, target: &CodeTarget) -> bool {
    let paths = names.tree().paths().iter();
    let mut paths = paths.filter(|path| SourceLanguage::of_path(path) == Some(SourceLanguage::Python));
    let name = &target.node().name;
    // Any of these may hand it on.
    let has_it = |path: &&String| names.tree().text_with(path, &[name, "import *"]).is_some();
    let mut modules: BTreeSet<&str> = paths.clone().filter(has_it).map(|path| called_by(path)).collect();
    modules.extend(folder(&target.file.path).split('/').filter(|part| !part.is_empty()));
    let holds = |text: &str| {
        let mut words = text.split(|c: char| !c.is_alphanumeric() && c != '_');
        text.contains("import") && words.any(|word| modules.contains(word))
    };
    paths.any(|path| {
        let is_worth = names.tree().text(path).is_some_and(|text| holds(&text));
        let file = if is_worth { names.tree().source(path) } else { None };
        file.is_some_and(|file| holds_it(names, &file, target))
    })
}

/// Returns the name that imports call the module of a file by.
fn called_by(path: &str) -> &str {
    let own = PACKAGES.iter().find_map(|end| path.strip_suffix(end)?.strip_suffix('/')).unwrap_or(path);
    let last = own.rsplit('/').next().unwrap_or_default();
    last.split('.').next().unwrap_or_default()
}

/// Returns whether a file does.
fn holds_it(names: &dyn Names, file: &Rc<SourceFile>, target: &CodeTarget) -> bool {
    let words = file.text.match_indices("import").map(|(at, word)| (at, at + word.len()));
    words.into_iter().any(|(at, end)| {
        let Some(word) = file.syntax().root.descendant_for_byte_range(at, end) else { return false };
        match word.parent() {
            Some(statement) if word.kind() == "import" => {
                bound(statement).into_iter().any(|leaf| is_value(names, file, leaf, target))
            }
            _ => called(&file.text[end..]).is_some_and(|name| match module(names, file, name) {
                Meaning::Unknown => true,
                found => found.modules().iter().any(|module| hands_on(names, module, target)),
            }),
        }
    })
}

/// Returns the module that a function is given whose name ends before this text: `import_module("a")`.
fn called(rest: &str) -> Option<&str> {
    let rest = ["_module", "__", ""].iter().find_map(|end| rest.strip_prefix(end)?.strip_prefix('('))?.trim_start();
    let quote = rest.chars().next().filter(|c| ['"', '\''].contains(c))?;
    rest[1..].split(quote).next()
}

/// Returns the identifiers that an import makes known.
fn bound(statement: Node<'_>) -> Vec<Node<'_>> {
    let mut cursor = statement.walk();
    let names = statement.children_by_field_name("name", &mut cursor);
    let bound = names.filter_map(|name| match name.kind() {
        "aliased_import" => name.child_by_field_name("alias"),
        _ => name.named_child(0),
    });
    bound.collect()
}

/// Returns whether a module that is imported by a name is a value in the file.
fn is_value(names: &dyn Names, file: &Rc<SourceFile>, leaf: Node<'_>, target: &CodeTarget) -> bool {
    let Role::Import(import) = role(leaf, file.syntax()) else { return false };
    names.begin();
    let imported = names.import(file, &import, 0).modules();
    let holds = |modules: &[Module]| modules.iter().any(|module| hands_on(names, module, target));
    // In the body of a class it is a member.
    if imported.is_empty() || body_of_class(leaf, file.syntax()).is_some() {
        return holds(&imported);
    }
    leaves(file, &file.text[leaf.byte_range()]).any(|leaf| {
        matches!(role(leaf, file.syntax()), Role::Plain) && whole(names, file, leaf).is_some_and(|all| holds(&all))
    })
}

/// Returns the modules that an identifier, with the names behind it, may be as a value; none: it is only looked into.
fn whole(names: &dyn Names, file: &Rc<SourceFile>, leaf: Node<'_>) -> Option<Vec<Module>> {
    let (mut node, text) = (leaf, |node: Node<'_>| &file.text[node.byte_range()]);
    names.begin();
    let mut meaning = names.name(file, text(leaf), leaf.start_byte(), 0);
    while let Some(outer) = node.parent().filter(|outer| outer.kind() == "attribute" && is_field(node, "object")) {
        let (Meaning::Module(_) | Meaning::OneOf(_)) = meaning else { return None };
        names.begin();
        meaning = member(names, file, node, text(outer.child_by_field_name("attribute")?));
        node = outer;
    }
    Some(meaning.modules())
}

/// Returns whether a definition is found in a module, or in one below it.
fn hands_on(names: &dyn Names, module: &Module, target: &CodeTarget) -> bool {
    let folder = match module {
        Module::Folder(folder) => Some(folder.as_str()),
        Module::File(file, _) if is_same(&file.path, &target.file.path) => return true,
        Module::File(file, _) => PACKAGES.iter().find_map(|end| file.path.strip_suffix(end)?.strip_suffix('/')),
    };
    names.begin();
    folder.is_some_and(|folder| target.file.path.starts_with(&joined(folder, "")))
        || matches!(below(names, module, &target.node().name, 1),
            Meaning::Node { file, at, .. } if target.is(&file, &file.nodes[at]))
}
