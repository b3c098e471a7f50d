//! Paths in a text: on a line of their own in the dress models give them, and in the middle of a sentence.

pub(in crate::edit) mod claims;
pub(in crate::edit) mod heads;
pub(in crate::edit) mod labels;
pub(in crate::edit) mod namesakes;
pub(in crate::edit) mod openers;
mod remarks;
pub(in crate::edit) mod spaced;
mod wording;

use std::borrow::Cow;

use self::remarks::{has_remark, without_remark};
use super::pieces::KnownFile;
use crate::edit::path::{bare, has_extension, is_usual_extension, with_words};

/// Returns a line that is nothing but a path, perhaps with a label or marks around it. A line whose beginning
/// [`may_be_path`] let go is none, so that it is the same in whatever pieces it arrives.
pub(in crate::edit) fn path_line(line: &str, known: &[KnownFile]) -> Option<String> {
    if line.trim().len() > LONGEST_LINE || is_of_tree(line) || with_words(line).is_some() {
        return None;
    }
    let text = slashed(undressed(line));
    let held = || line.char_indices().all(|(at, _)| may_be_path(&line[..at], known));
    (is_path(&text, known) && held()).then(|| text.into_owned())
}

/// Returns whether the first line of a fence may name a file that is not there, at this path. Code looks much like a path
/// there: a decorator (`@pytest.fixture`), a table (`[tool.ruff]`), a pattern (`*.log`, `.env`), a member (`df.shape`).
pub(in crate::edit) fn names_new_file(line: &str, path: &str, known: &[KnownFile]) -> bool {
    let line = line.trim();
    let is_code = line.starts_with(['@', '[', '\'', '"'])
        || ["**/", "*.", "./", "- ", "+ ", "* "].iter().any(|begins| line.starts_with(begins))
        || line.starts_with("--") && !line.starts_with("-- ")
        || line.starts_with('#') && !line.trim_start_matches('#').starts_with(' ')
        || line.starts_with('.') && !path.contains('/') && !path.ends_with("ignore") && !path.ends_with("rc")
        || line.split_once(". ").is_some_and(|(number, _)| number.bytes().all(|byte| byte.is_ascii_digit()));
    let [line, lower] = [line.to_ascii_lowercase(), path.to_ascii_lowercase()];
    let is_labelled = || LABELS.iter().any(|label| line.starts_with(label) && !lower.starts_with(label));
    !is_code && (path.contains('/') || is_likely(path, known) || is_labelled())
}

/// Returns whether a line is one of a drawn tree of files: `└── a.py`, `|-- a.py`.
pub(in crate::edit) fn is_of_tree(line: &str) -> bool {
    let line = line.trim_start();
    line.starts_with(['│', '├', '└', '╰', '┃', '┣', '┗', '║', '╠', '╚'])
        || ["|--", "`--", "+--", "\\--"].iter().any(|branch| line.starts_with(branch))
}

/// Returns a line without the labels and marks around what it holds.
fn undressed(line: &str) -> &str {
    let mut text = line.trim();
    loop {
        let stripped = decoration(text).map_or(text, |rest| rest.trim_start());
        let stripped = stripped.trim_end_matches(CLOSING);
        let ended = match stripped.as_bytes().last() {
            Some(b'>' | b'/' | b'-' | b'=' | b')') => ENDS.iter().find_map(|end| stripped.strip_suffix(end)),
            _ => None,
        };
        let stripped = without_remark(ended.unwrap_or(stripped).trim());
        let stripped = bare(unbracketed(stripped));
        if stripped == text {
            return text;
        }
        text = stripped;
    }
}

/// The length, in bytes, above which a line is no path.
const LONGEST_LINE: usize = 300;

/// Returns the path in `[path]`, or the target of `[name](path)`.
fn unbracketed(text: &str) -> &str {
    let Some((inner, rest)) = text.strip_prefix('[').and_then(|inner| inner.split_once(']')) else { return text };
    match rest.strip_prefix('(') {
        Some(target) => target.strip_suffix(')').unwrap_or(text),
        None if rest.is_empty() => inner,
        None => text,
    }
}

