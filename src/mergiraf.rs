//! `mergiraf`, a program that joins two versions of a file by their syntax: the last rung of a merge, where it is installed
//! and the person allows it.
//!
//! It is given the three texts in a private folder, no variable of the environment but a PATH, and a few seconds. Whatever
//! goes wrong with it means that it joins nothing: the conflict stands as it would without it.

use std::ffi::OsString;
use std::fs;
use std::io::Read;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};

use crate::disk::{is_program, private_folder};
use crate::proposal::MergeProgram;

/// The name of the program.
const NAME: &str = "mergiraf";
/// The most time for one file.
const LIMIT: Duration = Duration::from_secs(5);
/// The number of files that may run out of time; then the program is not started again.
const LATE: usize = 3;
/// Bytes that a result may have beyond those of both sides.
const MORE: usize = 4 << 10;
/// The pause between two looks at a program that has closed its output.
const PAUSE: Duration = Duration::from_millis(1);

/// The installed program.
#[derive(Debug)]
pub struct Mergiraf {
    program: PathBuf,
    /// The PATH that it is given.
    search: OsString,
    limit: Duration,
    late: AtomicUsize,
}

impl Mergiraf {
    /// Finds the program in the absolute folders of a PATH; none of them in `workspace` counts. `None`: it is in none.
    pub fn find(search: &str, workspace: &Path) -> Option<Mergiraf> {
        let is_outside = |folder: &PathBuf| {
            let real = folder.canonicalize().unwrap_or_else(|_| folder.clone());
            folder.is_absolute() && !folder.starts_with(workspace) && !real.starts_with(workspace)
        };
        let folders: Vec<PathBuf> = std::env::split_paths(search).filter(is_outside).collect();
        let program = folders.iter().map(|folder| folder.join(NAME)).find(|file| is_program(file))?;
        let search = std::env::join_paths(&folders).ok()?;
        Some(Mergiraf { program, search, limit: LIMIT, late: AtomicUsize::new(0) })
    }

    fn start(&self, folder: &Path, path: &str, texts: [&str; 3]) -> Option<RunningMerge> {
        let name = Path::new(path).file_name()?.to_str()?;
        let extension = Path::new(name).extension().and_then(|end| end.to_str());
        let end = extension.map(|end| format!(".{end}")).unwrap_or_default();
        let mut command = Command::new(&self.program);
        command.arg("merge");
        for (side, text) in ["base", "left", "right"].into_iter().zip(texts) {
            let file = folder.join(format!("{side}{end}"));
            fs::write(&file, text).ok()?;
            command.arg(file);
        }
        // Joined to its flag, a name that begins with a dash is none of its own.
        command.arg(format!("-p{name}")).current_dir(folder).process_group(0);
        // What it notes about merges goes to a folder below HOME.
        command.env_clear().env("PATH", &self.search).env("HOME", folder);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let most = texts[1].len() + texts[2].len() + MORE;
        command.spawn().ok().map(|child| RunningMerge::new(child, most))
    }
}

impl MergeProgram for Mergiraf {
    fn join(&self, path: &str, texts: [&str; 3]) -> Option<String> {
        if self.late.load(Ordering::Relaxed) >= LATE {
            return None;
        }
        let folder = private_folder("nebula-merge-").ok()?;
        let mut running = self.start(folder.path(), path, texts)?;
        let end = Instant::now() + self.limit;
        let (bytes, is_good) = running.wait(end).or_else(|| {
            self.late.fetch_add(1, Ordering::Relaxed);
            None
        })?;
        String::from_utf8(bytes).ok().filter(|_| is_good)
    }
}

/// The program while it runs. If it does not end by itself, it is gone, with what it started in its process group, when this
/// is dropped.
struct RunningMerge {
    child: Child,
    has_ended: bool,
    printed: Receiver<Vec<u8>>,
    most: usize,
}

impl RunningMerge {
    /// Reads at most `most` bytes of what a child prints, in a thread that ends with its output.
    fn new(mut child: Child, most: usize) -> Self {
        let (send, printed) = channel();
        if let Some(stdout) = child.stdout.take() {
            thread::spawn(move || {
                let mut bytes = Vec::new();
                let read = stdout.take(most as u64 + 1).read_to_end(&mut bytes);
                // Nobody waits any more when the time is over.
                let _ = read.map(|_| send.send(bytes));
            });
        }
        RunningMerge { child, has_ended: false, printed, most }
    }

