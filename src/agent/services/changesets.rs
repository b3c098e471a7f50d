//! A changeset of the archive as a front end shows it, with what memory knows of its cause.

use crate::agent::services::Services;
use crate::archive::{Archive, Id};
use crate::memory::{self, SessionUse};
use crate::proposal::Counts;
use crate::protocol::{Changeset, ChangesetFile};

/// Returns a changeset with what memory knows of it.
pub fn changeset(services: &Services, id: Id, known: Option<&memory::ChangesetRecord>) -> Changeset {
    let files = match known {
        Some(record) => record
            .files
            .iter()
            .map(|f| ChangesetFile {
                path: f.path.clone(),
                version: f.version.clone().unwrap_or_default(),
                absent: f.absent,
                counts: counts(f.added, f.removed),
            })
            .collect(),
        None => unknown_files(&services.archive, id),
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
        services.memory.in_use(id) && services.memory.sync().get(id).is_ok_and(|session| session.state == other)
    };
    record.cause.session.as_ref().is_some_and(elsewhere)
}

/// Returns lines added and removed, where both are known.
pub fn counts(added: Option<u64>, removed: Option<u64>) -> Option<Counts> {
    Some(Counts { added: added? as usize, removed: removed? as usize })
}

fn unknown_files(archive: &Archive, id: Id) -> Vec<ChangesetFile> {
    let paths = archive.paths(id).unwrap_or_default();
    paths
        .into_iter()
        .map(|path| {
            let version = archive.version_in(&path, id).ok().flatten();
            ChangesetFile {
                version: version.as_ref().map(|v| v.id.to_string()).unwrap_or_default(),
                absent: version.is_some_and(|v| v.absent),
                path,
                counts: None,
            }
        })
        .collect()
}
