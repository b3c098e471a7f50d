//! The vocabulary of the language: keywords, built-ins, and legal names.

use super::token::is_ident;
use crate::strand::id::Layer;

/// Built-in types with their number of arguments.
pub const TYPES: [(&str, usize); 9] = [
    ("Text", 0),
    ("Int", 0),
    ("Float", 0),
    ("Bool", 0),
    ("Unit", 0),
    ("List", 1),
    ("Set", 1),
    ("Option", 1),
    ("Map", 2),
];

/// Built-in functions.
pub const FUNCTIONS: [&str; 36] = [
    "len",
    "text",
    "float",
    "floor",
    "upper",
    "lower",
    "trim",
    "contains",
    "starts_with",
    "matches",
    "abs",
    "min",
    "max",
    "keys",
    "values",
    "has",
    "get",
    "put",
    "del",
    "update",
    "append",
    "first",
    "at",
    "map",
    "filter",
    "count",
    "sum",
    "sort_by",
    "set",
    "add",
    "drop",
    "or_else",
    "is_some",
    "with",
    "raw",
    "refine",
];

/// Built-in elements with their arguments in printed order; `*` marks a required one.
pub const ELEMENTS: [(&str, &[&str]); 10] = [
    ("column", &["gap"]),
    ("row", &["gap"]),
    ("text", &["value*"]),
    ("input", &["bind*", "label", "hint", "event", "send", "enabled"]),
    ("checkbox", &["bind", "value", "label", "event", "send", "enabled"]),
    ("button", &["label", "icon", "event", "send", "enabled"]),
    ("image", &["src*", "alt"]),
    ("link", &["to*", "label"]),
    ("each", &["item*", "of*"]),
    ("when", &["cond*"]),
];

/// A primitive's name, the capability it needs, and its parameters.
type Primitive = (&'static str, &'static str, &'static [(&'static str, &'static str)]);

/// Primitives with the capability each needs and its parameters (name and type; `any` takes all).
pub const PRIMS: [Primitive; 7] = [
    ("http.get", "net", &[("url", "Text")]),
    ("http.post", "net", &[("url", "Text"), ("body", "any")]),
    ("storage.read", "storage", &[("key", "Text")]),
    ("storage.write", "storage", &[("key", "Text"), ("value", "any")]),
    ("clock.now", "clock", &[]),
    ("random.int", "random", &[("lo", "Int"), ("hi", "Int")]),
    ("log.print", "log", &[("text", "Text")]),
];

/// Returns whether a word is reserved, and so never a name.
#[rustfmt::skip]
pub fn is_keyword(word: &str) -> bool {
    matches!(
        word,
        "and" | "do" | "else" | "emit" | "err" | "false" | "if" | "in" | "it" | "match" | "needs" | "never"
            | "nominal" | "none" | "not" | "null" | "ok" | "on" | "or" | "some" | "then" | "true" | "when" | "where"
    )
}

/// Returns whether two words are the same. Most are not, and differ in what is looked at first.
#[inline]
fn same(a: &str, b: &str) -> bool {
    a.len() == b.len() && a.as_bytes().first() == b.as_bytes().first() && a == b
}

/// Returns how many arguments a built-in type takes, if the name is one.
pub fn builtin_type(name: &str) -> Option<usize> {
    TYPES.iter().find(|(word, _)| same(word, name)).map(|(_, arity)| *arity)
}

/// Returns whether a name is a built-in function.
pub fn is_builtin_fn(name: &str) -> bool {
    FUNCTIONS.iter().any(|word| same(word, name))
}

/// Returns the arguments of a built-in element, if the name is one.
pub fn element_args(name: &str) -> Option<&'static [&'static str]> {
    ELEMENTS.iter().find(|(word, _)| same(word, name)).map(|(_, args)| *args)
}

/// Returns which argument of a built-in function is the name of a fn.
pub fn fn_argument(function: &str) -> Option<usize> {
    match function {
        "map" | "filter" | "count" | "sort_by" => Some(1),
        "update" => Some(2),
        _ => None,
    }
}

/// Returns whether the name starts with a capital letter.
pub fn is_upper(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_uppercase())
}

/// Says why a name may not be given to a definition of the layer (E0003), if so.
pub fn name_fault(layer: Layer, name: &str) -> Option<String> {
    if !is_ident(name) {
        return Some(format!(
            "'{name}' is not a name: it begins with a letter or '_', goes on with these and digits, and may hold '-' before a letter"
        ));
    }
    if is_keyword(name) {
        return Some(format!("'{name}' is a keyword and cannot be a name"));
    }
    let wants_upper = matches!(layer, Layer::Type | Layer::Tile);
    if wants_upper != is_upper(name) {
        let letter = if wants_upper { "a capital letter" } else { "a small letter" };
        return Some(format!("the name of a {layer} starts with {letter}: '{name}' does not"));
    }
    match layer {
        Layer::Type if builtin_type(name).is_some() => Some(format!("'{name}' is a built-in type")),
        Layer::Fn | Layer::Effect if is_builtin_fn(name) => Some(format!("'{name}' is a built-in function")),
        _ => None,
    }
}
