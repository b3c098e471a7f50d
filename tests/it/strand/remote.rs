//! Stores that meet in a ref of a Git remote.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use super::converge::Chance;
use super::world::World;

fn git(folder: &Path, args: &[&str]) -> String {
    let out = Command::new("git").current_dir(folder).args(args).output().unwrap();
    assert!(out.status.success(), "{args:?}: {}", String::from_utf8_lossy(&out.stderr));
    String::from_utf8(out.stdout).unwrap()
}

/// A bare repository, as a host has it.
fn host() -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let bare = dir.path().join("host.git");
    git(dir.path(), &["init", "-q", "--bare", "host.git"]);
    (dir, bare)
}

/// A store in a repository of its own that knows the host as origin.
fn clone_of(host: &Path) -> World {
    let world = World::new();
    git(world.path(), &["init", "-q"]);
    git(world.path(), &["remote", "add", "origin", host.to_str().unwrap()]);
    world
}

/// The log of a store.
fn log_of(world: &World) -> PathBuf {
    world.path().join("project.strand/.strand/op-log.jsonl")
}

/// A store with the log of another one, as a clone of its repository has it.
fn copy_of(world: &World, host: &Path) -> World {
    let copy = clone_of(host);
    std::fs::copy(log_of(world), log_of(&copy)).unwrap();
    copy
}

/// A store that knows the host, and a copy of it, both without an op.
fn pair(host: &Path) -> (World, World) {
    let one = clone_of(host);
    let two = copy_of(&one, host);
    (one, two)
}

/// The identity of a store.
fn identity(world: &World) -> String {
    let log = std::fs::read_to_string(log_of(world)).unwrap();
    let head: serde_json::Value = serde_json::from_str(log.lines().next().unwrap()).unwrap();
    head["store"].as_str().unwrap().to_owned()
}

/// `strand op push` or `pull` with git on the PATH.
fn exchange(world: &World, what: &str, remote: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_strand"));
    command.current_dir(world.path()).args(["--json", "op", what, "--remote", remote]);
    command.env_clear().env("PATH", std::env::var_os("PATH").unwrap()).env("USER", "me").env("HOME", world.path());
    command
}

#[track_caller]
fn exchanged(world: &World, what: &str, remote: &str, code: i32) -> serde_json::Value {
    let out = exchange(world, what, remote).output().unwrap();
    let said = String::from_utf8_lossy(&out.stderr).into_owned();
    assert_eq!(out.status.code(), Some(code), "{said}");
    serde_json::from_slice(&out.stdout).unwrap()
}

#[test]
fn published_ops_are_pulled_by_another_store() {
    let (_dir, host) = host();
    let (one, two) = pair(&host);
    one.load("slot a = Int = 1\nslot b = Int = 2\n");
    assert_eq!(exchanged(&one, "push", "origin", 0)["published"], 2);
    assert_eq!(exchanged(&one, "push", "origin", 0)["published"], 0);
    let taken = exchanged(&two, "pull", "origin", 0);
    assert_eq!(taken["accepted"].as_array().unwrap().len(), 2);
    two.out(0, &["--author", "agent:b", "replace", "slot.a", "Int = 3"]);
    // By its address as well as by its name.
    assert_eq!(exchanged(&two, "push", host.to_str().unwrap(), 0)["published"], 1);
    exchanged(&one, "pull", "origin", 0);
    assert_eq!(one.out(0, &["view", "slot.a"]), "slot a = Int = 3\n");
    assert_eq!(one.out(0, &["state-hash"]), two.out(0, &["state-hash"]));
    // One commit a push, one file an author.
    let name = "refs/strand/project";
    assert_eq!(git(&host, &["rev-list", "--count", name]).trim(), "2");
    let files = format!("agent-b.jsonl\n{}\nuser-me.jsonl\n", identity(&one));
    assert_eq!(git(&host, &["ls-tree", "--name-only", name]), files);
}

/// Plants a bare repository that runs a program as soon as it is used to reach a host.
fn plant(bare: &Path, host: &Path, ran: &Path) {
    std::fs::create_dir_all(bare).unwrap();
    git(bare, &["init", "-q", "--bare", "."]);
    git(bare, &["config", "core.sshCommand", &format!("touch '{}'; false", ran.display())]);
    git(bare, &["config", "url.ssh://x/.insteadOf", &format!("{}/", host.parent().unwrap().display())]);
    git(bare, &["config", "remote.origin.url", host.to_str().unwrap()]);
}

