//! Texts that a person reads on the screen stand in the table of messages: no words of a language are left in
//! `src/tui`.

use nebula::messages::records::localized;
use nebula::messages::{Language, with};

use super::sources;

/// The files in which single words are names: of actions, chords, roles, themes, scopes, terminals, keywords of languages.
const NAMES: &[&str] = &["action.rs", "pane/table.rs", "keys.rs", "theme/", "terminal/", "text/", "pane/diff/item.rs"];

/// Literals that are names, forms of files, or lines for a shell, and no words for a person.
const ALLOWED: &[(&str, &[&str])] = &[
    ("action.rs", &["` in `keys.toml`."]),
    ("app/commands.rs", &["auto", "high", "html", "json", "medium", "none", "plain", "turn", "xhigh"]),
    ("app/command_table.rs", &["undo"]),
    ("app/keys.rs", &["model"]),
    ("app/load.rs", &["dark"]),
    ("app/mod.rs", &["auto", "dark", "light", "nebula"]),
    ("pane/archive/list.rs", &["other session", "patch", "redo", "undo"]),
    ("pane/chat/mod.rs", &["plan"]),
    ("pane/chat/lines.rs", &["nebula"]),
    ("pane/chat/words.rs", &["read"]),
    ("pane/diff/find.rs", &["--- a/{0}\\n+++ b/{0}\\n", "\\n\\\\ No newline at end of file\\n"]),
    ("pane/diff/strip.rs", &["nebula"]),
    ("pane/diff/talk.rs", &["nebula"]),
    ("pane/tools/viewer.rs", &["read"]),
    ("popup/connect/mod.rs", &["anthropic", "embedded", "gemini", "http://", "https://", "openai"]),
    ("popup/no_model.rs", &["export OPENAI_BASE_URL=http://…", "export {variable}=…"]),
    ("popup/page.rs", &["\\u{0}marks"]),
    ("popup/sample.rs", &[" cargo  ", "nebula  ", "price = "]),
    // Said on standard error, where there is no screen.
    ("run.rs", &["the screen needs a terminal ({0}); without one use: nebula task PROMPT"]),
    ("terminal/answers.rs", &["\\x1b[1;1H\\xe2\\x94\\x80\\x1b[6n\\x1b[1;1H \\x1b]11;?\\x1b\\\\\\x1b[?u\\x1b[c"]),
    ("view/hints.rs", &["y n"]),
    ("view/mod.rs", &["nebula", "recording"]),
];

/// Words of fewer letters than those that are always looked at.
const SHORT: &[&str] = &["you", "new", "now", "age", "key"];

/// The string literals of a source, as they are written.
fn literals(code: &str) -> Vec<String> {
    let (mut found, mut rest) = (Vec::new(), code);
    while let Some(at) = rest.find(['"', '\'', '/']) {
        let (mark, after) = (rest.as_bytes()[at], &rest[at + 1..]);
        rest = match mark {
            b'/' if after.starts_with('/') => after.find('\n').map_or("", |end| &after[end..]),
            b'/' => after,
            // A character, or a lifetime.
            b'\'' if after.starts_with('\\') => after.get(2..).and_then(|a| a.split_once('\'')).map_or("", |(_, a)| a),
            b'\'' => {
                let next = after.chars().next().map_or(0, char::len_utf8);
                after[next..].strip_prefix('\'').unwrap_or(after)
            }
            _ => {
                let raw = rest[..at].ends_with('r') || rest[..at].ends_with("r#");
                let hashes = if rest[..at].ends_with("r#") { "\"#" } else { "\"" };
                let mut end = 0;
                while end < after.len() && !after[end..].starts_with(if raw { hashes } else { "\"" }) {
                    end += if !raw && after[end..].starts_with('\\') { 1 } else { 0 };
                    end += after[end..].chars().next().map_or(1, char::len_utf8);
                }
                found.push(after[..end].to_string());
                after.get(end + 1..).unwrap_or("")
            }
        };
    }
    found
}

/// The text without what stands for values and escapes.
fn plain(text: &str) -> String {
    let mut parts = text.split('{');
    let mut out = parts.next().unwrap_or_default().to_string();
    parts.for_each(|part| out.push_str(part.split_once('}').map_or("", |(_, rest)| rest)));
    let mut chars = out.chars();
    let mut kept = String::new();
    while let Some(c) = chars.next() {
        match c {
            '\\' => drop(chars.next()),
            c => kept.push(c),
        }
    }
    kept
}

/// Returns whether a literal reads as words: two of them, or one in small letters where single words are no names.
fn is_prose(path: &str, literal: &str) -> bool {
    let text = plain(literal);
    let words = text.split_whitespace().filter(|word| word.chars().any(|c| c.is_ascii_alphabetic())).count();
    let one = text.trim().trim_matches(|c: char| !c.is_ascii_alphanumeric());
    let small = one.len() >= 4 && one.chars().all(|c| c.is_ascii_lowercase()) && !text.starts_with('/');
    let named = NAMES.iter().any(|place| path == *place || (place.ends_with('/') && path.starts_with(place)));
    words >= 2 || ((small || SHORT.contains(&text.trim())) && !named)
}

