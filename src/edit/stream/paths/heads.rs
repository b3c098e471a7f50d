//! Paths in the middle of a line: of one that heads a file in a way of its own, and of a sentence.

use super::spaced::{HEAD_WORDS, MOST_WORDS, named, quoted};
use super::{KnownFile, LONGEST_LINE, is_file, is_likely, is_path, same_path};
use crate::edit::names;
use crate::edit::path::{bare, with_words};

/// Returns the path of the file that a line above a block heads in a way of its own, and that means nothing else:
/// `Updated src/a.py:`, `<path>a.py</path>`, `{"path": "a.py"}`, `(src/a.py)`. A command is none.
pub(in crate::edit) fn headed(line: &str, known: &[KnownFile]) -> Option<String> {
    let line = line.trim();
    if line.is_empty() || line.len() > LONGEST_LINE {
        return None;
    }
    if line.starts_with('{') {
        return in_object(line).filter(|path| is_path(path, known) && is_file(path));
    }
    if let Some(name) = named(line, known) {
        return Some(name);
    }
    if let Some(path) = before_words(line, known) {
        return Some(path.to_string());
    }
    if with_words(line).is_some() {
        return None;
    }
    let line = in_tags(line).unwrap_or(line);
    let in_quotes = quoted(line);
    let (line, mut path) = in_quotes.as_ref().map_or((line, None), |(rest, name)| (rest.as_str(), Some(*name)));
    let mut words = 0;
    for word in line.split_whitespace() {
        let inner = bare(word.trim_end_matches([',', ';', ':', '：', '!']));
        if is_path(inner, known) && is_file(inner) {
            if path.replace(inner).is_some() {
                return None;
            }
            continue;
        }
        let plain = word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
        let is_sign = plain.is_empty();
        if is_sign && matches!(word, "$" | "%" | ">" | ">>" | "<" | "|" | "&&" | "||" | "<<") {
            return None;
        }
        if is_sign || plain.bytes().all(|b| b.is_ascii_digit() || b == b'-') {
            continue;
        }
        if !HEAD_WORDS.contains(&plain.as_str()) {
            return None;
        }
        words += 1;
    }
    // In a sentence a name of code, or of a product, may end as a file does.
    let fits = |path: &&str| words <= MOST_WORDS && (path.contains(' ') || is_likely(path, known));
    let path = path.filter(|path| words == 0 || fits(path))?;
    Some(path.to_string())
}

/// Returns the path that a line begins with, and of the file of which it goes on to say in a few words what becomes of it:
/// `tests/a.py: new tests`. What is shown, run or left is no file.
pub(in crate::edit::stream) fn before_words<'l>(line: &'l str, known: &[KnownFile]) -> Option<&'l str> {
    const OTHER: [&str; 32] = [
        "usage",
        "example",
        "output",
        "run",
        "running",
        "see",
        "use",
        "using",
        "call",
        "before",
        "old",
        "original",
        "not",
        "no",
        "unchanged",
        "same",
        "error",
        "existing",
        "current",
        "currently",
        "wrong",
        "prints",
        "shows",
        "returns",
        "gives",
        "fails",
        "has",
        "contains",
        "optional",
        "result",
        "log",
        "fine",
    ];
    let (path, words) = with_words(line)?;
    let (before, path) = path.rsplit_once([' ', '\t']).unwrap_or(("", path));
    let path = path.trim_start_matches(['*', '`', '"', '\'']);
    let mut own = words.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let is_known = known.iter().any(|file| same_path(path, &file.path));
    let is_new = NEW.iter().any(|new| words.to_lowercase().starts_with(new));
    let is_said = (is_known || is_new)
        && own.clone().count() <= MOST_SAID
        && !own.any(|word| OTHER.contains(&word.to_lowercase().as_str()));
    // An item of a list tells what a file is.
    let is_item = before.trim_start().starts_with(['-', '•', '+']) || before.trim() == "*";
    (is_said && !is_item && !before.contains(char::is_alphabetic) && is_likely(path, known)).then_some(path)
}

/// Beginnings of words that say of a file that it is new.
const NEW: [&str; 17] = [
    "new ",
    "newly",
    "create",
    "add test",
    "added",
    "新",
    "追加",
    "作成",
    "创建",
    "添加",
    "새",
    "추가",
    "neu",
    "nuev",
    "nouv",
    "nov",
    "созда",
];

/// More words than this say something else.
const MOST_SAID: usize = 8;

/// Returns the text between an opening and a closing tag.
fn in_tags(line: &str) -> Option<&str> {
    let (_, inside) = line.strip_prefix('<')?.split_once('>')?;
    Some(inside.strip_suffix('>')?.rsplit_once("</")?.0)
}

