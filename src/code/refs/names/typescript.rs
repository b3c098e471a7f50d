//! Names of TypeScript: files by relative paths, `import` and `export … from`.

use std::rc::Rc;

use tree_sitter::Node;

use super::super::super::file::SourceFile;
use super::super::super::lang::{NodeKind, SourceLanguage};
use super::super::binding::{Bound, leaves};
use super::super::meaning::{HOPS, Meaning, Module, Names, defined};
use super::super::packages::plain;
use super::super::role::{Import, Role, above, around, is_field};
use super::super::roles::role;
use super::super::target::{CodeTarget, folder, holders, joined};

pub(super) fn own_type(file: &SourceFile, of: Node<'_>) -> Option<String> {
    let owners = [
        "function_declaration",
        "function_expression",
        "generator_function",
        "generator_function_declaration",
        "method_definition",
        "public_field_definition",
        "class_static_block",
    ];
    let owner = around(of, &owners).filter(|_| of.kind() == "this")?;
    let is_member = ["method_definition", "public_field_definition"].contains(&owner.kind());
    let member =
        holders(file, of.start_byte()).find(|node| [NodeKind::Method, NodeKind::Field].contains(&node.kind))?;
    let container = member.dotted.rsplit_once('.').map(|(container, _)| container.to_owned());
    container.filter(|_| is_member)
}

/// Returns what an import leads to.
pub(super) fn import(names: &dyn Names, file: &Rc<SourceFile>, import: &Import, hops: usize) -> Meaning {
    match (source(names, &file.path, &import.module), &import.name) {
        (Meaning::Module(Module::File(file, _)), Some(name)) => exported(names, &file, name, hops),
        (module, _) => module,
    }
}

/// Returns whether what a name is bound to is of the kind that is asked for where it stands: a type is no variable.
pub(super) fn may_mean(file: &SourceFile, leaf: Option<Node<'_>>, bound: &Bound) -> bool {
    let kind = match leaf.map_or("", |leaf| leaf.kind()) {
        "shorthand_property_identifier" | "shorthand_property_identifier_pattern" => "identifier",
        kind => kind,
    };
    match bound {
        Bound::Variable => kind != "type_identifier",
        Bound::TypeVariable => kind != "identifier",
        Bound::Node(at) => {
            let is_value = [NodeKind::Fn, NodeKind::Const, NodeKind::Var].contains(&file.nodes[*at].kind);
            let is_type = [NodeKind::Interface, NodeKind::Type].contains(&file.nodes[*at].kind);
            // An export takes both.
            let exports = leaf.is_some_and(|leaf| ["export_specifier", "export_statement"].contains(&above(leaf, 1)));
            match kind {
                "type_identifier" => !is_value,
                "identifier" => !is_type || exports,
                _ => true,
            }
        }
        _ => true,
    }
}

/// Returns what a file exports as `default`.
pub(super) fn default_export(names: &dyn Names, file: &Rc<SourceFile>, hops: usize) -> Meaning {
    let (root, mut cursor) = (file.syntax().root, file.syntax().root.walk());
    for statement in root.named_children(&mut cursor).filter(|child| child.kind() == "export_statement") {
        let mut inner = statement.walk();
        let named = |leaf: Node<'_>| names.name(file, &file.text[leaf.byte_range()], leaf.start_byte(), hops + 1);
        if statement.children(&mut inner).any(|child| child.kind() == "default") {
            let declared = statement.child_by_field_name("declaration").and_then(|own| own.child_by_field_name("name"));
            let at = declared.and_then(|own| file.nodes.iter().position(|node| node.name_at == own.byte_range()));
            let value = statement.child_by_field_name("value").filter(|value| value.kind() == "identifier");
            return match (at, value) {
                (Some(at), _) => Meaning::Node { file: file.clone(), at, scoped: false },
                (None, Some(value)) => named(value),
                (None, None) => Meaning::Unknown,
            };
        }
        for specifier in specifiers(statement) {
            let Some(name) = specifier.child_by_field_name("name") else { continue };
            if is_called(file, specifier.child_by_field_name("alias").unwrap_or(name), "default") {
                return handed_on(names, file, name, hops);
            }
        }
    }
    Meaning::Unknown
}

