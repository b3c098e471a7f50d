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
        "keyword_pattern" if leaf.prev_named_sibling().is_none() => Role::Key { of: None },
        _ => match binds(leaf) {
            // What a module assigns is its own, in a function too that says so.
            Some(scope) if scope.end < usize::MAX && !is_global(leaf, text) => Role::Binds(scope),
            _ => Role::Plain,
        },
    }
}

/// Returns the bytes in which a variable is seen that is bound here: the body of the function or class, or the module.
fn scope_of(node: Node<'_>) -> Range<usize> {
    inner_body(node).map_or(0..usize::MAX, |body| body.byte_range())
}

/// Returns the body of the innermost function or class that a node belongs to; what a parameter is if it is not given
/// is read outside of its function.
fn inner_body(node: Node<'_>) -> Option<Node<'_>> {
    let mut inner = node;
    while let Some(outer) = inner.parent() {
        let holds = ["function_definition", "lambda", "class_definition"].contains(&outer.kind());
        if holds && is_field(inner, "body") {
            return Some(inner);
        }
        inner = outer;
    }
    None
}

/// Returns the body of the class that an identifier is read or bound in, and not in a function or comprehension there.
pub(super) fn body_of_class(leaf: Node<'_>) -> Option<Range<usize>> {
    let body = inner_body(leaf).filter(|body| above(*body, 1) == "class_definition")?.byte_range();
    let all = std::iter::successors(leaf.parent(), Node::parent).take_while(|node| body.contains(&node.start_byte()));
    let mut inner = all.filter(|node| COMPREHENSIONS.contains(&node.kind())).map(|node| node.byte_range()).peekable();
    let outside = if inner.peek().is_some() { first_iterables(leaf) } else { Vec::new() };
    inner.all(|comprehension| outside.contains(&comprehension)).then_some(body)
}

/// Returns the comprehensions around an identifier, by their bytes, whose variables it does not see: it stands in what
/// they go through first.
pub(in super::super) fn first_iterables(leaf: Node<'_>) -> Vec<Range<usize>> {
    let (mut found, mut inner) = (Vec::new(), leaf);
    while let Some(outer) = inner.parent() {
        if outer.kind() == "for_in_clause" && is_field(inner, "right") {
            let mut before = std::iter::successors(outer.prev_named_sibling(), Node::prev_named_sibling);
            let is_first = before.all(|clause| clause.kind() != "for_in_clause");
            found.extend(outer.parent().filter(|_| is_first).map(|whole| whole.byte_range()));
        }
        inner = outer;
    }
    found
}

/// Returns whether the function says that this variable is not its own.
fn is_global(leaf: Node<'_>, text: &str) -> bool {
    let function = around(leaf, &["function_definition", "lambda"]);
    function.is_some_and(|function| says(function, &text[leaf.byte_range()], text, &["global ", "nonlocal "]))
}

/// Returns the innermost function around an identifier that says it is a variable of the module.
pub(in super::super) fn global_in<'t>(leaf: Node<'t>, text: &str) -> Option<Node<'t>> {
    let name = &text[leaf.byte_range()];
    let functions =
        std::iter::successors(leaf.parent(), Node::parent).filter(|node| node.kind() == "function_definition");
    { functions }.find(|function| says(*function, name, text, &["global "]))
}

/// Returns whether a function itself says one of these words of a name.
fn says(function: Node<'_>, name: &str, text: &str, words: &[&str]) -> bool {
    let own = &text[function.byte_range()];
    words.iter().flat_map(|word| own.match_indices(word)).any(|(at, word)| {
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
    let parts = outermost(leaf, &["tuple", "list", "parenthesized_expression", "list_splat"]);
    let pattern = match above(parts, 1) {
        "as_pattern_target" => parts,
        _ => outermost(leaf, PATTERNS),
    };
    let holder = pattern.parent()?;
    if let Some(defined) = type_parameter(leaf) {
        return Some(defined);
    }
    // What a function deletes is its own.
    let deleted = outermost(leaf, &["expression_list", "tuple", "list", "parenthesized_expression"]);
    if above(deleted, 1) == "delete_statement" {
        return body_of_class(leaf).is_none().then(|| scope_of(leaf));
    }
    let named = match holder.kind() {
        "parameters" | "lambda_parameters" | "typed_parameter" => true,
        "default_parameter" | "typed_default_parameter" => is_field(pattern, "name"),
        "assignment" | "augmented_assignment" | "for_statement" => is_field(pattern, "left"),
        "named_expression" => is_field(pattern, "name"),
        "as_pattern_target" | "splat_pattern" => true,
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
    let parameter = holder.kind().ends_with("parameter") || holder.kind().ends_with("parameters");
    let body = around(leaf, SCOPES).and_then(|function| function.child_by_field_name("body"));
    Some(body.filter(|_| parameter).map_or_else(|| scope_of(leaf), |body| body.byte_range()))
}

/// Returns the bytes of the definition whose parameter of types an identifier names: `def f[T: int]`, `class A[*T]`.
fn type_parameter(leaf: Node<'_>) -> Option<Range<usize>> {
    let mut inner = leaf;
    loop {
        let outer = inner.parent()?;
        match outer.kind() {
            "type_parameter" => break,
            "type" | "splat_type" => {}
            // A bound stands behind the name.
            "constrained_type" if inner.prev_named_sibling().is_none() => {}
            _ => return None,
        }
        inner = outer;
    }
    let defined = around(leaf, &["function_definition", "class_definition", "type_alias_statement"])?;
    let is_own = match defined.kind() {
        "type_alias_statement" => defined.child_by_field_name("left")?.end_byte() > leaf.start_byte(),
        _ => inner.parent()?.parent() == Some(defined),
    };
    is_own.then(|| defined.byte_range())
}

/// Returns the import that an identifier is.
fn import<'t>(leaf: Node<'t>, text: &str) -> Option<Role<'t>> {
    let of = around(leaf, &["import_from_statement", "import_statement"])?;
    let (seen, at) = (Some(scope_of(of)), leaf.start_byte());
    let name = outermost(leaf, &["dotted_name"]);
    let dotted = text[name.byte_range()].to_owned();
    if of.kind() == "import_statement" {
        let (module, alias) = match name.parent().filter(|parent| parent.kind() == "aliased_import") {
            Some(whole) => (text[whole.child_by_field_name("name")?.byte_range()].to_owned(), is_field(name, "alias")),
            // `import a.b` makes `a` known.
            None => (text[leaf.byte_range()].to_owned(), leaf.start_byte() == name.start_byte()),
        };
        return Some(Role::Import(Import { module, name: None, scope: seen.filter(|_| alias), at }));
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
    Some(Role::Import(Import { module, name: Some(name), scope: seen.filter(|_| binds), at }))
}

/// Returns what is imported by `*`.
pub(super) fn globs(root: Node<'_>, text: &str) -> Vec<Import> {
    let mut found = Vec::new();
    for at in memchr::memmem::find_iter(text.as_bytes(), b"*") {
        let Some(star) = root.descendant_for_byte_range(at, at + 1) else { continue };
        let Some(of) = around(star, &["import_from_statement"]) else { continue };
        if let Some(module) = of.child_by_field_name("module_name") {
            let module = text[module.byte_range()].to_owned();
            found.push(Import { module, name: None, scope: Some(scope(of, SCOPES)), at });
        }
    }
    found
}
