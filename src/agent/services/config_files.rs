//! The configuration while the process runs: its values now, and its files.

use std::sync::{Arc, Mutex, MutexGuard};

use crate::agent::services::locked::lock;
use crate::config::Config;
use crate::context::model_class::is_small;

/// The configuration as it was at the start, with what was set since.
pub struct ConfigFiles {
    now: Mutex<Config>,
    /// Held while the files change.
    changing: Mutex<()>,
}

impl ConfigFiles {
    /// Takes the configuration that was read at the start.
    pub fn new(config: Config) -> Self {
        ConfigFiles { now: Mutex::new(config), changing: Mutex::default() }
    }

    /// Returns the values now. What holds them holds up everyone else.
    pub fn read(&self) -> MutexGuard<'_, Config> {
        lock(&self.now)
    }

    /// Returns whether a model is asked for edits as text.
    pub fn writes_text(&self, model: &str) -> bool {
        is_small(model) || self.read().text_use(model).is_some()
    }

    /// Changes the configuration and its files. For blocking code alone: it waits for the disk, while others go on with
    /// the configuration as it was.
    pub fn change<T>(&self, change: impl FnOnce(&mut Config) -> T) -> T {
        let _changing = lock(&self.changing);
        let mut config = self.read().clone();
        let done = change(&mut config);
        *lock(&self.now) = config;
        done
    }

    /// Changes the configuration as [`ConfigFiles::change`] does, on a thread that may wait. `None`: it panicked.
    pub async fn change_on_a_thread<T: Send + 'static>(
        self: &Arc<Self>,
        change: impl FnOnce(&mut Config) -> T + Send + 'static,
    ) -> Option<T> {
        let files = Arc::clone(self);
        tokio::task::spawn_blocking(move || files.change(change)).await.ok()
    }
}