/// Returns whether a name in the braces of an export is this one, in quotes or not.
fn is_called(file: &SourceFile, leaf: Node<'_>, name: &str) -> bool {
    file.text[leaf.byte_range()].trim_matches(['"', '\'']) == name
}

/// Returns what an identifier in the braces of an export means.
fn handed_on(names: &dyn Names, file: &Rc<SourceFile>, leaf: Node<'_>, hops: usize) -> Meaning {
    match role(leaf, file.syntax()) {
        Role::Import(import) => names.import(file, &import, hops + 1),
        _ => names.name(file, &file.text[leaf.byte_range()], leaf.start_byte(), hops + 1),
    }
}

/// Returns the identifier to which an export of a file gives this other name: `export { total as sum }`.
fn renamed<'t>(file: &'t SourceFile, name: &str) -> Option<Node<'t>> {
    let (root, mut cursor) = (file.syntax().root, file.syntax().root.walk());
    let exports = root.named_children(&mut cursor).filter(|child| child.kind() == "export_statement");
    let is_it = |one: &Node<'_>| one.child_by_field_name("alias").is_some_and(|alias| is_called(file, alias, name));
    let found = exports.flat_map(specifiers).find(is_it)?;
    found.child_by_field_name("name")
}

/// Returns the names in the braces of an import or an export.
fn specifiers(statement: Node<'_>) -> Vec<Node<'_>> {
    let (mut found, mut open) = (Vec::new(), vec![statement]);
    while let Some(next) = open.pop() {
        let mut cursor = next.walk();
        for child in next.named_children(&mut cursor) {
            match child.kind() {
                "import_specifier" | "export_specifier" => found.push(child),
                "import_clause" | "named_imports" | "export_clause" => open.push(child),
                _ => {}
            }
        }
    }
    found
}

/// Returns the identifiers of a file that stand for what another exports as `default`, where it is imported or handed on.
pub(in super::super) fn default_imports(file: &SourceFile) -> Vec<Node<'_>> {
    let (root, mut cursor) = (file.syntax().root, file.syntax().root.walk());
    let mut found = Vec::new();
    for statement in root.named_children(&mut cursor) {
        if !["import_statement", "export_statement"].contains(&statement.kind()) {
            continue;
        }
        let mut inner = statement.walk();
        for clause in statement.named_children(&mut inner).filter(|child| child.kind() == "import_clause") {
            let mut parts = clause.walk();
            found.extend(clause.named_children(&mut parts).filter(|part| part.kind() == "identifier"));
        }
        let names = specifiers(statement).into_iter().filter_map(|one| one.child_by_field_name("name"));
        found.extend(names.filter(|name| &file.text[name.byte_range()] == "default"));
    }
    found
}

/// Returns whether settings that are not read here may make an import lead to a file.
pub(in super::super) fn may_lead_to(names: &dyn Names, import: &Import, path: &str) -> bool {
    let (module, packages) = (&import.module, names.packages());
    let last = without_ending(module).rsplit('/').next().unwrap_or_default();
    let named = || path.split(['/', '.']).any(|part| part == last);
    alike(names, module).any(|one| one == path)
        || packages
            .of_npm(names.tree(), module)
            .iter()
            .any(|(package, _)| path.starts_with(&joined(&package.folder, "")))
        || packages.is_alias(names.tree(), module) && named()
}

/// Returns what a file exports under a name.
fn exported(names: &dyn Names, file: &Rc<SourceFile>, name: &str, hops: usize) -> Meaning {
    if hops >= HOPS {
        return Meaning::Unknown;
    }
    if name == "default" {
        return default_export(names, file, hops);
    }
    if let Some(leaf) = renamed(file, name) {
        return handed_on(names, file, leaf, hops);
    }
    if let Some(found) = defined(file, "", name) {
        return found;
    }
    let imported = names.bindings(file, name).iter().find_map(|binding| match &binding.bound {
        Bound::Import(import) => Some(import.clone()),
        _ => None,
    });
    let passed_on = || {
        leaves(file, name).apart().into_iter().find_map(|leaf| match role(leaf, file.syntax()) {
            Role::Import(import) => Some(import),
            _ => None,
        })
    };
    if let Some(import) = imported.or_else(passed_on) {
        return names.import(file, &import, hops + 1);
    }
    let globs = names.globs(file);
    let unseen = globs.is_empty() || names.enter(file, 0, name);
    let found = globs.iter().filter(|_| unseen).filter_map(|glob| match source(names, &file.path, &glob.module) {
        Meaning::Module(Module::File(other, _)) => Some(exported(names, &other, name, hops + 1)),
        _ => None,
    });
    let found: Vec<Meaning> = found.filter(|one| matches!(one, Meaning::Node { .. } | Meaning::OneOf(_))).collect();
    if found.is_empty() { Meaning::Unknown } else { Meaning::one_of(found) }
}

