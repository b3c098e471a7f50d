//! One name, one type: within a part of the program, and among all the parts that one part may name. Documentation in
//! sentences.

use std::collections::BTreeMap;

use super::{MAY_USE, part, sources};

/// The names of types that every part may have of its own, as the standard library's modules do.
const SHARED: &[&str] = &["Error"];

/// The types of a text, each with whether the whole crate can name it.
fn types(code: &str) -> Vec<(&str, bool)> {
    let mut found = Vec::new();
    for line in code.lines() {
        let (scope, rest) = match line.strip_prefix("pub").and_then(|rest| rest.split_once(' ')) {
            Some((scope, rest)) => (Some(scope), rest),
            None => (None, line),
        };
        // `pub(in crate::a)` has a space of its own.
        let rest = if scope == Some("(in") { rest.split_once(") ").map_or("", |(_, rest)| rest) } else { rest };
        let Some((kind, rest)) = rest.split_once(' ') else { continue };
        if ["struct", "enum", "trait", "type"].contains(&kind) {
            let end = rest.find(|c: char| !c.is_alphanumeric()).unwrap_or(rest.len());
            found.push((&rest[..end], scope == Some("")));
        }
    }
    found
}

/// Returns whether a place of the table, `a`, `a::b` or `a::Type`, holds a type of the file.
fn may_name(place: &str, path: &str, name: &str) -> bool {
    let folder = place.replace("::", "/");
    let one = place.split_once("::").is_some_and(|(own, last)| own == part(path) && last == name);
    one || path == format!("{folder}.rs") || path.starts_with(&format!("{folder}/"))
}

