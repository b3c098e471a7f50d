//! Names in texts of Python that are code: annotations in quotes, the names of `__all__`, what a type is made with under
//! its own name (`T = TypeVar("T")`).

use std::ops::Range;
use std::rc::Rc;

use tree_sitter::Node;

use super::super::file::SourceFile;
use super::super::lang::NodeKind;
use super::super::words::is_of_name;
use super::binding::Leaves;
use super::certainty::{Certainty, CodeMention};
use super::meaning::{Meaning, Names};
use super::role::{around, is_field};
use super::{MentionFinder, names};

/// Functions and classes that are given the name of what they make.
const MAKERS: &[&str] = &[
    "Enum",
    "Flag",
    "IntEnum",
    "IntFlag",
    "NamedTuple",
    "NewType",
    "ParamSpec",
    "StrEnum",
    "TypeAliasType",
    "TypeVar",
    "TypeVarTuple",
    "TypedDict",
    "make_dataclass",
    "namedtuple",
    "new_class",
    "type",
];

/// Types whose parameters are types, and no keys.
const GENERIC: &[&str] = &[
    "AsyncGenerator",
    "AsyncIterable",
    "AsyncIterator",
    "Awaitable",
    "Callable",
    "ClassVar",
    "Collection",
    "Coroutine",
    "DefaultDict",
    "Deque",
    "Dict",
    "Final",
    "FrozenSet",
    "Generator",
    "Generic",
    "Iterable",
    "Iterator",
    "List",
    "Mapping",
    "MutableMapping",
    "Optional",
    "Sequence",
    "Set",
    "Tuple",
    "Type",
    "Union",
    "dict",
    "frozenset",
    "list",
    "set",
    "tuple",
    "type",
];

/// The kind of a text with a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum QuotedKind {
    /// A type, or what likely is one.
    Type { is_certain: bool },
    /// One of the names that `from … import *` brings.
    Listed,
    /// The name of what is made there.
    Own,
}

impl MentionFinder<'_> {
    /// Returns where texts of a file mention the definition.
    pub(super) fn in_texts(&self, file: &Rc<SourceFile>, name: &str, leaves: &Leaves<'_>) -> Vec<CodeMention> {
        let mut found = Vec::new();
        for (at, text) in &leaves.texts {
            let (at, Some(kind)) = (*at..*at + name.len(), kind(*text, file, name)) else { continue };
            let Some(path) = path_before(&file.text[text.start_byte()..at.start], kind) else { continue };
            let look = || self.of_text(file, (name, &at), path, kind);
            if let Some(certainty) = self.certainty_in(file, look) {
                let is_possible = certainty == Certainty::Name && self.leads_otherwise(file, look);
                found.push(CodeMention { at, certainty, is_alias: false, is_possible });
            }
        }
        found
    }

    /// Returns how certainly a name in a text means the definition; `path`: what stands before it, up to its dot.
    fn of_text(
        &self,
        file: &Rc<SourceFile>,
        (name, at): (&str, &Range<usize>),
        path: &str,
        kind: QuotedKind,
    ) -> Option<Certainty> {
        if self.target.is_member() {
            // A class or another name for one, which no scope of its name alone leads to.
            let is_type = [NodeKind::Class, NodeKind::Field].contains(&self.target.node().kind);
            return (is_type && kind != QuotedKind::Listed).then_some(Certainty::Name);
        }
        let meaning = match path.strip_suffix('.') {
            None => self.lookup.name(file, name, at.start, 0),
            Some(path) => names::below_path(&self.lookup, file, (path, at.start), name),
        };
        // What makes it known cannot be told.
        if kind == QuotedKind::Listed
            && self.lookup.bindings(file, name).is_empty()
            && matches!(meaning, Meaning::Elsewhere)
        {
            return Some(Certainty::Name);
        }
        let most = if kind == (QuotedKind::Type { is_certain: false }) { Certainty::Name } else { Certainty::Local };
        self.certainty(file, &meaning).map(|certainty| certainty.min(most))
    }
}

/// Returns the dotted path before a name, by the text up to it. None: it stands in a text within the text.
fn path_before(before: &str, kind: QuotedKind) -> Option<&str> {
    if matches!(kind, QuotedKind::Listed | QuotedKind::Own) {
        return Some("");
    }
    let is_quoted = ['"', '\''].iter().any(|quote| before.matches(*quote).count() % 2 == 1);
    let start = before
        .rfind(|c: char| !is_of_name(c) && c != '.')
        .map_or(0, |at| at + before[at..].chars().next().map_or(0, char::len_utf8));
    (!is_quoted).then_some(&before[start..])
}

