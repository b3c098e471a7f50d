use std::fs;
use std::os::unix::fs::PermissionsExt;

use rustix::fs::{CWD, Mode, mkfifoat};

use super::*;

const LIMIT: Duration = Duration::from_secs(60);

#[test]
fn what_git_does_not_have_is_reported_beside_paths_outside() {
    let it = Hostile::new();
    it.write("new.txt", "in no commit\n");
    fs::create_dir(it.top().join("gen")).expect("made");
    it.write("gen/b.txt", "two\n");
    fs::write(it.dir.path().join("other"), "").expect("written");
    std::os::unix::fs::symlink(it.top().join("gen"), it.top().join("way")).expect("linked");
    let paths =
        [it.top().join("new.txt"), it.dir.path().join("other"), it.top().join("../other"), it.top().join("way/b.txt")];
    let untracked = it.repository().not_tracked(&paths, LIMIT).expect("told");
    let files = [("gen/b.txt".to_string(), false), ("new.txt".to_string(), false)];
    assert_eq!(untracked, Untracked { files: files.into(), whole: true });
    let untracked = it.repository().not_tracked(&[it.dir.path().join("other")], LIMIT).expect("told");
    assert!(untracked.files.is_empty() && untracked.whole);
}

#[test]
fn what_a_remote_packs_to_fill_the_memory_is_not_read() {
    let it = Hostile::new();
    let host = it.dir.path().join("host.git");
    it.git(&["init", "-q", "--bare", host.to_str().expect("text")]);
    let remote = Remote::open(&it.top(), host.to_str().expect("text"), &it.dir.path().join("own.git")).expect("opened");
    let files = [("a.jsonl".to_string(), vec![b'0'; 2_000]), ("b.jsonl".to_string(), vec![b'1'; 1_000])].into();
    let commit = remote.commit(&files, None, "Publish").expect("made");
    assert!(remote.push("refs/strand/x", &commit, None).expect("pushed"));
    assert_eq!(remote.fetch("refs/strand/x").expect("fetched"), Some(commit.clone()));
    assert_eq!(remote.files(&commit).expect("read"), files);
    assert_eq!(remote.files_within(&commit, 3_000).expect("read").len(), 2);
    let refused = remote.files_within(&commit, 2_999).expect_err("too large").to_string();
    assert!(refused.contains("the files of the ref have more than"), "{refused}");
}

#[test]
fn a_remote_is_called_as_its_clones_are_whatever_the_form_of_its_address() {
    let it = Hostile::new();
    let bare = it.dir.path().join("own.git");
    for address in ["https://host/me/hub.git", "ssh://host/hub/", "me@host:hub.git", "/srv/hub/.git", "../srv/hub.git/"]
    {
        let remote = Remote::open(&it.top(), address, &bare).expect("opened");
        assert_eq!(remote.last_word().as_deref(), Some("hub"), "{address}");
    }
    assert_eq!(Remote::open(&it.top(), "/.git", &bare).expect("opened").last_word(), None);
}

/// A repository, and a program that writes down that it was run.
struct Hostile {
    dir: tempfile::TempDir,
    canary: PathBuf,
}

impl Hostile {
    fn new() -> Self {
        let dir = tempfile::tempdir().expect("a folder");
        let canary = dir.path().join("canary");
        let ran = dir.path().join("ran");
        fs::write(&canary, format!("#!/bin/sh\necho \"$@\" >>{}\ntest \"$1\" = ssh || cat\n", ran.display()))
            .expect("written");
        fs::set_permissions(&canary, fs::Permissions::from_mode(0o755)).expect("set");
        let it = Hostile { dir, canary };
        fs::create_dir(it.top()).expect("made");
        it.git(&["init", "-q", "-b", "main"]);
        for (key, value) in [("user.name", "a"), ("user.email", "a@b"), ("gc.auto", "0")] {
            it.git(&["config", key, value]);
        }
        it.write("a.txt", "one\n");
        it.git(&["add", "."]);
        it.git(&["commit", "-q", "-m", "Begin"]);
        it
    }

