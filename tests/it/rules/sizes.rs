//! Files, functions and folders below `src` stay small.

use std::collections::BTreeMap;

use super::sources;

/// The longest file, without its `mod tests`, in lines.
const FILE: usize = 500;
/// The longest function, in lines.
const FUNCTION: usize = 60;
/// The fullest folder, in `.rs` files.
const FOLDER: usize = 15;

/// The files that are still too large. These lists only shrink.
const LONG_FILES: &[&str] = &[];
const LONG_FUNCTIONS: &[&str] = &[];
const FULL_FOLDERS: &[&str] = &[];

#[test]
fn no_file_is_longer_than_500_lines() {
    let mut broken = Vec::new();
    for source in sources() {
        let lines = source.text.lines().count();
        let listed = LONG_FILES.contains(&source.path.as_str());
        if (lines > FILE) != listed {
            broken.push(format!(
                "{} has {lines} lines{}",
                source.path,
                if listed { ": take it off the list" } else { "" }
            ));
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
fn no_function_is_longer_than_60_lines() {
    let (mut broken, mut long) = (Vec::new(), Vec::new());
    for source in sources() {
        for (name, body) in functions(&source.text) {
            let (name, lines) = (format!("{}: {name}", source.path), body.lines().count());
            if lines > FUNCTION && !LONG_FUNCTIONS.contains(&name.as_str()) {
                broken.push(format!("{name} has {lines} lines"));
            }
            long.push((lines > FUNCTION).then_some(name));
        }
    }
    for listed in LONG_FUNCTIONS.iter().filter(|listed| !long.iter().flatten().any(|name| name == *listed)) {
        broken.push(format!("{listed} is not long any more: take it off the list"));
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
fn no_folder_holds_more_than_15_files() {
    let mut folders: BTreeMap<String, usize> = BTreeMap::new();
    for path in super::paths() {
        let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
        *folders.entry(folder.to_string()).or_default() += 1;
    }
    folders.retain(|folder, files| *files > FOLDER && !FULL_FOLDERS.contains(&folder.as_str()));
    assert!(folders.is_empty(), "{folders:?}");
}

/// The functions of a text as rustfmt leaves it, each by its name and with its lines: the closing brace stands under the
/// line that the function begins with.
pub fn functions(text: &str) -> Vec<(&str, String)> {
    let lines: Vec<&str> = text.lines().collect();
    let mut found = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let indent = &line[..line.len() - line.trim_start().len()];
        let Some(name) = function_name(line.trim_start()) else { continue };
        let end = format!("{indent}}}");
        let ends = |line: &&str| **line == end || line.ends_with(';') && !line.starts_with(&format!("{indent} "));
        let one_line = line.ends_with('}') || line.ends_with(';');
        let length = if one_line { 1 } else { lines[at..].iter().position(ends).map_or(1, |n| n + 1) };
        found.push((name, lines[at..at + length].join("\n")));
    }
    found
}

/// The name of the function that a line begins, if it begins one.
fn function_name(line: &str) -> Option<&str> {
    let mut rest = line;
    loop {
        let (word, after) = rest.split_once(' ')?;
        rest = match word {
            "fn" => return after.split(['(', '<']).next(),
            "pub(in" => after.split_once(") ")?.1,
            "pub" | "pub(super)" | "pub(crate)" | "const" | "async" | "unsafe" => after,
            _ => return None,
        };
    }
}

#[test]
fn functions_are_found_with_their_lines() {
    let text = "impl A {\n    pub(in crate::a) fn long(\n        &self,\n    ) -> u8 {\n        if x {\n        }\n        1\n    }\n\n    fn short() {}\n}\n\
                trait T {\n    fn none(&self);\n    async fn some<X>(\n        x: X,\n    );\n}\npub const fn c() -> u8 {\n    1\n}\n";
    let found: Vec<_> = functions(text).into_iter().map(|(name, body)| (name, body.lines().count())).collect();
    assert_eq!(found, [("long", 7), ("short", 1), ("none", 1), ("some", 3), ("c", 3)]);
}
