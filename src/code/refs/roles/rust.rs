//! Roles of identifiers in Rust. What stands in the arguments of a macro is read as if it stood there itself.

use std::ops::Range;

use tree_sitter::Node;

use super::super::formats::takes_format;
use super::super::role::{Import, Role, above, ancestor, around, is_field, outermost, scope};

const PATTERNS: &[&str] = &[
    "tuple_pattern",
    "tuple_struct_pattern",
    "struct_pattern",
    "field_pattern",
    "ref_pattern",
    "mut_pattern",
    "reference_pattern",
    "slice_pattern",
    "captured_pattern",
    "or_pattern",
    "remaining_field_pattern",
    "match_pattern",
];

const MODULES: &[&str] = &["declaration_list", "block", "source_file"];

/// Attributes of the language that name nothing that is defined in the program.
const ATTRIBUTES: &[&str] = &[
    "allow",
    "cfg",
    "deny",
    "deprecated",
    "derive",
    "doc",
    "expect",
    "feature",
    "forbid",
    "ignore",
    "inline",
    "link",
    "macro_export",
    "repr",
    "should_panic",
    "target_feature",
    "warn",
];

/// Macros of the standard library, beside those of format strings, that take expressions, patterns and types alone.
const PLAIN: &[&str] = &["assert_matches", "concat", "dbg", "debug_assert_matches", "matches", "ready", "try", "vec"];

pub(super) fn role<'t>(leaf: Node<'t>, text: &'t str) -> Role<'t> {
    if let Some(import) = import(leaf, text) {
        return import;
    }
    let parent = above(leaf, 1);
    match parent {
        "token_tree" | "token_repetition" => in_tokens(leaf, text),
        "attribute" if is_field(leaf, "value") => Role::Untold,
        "attribute" | "lifetime" | "label" | "fragment_specifier" | "macro_rule" => Role::Other,
        "token_tree_pattern" | "token_repetition_pattern" | "token_binding_pattern" => Role::Other,
        "macro_invocation" if is_field(leaf, "macro") => Role::Macro,
        "field_expression" if is_field(leaf, "field") => Role::Member { of: leaf.prev_named_sibling() },
        "field_initializer" if is_field(leaf, "field") => Role::Key { of: literal(leaf, 3, "name") },
        "shorthand_field_initializer" => Role::Shorthand { is_read: true },
        "field_pattern" if leaf.kind() == "shorthand_field_identifier" => {
            binds(leaf).map_or(Role::Shorthand { is_read: false }, Role::BindsKey)
        }
        "field_pattern" if is_field(leaf, "name") => Role::Key { of: literal(leaf, 2, "type") },
        "scoped_identifier" | "scoped_type_identifier" if is_field(leaf, "name") => {
            Role::Member { of: leaf.parent().and_then(|path| path.child_by_field_name("path")) }
        }
        "type_binding" if is_field(leaf, "name") => Role::Key { of: None },
        "type_parameter" | "const_parameter" | "optional_type_parameter" if is_field(leaf, "name") => {
            Role::Binds(ancestor(leaf, 3).map_or(0..usize::MAX, |owner| owner.byte_range()))
        }
        _ => match binds(leaf) {
            None => Role::Plain,
            Some(scope) if names_variable(leaf) => Role::Binds(scope),
            Some(scope) => Role::Pattern(scope),
        },
    }
}

/// Returns whether an identifier in a pattern is a variable whatever else has its name: `ref a`, `mut a`, `a @ 1`.
fn names_variable(leaf: Node<'_>) -> bool {
    match above(leaf, 1) {
        "ref_pattern" | "mut_pattern" => true,
        "captured_pattern" => leaf.prev_named_sibling().is_none(),
        _ => false,
    }
}

/// Returns the type of the literal or pattern so many levels up.
fn literal<'t>(leaf: Node<'t>, up: usize, field: &str) -> Option<Node<'t>> {
    ancestor(leaf, up)?.child_by_field_name(field)
}

