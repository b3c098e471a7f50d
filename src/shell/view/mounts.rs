//! Mounts a view. The process that becomes the shell moves into namespaces of its own, where an overlay lies over the
//! workspace and over the folders for temporary files.

use std::fs;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, Mode, OFlags};
use rustix::io::Errno;
use rustix::mount::{MountFlags, MountPropagationFlags};
use rustix::process::{getegid, geteuid};

use super::mountinfo::mounts;
use super::overlay::{Layers, bind_to_read, link_of, only_read, open};
use super::pieces::Pieces;
use super::{VIEWS, layers};
use crate::shell::guard;
use crate::shell::message::ViewStart;
use crate::shell::sandbox::TEMPORARY;

/// Says whether AppArmor takes the rights of new user namespaces away.
const APPARMOR: &str = "/proc/sys/kernel/apparmor_restrict_unprivileged_userns";
/// The name of the folder of the workspace that no command may write.
const OWN: &str = ".nebula";

/// Moves this process, which has one thread, into a view permanently. Returns the folders beside the workspace that the
/// view does not cover.
///
/// # Errors
/// When the machine has no such views, in words.
pub fn enter(view: &ViewStart) -> io::Result<Vec<PathBuf>> {
    if let Some(why) = super::refusal(&view.root, &view.home) {
        return Err(io::Error::other(why));
    }
    own_mounts()?;
    let around = mounted()?;
    let pieces = Pieces::new(&view.root)?;
    let workspace = Layers::open(&view.root, &view.folder)?;
    let layers_of = |at: &Path, folder: &Path| Some((Layers::open(at, folder).ok()?, open(folder).ok()?));
    let beside: Vec<_> = view.beside.iter().map(|(at, folder)| (at, layers_of(at, folder))).collect();
    let home = open(&view.home)?;
    let own = open(&view.root.join(OWN)).ok();
    workspace.mount(&view.root).map_err(|error| match layers::unfit(&view.root) {
        // It may lie on another of its kind, which is one too many.
        Some(kind) if error.kind() == io::ErrorKind::InvalidInput => io::Error::other(layers::on(kind)),
        _ => step("an overlay over the workspace", error),
    })?;
    protect(view, &home, own.as_ref()).map_err(|error| step("a .shaft and a .nebula that cannot be written", error))?;
    let over = open(&view.root)?;
    let mut real = Vec::new();
    for (at, layers) in beside {
        let cover = |(layers, own): (Layers, OwnedFd)| match is_temporary(at) && pieces.lie_below(at) {
            true => pieces.cover(at, &layers.lower, Path::new(&link_of(&own))),
            false => layers.mount(at),
        };
        match layers.map(cover) {
            Some(Ok(())) if view.root.starts_with(at) => {
                let again = rustix::mount::mount_bind_recursive(link_of(&over), &view.root);
                again.map_err(|error| step("the overlay once more", error.into()))?;
            }
            Some(Ok(())) => {}
            _ => real.push(at.clone()),
        }
    }
    // Modes and times are changed without a file that is opened to write.
    for mount in &around {
        only_read(mount, Path::new(&link_of(mount))).map_err(|error| step("what is around it, only read", error))?;
    }
    Ok(real)
}

fn is_temporary(at: &Path) -> bool {
    TEMPORARY.iter().any(|folder| Path::new(folder).canonicalize().is_ok_and(|folder| folder == at))
}

/// Mounts folders and files so that this process, which has one thread, and those that it starts can only read them. It holds for
/// good once this process has dropped its capabilities.
///
/// # Errors
/// When the machine has no such mounts, in words.
pub fn only_read_below(paths: &[PathBuf]) -> io::Result<()> {
    own_mounts()?;
    let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    for path in paths {
        let opened = rustix::fs::openat(CWD, path, flags, Mode::empty()).map_err(io::Error::from);
        let mounted = opened.and_then(|opened| bind_to_read(&opened, path));
        mounted.map_err(|error| step(&format!("{} cannot be mounted to be only read", path.display()), error))?;
    }
    Ok(())
}

