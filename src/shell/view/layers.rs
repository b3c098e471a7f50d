//! The place of a view's layers: `.shaft`, or memory where the file system of `.shaft` cannot hold them.

use std::fs;
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

use rustix::fs::XattrFlags;
use rustix::process::geteuid;

/// File systems that hold no upper layer of an overlay.
const UNFIT: &[(i128, &str)] = &[
    (0x794c_7630, "an overlay file system"),
    (0x6573_5546, "a FUSE file system"),
    (0x6969, "a network file system"),
    (0x0102_1997, "a network file system"),
    (0xff53_4d42, "a network file system"),
    (0xfe53_4d42, "a network file system"),
];
/// The kind of a file system in memory.
const TMPFS: i128 = 0x0102_1994;
/// The folder for files in memory.
const MEMORY: &str = "/dev/shm";
/// An attribute of the kind that an overlay marks replaced folders with.
const ATTRIBUTE: &str = "user.nebula";

/// Returns the folder that views lie in where they cannot lie in `home`, which holds `.shaft`; none: they lie there.
///
/// # Errors
/// Why they can lie nowhere, in words.
pub fn elsewhere(home: &Path) -> Result<Option<PathBuf>, String> {
    match unfit(home) {
        None => Ok(None),
        Some(kind) => in_memory().map(Some).ok_or_else(|| on(kind)),
    }
}

/// Returns the words for a workspace on a file system of this kind.
pub fn on(kind: &str) -> String {
    format!("the workspace is on {kind}")
}

/// Returns the kind of the file system at a path, or at what is there above it, where it holds no layers.
pub fn unfit(path: &Path) -> Option<&'static str> {
    let kind = path.ancestors().find_map(kind_of)?;
    UNFIT.iter().find(|(unfit, _)| *unfit == kind).map(|(_, words)| *words)
}

fn kind_of(path: &Path) -> Option<i128> {
    rustix::fs::statfs(path).ok().map(|about| i128::from(about.f_type))
}

/// Returns the place of this person's folder of views in memory, which no command may change.
pub fn in_memory_path() -> PathBuf {
    Path::new(MEMORY).join(format!("nebula-views-{}", geteuid().as_raw()))
}

/// Returns this person's folder of views in memory, made where it is missing.
fn in_memory() -> Option<PathBuf> {
    let (user, folder) = (geteuid().as_raw(), in_memory_path());
    let made = fs::DirBuilder::new().mode(0o700).create(&folder);
    let is_missing = made.is_err_and(|error| error.kind() != io::ErrorKind::AlreadyExists);
    if kind_of(Path::new(MEMORY)) != Some(TMPFS) || is_missing {
        return None;
    }
    // Anyone may make it there.
    let is_own = |meta: &fs::Metadata| meta.is_dir() && meta.uid() == user && meta.mode() & 0o077 == 0;
    fs::symlink_metadata(&folder).ok().filter(is_own)?;
    // Kernels before 6.6 keep none there.
    rustix::fs::setxattr(&folder, ATTRIBUTE, b"y", XattrFlags::empty()).ok()?;
    Some(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layers_in_memory_are_this_persons_alone() {
        if let Some(folder) = in_memory() {
            let meta = fs::symlink_metadata(&folder).expect("there");
            assert_eq!((meta.uid(), meta.mode() & 0o777), (geteuid().as_raw(), 0o700));
        }
        assert_eq!(unfit(Path::new("/proc/self/none/at/all")), None);
        if kind_of(Path::new(MEMORY)) == Some(TMPFS) {
            assert_eq!(elsewhere(&Path::new(MEMORY).join("none/.shaft")), Ok(None));
        }
    }
}
