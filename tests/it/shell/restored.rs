//! States that are hard to bring back: nested repositories, pipes in the way, modes, and two commands at once.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::process::{Command, Output, Stdio};

use super::tree::{Tree, difference, text, works};

fn run(tree: &Tree, command: &str) -> Output {
    tree.nebula(&["run", "--", command])
}

fn both(output: &Output) -> String {
    text(&output.stdout) + &text(&output.stderr)
}

#[test]
fn a_repository_within_comes_back_with_its_objects() {
    if !works() {
        return;
    }
    let tree = Tree::new();
    let git = "git -c user.name=T -c user.email=t@e -C sub";
    let made = format!("mkdir sub && echo x > sub/f && git -C sub init -q && {git} add -A && {git} commit -qm inner");
    assert!(Command::new("sh").args(["-c", &made]).current_dir(tree.root()).status().expect("ran").success());
    let before = tree.snapshot();
    for form in ["rm -rf sub", "rm -rf sub/.git", "mv sub/.git/objects sub/o; rm -rf sub/o"] {
        assert_eq!(run(&tree, form).status.code(), Some(0), "{form}");
        let undo = tree.nebula(&["undo", "--yes"]);
        assert_eq!(difference(&before, &tree.snapshot()), Vec::<String>::new(), "{form}: {}", both(&undo));
        tree.git(&["-C", "sub", "fsck", "--no-dangling", "--no-progress"]);
        tree.git(&["-C", "sub", "log", "--oneline"]);
    }
}

#[test]
fn a_move_is_told_as_one_change_and_a_repository_counts_as_one() {
    if !works() {
        return;
    }
    let tree = Tree::new();
    let moved = tree.nebula(&["run", "--json", "--", "mv docs papers"]);
    let end = text(&moved.stdout).lines().last().map(str::to_string).expect("an end");
    let end: serde_json::Value = serde_json::from_str(&end).expect("JSON");
    let changed = end["changed"].as_array().expect("a list");
    let mut moves: Vec<_> = changed
        .iter()
        .filter(|change| change["kind"] == "moved")
        .map(|change| (change["from"].as_str().expect("a path"), change["path"].as_str().expect("a path")))
        .collect();
    moves.sort_unstable();
    assert_eq!(moves, [("docs/a b.md", "papers/a b.md"), ("docs/日.md", "papers/日.md")]);
    assert!(
        !changed.iter().any(
            |change| change["path"].as_str().is_some_and(|path| path.ends_with(".md")) && change["kind"] != "moved"
        )
    );
    assert_eq!(run(&tree, "git -c user.name=T -c user.email=t@e commit -aqm two").status.code(), Some(0));
    let rows: serde_json::Value =
        serde_json::from_str(&text(&tree.nebula(&["timeline", "--json"]).stdout)).expect("JSON");
    let last = rows.as_array().and_then(|rows| rows.last()).expect("a row");
    assert_eq!((&last["files"], &last["added"]), (&1.into(), &0.into()), "{last}");
}

#[test]
fn what_is_moved_into_a_folder_that_can_be_rebuilt_is_named() {
    if !works() {
        return;
    }
    let tree = Tree::new();
    fs::write(tree.root().join(".gitignore"), "node_modules\n").expect("written");
    fs::create_dir(tree.root().join("nm")).and_then(|()| fs::write(tree.root().join("nm/x"), "x")).expect("written");
    assert_eq!(run(&tree, "echo {} > package.json; mv nm node_modules").status.code(), Some(0));
    let undone = both(&tree.nebula(&["undo", "--yes"]));
    assert!(tree.root().join("nm/x").exists() && undone.contains("node_modules/"), "{undone}");
}

