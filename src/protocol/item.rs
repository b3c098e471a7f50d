//! The entries of a conversation and their states, and the values that lists and events share.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::time::Duration;

use super::cause::Cause;
use super::command::UNDO;
use crate::proposal::{
    Counts, HunkCount, MergeRung, REPOSITORY, Rung, is_in_repository, large_made, lines_touch, outermost_folder,
};

/// The words that the summary of a command begins with that ran in a view and was thrown away.
pub const PREVIEW: &str = "preview, ";

/// A rule that joined the prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleChip {
    /// File it comes from.
    pub path: String,
    /// The reason why it is active: `workspace`, `matches *.rs (src/a.rs)`.
    pub reason: String,
    /// Its size in bytes.
    pub bytes: usize,
}

/// One entry of the conversation.
#[derive(Debug, Clone, PartialEq)]
pub enum Item {
    /// A message of the person.
    User {
        /// The typed text.
        text: String,
        /// The time.
        at: i64,
        /// The attachments.
        attached: Vec<Attached>,
    },
    /// Text of the model; grows.
    Answer {
        /// Markdown.
        text: String,
    },
    /// Text of the model that is said on the way and is no answer of a task; grows.
    Commentary {
        /// Markdown.
        text: String,
    },
    /// A thought of the model; grows.
    Thinking {
        /// Plain text; empty where the server shows none of it.
        text: String,
        /// Its duration, once over.
        took: Option<Duration>,
    },
    /// A tool call, or an edit written in the text.
    Call(Call),
    /// Rules that joined the prompt here.
    Rules(Vec<RuleChip>),
    /// A notice, with what to do.
    Notice(Notice),
}

/// A file attached to a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attached {
    /// Path as mentioned, normalised.
    pub path: String,
    /// The lines attached, from 1, both included, where not all are.
    pub range: Option<(usize, usize)>,
    /// The number of lines attached, for texts.
    pub lines: Option<usize>,
    /// Bytes.
    pub bytes: usize,
}

/// A tool call as the screen shows it.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    /// Tool name, or the name of the edit format's tag for edits in text.
    pub name: String,
    /// The verb for what it did.
    pub verb: Verb,
    /// Main argument: a path, the id of a definition, or words in quotes.
    pub main: String,
    /// Arguments as they arrived; grows by [`super::EventBody::Grew`].
    pub arguments: String,
    /// Its state.
    pub state: CallState,
    /// Result in a word or two: `38 lines`, `2 files`.
    pub summary: String,
    /// Lines added and removed, for edits.
    pub counts: Option<Counts>,
    /// The edit as a small diff, the result's first lines, or the text of a command and the end of its output.
    pub preview: Vec<PreviewLine>,
    /// Whole result as the model got it, once there.
    pub result: Option<String>,
    /// The reason why it failed or was refused, in one line.
    pub reason: Option<String>,
    /// The rung at which the place of the edit was found.
    pub rung: Option<Rung>,
    /// Its running time, once over.
    pub took: Option<Duration>,
    /// The step of the session it belongs to, from 1; 0: not known.
    pub step: u32,
    /// The question to the person that it caused, and the answer.
    pub exchange: Option<(String, String)>,
    /// Calls of its command that waited for the person, oldest first.
    pub held: Vec<DecidedHold>,
    /// Questions of the person about what it changes, and the answers of the model.
    pub comments: Vec<(String, String)>,
    /// The hunks that it had a part in, where they were decided.
    pub hunks: Option<HunkCount>,
    /// The person's decision of the hunks of its proposal; of several calls with one proposal the first has it.
    pub decided: Option<HunkCount>,
    /// The time when the person answered its question or decided its hunks.
    pub answered: Option<i64>,
    /// The change that it led to.
    pub change: Option<CallChange>,
    /// The number of lines that a command printed, of which the preview holds the last.
    pub printed: usize,
    /// True if it is a command that the person typed, not one of the model.
    pub is_typed: bool,
}

impl Call {
    /// Creates a call of which nothing is known but its name and what it does.
    pub fn new(name: impl Into<String>, verb: Verb, state: CallState) -> Self {
        Call {
            name: name.into(),
            verb,
            main: String::new(),
            arguments: String::new(),
            state,
            summary: String::new(),
            counts: None,
            preview: Vec::new(),
            result: None,
            reason: None,
            rung: None,
            took: None,
            step: 0,
            exchange: None,
            held: Vec::new(),
            comments: Vec::new(),
            hunks: None,
            decided: None,
            answered: None,
            change: None,
            printed: 0,
            is_typed: false,
        }
    }