    /// Waits for the end of the program. Returns what it printed, and whether that is a merge without conflicts and not
    /// too long; `None`: the time is over.
    fn wait(&mut self, end: Instant) -> Option<(Vec<u8>, bool)> {
        let left = || end.saturating_duration_since(Instant::now());
        let bytes = self.printed.recv_timeout(left()).ok()?;
        if bytes.len() > self.most {
            return Some((bytes, false));
        }
        loop {
            // Its output is closed, so it ends in a moment; a child cannot be waited for with a limit of time.
            match self.child.try_wait().ok()? {
                Some(status) => {
                    self.has_ended = true;
                    return Some((bytes, status.success()));
                }
                None if left() > Duration::ZERO => thread::sleep(PAUSE),
                None => return None,
            }
        }
    }
}

impl Drop for RunningMerge {
    fn drop(&mut self) {
        if self.has_ended {
            return;
        }
        if let Some(group) = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw) {
            // The child was not waited for yet, so the number is still its own.
            let _ = kill_process_group(group, Signal::KILL);
        }
        let _ = self.child.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proposal::{MergeRung, Merger, State, merge};
    use std::io::ErrorKind;
    use std::os::unix::fs::PermissionsExt;
    use std::sync::Arc;

    const TEXTS: [&str; 3] = ["fn a(x: u8) {}\n", "fn a(x: u8, y: u8) {}\n", "pub fn a(x: u8) {}\n"];
    const JOINED: &str = "pub fn a(x: u8, y: u8) {}\n";

