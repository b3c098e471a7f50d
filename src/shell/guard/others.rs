//! Calls on what has no path: processes, and objects that programs share. Those of the command are its own to change;
//! what was there before the session is not.

use std::fs;

use rustix::process::Pid;

use super::call::{Notification, Refusal};
use super::filter::PRIORITIES;
use super::keep::{Keeping, is_older_terminal};
use super::path::{descriptor, of_descriptor};
use crate::shell::tree;

/// Answers a call on something without a path; none: it is none of these.
/// `since` is when the session began, in nanoseconds since 1970; none: there is no sandbox.
pub fn before(call: &Notification, since: Option<u64>, keeping: Option<&mut Keeping>) -> Option<Result<(), Refusal>> {
    let [first, second, ..] = call.arguments.map(descriptor);
    Some(match call.number {
        libc::SYS_prlimit64
        | libc::SYS_sched_setscheduler
        | libc::SYS_sched_setparam
        | libc::SYS_sched_setaffinity
        | libc::SYS_sched_setattr => process(call, first),
        libc::SYS_setpriority | libc::SYS_ioprio_set => priority(call, first, second),
        libc::SYS_shmctl => object("shm", first, since),
        libc::SYS_msgctl => object("msg", first, since),
        libc::SYS_semctl => object("sem", first, since),
        libc::SYS_ioctl => match of_descriptor(call.process, first) {
            Ok(path) if since.is_some_and(|since| is_older_terminal(&path, since)) => {
                keeping.map_or(Err(libc::EACCES), |keeping| keeping.refuse(&path))
            }
            Ok(_) => Ok(()),
            // The kernel will find nothing either.
            Err(_) => Ok(()),
        },
        _ => return None,
    })
}

/// Answers for a process, or a thread of one, that is about to be changed: it has to be one of this command.
fn process(call: &Notification, thread: i32) -> Result<(), Refusal> {
    // What is gone, or never was, the kernel does not find either.
    let Some(process) = tree::process_of(thread) else { return Ok(()) };
    let is_own = || Pid::from_raw(process).is_some_and(|process| tree::descendants().contains(&process));
    match tree::process_of(call.process) == Some(process) || is_own() {
        true => Ok(()),
        false => Err(libc::EPERM),
    }
}

/// Answers for the priority of a process, or of several: those of a group are this command's where its number is 0, or
/// that of a process of it; those of a user are not.
fn priority(call: &Notification, kind: i32, number: i32) -> Result<(), Refusal> {
    let of_process = PRIORITIES.iter().find(|(known, _)| *known == call.number).map_or(0, |(_, kind)| *kind);
    match kind - of_process.cast_signed() {
        0 | 1 if number == 0 => Ok(()),
        0 | 1 => process(call, number),
        2 => Err(libc::EPERM),
        // The kernel knows no such kind either.
        _ => Ok(()),
    }
}

/// Answers for a System V object that is about to be changed or removed: one that was not changed since the session
/// began is another program's.
fn object(kind: &str, number: i32, since: Option<u64>) -> Result<(), Refusal> {
    let Some(since) = since else { return Ok(()) };
    let table = fs::read_to_string(format!("/proc/sysvipc/{kind}")).map_err(|_| libc::EPERM)?;
    match changed_at(&table, number) {
        Some(at) if at < since / 1_000_000_000 => Err(libc::EPERM),
        _ => Ok(()),
    }
}

/// Returns when an object of a kernel's table was made or last changed, in seconds since 1970.
fn changed_at(table: &str, number: i32) -> Option<u64> {
    let mut lines = table.lines();
    let column = lines.next()?.split_whitespace().position(|name| name == "ctime")?;
    let of = |line: &str| line.split_whitespace().nth(1).and_then(|text| text.parse::<i32>().ok()) == Some(number);
    lines.find(|line| of(line))?.split_whitespace().nth(column)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_of_an_object_is_found_by_the_tables_head() {
        let table = "       key      semid perms      nsems   uid   gid  cuid  cgid      otime      ctime\n\
                     0          3   600          1     0     0     0     0          0 1700000000\n";
        assert_eq!((changed_at(table, 3), changed_at(table, 4)), (Some(1_700_000_000), None));
    }
}
