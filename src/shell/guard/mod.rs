//! The guard: system calls that may change files wait in the kernel until the state before is kept.

mod call;
mod connect;
mod filter;
mod hold;
mod keep;
mod names;
mod others;
mod path;
mod setup;
mod sys;

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use rustix::event::{PollFd, PollFlags, poll};

use call::{CallReply, Notification};
pub use connect::ConnectionPolicy;
use hold::GuardAnswer;
pub use hold::{Consents, HeldCalls, lock};
pub use keep::Keeping;
use keep::Refusal;
pub use path::named;
use path::{descriptor, of_descriptor, resolve, text_at};
pub use setup::answering;
pub use sys::{own_namespaces, release_code, trim_memory};

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

/// Answers calls, until no process has the filter any more.
pub fn serve(listener: &Arc<OwnedFd>, answering: &Answering) {
    sys::wake_at_once(listener.as_fd());
    answering.held.listen(listener);
    loop {
        let mut ready = [PollFd::new(&**listener, PollFlags::IN)];
        match poll(&mut ready, None) {
            Err(rustix::io::Errno::INTR) => continue,
            Err(_) => return,
            Ok(_) if !ready[0].revents().contains(PollFlags::IN) => return,
            Ok(_) => {}
        }
        match sys::receive(listener.as_fd()) {
            Ok(Some(call)) => take(listener, answering, call),
            Ok(None) => {}
            Err(_) => return,
        }
    }
}

/// Looks again at a call that waited, now that the person has decided about it, and at those that wait for the same.
/// Returns the numbers of the others.
pub fn decide(answering: &Answering, id: u64, answer: HoldAnswer) -> Vec<u64> {
    let Some((listener, decided)) = answering.held.decide(id, answer) else { return Vec::new() };
    let others = decided.iter().map(|(other, _)| *other).filter(|other| *other != id).collect();
    decided.into_iter().for_each(|(_, call)| take(&listener, answering, call));
    others
}

/// Answers a call, or leaves it waiting.
fn take(listener: &Arc<OwnedFd>, answering: &Answering, call: Notification) {
    let network = answering.network.as_deref();
    let answered = match network {
        Some(network) if call.number == libc::SYS_connect => network.connect(listener, &call),
        Some(network) if call.number == libc::SYS_listen => GuardAnswer::Reply(network.listen(&call)),
        Some(network) if call.number == libc::SYS_socket => GuardAnswer::Reply(network.socket(&call)),
        _ => answer_of(&call, answering),
    };
    match answered {
        // Its process may be gone by now.
        GuardAnswer::Reply(reply) => drop(sys::answer(listener.as_fd(), call.id, reply)),
        GuardAnswer::Elsewhere => {}
        GuardAnswer::Held(question) => answering.held.hold(call, question),
    }
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
    let mut verdict = keeper.look(|keeper| before(call, keeper));
    while let Some(copy) = keeper.take_copy() {
        drop(keeper);
        copy.make();
        keeper = lock(keeping);
        keeper.add_copy(copy);
        verdict = keeper.look(|keeper| before(call, keeper));
    }
    let question = keeper.take_question();
    match (verdict, question) {
        (Ok(()), _) => GuardAnswer::Reply(CallReply::GoOn),
        (Err(_), Some(question)) => GuardAnswer::Held(question),
        (Err(number), None) => {
            if number == libc::ENOSPC {
                keeper.set_full();
            }
            GuardAnswer::Reply(CallReply::Fail(number))
        }
    }
}

/// Answers for a file that is about to be locked in a view: those of nebula lie in it as they are.
fn lock_in_view(call: &Notification, home: &Path) -> Result<(), Refusal> {
    match behind(call, call.arguments[0])? {
        Some(path) if path.starts_with(home) => Err(libc::EACCES),
        _ => Ok(()),
    }
}

/// A path among a call's arguments, or none where the kernel will find nothing either.
type Found = Result<Option<PathBuf>, Refusal>;

/// Returns the path at an address, seen from a folder's descriptor; `last`: a link at its end is followed. What cannot
/// be read cannot be kept: the call is refused.
fn path_of(call: &Notification, folder: u64, address: u64, last: bool) -> Found {
    match text_at(call.process, address) {
        Ok(text) if text.is_empty() => Ok(None),
        Ok(text) => found(resolve(call.process, descriptor(folder), &text, last)),
        Err(error) if error.raw_os_error() == Some(libc::ENAMETOOLONG) => Ok(None),
        // The kernel may read what the guard cannot.
        Err(error) if error.raw_os_error() == Some(libc::EFAULT) => Err(libc::EFAULT),
        Err(_) => Err(libc::EACCES),
    }
}

