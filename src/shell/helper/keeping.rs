//! The states that a helper keeps for its command: where, what is asked of the person, and what is noted at the end.

use std::path::Path;
use std::thread;

#[cfg(target_os = "linux")]
use super::Event;
use super::{Helper, TICK};
use crate::archive::staging::{CommandStaging, note_over};
#[cfg(target_os = "linux")]
use crate::shell::guard;
use crate::shell::message::{HelperReport, HoldAnswer};
use crate::shell::scan::note_repository;
#[cfg(target_os = "linux")]
use crate::shell::tree;

impl Helper {
    /// Keeps states in another staging folder from now on. What is open for writing is kept again at once.
    #[cfg(target_os = "linux")]
    pub(super) fn switch(&mut self, folder: &Path) {
        let Some(serving) = self.serving.clone() else { return };
        let Some(keeping) = serving.keeping else { return };
        let mut summary = {
            let mut keeping = guard::lock(&keeping);
            // Opened only now: while it was waited for, the folder may have gone. Without an answer nebula seals nothing.
            let Ok(staging) = CommandStaging::open(folder) else { return };
            let summary = keeping.switch(staging);
            keeping.end_call();
            for path in tree::open_for_writing() {
                // The call that opened it is over: there is nothing to refuse.
                let _ = keeping.write(&guard::named(path.clone()).unwrap_or(path), false);
            }
            keeping.keep_under_way();
            summary
        };
        self.staging = Some(folder.to_path_buf());
        serving.network.inspect(|network| network.add_to(&mut summary));
        self.tell(&HelperReport::Switched(folder.to_path_buf(), Box::new(summary)));
    }

    #[cfg(not(target_os = "linux"))]
    pub(super) fn switch(&mut self, _folder: &Path) {}

    /// Looks at a call again that was decided about, in a thread of its own: a large file takes seconds to copy, and the
    /// command can be ended meanwhile.
    #[cfg(target_os = "linux")]
    pub(super) fn decide(&mut self, id: u64, answer: HoldAnswer) {
        let (serving, to) = (self.serving.clone(), self.to.clone());
        thread::spawn(move || {
            let others = serving.map(|serving| guard::decide(&serving, id, answer)).unwrap_or_default();
            for over in [id].into_iter().chain(others) {
                let _ = to.send(Event::HoldOver(over));
            }
        });
    }

    #[cfg(not(target_os = "linux"))]
    pub(super) fn decide(&mut self, _id: u64, _answer: HoldAnswer) {}

    /// Lets the calls that wait fail: their command is being ended.
    #[cfg(target_os = "linux")]
    pub(super) fn refuse_held(&mut self) {
        let waiting = self.serving.as_ref().map(|serving| serving.held.waiting()).unwrap_or_default();
        waiting.into_iter().for_each(|id| self.decide(id, HoldAnswer::Nobody));
    }

    #[cfg(not(target_os = "linux"))]
    pub(super) fn refuse_held(&mut self) {}

    /// Tells of the calls that do not wait any more, as their processes are gone.
    #[cfg(target_os = "linux")]
    pub(super) fn forget_gone(&mut self) {
        let gone = self.serving.as_ref().map(|serving| serving.held.forget_gone()).unwrap_or_default();
        gone.into_iter().for_each(|id| self.tell(&HelperReport::HoldOver(id)));
    }

    #[cfg(not(target_os = "linux"))]
    pub(super) fn forget_gone(&mut self) {}

    /// Looks which paths the command has left.
    #[cfg(target_os = "linux")]
    pub(super) fn look_for_left(&self) {
        let keeping = self.serving.as_ref().and_then(|serving| serving.keeping.as_ref());
        keeping.inspect(|keeping| guard::lock(keeping).look_for_left());
    }

    #[cfg(not(target_os = "linux"))]
    pub(super) fn look_for_left(&self) {}

    /// Notes in the staging folder that the command is over, where nebula is gone. The folder is let go once the clock of
    /// the file system went on: what is written then is later.
    pub(super) fn note_over(&self) {
        if let Some(folder) = self.staging.as_ref().filter(|_| self.is_alone) {
            // What is not noted counts as the command's.
            if let Some(root) = folder.ancestors().nth(3).filter(|_| !self.is_guarded())
                && let Ok(mut staging) = CommandStaging::open(folder)
            {
                note_repository(root, &mut staging);
            }
            let _ = note_over(folder);
            thread::sleep(TICK);
        }
    }

    /// Returns whether the guard keeps the states.
    #[cfg(target_os = "linux")]
    fn is_guarded(&self) -> bool {
        self.serving.as_ref().is_some_and(|serving| serving.keeping.is_some())
    }

    #[cfg(not(target_os = "linux"))]
    fn is_guarded(&self) -> bool {
        false
    }

    #[cfg(target_os = "linux")]
    pub(super) fn summarise(&mut self) {
        let Some(serving) = &self.serving else { return };
        let guarded = serving.keeping.as_ref().map(|keeping| {
            let mut keeping = guard::lock(keeping);
            keeping.look_over();
            if self.is_alone {
                keeping.stage_left();
            }
            keeping.summary()
        });
        let mut summary = guarded.unwrap_or_default();
        serving.network.as_ref().inspect(|network| network.add_to(&mut summary));
        self.tell(&HelperReport::Summary(Box::new(summary)));
    }

    #[cfg(not(target_os = "linux"))]
    pub(super) fn summarise(&mut self) {}
}
