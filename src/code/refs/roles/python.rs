//! Roles of identifiers in Python.

use std::ops::Range;

use tree_sitter::Node;

use super::super::role::{Import, Role, above, around, is_field, outermost, scope};

const SCOPES: &[&str] = &["function_definition", "lambda", "module"];
const PATTERNS: &[&str] =
    &["pattern_list", "tuple_pattern", "list_pattern", "list_splat_pattern", "dictionary_splat_pattern"];
const COMPREHENSIONS: &[&str] =
    &["list_comprehension", "set_comprehension", "dictionary_comprehension", "generator_expression"];

pub(super) fn role<'t>(leaf: Node<'t>, text: &str) -> Role<'t> {
    if let Some(import) = import(leaf, text) {
        return import;
    }
    match above(leaf, 1) {
        "attribute" if is_field(leaf, "attribute") => Role::Member { of: leaf.prev_named_sibling() },
        "keyword_argument" if is_field(leaf, "name") => Role::Key { of: None },
        _ => match binds(leaf) {
            // What a module assigns is its own, in a function too that says so.
            Some(scope) if scope.end < usize::MAX && !is_global(leaf, text) => Role::Binds(scope),
            _ => Role::Plain,
        },
    }
}

/// Returns whether the function says that this variable is not its own.
fn is_global(leaf: Node<'_>, text: &str) -> bool {
    let Some(function) = around(leaf, &["function_definition", "lambda"]) else { return false };
    let (name, own) = (&text[leaf.byte_range()], &text[function.byte_range()]);
    ["global ", "nonlocal "].iter().flat_map(|word| own.match_indices(word)).any(|(at, word)| {
        let at = function.start_byte() + at;
        let token = function.descendant_for_byte_range(at, at + word.trim().len());
        let statement = token.and_then(|token| token.parent()).filter(|node| node.kind().ends_with("al_statement"));
        statement.is_some_and(|statement| {
            let mut cursor = statement.walk();
            let named = statement.named_children(&mut cursor).any(|child| &text[child.byte_range()] == name);
            named && around(statement, &["function_definition", "lambda"]) == Some(function)
        })
    })
}

/// Returns the bytes in which a variable is seen, if the identifier names one.
fn binds(leaf: Node<'_>) -> Option<Range<usize>> {
    let pattern = outermost(leaf, PATTERNS);
    let holder = pattern.parent()?;
    let named = match holder.kind() {
        "parameters" | "lambda_parameters" | "typed_parameter" => true,
        "default_parameter" | "typed_default_parameter" => is_field(pattern, "name"),
        "assignment" | "augmented_assignment" | "for_statement" => is_field(pattern, "left"),
        "named_expression" => is_field(pattern, "name"),
        "as_pattern_target" => true,
        // A pattern of a `match` that is one name takes all.
        "dotted_name" => {
            let case = holder.parent().is_some_and(|case| ["case_pattern", "as_pattern"].contains(&case.kind()));
            case && holder.named_child_count() == 1
        }
        "for_in_clause" if is_field(pattern, "left") => return Some(scope(holder, COMPREHENSIONS)),
        _ => false,
    };
    // The type of a parameter is none of its names.
    let typed = holder.kind() == "typed_parameter" && is_field(pattern, "type");
    if !named || typed {
        return None;
    }
    // What a parameter is if it is not given is read outside of the function.
    let parameter = holder.kind().ends_with("parameter") || holder.kind().ends_with("parameters");
    let body = around(leaf, SCOPES).and_then(|function| function.child_by_field_name("body"));
    Some(body.filter(|_| parameter).map_or_else(|| scope(leaf, SCOPES), |body| body.byte_range()))
}

/// Returns the import that an identifier is.
fn import<'t>(leaf: Node<'t>, text: &str) -> Option<Role<'t>> {
    let of = around(leaf, &["import_from_statement", "import_statement"])?;
    let seen = Some(scope(of, SCOPES));
    let name = outermost(leaf, &["dotted_name"]);
    let dotted = text[name.byte_range()].to_owned();
    if of.kind() == "import_statement" {
        let (module, alias) = match name.parent().filter(|parent| parent.kind() == "aliased_import") {
            Some(whole) => (text[whole.child_by_field_name("name")?.byte_range()].to_owned(), is_field(name, "alias")),
            // `import a.b` makes `a` known.
            None => (text[leaf.byte_range()].to_owned(), leaf.start_byte() == name.start_byte()),
        };
        return Some(Role::Import(Import { module, name: None, scope: seen.filter(|_| alias) }));
    }
    let module = of.child_by_field_name("module_name")?;
    if module.byte_range().contains(&leaf.start_byte()) {
        return Some(Role::Other);
    }
    let module = text[module.byte_range()].to_owned();
    let (name, binds) = match name.parent().filter(|parent| parent.kind() == "aliased_import") {
        Some(whole) => (text[whole.child_by_field_name("name")?.byte_range()].to_owned(), is_field(name, "alias")),
        None => (dotted, true),
    };
    Some(Role::Import(Import { module, name: Some(name), scope: seen.filter(|_| binds) }))
}

/// Returns what is imported by `*`.
pub(super) fn globs(root: Node<'_>, text: &str) -> Vec<Import> {
    let mut found = Vec::new();
    for at in memchr::memmem::find_iter(text.as_bytes(), b"*") {
        let Some(star) = root.descendant_for_byte_range(at, at + 1) else { continue };
        let Some(of) = around(star, &["import_from_statement"]) else { continue };
        if let Some(module) = of.child_by_field_name("module_name") {
            let module = text[module.byte_range()].to_owned();
            found.push(Import { module, name: None, scope: Some(scope(of, SCOPES)) });
        }
    }
    found
}
