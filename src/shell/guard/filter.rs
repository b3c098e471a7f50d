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
const RETURN: u16 = 0x06;

const ALLOW: u32 = 0x7fff_0000;
const NOTIFY: u32 = 0x7fc0_0000;
const NOT_THERE: u32 = 0x0005_0000 | libc::ENOSYS as u32;
const NOT_PERMITTED: u32 = 0x0005_0000 | libc::EPERM as u32;

#[cfg(target_arch = "x86_64")]
const OWN: u32 = 0xc000_003e;
#[cfg(target_arch = "aarch64")]
const OWN: u32 = 0xc000_00b7;
/// Numbers from here on are those of x32.
const X32: u32 = 0x4000_0000;

/// Flags with which an open may change something.
const CHANGES: u32 = (libc::O_WRONLY | libc::O_RDWR | libc::O_CREAT | libc::O_TRUNC) as u32;

/// `fchmodat2`, which is newer than the headers.
pub const FCHMODAT2: i64 = 452;

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
    libc::SYS_fsopen,
    libc::SYS_fsmount,
    libc::SYS_setns,
];

/// The filter's program.
pub fn program() -> Vec<sock_filter> {
    let step = |code, k, jt, jf| sock_filter { code, jt, jf, k };
    let number = |n: i64| u32::try_from(n).unwrap_or(u32::MAX);
    let mut all = vec![
        step(LOAD, ARCHITECTURE, 0, 0),
        step(EQUAL, OWN, 1, 0),
        step(RETURN, NOT_THERE, 0, 0),
        step(LOAD, NUMBER, 0, 0),
        step(AT_LEAST, X32, 0, 1),
        step(RETURN, NOT_THERE, 0, 0),
    ];
    let mut opens = vec![(libc::SYS_openat, 2)];
    #[cfg(target_arch = "x86_64")]
    opens.push((libc::SYS_open, 1));
    for (open, flags) in opens {
        all.extend([
            step(EQUAL, number(open), 0, 4),
            step(LOAD, argument(flags), 0, 0),
            step(HAS_BITS, CHANGES, 0, 1),
            step(RETURN, NOTIFY, 0, 0),
            step(RETURN, ALLOW, 0, 0),
        ]);
    }
    for (numbers, then) in [(OLD, NOTIFY), (WAIT, NOTIFY), (MISSING, NOT_THERE), (FORBIDDEN, NOT_PERMITTED)] {
        for n in numbers {
            all.extend([step(EQUAL, number(*n), 0, 1), step(RETURN, then, 0, 0)]);
        }
    }
    all.push(step(RETURN, ALLOW, 0, 0));
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the program says of a call.
    fn run(architecture: u32, number: i64, arguments: [u64; 6]) -> u32 {
        let program = program();
        let (mut at, mut value) = (0, 0);
        loop {
            let step = program[at];
            at += 1;
            let jump = |yes: bool| usize::from(if yes { step.jt } else { step.jf });
            match step.code {
                LOAD if step.k == NUMBER => value = u32::try_from(number).expect("a number"),
                LOAD if step.k == ARCHITECTURE => value = architecture,
                LOAD => value = arguments[(step.k as usize - 16) / 8] as u32,
                EQUAL => at += jump(value == step.k),
                AT_LEAST => at += jump(value >= step.k),
                HAS_BITS => at += jump(value & step.k != 0),
                _ => return step.k,
            }
        }
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
        for n in [libc::SYS_read, libc::SYS_write, libc::SYS_execve, libc::SYS_connect, libc::SYS_mmap] {
            assert_eq!(run(OWN, n, [u64::MAX; 6]), ALLOW, "{n}");
        }
        assert_eq!(run(0x4000_0003, 5, [0; 6]), NOT_THERE, "i386");
        assert_eq!(run(OWN, i64::from(X32) + 2, [0; 6]), NOT_THERE, "x32");
    }
}