    /// Returns the file that its main argument names, where that is a path or the id of a definition.
    pub fn file(&self) -> &str {
        self.main.split("::").next().unwrap_or_default()
    }

    /// Returns whether it is a command that ran and did not succeed: for the model a result like any other. Of a preview
    /// that was taken in part the reason is the person's.
    pub fn is_unsuccessful(&self) -> bool {
        self.state == CallState::Done && self.name == "runCommand" && self.reason.is_some() && !self.is_partial()
    }

    /// Returns whether it is a command that ran in a view of the workspace, and not all of what it did there stays.
    pub fn is_preview(&self) -> bool {
        self.name == "runCommand" && self.summary.starts_with(PREVIEW)
    }

    /// Returns why it did not do what it was asked to; of a command that ran the result says it, which begins with how it
    /// ended.
    pub fn shown_reason(&self) -> Option<&str> {
        self.reason.as_deref().filter(|_| !self.is_unsuccessful() || self.result.is_none())
    }

    /// Returns how much of what it changed is undone.
    pub fn undone(&self) -> Undone {
        self.change.as_ref().map(|change| change.undone).unwrap_or_default()
    }

    /// Returns whether the person accepted some of what it changes, and not all.
    pub fn is_partial(&self) -> bool {
        self.state == CallState::Done && self.hunks.is_some_and(HunkCount::is_partial)
    }
}

/// The change that a call led to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallChange {
    /// Its changeset.
    pub changeset: String,
    /// The files of it that the call changed; none: all.
    pub paths: Vec<String>,
    /// The lines of each of its hunks, in the text of their file as it was written; none of a file: not known.
    pub lines: BTreeMap<String, Vec<Range<usize>>>,
    /// The part of it that is undone.
    pub undone: Undone,
}

impl CallChange {
    /// Creates a change of which nothing is undone.
    pub fn new(changeset: impl Into<String>, paths: Vec<String>) -> Self {
        CallChange { changeset: changeset.into(), paths, lines: BTreeMap::new(), undone: Undone::default() }
    }

    /// Takes in how much of the session's changes is undone now. Returns whether that is news.
    pub fn take_undone(&mut self, changes: &[UndoneChange]) -> bool {
        let is_mine = |change: &&UndoneChange| {
            change.changeset == self.changeset && (self.paths.is_empty() || self.paths.contains(&change.path))
        };
        let add = |sum: Undone, part: Undone| Undone { hunks: sum.hunks + part.hunks, of: sum.of + part.of };
        let now = changes.iter().filter(is_mine).map(|change| self.part_of(change)).fold(Undone::default(), add);
        std::mem::replace(&mut self.undone, now) != now
    }

    /// Returns how much of the call's own hunks is undone with a change of their file; where they are not known, of all.
    fn part_of(&self, change: &UndoneChange) -> Undone {
        let own = self.lines.get(&change.path).map(Vec::as_slice).unwrap_or_default();
        let runs = |lines: &Range<usize>| change.lines.iter().filter(|(run, _)| lines_touch(run, lines)).collect();
        let runs = own.iter().map(runs).filter(|runs: &Vec<&(Range<usize>, bool)>| !runs.is_empty());
        let undone: Vec<bool> = runs.map(|runs| runs.iter().all(|(_, undone)| *undone)).collect();
        match undone.is_empty() {
            true => change.undone,
            false => Undone { hunks: undone.iter().filter(|undone| **undone).count(), of: undone.len() },
        }
    }
}

/// The part of a change that is undone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Undone {
    /// The hunks that are undone.
    pub hunks: usize,
    /// All hunks of the files in which some are; none: nothing is undone.
    pub of: usize,
}

impl Undone {
    /// Returns whether something is undone.
    pub fn is_any(self) -> bool {
        self.hunks > 0
    }

    /// Returns whether all is undone.
    pub fn is_all(self) -> bool {
        self.is_any() && self.hunks == self.of
    }
}

/// The part of the change of one file in a changeset that is undone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UndoneChange {
    /// The changeset.
    pub changeset: String,
    /// Normalised path.
    pub path: String,
    /// The part that is undone.
    pub undone: Undone,
    /// The runs of changed lines, in the text as it was written, each with whether it is undone; none: it is no text.
    pub lines: Vec<(Range<usize>, bool)>,
}

