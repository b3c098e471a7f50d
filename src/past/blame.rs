//! The cause of each line of a file: from the oldest archived state forward, a line that stays keeps its cause, a new one
//! has the cause of the state it came with.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::mem;

use similar::{Algorithm, DiffOp, capture_diff_slices};

use super::error::PastError;
use crate::archive::restore::state_sha;
use crate::archive::{self, Id, Sha, sha256};
use crate::execute::Stores;
use crate::memory::LeftState;
use crate::proposal::State;

/// Files of more bytes, or of more lines, are not blamed.
const BYTES: usize = 4 << 20;
const LINES: usize = 50_000;

/// The most moves of a file that are followed.
pub(super) const MOVES: usize = 8;
/// The share of equal lines, in percent, that makes a file the same one under another path.
const MOVED: usize = 60;

/// Earlier states that are searched for lines that a restore brought back.
const BRINGS_BACK: usize = 16;

/// The cause of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LineCause {
    /// It was there before nebula first changed the file.
    Before,
    /// A changeset made it.
    Changeset {
        /// Its id.
        id: Id,
        /// Someone else changed the file before the next changeset, and what nebula had written was not kept: it may be
        /// theirs.
        unsure: bool,
    },
    /// Someone changed the file outside nebula, before this changeset; none: since the last one.
    Outside(Option<Id>),
}

/// A line and its cause.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlamedLine {
    /// The line, without its end.
    pub text: String,
    /// Its cause.
    pub cause: LineCause,
}

/// A state of the file and what caused it.
struct PastState {
    text: String,
    cause: LineCause,
    /// An undo or a redo made it: lines come back with the causes they had.
    restores: bool,
}

/// Returns the lines of a file as it is, each with its cause.
///
/// # Errors
/// When it is too large or no text, or archive, memory or the file cannot be read.
pub fn blame(path: &str, stores: Stores<'_>) -> Result<Vec<BlamedLine>, PastError> {
    let now = stores.workspace.read_whole(path)?.state;
    if matches!(now, State::Absent | State::Folder { .. }) {
        return Err(PastError::Missing(path.into()));
    }
    if let State::Link { target } = &now {
        return Err(PastError::Link { path: path.into(), target: target.display().to_string() });
    }
    let versions = stores.archive.versions(path)?;
    Ok(annotate(&FileHistory::new(path, versions, now, stores)?, MOVES)?.lines())
}

/// Returns the causes of the lines of the last state of a history. What was moved here keeps the causes that it had,
/// `moves` times at most.
fn annotate(history: &FileHistory<'_>, moves: usize) -> Result<Annotated, PastError> {
    let mut annotated = Annotated::default();
    let mut cause = StateCause { by: LineCause::Before, restores: false, sha: None };
    for at in 0..=history.versions.len() {
        let state = history.state(at)?;
        let text = match text_of(&state, history.path) {
            Ok(text) => text,
            // What came after a state without lines is its own changeset's.
            Err(_) if at < history.versions.len() => String::new(),
            Err(error) => return Err(error),
        };
        let StateCause { mut by, restores, sha } = cause;
        // What nebula left is not what the next change met: someone wrote in between.
        let other = sha.filter(|sha| *sha != state_sha(&state));
        let mut left = other.map(|sha| history.left_text(sha)).transpose()?.flatten();
        if let LineCause::Changeset { id, .. } = by
            && annotated.text.is_empty()
            && moves > 0
            && let Some(from) = moved_from(history.path, id, (left.as_deref().unwrap_or(&text), sha), history.stores)?
            && let Some(earlier) = FileHistory::before(&from.path, from.before, history.stores)?
            // What cannot be read of another file's past leaves this one its own.
            && let Ok(earlier) = annotate(&earlier, moves - 1)
        {
            // What the path itself had may come back here.
            let own = mem::replace(&mut annotated, earlier);
            annotated.earlier.splice(0..0, own.earlier);
            left = left.or_else(|| from.is_unchanged.then(|| annotated.text.clone()));
        }
        if let (LineCause::Changeset { id, .. }, Some(_)) = (by, other) {
            match left {
                Some(text) => {
                    annotated.add(PastState { text, cause: by, restores }, history.restores_since(at));
                    let next = history.versions.get(at);
                    by = LineCause::Outside(next.and_then(|version| history.changesets.get(&version.id).copied()));
                }
                None => by = LineCause::Changeset { id, unsure: true },
            }
        }
        annotated.add(PastState { text, cause: by, restores }, history.restores_since(at));
        let Some(version) = history.versions.get(at) else { break };
        cause = history.cause_after(version);
    }
    Ok(annotated)
}

/// The cause of a state.
pub(super) struct StateCause {
    pub by: LineCause,
    /// An undo or a redo made it.
    restores: bool,
    /// The hash of what its changeset left; none: it is not known.
    pub sha: Option<Option<Sha>>,
}

