//! Roles of identifiers in Go.

use std::ops::Range;

use tree_sitter::Node;

use super::super::role::{Role, above, ancestor, around, is_field, scope};

const BLOCKS: &[&str] = &[
    "block",
    "if_statement",
    "for_statement",
    "expression_switch_statement",
    "type_switch_statement",
    "expression_case",
    "default_case",
    "type_case",
    "communication_case",
    "source_file",
];
const FUNCTIONS: &[&str] =
    &["function_declaration", "method_declaration", "func_literal", "function_type", "method_elem"];

pub(super) fn role(leaf: Node<'_>) -> Role<'_> {
    let whole = leaf.parent();
    match (leaf.kind(), above(leaf, 1)) {
        (_, "package_clause" | "import_spec" | "labeled_statement") => Role::Other,
        (_, "selector_expression") if is_field(leaf, "field") => {
            Role::Member { of: whole.and_then(|whole| whole.child_by_field_name("operand")) }
        }
        (_, "qualified_type") if is_field(leaf, "name") => {
            Role::Member { of: whole.and_then(|whole| whole.child_by_field_name("package")) }
        }
        // `Cart{items: 1}`: a key whose type does not stand there may be anything.
        ("identifier", "literal_element") if above(leaf, 2) == "keyed_element" && is_key(leaf) => {
            Role::Key { of: ancestor(leaf, 3).and_then(literal_type) }
        }
        ("field_identifier", _) => Role::Key { of: None },
        _ => binds(leaf).map_or(Role::Plain, Role::Binds),
    }
}

/// Returns the type of a literal's braces: `Cart` in `Cart{}`, in `[]Cart{{}}` and in `map[int]*Cart{1: {}}`.
fn literal_type(braces: Node<'_>) -> Option<Node<'_>> {
    let (mut braces, mut inside) = (braces, 0);
    let mut of = loop {
        let holder = braces.parent()?;
        if holder.kind() == "composite_literal" {
            break holder.child_by_field_name("type")?;
        }
        // An element of another literal, or the value of a key there.
        let element = if is_key(braces) { return None } else { holder };
        let outer = element.parent()?;
        braces = if outer.kind() == "keyed_element" { outer.parent()? } else { outer };
        inside += 1;
    };
    for _ in 0..inside {
        of = of.child_by_field_name(if of.kind() == "map_type" { "value" } else { "element" })?;
        if of.kind() == "pointer_type" {
            of = of.named_child(0)?;
        }
    }
    Some(of)
}

fn is_key(leaf: Node<'_>) -> bool {
    leaf.parent().is_some_and(|element| is_field(element, "key"))
}

/// Returns the bytes in which a variable is seen, if the identifier names one.
fn binds(leaf: Node<'_>) -> Option<Range<usize>> {
    let rest = |of: Node<'_>| of.end_byte()..scope(of, BLOCKS).end;
    let parent = leaf.parent()?;
    match parent.kind() {
        "parameter_declaration" | "variadic_parameter_declaration" if is_field(leaf, "name") => {
            Some(scope(parent, FUNCTIONS))
        }
        "type_parameter_declaration" if is_field(leaf, "name") => {
            Some(scope(parent, &["function_declaration", "type_spec", "type_alias"]))
        }
        "var_spec" | "const_spec" if is_field(leaf, "name") => Some(rest(parent)),
        "expression_list" => {
            let holder = parent.parent()?;
            let declares = ["short_var_declaration", "range_clause", "receive_statement"].contains(&holder.kind());
            let new = holder.kind() == "short_var_declaration" || {
                let mut cursor = holder.walk();
                holder.children(&mut cursor).any(|child| child.kind() == ":=")
            };
            let alias = holder.kind() == "type_switch_statement" && is_field(parent, "alias");
            match () {
                () if alias => Some(holder.byte_range()),
                () if declares && new && is_field(parent, "left") => {
                    Some(holder.end_byte()..around(holder, BLOCKS).map_or(usize::MAX, |scope| scope.end_byte()))
                }
                () => None,
            }
        }
        _ => None,
    }
}
