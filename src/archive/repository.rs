//! The repository is one unit: a restore brings back all of its files or none.

use std::collections::{BTreeSet, HashSet};
use std::time::Duration;

use crate::git;
use crate::proposal::{FileChange, ForeignChoice, RestorePreview, RestoreStatus};
use crate::workspace::Workspace;

fn is_in(path: &str) -> bool {
    path == ".git" || path.starts_with(".git/")
}

/// Leaves the repository as it is where not all of its files can come back: half of it would be none.
pub(super) fn all_or_none(workspace: &Workspace, previews: &mut [RestorePreview], files: &mut Vec<FileChange>) {
    if !files.iter().any(|file| is_in(&file.path)) {
        return;
    }
    let reason = previews.iter().filter(|preview| is_in(&preview.path)).find_map(stays);
    let reason = reason.or_else(|| is_locked(workspace, files)).or_else(|| missing_object(workspace, files));
    let Some(why) = reason else { return };
    let dropped: HashSet<String> = files.extract_if(.., |file| is_in(&file.path)).map(|file| file.path).collect();
    for preview in previews.iter_mut().filter(|preview| dropped.contains(&preview.path)) {
        preview.status = RestoreStatus::Refused(format!("the repository stays: {why}"));
    }
}

/// Returns why a file does not come back as it was; `None` if it does.
fn stays(preview: &RestorePreview) -> Option<String> {
    let path = &preview.path;
    match &preview.status {
        RestoreStatus::Restore(_) | RestoreStatus::Equal | RestoreStatus::NotUndone(_) => None,
        RestoreStatus::Foreign { choice: Some(ForeignChoice::RestoreVersion), .. } => None,
        RestoreStatus::Foreign { choice: Some(ForeignChoice::Merge), .. } => {
            Some(format!("{path} can only be kept or taken as a whole"))
        }
        RestoreStatus::Foreign { .. } => Some(format!("{path} was changed by someone else")),
        RestoreStatus::NotArchived(why) | RestoreStatus::Refused(why) => Some(format!("{path}: {why}")),
    }
}

/// Returns why git may be at work in the repository. A lock that the restore itself removes is one that a command left.
fn is_locked(workspace: &Workspace, files: &[FileChange]) -> Option<String> {
    const LOCK: &str = ".git/index.lock";
    let goes = files.iter().any(|file| file.path == LOCK && file.after.is_absent());
    (!goes && workspace.root().join(LOCK).exists())
        .then(|| format!("{LOCK} exists: wait for git to end, or delete it if none is running"))
}

/// Returns why restored refs would name missing objects; `None` if none does.
fn missing_object(workspace: &Workspace, files: &[FileChange]) -> Option<String> {
    let restored: HashSet<&str> =
        files.iter().filter(|file| !file.after.is_absent()).map(|file| file.path.as_str()).collect();
    let comes_back =
        |object: &String| restored.contains(format!(".git/objects/{}/{}", &object[..2], &object[2..]).as_str());
    let refs = files.iter().filter(|file| is_ref(&file.path)).filter_map(|file| file.after.text());
    let named: BTreeSet<String> = refs.flat_map(objects_in).filter(|object| !comes_back(object)).collect();
    if named.is_empty() || restored.iter().any(|path| path.starts_with(".git/objects/pack/")) {
        return None;
    }
    let named: Vec<String> = named.into_iter().collect();
    match git::Repository::find(workspace.root()).and_then(|found| found.missing(&named, LIMIT)) {
        Ok(missing) => missing.first().map(|object| format!("its object {object} is gone")),
        Err(error) => Some(error.to_string()),
    }
}

/// The time limit for git to look for objects.
const LIMIT: Duration = Duration::from_secs(10);

/// Returns whether a file of the repository says where a branch stands.
fn is_ref(path: &str) -> bool {
    path == ".git/HEAD" || path == ".git/packed-refs" || path.starts_with(".git/refs/")
}

