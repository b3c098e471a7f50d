//! Folders that come or go with many files: in lists each is one entry.

use std::collections::{BTreeMap, BTreeSet};

use super::outermost_folder;

/// The most files of a folder that have a line each.
pub const FEW: usize = 1_000;

/// Returns the outermost of these folders, each with its closing `/`, in which many of these paths are files, and how many.
pub fn large_folders<'p>(
    folders: &BTreeSet<&'p str>,
    paths: impl Iterator<Item = &'p str>,
) -> BTreeMap<&'p str, usize> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for path in paths.filter(|path| !path.ends_with('/')) {
        if let Some(folder) = outermost_folder(path, folders) {
            *counts.entry(folder).or_default() += 1;
        }
    }
    let large = folders.iter().filter_map(|folder| Some((*folder, *counts.get(folder)?)));
    large.filter(|(_, count)| *count > FEW).collect()
}

/// Returns those of the folders that a changeset made, by its paths and whether nothing was there before.
pub fn large_made<'p>(files: impl Iterator<Item = (&'p str, bool)> + Clone) -> BTreeMap<&'p str, usize> {
    let made = files.clone().filter(|(path, is_new)| *is_new && path.ends_with('/')).map(|(path, _)| path).collect();
    large_folders(&made, files.map(|(path, _)| path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_was_there_or_has_few_files_holds_none() {
        let many = |folder: &str, count: usize| (0..count).map(|n| format!("{folder}{n}")).collect::<Vec<_>>();
        let files = [many("new/in/", FEW + 1), many("there/", FEW + 1), many("few/", FEW)].concat();
        let folders = [("new/", true), ("new/in/", true), ("there/", false), ("few/", true)];
        let all = folders.into_iter().chain(files.iter().map(|path| (path.as_str(), true)));
        assert_eq!(large_made(all), BTreeMap::from([("new/", FEW + 1)]));
    }
}
