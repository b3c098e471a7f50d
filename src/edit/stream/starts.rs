//! What a line can be the start of. Every question has two forms: what a whole line is, and what the beginning
//! of a line may yet become. The second must hold for every beginning of a line for which the first says yes;
//! then the answer does not depend on how the text was cut.

use super::Known;

/// A fence's opening line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Fence {
    pub mark: char,
    pub length: usize,
    pub indent: usize,
    pub info: String,
}

impl Fence {
    pub fn open(line: &str) -> Option<Fence> {
        let text = line.trim_start_matches([' ', '\t']);
        let mark = text.chars().next().filter(|c| matches!(c, '`' | '~'))?;
        let length = text.chars().take_while(|c| *c == mark).count();
        let info = text[length..].trim();
        // A line with more of the mark after it is inline code.
        let fits = length >= 3 && !info.contains('`');
        fits.then(|| Fence { mark, length, indent: line.len() - text.len(), info: info.to_string() })
    }

    /// Whether the line closes this fence.
    pub fn closed_by(&self, line: &str) -> bool {
        Fence::open(line).is_some_and(|f| self.like(&f) && f.info.is_empty())
    }

    /// Whether the line opens a fence inside this one.
    pub fn opened_by(&self, line: &str) -> bool {
        Fence::open(line).is_some_and(|f| self.like(&f) && !f.info.is_empty())
    }

    fn like(&self, other: &Fence) -> bool {
        other.mark == self.mark && other.length >= self.length && other.indent <= self.indent + 3
    }

    /// Whether the beginning of a line may become a fence of this mark.
    pub fn may(partial: &str) -> bool {
        let text = partial.trim_start_matches([' ', '\t']);
        match text.chars().next() {
            None => true,
            Some(mark @ ('`' | '~')) => {
                let length = text.chars().take_while(|c| *c == mark).count();
                length == text.len() || (length >= 3 && !text[length..].contains('`'))
            }
            Some(_) => false,
        }
    }

    /// The language, lower case.
    pub fn language(&self) -> String {
        self.info.split([' ', ':', ',', '{']).next().unwrap_or_default().to_lowercase()
    }

    /// A path in the info string: `python title="a.py"`, `python:a.py`, `python a.py`, `src/a.py`.
    pub fn path(&self, known: &[Known]) -> Option<String> {
        let titled = ["title=", "path=", "file=", "filename="].iter().find_map(|key| {
            let value = self.info.split_once(key)?.1;
            let value = value.strip_prefix('"').map_or_else(|| value.split(' ').next(), |v| v.split('"').next());
            value.map(str::to_string)
        });
        titled.or_else(|| {
            let parts = self.info.split_whitespace().flat_map(|word| word.splitn(2, ':'));
            parts.map(slashed).find(|part| is_path(part, known)).map(std::borrow::Cow::into_owned)
        })
    }
}

/// A line inside a fence without the indentation the fence has.
pub(super) fn dedented(line: &str, indent: usize) -> &str {
    &line[line.bytes().take(indent).take_while(|b| *b == b' ').count()..]
}

/// `<<<<<<< SEARCH` or `------- SEARCH`, and a path behind it if there is one.
pub(super) fn search_mark(line: &str) -> Option<&str> {
    let text = line.trim();
    let marks = marks(text, [b'<', b'-']);
    let rest = text[marks..].trim_start();
    let word =
        ["SEARCH", "ORIGINAL"].iter().find(|w| rest.get(..w.len()).is_some_and(|r| r.eq_ignore_ascii_case(w)))?;
    ((5..=9).contains(&marks)).then(|| rest[word.len()..].trim_start_matches(':').trim())
}

/// How many of the same mark a text begins with.
fn marks(text: &str, of: [u8; 2]) -> usize {
    let first = text.bytes().next().filter(|b| of.contains(b));
    first.map_or(0, |mark| text.bytes().take_while(|b| *b == mark).count())
}

/// Whether the beginning of a line may become `<<<<<<< SEARCH`.
pub(super) fn may_be_search(partial: &str) -> bool {
    let text = partial.trim_start();
    let marks = marks(text, [b'<', b'-']);
    if marks > 9 || (marks < 5 && marks < text.len()) {
        return false;
    }
    let rest = text[marks..].trim_start();
    ["SEARCH", "ORIGINAL"].iter().any(|w| {
        let shared = rest.len().min(w.len());
        rest.is_char_boundary(shared) && rest[..shared].eq_ignore_ascii_case(&w[..shared])
    })
}

/// `=======`.
pub(super) fn is_divider(line: &str) -> bool {
    let text = line.trim_end();
    (5..=9).contains(&text.len()) && text.bytes().all(|b| b == b'=')
}

