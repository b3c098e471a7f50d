//! Folders of `shell.write`: what commands change there is kept, listed, undone and done again as in the workspace.

use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;
use std::process::{Output, Stdio};

use super::tree::{Tree, difference, must_work, snapshot_of, text, works};

/// A project, a folder that its commands may write, and one beside it that they may not.
struct World {
    tree: Tree,
    _dir: tempfile::TempDir,
    out: PathBuf,
    other: PathBuf,
}

impl World {
    fn new() -> Self {
        let (tree, dir) = (Tree::new(), tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder"));
        let base = dir.path().canonicalize().expect("real");
        let (out, other) = (base.join("out"), base.join("other"));
        for folder in ["sub/deep", "gone/inner", "empty"] {
            fs::create_dir_all(out.join(folder)).expect("made");
        }
        fs::create_dir(&other).expect("made");
        for file in ["a", "b", "m", "sub/x", "sub/deep/y", "gone/inner/z"] {
            fs::write(out.join(file), format!("{file} before\n")).expect("written");
        }
        fs::write(other.join("x"), "theirs\n").expect("written");
        symlink("a", out.join("link")).expect("linked");
        fs::hard_link(out.join("a"), out.join("twin")).expect("linked");
        let world = World { tree, _dir: dir, out, other };
        world.configure(&serde_json::json!({"shell": {"write": [world.out]}}));
        world
    }

    fn configure(&self, config: &serde_json::Value) {
        let own = self.tree.home().join("own");
        fs::create_dir_all(&own).expect("made");
        fs::write(own.join("config.json"), config.to_string()).expect("written");
    }

    /// Runs a text in the folder.
    fn run(&self, flags: &[&str], script: &str) -> Output {
        let script = format!("cd {} && {{ {script}\n}}", self.out.display());
        self.tree.nebula(&[&["run"], flags, &["--", &script]].concat())
    }

    fn nebula(&self, args: &[&str]) -> String {
        both(&self.tree.nebula(args))
    }

    fn at(&self, path: &str) -> String {
        self.out.join(path).display().to_string()
    }
}

fn both(output: &Output) -> String {
    text(&output.stdout) + &text(&output.stderr)
}

/// Overwrites, removes, makes, moves, sets modes and links, in place and by another file.
const SCRIPT: &str = "echo after > a; rm b; echo made > new; mkdir -p d/e; echo deep > d/e/f; chmod 600 m; chmod 700 sub; \
     mv sub/x sub/moved; rm -r gone; rmdir empty; ln -s a second; ln -sfn nowhere link; chmod 750 .; echo in >> \"$OLDPWD/README.md\"";

#[test]
fn what_a_command_changes_in_a_folder_of_the_persons_is_undone_and_done_again() {
    if !works() {
        return;
    }
    for keeper in ["guard", "scan"] {
        let world = World::new();
        let states = || (snapshot_of(&world.out), world.tree.snapshot());
        let mode = || fs::metadata(&world.out).expect("there").permissions().mode() & 0o7777;
        let (before, had) = (states(), mode());
        let ran = world.run(&["--keeper", keeper], SCRIPT);
        assert_eq!(ran.status.code(), Some(0), "{}", both(&ran));
        assert!(!both(&ran).contains("not archived") && !both(&ran).contains("undone"), "{}", both(&ran));
        let after = states();
        assert_eq!((mode(), fs::read_to_string(world.out.join("twin")).expect("read")), (0o750, "after\n".into()));
        let list = world.nebula(&["undo", "--dry-run"]);
        assert!(list.contains(&world.at("gone/inner/z")) && !list.contains("repository"), "{keeper}: {list}");
        let undone = world.nebula(&["undo", "--yes"]);
        let left = [difference(&before.0, &states().0), difference(&before.1, &states().1)].concat();
        assert!(left.is_empty() && mode() == had, "{keeper}: {left:?}\n{undone}");
        let again = world.nebula(&["redo", "--yes"]);
        let left = [difference(&after.0, &states().0), difference(&after.1, &states().1)].concat();
        assert!(left.is_empty() && mode() == 0o750, "{keeper}: {left:?}\n{again}");
        let check = world.nebula(&["history", "--check"]);
        assert!(check.contains("intact"), "{check}");
    }
}

#[test]
fn the_past_of_a_file_there_is_shown_by_its_absolute_path() {
    if !works() {
        return;
    }
    let world = World::new();
    assert_eq!(world.run(&[], "echo after > b; rm a").status.code(), Some(0));
    let timeline: serde_json::Value =
        serde_json::from_str(&text(&world.tree.nebula(&["timeline", "--json"]).stdout)).expect("a list");
    let changeset = timeline[0]["changeset"].as_str().expect("an id");
    assert_eq!(world.nebula(&["at", changeset, &world.at("b")]), "b before\n");
    let listed = world.nebula(&["at", changeset]);
    assert!(listed.contains(&world.at("a")) && listed.contains(&world.at("b")), "{listed}");
    assert!(world.nebula(&["history", &world.at("b")]).contains(&changeset[..8]));
    let undone = world.nebula(&["undo", "--yes", &world.at("b")]);
    assert_eq!(fs::read_to_string(world.out.join("b")).expect("read"), "b before\n", "{undone}");
    assert!(!world.out.join("a").exists());
    // A state that is written elsewhere holds the workspace alone.
    let to = world.other.join("state");
    let wrote = world.tree.nebula(&["at", changeset, "--to", &to.display().to_string()]);
    assert!(
        wrote.status.success() && to.join("README.md").exists() && !world.out.join("a").exists(),
        "{}",
        both(&wrote)
    );
}

#[test]
fn what_a_link_there_leads_to_outside_is_neither_changed_nor_restored() {
    if !works() {
        return;
    }
    let world = World::new();
    symlink(&world.other, world.out.join("way")).expect("linked");
    let ran = world.run(&[], "echo x > way/x; echo x > way/new; echo after > sub/x");
    assert!(both(&ran).contains("refused: 2 writes"), "{}", both(&ran));
    // The folder of a changed file is a link now.
    fs::rename(world.out.join("sub"), world.out.join("old")).expect("renamed");
    symlink(&world.other, world.out.join("sub")).expect("linked");
    let undone = world.tree.nebula(&["undo", "--yes"]);
    assert_eq!(fs::read_to_string(world.other.join("x")).expect("read"), "theirs\n", "{}", both(&undone));
    assert_eq!(fs::read_dir(&world.other).expect("listed").count(), 1, "{}", both(&undone));
}

#[test]
fn nebulas_own_folders_and_private_files_there_stay_out_of_reach() {
    if !works() {
        return;
    }
    let world = World::new();
    let home = world.tree.home();
    fs::create_dir_all(home.join(".ssh")).expect("made");
    fs::write(home.join(".ssh/id_ed25519"), "key\n").expect("written");
    fs::create_dir_all(home.join("project/.shaft/archives")).expect("made");
    world.configure(&serde_json::json!({"shell": {"write": [home]}}));
    let before = snapshot_of(&home.join("project"));
    let script = format!(
        "cd {}; echo x >> .ssh/id_ed25519; mv .ssh/id_ed25519 taken; rm -rf project; mv own moved; echo x > own/config.json; \
         chmod 700 $OLDPWD/..; cat $OLDPWD/.shaft/commands/*/0*; echo made > here",
        home.display()
    );
    let ran = world.tree.nebula(&["run", "--", &script]);
    assert!(!text(&ran.stdout).contains("key") && both(&ran).contains("refused: "), "{}", both(&ran));
    assert_eq!(fs::read_to_string(home.join(".ssh/id_ed25519")).expect("there"), "key\n");
    assert!(home.join("own/config.json").exists() && home.join("here").exists() && !home.join("taken").exists());
    assert_eq!(snapshot_of(&home.join("project")), before, "{}", both(&ran));
    // Where nothing looks at each call, what is private is mounted to be only read, if it is a folder.
    let doctor = world.nebula(&["doctor", "--json"]);
    let mounts = doctor.contains("view works");
    must_work(mounts, &doctor);
    if mounts {
        let script = format!("cd {}; echo x > own/config.json; rm -rf own; echo made > there", home.display());
        let ran = world.tree.nebula(&["run", "--keeper", "scan", "--", &script]);
        let config = fs::read_to_string(home.join("own/config.json")).expect("there");
        assert!(config.contains("shell") && home.join("there").exists(), "{}", both(&ran));
    }
}

#[test]
fn without_the_folder_in_the_configuration_the_rest_is_undone() {
    if !works() {
        return;
    }
    let world = World::new();
    let before = world.tree.snapshot();
    assert_eq!(world.run(&[], "echo after > a; mkdir made; echo x > \"$OLDPWD/README.md\"").status.code(), Some(0));
    world.configure(&serde_json::json!({}));
    let undone = world.nebula(&["undo", "--yes"]);
    assert!(undone.contains(&world.at("a")) && undone.contains("add its folder to shell.write"), "{undone}");
    assert!(difference(&before, &world.tree.snapshot()).is_empty(), "{undone}");
    assert_eq!(fs::read_to_string(world.out.join("a")).expect("read"), "after\n");
    assert!(world.nebula(&["history", &world.at("a")]).lines().count() > 0);
    // It comes back once the folder is configured again.
    world.configure(&serde_json::json!({"shell": {"write": [world.out]}}));
    let undone = world.nebula(&["undo", "--yes", &world.at("a")]);
    assert_eq!(fs::read_to_string(world.out.join("a")).expect("read"), "a before\n", "{undone}");
}

#[test]
fn a_command_that_is_killed_leaves_what_it_changed_there_to_be_undone() {
    if !works() {
        return;
    }
    for keeper in ["guard", "scan"] {
        let world = World::new();
        let before = snapshot_of(&world.out);
        let script = format!("cd {}; {SCRIPT}; echo ready; exec sleep 600", world.out.display());
        let mut command = world.tree.command(&["run", "--keeper", keeper, "--", &script]);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("started");
        let mut line = String::new();
        BufReader::new(child.stdout.take().expect("piped")).read_line(&mut line).expect("read");
        assert_eq!(line, "ready\n", "{keeper}");
        child.kill().expect("killed");
        child.wait().expect("ended");
        let adopted = world.nebula(&["timeline"]);
        assert!(adopted.contains("cut off"), "{keeper}: {adopted}");
        let undone = world.nebula(&["undo", "--yes"]);
        let left = difference(&before, &snapshot_of(&world.out));
        assert!(left.is_empty(), "{keeper}: {left:?}\n{undone}");
    }
}

#[test]
fn a_preview_says_that_it_writes_nothing_there() {
    if !Tree::new().nebula(&["doctor"]).stdout.windows(10).any(|words| words == b"view works") {
        return;
    }
    let world = World::new();
    let said = world.run(&["--preview"], "echo more >> a");
    let note = format!("{} is read-only in a preview", world.out.display());
    assert!(both(&said).contains(&note), "{}", both(&said));
    assert!(both(&said).contains("preview: nothing would be changed"), "{}", both(&said));
    assert_eq!(fs::read_to_string(world.out.join("a")).expect("there"), "a before\n");
}
