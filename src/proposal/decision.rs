//! The choice for each hunk of a proposal and who made it, and the change that follows from it.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::hunks::lines;
use super::{Consent, FileChange, HunkKind, MergeRung, MergedFile, Proposal, State, is_in_repository};

/// The choice for one hunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Choice {
    /// It is written.
    Accept,
    /// It is left as it was.
    Reject,
}

/// The choices for one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileDecision {
    /// One choice for each hunk, in their order.
    pub hunks: Vec<Choice>,
    /// The whole text as the person edited it; it replaces the file's after-state and counts as accepted.
    pub edited: Option<Arc<[u8]>>,
}

/// Words of the person about one hunk, told with the decision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HunkComment {
    /// The file's place in the proposal.
    pub file: usize,
    /// The hunk's place in the file.
    pub hunk: usize,
    /// The lines of the hunk: see [`Proposal::place`].
    pub place: String,
    /// The typed text.
    pub text: String,
}

/// The choices for a whole proposal. One that accepts anything names who made it; only [`Decision::refuse`] needs no
/// author, and it accepts nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision {
    files: Vec<FileDecision>,
    consent: Option<Consent>,
    /// The reason why something was refused, in the person's words; passed on to the model.
    pub reason: Option<String>,
    /// The words of the person about single hunks, refused or not.
    pub comments: Vec<HunkComment>,
    /// The person wants edits approved for the rest of the session.
    pub for_session: bool,
}

/// The number of hunks accepted and refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct HunkCount {
    /// Accepted, edited ones among them.
    pub accepted: usize,
    /// Refused.
    pub rejected: usize,
}

impl HunkCount {
    /// Returns whether some were accepted, and not all.
    pub fn is_partial(self) -> bool {
        self.accepted > 0 && self.rejected > 0
    }
}

impl Decision {
    /// Creates the choices of `consent`: one entry a file of the proposal, in their order.
    pub fn new(files: Vec<FileDecision>, consent: Consent) -> Self {
        Decision { files, consent: Some(consent), reason: None, comments: Vec::new(), for_session: false }
    }

    /// Creates the decision in which `consent` accepts every hunk of `proposal`.
    pub fn accept(proposal: &Proposal, consent: Consent) -> Self {
        Self::new(proposal.choices(Choice::Accept), consent)
    }

    /// Creates the decision that refuses every hunk of `proposal`.
    pub fn refuse(proposal: &Proposal) -> Self {
        Decision { consent: None, ..Self::new(proposal.choices(Choice::Reject), Consent::Person) }
    }

    /// Creates the decision that these choices would be, to which nobody consents yet: a test runs on what it would write.
    pub fn expected(files: Vec<FileDecision>) -> Self {
        Decision { consent: None, ..Self::new(files, Consent::Person) }
    }

    /// Adds a reason for what is refused.
    #[must_use]
    pub fn because(mut self, reason: impl Into<String>) -> Self {
        self.reason = Some(reason.into());
        self
    }

    /// Returns the choices, one entry a file of the proposal, in their order.
    pub fn files(&self) -> &[FileDecision] {
        &self.files
    }

    /// Counts accepted and refused hunks.
    pub fn count(&self) -> HunkCount {
        let mut n = HunkCount::default();
        for f in &self.files {
            for c in &f.hunks {
                if *c == Choice::Accept || f.edited.is_some() { n.accepted += 1 } else { n.rejected += 1 }
            }
        }
        n
    }
}

/// A decision that does not fit its proposal.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DecisionError {
    /// The decision has not as many files or hunks as the proposal.
    #[error("the decision does not cover the proposal's files and hunks")]
    Shape,
    /// The two ends of a move were decided apart.
    #[error("the two ends of the move of {0} must be decided together")]
    HalfMove(String),
    /// The repository is restored whole or not at all.
    #[error("the files of the repository must be decided together")]
    HalfRepository,
}

/// One file of a decided proposal: the state it must be in now, and its new state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DecidedFile {
    pub(super) path: String,
    pub(super) before: State,
    pub(super) after: State,
    pub(super) folders: Vec<String>,
    pub(super) merged: Option<MergeRung>,
    pub(super) restores: bool,
    pub(super) moved: Option<String>,
}

impl DecidedFile {
    /// Returns the normalised path.
    pub fn path(&self) -> &str {
        &self.path
    }
    /// Returns what must still be on disk.
    pub fn before(&self) -> &State {
        &self.before
    }
    /// Returns what is to be written.
    pub fn after(&self) -> &State {
        &self.after
    }
    /// Returns folders that go once the file is gone, innermost first, as far as they are empty then.
    pub fn folders(&self) -> &[String] {
        &self.folders
    }
    /// Returns how it was joined with what someone else had changed; `None`: nobody had.
    pub fn merged(&self) -> Option<MergeRung> {
        self.merged
    }
    /// Returns whether it brings an archived state back.
    pub fn restores(&self) -> bool {
        self.restores
    }
    /// Returns the path of the other end of a move.
    pub fn moved(&self) -> Option<&str> {
        self.moved.as_deref()
    }
    /// Returns the same with these permission bits in what is to be written.
    #[must_use]
    pub fn with_mode(&self, mode: Option<u32>) -> Self {
        DecidedFile { after: self.after.clone().with_mode(mode), ..self.clone() }
    }
}