/// The states of a file in order, the last of which no version holds, and what memory knows of them.
pub(super) struct FileHistory<'a> {
    pub path: &'a str,
    pub versions: Vec<archive::Version>,
    last: State,
    /// The states that changesets left, by the version that each made old.
    left: HashMap<String, LeftState>,
    /// The changeset that made each version old.
    changesets: HashMap<Id, Id>,
    /// The last version that an undo or a redo made old.
    last_restore: Option<usize>,
    stores: Stores<'a>,
}

impl<'a> FileHistory<'a> {
    pub fn new(
        path: &'a str,
        versions: Vec<archive::Version>,
        last: State,
        stores: Stores<'a>,
    ) -> Result<Self, PastError> {
        let left: HashMap<_, _> = stores.memory.left_states(&stores.project(), path)?.into_iter().collect();
        let changesets = made_by(path, &versions, stores)?;
        let last_restore = versions.iter().rposition(|version| is_restore(&left, version));
        Ok(FileHistory { path, versions, last, left, changesets, last_restore, stores })
    }

    /// Returns the history of a file up to a changeset; none: the file has none.
    pub fn before(path: &'a str, after: Id, stores: Stores<'a>) -> Result<Option<Self>, PastError> {
        let mut versions = stores.archive.versions(path)?;
        // The oldest version after the moment holds what was there then.
        let Some(at) = versions.iter().position(|version| version.id > after) else { return Ok(None) };
        let last = stores.archive.show(&versions[at])?;
        versions.truncate(at);
        FileHistory::new(path, versions, last, stores).map(Some)
    }

    pub fn state(&self, at: usize) -> Result<State, PastError> {
        Ok(match self.versions.get(at) {
            Some(version) => self.stores.archive.show(version)?,
            None => self.last.clone(),
        })
    }

    /// Returns whether a state may come back later: only an undo or a redo brings an earlier one back.
    fn restores_since(&self, at: usize) -> bool {
        self.last_restore.is_some_and(|last| last >= at)
    }

    /// Returns the text of a state that a changeset left, if it was kept.
    pub fn left_text(&self, sha: Option<Sha>) -> Result<Option<String>, PastError> {
        // It left nothing there.
        let Some(sha) = sha else { return Ok(Some(String::new())) };
        let bytes = self.stores.memory.bytes_left(&self.stores.project(), self.path, &sha)?;
        Ok(bytes.and_then(|bytes| String::from_utf8(bytes).ok()))
    }

    /// Returns the cause of the state that came after a version.
    pub fn cause_after(&self, version: &archive::Version) -> StateCause {
        let Some(id) = self.changesets.get(&version.id).copied() else {
            return StateCause { by: LineCause::Outside(None), restores: false, sha: None };
        };
        // What it left is not known where its process died before memory knew.
        let sha = self.left.get(&version.id.to_string()).and_then(|known| known.sha256);
        let by = LineCause::Changeset { id, unsure: sha.is_none() };
        StateCause { by, restores: is_restore(&self.left, version), sha }
    }
}

/// Returns whether an undo or a redo made a version old.
fn is_restore(left: &HashMap<String, LeftState>, version: &archive::Version) -> bool {
    left.get(&version.id.to_string()).is_some_and(|known| matches!(known.kind.as_str(), "undo" | "redo"))
}

/// A file that was moved.
pub(super) struct MovedFile {
    pub path: String,
    /// The newest changeset before the move.
    pub before: Id,
    /// It was moved as it was.
    is_unchanged: bool,
}

/// Returns the file that a changeset moved to a path where nothing was: one of whose lines it left less than 60 % at their
/// place, and at least 60 % here. `left`: what it left at the path, and the hash of that, where it is known. What cannot be
/// read is not it.
pub(super) fn moved_from(
    path: &str,
    by: Id,
    left: (&str, Option<Option<Sha>>),
    stores: Stores<'_>,
) -> Result<Option<MovedFile>, PastError> {
    let lines = hashes(left.0);
    let mut ids = stores.archive.list()?;
    ids.retain(|id| *id < by);
    let before = ids.into_iter().max().unwrap_or(Id::MIN);
    // Without memory the states as they are now stand for those that it left.
    let around = stores.memory.changed_states(&stores.project(), &by.to_string()).unwrap_or_default();
    let mut best: Option<(usize, MovedFile)> = None;
    for other in stores.archive.paths(by)?.into_iter().filter(|other| other != path && !other.ends_with('/')) {
        let Ok(versions) = stores.archive.versions(&other) else { continue };
        let Some(at) = versions.iter().position(|version| version.id > before && version.id < by) else { continue };
        let Ok(state) = stores.archive.show(&versions[at]) else { continue };
        let Some(old) = lines_of(&state).filter(|old| !old.is_empty()) else { continue };
        let is_unchanged = left.1 == Some(state_sha(&state));
        let same = if is_unchanged { Some(old.len()) } else { alike(&old, &lines) };
        let Some(same) = same.filter(|same| best.as_ref().is_none_or(|(most, _)| same > most)) else { continue };
        let known = around.iter().find(|state| state.path == other).and_then(|state| state.after.clone());
        let stays = || match left_at(&other, versions.get(at + 1), known, stores) {
            Some(State::Absent) => false,
            Some(state) => lines_of(&state).is_none_or(|left| alike(&old, &left).is_some()),
            None => true,
        };
        if !stays() {
            best = Some((same, MovedFile { path: other, before, is_unchanged }));
        }
    }
    Ok(best.map(|(_, moved)| moved))
}

