//! Moments, and the files that were others then.

use std::collections::BTreeSet;

use super::error::PastError;
use crate::archive::restore::state_sha;
use crate::archive::{Id, Version};
use crate::execute::Stores;
use crate::proposal::{FileChange, REPOSITORY, State, is_in_repository, part_of_repository};
use crate::text::time;

/// A moment: just before a changeset, or now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Moment {
    /// The changesets up to this one had been made.
    pub after: Id,
    /// The first changeset after it; none: it is now.
    pub next: Option<Id>,
    /// It is just before `next`, not a time before it.
    pub is_before: bool,
    /// It is now, not a time since which nothing was changed: what is on disk stands.
    pub is_now: bool,
}

/// A file that was another one then.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileThen {
    /// The change between then and now.
    pub change: FileChange,
    /// The oldest version since; none: only someone outside nebula changed it since, and no later change archived it,
    /// or nebula made the folder since.
    pub version: Option<Id>,
    /// See [`PathThen`].
    pub outside: Option<(i64, i64)>,
    /// See [`PathThen`].
    pub is_left: bool,
    /// It is not known whether someone changed it outside nebula between the moment and the next change.
    pub unsure: bool,
}

impl Moment {
    /// Returns the present one.
    ///
    /// # Errors
    /// When the archive cannot be read.
    pub fn now(stores: Stores<'_>) -> Result<Moment, PastError> {
        let newest = stores.archive.list()?.into_iter().max();
        Ok(Moment { after: newest.unwrap_or(Id::MIN), next: None, is_before: false, is_now: true })
    }

    /// Reads a moment as the person writes it: a changeset (the state just before it), `SESSION:MESSAGE`, a time of day or of
    /// a date, `-2h` for as long ago, or `now`.
    ///
    /// # Errors
    /// When it is no moment, or lies before the first archived state.
    pub fn parse(text: &str, stores: Stores<'_>) -> Result<Moment, PastError> {
        let mut ids = stores.archive.list()?;
        ids.sort_unstable();
        if text == "now" {
            return Moment::now(stores);
        }
        if let Some(at) = time::parse(text, time::now(), time::zone()) {
            let first = *ids.first().ok_or(PastError::Empty)?;
            if at < first.at() {
                return Err(PastError::TooEarly(time::local(first.at())));
            }
            let next = ids.partition_point(|id| id.at() <= at);
            return Ok(Moment {
                after: before(&ids, next),
                next: ids.get(next).copied(),
                is_before: false,
                is_now: false,
            });
        }
        if text.trim().is_empty() {
            return Err(PastError::Nothing);
        }
        if is_written_as_date(text) {
            return Err(PastError::NoDate(text.into()));
        }
        let next = match text.rsplit_once(':') {
            Some((session, message)) => of_message(session, message, text, stores)?,
            None if text.chars().all(|c| c.is_ascii_hexdigit() || c == '-') && !text.starts_with('-') => {
                stores.archive.find_changeset(text)?
            }
            None => return Err(PastError::Unknown(text.into())),
        };
        let at = ids.binary_search(&next).map_err(|_| PastError::Unknown(text.into()))?;
        Ok(Moment { after: before(&ids, at), next: Some(next), is_before: true, is_now: false })
    }
}

/// Returns the changeset before a place among all, oldest first.
fn before(ids: &[Id], place: usize) -> Id {
    place.checked_sub(1).and_then(|at| ids.get(at)).copied().unwrap_or(Id::MIN)
}

/// Returns the first changeset since a message of a session.
fn of_message(session: &str, message: &str, text: &str, stores: Stores<'_>) -> Result<Id, PastError> {
    let message: i64 = message.parse().map_err(|_| PastError::Unknown(text.into()))?;
    let session = stores.memory.find(&stores.project(), session);
    // What is written as a time of day is meant as one, unless there is such a session.
    let session = session.map_err(|error| match is_written_as_time(text) {
        true => PastError::NoTime(text.into()),
        false => error.into(),
    })?;
    if !stores.memory.has_message(&session, message)? {
        return Err(PastError::NoMessage(message));
    }
    let records = stores.memory.changesets_since(&session, message)?;
    let ids = records.iter().filter_map(|record| Id::parse(record.id.as_deref()?));
    ids.min().ok_or_else(|| PastError::NothingSince(text.into()))
}

/// Returns whether a text begins with a date in digits, alone or before a time; no changeset or session is named so.
fn is_written_as_date(text: &str) -> bool {
    let bytes = text.as_bytes();
    let fits = |(place, byte): (usize, &u8)| if matches!(place, 4 | 7) { *byte == b'-' } else { byte.is_ascii_digit() };
    bytes.len() >= 10
        && bytes.iter().take(10).enumerate().all(fits)
        && matches!(bytes.get(10), None | Some(b'T' | b' '))
}

