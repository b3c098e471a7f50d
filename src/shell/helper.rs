//! The helper of a command: this program under a hidden name, started again for each one. It adopts every process that
//! the command leaves behind, so that none is lost from sight, tells how the shell ended, and ends what is left when it
//! is told to, or when nebula is gone.

mod keeping;

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, BufReader};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode};
#[cfg(target_os = "linux")]
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Resource, Rlimit, Signal, WaitOptions, WaitStatus};

use super::left;
use super::message::{Exit, HELPER, HelperReport, Hold, Order, Start, receive, send};
#[cfg(target_os = "linux")]
use super::{confine, guard};
use super::{terminal, tree};
use crate::disk;

/// The state that the guard's thread and the helper share.
#[cfg(target_os = "linux")]
type Serving = guard::Answering;
#[cfg(not(target_os = "linux"))]
struct Serving;

/// A shell that runs.
struct Spawned {
    shell: Pid,
    serving: Option<Serving>,
    /// The socket on which its second stage says why it did not become the shell.
    control: Option<UnixStream>,
    /// The version of its sandbox; empty: it has none.
    sandbox: String,
}

/// The time that processes may go on after the shell before they count as a job.
const LINGER: Duration = Duration::from_millis(200);
/// The time that processes have to end after SIGTERM.
const GRACE: Duration = Duration::from_secs(2);
/// The interval at which what does not end is killed again.
const AGAIN: Duration = Duration::from_millis(20);
/// The interval at which the processes are counted.
const COUNT: Duration = Duration::from_secs(1);
/// The interval at which it is looked whether the machine has many more of them than before.
const GLANCE: Duration = Duration::from_millis(250);
/// The longest step of the clock by which a file system notes times.
const TICK: Duration = Duration::from_millis(10);
/// The number of processes above which the command is ended.
const MOST_PROCESSES: usize = 4_096;

/// Runs as a helper where the program was started as one.
pub fn main() -> Option<ExitCode> {
    let mut arguments = std::env::args_os().skip(1);
    if arguments.next().as_deref() != Some(OsStr::new(HELPER)) {
        return None;
    }
    Some(match run() {
        Ok(()) => ExitCode::SUCCESS,
        // Nebula sees that no end was told.
        Err(_) => ExitCode::from(125),
    })
}

/// The events that a helper waits for.
enum Event {
    /// A process was waited for.
    Over(Pid, WaitStatus),
    /// None is left.
    None,
    Order(Order),
    /// A call waits for the person.
    Held(Hold),
    /// It does not wait any more.
    HoldOver(u64),
    /// The person is told something.
    Notice(String),
    /// Nebula is gone.
    Alone,
}

struct Helper {
    nebula: UnixStream,
    events: Receiver<Event>,
    /// The way in which threads of its own tell it of events.
    to: Sender<Event>,
    shell: Pid,
    left: File,
    serving: Option<Serving>,
    control: Option<UnixStream>,
    /// The shell is over: since then.
    over: Option<Instant>,
    told_still: bool,
    told_stopped: bool,
    /// The processes and threads that the machine had when it began.
    tasks: usize,
    /// The time of the last look at its processes.
    looked: Instant,
    /// The time at which the command's own processes were counted.
    counted: Instant,
    /// One of them was of the shell's group then: the number of the group is still its own.
    has_group: bool,
    /// It runs in a view, which ends with its shell.
    in_view: bool,
    /// Everything is being ended: when SIGKILL is due.
    ending: Option<Instant>,
    /// Nebula is gone.
    is_alone: bool,
    /// The staging folder.
    staging: Option<PathBuf>,
}

fn run() -> io::Result<()> {
    let control = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
    let mut nebula = control.try_clone()?;
    let mut orders = BufReader::new(control);
    let start: Start = receive(&mut orders)?.ok_or(io::ErrorKind::UnexpectedEof)?;
    // It fails only where it is one already.
    let _ = rustix::process::setsid();
    // A process that crashes writes its memory into its folder, over whatever is there, without any call that waits.
    let none = Rlimit { current: Some(0), maximum: Some(0) };
    rustix::process::setrlimit(Resource::Core, none)?;
    rustix::process::set_child_subreaper(Pid::from_raw(1))?;
    // Held to the end: the states it keeps are no one else's to seal before.
    let _staging = start.staging.as_deref().map(lock).transpose()?;
    let left = left::file()?;
    let (to, events) = mpsc::channel();
    let Spawned { shell, serving, control, sandbox } = match spawn(&start, &left, &to) {
        Ok(spawned) => spawned,
        Err(report) => return send(&mut nebula, &report),
    };
    let sandbox = (!sandbox.is_empty()).then_some(HelperReport::Sandbox(sandbox));
    let started = HelperReport::Started(shell.as_raw_nonzero().get().unsigned_abs());
    if let Err(gone) = sandbox.iter().chain([&started]).try_for_each(|report| send(&mut nebula, report)) {
        // Nebula is gone: nothing may run on without it.
        tree::signal_all(Signal::KILL);
        return Err(gone);
    }
    let ordered = to.clone();
    thread::spawn(move || {
        while let Ok(Some(order)) = receive(&mut orders) {
            let _ = ordered.send(Event::Order(order));
        }
        let _ = ordered.send(Event::Alone);
    });
    let waiting = to.clone();
    thread::spawn(move || wait_for_all(&waiting));
    let in_view = start.view.is_some();
    let helper = Helper {
        nebula,
        events,
        to,
        shell,
        left,
        serving,
        control,
        over: None,
        told_still: false,
        told_stopped: false,
        tasks: tree::all_tasks(),
        looked: Instant::now(),
        counted: Instant::now(),
        has_group: true,
        in_view,
        ending: None,
        is_alone: false,
        staging: start.staging,
    };
    helper.serve()
}

