//! The commands that need a person at a terminal, or go on until they are interrupted.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use super::world::World;
use crate::pty::Terminal;

/// Longest wait for a line.
const PATIENCE: Duration = Duration::from_secs(60);

/// Two faults with a patch, and one without.
fn broken() -> World {
    let world = World::new();
    world.load("slot users = List(Text) = []\nslot name = Text = \"日本語\"");
    world.load("tile A = row { text(value=text(len(usres))); input(bind=nme, label=\"名前\") }");
    world.load("slot n = Int = \"日本語\"");
    world
}

#[test]
fn interactive_mending_asks_for_each_patch() {
    let world = broken();
    let mut terminal = Terminal::start_in(env!("CARGO_BIN_EXE_strand"), &["fix", "--interactive"], world.path());
    terminal.wait_for("Reference to undefined slot 'usres'");
    terminal.wait_for("^^^^^");
    terminal.wait_for("-     text(value=text(len(usres)))");
    terminal.wait_for("+     text(value=text(len(users)))");
    terminal.wait_for("apply? [y/n/a/q]");
    terminal.keys("y\r");
    terminal.wait_for("Reference to undefined slot 'nme'");
    terminal.keys("x\r");
    terminal.wait_for("y, n, a or q");
    terminal.keys("n\r");
    terminal.wait_for("fixed 1, left");
    assert_eq!(terminal.exit(), 0);
    let text = world.out(0, &["view", "tile.A"]);
    assert!(text.contains("len(users)") && text.contains("bind=nme"), "{text}");
}

#[test]
fn all_and_quit_answer_for_the_rest() {
    let world = broken();
    let mut terminal = Terminal::start_in(env!("CARGO_BIN_EXE_strand"), &["fix", "--interactive"], world.path());
    terminal.wait_for("apply? [y/n/a/q]");
    terminal.keys("q\r");
    terminal.wait_for("fixed 0, left");
    assert_eq!(terminal.exit(), 0);
    let mut terminal =
        Terminal::start_in(env!("CARGO_BIN_EXE_strand"), &["fix", "--interactive", "E0103"], world.path());
    terminal.wait_for("apply? [y/n/a/q]");
    terminal.keys("a\r");
    terminal.wait_for("fixed 2, left 0");
    assert_eq!(terminal.exit(), 0);
    assert!(world.out(0, &["view", "tile.A"]).contains("bind=name"));
}

/// The lines of an output as they come.
fn lines(output: impl Read + Send + 'static) -> Receiver<String> {
    let (send, lines) = channel();
    std::thread::spawn(move || {
        BufReader::new(output).lines().map_while(Result::ok).try_for_each(|line| send.send(line))
    });
    lines
}

/// A program that goes on by itself, and ends with its test, however that ends.
struct Ended(Child);

impl Drop for Ended {
    fn drop(&mut self) {
        // One that has ended already is no concern.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn a_watching_sync_takes_in_what_is_written() {
    let world = World::new();
    world.load("slot n = Int = 0");
    let child = Command::new(env!("CARGO_BIN_EXE_strand"))
        .args(["sync", "--watch"])
        .env_clear()
        .current_dir(world.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut child = Ended(child);
    let results = lines(child.0.stdout.take().unwrap());
    let messages = lines(child.0.stderr.take().unwrap());
    let wait_for = |from: &Receiver<String>, text: &str| {
        while !from.recv_timeout(PATIENCE).unwrap_or_else(|_| panic!("{text} did not come")).contains(text) {}
    };
    wait_for(&results, "+1 ~0 -0 files, 0 ops");
    wait_for(&messages, "watching");
    let file = world.path().join("project.strand/slots/n.strand");
    std::fs::write(&file, "slot n = Int =\n").unwrap();
    wait_for(&messages, "E0001 at slots/n.strand:1:15");
    std::fs::write(&file, "slot n = Int =   7\n").unwrap();
    wait_for(&results, "+0 ~1 -0 files, 1 ops, 0 conflicts");
    assert_eq!(world.out(0, &["view", "slot.n"]), "slot n = Int = 7\n");
    world.out(0, &["replace", "slot.n", "Int = 8"]);
    wait_for(&results, "+0 ~1 -0 files, 0 ops");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "slot n = Int = 8\n");
}
