//! Connections. The guard makes them itself, on a duplicate of the caller's socket and to its own copy of the address, so
//! that nothing the caller changes meanwhile leads elsewhere.

use std::collections::HashSet;
use std::fs;
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, SocketAddrV6};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::thread;

use rustix::fs::{CWD, FileType, Mode, OFlags, ResolveFlags};
use rustix::net::SocketAddrUnix;
use rustix::process::{Pid, PidfdFlags, PidfdGetfdFlags};

use super::call::{CallReply, Notification};
use super::hold::{CallConsent, Consents, GuardAnswer, HoldQuestion, lock};
use super::path::{descriptor, read_memory, resolve};
use super::sys;
use crate::shell::message::{HoldAnswer, HoldReason, Summary};
use crate::shell::sandbox::{Bounds, Grant};
use crate::shell::tree;

/// The longest address that is read.
const LONGEST: usize = 128;
/// The listening state in the kernel's tables.
const LISTENS: &str = "0A";

/// The addresses that one command's connections may reach.
pub struct ConnectionPolicy {
    bounds: Bounds,
    /// Nebula, whose other commands belong to the same session.
    above: Option<Pid>,
    refused: Mutex<Refused>,
    /// Sockets that were this session's when they were looked for.
    own: Mutex<HashSet<u64>>,
    /// The decisions of the person about connections that waited for them.
    consents: Arc<Mutex<Consents>>,
    /// The addresses of which the person was told that it listens there.
    listens_on: Mutex<HashSet<SocketAddr>>,
    /// Tells the person something about the command.
    tell: Box<dyn Fn(String) + Send + Sync>,
}

#[derive(Default)]
struct Refused {
    count: u64,
    first: Option<String>,
    /// The number of those among them that would have looked up a name.
    lookups: u64,
    /// The connections to abstract sockets, which no grant opens, and the first of them.
    abstracts: u64,
    first_abstract: Option<String>,
}

/// The target of a connection.
#[derive(Debug, Clone, PartialEq, Eq)]
enum ConnectTarget {
    Nowhere,
    Internet(SocketAddr),
    Path(PathBuf),
    Abstract(String),
}

impl ConnectionPolicy {
    /// Creates the bounds of a command whose helper was started by `above`. `tell` is called with what the person is told
    /// of it.
    pub fn new(
        bounds: Bounds,
        above: Option<Pid>,
        consents: Arc<Mutex<Consents>>,
        tell: impl Fn(String) + Send + Sync + 'static,
    ) -> Self {
        let (refused, own, listens_on) = Default::default();
        ConnectionPolicy { bounds, above, refused, own, consents, listens_on, tell: Box::new(tell) }
    }

    /// Returns when the session began, in nanoseconds since 1970.
    pub fn since(&self) -> u64 {
        self.bounds.since
    }

    /// Adds what was refused since the last time.
    pub fn add_to(&self, summary: &mut Summary) {
        let refused = std::mem::take(&mut *lock(&self.refused));
        summary.connections += refused.count;
        summary.lookups += refused.lookups;
        summary.first_connection = summary.first_connection.take().or(refused.first);
        summary.abstracts += refused.abstracts;
        summary.first_abstract = summary.first_abstract.take().or(refused.first_abstract);
    }

    fn refuse(&self, what: String) -> CallReply {
        let mut refused = lock(&self.refused);
        refused.count += 1;
        refused.first.get_or_insert(what);
        CallReply::Fail(libc::EACCES)
    }

    /// Refuses a socket of a kind that the grant does not have; one that asks for names is reported as a connection.
    pub fn socket(&self, call: &Notification) -> CallReply {
        let [family, kind, ..] = call.arguments.map(|argument| (argument as u32).cast_signed());
        let internet = [libc::AF_INET, libc::AF_INET6].contains(&family);
        let kind_alone = kind & !(libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK);
        match internet && (kind_alone != libc::SOCK_DGRAM || kind & libc::SOCK_NONBLOCK != 0) {
            true if kind_alone == libc::SOCK_DGRAM => {
                lock(&self.refused).lookups += 1;
                self.refuse("the look-up of a host name (UDP)".into())
            }
            true => self.refuse("a socket that is not TCP".into()),
            // What only looks at the machine's own addresses asks no one.
            false => CallReply::Fail(libc::EACCES),
        }
    }

