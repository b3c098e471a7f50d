//! The changesets that a restore undoes, and of each of their files the version that it is to have.

use std::collections::{BTreeMap, BTreeSet};

use super::RestoreError;
use super::course::has_later;
use super::goal::{Between, Goal, state_sha};
use super::known::LastWrittenLookup;
use crate::archive::{Archive, Error, Id, Version, version_before};
use crate::workspace::Workspace;

/// The files as they are, and what nebula last wrote to them.
type Looked<'l> = (&'l Workspace, &'l dyn LastWrittenLookup);

/// Returns the folder of the repository among whose objects a path lies, with its closing `/`.
fn repository_of_object(path: &str) -> Option<&str> {
    let at = path.find(".git/objects/")? + ".git/".len();
    Some(&path[..at])
}

impl Archive {
    /// Returns the newest changeset that changed something: those whose writing failed are passed over, those ahead of a
    /// change that was never made, and files that were saved and are as they were then.
    ///
    /// # Errors
    /// When the archive's folder cannot be read; one that is not there has none.
    pub fn newest_written(&self, workspace: &Workspace, written: &dyn LastWrittenLookup) -> Result<Option<Id>, Error> {
        Ok(self.list()?.into_iter().find(|id| self.is_undone_next(*id, (workspace, written))))
    }

    /// Returns whether the undo of one changeset does not pass over this one.
    fn is_undone_next(&self, id: Id, looked: Looked<'_>) -> bool {
        let stays = || looked.1.is_saved(id) && self.paths(id).is_ok_and(|paths| self.all_stayed(id, &paths, looked.0));
        self.has_effect(id, None, looked) && !stays()
    }

    /// Returns whether a changeset changed something, in one file where that is given. One that was made ahead of another
    /// program's change did where that is not recorded, nor those that it makes otherwise, and the file was another one then.
    fn has_effect(&self, id: Id, file: Option<&str>, (workspace, written): Looked<'_>) -> bool {
        if written.failed(id) {
            return false;
        }
        if !written.is_ahead(id) {
            return true;
        }
        if written.records_changes(id) {
            return false;
        }
        let Ok(paths) = file.map_or_else(|| self.paths(id), |file| Ok(vec![file.to_string()])) else { return true };
        !self.all_stayed(id, &paths, workspace)
    }

    /// Returns whether files of a changeset are after it what they were when it was made.
    fn all_stayed(&self, id: Id, paths: &[String], workspace: &Workspace) -> bool {
        let stayed = |path: &String| {
            let versions = self.versions(path).ok()?;
            let next = versions.partition_point(|version| version.id < id);
            let met = self.state_of(versions.get(next.checked_sub(1)?)?).ok()?;
            let after = match versions.get(next) {
                Some(next) => self.state_of(next).ok()?,
                None => workspace.read_to_restore(path).ok()?.state,
            };
            Some(state_sha(&met) == state_sha(&after))
        };
        paths.iter().all(|path| stayed(path).unwrap_or(false))
    }

