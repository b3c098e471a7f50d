//! Names of TypeScript: files by relative paths, `import` and `export … from`.

use std::rc::Rc;

use tree_sitter::Node;

use super::super::super::file::SourceFile;
use super::super::super::lang::NodeKind;
use super::super::binding::{Bound, bindings, leaves};
use super::super::meaning::{HOPS, Meaning, Module, Names, defined};
use super::super::role::{Import, Role, around};
use super::super::roles::{globs, role};
use super::super::target::{folder, holders};

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
    match (source(names, file, &import.module), &import.name) {
        (Meaning::Module(Module::File(file, _)), Some(name)) => exported(names, &file, name, hops),
        (module, _) => module,
    }
}

/// Returns what a file exports under a name.
fn exported(names: &dyn Names, file: &Rc<SourceFile>, name: &str, hops: usize) -> Meaning {
    if hops >= HOPS {
        return Meaning::Unknown;
    }
    if name == "default" {
        let mut nodes = file.nodes.iter();
        let at =
            nodes.position(|node| node.parent.is_none() && file.text[node.own.clone()].starts_with("export default"));
        return at.map_or(Meaning::Unknown, |at| Meaning::Node { file: file.clone(), at, scoped: false });
    }
    if let Some(found) = defined(file, "", name) {
        return found;
    }
    let imported = bindings(file, name).into_iter().find_map(|binding| match binding.bound {
        Bound::Import(import) => Some(import),
        _ => None,
    });
    let handed_on = || {
        leaves(file, name).into_iter().find_map(|leaf| match role(leaf, file.syntax()) {
            Role::Import(import) => Some(import),
            _ => None,
        })
    };
    if let Some(import) = imported.or_else(handed_on) {
        return names.import(file, &import, hops + 1);
    }
    for glob in globs(file.syntax()) {
        if let Meaning::Module(Module::File(other, _)) = source(names, file, &glob.module)
            && let found @ Meaning::Node { .. } = exported(names, &other, name, hops + 1)
        {
            return found;
        }
    }
    Meaning::Unknown
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
        Meaning::Unknown => Meaning::Unknown,
        _ => Meaning::Elsewhere,
    }
}

/// Returns the file that an import names.
fn source(names: &dyn Names, file: &SourceFile, module: &str) -> Meaning {
    let endings = [".ts", ".tsx", ".d.ts", ".mts", ".cts", "/index.ts", "/index.tsx", "/index.d.ts"];
    let plain = ["js", "jsx", "mjs", "cjs"].iter().find_map(|end| module.strip_suffix(&format!(".{end}")));
    let written = plain.unwrap_or(module);
    if !module.starts_with('.') {
        // Settings that are not read here may lead to a file.
        let last = written.trim_start_matches(['@', '~', '#', '/']);
        let ends: Vec<String> = endings.iter().map(|end| format!("/{last}{end}")).collect();
        let maybe = names.tree().paths().iter().any(|path| ends.iter().any(|end| format!("/{path}").ends_with(end)));
        return if maybe { Meaning::Unknown } else { Meaning::Elsewhere };
    }
    let mut path: Vec<&str> = folder(&file.path).split('/').filter(|part| !part.is_empty()).collect();
    for part in written.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(path.pop()),
            part => path.push(part),
        }
    }
    let path = path.join("/");
    let places = std::iter::once(path.clone()).chain(endings.iter().map(|end| format!("{path}{end}")));
    let mut there = places
        .map(|place| place.trim_start_matches('/').to_owned())
        .filter(|place| names.tree().paths().contains(place));
    let found = there.find_map(|place| names.tree().source(&place));
    found.map_or(Meaning::Unknown, |file| Meaning::Module(Module::File(file, String::new())))
}
