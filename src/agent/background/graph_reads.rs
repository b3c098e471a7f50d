//! The readings for the graph of definitions, which stop when nobody waits for them any more, and what they found in source
//! files: while the graph is open a file that has not changed is read once.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use tokio_util::sync::CancellationToken;

use crate::agent::services::lock;
use crate::protocol::{DefinitionRow, Query};
use crate::workspace::Stamp;

/// Definitions that are kept at most, of all files together; files beyond them are read each time.
const KEPT: usize = 200_000;

/// The readings for the graph.
#[derive(Default)]
pub struct GraphReads {
    now: Mutex<ReadStops>,
    outlines: Mutex<Outlines>,
}

/// A source file as the list shows it.
pub struct FileOutline {
    /// The reason why it is not read whole.
    pub fault: Option<DefinitionRow>,
    /// Its definitions, in order.
    pub definitions: Vec<DefinitionRow>,
}

#[derive(Default)]
struct Outlines {
    of: HashMap<String, (Stamp, Arc<FileOutline>)>,
    definitions: usize,
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

    /// Stops everything and forgets what was found: the graph is not shown any more.
    pub fn leave(&self) {
        std::mem::take(&mut *lock(&self.now)).all.cancel();
        *lock(&self.outlines) = Outlines::default();
    }

    /// Returns the outline of a file that is still the one of this stamp.
    pub fn outline(&self, path: &str, stamp: Stamp) -> Option<Arc<FileOutline>> {
        let outlines = lock(&self.outlines);
        let (of, outline) = outlines.of.get(path)?;
        (*of == stamp).then(|| Arc::clone(outline))
    }

    /// Keeps the outline of a file as it was at this stamp, which was taken before it was read, unless the reading was
    /// stopped meanwhile.
    pub fn keep(&self, path: &str, stamp: Stamp, outline: Arc<FileOutline>, stop: &CancellationToken) {
        let mut outlines = lock(&self.outlines);
        let held = outlines.of.get(path).map_or(0, |(_, before)| before.definitions.len());
        let definitions = outlines.definitions - held + outline.definitions.len();
        if !stop.is_cancelled() && definitions <= KEPT {
            outlines.definitions = definitions;
            outlines.of.insert(path.to_owned(), (stamp, outline));
        }
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
