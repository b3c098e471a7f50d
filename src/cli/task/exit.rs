//! The exit codes of a task.

/// The outcome of a task, as exit codes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TaskExit {
    /// The model is done, and nothing was refused that was not made after all.
    Done = 0,
    /// It failed, or reached its limit of steps.
    Failed = 1,
    /// An edit, in part or whole, or a command was refused, and not made after all.
    Refused = 3,
    /// Interrupted.
    Interrupted = 130,
    /// Its terminal went away (SIGHUP).
    HungUp = 129,
    /// It was terminated by a signal (SIGTERM).
    Ended = 143,
}
