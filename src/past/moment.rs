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
}

impl Moment {
    /// Reads a moment as the person writes it: a changeset (the state just before it), `SESSION:MESSAGE`, a time of day or of
    /// a date, `-2h` for as long ago, or `now`.
    ///
    /// # Errors
    /// When it is no moment, or nothing is archived so early.
    pub fn parse(text: &str, stores: Stores<'_>) -> Result<Moment, PastError> {
        let mut ids = stores.archive.list()?;
        ids.sort_unstable();
        if text == "now" {
            return Ok(Moment { after: ids.last().copied().unwrap_or(Id::MIN), next: None, is_now: true });
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

/// Returns the files that were others at a moment, by path, and a line for each changeset that cannot be read. Folders
/// and the repository are left out.
///
/// # Errors
/// When archive or workspace cannot be read.
pub fn differing(moment: Moment, stores: Stores<'_>) -> Result<(Vec<FileThen>, Vec<String>), PastError> {
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
        let version = version_at(&path, moment, stores)?;
        let now = stores.workspace.read_archived(&path)?.state;
        let then = match &version {
            Some(version) => Some(stores.archive.show(version)?),
            None if moment.is_now => None,
            None => left_by_nebula(&path, &now, stores)?,
        };
        if let Some(then) = then.filter(|then| *then != now) {
            let version = version.map(|version| version.id);
            files.push(FileThen { change: FileChange::new(path, then, now, "", &[]), version });
        }
    }
    Ok((files, unreadable))
}
