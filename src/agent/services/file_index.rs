//! The index behind `@`: made when files are first asked for, brought up to date by the watch.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::workspace::Workspace;
use crate::workspace::find::Files;

/// The workspace's files for completion.
#[derive(Default)]
pub struct FileIndex {
    state: Mutex<IndexState>,
}

#[derive(Default)]
struct IndexState {
    /// None until it was asked for.
    files: Option<Arc<Files>>,
    /// The walk that fills it was begun.
    walked: bool,
    /// The words that files were asked for with the last time.
    words: Option<String>,
}

impl FileIndex {
    /// Returns the index; empty until it is walked.
    pub fn files(&self) -> Arc<Files> {
        Arc::clone(self.state().files.get_or_insert_with(|| Arc::new(Files::new())))
    }

    /// Returns whether the walk that fills the index was begun before; the caller begins it, else.
    pub fn was_requested(&self) -> bool {
        let mut state = self.state();
        state.files.get_or_insert_with(|| Arc::new(Files::new()));
        std::mem::replace(&mut state.walked, true)
    }

    /// Returns whether files were asked for with the same words the last time.
    pub fn asks_again(&self, words: &str) -> bool {
        let last = self.state().words.replace(words.to_string());
        last.as_deref() == Some(words)
    }

    /// Takes up changed paths, if there is an index.
    pub fn update(&self, workspace: &Workspace, paths: &[String]) {
        let files = self.state().files.clone();
        if let Some(files) = files {
            files.update(workspace, paths);
        }
    }

    /// Returns whether files were ever asked for, so that somebody may look at a list of them.
    pub fn is_used(&self) -> bool {
        self.state().files.is_some()
    }

    /// Forgets the index: it is walked again when it is asked for.
    pub fn forget(&self) {
        let mut state = self.state();
        (state.files, state.walked) = (None, false);
    }

    fn state(&self) -> MutexGuard<'_, IndexState> {
        // Both values are replaced whole: a panic elsewhere leaves nothing half done.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_forgotten_index_is_walked_again_though_an_answer_looked_at_it_first() {
        let index = FileIndex::default();
        assert!(!index.was_requested());
        assert!(index.was_requested());
        index.forget();
        // An answer that was under way makes an empty one.
        drop(index.files());
        assert!(!index.was_requested());
    }
}