/// Returns the objects that a text names, each by a word of 40 or 64 hexadecimal digits.
fn objects_in(text: &str) -> Vec<String> {
    let is_object = |word: &&str| [40, 64].contains(&word.len()) && word.bytes().all(|b| b.is_ascii_hexdigit());
    text.split(|c: char| c.is_whitespace() || c == '^').filter(is_object).map(str::to_string).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    use crate::proposal::{Counts, State};

    /// Returns a change of a file of the repository; `None`: it is removed.
    fn change(path: &str, after: Option<&str>) -> FileChange {
        let after = after.map_or(State::Absent, |text| State::File { bytes: text.as_bytes().into(), mode: None });
        FileChange::new(path, State::File { bytes: (*b"now").into(), mode: None }, after, "undo", &[])
    }

    /// Returns the words for each preview after all or none of the repository was chosen.
    fn words(root: &std::path::Path, statuses: &[(&str, RestoreStatus)], files: &[FileChange]) -> (Vec<String>, usize) {
        let workspace = Workspace::open(root).expect("open");
        let preview =
            |(path, status): &(&str, RestoreStatus)| RestorePreview { path: path.to_string(), status: status.clone() };
        let (mut previews, mut files) = (statuses.iter().map(preview).collect::<Vec<_>>(), files.to_vec());
        all_or_none(&workspace, &mut previews, &mut files);
        let word = |preview: RestorePreview| match preview.status {
            RestoreStatus::Refused(why) => why,
            RestoreStatus::Restore(_) => "restore".into(),
            other => format!("{other:?}"),
        };
        (previews.into_iter().map(word).collect(), files.len())
    }

    #[test]
    fn the_repository_comes_back_as_a_whole_or_says_why_not() {
        let dir = tempfile::tempdir().expect("a folder");
        std::fs::create_dir(dir.path().join(".git")).expect("made");
        let restore = || RestoreStatus::Restore(Counts::default());
        let take = RestoreStatus::Foreign {
            at: None,
            counts: Counts::default(),
            choice: Some(ForeignChoice::RestoreVersion),
            conflicts: None,
        };
        let config = change(".git/config", Some("then"));
        let lost = RestoreStatus::NotArchived("its version is gone".into());
        let why = "the repository stays: .git/HEAD: its version is gone";
        let all = [("a.txt", restore()), (".git/config", take), (".git/HEAD", lost)];
        let (outcomes, left) = words(dir.path(), &all, &[change("a.txt", Some("1")), config.clone()]);
        assert_eq!((outcomes[0].as_str(), outcomes[1].as_str(), left), ("restore", why, 1));

        // A lock that the command itself left is removed with what it did; any other one may be in use.
        std::fs::write(dir.path().join(".git/index.lock"), "").expect("written");
        let both = [(".git/config", restore()), (".git/index.lock", restore())];
        let (outcomes, left) = words(dir.path(), &both, &[config.clone(), change(".git/index.lock", None)]);
        assert_eq!((outcomes, left), (vec!["restore".to_string(); 2], 2));
        let (outcomes, left) = words(dir.path(), &both[..1], &[config]);
        assert!(outcomes[0].contains("delete it if none is running") && left == 0, "{outcomes:?}");
    }

    #[test]
    fn an_object_that_the_restore_removes_does_not_come_back() {
        let dir = tempfile::tempdir().expect("a folder");
        std::fs::create_dir(dir.path().join(".git")).expect("made");
        let object = "ab".repeat(20);
        let file = format!(".git/objects/ab/{}", "ab".repeat(19));
        let refers = change(".git/refs/heads/main", Some(&format!("{object}\n")));
        let workspace = Workspace::open(dir.path()).expect("open");
        assert_eq!(missing_object(&workspace, &[refers.clone(), change(&file, Some("x"))]), None);
        assert!(missing_object(&workspace, &[refers, change(&file, None)]).is_some());
    }

    #[test]
    fn objects_are_read_out_of_refs() {
        let (a, b) = ("a".repeat(40), "0123456789abcdef".repeat(4));
        assert_eq!(objects_in(&format!("{a}\n")), [a.as_str()]);
        assert_eq!(objects_in(&format!("# pack-refs\n{a} refs/heads/main\n^{b}\n")), [a.as_str(), b.as_str()]);
        assert!(objects_in("ref: refs/heads/main\n").is_empty());
        assert!(is_ref(".git/refs/heads/x") && !is_ref(".git/logs/HEAD"));
    }
}