/// Returns whether the beginning of a line may become what [`unbracketed`] takes apart, with the marks that may stand
/// behind it.
fn may_be_bracketed(text: &str) -> bool {
    let Some(inner) = text.strip_prefix('[') else { return false };
    let Some((_, rest)) = inner.split_once(']') else { return true };
    let Some(target) = rest.strip_prefix('(') else { return may_end(rest) };
    let mut open = 1_i32;
    let closing = target.char_indices().find(|(_, c)| {
        open += i32::from(*c == '(') - i32::from(*c == ')');
        open == 0
    });
    match closing {
        Some((at, _)) => may_end(&target[at + 1..]),
        None => true,
    }
}

/// Returns whether nothing but a line's number and closing marks stands behind a path, as far as it has arrived.
fn may_end(rest: &str) -> bool {
    let rest =
        rest.trim_start_matches(|c: char| c.is_ascii_digit() || c == '-' || c.is_whitespace() || CLOSING.contains(&c));
    without_ends(rest).is_empty()
}

/// Returns a path as it is written on Windows, with `/`.
pub(in crate::edit) fn slashed(word: &str) -> Cow<'_, str> {
    let odd = |part: &str| part.is_empty() || part.contains(['/', ' ']);
    match word.contains('\\') && !word.split('\\').any(odd) {
        true => word.replace('\\', "/").into(),
        false => word.into(),
    }
}

/// Characters that may precede a path on its line.
const DECORATION: [&str; 22] = [
    "######", "#####", "####", "###", "##", "#", "//", "<!--", "/*", "--", ";", "- ", "* ", "+ ", "**", "`", "\"", "'",
    "*", "@", "===", ": ",
];
/// Single characters that may stand after it.
const CLOSING: [char; 9] = ['*', '`', '"', '\'', ':', '：', '】', '」', '』'];
/// Characters that may follow it.
const ENDS: [&str; 26] = [
    "-->",
    "*/",
    "---",
    "===",
    "(new)",
    "(new file)",
    "(modified)",
    "(updated)",
    "(changed)",
    "(created)",
    "(deleted)",
    "(nuevo)",
    "(nueva)",
    "(archivo nuevo)",
    "(nuevo archivo)",
    "(neu)",
    "(neue Datei)",
    "(nouveau)",
    "(nouveau fichier)",
    "(novo)",
    "(新規)",
    "(新規作成)",
    "(新建)",
    "(新文件)",
    "(새 파일)",
    "(новый файл)",
];
const LABELS: [&str; 9] =
    ["path:", "file:", "filename:", "file path:", "filepath:", "file name:", "title:", "path =", "file"];
/// Labels in other languages, before a colon.
const FOREIGN_LABELS: [&str; 9] =
    ["ファイル", "ファイル名", "ファイルパス", "パス", "文件", "文件名", "文件路径", "路径", "파일"];

/// Returns `text` without the decoration or label that it begins with in front of a path. It is called for every line
/// while the line is streamed, so the first byte decides which ones are compared.
fn decoration(text: &str) -> Option<&str> {
    let first = *text.as_bytes().first()?;
    if first.is_ascii_punctuation() {
        return DECORATION.iter().find_map(|d| text.strip_prefix(d));
    }
    let label = |l: &&str| text.get(..l.len()).is_some_and(|t| t.eq_ignore_ascii_case(l));
    let labels: &[&str] = if first.is_ascii_alphabetic() { &LABELS } else { &[] };
    if let Some(label) = labels.iter().find(|l| first.eq_ignore_ascii_case(&l.as_bytes()[0]) && label(l)) {
        let rest = &text[label.len()..];
        // The bare word `file` is a label only before a space, and the marks of emphasis may stand after it.
        return (label.ends_with([':', '=']) || rest.starts_with([' ', ':', '*'])).then_some(rest);
    }
    if !first.is_ascii() {
        return foreign(text);
    }
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    (1..=3)
        .contains(&digits)
        .then(|| text[digits..].strip_prefix(". ").or_else(|| text[digits..].strip_prefix(") ")))?
}