/// Returns the bytes in which a variable is seen, if the identifier names one.
fn binds(leaf: Node<'_>) -> Option<Range<usize>> {
    let typed = ["tuple_struct_pattern", "struct_pattern"].contains(&above(leaf, 1)) && is_field(leaf, "type");
    let guards = above(leaf, 1) == "match_pattern" && is_field(leaf, "condition");
    if typed || guards || !["identifier", "shorthand_field_identifier"].contains(&leaf.kind()) {
        return None;
    }
    let pattern = outermost(leaf, PATTERNS);
    let holder = pattern.parent()?;
    let body = |node: Node<'_>, field: &str| node.child_by_field_name(field).map(|body| body.byte_range());
    match holder.kind() {
        "let_declaration" if is_field(pattern, "pattern") => {
            let end = scope(holder, MODULES).end;
            Some(holder.end_byte()..end)
        }
        "parameter" if is_field(pattern, "pattern") => parameters(holder),
        "closure_parameters" => parameters(pattern),
        "for_expression" if is_field(pattern, "pattern") => body(holder, "body"),
        "match_arm" => Some(holder.byte_range()),
        "let_condition" if is_field(pattern, "pattern") => {
            let whole = around(holder, &["if_expression", "while_expression", "match_arm"])?;
            let end = match whole.kind() {
                "if_expression" => body(whole, "consequence")?.end,
                _ => whole.end_byte(),
            };
            Some(holder.end_byte()..end)
        }
        _ => None,
    }
}

/// Returns the bytes of the function whose parameter this is.
fn parameters(parameter: Node<'_>) -> Option<Range<usize>> {
    let of = around(parameter, &["function_item", "closure_expression", "function_signature_item", "function_type"])?;
    Some(of.byte_range())
}

/// Returns the role of an identifier among the tokens of a macro or of an attribute.
fn in_tokens<'t>(leaf: Node<'t>, text: &str) -> Role<'t> {
    let of = around(leaf, &["attribute", "macro_definition", "macro_invocation"]);
    let path = of.and_then(|of| of.named_child(0)).map_or("", |path| &text[path.byte_range()]);
    let (before, after) = (leaf.prev_sibling(), leaf.next_sibling());
    let of = of.map_or("", |of| of.kind());
    match (before.map_or("", |token| token.kind()), after.map_or("", |token| token.kind())) {
        ("$" | "'", _) => Role::Other,
        (_, "=") if of == "attribute" => Role::Other,
        _ if of == "attribute" && ATTRIBUTES.contains(&path) => Role::Other,
        (_, "!") => Role::Macro,
        _ if of != "macro_invocation" => Role::Untold,
        ("." | "::", _) => Role::Member { of: before.and_then(|token| token.prev_sibling()) },
        (_, ":") if in_literal(leaf, text) => Role::Key { of: None },
        ("{" | ",", "}" | ",") if in_literal(leaf, text) => Role::Shorthand { is_read: false },
        (_, next) if next != "::" && !is_read_as_code(leaf, text) => Role::Loose { is_key: next == ":" },
        (_, ":") => Role::Key { of: None },
        _ => Role::Plain,
    }
}

/// Returns whether the braces around a token seem to be those of a literal or a pattern of a structure: a type precedes.
fn in_literal(leaf: Node<'_>, text: &str) -> bool {
    let tokens = leaf.parent().filter(|tokens| text[tokens.byte_range()].starts_with('{'));
    let of = tokens.and_then(|tokens| tokens.prev_sibling()).filter(|of| of.kind() == "identifier");
    of.is_some_and(|of| text[of.byte_range()].starts_with(char::is_uppercase))
}

/// Returns whether all macros around a token read it as code.
fn is_read_as_code(leaf: Node<'_>, text: &str) -> bool {
    let around = std::iter::successors(leaf.parent(), Node::parent);
    let mut tokens = around.take_while(|node| ["token_tree", "token_repetition"].contains(&node.kind()));
    tokens.all(|tokens| {
        let mark = tokens.prev_sibling().filter(|mark| mark.kind() == "!");
        // Behind anything but a name `!` denies.
        let called = mark.and_then(|mark| mark.prev_sibling());
        let called = called.filter(|called| ["identifier", "scoped_identifier"].contains(&called.kind()));
        let Some(called) = called else { return true };
        let name = text[called.byte_range()].rsplit("::").next().unwrap_or_default();
        PLAIN.contains(&name) || takes_format(name)
    })
}

