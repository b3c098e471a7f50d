//! What was said so far of each hunk of a pending proposal.

use std::sync::Arc;

use crate::proposal::{Choice, Consent, Decision, FileDecision, HunkCount, Proposal};

/// The decisions so far. Files and hunks are named by their places in the proposal.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Choices {
    files: Vec<FileChoices>,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct FileChoices {
    hunks: Vec<Option<Choice>>,
    edited: Option<Arc<[u8]>>,
    /// The other end of a move.
    tied: Option<usize>,
}

/// How a hunk stands.
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
}

impl Standing {
    /// The word on the hunk line.
    pub fn word(self) -> &'static str {
        match self {
            Standing::Undecided => "undecided",
            Standing::Accepted => "accepted",
            Standing::Rejected => "rejected",
            Standing::Edited => "edited",
        }
    }
}

impl Choices {
    /// Nothing said yet.
    pub fn of(proposal: &Proposal) -> Self {
        let place = |path: &String| proposal.files.iter().position(|f| &f.path == path);
        let files = proposal.files.iter();
        let files = files.map(|f| FileChoices {
            hunks: vec![None; f.hunks.len()],
            edited: None,
            tied: f.moved.as_ref().and_then(place),
        });
        Choices { files: files.collect() }
    }

    /// How a hunk stands.
    pub fn standing(&self, file: usize, hunk: usize) -> Standing {
        let Some(f) = self.files.get(file) else { return Standing::Undecided };
        match (&f.edited, f.hunks.get(hunk).copied().flatten()) {
            (Some(_), _) => Standing::Edited,
            (None, Some(Choice::Accept)) => Standing::Accepted,
            (None, Some(Choice::Reject)) => Standing::Rejected,
            (None, None) => Standing::Undecided,
        }
    }

    /// Says `choice` of a hunk, and of the other end of a move. Refusing an edited file drops the edit, and says so
    /// by `true`: the file is shown as proposed again.
    pub fn set(&mut self, file: usize, hunk: usize, choice: Choice) -> bool {
        let Some(f) = self.files.get_mut(file) else { return false };
        let dropped = choice == Choice::Reject && f.edited.take().is_some();
        if dropped {
            f.hunks.fill(Some(Choice::Reject));
        } else if let Some(h) = f.hunks.get_mut(hunk) {
            *h = Some(choice);
        }
        let tied = f.tied;
        if let Some(other) = tied.and_then(|t| self.files.get_mut(t)) {
            other.hunks.fill(Some(choice));
        }
        dropped
    }

    /// Says `choice` of all hunks of which nothing was said.
    pub fn fill(&mut self, choice: Choice) {
        for hunk in self.files.iter_mut().flat_map(|f| &mut f.hunks) {
            *hunk = hunk.or(Some(choice));
        }
    }

    /// Refuses everything, edits too.
    pub fn refuse_all(&mut self) {
        for f in &mut self.files {
            f.edited = None;
            f.hunks.fill(Some(Choice::Reject));
        }
    }

    /// Accepts every hunk of file `file`.
    pub fn accept(&mut self, file: usize) {
        if let Some(f) = self.files.get_mut(file) {
            f.hunks.fill(Some(Choice::Accept));
        }
    }

    /// Takes the text of a file as the person edited it: accepted as a whole.
    pub fn edit(&mut self, file: usize, text: Arc<[u8]>) {
        if let Some(f) = self.files.get_mut(file) {
            f.hunks.fill(Some(Choice::Accept));
            f.edited = Some(text);
        }
    }

    /// Accepted and rejected hunks, and the undecided ones.
    pub fn count(&self) -> (HunkCount, usize) {
        let (mut n, mut open) = (HunkCount::default(), 0);
        for hunk in self.files.iter().flat_map(|f| &f.hunks) {
            match hunk {
                Some(Choice::Accept) => n.accepted += 1,
                Some(Choice::Reject) => n.rejected += 1,
                None => open += 1,
            }
        }
        (n, open)
    }

    /// The first undecided hunk at or after this one, going round.
    pub fn next_undecided(&self, file: usize, hunk: usize) -> Option<(usize, usize)> {
        let all =
            self.files.iter().enumerate().flat_map(|(f, c)| c.hunks.iter().enumerate().map(move |(h, s)| (f, h, s)));
        let open: Vec<(usize, usize)> = all.filter(|(_, _, s)| s.is_none()).map(|(f, h, _)| (f, h)).collect();
        open.iter().find(|at| **at >= (file, hunk)).or(open.first()).copied()
    }

    /// What to tell the agent; what is undecided counts as refused.
    pub fn decision(&self, reason: Option<String>, for_session: bool) -> Decision {
        let files = self.files.iter();
        let files = files.map(|f| FileDecision {
            hunks: f.hunks.iter().map(|h| h.unwrap_or(Choice::Reject)).collect(),
            edited: f.edited.clone(),
        });
        let mut decision = Decision::new(files.collect(), Consent::Person);
        (decision.reason, decision.for_session) = (reason, for_session);
        decision
    }
}
