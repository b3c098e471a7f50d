//! The absences that `src/lib.rs` claims, where a list of names can show them.

use std::collections::BTreeSet;
use std::fmt::Debug;

use nebula::protocol::{Command, Event};

use super::sizes::functions;
use super::writes::{CALLS, OPENS};
use super::{first_of, only_in, sources, sources_in};

/// The names that a function that draws may not use.
const DECIDES: &[&str] = &[
    "Effect::",
    "Command::",
    ".send(",
    ".set(",
    ".lock(",
    "borrow_mut()",
    "fs::",
    "File::open",
    "Path::exists",
    ".exists()",
    ".metadata()",
    "env::",
    "Instant::now",
    "time::now",
];

#[test]
fn drawing_decides_nothing() {
    const CANVASES: &[&str] = &["&mut Buffer", "&mut Frame", "&mut Pen<"];
    let draws = |name: &str, body: &str| {
        let head = body.split('{').next().unwrap_or_default();
        name == "draw" || name.starts_with("draw_") || CANVASES.iter().any(|canvas| head.contains(canvas))
    };
    // The loop and the terminal hold the program's only handles; they draw nothing themselves.
    only_in(&["tui/run.rs", "tui/terminal"], |source| {
        let drawn = functions(&source.text).into_iter().filter(|(name, body)| draws(name, body));
        let mut decided = drawn.filter_map(|(name, body)| {
            let head = body.split('{').next().unwrap_or_default();
            let changes = ["&mut self", "&mut App"].into_iter().find(|what| head.contains(what));
            Some(format!("{} in {name}, which draws", changes.map(str::to_string).or(first_of(DECIDES, &body))?))
        });
        decided.next().filter(|_| source.path.starts_with("tui/"))
    });
}

#[test]
fn messages_are_values() {
    fn is_value<T: Debug + Clone + PartialEq>() {}
    is_value::<Command>();
    is_value::<Event>();
    const HANDLES: &[&str] = &[
        "Box<dyn",
        "Arc<dyn",
        "Arc<Mutex",
        "dyn Fn",
        "impl Fn",
        "Sender",
        "Receiver",
        "Mutex",
        "RwLock",
        "Notify",
        "JoinHandle",
        "CancellationToken",
        "Serialize",
    ];
    for source in sources_in(&["protocol"]) {
        for handle in HANDLES {
            assert!(!source.code.contains(handle), "{} holds {handle}", source.path);
        }
    }
}

#[test]
fn tools_and_plans_of_restoring_write_nothing() {
    for source in sources_in(&["tools", "edit", "proposal", "archive/restore", "restore_plan.rs"]) {
        for write in CALLS.iter().chain(OPENS).chain(&["workspace::write", "OpenOptions"]) {
            assert!(!source.code.contains(write), "{} names {write}", source.path);
        }
    }
}

#[test]
fn what_is_below_the_agent_is_synchronous() {
    // The front ends and the agent, what talks to a model, what a tool does beside it, and the way to memory's thread.
    const MAY: &[&str] = &["main.rs", "tui", "cli", "mcp", "agent", "provider", "tools", "memory/handle.rs"];
    const NAMES: &[&str] = &["async fn", "async move", "async {", ".await"];
    only_in(MAY, |source| first_of(NAMES, &source.code));
}

#[test]
fn the_environment_is_read_in_named_places() {
    // Settings in `config`; beside them what is about the terminal, the editor, git, and the author of a Strand op.
    const READERS: &[&str] =
        &["main.rs", "config/paths.rs", "cli", "git", "strand/cli", "tui/run.rs", "tui/terminal/editor.rs"];
    only_in(READERS, |source| first_of(&["env::var"], &source.code));
}

#[test]
fn programs_are_started_in_named_places() {
    // git; commands and the helpers that keep their states; what prints a key; language servers; what merges; the person's
    // editor, twice.
    const STARTERS: &[&str] = &[
        "git",
        "shell",
        "provider/transport/key_command.rs",
        "lsp",
        "mergiraf.rs",
        "tui/terminal/editor.rs",
        "cli/commit.rs",
    ];
    only_in(STARTERS, |source| first_of(&[" Command::new(", "process::Command::new("], &source.code));
}

#[test]
fn what_is_pure_knows_no_files_no_clock_and_no_threads() {
    for source in sources_in(&["edit", "proposal", "text"]) {
        for name in ["std::fs", "tokio::", "std::thread", "std::net", "std::process"] {
            assert!(!source.code.contains(name), "{} names {name}", source.path);
        }
    }
    for source in sources_in(&["edit", "proposal"]) {
        assert!(!source.code.contains("SystemTime"), "{} reads the clock", source.path);
    }
}

