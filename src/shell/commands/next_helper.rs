//! The helper of the next command of a turn. It gets ready while the model reads what the last one printed.

use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;

use crate::shell::run::WaitingHelper;

/// A helper that no command has yet, as long as one is expected.
#[derive(Default)]
pub(super) struct NextHelper(Mutex<HelperState>);

#[derive(Default)]
struct HelperState {
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
        let is_missing = |state: &HelperState| state.is_expected && state.helper.is_none();
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

    fn state(&self) -> MutexGuard<'_, HelperState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_helper_waits_while_a_command_is_expected_and_one_that_has_ended_is_none() {
        // One reads its orders to their end, as a helper does; the other does not.
        let (waits, ends) = (Path::new("grep"), Path::new("true"));
        let next = NextHelper::default();
        next.get_ready(waits);
        assert!(next.take().is_none(), "none is expected");
        next.expect(true);
        next.get_ready(waits);
        next.get_ready(waits);
        assert!(next.take().is_some_and(|helper| helper.is_waiting()));
        assert!(next.take().is_none());
        next.get_ready(ends);
        while next.state().helper.as_ref().is_some_and(WaitingHelper::is_waiting) {
            std::thread::yield_now();
        }
        assert!(next.take().is_none(), "it has ended");
        next.get_ready(waits);
        next.expect(false);
        assert!(next.take().is_none(), "none is expected any more");
    }
}
