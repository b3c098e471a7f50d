//! Who wrote each line of a file: from the oldest archived state forward, a line that stays keeps its cause, a new one has
//! the cause of the state it came with.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

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
    let versions = stores.archive.versions(path)?;
    let left: HashMap<String, LeftState> = stores.memory.left_states(&stores.project(), path)?.into_iter().collect();
    let changesets: HashMap<Id, Id> = made_by(path, &versions, stores)?;
    // Only an undo or a redo brings an earlier state back.
    let last_restore = versions.iter().rposition(|version| {
        left.get(&version.id.to_string()).is_some_and(|known| matches!(known.kind.as_str(), "undo" | "redo"))
    });
    let restores_later = |at: usize| last_restore.is_some_and(|last| last >= at);
    let mut annotated = Annotated::default();
    let mut cause = (LineCause::Before, false, None);
    let count = versions.len();
    for at in 0..=count {
        let state = match versions.get(at) {
            Some(version) => stores.archive.show(version)?,
            None => now.clone(),
        };
        let text = text_of(&state, path)?;
        let (mut by, restores, sha) = cause;
        // What nebula left is not what the next change met: someone wrote in between.
        if let (LineCause::Changeset { id, .. }, Some(sha)) = (by, sha)
            && sha != state_sha(&state)
        {
            let written = stores.memory.written(&stores.project(), path)?.filter(|written| written.sha256 == sha);
            let known = written.and_then(|written| String::from_utf8(written.bytes?).ok());
            match known {
                Some(text) => {
                    annotated.add(PastState { text, cause: by, restores }, restores_later(at));
                    by = LineCause::Outside(versions.get(at).and_then(|version| changesets.get(&version.id).copied()));
                }
                None => by = LineCause::Changeset { id, unsure: true },
            }
        }
        annotated.add(PastState { text, cause: by, restores }, restores_later(at));
        let Some(version) = versions.get(at) else { break };
        let known = left.get(&version.id.to_string());
        cause = match changesets.get(&version.id) {
            Some(id) => {
                let restores = known.is_some_and(|known| matches!(known.kind.as_str(), "undo" | "redo"));
                // What it left is not known where its process died before memory knew.
                let sha = known.and_then(|known| known.sha256);
                (LineCause::Changeset { id: *id, unsure: sha.is_none() }, restores, sha)
            }
            None => (LineCause::Outside(None), false, None),
        };
    }
    Ok(annotated.lines())
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
    /// The causes of earlier states by their texts, for those that an undo or a redo brings back.
    earlier: HashMap<Sha, Vec<LineCause>>,
}

impl Annotated {
    /// Takes in the next state. `comes_back`: a later one may have its text.
    fn add(&mut self, state: PastState, comes_back: bool) {
        let sha = sha256(state.text.as_bytes());
        let same = self.earlier.get(&sha).filter(|_| state.restores).cloned();
        self.causes = same.unwrap_or_else(|| {
            let lines = |text: &'_ str| -> Vec<u64> { text.lines().map(|line| hash(line.trim_end())).collect() };
            carried(&lines(&self.text), &self.causes, &lines(&state.text), state.cause)
        });
        if comes_back {
            self.earlier.insert(sha, self.causes.clone());
        }
        self.text = state.text;
    }

    fn lines(self) -> Vec<BlamedLine> {
        let line = |(text, cause): (&str, LineCause)| BlamedLine { text: text.into(), cause };
        self.text.lines().zip(self.causes).map(line).collect()
    }
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
