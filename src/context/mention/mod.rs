//! Mentions in a text: `@src/a.rs`, `@/src/a.rs`, `@src/a.rs:10-40`, `@src/`, `@"a b.rs"`, `[a.rs](./src/a.rs)`,
//! `@rag words`. Pure: nothing here knows which files there are.
//!
//! A mention begins where no word is under way (`me@example.com` is none) and not inside code: what stands in backticks
//! or a fenced block is left alone, and so is `\@`. It ends at white space, at punctuation that closes a clause, or
//! where Japanese, Chinese or Korean text follows an extension without a space (`@a.rsを直す`).

mod typing;

use std::ops::Range;

pub use typing::{Typing, bare_name, bare_names, typing, written};

/// A mention in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mention {
    /// Its range in the text, in bytes, with its `@`.
    pub range: Range<usize>,
    /// Its target.
    pub target: MentionTarget,
}

/// The target of a mention.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MentionTarget {
    /// A file or a folder.
    Path {
        /// The path as it was written, without quotes, a leading `./` or `/`: relative to the workspace's root, and not
        /// yet confined to it.
        path: String,
        /// The lines, from 1, both included.
        lines: Option<(usize, usize)>,
        /// It was written with a `/` at its end, or is the root itself.
        folder: bool,
        /// It has the looks of a path (a dot, a slash, quotes, a link); a word without may be no mention at all
        /// (`@property`) when no such file exists.
        sure: bool,
    },
    /// Passages found by words.
    Rag {
        /// The words; may be empty.
        words: String,
    },
}

impl Mention {
    /// Returns how it shows where the cursor is not: the last part of the path, with the lines.
    pub fn short(&self) -> String {
        match &self.target {
            MentionTarget::Rag { words } => format!("@rag {words}").trim_end().to_string(),
            MentionTarget::Path { path, lines, folder, .. } => {
                let name = path.trim_end_matches('/').rsplit('/').next().unwrap_or(path);
                let slash = if *folder { "/" } else { "" };
                match lines {
                    Some((from, to)) if from == to => format!("@{name}{slash}:{from}"),
                    Some((from, to)) => format!("@{name}{slash}:{from}-{to}"),
                    None => format!("@{name}{slash}"),
                }
            }
        }
    }
}

/// Returns all mentions of a text, in order; they do not overlap.
pub fn mentions(text: &str) -> Vec<Mention> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(c) = text[at..].chars().next() {
        let next = at + c.len_utf8();
        let end = match c {
            '\\' => next + text[next..].chars().next().map_or(0, char::len_utf8),
            '`' | '~' => code_end(text, at).unwrap_or(next),
            '@' if may_begin(&text[..at]) => match at_mention(text, at) {
                Some(mention) => push(&mut found, mention),
                None => next,
            },
            '[' => match link(text, at) {
                Some(mention) => push(&mut found, mention),
                None => next,
            },
            _ => next,
        };
        at = end;
    }
    found
}

/// Records a mention and gives its end.
fn push(found: &mut Vec<Mention>, mention: Mention) -> usize {
    let end = mention.range.end;
    found.push(mention);
    end
}

/// Returns whether a mention may begin after this text.
fn may_begin(before: &str) -> bool {
    match before.chars().next_back() {
        Some('\\') => false,
        Some(c) => !(c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '%' | '+' | '-' | '@' | '/')),
        None => true,
    }
}

/// Returns the mention that begins with the `@` at this place.
fn at_mention(text: &str, at: usize) -> Option<Mention> {
    let rest = &text[at + 1..];
    if let Some(quoted) = rest.strip_prefix('"') {
        let (path, length) = unquote(quoted)?;
        let after = at + 2 + length;
        let (lines, length) = line_suffix(&text[after..]);
        return path_mention(at..after + length, &path, lines, true);
    }
    let word = &rest[..word_end(rest)];
    if word.starts_with('@') {
        return None;
    }
    if word == "rag" {
        return Some(rag(text, at));
    }
    let (path, lines) = split_lines(word);
    path_mention(at..at + 1 + word.len(), path, lines, looks_like_a_path(path))
}

