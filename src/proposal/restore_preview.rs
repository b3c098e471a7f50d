//! Previews of a restore: what it would do with each file, shown before anything is restored.

use std::borrow::Borrow;
use std::collections::{BTreeMap, BTreeSet};

use super::{Counts, FileChange, MergeRung, State};
use crate::text::number::plural;

/// The repository of the workspace, which is one file of a restore.
pub const REPOSITORY: &str = ".git";
/// Stands in an archived path between the folder of a linked worktree's repository and the part of it: to the file system
/// the path is the same, and no other archived path holds it.
pub const LINKED: &str = "/./";

/// The choice for a file that someone else changed, in a restore.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ForeignChoice {
    /// The file stays as it is.
    Keep,
    /// Three-way merge.
    Merge,
    /// The archived version is restored; the current one is archived first.
    RestoreVersion,
}

/// The preview of a restore for one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RestorePreview {
    /// Normalised path.
    pub path: String,
    /// The effect on it.
    pub status: RestoreStatus,
}

/// The effect of a restore on a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RestoreStatus {
    /// Will be restored: how, and the lines that differ.
    Restore(RestoreFate, Counts),
    /// Is as it was already.
    Equal,
    /// Today's bytes are not what is taken back: someone else changed them, or nebula did later.
    Foreign {
        /// The time when it was changed, in unix milliseconds.
        at: Option<i64>,
        /// Lines that differ from what nebula wrote.
        counts: Counts,
        /// The choice so far.
        choice: Option<ForeignChoice>,
        /// True if a three-way merge meets conflicts; `None`: cannot be merged.
        conflicts: Option<usize>,
        /// The rung on which a merge joins both; `None`: cannot be merged.
        rung: Option<MergeRung>,
        /// True if later changesets changed it and no one else.
        is_later: bool,
    },
    /// Has no archived state, and why.
    NotArchived(String),
    /// Stays as it is although it has an archived state, and why.
    Refused(String),
    /// Is no file of the restore but something else that its command did, which is not brought back, and why.
    NotUndone(String),
}

/// The change of a path that a restore writes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RestoreFate {
    /// The file gets other contents.
    Content,
    /// The file gets other contents, and another mode: the present one and the restored one.
    ContentAndMode(u32, u32),
    /// The file is made: nothing, or no file, is there.
    Made,
    /// The file is deleted.
    Deleted,
    /// The mode alone is set: the present one and the restored one.
    Mode(u32, u32),
    /// The folder is made.
    FolderMade,
    /// The folder is removed, where it is empty.
    FolderRemoved,
    /// The repository as a whole: what of it changes, in words.
    Repository(String),
    /// The folder comes back with this many files.
    WholeMade(usize),
    /// The folder goes with this many files.
    WholeRemoved(usize),
}

impl RestoreFate {
    /// Returns what the way from one state to another is.
    pub fn of(now: &State, then: &State) -> Self {
        let same_bytes = match (now, then) {
            (State::File { bytes: a, .. }, State::File { bytes: b, .. }) => a == b,
            (State::Large(a), State::Large(b)) => a.sha256 == b.sha256,
            (State::Folder { .. }, State::Folder { .. }) => true,
            _ => false,
        };
        let mode = |state: &State| state.mode().map(|mode| mode & 0o7777);
        match (now, then) {
            _ if same_bytes => RestoreFate::Mode(mode(now).unwrap_or_default(), mode(then).unwrap_or_default()),
            (State::Folder { .. }, State::Absent) => RestoreFate::FolderRemoved,
            (_, State::Folder { .. }) => RestoreFate::FolderMade,
            (_, State::Absent) => RestoreFate::Deleted,
            (State::Absent | State::Folder { .. }, _) => RestoreFate::Made,
            _ => match mode(now).zip(mode(then)).filter(|(now, then)| now != then) {
                Some((now, then)) => RestoreFate::ContentAndMode(now, then),
                None => RestoreFate::Content,
            },
        }
    }
}

/// Returns whether a normalised path is a part of the workspace's repository.
pub fn is_in_repository(path: &str) -> bool {
    part_of_repository(path).is_some()
}

/// Returns whether a normalised path is a part of a repository: the workspace's, or one within it.
pub fn is_in_any_repository(path: &str) -> bool {
    is_in_repository(path) || path.split('/').any(|name| name == REPOSITORY)
}

/// Returns how the workspace's repository calls one of its parts: `HEAD`, `refs/heads/main`; none: it is no part of it.
/// That of a linked worktree lies outside, and its archived paths are marked.
pub fn part_of_repository(path: &str) -> Option<&str> {
    match path.starts_with('/') {
        true => path.split_once(LINKED).map(|(_, part)| part),
        false => path.strip_prefix(REPOSITORY)?.strip_prefix('/'),
    }
}

/// Returns how many files these are, the repository as one: `3 files and the repository`.
pub fn counted<'a>(paths: impl Iterator<Item = &'a str>) -> String {
    let (of_repository, files): (Vec<&str>, Vec<&str>) = paths.partition(|path| is_in_repository(path));
    match (files.len(), of_repository.is_empty()) {
        (n, true) => plural(n, "file"),
        (0, false) => "the repository".into(),
        (n, false) => format!("{} and the repository", plural(n, "file")),
    }
}

