//! Commands at the edge: threads that race for one path, another hand at work meanwhile, a workspace that goes, a shell that
//! stops itself.

use std::fs::{self, OpenOptions};
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;

use rustix::fs::OFlags;
use rustix::process::{Pid, Signal, kill_process};

use super::tree::{Tree, difference, has_python, text, works};

/// Starts a command of which something is done while it waits at a pipe of this name.
fn start(tree: &Tree, command: &str) -> Child {
    let mut command = tree.command(&["run", "--", command]);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("started")
}

/// Waits until a path is there.
fn wait_for(child: &mut Child, path: &Path) {
    while path.symlink_metadata().is_err() {
        assert!(child.try_wait().expect("asked").is_none(), "it ended before {} was there", path.display());
        thread::yield_now();
    }
}

/// Lets a command go on that waits at a pipe.
fn go_on(child: &mut Child, pipe: &Path) {
    let flags = OFlags::NONBLOCK.bits().cast_signed();
    // It can be opened once something reads there.
    let mut pipe = loop {
        match OpenOptions::new().write(true).custom_flags(flags).open(pipe) {
            Ok(pipe) => break pipe,
            Err(error) => assert!(child.try_wait().expect("asked").is_none(), "it ended before it read: {error}"),
        }
        thread::yield_now();
    };
    pipe.write_all(b"on\n").expect("written");
}

/// Returns what a command said once it is over.
fn ended(child: Child) -> String {
    let output = child.wait_with_output().expect("over");
    text(&output.stdout) + &text(&output.stderr)
}

#[test]
fn threads_that_race_for_one_path_leave_nothing_behind() {
    if !works() || !has_python() {
        return;
    }
    let tree = Tree::new();
    let before = tree.snapshot();
    let code = "import threading,os\n\
        def f(i):\n\
        \x20for k in range(12):\n\
        \x20\x20open('README.md','a').write(f'{i}\\n')\n\
        \x20\x20try: os.rename('README.md',f's{i}'); os.rename(f's{i}','README.md')\n\
        \x20\x20except OSError: pass\n\
        ts=[threading.Thread(target=f,args=(i,)) for i in range(64)]\n\
        [t.start() for t in ts];[t.join() for t in ts]\n";
    fs::write(tree.home().join("race.py"), code).expect("written");
    let ran = tree.nebula(&["run", "--", "python3", &tree.home().join("race.py").display().to_string()]);
    assert!(ran.status.success(), "{}", text(&ran.stderr));
    assert!(tree.nebula(&["undo", "--yes"]).status.success());
    assert_eq!(difference(&before, &tree.snapshot()), Vec::<String>::new());
}

/// Saves a file as an editor does: another one takes its place.
fn save_anew(tree: &Tree, file: &Path) {
    fs::write(tree.root().join("saved"), "by the editor\n").expect("written");
    fs::rename(tree.root().join("saved"), file).expect("renamed");
}

#[test]
fn the_work_of_another_hand_meanwhile_is_kept() {
    if !works() {
        return;
    }
    let tree = Tree::new();
    let (file, pipe) = (tree.root().join("README.md"), tree.root().join("pipe"));
    let first = fs::read(&file).expect("read");
    let mut child = start(&tree, "echo A >> README.md; mkfifo pipe; cat pipe; echo B > README.md; rm pipe");
    wait_for(&mut child, &pipe);
    save_anew(&tree, &file);
    go_on(&mut child, &pipe);
    let said = ended(child);
    assert!(said.contains("changed by someone else meanwhile: README.md"), "{said}");
    assert_eq!(fs::read(&file).expect("read"), b"B\n");
    assert!(tree.nebula(&["undo", "--yes"]).status.success());
    assert_eq!(fs::read(&file).expect("read"), b"by the editor\n");
    // The state before the command is a version of its own, behind that of the editor.
    let moments = text(&tree.nebula(&["timeline", "--json"]).stdout);
    let moments: Vec<serde_json::Value> = serde_json::from_str(&moments).expect("JSON");
    let then = tree.nebula(&["at", moments[0]["changeset"].as_str().expect("an id"), "README.md"]);
    assert_eq!(then.stdout, first);
    assert!(tree.nebula(&["history", "--check"]).status.success());
}

