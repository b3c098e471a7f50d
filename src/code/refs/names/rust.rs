//! Names of Rust: modules by their files, `use` and its globs, crates of the same tree.

use std::collections::BTreeSet;
use std::rc::Rc;

use tree_sitter::Node;

use super::super::super::file::SourceFile;
use super::super::super::lang::NodeKind;
use super::super::binding::{Binding, Bound, innermost};
use super::super::meaning::{HOPS, Meaning, Module, Names, defined, of_module};
use super::super::packages::includes;
use super::super::role::{Import, around};
use super::super::target::{folder, holders, is_member, joined};

/// Returns the inline module at a byte, by its dotted name, and where its scope begins.
pub(super) fn module_at(file: &SourceFile, at: usize) -> (String, usize) {
    let module = holders(file, at).find(|node| node.kind == NodeKind::Mod && node.body.is_some_and(|body| body <= at));
    module.map_or((String::new(), 0), |node| (node.dotted.clone(), node.body.unwrap_or(0)))
}

/// Returns whether what a name is bound to is of the kind that is asked for at a byte: what stands before a path is no
/// function or variable, and what stands alone is no module.
pub(super) fn may_mean(file: &SourceFile, leaf: Option<Node<'_>>, bound: &Bound) -> bool {
    let before_colons = leaf.and_then(|leaf| leaf.next_sibling()).is_some_and(|token| token.kind() == "::");
    let is_type = leaf.is_some_and(|leaf| leaf.kind() == "type_identifier");
    match bound {
        Bound::Node(node) => match file.nodes[*node].kind {
            NodeKind::Mod => leaf.is_some_and(before_path),
            NodeKind::Fn | NodeKind::Const => !leaf.is_some_and(before_path),
            _ => true,
        },
        Bound::Pattern => !before_colons && !is_type,
        Bound::Variable => !before_colons,
        _ => true,
    }
}

/// Returns whether a path goes on behind an identifier; the types that a function is given, `size::<u8>()`, end it.
fn before_path(leaf: Node<'_>) -> bool {
    let path = leaf.parent().filter(|path| path.kind() == "scoped_identifier" && path.end_byte() == leaf.end_byte());
    let next = path.unwrap_or(leaf).next_sibling();
    let Some(colons) = next.filter(|token| token.kind() == "::") else { return false };
    let is_given = colons.next_sibling().is_some_and(|behind| ["type_arguments", "<"].contains(&behind.kind()));
    leaf.kind() == "type_identifier" || !is_given
}

/// Returns whether a definition, or an import that is written at this byte, is there only if the program is built for
/// something.
pub(super) fn is_conditional(file: &SourceFile, bound: &Bound) -> bool {
    match bound {
        Bound::Node(at) => {
            let node = &file.nodes[*at];
            file.text[node.range.start..node.own.start].contains("cfg")
        }
        Bound::Import(import) => has_condition(file, import.at),
        _ => false,
    }
}

/// Returns whether the `use` at a byte is under a condition.
fn has_condition(file: &SourceFile, at: usize) -> bool {
    let leaf = file.syntax().root.descendant_for_byte_range(at, at + 1);
    let of = leaf.and_then(|leaf| around(leaf, &["use_declaration"]));
    let before = std::iter::successors(of.and_then(|of| of.prev_named_sibling()), Node::prev_named_sibling);
    let mut attributes = before.filter(|node| !node.is_extra()).take_while(|node| node.kind() == "attribute_item");
    attributes.any(|attribute| file.text[attribute.byte_range()].contains("cfg"))
}

/// Returns what a name alone in a pattern means, by what it means beside variables: a constant, a variant or a
/// structure without fields; else it is a variable.
pub(super) fn in_pattern(name: &str, beside: Meaning) -> Meaning {
    let is_constant = |file: &SourceFile, at: usize| match file.nodes[at].kind {
        NodeKind::Const => true,
        NodeKind::Struct => file.nodes[at].body.is_none(),
        NodeKind::Field => is_variant(file, at),
        _ => false,
    };
    match &beside {
        Meaning::Node { file, at, .. } if is_constant(file, *at) => beside,
        // A variable is hardly called so.
        Meaning::Node { .. } | Meaning::OneOf(_) | Meaning::Unknown if name.starts_with(char::is_uppercase) => {
            Meaning::Unknown
        }
        _ => Meaning::Variable,
    }
}

