//! The helper of a command: this program under a hidden name, started anew for each one. It adopts every process that
//! the command leaves behind, so that none is lost from sight, tells how the shell ended, and ends what is left when it
//! is told to, or when nebula is gone.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, BufReader};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
#[cfg(target_os = "linux")]
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitOptions, WaitStatus};

use super::left;
use super::message::{Exit, HelperReport, Order, Start, receive, send};
#[cfg(target_os = "linux")]
use super::places::PathClasses;
use super::tree;
#[cfg(target_os = "linux")]
use super::{guard, stage};
#[cfg(target_os = "linux")]
use crate::archive::staging::CommandStaging;
#[cfg(target_os = "linux")]
use crate::archive::{Archive, ArchiveSettings};
#[cfg(target_os = "linux")]
use crate::workspace::Workspace;

/// What the guard's thread and the helper itself both keep states with.
#[cfg(target_os = "linux")]
type SharedKeeping = Arc<Mutex<guard::Keeping>>;
#[cfg(not(target_os = "linux"))]
type SharedKeeping = ();

/// The hidden name under which the program is a helper.
pub const NAME: &str = "__command";
/// How long processes may go on after the shell before they count as a job.
const LINGER: Duration = Duration::from_millis(200);
/// How long processes have to end after SIGTERM.
const GRACE: Duration = Duration::from_secs(2);
/// How often what does not end is killed again.
const AGAIN: Duration = Duration::from_millis(20);
/// How often the processes are counted.
const COUNT: Duration = Duration::from_secs(1);
/// More processes than this end the command.
const MOST_PROCESSES: usize = 4_096;

/// Runs as a helper where the program was started as one.
pub fn main() -> Option<ExitCode> {
    let mut arguments = std::env::args_os().skip(1);
    if arguments.next().as_deref() != Some(OsStr::new(NAME)) {
        return None;
    }
    Some(match run() {
        Ok(()) => ExitCode::SUCCESS,
        // Nebula sees that no end was told.
        Err(_) => ExitCode::from(125),
    })
}

/// What a helper waits for.
enum Event {
    /// A process was waited for.
    Over(Pid, WaitStatus),
    /// None is left.
    None,
    Order(Order),
    /// Nebula is gone.
    Alone,
}

struct Helper {
    nebula: UnixStream,
    events: Receiver<Event>,
    shell: Pid,
    left: File,
    keeping: Option<SharedKeeping>,
    /// The shell is over: since then.
    over: Option<Instant>,
    told_still: bool,
    /// Everything is being ended: when SIGKILL is due.
    ending: Option<Instant>,
}

fn run() -> io::Result<()> {
    let control = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
    let mut nebula = control.try_clone()?;
    let mut orders = BufReader::new(control);
    let start: Start = receive(&mut orders)?.ok_or(io::ErrorKind::UnexpectedEof)?;
    // It fails only where it is one already.
    let _ = rustix::process::setsid();
    rustix::process::set_child_subreaper(Pid::from_raw(1))?;
    // Held to the end: the states it keeps are no one else's to seal before.
    let _staging = start.staging.as_deref().map(lock).transpose()?;
    let left = left::file()?;
    let (shell, keeping) = match spawn(&start, &left) {
        Ok(spawned) => spawned,
        Err(error) if start.guard.is_some() => return send(&mut nebula, &HelperReport::NoGuard(error.to_string())),
        Err(error) => return send(&mut nebula, &HelperReport::NotStarted(error.to_string())),
    };
    send(&mut nebula, &HelperReport::Started(shell.as_raw_nonzero().get().unsigned_abs()))?;
    let (to, events) = mpsc::channel();
    let ordered = to.clone();
    thread::spawn(move || {
        while let Ok(Some(order)) = receive(&mut orders) {
            let _ = ordered.send(Event::Order(order));
        }
        let _ = ordered.send(Event::Alone);
    });
    thread::spawn(move || wait_for_all(&to));
    Helper { nebula, events, shell, left, keeping, over: None, told_still: false, ending: None }.serve()
}

fn lock(staging: &Path) -> io::Result<File> {
    let file = File::open(staging.join("info.json"))?;
    file.lock_shared()?;
    Ok(file)
}

fn spawn(start: &Start, left: &File) -> io::Result<(Pid, Option<SharedKeeping>)> {
    let start = Start { text: left::script(start, left.as_raw_fd()), ..start.clone() };
    // The shell writes what it leaves into it; nothing else does any harm there.
    rustix::io::fcntl_setfd(left, rustix::io::FdFlags::empty())?;
    let spawned = if start.guard.is_some() { guarded(&start) } else { plain(&start).map(|child| (child, None)) };
    rustix::io::fcntl_setfd(left, rustix::io::FdFlags::CLOEXEC)?;
    let (child, keeping) = spawned?;
    // The command alone holds its output from here on.
    let null: OwnedFd = File::open("/dev/null")?.into();
    rustix::stdio::dup2_stdout(&null)?;
    rustix::stdio::dup2_stderr(&null)?;
    let id = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    id.map(|id| (id, keeping)).ok_or_else(|| io::ErrorKind::InvalidData.into())
}

/// The shell itself.
fn plain(start: &Start) -> io::Result<Child> {
    let mut command = Command::new(&start.shell);
    command.args(&start.arguments).arg(&start.text).current_dir(&start.folder).stdin(Stdio::null());
    command.env_clear().envs(start.variables.iter().map(|(name, value)| (name, value)));
    command.spawn()
}

