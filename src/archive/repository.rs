//! The repository is one unit: a restore brings back all of its files or none.

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
        None => None,
    };
    let Some(why) = why.filter(|_| files.iter().any(|file| is_in(&file.path))) else { return };
    files.retain(|file| !is_in(&file.path));
    for preview in previews.iter_mut().filter(|preview| is_in(&preview.path)) {
        if let RestoreStatus::Restore(_) = preview.status {
            preview.status = RestoreStatus::NotArchived(format!("the repository stays: {why}"));
        }
    }
}