#[test]
fn names_that_are_no_text_come_back_by_their_bytes() {
    if !works() {
        return;
    }
    let tree = Tree::new();
    let at = |name: &[u8]| tree.root().join(OsStr::from_bytes(name));
    fs::create_dir_all(at(b"docs/th\xe9/in")).expect("made");
    for name in
        [&b"docs/caf\xe9"[..], b"docs/caf\xe8", b"docs/caf\\xe9", b"docs/th\xe9/in/a.t\xff", b"docs/th\xe9/b.txt"]
    {
        fs::write(at(name), name).expect("written");
    }
    let list = |arguments: &[&str]| {
        let listed = tree.nebula(arguments);
        assert!(listed.status.success(), "{arguments:?}: {}", both(&listed));
        both(&listed)
    };
    let before = tree.snapshot();
    for form in [
        "rm -r docs",
        "mv docs moved; echo new > \"$(printf 'moved/caf\\350')\"",
        "for f in docs/caf*; do echo more >> \"$f\"; done",
        "chmod 640 docs/caf*; mv docs/th* other",
        "cd docs; mkdir new-$(printf '\\xfa'); cp caf* th*/*.txt new-*; ln -sf th* \"$(printf 'caf\\350')\"",
    ] {
        let ran = run(&tree, form);
        assert!(ran.status.success() && !both(&ran).contains("not archived"), "{form}: {}", both(&ran));
        let after = tree.snapshot();
        let id = serde_json::from_str::<serde_json::Value>(&list(&["timeline", "--json"])).expect("JSON");
        let id = id.as_array().and_then(|all| all.last()?["changeset"].as_str()).expect("an id").to_string();
        for (wanted, words) in [(&before, "undo"), (&after, "redo"), (&before, "undo")] {
            let dry = list(&[words, "--dry-run", "--yes"]);
            assert!(dry.contains("docs/caf\\xe") && !dry.contains('\0'), "{form}: {dry:?}");
            let restored = list(&[words, "--yes"]);
            assert_eq!(difference(wanted, &tree.snapshot()), Vec::<String>::new(), "{form}: {restored}");
        }
        for arguments in
            [&["history", "--check"][..], &["history"], &["at", &id], &["at", &id, "--json"], &["timeline"]]
        {
            assert!(!list(arguments).contains('\0'), "{form}: {arguments:?}");
        }
    }
}

#[test]
fn many_folders_within_one_another_come_and_go() {
    if !works() {
        return;
    }
    let tree = Tree::new();
    let before = tree.snapshot();
    // More of them than are held open at a time.
    let ran = run(&tree, "for n in $(seq 150); do mkdir d && cd d; done; echo deep > f");
    assert!(ran.status.success(), "{}", both(&ran));
    for (words, is_there) in [("undo", false), ("redo", true), ("undo", false)] {
        let restored = tree.nebula(&[words, "--yes"]);
        assert!(restored.status.success(), "{words}: {}", both(&restored));
        let deep = (tree.root().join("d")).join("d/".repeat(149)).join("f");
        assert_eq!(fs::read_to_string(deep).is_ok_and(|text| text == "deep\n"), is_there, "{words}");
    }
    assert_eq!(difference(&before, &tree.snapshot()), Vec::<String>::new());
}

#[test]
fn a_file_whose_path_is_longer_than_the_kernel_takes_comes_back() {
    if !works() {
        return;
    }
    let tree = Tree::new();
    let root = tree.root().canonicalize().expect("real");
    let mut above = root.clone();
    while above.as_os_str().len() + 203 < 4_000 {
        above.push("d".repeat(200));
    }
    above.push("e".repeat(3_999 - above.as_os_str().len()));
    fs::create_dir_all(&above).expect("made");
    let name = "y".repeat(150);
    // Commands that go there first have no path that is too long.
    let there =
        |text: &str| Command::new("sh").args(["-c", text, "sh", &name]).current_dir(&above).output().expect("ran");
    assert!(there("echo work > \"$1\"").status.success());
    for form in ["find d* -type f -delete", "rm -rf d*"] {
        let ran = run(&tree, form);
        assert!(both(&ran).contains("changeset"), "{form}: {}", both(&ran));
        let undone = tree.nebula(&["undo", "--yes"]);
        assert!(undone.status.success(), "{form}: {}", both(&undone));
        assert_eq!(text(&there("cat \"$1\"").stdout), "work\n", "{form}");
    }
}

