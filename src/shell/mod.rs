//! Commands that can be undone: a shell whose changes are kept before they happen. Synchronous; what sealing writes to
//! memory is done by its caller.
//!
//! A command runs below a helper (this program under a hidden name), which knows every process of it and ends them all.
//! A keeper stages the states before into `.shaft/commands`; sealing makes a changeset of them, which is undone like
//! any other.

pub mod class;
mod commands;
mod env;
#[cfg(target_os = "linux")]
mod guard;
mod helper;
mod host;
mod left;
mod message;
pub mod output;
mod places;
mod probe;
mod report;
mod request;
mod run;
mod sandbox;
mod scan;
#[cfg(target_os = "linux")]
mod stage;
mod tree;
mod view;

pub use commands::{Commands, MOST_JOBS, ShellCommand};
pub use env::Environment;
pub use host::{Keeper, PreviewWhen, Shell, ShellSettings};
pub use message::{Exit, ShellState, Summary};
pub use output::{TestSummary, summarise_test};
pub use places::{CopyLimits, PathClass, PathClasses, PlaceSettings};
pub use probe::Offered;
pub use report::{CommandReport, SCANNED, SealResult, Stopped, files_of_view};
pub use request::{CommandRequest, LONGEST, StartError, check_text};
pub use run::{CommandProgress, RunningCommand};
pub use sandbox::{Grant, SandboxSettings};
pub use scan::ScanError;
pub use view::{TooMuch, View, ViewChanges, sweep as sweep_views};

use crate::archive::staging::{CommandStaging, CutOff};
use crate::archive::{Archive, Error};
use scan::Scan;

/// Gives freed memory back to the system, where the allocator would keep it for later.
pub fn trim_memory() {
    #[cfg(target_os = "linux")]
    guard::trim_memory();
}

/// Runs as a helper of a command where the program was started as one, under a hidden name.
pub fn helper_main() -> Option<std::process::ExitCode> {
    #[cfg(target_os = "linux")]
    if let Some(code) = stage::main() {
        return Some(code);
    }
    helper::main()
}

/// Returns the commands that were cut off, oldest first: what they changed is in their staging folders, ready to be
/// sealed.
///
/// # Errors
/// When the staging folders cannot be listed.
pub fn cut_off(shell: &Shell) -> Result<CutOff, Error> {
    let mut cut = shell.archive.cut_off()?;
    // What cannot be looked at now stays staged, for the next start to look at.
    cut.found.retain_mut(|(staging, info)| info.keeper != Keeper::Scan.word() || look_after(shell, staging).is_ok());
    Ok(cut)
}

fn look_after(shell: &Shell, staging: &mut CommandStaging) -> Result<(), ScanError> {
    match Scan::take_up(shell.archive.home(), staging) {
        Ok(scan) => scan.after(&shell.places(), staging),
        // It was killed before it was looked at, and so before the command ran.
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
        Err(source) => Err(ScanError::Io { path: staging.folder().to_path_buf(), source }),
    }
}

/// Removes the copies of files that no command needs any more.
pub fn sweep(archive: &Archive) {
    if let Ok(_lock) = archive.lock() {
        // There may be none.
        let _ = scan::sweep(archive.home());
    }
}
