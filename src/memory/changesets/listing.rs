//! All changesets of a project as memory knows them, for listings: there may be hundreds of thousands of files, so none
//! costs an allocation of its own.

use std::collections::HashMap;
use std::ops::Range;

use rusqlite::types::ValueRef;
use rusqlite::{OptionalExtension, ToSql, params};

use super::{COLUMNS, ChangesetRecord, PendingId, Sha256, StoredFile, file_of_row, of_row};
use crate::memory::{Error, Memory, count};

/// A file of a changeset, as [`ChangesetListing`] stores it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ListedFile<'a> {
    /// Normalised path.
    pub path: &'a str,
    /// The archive's id of the state before; `None` while unknown.
    pub version: Option<&'a str>,
    /// True if there was no file before.
    pub absent: bool,
    /// Lines the change added, where they were counted.
    pub added: Option<u64>,
    /// Lines it removed.
    pub removed: Option<u64>,
}

impl<'a> From<&'a StoredFile> for ListedFile<'a> {
    fn from(file: &'a StoredFile) -> Self {
        let StoredFile { path, version, absent, added, removed, .. } = file;
        ListedFile { path, version: version.as_deref(), absent: *absent, added: *added, removed: *removed }
    }
}

/// All changesets of a project that are in the archive, newest first, with their files.
#[derive(Debug, Default)]
pub struct ChangesetListing {
    /// The records by id, the greatest first; their own lists of files are empty.
    records: Vec<(ChangesetRecord, Range<usize>)>,
    /// The files of all records, in their order.
    files: Vec<Packed>,
    /// Paths and versions, one after another.
    text: String,
}

/// A file whose texts lie in [`ChangesetListing::text`]: the path up to `path_end`, then the version, if there is one.
#[derive(Debug)]
struct Packed {
    start: usize,
    path_end: usize,
    end: usize,
    absent: bool,
    added: Option<u64>,
    removed: Option<u64>,
}

impl ChangesetListing {
    /// Returns a changeset by the archive's id.
    pub fn find(&self, id: &str) -> Option<&ChangesetRecord> {
        self.position(id).map(|at| &self.records[at].0)
    }

    /// Returns its files by path; none for one that is not known.
    pub fn files<'a>(&'a self, id: &str) -> impl ExactSizeIterator<Item = ListedFile<'a>> + Clone + use<'a> {
        let range = self.position(id).map_or(0..0, |at| self.records[at].1.clone());
        self.files[range].iter().map(|f| ListedFile {
            path: &self.text[f.start..f.path_end],
            version: Some(&self.text[f.path_end..f.end]).filter(|v| !v.is_empty()),
            absent: f.absent,
            added: f.added,
            removed: f.removed,
        })
    }

    fn position(&self, id: &str) -> Option<usize> {
        self.records.binary_search_by(|(r, _)| id.cmp(r.id.as_deref().unwrap_or_default())).ok()
    }
}

/// The state that a changeset left at a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftState {
    /// The changeset's kind.
    pub kind: String,
    /// The SHA-256 of the bytes, none where nothing was left; none at all: it is not known.
    pub sha256: Option<Option<Sha256>>,
}

/// The states around a changeset at a path: SHA-256, empty where nothing was there; none: it is not known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StatesAround {
    /// The archive's id of the changeset.
    pub changeset: String,
    /// Normalised path.
    pub path: String,
    /// The state that it met.
    pub before: Option<Vec<u8>>,
    /// The state that it left.
    pub after: Option<Vec<u8>>,
}

impl Memory {
    /// Returns the states around what was undone or redone in a project, oldest first.
    pub fn restored_states(&self, project: &str) -> Result<Vec<StatesAround>, Error> {
        self.states_around("c.kind IN ('undo', 'redo')", params![project])
    }

    /// Returns the states around one changeset.
    pub fn changed_states(&self, project: &str, id: &str) -> Result<Vec<StatesAround>, Error> {
        self.states_around("c.id = ?2", params![project, id])
    }

    /// Returns the states around a changeset and all after it, oldest first.
    pub fn states_since(&self, project: &str, id: &str) -> Result<Vec<StatesAround>, Error> {
        self.states_around("c.id >= ?2", params![project, id])
    }