/// A call of a running command that waited for the person, in words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DecidedHold {
    /// The request of its program.
    pub wants: String,
    /// The decision.
    pub answer: String,
    /// The time of the decision.
    pub at: i64,
}

/// The verb of a call: `read` and `file` in `read 2 files`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Verb {
    /// The verb as a command: `read`.
    pub short: String,
    /// The verb while it is being done: `reading`.
    pub doing: String,
    /// The verb in the past tense.
    pub done: String,
    /// The noun for one of its objects.
    pub one: String,
}

/// A line of a call's preview.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PreviewLine {
    /// `+`, `-` or a space.
    pub sign: char,
    /// The line without its ending.
    pub text: String,
}

/// The state of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallState {
    /// Its arguments are arriving.
    Streaming,
    /// It waits its turn.
    Waiting,
    /// It waits for the person.
    Asking,
    /// It runs.
    Running,
    /// It is done.
    Done,
    /// The person or the mode refused it, wholly or in part.
    Refused,
    /// It failed.
    Failed,
    /// It was interrupted.
    Interrupted,
}

impl CallState {
    /// Returns whether it will not change any more.
    pub fn is_final(self) -> bool {
        matches!(self, CallState::Done | CallState::Refused | CallState::Failed | CallState::Interrupted)
    }
}

/// A changeset in the archive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Changeset {
    /// UUIDv7.
    pub id: String,
    /// Its time, from the id.
    pub at: i64,
    /// Title: the words of the prompt, `undo of …`, `shi`; empty when unknown.
    pub cause: String,
    /// Made by this process, by another nebula, or unknown.
    pub by: String,
    /// The session whose turn made it; none: unknown, or no session's.
    pub session: Option<String>,
    /// The way it was joined with what someone else had changed; none: nobody had.
    pub merged: Option<MergeRung>,
    /// The files.
    pub files: Vec<ChangesetFile>,
    /// The definitions of a Strand store that it changed.
    pub definitions: Vec<String>,
}

impl Changeset {
    /// Returns the changeset with its files of the repository as one, behind the others, and a folder that came with many
    /// files as one.
    #[must_use]
    pub fn with_units(&self) -> Self {
        let mut changeset = self.clone();
        let own = self.files.iter().filter(|file| !is_in_repository(&file.path));
        let large: BTreeSet<&str> = large_made(own.map(|file| (file.path.as_str(), file.absent))).into_keys().collect();
        let mut lines: BTreeMap<&str, Counts> = BTreeMap::new();
        for file in &self.files {
            if let Some((folder, counts)) = outermost_folder(&file.path, &large).zip(file.counts) {
                let sum = lines.entry(folder).or_default();
                (sum.added, sum.removed) = (sum.added + counts.added, sum.removed + counts.removed);
            }
        }
        changeset.files.retain(|file| outermost_folder(&file.path, &large).is_none_or(|folder| folder == file.path));
        for file in changeset.files.iter_mut().filter(|file| large.contains(file.path.as_str())) {
            file.counts = lines.get(file.path.as_str()).copied();
        }
        if changeset.files.extract_if(.., |file| is_in_repository(&file.path)).count() > 0 {
            changeset.files.push(ChangesetFile { path: REPOSITORY.into(), version: None, absent: false, counts: None });
        }
        changeset
    }

    /// Returns how many definitions these changesets changed, less those of which an undo among them took all back.
    pub fn count_definitions<'a>(changesets: impl Iterator<Item = &'a Changeset>) -> usize {
        let mut times: BTreeMap<&str, i64> = BTreeMap::new();
        for changeset in changesets {
            for name in &changeset.definitions {
                *times.entry(name).or_default() += if changeset.by == UNDO { -1 } else { 1 };
            }
        }
        // The undo of a renaming names the definition as it was called before.
        let signed = |sign: i64| times.values().filter(|times| times.signum() == sign).count();
        signed(1).saturating_sub(signed(-1))
    }
}

/// A file in a changeset.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangesetFile {
    /// Normalised path.
    pub path: String,
    /// Its archived version; none: unknown.
    pub version: Option<String>,
    /// The file did not exist before.
    pub absent: bool,
    /// Lines added and removed by the change that followed, when known.
    pub counts: Option<Counts>,
}

