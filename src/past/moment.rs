//! Moments, and the files that were others then.

use std::collections::BTreeSet;

use super::error::PastError;
use crate::archive::restore::state_sha;
use crate::archive::{self, Id, Version};
use crate::execute::Stores;
use crate::proposal::{FileChange, State};
use crate::text::time;

/// A moment: just before a changeset, or now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Moment {
    /// The changesets up to this one had been made.
    pub after: Id,
    /// The first changeset after it; none: it is now.
    pub next: Option<Id>,
    /// It is now, not a time since which nothing was changed: what is on disk stands.
    pub is_now: bool,
}

/// A file that was another one then.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileThen {
    /// From then to now.
    pub change: FileChange,
    /// The version that holds what was there; none: nebula's own record does, because someone changed the file outside
    /// nebula since, and no later change archived it.
    pub version: Option<Id>,
    /// Someone changed it outside nebula between these two times, which the moment lies between, in unix milliseconds:
    /// what was there may be theirs or nebula's.
    pub outside: Option<(i64, i64)>,
}

impl Moment {
    /// Returns the present one.
    ///
    /// # Errors
    /// When the archive cannot be read.
    pub fn now(stores: Stores<'_>) -> Result<Moment, PastError> {
        let newest = stores.archive.list()?.into_iter().max();
        Ok(Moment { after: newest.unwrap_or(Id::MIN), next: None, is_now: true })
    }

    /// Reads a moment as the person writes it: a changeset (the state just before it), `SESSION:MESSAGE`, a time of day or of
    /// a date, `-2h` for as long ago, or `now`.
    ///
    /// # Errors
    /// When it is no moment, or nothing is archived so early.
    pub fn parse(text: &str, stores: Stores<'_>) -> Result<Moment, PastError> {
        let mut ids = stores.archive.list()?;
        ids.sort_unstable();
        if text == "now" {
            return Moment::now(stores);
        }
        if let Some(at) = time::read(text, time::now(), time::zone()) {
            let first = *ids.first().ok_or(PastError::Empty)?;
            if at < first.at() {
                return Err(PastError::TooEarly(time::local(first.at())));
            }
            let next = ids.partition_point(|id| id.at() <= at);
            return Ok(Moment { after: before(&ids, next), next: ids.get(next).copied(), is_now: false });
        }
        let next = match text.rsplit_once(':') {
            Some((session, message)) => of_message(session, message, text, stores)?,
            None if text.chars().all(|c| c.is_ascii_hexdigit() || c == '-') && !text.starts_with('-') => {
                stores.archive.find_changeset(text)?
            }
            None => return Err(PastError::Unknown(text.into())),
        };
        let at = ids.binary_search(&next).map_err(|_| PastError::Unknown(text.into()))?;
        Ok(Moment { after: before(&ids, at), next: Some(next), is_now: false })
    }
}

/// Returns the changeset before a place among all, oldest first.
fn before(ids: &[Id], place: usize) -> Id {
    place.checked_sub(1).and_then(|at| ids.get(at)).copied().unwrap_or(Id::MIN)
}

/// Returns the first changeset since a message of a session.
fn of_message(session: &str, message: &str, text: &str, stores: Stores<'_>) -> Result<Id, PastError> {
    let message: i64 = message.parse().map_err(|_| PastError::Unknown(text.into()))?;
    let session = stores.memory.find(&stores.project(), session)?;
    let records = stores.memory.changesets_since(&session, message)?;
    let ids = records.iter().filter_map(|record| Id::parse(record.id.as_deref()?));
    ids.min().ok_or_else(|| PastError::NothingSince(text.into()))
}

/// Returns the version that holds what stood at a path at a moment: the oldest one made after it. None: it is as now.
///
/// # Errors
/// When the archive cannot be read.
pub fn version_at(path: &str, moment: Moment, stores: Stores<'_>) -> Result<Option<Version>, archive::Error> {
    Ok(stores.archive.versions(path)?.into_iter().find(|version| version.id > moment.after))
}