/// Returns whether a definition is a variant of an enumeration.
pub(in super::super) fn is_variant(file: &SourceFile, at: usize) -> bool {
    file.nodes[at].parent.is_some_and(|holder| file.nodes[holder].kind == NodeKind::Enum)
}

/// Returns what an import leads to. Its first name is a module beside it, or a crate.
pub(super) fn import(names: &dyn Names, file: &Rc<SourceFile>, import: &Import, hops: usize) -> Meaning {
    let at = import.at;
    let mut segments = import.module.split("::").filter(|segment| !segment.is_empty());
    let Some(head) = segments.next() else { return Meaning::Unknown };
    let first = match keyword(names, file, at, head) {
        Some(module) => module,
        None => match beside(names, file, head, at, hops) {
            Some(found) => as_module(names, found),
            None => other_crate(names, file, head),
        },
    };
    let found = segments.fold(first, |meaning, segment| below(names, meaning, segment, hops + 1));
    match found {
        // What a path goes on behind is the module alone.
        Meaning::OneOf(all) => {
            let leaf = file.syntax().root.descendant_for_byte_range(at, at + 1);
            one_of(names, file, leaf.filter(|leaf| before_path(*leaf)), all)
        }
        found => found,
    }
}

/// Returns what the first name of an import means in the scopes around it. None: nothing but a crate may.
fn beside(names: &dyn Names, file: &Rc<SourceFile>, head: &str, at: usize, hops: usize) -> Option<Meaning> {
    let (within, start) = module_at(file, at);
    let all = names.bindings(file, head);
    // What is imported through the name itself does not explain it.
    let explains = |binding: &&Binding| match &binding.bound {
        Bound::Import(import) => import.module.split("::").next() != Some(head),
        bound => matches!(bound, Bound::Node(_)),
    };
    let found = innermost(all.iter().filter(explains), at, start);
    if !found.is_empty() {
        let leaf = file.syntax().root.descendant_for_byte_range(at, at + head.len());
        let leaf = leaf.filter(|leaf| file.text[leaf.byte_range()] == *head);
        return Some(one_of(names, file, leaf, found.iter().map(|one| names.bound(file, &one.bound, hops)).collect()));
    }
    if let Some(found) = defined(file, &within, head) {
        return Some(found);
    }
    match unbound(names, file, head, at, hops + 1) {
        found @ (Meaning::Node { .. } | Meaning::Module(_)) => Some(found),
        // A crate is not called so.
        Meaning::Unknown if head.starts_with(char::is_uppercase) => Some(Meaning::Unknown),
        _ => None,
    }
}

/// Returns the byte where a path begins that ends with a node: the tokens of a macro have no paths.
fn begin(of: Node<'_>) -> usize {
    fn before<'t>(token: &Node<'t>) -> Option<Node<'t>> {
        let name = token.prev_sibling().filter(|colons| colons.kind() == "::")?.prev_sibling();
        name.filter(|name| ["identifier", "crate", "self", "super"].contains(&name.kind()))
    }
    let is_token = of.parent().is_some_and(|all| ["token_tree", "token_repetition"].contains(&all.kind()));
    let first = std::iter::successors(Some(of).filter(|_| is_token), before).last();
    first.unwrap_or(of).start_byte()
}

/// Returns what a path in code means.
pub(super) fn path(names: &dyn Names, file: &Rc<SourceFile>, of: Node<'_>) -> Meaning {
    let of = if of.kind() == "generic_type" { of.child_by_field_name("type").unwrap_or(of) } else { of };
    let start = begin(of);
    let text: String =
        file.text[start..of.end_byte()].split('<').next().unwrap_or_default().split_whitespace().collect();
    let mut segments = text.split("::").filter(|segment| !segment.is_empty());
    let Some(head) = segments.next() else { return Meaning::Unknown };
    let at = start;
    let first = match keyword(names, file, at, head) {
        Some(module) => module,
        None if head == "Self" => own_type(file, of)
            .and_then(|own| {
                let found = file.nodes.iter().position(|node| node.dotted == own)?;
                Some(Meaning::Node { file: file.clone(), at: found, scoped: false })
            })
            .unwrap_or(Meaning::Unknown),
        None => match names.name(file, head, at, 0) {
            // A crate is known without being named.
            Meaning::Elsewhere => other_crate(names, file, head),
            found => as_module(names, found),
        },
    };
    segments.fold(first, |meaning, segment| below(names, meaning, segment, 1))
}

