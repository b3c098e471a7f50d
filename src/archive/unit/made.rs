//! A repository that goes with what is undone goes as a whole: with its objects, which are in no changeset. Where anything
//! else in it was made or changed since, it stays.

use std::collections::BTreeSet;
use std::io;

use rustix::fs::FileType;

use super::repository::stays;
use crate::disk::{self, Folder};
use crate::proposal::{FileChange, REPOSITORY, RestoreFate, RestorePreview, RestoreStatus, State};
use crate::text::name::text_of;
use crate::workspace::Workspace;

/// The folders of a repository that are in no changeset where git adds to them.
const ADDED_TO: &[&str] = &["objects/", "lfs/"];

/// Adds the objects of the repositories that go to a restore, or leaves such a repository out of it. Returns the folders of
/// the objects that go.
pub(in crate::archive) fn whole_or_none(
    workspace: &Workspace,
    previews: &mut Vec<RestorePreview>,
    files: &mut Vec<FileChange>,
) -> BTreeSet<String> {
    let goes = files.iter().filter(|file| file.after.is_absent() && is_repository(&file.path));
    let repositories: Vec<String> = goes.map(|file| file.path.clone()).collect();
    let mut gone = BTreeSet::new();
    for repository in repositories {
        match added(&repository, workspace, (previews, files)) {
            Ok(objects) => {
                gone.extend(ADDED_TO.iter().map(|folder| format!("{repository}{folder}")));
                for change in objects {
                    let status = RestoreStatus::Restore(RestoreFate::of(&change.before, &change.after), change.counts);
                    previews.push(RestorePreview { path: change.path.clone(), status });
                    files.push(change);
                }
            }
            Err(why) => leave(&repository, &why, previews, files),
        }
    }
    gone
}

/// Returns whether a path is the folder of a repository.
fn is_repository(path: &str) -> bool {
    path.strip_suffix('/').is_some_and(|path| path.rsplit('/').next() == Some(REPOSITORY))
}

/// Returns the removal of what a repository holds beside the files that go; the error is why it stays.
fn added(
    repository: &str,
    workspace: &Workspace,
    (previews, files): (&[RestorePreview], &[FileChange]),
) -> Result<Vec<FileChange>, String> {
    let mut parts = previews.iter().filter(|preview| preview.path.starts_with(repository));
    if let Some(why) = parts.find_map(stays) {
        return Err(why);
    }
    let goes = files.iter().filter(|file| file.after.is_absent() && file.path.starts_with(repository));
    let goes = goes.map(|file| file.path.as_str()).collect();
    let mut others = Vec::new();
    let folder = workspace.folder(repository.trim_end_matches('/'));
    folder
        .and_then(|folder| list_others(&folder, repository, &goes, &mut others))
        .map_err(|error| error.to_string())?;
    let is_object = |path: &str| ADDED_TO.iter().any(|folder| path[repository.len()..].starts_with(folder));
    if let Some(other) = others.iter().find(|path| !is_object(path)) {
        return Err(format!("it holds {other}, which was not made with it"));
    }
    others.into_iter().map(|path| removal(path, workspace)).collect()
}

fn removal(path: String, workspace: &Workspace) -> Result<FileChange, String> {
    let now = workspace.read_to_restore(&path).map_err(|error| error.to_string())?;
    let mut change = FileChange::new(path, now.state, State::Absent, "undo", &[]);
    change.restores = true;
    Ok(change)
}

/// Collects the paths in a folder, those of folders with a closing `/`, that are not among those that go.
fn list_others(folder: &Folder, path: &str, goes: &BTreeSet<&str>, others: &mut Vec<String>) -> io::Result<()> {
    for name in folder.names()? {
        let mut inner = format!("{path}{}", text_of(&name));
        let is_folder = folder.stat(&name)?.is_some_and(|stat| disk::is(&stat, FileType::Directory));
        if is_folder {
            inner.push('/');
            list_others(&folder.enter(&name)?, &inner, goes, others)?;
        }
        if !goes.contains(inner.as_str()) {
            others.push(inner);
        }
    }
    Ok(())
}

