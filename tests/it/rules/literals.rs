//! Texts that a person reads on the screen stand in the table of messages: no words of a language are left in
//! `src/tui`.

use std::collections::BTreeSet;

use nebula::messages::records::{localized, of_definition};
use nebula::messages::{Language, with};

use super::{sources, sources_in};
use crate::imports::is_in;

/// The files in which single words are names: of actions, chords, roles, themes, scopes, terminals, keywords of languages.
const NAMES: &[&str] = &["action.rs", "pane/table.rs", "keys.rs", "theme", "terminal", "text"];

/// Literals that are names, forms of files, or lines for a shell, and no words for a person.
const ALLOWED: &[(&str, &[&str])] = &[
    ("action.rs", &["` in `keys.toml`."]),
    ("app/commands.rs", &["auto", "high", "html", "json", "medium", "none", "plain", "undo", "xhigh"]),
    ("app/keys.rs", &["model"]),
    ("app/load.rs", &["dark"]),
    ("app/mod.rs", &["auto", "dark", "light", "nebula"]),
    (
        "graph/draw.rs",
        &["clock", "dangling", "healed", "locked", "malformed", "open", "resolved", "sync", "warned", "withdrawn"],
    ),
    ("input/question.rs", &["y n"]),
    ("pane/archive/list.rs", &["other session", "patch", "redo", "undo"]),
    ("pane/chat/mod.rs", &["plan"]),
    ("pane/chat/lines.rs", &["nebula"]),
    ("pane/chat/words.rs", &["read"]),
    ("pane/diff/find.rs", &["--- a/{0}\\n+++ b/{0}\\n", "\\n\\\\ No newline at end of file\\n"]),
    ("pane/diff/strip.rs", &["nebula"]),
    ("pane/diff/talk.rs", &["nebula"]),
    ("pane/tools/viewer.rs", &["read"]),
    ("past/timeline.rs", &["now"]),
    ("popup/connect/mod.rs", &["anthropic", "embedded", "gemini", "openai"]),
    ("popup/connect/owner.rs", &["http://", "https://"]),
    ("popup/no_model.rs", &["export OPENAI_BASE_URL=http://…", "export {variable}=…"]),
    ("popup/page.rs", &["\\u{0}marks"]),
    ("popup/sample.rs", &[" cargo  ", "nebula  ", "price = "]),
    // Said on standard error, where there is no screen.
    ("run.rs", &["the screen needs a terminal ({0}); without one use nebula chat, or nebula task PROMPT"]),
    ("terminal/answers.rs", &["\\x1b[1;1H\\xe2\\x94\\x80\\x1b[6n\\x1b[1;1H \\x1b]11;?\\x1b\\\\\\x1b[?u\\x1b[c"]),
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

/// Returns the place of [`NAMES`] that a file below `tui` is in.
fn place_of_names(path: &str) -> Option<&'static str> {
    NAMES.iter().find(|place| is_in(path, place)).copied()
}

/// Returns whether a literal reads as words: two of them, or one in small letters where single words are no names.
fn is_prose(path: &str, literal: &str) -> bool {
    let words = plain(literal).split_whitespace().filter(|word| word.chars().any(|c| c.is_ascii_alphabetic())).count();
    words >= 2 || is_word(literal) && place_of_names(path).is_none()
}

/// Returns whether a literal is one word in small letters.
fn is_word(literal: &str) -> bool {
    let text = plain(literal);
    let one = text.trim().trim_matches(|c: char| !c.is_ascii_alphanumeric());
    let small = one.len() >= 4 && one.chars().all(|c| c.is_ascii_lowercase()) && !text.starts_with('/');
    small || SHORT.contains(&text.trim())
}

