//! A command under way: starts its helper, reads its output, waits for its end.

use std::collections::BTreeMap;
use std::io::{self, BufReader, Read as _};
use std::net::Shutdown;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::net::RecvFlags;

use super::env::SESSION;
use super::left::without_trap;
use super::message::{Exit, HELPER, HelperReport, Hold, HoldAnswer, Order, ShellState, Start, Summary, receive, send};
use super::output::Output;
use super::terminal::Terminal;
use super::tree;

/// The time limit for a helper until the shell runs.
const PATIENCE: Duration = Duration::from_secs(10);
/// The time limit for the output once no process is left: one outside the command may hold it open.
const DRAIN: Duration = Duration::from_millis(500);
/// The size of one read of the output, in bytes.
const PIECE: usize = 64 << 10;

/// Takes what a command prints; returns whether anyone still reads it.
pub type OutputReader = Box<dyn FnMut(&[u8]) -> bool + Send>;

/// The parameters that start a command.
pub struct Launch {
    /// The helper.
    pub helper: WaitingHelper,
    /// The helper's start order.
    pub start: Start,
    /// Takes what is printed.
    pub output: Output,
    /// Receives what is printed too, as it comes.
    pub passes: Option<OutputReader>,
}

/// A helper that waits for its start order. It gets ready while that is put together, and ends where none comes.
pub struct WaitingHelper {
    /// None: a command has it.
    process: Option<Child>,
    orders: UnixStream,
    reads: OwnedFd,
}

impl WaitingHelper {
    /// Starts one: `program` under its hidden name. The command reads from the `terminal` and prints to it; none: it
    /// prints into a pipe, and reads this program's own standard input where `input`.
    ///
    /// # Errors
    /// When it cannot be started.
    pub fn start(program: &Path, terminal: Option<&Terminal>, input: bool) -> io::Result<Self> {
        let (orders, theirs) = UnixStream::pair()?;
        let (reads, writes) = match terminal {
            Some(terminal) => terminal.ends()?,
            None => rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC)?,
        };
        let mut command = Command::new(program);
        command.arg(HELPER).stdin(Stdio::from(OwnedFd::from(theirs)));
        command.stdout(Stdio::from(writes.try_clone()?));
        // Its standard input carries the orders: what the command reads comes in the place of what it says beside its
        // output.
        command.stderr(match input {
            true => Stdio::from(rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stdin(), 3)?),
            false => Stdio::from(writes),
        });
        Ok(WaitingHelper { process: Some(command.spawn()?), orders, reads })
    }
}

impl WaitingHelper {
    /// Returns whether it waits.
    pub fn is_waiting(&self) -> bool {
        // The end of its orders is there once it is gone.
        let mut byte = [0];
        let peeked = rustix::net::recv(&self.orders, &mut byte, RecvFlags::PEEK | RecvFlags::DONTWAIT);
        self.process.is_some() && peeked.err() == Some(Errno::AGAIN)
    }
}

impl Drop for WaitingHelper {
    fn drop(&mut self) {
        if let Some(mut process) = self.process.take() {
            // Its orders end here, and it with them.
            let _ = self.orders.shutdown(Shutdown::Both);
            let _ = process.wait();
        }
    }
}

/// The progress of a command.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CommandProgress {
    /// The shell's process.
    pub process: Option<u32>,
    /// The shell is over, and what it left.
    pub exit: Option<(Exit, Option<ShellState>)>,
    /// It is to run on as a job: its call is answered although its shell is not over.
    pub released: bool,
    /// It was told to end before its end.
    pub stopped: bool,
    /// The number of processes that ran on after it.
    pub still_run: Option<usize>,
    /// No process is left.
    pub ended: bool,
    /// The reason why the helper ended, or the shell could not be started.
    pub failed: Option<String>,
    /// The reason why no guard works here.
    pub no_guard: Option<String>,
    /// The reason why no sandbox works here.
    pub no_sandbox: Option<String>,
    /// The reason why no view works here.
    pub no_view: Option<String>,
    /// The version of the sandbox that it is in; none: it is in none.
    pub sandbox: Option<String>,
    /// The staging folder that the guard has begun again in.
    pub switched: Option<PathBuf>,
    /// The notes beside the changes.
    pub summary: Summary,
    /// The helper's notices.
    pub notices: Vec<String>,
    /// The calls that wait for the person.
    pub held: Vec<Hold>,
    /// The time of its start.
    begun: Option<Instant>,
    /// Since when one of them or more wait.
    held_since: Option<Instant>,
    /// Nobody is there to be waited for.
    is_unattended: bool,
    /// The time for which calls waited before.
    held_before: Duration,
    /// All output is read.
    pub drained: bool,
    /// The time from the start to the shell's end, without that for which calls waited.
    pub took: Option<Duration>,
}

