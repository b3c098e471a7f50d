//! Commands whose threads and processes change links and folders on the way to files that others of them write.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::os::unix::fs::symlink;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use super::tree::{Tree, difference, text, works};

/// The variable with the part of [`races_on_links`].
const PART: &str = "NEBULA_RACE";
/// The rounds of each thread that writes.
const ROUNDS: usize = 300;

/// Lets a link, and a folder on the way to a file, lead elsewhere each time.
fn swap(is_done: impl Fn() -> bool) {
    for round in 0.. {
        if is_done() {
            return;
        }
        let [file, folder] = if round % 2 == 0 { ["two", "db"] } else { ["one", "da"] };
        for (target, link) in [(file, "sw"), (folder, "sd")] {
            let made = format!("{link}.t");
            symlink(target, &made).and_then(|()| fs::rename(&made, link)).expect("replaced");
        }
        // A folder itself, too.
        let _ = fs::rename("dir", "dir2").and_then(|()| fs::rename("other", "dir"));
        let _ = fs::rename("dir", "other").and_then(|()| fs::rename("dir2", "dir"));
    }
}

/// Writes and removes files by paths that lead elsewhere meanwhile.
fn write() {
    for round in 0..ROUNDS {
        for path in ["sw", "sd/x", "dir/x"] {
            // The folder may be away.
            let opened = OpenOptions::new().append(true).create(true).open(path);
            let _ = opened.and_then(|mut file| writeln!(file, "W{round}"));
        }
        if round % 20 == 0 {
            let _ = fs::remove_file("sd/x");
        }
    }
}

#[test]
#[ignore = "writes to the folder it runs in: another test runs it in one of its own"]
fn races_on_links() {
    match std::env::var(PART).as_deref() {
        Ok("swap") => swap(|| false),
        Ok("write") => thread::scope(|scope| drop([scope.spawn(write), scope.spawn(write)])),
        Ok("both") => {
            let is_done = AtomicBool::new(false);
            thread::scope(|scope| {
                scope.spawn(|| swap(|| is_done.load(Ordering::Relaxed)));
                let writes = [scope.spawn(write), scope.spawn(write), scope.spawn(write), scope.spawn(write)];
                let over = writes.map(thread::ScopedJoinHandle::join);
                is_done.store(true, Ordering::Relaxed);
                assert!(over.iter().all(Result::is_ok));
            });
        }
        _ => {}
    }
}

/// Runs a command in a project with links and folders that it races for. Its undo brings everything back.
fn comes_back(command: &str) {
    let tree = Tree::new();
    let root = tree.root();
    for (path, text) in
        [("one", "1\n"), ("two", "2\n"), ("da/x", "da\n"), ("db/x", "db\n"), ("dir/x", "dir\n"), ("other/x", "other\n")]
    {
        let file = root.join(path);
        file.parent()
            .map_or(Ok(()), fs::create_dir_all)
            .and_then(|()| fs::write(&file, text.repeat(20)))
            .expect("written");
    }
    symlink("one", root.join("sw")).and_then(|()| symlink("da", root.join("sd"))).expect("linked");
    let before = tree.snapshot();
    let ran = tree.nebula(&["run", "--", command]);
    assert!(ran.status.success(), "{}{}", text(&ran.stdout), text(&ran.stderr));
    assert!(!difference(&before, &tree.snapshot()).is_empty(), "{command}");
    let undone = tree.nebula(&["undo", "--yes"]);
    assert!(undone.status.success(), "{}", text(&undone.stderr));
    assert_eq!(difference(&before, &tree.snapshot()), Vec::<String>::new(), "{command}\n{}", text(&ran.stderr));
}

#[test]
fn what_is_written_through_a_link_that_is_replaced_meanwhile_comes_back() {
    if !works() {
        return;
    }
    let own = std::env::current_exe().expect("this program");
    let part = |part: &str| {
        format!("{PART}={part} '{}' --exact shell::races::races_on_links --ignored --quiet", own.display())
    };
    for _ in 0..3 {
        comes_back(&part("both"));
        comes_back(&format!("{} & {}; code=$?; kill $!; wait $!; exit $code", part("swap"), part("write")));
    }
}
