//! Modes that keep a file's own owner out, which root does not meet: the program runs as another user.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, Output};

use super::tree::{Tree, text, works};

const OTHER: u32 = 12_345;

/// Hands the project to another user, and the program where that user may run it; none: only root can.
fn of_another() -> Option<(Tree, PathBuf)> {
    if !works() || !rustix::process::geteuid().is_root() {
        return None;
    }
    let tree = Tree::new();
    let program = tree.home().join("nebula");
    fs::hard_link(env!("CARGO_BIN_EXE_nebula"), &program)
        .or_else(|_| fs::copy(env!("CARGO_BIN_EXE_nebula"), &program).map(drop))
        .expect("a program that anyone may run");
    let above = tree.home().parent().expect("a folder").to_path_buf();
    fs::set_permissions(&above, fs::Permissions::from_mode(0o755)).expect("set");
    for folder in [tree.root(), tree.home()] {
        let done = Command::new("chown").args(["-R", &format!("{OTHER}:{OTHER}")]).arg(folder).status();
        assert!(done.expect("ran").success());
    }
    Some((tree, program))
}

fn nebula(of: &(Tree, PathBuf), words: &[&str]) -> Output {
    let mut command = command(of, words);
    command.current_dir(of.0.root()).output().expect("it runs")
}

fn command((tree, program): &(Tree, PathBuf), words: &[&str]) -> Command {
    let mut command = Command::new(program);
    command.args(words).env_clear().env("PATH", std::env::var("PATH").expect("a PATH"));
    command.env("HOME", tree.home()).env("NEBULA_HOME", tree.home().join("own")).uid(OTHER).gid(OTHER);
    command
}

fn both(output: &Output) -> String {
    text(&output.stdout) + &text(&output.stderr)
}

#[test]
fn a_file_that_its_owner_may_not_read_comes_back_and_goes_again() {
    let Some(of) = of_another() else { return };
    let file = of.0.root().join("README.md");
    let mode = || fs::metadata(&file).map(|meta| meta.permissions().mode() & 0o777).ok();
    let (first, text) = (mode(), fs::read_to_string(&file).expect("read"));
    for keeper in ["guard", "scan"] {
        let run = |form: &str| nebula(&of, &["run", "--keeper", keeper, "--", form]);
        let ran = run("echo over > README.md; chmod 000 README.md");
        assert!(!both(&ran).contains("not archived") && mode() == Some(0), "{}", both(&ran));
        let undone = nebula(&of, &["undo", "--yes"]);
        assert_eq!((mode(), fs::read_to_string(&file).ok()), (first, Some(text.clone())), "{}", both(&undone));
        assert!(nebula(&of, &["redo", "--yes"]).status.success() && mode() == Some(0));
        let ran = run("rm -f README.md");
        assert!(ran.status.success() && mode().is_none(), "{}", both(&ran));
        let undone = nebula(&of, &["undo", "--yes"]);
        assert_eq!(mode(), Some(0), "{}", both(&undone));
        let redone = nebula(&of, &["redo", "--yes"]);
        assert_eq!(mode(), None, "{}", both(&redone));
        assert!(nebula(&of, &["undo", "--yes"]).status.success());
        let ran = run("chmod 644 README.md; git checkout -q README.md");
        assert!(ran.status.success(), "{}", both(&ran));
        fs::write(&file, &text).expect("written");
    }
}

#[test]
fn what_changes_in_a_folder_that_its_owner_may_not_list_is_undone() {
    let Some(of) = of_another() else { return };
    let ran = nebula(&of, &["run", "--", "mkdir wo; echo a > wo/x; chmod 300 wo"]);
    assert!(ran.status.success(), "{}", both(&ran));
    let root = of.0.root();
    let at = |name: &str| fs::read_to_string(root.join(name)).ok();
    let mode = || fs::metadata(root.join("wo")).expect("there").permissions().mode() & 0o777;
    let before = of.0.snapshot();
    for keeper in ["guard", "scan"] {
        let run = |form: &str| nebula(&of, &["run", "--keeper", keeper, "--", form]);
        for (form, x, n) in [
            ("echo y >> wo/x; echo new > wo/n", Some("a\ny\n"), Some("new\n")),
            ("rm -f wo/x", None, None),
            ("mv wo/x wo/n", None, Some("a\n")),
        ] {
            let ran = run(form);
            assert!(ran.status.success() && !both(&ran).contains("not archived"), "{keeper}: {form}: {}", both(&ran));
            let after = || (at("wo/x"), at("wo/n"));
            let expected = (x.map(String::from), n.map(String::from));
            assert_eq!(after(), expected, "{keeper}: {form}");
            let undone = nebula(&of, &["undo", "--yes"]);
            assert_eq!(of.0.snapshot(), before, "{keeper}: {form}: {}", both(&undone));
            let redone = nebula(&of, &["redo", "--yes"]);
            assert_eq!((after(), mode()), (expected, 0o300), "{keeper}: {form}: {}", both(&redone));
            assert!(nebula(&of, &["undo", "--yes"]).status.success());
        }
    }
    let ran = nebula(&of, &["run", "--", "mv wo wo2"]);
    assert!(both(&ran).contains("not archived: wo (it cannot be listed: the call was refused)"), "{}", both(&ran));
    assert_eq!(of.0.snapshot(), before);
}

#[test]
fn a_folder_that_its_owner_may_not_write_is_opened_for_an_undo_and_shut_again() {
    let Some(of) = of_another() else { return };
    let root = of.0.root();
    let ran = nebula(&of, &["run", "--", "mkdir ro; echo a > ro/a; chmod u-w ro"]);
    assert!(ran.status.success(), "{}", both(&ran));
    let ran = nebula(&of, &["run", "--", "chmod u+w ro; rm ro/a; chmod u-w ro; echo gone > README.md"]);
    assert!(ran.status.success(), "{}", both(&ran));
    let mode = || fs::metadata(root.join("ro")).expect("there").permissions().mode() & 0o777;
    assert_eq!((mode(), root.join("ro/a").exists()), (0o555, false));
    let undone = nebula(&of, &["undo", "--yes"]);
    assert_eq!((mode(), root.join("ro/a").exists()), (0o555, true), "{}", both(&undone));
    let redone = nebula(&of, &["redo", "--yes"]);
    assert_eq!((mode(), root.join("ro/a").exists()), (0o555, false), "{}", both(&redone));
}

#[test]
fn a_workspace_that_may_not_be_entered_is_archived_once_it_may() {
    let Some(of) = of_another() else { return };
    let root = of.0.root();
    let before = fs::read_to_string(root.join("README.md")).expect("read");
    let ran = nebula(&of, &["run", "--", "echo over > README.md; chmod 000 ."]);
    assert!(
        both(&ran).contains("`chmod u+rwx` lets nebula in again") && !both(&ran).contains("gone"),
        "{}",
        both(&ran)
    );
    let at = root.to_string_lossy().into_owned();
    let undone = command(&of, &["--workspace", &at, "undo", "--yes"]).current_dir("/").output().expect("it runs");
    assert!(both(&undone).contains("it may not be entered; `chmod u+rwx` on it lets nebula in"), "{}", both(&undone));
    fs::set_permissions(&root, fs::Permissions::from_mode(0o700)).expect("set");
    let undone = nebula(&of, &["undo", "--yes"]);
    assert_eq!(fs::read_to_string(root.join("README.md")).expect("read"), before, "{}", both(&undone));
}