#[test]
fn no_words_stand_outside_the_table_of_messages() {
    let (mut broken, mut used, mut named) = (Vec::new(), Vec::new(), BTreeSet::new());
    for source in sources() {
        let Some(path) = source.path.strip_prefix("tui/") else { continue };
        named.extend(place_of_names(path).filter(|_| literals(&source.code).iter().any(|literal| is_word(literal))));
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
    let idle = NAMES.iter().filter(|place| !named.contains(*place));
    broken.extend(idle.map(|place| format!("{place} has no names: take it off the list")));
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

/// The parts of the program whose errors a person meets on the screen.
const ERRORS: &[&str] = &[
    "archive",
    "config",
    "context",
    "disk",
    "execute",
    "git",
    "memory",
    "past",
    "restore_plan.rs",
    "review.rs",
    "shell",
    "workspace",
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
    with(Language::Japanese, || !localized(&filled(template)).is_ascii())
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
    for source in sources_in(&["agent"]) {
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
    let (mut missing, mut seen, mut examples) = (Vec::new(), 0, BTreeSet::new());
    for source in sources_in(ERRORS) {
        for after in source.code.split("#[error(").skip(1) {
            let Some(template) = literals(after).first().cloned() else { continue };
            let words = plain(&template).split_whitespace().filter(|w| w.chars().any(char::is_alphabetic)).count();
            let example = EXAMPLES.iter().find(|(known, _)| **known == template).map(|(_, example)| *example);
            examples.extend(example.map(|_| template.clone()));
            if words < 2 || example == Some("") {
                continue;
            }
            seen += 1;
            if !is_recorded(example.unwrap_or(&template)) {
                missing.push(format!("{}: {template:?} is not in src/messages/records", source.path));
            }
        }
    }
    assert_eq!(examples.len(), EXAMPLES.len(), "no error needs the other examples: {examples:?}");
    assert!(seen > 50, "only {seen} errors were found");
    assert!(missing.is_empty(), "{}", missing.join("\n"));
}

/// Returns the text with 7 for each of its values.
fn filled(template: &str) -> String {
    let mut parts = template.split('{');
    let first = parts.next().unwrap_or_default().to_string();
    parts.fold(first, |text, part| format!("{text}7{}", part.split_once('}').map_or("", |(_, rest)| rest)))
}

#[test]
fn every_fault_of_a_definition_is_in_its_table() {
    let words = |text: &str| plain(text).split_whitespace().filter(|w| w.chars().any(char::is_alphabetic)).count();
    let mut texts = Vec::new();
    for source in sources_in(&["strand"]) {
        if source.path.ends_with("check/render.rs") {
            let messages =
                source.code.split_once("fn message(").and_then(|(_, rest)| rest.split("fn predicate(").next());
            texts.extend(literals(messages.expect("its messages")).into_iter().filter(|text| words(text) >= 2));
        } else if source.path.contains("/check/") {
            let marks = ["misfits(", "let message =", "Some(name) => format!(", "None if named => format!("];
            let misfits = marks.iter().flat_map(|mark| source.code.split(*mark).skip(1));
            let misfits = misfits.flat_map(|after| literals(spoken(after))).filter(|text| words(text) >= 1);
            texts.extend(misfits.map(|words| format!("Type mismatch: {words}")));
        } else if source.path.ends_with("strand/findings.rs") {
            texts.extend(literals(&source.code).into_iter().filter(|text| text.split(' ').count() > 4));
        }
    }
    // The form of those that are in other words.
    texts.retain(|text| text != "Type mismatch: {message}");
    assert!(texts.len() > 60, "only {} texts were found", texts.len());
    let missing = |text: &&String| with(Language::Japanese, || of_definition(&filled(text)).is_ascii());
    let missing: Vec<&String> = texts.iter().filter(missing).collect();
    assert!(missing.is_empty(), "{missing:#?}");
}

/// The sources whose texts become the reasons of calls, mentions, paths, restores and git, each with its texts that no
/// record has: those for the model alone, parts of others, and names of points of time.
const REASONS: &[(&str, &[&str])] = &[
    (
        "context/attach.rs",
        &[
            "lines 7 to 7 of 7 are 7 long",
            "7, and its line 7 alone is longer than 7: put the part that matters into a file of its own and mention that, or name the file without @, so that the model searches in it",
            "7: mention fewer lines of it, as 7:7",
            "7: mention fewer lines of it, as 7:7-7",
        ],
    ),
    (
        "edit/group/file.rs",
        &["Did you mean 7?", "there is no such file.7 Look at the folder with `list`, or make the file"],
    ),
    (
        "edit/group/refusals.rs",
        &[
            "Nothing was written yet",
            "To leave out the rest, send the same text again: the person decides",
            "To make a new file of this name, send the same text again: the person decides",
            "To keep it so, send the same text again: the person decides",
            "it cannot be read any more",
        ],
    ),
    (
        "edit/locate/tell.rs",
        &[
            "Send it again with a neighbouring line or two that stand at only one of them, in both the search and the replacement; or ask for every place (`replaceAll: true`)",
            "the search text stands",
            "; it is only a part of these:",
            "only inside of longer words here:",
            "Search for the whole line, or for the whole word with what stands around it",
            "To change each of them, send one change for each",
            "Copy the search text from there, without the numbers, and send the change again",
            ", and nothing like it is",
            "To put something new into it, search for the lines next to the place and repeat them in the replacement",
            "Read the file, then copy the search text from it",
        ],
    ),
    (
        "edit/outcome.rs",
        &["7: already done: the file has this change", "7: ignored, it is the example of the instructions"],
    ),
    ("edit/place/numbers.rs", &["at line 7, not 7"]),
    (
        "edit/place/passage.rs",
        &[
            "the search text and its replacement are the same, and 7",
            "the block has more than one line of 7",
            "(The file is not valid text, so only an exact search can find something in it.)",
        ],
    ),
    ("tools/base/context.rs", &[]),
    ("tools/ask.rs", &["Short answers; each may explain itself after ' - '"]),
    (
        "tools/read.rs",
        &[
            "7: look into it with searchInDirectory",
            "a PNG image",
            "a JPEG image",
            "a GIF image",
            "a zip archive",
            "a gzip archive",
            "an SQLite database",
        ],
    ),
    ("tools/search.rs", &["(the first 7 files; search a folder below, or for more letters)"]),
    (
        "shell/report.rs",
        &[
            "process still runs",
            "processes still run",
            "ask again with needs: [\"network\"] and why, if it must reach further",
            "not archived yet: 7",
            "its output is not kept whole: 7",
        ],
    ),
    ("execute/error.rs", &["appeared on disk meanwhile", "vanished from disk meanwhile", "changed on disk meanwhile"]),
    ("execute/apply.rs", &["7: 7 in its place was removed", "apply: flush folders"]),
    ("edit/place/fit.rs", &[]),
    ("edit/place/mod.rs", &[]),
    ("edit/place/whole.rs", &[]),
    ("agent/turn/step/command/judge.rs", &[]),
    ("agent/turn/step/tool_run/questions.rs", &[]),
    ("agent/services/shell.rs", &[]),
    ("shell/request.rs", &[]),
    ("workspace/path.rs", &[]),
    ("archive/restore", &[]),
    // One of the words of [`records::repository`].
    ("archive/unit/repository.rs", &["over what changed outside nebula"]),
    ("git/mod.rs", &[]),
    ("agent/turn/step/edits.rs", &[]),
    ("agent/turn/step/undo.rs", &["The person rejected it; nothing was restored.7"]),
    (
        "agent/turn/step/results.rs",
        &[
            "Not written, and not decided: the proposal was tested first",
            "Not written: 7 changed on disk after it was read",
            "7: decided together with the call before",
            "7: merged together with the call before",
            "7 changed on disk after it was read",
            "7 changed on disk after it was read, by the same edit: nothing else in it differs",
            "7: 7; nothing was written7",
            "All of your edit is in it already",
            "Your edit was merged into it (by 7)",
            "Read it again before you rely on its text",
            "The person says: 7",
            "The person says of 7: 7",
            "The person gave no reason",
            "7: the person changed the result before accepting it",
            "7: 7: it was rejected; the file stays as it was",
            "rejected, these lines stay as they were",
            "lines 7-7 of before",
            "the whole file",
        ],
    ),
    (
        "agent/turn/step/tool_run/mod.rs",
        &["Your answer made more than 7 calls", "already done: the file has this change"],
    ),
];

/// Words that only the model shall read.
const MODEL_ALONE: &[&str] = &[
    "readFile",
    "writeFile",
    "editFile",
    "replaceInFile",
    "listDirectory",
    "searchInDirectory",
    "the person",
    "send it again",
    "try another way",
];

/// Returns the first sentence of a literal, which is what a person reads of it, with 7 for each value.
fn first_sentence(literal: &str) -> String {
    let mut text = String::new();
    for (n, part) in literal.split("\\\n").enumerate() {
        text.push_str(if n == 0 { part } else { part.trim_start() });
    }
    let line = text.split("\\n").next().unwrap_or_default();
    let sentence = line.split(". ").next().unwrap_or_default().trim().trim_end_matches('.');
    let mut parts = sentence.split('{');
    let mut out = parts.next().unwrap_or_default().to_string();
    for part in parts {
        out.push('7');
        out.push_str(part.split_once('}').map_or("", |(_, rest)| rest));
    }
    out.replace("\\\"", "\"").replace("\\\\", "\\")
}

#[test]
fn every_reason_is_in_the_table_of_records() {
    let is_known = |text: &str| with(Language::Japanese, || localized(text) != text);
    let (mut broken, mut seen, mut used) = (Vec::new(), 0, Vec::new());
    for source in sources_in(&REASONS.iter().map(|(place, _)| *place).collect::<Vec<_>>()) {
        let Some((place, allowed)) = REASONS.iter().find(|(place, _)| *place == source.path) else { continue };
        for literal in literals(&source.code) {
            let text = first_sentence(&literal);
            let words = text.split(['7', ' ']).filter(|w| w.chars().any(|c| c.is_ascii_alphabetic())).count();
            if words < 3 {
                continue;
            }
            seen += 1;
            let shown = with(Language::English, || localized(&text).into_owned());
            if MODEL_ALONE.iter().any(|words| shown.contains(words)) && !allowed.contains(&text.as_str()) {
                broken.push(format!("{place}: the person reads {shown:?}"));
            }
            // Some are made to end in a reason.
            if is_known(&text) || is_known(&format!("{text}: 7")) {
                continue;
            }
            match allowed.iter().find(|known| **known == text) {
                Some(known) => used.push((*place, *known)),
                None => broken.push(format!("{place}: {text:?} is not in src/messages/records")),
            }
        }
    }
    for (place, all) in REASONS {
        let idle = all.iter().filter(|known| !used.contains(&(*place, **known)));
        broken.extend(idle.map(|known| format!("{place} has no {known:?} without a record: take it off the list")));
    }
    assert!(seen > 120, "only {seen} texts were found");
    assert!(broken.is_empty(), "{}", broken.join("\n"));
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
