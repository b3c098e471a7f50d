//! Whether the guard works here: tried, not read from versions.

use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use super::commands::{CommandRequest, Commands, Keeper, Shell};
use super::run::CommandProgress;
use crate::archive::staging::CommandInfo;
use crate::archive::{Archive, ArchiveSettings};
use crate::workspace::Workspace;

/// How long it may take.
const PATIENCE: Duration = Duration::from_secs(10);
/// The probe's text: a file is made, renamed and removed, and the archive is accessed.
const TEXT: &str = "echo x > a && mv a b && rm b; rm -rf .shaft; exit 0";

impl Shell {
    /// Returns the keeper of commands' states here, and why it is not the guard. The first call tries the guard.
    pub fn keeper(&self) -> (Keeper, Option<String>) {
        match self.guard.get_or_init(|| probe(self)) {
            Ok(()) => (Keeper::Guard, None),
            Err(why) => (Keeper::Scan, Some(why.clone())),
        }
    }
}

/// Runs a command under the guard in a folder of its own.
fn probe(shell: &Shell) -> Result<(), String> {
    let words = |error: &dyn std::fmt::Display| error.to_string();
    let folder = tempfile::tempdir().map_err(|e| words(&e))?;
    let workspace = Workspace::open(folder.path()).map_err(|e| words(&e))?;
    let archive = Archive::open(&workspace, &ArchiveSettings::default()).map_err(|e| words(&e))?;
    let own = Shell {
        workspace,
        archive,
        places: shell.places.clone(),
        environment: shell.environment.clone(),
        logs: None,
        program: shell.program.clone(),
        guard: OnceLock::new(),
    };
    let commands = Commands::new(Arc::new(own), "probe");
    let request = CommandRequest { text: TEXT.into(), folder: None };
    let command = commands.begin(&request, Keeper::Guard, CommandInfo::default(), None).map_err(|e| words(&e))?;
    if !command.running.wait(Some(Instant::now() + PATIENCE), CommandProgress::is_over) {
        command.running.stop();
        return Err("it does not end".into());
    }
    let failed = command.running.progress().failed.clone();
    if let Some(why) = failed {
        return Err(why);
    }
    let kept = command.kept_paths();
    match ["a", "b"].iter().all(|path| kept.iter().any(|kept| kept == path)) {
        true => Ok(()),
        false => Err("the paths of calls cannot be read".into()),
    }
}