/// Returns a path that was looked for. What the guard cannot follow, though the kernel may, cannot be kept: the call is
/// refused.
fn found(path: io::Result<PathBuf>) -> Found {
    match path {
        Ok(path) => Ok(Some(path)),
        Err(error) => match error.raw_os_error() {
            Some(libc::ENOENT | libc::ENOTDIR | libc::ELOOP | libc::EINVAL) => Ok(None),
            number => Err(number.unwrap_or(libc::EACCES)),
        },
    }
}

/// Returns the file behind a descriptor of the caller.
fn behind(call: &Notification, argument: u64) -> Found {
    found(of_descriptor(call.process, descriptor(argument)))
}

/// The caller's own folder, in place of a descriptor.
const HERE: u64 = libc::AT_FDCWD as u64;

/// Keeps what a call is about to change.
fn before(call: &Notification, keeping: &mut Keeping) -> Result<(), Refusal> {
    let [a, b, c, d, e, _] = call.arguments;
    let has = |flags: u64, flag: i32| flags & flag as u64 != 0;
    let path = |folder, address, last| path_of(call, folder, address, last);
    keeping.begin_call(call);
    match call.number {
        libc::SYS_openat => open(call, a, b, c, keeping),
        libc::SYS_truncate => write(path(HERE, a, true), false, keeping),
        libc::SYS_unlinkat if has(c, libc::AT_REMOVEDIR) => remove_folder(path(a, b, false), keeping),
        libc::SYS_unlinkat => lose(path(a, b, false), keeping),
        libc::SYS_renameat => rename(path(a, b, false), path(c, d, false), 0, keeping),
        libc::SYS_renameat2 => rename(path(a, b, false), path(c, d, false), e, keeping),
        libc::SYS_linkat if means_descriptor(call, b, e) => second_name(behind(call, a), path(c, d, false), keeping),
        libc::SYS_linkat => second_name(path(a, b, has(e, libc::AT_SYMLINK_FOLLOW)), path(c, d, false), keeping),
        libc::SYS_symlinkat => make(path(b, c, false), false, keeping),
        libc::SYS_mknodat => make(path(a, b, false), false, keeping),
        libc::SYS_mkdirat => make(path(a, b, false), true, keeping),
        libc::SYS_fchmod => mode(behind(call, a), Some(b), keeping),
        libc::SYS_fchmodat => mode(path(a, b, true), Some(c), keeping),
        filter::FCHMODAT2 if means_descriptor(call, b, d) => mode(behind(call, a), Some(c), keeping),
        filter::FCHMODAT2 => mode(path(a, b, !has(d, libc::AT_SYMLINK_NOFOLLOW)), Some(c), keeping),
        libc::SYS_fchown => group(behind(call, a), c, keeping),
        libc::SYS_fchownat if means_descriptor(call, b, e) => group(behind(call, a), d, keeping),
        libc::SYS_fchownat => group(path(a, b, !has(e, libc::AT_SYMLINK_NOFOLLOW)), d, keeping),
        libc::SYS_utimensat if b == 0 || means_descriptor(call, b, d) => set_times(behind(call, a), keeping),
        libc::SYS_utimensat => set_times(path(a, b, !has(d, libc::AT_SYMLINK_NOFOLLOW)), keeping),
        libc::SYS_flock => behind(call, a)?.map_or(Ok(()), |path| keeping.lock_file(&path)),
        libc::SYS_bind => make(connect::bound(call).or_else(|error| found(Err(error))), false, keeping),
        _ => others::before(call, keeping.since(), Some(keeping)).unwrap_or_else(|| before_old(call, keeping)),
    }
}

/// Returns whether a call means the file behind its descriptor itself: it gives no path, and its flags allow that.
fn means_descriptor(call: &Notification, path: u64, flags: u64) -> bool {
    let empty = || path == 0 || text_at(call.process, path).is_ok_and(|text| text.is_empty());
    flags & libc::AT_EMPTY_PATH as u64 != 0 && empty()
}