/// Returns what `of::name` means; `of.name` is never what a scope or module holds.
pub(super) fn member(names: &dyn Names, file: &Rc<SourceFile>, of: Node<'_>, name: &str) -> Meaning {
    let of_value = of.parent().is_some_and(|parent| parent.kind() == "field_expression")
        || of.next_sibling().is_some_and(|token| token.kind() == ".");
    if of_value {
        return Meaning::Elsewhere;
    }
    match below(names, path(names, file, of), name, 1) {
        Meaning::OneOf(all) => {
            let leaf = of.parent().and_then(|path| path.child_by_field_name("name"));
            let leaf = leaf.or_else(|| of.next_sibling().and_then(|colons| colons.next_sibling()));
            one_of(names, file, leaf, all)
        }
        found => found,
    }
}

/// Returns the type whose `self` or `Self` this is.
pub(super) fn own_type(file: &SourceFile, of: Node<'_>) -> Option<String> {
    if !["self", "Self"].contains(&&file.text[of.byte_range()]) {
        return None;
    }
    let at = of.start_byte();
    let own = (0..file.nodes.len()).rev().find(|n| file.nodes[*n].own.contains(&at) && is_member(file, *n))?;
    file.nodes[own].dotted.rsplit_once('.').map(|(container, _)| container.to_owned())
}

/// Returns what a name means that no scope of its module binds: one that `use …::*` brings, in its module or in a block
/// around it.
pub(super) fn unbound(names: &dyn Names, file: &Rc<SourceFile>, name: &str, at: usize, hops: usize) -> Meaning {
    let (_, start) = module_at(file, at);
    let globs = names.globs(file);
    let scopes = globs.iter().filter_map(|glob| glob.scope.as_ref());
    let scopes = scopes.filter(|scope| scope.start >= start && scope.contains(&at)).map(|scope| scope.start);
    // The innermost begins last.
    let scopes: BTreeSet<usize> = scopes.collect();
    let mut doubt = Meaning::Elsewhere;
    for start in scopes.into_iter().rev() {
        match from_globs(names, file, start, name, hops) {
            None | Some(Meaning::Elsewhere) => {}
            Some(Meaning::Unknown) => doubt = Meaning::Unknown,
            Some(found) => return found,
        }
    }
    match doubt {
        Meaning::Elsewhere if is_of_included(names, file) => Meaning::Unknown,
        doubt => doubt,
    }
}

/// Returns whether a file includes another of these as code, or may be included by one: its names are those of both.
fn is_of_included(names: &dyn Names, file: &Rc<SourceFile>) -> bool {
    let is_there = |name: &String| {
        names.tree().paths().iter().any(|path| path.rsplit('/').next() == Some(name) && *path != file.path)
    };
    if includes(&file.text).iter().any(is_there) {
        return true;
    }
    let stem = file.path.trim_end_matches(".rs").rsplit('/').next().unwrap_or_default();
    let is_module = ["lib", "main", "mod"].contains(&stem)
        || parent(names, file, "")
            .is_some_and(|(above, _)| above.nodes.iter().any(|node| node.kind == NodeKind::Mod && node.name == stem));
    !is_module && names.packages().is_included(names.tree(), &file.path)
}

/// Returns the module that a word of paths means.
fn keyword(names: &dyn Names, file: &Rc<SourceFile>, at: usize, word: &str) -> Option<Meaning> {
    let (within, _) = module_at(file, at);
    let module = match word {
        "crate" => Some(crate_root(names, file)),
        "self" => Some(Some((file.clone(), within))),
        "super" => Some(parent(names, file, &within)),
        _ => None,
    }?;
    Some(module.map_or(Meaning::Unknown, |(file, within)| Meaning::Module(Module::File(file, within))))
}