    fn states_around(&self, which: &str, values: &[&dyn ToSql]) -> Result<Vec<StatesAround>, Error> {
        let store = self.store();
        let mut statement = store.conn.prepare_cached(&format!(
            "SELECT c.id, f.path, CASE f.absent WHEN 1 THEN x'' ELSE f.sha256 END, f.after_sha256
             FROM changesets c CROSS JOIN changeset_files f ON f.n = c.n
             WHERE c.project_path = ?1 AND c.id IS NOT NULL AND c.state = 'applied' AND {which} ORDER BY c.id"
        ))?;
        let rows = statement.query_map(values, |row| {
            let (changeset, path) = (row.get(0)?, row.get(1)?);
            Ok(StatesAround { changeset, path, before: row.get(2)?, after: row.get(3)? })
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Returns what is known of all changesets of a project.
    pub fn listing(&self, project: &str) -> Result<ChangesetListing, Error> {
        let records = self.changesets(project)?;
        let store = self.store();
        // In the order of the records: the index on ids leads, and the files of each lie side by side by path. Asking
        // for that order too would have them all sorted.
        let mut statement = store.conn.prepare_cached(
            "SELECT f.n, f.path, f.version, f.absent, f.added, f.removed
             FROM changesets c CROSS JOIN changeset_files f ON f.n = c.n
             WHERE c.project_path = ?1 AND c.id IS NOT NULL ORDER BY c.id DESC",
        )?;
        let mut rows = statement.query([project])?;
        let mut listing = ChangesetListing::default();
        listing.records.extend(records.into_iter().map(|r| (r, 0..0)));
        let mut at = 0;
        while let Some(row) = rows.next()? {
            let n: i64 = row.get(0)?;
            while listing.records.get(at).is_some_and(|(r, _)| r.number() != n) {
                at += 1;
            }
            let Some((_, range)) = listing.records.get_mut(at) else { break };
            if range.start == range.end {
                *range = listing.files.len()..listing.files.len();
            }
            range.end += 1;
            let start = listing.text.len();
            listing.text.push_str(row.get_ref(1)?.as_str().map_err(rusqlite::Error::from)?);
            let path_end = listing.text.len();
            if let ValueRef::Text(version) = row.get_ref(2)? {
                listing.text.push_str(std::str::from_utf8(version).unwrap_or_default());
            }
            let lines = |column| match row.get_ref(column) {
                Ok(ValueRef::Integer(n)) => Some(count(n)),
                _ => None,
            };
            listing.files.push(Packed {
                start,
                path_end,
                end: listing.text.len(),
                absent: row.get_ref(3)? == ValueRef::Integer(1),
                added: lines(4),
                removed: lines(5),
            });
        }
        Ok(listing)
    }

    /// Returns what changesets left at a path, by the version that each of them made old. One that failed left what was
    /// there before.
    pub fn left_states(&self, project: &str, path: &str) -> Result<Vec<(String, LeftState)>, Error> {
        let store = self.store();
        let mut statement = store.conn.prepare_cached(
            "SELECT f.version, c.kind, CASE c.state
               -- What it met was put back.
               WHEN 'failed' THEN CASE f.absent WHEN 1 THEN x'' ELSE f.sha256 END ELSE f.after_sha256 END FROM changeset_files f JOIN changesets c ON c.n = f.n
             WHERE f.path = ?2 AND c.project_path = ?1 AND f.version IS NOT NULL",
        )?;
        let rows = statement.query_map([project, path], |row| {
            let after: Option<Vec<u8>> = row.get(2)?;
            // Of another length than a hash has it is nothing's.
            let sha256 = after.map(|bytes| Sha256::try_from(bytes.as_slice()).ok());
            Ok((row.get(0)?, LeftState { kind: row.get::<_, Option<String>>(1)?.unwrap_or_default(), sha256 }))
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Returns the changesets of a project that hold a path, newest first, each with that file alone.
    pub fn changesets_of_path(&self, project: &str, path: &str) -> Result<Vec<ChangesetRecord>, Error> {
        let columns: Vec<String> = COLUMNS.split(", ").map(|c| format!("c.{}", c.trim())).collect();
        let store = self.store();
        let mut statement = store.conn.prepare_cached(&format!(
            "SELECT {}, f.path, f.version, f.absent, f.sha256, f.added, f.removed
             FROM changeset_files f JOIN changesets c ON c.n = f.n
             WHERE f.path = ?2 AND c.project_path = ?1 AND c.id IS NOT NULL ORDER BY c.id DESC",
            columns.join(", ")
        ))?;
        let rows = statement.query_map([project, path], |row| {
            Ok(ChangesetRecord { files: vec![file_of_row(row, columns.len())?], ..of_row(row)? })
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Returns the SHA-256 of one archived version of a path; `None`: it was not taken, or is not known.
    pub fn version_hash(&self, project: &str, path: &str, version: &str) -> Result<Option<Sha256>, Error> {
        let store = self.store();
        let mut statement = store.conn.prepare_cached(
            "SELECT f.sha256 FROM changeset_files f JOIN changesets c ON c.n = f.n
             WHERE f.path = ?2 AND f.version = ?3 AND c.project_path = ?1 AND f.sha256 IS NOT NULL",
        )?;
        Ok(statement.query_row([project, path, version], |row| row.get(0)).optional()?)
    }

    /// Returns whether a version of a path is recorded as archived, or a state of this hash (none: absent) is, which a
    /// process that was killed may have archived once more.
    pub fn knows_version(
        &self,
        project: &str,
        path: &str,
        version: &str,
        state: Option<Sha256>,
    ) -> Result<bool, Error> {
        let store = self.store();
        let mut statement = store.conn.prepare_cached(
            "SELECT EXISTS (SELECT 1 FROM changeset_files f JOIN changesets c ON c.n = f.n
             WHERE f.path = ?2 AND c.project_path = ?1
               AND (f.version = ?3 OR CASE WHEN ?4 IS NULL THEN f.absent = 1 ELSE f.sha256 = ?4 OR f.after_sha256 = ?4 END))",
        )?;
        let state = state.map(|sha| sha.to_vec());
        Ok(statement.query_row(rusqlite::params![project, path, version, state], |row| row.get(0))?)
    }

    /// Returns whether a changeset is a hook's that archived files ahead of another program's change, and no such change is
    /// recorded.
    pub fn is_ahead(&self, project: &str, id: &str) -> Result<bool, Error> {
        let store = self.store();
        let mut statement = store.conn.prepare_cached(
            "SELECT EXISTS (SELECT 1 FROM changesets c WHERE c.project_path = ?1 AND c.id = ?2 AND c.kind = 'hook'
               AND NOT EXISTS (SELECT 1 FROM changeset_files f WHERE f.n = c.n
                 AND (coalesce(f.added, 0) + coalesce(f.removed, 0) > 0 OR f.after_sha256 IS NOT NULL
                   AND f.after_sha256 IS NOT CASE f.absent WHEN 1 THEN x'' ELSE f.sha256 END)))",
        )?;
        Ok(statement.query_row([project, id], |row| row.get(0))?)
    }

    /// Returns the SHA-256 of the state of a file that was saved in the archive as it is, where no changeset of the file is newer;
    /// an inner `None`: it was not there.
    pub fn saved(&self, project: &str, path: &str) -> Result<Option<Option<Sha256>>, Error> {
        let store = self.store();
        let mut statement = store.conn.prepare_cached(
            "SELECT c.kind, f.absent, f.sha256 FROM changeset_files f JOIN changesets c ON c.n = f.n
             WHERE f.path = ?2 AND c.project_path = ?1 AND c.id IS NOT NULL ORDER BY c.id DESC LIMIT 1",
        )?;
        let newest = statement
            .query_row([project, path], |row| {
                Ok((row.get::<_, Option<String>>(0)?, row.get::<_, bool>(1)?, row.get::<_, Option<Vec<u8>>>(2)?))
            })
            .optional()?;
        let Some((Some(kind), absent, sha)) = newest else { return Ok(None) };
        let sha = sha.and_then(|sha| sha.try_into().ok());
        Ok((matches!(kind.as_str(), "shi" | "mcp") && (absent || sha.is_some())).then(|| sha.filter(|_| !absent)))
    }

    /// Returns whether the newest changeset of a file is a hook's that archived it ahead of another program's change, and changes
    /// of that program are recorded nowhere.
    pub fn unreported(&self, project: &str, path: &str) -> Result<bool, Error> {
        let newest: Option<(String, Option<String>)> = {
            let store = self.store();
            let mut statement = store.conn.prepare_cached(
                "SELECT c.id, c.kind FROM changeset_files f JOIN changesets c ON c.n = f.n
                 WHERE f.path = ?2 AND c.project_path = ?1 AND c.id IS NOT NULL ORDER BY c.id DESC LIMIT 1",
            )?;
            statement.query_row([project, path], |row| Ok((row.get(0)?, row.get(1)?))).optional()?
        };
        let Some((id, _)) = newest.filter(|(_, kind)| kind.as_deref() == Some("hook")) else { return Ok(false) };
        Ok(!self.records_changes(project, &id)?)
    }

    /// Returns whether what the tool of a hook's changeset left of files was ever recorded.
    pub fn records_changes(&self, project: &str, id: &str) -> Result<bool, Error> {
        let store = self.store();
        let mut statement = store.conn.prepare_cached(
            "SELECT EXISTS (SELECT 1 FROM changesets one JOIN changesets c
                 ON c.project_path = ?1 AND c.kind = 'hook' AND c.title = one.title
               JOIN changeset_files f ON f.n = c.n
             WHERE one.project_path = ?1 AND one.id = ?2 AND f.after_sha256 IS NOT NULL)",
        )?;
        Ok(statement.query_row([project, id], |row| row.get(0))?)
    }

    /// Returns the states that an intended write was to leave, as hashes, by their paths; none: nothing there.
    pub fn intended(&self, pending: PendingId) -> Result<HashMap<String, Option<Sha256>>, Error> {
        let store = self.store();
        let mut statement = store.conn.prepare_cached(
            "SELECT path, nullif(after_sha256, x'') FROM changeset_files WHERE n = ?1 AND after_sha256 IS NOT NULL",
        )?;
        let rows = statement.query_map([pending.0], |row| Ok((row.get(0)?, row.get(1)?)))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Returns the SHA-256 of archived versions, where it was taken.
    pub fn version_hashes(&self, project: &str) -> Result<Vec<(String, Sha256)>, Error> {
        let store = self.store();
        let mut statement = store.conn.prepare_cached(
            "SELECT f.version, f.sha256 FROM changesets c JOIN changeset_files f ON f.n = c.n
             WHERE c.project_path = ?1 AND f.version IS NOT NULL AND f.sha256 IS NOT NULL",
        )?;
        let rows = statement.query_map([project], |row| Ok((row.get(0)?, row.get(1)?)))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }
}