/// A second stage that becomes the shell, and the guard over it.
#[cfg(target_os = "linux")]
fn guarded(start: &Start) -> io::Result<(Child, Option<SharedKeeping>)> {
    let keeping = Arc::new(Mutex::new(keeping(start)?));
    let (ours, theirs) = UnixStream::pair()?;
    let mut command = Command::new("/proc/self/exe");
    command.arg(stage::NAME).env_clear().stdin(Stdio::from(OwnedFd::from(theirs)));
    let child = command.spawn()?;
    drop(command);
    let listener = stage::take_listener(&ours, start)?;
    let serving = Arc::clone(&keeping);
    thread::spawn(move || guard::serve(&listener, &serving));
    Ok((child, Some(keeping)))
}

#[cfg(not(target_os = "linux"))]
fn guarded(_start: &Start) -> io::Result<(Child, Option<SharedKeeping>)> {
    Err(io::Error::other("it needs Linux"))
}

/// What the guard keeps states with.
#[cfg(target_os = "linux")]
fn keeping(start: &Start) -> io::Result<guard::Keeping> {
    let (Some(with), Some(staging)) = (&start.guard, &start.staging) else {
        return Err(io::ErrorKind::InvalidInput.into());
    };
    let workspace = Workspace::open(&with.root).map_err(io::Error::other)?;
    let settings = ArchiveSettings { folder: Some(with.archive.clone()), exclude: with.exclude.clone() };
    let archive = Archive::open(&workspace, &settings).map_err(io::Error::other)?;
    let places = PathClasses::new(&workspace, &archive, &with.places);
    Ok(guard::Keeping::new(places, CommandStaging::open(staging)?))
}

/// Waits for processes until there is none left.
fn wait_for_all(to: &Sender<Event>) {
    loop {
        match rustix::process::wait(WaitOptions::empty()) {
            Ok(Some((pid, status))) => drop(to.send(Event::Over(pid, status))),
            Ok(None) | Err(rustix::io::Errno::INTR) => {}
            Err(_) => {
                let _ = to.send(Event::None);
                return;
            }
        }
    }
}

impl Helper {
    fn serve(mut self) -> io::Result<()> {
        loop {
            let event = match self.pause() {
                Some(pause) => self.events.recv_timeout(pause),
                None => self.events.recv().map_err(|_| RecvTimeoutError::Disconnected),
            };
            match event {
                Ok(Event::Over(pid, status)) if pid == self.shell && self.over.is_none() => {
                    self.over = Some(Instant::now());
                    let left = left::read(&self.left);
                    self.tell(&HelperReport::Exited(exit(status), left));
                }
                Ok(Event::Over(..)) => {}
                Ok(Event::Order(Order::Switch(folder))) => self.switch(&folder),
                Ok(Event::None) => {
                    self.summarise();
                    self.tell(&HelperReport::Ended);
                    return Ok(());
                }
                Ok(Event::Order(Order::Stop) | Event::Alone) => self.end_all(),
                Err(RecvTimeoutError::Timeout) => self.look(),
                Err(RecvTimeoutError::Disconnected) => return Ok(()),
            }
        }
    }

    /// Returns how long to wait for an event before looking.
    fn pause(&self) -> Option<Duration> {
        let until = |at: Instant| at.saturating_duration_since(Instant::now());
        if let Some(kill_at) = self.ending {
            return Some(until(kill_at).max(AGAIN));
        }
        match self.over {
            Some(over) if !self.told_still => Some(until(over + LINGER)),
            _ => Some(COUNT),
        }
    }

    fn look(&mut self) {
        if let Some(kill_at) = self.ending {
            if Instant::now() >= kill_at {
                tree::signal_all(Signal::KILL);
            }
            return;
        }
        let running = tree::descendants().len();
        if running > MOST_PROCESSES {
            self.tell(&HelperReport::Notice(format!("more than {MOST_PROCESSES} processes: the command was stopped")));
            self.ending = Some(Instant::now());
            tree::signal_all(Signal::KILL);
        } else if self.over.is_some_and(|over| over.elapsed() >= LINGER) && !self.told_still && running > 0 {
            self.told_still = true;
            self.tell(&HelperReport::StillRun(running));
        }
    }

    fn end_all(&mut self) {
        if self.ending.is_none() {
            self.ending = Some(Instant::now() + GRACE);
            tree::signal_all(Signal::TERM);
        }
    }

    /// Keeps states in another staging folder from now on. What is open for writing is kept anew at once.
    #[cfg(target_os = "linux")]
    fn switch(&mut self, folder: &Path) {
        let Some(keeping) = self.keeping.clone() else { return };
        // Without an answer nebula seals nothing.
        let Ok(staging) = CommandStaging::open(folder) else { return };
        let summary = {
            let mut keeping = guard::lock(&keeping);
            let summary = keeping.switch(staging);
            for path in tree::open_for_writing() {
                // The call that opened it is over: there is nothing to refuse.
                let _ = keeping.write(&path, false);
            }
            summary
        };
        self.tell(&HelperReport::Switched(summary));
    }

    #[cfg(not(target_os = "linux"))]
    fn switch(&mut self, _folder: &Path) {}

    #[cfg(target_os = "linux")]
    fn summarise(&mut self) {
        let summary = self.keeping.as_ref().map(|keeping| guard::lock(keeping).summary().clone());
        if let Some(summary) = summary {
            self.tell(&HelperReport::Summary(summary));
        }
    }

    #[cfg(not(target_os = "linux"))]
    fn summarise(&mut self) {}

    /// Tells nebula; where it is gone, the end of its orders says so.
    fn tell(&mut self, report: &HelperReport) {
        let _ = send(&mut self.nebula, report);
    }
}

fn exit(status: WaitStatus) -> Exit {
    match (status.exit_status(), status.terminating_signal()) {
        (Some(code), _) => Exit::Code(code),
        (None, signal) => Exit::Signal(signal.unwrap_or(0)),
    }
}