/// Returns what a name means in a module or a type.
fn below(names: &dyn Names, of: Meaning, name: &str, hops: usize) -> Meaning {
    if hops >= HOPS {
        return Meaning::Unknown;
    }
    match of {
        Meaning::Module(Module::File(file, within)) => match name {
            "super" => parent(names, &file, &within)
                .map_or(Meaning::Unknown, |(file, within)| Meaning::Module(Module::File(file, within))),
            "self" => Meaning::Module(Module::File(file, within)),
            name => in_module(names, &file, &within, name, hops),
        },
        Meaning::Node { file, at, .. } => {
            let dotted = format!("{}.{name}", file.nodes[at].dotted);
            let member = file.nodes.iter().position(|node| node.dotted == dotted);
            member.map_or(Meaning::Unknown, |at| Meaning::Node { file, at, scoped: false })
        }
        // Nothing lies in a function.
        Meaning::OneOf(mut all) => {
            let is_plain =
                |one: &Meaning| matches!(one, Meaning::Node { file, at, .. } if file.nodes[*at].kind == NodeKind::Fn);
            all.retain(|one| !is_plain(one));
            if all.len() == 1 { below(names, all.remove(0), name, hops) } else { Meaning::Unknown }
        }
        Meaning::Elsewhere => Meaning::Elsewhere,
        _ => Meaning::Unknown,
    }
}

/// Returns what a name means in a module.
fn in_module(names: &dyn Names, file: &Rc<SourceFile>, within: &str, name: &str, hops: usize) -> Meaning {
    // What every program has cannot come from elsewhere too, and imports may lead back here.
    if let Some(found) = defined(file, within, name).filter(is_in_every_program) {
        return as_module(names, found);
    }
    let start = start_of(file, within);
    let mut found = of_module(names, file, (within, start), name, hops);
    let is_import = |one: &Binding| matches!(one.bound, Bound::Import(_)) && one.scope.start == start;
    let bindings = names.bindings(file, name);
    if bindings.iter().any(|one| is_import(one) && !is_conditional(file, &one.bound)) {
        return as_module(names, one_of(names, file, None, found));
    }
    let brought = from_globs(names, file, start, name, hops);
    if found.is_empty() {
        return brought.unwrap_or(Meaning::Unknown);
    }
    // Where a condition does not hold it is another.
    found.extend(brought.filter(|one| !matches!(one, Meaning::Elsewhere | Meaning::Unknown)));
    as_module(names, one_of(names, file, None, found))
}

/// Returns whether a definition is there whatever the program is built for.
fn is_in_every_program(one: &Meaning) -> bool {
    let Meaning::Node { file, at, .. } = one else { return false };
    let node = &file.nodes[*at];
    !file.text[node.range.start..node.own.start].contains("cfg")
}

/// Returns the one of what a name is bound to in one scope of a file. A function and a module may share it, and what a
/// definition is which every program has cannot come from elsewhere too.
pub(super) fn one_of(names: &dyn Names, file: &SourceFile, leaf: Option<Node<'_>>, all: Vec<Meaning>) -> Meaning {
    let mut all: Vec<Meaning> = all.into_iter().flat_map(Meaning::each).collect();
    if all.len() < 2 {
        return Meaning::one_of(all);
    }
    let is_own = |one: &Meaning| {
        matches!(one, Meaning::Node { file: own, .. } if own.path == file.path) && is_in_every_program(one)
    };
    if all.iter().any(is_own) {
        all.retain(|one| !matches!(one, Meaning::Elsewhere));
    }
    let all: Vec<Meaning> = all.into_iter().map(|one| as_module(names, one)).collect();
    let before_path = leaf.map(before_path);
    let fits = |one: &&Meaning| match (one, before_path) {
        (Meaning::Module(_), Some(before_path)) => before_path,
        (Meaning::Node { file, at, .. }, Some(true)) => {
            ![NodeKind::Fn, NodeKind::Const].contains(&file.nodes[*at].kind)
        }
        _ => true,
    };
    let fitting: Vec<Meaning> = all.iter().filter(fits).cloned().collect();
    Meaning::one_of(if fitting.is_empty() { all } else { fitting })
}

