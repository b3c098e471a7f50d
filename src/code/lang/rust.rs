//! Definitions of Rust. Methods stand under the name of the type that their `impl` is for.

use tree_sitter::Node;

use super::kind::NodeKind;
use super::parts::{Above, Defined, LeadKind};

pub(super) fn definition<'t>(node: Node<'t>, above: &Above<'_, 't>) -> Option<Defined<'t>> {
    let of_type = above.kind(1) == "declaration_list" && ["impl_item", "trait_item"].contains(&above.kind(2));
    let kind = match node.kind() {
        "function_item" | "function_signature_item" if of_type => NodeKind::Method,
        "function_item" | "function_signature_item" => NodeKind::Fn,
        "struct_item" | "union_item" => NodeKind::Struct,
        "enum_item" => NodeKind::Enum,
        "trait_item" => NodeKind::Trait,
        "type_item" | "associated_type" => NodeKind::Type,
        "const_item" | "static_item" => NodeKind::Const,
        "mod_item" => NodeKind::Mod,
        "macro_definition" => NodeKind::Macro,
        "field_declaration" | "enum_variant" => NodeKind::Field,
        _ => return None,
    };
    let defined = Defined::named(kind, node)?;
    Some(match kind {
        // The rules of a macro have no node of their own.
        NodeKind::Macro => {
            Defined { body: node.child_by_field_name("name").and_then(|name| name.next_sibling()), ..defined }
        }
        _ => defined,
    })
}

pub(super) fn holder(node: Node<'_>, text: &str) -> Option<String> {
    let mut of = (node.kind() == "impl_item").then(|| node.child_by_field_name("type"))??;
    loop {
        let inner = match of.kind() {
            "generic_type" | "reference_type" | "pointer_type" => of.child_by_field_name("type"),
            "scoped_type_identifier" => of.child_by_field_name("name"),
            "dynamic_type" => of.child_by_field_name("trait"),
            _ => None,
        };
        match inner {
            Some(inner) => of = inner,
            None => return Some(text[of.byte_range()].split_whitespace().collect()),
        }
    }
}

pub(super) fn comment(text: &str) -> LeadKind {
    let documents = text.starts_with("///") && !text.starts_with("////")
        || text.starts_with("/**") && !text.starts_with("/***") && !text.starts_with("/**/");
    match () {
        () if documents => LeadKind::Attribute,
        // Documentation of what holds it.
        () if text.starts_with("//!") || text.starts_with("/*!") => LeadKind::None,
        () => LeadKind::Comment,
    }
}