/// Parses `@rag`, with the words up to the line's end or the next mention.
fn rag(text: &str, at: usize) -> Mention {
    let from = at + "@rag".len();
    let line = &text[from..text[from..].find('\n').map_or(text.len(), |i| from + i)];
    let next = line.match_indices('@').map(|(i, _)| i).find(|i| may_begin(&text[..from + i]));
    let words = &line[..next.unwrap_or(line.len())];
    let end = from + words.trim_end().len();
    Mention { range: at..end, target: MentionTarget::Rag { words: words.trim().trim_matches('"').to_string() } }
}

fn path_mention(range: Range<usize>, written: &str, lines: Option<(usize, usize)>, sure: bool) -> Option<Mention> {
    let path = written.trim_start_matches("./").trim_start_matches('/');
    let root = path.is_empty() || path == ".";
    if root && !written.contains('/') {
        return None;
    }
    let folder = root || path.ends_with('/');
    let path = path.trim_end_matches('/');
    let (path, sure) = if root { (".", true) } else { (path, sure) };
    Some(Mention { range, target: MentionTarget::Path { path: path.to_string(), lines, folder, sure } })
}

/// Returns where an unquoted path ends.
fn word_end(rest: &str) -> usize {
    let mut end = rest.len();
    let mut extension = false;
    let mut open = 0usize;
    for (i, c) in rest.char_indices() {
        match c {
            '(' => open += 1,
            ')' if open > 0 => open -= 1,
            _ if c.is_whitespace() || closes(c) => {
                end = i;
                break;
            }
            _ if extension && is_cjk(c) => {
                end = i;
                break;
            }
            _ => {}
        }
        // Only letters and digits directly after a dot are an extension; a slash begins a new name.
        extension = match c {
            '.' => false,
            c if c.is_ascii_alphanumeric() => extension || rest[..i].ends_with('.'),
            _ => false,
        };
    }
    rest[..end].trim_end_matches(['.', ':', '!', '?', '-', '@']).len()
}

/// Returns whether a character ends a path that is not quoted.
pub fn closes(c: char) -> bool {
    matches!(c, ',' | ';' | '"' | '\'' | '`' | ')' | ']' | '}' | '>' | '<' | '|' | '*' | '\\')
        || matches!(c, '、' | '。' | '，' | '．' | '：' | '；' | '！' | '？' | '）' | '（' | '」' | '「' | '』' | '『')
        || matches!(c, '】' | '【' | '”' | '“' | '’' | '‘' | '»' | '«' | '…')
}

fn looks_like_a_path(word: &str) -> bool {
    let inner_dot = word
        .char_indices()
        .any(|(i, c)| c == '.' && word[i + 1..].chars().next().is_some_and(|n| n.is_alphanumeric() || n == '_'));
    let number = word.chars().all(|c| c.is_ascii_digit() || matches!(c, '.' | '/' | ',' | '-'));
    (inner_dot || word.contains('/')) && !number
}

/// Returns the text between quotes, with `\"` and `\\` undone, and how long it was with its closing quote.
fn unquote(rest: &str) -> Option<(String, usize)> {
    let mut out = String::new();
    let mut chars = rest.char_indices();
    while let Some((i, c)) = chars.next() {
        match c {
            '"' => return Some((out, i + 1)),
            '\n' => return None,
            '\\' => out.push(chars.next()?.1),
            c => out.push(c),
        }
    }
    None
}

/// Takes `:10-40`, `:10`, `#L10-L40` or `#L10` off a path's end.
fn split_lines(word: &str) -> (&str, Option<(usize, usize)>) {
    for mark in [':', '#'] {
        if let Some(i) = word.rfind(mark) {
            let (lines, length) = line_suffix(&word[i..]);
            if lines.is_some() && i + length == word.len() && i > 0 {
                return (&word[..i], lines);
            }
        }
    }
    (word, None)
}