/// Returns the path in an object that holds nothing else.
fn in_object(line: &str) -> Option<String> {
    let object: serde_json::Map<String, serde_json::Value> = serde_json::from_str(line).ok()?;
    let mut fields = object.iter().filter(|(name, _)| *name == "path" || names::PATH.contains(&name.as_str()));
    let (_, path) = fields.next().filter(|_| object.len() == 1)?;
    Some(bare(path.as_str()?).to_string())
}

/// Returns the one known path that a line of prose mentions.
pub(in crate::edit) fn mentioned<'k>(line: &str, known: &'k [KnownFile]) -> Option<&'k str> {
    let mut hits = known.iter().filter(|k| names(line, &k.path));
    let hit = hits.next().filter(|hit| named(line, known).is_none_or(|name| name == hit.path))?;
    hits.next().is_none().then_some(hit.path.as_str())
}

/// Returns whether a line has this path in it, not as a part of another one.
pub(super) fn names(line: &str, path: &str) -> bool {
    let joins = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '/' | '\\');
    line.match_indices(path).any(|(at, _)| {
        let before = &line[..at];
        let before = before.strip_suffix("./").or_else(|| before.strip_suffix("@/")).unwrap_or(before);
        let mut after = line[at + path.len()..].chars();
        let ends = match after.next() {
            Some('.') => !after.next().is_some_and(joins),
            next => !next.is_some_and(joins),
        };
        ends && !before.chars().next_back().is_some_and(|c| joins(c) || c == '.')
    })
}

#[cfg(test)]
mod tests {
    use super::super::path_line;
    use super::*;

    #[test]
    fn a_line_that_says_hardly_more_than_a_path_heads_a_file() {
        for line in [
            "path=\"src/new.py\"",
            "src/new.py (lines 1-10)",
            "src/new.py — updated",
            "Path：src/new.py",
            "Updated src/new.py:",
            "New src/new.py:",
            "In file src/new.py:",
            "In `src/new.py`:",
            "Here is the new file src/new.py:",
            "(src/new.py)",
            "<path>src/new.py</path>",
            "<file>src/new.py</file>",
            "{\"path\": \"src/new.py\"}",
            "src/new.py.",
            "\"src/new.py\",",
            ">>> src/new.py",
            "--- src/new.py ---",
            "src/new.py @ line 5",
            "✅ src/new.py",
        ] {
            assert_eq!(headed(line, &[]).as_deref(), Some("src/new.py"), "{line}");
        }
        for line in
            ["Updated new.py:", "Create `new.py`:", "Add `new.py`:", "Save this as `new.py`:", "Here is `new.py`:"]
        {
            assert_eq!(headed(line, &[]).as_deref(), Some("new.py"), "{line}");
        }
        for line in [
            "src/new.py：新增测试",
            "src/new.py:新增测试",
            "2. src/new.py：新規作成",
            "### `src/new.py`: new tests",
            "**src/new.py:** nuevas pruebas para f",
        ] {
            assert_eq!(headed(line, &[]).as_deref(), Some("src/new.py"), "{line}");
            assert_eq!(path_line(line, &[]), None, "{line}");
        }
        for line in [
            "src/new.py: usage",
            "src/new.py: fails with",
            "src/new.py：报错如下",
            "src/new.py: the entry point",
            "- src/new.py: adds the sums",
            "* `src/new.py`: adds the sums",
            "src/new.py: run it like this:",
            "src/new.py: stays as it is, because nothing of it is used by the rest any more",
            "math.floor: rounds down",
            "cat > src/new.py",
            "$ cat src/new.py",
            "> src/new.py",
            "python src/new.py",
            "See src/new.py:",
            "Do not write src/new.py:",
            "src/new.py and src/other.py:",
            "In Node.js:",
            "Here is the new React.js file:",
            "Updated math.floor:",
            "e.g.",
            "",
            "{\"path\": \"src/new.py\", \"content\": \"x\"}",
            "In this folder:",
        ] {
            assert_eq!(headed(line, &[]), None, "{line}");
        }
    }

    #[test]
    fn a_sentence_mentions_a_path_that_is_no_part_of_another() {
        let known = ["a.py", "b/a.py"].map(|path| KnownFile { path: path.into(), text: "".into() });
        for line in ["In `b/a.py`:", "b/a.pyを修正します。", "see ./b/a.py.", "(b/a.py)"] {
            assert_eq!(mentioned(line, &known), Some("b/a.py"), "{line}");
        }
        for line in ["a.pyc", "c/b/a.py", "a.py.bak", "a.py and b/a.py"] {
            assert_eq!(mentioned(line, &known), None, "{line}");
        }
    }
}
