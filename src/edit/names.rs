//! The names that models give to the tools that edit and to their parameters. Calls and elements in a text are read by
//! the same lists.

use std::sync::OnceLock;

/// An element that is an edit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::edit) enum Element {
    Replace,
    Write,
    Lines,
    Delete,
    Move,
}

/// The names that a call's tool is given under.
pub const TOOL: &[&str] = &["name", "tool", "tool_name", "function", "action"];
/// Other names of `replaceInFile`.
pub const REPLACE_IN_FILE: &[&str] = &["strReplace", "searchReplace"];
/// Other names of `writeFile`.
pub const WRITE_FILE: &[&str] = &["createFile", "writeToFile"];

/// Other names of a file's path.
pub const PATH: &[&str] = &["file", "filepath", "file_path", "filename", "filePath"];
/// Other names of a search text.
pub const SEARCH: &[&str] = &["old_string", "old_str", "old", "find"];
/// Other names of a replacement.
pub const REPLACE: &[&str] = &["new_string", "new_str", "new", "replacement"];
/// The names of a file's whole text.
pub const CONTENT: &[&str] = &["content", "contents", "text", "new_content", "newContent", "file_text"];
/// Other names of the path that a file moves to.
pub const TO: &[&str] = &["destination", "new_path", "newPath"];

/// The elements, each with the tools that it may be named after and their other names. `edit_file` holds a search text.
const ELEMENTS: [(Element, &[&str], &[&str]); 7] = [
    (Element::Replace, &["replaceFile", "replaceInFile"], REPLACE_IN_FILE),
    (Element::Replace, &["editFile"], &[]),
    (Element::Replace, &["applyDiff"], &[]),
    (Element::Write, &["writeFile"], WRITE_FILE),
    (Element::Lines, &["replaceLines"], &[]),
    (Element::Delete, &["deleteFile"], &[]),
    (Element::Move, &["moveFile"], &[]),
];

/// The fields of elements with their other names.
const FIELDS: [(&str, &[&str]); 9] = [
    ("path", PATH),
    ("search", SEARCH),
    ("replace", REPLACE),
    ("content", CONTENT),
    ("start", &[]),
    ("end", &[]),
    ("expect", &[]),
    ("to", TO),
    ("diff", &[]),
];

/// Returns the names of elements, as `write_file` and `writeFile`, with what they are.
pub(in crate::edit) fn elements() -> &'static [(String, Element)] {
    static NAMES: OnceLock<Vec<(String, Element)>> = OnceLock::new();
    NAMES.get_or_init(|| {
        let rows = ELEMENTS.iter().flat_map(|(kind, own, others)| own.iter().chain(*others).map(move |n| (*n, *kind)));
        rows.flat_map(|(name, kind)| [(snake(name), kind), (name.to_string(), kind)]).collect()
    })
}

/// Returns the names of fields, with the ones that nebula gives them.
pub(in crate::edit) fn fields() -> impl Iterator<Item = (&'static str, &'static str)> {
    FIELDS.iter().flat_map(|(own, others)| {
        let others = others.iter().filter(move |other| *other != own);
        std::iter::once(own).chain(others).map(move |name| (*name, *own))
    })
}

/// Returns `writeFile` as `write_file`.
fn snake(name: &str) -> String {
    let mut text = String::new();
    for c in name.chars() {
        if c.is_ascii_uppercase() {
            text.push('_');
        }
        text.push(c.to_ascii_lowercase());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_of_a_tool_that_edits_is_an_element_too() {
        let calls = crate::tools::ToolSet::builtin().calls();
        let names = REPLACE_IN_FILE.iter().map(|name| (*name, "replaceInFile", Element::Replace));
        let names = names.chain(WRITE_FILE.iter().map(|name| (*name, "writeFile", Element::Write)));
        let own = [("editFile", "editFile", Element::Replace), ("moveFile", "moveFile", Element::Move)];
        for (name, tool, kind) in names.chain(own) {
            for name in [name.to_string(), snake(name)] {
                assert_eq!(calls.own_name(&name), Some(tool));
                assert!(elements().contains(&(name, kind)), "{tool}");
            }
        }
        assert_eq!(fields().filter(|(_, own)| *own == "content").count(), CONTENT.len());
    }
}