/// Returns the lines named at the beginning of a text, and how many bytes name them.
fn line_suffix(text: &str) -> (Option<(usize, usize)>, usize) {
    let (rest, letter) = match (text.strip_prefix(':'), text.strip_prefix("#L")) {
        (Some(rest), _) => (rest, ""),
        (_, Some(rest)) => (rest, "L"),
        _ => return (None, 0),
    };
    let digits = |s: &str| s.len() - s.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let n = digits(rest);
    let Ok(from) = rest[..n].parse::<usize>() else { return (None, 0) };
    let mut length = text.len() - rest.len() + n;
    let mut to = from;
    if let Some(second) = rest[n..].strip_prefix('-') {
        let second = second.strip_prefix(letter).unwrap_or(second);
        let m = digits(second);
        if let Ok(end) = second[..m].parse() {
            to = end;
            length = text.len() - second.len() + m;
        }
    }
    let (from, to) = (from.min(to).max(1), from.max(to).max(1));
    (Some((from, to)), length)
}

/// Returns a Markdown link to a file, beginning at `[`.
fn link(text: &str, at: usize) -> Option<Mention> {
    let line = &text[at..text[at..].find('\n').map_or(text.len(), |i| at + i)];
    let close = line.find("](")?;
    if line[1..close].contains('[') {
        return None;
    }
    let target = &line[close + 2..];
    let (path, length) = match target.strip_prefix('<') {
        Some(rest) => {
            let end = rest.find(">)")?;
            (&rest[..end], end + 3)
        }
        None => {
            let end = target.find(')')?;
            (&target[..end], end + 1)
        }
    };
    let foreign = path.contains("://") || path.starts_with('#') || path.starts_with("mailto:") || path.is_empty();
    if foreign || path.contains(char::is_whitespace) && !target.starts_with('<') {
        return None;
    }
    let (path, lines) = split_lines(path);
    path_mention(at..at + close + 2 + length, &percent_decoded(path), lines, true)
}

