//! The pseudo-terminal of a person's own command: what is typed goes to it, and what it prints comes from it.
//!
//! The second stage leads a session of its own on it, so that Ctrl-C there reaches the command alone, and the helper,
//! which has to outlive it, is not hung up with it.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::process::{Command, Stdio};

use rustix::fs::{CWD, FileType, Mode, OFlags, fcntl_getfl, fstat};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{
    OptionalActions, Termios, Winsize, isatty, tcgetattr, tcgetpgrp, tcgetwinsize, tcsetattr, tcsetwinsize,
};

use super::message::Start;

/// The size of a terminal that does not tell its own, in columns and rows.
const USUAL: (u16, u16) = (80, 24);

/// The controlling end of a pseudo-terminal.
#[derive(Debug)]
pub struct Terminal(File);

impl Terminal {
    /// Opens one of this size, in columns and rows.
    ///
    /// # Errors
    /// When the system has none to give.
    pub fn open(size: (u16, u16)) -> io::Result<Self> {
        let controller = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC)?;
        grantpt(&controller)?;
        unlockpt(&controller)?;
        let terminal = Terminal(controller.into());
        terminal.resize(size)?;
        Ok(terminal)
    }

    /// Sets its size, in columns and rows. The command is told with SIGWINCH.
    ///
    /// # Errors
    /// Whatever the system says.
    pub fn resize(&self, (columns, rows): (u16, u16)) -> io::Result<()> {
        let size = Winsize { ws_col: columns, ws_row: rows, ws_xpixel: 0, ws_ypixel: 0 };
        Ok(tcsetwinsize(&self.0, size)?)
    }

    /// Types into it.
    ///
    /// # Errors
    /// When nothing of the command is left that could read it.
    pub fn write_all(&self, bytes: &[u8]) -> io::Result<()> {
        (&self.0).write_all(bytes)
    }

    /// Returns the end to read from what is printed, and the one that the command gets.
    ///
    /// # Errors
    /// Whatever the system says.
    pub fn ends(&self) -> io::Result<(OwnedFd, OwnedFd)> {
        let name = ptsname(&self.0, Vec::new())?;
        let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
        Ok((self.0.try_clone()?.into(), rustix::fs::openat(CWD, name, flags, Mode::empty())?))
    }
}

/// A terminal of the person's without echo and line editing, until this is dropped: each key comes as it is typed.
#[derive(Debug)]
pub struct RawMode(Termios);

impl RawMode {
    /// Sets it for the terminal that is standard input.
    ///
    /// # Errors
    /// When it is none.
    pub fn begin() -> io::Result<Self> {
        let before = tcgetattr(rustix::stdio::stdin())?;
        let mut raw = before.clone();
        raw.make_raw();
        tcsetattr(rustix::stdio::stdin(), OptionalActions::Now, &raw)?;
        Ok(RawMode(before))
    }
}

impl Drop for RawMode {
    fn drop(&mut self) {
        // A terminal that is gone needs no mode.
        let _ = tcsetattr(rustix::stdio::stdin(), OptionalActions::Now, &self.0);
    }
}

/// Returns whether keys typed into the terminal that is standard input come to this process: a shell's job in the
/// background would be stopped for reading them.
pub fn has_keys() -> bool {
    tcgetpgrp(rustix::stdio::stdin()).is_ok_and(|group| group == rustix::process::getpgrp())
}

/// Returns the size of the terminal that is standard input, in columns and rows; a usual one where it tells none.
pub fn person_size() -> (u16, u16) {
    let size = tcgetwinsize(rustix::stdio::stdin()).ok().map(|size| (size.ws_col, size.ws_row));
    size.filter(|(columns, rows)| *columns > 0 && *rows > 0).unwrap_or(USUAL)
}

/// Makes this process the leader of a session whose terminal is its output, where the command has one.
///
/// # Errors
/// Whatever the system says.
pub fn lead(start: &Start) -> io::Result<()> {
    if start.terminal {
        rustix::process::setsid()?;
        rustix::process::ioctl_tiocsctty(rustix::stdio::stdout())?;
    }
    Ok(())
}

/// Gives a command what it reads: its terminal, what the person gave for it, or nothing.
///
/// # Errors
/// Whatever the system says.
pub fn connect(command: &mut Command, start: &Start) -> io::Result<()> {
    let output = || rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stdout(), 3);
    match (start.terminal, start.input) {
        (true, _) => command.stdin(output()?),
        (false, true) => command.stdin(rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stderr(), 3)?).stderr(output()?),
        (false, false) => command.stdin(Stdio::null()),
    };
    Ok(())
}

/// Returns whether standard input holds something for a command: it is no terminal.
///
/// # Errors
/// When a command could write through it, past every keeper.
pub fn has_input() -> io::Result<bool> {
    let input = rustix::stdio::stdin();
    let kind = FileType::from_raw_mode(fstat(input)?.st_mode);
    let is_read_only = fcntl_getfl(input)? & OFlags::RWMODE == OFlags::RDONLY;
    match kind {
        FileType::RegularFile if !is_read_only => Err(io::Error::other("it is open for writing too")),
        FileType::RegularFile | FileType::Fifo | FileType::Socket => Ok(true),
        FileType::CharacterDevice | FileType::BlockDevice => Ok(is_read_only && !isatty(input)),
        _ => Ok(false),
    }
}
