//! The filter: which system calls wait for the guard. All others pass at the cost of some comparisons.

use libc::sock_filter;

/// Offsets in what a filter sees of a call.
const NUMBER: u32 = 0;
const ARCHITECTURE: u32 = 4;
const fn argument(n: u32) -> u32 {
    // The lower half: the machines that are supported are little-endian.
    16 + 8 * n
}

const LOAD: u16 = 0x20;
const EQUAL: u16 = 0x15;
const AT_LEAST: u16 = 0x35;
const HAS_BITS: u16 = 0x45;
const AND: u16 = 0x54;
const RETURN: u16 = 0x06;

const ALLOW: u32 = 0x7fff_0000;
const NOTIFY: u32 = 0x7fc0_0000;
const NOT_THERE: u32 = 0x0005_0000 | libc::ENOSYS as u32;
const REFUSED: u32 = 0x0005_0000 | libc::EACCES as u32;
const NOT_PERMITTED: u32 = 0x0005_0000 | libc::EPERM as u32;
const NOT_SUPPORTED: u32 = 0x0005_0000 | libc::EOPNOTSUPP as u32;
const NO_TERMINAL: u32 = 0x0005_0000 | libc::ENOTTY as u32;

#[cfg(target_arch = "x86_64")]
const OWN: u32 = 0xc000_003e;
#[cfg(target_arch = "aarch64")]
const OWN: u32 = 0xc000_00b7;
/// Numbers from here on are those of x32.
const X32: u32 = 0x4000_0000;

/// Flags with which an open may change something.
const CHANGES: u32 = (libc::O_WRONLY | libc::O_RDWR | libc::O_CREAT | libc::O_TRUNC) as u32;

/// The kind of a socket, without the flags beside it.
const SOCKET_TYPE: u32 = 0xf;

/// Calls that are newer than the headers.
pub const FCHMODAT2: i64 = 452;
const SETXATTRAT: i64 = 463;
const REMOVEXATTRAT: i64 = 466;
const OPEN_TREE_ATTR: i64 = 467;
const FILE_SETATTR: i64 = 469;

/// Calls that always wait.
#[cfg(target_arch = "x86_64")]
const OLD: &[i64] = &[
    libc::SYS_creat,
    libc::SYS_unlink,
    libc::SYS_rename,
    libc::SYS_link,
    libc::SYS_symlink,
    libc::SYS_mknod,
    libc::SYS_mkdir,
    libc::SYS_rmdir,
    libc::SYS_chmod,
    libc::SYS_chown,
    libc::SYS_lchown,
    libc::SYS_utime,
    libc::SYS_utimes,
    libc::SYS_futimesat,
];
#[cfg(not(target_arch = "x86_64"))]
const OLD: &[i64] = &[];
const WAIT: &[i64] = &[
    libc::SYS_truncate,
    libc::SYS_unlinkat,
    libc::SYS_renameat,
    libc::SYS_renameat2,
    libc::SYS_linkat,
    libc::SYS_symlinkat,
    libc::SYS_mknodat,
    libc::SYS_mkdirat,
    libc::SYS_fchmod,
    libc::SYS_fchmodat,
    FCHMODAT2,
    libc::SYS_fchown,
    libc::SYS_fchownat,
    libc::SYS_utimensat,
    libc::SYS_bind,
];

/// Calls that count as missing, so that programs fall back to those above.
const MISSING: &[i64] = &[
    libc::SYS_openat2,
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_open_by_handle_at,
];

/// Calls that change what paths mean, for their caller alone: the guard would then look at other files than the kernel.
const FORBIDDEN: &[i64] = &[
    libc::SYS_chroot,
    libc::SYS_pivot_root,
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_mount_setattr,
    libc::SYS_move_mount,
    libc::SYS_open_tree,
    OPEN_TREE_ATTR,
    libc::SYS_fsopen,
    libc::SYS_fspick,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_setns,
];

/// Calls that change what is known of a file, its bytes aside or all of them together: the kernel's domain has no say
/// in them, or not on every kernel.
#[cfg(target_arch = "x86_64")]
const OLD_ATTRIBUTES: &[i64] =
    &[libc::SYS_chmod, libc::SYS_chown, libc::SYS_lchown, libc::SYS_utime, libc::SYS_utimes, libc::SYS_futimesat];
