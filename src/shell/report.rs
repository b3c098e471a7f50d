//! The report of a command, in the words that the model and the person get.

use std::collections::{HashMap, HashSet};

use super::commands::ShellCommand;
use super::host::Keeper;
use super::message::{Exit, Stopped, Summary};
use super::sandbox::Grant;
use crate::archive::{ChangeKind, CommandChange, Id, Sha};
use crate::proposal::{Counts, FileChange, HunkKind, REPOSITORY, counted, is_in_repository};
use crate::text::id::short_changeset;
use crate::text::number::thousands;

/// The note about what a scan archived.
pub const SCANNED: &str = "archived by scan: changes of other programs meanwhile are in it";
/// The note about what lets a command write where one was refused.
pub const WRITES_FURTHER: &str = "`shell.write` in the configuration names further folders that commands may write";
/// Changed files that are listed.
const LISTED: usize = 30;

/// The result of sealing a command's states.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SealResult {
    /// The changeset; none: it changed nothing.
    pub changeset: Option<Id>,
    /// The changesets before it, oldest first: someone else changed some of its files meanwhile.
    pub earlier: Vec<Id>,
    /// Its changes.
    pub changes: Vec<CommandChange>,
    /// Paths whose state now could not be read, each with why.
    pub unread: Vec<(String, String)>,
}

impl SealResult {
    /// Returns the name of one of the changesets: the beginning of its id, or all of it where another one begins alike.
    fn name_of(&self, id: Id) -> String {
        let whole = id.to_string();
        let short = short_changeset(&whole);
        let mut others = self.earlier.iter().chain(&self.changeset).filter(|other| **other != id);
        let is_alike = others.any(|other| other.to_string().starts_with(short));
        if is_alike { whole } else { short.to_string() }
    }
}

/// The whole result of a command.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CommandReport {
    /// `exit 0 · 4.2 s · c7 · changed 3 files, changeset 0198c2aa`.
    pub line: String,
    /// A word or two for the screen.
    pub summary: String,
    /// Further notes, a line each.
    pub notes: Vec<String>,
    /// Lines for changed files.
    pub files: Vec<String>,
    /// Lines for what its sandbox refused, which are among the notes too.
    pub blocked: Vec<String>,
}

impl CommandReport {
    /// Creates the report of a command as it is now.
    pub fn new(
        command: &ShellCommand,
        stopped: Option<Stopped>,
        sealed: &SealResult,
        failure: Option<&str>,
    ) -> CommandReport {
        let progress = command.running.progress().clone();
        let ended = match (&progress.exit, command.note_stopped(stopped)) {
            _ if progress.failed.is_some() => progress.failed.clone().unwrap_or_default(),
            (_, Some(stopped)) => stopped.words(),
            (Some((exit, _)), None) => exit_words(*exit),
            (None, None) => format!("still running as {}", command.id),
        };
        let mut line = vec![ended.clone()];
        line.extend(progress.took.map(|took| format!("{:.1} s", took.as_secs_f64())));
        line.push(command.id.clone());
        line.extend(sealed.changeset.map(|id| {
            let files = counted(sealed.changes.iter().map(|change| change.entry.path.as_str()));
            format!("changed {files}, changeset {}", sealed.name_of(id))
        }));
        let mut notes: Vec<String> = progress.notices.clone();
        let earlier = sealed.earlier.iter().map(|id| sealed.name_of(*id));
        notes.extend(earlier.map(|id| format!("an earlier part of its changes is changeset {id}")));
        if let Some(count) = progress.still_run.filter(|_| !progress.ended) {
            let processes = if count == 1 { "process still runs" } else { "processes still run" };
            notes.push(format!("{count} {processes} as {}", command.id));
        }
        let summary = &progress.summary;
        notes.extend(summary.meanwhile_words());
        notes.extend(summary.derived_words().chain(summary.gained_words()).chain(summary.room_words()));
        notes.extend(summary.refused_words());
        if summary.is_beyond && command.info.call.is_some() {
            notes.push(WRITES_FURTHER.into());
        }
        let is_failed = !matches!(progress.exit, Some((Exit::Code(0), _)) | None);
        let caches = refused_caches(command, summary).filter(|_| is_failed);
        notes.extend(caches.clone());
        // What lifts it for a command of the person's own, they are told beside it.
        notes.extend(summary.connection_words(is_failed).map(|line| {
            let lift = "ask again with needs: [\"network\"] and why, if it must reach further";
            if command.info.call.is_some() { format!("{line} ({lift})") } else { line }
        }));
        notes.extend(summary.abstract_words());
        notes.extend(summary.not_archived_words());
        notes.extend(failure.map(|why| format!("not archived yet: {why}")));
        let unread = command.left_out().iter().cloned().chain(sealed.unread.iter().cloned());
        notes.extend(unread.map(|(path, why)| format!("not archived: {path} ({why})")));
        if command.keeper == Keeper::Scan && sealed.changeset.is_some() {
            notes.push(SCANNED.into());
        }
        // What only reads overwrites nothing.
        if command.keeper == Keeper::None && command.grant != Some(Grant::Read) {
            notes.push("nothing was archived: what it overwrote cannot be undone".into());
        }
        let output = command.running.output();
        notes.extend(output.log_error().map(|why| format!("its output is not kept whole: {why}")));
        let (files, blocked) = (files(&sealed.changes), summary.blocked_words(is_failed).chain(caches).collect());
        CommandReport { line: line.join(" · "), summary: ended, notes, files, blocked }
    }

