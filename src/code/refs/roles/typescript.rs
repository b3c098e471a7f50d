//! Roles of identifiers in TypeScript.

use std::ops::Range;

use tree_sitter::Node;

use super::super::role::{Import, Role, above, around, is_field, outermost, scope};

const FUNCTIONS: &[&str] = &[
    "function_declaration",
    "function_expression",
    "arrow_function",
    "method_definition",
    "generator_function",
    "generator_function_declaration",
    "function_signature",
    "method_signature",
    "abstract_method_signature",
    "call_signature",
    "construct_signature",
    "function_type",
    "constructor_type",
    "index_signature",
];
const BLOCKS: &[&str] =
    &["statement_block", "switch_body", "for_statement", "for_in_statement", "class_static_block", "program"];
const PATTERNS: &[&str] = &[
    "object_pattern",
    "array_pattern",
    "rest_pattern",
    "pair_pattern",
    "assignment_pattern",
    "object_assignment_pattern",
];

pub(super) fn role<'t>(leaf: Node<'t>, text: &str) -> Role<'t> {
    if let Some(import) = import(leaf, text) {
        return import;
    }
    match (leaf.kind(), above(leaf, 1)) {
        (_, "member_expression") if is_field(leaf, "property") => {
            Role::Member { of: leaf.parent().and_then(|whole| whole.child_by_field_name("object")) }
        }
        (_, "nested_identifier") if is_field(leaf, "property") => {
            Role::Member { of: leaf.parent().and_then(|whole| whole.child_by_field_name("object")) }
        }
        (_, "nested_type_identifier") if is_field(leaf, "name") => {
            Role::Member { of: leaf.parent().and_then(|whole| whole.child_by_field_name("module")) }
        }
        // A tag of HTML, and the label of a part of a tuple.
        (_, "jsx_opening_element" | "jsx_closing_element" | "jsx_self_closing_element")
            if is_field(leaf, "name") && text[leaf.byte_range()].starts_with(char::is_lowercase) =>
        {
            Role::Other
        }
        (_, "required_parameter" | "optional_parameter") if above(leaf, 2) == "tuple_type" => Role::Other,
        (_, "rest_pattern") if above(leaf, 3) == "tuple_type" => Role::Other,
        ("shorthand_property_identifier", _) => Role::Shorthand { is_read: true },
        // Without a declaration the variable is there: `({ total } = cart)`.
        ("shorthand_property_identifier_pattern", _) => {
            binds(leaf).map_or(Role::Shorthand { is_read: true }, Role::BindsKey)
        }
        ("property_identifier" | "private_property_identifier", _) => Role::Key { of: None },
        (_, "type_parameter") if is_field(leaf, "name") => Role::Binds(
            leaf.parent()
                .and_then(|own| own.parent())
                .and_then(|all| all.parent())
                .map_or(0..usize::MAX, |of| of.byte_range()),
        ),
        (_, "infer_type") if leaf.prev_named_sibling().is_none() => Role::Binds(inferred(leaf)),
        (_, "mapped_type_clause") if is_field(leaf, "name") => Role::Binds(scope(leaf, &["object_type"])),
        (_, "function_expression" | "generator_function" | "class") if is_field(leaf, "name") => {
            Role::Binds(leaf.parent().map_or(0..usize::MAX, |of| of.byte_range()))
        }
        _ => binds(leaf).map_or(Role::Plain, Role::Binds),
    }
}

/// Returns the bytes in which the type is seen that a condition infers: what follows in it, and what it is if it holds.
fn inferred(leaf: Node<'_>) -> Range<usize> {
    let mut inner = leaf;
    while let Some(outer) = inner.parent() {
        if outer.kind() == "conditional_type" && is_field(inner, "right") {
            let end = outer.child_by_field_name("consequence").unwrap_or(outer).end_byte();
            return leaf.start_byte()..end;
        }
        inner = outer;
    }
    leaf.byte_range()
}

/// Returns the bytes in which a variable is seen, if the identifier names one.
fn binds(leaf: Node<'_>) -> Option<Range<usize>> {
    let default =
        ["assignment_pattern", "object_assignment_pattern"].contains(&above(leaf, 1)) && is_field(leaf, "right");
    if default {
        return None;
    }
    let pattern = outermost(leaf, PATTERNS);
    let holder = pattern.parent()?;
    match holder.kind() {
        "required_parameter" | "optional_parameter" if is_field(pattern, "pattern") => Some(scope(holder, FUNCTIONS)),
        "arrow_function" if is_field(pattern, "parameter") => Some(holder.byte_range()),
        "index_signature" if is_field(pattern, "name") => Some(holder.byte_range()),
        "catch_clause" if is_field(pattern, "parameter") => Some(holder.byte_range()),
        // Without a word before it, it is a variable that is there.
        "for_in_statement" if is_field(pattern, "left") => {
            let word = holder.child_by_field_name("kind")?;
            Some(if word.kind() == "var" { scope(holder, FUNCTIONS) } else { holder.byte_range() })
        }
        "variable_declarator" if is_field(pattern, "name") => {
            let declaration = holder.parent()?;
            match declaration.kind() {
                "variable_declaration" => Some(scope(holder, FUNCTIONS)),
                _ => Some(scope(declaration, BLOCKS)),
            }
        }
        _ => None,
    }
}

/// Returns the import that an identifier is, or the name that is handed on from another file.
fn import<'t>(leaf: Node<'t>, text: &str) -> Option<Role<'t>> {
    let of = around(leaf, &["import_statement", "export_statement"])?;
    let source = of.child_by_field_name("source");
    let module = source.map(|source| text[source.byte_range()].trim_matches(['"', '\'', '`']).to_owned());
    let named = |name: &str, binds: bool| {
        let (module, scope) = (module.clone()?, binds.then_some(0..usize::MAX));
        let name = (!name.is_empty()).then(|| name.to_owned());
        Some(Role::Import(Import { module, name, scope, at: leaf.start_byte() }))
    };
    let (own, parent) = (&text[leaf.byte_range()], leaf.parent()?);
    match parent.kind() {
        "import_specifier" | "export_specifier" => {
            let name = parent.child_by_field_name("name").map_or(own, |name| &text[name.byte_range()]);
            let alias = parent.child_by_field_name("alias").is_some();
            let is_alias = alias && is_field(leaf, "alias");
            match (parent.kind(), is_alias) {
                ("import_specifier", _) => named(name, is_alias || !alias),
                (_, true) => Some(Role::Other),
                // Without a source it is a name of this file.
                (_, false) => named(name, false),
            }
        }
        "import_clause" => named("default", true),
        "namespace_import" => named("", true),
        "namespace_export" => Some(Role::Other),
        _ => None,
    }
}

/// Returns the files whose names are all handed on.
pub(super) fn globs(root: Node<'_>, text: &str) -> Vec<Import> {
    let mut cursor = root.walk();
    let mut found = Vec::new();
    for statement in root.named_children(&mut cursor).filter(|child| child.kind() == "export_statement") {
        let mut inner = statement.walk();
        let all = statement.children(&mut inner).any(|child| child.kind() == "*");
        if let Some(source) = statement.child_by_field_name("source").filter(|_| all) {
            let module = text[source.byte_range()].trim_matches(['"', '\'', '`']).to_owned();
            found.push(Import { module, name: None, scope: None, at: source.start_byte() });
        }
    }
    found
}