#[test]
fn no_words_stand_outside_the_table_of_messages() {
    let (mut broken, mut used) = (Vec::new(), Vec::new());
    for source in sources() {
        let Some(path) = source.path.strip_prefix("tui/") else { continue };
        let allowed = ALLOWED.iter().find(|(place, _)| *place == path).map_or(&[][..], |(_, all)| all);
        for literal in literals(&source.code).iter().filter(|literal| is_prose(path, literal)) {
            match allowed.iter().find(|known| *known == literal) {
                Some(known) => used.push((path.to_string(), *known)),
                None => broken.push(format!("{}: {literal:?} belongs into src/messages", source.path)),
            }
        }
    }
    for (place, all) in ALLOWED {
        let idle = all.iter().filter(|known| !used.contains(&(place.to_string(), **known)));
        broken.extend(idle.map(|known| format!("{place} has no {known:?} any more: take it off the list")));
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

/// The parts of the program whose errors a person meets on the screen.
const ERRORS: &[&str] = &[
    "archive/",
    "config/",
    "context/",
    "disk/",
    "execute/",
    "git/",
    "memory/",
    "restore_plan",
    "shell/",
    "workspace/",
];

/// Errors made of values alone, or whose values are words of the table: an example of each is looked up.
const EXAMPLES: &[(&str, &str)] = &[
    (
        "{path} {}: nothing was written; read it again",
        "a.rs changed on disk meanwhile: nothing was written; read it again",
    ),
    ("{file} into {}: {}", ""),
];

/// Returns whether the table of records has a text, whatever its values are.
fn is_recorded(template: &str) -> bool {
    let mut parts = template.split('{');
    let mut text = parts.next().unwrap_or_default().to_string();
    for part in parts {
        text.push('7');
        text.push_str(part.split_once('}').map_or("", |(_, rest)| rest));
    }
    with(Language::Japanese, || !localized(&text).is_ascii())
}

/// The calls by which the agent speaks to the person: what it says comes from the table of messages, or is in that of records.
const SPOKEN: &[&str] = &[
    ".say(Level::",
    ".notice(Level::",
    ".notice_with(Level::",
    ".failed(Level::",
    "Notice::new(Level::",
    "let title = ",
    "let detail = ",
    "title: ",
    "detail: ",
];

/// Returns what follows up to the end of the call or of the statement.
fn spoken(after: &str) -> &str {
    let mut depth = 0;
    let end = after.char_indices().find(|(_, c)| {
        match c {
            '(' | '{' | '[' => depth += 1,
            ')' | '}' | ']' => depth -= 1,
            _ => {}
        }
        depth < 0 || depth == 0 && (*c == ';' || *c == '\n')
    });
    &after[..end.map_or(after.len(), |(at, _)| at)]
}

#[test]
fn what_the_agent_says_is_in_a_table() {
    let (mut missing, mut seen) = (Vec::new(), 0);
    for source in sources().iter().filter(|s| s.path.starts_with("agent/")) {
        for after in SPOKEN.iter().flat_map(|mark| source.code.split(mark).skip(1)) {
            seen += 1;
            for literal in literals(spoken(after)) {
                let words = plain(&literal).split_whitespace().filter(|w| w.chars().any(char::is_alphabetic)).count();
                if words >= 2 && !is_recorded(&literal) {
                    missing.push(format!("{}: {literal:?} is in no table", source.path));
                }
            }
        }
    }
    missing.dedup();
    assert!(seen > 60, "only {seen} places were found");
    assert!(missing.is_empty(), "{}", missing.join("\n"));
}

#[test]
fn every_error_is_in_the_table_of_records() {
    let (mut missing, mut seen) = (Vec::new(), 0);
    for source in sources().iter().filter(|s| ERRORS.iter().any(|part| s.path.starts_with(part))) {
        for after in source.code.split("#[error(").skip(1) {
            let Some(template) = literals(after).first().cloned() else { continue };
            let words = plain(&template).split_whitespace().filter(|w| w.chars().any(char::is_alphabetic)).count();
            let example = EXAMPLES.iter().find(|(known, _)| **known == template).map(|(_, example)| *example);
            if words < 2 || example == Some("") {
                continue;
            }
            seen += 1;
            if !is_recorded(example.unwrap_or(&template)) {
                missing.push(format!("{}: {template:?} is not in src/messages/records", source.path));
            }
        }
    }
    assert!(seen > 50, "only {seen} errors were found");
    assert!(missing.is_empty(), "{}", missing.join("\n"));
}

#[test]
fn words_are_distinguished_from_names() {
    let code = "f(\"two words\", '\"', 'a', r#\"raw \"x\" y\"#, \"say \\\"hi\\\" now\"); // \"no\"\n\"{n} of {all}\"";
    assert_eq!(literals(code), ["two words", "raw \"x\" y", "say \\\"hi\\\" now", "{n} of {all}"]);
    for prose in ["two words", " undecided", "you", "loading"] {
        assert!(is_prose("view/bar.rs", prose), "{prose}");
    }
    for name in ["{n} of {all}", "F2", "src/a.rs", "/theme", "\\n", "  ", "ms", "X-Key"] {
        assert!(!is_prose("view/bar.rs", name), "{name}");
    }
    assert!(!is_prose("theme/file.rs", "bold") && is_prose("theme/file.rs", "a word"));
}
