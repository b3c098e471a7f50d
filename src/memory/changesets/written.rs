//! The state that nebula last wrote to each path, by which a change by someone else is recognised.

use rusqlite::{Connection, OptionalExtension, Row, Transaction, params};

use crate::memory::Error;
use crate::memory::store::Store;

/// The SHA-256 of a file's bytes.
pub type Sha256 = [u8; 32];

/// The longest text whose bytes are stored, for three-way merges: 4 MiB.
pub const MAX_KEPT: usize = 4 << 20;

/// A file that is about to be written or deleted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WriteIntent {
    /// Normalised path.
    pub path: String,
    /// The SHA-256 of the bytes to be written; `None`: the file is about to be deleted.
    pub sha256: Option<Sha256>,
    /// The SHA-256 of what it replaces; `None`: there is no file yet.
    pub replaces: Option<Sha256>,
    /// The bytes, if they are text of at most [`MAX_KEPT`].
    pub bytes: Option<Vec<u8>>,
    /// Lines added, where they were counted.
    pub added: Option<u64>,
    /// Lines removed.
    pub removed: Option<u64>,
}

/// The state that nebula last wrote to a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    /// The SHA-256 of the bytes; `None`: nebula deleted the file.
    pub sha256: Option<Sha256>,
    /// The bytes of a text of at most [`MAX_KEPT`].
    pub bytes: Option<Vec<u8>>,
    /// The time.
    pub at: i64,
    /// While a write is under way, or was when a process died: what was there of nebula before. Either is nebula's.
    pub before: Option<Box<Written>>,
}

impl Written {
    /// Returns whether a state of the file (`None`: it is not there) is one that nebula left.
    pub fn is(&self, sha256: Option<Sha256>) -> bool {
        self.sha256 == sha256 || self.before.as_ref().is_some_and(|b| b.is(sha256))
    }
}

const COLUMNS: &str = "sha256, bytes, at_ms, pending, had_before, before_sha256, before_bytes, before_ms";

/// Returns what nebula last wrote to a path of a project, if it ever did.
pub(in crate::memory) fn last(store: &Store, project: &str, path: &str) -> Result<Option<Written>, Error> {
    let find = |schema: &str| {
        let sql = format!("SELECT {COLUMNS} FROM {schema}.written WHERE project_path = ?1 AND path = ?2");
        store.conn.prepare_cached(&sql)?.query_row([project, path], of_row).optional()
    };
    match find("main")? {
        None if store.fallback.as_ref().is_some_and(|s| s.reads_disk) => Ok(find("disk")?),
        found => Ok(found),
    }
}

/// Records that a path is about to be written; what was there of nebula before is kept until it is known how that
/// ended. Where the write before never told its outcome, that is whichever of its two states is replaced now: a process
/// that died before it wrote has left the older one.
pub(in crate::memory) fn begin(
    tx: &Transaction<'_>,
    project: &str,
    file: &WriteIntent,
    n: i64,
    now: i64,
) -> Result<(), Error> {
    keep_replaced(tx, project, file, now)?;
    let bytes = file.bytes.as_deref().filter(|b| b.len() <= MAX_KEPT);
    tx.prepare_cached(
        "UPDATE written SET had_before = 1, before_sha256 = sha256, before_bytes = bytes, before_ms = at_ms
         WHERE project_path = ?1 AND path = ?2
           AND NOT (pending IS NOT NULL AND had_before = 1 AND before_sha256 IS ?3 AND sha256 IS NOT ?3)",
    )?
    .execute(params![project, file.path, file.replaces])?;
    tx.prepare_cached(
        "INSERT INTO written(project_path, path, sha256, bytes, at_ms, pending) VALUES(?1, ?2, ?3, ?4, ?5, ?6)
         ON CONFLICT DO UPDATE SET sha256 = excluded.sha256, bytes = excluded.bytes, at_ms = excluded.at_ms,
           pending = excluded.pending",
    )?
    .execute(params![project, file.path, file.sha256, bytes, now, n])?;
    Ok(())
}

