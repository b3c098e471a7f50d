//! The kind of a failure.

/// The kind of a failure, for programs.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Cause {
    /// `key`, `permission`, `model`, `quota`, `rate`, `overloaded`, `context`, `request`, `refused`, `network`,
    /// `answer`, `broken`, `budget` or `settings`; empty where it was none of a provider's.
    pub kind: &'static str,
    /// The status of the server's answer, where there was one.
    pub status: Option<u16>,
    /// The server's own name for the request.
    pub request_id: Option<String>,
}

impl Cause {
    /// Creates one that is known by its kind alone.
    pub fn of(kind: &'static str) -> Self {
        Cause { kind, ..Cause::default() }
    }
}