#[cfg(not(target_arch = "x86_64"))]
const OLD_ATTRIBUTES: &[i64] = &[];
const ATTRIBUTES: &[i64] = &[
    libc::SYS_fchmod,
    libc::SYS_fchmodat,
    FCHMODAT2,
    libc::SYS_fchown,
    libc::SYS_fchownat,
    libc::SYS_utimensat,
    libc::SYS_truncate,
];

/// Calls that set extended attributes, access lists and flags of files. No version holds those, and an access list
/// changes the mode: they fail as on a file system that has none.
const EXTENDED: &[i64] = &[
    libc::SYS_setxattr,
    libc::SYS_lsetxattr,
    libc::SYS_fsetxattr,
    libc::SYS_removexattr,
    libc::SYS_lremovexattr,
    libc::SYS_fremovexattr,
    SETXATTRAT,
    REMOVEXATTRAT,
    FILE_SETATTR,
];

/// Requests of `ioctl` that set flags of a file through a descriptor that only reads: `FS_IOC_SETFLAGS` in both
/// widths, `FS_IOC_SETVERSION`, `FS_IOC_FSSETXATTR`, `FS_IOC_ENABLE_VERITY`, `FS_IOC_SET_ENCRYPTION_POLICY`,
/// `FAT_IOCTL_SET_ATTRIBUTES`.
const FILE_FLAGS: &[u32] = &[0x4008_6602, 0x4004_6602, 0x4008_7602, 0x401c_5820, 0x4080_6685, 0x800c_6613, 0x4004_7211];

/// Requests of `ioctl` that change a terminal, whatever its descriptor was opened for: `TCSETS` to `TCSETSF`, `TCSETA`
/// to `TCSETAF`, `TCSBRK`, `TCXONC`, `TCFLSH`, `TIOCEXCL`, `TIOCNXCL`, `TIOCSCTTY`, `TIOCSPGRP`, `TIOCSTI`,
/// `TIOCSWINSZ`, `TIOCCONS`, `TIOCSETD`, `TCSBRKP`, `TCSETS2` to `TCSETSF2`, `TIOCVHANGUP`.
const TERMINAL: &[u32] = &[
    0x5402,
    0x5403,
    0x5404,
    0x5406,
    0x5407,
    0x5408,
    0x5409,
    0x540a,
    0x540b,
    0x540c,
    0x540d,
    0x540e,
    0x5410,
    0x5412,
    0x5414,
    0x541d,
    0x5423,
    0x5425,
    0x402c_542b,
    0x402c_542c,
    0x402c_542d,
    0x5437,
];

/// Calls that reach the kernel's keyrings, in which other programs keep secrets.
const KEYRINGS: &[i64] = &[libc::SYS_add_key, libc::SYS_request_key, libc::SYS_keyctl];

/// Calls that set how a process is scheduled: their first argument is its number, 0 the caller's own.
const SCHEDULING: &[i64] =
    &[libc::SYS_sched_setscheduler, libc::SYS_sched_setparam, libc::SYS_sched_setaffinity, libc::SYS_sched_setattr];
/// Calls that set the priority of one process or of several: their arguments say which kind of number the second is.
/// Each with the kind that is a process.
pub const PRIORITIES: [(i64, u32); 2] = [(libc::SYS_setpriority, libc::PRIO_PROCESS), (libc::SYS_ioprio_set, 1)];

/// Calls on System V objects, the argument that says what is done, and what changes or removes an object: `IPC_RMID`,
/// `IPC_SET`, and of semaphores `SETVAL` and `SETALL`.
const OBJECTS: [(i64, u32, &[u32]); 3] =
    [(libc::SYS_shmctl, 1, &[0, 1]), (libc::SYS_msgctl, 1, &[0, 1]), (libc::SYS_semctl, 2, &[0, 1, 16, 17])];

/// The sockets that may be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sockets {
    /// All.
    All,
    /// All but those that send to any path without a connection.
    Online,
    /// The sockets between processes, and the kernel's own.
    Local,
    /// TCP besides.
    Tcp,
}

