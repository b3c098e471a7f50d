//! What is kept of a command beside its output: `c7.json` beside `c7.log`, which go with their session.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::disk;

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
    /// Its text.
    pub command: String,
    /// Where it ran.
    pub cwd: PathBuf,
    /// The keeper of the states: `guard`, `scan` or `none`.
    pub keeper: String,
    /// The grants of its sandbox; none: it ran in none.
    pub grant: Option<String>,
    /// When it started, in milliseconds since 1970.
    pub started: i64,
    /// How long its shell ran, in milliseconds; none: it did not end while nebula watched.
    pub took: Option<u64>,
    /// Its exit code.
    pub exit: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// Why it is over, where not by itself.
    pub failed: Option<String>,
    /// The changeset of its changes.
    pub changeset: Option<String>,
}

impl CommandRecord {
    /// Writes it beside a log.
    ///
    /// # Errors
    /// Whatever the disk says.
    pub fn write(&self, log: &Path) -> io::Result<()> {
        disk::replace_private(&log.with_extension("json"), &serde_json::to_vec(self)?)
    }
}

/// Returns the commands of a project, newest first, each with its log. What cannot be read is left out.
pub fn list(logs: &Path, project: &Path) -> Vec<(CommandRecord, PathBuf)> {
    let below = |folder: &Path| fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut found: Vec<(CommandRecord, PathBuf)> = below(logs)
        .flat_map(|session| below(&session).collect::<Vec<_>>())
        .filter(|file| file.extension().is_some_and(|end| end == "json"))
        .filter_map(|file| {
            let bytes = disk::read_file(&file, LARGEST, disk::Links::Refuse).ok()?;
            let record: CommandRecord = serde_json::from_slice(&bytes).ok()?;
            (record.project == project).then(|| (record, file.with_extension("log")))
        })
        .collect();
    found.sort_by_key(|(record, _)| std::cmp::Reverse(record.started));
    found
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
    fn records_are_listed_by_project_and_go_with_their_session() {
        let dir = tempfile::tempdir().expect("a folder");
        let logs = dir.path();
        for (session, id, project, started) in [("a", "c1", "/p", 1), ("a", "c2", "/q", 2), ("b", "c1", "/p", 3)] {
            fs::create_dir_all(logs.join(session)).expect("made");
            let record = CommandRecord {
                session: session.into(),
                id: id.into(),
                project: project.into(),
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
        for bad in ["", "..", "../a", "a/b"] {
            assert!(forget(logs, bad).is_err(), "{bad}");
        }
        forget(logs, "a").expect("deleted");
        forget(logs, "a").expect("nothing to delete");
        assert_eq!((of("/p"), of("/q")), (vec!["b/c1".to_string()], vec![]));
    }
}
