//! Repositories in and around the workspace, and what of nebula lies in it: workspaces within, its own folder.

use std::fs;
use std::process::{Command, Output};

use super::tree::{Tree, difference, text, works};

fn run(tree: &Tree, flags: &[&str], command: &str) -> Output {
    tree.nebula(&[&["run"], flags, &["--", command]].concat())
}

fn both(output: &Output) -> String {
    text(&output.stdout) + &text(&output.stderr)
}

fn sh(tree: &Tree, text: &str) {
    let done = Command::new("sh").args(["-ec", text]).current_dir(tree.root()).env("HOME", tree.home()).status();
    assert!(done.expect("ran").success(), "{text}");
}

const GIT: &str = "git -c user.name=T -c user.email=t@e -c protocol.file.allow=always";

#[test]
fn the_archive_of_a_workspace_within_stays() {
    if !works() {
        return;
    }
    let tree = Tree::new();
    sh(&tree, "mkdir -p sub/.shaft/archives sub/.nebula; echo v > sub/.shaft/archives/v; echo c > sub/.nebula/c");
    for form in ["git clean -fdxq", "rm -rf sub", "mv sub moved"] {
        let ran = run(&tree, &[], form);
        let whole = tree.root().join("sub/.shaft/archives/v").is_file() && tree.root().join("sub/.nebula/c").is_file();
        assert!(whole, "{form}: {}", both(&ran));
    }
}

#[test]
fn nebulas_own_folder_in_the_workspace_is_out_of_reach() {
    if !works() {
        return;
    }
    let tree = Tree::new();
    let own = tree.root().join(".dev/nebula");
    fs::create_dir_all(&own).expect("made");
    fs::write(own.join("config.json"), "{}").expect("written");
    for form in ["rm -rf .dev", "mv .dev away", "echo '{\"shell.sandbox\": \"off\"}' > .dev/nebula/config.json"] {
        let variables = [("NEBULA_HOME", own.to_str().expect("text"))];
        let ran = tree.nebula_with(&["run", "--", form], &variables);
        assert_eq!(fs::read_to_string(own.join("config.json")).ok().as_deref(), Some("{}"), "{form}: {}", both(&ran));
    }
}

#[test]
fn the_objects_of_a_linked_worktrees_repository_come_back() {
    if !works() {
        return;
    }
    let tree = Tree::new();
    sh(&tree, &format!("git clone -q --bare . ../repo.git; cd ../repo.git; {GIT} worktree add -q ../wt"));
    let at = tree.root().join("../wt").canonicalize().expect("there");
    let objects = || {
        text(
            &Command::new("git")
                .args(["rev-list", "--objects", "--all"])
                .current_dir(&at)
                .output()
                .expect("ran")
                .stdout,
        )
    };
    let before = objects();
    assert!(!before.is_empty());
    let nebula = |words: &[&str]| tree.command(words).current_dir(&at).output().expect("ran");
    let ran = nebula(&["run", "--", "rm -rf ../repo.git/objects ../repo.git/refs"]);
    assert!(!at.join("../repo.git/objects").exists(), "{}", both(&ran));
    let undone = nebula(&["undo", "--yes"]);
    assert_eq!(objects(), before, "{}{}", both(&ran), both(&undone));
}

#[test]
fn a_scan_keeps_the_objects_of_a_repository() {
    if !works() {
        return;
    }
    let tree = Tree::new();
    let before = tree.snapshot();
    for form in ["rm -rf .git/objects/*", "rm -rf .git"] {
        let ran = run(&tree, &["--keeper", "scan"], form);
        assert!(both(&ran).contains("changeset"), "{form}: {}", both(&ran));
        let undone = tree.nebula(&["undo", "--yes"]);
        assert_eq!(difference(&before, &tree.snapshot()), Vec::<String>::new(), "{form}: {}", both(&undone));
        tree.git(&["fsck", "--no-dangling", "--no-progress"]);
    }
    // What is added stays, as with the guard, and is no change of its own.
    let ran = run(&tree, &["--keeper", "scan"], "echo new | git hash-object -w --stdin");
    assert!(!both(&ran).contains("changeset"), "{}", both(&ran));
}

#[test]
fn a_submodule_can_be_worked_in() {
    if !works() {
        return;
    }
    let tree = Tree::new();
    sh(&tree, &format!("git clone -q . ../lib; {GIT} submodule --quiet add ../lib sub; {GIT} commit -qm sub"));
    let at = tree.root().join("sub");
    let nebula = |words: &[&str]| tree.command(words).current_dir(&at).output().expect("ran");
    let head = || text(&Command::new("git").args(["rev-parse", "HEAD"]).current_dir(&at).output().expect("ran").stdout);
    let before = head();
    let ran = nebula(&["run", "--", "echo more >> README.md; git commit -qam more"]);
    assert!(ran.status.success() && head() != before, "{}", both(&ran));
    let undone = nebula(&["undo", "--yes"]);
    assert_eq!(head(), before, "{}", both(&undone));
}

#[test]
fn what_a_bare_repository_runs_later_is_asked_about() {
    if !works() {
        return;
    }
    let tree = Tree::new();
    sh(&tree, "git clone -q --bare . vendor/x.git");
    for form in ["printf x >> vendor/x.git/config", "echo x > vendor/x.git/hooks/post-receive"] {
        let judged = tree.nebula(&["rules", "check", "--approve", "all", "--json", form]);
        let judged: serde_json::Value = serde_json::from_slice(&judged.stdout).expect("JSON");
        assert_eq!(judged["decision"], "ask", "{form}: {judged}");
    }
}

#[test]
fn the_repository_is_one_line_of_a_history() {
    if !works() {
        return;
    }
    let tree = Tree::new();
    let ran = run(&tree, &[], "git commit -qam more");
    assert!(ran.status.success(), "{}", both(&ran));
    let history = text(&tree.nebula(&["history"]).stdout);
    assert!(history.contains("  .git: index, 1 ref, ") && !history.contains(".git/"), "{history}");
}
