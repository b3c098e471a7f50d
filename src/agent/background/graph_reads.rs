//! The readings for the graph of definitions, which stop when nobody waits for them any more.

use std::sync::Mutex;

use tokio_util::sync::CancellationToken;

use crate::agent::services::lock;
use crate::protocol::Query;

/// The readings for the graph.
#[derive(Default)]
pub struct GraphReads {
    now: Mutex<ReadStops>,
}

#[derive(Default)]
struct ReadStops {
    /// Everything that is read.
    all: CancellationToken,
    /// The list, of which there is one at a time.
    list: CancellationToken,
}

impl GraphReads {
    /// Returns what stops the answer to a question. A new list stops the one before.
    pub fn begin(&self, query: &Query) -> CancellationToken {
        let mut now = lock(&self.now);
        let stop = now.all.child_token();
        if matches!(query, Query::Graph { .. }) {
            std::mem::replace(&mut now.list, stop.clone()).cancel();
        }
        stop
    }

    /// Stops everything: the graph is not shown any more.
    pub fn leave(&self) {
        std::mem::take(&mut *lock(&self.now)).all.cancel();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_list_stops_the_one_before_and_leaving_stops_all_that_was_asked_until_then() {
        let (reads, list) = (GraphReads::default(), Query::Graph { filter: String::new(), limit: 1 });
        let (first, one) = (reads.begin(&list), reads.begin(&Query::Definition("a.rs::f".into())));
        let second = reads.begin(&list);
        assert!(first.is_cancelled() && !one.is_cancelled() && !second.is_cancelled());
        reads.leave();
        assert!(one.is_cancelled() && second.is_cancelled());
        assert!(!reads.begin(&list).is_cancelled());
    }
}
