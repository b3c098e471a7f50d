//! The second stage of a helper: it takes its rights away from itself, hands the waiting end of its filter to the
//! helper, and becomes the shell.

use std::ffi::OsStr;
use std::io::{self, BufReader, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode, Stdio};

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags,
    recvmsg, sendmsg,
};
use rustix::process::Signal;

use super::guard;
use super::message::{Start, receive, send};

/// The hidden name under which the program is the second stage.
pub const NAME: &str = "__stage";
/// The byte that accompanies the descriptor, or precedes the reason why there is none.
const HERE: u8 = b'+';
const FAILED: u8 = b'-';
/// The longest reason.
const REASON: usize = 512;

/// Becomes the shell where the program was started as a second stage; it comes back only where that failed.
pub fn main() -> Option<ExitCode> {
    let mut arguments = std::env::args_os().skip(1);
    if arguments.next().as_deref() != Some(OsStr::new(NAME)) {
        return None;
    }
    let control = match io::stdin().as_fd().try_clone_to_owned() {
        Ok(control) => UnixStream::from(control),
        Err(_) => return Some(ExitCode::from(125)),
    };
    let error = become_shell(&control);
    // Before the filter is handed over the helper listens; after that nobody does, and the code says so.
    let _ = tell(&control, FAILED, &error.to_string(), None);
    Some(ExitCode::from(126))
}

fn become_shell(control: &UnixStream) -> io::Error {
    let prepared = prepare(control);
    let start = match prepared {
        Ok(start) => start,
        Err(error) => return error,
    };
    let mut command = Command::new(&start.shell);
    command.args(&start.arguments).arg(&start.text).current_dir(&start.folder).stdin(Stdio::null());
    command.env_clear().envs(start.variables.iter().map(|(name, value)| (name, value)));
    command.exec()
}

fn prepare(control: &UnixStream) -> io::Result<Start> {
    let start: Start = receive(&mut BufReader::new(control))?.ok_or(io::ErrorKind::UnexpectedEof)?;
    // Without its helper nothing it would change could be kept.
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
    rustix::thread::set_no_new_privs(true)?;
    let listener = guard::install()?;
    tell(control, HERE, "", Some(&listener))?;
    Ok(start)
}

fn tell(control: &UnixStream, what: u8, why: &str, listener: Option<&OwnedFd>) -> io::Result<()> {
    let text: Vec<u8> = std::iter::once(what).chain(why.bytes().take(REASON - 1)).collect();
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut ancillary = SendAncillaryBuffer::new(&mut space);
    let descriptors: Vec<_> = listener.iter().map(|listener| listener.as_fd()).collect();
    if !descriptors.is_empty() {
        ancillary.push(SendAncillaryMessage::ScmRights(&descriptors));
    }
    sendmsg(control, &[IoSlice::new(&text)], &mut ancillary, SendFlags::empty())?;
    Ok(())
}

/// What the helper does with a second stage that it has started: tells it what to become, and gets the waiting end.
///
/// # Errors
/// Why there is none.
pub fn take_listener(control: &UnixStream, start: &Start) -> io::Result<OwnedFd> {
    send(&mut &*control, start)?;
    let mut text = [0; REASON];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut ancillary = RecvAncillaryBuffer::new(&mut space);
    let got = recvmsg(control, &mut [IoSliceMut::new(&mut text)], &mut ancillary, RecvFlags::CMSG_CLOEXEC)?;
    let listener = ancillary.drain().find_map(|message| match message {
        RecvAncillaryMessage::ScmRights(mut descriptors) => descriptors.next(),
        _ => None,
    });
    let why = || match text[..got.bytes].split_first() {
        Some((_, why)) => io::Error::other(String::from_utf8_lossy(why).into_owned()),
        None => io::Error::from(io::ErrorKind::UnexpectedEof),
    };
    listener.ok_or_else(why)
}
