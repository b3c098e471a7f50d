//! Each edit format played in the real screen, from keys to files: a recorded answer streams in small pieces, one of its
//! two changes is accepted, and it is taken back.
//!
//! `fixtures/play` holds a recording a format, the file before (`greet.py`) and with the first change alone
//! (`greet.half.py`). Each recording pauses for half a second after its prose and once in its first edit, so that both are
//! drawn however busy the machine is.

use std::fs;
use std::path::{Path, PathBuf};

use crate::pty::Terminal;

/// Texts that no screen may show: pieces of the notation, whole or in part.
const NOTATION: [&str; 8] = ["<", "===", ">>>", "*** ", "@@", "``", "{\"", "arguments\":"];

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/play").join(name)
}

fn play(name: &str, format: &str) {
    let home = tempfile::tempdir().expect("a folder");
    let root = home.path().join("project");
    fs::create_dir_all(root.join(".git")).expect("made");
    fs::copy(fixture("greet.py"), root.join("greet.py")).expect("copied");
    let now = || fs::read_to_string(root.join("greet.py")).expect("readable");
    let wanted = |name: &str| fs::read_to_string(fixture(name)).expect("readable");
    let (recording, project) = (fixture(&format!("{name}.jsonl")), root.display().to_string());
    let flags = ["--replay", recording.to_str().expect("text"), "--format", format, "--workspace", &project];
    let mut terminal = Terminal::start_in(env!("CARGO_BIN_EXE_nebula"), &flags, home.path());

    terminal.wait_for("ask for a change");
    terminal.keys("Speak Japanese in @greet.py \r");
    let (mut said, mut grew) = (false, false);
    terminal.watch("2 undecided", |screen| {
        for piece in NOTATION {
            assert!(!screen.contains(piece), "{name}: {piece} on the screen:\n{screen}");
        }
        said |= screen.contains("fall back to English") && !screen.contains("GREETINGS");
        grew |= screen.contains("writing") && screen.contains("GREETINGS");
    });
    assert!(said, "{name}: prose does not come before the edits");
    assert!(grew, "{name}: no edit was seen to grow");
    assert_eq!(now(), wanted("greet.py"), "{name}: written without a decision");

    terminal.press("y", "1 of 2 accepted");
    terminal.keys("n");
    terminal.wait_for("1 rejected");
    terminal.keys("\r");
    terminal.wait_for("why was it rejected?");
    terminal.press("not now\r", "stays as it is");
    terminal.wait_for("ready");
    assert_eq!(now(), wanted("greet.half.py"), "{name}: half of it");

    terminal.keys("/undo\r");
    terminal.wait_for("will restore");
    terminal.press("\r", "ready to write");
    terminal.press("\r", "2 changesets");
    assert_eq!(now(), wanted("greet.py"), "{name}: taken back");
    assert_eq!(terminal.leave(), 0);
}

#[test]
fn tools() {
    play("tools", "tools");
}

#[test]
fn calls_written_as_text() {
    play("json", "tools");
}

#[test]
fn xml() {
    play("xml", "xml");
}

#[test]
fn whole() {
    play("whole", "whole");
}

#[test]
fn blocks() {
    play("blocks", "blocks");
}

#[test]
fn unified_diff() {
    play("unified", "patch");
}

#[test]
fn envelope() {
    play("envelope", "patch");
}

#[test]
fn lines() {
    play("lines", "lines");
}