fn lock(staging: &Path) -> io::Result<File> {
    let file = disk::open_file(&staging.join("info.json"), disk::Links::Refuse)?;
    file.lock_shared()?;
    Ok(file)
}

fn spawn(start: &Start, left: &File, events: &Sender<Event>) -> Result<Spawned, HelperReport> {
    let failed = |error: io::Error| HelperReport::NotStarted(error.to_string());
    let start = Start { text: left::script(&start.text, left.as_raw_fd()), ..start.clone() };
    let inherited = |flags| rustix::io::fcntl_setfd(left, flags).map_err(|error| failed(error.into()));
    // The shell writes what it leaves into it; nothing else does any harm there.
    inherited(rustix::io::FdFlags::empty())?;
    let spawned = match start.guard.is_some() || start.bounds.is_some() || start.view.is_some() || start.terminal {
        true => staged(&start, events),
        false => plain(&start)
            .and_then(|child| {
                Ok(Spawned { shell: tree::pid_of(&child)?, serving: None, control: None, sandbox: String::new() })
            })
            .map_err(failed),
    };
    inherited(rustix::io::FdFlags::CLOEXEC)?;
    let spawned = spawned?;
    // The command alone holds its output from here on.
    let quiet = || -> io::Result<()> {
        let null: OwnedFd = File::open("/dev/null")?.into();
        rustix::stdio::dup2_stdout(&null)?;
        Ok(rustix::stdio::dup2_stderr(&null)?)
    };
    quiet().map_err(failed)?;
    Ok(spawned)
}

/// Returns the shell itself.
fn plain(start: &Start) -> io::Result<Child> {
    let mut command = Command::new(&start.shell);
    command.args(&start.arguments).arg(&start.text).current_dir(&start.folder).process_group(0);
    terminal::connect(&mut command, start)?;
    command.env_clear().envs(start.variables.iter().map(|(name, value)| (name, value)));
    command.spawn()
}

/// Returns a second stage that becomes the shell, in its sandbox and under the guard.
#[cfg(target_os = "linux")]
fn staged(start: &Start, events: &Sender<Event>) -> Result<Spawned, HelperReport> {
    let error_of = |failure| match failure {
        confine::Failure::Sandbox(why) => HelperReport::NoSandbox(why.to_string()),
        confine::Failure::View(why) => HelperReport::NoView(why.to_string()),
        confine::Failure::Passing(why) => HelperReport::NotStarted(why),
        confine::Failure::Guard(why) if start.guard.is_some() => HelperReport::NoGuard(why.to_string()),
        confine::Failure::Guard(why) => HelperReport::NoSandbox(why.to_string()),
    };
    let begin = || -> Result<_, confine::Failure> {
        let (ours, theirs) = UnixStream::pair()?;
        // Copied while it has one thread, it needs not be read and linked from its file a second time.
        let Some(stage) = guard::copy_process()? else {
            drop(ours);
            confine::run(&theirs, &mut start.clone());
        };
        let stage = Pid::from_raw(stage).ok_or(io::ErrorKind::InvalidData).map_err(io::Error::from)?;
        drop(theirs);
        let (held, told) = (events.clone(), events.clone());
        // The helper waits for its events to its end.
        let hold = move |hold| drop(held.send(Event::Held(hold)));
        // Its sandbox is made meanwhile.
        let answering = guard::answering(start, hold, move |text| drop(told.send(Event::Notice(text))));
        let answering = answering.map_err(confine::Failure::from);
        let taken = answering.and_then(|serving| Ok((serving, confine::take_over(&ours, start)?)));
        let (serving, staged) = taken.map_err(|failure| failure.of(&ours, stage))?;
        Ok((stage, serving, ours, staged))
    };
    let (shell, serving, control, staged) = begin().map_err(error_of)?;
    if let (Some(serving), Some(listener)) = (serving.clone(), staged.listener) {
        let listener = Arc::new(listener);
        thread::spawn(move || guard::serve(&listener, &serving));
    }
    Ok(Spawned { shell, serving, control: Some(control), sandbox: staged.sandbox })
}