impl CommandProgress {
    /// Returns whether the call that started it can be answered.
    pub fn is_answerable(&self) -> bool {
        let shell_over = self.exit.is_some() && (self.ended && self.drained || self.still_run.is_some());
        self.failed.is_some() || self.released || shell_over
    }

    /// Returns for how long calls waited for the person so far: that time does not count as the command's.
    pub fn held_for(&self) -> Duration {
        self.held_before + self.held_since.map_or(Duration::ZERO, |since| since.elapsed())
    }

    /// Returns for how long it has run, the time for which calls waited not counted.
    pub fn running_for(&self) -> Duration {
        self.took.unwrap_or_else(|| {
            let since = self.begun.map_or(Duration::ZERO, |begun| begun.elapsed());
            since.saturating_sub(self.held_for())
        })
    }

    /// Returns whether its time stands still: a call waits for the person.
    pub fn stands_still(&self) -> bool {
        self.held_since.is_some()
    }

    fn hold(&mut self, hold: Hold) {
        if !self.is_unattended {
            self.held_since.get_or_insert_with(Instant::now);
        }
        self.held.push(hold);
    }

    fn end_hold(&mut self, id: u64) {
        self.held.retain(|hold| hold.id != id);
        if self.held.is_empty()
            && let Some(since) = self.held_since.take()
        {
            self.held_before += since.elapsed();
        }
    }

    /// Returns whether nothing of it runs any more.
    pub fn is_over(&self) -> bool {
        self.failed.is_some() || self.ended
    }

    /// Returns whether nothing of it runs any more and all that it printed is read.
    pub fn is_read(&self) -> bool {
        self.failed.is_some() || self.ended && self.drained
    }
}

#[derive(Default)]
struct Shared {
    progress: Mutex<CommandProgress>,
    changed: Condvar,
    output: Mutex<Output>,
    /// More output is waited for.
    is_reading: AtomicBool,
    /// No more output is taken.
    is_closed: AtomicBool,
    listener: Mutex<Option<Box<dyn Fn() + Send>>>,
    /// Told of changes of the calls that wait.
    hold_listener: Mutex<Option<Box<dyn Fn() + Send>>>,
}

/// A command under way.
pub struct RunningCommand {
    shared: Arc<Shared>,
    orders: Mutex<UnixStream>,
}

impl std::fmt::Debug for RunningCommand {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("RunningCommand").field(&*self.progress()).finish()
    }
}

/// Starts a command. It is back once the shell runs or could not be started: until then the helper does not hold the
/// staging folder yet, and whoever seals it would take it from under the command.
///
/// # Errors
/// When the helper cannot be started.
pub fn launch(mut launch: Launch) -> io::Result<RunningCommand> {
    let shared = Arc::new(Shared { output: Mutex::new(launch.output), ..Shared::default() });
    let (ours, mut orders) = (launch.helper.orders.try_clone()?, launch.helper.orders.try_clone()?);
    let reads = launch.helper.reads.try_clone()?;
    lock(&shared.progress).is_unattended = launch.start.holds.as_ref().is_some_and(|holds| holds.unattended);
    send(&mut orders, &launch.start)?;
    let child = launch.helper.process.take().ok_or(io::ErrorKind::NotFound)?;
    let helper = i32::try_from(child.id()).ok().and_then(rustix::process::Pid::from_raw);
    let begun = Instant::now();
    let (for_output, for_reports) = (Arc::clone(&shared), Arc::clone(&shared));
    let mut passes = launch.passes;
    thread::spawn(move || for_output.read_output(reads, &mut passes));
    let mark = launch.start.variables.iter().find(|(name, value)| name == SESSION && !value.is_empty());
    let mark = mark.map(|(name, value)| format!("{name}={value}"));
    thread::spawn(move || for_reports.read_reports(ours, child, begun, mark.as_deref()));
    let running = RunningCommand { shared, orders: Mutex::new(orders) };
    if running.wait(Some(begun + PATIENCE), |progress| progress.process.is_some() || progress.failed.is_some()) {
        return Ok(running);
    }
    // What it has started ends with it.
    helper.map(|helper| rustix::process::kill_process(helper, rustix::process::Signal::KILL));
    Err(io::Error::new(io::ErrorKind::TimedOut, format!("it did not start within {} s", PATIENCE.as_secs())))
}

