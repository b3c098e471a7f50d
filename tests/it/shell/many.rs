//! A folder that a command makes with many files goes with an undo and comes back with a redo, each by one rename.

use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::MetadataExt;
use std::process::Stdio;
use std::time::Instant;

use super::killed::start;
use super::tree::{Tree, difference, text, works};

const FILES: usize = 1_001;

fn made() -> Tree {
    let tree = Tree::new();
    let script = format!("mkdir -p big/deep; for i in $(seq {FILES}); do echo \"line $i\" > big/deep/f$i; done");
    let run = tree.nebula(&["run", "--", &script]);
    assert!(run.status.success(), "{run:?}");
    tree
}

fn works_out(tree: &Tree, args: &[&str]) -> String {
    let output = tree.nebula(args);
    assert!(output.status.success(), "{args:?}: {output:?}");
    text(&output.stdout)
}

fn count(tree: &Tree, folder: &str) -> usize {
    fs::read_dir(tree.root().join(folder)).map_or(0, Iterator::count)
}

#[test]
fn a_folder_of_many_files_goes_and_comes_by_one_rename() {
    if !works() {
        return;
    }
    let tree = made();
    let after = tree.snapshot();
    let inode = || fs::metadata(tree.root().join("big/deep/f7")).expect("there").ino();
    let before = inode();
    let preview = works_out(&tree, &["undo", "--yes"]);
    assert!(preview.contains("big/") && preview.contains("1,001 files"), "{preview}");
    assert_eq!((tree.root().join("big").exists(), count(&tree, ".shaft/removed")), (false, 1));
    let history = works_out(&tree, &["history", "big/deep/f7", "--json"]);
    assert!(history.matches("\"version\"").count() >= 2, "{history}");

    works_out(&tree, &["redo", "--yes"]);
    let left = difference(&after, &tree.snapshot());
    assert!(left.is_empty() && inode() == before && count(&tree, ".shaft/removed") == 0, "{left:?}");
    let moments: serde_json::Value = serde_json::from_str(&works_out(&tree, &["timeline", "--json"])).expect("JSON");
    let ids: Vec<&str> =
        moments.as_array().expect("a list").iter().map(|moment| moment["changeset"].as_str().expect("an id")).collect();
    let then = |id: &str| tree.nebula(&["at", id, "big/deep/f7"]);
    let texts: Vec<String> = ids.iter().map(|id| text(&then(id).stdout)).collect();
    assert!(texts.contains(&"line 7\n".to_string()), "{ids:?}\n{texts:?}");
    assert!(works_out(&tree, &["blame", "big/deep/f7"]).contains("line 7"));

    // What the person writes in it stays; nothing is lost.
    fs::write(tree.root().join("big/deep/f7"), "mine\n").expect("written");
    let undo = tree.nebula(&["undo", "--yes"]);
    let said = text(&undo.stdout) + &text(&undo.stderr);
    assert_eq!(fs::read_to_string(tree.root().join("big/deep/f7")).expect("there"), "mine\n");
    assert!(said.contains("big/deep/f7") && count(&tree, "big/deep") == 1, "{said}");
    works_out(&tree, &["redo", "--yes"]);
    assert_eq!(count(&tree, "big/deep"), FILES);
    works_out(&tree, &["history", "--check"]);
}

#[test]
fn killed_at_any_moment_of_an_undo_the_folder_is_there_whole_or_gone() {
    if !works() {
        return;
    }
    let tree = made();
    let after = tree.snapshot();
    let begun = Instant::now();
    works_out(&tree, &["undo", "--yes"]);
    let whole = begun.elapsed();
    works_out(&tree, &["redo", "--yes"]);
    for round in 1..=5 {
        let mut child = start(&tree, &["undo", "--yes"]);
        let begun = Instant::now();
        while begun.elapsed() < whole * round / 6 && child.try_wait().expect("looked").is_none() {
            std::thread::yield_now();
        }
        // It may have ended.
        let _ = child.kill();
        child.wait().expect("ended");
        let left = count(&tree, "big/deep");
        assert!(left == 0 || left == FILES, "{left}");
        if left > 0 {
            works_out(&tree, &["undo", "--yes"]);
        }
        assert!(!tree.root().join("big").exists());
        works_out(&tree, &["redo", "--yes"]);
        let left = difference(&after, &tree.snapshot());
        assert!(left.is_empty(), "{round}: {left:?}");
    }
}

#[test]
fn two_commands_at_once_on_one_file_are_told_apart_and_its_past_is_in_order() {
    if !works() {
        return;
    }
    let tree = Tree::new();
    let (file, pipe) = (tree.root().join("README.md"), tree.home().join("go"));
    fs::write(&file, "one\ntwo\n").expect("written");
    rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, rustix::fs::Mode::RWXU, 0).expect("a pipe");
    let script = format!("echo A1 >> README.md; echo ready; read line < {}; echo A2 >> README.md", pipe.display());
    let mut first = tree.command(&["run", "--", &script]);
    let mut first = first.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("started");
    let mut lines = BufReader::new(first.stdout.take().expect("its output")).lines();
    assert_eq!(lines.next().expect("a line").expect("read"), "ready");
    works_out(&tree, &["run", "--", "echo B1 >> README.md"]);
    fs::write(&pipe, "go\n").expect("it waits");
    let ended = first.wait_with_output().expect("it ends");
    assert!(ended.status.success(), "{ended:?}");
    let moments: serde_json::Value = serde_json::from_str(&works_out(&tree, &["timeline", "--json"])).expect("JSON");
    let ids = moments.as_array().expect("a list").iter().filter_map(|moment| moment["changeset"].as_str());
    let mut ids: Vec<&str> = ids.collect();
    ids.sort_unstable();
    let then: Vec<String> = ids.iter().map(|id| works_out(&tree, &["at", id, "README.md"])).collect();
    let past = ["", "A1\n", "A1\nB1\n"].map(|added| format!("one\ntwo\n{added}"));
    assert_eq!(then, past, "{}", text(&ended.stderr));
    let blame = works_out(&tree, &["blame", "README.md", "--json"]);
    assert!(!blame.contains("\"outside\""), "{blame}");
    works_out(&tree, &["undo", "--yes"]);
    assert_eq!(fs::read_to_string(&file).expect("read"), past[2]);
}