/// The answer to connections.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Connections {
    /// Connections go on.
    Free,
    /// Connections wait for the guard.
    Wait,
    /// Connections fail: no guard could make those that are allowed.
    Refused,
}

/// The input of a filter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Watched {
    /// Calls that change files wait.
    pub files: bool,
    /// Calls that change attributes of files fail.
    pub frozen: bool,
    /// The answer to connections.
    pub connections: Connections,
    /// The sockets that may be made.
    pub sockets: Sockets,
    /// True if processes, terminals, keys and shared memory of other programs are out of reach.
    pub confined: bool,
}

/// Returns the filter's program.
pub fn program(watched: Watched) -> Vec<sock_filter> {
    let mut all = vec![
        step(LOAD, ARCHITECTURE, 0, 0),
        step(EQUAL, OWN, 1, 0),
        step(RETURN, NOT_THERE, 0, 0),
        step(LOAD, NUMBER, 0, 0),
        step(AT_LEAST, X32, 0, 1),
        step(RETURN, NOT_THERE, 0, 0),
    ];
    if watched.files {
        all.extend(opens_that_change());
        all.extend(each(OLD, NOTIFY).chain(each(WAIT, NOTIFY)));
    }
    if watched.frozen {
        all.extend(opens_that_empty());
        all.extend(each(OLD_ATTRIBUTES, NOT_PERMITTED).chain(each(ATTRIBUTES, NOT_PERMITTED)));
    }
    // Where somebody listens, what is refused is counted.
    let else_answer = if watched.connections == Connections::Wait { NOTIFY } else { REFUSED };
    if watched.connections != Connections::Free {
        all.extend(each(&[libc::SYS_connect], else_answer));
    }
    // That others may reach it is told.
    if watched.connections == Connections::Wait {
        all.extend(each(&[libc::SYS_listen], NOTIFY));
    }
    if watched.sockets != Sockets::All {
        all.extend(sockets(watched.sockets, else_answer));
    }
    if watched.confined {
        all.extend(of_others(else_answer));
        // Whoever locks the archive's files keeps nebula from it.
        let waits = watched.connections == Connections::Wait;
        all.extend(each(&[libc::SYS_flock], NOTIFY).filter(|_| waits));
    }
    all.extend(each(EXTENDED, NOT_SUPPORTED).chain(requests(FILE_FLAGS, NO_TERMINAL)));
    all.extend(each(MISSING, NOT_THERE).chain(each(FORBIDDEN, NOT_PERMITTED)));
    all.push(step(RETURN, ALLOW, 0, 0));
    all
}

const fn step(code: u16, k: u32, jt: u8, jf: u8) -> sock_filter {
    sock_filter { code, jt, jf, k }
}

fn number(n: i64) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

/// Returns the filter that gives one answer to each of these calls.
fn each(numbers: &[i64], answer: u32) -> impl Iterator<Item = sock_filter> {
    numbers.iter().flat_map(move |n| [step(EQUAL, number(*n), 0, 1), step(RETURN, answer, 0, 0)])
}

/// Returns the filter that gives one answer to each of these requests of `ioctl`.
fn requests(requests: &[u32], answer: u32) -> Vec<sock_filter> {
    among(libc::SYS_ioctl, 1, requests, answer)
}

/// Returns the filter that gives an answer to a call whose argument is one of these; what is not goes on to the next
/// steps, which expect the call's number.
fn among(call: i64, at: u32, values: &[u32], answer: u32) -> Vec<sock_filter> {
    let mut inside = vec![step(LOAD, argument(at), 0, 0)];
    inside.extend(values.iter().flat_map(|value| [step(EQUAL, *value, 0, 1), step(RETURN, answer, 0, 0)]));
    inside.push(step(LOAD, NUMBER, 0, 0));
    let mut all = vec![step(EQUAL, number(call), 0, inside.len() as u8)];
    all.extend(inside);
    all
}