    /// Returns the newest changeset that changed something and can be read, with its paths. What was saved and stayed as it
    /// was is passed over by an undo of one changeset alone: it is a version, too, of those that are counted.
    pub(super) fn newest(
        &self,
        (looked, count): (Looked<'_>, usize),
        warnings: &mut Vec<String>,
    ) -> Result<(Id, Vec<String>), RestoreError> {
        let is_meant = |id: Id| match count {
            1 => self.is_undone_next(id, looked),
            _ => self.has_effect(id, None, looked),
        };
        let ids = self.list()?;
        for id in ids.iter().copied().filter(|id| is_meant(*id)) {
            match self.paths(id) {
                Ok(paths) => return Ok((id, paths)),
                Err(error) => warnings.push(error.to_string()),
            }
        }
        Err(match warnings.first() {
            Some(why) => RestoreError::Unreadable(why.clone()),
            None if ids.is_empty() => RestoreError::Empty,
            None => RestoreError::NothingChanged,
        })
    }

    /// Collects, for each file of the newest changeset, the state some versions back, and what is undone of it. `leaves`: so
    /// that what someone else did between two of them stays.
    pub(super) fn goals_of_newest(
        &self,
        (newest, paths): (Id, Vec<String>),
        count: usize,
        (looked, leaves): (Looked<'_>, bool),
    ) -> Result<Vec<Goal>, RestoreError> {
        let ids = if count > 1 { self.list()? } else { Vec::new() };
        let goal = |path: String| {
            let mut versions = self.versions(&path)?;
            let first = versions.partition_point(|version| version.id < newest);
            let older = first.saturating_sub(1);
            let back: Vec<(usize, Option<Id>)> = match count {
                1 => Vec::new(),
                _ => self.changed(&path, (&versions[..], older, &ids), looked).take(count - 1).collect(),
            };
            if first > 0 && back.len() + 1 < count {
                return Err(RestoreError::TooFar { path, have: back.len() + 1, count });
            }
            let mut own: Vec<Id> = back.iter().rev().filter_map(|(_, id)| *id).collect();
            own.push(newest);
            let place = back.last().map(|(at, _)| *at);
            let goal = self.goal_without(path, own, (looked.1, leaves))?;
            Ok(match place {
                Some(at) => Goal { version: Ok(versions.swap_remove(at)), ..goal },
                None => goal,
            })
        };
        paths.into_iter().map(goal).collect()
    }

    /// Collects files with the state that each had some versions back.
    pub(super) fn goals_of_files(
        &self,
        files: &[String],
        count: usize,
        looked: Looked<'_>,
    ) -> Result<Vec<Goal>, RestoreError> {
        let (mut seen, ids) = (BTreeSet::new(), self.list()?);
        let goal = |path: &String| {
            let mut versions = self.versions(path)?;
            if versions.is_empty() {
                return Err(RestoreError::NoVersions { path: path.clone() });
            }
            let all = (versions.as_slice(), versions.len(), ids.as_slice());
            // What was saved and stayed as it was is a version of those that are counted alone.
            let is_passed = |(_, id): &(usize, Option<Id>)| {
                let is_saved = id.filter(|id| count == 1 && looked.1.is_saved(*id));
                is_saved.is_some_and(|id| self.all_stayed(id, std::slice::from_ref(path), looked.0))
            };
            let Some((at, _)) = self.changed(path, all, looked).filter(|found| !is_passed(found)).nth(count - 1) else {
                return Err(match self.changed(path, all, looked).count() {
                    have if count > 1 || have == 0 => RestoreError::TooFar { path: path.clone(), have, count },
                    _ => RestoreError::NothingChanged,
                });
            };
            Ok(Goal::new(path.clone(), Ok(versions.swap_remove(at))))
        };
        files.iter().filter(|f| seen.insert(*f)).map(goal).collect()
    }

    /// Returns the places of those of the first versions of a file after which it was changed, newest first, each with the
    /// changeset that did: the others are passed over by an undo that counts. `ids`: all changesets, newest first.
    fn changed<'a>(
        &'a self,
        path: &'a str,
        (versions, first, ids): (&'a [Version], usize, &'a [Id]),
        looked: Looked<'a>,
    ) -> impl Iterator<Item = (usize, Option<Id>)> {
        let of = move |at: usize| (at, self.changeset_among(ids, path, at, versions));
        let changed = move |(_, id): &(usize, Option<Id>)| id.is_none_or(|id| self.has_effect(id, Some(path), looked));
        (0..first).rev().map(of).filter(changed)
    }

    /// Collects, for each file of these changesets, the state before the oldest of them that names it, and what is undone
    /// of it where others changed it meanwhile. `leaves`: so that what someone else did between two of them stays.
    pub(super) fn goals_before(
        &self,
        ids: &[Id],
        (written, leaves): (&dyn LastWrittenLookup, bool),
        warnings: &mut Vec<String>,
    ) -> Result<Vec<Goal>, RestoreError> {
        let mut ids = ids.to_vec();
        ids.sort_unstable();
        let (mut of_paths, mut has_ops) = (BTreeMap::<String, Vec<Id>>::new(), false);
        let mut order = Vec::new();
        for id in ids.iter().copied() {
            has_ops |= self.store_ops(id).is_ok_and(|ops| !ops.is_empty());
            let paths = match self.paths(id) {
                Ok(paths) => paths,
                Err(error) => {
                    warnings.push(error.to_string());
                    continue;
                }
            };
            for path in paths {
                let own = of_paths.entry(path.clone()).or_default();
                if own.is_empty() {
                    order.push(path);
                }
                own.push(id);
            }
        }
        let mut goals = Vec::with_capacity(order.len());
        let made_repositories = self.made_repositories(&of_paths)?;
        for path in order {
            let own = of_paths.remove(&path).unwrap_or_default();
            let made = path.strip_suffix('/').and_then(|folder| written.folder_made_by(folder));
            let is_made = made.is_some_and(|made| made < own[0] && ids.contains(&made))
                || repository_of_object(&path).is_some_and(|above| made_repositories.contains(above));
            goals.push(Goal { is_made, ..self.goal_without(path, own, (written, leaves))? });
        }
        match (goals.is_empty(), warnings.first()) {
            (true, Some(why)) if !has_ops => Err(RestoreError::Unreadable(why.clone())),
            (true, None) if !has_ops => Err(RestoreError::Empty),
            _ => Ok(goals),
        }
    }

    /// Returns the folders of repositories, each with its closing `/`, that some changesets made: what those note of objects
    /// that went later was made with them, though not noted.
    fn made_repositories(&self, of_paths: &BTreeMap<String, Vec<Id>>) -> Result<BTreeSet<String>, Error> {
        let mut made = BTreeSet::new();
        for (path, own) in of_paths.iter().filter(|(path, _)| path.ends_with(".git/")) {
            let versions = self.versions(path)?;
            if version_before(&versions, own[0]).is_some_and(|version| version.absent) {
                made.insert(path.clone());
            }
        }
        Ok(made)
    }

    /// Returns a file with the state before these changesets (ascending), and what is undone of it where others changed it
    /// meanwhile.
    fn goal_without(
        &self,
        path: String,
        own: Vec<Id>,
        (written, leaves): (&dyn LastWrittenLookup, bool),
    ) -> Result<Goal, Error> {
        let versions = self.versions(&path)?;
        let found = own.first().and_then(|first| version_before(&versions, *first)).cloned();
        let version = found.ok_or_else(|| "its version is missing from the archive".into());
        let between = match self.has_between(&path, &own, &versions, written) {
            true if leaves => Between::Stays,
            true => Between::Goes,
            false => Between::Nothing,
        };
        let is_shared = between == Between::Stays || has_later(&path, &own, &versions);
        let next = own.last().and_then(|last| versions.iter().find(|version| version.id > *last));
        let next = next.filter(|next| path.ends_with('/') && next.folder);
        let met_later = next.map(|next| self.show(next).ok().and_then(|state| state.mode()).unwrap_or_default());
        let own = if is_shared { own } else { Vec::new() };
        Ok(Goal { path, version, is_made: false, own, between, met_later })
    }
}
