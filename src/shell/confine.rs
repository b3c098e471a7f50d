//! The second stage of a helper: a copy of it that takes its rights away from itself, hands the waiting end of its filter
//! to the helper, and becomes the shell.

use std::io::{self, IoSlice, IoSliceMut, Read as _, Write as _};
use std::mem::MaybeUninit;
use std::net::Shutdown;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags,
    recvmsg, sendmsg,
};
use rustix::process::{Pid, Signal, WaitOptions};

use super::message::Start;
use super::{guard, sandbox, terminal, view};
use crate::disk;

/// The byte with which the helper says that it answers.
const GO: u8 = b'.';
/// The byte that accompanies the descriptor, or precedes the reason why there is none.
const HERE: u8 = b'+';
const FAILED: u8 = b'-';
/// The byte before the reason why there is no sandbox.
const UNBOUNDED: u8 = b'!';
/// The byte before the reason why there is no view.
const UNSEEN: u8 = b'?';
/// The byte before the reason where the machine lacked something in passing.
const SHORT: u8 = b'=';
/// The longest reason.
const REASON: usize = 512;

/// Becomes the shell, in a copy of the helper, once the helper says that it answers its calls.
pub fn run(control: &UnixStream, start: &mut Start) -> ! {
    let failure = become_shell(control, start);
    let (what, why) = match &failure {
        Failure::Guard(why) | Failure::Sandbox(why) | Failure::View(why) if disk::is_shortage(why) => {
            (SHORT, why.to_string())
        }
        Failure::Guard(why) => (FAILED, why.to_string()),
        Failure::Sandbox(why) => (UNBOUNDED, why.to_string()),
        Failure::View(why) => (UNSEEN, why.to_string()),
        Failure::Passing(why) => (SHORT, why.clone()),
    };
    // Before the filter is handed over the helper listens; after that it looks once this process is over.
    let _ = tell(control, what, &why, None);
    std::process::exit(126)
}

/// The reason why there is no second stage. Nothing was run.
#[derive(Debug)]
pub enum Failure {
    /// The filter, or all else.
    Guard(io::Error),
    /// The sandbox.
    Sandbox(io::Error),
    /// The view.
    View(io::Error),
    /// A failure that says nothing of what works here: it was killed, or the machine lacked something.
    Passing(String),
}

impl Failure {
    /// Returns the failure of a second stage, which ends as nobody listens to it any more.
    pub fn of(self, control: &UnixStream, stage: Pid) -> Failure {
        let _ = control.shutdown(Shutdown::Both);
        let ended = rustix::process::waitpid(Some(stage), WaitOptions::empty()).ok().flatten();
        let signal = ended.and_then(|(_, status)| status.terminating_signal());
        match self {
            _ if signal == Some(Signal::KILL.as_raw()) => Failure::Passing("its second stage was killed".into()),
            failure => failure,
        }
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        if disk::is_shortage(&error) { Failure::Passing(error.to_string()) } else { Failure::Guard(error) }
    }
}

fn become_shell(control: &UnixStream, start: &mut Start) -> Failure {
    if let Err(failure) = prepare(control, start) {
        return failure;
    }
    let mut command = Command::new(&start.shell);
    command.args(&start.arguments).arg(&start.text).current_dir(&start.folder);
    if let Err(error) = terminal::connect(&mut command, start) {
        return Failure::Guard(error);
    }
    command.env_clear().envs(start.variables.iter().map(|(name, value)| (name, value)));
    Failure::Guard(command.exec())
}

fn prepare(control: &UnixStream, start: &mut Start) -> Result<(), Failure> {
    if !start.terminal {
        // Who leads a group already can lead no session.
        rustix::process::setpgid(None, None).map_err(io::Error::from)?;
    }
    terminal::lead(start)?;
    if let Some(view) = &start.view {
        let real = view::enter(view).map_err(Failure::View)?;
        let is_left = |folder: &str| real.iter().any(|left| Path::new(folder).starts_with(left));
        if let Some((_, folder)) = start.variables.iter().find(|(name, to)| name == "TMPDIR" && is_left(to)) {
            let why = format!("the temporary folder {folder} can only be read in it");
            return Err(Failure::View(io::Error::other(why)));
        }
        // What the view does not cover must not be changed.
        start.bounds.iter_mut().for_each(|bounds| bounds.write.retain(|path| !real.contains(path)));
    }
    if !start.only_read.is_empty() {
        view::only_read_below(&start.only_read).map_err(Failure::View)?;
    }
    // Without its helper nothing it would change could be kept.
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL)).map_err(io::Error::from)?;
    rustix::thread::set_no_new_privs(true).map_err(io::Error::from)?;
    let version = start.bounds.as_ref().map(sandbox::enter).transpose().map_err(Failure::Sandbox)?;
    let grant = start.bounds.as_ref().map(|bounds| bounds.grant);
    let waiting = match (&start.guard, &start.view) {
        (Some(_), _) => guard::Waiting::Files,
        (None, Some(_)) => guard::Waiting::Connections,
        (None, None) => guard::Waiting::None,
    };
    // From here on its calls wait for the helper.
    (&mut &*control).read_exact(&mut [GO])?;
    let listener = guard::install(waiting, grant).map_err(|error| match &start.view {
        // The sandbox is there; the view's connections are what nothing could answer.
        Some(_) => Failure::View(io::Error::new(error.kind(), format!("no listener for its connections: {error}"))),
        None => Failure::Guard(error),
    })?;
    Ok(tell(control, HERE, &version.unwrap_or_default(), listener.as_ref())?)
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

/// The descriptors that a second stage hands to its helper before it becomes the shell.
pub struct StageParts {
    /// The waiting end of its filter, where it has a guard.
    pub listener: Option<OwnedFd>,
    /// The version of its sandbox; empty: it has none.
    pub sandbox: String,
}

/// Returns why a second stage that has handed over did not become the shell; none: it did.
pub fn failure(mut control: &UnixStream) -> Option<String> {
    // What it told lies there already: it is over.
    control.set_nonblocking(true).ok()?;
    let mut text = [0; REASON];
    let read = control.read(&mut text).ok()?;
    let (_, said) = text[..read].split_first().filter(|(what, _)| **what == FAILED)?;
    Some(String::from_utf8_lossy(said).into_owned())
}

/// Tells a second stage that its calls are answered, and takes what it hands over.
///
/// # Errors
/// Why there is no second stage.
pub fn take_over(control: &UnixStream, start: &Start) -> Result<StageParts, Failure> {
    // One that has failed by now has said why.
    let _ = (&mut &*control).write_all(&[GO]);
    let mut text = [0; REASON];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut ancillary = RecvAncillaryBuffer::new(&mut space);
    let got = recvmsg(control, &mut [IoSliceMut::new(&mut text)], &mut ancillary, RecvFlags::CMSG_CLOEXEC)
        .map_err(io::Error::from)?;
    let listener = ancillary.drain().find_map(|message| match message {
        RecvAncillaryMessage::ScmRights(mut descriptors) => descriptors.next(),
        _ => None,
    });
    let Some((what, said)) = text[..got.bytes].split_first() else {
        return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into());
    };
    let said = String::from_utf8_lossy(said).into_owned();
    match *what {
        HERE if listener.is_some() || start.guard.is_none() && start.view.is_none() => {
            Ok(StageParts { listener, sandbox: said })
        }
        UNBOUNDED => Err(Failure::Sandbox(io::Error::other(said))),
        UNSEEN => Err(Failure::View(io::Error::other(said))),
        SHORT => Err(Failure::Passing(said)),
        _ => Err(io::Error::other(said).into()),
    }
}