/// Returns the filter by which what belongs to other programs is asked for, where somebody listens: their limits,
/// scheduling and priorities, their System V objects and message queues, their terminals; and no key is reached.
fn of_others(answer: u32) -> Vec<sock_filter> {
    let high = argument(2) + 4;
    let mut all = vec![
        // To read limits, or to set one's own.
        step(EQUAL, number(libc::SYS_prlimit64), 0, 8),
        step(LOAD, argument(0), 0, 0),
        step(EQUAL, 0, 4, 0),
        step(LOAD, argument(2), 0, 0),
        step(EQUAL, 0, 0, 3),
        step(LOAD, high, 0, 0),
        step(EQUAL, 0, 0, 1),
        step(RETURN, ALLOW, 0, 0),
        step(RETURN, answer, 0, 0),
    ];
    for call in SCHEDULING {
        all.extend([
            step(EQUAL, number(*call), 0, 4),
            step(LOAD, argument(0), 0, 0),
            step(EQUAL, 0, 0, 1),
            step(RETURN, ALLOW, 0, 0),
            step(RETURN, answer, 0, 0),
        ]);
    }
    for (call, process) in PRIORITIES {
        all.extend([
            step(EQUAL, number(call), 0, 6),
            step(LOAD, argument(0), 0, 0),
            step(EQUAL, process, 0, 3),
            step(LOAD, argument(1), 0, 0),
            step(EQUAL, 0, 0, 1),
            step(RETURN, ALLOW, 0, 0),
            step(RETURN, answer, 0, 0),
        ]);
    }
    for (call, at, changes) in OBJECTS {
        all.extend(among(call, at, changes, answer));
    }
    all.extend(requests(TERMINAL, answer));
    all.extend(each(KEYRINGS, NOT_THERE).chain(each(&[libc::SYS_mq_unlink], NOT_PERMITTED)));
    all
}

/// The calls that open a path, and where their flags stand among their arguments.
#[cfg(target_arch = "x86_64")]
const OPENS: [(i64, u32); 2] = [(libc::SYS_openat, 2), (libc::SYS_open, 1)];
#[cfg(not(target_arch = "x86_64"))]
const OPENS: [(i64, u32); 1] = [(libc::SYS_openat, 2)];

/// Returns the filter by which opening waits where its flags may change something.
fn opens_that_change() -> impl Iterator<Item = sock_filter> {
    OPENS.into_iter().flat_map(|(open, flags)| {
        [
            step(EQUAL, number(open), 0, 4),
            step(LOAD, argument(flags), 0, 0),
            step(HAS_BITS, CHANGES, 0, 1),
            step(RETURN, NOTIFY, 0, 0),
            step(RETURN, ALLOW, 0, 0),
        ]
    })
}

/// Returns the filter by which opening to read what is emptied by it is not permitted: older kernels ask for no right
/// to write.
fn opens_that_empty() -> impl Iterator<Item = sock_filter> {
    OPENS.into_iter().flat_map(|(open, flags)| {
        [
            step(EQUAL, number(open), 0, 5),
            step(LOAD, argument(flags), 0, 0),
            step(AND, (libc::O_ACCMODE | libc::O_TRUNC) as u32, 0, 0),
            step(EQUAL, libc::O_TRUNC as u32, 0, 1),
            step(RETURN, NOT_PERMITTED, 0, 0),
            step(RETURN, ALLOW, 0, 0),
        ]
    })
}

/// Returns the filter by which only sockets of these kinds are made, and no connection hides in the sending of data.
fn sockets(allowed: Sockets, else_answer: u32) -> Vec<sock_filter> {
    let mut family = between_processes(else_answer);
    match allowed {
        Sockets::All | Sockets::Online => family.push(step(RETURN, ALLOW, 0, 0)),
        Sockets::Local | Sockets::Tcp => {
            family.extend([step(EQUAL, libc::AF_NETLINK as u32, 0, 1), step(RETURN, ALLOW, 0, 0)]);
        }
    }
    if allowed == Sockets::Tcp {
        family.extend([
            step(EQUAL, libc::AF_INET as u32, 1, 0),
            step(EQUAL, libc::AF_INET6 as u32, 0, 7),
            step(LOAD, argument(1), 0, 0),
            step(AND, SOCKET_TYPE, 0, 0),
            step(EQUAL, libc::SOCK_STREAM as u32, 0, 4),
            step(LOAD, argument(2), 0, 0),
            step(EQUAL, 0, 1, 0),
            step(EQUAL, libc::IPPROTO_TCP as u32, 0, 1),
            step(RETURN, ALLOW, 0, 0),
        ]);
    }
    family.push(step(RETURN, else_answer, 0, 0));
    let mut pair = between_processes(REFUSED);
    pair.push(step(RETURN, REFUSED, 0, 0));
    let mut all = vec![step(EQUAL, number(libc::SYS_socketpair), 0, pair.len() as u8)];
    all.extend(pair);
    all.push(step(EQUAL, number(libc::SYS_socket), 0, family.len() as u8));
    all.extend(family);
    if allowed != Sockets::Online {
        all.extend(sends());
    }
    all
}