    /// A folder with a stand-in for the program: a script of these lines.
    fn stand_in(lines: &str) -> (tempfile::TempDir, Mergiraf) {
        let dir = tempfile::tempdir().expect("a folder");
        let script = dir.path().join(NAME);
        fs::write(&script, format!("#!/bin/sh\n[ \"$1\" = merge ] || exit 0\n{lines}\n")).expect("written");
        fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).expect("set");
        // A process that another test starts may have the script open for a moment still.
        while Command::new(&script).status().is_err_and(|error| error.kind() == ErrorKind::ExecutableFileBusy) {}
        let search = format!("{}:{}", dir.path().display(), std::env::var("PATH").unwrap_or_default());
        let program = Mergiraf::find(&search, Path::new("/nowhere")).expect("found");
        (dir, Mergiraf { limit: Duration::from_secs(60), ..program })
    }

    fn merged(program: Mergiraf, path: &str) -> (String, MergeRung, usize) {
        let [base, ours, theirs] = TEXTS;
        let (ours, theirs) = (State::file(ours.as_bytes()), State::file(theirs.as_bytes()));
        let merger = Merger::by_program(Arc::new(program));
        let merged = merge::three_way(path, base.as_bytes(), &ours, &theirs, &merger).expect("texts");
        (merged.after.text().expect("a text").to_string(), merged.rung, merged.conflicts.len())
    }

    #[test]
    fn it_joins_what_lines_and_definitions_cannot() {
        let (dir, program) = stand_in(&format!("printf '%s' '{JOINED}'"));
        assert_eq!(merged(program, "src/a.rs"), (JOINED.to_string(), MergeRung::Mergiraf, 0));
        drop(dir);
        // It is not asked where lines do, and cannot be where it is gone.
        let (_dir, program) = stand_in("exit 0");
        fs::remove_file(&program.program).expect("removed");
        assert_eq!(merged(program, "src/a.rs"), (TEXTS[1].to_string(), MergeRung::Lines, 1));
    }

    #[test]
    fn it_is_given_three_files_of_the_same_ending_and_nothing_else() {
        let dir = tempfile::tempdir().expect("a folder");
        let told = dir.path().join("told").display().to_string();
        let lines = format!(
            "{{ echo \"$@\"; pwd; stat -c %a . || stat -f %Lp .; cat \"$2\" \"$3\" \"$4\"; env; }} > {told}; echo \"$HOME\""
        );
        let (_bin, program) = stand_in(&lines);
        let home = program.join("-src/-a.rs", TEXTS).expect("it ended well");
        let home = home.trim();
        let told = fs::read_to_string(told).expect("written");
        let [words, folder, mode, rest] = told.splitn(4, '\n').collect::<Vec<_>>()[..] else { panic!("{told}") };
        assert_eq!(words, format!("merge {home}/base.rs {home}/left.rs {home}/right.rs -p-a.rs"));
        assert_eq!((Path::new(folder).canonicalize().is_err(), mode), (true, "700"), "it is removed: {folder}");
        let rest = rest.strip_prefix(&TEXTS.concat()).expect("the texts");
        let own = ["PATH", "HOME", "PWD", "OLDPWD", "SHLVL", "_"];
        assert!(rest.lines().all(|line| own.contains(&line.split('=').next().unwrap_or_default())), "{rest}");
    }

    #[cfg(feature = "code")]
    #[test]
    fn whatever_is_wrong_with_it_leaves_the_conflict() {
        let noise = "0123456789abcdef".repeat(16);
        let cases = [
            ("a conflict", format!("printf '%s' '{JOINED}'; exit 1")),
            ("killed", format!("printf '%s' '{JOINED}'; kill -9 $$")),
            (
                "markers",
                "printf '%s\\n' '<<<<<<< left' 'fn a(x: u8, y: u8) {}' '=======' 'pub fn a(x: u8) {}' '>>>>>>> right'"
                    .into(),
            ),
            ("bytes", "printf 'pub fn a(x: u8, y: u8) {}\\377\\n'".into()),
            ("no text", "printf 'pub fn a(x: u8, y: u8) {}\\000\\n'".into()),
            ("nothing", "exit 0".into()),
            ("one side", "cat \"$3\"".into()),
            ("the other", "cat \"$4\"".into()),
            ("too much", format!("while printf '%s' {noise}; do :; done")),
            ("a syntax error", "printf '%s\\n' 'pub fn a(x: u8, y: u8) {'".into()),
            ("twice", "printf '%s\\n' 'pub fn a(x: u8, y: u8) {}' 'fn a(x: u8) {}'".into()),
            ("something more", "printf '%s\\n' 'pub fn a(x: u8, y: u8) {}' 'fn evil() {}'".into()),
            ("hidden", "printf 'pub fn a(x: u8, y: u8) {} \\342\\200\\213\\n'".into()),
            ("other line ends", "printf 'pub fn a(x: u8, y: u8) {}\\r\\n'".into()),
            ("no line end", "printf 'pub fn a(x: u8, y: u8) {}'".into()),
        ];
        for (case, lines) in cases {
            let (_dir, program) = stand_in(&lines);
            assert_eq!(merged(program, "a.rs"), (TEXTS[1].to_string(), MergeRung::Lines, 1), "{case}");
        }
    }

    #[test]
    fn it_is_ended_when_its_time_is_over_and_not_started_again_after_a_few_times() {
        for hangs in ["exec sleep 600", "sleep 600 & exit 0", "exec >&-; exec sleep 600"] {
            let (_dir, program) = stand_in(hangs);
            let program = Mergiraf { limit: Duration::from_millis(20), ..program };
            assert_eq!(program.join("a.rs", TEXTS), None, "{hangs}");
            assert_eq!(program.late.load(Ordering::Relaxed), 1, "{hangs}");
        }
        let (_dir, program) = stand_in("cat \"$3\"");
        assert_eq!(program.join("a.rs", TEXTS).as_deref(), Some(TEXTS[1]));
        program.late.store(LATE, Ordering::Relaxed);
        assert_eq!(program.join("a.rs", TEXTS), None);
    }

    #[test]
    fn it_is_found_in_absolute_folders_outside_the_workspace_alone() {
        let (dir, program) = stand_in("exit 0");
        let (here, nowhere) = (dir.path().display().to_string(), Path::new("/nowhere"));
        assert_eq!(program.program, dir.path().join(NAME));
        let found = |search: &str, workspace: &Path| Mergiraf::find(search, workspace).is_some();
        assert!(found(&format!(".:relative:/none:{here}"), nowhere));
        assert!(!found("", nowhere) && !found(".:relative:/none", nowhere));
        assert!(!found(&here, dir.path()) && !found(&format!("{here}/."), dir.path().parent().expect("a folder")));
        std::os::unix::fs::symlink(dir.path(), dir.path().join("link")).expect("linked");
        assert!(!found(&format!("{here}/link"), &dir.path().canonicalize().expect("a path")));
        fs::set_permissions(&program.program, fs::Permissions::from_mode(0o644)).expect("set");
        assert!(!found(&here, nowhere));
    }
}