/// Returns `text` without its decoration or label, where that is not ASCII.
fn foreign(text: &str) -> Option<&str> {
    if let Some((label, rest)) = text.split_once([':', '：'])
        && FOREIGN_LABELS.contains(&label.trim_end().trim_end_matches('*'))
    {
        return Some(rest);
    }
    // A picture, an arrow or a bracket.
    let first = text.chars().next().filter(|c| !c.is_alphanumeric())?;
    Some(&text[first.len_utf8()..])
}

/// Returns whether the beginning of a line may become a path on a line of its own.
pub(in crate::edit) fn may_be_path(partial: &str, known: &[KnownFile]) -> bool {
    let mut text = partial.trim_start();
    if partial.len() > LONGEST_LINE {
        return false;
    }
    while let Some(rest) = decoration(text) {
        let rest = rest.trim_start_matches([' ', '\t']);
        if rest.len() == text.len() {
            break;
        }
        text = rest;
    }
    // Up to two words may yet turn out to be a label.
    let begins = |l: &&str| l.get(..text.len()).is_some_and(|l| l.eq_ignore_ascii_case(text));
    if LABELS.iter().chain(&["<!--", "==="]).any(begins) || text.bytes().all(|b| b.is_ascii_digit()) {
        return true;
    }
    let bare = text.strip_prefix("./").unwrap_or(text);
    let is_known = |k: &KnownFile| k.path.starts_with(bare) || bare.starts_with(&k.path);
    if known.iter().any(is_known) || may_be_bracketed(text) {
        return true;
    }
    let mut words = without_ends(text).split_ascii_whitespace();
    let Some(word) = words.next() else { return true };
    !has_outside(word, true) && !is_long(word) && words.next().is_none()
}

/// Returns the text without the line number and the closing marks it ends with, the last of which may have arrived in
/// part.
fn without_ends(text: &str) -> &str {
    let mut text = text;
    loop {
        let rest = text.trim_end();
        let number = rest.trim_end_matches(|c: char| c.is_ascii_digit() || c == '-');
        let rest = if number.ends_with(':') { number } else { rest }.trim_end_matches(CLOSING);
        let begun = |end: &'static str| (1..=end.len()).rev().filter_map(move |n| end.get(..n));
        let end = ENDS.iter().flat_map(|end| begun(end)).find(|end| rest.ends_with(end));
        let rest = &rest[..rest.len() - end.map_or(0, str::len)];
        if rest.len() == text.len() {
            return text;
        }
        text = rest;
    }
}

/// Returns whether no path on a line of its own has this character.
fn is_outside(c: char) -> bool {
    matches!(
        c,
        '<' | '>'
            | '|'
            | '?'
            | '{'
            | '}'
            | '('
            | ')'
            | '='
            | ';'
            | ','
            | '\\'
            | '!'
            | '&'
            | '$'
            | '%'
            | '^'
            | '。'
            | '、'
            | '，'
            | '！'
            | '？'
            | '；'
            | '：'
    )
}

/// Returns whether a word has a character that no path has; a folder may be in round brackets (`app/(shop)/page.tsx`).
/// `slashes`: it may yet turn out to be written with backslashes.
fn has_outside(word: &str, slashes: bool) -> bool {
    let mut before = None;
    let mut open = false;
    word.chars().any(|c| {
        let folder = (c == '(' && before == Some('/')) || (c == ')' && open);
        open = (open || c == '(') && c != '/' && c != ')';
        before = Some(c);
        let slash = slashes && c == '\\';
        !folder && !slash && is_outside(c)
    })
}

/// Returns whether a word begins with more than a folder's or a file's name: a sentence in a script without spaces.
fn is_long(word: &str) -> bool {
    word.split(['/', '\\', '.']).next().unwrap_or_default().chars().count() > LONGEST_NAME
}

/// The longest name that begins a path, in characters.
const LONGEST_NAME: usize = 30;

