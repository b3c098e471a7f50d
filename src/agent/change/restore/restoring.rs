//! The course of a restore, from its plan until it was decided or another took its place.

use tokio_util::sync::CancellationToken;

use crate::agent::change::execute_proposal::ProposalResult;
use crate::agent::session::context::SessionContext;
use crate::messages::{agent as say, records};
use crate::protocol::{Level, Outcome};

/// The state of a restore.
#[derive(Clone, Default)]
pub struct RestoreCourse {
    /// It is withdrawn.
    pub stop: CancellationToken,
    /// Another one took its place.
    replaced: CancellationToken,
    /// It has ended.
    pub done: CancellationToken,
}

/// A restore on its way to the person.
pub struct Restoring {
    own: RestoreCourse,
    /// The restores that were begun before it.
    earlier: Vec<RestoreCourse>,
}

impl Restoring {
    /// Creates one that replaces no other.
    pub fn new(stop: CancellationToken) -> Restoring {
        Restoring { own: RestoreCourse { stop, ..RestoreCourse::default() }, earlier: Vec::new() }
    }

    /// Creates one that takes the place of `earlier` ones once it has a proposal.
    pub fn after(earlier: Vec<RestoreCourse>, own: RestoreCourse) -> Restoring {
        Restoring { own, earlier }
    }

    /// Returns what withdraws it.
    pub fn stop(&self) -> &CancellationToken {
        &self.own.stop
    }

    /// Takes the place of those that wait: this one has a proposal.
    pub async fn replace(&self) {
        for course in &self.earlier {
            course.replaced.cancel();
            course.stop.cancel();
            course.done.cancelled().await;
        }
    }

    /// Tells that another one took its place, where that is how it ended.
    pub async fn tell_replaced(&self, context: &SessionContext, result: &ProposalResult, title: &str) {
        if matches!(result.outcome, Outcome::Withdrawn) && self.own.replaced.is_cancelled() {
            context.say(Level::Info, say::replaced(&records::cause(title)), say::nothing_changed()).await;
        }
    }
}
