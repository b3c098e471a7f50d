//! A changeset of the archive as a front end shows it, with what memory knows of its cause.

use crate::agent::services::Services;
use crate::archive::{self, Archive, Id};
use crate::memory::{self, SessionUse};
use crate::proposal::Counts;
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
    let files = match known {
        Some(record) => record
            .files
            .iter()
            .map(|f| ChangesetFile {
                path: f.path.clone(),
                version: f.version.clone(),
                absent: f.absent,
                counts: counts(f.added, f.removed),
            })
            .collect(),
        None => services.record_error(unknown_files(&services.archive, id)).unwrap_or_default(),
    };
    let (cause, by) = match known {
        Some(record) => (record.cause.title.clone(), by(services, record)),
        None => (String::new(), String::new()),
    };
    let session = known.and_then(|record| record.cause.session.clone());
    Changeset { id: id.to_string(), at: id.at(), cause, by, session, files }
}

fn by(services: &Services, record: &memory::ChangesetRecord) -> String {
    match record.cause.kind.as_str() {
        // An earlier session's edit is the person's own past; only a session that is open now in another process counts
        // as another one.
        "edit" if other_nebula(services, record) => "other session".into(),
        kind => kind.to_string(),
    }
}

/// Returns whether another process has the session open that made a changeset.
fn other_nebula(services: &Services, record: &memory::ChangesetRecord) -> bool {
    let elsewhere = |id: &String| {
        let other = SessionUse::InUse { mine: false };
        let asked_for = id.clone();
        let read = || services.record_error(services.memory.ask_blocking(move |memory| memory.get(&asked_for)));
        services.memory.in_use(id) && read().is_some_and(|session| session.state == other)
    };
    record.cause.session.as_ref().is_some_and(elsewhere)
}

/// Returns lines added and removed, where both are known.
pub fn counts(added: Option<u64>, removed: Option<u64>) -> Option<Counts> {
    Some(Counts { added: added? as usize, removed: removed? as usize })
}

/// Returns the files of a changeset as the archive alone knows them.
fn unknown_files(archive: &Archive, id: Id) -> Result<Vec<ChangesetFile>, archive::Error> {
    let file = |path: String| {
        let version = archive.version_in(&path, id)?;
        Ok(ChangesetFile {
            version: version.as_ref().map(|v| v.id.to_string()),
            absent: version.is_some_and(|v| v.absent),
            path,
            counts: None,
        })
    };
    archive.paths(id)?.into_iter().map(file).collect()
}