    /// Formats the report as the model gets it, its output after it.
    pub fn text(&self, output: &str) -> String {
        let lines = std::iter::once(&self.line).chain(&self.notes).map(String::as_str);
        let files = self.files.iter().map(|line| format!("  {line}"));
        let mut text: Vec<String> = lines.map(str::to_string).collect();
        text.splice(1..1, files);
        format!("{}\n{output}", text.join("\n"))
    }
}

/// Returns the line about caches that were only read, where the output of a command tells of it.
pub fn refused_caches(command: &ShellCommand, summary: &Summary) -> Option<String> {
    let words = summary.cache_words().filter(|_| command.grant != Some(Grant::Online));
    words.filter(|_| tells_of_refusal(&command.running.output().for_model(&command.id), summary))
}

/// Returns whether what a command printed tells that it could not write: in the words of the system and of usual
/// languages' libraries, or with the path. Each run of some programs tries to; a test that fails has another cause.
fn tells_of_refusal(output: &str, summary: &Summary) -> bool {
    let words = ["permission denied", "read-only file", "eacces", "erofs", "os error 13", "os error 30"];
    let lower = output.to_lowercase();
    words.iter().any(|word| lower.contains(word))
        || summary.first_cache.as_ref().is_some_and(|path| output.contains(path))
}

/// Returns a line for each changed path, the repository as one, the first of them where there are many, and how many more.
pub fn files(changes: &[CommandChange]) -> Vec<String> {
    let line = |(change, from): (&CommandChange, Option<&CommandChange>)| {
        let sign = match change.kind {
            _ if from.is_some() => 'R',
            ChangeKind::Made => 'A',
            ChangeKind::Changed => 'M',
            ChangeKind::Removed => 'D',
            ChangeKind::Mode => 'm',
        };
        match from {
            Some(from) => file_line(sign, &format!("{} → {}", from.entry.path, change.entry.path), Counts::default()),
            None => file_line(sign, &change.entry.path, change.counts),
        }
    };
    type Line<'c> = (&'c CommandChange, Option<&'c CommandChange>);
    let of_repository = |(change, _): &Line| is_in_repository(&change.entry.path);
    let (repository, files): (Vec<Line>, Vec<Line>) = with_moves(changes).partition(of_repository);
    let as_one = (!repository.is_empty()).then(|| file_line('M', REPOSITORY, Counts::default()));
    let all = files.len() + usize::from(as_one.is_some());
    listed(files.into_iter().map(line).chain(as_one).take(LISTED).collect(), all)
}

