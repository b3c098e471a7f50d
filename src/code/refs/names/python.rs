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
use super::super::target::{folder, holders, is_counterpart, joined};

/// The files that make a package of a folder.
pub(super) const PACKAGES: [&str; 2] = ["__init__.py", "__init__.pyi"];

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
    match &import.name {
        None => module,
        Some(name) => of_one(names, module, name, hops),
    }
}

/// Returns what a name means in the module that something means, or in one of several.
fn of_one(names: &dyn Names, meaning: Meaning, name: &str, hops: usize) -> Meaning {
    match meaning {
        Meaning::Module(module) => below(names, &module, name, hops),
        Meaning::OneOf(all) => Meaning::one_of(all.into_iter().map(|one| of_one(names, one, name, hops))),
        Meaning::Elsewhere => Meaning::Elsewhere,
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
            // Nothing lies below a file that is no package.
            if !PACKAGES.contains(&file.path.rsplit('/').next().unwrap_or_default()) {
                return Meaning::Unknown;
            }
            folder(&file.path)
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
    match of.kind() {
        "identifier" | "attribute" => below_path(names, file, (&file.text[of.byte_range()], of.start_byte()), name),
        _ => Meaning::Elsewhere,
    }
}

/// Returns what a name means behind a dotted path that stands at a byte.
pub(in super::super) fn below_path(
    names: &dyn Names,
    file: &Rc<SourceFile>,
    (path, at): (&str, usize),
    name: &str,
) -> Meaning {
    let mut segments = path.split('.').map(str::trim);
    let head = segments.next().unwrap_or_default();
    if head.contains(|c: char| !c.is_alphanumeric() && c != '_') {
        return Meaning::Elsewhere;
    }
    let mut meaning = names.name(file, head, at, 0);
    for segment in segments.chain([name]) {
        meaning = match meaning {
            Meaning::Module(_) | Meaning::Unknown | Meaning::OneOf(_) => of_one(names, meaning, segment, 1),
            _ => return Meaning::Elsewhere,
        };
    }
    meaning
}

/// Returns the module of a dotted name, as a file writes it.
pub(super) fn module(names: &dyn Names, file: &SourceFile, dotted: &str) -> Meaning {
    let rest = dotted.trim_start_matches('.');
    let (dots, path) = (dotted.len() - rest.len(), rest.trim().replace('.', "/"));
    let found = match dots {
        0 => absolute(names, file, &path),
        dots => above(file).nth(dots - 1).and_then(|base| at(names, base, &path)).map(Meaning::Module),
    };
    let ends = [".py", "/__init__.py", ".pyi", "/__init__.pyi"].map(|end| format!("/{path}{end}"));
    let is_called_so = |other: &String| {
        !is_same(other, &file.path)
            && ends.iter().any(|end| other.ends_with(end) || Some(other.as_str()) == end.strip_prefix('/'))
    };
    match found {
        Some(meaning) => meaning,
        // It may be found by settings that are not read here.
        None if names.tree().paths().iter().any(is_called_so) => Meaning::Unknown,
        None => Meaning::Elsewhere,
    }
}

/// Returns the folder of a file and all above it.
fn above(file: &SourceFile) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(folder(&file.path)), |above| (!above.is_empty()).then(|| folder(above)))
}

/// Returns what a path without dots before it leads to. A package is found from the folder above the outermost one: what
/// lies in it has its name before its own, and `import json` in it is the library's.
fn absolute(names: &dyn Names, file: &SourceFile, path: &str) -> Option<Meaning> {
    let own = folder(&file.path);
    let is_package = |base: &str| PACKAGES.iter().any(|name| names.tree().paths().contains(&joined(base, name)));
    let beside = at(names, own, path);
    // A file hardly imports itself.
    let is_itself = matches!(&beside, Some(Module::File(found, _)) if is_same(&found.path, &file.path));
    let bases = above(file).chain(["", "src"]).filter(|base| !(is_package(base) || is_itself && *base == own));
    let mut found = bases.filter_map(|base| at(names, base, path));
    match found.next() {
        // A folder alone is one only where nothing else has the name.
        Some(folder @ Module::Folder(_)) => {
            Some(Meaning::Module(found.find(|one| matches!(one, Module::File(..))).unwrap_or(folder)))
        }
        Some(module) => Some(Meaning::Module(module)),
        None if is_itself && is_package(own) => None,
        // A file that is run as a program finds what is beside it, and one that is imported does not.
        None => beside.map(|module| Meaning::OneOf(vec![Meaning::Module(module), Meaning::Elsewhere])),
    }
}

/// Returns whether two files are one module: itself, or its stub.
pub(super) fn is_same(path: &str, other: &str) -> bool {
    path == other || is_counterpart(path, other)
}

/// Returns the module at a path.
fn at(names: &dyn Names, base: &str, path: &str) -> Option<Module> {
    let whole = if path.is_empty() { base.to_owned() } else { joined(base, path) };
    let mut files =
        [format!("{whole}.py"), joined(&whole, PACKAGES[0]), format!("{whole}.pyi"), joined(&whole, PACKAGES[1])];
    if names.prefers_stubs() {
        files.rotate_left(2);
    }
    let there = files.iter().filter(|path| names.tree().paths().contains(*path));
    if let Some(file) = there.into_iter().find_map(|path| names.tree().source(path)) {
        return Some(Module::File(file, String::new()));
    }
    let below = format!("{whole}/");
    let is_folder = names.tree().paths().range(below.clone()..).next().is_some_and(|path| path.starts_with(&below));
    is_folder.then_some(Module::Folder(whole))
}
