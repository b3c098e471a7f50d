//! A listing: the lines of its file, and the versions that they are.

use std::collections::HashMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::archive::version::Listed;
use crate::archive::{Id, Version};

/// The kind of a listed state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum ListedKind {
    Absent,
    File,
    Link,
    Folder,
}

/// A line of a listing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct ListedVersion {
    /// Normalised path; a folder's ends in `/`.
    pub path: String,
    pub version: String,
    pub kind: ListedKind,
    #[serde(default)]
    pub mode: u32,
    #[serde(default)]
    pub size: u64,
    /// SHA-256 of the state, in hexadecimal, as the archive takes it of states.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
}

/// The versions of a folder and of all in it. The first is that of the folder.
#[derive(Debug)]
pub(in crate::archive) struct Listing {
    pub id: Id,
    pub folder: String,
    /// Its file.
    file: PathBuf,
    /// The place of its folder when it is removed.
    removed: PathBuf,
    pub(super) lines: Vec<(Id, ListedVersion)>,
    by_path: HashMap<String, usize>,
    by_id: HashMap<Id, usize>,
}

impl Listing {
    /// Reads a listing from its file; `removed` is where its folder lies when it is removed.
    pub(super) fn read(id: Id, bytes: &[u8], file: PathBuf, removed: PathBuf) -> Option<Self> {
        let lines = bytes.split(|b| *b == b'\n').filter(|line| !line.is_empty());
        let lines = lines.map(|line| {
            let line: ListedVersion = serde_json::from_slice(line).ok()?;
            Some((Id::parse(&line.version)?, line))
        });
        let lines = lines.collect::<Option<Vec<_>>>()?;
        let folder = lines.first().filter(|(first, line)| *first == id && line.path.ends_with('/'))?.1.path.clone();
        // What it says of other paths is not believed.
        let is_own = lines.iter().all(|(_, line)| line.path.starts_with(&folder) && !leads_out(&line.path));
        let by_path: HashMap<_, _> =
            lines.iter().enumerate().map(|(place, (_, line))| (line.path.clone(), place)).collect();
        let by_id: HashMap<_, _> = lines.iter().enumerate().map(|(place, (id, _))| (*id, place)).collect();
        let each_once = by_path.len() == lines.len() && by_id.len() == lines.len();
        (is_own && each_once).then_some(Listing { id, folder, file, removed, lines, by_path, by_id })
    }

    /// Returns the number of versions.
    pub fn len(&self) -> usize {
        self.lines.len()
    }

    /// Returns all paths with their versions.
    pub fn versions(&self) -> impl Iterator<Item = (&str, Version)> {
        self.lines.iter().map(|line| (line.1.path.as_str(), self.version(line)))
    }

    pub(super) fn version(&self, (id, line): &(Id, ListedVersion)) -> Version {
        let file = match line.kind {
            ListedKind::File | ListedKind::Link => self.removed.join(self.below(line)),
            ListedKind::Absent | ListedKind::Folder => self.file.clone(),
        };
        let (absent, folder) = (line.kind == ListedKind::Absent, line.kind == ListedKind::Folder);
        Version { id: *id, absent, folder, listed: Some(Listed { listing: self.id, size: line.size }), file }
    }

    /// Returns the line of a path.
    pub(super) fn of_path(&self, path: &str) -> Option<&(Id, ListedVersion)> {
        self.by_path.get(path).map(|place| &self.lines[*place])
    }

    /// Returns the line of a version.
    pub(super) fn of_version(&self, id: Id) -> Option<&ListedVersion> {
        self.by_id.get(&id).map(|place| &self.lines[*place].1)
    }

    /// Returns the path of a line below its folder.
    pub(super) fn below<'a>(&self, line: &'a ListedVersion) -> &'a str {
        line.path.strip_prefix(&self.folder).unwrap_or_default()
    }
}

/// Returns whether a path may lead elsewhere than to a name below its beginning.
fn leads_out(path: &str) -> bool {
    path.trim_end_matches('/').split('/').any(|part| matches!(part, "" | "." | ".."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_listing_tells_of_its_own_folder_alone_and_of_each_path_once() {
        let ids = ["01a21ea9-a667-712b-abaf-c1b593ff5d2f", "01a21ea9-a667-712b-abaf-c1b593ff5d30"];
        let id = Id::parse(ids[0]).expect("an id");
        let read = |lines: [(&str, &str); 2]| {
            let line =
                |(path, version)| format!("{{\"path\":\"{path}\",\"version\":\"{version}\",\"kind\":\"absent\"}}\n");
            let text = lines.map(line).concat();
            Listing::read(id, text.as_bytes(), "f".into(), "r".into()).map(|listing| listing.len())
        };
        assert_eq!(read([("big/", ids[0]), ("big/a", ids[1])]), Some(2));
        for (folder, path, version) in [
            ("big/", "big/a", ids[0]),
            ("big/", "big/", ids[1]),
            ("big/", "other/a", ids[1]),
            ("big/", "big/../a", ids[1]),
            ("/etc/", "/etc/a", ids[1]),
            ("../", "../a", ids[1]),
            ("big", "big/a", ids[1]),
        ] {
            assert_eq!(read([(folder, ids[0]), (path, version)]), None, "{folder} {path}");
        }
    }
}
