//! A folder with a store in it, and the real programs to type at.

use std::path::Path;
use std::process::{Command, Output};

pub struct World(tempfile::TempDir);

impl World {
    pub fn new() -> World {
        let world = World(tempfile::tempdir().unwrap());
        assert_eq!(world.run(&["init"]).status.code(), Some(0));
        world
    }

    pub fn path(&self) -> &Path {
        self.0.path()
    }

    pub fn run(&self, args: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_strand"));
        command.env_clear().env("USER", "me").current_dir(self.path()).args(args).output().unwrap()
    }

    /// Runs, wants an exit code, and gives stdout.
    #[track_caller]
    pub fn out(&self, code: i32, args: &[&str]) -> String {
        let output = self.run(args);
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        assert_eq!(output.status.code(), Some(code), "{args:?}: {} {}", text(&output.stdout), text(&output.stderr));
        text(&output.stdout)
    }

    #[track_caller]
    pub fn err(&self, code: i32, args: &[&str]) -> String {
        let output = self.run(args);
        assert_eq!(output.status.code(), Some(code), "{args:?}");
        String::from_utf8(output.stderr).unwrap()
    }

    /// Adds every definition of a program.
    pub fn load(&self, text: &str) {
        for found in nebula::strand::lang::parse::parse_definitions(text).unwrap() {
            let definition = found.result.unwrap();
            let body = nebula::strand::lang::print::body(&definition.body);
            self.out(0, &["add", definition.layer.word(), &definition.name, &body]);
        }
    }
}

/// The todo app.
pub const TODO: &str = include_str!("programs/todo.strand");
