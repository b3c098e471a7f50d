//! A changeset of the archive as a front end shows it, with what memory knows of its cause.

use std::collections::HashMap;

use crate::agent::services::Services;
use crate::archive::Id;
use crate::archive::restore::state_sha;
use crate::memory::{self, SessionUse, StoredFile};
use crate::past::files_of;
use crate::proposal::{Counts, MergeRung};
use crate::protocol::{Changeset, ChangesetFile};

/// Returns changesets with what memory knows of them; of one that it does not know, the archive's own. For blocking
/// code alone: it waits for memory.
pub fn changesets(services: &Services, ids: &[Id]) -> Vec<Changeset> {
    let (project, names) = (services.project(), ids.iter().map(Id::to_string).collect::<Vec<_>>());
    let records = services.memory.ask_blocking(move |memory| {
        // One that cannot be read hides no other.
        Ok(names.iter().map(|name| memory.changeset(&project, name)).collect::<Vec<_>>())
    });
    let mut records = services.record_error(records).into_iter().flatten();
    let mut record = || services.record_error(records.next()?).flatten();
    ids.iter().map(|id| changeset(services, *id, record().as_ref())).collect()
}

/// Returns whether memory knows the cause of a changeset. For blocking code alone.
pub fn is_recorded(services: &Services, id: Id) -> bool {
    let (project, name) = (services.project(), id.to_string());
    let record = services.memory.ask_blocking(move |memory| memory.changeset(&project, &name));
    services.record_error(record).flatten().is_some()
}

fn changeset(services: &Services, id: Id, known: Option<&memory::ChangesetRecord>) -> Changeset {
    let alone =
        || services.record_error(files_of(id, None, &mut HashMap::new(), &services.archive)).unwrap_or_default();
    let stored = known.map_or_else(alone, |record| record.files.clone());
    let file = |file: StoredFile| ChangesetFile {
        path: file.path,
        version: file.version,
        absent: file.absent,
        counts: counts(file.added, file.removed),
    };
    let files = stored.into_iter().map(file).collect();
    let (cause, by) = match known {
        Some(record) => (record.cause.title.clone(), by(services, record)),
        None => (String::new(), String::new()),
    };
    let ops = services.record_error(services.archive.store_ops(id)).unwrap_or_default();
    let definitions = ops.into_iter().flat_map(|ops| ops.definitions).collect();
    let session = known.and_then(|record| record.cause.session.clone());
    let merged = known.and_then(|record| MergeRung::named(record.cause.merged.as_deref()?));
    Changeset { id: id.to_string(), at: id.at(), cause, by, session, merged, files, definitions }
}

fn by(services: &Services, record: &memory::ChangesetRecord) -> String {
    match record.cause.kind.as_str() {
        // An earlier session's edit is the person's own past; only a session that is open now in another process counts
        // as another one.
        "edit" if other_nebula(services, record) => "other session".into(),
        kind => kind.to_string(),
    }
}

/// Returns whether another process has the session open that made a changeset. For blocking code alone.
pub fn other_nebula(services: &Services, record: &memory::ChangesetRecord) -> bool {
    let elsewhere = |id: &String| {
        let other = SessionUse::InUse { mine: false };
        let asked_for = id.clone();
        let read = || services.record_error(services.memory.ask_blocking(move |memory| memory.get(&asked_for)));
        services.memory.in_use(id) && read().is_some_and(|session| session.state == other)
    };
    record.cause.session.as_ref().is_some_and(elsewhere)
}

/// Returns what nebula last wrote to a file. For blocking code alone.
///
/// # Errors
/// When memory cannot be read.
pub fn written(services: &Services, path: &str) -> Result<Option<memory::Written>, memory::Error> {
    let (project, path) = (services.project(), path.to_string());
    services.memory.ask_blocking(move |memory| memory.written(&project, &path))
}

/// Returns whether a file is as nebula itself last wrote it, in whatever process. For blocking code alone.
pub fn is_own(services: &Services, path: &str) -> bool {
    let written = services.record_error(written(services, path)).flatten();
    let read = services.workspace.read(path);
    written.zip(read.ok()).is_some_and(|(written, read)| written.is(state_sha(&read.state)))
}

/// Returns whether a file is as another process of nebula wrote it: the newest changeset of it is of no session that this
/// one has open. For blocking code alone.
pub fn is_of_other(services: &Services, path: &str) -> bool {
    let (project, name) = (services.project(), path.to_string());
    let made_by_other = services.memory.ask_blocking(move |memory| {
        let Some(newest) = memory.changesets_of_path(&project, &name)?.into_iter().next() else { return Ok(false) };
        let session = newest.cause.session.and_then(|id| memory.get(&id).ok());
        Ok(session.is_none_or(|session| session.state != SessionUse::InUse { mine: true }))
    });
    is_own(services, path) && services.record_error(made_by_other).unwrap_or_default()
}

/// Returns lines added and removed, where both are known.
pub fn counts(added: Option<u64>, removed: Option<u64>) -> Option<Counts> {
    Some(Counts { added: added? as usize, removed: removed? as usize })
}
