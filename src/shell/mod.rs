//! Commands that can be undone: a shell whose changes are kept before they happen. Synchronous; what sealing writes to
//! memory is done by its caller.
//!
//! A command runs below a helper (this program under a hidden name), which knows every process of it and ends them all.
//! A keeper stages the states before into `.shaft/commands`; sealing makes a changeset of them, which is undone like
//! any other.

pub mod class;
mod commands;
#[cfg(target_os = "linux")]
mod confine;
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
mod terminal;
mod tree;
mod view;

pub use commands::{Commands, MOST_JOBS, ShellCommand};
pub use env::Environment;
pub use host::{Keeper, PreviewWhen, Shell, ShellSettings};
pub use message::{Exit, Hold, HoldAnswer, HoldReason, HoldSettings, ShellState, Stopped, Summary};
pub use output::{TestSummary, summarise_test};
pub use places::{CopyLimits, PathClass, PathClasses, PlaceSettings};
pub use probe::Offered;
pub use report::{
    CommandReport, SCANNED, SealResult, WRITES_FURTHER, exit_words, files as changed_files, files_of_view,
    refused_caches, with_moves,
};
pub use request::{CommandRequest, LONGEST, StartError, check_text};
pub use run::{CommandProgress, OutputReader, RunningCommand};
pub use sandbox::{Grant, SandboxSettings, private};
pub use scan::ScanError;
pub use terminal::{RawMode, Terminal, has_input, has_keys, person_size};
pub use view::{TooMuch, View, ViewChanges, sweep as sweep_views};

use std::time::Duration;

use crate::archive::staging::{CommandStaging, CutOff};
use crate::archive::{Archive, Error};
use scan::Scan;

/// Gives memory back to the system that a program at rest does not need: what was freed and is kept for later, and the
/// mapping of its code, which stays in the kernel's cache of files and is mapped again where it runs next.
pub fn rest() {
    #[cfg(target_os = "linux")]
    {
        guard::trim_memory();
        guard::release_code();
    }
}

/// Runs as a helper of a command where the program was started as one, under a hidden name.
pub fn helper_main() -> Option<std::process::ExitCode> {
    helper::main()
}

/// Returns the commands that were cut off, oldest first: what they changed is in their staging folders, ready to be
/// sealed. One whose helper still ends it is waited for, no longer than `patience`.
///
/// # Errors
/// When the staging folders cannot be listed.
pub fn cut_off(shell: &Shell, patience: Duration) -> Result<CutOff, Error> {
    let mut cut = shell.archive.cut_off(patience)?;
    // What cannot be looked at now stays staged, for the next start to look at.
    cut.found.retain_mut(|(staging, info)| info.keeper != Keeper::Scan.word() || look_after(shell, staging).is_ok());
    Ok(cut)
}

fn look_after(shell: &Shell, staging: &mut CommandStaging) -> Result<(), ScanError> {
    match Scan::take_up(&shell.archive, staging) {
        Ok(scan) => scan.after(&shell.places(), staging).map(drop),
        // It was killed before it was looked at, and so before the command ran.
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
        Err(source) => Err(ScanError::Io { path: staging.folder().to_path_buf(), source }),
    }
}

/// Removes the copies of files that no command needs any more.
pub fn sweep(archive: &Archive) {
    if let Ok(_lock) = archive.lock() {
        // What stays is removed the next time.
        let _ = scan::sweep(archive);
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use std::os::unix::fs::FileExt;

    /// Constants that nothing else touches, nor the pages beside their middle.
    static CONSTANTS: [u8; 1 << 18] = [7; 1 << 18];

    /// Returns whether the page with this byte is mapped, as the kernel tells it.
    fn is_mapped(byte: &u8) -> bool {
        let maps = std::fs::read_to_string("/proc/self/smaps").expect("the mappings of this process");
        let size = maps.lines().find_map(|line| line.strip_prefix("KernelPageSize:")?.trim().strip_suffix(" kB"));
        let page = std::ptr::from_ref(byte).addr() / (size.expect("a size").parse::<usize>().expect("a number") << 10);
        let mut entry = [0; 8];
        let pages = std::fs::File::open("/proc/self/pagemap").expect("the pages of this process");
        pages.read_exact_at(&mut entry, page as u64 * 8).expect("an entry for each page");
        u64::from_ne_bytes(entry) >> 63 == 1
    }

    #[test]
    fn what_a_rest_gives_back_is_there_again_when_it_is_touched() {
        let constants = std::hint::black_box(&CONSTANTS);
        let middle = constants.len() / 2;
        let touch = || std::hint::black_box(constants[middle]) == 7;
        assert!(touch() && is_mapped(&constants[middle]));
        rest();
        assert!(!is_mapped(&constants[middle]), "it is given back");
        assert!(touch() && is_mapped(&constants[middle]));
    }
}
