//! Follows the links in a path name by name, as the kernel does.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

use rustix::io::Errno;

/// Links followed before a path counts as a loop.
const MAX_LINKS: usize = 40;

/// The process whose view of the links counts.
pub trait LinkView {
    /// Returns the path in the place of one that means whoever reads it.
    fn own(&self, path: &Path) -> Option<PathBuf>;

    /// Returns where a link leads together with the rest of the path, if its target does not say so; the link itself:
    /// the path ends there.
    ///
    /// # Errors
    /// When it leads nowhere.
    fn nameless(&self, link: &Path, target: &Path, rest: &Path) -> io::Result<Option<PathBuf>>;

    /// Takes each path on the way that is looked at, where links have to be followed.
    fn passed(&self, _path: &Path) {}
}

/// The view of nebula itself, for paths below ordinary folders.
pub struct OwnView;

impl LinkView for OwnView {
    fn own(&self, _: &Path) -> Option<PathBuf> {
        None
    }

    fn nameless(&self, _: &Path, _: &Path, _: &Path) -> io::Result<Option<PathBuf>> {
        Ok(None)
    }
}

/// Returns an absolute path with its links followed, as far as it exists; `last`: also one at its very end.
///
/// # Errors
/// When a part of it cannot be looked at, or its links lead in a circle ([`is_loop`]).
pub fn follow_links(path: &Path, last: bool, view: &impl LinkView) -> io::Result<PathBuf> {
    #[cfg(target_os = "linux")]
    if let Some(plain) = without_links(path, last) {
        return Ok(plain);
    }
    let mut rest: VecDeque<OsString> = names(path).collect();
    let mut real = PathBuf::from("/");
    let mut links = 0;
    while let Some(name) = rest.pop_front() {
        if name == ".." {
            real.pop();
            continue;
        }
        real.push(&name);
        if let Some(own) = view.own(&real) {
            real = own;
        }
        view.passed(&real);
        let kind = match fs::symlink_metadata(&real) {
            Ok(meta) => meta.file_type(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                real.extend(rest);
                return Ok(real);
            }
            Err(error) => return Err(error),
        };
        if kind.is_symlink() && (last || !rest.is_empty()) {
            links += 1;
            if links > MAX_LINKS {
                return Err(Errno::LOOP.into());
            }
            let target = fs::read_link(&real)?;
            if let Some(whole) = view.nameless(&real, &target, &rest.iter().collect::<PathBuf>())? {
                if whole == real {
                    return Ok(real);
                }
                real = PathBuf::from("/");
                rest = names(&whole).collect();
                continue;
            }
            real.pop();
            if target.is_absolute() {
                real = PathBuf::from("/");
            }
            names(&target).rev().for_each(|name| rest.push_front(name));
        }
    }
    Ok(real)
}

/// Returns the path itself, where no link is on the way: one call tells.
#[cfg(target_os = "linux")]
fn without_links(path: &Path, last: bool) -> Option<PathBuf> {
    use std::os::unix::ffi::OsStrExt;

    use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, ResolveFlags, openat2, statat};
    let text = path.as_os_str().as_bytes();
    if text.starts_with(b"/proc") || text.starts_with(b"/dev") && !text.starts_with(b"/dev/shm/") {
        return None;
    }
    let name = match path.components().next_back()? {
        Component::Normal(name) => name,
        _ => return None,
    };
    if path.components().any(|part| part == Component::ParentDir) {
        return None;
    }
    let above = path.parent()?;
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let opened = openat2(CWD, above, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS).ok()?;
    let is_link = || {
        let stat = statat(&opened, name, AtFlags::SYMLINK_NOFOLLOW);
        stat.is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::Symlink)
    };
    let clean: PathBuf = above.components().collect();
    (!last || !is_link()).then(|| clean.join(name))
}

/// Returns whether an error says that links lead in a circle.
pub fn is_loop(error: &io::Error) -> bool {
    error.raw_os_error() == Some(Errno::LOOP.raw_os_error())
}

/// Returns the names in a path, `..` among them.
fn names(path: &Path) -> impl DoubleEndedIterator<Item = OsString> + '_ {
    path.components().filter(|c| matches!(c, Component::Normal(_) | Component::ParentDir)).map(|c| c.as_os_str().into())
}