fn percent_decoded(path: &str) -> String {
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.as_bytes();
    while let [first, after @ ..] = rest {
        let digits = after.get(..2).and_then(|d| std::str::from_utf8(d).ok());
        match digits.filter(|_| *first == b'%').and_then(|d| u8::from_str_radix(d, 16).ok()) {
            Some(b) => {
                bytes.push(b);
                rest = &after[2..];
            }
            None => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8(bytes).unwrap_or_else(|_| path.to_string())
}

/// Returns where the code that begins at this run of backticks (or fence of tildes) ends; `None` where it begins none.
fn code_end(text: &str, at: usize) -> Option<usize> {
    let mark = text[at..].chars().next()?;
    let run = text[at..].len() - text[at..].trim_start_matches(mark).len();
    let fence = text[at..][..run].to_string();
    let line_start = text[..at].rfind('\n').map_or(0, |i| i + 1);
    if run >= 3 && text[line_start..at].trim().is_empty() {
        // A fence closes on a line of its own, or with the text.
        let mut from = at + text[at..].find('\n')?;
        while let Some(line) = text[from + 1..].split_inclusive('\n').next() {
            let end = from + 1 + line.len();
            let closing = line.trim();
            if closing.starts_with(&fence) && closing.chars().all(|c| c == mark) {
                return Some(end);
            }
            from = end - 1;
            if !line.ends_with('\n') {
                return Some(end);
            }
        }
        return Some(text.len());
    }
    if mark == '~' {
        return None;
    }
    let mut from = at + run;
    while let Some(i) = text[from..].find(&fence) {
        let start = from + i;
        let length = text[start..].len() - text[start..].trim_start_matches('`').len();
        if length == run {
            return Some(start + run);
        }
        from = start + length;
    }
    Some(at + run)
}

/// Returns whether a place is inside code.
fn in_code(text: &str, place: usize) -> bool {
    let mut at = 0;
    while at < place {
        let Some(c) = text[at..].chars().next() else { return false };
        let next = at + c.len_utf8();
        at = match c {
            '\\' => next + text[next..].chars().next().map_or(0, char::len_utf8),
            '`' | '~' => code_end(text, at).unwrap_or(next),
            _ => next,
        };
    }
    at > place
}

fn is_cjk(c: char) -> bool {
    matches!(c as u32, 0x3005..=0x3007 | 0x3040..=0x30FF | 0x3400..=0x4DBF | 0x4E00..=0x9FFF | 0xAC00..=0xD7AF)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// `path` or `path:from-to` or `rag=words`, with `?` after a path that has not the looks of one.
    fn read(text: &str) -> Vec<String> {
        let one = |m: Mention| match m.target {
            MentionTarget::Rag { words } => format!("rag={words}"),
            MentionTarget::Path { path, lines, folder, sure } => {
                let lines = lines.map(|(a, b)| format!(":{a}-{b}")).unwrap_or_default();
                format!("{path}{}{lines}{}", if folder { "/" } else { "" }, if sure { "" } else { "?" })
            }
        };
        mentions(text).into_iter().map(one).collect()
    }

    #[test]
    fn every_form_is_read() {
        for (text, expected) in [
            ("keep @cart.rs readable.", "cart.rs"),
            ("@/src/a.rs, please", "src/a.rs"),
            ("see @./src/a.rs:10-40.", "src/a.rs:10-40"),
            ("@src/a.rs:7!", "src/a.rs:7-7"),
            ("@src/a.rs#L3-L9", "src/a.rs:3-9"),
            ("(@src/)", "src/"),
            ("@/", "./"),
            ("@\"a b.rs\":2-3 x", "a b.rs:2-3"),
            ("@\"say \\\"hi\\\".txt\"", "say \"hi\".txt"),
            ("[bar.ts](./foo/bar.ts) の内容", "foo/bar.ts"),
            ("[x](<a b.md>)", "a b.md"),
            ("[x](a%20b.md#L4)", "a b.md:4-4"),
            ("@a.rsを直す", "a.rs"),
            ("これ@設計/表.mdの内容。", "設計/表.md"),
            ("「@a.rs」", "a.rs"),
            ("@Makefile", "Makefile?"),
            ("@page(1).tsx", "page(1).tsx"),
            ("@rag how prices round\nnext", "rag=how prices round"),
            ("@rag prices @a.rs", "rag=prices|a.rs"),
            ("@a.rs @b.rs", "a.rs|b.rs"),
            ("@a.rs...", "a.rs"),
        ] {
            assert_eq!(read(text).join("|"), expected, "{text}");
        }
    }

    #[test]
    fn what_is_no_mention_is_left_alone() {
        for text in [
            "me@example.com",
            "\\@a.rs",
            "`@a.rs`",
            "```\n@a.rs\n```\n",
            "~~~\n@a.rs",
            "@ a.rs",
            "@",
            "[x](https://a.b/c)",
            "[x](#part)",
            "a[0](b c)",
            "@@a.rs",
            "@\"never closed",
        ] {
            assert_eq!(read(text), [""; 0], "{text}");
        }
        assert_eq!(read("``x` @a.rs"), ["a.rs"]);
    }

    #[test]
    fn ranges_and_short_forms() {
        let text = "in [bar.ts](./foo/bar.ts) and @src/a/b.rs:1-2";
        let all = mentions(text);
        assert_eq!(&text[all[0].range.clone()], "[bar.ts](./foo/bar.ts)");
        assert_eq!(all[0].short(), "@bar.ts");
        assert_eq!(all[1].short(), "@b.rs:1-2");
        assert_eq!(mentions("@src/a/")[0].short(), "@a/");
    }

    proptest! {
        #[test]
        fn any_text_is_read_without_a_panic(text in "[@a./\"`~\\\\\\[\\]()<>\n :#L1-表]{0,24}", caret in 0usize..24) {
            let mut end = 0;
            for m in mentions(&text) {
                prop_assert!(m.range.start >= end && text.get(m.range.clone()).is_some());
                end = m.range.end;
            }
            let _ = (typing(&text, caret), bare_names(&text));
        }
    }
}