/// Keeps what nebula had written to a path where someone else changed it since: neither the archive, which holds what is
/// replaced now, nor the row of the path will have it.
fn keep_replaced(tx: &Transaction<'_>, project: &str, file: &WriteIntent, now: i64) -> Result<(), Error> {
    tx.prepare_cached(
        "INSERT OR IGNORE INTO after_states(project_path, path, sha256, bytes, at_ms)
         SELECT project_path, path, sha256, bytes, ?4 FROM written
         WHERE project_path = ?1 AND path = ?2 AND sha256 IS NOT NULL AND bytes IS NOT NULL AND sha256 IS NOT ?3
           AND NOT (pending IS NOT NULL AND had_before = 1 AND before_sha256 IS ?3)",
    )?
    .execute(params![project, file.path, file.replaces, now])?;
    Ok(())
}

/// Returns the bytes of a state that a changeset left at a path, by its hash, where they were kept.
pub(in crate::memory) fn bytes_left(
    store: &Store,
    project: &str,
    path: &str,
    sha256: &Sha256,
) -> Result<Option<Vec<u8>>, Error> {
    if let Some(written) = last(store, project, path)?
        && written.sha256.as_ref() == Some(sha256)
        && written.bytes.is_some()
    {
        return Ok(written.bytes);
    }
    let find = |schema: &str| -> Result<Option<Vec<u8>>, rusqlite::Error> {
        let sql =
            format!("SELECT bytes FROM {schema}.after_states WHERE project_path = ?1 AND path = ?2 AND sha256 = ?3");
        store.conn.prepare_cached(&sql)?.query_row(params![project, path, sha256], |row| row.get(0)).optional()
    };
    match find("main")? {
        // A file that an older nebula made does not have the table.
        None if store.fallback.as_ref().is_some_and(|s| s.reads_disk) => Ok(find("disk").unwrap_or_default()),
        found => Ok(found),
    }
}

/// Forgets what was kept of states that no changeset left, once their changesets are forgotten.
pub(in crate::memory) fn forget_left(tx: &Transaction<'_>, project: &str) -> Result<(), Error> {
    tx.execute(
        "DELETE FROM after_states WHERE project_path = ?1 AND NOT EXISTS (
           SELECT 1 FROM changeset_files f JOIN changesets c ON c.n = f.n
           WHERE f.path = after_states.path AND f.after_sha256 = after_states.sha256 AND c.project_path = ?1)",
        [project],
    )?;
    Ok(())
}

/// Marks the writes as done and forgets the states before them.
pub(in crate::memory) fn confirm(conn: &Connection, n: i64) -> Result<(), Error> {
    conn.prepare_cached(
        "UPDATE written SET pending = NULL, had_before = 0, before_sha256 = NULL, before_bytes = NULL,
           before_ms = NULL WHERE pending = ?1",
    )?
    .execute([n])?;
    Ok(())
}

/// Reverts the notes of writes that did not happen.
pub(in crate::memory) fn revert(conn: &Connection, n: i64) -> Result<(), Error> {
    conn.execute("DELETE FROM written WHERE pending = ?1 AND had_before = 0", [n])?;
    conn.execute(
        "UPDATE written SET sha256 = before_sha256, bytes = before_bytes, at_ms = before_ms, pending = NULL,
           had_before = 0, before_sha256 = NULL, before_bytes = NULL, before_ms = NULL WHERE pending = ?1",
        [n],
    )?;
    Ok(())
}

fn of_row(row: &Row<'_>) -> rusqlite::Result<Written> {
    let pending = row.get::<_, Option<i64>>(3)?.is_some();
    let before = if pending && row.get(4)? {
        Some(Box::new(Written { sha256: row.get(5)?, bytes: row.get(6)?, at: row.get(7)?, before: None }))
    } else {
        None
    };
    Ok(Written { sha256: row.get(0)?, bytes: row.get(1)?, at: row.get(2)?, before })
}
