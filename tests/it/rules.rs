//! The house rules that one crate cannot leave to the compiler: who may name whom (the table in `src/lib.rs`),
//! one module per outside crate, no test file forgotten. Further ones are in `rules/`.

mod absent;
mod literals;
mod names;
mod sizes;
mod terms;
mod writes;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use crate::imports::{is_in, leaves, uses, without_uses};

/// The modules that start the program and join everything.
const JOIN_ALL: &[&str] = &["main", "bin", "lib"];

/// A part of the program and the parts it may name beside `text`, which is pure and small: anyone may use it. A row names
/// only what is really used, so that the table is a picture of the program.
const MAY_USE: &[(&str, &[&str])] = &[
    ("disk", &[]),
    ("text", &[]),
    ("messages", &[]),
    ("git", &[]),
    ("proposal", &["code"]),
    ("mergiraf", &["disk", "proposal"]),
    ("edit", &["code", "proposal"]),
    ("code", &[]),
    ("definitions", &["code", "proposal", "workspace"]),
    ("config", &["disk", "edit"]),
    ("strand", &["disk", "git"]),
    ("mcp", &["strand"]),
    ("workspace", &["disk", "proposal"]),
    ("archive", &["proposal", "disk", "workspace", "git"]),
    ("shell", &["archive", "git", "workspace", "disk", "proposal"]),
    ("memory", &[]),
    (
        "execute",
        &[
            "proposal",
            "workspace",
            "archive",
            "memory",
            "disk",
            "strand::cli::Opening",
            "strand::cli::ToolAnswer",
            "strand::cli::ToolCall",
            "strand::cli::Tools",
            "strand::cli::TouchedDefinition",
        ],
    ),
    ("restore_plan", &["execute", "proposal", "archive", "memory", "workspace"]),
    ("past", &["code", "execute", "archive", "memory", "proposal", "workspace"]),
    ("review", &["execute", "archive", "memory", "proposal", "restore_plan", "workspace"]),
    ("provider", &["config", "disk", "messages"]),
    ("lsp", &["config"]),
    ("context", &["edit", "workspace", "memory", "provider", "disk", "git"]),
    (
        "tools",
        &[
            "code",
            "definitions",
            "edit",
            "proposal",
            "workspace",
            "provider",
            "shell",
            "strand::cli::Opening",
            "strand::cli::ToolAnswer",
            "strand::cli::ToolCall",
            "strand::cli::TouchedDefinition",
            "strand::cli::store_of",
        ],
    ),
    ("protocol", &["proposal"]),
    (
        "agent",
        &[
            "archive",
            "code",
            "config",
            "context",
            "definitions",
            "edit",
            "execute",
            "git",
            "memory",
            "mergiraf",
            "messages",
            "past",
            "proposal",
            "protocol",
            "provider",
            "restore_plan",
            "review",
            "shell",
            "strand::check::Checks",
            "strand::check::render",
            "strand::cli::issuer",
            "strand::cli::store_of",
            "strand::cli::unknown_store",
            "strand::conflicts",
            "strand::findings::Finding",
            "strand::id",
            "strand::issue::references",
            "strand::lang::ast::To",
            "strand::store::Conflict",
            "strand::store::Error",
            "strand::store::Store",
            "tools",
            "workspace",
        ],
    ),
    (
        "tui",
        &[
            "protocol",
            "proposal",
            "config::screen_files",
            "config::providers",
            "config::is_loopback",
            "context::mention",
            "disk::EditorFile",
            "messages",
        ],
    ),
    (
        "cli",
        &[
            "agent",
            "archive",
            "code",
            "config",
            "context",
            "definitions",
            "disk",
            "edit",
            "execute",
            "git",
            "lsp",
            "mcp",
            "memory",
            "messages",
            "past",
            "proposal",
            "protocol",
            "provider",
            "restore_plan",
            "review",
            "shell",
            "strand::cli::Opening",
            "strand::cli::Serving",
            "strand::cli::main",
            "strand::cli::unable",
            "tools",
            "workspace",
        ],
    ),
];