/// A proposal with consent: what `apply` writes. Only [`Proposal::decide`] makes one, and only for an accepted change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decided {
    pub(super) files: Vec<DecidedFile>,
    pub(super) merged: Vec<MergedFile>,
    pub(super) consent: Consent,
}

impl Decided {
    /// Returns the files in which something was accepted, in order; empty only where a merge found all of it there.
    pub fn files(&self) -> &[DecidedFile] {
        &self.files
    }

    /// Returns the files that it was merged into: see [`Decided::merged_into`].
    pub fn merged(&self) -> &[MergedFile] {
        &self.merged
    }

    /// Returns the same without the files that are left out; with one end of a move the other stays out too, and with a
    /// file of the repository all of that.
    pub fn without(&self, leaves_out: impl Fn(&DecidedFile) -> bool) -> Decided {
        let out: BTreeSet<&str> = self.files.iter().filter(|file| leaves_out(file)).map(DecidedFile::path).collect();
        let has_repository = out.iter().any(|path| is_in_repository(path));
        let stays = |file: &&DecidedFile| {
            let is_out = out.contains(file.path())
                || file.moved().is_some_and(|other| out.contains(other))
                || has_repository && is_in_repository(file.path());
            !is_out
        };
        Decided { files: self.files.iter().filter(stays).cloned().collect(), ..self.clone() }
    }

    /// Returns how it was joined with what someone else had changed, when it was proposed or when it is written.
    pub fn merge_rung(&self) -> Option<MergeRung> {
        self.files.iter().filter_map(|file| file.merged).max()
    }

    /// Returns who accepted it.
    pub fn consent(&self) -> Consent {
        self.consent
    }
}

impl Proposal {
    /// Returns the same choice for every hunk, to be changed one by one: what [`Decision::new`] takes.
    pub fn choices(&self, choice: Choice) -> Vec<FileDecision> {
        self.files.iter().map(|f| FileDecision { hunks: vec![choice; f.hunks.len()], edited: None }).collect()
    }

    /// Returns the place of a hunk: `src/cart.rs:50-52`.
    pub fn place(&self, file: usize, hunk: usize) -> String {
        let Some(file) = self.files.get(file) else { return String::new() };
        match file.hunks.get(hunk) {
            Some(hunk) if hunk.kind == HunkKind::Lines && hunk.before.len() > 1 => {
                format!("{}:{}-{}", file.path, hunk.before.start + 1, hunk.before.end)
            }
            Some(hunk) if hunk.kind == HunkKind::Lines => format!("{}:{}", file.path, hunk.before.start + 1),
            _ => file.path.clone(),
        }
    }

    /// Joins the proposal with a decision; `None` where nothing is accepted. Files without an accepted hunk drop out;
    /// in the others refused hunks keep the lines of before, byte for byte.
    ///
    /// # Errors
    /// When the decision does not fit the proposal's shape, or splits a move or the repository.
    pub fn decide(&self, decision: &Decision) -> Result<Option<Decided>, DecisionError> {
        let files = self.decided_files(decision)?;
        let consent = decision.consent.filter(|_| !files.is_empty());
        Ok(consent.map(|consent| Decided { files, merged: Vec::new(), consent }))
    }

    /// Returns the files that a decision would write, whether or not anybody consents to it.
    ///
    /// # Errors
    /// As [`Proposal::decide`].
    pub fn decided_files(&self, decision: &Decision) -> Result<Vec<DecidedFile>, DecisionError> {
        if decision.files.len() != self.files.len() {
            return Err(DecisionError::Shape);
        }
        self.check_repository(decision)?;
        let mut files = Vec::new();
        for (change, said) in self.files.iter().zip(&decision.files) {
            if said.hunks.len() != change.hunks.len() {
                return Err(DecisionError::Shape);
            }
            self.check_move(change, said, decision)?;
            if let Some(after) = result(change, said) {
                files.push(DecidedFile {
                    path: change.path.clone(),
                    before: change.before.clone(),
                    folders: if after.is_absent() { change.folders.clone() } else { Vec::new() },
                    merged: change.merged,
                    restores: change.restores,
                    moved: change.moved.clone(),
                    after,
                });
            }
        }
        Ok(files)
    }

    fn check_repository(&self, decision: &Decision) -> Result<(), DecisionError> {
        let files = self.files.iter().zip(&decision.files).filter(|(change, _)| change.restores_repository());
        let mut said = files.flat_map(|(_, said)| &said.hunks);
        let first = said.next();
        if said.all(|choice| Some(choice) == first) { Ok(()) } else { Err(DecisionError::HalfRepository) }
    }

