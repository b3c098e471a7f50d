//! Grammars → roles: the only place that knows the highlighting crate. No theme of its: scopes become roles.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use syntect::parsing::{ParseState, Scope, ScopeStack, SyntaxSet};

use super::token::Token;
use crate::tui::theme::Role;

/// The languages that are known, and what their scopes mean. Loading takes about a millisecond; a language's
/// regexes are built at its first lines.
pub(super) struct Grammars {
    set: SyntaxSet,
    rules: Vec<(Scope, Role)>,
    operator: Scope,
    /// The meaning that was found of a scope, `None` for nothing.
    known: Mutex<HashMap<Scope, Option<Role>>>,
    /// The parser found for the beginning of a text in a language: the set is searched from end to end for each name.
    begun: Mutex<HashMap<String, Option<Parser>>>,
}

/// The state of the parsing of a text.
#[derive(Clone)]
pub(super) struct Parser {
    state: ParseState,
    stack: ScopeStack,
    /// Capitalised words are types: not in prose and markup.
    types: bool,
    /// Words that the grammar is too old to know.
    words: &'static [(&'static str, Role)],
}

/// Words that the grammar of Rust takes for names, or for keywords though they are primitive types.
const RUST: &[(&str, Role)] = &[
    ("async", Role::SynKeyword),
    ("await", Role::SynKeyword),
    ("dyn", Role::SynKeyword),
    ("for", Role::SynKeyword),
    ("self", Role::SynKeyword),
    ("bool", Role::SynType),
    ("char", Role::SynType),
    ("f32", Role::SynType),
    ("f64", Role::SynType),
    ("i128", Role::SynType),
    ("i16", Role::SynType),
    ("i32", Role::SynType),
    ("i64", Role::SynType),
    ("i8", Role::SynType),
    ("isize", Role::SynType),
    ("str", Role::SynType),
    ("u128", Role::SynType),
    ("u16", Role::SynType),
    ("u32", Role::SynType),
    ("u64", Role::SynType),
    ("u8", Role::SynType),
    ("usize", Role::SynType),
];

/// Scopes and their roles; the first that fits counts, so the longer stand before the shorter.
const RULES: &[(&str, Role)] = &[
    ("comment", Role::SynComment),
    ("constant.character.escape", Role::SynNumber),
    ("constant.numeric", Role::SynNumber),
    ("constant", Role::SynType),
    ("entity.name.function", Role::Text),
    ("entity.name.tag", Role::SynKeyword),
    ("entity.name.section", Role::SynKeyword),
    ("entity.name", Role::SynType),
    ("entity.other.inherited-class", Role::SynType),
    ("entity.other.attribute-name", Role::SynNumber),
    ("keyword.operator", Role::Text),
    ("keyword", Role::SynKeyword),
    ("markup.inserted", Role::Added),
    ("markup.deleted", Role::Removed),
    ("markup.heading", Role::SynKeyword),
    ("markup.raw", Role::SynString),
    ("markup.underline.link", Role::Mention),
    ("meta.annotation", Role::SynNumber),
    ("meta.interpolation", Role::Text),
    ("storage", Role::SynKeyword),
    ("string", Role::SynString),
    ("support.class", Role::SynType),
    ("support.constant", Role::SynType),
    ("support.type", Role::SynType),
    ("variable.annotation", Role::SynNumber),
    ("variable.language", Role::SynKeyword),
];

impl Grammars {
    /// Reads the packed grammars.
    pub(super) fn load() -> Self {
        let scope = |(text, role): &(&str, Role)| Scope::new(text).ok().map(|s| (s, *role));
        let rules = RULES.iter().filter_map(scope).collect();
        // An empty scope, should the name ever be refused, is a prefix of all: words of operators only.
        let operator = Scope::new("keyword.operator").unwrap_or_default();
        Grammars {
            set: two_face::syntax::extra_newlines(),
            rules,
            operator,
            known: Mutex::default(),
            begun: Mutex::default(),
        }
    }

    /// Returns a parser at the beginning of a text in `language`, a name or file ending; `None` for unknown and plain
    /// ones.
    pub(super) fn parser(&self, language: &str) -> Option<Parser> {
        let mut begun = self.begun.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(parser) = begun.get(language) {
            return parser.clone();
        }
        let parser = self.find(language);
        // Models may name anything a language.
        if begun.len() > 64 {
            begun.clear();
        }
        begun.insert(language.to_string(), parser.clone());
        parser
    }

    fn find(&self, language: &str) -> Option<Parser> {
        let syntax = self.set.find_syntax_by_token(language)?;
        let scope = syntax.scope.to_string();
        (scope != "text.plain").then(|| Parser {
            state: ParseState::new(syntax),
            stack: ScopeStack::new(),
            types: scope.starts_with("source.") && !matches!(scope.as_str(), "source.diff" | "source.yaml"),
            words: if scope == "source.rust" { RUST } else { &[] },
        })
    }

    /// Returns the tokens of the next line; `None` if the grammar fails on it.
    pub(super) fn tokens(&self, parser: &mut Parser, line: &str) -> Option<Vec<Token>> {
        let ops = parser.state.parse_line(&format!("{line}\n"), &self.set).ok()?;
        let (mut tokens, mut at) = (Vec::new(), 0);
        for (end, op) in ops {
            let end = end.min(line.len());
            if end > at {
                self.push(&mut tokens, parser, line, at..end);
                at = end;
            }
            parser.stack.apply(&op).ok()?;
        }
        if at < line.len() {
            self.push(&mut tokens, parser, line, at..line.len());
        }
        Some(tokens)
    }