    /// Tells where a socket is about to listen, if other machines may reach it there.
    pub fn listen(&self, call: &Notification) -> CallReply {
        let address = socket_of(call.process, descriptor(call.arguments[0])).and_then(|socket| {
            let any = rustix::net::getsockname(&socket)?;
            Ok(SocketAddr::try_from(any)?)
        });
        // A socket of another kind is no other machine's to reach.
        if let Ok(address) = address
            && !address.ip().to_canonical().is_loopback()
            && lock(&self.listens_on).insert(address)
        {
            (self.tell)(format!("listens on {address}"));
        }
        CallReply::GoOn
    }

    /// Answers a connection, where its caller waits for it on a thread of its own.
    pub fn connect(&self, listener: &Arc<OwnedFd>, call: &Notification) -> GuardAnswer {
        let checked = self.check(call);
        if !sys::still_waits(listener.as_fd(), call.id) {
            // What was read may be another process's that got its number.
            return GuardAnswer::Reply(CallReply::Fail(libc::EINTR));
        }
        GuardAnswer::Reply(match checked {
            Ok(Checked::Answer(answer)) => answer,
            Ok(Checked::Ask(question)) => return GuardAnswer::Held(question),
            Ok(Checked::Make(socket, target)) => {
                if rustix::fs::fcntl_getfl(&socket).is_ok_and(|flags| !flags.contains(OFlags::NONBLOCK)) {
                    let (listener, id) = (Arc::clone(listener), call.id);
                    // Its end of the wait goes with the helper at the latest.
                    thread::spawn(move || drop(sys::answer(listener.as_fd(), id, &make(&socket, &target))));
                    return GuardAnswer::Elsewhere;
                }
                make(&socket, &target)
            }
            Err(error) => CallReply::Fail(error.raw_os_error().unwrap_or(libc::EACCES)),
        })
    }

    fn check(&self, call: &Notification) -> io::Result<Checked> {
        let socket = socket_of(call.process, descriptor(call.arguments[0]))?;
        let target = address_of(call)?.ok_or(io::Error::from_raw_os_error(libc::EACCES))?;
        let refused = match target {
            ConnectTarget::Nowhere => return Ok(Checked::Make(socket, Destination::Nowhere)),
            ConnectTarget::Internet(to) if self.may_reach(to) => {
                return Ok(Checked::Make(socket, Destination::Internet(to)));
            }
            ConnectTarget::Path(path) => {
                let real = resolve(call.process, libc::AT_FDCWD, path.as_os_str(), true, &mut Vec::new())?;
                match self.open_socket(&real)? {
                    (there, true) => return Ok(Checked::Make(socket, Destination::Socket(there))),
                    (there, false) => match self.consent(HoldReason::Socket, &real.display().to_string()) {
                        Some(true) => return Ok(Checked::Make(socket, Destination::Socket(there))),
                        Some(false) => real.display().to_string(),
                        None => {
                            return Ok(Checked::Ask(HoldQuestion::new(HoldReason::Socket, real.display().to_string())));
                        }
                    },
                }
            }
            ConnectTarget::Internet(to) if is_loopback(to.ip()) => {
                match self.consent(HoldReason::Port, &to.port().to_string()) {
                    Some(true) => return Ok(Checked::Make(socket, Destination::Internet(to))),
                    Some(false) => to.to_string(),
                    None => return Ok(Checked::Ask(HoldQuestion::new(HoldReason::Port, to.port().to_string()))),
                }
            }
            ConnectTarget::Internet(to) => to.to_string(),
            ConnectTarget::Abstract(name) => {
                let mut refused = lock(&self.refused);
                refused.abstracts += 1;
                refused.first_abstract.get_or_insert(format!("@{name}"));
                return Ok(Checked::Answer(CallReply::Fail(libc::EACCES)));
            }
        };
        Ok(Checked::Answer(self.refuse(refused)))
    }

    /// Returns whether the person lets a connection be made; none: they are to be asked.
    fn consent(&self, reason: HoldReason, target: &str) -> Option<bool> {
        if self.bounds.grant == Grant::Read {
            return Some(false);
        }
        match lock(&self.consents).about(reason, target) {
            CallConsent::Said(answer) => Some(matches!(answer, HoldAnswer::Allow | HoldAnswer::AllowAll)),
            CallConsent::Unasked => Some(false),
            CallConsent::Ask => None,
        }
    }

