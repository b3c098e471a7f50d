//! The marks that a pane gives to its frame: the mark of its tab, and what its proposal waits for.

use crate::proposal::ProposalId;

/// The mark that the tab of a hidden pane shows after its title.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    /// Something runs.
    Running,
    /// Something waits for the person.
    Waiting,
}

/// The things that the pending proposal waits for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Waiting {
    /// The proposal.
    pub id: ProposalId,
    /// Undecided hunks.
    pub undecided: usize,
    /// Hunks in all.
    pub hunks: usize,
    /// Proposals that wait behind it.
    pub behind: usize,
}