/// Returns whether a word is a path: known, or with a folder or an extension.
pub(in crate::edit) fn is_path(word: &str, known: &[KnownFile]) -> bool {
    if word.is_empty() || word.len() > 255 {
        return false;
    }
    let bare = word.strip_prefix("./").unwrap_or(word);
    if known.iter().any(|k| k.path == bare) {
        return true;
    }
    if has_outside(word, false)
        || is_long(word)
        || has_remark(word)
        || word.contains(char::is_whitespace)
        || word.contains("://")
        || word.contains(['`', '*', '"'])
    {
        return false;
    }
    let name = word.rsplit('/').next().unwrap_or(word);
    is_file(word)
        || (word.contains('/') && !name.is_empty() && name.chars().any(char::is_alphanumeric) && !name.ends_with('.'))
}

/// Returns whether a path is that of a file by its name: it has an extension, or is one of those that have none.
pub(in crate::edit) fn is_file(path: &str) -> bool {
    const NAMES: [&str; 13] = [
        "Makefile",
        "Dockerfile",
        "LICENSE",
        "README",
        "Justfile",
        "Gemfile",
        "Rakefile",
        "Pipfile",
        "Procfile",
        "Vagrantfile",
        "Jenkinsfile",
        "Caddyfile",
        "CODEOWNERS",
    ];
    has_extension(path) || NAMES.contains(&path.rsplit('/').next().unwrap_or(path))
}

/// Returns whether a word of a sentence is the name of a file: one in play, or one that ends as files do. Names of code,
/// such as `math.floor`, and of products are none.
pub(in crate::edit) fn is_likely(word: &str, known: &[KnownFile]) -> bool {
    if !is_path(word, known) {
        return false;
    }
    let name = word.rsplit('/').next().unwrap_or(word);
    let Some((stem, extension)) = name.rsplit_once('.') else {
        return is_file(word) || known.iter().any(|file| same_path(word, &file.path));
    };
    if stem.is_empty() {
        // A name that begins with a dot, not an extension that is spoken of: `.py`.
        let is_own = DOTFILES.split(' ').any(|own| own == extension) || extension.ends_with("ignore");
        return is_own || extension.ends_with("rc") || known.iter().any(|file| same_path(word, &file.path));
    }
    let extension = extension.to_lowercase();
    let ends_so = |file: &KnownFile| file.path.rsplit_once('.').is_some_and(|(_, end)| end == extension);
    let is_extension = is_usual_extension(&extension) || is_likely(stem, known) || known.iter().any(ends_so);
    let is_product =
        || PRODUCTS.split(' ').any(|own| own == name) && !known.iter().any(|file| same_path(word, &file.path));
    is_extension && !is_product()
}

/// Names behind a dot that files have, beside those that end in `ignore` and `rc`.
const DOTFILES: &str = "env editorconfig gitattributes gitmodules gitkeep nojekyll htaccess python-version";
/// Names that end as files do and are none.
const PRODUCTS: &str = "Node.js node.js React.js Vue.js Next.js Nuxt.js Express.js Three.js D3.js Chart.js Angular.js Ember.js \
    Backbone.js Alpine.js Solid.js Nest.js Moment.js Day.js Discord.js Electron.js Meteor.js P5.js \
    Svelte.js TensorFlow.js";

/// Returns whether a path is that of a known file but for `./`, or for the folders in front of it where it is absolute.
pub(in crate::edit) fn same_path(path: &str, known: &str) -> bool {
    let (path, known) = (path.strip_prefix("./").unwrap_or(path), known.strip_prefix("./").unwrap_or(known));
    let in_front = || path.strip_suffix(known).filter(|_| path.starts_with('/') && !known.is_empty());
    path == known || in_front().is_some_and(|front| front.ends_with('/'))
}

/// Returns a path without the side of a diff in front (`a/`, `b/`), where only what remains is a known file.
pub(in crate::edit) fn without_side<'p>(path: &'p str, known: &[KnownFile]) -> &'p str {
    let is_known = |path: &str| known.iter().any(|file| same_path(path, &file.path));
    let bare = path.strip_prefix("a/").or_else(|| path.strip_prefix("b/"));
    bare.filter(|bare| is_known(bare) && !is_known(path)).unwrap_or(path)
}