/// An outside crate and the files or folders (below `src`) that may name it.
const DOORS: &[(&str, &[&str])] = &[
    ("ratatui", &["tui"]),
    ("crossterm", &["tui"]),
    ("rusqlite", &["memory", "strand"]),
    ("zstd", &["strand/store/archive"]),
    ("notify", &["workspace/watch.rs"]),
    ("reqwest", &["provider"]),
    ("rmcp", &["mcp"]),
    ("candle_core", &["provider/embedded"]),
    ("clap", &["cli", "strand"]),
    (
        "tokio",
        &["agent", "memory/handle.rs", "provider", "tools", "tui/run.rs", "tui/terminal/editor.rs", "cli", "mcp"],
    ),
    ("libc", &["shell/guard"]),
    ("landlock", &["shell/sandbox"]),
    ("tree_sitter", &["shell/class", "code"]),
    ("tree_sitter_rust", &["code/lang/language.rs"]),
    ("tree_sitter_python", &["code/lang/language.rs"]),
    ("tree_sitter_typescript", &["code/lang/language.rs"]),
    ("tree_sitter_go", &["code/lang/language.rs"]),
    ("tree_sitter_bash", &["shell/class/parse.rs"]),
    ("anyhow", &["main.rs", "cli"]),
    ("syntect", &["tui/text"]),
];

struct Source {
    /// Path below `src`, with `/`.
    path: String,
    /// The text without its `mod tests`.
    text: String,
    /// The text without comments.
    code: String,
}

fn sources() -> Vec<Source> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    walk(&root, &mut files);
    files
        .into_iter()
        .filter(|p| !is_test(p))
        .map(|p| {
            let text = fs::read_to_string(&p).expect("a readable source");
            let text = without_tests(&text).to_string();
            let code = text.lines().filter(|l| !l.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n");
            let path = p.strip_prefix(&root).expect("below src").to_string_lossy().replace('\\', "/");
            Source { path, text, code }
        })
        .collect()
}

/// The text before its `mod tests { … }`. One that is a file of its own stands among the other `mod` lines, and the code
/// comes after it.
pub fn without_tests(text: &str) -> &str {
    let code = text.split("\nmod tests {").next().unwrap_or(text);
    code.rsplit_once('\n').filter(|(_, last)| last.starts_with("#[cfg(")).map_or(code, |(before, _)| before)
}

/// Returns whether a file is compiled for tests alone.
fn is_test(path: &Path) -> bool {
    let name = path.file_stem().map(|name| name.to_string_lossy()).unwrap_or_default();
    name == "testing" || name.ends_with("tests") || path.parent().is_some_and(|folder| folder.ends_with("tests"))
}

/// Every `.rs` file, by its path below `src`.
fn paths() -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    walk(&root, &mut files);
    files.iter().map(|p| p.strip_prefix(&root).expect("below src").to_string_lossy().replace('\\', "/")).collect()
}

fn walk(dir: &Path, out: &mut Vec<PathBuf>) {
    let mut entries: Vec<_> =
        fs::read_dir(dir).expect("a readable folder").map(|e| e.expect("an entry").path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            walk(&path, out);
        } else if path.extension().is_some_and(|e| e == "rs") {
            out.push(path);
        }
    }
}

