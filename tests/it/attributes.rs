//! The attributes of a file beside its bytes, seen from outside: a replaced file keeps it or it is said what it lost,
//! an archived copy has no rights of its owner, and what another user may not touch is named. Most of it takes root.

use std::fs::{self, File, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use rustix::fs::{XattrFlags, getxattr, setxattr};

/// A user and a group that are nobody's here.
const OTHER: u32 = 4321;
const ACCESS_LIST: &str = "system.posix_acl_access";
const CAPABILITIES: &str = "security.capability";

struct World {
    dir: tempfile::TempDir,
}

impl World {
    /// A workspace with one file; `None`, with the reason printed, where the tests may not change owners.
    fn new() -> Option<Self> {
        if !rustix::process::geteuid().is_root() {
            println!("skipped: only root may give files away");
            return None;
        }
        let dir = tempfile::tempdir().expect("a folder");
        fs::set_permissions(dir.path(), Permissions::from_mode(0o755)).expect("set");
        fs::create_dir_all(dir.path().join("work/.git")).expect("made");
        fs::create_dir(dir.path().join("home")).expect("made");
        let w = World { dir };
        fs::write(w.path("work/tool"), "old\n").expect("written");
        fs::write(w.path("patch"), "--- a/tool\n+++ b/tool\n@@ -1 +1 @@\n-old\n+new\n").expect("written");
        fs::write(w.path("delete"), "--- a/tool\n+++ /dev/null\n@@ -1 +0,0 @@\n-old\n").expect("written");
        // Where another user may run it.
        let (built, program) = (env!("CARGO_BIN_EXE_nebula"), w.path("nebula"));
        fs::hard_link(built, &program).or_else(|_| fs::copy(built, &program).map(drop)).expect("a program");
        Some(w)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(self.path("nebula"));
        command.args(words).current_dir(self.path("work")).env_clear().env("HOME", self.path("home"));
        command
    }

    /// Exit code and standard error.
    fn failure(&self, words: &[&str]) -> (Option<i32>, String) {
        failure(&self.command(words).output().expect("it runs"))
    }

    /// Runs the program as another user. Returns its exit code and what it complains of.
    fn failure_as_other(&self, words: &[&str]) -> (Option<i32>, String) {
        failure(&self.command(words).uid(OTHER).gid(OTHER).output().expect("it runs"))
    }

    /// The newest version of the file.
    fn version(&self) -> PathBuf {
        let archives = self.path("work/.shaft/archives");
        let folders = fs::read_dir(archives).expect("listed").flatten().map(|e| e.path()).filter(|p| p.is_dir());
        let versions = folders.flat_map(|folder| fs::read_dir(folder).expect("listed").flatten());
        versions.map(|e| e.path()).max().expect("a version")
    }
}

fn failure(output: &Output) -> (Option<i32>, String) {
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

fn attribute(path: &Path, name: &str) -> Option<Vec<u8>> {
    let mut bytes = vec![0; 1 << 10];
    let length = getxattr(path, name, &mut bytes[..]).ok()?;
    bytes.truncate(length);
    Some(bytes)
}

/// An access list by which one more user may read.
fn access_list() -> Vec<u8> {
    let entries = [(1_u16, 6_u16, u32::MAX), (2, 4, OTHER), (4, 4, u32::MAX), (16, 4, u32::MAX), (32, 0, u32::MAX)];
    let entry =
        |(tag, may, id): (u16, u16, u32)| [&tag.to_le_bytes()[..], &may.to_le_bytes(), &id.to_le_bytes()].concat();
    [2_u32.to_le_bytes().to_vec()].into_iter().chain(entries.map(entry)).flatten().collect()
}

/// A program that may listen on low ports.
fn capabilities() -> Vec<u8> {
    [0x0200_0001_u32, 1 << 10, 0, 0, 0].iter().flat_map(|word| word.to_le_bytes()).collect()
}

#[test]
fn a_replaced_file_keeps_its_owner_lists_attributes_and_capabilities() {
    let Some(w) = World::new() else { return };
    let tool = w.path("work/tool");
    chown(&tool, Some(OTHER), Some(OTHER)).expect("given away");
    fs::set_permissions(&tool, Permissions::from_mode(0o6751)).expect("set");
    let given = [("user.note", b"mine".to_vec()), (ACCESS_LIST, access_list()), (CAPABILITIES, capabilities())];
    let set = |(name, value): &&(&str, Vec<u8>)| match setxattr(&tool, *name, value, XattrFlags::empty()) {
        Ok(()) => true,
        Err(why) => {
            println!("left out: the file system has no {name}: {why}");
            false
        }
    };
    let given: Vec<_> = given.iter().filter(set).collect();
    let before = fs::metadata(&tool).expect("there");
    let (code, err) = w.failure(&["patch", "../patch", "--yes"]);
    assert_eq!((code, fs::read_to_string(&tool).expect("read").as_str()), (Some(0), "new\n"), "{err}");
    let after = fs::metadata(&tool).expect("there");
    let rights = |meta: &fs::Metadata| (meta.mode(), meta.uid(), meta.gid());
    assert_eq!(rights(&after), rights(&before));
    assert_ne!(after.ino(), before.ino());
    for (name, value) in &given {
        assert_eq!(attribute(&tool, name).as_ref(), Some(value), "{name}");
    }
    assert!(!err.contains("not kept"), "{err}");
    let version = w.version();
    assert_eq!(fs::metadata(&version).expect("there").mode() & 0o6000, 0);
    assert_eq!(attribute(&version, CAPABILITIES), None);
}

#[test]
fn what_a_deleted_file_will_lack_is_said_when_it_goes() {
    let Some(w) = World::new() else { return };
    let tool = w.path("work/tool");
    chown(&tool, Some(OTHER), None).expect("given away");
    fs::set_permissions(&tool, Permissions::from_mode(0o4755)).expect("set");
    let (code, err) = w.failure(&["patch", "../delete", "--yes"]);
    assert_eq!(code, Some(0), "{err}");
    let says = format!("tool is deleted; an undo brings it back without its set-user-ID bit, owner {OTHER}");
    assert!(err.contains(&says), "{err}");
    let (code, err) = w.failure(&["undo", "--yes"]);
    assert_eq!((code, fs::metadata(&tool).expect("there").mode() & 0o7777), (Some(0), 0o755), "{err}");
}

#[test]
fn an_owner_that_cannot_be_preserved_is_named_and_the_group_gains_nothing() {
    let Some(w) = World::new() else { return };
    for place in ["work", "home"] {
        chown(w.path(place), Some(OTHER), Some(OTHER)).expect("given away");
    }
    let tool = w.path("work/tool");
    fs::set_permissions(&tool, Permissions::from_mode(0o674)).expect("set");
    let (code, err) = w.failure_as_other(&["patch", "../patch", "--yes"]);
    assert_eq!(code, Some(0), "{err}");
    assert!(err.contains("not kept: tool: owner 0, group 0"), "{err}");
    let meta = fs::metadata(&tool).expect("there");
    assert_eq!((meta.uid(), meta.gid(), meta.mode() & 0o777), (OTHER, OTHER, 0o644));
}

#[test]
fn a_memory_that_may_not_be_opened_is_named_with_what_to_do() {
    let Some(w) = World::new() else { return };
    chown(w.path("work"), Some(OTHER), Some(OTHER)).expect("given away");
    let own = w.path("home/.nebula");
    fs::create_dir(&own).expect("made");
    File::create(own.join("memory.db")).expect("made");
    fs::set_permissions(&own, Permissions::from_mode(0o700)).expect("set");
    let (code, err) = w.failure_as_other(&["sessions", "list"]);
    assert_eq!(code, Some(1), "{err}");
    let path = own.join("memory.db").display().to_string();
    let says =
        |line: &str| line.contains("no permission") && line.contains(&path) && line.contains("check who owns it");
    assert!(err.lines().any(says), "{err}");
}

/// No version holds them: what an undo brings back lacks them, and both say so.
#[test]
fn what_a_command_removes_with_attributes_is_named() {
    let dir = tempfile::tempdir().expect("a folder");
    let (work, home) = (dir.path().join("work"), dir.path().join("home"));
    fs::create_dir_all(work.join("empty")).expect("made");
    fs::create_dir(&home).expect("made");
    fs::write(work.join("tagged"), "text\n").expect("written");
    for name in ["tagged", "empty"] {
        let set = setxattr(work.join(name), "user.tag", b"blue", XattrFlags::empty());
        if set.is_err() {
            println!("skipped: the file system has no such attributes");
            return;
        }
    }
    let nebula = |args: &[&str]| {
        let mut nebula = Command::new(env!("CARGO_BIN_EXE_nebula"));
        nebula.args(args).current_dir(&work).env_clear().env("HOME", &home).env("PATH", "/usr/bin:/bin");
        String::from_utf8_lossy(&nebula.output().expect("run").stderr).into_owned()
    };
    let ran = nebula(&["run", "--", "rm tagged; rmdir empty; echo new > new; rm new"]);
    if ran.contains("scan") {
        println!("skipped: no guard here");
        return;
    }
    for name in ["tagged", "empty"] {
        let says = format!("not archived: {name} (its attribute user.tag: an undo brings it back without)");
        assert!(ran.contains(&says), "{ran}");
    }
    let undone = nebula(&["undo", "--yes"]);
    assert_eq!(fs::read_to_string(work.join("tagged")).expect("there"), "text\n", "{undone}");
    assert!(work.join("empty").is_dir() && !work.join("new").exists(), "{undone}");
}
