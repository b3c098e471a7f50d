//! The decisions so far about each hunk of a pending proposal.

use std::collections::HashMap;
use std::sync::Arc;

use crate::messages::{diff as say, review};
use crate::proposal::{
    Choice, Consent, Decision, FileChange, FileDecision, Hunk, HunkCount, HunkKind, Proposal, ProposalId, State,
};
use crate::protocol::{ProposalTest, UNDO};

/// The decisions so far. Files and hunks are named by their places in the proposal.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Choices {
    files: Vec<FileChoices>,
    /// Nothing waits to be decided any more.
    withdrawn: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct FileChoices {
    /// One a hunk, as the file is shown.
    hunks: Vec<Option<Choice>>,
    /// The file as the person edited it: its hunks stand in place of those proposed.
    edited: Option<Edited>,
    /// The files that are decided with it: the other end of a move, or all of the repository, which share one list.
    tied: Arc<[usize]>,
    /// True if these files are all of the repository, which is one hunk in the place of the first.
    is_unit: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Edited {
    change: FileChange,
    /// True for each hunk that the editor made or changed.
    fresh: Vec<bool>,
}

/// The decision on a hunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// Nothing was said.
    Undecided,
    /// It will be written.
    Accepted,
    /// It will not.
    Rejected,
    /// It will be written as the person edited it.
    Edited,
    /// It was withdrawn with its proposal.
    Withdrawn,
}

impl Standing {
    /// Returns the word on the hunk line of what was done already.
    pub fn reviewed_word(self) -> &'static str {
        match self {
            Standing::Accepted | Standing::Edited => review::keep(),
            Standing::Rejected => review::restore(),
            Standing::Undecided => review::undecided(),
            Standing::Withdrawn => say::withdrawn(),
        }
    }

    /// Returns the word on the hunk line.
    pub fn word(self) -> &'static str {
        match self {
            Standing::Undecided => say::undecided(),
            Standing::Accepted => say::accepted(),
            Standing::Rejected => say::rejected(),
            Standing::Edited => say::edited(),
            Standing::Withdrawn => say::withdrawn(),
        }
    }
}

/// The numbers of a file and of a hunk in it.
type HunkPlace = (usize, usize);

/// Returns the places of the hunks of a proposal that another has, too, each with its place there. Of hunks that are alike
/// in one file each is itself only where none of them came or went.
fn same_hunks(from: &Proposal, to: &Proposal) -> HashMap<HunkPlace, HunkPlace> {
    let mut same = HashMap::new();
    let places = places(from);
    for (f, file) in to.files.iter().enumerate() {
        let Some(&of) = places.get(file.path.as_str()) else { continue };
        let other = &from.files[of];
        let states = |file: &FileChange| (file.before.clone(), file.after.clone(), file.unit.clone());
        if states(file) == states(other) {
            same.extend((0..file.hunks.len().min(other.hunks.len())).map(|h| ((f, h), (of, h))));
            continue;
        }
        let theirs = by_lines(other);
        for (lines, own) in by_lines(file) {
            let alike = theirs.get(&lines).filter(|alike| alike.len() == own.len());
            same.extend(own.iter().zip(alike.into_iter().flatten()).map(|(h, theirs)| ((f, *h), (of, *theirs))));
        }
    }
    same
}

/// Returns the places of the files of a proposal by their paths.
fn places(proposal: &Proposal) -> HashMap<&str, usize> {
    proposal.files.iter().enumerate().rev().map(|(f, file)| (file.path.as_str(), f)).collect()
}

/// Returns the hunks of a text by the lines that they take away and those that they bring.
fn by_lines(file: &FileChange) -> HashMap<[Vec<&[u8]>; 2], Vec<usize>> {
    let (before, after) = (lines(&file.before), lines(&file.after));
    let mut hunks: HashMap<_, Vec<usize>> = HashMap::new();
    for (h, hunk) in file.hunks.iter().enumerate().filter(|(_, hunk)| hunk.kind == HunkKind::Lines) {
        let lines = [before.get(hunk.before.clone()), after.get(hunk.after.clone())];
        hunks.entry(lines.map(|part| part.unwrap_or_default().to_vec())).or_default().push(h);
    }
    hunks
}

fn lines(state: &State) -> Vec<&[u8]> {
    let bytes = state.bytes().map_or(&[][..], |bytes| bytes);
    bytes.split_inclusive(|byte| *byte == b'\n').collect()
}

