//! The repository is one unit: a restore brings back all of its files or none.

use std::collections::BTreeSet;
use std::time::Duration;

use crate::git;
use crate::proposal::{FileChange, ForeignChoice, RestorePreview, RestoreStatus};
use crate::workspace::Workspace;

fn is_in(path: &str) -> bool {
    path == ".git" || path.starts_with(".git/")
}

/// Leaves the repository as it is where not all of its files can come back: half of it would be none.
pub(super) fn all_or_none(workspace: &Workspace, previews: &mut [RestorePreview], files: &mut Vec<FileChange>) {
    let stays = |preview: &&RestorePreview| match preview.status {
        RestoreStatus::Restore(_) | RestoreStatus::Equal => false,
        RestoreStatus::Foreign { choice, .. } => choice != Some(ForeignChoice::TakeOld),
        RestoreStatus::NotArchived(_) => true,
    };
    let changed = previews.iter().filter(|preview| is_in(&preview.path)).find(stays);
    let why = match changed {
        Some(preview) => Some(format!("{} was changed by someone else", preview.path)),
        None if workspace.root().join(".git/index.lock").exists() => Some("git is at work in it".to_string()),
        None => missing_object(workspace, files),
    };
    let Some(why) = why.filter(|_| files.iter().any(|file| is_in(&file.path))) else { return };
    files.retain(|file| !is_in(&file.path));
    for preview in previews.iter_mut().filter(|preview| is_in(&preview.path)) {
        if let RestoreStatus::Restore(_) = preview.status {
            preview.status = RestoreStatus::NotArchived(format!("the repository stays: {why}"));
        }
    }
}

/// Returns why refs that come back would lead nowhere; none: what they name is there, or comes back with them.
fn missing_object(workspace: &Workspace, files: &[FileChange]) -> Option<String> {
    let comes_back = |object: &String| {
        let path = format!(".git/objects/{}/{}", &object[..2], &object[2..]);
        files.iter().any(|file| file.path == path)
    };
    let refs = files.iter().filter(|file| is_ref(&file.path)).filter_map(|file| file.after.text());
    let named: BTreeSet<String> = refs.flat_map(objects_in).filter(|object| !comes_back(object)).collect();
    let packs = files.iter().any(|file| file.path.starts_with(".git/objects/pack/"));
    if named.is_empty() || packs {
        return None;
    }
    let named: Vec<String> = named.into_iter().collect();
    match git::Repository::find(workspace.root()).and_then(|found| found.missing(&named, LIMIT)) {
        Ok(missing) => missing.first().map(|object| format!("its object {object} is gone")),
        Err(error) => Some(error.to_string()),
    }
}

/// How long git may take to look for objects.
const LIMIT: Duration = Duration::from_secs(10);

/// Whether a file of the repository says where a branch stands.
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

    #[test]
    fn objects_are_read_out_of_refs() {
        let (a, b) = ("a".repeat(40), "0123456789abcdef".repeat(4));
        assert_eq!(objects_in(&format!("{a}\n")), [a.as_str()]);
        assert_eq!(objects_in(&format!("# pack-refs\n{a} refs/heads/main\n^{b}\n")), [a.as_str(), b.as_str()]);
        assert!(objects_in("ref: refs/heads/main\n").is_empty());
        assert!(is_ref(".git/refs/heads/x") && !is_ref(".git/logs/HEAD"));
    }
}