#[test]
fn what_another_hand_saved_after_the_commands_own_work_is_not_undone() {
    if !works() {
        return;
    }
    let tree = Tree::new();
    let (file, pipe) = (tree.root().join("README.md"), tree.root().join("pipe"));
    let mut child = start(&tree, "echo A >> README.md; mkfifo pipe; cat pipe; rm pipe; echo B > made");
    wait_for(&mut child, &pipe);
    save_anew(&tree, &file);
    go_on(&mut child, &pipe);
    let said = ended(child);
    assert!(said.contains("changed by someone else meanwhile: README.md"), "{said}");
    // Where it was seen what the command had left, that is of the same changeset, and the editor's file stays when it is
    // undone. Else the one before holds the state that the editor's save met.
    let undone = tree.nebula(&["undo", "--yes"]);
    assert!(matches!(undone.status.code(), Some(0 | 3)), "{}", text(&undone.stderr));
    assert!(!tree.root().join("made").exists());
    assert_eq!(fs::read(&file).expect("read"), b"by the editor\n");
    // What of its lines is whose is not known, or they are no one's of nebula's.
    let blame = tree.nebula(&["blame", "README.md", "--json"]).stdout;
    let blame: serde_json::Value = serde_json::from_slice(&blame).expect("JSON");
    assert!(blame[0]["unsure"] == true || blame[0]["cause"] == "outside", "{blame}");
    assert!(tree.nebula(&["history", "--check"]).status.success());
}

#[test]
fn an_undo_right_after_nebula_was_killed_undoes_the_command_that_was_cut_off() {
    if !works() {
        return;
    }
    let tree = Tree::new();
    assert!(tree.nebula(&["run", "--", "echo older > older"]).status.success());
    // What ignores SIGTERM has two seconds more.
    let mut child = start(&tree, "trap '' TERM; echo x > README.md; mkfifo pipe; while :; do sleep 1; done");
    wait_for(&mut child, &tree.root().join("pipe"));
    let running = tree.nebula(&["history"]);
    assert!(text(&running.stderr).contains("a command still runs here"), "{}", text(&running.stderr));
    child.kill().expect("killed");
    child.wait().expect("over");
    let undone = tree.nebula(&["undo", "--yes"]);
    let said = text(&undone.stdout) + &text(&undone.stderr);
    assert!(said.contains("a command was cut off: what it changed ("), "{said}");
    assert!(fs::read_to_string(tree.root().join("README.md")).expect("read").starts_with("# A project"), "{said}");
    assert_eq!(fs::read_to_string(tree.root().join("older")).expect("read"), "older\n", "{said}");
}

#[test]
fn what_someone_else_does_after_nebula_was_killed_is_not_the_commands() {
    for keeper in ["guard", "scan"] {
        if keeper == "scan" || works() {
            changes_after_a_kill(keeper);
        }
    }
}

/// Returns the commit that is checked out.
fn head(tree: &Tree) -> String {
    let mut git = Command::new("git");
    text(&git.args(["rev-parse", "HEAD"]).current_dir(tree.root()).output().expect("git runs").stdout)
}

/// Kills nebula while a command of it runs, and waits until its helper is gone too.
fn kill_nebula(tree: &Tree, keeper: &str) {
    let script = "rm src/lib.rs; echo x > README.md; git commit -qam one; mkfifo pipe; exec cat pipe";
    let mut run = tree.command(&["run", "--keeper", keeper, "--", script]);
    let mut child = run.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("started");
    wait_for(&mut child, &tree.root().join("pipe"));
    child.kill().expect("killed");
    child.wait().expect("over");
    // The helper holds it until the command's processes are gone and what they left is noted.
    let staging = fs::read_dir(tree.root().join(".shaft/commands")).expect("the folder").flatten().next();
    let info = fs::File::open(staging.expect("a staging folder").path().join("info.json")).expect("opened");
    info.lock().expect("locked");
}