    fn push(&self, tokens: &mut Vec<Token>, parser: &Parser, line: &str, part: Range<usize>) {
        let role = self.role(&parser.stack);
        let text = &line[part.clone()];
        // Operators that are words, `in` and `not`, read as keywords.
        let operator = || parser.stack.scopes.last().is_some_and(|s| self.operator.is_prefix_of(*s));
        if role == Role::Text && text.bytes().all(|b| b.is_ascii_lowercase()) && operator() {
            return add(tokens, part.end, Role::SynKeyword);
        }
        if matches!(role, Role::Text | Role::SynType | Role::SynKeyword) && parser.types {
            for word in words(text) {
                let known = parser.words.iter().find(|(w, _)| *w == &text[word.clone()]).map(|(_, role)| *role);
                let capital = role == Role::Text && text.as_bytes()[word.start].is_ascii_uppercase();
                let Some(found) = known.or(capital.then_some(Role::SynType)) else { continue };
                add(tokens, part.start + word.start, role);
                add(tokens, part.start + word.end, found);
            }
        }
        add(tokens, part.end, role);
    }

    /// Returns what the innermost scope that means something means.
    fn role(&self, stack: &ScopeStack) -> Role {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let meaning = |scope: &Scope| {
            let find = || self.rules.iter().find(|(rule, _)| rule.is_prefix_of(*scope)).map(|(_, role)| *role);
            *known.entry(*scope).or_insert_with(find)
        };
        stack.as_slice().iter().rev().find_map(meaning).unwrap_or(Role::Text)
    }
}

/// Lets the text up to `end` have `role`: in a token of its own, or in the last one.
fn add(tokens: &mut Vec<Token>, end: usize, role: Role) {
    let end = end as u32;
    match tokens.last_mut() {
        Some(last) if last.role == role || last.end >= end => last.end = last.end.max(end),
        None if end == 0 => {}
        _ => tokens.push(Token { end, role }),
    }
}

/// Returns the words of a piece of code, as byte ranges.
fn words(text: &str) -> impl Iterator<Item = Range<usize>> {
    let bytes = text.as_bytes();
    let is_word = |b: u8| b.is_ascii_alphanumeric() || b == b'_' || b >= 0x80;
    let mut at = 0;
    std::iter::from_fn(move || {
        let start = at + bytes[at..].iter().position(|b| is_word(*b))?;
        at = bytes[start..].iter().position(|b| !is_word(*b)).map_or(bytes.len(), |n| start + n);
        Some(start..at)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn coloured(language: &str, text: &str) -> Vec<(String, Role)> {
        let grammars = Grammars::load();
        let mut parser = grammars.parser(language).expect("a known language");
        let mut out = Vec::new();
        for line in text.lines() {
            let mut at = 0;
            for t in grammars.tokens(&mut parser, line).expect("tokens") {
                out.push((line[at..t.end as usize].trim().to_string(), t.role));
                at = t.end as usize;
            }
            assert_eq!(at, line.len());
        }
        out.retain(|(text, role)| !text.is_empty() && *role != Role::Text);
        out
    }

    #[test]
    fn rust() {
        use Role::*;
        let found = coloured(
            "rust",
            "/// Prices.\npub async fn prices(&self, n: u8) -> Result<Prices> {\n    let a = \"x\\n\"; Prices::rows(a, 41) }",
        );
        let want = [
            ("/// Prices.", SynComment),
            ("pub", SynKeyword),
            ("async", SynKeyword),
            ("fn", SynKeyword),
            ("self", SynKeyword),
            ("u8", SynType),
            ("Result", SynType),
            ("Prices", SynType),
            ("let", SynKeyword),
            ("\"x", SynString),
            ("\\n", SynNumber),
            ("\"", SynString),
            ("Prices", SynType),
            ("41", SynNumber),
        ];
        assert_eq!(found, want.map(|(t, r)| (t.to_string(), r)));
    }

    #[test]
    fn other_languages() {
        for (language, text, word, role) in [
            ("ts", "const a: Foo = `b`", "const", Role::SynKeyword),
            ("python", "def f(): return None  # x", "def", Role::SynKeyword),
            ("toml", "a = 1 # c", "# c", Role::SynComment),
            ("Dockerfile", "FROM rust:1", "FROM", Role::SynKeyword),
            ("json", "{\"a\": true}", "true", Role::SynType),
            ("sh", "if true; then echo \"a\"; fi", "if", Role::SynKeyword),
            ("diff", "+new\n-old", "+new", Role::Added),
            ("go", "func main() { return nil }", "func", Role::SynKeyword),
            ("html", "<p class=\"a\">x</p>", "p", Role::SynKeyword),
        ] {
            let found = coloured(language, text);
            assert!(found.contains(&(word.to_string(), role)), "{language}: {found:?}");
        }
    }

    #[test]
    fn prose_has_no_types() {
        assert_eq!(coloured("md", "A Word"), []);
        assert!(Grammars::load().parser("txt").is_none());
    }
}