impl RunningCommand {
    /// Returns how far it is.
    pub fn progress(&self) -> MutexGuard<'_, CommandProgress> {
        lock(&self.shared.progress)
    }

    /// Returns what it printed.
    pub fn output(&self) -> MutexGuard<'_, Output> {
        lock(&self.shared.output)
    }

    /// Calls `act` whenever something has changed. It must be quick and must not ask this command anything.
    pub fn on_change(&self, act: impl Fn() + Send + 'static) {
        *lock(&self.shared.listener) = Some(Box::new(act));
    }

    /// Calls `act` whenever a call waits for the person, does not wait any more, or nothing of the command runs any more.
    /// It must be quick and must not ask this command anything.
    pub fn on_hold(&self, act: impl Fn() + Send + 'static) {
        *lock(&self.shared.hold_listener) = Some(Box::new(act));
    }

    /// Waits until `enough`, at most until `deadline`. Returns whether it was enough.
    pub fn wait(&self, deadline: Option<Instant>, enough: impl Fn(&CommandProgress) -> bool) -> bool {
        self.shared.wait(deadline, enough)
    }

    /// Lets it run on as a job.
    pub fn release(&self) {
        self.shared.change(|progress| progress.released = true);
    }

    /// Ends every process of it; they have two seconds to do so themselves.
    pub fn stop(&self) {
        self.shared.change(|progress| progress.stopped |= progress.exit.is_none() && !progress.is_over());
        // A helper that has ended has ended them too.
        let _ = send(&mut *lock(&self.orders), &Order::Stop);
    }
}

impl RunningCommand {
    /// Decides about a call that waits.
    pub fn answer(&self, hold: u64, answer: HoldAnswer) {
        // A helper that has ended has ended the call too.
        let _ = send(&mut *lock(&self.orders), &Order::Answer(hold, answer));
    }

    /// Has the guard keep states in another folder from now on. Returns whether it does.
    pub fn switch(&self, folder: &Path) -> bool {
        const PATIENCE: Duration = Duration::from_secs(5);
        // A helper that has ended switches nothing.
        let _ = send(&mut *lock(&self.orders), &Order::Switch(folder.to_path_buf()));
        let switched = |progress: &CommandProgress| progress.switched.as_deref() == Some(folder);
        self.wait(Some(Instant::now() + PATIENCE), |progress| switched(progress) || progress.is_over())
            && switched(&self.progress())
    }

    /// Notes what a look at the disk has found of folders that can be rebuilt: those that were added to, each with the
    /// number of what was added, and those that are gone.
    pub fn note_looked<'a>(&self, added: BTreeMap<String, u64>, gone: impl Iterator<Item = &'a String>) {
        let mut progress = self.progress();
        progress.summary.add(Summary { derived: added, ..Summary::default() });
        for folder in gone {
            progress.summary.derived.entry(folder.clone()).or_insert(1);
            progress.summary.derived_gone.insert(folder.clone());
        }
    }
}

impl Shared {
    fn change(&self, change: impl FnOnce(&mut CommandProgress)) {
        change(&mut lock(&self.progress));
        self.tell();
    }

    fn tell(&self) {
        self.changed.notify_all();
        if let Some(act) = &*lock(&self.listener) {
            act();
        }
    }

    fn tell_holds(&self) {
        if let Some(act) = &*lock(&self.hold_listener) {
            act();
        }
    }