#[test]
fn a_pipe_in_the_place_of_a_file_or_folder_gives_way() {
    if !works() {
        return;
    }
    let tree = Tree::new();
    let before = tree.snapshot();
    assert_eq!(run(&tree, "rm README.md; mkfifo README.md; rm -r docs; mkfifo docs").status.code(), Some(0));
    assert!(fs::symlink_metadata(tree.root().join("README.md")).expect("there").file_type().is_fifo());
    let undo = tree.nebula(&["undo", "--yes"]);
    assert_eq!(difference(&before, &tree.snapshot()), Vec::<String>::new(), "{}", both(&undo));
    assert!(both(&undo).contains("a pipe in its place was removed"), "{}", both(&undo));
}

#[test]
fn an_empty_folder_in_the_place_of_a_file_gives_way_and_comes_again() {
    if !works() {
        return;
    }
    let tree = Tree::new();
    let before = tree.snapshot();
    let ran = run(&tree, "rm README.md untracked.txt; mkdir -m 750 README.md; mkdir -p untracked.txt/in/side");
    assert_eq!(ran.status.code(), Some(0), "{}", both(&ran));
    let after = tree.snapshot();
    for wanted in [&before, &after, &before] {
        let words = if std::ptr::eq(wanted, &after) { ["redo", "--yes"] } else { ["undo", "--yes"] };
        let restored = tree.nebula(&words);
        assert_eq!(difference(wanted, &tree.snapshot()), Vec::<String>::new(), "{}", both(&restored));
        assert!(!both(&restored).contains("not kept"), "{}", both(&restored));
    }
}

#[test]
fn a_folder_that_stays_keeps_its_mode_when_a_file_comes_back_into_it() {
    if !works() {
        return;
    }
    let tree = Tree::new();
    assert_eq!(run(&tree, "mkdir -m 700 private").status.code(), Some(0));
    fs::write(tree.root().join("private/x"), "by hand\n").expect("written");
    assert_eq!(run(&tree, "rm private/x").status.code(), Some(0));
    let listed = tree.nebula(&["history", "--json"]);
    let changesets: Vec<serde_json::Value> = serde_json::from_slice(&listed.stdout).expect("JSON");
    let first = changesets.last().and_then(|changeset| changeset["id"].as_str()).expect("an id");
    let back = tree.nebula(&["at", first, "--restore", "--yes"]);
    assert_eq!(fs::read_to_string(tree.root().join("private/x")).expect("restored"), "by hand\n", "{}", both(&back));
    let mode = fs::metadata(tree.root().join("private")).expect("there").permissions().mode();
    assert_eq!(mode & 0o777, 0o700, "{}", both(&back));
}

#[test]
fn modes_come_back_or_are_named() {
    if !works() {
        return;
    }
    let tree = Tree::new();
    let set = |name: &str, mode| {
        fs::set_permissions(tree.root().join(name), fs::Permissions::from_mode(mode)).expect("set");
    };
    set("README.md", 0o000);
    set("run.sh", 0o755);
    let before = tree.snapshot();
    let ran = run(&tree, "rm -f README.md; chmod 4755 run.sh; chmod 600 empty.txt");
    assert!(both(&ran).contains("not archived: run.sh (no version holds a set-user-ID"), "{}", both(&ran));
    let undo = tree.nebula(&["undo", "--yes"]);
    assert_eq!(difference(&before, &tree.snapshot()), Vec::<String>::new(), "{}", both(&undo));
    set("run.sh", 0o4755);
    let ran = run(&tree, "rm run.sh");
    assert!(both(&ran).contains("not archived: run.sh (its set-user-ID bit: an undo"), "{}", both(&ran));
}