/// The severity of a notice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// Information.
    Info,
    /// Something was refused or needs care.
    Warning,
    /// Something failed.
    Error,
    /// An answer broke off or was interrupted.
    Broken,
}

impl Level {
    /// All levels.
    pub const ALL: [Level; 4] = [Level::Info, Level::Warning, Level::Error, Level::Broken];

    /// Returns its word, for programs and records.
    pub fn word(self) -> &'static str {
        match self {
            Level::Info => "info",
            Level::Warning => "warning",
            Level::Error => "error",
            Level::Broken => "broken",
        }
    }

    /// Returns the level with this word.
    pub fn named(word: &str) -> Option<Level> {
        Level::ALL.into_iter().find(|level| level.word() == word)
    }
}

/// A notice: what happened, what it means, what to press.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notice {
    /// Its severity.
    pub level: Level,
    /// The event, in one line.
    pub title: String,
    /// Its consequence for files and words.
    pub detail: String,
    /// The actions it offers.
    pub actions: Vec<NoticeAction>,
    /// Its kind, for programs; empty where it is about no request.
    pub cause: Cause,
}

impl Notice {
    /// Creates a notice that offers nothing.
    pub fn new(level: Level, title: impl Into<String>, detail: impl Into<String>) -> Self {
        Notice { level, title: title.into(), detail: detail.into(), actions: Vec::new(), cause: Cause::default() }
    }
}

/// An action that a notice offers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NoticeAction {
    /// `Enter go on from here`.
    Continue,
    /// `r ask again`.
    Retry,
    /// `Ctrl-O another model`.
    ChooseModel,
    /// `Enter what changed`: the difference between the file as it was read and as it is now.
    ShowChange(String),
    /// `o open the file`.
    OpenFile(String),
    /// Try memory again.
    RetryMemory,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_file_that_several_calls_changed_each_is_undone_by_its_own_hunks() {
        let lines = vec![(3..4, true), (6..6, true), (9..12, false)];
        let undone = Undone { hunks: 2, of: 3 };
        let changes = [UndoneChange { changeset: "one".into(), path: "a.rs".into(), undone, lines }];
        let undone = |own: &[(usize, usize)]| {
            let own = own.iter().map(|(start, end)| *start..*end).collect();
            let lines = BTreeMap::from([("a.rs".to_string(), own)]);
            let mut change = CallChange { lines, ..CallChange::new("one", vec!["a.rs".into()]) };
            assert!(change.take_undone(&changes) && !change.take_undone(&changes));
            (change.undone.hunks, change.undone.of)
        };
        assert_eq!((undone(&[(3, 4)]), undone(&[(9, 12)]), undone(&[(6, 6), (9, 12)])), ((1, 1), (0, 1), (1, 2)));
        // A hunk of runs side by side is undone when all of them are.
        assert_eq!((undone(&[(3, 6)]), undone(&[(3, 12)])), ((1, 1), (0, 1)));
        assert_eq!(undone(&[]), (2, 3), "where its lines are not known");
    }

    #[test]
    fn a_folder_that_came_with_many_files_is_one_of_a_changesets_files() {
        let file = |path: String, absent: bool| {
            let counts = (!path.ends_with('/')).then_some(Counts { added: 2, removed: 0 });
            ChangesetFile { path, version: None, absent, counts }
        };
        let set = |files: Vec<ChangesetFile>| Changeset {
            id: String::new(),
            at: 0,
            cause: String::new(),
            by: String::new(),
            session: None,
            merged: None,
            files,
            definitions: Vec::new(),
        };
        let inner = (0..1_001).map(|n| file(format!("many/in/{n}"), true));
        let first = ["a", ".git/HEAD", ".git/index"].map(|path| file(path.into(), false));
        let folders = ["many/", "many/in/"].map(|path| file(path.into(), true));
        let all = set(first.into_iter().chain(folders).chain(inner).collect());
        let files: Vec<_> = all.with_units().files.into_iter().map(|file| (file.path, file.counts)).collect();
        let two = |added| Some(Counts { added, removed: 0 });
        assert_eq!(files, [("a".into(), two(2)), ("many/".into(), two(2_002)), (REPOSITORY.into(), None)]);
        let few = set(vec![file("few/".into(), true), file("few/in".into(), true)]);
        assert_eq!(few.with_units(), few);
    }
}
