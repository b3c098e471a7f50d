//! Definitions of TypeScript. `export` and `declare` belong to what they stand before; a name that is given a function is
//! a function.

use std::iter;

use tree_sitter::Node;

use super::kind::NodeKind;
use super::parts::{Above, Defined};

/// Nodes that are wrapped around a declaration and belong to it.
const AROUND: &[&str] = &["export_statement", "ambient_declaration"];

pub(super) fn definition<'t>(node: Node<'t>, above: &Above<'_, 't>) -> Option<Defined<'t>> {
    let kind = match node.kind() {
        "function_declaration" | "generator_function_declaration" | "function_signature" => NodeKind::Fn,
        "class_declaration" | "abstract_class_declaration" => NodeKind::Class,
        "interface_declaration" => NodeKind::Interface,
        "enum_declaration" => NodeKind::Enum,
        "type_alias_declaration" => NodeKind::Type,
        "internal_module" | "module" => NodeKind::Mod,
        "method_definition" | "abstract_method_signature" | "method_signature" => NodeKind::Method,
        "public_field_definition" | "property_signature" | "enum_assignment" => NodeKind::Field,
        "property_identifier" | "string" if above.kind(1) == "enum_body" => {
            return Some(Defined { kind: NodeKind::Field, names: vec![node], climb: 0, body: None, of: None });
        }
        "variable_declarator" => return variable(node, above),
        _ => return None,
    };
    // A namespace is an expression to the grammar.
    let from = usize::from(kind == NodeKind::Mod && above.kind(1) == "expression_statement");
    let climb = above.climb(from, AROUND);
    Defined::named(kind, node).map(|defined| Defined { climb, ..defined })
}

/// Returns the definition of a variable, if it is one of a module or namespace, or a function.
fn variable<'t>(node: Node<'t>, above: &Above<'_, 't>) -> Option<Defined<'t>> {
    let name = node.child_by_field_name("name").filter(|name| name.kind() == "identifier")?;
    let value = node.child_by_field_name("value");
    let function =
        value.filter(|value| ["arrow_function", "function_expression", "generator_function"].contains(&value.kind()));
    let declaration = above.node(1)?;
    let all = above.climb(1, AROUND);
    let of_module = match above.kind(all + 1) {
        "program" => true,
        "statement_block" => ["internal_module", "module"].contains(&above.kind(all + 2)),
        _ => false,
    };
    let constant = declaration.child_by_field_name("kind").is_some_and(|word| word.kind() == "const");
    let kind = match function {
        Some(_) => NodeKind::Fn,
        None if !of_module => return None,
        None if constant => NodeKind::Const,
        None => NodeKind::Var,
    };
    // Not by counting all: a line may declare hundreds of thousands.
    let is_variable = |beside: Option<Node<'_>>| beside.is_some_and(|beside| beside.kind() == node.kind());
    let before = iter::successors(node.prev_named_sibling(), Node::prev_named_sibling);
    let after = iter::successors(node.next_named_sibling(), Node::next_named_sibling);
    let is_code = |beside: &Node<'_>| !beside.is_extra();
    let alone = !is_variable({ before }.find(is_code)) && !is_variable({ after }.find(is_code));
    let climb = if alone { all } else { 0 };
    let body = function.and_then(|function| function.child_by_field_name("body"));
    Some(Defined { kind, names: vec![name], climb, body, of: None })
}