/// Returns how many these are in a list, the repository as one.
pub fn units<'a>(paths: impl Iterator<Item = &'a str>) -> usize {
    let (of_repository, files): (Vec<&str>, Vec<&str>) = paths.partition(|path| is_in_repository(path));
    files.len() + usize::from(!of_repository.is_empty())
}

/// Returns the unit of a restore that a path belongs to, by the folders that come or go as one; none: it is restored alone.
pub fn unit_of<'p>(path: &'p str, wholes: &BTreeSet<&str>) -> Option<&'p str> {
    if is_in_repository(path) { Some(REPOSITORY) } else { outermost_folder(path, wholes) }
}

/// Returns the outermost of these folders, each with its closing `/`, that holds a path or is it.
pub fn outermost_folder<'p>(path: &'p str, folders: &BTreeSet<&str>) -> Option<&'p str> {
    path.match_indices('/').map(|(end, _)| &path[..=end]).find(|folder| folders.contains(folder))
}

/// Returns the folders among these that come or go as one.
pub fn whole_folders(previews: &[RestorePreview]) -> BTreeSet<&str> {
    previews.iter().filter(|preview| preview.is_whole()).map(|preview| preview.path.as_str()).collect()
}

impl RestorePreview {
    /// Returns whether it is of a folder that comes or goes as one.
    fn is_whole(&self) -> bool {
        matches!(self.status, RestoreStatus::Restore(RestoreFate::WholeMade(_) | RestoreFate::WholeRemoved(_), _))
    }

    /// Returns whether it is of something that was written, by the normalised paths that were.
    pub fn is_among<T: Borrow<str> + Ord, V>(&self, written: &BTreeMap<T, V>) -> bool {
        match &self.status {
            RestoreStatus::Restore(RestoreFate::Repository(_), _) => {
                written.keys().any(|path| is_in_repository(path.borrow()))
            }
            RestoreStatus::Restore(RestoreFate::WholeMade(_) | RestoreFate::WholeRemoved(_), _) => {
                written.keys().any(|path| path.borrow().starts_with(&self.path))
            }
            _ => written.contains_key(self.path.as_str()),
        }
    }

    /// Returns that of a change that restores a path.
    pub fn of_change(change: &FileChange) -> Self {
        let fate = RestoreFate::of(&change.before, &change.after);
        RestorePreview { path: change.path.clone(), status: RestoreStatus::Restore(fate, change.counts) }
    }

    /// Returns whether it is of a file that may be written.
    pub fn is_file(&self) -> bool {
        !matches!(self.status, RestoreStatus::NotUndone(_))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fate_of_a_path_is_that_of_its_states() {
        let file = |text: &str, mode| State::File { bytes: text.as_bytes().into(), mode: Some(mode) };
        let folder = |mode| State::Folder { mode };
        let link = State::Link { target: "x".into() };
        for (now, then, fate) in [
            (file("a", 0o644), file("b", 0o644), RestoreFate::Content),
            (file("a", 0o600), file("b", 0o644), RestoreFate::ContentAndMode(0o600, 0o644)),
            (file("a", 0o644), file("a", 0o755), RestoreFate::Mode(0o644, 0o755)),
            (file("a", 0o644), State::Absent, RestoreFate::Deleted),
            (State::Absent, file("a", 0o644), RestoreFate::Made),
            (folder(0o755), folder(0o700), RestoreFate::Mode(0o755, 0o700)),
            (folder(0o755), State::Absent, RestoreFate::FolderRemoved),
            (State::Absent, folder(0o755), RestoreFate::FolderMade),
            (file("a", 0o644), folder(0o755), RestoreFate::FolderMade),
            (folder(0o755), file("a", 0o644), RestoreFate::Made),
            (link.clone(), file("a", 0o644), RestoreFate::Content),
            (link, State::Absent, RestoreFate::Deleted),
        ] {
            assert_eq!(RestoreFate::of(&now, &then), fate, "{now:?} {then:?}");
        }
    }

    #[test]
    fn the_repository_is_written_with_any_of_its_files() {
        let preview = |path: &str, fate| RestorePreview {
            path: path.into(),
            status: RestoreStatus::Restore(fate, Counts::default()),
        };
        let whole = preview(".git", RestoreFate::Repository(String::new()));
        let written = |paths: &[&str]| paths.iter().map(|path| (path.to_string(), ())).collect::<BTreeMap<_, _>>();
        assert!(whole.is_among(&written(&["a", ".git/HEAD"])));
        assert!(whole.is_among(&written(&["/r/.git/./worktrees/w/HEAD"])));
        assert!(!whole.is_among(&written(&["/r/.git/HEAD", "/r/a"])), "of another repository");
        assert!(!whole.is_among(&written(&["a", ".gitignore", "b/.git/HEAD"])));
        assert!(preview("a", RestoreFate::Content).is_among(&written(&["a"])));
    }
}