/// Checks that what `uses` finds in a source is only in these places, files or folders below `src`, and that each of
/// them has it still.
fn only_in(places: &[&str], uses: impl Fn(&Source) -> Option<String>) {
    let (mut broken, mut used) = (Vec::new(), BTreeSet::new());
    for source in sources() {
        let Some(what) = uses(&source) else { continue };
        match places.iter().find(|place| is_in(&source.path, place)) {
            Some(place) => drop(used.insert(*place)),
            None => broken.push(format!("{} names {what}", source.path)),
        }
    }
    let idle = places.iter().filter(|place| !used.contains(*place));
    broken.extend(idle.map(|place| format!("{place} has nothing of it any more: take it off the list")));
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

/// The first of some names that a text holds.
fn first_of(names: &[&str], code: &str) -> Option<String> {
    names.iter().find(|name| code.contains(**name)).map(|name| name.to_string())
}

/// The sources in these places, files or folders below `src`. A rule about a place that is not there would hold of
/// nothing.
fn sources_in(places: &[&str]) -> Vec<Source> {
    let mut sources = sources();
    for place in places {
        assert!(sources.iter().any(|source| is_in(&source.path, place)), "{place} is not there");
    }
    sources.retain(|source| places.iter().any(|place| is_in(&source.path, place)));
    sources
}

#[test]
#[should_panic(expected = "tui/gone.rs is not there")]
fn a_rule_of_a_file_that_is_not_there_fails() {
    sources_in(&["tui/app", "tui/gone.rs"]);
}

#[test]
#[should_panic(expected = "text has nothing of it any more")]
fn an_exemption_that_nothing_needs_fails() {
    only_in(&["main.rs", "text"], |source| (source.path == "main.rs").then(String::new));
}

/// The part of the program a file belongs to.
fn part(path: &str) -> &str {
    path.split('/').next().unwrap_or(path).trim_end_matches(".rs")
}

/// The paths below `crate::` that a file names, also inside `use crate::{a, b::c}`.
fn named(code: &str) -> Vec<String> {
    let trees = uses(code).into_iter().flat_map(|(_, tree)| leaves(&tree));
    let used =
        trees.filter(|names| names.first().is_some_and(|first| first == "crate")).map(|names| names[1..].join("::"));
    let rest = without_uses(code);
    let in_place = rest.split("crate::").skip(1).map(|path| {
        let end = path.find(|c: char| !(c.is_alphanumeric() || c == '_' || c == ':')).unwrap_or(path.len());
        path[..end].to_string()
    });
    used.chain(in_place).filter(|name| !name.is_empty()).collect()
}

#[test]
fn names_are_found_in_groups_too() {
    let code = "use crate::{a, b::{c, d::e}};\nuse crate::f::{self, g};\nfn h() { crate::i::j(); }\n";
    assert_eq!(named(code), ["a", "b::c", "b::d::e", "f::self", "f::g", "i::j"]);
}

#[test]
fn parts_name_only_what_they_may() {
    let table: BTreeMap<_, _> = MAY_USE.iter().copied().collect();
    let (mut broken, mut used) = (Vec::new(), BTreeSet::new());
    for source in sources().iter().filter(|s| !JOIN_ALL.contains(&part(&s.path))) {
        let own = part(&source.path);
        let Some(allowed) = table.get(own) else {
            broken.push(format!("{} is in no row of the table", source.path));
            continue;
        };
        for name in named(&source.code) {
            let top = name.split("::").next().unwrap_or(&name);
            if top == own || top == "text" || !table.contains_key(top) {
                continue;
            }
            match allowed.iter().find(|a| name == **a || top == **a || name.starts_with(&format!("{a}::"))) {
                Some(allowed) => drop(used.insert((own.to_string(), *allowed))),
                None => broken.push(format!("{} names crate::{name}", source.path)),
            }
        }
    }
    for (own, allowed) in MAY_USE {
        let idle = allowed.iter().filter(|a| !used.contains(&(own.to_string(), **a)));
        broken.extend(idle.map(|a| format!("{own} no longer names {a}: take it off the table")));
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
fn the_map_lists_each_part_above_those_it_names() {
    let map = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("src/lib.rs")).expect("src/lib.rs");
    let rows = map.lines().filter_map(|line| line.strip_prefix("//! | "));
    let rows: Vec<&str> = rows.filter_map(|row| row.split('`').nth(1)).collect();
    let place = |part: &str| rows.iter().position(|row| *row == part);
    assert_eq!(rows.len(), MAY_USE.len(), "the map and the table have the same parts");
    for (own, allowed) in MAY_USE {
        for part in allowed.iter().map(|a| a.split("::").next().unwrap_or(a)) {
            assert!(place(own).is_some() && place(own) < place(part), "src/lib.rs lists {part} above {own}");
        }
    }
}

#[test]
fn what_the_map_and_the_recipes_name_is_there() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let map = fs::read_to_string(root.join("src/lib.rs")).expect("src/lib.rs");
    let built = fs::read_to_string(root.join("assets/guide/contributing.md")).expect("the page");
    let code = |text: &str| text.split('`').skip(1).step_by(2).map(str::to_string).collect::<Vec<_>>();
    let is_path = |name: &str| {
        name.contains('/')
            && !name.starts_with('/')
            && !name.contains(|c: char| c.is_whitespace() || "*:{<$…".contains(c))
    };
    let below_src = code(&map.lines().filter(|l| l.starts_with("//!")).collect::<Vec<_>>().join("\n"));
    let below_src = below_src.into_iter().filter(|name| is_path(name)).map(|name| match name.starts_with("tests/") {
        true => name,
        false => format!("src/{name}"),
    });
    let named = below_src.chain(code(&built).into_iter().filter(|name| is_path(name)));
    let mut found = 0;
    for name in named.filter(|name| !name.contains("NAME")) {
        let there = [name.clone(), format!("{name}.rs"), format!("src/{name}")].iter().any(|p| root.join(p).exists());
        assert!(there, "{name} is not there");
        found += 1;
    }
    assert!(found > 20, "only {found} paths were found");
}

#[test]
fn every_edit_format_has_its_words() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let chooser = fs::read_to_string(root.join("src/messages/commands.rs")).expect("the list of /format");
    let page = fs::read_to_string(root.join("assets/guide/edits.md")).expect("the page");
    for name in nebula::edit::Format::ALL.map(nebula::edit::Format::name) {
        assert!(chooser.contains(&format!("(\"{name}\", format_{name})")), "/format does not list {name}");
        assert!(page.contains(&format!("`{name}`")), "the page does not name the format {name}");
    }
}