    fn read_output(&self, reads: OwnedFd, passes: &mut Option<OutputReader>) {
        let mut pipe = std::fs::File::from(reads);
        let mut piece = vec![0; PIECE];
        loop {
            self.is_reading.store(true, Ordering::Relaxed);
            let read = pipe.read(&mut piece);
            self.is_reading.store(false, Ordering::Relaxed);
            match read {
                Ok(0) => break,
                Ok(read) => {
                    let mut output = lock(&self.output);
                    if self.is_closed.load(Ordering::Relaxed) {
                        // Another program's: it is not kept, but who writes it goes on.
                        continue;
                    }
                    let printed = without_trap(&piece[..read]);
                    output.take(&printed);
                    drop(output);
                    let is_read = passes.as_mut().is_none_or(|pass| pass(&printed));
                    self.tell();
                    if !is_read {
                        // Who writes on gets SIGPIPE, as without nebula.
                        break;
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => break,
            }
        }
        self.end_output();
    }

    fn read_reports(&self, from: UnixStream, mut helper: Child, begun: Instant, mark: Option<&str>) {
        let mut from = BufReader::new(from);
        while let Ok(Some(report)) = receive(&mut from) {
            let is_hold = matches!(report, HelperReport::Held(_) | HelperReport::HoldOver(_) | HelperReport::Ended);
            self.change(|progress| match report {
                HelperReport::Started(process) => (progress.process, progress.begun) = (Some(process), Some(begun)),
                HelperReport::NotStarted(why) => {
                    progress.process = None;
                    progress.failed = Some(format!("the shell could not be started: {why}"))
                }
                HelperReport::Exited(exit, left) => {
                    progress.exit = Some((exit, left));
                    progress.took = Some(begun.elapsed().saturating_sub(progress.held_for()));
                }
                HelperReport::NoGuard(why) => {
                    progress.failed = Some(format!("there is no guard here: {why}"));
                    progress.no_guard = Some(why);
                }
                HelperReport::NoSandbox(why) => {
                    progress.failed = Some(format!("there is no sandbox here: {why}"));
                    progress.no_sandbox = Some(why);
                }
                HelperReport::NoView(why) => {
                    progress.failed = Some(format!("there is no view here: {why}"));
                    progress.no_view = Some(why);
                }
                HelperReport::Sandbox(version) => progress.sandbox = Some(version),
                HelperReport::Switched(folder, summary) => {
                    progress.switched = Some(folder);
                    progress.summary.add(*summary);
                }
                HelperReport::Summary(summary) => progress.summary.add(*summary),
                HelperReport::StillRun(count) => progress.still_run = Some(count),
                HelperReport::Held(hold) => progress.hold(*hold),
                HelperReport::HoldOver(id) => progress.end_hold(id),
                HelperReport::Ended => progress.ended = true,
                HelperReport::Notice(text) => progress.notices.push(text),
            });
            if is_hold {
                self.tell_holds();
            }
        }
        let how = helper.wait();
        let (ended, failed) = {
            let progress = lock(&self.progress);
            (progress.ended, progress.failed.is_some())
        };
        if !ended && !failed {
            // It can end none of them any more.
            tree::end_orphans(mark, i32::try_from(helper.id()).ok());
        }
        self.change(|progress| {
            if !progress.ended && progress.failed.is_none() {
                let how = how.map_or_else(|error| error.to_string(), |status| status.to_string());
                progress.failed = Some(format!("the helper ended ({how}): the command was stopped"));
            }
        });
        self.tell_holds();
        self.drain();
    }

    /// Waits for the rest of the output, as slowly as it is passed on.
    fn drain(&self) {
        while !self.wait(Some(Instant::now() + DRAIN), |progress| progress.drained) {
            if self.is_reading.load(Ordering::Relaxed) {
                return self.end_output();
            }
        }
    }

    /// Ends the output. What comes after is another program's.
    fn end_output(&self) {
        let mut output = lock(&self.output);
        if !self.is_closed.swap(true, Ordering::Relaxed) {
            output.finish();
            drop(output);
            self.change(|progress| progress.drained = true);
        }
    }

    /// Waits until `enough`, at most until `deadline`. Returns whether it was enough.
    fn wait(&self, deadline: Option<Instant>, enough: impl Fn(&CommandProgress) -> bool) -> bool {
        let mut progress = lock(&self.progress);
        loop {
            if enough(&progress) {
                return true;
            }
            let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
            progress = match left {
                Some(left) if left.is_zero() => return false,
                Some(left) => self.changed.wait_timeout(progress, left).unwrap_or_else(PoisonError::into_inner).0,
                None => self.changed.wait(progress).unwrap_or_else(PoisonError::into_inner),
            };
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // The value behind these locks is replaced in one step each time.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shell::message::HoldReason;

    #[test]
    fn a_program_that_holds_the_output_longer_than_the_command_goes_on_writing() {
        let (reads, writes) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC).expect("a pipe");
        let shared = Arc::new(Shared::default());
        shared.end_output();
        let reader = Arc::clone(&shared);
        let reading = thread::spawn(move || reader.read_output(reads, &mut None));
        let mut other = std::fs::File::from(writes);
        io::Write::write_all(&mut other, &vec![b'x'; 4 << 20]).expect("it is read on");
        drop(other);
        reading.join().expect("it ends with the last writer");
        assert_eq!(lock(&shared.output).byte_count(), 0, "it is none of the command's");
    }

    #[test]
    fn where_nobody_is_waited_for_no_time_stands_still() {
        let hold = || Hold {
            id: 1,
            reason: HoldReason::ActsLater,
            process: 1,
            program: String::new(),
            call: String::new(),
            path: ".envrc".into(),
            bytes: None,
            may_go_unkept: false,
            why: None,
        };
        for is_unattended in [true, false] {
            let mut progress = CommandProgress { is_unattended, ..CommandProgress::default() };
            progress.hold(hold());
            assert_eq!((progress.stands_still(), progress.held.len()), (!is_unattended, 1));
            progress.end_hold(1);
            assert_eq!(progress.held_for() == Duration::ZERO, is_unattended);
        }
    }

    #[test]
    fn the_time_for_which_calls_waited_is_none_of_the_commands() {
        let second = Duration::from_secs(1);
        let begun = Instant::now().checked_sub(5 * second);
        let mut progress = CommandProgress { begun, held_before: 4 * second, ..CommandProgress::default() };
        let ran = progress.running_for();
        let all = begun.expect("a clock that runs for longer").elapsed();
        assert!(second <= ran && ran <= all - 4 * second, "{ran:?} of {all:?}");
        progress.took = Some(3 * second);
        assert_eq!(progress.running_for(), 3 * second, "it is taken off once");
    }
}
