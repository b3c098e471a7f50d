//! The index behind `@rag`: passages of text files, found by their words and by parts of words. A cache in a file of
//! its own, so that its long writes never hold up a message; a damaged or outdated one is made again.
//!
//! It keeps no text, only where the passages are: whoever asks reads them from the files. It reads no file itself:
//! files are handed in, after [`Rag::plan`] has said which ones changed.

mod passages;
mod query;

pub use query::Found;

use std::collections::HashMap;
use std::fs;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rusqlite::{Connection, OptionalExtension, Transaction, TransactionBehavior, params};

use super::search::tokens;
use super::store::{check_kind, make_folder, restrict};
use super::{Error, Trouble, count, int, now_ms};

/// Counts up when the schema or what is indexed changes.
const VERSION: i64 = 1;

/// The time a write waits for another process.
const BUSY: Duration = Duration::from_secs(60);

/// The index.
pub struct Rag {
    conn: Mutex<Connection>,
}

/// A source of a project's index: its own text files, or a folder or file that was added.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// Names it to the other calls.
    pub id: SourceId,
    /// Absolute path; the project's root for its own files.
    pub path: String,
    /// Files indexed.
    pub files: u64,
    /// Passages indexed.
    pub passages: u64,
    /// The time when it was last brought up to date.
    pub updated: Option<i64>,
}

/// Names a source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct SourceId(i64);

/// A file as a folder lists it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexedFile {
    /// Relative to the source, with `/`; empty where the source is the file itself.
    pub path: String,
    /// The time when it was last changed, in nanoseconds.
    pub mtime_ns: i64,
    /// Its size in bytes.
    pub size: u64,
}

/// The work that brings a source up to date.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct UpdatePlan {
    /// Files to be read, as indices into the listed files.
    pub read: Vec<usize>,
    /// Files that were removed.
    pub gone: Vec<String>,
}

impl Rag {
    /// Opens the index, making it where there is none or where the one there is of no use.
    ///
    /// # Errors
    /// When the file can neither be opened nor made.
    pub fn open(path: &Path) -> Result<Rag, Error> {
        make_folder(path)?;
        let conn = match connect(path) {
            Err(e) if matches!(e.trouble(), Some(Trouble::Corrupt | Trouble::Newer)) => {
                for suffix in ["", "-wal", "-shm"] {
                    let mut name = path.as_os_str().to_os_string();
                    name.push(suffix);
                    let _ = fs::remove_file(name);
                }
                connect(path)?
            }
            result => result?,
        };
        // The words of private files are in it.
        restrict(path);
        Ok(Rag { conn: Mutex::new(conn) })
    }

    /// Opens an empty index in memory.
    ///
    /// # Errors
    /// When there is no room for it.
    pub fn scratch() -> Result<Rag, Error> {
        let conn = Connection::open_in_memory()?;
        conn.execute_batch(include_str!("schema.sql"))?;
        Ok(Rag { conn: Mutex::new(conn) })
    }

