//! Stopping a command that runs.

use super::{OwnCommand, Tools};
use crate::messages::tools as say;
use crate::protocol::Command;
use crate::tui::msg::PaneEffect;

impl Tools {
    /// Returns the newest command of the person's own that runs and is no job.
    pub fn own_command(&self) -> Option<OwnCommand<'_>> {
        self.jobs.own()
    }

    /// Stops a command, and says which.
    pub(super) fn stop_command(&self) -> Vec<PaneEffect> {
        let Some(id) = self.jobs.to_stop(self.selected_id()) else { return Vec::new() };
        vec![PaneEffect::send(Command::StopCommand(id.to_string())), PaneEffect::Say(say::stopping(&id))]
    }
}