#[test]
fn the_clock_is_read_in_one_place() {
    // `Instant` measures how long something takes; a time of the day comes from `text::time`. Names of temporary files take
    // the fraction of a second, which is no time of the day.
    const READS: &[&str] = &[
        "SystemTime::now",
        "Utc::now",
        "Local::now",
        "now_v7",
        "Timestamp::now",
        "'now'",
        "CURRENT_TIMESTAMP",
        "unixepoch()",
    ];
    only_in(&["text/time.rs", "disk/mod.rs"], |source| first_of(READS, &source.code));
}

#[test]
fn one_small_file_may_be_unsafe() {
    const MAY: &str = "shell/guard/sys.rs";
    only_in(&[MAY], |source| first_of(&["unsafe_code", "unsafe {"], &source.code));
    assert!(sources_in(&[MAY])[0].text.lines().count() <= 160, "{MAY} is too long");
}

/// The enums of what happens to the screen and of what it wants done, each with the file that defines it.
const KINDS: &[(&str, &str)] = &[
    ("Effect", "tui/msg.rs"),
    ("PaneEffect", "tui/msg.rs"),
    ("Msg", "tui/msg.rs"),
    ("EventBody", "protocol/event.rs"),
];

/// The ends of arms that do nothing.
const IGNORES: &[&str] = &["=> {}", "=> (),", "=> Vec::new(),", "=> None,"];

#[test]
fn the_screen_ignores_no_seven_kinds_of_an_effect_or_event() {
    let (sources, mut broken, mut found) = (sources(), Vec::new(), 0);
    for (name, file) in KINDS {
        let definition = sources.iter().find(|s| s.path == *file).expect("the file of the enum");
        let body = definition.code.split(&format!("pub enum {name} {{\n")).nth(1).expect("the enum");
        let body = body.split("\n}").next().unwrap_or_default();
        let is_variant = |line: &&str| line.strip_prefix("    ").is_some_and(|l| l.starts_with(char::is_uppercase));
        let all = body.lines().filter(is_variant).count();
        // A pane is told of every event, and takes what is its own.
        let own = |path: &str| path.starts_with("tui/") && (*name != "EventBody" || !path.starts_with("tui/pane/"));
        for source in sources.iter().filter(|s| own(&s.path)) {
            for arms in matches(&source.code) {
                let (mut taken, mut named) = (BTreeSet::new(), BTreeSet::new());
                let mut rest = false;
                for arm in &arms {
                    let kinds = kinds(arm, name);
                    rest |= kinds.is_empty() && IGNORES.iter().any(|body| *arm == format!("_ {body}"));
                    if !IGNORES.iter().any(|body| arm.ends_with(body)) {
                        taken.extend(kinds.iter().copied());
                    }
                    named.extend(kinds);
                }
                found += named.len();
                let ignored = if rest { all.saturating_sub(taken.len()) } else { named.difference(&taken).count() };
                if !named.is_empty() && ignored >= 7 {
                    broken.push(format!("{} ignores {ignored} kinds of {name} beside {taken:?}", source.path));
                }
            }
        }
    }
    assert!(found > 40, "only {found} kinds were found");
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

/// The kinds of an enum that the pattern of an arm names at its beginning or after a `|`.
fn kinds<'a>(arm: &'a str, name: &str) -> BTreeSet<&'a str> {
    let pattern = arm.split(" =>").next().unwrap_or_default();
    let prefix = format!("{name}::");
    let named = pattern.split(" | ").filter_map(|kind| kind.strip_prefix(&prefix));
    named.filter_map(|kind| kind.split(|c: char| !c.is_alphanumeric()).next()).collect()
}

/// The `match` expressions of a text as rustfmt leaves it: each by its arms, up to the end of the line that holds the
/// arrow.
fn matches(code: &str) -> Vec<Vec<String>> {
    let lines: Vec<&str> = code.lines().collect();
    let begins = |line: &str| line.ends_with(" {") && line.split(|c: char| !c.is_alphanumeric()).any(|w| w == "match");
    let indent = |line: &str| line.len() - line.trim_start().len();
    let mut found = Vec::new();
    for (at, line) in lines.iter().enumerate().filter(|(_, line)| begins(line)) {
        let inside = lines[at + 1..].iter().take_while(|l| l.is_empty() || indent(l) > indent(line));
        let mut arms: Vec<String> = Vec::new();
        for line in inside.filter(|l| indent(l) == indent(line) + 4).map(|l| l.trim_start()) {
            match arms.last_mut() {
                Some(arm) if line.starts_with("| ") => arm.extend([" ", line]),
                _ => arms.push(line.to_string()),
            }
        }
        found.push(arms);
    }
    found
}

#[test]
fn kinds_are_found_in_an_arm_of_many_lines() {
    let code = "    match e {
        E::A => a(),
        E::B(x)
        | E::C { .. }
        | E::D => {}
    }
";
    let arms = matches(code).remove(0);
    assert_eq!(arms, ["E::A => a(),", "E::B(x) | E::C { .. } | E::D => {}"]);
    assert_eq!(kinds(&arms[1], "E").into_iter().collect::<String>(), "BCD");
    assert!(kinds("F::A => {}", "E").is_empty());
}