/// `>>>>>>> REPLACE` or `+++++++ REPLACE`.
pub(super) fn is_replace_mark(line: &str) -> bool {
    let text = line.trim();
    let marks = marks(text, [b'>', b'+']);
    let rest = text[marks..].trim_start().to_ascii_uppercase();
    let named = rest.starts_with("REPLACE") || rest.starts_with("UPDATED");
    (5..=9).contains(&marks) && (named || (rest.is_empty() && text.starts_with('>')))
}

/// The beginnings of lines that begin a patch by themselves.
const PATCH: [&str; 5] = ["*** Begin Patch", "*** Update File:", "*** Add File:", "*** Delete File:", "diff --git "];

/// Whether the line begins a patch.
pub(super) fn is_patch(line: &str) -> bool {
    PATCH.iter().any(|p| line.starts_with(p))
}

/// Whether the beginning of a line may come to begin a patch.
pub(super) fn may_be_patch(partial: &str) -> bool {
    PATCH.iter().any(|p| p.starts_with(partial) || partial.starts_with(p))
}

/// A line that is nothing but a path, perhaps with a label or marks around it.
pub(super) fn path_line(line: &str, known: &[Known]) -> Option<String> {
    let mut text = line.trim();
    if text.len() > 300 {
        return None;
    }
    loop {
        let stripped = decoration(text).map_or(text, |rest| rest.trim_start());
        let stripped = stripped.trim_end_matches(['*', '`', '"', '\'', ':']);
        let stripped = stripped.strip_suffix("-->").or_else(|| stripped.strip_suffix("*/")).unwrap_or(stripped).trim();
        if stripped == text {
            break;
        }
        text = stripped;
    }
    let text = slashed(text);
    is_path(&text, known).then(|| text.into_owned())
}

/// A path as it is written on Windows, with `/`.
fn slashed(word: &str) -> std::borrow::Cow<'_, str> {
    let odd = |part: &str| part.is_empty() || part.contains(['/', ' ']);
    match word.contains('\\') && !word.split('\\').any(odd) {
        true => word.replace('\\', "/").into(),
        false => word.into(),
    }
}

/// What may stand before a path on its line.
const DECORATION: [&str; 20] = [
    "######", "#####", "####", "###", "##", "#", "//", "<!--", "/*", "--", ";", "- ", "* ", "+ ", "**", "`", "\"", "'",
    "*", "@",
];
const LABELS: [&str; 9] =
    ["path:", "file:", "filename:", "file path:", "filepath:", "file name:", "title:", "path =", "file"];

fn decoration(text: &str) -> Option<&str> {
    if let Some(rest) = DECORATION.iter().find_map(|d| text.strip_prefix(d)) {
        return Some(rest);
    }
    let label = |l: &&str| text.get(..l.len()).is_some_and(|t| t.eq_ignore_ascii_case(l));
    if let Some(label) = LABELS.iter().find(|l| label(l)) {
        let rest = &text[label.len()..];
        // The bare word `file` is a label only before a space, and the marks of emphasis may stand after it.
        return (label.ends_with([':', '=']) || rest.starts_with([' ', ':', '*'])).then_some(rest);
    }
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    (1..=3)
        .contains(&digits)
        .then(|| text[digits..].strip_prefix(". ").or_else(|| text[digits..].strip_prefix(") ")))?
}

/// Whether the beginning of a line may become a path on a line of its own.
pub(super) fn may_be_path(partial: &str) -> bool {
    let mut text = partial.trim_start();
    if partial.len() > 300 {
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
    let lower = text.to_ascii_lowercase();
    if LABELS.iter().chain(&["<!--"]).any(|l| l.starts_with(lower.as_str())) || text.bytes().all(|b| b.is_ascii_digit())
    {
        return true;
    }
    let mut words = text.split_ascii_whitespace();
    let Some(word) = words.next() else { return true };
    let closes =
        |w: &str| w.trim_matches(['*', '`', ':', '"', '\'']).is_empty() || "-->".starts_with(w) || "*/".starts_with(w);
    !word.contains(|c| c != '\\' && OUTSIDE.contains(&c)) && words.all(closes)
}

/// Characters that no path on a line of its own has.
const OUTSIDE: &[char] = &['<', '>', '|', '?', '{', '}', '(', ')', '=', ';', ',', '\\', '!', '&', '$', '%', '^'];

/// Whether a word is a path: known, or with a folder or an extension.
pub(super) fn is_path(word: &str, known: &[Known]) -> bool {
    if word.is_empty() || word.len() > 255 {
        return false;
    }
    let bare = word.strip_prefix("./").unwrap_or(word);
    if known.iter().any(|k| k.path == bare) {
        return true;
    }
    if word.contains(OUTSIDE)
        || word.contains(char::is_whitespace)
        || word.contains("://")
        || word.contains(['`', '*', '"'])
    {
        return false;
    }
    const NAMES: [&str; 6] = ["Makefile", "Dockerfile", "LICENSE", "README", "Justfile", "Gemfile"];
    let name = word.rsplit('/').next().unwrap_or(word);
    let extension = name.rsplit_once('.').map(|(_, ext)| ext);
    let extended = extension.is_some_and(|e| {
        (1..=12).contains(&e.len())
            && e.starts_with(|c: char| c.is_ascii_alphabetic())
            && e.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_')
    });
    extended
        || NAMES.contains(&name)
        || (word.contains('/') && !name.is_empty() && name.chars().any(char::is_alphanumeric) && !name.ends_with('.'))
}

/// The one known path that a line of prose mentions.
pub(super) fn mentioned<'k>(line: &str, known: &'k [Known]) -> Option<&'k str> {
    let words: Vec<&str> = line
        .split(|c: char| c.is_whitespace() || "`\"'()[]*,".contains(c))
        .map(|w| w.trim_end_matches(['.', ':', '!', '?']).trim_start_matches("./").trim_start_matches('@'))
        .collect();
    let mut hits = known.iter().filter(|k| words.contains(&k.path.as_str()));
    let hit = hits.next()?;
    hits.next().is_none().then_some(hit.path.as_str())
}

