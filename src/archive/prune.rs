//! Check, prune, size. Nothing but prune ever deletes a version.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::restore::is_damaged;
use super::unit::listing::LISTINGS;
use super::version::Listed;
use super::{
    Archive, Error, Id, Lock, Sha, Version, at,
    changeset::{self, Changeset},
    changeset_name, is_folder_name, version,
};
use crate::disk;
use crate::proposal::State;

/// A defect of the archive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Damage {
    /// The file.
    pub file: PathBuf,
    /// The defect, in words.
    pub what: String,
}

/// The least that prune leaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Keep {
    /// Changesets of this age and younger stay: unix milliseconds.
    pub since: Option<i64>,
    /// The most bytes that may stay.
    pub max_size: Option<u64>,
}

/// The plan of a prune: what it would delete.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Prune {
    /// Changesets to delete, or to replace by one with the paths that stay.
    pub changesets: Vec<(Id, Vec<String>)>,
    /// Version files to delete, and listings of versions, which go once none of theirs is needed.
    pub versions: Vec<PathBuf>,
    /// Bytes that are freed.
    pub bytes: u64,
}

impl Prune {
    /// Returns what both this plan and another delete: what one of them leaves stays.
    #[must_use]
    pub fn within(mut self, other: &Prune) -> Prune {
        let versions: BTreeSet<&PathBuf> = other.versions.iter().collect();
        self.versions.retain(|version| versions.contains(version));
        let stays: BTreeMap<Id, &Vec<String>> = other.changesets.iter().map(|(id, stay)| (*id, stay)).collect();
        self.changesets.retain_mut(|(id, stay)| {
            let Some(other) = stays.get(id) else { return false };
            let more: Vec<String> = other.iter().filter(|path| !stay.contains(path)).cloned().collect();
            stay.extend(more);
            true
        });
        self.bytes = self.bytes.min(other.bytes);
        self
    }
}

/// Versions that could be pruned together.
struct Step {
    /// The changeset, its paths, and those whose version must stay.
    changeset: Option<(Id, Vec<String>)>,
    at: i64,
    versions: Vec<Version>,
}

impl Archive {
    /// Returns all damage that shows: names, folders, unreadable files, changesets without their versions. `known`
    /// tells the SHA-256 of a version's state where memory knows it.
    ///
    /// # Errors
    /// When the archive's folder cannot be listed.
    pub fn check(&self, known: &dyn Fn(Id) -> Option<Sha>) -> Result<Vec<Damage>, Error> {
        let mut found = Vec::new();
        let mut damage = |file: PathBuf, what: &str| found.push(Damage { file, what: what.into() });
        let mut folders = HashMap::new();
        for name in self.names(|name| Some(name.to_string()))? {
            let file = self.folder.join(&name);
            let is_folder = file.symlink_metadata().is_ok_and(|m| m.is_dir());
            if is_folder_name(&name) && is_folder {
                folders.insert(file.clone(), self.check_folder(&file, known, &mut damage));
            } else if is_folder_name(&name) {
                damage(file, "it should be a folder of versions");
            } else if name.strip_suffix(".txt").and_then(Id::parse).is_none()
                && name != ".gitignore"
                && name != LISTINGS
                // Someone is writing, or was killed while doing so: the next start sweeps it.
                && !disk::is_temp_name(&name)
            {
                damage(file, "no file of the archive has such a name");
            }
        }
        self.check_listings(&mut folders, &mut damage)?;
        for id in self.list()? {
            let file = self.changeset_file(id);
            let read = self.changeset_bytes(id).map_err(|e| e.to_string()).and_then(|bytes| changeset::read(&bytes));
            match read {
                Err(why) => damage(file, &format!("the changeset cannot be read: {why}")),
                Ok(Changeset { paths, .. }) => {
                    for path in paths {
                        let versions = folders.get(&self.file_folder(&path));
                        if !versions.is_some_and(|v: &Vec<Id>| v.iter().any(|v| *v < id)) {
                            damage(file.clone(), &format!("the version of {path} is missing"));
                        }
                    }
                }
            }
        }
        Ok(found)
    }

