//! Definitions of Python. Variables are those of a module, fields those that a class assigns in its own body.

use tree_sitter::Node;

use super::kind::NodeKind;
use super::parts::{Above, Defined};

pub(super) fn definition<'t>(node: Node<'t>, above: &Above<'_, 't>) -> Option<Defined<'t>> {
    match node.kind() {
        "function_definition" | "class_definition" => {
            let kind = match (node.kind(), above.within) {
                ("class_definition", _) => NodeKind::Class,
                (_, Some(NodeKind::Class)) => NodeKind::Method,
                _ => NodeKind::Fn,
            };
            let climb = above.climb(0, &["decorated_definition"]);
            Defined::named(kind, node).map(|defined| Defined { climb, ..defined })
        }
        "assignment" => {
            let kind = match (above.kind(1), above.kind(2), above.kind(3)) {
                ("expression_statement", "module", _) => NodeKind::Var,
                ("expression_statement", "block", "class_definition") => NodeKind::Field,
                _ => return None,
            };
            let left = node.child_by_field_name("left")?;
            let mut cursor = left.walk();
            let names: Vec<Node<'t>> = match left.kind() {
                "identifier" => vec![left],
                "pattern_list" | "tuple_pattern" => {
                    left.named_children(&mut cursor).filter(|name| name.kind() == "identifier").collect()
                }
                _ => Vec::new(),
            };
            // `a = 1; b = 2` share a line and a statement each.
            Some(Defined { kind, names, climb: 1, body: None, of: None })
        }
        "type_alias_statement" => {
            let mut name = node.child_by_field_name("left")?;
            while name.kind() != "identifier" {
                name = name.named_child(0)?;
            }
            Some(Defined { kind: NodeKind::Type, names: vec![name], climb: 0, body: None, of: None })
        }
        _ => None,
    }
}
