//! The repository in a restore: one row, in words of its own.

use crate::proposal::{FileChange, RestoreFate, RestorePreview, RestoreStatus};

/// Names what a restore does with the repository, which is one row, as its preview does.
pub fn name_repository(files: &mut [FileChange], previews: &[RestorePreview]) {
    let words = previews.iter().find_map(|preview| match &preview.status {
        RestoreStatus::Restore(RestoreFate::Repository(words), _) => Some(words.clone()),
        _ => None,
    });
    if let Some(file) = files.iter_mut().find(|file| file.restores_repository()) {
        file.unit = words;
    }
}