/// Returns what a name means that a glob of the module with this scope brings; one of several, where each of them is
/// there under some condition. None: no glob can.
fn from_globs(names: &dyn Names, file: &Rc<SourceFile>, start: usize, name: &str, hops: usize) -> Option<Meaning> {
    let globs = names.globs(file);
    let mut globs = globs.iter().filter(|glob| glob.scope.as_ref().is_some_and(|s| s.start == start)).peekable();
    globs.peek()?;
    if hops >= HOPS || !names.enter(file, start, name) {
        return Some(Meaning::Unknown);
    }
    let (mut found, mut doubt) = (Vec::new(), None);
    for glob in globs {
        match names.import(file, glob, hops + 1) {
            Meaning::Elsewhere => {}
            module @ (Meaning::Module(_) | Meaning::Node { .. }) => {
                // The glob of the module above must not be asked for what it does not define: it may lead back here.
                match below_defined(names, &module, name, hops + 1) {
                    Some(one) if is_seen(&one, file) => found.push((one, glob.at)),
                    Some(_) => doubt = Some(Meaning::Unknown),
                    None => doubt = doubt.or(Some(hidden(names, &module))),
                }
            }
            _ => doubt = Some(Meaning::Unknown),
        }
    }
    if found.is_empty() {
        return doubt;
    }
    let is_sure = !matches!(doubt, Some(Meaning::Unknown)) || found.iter().any(|(_, at)| !has_condition(file, *at));
    let doubt = doubt.filter(|_| !is_sure);
    Some(Meaning::one_of(found.into_iter().map(|(one, _)| one).chain(doubt)))
}

/// Returns whether a glob brings what lies in its module: what is private is seen from the modules within alone.
fn is_seen(one: &Meaning, from: &SourceFile) -> bool {
    let Meaning::Node { file, at, .. } = one else { return true };
    let (node, stem) = (&file.nodes[*at], file.path.trim_end_matches(".rs"));
    let is_root = ["lib", "main", "mod"].contains(&stem.rsplit('/').next().unwrap_or_default());
    let below = joined(if is_root { folder(stem) } else { stem }, "");
    let is_within = from.path == file.path || from.path.starts_with(&below);
    let is_public = node.kind == NodeKind::Macro || file.text[node.own.start..node.name_at.start].starts_with("pub");
    is_within || is_variant(file, *at) || is_public
}

/// Returns what a name means in a module or an enumeration, if it is defined or imported by name there.
fn below_defined(names: &dyn Names, of: &Meaning, name: &str, hops: usize) -> Option<Meaning> {
    match of {
        Meaning::Module(Module::File(file, within)) => {
            let found = in_module(names, file, within, name, hops);
            (!matches!(found, Meaning::Unknown | Meaning::Elsewhere)).then_some(found)
        }
        Meaning::Node { file, at, .. } => {
            let dotted = format!("{}.{name}", file.nodes[*at].dotted);
            let at = file.nodes.iter().position(|node| node.dotted == dotted)?;
            Some(Meaning::Node { file: file.clone(), at, scoped: false })
        }
        _ => None,
    }
}

/// Returns what a name may be that a glob did not bring: where macros or globs make names, it cannot be told.
fn hidden(names: &dyn Names, module: &Meaning) -> Meaning {
    match module {
        Meaning::Module(Module::File(file, within)) => {
            let (start, globs) = (start_of(file, within), names.globs(file));
            let mut scopes = globs.iter().filter_map(|glob| glob.scope.as_ref());
            if scopes.any(|scope| scope.start == start) { Meaning::Unknown } else { Meaning::Elsewhere }
        }
        _ => Meaning::Elsewhere,
    }
}

/// Returns where the scope of a module in a file begins.
fn start_of(file: &SourceFile, within: &str) -> usize {
    let module = file.nodes.iter().find(|node| node.kind == NodeKind::Mod && node.dotted == within);
    module.and_then(|module| module.body).unwrap_or(0)
}