/// Returns the calls of macros, by their bytes, among whose tokens a name may be bound: it stands there neither as what
/// is called nor in a path. They lie apart, in order.
pub(super) fn may_bind(leaves: &[Node<'_>], text: &str) -> Vec<Range<usize>> {
    let loose = leaves.iter().filter(|leaf| ["token_tree", "token_repetition"].contains(&above(**leaf, 1)));
    let loose = loose.filter(|leaf| {
        let before = leaf.prev_sibling().map_or("", |token| token.kind());
        let after = leaf.next_sibling().map_or(0..0, |token| token.byte_range());
        let path = ["::", "."].contains(&before) || ["::", "!"].contains(&&text[after.clone()]);
        !path && !text[after].starts_with('(')
    });
    let mut calls: Vec<Range<usize>> =
        loose.filter_map(|leaf| around(*leaf, &["macro_invocation"])).map(|call| call.byte_range()).collect();
    calls.dedup();
    calls
}

/// Returns the import that an identifier of a `use` is.
fn import<'t>(leaf: Node<'t>, text: &str) -> Option<Role<'t>> {
    let of = around(leaf, &["use_declaration"])?;
    let seen = scope(of, MODULES);
    let (mut path, mut binds) = (vec![text[leaf.byte_range()].to_owned()], true);
    let (mut inner, mut outer) = (leaf, leaf.parent()?);
    while inner != of {
        match outer.kind() {
            "scoped_identifier" if is_field(inner, "name") => {
                let before = outer.child_by_field_name("path");
                path.splice(0..0, before.map(|before| text[before.byte_range()].to_owned()));
            }
            "scoped_use_list" if is_field(inner, "list") => {
                let before = outer.child_by_field_name("path");
                path.splice(0..0, before.map(|before| text[before.byte_range()].to_owned()));
            }
            "use_as_clause" if is_field(inner, "alias") => {
                let of = outer.child_by_field_name("path")?;
                path = vec![text[of.byte_range()].to_owned()];
            }
            "scoped_use_list" => binds &= lists_itself(outer),
            "use_as_clause" | "scoped_identifier" | "use_wildcard" => binds = false,
            _ => {}
        }
        (inner, outer) = (outer, outer.parent()?);
    }
    let module: String = path.join("::").split_whitespace().collect();
    // `a::b::{self}` is `a::b`.
    let module = module.trim_end_matches("::self").to_owned();
    Some(Role::Import(Import { module, name: None, scope: binds.then_some(seen), at: leaf.start_byte() }))
}

/// Returns whether a list of imports brings the module before it too: `a::{self, b}`.
fn lists_itself(of: Node<'_>) -> bool {
    let Some(list) = of.child_by_field_name("list") else { return false };
    let mut cursor = list.walk();
    list.named_children(&mut cursor).any(|child| child.kind() == "self")
}

/// Returns what is imported by `*`.
pub(super) fn globs(root: Node<'_>, text: &str) -> Vec<Import> {
    let mut found = Vec::new();
    for at in memchr::memmem::find_iter(text.as_bytes(), b"*") {
        let Some(star) = root.descendant_for_byte_range(at, at + 1) else { continue };
        let Some(wildcard) = star.parent().filter(|parent| parent.kind() == "use_wildcard") else { continue };
        let Some(of) = around(wildcard, &["use_declaration"]) else { continue };
        let mut path: Vec<String> = Vec::new();
        path.extend(wildcard.named_child(0).map(|own| text[own.byte_range()].to_owned()));
        let mut inner = wildcard;
        while let Some(outer) = inner.parent().filter(|_| inner != of) {
            if outer.kind() == "scoped_use_list" {
                let before = outer.child_by_field_name("path");
                path.splice(0..0, before.map(|before| text[before.byte_range()].to_owned()));
            }
            inner = outer;
        }
        let module = path.join("::").split_whitespace().collect();
        found.push(Import { module, name: None, scope: Some(scope(of, MODULES)), at });
    }
    found
}