    /// Checks the listings, and adds their versions to those of the folders.
    fn check_listings(
        &self,
        folders: &mut HashMap<PathBuf, Vec<Id>>,
        damage: &mut impl FnMut(PathBuf, &str),
    ) -> Result<(), Error> {
        for id in self.listing_ids()? {
            let file = self.listing_file(id);
            match self.read_listing(id) {
                Err(why) => damage(file, &format!("the listing cannot be read: {why}")),
                Ok(listing) => {
                    if let Some(what) = self.check_listing(&listing) {
                        damage(file, &what);
                    }
                    for (path, version) in listing.versions() {
                        folders.entry(self.file_folder(path)).or_default().push(version.id);
                    }
                }
            }
        }
        Ok(())
    }

    fn check_folder(
        &self,
        folder: &Path,
        known: &dyn Fn(Id) -> Option<Sha>,
        damage: &mut impl FnMut(PathBuf, &str),
    ) -> Vec<Id> {
        let opened = self.open_versions(folder).ok().flatten();
        let Some((open, names)) = opened.and_then(|open| open.names().ok().map(|names| (open, names))) else {
            damage(folder.to_path_buf(), "the folder cannot be read");
            return Vec::new();
        };
        let mut ids = Vec::new();
        for name in names {
            let file = folder.join(&name);
            let parsed = name.to_str().and_then(|name| version::parse(folder, name));
            let Some(version) = parsed else {
                damage(file, "no version has such a name");
                continue;
            };
            ids.push(version.id);
            match version.state_in(&open, &self.stop) {
                Err(why) => damage(file, &format!("the version cannot be read: {why}")),
                Ok(State::Absent) if version.size() > 0 => damage(file, "it should be empty"),
                Ok(state) if is_damaged(&state, known(version.id)) => {
                    damage(file, "its bytes are not those that were archived");
                }
                Ok(_) => {}
            }
        }
        ids
    }

    /// Returns the bytes on disk; storage that versions share counts once.
    ///
    /// # Errors
    /// When the archive's folder cannot be listed.
    pub fn size(&self) -> Result<u64, Error> {
        let mut seen = BTreeSet::new();
        let mut sum = 0;
        let mut add = |path: PathBuf| {
            if let Ok(meta) = path.symlink_metadata()
                && seen.insert((meta.dev(), meta.ino()))
            {
                sum += meta.len();
            }
        };
        for id in self.list()? {
            add(self.changeset_file(id));
        }
        for folder in self.folders()? {
            self.versions_in(&folder).unwrap_or_default().into_iter().for_each(|v| add(v.file));
        }
        Ok(sum + self.listing_ids()?.into_iter().map(|id| self.listing_size(id)).sum::<u64>())
    }

    /// Returns what prune would delete to keep no more than this: whole changesets, oldest first, and versions of none,
    /// but never the newest version of a file, nor the newest changeset of a Strand store.
    ///
    /// # Errors
    /// When the archive cannot be listed.
    pub fn plan_prune(&self, keep: Keep) -> Result<Prune, Error> {
        let mut size = self.size()?;
        let mut prune = Prune::default();
        let mut links: HashMap<(u64, u64), u64> = HashMap::new();
        let mut listed: HashMap<Id, usize> = self.listings()?.iter().map(|one| (one.id, one.len())).collect();
        for step in self.prune_steps()? {
            let old = keep.since.is_some_and(|since| step.at < since);
            let big = keep.max_size.is_some_and(|max| size > max);
            if !old && !big {
                if keep.since.is_none() {
                    break;
                }
                continue;
            }
            for version in step.versions {
                if let Some(Listed { listing, .. }) = version.listed {
                    // It goes with the last of its versions.
                    let left = listed.entry(listing).or_insert(usize::MAX);
                    *left -= 1;
                    if *left == 0 {
                        let bytes = self.listing_size(listing);
                        (prune.bytes, size) = (prune.bytes + bytes, size.saturating_sub(bytes));
                        prune.versions.push(self.listing_file(listing));
                    }
                    continue;
                }
                let Ok(meta) = version.file.symlink_metadata() else { continue };
                let gone = links.entry((meta.dev(), meta.ino())).or_default();
                *gone += 1;
                if *gone == meta.nlink() {
                    prune.bytes += meta.len();
                    size = size.saturating_sub(meta.len());
                }
                prune.versions.push(version.file);
            }
            prune.changesets.extend(step.changeset);
        }
        Ok(prune)
    }

