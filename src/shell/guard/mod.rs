//! The guard: system calls that may change files wait in the kernel until the state before is kept.

mod call;
mod change;
mod connect;
mod filter;
mod hold;
mod keep;
mod names;
mod others;
mod path;
mod reach;
mod setup;
mod sys;
mod under_way;

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use call::{CallReply, Notification, Refusal};
use change::{PathChange, of_open_file, planned};
pub use connect::ConnectionPolicy;
use hold::GuardAnswer;
pub use hold::{Consents, HeldCalls, lock};
pub use keep::Keeping;
pub use path::named;
pub use setup::answering;
pub use sys::{copy_process, own_namespaces, release_code, trim_memory};

use super::message::HoldAnswer;
use super::sandbox::Grant;
use filter::{Connections, Sockets, Watched};

/// The calls that wait for the guard.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Waiting {
    /// No call: nobody answers.
    None,
    /// Connections.
    Connections,
    /// Connections, and what changes files.
    Files,
}

/// Installs the filter on this process; the end at which its calls wait, where some do. `grant`: that of its sandbox,
/// where it has one.
///
/// # Errors
/// When the kernel has no such filters, or one listens already.
pub fn install(waiting: Waiting, grant: Option<Grant>) -> io::Result<Option<OwnedFd>> {
    let listens = waiting != Waiting::None;
    let sockets = match grant {
        None => Sockets::All,
        Some(Grant::Online) => Sockets::Online,
        Some(Grant::Read) => Sockets::Local,
        Some(Grant::Workspace) => Sockets::Tcp,
    };
    // What may write nothing needs no keeping.
    let files = waiting == Waiting::Files && grant != Some(Grant::Read);
    let frozen = grant == Some(Grant::Read);
    let connections = match grant {
        None => Connections::Free,
        Some(_) if listens => Connections::Wait,
        // Nobody could make those that are allowed.
        Some(Grant::Read | Grant::Workspace) => Connections::Refused,
        Some(Grant::Online) => Connections::Free,
    };
    let confined = grant.is_some();
    sys::install(&filter::program(Watched { files, frozen, connections, sockets, confined }), listens)
}

/// The parts that answer the calls of a command.
#[derive(Clone)]
pub struct Answering {
    /// Keeps what is about to change; none: the command runs in a view, where nothing needs to be kept.
    pub keeping: Option<Arc<Mutex<Keeping>>>,
    /// Makes connections.
    pub network: Option<Arc<ConnectionPolicy>>,
    /// Nebula's folder in the workspace, whose files are its own to lock also where nothing is kept.
    pub home: Option<PathBuf>,
    /// The calls that wait for the person.
    pub held: Arc<HeldCalls>,
}

/// The first time between two looks at the calls that others wait for: it grows while nothing happens.
const SHORTEST_PAUSE: Duration = Duration::from_micros(50);
/// The longest time between two such looks.
const LONGEST_PAUSE: Duration = Duration::from_millis(4);

/// The calls that wait for others to be over, in the order in which they came.
struct ParkedCalls {
    calls: Vec<Notification>,
    /// The time until those that they wait for are looked at again.
    pause: Duration,
    looked: Instant,
}

impl ParkedCalls {
    fn new() -> Self {
        ParkedCalls { calls: Vec::new(), pause: Duration::ZERO, looked: Instant::now() }
    }

    fn add(&mut self, call: Notification) {
        self.calls.push(call);
        self.pause = Duration::ZERO;
    }

    /// Returns how long to wait for the next call at most; none: as long as it takes.
    fn pause(&self) -> Option<Timespec> {
        let pause = self.pause.saturating_sub(self.looked.elapsed());
        (!self.calls.is_empty()).then(|| Timespec { tv_sec: 0, tv_nsec: pause.subsec_nanos().into() })
    }

    /// Looks again at the calls for which no other one has to be over any more.
    fn look(&mut self, listener: &Arc<OwnedFd>, answering: &Answering) {
        let Some(keeping) = answering.keeping.as_deref().filter(|_| !self.calls.is_empty()) else { return };
        if self.looked.elapsed() >= self.pause {
            lock(keeping).under_way.look();
            self.looked = Instant::now();
            self.pause = (self.pause * 2).clamp(SHORTEST_PAUSE, LONGEST_PAUSE);
        }
        self.calls.retain(|call| {
            let may_go_on = lock(keeping).under_way.may_go_on(call);
            match may_go_on {
                Some(true) => take(listener, answering, *call) == TakenCall::Waits,
                Some(false) => true,
                // Its thread came back without an answer, and may have called again.
                None => false,
            }
        });
    }
}

/// Answers calls, until no process has the filter any more.
pub fn serve(listener: &Arc<OwnedFd>, answering: &Answering) {
    sys::wake_at_once(listener.as_fd());
    answering.held.listen(listener);
    let mut parked = ParkedCalls::new();
    let mut may_be_over = true;
    loop {
        // Receiving waits itself, in one call less. That all processes are gone, polling alone tells on every kernel.
        let comes = match (parked.pause(), may_be_over) {
            (None, false) => Some(true),
            (pause, _) => polled(listener, pause.as_ref()),
        };
        let received = match comes {
            Some(true) => sys::receive(listener.as_fd()),
            Some(false) => Ok(None),
            None => return,
        };
        let Ok(call) = received else { return };
        may_be_over = call.is_none();
        if let Some(call) = call
            && take(listener, answering, call) == TakenCall::Waits
        {
            parked.add(call);
        }
        parked.look(listener, answering);
    }
}

