//! The hidden stage between this program and a server: it asks to be ended with this program, then becomes the server.

use std::ffi::{OsStr, OsString};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, ExitCode};

use rustix::process::{getpid, getppid};

/// The hidden name under which the program is the stage.
const NAME: &str = "__language-server";
/// The exit code of a program that cannot be run.
const NOT_RUN: u8 = 127;

/// Returns the command that becomes a server and ends with this process, however that ends.
pub(super) fn command(stage: &Path, server: &Path) -> Command {
    let mut command = Command::new(stage);
    command.arg(NAME).arg(getpid().as_raw_nonzero().to_string()).arg(server);
    command
}

/// Becomes the server where the program was started as its stage; it comes back only where that failed.
pub fn main() -> Option<ExitCode> {
    let mut arguments = std::env::args_os().skip(1);
    if arguments.next().as_deref() != Some(OsStr::new(NAME)) {
        return None;
    }
    let (parent, server) = (arguments.next().unwrap_or_default(), arguments.next().unwrap_or_default());
    let failed = become_server(&parent, &server, arguments);
    // Nobody reads it where the parent is gone.
    let _ = std::io::Write::write_all(&mut std::io::stderr(), format!("{failed}\n").as_bytes());
    Some(ExitCode::from(NOT_RUN))
}

fn become_server(parent: &OsStr, server: &OsStr, arguments: impl Iterator<Item = OsString>) -> std::io::Error {
    #[cfg(target_os = "linux")]
    if let Err(error) = rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL)) {
        return error.into();
    }
    // One that ended before the signal was asked for sends none.
    let now = getppid().map(|parent| parent.as_raw_nonzero().to_string()).unwrap_or_default();
    if parent != OsStr::new(&now) {
        return std::io::Error::other("the program that asked for it is gone");
    }
    Command::new(server).args(arguments).exec()
}