/// Returns whether a text has a line, whatever blanks are around it.
pub(in crate::edit) fn holds_line(text: &str, line: &str) -> bool {
    text.lines().any(|own| own.trim() == line.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_on_a_first_line_names_no_new_file_and_a_remark_is_no_part_of_a_name() {
        for line in [
            "@pytest.fixture",
            "[tool.ruff]",
            "[profile.release]",
            ".env",
            "*.log",
            "**/*.py",
            "./scripts/run.sh",
            "df.shape",
            ".btn.primary",
            "'use.strict'",
            "#app.header",
            "- README.md",
            "1. main.py",
            "--config.yml",
            "Next.js",
            "profile.release",
            "file.read",
        ] {
            let path = path_line(line, &[]);
            assert!(!path.as_ref().is_some_and(|path| names_new_file(line, path, &[])), "{line}: {path:?}");
        }
        for (line, path) in [
            ("src/new.py", "src/new.py"),
            ("# app.py", "app.py"),
            ("-- schema.sql", "schema.sql"),
            ("<!-- index.html -->", "index.html"),
            (".github/workflows/ci.yml", ".github/workflows/ci.yml"),
            ("**web/app.js**", "web/app.js"),
            ("file: notes.zz", "notes.zz"),
            ("### tests/test_shapes.py（新規作成）", "tests/test_shapes.py"),
            ("tests/a.py（テスト）：", "tests/a.py"),
        ] {
            assert_eq!(path_line(line, &[]).as_deref(), Some(path), "{line}");
            assert!(names_new_file(line, path, &[]), "{line}");
        }
    }

    #[test]
    fn paths_are_found_with_the_usual_marks_around_them() {
        for line in [
            "src/a.rs",
            "`src/a.rs`",
            "**src/a.rs**",
            "### src/a.rs",
            "path: src/a.rs",
            "File: `src/a.rs`:",
            "# src/a.rs",
            "// src/a.rs",
            "1. src/a.rs",
            "- **src/a.rs**:",
            "<!-- src/a.rs -->",
            "**File:** src/a.rs",
            "./src/a.rs",
            "**File**: `src/a.rs`",
            "[src/a.rs]",
            "[a.rs](src/a.rs)",
            "📄 src/a.rs",
            "=== src/a.rs ===",
            "src/a.rs (new file)",
            "**`src/a.rs`** (modified):",
            "ファイル: src/a.rs",
            "文件：`src/a.rs`",
            "【src/a.rs】",
            "[the file](src/a.rs) (new):",
            "[src/a.rs:3]",
            "src/a.rs :12",
            "src/a.rs======",
            "src/a.rs(deleted)",
            "src/a.rs#L5",
            "src/a.rs#L5-L6",
            "_src/a.rs_",
            "“src/a.rs”",
            "src/a.rs.",
        ] {
            let path = path_line(line, &[]).unwrap_or_else(|| panic!("{line}"));
            assert_eq!(path.trim_start_matches("./"), "src/a.rs", "{line}");
            for (at, _) in line.char_indices() {
                assert!(may_be_path(&line[..at], &[]), "{line} up to {at}");
            }
        }
        for line in [
            "Done.",
            "Here it is:",
            "e.g.",
            "3.14",
            "https://a.b/c",
            "foo.bar()",
            "a - b.c",
            "and/or nothing",
            "└── a.py",
            "│   ├── src/a.py",
            "    └──a.py",
            "`-- a.py",
            "|   `-- a.py",
        ] {
            assert_eq!(path_line(line, &[]), None, "{line}");
        }
    }

    #[test]
    fn a_sentence_is_not_held_back_for_a_path() {
        for line in [
            "申し訳ありません、",
            "Here is",
            "これは在庫を追加するときに数量が負の値にならないようにするための変更で数量を確認",
        ] {
            assert!(!may_be_path(line, &[]), "{line}");
        }
        assert!(may_be_path("app/(shop", &[]) && path_line("app/(shop)/page.tsx", &[]).is_some());
        assert_eq!(path_line("foo(bar).rs", &[]), None);
    }
}