/// Returns whether a text is one or two digits, a colon, and two digits.
fn is_written_as_time(text: &str) -> bool {
    let digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    let is_time = |(hour, minute): (&str, &str)| {
        matches!(hour.len(), 1 | 2) && minute.len() == 2 && digits(hour) && digits(minute)
    };
    text.split_once(':').is_some_and(is_time)
}

/// Returns the oldest version of a path that was made after a moment: it holds what the next change met. None: no change
/// archived it since.
///
/// # Errors
/// When the archive cannot be read.
pub fn version_at(path: &str, moment: Moment, stores: Stores<'_>) -> Result<Option<Version>, PastError> {
    let versions = stores.archive.versions(path)?;
    Ok(match first_since(path, moment, &versions, stores)? {
        Some(First::Version(version)) => Some(version.clone()),
        Some(First::Making(_)) | None => None,
    })
}

/// A path at a moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PathThen {
    /// The state at that moment.
    pub state: State,
    /// Someone changed it outside nebula between these two times, in unix milliseconds, which the moment lies between:
    /// the state is what nebula had left before, or, where that was not kept, what the next change met.
    pub outside: Option<(i64, i64)>,
    /// The state is what nebula had left.
    pub is_left: bool,
    /// It is not known whether someone changed it outside nebula between the moment and the next change.
    pub unsure: bool,
}

/// Returns one path at a moment.
///
/// # Errors
/// When archive, memory or workspace cannot be read.
pub fn state_at(path: &str, moment: Moment, stores: Stores<'_>) -> Result<PathThen, PastError> {
    path_then(path, moment, &stores.archive.versions(path)?, stores)
}

/// Returns a path at a moment, from its versions. The oldest version since holds it, or the disk. Just before the
/// changeset of that version it is certain; earlier it is so where it is what the changeset before the moment had left.
fn path_then(path: &str, moment: Moment, versions: &[Version], stores: Stores<'_>) -> Result<PathThen, PastError> {
    let at = versions.partition_point(|version| version.id <= moment.after);
    let first = first_since(path, moment, versions, stores)?;
    let state = match first {
        Some(First::Version(version)) => stores.show(path, version)?,
        Some(First::Making(_)) => State::Absent,
        None => stores.workspace.read_archived(path)?.state,
    };
    let certain = PathThen { state, outside: None, is_left: false, unsure: false };
    if is_exact(first, moment) {
        return Ok(certain);
    }
    // Nothing tells what stood there before the first change.
    let Some(before) = at.checked_sub(1).map(|before| &versions[before]) else {
        return Ok(PathThen { unsure: first.is_some(), ..certain });
    };
    let name = before.id.to_string();
    let left = stores.memory.left_states(&stores.project(), path)?;
    let left = left.into_iter().find(|(version, _)| *version == name).and_then(|(_, left)| left.sha256);
    let Some(left) = left else { return Ok(PathThen { unsure: true, ..certain }) };
    if left == state_sha(&certain.state) {
        return Ok(certain);
    }
    let next = first.map_or_else(time::now, |first| first.id().at());
    let outside = Some((before.id.at(), next));
    let Some(sha) = left else { return Ok(PathThen { state: State::Absent, outside, is_left: true, unsure: false }) };
    Ok(match stores.memory.bytes_left(&stores.project(), path, &sha)? {
        Some(bytes) => {
            let state = State::File { bytes: bytes.into(), mode: certain.state.mode() };
            PathThen { state, outside, is_left: true, unsure: false }
        }
        None => PathThen { outside, ..certain },
    })
}

/// The first that is known of a path since a moment.
#[derive(Debug, Clone, Copy)]
enum First<'v> {
    /// A version of it, which holds what stood there.
    Version(&'v Version),
    /// The changeset with which nebula made it, a folder: there was none.
    Making(Id),
}

impl First<'_> {
    fn id(self) -> Id {
        match self {
            First::Version(version) => version.id,
            First::Making(id) => id,
        }
    }

    /// Returns the version that holds what stood there.
    fn version(self) -> Option<Id> {
        match self {
            First::Version(version) => Some(version.id),
            First::Making(_) => None,
        }
    }
}

/// Returns what is known first of a path since a moment, from its versions. A folder that an edit made has none of that.
fn first_since<'v>(
    path: &str,
    moment: Moment,
    versions: &'v [Version],
    stores: Stores<'_>,
) -> Result<Option<First<'v>>, PastError> {
    let version = versions.iter().find(|version| version.id > moment.after);
    let made = match path.strip_suffix('/') {
        Some(folder) => stores.memory.folder_made_by(&stores.project(), folder)?.as_deref().and_then(Id::parse),
        None => None,
    };
    let made = made.filter(|made| *made > moment.after && version.is_none_or(|version| *made < version.id));
    Ok(made.map(First::Making).or(version.map(First::Version)))
}