/// Answers the calls that only one machine has.
#[cfg(target_arch = "x86_64")]
fn before_old(call: &Notification, keeping: &mut Keeping) -> Result<(), Refusal> {
    let [a, b, c, ..] = call.arguments;
    let path = |address, last| path_of(call, HERE, address, last);
    match call.number {
        libc::SYS_open => open(call, HERE, a, b, keeping),
        libc::SYS_creat => {
            let flags = libc::O_CREAT | libc::O_WRONLY | libc::O_TRUNC;
            open(call, HERE, a, flags as u64, keeping)
        }
        libc::SYS_unlink => lose(path(a, false), keeping),
        libc::SYS_rmdir => remove_folder(path(a, false), keeping),
        libc::SYS_rename => rename(path(a, false), path(b, false), 0, keeping),
        libc::SYS_link => second_name(path(a, false), path(b, false), keeping),
        libc::SYS_symlink => make(path(b, false), false, keeping),
        libc::SYS_mknod => make(path(a, false), false, keeping),
        libc::SYS_mkdir => make(path(a, false), true, keeping),
        libc::SYS_chmod => mode(path(a, true), Some(b), keeping),
        libc::SYS_chown => group(path(a, true), c, keeping),
        libc::SYS_lchown => group(path(a, false), c, keeping),
        libc::SYS_utime | libc::SYS_utimes => set_times(path(a, true), keeping),
        libc::SYS_futimesat if b == 0 => set_times(behind(call, a), keeping),
        libc::SYS_futimesat => set_times(path_of(call, a, b, true), keeping),
        _ => Ok(()),
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn before_old(_call: &Notification, _keeping: &mut Keeping) -> Result<(), Refusal> {
    Ok(())
}

fn open(call: &Notification, folder: u64, address: u64, flags: u64, keeping: &mut Keeping) -> Result<(), Refusal> {
    let has = |flag: i32| flags & flag as u64 == flag as u64;
    if has(libc::O_TMPFILE) {
        // It has no name yet; the call that gives it one is kept.
        return path_of(call, folder, address, true)?.map_or(Ok(()), |path| keeping.make_unnamed(&path));
    }
    let exclusive = has(libc::O_CREAT) && has(libc::O_EXCL);
    let path = path_of(call, folder, address, !has(libc::O_NOFOLLOW) && !exclusive);
    let writes = flags & (libc::O_WRONLY | libc::O_RDWR | libc::O_TRUNC) as u64 != 0;
    match writes && !exclusive {
        true => write(path, has(libc::O_CREAT), keeping),
        // What is there already is only opened, or stops the call.
        false => make(path, false, keeping),
    }
}

fn write(path: Found, makes: bool, keeping: &mut Keeping) -> Result<(), Refusal> {
    path?.map_or(Ok(()), |path| keeping.write(&path, makes))
}

fn lose(path: Found, keeping: &mut Keeping) -> Result<(), Refusal> {
    path?.map_or(Ok(()), |path| keeping.lose(&path))
}

fn make(path: Found, folder: bool, keeping: &mut Keeping) -> Result<(), Refusal> {
    path?.map_or(Ok(()), |path| keeping.make(&path, folder))
}

fn second_name(old: Found, new: Found, keeping: &mut Keeping) -> Result<(), Refusal> {
    let Some((old, new)) = old?.zip(new?) else { return Ok(()) };
    keeping.second_name(&old, &new)
}

fn remove_folder(path: Found, keeping: &mut Keeping) -> Result<(), Refusal> {
    path?.map_or(Ok(()), |path| keeping.lose_folder(&path))
}

fn rename(old: Found, new: Found, flags: u64, keeping: &mut Keeping) -> Result<(), Refusal> {
    let Some((old, new)) = old?.zip(new?) else { return Ok(()) };
    if flags & u64::from(libc::RENAME_NOREPLACE) != 0 && new.symlink_metadata().is_ok() {
        return Ok(());
    }
    keeping.rename(&old, &new, flags & u64::from(libc::RENAME_EXCHANGE) != 0)
}

fn set_times(path: Found, keeping: &mut Keeping) -> Result<(), Refusal> {
    path?.map_or(Ok(()), |path| keeping.set_times(&path))
}

/// Keeps the state before a group is set; a command may give no file to another user.
fn group(path: Found, to: u64, keeping: &mut Keeping) -> Result<(), Refusal> {
    if let Ok(Some(path)) = &path {
        keeping.note_group(path, to as u32)?;
    }
    mode(path, None, keeping)
}

/// Keeps the state before a mode or an owner is set. `to` is the mode; none for an owner.
fn mode(path: Found, to: Option<u64>, keeping: &mut Keeping) -> Result<(), Refusal> {
    path?.map_or(Ok(()), |path| match path.symlink_metadata().is_ok_and(|meta| meta.is_dir()) {
        true => keeping.lose_folder(&path),
        false => keeping.change_mode(&path, to.map(|to| to as u32)),
    })
}