/// Sockets between processes are those that send nothing without a connection; what is not of their family goes on.
fn between_processes(else_answer: u32) -> Vec<sock_filter> {
    vec![
        step(LOAD, argument(0), 0, 0),
        step(EQUAL, libc::AF_UNIX as u32, 0, 6),
        step(LOAD, argument(1), 0, 0),
        step(AND, SOCKET_TYPE, 0, 0),
        step(EQUAL, libc::SOCK_STREAM as u32, 1, 0),
        step(EQUAL, libc::SOCK_SEQPACKET as u32, 0, 1),
        step(RETURN, ALLOW, 0, 0),
        step(RETURN, else_answer, 0, 0),
    ]
}

/// Returns the filter for connections that are made by the first data sent.
fn sends() -> impl Iterator<Item = sock_filter> {
    [(libc::SYS_sendto, 3), (libc::SYS_sendmsg, 2), (libc::SYS_sendmmsg, 3)].into_iter().flat_map(|(call, flags)| {
        [
            step(EQUAL, number(call), 0, 4),
            step(LOAD, argument(flags), 0, 0),
            step(HAS_BITS, libc::MSG_FASTOPEN as u32, 0, 1),
            step(RETURN, REFUSED, 0, 0),
            step(RETURN, ALLOW, 0, 0),
        ]
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the verdict of the program on a call.
    fn judge(watched: Watched, architecture: u32, number: i64, arguments: [u64; 6]) -> u32 {
        let program = program(watched);
        let (mut at, mut value) = (0, 0);
        loop {
            let step = program[at];
            at += 1;
            let jump = |yes: bool| usize::from(if yes { step.jt } else { step.jf });
            match step.code {
                LOAD if step.k == NUMBER => value = u32::try_from(number).expect("a number"),
                LOAD if step.k == ARCHITECTURE => value = architecture,
                LOAD if (step.k - 16) % 8 == 4 => value = (arguments[(step.k as usize - 16) / 8] >> 32) as u32,
                LOAD => value = arguments[(step.k as usize - 16) / 8] as u32,
                EQUAL => at += jump(value == step.k),
                AT_LEAST => at += jump(value >= step.k),
                AND => value &= step.k,
                HAS_BITS => at += jump(value & step.k != 0),
                _ => return step.k,
            }
        }
    }

    const ALL: Watched =
        Watched { files: true, frozen: false, connections: Connections::Wait, sockets: Sockets::Tcp, confined: true };

    fn run(architecture: u32, number: i64, arguments: [u64; 6]) -> u32 {
        judge(ALL, architecture, number, arguments)
    }

    #[test]
    fn sockets_are_those_of_the_grant() {
        let socket = |sockets, family: i32, kind: i32, protocol: i32| {
            let arguments = [family as u64, kind as u64, protocol as u64, 0, 0, 0];
            judge(Watched { sockets, connections: Connections::Free, ..ALL }, OWN, libc::SYS_socket, arguments)
        };
        let stream = libc::SOCK_STREAM | libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK;
        for (sockets, family, kind, protocol, expected) in [
            (Sockets::Tcp, libc::AF_INET, stream, 0, ALLOW),
            (Sockets::Tcp, libc::AF_INET6, stream, libc::IPPROTO_TCP, ALLOW),
            (Sockets::Tcp, libc::AF_INET, stream, 262, REFUSED),
            (Sockets::Tcp, libc::AF_INET, libc::SOCK_DGRAM, 0, REFUSED),
            (Sockets::Tcp, libc::AF_INET6, libc::SOCK_RAW, 0, REFUSED),
            (Sockets::Tcp, libc::AF_PACKET, libc::SOCK_STREAM, 0, REFUSED),
            (Sockets::Tcp, libc::AF_VSOCK, libc::SOCK_STREAM, 0, REFUSED),
            (Sockets::Tcp, libc::AF_UNIX, libc::SOCK_DGRAM, 0, REFUSED),
            (Sockets::Local, libc::AF_UNIX, libc::SOCK_RAW, 0, REFUSED),
            (Sockets::Online, libc::AF_UNIX, libc::SOCK_DGRAM | libc::SOCK_CLOEXEC, 0, REFUSED),
            (Sockets::Online, libc::AF_UNIX, stream, 0, ALLOW),
            (Sockets::Online, libc::AF_INET, libc::SOCK_DGRAM, 0, ALLOW),
            (Sockets::Tcp, libc::AF_UNIX, libc::SOCK_SEQPACKET, 0, ALLOW),
            (Sockets::Local, libc::AF_UNIX, stream, 0, ALLOW),
            (Sockets::Local, libc::AF_NETLINK, libc::SOCK_RAW, 0, ALLOW),
            (Sockets::Local, libc::AF_INET, stream, 0, REFUSED),
            (Sockets::All, libc::AF_INET, libc::SOCK_DGRAM, 0, ALLOW),
        ] {
            assert_eq!(socket(sockets, family, kind, protocol), expected, "{sockets:?} {family} {kind} {protocol}");
        }
        for (call, at) in [(libc::SYS_sendto, 3), (libc::SYS_sendmsg, 2), (libc::SYS_sendmmsg, 3)] {
            let mut arguments = [0; 6];
            assert_eq!(run(OWN, call, arguments), ALLOW);
            arguments[at] = libc::MSG_FASTOPEN as u64;
            assert_eq!(run(OWN, call, arguments), REFUSED);
        }
        assert_eq!(run(OWN, libc::SYS_connect, [0; 6]), NOTIFY);
        assert_eq!(run(OWN, libc::SYS_socket, [libc::AF_INET as u64, libc::SOCK_DGRAM as u64, 0, 0, 0, 0]), NOTIFY);
        for sockets in [Sockets::Local, Sockets::Tcp, Sockets::Online] {
            let pair = |kind: i32| {
                judge(
                    Watched { sockets, connections: Connections::Free, ..ALL },
                    OWN,
                    libc::SYS_socketpair,
                    [libc::AF_UNIX as u64, kind as u64, 0, 0, 0, 0],
                )
            };
            assert_eq!((pair(stream), pair(libc::SOCK_DGRAM)), (ALLOW, REFUSED), "{sockets:?}");
        }
        let unheard = Watched { connections: Connections::Refused, ..ALL };
        assert_eq!(judge(unheard, OWN, libc::SYS_connect, [0; 6]), REFUSED);
        let reads = Watched { files: false, frozen: true, sockets: Sockets::Local, ..ALL };
        let opened = |flags: i32| judge(reads, OWN, libc::SYS_openat, [0, 0, flags as u64, 0, 0, 0]);
        assert_eq!(opened(libc::O_RDONLY | libc::O_TRUNC | libc::O_CREAT), NOT_PERMITTED);
        assert_eq!((opened(libc::O_WRONLY | libc::O_TRUNC), opened(libc::O_RDONLY)), (ALLOW, ALLOW));
        assert_eq!(judge(reads, OWN, libc::SYS_unlinkat, [0; 6]), ALLOW);
        for n in OLD_ATTRIBUTES.iter().chain(ATTRIBUTES) {
            assert_eq!(judge(reads, OWN, *n, [0; 6]), NOT_PERMITTED, "{n}");
        }
        assert_eq!(judge(reads, OWN, libc::SYS_io_uring_setup, [0; 6]), NOT_THERE);
    }

    #[test]
    fn what_belongs_to_others_waits_and_ones_own_goes_on() {
        let calls: &[(i64, [u64; 6], u32)] = &[
            (libc::SYS_prlimit64, [0, 4, 0x7000, 0, 0, 0], ALLOW),
            (libc::SYS_prlimit64, [7, 4, 0, 0x7000, 0, 0], ALLOW),
            (libc::SYS_prlimit64, [7, 4, 0x7000, 0, 0, 0], NOTIFY),
            (libc::SYS_prlimit64, [7, 4, 1 << 32, 0, 0, 0], NOTIFY),
            (libc::SYS_sched_setaffinity, [0; 6], ALLOW),
            (libc::SYS_sched_setscheduler, [7, 0, 0, 0, 0, 0], NOTIFY),
            (libc::SYS_setpriority, [0; 6], ALLOW),
            (libc::SYS_setpriority, [0, 7, 0, 0, 0, 0], NOTIFY),
            (libc::SYS_setpriority, [2, 0, 0, 0, 0, 0], NOTIFY),
            (libc::SYS_ioprio_set, [1, 0, 0, 0, 0, 0], ALLOW),
            (libc::SYS_ioprio_set, [3, 0, 0, 0, 0, 0], NOTIFY),
            (libc::SYS_shmctl, [5, 0, 0, 0, 0, 0], NOTIFY),
            (libc::SYS_shmctl, [5, 2, 0, 0, 0, 0], ALLOW),
            (libc::SYS_semctl, [5, 0, 16, 0, 0, 0], NOTIFY),
            (libc::SYS_semctl, [5, 0, 12, 0, 0, 0], ALLOW),
            (libc::SYS_mq_unlink, [0; 6], NOT_PERMITTED),
            (libc::SYS_ioctl, [0, 0x5401, 0, 0, 0, 0], ALLOW),
            (libc::SYS_ioctl, [0, 0x5414, 0, 0, 0, 0], NOTIFY),
            (libc::SYS_ioctl, [0, 0x4008_6602, 0, 0, 0, 0], NO_TERMINAL),
            (libc::SYS_flock, [0; 6], NOTIFY),
        ];
        for (call, arguments, expected) in calls {
            assert_eq!(run(OWN, *call, *arguments), *expected, "{call} {arguments:?}");
        }
        let unheard = Watched { connections: Connections::Refused, ..ALL };
        assert_eq!(judge(unheard, OWN, libc::SYS_setpriority, [0, 7, 0, 0, 0, 0]), REFUSED);
        assert_eq!(judge(unheard, OWN, libc::SYS_flock, [0; 6]), ALLOW);
        for call in KEYRINGS {
            assert_eq!(run(OWN, *call, [0; 6]), NOT_THERE, "{call}");
        }
        for call in EXTENDED {
            assert_eq!(run(OWN, *call, [0; 6]), NOT_SUPPORTED, "{call}");
        }
        let off = Watched { sockets: Sockets::All, connections: Connections::Free, confined: false, ..ALL };
        assert_eq!(judge(off, OWN, libc::SYS_keyctl, [0; 6]), ALLOW);
    }

    #[test]
    fn what_may_change_files_waits_and_all_else_passes() {
        let opened = |flags: i32| run(OWN, libc::SYS_openat, [0, 0, flags as u64, 0, 0, 0]);
        assert_eq!(opened(libc::O_RDONLY | libc::O_CLOEXEC | libc::O_DIRECTORY), ALLOW);
        for flags in [libc::O_WRONLY, libc::O_RDWR, libc::O_CREAT, libc::O_TRUNC, libc::O_TMPFILE | libc::O_RDWR] {
            assert_eq!(opened(flags), NOTIFY);
        }
        for n in OLD.iter().chain(WAIT) {
            assert_eq!(run(OWN, *n, [0; 6]), NOTIFY, "{n}");
        }
        for n in MISSING {
            assert_eq!(run(OWN, *n, [0; 6]), NOT_THERE, "{n}");
        }
        for n in FORBIDDEN {
            assert_eq!(run(OWN, *n, [0; 6]), NOT_PERMITTED, "{n}");
        }
        for n in [libc::SYS_read, libc::SYS_write, libc::SYS_execve, libc::SYS_mmap] {
            assert_eq!(run(OWN, n, [u64::MAX; 6]), ALLOW, "{n}");
        }
        assert_eq!(run(0x4000_0003, 5, [0; 6]), NOT_THERE, "i386");
        assert_eq!(run(OWN, i64::from(X32) + 2, [0; 6]), NOT_THERE, "x32");
    }
}