    fn check_move(&self, change: &FileChange, said: &FileDecision, decision: &Decision) -> Result<(), DecisionError> {
        let Some(other) = &change.moved else { return Ok(()) };
        let Some(i) = self.files.iter().position(|f| &f.path == other) else { return Ok(()) };
        if decision.files[i].hunks.first() == said.hunks.first() {
            Ok(())
        } else {
            Err(DecisionError::HalfMove(change.path.clone()))
        }
    }
}

/// Returns the state a file gets, or none when it stays as it is.
fn result(change: &FileChange, said: &FileDecision) -> Option<State> {
    let mode_refused =
        change.hunks.iter().zip(&said.hunks).any(|(h, c)| h.kind == HunkKind::Mode && *c == Choice::Reject);
    let mode = match if mode_refused { &change.before } else { &change.after } {
        State::File { mode, .. } => *mode,
        _ => None,
    };
    if let Some(edited) = &said.edited {
        return Some(State::File { bytes: edited.clone(), mode });
    }
    if said.hunks.iter().all(|c| *c == Choice::Reject) {
        return None;
    }
    if said.hunks.iter().all(|c| *c == Choice::Accept) {
        return Some(change.after.clone());
    }
    keep(change, &said.hunks).map(|bytes| State::File { bytes, mode })
}

/// Returns the after-bytes with refused hunks as they were before; `None` where a state is no file.
pub(super) fn keep(change: &FileChange, choices: &[Choice]) -> Option<Arc<[u8]>> {
    let (old, new) = (change.before.bytes()?, change.after.bytes()?);
    let about_bytes = || change.hunks.iter().zip(choices).filter(|(h, _)| h.kind != HunkKind::Mode);
    if about_bytes().all(|(_, c)| *c == Choice::Accept) {
        return Some(new.clone());
    }
    if about_bytes().all(|(_, c)| *c == Choice::Reject) {
        return Some(old.clone());
    }
    let (old, new) = (lines(old)?, lines(new)?);
    let mut bytes = Vec::new();
    let mut at = 0;
    for (hunk, choice) in about_bytes() {
        bytes.extend_from_slice(&old[at..hunk.before.start].concat());
        let lines = match choice {
            Choice::Accept => &new[hunk.after.clone()],
            Choice::Reject => &old[hunk.before.clone()],
        };
        bytes.extend_from_slice(&lines.concat());
        at = hunk.before.end;
    }
    bytes.extend_from_slice(&old[at..].concat());
    Some(bytes.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proposal::ProposalId;

    #[test]
    fn the_two_ends_of_a_move_are_decided_together() {
        let text = State::file(&b"text\n"[..]);
        let files = FileChange::moved("from", "to", text.clone(), text, "test", &[]).into();
        let proposal = Proposal { id: ProposalId(1), title: String::new(), files };
        let accepted = proposal.decide(&Decision::accept(&proposal, Consent::Person)).expect("whole");
        assert_eq!(accepted.expect("accepted").consent(), Consent::Person);
        assert_eq!(proposal.decide(&Decision::refuse(&proposal)), Ok(None));
        for half in 0..2 {
            let mut files = proposal.choices(Choice::Accept);
            files[half].hunks[0] = Choice::Reject;
            let decision = Decision::new(files, Consent::Person);
            assert!(matches!(proposal.decide(&decision), Err(DecisionError::HalfMove(_))));
        }
        let short = Decision::new(proposal.choices(Choice::Accept)[..1].to_vec(), Consent::Person);
        assert_eq!(proposal.decide(&short), Err(DecisionError::Shape));
    }

    #[test]
    fn the_repository_is_restored_whole_or_not_at_all() {
        let file = |path: &str| {
            let states = ["now\n", "then\n"].map(|text| State::file(text.as_bytes()));
            let [now, then] = states;
            FileChange { restores: true, ..FileChange::new(path, now, then, "undo", &[]) }
        };
        let files = vec![file("a"), file(".git/HEAD"), file(".git/refs/heads/main")];
        let proposal = Proposal { id: ProposalId(1), title: String::new(), files };
        let decided = |refused: &[usize]| {
            let mut files = proposal.choices(Choice::Accept);
            refused.iter().for_each(|at| files[*at].hunks.fill(Choice::Reject));
            let decided = proposal.decide(&Decision::new(files, Consent::Person));
            decided.map(|decided| decided.expect("accepted").files().len())
        };
        assert_eq!((decided(&[]), decided(&[0]), decided(&[1, 2])), (Ok(3), Ok(2), Ok(1)));
        assert_eq!(
            (decided(&[1]), decided(&[0, 2])),
            (Err(DecisionError::HalfRepository), Err(DecisionError::HalfRepository))
        );
    }

    #[test]
    fn a_refusal_by_anyone_comes_to_nothing() {
        let file = FileChange::new("a", State::Absent, State::file(&b"text\n"[..]), "test", &[]);
        let proposal = Proposal { id: ProposalId(1), title: String::new(), files: vec![file] };
        let decision = Decision::new(proposal.choices(Choice::Reject), Consent::Flag("--yes"));
        assert_eq!(proposal.decide(&decision), Ok(None));
    }
}