#[test]
fn what_another_command_wrote_meanwhile_is_not_overwritten() {
    if !works() {
        return;
    }
    let tree = Tree::new();
    for name in ["f1", "f2"] {
        fs::write(tree.root().join(name), format!("the original of {name}\n")).expect("written");
    }
    // The first waits for the second to end.
    let first = "echo A > f1; rm f2; touch ready; while ! [ -e over ]; do sleep 0.01; done; echo own > f3";
    let mut nebula = Command::new(env!("CARGO_BIN_EXE_nebula"))
        .args(["run", "--", first])
        .current_dir(tree.root())
        .env("HOME", tree.home())
        .env("NEBULA_HOME", tree.home().join("own"))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("started");
    while !tree.root().join("ready").exists() {
        assert!(nebula.try_wait().expect("asked").is_none(), "it ended before it was ready");
        std::thread::yield_now();
    }
    assert_eq!(run(&tree, "echo B > f1; echo b > f2").status.code(), Some(0));
    fs::write(tree.root().join("over"), "").expect("written");
    assert!(nebula.wait().expect("over").success());
    let undo = tree.nebula(&["undo", "--yes"]);
    let read = |name: &str| fs::read_to_string(tree.root().join(name)).unwrap_or_default();
    assert_eq!((read("f1").as_str(), read("f2").as_str(), read("f3").as_str()), ("B\n", "b\n", ""), "{}", both(&undo));
    assert_eq!(undo.status.code(), Some(0), "{}", both(&undo));
    // What both wrote is in changesets before that, in the order in which it happened.
    let moments = both(&tree.nebula(&["timeline", "--json"]));
    let moments: serde_json::Value = serde_json::from_str(&moments).expect("JSON");
    let mut ids: Vec<&str> =
        moments.as_array().expect("a list").iter().filter_map(|moment| moment["changeset"].as_str()).collect();
    ids.sort_unstable();
    let then = |id: &str| both(&tree.nebula(&["at", id, "f1"]));
    assert_eq!([then(ids[0]), then(ids[1])], ["the original of f1\n", "A\n"]);
}

#[test]
fn secrets_are_masked_wherever_they_show() {
    if !works() {
        return;
    }
    let tree = Tree::new();
    let secret = [("MY_SECRET", "topsecretvalue99")];
    fs::write(tree.root().join("s"), "topsecretvalue99\ntopsecret").expect("written");
    for flags in [&["run", "--json", "--"][..], &["run", "--"]] {
        let ran = tree.nebula_with(
            &[flags, &["cat s; echo topsecretvalue99 > made; printf '%s' topsecretX | tr X v"]].concat(),
            &secret,
        );
        assert!(!both(&ran).contains("topsecretvalue99") && both(&ran).contains("[MY_SECRET]"), "{}", both(&ran));
    }
    let listed = tree.nebula(&["commands"]);
    assert!(!both(&listed).contains("topsecretvalue99") && both(&listed).contains("[MY_SECRET]"), "{}", both(&listed));
    let history = tree.nebula(&["history", "--json"]);
    assert!(!both(&history).contains("topsecretvalue99"), "{}", both(&history));
}

#[test]
fn a_derived_folder_that_goes_is_named() {
    if !works() {
        return;
    }
    let tree = Tree::new();
    let ran = run(&tree, "rm -r target");
    assert!(both(&ran).contains("derived: target/ removed (rebuild it; not archived)"), "{}", both(&ran));
    let ran = run(&tree, "mkdir target && echo x > target/x && git commit -q --allow-empty -m x");
    assert!(!both(&ran).contains(".git/"), "what a repository gains is told nobody: {}", both(&ran));
    let ran = run(&tree, "rm target/x");
    assert!(both(&ran).contains("derived: target/ (1 change, not archived)"), "{}", both(&ran));
}