impl Choices {
    /// Creates choices with nothing said yet.
    pub fn of(proposal: &Proposal) -> Self {
        let places = places(proposal);
        let place = |path: &String| places.get(path.as_str()).copied();
        let files = proposal.files.iter();
        let repository: Arc<[usize]> =
            files.clone().enumerate().filter(|(_, file)| file.restores_repository()).map(|(at, _)| at).collect();
        let files = files.map(|f| FileChoices {
            hunks: vec![None; f.hunks.len()],
            edited: None,
            is_unit: f.restores_repository(),
            tied: match f.restores_repository() {
                true => Arc::clone(&repository),
                false => f.moved.as_ref().and_then(place).into_iter().collect(),
            },
        });
        Choices { files: files.collect(), withdrawn: false }
    }

    /// Returns the choices for a proposal that is shown in the place of another, and the hunk in it that is the one at a
    /// place, or the nearest in its file. What is the same in both stays decided.
    pub fn carried(&self, (from, to): (&Proposal, &Proposal), at: HunkPlace) -> (Self, Option<HunkPlace>) {
        let mut carried = Choices::of(to);
        let same = same_hunks(from, to);
        for ((f, h), (of, own)) in &same {
            let choice = self.files.get(*of).and_then(|file| file.hunks.get(*own).copied()).flatten();
            carried.files[*f].hunks[*h] = choice;
        }
        let near = || {
            let path = &from.files.get(at.0)?.path;
            let f = to.files.iter().position(|file| file.path == *path)?;
            Some((f, at.1.min(to.files[f].hunks.len().checked_sub(1)?)))
        };
        let exact = same.into_iter().find(|(_, of)| *of == at).map(|(own, _)| own);
        (carried, exact.or_else(near))
    }

    /// Returns the decision on a hunk.
    pub fn standing(&self, file: usize, hunk: usize) -> Standing {
        if self.withdrawn {
            return Standing::Withdrawn;
        }
        let Some(f) = self.files.get(file) else { return Standing::Undecided };
        let fresh = f.edited.as_ref().is_some_and(|e| e.fresh.get(hunk) == Some(&true));
        match f.hunks.get(hunk).copied().flatten() {
            Some(Choice::Accept) if fresh => Standing::Edited,
            Some(Choice::Accept) => Standing::Accepted,
            Some(Choice::Reject) => Standing::Rejected,
            None => Standing::Undecided,
        }
    }

    /// Says `choice` of a hunk, and of what is decided with it.
    pub fn set(&mut self, file: usize, hunk: usize, choice: Choice) {
        let Some(f) = self.files.get_mut(file) else { return };
        if let Some(h) = f.hunks.get_mut(hunk) {
            *h = Some(choice);
        }
        for other in Arc::clone(&f.tied).iter().copied() {
            self.files[other].hunks.fill(Some(choice));
        }
    }

    /// Accepts all hunks of which nothing was said.
    pub fn accept_rest(&mut self) {
        for hunk in self.files.iter_mut().flat_map(|f| &mut f.hunks) {
            *hunk = hunk.or(Some(Choice::Accept));
        }
    }

    /// Accepts all hunks of `visible` of which nothing was said and that a policy may approve; of what is decided together all or
    /// nothing.
    pub fn accept_by_policy(&mut self, visible: &Proposal) {
        let personal = |f: &FileChange| f.hunks.iter().any(|hunk| f.needs_person(hunk).is_some());
        let personal: Vec<bool> = visible.files.iter().map(personal).collect();
        // The files of a repository share one list, which is looked through once.
        let mut lists: HashMap<*const [usize], bool> = HashMap::new();
        for (at, (choices, file)) in self.files.iter_mut().zip(&visible.files).enumerate() {
            let tied = &choices.tied;
            let any = || tied.iter().any(|other| personal.get(*other) == Some(&true));
            if !tied.is_empty() && (personal[at] || *lists.entry(Arc::as_ptr(tied)).or_insert_with(any)) {
                continue;
            }
            for (hunk, of_file) in choices.hunks.iter_mut().zip(&file.hunks) {
                let accepts = file.needs_person(of_file).is_none();
                *hunk = hunk.or(accepts.then_some(Choice::Accept));
            }
        }
    }

    /// Notes that the proposal waits no more and nothing of it is written.
    pub fn withdraw(&mut self) {
        self.withdrawn = true;
    }