#[test]
fn a_repository_that_a_clone_brought_runs_nothing() {
    let (_dir, host) = host();
    let one = clone_of(&host);
    one.load("slot a = Int = 1\n");
    let (store, ran) = (one.path().canonicalize().unwrap().join("project.strand"), one.path().join("ran"));
    let key = blake3::hash(store.as_os_str().as_encoded_bytes()).to_hex();
    // Where earlier versions kept what they fetched; where this one does by a folder that is named relative to the
    // clone; and the store itself, which git takes for a bare repository when it is run there.
    let cached = one.path().join("cache/strand/remotes").join(format!("{}-origin.git", &key[..16]));
    for bare in [&store.join(".strand/runtime/remotes/origin.git"), &cached, &store] {
        plant(bare, &host, &ran);
    }
    assert_eq!(exchanged(&one, "push", "origin", 0)["published"], 1);
    for args in [["op", "pull"], ["op", "push"]] {
        let mut command = exchange(&one, args[1], "origin");
        let out = command.env("XDG_CACHE_HOME", "cache").output().unwrap();
        assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    }
    assert!(!ran.exists());
    // Without a home nothing is kept, and it works.
    let out = exchange(&one, "pull", "origin").env_remove("HOME").output().unwrap();
    assert!(out.status.success() && !ran.exists(), "{}", String::from_utf8_lossy(&out.stderr));
    // The trap works: it is sprung where the person names that folder.
    let out = exchange(&one, "pull", "origin").env("XDG_CACHE_HOME", one.path().join("cache")).output().unwrap();
    assert!(!out.status.success() && ran.exists());
}

#[test]
fn what_stands_in_the_way_of_the_published_is_withdrawn_and_preserved() {
    let (_dir, host) = host();
    let (one, two) = pair(&host);
    one.load("slot draft = Text = \"\"\n");
    exchanged(&one, "push", "origin", 0);
    exchanged(&two, "pull", "origin", 0);
    one.out(0, &["remove", "slot.draft"]);
    exchanged(&one, "push", "origin", 0);
    two.out(0, &["add", "tile", "T", "input(bind=draft, label=\"d\")"]);
    two.out(0, &["add", "slot", "kept", "Int = 0"]);
    let pushed = exchanged(&two, "push", "origin", 4);
    assert_eq!(pushed["withdrawn"].as_array().unwrap().len(), 1);
    assert_eq!(pushed["published"], 1);
    exchanged(&one, "pull", "origin", 0);
    assert_eq!(one.out(0, &["list"]), "slot.kept\n");
    assert_eq!(one.out(0, &["state-hash"]), two.out(0, &["state-hash"]));
    assert!(two.out(0, &["conflicts"]).contains("dangling open tile.T:1 -> slot.draft"));
}

#[test]
fn a_ref_that_cannot_be_believed_changes_nothing() {
    let (_dir, host) = host();
    let (one, two) = (clone_of(&host), clone_of(&host));
    one.load("slot a = Int = 1\n");
    two.load("slot z = Int = 1\n");
    let before = two.out(0, &["state-hash"]);
    exchanged(&one, "push", "origin", 0);
    let refused = exchanged(&two, "push", "origin", 7);
    assert!(refused["error"]["message"].as_str().unwrap().contains("holds another store"), "{refused}");
    // Neither does an empty one of another project take anything in by itself.
    let third = clone_of(&host);
    for what in ["push", "pull"] {
        let refused = exchanged(&third, what, "origin", 7);
        let command = "To take that store's definitions into this one: strand op pull --join --remote origin";
        assert!(refused["error"]["message"].as_str().unwrap().contains(command), "{refused}");
    }
    assert_eq!(third.out(0, &["list"]), "");
    // What it says to do joins the two, for good.
    third.load("slot t = Int = 1\n");
    let joined = exchange(&third, "pull", "origin").arg("--join").output().unwrap();
    assert!(joined.status.success(), "{}", String::from_utf8_lossy(&joined.stderr));
    assert_eq!(third.out(0, &["list"]), "slot.a\nslot.t\n");
    assert_eq!(exchanged(&third, "push", "origin", 0)["published"], 1);
    exchanged(&one, "pull", "origin", 0);
    assert_eq!(one.out(0, &["state-hash"]), third.out(0, &["state-hash"]));
    // A file that somebody altered.
    let bad = one.path().join("bad");
    std::fs::write(&bad, "{\"op\":\"add\"}\n").unwrap();
    let blob = git(one.path(), &["hash-object", "-w", "bad"]);
    let mut child = Command::new("git")
        .current_dir(one.path())
        .arg("mktree")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    std::io::Write::write_all(
        &mut child.stdin.take().unwrap(),
        format!("100644 blob {}\tuser-me.jsonl\n", blob.trim()).as_bytes(),
    )
    .unwrap();
    let tree = String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap();
    let who = ["-c", "user.name=x", "-c", "user.email=x@y"];
    let commit = git(one.path(), &[&who[..], &["commit-tree", tree.trim(), "-m", "x"]].concat());
    git(one.path(), &["push", "-q", "--force", "origin", &format!("{}:refs/strand/project", commit.trim())]);
    let refused = exchanged(&one, "pull", "origin", 7);
    assert!(refused["error"]["message"].as_str().unwrap().contains("user-me.jsonl line 1"), "{refused}");
    assert_eq!(two.out(0, &["state-hash"]), before);
    assert!(exchanged(&two, "pull", "nowhere", 7)["error"]["message"].as_str().unwrap().contains("no remote nowhere"));
}

