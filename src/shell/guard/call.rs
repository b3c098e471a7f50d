//! A system call that waits for the guard, and its answer.

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
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallReply {
    /// It goes on.
    GoOn,
    /// It was done for the caller.
    Done,
    /// It fails with this error number.
    Fail(i32),
}
