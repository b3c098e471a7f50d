//! Names of files with spaces in them, which a line above a block holds in full.

use super::wording::NEW_BEFORE;
use super::{KnownFile, has_outside, is_file, is_path, slashed, undressed};
use crate::edit::op::LongerName;

/// Words beside the path in a line that heads a file.
pub(super) const HEAD_WORDS: [&str; 33] = [
    "a", "the", "this", "is", "here", "in", "at", "to", "for", "of", "as", "new", "file", "path", "filename", "name",
    "updated", "update", "created", "create", "added", "add", "modified", "modify", "changed", "changes", "write",
    "save", "contents", "content", "complete", "line", "lines",
];
/// Words of them that say that a file is meant, not what else may be called so: `Node.js`.
pub(super) const FILE_WORDS: [&str; 9] =
    ["file", "path", "filename", "updated", "created", "modified", "added", "contents", "content"];
/// The most words beside the path.
pub(super) const MOST_WORDS: usize = 5;

/// The most words of a name.
const MOST_PARTS: usize = 6;
/// Words that begin a command or a sentence, not the name of a file.
const FIRST_WORDS: [&str; 57] = [
    "python", "python3", "node", "cat", "bash", "sh", "zsh", "cargo", "npm", "npx", "yarn", "go", "git", "cd", "vim",
    "nano", "touch", "mkdir", "rm", "cp", "mv", "ls", "pip", "pytest", "make", "run", "deno", "bun", "ruby", "perl",
    "php", "java", "gcc", "rustc", "chmod", "source", "sudo", "uv", "diff", "sed", "grep", "open", "see", "use",
    "edit", "check", "fix", "then", "now", "and", "also", "do", "delete", "remove", "rename", "move", "from",
];

/// Returns the name with spaces that a line is in full and that says so itself: a known one, one in quotes or behind a
/// label, in a folder of a known file, or with a folder that is written like a name.
pub(in crate::edit) fn named(line: &str, known: &[KnownFile]) -> Option<String> {
    let line = line.trim();
    let text = in_full(line, known)?;
    if known.iter().any(|file| file.path == text) {
        return Some(text.to_string());
    }
    let front = &line[..line.find(text)?];
    let first = text.split(' ').next().unwrap_or_default();
    let is_quoted = front.ends_with(['`', '"', '\'']) || front.ends_with("**");
    if is_quoted || front.contains([':', '=']) {
        return Some(text.to_string());
    }
    if is_said(line) || ends_known(text, known) {
        return None;
    }
    let folder = text.rsplit_once('/').map(|(folder, _)| format!("{folder}/"));
    if folder.is_some_and(|folder| folder.contains(' ') && known.iter().any(|file| file.path.starts_with(&folder))) {
        return Some(text.to_string());
    }
    let top = text.split_once('/').map_or("", |(top, _)| top);
    let is_title = top.split(' ').all(|word| word.starts_with(|c: char| c.is_uppercase() || c.is_ascii_digit()));
    let is_name = first.contains('/') || is_title && !HEAD_WORDS.contains(&first.to_lowercase().as_str());
    is_name.then(|| text.to_string())
}

/// Returns the name with spaces that a line may be in full, to name it to people.
pub(in crate::edit) fn perhaps_named(line: &str, known: &[KnownFile]) -> Option<String> {
    let text = in_full(line.trim(), known)?;
    let first = text.split(' ').next().unwrap_or_default().to_lowercase();
    let is_sentence = is_said(line) || ends_known(text, known) || SAYING.contains(&first.as_str());
    (!is_sentence || named(line, known).is_some()).then(|| text.to_string())
}

/// Words that begin a sentence about a file.
const SAYING: [&str; 9] = ["here", "this", "is", "in", "at", "to", "for", "of", "as"];

/// Returns whether a line ends as a sentence before a block does.
fn is_said(line: &str) -> bool {
    line.trim_end().trim_end_matches(['*', '_']).ends_with([':', '：'])
}

/// Returns whether a text is words before the path of a known file.
fn ends_known(text: &str, known: &[KnownFile]) -> bool {
    known.iter().any(|file| text.strip_suffix(&file.path).is_some_and(|rest| rest.ends_with(' ')))
}

/// Returns the name of which `path`, which a line speaks of, may be the end only.
pub(in crate::edit) fn longer(line: &str, path: &str, known: &[KnownFile]) -> Option<LongerName> {
    let line = line.trim();
    let text = undressed(line);
    let before = text.strip_suffix(path)?.strip_suffix(' ').filter(|before| is_name(before))?;
    let words: Vec<String> = before.split(' ').map(str::to_lowercase).collect();
    let makes = |verb: &String| ["create", "add", "write", "save", "make"].contains(&verb.as_str());
    let presents = |word: &String| ["is", "here's", "这是", "以下是", "下面是"].contains(&word.as_str());
    let is_sentence = is_said(line) || line.ends_with(['.', '。']);
    let says_file = words.iter().any(|word| FILE_WORDS.contains(&word.as_str()) || NEW_BEFORE.contains(&word.as_str()))
        || is_sentence && words.last().is_some_and(|word| makes(word) || presents(word));
    // Of a known file a sentence may well speak so: `In src/a.py:`.
    let is_known = known.iter().any(|file| file.path == path);
    let is_plain = is_said(line) || !path.contains('/');
    let is_doubtful = match is_known {
        true => words.len() == 1 && !says_file && !is_plain && !FIRST_WORDS.contains(&words[0].as_str()),
        false => words.len() <= 2 && !says_file,
    };
    (words.len() <= MOST_WORDS).then(|| LongerName { path: text.to_string(), is_doubtful })
}