/// Returns whether what stood there at a moment is what the first version since holds, or the disk, whoever wrote it.
fn is_exact(first: Option<First<'_>>, moment: Moment) -> bool {
    let is_of_next = || first.zip(moment.next).is_some_and(|(first, next)| first.id() <= next);
    moment.is_now || moment.is_before && is_of_next()
}

/// The differences between two moments.
#[derive(Debug, Default)]
pub struct Differing {
    /// The files, by path.
    pub files: Vec<FileThen>,
    /// The parts that cannot be read: the path, none for a changeset, and the reason in words.
    pub unreadable: Vec<(Option<String>, String)>,
}

/// Returns the files that differ between two moments, and what cannot be read: that leaves the others. A path that ends
/// in `/` is a folder; the repository is one file, which says in lines where its branches stood.
///
/// # Errors
/// When the archive cannot be listed.
pub fn differing(then: Moment, until: Moment, stores: Stores<'_>) -> Result<Differing, PastError> {
    let (mut paths, mut found) = (BTreeSet::new(), Differing::default());
    for id in stores.archive.list()? {
        match stores.archive.paths(id) {
            Ok(of_changeset) => paths.extend(of_changeset),
            Err(error) => found.unreadable.push((None, error.to_string())),
        }
    }
    paths.retain(|path| !is_unlisted(path));
    let mut repository = Vec::new();
    for path in paths {
        let of = if is_in_repository(&path) { &mut repository } else { &mut found.files };
        match differing_at(&path, then, until, stores) {
            Ok(file) => of.extend(file),
            Err(error) => found.unreadable.push((Some(path), error.to_string())),
        }
    }
    found.files.extend(as_one(&repository));
    Ok(found)
}

/// Returns whether a path says nothing that another does not say: objects are named by the refs, and folders of the
/// repository hold its files.
fn is_unlisted(path: &str) -> bool {
    let Some(part) = part_of_repository(path) else { return false };
    // In a linked worktree's repository each has a log of its own.
    let is_log = part.starts_with("logs/") || part.starts_with("worktrees/") && part.contains("/logs/");
    path.ends_with('/') || is_log || part.starts_with("objects/")
}

/// Returns the files of the repository as one, a line each; none: nothing in it differs.
fn as_one(files: &[FileThen]) -> Option<FileThen> {
    files.first()?;
    let line = |name: &str, state: &State| -> Option<String> {
        let name = name.strip_prefix(".git/").unwrap_or(name);
        match (state, state.text()) {
            (State::Absent, _) => None,
            (_, Some(text)) if name == "HEAD" || name.starts_with("refs/") => {
                Some(format!("{name} {}\n", text.lines().next().unwrap_or_default()))
            }
            (state, _) => {
                let sha =
                    state_sha(state).map(|sha| format!("{:02x}{:02x}{:02x}{:02x}", sha[0], sha[1], sha[2], sha[3]));
                Some(format!("{name} (contents {})\n", sha.unwrap_or_default()))
            }
        }
    };
    let lines = |of: fn(&FileThen) -> &State| -> String {
        files.iter().filter_map(|file| line(&file.change.path, of(file))).collect()
    };
    let (before, after) = (lines(|file| &file.change.before), lines(|file| &file.change.after));
    let change =
        FileChange::new(REPOSITORY.to_string(), State::file(before.as_bytes()), State::file(after.as_bytes()), "", &[]);
    let outside = files.iter().find_map(|file| file.outside);
    let version = files.iter().filter_map(|file| file.version).min();
    let (is_left, unsure) = (files.iter().any(|file| file.is_left), files.iter().any(|file| file.unsure));
    Some(FileThen { change, version, outside, is_left, unsure })
}

/// Returns how a path differs between two moments; none: it does not.
fn differing_at(path: &str, then: Moment, until: Moment, stores: Stores<'_>) -> Result<Option<FileThen>, PastError> {
    let versions = stores.archive.versions(path)?;
    let (first, last) = (first_since(path, then, &versions, stores)?, first_since(path, until, &versions, stores)?);
    let is_same = first.map(First::id) == last.map(First::id);
    if is_same && is_exact(first, then) == is_exact(last, until) {
        return Ok(None);
    }
    let PathThen { state: before, outside, is_left, unsure } = path_then(path, then, &versions, stores)?;
    let after = path_then(path, until, &versions, stores)?.state;
    if before == after {
        return Ok(None);
    }
    let version = first.and_then(First::version);
    Ok(Some(FileThen {
        change: FileChange::new(path.to_string(), before, after, "", &[]),
        version,
        outside,
        is_left,
        unsure,
    }))
}
