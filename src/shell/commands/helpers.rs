//! The helpers of a session's commands.

use std::io;

use super::{CommandRequest, Commands, WaitingHelper};

impl Commands {
    /// Sets whether more commands are expected soon, so that [`Commands::get_ready`] is of use.
    pub fn expect(&self, is_expected: bool) {
        self.next_helper.expect(is_expected);
    }

    /// Starts the helper of the next command, where one is expected: most of the time until a shell runs is the start of
    /// its helper.
    pub fn get_ready(&self) {
        self.next_helper.get_ready(&self.shell.program);
    }

    /// Returns the helper of a command: the one that waits, where the command prints into a pipe and reads nothing.
    ///
    /// # Errors
    /// When none can be started.
    pub(super) fn helper(&self, request: &CommandRequest, input: bool) -> io::Result<WaitingHelper> {
        let is_plain = request.terminal.is_none() && !input;
        match is_plain.then(|| self.next_helper.take()).flatten() {
            Some(helper) => Ok(helper),
            None => WaitingHelper::start(&self.shell.program, request.terminal.as_deref(), input),
        }
    }
}
