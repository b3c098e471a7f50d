//! The program that merges where lines and definitions cannot: asked where the person allows it, and there alone. A script
//! stands in for it.

use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};

const FIRST: &str = "fn a(x: u8) {}\n";
const EDITED: &str = "fn a(x: u8, y: u8) {}\n";
const THEIRS: &str = "pub fn a(x: u8, y: u8) {}\n";
const MERGED: &str = "pub fn a(x: u8) {}\n";

struct World {
    dir: tempfile::TempDir,
}

impl World {
    /// A workspace in which an edit of nebula's was changed by another program on the same line.
    fn new() -> World {
        let world = World { dir: tempfile::tempdir().expect("a folder") };
        for folder in ["work", "home", "bin"] {
            fs::create_dir(world.path(folder)).expect("made");
        }
        let script = world.path("bin/mergiraf");
        let lines = format!("[ \"$1\" = merge ] || exit 0\necho asked >> '{}'\n", world.path("asked").display());
        fs::write(&script, format!("#!/bin/sh\n{lines}printf '%s' '{MERGED}'\n")).expect("written");
        fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).expect("set");
        // A process that another test starts may have the script open for a moment still.
        while Command::new(&script).status().is_err_and(|error| error.kind() == ErrorKind::ExecutableFileBusy) {}
        fs::write(world.path("work/a.rs"), FIRST).expect("written");
        fs::write(world.path("edit.patch"), format!("--- a/a.rs\n+++ b/a.rs\n@@ -1 +1 @@\n-{FIRST}+{EDITED}"))
            .expect("written");
        let patch = world.path("edit.patch").display().to_string();
        world.good(&["patch", &patch, "--yes"]);
        assert_eq!(world.text(), EDITED);
        fs::write(world.path("work/a.rs"), THEIRS).expect("written");
        world
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn text(&self) -> String {
        fs::read_to_string(self.path("work/a.rs")).expect("a text")
    }

    fn was_asked(&self) -> bool {
        self.path("asked").exists()
    }

    fn run(&self, words: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_nebula"));
        let search = format!("{}:{}", self.path("bin").display(), std::env::var("PATH").unwrap_or_default());
        command.args(words).current_dir(self.path("work")).env_clear().env("PATH", search);
        command.env("HOME", self.path("home")).env("NEBULA_HOME", self.path("home/nebula"));
        command.stdin(Stdio::null()).output().expect("run")
    }

    fn good(&self, words: &[&str]) -> String {
        let output = self.run(words);
        assert!(output.status.success(), "{words:?}: {output:?}");
        String::from_utf8(output.stdout).expect("text") + &String::from_utf8_lossy(&output.stderr)
    }
}

#[test]
fn an_undo_over_a_foreign_change_of_the_same_line_is_merged_where_the_person_allows_it() {
    let world = World::new();
    world.good(&["config", "set", "mergiraf", "true"]);
    let dry = world.good(&["undo", "--yes", "--dry-run"]);
    assert!(dry.contains("will be merged: mergiraf"), "{dry}");
    let told = world.good(&["undo", "--yes"]);
    assert!(told.contains("a.rs: merged: mergiraf"), "{told}");
    assert_eq!(world.text(), MERGED);
    let rows: Value = serde_json::from_str(&world.good(&["history", "--json"])).expect("JSON");
    assert_eq!(rows[0]["merged"], "mergiraf", "{rows}");
    assert!(world.good(&["history"]).contains("(merged: mergiraf)"));
}

#[test]
fn without_leave_it_is_not_started_and_the_file_is_kept() {
    let world = World::new();
    // What a clone brings along allows nothing, trusted or not.
    fs::create_dir(world.path("work/.nebula")).expect("made");
    fs::write(world.path("work/.nebula/config.json"), json!({"mergiraf": true}).to_string()).expect("written");
    let trusted = json!([world.path("work").canonicalize().expect("a path")]).to_string();
    for _ in 0..2 {
        world.run(&["undo", "--yes"]);
        assert_eq!((world.text(), world.was_asked()), (THEIRS.to_string(), false));
        world.good(&["config", "set", "trusted", &trusted]);
    }
    let told = world.good(&["config", "get", "mergiraf"]);
    assert!(told.starts_with("false\n") && told.contains("only your own configuration sets mergiraf"), "{told}");
}
