//! What `src/lib.rs` says is absent, where a list of names can show it.

use std::fmt::Debug;

use nebula::protocol::{Command, Event};

use super::sizes::functions;
use super::writes::{CALLS, OPENS};
use super::{MAY_USE, part, sources};

/// What a function that draws has no business with.
const DECIDES: &[&str] = &["Effect::", "Command::", ".send(", ".set(", "borrow_mut()", "fs::", "Instant::now"];

#[test]
fn drawing_decides_nothing() {
    let mut broken = Vec::new();
    const CANVASES: &[&str] = &["&mut Buffer", "&mut Frame", "&mut Pen<"];
    let draws = |name: &str, body: &str| {
        let head = body.split('{').next().unwrap_or_default();
        name == "draw" || name.starts_with("draw_") || CANVASES.iter().any(|canvas| head.contains(canvas))
    };
    for source in sources() {
        // The terminal and the loop hold the program's only handles; they draw nothing themselves.
        let inside =
            source.path.starts_with("tui/") && !["tui/terminal", "tui/run"].iter().any(|p| source.path.starts_with(p));
        for (name, body) in functions(&source.text).into_iter().filter(|(name, body)| inside && draws(name, body)) {
            let head = body.split('{').next().unwrap_or_default();
            if head.contains("&mut self") || head.contains("&mut App") {
                broken.push(format!("{}: {name} can change what it draws", source.path));
            }
            for what in DECIDES.iter().filter(|what| body.contains(**what)) {
                broken.push(format!("{}: {name} names {what}", source.path));
            }
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
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
    for source in sources().iter().filter(|s| s.path.starts_with("protocol")) {
        for handle in HANDLES {
            assert!(!source.code.contains(handle), "{} holds {handle}", source.path);
        }
    }
}

#[test]
fn tools_and_plans_of_restoring_write_nothing() {
    for source in sources() {
        let pure = ["tools/", "edit/", "proposal/", "archive/restore.rs", "restore_plan"]
            .iter()
            .any(|p| source.path.starts_with(p));
        for write in CALLS.iter().chain(OPENS).chain(&["workspace::write", "OpenOptions"]) {
            assert!(!(pure && source.code.contains(write)), "{} names {write}", source.path);
        }
    }
}

#[test]
fn what_is_below_the_agent_is_synchronous() {
    // The front ends and the agent, what talks to a model, and what a tool does beside it.
    const MAY: &[&str] = &["tui", "cli", "mcp", "agent", "provider", "tools"];
    let parts = MAY_USE.iter().map(|(part, _)| *part).filter(|part| !MAY.contains(part));
    let synchronous: Vec<&str> = parts.collect();
    for source in sources().iter().filter(|s| synchronous.contains(&part(&s.path)) && s.path != "memory/handle.rs") {
        for name in ["async fn", "async move", "async {", ".await"] {
            assert!(!source.code.contains(name), "{} names {name}", source.path);
        }
    }
}

#[test]
fn the_environment_is_read_in_named_places() {
    // Settings in `config`; beside them what is about the terminal, the editor, git, and the author of a Strand op.
    const READERS: &[&str] =
        &["main.rs", "config/paths.rs", "cli/", "git/", "strand/cli/", "tui/run.rs", "tui/terminal/editor.rs"];
    for source in sources() {
        let may = READERS.iter().any(|place| source.path.starts_with(place));
        assert!(may || !source.code.contains("env::var"), "{} reads the environment", source.path);
    }
}

#[test]
fn programs_are_started_in_named_places() {
    const STARTERS: &[(&str, &str)] = &[
        ("git/", "git"),
        ("shell/", "commands, and the helpers that keep their states"),
        ("provider/transport/key_command.rs", "what prints a key"),
        ("tui/terminal/editor.rs", "the person's editor"),
        ("cli/commit.rs", "the person's editor"),
    ];
    for source in sources() {
        let may = STARTERS.iter().any(|(place, _)| source.path.starts_with(place));
        let starts = source.code.contains(" Command::new(") || source.code.contains("process::Command::new(");
        assert!(may || !starts, "{} starts a program", source.path);
    }
}

#[test]
fn what_is_pure_knows_no_files_no_clock_and_no_threads() {
    for source in sources() {
        let pure = ["edit/", "proposal/", "text/"].iter().any(|p| source.path.starts_with(p));
        for name in ["std::fs", "tokio::", "std::thread", "std::net", "std::process"] {
            assert!(!(pure && source.code.contains(name)), "{} names {name}", source.path);
        }
        let clock = ["edit/", "proposal/"].iter().any(|p| source.path.starts_with(p));
        assert!(!(clock && source.code.contains("SystemTime")), "{} reads the clock", source.path);
    }
}

#[test]
fn the_clock_is_read_in_one_place() {
    // `Instant` measures how long something takes; a time of the day comes from `text::time`. The other readers need it in
    // another form than milliseconds.
    const READERS: &[&str] =
        &["text/time.rs", "archive/id.rs", "disk", "provider/transport/retry.rs", "context/environment.rs"];
    for source in sources() {
        let may = READERS.iter().any(|place| source.path.starts_with(place));
        assert!(may || !source.code.contains("SystemTime::now"), "{} reads the clock", source.path);
    }
}

#[test]
fn one_small_file_may_be_unsafe() {
    const MAY: &str = "shell/guard/sys.rs";
    for source in sources() {
        let lifts = source.code.contains("unsafe_code") || source.code.contains("unsafe {");
        assert_eq!(lifts, source.path == MAY, "{}", source.path);
        assert!(source.path != MAY || source.text.lines().count() <= 150, "{MAY} is too long");
    }
}
