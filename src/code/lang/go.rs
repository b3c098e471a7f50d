//! Definitions of Go. Methods stand under the name of their receiver's type.

use tree_sitter::Node;

use super::kind::NodeKind;
use super::parts::{Above, Defined, in_field};

pub(super) fn definition<'t>(node: Node<'t>, above: &Above<'_, 't>) -> Option<Defined<'t>> {
    match node.kind() {
        "function_declaration" => Defined::named(NodeKind::Fn, node),
        "method_declaration" => {
            let receiver = node.child_by_field_name("receiver")?;
            let of = receiver_type(receiver).map(|of| above.text[of.byte_range()].to_owned());
            Defined::named(NodeKind::Method, node).map(|defined| Defined { of, ..defined })
        }
        "method_elem" => Defined::named(NodeKind::Method, node),
        "type_spec" | "type_alias" => {
            let kind = match node.child_by_field_name("type").map(|of| of.kind()) {
                Some("struct_type") => NodeKind::Struct,
                Some("interface_type") => NodeKind::Interface,
                _ => NodeKind::Type,
            };
            let climb = usize::from(!above.node(1).is_some_and(is_group));
            let body = node.child_by_field_name("type").filter(|_| kind != NodeKind::Type).and_then(opening);
            Defined::named(kind, node).map(|defined| Defined { climb, body, ..defined })
        }
        "const_spec" | "var_spec" => {
            let listed = usize::from(above.kind(1) == "var_spec_list");
            let declaration = above.node(1 + listed)?;
            if above.kind(2 + listed) != "source_file" {
                return None;
            }
            let kind = if node.kind() == "const_spec" { NodeKind::Const } else { NodeKind::Var };
            let names = in_field(node, "name").into_iter().filter(|name| name.kind() == "identifier").collect();
            let climb = usize::from(listed == 0 && !is_group(declaration));
            Some(Defined { kind, names, climb, body: None, of: None })
        }
        "field_declaration" if above.within == Some(NodeKind::Struct) => {
            Some(Defined { kind: NodeKind::Field, names: in_field(node, "name"), climb: 0, body: None, of: None })
        }
        _ => None,
    }
}

/// Returns whether a declaration holds its parts in parentheses.
fn is_group(declaration: Node<'_>) -> bool {
    let mut cursor = declaration.walk();
    declaration.children(&mut cursor).any(|child| child.kind() == "(")
}

/// Returns the brace or list that opens a type's members.
fn opening(of: Node<'_>) -> Option<Node<'_>> {
    let mut cursor = of.walk();
    of.children(&mut cursor).find(|child| ["{", "field_declaration_list"].contains(&child.kind()))
}

/// Returns the name of a receiver's type.
fn receiver_type(receiver: Node<'_>) -> Option<Node<'_>> {
    let mut cursor = receiver.walk();
    let parameter = receiver.named_children(&mut cursor).find(|child| child.kind() == "parameter_declaration")?;
    let mut of = parameter.child_by_field_name("type")?;
    while of.kind() != "type_identifier" {
        of = of.child_by_field_name("type").or_else(|| of.named_child(0))?;
    }
    Some(of)
}