    /// Returns what can be pruned, oldest first: each changeset with the versions that belong to it, and each version
    /// of none.
    fn prune_steps(&self) -> Result<Vec<Step>, Error> {
        let mut all: BTreeMap<PathBuf, Vec<Version>> = BTreeMap::new();
        for folder in self.folders()? {
            let versions = self.versions_in(&folder)?;
            all.insert(folder, versions);
        }
        for listing in self.listings()? {
            for (path, version) in listing.versions() {
                let versions = all.entry(self.file_folder(path)).or_default();
                if let Err(place) = versions.binary_search_by_key(&version.id, |v| v.id) {
                    versions.insert(place, version);
                }
            }
        }
        let (mut steps, mut taken) = (Vec::new(), BTreeSet::new());
        let mut changesets = Vec::new();
        // The newest changeset of each Strand store, which an undo takes back: its log has all that came before.
        let mut newest: HashMap<String, Id> = HashMap::new();
        for id in self.list()? {
            // One that cannot be read is left to the check.
            let Ok(Changeset { paths, ops, .. }) = self.read_changeset(id) else { continue };
            let stores: Vec<String> = ops.into_iter().map(|ops| ops.store).collect();
            for store in &stores {
                newest.entry(store.clone()).or_insert(id);
            }
            changesets.push((id, paths, stores));
        }
        for (id, paths, stores) in changesets.into_iter().rev() {
            let stays = stores.iter().any(|store| newest.get(store) == Some(&id));
            let (mut stay, mut mine) = (Vec::new(), Vec::new());
            for path in &paths {
                let versions = all.get(&self.file_folder(path)).map_or(&[][..], Vec::as_slice);
                match versions.iter().rposition(|v| v.id < id) {
                    Some(i) if i + 1 == versions.len() => stay.push(path.clone()),
                    Some(i) if taken.insert(versions[i].id) && !stays => mine.push(versions[i].clone()),
                    _ => {}
                }
            }
            // One of ops alone holds no version.
            if !stays && (stay.len() < paths.len() || paths.is_empty()) {
                steps.push(Step { changeset: Some((id, stay)), at: id.at(), versions: mine });
            }
        }
        for mut versions in all.into_values() {
            versions.pop();
            let loose = versions.into_iter().filter(|v| !taken.contains(&v.id));
            steps.extend(loose.map(|v| Step { changeset: None, at: v.id.at(), versions: vec![v] }));
        }
        steps.sort_by_key(|s| s.at);
        Ok(steps)
    }

    /// Deletes what was planned. Changesets go first, so that a crash leaves versions without a changeset, which are
    /// sound.
    ///
    /// # Errors
    /// Any error of the file system; what is deleted by then is gone.
    pub fn prune(&self, _lock: &mut Lock, prune: &Prune) -> Result<(), Error> {
        let folder = self.make_folder()?;
        for (id, stay) in &prune.changesets {
            if stay.is_empty() {
                folder.remove_file(changeset_name(*id)).map_err(at(&self.changeset_file(*id)))?;
            } else {
                let mut changeset = self.read_changeset(*id)?;
                changeset.modes.retain(|path| stay.contains(path));
                changeset.set_ids.retain(|path| stay.contains(path));
                self.write_changeset(*id, &Changeset { paths: stay.clone(), ..changeset })?;
            }
        }
        folder.sync().map_err(at(&self.folder))?;
        for version in &prune.versions {
            let name = version.file_name().unwrap_or_default();
            if version.parent() == Some(&self.folder.join(LISTINGS)) {
                let id = version.file_stem().and_then(|stem| Id::parse(stem.to_str()?));
                self.remove_listing(id.ok_or_else(|| at(version)(io::ErrorKind::InvalidInput.into()))?)?;
                continue;
            }
            let removed = version.parent().and_then(|f| f.file_name()).ok_or(io::ErrorKind::NotFound.into());
            let removed = removed.and_then(|of| folder.enter(of)).and_then(|open| open.remove_file(name));
            removed.map_err(at(version))?;
        }
        Ok(())
    }
}