/// Returns whether a call comes within a time; none: no process has the filter any more.
fn polled(listener: &OwnedFd, pause: Option<&Timespec>) -> Option<bool> {
    let mut ready = [PollFd::new(listener, PollFlags::IN)];
    match poll(&mut ready, pause) {
        Ok(0) | Err(rustix::io::Errno::INTR) => Some(false),
        Err(_) => None,
        Ok(_) => ready[0].revents().contains(PollFlags::IN).then_some(true),
    }
}

/// Looks again at a call that waited, now that the person has decided about it, and at those that wait for the same.
/// Returns the numbers of the others.
pub fn decide(answering: &Answering, id: u64, answer: HoldAnswer) -> Vec<u64> {
    let Some((listener, decided)) = answering.held.decide(id, answer) else { return Vec::new() };
    let others = decided.iter().map(|(other, _)| *other).filter(|other| *other != id).collect();
    for (_, call) in decided {
        let mut parked = ParkedCalls::new();
        if take(&listener, answering, call) == TakenCall::Waits {
            parked.add(call);
        }
        while !parked.calls.is_empty() {
            parked.look(&listener, answering);
            thread::sleep(parked.pause);
        }
    }
    others
}

/// The state of a call that was looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TakenCall {
    /// It is answered, or somebody else answers it.
    Over,
    /// It waits for other calls to be over.
    Waits,
}

/// Answers a call, or leaves it waiting.
fn take(listener: &Arc<OwnedFd>, answering: &Answering, call: Notification) -> TakenCall {
    let network = answering.network.as_deref();
    let answered = match network {
        Some(network) if call.number == libc::SYS_connect => network.connect(listener, &call),
        Some(network) if call.number == libc::SYS_listen => GuardAnswer::Reply(network.listen(&call)),
        Some(network) if call.number == libc::SYS_socket => GuardAnswer::Reply(network.socket(&call)),
        _ => answer_of(&call, answering),
    };
    match answered {
        GuardAnswer::Reply(reply) => {
            // Its process may be gone by now, or the kernel is older than 5.14 and gives no descriptors.
            if sys::answer(listener.as_fd(), call.id, &reply).is_err() && matches!(reply, CallReply::Opened(_)) {
                let _ = sys::answer(listener.as_fd(), call.id, &CallReply::Fail(libc::EACCES));
            }
        }
        GuardAnswer::Elsewhere => {}
        GuardAnswer::Held(question) => {
            // It was decided about meanwhile.
            if !answering.held.hold(call, question) {
                return take(listener, answering, call);
            }
        }
        GuardAnswer::Parked => return TakenCall::Waits,
    }
    TakenCall::Over
}

/// Returns the answer to a call once what it is about to change is kept. Where nothing is kept, what is other programs'
/// stays all the same.
fn answer_of(call: &Notification, answering: &Answering) -> GuardAnswer {
    let Some(keeping) = answering.keeping.as_deref() else {
        let verdict = match (call.number, &answering.home) {
            (libc::SYS_flock, Some(home)) => lock_in_view(call, home),
            _ => {
                others::before(call, answering.network.as_deref().map(ConnectionPolicy::since), None).unwrap_or(Ok(()))
            }
        };
        return GuardAnswer::Reply(verdict.map_or_else(CallReply::Fail, |()| CallReply::GoOn));
    };
    let mut keeper = lock(keeping);
    let verdict = loop {
        // What is looked at here is still so when the kernel looks: no call that would change it is under way.
        let verdict = match planned(call) {
            Err(number) => Err(number),
            Ok((change, names)) => match keeper.under_way.enter(call, change.clone(), names) {
                true => keeper.look(|keeper| before(call, change, keeper)),
                false => return GuardAnswer::Parked,
            },
        };
        let Some(copy) = keeper.take_copy() else { break verdict };
        keeper.under_way.leave(call);
        drop(keeper);
        copy.make();
        keeper = lock(keeping);
        keeper.add_copy(copy);
    };
    let question = keeper.take_question();
    // One that is done here is over before another is looked at.
    let done = verdict.ok().and_then(|()| done_here(&mut keeper));
    match (verdict, &done) {
        (Ok(()), None) => keeper.under_way.go_on(call),
        _ => keeper.under_way.leave(call),
    }
    match (verdict, question) {
        (Ok(()), _) => GuardAnswer::Reply(done.unwrap_or(CallReply::GoOn)),
        (Err(_), Some(question)) => GuardAnswer::Held(question),
        (Err(number), None) => {
            if number == libc::ENOSPC {
                keeper.set_full();
            }
            GuardAnswer::Reply(CallReply::Fail(number))
        }
    }
}

/// Does the last call for its caller where the configuration of a repository is concerned. None: it goes on.
fn done_here(keeper: &mut Keeping) -> Option<CallReply> {
    let put = keeper.take_config().map(|config| config.put()).or_else(|| keeper.remove_own_config());
    let put = put.map(|done| done.map(|()| CallReply::Done));
    let done = put.or_else(|| keeper.make_empty_config().map(|made| made.map(|file| CallReply::Opened(file.into()))));
    done.map(|done| done.unwrap_or_else(CallReply::Fail))
}

/// Keeps what a call is about to change.
fn before(call: &Notification, change: Option<PathChange>, keeping: &mut Keeping) -> Result<(), Refusal> {
    keeping.begin_call(call);
    match change {
        Some(change) => keeping.keep_change(&change),
        None => others::before(call, keeping.since(), Some(keeping)).unwrap_or(Ok(())),
    }
}

/// Answers for a file that is about to be locked in a view: those of nebula lie in it as they are.
fn lock_in_view(call: &Notification, home: &Path) -> Result<(), Refusal> {
    match of_open_file(call, call.arguments[0])? {
        Some(path) if path.starts_with(home) => Err(libc::EACCES),
        _ => Ok(()),
    }
}