#[test]
fn each_outside_crate_has_one_door() {
    let (mut broken, mut used) = (Vec::new(), BTreeSet::new());
    for source in sources() {
        for (name, doors) in DOORS {
            let names = source.code.contains(&format!("{name}::")) || source.code.contains(&format!("use {name};"));
            match doors.iter().find(|d| source.path == **d || source.path.starts_with(&format!("{d}/"))) {
                _ if !names => {}
                Some(door) => drop(used.insert((name, door))),
                None => broken.push(format!("{} names {name}", source.path)),
            }
        }
    }
    for (name, doors) in DOORS {
        let idle = doors.iter().filter(|door| !used.contains(&(name, *door)));
        broken.extend(idle.map(|door| format!("{door} does not name {name}: take it off the list")));
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

/// The places where each author of a decision may be named: a place that asks the person, applies the policy, or reads flags. The
/// person's decision about a command arrives as a [`nebula::protocol::CommandDecision`].
const CONSENT: &[(&str, &[&str])] = &[
    (
        "Consent::Person",
        &[
            "tui/pane",
            "cli",
            "agent/turn/step/command",
            "agent/turn/step/tool_run/questions.rs",
            "agent/change/restore",
            "execute/take_back.rs",
        ],
    ),
    ("Consent::Policy", &["agent"]),
    ("Consent::Flag", &["agent", "cli"]),
    ("Consent::Rule", &["agent/turn/step/command"]),
];

#[test]
fn consent_is_given_only_where_it_is_requested() {
    for (author, places) in CONSENT {
        only_in(places, |source| first_of(&[author], &source.code).filter(|_| part(&source.path) != "proposal"));
    }
}

#[test]
fn no_test_file_is_forgotten() {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it");
    let main = fs::read_to_string(dir.join("main.rs")).expect("tests/it/main.rs");
    for entry in fs::read_dir(&dir).expect("tests/it") {
        let path = entry.expect("an entry").path();
        let name = path.file_stem().expect("a name").to_string_lossy().to_string();
        let is_module = path.extension().is_some_and(|e| e == "rs") || path.join("mod.rs").exists();
        if is_module && name != "main" {
            assert!(main.contains(&format!("mod {name};")), "tests/it/main.rs does not name {name}");
        }
    }
}