/// Returns what a changeset left at a path, by the hash that memory knows of it, where it knows one; else what the next
/// version of it holds, or what is there now. None: it cannot be read, or was not kept.
fn left_at(path: &str, next: Option<&archive::Version>, known: Option<Vec<u8>>, stores: Stores<'_>) -> Option<State> {
    let met = || match next {
        Some(next) => stores.archive.show(next).ok(),
        None => stores.workspace.read_archived(path).ok().map(|read| read.state),
    };
    let Some(known) = known else { return met() };
    if known.is_empty() {
        return Some(State::Absent);
    }
    let sha: Sha = known.try_into().ok()?;
    let kept = || stores.memory.bytes_left(&stores.project(), path, &sha).ok().flatten().map(State::file);
    met().filter(|state| state_sha(state) == Some(sha)).or_else(kept)
}

/// Returns a number for each line of a file; none: it is no file, or too large.
fn lines_of(state: &State) -> Option<Vec<u64>> {
    let bytes = state.bytes().filter(|bytes| bytes.len() <= BYTES)?;
    Some(hashes(&String::from_utf8_lossy(bytes)))
}

/// Returns the number of lines that two files have in common, where these are enough to make them one file.
fn alike(old: &[u64], new: &[u64]) -> Option<usize> {
    let most = old.len().max(new.len());
    if old.len().min(new.len()) * 100 < most * MOVED {
        return None;
    }
    let equal = |op: &DiffOp| if let DiffOp::Equal { len, .. } = op { *len } else { 0 };
    let same: usize = capture_diff_slices(Algorithm::Myers, old, new).iter().map(equal).sum();
    (same * 100 >= most * MOVED).then_some(same)
}

/// Returns the changeset that made each version old.
fn made_by(path: &str, versions: &[archive::Version], stores: Stores<'_>) -> Result<HashMap<Id, Id>, PastError> {
    let mut ids = stores.archive.list()?;
    ids.sort_unstable();
    let mut made = HashMap::new();
    for version in versions {
        // Versions are made just before their changeset, which holds the archive's lock meanwhile.
        let next = ids.partition_point(|id| *id < version.id);
        if let Some(id) = ids.get(next)
            && stores.archive.paths(*id)?.iter().any(|own| own == path)
        {
            made.insert(version.id, *id);
        }
    }
    Ok(made)
}

fn text_of(state: &State, path: &str) -> Result<String, PastError> {
    let too_large = || PastError::TooLarge(path.into());
    match state {
        State::Absent | State::Folder { .. } => Ok(String::new()),
        State::File { bytes, .. } if bytes.len() <= BYTES && !bytes.contains(&0) => {
            let text = String::from_utf8_lossy(bytes).into_owned();
            if text.lines().count() > LINES { Err(too_large()) } else { Ok(text) }
        }
        _ => Err(too_large()),
    }
}

/// The causes of the lines of the newest state so far.
#[derive(Default)]
struct Annotated {
    text: String,
    causes: Vec<LineCause>,
    /// Earlier states, newest last, for what an undo or a redo brings back.
    earlier: Vec<EarlierState>,
}

/// An earlier state of the file.
struct EarlierState {
    sha: Sha,
    lines: Vec<u64>,
    causes: Vec<LineCause>,
}

impl Annotated {
    /// Takes in the next state. `comes_back`: a later one may have its text.
    fn add(&mut self, state: PastState, comes_back: bool) {
        let sha = sha256(state.text.as_bytes());
        let lines = hashes(&state.text);
        let same = self.earlier.iter().rev().find(|earlier| state.restores && earlier.sha == sha);
        self.causes = match same {
            Some(same) => same.causes.clone(),
            None => {
                let mut causes = carried(&hashes(&self.text), &self.causes, &lines, state.cause);
                if state.restores {
                    self.bring_back(&lines, &mut causes, state.cause);
                }
                causes
            }
        };
        if comes_back {
            // Of equal states the newest is looked for.
            self.earlier.retain(|earlier| earlier.sha != sha);
            self.earlier.push(EarlierState { sha, lines, causes: self.causes.clone() });
        }
        self.text = state.text;
    }