    fn top(&self) -> PathBuf {
        self.dir.path().join("top")
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.top().join(name), text).expect("written");
    }

    /// Returns git as it is, which runs what it is configured to run.
    fn git(&self, arguments: &[&str]) -> String {
        let mut command = Command::new("git");
        command.current_dir(self.top()).args(arguments).stdin(Stdio::null());
        let output = command.env("GIT_CONFIG_GLOBAL", "/dev/null").output().expect("git");
        String::from_utf8_lossy(&output.stdout).trim().to_string()
    }

    fn set(&self, key: &str, more: &str) {
        self.git(&["config", key, &format!("{} {more}", self.canary.display())]);
    }

    /// Returns whether the canary was run since it was asked last.
    fn ran(&self) -> bool {
        fs::remove_file(self.dir.path().join("ran")).is_ok()
    }

    fn repository(&self) -> Repository {
        Repository::find(&self.top()).expect("a repository")
    }

    /// Runs everything that only reads.
    fn look(&self) {
        let repository = self.repository();
        // What fails because a program is not run is refused, which is what is wanted.
        let _ = repository.status(LIMIT);
        let _ = repository.staged_diff(LIMIT);
        let _ = repository.staged_counts(200, LIMIT);
        let _ = repository.recent_subjects(8, LIMIT);
        let _ = repository.missing(&["0".repeat(40)], LIMIT);
    }

    fn hook(&self, name: &str) {
        let folder = self.top().join(".git/hooks");
        fs::create_dir_all(&folder).expect("made");
        let text = format!("#!/bin/sh\nexec {} {name} </dev/null\n", self.canary.display());
        fs::write(folder.join(name), text).expect("written");
        fs::set_permissions(folder.join(name), fs::Permissions::from_mode(0o755)).expect("set");
    }
}

/// Looks at the repository with plain git, which must run the canary, and then as nebula does, which must not.
fn never_runs(it: &Hostile, plain: &[&str]) {
    it.ran();
    it.git(plain);
    assert!(it.ran(), "{plain:?} does not run what it should: the test tells nothing");
    it.look();
    assert!(!it.ran(), "what {plain:?} runs was run");
}

#[test]
fn looking_runs_no_monitor_and_no_hook() {
    let it = Hostile::new();
    it.set("core.fsmonitor", "monitor");
    never_runs(&it, &["status"]);
    it.git(&["config", "--unset", "core.fsmonitor"]);
    it.hook("post-index-change");
    fs::File::open(it.top().join("a.txt")).and_then(|f| f.set_modified(std::time::UNIX_EPOCH)).expect("touched");
    never_runs(&it, &["update-index", "--force-write-index", "--refresh"]);
}

#[test]
fn however_many_objects_are_looked_for_git_answers_for_all() {
    let it = Hostile::new();
    let blob = it.git(&["rev-parse", "HEAD:a.txt"]);
    let none = "0".repeat(40);
    let objects: Vec<String> = std::iter::repeat_n(blob, 25_000).chain([none.clone()]).collect();
    assert_eq!(it.repository().missing(&objects, LIMIT), Ok(vec![none]));
}

#[test]
fn looking_runs_no_filter() {
    for (key, text) in [("clean", "* filter=bad.one\n"), ("process", "* filter=bad.one\n")] {
        let it = Hostile::new();
        fs::write(it.top().join(".git/info/attributes"), text).expect("written");
        it.set(&format!("filter.bad.one.{key}"), "filter");
        it.git(&["config", "filter.bad.one.required", "true"]);
        // The same size, so that only the bytes tell whether it has changed.
        it.write("a.txt", "two\n");
        never_runs(&it, &["status"]);
        assert_eq!(it.repository().status(LIMIT), Ok(" M a.txt\n".into()));
        it.git(&["config", &format!("filter.a=b.{key}"), "x"]);
        assert_eq!(it.repository().status(LIMIT), Err(unusable_filter()));
    }
}

#[test]
fn looking_runs_no_program_for_diffs() {
    let it = Hostile::new();
    it.write("a.txt", "two\n");
    it.git(&["add", "."]);
    fs::write(it.top().join(".git/info/attributes"), "* diff=bad\n").expect("written");
    it.set("diff.bad.textconv", "textconv");
    never_runs(&it, &["diff", "--cached"]);
    it.set("diff.bad.command", "command");
    never_runs(&it, &["diff", "--cached"]);
    fs::remove_file(it.top().join(".git/info/attributes")).expect("removed");
    it.set("diff.external", "external");
    never_runs(&it, &["diff", "--cached"]);
    assert!(it.repository().staged_diff(LIMIT).expect("a diff").contains("-one\n+two\n"));
}