/// Returns a line with the one name that it quotes, which has spaces, taken out of it, and that name.
pub(super) fn quoted(line: &str) -> Option<(String, &str)> {
    let (before, rest) = line.split_once('`')?;
    let (inner, after) = rest.split_once('`').filter(|(_, after)| !after.contains('`'))?;
    in_full(inner, &[]).filter(|name| *name == inner).map(|name| (format!("{before} {after}"), name))
}

/// Returns the text of a line without the marks around it, where it may be a name with spaces.
fn in_full<'l>(line: &'l str, known: &[KnownFile]) -> Option<&'l str> {
    let text = undressed(line);
    let first = text.split(' ').next().unwrap_or_default().to_lowercase();
    let is_other = |word: &&str| is_file(word) && is_path(word, known);
    let others = || text.rsplit(' ').skip(1).filter(is_other).count();
    let fits = text.contains(' ') && text.split(' ').count() <= MOST_PARTS && slashed(text) == text;
    let is_it = fits && is_name(text) && is_file(text) && others() == 0 && !FIRST_WORDS.contains(&first.as_str());
    is_it.then_some(text)
}

/// Returns whether a text has only what the name of a file has, and single spaces.
fn is_name(text: &str) -> bool {
    let is_odd = |part: &str| part.is_empty() || part.starts_with(' ') || part.ends_with(' ');
    let inner = text.strip_suffix('/').unwrap_or(text);
    text.len() <= 255
        && !text.contains("  ")
        && !text.contains(['`', '*', '"', ':', '#', '\t'])
        && !has_outside(text, false)
        && !inner.split('/').any(is_odd)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str) -> KnownFile {
        KnownFile { path: path.into(), text: "".into() }
    }

    #[test]
    fn a_line_in_quotes_or_like_a_name_is_the_name_in_full() {
        for (line, path) in [
            ("`a b/new.py`", "a b/new.py"),
            ("\"My Project/new.py\"", "My Project/new.py"),
            ("**`New folder/b.py`**:", "New folder/b.py"),
            ("File: a b/new.py", "a b/new.py"),
            ("My Project/new.py", "My Project/new.py"),
            ("### My Project/new.py", "My Project/new.py"),
            ("src/a file.py", "src/a file.py"),
        ] {
            assert_eq!(named(line, &[]).as_deref(), Some(path), "{line}");
        }
        for line in [
            "python src/a.py",
            "`python src/a.py`",
            "Run Tests/a.py",
            "See src/new.py:",
            "My Project/new.py and b.py",
            "src/a.py and src/b.py",
            "New folder/m.py",
            "Update docs/m.py",
            "Fix it in src/a.py",
            "src/a.py",
        ] {
            assert_eq!(named(line, &[]), None, "{line}");
        }
        assert_eq!(named("New folder/b.py", &[file("New folder/a.py")]).as_deref(), Some("New folder/b.py"));
        assert_eq!(named("Old src/a.py", &[file("src/a.py")]), None);
        assert_eq!(perhaps_named("my new mod.py", &[]).as_deref(), Some("my new mod.py"));
        for line in ["Here is my new mod.py:", "In this new mod.py", "Old src/a.py"] {
            assert_eq!(perhaps_named(line, &[file("src/a.py")]), None, "{line}");
        }
    }

    #[test]
    fn the_words_before_a_path_may_belong_to_its_name() {
        let doubt =
            |line: &str, path: &str, known: &[KnownFile]| longer(line, path, known).map(|name| name.is_doubtful);
        for line in ["New folder/m.py", "the folder/m.py:", "in folder/m.py"] {
            assert_eq!(doubt(line, "folder/m.py", &[]), Some(true), "{line}");
        }
        for line in [
            "Updated folder/m.py:",
            "Here is the new file folder/m.py:",
            "Here's folder/m.py:",
            "Please create folder/m.py.",
            "Below is folder/m.py.",
            "创建 folder/m.py：",
        ] {
            assert_eq!(doubt(line, "folder/m.py", &[]), Some(false), "{line}");
        }
        for line in ["folder/m.py", "In `folder/m.py`:", "See: folder/m.py is it"] {
            assert_eq!(doubt(line, "folder/m.py", &[]), None, "{line}");
        }
        let known = [file("folder/b.py")];
        assert_eq!(doubt("New folder/b.py", "folder/b.py", &known), Some(true));
        assert_eq!(doubt("In folder/b.py:", "folder/b.py", &known), Some(false));
        assert_eq!(doubt("### Fix folder/b.py", "folder/b.py", &known), Some(false));
    }
}