/// Leaves a repository out of a restore. Its line says why; of its files those keep a line that are chosen for.
fn leave(repository: &str, why: &str, previews: &mut Vec<RestorePreview>, files: &mut Vec<FileChange>) {
    // Of the workspace's own all files are looked at, and named, as one.
    let is_own = repository.trim_end_matches('/') == REPOSITORY;
    if !is_own {
        files.retain(|file| !file.path.starts_with(repository));
        previews.retain(|preview| {
            let is_chosen_for = matches!(preview.status, RestoreStatus::Foreign { .. });
            is_chosen_for || preview.path == repository || !preview.path.starts_with(repository)
        });
    }
    let why = if is_own { why.to_string() } else { format!("the repository stays: {why}") };
    if let Some(own) = previews.iter_mut().find(|preview| preview.path == repository) {
        own.status = RestoreStatus::Refused(why);
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;
    use crate::proposal::Counts;

    /// Returns the restore that takes these paths away, as they are.
    fn restore_of(root: &Path, paths: &[&str]) -> (Workspace, Vec<RestorePreview>, Vec<FileChange>) {
        let workspace = Workspace::open(root).expect("open");
        let files: Vec<_> =
            paths.iter().map(|path| removal((*path).to_string(), &workspace).expect("readable")).collect();
        let preview = |path: &&str| {
            let status = RestoreStatus::Restore(RestoreFate::Deleted, Counts::default());
            RestorePreview { path: (*path).to_string(), status }
        };
        (workspace, paths.iter().map(preview).collect(), files)
    }

    fn repository() -> tempfile::TempDir {
        let dir = tempfile::tempdir().expect("a folder");
        fs::create_dir_all(dir.path().join("sub/.git/objects/ab")).expect("made");
        for (path, text) in [("HEAD", "ref: refs/heads/main\n"), ("objects/ab/cd", "object")] {
            fs::write(dir.path().join("sub/.git").join(path), text).expect("written");
        }
        dir
    }

    #[test]
    fn objects_go_with_a_repository_that_goes_and_stay_with_one_that_stays() {
        let dir = repository();
        let made = ["sub/", "sub/.git/", "sub/.git/HEAD"];
        let (workspace, mut previews, mut files) = restore_of(dir.path(), &made);
        let gone = whole_or_none(&workspace, &mut previews, &mut files);
        let paths = |files: &[FileChange]| files.iter().map(|file| file.path.clone()).collect::<BTreeSet<_>>();
        let objects = ["sub/.git/objects/", "sub/.git/objects/ab/", "sub/.git/objects/ab/cd"];
        assert_eq!(paths(&files), made.iter().chain(&objects).map(|path| (*path).to_string()).collect());
        assert!(gone.contains("sub/.git/objects/") && previews.len() == files.len());
        let object = files.iter().find(|file| file.path.ends_with("cd")).expect("there");
        assert!(object.restores && object.before.text() == Some("object"));
        // Without the repository's folder among what goes, nothing is added.
        let (workspace, mut previews, mut files) = restore_of(dir.path(), &["sub/.git/HEAD"]);
        assert!(whole_or_none(&workspace, &mut previews, &mut files).is_empty() && files.len() == 1);
    }

    #[test]
    fn a_repository_stays_whole_where_something_was_made_or_changed_in_it() {
        let made = ["sub/", "sub/.git/", "sub/.git/HEAD"];
        let dir = repository();
        fs::create_dir_all(dir.path().join("sub/.git/refs")).expect("made");
        fs::write(dir.path().join("sub/.git/refs/stash"), "work").expect("written");
        let (workspace, mut previews, mut files) = restore_of(dir.path(), &made);
        assert!(whole_or_none(&workspace, &mut previews, &mut files).is_empty());
        assert_eq!(files.iter().map(|file| file.path.as_str()).collect::<Vec<_>>(), ["sub/"]);
        let RestoreStatus::Refused(why) = &previews[1].status else { panic!("{previews:?}") };
        assert_eq!(why, "the repository stays: it holds sub/.git/refs/stash, which was not made with it");
        assert_eq!(previews.len(), 2);

        let dir = repository();
        let (workspace, mut previews, mut files) = restore_of(dir.path(), &made);
        previews[2].status = RestoreStatus::Foreign {
            at: None,
            counts: Counts::default(),
            choice: None,
            conflicts: None,
            rung: None,
            is_later: false,
        };
        files.pop();
        assert!(whole_or_none(&workspace, &mut previews, &mut files).is_empty());
        let RestoreStatus::Refused(why) = &previews[1].status else { panic!("{previews:?}") };
        assert_eq!(why, "the repository stays: sub/.git/HEAD was changed by someone else");
        assert!(matches!(previews[2].status, RestoreStatus::Foreign { .. }) && files.len() == 1);
    }
}
