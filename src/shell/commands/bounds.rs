//! The paths of a command's sandbox.

use std::path::Path;

use super::{CommandRequest, Commands, StartError};
use crate::shell::sandbox::{Bounds, Grant, Surroundings, bounds};

impl Commands {
    /// Returns the paths of a command's sandbox, which ends at its view where it has one.
    pub(super) fn bounds_of(&self, request: &CommandRequest) -> Result<Option<Bounds>, StartError> {
        let mut bounds = self.bounds(request.grant)?;
        if request.view.is_some() {
            // What lies outside the view would be changed for good.
            let bounds = bounds.as_mut().ok_or_else(|| StartError::NoView("commands run in no sandbox".into()))?;
            bounds.keep_to_view();
        }
        Ok(bounds)
    }

    /// Returns the paths of a command's sandbox; none: commands run in none here.
    fn bounds(&self, grant: Grant) -> Result<Option<Bounds>, StartError> {
        if let Some(why) = self.shell.unknown_sandbox() {
            return Err(StartError::Untried(why));
        }
        if !self.shell.has_sandbox() {
            return Ok(None);
        }
        let temporary =
            self.temporary().map_err(|why| StartError::Refused(format!("the command was not run: {why}")))?;
        Ok(Some(self.bounds_around(grant, temporary)))
    }

    /// Returns the bounds that the guard alone knows of; none: there is a sandbox, which has them.
    pub(super) fn guard_bounds(&self, grant: Grant) -> Option<Bounds> {
        // Without a folder for temporary files there is none that is the command's own.
        let temporary = || self.temporary().unwrap_or(self.shell.workspace.root());
        (!self.shell.has_sandbox()).then(|| self.bounds_around(grant, temporary()))
    }

    fn bounds_around(&self, grant: Grant, temporary: &Path) -> Bounds {
        let around = Surroundings {
            root: self.shell.workspace.root(),
            folders: self.shell.workspace.folders(),
            temporary,
            since: self.since,
            own: self.shell.own.as_deref(),
            variables: self.shell.environment.all(),
        };
        bounds(grant, &self.shell.sandbox_settings(), &around)
    }
}