/// Moves this process into namespaces of its own, as the same user. What is mounted from here on is seen nowhere else.
fn own_mounts() -> io::Result<()> {
    let (user, group) = (geteuid().as_raw(), getegid().as_raw());
    guard::own_namespaces().map_err(|error| namespaces(&error))?;
    map(user, group).map_err(|error| namespaces(&error))?;
    let alone = MountPropagationFlags::PRIVATE | MountPropagationFlags::REC;
    rustix::mount::mount_change("/", alone).map_err(|error| step("mounts of its own", error.into()))
}

/// Opens what is mounted so far, but for `/proc`, which is of this process and has no modes to change. What cannot be
/// opened no command reaches either.
fn mounted() -> io::Result<Vec<OwnedFd>> {
    let mut all = Vec::new();
    for mount in mounts()?.into_iter().filter(|mount| !mount.is_proc) {
        match rustix::fs::openat(CWD, &mount.at, OFlags::PATH | OFlags::CLOEXEC, Mode::empty()) {
            Ok(mount) => all.push(mount),
            Err(Errno::ACCESS | Errno::NOENT | Errno::NOTDIR) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(all)
}

/// Makes this process the same user as before in its new namespace.
fn map(user: u32, group: u32) -> io::Result<()> {
    fs::write("/proc/self/setgroups", "deny")?;
    fs::write("/proc/self/uid_map", format!("{user} {user} 1"))?;
    fs::write("/proc/self/gid_map", format!("{group} {group} 1"))
}

/// Returns why there are no namespaces here, in words.
fn namespaces(error: &io::Error) -> io::Error {
    let restricted = fs::read_to_string(APPARMOR).is_ok_and(|text| text.trim() == "1");
    let why = match error.raw_os_error() {
        _ if restricted => "user namespaces are restricted by AppArmor".to_string(),
        Some(libc_numbers::ENOSPC | libc_numbers::EUSERS) => "user namespaces are switched off".to_string(),
        Some(libc_numbers::EPERM | libc_numbers::EACCES) => "user namespaces are not permitted".to_string(),
        _ => format!("user namespaces: {error}"),
    };
    io::Error::other(why)
}

/// Numbers of errors that tell why.
mod libc_numbers {
    use super::Errno;

    pub const EPERM: i32 = Errno::PERM.raw_os_error();
    pub const EACCES: i32 = Errno::ACCESS.raw_os_error();
    pub const ENOSPC: i32 = Errno::NOSPC.raw_os_error();
    pub const EUSERS: i32 = Errno::USERS.raw_os_error();
}

fn step(what: &str, error: io::Error) -> io::Error {
    let restricted = fs::read_to_string(APPARMOR).is_ok_and(|text| text.trim() == "1");
    match restricted && error.kind() == io::ErrorKind::PermissionDenied {
        true => io::Error::other("user namespaces are restricted by AppArmor"),
        false => io::Error::other(format!("{what}: {error}")),
    }
}

/// Makes nebula's own folders in the view ones that cannot be written, and hides the view itself.
fn protect(view: &ViewStart, home: &OwnedFd, own: Option<&OwnedFd>) -> io::Result<()> {
    own.map_or(Ok(()), |own| bind_to_read(own, &view.root.join(OWN)))?;
    if !view.home.starts_with(&view.root) {
        // No command may write there anyway.
        return Ok(());
    }
    bind_to_read(home, &view.home)?;
    let hidden = view.home.join(VIEWS);
    let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::RDONLY;
    Ok(rustix::mount::mount("tmpfs", &hidden, "tmpfs", flags, c"size=4k,mode=0500")?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_mounted_is_opened() {
        assert!(mounted().expect("read").len() > 1);
    }
}