#[test]
fn looking_fetches_nothing_and_checks_no_signature() {
    let it = Hostile::new();
    let blob = it.git(&["rev-parse", "HEAD:a.txt"]);
    it.write("a.txt", "two\n");
    it.git(&["add", "."]);
    for (key, value) in [
        ("core.repositoryFormatVersion", "1"),
        ("extensions.partialClone", "origin"),
        ("remote.origin.promisor", "true"),
        ("remote.origin.url", "ssh://nowhere/x"),
    ] {
        it.git(&["config", key, value]);
    }
    it.set("core.sshCommand", "ssh");
    let object = it.top().join(".git/objects").join(&blob[..2]).join(&blob[2..]);
    let bytes = fs::read(&object).expect("an object");
    fs::remove_file(&object).expect("removed");
    never_runs(&it, &["diff", "--cached"]);
    assert_eq!(it.repository().missing(std::slice::from_ref(&blob), LIMIT), Ok(vec![blob.clone()]));
    assert!(!it.ran(), "a missing object was fetched");
    fs::write(&object, bytes).expect("written");

    let commit = it.git(&["cat-file", "commit", "HEAD"]);
    let signed = commit.replacen("\n\n", "\ngpgsig -----BEGIN PGP SIGNATURE-----\n -----END PGP SIGNATURE-----\n\n", 1);
    it.write("signed", &format!("{signed}\n"));
    let signed = it.git(&["hash-object", "-t", "commit", "-w", "signed"]);
    it.git(&["update-ref", "HEAD", &signed]);
    it.git(&["config", "gpg.program", &it.canary.display().to_string()]);
    it.git(&["config", "log.showSignature", "true"]);
    never_runs(&it, &["log"]);
    assert_eq!(it.repository().recent_subjects(8, LIMIT), Ok(vec!["Begin".into()]));
}

#[test]
fn looking_runs_nothing_of_a_submodule() {
    let it = Hostile::new();
    let inner = it.top().join("inner");
    fs::create_dir(&inner).expect("made");
    let git = |arguments: &[&str]| {
        let mut command = Command::new("git");
        let done = command.current_dir(&inner).args(arguments).env("GIT_CONFIG_GLOBAL", "/dev/null").output();
        assert!(done.expect("git").status.success(), "{arguments:?}");
    };
    git(&["init", "-q"]);
    git(&["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", "x"]);
    it.git(&["add", "inner"]);
    git(&["config", "core.fsmonitor", &it.canary.display().to_string()]);
    never_runs(&it, &["status"]);
}

#[test]
fn a_commit_runs_hooks_and_signs_in_a_trusted_folder_alone() {
    let it = Hostile::new();
    for hook in COMMIT_HOOKS {
        it.hook(hook);
    }
    it.hook("reference-transaction");
    it.git(&["config", "commit.gpgSign", "true"]);
    it.git(&["config", "gpg.program", &it.canary.display().to_string()]);
    it.set("core.fsmonitor", "monitor");
    it.write("a.txt", "two\n");
    it.git(&["add", "."]);
    it.ran();
    let repository = it.repository();
    assert!(repository.has_commit_hooks());
    assert!(repository.commit("Change a", Trust::Nothing).expect("committed").contains("Change a"));
    assert!(!it.ran());
    assert_eq!(repository.recent_subjects(8, LIMIT), Ok(vec!["Change a".into(), "Begin".into()]));
    it.git(&["config", "commit.gpgSign", "false"]);
    it.git(&["config", "--unset", "core.fsmonitor"]);
    it.write("a.txt", "three\n");
    it.git(&["add", "."]);
    it.ran();
    repository.commit("Change a again", Trust::Folder).expect("committed");
    assert!(it.ran());
    it.write("a.txt", "four\n");
    it.git(&["add", "."]);
    let hostile = "Change \u{1b}[31ma\u{7}\n\n\tSo\u{1b}]52;c;cm0=\u{7}\u{9b}\r\n";
    repository.commit(hostile, Trust::Nothing).expect("committed");
    assert_eq!(repository.recent_subjects(1, LIMIT), Ok(vec!["Change [31ma".into()]));
    assert!(!Hostile::new().repository().has_commit_hooks());
}

#[test]
fn a_repository_elsewhere_is_not_looked_at() {
    let it = Hostile::new();
    let home = it.dir.path().join("home");
    fs::create_dir(&home).expect("made");
    fs::write(home.join("secret"), "").expect("written");
    it.git(&["config", "core.worktree", &home.display().to_string()]);
    assert_eq!(it.repository().status(LIMIT), Ok(String::new()));

    // The folder itself made to look like a bare repository.
    let bare = it.top().join("bare");
    fs::create_dir(&bare).expect("made");
    let made = Command::new("git").args(["init", "-q", "--bare"]).current_dir(&bare).status().expect("git");
    assert!(made.success());
    assert_eq!(Repository::find(&bare).expect("that around it").top(), it.top());
    let none = tempfile::tempdir().expect("a folder");
    assert!(matches!(Repository::find(none.path()), Err(Error::NoRepository)));
}

#[test]
fn a_file_that_never_ends_does_not_hold_git_up() {
    let it = Hostile::new();
    fs::remove_file(it.top().join(".git/info/exclude")).expect("removed");
    mkfifoat(CWD, it.top().join(".git/info/exclude"), Mode::RUSR | Mode::WUSR).expect("a pipe");
    let limit = Duration::from_millis(300);
    assert!(matches!(it.repository().status(limit), Err(Error::TimedOut(_))));
}