    /// Returns the socket at a path, and whether its place alone lets it be reached. It is held from here on, whatever
    /// takes its place.
    fn open_socket(&self, path: &Path) -> io::Result<(OwnedFd, bool)> {
        let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let there = rustix::fs::openat2(CWD, path, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS)?;
        let is_socket = FileType::from_raw_mode(rustix::fs::fstat(&there)?.st_mode) == FileType::Socket;
        let real = fs::read_link(link_of(&there))?;
        let inside = self.bounds.sockets.iter().any(|folder| real.starts_with(folder));
        // Nobody is asked about what is none.
        match (inside, is_socket) {
            (_, true) => Ok((there, inside)),
            (true, false) => Err(io::Error::from_raw_os_error(libc::ECONNREFUSED)),
            (false, false) => Err(io::Error::from_raw_os_error(libc::EACCES)),
        }
    }

    fn may_reach(&self, to: SocketAddr) -> bool {
        let here = is_loopback(to.ip());
        self.bounds.grant == Grant::Online
            || here && (self.bounds.ports.contains(&to.port()) || self.are_own(&listening_on(to.port())))
    }

    /// Returns whether all of these sockets, and there are some, are those of this session's commands.
    fn are_own(&self, sockets: &HashSet<u64>) -> bool {
        let mut own = lock(&self.own);
        if !sockets.is_subset(&own) {
            *own = tree::of_session(self.above).into_iter().flat_map(sockets_of_process).collect();
        }
        !sockets.is_empty() && sockets.is_subset(&own)
    }
}

enum Checked {
    Answer(CallReply),
    /// The person is to be asked.
    Ask(HoldQuestion),
    Make(OwnedFd, Destination),
}

/// The destination of an allowed connection.
enum Destination {
    Nowhere,
    Internet(SocketAddr),
    Socket(OwnedFd),
}

fn make(socket: &OwnedFd, to: &Destination) -> CallReply {
    let made = match to {
        Destination::Nowhere => rustix::net::connect_unspec(socket),
        Destination::Internet(to) => rustix::net::connect(socket, to),
        Destination::Socket(there) => {
            SocketAddrUnix::new(link_of(there)).and_then(|address| rustix::net::connect(socket, &address))
        }
    };
    match made {
        Ok(()) => CallReply::Done,
        Err(error) => CallReply::Fail(error.raw_os_error()),
    }
}

/// Returns the path of an own descriptor.
fn link_of(file: &OwnedFd) -> String {
    format!("/proc/self/fd/{}", file.as_raw_fd())
}

/// Returns the address among a call's arguments; none where it is of no known kind.
fn address_of(call: &Notification) -> io::Result<Option<ConnectTarget>> {
    let [_, address, length, ..] = call.arguments;
    let length = usize::try_from(length & 0xffff_ffff).unwrap_or(LONGEST).min(LONGEST);
    let mut bytes = vec![0; length];
    if read_memory(call.process, address, &mut bytes)? < length {
        return Err(io::Error::from_raw_os_error(libc::EFAULT));
    }
    Ok(parse(&bytes))
}

/// Returns the path at which a socket is about to be made, where it gets one; what was looked at on the way is added to
/// `passed`.
pub fn bound(call: &Notification, passed: &mut Vec<PathBuf>) -> io::Result<Option<PathBuf>> {
    match address_of(call)? {
        Some(ConnectTarget::Path(path)) => {
            resolve(call.process, libc::AT_FDCWD, path.as_os_str(), false, passed).map(Some)
        }
        _ => Ok(None),
    }
}

/// Returns a duplicate of a socket of another process; a thread is asked for by its process.
fn socket_of(thread: i32, descriptor: i32) -> io::Result<OwnedFd> {
    let open = |process: i32| {
        let pid = Pid::from_raw(process).ok_or(rustix::io::Errno::SRCH)?;
        rustix::process::pidfd_open(pid, PidfdFlags::empty())
    };
    let process = match open(thread) {
        Ok(process) => process,
        Err(_) => open(tree::process_of(thread).ok_or(io::ErrorKind::NotFound)?)?,
    };
    Ok(rustix::process::pidfd_getfd(&process, descriptor, PidfdGetfdFlags::empty())?)
}