/// Returns what `of.name` means: what a module or namespace holds.
pub(super) fn member(names: &dyn Names, file: &Rc<SourceFile>, of: Node<'_>, name: &str) -> Meaning {
    if of.kind() != "identifier" {
        return Meaning::Elsewhere;
    }
    match names.name(file, &file.text[of.byte_range()], of.start_byte(), 0) {
        Meaning::Module(Module::File(other, _)) => exported(names, &other, name, 1),
        Meaning::Node { file: other, at, .. } if other.nodes[at].kind == NodeKind::Mod => {
            defined(&other, &other.nodes[at].dotted, name).unwrap_or(Meaning::Elsewhere)
        }
        other @ (Meaning::Unknown | Meaning::Unbound) => other,
        Meaning::OneOf(_) => Meaning::Unknown,
        _ => Meaning::Elsewhere,
    }
}

/// Returns whether a definition is known in all files without being imported: in one that imports and exports nothing,
/// or in a `declare global`.
pub(in super::super) fn is_global(target: &CodeTarget) -> bool {
    if !target.file.language.is_like(SourceLanguage::TypeScript) {
        return false;
    }
    let (root, mut cursor) = (target.file.syntax().root, target.file.syntax().root.walk());
    let is_module =
        root.named_children(&mut cursor).any(|child| ["import_statement", "export_statement"].contains(&child.kind()));
    let name = &target.node().name_at;
    let name = root.descendant_for_byte_range(name.start, name.end);
    let declared = name.and_then(|name| around(name, &["ambient_declaration"])).is_some_and(|declaration| {
        let mut cursor = declaration.walk();
        declaration.children(&mut cursor).any(|child| child.kind() == "global")
    });
    !is_module || declared
}

/// Returns whether some file holds a module that hands this definition on, as a value: what `import('./a')` gives, or
/// `* as a` beside `a.name`.
pub(in super::super) fn holds_module(names: &dyn Names, target: &CodeTarget) -> bool {
    let hands_on = |from: &str, module: &str| {
        let files = match source(names, from, module) {
            Meaning::Module(Module::File(file, _)) => vec![file],
            _ => alike(names, module).filter_map(|path| names.tree().source(path)).collect(),
        };
        files.iter().any(|file| {
            names.begin();
            let found = exported(names, file, &target.node().name, 0);
            matches!(found, Meaning::Node { file, at, .. } if target.is(&file, &file.nodes[at]))
        })
    };
    let like = |path: &&String| SourceLanguage::of_path(path).is_some_and(|own| own.is_like(target.file.language));
    names.tree().paths().iter().filter(like).any(|path| {
        let Some(text) = names.tree().text(path) else { return false };
        if called(&text).any(|module| hands_on(path, module)) {
            return true;
        }
        let file = if text.contains("* as ") { names.tree().source(path) } else { None };
        file.is_some_and(|file| spaces(&file).iter().any(|module| hands_on(path, module)))
    })
}

/// Returns the modules that a text hands to a function by their name: `import('./a')`, `require('./a')`, `mock('./a')`.
fn called(text: &str) -> impl Iterator<Item = &str> {
    let is_quote = |c: char| ['"', '\'', '`'].contains(&c);
    text.match_indices('(').filter_map(move |(at, _)| {
        let inner = text[at + 1..].trim_start();
        let quote = inner.chars().next().filter(|c| is_quote(*c))?;
        let module = inner[1..].split(quote).next().filter(|module| !module.contains(['\n', '$']))?;
        let loads = ["import", "require"].iter().any(|word| text[..at].trim_end().ends_with(word));
        (loads || module.starts_with('.')).then_some(module)
    })
}