    /// Rejects everything; edits are dropped, as `proposal` had it.
    pub fn refuse_all(&mut self, proposal: &Proposal) {
        for (f, file) in self.files.iter_mut().zip(&proposal.files) {
            f.edited = None;
            f.hunks = vec![Some(Choice::Reject); file.hunks.len()];
        }
    }

    /// Rejects file `file` as it was proposed; an edit of it is dropped.
    pub fn refuse(&mut self, file: usize, proposed: &FileChange) {
        if let Some(f) = self.files.get_mut(file) {
            f.edited = None;
            f.hunks = vec![Some(Choice::Reject); proposed.hunks.len()];
            for other in Arc::clone(&f.tied).iter().copied() {
                self.files[other].hunks.fill(Some(Choice::Reject));
            }
        }
    }

    /// Accepts every hunk of a restore, which is what the person asked for, but for what was changed outside nebula.
    pub fn accept_restored(&mut self, proposal: &Proposal) {
        let is_foreign_unit = proposal.files.iter().any(|file| file.foreign && file.restores_repository());
        let is_own = |file: &FileChange| match file.restores_repository() {
            true => !is_foreign_unit,
            false => !file.foreign,
        };
        for (choices, file) in self.files.iter_mut().zip(&proposal.files) {
            if file.by == UNDO && is_own(file) {
                choices.hunks.fill(Some(Choice::Accept));
            }
        }
    }

    /// Returns the hunks that are shown, of each file.
    fn visible(&self) -> impl Iterator<Item = (usize, &[Option<Choice>])> {
        self.files.iter().enumerate().map(|(at, f)| match f.is_unit {
            false => (at, f.hunks.as_slice()),
            true if f.tied.first() == Some(&at) => (at, f.hunks.get(..1).unwrap_or_default()),
            true => (at, &[][..]),
        })
    }

    /// Takes a file as the person edited it, `before` which it was shown. Hunks that the editor left alone stand as
    /// they stood; the others are accepted.
    pub fn edit(&mut self, file: usize, before: &FileChange, change: FileChange) {
        let Some(f) = self.files.get_mut(file) else { return };
        let was = |hunk: &Hunk| before.hunks.iter().position(|old| is_same(before, old, &change, hunk));
        let old: Vec<Option<usize>> = change.hunks.iter().map(was).collect();
        let known = f.edited.as_ref().map(|e| e.fresh.clone()).unwrap_or_default();
        let fresh = old.iter().map(|at| at.is_none_or(|at| known.get(at) == Some(&true))).collect();
        let stood = |at: &Option<usize>| match at {
            Some(at) => f.hunks.get(*at).copied().flatten(),
            None => Some(Choice::Accept),
        };
        f.hunks = old.iter().map(stood).collect();
        f.edited = Some(Edited { change, fresh });
    }

    /// Returns the state of a file without the hunks that were rejected; none: none was.
    pub fn wanted(&self, file: usize, change: &FileChange) -> Option<State> {
        let hunks: Vec<Choice> =
            self.files.get(file)?.hunks.iter().map(|hunk| hunk.unwrap_or(Choice::Accept)).collect();
        match hunks.iter().filter(|choice| **choice == Choice::Reject).count() {
            0 => None,
            n if n == hunks.len() => Some(change.before.clone()),
            _ => decided_with(change, &hunks),
        }
    }

    /// Returns accepted and rejected hunks, and the undecided ones.
    pub fn count(&self) -> (HunkCount, usize) {
        let (mut n, mut open) = (HunkCount::default(), 0);
        for hunk in self.visible().flat_map(|(_, hunks)| hunks) {
            match hunk {
                Some(Choice::Accept) => n.accepted += 1,
                Some(Choice::Reject) => n.rejected += 1,
                None => open += 1,
            }
        }
        (n, open)
    }

    /// Hunks in all.
    pub fn total(&self) -> usize {
        self.visible().map(|(_, hunks)| hunks.len()).sum()
    }

    /// Returns the first undecided hunk at or after this one, going round.
    pub fn next_undecided(&self, file: usize, hunk: usize) -> Option<(usize, usize)> {
        let all = self.visible().flat_map(|(f, hunks)| hunks.iter().enumerate().map(move |(h, s)| (f, h, s)));
        let open: Vec<(usize, usize)> = all.filter(|(_, _, s)| s.is_none()).map(|(f, h, _)| (f, h)).collect();
        open.iter().find(|at| **at >= (file, hunk)).or(open.first()).copied()
    }

    /// Returns what would be written of `proposal` as things stand: what is undecided counts as accepted.
    pub fn expected(&self, proposal: &Proposal) -> Decision {
        let mut whole = self.clone();
        whole.accept_rest();
        Decision::expected(whole.decision(proposal).files().to_vec())
    }

