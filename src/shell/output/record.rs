//! The record of a command beside its output: `c7.json` beside `c7.log`, which go with their session.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::disk;
use crate::shell::Stopped;

/// The most that is read of one record: a command's text and little more.
const LARGEST: u64 = 1 << 20;

/// A command that was run.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct CommandRecord {
    /// The session that ran it; `run`: the command line.
    pub session: String,
    /// `c1`, `c2`, ….
    pub id: String,
    /// The workspace's root.
    pub project: PathBuf,
    /// The call that ran it; none: a person did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub call: Option<String>,
    /// Its text.
    pub command: String,
    /// The folder it ran in.
    pub cwd: PathBuf,
    /// The keeper of the states: `guard`, `scan` or `none`; `view`: it was a preview.
    pub keeper: String,
    /// The grants of its sandbox; none: it ran in none.
    pub grant: Option<String>,
    /// The time when it started, in milliseconds since 1970.
    pub started: i64,
    /// The running time of its shell, in milliseconds; none: it did not end while nebula watched.
    pub took: Option<u64>,
    /// Its exit code.
    pub exit: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// The reason why it is over, where not by itself.
    pub failed: Option<String>,
    /// The way it was ended, where not by itself and not by a failure.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stopped: Option<String>,
    /// The changeset of its changes.
    pub changeset: Option<String>,
    /// The model that ran it is still to be told of its end.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub untold: bool,
    /// The folder that the next command began in, once it had ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_folder: Option<PathBuf>,
    /// The names of the variables that the commands so far left to the next one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub variables: Vec<String>,
}

impl CommandRecord {
    /// Writes it beside a log. It is not flushed: nothing hangs on it, and a command does not wait for the disk.
    ///
    /// # Errors
    /// Whatever the disk says.
    pub fn write(&self, log: &Path) -> io::Result<()> {
        let (text, file) = (serde_json::to_vec(self)?, log.with_extension("json"));
        let folder = disk::Folder::open(disk::parent(&file))?;
        let name = file.file_name().ok_or(io::ErrorKind::InvalidFilename)?;
        folder.replace_from(&folder, name, |temp| folder.write_new(temp, &text, Some(0o600)).map(drop))
    }

    /// Returns how it ended, in words; none: nebula saw no end.
    pub fn end(&self) -> Option<String> {
        let by_itself = || match (self.exit, self.signal) {
            (Some(code), _) => Some(format!("exit {code}")),
            (None, signal) => Some(format!("signal {}", signal?)),
        };
        let failed = self.failed.as_ref().map(|_| "failed".to_string());
        failed.or_else(|| self.stopped.clone()).or_else(by_itself)
    }

    /// Returns how it ended, in words: with nebula, where that saw no end.
    pub fn ending(&self) -> String {
        self.end().unwrap_or_else(|| Stopped::Nebula.words())
    }
}

/// Returns a record, with its log; none: it cannot be read.
fn read(file: &Path) -> Option<(CommandRecord, PathBuf)> {
    let bytes = disk::read_file(file, LARGEST, disk::Links::Refuse).ok()?;
    Some((serde_json::from_slice(&bytes).ok()?, file.with_extension("log")))
}

/// Returns the commands in a session's folder of logs, oldest first, each with its log.
pub fn of_session(logs: &Path) -> Vec<(CommandRecord, PathBuf)> {
    let mut all: Vec<usize> = numbers(logs).collect();
    all.sort_unstable();
    all.dedup();
    all.into_iter().filter_map(|number| read(&logs.join(format!("c{number}.json")))).collect()
}

/// Returns the commands of a project, newest first, each with its log. What cannot be read is left out.
pub fn list(logs: &Path, project: &Path) -> Vec<(CommandRecord, PathBuf)> {
    let below = |folder: &Path| fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut found: Vec<(CommandRecord, PathBuf)> = below(logs)
        .flat_map(|session| below(&session).collect::<Vec<_>>())
        .filter(|file| file.extension().is_some_and(|end| end == "json"))
        .filter_map(|file| read(&file))
        .filter(|(record, _)| record.project == project)
        .collect();
    found.sort_by_key(|(record, _)| std::cmp::Reverse(record.started));
    found
}

/// Lets the commands of a project that was moved be of the folder where it is now, as far as they moved along. One that
/// cannot be written stays as it is.
pub fn move_project(logs: &Path, from: &Path, to: &Path, has_moved: impl Fn(&CommandRecord) -> bool) {
    let moved = |path: &Path| Some(to.join(path.strip_prefix(from).ok()?).components().collect::<PathBuf>());
    for (record, log) in list(logs, from).into_iter().filter(|(record, _)| has_moved(record)) {
        let record = CommandRecord {
            project: to.into(),
            cwd: moved(&record.cwd).unwrap_or(record.cwd),
            next_folder: record.next_folder.map(|folder| moved(&folder).unwrap_or(folder)),
            ..record
        };
        let _ = record.write(&log);
    }
}