/// Returns what the text with a name is, if it is code.
fn kind(text: Node<'_>, file: &SourceFile, name: &str) -> Option<QuotedKind> {
    let string = text.parent()?;
    let mark = file.text[string.start_byte()..text.start_byte()].to_ascii_lowercase();
    if mark.contains(['b', 'f', 't']) {
        return None;
    }
    if file.text[text.byte_range()] == *name {
        if is_listed(string, file) {
            return Some(QuotedKind::Listed);
        }
        if is_own(string, file, name) {
            return Some(QuotedKind::Own);
        }
    }
    is_type(string, file).map(|is_certain| QuotedKind::Type { is_certain })
}

/// Returns whether a text is among those that a statement gives to `__all__`.
fn is_listed(string: Node<'_>, file: &SourceFile) -> bool {
    around(string, &["expression_statement"]).is_some_and(|statement| {
        let rest = file.text[statement.byte_range()].strip_prefix("__all__");
        rest.is_some_and(|rest| !rest.starts_with(is_of_name))
    })
}

/// Returns whether a text is the name that something is made with and assigned to, or that a class has which is made of it.
fn is_own(string: Node<'_>, file: &SourceFile, name: &str) -> bool {
    let own = || {
        let arguments = string.parent().filter(|arguments| arguments.named_child(0) == Some(string))?;
        let call = arguments.parent().filter(|call| call.kind() == "call")?;
        let holder = call.parent().filter(|_| MAKERS.contains(&called(call, file)))?;
        let named = match holder.kind() {
            "assignment" => holder.child_by_field_name("left"),
            _ => holder.parent().filter(|class| class.kind() == "class_definition")?.child_by_field_name("name"),
        };
        named.filter(|named| file.text[named.byte_range()] == *name)
    };
    own().is_some()
}

/// Returns the last name of what a call calls.
fn called<'t>(call: Node<'_>, file: &'t SourceFile) -> &'t str {
    let function = call.child_by_field_name("function").map_or("", |function| &file.text[function.byte_range()]);
    function.rsplit('.').next().unwrap_or_default().trim()
}

/// Returns whether a text stands where a type does, and whether that is certain.
fn is_type(string: Node<'_>, file: &SourceFile) -> Option<bool> {
    let (mut inner, mut found) = (string, None);
    while let Some(outer) = inner.parent() {
        match outer.kind() {
            "subscript" | "generic_type" => {
                let head = file.text[outer.byte_range()].split('[').next().unwrap_or_default();
                let head = head.rsplit('.').next().unwrap_or_default().trim();
                let of_type = head.starts_with(char::is_uppercase) && head.contains(char::is_lowercase);
                found = match head {
                    "Literal" => return None,
                    // What follows the type in it is anything.
                    "Annotated" if file.text[outer.start_byte()..string.start_byte()].contains(',') => Some(false),
                    head if GENERIC.contains(&head) => found.or(Some(true)),
                    _ if of_type => found.or(Some(false)),
                    _ => found,
                };
            }
            "type" => found = found.or(Some(true)),
            "argument_list" => return found.or_else(|| is_type_argument(inner, outer, file).then_some(true)),
            "assignment" => {
                let is_alias = |of: Node<'_>| file.text[of.byte_range()].ends_with("TypeAlias");
                let is_alias = is_field(inner, "right") && outer.child_by_field_name("type").is_some_and(is_alias);
                return found.or(is_alias.then_some(true));
            }
            "type_parameter"
            | "union_type"
            | "constrained_type"
            | "member_type"
            | "binary_operator"
            | "list"
            | "tuple"
            | "expression_list"
            | "parenthesized_expression"
            | "keyword_argument" => {}
            _ => return found,
        }
        inner = outer;
    }
    found
}

/// Returns whether an argument is a type: of `cast`, or a bound of a variable for types.
fn is_type_argument(argument: Node<'_>, arguments: Node<'_>, file: &SourceFile) -> bool {
    let Some(call) = arguments.parent().filter(|call| call.kind() == "call") else { return false };
    let is_first = arguments.named_child(0) == Some(argument);
    let keyword = argument.child_by_field_name("name").map_or("", |name| &file.text[name.byte_range()]);
    match called(call, file) {
        "cast" | "ForwardRef" => is_first,
        "assert_type" => !is_first,
        "TypeVar" => !is_first && ["", "bound", "default"].contains(&keyword),
        "NewType" => !is_first,
        _ => false,
    }
}