#[test]
fn what_an_undo_does_not_bring_back_is_listed_with_it() {
    if !works() {
        return;
    }
    let tree = Tree::new();
    let command = "echo x >> README.md; echo y > target/debug/new; chmod 4755 run.sh; rm run.sh; mkfifo pipe";
    let ran = run(&tree, command);
    assert_eq!(ran.status.code(), Some(0), "{}", both(&ran));
    let dry = tree.nebula(&["undo", "--dry-run"]);
    let listed = both(&dry);
    let not_undone = listed.split_once("not undone:\n").map(|(_, lines)| lines.to_string()).unwrap_or_default();
    assert!(not_undone.contains("  target/: changed; it can be rebuilt\n"), "{listed}");
    let json = tree.nebula(&["undo", "--dry-run", "--json"]);
    let json: serde_json::Value = serde_json::from_slice(&json.stdout).expect("JSON");
    let named: Vec<&str> =
        json["not_undone"].as_array().expect("a list").iter().filter_map(|n| n["what"].as_str()).collect();
    assert_eq!(named, ["pipe", "run.sh", "target/"], "{json}");
    assert!(json["files"].as_array().expect("files").iter().all(|file| file["path"] != "target/"), "{json}");
    let undo = tree.nebula(&["undo", "--yes"]);
    assert_eq!(undo.status.code(), Some(0), "{}", both(&undo));
    assert!(both(&undo).contains("not undone:\n  pipe: "), "{}", both(&undo));
}

#[test]
fn a_folder_of_many_files_goes_and_comes_back_as_one_entry() {
    if !works() {
        return;
    }
    let tree = Tree::new();
    fs::create_dir_all(tree.root().join("vendor/deep")).expect("made");
    for n in 0..1_200 {
        fs::write(tree.root().join(format!("vendor/deep/{n}")), format!("{n}\n")).expect("written");
    }
    let before = tree.snapshot();
    let rows = |word: &str| {
        let dry = tree.nebula(&[word, "--dry-run", "--json"]);
        let json: serde_json::Value = serde_json::from_slice(&dry.stdout).expect("JSON");
        json["files"].as_array().expect("files").clone()
    };
    let row =
        |status: &str| vec![serde_json::json!({"path": "vendor/", "fate": status, "applied": false, "files": 1_200})];
    assert_eq!(run(&tree, "rm -rf vendor; echo more >> README.md").status.code(), Some(0));
    assert_eq!(
        rows("undo").into_iter().filter(|row| row["path"] != "README.md").collect::<Vec<_>>(),
        row("folder made")
    );
    let undo = both(&tree.nebula(&["undo", "--yes"]));
    assert_eq!(difference(&before, &tree.snapshot()), Vec::<String>::new(), "{undo}");
    assert!(undo.contains("will make the folder         1,200 files") && undo.lines().count() < 12, "{undo}");
    let files = rows("redo").into_iter().filter(|row| row["path"] != "README.md").collect::<Vec<_>>();
    assert_eq!(files, row("folder removed"));
    // What someone else changes in it is not theirs to lose: it has a line of its own, and its folder stays.
    fs::write(tree.root().join("vendor/deep/7"), "mine").expect("written");
    let redo = tree.nebula(&["redo", "--yes"]);
    let left = fs::read_dir(tree.root().join("vendor/deep")).expect("there").count();
    assert_eq!((redo.status.code(), left), (Some(3), 1), "{}", both(&redo));
    assert!(both(&redo).contains("vendor/deep/7  changed outside nebula"), "{}", both(&redo));
}

#[test]
fn the_repository_is_counted_as_one_and_its_objects_are_said_to_stay() {
    if !works() {
        return;
    }
    let tree = Tree::new();
    let ran = both(&run(&tree, "git commit -qam second; echo x >> README.md"));
    assert!(ran.contains("changed 1 file and the repository, changeset"), "{ran}");
    let history = both(&tree.nebula(&["history"]));
    let head = history.lines().next().unwrap_or_default();
    assert!(head.contains("1 file and the repository") && head.contains("+1 −0"), "{history}");
    let dry = both(&tree.nebula(&["undo", "--dry-run"]));
    assert!(dry.contains("  .git/objects/: what was added stays: once this is undone, no branch may name it"), "{dry}");
}
