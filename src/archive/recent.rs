//! The newest versions of the files that this process archives, so that archiving once more need not list a folder
//! that grows with every edit. Only a help for sharing storage: what is not remembered is looked up, and what is
//! found is compared byte for byte before it is shared.

use std::collections::{HashMap, VecDeque};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use super::{Id, Sha, version};
use crate::disk::{self, Folder};

/// Versions of a file looked at, from the newest, for one whose storage can be shared.
const LOOK_BACK: usize = 16;
/// Files whose versions are remembered at most.
const FILES: usize = 256;

/// The remembered part of the archive.
#[derive(Default)]
pub(super) struct Recent {
    /// The newest id of the archive when it was noted: with another one, someone else has archived since.
    as_of: Option<Id>,
    /// The newest versions, newest first, by the folder they lie in.
    folders: HashMap<PathBuf, VecDeque<RecentVersion>>,
}

/// One version.
struct RecentVersion {
    file: PathBuf,
    /// The SHA-256 of its bytes, where this process wrote them.
    sha: Option<Sha>,
}

impl Recent {
    /// Begins to archive while `newest` is the archive's newest id: what is remembered from another one is dropped.
    pub fn begin(&mut self, newest: Id) {
        if self.as_of != Some(newest) {
            self.folders.clear();
        }
        // Holds again once everything is archived.
        self.as_of = None;
    }

    /// Records the newest id once everything is archived.
    pub fn done(&mut self, newest: Id) {
        self.as_of = Some(newest);
    }

    /// Records a version of these bytes that now lies at `file`.
    pub fn add(&mut self, file: PathBuf, sha: Option<Sha>) {
        let Some(version) = file.parent().and_then(|folder| self.folders.get_mut(folder)) else { return };
        version.truncate(LOOK_BACK - 1);
        version.push_front(RecentVersion { file, sha });
    }

    /// Returns a recent version in `folder` of equal bytes and mode, whose storage a new one can share.
    pub fn equal_one(&mut self, folder: &Folder, bytes: &[u8], mode: u32, sha: Option<Sha>) -> Option<PathBuf> {
        let may_be = |version: &&RecentVersion| version.sha.is_none() || version.sha == sha;
        self.newest(folder)
            .iter()
            .filter(may_be)
            .map(|version| &version.file)
            .find(|f| is_equal(folder, f, bytes, mode))
            .cloned()
    }

    fn newest(&mut self, folder: &Folder) -> &VecDeque<RecentVersion> {
        if self.folders.len() >= FILES && !self.folders.contains_key(folder.path()) {
            self.folders.clear();
        }
        self.folders.entry(folder.path().to_path_buf()).or_insert_with(|| {
            // A folder that cannot be listed shares nothing.
            let versions = version::list(folder).unwrap_or_default();
            let newest = versions.into_iter().rev().take(LOOK_BACK).filter(|v| !v.absent);
            newest.map(|v| RecentVersion { file: v.file, sha: None }).collect()
        })
    }
}

fn is_equal(folder: &Folder, file: &Path, bytes: &[u8], mode: u32) -> bool {
    let Some(file) = file.file_name().and_then(|name| folder.open_file(name).ok()) else { return false };
    file.metadata().is_ok_and(|m| m.len() == bytes.len() as u64 && m.permissions().mode() & 0o7777 == mode)
        && disk::read_open(&file, bytes.len() as u64).is_ok_and(|b| b == bytes)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_folder_is_listed_again_only_when_someone_else_has_archived() {
        let dir = tempfile::tempdir().expect("a folder");
        let folder = Folder::open(dir.path()).expect("open");
        let (first, second) = (Id::after(Id::MIN), Id::after(Id::after(Id::MIN)));
        let put = |id: Id, text: &str| {
            let file = dir.path().join(format!("{id}.txt"));
            fs::write(&file, text).expect("written");
            fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).expect("set");
            file
        };
        let old = put(first, "old");
        let mut recent = Recent::default();
        let find = |recent: &mut Recent, text: &str| recent.equal_one(&folder, text.as_bytes(), 0o644, None);
        recent.begin(first);
        assert_eq!(find(&mut recent, "old"), Some(old.clone()));
        recent.done(second);

        let foreign = put(Id::after(second), "new");
        recent.begin(second);
        assert_eq!(find(&mut recent, "new"), None, "listed although nobody archived");
        recent.add(foreign.clone(), None);
        assert_eq!(find(&mut recent, "new"), Some(foreign.clone()));
        assert_eq!(recent.equal_one(&folder, b"old", 0o600, None), None, "another mode");
        // This time it does not come to its end.
        recent.begin(second);
        assert_eq!(find(&mut recent, "old"), Some(old));
        fs::remove_file(&foreign).expect("removed");
        assert_eq!(find(&mut recent, "new"), None);
    }
}
