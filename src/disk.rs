//! Atomic replacement of a file, for whoever owns it.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

/// Replaces the file at `path` (or creates it) with `bytes` and permission bits `mode` (unix; elsewhere ignored).
///
/// The bytes go to a temporary file beside it, are flushed to disk, and take the name in one step, which is
/// flushed too: a reader, also one after a crash, finds the old file or the new one, whole. The folder must
/// exist. On an error the old file is as it was.
pub fn replace(path: &Path, bytes: &[u8], mode: u32) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut temporary = tempfile::Builder::new();
    temporary.prefix(".nebula-tmp-");
    #[cfg(unix)]
    temporary.permissions(std::os::unix::fs::PermissionsExt::from_mode(mode));
    #[cfg(not(unix))]
    let _ = mode;
    let mut file = temporary.tempfile_in(folder)?;
    file.write_all(bytes)?;
    #[cfg(unix)]
    // The creation mode is cut by the umask; this is not.
    file.as_file().set_permissions(std::os::unix::fs::PermissionsExt::from_mode(mode))?;
    file.as_file().sync_all()?;
    file.persist(path).map_err(|why| why.error)?;
    sync_folder(folder)
}

/// Flushes the names in `folder` to disk. Where folders cannot be opened (not on unix) this does nothing.
pub fn sync_folder(folder: &Path) -> io::Result<()> {
    if cfg!(unix) { File::open(folder)?.sync_all() } else { fs::metadata(folder).map(drop) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replaces_whole_and_leaves_nothing_beside() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        replace(&path, b"one", 0o600).unwrap();
        replace(&path, b"two", 0o640).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"two");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o640);
        }
    }

    #[test]
    fn a_failure_leaves_the_old_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        fs::create_dir(&path).unwrap();
        assert!(replace(&path, b"x", 0o600).is_err());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