    /// Returns how many files of a project are indexed, counted no further than one above `most`; `None` as long as one
    /// of its sources, or the project itself, has not been brought up to date once.
    ///
    /// # Errors
    /// When the index cannot be read.
    pub fn known(&self, project: &str, most: usize) -> Result<Option<usize>, Error> {
        let conn = self.conn();
        let sql = "SELECT count(*) > 0 AND count(*) = count(updated_ms) AND max(path = ?1) FROM sources
                   WHERE project_path = ?1";
        if !conn.prepare_cached(sql)?.query_row([project], |row| row.get::<_, Option<bool>>(0))?.unwrap_or(false) {
            return Ok(None);
        }
        let sql = "SELECT count(*) FROM (SELECT 1 FROM sources s JOIN files f ON f.source = s.id
                   WHERE s.project_path = ?1 LIMIT ?2)";
        let n = conn.prepare_cached(sql)?.query_row(params![project, most as i64 + 1], |row| row.get::<_, i64>(0))?;
        Ok(usize::try_from(n).ok())
    }

    /// Returns the sources of a project, its own files first.
    pub fn sources(&self, project: &str) -> Result<Vec<Source>, Error> {
        let conn = self.conn();
        let mut statement = conn.prepare_cached(
            "SELECT id, path, updated_ms, (SELECT count(*) FROM files f WHERE f.source = s.id),
               (SELECT count(*) FROM passages p WHERE p.source = s.id)
             FROM sources s WHERE project_path = ?1 ORDER BY path <> ?1, path",
        )?;
        let rows = statement.query_map([project], |row| {
            Ok(Source {
                id: SourceId(row.get(0)?),
                path: row.get(1)?,
                updated: row.get(2)?,
                files: count(row.get(3)?),
                passages: count(row.get(4)?),
            })
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Adds a source, or finds the one of that path. Nothing is indexed yet.
    pub fn add(&self, project: &str, path: &str) -> Result<SourceId, Error> {
        let conn = self.conn();
        conn.execute("INSERT OR IGNORE INTO sources(project_path, path) VALUES(?1, ?2)", [project, path])?;
        let sql = "SELECT id FROM sources WHERE project_path = ?1 AND path = ?2";
        Ok(SourceId(conn.query_row(sql, [project, path], |row| row.get(0))?))
    }

    /// Forgets a source and all that was indexed of it; `false` where there is none of that path.
    pub fn remove(&self, project: &str, path: &str) -> Result<bool, Error> {
        let mut conn = self.conn();
        let tx = conn.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let sql = "SELECT id FROM sources WHERE project_path = ?1 AND path = ?2";
        let source: Option<i64> = tx.query_row(sql, [project, path], |row| row.get(0)).optional()?;
        let Some(source) = source else { return Ok(false) };
        let files: Vec<i64> = tx
            .prepare("SELECT id FROM files WHERE source = ?1")?
            .query_map([source], |row| row.get(0))?
            .collect::<Result<_, _>>()?;
        for file in files {
            forget(&tx, file)?;
        }
        tx.execute("DELETE FROM sources WHERE id = ?1", [source])?;
        tx.commit()?;
        Ok(true)
    }

    /// Compares the present files of a source with the index.
    pub fn plan(&self, source: SourceId, seen: &[IndexedFile]) -> Result<UpdatePlan, Error> {
        let conn = self.conn();
        let mut statement = conn.prepare_cached("SELECT path, mtime_ns, size FROM files WHERE source = ?1")?;
        let rows = statement.query_map([source.0], |row| Ok((row.get(0)?, (row.get(1)?, row.get(2)?))))?;
        let mut known: HashMap<String, (i64, i64)> = rows.collect::<Result<_, _>>()?;
        let mut plan = UpdatePlan::default();
        for (i, file) in seen.iter().enumerate() {
            if known.remove(&file.path) != Some((file.mtime_ns, int(file.size))) {
                plan.read.push(i);
            }
        }
        plan.gone = known.into_keys().collect();
        plan.gone.sort();
        Ok(plan)
    }

    /// Indexes files with their texts, in one transaction; a file that is no text comes with an empty one, so that it
    /// is not read again, and one that another process indexed meanwhile is left as it is. Some hundred files at a time
    /// are a good measure.
    pub fn put(&self, source: SourceId, files: &[(&IndexedFile, &str)]) -> Result<(), Error> {
        let mut conn = self.conn();
        let tx = conn.transaction_with_behavior(TransactionBehavior::Immediate)?;
        for (file, text) in files {
            if is_known(&tx, source, file)? {
                continue;
            }
            forget_path(&tx, source, &file.path)?;
            tx.prepare_cached("INSERT INTO files(source, path, mtime_ns, size) VALUES(?1, ?2, ?3, ?4)")?
                .execute(params![source.0, file.path, file.mtime_ns, int(file.size)])?;
            let id = tx.last_insert_rowid();
            // The path itself is worth finding: it goes with every passage.
            for passage in passages::cut(text) {
                tx.prepare_cached("INSERT INTO passages(source, file, first, last) VALUES(?1, ?2, ?3, ?4)")?
                    .execute(params![source.0, id, passage.first as i64, passage.last as i64])?;
                let row = tx.last_insert_rowid();
                let body = format!("{}\n{}", file.path, passage.text);
                tx.prepare_cached("INSERT INTO words(rowid, body) VALUES(?1, ?2)")?
                    .execute(params![row, passages::with_parts(&tokens::indexed(&body))])?;
                tx.prepare_cached("INSERT INTO grams(rowid, body) VALUES(?1, ?2)")?.execute(params![row, body])?;
            }
        }
        tx.commit()?;
        Ok(())
    }

    /// Removes files from the index.
    pub fn forget(&self, source: SourceId, paths: &[String]) -> Result<(), Error> {
        let mut conn = self.conn();
        let tx = conn.transaction_with_behavior(TransactionBehavior::Immediate)?;
        for path in paths {
            forget_path(&tx, source, path)?;
        }
        tx.commit()?;
        Ok(())
    }

    /// Records that a source is up to date.
    pub fn updated(&self, source: SourceId) -> Result<(), Error> {
        self.conn().execute("UPDATE sources SET updated_ms = ?2 WHERE id = ?1", params![source.0, now_ms()])?;
        Ok(())
    }

    /// Returns the passages of a project's sources that fit the words best, best first, at most `limit`.
    pub fn search(&self, project: &str, words: &str, limit: usize) -> Result<Vec<Found>, Error> {
        query::run(&self.conn(), project, words, limit)
    }

    fn conn(&self) -> MutexGuard<'_, Connection> {
        self.conn.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn connect(path: &Path) -> Result<Connection, Error> {
    check_kind(path)?;
    let mut conn = Connection::open(path)?;
    // Two that index at once take turns at their transactions, and each may have to wait for many.
    conn.busy_timeout(BUSY)?;
    conn.pragma_update(None, "journal_mode", "WAL")?;
    conn.pragma_update(None, "synchronous", "NORMAL")?;
    conn.pragma_update(None, "cache_size", -16_000)?;
    let version = |conn: &Connection| conn.pragma_query_value(None, "user_version", |row| row.get::<_, i64>(0));
    if version(&conn)? == 0 {
        let tx = conn.transaction_with_behavior(TransactionBehavior::Immediate)?;
        if version(&tx)? == 0 {
            tx.execute_batch(include_str!("schema.sql"))?;
            tx.pragma_update(None, "user_version", VERSION)?;
        }
        tx.commit()?;
    }
    match version(&conn)? {
        VERSION => Ok(conn),
        found => Err(Error::Newer { found, known: VERSION }),
    }
}

/// Returns whether a file is indexed as it is.
fn is_known(tx: &Transaction<'_>, source: SourceId, file: &IndexedFile) -> Result<bool, Error> {
    let sql = "SELECT 1 FROM files WHERE source = ?1 AND path = ?2 AND mtime_ns = ?3 AND size = ?4";
    let found = tx
        .prepare_cached(sql)?
        .query_row(params![source.0, file.path, file.mtime_ns, int(file.size)], |_| Ok(()))
        .optional()?;
    Ok(found.is_some())
}

fn forget_path(tx: &Transaction<'_>, source: SourceId, path: &str) -> Result<(), Error> {
    let file: Option<i64> = tx
        .prepare_cached("SELECT id FROM files WHERE source = ?1 AND path = ?2")?
        .query_row(params![source.0, path], |row| row.get(0))
        .optional()?;
    file.map_or(Ok(()), |file| forget(tx, file))
}

fn forget(tx: &Transaction<'_>, file: i64) -> Result<(), Error> {
    for table in ["words", "grams"] {
        let sql = format!("DELETE FROM {table} WHERE rowid IN (SELECT id FROM passages WHERE file = ?1)");
        tx.prepare_cached(&sql)?.execute([file])?;
    }
    tx.prepare_cached("DELETE FROM passages WHERE file = ?1")?.execute([file])?;
    tx.prepare_cached("DELETE FROM files WHERE id = ?1")?.execute([file])?;
    Ok(())
}

#[cfg(test)]
mod tests;
