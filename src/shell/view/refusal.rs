//! The reasons why there can be no view of a workspace, found before one is mounted.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::process::{getegid, geteuid};

use crate::shell::places::{PathClass, PathClasses};
use crate::text::clean::clean_line;

/// The time limit for looking at whose the files of a workspace are.
const PATIENCE: Duration = Duration::from_millis(50);

/// Returns why there can be no view of a workspace whose `.shaft` lies at `home`; none: there may be one. Only this person's
/// own user and group are known in it.
pub fn refusal(root: &Path, home: &Path) -> Option<String> {
    let Ok(meta) = fs::metadata(root) else { return Some("the workspace cannot be looked at".into()) };
    let (user, group) = (geteuid().as_raw(), getegid().as_raw());
    let refused = match (meta.uid() == user, meta.gid() == group) {
        _ if root == Path::new("/") => "the workspace is the root of the file system",
        (false, _) => "the workspace belongs to another user",
        (true, false) => "the workspace's group is not the user's own",
        (true, true) => return of_mounts(root, home),
    };
    Some(refused.into())
}

/// Returns why there can be no view for what is mounted at or below a workspace.
#[cfg(target_os = "linux")]
fn of_mounts(root: &Path, home: &Path) -> Option<String> {
    mount_within(root).or_else(|| super::layers::elsewhere(home).err())
}

#[cfg(not(target_os = "linux"))]
fn of_mounts(_root: &Path, _home: &Path) -> Option<String> {
    None
}

/// Looks for a mount that lies on the workspace's own: an overlay takes no layer whose parts are covered.
#[cfg(target_os = "linux")]
fn mount_within(root: &Path) -> Option<String> {
    use rustix::fs::{AtFlags, CWD, StatxFlags};

    let about = rustix::fs::statx(CWD, root, AtFlags::empty(), StatxFlags::MNT_ID).ok()?;
    let all = super::mountinfo::mounts().ok()?;
    let inside =
        |at: &Path| at.strip_prefix(root).ok().map(|name| clean_line(&name.display().to_string()).into_owned());
    let mut names = all.iter().filter(|mount| mount.above == about.stx_mnt_id).filter_map(|mount| inside(&mount.at));
    names.find(|name| !name.is_empty()).map(|name| format!("{name} is a mount point in the workspace"))
}

/// Returns why there can be no view of what lies in a workspace, as far as it is looked at within a short time: a file of
/// another user or group cannot be changed in one. What can be rebuilt is not looked at.
pub fn refusal_within(places: &PathClasses) -> Option<String> {
    let (user, group) = (geteuid().as_raw(), getegid().as_raw());
    let until = Instant::now() + PATIENCE;
    let mut folders = vec![places.root().to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            if Instant::now() > until {
                return None;
            }
            let (path, Ok(meta)) = (entry.path(), entry.metadata()) else { continue };
            if meta.is_dir() {
                if matches!(places.of(&path, true), PathClass::Refused | PathClass::Derived(_)) {
                    continue;
                }
                folders.push(path.clone());
            }
            let whose = match (meta.uid() == user, meta.gid() == group) {
                (true, true) => continue,
                (false, _) => "belongs to another user",
                (true, false) => "is of a group other than the user's own",
            };
            let name = path.strip_prefix(places.root()).unwrap_or(&path).display().to_string();
            return Some(format!("{} {whose}", clean_line(&name)));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::archive::{Archive, ArchiveSettings};
    use crate::workspace::Workspace;

    #[test]
    fn a_workspace_of_another_group_has_no_view() {
        let dir = tempfile::tempdir().expect("a folder");
        let workspace = Workspace::open(dir.path()).expect("open");
        let archive = Archive::open(&workspace, &ArchiveSettings::default()).expect("open");
        let refused = |root: &Path| refusal(root, archive.home());
        assert_eq!(refused(Path::new("/")).as_deref(), Some("the workspace is the root of the file system"));
        fs::create_dir_all(dir.path().join("a/b")).expect("made");
        fs::write(dir.path().join("a/b/c"), "").expect("written");
        let within = || {
            let places = PathClasses::new(&workspace, &archive, &crate::shell::PlaceSettings::default());
            refusal_within(&places)
        };
        assert_eq!(within(), None);
        // Only root can give it away.
        if std::os::unix::fs::chown(dir.path().join("a/b/c"), None, Some(12_345)).is_ok() {
            assert_eq!(within().as_deref(), Some("a/b/c is of a group other than the user's own"));
        }
        if std::os::unix::fs::chown(dir.path(), None, Some(12_345)).is_ok() {
            assert_eq!(refused(dir.path()).as_deref(), Some("the workspace's group is not the user's own"));
        }
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_mount_within_is_named() {
        // Most machines mount folders there.
        let found = mount_within(Path::new("/dev"));
        let is_mounted = |name: &str| {
            let list = fs::read_to_string("/proc/self/mountinfo").expect("read");
            list.lines().any(|line| line.split(' ').nth(4) == Some(&format!("/dev/{name}")))
        };
        if let Some(why) = &found {
            let name = why.strip_suffix(" is a mount point in the workspace").expect("a name");
            assert!(is_mounted(name), "{why}");
        }
        assert!(found.is_some() || !is_mounted("shm") || !is_mounted("pts"), "{found:?}");
        let dir = tempfile::tempdir().expect("a folder");
        assert_eq!(mount_within(dir.path()), None);
    }
}
