//! The mounts that a view is made of: overlays, and what is only read.

use std::ffi::CString;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::Path;

use rustix::fs::{CWD, Mode, OFlags, StatVfsMountFlags};
use rustix::mount::MountFlags;

use super::{UPPER, WORK};

/// The layers of an overlay, opened before anything is mounted over them.
pub struct Layers {
    pub lower: OwnedFd,
    upper: OwnedFd,
    work: OwnedFd,
}

impl Layers {
    pub fn open(lower: &Path, folder: &Path) -> io::Result<Self> {
        Ok(Layers { lower: open(lower)?, upper: open(&folder.join(UPPER))?, work: open(&folder.join(WORK))? })
    }

    /// Mounts the overlay. Links to descriptors need no quoting.
    pub fn mount(&self, at: &Path) -> io::Result<()> {
        let [lower, upper, work] = [&self.lower, &self.upper, &self.work].map(link_of);
        let options = CString::new(format!("lowerdir={lower},upperdir={upper},workdir={work},userxattr"))?;
        let flags = MountFlags::NOSUID | MountFlags::NODEV;
        Ok(rustix::mount::mount("overlay", at, "overlay", flags, options.as_c_str())?)
    }
}

/// Mounts a folder or a file at a path so that it is only read there.
pub fn bind_to_read(folder: &OwnedFd, at: &Path) -> io::Result<()> {
    rustix::mount::mount_bind(link_of(folder), at)?;
    only_read(folder, at)
}

/// Makes the mount at a path, which `folder` lies in, one that is only read.
pub fn only_read(folder: &OwnedFd, at: &Path) -> io::Result<()> {
    // A mount of another namespace keeps its own restrictions.
    let has = rustix::fs::fstatvfs(folder)?.f_flag;
    let inherited = [
        (StatVfsMountFlags::NOSUID, MountFlags::NOSUID),
        (StatVfsMountFlags::NODEV, MountFlags::NODEV),
        (StatVfsMountFlags::NOEXEC, MountFlags::NOEXEC),
        (StatVfsMountFlags::NOATIME, MountFlags::NOATIME),
        (StatVfsMountFlags::NODIRATIME, MountFlags::NODIRATIME),
        (StatVfsMountFlags::RELATIME, MountFlags::RELATIME),
    ];
    let inherited = inherited.into_iter().filter(|(flag, _)| has.contains(*flag)).map(|(_, flag)| flag);
    let flags = inherited.fold(MountFlags::BIND | MountFlags::RDONLY, |all, flag| all | flag);
    Ok(rustix::mount::mount_remount(at, flags, c"")?)
}

/// Opens a folder.
pub fn open(path: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    Ok(rustix::fs::openat(CWD, path, flags, Mode::empty())?)
}

/// Returns a path that leads to what is opened.
pub fn link_of(folder: &OwnedFd) -> String {
    format!("/proc/self/fd/{}", folder.as_raw_fd())
}