#[test]
fn neighbouring_modules_share_no_name_of_a_type() {
    let sources = sources();
    let mut places: BTreeMap<&str, Vec<(&str, bool)>> = BTreeMap::new();
    for source in &sources {
        for (name, everywhere) in types(&source.code) {
            places.entry(name).or_default().push((source.path.as_str(), everywhere));
        }
    }
    let mut broken = Vec::new();
    for (name, places) in places {
        for (at, (path, everywhere)) in places.iter().enumerate() {
            for (other, other_everywhere) in &places[..at] {
                let (own, others) = (part(path), part(other));
                let met = MAY_USE.iter().any(|(third, row)| {
                    let seen = |path: &str, everywhere: bool| {
                        let mut places = row.iter().chain(&["text"]);
                        part(path) == *third || everywhere && places.any(|place| may_name(place, path, name))
                    };
                    seen(path, *everywhere) && seen(other, *other_everywhere)
                });
                // The same file has a type twice where it depends on the system.
                if own == others && path != other || own != others && met && !SHARED.contains(&name) {
                    broken.push(format!("{other} and {path} both have a type {name}"));
                }
            }
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

/// First words that make a sentence a question, or a riddle that only its item solves: documentation names what it is
/// about.
const QUESTIONS: &[&str] =
    &["But", "How", "Of", "So", "Those", "What", "When", "Where", "Whether", "Which", "Who", "Why"];

/// Words of an earlier, private language, and what the code says now.
const GONE: &[(&str, &str)] = &[
    ("announce", "write_intent"),
    ("asked", "a question or a command"),
    ("care", "maintenance"),
    ("cold", "lazy"),
    ("desk", "commands"),
    ("fate", "preview or status"),
    ("gate", "pending approvals"),
    ("ground", "state"),
    ("grown", "streamed"),
    ("growing", "streamed"),
    ("hurry", "skip_backoff"),
    ("intake", "reader"),
    ("kept", "what is kept, and where"),
    ("mend", "reconcile or fix"),
    ("mended", "reconciled or fixed"),
    ("replayed", "transcript"),
    ("road", "execute"),
    ("seen", "version or known"),
    ("settle", "decide, execute or reconcile"),
    ("shelf", "map"),
    ("shown", "item or content"),
    ("spare", "fallback"),
    ("takes", "capabilities"),
    ("think", "reasoning"),
    ("told", "event, report or error"),
    ("wish", "request"),
];

/// Those of them that no sentence of documentation needs either.
const GONE_FROM_DOCS: &[&str] =
    &["desk", "fate", "fates", "hears", "mend", "mended", "mends", "riddle", "road", "settle", "settles", "wish"];

#[test]
fn no_module_item_or_documentation_bears_a_word_of_the_earlier_language() {
    let (mut broken, mut items) = (Vec::new(), 0);
    for source in sources() {
        let file = source.path.rsplit('/').next().and_then(|name| name.strip_suffix(".rs")).unwrap_or_default();
        let defined = source.code.lines().filter_map(|line| defined(line.trim_start())).map(str::to_lowercase);
        for name in defined.chain([file.to_string()]) {
            items += 1;
            let now = GONE.iter().find(|(gone, _)| *gone == name);
            broken.extend(now.map(|(gone, now)| format!("{} names something {gone}: {now}", source.path)));
        }
        // Strand's graph has settling removes, which its specification calls so.
        let docs = source.text.lines().filter(|_| part(&source.path) != "strand");
        for doc in docs.map(str::trim).filter(|line| line.starts_with("//")) {
            let words = doc.split(|c: char| !c.is_alphanumeric()).map(str::to_lowercase);
            let gone = words.filter(|word| GONE_FROM_DOCS.contains(&word.as_str()));
            broken.extend(gone.map(|word| format!("{} says {word}: {doc}", source.path)));
        }
    }
    assert!(items > 8_000, "only {items} items were found");
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

/// The name of the item that a line of code defines. A constant may be a plain number of things that are shown or kept.
fn defined(line: &str) -> Option<&str> {
    const KINDS: [&str; 6] = ["fn", "struct", "enum", "trait", "type", "mod"];
    // `pub(in crate::a)` has a space of its own.
    let line = match line.strip_prefix("pub(") {
        Some(rest) => rest.split_once(") ").map_or("", |(_, rest)| rest),
        None => line.strip_prefix("pub ").unwrap_or(line),
    };
    let mut words = line.split(' ').skip_while(|word| ["async", "const", "unsafe", "extern", "\"C\""].contains(word));
    words.next().filter(|kind| KINDS.contains(kind))?;
    Some(words.next()?.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default())
}

/// First words of a function's documentation that end in `s` and are no verbs.
const NO_VERBS: &[&str] = &["This", "Its", "As", "Bytes", "Lines", "Parts", "Rows", "Words"];

#[test]
fn documentation_says_what_something_is_and_what_a_function_does() {
    let (mut broken, mut functions) = (Vec::new(), 0);
    for source in sources() {
        let lines: Vec<&str> = source.text.lines().map(str::trim).collect();
        for (at, line) in lines.iter().enumerate() {
            let header = line.strip_prefix("//! ").filter(|_| at == 0);
            let Some(doc) = header.or_else(|| line.strip_prefix("/// ")) else { continue };
            if at > 0 && lines[at - 1].starts_with("///") {
                continue;
            }
            // What clap shows of an argument is a question to the person who types it.
            let argument = lines[at..].iter().take(4).any(|l| l.starts_with("#[arg") || l.starts_with("#[command"));
            let word = doc.split([' ', '.', ',', ':', ';']).next().unwrap_or_default();
            if !argument && (QUESTIONS.contains(&word) || doc.starts_with("The same ")) {
                broken.push(format!("{}:{}: {doc}", source.path, at + 1));
            }
            let Some(returns) = returns(&lines[at..]) else { continue };
            functions += 1;
            let verb = word.starts_with(|c: char| c.is_ascii_uppercase()) && word.ends_with('s');
            if !verb || NO_VERBS.contains(&word) {
                broken.push(format!("{}:{}: {doc}", source.path, at + 1));
            }
            if word == "Returns" && !returns {
                broken.push(format!("{}:{}: it returns nothing: {doc}", source.path, at + 1));
            }
        }
    }
    assert!(functions > 3_000, "only {functions} functions were found");
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

/// Returns whether the function below its documentation returns anything; none: it is no function.
fn returns(lines: &[&str]) -> Option<bool> {
    let mut code = lines.iter().skip_while(|line| line.starts_with("///") || line.starts_with("#[")).peekable();
    let mut words =
        code.peek()?.split(' ').skip_while(|w| w.starts_with("pub") || ["(in", "const", "async"].contains(w));
    (words.next() == Some("fn")).then_some(())?;
    let mut head = String::new();
    for line in code {
        head.push_str(line);
        if line.ends_with(['{', ';']) {
            break;
        }
    }
    Some(head.contains("->"))
}

#[test]
fn what_a_line_defines_is_found() {
    let lines = [
        "pub(super) async fn a(",
        "const fn b()",
        "pub const C: u8",
        "pub struct D<T>",
        "let e = 1;",
        "pub(in crate::a) fn f(",
        "pub unsafe fn g(",
        "unsafe extern \"C\" fn h(",
    ];
    let found = lines.map(defined);
    assert_eq!(found, [Some("a"), Some("b"), None, Some("D"), None, Some("f"), Some("g"), Some("h")]);
}

#[test]
fn types_are_found_with_their_scope() {
    let code = "pub struct A<'a> {\n    pub b: B,\n}\nenum C {}\npub(super) enum D {\npub(in crate::x) trait E: F {\npub type G = H;\npub fn f() {}\n";
    assert_eq!(types(code), [("A", true), ("C", false), ("D", false), ("E", false), ("G", true)]);
}
