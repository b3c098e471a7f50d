//! Mentions while they are typed: the one under way at a caret, names that could be one, and a path as one.

use std::ops::Range;

use super::{Mention, MentionTarget, closes, in_code, looks_like_a_path, may_begin, mentions};

/// Returns a path as a mention that [`mentions`] reads back: quoted where it must be.
pub fn written(path: &str) -> String {
    let plain = format!("@{path}");
    let alone = format!("{plain} ");
    match mentions(&alone).as_slice() {
        [Mention { range, target: MentionTarget::Path { path: read, lines: None, .. } }]
            if *range == (0..plain.len()) && read.trim_end_matches('/') == path.trim_end_matches('/') =>
        {
            plain
        }
        _ => format!("@\"{}\"", path.replace('\\', "\\\\").replace('"', "\\\"")),
    }
}

/// A mention that is being typed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Typing {
    /// The range from its `@` to the caret, in bytes, which a chosen file replaces.
    pub range: Range<usize>,
    /// The typed part of the path.
    pub words: String,
    /// The typed part of the lines, with its colon: `:10-4`; empty without.
    pub lines: String,
}

/// Returns the mention under way at a caret (a byte position), if one is: what completion is offered for.
pub fn typing(text: &str, caret: usize) -> Option<Typing> {
    let before = text.get(..caret)?;
    let line = before.rfind('\n').map_or(0, |i| i + 1);
    let at = line + before[line..].rfind('@')?;
    if !may_begin(&text[..at]) || in_code(text, at) {
        return None;
    }
    let typed = &before[at + 1..];
    let words = match typed.strip_prefix('"') {
        Some(quoted) if !quoted.contains('"') => quoted,
        Some(_) => return None,
        None if typed.contains(|c: char| c.is_whitespace() || closes(c)) => return None,
        None => typed,
    };
    let colon = words.rfind(':').filter(|i| words[i + 1..].chars().all(|c| c.is_ascii_digit() || c == '-'));
    let (words, lines) = words.split_at(colon.unwrap_or(words.len()));
    let words = words.trim_start_matches("./").trim_start_matches('/').to_string();
    Some(Typing { range: at..caret, words, lines: lines.to_string() })
}

/// Returns the file name that ends at a caret (a byte position) and is no mention, if one does: see [`bare_names`].
pub fn bare_name(text: &str, caret: usize) -> Option<Range<usize>> {
    let from = text.get(..caret)?.rfind('\n').map_or(0, |i| i + 1);
    let to = text[caret..].find('\n').map_or(text.len(), |i| caret + i);
    if in_code(text, caret) {
        return None;
    }
    let found = bare_names(&text[from..to]).into_iter().find(|r| from + r.end == caret)?;
    Some(from + found.start..from + found.end)
}

/// Returns words of a text that look like file names and are no mentions (`cart.rs`, `src/cart.rs`).
pub fn bare_names(text: &str) -> Vec<Range<usize>> {
    let taken = mentions(text);
    let mut found = Vec::new();
    let mut at = 0;
    for word in text.split(|c: char| c.is_whitespace() || closes(c) || matches!(c, '(' | '[' | '{' | '<' | '`')) {
        let range = at..at + word.len();
        at = range.end + text[range.end..].chars().next().map_or(0, char::len_utf8);
        let name = word.trim_end_matches(['.', ':', '!', '?']);
        let range = range.start..range.start + name.len();
        let free = taken.iter().all(|m| m.range.end <= range.start || range.end <= m.range.start);
        if free && looks_like_a_path(name) && !name.contains("://") && !name.contains('@') {
            found.push(range);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_mention_at_the_caret_is_found() {
        let at = |text: &str| typing(text, text.len()).map(|t| (t.range, t.words));
        assert_eq!(at("check @mon"), Some((6..10, "mon".into())));
        assert_eq!(at("@"), Some((0..1, String::new())));
        assert_eq!(at("@/src/a"), Some((0..7, "src/a".into())));
        assert_eq!(at("@\"a b"), Some((0..5, "a b".into())));
        assert_eq!(at("x\n@a"), Some((2..4, "a".into())));
        let lines = |text: &str| typing(text, text.len()).map(|t| (t.words, t.lines));
        assert_eq!(lines("@cart:10-4"), Some(("cart".into(), ":10-4".into())));
        assert_eq!(lines("@cart:"), Some(("cart".into(), ":".into())));
        assert_eq!(lines("@a:b"), Some(("a:b".into(), String::new())));
        for text in ["@a b", "a@b", "@\"a\"", "`@a", "no"] {
            assert_eq!(at(text), if text == "`@a" { Some((1..3, "a".into())) } else { None }, "{text}");
        }
        assert_eq!(typing("`@a`", 3), None);
    }

    #[test]
    fn bare_names_are_offered() {
        let text = "fix cart.rs and src/money.rs (see README.md), not @a.rs, 3.14, e.g. http://x.y/z or v1/2";
        let names: Vec<&str> = bare_names(text).into_iter().map(|r| &text[r]).collect();
        assert_eq!(names, ["cart.rs", "src/money.rs", "README.md", "e.g", "v1/2"]);
        let text = "a\nfix 価格.md and @b.rs `c.rs`";
        assert_eq!(bare_name(text, 15).map(|r| &text[r]), Some("価格.md"));
        for caret in [14, 16, 24, text.len() - 1] {
            assert_eq!(bare_name(text, caret), None, "{caret}");
        }
    }

    proptest! {
        #[test]
        fn a_path_is_read_back(path in "[a-zé表 .()\"'@:_-]{1,8}(/[a-z表 .]{1,5}){0,2}") {
            prop_assume!(!path.starts_with(['/', '.']) && !path.ends_with(['/', '.']));
            let text = format!("see {} now", written(&path));
            let all = mentions(&text);
            prop_assert_eq!(all.len(), 1);
            let MentionTarget::Path { path: read, lines: None, .. } = &all[0].target else { panic!("{text}") };
            prop_assert_eq!(read, &path);
        }
    }
}
