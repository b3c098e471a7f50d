//! A system call that waits for the guard, its answer, and whether it is over.

use std::fs;
use std::io;
use std::os::fd::OwnedFd;

/// A system call that waits for its answer.
#[derive(Debug, Clone, Copy)]
pub struct Notification {
    /// Its name towards the kernel.
    pub id: u64,
    /// The calling thread.
    pub process: i32,
    /// Its number.
    pub number: i64,
    /// Its arguments.
    pub arguments: [u64; 6],
}

/// The answer to a call that waits.
#[derive(Debug)]
pub enum CallReply {
    /// It goes on.
    GoOn,
    /// It was done for the caller.
    Done,
    /// It fails with this error number.
    Fail(i32),
    /// It opened a file, which is open here.
    Opened(OwnedFd),
}

/// An answer other than letting the call go on: the error number that the caller gets.
pub type Refusal = i32;

/// Returns the error number that an error is to the caller.
pub fn number(error: &io::Error) -> Refusal {
    error.raw_os_error().unwrap_or(libc::EIO)
}

/// Returns whether a thread's last call is over: the thread is gone, or waits in another call or in none. Of one that
/// runs nothing is known.
pub fn has_returned(call: &Notification) -> bool {
    match fs::read_to_string(format!("/proc/{}/syscall", call.process)) {
        Ok(line) => is_elsewhere(&line, call),
        Err(error) => error.kind() == io::ErrorKind::NotFound || error.raw_os_error() == Some(libc::ESRCH),
    }
}

/// Returns whether a line of the kernel's shows a thread that waits somewhere else than in a call.
fn is_elsewhere(line: &str, call: &Notification) -> bool {
    let mut fields = line.split_whitespace();
    let Some(Ok(number)) = fields.next().map(str::parse::<i64>) else { return false };
    let hexadecimal = |field: &str| u64::from_str_radix(field.trim_start_matches("0x"), 16).ok();
    let arguments: Option<Vec<u64>> = fields.take(6).map(hexadecimal).collect();
    number < 0 || number != call.number || arguments.is_some_and(|them| them != call.arguments)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_is_over_where_its_thread_waits_elsewhere() {
        let call = Notification { id: 1, process: 1, number: 257, arguments: [u64::MAX - 99, 0x10, 1, 0, 0, 0] };
        let same = "257 0xffffffffffffff9c 0x10 0x1 0x0 0x0 0x0 0x7ffd 0x7f3d\n";
        for (line, is_over) in [
            (same, false),
            ("running\n", false),
            ("", false),
            ("-1 0x7ffd 0x7f3d\n", true),
            ("230 0x0 0x0 0x7ffd 0x7ffe 0x0 0x0 0x7ffd 0x7f3d\n", true),
            (&same.replace("0x10", "0x20"), true),
        ] {
            assert_eq!(is_elsewhere(line, &call), is_over, "{line}");
        }
    }
}
