//! Names of Python: modules by their files, `import` and `from`.

use std::ops::Range;
use std::rc::Rc;

use tree_sitter::Node;

use super::super::super::file::SourceFile;
use super::super::super::lang::NodeKind;
use super::super::binding::{Binding, innermost};
use super::super::meaning::{HOPS, Meaning, Module, Names, of_module};
use super::super::role::{Import, around};
use super::super::roles::{body_of_class, first_iterables, global_in};
use super::super::target::{folder, holders, joined};

/// Returns the member of a class, by its body, that has a name.
pub(super) fn of_body(file: &SourceFile, name: &str, body: &Range<usize>) -> Option<usize> {
    let body = file.syntax().root.descendant_for_byte_range(body.start, body.end)?;
    let class = around(body, &["class_definition"])?;
    let own = class.child_by_field_name("name")?.byte_range();
    let holder = file.nodes.iter().find(|node| node.name_at == own)?;
    let dotted = format!("{}.{name}", holder.dotted);
    file.nodes.iter().position(|node| node.dotted == dotted)
}

/// Returns what a name means where it stands. In the body of a class that binds it, it means that or what it means
/// around the class, by what was run before.
pub(super) fn lexical(
    names: &dyn Names,
    file: &Rc<SourceFile>,
    (name, leaf): (&str, Option<Node<'_>>),
    all: &[Binding],
    hops: usize,
) -> Meaning {
    let Some(leaf) = leaf else { return Meaning::Unknown };
    let (at, outside) = (leaf.start_byte(), first_iterables(leaf));
    let body = body_of_class(leaf, file.syntax());
    let is_of_body = |binding: &&Binding| binding.in_class && Some(&binding.scope) == body.as_ref();
    // A function that says so passes over the variables of those around it.
    let global = global_in(leaf, &file.text).map_or(0..0, |function| function.byte_range());
    let is_passed =
        |scope: &Range<usize>| scope.end < usize::MAX && scope.start < global.start && global.end <= scope.end;
    let around_class = all
        .iter()
        .filter(|binding| !binding.in_class && !outside.contains(&binding.scope) && !is_passed(&binding.scope));
    let bound = |found: Vec<&Binding>| Meaning::one_of(found.iter().map(|one| names.bound(file, &one.bound, hops)));
    let outer = match innermost(around_class, at, 0) {
        found if found.is_empty() => unbound(names, file, name, hops + 1),
        found => bound(found),
    };
    let member = body.as_ref().and_then(|body| of_body(file, name, body));
    let inner = match (member, all.iter().filter(is_of_body).collect::<Vec<_>>()) {
        (Some(at), _) => Meaning::Node { file: file.clone(), at, scoped: false },
        (None, found) if found.is_empty() => return outer,
        (None, found) => bound(found),
    };
    if matches!(outer, Meaning::Elsewhere) { inner } else { Meaning::Unknown }
}

pub(super) fn own_type(file: &SourceFile, of: Node<'_>) -> Option<String> {
    if of.kind() != "identifier" || !["self", "cls"].contains(&&file.text[of.byte_range()]) {
        return None;
    }
    let method = holders(file, of.start_byte()).find(|node| node.kind == NodeKind::Method)?;
    method.dotted.rsplit_once('.').map(|(container, _)| container.to_owned())
}

/// Returns what an import leads to.
pub(super) fn import(names: &dyn Names, file: &Rc<SourceFile>, import: &Import, hops: usize) -> Meaning {
    let module = module(names, file, &import.module);
    match (&import.name, module) {
        (_, meaning @ (Meaning::Elsewhere | Meaning::Unknown)) => meaning,
        (None, module) => module,
        (Some(name), Meaning::Module(module)) => below(names, &module, name, hops),
        _ => Meaning::Unknown,
    }
}

/// Returns what a name means in a module.
pub(super) fn below(names: &dyn Names, module: &Module, name: &str, hops: usize) -> Meaning {
    if hops >= HOPS {
        return Meaning::Unknown;
    }
    let own = match module {
        Module::Folder(own) => own.as_str(),
        Module::File(file, _) => {
            let found = of_module(names, file, ("", 0), name, hops);
            if !found.is_empty() {
                return Meaning::one_of(found);
            }
            if let found @ (Meaning::Node { .. } | Meaning::OneOf(_)) = unbound(names, file, name, hops + 1) {
                return found;
            }
            file.path.strip_suffix("/__init__.py").unwrap_or("")
        }
    };
    at(names, own, name).map_or(Meaning::Unknown, Meaning::Module)
}

/// Returns what a name means that no scope binds: one that `from … import *` brings.
pub(super) fn unbound(names: &dyn Names, file: &Rc<SourceFile>, name: &str, hops: usize) -> Meaning {
    let globs = names.globs(file);
    if !globs.is_empty() && !names.enter(file, 0, name) {
        return Meaning::Unknown;
    }
    let (mut found, mut doubt) = (Vec::new(), Meaning::Elsewhere);
    for glob in globs.iter() {
        match names.import(file, glob, hops + 1) {
            Meaning::Module(module) => match below(names, &module, name, hops + 1) {
                one @ (Meaning::Node { .. } | Meaning::OneOf(_)) => found.push(one),
                _ => continue,
            },
            Meaning::Elsewhere => {}
            _ => doubt = Meaning::Unknown,
        }
    }
    if found.is_empty() { doubt } else { Meaning::one_of(found) }
}

/// Returns what `of.name` means: what a module holds.
pub(super) fn member(names: &dyn Names, file: &Rc<SourceFile>, of: Node<'_>, name: &str) -> Meaning {
    let text = &file.text[of.byte_range()];
    let mut segments = text.split('.').map(str::trim);
    let head = segments.next().unwrap_or_default();
    if of.kind() != "identifier" && of.kind() != "attribute"
        || head.contains(|c: char| !c.is_alphanumeric() && c != '_')
    {
        return Meaning::Elsewhere;
    }
    let mut meaning = names.name(file, head, of.start_byte(), 0);
    for segment in segments.chain([name]) {
        meaning = match meaning {
            Meaning::Module(module) => below(names, &module, segment, 1),
            Meaning::Unknown | Meaning::OneOf(_) => Meaning::Unknown,
            _ => return Meaning::Elsewhere,
        };
    }
    meaning
}

/// Returns the module of a dotted name, as a file writes it.
pub(super) fn module(names: &dyn Names, file: &SourceFile, dotted: &str) -> Meaning {
    let rest = dotted.trim_start_matches('.');
    let (dots, path) = (dotted.len() - rest.len(), rest.trim().replace('.', "/"));
    let own = folder(&file.path);
    let above = std::iter::successors(Some(own), |above| (!above.is_empty()).then(|| folder(above)));
    let found = match dots {
        0 => above.chain(["", "src"]).find_map(|base| at(names, base, &path)),
        dots => above.skip(dots - 1).take(1).find_map(|base| at(names, base, &path)),
    };
    let ends = [format!("/{path}.py"), format!("/{path}/__init__.py")];
    match found {
        Some(module) => Meaning::Module(module),
        // It may be found by settings that are not read here.
        None if names.tree().paths().iter().any(|path| ends.iter().any(|end| path.ends_with(end))) => Meaning::Unknown,
        None => Meaning::Elsewhere,
    }
}

/// Returns the module at a path.
fn at(names: &dyn Names, base: &str, path: &str) -> Option<Module> {
    let whole = if path.is_empty() { base.to_owned() } else { joined(base, path) };
    let files = [format!("{whole}.py"), format!("{whole}.pyi"), joined(&whole, "__init__.py")];
    let there = files.iter().filter(|path| names.tree().paths().contains(*path));
    if let Some(file) = there.into_iter().find_map(|path| names.tree().source(path)) {
        return Some(Module::File(file, String::new()));
    }
    let below = format!("{whole}/");
    let is_folder = names.tree().paths().range(below.clone()..).next().is_some_and(|path| path.starts_with(&below));
    is_folder.then_some(Module::Folder(whole))
}
