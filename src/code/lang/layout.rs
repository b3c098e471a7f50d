//! The indentation of Python, which its grammar takes more loosely than the language does.

use tree_sitter::Node;

/// The parts of a statement that begin lines of their own, as far indented as the statement.
const PARTS: &[&str] = &[
    "decorator",
    "function_definition",
    "class_definition",
    "elif_clause",
    "else_clause",
    "except_clause",
    "except_group_clause",
    "finally_clause",
];

/// Returns the beginnings of those parts of a node that are not indented as Python wants it: the statements of a block
/// all alike, those of a module not at all, a clause as the statement that it belongs to.
pub fn misplaced(node: Node<'_>, text: &str) -> Vec<usize> {
    let is_block = matches!(node.kind(), "module" | "block");
    let mut wanted = match node.kind() {
        "module" => Some(""),
        "block" => None,
        "decorated_definition" | "if_statement" | "for_statement" | "while_statement" | "try_statement" => {
            match indentation(text, node.start_byte()) {
                // It shares its line with what is before it.
                None => return Vec::new(),
                own => own,
            }
        }
        _ => return Vec::new(),
    };
    let mut cursor = node.walk();
    let parts = node.named_children(&mut cursor);
    let parts = parts.filter(|part| !part.is_error() && !part.is_missing());
    let parts = parts.filter(|part| if is_block { !part.is_extra() } else { PARTS.contains(&part.kind()) });
    let mut found = Vec::new();
    for part in parts {
        let Some(own) = indentation(text, part.start_byte()) else { continue };
        if wanted.get_or_insert(own) != &own {
            found.push(part.start_byte());
        }
    }
    found
}

/// Returns the white space before a byte in its line; none: something else is there, or the line goes on from the one
/// above.
fn indentation(text: &str, at: usize) -> Option<&str> {
    let start = text[..at].rfind('\n').map_or(0, |end| end + 1);
    let above = text[..start].trim_end_matches(['\n', '\r']);
    // A form feed begins the count anew.
    let before = text[start..at].trim_start_matches('\u{feff}').rsplit('\u{c}').next()?;
    (before.bytes().all(|b| matches!(b, b' ' | b'\t')) && !above.ends_with('\\')).then_some(before)
}