/// Returns the modules whose names a file holds together, but not only to take one out: `* as a`.
fn spaces(file: &SourceFile) -> Vec<String> {
    let mut found = Vec::new();
    for (at, _) in file.text.match_indices("* as ") {
        let Some(space) = file.syntax().root.descendant_for_byte_range(at, at + 1).and_then(|star| star.parent())
        else {
            continue;
        };
        if !["namespace_import", "namespace_export"].contains(&space.kind()) {
            continue;
        }
        let name = space.named_child(0).map_or("", |name| &file.text[name.byte_range()]);
        let is_held = |leaf: Node<'_>| match role(leaf, file.syntax()) {
            Role::Plain => {
                !["member_expression", "nested_identifier", "nested_type_identifier"].contains(&above(leaf, 1))
            }
            Role::Import(_) => is_field(leaf, "alias") && above(leaf, 1) == "export_specifier",
            Role::Shorthand { .. } => true,
            _ => false,
        };
        let held = space.kind() == "namespace_export" || leaves(file, name).any(is_held);
        let source = around(space, &["import_statement", "export_statement"])
            .filter(|_| held)
            .and_then(|statement| statement.child_by_field_name("source"));
        found.extend(source.map(|own| file.text[own.byte_range()].trim_matches(['"', '\'', '`']).to_owned()));
    }
    found
}

/// The endings of the files that an import may mean.
const ENDINGS: [&str; 8] = [".ts", ".tsx", ".d.ts", ".mts", ".cts", "/index.ts", "/index.tsx", "/index.d.ts"];

/// Returns a module's name without the ending of the program that is made of it.
fn without_ending(module: &str) -> &str {
    let plain = [".js", ".jsx", ".mjs", ".cjs"].iter().find_map(|end| module.strip_suffix(end));
    plain.unwrap_or(module)
}

/// Returns the files that settings which are not read here may make of a module's name; a relative one needs none.
fn alike<'n>(names: &'n dyn Names, module: &str) -> impl Iterator<Item = &'n String> {
    let last = without_ending(module).trim_start_matches(['@', '~', '#', '/']);
    let ends = ENDINGS.map(|end| format!("{last}{end}"));
    let is =
        |path: &str, end: &str| path.strip_suffix(end).is_some_and(|above| above.is_empty() || above.ends_with('/'));
    let relative = module.starts_with('.');
    names.tree().paths().iter().filter(move |path| !relative && ends.iter().any(|end| is(path, end)))
}

/// Returns the file that an import names.
fn source(names: &dyn Names, from: &str, module: &str) -> Meaning {
    if !module.starts_with('.') {
        let packages = names.packages().of_npm(names.tree(), module);
        // Of two that are called the same, either may be meant.
        let entries: &[String] = match packages.as_slice() {
            [(package, true)] => &package.entries,
            _ => &[],
        };
        let entry = entries.iter().find_map(|entry| at(names, without_ending(entry), false));
        let is_known = || {
            !packages.is_empty()
                || alike(names, module).next().is_some()
                || names.packages().is_alias(names.tree(), module)
        };
        return match entry {
            Some(file) => Meaning::Module(Module::File(file, String::new())),
            None if is_known() => Meaning::Unknown,
            None => Meaning::Elsewhere,
        };
    }
    let path = plain(&joined(folder(from), without_ending(module)));
    // `./a/` and `..` are folders, though a file may be called so too.
    let is_folder = module.ends_with('/') || module.rsplit('/').next().is_some_and(|last| [".", ".."].contains(&last));
    at(names, &path, is_folder).map_or(Meaning::Unknown, |file| Meaning::Module(Module::File(file, String::new())))
}

/// Returns the file of a path that may lack its ending.
fn at(names: &dyn Names, path: &str, is_folder: bool) -> Option<Rc<SourceFile>> {
    let endings = ENDINGS.iter().filter(|end| !is_folder || end.starts_with('/')).map(|end| format!("{path}{end}"));
    let places = std::iter::once(path.to_owned()).filter(|_| !is_folder).chain(endings);
    let mut there = places
        .map(|place| place.trim_start_matches('/').to_owned())
        .filter(|place| names.tree().paths().contains(place));
    there.find_map(|place| names.tree().source(&place))
}