/// Returns the changes, each with the one that is the other end of its move: a file that is gone here and is there now
/// with the same bytes is one change.
pub fn with_moves(changes: &[CommandChange]) -> impl Iterator<Item = (&CommandChange, Option<&CommandChange>)> {
    let is_file = |change: &&CommandChange| !change.entry.path.ends_with('/') && !is_in_repository(&change.entry.path);
    let of = |kind| changes.iter().filter(move |change| change.kind == kind).filter(is_file);
    let mut gone: HashMap<Sha, Vec<&CommandChange>> = HashMap::new();
    // Taken from the end: the first of several goes with the first.
    for change in of(ChangeKind::Removed).rev() {
        change.before.into_iter().for_each(|sha| gone.entry(sha).or_default().push(change));
    }
    let mut from: HashMap<&str, &CommandChange> = HashMap::new();
    let mut moved: HashSet<&str> = HashSet::new();
    for change in of(ChangeKind::Made) {
        if let Some(old) = change.after.and_then(|sha| gone.get_mut(&sha)?.pop()) {
            from.insert(&change.entry.path, old);
            moved.insert(&old.entry.path);
        }
    }
    let stays = move |change: &&CommandChange| !moved.contains(change.entry.path.as_str());
    changes.iter().filter(stays).map(move |change| (change, from.get(change.entry.path.as_str()).copied()))
}

/// Returns a line for each path that a command changed in a view, the first of them where there are many.
pub fn files_of_view(changes: &[FileChange]) -> Vec<String> {
    let line = |change: &FileChange| {
        let only_mode = change.hunks.iter().all(|hunk| hunk.kind == HunkKind::Mode);
        let sign = match (change.before.is_absent(), change.after.is_absent()) {
            (true, _) => 'A',
            (_, true) => 'D',
            _ if only_mode => 'm',
            _ => 'M',
        };
        file_line(sign, &change.path, change.counts)
    };
    listed(changes.iter().take(LISTED).map(line).collect(), changes.len())
}

fn file_line(sign: char, path: &str, counts: Counts) -> String {
    let counts = match (counts.added, counts.removed) {
        (0, 0) => String::new(),
        (added, 0) => format!(" +{added}"),
        (0, removed) => format!(" −{removed}"),
        (added, removed) => format!(" +{added} −{removed}"),
    };
    format!("{sign} {}{counts}", crate::text::clean::clean_line(path))
}

fn listed(mut lines: Vec<String>, all: usize) -> Vec<String> {
    if all > LISTED {
        lines.push(format!("and {} more", thousands(all - LISTED)));
    }
    lines
}

/// Returns how a shell ended, in words.
pub fn exit_words(exit: Exit) -> String {
    match exit {
        Exit::Code(code) => format!("exit {code}"),
        Exit::Signal(signal) => format!("signal {}", signal_name(signal)),
    }
}

/// Returns the name of a signal.
fn signal_name(number: i32) -> String {
    const NAMES: &[(i32, &str)] = &[
        (1, "SIGHUP"),
        (2, "SIGINT"),
        (3, "SIGQUIT"),
        (4, "SIGILL"),
        (6, "SIGABRT"),
        (8, "SIGFPE"),
        (9, "SIGKILL"),
        (11, "SIGSEGV"),
        (13, "SIGPIPE"),
        (15, "SIGTERM"),
    ];
    let name = NAMES.iter().find(|(known, _)| *known == number);
    name.map_or_else(|| number.to_string(), |(_, name)| (*name).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refused_writes_are_told_where_the_output_tells_of_them() {
        let first_cache = Some("/home/me/.cargo/.package-cache".to_string());
        let summary = Summary { first_cache, ..Summary::default() };
        for (output, tells) in [
            ("test result: FAILED. 1 passed; 1 failed", false),
            ("npm ERR! code EACCES", true),
            ("mkdir: cannot create directory: Permission denied", true),
            ("failed to open: /home/me/.cargo/.package-cache", true),
        ] {
            assert_eq!(tells_of_refusal(output, &summary), tells, "{output}");
        }
    }
}
