//! A small project on disk, and what stands in it.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use nebula::text::name::text_of;

/// The entry at a path: its kind, its mode, and its bytes or a link's text.
type Entry = (char, u32, Vec<u8>);

/// A project in a folder that vanishes with it.
pub struct Tree {
    dir: tempfile::TempDir,
}

impl Tree {
    /// A repository with a commit, ignored files, links, folders, modes, and a build folder.
    pub fn new() -> Self {
        let tree = Tree { dir: tempfile::tempdir().expect("a folder") };
        let root = tree.root();
        for folder in ["src/deep/er", "docs", "empty", "target/debug", "home"] {
            fs::create_dir_all(if folder == "home" { tree.home() } else { root.join(folder) }).expect("made");
        }
        let files: &[(&str, &[u8])] = &[
            ("Cargo.toml", b"[package]\nname = \"p\"\n"),
            (".gitignore", b"target\n.env\n*.log\n"),
            (".env", b"LOCAL=1\n"),
            ("notes.log", b"ignored, and kept\n"),
            ("README.md", b"# A project\n\nText.\n"),
            ("src/main.rs", b"fn main() {}\n"),
            ("src/lib.rs", b"pub fn a() -> u32 {\n    1\n}\n"),
            ("src/deep/er/file.txt", b"deep\n"),
            ("docs/a b.md", b"spaces\n"),
            ("docs/日.md", "日本\n".as_bytes()),
            ("empty.txt", b""),
            ("binary.bin", &[0, 159, 146, 150, 0, 1]),
            ("target/debug/out", b"built\n"),
        ];
        for (path, bytes) in files {
            fs::write(root.join(path), bytes).expect("written");
        }
        fs::write(root.join("large.bin"), vec![7_u8; 300_000]).expect("written");
        fs::write(root.join("run.sh"), "#!/bin/sh\necho ran\n").expect("written");
        fs::set_permissions(root.join("run.sh"), fs::Permissions::from_mode(0o755)).expect("set");
        fs::set_permissions(root.join("docs"), fs::Permissions::from_mode(0o750)).expect("set");
        fs::write(root.join("readonly.txt"), "read-only\n").expect("written");
        fs::set_permissions(root.join("readonly.txt"), fs::Permissions::from_mode(0o444)).expect("set");
        symlink("src/main.rs", root.join("link")).expect("linked");
        symlink("nowhere", root.join("dangling")).expect("linked");
        fs::hard_link(root.join("src/lib.rs"), root.join("src/twin.rs")).expect("linked");
        for args in [&["init", "-q", "-b", "main"][..], &["add", "-A"], &["commit", "-q", "-m", "first"]] {
            tree.git(args);
        }
        fs::write(root.join("src/main.rs"), "fn main() {\n    // not committed\n}\n").expect("written");
        fs::write(root.join("untracked.txt"), "in no commit\n").expect("written");
        tree
    }

    pub fn root(&self) -> PathBuf {
        self.dir.path().join("work")
    }

    pub fn home(&self) -> PathBuf {
        self.dir.path().join("home")
    }

    pub fn git(&self, args: &[&str]) {
        let mut git = Command::new("git");
        git.args(["-c", "user.name=T", "-c", "user.email=t@example.org"]).args(args).current_dir(self.root());
        assert!(git.status().expect("git runs").success(), "git {args:?}");
    }

    /// The program, run in the project.
    pub fn nebula(&self, args: &[&str]) -> Output {
        self.nebula_with(args, &[])
    }

    /// Runs nebula with more variables in its environment.
    pub fn nebula_with(&self, args: &[&str], variables: &[(&str, &str)]) -> Output {
        self.command(args).envs(variables.iter().copied()).output().expect("the program runs")
    }

    /// The program as it is run in the project.
    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_nebula"));
        command
            .args(args)
            .current_dir(self.root())
            .env("HOME", self.home())
            .env("NEBULA_HOME", self.home().join("own"));
        command.env("GIT_CONFIG_GLOBAL", self.home().join("gitconfig"));
        for (name, value) in [("GIT_AUTHOR_NAME", "T"), ("GIT_AUTHOR_EMAIL", "t@example.org")] {
            command.env(name, value).env(name.replace("AUTHOR", "COMMITTER"), value);
        }
        command
    }

    /// Everything in the project but nebula's own files and what can be rebuilt.
    pub fn snapshot(&self) -> BTreeMap<String, Entry> {
        let mut found = BTreeMap::new();
        look(&self.root(), &self.root(), &mut found);
        found
    }
}

/// Everything in a folder.
pub fn snapshot_of(folder: &Path) -> BTreeMap<String, Entry> {
    let mut found = BTreeMap::new();
    look(folder, folder, &mut found);
    found
}

fn look(root: &Path, folder: &Path, found: &mut BTreeMap<String, Entry>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        let name = text_of(path.strip_prefix(root).expect("inside").as_os_str()).into_owned();
        if [".shaft", ".nebula", "target", ".git/objects"].contains(&name.as_str()) {
            continue;
        }
        let meta = path.symlink_metadata().expect("there");
        let mode = meta.permissions().mode() & 0o7777;
        let entry = match meta {
            ref meta if meta.is_symlink() => {
                ('l', 0, fs::read_link(&path).expect("a link").to_string_lossy().into_owned().into_bytes())
            }
            ref meta if meta.is_dir() => ('d', mode, Vec::new()),
            ref meta if meta.is_file() => ('f', mode, fs::read(&path).expect("readable")),
            _ => ('s', mode, Vec::new()),
        };
        if entry.0 == 'd' {
            look(root, &path, found);
        }
        found.insert(name, entry);
    }
}

/// Returns what differs between two snapshots, in words.
pub fn difference(before: &BTreeMap<String, Entry>, after: &BTreeMap<String, Entry>) -> Vec<String> {
    let words = |entry: Option<&Entry>| match entry {
        None => "nothing".to_string(),
        Some((kind, mode, bytes)) => {
            let text: String = String::from_utf8_lossy(bytes).chars().take(40).collect();
            format!("{kind} {mode:o} {text:?}")
        }
    };
    let paths: std::collections::BTreeSet<_> = before.keys().chain(after.keys()).collect();
    let differs = paths.into_iter().filter(|path| before.get(*path) != after.get(*path));
    differs.map(|path| format!("{path}: {} became {}", words(before.get(path)), words(after.get(path)))).collect()
}

/// A text of an output.
pub fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Returns whether commands run in a sandbox under the guard here.
pub fn works() -> bool {
    let doctor = text(&Tree::new().nebula(&["doctor", "--json"]).stdout);
    let works = doctor.contains("guard works") && doctor.contains("sandbox Landlock");
    must_work(works, &doctor);
    works
}

/// Says that a test is left out where the sandbox does not work; fails where `NEBULA_NEEDS_SANDBOX` says that it must.
pub fn must_work(works: bool, doctor: &str) {
    assert!(works || std::env::var_os("NEBULA_NEEDS_SANDBOX").is_none(), "the kernel has it: {doctor}");
    if !works {
        eprintln!("skipped: {doctor}");
    }
}

/// Returns whether python3 is there, with the same exception.
pub fn has_python() -> bool {
    let there = Command::new("python3").arg("--version").output().is_ok();
    must_work(there, "python3 is not on the PATH");
    there
}
