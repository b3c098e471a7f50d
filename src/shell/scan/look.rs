//! A look at every path that is kept: what is there, and what is left out.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};

use rustix::fs::{FileType, lstat};

use super::entry::{LONG, MOST_BYTES, OWN, ROOT, SPECIAL, ScanEntry, ScanError};
use crate::archive::staging::StagedKind;
use crate::disk::{self, Folder};
use crate::proposal::is_in_repository;
use crate::shell::places::{PathClass, PathClasses, holds_objects};
use crate::text::number::thousands;

/// The result of one look at the disk.
#[derive(Default)]
pub(super) struct ScannedTree {
    /// Every kept path, by its path.
    pub entries: BTreeMap<String, ScanEntry>,
    pub left_out: Vec<(String, String)>,
    pub derived: BTreeSet<String>,
}

/// Looks at the workspace and at the folders outside that commands may write; where that is too much, at the workspace
/// alone. What lies in the folder of copies already is named as a copy.
pub(super) fn looked(
    most: usize,
    places: &PathClasses,
    shadow: &Path,
    known: &BTreeMap<String, ScanEntry>,
) -> Result<ScannedTree, ScanError> {
    let of = |outside: &[&Path]| {
        let mut found = look(places, outside, most, None)?;
        let mut bytes = 0;
        for entry in found.entries.values_mut().filter(|entry| entry.kind != StagedKind::Folder) {
            let old = known.get(&entry.path).filter(|old| old.is_same(entry));
            match old.filter(|old| old.kind == StagedKind::Link || shadow.join(&old.copy).exists()) {
                Some(old) => entry.copy.clone_from(&old.copy),
                None => bytes += entry.cost(),
            }
        }
        match bytes > MOST_BYTES {
            true => Err(ScanError::TooLarge(format!("more than {}", crate::text::size::words(MOST_BYTES)))),
            false => Ok(found),
        }
    };
    let outside: Vec<&Path> = places.outside().collect();
    match of(&outside) {
        // Without those outside the workspace it may not be too much.
        Err(ScanError::TooLarge(why)) if !outside.is_empty() => {
            let mut found = of(&[])?;
            let why = format!("too large to archive without the guard: with the workspace {why}");
            found.left_out.extend(outside.iter().map(|folder| (format!("{}/", places.name(folder)), why.clone())));
            Ok(found)
        }
        looked => looked,
    }
}

/// Looks at every path in the workspace and in these folders outside. A folder whose files were kept `before` is looked
/// at again, even where it is now one that can be rebuilt.
pub(super) fn look(
    places: &PathClasses,
    outside: &[&Path],
    most: usize,
    before: Option<&BTreeMap<String, ScanEntry>>,
) -> Result<ScannedTree, ScanError> {
    let (entries, mut folders) = outermost(places, outside);
    let (mut found, mut kept) = (ScannedTree { entries, ..ScannedTree::default() }, 0);
    while let Some(folder) = folders.pop() {
        let listed = open(places, &folder).and_then(|folder| folder.names_unlisted().map(|names| (folder, names)));
        let (opened, names) = match listed {
            Ok(found) => found,
            // It went meanwhile, or may not be read.
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => {
                found.left_out.push((places.name(&folder), error.to_string()));
                continue;
            }
        };
        for name in names {
            let full = folder.join(&name);
            let Ok(Some(stat)) = opened.stat(&name) else { continue };
            let is_folder = disk::is(&stat, FileType::Directory);
            let path = places.name(&full);
            let is_git_lock = is_in_repository(&path) && full.extension().is_some_and(|e| e == "lock");
            // The root's own are mounted to be only read, and archives below it where they can be.
            let is_own = |class: &PathClass| *class == PathClass::Refused && folder != places.root();
            let object = match places.of_looked_at(&full, is_folder) {
                class if places.is_private(&full) || is_own(&class) => {
                    found.left_out.push((path, if is_own(&class) { OWN } else { "private" }.into()));
                    continue;
                }
                PathClass::Kept => false,
                // As with the guard, what a repository only ever gains is kept where it goes all the same.
                PathClass::Derived(folder) if holds_objects(&folder) => true,
                PathClass::Derived(folder) if held_files(before, &folder) => false,
                PathClass::Derived(folder) if is_folder => {
                    found.derived.insert(folder);
                    continue;
                }
                _ => continue,
            };
            if is_git_lock || places.is_base(&full) {
                continue;
            }
            match ScanEntry::new(path.clone(), &stat) {
                Some(entry) => drop(found.entries.insert(entry.path.clone(), ScanEntry { object, ..entry })),
                None => found.left_out.push((path, SPECIAL.into())),
            }
            if is_folder {
                folders.push(full);
            }
            kept += usize::from(!object);
            if kept > most {
                return Err(too_many(most));
            }
        }
    }
    Ok(found)
}

/// Returns whether files of a folder are among those that were kept before.
fn held_files(before: Option<&BTreeMap<String, ScanEntry>>, folder: &str) -> bool {
    let entries = before.into_iter().flat_map(|before| before.range(folder.to_string()..));
    entries.take_while(|(path, _)| path.starts_with(folder)).any(|(_, entry)| entry.kind != StagedKind::Folder)
}

/// Returns the folders that are looked through, the root's under the name of its own, and their entries.
fn outermost(places: &PathClasses, outside: &[&Path]) -> (BTreeMap<String, ScanEntry>, Vec<PathBuf>) {
    let named = |folder: &Path| match folder == places.root() {
        true => ROOT.trim_end_matches('/').to_string(),
        false => places.name(folder),
    };
    let (mut found, mut folders) = (BTreeMap::new(), Vec::new());
    for folder in std::iter::once(&places.root()).chain(outside) {
        if let Ok(stat) = lstat(*folder) {
            found.extend(ScanEntry::new(named(folder), &stat).map(|entry| (entry.path.clone(), entry)));
            folders.push(folder.to_path_buf());
        }
    }
    (found, folders)
}

/// Opens a folder, however long its path is.
pub(super) fn open(places: &PathClasses, folder: &Path) -> io::Result<Folder> {
    let base = places.base_of(folder);
    match folder.strip_prefix(base) {
        Ok(below) if folder.as_os_str().len() >= LONG => Folder::open(base)?.descend(below),
        _ => Folder::open(folder),
    }
}

fn too_many(most: usize) -> ScanError {
    ScanError::TooLarge(format!("more than {} files", thousands(most)))
}
