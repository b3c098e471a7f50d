//! The sandbox of a command: its grant, the paths that this comes to here, and the kernel's domain that enforces them.

#[cfg(target_os = "linux")]
mod domain;
mod grant;

#[cfg(target_os = "linux")]
pub use domain::{enter, has_rules};
pub use grant::{Bounds, Grant, SandboxSettings, Surroundings, TEMPORARY, bounds, private};

/// Returns whether the kernel has such rules.
#[cfg(not(target_os = "linux"))]
pub fn has_rules() -> bool {
    false
}