    /// Gives lines that a restore of a part, or one that was merged, brought back the causes that they had in the newest
    /// earlier state that has them.
    fn bring_back(&self, lines: &[u64], causes: &mut [LineCause], own: LineCause) {
        for earlier in self.earlier.iter().rev().take(BRINGS_BACK) {
            if !causes.contains(&own) {
                return;
            }
            let had = carried(&earlier.lines, &earlier.causes, lines, own);
            let new = causes.iter_mut().zip(had).filter(|(cause, _)| **cause == own);
            new.for_each(|(cause, had)| *cause = had);
        }
    }

    fn lines(self) -> Vec<BlamedLine> {
        let line = |(text, cause): (&str, LineCause)| BlamedLine { text: text.into(), cause };
        self.text.lines().zip(self.causes).map(line).collect()
    }
}

/// Returns a number for each line; blanks at its end do not count.
fn hashes(text: &str) -> Vec<u64> {
    text.lines().map(|line| hash(line.trim_end())).collect()
}

/// Returns a number that stands for a line.
fn hash(line: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    line.hash(&mut hasher);
    hasher.finish()
}

/// Returns the causes of the lines of a new state: those that stay keep theirs.
fn carried(old: &[u64], causes: &[LineCause], new: &[u64], cause: LineCause) -> Vec<LineCause> {
    let mut carried = vec![cause; new.len()];
    for op in capture_diff_slices(Algorithm::Myers, old, new) {
        if let DiffOp::Equal { old_index, new_index, len } = op {
            carried[new_index..new_index + len].copy_from_slice(&causes[old_index..old_index + len]);
        }
    }
    carried
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(n: u8) -> Id {
        Id::parse(&format!("018f0000-0000-7000-8000-0000000000{n:02x}")).expect("an id")
    }

    fn by(n: u8) -> LineCause {
        LineCause::Changeset { id: id(n), unsure: false }
    }

    fn state(text: &str, cause: LineCause, restores: bool) -> PastState {
        PastState { text: text.into(), cause, restores }
    }

    fn annotate(states: &[PastState]) -> Vec<BlamedLine> {
        let mut annotated = Annotated::default();
        for PastState { text, cause, restores } in states {
            annotated.add(PastState { text: text.clone(), cause: *cause, restores: *restores }, true);
        }
        annotated.lines()
    }

    fn causes(states: &[PastState]) -> Vec<LineCause> {
        annotate(states).into_iter().map(|line| line.cause).collect()
    }

    #[test]
    fn lines_keep_the_cause_they_came_with() {
        let states = [
            state("a\nb\nc\n", LineCause::Before, false),
            state("a\nB\nc\n", by(1), false),
            // Ends of lines and blanks at them change no cause.
            state("a \r\nB\r\nnew\r\nc\r\n", by(2), false),
            state("a \r\nB\r\nnew\r\nc\r\nmine\r\n", LineCause::Outside(None), false),
        ];
        assert_eq!(causes(&states), [LineCause::Before, by(1), by(2), LineCause::Before, LineCause::Outside(None)]);
    }

    #[test]
    fn an_undo_gives_lines_back_their_causes_and_an_edit_does_not() {
        let before = |restores| {
            [
                state("a\nb\n", LineCause::Before, false),
                state("a\nB\n", by(1), false),
                state("a\n", by(2), false),
                state("a\nB\n", by(3), restores),
            ]
        };
        assert_eq!(causes(&before(true)), [LineCause::Before, by(1)]);
        assert_eq!(causes(&before(false)), [LineCause::Before, by(3)]);
    }

    #[test]
    fn every_line_is_of_the_changeset_that_brought_it() {
        // Each line holds the number of the state that brought it; random insertions and removals between.
        let mut seed = 7_u64;
        let mut random = |below: usize| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            usize::try_from(seed >> 33).unwrap_or(0) % below.max(1)
        };
        let mut lines: Vec<String> = (0..10).map(|n| format!("0 {n}")).collect();
        let mut states = vec![state(&lines.join("\n"), LineCause::Before, false)];
        for n in 1..60_u8 {
            for k in 0..random(4) {
                let at = random(lines.len() + 1);
                lines.insert(at.min(lines.len()), format!("{n} {k} {}", random(1_000_000)));
            }
            if lines.len() > 5 {
                lines.remove(random(lines.len()));
            }
            states.push(state(&lines.join("\n"), by(n), false));
        }
        for line in annotate(&states) {
            let n: u8 = line.text.split(' ').next().and_then(|n| n.parse().ok()).expect("a number");
            assert_eq!(line.cause, if n == 0 { LineCause::Before } else { by(n) }, "{}", line.text);
        }
    }
}