/// What some models write in front of a list of calls.
pub(super) const CALLS_MARK: &str = "[TOOL_CALLS]";

/// What the beginning of a text says of its being a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Calls {
    No,
    /// More is needed to tell.
    Wait,
    Yes,
}

/// Whether a text begins with a JSON object (or a list of them) that names a tool. Its first member tells.
pub(super) fn calls(text: &str) -> Calls {
    let text = text.trim_start();
    let inner = text.strip_prefix('[').unwrap_or(text).trim_start();
    let Some(inner) = inner.strip_prefix('{').map(str::trim_start) else {
        return if inner.is_empty() && text.len() < HELD { Calls::Wait } else { Calls::No };
    };
    let Some((name, rest)) = quoted(inner) else { return begins(inner) };
    let Some(value) = rest.trim_start().strip_prefix(':') else {
        return if rest.trim().is_empty() { Calls::Wait } else { Calls::No };
    };
    let value = value.trim_start();
    match name {
        "arguments" | "args" | "parameters" | "input" | "params" | "tool_calls" if value.is_empty() => Calls::Wait,
        "arguments" | "args" | "parameters" | "input" | "params" | "tool_calls" => {
            says(value.starts_with('{') || value.starts_with('['))
        }
        "name" | "tool" | "tool_name" | "action" | "function" | "type" => match quoted(value) {
            Some((kind, _)) if name == "type" => says(matches!(kind, "function" | "tool_call" | "tool_use")),
            Some((tool, _)) => says(crate::edit::calls::is_tool(tool)),
            None if name == "function" && value.starts_with('{') => Calls::Yes,
            None => begins(value),
        },
        _ => Calls::No,
    }
}

fn says(yes: bool) -> Calls {
    if yes { Calls::Yes } else { Calls::No }
}

/// A short string in double quotes, and what follows it.
fn quoted(text: &str) -> Option<(&str, &str)> {
    text.strip_prefix('"')?.split_once('"')
}

/// Whether a string may yet come.
fn begins(text: &str) -> Calls {
    let short = text.len() < 60 && !text.contains('\n');
    if text.is_empty() || (text.starts_with('"') && short) { Calls::Wait } else { Calls::No }
}

/// Longer runs of white space are not waited through, in bytes.
const HELD: usize = 400;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_found_in_their_usual_dress() {
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
        ] {
            let path = path_line(line, &[]).unwrap_or_else(|| panic!("{line}"));
            assert_eq!(path.trim_start_matches("./"), "src/a.rs", "{line}");
            for (at, _) in line.char_indices() {
                assert!(may_be_path(&line[..at]), "{line} up to {at}");
            }
        }
        for line in ["Done.", "Here it is:", "e.g.", "3.14", "https://a.b/c", "foo.bar()", "a - b.c", "and/or nothing"]
        {
            assert_eq!(path_line(line, &[]), None, "{line}");
        }
    }

    #[test]
    fn beginnings_of_marks_may_become_marks() {
        for line in ["<<<<<<< SEARCH", "------- SEARCH", "<<<<< search", "  <<<<<<< ORIGINAL a.rs"] {
            assert!(search_mark(line).is_some(), "{line}");
            for (at, _) in line.char_indices() {
                assert!(may_be_search(&line[..at]), "{line} up to {at}");
            }
        }
        assert!(search_mark("------- SEARCH").is_some() && search_mark("- SEARCH").is_none());
        assert!(may_be_search("------- SEA") && !may_be_search("- SEA"));
        assert!(!may_be_search("<<a"));
        assert!(!may_be_search("<<<<<<< HEAD"));
    }
}