/// Returns the state of one path at a moment.
///
/// # Errors
/// When archive or workspace cannot be read.
pub fn state_at(path: &str, moment: Moment, stores: Stores<'_>) -> Result<State, PastError> {
    match version_at(path, moment, stores)? {
        Some(version) => Ok(stores.archive.show(&version)?),
        None => {
            let now = stores.workspace.read_whole(path)?.state;
            Ok(if moment.is_now { now } else { left_by_nebula(path, &now, stores)?.unwrap_or(now) })
        }
    }
}

/// Returns what nebula last wrote to a path, where someone changed it since and its bytes are known. Without a later
/// version that is what stood there at the moment.
fn left_by_nebula(path: &str, now: &State, stores: Stores<'_>) -> Result<Option<State>, PastError> {
    let Some(written) = stores.memory.written(&stores.project(), path)? else { return Ok(None) };
    if written.is(state_sha(now)) {
        return Ok(None);
    }
    Ok(match (written.sha256, written.bytes) {
        (None, _) => Some(State::Absent),
        (Some(_), Some(bytes)) => Some(State::File { bytes: bytes.into(), mode: now.mode() }),
        (Some(_), None) => None,
    })
}

/// Returns the files that differ between two moments, by path, and a line for each changeset that cannot be read.
/// Folders and the repository are left out.
///
/// # Errors
/// When archive or workspace cannot be read.
pub fn differing(then: Moment, until: Moment, stores: Stores<'_>) -> Result<(Vec<FileThen>, Vec<String>), PastError> {
    let (mut paths, mut unreadable) = (BTreeSet::new(), Vec::new());
    for id in stores.archive.list()? {
        match stores.archive.paths(id) {
            Ok(of_changeset) => paths.extend(of_changeset),
            Err(error) => unreadable.push(error.to_string()),
        }
    }
    paths.retain(|path| !path.ends_with('/') && path != ".git" && !path.starts_with(".git/"));
    let mut files = Vec::new();
    for path in paths {
        files.extend(differing_at(path, then, until, stores)?);
    }
    Ok((files, unreadable))
}

/// Returns how a path differs between two moments; none: it does not.
fn differing_at(path: String, then: Moment, until: Moment, stores: Stores<'_>) -> Result<Option<FileThen>, PastError> {
    let versions = stores.archive.versions(&path)?;
    let after = |moment: Moment| versions.iter().find(|version| version.id > moment.after);
    let (first, last) = (after(then), after(until));
    let is_same = first.map(|version| version.id) == last.map(|version| version.id);
    if is_same && (first.is_some() || then.is_now == until.is_now) {
        return Ok(None);
    }
    let state = |version: Option<&Version>, moment: Moment| -> Result<State, PastError> {
        let Some(version) = version else {
            let now = stores.workspace.read_archived(&path)?.state;
            return Ok(if moment.is_now { now } else { left_by_nebula(&path, &now, stores)?.unwrap_or(now) });
        };
        Ok(stores.archive.show(version)?)
    };
    let (before, now) = (state(first, then)?, state(last, until)?);
    if before == now {
        return Ok(None);
    }
    let outside = changed_outside(&path, &versions, first, &before, stores)?;
    let version = first.map(|version| version.id);
    Ok(Some(FileThen { change: FileChange::new(path, before, now, "", &[]), version, outside }))
}

/// Returns between which times someone changed a file outside nebula, where a moment lies between them: what its version
/// holds is not what the changeset before left. Nothing is known before the first one.
fn changed_outside(
    path: &str,
    versions: &[Version],
    first: Option<&Version>,
    state: &State,
    stores: Stores<'_>,
) -> Result<Option<(i64, i64)>, PastError> {
    let Some(first) = first else {
        return Ok(versions.last().map(|last| (last.id.at(), time::now())));
    };
    let Some(before) = versions.iter().rev().find(|version| version.id < first.id) else { return Ok(None) };
    let left = stores.memory.left_states(&stores.project(), path)?;
    let name = before.id.to_string();
    let known = left.iter().find(|(version, _)| *version == name).and_then(|(_, left)| left.sha256);
    Ok(known.filter(|sha| *sha != state_sha(state)).map(|_| (before.id.at(), first.id.at())))
}
