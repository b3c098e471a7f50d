//! The helper of the next command of a turn. It gets ready while the model reads what the last one printed.

use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;

use super::WaitingHelper;

/// A helper that no command has yet, as long as one is expected.
#[derive(Default)]
pub(super) struct NextHelper(Mutex<Expected>);

#[derive(Default)]
struct Expected {
    is_expected: bool,
    helper: Option<WaitingHelper>,
}

impl NextHelper {
    /// Sets whether more commands are expected. Where none is, the helper ends.
    pub fn expect(&self, is_expected: bool) {
        let helper = {
            let mut state = self.state();
            state.is_expected = is_expected;
            state.helper.take_if(|_| !is_expected)
        };
        if let Some(helper) = helper {
            // Its end is waited for.
            thread::spawn(move || drop(helper));
        }
    }

    /// Starts one where a command is expected and none waits. Where that fails, the command says so that needs it.
    pub fn get_ready(&self, program: &Path) {
        let is_missing = |state: &Expected| state.is_expected && state.helper.is_none();
        if !is_missing(&self.state()) {
            return;
        }
        let Ok(helper) = WaitingHelper::start(program, None, false) else { return };
        let mut state = self.state();
        let spare = match is_missing(&state) {
            true => state.helper.replace(helper),
            false => Some(helper),
        };
        drop(state);
        drop(spare);
    }

    /// Takes the one that waits; none: there is none, or it has ended.
    pub fn take(&self) -> Option<WaitingHelper> {
        self.state().helper.take().filter(WaitingHelper::is_waiting)
    }

    fn state(&self) -> MutexGuard<'_, Expected> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