/// Reserves the number of the next command in a session's folder of logs, and makes the log. It is greater than those
/// of a session that was resumed, and no other process has it. Where no log can be made, the command has none.
pub fn reserve(logs: Option<&Path>, last: usize) -> usize {
    let Some(logs) = logs else { return last + 1 };
    let mut number = last.max(numbers(logs).max().unwrap_or(0));
    loop {
        number += 1;
        let made = DirBuilder::new().recursive(true).mode(0o700).create(logs).and_then(|()| {
            let log = logs.join(format!("c{number}.log"));
            OpenOptions::new().write(true).create_new(true).mode(0o600).open(log)
        });
        if made.err().is_none_or(|error| error.kind() != io::ErrorKind::AlreadyExists) {
            return number;
        }
    }
}

/// Deletes the oldest of what is kept in a session's folder of logs, up to this many commands.
///
/// # Errors
/// Whatever the disk says.
pub fn prune(logs: &Path, keep: usize) -> io::Result<()> {
    let mut all: Vec<usize> = numbers(logs).collect();
    all.sort_unstable();
    all.dedup();
    for number in &all[..all.len().saturating_sub(keep)] {
        for end in ["json", "log"] {
            match fs::remove_file(logs.join(format!("c{number}.{end}"))) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
    }
    Ok(())
}

/// Returns the numbers of commands of which something is kept.
fn numbers(logs: &Path) -> impl Iterator<Item = usize> {
    let names = fs::read_dir(logs).into_iter().flatten().flatten().map(|entry| entry.file_name());
    names.filter_map(|name| name.to_str()?.strip_prefix('c')?.split('.').next()?.parse().ok())
}

/// Deletes what is kept of a session's commands.
///
/// # Errors
/// Whatever the disk says. Where nothing is kept there is none.
pub fn forget(logs: &Path, session: &str) -> io::Result<()> {
    if session.is_empty() || session.contains(['/', '\0']) || session.starts_with('.') {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    match fs::remove_dir_all(logs.join(session)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_go_on_after_those_that_are_stored_and_the_oldest_go_first() {
        let dir = tempfile::tempdir().expect("a folder");
        let logs = dir.path().join("session");
        assert_eq!((reserve(None, 0), reserve(None, 7)), (1, 8));
        assert_eq!((reserve(Some(&logs), 0), reserve(Some(&logs), 1)), (1, 2));
        fs::write(logs.join("c2.log"), "what it printed").expect("written");
        fs::write(logs.join("c11.json"), "{}").expect("written");
        // Another process that resumes the session.
        assert_eq!((reserve(Some(&logs), 0), reserve(Some(&logs), 0)), (12, 13));
        assert_eq!(fs::read(logs.join("c2.log")).expect("read"), b"what it printed");
        prune(&logs, 2).expect("pruned");
        let mut left: Vec<_> =
            fs::read_dir(&logs).expect("a folder").flatten().map(|entry| entry.file_name()).collect();
        left.sort();
        assert_eq!(left, ["c12.log", "c13.log"]);
    }

    #[test]
    fn records_are_listed_by_project_and_go_with_their_session() {
        let dir = tempfile::tempdir().expect("a folder");
        let logs = dir.path();
        for (session, id, project, started) in [("a", "c1", "/p", 1), ("a", "c2", "/q", 2), ("b", "c1", "/p", 3)] {
            fs::create_dir_all(logs.join(session)).expect("made");
            let record = CommandRecord {
                session: session.into(),
                id: id.into(),
                project: project.into(),
                cwd: Path::new(project).join("src"),
                next_folder: Some(project.into()),
                started,
                ..CommandRecord::default()
            };
            record.write(&logs.join(session).join(format!("{id}.log"))).expect("written");
        }
        fs::write(logs.join("a/c9.json"), "no JSON").expect("written");
        let of = |project: &str| -> Vec<String> {
            list(logs, Path::new(project)).iter().map(|(r, _)| format!("{}/{}", r.session, r.id)).collect()
        };
        assert_eq!(of("/p"), ["b/c1", "a/c1"]);
        move_project(logs, Path::new("/p"), Path::new("/new"), |record| record.session == "b");
        assert_eq!((of("/p"), of("/new")), (vec!["a/c1".to_string()], vec!["b/c1".to_string()]));
        let (moved, _) = list(logs, Path::new("/new")).remove(0);
        assert_eq!((moved.cwd, moved.next_folder), ("/new/src".into(), Some("/new".into())));
        move_project(logs, Path::new("/new"), Path::new("/p"), |_| true);
        for bad in ["", "..", "../a", "a/b"] {
            assert!(forget(logs, bad).is_err(), "{bad}");
        }
        forget(logs, "a").expect("deleted");
        forget(logs, "a").expect("nothing to delete");
        assert_eq!((of("/p"), of("/q")), (vec!["b/c1".to_string()], vec![]));
    }
}