/// A program with git on the PATH, in a folder of one person's own.
fn strand(folder: &Path, args: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_strand"));
    command.env_clear().env("PATH", std::env::var_os("PATH").unwrap()).env("USER", "me");
    let home = folder.with_extension("home");
    let out = command.env("HOME", home).current_dir(folder).args(args).output().unwrap();
    assert!(out.status.success(), "{args:?}: {}", String::from_utf8_lossy(&out.stderr));
    String::from_utf8(out.stdout).unwrap()
}

#[test]
fn clones_of_a_store_without_ops_push_at_once_and_are_one_store() {
    // In a folder of the repository, and as the whole of it: the clones' own folders have other names.
    for at in ["project.strand", "."] {
        let (dir, host) = host();
        let first = dir.path().join("first");
        std::fs::create_dir(&first).unwrap();
        git(&first, &["init", "-q"]);
        strand(&first, &["init", at]);
        git(&first, &["add", "-A"]);
        git(&first, &["-c", "user.name=x", "-c", "user.email=x@y", "commit", "-q", "-m", "x"]);
        git(&first, &["push", "-q", host.to_str().unwrap(), "HEAD:refs/heads/main"]);
        let clones: Vec<PathBuf> = (0..8).map(|n| dir.path().join(format!("clone{n}"))).collect();
        for clone in &clones {
            git(dir.path(), &["clone", "-q", "-b", "main", host.to_str().unwrap(), clone.to_str().unwrap()]);
        }
        std::thread::scope(|scope| {
            for (n, clone) in clones.iter().enumerate() {
                scope.spawn(move || {
                    strand(clone, &["add", "slot", &format!("s{n}"), "Int = 1"]);
                    strand(clone, &["op", "push", "--remote", "origin"]);
                });
            }
        });
        let hashes = clones.iter().map(|clone| {
            strand(clone, &["op", "pull", "--remote", "origin"]);
            assert_eq!(strand(clone, &["list"]).lines().count(), clones.len(), "{at}");
            strand(clone, &["state-hash"])
        });
        assert_eq!(hashes.collect::<std::collections::BTreeSet<_>>().len(), 1, "{at}");
    }
}

#[test]
fn a_ref_that_names_no_store_is_known_by_its_ops() {
    let (_dir, host) = host();
    let (one, two) = pair(&host);
    one.load("slot a = Int = 1\n");
    exchanged(&one, "push", "origin", 0);
    // As earlier versions left it.
    let tree: String = git(&host, &["ls-tree", "refs/strand/project"])
        .lines()
        .filter(|line| !line.contains("\tst_"))
        .map(|line| format!("{line}\n"))
        .collect();
    let mut child = Command::new("git")
        .current_dir(&host)
        .arg("mktree")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), tree.as_bytes()).unwrap();
    let tree = String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap();
    let who = ["-c", "user.name=x", "-c", "user.email=x@y"];
    let commit = git(&host, &[&who[..], &["commit-tree", tree.trim(), "-m", "x"]].concat());
    git(&host, &["update-ref", "refs/strand/project", commit.trim()]);
    // An empty store takes it in; one with ops of its own is told how, be it a clone of that store or not.
    let late = copy_of(&two, &host);
    late.load("slot z = Int = 1\n");
    exchanged(&two, "pull", "origin", 0);
    for what in ["push", "pull"] {
        let refused = exchanged(&late, what, "origin", 7);
        let words = refused["error"]["message"].as_str().unwrap();
        let said = "does not say which store it holds, as an earlier version published it";
        let command =
            "a clone of that one, or to take its definitions in all the same: strand op pull --join --remote origin";
        assert!(words.contains(said) && words.contains(command), "{words}");
    }
    let joined = exchange(&late, "pull", "origin").arg("--join").output().unwrap();
    assert!(joined.status.success(), "{}", String::from_utf8_lossy(&joined.stderr));
    assert_eq!(late.out(0, &["list"]), "slot.a\nslot.z\n");
    // The next push names it.
    two.out(0, &["add", "slot", "b", "Int = 2"]);
    exchanged(&two, "push", "origin", 0);
    let files = git(&host, &["ls-tree", "--name-only", "refs/strand/project"]);
    assert!(files.lines().any(|file| file == identity(&two)), "{files}");
}

