//! Names of Go: a package is the files of a folder, an import the folder below a `go.mod`.

use std::rc::Rc;

use tree_sitter::Node;

use super::super::super::file::SourceFile;
use super::super::super::lang::{NodeKind, SourceLanguage};
use super::super::binding::{innermost, leaves};
use super::super::meaning::{Meaning, Names, defined};
use super::super::role::{around, is_field};
use super::super::target::{CodeTarget, folder, joined};

/// Returns the type of a method's receiver, if it is what stands there.
pub(super) fn own_type(names: &dyn Names, file: &SourceFile, of: Node<'_>) -> Option<String> {
    let method = around(of, &["method_declaration"])?;
    let receiver = method.child_by_field_name("receiver")?.named_child(0)?;
    let name = receiver.child_by_field_name("name")?;
    let own = of.kind() == "identifier" && file.text[of.byte_range()] == file.text[name.byte_range()];
    // A variable of that name inside is not the receiver.
    let name = &file.text[name.byte_range()];
    let all = names.bindings(file, name);
    let bound = innermost(all.iter(), of.start_byte(), 0)
        .into_iter()
        .find(|bound| bound.scope == method.byte_range() && own)?;
    let node = file.nodes.iter().find(|node| bound.scope.contains(&node.name_at.start))?;
    node.dotted.rsplit_once('.').map(|(container, _)| container.to_owned())
}

/// Returns what a name means that the file does not define: what another file of the package does.
pub(super) fn unbound(names: &dyn Names, file: &Rc<SourceFile>, name: &str) -> Meaning {
    let package = package(file);
    let found =
        in_folder(names, folder(&file.path), name, |other| other.path != file.path && self::package(other) == package);
    match found {
        Meaning::Elsewhere if imports(file).iter().any(|(alias, ..)| alias.as_deref() == Some(".")) => Meaning::Unknown,
        found => found,
    }
}

/// Returns whether a field of some struct has no name of its own but that of this definition: `struct { Cart }`.
pub(in super::super) fn is_embedded(names: &dyn Names, target: &CodeTarget) -> bool {
    let name = &target.node().name;
    let types = [NodeKind::Struct, NodeKind::Interface, NodeKind::Type];
    let paths = names.tree().paths().iter().filter(|path| SourceLanguage::of_path(path) == Some(SourceLanguage::Go));
    let mut files = paths.filter(|path| names.tree().text_with(path, &[name]).is_some());
    let is_field_of = |leaf: Node<'_>| {
        let inner =
            std::iter::successors(Some(leaf), Node::parent).take_while(|node| node.kind() != "field_declaration");
        let outer = inner.take(3).last().filter(|inner| is_field(*inner, "type"));
        outer
            .and_then(|outer| outer.parent())
            .is_some_and(|field| field.kind() == "field_declaration" && field.child_by_field_name("name").is_none())
    };
    types.contains(&target.node().kind)
        && files.any(|path| {
            let file = names.tree().source(path);
            file.is_some_and(|file| leaves(&file, name).any(is_field_of))
        })
}

/// Returns whether the keys in the braces of this type are values; false: they are fields. None: it cannot be told.
pub(super) fn has_values_for_keys(names: &dyn Names, file: &Rc<SourceFile>, of: Node<'_>) -> Option<bool> {
    match of.kind() {
        "map_type" | "slice_type" | "array_type" | "implicit_length_array_type" => return Some(true),
        "struct_type" => return Some(false),
        _ => {}
    }
    let meaning = match of.kind() {
        "type_identifier" => names.name(file, &file.text[of.byte_range()], of.start_byte(), 0),
        "generic_type" => return has_values_for_keys(names, file, of.child_by_field_name("type")?),
        "qualified_type" => {
            let name = &file.text[of.child_by_field_name("name")?.byte_range()];
            member(names, file, of.child_by_field_name("package")?, name)
        }
        _ => return None,
    };
    let Meaning::Node { file, at, .. } = meaning else { return None };
    let name = &file.nodes[at].name_at;
    let spec = file.syntax().root.descendant_for_byte_range(name.start, name.end)?.parent()?;
    match spec.child_by_field_name("type")?.kind() {
        "struct_type" => Some(false),
        "map_type" | "slice_type" | "array_type" => Some(true),
        _ => None,
    }
}

