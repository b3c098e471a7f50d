//! Files of data that a program reads as a whole: JSON and TOML.

use serde::de::IgnoredAny;

/// Names of JSON files in which their programs take comments.
const COMMENTED: [&str; 4] = ["tsconfig", "jsconfig", "devcontainer", ".eslintrc"];

/// Returns whether files of that name are read here.
pub fn is_data(path: &str) -> bool {
    fault_of(path).is_some()
}

/// Returns the first line, from 1, at which a new text of a file of data cannot be read any more. None: it can be read, the old
/// text could not be either, or the format is not known here.
pub fn broken_line(path: &str, old: &str, new: &str) -> Option<usize> {
    let fault = fault_of(path)?;
    if fault(path, old).is_some() { None } else { fault(path, new) }
}

/// A reader of a file by its path and text: the first line that it cannot read.
type Fault = fn(&str, &str) -> Option<usize>;

/// Returns the reader of files of that name.
fn fault_of(path: &str) -> Option<Fault> {
    match path.rsplit_once('.')?.1 {
        "json" | "webmanifest" | "ipynb" => Some(json_fault),
        "toml" => Some(toml_fault),
        _ => None,
    }
}

fn json_fault(path: &str, text: &str) -> Option<usize> {
    let error = serde_json::from_str::<IgnoredAny>(text).err()?;
    let name = path.rsplit('/').next().unwrap_or(path);
    let takes_comments = COMMENTED.iter().any(|begin| name.starts_with(begin));
    (error.is_eof() || !takes_comments).then(|| error.line().max(1))
}

fn toml_fault(_: &str, text: &str) -> Option<usize> {
    let error = toml::from_str::<toml::Table>(text).err()?;
    let at = error.span().map_or(text.len(), |span| span.start);
    Some(text.get(..at).unwrap_or(text).lines().count().max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_that_could_be_read_before_is_broken_at_a_line() {
        let json = "{\n  \"a\": 1,\n  \"b\": [2]\n}\n";
        for (path, old, new, line) in [
            ("a.json", json, "{\n  \"a\": 1,\n  \"b\": [2\n", Some(4)),
            ("a.json", json, "{\n  \"a\": 1\n  \"b\": 2\n}\n", Some(3)),
            ("a.json", json, "{\n  // why\n  \"a\": 1\n}\n", Some(2)),
            ("a.json", json, "{}", None),
            ("src/tsconfig.json", json, "{\n  // why\n  \"a\": 1\n}\n", None),
            ("src/tsconfig.json", json, "{\n  \"a\": {\n", Some(3)),
            ("a.json", "{ // why\n}", "{ // why\n", None),
            ("a.json", "", "{", None),
            ("Cargo.toml", "[a]\nb = 1\n", "[a]\nb = [\n  \"c\",\n", Some(3)),
            ("Cargo.toml", "[a]\nb = 1\n", "[a]\nb 1\nc = 2\n", Some(2)),
            ("Cargo.toml", "[a]\nb = 1\n", "[a]\nb = 2\n", None),
            ("a.yaml", "a: 1\n", "a: [\n", None),
        ] {
            assert_eq!(broken_line(path, old, new), line, "{path} {new}");
        }
    }
}