/// `STRAND_KILLS` sets how often each push is killed at most.
#[test]
fn clones_that_push_at_once_and_are_killed_lose_nothing() {
    const CLONES: usize = 8;
    let kills = std::env::var("STRAND_KILLS").ok().and_then(|kills| kills.parse().ok()).unwrap_or(2);
    let (_dir, host) = host();
    let first = clone_of(&host);
    let copies: Vec<World> = (1..CLONES).map(|_| copy_of(&first, &host)).collect();
    let worlds: Vec<World> = std::iter::once(first).chain(copies).collect();
    worlds[0].load("slot shared = Int = 0\n");
    exchanged(&worlds[0], "push", "origin", 0);
    for (n, world) in worlds.iter().enumerate() {
        exchanged(world, "pull", "origin", 0);
        let author = format!("agent:a{n}");
        world.out(0, &["--author", &author, "add", "slot", &format!("own{n}"), "Int = 0"]);
        world.out(0, &["--author", &author, "replace", "slot.shared", &format!("Int = {n}")]);
    }
    std::thread::scope(|scope| {
        for (n, world) in worlds.iter().enumerate() {
            scope.spawn(move || {
                let mut chance = Chance(n as u64 + 1);
                for _ in 0..kills {
                    let mut push = exchange(world, "push", "origin");
                    let mut child = push.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
                    std::thread::sleep(Duration::from_millis(chance.below(200) as u64));
                    // It may be done already.
                    let _ = child.kill();
                    child.wait().unwrap();
                }
                exchanged(world, "push", "origin", 0);
            });
        }
    });
    let mut hashes = Vec::new();
    for world in &worlds {
        exchanged(world, "pull", "origin", 0);
        assert_eq!(world.out(0, &["list"]).lines().count(), 1 + CLONES);
        assert_eq!(world.out(0, &["op", "log"]).lines().count(), 1 + 2 * CLONES);
        hashes.push(world.out(0, &["state-hash"]));
    }
    hashes.dedup();
    assert_eq!(hashes.len(), 1);
}

/// A repository in the folder runs nothing of its own.
#[test]
fn hooks_of_a_repository_on_this_machine_are_not_run() {
    use std::os::unix::fs::PermissionsExt;
    let (dir, host) = host();
    let ran = dir.path().join("ran");
    for hook in ["pre-receive", "update", "post-receive", "post-update", "reference-transaction"] {
        let path = host.join("hooks").join(hook);
        std::fs::create_dir_all(host.join("hooks")).unwrap();
        std::fs::write(&path, format!("#!/bin/sh\ntouch '{}'\n", ran.display())).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    git(&host, &["config", "core.alternateRefsCommand", &format!("touch '{}'", ran.display())]);
    let (one, two) = pair(&host);
    one.load("slot a = Int = 1\n");
    assert_eq!(exchanged(&one, "push", "origin", 0)["published"], 1);
    exchanged(&two, "pull", "origin", 0);
    exchanged(&two, "pull", &format!("file://{}", host.display()), 0);
    assert!(!ran.exists());
}

#[test]
fn who_loses_a_text_to_another_is_told_and_takes_it_back() {
    let (_dir, host) = host();
    let (one, two) = pair(&host);
    one.load("slot a = Int = 0\n");
    exchanged(&one, "push", "origin", 0);
    exchanged(&two, "pull", "origin", 0);
    one.out(0, &["--author", "user:one", "replace", "slot.a", "Int = 1"]);
    two.out(0, &["--author", "user:two", "replace", "slot.a", "Int = 2"]);
    assert_eq!(exchanged(&two, "push", "origin", 0)["warnings"], serde_json::json!([]));
    let told = exchanged(&one, "push", "origin", 0)["warnings"].clone();
    let warning = told[0].as_str().unwrap();
    assert!(warning.starts_with("slot.a: replace by user:one was made while the body was replaced"), "{told}");
    assert!(warning.ends_with("strand conflicts reissue W0902@slot.a"), "{told}");
    assert_eq!(told.as_array().unwrap().len(), 1);
    // It is told once, and to whoever wrote it.
    for (world, what) in [(&one, "push"), (&two, "pull")] {
        assert_eq!(exchanged(world, what, "origin", 0)["warnings"], serde_json::json!([]));
    }
    assert_eq!(one.out(0, &["view", "slot.a"]), "slot a = Int = 2\n");
    one.out(0, &["conflicts", "reissue", "W0902@slot.a"]);
    assert_eq!(
        (one.out(0, &["view", "slot.a"]).as_str(), one.out(0, &["conflicts"]).as_str()),
        ("slot a = Int = 1\n", "")
    );
    exchanged(&one, "push", "origin", 0);
    assert_eq!(exchanged(&two, "pull", "origin", 0)["warnings"], serde_json::json!([]));
    assert_eq!(two.out(0, &["view", "slot.a"]), "slot a = Int = 1\n");
}
