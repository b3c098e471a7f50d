//! A folder that comes or goes with many files is one line of a restore.

use std::collections::{BTreeMap, BTreeSet};

use crate::proposal::{Counts, FEW, RestoreFate, RestorePreview, RestoreStatus, outermost_folder};

/// Puts one line in the place of those of a folder that comes or goes, and of all in it, where its files are many. What
/// stays, or is chosen for, keeps a line of its own.
pub(in crate::archive) fn as_one(previews: &mut Vec<RestorePreview>) {
    let comes_or_goes = |preview: &RestorePreview| match &preview.status {
        RestoreStatus::Restore(fate @ (RestoreFate::FolderMade | RestoreFate::FolderRemoved), _) => Some(fate.clone()),
        _ => None,
    };
    let fates: BTreeMap<String, RestoreFate> =
        previews.iter().filter_map(|preview| Some((preview.path.clone(), comes_or_goes(preview)?))).collect();
    let folders: BTreeSet<&str> = fates.keys().map(String::as_str).collect();
    let mut wholes: BTreeMap<String, Whole> = BTreeMap::new();
    for preview in previews.iter() {
        if let (Some(folder), RestoreStatus::Restore(_, counts)) =
            (outermost_folder(&preview.path, &folders), &preview.status)
        {
            wholes.entry(folder.to_string()).or_default().add(preview, *counts);
        }
    }
    wholes.retain(|_, whole| whole.files > FEW);
    if wholes.is_empty() {
        return;
    }
    let found: BTreeSet<&str> = wholes.keys().map(String::as_str).collect();
    let mut all = Vec::new();
    for preview in std::mem::take(previews) {
        let is_part = matches!(preview.status, RestoreStatus::Restore(..) | RestoreStatus::Equal);
        match outermost_folder(&preview.path, &found).filter(|_| is_part) {
            Some(folder) if folder == preview.path => all.push(wholes[folder].preview(folder, &fates[folder])),
            Some(_) => {}
            None => all.push(preview),
        }
    }
    *previews = all;
}

/// The files of one folder that are restored.
#[derive(Default)]
struct Whole {
    files: usize,
    counts: Counts,
}

impl Whole {
    fn add(&mut self, preview: &RestorePreview, counts: Counts) {
        self.files += usize::from(!preview.path.ends_with('/'));
        self.counts.added += counts.added;
        self.counts.removed += counts.removed;
    }

    fn preview(&self, folder: &str, fate: &RestoreFate) -> RestorePreview {
        let fate = match fate {
            RestoreFate::FolderRemoved => RestoreFate::WholeRemoved(self.files),
            _ => RestoreFate::WholeMade(self.files),
        };
        RestorePreview { path: folder.to_string(), status: RestoreStatus::Restore(fate, self.counts) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn restored(path: impl Into<String>, fate: RestoreFate) -> RestorePreview {
        let counts = Counts { added: 1, ..Counts::default() };
        RestorePreview { path: path.into(), status: RestoreStatus::Restore(fate, counts) }
    }

    /// Returns a folder that comes back with a folder and so many files in it, beside another file.
    fn folder_of(files: usize) -> Vec<RestorePreview> {
        let ends = [restored("a.txt", RestoreFate::Content), restored("big/", RestoreFate::FolderMade)];
        let inner = restored("big/deep/", RestoreFate::FolderMade);
        let files = (0..files).map(|n| restored(format!("big/deep/{n}"), RestoreFate::Made));
        ends.into_iter().chain([inner]).chain(files).collect()
    }

    #[test]
    fn a_folder_of_many_files_is_one_line_and_one_of_few_is_not() {
        let mut few = folder_of(FEW);
        as_one(&mut few);
        assert_eq!(few, folder_of(FEW));
        let mut many = folder_of(FEW + 1);
        as_one(&mut many);
        let counts = Counts { added: FEW + 3, ..Counts::default() };
        let whole = RestoreStatus::Restore(RestoreFate::WholeMade(FEW + 1), counts);
        assert_eq!(many[1..], [RestorePreview { path: "big/".into(), status: whole }]);
    }

    #[test]
    fn what_stays_in_a_folder_of_many_files_has_its_own_line() {
        let mut many = folder_of(FEW + 2);
        let why = RestoreStatus::NotArchived("its version is gone".into());
        many[3].status = why.clone();
        as_one(&mut many);
        assert_eq!(many.len(), 3);
        assert!(matches!(&many[1].status, RestoreStatus::Restore(RestoreFate::WholeMade(n), _) if *n == FEW + 1));
        assert_eq!((many[2].path.as_str(), &many[2].status), ("big/deep/0", &why));
    }
}
