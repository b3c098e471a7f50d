//! Files and folders of a restore in whose place something stands that does not go with it: a folder with what stays,
//! as what can be built again and is in no version, or a file where a folder comes back. That stays, and the rest is restored.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};
use std::io;

use rustix::fs::FileType;

use super::moves::moved_from;
use crate::disk::{self, Folder};
use crate::proposal::{FileChange, RestorePreview, RestoreStatus};
use crate::text::name::text_of;
use crate::workspace::Workspace;

/// The reason why a folder does not go.
pub const NOT_EMPTY: &str = "something else is in it";

/// Returns those of the paths that come back which cannot, each with why; `goes`: the paths that are removed.
pub fn blocked<'p>(
    comes: impl Iterator<Item = &'p str>,
    goes: &BTreeSet<&str>,
    workspace: &Workspace,
) -> BTreeMap<&'p str, String> {
    let (folders, files): (Vec<&str>, Vec<&str>) = comes.partition(|path| path.ends_with('/'));
    let is_file = |folder: &&str| stays_no_folder(folder, goes, workspace).unwrap_or(false);
    let shut: BTreeSet<String> = folders.iter().copied().filter(is_file).map(String::from).collect();
    let not_emptied = OnceCell::new();
    let stays = |folder: String| {
        let not_emptied = || not_emptied.get_or_init(|| self::not_emptied(goes, workspace));
        !goes.contains(folder.as_str()) || not_emptied().contains_key(folder.as_str())
    };
    let why = |path: &'p str| match lies_in(path, &shut) {
        true => Some("a file or link is in the place of the folder, and stays"),
        false if path.ends_with('/') => None,
        false => (is_folder(path, workspace).unwrap_or(false) && stays(format!("{path}/")))
            .then_some("a folder is in its place, with what does not go; it stays"),
    };
    folders.iter().chain(&files).filter_map(|path| Some((*path, why(path)?.to_string()))).collect()
}

/// Returns those of the paths that go which are folders and cannot, as something in them does not go, each with why.
pub fn not_emptied<'p>(goes: &BTreeSet<&'p str>, workspace: &Workspace) -> BTreeMap<&'p str, String> {
    let mut stay: BTreeMap<&str, String> = BTreeMap::new();
    // Those in a folder are looked at before it.
    for path in goes.iter().copied().rev().filter(|path| path.ends_with('/')) {
        let goes = |inner: &str| goes.contains(inner) && !stay.contains_key(inner);
        let folder = workspace.folder(path.trim_end_matches('/'));
        if folder.and_then(|folder| holds_other(&folder, path, goes)).unwrap_or(false) {
            stay.insert(path, NOT_EMPTY.into());
        }
    }
    stay
}

/// Returns whether a folder itself holds something that does not go.
fn holds_other(folder: &Folder, path: &str, goes: impl Fn(&str) -> bool) -> io::Result<bool> {
    for name in folder.names()? {
        let mut inner = format!("{path}{}", text_of(&name));
        if folder.stat(&name)?.is_some_and(|stat| disk::is(&stat, FileType::Directory)) {
            inner.push('/');
        }
        if !goes(&inner) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Leaves such files out of a restore that is prepared, and says so in their previews.
pub(super) fn leave_out(workspace: &Workspace, previews: &mut [RestorePreview], files: &mut Vec<FileChange>) {
    let goes = files.iter().filter(|file| file.after.is_absent()).map(|file| file.path.as_str()).collect();
    let comes = files.iter().filter(|file| file.before.is_absent() && !file.after.is_absent());
    let stay = blocked(comes.map(|file| file.path.as_str()), &goes, workspace);
    if stay.is_empty() {
        return;
    }
    let mut stay: BTreeMap<String, String> = stay.into_iter().map(|(path, why)| (path.to_string(), why)).collect();
    // With the old path of a move the new one stays, too.
    let old = files.iter().filter(|file| stay.contains_key(&file.path));
    let new: Vec<_> = old.filter_map(|old| Some((old.moved.clone()?, moved_from(&old.path)))).collect();
    stay.extend(new);
    for preview in previews.iter_mut() {
        if let Some(why) = stay.get(&preview.path) {
            preview.status = RestoreStatus::Refused(why.clone());
        }
    }
    files.retain(|file| !stay.contains_key(&file.path));
}

/// Returns whether a file or a link is at the path of a folder, and does not go.
fn stays_no_folder(path: &str, goes: &BTreeSet<&str>, workspace: &Workspace) -> io::Result<bool> {
    let path = path.trim_end_matches('/');
    let (above, name) = path.rsplit_once('/').unwrap_or(("", path));
    let stat = workspace.folder(above)?.stat(name)?;
    // What is neither is removed in any case.
    let is_in_the_way = |kind| stat.as_ref().is_some_and(|stat| disk::is(stat, kind));
    Ok(!goes.contains(path) && [FileType::RegularFile, FileType::Symlink].into_iter().any(is_in_the_way))
}

/// Returns whether a folder is at the path of a file.
fn is_folder(path: &str, workspace: &Workspace) -> io::Result<bool> {
    let (above, name) = path.rsplit_once('/').unwrap_or(("", path));
    let stat = workspace.folder(above)?.stat(name)?;
    Ok(stat.is_some_and(|stat| disk::is(&stat, FileType::Directory)))
}

/// Returns whether a path lies in one of these folders, each with its closing `/`.
pub fn lies_in(path: &str, folders: &BTreeSet<String>) -> bool {
    path.match_indices('/').any(|(end, _)| folders.contains(&path[..=end]))
}