/// Changes files and commits after a kill, and undoes the command; then the same where git only looks.
fn changes_after_a_kill(keeper: &str) {
    let tree = Tree::new();
    kill_nebula(&tree, keeper);
    fs::write(tree.root().join("README.md"), "by hand\n").expect("written");
    fs::write(tree.root().join("mine"), "mine\n").expect("written");
    tree.git(&["add", "mine", "README.md"]);
    tree.git(&["commit", "-qm", "mine"]);
    let mine = head(&tree);
    let undone = tree.nebula(&["undo", "--yes"]);
    let said = text(&undone.stdout) + &text(&undone.stderr);
    assert!(said.contains("the repository stays") && head(&tree) == mine, "{keeper}: {said}");
    assert_eq!(undone.status.code(), Some(3), "{keeper}: {said}");
    assert_eq!(fs::read_to_string(tree.root().join("README.md")).expect("read"), "by hand\n", "{keeper}: {said}");
    assert!(tree.root().join("src/lib.rs").exists() && tree.root().join("mine").exists(), "{keeper}: {said}");
    assert!(tree.nebula(&["history", "--check"]).status.success(), "{keeper}");

    let tree = Tree::new();
    let state = || {
        let status = Command::new("git").args(["status", "--porcelain"]).current_dir(tree.root()).output();
        (head(&tree), text(&status.expect("git runs").stdout))
    };
    let before = state();
    kill_nebula(&tree, keeper);
    fs::remove_file(tree.root().join("pipe")).expect("removed");
    tree.git(&["status", "--short"]);
    let undone = tree.nebula(&["undo", "--yes"]);
    assert_eq!(state(), before, "{keeper}: {}", text(&undone.stdout) + &text(&undone.stderr));
}

#[test]
fn what_was_kept_stays_when_the_workspace_goes() {
    if !works() {
        return;
    }
    let tree = Tree::new();
    let (root, elsewhere) = (tree.root(), tree.home().join("elsewhere"));
    let mut child = start(&tree, "echo x > README.md; mkfifo pipe; cat pipe");
    wait_for(&mut child, &root.join("pipe"));
    fs::rename(&root, &elsewhere).expect("renamed");
    go_on(&mut child, &elsewhere.join("pipe"));
    let said = ended(child);
    assert!(said.contains("not archived yet: the workspace is gone") && !said.contains("cannot be undone"), "{said}");
    fs::rename(&elsewhere, &root).expect("renamed");
    let undone = tree.nebula(&["undo", "--yes"]);
    let said = text(&undone.stdout) + &text(&undone.stderr);
    assert!(said.contains("a command that had ended was not archived yet: what it changed ("), "{said}");
    assert!(!said.contains("cut off"), "{said}");
    assert!(fs::read_to_string(root.join("README.md")).expect("read").starts_with("# A project"));
}

#[test]
fn nothing_is_looked_up_in_a_folder_that_took_the_place_of_the_workspace() {
    if !works() {
        return;
    }
    let tree = Tree::new();
    let (root, elsewhere) = (tree.root(), tree.home().join("elsewhere"));
    let before = tree.snapshot();
    let mut child = start(&tree, "echo x > README.md; rm src/lib.rs; mkfifo pipe; cat pipe");
    wait_for(&mut child, &root.join("pipe"));
    fs::rename(&root, &elsewhere).expect("renamed");
    fs::create_dir(&root).expect("made");
    fs::write(root.join("README.md"), "another project\n").expect("written");
    go_on(&mut child, &elsewhere.join("pipe"));
    let said = ended(child);
    assert!(said.contains("not archived yet: the workspace is gone"), "{said}");
    assert!(!said.contains("cannot be undone") && !said.contains("meanwhile"), "{said}");
    assert_eq!(fs::read_to_string(root.join("README.md")).expect("read"), "another project\n");
    fs::remove_dir_all(&root).expect("removed");
    fs::rename(&elsewhere, &root).expect("renamed");
    let undone = tree.nebula(&["undo", "--yes"]);
    let said = text(&undone.stdout) + &text(&undone.stderr);
    fs::remove_file(root.join("pipe")).ok();
    assert_eq!(difference(&before, &tree.snapshot()), Vec::<String>::new(), "{said}");
}

#[test]
fn a_shell_that_stops_itself_is_named_and_can_be_ended() {
    if !works() {
        return;
    }
    let tree = Tree::new();
    let mut child = start(&tree, "echo x > README.md; kill -STOP $$");
    let mut lines = BufReader::new(child.stderr.take().expect("piped")).lines();
    let line = lines.next().expect("a line").expect("text");
    assert!(line.contains("has stopped itself (SIGSTOP)"), "{line}");
    let nebula = i32::try_from(child.id()).ok().and_then(Pid::from_raw).expect("a process");
    kill_process(nebula, Signal::INT).expect("there");
    let status = child.wait().expect("over");
    let mut rest = String::new();
    child.stdout.take().expect("piped").read_to_string(&mut rest).expect("read");
    assert_ne!(status.code(), Some(0), "{rest}");
    assert!(tree.nebula(&["undo", "--yes"]).status.success(), "what it changed is archived");
}