fn parse(bytes: &[u8]) -> Option<ConnectTarget> {
    let family = i32::from(u16::from_ne_bytes(bytes.get(..2)?.try_into().ok()?));
    let port = || Some(u16::from_be_bytes(bytes.get(2..4)?.try_into().ok()?));
    match family {
        libc::AF_UNSPEC => Some(ConnectTarget::Nowhere),
        libc::AF_INET => {
            let address: [u8; 4] = bytes.get(4..8)?.try_into().ok()?;
            Some(ConnectTarget::Internet((Ipv4Addr::from(address), port()?).into()))
        }
        libc::AF_INET6 => {
            let address: [u8; 16] = bytes.get(8..24)?.try_into().ok()?;
            let flow = u32::from_be_bytes(bytes.get(4..8)?.try_into().ok()?);
            // Older programs end before it.
            let scope = bytes.get(24..28).map_or(Some(0), |scope| Some(u32::from_ne_bytes(scope.try_into().ok()?)))?;
            Some(ConnectTarget::Internet(SocketAddrV6::new(address.into(), port()?, flow, scope).into()))
        }
        libc::AF_UNIX => {
            let name = &bytes[2..];
            if name.first().is_none_or(|first| *first == 0) {
                return Some(ConnectTarget::Abstract(
                    String::from_utf8_lossy(name.get(1..).unwrap_or_default()).into_owned(),
                ));
            }
            let end = name.iter().position(|b| *b == 0).unwrap_or(name.len());
            Some(ConnectTarget::Path(PathBuf::from(std::ffi::OsStr::from_bytes(&name[..end]))))
        }
        _ => None,
    }
}

/// Returns whether an address means this machine; the unspecified one does, for a connection.
fn is_loopback(address: IpAddr) -> bool {
    let address = address.to_canonical();
    address.is_loopback() || address.is_unspecified()
}

/// Returns the sockets that listen on a port, by their inodes.
fn listening_on(port: u16) -> HashSet<u64> {
    let tables = ["/proc/net/tcp", "/proc/net/tcp6"].map(|table| fs::read_to_string(table).unwrap_or_default());
    tables.iter().flat_map(|table| table.lines()).filter_map(|line| listening(line, port)).collect()
}

/// Returns the inode in a line of the kernel's table, where it listens on this port.
fn listening(line: &str, port: u16) -> Option<u64> {
    let mut fields = line.split_whitespace();
    let own = fields.nth(1)?.rsplit_once(':')?.1;
    let state = fields.nth(1)?;
    let inode = fields.nth(5)?.parse().ok()?;
    (state == LISTENS && u16::from_str_radix(own, 16) == Ok(port)).then_some(inode)
}

/// Returns the sockets that a process has, by their inodes.
fn sockets_of_process(pid: Pid) -> HashSet<u64> {
    let descriptors = fs::read_dir(format!("/proc/{}/fd", pid.as_raw_nonzero())).into_iter().flatten().flatten();
    let inode = |entry: fs::DirEntry| {
        let target = fs::read_link(entry.path()).ok()?;
        target.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?.parse().ok()
    };
    descriptors.filter_map(inode).collect()
}

#[cfg(test)]
mod tests {
    use std::net::Ipv6Addr;

    use super::*;

    #[test]
    fn addresses_are_read_as_the_kernel_reads_them() {
        let to = |text: &str| Some(ConnectTarget::Internet(text.parse().expect("an address")));
        assert_eq!(parse(&[2, 0, 0x1f, 0x90, 127, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0]), to("127.0.0.1:8080"));
        let mut six = vec![10, 0, 0, 80, 0, 0, 0, 0];
        six.extend(Ipv6Addr::LOCALHOST.octets());
        assert_eq!(parse(&six), to("[::1]:80"));
        six.extend(3_u32.to_ne_bytes());
        six[7] = 9;
        assert_eq!(parse(&six), Some(ConnectTarget::Internet(SocketAddrV6::new(Ipv6Addr::LOCALHOST, 80, 9, 3).into())));
        assert_eq!(parse(b"\x01\0/run/x.sock\0rest"), Some(ConnectTarget::Path("/run/x.sock".into())));
        assert_eq!(parse(b"\x01\0\0name"), Some(ConnectTarget::Abstract("name".into())));
        assert_eq!(parse(&[0, 0]), Some(ConnectTarget::Nowhere));
        for bytes in [&[][..], &[2], &[2, 0, 0], &[10, 0, 0, 80, 0], &[99, 0, 1, 2]] {
            assert_eq!(parse(bytes), None, "{bytes:?}");
        }
    }

    #[test]
    fn this_machine_is_known_by_all_its_addresses() {
        for here in ["127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1", "0.0.0.0", "::"] {
            assert!(is_loopback(here.parse().expect("an address")), "{here}");
        }
        for there in ["10.0.0.1", "140.82.112.3", "::ffff:8.8.8.8", "fe80::1"] {
            assert!(!is_loopback(there.parse().expect("an address")), "{there}");
        }
    }

    #[test]
    fn listening_sockets_are_found_in_the_kernels_table() {
        let line =
            "   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 4242 1 0 100";
        assert_eq!(listening(line, 8080), Some(4242));
        assert_eq!(listening(line, 8081), None);
        assert_eq!(listening(&line.replace(" 0A ", " 01 "), 8080), None);
    }
}