#[cfg(not(target_os = "linux"))]
fn staged(_start: &Start, _events: &Sender<Event>) -> Result<Spawned, HelperReport> {
    Err(HelperReport::NoGuard("it needs Linux".into()))
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
            // While processes keep ending, an event comes before each timeout.
            if event.is_ok() && self.looked.elapsed() >= GLANCE {
                self.look();
            }
            match event {
                Ok(Event::Over(pid, status)) if pid == self.shell && self.over.is_none() => {
                    self.over = Some(Instant::now());
                    let report = self.unstarted().map_or_else(
                        || HelperReport::Exited(exit(status), left::read(&self.left)),
                        HelperReport::NotStarted,
                    );
                    self.tell(&report);
                }
                Ok(Event::Over(..)) => {}
                Ok(Event::Order(Order::Switch(folder))) => self.switch(&folder),
                Ok(Event::Order(Order::Answer(id, answer))) => self.decide(id, answer),
                Ok(Event::Held(_)) if self.ending.is_some() => self.refuse_held(),
                Ok(Event::Notice(text)) => self.tell(&HelperReport::Notice(text)),
                Ok(Event::HoldOver(id)) => self.tell(&HelperReport::HoldOver(id)),
                Ok(Event::Held(hold)) => self.tell(&HelperReport::Held(Box::new(hold))),
                Ok(Event::None) => {
                    self.note_over();
                    self.summarise();
                    self.tell(&HelperReport::Ended);
                    return Ok(());
                }
                Ok(Event::Order(Order::Stop)) => self.end_all(),
                Ok(Event::Alone) => {
                    self.is_alone = true;
                    self.end_all();
                }
                Err(RecvTimeoutError::Timeout) => self.look(),
                Err(RecvTimeoutError::Disconnected) => return Ok(()),
            }
        }
    }

    /// Returns how long to wait for an event before looking.
    fn pause(&self) -> Option<Duration> {
        let until = |at: Instant| at.saturating_duration_since(Instant::now());
        if let Some(kill_at) = self.ending {
            return Some(until(kill_at).clamp(AGAIN, GLANCE));
        }
        match self.over {
            Some(over) if !self.told_still => Some(until(over + LINGER)),
            _ => Some(GLANCE),
        }
    }

    fn look(&mut self) {
        self.looked = Instant::now();
        self.forget_gone();
        let has_grown = tree::all_tasks() > self.tasks + MOST_PROCESSES;
        if let Some(kill_at) = self.ending {
            // Told to end, it may make processes faster than they end.
            if Instant::now() >= kill_at {
                tree::signal_all(Signal::KILL);
            } else if has_grown && self.running(has_grown, false) > MOST_PROCESSES {
                self.kill_too_many();
            }
            return;
        }
        self.look_for_left();
        let is_due = self.over.is_some() && !self.told_still || self.counted.elapsed() >= COUNT;
        if has_grown || is_due {
            self.count(has_grown);
        }
    }

    /// Looks at how many processes the command has, and ends it where there are too many.
    fn count(&mut self, has_grown: bool) {
        self.counted = Instant::now();
        let is_stopped = self.over.is_none() && tree::is_stopped(self.shell);
        if !std::mem::replace(&mut self.told_stopped, is_stopped) && is_stopped {
            let words = "it has stopped itself (SIGSTOP), and waits until it is continued or ended";
            self.tell(&HelperReport::Notice(words.into()));
        }
        let running = self.running(has_grown, is_stopped);
        if running > MOST_PROCESSES {
            self.kill_too_many();
        } else if self.over.is_some_and(|over| over.elapsed() >= LINGER) && !self.told_still && running > 0 {
            if self.in_view {
                self.tell(&HelperReport::Notice("what still ran was ended with the preview".into()));
                return self.end_all();
            }
            self.told_still = true;
            self.tell(&HelperReport::StillRun(running));
        }
    }

    /// Counts the command's processes. Where the machine has many more than before, its group stands still meanwhile.
    fn running(&mut self, has_grown: bool, is_stopped: bool) -> usize {
        let group = self.shell;
        let to_group = |signal| rustix::process::kill_process_group(group, signal).unwrap_or_default();
        let holds = has_grown && self.has_group;
        if holds {
            to_group(Signal::STOP);
        }
        let all = tree::descendants();
        let running = all.len();
        self.has_group = all.iter().any(|pid| rustix::process::getpgid(Some(*pid)) == Ok(group));
        if holds && running <= MOST_PROCESSES && !is_stopped {
            to_group(Signal::CONT);
        }
        if has_grown {
            self.tasks = tree::all_tasks().saturating_sub(running);
        }
        running
    }

    fn kill_too_many(&mut self) {
        self.tell(&HelperReport::Notice(format!("more than {MOST_PROCESSES} processes: the command was stopped")));
        self.ending = Some(Instant::now());
        tree::signal_all(Signal::KILL);
    }

    fn end_all(&mut self) {
        if self.ending.is_none() {
            self.ending = Some(Instant::now() + GRACE);
            tree::signal_all(Signal::TERM);
            // One that is stopped would not see it.
            tree::signal_all(Signal::CONT);
            self.refuse_held();
        }
    }

    /// Returns why the shell that is over was never one.
    #[cfg(target_os = "linux")]
    fn unstarted(&self) -> Option<String> {
        self.control.as_ref().and_then(confine::failure)
    }

    #[cfg(not(target_os = "linux"))]
    fn unstarted(&self) -> Option<String> {
        None
    }

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
