//! A request for a command, and the reasons why one may not start.

use std::sync::Arc;

use super::message::HoldSettings;
use super::run::RunningCommand;
use super::sandbox::Grant;
use super::scan::ScanError;
use super::terminal::Terminal;
use super::view::View;
use crate::proposal::Consent;

/// The longest text of a command, in bytes.
pub const LONGEST: usize = 64 << 10;

/// A command to run.
#[derive(Debug, Clone)]
pub struct CommandRequest {
    /// Its text.
    pub text: String,
    /// The folder it runs in, as given; none: where the last one left off.
    pub folder: Option<String>,
    /// The grants of its sandbox.
    pub grant: Grant,
    /// The consent that lets it run.
    pub consent: Consent,
    /// The view that it runs in; none: it runs in the workspace itself.
    pub view: Option<Arc<View>>,
    /// The calls that wait for the person; none: nobody is asked.
    pub holds: Option<HoldSettings>,
    /// The terminal that it reads from and prints to; none: it prints into a pipe.
    pub terminal: Option<Arc<Terminal>>,
    /// Without a terminal it reads what this program's standard input holds, else nothing.
    pub input: bool,
}

/// The reason why a command was not started. Nothing was run.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The request is invalid.
    #[error("{0}")]
    Refused(String),
    /// The kernel has no guard for it.
    #[error("the command was not run: there is no guard here: {0}")]
    NoGuard(String),
    /// The kernel has no sandbox for it.
    #[error("the command was not run: there is no sandbox here: {0}")]
    NoSandbox(String),
    /// No view works for it.
    #[error("the command was not run: there is no preview here: {0}")]
    NoView(String),
    /// The trial of the sandbox could not be made.
    #[error("the command was not run: it could not be tried whether there is a sandbox here: {0}")]
    Untried(String),
    /// Its states could not be kept.
    #[error(transparent)]
    Unkept(#[from] ScanError),
    /// The archive has no place for them.
    #[error("the command was not run: {0}")]
    Archive(#[from] crate::archive::Error),
    /// The helper did not start.
    #[error("the command was not run: its helper did not start: {0}")]
    Helper(std::io::Error),
}

impl StartError {
    /// Returns whether it shows that something does not work here which a command was judged by: judged anew, it is not.
    pub fn shows_what_works(&self) -> bool {
        matches!(
            self,
            StartError::NoGuard(_)
                | StartError::NoSandbox(_)
                | StartError::NoView(_)
                | StartError::Unkept(ScanError::TooLarge(_))
        )
    }
}

/// Checks a command's text.
///
/// # Errors
/// When it is empty, too long or holds a NUL.
pub fn check_text(text: &str) -> Result<(), String> {
    match text {
        text if text.trim().is_empty() => Err("command is empty".into()),
        text if text.len() > LONGEST => Err("too long: write it into a file as a script, then run that".into()),
        text if text.contains('\0') => Err("command holds a NUL".into()),
        _ => Ok(()),
    }
}

/// Returns a command that began to run as it was to, or why it did not.
pub(super) fn begun(running: RunningCommand) -> Result<RunningCommand, StartError> {
    let (no_guard, no_sandbox, no_view) = {
        let progress = running.progress();
        (progress.no_guard.clone(), progress.no_sandbox.clone(), progress.no_view.clone())
    };
    match (no_guard, no_sandbox, no_view) {
        (Some(why), ..) => Err(StartError::NoGuard(why)),
        (_, Some(why), _) => Err(StartError::NoSandbox(why)),
        (.., Some(why)) => Err(StartError::NoView(why)),
        (None, None, None) => Ok(running),
    }
}