/// Returns the module that a definition is, if it is one.
pub(super) fn as_module(names: &dyn Names, found: Meaning) -> Meaning {
    let Meaning::Node { file, at, .. } = &found else { return found };
    let node = &file.nodes[*at];
    if node.kind != NodeKind::Mod {
        return found;
    }
    // Its file, or the folder of the modules within, is another one than its name says.
    let above = &file.text[node.range.start..node.own.start];
    if above.split("#[").skip(1).any(|attribute| attribute.split(']').next().is_some_and(|own| own.contains("path"))) {
        return Meaning::Unknown;
    }
    if node.body.is_some() {
        return Meaning::Module(Module::File(file.clone(), node.dotted.clone()));
    }
    let (stem, own) = (file.path.trim_end_matches(".rs"), folder(&file.path));
    let root = ["lib", "main", "mod"].contains(&stem.rsplit('/').next().unwrap_or_default());
    let below = node.dotted.replace('.', "/");
    let bases = if root { vec![own] } else { vec![stem, own] };
    let places = bases.iter().flat_map(|base| ["", "/mod"].map(|end| joined(base, &format!("{below}{end}.rs"))));
    let module = places.filter(|path| names.tree().paths().contains(path)).find_map(|path| names.tree().source(&path));
    module.map_or(Meaning::Unknown, |file| Meaning::Module(Module::File(file, String::new())))
}

/// Returns the first of some files that is there.
fn first(names: &dyn Names, places: impl IntoIterator<Item = String>) -> Option<(Rc<SourceFile>, String)> {
    let mut there = places.into_iter().filter(|path| names.tree().paths().contains(path));
    there.find_map(|path| names.tree().source(&path)).map(|file| (file, String::new()))
}

/// Returns the root module of the crate that a file belongs to.
fn crate_root(names: &dyn Names, file: &Rc<SourceFile>) -> Option<(Rc<SourceFile>, String)> {
    let path = &file.path;
    let src = path.rfind("/src/").map(|at| at + 4).or_else(|| path.starts_with("src/").then_some(3));
    let src = src
        .map(|end| &path[..end])
        .filter(|src| !path[src.len()..].starts_with("/bin/") && path[src.len()..] != *"/main.rs");
    let Some(src) = src else {
        // A program, a test or an example: the file itself, or the `main.rs` above it.
        let above = std::iter::successors(Some(folder(path)), |above| (!above.is_empty()).then(|| folder(above)));
        let mains = above.take_while(|above| !above.is_empty()).map(|above| joined(above, "main.rs"));
        return first(names, mains).or_else(|| Some((file.clone(), String::new())));
    };
    first(names, [joined(src, "lib.rs"), joined(src, "main.rs")])
}

/// Returns the module above a module.
fn parent(names: &dyn Names, file: &Rc<SourceFile>, within: &str) -> Option<(Rc<SourceFile>, String)> {
    if !within.is_empty() {
        return Some((file.clone(), within.rsplit_once('.').map_or("", |(above, _)| above).to_owned()));
    }
    let own = folder(&file.path);
    let own = if file.path.ends_with("/mod.rs") { folder(own) } else { own };
    let places = ["mod.rs", "lib.rs", "main.rs"].map(|name| joined(own, name));
    let places = places.into_iter().chain([format!("{own}.rs")]);
    first(names, places.filter(|path| *path != file.path))
}

/// Returns the root of a crate of this name in the same tree.
fn other_crate(names: &dyn Names, file: &Rc<SourceFile>, name: &str) -> Meaning {
    let root = crate_root(names, file);
    let renamed = root.as_ref().and_then(|(root, _)| renamed_crate(&root.text, name));
    if let (Some("self"), Some((root, within))) = (renamed, &root) {
        return Meaning::Module(Module::File(root.clone(), within.clone()));
    }
    match names.packages().of_rust(names.tree(), &file.path, renamed.unwrap_or(name)).as_slice() {
        [] => Meaning::Elsewhere,
        [root] => {
            let file = names.tree().source(root);
            file.map_or(Meaning::Unknown, |file| Meaning::Module(Module::File(file, String::new())))
        }
        _ => Meaning::Unknown,
    }
}

/// Returns the crate that a root file gives a name: `extern crate self as name`.
fn renamed_crate<'t>(root: &'t str, name: &str) -> Option<&'t str> {
    root.split("extern crate ").skip(1).find_map(|rest| {
        let mut words = rest.split(';').next()?.split_whitespace();
        let own = words.next()?;
        (words.next() == Some("as") && words.next() == Some(name)).then_some(own)
    })
}