    /// Returns whether the same would be written as by other choices, where what is undecided counts as accepted.
    pub fn writes_as(&self, other: &Choices) -> bool {
        let choice = |hunk: &Option<Choice>| hunk.unwrap_or(Choice::Accept);
        let is_same = |(own, other): (&FileChoices, &FileChoices)| {
            own.edited == other.edited && own.hunks.iter().map(choice).eq(other.hunks.iter().map(choice))
        };
        self.files.len() == other.files.len() && self.files.iter().zip(&other.files).all(is_same)
    }

    /// Returns what to tell the agent about `proposal`; what is undecided counts as rejected.
    pub fn decision(&self, proposal: &Proposal) -> Decision {
        let files = self.files.iter().zip(&proposal.files).map(|(f, proposed)| f.decision(proposed));
        Decision::new(files.collect(), Consent::Person)
    }
}

impl FileChoices {
    fn decision(&self, proposed: &FileChange) -> FileDecision {
        let hunks: Vec<Choice> = self.hunks.iter().map(|h| h.unwrap_or(Choice::Reject)).collect();
        let Some(Edited { change, fresh }) = &self.edited else { return FileDecision { hunks, edited: None } };
        let mine = hunks.iter().zip(fresh).any(|(choice, fresh)| *fresh && *choice == Choice::Accept);
        // A hunk of the proposal that the editor changed goes with what it was changed into.
        let choice = |hunk: &Hunk| match change.hunks.iter().position(|h| is_same(proposed, hunk, change, h)) {
            Some(at) => hunks[at],
            None if mine => Choice::Accept,
            None => Choice::Reject,
        };
        let edited = if mine { text_with(change, &hunks) } else { None };
        FileDecision { hunks: proposed.hunks.iter().map(choice).collect(), edited }
    }
}

/// Returns whether two hunks of two changes of one file are the same: the same lines before become the same lines.
pub fn is_same(a: &FileChange, x: &Hunk, b: &FileChange, y: &Hunk) -> bool {
    let becomes = |change: &FileChange, hunk: &Hunk| -> Vec<u8> {
        let bytes = change.after.bytes().cloned().unwrap_or_default();
        bytes
            .split_inclusive(|b| *b == b'\n')
            .skip(hunk.after.start)
            .take(hunk.after.len())
            .flatten()
            .copied()
            .collect()
    };
    x.kind == y.kind && x.before == y.before && becomes(a, x) == becomes(b, y)
}

/// Returns the text of a file when these hunks of it are chosen.
fn text_with(change: &FileChange, hunks: &[Choice]) -> Option<Arc<[u8]>> {
    decided_with(change, hunks)?.bytes().cloned()
}

/// Returns the state of a file when these hunks of it are chosen: its text and its permissions.
fn decided_with(change: &FileChange, hunks: &[Choice]) -> Option<State> {
    if hunks.iter().all(|choice| *choice == Choice::Accept) {
        return Some(change.after.clone());
    }
    let file = FileChange { moved: None, ..change.clone() };
    let proposal = Proposal { id: ProposalId(0), title: String::new(), files: vec![file] };
    let said = vec![FileDecision { hunks: hunks.to_vec(), edited: None }];
    let decided = proposal.decide(&Decision::new(said, Consent::Person)).ok().flatten()?;
    Some(decided.files().first()?.after().clone())
}

/// Returns a file without one hunk of a change: as if that alone had been rejected.
pub fn without(change: &FileChange, hunk: usize) -> State {
    if change.hunks.len() < 2 {
        return change.before.clone();
    }
    let choices: Vec<Choice> =
        (0..change.hunks.len()).map(|i| if i == hunk { Choice::Reject } else { Choice::Accept }).collect();
    decided_with(change, &choices).unwrap_or_else(|| change.before.clone())
}

/// The last test of a proposal.
#[derive(Debug)]
pub struct LastTest {
    /// Its course or result; none: there was none.
    pub result: Option<ProposalTest>,
    /// The choices that it ran with; the first one runs with everything as proposed.
    pub choices: Choices,
    /// A file of the proposal changed on disk since it began.
    pub changed_since: bool,
}

impl LastTest {
    /// Makes it of a proposal that was not tested yet, with the choices as it is proposed.
    pub fn new(choices: Choices) -> Self {
        LastTest { result: None, choices, changed_since: false }
    }
}