/// Returns what `of.name` means: what a package holds.
pub(super) fn member(names: &dyn Names, file: &Rc<SourceFile>, of: Node<'_>, name: &str) -> Meaning {
    let own = &file.text[of.byte_range()];
    let free = || innermost(names.bindings(file, own).iter(), of.start_byte(), 0).is_empty();
    if !["identifier", "package_identifier"].contains(&of.kind()) || !free() {
        return Meaning::Elsewhere;
    }
    for (alias, path, _) in imports(file) {
        let Some((package, is_certain)) = names.packages().of_go(names.tree(), &file.path, &path) else { continue };
        let called = match &alias {
            Some(alias) => alias == own,
            None => sources(names, &package).iter().any(|file| self::package(file) == own),
        };
        if called {
            return match in_folder(names, &package, name, |_| true) {
                Meaning::Node { file, at, .. } if is_certain => Meaning::Node { file, at, scoped: false },
                Meaning::Node { .. } => Meaning::Unknown,
                other => other,
            };
        }
    }
    Meaning::Elsewhere
}

/// Returns the definition of a name in a folder, if there is one alone.
fn in_folder(names: &dyn Names, of: &str, name: &str, belongs: impl Fn(&SourceFile) -> bool) -> Meaning {
    let files = sources(names, of);
    let mut found = files.iter().filter(|file| belongs(file)).filter_map(|file| defined(file, "", name));
    match (found.next(), found.next()) {
        (Some(Meaning::Node { file, at, .. }), None) => Meaning::Node { file, at, scoped: true },
        (None, _) => Meaning::Elsewhere,
        _ => Meaning::Unknown,
    }
}

/// Returns the files of a package.
fn sources(names: &dyn Names, of: &str) -> Vec<Rc<SourceFile>> {
    let below = joined(of, "");
    let paths = names.tree().paths().range(below.clone()..).take_while(|path| path.starts_with(&below));
    let own = paths.filter(|path| folder(path) == of && path.ends_with(".go"));
    own.filter_map(|path| names.tree().source(path)).collect()
}

/// Returns the name of a file's package.
fn package(file: &SourceFile) -> &str {
    let root = file.syntax().root;
    let mut cursor = root.walk();
    let clause = root.named_children(&mut cursor).find(|child| child.kind() == "package_clause");
    clause.and_then(|clause| clause.named_child(0)).map_or("", |name| &file.text[name.byte_range()])
}

/// Returns the imports of a file: the name each is given, its path, and where that stands.
pub(in super::super) fn imports(file: &SourceFile) -> Vec<(Option<String>, String, usize)> {
    let (root, text) = (file.syntax().root, &file.text);
    let mut found = Vec::new();
    let mut cursor = root.walk();
    for declaration in root.named_children(&mut cursor).filter(|child| child.kind() == "import_declaration") {
        let mut inner = declaration.walk();
        let mut specs: Vec<Node<'_>> = Vec::new();
        for child in declaration.named_children(&mut inner) {
            match child.kind() {
                "import_spec" => specs.push(child),
                _ => {
                    let mut listed = child.walk();
                    specs.extend(child.named_children(&mut listed).filter(|spec| spec.kind() == "import_spec"));
                }
            }
        }
        for spec in specs {
            let name = spec.child_by_field_name("name").map(|name| text[name.byte_range()].to_owned());
            let Some(path) = spec.child_by_field_name("path") else { continue };
            let own = text[path.byte_range()].trim_matches(['"', '`']).to_owned();
            found.push((name, own, path.start_byte()));
        }
    }
    found
}
